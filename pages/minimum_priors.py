"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpviz.calibration.kinds import KINDS, Kind, Setting
from dpviz.calibration.needed import Needed
from dpviz.calibration.promise_in_words import HEADLINE, needed_in_words, others_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ranges import GAUSSIAN_SETS, SIGMA, SIGMA0
from dpviz.charts.prior_curves import curves_chart
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS, PROPORTION, SEED
from dpviz.core.parameters import EPSILON, readable
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.desk.promise_tables import needed_table
from dpviz.desk.promises import PROMISE
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer
from dpviz.mechanisms.cells import CELL_COUNT
from pages import ui
from pages.details import minimum_priors as details
from pages.ui.navigation import PRIORS

PREFIX = PRIORS.prefix
FAMILIES = {kind.label: kind for kind in KINDS.values()}
CATEGORIES = KINDS["categorical"]
SMALLEST_FAILURE = 1e-300  # a δ that is smaller, but not 0, is near the end of the floating-point numbers

NUMBERS = {
    "n": replace(MANY_ROWS, default=1000, slider_maximum=100_000),
    "m": replace(MANY_SYNTHETIC_ROWS, default=1000, slider_maximum=100_000),
    "cells": replace(CELL_COUNT, slider_maximum=20),
    "sets": replace(GAUSSIAN_SETS, slider_maximum=20),
    "epsilon": replace(EPSILON, minimum=1e-4, maximum=50.0, default=1.0, slider_minimum=0.01, slider_maximum=10.0),
    "delta": PROMISE["delta"],
    "sigma": SIGMA,
    "sigma0": replace(SIGMA0, slider_minimum=0.01, slider_maximum=100.0),
    "p": replace(
        PROPORTION, default=0.1, slider_minimum=0.001, slider_maximum=0.5, scale="log",
        help="The share of yes in the population, for what the prior costs: bias and standard error of its estimate.",
    ),
}  # fmt: skip
HANDED_ON = {"x": CONFIDENTIAL_COUNT, "seed": SEED}
"""Of the reader's release, for the pages that it goes on to: this one draws nothing."""
SETTINGS = {
    f"{PREFIX}family": ui.choice_setting(FAMILIES, "Bernoulli", "Data"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    **{PREFIX + name: ui.hidden_number_setting(parameter) for name, parameter in HANDED_ON.items()},
    f"{PREFIX}axis": ui.choice_setting(details.AXES, "against δ", "Picture"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}

ONE_SET: dict[str, Any] = {"m_is_n": True, "sets": 1}
PRESETS = {
    "1,000 rows, δ = 10⁻⁶": ONE_SET | {"family": "Bernoulli", "n": 1000, "epsilon": 1.0, "delta": 1e-6},
    "100 rows, δ = 10⁻⁵": ONE_SET | {"family": "Bernoulli", "n": 100, "epsilon": 1.0, "delta": 1e-5},
    "five categories": ONE_SET | {"family": "k categories", "n": 1000, "cells": 5, "epsilon": 1.0, "delta": 1e-6},
    "Gaussian, Theorem 7.8": ONE_SET | {
        "family": "Gaussian", "n": 100, "epsilon": 1.0, "delta": 1e-5, "sigma": 1.0, "sigma0": 1.0,
    },
}  # fmt: skip
"""The strongest picture, its smaller sister, more categories, and an unsafe theorem."""


def controls() -> PromiseQuestion:
    """Draw the controls and return the promise that they ask about."""
    places = ui.control_places()

    def number(name: str, place: Any) -> Any:
        return ui.number_control(NUMBERS, PREFIX, name, place=place)

    ui.presets(PRESETS, PREFIX, place=places.first)
    kind = FAMILIES[ui.choice(
        "Data", list(FAMILIES), f"{PREFIX}family", place=places.main, widget=st.segmented_control, required=True,
        width="stretch",
        help="Rows that are 0 or 1, rows in one of k categories, or normal numbers with known variance.",
    )]  # fmt: skip

    # The promise, and the sizes of what keeps it
    values = {name: number(name, places.first) for name in ("epsilon", "delta")}
    for name in ("n", *kind.numbers):
        values[name] = number(name, places.main)
    sets = number("sets", places.main)
    p = number("p", places.more) if "p" in kind.cost else NUMBERS["p"].default
    values["m"] = ui.linked_number(NUMBERS, PREFIX, "m", values["n"], place=places.more)
    if 0 < values["delta"] < SMALLEST_FAILURE:
        allowed = f"0, or from {readable(SMALLEST_FAILURE)} to {readable(NUMBERS['delta'].maximum)}"
        raise ValueError(f"delta (allowed failure) must be {allowed}; got {readable(values['delta'])}.")
    register_release(kind)
    m_is_n = bool(st.session_state[f"{PREFIX}m_is_n"])
    return PromiseQuestion(kind=kind, setting=Setting(**values), sets=sets, p=p, m_is_n=m_is_n)


def has_other_cells(values: Mapping[str, Any], kind: Kind) -> bool:
    """Whether a release is made by a mechanism of two cells and a kind of data has more, or the other way round."""
    synthesizer_type = SYNTHESIZERS.get(values.get("synthesizer", ""))
    return synthesizer_type is not None and issubclass(synthesizer_type, TwoCellSynthesizer) == (kind is CATEGORIES)


def take_release(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Kind of data that a release asks for, where the page shows one with another number of cells."""
    kind = FAMILIES[st.session_state[f"{PREFIX}family"]]
    if not has_other_cells(values, kind):
        return {}
    return {"family": "Bernoulli" if kind is CATEGORIES else CATEGORIES.label}


def register_release(kind: Kind) -> None:
    """Register the mechanism, which has no control here, where none is known yet, or only one of other cells."""
    state = st.session_state
    is_known = "synthesizer" in ui.release() and not has_other_cells(ui.release(), kind)
    for name, value in {"synthesizer": kind.mechanism, "prior": "exact"}.items():
        state.pop(PREFIX + name, None)
        if not (is_known or kind.conditioned):
            state[PREFIX + name] = value
            ui.register_shown(PREFIX + name)


def show_curves(question: PromiseQuestion, needed: Needed) -> None:
    """Draw the picture as far as it is known, and below it the choice of its axis."""
    picture = st.container()
    name = ui.choice(
        "Picture", list(details.AXES), f"{PREFIX}axis", widget=st.segmented_control, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    curves, is_complete = details.curves_of(question, details.AXES[name])
    kind = question.kind
    sets = question.sets
    with picture:
        chart = curves_chart(curves, sets=sets, together=dict(needed.exact) if sets > 1 else {})
        quantity = kind.axis[0].upper() + kind.axis[1:]
        alt = f"{quantity} of every method {name}: exact as lines, pure ε dotted, printed bounds dashed."
        ui.show_figure(chart, f"{PREFIX}curves", alt, height=430, hero=True)
        unsafe = "below" if kind.quantity.larger_is_safer else "above"
        caption = ui.page_note("minimum_priors", "The curves", unsafe=unsafe)
        if sets > 1:
            caption += f" Lines are for one set; diamonds: what {sets} sets need together."
        if not is_complete:
            caption += f" Exact at {np.isfinite(curves.lines[0].values).sum()} points so far, more to come."
        st.caption(caption)


def show_table(question: PromiseQuestion, needed: Needed) -> None:
    """Draw what every method needs and what that costs, and what is beyond reach."""
    setting = question.setting
    ui.table(*needed_table(question, needed))
    caption = ui.page_note(
        "minimum_priors", f"The table of {details.texts_of(question)}",
        **{name: readable(getattr(setting, name)) for name in ("epsilon", "sigma", "sigma0")},
        which="second" if setting.delta > 0 else "first",
        plain=readable(math.sqrt(question.p * (1 - question.p) / setting.n), 3),
        composed=" Several sets: their losses are added exactly." if question.sets > 1 else "",
    )  # fmt: skip
    beyond = f" Beyond reach: {' '.join(dict.fromkeys(needed.refused.values()))}" if needed.refused else ""
    st.caption(f"{caption}{beyond} {others_in_words(question)}".strip())


def page() -> None:
    """Draw the page."""
    ui.open_page(PRIORS, SETTINGS, take_release)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(PRIORS, SETTINGS, controls, details.needed_of)
    needed, _ = details.needed_of(question)
    with parts.results:
        ui.show_problems()
        ui.answer(*needed_in_words(question, needed.pure[HEADLINE.key], needed.exact[HEADLINE.key]))
        show_curves(question, needed)
    with parts.details:
        show_table(question, needed)
        if question.kind.binary:
            ui.release_links(PRIORS, extra={"synthesizer": question.kind.mechanism, "prior": "exact"})
        ui.look_closer(PRIORS, details.sections_of(question.kind), question)
    ui.close_page(PRIORS, SETTINGS)
