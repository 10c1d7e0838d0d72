"""What the pages about methods on one kind of data share: controls, first results, and pictures of several measures."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isnan
from typing import Any

import streamlit as st

from dpviz.charts.comparison import ERROR, DrawnMeasure
from dpviz.charts.lines import SMALL_HEIGHT, comparison_height
from dpviz.charts.theme import Figure
from dpviz.comparisons import DATA_KINDS, Analysis, ComparedMethod, Comparison, DataKind, Outcome
from dpviz.comparisons.budget import BudgetSplit, SplitOverSets
from dpviz.comparisons.proportion import BinaryData, BinaryMethod, CountData, method_of_release
from dpviz.core.limits import MAX_ROWS_OF_TABLE
from dpviz.core.parameters import Parameter, widest_domains
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import BetaBinomial
from pages import ui


def compared_numbers(page: str) -> dict[str, Parameter]:
    """Numbers of a page that compares methods: its own, those that both pages have, and those of the kinds of data."""
    shared = ui.declared_numbers("comparison")
    kinds = widest_domains(kind.numbers() for kind in DATA_KINDS.values())
    numbers = {"epsilon": shared["epsilon"], "n": kinds["n"], "sets": shared["sets"], **kinds, **shared}
    return numbers | ui.declared_numbers(page, shared)


def comparison_settings(numbers: Mapping[str, Parameter], prefix: str, measures: Iterable[str]) -> ui.Settings:
    """Settings of the controls of this module; `measures` are the keys of what can be drawn beside the error."""
    estimands = {key: {estimand.key: estimand for estimand in kind.estimands} for key, kind in DATA_KINDS.items()}
    return {
        **ui.number_settings(numbers, prefix),
        **ui.link_settings(prefix, "m", "public_share"),
        **{
            f"{prefix}{kind}_estimand": ui.choice_setting(known, next(iter(known)), "What the analyst wants to know")
            for kind, known in estimands.items()
            if len(known) > 1
        },
        f"{prefix}rule": ui.choice_setting(COMBINING_RULES, "reiter_2003", "Rule for the interval"),
        f"{prefix}measure": ui.choice_setting(list(dict.fromkeys([ERROR, *measures])), ERROR, "What is drawn"),
        f"{prefix}others": ui.switch_setting(False, "All measures"),
        f"{prefix}x": ui.hidden_number_setting(CONFIDENTIAL_COUNT),
    }


def data_controls(
    places: ui.Places, kind: type[DataKind], methods: Iterable[ComparedMethod], rows_place: Any
) -> DataKind:
    """Draw what is estimated, the numbers of a kind of data, n in a place of its own, and the guess if one is used."""
    values: dict[str, Any] = {}
    if len(kind.estimands) > 1:
        values["estimand"] = ui.choice(f"{kind.key}_estimand", place=places.main)
    for parameter in kind.parameters():
        name = parameter.name
        _, setting = ui.current_setting(name)
        own: Any = setting.parameter
        own = replace(own, maximum=parameter.maximum)  # some kinds take fewer than others
        if name == "m":
            values[name] = ui.linked_number(name, values["n"], own, place=places.folded)
        else:
            values[name] = ui.number_control(name, own, place=rows_place if name == "n" else places.main)
    data = kind(**values)

    # The public guess, which is the truth until the reader sets another one
    if any(method.guess for method in methods):
        guess = ui.linked_number("public_share", data.truth, place=places.main)
        data = data.with_guess(None if guess == data.truth else guess)
    return data


def analysis_controls(place: Any, **sets: int) -> Analysis:
    """Draw the analyst's level and rule, the repetitions and the seed."""
    level = ui.number_control("level", place=place)
    rule = ui.choice("rule", COMBINING_RULES, place=place, help=ui.words("rule"))
    return Analysis(level=level, rule=rule, **ui.number_controls("repetitions", "seed", place=place), **sets)


@lru_cache(maxsize=64)
def _release_method(synthesizer: str, is_divided: bool) -> tuple[BinaryMethod | None, str]:
    """Method that releases sets of a synthesizer, or why there is none, or none whose ε can be divided as asked."""
    try:
        method = method_of_release(Design(mechanism=synthesizer, n=1))
        problem = SplitOverSets.problem(BinaryData.default(), method) if is_divided else ""
    except ValueError as error:
        problem = str(error)
    return (None, f"Your release is not shown here. {problem}") if problem else (method, "")


def kind_and_method(values: Mapping[str, Any], is_divided: bool) -> tuple[str, str] | None:
    """Keys of a carried release: of its kind of data, that of the papers or a count of more people, and its method."""
    method, _ = _release_method(values.get("synthesizer", ""), is_divided)
    if method is None:
        return None
    is_count = values.get("m_is_n") is False and values.get("m") != values.get("n")
    is_count |= values.get("n", 0) > MAX_ROWS_OF_TABLE
    return CountData.key if is_count else BinaryData.key, method.key


def release_problem(is_divided: bool) -> str:
    """Why a page does not show the reader's release; empty where it does."""
    return _release_method(ui.current_release().get("synthesizer", BetaBinomial.key), is_divided)[1]


@lru_cache(maxsize=64)
def first_result(question: Comparison | BudgetSplit) -> Any:
    """What is known at once: in place where it takes some milliseconds, in a worker where much is to be computed."""
    has_delta = isinstance(question, Comparison) and question.terms.delta > 0
    if not (question.data.simulated or has_delta):
        return question.first()
    return ui.result(question.first, spinner="Computing …")


def progress_or_problem(function: Callable[..., Iterator[Any]], **arguments: Any) -> tuple[Any, bool, str]:
    """`progress` of a long computation, and why it ended early; empty where it did not."""
    try:
        return (*ui.progress(function, **arguments), "")
    except ValueError as error:  # a place of the axis that the method does not allow
        return None, True, f"The line ends early: {error}"


def choose_measures(measures: Mapping[str, DrawnMeasure]) -> list[str]:
    """Draw the choice of what is drawn, and return the keys of the measures, that of the large picture first."""
    names = {key: measure.name for key, measure in measures.items()}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{ui.current_page().prefix}measures"):
        rest: dict[str, Any] = {"label_visibility": "collapsed", "width": "content", "wrap": True}
        first = ui.choice("measure", names, widget=st.pills, required=True, **rest)
        has_others = ui.toggle("others", "all", width="content")
    return [first, *(key for key in measures if has_others and key != first)]


def show_measures(
    measures: Mapping[str, DrawnMeasure], chosen: Sequence[str], chart: Callable[..., Figure], names: Sequence[str]
) -> None:
    """Draw a large picture and small ones below it; `chart` makes that of a measure, `names` are in its legend."""
    first, *remaining = chosen
    ui.show_figure(chart(first), "picture", measures[first].alt, height=comparison_height(names), hero=True)
    for place, key in enumerate(remaining):
        if place % 3 == 0:
            columns = st.columns(3)
        with columns[place % 3]:
            ui.show_figure(chart(key, small=True), f"small_{key}", measures[key].alt, height=SMALL_HEIGHT)


def n_intervals(outcomes: Iterable[Outcome]) -> int:
    """Number of outcomes whose intervals are known so far."""
    return sum(not isnan(outcome.coverage.value) for outcome in outcomes)


def show_files(
    name: str, table: str, question: Comparison | BudgetSplit, to_csv: Callable[[Any], str], script: tuple[str, str]
) -> None:
    """Draw buttons for every number of the pictures as a `table`, and for a `script`, its text and what it prints."""
    measures = (table, f"{name}.csv", lambda: to_csv(deque(question.stream(), maxlen=1).pop()))
    slow = "The file is made when the button is pressed, which takes as long as the pictures do."
    ui.show_page_files([measures, slow], (f"{name}.py", *script))
