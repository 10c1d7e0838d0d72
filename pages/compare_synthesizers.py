"""Compare synthesizers: bias, error, coverage, width and usable share of every method, on equal terms."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts import outcomes
from dpviz.charts.html import by_reason
from dpviz.comparisons import DATA_KINDS, TERMS, BinaryData, Compared, Comparison
from dpviz.comparisons.asked_numbers import compared_numbers
from dpviz.comparisons.binary_base import OneProportion
from dpviz.comparisons.comparison import LIMITED
from dpviz.comparisons.ranking import Ranking
from dpviz.core.formatting import format_number, format_percent
from dpviz.study.compared import study_outcomes
from dpviz.study.in_words import compared_sentence
from pages import ui
from pages.details import compare_synthesizers as details
from pages.ui import comparison as shared
from pages.ui.navigation import COMPARE

PREFIX = COMPARE.prefix
NUMBERS = compared_numbers(
    "The privacy loss of all sets together at which the methods are ranked.",
    **ui.declared_numbers("compare_synthesizers"),
)
PRESETS = ui.declared_presets("compare_synthesizers")
SETTINGS = {
    **shared.comparison_settings(NUMBERS, PREFIX, outcomes.COMPARED_MEASURES),
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

page_note = partial(ui.page_note, "compare_synthesizers")


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Kind of data of a carried release, and the methods that are shown with its own among them."""
    keys = shared.kind_and_method(values, is_divided=False)
    if keys is None:
        return {}
    kind, method = keys
    shown = st.session_state.get(f"{PREFIX}{kind}_methods") or DATA_KINDS[kind].usual_keys()
    return {"kind": kind} | ({} if method in shown else {f"{kind}_methods": [*shown, method]})


def controls() -> Comparison:
    """Draw the controls and return the comparison that they ask for."""
    places = ui.control_places()
    number = partial(ui.number_control, NUMBERS, PREFIX)
    ui.presets(
        PRESETS, PREFIX, place=places.first, widget=st.selectbox, take_release=take_release,
        placeholder="a scenario of the papers", help=page_note("presets"),
    )  # fmt: skip
    epsilon = number("epsilon", place=places.first)
    sets = number("sets", place=places.first)

    # Methods of one kind of data, and the terms on which they meet
    kinds = {key: kind.label for key, kind in DATA_KINDS.items()}
    kind = DATA_KINDS[ui.choice("Kind of data", kinds, f"{PREFIX}kind", place=places.main)]
    labels = {method.key: method.label for method in kind.methods}
    keys = ui.choices("Methods", labels, f"{PREFIX}{kind.key}_methods", place=places.main, help=page_note("chosen"))
    methods = tuple(map(kind.method, keys))
    labels = {key: terms.label for key, terms in TERMS.items()}
    key = ui.choice("Compare at", labels, f"{PREFIX}terms", place=places.main, widget=st.radio, help=page_note("terms"))
    terms = TERMS[key](**{name: number(name, place=places.main) for name in TERMS[key].asks})

    # The data, their analysis, and the pictures
    data = shared.data_controls(NUMBERS, PREFIX, places, kind, methods, places.main)
    analysis = shared.analysis_controls(NUMBERS, PREFIX, places.more, page_note("rule"), sets=sets)
    span = (number("first", place=places.more), number("last", place=places.more))
    return Comparison(data, methods, analysis, terms, epsilon, span)


def show_pictures(comparison: Comparison, ranking: Ranking) -> str:
    """Draw the measures that are chosen, as far as they are known, and return what the caption says of them."""
    is_added_known = any(outcome.release_error.value >= 0 for outcome in ranking.outcomes)
    measures = outcomes.comparison_measures(comparison, added=is_added_known)
    chosen = shared.choose_measures(PREFIX, measures)
    first = chosen[0]

    # The curves are the same at whatever ε the methods are ranked; what no picture shows is not computed
    intervals = outcomes.need_intervals(chosen)
    limits = tuple(measure for measure in LIMITED if measure in chosen)
    curves = replace(comparison, epsilon=comparison.span[0])
    found, _, problem = shared.progress_or_problem(curves.stream, intervals=intervals, limits=limits)
    if found is None:
        found = Compared({(outcome.method.key, outcome.epsilon): outcome for outcome in ranking.outcomes}, {})
    cells = st.session_state.get(details.STUDY) or ()
    studied = study_outcomes(cells, comparison)
    chart = partial(outcomes.comparison_picture, comparison, replace(found, further=studied), ranking)
    shared.show_measures(PREFIX, measures, chosen, chart, [method.label for method in comparison.methods])

    # What the pictures show, how far they are, and what no mechanism can do better
    low, high = (format_number(end, 3) for end in comparison.span)
    n_points = len(comparison.epsilons)
    caption = [page_note("pictures", points=n_points, low=low, high=high)]
    if intervals:
        n_known = shared.n_intervals(found.outcomes.values())
        caption.append(page_note("intervals", done=n_known, all=n_points * len(comparison.methods)))
    if outcomes.drawn_limit(found, first) if first in LIMITED else is_added_known:
        caption.append(page_note(f"limit_{first}", level=format_percent(comparison.analysis.level, 8)))
    if cells:
        caption.append(compared_sentence(cells, len(studied)))
    return " ".join(filter(None, [*caption, problem, shared.release_problem(is_divided=False)]))


def show_table(comparison: Comparison, ranking: Ranking) -> None:
    """Draw the methods in their order, and say what keeps others from having the smallest error."""
    ui.heading(
        f"The methods at ε = {format_number(comparison.epsilon, 4)}, the smallest error first, those not ranked last"
    )
    ui.table(*ranking.table, "The methods in order")
    rule = comparison.analysis.rule_for(comparison.analysis.sets)
    st.caption(page_note("table", rule=rule.label, level=format_percent(comparison.analysis.level, 8)))
    if ranking.further:
        ui.note(ranking.further)
    if absent := by_reason(ranking.absent):
        ui.note(page_note("left_out", names=absent, terms=comparison.terms.label))


def page() -> None:
    """Draw the page."""
    ui.open_page(COMPARE, SETTINGS, take_release)
    parts = ui.columns()
    with parts.controls:
        comparison = ui.last_valid(COMPARE, SETTINGS, controls, shared.first_result)
    ranking = Ranking.of(comparison, ui.latest(comparison.rank) or shared.first_result(comparison))
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
