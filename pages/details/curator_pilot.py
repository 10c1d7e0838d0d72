"""A column of the curator's own file: what it says, and buttons that take numbers from it.

The file is confidential. What was read of it stays in the session until the section is closed: never in a cache, in the
URL or in a message that other readers or a log could see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.core.limits import PILOT_BYTES
from dpviz.core.plain import one_line, plain
from dpviz.desk.question import Question
from dpviz.desk.stated import NUMBERS
from dpviz.desk.suggested import kind_with, refusal, suggested
from dpviz.mechanisms.given.pilot import Column, Facts, PilotFile, read_columns, warning
from pages import ui
from pages.ui.navigation import CURATOR

PREFIX = CURATOR.prefix
PILOT_DATA = "Pilot data"
PILOT_FILE = f"{PREFIX}pilot"  # what was read of the file
USED = f"{PREFIX}taken"  # numbers of the question that came from a file, by name
FILE_COUNT = f"{PREFIX}files"  # how one file was read is not how the next one is


def forget_closed_file() -> None:
    """Drop what was read of a file unless its section is open; at the beginning of every run."""
    state = st.session_state
    if state.get(f"{PREFIX}look") != PILOT_DATA or state["is_entered"]:
        state.pop(PILOT_FILE, None)


def pilot_sentence() -> str:
    """Which numbers of the question came from a file; empty where none of them is used any more."""
    used: dict[str, float] = st.session_state.get(USED, {})
    names = [name for name, value in used.items() if st.session_state.get(PREFIX + name) == value]
    if not names:
        return ""
    titles = ", ".join(NUMBERS[name].title.lower() for name in names)
    return ui.page_note("curator", "taken_from_file", names=titles)


def show_pilot(desk: Any) -> None:
    """Upload a file, choose a column, see what it says, and take numbers from it."""
    ui.note(ui.page_note("curator", "pilot"))
    file = _read_file()
    if file is None:
        return
    for sentence in file.notes:
        st.caption(plain(sentence))
    name = st.selectbox("Column", file.names, key=f"{PREFIX}column", format_func=one_line)
    place = f"{st.session_state[FILE_COUNT]}_{file.names.index(name)}"
    _show_facts(_facts(file.column(name), place), desk.question)


def _read_file() -> PilotFile | None:
    """Draw the box for a file; its columns, which are read once. A ValueError in a sentence refuses it."""
    state = st.session_state
    key = f"{PREFIX}file"
    st.file_uploader(
        "A CSV file with a line of names", ["csv", "txt", "tsv"], max_upload_size=math.ceil(PILOT_BYTES / 1e6), key=key,
        on_change=partial(state.pop, PILOT_FILE, None),
    )  # fmt: skip
    content = ui.uploaded(key)
    if content is None:
        state.pop(PILOT_FILE, None)
        return None
    if PILOT_FILE not in state:
        state[PILOT_FILE] = read_columns(content)
        state[FILE_COUNT] = state.get(FILE_COUNT, 0) + 1
    return state[PILOT_FILE]  # type: ignore[no-any-return]


def _facts(column: Column, place: str) -> Facts:
    """What a column says in the reading that is chosen; `place` tells its controls from those of other columns."""
    column = _with_decimal_mark(column, place)
    for sentence in column.notes:
        ui.note(plain(sentence))
    readings: dict[str, Callable[[], Facts]] = {}
    if column.categorical:
        readings["the share of one value"] = lambda: column.proportion(_value_for_one(column, place))
        if not column.two_valued:
            readings["categories"] = column.categories
    if column.numeric:
        as_numbers: dict[str, Callable[[], Facts]] = {"numbers": column.numbers}
        readings = readings | as_numbers if column.two_valued else as_numbers | readings
    if not readings:
        return column.numbers()  # which says what is in the way
    return readings[st.radio("Read it as", list(readings), key=f"{PREFIX}reading_{place}", horizontal=True)]()


def _with_decimal_mark(column: Column, place: str) -> Column:
    """Column with its decimal mark, which the reader chooses where it can be either."""
    if not (column.all_numbers and column.marks.doubt):
        return column
    marks = {".": "1.500 is one and a half", ",": "1.500 is 1500"}
    if any("," in text for text in column.texts):
        marks = {",": "1,500 is one and a half", ".": "1,500 is 1500"}
    start = list(marks).index(column.marks.decimal)
    key = f"{PREFIX}marks_{place}"
    mark = st.radio("How its numbers are written", marks, start, marks.__getitem__, key=key, horizontal=True)
    return replace(column, decimal=mark)


def _value_for_one(column: Column, place: str) -> str:
    start = column.values.index(column.one)
    key = f"{PREFIX}one_{place}"
    return st.selectbox("Which value counts as a one", column.values, start, key=key, format_func=one_line)


def _show_facts(facts: Facts, question: Question) -> None:
    """Draw what a column says, and buttons for what the desk can take of it."""
    suggestions = suggested(facts, question.data.key)
    ui.numbers(*suggestions.numbers)
    if suggestions.how:
        st.caption(suggestions.how)
    for remark in filter(None, suggestions.remarks):
        ui.note(plain(remark))
    state = st.session_state
    values = {name: state.get(PREFIX + name, number.default) for name, number in NUMBERS.items()}
    refusals = [refusal(offer.settings, values, question) for offer in suggestions.offers]
    offers = [offer for offer, sentence in zip(suggestions.offers, refusals, strict=True) if not sentence]
    if not offers:
        ui.note(plain(f"The desk takes none of these numbers. {refusals[-1]}"))
        return
    names = tuple(dict.fromkeys(name for offer in offers for name in offer.taken))
    ui.note(plain(warning(facts, names)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for place, offer in enumerate(offers):
            st.button(offer.words, key=f"{PREFIX}take_{place}", on_click=use_settings, args=(offer.settings,))
    st.caption(ui.page_note("curator", "taken"))


def use_settings(settings: Mapping[str, float]) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    kind_key = f"{PREFIX}kind"
    state[kind_key] = kind_with(settings, state[kind_key])
    state.update({PREFIX + name: value for name, value in settings.items()})
    state[USED] = {**state.get(USED, {}), **settings}
    ui.mark_moved()
