"""Budget: how many sets should share a promised ε, and how two statistics should."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts import outcomes
from dpviz.charts.comparison import comparison_height
from dpviz.comparisons import DATA_KINDS, BinaryData
from dpviz.comparisons.asked_numbers import compared_numbers
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import SPENDINGS, OverSets, Spending, Spent
from dpviz.comparisons.division import Division
from dpviz.core.parameters import readable
from dpviz.desk.exports.comparison import budget_csv, budget_script
from pages import ui
from pages.ui import comparison as comparison_ui
from pages.ui.navigation import BUDGET

PREFIX = BUDGET.prefix
NUMBERS = compared_numbers("The privacy loss of everything that is released, which is divided here.")
METHODS = {
    (spending_key, kind_key): methods
    for spending_key, spending in SPENDINGS.items()
    for kind_key, kind in DATA_KINDS.items()
    if (methods := spending.methods(kind))
}
"""Labels by key of the methods that can be divided, by what is divided over and the kind of data."""

BESIDE = [estimand for kind in DATA_KINDS.values() for estimand in kind.divided_between]

LIU: dict[str, Any] = {"epsilon": 1.0, "level": 0.95, "rule": "reiter_2003"}
FIGURE_6_OF_NUMBERS = LIU | {
    "spending": "sets", "sets_kind": "gaussian_known_variance", "sets_gaussian_known_variance_method": "modips",
    "mean": 0.0, "sigma": 1.0, "low": -4.0,
}  # fmt: skip
FIGURE_6 = LIU | {"spending": "sets", "sets_kind": "binary", "sets_binary_method": "modips"}
FIGURE_8 = LIU | {
    "spending": "share", "sets": 10, "share_kind": "gaussian", "share_gaussian_method": "modips_split", "mean": 0.0,
    "sigma": 1.0, "low": -4.0,
}  # fmt: skip
SIZES = (100, 1000)  # n of both figures
PRESETS = {
    **{f"Liu, Figure 6: n = {n:,}, p = {p}": FIGURE_6 | {"n": n, "p": p} for p in (0.1, 0.5) for n in SIZES},
    **{f"Liu, {figure}: n = {n:,}, −4 to {high}": case | {"n": n, "high": float(high)}
       for figure, case in {"Figure 6": FIGURE_6_OF_NUMBERS, "Figure 8": FIGURE_8}.items()
       for high in (4, 5) for n in SIZES},
}  # fmt: skip
"""What Liu (2016) divides in sections 5.1 and 5.3."""


def _note(section: str, **values: object) -> str:
    return ui.page_note("budget", section, **values)


def divisible_method(synthesizer: str) -> BinaryMethod:
    """Method of a synthesizer whose ε can be divided over sets; a ValueError in a sentence where there is none."""
    method = comparison_ui.method_of(synthesizer)
    if problem := OverSets.unfit(BinaryData.fresh(), method):
        raise ValueError(problem)
    return method


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Division of a carried release over sets: its kind of data and its method."""
    try:
        method = divisible_method(values["synthesizer"])
    except (KeyError, ValueError):
        return {}
    kind = comparison_ui.kind_of(values).key
    return {"spending": OverSets.key, "sets_kind": kind, f"sets_{kind}_method": method.key}


def controls() -> Spending:
    """Draw the controls and return the division that they ask for."""
    places = ui.control_places()
    st.session_state.pop(f"{PREFIX}synthesizer", None)
    ui.presets(
        PRESETS, PREFIX, place=places.first, widget=st.selectbox, take_release=take_release,
        placeholder="a scenario of the papers", help=_note("presets"),
    )  # fmt: skip
    divisions = {key: spending.over for key, spending in SPENDINGS.items()}
    spending_key = ui.choice(
        "Divide ε over", divisions, f"{PREFIX}spending", place=places.first, widget=st.segmented_control, required=True,
        help=_note("spending"),
    )  # fmt: skip
    spending_type = SPENDINGS[spending_key]
    epsilon = ui.number_control(NUMBERS, PREFIX, "epsilon", place=places.first)

    # Every division remembers its own kind of data, and every kind its own method
    kinds = {key: kind.label for key, kind in DATA_KINDS.items() if (spending_key, key) in METHODS}
    kind = DATA_KINDS[ui.choice("Kind of data", kinds, f"{PREFIX}{spending_key}_kind", place=places.main)]
    method_key = ui.choice(
        "Method", METHODS[spending_key, kind.key], f"{PREFIX}{spending_key}_{kind.key}_method", place=places.main,
        help=_note("method"),
    )  # fmt: skip
    method = kind.method(method_key)
    if isinstance(method, BinaryMethod) and not comparison_ui.release_problem(divisible_method):
        # The reader's release is made by this method
        st.session_state[f"{PREFIX}synthesizer"] = method.synthesizer_type.key
        ui.register_shown(f"{PREFIX}synthesizer")

    # The data and their analysis
    sets = None
    if spending_type.asks_sets:
        sets = ui.number_control(NUMBERS, PREFIX, "sets", place=places.main)
    data = comparison_ui.data_controls(NUMBERS, PREFIX, places, kind, [method], places.first)
    analysis = comparison_ui.analysis_controls(NUMBERS, PREFIX, places.more, _note("rule"), sets)
    return spending_type(data=data, method=method, epsilon=epsilon, analysis=analysis)


def show_pictures(spending: Spending, found: Spent) -> str:
    """Draw the measures that are chosen, as far as they are known, and return what the caption says of them."""
    measures = outcomes.division_measures(spending)
    chosen = comparison_ui.choose_measures(PREFIX, measures)
    intervals = outcomes.need_intervals(chosen)
    parts = [_note("pictures", repetitions=readable(spending.analysis.repetitions))]
    if intervals and not spending.data.simulated:  # a simulation has them anyway
        found = comparison_ui.progress_or_problem(spending.stream, intervals=True)[0] or found
    height = comparison_height([spending.method.label, outcomes.ONE_SET])
    comparison_ui.show_measures(PREFIX, measures, chosen, partial(outcomes.division_picture, spending, found), height)
    if intervals:
        n_known = sum(not math.isnan(outcome.coverage.value) for outcome in found.outcomes.values())
        parts.append(_note("intervals", done=n_known, all=len({*spending.compared, *found.outcomes})))
    return " ".join(filter(None, [*parts, comparison_ui.release_problem(divisible_method)]))


def show_links(division: Division) -> None:
    """Draw links to what the other pages say of the best division, which is not the reader's release but is named."""
    method = division.asked.method
    if not isinstance(method, BinaryMethod):  # the other pages know no other data
        return
    best = division.found.best
    values = {"synthesizer": method.synthesizer_type.key, "sets": int(best), "prior": "pure"}
    fields = method.in_design(division.asked.data, division.asked.epsilon / best)
    if "alpha" in fields:  # of one set, for pages without a rule for the prior
        values["alpha"] = fields["alpha"]
    ui.release_links(BUDGET, f"{method.label} with {division.asked.name_of(best)} on", values)


def show_downloads(spending: Spending) -> None:
    """Every number of the pictures as CSV, and the script."""
    measures = (
        "All measures at every division, CSV", "budget.csv",
        lambda: budget_csv(deque(spending.stream(), maxlen=1).pop()),
    )  # fmt: skip
    script = ("budget.py", budget_script(spending), "the numbers of the pictures")
    ui.download_columns(BUDGET, [measures, comparison_ui.SLOW_FILE], script)


SECTIONS = {"Download": show_downloads, "Why, and sources": lambda _: st.markdown(ui.page_text("budget", "why"))}
SETTINGS = {
    **comparison_ui.comparison_settings(NUMBERS, PREFIX, [*outcomes.DIVIDED_MEASURES, *BESIDE]),
    f"{PREFIX}spending": ui.choice_setting(SPENDINGS, OverSets.key, "Divide ε over"),
    **{
        f"{PREFIX}{spending}_kind": ui.choice_setting(kinds, kinds[0], "Kind of data")
        for spending in SPENDINGS
        if (kinds := [kind for key, kind in METHODS if key == spending])
    },
    **{
        f"{PREFIX}{spending}_{kind}_method": ui.choice_setting(methods, next(iter(methods)), "Method")
        for (spending, kind), methods in METHODS.items()
    },
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}


def page() -> None:
    """Draw the page."""
    ui.open_page(BUDGET, SETTINGS, take_release)
    parts = ui.columns()
    with parts.controls:
        spending = ui.last_valid(BUDGET, SETTINGS, controls, comparison_ui.first_result)
    latest, is_complete, problem = comparison_ui.progress_or_problem(spending.stream, intervals=False)
    found = latest or comparison_ui.first_result(spending)
    division = Division(spending, found, is_final=found.every or is_complete)
    with parts.results:
        ui.show_problems()
        ui.answer(*division.answer)
        caption = show_pictures(spending, found)
    with parts.details:
        st.caption(f"{caption} {problem}".strip())
        ui.table(*division.table, "The smallest error and the papers' divisions")
        ui.note(division.further)
        show_links(division)
        ui.look_closer(BUDGET, SECTIONS, spending)
    ui.close_page(BUDGET, SETTINGS)
