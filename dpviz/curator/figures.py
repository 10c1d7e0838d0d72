"""Data of the pictures of an answer: how much of each limit its designs use, and how they do along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.curator.candidate import ERROR_KEY, Evaluation
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import largest_guess_rate
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import limit_text
from dpviz.curator.sweep import Sweep, measure_of


@dataclass(frozen=True)
class LimitUse:
    """Share of one limit that each design uses, and its ends at two standard errors; NaN where it is not known."""

    name: str
    shares: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class LimitsFigure:
    """Designs, each as method and analysis, how much of each limit they use, and what stands for a limit otherwise."""

    names: list[tuple[str, str]]
    uses: list[LimitUse]
    reference: str = ""


@dataclass(frozen=True)
class SweepLine:
    """A design along an axis: values with their standard errors, and whether it is never the best."""

    name: str
    method: str
    x: FloatArray
    y: FloatArray
    error: FloatArray
    is_dominated: bool


@dataclass(frozen=True)
class SweepFigure:
    """Lines of designs, the smallest error possible, ends of the axis, and where the question and its design are."""

    lines: list[SweepLine]
    bound: tuple[FloatArray, FloatArray] | None
    ends: tuple[float, float]
    current: float
    current_value: float


def limit_use(limit: AccuracyLimit, designs: Sequence[Evaluation], name: str = "") -> LimitUse:
    """How much of a limit each design uses."""
    measures = [design.worst_case(limit.key).measure for design in designs]
    shares = [math.nan if math.isnan(item.value) else limit.used_share(item).value for item in measures]
    ends = [(math.nan,) * 2 if math.isnan(item.value) else limit.used_share_interval(item, 2) for item in measures]
    name = name or limit_text(designs[0].question, limit.measure, limit.limit)
    return LimitUse(name, shares, [low for low, _ in ends], [high for _, high in ends])


def limits_figure(result: SearchResult, rows: int) -> LimitsFigure | None:
    """The first designs against each accuracy limit, or without one against the best of the goal; None if unknown."""
    designs, question = result.designs[:rows], result.question
    names = [(design.method.label, design.sets_and_rule) for design in designs]
    if question.limits:
        return LimitsFigure(names, [limit_use(limit, designs) for limit in question.limits])
    measure = ACCURACY_MEASURES.get(question.goal, ACCURACY_MEASURES[ERROR_KEY])
    values = [design.value(measure.key) for design in result.designs]
    smallest = min((value for value in values if value > 0), default=0.0)
    if not smallest:
        return None
    use = limit_use(AccuracyLimit(measure.key, smallest), designs, measure.label)
    return LimitsFigure(names, [use], f"the smallest {measure.label}")


def guess_rate(sweep: Sweep, epsilon: float) -> float:
    """How often an attacker can guess right where this ε, with the δ of the question, is promised."""
    return math.nan if math.isnan(epsilon) else largest_guess_rate(epsilon, sweep.question.max_delta)


def sweep_figure(sweep: Sweep, measure: str, *, guesses: bool = False) -> SweepFigure:
    """A measure of the designs along their axis, or against the right guesses that ε allows.

    Parameters
    ----------
    sweep : Sweep
    measure : str
        Key of `sweep.SWEEP_MEASURES`.
    guesses : bool, optional
    """

    def place(value: float) -> float:
        return guess_rate(sweep, value) if guesses else float(value)

    dominated = sweep.dominated(measure) if sweep.is_complete else set()
    lines = []
    for index, design in enumerate(sweep.designs):
        points = [(place(value), item.value, item.error) for value, item in sweep.line(index, measure)]
        x, y, error = np.array(points).T if points else np.empty((3, 0))
        lines.append(SweepLine(sweep.name(index), design.method.key, x, y, error, index in dominated))
    bound = None
    if measure == "release_error" and sweep.smallest_errors:
        bound_x, bound_y = np.array([(place(value), error) for value, error in sorted(sweep.smallest_errors.items())]).T
        bound = bound_x, bound_y
    values = sweep.axis.values(sweep.question)
    low, high = place(values[0]), place(values[-1])
    if low >= high:
        low, high = low - 0.5, high + 0.5
    current = place(sweep.axis.current_value(sweep.question))
    return SweepFigure(lines, bound, (low, high), current, measure_of(sweep.designs[0], measure).value)
