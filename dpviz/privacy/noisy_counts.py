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

from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.quadrature import INTEGRAND_DROP, on_panels
from dpviz.core.types import FloatArray

NODES_OF_PANEL = 8
COARSE_POINTS, FINE_POINTS, DRAW_STEP = 200, 160, 0.4  # Points of ln u: to find the integrand, to sum it; its step


def log_table_probability(counts: Sequence[float], table: Sequence[int], scale: float) -> float:
    """Return ln Pr(table of released rows | counts), the noise of scale `scale`; at least one row is released.

    >>> tables = [(2, 0), (1, 1), (0, 2)]  # what is missing to 1: both counts may be drowned, and nothing released
    >>> round(sum(math.exp(log_table_probability([1, 2], table, 1.0)) for table in tables) + math.exp(-3) / 4, 9)
    1.0
    """
    rows, cells = sum(table), Counter(zip(map(float, counts), table, strict=True))

    def integrand(v: FloatArray) -> FloatArray:
        return rows * v + sum(many * _log_moment(np.exp(v), *cell, scale) for cell, many in cells.items())

    low = math.log(rows / (sum(counts) + INTEGRAND_DROP * scale * len(counts))) - 6 - 20 / rows
    v = np.linspace(low, math.log(rows / scale) + 25, COARSE_POINTS)
    found = integrand(v)
    kept, step = v[found > found.max() - INTEGRAND_DROP], v[1] - v[0]
    first, last = kept[0] - step, kept[-1] + step
    v = np.linspace(first, last, max(FINE_POINTS, math.ceil((last - first) * math.sqrt(rows) / 0.4)))
    ways = gammaln(rows + 1) - gammaln(rows) - sum(gammaln(count + 1) for count in table)
    return float(logsumexp(integrand(v)) + math.log(v[1] - v[0]) + ways)


def one_draw(counts: Sequence[float], scale: float) -> FloatArray:
    """Return the probability of every cell for a single draw.

    >>> one_draw([1.0, 1.0], 0.5).round(6).tolist()  # both counts may be drowned
    [0.497711, 0.497711]
    """
    v = np.arange(-math.log(sum(counts) + INTEGRAND_DROP * scale * len(counts)) - 20, 25 - math.log(scale), DRAW_STEP)
    undrawn = np.array([_log_moment(np.exp(v), count, 0, scale) for count in counts])
    drawn = np.array([_log_moment(np.exp(v), count, 1, scale) for count in counts])
    return np.exp(logsumexp(v + undrawn.sum(axis=0) + drawn - undrawn, axis=1)) * DRAW_STEP


def _log_moment(u: FloatArray, count: float, power: int, scale: float) -> FloatArray:
    """ln E[N^power e^{−uN}] of one noisy count N ≥ 0."""
    if power == 0:
        rate = 1 / scale
        between = -count * np.minimum(u, rate)
        if count > 0:
            between += np.log(count * exprel(-np.abs(u - rate) * count) * rate / 2)
        else:
            between = np.full_like(u, -np.inf)
        drowned, beyond = -count * rate - math.log(2), -u * count - np.log(2 * (u * scale + 1))
        return np.logaddexp(np.logaddexp(drowned, between), beyond)
    s, weights = _panels(count, power, scale)
    log_weights = np.log(weights / (2 * scale)) + power * np.log(s) - np.abs(s - count) / scale
    found = np.empty_like(u)
    for part in blocks(len(u), len(s), 100_000):
        terms = log_weights - u[part, None] * s
        highest = terms.max(axis=1)
        found[part] = highest + np.log(np.exp(terms - highest[:, None]).sum(axis=1))
    return found


def _panels(count: float, power: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Points and weights on the positive numbers: panels end at the kink, and none is wide for s^power."""
    smallest = scale * 2.0**-36
    ends, top = [0.0, smallest], count + INTEGRAND_DROP * scale + 3 * power * scale
    growth = 1 + min(0.6, 1.5 / math.sqrt(power))
    while ends[-1] < top:
        away = max(abs(ends[-1] - count), scale / 2)
        following = min(ends[-1] * growth, ends[-1] + away)
        ends.append(count if ends[-1] < count < following else following)
    return on_panels(ends, NODES_OF_PANEL)
