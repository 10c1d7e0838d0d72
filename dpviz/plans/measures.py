"""How near a published statistic is to what the confidential data say: the measures on which there can be a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

PLAN_LEVEL = 0.95
"""How often an interval holds the confidential value."""


class Noisy(Protocol):
    """What adds noise to sums."""

    def mean_square(self, below: float, above: float) -> float:
        """Return the mean squared error of a sum with so much room below and above it."""

    def reach(self, share: float) -> float:
        """Return the smallest distance that the noise keeps with at least this probability."""

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


NEARNESS: dict[str, Nearness] = {
    one.key: one
    for one in (
        Nearness(
            "typical",
            "typical error (root mean squared error)",
            "is typically off by {}",
            lambda noise, rooms, _cells: math.sqrt(max(noise.mean_square(*room) for room in rooms)),
            lambda kind, limit, _cells: kind.free_rate(limit),
        ),
        Nearness(
            "within",
            "± of a 95 % interval",
            "is within ± {} with a probability of 95 %",
            lambda noise, _rooms, _cells: noise.reach(PLAN_LEVEL),
            lambda kind, limit, _cells: kind.rate_reaching(limit, PLAN_LEVEL),
        ),
        Nearness(
            "all_within",
            "largest error of all cells (95 %)",
            "is within ± {} in all cells at once with a probability of 95 %",
            lambda noise, _rooms, cells: noise.reach(PLAN_LEVEL ** (1 / cells)),
            lambda kind, limit, cells: kind.rate_reaching(limit, PLAN_LEVEL ** (1 / cells)),
        ),
    )
}
"""Every measure, by key. An interval reaches as far around what is published as the noise does."""
