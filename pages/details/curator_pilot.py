"""A column of the curator's own file: what it says, and buttons that take numbers from it.

The file is confidential. What was read of it is in the page's memory until the section is closed or the page is left:
never in a cache, in the URL or in a message that other readers or a log could see.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.core.escape import escape_markdown, single_line
from dpviz.core.limits import MAX_PILOT_BYTES
from dpviz.desk.question import Question
from dpviz.desk.stated import NUMBERS
from dpviz.desk.suggested import kind_with, refusal, suggested
from dpviz.uploads.columns import Column, read_columns
from dpviz.uploads.facts import Facts, warning
from pages import ui
from pages.ui.navigation import CURATOR

PREFIX = CURATOR.prefix
PILOT_DATA = "Pilot data"
USED = f"{PREFIX}taken"  # numbers of the question that came from a file, by name
FILE_COUNT = f"{PREFIX}files"  # how one file was read is not how the next one is


def forget_closed_file() -> None:
    """Drop what was read of a file unless its section is open; at the beginning of every run."""
    if st.session_state.get(f"{PREFIX}look") != PILOT_DATA:
        ui.page_memory().pop("pilot", None)


def pilot_sentence() -> str:
    """Which numbers of the question came from a file; empty where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(USED, {}).items() if state.get(PREFIX + name) == value]
    titles = ", ".join(NUMBERS[name].title.lower() for name in names)
    return ui.page_note("curator", "taken_from_file", names=titles) if names else ""


def show_pilot(desk: Any) -> None:
    """Upload a file, which is read once, choose a column, see what it says, and take numbers from it."""
    ui.note(ui.page_note("curator", "pilot"))
    state = st.session_state
    memory = ui.page_memory()
    file_key = f"{PREFIX}file"
    st.file_uploader(
        "A CSV file with a line of names", ["csv", "txt", "tsv"], max_upload_size=math.ceil(MAX_PILOT_BYTES / 1e6),
        key=file_key, on_change=lambda: memory.pop("pilot", None),
    )  # fmt: skip
    content = ui.uploaded(file_key)
    if content is None:
        memory.pop("pilot", None)
        return
    if "pilot" not in memory:
        memory["pilot"] = read_columns(content)
        state[FILE_COUNT] = state.get(FILE_COUNT, 0) + 1
    file = memory["pilot"]
    for sentence in file.notes:
        st.caption(escape_markdown(sentence))
    name = st.selectbox("Column", file.names, key=f"{PREFIX}column", format_func=single_line)
    facts = _facts(file.column(name), f"{state[FILE_COUNT]}_{file.names.index(name)}")
    _show_facts(facts, desk.question)


def _facts(column: Column, place: str) -> Facts:
    """What a column says in the reading that is chosen; `place` tells its controls from those of other columns."""
    if column.all_numbers and column.marks.doubt:
        marks = {".": "1.500 is one and a half", ",": "1.500 is 1500"}
        if any("," in text for text in column.texts):
            marks = {",": "1,500 is one and a half", ".": "1,500 is 1500"}
        start = list(marks).index(column.marks.decimal)
        label, key = "How its numbers are written", f"{PREFIX}marks_{place}"
        column = replace(column, decimal=st.radio(label, marks, start, marks.__getitem__, key=key, horizontal=True))
    for sentence in column.notes:
        ui.note(escape_markdown(sentence))

    # The likeliest reading first; a column without any says what is in the way
    readings: dict[str, Callable[[], Facts]] = {}
    if column.categorical:
        readings["the share of one value"] = lambda: column.proportion(_value_for_one(column, place))
        if not column.two_valued:
            readings["categories"] = column.categories
    if column.numeric:
        as_numbers: dict[str, Callable[[], Facts]] = {"numbers": column.numbers}
        readings = readings | as_numbers if column.two_valued else as_numbers | readings
    if not readings:
        return column.numbers()
    return readings[st.radio("Read it as", list(readings), key=f"{PREFIX}reading_{place}", horizontal=True)]()


def _value_for_one(column: Column, place: str) -> str:
    start = column.values.index(column.one)
    key = f"{PREFIX}one_{place}"
    return st.selectbox("Which value counts as a one", column.values, start, key=key, format_func=single_line)


def _show_facts(facts: Facts, question: Question) -> None:
    """Draw what a column says, and buttons for what the desk can take of it."""
    suggestions = suggested(facts, question.data.key)
    ui.numbers(*suggestions.numbers)
    if suggestions.how:
        st.caption(suggestions.how)
    for remark in filter(None, suggestions.remarks):
        ui.note(escape_markdown(remark))
    values = {name: st.session_state.get(PREFIX + name, number.default) for name, number in NUMBERS.items()}
    refusals = [refusal(offer.settings, values, question) for offer in suggestions.offers]
    offers = [offer for offer, sentence in zip(suggestions.offers, refusals, strict=True) if not sentence]
    if not offers:
        ui.note(escape_markdown(f"The desk takes none of these numbers. {refusals[-1]}"))
        return
    names = tuple(dict.fromkeys(name for offer in offers for name in offer.taken))
    ui.note(escape_markdown(warning(facts, names)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for place, offer in enumerate(offers):
            st.button(offer.words, key=f"{PREFIX}take_{place}", on_click=use_settings, args=(offer.settings,))
    st.caption(ui.page_note("curator", "taken"))


def use_settings(settings: Mapping[str, float]) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    values = {PREFIX + name: value for name, value in settings.items()}
    state.update({**values, f"{PREFIX}kind": kind_with(settings, state[f"{PREFIX}kind"])})
    state[USED] = {**state.get(USED, {}), **settings}
    ui.mark_moved()
