"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.lines import Line, Mark, Rule, Scale, lines_chart
from dpviz.parameters import readable
from dpviz.priors import CALIBRATED, METHODS
from dpviz.priors.needs import need, need_by_advanced
from dpviz.priors.sets import SetPriors, ways_by_sets
from dpviz.privacy.composition import Bracket
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.words import answer, listing
from pages.minimum_priors.controls import PREFIX, Asked, promise_text
from pages.minimum_priors.numbers import BEYOND, known, largest, least
from pages.minimum_priors.together import cell_set_prior, range_of_sets, set_priors

EXACT_AT = (1, 2, 5, 10, 20)
"""Numbers of sets for which the picture has the exact answer."""

COUNTING = "Counting the cost of more sets …"
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
    found, reasons = {}, []
    for method in CALIBRATED:
        try:
            found[method] = set_priors(setting, method, sets, setting.delta)
        except ValueError as broken:
            reasons.append(str(broken))
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
    rows += [[f"<b>{METHODS[key].label}</b>", "", "", "", BEYOND] for key in CALIBRATED if key not in found]
    listing(head, rows, "The prior that the sets need, by way of counting", frozenset(range(1, 5)))
    _beyond(reasons)
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
    pure, split, advanced = cached(ways_by_sets, COUNTING)(
        "synth_post_one", n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=setting.delta,
        counts=tuple(counts.tolist()),
    )  # fmt: skip
    several = sorted({*EXACT_AT, sets})
    exact = [set_priors(setting, "synth_post_one", count, setting.delta).exact.upper for count in several]
    show_figure(
        lines_chart(
            [
                Line(name="exact", color="synth_post_one", x=np.array(several), y=np.array(exact)),
                Line(name="ε/M each, δ = 0 (the papers' rule)", color="synth_post_one", x=counts, y=pure, kind="pure"),
                Line(name="(ε/M, δ/M) each", color="synth_post_one", x=counts, y=split, kind="printed"),
                Line(name="advanced composition", color="synth_post_one", x=counts, y=advanced, kind="bound"),
            ],
            Scale(title="sets M", log=True),
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
    rows, reasons, answers = [], [], {}
    for method in CALIBRATED:
        pure, split = (cached(need)("categorical", share, method, delta) for delta in (0.0, share.delta))
        try:
            answers[method] = _bracket(cell_set_prior(setting, method, sets, setting.delta))
        except ValueError as broken:
            reasons.append(str(broken))
            answers[method] = BEYOND
        ways = [least(pure), least(split), _advanced(asked, method, sets), f"<b>{answers[method]}</b>"]
        rows.append([f"<b>{METHODS[method].label}</b>", *ways])
    first = answers["synth_post_one"]
    if first != BEYOND:
        pure = cached(need)("categorical", share, "synth_post_one", 0.0)
        st.html(
            answer(
                f"M = {sets}: α = {first}",
                f"in each of k = {setting.cells} cells is what {sets} sets of SYNTH_Post(One) need together for "
                f"{promise_text(setting)}, counted exactly; the papers' rule, ε/M for each set without δ, asks for "
                f"<b>{least(pure)}</b>.",
            )
        )
    head = ["for all sets together", "ε/M each, δ = 0", "(ε/M, δ/M) each", "advanced composition", "exact"]
    listing(head, rows, "The prior that the sets need, by way of counting", frozenset(range(1, 5)))
    _beyond(reasons)
    st.caption(
        f"M = {sets}, k = {setting.cells}, {promise_text(setting)}. Basic composition: Proposition 2.17. Advanced: "
        "Theorem 2.18 with the best slack. Exact: the losses of the worst neighbours are added, with bounds from both "
        "sides; the upper end is shown and is private for sure. One row substituted."
    )


def _ranges(asked: Asked, sets: int) -> None:
    setting = asked.asked_setting
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    rows = []
    for method in CALIBRATED:
        exact = range_of_sets(setting, method, sets, setting.delta)
        pure, split = (range_of_sets(share, method, 1, delta) for delta in (0.0, share.delta))
        ways = [largest(pure), largest(split), _advanced(asked, method, sets), f"<b>{largest(exact)}</b>"]
        rows.append([f"<b>{METHODS[method].label}</b>", *ways])
    split = range_of_sets(share, "synth_post_one", 1, share.delta)
    exact = range_of_sets(setting, "synth_post_one", sets, setting.delta)
    st.html(
        answer(
            f"M = {sets}: R/σ ≤ {largest(exact, 4)}",
            f"is what {sets} sets of SYNTH_Post(One) allow together for {promise_text(setting)}, counted exactly; a "
            f"share (ε/M, δ/M) for each set allows <b>{largest(split)}</b>.",
        )
    )
    head = ["for all sets together", "ε/M each, δ = 0, conditioned", "(ε/M, δ/M) each", "advanced composition", "exact"]
    listing(head, rows, "The range that the sets allow, by way of counting", frozenset(range(1, 5)))
    st.caption(
        f"M = {sets}, {promise_text(setting)}. Basic composition: Proposition 2.17. Advanced: Theorem 2.18 with the "
        "best slack. Exact: with δ, M independent normal releases are one with √M times the ratio of sensitivity to "
        "noise; without δ their largest losses add up, so that the columns agree. One row substituted."
    )


def _advanced(asked: Asked, method: str, sets: int) -> str:
    """The prior or range by advanced composition, which has nothing to say without δ."""
    if asked.asked_setting.delta == 0:
        return "–"
    found = cached(need_by_advanced, COUNTING)(asked.family, asked.asked_setting, method, sets)
    return largest(found) if asked.family == "gaussian" else least(found)


def _beyond(reasons: list[str]) -> None:
    if reasons:
        st.caption(f"Beyond reach: {' '.join(dict.fromkeys(reasons))}")


def _bracket(exact: Bracket) -> str:
    """The exact answer with the digits on which both bounds agree, rounded up."""
    low, high = exact.lower, exact.upper
    if not known(high):
        return least(high)
    digits = next((d for d in (5, 4, 3) if high - low <= 0.5 * 10 ** (math.floor(math.log10(high)) - d + 1)), 2)
    return least(high, digits)
