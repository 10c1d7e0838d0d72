"""What the pages about methods on one kind of data share: controls, first results, and pictures of several measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import streamlit as st

from dpviz.charts.comparison import SMALL_HEIGHT
from dpviz.charts.outcomes import ERROR, DrawnMeasure
from dpviz.charts.style import Figure
from dpviz.comparisons import DATA_KINDS, Analysis, BinaryData, ComparedMethod, Comparison, CountData, DataKind
from dpviz.comparisons.binary import method_of_release
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import Spending
from dpviz.core.parameters import Parameter
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import BetaBinomial
from pages.ui.background import progress, result
from pages.ui.controls import Places, choice, link_settings, linked_number, number_control, toggle
from pages.ui.figure import show_figure
from pages.ui.release import release
from pages.ui.url import Setting, choice_setting, hidden_number_setting, number_settings, switch_setting

Result = TypeVar("Result")

SMALL_COLUMNS = 3  # small pictures side by side
SLOW_FILE = "The file is made when the button is pressed, which takes as long as the pictures do."


def comparison_settings(
    parameters: Mapping[str, Parameter], prefix: str, measures: Iterable[str]
) -> dict[str, Setting]:
    """Settings of the controls of this module; `measures` are the keys of what can be drawn beside the error."""
    drawn = list(dict.fromkeys([ERROR, *measures]))
    estimands = {kind.key: [estimand.key for estimand in kind.estimands] for kind in DATA_KINDS.values()}
    return {
        **number_settings(parameters, prefix),
        **link_settings(prefix, "m", "public_share"),
        **{
            f"{prefix}{kind}_estimand": choice_setting(keys, keys[0], "What the analyst wants to know")
            for kind, keys in estimands.items()
            if len(keys) > 1
        },
        f"{prefix}rule": choice_setting(COMBINING_RULES, "reiter_2003", "Rule for the interval"),
        f"{prefix}measure": choice_setting(drawn, ERROR, "What is drawn"),
        f"{prefix}others": switch_setting(False, "All measures"),
        f"{prefix}x": hidden_number_setting(CONFIDENTIAL_COUNT),
    }


def data_controls(
    parameters: Mapping[str, Parameter], prefix: str, places: Places, kind: type[DataKind],
    methods: Iterable[ComparedMethod], rows_place: Any,
) -> DataKind:  # fmt: skip
    """Draw what is estimated, the numbers of a kind of data, and the public guess where a method is given one.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        Numbers of the page by name, those of all kinds of data among them.
    prefix : str
        Of the page's keys.
    places : Places
    kind : type of DataKind
    methods : iterable of ComparedMethod
        What releases the data.
    rows_place : container
        Where n stands; the others are among the main controls.

    Returns
    -------
    DataKind
    """
    estimand = ""
    if len(kind.estimands) > 1:
        labels = {estimand.key: estimand.label for estimand in kind.estimands}
        estimand = choice("What the analyst wants to know", labels, f"{prefix}{kind.key}_estimand", place=places.main)

    # Numbers, of which some kinds take fewer than others
    values: dict[str, Any] = {}
    for own in kind.parameters():
        numbers = {own.name: replace(parameters[own.name], maximum=own.maximum)}
        if own.name == "m":
            values["m"] = linked_number(numbers, prefix, "m", values["n"], place=places.more)
        else:
            place = rows_place if own.name == "n" else places.main
            values[own.name] = number_control(numbers, prefix, own.name, place=place)
    data = kind(estimand=estimand, **values)

    # The public guess, which is the truth until the reader sets another one
    if any(method.guess for method in methods):
        guess = linked_number(parameters, prefix, "public_share", data.truth, place=places.main)
        data = data.guessing(None if guess == data.truth else guess)
    return data


def analysis_controls(
    parameters: Mapping[str, Parameter], prefix: str, place: Any, help: str, sets: int | None = None
) -> Analysis:
    """Draw the analyst's level and rule, the repetitions and the seed; `help` is that of the rule."""
    values = {"level": number_control(parameters, prefix, "level", place=place)}
    rules = {key: rule.label for key, rule in COMBINING_RULES.items()}
    rule = choice("Rule for the interval", rules, f"{prefix}rule", place=place, help=help)
    values |= {name: number_control(parameters, prefix, name, place=place) for name in ("repetitions", "seed")}
    return Analysis(rule=rule, **values, **({} if sets is None else {"sets": sets}))


@lru_cache(maxsize=64)
def method_of(synthesizer: str) -> BinaryMethod:
    """Method that releases sets of a synthesizer; a ValueError in a sentence where there is none."""
    return method_of_release(Design(mechanism=synthesizer, n=1))


def kind_of(values: Mapping[str, Any]) -> type[DataKind]:
    """Kind of data of a carried release: that of the papers, or the one whose released rows may be fewer or more."""
    has_own_size = values.get("m_is_n") is False and values.get("m") != values.get("n")
    return CountData if has_own_size else BinaryData


@lru_cache(maxsize=64)
def first_result(question: Comparison | Spending) -> Any:
    """What is known at once: in place where it takes some milliseconds, in a worker where much is to be computed."""
    has_delta = isinstance(question, Comparison) and question.terms.delta > 0
    if not (question.data.simulated or has_delta):
        return question.first()
    with st.spinner("Computing …"):
        return result(question.first)


def release_problem(find_method: Callable[[str], object]) -> str:
    """Why a page does not show the reader's release: `find_method` refuses its synthesizer; empty where it does."""
    try:
        find_method(release().get("synthesizer", BetaBinomial.key))
    except ValueError as error:
        return f"Your release is not shown here. {error}"
    return ""


def progress_or_problem(
    function: Callable[..., Iterator[Result | None]], **arguments: Any
) -> tuple[Result | None, bool, str]:
    """`progress` of a long computation, and why it ended early; empty where it did not."""
    try:
        return (*progress(function, **arguments), "")
    except ValueError as error:  # a place of the axis that the method does not allow
        return None, True, f"The line ends early: {error}"


def choose_measures(prefix: str, measures: Mapping[str, DrawnMeasure]) -> list[str]:
    """Draw the choice of what is drawn, and return the keys of the measures, that of the large picture first."""
    names = {key: measure.name for key, measure in measures.items()}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{prefix}measures"):
        first = choice(
            "What is drawn", names, f"{prefix}measure", widget=st.pills, required=True, label_visibility="collapsed",
            width="content", wrap=True,
        )  # fmt: skip
        has_others = toggle("all", f"{prefix}others", width="content")
    return [first, *(key for key in measures if has_others and key != first)]


def show_measures(
    prefix: str, measures: Mapping[str, DrawnMeasure], chosen: Sequence[str], chart: Callable[..., Figure], height: int
) -> None:
    """Draw the pictures of the chosen measures, a large one and small ones below it; `chart` makes that of a key."""
    first, *others = chosen
    show_figure(chart(first), f"{prefix}picture", measures[first].alt, height=height, hero=True)
    for start in range(0, len(others), SMALL_COLUMNS):
        row = others[start : start + SMALL_COLUMNS]
        for column, key in zip(st.columns(SMALL_COLUMNS), row, strict=False):
            with column:
                show_figure(chart(key, small=True), f"{prefix}small_{key}", measures[key].alt, height=SMALL_HEIGHT)
