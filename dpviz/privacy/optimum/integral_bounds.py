"""Lower bounds of the integral of a smallest probability of acceptance, over the p of a binomial count."""

import math

import numpy as np

from dpviz.core.types import FloatArray


def steepest(n: int, nodes: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the first two derivatives of Σ_x Binomial(x; n, p) c_x between every two nodes p, which rise.

    The coefficients c may be any that differ by no more than `spread`. The derivatives are sums of c_x with the weights
    (x − np)/pq and ((x − np)² − (1 − 2p)(x − np) − npq)/(pq)², whose variances are n/pq and 2n(n − 1)/(pq)²; and they
    are n, and n(n − 1), times means of differences.

    >>> steepest(1, np.array([0.5, 0.5]), 1.0)
    (array([1.]), array([0.]))
    """
    inside = np.maximum(np.minimum(*(nodes[part] * (1 - nodes[part]) for part in (slice(1, None), slice(-1)))), 1e-300)
    first = np.minimum(np.sqrt(n / inside) / 2, n)
    second = np.minimum(math.sqrt(2 * n * (n - 1)) / 2 / inside, 2 * n * (n - 1))
    return spread * first, spread * second


def integral_below(
    nodes: FloatArray,
    smallest: FloatArray,
    price: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    rising: bool = False,
) -> tuple[float, float]:
    """Lower bound of ∫ β, β(p) a smallest probability of acceptance, and how far it is below the trapezoids.

    Parameters
    ----------
    nodes, smallest, price : ndarray of shape (nodes,)
        At these p, β is at least `smallest`, by a λ that is the `price` of a little more of the level.
    first, second : ndarray of shape (nodes - 1,)
        Bounds of the derivatives of Pr(A | p) between the nodes, whatever A is.
    rising : bool, optional
        Whether β rises: then it is nowhere below its value at the node to the left.

    Notes
    -----
    By duality β(p) = max_λ λ level − max_A (λ Pr(A | p) − Pr(A)), A any set, or test, that accepts. Between two nodes h
    apart λ may be taken to be a line, and λ Pr(A | p) exceeds its chord by no more than (h²/12) max |(λ Pr(A | p))″| on
    average.
    """
    width, trapezoids = np.diff(nodes), (smallest[1:] + smallest[:-1]) / 2
    bend = np.maximum(price[1:], price[:-1]) * second * width + 2 * np.abs(np.diff(price)) * first
    lower = np.maximum(trapezoids - width / 12 * bend, smallest[:-1] if rising else 0.0)
    return float(lower @ width), float((trapezoids - lower) @ width)
