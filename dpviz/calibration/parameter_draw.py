"""PARAM_Post: one draw of the proportion from its posterior is released, and no rows."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, digamma, expit, logsumexp

from dpviz.core.declarations import ANY_EPSILON, MANY_ROWS
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.numerics.special import MAX_EXPONENT, stirling_remainder
from dpviz.core.parameters import validate_fields
from dpviz.core.types import FloatArray, Numbers
from dpviz.mechanisms.base import WorstCase
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS, UnderPrior
from dpviz.privacy.average_case import THETA_REAL, log_count_probabilities
from dpviz.privacy.pld import PrivacyLossDistribution

TAIL_NODES, TAIL_WEIGHTS = gauss_legendre_panels(np.linspace(0, 1, 4).tolist(), 32)
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

    m: int = field(init=False, default=1)  # a single number is released

    def __post_init__(self) -> None:
        validate_fields(self, MANY_ROWS, PRIOR_ONES, PRIOR_ZEROS)

    def worst_log_odds(self) -> WorstCase:
        """Infinite: as θ nears 1, one more confidential one makes it likelier by any factor."""
        return WorstCase(math.inf, 1, 0)

    @staticmethod
    def log_pair_deltas(x: FloatArray, y: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:  # noqa: ARG004
        return log_parameter_delta(x, y, epsilon)


def log_parameter_delta(x: FloatArray, y: FloatArray, epsilon: Numbers) -> FloatArray:
    """ln δ(ε) of Beta(x + 1, y) against Beta(x, y + 1), neighbours that share x ones and y zeros, invented ones too.

    The relative error of δ is about 1e-12 for x, y to 1e6, and 1e-9 at 1e10. The likelier distribution's density is
    larger by more than e^ε where θ > t / (1 + t), t = e^ε x / y. There the two tails differ by one term,
    D = θ^x (1 − θ)^y Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)), so that δ = D − (e^ε − 1) Pr(Beta(x, y + 1) > θ).
    """
    epsilon = np.broadcast_to(np.asarray(epsilon, dtype=float), x.shape)
    log_step = _log_step(x, y, epsilon)
    with np.errstate(divide="ignore"):
        log_share = _log_tail_ratio(x, y, epsilon, log_step) + epsilon + np.log(-np.expm1(-epsilon))
    return log_step + np.log1p(-np.minimum(np.exp(log_share), 1 - 1e-15))


def _log_step(x: FloatArray, y: FloatArray, epsilon: FloatArray) -> FloatArray:
    """ln D at the cut θ / (1 − θ) = e^ε x / y."""
    return _log_peak(x, y) - _depth(x, y, epsilon)


def _log_tail_ratio(x: FloatArray, y: FloatArray, epsilon: FloatArray, log_step: FloatArray) -> FloatArray:
    """ln of Pr(Beta(x, y + 1) > θ) / D at the cut θ / (1 − θ) = e^ε x / y, whose ln D is `log_step`.

    Incomplete beta functions lose digits where a tail is small, and near the center of many rows in both cells: there
    the density of the log-odds beyond the cut is integrated.
    """
    with np.errstate(over="ignore"):
        cut = epsilon + np.log(np.minimum(x / y, 1e300))  # log-odds of θ, which is 1 to all digits beyond
        is_far = x * np.expm1(epsilon) >= 1
    information = x * (y / (x + y))  # of the log-odds of θ
    is_integrated = is_far | ((epsilon**2 * information < 1) & (np.minimum(x, y) >= 1e4))
    ratio = np.empty_like(log_step)
    ratio[is_integrated] = _log_tail_integral(x[is_integrated], y[is_integrated], cut[is_integrated])
    a, b, log_odds = x[~is_integrated], y[~is_integrated], cut[~is_integrated]
    left, right = expit(log_odds), expit(-log_odds)
    with np.errstate(divide="ignore"):
        log_tail = np.log(np.where(left < 0.5, betaincc(a, b + 1, left), betainc(b + 1, a, right)))
    ratio[~is_integrated] = log_tail - log_step[~is_integrated]
    return ratio


def _log_tail_integral(x: FloatArray, y: FloatArray, cut: FloatArray) -> FloatArray:
    """ln of x (1 − θ) ∫ e^h(s) ds over s > 0, e^h the density of the log-odds of Beta(x, y + 1), which is 1 at the cut.

    h is concave; Newton's method from above finds where it is −`NEGLIGIBLE_DEPTH`, and the integral ends there.
    """
    left, right = expit(cut), expit(-cut)

    def log_density(s: FloatArray) -> FloatArray:
        return -x * np.log1p(right * np.expm1(-s)) - (y + 1) * np.log1p(left * np.expm1(s))

    end = np.full_like(x, 200.0)  # beyond any tail that is integrated
    for _ in range(30):  # about half of them halve the length, for counts up to 1e12, before they converge
        slope = x * expit(-cut - end) - (y + 1) * expit(cut + end)
        end -= (log_density(end) + NEGLIGIBLE_DEPTH) / slope
    total = TAIL_WEIGHTS @ np.exp(log_density(TAIL_NODES[:, None] * end))
    return np.log(x) - np.logaddexp(0, cut) + np.log(end * total)


def _log_peak(x: FloatArray, y: FloatArray) -> FloatArray:
    """ln of Γ(x + y + 1) / (Γ(x + 1) Γ(y + 1)) (x / (x + y))^x (y / (x + y))^y, without large numbers."""
    of_total, of_x, of_y = stirling_remainder(np.stack([x + y, x, y]))
    return of_total - of_x - of_y - 0.5 * (math.log(2 * math.pi) + np.log(x) + np.log(y / (x + y)))


def parameter_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Largest probability over tables that the drawn θ tells one from a neighbour by more than e^ε.

    For n1 ones the neighbours with fewer ones speak where θ / (1 − θ) > e^ε (n1 + α − 1) / (n0 + β), those with more
    where it is below e^{−ε} (n1 + α) / (n0 + β − 1): the interval of Zheng (2015), Lemma 6.5.

    Parameters
    ----------
    n : int
        Confidential rows.
    alpha, beta, epsilon : float
    """
    n, epsilon = MANY_ROWS.validate(n), ANY_EPSILON.validate(epsilon)
    alpha, beta = PRIOR_ONES.validate(alpha), PRIOR_ZEROS.validate(beta)
    row = np.arange((n // 2 if alpha == beta else n) + 1)  # equal priors: row n − i is the mirror image of row i
    a, b = alpha + row, beta + (n - row)
    grow = math.exp(min(epsilon, MAX_EXPONENT))
    lower, upper = np.maximum(row - 1, 0), np.minimum(row, n - 1)
    up = grow * (alpha + lower) / (beta + (n - 1 - lower))
    down = (alpha + upper) / (beta + (n - 1 - upper)) / grow
    return min(float(odds_failures(a, b, down, up).max()), 1.0)


def odds_failures(a: FloatArray, b: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Probability that the odds θ / (1 − θ) of θ ~ Beta(a, b) are below `lower` or above `upper`.

    Parameters
    ----------
    a, b, lower, upper : ndarray
        Where the ends are not in order, it may exceed 1.
    """
    return np.asarray(betainc(b, a, 1 / (1 + upper)) + betainc(a, b, lower / (1 + lower)))


def parameter_losses(x: float, y: float, mean_loss: float, resolution: float = 5e-3) -> PrivacyLossDistribution:
    """Privacy loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), which has no bound.

    The density stands at even points around the saddle point of `mean_loss`, where the sum of several losses is cut,
    for the trapezoid rule, which is exact to many digits for a density that is analytic and falls off at both ends.
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
    a, b = np.array(x + 1 + tilt), np.array(y - tilt)
    mode = math.log(a / b)
    # About as many points as the grid has on which the losses are then added up
    logits = np.linspace(mode - _reach(b, a), mode + _reach(a, b), round(200 / resolution))

    a, b = np.array(x + 1), np.array(y)
    log_largest = _log_peak(a, b) + np.log(a * (b / (a + b)))
    log_density = log_largest - _depth(a, b, logits - np.log(a / b))
    return PrivacyLossDistribution(logits + shift, log_density + math.log(logits[1] - logits[0]))


def _depth(a: FloatArray, b: FloatArray, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    left, right = a / (a + b), b / (a + b)
    return np.asarray(a * _log_mixed(right, left, -away) + b * _log_mixed(left, right, away))


def _log_mixed(share: FloatArray, rest: FloatArray, exponent: FloatArray) -> FloatArray:
    """ln(rest + share e^exponent) of two shares of 1, to the last digit near 0 and without overflow."""
    growth = share * np.expm1(np.minimum(exponent, MAX_EXPONENT))
    is_near = (growth > -0.5) & (exponent < MAX_EXPONENT)
    return np.where(is_near, np.log1p(np.maximum(growth, -0.5)), np.logaddexp(np.log(rest), np.log(share) + exponent))


def _reach(a: FloatArray, b: FloatArray) -> float:
    """How far above the mode the density of the logit of Beta(a, b) has fallen by e^`NEGLIGIBLE_DEPTH`."""
    far = 1 / math.sqrt(a * (b / (a + b)))
    while _depth(a, b, np.array(far)) < NEGLIGIBLE_DEPTH:
        far *= 2
    return float(brentq(lambda away: _depth(a, b, np.array(away)) - NEGLIGIBLE_DEPTH, 0.0, far, rtol=1e-3))


def parameter_draw_delta(n: int, alpha: float, beta: float, theta_real: float, epsilon: float) -> float:
    """Smallest δ with which one draw of θ hides one row among n − 1 random ones: average-case privacy.

    The relative error is about 1e-11 down to δ = 1e-300 for priors up to 1e5, and 1e-6 for priors of 1e12.

    Parameters
    ----------
    n : int
        Confidential rows.
    alpha, beta : float
        Prior.
    theta_real : float
        Probability that another row is a one.
    epsilon : float

    Notes
    -----
    P = Σ_k w_k Beta(k + 1 + α, n − 1 − k + β), Q = Σ_k w_k Beta(k + α, n − k + β). The density ratio P / Q rises in θ:
    the Beta density is totally positive (TP2) in θ and the count, the distribution of the count K + x is TP2 in the
    count and x ∈ {0, 1} because the binomial is log-concave, and sums of products of TP2 kernels are TP2 [2]_.
    So δ is one tail, P(> θ*) − e^ε Q(> θ*), from the one θ* where the ratio is e^ε. With D_k what the tails of
    neighbouring counts differ by, it is Σ_k w_k (D_k − (e^ε − 1) Q_k).

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
    n, theta_real, epsilon = MANY_ROWS.validate(n), THETA_REAL.validate(theta_real), ANY_EPSILON.validate(epsilon)
    alpha, beta = PRIOR_ONES.validate(alpha), PRIOR_ZEROS.validate(beta)
    weights = log_count_probabilities(n - 1, theta_real)
    deltas = _upward_draw(alpha, beta, weights, epsilon), _upward_draw(beta, alpha, weights[::-1], epsilon)
    return min(max(deltas), 1.0)


def _upward_draw(alpha: float, beta: float, weights: FloatArray, epsilon: float) -> float:
    """Σ (P − e^ε Q)₊ of one posterior draw, P its distribution given X_i = 1."""
    count = np.arange(len(weights))
    x, y = alpha + count, beta + count[::-1]

    # The cut: the log-odds of θ where the density ratio, a weighted mean of θ y / ((1 − θ) x), is e^ε
    log_odds = np.log(y) - np.log(x)
    log_terms = weights + np.append(0.0, np.cumsum(log_odds[:-1], dtype=np.longdouble)).astype(float)

    def excess(cut: float) -> float:
        terms = log_terms + count * cut
        return float(cut + logsumexp(terms + log_odds) - logsumexp(terms)) - epsilon

    low, high = float(epsilon - log_odds.max()), float(epsilon - log_odds.min())
    if excess(low) >= 0 or excess(high) <= 0:
        cut = low if excess(low) >= 0 else high
    else:
        cut = float(brentq(excess, low, high, xtol=1e-300, rtol=1e-15))

    # Σ_k w_k (D_k − (e^ε − 1) Q_k), in units of the largest w_k D_k
    log_steps = _log_step(x, y, cut + log_odds)
    log_gains = weights + log_steps
    top = float(log_gains.max())
    gains = np.exp(log_gains - top)
    with np.errstate(divide="ignore"):
        log_shares = _log_tail_ratio(x, y, cut + log_odds, log_steps) + (epsilon + np.log(-np.expm1(-epsilon)))
    is_usual = log_shares < 50.0  # else the step itself may underflow
    losses = np.where(is_usual, gains, 1.0) * np.exp(log_shares + np.where(is_usual, 0.0, log_gains - top))
    return float(max(gains.sum() - losses.sum(), 0.0)) * math.exp(top)
