"""The Poisson mechanism: a count is published as a Poisson number whose mean is the count and what is added to it."""

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.declarations import ROWS
from dpviz.core.numerics.ends import private_side
from dpviz.core.numerics.sums import log_rising
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.prior import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS

SMALLEST_PRINTED_EPSILON = 1.0  # From which on the formula of Jackson et al. is printed
LOSS_OF_ZERO = 1.0  # Of neighbours where 0 is published: their means differ by 1
SMALLEST_CLEAR_TAIL = 1e-250  # Pr(Z ≥ n) from which it has all its digits
ADDED_TO_COUNT = dataclasses.replace(
    PRIOR_ONES,
    title="Added to the count",
    maximum=500.0,  # Above 700 even the probability of publishing 0 is none of the floating-point numbers
    default=1.0,
    slider_minimum=0.01,
    slider_maximum=500.0,
    help="What is added to the count before the Poisson number is drawn, so that a count of 0 can be published as "
    "more. Larger is more private, and raises what is published.",
)


@dataclass(frozen=True, kw_only=True)
class PoissonCount(TwoCellSynthesizer):
    """m1 = min(Z, n), Z ~ Poisson(n1 + α): one count of a table, released with n, which is public; m2 = n − m1.

    Log-odds of the tables with i and i + 1 ones are 1 − j ln(1 + 1/(i + α)) at a released j below n. They are largest
    at j = n of tables without ones and with one, and at j = 0, where they are 1 whatever is added: no α gives an ε
    below 1. Before Z is cut off at n they are not bounded, so that a promise needs a δ. Jackson et al. take that of
    probabilistic differential privacy, Pr(Z > (1 + ε)/ln(1 + 1/α)) with Z ~ Poisson(1 + α), for ε above 1.

    `smallest_alpha` keeps an ε from 1 on without a δ, as what is published ends at n. Its authors do not cut it off.

    Source: Jackson et al. (2024). One row and α = 1: a zero stays 0 with probability e⁻¹, and a one becomes 0 with e⁻².

    >>> PoissonCount(n=1, alpha=1).transition_matrix().round(6).tolist()
    [[0.367879, 0.632121], [0.135335, 0.864665]]
    """

    key = "poisson_count"
    label = "Poisson count"
    formula = r"m_1 = \min(Z, n),\quad Z \sim \mathrm{Poisson}(n_1+\alpha)"
    source = "Jackson, Mitra, Francis & Dove (2024), arXiv 2407.00417"
    audited = "poisson_count"
    color = "purple"
    kept_by = finding = opendp = ""
    moved_by = "what is added to the count"
    protected_by = ("alpha",)
    smallest_epsilon = LOSS_OF_ZERO
    several_sets = False
    no_prior = "what is added to its count raises what is published, and is no prior of a share"
    releases = (
        "One set: a Poisson number whose mean is the number of ones and α, cut off at n. α is the smallest with which "
        "it loses at most its ε. Below ε = 1 there is none without a δ: to publish 0 has a loss of 1, whatever α is."
    )

    m: int = dataclasses.field(init=False, default=0)
    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    alpha: float = parameter(ADDED_TO_COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """The α with which to publish n = m has the loss ε, from ε = 1 on: a root, rounded to the private side.

        Below 1 no α keeps ε. There it is that of ε = 1 over ε, so that the δ that an ε needs goes on to fall.

        >>> round(PoissonCount.smallest_alpha(m=100, epsilon=1.0), 3)
        49.984
        """
        found = _smallest_alpha(m, max(epsilon, LOSS_OF_ZERO)) / min(epsilon, LOSS_OF_ZERO)
        return min(found, ADDED_TO_COUNT.maximum)

    def promised_but_for(self, delta: float) -> float:
        """k ln(1 + 1/α) − 1, Pr(Z > k) ≤ δ with Z ~ Poisson(1 + α); at least 1, from which on the formula is printed.

        >>> round(PoissonCount(n=100, alpha=1.868939).promised_but_for(0.01), 5)
        2.0
        """
        largest = int(poisson_quantiles(np.array([1 + self.alpha]), delta)[0])
        return max(largest * math.log1p(1 / self.alpha) - 1, SMALLEST_PRINTED_EPSILON)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        means, j = self.alpha + np.asarray(rows), np.asarray(columns)
        factorials = log_rising(1.0, self.n).total()
        table = np.outer(np.log(means), j) - factorials[j] - means[:, None]
        table[:, j == self.n] = log_poisson_tail(self.n, means)[:, None]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        means, j = self.alpha + np.asarray(pairs), np.asarray(columns)
        table = 1 - np.outer(np.log1p(1 / means), j)
        table[:, j == self.n] = (log_poisson_tail(self.n, means) - log_poisson_tail(self.n, means + 1))[:, None]
        return table

    def worst_log_odds(self) -> WorstCase:
        """At an end: log-odds fall with what is released, and those of Z ≥ n are the smaller, the larger the mean."""
        pair, ends = np.zeros(1, dtype=np.int64), np.array([0, self.n])
        first, last = self.log_odds(pair, ends)[0].tolist()
        return WorstCase(first, 0, 1, 0) if first >= -last else WorstCase(-last, 1, 0, self.n)


def _loss_of_most(n: int, alpha: float) -> float:
    """The loss of tables without ones and with one where n is published."""
    without, with_one = log_poisson_tail(n, np.array([alpha, alpha + 1])).tolist()
    return float(with_one - without)


@lru_cache(maxsize=1024)
def _smallest_alpha(n: int, epsilon: float) -> float:
    smallest = PRIOR_ONES.minimum
    if _loss_of_most(n, smallest) <= epsilon:
        return smallest

    def excess(log_alpha: float) -> float:
        return _loss_of_most(n, math.exp(log_alpha)) - epsilon

    root = math.exp(brentq(excess, math.log(smallest), math.log(n), xtol=1e-300, rtol=1e-14))
    return private_side(root, math.inf, lambda alpha: _loss_of_most(n, alpha) <= epsilon)


def log_poisson_tail(count: int, means: FloatArray) -> FloatArray:
    """ln Pr(Z ≥ count) of Poisson numbers with these means, count ≥ 1, however small.

    >>> log_poisson_tail(2, np.array([1.0, 1e-200])).round(6).tolist()  # 1 − 2/e, and ln of 1e-400 / 2
    [-1.330893, -921.727184]
    """
    found = np.log1p(-np.minimum(gammaincc(count, means), 0.5))
    tails = gammainc(count, means)
    small = tails < 0.5
    clear = small & (tails > SMALLEST_CLEAR_TAIL)
    found[clear] = np.log(tails[clear])
    rest = means[small & ~clear]  # far below the count, where the terms of Pr(Z = count + k) fall fast
    terms = np.cumprod(rest[:, None] / (count + np.arange(1, 64)), axis=1)
    found[small & ~clear] = count * np.log(rest) - rest - math.lgamma(count + 1) + np.log1p(terms.sum(axis=1))
    return found


def poisson_beyond(counts: IntArray | int, means: FloatArray | float) -> FloatArray:
    """Return Pr(Z > count) of Poisson numbers with these means."""
    tails: FloatArray = gammainc(np.asarray(counts) + 1.0, means)
    return tails


def poisson_quantiles(means: FloatArray, delta: float) -> IntArray:
    """Return the smallest z with Pr(Z > z) ≤ δ for each mean.

    >>> poisson_quantiles(np.array([1.0, 10.0]), 0.01).tolist()
    [4, 18]
    """
    low, high = np.full(len(means), -1), np.ones(len(means), dtype=np.int64)
    while (over := poisson_beyond(high, means) > delta).any():
        high[over] *= 2
    while (apart := high - low > 1).any():
        middle = (low + high) // 2
        enough = poisson_beyond(middle, means) <= delta
        low, high = np.where(apart & ~enough, middle, low), np.where(apart & enough, middle, high)
    return high
