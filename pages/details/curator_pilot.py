"""Pilot data of the Curator's desk: a column of the curator's own file, and buttons that take numbers from it.

The file is confidential. What was read of it is in the page's memory until the section is closed or the page is left:
never in a cache, in the URL or in a message that other readers or a log could see.
"""

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpviz.core.escape import escape_markdown, single_line
from dpviz.core.limits import MAX_PILOT_BYTES
from dpviz.curator import form
from dpviz.curator.pilot import kind_with, refusal, suggest_settings
from dpviz.curator.question import DesignQuestion
from dpviz.uploads.columns import CATEGORIES_READING, SHARE_READING, PilotFile, read_columns
from dpviz.uploads.facts import Facts, warning
from pages import ui
from pages.ui.navigation import CURATOR

PREFIX = CURATOR.prefix
USED = f"{PREFIX}taken"  # numbers of the question that came from a file, by name
FILE_COUNT = f"{PREFIX}files"  # how one file was read is not how the next one is


def pilot_sentence() -> str:
    """Which numbers of the question came from a file; empty where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(USED, {}).items() if state.get(PREFIX + name) == value]
    titles = ", ".join(form.NUMBERS[name].title.lower() for name in names)
    return ui.words("taken_from_file", names=titles) if names else ""


def show_pilot(desk: Any) -> None:
    """Upload a file, which is read once, choose a column, see what it says, and take numbers from it."""
    ui.note(ui.words("pilot"))
    state = st.session_state
    memory = ui.visit().memory
    file_key = f"{PREFIX}file"
    st.file_uploader(
        "A CSV file with a line of names", ["csv", "txt", "tsv"], max_upload_size=math.ceil(MAX_PILOT_BYTES / 1e6),
        key=file_key, on_change=lambda: memory.pop("pilot", None),
    )  # fmt: skip
    if (content := ui.uploaded(file_key)) is None:
        memory.pop("pilot", None)
        return
    if "pilot" not in memory:
        memory["pilot"] = read_columns(content)
        state[FILE_COUNT] = state.get(FILE_COUNT, 0) + 1
    file = memory["pilot"]
    has_header = st.checkbox(
        "The first line names the columns", file.has_header, key=f"{PREFIX}header_{state[FILE_COUNT]}",
        help=ui.words("header"),
    )  # fmt: skip
    if has_header != file.has_header:
        file = memory["pilot"] = read_columns(content, has_header)
    for sentence in file.notes:
        st.caption(escape_markdown(sentence))
    name = st.selectbox("Column", file.names, key=f"{PREFIX}column", format_func=single_line)
    label, key = "A text that means no value", f"{PREFIX}missing_text"
    missing_text = st.text_input(label, key=key, max_chars=100, help=ui.words("missing"))
    _show_facts(_facts(file, name, missing_text, f"{state[FILE_COUNT]}_{file.names.index(name)}"), desk.question)


def _facts(file: PilotFile, name: str, missing_text: str, place: str) -> Facts:
    """What a column says in the reading that is chosen; `place` tells its controls from those of other columns."""
    column = file.column(name, missing_text=missing_text)
    if column.all_numbers and column.is_mark_doubtful:
        mark, opposite = ",." if any("," in text for text in column.texts) else ".,"
        marks = {mark: f"1{mark}500 is one and a half", opposite: f"1{mark}500 is 1500"}
        start = list(marks).index(column.decimal)
        label, key = "How its numbers are written", f"{PREFIX}marks_{place}"
        decimal = st.radio(label, marks, start, marks.__getitem__, key=key, horizontal=True)
        column = file.column(name, decimal, missing_text)
    for sentence in column.notes:
        ui.note(escape_markdown(sentence))

    # The likeliest reading first; a column without any says what is in the way
    key = f"{PREFIX}reading_{place}"
    reading = st.radio("Read it as", column.readings, key=key, horizontal=True) if column.readings else ""
    if reading == SHARE_READING:
        values, key = tuple(column.counts), f"{PREFIX}one_{place}"
        start = values.index(column.default_value)
        value = st.selectbox("Which value counts as a one", values, start, key=key, format_func=single_line)
        return column.proportion(value)
    return column.categories() if reading == CATEGORIES_READING else column.numbers()


def _show_facts(facts: Facts, question: DesignQuestion) -> None:
    suggestions = suggest_settings(facts, question.data.key)
    ui.numbers(*suggestions.numbers)
    if suggestions.caption:
        st.caption(suggestions.caption)
    for remark in filter(None, suggestions.remarks):
        ui.note(escape_markdown(remark))
    values = {name: st.session_state.get(PREFIX + name, number.default) for name, number in form.NUMBERS.items()}
    refusals = [refusal(offer.settings, values, question) for offer in suggestions.offers]
    offers = [offer for offer, sentence in zip(suggestions.offers, refusals, strict=True) if not sentence]
    if not offers:
        ui.note(escape_markdown(f"The desk takes none of these numbers. {refusals[-1]}"))
        return
    names = tuple(dict.fromkeys(name for offer in offers for name in offer.facts))
    ui.note(escape_markdown(warning(facts, names)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for place, offer in enumerate(offers):
            st.button(offer.label, key=f"{PREFIX}take_{place}", on_click=use_settings, args=(offer.settings,))
    st.caption(ui.words("taken"))


def use_settings(settings: Mapping[str, float]) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    values = {PREFIX + name: value for name, value in settings.items()}
    state.update({**values, f"{PREFIX}kind": kind_with(settings, state[f"{PREFIX}kind"])})
    state[USED] = {**state.get(USED, {}), **settings}
    ui.mark_moved()
