"""δ(ε) of neighbouring Beta-binomials from the columns that matter, many pairs at once, however small it is.

For the distributions P = BetaBinomial(m; x + 1, y) and Q = BetaBinomial(m; x, y + 1) the likelihood ratio is rational,
P(j) / Q(j) = (x + j) y / (x (y + m − j)), so that what a count j adds to δ is linear up to one positive factor:

    1 − e^ε Q(j) / P(j) = (j − τ) (y + x e^ε) / ((x + j) y),  τ = x (m e^ε + y (e^ε − 1)) / (y + x e^ε).

Every term above τ is positive, and the ratios r of P never rise again once they are below 1: what is left out after the
column j is at most P(j) r / (1 − r) times the largest factor, that of j = m.
"""

import math

import numpy as np

from dpviz.numerics.gamma import stirling_remainder
from dpviz.types import FloatArray

SETTLED = 1e-17  # Share of a sum below which what is still to come is left out
ROUNDED = 1e-17  # Least distance of the first column from τ, where rounding leaves none
COLUMNS, MOST_COLUMNS = 64, 8192  # Columns added at a time, at first and at most
# Of ln m!, ln j!, ln (m − j)!, and the Γ of a + j, a, b + m − j, b, a + b and a + b + m in `log_mass`.
FACTORIAL_SIGNS = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
CELLS = 1 << 15  # Cells of pairs and columns that are held at a time, few enough for the fast memory


def log_delta_of_pairs(x: FloatArray, y: FloatArray, m: FloatArray | float, epsilon: FloatArray | float) -> FloatArray:
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
    over = np.maximum(np.where(2 * below < m, first - below, room - (m - first)), ROUNDED)
    gain = np.where(alone, np.log(surplus), np.log(over) + np.log(both) - np.log(y)) - np.log(x + first) + epsilon
    over = np.where(alone, 1.0, over)
    found = np.empty(len(x))
    for start in range(0, len(x), CELLS // COLUMNS):
        part = slice(start, start + CELLS // COLUMNS)
        found[part] = _log_sum(x[part], y[part], m[part], first[part], over[part])
    log_delta[counts] = found + gain
    return log_delta


def _log_sum(x: FloatArray, y: FloatArray, m: FloatArray, first: FloatArray, over: FloatArray) -> FloatArray:
    """ln Σ P(j) (j − τ) / (x + j) over j ≥ `first`, less ln of the factor of the first; `over` is first − τ."""
    log_scale, total, term = log_mass(x + 1, y, m, first), np.zeros(len(x)), np.ones(len(x))
    left, column, width = np.arange(len(x)), first, COLUMNS
    largest, a, b = (1 + (m - first) / over) * ((x + first) / (x + m)), x, y
    while len(left):
        steps = np.arange(width)
        j = column[:, None] + steps
        free = np.maximum(m[left, None] - j, 0.0)
        ratio = free * (a[:, None] + 1 + j) / ((j + 1) * (b[:, None] + np.maximum(free - 1, 0.0)))
        mass = np.empty((len(left), width + 1))
        mass[:, 0], mass[:, 1:] = term, ratio
        start, above = first[left, None], over[left, None]
        with np.errstate(under="ignore"):
            np.multiply.accumulate(mass, axis=1, out=mass)
            factor = (1 + (j - start) / above) * ((a[:, None] + start) / (a[:, None] + j))
            total[left] += np.einsum("ij,ij->i", mass[:, :-1], factor)
        term, last = mass[:, -1], ratio[:, -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            settled = (last < 1) & (term / (1 - last) * largest <= SETTLED * total[left])
        going = ~settled & (term > 0)
        left, term, column = left[going], term[going], column[going] + width
        largest, a, b = largest[going], a[going], b[going]
        width = min(2 * width, max(CELLS // max(len(left), 1), COLUMNS), MOST_COLUMNS)
    return log_scale + np.log(total)


def log_mass(a: FloatArray, b: FloatArray, m: FloatArray | float, j: FloatArray) -> FloatArray:
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
