"""Averages over a binomial count, Σ_x Binomial(x; n, p) c_x, at thousands of p."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander

from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray

NODES = 12  # Chebyshev nodes of a cell


def evaluator(table: FloatArray, low: float = 0.0, high: float = 1.0) -> Callable[[FloatArray], FloatArray]:
    """Averages of the columns of a table, as a function of p.

    Parameters
    ----------
    table : ndarray of shape (n + 1, columns)
        Row x holds what is averaged where the count is x.
    low, high : float, optional
        Range of p in which it is needed.

    Returns
    -------
    callable
        From an array of k values of p to the averages, of shape (k, columns), off by at most 10⁻¹³ of the spread of a
        column.

    Notes
    -----
    On each of many cells of p, of equal width on the scale of arcsin √p, the averages are interpolated at Chebyshev
    nodes. As the K-th derivative of Binomial(x; n, p) is Binomial(x; n, p) times a polynomial with the second moment
    n⁽ᴷ⁾ K! / (pq)^K (Krawtchouk's), the inequality of Cauchy and Schwarz bounds what is lost between them.

    Examples
    --------
    >>> evaluator(np.array([[0.0], [1.0], [4.0]]))(np.array([0.5])).round(12).tolist()  # E[x²] = 2p + 2p²
    [[1.5]]
    """
    edges, cells = _cells(len(table) - 1, low, high)
    coefficients = np.array([weights @ table[first : first + weights.shape[1]] for first, weights in cells])

    def averages(p: FloatArray) -> FloatArray:
        cell = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(coefficients) - 1)
        position = (2 * p - edges[cell] - edges[cell + 1]) / (edges[cell + 1] - edges[cell])
        return np.einsum("pk,pkc->pc", chebvander(position, NODES - 1), coefficients[cell])

    return averages


@lru_cache(maxsize=8)  # the tables of one question are all of one n and one range
def _cells(n: int, low: float, high: float) -> tuple[FloatArray, list[tuple[int, FloatArray]]]:
    """Edges of the cells of a range; by cell the first count that matters, and the matrix to Chebyshev coefficients."""
    # Each cell is a quarter of a standard deviation of x/n wide
    angles = np.linspace(0.0, math.pi / 2, math.ceil(2 * math.pi * math.sqrt(n)) + 1)
    edges = np.sin(angles) ** 2
    edges[-1] = 1.0
    start = max(int(np.searchsorted(edges, low, side="right")) - 1, 0)
    stop = max(int(np.searchsorted(edges, high, side="left")), start + 1)
    edges = edges[start : stop + 1]

    standard_nodes = chebpts1(NODES)  # on [−1, 1]
    transform = chebvander(standard_nodes, NODES - 1).T * 2 / NODES
    transform[0] /= 2
    cells: list[tuple[int, FloatArray]] = []
    for left, right in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        # Counts that are farther away have a probability below 1e-17, by Bernstein's inequality
        reach = 9 * math.sqrt(n * max(left * (1 - left), right * (1 - right))) + 40
        first, last = max(math.floor(n * left - reach), 0), min(math.ceil(n * right + reach), n)
        nodes = (left + right) / 2 + (right - left) / 2 * standard_nodes
        cells.append((first, transform @ binomial_weights(nodes, n, first, last)))
    return edges, cells
