"""The ε of a design: the smallest for the accuracy, the largest allowed, or that beyond which nothing improves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import round_up
from dpviz.core.monte_carlo import TIE_TOLERANCE
from dpviz.curator.candidate import ERROR_KEY, Candidate
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.ranking import BISECTION_TOLERANCE, EPSILON_DIGITS, SATURATION, SIMULATED_TOLERANCE

EPSILON_GRID = np.geomspace(0.01, 100.0, 49)  # 12 points per decade


def assign_epsilon(candidate: Candidate) -> Candidate | None:
    """Candidate at its ε; None where no privacy limit gives an ε and none tried meets the accuracy limits.

    Notes
    -----
    With privacy limits it is the largest ε that meets them; where that is more than is usual, or less ε is as good, the
    smallest beyond which nothing improves; a smaller one where that breaks a limit on accuracy that less ε meets.
    Without them, or where the strongest protection is the goal, it is the smallest that is enough for the accuracy.
    """
    question, largest = candidate.question, candidate.largest_epsilon()
    if question.minimizes_epsilon and (smallest := smallest_sufficient(candidate, largest or math.inf)) is not None:
        return smallest
    epsilon = useful_epsilon(candidate)
    if epsilon is None or largest is None:
        return None
    assigned = candidate.at(epsilon, is_saturated=epsilon < largest or largest == PROMISES.maximum)
    if epsilon < largest and not question.minimizes_epsilon and assigned.meets_limits is False:
        return smallest_sufficient(candidate, epsilon) or assigned
    return assigned


def smallest_sufficient(
    candidate: Candidate, upper: float = math.inf, tolerance: float = BISECTION_TOLERANCE
) -> Candidate | None:
    """Candidate at the smallest ε found that meets its accuracy limits; None where none does.

    Parameters
    ----------
    candidate : Candidate
    upper : float, optional
        Largest ε considered, at most 100.
    tolerance : float, optional
        Relative width of the bracket in which the bisection ends; at least one per cent where something is simulated,
        with every second point of the grid.

    Notes
    -----
    Accuracy is not monotone in ε: a prior can draw the estimate towards the truth, and coverage can fall again. Hence
    a grid is scanned from below, and the step before the first sufficient point is bisected. A window narrower than a
    step, a factor of 1.21 (1.47 where something is simulated), can be missed.
    """
    is_simulated = candidate.question.data.simulated
    points = EPSILON_GRID[::2] if is_simulated else EPSILON_GRID
    grid = sorted({*points[points < upper].tolist(), min(upper, float(points[-1]))})
    tolerance = max(tolerance, SIMULATED_TOLERANCE) if is_simulated else tolerance
    judged: dict[float, Candidate] = {}

    def is_sufficient(epsilon: float) -> bool:
        if epsilon not in judged:
            judged[epsilon] = next(item for item in candidate.at(epsilon).refinements() if item.is_decided)
        return bool(judged[epsilon].meets_limits)

    # Where bias or error alone decides, intervals are computed for the result alone
    epsilon = None
    if not is_simulated:
        epsilon = _smallest_epsilon(lambda value: candidate.at(value).meets_limits is not False, grid, tolerance)
    if is_simulated or (epsilon is not None and not is_sufficient(epsilon)):
        epsilon = _smallest_epsilon(is_sufficient, grid, tolerance)
    if epsilon is None:
        return None
    infeasible = [value for value, item in judged.items() if item.meets_limits is False and value < epsilon]
    return dataclasses.replace(judged[epsilon].completed(), largest_infeasible=max(infeasible, default=0.0))


def _smallest_epsilon(is_enough: Callable[[float], bool], grid: Sequence[float], tolerance: float) -> float | None:
    """Smallest ε that is enough: the first of a rising grid, bisected, and rounded up to 4 digits if enough so."""
    place = next((place for place, epsilon in enumerate(grid) if is_enough(epsilon)), None)
    if place is None or place == 0:
        return None if place is None else grid[0]
    low, high = grid[place - 1], grid[place]
    while high > low * (1 + tolerance):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    rounded = min(round_up(high, EPSILON_DIGITS), grid[-1])
    return rounded if is_enough(rounded) else high


def useful_epsilon(candidate: Candidate) -> float | None:
    """Largest ε allowed, or the smallest at which accuracy saturates; None where no privacy limit gives an ε.

    It is looked for where the limits allow every ε, the real ε is unusual, or a smaller ε is as accurate.
    """
    largest = candidate.largest_epsilon()
    if largest is None:
        return None
    evaluation = candidate.at(largest)
    is_unlimited = largest == PROMISES.maximum
    if not (is_unlimited or evaluation.exceeds_usual_epsilon or _is_as_good_with_less(evaluation)):
        return largest
    epsilon = _saturating_epsilon(candidate, largest)
    if candidate.question.needs_interval and candidate.at(epsilon).meets_limits is not False:
        epsilon = _interval_saturating_epsilon(candidate, epsilon, largest)
    return largest if is_unlimited and epsilon > 0.9 * largest else epsilon  # there it still falls


def _is_as_good_with_less(evaluation: Candidate) -> bool:
    """Whether an error or a bias that counts is better with 0.9 or 0.3 of ε, or with 0.9 none is worse.

    Otherwise the error still falls at this ε. Only the true values tried are looked at; False for simulated data.
    """
    for share in (0.9, 0.3):
        less = evaluation.at(share * evaluation.epsilon)
        if evaluation.question.data.simulated or less.epsilon < EPSILON_GRID[0]:
            return False
        keys = (ERROR_KEY, *_estimate_keys(evaluation))
        before, after = ([item.over_tried(key).measure.value for key in keys] for item in (evaluation, less))
        losses = np.subtract(after, before)[1:] / (SATURATION * max(before[0], TIE_TOLERANCE))
        if losses.min() < -1 or (share == 0.9 and losses.max() <= 1):
            return True
    return False


def _saturating_epsilon(candidate: Candidate, upper: float) -> float:
    """Smallest ε such that no larger one up to `upper` improves by more than a thousandth what counts.

    Bias and error are compared with those at all larger ε on a grid. An interval is not looked at.
    """
    ends = min(EPSILON_GRID[0], upper), upper
    known = {epsilon: candidate.at(epsilon) for epsilon in np.geomspace(*ends, 16).tolist()}

    # An error can fall and rise again: the smallest bias and error between two points, in four rounds
    for key in _estimate_keys(candidate) * 4:
        grid = sorted(known)
        place = grid.index(min(grid, key=lambda epsilon: known[epsilon].value(key)))
        ends = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
        known |= {epsilon: candidate.at(epsilon) for epsilon in np.geomspace(*ends, 6)[1:-1].tolist()}

    def is_saturated(epsilon: float) -> bool:
        evaluation = known.get(epsilon) or candidate.at(epsilon)
        return all(_lost_accuracy(evaluation, known[larger]) <= 1 for larger in known if larger >= epsilon)

    return _smallest_epsilon(is_saturated, sorted(known), BISECTION_TOLERANCE) or upper


def _interval_saturating_epsilon(candidate: Candidate, start: float, upper: float) -> float:
    """ε with an interval as good as at `upper`: sought above `start`, and also below it where no error counts."""
    best = candidate.at(upper, is_complete=True)

    @cache
    def is_as_good(epsilon: float) -> bool:
        return _lost_accuracy(candidate.at(epsilon, is_complete=True), best) <= 1

    # By factors of two upward until it is as good, and where no error counts downward as long as it is
    grid = [start]
    while grid[-1] < upper and not is_as_good(grid[-1]):
        grid.append(min(2 * grid[-1], upper))
    no_error_counts = all(ACCURACY_MEASURES[key].needs_interval for key in candidate.question.relevant_measures)
    while no_error_counts and grid[0] >= 2 * EPSILON_GRID[0] and is_as_good(grid[0]):
        grid.insert(0, grid[0] / 2)
    return min(round_up(_smallest_epsilon(is_as_good, grid, SIMULATED_TOLERANCE) or upper, EPSILON_DIGITS), upper)


def _estimate_keys(candidate: Candidate) -> list[str]:
    """Bias and error, as far as they count; the error where neither does."""
    return [key for key in ("bias", ERROR_KEY) if key in candidate.question.relevant_measures] or [ERROR_KEY]


def _lost_accuracy(evaluation: Candidate, rival: Candidate) -> float:
    """Largest relative loss against a rival, in units of 0.1 %; infinite if only the rival meets a limit.

    It is relative to the limit for what is limited and not the goal, to the error for a bias, else to its own value.
    """
    question = evaluation.question
    limits = {limit.key: limit.limit for limit in question.limits}
    if any(rival.verdicts[key] and evaluation.verdicts[key] is False for key in limits):
        return math.inf
    losses = []
    known = [key for key in question.relevant_measures if not math.isnan(evaluation.value(key) - rival.value(key))]
    for key in known or [ERROR_KEY]:
        measure = ACCURACY_MEASURES[key]
        unit = abs(evaluation.value(key if measure.needs_interval else ERROR_KEY))
        if key != question.goal and key in limits:
            unit = limits[key]
        loss = (rival.value(key) - evaluation.value(key)) * (1 if measure.is_share else -1)
        if math.isfinite(loss):  # a width can be infinite
            loss /= max(SATURATION * unit, TIE_TOLERANCE)
        losses.append(0.0 if math.isnan(loss) else loss)
    return max(losses)
