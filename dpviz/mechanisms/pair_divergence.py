"""δ(ε) of neighbouring beta-binomials, or binomials, however small, and the worst of n pairs.

Notes
-----
For P = BetaBinomial(m; x + 1, y) and Q = BetaBinomial(m; x, y + 1) the likelihood ratio is rational,
P(j) / Q(j) = (x + j) y / (x (y + m − j)), so that what a count j adds to δ is linear up to one positive factor::

    1 − e^ε Q(j) / P(j) = (j − τ) (y + x e^ε) / ((x + j) y),  τ = x (m e^ε + y (e^ε − 1)) / (y + x e^ε).

For the plug-ins, P = Binomial(m, (x + 1) / (x + y + 1)) and Q = Binomial(m, x / (x + y + 1)), a count j adds
P(j) (1 − e^{ε − L(j)}), with L(j) = j ln(1 + 1/x) − (m − j) ln(1 + 1/y).

Only counts above a threshold add anything, and all they add is positive: a difference of two tails would lose every
digit of a small δ. The ratios r of P never rise again once they are below 1, so that what is left out after the count j
is at most P(j) r / (1 − r) times the largest factor.
"""

import math
import sys
from collections.abc import Callable

import numpy as np

from dpviz.core.numerics.special import row_blocks, stirling_remainder
from dpviz.core.types import BoolArray, FloatArray, IntArray, Numbers

FIRST_COLUMNS = 64  # counts added at a time at first
MAX_CELLS = 1 << 15  # cells of pairs and counts that are held at a time, few enough for the processor's cache
MAX_PAIRS = 200  # pairs up to which all of them are summed at once
PAIR_TOLERANCE = 1e-9  # relative distance from the largest δ within which a block of pairs is not searched further

Pairs = IntArray | slice
RatiosAndFactors = Callable[[Pairs, FloatArray], tuple[FloatArray, FloatArray]]
PairDelta = Callable[[FloatArray, FloatArray], FloatArray]


def log_delta_beta_binomial(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1).

    Parameters
    ----------
    x, y : ndarray of shape (pairs,)
        Ones and zeros that the neighbours share, invented ones included; positive.
    m, epsilon : float or ndarray of shape (pairs,)

    Returns
    -------
    ndarray of shape (pairs,)
        −∞ where δ is 0.
    """
    m, epsilon = m + 0 * x, epsilon + 0 * x
    shrink, rest = np.exp(-epsilon), -np.expm1(-epsilon)
    surplus = m * shrink - x * rest
    if not (is_positive := surplus > 0).all():
        return _where(is_positive, log_delta_beta_binomial, x, y, m, epsilon)

    # The threshold τ, its distance from m, and the first count above it
    both = y * shrink + x
    threshold, room = x / both * (m + y * rest), y / both * surplus
    first = np.minimum(np.floor(threshold) + 1, m)
    is_last = first == m
    distance = np.where(2 * threshold < m, first - threshold, room - (m - first))
    distance = np.maximum(distance, 1e-17)  # where rounding leaves none
    gain = np.where(is_last, np.log(surplus), np.log(distance) + np.log(both) - np.log(y)) - np.log(x + first) + epsilon
    distance = np.where(is_last, 1.0, distance)

    def terms(pairs: Pairs, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        a, b, start = x[pairs, None], y[pairs, None], first[pairs, None]
        left = np.maximum(m[pairs, None] - j, 0.0)
        ratio = left * (a + 1 + j) / ((j + 1) * (b + np.maximum(left - 1, 0.0)))
        return ratio, (1 + (j - start) / distance[pairs, None]) * ((a + start) / (a + j))

    largest = (1 + (m - first) / distance) * ((x + first) / (x + m))
    log_mass = log_beta_binomial(x + 1, y, m, first)
    return np.minimum(_log_sum(first, terms, largest) + log_mass + gain, 0.0)


def log_delta_binomial(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Binomial(m, (x + 1) / (x + y + 1)) against Binomial(m, x / (x + y + 1)).

    Parameters
    ----------
    x, y, m, epsilon
        As of `log_delta_beta_binomial`.
    """
    m, epsilon = m + 0 * x, epsilon + 0 * x
    up = np.log1p(1 / x)
    if not (is_positive := m * up > epsilon).all():
        return _where(is_positive, log_delta_binomial, x, y, m, epsilon)

    # The first count whose log-odds exceed ε, and by how much they are off there
    down, total = np.log1p(1 / y), x + y + 1
    first = np.minimum(np.floor((epsilon + m * down) / (up + down)) + 1, m)
    missing, step = epsilon - first * up + (m - first) * down, up + down
    with np.errstate(over="ignore"):
        odds = np.minimum(x / y + 1 / y, sys.float_info.max)  # not inf, as 0 times it is 0 after the last count

    def terms(pairs: Pairs, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = np.maximum(m[pairs, None] - j, 0.0) * odds[pairs, None] / (j + 1)
        passed = (j - first[pairs, None]) * step[pairs, None]
        return ratio, -np.expm1(np.minimum(missing[pairs, None] - passed, 0.0))

    log_mass = log_binomial((x + 1) / total, y / total, m, first)
    return np.minimum(_log_sum(first, terms, np.ones(len(x))) + log_mass, 0.0)


def _where(is_positive: BoolArray, log_delta: Callable[..., FloatArray], *settings: FloatArray) -> FloatArray:
    """ln δ of the pairs with a positive one, −∞ of the others."""
    values = np.full(len(is_positive), -math.inf)
    if is_positive.any():
        values[is_positive] = log_delta(*(setting[is_positive] for setting in settings))
    return values


def blocks_of_pairs(n: int) -> tuple[IntArray, IntArray]:
    """First and last pairs of blocks of 0 … n − 1 that are short at both ends, where δ changes fastest.

    >>> [ends.tolist() for ends in blocks_of_pairs(9)]
    [[0, 1, 3, 6, 8], [0, 2, 5, 7, 8]]
    """
    widths = 2 ** np.arange(1, n.bit_length()) - 1
    first = np.unique(np.concatenate([[0], widths[widths < n // 2], n - widths[widths <= n // 2]]))
    return first, np.append(first[1:], n) - 1


def worst_pair(log_delta: PairDelta, n: int, x: float, y: float) -> tuple[float, int]:
    """Largest ln δ of the pairs i = 0 … n − 1, which share x + i ones and y + n − 1 − i zeros, and that pair.

    Parameters
    ----------
    log_delta : callable
        From arrays of ones and of zeros that pairs share to their ln δ.
    n : int
    x, y : float
        Invented ones and zeros.

    Returns
    -------
    log_delta : float
    pair : int

    Notes
    -----
    Branch and bound: more rows of either kind are never less private, so no pair of a block a ≤ i ≤ b has a larger δ
    than one that would share as few ones as pair a and as few zeros as pair b.
    """

    def of_blocks(first: IntArray, last: IntArray) -> FloatArray:
        return log_delta(x + first, y + (n - 1 - last))

    if n <= MAX_PAIRS:
        pairs = np.arange(n)
        values = of_blocks(pairs, pairs)
        return float(values.max()), int(values.argmax())

    # Halve the blocks that may hold a larger δ than the largest so far
    first, last = blocks_of_pairs(n)
    best, pair = -math.inf, 0
    while len(first):
        middle = (first + last) // 2
        starts, ends = np.concatenate([middle, first]), np.concatenate([middle, last])
        values, bounds = np.split(of_blocks(starts, ends), 2)
        if values.max() > best:
            best, pair = float(values.max()), int(middle[values.argmax()])
        is_open = (bounds > best + PAIR_TOLERANCE) & (last > first)
        first, middle, last = first[is_open], middle[is_open], last[is_open]
        first, last = np.concatenate([first, middle + 1]), np.concatenate([middle - 1, last])
        is_filled = first <= last
        first, last = first[is_filled], last[is_filled]
    return best, pair


def log_beta_binomial(a: FloatArray, b: FloatArray, m: Numbers, j: FloatArray) -> FloatArray:
    """ln of the BetaBinomial(m; a, b) probability of j, by Stirling's series, so that no large numbers cancel.

    Parameters
    ----------
    a, b, j : ndarray
    m : float or ndarray

    Notes
    -----
    With p = (a + j) / (a + b + m) the large parts are m KL(j/m ‖ p) + (a + b) KL(a/(a + b) ‖ p), each of four positive
    terms s ln(s / t) + t − s with the same |s − t|, as Loader (2000) has it for the binomial.
    """
    m = m + 0 * j
    total, zeros = a + b, m - j
    p, q = (a + j) / (total + m), (b + zeros) / (total + m)
    difference = (j * (b / total) - zeros * (a / total)) / (1 + m / total)  # j − m p
    observed, expected = np.array([j, zeros, a, b]), np.array([m * p, m * q, total * p, total * q])
    distance = _deviance(observed, expected, np.array([difference, -difference, -difference, difference])).sum(axis=0)
    remainders = _factorial_remainder(np.array([m, a + j, b + zeros, total, j, zeros, a, b, total + m]))
    remainder = remainders[:4].sum(axis=0) - remainders[4:].sum(axis=0)
    return remainder - distance + np.log1p(m / total) - np.log1p(j / a) - np.log1p(zeros / b)


def log_binomial(p: Numbers, q: Numbers, m: FloatArray, j: FloatArray) -> FloatArray:
    """ln of the Binomial(m, p) probability of j, after Loader (2000); q is 1 − p.

    Parameters
    ----------
    p, q : float or ndarray
    m, j : ndarray
    """
    zeros = m - j
    difference = j * q - zeros * p
    distance = _deviance(np.array([j, zeros]), np.array([m * p, m * q]), np.array([difference, -difference]))
    remainders = _factorial_remainder(np.array([m, j, zeros]))
    return remainders[0] - remainders[1] - remainders[2] - distance.sum(axis=0)


def _deviance(s: FloatArray, t: FloatArray, difference: FloatArray) -> FloatArray:
    """s ln(s / t) + t − s with s − t = `difference`, positive."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = difference / t
        near = t * ((1 + relative) * np.log1p(relative) - relative)
        far = np.where(s > 0, s * np.log(s / t), 0.0) - difference
    return np.where(np.abs(relative) < 0.5, near, far)


def _factorial_remainder(z: FloatArray) -> FloatArray:
    """ln Γ(z + 1) − z ln z + z."""
    with np.errstate(divide="ignore"):
        return np.where(z > 0, stirling_remainder(np.maximum(z, 1e-300)) + 0.5 * np.log(2 * math.pi * z), 0.0)


def _log_sum(first: FloatArray, terms: RatiosAndFactors, largest: FloatArray) -> FloatArray:
    """ln Σ mass · factor over the counts from `first` on, in units of the first mass; infinite where δ is about 1.

    `terms` returns, for pairs and counts, ratios of neighbouring masses and factors, none above `largest`. A sum
    overflows where the first count lies 37 standard deviations below the mode: all of the distribution counts then.
    """
    total = np.zeros(len(first))
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        for block in row_blocks(len(first), FIRST_COLUMNS, MAX_CELLS):
            pairs: Pairs = block
            column, width = first[block], FIRST_COLUMNS
            mass: FloatArray = np.ones(len(column))
            while len(mass):
                masses = np.empty((len(mass), width + 1))
                masses[:, 0] = mass
                masses[:, 1:], factor = terms(pairs, column[:, None] + np.arange(width))
                last_ratio = masses[:, -1].copy()
                np.multiply.accumulate(masses, axis=1, out=masses)
                mass = masses[:, -1]
                total[pairs] += np.einsum("ij,ij->i", masses[:, :-1], factor)

                # The pairs whose remaining terms may still matter
                sums = total[pairs]
                is_done = (last_ratio < 1) & (mass / (1 - last_ratio) * largest[pairs] <= 1e-17 * sums)
                (is_open,) = np.nonzero(~is_done & (mass > 0) & np.isfinite(sums))
                pairs = is_open + block.start if isinstance(pairs, slice) else pairs[is_open]
                mass, column = mass[is_open], column[is_open] + width
                width = min(2 * width, max(MAX_CELLS // max(len(mass), 1), FIRST_COLUMNS), 8192)
        return np.where(np.isnan(total), math.inf, np.log(total))
