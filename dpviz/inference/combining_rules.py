"""Combining rules: q̄ ± t √T from the counts of M synthetic sets, whatever mechanism made them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.core.declarations import SETS
from dpviz.core.types import FloatArray
from dpviz.inference.interval_rules import (
    RULE_FACTS,
    IntervalRule,
    Intervals,
    SetStatistics,
    half_widths,
    total_variance,
)

Formula = Callable[[FloatArray, FloatArray, int, float], FloatArray]  # of b, v̄, M and m/n


@dataclass(frozen=True, kw_only=True)
class CombiningRule(IntervalRule):
    """Interval q̄ ± t √T, with T (`total`) and ν (`degrees`) functions of b, v̄, M and m/n; normal without `degrees`."""

    has_variance: ClassVar[bool] = True
    total: Formula
    degrees: Formula | None = None
    min_sets: int = 2

    def ends(self, statistics: SetStatistics, level: float) -> Intervals:
        within = np.maximum(statistics.within, 0.0)
        spread = self.variance_and_degrees(
            statistics.between, within, sets=statistics.sets, synthetic_ratio=statistics.synthetic_ratio
        )
        half = half_widths(*spread, level)
        half[statistics.within < 0] = math.nan
        return Intervals(statistics.estimate - half, statistics.estimate + half)

    def variance(self, statistics: SetStatistics) -> FloatArray:
        return self.total(statistics.between, statistics.within, statistics.sets, statistics.synthetic_ratio)

    def variance_and_degrees(
        self, between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Variance T and degrees of freedom ν from b, v̄, M and m/n; infinite degrees mean the normal quantile.

        >>> COMBINING_RULES["reiter_2002"].variance_and_degrees(np.array([2.0, 1.0]), np.array([1.5, 3.0]), sets=2)
        (array([1.5, 3. ]), array([0.25, 1.  ]))
        """
        self.check_sets(int(SETS.validate(sets)))
        between, within = np.broadcast_arrays(np.asarray(between, dtype=float), np.asarray(within, dtype=float))
        variance = self.total(between, within, sets, synthetic_ratio)
        degrees = np.array(math.inf)
        if self.degrees is not None:
            degrees = self.degrees(between, within, sets, synthetic_ratio)
        return variance, np.broadcast_to(degrees, variance.shape)

    def largest_variance(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0) -> float:
        """Bound of |T|, largest at an end of b ≤ ⌊M²/4⌋ / (M(M − 1)) and of v̄ ≤ ⌊m²/4⌋ / m³; `rows` is m."""
        between = np.array([[0.0], [(sets**2 // 4) / max(sets * (sets - 1), 1)]])
        within = np.array([0.0, (rows**2 // 4) / rows**3])
        variance, _ = self.variance_and_degrees(between, within, sets=sets, synthetic_ratio=synthetic_ratio)
        return float(np.abs(variance).max())


def _degrees(numerator: FloatArray, denominator: FloatArray, sets: int, sign: int = 1) -> FloatArray:
    """(M − 1)(1 ± numerator / denominator)²; infinite where only the denominator is 0, M − 1 where both are."""
    with np.errstate(all="ignore"):
        ratio = np.where(denominator > 0, numerator / denominator, np.where(numerator > 0, math.inf, 0.0))
        return (sets - 1) * (1 + sign * ratio) ** 2


def _difference_degrees(b: FloatArray, v: FloatArray, sets: int, _: float) -> FloatArray:
    return _degrees(v, (1 + 1 / sets) * b, sets, -1)


def _sum(b: FloatArray, v: FloatArray, sets: int, _: float) -> FloatArray:
    return (1 + 1 / sets) * b + v


def _never_negative(b: FloatArray, v: FloatArray, sets: int, ratio: float) -> FloatArray:
    difference = total_variance(b, v, sets)
    return np.where(difference >= 0, difference, ratio * v)


def _normal_where_negative(b: FloatArray, v: FloatArray, sets: int, ratio: float) -> FloatArray:
    """No degrees of freedom were derived for T < 0."""
    return np.where(total_variance(b, v, sets) < 0, math.inf, _difference_degrees(b, v, sets, ratio))


_FORMULAS: dict[str, tuple[Formula, Formula | None]] = {  # T, and ν unless the quantile is normal
    "reiter_2002": (_never_negative, _difference_degrees),
    "reiter_2002_normal": (_never_negative, _normal_where_negative),
    "raghunathan_2003": (total_variance, _difference_degrees),
    "raghunathan_2003_normal": (total_variance, None),
    "rubin_1987": (_sum, lambda b, v, sets, _: _degrees(v, (1 + 1 / sets) * b, sets)),
    "rubin_1987_normal": (_sum, None),
    # Its ν is that of b alone, the other term counting as known: 2 T² / Var(T), Var(b/M) = 2 (b/M)² / (M − 1)
    "reiter_2003": (
        lambda b, v, sets, ratio: ratio * v + b / sets,
        lambda b, v, sets, ratio: _degrees(ratio * v, b / sets, sets),
    ),
    "raab_2017": (lambda _, v, sets, ratio: (ratio + (1 + ratio) / sets) * v, None),
    "raab_2017_plug_in": (lambda _, v, sets, ratio: (ratio + 1 / sets) * v, None),
    "as_if_real": (lambda _, v, *__: v, None),
}
COMBINING_RULES = {
    key: CombiningRule(**RULE_FACTS[key], total=total, degrees=degrees) for key, (total, degrees) in _FORMULAS.items()
}
"""Combining rules by key, in the order on screen."""
