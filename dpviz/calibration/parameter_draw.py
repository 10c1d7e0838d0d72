"""PARAM_Post: one draw of the proportion from its posterior is released, and no rows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, digamma

from dpviz.core.declarations import ANY_EPSILON, MANY_ROWS
from dpviz.core.numerics.special import MAX_EXPONENT, cumulative_sum, stirling_remainder
from dpviz.core.parameters import validate_fields
from dpviz.core.types import FloatArray, Numbers
from dpviz.mechanisms.base import WorstCase
from dpviz.mechanisms.pair_divergence import worst_pair
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS, UnderPrior
from dpviz.privacy.average_case import THETA_REAL, log_count_probabilities
from dpviz.privacy.pld import PrivacyLossDistribution

TERM_ROUNDING = 1e-12  # Change by a term that is rounding if it no longer shrinks
MAX_TERMS = 400
# Rows of both cells from which the fraction converges too slowly within a standard deviation of the center, where
# incomplete beta functions have all their digits.
ROWS_OF_SLOW_FRACTIONS = 1e5
MAX_ODDS = 1e300  # x / y from which θ is 1 to any number of digits
MIN_TAIL = 1e-305  # Tail below which it is taken relative to its leading term, as it underflows
DENSITY_POINTS = 40_000  # about as many as the grid on which the losses are then added up has
NEGLIGIBLE_DEPTH = 42.0  # a density that has fallen by e to this is less than the rounding of its sum


@dataclass(frozen=True, kw_only=True)
class ParameterDraw(UnderPrior):
    """θ ~ Beta(α + n1, β + n0), released as it is: Zheng's PARAM_Post.

    The log-odds ln(θ / (1 − θ)) + ln(y / x) of two neighbours that share x rows and invented rows of one cell and y of
    the other have no bound, so no ε alone is ever kept. Source: Zheng (2015), §3.2, PARAM_Post; Theorem 6.3.
    One row and a flat prior: densities 2θ and 2(1 − θ), which at ε = 0 differ by ∫ (4θ − 2) over θ > 1/2, or 1/2.

    >>> round(ParameterDraw(n=1, alpha=1, beta=1).hockey_stick(0.0).value, 12)
    0.5
    """

    def __post_init__(self) -> None:
        validate_fields(self, MANY_ROWS, PRIOR_ONES, PRIOR_ZEROS)

    def worst_log_odds(self) -> WorstCase:
        """Infinite: as θ nears 1, one more confidential one makes it likelier by any factor."""
        return WorstCase(math.inf, 1, 0)

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        log_delta, pair = worst_pair(partial(log_parameter_delta, epsilon=epsilon), self.n, self.alpha, self.beta)
        return WorstCase(math.exp(log_delta), pair + 1, pair)


def log_parameter_delta(x: FloatArray, y: FloatArray, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Beta(x + 1, y) against Beta(x, y + 1), two neighbours that share x ones and y zeros.

    Parameters
    ----------
    x, y : ndarray of shape (pairs,)
        Positive; invented rows included.
    epsilon : float or ndarray of shape (pairs,)

    Returns
    -------
    ndarray of shape (pairs,)
        The relative error of δ is about 1e-12 for x, y to 1e6, and 1e-9 at 1e10.

    Notes
    -----
    The likelier distribution's density is larger by more than e^ε where θ > t / (1 + t), t = e^ε x / y. There the two
    tails differ by one term, D = θ^x (1 − θ)^y Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)), so that δ = D − (e^ε − 1)
    Pr(Beta(x, y + 1) > θ).
    """
    epsilon = np.broadcast_to(np.asarray(epsilon, dtype=float), x.shape)
    log_term = _log_term(x, y, epsilon)
    if not epsilon.any():
        return log_term
    with np.errstate(over="ignore"):
        odds, shrink = np.minimum(x / y, MAX_ODDS), np.exp(-epsilon)
        far = x * np.expm1(epsilon) >= 1
        far &= (epsilon**2 * (x * (y / (x + y))) >= 1) | (np.minimum(x, y) < ROWS_OF_SLOW_FRACTIONS)
        gained = -np.expm1(-epsilon) / (shrink + odds) * x / (y + 1)  # (e^ε − 1)(1 − θ) x / (y + 1)
    share = np.empty_like(log_term)
    if np.any(far):
        share[far] = gained[far] * _tail_fraction(x[far], y[far], odds[far], epsilon[far])
    if not np.all(far):
        a, b, near = x[~far], y[~far], shrink[~far]
        left, right = odds[~far] / (near + odds[~far]), near / (near + odds[~far])
        tail = np.where(left < 0.5, betaincc(a, b + 1, left), betainc(b + 1, a, right))
        share[~far] = np.expm1(epsilon[~far]) * tail / np.exp(log_term[~far])
    return log_term + np.log1p(-np.minimum(share, 1 - 1e-15))


def _log_term(x: FloatArray, y: FloatArray, epsilon: FloatArray) -> FloatArray:
    """ln D, from the smaller of x and y, so that large parts do not cancel."""
    total = x + y
    from_ones = x * epsilon - total * np.log1p(np.expm1(np.minimum(epsilon, MAX_EXPONENT)) * (x / total))
    if epsilon.max() > MAX_EXPONENT:
        overflowing = -y * epsilon - total * np.log((x + y * np.exp(-epsilon)) / total)
        from_ones = np.where(epsilon > MAX_EXPONENT, overflowing, from_ones)
    from_zeros = -y * epsilon - total * np.log1p(np.expm1(-epsilon) * (np.minimum(x, y) / total))
    return np.where(x <= y, from_ones, from_zeros) + _log_peak(x, y)


def _log_peak(x: FloatArray, y: FloatArray) -> FloatArray:
    """ln of Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)) (x / (x + y))^x (y / (x + y))^y, without large numbers."""
    of_total, of_x, of_y = stirling_remainder(np.stack([x + y, x, y]))
    return of_total - of_x - of_y - 0.5 * (math.log(2 * math.pi) + np.log(x) + np.log(y / (x + y)))


def parameter_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Largest probability over tables that the drawn θ tells one from a neighbour by more than e^ε.

    Parameters
    ----------
    n : int
        Confidential rows.
    alpha, beta, epsilon : float

    Returns
    -------
    float

    Notes
    -----
    For n1 ones the neighbours with fewer ones speak where θ / (1 − θ) > e^ε (n1 + α − 1) / (n0 + β), those with more
    where it is below e^{−ε} (n1 + α) / (n0 + β − 1).

    References
    ----------
    .. [1] Machanavajjhala et al. (2008), disclosure set; Zheng (2015), Lemma 6.5, whose interval this is.
    """
    n = int(MANY_ROWS.validate(n))
    alpha = PRIOR_ONES.validate(alpha)
    beta = PRIOR_ZEROS.validate(beta)
    epsilon = ANY_EPSILON.validate(epsilon)
    row = np.arange((n // 2 if alpha == beta else n) + 1)  # equal priors: row n − i is the mirror image of row i
    a, b = alpha + row, beta + (n - row)
    grow = math.exp(min(epsilon, MAX_EXPONENT))
    lower, upper = np.maximum(row - 1, 0), np.minimum(row, n - 1)
    up = grow * (alpha + lower) / (beta + (n - 1 - lower))
    down = (alpha + upper) / (beta + (n - 1 - upper)) / grow
    failure = betainc(b, a, 1 / (1 + up)) + betainc(a, b, down / (1 + down))
    return min(float(failure.max()), 1.0)


def _tail_fraction(x: FloatArray, y: FloatArray, odds: FloatArray, epsilon: Numbers) -> FloatArray:
    """Pr(Beta(x, y + 1) > θ) over D (1 − θ) x / (y + 1), where θ / (1 − θ) is e^ε times `odds` = x / y.

    The continued fraction of Didonato and Morris (1992), by Lentz's rule; nothing in it cancels as x and y grow.
    """
    shrink = np.exp(-epsilon)
    right = shrink / (shrink + odds)
    surplus = odds / (shrink + odds) * (1 - y * np.expm1(-epsilon))  # (y + 1) θ − x (1 − θ)
    a = y + 1
    fraction = numerator = a * (surplus + 1) / (a + 1)
    inverse = np.zeros_like(a)
    moved = math.inf
    for step in range(1, MAX_TERMS):
        place, rest = a + 2 * step, step * (x - step) * right
        part = rest / (place - 1)
        term = (a + (step - 1)) * (a + x + (step - 1)) * right / (place - 1) * part
        plus = step + part + (a + step) * (surplus + 1 + step * (2 - right)) / (place + 1)
        inverse = 1 / (plus + term * inverse)
        numerator = plus + term / numerator
        change = numerator * inverse
        fraction = fraction * change
        before = moved
        moved = float(np.abs(change - 1).max())
        if moved < 1e-14 or before / 2 < moved < TERM_ROUNDING:
            break
    return np.asarray(a / fraction)


def parameter_losses(x: float, y: float, mean_loss: float) -> PrivacyLossDistribution:
    """Privacy loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), which has no bound.

    Parameters
    ----------
    x, y : float
        (Invented) rows that both tables share.
    mean_loss : float
        Where the sum of several losses is cut, for each of them.

    Returns
    -------
    PrivacyLossDistribution
        The density at even points around the saddle point, by the trapezoid rule, which is exact to many digits for a
        density that is analytic and falls off at both ends.

    Notes
    -----
    Tilted by λ < y, θ is Beta(x + 1 + λ, y − λ), and L has a log-concave density with the mode ln(A / B) + ln(y / x).
    """
    shift = math.log(y / x)

    def tilted_mean(tilt: float) -> float:
        return float(digamma(x + 1 + tilt) - digamma(y - tilt)) + shift

    # The tilt that moves the mean to `mean_loss`, and the points where the tilted density is not negligible
    tilt = 0.0
    largest = y * (1 - 1e-6)
    if tilted_mean(0.0) < mean_loss:
        tilt = largest
        if tilted_mean(largest) > mean_loss:
            tilt = float(brentq(lambda tilt: tilted_mean(tilt) - mean_loss, 0.0, largest, rtol=1e-3))
    a, b = x + 1 + tilt, y - tilt
    mode = math.log(a / b)
    logits = np.linspace(mode - _reach(b, a), mode + _reach(a, b), DENSITY_POINTS)

    log_largest = float(_log_peak(np.array(x + 1), np.array(y))) + math.log((x + 1) * (y / (x + 1 + y)))
    log_density = log_largest - _depth(x + 1, y, logits - math.log((x + 1) / y))
    return PrivacyLossDistribution(logits + shift, log_density + math.log(logits[1] - logits[0]))


def _depth(a: float, b: float, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    with np.errstate(over="ignore"):
        return a * np.log1p(b / (a + b) * np.expm1(-away)) + b * np.log1p(a / (a + b) * np.expm1(away))


def _reach(a: float, b: float) -> float:
    """How far above the mode the density of the logit of Beta(a, b) has fallen by e^`NEGLIGIBLE_DEPTH`."""
    far = 1 / math.sqrt(a * (b / (a + b)))
    while float(_depth(a, b, np.array(far))) < NEGLIGIBLE_DEPTH:
        far *= 2
    return float(brentq(lambda away: float(_depth(a, b, np.array(away))) - NEGLIGIBLE_DEPTH, 0.0, far, rtol=1e-3))


def parameter_draw_delta(n: int, alpha: float, beta: float, theta_real: float, epsilon: float) -> float:
    """Smallest δ with which one draw of θ hides one row among n − 1 random ones: average-case privacy.

    Parameters
    ----------
    n : int
        Confidential rows.
    alpha, beta : float
        Prior.
    theta_real : float
        Probability that another row is a one.
    epsilon : float

    Returns
    -------
    float
        Relative error about 1e-12 down to δ = 1e-300 for priors up to 1e6, and 1e-6 for priors of 1e12.

    Notes
    -----
    P = Σ_k w_k Beta(k + 1 + α, n − 1 − k + β), Q = Σ_k w_k Beta(k + α, n − k + β). The density ratio P / Q rises in θ:
    the Beta density is totally positive (TP2) in θ and the count, the distribution of the count K + x is TP2 in the
    count and x ∈ {0, 1} because the binomial is log-concave, and sums of products of TP2 kernels are TP2 [2]_.
    So δ is one tail, P(> θ*) − e^ε Q(> θ*), from the one θ* where the ratio is e^ε. With D_k what the tails of
    neighbouring counts differ by, it is Σ_k w_k (D_k − (e^ε − 1) Q_k), and Q_k = Q_0 + D_0 + … + D_{k−1}: positive
    terms.

    References
    ----------
    .. [1] Zheng (2015), Theorem 6.20.
    .. [2] Karlin (1968), Total Positivity.

    Examples
    --------
    One row and a flat prior: densities 2θ and 2(1 − θ).

    >>> round(parameter_draw_delta(1, 1.0, 1.0, 0.5, 0.0), 12)
    0.5
    """
    n = int(MANY_ROWS.validate(n))
    alpha = PRIOR_ONES.validate(alpha)
    beta = PRIOR_ZEROS.validate(beta)
    theta_real = THETA_REAL.validate(theta_real)
    epsilon = ANY_EPSILON.validate(epsilon)
    weights = log_count_probabilities(n - 1, theta_real)
    deltas = _upward_draw(alpha, beta, weights, epsilon), _upward_draw(beta, alpha, weights[::-1], epsilon)
    return min(max(deltas), 1.0)


def _draw_gain(alpha: float, beta: float, weights: FloatArray) -> Callable[[float], float]:
    """u ↦ ln of the density ratio of the draw with log-odds u, given X_i = 1 and X_i = 0."""
    count = np.arange(len(weights))
    scale = 1.0 if beta < alpha * 1e290 else 1e30
    zeros_to_ones = (beta + count[::-1]) / scale / (alpha + count)
    log_terms = weights + cumulative_sum(np.log(zeros_to_ones[:-1])).astype(float) + count * math.log(scale)

    def gain(log_odds: float) -> float:
        terms = log_terms + count * log_odds
        share = np.exp(terms - terms.max())
        return log_odds + math.log(scale) + math.log(float(share @ zeros_to_ones) / float(share.sum()))

    return gain


def _upward_draw(alpha: float, beta: float, weights: FloatArray, epsilon: float) -> float:
    """Σ (P − e^ε Q)₊ of one posterior draw, P its distribution given X_i = 1."""
    n_others = len(weights) - 1
    gain = _draw_gain(alpha, beta, weights)
    low = epsilon + math.log(alpha) - math.log(beta + n_others)
    high = epsilon + math.log(alpha + n_others) - math.log(beta)
    if gain(low) >= epsilon or gain(high) <= epsilon:
        cut = low if gain(low) >= epsilon else high
    else:
        cut = float(brentq(lambda point: gain(point) - epsilon, low, high, xtol=1e-300, rtol=1e-15))
    log_steps, log_first = _log_tail_steps(alpha, beta, n_others, cut)
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


def _log_tail_steps(alpha: float, beta: float, n_others: int, cut: float) -> tuple[FloatArray, float]:
    """ln of D_k = Pr(Beta(x + 1, y) > θ) − Pr(Beta(x, y + 1) > θ), and of the tail Pr(Beta(α, β + N + 1) > θ).

    x = α + k, y = β + N − k, k = 0 … N; `cut` is the log-odds of θ. D_{k+1} / D_k = θ y / ((1 − θ)(x + 1)).
    The largest D is its peak, where δ(0) of that pair is, times (θ / p)^x ((1 − θ) / (1 − p))^y, p = x / (x + y).
    """
    log_left, log_right = -float(np.logaddexp(0.0, -cut)), -float(np.logaddexp(0.0, cut))
    left, right = math.exp(log_left), math.exp(log_right)
    all_x, all_y = alpha + np.arange(n_others + 1), beta + np.arange(n_others + 1)[::-1]
    x, y = all_x[1:], all_y[:-1]
    sums = cumulative_sum(_log_quotient(left * y - right * x, right * x, cut + np.log(y) - np.log(x)))
    mode = int(np.argmax(sums))
    x, y = all_x[mode : mode + 1], all_y[mode : mode + 1]
    away = left * y - right * x
    largest = log_parameter_delta(x, y, 0.0) + x * _log_quotient(away, x, log_left + np.log(x + y) - np.log(x))
    largest += y * _log_quotient(-away, y, log_right + np.log(x + y) - np.log(y))
    log_steps = (sums - sums[mode]).astype(float) + largest
    return log_steps, _log_first_tail(alpha, beta + n_others, left, right, float(log_steps[0]))


def _log_quotient(difference: FloatArray, base: FloatArray, far: FloatArray) -> FloatArray:
    """ln(1 + difference / base): from the difference where that is small beside the base, and `far` elsewhere."""
    is_near = np.abs(difference) < 0.5 * base
    return np.where(is_near, np.log1p(np.divide(difference, base, out=np.zeros_like(base), where=is_near)), far)


def _log_first_tail(x: float, y: float, left: float, right: float, log_step: float) -> float:
    """ln Pr(Beta(x, y + 1) > θ): by its continued fraction relative to the step D(x, y) where it underflows."""
    tail = float(betaincc(x, y + 1, left) if left < 0.5 else betainc(y + 1, x, right))
    if tail > MIN_TAIL:
        return math.log(tail)
    if right == 0:
        return -math.inf
    odds, far = np.array([x / y]), math.log(left) - math.log(right) - math.log(x / y)
    share = right * x / (y + 1) * float(_tail_fraction(np.array([x]), np.array([y]), odds, far)[0])
    return log_step + math.log(share) if share > 0 else -math.inf
