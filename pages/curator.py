"""Curator's desk: from the limits that must hold to the designs that keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts.comparison import height_of
from dpviz.charts.html import by_reason
from dpviz.comparisons import CategoryData, CountData, DataKind
from dpviz.core.declarations import PROPORTION
from dpviz.core.parameters import readable
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.desk import stated
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.drawn import limits_picture
from dpviz.desk.protection import PROTECTIONS
from dpviz.desk.question import ASKED_KINDS, BELIEVED_PRIOR, GOALS, Question, range_names, takes_prior
from dpviz.desk.relaxing import stream_relaxations
from dpviz.desk.search import Desk, first_designs, stream_designs
from dpviz.desk.texts import capitalized, exponents_raised
from dpviz.desk.told.answer import Told, answer_sentence
from dpviz.desk.told.relaxed import offers, relaxed_sentence
from dpviz.desk.told.tables import ranking_table
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer
from pages import ui
from pages.details import curator as details
from pages.details.curator_pilot import forget_closed_file
from pages.ui.navigation import CURATOR, PLAN

PREFIX = CURATOR.prefix
MAX_ROWS = 10  # of the picture, and of the table unless all are asked for
MAX_ROWS_IN_CLASS = 5  # large words need room
RELAXED_DESIGNS = 3  # of which is sought what would have to give way

FIRST = (
    "n", "epsilon", "guesses", "believed_before", "most_after", "risk_before", "most_ratio", "most_error", "points",
    "half",
)  # fmt: skip
"""Numbers that are in sight; the rest stands under "More"."""

FOLDED_IN_CLASS = ("believed_before", "risk_before")
PRIVATE: Mapping[tuple[str, ...], str] = {(key,): protection.choice for key, protection in PROTECTIONS.items()}
ACCURATE: Mapping[tuple[str, ...], str] = {
    ("mean_width", "coverage"): "± of the interval", ("root_mean_squared_error", "coverage"): "typical error"
}  # fmt: skip
"""The usual ways to limit protection and accuracy: one of them, unless several are chosen under "More"."""

HIDDEN = {"p": PROPORTION, "x": replace(CONFIDENTIAL_COUNT, name="x")}
"""Numbers of the reader's release that the page has no widget for, and hands on."""

COMMON: dict[str, Any] = {
    "protect": ["loss"], "epsilon": 1.0, "delta": 0.0, "accuracy": ["root_mean_squared_error", "coverage"],
    "least_coverage": 0.9, "tried": ["1", "5"], "goal": "root_mean_squared_error", "over": "worst",
}  # fmt: skip
COUNTS = COMMON | {"kind": "count", "m_is_n": True, "count_rules": ["reiter_2003", "score"]}
PRESETS = {
    "A small survey's proportion": COUNTS | {"n": 200, "lowest_p": 0.1, "highest_p": 0.4, "most_error": 0.05},
    "A large register with a tiny p": COUNTS | {
        "n": 10_000, "lowest_p": 0.001, "highest_p": 0.01, "most_error": 0.0015, "least_coverage": 0.88,
    },
    "A bounded mean": COMMON | {
        "kind": "gaussian", "n": 500, "sigma": 1.0, "low": -4.0, "high": 4.0, "lowest_mean": -1.0, "highest_mean": 1.0,
        "most_error": 0.2, "gaussian_rules": ["reiter_2003"],
    },
}  # fmt: skip
"""The worked cases of the page."""

_note = partial(ui.page_note, "curator")


def _rules_of(kind: type[DataKind]) -> dict[str, str]:
    return {key: RULES[key].label for key in kind.rules}


def _methods_of(kind: type[DataKind]) -> dict[str, str]:
    """Labels of the methods that promise privacy, by key."""
    return {method.key: method.label for method in kind.methods if not method.reference}


def _kind_settings(kind: type[DataKind]) -> dict[str, ui.Setting]:
    rules = [key for key in ("reiter_2003", "score") if key in kind.rules]
    methods = ui.choices_setting(partial(_methods_of, kind), (), "Methods considered")
    return {
        f"{PREFIX}{kind.key}_rules": ui.choices_setting(partial(_rules_of, kind), rules, "Analyses"),
        f"{PREFIX}{kind.key}_methods": replace(methods, default=kind.considered_keys),
    }


SETTINGS = {
    f"{PREFIX}kind": ui.choice_setting(ASKED_KINDS, next(iter(ASKED_KINDS)), "Kind of data"),
    **ui.number_settings(stated.NUMBERS, PREFIX),
    **{PREFIX + name: ui.hidden_number_setting(parameter) for name, parameter in HIDDEN.items()},
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}protect": ui.choices_setting(PROTECTIONS, ["loss"], "All that must be protected"),
    f"{PREFIX}accuracy": ui.choices_setting(
        ACCURACY, ["root_mean_squared_error", "coverage"], "All that limits how far an analyst may be off"
    ),
    f"{PREFIX}tried": ui.choices_setting(stated.SETS, ["1", "5"], "Numbers of sets considered"),
    f"{PREFIX}goal": ui.choice_setting(GOALS, next(iter(GOALS)), "What comes first"),
    f"{PREFIX}over": ui.choice_setting(stated.OVER_RANGE.values(), "worst", "Over the range, what counts is the"),
    **{key: setting for kind in ASKED_KINDS.values() for key, setting in _kind_settings(kind).items()},
    f"{PREFIX}every": ui.switch_setting(False, "Show all designs"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}  # fmt: skip


def take_release(values: Mapping[str, Any]) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    if "synthesizer" not in values:
        return {}
    is_two_cell = issubclass(SYNTHESIZERS[values["synthesizer"]], TwoCellSynthesizer)
    return {"kind": (CountData if is_two_cell else CategoryData).key}


def controls() -> Question:
    """Draw the controls and return the question that they ask."""
    places = ui.control_places()
    values: dict[str, Any] = {}
    ui.presets(PRESETS, PREFIX, place=places.first, take_release=take_release, help=_note("presets"))
    kind = _data_controls(places, values)
    protect, accuracy = _limit_controls(places, kind, values)
    designs = _design_controls(places, kind, values)
    _hand_on_release()
    return stated.question_from_form(kind, values, protect, accuracy, **designs)


def _number(name: str, places: ui.Places, values: dict[str, Any], maximum: float | None = None) -> None:
    """Draw the control of a number and add its value."""
    is_in_sight = name in FIRST and not (ui.class_mode() and name in FOLDED_IN_CLASS)
    place = places.first if is_in_sight else places.more
    values[name] = ui.number_control(stated.NUMBERS, PREFIX, name, place=place, maximum=maximum)


def _data_controls(places: ui.Places, values: dict[str, Any]) -> type[DataKind]:
    """Draw the kind of data, its sizes and the range of its true value."""
    labels = {key: kind.label for key, kind in ASKED_KINDS.items()}
    kind = ASKED_KINDS[ui.choice("Kind of data", labels, f"{PREFIX}kind", place=places.more)]
    for size in kind.parameters():
        if size.name == "m":
            values["m"] = ui.linked_number(stated.NUMBERS, PREFIX, "m", values["n"], place=places.more)
        elif size.name != kind.true_value:
            is_narrower = size.maximum < stated.NUMBERS[size.name].maximum  # than with another kind of data
            _number(size.name, places, values, size.maximum if is_narrower else None)
    for name in range_names(kind):
        _number(name, places, values)
    return kind


def _limit_controls(places: ui.Places, kind: type[DataKind], values: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Draw the limits on protection and on accuracy; returns their keys."""
    with places.first:
        _usual_limits("How private", PRIVATE, "protect")
    labels = {key: protection.label for key, protection in PROTECTIONS.items()}
    protect = ui.choices("All that must be protected", labels, f"{PREFIX}protect", place=places.more)
    for key in protect:
        for name in stated.protection_names(key):
            _number(name, places, values)
    with places.first:
        _usual_limits("How far off", ACCURATE, "accuracy")
    labels = {key: capitalized(measure.name) for key, measure in ACCURACY.items()}
    label = "All that limits how far an analyst may be off"
    accuracy = ui.choices(label, labels, f"{PREFIX}accuracy", place=places.more)
    for key in accuracy:
        _number(stated.limit_name(kind, key), places, values)
    return protect, accuracy


def _design_controls(places: ui.Places, kind: type[DataKind], values: dict[str, Any]) -> dict[str, Any]:
    """Draw which designs are considered, and their order; returns fields of the question."""

    def select(label: str, options: Any, name: str, **rest: Any) -> tuple[str, ...]:
        return tuple(ui.choices(label, options, PREFIX + name, place=places.more, **rest))

    rules = select("Analyses that users will run", _rules_of(kind), f"{kind.key}_rules", help=_note("rules"))
    tried = select("Numbers of sets considered", stated.SETS, "tried", help=_note("tried"))
    goal = ui.choice("What comes first", GOALS, f"{PREFIX}goal", place=places.more, help=_note("goal"))
    over = ui.choice(
        "Over the range, what counts is the", stated.OVER_RANGE.values(), f"{PREFIX}over", place=places.more,
        widget=st.segmented_control, required=True, help=_note("over"),
    )  # fmt: skip
    is_average = over == stated.OVER_RANGE[True]
    if is_average and takes_prior(stated.true_value_of(kind)):
        for parameter in BELIEVED_PRIOR:
            _number(parameter.name, places, values)
    methods = select("Methods considered", _methods_of(kind), f"{kind.key}_methods")
    for name in ("values", "level", "repetitions", "seed"):
        _number(name, places, values)
    if not methods:
        raise ValueError("Choose at least one method.")
    if set(methods) == set(kind.considered_keys()):
        methods = ()
    sets = tuple(map(int, tried))
    return {"rules": rules, "sets": sets, "goal": goal, "average": is_average, "methods": methods}


def _usual_limits(label: str, ways: Mapping[tuple[str, ...], str], name: str) -> None:
    """Draw pills that set a list of limits to a usual one; none is marked where the list has others."""
    state = st.session_state
    key = f"{PREFIX}{name}_one"

    def apply() -> None:
        if state[key] is not None:
            state[PREFIX + name] = list(state[key])
            ui.mark_moved()

    state[key] = next((way for way in ways if set(way) == set(state[PREFIX + name])), None)
    st.pills(label, list(ways), format_func=ways.__getitem__, key=key, on_change=apply, help=_note(name))


def _hand_on_release() -> None:
    """Have numbers without a widget be those of a link that is opened, and otherwise of the reader's release."""
    for name in HIDDEN:
        key = PREFIX + name
        if st.session_state["is_linked"] and st.session_state[key] is not None:
            ui.register_shown(key)
        else:
            st.session_state[key] = ui.release().get(name)


def latest_designs(question: Question) -> Desk:
    """The designs as far as they are known: all that the page draws in a run is drawn from this one result."""
    try:
        return ui.latest(stream_designs, question) or first_designs(question)
    except ValueError as error:
        ui.problem(str(error))
        return first_designs(question)


def show_answer(desk: Desk, summary: Told) -> None:
    """Draw the sentence, the picture, and what would have to give way."""
    ui.answer(summary.mark, summary.sentence, summary.short)
    before_key = f"{PREFIX}before"
    if desk.designs:
        st.session_state[before_key] = desk
        show_limits_used(desk)
    elif not desk.complete and before_key in st.session_state:
        show_limits_used(st.session_state[before_key])
        ui.note(_note("before"))
    if desk.complete and desk.designs and not desk.keeping and not desk.undecided:
        show_relaxations(desk)


def show_limits_used(desk: Desk) -> None:
    """Draw how much of each limit the leading designs use; without a limit, what puts them in order."""
    rows = min(MAX_ROWS_IN_CLASS if ui.class_mode() else MAX_ROWS, desk.expected)
    chart = limits_picture(desk, rows)
    if chart is not None:
        alt = "How much of each limit on accuracy every design uses; more than all of it breaks the limit."
        ui.show_figure(chart, f"{PREFIX}limits", alt, height=height_of(rows), hero=True)


def show_relaxations(desk: Desk) -> None:
    """Draw what would have to give way, as far as it is known, and buttons that let it."""
    try:
        relaxations = ui.latest(stream_relaxations, desk, RELAXED_DESIGNS) or ()
    except ValueError as error:
        ui.problem(str(error))
        return
    lines = [f"• {relaxed_sentence(relaxed)}" for relaxed in relaxations]
    if len(relaxations) < min(RELAXED_DESIGNS, len(desk.designs)):
        lines.append("• Still searching …")
    ui.note(_note("give_way", ways="<br>".join(lines)))
    if relaxations:
        with st.container(horizontal=True, key=f"{PREFIX}ways"):
            for place, (label, settings) in enumerate(offers(relaxations[0])):
                values = {PREFIX + name: value for name, value in settings.items()}
                st.button(label, key=f"{PREFIX}let_{place}", on_click=st.session_state.update, args=(values,))


def show_designs(desk: Desk, summary: Told) -> None:
    """Draw the table, what the answer rests on, and where to go from here."""
    count = len(desk.designs)
    if count:
        shown = count
        if count > MAX_ROWS and not ui.toggle(f"Show all {count} designs", f"{PREFIX}every"):
            shown = MAX_ROWS
        ui.heading("The designs in order")
        ui.table(*ranking_table(desk, shown))
        caption = _note("table", repetitions=readable(desk.question.repetitions))
        if not desk.complete:
            judged = sum(design.complete or design.keeps_all is False for design in desk.designs)
            caption += f" {_note('judged', judged=judged, all=count)}"
        st.caption(caption)
    ui.note(f"{summary.further} {limits_sentence(desk)}".strip())
    if names := by_reason(desk.absent):
        ui.note(_note("absent", names=names))
    if desk.first is not None and desk.complete:  # until then another may lead
        is_pinned = details.pin_of(desk.first.key) in st.session_state[details.PINS]
        details.pin_button(desk.first, "Unpin it" if is_pinned else "Pin for comparison", "pin_first")
        details.design_links(desk.first, f"{desk.first.name}, on")
    ui.page_link(PLAN, {}, _note("several"))


def limits_sentence(desk: Desk) -> str:
    """The limits on protection as they were understood, and how the leading design is made."""
    question = desk.question
    sentence = _note("unlimited")
    if question.protections:
        limits = [
            f"<b>{protection.words}</b>{protection.explained.removeprefix(protection.words)}"
            for protection in question.protections
        ]
        rule = _note("smallest" if question.seeks_smallest else "largest")
        sentence = _note("limits", limits="; ".join(limits), n=readable(question.data.settings()["n"]), rule=rule)
    if desk.first is not None:
        method = desk.first.method
        sentence += f"<br>{_note('made', method=method.label, releases=exponents_raised(method.releases))}"
    return sentence


def page() -> None:
    """Draw the page."""
    ui.open_page(CURATOR, SETTINGS, take_release)
    forget_closed_file()
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(CURATOR, SETTINGS, controls, first_designs)
    with parts.results:
        ui.show_problems()
        desk = latest_designs(question)
        summary = answer_sentence(desk)
        show_answer(desk, summary)
    with parts.details:
        show_designs(desk, summary)
        ui.look_closer(CURATOR, details.SECTIONS, desk)
    ui.close_page(CURATOR, SETTINGS)
