"""The exponential mechanism of Wasserman & Zhou: data whose empirical distribution function is near the real one."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.sums import log_fair_binomials, log_sums
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.noise import NOISE_EPSILON

SMALLEST_CLEAR_MEAN = -0.5  # A mean of expm1 from which on log1p of it keeps its digits


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(TwoCellSynthesizer):
    """Pr(m1 | n1) = w(m1) exp(−ε d/(2Δ)) / S(n1), d = |n1/n − m1/m| and Δ = 1/n, the most that one row moves d.

    d is the Kolmogorov distance of the two empirical distribution functions. One row changes d by 1/n at most, which
    costs ε/2, and the sums S of two neighbours differ by a factor of e^{ε/2} at most: ε in all. That factor is what
    the weights w of the counts decide, so the real ε lies between ε/2 and ε.

    Every count of the matrix is summed. With k categories there are C(m + k − 1, k − 1) tables and k^m data sets, so
    the sums S end at a few categories; Wasserman & Zhou draw from the distribution without them, by simulation.

    Source: McSherry & Talwar (2007); Wasserman & Zhou (2010), §4; Bowen & Liu (2016), equation (7).
    """

    several_sets = False

    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MODIPS_ROWS)
    epsilon: float = parameter(NOISE_EPSILON)

    @property
    @abstractmethod
    def log_ways(self) -> FloatArray:
        """ln of the weight of each released count, up to a constant."""

    def _paid(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ε d/(2Δ) of these places; whole numbers are subtracted before anything is rounded."""
        i, j = np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        return self.epsilon / 2 * (np.abs(i * self.m - j * self.n) / self.m)

    @cached_property
    def _log_sums(self) -> FloatArray:
        weights = self.log_ways - self._paid(np.arange(self.n + 1), np.arange(self.m + 1))
        return log_sums(weights, axis=1)

    @cached_property
    def _growth(self) -> FloatArray:
        """ln S(x + 1)/S(x) for x = 0 … n − 1.

        It is the ln of a mean of e^{(paid at x) − (paid at x + 1)} over row x, or less that of its inverse over row
        x + 1: the exponents lie within ±ε/2, so that of the two one keeps the digits of a small ε.
        """
        columns, half = np.arange(self.m + 1), self.epsilon / 2
        paid = self._paid(np.arange(self.n + 1), columns)
        step = np.diff(paid, axis=0)
        with np.errstate(under="ignore"):
            rows = np.exp(self.log_ways - paid - self._log_sums[:, None])
            above = np.sum(rows[:-1] * np.expm1(-half - step), axis=1)
            below = np.sum(rows[1:] * np.expm1(step - half), axis=1)
        plain = np.diff(self._log_sums)
        near = np.where(below > SMALLEST_CLEAR_MEAN, -half - np.log1p(np.maximum(below, SMALLEST_CLEAR_MEAN)), plain)
        return np.where(above > SMALLEST_CLEAR_MEAN, half + np.log1p(np.maximum(above, SMALLEST_CLEAR_MEAN)), near)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self.log_ways[columns] - self._paid(rows, columns) - self._log_sums[rows][:, None]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        pairs = np.asarray(pairs)
        step = self._paid(pairs + 1, columns) - self._paid(pairs, columns)
        return step + self._growth[pairs][:, None]

    def worst_log_odds(self) -> WorstCase:
        """ε/2 + max |ln S(x + 1)/S(x)|, where no one, or every one, of the released rows is a one."""
        pair = int(np.argmax(np.abs(self._growth)))
        growth = float(self._growth[pair])
        column, likelier, other = (0, pair, pair + 1) if growth >= 0 else (self.m, pair + 1, pair)
        odds = float(self.log_odds(np.array([pair]), np.array([column]))[0, 0])
        return WorstCase(abs(odds), likelier, other, column)


@dataclass(frozen=True, kw_only=True)
class ExponentialRows(ExponentialMechanism):
    """The outcomes are all 2^m data sets, so that w = C(m, m1): most of them have as many ones as zeros.

    The sums S then take their whole ε/2 as well: at n = 100 and ε = 1 the real ε is 1.000. The single row of n = m = 1
    is kept with odds of e^{ε/2}:

    >>> ExponentialRows(n=1, m=1, epsilon=2 * np.log(3)).transition_matrix().round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> round(ExponentialRows(n=100, m=100, epsilon=1).worst_log_odds().value, 3)
    1.0
    """

    key = "exponential_rows"
    label = "Exponential mechanism (data sets)"
    formula = (
        r"\Pr(m_1 \mid n_1) \propto \binom{m}{m_1}\, "
        r"\exp\!\left(-\frac{\varepsilon n}{2}\left|\frac{n_1}{n}-\frac{m_1}{m}\right|\right)"
    )
    source = "Wasserman & Zhou (2010), §4; Bowen & Liu (2016), equation (7)"
    compared_source = "Bowen & Liu (2016), equation (7), after Wasserman & Zhou (2010)"
    audited = "exponential_sequences"
    color = "azure"
    kept_by = finding = opendp = ""
    moved_by = "the number of data sets with each count, which is largest at ½,"
    releases = (
        "One set of rows, by the exponential mechanism over all data sets of zeros and ones: the nearer a data set's "
        "distribution function is to the real one, the likelier it is. Most data sets have about as many ones as "
        "zeros, which draws the count to the middle. It spends all of ε. With k categories there are kⁿ data sets, so "
        "it can only be simulated."
    )

    @cached_property
    def log_ways(self) -> FloatArray:
        """ln of the shares of all data sets, which are no large numbers."""
        return log_fair_binomials(self.m)


@dataclass(frozen=True, kw_only=True)
class ExponentialCounts(ExponentialMechanism):
    """The outcomes are the m + 1 tables, each counted once: two-sided exponential noise on the count.

    The sums S differ where noise would leave 0 … m. At n = 100 the real ε is 0.988 ε at ε = 0.01, 0.714 ε at ε = 1 and
    0.501 ε at ε = 10.

    >>> ExponentialCounts(n=2, m=2, epsilon=2 * np.log(2)).transition_matrix()[1].round(6).tolist()
    [0.25, 0.5, 0.25]
    >>> round(ExponentialCounts(n=100, m=100, epsilon=1).worst_log_odds().value, 3)
    0.714
    """

    key = "exponential_counts"
    label = "Exponential mechanism (counts)"
    formula = (
        r"\Pr(m_1 \mid n_1) \propto \exp\!\left(-\frac{\varepsilon n}{2}\left|\frac{n_1}{n}-\frac{m_1}{m}\right|\right)"
    )
    source = "McSherry & Talwar (2007); Bowen & Liu (2016), equation (7), over tables"
    compared_source = "Bowen & Liu (2016), equation (7), over tables; McSherry & Talwar (2007)"
    audited = "exponential_counts"
    color = "violet"
    kept_by = finding = opendp = ""
    moved_by = "noise that is kept between 0 and n"
    releases = (
        "One set, by the exponential mechanism over all possible counts, each of which counts once. It spends ε/2 on "
        "the distance of the distribution functions, and of the other half only what the largest and the smallest "
        "count give away."
    )

    @cached_property
    def log_ways(self) -> FloatArray:
        return np.zeros(self.m + 1)
