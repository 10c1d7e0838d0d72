"""The closer looks of the page, each run only when it is opened."""

from typing import Any

import streamlit as st

from dpviz.coverage import performance_of
from dpviz.coverage.live import Run
from dpviz.coverage.studies import read_run, save_run
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.designs import Design
from dpviz.desk.exports.coverage import coverage_csv, intervals_csv
from dpviz.desk.exports.script import coverage_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference.rules import RULES
from pages.components.downloads import SAVED, Part, show_columns, show_files, show_opener, text_of
from pages.components.frame import Section
from pages.components.prior_rule import settings_of
from pages.components.words import listing
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX
from pages.coverage.estimates import show_estimates
from pages.coverage.exact import AXES, curves_of, exact_values
from pages.coverage.fails import show_failure
from pages.coverage.lengths import show_lengths
from pages.coverage.live import AXIS
from pages.coverage.moments import show_moments
from pages.coverage.published import show_published
from pages.coverage.run import KEY, current_run, plan_of


def show_downloads(design: Design) -> None:
    """Coverage, curves and first intervals as CSV, the script, and the run as a file to take and to open."""
    run, axis = current_run(design), AXES[st.session_state.get(AXIS) or "against p"]
    tally, exact, curves = run.tally if run else None, exact_values(design), curves_of(design, axis)
    found = performance_of(tally) if tally else None
    tables: list[Part] = [("Coverage, CSV", "coverage.csv", lambda: coverage_csv(design.rules, exact, found))]
    if curves is not None and curves.stream is None and (line := curves.latest) is not None:
        curve = dict(zip(line.rules, line.coverage, strict=True))
        tables.append(("Curves, CSV", f"by_{axis.name}.csv", lambda: columns_csv(axis.name, line.points, curve)))
    if tally:
        tables.append(("First intervals, CSV", "intervals.csv", lambda: intervals_csv(tally)))
    else:
        tables.append("Press Start for the first intervals.")
    told = []
    if tally:
        done, asked = f"{tally.repetitions:,}", f"{design.repetitions:,}"
        told.append(f"simulated: {done} of {asked} repetitions; the page makes them again when Start is pressed")
    script = "coverage_page.py", coverage_script(design), "this page's numbers to the digit"
    show_columns(PREFIX, tables, [SAVED], script, between=lambda: _show_run(design, run), told=told)


def _show_run(design: Design, run: Run | None) -> None:
    """The run as a file, and a run to be opened."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        saved: Part = "Press Start first."
        if run and (tally := run.tally):
            about = design.to_address()
            saved = "Run, JSON", "coverage_run.json", lambda: save_run(run.tally or tally, about=about)
        show_files(PREFIX, "This run, to go on later", saved)
    with right:
        most, words = LONGEST_RUN // 1_000_000, SPEC.note("open")
        if show_opener("Open a run", f"{PREFIX}run_file", _take, megabytes=most, words=words) and run and run.opened:
            resume = "" if run.complete else " Press Resume to go on."
            st.caption(f"{run.opened:,} repetitions came with the file.{resume}")


def opened(content: bytes) -> tuple[dict[str, Any], Run]:
    """What the controls are to say, and the stopped run, from a file; a ValueError in a sentence refuses it."""
    saved = read_run(text_of(content, 4 * LONGEST_RUN))
    design = Design.from_address(saved.about)
    hidden = {PREFIX + name for name in {"epsilon", "delta", "alpha"} - set(design.promised)}
    settings = {key: value for key, value in settings_of(PREFIX, design).items() if key not in hidden}
    plan = plan_of(design)
    tally = saved.tally_of(plan)
    return settings, Run(plan, False, tally, clock=None, opened=tally.repetitions)


def _take(content: bytes) -> dict[str, Any]:
    settings, run = opened(content)
    held: Run | None = st.session_state.get(KEY)
    if held is not None:
        held.stop()
    return {**settings, KEY: run}


def _why(_design: Design) -> None:
    st.markdown(SPEC.text("words"))
    rows = [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()]
    listing(["rule", "how it is made", "source"], rows, "The rules", ())


SECTIONS: dict[str, Section[Design]] = {
    "Why it fails": show_failure,
    "Where the estimate falls": show_estimates,
    "Length, and its limit": show_lengths,
    "Bias and variance": show_moments,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": _why,
}
