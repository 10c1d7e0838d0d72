"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from dpviz.calibration.curves import Needed
from dpviz.calibration.data_kinds import KINDS, Kind, PromiseQuestion, Setting
from dpviz.calibration.text import HEADLINE, needed_in_words, others_in_words
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims.curves import first_prior_curves, stream_prior_curves
from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.desk.promise_tables import needed_table
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer
from pages import ui
from pages.details import minimum_priors as details
from pages.ui.navigation import PRIORS

PREFIX = PRIORS.prefix
NUMBERS = details.NUMBERS
PRESETS = ui.declared_presets("minimum_priors")
FAMILIES = {kind.label: kind for kind in KINDS.values()}
CATEGORIES = KINDS["categorical"]
SMALLEST_FAILURE = 1e-300  # a δ that is smaller, but not 0, is near the end of the floating-point numbers
CURVES_TIMEOUT_S = 0.04  # on a server that is not busy, the first exact curves are there by then
EXTENT = f"{PREFIX}extent"
SETTINGS = {
    f"{PREFIX}family": ui.choice_setting(FAMILIES, "Bernoulli", "Data"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}x": ui.hidden_number_setting(CONFIDENTIAL_COUNT),  # of the reader's release: this page draws nothing
    f"{PREFIX}seed": ui.hidden_number_setting(SEED),
    f"{PREFIX}axis": ui.choice_setting(details.AXES, "against δ", "Picture"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
}


def controls() -> PromiseQuestion:
    """Draw the controls and return the promise that they ask about."""
    places = ui.control_places()

    def numbers(*names: str, place: Any) -> dict[str, Any]:
        return {name: ui.number_control(NUMBERS, PREFIX, name, place=place) for name in names}

    ui.presets(PRESETS, PREFIX, place=places.first)
    kind = FAMILIES[ui.choice(
        "Data", list(FAMILIES), f"{PREFIX}family", place=places.main, widget=st.segmented_control, required=True,
        width="stretch",
        help="Rows that are 0 or 1, rows in one of k categories, or normal numbers with known variance.",
    )]  # fmt: skip

    # The promise, and the sizes of what keeps it
    values = numbers("epsilon", "delta", place=places.first) | numbers("n", *kind.numbers, place=places.main)
    more = {"p": NUMBERS["p"].default} | numbers("sets", place=places.main) | numbers(*kind.cost, place=places.more)
    values["m"] = ui.linked_number(NUMBERS, PREFIX, "m", values["n"], place=places.more)
    if 0 < values["delta"] < SMALLEST_FAILURE:
        allowed = f"0, or from {format_number(SMALLEST_FAILURE)} to {format_number(NUMBERS['delta'].maximum)}"
        raise ValueError(f"delta (allowed failure) must be {allowed}; got {format_number(values['delta'])}.")
    register_release(kind)
    m_is_n = bool(st.session_state[f"{PREFIX}m_is_n"])
    return PromiseQuestion(kind=kind, setting=Setting(**values), m_is_n=m_is_n, **more)


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
    kind, sets, axis = question.kind, question.sets, details.AXES[name]
    arguments = kind.key, question.setting, axis
    curves, is_complete = ui.progress(stream_prior_curves, *arguments, m_is_n=question.m_is_n, timeout=CURVES_TIMEOUT_S)
    if curves is None:
        of_one_set = needed if sets == 1 else None
        curves = first_prior_curves(*arguments, of_one_set, m_is_n=question.m_is_n)

    # Until curves are complete the picture has room for the last that were: its axes stay while a slider moves
    if is_complete:
        st.session_state[EXTENT] = {(kind.key, axis): curves.extent}
    reach = st.session_state.get(EXTENT, {}).get((kind.key, axis), ())
    together = dict(needed.exact) if sets > 1 else {}
    quantity = kind.axis[0].upper() + kind.axis[1:]
    alt = f"{quantity} of every method {name}: exact as lines, pure ε dotted, printed bounds dashed."
    caption = ui.page_note("minimum_priors", "The curves", unsafe="below" if kind.quantity.larger_is_safer else "above")
    if sets > 1:
        caption += f" Lines are for one set; diamonds: what {sets} sets need together."
    if not is_complete:
        caption += f" Exact at {np.isfinite(curves.lines[0].values).sum()} points so far, more to come."
    with picture:
        chart = curves_chart(curves, sets=sets, together=together, reach=reach)
        ui.show_figure(chart, f"{PREFIX}curves", alt, height=430, hero=True)
        st.caption(caption)


def show_table(question: PromiseQuestion, needed: Needed) -> None:
    """Draw what every method needs and what that costs, and what is beyond reach."""
    setting = question.setting
    ui.table(*needed_table(question, needed))
    caption = ui.page_note(
        "minimum_priors", f"The table of {details.texts_of(question)}",
        **{name: format_number(getattr(setting, name)) for name in ("epsilon", "sigma", "sigma0")},
        which="second" if setting.delta > 0 else "first",
        plain=format_number(math.sqrt(question.p * (1 - question.p) / setting.n), 3),
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
