"""Budget: how many sets should share a promised ε, and how two statistics should."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts import comparison as charts
from dpviz.comparisons import DATA_KINDS
from dpviz.comparisons.analysis import INTERVAL_MEASURES
from dpviz.comparisons.budget import BUDGET_SPLITS, BudgetSplit, SplitOverSets, SplitResults
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.core.formatting import format_number
from dpviz.export.tables import budget_csv
from dpviz.export.templates import render
from pages import ui
from pages.ui import comparison as shared
from pages.ui.navigation import BUDGET

PREFIX = BUDGET.prefix
PRESETS = ui.declared_presets("budget")
METHODS = {
    spending_key: {key: methods for key, kind in DATA_KINDS.items() if (methods := spending.methods(kind))}
    for spending_key, spending in BUDGET_SPLITS.items()
}
"""Labels by key of the methods that can be divided, by what is divided over and the kind of data."""


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Division of a carried release over sets: its kind of data and its method."""
    keys = shared.kind_and_method(values, is_divided=True)
    if keys is None:
        return {}
    kind, method = keys
    return {"spending": SplitOverSets.key, "sets_kind": kind, f"sets_{kind}_method": method}


def controls() -> BudgetSplit:
    st.session_state.pop(f"{PREFIX}synthesizer", None)
    places = ui.control_places(PRESETS, widget=st.selectbox, take_release=take_release, help=ui.words("presets"))
    labels = {key: spending.over for key, spending in BUDGET_SPLITS.items()}
    spending = ui.segmented("spending", labels, place=places.first, help=ui.words("spending"))
    epsilon = ui.number_control("epsilon", place=places.first)

    # Every division remembers its own kind of data, and every kind its own method
    kind = ui.choice(f"{spending}_kind", {key: DATA_KINDS[key] for key in METHODS[spending]}, place=places.main)
    key = ui.choice(f"{spending}_{kind}_method", METHODS[spending][kind], place=places.main, help=ui.words("method"))
    method = DATA_KINDS[kind].method(key)
    if isinstance(method, BinaryMethod) and not shared.release_problem(is_divided=True):
        # The reader's release is made by this method
        st.session_state[f"{PREFIX}synthesizer"] = method.synthesizer_type.key
        ui.register_shown(f"{PREFIX}synthesizer")

    # The data and their analysis
    sets = {} if spending == SplitOverSets.key else ui.number_controls("sets", place=places.main)
    data = shared.data_controls(places, DATA_KINDS[kind], [method], places.first)
    analysis = shared.analysis_controls(places.folded, **sets)
    return BUDGET_SPLITS[spending](data=data, method=method, epsilon=epsilon, analysis=analysis)


def _show_pictures(spending: BudgetSplit, results: SplitResults) -> str:
    """Draw the measures that are chosen, as far as they are known, and return what the caption says of them."""
    measures = charts.drawn_measures(spending)
    chosen = shared.choose_measures(measures)
    intervals = any(key in INTERVAL_MEASURES for key in chosen)
    if intervals and not spending.data.simulated:  # a simulation has them anyway
        results = shared.progress_or_problem(spending.stream, intervals=True)[0] or results
    chart = partial(charts.division_picture, spending, results)
    shared.show_measures(measures, chosen, chart, [spending.method.label, charts.ONE_SET])
    caption = ui.words("pictures", repetitions=format_number(spending.analysis.repetitions))
    if intervals:
        n_known = shared.n_intervals(results.outcomes.values())
        caption += f" {ui.words('intervals', done=n_known, all=len({*spending.compared, *results.outcomes}))}"
    return f"{caption} {shared.release_problem(is_divided=True)}".strip()


def _show_downloads(spending: BudgetSplit) -> None:
    fractions = ", with fractions for points" if spending.data.chosen_estimand.is_share else ""
    script = (render("export/budget_script.txt", split=spending), f"the numbers of the pictures{fractions}")
    shared.show_files("budget", "All measures at every division, CSV", spending, budget_csv, script)


SECTIONS = {"Download": _show_downloads, "Why, and sources": lambda _: st.markdown(ui.page_text("budget", "why"))}
MEASURES = [*charts.DIVIDED_MEASURES, *(key for kind in DATA_KINDS.values() for key in kind.divided_between)]
NUMBERS = shared.compared_numbers("budget")
SETTINGS = {
    **shared.comparison_settings(NUMBERS, PREFIX, MEASURES),
    f"{PREFIX}spending": ui.choice_setting(BUDGET_SPLITS, SplitOverSets.key, "Divide ε over"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}
for _spending, _kinds in METHODS.items():
    SETTINGS[f"{PREFIX}{_spending}_kind"] = ui.choice_setting(_kinds, next(iter(_kinds)), "Kind of data")
    for _kind, _methods in _kinds.items():
        _key = f"{PREFIX}{_spending}_{_kind}_method"
        SETTINGS[_key] = ui.choice_setting(_methods, next(iter(_methods)), "Method")


def page() -> None:
    with ui.page_frame(BUDGET, SETTINGS, controls, shared.first_result, take_release) as (spending, parts):
        latest, is_complete, problem = shared.progress_or_problem(spending.stream, intervals=False)
        results = latest or shared.first_result(spending)
        with parts.results:
            ui.answer(*spending.answer(results, is_final=results.all_tried or is_complete))
            caption = _show_pictures(spending, results)
        with parts.details:
            st.caption(f"{caption} {problem}".strip())
            ui.table(*spending.table(results), "The smallest error and the papers' divisions")
            ui.note(spending.note(results))
            if isinstance(spending.method, BinaryMethod):  # the other pages know no other data
                # The best division is not the reader's release but is named; α is that of one set
                best = results.best
                card = spending.method.synthesizer_type
                values = {"synthesizer": card.key, "sets": int(best), "prior": "pure"}
                if card.protected_by == ("alpha",):  # for pages without a rule for the prior
                    values["alpha"] = spending.method.protection(spending.data, spending.epsilon / best)["alpha"]
                ui.release_links(f"{spending.method.label} with {spending.name_of(best)} on", values)
            ui.look_closer(SECTIONS, spending)
