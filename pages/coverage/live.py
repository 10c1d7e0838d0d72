"""The live section: the first intervals, exact curves that grow, simulated dots that settle on them, and the table."""

import itertools
import math
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.coverage import Dot, coverage_chart
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.plain import plain
from dpviz.core.wording import number, percent, percent_between
from dpviz.coverage import ExactCoverage, Performance, RulePerformance, performance_of
from dpviz.coverage.along import GrowingCurves
from dpviz.coverage.live import Run
from dpviz.designs import Design
from dpviz.desk.covered import coverage_sentence, coverage_setting, short_sentence
from dpviz.inference.rules import RULES
from pages.components.figure import show_figure
from pages.components.growing import Growing, ask_for_next_step
from pages.components.spec import class_mode
from pages.components.turns import TURNS, breathe
from pages.components.words import listing, page_answer, problem
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, short
from pages.coverage.exact import (
    Axis,
    Known,
    answer_of,
    is_whole,
    known_of,
    line_sentence,
)
from pages.coverage.watched import HEIGHT, dots_of, show_first, simulated

REST = 0.03  # Seconds from a picture to the next step
ANSWER = 0.4  # Seconds that a run waits for its answer; a step has what takes longer
LENGTH_ERROR = 1e-4  # largest error of a mean length that is written
FEWEST_HITS = 5  # expected hits, or misses, from which on a simulated share is compared in standard errors

AXIS = f"{PREFIX}axis"
SPEED, FAST = f"{PREFIX}speed", "as fast as it goes"
SPEEDS = {"one at a time": (1, 1.0, "one by one"), "slow": (3, 0.35, "slow"), FAST: (0, REST, "fast")}
"""How many of the first repetitions are shown at a time, and the seconds between: then the rest comes as it can. Last,
the word for it."""

SHARES = {"hold all of 0 to 100 %": "vacuous_share", "no interval": "negative_variance_share"}
SHARES_OF_SETS = {
    "coverage where T\u00a0≥\u00a00": "coverage_given_nonnegative_total",
    "where T\u00a0<\u00a00": "coverage_given_negative_total",
}
"""Columns of the table, with the field that the exact and the simulated result have for them."""


def show_live(design: Design, run: Run | None, axis: Axis, *, told: bool) -> None:
    """Render the live section; rerun it while work remains, and the page where its answer was not `told` before."""
    pace, rest, _ = SPEEDS[st.session_state.get(SPEED) or FAST]
    runs = itertools.count()

    def draw() -> None:
        ran, again = run is not None and run.running, next(runs) > 0
        waits = again and not ran
        stopped = ""
        if run is not None:
            try:
                with TURNS.aside():
                    run.advance(breathe, pace)
            except ValueError as broken:
                run.stop()
                stopped = str(broken)

        def go_on(growing: Growing[Any]) -> None:
            nonlocal waits
            if waits and growing.stream is not None:
                growing.further()
                waits = False
            elif again or ran:
                growing.now()
            else:
                growing.soon()

        known = known_of(design, axis, go_on)
        if not told and answer_of(design, 0.0) is not None:  # it stands outside of what a step draws
            st.rerun()
        exact, tally = known.coverages or {}, None if run is None else run.tally
        watched = run.watched if run is not None and run.watching else 0
        found = None if tally is None or watched else performance_of(tally)
        # In a class the intervals fill the screen, and the curves stand below them.
        intervals, lines = (st.container(), st.container()) if class_mode() else st.columns([1.15, 1], gap="small")
        with intervals:
            show_first(design, watched, found)
        with lines:
            _picture(design, exact, dots_of(design, tally, watched, found) if tally else [], known.curves, axis)
            if known.coverages is not None:
                _say_absent(design, exact)
        if stopped:
            problem(stopped)
        _status(run, exact=known.coverages is None or len(exact) == len(design.rules))
        _table(design, known, found)
        ended = ran and run is not None and not run.running  # its buttons stand outside of what a step draws
        over = known.over and not (run is not None and run.running)
        if ended or (over and again and st.session_state.get(f"{PREFIX}look")):  # as are the files of what has grown
            st.rerun()
        if not over:
            ask_for_next_step(f"{PREFIX}step", rest if run is not None and run.running and run.watching else REST)

    st.fragment(draw)()


def show_answer(design: Design) -> bool:
    """The exact coverage of the first rule that has one in a sentence, or that only the simulation can say.

    Returns whether that is known by now.
    """
    exact = answer_of(design, ANSWER)
    said = "computing", SPEC.note("summing", named=coverage_setting(design)), "The exact sums take a moment."
    if exact is not None:
        beyond = f"With {coverage_setting(design)} the exact sums would take too long. Press Start to simulate instead."
        said = "beyond exact sums", beyond, "Exact sums would take too long here: press Start to simulate."
    for rule, one in itertools.islice((exact or {}).items(), 1):
        said = percent(one.coverage, 3), coverage_sentence(design, rule, one), short_sentence(design, rule, one)
    st.html(page_answer(*said))
    return exact is not None


def _picture(
    design: Design, exact: dict[str, ExactCoverage], dots: list[Dot],
    curves: Growing[GrowingCurves] | None, axis: Axis,
) -> None:  # fmt: skip
    chosen, marks = getattr(design, axis.name), {key: one.coverage for key, one in exact.items()}
    line = curves.latest.lines.through(chosen, marks) if curves and curves.latest else None
    values = dict(zip(line.rules, line.coverage, strict=True)) if line else {}
    chart = coverage_chart(
        line.points if line else np.array([]), values, names={key: RULES[key].label for key in design.rules},
        ends={key: RULES[key].abbreviation for key in design.rules}, title=axis.title, log=axis.log,
        level=design.level, chosen=chosen, marks=marks,
        dots=dots,
        span=(min(axis.ends[0], chosen), max(axis.ends[1], chosen)),
    )  # fmt: skip
    alt = "Coverage of each rule: exact lines, simulated dots with error bars, the promised level."
    show_figure(chart, key=f"{PREFIX}picture", alt=alt, height=HEIGHT, hero=not class_mode())
    if curves and curves.latest:
        st.caption(line_sentence(axis, curves.latest.lines, growing=not is_whole(curves)))
    if curves and curves.problem:
        st.caption(f"The line ends early: {plain(curves.problem)}")


def _say_absent(design: Design, exact: dict[str, ExactCoverage]) -> None:
    """Whose line there is not, and why."""
    if len(exact) < len(design.rules):
        whose = f" for {', '.join(short(key) for key in design.rules if key not in exact)}" if exact else ""
        n, m = readable(design.n), readable(design.m)
        st.caption(SPEC.note("no_line", n=n, m=m, sets=design.sets, whose=whose))


def _status(run: Run | None, *, exact: bool) -> None:
    if run is None:
        settle = "settle on the exact lines" if exact else "stand alone, for exact sums would take too long"
        st.caption(SPEC.note("start", settle=settle))
        return
    if run.watching:
        st.progress(run.watched / run.plan.shown)
        state = "" if run.running else ", stopped"
        st.caption(
            f"{run.watched} of the first {run.plan.shown} repetitions{state}; the others follow as fast as they come; "
            f"seed {run.plan.seed}. Bars are 95 % (Wilson)."
        )
        return
    st.progress(run.done / run.plan.repetitions)
    rate = f", {readable((run.done - run.opened) / run.elapsed, 2)} a second" if run.elapsed > 0 else ""
    came = f", {run.opened:,} from a file" if run.opened else ""
    state = "running" if run.running else "complete" if run.complete else "stopped"
    counted = (
        f"{run.done:,} of {run.plan.repetitions:,} repetitions, {state}{came}, {readable(run.elapsed, 2)} s elapsed"
    )
    st.caption(f"{counted}{rate}; seed {run.plan.seed}. Bars are 95 % (Wilson), numbers ± one standard error.")


def _table(design: Design, known: Known, found: Performance | None) -> None:
    """The numbers of each rule, as long as they are not exact to the digits that are sure."""
    exact = known.coverages or {}
    shares = SHARES | (SHARES_OF_SETS if design.sets > 1 else {})
    apart = ["apart, in standard errors"] if exact and found else []
    head = ["rule", "coverage, exact", "smallest at any p", "simulated", *apart, "mean length, in points", *shares]
    rows = []
    for key in design.rules:
        one, ours = exact.get(key), found.rules[key] if found else None
        width, *listed = (_value(field, one, ours) for field in ("mean_width_inside", *shares.values()))
        off = one.mean_width_inside_error_bound if one else 0.0
        width = math.nan if off > LENGTH_ERROR else Measure(100 * width, 0.0, within=100 * off).shown
        away = _apart(one.coverage, key, found) if one and found else ""
        rows.append(
            [
                f"<b>{short(key)}</b><br><small>{RULES[key].formula}</small>",
                _exactly(one, known),
                _smallest(key, known),
                simulated(ours) if ours else "not yet",
                *(away for _ in apart),
                number(width, 4),
                *(_share(share, one, known, 3) if math.isfinite(share) else "–" for share in listed),
            ]
        )
    listing(head, rows, "Coverage of each rule")
    kind = "simulated" if not exact else "exact" if len(exact) == len(design.rules) else "exact where the coverage is"
    st.caption(SPEC.note("table", kind=kind) + _sign(known, found))


def _exactly(one: ExactCoverage | None, known: Known) -> str:
    """A coverage to the digits that are sure, dots while it is computed."""
    if one is None:
        return "…" if known.coverages is None else "beyond reach"
    return _share(one.coverage, one, known, 5)


def _share(value: float, one: ExactCoverage | None, known: Known, digits: int) -> str:
    """A share to so many digits, or those that are sure where it comes of a glance."""
    if one is None or known.exact:
        return percent(value, digits)
    return percent_between(max(value - one.error_bound, 0.0), min(value + one.error_bound, 1.0), digits)


def _smallest(key: str, known: Known) -> str:
    """The smallest coverage anywhere and where it is, dots while it is computed, and a dash where it is not."""
    one = known.smallest.get(key)
    if one is None:
        return "–" if known.over else "…"
    share = percent_between(one.value - one.gap, one.value, 4)
    return f"{share}<br><small>at p = {readable_apart(one.at, 1.0, 3)}</small>"


def _value(field: str, one: ExactCoverage | None, ours: RulePerformance | None) -> float:
    """What the exact result says, or the simulated one where there is none."""
    return float(getattr(one, field) if one else getattr(ours, field).value if ours else math.nan)


def _sign(known: Known, found: Performance | None) -> str:
    """How often T_M is negative, which the last two columns tell apart."""
    shares: list[tuple[float, ExactCoverage | None]] = [
        (one.negative_total_share, one) for one in (known.coverages or {}).values()
    ]
    if found and not shares:
        shares.append((found.negative_total_share.value, None))
    told = [_share(share, one, known, 3) for share, one in shares if math.isfinite(share)]
    if not told:
        return ""
    return f" T is here (1 + 1/M) b − v̄ for every rule; it is negative in {told[0]} of the releases."


def _apart(exact: float, key: str, found: Performance) -> str:
    if found.repetitions * min(exact, 1 - exact) < FEWEST_HITS:
        return "too few hits"
    error = math.sqrt(exact * (1 - exact) / found.repetitions)
    return readable(round((found.rules[key].coverage.value - exact) / error, 2), 3)
