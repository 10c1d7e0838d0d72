"""Small counts that are withheld: no protection without noise, and after noise none either, but a cost."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass
from typing import Any

from dpviz.plans.composition import PlanDesign
from dpviz.plans.mechanisms import PlanMechanism
from dpviz.plans.statistics import ShareStatistic, Statistic

MAX_DISTANCE = 40.0  # typical errors above a threshold up to which it matters
POINTS_PER_ERROR = 20  # looked at within a typical error
LIMIT_ROUNDING = 1e-9  # relative, of an error that is its limit


@dataclass(frozen=True)
class PublishedError:
    """Error of a statistic as analysts see it, small counts withheld and read as half of the threshold.

    Errors are in the measure of its limit and in its units.
    """

    statistic: Statistic
    n: int  # rows that it is about
    error: float  # at the confidential count where it is the largest
    count: int
    error_before: float  # of the noise alone
    without_noise: float  # distance of half of the threshold from a withheld count, which no ε makes smaller
    threshold: int  # largest one, up to that of the statistic, with which this design keeps the limit; 0 if none does
    examples: tuple[int, ...]  # the smallest possible count, the threshold, and the largest count

    @property
    def breaks_limit(self) -> bool:
        """Whether the limit is broken, and by more than the noise alone breaks it."""
        return self.error > max(self.statistic.limit, self.error_before) * (1 + LIMIT_ROUNDING)


def published_errors(design: PlanDesign) -> tuple[PublishedError | None, ...]:
    """Error of each statistic of a design with its small counts withheld; None where none are."""
    return tuple(
        _published_error(statistic, mechanism)
        if statistic.suppress_below and isinstance(statistic, ShareStatistic)
        else None
        for statistic, mechanism in zip(design.plan.statistics, design.mechanisms, strict=True)
    )


def _published_error(statistic: Any, mechanism: PlanMechanism) -> PublishedError:
    n, threshold = mechanism.n, statistic.suppress_below
    low, high = statistic.count_range(n)
    error, count = _largest_error(statistic, mechanism, threshold)

    def is_broken(threshold: int) -> bool:
        return _largest_error(statistic, mechanism, threshold)[0] > statistic.limit * n * (1 + LIMIT_ROUNDING)

    withheld = [abs(threshold / 2 - value) for value in (low, min(high, threshold - 1)) if low < threshold]
    thresholds = range(1, threshold + 1)
    return PublishedError(
        statistic=statistic,
        n=n,
        error=error / n,
        count=count,
        error_before=mechanism.error(statistic),
        without_noise=max(withheld, default=0.0) / n,
        threshold=bisect.bisect_left(thresholds, True, key=is_broken) if is_broken(threshold) else threshold,
        examples=tuple(sorted({low, min(max(threshold, low), high), high})),
    )


def _largest_error(statistic: Any, mechanism: PlanMechanism, threshold: int) -> tuple[float, int]:
    """Largest error, in counts, where counts below a threshold are withheld, and the count where it is.

    Below the threshold every count is looked at, and the ends and the middle, where the noise alone is the farthest
    off. Above it the error is smooth on the scale of the noise: the largest on a grid is refined.
    """
    low, high = statistic.count_range(mechanism.n)

    def error(count: int) -> tuple[float, int]:
        return mechanism.withheld_error(count, threshold, statistic.level), count

    first = max(low, threshold)
    ends_and_middle = (int(below) for below, _ in statistic.distances_to_bounds(mechanism.n))
    largest = max(map(error, {*range(low, min(first, high + 1)), *ends_and_middle}))
    if first > high:
        return largest
    scale = math.sqrt(mechanism.mean_square(first, mechanism.n - first)) + 1
    start, end = first, min(high, first + math.ceil(MAX_DISTANCE * scale))
    step = max(1, math.floor(scale / POINTS_PER_ERROR))
    while True:
        largest_above = max(map(error, range(start, end + 1, step)))
        if step == 1:
            return max(largest, largest_above)
        start, end = max(start, largest_above[1] - step), min(end, largest_above[1] + step)
        step = max(1, step // POINTS_PER_ERROR)
