"""Interval rules: from the released counts of M synthetic sets to an interval for the true proportion."""

import math
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.special import stdtrit

from dpviz.core.declarations import LEVEL, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference.sum_distribution import ReleaseSums, checked_counts
from dpviz.mechanisms import TwoCellSynthesizer

# A series in 1/ν takes a fifth of the time of SciPy's t quantile, of which the releases of several sets need 10⁵
MIN_SERIES_DEGREES = 2.0
# Relative distance within which a variance counts as zero, and an end of an interval as reached
RELATIVE_ROUNDING = 1e-12
_FACTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
RULE_FACTS = {key: {"key": key, **facts} for key, facts in _FACTS.items()}
"""Fields of `IntervalRule` by key of the rule, from ``rules.toml``."""


class SetStatistics(NamedTuple):
    """What rules read of the released counts x̃_1 … x̃_M: arrays of one shape, one entry a release."""

    synthesizer: TwoCellSynthesizer
    sets: int  # M
    total: IntArray  # S = Σ x̃_j
    estimate: FloatArray  # q̄ = S / (Mm), the mean of q_j = x̃_j / m
    between: FloatArray  # b, the variance of q_j between the sets; 0 for a single set
    within: FloatArray  # v̄, mean of q_j (1 − q_j) / m; < 0 marks an (S, Q) that no release has, NaN unknown Q

    def at(self, places: slice) -> "SetStatistics":
        """Statistics of some of the releases."""
        return self._replace(**{name: getattr(self, name)[places] for name in self._fields[2:]})

    @property
    def synthetic_ratio(self) -> float:
        """m/n."""
        return self.synthesizer.m / self.synthesizer.n

    @property
    def negative_total(self) -> BoolArray:
        """Whether T_M = (1 + 1/M) b − v̄ < 0; nowhere for a single set, which has no b, or where only S is known."""
        total = total_variance(self.between, np.maximum(self.within, 0.0), self.sets)
        return np.asarray((total < 0) & (self.sets > 1))


def set_statistics(synthesizer: TwoCellSynthesizer, sets: int, total: IntArray, squares: IntArray) -> SetStatistics:
    """Statistics of releases that rules read, with b = (MQ − S²) / (M(M − 1)m²) and v̄ = (mS − Q) / (Mm³).

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    sets : int
        M.
    total, squares : ndarray of int
        S = Σ x̃_j and Q = Σ x̃_j² of each release; their shapes broadcast.
    """
    total, squares = np.broadcast_arrays(np.asarray(total, np.int64), np.asarray(squares, np.int64))
    m = synthesizer.m
    between = (sets * squares - total**2) / (max(sets * (sets - 1), 1) * m**2)
    within = (m * total - squares) / (sets * m**3)
    return SetStatistics(synthesizer, sets, total, total / (sets * m), between, within)


def total_variance(between: FloatArray, within: FloatArray, sets: int, _: float = 1.0) -> FloatArray:
    """T_M = (1 + 1/M) b − v̄, whatever m/n is; 0 where it is within 1e-12 of v̄.

    Parameters
    ----------
    between, within : ndarray
        b and v̄.
    sets : int
        M.
    """
    difference = (1 + 1 / sets) * between - within
    return np.where(np.abs(difference) <= RELATIVE_ROUNDING * within, 0.0, difference)


def t_quantile(degrees: FloatArray, level: float) -> FloatArray:
    """Quantile t_{ν, (1 + level)/2}, which is the normal one for infinite ν, and infinite where it leaves the floats.

    Parameters
    ----------
    degrees : ndarray
        ν ≥ 0.
    level : float

    Examples
    --------
    >>> t_quantile(np.array([1.0, np.inf]), 0.95).round(6).tolist()
    [12.706205, 1.959964]
    """
    upper = (1 + level) / 2
    degrees = np.asarray(degrees, dtype=float)
    in_series = (degrees >= MIN_SERIES_DEGREES) & np.isfinite(degrees)
    quantiles = np.empty(degrees.shape)
    quantiles[in_series] = _t_series(upper)(1 / degrees[in_series])
    # SciPy's quantile stays finite at about √ν 10¹⁵⁰, however small ν is
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        values = stdtrit(degrees[~in_series], upper)
        quantiles[~in_series] = np.where(degrees[~in_series] / values**2 > 1e-300, values, math.inf)
    return quantiles


@lru_cache(maxsize=64)
def _t_series(upper: float) -> Chebyshev:
    """Quantile of t_ν as a function of 1/ν up to ½, which is smooth there: to a relative 3·10⁻¹³."""
    return Chebyshev.interpolate(lambda x: stdtrit(1 / x, upper), 24, domain=[0, 1 / MIN_SERIES_DEGREES])


def half_widths(variance: FloatArray, degrees: FloatArray, level: float) -> FloatArray:
    """t_{ν, (1 + level)/2} √T; NaN where T < 0, and 0 where T = 0 even for ν = 0, where it would be ∞ · 0.

    Parameters
    ----------
    variance, degrees : ndarray
        T and ν.
    level : float
    """
    with np.errstate(invalid="ignore"):
        return np.where(variance == 0, 0.0, np.sqrt(variance) * t_quantile(degrees, level))


class Intervals(NamedTuple):
    """Intervals of some releases; their ends are NaN where there is none."""

    low: FloatArray
    high: FloatArray

    @property
    def widened(self) -> "Intervals":
        """Intervals with ends moved outwards by a relative 1e-12, so that rounding excludes no p that is an end."""
        half = (self.high - self.low) / 2
        lowest = self.low - RELATIVE_ROUNDING * (half + np.abs(self.low))
        return Intervals(lowest, self.high + RELATIVE_ROUNDING * (half + np.abs(self.high)))

    @property
    def is_vacuous(self) -> BoolArray:
        """Whether each holds all of 0 to 1."""
        lowest, highest = self.widened
        return np.asarray((lowest <= 0.0) & (highest >= 1.0))

    @property
    def length_inside(self) -> FloatArray:
        """Length of the part of each between 0 and 1."""
        return np.maximum(np.minimum(self.high, 1.0) - np.maximum(self.low, 0.0), 0.0)


def contains(low: FloatArray, high: FloatArray, proportion: FloatArray | float) -> BoolArray:
    """Whether low ≤ p ≤ high, up to a relative 1e-12; False where the ends are NaN.

    Parameters
    ----------
    low, high, proportion : ndarray
        Their shapes broadcast.

    Examples
    --------
    >>> contains(np.array([0.2, 0.3, np.nan]), np.array([0.3, 1.0, np.nan]), 0.1 + 0.2).tolist()
    [True, True, False]
    """
    proportion = argument("proportion", -1e150, 1e150).validate_array(proportion)
    with np.errstate(invalid="ignore"):
        lowest, highest = Intervals(np.asarray(low, dtype=float), np.asarray(high, dtype=float)).widened
    return np.asarray((lowest <= proportion) & (proportion <= highest))


@dataclass(frozen=True, kw_only=True)
class IntervalRule(ABC):
    """A rule that turns M released counts into an interval.

    Parameters
    ----------
    key, label, abbreviation, formula, source, method_phrase : str
        As in ``rules.toml``.
    min_sets : int, default 1
        Smallest M for which the rule is defined.
    has_unbounded_width : bool, default False
        Whether ν can approach 0, so that the t quantile and the width have no bound.
    estimates : callable, optional
        Point estimates for S = 0 … Mm, for a rule whose estimate is no function of q̄ and of the mean of the release.
    """

    key: str
    label: str
    abbreviation: str
    formula: str
    source: str
    min_sets: int = 1
    has_unbounded_width: bool = False
    method_phrase: str = ""
    estimates: Callable[[ReleaseSums], FloatArray] | None = None
    # Whether the rule knows how the sets were made, so that its interval depends on S alone; whether it has a T
    is_noise_aware: ClassVar[bool] = False
    has_variance: ClassVar[bool] = False

    @property
    def short_label(self) -> str:
        """Label without its brackets."""
        return self.label.partition(" (")[0]

    @property
    def computed(self) -> str:
        """Phrase after "computed"."""
        return self.method_phrase or f"by {self.short_label}"

    @abstractmethod
    def ends(self, statistics: SetStatistics, level: float) -> Intervals:
        """Interval of each release."""

    def variance(self, statistics: SetStatistics) -> FloatArray | None:  # noqa: ARG002
        """T of each release, the rule's estimate of Var(q̄); None for a rule that has none."""
        return None

    def interval_from(
        self, counts: Sequence[int], *, synthesizer: TwoCellSynthesizer, level: float = 0.95
    ) -> tuple[float, float]:
        """Interval of an analyst who holds M released counts, each from 0 to m; NaN where there is none."""
        level = LEVEL.validate(level)
        checked = checked_counts(counts, synthesizer.m, name="counts")
        if checked.ndim != 1:
            raise ValueError(f"counts must be a list of counts, one for each set; got {describe_value(counts)}.")
        self.check_sets(int(SETS.validate(len(checked))))
        statistics = set_statistics(synthesizer, len(checked), checked.sum(), (checked**2).sum())
        low, high = self.ends(statistics, level)
        return float(low), float(high)

    def is_feasible(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:  # noqa: ARG002
        """Whether the rule is defined for so many sets, and its intervals take seconds at most."""
        return sets >= self.min_sets

    def check_sets(self, sets: int) -> None:
        """Raise a ValueError where the rule is not defined for so few sets."""
        if sets < self.min_sets:
            raise ValueError(f'The rule "{self.label}" needs at least {self.min_sets} sets; got {sets}.')
