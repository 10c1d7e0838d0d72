"""Curator's desk: from the limits that must hold to the designs that keep them."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.charts.html import by_reason
from dpviz.charts.lines import rows_height
from dpviz.comparisons import CategoryData, CountData, DataKind
from dpviz.core.declarations import PROPORTION
from dpviz.core.formatting import format_number
from dpviz.curator import figures, form, measures, privacy_limits, search, summary
from dpviz.curator import question as questions
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.export.templates import capitalize_first
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer
from pages import ui
from pages.details import curator as details
from pages.ui.navigation import CURATOR, PLAN

PREFIX = CURATOR.prefix
MAX_ROWS = 10  # of the picture, and of the table unless all are asked for
FIRST = ui.declared_table("curator", "first")  # numbers that are in sight; the rest stands under "More"
UsualLimits = dict[tuple[str, ...], str]
TYPICAL_ERROR = ("root_mean_squared_error", "coverage")
PROTECTION: UsualLimits = {(key,): protection.short_label for key, protection in privacy_limits.PRIVACY_LIMITS.items()}
ACCURACY: UsualLimits = {("mean_width", "coverage"): "± of the interval", TYPICAL_ERROR: "typical error"}
"""The usual ways to limit protection and accuracy: one of them, unless several are chosen under "More"."""

PRESETS = ui.declared_presets("curator")


def methods_of(kind: type[DataKind]) -> dict[str, str]:
    """Labels of the methods that promise privacy, by key."""
    return {method.key: method.label for method in kind.methods if not method.reference}


_measures = {key: capitalize_first(measure.name) for key, measure in measures.ACCURACY_MEASURES.items()}
SETTINGS = {
    f"{PREFIX}kind": ui.choice_setting(questions.QUESTION_KINDS, next(iter(questions.QUESTION_KINDS)), "Kind of data"),
    **ui.number_settings(form.NUMBERS, PREFIX),
    f"{PREFIX}p": ui.hidden_number_setting(PROPORTION),
    f"{PREFIX}x": ui.hidden_number_setting(CONFIDENTIAL_COUNT),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}protect": ui.choices_setting(privacy_limits.PRIVACY_LIMITS, ["loss"], "All that must be protected"),
    f"{PREFIX}accuracy": ui.choices_setting(_measures, TYPICAL_ERROR, "All that limits how far an analyst may be off"),
    f"{PREFIX}tried": ui.choices_setting(form.SETS, ["1", "5"], "Numbers of sets considered"),
    f"{PREFIX}goal": ui.choice_setting(questions.GOALS, next(iter(questions.GOALS)), "What comes first"),
    f"{PREFIX}over": ui.choice_setting(form.OVER_RANGE.values(), "worst", "Over the range, what counts is the"),
    f"{PREFIX}every": ui.switch_setting(False, "Show all designs"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}
for _key, _kind in questions.QUESTION_KINDS.items():
    _usual_rules = [key for key in ("reiter_2003", "score") if key in _kind.rules]
    SETTINGS[f"{PREFIX}{_key}_rules"] = ui.choices_setting(_kind.rules, _usual_rules, "Analyses that users will run")
    _methods = ui.choices_setting(partial(methods_of, _kind), _kind.considered_keys, "Methods considered")
    SETTINGS[f"{PREFIX}{_key}_methods"] = _methods


def take_release(values: Mapping[str, Any]) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    if "synthesizer" not in values:
        return {}
    is_two_cell = issubclass(SYNTHESIZERS[values["synthesizer"]], TwoCellSynthesizer)
    return {"kind": (CountData if is_two_cell else CategoryData).key}


def controls() -> questions.DesignQuestion:
    state = st.session_state
    if state.get(f"{PREFIX}look") != details.PILOT_DATA:  # what was read of a file goes with its section
        ui.visit().memory.pop("pilot", None)
    places = ui.control_places(PRESETS, take_release=take_release, help=ui.words("presets"))
    for name in ("p", "x"):  # of the reader's release: the page has no widget for them, and hands them on
        if ui.visit().is_linked and state[PREFIX + name] is not None:
            ui.register_shown(PREFIX + name)
    for key in filter(state.get, (details.PINS, details.REPORTED)):  # which the address in a report has
        ui.register_shown(key)

    # The data, and the range of their true value
    kind = questions.QUESTION_KINDS[ui.choice("kind", place=places.folded)]
    values: dict[str, Any] = {}
    for size in kind.parameters():
        if size.name == "m":
            values["m"] = ui.linked_number("m", values["n"], place=places.folded)
        elif size.name != kind.true_value:
            is_narrower = size.maximum < form.NUMBERS[size.name].maximum  # than with another kind of data
            values |= _numbers([size.name], places, size.maximum if is_narrower else None)
    values |= _numbers(questions.range_names(kind), places)

    # The limits
    protect = _limit_choice("How private", "protect", PROTECTION, places)
    for key in protect:
        values |= _numbers(form.privacy_names(key), places)
    accuracy = _limit_choice("How far off", "accuracy", ACCURACY, places)
    values |= _numbers([measures.ACCURACY_MEASURES[key].form_name(kind.true_value) for key in accuracy], places)

    designs = _design_controls(places, kind, values)
    return form.question_from_form(kind, values, protect, accuracy, **designs)


def _numbers(names: Iterable[str], places: ui.Places, maximum: float | None = None) -> dict[str, Any]:
    """Draw the controls of numbers, the usual ones in sight, and return their values by name."""
    values = {}
    for name in names:
        is_in_sight = name in FIRST and not (ui.class_mode() and name in ("believed_before", "risk_before"))
        place = places.first if is_in_sight else places.folded
        values[name] = ui.number_control(name, place=place, maximum=maximum)
    return values


def _limit_choice(label: str, name: str, usual: UsualLimits, places: ui.Places) -> list[str]:
    """Draw pills that set a list of limits to a usual one, and under "More" the list itself; return its keys."""
    state = st.session_state
    key = f"{PREFIX}{name}_one"

    def apply() -> None:
        if state[key] is not None:
            state[PREFIX + name] = list(state[key])
            ui.mark_moved()

    state[key] = next((way for way in usual if set(way) == set(state[PREFIX + name])), None)
    places.first.pills(label, list(usual), format_func=usual.get, key=key, on_change=apply, help=ui.words(name))
    return ui.choices(name, place=places.folded)


def _design_controls(places: ui.Places, kind: type[DataKind], values: dict[str, Any]) -> dict[str, Any]:
    """Draw which designs are considered, and their order; return fields of the question."""
    folded = places.folded
    own_rules = {key: RULES[key] for key in kind.rules}
    rules = ui.choices(f"{kind.key}_rules", own_rules, place=folded, help=ui.words("rules"))
    sets = ui.choices("tried", place=folded, help=ui.words("tried"))
    goal = ui.choice("goal", place=folded, help=ui.words("goal"))
    is_average = ui.segmented("over", place=folded, help=ui.words("over")) == form.OVER_RANGE[True]
    if is_average and questions.takes_prior(questions.true_value_of(kind)):
        values |= _numbers(("believed_ones", "believed_zeros"), places)
    methods = ui.choices(f"{kind.key}_methods", place=folded)
    values |= _numbers(("values", "level", "repetitions", "seed"), places)
    if not methods:
        raise ValueError("Choose at least one method.")
    return {
        "rules": tuple(rules), "sets": tuple(map(int, sets)), "goal": goal, "average": is_average,
        "methods": () if set(methods) == set(kind.considered_keys()) else tuple(methods),
    }  # fmt: skip


def _show_answer(desk: search.SearchResult, answer: summary.Answer) -> None:
    """Draw the sentence, how much of each limit the leading designs use, and what would have to give way."""
    ui.answer(answer.badge, answer.sentence, answer.short)
    before_key = f"{PREFIX}before"
    if desk.designs or desk.is_complete:
        st.session_state[before_key] = desk
    shown: search.SearchResult = st.session_state.get(before_key, desk)
    rows = min(5 if ui.class_mode() else MAX_ROWS, shown.n_expected)  # large words need room
    if shown.designs and (chart := figures.limits_figure(shown, rows)) is not None:
        ui.show_figure(chart, "limits", height=rows_height(rows), hero=True)
    if desk.designs and not desk.is_complete:
        st.progress(min(len(desk.designs) / desk.n_expected, 1.0))
    if shown is not desk:
        ui.note(ui.words("before"))
    if desk.is_complete and desk.designs and not desk.feasible and not desk.undecided:
        _show_relaxations(desk)


def _show_relaxations(desk: search.SearchResult) -> None:
    """Draw what would have to give way, as far as it is known, and buttons that let it."""
    try:
        relaxations = ui.latest(search.suggest_relaxations, desk, search.N_NEAREST) or ()
    except ValueError as error:
        ui.problem(str(error))
        return
    lines = [f"• {summary.relaxation_sentence(relaxation)}" for relaxation in relaxations]
    if len(relaxations) < min(search.N_NEAREST, len(desk.designs)):
        lines.append("• Still searching …")
    advice = ui.words("give_way", ways="<br>".join(lines))
    if reason := summary.data_alone_sentence(desk):
        advice += f"<br>{reason}"
    elif any(relaxation.epsilon is None for relaxation in relaxations):
        advice += f"<br>{ui.words('no_epsilon_helps')}"
    ui.note(advice)
    offered = (*relaxations[:1], *relaxations[search.N_NEAREST :])
    offers = [offer for relaxation in offered for offer in summary.relaxation_offers(relaxation)]
    with st.container(horizontal=True, key=f"{PREFIX}ways"):
        for place, (label, values) in enumerate(offers):
            st.button(label, key=f"{PREFIX}let_{place}", on_click=details.set_values, args=(values,))


def _show_designs(desk: search.SearchResult, answer: summary.Answer) -> None:
    """Draw the table, what the answer rests on, and where to go from here."""
    count = len(desk.designs)
    if count:
        is_cut = count > MAX_ROWS and not ui.toggle("every", f"Show all {count} designs")
        ui.heading("The designs in order")
        ui.table(*summary.ranking_table(desk, MAX_ROWS if is_cut else count))
        so_far = "" if desk.is_complete else f" {ui.words('judged', all=count)}"
        st.caption(ui.words("table", repetitions=format_number(desk.question.repetitions)) + so_far)
    ui.note(f"{answer.explanation} {summary.limits_sentence(desk)}".strip())
    if names := by_reason(desk.absent):
        ui.note(ui.words("absent", names=names))
    if desk.best is not None and desk.is_complete:  # until then another may lead
        pin = details.pin_of(desk.best.key)
        label = "Unpin it" if pin in st.session_state[details.PINS] else "Pin for comparison"
        st.button(label, key=f"{PREFIX}pin_first", on_click=details.toggle_pin, args=(pin,))
        details.design_links(desk.best, f"{desk.best.name}, on")
    _show_plan_link(desk.question)


def _show_plan_link(question: questions.DesignQuestion) -> None:
    """Draw a link to the plan of several statistics of the same people under the first limit on protection."""
    values: dict[str, Any] = {"n": question.data.settings()["n"]}
    for limit in question.protections[:1]:
        values |= {"protect": limit.key, **form.to_form(limit.settings())}
    ui.page_link(PLAN, values, ui.words("several"))


def page() -> None:
    with ui.page_frame(CURATOR, SETTINGS, controls, search.first_result, take_release) as (question, parts):
        with parts.results:
            desk = search.first_result(question)
            try:
                latest = ui.latest(search.evaluate_designs, question)
                desk = latest if latest is not None and (latest.designs or latest.is_complete) else desk
            except ValueError as error:
                ui.problem(str(error))
            answer = summary.summarize(desk)
            _show_answer(desk, answer)
        with parts.details:
            _show_designs(desk, answer)
            ui.look_closer(details.SECTIONS, desk)
