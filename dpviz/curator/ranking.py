"""The one order of evaluated designs, which every sentence, table, picture and report uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from dpviz.core.monte_carlo import Measure, tie_classes
from dpviz.curator.candidate import EPSILON_TOLERANCE, ERROR_KEY, Candidate
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.question import DesignQuestion

SATURATION = 1e-3  # relative improvement below which a larger ε improves nothing: no sentence shows it
EPSILON_DIGITS = 4  # of an ε that was searched, rounded up
BISECTION_TOLERANCE = 2e-4  # relative distance of an ε from the exact one where everything is exact
SIMULATED_TOLERANCE = 0.01  # the same where an error is simulated or an interval computed


class Criterion(NamedTuple):
    """A number by which designs are ranked, the smallest first; `reason` ends "It comes first because …"."""

    label: str
    reason: str
    value: Callable[[Candidate], Measure]


def search_tolerance(epsilon: float, is_rough: bool) -> float:
    """Relative distance from the exact ε that a search leaves: that of its bisection and of its four digits.

    >>> [round(search_tolerance(epsilon, rough), 12) for epsilon, rough in ((0.5, False), (100, False), (0.5, True))]
    [0.0004, 0.0012, 0.0102]
    """
    unit = 0.0
    if 0 < epsilon < math.inf:
        unit = 10.0 ** (math.floor(math.log10(epsilon)) - EPSILON_DIGITS + 1) / epsilon
    return (SIMULATED_TOLERANCE if is_rough else BISECTION_TOLERANCE) + unit


def privacy_loss(design: Candidate) -> Measure:
    """Real ε of all sets, infinite where none is known to hold; within the tolerance of a saturation search."""
    real = design.real_epsilon
    if not design.is_saturated or math.isinf(real):
        return Measure(real, 0.0)
    question = design.question
    return Measure(real, 0.0, within=real * search_tolerance(real, question.data.simulated or question.needs_interval))


def _accuracy(key: str, design: Candidate) -> Measure:
    """Measure of a design; if its ε is saturated, with the 0.1 % tolerance of that search."""
    measure = design.worst_case(key).measure
    if not design.is_saturated or not math.isfinite(measure.value):
        return measure
    unit = measure.value if ACCURACY_MEASURES[key].needs_interval else design.value(ERROR_KEY)
    return replace(measure, within=measure.within + SATURATION * abs(unit))


def _coverage_shortfall(design: Candidate) -> Measure:
    """How far the coverage is below the level of the intervals, 0 where it is not."""
    coverage, level = _accuracy("coverage", design), design.question.level
    return Measure(0.0, 0.0) if coverage.value >= level else replace(coverage, value=level - coverage.value)


def criteria(question: DesignQuestion, meets_limits: bool | None) -> list[Criterion]:
    """Criteria of designs that meet their limits, may meet them or do not (True, None, False), the deciding one first.

    First whether the real ε is far above the usual: limits that bound neither odds nor ε would let such designs lead.
    Of those that meet all, then the goal, or without a privacy limit the real ε; then real ε, error and bias; then
    fewer sets; then the coverage, as several analyses of one release differ in it alone. Of those that break a limit,
    before that by how much the limit is exceeded that is exceeded most, and how many are broken.
    """

    def number(function: Callable[[Candidate], float]) -> Callable[[Candidate], Measure]:
        return lambda design: Measure(float(function(design)), 0.0)

    keys = [key for key in dict.fromkeys((question.goal, ERROR_KEY, "bias")) if key in ACCURACY_MEASURES]
    ordered = [Criterion("real privacy loss ε", "it gives less away", privacy_loss)]
    for label, key in ((ACCURACY_MEASURES[key].label, key) for key in keys):
        ordered.append(Criterion(label, f"its {label} is smaller", partial(_accuracy, key)))
    ordered.append(Criterion("number of sets", "it has fewer sets", number(lambda design: design.sets)))
    ordered.append(Criterion("coverage", "its coverage falls less short of its level", _coverage_shortfall))
    is_unusual = number(lambda design: design.exceeds_usual_epsilon)
    n_broken = number(lambda design: len(design.limits_with(False)))
    first = Criterion("protection", "its real ε is less unusual", is_unusual)
    distances = [
        Criterion("distance from its limits", "it exceeds no limit by as much", lambda design: design.limit_use),
        Criterion("number of broken limits", "it breaks fewer limits", n_broken),
    ]
    if meets_limits is False:
        return [first, *distances, *ordered]
    if question.ranked_by in ACCURACY_MEASURES:
        ordered[:2] = ordered[1], ordered[0]
    return [first, *ordered]


def leading_criterion(best: Candidate) -> Criterion:
    """Criterion by which a design that leads is ranked, among those with as usual a real ε."""
    return criteria(best.question, best.meets_limits)[1]


def _classes(designs: Sequence[Candidate], criterion: Criterion) -> list[list[Candidate]]:
    """Tie classes of designs with the same verdict: within the tolerance of their search, or two standard errors."""
    question = designs[0].question
    is_searched = question.minimizes_epsilon and designs[0].meets_limits is not False

    def tied(value: Measure, reference: Measure) -> bool:
        size = max(abs(value.value), abs(reference.value))
        tolerance = search_tolerance(size, question.data.simulated) if is_searched else EPSILON_TOLERANCE
        return value.tied(reference, tolerance)

    return tie_classes(designs, criterion.value, tied)


def rank(designs: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Designs in order: those that meet all limits, those that may, and those that break one; ties as they came."""
    ranked: list[Candidate] = []
    for verdict in (True, None, False):
        group = [design for design in designs if design.meets_limits is verdict]
        classes = [group]
        for criterion in criteria(group[0].question, verdict) if group else ():
            classes = [tied for members in classes for tied in _classes(members, criterion)]
        ranked += [design for members in classes for design in members]
    return tuple(ranked)


def narrow(ranked: Sequence[Candidate]) -> Iterator[tuple[Criterion, list[Candidate]]]:
    """Yield each criterion of the best of ranked designs with those that are still tied with it."""
    tied = [design for design in ranked if design.meets_limits is ranked[0].meets_limits]
    for criterion in criteria(ranked[0].question, ranked[0].meets_limits) if ranked else ():
        tied = next(group for group in _classes(tied, criterion) if any(design is ranked[0] for design in group))
        yield criterion, tied
