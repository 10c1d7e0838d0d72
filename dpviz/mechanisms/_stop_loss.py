"""δ(ε) of neighbouring Beta-binomials, or binomials, from the counts that matter, many pairs at once, however small.

For the distributions P = BetaBinomial(m; x + 1, y) and Q = BetaBinomial(m; x, y + 1) the likelihood ratio is rational,
P(j) / Q(j) = (x + j) y / (x (y + m − j)), so that what a count j adds to δ is linear up to one positive factor:

    1 − e^ε Q(j) / P(j) = (j − τ) (y + x e^ε) / ((x + j) y),  τ = x (m e^ε + y (e^ε − 1)) / (y + x e^ε).

Every term above τ is positive, and the ratios r of P never rise again once they are below 1: what is left out after the
column j is at most P(j) r / (1 − r) times the largest factor, that of j = m.

For the plug-ins, P = Binomial(m, (x + 1) / (x + y + 1)) and Q = Binomial(m, x / (x + y + 1)), a count j adds
P(j) (1 − e^{ε − L(j)}) to δ, with L(j) = j ln(1 + 1/x) − (m − j) ln(1 + 1/y). Only counts with L(j) > ε do, and the
ratios of P fall along them.
"""

import math
from collections.abc import Callable

import numpy as np

from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.gamma import stirling_remainder
from dpviz.core.types import FloatArray, IntArray, Numbers

NEGLIGIBLE_SHARE = 1e-17  # Share of a sum below which what is still to come is left out
SMALLEST_DISTANCE = 1e-17  # Smallest distance of the first column from τ, where rounding leaves none
FIRST_COLUMNS, MOST_COLUMNS = 64, 8192  # Columns added at a time, at first and at most
# Of ln m!, ln j!, ln (m − j)!, and the Γ of a + j, a, b + m − j, b, a + b and a + b + m in `log_mass`.
FACTORIAL_SIGNS = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
PAIR_COLUMNS_AT_ONCE = 1 << 15  # Cells of pairs and columns that are held at a time, few enough for the fast memory
LARGEST_FLOAT = float(np.finfo(float).max)

RatiosAndFactors = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]


def log_delta_of_pairs(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1), arrays of pairs; −∞ where δ is 0."""
    m, epsilon = np.broadcast_to(np.asarray(m, dtype=float), x.shape), np.broadcast_to(epsilon, x.shape)
    shrink, lost = np.exp(-epsilon), -np.expm1(-epsilon)
    log_delta = np.full(len(x), -math.inf)
    (counts,) = np.nonzero(m * shrink - x * lost > 0)
    x, y, m, epsilon, shrink, lost = (part[counts] for part in (x, y, m, epsilon, shrink, lost))
    both, surplus = y * shrink + x, m * shrink - x * lost
    below, room = x / both * (m + y * lost), y / both * surplus  # τ and m − τ
    first = np.minimum(np.floor(below) + 1, m)
    alone = first == m
    over = np.maximum(np.where(2 * below < m, first - below, room - (m - first)), SMALLEST_DISTANCE)
    gain = np.where(alone, np.log(surplus), np.log(over) + np.log(both) - np.log(y)) - np.log(x + first) + epsilon
    over = np.where(alone, 1.0, over)

    def terms(pairs: IntArray, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        a, b, start = x[pairs, None], y[pairs, None], first[pairs, None]
        free = np.maximum(m[pairs, None] - j, 0.0)
        ratio = free * (a + 1 + j) / ((j + 1) * (b + np.maximum(free - 1, 0.0)))
        return ratio, (1 + (j - start) / over[pairs, None]) * ((a + start) / (a + j))

    largest = (1 + (m - first) / over) * ((x + first) / (x + m))
    log_delta[counts] = log_mass(x + 1, y, m, first) + _log_sum(first, terms, largest) + gain
    return log_delta


def log_delta_of_plug_in_pairs(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Binomial(m, (x + 1) / (x + y + 1)) against Binomial(m, x / (x + y + 1)); −∞ where δ is 0."""
    m, epsilon = np.broadcast_to(np.asarray(m, dtype=float), x.shape), np.broadcast_to(epsilon, x.shape)
    up = np.log1p(1 / x)
    log_delta = np.full(len(x), -math.inf)
    (counts,) = np.nonzero(m * up > epsilon)
    x, y, m, epsilon, up = (part[counts] for part in (x, y, m, epsilon, up))
    down, total = np.log1p(1 / y), x + y + 1
    first = np.minimum(np.floor((epsilon + m * down) / (up + down)) + 1, m)
    missed, step = epsilon - first * up + (m - first) * down, up + down
    with np.errstate(over="ignore"):
        odds = np.minimum(x / y + 1 / y, LARGEST_FLOAT)  # after the last count it is multiplied by 0

    def terms(pairs: IntArray, j: FloatArray) -> tuple[FloatArray, FloatArray]:
        ratio = np.maximum(m[pairs, None] - j, 0.0) * odds[pairs, None] / (j + 1)
        past = (j - first[pairs, None]) * step[pairs, None]
        return ratio, -np.expm1(np.minimum(missed[pairs, None] - past, 0.0))

    found = _log_sum(first, terms, np.ones(len(x)))
    log_delta[counts] = np.minimum(found + _log_binomial((x + 1) / total, y / total, m, first), 0.0)
    return log_delta


def _log_sum(first: FloatArray, terms: RatiosAndFactors, largest: FloatArray) -> FloatArray:
    """ln Σ mass · factor over the counts from `first` on, in units of the first mass; infinite where δ is about 1.

    `terms` gives, for pairs and counts, ratios of neighbouring masses and the factors, none above `largest`. A sum
    overflows where the first count lies 37 standard deviations below the mode: all of the distribution counts then.
    """
    total = np.zeros(len(first))
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        for part in blocks(len(first), FIRST_COLUMNS, PAIR_COLUMNS_AT_ONCE):
            left, column, width = np.arange(len(first))[part], first[part], FIRST_COLUMNS
            term = np.ones(len(left))
            while len(left):
                ratio, factor = terms(left, column[:, None] + np.arange(width))
                mass = np.empty((len(left), width + 1))
                mass[:, 0], mass[:, 1:] = term, ratio
                np.multiply.accumulate(mass, axis=1, out=mass)
                total[left] += np.einsum("ij,ij->i", mass[:, :-1], factor)
                term, last = mass[:, -1], ratio[:, -1]
                settled = (last < 1) & (term / (1 - last) * largest[left] <= NEGLIGIBLE_SHARE * total[left])
                going = ~settled & (term > 0) & np.isfinite(total[left])
                left, term, column = left[going], term[going], column[going] + width
                width = min(2 * width, max(PAIR_COLUMNS_AT_ONCE // max(len(left), 1), FIRST_COLUMNS), MOST_COLUMNS)
        return np.where(np.isnan(total), math.inf, np.log(total))


def log_mass(a: FloatArray, b: FloatArray, m: Numbers, j: FloatArray) -> FloatArray:
    """ln of the BetaBinomial(m; a, b) mass at j, by Stirling's series, so that no large numbers cancel.

    With p = (a + j) / (a + b + m) the large parts are m KL(j/m ‖ p) + (a + b) KL(a/(a + b) ‖ p), each of four positive
    terms s ln(s / t) + t − s with the same |s − t|, as Loader (2000) does for the binomial.
    """
    total, rest = a + b, m - j
    share_ones, share_zeros = (a + j) / (total + m), (b + rest) / (total + m)
    apart = (j * (b / total) - rest * (a / total)) / (1 + m / total)  # j − m p
    # One call for all of them: pairs are often few, and then calls are what it costs.
    expected = np.stack([m * share_ones, m * share_zeros, total * share_ones, total * share_zeros])
    away = deviance(np.stack([j, rest, a, b]), expected, np.stack([apart, -apart, -apart, apart])).sum(axis=0)
    counts = np.stack(
        [np.broadcast_to(np.asarray(m, dtype=float), j.shape), j, rest, a + j, a, b + rest, b, total, total + m]
    )
    factorials = FACTORIAL_SIGNS @ factorial_rest(counts)
    return factorials - away + np.log1p(m / total) - np.log1p(j / a) - np.log1p(rest / b)


def deviance(s: FloatArray, t: FloatArray, apart: FloatArray) -> FloatArray:
    """s ln(s / t) + t − s with s − t = `apart`, positive."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = apart / t
        near = t * ((1 + part) * np.log1p(part) - part)
        far = np.where(s > 0, s * np.log(s / t), 0.0) - apart
    return np.where(np.abs(part) < 0.5, near, far)


def factorial_rest(z: FloatArray) -> FloatArray:
    """ln Γ(z + 1) − z ln z + z."""
    with np.errstate(divide="ignore"):
        return np.where(z > 0, stirling_remainder(np.maximum(z, 1e-300)) + 0.5 * np.log(2 * math.pi * z), 0.0)


def _log_binomial(ones: FloatArray, zeros: FloatArray, m: FloatArray, j: FloatArray) -> FloatArray:
    """ln of the Binomial(m, `ones`) mass at j, after Loader (2000); `zeros` is 1 − `ones`."""
    rest = m - j
    apart = j * zeros - rest * ones
    away = deviance(np.stack([j, rest]), np.stack([m * ones, m * zeros]), np.stack([apart, -apart])).sum(axis=0)
    whole, some, others = factorial_rest(np.stack([m, j, rest]))
    return whole - some - others - away
