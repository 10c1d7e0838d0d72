"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

from __future__ import annotations

import math

import streamlit as st
from scipy.stats import norm

from dpviz.inference import proportion_moments
from dpviz.parameters import readable
from dpviz.priors import CALIBRATED, METHODS, Setting
from pages.components.cache import cached_cell_sets, cached_need, cached_set_priors, cached_sets_range
from pages.components.words import answer, listing
from pages.priors.controls import Asked, known, promise_text

HEADLINE = "synth_post_one"


def show_answer(asked: Asked) -> None:
    """The sentence, then the table of methods."""
    setting = asked.asked_setting
    pure = {method: needed(asked, method, 0.0) for method in CALIBRATED}
    exact = {method: needed(asked, method, setting.delta) for method in CALIBRATED} if setting.delta > 0 else pure
    gaussian = asked.family == "gaussian"
    said = _range_sentence if gaussian else _prior_sentence
    st.html(answer(*said(asked, pure[HEADLINE], exact[HEADLINE])))
    (_range_table if gaussian else _prior_table)(asked, pure, exact)


def needed(asked: Asked, method: str, delta: float) -> float:
    """The least prior, or largest range, for all sets together."""
    setting = asked.asked_setting
    if asked.sets == 1:
        return cached_need(asked.family, setting, method, delta)
    if asked.family == "gaussian":
        return cached_sets_range(setting, method, delta, asked.sets, 1)
    if asked.family == "categorical":
        return cached_cell_sets(setting, method, asked.sets, delta).upper
    found = cached_set_priors(method, setting.n, setting.m, asked.sets, setting.epsilon, delta)
    return found.exact.upper


def prior_text(value: float, digits: int = 5) -> str:
    """A prior in words where it is no number."""
    if math.isinf(value):
        return "impossible"
    return readable(value, digits) if known(value) else "any"


def _where(asked: Asked) -> str:
    setting = asked.asked_setting
    rows = f"n = m = {readable(setting.n)}" if setting.n == setting.m else (
        f"n = {readable(setting.n)}, m = {readable(setting.m)}"
    )  # fmt: skip
    cells = f", k = {setting.cells}" if asked.family == "categorical" else ""
    sets = f", M = {asked.sets} sets together" if asked.sets > 1 else ""
    return f"{rows}{cells}{sets}"


def _prior_sentence(asked: Asked, pure: float, exact: float) -> tuple[str, str]:
    setting = asked.asked_setting
    cells = setting.cells if asked.family == "categorical" else 2
    name = METHODS[HEADLINE].label
    each = "in each cell" if cells > 2 else "with a one and as many with a zero"
    if setting.delta == 0:
        return f"α ≥ {prior_text(pure, 4)}", (
            f"At {_where(asked)} and ε = {readable(setting.epsilon)}, {name} needs <b>{prior_text(pure)}</b> "
            "pseudo-rows "
            f"{each}: {_per_row(pure, cells, setting)} prior rows for every real row. A small δ asks for far less."
        )
    if not known(exact):
        return "any prior", (
            f"At {_where(asked)} and {promise_text(setting)}, any prior is enough for {name}; without δ it needs "
            f"<b>{prior_text(pure)}</b> pseudo-rows {each}."
        )
    return f"{prior_text(pure, 3)} → {prior_text(exact, 3)}", (
        f"At {_where(asked)} and ε = {readable(setting.epsilon)}, allowing δ = {readable(setting.delta, 3)} takes the "
        f"prior that {name} needs from <b>{prior_text(pure)}</b> to <b>{prior_text(exact)}</b> pseudo-rows {each}: "
        "from "
        f"{_per_row(pure, cells, setting)} prior rows for every real row to {_per_row(exact, cells, setting)}."
    )


def _range_sentence(asked: Asked, pure: float, exact: float) -> tuple[str, str]:
    setting, name = asked.asked_setting, METHODS[HEADLINE].label
    narrow = f"data within ±<b>{readable(pure, 4)}</b> σ, every released number conditioned to the same range"
    if setting.delta == 0:
        return (
            f"R/σ ≤ {readable(pure, 3)}",
            f"At {_where(asked)} and ε = {readable(setting.epsilon)}, {name} needs {narrow}.",
        )
    return f"R/σ ≤ {readable(exact, 3)}", (
        f"At {_where(asked)} and {promise_text(setting)}, {name} is private for data within "
        f"±<b>{readable(exact, 4)}</b> σ. "
        f"Without δ it needs {narrow}."
    )  # fmt: skip


def _named(method: str, what: str) -> str:
    words = METHODS[method].words.replace("proportion", what)
    return f"<b>{METHODS[method].label}</b><br><small>{words}</small>"


def _per_row(alpha: float, cells: int, setting: Setting) -> str:
    return prior_text(cells * alpha / setting.n, 3) if known(alpha) else prior_text(alpha)


def _prior_table(asked: Asked, pure: dict[str, float], exact: dict[str, float]) -> None:
    setting, p = asked.asked_setting, asked.proportion
    cells = setting.cells if asked.family == "categorical" else 2
    rows = []
    for method in CALIBRATED:
        least = exact[method]
        bias, error = _cost(asked, method, least, cells)
        rows.append(
            [
                _named(method, "proportion"),
                prior_text(pure[method]),
                *([prior_text(least)] if setting.delta > 0 else []),
                _per_row(least, cells, setting),
                bias,
                error,
            ]
        )
    rows.append(["<b>PARAM_MAP</b><br><small>the most likely proportion itself, not random</small>"])
    rows[-1] += ["impossible"] * (2 if setting.delta > 0 else 1) + ["", "", ""]
    with_delta = [f"least α, δ = {readable(setting.delta, 3)}"] if setting.delta > 0 else []
    head = [
        "exact",
        "least α, δ = 0",
        *with_delta,
        "prior rows per real row",
        f"bias at p = {readable(p, 3)}",
        "standard error",
    ]
    listing(head, rows, "The exact prior of every method, and what it costs", frozenset(range(1, len(head))))
    plain = math.sqrt(p * (1 - p) / setting.n)
    composed = " Several sets: their losses are added exactly." if asked.sets > 1 else ""
    st.caption(
        f"Neighbours: one row substituted. ε = {readable(setting.epsilon)}. α stands in every cell. Numbers are "
        "rounded to "
        "the nearest; the script under “Download” gives every digit, on the private side. Bias and standard error: "
        "of the "
        f"released proportion, at the {'second' if setting.delta > 0 else 'first'} prior; the real data alone have "
        "bias 0 "
        f"and standard error {readable(plain, 3)}.{composed}"
    )


def _cost(asked: Asked, method: str, alpha: float, cells: int) -> tuple[str, str]:
    """Bias and standard error of the estimated proportion of one cell, as text."""
    if math.isinf(alpha):
        return "", ""
    setting, shift = asked.asked_setting, 1.0 if method == "synth_map" else 0.0
    law = "synth_post_many" if method == "synth_map" else method
    found = proportion_moments(
        law, n=setting.n, m=setting.m, alpha=alpha - shift, beta=(cells - 1) * (alpha - shift),
        proportion=asked.proportion, sets=asked.sets,
    )  # fmt: skip
    sign = "+" if found.bias > 0 else ""
    return f"{sign}{readable(found.bias, 3)}", readable(found.standard_error, 3)


def _range_table(asked: Asked, pure: dict[str, float], exact: dict[str, float]) -> None:
    setting = asked.asked_setting
    rows = []
    for method in CALIBRATED:
        least = exact[method]
        rows.append(
            [
                _named(method, "mean"),
                readable(pure[method], 5),
                *([readable(least, 5)] if setting.delta > 0 else []),
                readable(2 * float(norm.sf(least)), 3),
            ]
        )
    rows.append(["<b>PARAM_MAP</b><br><small>the most likely mean itself, not random</small>"])
    rows[-1] += ["impossible"] * (2 if setting.delta > 0 else 1) + [""]
    with_delta = [f"largest R/σ, δ = {readable(setting.delta, 3)}"] if setting.delta > 0 else []
    head = ["exact", "largest R/σ, δ = 0", *with_delta, "share of N(0, σ²) beyond ±R"]
    listing(head, rows, "The exact range of every method, and what it cuts off", frozenset(range(1, len(head))))
    st.caption(
        f"Neighbours: one row substituted. ε = {readable(setting.epsilon)}, σ = {readable(setting.sigma)}, "
        f"σ0 = {readable(setting.sigma0)}. δ = 0: every released number is conditioned to [−R, R], normalising "
        "constants "
        "kept. δ > 0: nothing is conditioned; each method is a Gaussian mechanism (Balle & Wang 2018)."
    )
