"""A column of the curator's own file: what it says, buttons that take numbers from it, and what has been taken."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.core.limits import PILOT_BYTES
from dpviz.core.measures import wilson_interval
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.plain import one_line, plain
from dpviz.core.wording import percent
from dpviz.desk.question import ASKED_KINDS
from dpviz.mechanisms.given.pilot import Column, Facts, NumberFacts, PilotFile, PilotProblem, read_columns, warning
from pages.components.address import SETTINGS
from pages.components.spec import state_of
from pages.components.words import note, numbers, problem
from pages.curator import SPEC
from pages.curator.controls import KIND, NUMBERS, PAGE, PREFIX, RULE, Asked, asked_with

TAKEN = f"{PREFIX}taken"


def taken_note() -> str:
    """Which numbers of the question came from a file, in a sentence; nothing where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(TAKEN, {}).items() if state.get(PREFIX + name) == value]
    if not names:
        return ""
    return SPEC.note("taken_from_file", names=", ".join(NUMBERS[name].title.lower() for name in names))


KEPT = f"{PREFIX}pilot"
"""Where the session keeps what was read, and nobody else: never among results that readers share."""

FILES = f"{PREFIX}files"
"""Where the session counts the files that were read: how one was read is not how the next one is."""

SURE = 0.95  # Level of the range around what the column says
DIGITS = 2  # Of its ends, rounded outward
INSIDE = 0.01  # Of the way between the bounds by which a mean is kept off them

Taken = tuple[str, dict[str, float], tuple[str, ...]]
"""The words of a button, the settings that it makes, and what it takes of the facts."""


def forget() -> None:
    """Keep nothing of a file, as soon as its section is closed."""
    st.session_state.pop(KEPT, None)


def show_pilot(_asked: Asked) -> None:
    """Upload a file, choose a column, see what it says, and take numbers from it."""
    note(SPEC.note("pilot"))
    upload = st.file_uploader(
        "A CSV file with a line of names", ["csv", "txt", "tsv"], max_upload_size=math.ceil(PILOT_BYTES / 1e6),
        key=f"{PREFIX}file",
    )  # fmt: skip
    if upload is None:
        forget()
        return
    try:
        found = _read(upload.file_id, upload.getvalue)
        for one in found.notes:
            st.caption(plain(one))
        name = st.selectbox("Column", found.names, key=f"{PREFIX}column", format_func=one_line)
        column = found.column(name)
        _show_column(column, f"{st.session_state[FILES]}_{found.names.index(name)}")
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


def _show_column(column: Column, place: str) -> None:
    """What a column says in one of its readings; `place` tells its controls from those of the others."""
    column = _with_marks(column, place)
    readings: dict[str, Callable[[Column, str], tuple[Facts, list[Taken]]]] = {}
    if column.categorical:
        readings["the share of one value"] = share_of
        if not column.two_valued:
            readings["categories"] = categories_of
    if column.numeric:
        readings = {"numbers": numbers_of} | readings if not column.two_valued else readings | {"numbers": numbers_of}
    if not readings:
        column.numbers()  # which says what is in the way
        return
    chosen = st.radio("Read it as", list(readings), key=f"{PREFIX}reading_{place}", horizontal=True)
    facts, every = readings[chosen](column, place)
    offers = [one for one in every if not refusal(one[1])]
    if not offers:
        why = refusal(every[-1][1]) if every else "They say nothing that it asks for."
        note(plain(f"The desk takes none of these numbers. {why}"))
        return
    taken = tuple(dict.fromkeys(name for _, _, names in offers for name in names))
    note(plain(warning(facts, taken)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for number, (words, settings, _) in enumerate(offers):
            st.button(words, key=f"{PREFIX}take_{number}", on_click=take, args=(settings,))
    st.caption(SPEC.note("taken"))


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


def share_of(column: Column, place: str = "") -> tuple[Facts, list[Taken]]:
    """A column as the share of one of its values."""
    values = column.values
    start = values.index(column.one)
    one = st.selectbox(
        "Which value counts as a one", values, index=start, key=f"{PREFIX}one_{place}", format_func=one_line
    )
    facts = column.proportion(one)
    low, high = (min(max(end, 0.0), 1.0) for end in outward(*wilson_interval(facts.share, facts.n, SURE)))
    st.html(
        numbers(
            ("rows with a value", f"{facts.n:,}", f"{facts.missing:,} without one are left out"),
            ("share of ones", percent(facts.share, 4), "of the rows with a value"),
            ("plausible range", f"{readable(low)} to {readable(high)}", "Wilson's 95 % interval, rounded outward"),
        )
    )
    if facts.told:
        note(plain(facts.told))
    ends = {"lowest_p": low, "highest_p": high}
    return facts, [rows_of(facts, ends), (f"Use {readable(low)} to {readable(high)} as the range", ends, ("share",))]


def categories_of(column: Column, _place: str = "") -> tuple[Facts, list[Taken]]:
    """A column as categories."""
    facts = column.categories()
    st.html(
        numbers(
            ("rows with a value", f"{facts.n:,}", f"{facts.missing:,} without one are left out"),
            ("categories", f"{facts.categories:,}", "distinct values that occur"),
        )
    )
    cells: dict[str, float] = {"cells": facts.categories}
    return facts, [rows_of(facts, cells), (f"Use k = {facts.categories:,} categories", cells, ("categories",))]


def numbers_of(column: Column, _place: str = "") -> tuple[Facts, list[Taken]]:
    """A column as numbers."""
    facts = column.numbers()
    low, high = range_of_mean(facts)
    spread = outward(0.0, facts.standard_deviation)[1]
    st.html(
        numbers(
            ("rows with a number", f"{facts.n:,}", f"{facts.missing:,} without one are left out"),
            (
                "suggested bounds",
                f"{readable_apart(facts.low, facts.high)} to {readable_apart(facts.high, facts.low)}",
                "of all values, see below",
            ),
            ("mean", readable(facts.mean, 4), f"plausible from {readable(low)} to {readable(high)} (95 %)"),
            ("standard deviation", readable(facts.standard_deviation, 4), "with n − 1"),
        )
    )
    st.caption(facts.how)
    if facts.misfit:
        note(plain(facts.misfit))
    bounds, ends = {"low": facts.low, "high": facts.high}, {"lowest_mean": low, "highest_mean": high}
    if not facts.standard_deviation:
        note("All values are alike, so that they say nothing of the spread, without which nothing can be designed.")
        return facts, [rows_of(facts, bounds)]
    within = f"{readable_apart(facts.low, facts.high)} to {readable_apart(facts.high, facts.low)}"
    means = f"{readable(low)} to {readable(high)}"
    sigma = {"sigma": spread}
    return facts, [
        rows_of(facts, bounds),
        (f"Use the bounds {within}", bounds, ("low", "high")),
        (f"Use {means} as the range of the mean", ends, ("mean",)),
        (f"Use σ = {readable(spread)}", sigma, ("standard_deviation",)),
        (f"Use bounds {within}, a mean from {means} and σ = {readable(spread)}", bounds | ends | sigma,
         ("low", "high", "mean", "standard_deviation")),
    ]  # fmt: skip


def range_of_mean(facts: NumberFacts) -> tuple[float, float]:
    """A 95 % interval of the mean, rounded outward, inside the bounds: beyond them no mean can be."""
    half = 1.96 * facts.standard_deviation / math.sqrt(facts.n)
    low, high = outward(facts.mean - half, facts.mean + half)
    if not half:
        return low, high
    width = facts.high - facts.low
    first = facts.low + min(INSIDE * width, (facts.mean - facts.low) / 2)
    last = facts.high - min(INSIDE * width, (facts.high - facts.mean) / 2)
    return max(low, float(f"{first:.12g}")), min(high, float(f"{last:.12g}"))


def rows_of(facts: Facts, beside: Mapping[str, float]) -> Taken:
    """What sets n, at most to the most that the desk takes of the data that settings `beside` it are of."""
    kind = ASKED_KINDS[_kind_with(beside)]
    most = next(int(one.maximum) for one in kind.parameters() if one.name == "n")
    if facts.n > most:
        return f"Use n = {most:,}, the most that the desk takes of such data", {"n": most}, ("n",)
    return f"Use n = {facts.n:,}", {"n": facts.n}, ("n",)


def outward(low: float, high: float) -> tuple[float, float]:
    """An interval with ends of few digits, which are not inside it; the digits are those that tell the ends apart."""
    width = high - low
    if width <= 0:
        return low, high
    step = 10.0 ** (math.floor(math.log10(width)) - DIGITS + 1)
    ends = math.floor(low / step) * step, math.ceil(high / step) * step
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")


def take(settings: dict[str, float]) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    for name, value in settings.items():
        state[PREFIX + name] = value
    state[TAKEN] = {**state.get(TAKEN, {}), **settings}  # which of them came from a file, for the report
    state[f"{PREFIX}kind"] = _kind_with(settings)


def _kind_with(settings: Mapping[str, float]) -> str:
    """The kind of data that is set, or else the first that has controls for these settings."""
    has = [key for key in ASKED_KINDS if {*settings} <= {*_settable(key)}]
    now = st.session_state.get(KIND) or SETTINGS[KIND].default
    return now if now in has or not has else has[0]


def refusal(settings: Mapping[str, float]) -> str:
    """Why the desk would not take these settings beside the others; nothing where it does."""
    state, key = st.session_state, _kind_with(settings)
    kind, question = ASKED_KINDS[key], state_of(PREFIX).valid.question
    values: dict[str, Any] = {name: one.default for name, one in NUMBERS.items()}
    values |= {name: state[PREFIX + name] for name in NUMBERS if state.get(PREFIX + name) is not None}
    values |= settings
    if PAGE.follows("m"):
        values["m"] = values["n"]
    protect, limited = ([one.key for one in every] for every in (question.protections, question.limits))
    try:
        PAGE.check(settings)
        asked_with(
            kind, values, protect, limited, rules=tuple(state.get(RULE[key]) or SETTINGS[RULE[key]].default),
            goal=question.goal, average=question.average, sets=question.sets, methods=(),
        )  # fmt: skip
    except ValueError as broken:
        return str(broken)
    return ""


def _settable(key: str) -> list[str]:
    """The names of the controls of a kind of data."""
    kind = ASKED_KINDS[key]
    ends = [f"{end}_{kind.true_value}" for end in ("lowest", "highest")]
    return [*(one.name for one in kind.parameters()), *ends]
