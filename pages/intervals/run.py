"""The live simulation: one run for each reader, which goes on a little at every tick."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.coverage.simulate import CoveragePlan, Tally, stream_coverage
from dpviz.inference import RULES
from pages.intervals.controls import PREFIX, Design

KEY = f"{PREFIX}run"
WORK = 0.06
"""Seconds of work between two pictures, at most."""

FIRST_WORK = 0.004
"""Seconds of work before the first picture; they double from picture to picture, so that a short run is seen too."""


REVEALED = 10
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
        Time spent on it.
    work
        Seconds of work before the next picture.
    revealed
        How many of the first intervals are drawn: some more with each picture.
    """

    plan: CoveragePlan
    running: bool = True
    tally: Tally | None = None
    stream: Generator[Tally, None, None] | None = None
    seconds: float = 0.0
    work: float = FIRST_WORK
    revealed: int = 0

    @property
    def done(self) -> int:
        """Repetitions so far."""
        return 0 if self.tally is None else self.tally.repetitions

    @property
    def complete(self) -> bool:
        """Whether all repetitions are done."""
        return self.done >= self.plan.repetitions

    def advance(self) -> None:
        """Go on for `work` seconds, or to the end."""
        start = time.perf_counter()
        if self.stream is None:
            self.stream = stream_coverage(self.plan, start=self.tally)
        while self.running and time.perf_counter() - start < self.work:
            tally = next(self.stream, None)
            if tally is None:
                break
            self.tally = tally
        self.seconds += time.perf_counter() - start
        self.work = min(2 * self.work, WORK)
        self.revealed += REVEALED
        if self.complete:
            self.stop()
            self.revealed = self.plan.shown

    def stop(self) -> None:
        """Stop, and leave nothing at work."""
        self.running = False
        if self.stream is not None:
            self.stream.close()
            self.stream = None


def plan_of(design: Design) -> CoveragePlan:
    """The simulation of a design, for every rule that its sets allow: to show another rule costs no new run."""
    rules = tuple(key for key, rule in RULES.items() if rule.least_sets <= design.sets)
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level,
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
    if plan.fingerprint == run.plan.fingerprint and run.done <= plan.repetitions:
        kept = Run(plan, running=moving and run.done < plan.repetitions, tally=run.tally, seconds=run.seconds)
        kept.revealed = run.revealed
        st.session_state[KEY] = kept
        return kept
    st.session_state[KEY] = Run(plan) if moving else None
    return st.session_state[KEY]


def show_buttons(design: Design, run: Run | None, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Start, Stop or Resume, and Reset."""
    with left:
        if run is None or run.complete:
            words, action = ("Start", _start) if run is None else ("Run again", _start)
        else:
            words, action = ("Stop", _stop) if run.running else ("Resume", _resume)
        st.button(
            words, on_click=action, args=(design,), key=f"{PREFIX}go", type="primary", width="stretch",
            help="Draw confidential data and synthetic sets again and again, and count how often each interval "
            "holds p.",
        )  # fmt: skip
    with right:
        st.button("Reset", on_click=_reset, key=f"{PREFIX}reset", width="stretch", disabled=run is None)


def _start(design: Design) -> None:
    st.session_state[KEY] = Run(plan_of(design))


def _stop(_design: Design) -> None:
    st.session_state[KEY].stop()


def _resume(_design: Design) -> None:
    st.session_state[KEY].running = True


def _reset() -> None:
    run: Run | None = st.session_state.pop(KEY, None)
    if run is not None:
        run.stop()
