"""Log-weights of the confidential counts given synthetic ones: the law of x that mixes the beta components."""

from __future__ import annotations

import math

import numpy as np

from dpviz.numerics.sums import log_rising_ratio
from dpviz.types import FloatArray, IntArray

IMPOSSIBLE = (
    "The synthetic counts cannot all come from one confidential table under this synthesizer: for every x, one of them "
    "has probability 0, so that the posterior does not exist. Check the counts and the zeros of the matrix."
)


def log_prior_counts(x: IntArray, n: IntArray | int, gamma1: float, gamma2: float) -> FloatArray:
    """ln BetaBinomial(x; n, γ1, γ2), the analyst's law of the confidential count before the release; x and n broadcast.

    Examples
    --------
    >>> np.exp(log_prior_counts(np.arange(3), 2, 1.0, 1.0)).round(12).tolist()  # uniform p makes x uniform
    [0.333333333333, 0.333333333333, 0.333333333333]
    """
    x, n = np.broadcast_arrays(x, n)
    largest = int(n.max())
    factorial = log_rising_ratio(1.0, largest)
    ones, zeros, total = (log_rising_ratio(base, largest) for base in (gamma1, gamma2, gamma1 + gamma2))
    scale = x * -math.log1p(gamma2 / gamma1) + (n - x) * -math.log1p(gamma1 / gamma2)
    risings = ones[x] - factorial[x] + zeros[n - x] - factorial[n - x] + factorial[n] - total[n]
    return risings.total() + scale


def normalized(log_weights: FloatArray) -> FloatArray:
    """exp of `log_weights`, every row divided by its sum; a ValueError where a row is impossible throughout."""
    top = log_weights.max(axis=-1, keepdims=True)
    if np.isneginf(top).any():
        raise ValueError(IMPOSSIBLE)
    with np.errstate(under="ignore"):
        weights: FloatArray = np.exp(log_weights - top)
    return weights / weights.sum(axis=-1, keepdims=True)
