"""A column of the curator's own file: what it says, buttons that take numbers from it, and what has been taken."""

import math
from collections.abc import Callable

import streamlit as st

from dpviz.curator.pilot import Column, Facts, PilotFile, PilotProblem, read_columns, warning
from dpviz.curator.question import KINDS
from dpviz.limits import PILOT_BYTES
from dpviz.parameters import readable
from dpviz.studies import wilson_interval
from pages.components.words import note, numbers, percent, problem
from pages.curator import SPEC
from pages.curator.controls import NUMBERS, PREFIX, Asked

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

SURE = 0.95  # Level of the range around what the column says
DIGITS = 2  # Of its ends, rounded outward

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
            st.caption(one)
        name = st.selectbox("Column", found.names, key=f"{PREFIX}column")
        column = found.column(name)
        for one in column.notes:
            st.caption(one)
        _show_column(column, f"{found.names.index(name)}")
    except PilotProblem as broken:
        problem(str(broken))


def _read(upload: str, content: Callable[[], bytes]) -> PilotFile:
    """The columns of a file, which are read once and kept in the session alone."""
    known, found = st.session_state.get(KEPT, ("", None))
    if known != upload or found is None:
        found = read_columns(content())
        st.session_state[KEPT] = upload, found
    return found  # type: ignore[no-any-return]


def _show_column(column: Column, place: str) -> None:
    """What a column says in one of its readings; `place` tells its controls from those of the others."""
    readings: dict[str, Callable[[Column, str], tuple[Facts, list[Taken]]]] = {}
    if column.categorical:
        readings["the share of one value"] = share_of
    if column.numeric:
        readings = {"numbers": numbers_of} | readings if not column.two_valued else readings | {"numbers": numbers_of}
    if not readings:
        column.numbers()  # which says what is in the way
        return
    chosen = st.radio("Read it as", list(readings), key=f"{PREFIX}reading_{place}", horizontal=True)
    facts, offers = readings[chosen](column, place)
    taken = tuple(dict.fromkeys(name for _, _, names in offers for name in names))
    note(warning(facts, taken))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for number, (words, settings, _) in enumerate(offers):
            st.button(words, key=f"{PREFIX}take_{number}", on_click=take, args=(settings,))
    st.caption(SPEC.note("taken"))


def share_of(column: Column, place: str = "") -> tuple[Facts, list[Taken]]:
    """A column as the share of one of its values."""
    values = column.values
    start = values.index(column.one)
    one = st.selectbox("Which value counts as a one", values, index=start, key=f"{PREFIX}one_{place}")
    facts = column.proportion(one)
    low, high = outward(*wilson_interval(facts.share, facts.n, SURE))
    st.html(
        numbers(
            ("rows with a value", f"{facts.n:,}", f"{facts.missing:,} without one are left out"),
            ("share of ones", percent(facts.share, 4), "of the rows with a value"),
            ("plausible range", f"{readable(low)} to {readable(high)}", "Wilson's 95 % interval, rounded outward"),
        )
    )
    return facts, [
        (f"Use n = {facts.n:,}", {"n": facts.n}, ("n",)),
        (f"Use {readable(low)} to {readable(high)} as the range", {"lowest_p": low, "highest_p": high}, ("share",)),
    ]


def numbers_of(column: Column, _place: str = "") -> tuple[Facts, list[Taken]]:
    """A column as numbers."""
    facts = column.numbers()
    half = 1.96 * facts.standard_deviation / math.sqrt(facts.n)
    low, high = outward(facts.mean - half, facts.mean + half)
    spread = outward(0.0, facts.standard_deviation)[1]
    st.html(
        numbers(
            ("rows with a number", f"{facts.n:,}", f"{facts.missing:,} without one are left out"),
            ("suggested bounds", f"{readable(facts.low)} to {readable(facts.high)}", "outside all values, see below"),
            ("mean", readable(facts.mean, 4), f"plausible from {readable(low)} to {readable(high)} (95 %)"),
            ("standard deviation", readable(facts.standard_deviation, 4), "with n − 1"),
        )
    )
    st.caption(facts.how)
    bounds, ends = {"low": facts.low, "high": facts.high}, {"lowest_mean": low, "highest_mean": high}
    return facts, [
        (f"Use n = {facts.n:,}", {"n": facts.n}, ("n",)),
        (f"Use the bounds {readable(facts.low)} to {readable(facts.high)}", bounds, ("low", "high")),
        (f"Use {readable(low)} to {readable(high)} as the range of the mean", ends, ("mean",)),
        (f"Use σ = {readable(spread)}", {"sigma": spread}, ("standard_deviation",)),
    ]


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
    has = [key for key, kind in KINDS.items() if {*settings} <= {*_settable(key)}]
    if has and state.get(f"{PREFIX}kind") not in has:
        state[f"{PREFIX}kind"] = has[0]


def _settable(key: str) -> list[str]:
    """The names of the controls of a kind of data."""
    kind = KINDS[key]
    ends = [f"{end}_{kind.true_value}" for end in ("lowest", "highest")]
    return [*(one.name for one in kind.parameters()), *ends]
