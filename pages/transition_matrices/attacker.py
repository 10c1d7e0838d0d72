"""The attacker who knows every row but one."""

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.profile import attacker_chart
from dpviz.core import limits
from dpviz.core.parameters import Parameter, readable
from dpviz.privacy import attacker_view
from dpviz.privacy.attacker import attacker_sentence, probability_text
from dpviz.privacy.summary import PrivacySummary
from pages.components.address import drawn, keep_switch
from pages.components.choices import switch
from pages.components.controls import LARGEST, PageNumbers
from pages.components.figure import show_figure
from pages.components.words import note, numbers, problem
from pages.transition_matrices.controls import PREFIX

PRIOR_ODDS = Parameter(
    name="prior_odds", symbol="a : 1", title="Prior odds", minimum=1e-9, maximum=1e9, default=1.0, slider_minimum=1e-3,
    slider_maximum=1e3, scale="log",
    help="What the attacker believes before the release: how much likelier the first table is than the second.",
)  # fmt: skip
PAIR = Parameter(
    name="pair", symbol="pair", title="Place of the pair", minimum=0, maximum=limits.TABLE_ENTRIES, default=0,
    integer=True, help="",
)  # fmt: skip
COLUMN = dataclasses.replace(PAIR, name="column", symbol="column", title="Place of the release")
NUMBERS = PageNumbers(PREFIX, {"prior_odds": PRIOR_ODDS, "pair": PAIR, "column": COLUMN}, ()).kept()
PLACES = "Pair, by its place", "Release, by its place"
WORST = keep_switch(f"{PREFIX}worst", True)


def show_attacker(summary: PrivacySummary) -> None:
    """Controls for a pair, a released table and prior odds; the odds after, in words and as a picture."""
    release = summary.synthesizer
    if not release.enumerable:
        note("The attacker's view lists the whole matrix. Here it has over 4 million entries: choose fewer rows.")
        return
    worst = summary.worst
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        if switch("Show the worst case of this release", WORST):
            tables = sorted((worst.likelier, worst.other))
            pair = int(np.flatnonzero((release.neighbours == tables).all(axis=1))[0])
            column = int(worst.column or 0)
        else:
            one, other = map(release.row_table, release.neighbours[0].tolist())
            labels = ("n1 of the first table", "Released m1") if len(one) == 2 else PLACES
            words = f"The second table has one row substituted. 0 is {one} and {other}, in the order of the log-odds"
            pair = _place(labels[0], "pair", len(release.neighbours), f"{words} table.")
            words = f"0 is {release.column_table(0)}, and so on in the order of the columns."
            column = _place(labels[1], "column", release.shape[1], words)
        view = attacker_view(release, pair, column, NUMBERS.checked("prior_odds"))
        prior, posterior = view.probabilities
        before, after = probability_text(prior, 0.0, 6), probability_text(posterior, view.log_gain, 6)
        first = "before the release", f"{readable(view.prior_odds, 4)} : 1", f"probability {before}"
        then = "after the release", f"{readable(view.posterior_odds, 6)} : 1", f"probability {after}"
        st.html(numbers(first, then))
    with right:
        log_odds = release.log_odds(np.array([pair]), np.arange(release.shape[1]))[0]
        figure = attacker_chart(release, log_odds, view, summary.epsilon)
        alt = f"Posterior odds of {view.first} against {view.second} for every released table."
        show_figure(figure, key="tm_attacker", alt=alt, height=340)
    note(attacker_sentence(view, summary.epsilon))


def _place(label: str, name: str, size: int, words: str) -> int:
    """A place in a list that may have become shorter; one beyond its end is moved to the end, and that is said."""
    key = PREFIX + name
    typed = st.number_input(label, -LARGEST, LARGEST, None, 1.0, "%.10g", key=key, persist_state="session", help=words)
    asked = int(NUMBERS.accepted(name, math.nan if typed is None else typed))
    drawn(key, asked, label)
    if asked >= size:
        problem(f"{label} must be from 0 to {size - 1:,} here; got {asked:,}. Shown is {size - 1:,}.")
    return min(asked, size - 1)
