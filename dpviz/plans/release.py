"""How a statistic of a plan is released: what every way must know, and noise on its sums."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpviz.mechanisms.noise import GeometricSanitizer, LaplaceSanitizer, NoiseSanitizer
from dpviz.plans.losses import NO_LOSS, LossBounds, whole_number_losses
from dpviz.plans.measures import NEARNESS, ErrorMoments
from dpviz.plans.statistic import Statistic
from dpviz.plans.summed import Alternatives, SumTally

MOST_PLAN_ROWS = 10_000_000
SMALLEST_RATE, LARGEST_RATE = 1e-6, 1e3  # Of noise on counts: what the sanitizers take


@dataclass(frozen=True)
class PlannedRelease(ABC):
    """The release of one statistic of `n` rows; the larger its `rate`, the nearer it is and the more it tells."""

    rate: float
    n: int

    key: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]
    """What its rate is called, in a formula."""
    needs_delta: ClassVar[bool] = False
    """Whether no ε holds without δ."""
    sought: ClassVar[bool] = True
    """Whether it is among those that are tried where the best one is asked for."""

    def __reduce__(self) -> tuple[type[PlannedRelease], tuple[float, int]]:
        """Its fields alone are pickled, not what was computed of them."""
        return type(self), (self.rate, self.n)

    @classmethod
    def unfit(cls, statistic: Statistic, one_row: bool) -> str:  # noqa: ARG003
        """Return why it cannot release a statistic, in a clause; nothing where it can.

        `one_row` says that a person has a single row, which is substituted and stays in its group.
        """
        return "" if statistic.counts else "it releases counts"

    @classmethod
    def in_steps(cls, statistic: Statistic) -> bool:  # noqa: ARG003
        """Return whether what it tells changes in steps as the limit of a statistic does."""
        return False

    @abstractmethod
    def largest_loss(self, shifts: tuple[float, ...]) -> float:
        """Return the pure ε where a person moves the sums by `shifts`."""

    def variance_told(self, shifts: tuple[float, ...]) -> float:  # noqa: ARG002
        """Return the sum of the squares of the shifts in standard deviations of Gaussian noise."""
        return 0.0

    def laplace_sizes(self, shifts: tuple[float, ...]) -> tuple[float, ...]:  # noqa: ARG002
        """Return the shifts in scales of Laplace noise on sums."""
        return ()

    def parts(self, shifts: tuple[float, ...]) -> list[Alternatives]:  # noqa: ARG002
        """Return the losses of other independent parts, for each sort of neighbours of which any may be the worst."""
        return []

    def known_parts(self, shifts: tuple[float, ...], tally: SumTally) -> list[Alternatives]:
        """Return the same parts, which are found once."""
        if shifts not in self._found:
            self._found[shifts] = self.parts(shifts)
            tally.drawn += sum(one.size for each in self._found[shifts] for one in each)
        return self._found[shifts]

    @cached_property
    def _found(self) -> dict[tuple[float, ...], list[Alternatives]]:
        return {}

    @abstractmethod
    def mean_square(self, below: float, above: float) -> float:
        """Return the mean squared error of a sum with so much room below and above it."""

    @abstractmethod
    def reach(self, share: float) -> float:
        """Return the smallest distance that the noise keeps with at least this probability."""

    def bias(self, count: int) -> float:  # noqa: ARG002
        """Return how far a released count is off on average, from this confidential one."""
        return 0.0

    def moments_below(self, count: int, threshold: int) -> ErrorMoments:
        """Return what released counts below a threshold have of the error's distribution."""
        raise NotImplementedError(f"{self.label} releases no counts.")

    @classmethod
    def free_rate(cls, error: float) -> float:  # noqa: ARG003
        """Return a rate with which the root mean squared error is at most `error`, and no larger than is needed
        where there is room to both sides.
        """
        return math.inf

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:  # noqa: ARG003
        """Return the smallest rate with which the noise keeps a distance with this probability."""
        return math.inf


class CountNoise(PlannedRelease):
    """Noise on the whole numbers, on each count; the published count is moved to the nearest end of 0 to n."""

    sanitizer: ClassVar[type[NoiseSanitizer]]
    room_needed: ClassVar[int] = 0
    """How many rows more than a person moves there must be, so that moving counts to 0 or n hides nothing."""
    symbol = "ε of a count"

    @classmethod
    def in_steps(cls, statistic: Statistic) -> bool:
        """Within whole numbers alone."""
        return statistic.asked is not NEARNESS["typical"]

    @cached_property
    def noise(self) -> NoiseSanitizer:
        """The release of a single count."""
        rate = min(max(self.rate, SMALLEST_RATE), LARGEST_RATE)
        return self.sanitizer.up_to(MOST_PLAN_ROWS)(n=self.n, epsilon=rate)

    def largest_loss(self, shifts: tuple[float, ...]) -> float:
        return math.fsum(shifts) * self.rate

    def parts(self, shifts: tuple[float, ...]) -> list[Alternatives]:
        found = [whole_number_losses(int(one), self.noise.log_mass, self.noise.log_tail) for one in shifts]
        if self.n < max(shifts, default=0) + self.room_needed:  # no neighbours need tell that much
            found = [LossBounds(one.above, lambda: NO_LOSS) for one in found]
        return [(one,) for one in found]

    def mean_square(self, below: float, above: float) -> float:
        tail = math.exp(float(self.noise.log_tail(np.array([1]))[0]))
        return tail * float(self.noise.clamped_squares(np.array([below, above], dtype=np.int64)).sum())

    def reach(self, share: float) -> float:
        return float(self.noise.reach(share))

    def bias(self, count: int) -> float:
        """Moving to an end takes Pr(Z ≥ 1) r^room / (1 − r) from each side, r = e^{−rate}."""
        tail, rate = math.exp(float(self.noise.log_tail(np.array([1]))[0])), self.noise.epsilon
        apart = math.exp(-rate * count) - math.exp(-rate * (self.n - count))
        return tail * apart / -math.expm1(-rate)

    def moments_below(self, count: int, threshold: int) -> ErrorMoments:
        if threshold > self.n:  # nothing is ever published
            return ErrorMoments(1.0, self.bias(count), self.mean_square(count, self.n - count))
        released = np.arange(threshold)
        log_masses = self.noise.log_mass(np.abs(released - count))
        if len(released):
            log_masses[0] = self.noise.log_tail(np.array([count]))[0]
        with np.errstate(under="ignore"):
            return ErrorMoments.listed(released - float(count), np.exp(log_masses))


class GeometricNoise(CountNoise):
    """Two-sided geometric noise: each further one is e^rate times less likely.

    >>> noise = GeometricNoise(math.log(3), 100)
    >>> round(noise.mean_square(50, 50), 9), noise.reach(0.83), round(noise.largest_loss((1, 1)) / math.log(3), 9)
    (1.5, 1.0, 2.0)
    """

    key = "geometric"
    label = "geometric noise"
    sanitizer = GeometricSanitizer

    @classmethod
    def free_rate(cls, error: float) -> float:
        """The variance is 1 / (cosh rate − 1)."""
        return 2 * math.asinh(math.sqrt(0.5) / error)

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:
        """The root of rate · d + ln(1 + e^{−rate}) = ln(2 / (1 − share)), for d the first distance beyond."""
        beyond, goal = math.floor(distance) + 1, math.log(2 / (1 - share))
        return float(
            brentq(lambda rate: rate * beyond + math.log1p(math.exp(-rate)) - goal, 0.0, goal / beyond, xtol=1e-300)
        )


class RoundedLaplaceNoise(CountNoise):
    """Laplace noise of scale 1/rate, rounded to the nearest whole number."""

    key = "laplace_count"
    sought = False
    label = "rounded Laplace noise"
    sanitizer = LaplaceSanitizer

    room_needed = 2

    @classmethod
    def free_rate(cls, error: float) -> float:
        """The variance V is cosh(rate/2) / (2 sinh²(rate/2)), so that cosh(rate/2) = (1 + √(1 + 16 V²)) / (4 V)."""
        twice = 2 * error**2
        cosh = (1 + math.hypot(1.0, 2 * twice)) / (2 * twice)
        return 2 * math.asinh(math.sqrt(cosh / twice))

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:
        return -math.log1p(-share) / (math.floor(distance) + 0.5)


class SumNoise(PlannedRelease):
    """Noise on a sum of numbers; the published mean is moved to the nearest bound."""

    @classmethod
    def unfit(cls, statistic: Statistic, one_row: bool) -> str:  # noqa: ARG003
        return "it releases sums of numbers; of counts geometric noise is nearer" if statistic.counts else ""


class LaplaceNoise(SumNoise):
    """Laplace noise of scale 1/rate on a sum.

    >>> round(LaplaceNoise(2.0, 100).mean_square(1e9, 1e9), 9), round(LaplaceNoise(2.0, 100).reach(1 - math.exp(-2)), 9)
    (0.5, 1.0)
    """

    key = "laplace"
    label = "Laplace noise"
    symbol = "1 / scale of the noise on the sum"

    def largest_loss(self, shifts: tuple[float, ...]) -> float:
        return math.fsum(shifts) * self.rate

    def laplace_sizes(self, shifts: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(self.rate * one for one in shifts)

    def mean_square(self, below: float, above: float) -> float:
        """E min(|Z|, room)², half of it to each side: (1 − e^{−u} (1 + u)) / rate² with u = rate · room."""
        sides = (self.rate * below, self.rate * above)
        return math.fsum(-math.expm1(math.log1p(u) - u) if u < math.inf else 1.0 for u in sides) / self.rate**2

    def reach(self, share: float) -> float:
        return -math.log1p(-share) / self.rate

    @classmethod
    def free_rate(cls, error: float) -> float:
        return math.sqrt(2) / error

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:
        return -math.log1p(-share) / distance


class GaussianNoise(PlannedRelease):
    """Gaussian noise of standard deviation 1/rate on each sum or count. The error is that without moving to an end."""

    key = "gaussian"
    label = "Gaussian noise"
    symbol = "1 / standard deviation of the noise"
    needs_delta = True

    @classmethod
    def unfit(cls, statistic: Statistic, one_row: bool) -> str:  # noqa: ARG003
        return ""

    def largest_loss(self, shifts: tuple[float, ...]) -> float:
        return math.inf if shifts else 0.0

    def variance_told(self, shifts: tuple[float, ...]) -> float:
        return math.fsum((one * self.rate) ** 2 for one in shifts)

    def mean_square(self, below: float, above: float) -> float:  # noqa: ARG002
        return self.rate**-2

    def reach(self, share: float) -> float:
        return float(ndtri((1 + share) / 2)) / self.rate

    def moments_below(self, count: int, threshold: int) -> ErrorMoments:
        """Those of a normal number below a bound: Φ, −σ φ and σ² (Φ − u φ), with u the bound in σ."""
        if threshold > self.n:
            return ErrorMoments(1.0, 0.0, self.rate**-2)
        u = (threshold - count) * self.rate
        below, height = float(ndtr(u)), math.exp(-u * u / 2) / math.sqrt(2 * math.pi)
        return ErrorMoments(below, -height / self.rate, (below - u * height) / self.rate**2)

    @classmethod
    def free_rate(cls, error: float) -> float:
        return 1 / error

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:
        return float(ndtri((1 + share) / 2)) / distance
