"""What a column of the curator's own file suggests for a question: numbers with their meaning, and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpviz.core.formatting import format_distinct, format_number, format_percent
from dpviz.core.monte_carlo import wilson_interval
from dpviz.curator.form import NUMBERS, question_from_form
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion, range_names
from dpviz.uploads.facts import CategoryFacts, Facts, NumberFacts, ProportionFacts

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
    choices = {name: getattr(question, name) for name in ("goal", "average", "sets")}
    numbers = {**values, **settings}
    try:
        for name, value in numbers.items():
            NUMBERS[name].validate(value)
        question_from_form(kind, numbers, protect, accuracy, **choices)
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
    if isinstance(facts, NumberFacts):
        content, suggestions = "a number", _suggest_numbers(facts)
    else:
        assert isinstance(facts, ProportionFacts | CategoryFacts)
        content, suggestions = "a value", _suggest_shares(facts)
    rows = f"rows with {content}", f"{facts.n:,}", f"{facts.missing:,} without one are left out"

    # n, at most what the desk takes of the data that the other settings are of
    kind = QUESTION_KINDS[kind_with(suggestions.offers[0].settings, current)]
    maximum = int(kind.numbers()["n"].maximum)
    label = f"Use n = {facts.n:,}"
    if facts.n > maximum:
        label = f"Use n = {maximum:,}, the most that the desk takes of such data"
    people = Suggestion(label, {"n": min(facts.n, maximum)}, ("n",))
    has_spread = not isinstance(facts, NumberFacts) or facts.standard_deviation > 0
    offers = [people, *(suggestions.offers if has_spread else [])]
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
    low, high = _range_of_mean(facts)
    sigma = _rounded_ends(0.0, facts.standard_deviation)[1]
    bounds_text = f"{format_distinct(facts.low, facts.high)} to {format_distinct(facts.high, facts.low)}"
    mean_text, sigma_text = f"{format_number(low)} to {format_number(high)}", f"σ = {format_number(sigma)}"
    bounds = {"low": facts.low, "high": facts.high}
    mean = {"lowest_mean": low, "highest_mean": high}
    names = "low", "high", "mean", "standard_deviation"
    everything = f"Use bounds {bounds_text}, a mean from {mean_text} and {sigma_text}"
    offers = [
        Suggestion(f"Use the bounds {bounds_text}", bounds, names[:2]),
        Suggestion(f"Use {mean_text} as the range of the mean", mean, names[2:3]),
        Suggestion(f"Use {sigma_text}", {"sigma": sigma}, names[3:]),
        Suggestion(everything, {**bounds, **mean, "sigma": sigma}, names),
    ]
    numbers = [
        ("suggested bounds", bounds_text, "of all values, see below"),
        ("mean", format_number(facts.mean, 4), f"plausible from {mean_text} (95 %)"),
        ("standard deviation", format_number(facts.standard_deviation, 4), "with n − 1"),
    ]
    remarks = facts.misfit, "" if facts.standard_deviation else NO_SPREAD
    return Suggestions(numbers, offers, remarks, facts.bounds_note)


def _range_of_mean(facts: NumberFacts) -> tuple[float, float]:
    """A 95 % interval of the mean, rounded outward, a hundredth of their distance or half of its own off the bounds."""
    half = 1.96 * facts.standard_deviation / math.sqrt(facts.n)
    low, high = _rounded_ends(facts.mean - half, facts.mean + half)
    if not half:
        return low, high
    margin = 0.01 * (facts.high - facts.low)
    first = facts.low + min(margin, (facts.mean - facts.low) / 2)
    last = facts.high - min(margin, (facts.high - facts.mean) / 2)
    return max(low, float(f"{first:.12g}")), min(high, float(f"{last:.12g}"))


def _rounded_ends(low: float, high: float) -> tuple[float, float]:
    """Ends of an interval, rounded outward to two of the digits that tell them apart.

    >>> _rounded_ends(0.2189, 0.3958), _rounded_ends(0.5, 0.5)
    ((0.21, 0.4), (0.5, 0.5))
    """
    if high <= low:
        return low, high
    step = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return float(f"{math.floor(low / step) * step:.12g}"), float(f"{math.ceil(high / step) * step:.12g}")
