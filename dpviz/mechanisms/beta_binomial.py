"""The Beta-binomial synthesizer: draw the proportion from its posterior, then the synthetic rows from it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpviz.core.numerics.special import (
    MAX_EXPONENT,
    cumulative_sum,
    pmf_from_ratios,
    round_to_private_side,
    satisfies_epsilon,
)
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import LossDistribution, WorstCase, check_index
from dpviz.mechanisms.pair_divergence import log_delta_beta_binomial
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer

FIRST_REACH = 18.0  # standard deviations around a mean within which losses are listed; doubled until enough

ROW_STRIDE = 8
"""Every so many rows one is computed from its logarithms: with more, a cell could underflow and then grow again."""


@dataclass(frozen=True, kw_only=True)
class BetaBinomial(PriorSynthesizer):
    """Pr(m1 | n1) = C(m, m1) B(α + n1 + m1, β + n0 + m0) / B(α + n1, β + n0), with n0 = n − n1 and m0 = m − m1.

    With α = β = 1/3 it is the non-private multiple synthesis (MS) of Bowen & Liu (2016).

    Parameters
    ----------
    n, m : int
        Confidential and released rows.
    alpha, beta : float
        Invented rows with a one and with a zero.

    References
    ----------
    Abowd & Vilhuber (2008), equation (1) for k = 2; Charest (2011), BB; Zheng (2015), SYNTH_Post(One).

    Examples
    --------
    With one row and a flat prior the posterior is Beta(1, 2) or Beta(2, 1), so a single draw has odds 2 to 1.

    >>> BetaBinomial(n=1, m=1, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.666667, 0.333333], [0.333333, 0.666667]]
    """

    key = "beta_binomial"

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | row).

        Notes
        -----
        Up to a factor for each row, Pr(j | i) is C(m, j) h(i + j), where h(k) = B(α + k, β + n + m − k): a Hankel
        matrix, so that logarithms are computed once for n + m sums. Each is a sum of logarithms of ratios, which keep
        the digits that ln Γ loses for priors such as 10¹².
        """
        by_sum, by_column, by_row = beta_binomial_terms(self.n, self.m, self.alpha, self.beta)
        rows, columns = np.asarray(rows), np.asarray(columns)
        if np.array_equal(columns, np.arange(self.m + 1)):
            table = sliding_window_view(by_sum, self.m + 1)[rows]
        else:
            table = by_sum[rows[:, None] + columns]
        table += by_column[columns]
        table -= by_row[rows][:, None]
        return table

    def transition_matrix(self) -> FloatArray:
        """Pr(released | confidential), shape (n + 1, m + 1).

        Row 0, row 1 and from there every `ROW_STRIDE`-th are exponentials of their logarithms. A row between follows
        from the one above by two products, T[i + 1, j] = T[i, j] u(i + j) v(i), several times as fast. From row 1 on a
        cell grows by a factor of at most 1 + m a row, so that what underflowed stays below 10⁻²⁷⁰.
        """
        by_sum, by_column, by_row = beta_binomial_terms(self.n, self.m, self.alpha, self.beta)
        matrix = np.empty((self.n + 1, self.m + 1))
        with np.errstate(under="ignore"):
            for exact in (slice(0, 1), slice(1, None, ROW_STRIDE)):
                logarithms = sliding_window_view(by_sum, self.m + 1)[exact] + by_column
                np.exp(logarithms - by_row[exact, None], out=matrix[exact])
            by_place = sliding_window_view(np.exp(np.diff(by_sum)), self.m + 1)
            by_pair = np.exp(-np.diff(by_row))[:, None]
            for first in range(1, ROW_STRIDE):
                below = matrix[first + 1 :: ROW_STRIDE]
                above = slice(first, first + ROW_STRIDE * len(below), ROW_STRIDE)
                np.multiply(matrix[above], by_place[above], out=below)
                below *= by_pair[above]
        return matrix

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        return beta_binomial_log_likelihood(counts, np.arange(self.n + 1), self.n, self.m, self.alpha, self.beta)

    def row(self, index: int) -> FloatArray:
        """Pr(released) from ratios of neighbouring counts, from the mode outward: no tail loses its digits."""
        index, j = check_index(index, self.n + 1), np.arange(float(self.m))
        x, y = self.alpha + index, self.beta + (self.n - index)
        with np.errstate(over="ignore"):
            return pmf_from_ratios((self.m - j) * (x + j) / ((j + 1) * (y + (self.m - 1 - j))))

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """ln[(y + m − j) / y] − ln[(x + j) / x], with x = α + i and y = β + n − 1 − i of the pair (i, i + 1)."""
        pairs, columns = np.asarray(pairs), np.asarray(columns)
        k = np.arange(self.n + self.m)
        ones, zeros = _log_growth(self.alpha, k), _log_growth(self.beta, k)
        by_sum, by_row = zeros[::-1] - ones, (ones - zeros[self.n - 1 - k])[: self.n]
        if np.array_equal(columns, np.arange(self.m + 1)):
            table = sliding_window_view(by_sum, self.m + 1)[pairs]
        else:
            table = by_sum[pairs[:, None] + columns]
        table += by_row[pairs][:, None]

        # At j = 0 and j = m one of the two terms is exactly 0, which the sums above have only up to rounding
        table[:, columns == 0] = np.log1p(self.m / (self.beta + (self.n - 1 - pairs)))[:, None]
        table[:, columns == self.m] = -np.log1p(self.m / (self.alpha + pairs))[:, None]
        return table

    def worst_log_odds(self) -> WorstCase:
        """Pure ε, ln(1 + m / min(α, β)): the only row of the rarer value changes."""
        return self.rarest_row(math.log1p(self.m / min(self.alpha, self.beta)))

    log_pair_deltas = staticmethod(log_delta_beta_binomial)

    def first_pair_losses(self, unseen: float) -> LossDistribution:
        """Losses ln[(x + j) y / (x (y + m − j))] of row 1 against row 0, x = α and y = β + n − 1, with Pr(j | 1).

        Counts far from the mean are left out where together they have a probability of at most `unseen`, which is then
        given to an infinite loss. Ratios of neighbouring probabilities fall where y ≥ 1, so that a geometric series
        bounds each tail.
        """
        x, y, m = self.alpha, self.beta + (self.n - 1), self.m
        mean, total = m * (x + 1) / (x + 1 + y), x + 1 + y
        deviation = math.sqrt(mean * (1 - mean / m) * (total + m) / (total + 1)) + 1.0
        reach, bound = FIRST_REACH, math.inf
        while bound > unseen:
            low, high = max(math.floor(mean - reach * deviation), 0), min(math.ceil(mean + reach * deviation), m)
            if y < 1 or high - low > m / 2:
                low, high = 0, m
            j = np.arange(max(low - 1, 0), min(high + 1, m))
            with np.errstate(over="ignore"):
                ratios = (m - j) * (x + 1 + j) / ((j + 1) * (y + (m - 1 - j)))
            masses = pmf_from_ratios(ratios[int(low > 0) : len(ratios) - int(high < m)])
            tails = ((1 / ratios[0] if low else 0.0), masses[0]), ((ratios[-1] if high < m else 0.0), masses[-1])
            bound = math.fsum(mass * ratio / (1 - ratio) if ratio < 1 else math.inf for ratio, mass in tails)
            reach *= 2
        j = np.arange(low, high + 1)
        losses = np.log1p(j / x) - np.log1p((m - j) / y)
        if high - low == m:
            return LossDistribution(losses, masses)
        return LossDistribution(np.append(losses, math.inf), np.append(masses, unseen))

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """Smallest α = β with pure ε-differential privacy, m / (e^ε − 1), rounded to the private side.

        Notes
        -----
        It does not depend on n. With a given prior a promise thus bounds the released rows by α (e^ε − 1), however many
        confidential rows there are.

        References
        ----------
        Abowd & Vilhuber (2008); Charest (2011) after Machanavajjhala et al. (2008); Menicucci et al. (2026), for any
        number of categories.
        """
        m, epsilon = int(PROMISED_ROWS.validate(m)), PROMISED_EPSILON.validate(epsilon)
        alpha = m / math.expm1(epsilon) if epsilon < MAX_EXPONENT else m * math.exp(-epsilon)
        alpha = max(alpha, PRIOR_ONES.minimum)
        return round_to_private_side(
            alpha, math.inf, lambda value: satisfies_epsilon(epsilon, times=1, rows=m, prior=value)
        )


@lru_cache(maxsize=32)
def beta_binomial_terms(n: int, m: int, alpha: float, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Terms in i + j and in j, less one in i, that add up to ln BetaBinomial(j; m, α + i, β + n − i).

    The term in j is ln Binomial(j; m, p), where p is the posterior mean at x = n / 2. Constants are chosen so that all
    terms are small where the probability is not: no digits cancel. Sums are taken in long double.
    """
    ones, zeros = np.longdouble(alpha), np.longdouble(beta)
    log_odds, mean = np.log((ones + n / 2) / (zeros + n / 2)), (alpha + n / 2) / (alpha + beta + n)
    k, j, i, middle = np.arange(n + m), np.arange(m), np.arange(n), n // 2
    by_sum = cumulative_sum(np.log(ones + k) - np.log(zeros + k[::-1]) - log_odds)
    by_sum -= by_sum[middle + round(m * mean)]
    by_column = cumulative_sum(np.log(np.longdouble(1) * (m - j) / (j + 1)) + log_odds) - m * np.logaddexp(0, log_odds)
    by_row = cumulative_sum(np.log(ones + i) - np.log(zeros + i[::-1]) - log_odds)
    by_row -= by_row[middle]
    log_sum = np.logaddexp.reduce((by_sum[middle : middle + m + 1] + by_column).astype(float))
    return by_sum.astype(float), by_column.astype(float), (by_row + log_sum).astype(float)


def _log_growth(base: float, k: IntArray) -> FloatArray:
    """ln(base + k) up to a constant, relative to `base` where that keeps digits."""
    return np.log1p(k / base) if base > 1 else np.log(base + k)


def beta_binomial_log_likelihood(
    counts: Sequence[int] | IntArray, x: IntArray, n: IntArray | int, m: int, alpha: float, beta: float
) -> FloatArray:
    """Σ_s ln BetaBinomial(x̃_s; m, α + x, β + n − x) over sets s, up to a constant that x and n do not change.

    Parameters
    ----------
    counts : sequence of int
        Released counts x̃ of independent sets.
    x, n : ndarray of int
        Confidential counts and rows, which broadcast.
    m : int
    alpha, beta : float

    Notes
    -----
    Rising factorials are relative to powers of α and β, so that neither a prior of 10⁻¹⁰⁷ nor one of 10¹² loses digits.
    """
    x, n = np.broadcast_arrays(x, n)
    k = np.arange(int(n.max()) + m)
    ones, zeros, total = (cumulative_sum(_log_growth(base, k)).astype(float) for base in (alpha, beta, alpha + beta))
    base = ones[x] + zeros[n - x] + total[n + m] - total[n]
    log_likelihood = np.zeros(x.shape)
    for count in counts:
        log_likelihood += ones[x + count] + zeros[(n - x) + (m - count)] - base
    return log_likelihood
