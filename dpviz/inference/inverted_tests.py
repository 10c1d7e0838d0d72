"""Intervals that hold at every p by construction: they invert tests of the exact distribution of the counts' sum."""

from collections.abc import Callable

import numpy as np

from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference._roots import falling_roots
from dpviz.inference.interval_rules import Ends
from dpviz.inference.sum_distribution import ReleaseSums

SAFE = 1e-12  # What every tail is taken to be larger than computed: more than all rounding of a tail or of an end
TEST_GRID_POINTS = 65  # Proportions between which the ends are bracketed
END_TOLERANCE = 1e-13  # How near an end is found; it is then moved outwards by as much


def equal_tailed_ends(sums: ReleaseSums, level: float) -> Ends:
    """For every S the p with Pr(S' ≥ S | p) > (1 − level)/2 and Pr(S' ≤ S | p) > (1 − level)/2.

    Where the rows of the synthesizer are not stochastically ordered, each tail is replaced by the smallest monotone
    bound from above, so that the interval holds the hull of those p. A sum that is too extreme for every p gives the
    one point 0 or 1. Ends lie outside the exact ones, by 1e-12 of probability: coverage is at least the level.
    Source: Clopper & Pearson (1934), for the binomial distribution without privacy.

    >>> low, high = equal_tailed_ends(ReleaseSums(np.eye(11)), 0.95)
    >>> [round(float(end), 6) for end in (low[0], high[0], low[10], high[10])]
    [0.0, 0.308497, 0.691503, 1.0]
    """
    return _both_ends(sums, lambda side: _equal_tailed_low(side, (1 - level) / 2))


def blaker_ends(sums: ReleaseSums, level: float) -> Ends:
    """For every S the hull of the p with Pr(t(S') ≤ t(S) | p) > 1 − level, where t(s) is the smaller tail of s under p.

    With t(S) = Pr(S' ≥ S | p) that probability is t(S) + Pr(S' ≤ s* | p), s* the largest sum whose lower tail is no
    more than t(S). It lies inside the interval of `equal_tailed_ends`, is as safe, and bounds the tails likewise; where
    the two tails together do not fall and then rise in p, the end is that of the equal tails, beyond the hull.
    Source: Blaker (2000), for the binomial distribution; Sterne (1954) orders by the probability itself.

    >>> low, high = blaker_ends(ReleaseSums(np.eye(11)), 0.95)
    >>> [round(float(end), 4) for end in (low[1], high[1])]  # Clopper and Pearson have 0.0025 and 0.4450
    [0.0051, 0.4444]
    """
    return _both_ends(sums, lambda side: _blaker_low(side, 1 - level))


def _both_ends(sums: ReleaseSums, lower: Callable[[ReleaseSums], FloatArray]) -> Ends:
    """Lower ends by `lower`, upper ones by the same of zeros in place of ones; releases that fall as x rises turned."""
    columns = np.arange(sums.rows.shape[1])
    if sums.rows[-1] @ columns < sums.rows[0] @ columns:
        low, high = _both_ends(ReleaseSums(np.ascontiguousarray(sums.rows[:, ::-1]), sums.rounding), lower)
        return low[::-1], high[::-1]
    low = lower(sums)
    alike = np.abs(sums.rows - sums.mirrored.rows).sum(axis=1).max() <= SAFE / 10  # ones and zeros are treated alike
    high = 1 - (low if alike else lower(sums.mirrored))[::-1]
    return np.minimum(low, 1.0), np.maximum(high, low)


def _equal_tailed_low(sums: ReleaseSums, tail: float) -> FloatArray:
    """Return the largest p up to which Pr(S' ≥ S | p) ≤ tail: 0 where none is, 1 where all are."""
    tails, target = sums.at_least, tail - SAFE
    on_grid = np.sin(np.linspace(0, np.pi / 2, TEST_GRID_POINTS)) ** 2
    values = binomial_weights(on_grid, sums.n) @ tails.T
    place = (values <= target).sum(axis=0)  # monotone along the grid
    low = np.where(place == 0, 0.0, 1.0)
    open_sums = np.flatnonzero((place > 0) & (place < len(on_grid)))
    bracket = place[open_sums]
    low[open_sums] = crossing(tails[open_sums], np.full(len(open_sums), target), on_grid[bracket - 1], on_grid[bracket])
    return low


def _blaker_low(sums: ReleaseSums, size: float) -> FloatArray:
    """Return the largest p up to which Blaker's test of `size` rejects S for its upper tail."""
    # From the equal-tailed end on, where the upper tail G is about size/2, s* stays the same until p reaches the point
    # where the lower tail of the next sum equals G; there the test accepts. So the end lies between, where G and the
    # lower tail of s* together pass `size`, or at that point. They pass once if their coefficients fall and then rise.
    low = _equal_tailed_low(sums, size / 2)
    upper, lower = sums.at_least, sums.at_most
    some = np.flatnonzero((low > 0) & (low < 1) | (low == 0) & (upper[:, 0] < 0.5))  # others: every p, or none
    if not len(some):
        return low
    start = low[some]
    weights = binomial_weights(start, sums.n)
    tail = np.einsum("sx,sx->s", weights, upper[some])
    partner = _last_below(lower, weights, tail, some)
    found = np.ones(len(some))
    has_next = partner + 1 < some
    following = np.where(has_next, partner + 1, 0)
    apart = upper[some] - lower[following]
    has_next &= apart[:, -1] > -SAFE  # the two tails meet at some p ≤ 1
    meet = np.flatnonzero(has_next)
    found[meet] = crossing(apart[meet], np.full(len(meet), -SAFE), start[meet], np.ones(len(meet)))
    together = upper[some] + np.where((partner >= 0)[:, None], lower[np.maximum(partner, 0)], 0.0)
    target = size - SAFE
    passes = np.einsum("sx,sx->s", binomial_weights(found, sums.n), together) > target
    inner = np.flatnonzero(passes)
    found[inner] = crossing(together[inner], np.full(len(inner), target), start[inner], found[inner])
    at_start = np.einsum("sx,sx->s", weights, together) > target
    change = np.diff(together, axis=1)
    falls_again = (np.maximum.accumulate(change > SAFE, axis=1) & (change < -SAFE)).any(axis=1)
    low[some] = np.where(at_start | falls_again, start, found)
    return low


def _last_below(lower: FloatArray, weights: FloatArray, tail: FloatArray, sums: IntArray) -> IntArray:
    """For each S the largest s < S whose lower tail, at the p of `weights`, is at most `tail`; −1 where none is."""
    first, last = np.full(len(sums), -1), sums - 1
    while (first < last).any():
        middle = (first + last + 1) // 2
        value = np.einsum("sx,sx->s", weights, lower[np.maximum(middle, 0)])
        below = (value <= tail) | (middle < 0)
        first, last = np.where(below, middle, first), np.where(below, last, middle - 1)
    return first


def crossing(table: FloatArray, target: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """For each row the p in [low, high] up to which Σ_x Binomial(x; n, p) row_x ≤ target, from below and to 1e-13.

    The value passes the target once.
    """
    n = table.shape[1] - 1
    x = np.arange(n + 1)

    def room(rows: IntArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        terms = binomial_weights(p, n)
        terms *= table[rows]
        value = terms.sum(axis=1)
        slope = (terms @ x - n * p * value) / np.maximum(p * (1 - p), 1e-300)
        return target[rows] - value, -slope

    return np.maximum(falling_roots(room, low, high, low, END_TOLERANCE) - END_TOLERANCE, low)
