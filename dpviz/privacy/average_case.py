"""Average-case privacy: one row is fixed, the others are random, and their randomness protects it too.

The n rows are iid Bernoulli(θ_real). Given X_i = 1 the count of ones is K + 1, given X_i = 0 it is K, with
K ~ Binomial(n − 1, θ_real). P and Q are the laws of the release in these two cases, and every δ here is

    H_ε = max(Σ max(0, P − e^ε Q), Σ max(0, Q − e^ε P)).

Zheng's (ε, δ, Δ)-privacy compares P and Q with a simulator that does not know row i. Proposition 2.15 bounds its least
δ from below by H_{2ε} / (1 + e^ε); the simulator (P + Q) / 2 bounds it from above. Every
answer is for one θ_real; Δ holds all of them, and `worst_theta` looks for the worst.

Source: Zheng (2015), §2.1.3 and §6.3, after Bassily, Groce, Katz & Smith (2013).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, betaincc

from dpviz.parameters import Parameter
from dpviz.priors.posterior_parameter import MANY_ROWS, log_parameter_delta
from dpviz.privacy.log_odds import check_epsilon
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.synthesizers._sums import cumulative_sum
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.types import FloatArray

THETA_REAL = Parameter(
    name="theta_real",
    symbol="θ_real",
    title="Probability of a one",
    minimum=0.0,
    maximum=1.0,
    default=0.5,
    help="The probability that a confidential row is a one. At 0 and 1 the other rows are known and protect nothing.",
)

WINDOWS = (70.0, 250.0, math.inf)
"""Nats below the likeliest count within which counts are taken: the first window whose neglect is negligible serves."""

NEGLIGIBLE = 1e-13
"""Most that the counts left out of a window may change δ by, relative to it."""

CELLS = 400_000
"""Cells of the transition matrix worked on at once."""

SMALLEST_TAIL, FRACTIONS = 1e-305, 1000
"""Tail below which it is taken relative to its leading term, as it underflows, and most terms for that."""

SCAN_POINTS = 161
"""Values of θ_real that `worst_theta` looks at, evenly spaced in the logarithm of the odds."""

DeltaOf = Callable[[float], float]


def average_case_delta(synthesizer: TwoCellSynthesizer, theta_real: float, epsilon: float) -> float:
    """The least δ with which the released counts hide one row among n − 1 random ones.

    P = Σ_k w_k T[k + 1, ·], Q = Σ_k w_k T[k, ·], w the Binomial(n − 1, θ_real) probabilities, T the transition matrix.

    Parameters
    ----------
    synthesizer
        Any release of two counts. The cost is that of the rows of T within the window of likely counts, about
        24 √(n θ_real (1 − θ_real)) of them: 0.03 s for n = m = 1,000 and 0.2 s for n = m = 5,000. Where δ is so small
        that unlikely counts decide it, it is that of all rows: 0.1 s and 1.5 s.
    theta_real
        θ_real, 0 to 1.
    epsilon
        ε ≥ 0, finite.

    Returns
    -------
    float
        δ in [0, 1], relative error about 1e-11 down to 1e-300; never above `delta_for_epsilon`, which it equals or
        nears where θ_real is 0 or 1 and an extreme table is the worst.

    Source: Zheng (2015), Definition 2.14 and Proposition 2.15.

    Examples
    --------
    With n = 1 there are no other rows: Beta-binomial rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> round(average_case_delta(BetaBinomial(n=1, m=1, alpha=1, beta=1), 0.5, 0.0), 12)
    0.333333333333
    """
    theta, epsilon = THETA_REAL.check(theta_real), check_epsilon(epsilon)
    weights = log_count_probabilities(synthesizer.n - 1, theta)
    value = 0.0
    for window in WINDOWS:
        pairs = np.flatnonzero(weights >= weights.max() - window)
        value = _mixture_delta(synthesizer, pairs[0], weights[pairs], epsilon)
        missing = float(np.exp(np.delete(weights, pairs) + min(epsilon, 700.0)).sum())
        if missing <= NEGLIGIBLE * value:
            break
    return value


def count_release_delta(n: int, theta_real: float, epsilon: float) -> float:
    """The least δ with which the count of ones itself hides one row: PARAM_MAP, which is a function of the count.

    P(s) = w_{s−1}, Q(s) = w_s, s = 0 … n: their ratio s (1 − θ) / ((n − s) θ) rises to infinity at s = n, so
    δ = Pr(K ≥ s* − 1) − e^ε Pr(K ≥ s*) with s* the least count whose ratio exceeds e^ε, and likewise downward.
    Evaluated as a sum of positive terms.

    Parameters
    ----------
    n
        Confidential rows, 1 to 100,000.
    theta_real
        θ_real, 0 to 1.
    epsilon
        ε ≥ 0, finite.

    Returns
    -------
    float
        δ in (0, 1], at least `certain_count_probability` for every ε; relative error about 1e-12.

    Source: Zheng (2015), Theorem 6.18 and Corollary 6.19.

    Examples
    --------
    n = 2, θ = 1/2: P = (0, 1/2, 1/2) and Q = (1/2, 1/2, 0).

    >>> count_release_delta(2, 0.5, 0.0)
    0.5
    """
    n, theta, epsilon = int(MANY_ROWS.check(n)), THETA_REAL.check(theta_real), check_epsilon(epsilon)
    if theta in (0.0, 1.0):
        return 1.0
    weights, count, never = log_count_probabilities(n - 1, theta), np.arange(n + 1), np.array([-np.inf])
    with np.errstate(divide="ignore"):
        loss = np.log1p((count - n * theta) / ((n - count) * theta))
    loss[0] = -np.inf  # rounding of n θ must not hide that no one can be among no ones
    return max(_both_ways(np.concatenate([never, weights]), np.concatenate([weights, never]), loss, epsilon))


def parameter_draw_delta(n: int, alpha: float, beta: float, theta_real: float, epsilon: float) -> float:
    """The least δ with which one draw of θ from its posterior hides one row: PARAM_Post.

    P = Σ_k w_k Beta(k + 1 + α, n − 1 − k + β), Q = Σ_k w_k Beta(k + α, n − k + β). The density ratio P / Q rises in θ:
    the Beta density is totally positive (TP2) in θ and the count, the law of the count K + x is TP2 in the count and
    x ∈ {0, 1} because the binomial is log-concave, and sums of products of TP2 kernels are TP2 (Karlin 1968). So δ is
    one tail, P(> θ*) − e^ε Q(> θ*), from the one θ* where the ratio is e^ε. With D_k what the tails of neighbouring
    counts differ by, it is Σ_k w_k (D_k − (e^ε − 1) Q_k), and Q_k = Q_0 + D_0 + … + D_{k−1}: positive terms.

    Parameters
    ----------
    n
        Confidential rows, 1 to 100,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, 1e-300 to 1e12.
    theta_real
        θ_real, 0 to 1.
    epsilon
        ε ≥ 0, finite.

    Returns
    -------
    float
        δ in [0, 1], relative error about 1e-12 down to 1e-300 for priors up to 1e6, 1e-9 for priors of 1e12.

    Source: Zheng (2015), Theorem 6.20.

    Examples
    --------
    One row and a flat prior: densities 2θ and 2(1 − θ).

    >>> round(parameter_draw_delta(1, 1.0, 1.0, 0.5, 0.0), 12)
    0.5
    """
    n, theta, epsilon = int(MANY_ROWS.check(n)), THETA_REAL.check(theta_real), check_epsilon(epsilon)
    alpha, beta = PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta)
    weights = log_count_probabilities(n - 1, theta)
    return max(_upward_draw(alpha, beta, weights, epsilon), _upward_draw(beta, alpha, weights[::-1], epsilon))


def least_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A lower bound of every δ for which the release is (ε, δ, {θ_real})-private: H_{2ε} / (1 + e^ε).

    Parameters
    ----------
    delta_of
        ε ↦ H_ε, such as ``lambda epsilon: count_release_delta(n, theta_real, epsilon)``.
    epsilon
        ε ≥ 0, finite.

    Source: Zheng (2015), Proposition 2.15.

    Examples
    --------
    A release that tells the row (H_ε = 1 for every ε) needs at least 1/2 at ε = 0.

    >>> least_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    share = math.exp(-check_epsilon(epsilon))
    return delta_of(2 * epsilon) * share / (1 + share)


def midpoint_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A δ for which the release is (ε, δ, {θ_real})-private: the simulator that fills in row i by a fair coin.

    With S = (P + Q) / 2, the worst of H_ε(P‖S), H_ε(S‖P), H_ε(Q‖S) and H_ε(S‖Q). They are divergences of P and Q:
    H_ε(P‖S) = (1 − e^ε / 2) H(P‖Q) at −ln(2 e^{−ε} − 1), nothing from ε = ln 2 on, and H_ε(S‖P) = ½ H(Q‖P) at
    ln(2 e^ε − 1).

    Parameters
    ----------
    delta_of, epsilon
        As in `least_simulator_delta`.

    Source: Zheng (2015), Definition 2.14; the simulator is that of the proof of Proposition 6.17.

    Examples
    --------
    >>> midpoint_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    epsilon = check_epsilon(epsilon)
    into = 0.5 * delta_of(epsilon + math.log1p(-math.expm1(-epsilon)))
    left = 1 + 2 * math.expm1(-epsilon)  # 2 e^{−ε} − 1
    return into if left <= 0 else max(into, (1 - math.exp(epsilon) / 2) * delta_of(-math.log(left)))


def certain_count_probability(n: int, theta_real: float) -> float:
    """max(θ^{n−1}, (1 − θ)^{n−1}): how often the count shows row i for sure, being n with X_i = 1, or 0 with X_i = 0.

    The other value of X_i makes that count impossible, so `count_release_delta` is at least this for every ε, and the
    count is not (ε, 0, Δ)-private for any θ_real at all.

    Source: Zheng (2015), Theorem 6.18, whose proof lets θ_real tend to 1.

    Examples
    --------
    >>> certain_count_probability(3, 0.5)
    0.25
    """
    theta = THETA_REAL.check(theta_real)
    return max(theta, 1 - theta) ** (int(MANY_ROWS.check(n)) - 1)


@dataclass(frozen=True)
class CountCondition:
    """Proposition 6.17 for the release of the count itself.

    Parameters
    ----------
    printed
        The least δ of the printed condition: ½ max (Pr(ΣX = n1) − e^ε Pr(ΣX = n1'))₊ over |n1 − n1'| = 1.
    repaired
        ½ H_ε: the condition for sets of counts rather than for single ones, which the printed proof needs.
    least, midpoint
        `least_simulator_delta` and `midpoint_simulator_delta`: the true least δ lies between them.
    """

    printed: float
    repaired: float
    least: float
    midpoint: float

    @property
    def refuted(self) -> bool:
        """Whether the printed δ is smaller than any simulator achieves."""
        return self.printed < self.least


def count_condition(n: int, theta_real: float, epsilon: float) -> CountCondition:
    """What Proposition 6.17 promises for the count of n rows, and what is true.

    The slack 2δ of the printed condition is that of one count. A set of counts may use it once for each of them, so
    that the conclusion does not follow: at small ε the printed δ is O(1 / n) and the true one O(1 / √n).

    Parameters
    ----------
    n, theta_real, epsilon
        As in `count_release_delta`.

    Source: Zheng (2015), Proposition 6.17.

    Examples
    --------
    >>> condition = count_condition(1000, 0.5, 0.01)
    >>> condition.printed < 0.0005 < 0.008 < condition.least, condition.refuted
    (True, True)
    """
    law = np.exp(log_count_probabilities(int(MANY_ROWS.check(n)), THETA_REAL.check(theta_real)))
    share = math.exp(min(check_epsilon(epsilon), 700.0))
    printed = max(float(np.max(law[1:] - share * law[:-1])), float(np.max(law[:-1] - share * law[1:])), 0.0) / 2

    def delta_of(value: float) -> float:
        return count_release_delta(n, theta_real, value)

    return CountCondition(
        printed,
        delta_of(epsilon) / 2,
        least_simulator_delta(delta_of, epsilon),
        midpoint_simulator_delta(delta_of, epsilon),
    )


def printed_count_rate(n: int, epsilon: float) -> float:
    """(1 − e^{2ε}) / √n, the rate below which Corollary 6.19 says that no δ makes the count private; never positive.

    The corollary takes the likeliest count, which rules nothing out there for ε > 0: the difference is negative. For
    θ_real fixed inside (0, 1) `count_release_delta` falls exponentially in n instead; it stays large where θ_real
    tends to 0 or 1 with n.

    Source: Zheng (2015), Corollary 6.19.

    Examples
    --------
    >>> round(printed_count_rate(100, 0.5), 6)  # (1 − e) / 10
    -0.171828
    """
    return -math.expm1(2 * check_epsilon(epsilon)) / math.sqrt(MANY_ROWS.check(n))


@dataclass(frozen=True)
class DrawLogOdds:
    """ln of the density ratio of one posterior draw given X_i = 1 and X_i = 0: the printed lower bound, and exactly."""

    printed: float
    exact: float


def parameter_draw_log_odds(n: int, alpha: float, beta: float, theta_real: float, log_odds: float) -> DrawLogOdds:
    """The attacker's gain from one draw θ: unbounded in it, so that PARAM_Post is not (ε, 0, Δ)-private.

    u + ln Σ_k π_k (n − 1 − k + β) / (k + α), u = ln(θ / (1 − θ)), π the law of k given the draw and X_i = 0; printed
    is its lower bound u + ln(β / (α + n)).

    Parameters
    ----------
    n, alpha, beta, theta_real
        As in `parameter_draw_delta`.
    log_odds
        u, any finite number.

    Source: Zheng (2015), Theorem 6.20.

    Examples
    --------
    One row and a flat prior: θ / (1 − θ).

    >>> parameter_draw_log_odds(1, 1.0, 1.0, 0.5, 2.0)
    DrawLogOdds(printed=1.3068528194400546, exact=2.0)
    """
    n, alpha, beta = int(MANY_ROWS.check(n)), PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta)
    weights = log_count_probabilities(n - 1, THETA_REAL.check(theta_real))
    return DrawLogOdds(log_odds + math.log(beta / (alpha + n)), _draw_gain(alpha, beta, weights)(log_odds))


@dataclass(frozen=True)
class WorstTheta:
    """The θ_real with the largest δ of all that a scan has looked at, and that δ."""

    theta_real: float
    delta: float


def worst_theta(delta_of_theta: DeltaOf, least: float) -> WorstTheta:
    """The largest δ over θ_real from `least` to 1 − `least`, by a scan.

    `SCAN_POINTS` values evenly spaced in ln(θ / (1 − θ)), both ends among them, then a bounded search between the
    neighbours of the best. It is a scan, not a proof: the δ found is attained, a narrow peak could be missed.

    Parameters
    ----------
    delta_of_theta
        θ_real ↦ δ, such as ``lambda theta: count_release_delta(n, theta, epsilon)``.
    least
        c, above 0 and below 1/2.

    Raises
    ------
    ValueError
        If `least` is not above 0 and below 1/2.

    Source: Zheng (2015), the restriction θ_real, 1 − θ_real ≥ c after Theorem 6.18.

    Examples
    --------
    >>> worst_theta(lambda theta: theta * (1 - theta), 0.01).delta
    0.25
    """
    if not 0 < least < 0.5:
        raise ValueError(f"least must be a number above 0 and below 1/2; got {least!r}.")
    end = math.log((1 - least) / least)
    grid = np.linspace(-end, end, SCAN_POINTS)

    def delta_at(log_odds: float) -> tuple[float, float]:
        theta = 1 / (1 + math.exp(-log_odds))
        theta = least if log_odds <= -end else 1 - least if log_odds >= end else theta
        return delta_of_theta(theta), theta

    scanned = [delta_at(float(point)) for point in grid]
    best = int(np.argmax([delta for delta, _ in scanned]))
    bounds = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, SCAN_POINTS - 1)])
    found = minimize_scalar(lambda point: -delta_at(point)[0], bounds=bounds, method="bounded")
    delta, theta = max(scanned[best], delta_at(float(found.x)))
    return WorstTheta(theta, delta)


def log_count_probabilities(trials: int, theta: float) -> FloatArray:
    """ln Pr(K = 0 … `trials`) for K ~ Binomial(trials, θ), the likely ones to full precision.

    Examples
    --------
    >>> np.exp(log_count_probabilities(2, 0.5)).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    count = np.arange(1, trials + 1)
    if theta in (0.0, 1.0):
        logs = np.full(trials + 1, -np.inf)
        logs[-1 if theta else 0] = 0.0
        return logs
    sums = cumulative_sum(np.log1p(((trials + 1) * theta - count) / (count * (1 - theta))))
    mode = int(np.argmax(sums.coarse))
    logs = (sums.coarse - sums.coarse[mode]) + sums.fine
    return logs - math.log(np.exp(logs).sum())


def _both_ways(log_one: FloatArray, log_zero: FloatArray, loss: FloatArray, epsilon: float) -> tuple[float, float]:
    """Σ P (1 − e^{ε − L})₊ and Σ Q (1 − e^{ε + L})₊ from ln P, ln Q and L = ln(P / Q)."""
    up = np.exp(log_one) @ -np.expm1(np.minimum(epsilon - loss, 0.0))
    down = np.exp(log_zero) @ -np.expm1(np.minimum(epsilon + loss, 0.0))
    return float(up), float(down)


def _mixture_delta(synthesizer: TwoCellSynthesizer, first: int, weights: FloatArray, epsilon: float) -> float:
    """`average_case_delta` from the counts first, first + 1, … of the other rows, with these log-probabilities."""
    pairs = np.arange(first, first + len(weights))
    rows, block, totals = np.append(pairs, pairs[-1] + 1), max(1, CELLS // len(weights)), np.zeros(2)
    for start in range(0, synthesizer.m + 1, block):
        columns = np.arange(start, min(start + block, synthesizer.m + 1))
        table = synthesizer.log_transition(rows, columns)
        log_one, _ = _log_mixture(weights, table[1:])
        log_zero, share = _log_mixture(weights, table[:-1])
        with np.errstate(over="ignore", invalid="ignore"):
            gain = np.einsum("kc,kc->c", share, np.expm1(-synthesizer.log_odds(pairs, columns)))
            loss = np.where(np.isneginf(log_one) & np.isneginf(log_zero), 0.0, log_one - log_zero)
            close = np.abs(gain) < 0.5
        loss[close] = np.log1p(gain[close])  # a small loss keeps its digits as a mean of P / Q − 1
        totals += _both_ways(log_one, log_zero, loss, epsilon)
    return float(min(totals.max(), 1.0))


def _log_mixture(weights: FloatArray, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln Σ_k w_k T[k, ·], and what share of it each k has."""
    terms = weights[:, None] + table
    top = terms.max(axis=0)
    top[np.isneginf(top)] = 0.0
    np.exp(terms - top, out=terms)
    total = terms.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms /= total
        return top + np.log(total), terms


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
    """Σ (P − e^ε Q)₊ of one posterior draw, P its law given X_i = 1."""
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
    upper, lower = 1.0, 1 / (1 - (x + y + 1) * right / (y + 2))
    value = lower
    for step in range(1, FRACTIONS):
        base = y + 1 + 2 * step
        for part in (step * (x - step) / (base - 1), -(y + 1 + step) * (x + y + 1 + step) / (base + 1)):
            upper, lower = 1 + part * right / base / upper, 1 / (1 + part * right / base * lower)
            value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    whole = right * x / (y + 1) * value
    return log_step + math.log(whole) if whole > 0 else -math.inf
