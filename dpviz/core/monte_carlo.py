"""Estimates with their Monte Carlo standard errors: differences, ties and the repetitions that an error takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np
from scipy.special import ndtri

from dpviz.core.declarations import LEVEL, REPETITIONS
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

Candidate = TypeVar("Candidate")

TIE_ERRORS = 2.0  # standard errors within which two simulated numbers cannot be told apart: about 95 %
TIE_TOLERANCE = 1e-12  # relative distance, and distance from 0, within which two exact sums are equal
SHARE_OF_REPETITIONS = argument("share", 0, 1)


@dataclass(frozen=True)
class Measure:
    """A performance measure and its Monte Carlo standard error.

    References
    ----------
    Morris, White and Crowther (2019), "Using simulation studies to evaluate statistical methods", Table 6.

    Examples
    --------
    >>> Measure.share(1, 4).error == math.sqrt(3) / 8
    True
    >>> Measure(4.0, 0.4).root()
    Measure(value=2.0, error=0.1)
    >>> Measure(1.0, 0.3) - Measure(0.5, 0.4)
    Measure(value=0.5, error=0.5)
    >>> Measure(3.564e-8, 0.0, within=0.8e-8).shown, Measure(1e-9, 0.0, within=2e-9).shown, Measure(0.25, 0.0).shown
    (4e-08, 0.0, 0.25)
    """

    value: float  # NaN if it is not known
    error: float  # 0 of an exact number
    # How far each group of consecutive repetitions moves the number from its own mean. They add up to 0, and the
    # standard error follows from them (`_spread_of`). Simulations with the same random numbers are moved alike, so that
    # their difference has a smaller error than that of independent ones.
    parts: FloatArray | None = field(default=None, repr=False, compare=False)
    # Largest distance of an exact number from the true one, where a sum leaves something out.
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
        """Share c of the repetitions, with the error √(c(1 − c)/R).

        If all or none count, it is the width of Wilson's interval of one standard error, 1/(R + 1), and not 0: a
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
    def mean(cls, total: float, squared_total: float, repetitions: int) -> Self:
        """Mean of numbers with these sums of the numbers and of their squares, with the error s/√R.

        >>> Measure.mean(4.0, 10.0, 2)  # of 1 and 3: s = √2
        Measure(value=2.0, error=1.0)
        """
        if repetitions == 0:
            return cls.unknown()
        mean = total / repetitions
        if repetitions == 1:
            return cls(mean, math.nan)
        variance = max(squared_total - total * mean, 0.0) / (repetitions - 1)
        return cls(mean, math.sqrt(variance / repetitions))

    def tied(self, reference: Measure, within: float = TIE_TOLERANCE) -> bool:
        """Whether two numbers cannot be told apart; an unknown one is tied with nothing.

        They are tied within two standard errors of their difference, which is paired if they share random numbers.
        `within` is the relative tolerance of the search that found them.

        >>> Measure(0.0701, 0.0007).tied(Measure(0.0706, 0.0007)), Measure(0.3, 0.0).tied(Measure(0.1 + 0.2, 0.0))
        (True, True)
        >>> Measure(1.0, 0.0).tied(Measure(0.99999946, 0.0)), Measure(1.0, 0.0).tied(Measure(0.99999946, 0.0), 1e-6)
        (False, True)
        """
        if math.isinf(self.value) or math.isinf(reference.value):
            return self.value == reference.value
        difference = self - reference
        tolerance = max(within * max(abs(self.value), abs(reference.value)), TIE_TOLERANCE)
        sampling_error = TIE_ERRORS * difference.error * (1 + TIE_TOLERANCE)
        return abs(difference.value) <= sampling_error + difference.within + tolerance

    def with_parts(self, totals: FloatArray, counts: FloatArray) -> Measure:
        """Ratio of two sums over groups of repetitions, with its parts (total − value · count) / Σ counts.

        A part is what the ratio loses without the group, to first order. There is none of a single group, or where no
        group moves a number that has an error all the same.

        >>> Measure(2.5, 0.0).with_parts(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4)).parts.tolist()
        [-0.375, -0.125, 0.125, 0.375]
        """
        total_count = float(counts.sum())
        if len(totals) < 2 or not total_count > 0 or not math.isfinite(self.value):
            return self
        parts = (totals - self.value * counts) / total_count
        if self.error > 0 and not parts.any():
            return self
        # Neighbouring groups are merged: 200 of them are enough for the error of a difference
        step = -(-len(parts) // 200)
        if step > 1:
            parts = np.add.reduceat(parts, np.arange(0, len(parts), step))
        return Measure(self.value, self.error, parts)

    def scaled(self, factor: float) -> Measure:
        """Multiple of the number."""
        return self._transformed(factor * self.value, factor, abs(factor) * self.within)

    def square(self) -> Measure:
        """Square of the number, by the delta method."""
        return self._transformed(self.value**2, 2 * self.value)

    def root(self) -> Measure:
        """Square root of the number, by the delta method; NaN below 0."""
        if not self.value >= 0:
            return Measure.unknown()
        root = math.sqrt(self.value)
        return self._transformed(root, 1 / (2 * root)) if root else Measure(root, math.nan)

    def _transformed(self, value: float, slope: float, within: float = 0.0) -> Measure:
        parts = None if self.parts is None else slope * self.parts
        return Measure(value, abs(slope) * self.error, parts, within)

    @classmethod
    def average(cls, measures: Sequence[Self]) -> Measure:
        """Average of measures that may err to the same side, as those with one seed do.

        The error follows from the parts if all have equally many, and is the average of the errors otherwise.

        >>> Measure.average([Measure(1.0, 0.2), Measure(3.0, 0.4)])
        Measure(value=2.0, error=0.30000000000000004)
        """
        value = math.fsum(measure.value for measure in measures) / len(measures)
        within = max(measure.within for measure in measures)
        all_parts = [measure.parts for measure in measures if measure.parts is not None]
        if len(all_parts) < len(measures) or len({len(parts) for parts in all_parts}) > 1:
            error = math.fsum(measure.error for measure in measures) / len(measures)
            return Measure(value, error, within=within)
        parts = np.mean(all_parts, axis=0)
        return Measure(value, _spread_of(parts), parts, within)

    def __sub__(self, subtrahend: Measure) -> Measure:
        """Difference, with the error of paired differences if both have equally many parts."""
        value = self.value - subtrahend.value
        within = self.within + subtrahend.within
        if self.parts is None or subtrahend.parts is None or len(self.parts) != len(subtrahend.parts):
            error = math.hypot(*(measure.error for measure in (self, subtrahend) if measure.error > 0))
            return Measure(value, error, within=within)
        parts = self.parts - subtrahend.parts
        return Measure(value, _spread_of(parts), parts, within)

    def relative_to(
        self, reference: float, *, variance: float, covariance: float, repetitions: int
    ) -> tuple[Measure, Measure]:
        """100 (value / reference − 1) and 100 (√value / √reference − 1), by the delta method.

        The first is NaN unless the reference is above 0, and the second unless the ratio is, too.

        Parameters
        ----------
        variance, covariance : float
            R times the variance of the reference and the covariance of both.
        """
        if not reference > 0:
            return Measure.unknown(), Measure.unknown()
        ratio = self.value / reference
        ratio_variance = self.error**2 + (ratio**2 * variance - 2 * ratio * covariance) / repetitions
        error = math.sqrt(max(ratio_variance, 0.0)) / reference
        relative = Measure(100 * (ratio - 1), 100 * error)
        if not ratio > 0:
            return relative, Measure.unknown()
        root = math.sqrt(ratio)
        return relative, Measure(100 * (root - 1), 100 * error / (2 * root))


def tie_classes(
    candidates: Iterable[Candidate],
    value: Callable[[Candidate], Measure],
    tied: Callable[[Measure, Measure], bool] = Measure.tied,
) -> list[list[Candidate]]:
    """Candidates in classes of ties, the smallest value first: the best of the rest with all that are tied with it.

    Parameters
    ----------
    candidates : iterable
    value : callable
        From a candidate to its measure.
    tied : callable, optional

    Notes
    -----
    To be tied is not transitive (0 ~ 1 ~ 2 within 1, yet 0 < 2), but to stand in one class is. Unknown values, NaN,
    stand in the last class; the order within a class is that given.

    Examples
    --------
    >>> tie_classes([2.5, 0.0, 2.0, 1.0], lambda number: Measure(number, 0.0), lambda a, b: a.tied(b, 0.4))
    [[0.0], [1.0], [2.5, 2.0]]
    """
    classes = list[list[Candidate]]()
    rest = [(candidate, value(candidate)) for candidate in candidates]
    while known := [measure for _, measure in rest if not math.isnan(measure.value)]:
        best = min(known, key=lambda measure: measure.value)
        is_tied = [not math.isnan(measure.value) and tied(best, measure) for _, measure in rest]
        classes.append([candidate for (candidate, _), tie in zip(rest, is_tied, strict=True) if tie])
        rest = [pair for pair, tie in zip(rest, is_tied, strict=True) if not tie]
    return [*classes, [candidate for candidate, _ in rest]] if rest else classes


def first_smallest(errors: Mapping[float, float]) -> float:
    """Key of the smallest value, the first of ties within 1e-12; NaN is passed over unless there is nothing else.

    >>> first_smallest({1: 0.5, 2: 0.3, 3: 0.1 + 0.2})
    2
    """
    smallest = Measure(min((error for error in errors.values() if not math.isnan(error)), default=math.nan), 0.0)
    ties = (place for place, error in errors.items() if Measure(error, 0.0).tied(smallest))
    return next(ties, next(iter(errors)))


def zero_if_rounding(bias: float, spread: float, truth: float) -> float:
    """Bias, or 0 below the rounding of its sum.

    Parameters
    ----------
    bias, spread, truth : float
        The sum, the size of its terms, and what is subtracted in it.

    Examples
    --------
    >>> zero_if_rounding(1e-17, 0.1, 0.25), zero_if_rounding(1e-9, 0.1, 0.25)
    (0.0, 1e-09)
    """
    rounding = TIE_TOLERANCE * spread + 8 * float(np.finfo(float).eps) * abs(truth)
    return 0.0 if abs(bias) <= rounding else bias


def _spread_of(parts: FloatArray) -> float:
    """Standard error of a number with these parts, √(G/(G − 1) Σ parts²) of G groups."""
    return math.sqrt(len(parts) / (len(parts) - 1) * float(parts @ parts))


def wilson_interval(share: float, repetitions: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability, from the share of the repetitions in which it came true.

    Parameters
    ----------
    share : float
    repetitions : int
    level : float, optional

    Notes
    -----
    (c + z²/2R ± z √(c(1 − c)/R + z²/4R²)) / (1 + z²/R), with z the (1 + level)/2 quantile of the normal distribution.
    Source: Wilson (1927).

    Examples
    --------
    >>> low, high = wilson_interval(0.0, 10)
    >>> low, round(high, 6)  # z² / (R + z²)
    (0.0, 0.277533)
    """
    share = SHARE_OF_REPETITIONS.validate(share)
    repetitions = REPETITIONS.validate(repetitions)
    level = LEVEL.validate(level)
    z = float(ndtri((1 + level) / 2))
    correction = z * z / repetitions
    centre = share + correction / 2
    reach = z * math.sqrt(share * (1 - share) / repetitions + correction / (4 * repetitions))
    low = 0.0 if share == 0 else (centre - reach) / (1 + correction)
    high = 1.0 if share == 1 else (centre + reach) / (1 + correction)
    return max(low, 0.0), min(high, 1.0)


def repetitions_needed(share: float, error: float) -> int:
    """Smallest number of repetitions at which a share has a Monte Carlo standard error of at most `error`.

    Parameters
    ----------
    share, error : float

    Notes
    -----
    R = ⌈c (1 − c) / error²⌉, at least 1; c = 1/2 is the worst. Source: Morris, White and Crowther (2019), §5.2.

    Examples
    --------
    >>> repetitions_needed(0.95, 0.005)  # 0.0475 / 0.000025
    1900
    """
    share = SHARE_OF_REPETITIONS.validate(share)
    error = argument("error", 1e-150, 1e300, title="wanted standard error").validate(error)
    required = share * (1 - share) / error / error
    return max(1, math.ceil(required * (1 - 1e-12)))  # decimal input misses whole numbers by rounding errors
