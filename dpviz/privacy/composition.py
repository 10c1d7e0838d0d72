"""The exact privacy of M independent releases of the same data: the sum of M privacy losses, between two bounds."""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.optimize import brentq

from dpviz.core.checked import checked
from dpviz.core.declarations import COMPOSED_SETS
from dpviz.core.numerics.ends import gain, log_inverse
from dpviz.core.numerics.multisets import multisets
from dpviz.core.parameters import ANY_EPSILON, argument, shown
from dpviz.core.types import FloatArray
from dpviz.privacy.loss_grid import LOSS_ROUNDING, DeltaBracket, LossGrid, inner_product, mass_rounding

__all__ = ["DeltaBracket", "DiscreteLosses", "Losses", "composed_delta"]


SINGLE_VALUE_VARIANCE = 1e-60  # Variance of a loss below which it has a single value
# How nearly a tilt is found, relative, and the tilted mean with it; steps of Newton's rule before it is left.
TILT_ROUNDING, MEAN_ROUNDING, MOST_TILTS = 1e-3, 1e-2, 12
ENUMERATED = 60_000  # Largest number of multisets of outcomes that are added up one by one; beyond, losses go on a grid
# How many grid spacings may be the deviation of the splits on an even grid: the upper bound is still much nearer than
# the lower one is on the grid itself.
EVEN = 1.5
Summed = TypeVar("Summed", float, FloatArray)


class Losses(ABC):
    """The privacy loss L = ln(P / Q) of one release under P, ready to be put on a grid."""

    largest: float
    beyond = 0.0  # probability of what is left out

    @abstractmethod
    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        """K(λ) = ln E e^{λL} over the finite losses, and its first two derivatives."""

    @abstractmethod
    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:
        """Return the loss on a grid; what is cut off above has probability at most e^`log_negligible`."""

    def even_grid(self, spacing: float, tilt: float) -> LossGrid | None:  # noqa: ARG002
        """A coarser grid on which nearly all outcomes lie, so that it is as good from above as one of this spacing."""
        return None

    def enumerated_delta(self, sets: int, epsilon: float) -> DeltaBracket | None:  # noqa: ARG002
        """δ without a grid, where there are few outcomes."""
        return None

    def tail_bound(self, sets: int, epsilon: float, tilt: float) -> float:  # noqa: ARG002
        """An upper bound on δ of M sets without their sum, for any tilt λ ≥ 0; 1 where none is known."""
        return 1.0

    def saddle_point(self, mean: float, near: float = 0.0) -> float:
        """Return the tilt λ ≥ 0 at which the tilted mean loss is `mean`, roughly; 0 where it is larger already.

        Newton's rule from a guess `near` it, and where that does not settle, between two ends.
        """
        tilt = self.usable_tilt(near)
        for _ in range(MOST_TILTS):
            _, at, variance = self.cumulants(tilt)
            if variance <= SINGLE_VALUE_VARIANCE:
                break
            goal = max(self.usable_tilt(tilt + (mean - at) / variance), 0.0)
            near_mean = abs(mean - at) <= MEAN_ROUNDING * (mean + math.sqrt(variance))
            if near_mean and abs(goal - tilt) <= TILT_ROUNDING * goal:
                return goal
            tilt = min(goal, 4 * tilt + 1)
        if self.cumulants(0.0)[1] >= mean:
            return 0.0
        low, high = 0.0, self.usable_tilt(1.0)
        while self.cumulants(high)[1] < mean and high < min(self.usable_tilt(math.inf), 1e12):
            low, high = high, self.usable_tilt(4 * high)
        if self.cumulants(high)[1] <= mean:
            return high
        return float(brentq(lambda tilt: self.cumulants(tilt)[1] - mean, low, high, rtol=TILT_ROUNDING))

    def usable_tilt(self, tilt: float) -> float:
        """`tilt`, or the largest usable one."""
        return tilt


class DiscreteLosses(Losses):
    """A loss with finitely many values: L of each outcome, +∞ at most, and ln of its probability under P.

    Outcomes with the probability `beyond` are left out, and count as infinite in bounds from above alone.
    """

    @checked("losses", "log_masses", beyond=argument("beyond", 0, 1))
    def __init__(self, losses: FloatArray, log_masses: FloatArray, beyond: float = 0.0) -> None:
        for name, values in (("losses", losses), ("log_masses", log_masses)):
            if values.shape != losses.shape or values.ndim != 1 or not np.isfinite(losses).any():
                raise ValueError(f"{name} must be a list of numbers, one for each outcome; got {shown(values)}.")
        if losses.min() == -math.inf or log_masses.max() == math.inf:
            raise ValueError("losses must be above −∞ and log_masses below ∞; got one that is not.")
        finite = np.isfinite(losses)
        self.losses, self.log_masses = losses[finite], log_masses[finite]
        self.infinite = float(np.exp(log_masses[~finite]).sum())
        self.beyond = beyond
        self.largest = math.inf if self.infinite > 0 else float(losses.max())
        self._loss_error = LOSS_ROUNDING * float(np.abs(self.losses).max())

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        exponents = self.log_masses + tilt * self.losses
        top = float(exponents.max())
        with np.errstate(under="ignore"):
            tilted = np.exp(exponents - top)
        total = float(tilted.sum())
        mean = inner_product(tilted, self.losses) / total
        return top + math.log(total), mean, inner_product(tilted, (self.losses - mean) ** 2) / total

    def tail_bound(self, sets: int, epsilon: float, tilt: float) -> float:
        """Chernoff's, rounding included."""
        exponent = tail_exponent(self.cumulants(tilt)[0], sets, epsilon, tilt)
        error = sets * (mass_rounding(self.log_masses) + tilt * self._loss_error) + LOSS_ROUNDING * tilt * epsilon
        infinite = -math.expm1(sets * math.log1p(-min(self.infinite + self.beyond, 1.0)))
        return min(math.exp(min(exponent + error, 0.0)) + infinite, 1.0)

    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:  # noqa: ARG002
        return self._on_grid(spacing, tilt)

    def _on_grid(self, *place: float) -> LossGrid:
        grid = LossGrid.from_outcomes(self.losses, self.log_masses, *place)
        return replace(grid, infinite=self.infinite, beyond=self.beyond)

    def even_grid(self, spacing: float, tilt: float) -> LossGrid | None:
        """What a split adds to the upper bound goes with its variance, about s (h − s): small for s near 0 or h."""
        exponents = self.log_masses + tilt * self.losses
        peak = int(exponents.argmax())
        if not 0 < peak < len(self.losses) - 1:
            return None
        even, anchor = float(self.losses[peak + 1] - self.losses[peak - 1]) / 2, float(self.losses[peak])
        if even <= spacing:
            return None
        with np.errstate(under="ignore"):
            tilted = np.exp(exponents - exponents[peak])
        place = (self.losses - anchor) / even
        away = np.abs(place - np.rint(place))
        if (
            inner_product(tilted, away * (1 - away)) * even**2
            > inner_product(tilted, np.ones_like(tilted)) * (EVEN * spacing) ** 2
        ):
            return None
        return self._on_grid(even, tilt, anchor)

    def enumerated_delta(self, sets: int, epsilon: float) -> DeltaBracket | None:
        if math.comb(len(self.losses) + sets - 1, sets) > ENUMERATED:
            return None
        members, log_orders = multisets(len(self.losses), sets)
        above = self.losses[members].sum(axis=1) - epsilon
        with np.errstate(under="ignore"):
            masses = np.exp(self.log_masses[members].sum(axis=1) + log_orders)
        error = sets * self._loss_error + LOSS_ROUNDING * epsilon
        value = inner_product(masses, -np.expm1(-np.maximum(above, 0.0)))
        uncertain = error * float(masses[above > -error].sum())
        relative = 1 + sets * mass_rounding(self.log_masses) + LOSS_ROUNDING * math.lgamma(sets + 2)
        infinite, at_most = (
            -math.expm1(sets * math.log1p(-min(one, 1.0))) for one in (self.infinite, self.infinite + self.beyond)
        )
        return DeltaBracket(
            min(infinite + max(value - uncertain, 0.0) / relative, 1.0),
            min(at_most + (value + uncertain) * relative, 1.0),
        )


def tail_exponent(cumulant: Summed, sets: int, epsilon: float, tilt: float) -> Summed:
    """ln of Chernoff's E (1 − e^{ε − S})_+ ≤ e^{M K(λ) − λε} λ^λ / (1 + λ)^{1 + λ}, the largest (1 − e^{−s}) e^{−λs}.

    `cumulant` is K(λ) of one loss, or of several.

    >>> tail_exponent(0.0, 1, 2.0, 0.0)
    0.0
    """
    exponent = sets * cumulant - tilt * epsilon - math.log1p(tilt)
    return exponent - (tilt * math.log1p(1 / tilt) if tilt > 0 else 0.0)


@checked(sets=COMPOSED_SETS, epsilon=ANY_EPSILON, resolution=argument("resolution", 0, 1, open_minimum=True))
def composed_delta(
    losses: Losses,
    sets: int,
    epsilon: float,
    resolution: float = 1e-3,
    *,
    tilt: float | None = None,
    only_upper: bool = False,
    largest: float = math.inf,
) -> DeltaBracket:
    """Return bounds, rounding included, of δ_M(ε) = E (1 − e^{ε − S})_+ with S the sum of M independent losses under P.

    `resolution` is the grid spacing times √M (λ + 1) + 1/σ, with λ the tilt at the saddle point and σ the tilted
    deviation of a loss; the relative width is about its square. The bounds hold for every `tilt`: a guess saves the
    search for λ. With `only_upper`, `lower` may be anything below δ, which saves most of the grid of even losses.
    A sum that would need a grid of more than `largest` points is refused.
    Randomized response that tells the truth with probability 3/4, twice: at ε = ln 3 that is 9/16 (1 − 3/9).

    >>> answer = DiscreteLosses(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    >>> round(composed_delta(answer, 2, math.log(3)).upper, 9)
    0.375
    """
    if sets * losses.largest <= epsilon:
        return DeltaBracket(0.0, -math.expm1(sets * math.log1p(-losses.beyond)))
    exact = losses.enumerated_delta(sets, epsilon)
    if exact is not None:
        return exact
    tilt = losses.saddle_point(epsilon / sets) if tilt is None else losses.usable_tilt(tilt)
    log_scale, _, variance = losses.cumulants(tilt)
    spacing = resolution / (math.sqrt(sets) * (tilt + 1) + 1 / math.sqrt(max(variance, SINGLE_VALUE_VARIANCE)))
    log_negligible = sets * log_scale - tilt * epsilon - 36 - 2 * math.log1p(tilt)
    even = losses.even_grid(spacing, tilt) if only_upper else None
    grid = losses.grid(spacing, tilt, log_negligible) if even is None else even
    return grid.composed_delta(sets, epsilon, largest)


def advanced_composition(epsilon: float, k: int, slack: float) -> float:
    """ε √(2k ln(1/δ')) + kε(e^ε − 1), kept by k releases that are each ε-private, with δ' = `slack` beside it.

    Source: Dwork, Rothblum & Vadhan (2010), Theorem III.3.

    >>> round(advanced_composition(math.log(2), 2, math.exp(-1)) / math.log(2), 12)  # both terms are 2ε
    4.0
    """
    return epsilon * math.sqrt(2 * k * log_inverse(slack)) + k * epsilon * gain(epsilon)
