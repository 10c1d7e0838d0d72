"""Integrals as sums: where an integrand is cut off, and the nodes of Gauss and Legendre on neighbouring panels."""

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
