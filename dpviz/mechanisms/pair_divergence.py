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
from scipy.special import rel_entr

from dpviz.core.numerics.special import stirling_remainder
from dpviz.core.types import FloatArray, IntArray, Numbers

RatiosAndFactors = Callable[..., tuple[FloatArray, FloatArray]]


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
    # The first count above the threshold τ, and its distance from τ
    shrink, rest = np.exp(-epsilon), -np.expm1(-epsilon)
    both = y * shrink + x
    share = x / both
    first = np.minimum(np.floor(share * (m + y * rest)) + 1, m)
    left = m - first
    distance = np.maximum(y * ((first * shrink - x * rest) / both) - share * left, 0.0)

    def terms(k: IntArray, *columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        weight, first, left, y, distance = columns
        weight = weight + k
        left = np.maximum(left - k, 0.0)
        return left * (weight + 1) / ((first + (k + 1)) * (y + np.maximum(left - 1, 0.0))), (distance + k) / weight

    log_sum = _log_sum(terms, (distance + left) / (x + m), x + first, first, left, y, distance)
    log_mass = log_beta_binomial(x + 1, y, first, left)
    return np.minimum(log_sum + log_mass + (np.log(both) - np.log(y) + epsilon), 0.0)


def log_delta_binomial(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Binomial(m, (x + 1) / (x + y + 1)) against Binomial(m, x / (x + y + 1)).

    Parameters
    ----------
    x, y, m, epsilon
        As of `log_delta_beta_binomial`.
    """
    # The first count whose log-odds exceed ε, and ε minus its log-odds: negative, unless δ is 0
    up, down = np.log1p(1 / x), np.log1p(1 / y)
    first = np.minimum(np.floor((epsilon + m * down) / (up + down)) + 1, m)
    left = m - first
    shortfall = epsilon - first * up + left * down

    def terms(k: IntArray, *columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        x, y, first, left, shortfall, step = columns
        ratio = np.maximum(left - k, 0.0) * (x + 1) / ((first + (k + 1)) * y)
        return ratio, -np.expm1(np.minimum(shortfall - k * step, 0.0))

    total = x + y + 1
    log_sum = _log_sum(terms, np.ones(len(x)), x, y, first, left, shortfall, up + down)
    return np.minimum(log_sum + log_binomial((x + 1) / total, y / total, first, left), 0.0)


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
    while True:
        bounds = log_delta(x + first, y + (n - 1 - last))
        is_block = first < last
        values = np.where(is_block, -math.inf, bounds)
        if values[largest := values.argmax()] > best + rounding:
            best = float(values[largest])
            pair = int(first[(values >= best - rounding).argmax()])  # the first of those that tie, as mirror images do

        # Halves of the blocks that may hold a larger one
        is_open = is_block & (bounds > best + rounding)
        if not is_open.any():
            return best, pair
        first, last = first[is_open], last[is_open]
        middle = (first + last) // 2
        first, last = np.concatenate([first, middle + 1]), np.concatenate([middle, last])


def log_binomial(p: Numbers, q: Numbers, successes: FloatArray, failures: FloatArray) -> FloatArray:
    """ln of the probability of `successes` and `failures` in as many draws, after Loader (2000); q is 1 − p.

    Parameters
    ----------
    p, q : float or ndarray
    successes, failures : ndarray
        Not necessarily whole numbers.
    """
    # counts · ln(counts / means), by the distance of the two where they are close
    total = successes + failures
    difference = successes * q - failures * p
    counts, means = np.array([successes, failures]), np.array([total * p, total * q])
    relative = np.array([difference, -difference]) / np.maximum(means, 1e-290)
    near = counts * np.log1p(np.maximum(relative, -0.5))
    growth = np.where(np.abs(relative) < 0.5, near, rel_entr(counts, means))

    # ln z! − z ln z + z of all three
    counts = np.maximum(np.array([total, successes, failures]), 1e-300)
    remainders = stirling_remainder(counts) + 0.5 * np.log(2 * math.pi * counts)
    return remainders[0] - remainders[1] - remainders[2] - growth[0] - growth[1]


def log_beta_binomial(a: FloatArray, b: FloatArray, successes: FloatArray, failures: FloatArray) -> FloatArray:
    """ln of the BetaBinomial(successes + failures; a, b) probability of `successes`.

    Parameters
    ----------
    a, b, successes, failures : ndarray

    Notes
    -----
    With s of m draws, T = a + b and any p it is Bin(m, p) at s times Bin(T, p) at a over Bin(T + m, p) at a + s, times
    (1 + m/T) / ((1 + s/a) (1 + f/b)) with f = m − s. With p = (a + s) / (T + m) no large numbers cancel.
    """
    up, down = a + successes, b + failures
    total = up + down
    counts = np.array([[successes, a, up], [failures, b, down]])
    draws, prior, sums = log_binomial(up / total, down / total, *counts)
    return draws + prior - sums + np.log(total / (a + b) * (a / up) * (b / down))


def _log_sum(terms: RatiosAndFactors, largest: FloatArray, *parameters: FloatArray) -> FloatArray:
    """ln Σ mass · factor over the counts from a first one on, in units of the first mass; infinite where δ is about 1.

    `terms` returns, from numbers k of counts above the first and columns of `parameters` of pairs, the ratios of
    neighbouring masses and the factors, none of which is above `largest`. A sum overflows where the first count lies 37
    standard deviations below the mode: all of the distribution counts then.
    """
    values = np.array(parameters)[..., None]
    total = np.zeros(len(largest))
    pairs, mass, start, width = np.arange(len(largest)), np.ones(len(largest)), 0, 64
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        while len(pairs):
            width = max(8, min(width, 32_768 // len(pairs)))  # few enough numbers for the processor's cache
            ratio, factor = terms(np.arange(start, start + width), *values)
            masses = np.empty((len(pairs), width + 1))
            masses[:, 0], masses[:, 1:] = mass, ratio
            np.multiply.accumulate(masses, axis=1, out=masses)
            total[pairs] = sums = total[pairs] + np.vecdot(masses[:, :-1], factor)

            # The pairs whose remaining terms, at most a geometric series, may still matter
            mass = masses[:, -1]
            is_open = mass * largest > (1 - ratio[:, -1]) * (1e-17 * sums)
            if not is_open.any():
                break
            pairs, mass, largest, values = pairs[is_open], mass[is_open], largest[is_open], values[:, is_open]
            start, width = start + width, min(2 * width, 8192)
        return np.where(np.isnan(total), math.inf, np.log(total))
