"""The attacker who knows every row but one."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from dpviz.charts.attacker import attacker_chart
from dpviz.parameters import Parameter, readable, readable_apart
from dpviz.privacy import AttackerView, attacker_view, gain_in_words
from dpviz.privacy.attacker import factor_text
from dpviz.privacy.summary import PrivacySummary
from dpviz.synthesizers import Synthesizer
from pages.components.address import drawn, keep_numbers, keep_switch
from pages.components.choices import switch
from pages.components.controls import LARGEST, checked, number_control
from pages.components.figure import show_figure
from pages.components.words import note, numbers, problem

LAST_PLACE = 4_000_000
PRIOR_ODDS_KEY = "tm_prior_odds"

PRIOR_ODDS = Parameter(
    name="prior_odds",
    symbol="a : 1",
    title="Prior odds",
    minimum=1e-9,
    maximum=1e9,
    default=1.0,
    slider_minimum=1e-3,
    slider_maximum=1e3,
    scale="log",
    help="What the attacker believes before the release: how much likelier the first table is than the second.",
)


def _place_in_list(name: str, title: str) -> Parameter:
    limits = {"minimum": 0, "maximum": LAST_PLACE, "default": 0, "integer": True}
    return Parameter(name=name, symbol=name, title=title, help="", **limits)  # type: ignore[arg-type]


PLACES = {
    "tm_pair": _place_in_list("pair", "Place of the pair"),
    "tm_column": _place_in_list("column", "Place of the release"),
}
keep_numbers({**PLACES, PRIOR_ODDS_KEY: PRIOR_ODDS})
WORST = keep_switch("tm_worst", True)


def show_attacker(summary: PrivacySummary) -> None:
    """Controls for a pair, a released table and prior odds; the odds after, in words and as a picture."""
    release = summary.synthesizer
    if not release.enumerable:
        note("The attacker's view lists every table. Here there are over 4 million entries: set fewer rows.")
        return
    worst = summary.worst
    pairs, columns = len(release.neighbours), release.shape[1]
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        follow = switch("the worst case of this release", WORST)
        if follow:
            pair, column = _worst_pair(release, worst.likelier, worst.other), int(worst.column or 0)
        else:
            two_cells = release.row_counts.shape[1] == 2
            which_pair = "n1 of the first table" if two_cells else "Pair, by its place"
            which_release = "Released m1" if two_cells else "Release, by its place"
            pair = _place(which_pair, "tm_pair", pairs, _pairs(release))
            column = _place(which_release, "tm_column", columns, _columns(release))
        odds = checked(PRIOR_ODDS, PRIOR_ODDS_KEY, number_control(PRIOR_ODDS, PRIOR_ODDS_KEY))
    view = attacker_view(release, pair, column, odds)
    with left:
        st.html(numbers(*_odds(view)))
    with right:
        show_figure(
            attacker_chart(release, release.log_odds(np.array([pair]), np.arange(columns))[0], view, summary.epsilon),
            key="tm_attacker",
            alt=f"Posterior odds of {view.first} against {view.second} for every released table.",
            height=340,
        )
    note(attacker_sentence(view, summary.epsilon))


def _place(label: str, key: str, size: int, words: str) -> int:
    """A place in a list that may have become shorter; one beyond its end is moved to the end, and that is said."""
    typed = st.number_input(
        label, -LARGEST, LARGEST, None, 1.0, "%.10g", key=key, persist_state="session", help=words
    )  # fmt: skip
    asked = int(checked(PLACES[key], key, math.nan if typed is None else typed))
    drawn(key, asked)
    if asked >= size:
        problem(f"{label} must be from 0 to {size - 1:,} here; got {asked:,}. {size - 1:,} is shown.")
    return min(asked, size - 1)


def _worst_pair(release: Synthesizer, one: int, other: int) -> int:
    pair = sorted((one, other))
    return int(np.flatnonzero((release.neighbours == pair).all(axis=1))[0])


def _pairs(release: Synthesizer) -> str:
    first, second = release.neighbours[0].tolist()
    tables = f"{release.row_table(first)} and {release.row_table(second)}"
    return f"The second table has one row substituted. 0 is {tables}, in the order of the log-odds table."


def _columns(release: Synthesizer) -> str:
    return f"0 is {release.column_table(0)}, and so on in the order of the columns."


def _odds(view: AttackerView) -> list[tuple[str, str, str]]:
    return [
        (
            "before the release",
            f"{readable(view.prior_odds, 4)} : 1",
            f"probability {readable(view.prior_probability, 6)}",
        ),
        (
            "after the release",
            f"{readable(view.posterior_odds, 6)} : 1",
            f"probability {_probability(view.posterior_probability, view.log_gain, 6)}",
        ),
    ]


def _probability(value: float, log_gain: float, digits: int = 4) -> str:
    """A probability; 0 and 1 only where the release decides."""
    if math.isinf(log_gain):
        return readable(value, digits)
    return "above 1 − 10⁻¹⁵" if value == 1 else "below 10⁻³⁰⁰" if value == 0 else readable_apart(value, 1.0, digits)


def attacker_sentence(view: AttackerView, epsilon: float) -> str:
    """The whole step from prior to posterior in words a person can use."""
    gain = abs(view.log_gain)
    limit = (
        "within the promised factor e<sup>ε</sup>"
        if gain <= epsilon * (1 + 1e-12)
        else f"more than the promised factor e<sup>ε</sup> = {factor_text(epsilon)}"
    )
    return (
        f"The attacker knows every row but one, so only {view.first} and {view.second} are left. Before the release "
        f"the first has probability {readable(view.prior_probability, 4)}. Then {view.released} is released. "
        f"{gain_in_words(view)} That is {limit}. Now the first has probability "
        f"<b>{_probability(view.posterior_probability, view.log_gain)}</b>."
    )
