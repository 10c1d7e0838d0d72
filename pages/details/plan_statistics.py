"""The list of statistics of the page Plan: a line for each, and the fields of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import streamlit as st

from dpviz.comparisons import CountData
from dpviz.core.plain import one_line, plain
from dpviz.desk.stated import form_value, protection_names
from dpviz.desk.texts import capitalized
from dpviz.plans import NEARNESS, PLAN_RELEASES, PLAN_STATISTICS, ReleasePlan, YesNoShare
from dpviz.plans.forms import NEW_LIMIT, POINTS, as_kind, form_parameters, form_values, statistic_of_form
from dpviz.plans.plan import MOST_STATISTICS
from dpviz.plans.statistic import ANY_MECHANISM, LONGEST_PLAN_NAME, Statistic
from dpviz.plans.told import statistic_in_short
from pages import ui
from pages.ui.navigation import CURATOR, PLAN

PREFIX = PLAN.prefix
STATISTICS = f"{PREFIX}statistics"
WHICH = f"{PREFIX}which"
FIELD = f"{PREFIX}one_"
"""What the keys of the fields begin with; they are no settings of the URL."""

PLACES = [str(place) for place in range(1, MOST_STATISTICS + 1)]
FOLDED = ("lowest", "highest", "suppress_below", "mechanism", "group")
"""Fields that stand under "More about it"."""

DESK_LIMITS = {
    "typical": ("root_mean_squared_error.coverage", "most_error", 1.0),
    "within": ("mean_width.coverage", "points", POINTS),
}
"""By measure the limits on the curator's desk, the number that states it there, and its factor."""


def edit_statistics(plan: ReleasePlan) -> None:
    """Draw the list of statistics, buttons that make it longer or shorter, and the fields of the chosen one."""
    statistics = st.session_state[STATISTICS]
    ui.heading("The statistics")
    left, right = st.container(key=f"{PREFIX}list").columns([1, 1.3], gap="medium")
    with left:
        lines = {PLACES[place]: plain(statistic_in_short(statistic)) for place, statistic in enumerate(statistics)}
        if st.session_state[WHICH] not in lines and not st.session_state["is_linked"]:
            st.session_state[WHICH] = PLACES[0]  # a preset has made the list shorter
        place = PLACES.index(ui.choice("Statistics of the plan", lines, WHICH, widget=st.radio))
        with st.container(horizontal=True):
            is_full = len(statistics) == MOST_STATISTICS
            is_last = len(statistics) == 1
            st.button("Add one", key=f"{FIELD}add", on_click=_add, disabled=is_full)
            st.button("Remove this one", key=f"{FIELD}remove", on_click=_remove, disabled=is_last)
        ui.page_link(CURATOR, desk_settings(plan, statistics[place]), ui.page_note("plan", "alone"))
    with right:
        _fill_fields(place, statistics[place])
        _show_fields(plan, statistics[place])


def desk_settings(plan: ReleasePlan, statistic: Statistic) -> dict[str, Any]:
    """Settings of the curator's desk for a single statistic; none where the desk does not know such."""
    n = plan.rows_of(statistic)
    is_small = n <= CountData.numbers()["n"].maximum
    if not isinstance(statistic, YesNoShare) or statistic.measure not in DESK_LIMITS or not is_small:
        return {}
    accuracy, name, factor = DESK_LIMITS[statistic.measure]
    return {
        "kind": CountData.key, "n": n, "lowest_p": statistic.lowest, "highest_p": statistic.highest,
        "protect": plan.protection.key, "accuracy": accuracy, name: float(f"{factor * statistic.limit:.12g}"),
        **promised_numbers(plan),
    }  # fmt: skip


def promised_numbers(plan: ReleasePlan) -> dict[str, float]:
    """Numbers with which the promise of a plan is stated, by name."""
    protection = plan.protection
    names = protection_names(protection.key)
    return {form_name: form_value(form_name, getattr(protection, name)) for form_name, name in names.items()}


def _show_fields(plan: ReleasePlan, statistic: Statistic) -> None:
    """Draw the fields of a statistic, and why its last change was refused."""
    if refusal := st.session_state[f"{FIELD}refused"]:
        ui.problem(refusal)
    groups = dict.fromkeys(["", *dict(plan.groups), statistic.group])
    options = {
        "kind": {key: kind.label for key, kind in PLAN_STATISTICS.items()},
        "measure": {key: measure.label for key, measure in NEARNESS.items()},
        "mechanism": {ANY_MECHANISM: "whichever is best"}
        | {
            key: release.label
            for key, release in PLAN_RELEASES.items()
            if key == statistic.mechanism or not plan.unfit(release, statistic)
        },
        "group": {name: one_line(name) or "all rows" for name in groups},
    }
    numbers = form_parameters(type(statistic))
    names = dict.fromkeys(["name", "kind", "measure", "limit", *numbers, "mechanism", "group"])
    if len(groups) == 1:
        del names["group"]
    _draw_fields([name for name in names if name not in FOLDED], statistic, options)
    more = st.expander("More about it", key=f"{FIELD}more", on_change="rerun")
    if more.open:
        with more:
            _draw_fields([name for name in FOLDED if name in names], statistic, options)


LABELS = {"kind": "Kind", "measure": "What is limited", "mechanism": "Mechanism", "group": "Rows of the group"}


def _draw_fields(names: Sequence[str], statistic: Statistic, options: dict[str, dict[str, str]]) -> None:
    """Draw fields in two columns, each a choice, a number or the name."""
    parameters = form_parameters(type(statistic))
    columns = st.columns([1.3, 1])  # "Typical error (root mean squared error)" in full
    for place, name in enumerate(names):
        rest: dict[str, Any] = {"key": FIELD + name, "on_change": _take_fields, "persist_state": "session"}
        with columns[place % 2]:
            if name in options:
                labels = {key: capitalized(label) for key, label in options[name].items()}
                st.selectbox(LABELS[name], list(labels), format_func=labels.__getitem__, **rest)
            elif name in parameters:
                parameter = parameters[name]
                rest["help"] = f"{parameter.help} Accepted: {parameter.domain}.".strip()
                rest |= {"step": 1} if parameter.integer else {"format": "%.10g"}
                st.number_input(capitalized(parameter.title), value=None, **rest)
            else:
                st.text_input("Name", max_chars=LONGEST_PLAN_NAME, **rest)


def _fill_fields(place: int, statistic: Statistic) -> None:
    """Set the fields to a statistic where they were about another one; what was refused stays in its box."""
    state = st.session_state
    if state.get(f"{FIELD}filled") != (place, statistic):
        values = form_values(statistic) | {"filled": (place, statistic), "refused": ""}
        state.update({FIELD + name: value for name, value in values.items()})


def _take_fields() -> None:
    """Put what the fields say into the list; a refusal is noted, and the list stays."""
    state = st.session_state
    place, statistic = state[f"{FIELD}filled"]
    values = {name: state.get(FIELD + name, value) for name, value in form_values(statistic).items()}
    kind = PLAN_STATISTICS[values["kind"]]
    state[f"{FIELD}refused"] = ""
    try:
        changed = statistic_of_form(values) if isinstance(statistic, kind) else as_kind(statistic, kind)
    except ValueError as error:
        state[f"{FIELD}refused"] = str(error)
    else:
        _set_list([*state[STATISTICS][:place], changed, *state[STATISTICS][place + 1 :]], place)


def _add() -> None:
    statistics = st.session_state[STATISTICS]
    names = {statistic.name for statistic in statistics}
    name = next(name for name in map("Statistic {}".format, count(len(statistics) + 1)) if name not in names)
    _set_list([*statistics, YesNoShare(name=name, limit=NEW_LIMIT)], len(statistics))


def _remove() -> None:
    statistics = st.session_state[STATISTICS]
    place = PLACES.index(st.session_state[WHICH])
    _set_list([*statistics[:place], *statistics[place + 1 :]], max(place - 1, 0))


def _set_list(statistics: Sequence[Statistic], place: int) -> None:
    """Make these the statistics, with the one at `place` chosen."""
    st.session_state[STATISTICS] = tuple(statistics)
    st.session_state[WHICH] = PLACES[place]
