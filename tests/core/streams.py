"""Computations for worker processes, which find them by the name of this module."""

import os
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any


def count(stop: int, seconds: float = 0.0) -> Iterator[int]:
    """1, 2, …, `stop`, with a pause before each number."""
    for number in range(1, stop + 1):
        time.sleep(seconds)
        yield number


def count_in_file(file: Path, stop: int, seconds: float) -> Iterator[int]:
    """The same; each run adds a line with its process, and each step a dot."""
    with file.open("a") as log:
        log.write(f"\n{os.getpid()} ")
        for number in count(stop, seconds):
            log.write(".")
            log.flush()
            yield number


def return_at_end(result: Any) -> Generator[None, None, Any]:
    """Two steps without a result, and then the result."""
    yield
    yield
    return result


def process_id() -> Iterator[int]:
    yield os.getpid()


def priority() -> Iterator[int]:
    yield os.nice(0)


def fail() -> Iterator[int]:
    yield 1
    raise ValueError("2 is refused.")


class PlainError(Exception):
    """An error that does not come back from a pickle."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"{number}: {reason}")


def fail_beyond_pickle() -> Iterator[int]:
    yield 1
    raise PlainError(2, "refused")


def fail_to_send() -> Iterator[Any]:
    yield lambda: None


def exit_process() -> Iterator[int]:
    yield 1
    raise SystemExit(3)


def kill_worker() -> Iterator[int]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield 1


def kill_first_worker(file: Path) -> Iterator[int]:
    """The worker dies after some results, but not once it has died before."""
    for number in range(1, 61):
        time.sleep(0.02)
        if number == 40 and not file.exists():
            file.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield number


def large_array(size: int) -> Iterator[bytes]:
    yield bytes(size)
