"""Lemma 6.5 as printed, made computable: how often the posterior draw leaves the interval, and the prior it takes."""

import dataclasses
import math

import numpy as np
from scipy.special import betainc

from dpviz.core import limits
from dpviz.core.declarations import ROWS
from dpviz.core.numerics.lockstep import roots
from dpviz.core.parameters import DELTA, EPSILON, readable
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS

LEMMA_ROWS = dataclasses.replace(ROWS, maximum=limits.LARGEST_PRIOR_ROWS)
LEMMA_ONES = dataclasses.replace(PRIOR_ONES, maximum=1e16)
LEMMA_ZEROS = dataclasses.replace(PRIOR_ZEROS, maximum=1e16)

LARGEST_LOG_PRIOR, LOG_PRIOR_ACCURACY = 40.0, 1e-13
MOST_FAILURES_ASKED = 100  # by the search for a prior
SMALLEST_LEMMA_DELTA = 1e-300  # Tails below it are near the end of the floating-point numbers and lose their digits


def lemma_6_5_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return the largest probability, over n₁ = 0 … n, that θ ~ Beta(n₁ + α, n₀ + β), n₀ = n − n₁, leaves the interval.

    That is (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1)), empty for α ≤ 1 or β ≤ 1. Takes n
    to 100,000, α and β to 1e16; tails above 1e-300 have a relative error below 1e-11 + 2e-15 (1 + ln(1/tail)) / ε.
    With n = 1, α = β = 2 and e^ε = 2, Beta(2, 3) must lie in [1/3, 2/5]. Its distribution function is
    6x² − 8x³ + 3x⁴: 11/27 and 0.5248 at the ends.

    >>> round(lemma_6_5_failure(n=1, alpha=2, beta=2, epsilon=math.log(2)) - (1 - 0.5248 + 11 / 27), 12)
    0.0
    """
    rows = int(LEMMA_ROWS.check(n))
    values = _failures(
        np.arange(rows + 1), rows, LEMMA_ONES.check(alpha), LEMMA_ZEROS.check(beta), EPSILON.check(epsilon)
    )
    return float(values.max())


def smallest_prior_of_lemma_6_5(n: int, epsilon: float, delta: float) -> float:
    """Return the smallest α = β > 1 for which Lemma 6.5 promises that PARAM_Post is (ε, δ)-private.

    Takes n to 100,000, and δ = 0, where no prior is enough, or from 1e-300; for δ = 1 every prior does, and it is 0. A
    prior smaller by one part in 10⁶ fails. The failure was found to fall in α, and to be largest at n₁ = 0, on every
    grid tried; that it is within δ for every n₁ is checked for the prior returned.

    >>> round(smallest_prior_of_lemma_6_5(n=1, epsilon=math.log(2), delta=1 - 0.5248 + 11 / 27), 6)
    2.0
    """
    rows, epsilon, delta = int(LEMMA_ROWS.check(n)), EPSILON.check(epsilon), DELTA.check(delta)
    if 0 < delta < SMALLEST_LEMMA_DELTA:
        raise ValueError(f"delta must be 0 or from {readable(SMALLEST_LEMMA_DELTA)} to 1; got {delta!r}.")
    prior = float(smallest_priors_of_lemma_6_5(np.array([rows]), np.array([epsilon]), np.array([delta]))[0])
    step, tables = 2.0**-42, np.arange(rows // 2 + 1)  # those with more ones mirror the others
    while 0 < delta < 1 and _failures(tables, rows, prior, prior, epsilon).max() > _allowed(epsilon, delta):
        prior, step = prior * (1 + step), 2 * step
    return prior


def smallest_priors_of_lemma_6_5(n: FloatArray, epsilon: FloatArray, delta: FloatArray) -> FloatArray:
    """`smallest_prior_of_lemma_6_5` of many settings, in step, for the table without ones, which asks for most."""
    found = np.where(delta == 0, math.inf, 0.0)
    (asked,) = np.nonzero((delta > 0) & (delta < 1))
    n, epsilon, delta = n[asked], epsilon[asked], delta[asked]
    goal, low = np.log(_allowed(epsilon, delta)), math.log(2.0**-52)

    def excess(log_margin: FloatArray, which: IntArray) -> FloatArray:
        prior = 1 + np.exp(log_margin)
        failure = np.maximum(_failures(np.zeros(len(which)), n[which], prior, prior, epsilon[which]), 5e-324)
        with np.errstate(divide="ignore"):
            return np.where(failure < 1, np.log(np.log(failure) / goal[which]), -math.inf)

    start = np.log(np.clip(-np.log(delta) / (np.expm1(np.minimum(epsilon, 700.0)) - epsilon), 1e-9, 1e11))
    log_margin, done = roots(
        excess, start, low, np.full(len(n), LARGEST_LOG_PRIOR), LOG_PRIOR_ACCURACY, most=MOST_FAILURES_ASKED
    )
    found[asked] = 1 + np.exp(np.where(done, log_margin, low))
    return found


def _allowed(epsilon: Numbers, delta: Numbers) -> FloatArray:
    """δ less what the rounding of a tail may take: the ends are rounded, and far out answer by ln(1/δ)/ε as much."""
    allowed: FloatArray = delta / (1 + 1e-11 + 2e-15 * (1 - np.log(delta)) / epsilon)
    return allowed


def _failures(n1: IntArray | FloatArray, n: Numbers, alpha: Numbers, beta: Numbers, epsilon: Numbers) -> FloatArray:
    """Return the probability outside the printed interval for each n₁, as the sum of its two tails."""
    x, y, shrink = n1 + alpha, (n - n1) + beta, np.exp(-epsilon)
    empty = (x <= 1) | (y <= 1) | ((x - 1) * (y - 1) < x * y * shrink**2)
    # 1 stands in where there is no interval, so that no quotient is formed from it.
    fewer_x, fewer_y = np.where(empty, 1.0, x - 1), np.where(empty, 1.0, y - 1)
    below = betainc(x, y, x * shrink / (x * shrink + fewer_y))
    above = betainc(y, x, y * shrink / (y * shrink + fewer_x))
    return np.where(empty, 1.0, np.minimum(below + above, 1.0))
