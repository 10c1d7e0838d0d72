"""Poisson mechanisms: a single Poisson count, and Poisson counts with gamma rates, given their total."""

import dataclasses
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammaln, logsumexp

from dpviz.core import limits
from dpviz.core.declarations import PUBLIC_GUESS, ROWS
from dpviz.core.numerics.special import cumulative_sum, inverse_expm1, log_sum_exp
from dpviz.core.parameters import parameter_with_default
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, parameter
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.mechanisms.noise import MonotoneMechanism
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS

COUNT_ROWS = dataclasses.replace(PROMISED_ROWS, maximum=limits.MAX_ROWS_OF_TABLE)
# Above 700 even the probability of publishing 0 is none of the floating-point numbers
ADDED_TO_COUNT = dataclasses.replace(
    PRIOR_ONES, title="Added to the count", maximum=500.0, default=1.0, slider_minimum=0.01, slider_maximum=500.0,
    help="What is added to the count before the Poisson number is drawn, so that a count of 0 can be published as "
    "more. Larger is more private, and raises what is published.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PoissonCount(TwoCellSynthesizer):
    """m1 = min(Z, n), Z ~ Poisson(n1 + α): one count of a table, released with n, which is public; m2 = n − m1.

    Notes
    -----
    Log-odds of the tables with i and i + 1 ones are 1 − j ln(1 + 1/(i + α)) at a released j below n. They are largest
    at j = n of tables without ones and with one, and at j = 0, where they are 1 whatever is added: no α gives an ε
    below 1. Before Z is cut off at n they are not bounded, so that a promise needs a δ. Jackson et al. take that of
    probabilistic differential privacy, Pr(Z > (1 + ε)/ln(1 + 1/α)) with Z ~ Poisson(1 + α), for ε above 1. They do not
    cut Z off.

    Source: Jackson, Mitra, Francis & Dove (2024).

    Examples
    --------
    One row and α = 1: a zero stays 0 with probability e⁻¹, and a one becomes 0 with e⁻².

    >>> PoissonCount(n=1, alpha=1).transition_matrix().round(6).tolist()
    [[0.367879, 0.632121], [0.135335, 0.864665]]
    """

    key = "poisson_count"
    protected_by = ("alpha",)
    smallest_epsilon = 1.0  # loss of neighbours where 0 is published: their means differ by 1
    has_monotone_odds = True

    m: int = dataclasses.field(init=False, default=0)
    n: int = parameter(ROWS, maximum=limits.MAX_ROWS_OF_TABLE)
    alpha: float = parameter(ADDED_TO_COUNT)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """Smallest α with which to publish n = m has the loss ε, from ε = 1 on, rounded to the private side.

        Below 1 no α keeps ε. There it is that of ε = 1 over ε, so that the δ that an ε needs goes on to fall, until
        α is the largest that is accepted.

        Raises
        ------
        ValueError
            For more rows than the mechanism takes.

        Examples
        --------
        >>> round(PoissonCount.smallest_alpha(m=100, epsilon=1.0), 3)
        49.984
        """
        m, epsilon = int(COUNT_ROWS.validate(m)), PROMISED_EPSILON.validate(epsilon)
        alpha = _smallest_alpha(m, max(epsilon, cls.smallest_epsilon)) / min(epsilon, cls.smallest_epsilon)
        return min(alpha, ADDED_TO_COUNT.maximum)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        means, j = self.alpha + np.asarray(rows), np.asarray(columns)
        table = np.outer(np.log(means), j) - gammaln(j + 1.0) - means[:, None]
        table[:, j == self.n] = _log_tail(self.n, means)[:, None]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        means, j = self.alpha + np.asarray(pairs), np.asarray(columns)
        table = 1 - np.outer(np.log1p(1 / means), j)
        table[:, j == self.n] = (_log_tail(self.n, means) - _log_tail(self.n, means + 1))[:, None]
        return table


@lru_cache(maxsize=1024)
def _smallest_alpha(n: int, epsilon: float) -> float:
    """Smallest α with which publishing n has at most the loss ε."""

    def excess(log_alpha: float) -> float:
        log_tails = _log_tail(n, math.exp(log_alpha) + np.array([0.0, 1.0]))
        return float(np.diff(log_tails)[0]) - epsilon * (1 - 2e-12)  # a loss may be below the real one by rounding

    low = math.log(PRIOR_ONES.minimum)
    if excess(low) <= 0:
        return PRIOR_ONES.minimum
    return math.exp(brentq(excess, low, math.log(2 * n), xtol=1e-300, rtol=1e-14))


def _log_tail(count: int, means: FloatArray) -> FloatArray:
    """ln Pr(Z ≥ count) of Poisson numbers with these means, count ≥ 1, however small."""
    tails = gammainc(count, means)
    is_tiny = tails <= 1e-250  # and has lost digits
    of_large = np.log1p(-np.minimum(gammaincc(count, means), 0.5))
    log_tails = np.where(tails < 0.5, np.log(np.where(is_tiny, 1.0, tails)), of_large)

    # Far below the count the terms of Pr(Z = count + k) fall fast
    tiny = means[is_tiny]
    terms = np.cumprod(tiny[:, None] / (count + np.arange(1, 64)), axis=1)
    log_tails[is_tiny] = count * np.log(tiny) - tiny - math.lgamma(count + 1) + np.log1p(terms.sum(axis=1))
    return log_tails


@dataclass(frozen=True, kw_only=True)
class PoissonGamma(MonotoneMechanism, TwoCellSynthesizer):
    """Pr(m1 | n1) ∝ BetaBinomial(m1; m, a + n1, a + n0) ω^m1, n0 = n − n1: Poisson counts with gamma rates, given m.

    The count n_c of cell c is Poisson with a rate λ_c ~ Gamma(a, a/μ_c), whose mean is the public guess μ_c: μ_1 = nπ
    and μ_0 = n(1 − π). Given n_c a further count is negative binomial with shape a + n_c and q_c = μ_c/(2μ_c + a), and
    ω = q_1/q_0. Given that the two add up to m they are a beta-binomial where π is ½, and else that one tilted.

    Notes
    -----
    The tilt makes the sum S(n1) that divides a row depend on the data, and this costs privacy beside the invented rows.
    With π ≤ ½ the loss is largest where the only one of n rows is published as m of m,
    ε = ln(1 + m/a) + ln(1 + (m − E)/y) − ln(1 + E/a), y = a + n − 1 and E the mean of the release that n − 1 zeros
    share; otherwise the same with ones and zeros exchanged. `invented` is the smallest a from which on that is ε at
    most. It lies between m/(e^ε − 1) and m/(e^{ε/2} − 1), because E is at most m a/(a + y).

    With x shared and invented ones and y such zeros, E is at most m x/(x + y) as well, so that nothing makes a table
    with more ones likelier than its neighbour by a factor above 1 + m/y. The other way, no other pair was found to lose
    more in a search of all of them for n up to 60; `worst_log_odds` looks at them all.

    Source: Quick (2021), for the model; its invented rows follow from the distribution.

    Examples
    --------
    >>> release = PoissonGamma(n=100, m=100, epsilon=1.0, public_share=0.2)
    >>> round(release.invented, 2), round(PoissonGamma(n=100, m=100, epsilon=1.0, public_share=0.5).invented, 2)
    (83.21, 58.2)
    >>> round(release.worst_log_odds().value, 11)
    1.0
    """

    key = "poisson_gamma"
    guess = "public_share"

    public_share: float = parameter_with_default(PUBLIC_GUESS)

    @property
    def invented(self) -> float:
        """Smallest a from which on ε is kept, rounded to the private side; 10⁻³⁰⁰ where any is enough."""
        return _invented(self.n, self.m, self.epsilon, self.public_share)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return _log_rows(self, self.n)[np.asarray(rows)[:, None], np.asarray(columns)[None, :]]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        pairs, j = np.asarray(pairs)[:, None], np.asarray(columns)[None, :]
        x, y = self.invented + np.arange(self.n), self.invented + np.arange(self.n)[::-1]
        growth = _log_growth(np.exp(_log_rows(self, self.n - 1)), x, y)
        return np.log1p((self.m - j) / y[pairs]) - np.log1p(j / x[pairs]) + growth[pairs]


@lru_cache(maxsize=8)
def _log_rows(release: PoissonGamma, n: int) -> FloatArray:
    """ln of the tilted distributions of m rows given 0 … n ones among n rows."""
    by_sum, by_column, _ = beta_binomial_terms(n, release.m, release.invented, release.invented)
    j = np.arange(release.m + 1)
    tilt = _tilt(release.n, release.public_share, release.invented)
    table = by_sum[np.arange(n + 1)[:, None] + j] + by_column + j * math.log(tilt)
    return table - logsumexp(table, axis=1)[:, None]


def _tilt(n: int, share: float, invented: float) -> float:
    """ω = q_1/q_0."""
    means = n * share, n * (1 - share)
    return means[0] * (2 * means[1] + invented) / (means[1] * (2 * means[0] + invented))


def _log_growth(shared: FloatArray, x: FloatArray | float, y: FloatArray | float) -> FloatArray:
    """ln S(x + 1)/S(x), S relative to that of no tilt: (1 + E/x) / (1 + (m − E)/y), E the mean of what is shared."""
    j = np.arange(shared.shape[-1])
    upper, lower = shared @ j / x, shared @ j[::-1] / y  # either may be nearly nothing
    return np.log1p((upper - lower) / (1 + lower))


@lru_cache(maxsize=1024)
def _invented(n: int, m: int, epsilon: float, share: float) -> float:
    """Last prior at which the only row of the rarer kind has the loss ε, from the release that the others make."""
    rarer, j = min(share, 1 - share), np.arange(m)

    def excess(log_prior: float) -> float:
        x, y = math.exp(log_prior), math.exp(log_prior) + (n - 1)
        log_shared = cumulative_sum(np.log((m - j) * (x + j) * _tilt(n, rarer, x) / ((j + 1) * (y + (m - 1 - j)))))
        shared = np.exp(log_shared - log_sum_exp(log_shared, axis=0))
        loss = math.log1p(m / x) - float(_log_growth(shared, x, y))
        return loss - epsilon * (1 - 1e-13)  # a loss may be below the real one by rounding

    # Where ε is large the loss may rise with the prior for a while, as the tilt does
    low, high = (max(m * inverse_expm1(epsilon / part), PRIOR_ONES.minimum) for part in (1, 2))
    grid = np.linspace(math.log(low), math.log(2 * high), 65)
    exceeding = [place for place, log_prior in enumerate(grid[:-1]) if excess(log_prior) > 0]
    if not exceeding:
        return low
    return math.exp(brentq(excess, grid[exceeding[-1]], grid[exceeding[-1] + 1], xtol=1e-300, rtol=1e-15))
