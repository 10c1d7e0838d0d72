"""ln δ(ε) of neighbouring binomial distributions, many pairs at once, however small it is.

For P = Binomial(m, (x + 1) / (x + y + 1)) and Q = Binomial(m, x / (x + y + 1)) a count j adds
P(j) (1 − e^{ε − L(j)}) to δ, with L(j) = j ln(1 + 1/x) − (m − j) ln(1 + 1/y). Only counts with L(j) > ε do, and the
ratios of P fall along them.
"""

import math

import numpy as np

from dpviz.synthesizers._stop_loss import CELLS, COLUMNS, MOST_COLUMNS, SETTLED, deviance, factorial_rest
from dpviz.types import FloatArray

LARGEST = float(np.finfo(float).max)


def log_delta_of_plug_in_pairs(
    x: FloatArray, y: FloatArray, m: FloatArray | float, epsilon: FloatArray | float
) -> FloatArray:
    """ln δ(ε) of Binomial(m, (x + 1) / (x + y + 1)) against Binomial(m, x / (x + y + 1)); −∞ where δ is 0."""
    m, epsilon = np.broadcast_to(np.asarray(m, dtype=float), x.shape), np.broadcast_to(epsilon, x.shape)
    up = np.log1p(1 / x)
    log_delta = np.full(len(x), -math.inf)
    (counts,) = np.nonzero(m * up > epsilon)
    x, y, m, epsilon, up = (part[counts] for part in (x, y, m, epsilon, up))
    down, total = np.log1p(1 / y), x + y + 1
    first = np.minimum(np.floor((epsilon + m * down) / (up + down)) + 1, m)
    missed = epsilon - first * up + (m - first) * down
    with np.errstate(over="ignore"):
        odds = np.minimum(x / y + 1 / y, LARGEST)  # after the last count it is multiplied by 0
    found = np.empty(len(x))
    for start in range(0, len(x), CELLS // COLUMNS):
        part = slice(start, start + CELLS // COLUMNS)
        found[part] = _log_sum(odds[part], m[part], first[part], missed[part], (up + down)[part])
    log_delta[counts] = np.minimum(found + _log_mass((x + 1) / total, y / total, m, first), 0.0)
    return log_delta


def _log_sum(odds: FloatArray, m: FloatArray, first: FloatArray, missed: FloatArray, step: FloatArray) -> FloatArray:
    """ln Σ P(j) / P(first) (1 − e^{missed − (j − first) step}) over j ≥ first; infinite where δ is 1 but for rounding.

    A sum overflows where the first count lies 37 standard deviations below the mode, so that the losses in between are
    thousands and all of P counts.
    """
    total, term = np.zeros(len(odds)), np.ones(len(odds))
    left, column, width = np.arange(len(odds)), first, COLUMNS
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        while len(left):
            steps = np.arange(width)
            j = column[:, None] + steps
            ratio = np.maximum(m[left, None] - j, 0.0) * odds[left, None] / (j + 1)
            mass = np.empty((len(left), width + 1))
            mass[:, 0], mass[:, 1:] = term, ratio
            np.multiply.accumulate(mass, axis=1, out=mass)
            gain = -np.expm1(np.minimum(missed[left, None] - (j - first[left, None]) * step[left, None], 0.0))
            total[left] += np.einsum("ij,ij->i", mass[:, :-1], gain)
            term, last = mass[:, -1], ratio[:, -1]
            settled = (last < 1) & (term / (1 - last) <= SETTLED * total[left])
            going = ~settled & (term > 0) & np.isfinite(total[left])
            left, term, column = left[going], term[going], column[going] + width
            width = min(2 * width, max(CELLS // max(len(left), 1), COLUMNS), MOST_COLUMNS)
        return np.where(np.isnan(total), math.inf, np.log(total))


def _log_mass(ones: FloatArray, zeros: FloatArray, m: FloatArray, j: FloatArray) -> FloatArray:
    """ln of the Binomial(m, `ones`) mass at j, after Loader (2000); `zeros` is 1 − `ones`."""
    rest = m - j
    apart = j * zeros - rest * ones
    away = deviance(np.stack([j, rest]), np.stack([m * ones, m * zeros]), np.stack([apart, -apart])).sum(axis=0)
    whole, some, others = factorial_rest(np.stack([m, j, rest]))
    return whole - some - others - away
