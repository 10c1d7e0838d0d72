"""Closer looks of the page Coverage, each computed only when it is opened, and the files of its runs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts import inference as charts
from dpviz.core import limits
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.escape import decode_utf8
from dpviz.core.formatting import format_number, format_percent
from dpviz.coverage import coverage_by_proportion, coverage_decomposition, report, shortest_lengths
from dpviz.designs import Design
from dpviz.export.tables import coverage_csv, intervals_csv, to_csv
from dpviz.export.templates import render
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import RULES
from dpviz.simulation import MAX_RUN_CHARACTERS, SavedRun, read_run, save_run
from dpviz.study.plan import simulation_of
from dpviz.study.results import read_results, summarize_cells
from pages import ui
from pages.details.coverage_simulation import KEY, Run
from pages.ui.navigation import COVERAGE, PUBLISHED

PREFIX = COVERAGE.prefix
FILE_KEY, CELL_KEY, STUDY_KEY = (f"{PREFIX}{name}" for name in ("run_file", "cell", "study"))
PROPORTIONS = np.round(np.sin(np.linspace(0, np.pi / 2, 33)) ** 2, 4)  # of the lengths, closer at 0 and 1


def _decompositions(results: Any) -> dict[str, Any]:
    """What each cause costs the rules that have a variance T."""
    design = results.design
    arguments = {"synthesizer": design.release, "p": design.p, "sets": design.sets, "level": design.level}
    rules = [key for key in results.coverages if RULES[key].has_variance]
    with st.spinner("Repairing one thing at a time …"):
        return {key: ui.result(coverage_decomposition, rule=key, **arguments) for key in rules}


def _show_causes(results: Any) -> None:
    decompositions = _decompositions(results)
    if not decompositions:
        st.caption(ui.words("no_causes" if results.coverages else "no_repairs"))
        return
    first = next(iter(decompositions.values()))
    mark = f"{format_percent(first.published, 3)} → {format_percent(first.repaired, 3)}"
    st.html(ui.section_answer(mark, report.failure_sentence(first, results.design.p)))
    ui.show_figure(charts.causes_chart(report.effects_by_cause(decompositions)), "causes", height=460)
    ui.table(*report.costs_table(decompositions))
    facts = report.repair_facts(decompositions)
    ui.note(ui.words("repairs", **facts))
    ui.table(*report.repairs_table(decompositions))
    st.caption(ui.words("costs", **facts))


def _show_lengths(results: Any) -> None:
    design = results.design
    rules = tuple(results.coverages)
    if not rules:
        st.caption(ui.words("no_lengths"))
        return
    exception = "" if design.sets == 1 else ", or to one that reads more of the counts than their sum"
    ui.note(f"{ui.words('lengths')} A line below it belongs to a rule that breaks its promise at some p{exception}.")
    proportions = tuple(np.unique(np.append(PROPORTIONS, design.p)).tolist())
    arguments = {"proportions": proportions, "sets": design.sets, "level": design.level}
    with st.spinner("Summing lengths …"):
        curves = ui.result(coverage_by_proportion, design.release, rules=rules, **arguments)
        shortest = ui.result(shortest_lengths, design.release, **arguments)
    lengths = dict(zip(curves.rules, curves.mean_width_inside, strict=True))
    chart = charts.length_chart(curves.points, lengths, shortest.length, chosen=design.p)
    ui.show_figure(chart, "length_picture", height=460)
    place = proportions.index(design.p)
    length = float(shortest.length[place])
    ui.table(*report.lengths_table(curves, length, place, design.level))
    limit = ui.words("no_limit")
    if np.isfinite(length):
        limit = ui.words("limit", error=format_number(100 * float(shortest.error[place]), 1))
        limit += f" {ui.words('limit_of_sums')}" if design.sets > 1 else ""
    st.caption(f"{ui.words('lengths_at')} {limit}")


def _show_moments(results: Any) -> None:
    design = results.design
    performance = results.run.performance
    moments = set_moments(design.release, p=design.p, sets=design.sets)
    ui.table(*report.estimate_table(moments, performance))

    # How far the variance of each rule is off
    try:
        if decompositions := _decompositions(results):
            ui.table(*report.variances_table(decompositions, performance))
            st.caption("Relative bias: (E[T] − Var(q̄)) / Var(q̄) in per cent, as in Charest's Table 2.")
    except ValueError as error:
        st.caption(f"How far each rule's variance is off: {error}")
    if performance is not None:
        ui.table(*report.measures_table(design.rules, performance))
        st.caption(ui.words("measures"))

    # Variances within and between several sets
    if design.sets > 1:
        ui.table(*report.moments_table(moments))
        for share in [coverage.negative_total_share for coverage in results.coverages.values()][:1]:
            if np.isfinite(share):
                st.caption(ui.words("negative", share=format_percent(share, 4)))
    for key, coverage in list(results.coverages.items())[:1]:
        ui.table(*report.repetitions_table(key, coverage.coverage))
        st.caption(ui.words("errors"))


def _show_downloads(results: Any) -> None:
    design, run = results.design, results.run
    make_table = partial(coverage_csv, design.rules, results.coverages, run.performance)
    tables: list[ui.File | str] = [("Coverage, CSV", "coverage.csv", make_table)]
    name, curves = results.axis, results.curves
    if curves is not None and results.is_complete:
        columns = {name: curves.points, **dict(zip(curves.rules, curves.coverage, strict=True))}
        tables.append(("Curves, CSV", f"by_{name}.csv", partial(to_csv, columns)))
    notes = []
    saved: ui.File | str = "Press Start first."
    if run.tally is None:
        tables.append("Press Start for the first intervals.")
    else:
        tables.append(("First intervals, CSV", "intervals.csv", lambda: intervals_csv(run.tally)))
        notes.append(f"simulated: {run.done:,} of {design.repetitions:,} repetitions; Start makes them again")
        is_of_study = run.plan.fingerprint != simulation_of(design).fingerprint  # which has fewer rules than the page
        about = (replace(design, rules=run.plan.rules) if is_of_study else design).to_address()
        saved = "Run, JSON", "coverage_run.json", lambda: save_run(run.tally, about=about)
    script = "coverage_page.py", render("export/coverage_script.txt", design=design), "this page's numbers to the digit"
    ui.show_page_files(tables, script, notes=notes)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        ui.show_files(("This run, to go on later", saved))
    with right:
        _show_opener(run)


def _show_opener(run: Run) -> None:
    """Draw a place for the file of a run or a study, and the choice of a cell of the study."""
    state = st.session_state
    megabytes = max(limits.MAX_STUDY_BYTES, MAX_RUN_CHARACTERS) // 1_000_000
    if not ui.open_file("Open a run or a study", FILE_KEY, read_file, megabytes=megabytes, types=("json", "csv")):
        state[STUDY_KEY] = None
        return
    if state.get(STUDY_KEY):
        names, sentence = state[STUDY_KEY]
        cells = range(len(names))
        st.selectbox("Cell of the study", cells, format_func=names.__getitem__, key=CELL_KEY, on_change=open_cell)
        st.caption(f"{sentence} {ui.words('study')}")
    if run.opened:
        hint = "" if run.is_complete else " Press Resume to go on."
        st.caption(f"{run.opened:,} repetitions came with the file.{hint}")


def read_file(content: bytes) -> dict[str, Any]:
    """Session values of a file, of its first cell where it is that of a study."""
    if content.startswith(b"mechanism,"):
        cells = read_results(content)
        study = [cell.label for cell in cells], summarize_cells(cells)
        return {**_session_values(cells[0].design), CELL_KEY: 0, STUDY_KEY: study}
    saved = read_run(decode_utf8(content, 4 * MAX_RUN_CHARACTERS))
    return {**_session_values(Design.from_address(saved.about), saved), STUDY_KEY: None}


def open_cell() -> None:
    """Go to another cell of the study that is open."""
    state = st.session_state
    content = ui.uploaded(FILE_KEY)
    try:
        if content is not None:
            state.update(_session_values(read_results(content)[state[CELL_KEY]].design))
    except ValueError as error:
        state[f"{FILE_KEY}_refused"] = f"This cell was not opened, and nothing has changed: {error}"


def _session_values(design: Design, saved: SavedRun | None = None) -> dict[str, Any]:
    """Session values of a design and its run, if any."""
    ROWS.validate(design.n)
    SYNTHETIC_ROWS.validate(design.m)
    names = ("prior", "n", "m", "sets", "p", "level", "repetitions", "seed", *design.promised)
    values = {name: getattr(design, name) for name in names} | dict(design.details)
    values |= {"synthesizer": design.mechanism, "rules": list(design.rules), "m_is_n": design.m == design.n}
    run = None
    if saved is not None:
        plan = simulation_of(design, design.rules)
        if plan.fingerprint != saved.fingerprint:
            plan = simulation_of(design)
        tally = saved.tally_of(plan)
        run = Run(plan, is_running=False, tally=tally, start=tally, opened=tally.repetitions)
    return {**{PREFIX + name: value for name, value in values.items()}, KEY: run}


def _show_explanation(_results: Any) -> None:
    st.markdown(ui.page_text("coverage", "why"))
    rows = [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()]
    ui.table(["rule", "how it is made", "source"], rows, "The rules", ())
    ui.page_link(PUBLISHED, {"paper": "charest"}, "Charest's tables and figure beside the exact numbers")


def _with_sums(show: Callable[[Any], None]) -> ui.Section:
    """Section that needs the exact sums; while they are computed a sentence stands in its place."""
    return lambda results: st.caption(ui.words("wait")) if results.coverages is None else show(results)


SECTIONS: dict[str, ui.Section] = {
    "Why it fails": _with_sums(_show_causes),
    "Length, and its limit": _with_sums(_show_lengths),
    "Bias and variance": _with_sums(_show_moments),
    "Download": _with_sums(_show_downloads),
    "Why, and sources": _show_explanation,
}
