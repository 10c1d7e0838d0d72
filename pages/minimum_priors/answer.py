"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.inference import cell_moments, share_beyond
from dpviz.parameters import readable
from dpviz.priors import CALIBRATED, METHODS, Setting
from dpviz.priors.needs import need
from pages.components.cached import cached
from pages.components.words import listing, page_answer
from pages.minimum_priors.controls import Asked, promise_text
from pages.minimum_priors.numbers import BEYOND, known, largest, least
from pages.minimum_priors.together import cell_set_prior, range_of_sets, set_priors

HEADLINE = "synth_post_one"
ROUNDING = 1e-15
"""Bias below which it is nothing but rounding."""

SAME = 1e-3
"""Relative difference of the two answers below which δ is said to be too small to help."""


def compute_answer(asked: Asked) -> tuple[dict[str, float], dict[str, float]]:
    """What every method needs without δ, and with it."""
    delta = asked.asked_setting.delta
    pure = {method: needed(asked, method, 0.0) for method in CALIBRATED}
    return pure, {method: needed(asked, method, delta) for method in CALIBRATED} if delta > 0 else pure


def show_answer(asked: Asked) -> None:
    """The sentence, then the table of methods."""
    setting, (pure, exact) = asked.asked_setting, compute_answer(asked)
    gaussian = asked.family == "gaussian"
    said = range_sentence if gaussian else prior_sentence
    mark, sentence = said(asked, pure[HEADLINE], exact[HEADLINE])
    what = "range of the data" if gaussian else "least prior α, without and with δ" if "→" in mark else "least prior"
    st.html(page_answer(mark, sentence, f"{what}; {promise_text(setting)}"))
    (_range_table if gaussian else _prior_table)(asked, pure, exact)
    if reason := beyond_reach(asked):
        st.caption(f"Beyond reach: {reason}")


def needed(asked: Asked, method: str, delta: float) -> float:
    """The least prior, or largest range, for all sets together; NaN where several sets are beyond reach."""
    if asked.sets == 1:
        return cached(need)(asked.family, asked.asked_setting, method, delta)
    try:
        return _together(asked, method, delta)
    except ValueError:
        return math.nan


def beyond_reach(asked: Asked) -> str:
    """Why several sets of some method have no answer, in a sentence for each reason; empty where all have one."""
    reasons = []
    for method in CALIBRATED if asked.sets > 1 else ():
        try:
            _together(asked, method, asked.asked_setting.delta)
        except ValueError as broken:
            reasons.append(str(broken))
    return " ".join(dict.fromkeys(reasons))


def _together(asked: Asked, method: str, delta: float) -> float:
    setting = asked.asked_setting
    if asked.family == "gaussian":
        return range_of_sets(setting, method, asked.sets, delta)
    if asked.family == "categorical":
        return cell_set_prior(setting, method, asked.sets, delta).upper
    return set_priors(setting, method, asked.sets, delta).exact.upper


def _where(asked: Asked) -> str:
    setting = asked.asked_setting
    n, m = readable(setting.n), readable(setting.m)
    rows = f"n = m = {n}" if setting.n == setting.m else f"n = {n}, m = {m}"
    cells = f", k = {setting.cells}" if asked.family == "categorical" else ""
    sets = f", M = {asked.sets} sets together" if asked.sets > 1 else ""
    return f"{rows}{cells}{sets}"


def prior_sentence(asked: Asked, pure: float, exact: float) -> tuple[str, str]:
    """The mark and the sentence about the least priors, without and with δ."""
    setting, name = asked.asked_setting, METHODS[HEADLINE].label
    where, promise = _where(asked), f"ε = {readable(setting.epsilon)}"
    each = "in each cell" if _cells(asked) > 2 else "with a one and as many with a zero"
    if math.isnan(exact):
        return BEYOND, f"At {where} and {promise_text(setting)}, what {name} needs is not computed; other methods are."
    if setting.delta == 0:
        return f"α ≥ {least(pure, 3)}", (
            f"At {where} and {promise}, {name} needs <b>{least(pure)}</b> pseudo-rows {each}: {_per_row(asked, pure)} "
            "prior rows for every real row. With a small δ fewer may be enough."
        )
    if not known(exact):
        return "any prior", (
            f"At {where} and {promise_text(setting)}, any prior is enough for {name}; without δ it needs "
            f"<b>{least(pure)}</b> pseudo-rows {each}."
        )
    if pure <= exact * (1 + SAME):
        return f"α ≥ {least(exact, 3)}", (
            f"At {where} and {promise}, {name} needs <b>{least(exact)}</b> pseudo-rows {each}: δ = "
            f"{readable(setting.delta, 3)} is too small to ask for noticeably less than pure ε does."
        )
    return f"{least(pure, 3)} → {least(exact, 3)}", (
        f"At {where} and {promise}, allowing δ = {readable(setting.delta, 3)} takes the prior that {name} needs from "
        f"<b>{least(pure)}</b> to <b>{least(exact)}</b> pseudo-rows {each}: from {_per_row(asked, pure)} prior rows "
        f"for every real row to {_per_row(asked, exact)}."
    )


def range_sentence(asked: Asked, pure: float, exact: float) -> tuple[str, str]:
    """The mark and the sentence about the largest ranges, without and with δ."""
    setting, name, where = asked.asked_setting, METHODS[HEADLINE].label, _where(asked)
    narrow = f"±<b>{largest(pure, 4)}</b> σ"
    if setting.delta == 0:
        return f"R/σ ≤ {largest(pure, 3)}", (
            f"At {where} and ε = {readable(setting.epsilon)}, {name} is private for data within {narrow}, if every "
            "released number is conditioned to the same range."
        )
    return f"R/σ ≤ {largest(exact, 3)}", (
        f"At {where} and {promise_text(setting)}, {name} as it stands is private for data within "
        f"±<b>{largest(exact, 4)}</b> σ. Conditioning every released number to the range allows {narrow}, with no δ "
        "at all."
    )


def _cells(asked: Asked) -> int:
    return asked.asked_setting.cells if asked.family == "categorical" else 2


def _per_row(asked: Asked, alpha: float) -> str:
    if math.isnan(alpha):
        return ""
    return least(_cells(asked) * alpha / asked.asked_setting.n, 3) if known(alpha) else least(alpha)


def _named(method: str, what: str) -> str:
    words = METHODS[method].words.replace("proportion", what)
    return f"<b>{METHODS[method].label}</b><br><small>{words}</small>"


def _table(
    setting: Setting, what: str, answers: dict[str, list[str]], columns: list[str], rest: list[str], caption: str
) -> None:
    """Every method with its answers and what they cost; PARAM_MAP, for which there is none, at the end."""
    head = ["method", columns[0], *columns[1 : 2 if setting.delta > 0 else 1], *rest]
    impossible = ["impossible"] * (2 if setting.delta > 0 else 1) + [""] * len(rest)
    rows = [[_named(method, what), *cells] for method, cells in answers.items()]
    listing(head, [*rows, [_named("param_map", what), *impossible]], caption, frozenset(range(1, len(head))))


def _prior_table(asked: Asked, pure: dict[str, float], exact: dict[str, float]) -> None:
    setting, p = asked.asked_setting, asked.proportion
    answers = {
        method: [
            least(pure[method]),
            *([least(exact[method])] if setting.delta > 0 else []),
            _per_row(asked, exact[method]),
            *_cost(asked, method, exact[method]),
        ]
        for method in CALIBRATED
    }
    _table(
        setting,
        "proportion",
        answers,
        ["least α, δ = 0", f"least α, δ = {readable(setting.delta, 3)}"],
        ["prior rows per real row", f"bias at p = {readable(p, 3)}", "standard error"],
        "The exact prior of every method, and what it costs",
    )
    plain = math.sqrt(p * (1 - p) / setting.n)
    composed = " Several sets: their losses are added exactly." if asked.sets > 1 else ""
    st.caption(
        f"Exact, computed here. Neighbours: one row substituted. ε = {readable(setting.epsilon)}. α stands in every "
        "cell, rounded up, so that the number shown keeps the promise. Bias and standard error: of the released "
        f"proportion, at the {'second' if setting.delta > 0 else 'first'} prior; the real data alone have bias 0 and "
        f"standard error {readable(plain, 3)}.{composed}"
    )


def _cost(asked: Asked, method: str, alpha: float) -> tuple[str, str]:
    """Bias and standard error of the estimated proportion of one cell, as text."""
    if not math.isfinite(alpha):
        return "", ""
    setting = asked.asked_setting
    found = cell_moments(
        method,
        n=setting.n,
        m=setting.m,
        alpha=alpha,
        cells=_cells(asked),
        proportion=asked.proportion,
        sets=asked.sets,
    )
    bias = found.bias if abs(found.bias) > ROUNDING else 0.0
    return f"{'+' if bias > 0 else ''}{readable(bias, 3)}", readable(found.standard_error, 3)


def _range_table(asked: Asked, pure: dict[str, float], exact: dict[str, float]) -> None:
    setting = asked.asked_setting
    answers = {
        method: [
            largest(pure[method]),
            *([largest(exact[method])] if setting.delta > 0 else []),
            readable(share_beyond(exact[method]), 3),
        ]
        for method in CALIBRATED
    }
    _table(
        setting,
        "mean",
        answers,
        ["largest R/σ, δ = 0, conditioned", f"largest R/σ, δ = {readable(setting.delta, 3)}, as it stands"],
        ["share of N(0, σ²) beyond ±R"],
        "The exact range of every method, and what it cuts off",
    )
    st.caption(
        f"Exact, computed here. Neighbours: one row substituted. ε = {readable(setting.epsilon)}, σ = "
        f"{readable(setting.sigma)}, σ₀ = {readable(setting.sigma0)}. Conditioned: every released number is drawn "
        "given that it lies in [−R, R]. As it stands: a Gaussian mechanism (Balle & Wang 2018). The two are "
        "different releases, and either may allow more. R/σ is rounded down, so that the number shown keeps the "
        "promise."
    )
