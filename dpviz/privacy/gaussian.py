"""The Gaussian mechanism exactly: δ from ε and the ratio of sensitivity to noise, and both inverses.

With a = ε/r − r/2, b = ε/r + r/2 and Mills' ratio M(x) = Φ(−x)/φ(x) = ∫₀^∞ e^{−xt − t²/2} dt,

    δ = Φ(−a) − e^ε Φ(−b) = φ(a) (M(a) − M(b)),   M(a) − M(b) = ∫₀^∞ e^{−at − t²/2} (1 − e^{−rt}) dt.

Its slopes are ∂δ/∂r = φ(a) and ∂δ/∂ε = −e^ε Φ(−b). ln δ is concave in r, because φ(ε/u − u/2) is log-concave in u
and δ is its integral from 0 to r; it is concave in ε, because M is log-convex, so that M(a)/M(b) falls in ε. Newton's
method on ln δ that starts on the private side therefore stays there.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from scipy.special import erfcx, erfinv, exprel, log_ndtr, ndtri

from dpviz.numerics.private_side import private_side
from dpviz.parameters import readable
from dpviz.types import FloatArray

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)

DROP = 45.0
"""Nats by which the integrand has fallen where its integral is cut off."""

NEARLY_EQUAL = 0.5
"""M(b)/M(a) above which M(a) − M(b) is integrated from positive terms rather than subtracted."""

CONVERGED = 1e-15

ROUNDED_AWAY = 1e-17
"""Smallest ratio of a positive ε to r: one that rounding cannot tell from 0."""

LARGEST_EPSILON = 1e12
"""Largest accepted ε: beyond it ε/r − r/2 would lose its digits."""

RATIO_DOMAIN = (math.inf, "0 or larger")
EPSILON_DOMAIN = (LARGEST_EPSILON, "from 0 to 10¹²")
DELTA_DOMAIN = (1.0, "from 0 to 1")


@overload
def log_gaussian_delta(ratio: float, epsilon: float) -> float: ...
@overload
def log_gaussian_delta(ratio: float | FloatArray, epsilon: float | FloatArray) -> float | FloatArray: ...
def log_gaussian_delta(ratio: float | FloatArray, epsilon: float | FloatArray) -> float | FloatArray:
    """Natural logarithm of `gaussian_delta`, finite where δ itself would underflow; −∞ for ratio 0.

    Parameters
    ----------
    ratio, epsilon
        As in `gaussian_delta`.

    Returns
    -------
    float or ndarray
        ln δ with an absolute error of about 1e-15 (1 − ln δ).

    Source: Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(log_gaussian_delta(0.1, 5.0), 6)
    -1258.548017
    """
    shape = np.broadcast_shapes(np.shape(ratio), np.shape(epsilon))
    r = np.broadcast_to(_checked("ratio", ratio, *RATIO_DOMAIN), shape).ravel()
    e = np.broadcast_to(_checked("epsilon", epsilon, *EPSILON_DOMAIN), shape).ravel()
    result = np.full(r.shape, -math.inf)
    (some,) = np.nonzero(r > 0)
    if len(some):
        result[some] = _log_delta(r[some], e[some])
    return result.reshape(shape) if shape else float(result[0]) + 0.0


def _log_delta(r: FloatArray, e: FloatArray) -> FloatArray:
    """ln δ of ratios r > 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = e / r
        a, b = centre - r / 2, centre + r / 2
        share = erfcx(b / math.sqrt(2)) / erfcx(a / math.sqrt(2))
        share[np.isinf(centre)] = 1.0
        near = share > NEARLY_EQUAL
        result = log_ndtr(-a) + np.log1p(-np.minimum(share, NEARLY_EQUAL))
        if near.any():
            a, r = a[near][:, None], r[near][:, None]
            end = 2 * DROP / (a + np.hypot(a, math.sqrt(2 * DROP)))
            t = end * (1 + NODES) / 2
            area = (np.exp(-t * (a + t / 2)) * t * exprel(-r * t)) @ WEIGHTS
            a, r, end = a[:, 0], r[:, 0], end[:, 0]
            with np.errstate(divide="ignore"):
                inside = np.log(area) + np.log(end / 2) + np.log(r) - a * (a / 2) - LOG_ROOT_TWO_PI
            result[near] = np.where(a < np.inf, inside, -np.inf)
    return result


@overload
def gaussian_delta(ratio: float, epsilon: float) -> float: ...
@overload
def gaussian_delta(ratio: float | FloatArray, epsilon: float | FloatArray) -> float | FloatArray: ...
def gaussian_delta(ratio: float | FloatArray, epsilon: float | FloatArray) -> float | FloatArray:
    """The least δ for which the Gaussian mechanism is (ε, δ)-differentially private.

    δ = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r), the hockey-stick divergence of N(0, 1) and N(r, 1).

    Parameters
    ----------
    ratio
        r ≥ 0, sensitivity over standard deviation of the noise; a number or an array, infinite where there is no noise.
    epsilon
        ε from 0 to 10¹²; a number or an array that broadcasts against `ratio`.

    Returns
    -------
    float or ndarray
        δ in [0, 1], 0 for ratio 0, increasing in r and falling in ε; relative error below 1e-12 down to 1e-300.

    Raises
    ------
    ValueError
        Where a number is outside its domain.

    Source: Balle & Wang (2018), Theorem 8.

    Examples
    --------
    At ε = 0 it is the total variation distance 2Φ(r/2) − 1, so r = 2 leaves what lies within one standard deviation.

    >>> round(gaussian_delta(2.0, 0.0), 6)
    0.682689
    """
    with np.errstate(under="ignore"):
        delta = np.exp(log_gaussian_delta(ratio, epsilon))
    return delta if np.ndim(delta) else float(delta)


def gaussian_epsilon(ratio: float, delta: float) -> float:
    """The least ε ≥ 0 for which the Gaussian mechanism is (ε, δ)-differentially private.

    Parameters
    ----------
    ratio
        r ≥ 0, sensitivity over standard deviation of the noise.
    delta
        δ in [0, 1].

    Returns
    -------
    float
        ε with ``gaussian_delta(ratio, ε) <= delta``; 0 where even total variation is no larger, and infinite where
        no ε up to 10¹² is enough: δ = 0 with a positive ratio, or a ratio above about 1.4 × 10⁶.

    Raises
    ------
    ValueError
        Where a number is outside its domain.

    Source: the inverse of Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_epsilon(1.0, gaussian_delta(1.0, 2.0)), 10)
    2.0
    """
    r = float(_checked("ratio", ratio, *RATIO_DOMAIN))
    allowed = float(_checked("delta", delta, *DELTA_DOMAIN))
    if gaussian_delta(r, 0.0) <= allowed:
        return 0.0
    epsilon = r * (r / 2 - float(ndtri(allowed)))  # Φ(−a) = delta, which is more than δ
    if not epsilon <= LARGEST_EPSILON:
        return math.inf
    target = math.log(allowed)
    for _ in range(100):
        log_delta, a, b = log_gaussian_delta(r, epsilon), epsilon / r - r / 2, epsilon / r + r / 2
        log_slope = math.log(float(erfcx(b / math.sqrt(2))) / 2) - a * a / 2 - log_delta
        step = (target - log_delta) * math.exp(-log_slope)
        epsilon = max(epsilon - step, ROUNDED_AWAY * r)  # where δ(0) exceeds δ by rounding alone, the root is below 0
        if step <= CONVERGED * epsilon:
            break
    return private_side(epsilon, math.inf, lambda value: gaussian_delta(r, value) <= allowed)


def gaussian_ratio(epsilon: float, delta: float) -> float:
    """The largest ratio of sensitivity to noise with which the Gaussian mechanism is (ε, δ)-differentially private.

    Parameters
    ----------
    epsilon
        ε from 0 to 10¹².
    delta
        δ in [0, 1].

    Returns
    -------
    float
        r with ``gaussian_delta(r, epsilon) <= delta``; 0 for δ = 0, since no finite noise is enough, and infinite for
        δ = 1, since no noise is needed.

    Raises
    ------
    ValueError
        Where a number is outside its domain.

    Source: the inverse of Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gaussian_ratio(0.0, gaussian_delta(2.0, 0.0)), 10)
    2.0
    """
    e = float(_checked("epsilon", epsilon, *EPSILON_DOMAIN))
    allowed = float(_checked("delta", delta, *DELTA_DOMAIN))
    if allowed in (0.0, 1.0):
        return math.inf if allowed else 0.0
    z = -float(ndtri(allowed))
    reach = math.hypot(z, math.sqrt(2 * e))
    at_tail = 2 * e / (z + reach) if z > 0 else reach - z  # Φ(−a) = delta, which is more than δ
    ratio = max(at_tail, 2 * math.sqrt(2) * float(erfinv(allowed)))  # δ(ε = 0) = delta, which is no less than δ(ε)
    target = math.log(allowed)
    for _ in range(100):
        log_delta, a = log_gaussian_delta(ratio, e), e / ratio - ratio / 2
        step = (target - log_delta) * math.exp(log_delta + a * a / 2 + LOG_ROOT_TWO_PI)
        ratio += step
        if step <= CONVERGED * ratio:
            break
    return private_side(ratio, 0.0, lambda value: gaussian_delta(value, e) <= allowed)


def _checked(name: str, value: float | FloatArray, largest: float, allowed: str) -> FloatArray:
    """`value` as an array of numbers from 0 to `largest`, or a ValueError that says what is `allowed`."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be a number, {allowed}; got {value!r}.")
    outside = ~((array >= 0) & (array <= largest))
    if outside.any():
        number = float(array[outside].flat[0])
        shown = "NaN" if math.isnan(number) else readable(number)
        raise ValueError(f"{name} must be a number, {allowed}; got {shown}.")
    return array.astype(float)
