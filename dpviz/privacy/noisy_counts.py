"""Rows drawn in proportion to noisy counts: the exact probability of every released table.

Each count gets Laplace noise and is set to 0 where it is negative; then m rows are drawn in proportion to what is left.
With N the noisy counts, 1/(ΣN)^m = ∫ u^{m−1} e^{−uΣN} du / Γ(m) makes the expectation of Π N_j^{m_j} / (ΣN)^m one
integral over u of a product over the cells.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.special import exprel, gammaln, logsumexp

from dpviz.core.numerics.quadrature import INTEGRAND_DROP, gauss_legendre_panels
from dpviz.core.numerics.special import row_blocks
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

NOISE_EPSILON = argument("epsilon", 1e-12, 1e6, title="privacy loss of a noisy number")
LOG_STEP = 0.4  # step of ln u in standard deviations of the integrand: the trapezoids are exact to twelve digits


def log_table_probability(counts: Sequence[float], table: Sequence[int], scale: float) -> float:
    """ln Pr(table of released rows | counts) with Laplace noise; at least one row is released.

    Parameters
    ----------
    counts : sequence of float
        Confidential.
    table : sequence of int
        Released counts of the same cells.
    scale : float
        Of the noise.

    Examples
    --------
    >>> tables = [(2, 0), (1, 1), (0, 2)]  # what is missing to 1: both counts may be drowned, and nothing released
    >>> round(sum(math.exp(log_table_probability([1, 2], table, 1.0)) for table in tables) + math.exp(-3) / 4, 9)
    1.0
    """
    rows = sum(table)
    cells = Counter(zip(map(float, counts), table, strict=True))

    def integrand(v: FloatArray) -> FloatArray:
        return rows * v + sum(times * _log_moment(np.exp(v), *cell, scale) for cell, times in cells.items())

    # Where the integrand is more than nothing, then the trapezoids
    low = math.log(rows / (sum(counts) + INTEGRAND_DROP * scale * len(counts))) - 6 - 20 / rows
    v, step = np.linspace(low, math.log(rows / scale) + 25, 200, retstep=True)
    heights = integrand(v)
    (inside,) = np.nonzero(heights > heights.max() - INTEGRAND_DROP)
    first = v[inside[0]] - step
    last = v[inside[-1]] + step
    points = max(160, math.ceil((last - first) * math.sqrt(rows) / LOG_STEP))
    v, step = np.linspace(first, last, points, retstep=True)
    ways = gammaln(rows + 1) - gammaln(rows) - sum(gammaln(count + 1) for count in table)
    return float(logsumexp(integrand(v)) + math.log(step) + ways)


def one_draw(counts: Sequence[float], scale: float) -> FloatArray:
    """Probability of every cell for a single draw.

    Parameters
    ----------
    counts : sequence of float
    scale : float
    """
    v = np.arange(-math.log(sum(counts) + INTEGRAND_DROP * scale * len(counts)) - 20, 25 - math.log(scale), LOG_STEP)
    unweighted = np.array([_log_moment(np.exp(v), count, 0, scale) for count in counts])
    weighted = np.array([_log_moment(np.exp(v), count, 1, scale) for count in counts])
    return np.exp(logsumexp(v + unweighted.sum(axis=0) + weighted - unweighted, axis=1)) * LOG_STEP


def _log_moment(u: FloatArray, count: float, power: int, scale: float) -> FloatArray:
    """ln E[N^power e^{−uN}] of one noisy count N ≥ 0; u rises."""
    if power == 0:
        rate = 1 / scale
        parts = [np.full_like(u, -count * rate - math.log(2)), -u * count - np.log(2 * (u * scale + 1))]
        if count > 0:  # from 0 to the count
            growth = np.log(count * exprel(-np.abs(u - rate) * count) * rate / 2)
            parts.append(growth - count * np.minimum(u, rate))
        return np.asarray(np.logaddexp.reduce(parts))
    nodes, weights = _panels(count, power, scale)
    log_weights = np.log(weights / (2 * scale)) + power * np.log(nodes) - np.abs(nodes - count) / scale
    moments = np.empty_like(u)
    for block in row_blocks(len(u), len(nodes), 100_000):
        # The nodes of more than nothing, which lie the lower the larger u is
        ends = log_weights - u[block][[0, -1], None] * nodes
        high, low = ends > ends.max(axis=1, keepdims=True) - INTEGRAND_DROP
        inside = slice(np.argmax(low), len(nodes) - np.argmax(high[::-1]))
        moments[block] = logsumexp(log_weights[inside] - u[block, None] * nodes[inside], axis=1)
    return moments


def _panels(count: float, power: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Points and weights on the positive numbers: panels end at the kink, and none is wide for s^power."""
    ends = [0.0, scale * 2.0**-36]
    top = count + (INTEGRAND_DROP + 3 * power) * scale
    growth = 1 + min(0.6, 1.5 / math.sqrt(power))
    while ends[-1] < top:
        distance = max(abs(ends[-1] - count), scale / 2)
        end = min(ends[-1] * growth, ends[-1] + distance)
        ends.append(count if ends[-1] < count < end else end)
    return gauss_legendre_panels(ends, 8)
