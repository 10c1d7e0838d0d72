"""Streams that take their time, for workers to go on with."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path


def counted(upto: int, seconds: float) -> Iterator[int]:
    """Count, with so much work before each number."""
    for number in range(1, upto + 1):
        busy(seconds)
        yield number


def in_steps(result: int) -> Generator[None, None, int]:
    """A result in steps."""
    yield
    yield
    return result


def refused(at: int) -> Iterator[int]:
    """Numbers up to one that is refused."""
    yield from range(1, at)
    raise ValueError(f"{at} is refused.")


def broken() -> Iterator[int]:
    """A fault, and one that no pickle brings back."""

    class Own(RuntimeError):
        pass

    yield 1
    raise Own("a fault")


def stuck(seconds: float) -> Iterator[int]:
    """A step that nothing stops."""
    yield os.getpid()
    busy(seconds)
    yield 2


def marked(mark: Path, seconds: float) -> Iterator[int]:
    """A first step that nothing stops, and that leaves a mark when it begins."""
    mark.touch()
    busy(seconds)
    yield 1


def dying() -> Iterator[int]:
    """The process ends."""
    yield 1
    os._exit(1)


def busy(seconds: float) -> None:
    """Use the processor for so long."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
