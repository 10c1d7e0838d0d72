"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts import Line, Mark, Rule, Scale, lines_chart
from dpviz.parameters import readable
from dpviz.priors import CALIBRATED, METHODS
from dpviz.priors.sets import SetPriors
from dpviz.privacy.composition import Bracket
from pages.components.cache import cached_cell_sets, cached_need, cached_set_priors, cached_sets_range, cached_ways
from pages.components.figure import show_figure
from pages.components.words import answer, listing
from pages.priors.controls import PREFIX, Asked, promise_text
from pages.priors.numbers import known, largest, least

EXACT_AT = (1, 2, 5, 10, 20)
"""Numbers of sets for which the picture has the exact answer."""

SHOWN = 5
"""Sets that the section speaks of while the page is about a single one."""


def show_sets(asked: Asked) -> None:
    """Table of ways, picture, and what they mean."""
    sets = asked.sets if asked.sets > 1 else SHOWN
    if asked.sets == 1:
        st.caption(f"M = 1 above; shown here for M = {sets}. The control “Synthetic sets M” changes it.")
    if asked.family == "gaussian":
        _ranges(asked, sets)
    elif asked.family == "categorical":
        _cells(asked, sets)
    else:
        _priors(asked, sets)


def _priors(asked: Asked, sets: int) -> None:
    setting = asked.asked_setting
    found = {
        method: cached_set_priors(method, setting.n, setting.m, sets, setting.epsilon, setting.delta)
        for method in CALIBRATED
    }
    one = found["synth_post_one"]
    text = _bracket(one.exact)
    st.html(
        answer(
            f"M = {sets}: α = {text}",
            f"is what {sets} sets of SYNTH_Post(One) need together for {promise_text(setting)}, counted exactly; the "
            f"papers' rule, ε/M for each set without δ, asks for <b>{least(one.pure)}</b>.",
        )
    )
    head = ["for all sets together", "ε/M each, δ = 0", "(ε/M, δ/M) each", "advanced composition", "exact"]
    rows = [
        [
            f"<b>{METHODS[method].label}</b>",
            least(ways.pure),
            least(ways.split),
            "–" if ways.advanced is None else least(ways.advanced),
            f"<b>{_bracket(ways.exact)}</b>",
        ]
        for method, ways in found.items()
    ]
    listing(head, rows, "The prior that the sets need, by way of counting", frozenset(range(1, 5)))
    st.caption(
        "Basic composition: Proposition 2.17. Advanced: Theorem 2.18 (Dwork, Rothblum & Vadhan 2010) with the best "
        "slack. Exact: the largest δ of the sum of the sets' privacy losses over all pairs of neighbours, from their "
        "distribution on a grid with bounds from both sides; the upper end is shown and is private for sure. M sets "
        "of a plug-in are one set of Mm rows, exactly. One row substituted."
    )
    if setting.delta > 0:
        _picture(asked, sets, one)


def _picture(asked: Asked, sets: int, one: SetPriors) -> None:
    setting = asked.asked_setting
    counts = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int))
    pure, split, advanced = cached_ways(setting.n, setting.m, setting.epsilon, setting.delta, tuple(counts.tolist()))
    several = sorted({*EXACT_AT, sets})
    exact = [
        cached_set_priors("synth_post_one", setting.n, setting.m, count, setting.epsilon, setting.delta).exact.upper
        for count in several
    ]
    show_figure(
        lines_chart(
            [
                Line(name="exact", color="synth_post_one", x=np.array(several), y=np.array(exact)),
                Line(name="ε/M each, δ = 0 (the papers' rule)", color="synth_post_one", x=counts, y=pure, kind="pure"),
                Line(name="(ε/M, δ/M) each", color="synth_post_one", x=counts, y=split, kind="printed"),
                Line(name="advanced composition", color="synth_post_one", x=counts, y=advanced, kind="bound"),
            ],
            Scale(title="sets M (left is more private)", log=True),
            Scale(title="least prior α of SYNTH_Post(One)", log=True, low=min(one.exact.lower, float(split.min())) / 2),
            key="sets",
            marks=[
                Mark(
                    x=sets, y=one.exact.upper, color="synth_post_one", text=f"exact: {_bracket(one.exact)}",
                    name=f"exact, M = {sets}",
                )
            ],
            rules=[Rule(text=f"α = n = {readable(setting.n)}", y=float(setting.n), shapes=("dot",))],
        ),
        key=f"{PREFIX}sets_picture",
        alt="The prior that several sets need, by three ways to bound their cost, and exactly.",
        height=420,
    )  # fmt: skip


def _cells(asked: Asked, sets: int) -> None:
    setting = asked.asked_setting
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    rows = []
    for method in CALIBRATED:
        exact = cached_cell_sets(setting, method, sets, setting.delta)
        pure, split = (cached_need("categorical", share, method, delta) for delta in (0.0, share.delta))
        rows.append([f"<b>{METHODS[method].label}</b>", least(pure), least(split), f"<b>{_bracket(exact)}</b>"])
    head = ["for all sets together", "ε/M each, δ = 0", "(ε/M, δ/M) each", "exact"]
    listing(head, rows, "The prior that the sets need, by way of counting", frozenset(range(1, 4)))
    st.caption(
        f"M = {sets}, k = {setting.cells}, {promise_text(setting)}. Exact: the losses of the worst neighbours are "
        "added, with bounds from both sides; the upper end is shown and is private for sure. One row substituted."
    )


def _ranges(asked: Asked, sets: int) -> None:
    setting = asked.asked_setting
    rows = []
    for method in CALIBRATED:
        exact = cached_sets_range(setting, method, setting.delta, sets, 1)
        split = cached_sets_range(setting, method, setting.delta, 1, sets)
        rows.append([f"<b>{METHODS[method].label}</b>", largest(split), f"<b>{largest(exact)}</b>"])
    head = ["for all sets together", "(ε/M, δ/M) each", "exact"]
    listing(head, rows, "The range that the sets allow, by way of counting", frozenset({1, 2}))
    st.caption(
        f"M = {sets}, {promise_text(setting)}. With δ, M independent normal releases are one with √M times the ratio "
        "of sensitivity to noise, exactly. Without δ their largest losses add up, so that both columns agree."
    )


def _bracket(exact: Bracket) -> str:
    """The exact answer with the digits on which both bounds agree, rounded up."""
    low, high = exact.lower, exact.upper
    if not known(high):
        return least(high)
    digits = next((d for d in (5, 4, 3) if high - low <= 0.5 * 10 ** (math.floor(math.log10(high)) - d + 1)), 2)
    return least(high, digits)
