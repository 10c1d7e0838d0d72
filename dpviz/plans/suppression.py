"""Small counts that are withheld: no protection without noise, and after noise none either, but a cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpviz.core.parameters import argument
from dpviz.plans.composed import PlanDesign
from dpviz.plans.measures import withheld_error
from dpviz.plans.release import MOST_PLAN_ROWS, PlannedRelease
from dpviz.plans.statistic import ShareStatistic

COUNTED_ROWS = argument("n", 1, MOST_PLAN_ROWS, integer=True, title="rows")
FARTHEST_ABOVE, PLACES_OF_SCALE = (
    40.0,
    20,
)  # Typical errors above a threshold up to which it counts; places looked at in one
LIMIT_ROUNDING = 1e-9  # Of an error that is its limit, relative
WITHHELD_BELOW = argument("threshold", 0, MOST_PLAN_ROWS, integer=True, title="smallest published count")


def delta_without_noise(n: int, threshold: int) -> float:
    """Return δ, at every ε, of a count that is published as it is, or withheld below a threshold.

    It is 1: of the neighbours with `threshold` and with one less, one is published and the other is not, so that who
    knows all other rows learns the last one for sure. Only where all counts are withheld is nothing told.

    >>> delta_without_noise(100, 10), delta_without_noise(100, 0), delta_without_noise(9, 10)
    (1.0, 1.0, 0.0)
    """
    n = COUNTED_ROWS.validate(n)
    threshold = WITHHELD_BELOW.validate(threshold)
    return 1.0 if n >= threshold else 0.0


@dataclass(frozen=True)
class WithheldCount:
    """What withholding released counts below a threshold does to one confidential count, in counts.

    `withheld` is how probable it is; `plain` the root mean squared error without it. `as_zero` and `as_half` are the
    bias and the root mean squared error where a count that is missing is read as 0, or as half of the threshold.
    """

    count: int
    withheld: float
    plain: float
    as_zero: tuple[float, float]
    as_half: tuple[float, float]


@dataclass(frozen=True)
class SuppressionCost:
    """What withholding costs a statistic: at the smallest count that it may have, at the threshold, at the largest."""

    statistic: ShareStatistic
    n: int
    at: tuple[WithheldCount, ...]


def withheld_count(release: PlannedRelease, count: int, threshold: int) -> WithheldCount:
    """Return what withholding does to a confidential count.

    The bias is that of all errors, less what those that are withheld have of it, and what is read instead.
    """
    below, bias = release.moments_below(count, threshold), release.bias(count)
    plain = math.sqrt(release.mean_square(count, release.n - count))

    def read(value: float) -> tuple[float, float]:
        moved = bias - below.mean + below.probability * (value - count)
        return moved, withheld_error(release, count, threshold, value)

    return WithheldCount(count, below.probability, plain, read(0.0), read(threshold / 2))


def suppression_costs(design: PlanDesign) -> tuple[SuppressionCost, ...]:
    """Return what withholding costs each statistic of a design that withholds small counts."""
    found = []
    for one, release in zip(design.plan.statistics, design.releases, strict=True):
        if one.suppress_below and isinstance(one, ShareStatistic):
            low, high = one.counts_possible(release.n)
            counts = sorted({low, min(max(one.suppress_below, low), high), high})
            held = tuple(withheld_count(release, count, one.suppress_below) for count in counts)
            found.append(SuppressionCost(one, release.n, held))
    return tuple(found)


@dataclass(frozen=True)
class PublishedError:
    """The error of a statistic as analysts see it, small counts withheld, in the measure of its limit and its units.

    A missing count is read as half of the threshold. `error` is that at the `count`, among those that the statistic may
    have, where it is the largest; `before` is that of the noise alone. `without_noise` is what no ε makes smaller: how
    far half of the threshold is from a count that is missing. `threshold` is one, up to that of the statistic, with
    which this design keeps the limit, and with the next one it does not; 0 where none does.
    """

    statistic: ShareStatistic
    n: int
    error: float
    count: int
    before: float
    without_noise: float
    threshold: int

    @property
    def breaks_limit(self) -> bool:
        """Whether the limit is broken, and by more than the noise alone breaks it."""
        return self.error > max(self.statistic.limit, self.before) * (1 + LIMIT_ROUNDING)


def published_errors(design: PlanDesign) -> tuple[PublishedError | None, ...]:
    """Return the error of each statistic of a design with its small counts withheld; nothing where none are."""
    return tuple(
        _published(one, release, before) if one.suppress_below and isinstance(one, ShareStatistic) else None
        for one, release, before in zip(design.plan.statistics, design.releases, design.errors(), strict=True)
    )


def used_published(design: PlanDesign, published: Sequence[PublishedError | None]) -> tuple[float, ...]:
    """Return the part of each limit that is used once small counts are withheld."""
    return tuple(
        used if one is None else one.error / one.statistic.limit
        for used, one in zip(design.used(), published, strict=True)
    )


def _published(one: ShareStatistic, release: PlannedRelease, before: float) -> PublishedError:
    n, threshold = release.n, one.suppress_below
    low, high = one.counts_possible(n)
    missing = [abs(threshold / 2 - count) for count in (low, min(high, threshold - 1)) if low < threshold]
    error, count = _largest_error(one, release, threshold)
    most = one.limit * n * (1 + LIMIT_ROUNDING)
    kept, broken = (threshold, threshold) if error <= most else (0, threshold)
    while broken - kept > 1:
        middle = (kept + broken) // 2
        holds = _largest_error(one, release, middle)[0] <= most
        kept, broken = (middle, broken) if holds else (kept, middle)
    return PublishedError(one, n, error / n, count, before, max(missing, default=0.0) / n, kept)


def _largest_error(one: ShareStatistic, release: PlannedRelease, threshold: int) -> tuple[float, int]:
    """The largest error of a count where those below a threshold are withheld, in counts, and where it is.

    Below the threshold every count is looked at, and the ends and the middle, where the noise alone is the farthest
    off. Above the threshold the error is smooth on the scale of the noise: the largest of many places is sought on.
    """
    low, high = one.counts_possible(release.n)

    def error(count: int) -> tuple[float, int]:
        return one.asked.withheld(release, count, threshold, one.cells), count

    first = max(low, threshold)
    found = max(
        error(int(count)) for count in {*range(low, min(first, high + 1)), *(x for x, _ in one.rooms(release.n))}
    )
    if first > high:
        return found
    scale = math.sqrt(release.mean_square(first, release.n - first)) + 1
    last = min(high, first + math.ceil(FARTHEST_ABOVE * scale))
    step = max(1, math.floor(scale / PLACES_OF_SCALE))
    best = max(map(error, range(first, last + 1, step)))
    while step > 1:
        start, end = max(first, best[1] - step), min(last, best[1] + step)
        step = max(1, step // PLACES_OF_SCALE)
        best = max(best, *map(error, range(start, end + 1, step)))
    return max(found, best)
