"""A matrix that the reader brought: what law it is, and what its printed digits leave open."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.parameters import readable
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.cache import cached_recognition
from pages.components.words import note

DIGITS = 7


def as_recognized(release: Synthesizer) -> Synthesizer:
    """`release`, or the law that a given matrix is to every digit, unless the reader wants the digits as given."""
    if not isinstance(release, GivenMatrix):
        return release
    recognition = cached_recognition(release)
    if recognition is None:
        note(_rounding(release))
        return release
    law = recognition.synthesizer
    values = ", ".join(f"{declared.symbol} = {readable(getattr(law, declared.name))}" for declared in law.parameters())
    digits = "to every digit" if release.decimals is None else f"to {_places(release)}"
    note(f"Recognized: these numbers are the <b>{law.label}</b> with {values}, {digits}. {_rounding(release)}")
    if st.toggle(
        "use the recognized law, free of rounding",
        value=True,
        key="tm_recognized",
        bind="query-params",
        help="Off: every number below comes from the digits as given.",
    ):
        return law
    return release


def _places(given: GivenMatrix) -> str:
    return "1 decimal" if given.decimals == 1 else f"{given.decimals} decimals"


def _rounding(given: GivenMatrix) -> str:
    """What the given digits leave open, in a sentence."""
    if given.decimals is None:
        return "The numbers count as exact."
    least, most = given.log_odds_bounds()
    low = max(0.0, float(max(least.max(), (-most).max())))
    high = float(max(most.max(), (-least).max()))
    upper = "∞, as a printed 0 may stand for a small number or for none" if math.isinf(high) else readable(high, DIGITS)
    exact = readable(given.worst_log_odds().value, DIGITS)
    return (
        f"Taken as they stand, the digits give ε = {exact}; rounded to {_places(given)}, they leave "
        f"it anywhere from {readable(low, DIGITS)} to {upper}."
    )
