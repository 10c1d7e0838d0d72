"""Runs of Coverage as files, and cells of studies: what a reader keeps to go on later, and what is opened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.core import limits
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.plain import utf8_text
from dpviz.coverage.studies import read_run, save_run
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.designs import Design
from dpviz.study.in_words import cell_in_words, study_sentence
from dpviz.study.results import CellResult, read_study
from pages import ui
from pages.details.coverage_simulation import KEY, Run, plan_of
from pages.ui.navigation import COVERAGE

PREFIX = COVERAGE.prefix
PARQUET = b"PAR1"  # how the file of a study begins
FILE_KEY = f"{PREFIX}run_file"
CELL_KEY = f"{PREFIX}cell"
STUDY_KEY = f"{PREFIX}study"


def show_run_files(design: Design, run: Run | None) -> None:
    """Draw the run as a file, and a place for the file of a run or a study."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        saved: ui.File | str = "Press Start first."
        if run is not None and run.tally is not None:
            tally = run.tally
            saved = "Run, JSON", "coverage_run.json", lambda: save_run(tally, about=_saved_design(design, run))
        ui.show_files(COVERAGE, "This run, to go on later", saved)
    with right:
        _show_opener(run)


def _saved_design(design: Design, run: Run) -> dict[str, str]:
    """The design in the words of a URL; with the rules of the run where it is one of a study."""
    has_every_rule = run.plan.fingerprint == plan_of(design).fingerprint
    return dict((design if has_every_rule else replace(design, rules=run.plan.rules)).to_address())


def _show_opener(run: Run | None) -> None:
    """A place for the file of a run or a study, and the choice of a cell of the study."""
    state = st.session_state
    megabytes = max(limits.STUDY_BYTES, LONGEST_RUN) // 1_000_000
    is_open = ui.open_file(
        "Open a run or a study", FILE_KEY, _read_file, megabytes=megabytes, help=ui.page_note("coverage", "open"),
        types=("json", "parquet"),
    )  # fmt: skip
    if not is_open:
        state[STUDY_KEY] = None
        return
    if state.get(STUDY_KEY):
        names, sentence = state[STUDY_KEY]
        st.selectbox(
            "Cell of the study", range(len(names)), format_func=names.__getitem__, key=CELL_KEY,
            on_change=_open_cell,
        )  # fmt: skip
        st.caption(f"{sentence} {ui.page_note('coverage', 'study')}")
    if run is not None and run.opened:
        st.caption(
            f"{run.opened:,} repetitions came with the file.{'' if run.is_complete else ' Press Resume to go on.'}"
        )


def _read_file(content: bytes) -> dict[str, Any]:
    """Session values of a file, of its first cell where it is that of a study."""
    if content.startswith(PARQUET):
        cells = read_study(content)
        study = [cell_in_words(cell) for cell in cells], study_sentence(cells)
        return {**_cell_values(cells[0]), CELL_KEY: 0, STUDY_KEY: study}
    text = utf8_text(content, 4 * LONGEST_RUN)
    return {**_run_values(text, Design.from_address(read_run(text).about)), STUDY_KEY: None}


def _open_cell() -> None:
    """Go to another cell of the study that is open."""
    state = st.session_state
    content = ui.uploaded(FILE_KEY)
    try:
        if content is not None:
            state.update(_cell_values(read_study(content)[state[CELL_KEY]]))
    except ValueError as error:
        state[f"{FILE_KEY}_refused"] = f"This cell was not opened, and nothing has changed: {error}"


def _cell_values(cell: CellResult) -> dict[str, Any]:
    """Session values of a cell; an exact one has no run, for the page has the same sums."""
    return _run_values(cell.run, cell.design) if cell.run else {**_settings(cell.design), KEY: None}


def _run_values(text: str, design: Design) -> dict[str, Any]:
    """Session values of a run: of every rule that the design allows, or of those of a study."""
    settings = _settings(design)
    saved = read_run(text)
    plan = plan_of(design)
    if design.rules and saved.fingerprint == plan_of(design, design.rules).fingerprint:
        plan = plan_of(design, design.rules)
    tally = saved.tally_of(plan)
    return {**settings, KEY: Run(plan, is_running=False, tally=tally, start=tally, opened=tally.repetitions)}


def _settings(design: Design) -> dict[str, Any]:
    """Settings of the page that describe a design, by key."""
    ROWS.check(design.n)
    SYNTHETIC_ROWS.check(design.m)
    names = ("prior", "n", "m", "sets", "p", "level", "repetitions", "seed", *design.promised)
    values = {name: getattr(design, name) for name in names} | dict(design.details)
    values |= {"synthesizer": design.mechanism, "rules": list(design.rules), "m_is_n": design.m == design.n}
    return {PREFIX + name: value for name, value in values.items()}
