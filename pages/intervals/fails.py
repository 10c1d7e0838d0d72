"""Where coverage fails, and why: one thing repaired at a time."""

from __future__ import annotations

import streamlit as st

from dpviz.coverage import CoverageDecomposition
from dpviz.inference import RULES
from dpviz.parameters import readable
from pages.components.cache_inference import cached_decomposition
from pages.components.words import answer, listing, note, percent
from pages.intervals.controls import Design, short
from pages.intervals.exact import exact_values

REPAIRED = {
    "prior_bias": "the prior's pull",
    "ignored_variance": "the error of the variance",
    "rule_noise": "the noise in the rule's variance",
}


def show_failure(design: Design) -> None:
    """Coverage as published, with each repair alone, and with all of them, for every rule shown."""
    if not exact_values(design):
        st.caption("The repairs are sums over the exact law of the releases, which would take too long here.")
        return
    note(
        "An interval can miss for three reasons. Each is switched off in turn, everything else as it is: the "
        "<b>prior's pull</b> (the centre moved back by E[q̄] − p), the <b>error of the variance</b> (T raised or "
        "lowered by Var(q̄) − E[T], so that it is right on average), and the <b>noise of the rule</b> (T replaced by "
        "E[T], with the normal quantile). The second repair lowers a T too large on average, sometimes below 0: "
        "then there is no interval, and coverage falls. No analyst can do this; it shows what each is worth."
    )
    found = {
        key: cached_decomposition(design.release, design.p, design.sets, key, design.level) for key in design.rules
    }
    first = found[design.rules[0]]
    st.html(answer(f"{percent(first.published, 4)} → {percent(first.by_repair[first.best_repair], 4)}", _said(first)))
    head = ["coverage", "as published", *(f"without {words}" for words in REPAIRED.values()), "without all three"]
    rows = [
        [
            f"<b>{short(key)}</b><br><small>E[T] = {readable(one.mean_variance, 3)}</small>",
            percent(one.published, 4),
            *(_best(one, repair) for repair in REPAIRED),
            percent(one.repaired, 4),
        ]
        for key, one in found.items()
    ]
    listing(head, rows, "Coverage with each repair", frozenset(range(1, 6)))
    st.caption(
        f"Exact, to within {readable(first.error_bound, 1)}. E[q̄] − p = {readable(first.bias, 4)}, Var(q̄) = "
        f"{readable(first.variance, 4)}. Bold: the single repair that comes nearest to the level. Without all three "
        "there is a normal interval of the true standard error around an unbiased centre; what is left over is that "
        "counts are whole numbers."
    )


def _best(one: CoverageDecomposition, repair: str) -> str:
    text = percent(one.by_repair[repair], 4)
    return f"<b>{text}</b>" if repair == one.best_repair else text


def _said(one: CoverageDecomposition) -> str:
    label = RULES[one.rule].label.split(" (")[0]
    off = one.level - one.published
    if abs(off) < 0.005:
        return f"{label} covers as promised here; there is nothing to repair."
    short_of = "misses too often" if off > 0 else "covers too often"
    nearer = abs(one.by_repair[one.best_repair] - one.level) < abs(off)
    what = REPAIRED[one.best_repair]
    now = one.by_repair[one.best_repair]
    after = "" if abs(now - one.level) < 0.005 else f", now too {'often' if now > one.level else 'seldom'}"
    return (
        f"{label} {short_of}, and most of it is {what}: without it alone, this is what is covered{after}."
        if nearer
        else f"{label} {short_of}, and no single repair comes nearer to the level: the errors cancel in part."
    )
