"""A column of the curator's own file: what it says, buttons that take numbers from it, and what has been taken."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from dpviz.core.limits import PILOT_BYTES
from dpviz.core.plain import one_line, plain
from dpviz.desk.suggested import kind_with, suggested
from dpviz.mechanisms.given.pilot import Column, Facts, PilotFile, PilotProblem, read_columns, warning
from pages.components.spec import state_of
from pages.components.uploads import choose_file
from pages.components.words import note, numbers, problem
from pages.curator import SPEC
from pages.curator.controls import CONTROLS, NUMBERS, PAGE, PREFIX, Asked, choices_of

KIND, TAKEN = f"{PREFIX}kind", f"{PREFIX}taken"
KEPT = f"{PREFIX}pilot"
"""Where the session keeps what was read until the section is closed, and nobody else: never what readers share."""

FILES = f"{PREFIX}files"
"""Where the session counts the files that were read: how one was read is not how the next one is."""


def taken_note() -> str:
    """Which numbers of the question came from a file, in a sentence; nothing where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(TAKEN, {}).items() if state.get(PREFIX + name) == value]
    if not names:
        return ""
    return SPEC.note("taken_from_file", names=", ".join(NUMBERS[name].title.lower() for name in names))


def show_pilot(_asked: Asked) -> None:
    """Upload a file, choose a column, see what it says, and take numbers from it."""
    note(SPEC.note("pilot"))
    kinds, megabytes = ["csv", "txt", "tsv"], math.ceil(PILOT_BYTES / 1e6)
    upload = choose_file("A CSV file with a line of names", kinds, f"{PREFIX}file", megabytes)
    if upload is None:
        st.session_state.pop(KEPT, None)
        return
    try:
        found = _read(upload.file_id, upload.getvalue)
        for one in found.notes:
            st.caption(plain(one))
        name = st.selectbox("Column", found.names, key=f"{PREFIX}column", format_func=one_line)
        place = f"{st.session_state[FILES]}_{found.names.index(name)}"
        _show(_facts(found.column(name), place))
    except PilotProblem as broken:
        problem(str(broken))


def _read(upload: str, content: Callable[[], bytes]) -> PilotFile:
    """The columns of a file, which are read once and kept in the session alone."""
    known, found = st.session_state.get(KEPT, ("", None))
    if known != upload or found is None:
        found = read_columns(content())
        st.session_state[KEPT] = upload, found
        st.session_state[FILES] = st.session_state.get(FILES, 0) + 1
    return found  # type: ignore[no-any-return]


def _facts(column: Column, place: str) -> Facts:
    """What a column says in one of its readings; `place` tells its controls from those of the others."""
    column = _with_marks(column, place)
    readings: dict[str, Callable[[], Facts]] = {}
    if column.categorical:
        readings["the share of one value"] = lambda: column.proportion(_one_of(column, place))
        if not column.two_valued:
            readings["categories"] = column.categories
    if column.numeric:
        of_numbers = {"numbers": column.numbers}
        readings = readings | of_numbers if column.two_valued else of_numbers | readings
    if not readings:
        return column.numbers()  # which says what is in the way
    return readings[st.radio("Read it as", list(readings), key=f"{PREFIX}reading_{place}", horizontal=True)]()


def _with_marks(column: Column, place: str) -> Column:
    """A column with its decimal mark, which the reader chooses where it can be either; says how the column is read."""
    if column.all_numbers and column.marks.doubt:
        marks = {".": "1.500 is one and a half", ",": "1.500 is 1500"}
        if any("," in text for text in column.texts):
            marks = {",": "1,500 is one and a half", ".": "1,500 is 1500"}
        sniffed = list(marks).index(column.marks.decimal)
        key = f"{PREFIX}marks_{place}"
        chosen = st.radio("How its numbers are written", marks, sniffed, marks.__getitem__, key=key, horizontal=True)
        column = replace(column, decimal=chosen)
    for one in column.notes:
        note(plain(one))
    return column


def _one_of(column: Column, place: str) -> str:
    start, key = column.values.index(column.one), f"{PREFIX}one_{place}"
    return st.selectbox("Which value counts as a one", column.values, start, key=key, format_func=one_line)


def _show(facts: Facts) -> None:
    """What is found of a column, and buttons for what the desk can take of it."""
    found = suggested(facts, st.session_state[KIND])
    st.html(numbers(*found.numbers))
    if found.how:
        st.caption(found.how)
    for remark in filter(None, found.remarks):
        note(plain(remark))
    refused = [refusal(one.settings) for one in found.offers]
    offers = [one for one, why in zip(found.offers, refused, strict=True) if not why]
    if not offers:
        note(plain(f"The desk takes none of these numbers. {refused[-1]}"))
        return
    taken = tuple(dict.fromkeys(name for one in offers for name in one.taken))
    note(plain(warning(facts, taken)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for number, one in enumerate(offers):
            st.button(one.words, key=f"{PREFIX}take_{number}", on_click=take, args=(one.settings,))
    st.caption(SPEC.note("taken"))


def take(settings: dict[str, float]) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    state[KIND] = kind_with(settings, state[KIND])
    state.update({PREFIX + name: value for name, value in settings.items()})
    state[TAKEN] = {**state.get(TAKEN, {}), **settings}  # which of them came from a file, for the report


def refusal(settings: Mapping[str, float]) -> str:
    """Why the desk would not take these settings beside the others; nothing where it does."""
    state, question = st.session_state, state_of(PREFIX).valid.question
    numbers = {name: state[PREFIX + name] for name in NUMBERS if state.get(PREFIX + name) is not None}
    numbers |= settings
    if PAGE.follows("m"):
        numbers.pop("m", None)
    try:
        PAGE.check(settings)
        CONTROLS.first(kind=kind_with(settings, state[KIND]), **choices_of(question), **numbers)
    except ValueError as broken:
        return str(broken)
    return ""
