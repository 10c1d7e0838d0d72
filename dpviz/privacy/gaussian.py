"""The Gaussian mechanism exactly: δ from ε and the ratio of sensitivity to noise, and both inverses.

With a = ε/r − r/2, b = ε/r + r/2 and Mills' ratio M(x) = Φ(−x)/φ(x) = ∫₀^∞ e^{−xt − t²/2} dt,

    δ = Φ(−a) − e^ε Φ(−b) = φ(a) (M(a) − M(b)),   M(a) − M(b) = ∫₀^∞ e^{−at − t²/2} (1 − e^{−rt}) dt.

Its slopes are ∂δ/∂r = φ(a) and ∂δ/∂ε = −e^ε Φ(−b). ln δ is concave in r, because φ(ε/u − u/2) is log-concave in u
and δ is its integral from 0 to r; it is concave in ε, because M is log-convex, so that M(a)/M(b) falls in ε. Newton's
method on ln δ that starts on the private side therefore stays there.
"""

import math

import numpy as np
from scipy.special import erfcx, erfinv, exprel, log_ndtr, ndtri

from dpviz.core.checked import checked
from dpviz.core.numerics.ends import private_side
from dpviz.core.numerics.quadrature import INTEGRAND_DROP
from dpviz.core.parameters import DELTA, argument

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
TAIL_NODES, TAIL_WEIGHTS = np.polynomial.legendre.leggauss(48)
NEARLY_EQUAL = 0.5  # M(b)/M(a) above which M(a) − M(b) is integrated from positive terms rather than subtracted
CONVERGED = 1e-15
LOG_DELTA_ROUNDING = 2e-15  # Of ln δ, relative to 2 − ln δ: twice what its rounding, and that of the ratio, may change
ROUNDED_AWAY = 1e-17  # Smallest ratio of a positive ε to r: one that rounding cannot tell from 0
LARGEST_GAUSSIAN_EPSILON = 1e12  # Largest accepted ε: beyond it ε/r − r/2 would lose its digits
NOISE_RATIO = argument("ratio", 0, math.inf)
GAUSSIAN_EPSILON = argument("epsilon", 0, LARGEST_GAUSSIAN_EPSILON)


def log_gaussian_delta(r: float, e: float) -> float:
    """ln δ of ratio r at ε = e, unchecked, to about 1e-15 (1 − ln δ), where δ itself would underflow too."""
    if r == 0:
        return -math.inf
    centre = e / r
    a, b = centre - r / 2, centre + r / 2
    with np.errstate(all="ignore"):
        share = 1.0 if math.isinf(centre) else erfcx(b / math.sqrt(2)) / erfcx(a / math.sqrt(2))
        if share <= NEARLY_EQUAL:
            return float(log_ndtr(-a) + np.log1p(-share)) + 0.0
        if a == math.inf:
            return -math.inf
        end = 2 * INTEGRAND_DROP / (a + np.hypot(a, math.sqrt(2 * INTEGRAND_DROP)))
        t = end * (1 + TAIL_NODES) / 2
        area = (np.exp(-t * (a + t / 2)) * t * exprel(-r * t)) @ TAIL_WEIGHTS
        return float(np.log(area) + np.log(end / 2) + np.log(r) - a * (a / 2) - LOG_ROOT_TWO_PI)


def surely_within(ratio: float, epsilon: float, delta: float) -> bool:
    """Return whether δ of the ratio is at most `delta` > 0 in real numbers too, whatever was lost to rounding here.

    >>> surely_within(2.0, 0.0, 0.6826894922), surely_within(2.0, 0.0, 0.6826894921)
    (True, False)
    """
    target = math.log(delta)
    return ratio == 0 or log_gaussian_delta(ratio, epsilon) <= target - LOG_DELTA_ROUNDING * (2 - target)


@checked(ratio=NOISE_RATIO, epsilon=GAUSSIAN_EPSILON)
def gaussian_delta(ratio: float, epsilon: float) -> float:
    """Return the smallest δ for which the Gaussian mechanism is (ε, δ)-differentially private, to 1e-12 down to 1e-300.

    δ = Φ(r/2 − ε/r) − e^ε Φ(−r/2 − ε/r), with `ratio` r the sensitivity over the standard deviation of the noise.
    Source: Balle & Wang (2018), Theorem 8.

    >>> round(gaussian_delta(2.0, 0.0), 6)  # at ε = 0 it is 2Φ(r/2) − 1
    0.682689
    """
    with np.errstate(under="ignore"):
        return float(np.exp(log_gaussian_delta(ratio, epsilon)))


@checked(ratio=NOISE_RATIO, delta=DELTA)
def gaussian_epsilon(ratio: float, delta: float) -> float:
    """Return the smallest ε ≥ 0 with ``gaussian_delta(ratio, ε) <= delta``; infinite where none up to 10¹² is enough.

    >>> round(gaussian_epsilon(1.0, gaussian_delta(1.0, 2.0)), 10)
    2.0
    """
    if gaussian_delta(ratio, 0.0) <= delta:
        return 0.0
    epsilon = ratio * (ratio / 2 - float(ndtri(delta)))  # Φ(−a) = delta, which is more than δ
    if not epsilon <= LARGEST_GAUSSIAN_EPSILON:
        return math.inf
    target = math.log(delta)
    for _ in range(100):
        a, b = epsilon / ratio - ratio / 2, epsilon / ratio + ratio / 2
        log_delta = log_gaussian_delta(ratio, epsilon)
        log_slope = math.log(float(erfcx(b / math.sqrt(2))) / 2) - a * a / 2 - log_delta
        step = (target - log_delta) * math.exp(-log_slope)
        epsilon = max(epsilon - step, ROUNDED_AWAY * ratio)  # the root is below 0 where δ(0) > δ by rounding alone
        if step <= CONVERGED * epsilon:
            break
    return private_side(epsilon, math.inf, lambda value: surely_within(ratio, value, delta))


@checked(epsilon=GAUSSIAN_EPSILON, delta=DELTA)
def gaussian_ratio(epsilon: float, delta: float) -> float:
    """Return the largest ratio with ``gaussian_delta(ratio, epsilon) <= delta``: 0 for δ = 0 and infinite for δ = 1.

    >>> round(gaussian_ratio(0.0, gaussian_delta(2.0, 0.0)), 10)
    2.0
    """
    if delta in (0.0, 1.0):
        return math.inf if delta else 0.0
    z = -float(ndtri(delta))
    reach = math.hypot(z, math.sqrt(2 * epsilon))
    at_tail = 2 * epsilon / (z + reach) if z > 0 else reach - z  # Φ(−a) = delta, which is more than δ
    ratio = max(at_tail, 2 * math.sqrt(2) * float(erfinv(delta)))  # δ(ε = 0) = delta, which is no less than δ(ε)
    target = math.log(delta)
    for _ in range(100):
        log_delta, a = log_gaussian_delta(ratio, epsilon), epsilon / ratio - ratio / 2
        step = (target - log_delta) * math.exp(log_delta + a * a / 2 + LOG_ROOT_TWO_PI)
        ratio += step
        if step <= CONVERGED * ratio:
            break
    return private_side(ratio, 0.0, lambda value: surely_within(value, epsilon, delta))
