"""Exact bias and RMSE of the mean of released rows, by quadrature and sums, for the methods that allow it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import factorial, ndtr

from dpviz.core.monte_carlo import zero_if_rounding
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.types import FloatArray

MEAN_NODES = 6  # nodes of the distribution of the confidential mean, which match its first 12 moments


class Accuracy(NamedTuple):
    """Bias E[q̄] − μ and √E[(q̄ − μ)²] of the mean of all sets."""

    bias: float
    root_mean_squared_error: float


def _accuracy(data: Any, bias: Any, mean_square: Any) -> Accuracy:
    """Accuracy from E[q̄] − μ in units of σ, and E[(q̄ − μ)²] in units of σ²."""
    error = data.sigma * math.sqrt(mean_square)
    return Accuracy(zero_if_rounding(data.sigma * float(bias), error, data.mean), error)


def _standard_bounds(data: Any) -> tuple[float, float]:
    """Bounds less μ in units of σ: far from 0 the squares of deviations would lose their digits."""
    return (data.low - data.mean) / data.sigma, (data.high - data.mean) / data.sigma


@lru_cache(maxsize=256)
def distribution_of_mean(n: int, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Values and weights of a Gauss quadrature of the mean of n rows of N(0, 1), those outside set to the bounds.

    The nodes and weights follow from the first moments of the mean by the Cholesky factor of their Hankel matrix
    (Golub and Welsch, 1969, section 4).
    """
    size = min(MEAN_NODES, n + 1)  # the mean of n rows that all lie at a bound has n + 1 values
    powers = np.arange(2 * size)
    factorials = factorial(powers)

    # One row: its values between the bounds, of which nothing is left beyond 12, and at them
    inside, weights = gauss_legendre_panels(np.linspace(max(low, -12), min(high, 12), 13).tolist(), 16)
    rows = np.array([low, high, *inside])
    chances = np.array([ndtr(low), ndtr(-high), *weights * _density(inside)])
    mean = chances @ rows
    sd = math.sqrt(chances @ (rows - mean) ** 2 / n)

    # Moments of the standardized mean: the n-th power of the series Σ E[z^k] t^k/k! of a row, term by term
    row = chances @ ((rows - mean) / (sd * n))[:, None] ** powers / factorials
    row[:3] = 1.0, 0.0, 0.5 / n
    series = np.zeros(len(powers))
    series[0] = 1.0
    for k in powers[1:]:
        j = powers[1 : k + 1]
        series[k] = (j * (n + 1) - k) * row[j] @ series[k - j] / k
    moments = series * factorials

    # Nodes and weights from the tridiagonal matrix of the recurrence
    hankel = moments[np.add.outer(powers[:size], powers[: size + 1])]
    r = np.linalg.solve(np.linalg.cholesky(hankel[:, :size]), hankel)
    diagonal = np.diff(np.diag(r, 1) / np.diag(r), prepend=0.0)
    off_diagonal = np.diag(r)[1:] / np.diag(r)[:-1]
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return mean + sd * values, vectors[0] ** 2


def _density(z: FloatArray) -> FloatArray:
    """Standard normal density."""
    return np.asarray(np.exp(-np.square(z) / 2) / math.sqrt(2 * math.pi))


def original_accuracy(data: Any) -> Accuracy:
    """Accuracy of the mean of the confidential rows."""
    values, weights = distribution_of_mean(data.n, *_standard_bounds(data))
    return _accuracy(data, weights @ values, weights @ values**2)


def model_accuracy(data: Any, epsilon: float, sets: int, *, truncate: bool = False, is_noisy: bool = True) -> Accuracy:
    """Accuracy of sets of rows N(m, σ²), m ~ N(x̄*, σ²/n), x̄* being x̄ with Laplace noise; σ is public.

    Parameters
    ----------
    data : NormalData
    epsilon : float
        Of all sets.
    sets : int
    truncate, is_noisy : bool, optional
        As of `NormalModel`.

    Notes
    -----
    Given x̄ the sets are independent: E[(q̄ − μ)²] = E[(E[q̄ | x̄] − μ)²] + E[Var(mean of one set | x̄)]/M.
    """
    low, high = _standard_bounds(data)
    centres, weights = distribution_of_mean(data.n, low, high)
    nodes, step_weights = np.polynomial.hermite_e.hermegauss(24)
    steps, step_weights = nodes / math.sqrt(data.n), step_weights / step_weights.sum()

    # E[mean of a set] and of its square, given each confidential mean, all less μ in units of σ
    given = np.empty((2, len(centres)))
    noisy_means: FloatArray
    chances: FloatArray
    for i, centre in enumerate(centres):
        noisy_means, chances = np.array([centre]), np.ones(1)
        if is_noisy:
            noisy_means, chances = _noisy_mean(centre, (high - low) * sets / (data.n * epsilon), low, high, truncate)
        row, square = _row_moments(noisy_means[:, None] + steps, low, high, truncate)
        given[:, i] = np.array([row, square / data.n + (1 - 1 / data.n) * row**2]) @ step_weights @ chances
    first, second = given
    mean_square = weights @ ((second - first**2) / sets + first**2)
    return _accuracy(data, weights @ first, mean_square)


def _row_moments(centre: FloatArray, low: float, high: float, truncate: bool) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of one row of N(centre, 1) between the bounds."""
    a, b = low - centre, high - centre
    below, above = ndtr(a), ndtr(-b)
    mass = np.where(a > 0, ndtr(-a) - above, ndtr(b) - below)
    first = _density(a) - _density(b)  # E[z; a < z < b], and of the square by parts
    second = mass + a * _density(a) - b * _density(b)
    mean = centre * mass + first
    square = centre**2 * mass + 2 * centre * first + second
    if truncate:
        return mean / mass, square / mass
    return mean + low * below + high * above, square + low**2 * below + high**2 * above


def _noisy_mean(centre: float, scale: float, low: float, high: float, truncate: bool) -> tuple[FloatArray, FloatArray]:
    """Quadrature of a mean with Laplace noise between the bounds, on panels that end where the integrand bends."""
    # 60 scales away nothing is left of the noise; the panels double from a quarter of the scale of what bends
    first, last = max(low, centre - 60 * scale), min(high, centre + 60 * scale)
    steps = 2.0 ** np.arange(-2, 24)
    ends = [first, last, centre, *(centre + scale * steps), *(centre - scale * steps), *(low + steps), *(high - steps)]
    values, weights = gauss_legendre_panels(np.unique(np.clip(ends, first, last)).tolist(), 16)
    weights = weights * np.exp(-np.abs(values - centre) / scale) / (2 * scale)

    # What lies outside is drawn again, or set to the bounds
    if truncate:
        return values, weights / weights.sum()
    outside = 0.5 * np.exp(np.array([low - centre, centre - high]) / scale)
    return np.append(values, [low, high]), np.append(weights, outside)


def smoothed_accuracy(data: Any, bins: int, uniform_share: float) -> Accuracy:
    """Accuracy of rows from a histogram with public bins, mixed with this share of the uniform distribution.

    Parameters
    ----------
    data : NormalData
    bins : int
    uniform_share : float
    """
    low, high = _standard_bounds(data)
    edges = np.linspace(low, high, bins + 1)
    probability = np.diff(ndtr(edges))
    probability[0] += ndtr(low)
    probability[-1] += ndtr(-high)
    middle = (edges[1:] + edges[:-1]) / 2
    mixed = (1 - uniform_share) * probability + uniform_share / bins
    mean = mixed @ middle
    square = mixed @ middle**2 + ((high - low) / bins) ** 2 / 12
    count_variance = (1 - uniform_share) ** 2 * (probability @ middle**2 - (probability @ middle) ** 2) / data.n
    return _accuracy(data, mean, (square - mean**2 - count_variance) / data.n + count_variance + mean**2)
