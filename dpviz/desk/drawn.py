"""The pictures of an answer: how much of each limit its designs use, and how they do along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpviz.charts.comparison import Used, limits_chart
from dpviz.charts.lines import BAR, FADED_OPACITY, Axis, Line, Mark, chosen_mark, comparison_chart, method_stroke
from dpviz.charts.theme import Figure
from dpviz.core.formatting import format_number
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import largest_guess_rate
from dpviz.desk.candidate import Evaluation
from dpviz.desk.following import ADDED_ERROR, MEASURE_LABELS, Followed, measure_of
from dpviz.desk.search import SearchResult
from dpviz.desk.seeking import ERROR_KEY
from dpviz.desk.told.measures import asked_of

GUESSES_TITLE = "right guesses that are allowed, left is more private"
NO_LESS = "no mechanism adds less"


def used(limit: AccuracyLimit, designs: Sequence[Evaluation]) -> Used:
    """Return how much of one limit each design uses."""
    found = [one.worst_cases[limit.key].measure for one in designs]
    around = [(math.nan, math.nan) if math.isnan(one.value) else limit.used_share_interval(one, BAR) for one in found]
    return Used(
        name=asked_of(designs[0].question, limit.measure, limit.limit),
        shares=[math.nan if math.isnan(one.value) else limit.used_share(one).value for one in found],
        low=[low for low, _ in around],
        high=[high for _, high in around],
    )


def limits_picture(desk: SearchResult, rows: int) -> Figure | None:
    """Return the designs of so many `rows` with a mark for each limit on accuracy; without one, for what orders them.

    None where nothing is known of what orders them.
    """
    shown, question, against = desk.designs[:rows], desk.question, ""
    marks = [used(limit, shown) for limit in question.limits]
    if not marks:
        measure = ACCURACY_MEASURES.get(question.goal, ACCURACY_MEASURES[ERROR_KEY])
        smallest = min((one.value(measure.key) for one in desk.designs if one.value(measure.key) > 0), default=0.0)
        if not smallest:
            return None
        against = f"the smallest {measure.label}"
        marks = [replace(used(AccuracyLimit(measure.key, smallest), shown), name=measure.label)]
    names = [f"{one.method.label}<br><sup>{one.sets_and_rule}</sup>" for one in shown]
    return limits_chart(names, marks, against=against, rows=rows)


def guess_rate(found: Followed, epsilon: float) -> float:
    """Return how often an attacker can guess right where this ε, with the δ of the question, is promised."""
    return math.nan if math.isnan(epsilon) else largest_guess_rate(epsilon, found.question.max_delta)


def followed_chart(found: Followed, measure: str, *, guesses: bool = False) -> Figure:
    """Return a measure of the designs along their axis, of which at least one is known; at the right `guesses` of ε."""
    path, question = found.path, found.question
    place: Callable[[float], float] = (lambda value: guess_rate(found, value)) if guesses else float
    faded = found.faded(measure)
    limit = None
    if measure == ADDED_ERROR and found.smallest:
        x, y = np.array([(place(value), error) for value, error in sorted(found.smallest.items())]).T
        limit = Line(name=NO_LESS, x=x, y=y, is_limit=True)
    values = path.values(question)
    low, high = place(values[0]), place(values[-1])
    if low >= high:
        low, high = low - 0.5, high + 0.5
    return comparison_chart(
        [_line(found, index, measure, place, index in faded) for index in range(len(found.designs))],
        Axis(
            title=GUESSES_TITLE if guesses else path.title(question),
            symbol="right guesses" if guesses else path.sign(question),
            log=path.log and not guesses,
            low=low,
            high=high,
        ),
        Axis(title="coverage", percent=True, nominal=question.level)
        if measure == "coverage"
        else Axis(title=MEASURE_LABELS[measure], log=measure != "bias"),
        key=f"{path.key} {measure} {guesses}",
        chosen=place(path.here(question)),
        chosen_text="your question",
        limit=limit,
        mark=_mark(found, measure, place),
    )


def _line(found: Followed, index: int, measure: str, place: Callable[[float], float], is_faded: bool) -> Line:
    points = [(place(value), one.value, one.error) for value, one in found.line(index, measure)]
    x, y, error = np.array(points).T if points else np.empty((3, 0))
    opacity = FADED_OPACITY if is_faded else 1.0
    look: dict[str, Any] = {
        "color": found.designs[index].method.key,
        "stroke": method_stroke(index),
        "opacity": opacity,
    }
    return Line(name=found.name(index), x=x, y=y, error=error, exact=error == 0, **look)


def _mark(found: Followed, measure: str, place: Callable[[float], float]) -> Mark | None:
    """The design that leads the table, where the question stands."""
    here, first = found.path.here(found.question), found.designs[0]
    value = measure_of(first, measure).value
    if math.isnan(here) or math.isnan(value) or (value == 0 and measure != "bias"):
        return None
    return chosen_mark(place(here), value, first.method.key, format_number(value, 3), "your design")
