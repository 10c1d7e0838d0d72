"""The live simulation: one run for each reader, which goes on a little at every step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.coverage import CoveragePlan, Tally, stream_coverage
from dpviz.designs import Design
from dpviz.inference import RULES
from pages.coverage.controls import PREFIX

KEY = f"{PREFIX}run"
WORK = 0.06
"""Seconds of work between two pictures."""

SLOW, MOST_WORK = 0.4, 1.0
"""Where a picture takes longer than `SLOW` seconds to be drawn, as much time goes into work, up to `MOST_WORK`."""

FIRST_PICTURES = 10
"""Pictures between which a single chunk is run: these double in size, so that a short run is seen to grow too."""

AWAY = 3.0
"""Seconds without a step after which the reader was elsewhere."""

REVEALED = 15
"""First intervals that each picture adds to those drawn before."""


@dataclass
class Run:
    """A simulation under way or stopped.

    Parameters
    ----------
    plan
        What is simulated.
    running
        Whether it goes on by itself.
    tally
        What it has counted; None before the first block.
    stream
        Where it goes on; made anew after a stop.
    seconds
        Time spent on it, computing.
    elapsed
        Time that the reader has seen it run.
    clock
        When `elapsed` was last brought up to date; None while it does not run.
    pictures
        Pictures drawn so far.
    opened
        Repetitions that came with a file; the seconds are those of the others.
    lock
        Held by the thread that advances it: a moved control starts another while the last one is still at work.
    """

    plan: CoveragePlan
    running: bool = True
    tally: Tally | None = None
    stream: Generator[Tally, None, None] | None = None
    seconds: float = 0.0
    elapsed: float = 0.0
    clock: float | None = field(default_factory=time.perf_counter)
    pictures: int = 0
    opened: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def done(self) -> int:
        """Repetitions so far."""
        return 0 if self.tally is None else self.tally.repetitions

    @property
    def complete(self) -> bool:
        """Whether all repetitions are done."""
        return self.done >= self.plan.repetitions

    @property
    def revealed(self) -> int:
        """How many of the first intervals are drawn: some more with each picture."""
        return self.plan.shown if self.complete else min(REVEALED * self.pictures, self.plan.shown)

    def advance(self) -> None:
        """Go on for a while, or to the end; at first by a single chunk. Nothing where another thread does."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            start = time.perf_counter()
            drawn_in = 0.0 if self.clock is None else start - self.clock
            work = WORK if drawn_in < SLOW else min(drawn_in, MOST_WORK)
            if self.stream is None:
                self.stream = stream_coverage(self.plan, start=self.tally)
            while self.running:
                tally = next(self.stream, None)
                if tally is None:
                    break
                self.tally = tally
                if self.pictures < FIRST_PICTURES or time.perf_counter() - start > work:
                    break
            self.seconds += time.perf_counter() - start
            self._look_at_the_clock()
            self.pictures += 1
            if self.complete:
                self.running = False
            if not self.running:  # a stop from another thread leaves the closing to this one
                self.stream.close()
                self.stream = None
        finally:
            self.lock.release()

    def _look_at_the_clock(self) -> None:
        now = time.perf_counter()
        if self.clock is not None:
            self.elapsed += now - self.clock
        self.clock = now

    def come_back(self) -> None:
        """Leave out of `elapsed` the time in which the reader was on another page."""
        if self.clock is not None and time.perf_counter() - self.clock > AWAY:
            self.clock = time.perf_counter()

    def resume(self) -> None:
        """Go on from here."""
        self.running, self.clock = True, time.perf_counter()

    def stop(self) -> None:
        """Stop, and leave nothing at work: a chunk that another thread has begun, 20 ms or so, is its last."""
        self.running, self.clock = False, None
        if self.lock.acquire(blocking=False):
            try:
                if self.stream is not None:
                    self.stream.close()
                    self.stream = None
            finally:
                self.lock.release()


def plan_of(design: Design) -> CoveragePlan:
    """The simulation of a design, for every rule that it allows: to show another rule costs no new run."""
    rules = tuple(key for key, rule in RULES.items() if rule.fits(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


def current_run(design: Design) -> Run | None:
    """The reader's run of this design: the one there is, or a new one where a moving run met a new design."""
    run: Run | None = st.session_state.get(KEY)
    if run is None:
        return None
    run.come_back()
    plan = plan_of(design)
    if plan == run.plan:
        return run
    moving = run.running
    run.stop()
    if plan.fingerprint == run.plan.fingerprint and run.done <= plan.repetitions:
        kept = Run(
            plan, running=moving and run.done < plan.repetitions, tally=run.tally, seconds=run.seconds,
            elapsed=run.elapsed, pictures=run.pictures, opened=run.opened,
        )  # fmt: skip
        st.session_state[KEY] = kept
        return kept
    anew = Run(plan) if moving else None
    st.session_state[KEY] = anew
    return anew


def show_buttons(design: Design, run: Run | None, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Start, Stop or Resume, and Reset."""
    with left:
        start = partial(_start, design)
        action: Callable[[], None]
        if run is None:
            words, action = "Start", start
        elif run.complete:
            words, action = "Run again", start
        else:
            words, action = ("Stop", _stop) if run.running else ("Resume", _resume)
        st.button(words, on_click=action, key=f"{PREFIX}go", width="stretch")
    with right:
        st.button("Reset", on_click=_reset, key=f"{PREFIX}reset", width="stretch", disabled=run is None)


def _start(design: Design) -> None:
    st.session_state[KEY] = Run(plan_of(design))


def _stop() -> None:
    st.session_state[KEY].stop()


def _resume() -> None:
    st.session_state[KEY].resume()


def _reset() -> None:
    run: Run | None = st.session_state.pop(KEY, None)
    if run is not None:
        run.stop()
