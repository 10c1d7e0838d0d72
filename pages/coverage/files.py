"""Runs and studies as files: what a reader takes along to go on later, and what is opened."""

import dataclasses
from typing import Any

import streamlit as st

from dpviz.core import limits
from dpviz.core.plain import utf8_text
from dpviz.coverage.live import Run
from dpviz.coverage.studies import read_run, save_run
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.designs import Design
from dpviz.desk.addresses import settings_of
from dpviz.study.in_words import cell_in_words, study_sentence
from dpviz.study.results import CellResult, read_study
from pages.components.downloads import Part, show_files, show_opener
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX
from pages.coverage.run import KEY, plan_of

PARQUET = b"PAR1"  # how a Parquet file begins
FILE, CELL, STUDY = (f"{PREFIX}{one}" for one in ("run_file", "cell", "study"))


def show_run(design: Design, run: Run | None) -> None:
    """The run as a file, and a run or a study to be opened."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        saved: Part = "Press Start first."
        if run and (tally := run.tally):
            every = run.plan.fingerprint == plan_of(design).fingerprint
            about = (design if every else dataclasses.replace(design, rules=run.plan.rules)).to_address()
            saved = "Run, JSON", "coverage_run.json", lambda: save_run(run.tally or tally, about=about)
        show_files(PREFIX, "This run, to go on later", saved)
    with right:
        _show_opener(run)


def _show_opener(run: Run | None) -> None:
    state, most = st.session_state, max(limits.STUDY_BYTES, LONGEST_RUN) // 1_000_000
    kinds, words = ("json", "parquet"), SPEC.note("open")
    if not show_opener("Open a run or a study", FILE, _take, megabytes=most, words=words, kinds=kinds):
        state.pop(STUDY, None)
        return
    if names := state.get(STUDY):
        st.selectbox("Cell of the study", range(len(names)), format_func=names.__getitem__, key=CELL, on_change=_choose)
        st.caption(f"{state[f'{STUDY}_said']} {SPEC.note('study')}")
    if run and run.opened:
        resume = "" if run.complete else " Press Resume to go on."
        st.caption(f"{run.opened:,} repetitions came with the file.{resume}")


def opened(content: bytes) -> tuple[dict[str, Any], Run]:
    """What the controls are to say, and the stopped run, from a file; a ValueError in a sentence refuses it."""
    text = utf8_text(content, 4 * LONGEST_RUN)
    return _opened(text, Design.from_address(read_run(text).about))


def _opened(text: str, design: Design) -> tuple[dict[str, Any], Run]:
    """A run of the page has all rules that the design allows, one of a study those that it asks for."""
    settings = _settings(design)
    saved, plans = read_run(text), [plan_of(design), *([plan_of(design, *design.rules)] if design.rules else [])]
    plan = next((one for one in plans if one.fingerprint == saved.fingerprint), plans[0])
    tally = saved.tally_of(plan)
    return settings, Run(plan, False, tally, clock=None, opened=tally.repetitions)


def _settings(design: Design) -> dict[str, Any]:
    hidden = {PREFIX + name for name in {"epsilon", "delta", "alpha"} - set(design.promised)}
    return {key: value for key, value in settings_of(PREFIX, design).items() if key not in hidden}


def opened_cell(cell: CellResult) -> tuple[dict[str, Any], Run | None]:
    """The same of a cell of a study; one that is exact has no run: the page has the same sums."""
    return _opened(cell.run, cell.design) if cell.run else (_settings(cell.design), None)


def _take(content: bytes) -> dict[str, Any]:
    if not content.startswith(PARQUET):
        return {**_instead(*opened(content)), STUDY: None}
    cells = read_study(content)
    taken = _instead(*opened_cell(cells[0]))
    return {**taken, CELL: 0, STUDY: [cell_in_words(one) for one in cells], f"{STUDY}_said": study_sentence(cells)}


def _instead(settings: dict[str, Any], run: Run | None) -> dict[str, Any]:
    """What the session holds with a run in place of the one there was."""
    held: Run | None = st.session_state.get(KEY)
    if held is not None:
        held.stop()
    return {**settings, KEY: run}


def _choose() -> None:
    """Go to another cell of the file that is open."""
    state = st.session_state
    refused = f"{FILE}_refused"
    try:
        state.update(_instead(*opened_cell(read_study(state[FILE].getvalue())[state[CELL]])))
        state[refused] = ""
    except ValueError as wrong:
        state[refused] = f"This cell was not opened, and nothing has changed: {wrong}"
