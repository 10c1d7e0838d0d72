"""Uneven priors: more pseudo-rows of one kind than of the other."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.methods import Method
from dpviz.parameters import readable
from dpviz.priors import CALIBRATED, Setting, minimum_prior
from pages.components.cached import cached
from pages.components.words import listing, note
from pages.minimum_priors.controls import PAGE, Asked, promise_text
from pages.minimum_priors.numbers import known, least


def show_uneven(asked: Asked) -> None:
    """The least α for a fixed ratio β / α, and for a fixed β."""
    setting = asked.asked_setting
    note(
        "A prior may lean: α pseudo-rows with a one, β with a zero. Without δ the smaller one binds; with δ each "
        "makes up for some of the other. It pulls the released proportion towards α / (α + β) instead of 1/2, and "
        "SYNTH_MAP towards (α − 1) / (α + β − 2)."
    )
    ratio, beta = PAGE.checked("ratio"), PAGE.checked("beta")
    rows, barred = [], set()
    for method in CALIBRATED.values():
        even = cached(asked.kind.need)(method, setting, setting.delta)
        leaning = _least(setting, method, ratio=ratio)
        missing = beta <= method.lost
        fixed = math.inf if missing else _least(setting, method, beta=beta)
        both = f"{least(leaning)}, β = {least(ratio * leaning)}" if known(leaning) else least(leaning)
        barred |= {"mode"} if missing else {"small"} if math.isinf(fixed) else set()
        rows.append([f"<b>{method.label}</b>", least(even), both, "needs β > 1" if missing else least(fixed)])
    head = ["least α", "β = α", f"β = {readable(ratio, 4)} α", f"β fixed at {readable(beta, 4)}"]
    listing(head, rows, "Least priors of uneven shape", frozenset({1, 2, 3}))
    st.caption(
        f"{promise_text(setting)}, one set, one row substituted, all pairs of neighbours in both directions. "
        + (" “Impossible”: no α makes up for so small a β." if "small" in barred else "")
    )


def _least(setting: Setting, method: Method, beta: float | None = None, ratio: float = 1.0) -> float:
    return cached(minimum_prior)(
        method.key, n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=setting.delta, beta=beta, ratio=ratio
    )
