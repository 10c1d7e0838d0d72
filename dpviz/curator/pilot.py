"""What a column of the curator's own file suggests for a question: numbers with their meaning, and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpviz.core.formatting import format_distinct, format_number, format_percent
from dpviz.core.monte_carlo import wilson_interval
from dpviz.curator.form import NUMBERS, question_from_form
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion, range_names
from dpviz.uploads.columns import CategoryFacts, Facts, NumberFacts, ProportionFacts

NO_SPREAD = "All values are alike, so that they say nothing of the spread, without which nothing can be designed."


class Suggestion(NamedTuple):
    """Settings by their names in the form, what a button says that takes them, and names of the facts that they use."""

    label: str
    settings: dict[str, float]
    facts: tuple[str, ...]


class Suggestions(NamedTuple):
    """Numbers of a column, each with name, value and meaning; what can be taken of them; what to know of both."""

    numbers: list[tuple[str, str, str]]
    offers: list[Suggestion]
    remarks: tuple[str, ...] = ()
    caption: str = ""


def kind_with(settings: Mapping[str, float], current: str) -> str:
    """Kind of data of the question, or else the first that has numbers for these settings.

    Parameters
    ----------
    settings : mapping of str to float
        Values by the names of the form.
    current : str
        Key of the kind of data of the question.
    """
    fits = [key for key, kind in QUESTION_KINDS.items() if set(settings) <= {*kind.numbers(), *range_names(kind)}]
    return current if current in fits or not fits else fits[0]


def refusal(settings: Mapping[str, float], values: Mapping[str, Any], question: DesignQuestion) -> str:
    """Why a form with these numbers would not take settings; empty where it does.

    Parameters
    ----------
    settings, values : mapping
        Numbers by their names in the form: those that are offered, and what it holds.
    question : DesignQuestion
    """
    kind = QUESTION_KINDS[kind_with(settings, question.data.key)]
    protect, accuracy = ([limit.key for limit in limits] for limits in (question.protections, question.limits))
    numbers = {**values, **settings}
    try:
        for name, value in numbers.items():
            NUMBERS[name].validate(value)
        question_from_form(
            kind, numbers, protect, accuracy, goal=question.goal, average=question.average, sets=question.sets
        )
    except ValueError as error:
        return str(error)
    return ""


def suggest_settings(facts: Facts, current: str) -> Suggestions:
    """What the facts of a column suggest.

    Parameters
    ----------
    facts : Facts
    current : str
        Key of the kind of data of the question.
    """
    assert isinstance(facts, ProportionFacts | CategoryFacts | NumberFacts)
    suggestions = _suggest_numbers(facts) if isinstance(facts, NumberFacts) else _suggest_shares(facts)
    content = "a number" if isinstance(facts, NumberFacts) else "a value"
    rows = f"rows with {content}", f"{facts.n:,}", f"{facts.missing:,} without one are left out"

    # n, at most what the desk takes of the data that the other settings are of
    kind = QUESTION_KINDS[kind_with(suggestions.offers[0].settings, current)]
    n = min(facts.n, int(kind.numbers()["n"].maximum))
    label = f"Use n = {n:,}" + (", the most that the desk takes of such data" if n < facts.n else "")
    offers = [Suggestion(label, {"n": n}, ("n",)), *suggestions.offers]
    if NO_SPREAD in suggestions.remarks:
        del offers[1:]
    return suggestions._replace(numbers=[rows, *suggestions.numbers], offers=offers)


def _suggest_shares(facts: ProportionFacts | CategoryFacts) -> Suggestions:
    if isinstance(facts, CategoryFacts):
        offer = Suggestion(f"Use k = {facts.categories:,} categories", {"cells": facts.categories}, ("categories",))
        return Suggestions([("categories", f"{facts.categories:,}", "distinct values that occur")], [offer])
    low, high = (min(max(end, 0.0), 1.0) for end in _rounded_ends(*wilson_interval(facts.share, facts.n, 0.95)))
    span = f"{format_number(low)} to {format_number(high)}"
    numbers = [
        ("share of ones", format_percent(facts.share, 4), "of the rows with a value"),
        ("plausible range", span, "Wilson's 95 % interval, rounded outward"),
    ]
    offer = Suggestion(f"Use {span} as the range", {"lowest_p": low, "highest_p": high}, ("share",))
    return Suggestions(numbers, [offer], (facts.note,))


def _suggest_numbers(facts: NumberFacts) -> Suggestions:
    mean, deviation = facts.mean, facts.standard_deviation
    sigma = _rounded_ends(0.0, deviation)[1]

    # A 95 % interval of the mean, rounded outward; off the bounds by a hundredth of their distance, or half of its own
    half = 1.96 * deviation / math.sqrt(facts.n)
    low, high = _rounded_ends(mean - half, mean + half)
    if half:
        margin = 0.01 * (facts.high - facts.low)
        low = max(low, float(f"{facts.low + min(margin, (mean - facts.low) / 2):.12g}"))
        high = min(high, float(f"{facts.high - min(margin, (facts.high - mean) / 2):.12g}"))

    bounds_text = f"{format_distinct(facts.low, facts.high)} to {format_distinct(facts.high, facts.low)}"
    mean_text, sigma_text = f"{format_number(low)} to {format_number(high)}", f"σ = {format_number(sigma)}"
    bounds = {"low": facts.low, "high": facts.high}
    span = {"lowest_mean": low, "highest_mean": high}
    names = "low", "high", "mean", "standard_deviation"
    everything = f"Use bounds {bounds_text}, a mean from {mean_text} and {sigma_text}"
    offers = [
        Suggestion(f"Use the bounds {bounds_text}", bounds, names[:2]),
        Suggestion(f"Use {mean_text} as the range of the mean", span, names[2:3]),
        Suggestion(f"Use {sigma_text}", {"sigma": sigma}, names[3:]),
        Suggestion(everything, {**bounds, **span, "sigma": sigma}, names),
    ]
    numbers = [
        ("suggested bounds", bounds_text, "of all values, see below"),
        ("mean", format_number(mean, 4), f"plausible from {mean_text} (95 %)"),
        ("standard deviation", format_number(deviation, 4), "with n − 1"),
    ]
    return Suggestions(numbers, offers, (facts.misfit, "" if deviation else NO_SPREAD), facts.bounds_note)


def _rounded_ends(low: float, high: float) -> tuple[float, float]:
    """Ends of an interval, rounded outward to two of the digits that tell them apart.

    >>> _rounded_ends(0.2189, 0.3958), _rounded_ends(0.5, 0.5)
    ((0.21, 0.4), (0.5, 0.5))
    """
    if high <= low:
        return low, high
    step = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return float(f"{math.floor(low / step) * step:.12g}"), float(f"{math.ceil(high / step) * step:.12g}")
