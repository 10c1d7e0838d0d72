"""Compare synthesizers: bias, error, coverage, width and usable share of every method, on equal terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts import outcomes
from dpviz.charts.comparison import comparison_height
from dpviz.charts.html import by_reason
from dpviz.comparisons import DATA_KINDS, TERMS, BinaryData, Compared, Comparison, MixedData, UnknownVariance
from dpviz.comparisons.asked_numbers import compared_numbers
from dpviz.comparisons.binary_base import OneProportion
from dpviz.comparisons.comparison import LIMITED
from dpviz.comparisons.ranking import Ranking
from dpviz.comparisons.terms import PROMISES
from dpviz.core.parameters import DELTA, readable
from dpviz.core.wording import percent
from dpviz.study.compared import study_outcomes
from dpviz.study.in_words import compared_sentence
from pages import ui
from pages.details import compare_synthesizers as details
from pages.ui import comparison as comparison_ui
from pages.ui.navigation import COMPARE

PREFIX = COMPARE.prefix
FIRST = replace(
    PROMISES, name="first", symbol="", title="Smallest ε in the pictures", default=0.01, slider_minimum=math.exp(-10),
    slider_maximum=10.0, private_end="neither", help="Where the pictures begin.",
)  # fmt: skip
LAST = replace(
    FIRST, name="last", title="Largest ε in the pictures", default=100.0, slider_minimum=0.1,
    slider_maximum=math.exp(5), help="Where the pictures end.",
)  # fmt: skip
NUMBERS = compared_numbers(
    "The privacy loss of all sets together at which the methods are ranked.",
    delta=replace(DELTA, default=0.0, maximum=0.5, slider_maximum=0.5), first=FIRST, last=LAST,
)  # fmt: skip
SETTINGS = {
    **comparison_ui.comparison_settings(NUMBERS, PREFIX, outcomes.COMPARED_MEASURES),
    f"{PREFIX}kind": ui.choice_setting(DATA_KINDS, BinaryData.key, "Kind of data"),
    **{
        f"{PREFIX}{key}_methods": ui.choices_setting(
            [method.key for method in kind.methods], kind.usual_keys(), "Methods"
        )
        for key, kind in DATA_KINDS.items()
    },
    f"{PREFIX}terms": ui.choice_setting(TERMS, "promise", "Compare at"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
}

PRINTED: dict[str, Any] = {
    "sets": 10, "epsilon": 1.0, "terms": "promise", "rule": "reiter_2003", "level": 0.95, "first": math.exp(-10),
    "last": math.exp(5),
}  # fmt: skip
STUDY_1 = PRINTED | {"kind": "binary", "binary_methods": BinaryData.usual_keys(), "n": 100, "p": 0.25}
STUDY_2 = PRINTED | {
    "kind": "gaussian", "gaussian_methods": UnknownVariance.usual_keys(), "gaussian_estimand": "mean", "mean": 0.0,
    "sigma": 1.0, "low": -3.0, "high": 4.0,
}  # fmt: skip
BOOTSTRAPS = ["original", "perturbed_histogram_safe", "bootstrap_sanitize", "sanitize_bootstrap"]
TABLE_1A = STUDY_1 | {"binary_methods": ["original", "modips"], "first": 0.5, "last": 100.0}
TABLE_1B = STUDY_2 | {
    "kind": "gaussian_known_variance", "gaussian_known_variance_methods": ["original", "modips"],
    "gaussian_known_variance_estimand": "mean", "low": -4.0, "first": 0.5, "last": 100.0,
}  # fmt: skip
STUDY_3 = PRINTED | {
    "kind": "mixed", "mixed_methods": MixedData.usual_keys(), "n": 1000, "mean": 0.0, "sigma": 1.0, "low": -4.0,
    "high": 4.0, "cells": 24, "correlation": 0.5, "first": math.exp(-2), "last": 1000.0,
}  # fmt: skip
SIZES = (40, 100, 1000)  # n of the first two studies
MOMENTS = ("mean", "variance")
PRESETS = {
    **{f"Bowen & Liu 1: n = {n:,}, p = {p}": STUDY_1 | {"n": n, "p": p} for n in SIZES for p in (0.15, 0.25, 0.5)},
    "Bowen & Liu 1, one set": STUDY_1 | {"sets": 1},
    "Bowen & Liu 1, equal real privacy": STUDY_1 | {"terms": "privacy", "delta": 0.0},
    **{f"Bowen & Liu 2: n = {n:,}, {moment}": STUDY_2 | {"n": n, "gaussian_estimand": moment}
       for moment in MOMENTS for n in SIZES},
    **{f"Bowen & Liu 2, ±4: n = {n:,}, {moment}": STUDY_2 | {"n": n, "gaussian_estimand": moment, "low": -4.0}
       for moment in MOMENTS for n in SIZES},
    **{f"Bowen & Liu 3: {estimand.label}": STUDY_3 | {"mixed_estimand": estimand.key}
       for estimand in MixedData.estimands},
    **{f"Liu, Table 1a: n = {n:,}, p = {p}": TABLE_1A | {"n": n, "p": p} for n in (100, 1000) for p in (0.5, 0.1)},
    **{f"Liu, Table 1b: n = {n}": TABLE_1B | {"n": n} for n in (10, 100)},
    "Liu, Figure 5: bootstrap": STUDY_2 | {"gaussian_methods": BOOTSTRAPS, "n": 100},
}  # fmt: skip
"""What both papers simulate, and what else they could have compared; the note "presets" says which figure is which."""


def _note(section: str, **values: object) -> str:
    return ui.page_note("compare_synthesizers", section, **values)


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Kind of data of a carried release, and the methods that are shown with its own among them."""
    try:
        method = comparison_ui.method_of(values["synthesizer"])
    except (KeyError, ValueError):
        return {}
    kind = comparison_ui.kind_of(values)
    name = f"{kind.key}_methods"
    shown = st.session_state.get(PREFIX + name) or kind.usual_keys()
    return {"kind": kind.key} | ({} if method.key in shown else {name: [*shown, method.key]})


def controls() -> Comparison:
    """Draw the controls and return the comparison that they ask for."""
    places = ui.control_places()

    def number(name: str, place: Any) -> Any:
        return ui.number_control(NUMBERS, PREFIX, name, place=place)

    ui.presets(
        PRESETS, PREFIX, place=places.first, widget=st.selectbox, take_release=take_release,
        placeholder="a scenario of the papers", help=_note("presets"),
    )  # fmt: skip
    epsilon = number("epsilon", places.first)
    sets = number("sets", places.first)

    # Methods of one kind of data
    kinds = {key: kind.label for key, kind in DATA_KINDS.items()}
    kind = DATA_KINDS[ui.choice("Kind of data", kinds, f"{PREFIX}kind", place=places.main)]
    labels = {method.key: method.label for method in kind.methods}
    keys = ui.choices("Methods", labels, f"{PREFIX}{kind.key}_methods", place=places.main, help=_note("chosen"))
    methods = tuple(kind.method(key) for key in keys)

    # The terms on which they meet
    labels = {key: terms.label for key, terms in TERMS.items()}
    key = ui.choice("Compare at", labels, f"{PREFIX}terms", place=places.main, widget=st.radio, help=_note("terms"))
    terms = TERMS[key](**{name: number(name, places.main) for name in TERMS[key].asks})

    # The data, their analysis, and the pictures
    data = comparison_ui.data_controls(NUMBERS, PREFIX, places, kind, methods, places.main)
    analysis = comparison_ui.analysis_controls(NUMBERS, PREFIX, places.more, _note("rule"), sets)
    span = (number("first", places.more), number("last", places.more))
    return _checked(Comparison(data, methods, analysis, terms, epsilon, span))


def _checked(comparison: Comparison) -> Comparison:
    """The same, or a ValueError where nothing can be ranked or drawn."""
    if all(method.reference for method in comparison.methods):
        raise ValueError("Choose at least one method that promises privacy.")
    first, last = comparison.span
    if first >= last:
        ends = f"{readable(first)} and {readable(last)}"
        raise ValueError(f"The smallest ε in the pictures must be below the largest; got {ends}.")
    return comparison


def show_pictures(comparison: Comparison, ranking: Ranking) -> str:
    """Draw the measures that are chosen, as far as they are known, and return what the caption says of them."""
    is_added_known = any(outcome.release_error.value >= 0 for outcome in ranking.outcomes)
    measures = outcomes.comparison_measures(comparison, added=is_added_known)
    chosen = comparison_ui.choose_measures(PREFIX, measures)

    # The curves are the same at whatever ε the methods are ranked; what no picture shows is not computed
    intervals = outcomes.need_intervals(chosen)
    limits = tuple(measure for measure in LIMITED if measure in chosen)
    curves = replace(comparison, epsilon=comparison.span[0])
    found, _, problem = comparison_ui.progress_or_problem(curves.stream, intervals=intervals, limits=limits)
    if found is None:
        found = Compared({(outcome.method.key, outcome.epsilon): outcome for outcome in ranking.outcomes}, {})
    cells = st.session_state.get(details.STUDY) or ()
    studied = study_outcomes(cells, comparison)
    chart = partial(outcomes.comparison_picture, comparison, replace(found, further=studied), ranking)
    height = comparison_height([method.label for method in comparison.methods])
    comparison_ui.show_measures(PREFIX, measures, chosen, chart, height)

    # What the pictures show, how far they are, and what no mechanism can do better
    low, high = (readable(end, 3) for end in comparison.span)
    n_points = len(comparison.epsilons)
    parts = [_note("pictures", points=n_points, low=low, high=high)]
    if intervals:
        n_known = sum(not math.isnan(outcome.coverage.value) for outcome in found.outcomes.values())
        parts.append(_note("intervals", done=n_known, all=n_points * len(comparison.methods)))
    first = chosen[0]
    if outcomes.drawn_limit(found, first) if first in LIMITED else is_added_known:
        parts.append(_note(f"limit_{first}", level=percent(comparison.analysis.level, 8)))
    parts += [compared_sentence(cells, len(studied))] if cells else []
    return " ".join(filter(None, [*parts, problem, comparison_ui.release_problem(comparison_ui.method_of)]))


def show_table(comparison: Comparison, ranking: Ranking) -> None:
    """Draw the methods in their order, and say what keeps others from having the smallest error."""
    ui.heading(f"The methods at ε = {readable(comparison.epsilon, 4)}, the smallest error first, those not ranked last")
    ui.table(*ranking.table, "The methods in order")
    rule = comparison.analysis.rule_for(comparison.analysis.sets)
    st.caption(_note("table", rule=rule.label, level=percent(comparison.analysis.level, 8)))
    if ranking.further:
        ui.note(ranking.further)
    if absent := by_reason(ranking.absent):
        ui.note(_note("left_out", names=absent, terms=comparison.terms.label))


def page() -> None:
    """Draw the page."""
    ui.open_page(COMPARE, SETTINGS, take_release)
    parts = ui.columns()
    with parts.controls:
        comparison = ui.last_valid(COMPARE, SETTINGS, controls, comparison_ui.first_result)
    ranking = Ranking.of(comparison, ui.latest(comparison.rank) or comparison_ui.first_result(comparison))
    with parts.results:
        ui.show_problems()
        ui.answer(*ranking.answer)
        caption = show_pictures(comparison, ranking)
    with parts.details:
        st.caption(caption)
        show_table(comparison, ranking)
        if isinstance(comparison.data, OneProportion):  # the other pages know no other data
            ui.release_links(COMPARE)
        ui.look_closer(COMPARE, details.SECTIONS, comparison)
    ui.close_page(COMPARE, SETTINGS)
