"""The smallest ε of a design: with which it keeps the limits on accuracy, or beyond which nothing improves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import round_up
from dpviz.core.monte_carlo import TIE_ERRORS, TIE_TOLERANCE
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.desk.searches import crossing_in_steps, smallest_in_steps
from dpviz.desk.steps import Steps

if TYPE_CHECKING:
    from dpviz.desk.candidate import Evaluation

SCANNED = np.geomspace(0.01, 100.0, 25)  # Where the smallest ε for an accuracy is sought first
FAR_APART = 6  # Of these: where it is seen first whether bias and error keep their limits anywhere
SCAN_HALVINGS = 11  # Of the step between two of these
SIMULATED_STEPS = 6  # Of a search by simulation, at most
WITHIN, AIMED = 0.01, 0.002  # Relative distance at the end of such a search, and inside
EARLY = 3.0  # Standard errors by which a simulation that still grows has decided
HALVED = 2e-4  # Relative distance from the exact value that so many leave
EPSILON_DIGITS = 4  # Of an ε that was sought, rounded up
TO_THE_END = 16  # Settings up to the largest that is allowed, by which is sought beyond which nothing improves
STILL_FALLING = 0.9  # Of the largest ε there is
ERROR_KEY = "root_mean_squared_error"
NOTHING_MORE = 1e-3  # Relative improvement below which a larger ε improves nothing: no sentence shows it
INTERVAL_HALVINGS = 7  # Of a factor of two, down to `WITHIN`: each takes a whole interval


JudgeAt = Callable[[float], "Iterator[Evaluation | None]"]
"""What yields a design at a setting, with what is quick and then the more complete the later; None until then."""


def sought_within(value: float, simulated: bool) -> float:
    """Return the relative distance from the exact value that a search leaves: its halvings and its four digits.

    >>> [round(sought_within(value, simulated), 12) for value, simulated in ((0.5, False), (100, False), (0.5, True))]
    [0.0004, 0.0012, 0.0102]
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - EPSILON_DIGITS + 1) / value if 0 < value < math.inf else 0.0
    return (WITHIN if simulated else HALVED) + unit


def seek_smallest(judge: JudgeAt, most: float = math.inf) -> Steps[Evaluation | None]:
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
    tried: list[Evaluation] = []

    def at(setting: float) -> Steps[Evaluation | None]:
        one = yield from soonest(judge(setting), lambda one: one.beyond_doubt)
        tried.append(one)
        return one if one.meets_limits else None

    scanned = sorted({*SCANNED[most >= SCANNED].tolist(), min(most, SCANNED[-1].item())})
    # Noise can help: an estimate that is drawn to the middle is nearer to a true value there than the data are.
    apart: list[Evaluation] = []
    for value in sorted({*scanned[::-FAR_APART], scanned[0]}, reverse=True):
        first = yield from soonest(judge(value))
        apart.insert(0, first)
        if first.meets_limits is not False:
            break
        yield
    else:
        first = yield from _smallest(judge, apart, lambda one: one.limit_use.value, 1.0)
        if first.meets_limits is False:
            return None
        scanned = sorted({*scanned, first.epsilon})
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
        found = (yield from at(min(round_up(high, EPSILON_DIGITS), PROMISES.maximum, most))) or found
    refuted = max(
        (one.epsilon for one in tried if one.meets_limits is False and one.epsilon < found.epsilon), default=0.0
    )
    if not found.is_complete:
        found = yield from _whole(judge(found.epsilon))
    return replace(found, largest_infeasible=refuted)


def soonest(
    stream: Iterator[Evaluation | None], enough: Callable[[Evaluation], bool] = lambda _: True
) -> Steps[Evaluation]:
    """Return the first of which `enough` is known; a complete one always has it."""
    while (one := next(stream)) is None or not enough(one):
        yield
    return one


def _whole(stream: Iterator[Evaluation | None]) -> Steps[Evaluation]:
    return (yield from soonest(stream, lambda one: one.is_complete))


def _between(tried: list[Evaluation], low: float, high: float) -> float:
    """Where between two settings the limits are just kept for sure, by a straight line in logarithms.

    The same random numbers at every ε make what a limit leaves a smooth function of it. Where the line leads to an end,
    the geometric mean is tried.
    """
    sure = {one.epsilon: _surely_used(one) for one in tried if one.epsilon in (low, high)}
    over, under = sure.get(low, math.nan), sure.get(high, math.nan)
    middle = math.sqrt(low * high)
    if not (math.isfinite(over) and math.isfinite(under) and over > 0 > under):
        return middle
    place = low * (high / low) ** ((over + AIMED) / (over - under))
    return place if low < place < high else middle


def _surely_used(design: Evaluation) -> float:
    """ln of how much of its tightest limit a design uses with two standard errors more; below 0 where all are kept."""
    used = [
        one.used_share_interval(design.worst_case(one.key).measure, TIE_ERRORS)[1] for one in design.question.limits
    ]
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
    tried: list[Evaluation] = []
    for value in np.geomspace(SCANNED[0], most, TO_THE_END).tolist():
        tried.append((yield from soonest(judge(value))))
        yield
    lowest: list[Evaluation] = []
    for key in sorted(_counting(tried[-1], tried[-1])):
        if not ACCURACY_MEASURES[key].needs_interval:
            lowest.append((yield from _smallest(judge, tried, methodcaller("value", key))))
    tried = sorted([*tried, *lowest], key=lambda one: one.epsilon)
    place = next(place for place, one in enumerate(tried) if _most_lost(one, tried[place:]) <= 1)
    found = tried[place].epsilon
    if place:
        beyond = tried[place:]

        def lost_to_more(setting: float) -> Steps[float]:
            one = yield from soonest(judge(setting))
            yield
            return _most_lost(one, beyond)

        worse, as_good = ((one.epsilon, _most_lost(one, beyond)) for one in tried[place - 1 : place + 1])
        found = yield from crossing_in_steps(lost_to_more, worse, as_good, SCAN_HALVINGS)
        found = min(round_up(found, EPSILON_DIGITS), most)
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
        while (
            math.isnan(low)
            and found >= 2 * SCANNED[0]
            and all(ACCURACY_MEASURES[key].needs_interval for key in asked.relevant_measures)
        ):
            half = yield from lost_at(found / 2)
            low, over, found, under = (found / 2, half, found, under) if half > 1 else (low, over, found / 2, half)
        if not math.isnan(low):
            found = yield from crossing_in_steps(lost_at, (low, over), (found, under), INTERVAL_HALVINGS)
        found = min(round_up(found, EPSILON_DIGITS), most)
    return most if most == PROMISES.maximum and found > STILL_FALLING * most else found


def _smallest(
    judge: JudgeAt, tried: Sequence[Evaluation], of: Callable[[Evaluation], float], enough: float = math.nan
) -> Steps[Evaluation]:
    """Return the design with the smallest value, sought around the best of those tried, whose settings rise.

    An error can fall and rise again: between two values that were tried there may be a better one.
    """
    known = {math.log(one.epsilon): one for one in tried}

    def value(place: float) -> float:
        found = of(known[place])
        return math.inf if math.isnan(found) else found

    def value_at(place: float) -> Steps[float]:
        known[place] = yield from soonest(judge(math.exp(place)))
        yield
        return value(place)

    points = [(place, value(place)) for place in known]
    return known[(yield from smallest_in_steps(value_at, points, closed=HALVED, enough=enough))]


def _counting(one: Evaluation, more: Evaluation) -> set[str]:
    """The measures that limits and the goal are on, as far as they are known of both; the error alone without any."""
    asked = one.question
    keys = {*(limit.key for limit in asked.limits), asked.goal} & ACCURACY_MEASURES.keys()
    return {key for key in keys if not (math.isnan(one.value(key)) or math.isnan(more.value(key)))} or {ERROR_KEY}


def _most_lost(one: Evaluation, others: Sequence[Evaluation]) -> float:
    """What is lost against the one of several designs against which it is the most."""
    return max(_lost(one, more) for more in others)


def _lost(one: Evaluation, more: Evaluation) -> float:
    """How much better what counts is with another ε, at most, in thousandths; infinite where a limit is kept instead.

    A limit counts by a thousandth of itself, the goal by one of its own value, a bias by one of the typical error; the
    error alone where nothing else is known of both.
    """
    asked = one.question
    if any(more.verdicts[limit.key] and one.verdicts[limit.key] is False for limit in asked.limits):
        return math.inf
    units, lost = {limit.key: limit.limit for limit in asked.limits}, []
    for key in _counting(one, more):
        unit = abs(one.value(key if ACCURACY_MEASURES[key].needs_interval else ERROR_KEY))
        if key != asked.goal and key in units:
            unit = units[key]
        apart = abs(one.value(key) - more.value(key)) / max(NOTHING_MORE * unit, TIE_TOLERANCE)
        apart = 0.0 if math.isnan(apart) else apart  # both are infinite, or it is measured by what is
        lost.append(apart if ACCURACY_MEASURES[key].is_worse(one.value(key), more.value(key)) else -apart)
    return max(lost)
