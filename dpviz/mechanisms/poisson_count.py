"""The Poisson mechanism: a count is published as a Poisson number whose mean is the count and what is added to it."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincc

from dpviz.core import limits
from dpviz.core.declarations import ROWS
from dpviz.core.numerics.sums import log_rising
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.prior import PRIOR_ONES

SMALLEST_CLEAR_TAIL = 1e-250  # Pr(Z ≥ n) from which it has all its digits
ADDED_TO_COUNT = dataclasses.replace(
    PRIOR_ONES,
    title="Added to the count",
    maximum=500.0,
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

    Source: Jackson et al. (2024). One row and α = 1: a zero stays 0 with probability e⁻¹, and a one becomes 0 with e⁻².

    >>> PoissonCount(n=1, alpha=1).transition_matrix().round(6).tolist()
    [[0.367879, 0.632121], [0.135335, 0.864665]]
    """

    key = "poisson_count"
    label = "Poisson count"
    formula = r"m_1 = \min(Z, n),\quad Z \sim \mathrm{Poisson}(n_1+\alpha)"
    source = "Jackson, Mitra, Francis & Dove (2024), arXiv 2407.00417"
    audited = "poisson_count"
    color = "indigo"
    kept_by = ""
    moved_by = "what is added to the count"
    not_compared = "no α gives it an ε below 1 unless a δ is allowed"

    m: int = dataclasses.field(init=False, default=0)
    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    alpha: float = parameter(ADDED_TO_COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)

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
