"""What every rule is, a way from the released counts of M sets to an interval, and what an interval holds."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.core.declarations import LEVEL, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument
from dpviz.core.types import BoolArray, FloatArray, IntArray, Numbers
from dpviz.inference.confidential import checked_counts
from dpviz.inference.quantiles import quantile
from dpviz.inference.sum_distribution import ReleaseSums
from dpviz.mechanisms import TwoCellSynthesizer

# Relative distance within which a variance counts as zero, and an end of an interval as reached
RELATIVE_ROUNDING = 1e-12
ANY_PROPORTION = argument("proportion", -1e150, 1e150)
Ends = tuple[FloatArray, FloatArray]
Quantiles = Callable[[FloatArray, Numbers], FloatArray]


class Releases(NamedTuple):
    """Releases of M sets, as far as a rule can read them: arrays of one shape, one entry for each.

    `total` is S = Σ x̃_j. v̄ (`within`) is below 0 where no release has such numbers, NaN where the sum alone is known.
    """

    synthesizer: TwoCellSynthesizer
    sets: int
    total: IntArray
    estimate: FloatArray
    between: FloatArray
    within: FloatArray

    def at(self, places: tuple[IntArray | slice, ...] | slice) -> "Releases":
        """Those at some places of the arrays."""
        return self._replace(**{name: getattr(self, name)[places] for name in self._fields[2:]})

    @property
    def synthetic_ratio(self) -> float:
        """m/n."""
        return self.synthesizer.m / self.synthesizer.n

    @property
    def negative_total(self) -> BoolArray:
        """Whether T_M = (1 + 1/M) b − v̄ is below 0; nowhere for a single set, which has no b, or where S is all."""
        if self.sets == 1:
            return np.zeros(self.within.shape, dtype=bool)
        within = np.maximum(self.within, 0.0)
        return np.asarray((1 + 1 / self.sets) * self.between - within < -RELATIVE_ROUNDING * within)  # not where NaN


def total_variance(between: FloatArray, within: FloatArray, sets: int) -> FloatArray:
    """T_M = (1 + 1/M) b − v̄; 0 where it is within 1e-12 of v̄."""
    difference = (1 + 1 / sets) * between - within
    zero = np.abs(difference) <= RELATIVE_ROUNDING * within
    return np.where(zero, 0.0, difference) if zero.any() else difference


def releases(synthesizer: TwoCellSynthesizer, sets: int, total: IntArray, squares: IntArray) -> Releases:
    """Return the releases with these S = Σ x̃_j and Q = Σ x̃_j², shapes that broadcast.

    q̄ = S/(Mm), b = (MQ − S²)/(M(M−1)m²), 0 for a single set, and v̄ = (mS − Q)/(Mm³).
    """
    total, squares = np.broadcast_arrays(np.asarray(total, np.int64), np.asarray(squares, np.int64))
    rows = synthesizer.m
    between = (sets * squares - total**2) / (max(sets * (sets - 1), 1) * rows**2)
    within = (rows * total - squares) / (sets * rows**3)
    return Releases(synthesizer, sets, total, total / (sets * rows), between, within)


def half_widths(variance: FloatArray, degrees: FloatArray, level: float, quantiles: Quantiles = quantile) -> FloatArray:
    """t_{ν, (1 + level)/2} √T; NaN where T < 0 and 0 where T = 0, even for ν = 0, where it would be ∞ · 0."""
    variance, degrees = np.asarray(variance), np.asarray(degrees)
    if degrees.ndim:
        variance, degrees = np.broadcast_arrays(variance, degrees)
    none = variance < 0
    if none.any():
        half = np.full(variance.shape, math.nan)
        half[~none] = half_widths(variance[~none], degrees[~none] if degrees.ndim else degrees, level, quantiles)
        return half
    half = np.sqrt(variance)
    with np.errstate(invalid="ignore"):
        half = np.asarray(half * quantiles(degrees, level))
    if degrees.ndim and half.size and not variance.min() > 0:
        half[variance == 0] = 0.0
    return half


def holds(low: FloatArray, high: FloatArray, proportion: Numbers) -> BoolArray:
    """Whether low ≤ p ≤ high, an end being reached when it is within a relative 1e-12; not where the ends are NaN.

    >>> holds(np.array([0.2, 0.3, np.nan]), np.array([0.3, 1.0, np.nan]), 0.1 + 0.2).tolist()
    [True, True, False]
    """
    low = np.asarray(low, dtype=float)
    high = np.asarray(high, dtype=float)
    proportion = ANY_PROPORTION.validate_array(proportion)
    with np.errstate(invalid="ignore"):
        lowest, highest = reached(low, high)
    return np.asarray((lowest <= proportion) & (proportion <= highest))


def reached(low: FloatArray, high: FloatArray) -> Ends:
    """The smallest and largest p that the interval holds: its ends, moved out by 1e-12 of its half width and of p."""
    slack = RELATIVE_ROUNDING * ((high - low) / 2)
    return (low - slack) / (1 + RELATIVE_ROUNDING), (high + slack) / (1 - RELATIVE_ROUNDING)


@dataclass(frozen=True, kw_only=True)
class IntervalRule(ABC):
    """One way to turn at least `fewest_sets` sets into an interval; `abbreviation` stands beside a line.

    With `few_degrees` ν can come near 0, where the t quantile and with it the interval grows without end.
    """

    key: str
    label: str
    abbreviation: str
    formula: str
    source: str
    fewest_sets: int = 1
    few_degrees: bool = False
    # Whether it reads how the sets were made, its interval depending on the sum alone; whether it has a variance of q̄
    knows_noise: ClassVar[bool] = False
    # What it takes for p by the sum of the counts, where that is no function of q̄ and the release's mean alone
    estimates: Callable[[ReleaseSums], FloatArray] | None = None
    has_variance: ClassVar[bool] = False
    way: str = ""  # How the interval comes about, where the name of the rule does not say it after "by"

    @property
    def short_label(self) -> str:
        """Its name without what stands in brackets."""
        return self.label.partition(" (")[0]

    @property
    def computed(self) -> str:
        """How the interval is computed, after that word: by a rule of this name, or in its own way.

        >>> from dpviz.inference import RULES
        >>> RULES["reiter_2002"].computed, RULES["as_if_real"].computed
        ('by Reiter 2002', 'as if the data were real')
        """
        return self.way or f"by {self.short_label}"

    @abstractmethod
    def ends(self, found: Releases, level: float, quantiles: Quantiles = quantile) -> Ends:
        """Return the lower and upper end of the interval of each release; NaN where there is none."""

    def half_widths(
        self,
        found: Releases,  # noqa: ARG002
        level: float,  # noqa: ARG002
        quantiles: Quantiles = quantile,  # noqa: ARG002
    ) -> FloatArray | None:
        """Half the width of each interval, NaN where there is none; None for a rule that q̄ is not the middle of."""
        return None

    def interval_from(
        self, counts: Sequence[int], *, synthesizer: TwoCellSynthesizer, level: float = 0.95
    ) -> tuple[float, float]:
        """Return the ends of the interval of an analyst who holds the M released counts; NaN where there is none.

        >>> from dpviz.inference import RULES
        >>> from dpviz.mechanisms import BetaBinomial
        >>> release = BetaBinomial(n=100, m=100, alpha=15.65, beta=15.65)
        >>> [round(end, 4) for end in RULES["blaker_2000"].interval_from([31], synthesizer=release)]
        [0.0956, 0.4458]
        """
        level = LEVEL.validate(level)
        whole = checked_counts(counts, synthesizer.m, name="counts")
        if whole.ndim != 1:
            raise ValueError(f"counts must be a list of counts, one for each set; got {describe_value(counts)}.")
        self.check_sets(int(SETS.validate(len(whole))))
        found = releases(synthesizer, len(whole), whole.sum(keepdims=True), (whole**2).sum(keepdims=True))
        low, high = self.ends(found, level)
        return float(low[0]), float(high[0])

    def variance(self, found: Releases) -> FloatArray | None:  # noqa: ARG002
        """T of each release, the rule's variance of q̄; None for a rule that has none."""
        return None

    @abstractmethod
    def largest_width(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0, level: float = 0.95) -> float:
        """Return a width that no interval exceeds, whatever the counts are; infinite where there is none."""

    def fits(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:  # noqa: ARG002
        """Return whether the rule is defined for so many sets, and its intervals can be had in some seconds."""
        return sets >= self.fewest_sets

    def check_sets(self, sets: int) -> None:
        """Raise a ValueError where the rule is not defined for so few sets."""
        if sets < self.fewest_sets:
            raise ValueError(f'The rule "{self.label}" needs at least {self.fewest_sets} sets; got {sets}.')
