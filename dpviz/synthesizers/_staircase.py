"""δ(ε) of the Beta-binomial in O(n + m): every neighbouring pair along one staircase, no matrix.

Write x = α + i and y = β + (n − 1 − i) for the pair of rows i and i + 1. Upward, the released counts that favour row
i + 1 by more than e^ε are those from a threshold t on, and the two tails differ by one term,

    Pr(m1 ≥ t | i+1) − Pr(m1 ≥ t | i) = D,   D = Pr(t | i) t / x,

so δ_i = D − (e^ε − 1) Pr(m1 ≥ t | i). The threshold never decreases in i, and each tail follows from the one before.
That difference loses digits as δ falls, so it only finds the pairs that matter; those are then summed again with
positive terms alone, Σ_{j ≥ t} Pr(j | i+1) (1 − e^{ε − L(j)}).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpviz.synthesizers._sums import cumulative_sum
from dpviz.synthesizers.base import WorstCase
from dpviz.types import FloatArray, IntArray

if TYPE_CHECKING:
    from dpviz.synthesizers.beta_binomial import BetaBinomial

EXACT = 1e-4
"""δ, or share of what it is the difference of, from which that difference keeps twelve digits and is the answer."""

RANKED = 1e-12
"""δ from which the difference of tails still tells which pairs can be the worst."""

NOISE = 1e-14
"""What rounding may put on the difference of tails, relative to what was added to get them."""

BLOCK = 64
"""Factors multiplied together before the product is held as a logarithm."""

SMALLEST = 1e-290
"""Least product that has kept its digits."""

FEW = 6
"""Pairs that are summed one by one rather than all at once."""

STEPS = 16
"""Terms added between two looks at which pairs can still be the worst."""


def worst_upward_pair(s: BetaBinomial, epsilon: float) -> WorstCase:
    """The largest Σ max(0, Pr(·|i+1) − e^ε Pr(·|i)) over i; the other direction is that of the mirrored release."""
    i = np.arange(s.n)
    x = s.alpha + i
    pairs = int(np.count_nonzero(s.m / x > _expm1(epsilon)))
    if pairs == 0:
        return WorstCase(0.0, 1, 0)
    x, y = x[:pairs], s.beta + ((s.n - 1) - i[:pairs])
    thresholds = np.floor(x * (s.m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)).astype(np.int64)
    thresholds = np.minimum(thresholds + 1, s.m)
    first_row = s.row(0)
    if epsilon < 30 and first_row[thresholds[0]] > 1e-200:
        estimate, added = _tail_differences(s, epsilon, thresholds, x, y, first_row)
        best = int(estimate.argmax())
        if estimate[best] > EXACT:
            return WorstCase(float(estimate[best]), best + 1, best)
        if estimate[best] > RANKED:
            noise = NOISE * (1 + math.exp(epsilon) * added[best])
            (near,) = np.nonzero(estimate >= estimate[best] - noise)
            if len(near) == 1 and estimate[best] > EXACT * math.exp(epsilon) * added[best]:
                return WorstCase(float(estimate[best]), best + 1, best)
            return _race(s, epsilon, near, thresholds[near], x[near], y[near])
    return _race(s, epsilon, np.arange(pairs), thresholds, x, y)


def _expm1(epsilon: float) -> float:
    return math.expm1(epsilon) if epsilon < 700 else math.inf


def _tail_differences(
    s: BetaBinomial, epsilon: float, t: IntArray, x: FloatArray, y: FloatArray, first_row: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """δ_i of the leading pairs as D − (e^ε − 1) Pr(m1 ≥ t | i), and all that was added to get those tails.

    The cells on the path (0, t_0), (1, t_0), …, (1, t_1), (2, t_1), … follow from each other by one product; the
    tail at (i, t_i) gains D on the way down and loses the cells passed on the way right.
    """
    m, width = s.m, t - t[0]
    pairs = np.arange(len(t))
    rows = np.repeat(pairs[1:], t[1:] - t[:-1])
    columns = np.arange(t[0], t[-1])
    corner, passed = pairs + width, rows + (columns - t[0])
    path: FloatArray = np.empty(len(pairs) + len(columns))
    path[0] = first_row[t[0]]
    path[corner[:-1] + 1] = ((x + t) / x * (y / (y + (m - t))))[:-1]
    room = m - columns
    path[passed + 1] = room * (s.alpha + (rows + columns)) / ((columns + 1) * (s.beta + (s.n - rows) + (room - 1)))
    path = _running_product(path)
    difference = path[corner] * (t / x)
    gained, lost = np.empty(len(t)), np.zeros(len(columns) + 1)
    gained[0], gained[1:] = first_row[t[0] :].sum(), difference[:-1]
    np.add.accumulate(gained, out=gained)
    np.add.accumulate(path[passed], out=lost[1:])
    return difference - math.expm1(epsilon) * (gained - lost[width]), gained


def _running_product(factors: FloatArray) -> FloatArray:
    """Products of the first 1, 2, 3, … factors: block by block where one on the way would underflow and lose digits.

    Examples
    --------
    >>> round(float(_running_product(np.array([1e-200, 1e-200, 1e200, 1e200]))[-1]), 9)
    1.0
    """
    with np.errstate(over="ignore", under="ignore"):
        product: FloatArray = np.multiply.accumulate(factors)
        if product.min() > SMALLEST and product.max() < math.inf:
            return product
        blocks = -(-len(factors) // BLOCK)
        padded = np.ones(blocks * BLOCK)
        padded[: len(factors)] = factors
        inside = np.multiply.accumulate(padded.reshape(blocks, BLOCK), axis=1)
        if not (inside.min() > SMALLEST and inside.max() < math.inf):
            return np.exp(cumulative_sum(np.log(factors)).total()[1:])
        inside *= np.exp(cumulative_sum(np.log(inside[:-1, -1])).total())[:, None]
        return np.ravel(inside)[: len(factors)]


def _race(s: BetaBinomial, epsilon: float, pairs: IntArray, t: IntArray, x: FloatArray, y: FloatArray) -> WorstCase:
    """The largest δ_i of the given pairs, however small, from sums of positive terms.

    All pairs add their terms in step. What is still to come is at most the term at hand times 1 / (1 − r), r the ratio
    of the next term to it, and times the gain at m; a pair that cannot reach another's sum any more is left out.
    """
    log_scale = s._log_cells(pairs + 1, t)
    top = float(log_scale.max())
    term, total, column = np.exp(log_scale - top), np.zeros(len(pairs)), t
    most = -np.expm1(np.minimum(epsilon - np.log1p(s.m / x), 0.0))
    while len(pairs) > FEW:
        ratio = _next_ratio(s.m, column, x, y)
        with np.errstate(over="ignore", divide="ignore"):
            rest = np.where(ratio < 1, term / (1 - ratio), math.exp(min(-top, 700.0))) * most
        keep = total + rest >= total.max()
        if np.count_nonzero(keep) < len(pairs):
            pairs, t, column, x, y, term, total, most, rest = (
                part[keep] for part in (pairs, t, column, x, y, term, total, most, rest)
            )
        if rest.max() <= 1e-15 * total.max():
            best = int(np.argmax(total))
            pairs, t = pairs[best : best + 1], t[best : best + 1]
            break
        for _ in range(STEPS):
            log_odds = np.log1p(column / x) - np.log1p((s.m - column) / y)
            total = total + term * -np.expm1(np.minimum(epsilon - log_odds, 0.0))
            term = term * _next_ratio(s.m, column, x, y)
            column = np.minimum(column + 1, s.m)
    values = [_log_positive_sum(s, epsilon, int(pair), int(start)) for pair, start in zip(pairs, t, strict=True)]
    best = int(np.argmax(values))
    return WorstCase(math.exp(values[best]), int(pairs[best]) + 1, int(pairs[best]))


def _next_ratio(m: int, column: IntArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Pr(column + 1 | i+1) / Pr(column | i+1), 0 at the last column; it never rises once it is below 1."""
    room = m - column
    return np.where(room > 0, room * (x + 1 + column) / ((column + 1) * (y + np.maximum(room - 1, 0))), 0.0)


def _log_positive_sum(s: BetaBinomial, epsilon: float, pair: int, threshold: int) -> float:
    """Natural logarithm of Σ_{j ≥ t} Pr(j | i+1) (1 − e^{ε − L(j)}) of one pair, even where it underflows."""
    j = np.arange(threshold, s.m + 1)
    log_odds = np.log1p(j / (s.alpha + pair)) - np.log1p((s.m - j) / (s.beta + (s.n - 1 - pair)))
    log_row = s._log_cells(np.array(pair + 1), j)
    top = float(log_row.max())
    with np.errstate(under="ignore"):
        total = float(np.exp(log_row - top) @ -np.expm1(np.minimum(epsilon - log_odds, 0.0)))
    return top + math.log(total) if total > 0 else -math.inf
