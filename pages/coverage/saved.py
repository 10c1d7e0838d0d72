"""A run as a file: taken along, and opened again where somebody goes on with it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.designs import Design
from dpviz.parameters import shown
from dpviz.studies import read_run, save_run
from dpviz.studies.saving import LONGEST
from pages.components.address import SETTINGS
from pages.components.downloads import download_button
from pages.components.words import problem
from pages.coverage.controls import M_IS_N, PREFIX
from pages.coverage.run import FIRST_PICTURES, KEY, Run, plan_of

FILE, REFUSED = f"{PREFIX}run_file", f"{PREFIX}run_refused"


def show_run_file(design: Design, run: Run | None) -> None:
    """The run as a file, and a way to open one."""
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.html("<b>This run, to go on later</b>")
        if run is None or run.tally is None:
            st.caption("Press Start first.")
        else:
            tally, about = run.tally, design.to_address()
            download_button(PREFIX, "Run, JSON", lambda: save_run(run.tally or tally, about=about), "coverage_run.json")
    with right:
        file = st.file_uploader(
            "Open a run",
            type="json",
            max_upload_size=LONGEST // 1_000_000,
            key=FILE,
            on_change=_open,
            help="A file that this page has written. It brings its design, its seed and what it has counted; Resume "
            "goes on to the same digits as if it had never stopped.",
        )
        if file is not None and st.session_state.get(REFUSED):
            problem(st.session_state[REFUSED])
        elif file is not None and run is not None and run.opened:
            resume = "" if run.complete else " Press Resume to go on."
            st.caption(f"{run.opened:,} repetitions came with the file.{resume}")


def opened(content: bytes) -> tuple[dict[str, Any], Run]:
    """What the controls are to say, and the stopped run, from a file; a ValueError in a sentence refuses it."""
    try:
        text = content[: 4 * LONGEST].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"the file must be text in UTF-8; got {shown(content[:40])}.") from None
    saved = read_run(text)
    design = Design.from_address(saved.about)
    settings: dict[str, Any] = {M_IS_N: design.n == design.m}
    hidden = {"epsilon", "delta", "alpha"} - set(design.promised)
    for name, words in design.to_address().items():
        key = PREFIX + name
        if key in SETTINGS and name not in hidden:
            settings[key] = SETTINGS[key].read(words)
    plan = plan_of(design)
    run = Run(plan, running=False, tally=saved.tally_of(plan), clock=None, pictures=FIRST_PICTURES)
    run.opened = run.done
    return settings, run


def _open() -> None:
    file = st.session_state[FILE]
    st.session_state[REFUSED] = ""
    if file is None:
        return
    try:
        settings, run = opened(file.getvalue())
    except ValueError as wrong:
        st.session_state[REFUSED] = f"The file was not opened, and nothing has changed: {wrong}"
        return
    held: Run | None = st.session_state.get(KEY)
    if held is not None:
        held.stop()
    st.session_state.update({**settings, KEY: run})
