"""A simulation that goes on beside the process that serves while somebody looks on: it starts, stops and resumes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from dpviz.core.pool import POOL, UnderWay
from dpviz.coverage.simulate import CoveragePlan, Tally
from dpviz.coverage.studies import stream_study

_NEWS = 2.0  # seconds that a step waits for something new
_AWAY = 3.0  # seconds without a step that count as seen at most: after them the reader was elsewhere


@dataclass
class Run:
    """A simulation under way or stopped: what is counted and where it goes on, None where it does not.

    It is seen to run for `elapsed` seconds, up to `clock`; `opened` repetitions came with a file; `watched` of the
    first repetitions have been shown, a few at a time where the reader asks for that. All who run the same share it.
    """

    plan: CoveragePlan
    running: bool = True
    tally: Tally | None = None
    stream: UnderWay[Tally] | None = None
    elapsed: float = 0.0
    clock: float | None = field(default_factory=time.perf_counter)
    watched: int = 0
    opened: int = 0

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

    def advance(self, breathe: Callable[[], object], pace: int = 0) -> None:
        """Wait for more repetitions for a while; `breathe` is called meanwhile, and may raise. Nothing while it rests.

        With a pace the first repetitions are shown so many at a time before it goes on.
        """
        if not self.running:
            return
        if self.stream is None:
            key = "run", self.plan.fingerprint, self.plan.repetitions, self.done
            self.stream = POOL.ask(key, partial(stream_study, self.plan, start=self.tally), waited_for=True)
        going, watching = self.stream, bool(pace) and (self.tally is None or self.watching)
        if not watching or self.tally is None:
            going.wait(_NEWS, breathe, 0 if self.tally is None else going.count)
        if self.stream is not going:  # stopped meanwhile, and perhaps resumed
            return
        if going.problem is not None:
            raise going.problem
        self.tally = going.latest or self.tally
        if watching:
            self.watched += pace
        elif self.watched:  # whoever watched some of the first goes on from all of them
            self.watched = self.plan.shown
        now = time.perf_counter()
        self.elapsed += 0.0 if self.clock is None else min(now - self.clock, _AWAY)
        self.clock = now
        if self.complete and not self.watching:
            self.running, self.stream = False, None

    def resume(self) -> None:
        """Go on at the next step."""
        self.running, self.clock = True, time.perf_counter()

    def stop(self) -> None:
        """Stop, and leave nothing at work that nobody else looks on at."""
        self.running, self.clock, self.stream = False, None, None

    def under(self, plan: CoveragePlan) -> "Run | None":
        """Return what goes on under a plan that differs by its number of repetitions alone; None for another study."""
        if plan.fingerprint != self.plan.fingerprint or self.done > plan.repetitions:
            return None
        running = self.running and self.done < plan.repetitions
        return replace(self, plan=plan, running=running, stream=None, clock=time.perf_counter())
