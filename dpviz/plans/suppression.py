"""Small counts that are withheld: no protection without noise, and after noise none either, but a cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.core.checked import checked
from dpviz.core.parameters import argument
from dpviz.plans.composed import PlanDesign
from dpviz.plans.release import MOST_PLAN_ROWS, PlannedRelease
from dpviz.plans.statistic import ShareStatistic

COUNTED_ROWS = argument("n", 1, MOST_PLAN_ROWS, integer=True, title="rows")
WITHHELD_BELOW = argument("threshold", 0, MOST_PLAN_ROWS, integer=True, title="smallest published count")


@checked(n=COUNTED_ROWS, threshold=WITHHELD_BELOW)
def delta_without_noise(n: int, threshold: int) -> float:
    """Return δ, at every ε, of a count that is published as it is, or withheld below a threshold.

    It is 1: of the neighbours with `threshold` and with one less, one is published and the other is not, so that who
    knows all other rows learns the last one for sure. Only where all counts are withheld is nothing told.

    >>> delta_without_noise(100, 10), delta_without_noise(100, 0), delta_without_noise(9, 10)
    (1.0, 1.0, 0.0)
    """
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

    @property
    def most_withheld(self) -> float:
        """The largest share of all cells that are withheld on average: where each has the smallest count."""
        return self.at[0].withheld


def withheld_count(release: PlannedRelease, count: int, threshold: int) -> WithheldCount:
    """Return what withholding does to a confidential count.

    With Z the error, v the value that is read and x the count, the mean square is that of all Z, less that of those
    that are withheld, and (v − x)² for each of these.
    """
    below = release.moments_below(count, threshold)
    plain, bias = release.mean_square(count, release.n - count), release.bias(count)

    def read(value: float) -> tuple[float, float]:
        off = value - count
        square = plain - below.square + below.probability * off**2
        return bias - below.mean + below.probability * off, math.sqrt(max(square, 0.0))

    return WithheldCount(count, below.probability, math.sqrt(plain), read(0.0), read(threshold / 2))


@checked()
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
