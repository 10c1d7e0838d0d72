"""Results that grow before the reader's eyes, and are there at once where somebody has seen them before."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pages.components.cache_inference import finished, keep_finished

Result = TypeVar("Result")


@dataclass(kw_only=True)
class Growing(Generic[Result]):
    """A result under way.

    Parameters
    ----------
    key
        What it belongs to.
    stream
        Where it goes on; None when it is complete.
    latest
        What there is so far.
    problem
        Why it ended early, in a sentence; empty where it did not.
    lock
        Held by the thread that advances it: a moved control starts another while the last one is still at work.
    """

    key: object
    stream: Iterator[Result] | None
    latest: Result | None = None
    problem: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def advance(self, seconds: float) -> None:
        """Go on for so long, or to the end, which is kept for all readers. Nothing where another thread does."""
        if self.lock.acquire(blocking=False):
            try:
                self._advance(seconds)
            finally:
                self.lock.release()

    def _advance(self, seconds: float) -> None:
        start = time.perf_counter()
        while self.stream is not None and time.perf_counter() - start < seconds:
            try:
                found = next(self.stream, None)
            except ValueError as broken:  # a point of the axis that the law does not allow
                self.stream, self.problem = None, str(broken)
                return
            if found is None:
                self.stream = None
                keep_finished(self.key, self.latest)
            else:
                self.latest = found


def finished_before(key: object, kind: type[Result]) -> Result | None:
    """The complete result that belongs to `key`, where some reader has seen it grow."""
    known = finished().get(key)
    return known if isinstance(known, kind) else None
