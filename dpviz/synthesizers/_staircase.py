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

from dpviz.synthesizers.base import WorstCase
from dpviz.types import FloatArray, IntArray

if TYPE_CHECKING:
    from dpviz.synthesizers.beta_binomial import BetaBinomial

EXACT = 1e-4
"""δ from which the difference of tails keeps twelve digits and is the answer."""

RANKED = 1e-9
"""δ from which the difference of tails still tells which pairs can be the worst."""

NOISE = 1e-13
"""What rounding may put on the difference of tails."""


def worst_upward_pair(s: BetaBinomial, epsilon: float) -> WorstCase:
    """The largest Σ max(0, Pr(·|i+1) − e^ε Pr(·|i)) over i; the other direction is that of the mirrored release."""
    x, y = s.alpha + np.arange(s.n), s.beta + ((s.n - 1) - np.arange(s.n))
    favoured = np.flatnonzero(s.m / x > _expm1(epsilon))
    if len(favoured) == 0:
        return WorstCase(0.0, 1, 0)
    pairs = int(favoured[-1]) + 1
    x, y = x[:pairs], y[:pairs]
    thresholds = np.floor(x * (s.m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)).astype(np.int64)
    thresholds = np.minimum(thresholds + 1, s.m)
    first_row = s.row(0)
    if epsilon < 30 and first_row[thresholds[0]] > 1e-200:
        estimate = _tail_differences(s, epsilon, thresholds, x, y, first_row)
        best = int(estimate.argmax())
        if estimate[best] > EXACT:
            return WorstCase(float(estimate[best]), best + 1, best)
        if estimate[best] > RANKED:
            near = np.flatnonzero(estimate >= estimate[best] - NOISE)
            values = [_positive_sum(s, epsilon, int(i), int(thresholds[i])) for i in near]
            winner = int(np.argmax(values))
            return WorstCase(values[winner], int(near[winner]) + 1, int(near[winner]))
    return _race(s, epsilon, thresholds, x, y)


def _expm1(epsilon: float) -> float:
    return math.expm1(epsilon) if epsilon < 700 else math.inf


def _tail_differences(
    s: BetaBinomial, epsilon: float, t: IntArray, x: FloatArray, y: FloatArray, first_row: FloatArray
) -> FloatArray:
    """δ_i of the leading pairs as D − (e^ε − 1) Pr(m1 ≥ t | i).

    The cells on the path (0, t_0), (1, t_0), …, (1, t_1), (2, t_1), … follow from each other by one product; the
    tail at (i, t_i) gains D on the way down and loses the cells passed on the way right.
    """
    m, width = s.m, t - t[0]
    pairs = np.arange(len(t))
    rows = np.repeat(pairs[1:], np.diff(t))
    columns = np.arange(t[0], t[-1])
    corner, passed = pairs + width, rows + (columns - t[0])
    path = np.empty(len(pairs) + len(columns))
    path[0] = first_row[t[0]]
    path[corner[:-1] + 1] = ((x + t) / x * (y / (y + (m - t))))[:-1]
    room = m - columns
    path[passed + 1] = room * (s.alpha + (rows + columns)) / ((columns + 1) * (s.beta + (s.n - rows) + (room - 1)))
    np.cumprod(path, out=path)
    difference = path[corner] * (t / x)
    tails = np.empty(len(t))
    tails[0] = first_row[t[0] :].sum()
    lost = np.cumsum(np.concatenate([[0.0], path[passed]]))
    tails[1:] = tails[0] + np.cumsum(difference[:-1]) - lost[width[1:]]
    return difference - math.expm1(epsilon) * tails


def _positive_sum(s: BetaBinomial, epsilon: float, pair: int, threshold: int) -> float:
    """δ of one pair as a sum of positive terms."""
    j = np.arange(threshold, s.m + 1)
    log_odds = np.log1p(j / (s.alpha + pair)) - np.log1p((s.m - j) / (s.beta + (s.n - 1 - pair)))
    return float(s.row(pair + 1)[threshold:] @ -np.expm1(np.minimum(epsilon - log_odds, 0.0)))


def _race(s: BetaBinomial, epsilon: float, t: IntArray, x: FloatArray, y: FloatArray) -> WorstCase:
    """The largest δ_i, however small: pairs whose geometric bound is below a sum already made are left out.

    From the threshold on, Pr(j | i+1) falls at least as fast as it does at the threshold once it falls at all, and
    no gain 1 − e^{ε − L(j)} exceeds that at m.
    """
    log_scale = s._log_cells(np.arange(1, len(t) + 1), t)
    room = s.m - t
    step = room * (x + 1 + t) / ((t + 1.0) * (y + np.maximum(room - 1, 0)))
    log_tail = np.where(step < 1, log_scale - np.log1p(-np.minimum(step, 1 - 1e-12)), 0.0)
    log_bound = np.minimum(log_tail, 0.0) + np.log(-np.expm1(np.minimum(epsilon - np.log1p(s.m / x), -1e-300)))
    best, winner = -math.inf, 0
    for pair in np.argsort(-log_bound):
        if log_bound[pair] < best:
            break
        value = _log_positive_sum(s, epsilon, int(pair), int(t[pair]))
        if value > best:
            best, winner = value, int(pair)
    return WorstCase(math.exp(best), winner + 1, winner)


def _log_positive_sum(s: BetaBinomial, epsilon: float, pair: int, threshold: int) -> float:
    """Natural logarithm of δ of one pair, where the probabilities themselves may underflow."""
    j = np.arange(threshold, s.m + 1)
    log_odds = np.log1p(j / (s.alpha + pair)) - np.log1p((s.m - j) / (s.beta + (s.n - 1 - pair)))
    log_row = s._log_cells(np.array(pair + 1), j)
    top = float(log_row.max())
    with np.errstate(under="ignore"):
        total = float(np.exp(log_row - top) @ -np.expm1(np.minimum(epsilon - log_odds, 0.0)))
    return top + math.log(total) if total > 0 else -math.inf
