"""The privacy loss of a pair of data sets between two lists, and what independent losses add up to.

Both lists have few losses, so that δ(ε) = E (1 − e^{ε − L})₊ is a short sum. Of a release with few losses they are the
same, and exact. Elsewhere outcomes are gathered in cells between two losses l < l + h. In the list above, each cell is
split between its ends so that it keeps its mass under both data sets (Doroshenko et al. 2022, "Connect the dots"); in
the one below, it is a single outcome, whose loss is ln of the ratio of both masses: nobody can tell more from that.
Either is off by about h² λ² / 8, with λ the slope of ln δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from dpviz.core.numerics.loss_lists import epsilon_at
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.laplace_cells import LossDistribution
from dpviz.privacy.loss_grid import DeltaBracket

SAME_LOSS = 1e-12  # Distance, relative to the largest, of losses that rounding alone tells apart
LIST_CELLS = 2_000  # Cells of a loss without steps
MOST_LISTED = 4_000  # Losses of a sum that are kept apart
MOST_SORTED = 20_000  # Losses of a sum among which equal ones are sought
NO_LOSS = LossDistribution(np.zeros(1), np.ones(1))
"""The loss of a release that tells nothing."""
Cells = Callable[[FloatArray, FloatArray, float, float], LossDistribution]
Tell = Callable[[int], object]
PRODUCT_ROUNDING = 1e-13  # Of a mass that is a product of some hundred masses, relative


@dataclass(frozen=True)
class LossBounds:
    """Two lists of losses: δ of the pair is never below that of `below`, and never above that of `above`."""

    below: LossDistribution
    above: LossDistribution

    @classmethod
    def exactly(cls, losses: FloatArray, masses: FloatArray) -> LossBounds:
        """A pair that has these losses, with their masses under the likelier data set."""
        one = _gathered(losses, masses)
        return cls(one, one)

    @property
    def exact(self) -> bool:
        """Whether both lists are the same."""
        return self.below is self.above

    def delta(self, epsilon: float) -> DeltaBracket:
        """Return bounds of δ(ε); nothing but rounding is between them where the lists are the same."""
        low, high = self.below.delta(epsilon), self.above.delta(epsilon)
        return DeltaBracket(min(low * (1 - PRODUCT_ROUNDING), 1.0), min(high * (1 + PRODUCT_ROUNDING), 1.0))

    def epsilon(self, delta: float) -> DeltaBracket:
        """Return bounds of the smallest ε ≥ 0 with δ(ε) ≤ `delta`."""
        low, high = (epsilon_at(*one.listed(), delta) for one in (self.below, self.above))
        return DeltaBracket(min(low, high), high)

    @cached_property
    def size(self) -> int:
        """The number of losses in the longer list."""
        return max(len(self.below.losses), len(self.above.losses))


def summed_losses(parts: Iterable[LossBounds], tally: Tell = lambda _: None) -> LossBounds:
    """Return the loss of independent releases, whose losses add; `tally` is told how many sums each step takes.

    Two coins that tell the truth with 3/4: at ε = ln 3 they exceed it by 9/16 (1 − 3/9).

    >>> coin = LossBounds.exactly(np.log([3, 1 / 3]), np.array([0.75, 0.25]))
    >>> round(summed_losses([coin, coin]).delta(math.log(3)).upper, 12), summed_losses([coin, coin]).size
    (0.375, 3)
    """

    def add(one: LossBounds, other: LossBounds) -> LossBounds:
        above, whole = _added(one.above, other.above, _split, tally)
        if one.exact and other.exact and whole:
            return LossBounds(above, above)
        return LossBounds(_added(one.below, other.below, _merged, tally)[0], above)

    return reduce(add, sorted(parts, key=lambda one: one.size), LossBounds(NO_LOSS, NO_LOSS))


def _added(
    one: LossDistribution, other: LossDistribution, cells: Cells, tally: Callable[[int], object]
) -> tuple[LossDistribution, bool]:
    """The list of a sum, and whether nothing of it was gathered but equal losses."""
    tally(len(one.losses) * len(other.losses))
    losses, masses = np.add.outer(one.losses, other.losses).ravel(), np.outer(one.masses, other.masses).ravel()
    held = _gathered(losses, masses) if len(losses) <= MOST_SORTED else LossDistribution(losses, masses)
    return (held, True) if len(held.losses) <= MOST_LISTED else (_shortened(held, cells), False)


def _gathered(losses: FloatArray, masses: FloatArray) -> LossDistribution:
    """The same with equal losses as one, in rising order."""
    order = np.argsort(losses, kind="stable")
    losses, masses = losses[order], masses[order]
    near = SAME_LOSS * max(float(np.abs(losses).max()), 1e-300)
    starts = np.flatnonzero(np.append(True, np.diff(losses) > near))
    return LossDistribution(losses[starts], np.add.reduceat(masses, starts).astype(float))


def _shortened(held: LossDistribution, cells: Cells) -> LossDistribution:
    """The same list with its losses gathered in even cells."""
    first, last = float(held.losses.min()), float(held.losses.max())
    width = (last - first) / (MOST_LISTED - 2)
    return cells(held.losses - first, held.masses, first, width)


def _split(above: FloatArray, masses: FloatArray, first: float, width: float) -> LossDistribution:
    """Each loss split between the ends of its cell, so that its mass is kept under both data sets."""
    index = (above / width).astype(np.int64)
    rest = np.clip(above - index * width, 0.0, width)
    upper = masses * (np.expm1(-rest) / math.expm1(-width))
    parts = ((index, masses - upper), (index + 1, upper))
    found = sum(np.bincount(place, part, MOST_LISTED).astype(float) for place, part in parts)
    return LossDistribution(first + width * np.arange(MOST_LISTED), np.asarray(found))


def _merged(above: FloatArray, masses: FloatArray, first: float, width: float) -> LossDistribution:
    """All losses of a cell as one."""
    index = (above / width).astype(np.int64)
    ends = width * np.arange(MOST_LISTED)
    likelier, other = (np.bincount(index, each, MOST_LISTED) for each in (masses, masses * np.exp(ends[index] - above)))
    some = likelier > 0
    loss: FloatArray = first + ends[some] + np.log(likelier[some]) - np.log(other[some])
    return LossDistribution(loss, likelier[some].astype(float))


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
    below = LossDistribution(
        np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]]),
        np.concatenate([ends[:1], masses, ends[1:]]),
    )
    upper = masses / (1 + math.exp(-width / 2))
    above = np.append(0.0, upper) + np.append(masses - upper, 0.0)
    above[[0, -1]] += ends
    return LossBounds(below, LossDistribution(edges, above))


def listed_losses(pairs: Sequence[tuple[FloatArray, FloatArray]]) -> list[LossBounds]:
    """Return bounds from lists of losses and ln of their masses, exact where they are short."""
    with np.errstate(under="ignore"):
        held = [LossDistribution(losses, np.exp(log_masses)) for losses, log_masses in pairs]
    found = [[_added(one, NO_LOSS, cells, lambda _: None) for cells in (_merged, _split)] for one in held]
    return [LossBounds(above if whole else below, above) for (below, _), (above, whole) in found]
