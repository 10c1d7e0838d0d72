"""Poisson-gamma synthesis of counts with a fixed total: rates from gamma posteriors, drawn to a public guess."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from dpviz.core import limits
from dpviz.core.checked import declared
from dpviz.core.declarations import PUBLIC_GUESS, ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.ends import inverse_gain, private_side
from dpviz.core.numerics.sums import from_ratios
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.mechanisms.noise import NOISE_EPSILON
from dpviz.mechanisms.prior import PRIOR_ONES

PRIORS_TRIED = 65  # between the smallest that may keep ε and one that surely does
UNSEEN_LOSS = 1e-13  # Relative distance by which rounding may put a loss below the real one


@dataclass(frozen=True, kw_only=True)
class PoissonGamma(TwoCellSynthesizer):
    """Pr(m1 | n1) ∝ BetaBinomial(m1; m, a + n1, a + n0) ω^m1, n0 = n − n1: Poisson counts with gamma rates, given m.

    The count n_c of cell c is Poisson with a rate λ_c ~ Gamma(a, a/μ_c), whose mean is the public guess μ_c: μ_1 = nπ
    and μ_0 = n(1 − π). Given n_c a further count is negative binomial with shape a + n_c and q_c = μ_c/(2μ_c + a), and
    ω = q_1/q_0. Given that the two add up to m they are a beta-binomial where π is ½, and else that one tilted.

    The tilt makes the sum S(n1) that divides a row depend on the data, and this costs privacy beside the invented rows.
    With π ≤ ½ the loss is largest where the only one of n rows is published as m of m,
    ε = ln(1 + m/a) + ln(1 + (m − E)/y) − ln(1 + E/a), y = a + n − 1 and E the mean of the release that n − 1 zeros
    share; otherwise the same with ones and zeros exchanged. `invented` is the smallest a from which on that is ε at
    most. It lies between m/(e^ε − 1) and m/(e^{ε/2} − 1), because E is at most m a/(a + y).

    With x shared and invented ones and y such zeros, E is at most m x/(x + y) as well, so that nothing makes a table
    with more ones likelier than its neighbour by a factor above 1 + m/y. The other way, no other pair was found to lose
    more in a search of all of them for n up to 60; `worst_log_odds` looks at them all.

    Source: Quick (2021), for the model; its invented rows follow from the distribution.

    >>> one = PoissonGamma(n=100, m=100, epsilon=1.0, public_share=0.2)
    >>> round(one.invented, 2), round(PoissonGamma(n=100, m=100, epsilon=1.0, public_share=0.5).invented, 2)
    (83.21, 58.2)
    >>> round(one.worst_log_odds().value, 12)
    1.0
    """

    key = "poisson_gamma"
    label = "Poisson-gamma (public guess)"
    formula = (
        r"\lambda_c \mid n_c \sim \mathrm{Gamma}\!\left(a+n_c,\ 1+\tfrac{a}{\mu_c}\right),\quad "
        r"m_c \mid \lambda_c \sim \mathrm{Poisson}(\lambda_c)\ \text{given}\ m_1+m_2=m,\quad "
        r"\mu = n(\pi,\ 1-\pi)"
    )
    source = "Quick (2021), arXiv 1906.00455"
    color = "pine"
    kept_by = opendp = ""
    moved_by = "the pull of the invented rows towards the public guess"
    guess = "public_share"
    several_sets = True
    no_prior = "how many rows an ε lets it invent follows from its public guess as well"
    releases = (
        "Each set draws a rate of ones and a rate of zeros from their gamma posteriors, and then Poisson counts, given "
        "that they add up to the rows to be released. Before the data, the rates are expected to be a public guess of "
        "the counts. It invents as many rows as its share of ε asks for, and spends exactly that."
    )
    finding = (
        "A guess other than one half needs more invented rows than the beta-binomial: how much a table is drawn to the "
        "guess tells something about that table too."
    )

    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MODIPS_ROWS)
    epsilon: float = parameter(NOISE_EPSILON)
    public_share: float = declared(PUBLIC_GUESS)

    @property
    def invented(self) -> float:
        """The smallest a from which on ε is kept, rounded to the private side; of any that is enough, 10⁻³⁰⁰."""
        return _invented(self.n, self.m, self.epsilon, self.public_share)

    @property
    def tilt(self) -> float:
        """ω."""
        return _tilt(self.n, self.public_share, self.invented)

    def _log_table(self, others: int) -> tuple[FloatArray, FloatArray]:
        """ln of the tilted distributions of m rows given 0 … `others` ones of others, and ln of what divides each."""
        by_sum, by_column, by_row = beta_binomial_terms(others, self.m, self.invented, self.invented)
        i, j = np.arange(others + 1)[:, None], np.arange(self.m + 1)
        table = (by_sum[i + j] + by_column[j] + by_row[i]).total() + j * math.log(self.tilt)
        sums = logsumexp(table, axis=1)
        return table - sums[:, None], sums

    @cached_property
    def _growth(self) -> FloatArray:
        """ln S(x + 1)/S(x) for x = 0 … n − 1, S relative to that of no tilt.

        S(x + 1) and S(x) are sums of (1 + j/x′) and (1 + (m − j)/y′) over the release that the n − 1 shared rows make.
        """
        shared = np.exp(self._log_table(self.n - 1)[0])
        pairs = np.arange(self.n)
        return _log_growth(shared, self.invented + pairs, self.invented + (self.n - 1 - pairs))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return _log_rows(self)[np.asarray(rows)[:, None], np.asarray(columns)[None, :]]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        pairs, j = np.asarray(pairs)[:, None], np.asarray(columns)[None, :]
        ones, zeros = self.invented + pairs, self.invented + (self.n - 1 - pairs)
        return np.log1p((self.m - j) / zeros) - np.log1p(j / ones) + self._growth[pairs]

    def worst_log_odds(self) -> WorstCase:
        """At an end of what is released, as log-odds fall along it: the worst of all pairs there."""
        ends = np.array([0, self.m])
        table = self.log_odds(np.arange(self.n), ends)
        pair, end = divmod(int(np.abs(table).argmax()), len(ends))
        likelier, other = (pair + 1, pair) if table[pair, end] < 0 else (pair, pair + 1)
        return WorstCase(float(abs(table[pair, end])), likelier, other, int(ends[end]))


@lru_cache(maxsize=8)
def _log_rows(release: PoissonGamma) -> FloatArray:
    """ln of the whole matrix; no attribute of a release, which is a key of other caches."""
    return release._log_table(release.n)[0]


def _tilt(n: int, share: float, invented: float) -> float:
    ones, zeros = n * share, n * (1 - share)
    return ones * (2 * zeros + invented) / (zeros * (2 * ones + invented))


def _log_growth(shared: FloatArray, x: FloatArray | float, y: FloatArray | float) -> FloatArray:
    """ln of (1 + E/x) / (1 + (m − E)/y), E the mean of what is shared: 0 where that is the m x/(x + y) of no tilt."""
    j = np.arange(shared.shape[-1])
    ones, zeros = shared @ j / x, shared @ j[::-1] / y  # either may be nearly nothing
    return np.log1p((ones - zeros) / (1 + zeros))


def _largest_loss(n: int, m: int, share: float, invented: float) -> float:
    """The exact ε of a prior: that of the only row of the rarer kind, from the release that the others make."""
    rarer = min(share, 1 - share)
    ones, zeros, j = invented, invented + (n - 1), np.arange(m)
    ratios = (m - j) * (ones + j) * _tilt(n, rarer, invented) / ((j + 1) * (zeros + (m - 1 - j)))
    return math.log1p(m / ones) - float(_log_growth(from_ratios(ratios), ones, zeros))


@lru_cache(maxsize=1024)
def _invented(n: int, m: int, epsilon: float, share: float) -> float:
    low, high = (max(m * inverse_gain(epsilon / share), PRIOR_ONES.minimum) for share in (1, 2))

    def excess(log_prior: float) -> float:
        return _largest_loss(n, m, share, math.exp(log_prior)) - epsilon

    tried = np.linspace(math.log(low), math.log(high), PRIORS_TRIED)
    over = [place for place, log_prior in enumerate(tried[:-1]) if excess(log_prior) > 0]
    found = low  # where ε is large the loss may rise with the prior for a while, as the tilt does
    if over:
        found = math.exp(brentq(excess, tried[over[-1]], tried[over[-1] + 1], xtol=1e-300, rtol=1e-15))
    most = epsilon * (1 - UNSEEN_LOSS)
    return private_side(found, math.inf, lambda prior: _largest_loss(n, m, share, prior) <= most)
