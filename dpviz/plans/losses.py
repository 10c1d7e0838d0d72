"""The privacy loss of a pair of data sets between two lists of losses, from which δ(ε) and ε(δ) follow.

Both lists have few losses, so that δ(ε) = E (1 − e^{ε − L})₊ is a short sum. Of a release with few losses they are the
same, and exact. Elsewhere outcomes are gathered in cells between two losses l < l + h. In the list above, each cell is
split between its ends so that it keeps its mass under both data sets (Doroshenko et al. 2022, "Connect the dots"); in
the one below, it is a single outcome, whose loss is ln of the ratio of both masses: nobody can tell more from that.
Either is off by about h² λ² / 8, with λ the slope of ln δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.pld import PrivacyLossDistribution

LIST_CELLS = 4_000  # Cells of a loss without steps
NO_LOSS = PrivacyLossDistribution(np.zeros(1), np.zeros(1))
"""The loss of a release that tells nothing."""
PRODUCT_ROUNDING = 1e-13  # Of a mass that is a product of some hundred masses, relative


@dataclass(frozen=True)
class DeltaBracket:
    """Two numbers that a quantity is known to lie between."""

    lower: float
    upper: float


def listed_losses(losses: FloatArray, masses: FloatArray) -> PrivacyLossDistribution:
    """Return the distribution of a list of losses with their masses under the likelier data set."""
    with np.errstate(divide="ignore"):
        return PrivacyLossDistribution.from_outcomes(losses, np.log(masses))


@dataclass(frozen=True)
class LossBounds:
    """Two lists of losses: δ of the pair is never above that of `above`, and never below that of `below`.

    The one below is found when it is first asked for; without a way to find it, both are the same.
    """

    above: PrivacyLossDistribution
    find_below: Callable[[], PrivacyLossDistribution] | None = None

    @classmethod
    def exactly(cls, losses: FloatArray, masses: FloatArray) -> LossBounds:
        """A pair that has these losses, with their masses under the likelier data set."""
        return cls(listed_losses(losses, masses).merged())

    @cached_property
    def below(self) -> PrivacyLossDistribution:
        """The list whose δ is never above that of the pair."""
        return self.find_below() if self.find_below else self.above

    @property
    def exact(self) -> bool:
        """Whether both lists are the same."""
        return self.find_below is None

    def largest_delta(self, epsilon: float) -> float:
        """Return the upper end of δ(ε)."""
        return min(self.above.delta_for_epsilon(epsilon) * (1 + PRODUCT_ROUNDING), 1.0)

    def delta(self, epsilon: float) -> DeltaBracket:
        """Return bounds of δ(ε); nothing but rounding is between them where the lists are the same."""
        return DeltaBracket(
            min(self.below.delta_for_epsilon(epsilon) * (1 - PRODUCT_ROUNDING), 1.0), self.largest_delta(epsilon)
        )

    def largest_epsilon(self, delta: float) -> float:
        """Return the upper end of the smallest ε ≥ 0 with δ(ε) ≤ `delta`."""
        return self.above.epsilon_for_delta(delta)

    def epsilon(self, delta: float) -> DeltaBracket:
        """Return bounds of the smallest ε ≥ 0 with δ(ε) ≤ `delta`."""
        low, high = self.below.epsilon_for_delta(delta), self.largest_epsilon(delta)
        return DeltaBracket(min(low, high), high)

    @property
    def size(self) -> int:
        """The number of losses in the list above."""
        return len(self.above.losses)


def whole_number_losses(
    shift: int, log_mass: Callable[[IntArray], FloatArray], log_tail: Callable[[IntArray], FloatArray]
) -> LossBounds:
    """Return the losses of a count that one person moves by `shift`, with noise whose ratios are constant beyond 0.

    `log_mass` and `log_tail` are ln Pr(Z = d) and ln Pr(Z ≥ d). Released counts from 0 to `shift` tell different
    things, all beyond an end the same. Clamping at 0 and n, which are no nearer, merges these alone.
    """
    z = np.arange(shift + 1)
    inside, ends = log_mass(shift - z), log_mass(np.array([1, shift + 1]))
    tails = log_tail(np.array([1, shift + 1]))
    most = float(ends[0] - ends[1])
    losses = np.concatenate([[-most], inside - log_mass(z), [most]])
    masses = np.exp(np.concatenate([tails[1:], inside, tails[:1]]))
    return LossBounds.exactly(losses, masses)


def laplace_losses(largest: float) -> LossBounds:
    """Return the losses of Laplace noise on a sum that one person moves by `largest` times its scale.

    L is `largest` with probability ½ and −`largest` with ½ e^{−largest}; between them its density is
    ¼ e^{−(largest − L)/2}, so that the ratio of both masses of a cell is that in its middle.
    """
    edges = np.linspace(-largest, largest, LIST_CELLS + 1)
    width = 2 * largest / LIST_CELLS
    masses = np.exp((edges[1:] - largest) / 2) * -math.expm1(-width / 2) / 2
    ends = np.array([0.5 * math.exp(-largest), 0.5])
    upper = masses / (1 + math.exp(-width / 2))
    above = np.append(0.0, upper) + np.append(masses - upper, 0.0)
    above[[0, -1]] += ends

    def below() -> PrivacyLossDistribution:
        return listed_losses(
            np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]]),
            np.concatenate([ends[:1], masses, ends[1:]]),
        )

    return LossBounds(listed_losses(edges, above), below)
