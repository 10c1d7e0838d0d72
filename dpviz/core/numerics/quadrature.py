"""Integrals as sums: where an integrand is cut off, nodes of Gauss and Legendre on panels, and bounds from below."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from dpviz.core.types import FloatArray

INTEGRAND_DROP = 45.0  # Nats by which an integrand has fallen where it is cut off


def on_panels(edges: Sequence[float], nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return points and weights of ∫ f from the first to the last edge: so many nodes on every panel between two.

    >>> points, weights = on_panels([0.0, 1.0, 3.0], 2)
    >>> round(float(points**3 @ weights), 12)  # 3⁴/4
    20.25
    """
    places, weights = _nodes(nodes)
    half = np.diff(edges)[:, None] / 2
    points = np.array(edges[:-1])[:, None] + half * (1 + places)
    return points.ravel(), (half * weights).ravel()


@cache
def _nodes(count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [−1, 1]."""
    return np.polynomial.legendre.leggauss(count)


def integral_below(
    nodes: FloatArray,
    smallest: FloatArray,
    price: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    rising: bool = False,
) -> tuple[float, float]:
    """Return a lower bound of ∫ β, β(p) a smallest probability of acceptance, and how far it is below the trapezoids.

    By duality β(p) = max_λ λ level − max_A (λ Pr(A | p) − Pr(A)), A any set, or test, that accepts: at the nodes β is
    at least `smallest`, by a λ that is the `price` of a little more of the level. Between two nodes h apart λ may be
    taken to be a line, and λ Pr(A | p) exceeds its chord by no more than (h²/12) max |(λ Pr(A | p))″| on average;
    `first` and `second` bound the derivatives of Pr(A | p) there, whatever A is. If β is `rising`, it is nowhere below
    its value at the node to the left.
    """
    width, trapezoids = np.diff(nodes), (smallest[1:] + smallest[:-1]) / 2
    bend = np.maximum(price[1:], price[:-1]) * second * width + 2 * np.abs(np.diff(price)) * first
    lower = np.maximum(trapezoids - width / 12 * bend, smallest[:-1] if rising else 0.0)
    return float(lower @ width), float((trapezoids - lower) @ width)
