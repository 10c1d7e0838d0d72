"""Average-case privacy: one row is fixed, the others are random, and their randomness protects it too.

The n rows are iid Bernoulli(θ_real). Given X_i = 1 the count of ones is K + 1, given X_i = 0 it is K, with
K ~ Binomial(n − 1, θ_real). P and Q are the distributions of the release in these two cases, and every δ here is

    H_ε = max(Σ max(0, P − e^ε Q), Σ max(0, Q − e^ε P)).

Zheng's (ε, δ, Δ)-privacy compares P and Q with a simulator that does not know row i; Δ holds every θ_real.
Source: Zheng (2015), sections 2.1.3 and 6.3, after Bassily, Groce, Katz & Smith (2013).
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from scipy.special import logit

from dpviz.core.declarations import ANY_EPSILON, MANY_ROWS, PROPORTION
from dpviz.core.numerics.special import MAX_EXPONENT, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.pair_divergence import log_binomial

THETA_REAL = dataclasses.replace(
    PROPORTION, name="theta_real", symbol="θ_real", title="Probability of a one", default=0.5,
    help="The probability that a confidential row is a one. At 0 and 1 the other rows are known and protect nothing.",
)  # fmt: skip

DeltaOf = Callable[[float], float]


def average_case_delta(synthesizer: TwoCellSynthesizer, theta_real: float, epsilon: float) -> float:
    """Smallest δ with which the released counts hide one row among n − 1 random ones; at most δ(ε).

    H_ε of P = Σ_k w_k T[k + 1, ·] and Q = Σ_k w_k T[k, ·], with w the Binomial(n − 1, θ_real) probabilities and T the
    transition matrix: to about 1e-11 down to 1e-300. Zheng (2015), definition 2.14 and proposition 2.15.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    theta_real, epsilon : float
    """
    theta, epsilon = THETA_REAL.validate(theta_real), ANY_EPSILON.validate(epsilon)
    log_weights = log_count_probabilities(synthesizer.n - 1, theta)
    value = 0.0
    for window in (70.0, 250.0, math.inf):  # nats below the likeliest count: the first that leaves out next to nothing
        pairs = np.flatnonzero(log_weights >= log_weights.max() - window)
        value = _mixture_delta(synthesizer, pairs, log_weights[pairs], epsilon)
        omitted = float(np.exp(np.delete(log_weights, pairs) + min(epsilon, MAX_EXPONENT)).sum())
        if omitted <= 1e-13 * value:
            break
    return value


def count_release_delta(n: int, theta_real: float, epsilon: float) -> float:
    """Smallest δ with which the count of ones hides one row: PARAM_MAP, which is a function of it.

    Parameters
    ----------
    n : int
    theta_real, epsilon : float

    Notes
    -----
    P(s) = w_{s−1}, Q(s) = w_s, s = 0 … n: their ratio s (1 − θ) / ((n − s) θ) rises to infinity at s = n, so δ is at
    least max(θ, 1 − θ)^{n − 1}. Zheng (2015), theorem 6.18 and corollary 6.19.
    """
    n, theta, epsilon = MANY_ROWS.validate(n), THETA_REAL.validate(theta_real), ANY_EPSILON.validate(epsilon)
    if theta in (0.0, 1.0):
        return 1.0
    log_weights = log_count_probabilities(n - 1, theta)
    count = np.arange(n + 1)
    with np.errstate(divide="ignore"):
        loss = np.log(count) - np.log(n - count) - logit(theta)
    return float(_both_ways(np.append(-np.inf, log_weights), np.append(log_weights, -np.inf), loss, epsilon).max())


def midpoint_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A δ for which the release is (ε, δ, {θ_real})-private: that of the simulator S = (P + Q) / 2, a coin toss.

    H_ε(P‖S) = (1 − e^ε / 2) H(P‖Q) at −ln(2 e^{−ε} − 1), nothing from ε = ln 2 on, H_ε(S‖P) = ½ H(Q‖P) at ln(2 e^ε −
    1), and likewise for Q. Zheng (2015), definition 2.14 and the proof of proposition 6.17.

    Parameters
    ----------
    delta_of : callable
        H as a function of ε.
    epsilon : float
    """
    epsilon = ANY_EPSILON.validate(epsilon)
    from_simulator = 0.5 * delta_of(epsilon + math.log1p(-math.expm1(-epsilon)))
    excused = 1 + 2 * math.expm1(-epsilon)  # 2 e^{−ε} − 1
    if excused <= 0:
        return from_simulator
    return max(from_simulator, (1 - math.exp(epsilon) / 2) * delta_of(-math.log(excused)))


def count_simulator_deltas(n: int, theta_real: float, epsilon: float) -> tuple[float, float]:
    """Bounds of the true δ of proposition 6.17 of Zheng (2015), which is of the count of n rows.

    They are H_{2ε} / (1 + e^ε), by proposition 2.15, and `midpoint_simulator_delta`. The slack 2δ of the printed
    condition is that of one count. A set of counts may use it once for each of them: at small ε the printed δ is O(1 /
    n) and the true one O(1 / √n).

    Parameters
    ----------
    n : int
    theta_real, epsilon : float
    """

    def delta_of(value: float) -> float:
        return count_release_delta(n, theta_real, value)

    share = math.exp(-ANY_EPSILON.validate(epsilon))
    return delta_of(2 * epsilon) * share / (1 + share), midpoint_simulator_delta(delta_of, epsilon)


def log_count_probabilities(trials: int, theta: float) -> FloatArray:
    """ln Pr(K = 0 … `trials`) for K ~ Binomial(trials, θ), the likely ones to full precision.

    Parameters
    ----------
    trials : int
    theta : float
    """
    count = np.arange(trials + 1.0)
    return log_binomial(theta, 1 - theta, count, trials - count)


def _both_ways(log_one: FloatArray, log_zero: FloatArray, loss: FloatArray, epsilon: float) -> FloatArray:
    """Σ P (1 − e^{ε − L})₊ and Σ Q (1 − e^{ε + L})₊ from ln P, ln Q and L = ln(P / Q)."""
    up = np.exp(log_one) @ -np.expm1(np.minimum(epsilon - loss, 0.0))
    down = np.exp(log_zero) @ -np.expm1(np.minimum(epsilon + loss, 0.0))
    return np.array([up, down])


def _mixture_delta(synthesizer: TwoCellSynthesizer, pairs: IntArray, log_weights: FloatArray, epsilon: float) -> float:
    """`average_case_delta` from consecutive counts of the other rows, with these log-probabilities."""
    rows = np.append(pairs, pairs[-1] + 1)
    released = np.arange(synthesizer.m + 1)
    totals = np.zeros(2)
    for block in row_blocks(len(released), len(pairs), 400_000):
        table = synthesizer.log_transition(rows, released[block])
        (log_one, _), (log_zero, shares) = (_log_mixture(log_weights, part) for part in (table[1:], table[:-1]))
        with np.errstate(over="ignore", invalid="ignore"):
            loss = np.where(np.isneginf(log_one) & np.isneginf(log_zero), 0.0, log_one - log_zero)

            # A mean of P / Q − 1 keeps the digits of the log-odds
            gain = np.einsum("kc,kc->c", shares, np.expm1(-synthesizer.log_odds(pairs, released[block])))
            is_near = (gain > -0.5) & np.isfinite(gain)
        loss[is_near] = np.log1p(gain[is_near])
        totals += _both_ways(log_one, log_zero, loss, epsilon)
    return float(min(totals.max(), 1.0))


def _log_mixture(log_weights: FloatArray, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """ln Σ_k w_k T[k, ·], and what share of it each k has."""
    terms = log_weights[:, None] + table
    top = terms.max(axis=0)
    top[np.isneginf(top)] = 0.0
    np.exp(terms - top, out=terms)
    total = terms.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms /= total
        return top + np.log(total), terms
