"""A binomial count: its probabilities at many p, and how fast a probability that depends on it changes with p."""

import math

import numpy as np
from scipy.special import gammaln

from dpviz.core.types import FloatArray


def binomial_weights(p: FloatArray, n: int, first: int = 0, last: int | None = None) -> FloatArray:
    """Pr(x = `first` … `last`) for x ~ Binomial(n, p), one row for each of `p`, if no other counts matter.

    >>> binomial_weights(np.array([0.5, 1.0]), 2).round(12).tolist()
    [[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]
    """
    x = np.arange(first, n + 1 if last is None else last + 1)
    inside = np.clip(p, 1e-300, 1 - 1e-16)[:, None]
    with np.errstate(under="ignore"):
        weights = np.exp(
            gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + x * np.log(inside) + (n - x) * np.log1p(-inside)
        )
        weights /= weights.sum(axis=1, keepdims=True)
    weights[p <= 0] = x == 0
    weights[p >= 1] = x == n
    return weights


def steepest(n: int, nodes: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
    """Return bounds of the first two derivatives of Σ_x Binomial(x; n, p) c_x between every two of the `nodes`.

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
