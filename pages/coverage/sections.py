"""The closer looks of the page, each run only when it is opened."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.charest import figure_1_chart
from dpviz.charts.coverage import causes_chart, estimates_chart, length_chart
from dpviz.claims import charest
from dpviz.claims.charest_layout import layout_table
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.coverage import CoverageDecomposition, LengthCurves, in_words, performance_of
from dpviz.coverage.causes import costs_table, effects_by_cause, failure_sentence, repairs_in_words, repairs_table
from dpviz.coverage.distributions import estimate_distribution
from dpviz.coverage.exact import exact_coverage, stream_lengths
from dpviz.coverage.performance import first_totals
from dpviz.designs import Design
from dpviz.desk.exports.coverage import coverage_csv, intervals_csv
from dpviz.desk.exports.script import coverage_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import RULES
from pages.components.cached import cached, elsewhere
from pages.components.downloads import SAVED, Part, show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section
from pages.components.growing import REST, ask_for_next_step, growing_of, show_growing
from pages.components.words import answer, heading, listing, note, show_errata
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, short
from pages.coverage.exact import AXES, curves_of, decomposition, exact_values, exact_variances, is_whole
from pages.coverage.files import show_run
from pages.coverage.live import AXIS
from pages.coverage.run import current_run

LARGEST_TOTAL = 50_000  # synthetic rows of all sets up to which the exact distribution of the estimate is drawn
PROPORTIONS = np.round(np.sin(np.linspace(0, np.pi / 2, 33)) ** 2, 4)  # at which lengths are computed


def _decompositions(design: Design) -> dict[str, CoverageDecomposition]:
    return {key: decomposition(design, key) for key in exact_variances(design)}


def _show_failure(design: Design) -> None:
    """What each cause costs, in a sentence, a picture and a table, and the eight combinations of repairs."""
    found, made = _decompositions(design), design.synthesizer_type
    if not found:
        st.caption(SPEC.note("no_causes" if exact_values(design) else "no_repairs"))
        return
    first = next(iter(found.values()))
    change = f"{percent(first.published, 3)} → {percent(first.repaired, 3)}"
    st.html(answer(change, failure_sentence(first, made)))
    chart = causes_chart(effects_by_cause(found, made), names={key: RULES[key].label for key in found})
    alt = "For each rule, what each cause takes from the promised coverage (left) or adds to it (right)."
    show_figure(chart, key=f"{PREFIX}causes", alt=alt, height=460)
    listing(*costs_table(found, made))
    note(SPEC.note("repairs", **repairs_in_words(first, made)))
    listing(*repairs_table(found, made))
    variances = ", ".join(f"{readable(one.mean_variance, 3)} ({short(key)})" for key, one in found.items())
    error, bias, spread = readable(first.error_bound, 1), readable(first.bias, 4), readable(first.variance, 4)
    st.caption(SPEC.note("costs", error=error, bias=bias, spread=spread, variances=variances))


def _show_estimates(design: Design) -> None:
    """The distribution of the estimate in a picture, again and again while a run moves, and in a sentence."""
    if design.sets * design.m > LARGEST_TOTAL:
        st.caption(SPEC.note("no_estimates", most=f"{LARGEST_TOTAL:,}"))
        return
    run, exact = current_run(design), cached(estimate_distribution)(design.release, p=design.p, sets=design.sets)

    def draw() -> None:
        counted = None
        if run is not None and (tally := run.tally):
            counted = first_totals(tally, run.watched) if run.watching else tally.totals / tally.repetitions
        chart = estimates_chart(
            exact.support, exact.probabilities, p=exact.proportion, mean=exact.mean,
            color=design.synthesizer_type.key, counted=counted,
        )  # fmt: skip
        alt = "The exact distribution of the estimate as a line, simulated shares as bars, the truth and the mean."
        show_figure(chart, key=f"{PREFIX}estimates", alt=alt, height=400)
        if run is not None and run.running:
            ask_for_next_step(f"{PREFIX}estimates_step", REST)

    st.fragment(draw)()
    st.caption(in_words.estimate_sentence(exact, design.synthesizer_type))


def _show_lengths(design: Design) -> None:
    """Expected lengths against p with their limit, and at the reader's p what each rule pays for its coverage."""
    rules = tuple(exact_values(design))
    if not rules:
        st.caption(SPEC.note("no_lengths"))
        return
    note(f"{SPEC.note('lengths')} {in_words.below_the_limit(design.sets)}")
    points = np.unique(np.append(PROPORTIONS, design.p))
    key = ("lengths", repr(design.release), design.sets, rules, design.level, points.tobytes())
    asked: dict[str, Any] = {"sets": design.sets, "rules": rules, "level": design.level}
    growing = growing_of(
        f"{PREFIX}lengths", key, LengthCurves, partial(stream_lengths, design.release, proportions=points, **asked)
    )
    draw = partial(_draw_lengths, design)
    show_growing(growing, "Summing the lengths …", draw, key=f"{PREFIX}lengths_step")


def _draw_lengths(design: Design, found: LengthCurves) -> None:
    rules = [RULES[key] for key in found.curves.rules]
    chart = length_chart(
        found.proportions, dict(zip(found.curves.rules, 100 * found.curves.mean_width_inside, strict=True)),
        100 * found.limit,
        names={one.key: one.label for one in rules}, ends={one.key: one.abbreviation for one in rules}, chosen=design.p,
    )  # fmt: skip
    alt = "Expected length of each rule's interval against the true proportion, and the shortest possible."
    show_figure(chart, key=f"{PREFIX}length_picture", alt=alt, height=460)
    for place in np.flatnonzero(found.proportions == design.p).tolist():
        listing(*in_words.lengths_table(found, place, design.level))
        said = ". The shortest possible length is not computed at these sizes."
        if np.isfinite(found.limit[place]):
            said = SPEC.note("limit", error=readable(100 * float(found.limit_error[place]), 1))
            said += " With several sets the limit is that of rules that read the sum alone." * (design.sets > 1)
        st.caption(f"Length inside 0 to 100 %, in points, over the releases that have an interval{said}")


def _show_moments(design: Design) -> None:
    """Bias and variance in closed form beside the simulation, each rule's variance, and how long to run."""
    run = current_run(design)
    found = None if run is None or run.tally is None else performance_of(run.tally)
    exact = set_moments(design.release, p=design.p, sets=design.sets)
    listing(*in_words.estimate_table(exact, found))
    try:
        if variances := _decompositions(design):
            listing(*in_words.variances_table(variances, found))
            st.caption("Relative bias: (E[T] − Var(q̄)) / Var(q̄) in per cent, as in Charest's Table 2.")
    except ValueError as unknown:
        st.caption(f"How far each rule's variance is off: {unknown}")
    if found is not None:
        listing(*in_words.measures_table(design.rules, found))
        st.caption(SPEC.note("measures"))
    if design.sets > 1:
        listing(*in_words.moments_table(exact))
        if exact_variances(design):
            asked: dict[str, Any] = {"p": design.p, "sets": design.sets, "level": design.level, "quick": True}
            plain = elsewhere(exact_coverage, "Counting negative variances …")(
                synthesizer=design.release, rule="raghunathan_2003", **asked
            )
            st.caption(SPEC.note("negative", share=percent(plain.negative_variance_share, 4)))
    if sums := exact_values(design):
        key, one = next(iter(sums.items()))
        listing(*in_words.repetitions_table(key, one.coverage))
        st.caption(SPEC.note("errors"))


def _show_published(_design: Design) -> None:
    """Charest's Tables 1 and 2 beside ours, Figure 1, and where the paper contradicts itself."""
    for number in (1, 2):
        heading(f"Charest (2011), Table {number}: {charest.TABLE_CAPTIONS[number]}")
        lines = elsewhere(charest.compare_charest, "Charest's numbers, exactly …")(number)
        listing(*layout_table(number, lines))
        st.caption(SPEC.note("far", far=sum(line.far for line in lines), all=len(lines)))
    heading("Charest (2011), Figure 1: coverage of the 95 % interval with T*")
    st.caption(SPEC.note("quantiles"))
    for reading, (rule, column) in enumerate(zip(charest.FIGURE_1.rules, st.columns(2, gap="medium"), strict=True)):
        with column:
            st.html(f"<b>{short(rule)}</b>")
            curves = elsewhere(charest.figure_1_curves, "Figure 1: exact sums at every point …")(
                charest.FIGURE_1_EPSILONS
            )
            chart = figure_1_chart(charest.FIGURE_1_EPSILONS, curves, reading)
            alt = f"Exact coverage by {short(rule)} against epsilon for p = 0.25 and 0.5 and 2, 5 and 10 sets."
            show_figure(chart, key=f"{PREFIX}figure_1_{rule}", alt=alt, height=420)
    st.caption(SPEC.note("figure", points=len(charest.FIGURE_1_EPSILONS)))
    show_errata(charest.ERRATA)
    st.caption(SPEC.note("source"))


def _show_downloads(design: Design) -> None:
    """Coverage, curves and first intervals as CSV, the script, and the run as a file to take and to open."""
    run, axis = current_run(design), AXES[st.session_state.get(AXIS) or "against p"]
    tally, exact, curves = run.tally if run else None, exact_values(design), curves_of(design, axis)
    found = performance_of(tally) if tally else None
    tables: list[Part] = [("Coverage, CSV", "coverage.csv", lambda: coverage_csv(design.rules, exact, found))]
    if curves is not None and curves.latest is not None and is_whole(curves):
        line = curves.latest.lines
        curve = dict(zip(line.rules, line.coverage, strict=True))
        tables.append(("Curves, CSV", f"by_{axis.name}.csv", lambda: columns_csv(axis.name, line.points, curve)))
    told = []
    if tally:
        tables.append(("First intervals, CSV", "intervals.csv", lambda: intervals_csv(tally)))
        done, asked = f"{tally.repetitions:,}", f"{design.repetitions:,}"
        told.append(f"simulated: {done} of {asked} repetitions; the page makes them again when Start is pressed")
    else:
        tables.append("Press Start for the first intervals.")
    script = "coverage_page.py", coverage_script(design), "this page's numbers to the digit"
    show_columns(PREFIX, tables, [SAVED], script, between=partial(show_run, design, run), told=told)


def _why(_design: Design) -> None:
    st.markdown(SPEC.text("words"))
    rows = [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()]
    listing(["rule", "how it is made", "source"], rows, "The rules", ())


SECTIONS: dict[str, Section[Design]] = {
    "Why it fails": _show_failure,
    "Where the estimate falls": _show_estimates,
    "Length, and its limit": _show_lengths,
    "Bias and variance": _show_moments,
    "As published": _show_published,
    "Download": _show_downloads,
    "Why, and sources": _why,
}
