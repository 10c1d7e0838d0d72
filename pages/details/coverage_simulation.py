"""The simulation on Coverage: one run for each reader, which starts, stops and goes on to the same digits."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from dpviz.charts.inference import caterpillar_chart
from dpviz.coverage import CoveragePlan, CoverageTally, Performance, first_intervals, performance_of, report
from dpviz.coverage.performance import first_shares
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.simulation import stream_simulation
from dpviz.study.plan import simulation_of
from pages import ui
from pages.ui.navigation import COVERAGE

PREFIX = COVERAGE.prefix
KEY = f"{PREFIX}run"
FIGURE_HEIGHT = 500
SLICE = 100_000  # repetitions of one computation, about half a second: nobody's answer waits longer for a worker
AWAY_S = 3.0  # delay of a step from which on the reader was elsewhere
DELAYS_PER_PAUSE = 3.0  # a step that comes late is followed by a pause of so many delays: a busy server draws less
SPEEDS = ui.declared_table("coverage", "speeds")
"""How the first repetitions are shown: so many (`step`) at a time with a pause between them, or all of them (0)."""

_first_intervals = lru_cache(maxsize=64)(first_intervals)


@dataclass
class Run:
    """A simulation of a reader, running or stopped."""

    plan: CoveragePlan
    is_running: bool = True
    tally: CoverageTally | None = None
    start: CoverageTally | None = None  # where the computation under way began, which all share who run the same
    opened: int = 0  # repetitions that came with a file
    watched: int = 0  # first repetitions that were shown a few at a time; 0 where all are shown at once
    due: float = 0.0  # time.monotonic() of the next ones
    problem: str = ""

    @property
    def done(self) -> int:
        return 0 if self.tally is None else self.tally.repetitions

    @property
    def is_complete(self) -> bool:
        return self.done >= self.plan.repetitions

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has started it."""
        return self.tally is None and not (self.is_running or self.problem)

    @property
    def is_watched(self) -> bool:
        """Whether the first repetitions are still being shown a few at a time."""
        return self.tally is not None and 0 < self.watched < len(self.tally.shown)

    @property
    def n_shown(self) -> int:
        return self.watched if self.is_watched else self.done

    @property
    def shares(self) -> dict[str, tuple[float, float, float]]:
        return {} if self.tally is None else first_shares(self.tally, self.n_shown)

    @property
    def performance(self) -> Performance | None:
        """What all of them say; None while only the first are shown."""
        return None if self.tally is None or self.is_watched else performance_of(self.tally)

    def stop(self) -> None:
        """Stop; the computation ends once nobody needs it."""
        self.is_running = False
        self.start = self.tally

    def resume(self) -> None:
        """Go on from what has been counted."""
        self.is_running = True
        self.due = 0.0
        self.problem = ""

    def advance(self, speed: Mapping[str, Any]) -> None:
        """Take what has been counted since, and ask for more."""
        if not self.is_running:
            return
        is_slow = speed["step"] > 0 and (self.tally is None or self.is_watched)
        if self.tally is None or not is_slow:
            # Count a part of the run, which all share who run the same
            before = 0 if self.start is None else self.start.repetitions
            end = before + (self.plan.batch if is_slow else SLICE)
            part = replace(self.plan, repetitions=min(self.plan.repetitions, end))
            try:
                tally, is_part_complete = ui.progress(stream_simulation, part, start=self.start, pool=ui.ANSWERS)
            except ValueError as error:
                self.problem = str(error)
                self.stop()
                return
            self.tally = tally or self.tally
            if is_part_complete:
                self.start = self.tally
                if not self.is_complete:
                    ui.refresh_after(0.0)
        if is_slow and self.tally is not None:
            # Show more of the first repetitions once they are due: larger steps and longer pauses on a busy server
            now = time.monotonic()
            delay = now - self.due
            if delay >= 0:
                is_away = delay >= AWAY_S  # before the first step, or after an absence
                pause = speed["pause_s"] if is_away else max(speed["pause_s"], DELAYS_PER_PAUSE * delay)
                self.watched += speed["step"] * round(pause / speed["pause_s"])
                self.due = now + pause
            ui.refresh_after(self.due - now)
        elif self.watched:
            self.watched = self.plan.shown
        if self.is_complete and not self.is_watched:
            self.stop()


def current_run(design: Design) -> Run:
    """The reader's run of this design; a new one where there is none, which runs where the design moved meanwhile."""
    run: Run | None = st.session_state.get(KEY)
    fresh = Run(simulation_of(design), is_running=False)
    if run is None:
        return fresh
    rules = run.plan.rules  # those of a study are fewer than the page's
    if set(design.rules) <= set(rules) and all(RULES[key].is_feasible(design.release, design.sets) for key in rules):
        plan = simulation_of(design, rules)
        if plan.fingerprint == run.plan.fingerprint and run.done <= plan.repetitions:
            if plan.repetitions != run.plan.repetitions:
                run.plan, run.start = plan, run.tally
            return run
    fresh.is_running = run.is_running
    st.session_state[KEY] = fresh if run.is_running else None
    return fresh


def show_first_intervals(design: Design, run: Run) -> None:
    """Draw the first intervals of the first rule: of the very repetitions that Start goes on with."""
    rule = design.rules[0]
    plan = simulation_of(design, (rule,))
    # The table of a rule that knows the noise may take a second
    intervals = ui.result(first_intervals, plan) if RULES[rule].is_noise_aware else _first_intervals(plan)
    shown = min(run.watched, len(intervals)) if run.is_watched else 0
    lines = report.interval_words(plan, intervals, shown, run.performance)
    chart = caterpillar_chart(
        intervals.estimates, intervals.low, intervals.high, covered=intervals.covered, vacuous=intervals.vacuous,
        p=plan.p, words="<br>".join(lines), shown=shown or None,
    )  # fmt: skip
    name = RULES[rule].short_label
    alt = f"The first intervals by {name}, one line each; those that miss the true share are crossed."
    ui.show_figure(chart, "caterpillar", alt, height=FIGURE_HEIGHT, hero=True)


def show_buttons(design: Design, run: Run) -> None:
    def start() -> None:
        st.session_state[KEY] = Run(simulation_of(design))

    label, action = "Start" if run.is_fresh else "Run again", start
    if run.is_running:
        label, action = "Stop", run.stop
    elif not (run.is_fresh or run.is_complete):
        label, action = "Resume", run.resume
    width = 170  # pixels: room for the longest label with the name of the key, so that nothing moves
    st.button(label, on_click=action, key=f"{PREFIX}go", width=width, shortcut="Space")
    clear = partial(st.session_state.update, {KEY: None})
    st.button("Reset", on_click=clear, key=f"{PREFIX}reset", disabled=run.is_fresh)


def show_status(run: Run, *, has_lines: bool) -> None:
    """Draw how far the run is, or what there is to see once it is started."""
    if run.is_fresh:
        settle = "settle on the exact lines" if has_lines else "stand alone, for exact sums would take too long"
        st.caption(ui.words("start", settle=settle))
        return
    if run.problem:
        ui.problem(run.problem)
    state = "running" if run.is_running else "stopped"
    shown, total = run.done, run.plan.repetitions
    words = f"{run.done:,} of {total:,} repetitions, {'complete' if run.is_complete else state}"
    words += f", {run.opened:,} from a file" if run.opened else ""
    if run.is_watched:
        shown, total = run.watched, run.plan.shown
        words = f"{shown} of the first {total} repetitions, {state}; the others follow as fast as they come"
    st.progress(shown / total)
    st.caption(f"{words}; seed {run.plan.seed}. Bars are 95 % (Wilson), numbers ± one standard error.")
