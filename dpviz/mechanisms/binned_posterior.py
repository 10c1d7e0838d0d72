"""SDD: draw the proportion from a posterior in public bins by the exponential mechanism, then the rows from it."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincc, betaln, logsumexp

from dpviz.core import limits
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.sums import log_binomials, log_sums
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.noise import NOISE_EPSILON

# Bounds of a proportion, between which its posterior has at least some density.
LOWEST_PROPORTION, HIGHEST_PROPORTION = 0.05, 0.95
BINS = 100
BIN_ENDS = np.linspace(LOWEST_PROPORTION, HIGHEST_PROPORTION, BINS + 1)
BIN_MIDDLES = (BIN_ENDS[1:] + BIN_ENDS[:-1]) / 2
BIN_LOGITS = np.log(BIN_MIDDLES) - np.log1p(-BIN_MIDDLES)
# Gauss–Legendre nodes of a bin, and rows for each of which one is added: the distribution of m rows is that steep.
NODES_PER_BIN, ROWS_PER_NODE = 16, 16
MIRRORED = 1e-12  # Relative difference of log-odds that is rounding
SMALL_CHANGE = 0.5  # Change of a bin's ln weight up to which log-odds are taken as means of such changes
# Sum of products below which some of them may have underflowed, and factor that is nothing
SMALLEST_SUM, SLOW = 1e-250, 1e-290


@dataclass(frozen=True, kw_only=True)
class BinnedPosterior(TwoCellSynthesizer):
    """Pr(m1 | n1) = Σ_i w_i(n1) E[Binomial(m1; m, θ)], θ uniform in bin i of 100 from 0.05 to 0.95.

    w_i ∝ f(θ_i | n1)^{ε/(2Δ)}, f the posterior of a flat prior and θ_i the middle of the bin: the exponential mechanism
    with the score ln f. Δ = 2A is printed, A = sup |ln f|. But one row changes ln f far less than that: at n = 100 the
    bound is 2A = 580, and no row changes ln f by more than 5.6. So the bins are chosen nearly at random; the promise is
    kept, and next to nothing of the data is left. Source: Liu (2016), Algorithm 2 and Proposition 3.

    With several parameters each has bins of its own, B^p of them together, which ends at three or four parameters.

    >>> one = BinnedPosterior(n=100, m=100, epsilon=1)
    >>> round(one.sensitivity), round(1 / one.worst_log_odds().value)  # it uses 1/409 of its ε
    (580, 409)
    """

    key = "sdd"
    label = "Posterior in bins (SDD)"
    formula = (
        r"\Pr(\theta \in B_i) \propto f(\theta_i \mid n_1)^{\varepsilon/(4A)},\quad "
        r"\theta \sim \mathrm{Uniform}(B_i),\quad m_1 \sim \mathrm{Binomial}(m, \theta)"
    )
    source = "Liu (2016), Algorithm 2 and Proposition 3"
    compared_source = "Liu (2016), Algorithm 2 (SDD), Proposition 3"
    color = "slate"
    kept_by = opendp = ""
    moved_by: ClassVar[str] = "the draw of the proportion from bins between 0.05 and 0.95"
    several_sets = True
    releases = (
        "Each set cuts the posterior of the proportion into 100 bins from 0.05 to 0.95, chooses one of them by the "
        "exponential mechanism with its share of ε, draws the proportion evenly from it, and then the rows to be "
        "released."
    )
    finding = (
        "The printed sensitivity is about a hundred times what one of a hundred rows can change, so the bins are "
        "chosen nearly at random."
    )

    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MODIPS_ROWS)
    epsilon: float = parameter(NOISE_EPSILON)

    @property
    def sensitivity(self) -> float:
        """Δ, the most that one row is taken to change the ln of a bin's mass."""
        return 2 * log_density_bound(self.n)

    @property
    def power(self) -> float:
        """ε/(2Δ)."""
        return self.epsilon / (2 * self.sensitivity)

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """As of every synthesizer: a mixture over the bins, in each of which θ has its middle and a variance w²/12."""
        weights = np.exp(bin_log_weights(self.n, self.power))
        width = (HIGHEST_PROPORTION - LOWEST_PROPORTION) / BINS
        mean, square = weights @ BIN_MIDDLES, weights @ (BIN_MIDDLES**2 + width**2 / 12)
        return mean, square - mean**2 + (mean - square) / self.m

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self._of_columns(_transition, rows, columns)

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        return self._of_columns(_odds, pairs, columns)

    def _of_columns(
        self, table: Callable[["BinnedPosterior", int], FloatArray], rows: IntArray, columns: IntArray
    ) -> FloatArray:
        """Return parts of a table, which is computed whole, and kept, unless only its ends are asked for."""
        rows, columns = np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        if np.isin(columns, (0, self.m)).all():
            return table(self, self.m)[rows, columns // self.m]
        return table(self, 1)[rows, columns]

    def worst_log_odds(self) -> WorstCase:
        """As of every synthesizer; it is at an end, as the log-odds of neighbours rise with the released count.

        So they do of the bins, by rows, and of the rows, by bins; what both make is ordered alike (Karlin 1968).
        """
        ends = np.array([0, self.m])
        table = self.log_odds(np.arange(self.n), ends)
        sizes = np.abs(table)
        # Those of a pair and of its mirror image are the same, up to rounding: the first is named.
        pair, end = np.unravel_index(int(np.argmax(sizes >= (1 - MIRRORED) * sizes.max())), table.shape)
        first, second = (int(pair), int(pair) + 1)[:: -1 if table[pair, end] < 0 else 1]
        return WorstCase(float(sizes.max()), first, second, int(ends[end]))


@dataclass(frozen=True, kw_only=True)
class BinnedPosteriorExact(BinnedPosterior):
    """`BinnedPosterior` with the sensitivity that the score really has, by the ln f of all neighbours and bins.

    It keeps ε as well and uses more of it. The rest is spent on the normalizing constant of f, which is alike in all
    bins and chooses none of them, and hidden by the draw of the rows.

    >>> one = BinnedPosteriorExact(n=100, m=100, epsilon=1)
    >>> round(one.sensitivity, 1), round(one.worst_log_odds().value, 2)
    (5.6, 0.38)
    """

    key = "sdd_exact"
    label = "Posterior in bins (true sensitivity)"
    formula = (
        r"\Pr(\theta \in B_i) \propto f(\theta_i \mid n_1)^{\varepsilon/(2\Delta)},\quad "
        r"\theta \sim \mathrm{Uniform}(B_i),\quad m_1 \sim \mathrm{Binomial}(m, \theta)"
    )
    source = "Liu (2016), Algorithm 2, with the sensitivity of its score"
    compared_source = "Liu (2016), Algorithm 2 (SDD), with the sensitivity of its score"
    color = "crimson"
    kept_by = finding = opendp = ""
    releases = (
        "As the posterior in bins, with the most that one row can really change the logarithm of a bin's probability. "
        "It keeps the promise with far less noise."
    )

    @property
    def sensitivity(self) -> float:
        return _true_sensitivity(self.n)


def log_density_bound(n: int) -> float:
    """Return A = sup |ln f(θ | x)| of Propositions 3 and 4: n Bernoulli rows, a flat prior, θ from 0.05 to 0.95.

    >>> round(log_density_bound(100))
    290
    """
    mass = (
        (n + 1) * math.log(HIGHEST_PROPORTION) + math.log1p(-((LOWEST_PROPORTION / HIGHEST_PROPORTION) ** (n + 1)))
    ) - math.log(n + 1)
    return abs(n * math.log(LOWEST_PROPORTION) - mass)


def bin_log_ratios(n: int) -> FloatArray:
    """ln of each bin's posterior mass for x ones less that for x + 1, by the density at its middle; shape (n, bins)."""
    x = np.arange(n + 1)
    below, above = (
        np.array([betainc(x + 1, n - x + 1, end) for end in (LOWEST_PROPORTION, HIGHEST_PROPORTION)]),
        np.array([betaincc(x + 1, n - x + 1, end) for end in (LOWEST_PROPORTION, HIGHEST_PROPORTION)]),
    )
    mass = betaln(x + 1, n - x + 1) + np.log(np.maximum(below[1] - below[0], above[0] - above[1]))
    return -BIN_LOGITS - np.diff(-mass)[:, None]


@lru_cache(maxsize=1024)
def _true_sensitivity(n: int) -> float:
    return float(np.max(np.abs(bin_log_ratios(n))))


def bin_log_weights(n: int, power: float) -> FloatArray:
    """ln of the probability of each bin, its posterior mass to a power, for x = 0 … n; shape (n + 1, bins)."""
    weights = power * (np.arange(n + 1)[:, None] * BIN_LOGITS + n * np.log1p(-BIN_MIDDLES))
    weights -= log_sums(weights, axis=1)[:, None]
    return weights


@lru_cache(maxsize=8)
def _log_rows(m: int) -> FloatArray:
    """ln E[Binomial(j; m, θ)] with θ uniform in each bin, shape (bins, m + 1)."""
    places, weights = np.polynomial.legendre.leggauss(NODES_PER_BIN + m // ROWS_PER_NODE)
    j, ways, shares = np.arange(m + 1), log_binomials(m).total(), np.log(weights / 2)[:, None]
    found = np.empty((BINS, m + 1))
    for place, (low, high) in enumerate(itertools.pairwise(BIN_ENDS)):
        theta = (low + (high - low) * (1 + places) / 2)[:, None]
        found[place] = ways + log_sums(shares + j * np.log(theta) + (m - j) * np.log1p(-theta), axis=0)
    found.setflags(write=False)
    return found


def _summed(shares: FloatArray, drawn: FloatArray) -> FloatArray:
    """Σ over the bins, without the numbers next to the smallest, which are slow and add nothing."""
    found: FloatArray = np.where(shares < SLOW, 0.0, shares) @ np.where(drawn < SLOW, 0.0, drawn)
    return found


def _shares(release: BinnedPosterior, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """In every `step`-th column: probabilities of bins, and of rows from each, over their largest, and their sums."""
    weights, rows = bin_log_weights(release.n, release.power), _log_rows(release.m)[:, ::step]
    with np.errstate(under="ignore"):
        shares, drawn = np.exp(weights - weights.max(axis=1)[:, None]), np.exp(rows - rows.max(axis=0))
        return shares, drawn, _summed(shares, drawn)


@lru_cache(maxsize=8)
def _transition(release: BinnedPosterior, step: int) -> FloatArray:
    """ln Pr of all places, in every `step`-th column."""
    weights, rows = bin_log_weights(release.n, release.power), _log_rows(release.m)[:, ::step]
    sums = _shares(release, step)[2]
    with np.errstate(divide="ignore"):
        found: FloatArray = np.log(sums) + weights.max(axis=1)[:, None] + rows.max(axis=0)
    for x in np.flatnonzero((sums < SMALLEST_SUM).any(axis=1)):
        (columns,) = np.nonzero(sums[x] < SMALLEST_SUM)
        found[x, columns] = logsumexp(weights[x][:, None] + rows[:, columns], axis=0)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=8)
def _odds(release: BinnedPosterior, step: int) -> FloatArray:
    """Log-odds of all places, in every `step`-th column.

    Pr(x + 1)/Pr(x) is the mean of e^{d_i}, d_i the change of bin i's ln weight, over the bins given the release. Where
    all d_i are small, so is the mean of expm1(d_i), and it keeps the digits that a difference of two ln Pr would lose.
    """
    power = release.power
    if power * float(BIN_LOGITS[-1]) < SMALL_CHANGE:
        shares, drawn, sums = _shares(release, step)
        with np.errstate(under="ignore"):
            mean = np.log1p(np.exp(bin_log_weights(release.n, power)[:-1]) @ np.expm1(power * BIN_LOGITS))
            changes = np.expm1(power * BIN_LOGITS - mean[:, None])
            found: FloatArray = -np.log1p(shares[:-1] * changes @ drawn / sums[:-1])
    else:
        found = -np.diff(_transition(release, step), axis=0)
    found.setflags(write=False)
    return found
