"""Modips: add Laplace noise to a proportion, bring it back to 0 … 1, and draw from the posterior that it gives."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import gammainc

from dpviz.core.numerics.quadrature import INTEGRAND_DROP, gauss_legendre_panels
from dpviz.core.numerics.special import row_blocks
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.mechanisms.noise import MonotoneMechanism
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS

BOWEN_LIU_PRIOR = 1 / 3  # invented ones, and zeros, of the prior that Bowen & Liu take from Kerman (2011)


@dataclass(frozen=True, kw_only=True)
class NoisyPosterior(MonotoneMechanism):
    """Pr(m1 | n1) = E[BetaBinomial(m1; m, α + np*, β + n(1 − p*))], p* = n1/n + Laplace(1/(nε)) brought back to 0 … 1.

    One set of Liu's modips for a proportion. The prior is Liu's 1, or 1/3 as Bowen & Liu have it. Without noise it is
    their non-private synthesis (MS): the Beta-binomial with the same prior.

    Notes
    -----
    With u = np*, row x is a sum over the panels [k, k + 1] of u, where each entry is a polynomial in u, times e^{−ε}
    for each row between k and x: Gauss–Legendre quadrature of the n panels gives all rows at once, and nothing cancels.

    Laplace noise, clamped or cut off, and the Beta-binomial are totally positive of order 2, and so is their
    composition: the log-odds of a pair are monotone in the released count (Karlin 1968, chapter 3).

    Source: Liu (2016), Algorithm 1 and Table 1; Bowen & Liu (2016), study 1, modips.SBS.
    """

    compared_with: ClassVar[Mapping[str, float]] = dict.fromkeys(("alpha", "beta"), BOWEN_LIU_PRIOR)
    draws_after_noise: ClassVar[bool] = True
    has_fast_moments: ClassVar[bool] = True
    adds_noise: ClassVar[bool] = True
    draws_again: ClassVar[bool] = False  # whether p* is drawn again until it is inside, and not clamped
    undeclared: ClassVar[tuple[Parameter, ...]] = tuple(
        dataclasses.replace(prior, minimum=1e-3, maximum=1e3, default=1.0) for prior in (PRIOR_ONES, PRIOR_ZEROS)
    )

    alpha: float = 1.0
    beta: float = 1.0

    @property
    def mirrored(self) -> Self:
        """Same release with ones and zeros exchanged."""
        return dataclasses.replace(self, alpha=self.beta, beta=self.alpha)

    @property
    def room(self) -> tuple[FloatArray, FloatArray]:
        """How far x = 0 … n is from both ends, in scales of the noise."""
        x = np.arange(self.n + 1)
        return self.epsilon * x, self.epsilon * (self.n - x)

    @property
    def masses(self) -> FloatArray | float:
        """Probability that divides each row x = 0 … n: that of noise which is not drawn again."""
        low, high = self.room
        return -(np.expm1(-low) + np.expm1(-high)) / 2 if self.draws_again else 1.0

    def kept_noise(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of u − x for x = 0 … n, u being the noisy number of ones that is kept between 0 and n.

        The mean is [P(k, ε(n − x)) − P(k, εx)]/(2ε), the mean square [P(k + 1, εx) + P(k + 1, ε(n − x))]/ε², both over
        the mass, with incomplete gamma functions P, and k = 1, or 2 where p* is drawn again.
        """
        (low, high), shape = self.room, 2.0 if self.draws_again else 1.0
        shift = (gammainc(shape, high) - gammainc(shape, low)) / (2 * self.epsilon) / self.masses
        square = (gammainc(shape + 1, low) + gammainc(shape + 1, high)) / self.epsilon**2 / self.masses
        return shift, np.maximum(square - shift**2, 0.0)

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of m1/m given n1 = 0 … n.

        Given u, m1 is Beta-binomial with α + u and β + n − u. With W = n + α + β the mean of μ = (α + u)/W follows from
        that of u, and the variance is that of μ and E[μ(1 − μ)] (1 + W/m)/(W + 1).
        """
        shift, noise = self.kept_noise()
        total = self.n + self.alpha + self.beta
        mean, variance = (self.alpha + np.arange(self.n + 1) + shift) / total, noise / total**2
        return mean, variance + (mean * (1 - mean) - variance) * (1 + total / self.m) / (total + 1)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        above, below, _, _, columns = self._sides(columns)
        rows = np.asarray(rows)[:, None]
        log_masses = np.broadcast_to(np.log(self.masses), self.n + 1)
        return np.logaddexp(above[rows, columns], below[rows, columns]) - log_masses[rows]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """Log-odds c − ε or ε − c, whichever c is the smaller.

        e^ε T[x] − T[x + 1] is a sum of positive terms that the rows of a pair do not share, and so is the same with
        the rows exchanged: neither form cancels or leaves −ε … ε.
        """
        above, below, unshared_above, unshared_below, columns = self._sides(columns)
        pairs = np.asarray(pairs)[:, None]
        log_twice = math.log(-math.expm1(-2 * self.epsilon))
        above_first, below_first = above[pairs, columns], below[pairs, columns]
        above_second, below_second = above[pairs + 1, columns], below[pairs + 1, columns]
        log_first, log_second = np.logaddexp(above_first, below_first), np.logaddexp(above_second, below_second)
        log_excess = self.epsilon + np.logaddexp(unshared_above[pairs, columns], below_first + log_twice) - log_second
        log_lack = self.epsilon + np.logaddexp(unshared_below[pairs, columns], above_second + log_twice) - log_first
        over_smallest, under_largest = np.logaddexp(0.0, log_excess), np.logaddexp(0.0, log_lack)
        odds = np.where(over_smallest < under_largest, over_smallest - self.epsilon, self.epsilon - under_largest)
        if not self.draws_again:
            return odds

        # ln of the mass of each row x + 1 over that of x
        with np.errstate(under="ignore"):
            ends = np.exp(-self.epsilon * pairs) - np.exp(-self.epsilon * (self.n - 1 - pairs))
        change: FloatArray = np.log1p(-math.expm1(-self.epsilon) / 2 * ends / np.asarray(self.masses)[pairs])
        return odds + change

    def _sides(self, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
        """ln of what p* above x/n adds to each row, and p* below it, of both what pairs do not share, and the columns.

        Both ends are computed alone where nothing else is needed.
        """
        columns = np.asarray(columns)
        has_ends_alone = bool(np.isin(columns, [0, self.m]).all())
        above, unshared_above = _one_side(self, has_ends_alone)
        below, unshared_below = (table[::-1, ::-1] for table in _one_side(self.mirrored, has_ends_alone))
        places = (columns == self.m).astype(np.int64) if has_ends_alone else columns
        return above, below, unshared_above, unshared_below, places


@dataclass(frozen=True, kw_only=True)
class Modips(NoisyPosterior, TwoCellSynthesizer):
    """p* is clamped to 0 … 1: boundary-inflated truncation.

    Examples
    --------
    >>> Modips(n=1, m=1, epsilon=math.log(4)).transition_matrix().round(6).tolist()
    [[0.576498, 0.423502], [0.423502, 0.576498]]
    """

    key = "modips"


@dataclass(frozen=True, kw_only=True)
class ModipsTruncated(NoisyPosterior, TwoCellSynthesizer):
    """p* is drawn again until it is inside: the mass inside depends on x and costs up to another ε."""

    key = "modips_truncated"
    draws_again = True


@lru_cache(maxsize=16)
def _one_side(release: Any, has_ends_alone: bool) -> tuple[FloatArray, FloatArray]:
    """ln of what p* > x/n adds to each row, and of e^{−ε} times what of that the rows of each pair do not share."""
    n, m, epsilon, alpha, beta = release.n, release.m, release.epsilon, release.alpha, release.beta
    columns = np.array([0, m]) if has_ends_alone else np.arange(m + 1)

    # Nodes τ in a panel, with the noise e^{−ετ} in their weights: the first spans 8 nats of noise at most, and panels
    # double as long as anything is left. 14 nodes a panel leave no error but rounding
    edges = [0.0, min(1.0, 8.0 / epsilon)]
    growth = math.log1p((n + m) / min(alpha, beta))
    while edges[-1] < 1 and (epsilon - growth) * edges[-1] < INTEGRAND_DROP:
        edges.append(min(1.0, 2 * edges[-1]))
    tau, weights = gauss_legendre_panels(edges, 16)
    weights *= epsilon / 2 * np.exp(-epsilon * tau)
    unshared_weights = weights * -np.expm1(-2 * epsilon * (1 - tau))

    # Beta-binomials at the first node, and the factors in i + j and in i that lead to those at the others
    by_sum, by_column, by_row = beta_binomial_terms(n - 1, m, alpha + tau[0], beta + (1 - tau[0]))
    k = np.arange(n - 1 + m)
    from_alpha, from_beta = (
        np.cumprod(np.column_stack([np.ones(len(tau)), (start[:, None] + k) / (start[0] + k)]), axis=1)
        for start in (alpha + tau, beta + (1 - tau))
    )
    windows = sliding_window_view(from_alpha * from_beta[:, ::-1], m + 1, axis=1).swapaxes(0, 1)
    if len(columns) <= m:
        windows = windows[..., columns]

    # Sums over the nodes of each panel: products of small matrices whose windows overlap, so that nothing is copied,
    # in blocks that fit into the processor's cache
    of_rows = (1 / (from_alpha[:, :n] * from_beta[:, n - 1 :: -1])).T[:, None]
    node_weights = of_rows * np.stack([weights, unshared_weights])
    tables = np.empty((2, n, len(columns)))
    for block in row_blocks(n, len(columns), 65_536):
        log_first = by_sum[np.arange(n)[block, None] + columns] + by_column[columns] - by_row[block, None]
        tables[:, block] = np.log(np.matmul(node_weights[block], windows[block])).swapaxes(0, 1) + log_first

    # Sums over the panels above each row
    panels, unshared = tables
    at_one = np.full(len(columns), -math.inf)
    if not release.draws_again:  # p* = 1 itself adds to the row x = n
        by_sum, by_column, by_row = beta_binomial_terms(0, m, alpha + n, beta)
        at_one = by_sum[columns] + by_column[columns] - by_row[0] - math.log(2)
    above = np.vstack([panels, at_one])
    for row in range(n - 1, -1, -1):
        above[row] = np.logaddexp(above[row + 1] - epsilon, above[row])
    above.flags.writeable = unshared.flags.writeable = False
    return above, unshared
