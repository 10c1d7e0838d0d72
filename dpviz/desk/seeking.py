"""The smallest ε of a design: with which it keeps the limits on accuracy, or beyond which nothing improves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np

from dpviz.comparisons.terms import PROMISES
from dpviz.core.measures import SURE, TIED_TOLERANCE
from dpviz.core.numerics.steps import Steps
from dpviz.core.parameters import rounded_up
from dpviz.desk.accuracy import ACCURACY

if TYPE_CHECKING:
    from dpviz.desk.assessed import Assessed

SCANNED = np.geomspace(0.01, 100.0, 25)  # Where the smallest ε for an accuracy is sought first
FAR_APART = 6  # Of these: where it is seen first whether bias and error keep their limits anywhere
SCAN_HALVINGS = 11  # Of the step between two of these
SIMULATED_STEPS = 6  # Of a search by simulation, at most
WITHIN, AIMED = 0.01, 0.002  # Relative distance at the end of such a search, and inside
EARLY = 3.0  # Standard errors by which a simulation that still grows has decided
HALVED = 2e-4  # Relative distance from the exact value that so many leave
GOLDEN = (math.sqrt(5) - 1) / 2  # Of the range in which an error is smallest, down to `HALVED`
EPSILON_DIGITS = 4  # Of an ε that was sought, rounded up
TO_THE_END = 16  # Settings up to the largest that is allowed, by which is sought beyond which nothing improves
STILL_FALLING = 0.9  # Of the largest ε there is
ERROR_KEY = "root_mean_squared_error"
NOTHING_MORE = 1e-3  # Relative improvement below which a larger ε improves nothing: no sentence shows it
INTERVAL_HALVINGS = 7  # Of a factor of two, down to `WITHIN`: each takes a whole interval


JudgeAt = Callable[[float], "Iterator[Assessed | None]"]
"""What yields a design at a setting, with what is quick and then the more complete the later; None until then."""

Point = tuple[float, float]
"""The logarithm of a setting, and what is least where it is best."""


def sought_within(value: float, simulated: bool) -> float:
    """Return the relative distance from the exact value that a search leaves: its halvings and its four digits.

    >>> [round(sought_within(value, simulated), 12) for value, simulated in ((0.5, False), (100, False), (0.5, True))]
    [0.0004, 0.0012, 0.0102]
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - EPSILON_DIGITS + 1) / value if 0 < value < math.inf else 0.0
    return (WITHIN if simulated else HALVED) + unit


def seek_smallest(judge: JudgeAt, most: float = math.inf) -> Steps[Assessed | None]:
    """Return the design with the smallest ε found that keeps the limits on accuracy; None where none tried does.

    None above `most` is tried, which is the last where it is below 100.

    Of 25 values from 0.01 to 100 the first that keeps them, and then halved towards the one before: between two of
    these, or below an ε from which coverage falls again, a smaller one could be overlooked. It is rounded up to four
    digits, and keeps the limits as it stands. Where bias or error are too large at six values far apart, that is tried
    at which they exceed their limits by as little as possible, and others only if they keep them there. Where
    everything is simulated, a line through what the limits leave takes the place of most halvings, and the search ends
    within one per cent. `refuted` is the largest ε tried below it that breaks a limit for sure: of those between a
    simulation cannot tell.
    """
    tried: list[Assessed] = []

    def at(setting: float) -> Steps[Assessed | None]:
        one = yield from soonest(judge(setting), lambda one: one.beyond_doubt)
        tried.append(one)
        return one if one.keeps_all else None

    scanned = sorted({*SCANNED[most >= SCANNED].tolist(), min(most, SCANNED[-1].item())})
    # Noise can help: an estimate that is drawn to the middle is nearer to a true value there than the data are.
    apart: list[Assessed] = []
    for value in sorted({*scanned[::-FAR_APART], scanned[0]}, reverse=True):
        first = yield from soonest(judge(value))
        apart.insert(0, first)
        if first.keeps_all is not False:
            break
        yield
    else:
        first = yield from _smallest(judge, apart, lambda one: one.slack.value, 1.0)
        if first.keeps_all is False:
            return None
        scanned = sorted({*scanned, first.setting})
    low: float | None = None
    for high in scanned:
        found = yield from at(high)
        yield
        if found is not None:
            break
        low = high
    else:
        return None
    if low is not None:
        wide = first.question.data.simulated
        for step in range(SIMULATED_STEPS if wide else SCAN_HALVINGS):
            middle = _between(tried, low, high) if wide and step % 3 else math.sqrt(low * high)
            better = yield from at(middle)
            yield
            low, high, found = (low, middle, better) if better else (middle, high, found)
            if wide and high <= low * (1 + WITHIN):
                break
        found = (yield from at(min(rounded_up(high, EPSILON_DIGITS), PROMISES.maximum, most))) or found
    refuted = max((one.setting for one in tried if one.keeps_all is False and one.setting < found.setting), default=0.0)
    if not found.complete:
        found = yield from _whole(judge(found.setting))
    return replace(found, refuted=refuted)


def soonest(stream: Iterator[Assessed | None], enough: Callable[[Assessed], bool] = lambda _: True) -> Steps[Assessed]:
    """Return the first of which `enough` is known; a complete one always has it."""
    while (one := next(stream)) is None or not enough(one):
        yield
    return one


def _whole(stream: Iterator[Assessed | None]) -> Steps[Assessed]:
    return (yield from soonest(stream, lambda one: one.complete))


def _between(tried: list[Assessed], low: float, high: float) -> float:
    """Where between two settings the limits are just kept for sure, by a straight line in logarithms.

    The same random numbers at every ε make what a limit leaves a smooth function of it. Where the line leads to an end,
    the geometric mean is tried.
    """
    sure = {one.setting: _surely_used(one) for one in tried if one.setting in (low, high)}
    over, under = sure.get(low, math.nan), sure.get(high, math.nan)
    middle = math.sqrt(low * high)
    if not (math.isfinite(over) and math.isfinite(under) and over > 0 > under):
        return middle
    place = low * (high / low) ** ((over + AIMED) / (over - under))
    return place if low < place < high else middle


def _surely_used(design: Assessed) -> float:
    """ln of how much of its tightest limit a design uses with two standard errors more; below 0 where all are kept."""
    used = [one.slack_around(design.figure(one.key).measure, SURE)[1] for one in design.question.limits]
    return math.log(max(used)) if max(used, default=0.0) > 0 else -math.inf


def seek_enough(judge: JudgeAt, most: float) -> Steps[float]:
    """Return the smallest setting found with which neither the goal nor a limit is a thousandth worse than with `most`.

    For a design that keeps every limit on protection up to `most`, more than it needs. Where it still improves near the
    largest ε there is, it gets that, as nobody knows what more would do. No limit that is kept with `most` is broken
    with this one. Bias and error are compared with all that is larger, at 16 values from 0.01 to that and where each is
    smallest, of which the first that will do is halved towards the one before, and rounded up to four digits. An
    interval is compared with that at `most` alone: from there, or where nothing else counts from the setting at which
    the error is as good, the setting is doubled or halved until it is just as good, within one per cent.
    """
    tried: list[Assessed] = []
    for value in np.geomspace(SCANNED[0], most, TO_THE_END).tolist():
        tried.append((yield from soonest(judge(value))))
        yield
    lowest: list[Assessed] = []
    for key in sorted(_counting(tried[-1], tried[-1])):
        if not ACCURACY[key].needs_interval:
            lowest.append((yield from _smallest(judge, tried, methodcaller("value", key))))
    tried = sorted([*tried, *lowest], key=lambda one: one.setting)
    place = next(place for place, one in enumerate(tried) if _most_lost(one, tried[place:]) <= 1)
    found = tried[place].setting
    if place:
        beyond = tried[place:]

        def lost_to_more(setting: float) -> Steps[float]:
            one = yield from soonest(judge(setting))
            yield
            return _most_lost(one, beyond)

        worse, as_good = ((one.setting, _most_lost(one, beyond)) for one in tried[place - 1 : place + 1])
        found = yield from _crossing(lost_to_more, worse, as_good, SCAN_HALVINGS)
        found = min(rounded_up(found, EPSILON_DIGITS), most)
    asked = tried[-1].question
    if asked.needs_interval:
        end = yield from _whole(judge(most))
        yield

        def lost_at(setting: float) -> Steps[float]:
            one = yield from _whole(judge(setting))
            yield
            return _lost(one, end)

        low, over, under = math.nan, math.nan, math.nan
        while found < most and (under := (yield from lost_at(found))) > 1:
            low, over, found = found, under, min(2 * found, most)
        under = under if found < most else 0.0
        while math.isnan(low) and found >= 2 * SCANNED[0] and asked.interval_alone:
            half = yield from lost_at(found / 2)
            low, over, found, under = (found / 2, half, found, under) if half > 1 else (low, over, found / 2, half)
        if not math.isnan(low):
            found = yield from _crossing(lost_at, (low, over), (found, under), INTERVAL_HALVINGS)
        found = min(rounded_up(found, EPSILON_DIGITS), most)
    return most if most == PROMISES.maximum and found > STILL_FALLING * most else found


def _smallest(
    judge: JudgeAt,
    tried: list[Assessed],
    of: Callable[[Assessed], float],
    enough: float = math.nan,
) -> Steps[Assessed]:
    """Return the design with the smallest value, sought around the best of those tried, whose settings rise.

    An error can fall and rise again: between two values that were tried there may be a better one. Next is tried where
    a parabola through the best and its neighbours is lowest, or where that brings them together too slowly the golden
    section of the wider side. The search ends where the value is `enough`, or where a convex curve through those known
    falls nowhere so far, two steps later at the earliest; of NaN at neither.
    """

    def value(one: Assessed) -> float:
        return math.inf if math.isnan(of(one)) else of(one)

    best = min(tried, key=value)
    place = tried.index(best)
    known = [(math.log(one.setting), value(one)) for one in tried[max(place - 1, 0) : place + 2]]
    asked = 0
    width = before = math.inf
    while True:
        place = known.index((math.log(best.setting), value(best)))
        at, (low, _), (high, _) = known[place][0], known[max(place - 1, 0)], known[min(place + 1, len(known) - 1)]
        if high - low <= HALVED or value(best) <= enough or (asked > 1 and _convex_bound(known, place) > enough):
            return best
        asked, before, width = asked + 1, width, high - low
        wider = high - at if high - at >= at - low else low - at
        aim = _vertex(*known[place - 1 : place + 2]) if low < at < high and width <= before / 2 else math.nan
        if math.isnan(aim):
            aim = at + (1 - GOLDEN) * wider
        elif abs(aim - at) < HALVED / 3:
            aim = at + math.copysign(HALVED / 3, wider)
        one = yield from soonest(judge(math.exp(aim)))
        yield
        known = sorted([*known, (math.log(one.setting), value(one))])
        best = min(best, one, key=value)


def _vertex(left: Point, middle: Point, right: Point) -> float:
    """Where a parabola through three points is lowest, of which the middle one is the lowest; NaN where there is none.

    >>> _vertex((-1.0, 4.0), (0.0, 1.0), (2.0, 1.0))  # (x − 1)²
    1.0
    """
    below, above = middle[0] - left[0], right[0] - middle[0]
    fall, rise = above * (left[1] - middle[1]), below * (right[1] - middle[1])
    if not 0 < fall + rise < math.inf:
        return math.nan
    return middle[0] + (above * fall - below * rise) / (2 * (fall + rise))


def _convex_bound(known: list[Point], place: int) -> float:
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


def _crossing(
    lost_at: Callable[[float], Steps[float]], low: tuple[float, float], high: tuple[float, float], halvings: int
) -> Steps[float]:
    """Return the smallest of 2^halvings settings in equal ratios at which no more than 1 is lost, as these would.

    `low` and `high` are settings and what is lost there. Where that falls, a line through its logarithms needs about
    half as many settings as halving; after one that leaves more than half of them comes the middle.
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


def _counting(one: Assessed, more: Assessed) -> set[str]:
    """The measures that limits and the goal are on, as far as they are known of both; the error alone without any."""
    asked = one.question
    keys = {*(limit.key for limit in asked.limits), asked.goal} & ACCURACY.keys()
    return {key for key in keys if not (math.isnan(one.value(key)) or math.isnan(more.value(key)))} or {ERROR_KEY}


def _most_lost(one: Assessed, others: Sequence[Assessed]) -> float:
    """What is lost against the one of several designs against which it is the most."""
    return max(_lost(one, more) for more in others)


def _lost(one: Assessed, more: Assessed) -> float:
    """How much better what counts is with another ε, at most, in thousandths; infinite where a limit is kept instead.

    A limit counts by a thousandth of itself, the goal by one of its own value, a bias by one of the typical error; the
    error alone where nothing else is known of both.
    """
    asked = one.question
    if any(more.verdicts[limit.key] and one.verdicts[limit.key] is False for limit in asked.limits):
        return math.inf
    units, lost = {limit.key: limit.limit for limit in asked.limits}, []
    for key in _counting(one, more):
        unit = abs(one.value(key if ACCURACY[key].needs_interval else ERROR_KEY))
        if key != asked.goal and key in units:
            unit = units[key]
        apart = abs(one.value(key) - more.value(key)) / max(NOTHING_MORE * unit, TIED_TOLERANCE)
        apart = 0.0 if math.isnan(apart) else apart  # both are infinite, or it is measured by what is
        lost.append(apart if ACCURACY[key].worse(one.value(key), more.value(key)) else -apart)
    return max(lost)
