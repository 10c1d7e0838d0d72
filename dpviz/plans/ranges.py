"""What a plan needs where the data are assumed to be otherwise: bounds of means, ranges of shares, rows of a person.

Noise hides the farthest that a person can be from anybody else, so that it grows with what is assumed, and not with
what the data are. Each assumption is changed alone, and the plan is solved again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpviz.core.formatting import format_number, round_down, spell_count
from dpviz.core.types import FloatArray
from dpviz.plans.composed import PlanDesign
from dpviz.plans.plan import PERSON_ROWS, ReleasePlan
from dpviz.plans.shares import PlanAnswer, rate_within, solve_plan
from dpviz.plans.statistic import BoundedMean, ShareStatistic, Statistic

RANGE_STEPS = (1.0, 0.5, 2.0, 0.25, 4.0)  # Times what is assumed, in the order in which they are solved
RANGES_SOUGHT = np.geomspace(1 / 16, 16.0, 2**16 + 1)  # Among which the widest is sought that keeps all limits


@dataclass(frozen=True)
class Assumption:
    """Something that a plan assumes of the data; `changed` has the plan in which it is so many times as wide.

    `sought` has the times, rising, among which the widest is looked for that keeps all limits.
    """

    label: str
    told: Callable[[ReleasePlan, float], str]
    """How a plan is told in which it is so many times as wide, after "with"."""
    changed: Callable[[ReleasePlan, float], ReleasePlan]
    sought: Callable[[ReleasePlan], FloatArray] = lambda _plan: RANGES_SOUGHT

    def __reduce__(self) -> tuple[Callable[[str], Assumption], tuple[str]]:
        """Its name alone is pickled: a worker has the same ones."""
        return _assumption, (self.label,)

    def at(self, plan: ReleasePlan, times: float) -> ReleasePlan | None:
        """Return the plan with it so many times as wide; nothing where a plan cannot have that, or it is no other."""
        try:
            found = self.changed(plan, times)
        except ValueError:  # bounds too far apart, too many rows of a person, or a mechanism that does not take them
            return None
        return None if found == plan and times != 1 else found


def _of_statistics(change: Callable[[Statistic, float], Statistic]) -> Callable[[ReleasePlan, float], ReleasePlan]:
    return lambda plan, times: replace(plan, statistics=tuple(change(one, times) for one in plan.statistics))


def _bounds(one: Statistic, times: float) -> Statistic:
    """A mean whose bounds are so many times as far apart, around the same middle: the noise knows their distance."""
    if not isinstance(one, BoundedMean):
        return one
    middle, half = (one.lower + one.upper) / 2, times * one.width / 2
    return replace(one, lower=middle - half, upper=middle + half)


def _shares(one: Statistic, times: float) -> Statistic:
    """A share whose range is so many times as wide around the same middle, as far as there are shares."""
    if not isinstance(one, ShareStatistic):
        return one
    middle, half = (one.lowest + one.highest) / 2, times * (one.highest - one.lowest) / 2
    return replace(one, lowest=max(middle - half, 0.0), highest=min(middle + half, 1.0))


def _rows(plan: ReleasePlan, times: float) -> ReleasePlan:
    rows = round(times * plan.person_rows, 9)
    return replace(plan, person_rows=int(rows)) if rows == int(rows) else plan


def _every_rows(plan: ReleasePlan) -> FloatArray:
    return np.arange(1.0, PERSON_ROWS.maximum + 1) / plan.person_rows


def times_in_words(times: float) -> str:
    """Return how many times something is as wide as it was.

    >>> times_in_words(2.0), times_in_words(0.5), times_in_words(6.1149), times_in_words(0.2519)
    ('twice', 'half', '6.11 times', '0.251 times')
    """
    return {2.0: "twice", 0.5: "half"}.get(times, f"{format_number(round_down(times, 3), 3)} times")


ASSUMPTIONS = (
    Assumption(
        "bounds of the means",
        lambda _plan, times: f"bounds {times_in_words(times)} as far apart",
        _of_statistics(_bounds),
    ),
    Assumption(
        "ranges of the shares",
        lambda _plan, times: f"shares in a range {times_in_words(times)} as wide",
        _of_statistics(_shares),
    ),
    Assumption(
        "rows of a person",
        lambda plan, times: f"at most {spell_count(round(times * plan.person_rows), 'row')} of a person",
        _rows,
        _every_rows,
    ),
)
"""What a plan assumes of the data: a new assumption is one more of them."""


def _assumption(label: str) -> Assumption:
    return next(one for one in ASSUMPTIONS if one.label == label)


@dataclass(frozen=True)
class RangePlace:
    """A plan with something `times` as wide: the factor of all limits, and the part of the promise that they need.

    Either is above 1 where not all limits hold. The part is that of ε at the promised δ; where only guesses are
    limited, that of δ at 0.
    """

    times: float
    factor: float
    needed: float


@dataclass(frozen=True)
class RangeCurve:
    """What changes with one assumption, narrowest first; `expected` is how many places there will be.

    `widest` is how many times as wide it can be at most, of those that are looked at, so that all limits hold with the
    mechanisms of the design: 0 where no narrower one is enough, and NaN as long as it has not been sought. `all_hold`
    says that it is the widest that is looked at.
    """

    assumption: Assumption
    places: tuple[RangePlace, ...]
    expected: int
    widest: float = math.nan
    all_hold: bool = False


def promise_taken(design: PlanDesign, many: int = 1) -> float:
    """Return which share of the promise a design takes that is one of so many alike in δ.

    Of an ε it is that of the ε at its part of δ; where ε is 0, that of δ at 0; without a limit that of δ(0) itself.
    """
    epsilon, delta = design.plan.promise
    if math.isinf(epsilon):
        return design.delta(0.0).upper
    return design.epsilon(delta / many).upper / epsilon if epsilon > 0 else design.delta(0.0).upper / delta


def stream_ranges(answer: PlanAnswer) -> Iterator[tuple[RangeCurve, ...]]:
    """Yield what changes with each assumption of a solved plan, at more and more places; nothing that cannot change."""
    plan = answer.plan
    found: list[RangeCurve] = []
    for one in ASSUMPTIONS:
        plans = {times: other for times in RANGE_STEPS if (other := one.at(plan, times)) is not None}
        if len(plans) < 2 or math.isinf(plan.promise[0]):
            continue
        places: tuple[RangePlace, ...] = ()
        for times, other in plans.items():
            solved = answer if times == 1 else solve_plan(other)
            whole = all(math.isfinite(release.rate) for release in solved.needed.releases)
            place = RangePlace(times, solved.factor, promise_taken(solved.needed) if whole else math.inf)
            places = tuple(sorted((*places, place), key=lambda held: held.times))
            yield (*found, RangeCurve(one, places, len(plans)))
        found.append(RangeCurve(one, places, len(plans), *_widest(answer, one)))
        yield tuple(found)


def plan_ranges(answer: PlanAnswer) -> tuple[RangeCurve, ...]:
    """Return what changes with each assumption of a solved plan.

    Noise on a mean is proportional to the distance of the bounds, and so is its error:

    >>> from dpviz.plans.statistic import BoundedMean
    >>> plan = ReleasePlan(n=1000, statistics=(BoundedMean(name="hours", upper=80.0, limit=0.5),))
    >>> curve, rows = plan_ranges(solve_plan(plan))
    >>> [round(one.factor / curve.places[0].factor, 6) for one in curve.places], rows.assumption.label
    ([1.0, 2.0, 4.0, 8.0, 16.0], 'rows of a person')
    """
    *_, found = [(), *stream_ranges(answer)]
    return found


def _widest(answer: PlanAnswer, assumed: Assumption) -> tuple[float, bool]:
    """How many times as wide an assumption may be, all limits kept, and whether that is the widest looked at."""
    kinds = [type(one) for one in answer.design.releases]

    def holds(times: float) -> bool:
        try:
            plan = assumed.changed(answer.plan, times)
        except ValueError:  # no plan can have that
            return False
        limits = [one.limit for one in plan.statistics]
        rates = [rate_within(plan, place, kind, limits[place]) for place, kind in enumerate(kinds)]
        releases = [
            kind(rate, plan.rows_of(one)) for kind, rate, one in zip(kinds, rates, plan.statistics, strict=True)
        ]
        return all(map(math.isfinite, rates)) and PlanDesign(plan, tuple(releases)).keeps_promise

    sought = assumed.sought(answer.plan)
    if holds(float(sought[-1])):
        return float(sought[-1]), True
    kept, broken = -1, len(sought) - 1
    while broken - kept > 1:
        middle = (kept + broken) // 2
        kept, broken = (middle, broken) if holds(float(sought[middle])) else (kept, middle)
    return float(sought[kept]) if kept >= 0 else 0.0, False
