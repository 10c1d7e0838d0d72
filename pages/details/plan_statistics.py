"""The list of statistics of the page Plan: a line for each, and the fields of the chosen one."""

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any

import streamlit as st

from dpviz.core.escape import escape_markdown, single_line
from dpviz.desk.texts import capitalized
from dpviz.plans import NEARNESS, PLAN_RELEASES, PLAN_STATISTICS, ReleasePlan, YesNoShare, forms
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

LABELS = {"kind": "Kind", "measure": "What is limited", "mechanism": "Mechanism", "group": "Rows of the group"}


def edit_statistics(plan: ReleasePlan) -> None:
    """Draw the list of statistics, buttons that make it longer or shorter, and the fields of the chosen one."""
    state = st.session_state
    statistics = state[STATISTICS]
    ui.heading("The statistics")
    left, right = st.container(key=f"{PREFIX}list").columns([1, 1.3], gap="medium")
    with left:
        lines = {
            PLACES[place]: escape_markdown(statistic_in_short(statistic)) for place, statistic in enumerate(statistics)
        }
        if state[WHICH] not in lines and not state["is_linked"]:
            state[WHICH] = PLACES[0]  # a preset has made the list shorter
        place = PLACES.index(ui.choice("Statistics of the plan", lines, WHICH, widget=st.radio))
        with st.container(horizontal=True):
            st.button("Add one", key=f"{FIELD}add", on_click=_add, disabled=len(statistics) == MOST_STATISTICS)
            st.button("Remove this one", key=f"{FIELD}remove", on_click=_remove, disabled=len(statistics) == 1)
        ui.page_link(CURATOR, forms.desk_settings(plan, statistics[place]), ui.page_note("plan", "alone"))
    with right:
        _show_fields(plan, place)


def _show_fields(plan: ReleasePlan, place: int) -> None:
    """Draw the fields of a statistic, and why its last change was refused."""
    state = st.session_state
    statistic: Statistic = state[STATISTICS][place]
    if state.get(f"{FIELD}filled") != (place, statistic):  # else what was refused stays in its box
        values = forms.form_values(statistic) | {"filled": (place, statistic), "refused": ""}
        state.update({FIELD + name: value for name, value in values.items()})
    if state[f"{FIELD}refused"]:
        ui.problem(state[f"{FIELD}refused"])

    # What the fields offer
    releases = {
        key: release.label
        for key, release in PLAN_RELEASES.items()
        if key == statistic.mechanism or not plan.unfit(release, statistic)
    }
    groups = dict.fromkeys(["", *dict(plan.groups), statistic.group])
    options = {
        "kind": {key: kind.label for key, kind in PLAN_STATISTICS.items()},
        "measure": {key: measure.label for key, measure in NEARNESS.items()},
        "mechanism": {ANY_MECHANISM: "whichever is best"} | releases,
        "group": {name: single_line(name) or "all rows" for name in groups},
    }
    numbers = forms.form_parameters(type(statistic))
    last = ["mechanism", "group"] if len(groups) > 1 else ["mechanism"]
    names = dict.fromkeys(["name", "kind", "measure", "limit", *numbers, *last])
    _draw_fields([name for name in names if name not in FOLDED], statistic, options)
    more = st.expander("More about it", key=f"{FIELD}more", on_change="rerun")
    if more.open:
        with more:
            _draw_fields([name for name in FOLDED if name in names], statistic, options)


def _draw_fields(names: Collection[str], statistic: Statistic, options: Mapping[str, Mapping[str, str]]) -> None:
    """Draw fields in two columns, each a choice, a number or the name."""
    parameters = forms.form_parameters(type(statistic))
    columns = st.columns([1.3, 1])  # "Typical error (root mean squared error)" in full
    for place, name in enumerate(names):
        rest: dict[str, Any] = {"key": FIELD + name, "on_change": _take_fields, "persist_state": "session"}
        if name in options:
            labels = {key: capitalized(label) for key, label in options[name].items()}
            columns[place % 2].selectbox(LABELS[name], list(labels), format_func=labels.__getitem__, **rest)
        elif name in parameters:
            parameter = parameters[name]
            rest |= {"step": 1} if parameter.integer else {"format": "%.10g"}
            help = f"{parameter.help} Accepted: {parameter.domain}.".strip()
            columns[place % 2].number_input(capitalized(parameter.title), value=None, help=help, **rest)
        else:
            columns[place % 2].text_input("Name", max_chars=LONGEST_PLAN_NAME, **rest)


def _take_fields() -> None:
    """Put what the fields say into the list; a refusal is noted, and the list stays."""
    state = st.session_state
    place, statistic = state[f"{FIELD}filled"]
    values = {name: state.get(FIELD + name, value) for name, value in forms.form_values(statistic).items()}
    kind = PLAN_STATISTICS[values["kind"]]
    state[f"{FIELD}refused"] = ""
    try:
        is_same_kind = isinstance(statistic, kind)
        changed = forms.statistic_of_form(values) if is_same_kind else forms.as_kind(statistic, kind)
    except ValueError as error:
        state[f"{FIELD}refused"] = str(error)
        return
    _set_list([*state[STATISTICS][:place], changed, *state[STATISTICS][place + 1 :]], place)


def _add() -> None:
    statistics = st.session_state[STATISTICS]
    names = {statistic.name for statistic in statistics}
    name = next(name for name in map("Statistic {}".format, count(len(statistics) + 1)) if name not in names)
    _set_list([*statistics, YesNoShare(name=name, limit=forms.NEW_LIMIT)], len(statistics))


def _remove() -> None:
    statistics = st.session_state[STATISTICS]
    place = PLACES.index(st.session_state[WHICH])
    _set_list([*statistics[:place], *statistics[place + 1 :]], max(place - 1, 0))


def _set_list(statistics: Sequence[Statistic], place: int) -> None:
    """Make these the statistics, with the one at `place` chosen."""
    st.session_state[STATISTICS] = tuple(statistics)
    st.session_state[WHICH] = PLACES[place]
