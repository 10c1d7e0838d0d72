"""The attacker who knows every row but one: after a single release, and in four languages after all of them."""

import math

import numpy as np
import streamlit as st

from dpviz.charts.profile import attacker_chart, trade_off_chart
from dpviz.charts.strip import odds_dots
from dpviz.core import limits
from dpviz.core.parameters import argument, readable
from dpviz.privacy import attacker_view
from dpviz.privacy.attacker import PRIOR_ODDS, PRIOR_RISK, RISK_RATIO, attacker_numbers, attacker_sentence
from dpviz.privacy.languages import (
    gaussian_sentence,
    guess_sentence,
    measures_on_curve,
    odds_sentence,
    releases_in_words,
    risk_sentences,
)
from dpviz.privacy.summary import PrivacySummary
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve
from pages.components.address import drawn
from pages.components.cached import cached
from pages.components.controls import Switch
from pages.components.figure import show_figure
from pages.components.numbers import LARGEST, PageNumbers
from pages.components.refusals import refuse
from pages.components.words import heading, listing, note, numbers
from pages.transition_matrices import SPEC

PLACES = {
    name: argument(name, 0, limits.TABLE_ENTRIES, title=title, default=0, integer=True)
    for name, title in {"pair": "Place of the pair", "column": "Place of the release"}.items()
}
ASKED = {"prior_odds": PRIOR_ODDS, **PLACES, "prior_risk": PRIOR_RISK, "risk_ratio": RISK_RATIO}
NUMBERS = PageNumbers(SPEC.prefix, ASKED, ()).kept()
WORST = Switch("worst", "Show the worst case of this release", True).kept(SPEC)


def show_attacker(summary: PrivacySummary) -> None:
    """Controls for a pair, a released table and prior odds; the odds after, in words and as a picture."""
    release, worst = summary.synthesizer, summary.worst
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        if WORST.draw():
            tables = sorted((worst.likelier, worst.other))
            pair = int(np.flatnonzero((release.neighbours == tables).all(axis=1))[0])
            column = int(worst.column or 0)
        else:
            one, other = map(release.row_table, release.neighbours[0].tolist())
            two = len(one) == 2
            words = f"The second table has one row substituted. 0 is {one} and {other}, in the order of the log-odds"
            label = "n1 of the first table" if two else "Pair, by its place"
            pair = _place(label, "pair", len(release.neighbours), f"{words} table.")
            words = f"0 is {release.column_table(0)}, and so on in the order of the columns."
            column = _place("Released m1" if two else "Release, by its place", "column", release.shape[1], words)
        view = attacker_view(release, pair, column, NUMBERS.checked("prior_odds"))
        st.html(numbers(*attacker_numbers(view)))
    with right:
        log_odds = release.log_odds(np.array([pair]), np.arange(release.shape[1]))[0]
        figure = attacker_chart(release, log_odds, view, summary.epsilon)
        alt = f"Posterior odds of {view.first} against {view.second} for every released table."
        show_figure(figure, key="tm_attacker", alt=alt, height=340)
    note(attacker_sentence(view, summary.epsilon))


def _place(label: str, name: str, size: int, words: str) -> int:
    """A place in a list that may have become shorter; one beyond its end is moved to the end, and that is said."""
    key = SPEC.prefix + name
    typed = st.number_input(label, -LARGEST, LARGEST, None, 1.0, "%.10g", key=key, persist_state="session", help=words)
    asked = int(NUMBERS.accepted(name, math.nan if typed is None else typed))
    drawn(key, asked, label)
    if asked >= size:
        refuse(f"{label} must be from 0 to {size - 1:,} here; got {asked:,}. Shown is {size - 1:,}.")
    return min(asked, size - 1)


def show_languages(summary: PrivacySummary) -> None:
    """The four, each exact, with what the promise would allow beside it; the measures on one curve; each release."""
    curve = cached(trade_off_curve)(summary.synthesizer)
    promised = TradeOffCurve.promised(summary.epsilon, summary.delta)
    heading("In odds: the most telling release")
    st.html(odds_sentence(summary) + odds_dots(summary.worst.value))
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        heading("In errors: all releases together")
        alt = "Smallest type II error at each type I error: of this release, and allowed by the promise."
        show_figure(trade_off_chart(curve, promised, summary), key="tm_trade_off", alt=alt, height=430)
    with right:
        heading("In guesses")
        st.html(f"<p>{guess_sentence(curve, promised)}</p><p>{gaussian_sentence(curve)}</p>")
        heading("In risk: one sensitive value")
        risk, ratio = NUMBERS.checked("prior_risk"), NUMBERS.checked("risk_ratio")
        st.html("".join(f"<p>{sentence}</p>" for sentence in risk_sentences(summary, risk, ratio)))
    heading("One curve, five measures")
    head = ["measure", "its value", "where it sits on the curve"]
    rows = measures_on_curve(summary, curve)
    listing(head, rows, "The measures of privacy and the trade-off curve", frozenset({1}))
    note(SPEC.note("Tests"))
    _show_releases(summary, risk)


def _show_releases(summary: PrivacySummary, risk: float) -> None:
    """One line for each release, in the order of the columns; of many, some that are evenly spaced."""
    release, size = summary.synthesizer, summary.synthesizer.shape[1]
    rows = releases_in_words(summary, risk)
    first, second = (release.row_table(index) for index in (summary.worst.likelier, summary.worst.other))
    heading(f"Release by release: {first} against {second}")
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {readable(100 * risk, 3)} % before")
    listing(head, rows, "What each release says of the worst neighbours")
    shown = "" if len(rows) == size else f" Shown are {len(rows)} of {size:,} releases, evenly spaced."
    note(SPEC.note("Pieces of the curve", first=first, second=second) + shown)
