"""What all statistics of a plan give away together: the sum of their privacy losses.

Losses on few values are listed, and their sum is exact. Others are split between the points of an even grid, which
keeps their masses under both data sets, so that no δ is too small; the masses of the sum are a convolution without
differences, so that no tail loses its digits. Gaussian noise and the largest Laplace noise stay in closed form.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import toms748
from scipy.special import log_ndtr

from dpviz.core.declarations import ANY_EPSILON, DELTA
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.types import FloatArray
from dpviz.plans.mechanisms import CountNoise, GaussianNoise, PlanMechanism
from dpviz.plans.plan import ReleasePlan, Sensitivities
from dpviz.privacy.gaussian import LARGEST_GAUSSIAN_EPSILON, gaussian_delta, gaussian_epsilon
from dpviz.privacy.pld import PrivacyLossDistribution

LAPLACE_CELLS = 4_000  # into which a Laplace loss is cut
SUM_CELLS = 8_000  # of a sum from its smallest loss to its largest
MAX_LISTED = 20_000  # pairs of losses whose sums are listed
ROUNDING = 1e-11  # relative, of a δ: more than that of ten thousand products, or of normal tails
NO_LOSS = PrivacyLossDistribution(np.zeros(1), np.zeros(1))


def laplace_loss(ratio: float) -> PrivacyLossDistribution:
    """Loss of Laplace noise on a sum with this ratio of sensitivity and scale, cut into cells.

    L is `ratio` with probability ½ and −`ratio` with ½ e^{−ratio}; its density in between is ¼ e^{−(ratio − L)/2}.
    """
    edges = np.linspace(-ratio, ratio, LAPLACE_CELLS + 1)
    width = 2 * ratio / LAPLACE_CELLS
    masses = np.exp((edges[1:] - ratio) / 2) * -math.expm1(-width / 2) / 2
    to_upper = masses / (1 + math.exp(-width / 2))  # so that a cell keeps its mass under both data sets
    split = np.append(0.0, to_upper) + np.append(masses - to_upper, 0.0)
    split[[0, -1]] += 0.5 * math.exp(-ratio), 0.5
    with np.errstate(divide="ignore"):
        return PrivacyLossDistribution.from_outcomes(edges, np.log(split))


def compose_losses(losses: Sequence[PrivacyLossDistribution]) -> tuple[PrivacyLossDistribution, bool]:
    """Distribution of the sum of independent losses, no δ too small, and whether it is listed without a grid.

    Examples
    --------
    Two coins that tell the truth with probability 3/4: at ε = ln 3 they exceed it by 9/16 (1 − 3/9).

    >>> coin = PrivacyLossDistribution(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    >>> total, is_listed = compose_losses([coin, coin])
    >>> round(total.delta_for_epsilon(math.log(3)), 12), is_listed
    (0.375, True)
    """
    # Add short lists while the sum is short, and all else on a grid
    sums = [NO_LOSS]
    for loss in sorted(losses, key=lambda loss: len(loss.losses)):
        if len(sums[-1].losses) * len(loss.losses) <= MAX_LISTED:
            sums[-1] = loss if sums[-1] is NO_LOSS else sums[-1].compose(loss)
        else:
            sums.append(loss)
    return (sums[0], True) if len(sums) == 1 else (_compose_on_grid(sums), False)


def _compose_on_grid(losses: Sequence[PrivacyLossDistribution]) -> PrivacyLossDistribution:
    """Distribution of a sum on an even grid."""
    ranges = [(float(loss.losses.min()), float(loss.losses.max())) for loss in losses]
    width = math.fsum(high - low for low, high in ranges) / SUM_CELLS
    first = 0.0
    sums: FloatArray = np.ones(1)
    for loss, (low, high) in zip(losses, ranges, strict=True):
        cells = math.ceil((high - low) / width)
        with np.errstate(under="ignore"):
            sums = np.convolve(sums, loss.on_grid(high - cells * width, width, cells))
        first += high - cells * width
    infinity_mass = min(math.fsum(loss.infinity_mass for loss in losses), 1.0)
    with np.errstate(divide="ignore"):
        return PrivacyLossDistribution.from_outcomes(first + width * np.arange(len(sums)), np.log(sums), infinity_mass)


@dataclass(frozen=True)
class ComposedLoss:
    """Privacy loss of independent releases: a list of losses, and noise in closed form.

    δ(ε) = Σ Pr(l) δ₁(ε − l) over the listed losses l, with δ₁ that of Gaussian or Laplace noise.
    """

    listed: PrivacyLossDistribution
    is_exact: bool
    gaussian_ratio: float = 0.0  # root of the sum of squared sensitivities over standard deviations
    laplace_ratio: float = 0.0  # sensitivity over scale

    def delta(self, epsilon: float) -> float:
        """Upper bound on δ(ε), but for rounding the exact value where it is exact."""
        if self.gaussian_ratio and self.listed is NO_LOSS:
            return gaussian_delta(self.gaussian_ratio, min(epsilon, LARGEST_GAUSSIAN_EPSILON))
        deltas = self._closed_deltas(epsilon - self.listed.losses)
        return min((float(self.listed.masses @ deltas) + self.listed.infinity_mass) * (1 + ROUNDING), 1.0)

    def _closed_deltas(self, epsilons: FloatArray) -> FloatArray:
        """δ₁ at each real ε; below 0 it is that of exchanged data sets, 1 − e^{−|ε|} (1 − δ₁(|ε|))."""
        size = np.abs(epsilons)
        if self.gaussian_ratio:  # Φ(−a) − e^ε Φ(−b) with a, b = ε/r ∓ r/2: Balle & Wang (2018), theorem 8
            near, far = (log_ndtr(side * self.gaussian_ratio / 2 - size / self.gaussian_ratio) for side in (1, -1))
            with np.errstate(invalid="ignore", under="ignore"):
                deltas = np.nan_to_num(np.exp(near) * -np.expm1(np.minimum(size + far - near, 0.0)))
        else:
            deltas = -np.expm1((np.minimum(size, self.laplace_ratio) - self.laplace_ratio) / 2)
        with np.errstate(under="ignore"):
            return np.where(epsilons < 0, -np.expm1(-size) + np.exp(-size) * deltas, deltas)

    def epsilon(self, delta: float) -> float:
        """Upper bound on the smallest ε ≥ 0 with δ(ε) ≤ δ, for δ above 0."""
        if self.gaussian_ratio and self.listed is NO_LOSS:
            return gaussian_epsilon(self.gaussian_ratio, delta)
        if not (self.gaussian_ratio or self.laplace_ratio):
            return self.listed.epsilon_for_delta(delta)
        if self.delta(0.0) <= delta:
            return 0.0
        rest = delta - self.listed.infinity_mass
        if rest <= 0:
            return math.inf
        largest = float(self.listed.losses.max())
        largest += gaussian_epsilon(self.gaussian_ratio, rest) if self.gaussian_ratio else self.laplace_ratio
        if self.delta(largest) > delta:
            return largest

        def excess(epsilon: float) -> float:
            return math.log(max(self.delta(epsilon), 5e-324)) - math.log(delta)

        root = float(toms748(excess, 0.0, largest, xtol=1e-15, rtol=1e-12))
        return round_to_private_side(root, math.inf, lambda epsilon: self.delta(epsilon) <= delta)


@dataclass(frozen=True)
class PlanDesign:
    """A plan with the mechanism of each of its statistics, and what they give away together.

    The worst neighbouring data sets count. δ and ε are upper bounds, and exact but for rounding where `is_exact`.

    Examples
    --------
    >>> from dpviz.plans.mechanisms import GeometricNoise
    >>> from dpviz.plans.statistics import CategoryShares, YesNoShare
    >>> plan = ReleasePlan(n=100, statistics=(YesNoShare(name="works"), CategoryShares(name="region")))
    >>> design = PlanDesign(plan, (GeometricNoise(0.4, 100), GeometricNoise(0.3, 100)))
    >>> round(design.pure_epsilon, 12), design.is_exact, round(design.delta(0.7), 6)
    (1.0, True, 0.051203)
    """

    plan: ReleasePlan
    mechanisms: tuple[PlanMechanism, ...]

    def __getstate__(self) -> dict[str, object]:
        # Without what was computed of them
        return {"plan": self.plan, "mechanisms": self.mechanisms}

    @property
    def is_possible(self) -> bool:
        """Whether some rate is enough for every statistic."""
        return all(math.isfinite(mechanism.rate) for mechanism in self.mechanisms)

    @cached_property
    def pure_epsilon(self) -> float:
        """Smallest ε without δ: the largest sum of the largest losses; infinite with Gaussian noise."""
        return max(
            math.fsum(mechanism.largest_loss(shifts) for mechanism, shifts in zip(self.mechanisms, way, strict=True))
            for way in self.plan.sensitivities
        )

    @property
    def is_exact(self) -> bool:
        """Whether δ and ε(δ) are known but for rounding: never where counts have no room for the rows of a person."""
        person_rows = self.plan.person_rows
        has_room = all(mechanism.n >= person_rows + mechanism.spare_rows for mechanism in self.mechanisms)
        return has_room and all(loss.is_exact for loss in self.losses)

    @cached_property
    def losses(self) -> tuple[ComposedLoss, ...]:
        """Loss of all statistics together, for each type of neighbours."""
        # Statistics that are released alike can change places
        distinct: dict[frozenset[object], Sensitivities] = {}
        for way in self.plan.sensitivities:
            alike = Counter(zip(self.mechanisms, way, strict=True))
            distinct.setdefault(frozenset(alike.items()), way)
        return tuple(map(self._loss_of, distinct.values()))

    def _loss_of(self, way: Sensitivities) -> ComposedLoss:
        # The noise of each sum by its kind
        listed: list[PrivacyLossDistribution] = []
        gaussian_ratios, laplace_ratios = [], []
        for mechanism, shifts in zip(self.mechanisms, way, strict=True):
            for shift in shifts:
                if isinstance(mechanism, CountNoise):
                    listed.append(mechanism.count_loss(int(shift)))
                elif isinstance(mechanism, GaussianNoise):
                    gaussian_ratios.append(mechanism.rate * shift)
                else:
                    laplace_ratios.append(mechanism.rate * shift)

        # Gaussian noise, or else the largest Laplace noise, stays in closed form
        gaussian_ratio = math.hypot(*gaussian_ratios)
        laplace_ratios.sort()
        laplace_ratio = laplace_ratios.pop() if laplace_ratios and not gaussian_ratio else 0.0
        total, is_listed = compose_losses([*listed, *map(laplace_loss, laplace_ratios)])
        return ComposedLoss(total, is_listed and not laplace_ratios, gaussian_ratio, laplace_ratio)

    def delta(self, epsilon: float) -> float:
        """Smallest δ for which the whole plan is (ε, δ)-differentially private."""
        epsilon = ANY_EPSILON.validate(epsilon)
        return 0.0 if epsilon >= self.pure_epsilon else max(loss.delta(epsilon) for loss in self.losses)

    def epsilon(self, delta: float) -> float:
        """Smallest ε for which it is (ε, δ)-differentially private."""
        delta = DELTA.validate(delta)
        if delta == 0:
            return self.pure_epsilon
        epsilon = min(self.pure_epsilon, max(loss.epsilon(delta) for loss in self.losses))
        is_kept = delta >= self.plan.promise[1] and self.keeps_promise
        return min(epsilon, self.plan.promise[0]) if is_kept else epsilon

    def promise_used(self, parts: int = 1) -> float:
        """Share of the promised ε used at one of so many parts of δ; of δ where ε is 0, and δ(0) where unlimited."""
        epsilon, delta = self.plan.promise
        if epsilon == 0:
            return self.delta(0.0) / delta
        return self.delta(0.0) if math.isinf(epsilon) else self.epsilon(delta / parts) / epsilon

    @property
    def right_guesses(self) -> float:
        """Largest probability of guessing right between two neighbouring data sets, knowing nothing before."""
        return (1 + self.delta(0.0)) / 2

    def basic_epsilon(self, delta: float) -> float:
        """ε of basic composition: the sum of the ε of each statistic at the same part of δ."""
        part = delta / len(self.mechanisms)
        if not part:
            return self.pure_epsilon

        @functools.cache
        def epsilon_alone(place: int, shifts: tuple[float, ...]) -> float:
            way: list[tuple[float, ...]] = [()] * len(self.mechanisms)
            way[place] = shifts
            return self._loss_of(tuple(way)).epsilon(part)

        return max(
            math.fsum(epsilon_alone(place, shifts) for place, shifts in enumerate(way))
            for way in self.plan.sensitivities
        )

    @cached_property
    def keeps_promise(self) -> bool:
        """Whether the promise of the plan is kept for sure."""
        epsilon, delta = self.plan.promise
        if self.pure_epsilon <= epsilon or math.isinf(epsilon):
            return True
        return delta > 0 and self.delta(epsilon) <= delta

    def errors(self) -> tuple[float, ...]:
        """Error of each statistic in the measure of its limit, in its own units."""
        pairs = zip(self.mechanisms, self.plan.statistics, strict=True)
        return tuple(mechanism.error(statistic) for mechanism, statistic in pairs)

    def used_limits(self) -> tuple[float, ...]:
        """Part of each limit that the error uses: at most 1 where it is kept."""
        pairs = zip(self.errors(), self.plan.statistics, strict=True)
        return tuple(error / statistic.limit for error, statistic in pairs)
