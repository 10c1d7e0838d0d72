"""Integrals as sums over the nodes of Gauss and Legendre."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from dpviz.core.types import FloatArray

INTEGRAND_DROP = 45.0  # e^-45 = 3e-20: an integrand is cut off where its logarithm has fallen by so much


def gauss_legendre_panels(edges: Sequence[float], nodes: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights of an integral from the first to the last edge.

    Parameters
    ----------
    edges : sequence of float
        Ends of the panels, rising.
    nodes : int
        Nodes of every panel.

    Returns
    -------
    points, weights : ndarray

    Examples
    --------
    >>> points, weights = gauss_legendre_panels([0.0, 1.0, 3.0], 2)
    >>> round(float(points**3 @ weights), 12)  # 3⁴/4
    20.25
    """
    standard_points, standard_weights = _nodes(nodes)  # on [−1, 1]
    half_widths = np.diff(edges)[:, None] / 2
    points = np.array(edges[:-1])[:, None] + half_widths * (1 + standard_points)
    return points.ravel(), (half_widths * standard_weights).ravel()


_nodes = cache(np.polynomial.legendre.leggauss)
