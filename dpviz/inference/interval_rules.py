"""What every rule is: a way from the released counts of M sets to an interval for the proportion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.analysis import LEVEL, SETS
from dpviz.checked import checked
from dpviz.inference._posterior_weights import checked_counts
from dpviz.inference._variances import raghunathan_2003
from dpviz.inference.interval_ends import estimate_and_variances
from dpviz.numerics.quantiles import quantile
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import BoolArray, FloatArray, IntArray

Ends = tuple[FloatArray, FloatArray]
Quantiles = Callable[[FloatArray, FloatArray | float], FloatArray]


class Releases(NamedTuple):
    """Releases of M sets, as far as a rule can read them: arrays of one shape, one entry for each.

    Parameters
    ----------
    synthesizer, sets
        How they were made.
    total
        S = Σ x̃_j.
    estimate, between, within
        q̄, b and v̄; v̄ below 0 where no release has such numbers, and NaN where the sum alone is known.
    """

    synthesizer: TwoCellSynthesizer
    sets: int
    total: IntArray
    estimate: FloatArray
    between: FloatArray
    within: FloatArray

    def at(self, places: tuple[IntArray, ...]) -> Releases:
        """The releases at some places of the arrays."""
        return self._replace(**{name: getattr(self, name)[places] for name in self._fields[2:]})

    @property
    def synthetic_ratio(self) -> float:
        """m/n."""
        return self.synthesizer.m / self.synthesizer.n

    @property
    def negative_total(self) -> BoolArray:
        """Whether T_M = (1 + 1/M) b − v̄ is below 0; nowhere for a single set, which has no b."""
        if self.sets == 1:
            return np.zeros(self.within.shape, dtype=bool)
        # Where only the sums are known, nothing is said of T.
        between, within = np.nan_to_num(self.between, nan=1.0), np.nan_to_num(self.within, nan=0.0)
        return np.asarray(raghunathan_2003(between, np.maximum(within, 0.0), sets=self.sets)[0] < 0)


def releases(synthesizer: TwoCellSynthesizer, sets: int, total: IntArray, squares: IntArray) -> Releases:
    """The releases with these S = Σ x̃_j and Q = Σ x̃_j².

    Parameters
    ----------
    synthesizer, sets
        How they were made.
    total, squares
        S and Q, whole numbers, shapes that broadcast.
    """
    found = np.broadcast_arrays(*estimate_and_variances(total, squares, sets=sets, rows=synthesizer.m))
    return Releases(synthesizer, sets, np.broadcast_to(total, found[0].shape), *found)


@dataclass(frozen=True, kw_only=True)
class IntervalRule(ABC):
    """One way to turn M sets into an interval.

    Parameters
    ----------
    key, label, abbreviation
        Name in signatures, for readers, and beside a line of a picture.
    formula
        How the interval is made, in the papers' symbols.
    source
        Where the rule is printed.
    least_sets
        Fewest sets it is defined for.
    may_be_negative
        Whether its variance can be negative, so that there is no interval.
    few_degrees
        Whether ν can come near 0, where the t quantile and with it the interval grows without end.
    """

    key: str
    label: str
    abbreviation: str
    formula: str
    source: str
    least_sets: int = 1
    may_be_negative: bool = False
    few_degrees: bool = False

    knows_noise: ClassVar[bool] = False
    """Whether it reads how the sets were made; its interval then depends on the sum of the counts alone."""

    has_variance: ClassVar[bool] = False
    """Whether there is a T, the rule's own variance of q̄."""

    @abstractmethod
    def ends(self, found: Releases, level: float, quantiles: Quantiles = quantile) -> Ends:
        """Lower and upper end of the interval of each release; NaN where there is none.

        Parameters
        ----------
        found
            The releases.
        level
            Level of the interval, 0.001 to 0.999999.
        quantiles
            The function (ν, level) → t, for rules that need one.
        """

    @checked(level=LEVEL)
    def interval_from(
        self, counts: Sequence[int], *, synthesizer: TwoCellSynthesizer, level: float = 0.95
    ) -> tuple[float, float]:
        """Ends of the interval of an analyst who holds the M released counts; NaN where there is none.

        Parameters
        ----------
        counts
            Ones in each set, whole numbers from 0 to m; M is their number.
        synthesizer
            Synthesizer of one set of two counts; rules that do not know the noise take n and m from it alone.
        level
            Level of the interval, 0.001 to 0.999999.

        Raises
        ------
        ValueError
            Where a count or level is out of its domain, or there are too few sets for the rule.

        Examples
        --------
        >>> from dpviz.inference import RULES
        >>> from dpviz.synthesizers import BetaBinomial
        >>> release = BetaBinomial(n=100, m=100, alpha=15.65, beta=15.65)
        >>> for key in ("as_if_real", "blaker_2000"):
        ...     print([round(end, 4) for end in RULES[key].interval_from([31], synthesizer=release)])
        [0.2194, 0.4006]
        [0.0956, 0.4458]
        """
        whole = checked_counts(counts, synthesizer.m, name="counts")
        self.check_sets(int(SETS.check(len(whole))))
        low, high = self.ends(
            releases(synthesizer, len(whole), whole.sum(keepdims=True), (whole**2).sum(keepdims=True)), level
        )
        return float(low[0]), float(high[0])

    def variance(self, found: Releases) -> FloatArray | None:
        """T of each release, the rule's variance of q̄; None for a rule that has none."""
        del found
        return None

    @abstractmethod
    def largest_width(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0, level: float = 0.95) -> float:
        """A width that no interval exceeds, whatever the counts are; infinite where there is none."""

    def fits(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:
        """Whether the rule is defined for so many sets, and its intervals can be had in some seconds."""
        del synthesizer
        return sets >= self.least_sets

    def check_sets(self, sets: int) -> None:
        """Raise a ValueError where the rule is not defined for so few sets."""
        if sets < self.least_sets:
            raise ValueError(f'The rule "{self.label}" needs at least {self.least_sets} sets; got {sets}.')
