"""SDD: draw the proportion from a posterior in public bins by the exponential mechanism, then the rows from it."""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincc, betaln, logsumexp

from dpviz.core.numerics.special import log_fair_binomials, log_sum_exp
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.noise import MonotoneMechanism

BIN_ENDS = np.linspace(0.05, 0.95, 101)  # between which a posterior has at least some density
BIN_MIDDLES = (BIN_ENDS[1:] + BIN_ENDS[:-1]) / 2
BIN_LOGITS = np.log(BIN_MIDDLES) - np.log1p(-BIN_MIDDLES)


@dataclass(frozen=True, kw_only=True)
class BinMechanism(MonotoneMechanism):
    """Pr(m1 | n1) = Σ_i w_i(n1) E[Binomial(m1; m, θ)], θ uniform in bin i of 100 from 0.05 to 0.95.

    w_i ∝ f(θ_i | n1)^{ε/(2Δ)}, f the posterior of a flat prior and θ_i the middle of the bin: the exponential mechanism
    with the score ln f. With several parameters each has bins of its own, B^p of them together, which ends at three or
    four parameters.

    The log-odds of the bins are monotone in the rows, and those of the rows in the bins: so are those of both together
    (Karlin 1968).

    Source: Liu (2016), Algorithm 2 and Proposition 3.
    """

    has_printed_sensitivity: ClassVar[bool]  # whether Δ is 2A, as printed, and not what the bins really have

    @property
    def sensitivity(self) -> float:
        """Δ, the most that one row is taken to change the ln of a bin's mass."""
        if self.has_printed_sensitivity:
            return 2 * log_density_bound(self.n)
        return float(np.abs(bin_log_ratios(self.n)).max())

    @property
    def power(self) -> float:
        """ε/(2Δ)."""
        return self.epsilon / (2 * self.sensitivity)

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """Moments of a mixture over the bins, in each of which θ has its middle and a variance w²/12."""
        weights = np.exp(bin_log_weights(self.n, self.power))
        mean, square = weights @ BIN_MIDDLES, weights @ (BIN_MIDDLES**2 + np.diff(BIN_ENDS) ** 2 / 12)
        return mean, square - mean**2 + (mean - square) / self.m

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Σ_i w_i Pr(j | bin i), each factor relative to its largest."""
        log_weights, log_rows = bin_log_weights(self.n, self.power)[rows], _log_rows(self.m)[:, columns]
        heaviest, likeliest = log_weights.max(axis=1)[:, None], log_rows.max(axis=0)
        with np.errstate(under="ignore", divide="ignore"):
            sums = np.exp(log_weights - heaviest) @ np.exp(log_rows - likeliest)
            table: FloatArray = np.log(sums) + heaviest + likeliest
        is_tiny = sums < 1e-250  # some of its products may have underflowed
        for row in np.flatnonzero(is_tiny.any(axis=1)):
            places = is_tiny[row]
            table[row, places] = logsumexp(log_weights[row][:, None] + log_rows[:, places], axis=0)
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """Difference of ln Pr, or −ln of the mean of e^d over the bins given the release, d the change of ln w_i.

        Where all d are small, so is the mean of expm1(d), and it keeps the digits that a difference would lose.
        """
        pairs = np.asarray(pairs)
        if self.power * float(BIN_LOGITS[-1]) > 0.5:
            return self.log_transition(pairs, columns) - self.log_transition(pairs + 1, columns)
        log_weights, log_rows = bin_log_weights(self.n, self.power)[pairs], _log_rows(self.m)[:, columns]
        with np.errstate(under="ignore"):
            weights, rows = np.exp(log_weights), np.exp(log_rows - log_rows.max(axis=0))
            mean = np.log1p(weights @ np.expm1(self.power * BIN_LOGITS))
            changes = np.expm1(self.power * BIN_LOGITS - mean[:, None])
            odds: FloatArray = -np.log1p((weights * changes) @ rows / (weights @ rows))
        return odds


@dataclass(frozen=True, kw_only=True)
class BinnedPosterior(BinMechanism, TwoCellSynthesizer):
    """With the Δ that is printed, 2A with A = sup |ln f|.

    One row changes ln f far less: at n = 100 the bound is 580, and no row changes ln f by more than 5.6. So the bins
    are chosen nearly at random; the promise is kept, and next to nothing of the data is left.

    Examples
    --------
    >>> release = BinnedPosterior(n=100, m=100, epsilon=1)
    >>> round(release.sensitivity), round(1 / release.worst_log_odds().value)  # it uses 1/409 of its ε
    (580, 409)
    """

    key = "sdd"
    has_printed_sensitivity = True


@dataclass(frozen=True, kw_only=True)
class BinnedPosteriorExact(BinMechanism, TwoCellSynthesizer):
    """With the Δ that the score really has, by the ln f of all neighbours and bins.

    It keeps ε as well and uses more of it. The rest is spent on the normalizing constant of f, which is alike in all
    bins and chooses none of them, and hidden by the draw of the rows.

    Examples
    --------
    >>> release = BinnedPosteriorExact(n=100, m=100, epsilon=1)
    >>> round(release.sensitivity, 1), round(release.worst_log_odds().value, 2)
    (5.6, 0.38)
    """

    key = "sdd_exact"
    has_printed_sensitivity = False


def log_density_bound(n: int) -> float:
    """A = sup |ln f(θ | x)| of Propositions 3 and 4: n Bernoulli rows, a flat prior, θ from 0.05 to 0.95.

    >>> round(log_density_bound(100))
    290
    """
    lowest, highest = BIN_ENDS[[0, -1]].tolist()
    log_mass = (n + 1) * math.log(highest) + math.log1p(-((lowest / highest) ** (n + 1))) - math.log(n + 1)
    return abs(n * math.log(lowest) - log_mass)


@lru_cache(maxsize=16)
def bin_log_ratios(n: int) -> FloatArray:
    """ln of each bin's posterior mass for x ones less that for x + 1, by the density at its middle; shape (n, bins)."""
    x, (lowest, highest) = np.arange(n + 1), BIN_ENDS[[0, -1]]
    below = betainc(x + 1, n - x + 1, highest) - betainc(x + 1, n - x + 1, lowest)
    above = betaincc(x + 1, n - x + 1, lowest) - betaincc(x + 1, n - x + 1, highest)
    log_mass = betaln(x + 1, n - x + 1) + np.log(np.maximum(below, above))
    return np.diff(log_mass)[:, None] - BIN_LOGITS


@lru_cache(maxsize=8)
def bin_log_weights(n: int, power: float) -> FloatArray:
    """ln of the probability of each bin, its posterior mass to a power, for x = 0 … n; shape (n + 1, bins).

    Parameters
    ----------
    n : int
    power : float
    """
    weights = power * (np.arange(n + 1)[:, None] * BIN_LOGITS + n * np.log1p(-BIN_MIDDLES))
    return weights - log_sum_exp(weights, axis=1)[:, None]


@lru_cache(maxsize=8)
def _log_rows(m: int) -> FloatArray:
    """ln E[Binomial(j; m, θ)] with θ uniform in each bin, for j = 0 … m; shape (bins, m + 1)."""
    j = np.arange(m + 1)
    places, weights = np.polynomial.legendre.leggauss(16 + m // 16)  # the integrand has degree m in θ
    log_weights = np.log(weights / 2)[:, None]
    log_rows = np.tile(log_fair_binomials(m) + m * math.log(2), (len(BIN_MIDDLES), 1))
    for row, (low, high) in zip(log_rows, itertools.pairwise(BIN_ENDS), strict=True):
        theta = (low + (high - low) * (1 + places) / 2)[:, None]
        row += log_sum_exp(log_weights + j * np.log(theta) + (m - j) * np.log1p(-theta), axis=0)
    return log_rows
