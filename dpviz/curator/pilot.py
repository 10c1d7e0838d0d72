"""What a column of the curator's own file suggests for a question: numbers with their meaning, and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpviz.core.formatting import format_distinct, format_percent
from dpviz.core.monte_carlo import wilson_interval
from dpviz.curator.form import NUMBERS, question_from_form
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion, range_names
from dpviz.export.templates import render_paragraphs
from dpviz.uploads.columns import CategoryFacts, Facts, NumberFacts, ProportionFacts

NO_SPREAD = "All values are alike, so that they say nothing of the spread, without which nothing can be designed."
_BOUNDS, _RANGE, _MOMENTS = ("low", "high"), ("lowest_mean", "highest_mean"), ("mean", "standard_deviation")
OFFERS: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("cells",), ("categories",)),
    (("lowest_p", "highest_p"), ("share",)),
    (_BOUNDS, _BOUNDS),
    (_RANGE, _MOMENTS[:1]),
    (("sigma",), _MOMENTS[1:]),
    ((*_BOUNDS, *_RANGE, "sigma"), (*_BOUNDS, *_MOMENTS)),
]
"""Names of the settings that can be taken together, and of the facts that they use."""


class Suggestion(NamedTuple):
    """Settings by their names in the form, what a button says that takes them, and names of the facts that they use."""

    label: str
    settings: dict[str, float]
    facts: tuple[str, ...]

    def kind(self, current: str) -> str:
        """Kind of data of the question (a key), or else the first that has numbers for these settings."""
        names = {key: {*kind.numbers(), *range_names(kind)} for key, kind in QUESTION_KINDS.items()}
        fits = [key for key in names if set(self.settings) <= names[key]]
        return current if current in fits or not fits else fits[0]

    def refusal(self, values: Mapping[str, Any], question: DesignQuestion) -> str:
        """Why a form with these values by name, and the choices of a question, would not take them; else empty."""
        kind, numbers = QUESTION_KINDS[self.kind(question.data.key)], {**values, **self.settings}
        protect, accuracy = ([limit.key for limit in limits] for limits in (question.protections, question.limits))
        choices = {"goal": question.goal, "average": question.average, "sets": question.sets}
        try:
            for name, value in numbers.items():
                NUMBERS[name].validate(value)
            question_from_form(kind, numbers, protect, accuracy, **choices)
        except ValueError as error:
            return str(error)
        return ""


class Suggestions(NamedTuple):
    """Numbers of a column, each with name, value and meaning; what can be taken of them; what to know of both."""

    numbers: list[tuple[str, str, str]]
    offers: list[Suggestion]
    remarks: tuple[str, ...] = ()
    caption: str = ""


def suggest_settings(facts: Facts, current: str) -> Suggestions:
    """What the facts of a column suggest.

    Parameters
    ----------
    facts : Facts
    current : str
        Key of the kind of data of the question.
    """
    values = _form_values(facts)
    content = {"facts": facts, "values": values, "format_distinct": format_distinct, "format_percent": format_percent}
    cells = render_paragraphs("curator/templates/pilot_numbers.txt", **content)
    labels = render_paragraphs("curator/templates/pilot_offers.txt", **content)
    rows = [({name: values[name] for name in names}, used) for names, used in OFFERS if set(names) <= set(values)]
    offers = [Suggestion(label, settings, used) for label, (settings, used) in zip(labels, rows, strict=True)]
    kind = QUESTION_KINDS[offers[0].kind(current)]

    # What is to be known of both
    remarks: tuple[str, ...] = (facts.note,) if isinstance(facts, ProportionFacts) else ()
    caption = ""
    if isinstance(facts, NumberFacts):
        remarks, caption = (facts.misfit, "" if facts.standard_deviation else NO_SPREAD), facts.bounds_note
        offers = offers if facts.standard_deviation else []

    # n, at most what the desk takes of the data that the other settings are of
    n = min(facts.n, int(kind.numbers()["n"].maximum))
    label = f"Use n = {n:,}" + (", the most that the desk takes of such data" if n < facts.n else "")
    numbers = list(zip(cells[::3], cells[1::3], cells[2::3], strict=True))
    return Suggestions(numbers, [Suggestion(label, {"n": n}, ("n",)), *offers], remarks, caption)


def _form_values(facts: Facts) -> dict[str, float]:
    """Numbers that a form can take of a column, by their names in it."""
    if isinstance(facts, CategoryFacts):
        return {"cells": facts.categories}
    if isinstance(facts, ProportionFacts):
        ends = _rounded_ends(*wilson_interval(facts.share, facts.n, 0.95))
        return dict(zip(("lowest_p", "highest_p"), (min(max(end, 0.0), 1.0) for end in ends), strict=True))
    assert isinstance(facts, NumberFacts)

    # A 95 % interval of the mean, rounded outward; off the bounds by a hundredth of their distance, or half of its own
    mean, half = facts.mean, 1.96 * facts.standard_deviation / math.sqrt(facts.n)
    low, high = _rounded_ends(mean - half, mean + half)
    if half:
        margin = 0.01 * (facts.high - facts.low)
        low = max(low, float(f"{facts.low + min(margin, (mean - facts.low) / 2):.12g}"))
        high = min(high, float(f"{facts.high - min(margin, (facts.high - mean) / 2):.12g}"))
    sigma = _rounded_ends(0.0, facts.standard_deviation)[1]
    return {"low": facts.low, "high": facts.high, "lowest_mean": low, "highest_mean": high, "sigma": sigma}


def _rounded_ends(low: float, high: float) -> tuple[float, float]:
    """Ends of an interval, rounded outward to two of the digits that tell them apart.

    >>> _rounded_ends(0.2189, 0.3958), _rounded_ends(0.5, 0.5)
    ((0.21, 0.4), (0.5, 0.5))
    """
    if high <= low:
        return low, high
    step = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return float(f"{math.floor(low / step) * step:.12g}"), float(f"{math.ceil(high / step) * step:.12g}")
