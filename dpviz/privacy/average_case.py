"""Average-case privacy: one row is fixed, the others are random, and their randomness protects it too.

The n rows are iid Bernoulli(θ_real). Given X_i = 1 the count of ones is K + 1, given X_i = 0 it is K, with
K ~ Binomial(n − 1, θ_real). P and Q are the distributions of the release in these two cases, and every δ here is

    H_ε = max(Σ max(0, P − e^ε Q), Σ max(0, Q − e^ε P)).

Zheng's (ε, δ, Δ)-privacy compares P and Q with a simulator that does not know row i; Δ holds every θ_real.
Source: Zheng (2015), §2.1.3 and §6.3, after Bassily, Groce, Katz & Smith (2013).
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from dpviz.core.declarations import MANY_ROWS, PROPORTION
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import TwoCellSynthesizer

THETA_REAL = dataclasses.replace(
    PROPORTION,
    name="theta_real",
    symbol="θ_real",
    title="Probability of a one",
    default=0.5,
    help="The probability that a confidential row is a one. At 0 and 1 the other rows are known and protect nothing.",
)

# Nats below the likeliest count within which counts are taken: the first window whose neglect is negligible serves.
WINDOWS = (70.0, 250.0, math.inf)
WINDOW_TOLERANCE = 1e-13  # Largest relative change of δ by the counts left out of a window
ROUNDED_LOSS = 0.1  # Distance of a loss from ε within which 1 − e^{ε − L} may be its rounding
CELLS_AT_ONCE = 400_000  # Cells of the transition matrix worked on at once


def average_case_delta(synthesizer: TwoCellSynthesizer, theta_real: float, epsilon: float) -> float:
    """Return the smallest δ with which the released counts hide one row among n − 1 random ones; at most δ(ε).

    P = Σ_k w_k T[k + 1, ·], Q = Σ_k w_k T[k, ·], w the Binomial(n − 1, θ_real) probabilities, T the transition matrix,
    to about 1e-11 down to 1e-300. Source: Zheng (2015), Definition 2.14 and Proposition 2.15.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(average_case_delta(BetaBinomial(n=1, m=1, alpha=1, beta=1), 0.5, 0.0), 12)
    0.333333333333
    """
    theta, epsilon = THETA_REAL.check(theta_real), ANY_EPSILON.check(epsilon)
    weights = log_count_probabilities(synthesizer.n - 1, theta)
    value = 0.0
    for window in WINDOWS:
        pairs = np.flatnonzero(weights >= weights.max() - window)
        value = _mixture_delta(synthesizer, pairs[0], weights[pairs], epsilon)
        missing = float(np.exp(np.delete(weights, pairs) + min(epsilon, LARGEST_EXPONENT)).sum())
        if missing <= WINDOW_TOLERANCE * value:
            break
    return value


def count_release_delta(n: int, theta_real: float, epsilon: float) -> float:
    """Return the smallest δ with which the count of ones hides one row: PARAM_MAP, which is a function of it.

    P(s) = w_{s−1}, Q(s) = w_s, s = 0 … n: their ratio s (1 − θ) / ((n − s) θ) rises to infinity at s = n, so δ = Pr(K ≥
    s* − 1) − e^ε Pr(K ≥ s*) with s* the smallest count whose ratio exceeds e^ε, and likewise downward: at least max(θ,
    1 − θ)^{n − 1}. Source: Zheng (2015), Theorem 6.18 and Corollary 6.19.

    >>> count_release_delta(2, 0.5, 0.0)  # (0, 1/2, 1/2) against (1/2, 1/2, 0)
    0.5
    """
    n, theta, epsilon = int(MANY_ROWS.check(n)), THETA_REAL.check(theta_real), ANY_EPSILON.check(epsilon)
    if theta in (0.0, 1.0):
        return 1.0
    weights, count, never = log_count_probabilities(n - 1, theta), np.arange(n + 1), np.array([-np.inf])
    with np.errstate(divide="ignore"):
        loss = -_log_ratio(n - count, count, n * theta - count, theta)
    return max(_both_ways(np.concatenate([never, weights]), np.concatenate([weights, never]), loss, epsilon))


def count_release_curve(n: int, thetas: Sequence[float], epsilon: float) -> FloatArray:
    """`count_release_delta` at several θ."""
    return np.array([count_release_delta(n, theta, epsilon) for theta in thetas])


def smallest_simulator_delta(delta_of: Callable[[float], float], epsilon: float) -> float:
    """Return a lower bound, H_{2ε} / (1 + e^ε), of every δ for which the release is (ε, δ, {θ_real})-private.

    Source: Zheng (2015), Proposition 2.15. A release that tells the row (H_ε = 1 for every ε) needs at least 1/2 at 0.
    """
    share = math.exp(-ANY_EPSILON.check(epsilon))
    return delta_of(2 * epsilon) * share / (1 + share)


def midpoint_simulator_delta(delta_of: Callable[[float], float], epsilon: float) -> float:
    """Return a δ for which the release is (ε, δ, {θ_real})-private, with S = (P + Q) / 2: a coin toss for row i.

    H_ε(P‖S) = (1 − e^ε / 2) H(P‖Q) at −ln(2 e^{−ε} − 1), nothing from ε = ln 2 on, H_ε(S‖P) = ½ H(Q‖P) at
    ln(2 e^ε − 1), and likewise for Q. Source: Zheng (2015), Definition 2.14 and the proof of Proposition 6.17.
    """
    epsilon = ANY_EPSILON.check(epsilon)
    into = 0.5 * delta_of(epsilon + math.log1p(-math.expm1(-epsilon)))
    left = 1 + 2 * math.expm1(-epsilon)  # 2 e^{−ε} − 1
    return into if left <= 0 else max(into, (1 - math.exp(epsilon) / 2) * delta_of(-math.log(left)))


def count_simulator_deltas(n: int, theta_real: float, epsilon: float) -> tuple[float, float]:
    """Return both bounds of the true δ of Proposition 6.17 of Zheng (2015), which is of the count of n rows.

    The slack 2δ of the printed condition is that of one count. A set of counts may use it once for each of them: at
    small ε the printed δ is O(1 / n) and the true one O(1 / √n).
    """

    def delta_of(value: float) -> float:
        return count_release_delta(n, theta_real, value)

    return smallest_simulator_delta(delta_of, epsilon), midpoint_simulator_delta(delta_of, epsilon)


def log_count_probabilities(trials: int, theta: float) -> FloatArray:
    """ln Pr(K = 0 … `trials`) for K ~ Binomial(trials, θ), the likely ones to full precision."""
    count = np.arange(1, trials + 1)
    if theta in (0.0, 1.0):
        logs = np.full(trials + 1, -np.inf)
        logs[-1 if theta else 0] = 0.0
        return logs
    sums = cumulative_sum(_log_ratio(trials + 1 - count, count, (trials + 1) * theta - count, theta))
    mode = int(np.argmax(sums.coarse))
    logs = (sums.coarse - sums.coarse[mode]) + sums.fine
    return logs - math.log(np.exp(logs).sum())


def _log_ratio(zeros: IntArray, ones: IntArray, ahead: FloatArray, theta: float) -> FloatArray:
    """ln of `zeros` θ / (`ones` (1 − θ)), from `ahead` = (zeros + ones) θ − ones where they are nearly equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = ahead / (ones * (1 - theta))
        far = np.log(zeros) - np.log(ones) + (math.log(theta) - math.log1p(-theta))
        return np.where(np.abs(part) < 0.5, np.log1p(part), far)


def _both_ways(log_one: FloatArray, log_zero: FloatArray, loss: FloatArray, epsilon: float) -> tuple[float, float]:
    """Σ P (1 − e^{ε − L})₊ and Σ Q (1 − e^{ε + L})₊ from ln P, ln Q and L = ln(P / Q)."""
    up = np.exp(log_one) @ -np.expm1(np.minimum(epsilon - loss, 0.0))
    down = np.exp(log_zero) @ -np.expm1(np.minimum(epsilon + loss, 0.0))
    return float(up), float(down)


def _mixture_delta(synthesizer: TwoCellSynthesizer, first: int, weights: FloatArray, epsilon: float) -> float:
    """`average_case_delta` from the counts first, first + 1, … of the other rows, with these log-probabilities."""
    pairs = np.arange(first, first + len(weights))
    rows, released, totals = np.append(pairs, pairs[-1] + 1), np.arange(synthesizer.m + 1), np.zeros(2)
    for block in blocks(len(released), len(weights), CELLS_AT_ONCE):
        columns = released[block]
        table = synthesizer.log_transition(rows, columns)
        log_one, shares_one = _log_mixture(weights, table[1:])
        log_zero, shares_zero = _log_mixture(weights, table[:-1])
        log_odds = synthesizer.log_odds(pairs, columns)
        with np.errstate(over="ignore", invalid="ignore"):
            loss = np.where(np.isneginf(log_one) & np.isneginf(log_zero), 0.0, log_one - log_zero)
            # As a mean of P / Q − 1 or Q / P − 1 it keeps the digits of the log-odds; only near −ε do they matter.
            gain = np.einsum("kc,kc->c", shares_zero, np.expm1(-log_odds))
            near, below = (gain > -0.5) & np.isfinite(gain), (gain <= -0.5) & (np.abs(epsilon + loss) < ROUNDED_LOSS)
            back = np.einsum("kc,kc->c", shares_one[:, below], np.expm1(log_odds[:, below]))
        loss[near] = np.log1p(gain[near])
        loss[below] = np.where(np.isfinite(back), -np.log1p(back), loss[below])
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
