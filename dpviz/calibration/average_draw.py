"""Average-case privacy of PARAM_Post, as in `dpviz.privacy.average_case`: one draw of the proportion."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc

from dpviz.calibration.posterior_parameter import log_parameter_delta, tail_fraction
from dpviz.core.checked import checked
from dpviz.core.declarations import MANY_ROWS
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.privacy.average_case import THETA_REAL, log_count_probabilities

SMALLEST_TAIL = 1e-305  # Tail below which it is taken relative to its leading term, as it underflows


@checked(n=MANY_ROWS, alpha=PRIOR_ONES, beta=PRIOR_ZEROS, theta_real=THETA_REAL, epsilon=ANY_EPSILON)
def parameter_draw_delta(n: int, alpha: float, beta: float, theta_real: float, epsilon: float) -> float:
    """Return the smallest δ with which one draw of θ from its posterior hides one row: PARAM_Post.

    P = Σ_k w_k Beta(k + 1 + α, n − 1 − k + β), Q = Σ_k w_k Beta(k + α, n − k + β). The density ratio P / Q rises in θ:
    the Beta density is totally positive (TP2) in θ and the count, the distribution of the count K + x is TP2 in the
    count and x ∈ {0, 1} because the binomial is log-concave, and sums of products of TP2 kernels are TP2 (Karlin 1968).
    So δ is one tail, P(> θ*) − e^ε Q(> θ*), from the one θ* where the ratio is e^ε. With D_k what the tails of
    neighbouring counts differ by, it is Σ_k w_k (D_k − (e^ε − 1) Q_k), and Q_k = Q_0 + D_0 + … + D_{k−1}: positive
    terms. Its relative error is about 1e-12 down to δ = 1e-300 for priors up to 1e6, and 1e-6 for priors of 1e12.
    Source: Zheng (2015), Theorem 6.20. One row and a flat prior: densities 2θ and 2(1 − θ).

    >>> round(parameter_draw_delta(1, 1.0, 1.0, 0.5, 0.0), 12)
    0.5
    """
    weights = log_count_probabilities(n - 1, theta_real)
    deltas = _upward_draw(alpha, beta, weights, epsilon), _upward_draw(beta, alpha, weights[::-1], epsilon)
    return min(max(deltas), 1.0)


def _draw_gain(alpha: float, beta: float, weights: FloatArray) -> Callable[[float], float]:
    """u ↦ ln of the density ratio of the draw with log-odds u, given X_i = 1 and X_i = 0."""
    count = np.arange(len(weights))
    scale = 1.0 if beta < alpha * 1e290 else 1e30
    zeros_to_ones = (beta + count[::-1]) / scale / (alpha + count)
    log_terms = weights + cumulative_sum(np.log(zeros_to_ones[:-1])).total() + count * math.log(scale)

    def gain(log_odds: float) -> float:
        terms = log_terms + count * log_odds
        share = np.exp(terms - terms.max())
        return log_odds + math.log(scale) + math.log(float(share @ zeros_to_ones) / float(share.sum()))

    return gain


def _upward_draw(alpha: float, beta: float, weights: FloatArray, epsilon: float) -> float:
    """Σ (P − e^ε Q)₊ of one posterior draw, P its distribution given X_i = 1."""
    others = len(weights) - 1
    gain = _draw_gain(alpha, beta, weights)
    low = epsilon + math.log(alpha) - math.log(beta + others)
    high = epsilon + math.log(alpha + others) - math.log(beta)
    if gain(low) >= epsilon or gain(high) <= epsilon:
        cut = low if gain(low) >= epsilon else high
    else:
        cut = float(brentq(lambda point: gain(point) - epsilon, low, high, xtol=1e-300, rtol=1e-15))
    log_steps, log_first = _log_tail_steps(alpha, beta, others, cut)
    top = float((weights + log_steps).max())
    gained = float(np.exp(weights + log_steps - top).sum())
    if epsilon == 0:
        return gained * math.exp(top)
    peak = max(float(log_steps.max()), log_first)
    tails = np.cumsum(np.exp(np.append(log_first, log_steps[:-1]) - peak))
    with np.errstate(divide="ignore"):
        tail = float(np.exp(weights + np.log(tails) + (peak - top)).sum())
    log_factor = epsilon + math.log(-math.expm1(-epsilon))
    share = math.exp(log_factor + math.log(tail / gained)) if tail > 0 else 0.0
    return gained * math.exp(top) * max(1 - share, 0.0)


def _log_tail_steps(alpha: float, beta: float, others: int, cut: float) -> tuple[FloatArray, float]:
    """ln of D_k = Pr(Beta(x + 1, y) > θ) − Pr(Beta(x, y + 1) > θ), and of the tail Pr(Beta(α, β + others + 1) > θ).

    x = α + k, y = β + others − k, k = 0 … others; `cut` is the log-odds of θ. D_{k+1} / D_k = θ y / ((1 − θ) (x + 1)).
    The largest D is its peak, where δ(0) of that pair is, times (θ / p)^x ((1 − θ) / (1 − p))^y, p = x / (x + y).
    """
    log_left, log_right = -float(np.logaddexp(0.0, -cut)), -float(np.logaddexp(0.0, cut))
    left, right = math.exp(log_left), math.exp(log_right)
    ones, zeros = alpha + np.arange(others + 1), beta + np.arange(others + 1)[::-1]
    x, y = ones[1:], zeros[:-1]
    sums = cumulative_sum(_log_quotient(left * y - right * x, right * x, cut + np.log(y) - np.log(x)))
    mode = int(np.argmax(sums.coarse))
    x, y = ones[mode : mode + 1], zeros[mode : mode + 1]
    away = left * y - right * x
    largest = log_parameter_delta(x, y, 0.0) + x * _log_quotient(away, x, log_left + np.log(x + y) - np.log(x))
    largest += y * _log_quotient(-away, y, log_right + np.log(x + y) - np.log(y))
    log_steps = (sums.coarse - sums.coarse[mode]) + (sums.fine - sums.fine[mode]) + largest
    return log_steps, _log_first_tail(alpha, beta + others, left, right, float(log_steps[0]))


def _log_quotient(difference: FloatArray, whole: FloatArray, far: FloatArray) -> FloatArray:
    """ln(1 + difference / whole): from the difference where that is small beside the whole, and `far` elsewhere."""
    near = np.abs(difference) < 0.5 * whole
    return np.where(near, np.log1p(np.divide(difference, whole, out=np.zeros_like(whole), where=near)), far)


def _log_first_tail(x: float, y: float, left: float, right: float, log_step: float) -> float:
    """ln Pr(Beta(x, y + 1) > θ): by its continued fraction relative to the step D(x, y) where it underflows."""
    tail = float(betaincc(x, y + 1, left) if left < 0.5 else betainc(y + 1, x, right))
    if tail > SMALLEST_TAIL:
        return math.log(tail)
    if right == 0:
        return -math.inf
    odds, far = np.array([x / y]), math.log(left) - math.log(right) - math.log(x / y)
    whole = right * x / (y + 1) * float(tail_fraction(np.array([x]), np.array([y]), odds, far)[0])
    return log_step + math.log(whole) if whole > 0 else -math.inf
