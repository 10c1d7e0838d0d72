"""How near a published statistic is to what the confidential data say: the measures on which there can be a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dpviz.core.types import FloatArray

PLAN_LEVEL = 0.95
"""How often an interval holds the confidential value."""
ROUNDED_TAIL = 1e-15  # Probability below which rounding alone decides


class ErrorMoments(NamedTuple):
    """Probability of a part of a distribution, and what that part adds to its mean and to its mean square."""

    probability: float
    mean: float
    square: float

    @classmethod
    def listed(cls, errors: FloatArray, masses: FloatArray) -> ErrorMoments:
        """Those of errors with their masses."""
        return cls(*(float(np.einsum("i,i->", masses, errors**power)) for power in range(3)))


class Noisy(Protocol):
    """What adds noise to sums."""

    @property
    def n(self) -> int:
        """The number of rows."""

    def mean_square(self, below: float, above: float) -> float:
        """Return the mean squared error of a sum with so much room below and above it."""

    def reach(self, share: float) -> float:
        """Return the smallest distance that the noise keeps with at least this probability."""

    def moments_below(self, count: int, threshold: int) -> ErrorMoments:
        """Return what released counts below a threshold have of the error's distribution."""

    @classmethod
    def free_rate(cls, error: float) -> float:
        """Return the smallest rate with which the root mean squared error is at most `error` where there is room."""

    @classmethod
    def rate_reaching(cls, distance: float, share: float) -> float:
        """Return the smallest rate with which the noise keeps a distance with this probability."""


@dataclass(frozen=True)
class Nearness:
    """A measure of the error of a statistic, in the units of a sum: from its noise, rooms, and number of cells."""

    key: str
    label: str
    told: str
    """The measure in words, with its value in braces."""
    of: Callable[[Noisy, list[tuple[float, float]], int], float]
    rate: Callable[[type[Noisy], float, int], float]
    """A rate that is enough for an error in the units of a sum, and the smallest where there is room to both sides."""
    withheld: Callable[[Noisy, int, int, int], float]
    """The error of a confidential count, below a threshold withheld and then read as half of it; of so many cells."""


def withheld_error(noise: Noisy, count: int, threshold: int, read: float) -> float:
    """Return the root mean squared error of a count where released ones below a threshold are read as `read`.

    With Z the error and x the count, the mean square is that of all Z, less that of those that are withheld, and
    (read − x)² for each of these.
    """
    below, plain = noise.moments_below(count, threshold), noise.mean_square(count, noise.n - count)
    return math.sqrt(max(plain - below.square + below.probability * (read - count) ** 2, 0.0))


def withheld_reach(noise: Noisy, count: int, threshold: int, share: float) -> float:
    """Return the smallest distance that a count keeps with at least this probability, those below a threshold withheld.

    What is withheld is read as half of the threshold. With w = Pr(withheld) and S(d) = Pr(noise > d) either what is
    published reaches so far alone, 1 − w − S(d) ≥ share, or with what is withheld, which is near enough, 1 − S(d) ≥
    share. Farther above the threshold than the noise reaches both sides count as if nothing were withheld.
    """

    def within(beyond: float) -> float:
        return math.inf if beyond <= ROUNDED_TAIL else noise.reach(max(1 - 2 * beyond, 0.0))

    whole = noise.reach(share)
    if count - threshold >= whole:
        return whole
    missing = noise.moments_below(count, threshold).probability
    other = 0.0 if missing >= share else within(1 - share)
    return min(within(1 - missing - share), max(other, abs(threshold / 2 - count)))


NEARNESS: dict[str, Nearness] = {
    one.key: one
    for one in (
        Nearness(
            "typical",
            "typical error (root mean squared error)",
            "is typically off by {}",
            lambda noise, rooms, _cells: math.sqrt(max(noise.mean_square(*room) for room in rooms)),
            lambda kind, limit, _cells: kind.free_rate(limit),
            lambda noise, count, threshold, _cells: withheld_error(noise, count, threshold, threshold / 2),
        ),
        Nearness(
            "within",
            "± of a 95 % interval",
            "is within ± {} with a probability of 95 %",
            lambda noise, _rooms, _cells: noise.reach(PLAN_LEVEL),
            lambda kind, limit, _cells: kind.rate_reaching(limit, PLAN_LEVEL),
            lambda noise, count, threshold, _cells: withheld_reach(noise, count, threshold, PLAN_LEVEL),
        ),
        Nearness(
            "all_within",
            "largest error of all cells (95 %)",
            "is within ± {} in all cells at once with a probability of 95 %",
            lambda noise, _rooms, cells: noise.reach(PLAN_LEVEL ** (1 / cells)),
            lambda kind, limit, cells: kind.rate_reaching(limit, PLAN_LEVEL ** (1 / cells)),
            lambda noise, count, threshold, cells: withheld_reach(noise, count, threshold, PLAN_LEVEL ** (1 / cells)),
        ),
    )
}
"""Every measure, by key. An interval reaches as far around what is published as the noise does."""
