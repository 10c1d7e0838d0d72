"""A simulation that goes on a little at every step while somebody looks on: it starts, stops and resumes."""

import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from dpviz.coverage.simulate import CoveragePlan, Tally
from dpviz.coverage.studies import stream_study

_WORK = 0.06  # seconds of work between two pictures
_SLOW, _MOST_WORK = 0.4, 1.0  # where a picture takes longer than _SLOW s, as much time goes into work, up to _MOST_WORK
FIRST_PICTURES = 10  # a single chunk between each: they double in size, so that a short run is seen to grow too
_AWAY = 3.0  # seconds without a step that count as seen at most: after them the reader was elsewhere


@dataclass
class Run:
    """A simulation under way or stopped: what is counted and where it goes on, None before the first block.

    It computes for `seconds` and is seen to run for `elapsed` of them, up to `clock`; `opened` repetitions came with a
    file; `watched` of the first repetitions have been shown, a few at a time where the reader asks for that. The thread
    that advances it holds `lock`: a moved control starts another while the last one is at work.
    """

    plan: CoveragePlan
    running: bool = True
    tally: Tally | None = None
    stream: Generator[Tally, None, None] | None = None
    seconds: float = 0.0
    elapsed: float = 0.0
    clock: float | None = field(default_factory=time.perf_counter)
    pictures: int = 0
    watched: int = 0
    opened: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def done(self) -> int:
        """Repetitions so far."""
        return 0 if self.tally is None else self.tally.repetitions

    @property
    def complete(self) -> bool:
        """Whether these are all."""
        return self.done >= self.plan.repetitions

    @property
    def watching(self) -> bool:
        """Whether the first repetitions are still being shown a few at a time."""
        return self.tally is not None and 0 < self.watched < len(self.tally.shown)

    def advance(self, pace: int = 0) -> None:
        """Go on for a while, or to the end; at first by a single chunk. Nothing where another thread does.

        With a pace the first repetitions, counted in one chunk, are shown so many at a time before it goes on.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            start = time.perf_counter()
            drawn_in = 0.0 if self.clock is None else start - self.clock
            work = min(drawn_in, _MOST_WORK) if _SLOW < drawn_in < _AWAY else _WORK
            self.stream = self.stream or stream_study(self.plan, start=self.tally)
            if pace and (self.tally is None or self.watching):
                self.tally = self.tally or next(self.stream)
                self.watched += pace
                self.clock = start
                return
            if self.watched:  # whoever watched some of the first goes on from all of them
                self.watched = self.plan.shown
            while self.running and (tally := next(self.stream, None)) is not None:
                self.tally = tally
                if self.pictures < FIRST_PICTURES or time.perf_counter() - start > work:
                    break
            now = time.perf_counter()
            self.seconds += now - start
            self.elapsed += 0.0 if self.clock is None else min(now - self.clock, _AWAY)
            self.clock = now
            self.pictures += 1
            self.running = self.running and not self.complete
            if not self.running:  # a stop from another thread leaves the closing to this one
                self._close()
        finally:
            self.lock.release()

    def resume(self) -> None:
        """Go on at the next step."""
        self.running, self.clock = True, time.perf_counter()

    def stop(self) -> None:
        """Stop, and leave nothing at work: a chunk that another thread has begun, 20 ms or so, is its last."""
        self.running, self.clock = False, None
        if self.lock.acquire(blocking=False):
            self._close()
            self.lock.release()

    def under(self, plan: CoveragePlan) -> "Run | None":
        """Return what goes on under a plan that differs by its number of repetitions alone; None for another study."""
        if plan.fingerprint != self.plan.fingerprint or self.done > plan.repetitions:
            return None
        running = self.running and self.done < plan.repetitions
        return replace(self, plan=plan, running=running, stream=None, clock=time.perf_counter(), lock=threading.Lock())

    def _close(self) -> None:
        if self.stream is not None:
            self.stream.close()
            self.stream = None
