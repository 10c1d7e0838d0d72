"""δ(ε) of the Beta-binomial in O(n + m): every neighbouring pair along one staircase, no matrix.

Write x = α + i and y = β + (n − 1 − i) for the pair of rows i and i + 1. Upward, the released counts that favour row
i + 1 by more than e^ε are those from a threshold t on, and the two tails differ by one term,

    Pr(m1 ≥ t | i+1) − Pr(m1 ≥ t | i) = D,   D = Pr(t | i) t / x,

so δ_i = D − (e^ε − 1) Pr(m1 ≥ t | i). The threshold never decreases in i, and each tail follows from the one before.
That loses digits as δ falls, so the pairs that matter are summed again with positive terms alone (`_stop_loss`).
"""

import math

import numpy as np

from dpviz.core.numerics.ends import LARGEST_EXPONENT, gain
from dpviz.core.numerics.worst_pair import largest_pairs
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms._stop_loss import log_delta_of_pairs
from dpviz.mechanisms.base import WorstCase
from dpviz.mechanisms.prior import PriorSynthesizer

# δ, or share of what it is the difference of, from which that difference keeps twelve digits and is the answer.
CLEAR_DELTA = 1e-4
SMALLEST_RANKED_DELTA = 1e-12  # δ from which the difference of tails still tells which pairs can be the worst
ROUNDING_SHARE = 1e-14  # What rounding may put on the difference of tails, relative to what was added to get them
SMALLEST_PRODUCT = 1e-290  # Smallest product that has kept its digits
FEW_PAIRS = 200  # Pairs up to which all are summed rather than searched


def worst_upward_pair(s: PriorSynthesizer, epsilon: float) -> WorstCase:
    """The largest Σ max(0, Pr(·|i+1) − e^ε Pr(·|i)) over i; the other direction is that of the mirrored release."""
    i = np.arange(s.n)
    x = s.alpha + i
    pairs = int(np.count_nonzero(s.m / x > gain(epsilon)))
    if pairs == 0:
        return WorstCase(0.0, 1, 0)
    if s.n == 1:
        return _largest_of(s, epsilon, i)
    x, y = x[:pairs], s.beta + ((s.n - 1) - i[:pairs])
    thresholds = np.floor(x * (s.m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)).astype(np.int64)
    thresholds = np.minimum(thresholds + 1, s.m)
    first_row = s.row(0)
    known = epsilon < 30 and first_row[thresholds[0]] > 1e-200
    if known and (found := _tail_differences(s, epsilon, thresholds, x, y, first_row)):
        estimate, added = found
        best = int(estimate.argmax())
        if estimate[best] > CLEAR_DELTA:
            return WorstCase(float(estimate[best]), best + 1, best)
        if estimate[best] > SMALLEST_RANKED_DELTA:
            noise = ROUNDING_SHARE * (1 + math.exp(epsilon) * added[best])
            (near,) = np.nonzero(estimate >= estimate[best] - noise)
            if len(near) == 1 and estimate[best] > CLEAR_DELTA * math.exp(epsilon) * added[best]:
                return WorstCase(float(estimate[best]), best + 1, best)
            return _largest_of(s, epsilon, near)
    return _largest_of(s, epsilon, i[:pairs])


def _tail_differences(
    s: PriorSynthesizer, epsilon: float, t: IntArray, x: FloatArray, y: FloatArray, first_row: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """δ_i of the leading pairs, and all that was added to get the tails along (0, t_0), (1, t_0), …, (1, t_1), …

    None where a number on the way would underflow and lose its digits.
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
    with np.errstate(over="ignore", under="ignore"):
        np.multiply.accumulate(path, out=path)
    if not (path.min() > SMALLEST_PRODUCT and path.max() < math.inf):
        return None
    difference = path[corner] * (t / x)
    gained, lost = np.empty(len(t)), np.zeros(len(columns) + 1)
    gained[0], gained[1:] = first_row[t[0] :].sum(), difference[:-1]
    np.add.accumulate(gained, out=gained)
    np.add.accumulate(path[passed], out=lost[1:])
    return difference - math.expm1(epsilon) * (gained - lost[width]), gained


def _largest_of(s: PriorSynthesizer, epsilon: float, pairs: IntArray) -> WorstCase:
    """The largest δ_i of the given pairs, however small; where they are many, of all pairs by branch and bound."""

    def log_delta(i: FloatArray, rest: FloatArray) -> FloatArray:
        return log_delta_of_pairs(s.alpha + i, s.beta + rest, s.m, epsilon)

    if len(pairs) > FEW_PAIRS:
        some = np.array([0.0, (s.n - 1) // 2, s.n - 1])
        scale = float(log_delta(some, s.n - 1 - some).max())
        if scale > -math.inf:
            pairs = largest_pairs(
                lambda i, rest: np.exp(np.minimum(log_delta(i, rest) - scale, LARGEST_EXPONENT)), s.n, 0.0, 0.0
            )
    values = log_delta_of_pairs(s.alpha + pairs, s.beta + (s.n - 1 - pairs), s.m, epsilon)
    best = int(values.argmax())
    return WorstCase(math.exp(values[best]), int(pairs[best]) + 1, int(pairs[best]))
