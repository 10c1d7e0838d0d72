"""Searches that stop before each costly value, so that whoever waits for them can turn to something else."""

import math
from collections.abc import Callable, Sequence

from dpviz.desk.steps import Steps

ValueAt = tuple[float, float]
"""A place, and the value there."""

GOLDEN = (3 - math.sqrt(5)) / 2  # Of a range: where the next value leaves the same proportions on either side


def smallest_in_steps(
    value_at: Callable[[float], Steps[float]], known: Sequence[ValueAt], *, closed: float, enough: float = math.nan
) -> Steps[float]:
    """Return the place of the smallest value found around the smallest of those `known`, whose places rise.

    Next is looked where a parabola through the best and its neighbours is lowest, or where that brings these together
    too slowly at the golden section of the wider side. The search ends where the neighbours are `closed`, where the
    value is `enough`, or where a convex curve through all that is known falls nowhere so far, two steps later at the
    earliest; of NaN at neither.
    Source: Brent (1973), Algorithms for minimization without derivatives, chapter 5.

    >>> from dpviz.desk.steps import finished, paused
    >>> square = lambda place: paused(lambda: (place - 0.7) ** 2)
    >>> round(finished(smallest_in_steps(square, [(0.0, 0.49), (1.0, 0.09), (2.0, 1.69)], closed=1e-6)), 6)
    0.7
    """
    best, value = min(known, key=lambda point: point[1])
    asked, width, before = 0, math.inf, math.inf
    while True:
        place = known.index((best, value))
        low, high = known[max(place - 1, 0)][0], known[min(place + 1, len(known) - 1)][0]
        if high - low <= closed or value <= enough or (asked > 1 and _convex_bound(known, place) > enough):
            return best
        asked, before, width = asked + 1, width, high - low
        wider = high - best if high - best >= best - low else low - best
        aim = _vertex(*known[place - 1 : place + 2]) if low < best < high and width <= before / 2 else math.nan
        if math.isnan(aim):
            aim = best + GOLDEN * wider
        elif abs(aim - best) < closed / 3:
            aim = best + math.copysign(closed / 3, wider)
        here = yield from value_at(aim)
        known = sorted([*known, (aim, here)])
        if here < value:
            best, value = aim, here


def _vertex(left: ValueAt, middle: ValueAt, right: ValueAt) -> float:
    """Where a parabola through three points is lowest, of which the middle one is the lowest; NaN where there is none.

    >>> _vertex((-1.0, 4.0), (0.0, 1.0), (2.0, 1.0))  # (x − 1)²
    1.0
    """
    below, above = middle[0] - left[0], right[0] - middle[0]
    fall, rise = above * (left[1] - middle[1]), below * (right[1] - middle[1])
    if not 0 < fall + rise < math.inf:
        return math.nan
    return middle[0] + (above * fall - below * rise) / (2 * (fall + rise))


def _convex_bound(known: Sequence[ValueAt], place: int) -> float:
    """Below what a convex curve through the points falls nowhere beside the one at a place; −∞ where it may anywhere.

    From one point to the next it lies above the lines through either and the one before.

    >>> _convex_bound([(0.0, 2.0), (1.0, 1.0), (2.0, 3.0)], 1)
    -1.0
    """
    found = []
    for left in range(max(place - 1, 0), min(place + 1, len(known) - 1)):
        bounds = [-math.inf]
        for before, start, end in ((left - 1, left, left + 1), (left + 2, left + 1, left)):
            if 0 <= before < len(known) and math.isfinite(known[start][1]):
                slope = (known[start][1] - known[before][1]) / (known[start][0] - known[before][0])
                bounds.append(known[start][1] + min(slope * (known[end][0] - known[start][0]), 0.0))
        found.append(max(bounds))
    return min(found)


def crossing_in_steps(
    lost_at: Callable[[float], Steps[float]], low: tuple[float, float], high: tuple[float, float], halvings: int
) -> Steps[float]:
    """Return the smallest of 2^halvings settings in equal ratios at which no more than 1 is lost, as these would.

    `low` and `high` are settings and what is lost there. Where that falls, a line through its logarithms needs about
    half as many settings as halving; after one that leaves more than half of them comes the middle.

    >>> from dpviz.desk.steps import finished, paused
    >>> finished(crossing_in_steps(lambda setting: paused(lambda: 3 / setting), (1.0, 3.0), (16.0, 3 / 16), 2))
    4.0
    """
    (start, over), (end, under), parts = low, high, 2**halvings
    first, last, halved = 0, parts, True
    while (left := last - first) > 1:
        place = (first + last) // 2
        if halved and math.isfinite(over - under):
            share = math.log(over) / math.log(over / under) if under > 0 else (over - 1) / (over - under)
            place = min(max(math.ceil(first + share * left), first + 1), last - 1)
        lost = yield from lost_at(start * (end / start) ** (place / parts))
        first, over, last, under = (place, lost, last, under) if lost > 1 else (first, over, place, lost)
        halved = 2 * (last - first) <= left
    return start * (end / start) ** (last / parts)
