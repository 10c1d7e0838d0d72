"""The Gaussian mechanism exactly: δ from ε and the ratio of sensitivity to noise, and both inverses."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfcx, erfinv, exprel, log_ndtr, ndtri

from dpviz.core.declarations import DELTA
from dpviz.core.numerics.quadrature import INTEGRAND_DROP
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.parameters import argument

LARGEST_GAUSSIAN_EPSILON = 1e12  # beyond it ε/r − r/2 would lose its digits
NOISE_RATIO = argument("ratio", 0, math.inf)
GAUSSIAN_EPSILON = argument("epsilon", 0, LARGEST_GAUSSIAN_EPSILON)

TAIL_NODES, TAIL_WEIGHTS = np.polynomial.legendre.leggauss(48)


def gaussian_delta(ratio: float, epsilon: float) -> float:
    """Smallest δ for which the Gaussian mechanism is (ε, δ)-private: Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r).

    Balle & Wang (2018), theorem 8; to 1e-12 down to 1e-300.

    Parameters
    ----------
    ratio : float
        r ≥ 0, the sensitivity over the standard deviation of the noise.
    epsilon : float
        From 0 to 10¹².

    Examples
    --------
    >>> round(gaussian_delta(2.0, 0.0), 6)  # 2Φ(1) − 1
    0.682689
    """
    ratio, epsilon = NOISE_RATIO.validate(ratio), GAUSSIAN_EPSILON.validate(epsilon)
    with np.errstate(under="ignore"):
        return float(np.exp(log_gaussian_delta(ratio, epsilon)))


def gaussian_epsilon(ratio: float, delta: float) -> float:
    """Smallest ε for which the Gaussian mechanism is (ε, δ)-differentially private, rounded up; ∞ beyond 10¹².

    Parameters
    ----------
    ratio, delta : float
    """
    ratio, delta = NOISE_RATIO.validate(ratio), DELTA.validate(delta)
    if gaussian_delta(ratio, 0.0) <= delta:
        return 0.0
    bound = ratio * (ratio / 2 - float(ndtri(delta)))  # there Φ(−a) = delta, which is more than δ
    if not bound <= LARGEST_GAUSSIAN_EPSILON:
        return math.inf
    target = math.log(delta)
    epsilon = _root_from(lambda value: target - log_gaussian_delta(ratio, value), 0.0, bound)
    return round_to_private_side(epsilon, math.inf, lambda value: surely_within(ratio, value, delta))


def gaussian_ratio(epsilon: float, delta: float) -> float:
    """Largest ratio r with which the Gaussian mechanism is (ε, δ)-differentially private, rounded down.

    Parameters
    ----------
    epsilon, delta : float
    """
    epsilon, delta = GAUSSIAN_EPSILON.validate(epsilon), DELTA.validate(delta)
    if delta in (0.0, 1.0):
        return math.inf if delta else 0.0

    # Two bounds from below: Φ(−a) = delta, which is more than δ, and δ at ε = 0, which is no less
    z = -float(ndtri(delta))
    reach = math.hypot(z, math.sqrt(2 * epsilon))
    at_tail = 2 * epsilon / (z + reach) if z > 0 else reach - z
    bound = max(at_tail, 2 * math.sqrt(2) * float(erfinv(delta)))
    target = math.log(delta)
    ratio = _root_from(lambda value: log_gaussian_delta(value, epsilon) - target, bound, 2 * bound)
    return round_to_private_side(ratio, 0.0, lambda value: surely_within(value, epsilon, delta))


def surely_within(ratio: float, epsilon: float, delta: float) -> bool:
    """Whether δ of the ratio is at most an allowed δ above 0 in real numbers too, whatever was lost to rounding.

    Parameters
    ----------
    ratio, epsilon, delta : float
    """
    target = math.log(delta)
    rounding = 2e-15 * (2 - target)  # twice what that of ln δ, and of the ratio, may change
    return ratio == 0 or log_gaussian_delta(ratio, epsilon) <= target - rounding


def log_gaussian_delta(ratio: float, epsilon: float) -> float:
    """ln δ of the Gaussian mechanism, also where δ itself would underflow, to about 1e-15 (1 − ln δ).

    Parameters
    ----------
    ratio, epsilon : float
        Not validated.

    Notes
    -----
    With a = ε/r − r/2, b = ε/r + r/2 and Mills' ratio M(x) = Φ(−x)/φ(x) = ∫₀^∞ e^{−xt − t²/2} dt,

        δ = Φ(−a) − e^ε Φ(−b) = φ(a) (M(a) − M(b)),   M(a) − M(b) = ∫₀^∞ e^{−at − t²/2} (1 − e^{−rt}) dt.
    """
    if ratio == 0:
        return -math.inf
    centre = epsilon / ratio
    a, b = centre - ratio / 2, centre + ratio / 2
    with np.errstate(all="ignore"):
        share = 1.0 if math.isinf(centre) else erfcx(b / math.sqrt(2)) / erfcx(a / math.sqrt(2))
        if share <= 0.5:  # nearer to each other they are integrated from positive terms
            return float(log_ndtr(-a) + np.log1p(-share)) + 0.0
        if a == math.inf:
            return -math.inf
        end = 2 * INTEGRAND_DROP / (a + np.hypot(a, math.sqrt(2 * INTEGRAND_DROP)))
        t = end * (1 + TAIL_NODES) / 2
        area = (np.exp(-t * (a + t / 2)) * t * exprel(-ratio * t)) @ TAIL_WEIGHTS
        return float(np.log(area) + np.log(end / 2) + np.log(ratio) - a * (a / 2) - 0.5 * math.log(2 * math.pi))


def _root_from(rising: Callable[[float], float], low: float, high: float) -> float:
    """Root of a rising function, at or above `low`, where only rounding could make it positive."""
    while rising(high) < 0:
        low, high = high, 2 * high
    if rising(low) >= 0:
        return low
    return float(brentq(rising, low, high, xtol=4 * math.ulp(0.0), rtol=4 * math.ulp(1.0), maxiter=2000))
