"""δ(ε), however small it is, of neighbouring beta-binomials or binomials, and the worst of n pairs.

Notes
-----
For P = BetaBinomial(m; x + 1, y) and Q = BetaBinomial(m; x, y + 1) the likelihood ratio is rational,
P(j) / Q(j) = (x + j) y / (x (y + m − j)), so that a count j adds P(j) times a number with the sign of j − τ::

    1 − e^ε Q(j) / P(j) = (j − τ) (y + x e^ε) / ((x + j) y),  τ = x (m e^ε + y (e^ε − 1)) / (y + x e^ε).

For the plug-ins, which draw with an estimated proportion, P = Binomial(m, (x + 1) / (x + y + 1)) and
Q = Binomial(m, x / (x + y + 1)), a count j adds P(j) (1 − e^{ε − L(j)}), with
L(j) = j ln(1 + 1/x) − (m − j) ln(1 + 1/y).

Only counts above a threshold add anything, and all they add is positive: a difference of two tails would lose every
digit of a small δ. The ratios r = P(j + 1) / P(j) only fall once they are below 1, so that what is left out after the
count j is at most P(j) r / (1 − r) times the largest factor.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpviz.core.numerics.special import stirling_remainder
from dpviz.core.types import FloatArray, IntArray, Numbers

RatiosAndFactors = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]


def log_delta_beta_binomial(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1).

    Parameters
    ----------
    x, y : ndarray of shape (pairs,)
        Ones and zeros that the neighbours share, those of the prior included; positive.
    m, epsilon : float or ndarray of shape (pairs,)

    Returns
    -------
    ndarray of shape (pairs,)
        −∞ where δ is 0.
    """
    m = m + 0 * x

    # The threshold τ, the first count above it, and its distance from τ, by the nearer end so that no digits cancel
    shrink, rest = np.exp(-epsilon), -np.expm1(-epsilon)
    both = y * shrink + x
    threshold = x / both * (m + y * rest)
    room = y * ((m * shrink - x * rest) / both)  # m − τ
    first = np.minimum(np.floor(threshold) + 1, m)
    distance = np.maximum(np.where(2 * threshold < m, first - threshold, room - (m - first)), 0.0)

    def terms(pairs: IntArray, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight = x[pairs, None] + j
        left = np.maximum(m[pairs, None] - j, 0.0)
        ratio = left * (weight + 1) / ((j + 1) * (y[pairs, None] + np.maximum(left - 1, 0.0)))
        return ratio, (distance[pairs, None] + (j - first[pairs, None])) / weight

    largest = (distance + (m - first)) / (x + m)
    log_mass = _log_beta_binomial(x + 1, y, first, m - first) + np.log(both) - np.log(y) + epsilon
    return np.minimum(_log_sum(first, terms, largest) + log_mass, 0.0)


def log_delta_binomial(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Binomial(m, (x + 1) / (x + y + 1)) against Binomial(m, x / (x + y + 1)).

    Parameters
    ----------
    x, y, m, epsilon
        As of `log_delta_beta_binomial`.
    """
    m = m + 0 * x

    # The first count whose log-odds exceed ε, and ε minus its log-odds: negative, unless δ is 0
    up, down = np.log1p(1 / x), np.log1p(1 / y)
    step = up + down
    first = np.minimum(np.floor((epsilon + m * down) / step) + 1, m)
    shortfall = epsilon - first * up + (m - first) * down

    def terms(pairs: IntArray, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = np.maximum(m[pairs, None] - j, 0.0) * (x[pairs, None] + 1) / ((j + 1) * y[pairs, None])
        passed = (j - first[pairs, None]) * step[pairs, None]
        return ratio, -np.expm1(np.minimum(shortfall[pairs, None] - passed, 0.0))

    total = x + y + 1
    log_mass = log_binomial((x + 1) / total, y / total, first, m - first)
    return np.minimum(_log_sum(first, terms, np.ones(len(x))) + log_mass, 0.0)


@lru_cache(maxsize=64)
def blocks_of_pairs(n: int) -> tuple[IntArray, IntArray]:
    """First and last pair of each block of 0 … n − 1; blocks near both ends are short, as δ changes fastest there.

    >>> [ends.tolist() for ends in blocks_of_pairs(9)]
    [[0, 1, 3, 6, 8], [0, 2, 5, 7, 8]]
    """
    widths = 2 ** np.arange(1, n.bit_length()) - 1
    first = np.unique(np.concatenate([[0], widths[widths < n // 2], n - widths[widths <= n // 2]]))
    return first, np.append(first[1:], n) - 1


def worst_pair(
    log_delta: Callable[[FloatArray, FloatArray], FloatArray], n: int, x: float, y: float
) -> tuple[float, int]:
    """Largest ln δ of the pairs i = 0 … n − 1, which share x + i ones and y + n − 1 − i zeros, and that pair.

    Parameters
    ----------
    log_delta : callable
        From the numbers of shared ones and of shared zeros to ln δ.
    n : int
    x, y : float
        Invented ones and zeros.

    Notes
    -----
    Branch and bound: more rows of either kind are never less private, so no pair of a block a ≤ i ≤ b has a larger δ
    than one that would share as few ones as pair a and as few zeros as pair b.
    """
    first, last = blocks_of_pairs(n)
    best, pair, rounding = -math.inf, 0, 1e-13
    while len(first):
        bounds = log_delta(x + first, y + (n - 1 - last))
        values = np.where(first == last, bounds, -math.inf)
        if values.max() > best + rounding:
            best = float(values.max())
            pair = int(first[np.argmax(values >= best - rounding)])  # the first of those that tie, as mirror images do

        # Halves of the blocks that may hold a larger one
        is_open = (first < last) & (bounds > best + rounding)
        first, last = first[is_open], last[is_open]
        middle = (first + last) // 2
        first, last = np.concatenate([first, middle + 1]), np.concatenate([middle, last])
    return best, pair


def log_binomial(p: Numbers, q: Numbers, successes: FloatArray, failures: FloatArray) -> FloatArray:
    """ln of the probability of `successes` and `failures` in as many draws, after Loader (2000); q is 1 − p.

    Parameters
    ----------
    p, q : float or ndarray
    successes, failures : ndarray
        Not necessarily whole numbers.
    """
    total = successes + failures
    difference = successes * q - failures * p
    counts = np.array([successes, failures])
    deviances = _deviance(counts, np.array([total * p, total * q]), np.array([difference, -difference]))

    # ln Γ(z + 1) − z ln z + z of all three, from Γ(z + 1) itself
    counts = np.maximum(np.array([total, *counts]), 1e-300)
    remainders = stirling_remainder(counts + 1) + counts * np.log1p(1 / counts) + 0.5 * np.log1p(counts)
    remainders += 0.5 * math.log(2 * math.pi) - 1
    return remainders[0] - remainders[1] - remainders[2] - deviances.sum(axis=0)


def _log_beta_binomial(a: FloatArray, b: FloatArray, successes: FloatArray, failures: FloatArray) -> FloatArray:
    """ln of the BetaBinomial(successes + failures; a, b) probability of `successes`.

    With s of m draws, T = a + b and any p it is Bin(m, p) at s times Bin(T, p) at a over Bin(T + m, p) at a + s, times
    (1 + m/T) / ((1 + s/a) (1 + f/b)) with f = m − s. With p = (a + s) / (T + m) no large numbers cancel.
    """
    total, m = a + b, successes + failures
    p, q = (a + successes) / (total + m), (b + failures) / (total + m)
    counts = np.array([[successes, a, a + successes], [failures, b, b + failures]])
    draws, prior, sums = log_binomial(p, q, *counts)
    return draws + prior - sums + np.log1p(m / total) - np.log1p(successes / a) - np.log1p(failures / b)


def _deviance(s: FloatArray, t: FloatArray, difference: FloatArray) -> FloatArray:
    """s ln(s / t) + t − s ≥ 0; `difference` is s − t, which is known to more digits than its parts."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = difference / t
        near = t * ((1 + relative) * np.log1p(relative) - relative)
        far = np.where(s > 0, s * np.log(s / t), 0.0) - difference
    return np.where(np.abs(relative) < 0.5, near, far)


def _log_sum(first: FloatArray, terms: RatiosAndFactors, largest: FloatArray) -> FloatArray:
    """ln Σ mass · factor over the counts from `first` on, in units of the first mass; infinite where δ is about 1.

    `terms` returns, for pairs and counts, ratios of neighbouring masses and factors, none above `largest`. A sum
    overflows where the first count lies 37 standard deviations below the mode: all of the distribution counts then.
    """
    total = np.zeros(len(first))
    pairs, column, mass, width = np.arange(len(first)), first, np.ones(len(first)), 64
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        while len(pairs):
            width = max(8, min(width, 32_768 // len(pairs)))  # few enough numbers for the processor's cache
            masses = np.empty((len(pairs), width + 1))
            masses[:, 0] = mass
            masses[:, 1:], factor = terms(pairs, column[:, None] + np.arange(width))
            last_ratio = masses[:, -1].copy()
            np.multiply.accumulate(masses, axis=1, out=masses)
            mass = masses[:, -1]
            total[pairs] += np.einsum("ij,ij->i", masses[:, :-1], factor)

            # The pairs whose remaining terms may still matter
            sums = total[pairs]
            is_done = (last_ratio < 1) & (mass / (1 - last_ratio) * largest[pairs] <= 1e-17 * sums)
            is_open = ~is_done & (mass > 0) & np.isfinite(sums)
            pairs, column, mass = pairs[is_open], column[is_open] + width, mass[is_open]
            width = min(2 * width, 8192)
        return np.where(np.isnan(total), math.inf, np.log(total))
