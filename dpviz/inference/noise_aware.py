"""Rules of an analyst who knows how the sets were made: score, posterior, and two exact intervals from the sum S."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import ndtri

from dpviz.core.declarations import LEVEL, SETS
from dpviz.core.numerics.binomial_averages import evaluator
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference._roots import falling_roots
from dpviz.inference.beta_mixture import MixtureFamily
from dpviz.inference.interval_rules import RULE_FACTS, IntervalRule, Intervals, SetStatistics
from dpviz.inference.moments import release_moments
from dpviz.inference.posterior import log_prior_counts, normalized
from dpviz.inference.sum_distribution import ReleaseSums, release_sums, within_sums
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.mechanisms.plug_ins import PlugIn

MAX_SUMS = 20_000  # sums whose ends are found in a second
ROUNDING = 1e-12  # difference of q̄ and its mean, or of two such differences, that is rounding
SCORE_GRID = np.sin(np.linspace(0, np.pi / 2, 2001)) ** 2  # proportions that bracket the ends of score intervals
TAIL_SLACK = 1e-12  # by which exact tails are taken to be larger than computed: more than all rounding


def _score_ends(synthesizer: TwoCellSynthesizer, sets: int, level: float) -> Intervals:
    """Score intervals {p : (q̄ − E[q̄ | p])² ≤ z² Var(q̄ | p)} for q̄ = S/(Mm), S = 0 … Mm.

    Notes
    -----
    With μ_x and σ_x² the mean and variance of q in row x of the matrix, E[q̄ | p] = E[μ_x] and Var(q̄ | p) = E[σ_x²]/M +
    Var(μ_x) over x ~ Binomial(n, p). If μ_x is a line and σ_x² a parabola in x, as for the Beta-binomial and the
    plug-ins, the ends solve a quadratic equation. Else the interval is the hull of those p and of the p whose mean is
    nearest to q̄, which is alone where q̄ is too extreme for every p.

    Without privacy they are Wilson's (1927): the lower end of 10 of 10 is 10/(10 + z²).

    >>> from dpviz.mechanisms.matrix_mechanism import GivenMatrix
    >>> low, high = _score_ends(GivenMatrix(probabilities=np.eye(11)), 1, 0.95)
    >>> round(float(low[10]), 6), float(high[10])
    (0.722467, 1.0)
    """
    n, size = synthesizer.n, sets * synthesizer.m
    observed = np.arange(size + 1) / size
    z = float(ndtri((1 + level) / 2))
    mean, variance = release_moments(synthesizer, np.arange(n + 1))
    noise = variance / sets

    # E[q̄ | p] as a line and Var(q̄ | p) = c + b p + a p² as a parabola, by their values at p = 0, ½ and 1
    weights = binomial_weights(np.array([0.5]), n)[0]
    slope = mean[-1] - mean[0]
    a = min(2 * (noise[0] + noise[-1]) - 4 * weights @ (noise + (mean - weights @ mean) ** 2), 0.0)  # but for rounding
    b = noise[-1] - noise[0] - a
    c = noise[0]
    if not (isinstance(synthesizer, BetaBinomial | PlugIn) and slope):
        return _score_hull(mean, noise, observed, z)

    # Both roots, one from the sum that loses no digits and the other from their product
    distance = observed - mean[0]
    leading = slope**2 - z**2 * a
    constant = distance**2 - z**2 * c
    half = distance * slope + z**2 * b / 2
    inside = half**2 - leading * constant
    root = np.sqrt(np.maximum(inside, 0.0))
    larger = half + np.where(half >= 0, root, -root)
    first = np.where(inside < 0, distance / slope, larger / leading)
    with np.errstate(divide="ignore", invalid="ignore"):
        second = np.where(inside <= 0, first, np.where(larger == 0, 0.0, constant / larger))
    return Intervals(np.clip(np.minimum(first, second), 0.0, 1.0), np.clip(np.maximum(first, second), 0.0, 1.0))


def _score_hull(mean: FloatArray, noise: FloatArray, observed: FloatArray, z: float) -> Intervals:
    """Hulls of the accepted p for observed q̄, from E[q̄ | x] and Var(q̄ | x), by a grid and root finding."""
    if mean[-1] < mean[0]:  # releases that fall as x rises are turned
        low, high = _score_hull(mean[::-1], noise[::-1], observed, z)
        return Intervals(1 - high, 1 - low)
    center = mean.mean()
    averages = evaluator(np.column_stack([mean, noise + (mean - center) ** 2]))

    def moments(p: FloatArray) -> tuple[FloatArray, FloatArray]:
        means, squares = averages(p.ravel()).T.reshape(2, *p.shape)
        return means, np.maximum(squares - (means - center) ** 2, 0.0)

    def excess(p: FloatArray, q: FloatArray) -> FloatArray:
        """(q̄ − E)² − z² Var, not positive where p is accepted."""
        mean, variance = moments(p)
        value: FloatArray = (q - mean) ** 2 - z**2 * variance
        return np.where(np.abs(q - mean) <= ROUNDING, np.minimum(value, -(ROUNDING**2)), value)

    # Outermost points of the grid that are accepted, or whose mean is nearest
    means, variances = moments(SCORE_GRID)
    reach = np.sqrt(np.maximum(z**2 * variances, ROUNDING**2))
    last = len(SCORE_GRID) - 1
    outermost = np.empty((2, len(observed)), dtype=int)
    for block in row_blocks(len(observed), len(SCORE_GRID)):
        distance = np.abs(observed[block, None] - means)
        inside = distance <= np.maximum(reach, distance.min(axis=1, keepdims=True) + ROUNDING)
        outermost[:, block] = inside.argmax(axis=1), last - inside[:, ::-1].argmax(axis=1)
    inner = SCORE_GRID[outermost]
    outer = SCORE_GRID[np.clip(outermost + np.array([[-1], [1]]), 0, last)]
    q = np.broadcast_to(observed, inner.shape)
    is_accepted = excess(inner, q) <= 0

    # Intervals between two points: around the p whose mean is q̄
    if (np.diff(means) >= 0).all():
        cell = np.searchsorted(means, observed) - 1
        narrow = np.flatnonzero(~is_accepted.any(axis=0) & (cell >= 0) & (cell < last))
        bracket = SCORE_GRID[cell[narrow]], SCORE_GRID[cell[narrow] + 1]
        if len(narrow):
            inner[:, narrow] = find_root(lambda p, q: moments(p)[0] - q, bracket, args=(observed[narrow],)).x
            outer[:, narrow] = bracket
            is_accepted[:, narrow] = True

    # Ends between an accepted point and its neighbour
    is_open = is_accepted & (inner != outer)
    if is_open.any():
        bracket = inner[is_open], outer[is_open]
        ends = find_root(excess, bracket, args=(q[is_open],), tolerances={"xatol": 1e-14})
        inner[is_open] = np.where(ends.success, ends.x, bracket[0])
    return Intervals(*inner)


def _posterior_ends(sums: ReleaseSums, level: float) -> Intervals:
    """Equal-tailed intervals of the posterior of p given S, under a uniform prior, for S = 0 … Mm.

    Notes
    -----
    p | S is Σ_x w_x Beta(1 + x, 1 + n − x), w_x ∝ Pr(S | x) (Charest 2011, section 4, for the model). For one set, and
    for plug-ins, whose counts say no more than their sum, it is that of `posterior_given`; for several sets of another
    synthesizer it leaves a little out. Sums less likely than rounding take the interval of the nearest other.

    >>> low, high = _posterior_ends(ReleaseSums(np.eye(2)), 0.5)  # p | 1 is Beta(2, 1), whose quantiles are √q
    >>> [round(float(end), 6) for end in (low[1] ** 2, high[1] ** 2)]
    [0.25, 0.75]
    """
    x = np.arange(sums.n + 1)
    log_prior = log_prior_counts(x, sums.n, 1.0, 1.0)
    likely, nearest = _likely_sums(sums)
    low, high = np.empty((2, len(likely)))
    for block in row_blocks(len(likely), sums.n + 1):
        with np.errstate(divide="ignore"):
            weights = normalized(np.log(sums.rows.T[likely[block]]) + log_prior)
        family = MixtureFamily(a=1.0 + x, b=1.0 + x[::-1], weights=weights)
        low[block], high[block] = family.equal_tails(level)[:, :, 0]
    return Intervals(low[nearest], high[nearest])


def posterior_means(sums: ReleaseSums) -> FloatArray:
    """Posterior means (1 + E[x | S]) / (n + 2) for S = 0 … Mm, as in `_posterior_ends`.

    >>> posterior_means(ReleaseSums(np.eye(2))).round(9).tolist()  # Beta(1, 2) and Beta(2, 1)
    [0.333333333, 0.666666667]
    """
    likely, nearest = _likely_sums(sums)
    columns = sums.rows[:, likely]
    means: FloatArray = (1 + np.arange(sums.n + 1) @ columns / columns.sum(axis=0)) / (sums.n + 2)
    return means[nearest]


def _likely_sums(sums: ReleaseSums) -> tuple[IntArray, IntArray]:
    """Sums far more likely than rounding, and for every sum the place of the nearest of them."""
    likely = np.flatnonzero(sums.rows.max(axis=0) > 1e4 * sums.rounding)
    every = np.arange(sums.rows.shape[1])
    after = np.clip(np.searchsorted(likely, every), 0, len(likely) - 1)
    before = np.maximum(after - 1, 0)
    return likely, np.where(every - likely[before] < likely[after] - every, before, after)


def _clopper_pearson_ends(sums: ReleaseSums, level: float) -> Intervals:
    """Intervals {p : Pr(S' ≥ S | p) > (1 − level)/2 and Pr(S' ≤ S | p) > (1 − level)/2} for S = 0 … Mm.

    Notes
    -----
    Where the rows of the matrix are not stochastically ordered, each tail is replaced by the smallest monotone bound
    from above, so that the interval is the hull of those p. A sum too extreme for every p gives the one point 0 or 1.
    Intervals lie outside the exact ones, by 1e-12 of probability: coverage is at least the level.

    References
    ----------
    Clopper & Pearson (1934), for the binomial distribution without privacy.

    Examples
    --------
    >>> low, high = _clopper_pearson_ends(ReleaseSums(np.eye(11)), 0.95)
    >>> [round(float(end), 6) for end in (low[0], high[0], low[10], high[10])]
    [0.0, 0.308497, 0.691503, 1.0]
    """
    return _both_ends(sums, lambda side: _tail_ends(side, (1 - level) / 2))


def _blaker_ends(sums: ReleaseSums, level: float) -> Intervals:
    """Hulls of {p : Pr(t(S') ≤ t(S) | p) > 1 − level}, t(s) the smaller tail of s under p, for S = 0 … Mm.

    Notes
    -----
    With t(S) = Pr(S' ≥ S | p) that probability is t(S) + Pr(S' ≤ s* | p), s* the largest sum whose lower tail is at
    most t(S). The interval lies inside that of Clopper and Pearson, is as safe, and bounds the tails likewise; where
    the two tails together do not fall and then rise in p, the end is that of Clopper and Pearson. Blaker (2000) has
    them for the binomial distribution; Sterne (1954) orders by the probability itself.
    """
    return _both_ends(sums, lambda side: _blaker_lower_ends(side, 1 - level))


def _both_ends(sums: ReleaseSums, lower_ends: Callable[[ReleaseSums], FloatArray]) -> Intervals:
    """Lower ends, and upper ends as those of zeros in place of ones; releases that fall as x rises are turned."""
    columns = np.arange(sums.rows.shape[1])
    if sums.rows[-1] @ columns < sums.rows[0] @ columns:
        low, high = _both_ends(ReleaseSums(np.ascontiguousarray(sums.rows[:, ::-1]), sums.rounding), lower_ends)
        return Intervals(low[::-1], high[::-1])
    low = lower_ends(sums)
    is_symmetric = np.abs(sums.rows - sums.mirrored.rows).sum(axis=1).max() <= TAIL_SLACK / 10
    high = 1 - (low if is_symmetric else lower_ends(sums.mirrored))[::-1]
    return Intervals(np.minimum(low, 1.0), np.maximum(high, low))


def _tail_ends(sums: ReleaseSums, tail: float) -> FloatArray:
    """Largest p up to which Pr(S' ≥ S | p) ≤ tail: 0 where none is, 1 where all are."""
    tails = sums.at_least
    target = tail - TAIL_SLACK
    low = np.where(tails[:, 0] > target, 0.0, 1.0)
    some = (tails[:, 0] <= target) & (tails[:, -1] > target)
    low[some] = _crossing(tails[some], target, np.zeros(some.sum()), np.ones(some.sum()))
    return low


def _blaker_lower_ends(sums: ReleaseSums, size: float) -> FloatArray:
    """Largest p up to which Blaker's test of this size rejects S for its upper tail."""
    # From the end of Clopper and Pearson on, where the upper tail G is about size/2, s* stays the same until p reaches
    # the point where the lower tail of the next sum equals G; there the test accepts. So the end lies between, where G
    # and the lower tail of s* together pass the size, or at that point. They pass once if coefficients fall, then rise.
    low = _tail_ends(sums, size / 2)
    some = np.flatnonzero((low > 0) & (low < 1) | (low == 0) & (sums.at_least[:, 0] < 0.5))  # others: every p, or none
    if not len(some):
        return low
    start = low[some]
    upper = sums.at_least[some]
    below = np.vstack([np.zeros(sums.n + 1), sums.at_most])  # Pr(S' < s | x) for s = 0 … Mm + 1

    # s* + 1: the last sum below which is at most G, by bisection
    weights = binomial_weights(start, sums.n)
    tail = np.einsum("sx,sx->s", weights, upper)
    partner, last = np.zeros_like(some), some
    while (partner < last).any():
        middle = (partner + last + 1) // 2
        is_below = np.einsum("sx,sx->s", weights, below[middle]) <= tail
        partner, last = np.where(is_below, middle, partner), np.where(is_below, last, middle - 1)

    # Where the lower tail of the next sum equals G
    ends = np.ones(len(some))
    difference = upper - below[partner + 1]
    meet = np.flatnonzero((partner < some) & (difference[:, -1] > -TAIL_SLACK))  # the two tails meet at some p ≤ 1
    ends[meet] = _crossing(difference[meet], -TAIL_SLACK, start[meet], np.ones(len(meet)))

    # Where both tails together pass the size before
    both = upper + below[partner]
    target = size - TAIL_SLACK
    passes = np.flatnonzero(np.einsum("sx,sx->s", binomial_weights(ends, sums.n), both) > target)
    ends[passes] = _crossing(both[passes], target, start[passes], ends[passes])
    is_above = np.einsum("sx,sx->s", weights, both) > target
    change = np.diff(both, axis=1)
    falls_again = (np.maximum.accumulate(change > TAIL_SLACK, axis=1) & (change < -TAIL_SLACK)).any(axis=1)
    low[some] = np.where(is_above | falls_again, start, ends)
    return low


def _crossing(table: FloatArray, target: float, low: FloatArray, high: FloatArray) -> FloatArray:
    """For each row the p between `low` and `high` up to which Σ_x Binomial(x; n, p) row_x ≤ target, from below."""
    n = table.shape[1] - 1
    x = np.arange(n + 1)

    def room(rows: IntArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        terms = binomial_weights(p, n) * table[rows]
        value = terms.sum(axis=1)
        slope = (terms @ x - n * p * value) / np.maximum(p * (1 - p), 1e-300)
        return target - value, -slope

    return np.maximum(falling_roots(room, low, high, low) - 1e-13, low)  # outside the exact end


EndsBySum = Callable[[TwoCellSynthesizer, int, float], Intervals]
_sums = lru_cache(maxsize=2)(release_sums)  # tables of up to 48 MB each


@lru_cache(maxsize=64)
def _ends(by_sum: EndsBySum, synthesizer: TwoCellSynthesizer, sets: int, level: float) -> Intervals:
    ends = by_sum(synthesizer, sets, level)
    for end in ends:
        end.setflags(write=False)
    return ends


def _from_sums(ends: Callable[[ReleaseSums, float], Intervals]) -> EndsBySum:
    return lambda synthesizer, sets, level: ends(_sums(synthesizer, sets), level)


@dataclass(frozen=True, kw_only=True)
class NoiseAwareRule(IntervalRule):
    """Rule whose interval depends on the sum S and the synthesizer: `table` has the ends for S = 0 … Mm."""

    table: EndsBySum
    closed_form_for: tuple[type[Any], ...] = ()  # synthesizers for which no size is too large
    needs_no_sums_for: tuple[type[Any], ...] = ()  # synthesizers for which `MAX_SUMS` is the only limit
    is_noise_aware: ClassVar[bool] = True

    def ends(self, statistics: SetStatistics, level: float) -> Intervals:
        by_sum = self.by_sum(statistics.synthesizer, statistics.sets, level)
        return Intervals(*(np.where(statistics.within < 0, np.nan, end[statistics.total]) for end in by_sum))

    def is_feasible(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:
        if isinstance(synthesizer, self.closed_form_for):
            return True
        if sets * synthesizer.m > MAX_SUMS:
            return False
        return isinstance(synthesizer, self.needs_no_sums_for) or within_sums(synthesizer.n, synthesizer.m, sets)

    def by_sum(self, synthesizer: TwoCellSynthesizer, sets: int, level: float = 0.95) -> Intervals:
        """Lower and upper ends for S = 0 … Mm; a ValueError where the table of sums would be too large."""
        sets = SETS.validate(sets)
        level = LEVEL.validate(level)
        return _ends(self.table, synthesizer, sets, level)


_RULES = (
    NoiseAwareRule(
        **RULE_FACTS["score"],
        table=_score_ends,
        closed_form_for=(BetaBinomial, PlugIn),
        needs_no_sums_for=(NoiseSanitizer,),
    ),
    NoiseAwareRule(**RULE_FACTS["posterior"], table=_from_sums(_posterior_ends), estimates=posterior_means),
    NoiseAwareRule(**RULE_FACTS["clopper_pearson"], table=_from_sums(_clopper_pearson_ends)),
    NoiseAwareRule(**RULE_FACTS["blaker_2000"], table=_from_sums(_blaker_ends)),
)
NOISE_AWARE_RULES = {rule.key: rule for rule in _RULES}
"""Noise-aware rules by key, in the order on screen."""
