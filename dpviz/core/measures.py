"""What a study says: every measure with its Monte Carlo standard error, and how many repetitions a wanted one takes."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np
from scipy.special import ndtri

from dpviz.core.checked import checked
from dpviz.core.declarations import LEVEL, REPETITIONS
from dpviz.core.parameters import argument
from dpviz.core.running_sums import Sums
from dpviz.core.types import FloatArray

Candidate = TypeVar("Candidate")

SURE = 2.0  # Standard errors that two numbers of a simulation must be apart to be told apart
TIED_TOLERANCE = 1e-12  # Relative distance, and distance from 0, within which two exact sums are equal
MOST_MEASURE_PARTS = 200  # Parts of a measure that are kept: enough for the error of a difference
SHARE_OF_REPETITIONS = argument("share", 0, 1)
WANTED_ERROR = argument("error", 1e-150, 1e300, title="wanted standard error")


@dataclass(frozen=True)
class Measure:
    """A number from a simulation and its Monte Carlo standard error (Morris, White & Crowther 2019, Table 6), or NaN.

    `parts` say how far each group of consecutive repetitions moves the number from its own mean; they add up to 0, and
    the root of the sum of their squares is the error. Two simulations with the same random numbers are moved alike,
    so that their difference, `one - other`, is better known than either; it is as uncertain as both together where
    there are no parts. An exact number has the error 0; a sum that leaves something out, or a bracket, has the true one
    `within` some distance, and is `shown` to no more decimals than that leaves.

    >>> Measure.share(1, 4).error == math.sqrt(3) / 8
    True
    >>> Measure(4.0, 0.4).root()
    Measure(value=2.0, error=0.1)
    >>> Measure(1.0, 0.3) - Measure(0.5, 0.4)
    Measure(value=0.5, error=0.5)
    >>> Measure(3.564e-8, 0.0, within=0.8e-8).shown, Measure(1e-9, 0.0, within=2e-9).shown, Measure(0.25, 0.0).shown
    (4e-08, 0.0, 0.25)
    """

    value: float
    error: float
    parts: FloatArray | None = field(default=None, repr=False, compare=False)
    within: float = field(default=0.0, repr=False, compare=False)

    @property
    def shown(self) -> float:
        """The value without decimals that are not known."""
        if not 0 < self.within < math.inf or not math.isfinite(self.value):
            return self.value
        return round(self.value, -math.ceil(math.log10(self.within)))

    @classmethod
    def unknown(cls) -> Self:
        """NaN."""
        return cls(math.nan, math.nan)

    @classmethod
    def share(cls, count: int, repetitions: int) -> Self:
        """count / repetitions, c, and √(c(1 − c)/R); NaN where there are no repetitions.

        Where all or none count the error is that of Wilson's interval of one standard error, 1/(R + 1), not 0: a
        simulation that met no other case does not prove that there is none.

        >>> Measure.share(400, 400) == Measure(1.0, 1 / 401)
        True
        """
        if repetitions == 0:
            return cls.unknown()
        share = count / repetitions
        if share in (0, 1):
            return cls(share, 1 / (repetitions + 1))
        return cls(share, math.sqrt(share * (1 - share) / repetitions))

    @classmethod
    def mean(cls, sums: Sums, name: str, repetitions: int) -> Self:
        """The mean of what `sums` has summed as `name` and, squared, `name` + ``_squared``; its error is s/√R."""
        if repetitions == 0:
            return cls.unknown()
        total, squared = sums.total(name), sums.total(f"{name}_squared")
        mean = total / repetitions
        if repetitions == 1:
            return cls(mean, math.nan)
        variance = max(squared - total * mean, 0.0) / (repetitions - 1)
        return cls(mean, math.sqrt(variance / repetitions))

    def tied(self, other: "Measure", within: float = TIED_TOLERANCE) -> bool:
        """Whether two numbers cannot be told apart; one that is not known is tied with nothing.

        They are tied within two standard errors of their difference, `self - other`, which is paired where they share
        their random numbers, and `within` as a share of the larger one, the tolerance of the search that found them.

        >>> Measure(0.0701, 0.0007).tied(Measure(0.0706, 0.0007)), Measure(0.3, 0.0).tied(Measure(0.1 + 0.2, 0.0))
        (True, True)
        >>> Measure(1.0, 0.0).tied(Measure(0.99999946, 0.0)), Measure(1.0, 0.0).tied(Measure(0.99999946, 0.0), 1e-6)
        (False, True)
        """
        if math.isinf(self.value) or math.isinf(other.value):
            return self.value == other.value
        apart, size = self - other, max(abs(self.value), abs(other.value))
        return abs(apart.value) <= SURE * apart.error * (1 + TIED_TOLERANCE) + apart.within + max(
            within * size, TIED_TOLERANCE
        )

    def with_parts(self, totals: FloatArray, counts: FloatArray) -> "Measure":
        """Return the same measure, a ratio of two sums, with its parts: of each group both sums over it alone.

        The part of a group is (total − value · count) / Σ counts, what the ratio loses without it to first order.
        Neighbouring groups are put together until there are few. Without two groups, or where no group moves a number
        that has an error all the same, there are none.

        >>> Measure(2.5, 0.0).with_parts(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4)).parts.tolist()
        [-0.375, -0.125, 0.125, 0.375]
        """
        whole = float(counts.sum())
        if len(totals) < 2 or not whole > 0 or not math.isfinite(self.value):
            return self
        found = (totals - self.value * counts) / whole
        if self.error > 0 and not found.any():
            return self
        step = -(-len(found) // MOST_MEASURE_PARTS)
        found = np.add.reduceat(found, np.arange(0, len(found), step)) if step > 1 else found
        return Measure(self.value, self.error, found)

    def scaled(self, factor: float) -> "Measure":
        """Return a multiple."""
        parts = None if self.parts is None else factor * self.parts
        return Measure(factor * self.value, abs(factor) * self.error, parts, abs(factor) * self.within)

    def square(self) -> "Measure":
        """Return the square, by the delta method: `root` takes it back."""
        parts = None if self.parts is None else 2 * self.value * self.parts
        return Measure(self.value**2, 2 * abs(self.value) * self.error, parts)

    @classmethod
    def average(cls, found: Sequence[Self]) -> "Measure":
        """Return the average of measures that may err to the same side, as those with one seed do.

        Its error follows from the parts where all have alike many, and is the average of the errors otherwise.

        >>> Measure.average([Measure(1.0, 0.2), Measure(3.0, 0.4)])
        Measure(value=2.0, error=0.30000000000000004)
        """
        value, error = (math.fsum(getattr(one, name) for one in found) / len(found) for name in ("value", "error"))
        known, within = [one.parts for one in found if one.parts is not None], max(one.within for one in found)
        if len(known) < len(found) or len({len(one) for one in known}) > 1:
            return Measure(value, error, within=within)
        parts = np.mean(known, axis=0)
        return Measure(value, spread_of(parts), parts, within)

    def __sub__(self, other: "Measure") -> "Measure":
        """Return the difference, with the standard error of paired differences where both have alike many parts."""
        mine, theirs, within = self.parts, other.parts, self.within + other.within
        value = self.value - other.value
        error = math.hypot(*(one.error for one in (self, other) if one.error > 0))
        if mine is None or theirs is None or len(mine) != len(theirs):
            return Measure(value, error, within=within)
        apart = mine - theirs
        return Measure(value, spread_of(apart), apart, within)

    def root(self) -> "Measure":
        """Return the square root, by the delta method; NaN below 0."""
        if not self.value >= 0:
            return Measure.unknown()
        root = math.sqrt(self.value)
        if root == 0:
            return Measure(root, math.nan)
        parts = None if self.parts is None else self.parts / (2 * root)
        return Measure(root, self.error / (2 * root), parts)

    def relative_to(
        self, other: float, *, variance: float, covariance: float, repetitions: int
    ) -> tuple["Measure", "Measure"]:
        """100 (value / other − 1) and 100 (√value / √other − 1), in per cent, by the delta method.

        NaN unless `other`, and for roots the ratio, is above 0. `variance` (of `other`) and `covariance` are times R.
        """
        if not other > 0:
            return Measure.unknown(), Measure.unknown()
        ratio = self.value / other
        of_ratio = self.error**2 + (ratio**2 * variance - 2 * ratio * covariance) / repetitions
        error = math.sqrt(max(of_ratio, 0.0)) / other
        relative = Measure(100 * (ratio - 1), 100 * error)
        if not ratio > 0:
            return relative, Measure.unknown()
        root = math.sqrt(ratio)
        return relative, Measure(100 * (root - 1), 100 * error / (2 * root))


def in_ties(
    ones: Iterable[Candidate],
    value: Callable[[Candidate], Measure],
    tied: Callable[[Measure, Measure], bool] = Measure.tied,
) -> list[list[Candidate]]:
    """Return these in classes, the smallest value first: with the best of what is left, all that are tied with it.

    To be tied is not transitive (0 ~ 1 ~ 2 within 1, yet 0 < 2), but to stand in one class is. What has no number, NaN,
    stands in the last class; the order within a class is that given.

    >>> in_ties([2.5, 0.0, 2.0, 1.0], lambda one: Measure(one, 0.0), lambda one, other: one.tied(other, 0.4))
    [[0.0], [1.0], [2.5, 2.0]]
    """
    classes = list[list[Candidate]]()
    rest = [(one, value(one)) for one in ones]
    while known := [found for _, found in rest if not math.isnan(found.value)]:
        best = min(known, key=lambda found: found.value)
        together = [math.isnan(found.value) or not tied(best, found) for _, found in rest]
        classes.append([one for (one, _), apart in zip(rest, together, strict=True) if not apart])
        rest = [pair for pair, apart in zip(rest, together, strict=True) if apart]
    return [*classes, [one for one, _ in rest]] if rest else classes


def spread_of(parts: FloatArray) -> float:
    """Return the standard error of a number with these parts: √(G/(G − 1) Σ parts²) of G groups.

    >>> round(spread_of(np.array([-0.375, -0.125, 0.125, 0.375])), 12) == round(math.sqrt(5 / 3) / 2, 12)  # s/√4 of 1…4
    True
    """
    return math.sqrt(len(parts) / (len(parts) - 1) * float(parts @ parts))


@checked(share=SHARE_OF_REPETITIONS, repetitions=REPETITIONS, level=LEVEL)
def wilson_interval(share: float, repetitions: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability, from the share of `repetitions` in which it came true.

    With z = z_{(1 + level)/2}: (c + z²/2R ± z √(c(1 − c)/R + z²/4R²)) / (1 + z²/R). Source: Wilson (1927).

    >>> low, high = wilson_interval(0.0, 10)
    >>> low, round(high, 6)  # z² / (R + z²)
    (0.0, 0.277533)
    """
    z = float(ndtri((1 + level) / 2))
    added = z * z / repetitions
    centre, reach = share + added / 2, z * math.sqrt(share * (1 - share) / repetitions + added / (4 * repetitions))
    low = 0.0 if share == 0 else (centre - reach) / (1 + added)
    high = 1.0 if share == 1 else (centre + reach) / (1 + added)
    return max(low, 0.0), min(high, 1.0)


@checked(share=SHARE_OF_REPETITIONS, error=WANTED_ERROR)
def repetitions_needed(share: float, error: float) -> int:
    """Return the smallest R for which a share near `share` has a Monte Carlo standard error of at most `error`.

    R = ⌈c (1 − c) / error²⌉, at least 1; 1/2 is the worst c. Source: Morris, White & Crowther (2019), §5.2.

    >>> repetitions_needed(0.95, 0.005)  # 0.0475 / 0.000025
    1900
    """
    wanted = share * (1 - share) / error / error
    nearest = round(wanted)
    # A whole number that decimal input missed by rounding is meant.
    return max(1, nearest if abs(wanted - nearest) <= 1e-12 * wanted else math.ceil(wanted))
