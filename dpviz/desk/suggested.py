"""What a column of the curator's own file suggests for a question: numbers with their meaning, and settings to take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dpviz.core.formatting import format_distinct, format_number, format_percent
from dpviz.core.monte_carlo import wilson_interval
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion, range_names
from dpviz.desk.stated import NUMBERS, question_from_form
from dpviz.uploads.facts import CategoryFacts, Facts, NumberFacts, ProportionFacts

SUGGESTED_LEVEL = 0.95  # Of the range around what the column says
END_DIGITS = 2  # Of its ends, rounded outward
OFF_BOUNDS = 0.01  # Of the way between the bounds by which a mean is kept off them
ALL_ALIKE = "All values are alike, so that they say nothing of the spread, without which nothing can be designed."


class Suggestion(NamedTuple):
    """Settings, by their names on the desk, in words, and what they take of the facts."""

    words: str
    settings: dict[str, float]
    taken: tuple[str, ...]


class Suggested(NamedTuple):
    """Numbers of a column, each with its name and its meaning, what can be taken of them, and what to know of both."""

    numbers: list[tuple[str, str, str]]
    offers: list[Suggestion]
    remarks: tuple[str, ...] = ()
    how: str = ""


def kind_with(settings: Mapping[str, float], now: str) -> str:
    """Return the kind of data that is asked about `now`, or else the first that has numbers for these settings."""
    has = [
        key
        for key, kind in QUESTION_KINDS.items()
        if {*settings} <= {*(one.name for one in kind.parameters()), *range_names(kind)}
    ]
    return now if now in has or not has else has[0]


def refusal(settings: Mapping[str, float], values: Mapping[str, Any], question: DesignQuestion) -> str:
    """Why a form would not take settings; empty where it does.

    Parameters
    ----------
    settings : mapping of str to float
    values : mapping of str to Any
        All numbers of the form by name, into which they are put.
    question : DesignQuestion
        What it asks now.

    Returns
    -------
    str
    """
    kind = QUESTION_KINDS[kind_with(settings, question.data.key)]
    protect = [protection.key for protection in question.protections]
    accuracy = [limit.key for limit in question.limits]
    numbers = {**values, **settings}
    choices: dict[str, Any] = {"goal": question.goal, "average": question.average, "sets": question.sets}
    try:
        for name, value in numbers.items():
            NUMBERS[name].validate(value)
        question_from_form(kind, numbers, protect, accuracy, **choices)
    except ValueError as error:
        return str(error)
    return ""


def suggested(facts: Facts, now: str) -> Suggested:
    """Return what the facts of a column suggest while the kind of data `now` is asked about."""
    return OF_FACTS[type(facts)](facts, now)


def _of_share(facts: ProportionFacts, now: str) -> Suggested:
    plausible = rounded_ends(*wilson_interval(facts.share, facts.n, SUGGESTED_LEVEL))
    low, high = (min(max(end, 0.0), 1.0) for end in plausible)
    ends = {"lowest_p": low, "highest_p": high}
    span = f"{format_number(low)} to {format_number(high)}"
    return Suggested(
        [
            _rows("a value", facts),
            ("share of ones", format_percent(facts.share, 4), "of the rows with a value"),
            ("plausible range", span, "Wilson's 95 % interval, rounded outward"),
        ],
        [_people(facts, ends, now), Suggestion(f"Use {span} as the range", ends, ("share",))],
        (facts.note,),
    )


def _of_categories(facts: CategoryFacts, now: str) -> Suggested:
    cells: dict[str, float] = {"cells": facts.categories}
    return Suggested(
        [_rows("a value", facts), ("categories", f"{facts.categories:,}", "distinct values that occur")],
        [
            _people(facts, cells, now),
            Suggestion(f"Use k = {facts.categories:,} categories", cells, ("categories",)),
        ],
    )


def _of_numbers(facts: NumberFacts, now: str) -> Suggested:
    low, high = range_of_mean(facts)
    spread = rounded_ends(0.0, facts.standard_deviation)[1]
    within = f"{format_distinct(facts.low, facts.high)} to {format_distinct(facts.high, facts.low)}"
    means, sigma = f"{format_number(low)} to {format_number(high)}", f"σ = {format_number(spread)}"
    bounds = {"low": facts.low, "high": facts.high}
    ends, deviation = {"lowest_mean": low, "highest_mean": high}, {"sigma": spread}
    offers = [
        Suggestion(f"Use the bounds {within}", bounds, ("low", "high")),
        Suggestion(f"Use {means} as the range of the mean", ends, ("mean",)),
        Suggestion(f"Use {sigma}", deviation, ("standard_deviation",)),
        Suggestion(
            f"Use bounds {within}, a mean from {means} and {sigma}",
            bounds | ends | deviation,
            ("low", "high", "mean", "standard_deviation"),
        ),
    ]
    return Suggested(
        [
            _rows("a number", facts),
            ("suggested bounds", within, "of all values, see below"),
            ("mean", format_number(facts.mean, 4), f"plausible from {means} (95 %)"),
            ("standard deviation", format_number(facts.standard_deviation, 4), "with n − 1"),
        ],
        [_people(facts, bounds, now), *(offers if facts.standard_deviation else [])],
        (facts.misfit, "" if facts.standard_deviation else ALL_ALIKE),
        facts.bounds_note,
    )


OF_FACTS: dict[type[Facts], Callable[[Any, str], Suggested]] = {
    ProportionFacts: _of_share,
    CategoryFacts: _of_categories,
    NumberFacts: _of_numbers,
}


def _rows(what: str, facts: Facts) -> tuple[str, str, str]:
    return f"rows with {what}", f"{facts.n:,}", f"{facts.missing:,} without one are left out"


def _people(facts: Facts, beside: Mapping[str, float], now: str) -> Suggestion:
    """What sets n, at most to the most that the desk takes of the data that settings `beside` it are of."""
    kind = QUESTION_KINDS[kind_with(beside, now)]
    most = next(int(one.maximum) for one in kind.parameters() if one.name == "n")
    if facts.n > most:
        return Suggestion(f"Use n = {most:,}, the most that the desk takes of such data", {"n": most}, ("n",))
    return Suggestion(f"Use n = {facts.n:,}", {"n": facts.n}, ("n",))


def range_of_mean(facts: NumberFacts) -> tuple[float, float]:
    """Return a 95 % interval of the mean, rounded outward, inside the bounds: beyond them no mean can be."""
    half = 1.96 * facts.standard_deviation / math.sqrt(facts.n)
    low, high = rounded_ends(facts.mean - half, facts.mean + half)
    if not half:
        return low, high
    width = facts.high - facts.low
    first = facts.low + min(OFF_BOUNDS * width, (facts.mean - facts.low) / 2)
    last = facts.high - min(OFF_BOUNDS * width, (facts.high - facts.mean) / 2)
    return max(low, float(f"{first:.12g}")), min(high, float(f"{last:.12g}"))


def rounded_ends(low: float, high: float) -> tuple[float, float]:
    """Return ends of few digits that are not inside an interval; the digits are those that tell the ends apart.

    >>> rounded_ends(0.2189, 0.3958), rounded_ends(0.5, 0.5)
    ((0.21, 0.4), (0.5, 0.5))
    """
    width = high - low
    if width <= 0:
        return low, high
    step = 10.0 ** (math.floor(math.log10(width)) - END_DIGITS + 1)
    ends = math.floor(low / step) * step, math.ceil(high / step) * step
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")
