"""The exponential mechanism of Wasserman & Zhou: data whose empirical distribution function is near the real one."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpviz.core.numerics.special import log_fair_binomials, log_sum_exp
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.noise import MonotoneMechanism


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(MonotoneMechanism):
    """Pr(m1 | n1) = w(m1) exp(−ε d/(2Δ)) / S(n1), d = |n1/n − m1/m| and Δ = 1/n, the most that one row moves d.

    Notes
    -----
    d is the Kolmogorov distance of the two empirical distribution functions. One row changes d by 1/n at most, which
    costs ε/2, and the sums S of two neighbours differ by a factor of e^{ε/2} at most: ε in all. That factor is what
    the weights w of the counts decide, so the real ε lies between ε/2 and ε: it is ε/2 + max |ln S(x + 1)/S(x)|.

    Every count of the matrix is summed. With k categories there are C(m + k − 1, k − 1) tables and k^m data sets, so
    the sums S end at a few categories; Wasserman & Zhou draw from the distribution without them, by simulation.

    Source: McSherry & Talwar (2007); Wasserman & Zhou (2010), section 4; Bowen & Liu (2016), equation (7).
    """

    counts_data_sets: ClassVar[bool]  # whether w is the number of data sets with a count, and not 1

    @cached_property
    def log_weights(self) -> FloatArray:
        """ln w of each released count, up to a constant."""
        return log_fair_binomials(self.m) if self.counts_data_sets else np.zeros(self.m + 1)

    def _cost(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ε d/(2Δ); whole numbers are subtracted before anything is rounded."""
        i, j = np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        return self.epsilon / 2 * (np.abs(i * self.m - j * self.n) / self.m)

    @cached_property
    def _log_sums(self) -> FloatArray:
        costs = self._cost(np.arange(self.n + 1), np.arange(self.m + 1))
        return log_sum_exp(self.log_weights - costs, axis=1)

    @cached_property
    def _log_growth(self) -> FloatArray:
        """ln S(x + 1)/S(x) for x = 0 … n − 1.

        It is the ln of a mean of e^{(cost at x) − (cost at x + 1)} over row x, or less that of its inverse over row
        x + 1: the exponents lie within ±ε/2, so that one of the two keeps the digits of a small ε.
        """
        costs, half = self._cost(np.arange(self.n + 1), np.arange(self.m + 1)), self.epsilon / 2
        steps = np.diff(costs, axis=0)
        with np.errstate(under="ignore"):
            rows = np.exp(self.log_weights - costs - self._log_sums[:, None])
            above = np.sum(rows[:-1] * np.expm1(-half - steps), axis=1)
            below = np.sum(rows[1:] * np.expm1(steps - half), axis=1)

        # From a mean of −½ on log1p keeps the digits
        from_above, from_below = half + np.log1p(np.maximum(above, -0.5)), -half - np.log1p(np.maximum(below, -0.5))
        return np.select([above > -0.5, below > -0.5], [from_above, from_below], np.diff(self._log_sums))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.log_weights[columns] - self._cost(rows, columns) - self._log_sums[rows][:, None]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        pairs = np.asarray(pairs)
        step = self._cost(pairs + 1, columns) - self._cost(pairs, columns)
        return step + self._log_growth[pairs][:, None]


@dataclass(frozen=True, kw_only=True)
class ExponentialRows(ExponentialMechanism, TwoCellSynthesizer):
    """The outcomes are all 2^m data sets, so that w = C(m, m1): most of them have as many ones as zeros.

    Examples
    --------
    The single row of n = m = 1 is kept with odds of e^{ε/2}. At n = 100 the sums S take their whole ε/2 as well.

    >>> ExponentialRows(n=1, m=1, epsilon=2 * np.log(3)).transition_matrix().round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> round(ExponentialRows(n=100, m=100, epsilon=1).worst_log_odds().value, 3)
    1.0
    """

    key = "exponential_rows"
    counts_data_sets = True


@dataclass(frozen=True, kw_only=True)
class ExponentialCounts(ExponentialMechanism, TwoCellSynthesizer):
    """The outcomes are the m + 1 tables, each counted once: two-sided exponential noise on the count.

    Examples
    --------
    The sums S differ where noise would leave 0 … m. At n = 100 the real ε is 0.987 ε at ε = 0.01 and 0.501 ε at 10.

    >>> ExponentialCounts(n=2, m=2, epsilon=2 * np.log(2)).transition_matrix()[1].round(6).tolist()
    [0.25, 0.5, 0.25]
    >>> round(ExponentialCounts(n=100, m=100, epsilon=1).worst_log_odds().value, 3)
    0.714
    """

    key = "exponential_counts"
    counts_data_sets = False
