"""The live simulation: one run for each reader, which goes on a little at every step."""

import dataclasses
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field

import streamlit as st

from dpviz.coverage import CoveragePlan, Tally, stream_coverage
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from pages.coverage.controls import PREFIX

KEY = f"{PREFIX}run"
WORK = 0.06  # seconds of work between two pictures
SLOW, MOST_WORK = 0.4, 1.0  # where a picture takes longer than SLOW s, as much time goes into work, up to MOST_WORK
FIRST_PICTURES = 10  # a single chunk between each: they double in size, so that a short run is seen to grow too
AWAY = 3.0  # seconds without a step that count as seen at most: after them the reader was elsewhere
WIDE = 110  # pixels of a button: as wide with its other words


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
        return 0 if self.tally is None else self.tally.repetitions

    @property
    def complete(self) -> bool:
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
            work = min(drawn_in, MOST_WORK) if SLOW < drawn_in < AWAY else WORK
            self.stream = self.stream or stream_coverage(self.plan, start=self.tally)
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
            self.elapsed += 0.0 if self.clock is None else min(now - self.clock, AWAY)
            self.clock = now
            self.pictures += 1
            self.running = self.running and not self.complete
            if not self.running:  # a stop from another thread leaves the closing to this one
                self._close()
        finally:
            self.lock.release()

    def resume(self) -> None:
        self.running, self.clock = True, time.perf_counter()

    def stop(self) -> None:
        """Stop, and leave nothing at work: a chunk that another thread has begun, 20 ms or so, is its last."""
        self.running, self.clock = False, None
        if self.lock.acquire(blocking=False):
            self._close()
            self.lock.release()

    def _close(self) -> None:
        if self.stream is not None:
            self.stream.close()
            self.stream = None


def plan_of(design: Design, *rules: str) -> CoveragePlan:
    """The simulation of a design for some rules, or for every rule that it allows: to show another costs no new run."""
    every = rules or tuple(key for key, rule in RULES.items() if rule.fits(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=every, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


def current_run(design: Design) -> Run | None:
    """The reader's run of this design: the one there is, or a new one where a moving run met a new design."""
    run: Run | None = st.session_state.get(KEY)
    if run is None:
        return None
    plan = plan_of(design)
    if plan == run.plan:
        return run
    moving = run.running
    run.stop()
    kept: Run | None = None
    if plan.fingerprint == run.plan.fingerprint and run.done <= plan.repetitions:
        moving = moving and run.done < plan.repetitions
        kept = dataclasses.replace(
            run, plan=plan, running=moving, stream=None, clock=time.perf_counter(), lock=threading.Lock()
        )
    elif moving:
        kept = Run(plan)
    st.session_state[KEY] = kept
    return kept


def show_buttons(design: Design, run: Run | None) -> None:
    """Start, Stop or Resume, and Reset."""

    def start() -> None:
        st.session_state[KEY] = Run(plan_of(design))

    def reset() -> None:
        st.session_state.pop(KEY, None)
        if run is not None:
            run.stop()

    if run is None:
        words, action = "Start", start
    elif run.complete:
        words, action = "Run again", start
    else:
        words, action = ("Stop", run.stop) if run.running else ("Resume", run.resume)
    st.button(words, on_click=action, key=f"{PREFIX}go", width=WIDE)
    st.button("Reset", on_click=reset, key=f"{PREFIX}reset", width=WIDE, disabled=run is None)
