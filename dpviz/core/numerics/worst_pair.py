"""The worst pair of neighbours among n, without looking at all of them: branch and bound.

A pair of neighbours is known by the rows and invented rows that both tables share, x = α + i in the first cell and
y = β + (n − 1 − i) in the second. More of either is never less private (`dpviz.mechanisms.prior_mechanism`).
"""

from collections.abc import Callable

import numpy as np

from dpviz.core.types import FloatArray, IntArray

PAIRS_AT_ONCE = 48  # Pairs up to which all of them are looked at at once
AGREED = 1e-12  # Relative distance from the largest δ within which another pair counts as the worst too
PairDelta = Callable[[FloatArray, FloatArray], FloatArray]


def largest_log_convex(log_delta: PairDelta, log_weight: PairDelta, n: int, ones: float, zeros: float) -> int:
    """The pair i = 0 … n − 1 whose δ is the largest, or within `AGREED` of it; x = ones + i, y = zeros + n − 1 − i.

    Let ln δ_i − w_i be convex in i and w_i concave. Between a and b ln δ_i is at most the larger of ln δ_a and ln δ_b
    plus what w rises above its chord, nowhere more than twice as much as in the middle.
    """

    def weight(i: FloatArray) -> FloatArray:
        return log_weight(ones + i, zeros + (n - 1 - i))

    def look(i: IntArray) -> FloatArray:
        return log_delta(ones + i, zeros + (n - 1 - i))

    pairs = np.unique(np.append(pair_blocks(n)[0], n - 1))
    values = look(pairs)
    worst, best = int(pairs[values.argmax()]), float(values.max())
    first, last, at_first, at_last = pairs[:-1], pairs[1:], values[:-1], values[1:]
    while True:
        risen = 2 * weight((first + last) / 2) - weight(first) - weight(last)
        open_ = (last - first > 1) & (np.maximum(at_first, at_last) + np.maximum(risen, 0.0) > best + AGREED)
        if not open_.any():
            return worst
        first, last, at_first, at_last = (part[open_] for part in (first, last, at_first, at_last))
        middle = (first + last) // 2
        values = look(middle)
        if values.max() > best:
            worst, best = int(middle[values.argmax()]), float(values.max())
        first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
        at_first, at_last = np.concatenate([at_first, values]), np.concatenate([values, at_last])


def pair_blocks(n: int) -> tuple[IntArray, IntArray]:
    """First and last pair of blocks that are short at both ends of 0 … n − 1, where δ changes fastest."""
    if n <= PAIRS_AT_ONCE:
        return np.arange(n), np.arange(n)
    half = 2 ** np.arange(n.bit_length() - 1) - 1
    starts = np.unique(np.concatenate([half[half <= n // 2], n - half[half <= n // 2], [0]]))
    starts = starts[starts < n]
    return starts, np.append(starts[1:], n) - 1
