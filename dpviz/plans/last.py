"""δ of few losses and of one more that has a closed form: Laplace or Gaussian noise on a sum, at any real ε.

With l the other losses, δ(ε) = Σ Pr(l) δ₁(ε − l), where δ₁ is that of the last loss alone. Below 0 it is that of the
exchanged data sets, δ₁(−ε) = 1 − e^{−ε} (1 − δ₁(ε)).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.types import FloatArray
from dpviz.plans.losses import DeltaBracket, LossBounds
from dpviz.privacy.gaussian import LARGEST_GAUSSIAN_EPSILON, gaussian_delta, gaussian_epsilon
from dpviz.privacy.pld import PrivacyLossDistribution

CLOSED_ROUNDING = 1e-11  # Of δ from logarithms of normal tails, relative
SOUGHT_EPSILON = 1e-12  # Relative accuracy of an ε that is found from δ
SMALLEST_DELTA = 5e-324  # Of which there is a logarithm


class LastLoss(ABC):
    """A loss with a closed form of δ."""

    @abstractmethod
    def deltas(self, epsilons: FloatArray) -> FloatArray:
        """Return δ at each ε, which may be negative."""

    @abstractmethod
    def largest(self, delta: float) -> float:
        """Return an ε at which δ is at most `delta`."""


@dataclass(frozen=True)
class LaplaceLast(LastLoss):
    """Laplace noise on a sum that a person moves by `size` times its scale: δ = 1 − e^{(ε − size)/2}."""

    size: float

    def deltas(self, epsilons: FloatArray) -> FloatArray:
        inside = -np.expm1((np.minimum(epsilons, self.size) - self.size) / 2)
        return np.where(epsilons < -self.size, -np.expm1(np.minimum(epsilons, 0.0)), inside)

    def largest(self, delta: float) -> float:  # noqa: ARG002
        return self.size


@dataclass(frozen=True)
class GaussianLast(LastLoss):
    """Gaussian noise on sums that a person moves by `ratio` standard deviations in all. Balle & Wang (2018), Theorem 8.

    Φ(−a) − e^ε Φ(−b) = Φ(−a) (1 − e^{ε + ln Φ(−b) − ln Φ(−a)}) with a, b = ε / ratio ∓ ratio / 2.
    """

    ratio: float

    def deltas(self, epsilons: FloatArray) -> FloatArray:
        e = np.abs(epsilons)
        near, far = (log_ndtr(side * self.ratio / 2 - e / self.ratio) for side in (1, -1))
        with np.errstate(invalid="ignore", under="ignore"):
            found = np.nan_to_num(np.exp(near) * -np.expm1(np.minimum(e + far - near, 0.0)))
            return np.where(epsilons < 0, -np.expm1(-e) + np.exp(-e) * found, found)

    def largest(self, delta: float) -> float:
        return gaussian_epsilon(self.ratio, delta)


@dataclass(frozen=True)
class MixedLoss:
    """The loss of few losses and a last one, which are independent."""

    few: LossBounds
    last: LastLoss

    @property
    def size(self) -> int:
        """The number of losses beside the last one."""
        return self.few.size

    @property
    def exact(self) -> bool:
        """Whether nothing but rounding is between both bounds."""
        return self.few.exact

    def largest_delta(self, epsilon: float) -> float:
        """Return the upper end of δ(ε)."""
        return min(self._delta(self.few.above, epsilon) * (1 + CLOSED_ROUNDING), 1.0)

    def delta(self, epsilon: float) -> DeltaBracket:
        """Return bounds of δ(ε)."""
        low = self._delta(self.few.below, epsilon) * (1 - CLOSED_ROUNDING)
        return DeltaBracket(min(low, 1.0), self.largest_delta(epsilon))

    def _delta(self, few: PrivacyLossDistribution, epsilon: float) -> float:
        return float(few.masses @ self.last.deltas(epsilon - few.losses)) + few.infinity_mass

    def largest_epsilon(self, delta: float) -> float:
        """Return the upper end of the smallest ε ≥ 0 with δ(ε) ≤ `delta`, which is above 0."""
        return self._epsilon(self.few.above, delta, 1 + CLOSED_ROUNDING)

    def epsilon(self, delta: float) -> DeltaBracket:
        """Return bounds of the smallest ε ≥ 0 with δ(ε) ≤ `delta`, which is above 0."""
        low, high = self._epsilon(self.few.below, delta, 1 - CLOSED_ROUNDING), self.largest_epsilon(delta)
        return DeltaBracket(min(low, high), high)

    def _epsilon(self, few: PrivacyLossDistribution, delta: float, factor: float) -> float:
        def kept(epsilon: float) -> bool:
            return self._delta(few, epsilon) * factor <= delta

        if kept(0.0):
            return 0.0
        if few.infinity_mass * factor > delta:
            return math.inf
        most = float(few.losses.max()) + self.last.largest(delta - few.infinity_mass)
        if math.isinf(most) or kept(most) is False:
            return most

        def excess(epsilon: float) -> float:
            return math.log(max(self._delta(few, epsilon) * factor, SMALLEST_DELTA)) - math.log(delta)

        found = float(brentq(excess, 0.0, most, xtol=1e-15, rtol=SOUGHT_EPSILON))
        return round_to_private_side(found, math.inf, kept)


@dataclass(frozen=True)
class NormalLoss:
    """The loss of Gaussian noise alone, to twelve digits however small δ is."""

    ratio: float
    exact = True
    size = 1

    def largest_delta(self, epsilon: float) -> float:
        """Return δ(ε)."""
        return gaussian_delta(self.ratio, min(epsilon, LARGEST_GAUSSIAN_EPSILON))

    def delta(self, epsilon: float) -> DeltaBracket:
        """Return δ(ε), twice."""
        return DeltaBracket(*[self.largest_delta(epsilon)] * 2)

    def largest_epsilon(self, delta: float) -> float:
        """Return the smallest ε with δ(ε) ≤ `delta`."""
        return gaussian_epsilon(self.ratio, delta)

    def epsilon(self, delta: float) -> DeltaBracket:
        """Return the smallest ε with δ(ε) ≤ `delta`, twice."""
        return DeltaBracket(*[self.largest_epsilon(delta)] * 2)


PlanLoss = LossBounds | MixedLoss | NormalLoss
