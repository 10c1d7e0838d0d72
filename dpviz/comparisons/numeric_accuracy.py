"""Exact bias and RMSE of the mean of released rows, by quadrature and sums, for the methods that allow it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import comb, factorial, ndtr

from dpviz.core.monte_carlo import TIE_TOLERANCE
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.types import FloatArray

MEAN_NODES = 6  # nodes of the distribution of the confidential mean, which match its first 12 moments


class Accuracy(NamedTuple):
    """Bias E[q̄] − μ and √E[(q̄ − μ)²] of the mean of all sets."""

    bias: float
    root_mean_squared_error: float


def zero_if_rounding(bias: float, spread: float, truth: float) -> float:
    """Bias, or 0 below the rounding of its sum.

    Parameters
    ----------
    bias, spread, truth : float
        The sum, the size of its terms, and what is subtracted in it.

    Examples
    --------
    >>> zero_if_rounding(1e-17, 0.1, 0.25), zero_if_rounding(1e-9, 0.1, 0.25)
    (0.0, 1e-09)
    """
    rounding = TIE_TOLERANCE * spread + 8 * float(np.finfo(float).eps) * abs(truth)
    return 0.0 if abs(bias) <= rounding else bias


def _accuracy(data: Any, bias: float, mean_square: float) -> Accuracy:
    error = math.sqrt(mean_square)
    return Accuracy(zero_if_rounding(float(bias), error, data.mean), error)


def _normal_moments(low: FloatArray, high: FloatArray, number: int) -> FloatArray:
    """E[z^k; low < z < high] for k = 0 … `number` (at least 1) of a standard normal z, by integration by parts.

    >>> _normal_moments(np.array(-np.inf), np.array(0.0), 2).round(4).tolist()
    [0.5, -0.3989, 0.5]
    """
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (low, high)]
    density = [np.exp(-np.square(end) / 2) / math.sqrt(2 * math.pi) for end in (low, high)]
    moments = [np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)), density[0] - density[1]]
    for k in range(2, number + 1):
        at_ends = ends[0] ** (k - 1) * density[0] - ends[1] ** (k - 1) * density[1]
        moments.append((k - 1) * moments[k - 2] + at_ends)
    return np.array(moments)


@lru_cache(maxsize=256)
def distribution_of_mean(data: Any) -> tuple[FloatArray, FloatArray]:
    """Values and weights of a Gauss quadrature of the mean of the confidential rows, those outside set to the bounds.

    The nodes and weights follow from the first 12 moments of the mean by the Cholesky factor of their Hankel matrix
    (Golub and Welsch, 1969, section 4).
    """
    size = MEAN_NODES + 1
    powers = np.arange(2 * MEAN_NODES + 1)
    factorials = factorial(powers)

    # Central moments of one row in standard units
    low, high = (data.low - data.mean) / data.sigma, (data.high - data.mean) / data.sigma
    inside = _normal_moments(np.array(low), np.array(high), int(powers[-1]))
    raw = inside + low**powers * ndtr(low) + high**powers * ndtr(-high)
    central = np.array([comb(k, powers[: k + 1]) * (-raw[1]) ** powers[k::-1] @ raw[: k + 1] for k in powers])

    # Moments of the standardized mean: the n-th power of the series Σ E[z^k] t^k/k! of a row, term by term
    sd = math.sqrt(central[2] / data.n)
    row = central / (sd * data.n) ** powers / factorials
    row[:3] = 1.0, 0.0, 0.5 / data.n
    series = np.zeros(len(powers))
    series[0] = 1.0
    for k in powers[1:]:
        j = powers[1 : k + 1]
        series[k] = (j * (data.n + 1) - k) * row[j] @ series[k - j] / k
    moments = series * factorials

    # Nodes and weights from the tridiagonal matrix of the recurrence
    r = np.linalg.cholesky(moments[np.add.outer(powers[:size], powers[:size])]).T
    diagonal = np.diff(np.diag(r, 1) / np.diag(r)[:-1], prepend=0.0)
    off_diagonal = np.diag(r)[1:-1] / np.diag(r)[:-2]
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return data.mean + data.sigma * (raw[1] + sd * values), vectors[0] ** 2


def original_accuracy(data: Any, _epsilon: float, _sets: int) -> Accuracy:
    """Accuracy of the mean of the confidential rows; as every `accuracy` of a method it takes ε and the sets."""
    values, weights = distribution_of_mean(data)
    return _accuracy(data, weights @ values - data.mean, weights @ (values - data.mean) ** 2)


def model_accuracy(
    data: Any, epsilon: float, sets: int, *, variance_known: bool, truncate: bool = False, is_noisy: bool = True
) -> Accuracy:
    """Accuracy of sets of rows N(m, σ²), m ~ N(x̄*, σ²/n), x̄* being x̄ with Laplace noise; σ is public.

    Parameters
    ----------
    data : NormalData
    epsilon : float
        Of all sets.
    sets : int
    variance_known : bool
        True: there is no such answer where the variance is drawn.
    truncate, is_noisy : bool, optional
        As `NumericMethod.release` takes them.

    Notes
    -----
    Given x̄ the sets are independent: E[(q̄ − μ)²] = E[(E[q̄ | x̄] − μ)²] + E[Var(mean of one set | x̄)]/M.
    """
    assert variance_known
    centres, weights = distribution_of_mean(data)
    nodes, step_weights = np.polynomial.hermite_e.hermegauss(24)
    steps, step_weights = data.sigma / math.sqrt(data.n) * nodes, step_weights / step_weights.sum()

    # E[mean of a set] and of its square, given each confidential mean
    given = np.empty((2, len(centres)))
    noisy_means: FloatArray
    chances: FloatArray
    for i, centre in enumerate(centres):
        noisy_means, chances = np.array([centre]), np.ones(1)
        if is_noisy:
            noisy_means, chances = _noisy_mean(data, centre, data.width * sets / (data.n * epsilon), truncate)
        row, square = _row_moments(data, noisy_means[:, None] + steps, truncate)
        given[:, i] = np.array([row, square / data.n + (1 - 1 / data.n) * row**2]) @ step_weights @ chances
    first, second = given
    mean_square = weights @ ((second - first**2) / sets + (first - data.mean) ** 2)
    return _accuracy(data, weights @ first - data.mean, mean_square)


def _row_moments(data: Any, centre: FloatArray, truncate: bool) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of one row of N(centre, σ²) between the bounds."""
    low, high = (data.low - centre) / data.sigma, (data.high - centre) / data.sigma
    mass, first, second = _normal_moments(low, high, 2)
    mean = centre * mass + data.sigma * first
    square = centre**2 * mass + 2 * centre * data.sigma * first + data.sigma**2 * second
    if truncate:
        return mean / mass, square / mass
    below, above = ndtr(low), ndtr(-high)
    return mean + data.low * below + data.high * above, square + data.low**2 * below + data.high**2 * above


def _noisy_mean(data: Any, centre: float, scale: float, truncate: bool) -> tuple[FloatArray, FloatArray]:
    """Quadrature of a mean with Laplace noise between the bounds, on panels that end where the integrand bends."""
    # 60 scales away nothing is left of the noise; the panels double from a quarter of the scale of what bends
    low, high = max(data.low, centre - 60 * scale), min(data.high, centre + 60 * scale)
    steps = 2.0 ** np.arange(-2, 24)
    ends = [low, high, centre, *(centre + scale * steps), *(centre - scale * steps)]
    ends += [*(data.low + data.sigma * steps), *(data.high - data.sigma * steps)]
    values, weights = gauss_legendre_panels(np.unique(np.clip(ends, low, high)).tolist(), 16)
    weights = weights * np.exp(-np.abs(values - centre) / scale) / (2 * scale)

    # What lies outside is drawn again, or set to the bounds
    outside = 0.5 * np.exp(np.array([data.low - centre, centre - data.high]) / scale)
    if truncate:
        return values, weights / (1 - outside.sum())
    return np.append(values, [data.low, data.high]), np.append(weights, outside)


def smoothed_accuracy(data: Any, bins: int, uniform_share: float) -> Accuracy:
    """Accuracy of rows from a histogram with public bins, mixed with this share of the uniform distribution.

    Parameters
    ----------
    data : NormalData
    bins : int
    uniform_share : float
    """
    edges = np.linspace(data.low, data.high, bins + 1)
    probability = np.diff(ndtr((edges - data.mean) / data.sigma))
    probability[0] += ndtr((data.low - data.mean) / data.sigma)
    probability[-1] += ndtr((data.mean - data.high) / data.sigma)
    middle = (edges[1:] + edges[:-1]) / 2 - data.mean
    mixed = (1 - uniform_share) * probability + uniform_share / bins
    mean = mixed @ middle
    square = mixed @ middle**2 + (data.width / bins) ** 2 / 12
    count_variance = (1 - uniform_share) ** 2 * (probability @ middle**2 - (probability @ middle) ** 2) / data.n
    return _accuracy(data, mean, (square - mean**2 - count_variance) / data.n + count_variance + mean**2)
