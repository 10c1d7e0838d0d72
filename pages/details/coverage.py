"""Closer looks of the page Coverage, each computed only when it is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.coverage import causes_chart, length_chart
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.coverage import CoverageDecomposition, LengthCurves, coverage_decomposition, exact_coverage, in_words
from dpviz.coverage.causes import costs_table, effects_by_cause, failure_sentence, repairs_in_words, repairs_table
from dpviz.coverage.exact import stream_lengths
from dpviz.designs import Design
from dpviz.desk.exports.coverage import coverage_csv, intervals_csv
from dpviz.desk.exports.script import coverage_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import RULES
from pages import ui
from pages.details.coverage_files import show_run_files
from pages.ui.navigation import COVERAGE, PUBLISHED

PREFIX = COVERAGE.prefix
PROPORTIONS = np.round(
    np.sin(np.linspace(0, np.pi / 2, 33)) ** 2, 4
)  # at which lengths are computed, closer at 0 and 1


def _note(section: str, **values: object) -> str:
    return ui.page_note("coverage", section, **values)


def _decompositions(results: Any) -> dict[str, CoverageDecomposition]:
    """What each cause costs the rules that have a variance T."""
    design = results.design
    return {
        key: ui.result(
            coverage_decomposition, synthesizer=design.release, p=design.p, sets=design.sets, rule=key,
            level=design.level,
        )
        for key in results.coverages
        if RULES[key].has_variance
    }  # fmt: skip


def show_causes(results: Any) -> None:
    """What each cause costs, in a sentence, a picture and a table, and the eight combinations of repairs."""
    mechanism = results.design.synthesizer_type
    with st.spinner("Repairing one thing at a time …"):
        decompositions = _decompositions(results)
    if not decompositions:
        st.caption(_note("no_causes" if results.coverages else "no_repairs"))
        return

    # The first rule in a sentence, and all of them in a picture and a table
    first = next(iter(decompositions.values()))
    mark = f"{percent(first.published, 3)} → {percent(first.repaired, 3)}"
    st.html(ui.section_answer(mark, failure_sentence(first, mechanism)))
    names = {key: RULES[key].label for key in decompositions}
    chart = causes_chart(effects_by_cause(decompositions, mechanism), names=names)
    alt = "For each rule, what each cause takes from the promised coverage (left) or adds to it (right)."
    ui.show_figure(chart, f"{PREFIX}causes", alt, height=460)
    ui.table(*costs_table(decompositions, mechanism))

    # What the repairs do
    ui.note(_note("repairs", **repairs_in_words(first, mechanism)))
    ui.table(*repairs_table(decompositions, mechanism))
    variances = [
        f"{readable(decomposition.mean_variance, 3)} ({RULES[key].short_label})"
        for key, decomposition in decompositions.items()
    ]
    st.caption(_note(
        "costs", error=readable(first.error_bound, 1), bias=readable(first.bias, 4), spread=readable(first.variance, 4),
        variances=", ".join(variances),
    ))  # fmt: skip


def show_lengths(results: Any) -> None:
    """Expected lengths against p with their limit, and what each rule pays for its coverage at the reader's p."""
    design = results.design
    rules = tuple(results.coverages)
    if not rules:
        st.caption(_note("no_lengths"))
        return
    ui.note(f"{_note('lengths')} {in_words.below_the_limit(design.sets)}")
    points = np.unique(np.append(PROPORTIONS, design.p))
    lengths = ui.latest(
        stream_lengths, design.release, proportions=tuple(points.tolist()), sets=design.sets, rules=rules,
        level=design.level,
    )  # fmt: skip
    empty = np.array([])
    values = {}
    if lengths is not None:
        values = dict(zip(lengths.curves.rules, 100 * lengths.curves.mean_width_inside, strict=True))
    chart = length_chart(
        empty if lengths is None else lengths.proportions, values, empty if lengths is None else 100 * lengths.limit,
        names={key: RULES[key].label for key in rules}, ends={key: RULES[key].abbreviation for key in rules},
        chosen=design.p,
    )  # fmt: skip
    alt = "Expected length of each rule's interval against the true proportion, and the shortest possible."
    ui.show_figure(chart, f"{PREFIX}length_picture", alt, height=460)
    if lengths is not None:
        _show_lengths_at(lengths, design)


def _show_lengths_at(lengths: LengthCurves, design: Design) -> None:
    """Table of the lengths at the reader's p, once they are known there."""
    for place in np.flatnonzero(lengths.proportions == design.p).tolist():
        ui.table(*in_words.lengths_table(lengths, place, design.level))
        limit = ". The shortest possible length is not computed at these sizes."
        if np.isfinite(lengths.limit[place]):
            limit = _note("limit", error=readable(100 * float(lengths.limit_error[place]), 1))
            if design.sets > 1:
                limit += " With several sets the limit is that of rules that read the sum alone."
        st.caption(f"Length inside 0 to 100 %, in points, over the releases that have an interval{limit}")


def show_moments(results: Any) -> None:
    """Bias and variance in closed form beside the simulation, each rule's variance, and how long to run."""
    design = results.design
    performance = None if results.run is None else results.run.performance
    moments = set_moments(design.release, p=design.p, sets=design.sets)
    ui.table(*in_words.estimate_table(moments, performance))

    # How far the variance of each rule is off
    try:
        if decompositions := _decompositions(results):
            ui.table(*in_words.variances_table(decompositions, performance))
            st.caption("Relative bias: (E[T] − Var(q̄)) / Var(q̄) in per cent, as in Charest's Table 2.")
    except ValueError as error:
        st.caption(f"How far each rule's variance is off: {error}")
    if performance is not None:
        ui.table(*in_words.measures_table(design.rules, performance))
        st.caption(_note("measures"))

    # Variances within and between several sets
    if design.sets > 1:
        ui.table(*in_words.moments_table(moments))
        if any(RULES[key].has_variance for key in results.coverages):
            coverage = ui.result(
                exact_coverage, synthesizer=design.release, p=design.p, sets=design.sets, level=design.level,
                rule="raghunathan_2003", quick=True,
            )  # fmt: skip
            st.caption(_note("negative", share=percent(coverage.negative_variance_share, 4)))
    for key, coverage in list(results.coverages.items())[:1]:
        ui.table(*in_words.repetitions_table(key, coverage.coverage))
        st.caption(_note("errors"))


def show_downloads(results: Any) -> None:
    """Coverage, curves and first intervals as CSV, the script, and the run as a file to keep and to open."""
    design = results.design
    run = results.run
    performance = None if run is None else run.performance
    tables: list[ui.File | str] = [
        ("Coverage, CSV", "coverage.csv", lambda: coverage_csv(design.rules, results.coverages, performance)),
    ]  # fmt: skip
    curves, _ = results.curves
    if curves is not None and curves.whole:
        columns = dict(zip(curves.lines.rules, curves.lines.coverage, strict=True))
        name = results.axis.name
        tables.append(("Curves, CSV", f"by_{name}.csv", lambda: columns_csv(name, curves.lines.points, columns)))
    notes = []
    if run is None or run.tally is None:
        tables.append("Press Start for the first intervals.")
    else:
        tables.append(("First intervals, CSV", "intervals.csv", lambda: intervals_csv(run.tally)))
        notes.append(f"simulated: {run.done:,} of {design.repetitions:,} repetitions; Start makes them again")
    script = "coverage_page.py", coverage_script(design), "this page's numbers to the digit"
    ui.download_columns(COVERAGE, tables, script, notes=notes)
    show_run_files(design, run)


def show_explanation(_results: Any) -> None:
    """Model, reasons and sources, and every rule with its formula."""
    st.markdown(ui.page_text("coverage", "why"))
    rows = [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()]
    ui.table(["rule", "how it is made", "source"], rows, "The rules", ())
    ui.page_link(PUBLISHED, {"paper": "charest"}, "Charest's tables and figure beside the exact numbers")


def _with_sums(show: Callable[[Any], None]) -> ui.Section:
    """Section that needs the exact sums; while they are computed a sentence stands in its place."""

    def section(results: Any) -> None:
        if results.coverages is None:
            st.caption(_note("wait"))
        else:
            show(results)

    return section


SECTIONS: dict[str, ui.Section] = {
    "Why it fails": _with_sums(show_causes),
    "Length, and its limit": _with_sums(show_lengths),
    "Bias and variance": _with_sums(show_moments),
    "Download": _with_sums(show_downloads),
    "Why, and sources": show_explanation,
}
