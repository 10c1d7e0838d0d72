"""The Beta-binomial synthesizer: draw the proportion from its posterior, then the synthetic rows from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpviz.core.numerics.special import cumulative_sum, log_sum_exp
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.pair_divergence import log_delta_beta_binomial
from dpviz.mechanisms.prior_mechanism import UnderPrior


@dataclass(frozen=True, kw_only=True)
class BetaBinomial(UnderPrior, TwoCellSynthesizer):
    """Pr(m1 | n1) = C(m, m1) B(α + n1 + m1, β + n0 + m0) / B(α + n1, β + n0), with n0 = n − n1 and m0 = m − m1.

    α = β = 1/3 is the multiple synthesis (MS) of Bowen & Liu (2016), proposed there without a privacy guarantee.

    Source: Abowd & Vilhuber (2008), equation (1) for k = 2; Charest (2011), BB; Zheng (2015), SYNTH_Post(One). The
    smallest prior with which it is ε-differentially private is m / (e^ε − 1) for every n: Charest (2011) after
    Machanavajjhala et al. (2008); Menicucci et al. (2026), for any number of categories.

    Examples
    --------
    With one row and a flat prior the posterior is Beta(1, 2) or Beta(2, 1), so a single draw has odds 2 to 1.

    >>> BetaBinomial(n=1, m=1, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.666667, 0.333333], [0.333333, 0.666667]]
    """

    key = "beta_binomial"
    log_pair_deltas = staticmethod(log_delta_beta_binomial)

    @staticmethod
    def draws_and_rows(m: int) -> tuple[int, int]:
        return 1, m

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(j | i) = ln [C(m, j) h(i + j) / B(α + i, β + n − i)] with h(k) = B(α + k, β + n + m − k).

        The h are a Hankel matrix, a function of i + j.
        """
        rows, columns = np.asarray(rows), np.asarray(columns)
        by_sum, by_column, by_row = beta_binomial_terms(self.n, self.m, self.alpha, self.beta)
        table = _hankel(by_sum, rows, columns, self.m)
        table += by_column[columns]
        table -= by_row[rows][:, None]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(j | i) − ln Pr(j | i + 1) = ln[(y + m − j) / y] − ln[(x + j) / x], x = α + i and y = β + n − 1 − i."""
        pairs, columns = np.asarray(pairs), np.asarray(columns)
        k = np.arange(self.n + self.m)
        log_ones, log_zeros = _log_growth(self.alpha, k), _log_growth(self.beta, k)
        table = _hankel(log_zeros[::-1] - log_ones, pairs, columns, self.m)
        table += (log_ones[pairs] - log_zeros[self.n - 1 - pairs])[:, None]

        # At j = 0 and j = m one of the two terms is exactly 0, and the sums above give it only up to rounding
        table[:, columns == 0] = np.log1p(self.m / (self.beta + (self.n - 1 - pairs)))[:, None]
        table[:, columns == self.m] = -np.log1p(self.m / (self.alpha + pairs))[:, None]
        return table


@lru_cache(maxsize=32)
def beta_binomial_terms(n: int, m: int, alpha: float, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Summands of ln BetaBinomial(j; m, α + i, β + n − i) = by_sum[i + j] + by_column[j] − by_row[i].

    Parameters
    ----------
    n, m : int
    alpha, beta : float
        Prior ones and zeros.

    Returns
    -------
    by_sum, by_column, by_row : ndarray of shape (n + m + 1,), (m + 1,) and (n + 1,)
        Read-only, because they are cached.

    Notes
    -----
    All are sums of logarithms of ratios, which keep the digits that ln Γ loses for priors such as 10¹². They begin
    with 0 at the mode of the middle row: near it they stay small, and no digits cancel.
    """
    middle = n // 2
    a, b = alpha + n / 2, beta + n / 2  # about the posterior of the middle row
    mode = round(m * a / (a + b))  # about its most likely count
    k, j, i = np.arange(n + m), np.arange(m), np.arange(n)
    by_sum = cumulative_sum(np.log((alpha + k) / a * (b / (beta + k[::-1]))), origin=middle + mode)
    by_column = cumulative_sum(np.log((m - j) / (j + 1) * (a / b)), origin=mode)
    by_row = cumulative_sum(np.log((alpha + i) / a * (b / (beta + i[::-1]))), origin=middle)
    # So that the middle row has the sum 1, and with it every other
    by_row += log_sum_exp(by_sum[middle : middle + m + 1] + by_column, axis=0)
    for terms in (by_sum, by_column, by_row):
        terms.flags.writeable = False
    return by_sum, by_column, by_row


def beta_binomial_log_likelihood(
    counts: Sequence[int] | IntArray, x: IntArray, n: IntArray | int, m: int, alpha: float, beta: float
) -> FloatArray:
    """Σ_s ln BetaBinomial(x̃_s; m, α + x, β + n − x) over sets s, up to a constant that does not depend on x or n.

    Parameters
    ----------
    counts : sequence of int
        Released counts x̃ of independent sets, of m rows each.
    x, n : int or ndarray of int
        Confidential ones, and rows; the two are broadcast together.
    m : int
    alpha, beta : float
    """
    x, n = np.broadcast_arrays(x, n)
    k = np.arange(int(n.max()) + m)
    sums_of_ones, sums_of_zeros, sums_of_all = (
        cumulative_sum(_log_growth(prior, k)) for prior in (alpha, beta, alpha + beta)
    )
    normalizer = sums_of_ones[x] + sums_of_zeros[n - x] + sums_of_all[n + m] - sums_of_all[n]
    log_likelihood = np.zeros(x.shape)
    for count in counts:
        log_likelihood += sums_of_ones[x + count] + sums_of_zeros[(n - x) + (m - count)] - normalizer
    return log_likelihood


def _hankel(by_sum: FloatArray, rows: IntArray, columns: IntArray, m: int) -> FloatArray:
    """Entries by_sum[row + column] as a new array; windows of it, which are faster, for all columns 0 … m."""
    if len(columns) == m + 1 and columns[0] == 0 and np.all(columns[1:] > columns[:-1]):
        return sliding_window_view(by_sum, m + 1)[rows]
    table: FloatArray = by_sum[rows[:, None] + columns]
    return table


def _log_growth(prior: float, k: IntArray) -> FloatArray:
    """ln(prior + k) up to a constant; for a large prior ln(1 + k / prior), which keeps the digits of k."""
    return np.log1p(k / prior) if prior > 1 else np.log(prior + k)
