"""Searches over ε: the smallest that is enough for the accuracy, and that beyond which nothing gets better."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import round_up
from dpviz.core.monte_carlo import TIE_TOLERANCE
from dpviz.curator.candidate import ERROR_KEY, Candidate, Evaluation
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.ranking import BISECTION_TOLERANCE, EPSILON_DIGITS, SATURATION, SIMULATED_TOLERANCE

EPSILON_GRID = np.geomspace(0.01, 100.0, 49)  # 12 points per decade
SATURATION_POINTS = 16

EpsilonSearch = Generator[float, Evaluation, float | None]
"""A search that yields each ε to be evaluated, is sent the evaluation, and returns an ε."""


def smallest_sufficient_epsilon(upper: float = math.inf, *, is_simulated: bool = False) -> EpsilonSearch:
    """Search the smallest ε at which every accuracy limit is met.

    Parameters
    ----------
    upper : float, optional
        Largest ε considered, at most 100.
    is_simulated : bool, optional
        Whether one per cent is close enough, on every second point of the grid.

    Returns
    -------
    float or None
        ε rounded up to four significant digits, so that the number shown is itself sufficient; None if no point of the
        grid is.

    Notes
    -----
    Accuracy is not monotone in ε: a prior can draw the estimate towards the truth, and coverage can fall again. Hence
    the grid is scanned from below, and the step before the first sufficient point is bisected. A window narrower than
    a step, a factor of 1.21, can be missed.
    """
    points = EPSILON_GRID[:: 2 if is_simulated else 1]
    grid = [*points[points < upper].tolist(), min(upper, float(points[-1]))]
    grid = sorted(set(grid))
    insufficient = 0.0
    for sufficient in grid:
        evaluation = yield sufficient
        if evaluation.meets_limits:
            break
        insufficient = sufficient
    else:
        return None
    if not insufficient:
        return sufficient
    tolerance = SIMULATED_TOLERANCE if is_simulated else BISECTION_TOLERANCE

    # Where bias or error decides, intervals are computed for the result alone
    if not is_simulated and _breaks_limits(evaluation, insufficient):
        worse, better = insufficient, sufficient
        while better > worse * (1 + tolerance):
            middle = math.sqrt(worse * better)
            if _breaks_limits(evaluation, middle):
                worse = middle
            else:
                better = middle
        rounded = min(round_up(better, EPSILON_DIGITS), PROMISES.maximum, upper)
        if (yield rounded).meets_limits:
            return rounded

    while sufficient > insufficient * (1 + tolerance):
        middle = math.sqrt(insufficient * sufficient)
        if (yield middle).meets_limits:
            sufficient = middle
        else:
            insufficient = middle
    rounded = min(round_up(sufficient, EPSILON_DIGITS), PROMISES.maximum, upper)
    return rounded if (yield rounded).meets_limits else sufficient


def _breaks_limits(candidate: Candidate, epsilon: float) -> bool:
    """Whether bias or error alone break a limit."""
    return candidate.evaluate(epsilon).meets_limits is False


def saturating_epsilon(upper: float) -> EpsilonSearch:
    """Search the smallest ε from which on nothing that counts gets better by a thousandth up to the largest.

    Bias and error are compared with those at all larger ε on a grid, and the step before the first that is as good is
    bisected. An interval is compared with that at the largest ε alone.
    """
    evaluations = []
    for epsilon in np.geomspace(EPSILON_GRID[0], upper, SATURATION_POINTS).tolist():
        evaluations.append((yield epsilon))

    # An error can fall and rise again: the smallest bias and error between two points
    relevant = evaluations[-1].question.relevant_measures
    for key in ([key for key in ("bias", ERROR_KEY) if key in relevant] or [ERROR_KEY]) * 4:
        place = min(range(len(evaluations)), key=lambda i: evaluations[i].value(key))
        ends = evaluations[max(place - 1, 0)].epsilon, evaluations[min(place + 1, len(evaluations) - 1)].epsilon
        for epsilon in np.geomspace(*ends, 6)[1:-1].tolist():
            evaluations.append((yield epsilon))
        evaluations.sort(key=lambda item: item.epsilon)

    # The first point as good as all that are larger
    place = next(i for i, item in enumerate(evaluations) if _most_lost(item, evaluations[i:]) <= 1)
    larger = evaluations[place:]
    sufficient = evaluations[place].epsilon
    if place:
        worse = evaluations[place - 1].epsilon
        while sufficient > worse * (1 + BISECTION_TOLERANCE):
            middle = math.sqrt(worse * sufficient)
            if _most_lost((yield middle), larger) <= 1:
                sufficient = middle
            else:
                worse = middle
        sufficient = min(round_up(sufficient, EPSILON_DIGITS), upper)
    return sufficient


def interval_saturating_epsilon(start: float, upper: float, *, goes_down: bool) -> EpsilonSearch:
    """Search from an ε upward, or downward too, to one whose interval is as good as at the largest ε."""
    best = yield upper
    sufficient, worse = start, math.nan
    while sufficient < upper and _lost((yield sufficient), best) > 1:
        worse, sufficient = sufficient, min(2 * sufficient, upper)
    while math.isnan(worse) and goes_down and sufficient >= 2 * EPSILON_GRID[0]:
        if _lost((yield sufficient / 2), best) > 1:
            worse = sufficient / 2
        else:
            sufficient /= 2
    while sufficient > worse * (1 + SIMULATED_TOLERANCE):
        middle = math.sqrt(worse * sufficient)
        if _lost((yield middle), best) > 1:
            worse = middle
        else:
            sufficient = middle
    return min(round_up(sufficient, EPSILON_DIGITS), upper)


def _most_lost(item: Evaluation, rivals: list[Evaluation]) -> float:
    return max(_lost(item, rival) for rival in rivals)


def _lost(item: Evaluation, rival: Evaluation) -> float:
    """How much better a rival is in what counts, at most, in thousandths; infinite where it alone meets a limit.

    A limit counts by a thousandth of itself, the goal by one of its own value, a bias by one of the error.
    """
    question = item.question
    limits = {limit.key: limit.limit for limit in question.limits}
    if any(rival.verdicts[key] and item.verdicts[key] is False for key in limits):
        return math.inf
    keys = [key for key in question.relevant_measures if not math.isnan(item.value(key) - rival.value(key))]
    losses = []
    for key in keys or [ERROR_KEY]:
        measure = ACCURACY_MEASURES[key]
        unit = abs(item.value(key if measure.needs_interval else ERROR_KEY))
        if key != question.goal and key in limits:
            unit = limits[key]
        difference = item.value(key) - rival.value(key)
        loss = (-difference if measure.is_share else difference) / max(SATURATION * unit, TIE_TOLERANCE)
        losses.append(0.0 if math.isnan(loss) else loss)
    return max(losses)
