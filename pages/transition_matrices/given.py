"""A matrix that the reader brought: what its printed digits leave open, and which synthesizer prints as the same."""

import math

import numpy as np
import streamlit as st

from dpviz.core.parameters import readable
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.given import recognize
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import drawn, fit_choice, keep_text
from pages.components.cached import cached
from pages.components.matrix import sums_sentence
from pages.components.words import note, problem

DIGITS = 7
AS_GIVEN = "as_given"
RECOGNIZED = keep_text("tm_recognized", AS_GIVEN)
"""Whose exact values are shown, so that an offer taken for one matrix is not taken for another."""


def as_judged(release: Synthesizer) -> Synthesizer:
    """`release` as it is; the synthesizer that prints as a given matrix only where the reader takes this offer."""
    if not isinstance(release, GivenMatrix):
        return release
    note(" ".join(filter(None, (_rounding(release), sums_sentence(release)))))
    offered = cached(recognize)(release)
    word = AS_GIVEN if offered is None else _word(offered)
    if sentence := fit_choice(RECOGNIZED, {AS_GIVEN: None, word: None}):
        problem(sentence)
    exact = offered if offered is not None and _accepted(release, offered, word) else None
    drawn(RECOGNIZED, AS_GIVEN if exact is None else word, "Judged as")
    return release if exact is None else exact


def _word(synthesizer: Synthesizer) -> str:
    """Return a synthesizer as the address has it."""
    return "-".join(
        [synthesizer.key, *(f"{getattr(synthesizer, declared.name):.12g}" for declared in synthesizer.parameters())]
    )


def _accepted(given: GivenMatrix, synthesizer: Synthesizer, word: str) -> bool:
    """Offer the exact values of a synthesizer; return whether the reader takes them."""
    values = ", ".join(synthesizer.in_symbols())
    digits = "numbers, to ten significant digits," if given.decimals is None else "printed digits"
    switch = f"{RECOGNIZED}_{word}"
    taken = st.session_state[RECOGNIZED] == word
    if st.session_state.get(switch) != taken:
        st.session_state[switch] = taken
    accepted = st.toggle(
        f"These {digits} equal the {synthesizer.label} with {values}. Use its exact values?",
        key=switch,
        on_change=_take,
        args=(switch, word),
        help="Off: every number on this page is computed from the numbers that you gave. On: from this synthesizer's "
        "exact probabilities, which agree with every digit given.",
    )
    if accepted:
        exact, digits = (readable(one.worst_log_odds().value, DIGITS) for one in (synthesizer, given))
        shown = f"This page now shows the exact values of the <b>{synthesizer.label}</b>: ε = {exact}."
        note(f"{shown} Your digits alone would make it {digits}.")
    return accepted


def _take(switch: str, word: str) -> None:
    st.session_state[RECOGNIZED] = word if st.session_state[switch] else AS_GIVEN


def _places(given: GivenMatrix) -> str:
    """How far the numbers are printed, in words."""
    if isinstance(given.decimals, np.ndarray):
        return "their own last digits"
    return "1 decimal" if given.decimals == 1 else f"{given.decimals} decimals"


def _rounding(given: GivenMatrix) -> str:
    """What the given digits leave open, in a sentence."""
    if given.decimals is None:
        return "Your numbers are used exactly as given."
    least, most = given.log_odds_bounds()
    low, high = max(0.0, float(max(least.max(), -most.min()))), float(max(most.max(), -least.min()))
    upper = "∞, as a printed 0 may stand for a small number or for none" if math.isinf(high) else readable(high, DIGITS)
    exact = readable(given.worst_log_odds().value, DIGITS)
    return (
        f"Your numbers are used exactly as given: they make ε = {exact}. If they were rounded to {_places(given)}, the "
        f"ε before rounding lies between {readable(low, DIGITS)} and {upper}."
    )
