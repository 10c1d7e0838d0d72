"""The smallest prior with δ(prior) ≤ δ, where δ never rises in the prior: few looks, each using the last."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

PRIOR_RESOLUTION = 1e-13  # Relative accuracy of a calibrated prior, which then moves to the private side
NODES_APART = 1e-8  # Difference of two ln prior from which that of their δ is more than rounding
MOST_NODES = 4  # Largest number of values of δ that a prior is interpolated from
Pair = tuple[int, bool]  # Neighbours, rows i and i + 1, and whether row i + 1 is the likelier one


@dataclass(frozen=True)
class Start:
    """Where the search for a prior starts, or where it ended: a guess of the prior, or the answer."""

    prior: float
    slope: float = 1.0  # d ln(−ln δ) / d ln(prior) there; 1 for the tail of a normal or a gamma distribution
    pair: Pair | None = None  # the worst neighbours there, where they are known


def excess_of(value: float, delta: float) -> float:
    """ln(−ln δ) of a value less that of the allowed δ, nearly linear in ln prior; 0 or more is private."""
    if not 0 < value < 1:
        return math.inf if value <= 0 else -math.inf
    return math.log(math.log(value) / math.log(delta))


def smallest_root(
    delta_of: Callable[[float], float],
    delta: float,
    lowest: float,
    top: float,
    top_is_private: bool,
    here: float,
    value: float | None,
    slope: float,
) -> Start:
    """Return the smallest prior in [lowest, top] with δ(prior) ≤ δ, by inverse interpolation of ln(−ln δ).

    It starts from `here`, where δ is `value` if that is known. Infinite where `top` is asked and not private.
    """
    low, high, asked_low, asked_high = lowest, top, False, top_is_private
    nodes: list[tuple[float, float]] = []
    reach, shift, last, looks = 2.0, PRIOR_RESOLUTION, math.inf, 0
    while True:
        value = delta_of(here) if value is None else value
        place, excess, private, looks = math.log(here), excess_of(value, delta), value <= delta, looks + 1
        if private:
            if here <= lowest:
                return Start(lowest, slope)
            high, asked_high = here, True
        elif here >= top:
            return Start(math.inf, slope)
        else:
            low, asked_low = here, True
        if math.isfinite(excess):
            shift = 2 * shift if nodes and abs(place - nodes[0][0]) < 20 * shift else shift  # rounding decides here
            nodes = [(place, excess), *(node for node in nodes if abs(node[0] - place) > NODES_APART)]
            slope = _slope(nodes, slope)
        rounding = shift + 4e-16 * abs(place)
        left, right = math.log(low), math.log(high)
        if asked_low and asked_high and right - left <= 2 * rounding:
            return Start(high, slope)
        if private and excess <= 5 * rounding * slope:
            return Start(here, slope)
        stalled, last = not abs(excess) < last / 2, abs(excess)
        goal = place if stalled else _interpolated(nodes, slope) + rounding
        if private and not asked_low:
            goal = left if looks == 3 else min(goal, place) if not stalled else place - reach
            goal, reach = max(goal, place - reach, left), 2 * reach
        elif not private and not asked_high:
            goal = place + reach if stalled else max(goal, place)
            goal, reach = min(goal, place + reach, right), 2 * reach
        elif stalled or not left < goal < right:
            goal = (left + right) / 2
        here = lowest if goal <= math.log(lowest) else top if goal >= math.log(top) else math.exp(goal)
        here, value = min(max(here, lowest), top), None


def _slope(nodes: list[tuple[float, float]], slope: float) -> float:
    """Return the slope between the newest node and the one nearest to it; the one that was known where it is none."""
    if len(nodes) < 2:
        return slope
    (place, excess), nearest = nodes[0], min(nodes[1:], key=lambda node: abs(node[0] - nodes[0][0]))
    found = (excess - nearest[1]) / (place - nearest[0])
    return found if found > 0 else slope


def _interpolated(nodes: list[tuple[float, float]], slope: float) -> float:
    """ln prior where the excess is 0: the polynomial through the nodes nearest to it, as far as they rise."""
    nearest = sorted(nodes, key=lambda node: abs(node[1]))[:MOST_NODES]
    while len(nearest) > 1:
        rising = sorted(nearest)
        if all(one[1] < two[1] for one, two in pairwise(rising)):
            return interpolated([node[1] for node in nearest], [node[0] for node in nearest], 0.0)
        nearest.pop()
    return nearest[0][0] - nearest[0][1] / slope


def interpolated(abscissae: list[float], values: list[float], at: float) -> float:
    """Return the polynomial through a few points, by Neville's rule.

    >>> interpolated([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 3.0)
    9.0
    """
    row = list(values)
    for width in range(1, len(row)):
        for k in range(len(row) - width):
            left, right = abscissae[k], abscissae[k + width]
            row[k] = ((at - right) * row[k] + (left - at) * row[k + 1]) / (left - right)
    return row[0]
