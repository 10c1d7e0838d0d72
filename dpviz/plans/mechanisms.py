"""Mechanisms that release a statistic of a plan: their errors, and the privacy losses of one person's rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpviz.mechanisms.noise import ROUNDING, GeometricSanitizer, LaplaceSanitizer, NoiseSanitizer
from dpviz.plans.statistics import NUMBERS, ShareStatistic, Statistic
from dpviz.privacy.pld import PrivacyLossDistribution

MAX_PLAN_ROWS = int(NUMBERS["n"].maximum)
MIN_RATE, MAX_RATE = 1e-6, 1e3  # of noise on counts: what the sanitizers take
NEGLIGIBLE_TAIL = 1e-15  # probability below which rounding alone decides
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


@dataclass(frozen=True)
class PlanMechanism(ABC):
    """A mechanism that releases one statistic of `n` rows; a larger `rate` is more accurate and less private.

    A sum that one person changes by at most s has a privacy loss of at most s · rate, or an unbounded one where the
    mechanism `needs_delta`.
    """

    rate: float
    n: int

    key: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]  # of its rate
    unsuitable: ClassVar[Mapping[bool, str]] = MappingProxyType({})  # why it releases no sums (False) or counts (True)
    needs_delta: ClassVar[bool] = False  # whether no ε holds without δ
    is_candidate: ClassVar[bool] = True  # whether it is tried where a statistic asks for the best mechanism
    spare_rows: ClassVar[int] = 0  # more rows than a person changes, so that moving counts to an end hides nothing

    def __getstate__(self) -> dict[str, object]:
        return {"rate": self.rate, "n": self.n}  # without what was computed of them

    def largest_loss(self, sensitivities: tuple[float, ...]) -> float:
        """Pure ε where a person changes the sums by these sensitivities."""
        return math.inf if self.needs_delta and sensitivities else math.fsum(sensitivities) * self.rate

    # Its errors, of sums

    @abstractmethod
    def mean_square(self, below: float, above: float) -> float:
        """Mean squared error of a sum at these distances to its bounds."""

    @abstractmethod
    def quantile(self, level: float) -> float:
        """Smallest distance that the noise keeps with at least this probability."""

    @classmethod
    def sufficient_rate(cls, distance: float, level: float | None) -> float:
        """Rate in closed form whose noise keeps a distance with a probability, or has it as its deviation.

        It is the smallest one far from all bounds. Noise on numbers is inversely proportional to its rate.
        """
        unit = cls(1.0, MAX_PLAN_ROWS)
        error = math.sqrt(unit.mean_square(math.inf, math.inf)) if level is None else unit.quantile(level)
        return error / distance

    def error(self, statistic: Statistic) -> float:
        """Largest error of a statistic in the measure of its limit and in its units."""
        if statistic.level is not None:
            return self.quantile(statistic.level) / self.n
        squares = [self.mean_square(*distances) for distances in statistic.distances_to_bounds(self.n)]
        return math.sqrt(max(squares)) / self.n

    # Its errors where released counts below a threshold are withheld

    def moments_below(self, count: int, threshold: int) -> tuple[float, float]:
        """Probability of released counts below a threshold, and what these add to the mean squared error."""
        if threshold > self.n:  # nothing is ever published
            return 1.0, self.mean_square(count, self.n - count)
        return self._moments_below(count, threshold)

    def _moments_below(self, count: int, threshold: int) -> tuple[float, float]:
        raise NotImplementedError(f"{self.label} releases no counts.")

    def withheld_rmse(self, count: int, threshold: int, substitute: float) -> float:
        """Root mean squared error of a count where those below a threshold are read as the substitute.

        The mean square over all noise, less that of withheld counts, and (substitute − count)² for each of these.
        """
        probability, square = self.moments_below(count, threshold)
        rest = max(self.mean_square(count, self.n - count) - square, 0.0)
        return math.sqrt(rest + probability * (substitute - count) ** 2)

    def withheld_error(self, count: int, threshold: int, level: float | None) -> float:
        """Error of a count where those below a threshold are withheld and read as half of it.

        Notes
        -----
        With w = Pr(withheld) and S(d) = Pr(noise > d), a distance d has the probability 1 − w − S(d) where the
        substitute is farther away, and 1 − S(d) otherwise. Farther above the threshold than the noise reaches, nothing
        changes.
        """
        if level is None:
            return self.withheld_rmse(count, threshold, threshold / 2)
        reach = self.quantile(level)
        if count - threshold >= reach:
            return reach
        withheld, _ = self.moments_below(count, threshold)

        def distance(tail: float) -> float:
            return math.inf if tail <= NEGLIGIBLE_TAIL else self.quantile(max(1 - 2 * tail, 0.0))

        with_substitute = 0.0 if withheld >= level else distance(1 - level)
        return min(distance(1 - withheld - level), max(with_substitute, abs(threshold / 2 - count)))

    def published_error(self, statistic: Statistic) -> PublishedError | None:
        """Error of a statistic with its small counts withheld; None where none are."""
        if not statistic.suppress_below or not isinstance(statistic, ShareStatistic):
            return None
        threshold = statistic.suppress_below
        low, high = statistic.count_range(self.n)
        error, count = self._largest_error(statistic, threshold)
        limit = statistic.limit * self.n * (1 + LIMIT_ROUNDING)

        def keeps_limit(threshold: int) -> bool:
            # Most thresholds that break the limit do so at one of these counts: the others are seldom looked at
            likely = {count, low, max(low, min(high, threshold - 1))}
            errors = (self.withheld_error(value, threshold, statistic.level) for value in likely)
            return max(errors) <= limit and self._largest_error(statistic, threshold)[0] <= limit

        withheld = [abs(threshold / 2 - value) for value in (low, min(high, threshold - 1)) if low < threshold]
        return PublishedError(
            statistic=statistic,
            n=self.n,
            error=error / self.n,
            count=count,
            error_before=self.error(statistic),
            without_noise=max(withheld, default=0.0) / self.n,
            threshold=next(filter(keeps_limit, range(threshold, 0, -1)), 0),  # the error is not monotone in it
            examples=tuple(sorted({low, min(max(threshold, low), high), high})),
        )

    def _largest_error(self, statistic: Any, threshold: int) -> tuple[float, int]:
        """Largest error, in counts, where counts below a threshold are withheld, and the count where it is.

        Below the threshold every count is looked at, and the ends and the middle, where the noise alone is the farthest
        off. Above it the error is smooth on the scale of the noise: the largest on a grid is refined.
        """
        low, high = statistic.count_range(self.n)

        def error(count: int) -> tuple[float, int]:
            return self.withheld_error(count, threshold, statistic.level), count

        first = max(low, threshold)
        ends_and_middle = (int(below) for below, _ in statistic.distances_to_bounds(self.n))
        largest = max(map(error, {*range(low, min(first, high + 1)), *ends_and_middle}))
        if first > high:
            return largest
        scale = math.sqrt(self.mean_square(first, self.n - first)) + 1
        start, end = first, min(high, first + math.ceil(MAX_DISTANCE * scale))
        step = max(1, math.floor(scale / POINTS_PER_ERROR))
        while True:
            largest_above = max(map(error, range(start, end + 1, step)))
            if step == 1:
                return max(largest, largest_above)
            start, end = max(start, largest_above[1] - step), min(end, largest_above[1] + step)
            step = max(1, step // POINTS_PER_ERROR)


class CountNoise(PlanMechanism):
    """Noise on the whole numbers, added to each count; the published count is moved to the nearest end of 0 to n."""

    symbol = "ε of a count"
    unsuitable = MappingProxyType({False: "it releases counts"})
    sanitizer: ClassVar[type[LaplaceSanitizer | GeometricSanitizer]]

    @cached_property
    def noise(self) -> NoiseSanitizer:
        """Release of a single count."""
        rate = min(max(self.rate, MIN_RATE), MAX_RATE)
        return self.sanitizer.up_to(MAX_PLAN_ROWS)(n=self.n, epsilon=rate)

    def count_loss(self, shift: int) -> PrivacyLossDistribution:
        """Loss of a count that moves by `shift`: below 0 and above `shift` the likelihood ratio is constant."""
        z = np.arange(shift + 1)
        inside, ends = self.noise.log_mass(shift - z), self.noise.log_mass(np.array([1, shift + 1]))
        tails = self.noise.log_tail(np.array([1, shift + 1]))
        largest = float(ends[0] - ends[1])
        losses = np.concatenate([[-largest], inside - self.noise.log_mass(z), [largest]])
        return PrivacyLossDistribution(losses, np.concatenate([tails[1:], inside, tails[:1]])).merged()

    def mean_square(self, below: float, above: float) -> float:
        upper_tail = math.exp(float(self.noise.log_tail(np.array([1]))[0]))
        return upper_tail * float(self.noise.clamped_squares(np.array([below, above], dtype=np.int64)).sum())

    def quantile(self, level: float) -> float:
        return float(self.noise.reach(level))

    def _moments_below(self, count: int, threshold: int) -> tuple[float, float]:
        released = np.arange(threshold)
        log_masses = self.noise.log_mass(np.abs(released - count))
        log_masses[:1] = self.noise.log_tail(np.array([count]))
        with np.errstate(under="ignore"):
            masses = np.exp(log_masses)
            return float(masses.sum()), float(masses @ (released - float(count)) ** 2)


class GeometricNoise(CountNoise):
    """Two-sided geometric noise: each further whole number is e^rate times less likely.

    >>> noise = GeometricNoise(math.log(3), 100)
    >>> round(noise.mean_square(50, 50), 9), noise.quantile(0.83), round(noise.largest_loss((1, 1)) / math.log(3), 9)
    (1.5, 1.0, 2.0)
    """

    key = "geometric"
    label = "geometric noise"
    sanitizer = GeometricSanitizer

    @classmethod
    def sufficient_rate(cls, distance: float, level: float | None) -> float:
        """Of the variance 1 / (cosh rate − 1), or the root of rate · d + ln(1 + e^{−rate}) = ln(2 / (1 − level)).

        d is the first whole number above the distance.
        """
        if level is None:
            return 2 * math.asinh(math.sqrt(0.5) / distance)
        first_outside = math.floor(distance) + 1 + ROUNDING
        target = math.log(2 / (1 - level))
        excess = lambda rate: rate * first_outside + math.log1p(math.exp(-rate)) - target  # noqa: E731
        return float(brentq(excess, 0.0, target / first_outside, xtol=1e-300))


class RoundedLaplaceNoise(CountNoise):
    """Laplace noise of scale 1/rate, rounded to the nearest whole number."""

    key = "laplace_count"
    label = "rounded Laplace noise"
    is_candidate = False
    sanitizer = LaplaceSanitizer
    spare_rows = 2

    @classmethod
    def sufficient_rate(cls, distance: float, level: float | None) -> float:
        """Of the variance V = cosh(rate/2) / (2 sinh²(rate/2)): cosh(rate/2) = (1 + √(1 + 16 V²)) / (4 V)."""
        if level is not None:
            return -math.log1p(-level) / (math.floor(distance) + 0.5 + ROUNDING)
        double = 2 * distance**2
        cosh = (1 + math.hypot(1.0, 2 * double)) / (2 * double)
        return 2 * math.asinh(math.sqrt(cosh / double))


class LaplaceNoise(PlanMechanism):
    """Laplace noise of scale 1/rate on a sum of numbers; the published mean is moved to the nearest bound.

    >>> noise = LaplaceNoise(2.0, 100)
    >>> round(noise.mean_square(1e9, 1e9), 9), round(noise.quantile(1 - math.exp(-2)), 9)
    (0.5, 1.0)
    """

    key = "laplace"
    label = "Laplace noise"
    symbol = "1 / scale of the noise on the sum"
    unsuitable = MappingProxyType({True: "it releases sums of numbers; of counts geometric noise is nearer"})

    def mean_square(self, below: float, above: float) -> float:
        """E min(|Z|, d)², half of it to each side: (1 − e^{−u} (1 + u)) / rate² with u = rate · d."""
        sides = (self.rate * below, self.rate * above)
        return math.fsum(-math.expm1(math.log1p(u) - u) if u < math.inf else 1.0 for u in sides) / self.rate**2

    def quantile(self, level: float) -> float:
        return -math.log1p(-level) / self.rate


class GaussianNoise(PlanMechanism):
    """Gaussian noise of standard deviation 1/rate on each sum or count. Its error is that before moving to an end."""

    key = "gaussian"
    label = "Gaussian noise"
    symbol = "1 / standard deviation of the noise"
    needs_delta = True

    def mean_square(self, below: float, above: float) -> float:  # noqa: ARG002
        return self.rate**-2

    def quantile(self, level: float) -> float:
        return float(ndtri((1 + level) / 2)) / self.rate

    def _moments_below(self, count: int, threshold: int) -> tuple[float, float]:
        """Of a normal number below a bound u, in σ: Φ and σ² (Φ − u φ)."""
        u = (threshold - count) * self.rate
        below = float(ndtr(u))
        density = math.exp(-u * u / 2) / math.sqrt(2 * math.pi)
        return below, (below - u * density) / self.rate**2


PLAN_MECHANISMS: dict[str, type[PlanMechanism]] = {
    kind.key: kind for kind in (GeometricNoise, RoundedLaplaceNoise, LaplaceNoise, GaussianNoise)
}
"""Every mechanism, by key: a new one is a class and a name here."""
