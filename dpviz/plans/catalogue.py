"""Every way in which a statistic of a plan can be released: noise, and the Beta-binomial draw of a share."""

from __future__ import annotations

import itertools
import math
from functools import cached_property

import numpy as np

from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.core.numerics.special import inverse_expm1
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.plans.losses import LossBounds, listed_losses
from dpviz.plans.measures import NEARNESS, ErrorMoments
from dpviz.plans.release import (
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    PlannedRelease,
    RoundedLaplaceNoise,
)
from dpviz.plans.statistic import Statistic
from dpviz.plans.summed import MOST_LISTED, UNSEEN_TAIL, Alternatives
from dpviz.privacy.pld import PrivacyLossDistribution

# Width of a block of pairs of a Beta-binomial: part of all its rows, and of those from its first pair to an end
CLOSE_PAIRS, FARTHER_PAIRS = 0.02, 0.2


class BetaBinomialDraw(PlannedRelease):
    """A synthetic table of n rows: a share drawn from its posterior under α invented rows of each kind, and n rows.

    α = n / (e^rate − 1), so that `rate` is its pure ε. Its worst neighbours are sought among blocks of pairs: what all
    of a block share tells no less than any of them, and its first pair no more than the worst.
    """

    key = "beta_binomial"
    label = "Beta-binomial draw"
    symbol = "pure ε of the draw"
    sought = False

    @classmethod
    def unfit(cls, statistic: Statistic, one_row: bool) -> str:
        if not statistic.yes_no:
            return "it releases a single share of yes"
        if not one_row:
            return "it is judged where one row is substituted and stays in its group"
        return "" if statistic.asked is NEARNESS["typical"] else "its noise has no interval of its own"

    @cached_property
    def draw(self) -> BetaBinomial:
        """The synthesizer."""
        alpha = min(max(self.n * inverse_expm1(self.rate), PRIOR_ONES.minimum), PRIOR_ONES.maximum)
        return BetaBinomial.up_to(MAX_PRIOR_ROWS)(n=self.n, m=self.n, alpha=alpha, beta=alpha)

    def largest_loss(self, shifts: tuple[float, ...]) -> float:
        return self.draw.worst_log_odds().value if shifts else 0.0

    def parts(self, shifts: tuple[float, ...]) -> list[Alternatives]:
        return [tuple(itertools.starmap(self._block, self._blocks()))] if shifts else []

    def _blocks(self) -> list[tuple[int, int]]:
        """First and last pairs of about twenty blocks, those near an end narrower, where the worst pair often is."""
        found, first, last = [], 0, self.n - 1
        while first <= last:
            width = CLOSE_PAIRS * (self.n + 2 * self.draw.alpha) + FARTHER_PAIRS * min(first, last - first)
            end = min(first + max(1, math.floor(width)) - 1, last)
            found.append((first, end))
            first = end + 1
        return found

    def _block(self, first: int, last: int) -> LossBounds:
        """What a block shares, above, and its first pair, below."""

        def losses_of(shared: BetaBinomial) -> PrivacyLossDistribution:
            listed = shared.first_pair_losses(UNSEEN_TAIL)
            return listed_losses(listed.losses, listed.masses)

        above = losses_of(self.draw.of_pairs(first, last))
        if first == last and not above.infinity_mass and self.n + 1 <= MOST_LISTED:
            return LossBounds(above)
        return LossBounds(above, lambda: losses_of(self.draw.of_pairs(first, first)))

    def mean_square(self, below: float, above: float) -> float:  # noqa: ARG002
        """Squared bias and variance of n m₁ / n. Both follow the squared distance of x from n/2, as `rooms` expects."""
        alpha, n = self.draw.alpha, self.n
        share, total = (alpha + below) / (n + 2 * alpha), n + 2 * alpha
        bias = self.bias(int(below))
        return bias**2 + n * share * (1 - share) * (total + n) / (total + 1)

    def bias(self, count: int) -> float:
        return self.draw.alpha * (self.n - 2 * count) / (self.n + 2 * self.draw.alpha)

    def moments_below(self, count: int, threshold: int) -> ErrorMoments:
        released = np.arange(min(threshold, self.n + 1))
        return ErrorMoments.listed(released - float(count), self.draw.row(count)[: len(released)])

    def reach(self, share: float) -> float:
        raise NotImplementedError(f"{self.label}: {self.unfit.__doc__}")


PLAN_RELEASES: dict[str, type[PlannedRelease]] = {
    one.key: one for one in (GeometricNoise, RoundedLaplaceNoise, LaplaceNoise, GaussianNoise, BetaBinomialDraw)
}
"""Every way to release a statistic, by key: a new one is a class and a name here."""
