"""Formulas and conditions of Zheng (2015) as printed."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpviz.calibration.parameter_draw import odds_failures
from dpviz.calibration.smallest_prior import prior_for_delta
from dpviz.core.declarations import MANY_ROWS
from dpviz.core.numerics.special import MAX_EXPONENT, capped_expm1, divide_or_inf, inverse_expm1, log_reciprocal
from dpviz.core.types import FloatArray
from dpviz.privacy.average_case import log_count_probabilities
from dpviz.privacy.pld import advanced_composition
from dpviz.privacy.subsampling import subsampled_epsilon_printed

DIMITRAKAKIS = 2.46  # the constant that Theorem 4.3 takes from Dimitrakakis et al. (2013)
CONDITION_TIE = 1e-12  # relative distance within which both sides of a condition are equal: rounding refuses none
MIN_LEMMA_DELTA = 1e-300  # smaller tails lose their digits near the end of the floating-point numbers


def _share(n: int, m: int) -> float:
    if m > n:
        raise ValueError(f"m (rows of the sample) must be at most n = {n:,}; got {m:,}.")
    return m / n


def _average_delta(n: int, epsilon: float, theta_real: float) -> float:
    """½ max (Pr(n₁) − e^ε Pr(n₁'))₊ over |n₁ − n₁'| = 1, n₁ ~ Binomial(n, θ): of single counts, not of sets of them."""
    if theta_real in (0.0, 1.0):
        return 0.5
    n1 = np.arange(n)
    masses = np.exp(log_count_probabilities(n, theta_real))
    # ln Pr(n₁) − ln Pr(n₁ + 1), in a form that keeps its digits where the two nearly agree
    log_ratios = np.log((n1 + 1) / (n - n1)) - (math.log(theta_real) - math.log1p(-theta_real))
    to_more = masses[:-1] * -np.expm1(np.minimum(epsilon - log_ratios, 0.0))
    to_fewer = masses[1:] * -np.expm1(np.minimum(epsilon + log_ratios, 0.0))
    return max(float(to_more.max()), float(to_fewer.max())) / 2


@lru_cache(maxsize=1024)  # the audit and the curves need the same ones
def _lemma_6_5_prior(n: int, epsilon: float, delta: float) -> float:
    """Smallest α = β > 1 for which Lemma 6.5 promises that PARAM_Post is (ε, δ)-private; ∞ at δ = 0, 0 at δ = 1.

    θ ~ Beta(n₁ + α, n₀ + β) leaves the range (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1))
    with a probability that falls in α and is largest at n₁ = 0 on every grid tried; that it is within δ for every n₁ is
    checked for the prior returned. A prior smaller by one part in 10⁶ fails. NaN for δ below `MIN_LEMMA_DELTA`.
    """
    n = int(MANY_ROWS.validate(n))
    if 0 < delta < MIN_LEMMA_DELTA:
        return math.nan
    if delta in (0, 1):
        return 0.0 if delta == 1 else math.inf
    growth = math.exp(min(epsilon, MAX_EXPONENT))

    def failure(prior: float, n1: FloatArray) -> float:
        x, y = n1 + prior, n - n1 + prior
        return min(float(odds_failures(x, y, x / (y - 1) / growth, growth * ((x - 1) / y)).max()), 1.0)

    # Without ones. The ends of the range are rounded, and tails above 10⁻³⁰⁰ answer by this much
    allowed = delta / (1 + 1e-11 + 2e-15 * (1 - math.log(delta)) / epsilon)
    guess = -math.log(delta) / (math.expm1(min(epsilon, MAX_EXPONENT)) - epsilon)
    prior = 1 + prior_for_delta(lambda margin: failure(1 + margin, np.zeros(1)), allowed, 2.0**-52, 1e17, guess)

    # All tables, of which those with more ones mirror the others
    counts, step = np.arange(n // 2 + 1.0), 2.0**-42
    while failure(prior, counts) > allowed:
        prior *= 1 + step
        step *= 2
    return prior


def _ratio(numerator: float, squared: float) -> float:
    """A bound on R/σ over the root of a logarithm, which is 0 at δ = 1."""
    return divide_or_inf(numerator, math.sqrt(squared))


FORMULAS: dict[str, Callable[..., float]] = {
    "2.11": lambda epsilon, delta: -math.expm1(-epsilon / 2) * delta,
    "2.12": lambda n: 1 / n,
    "2.17": lambda epsilon_1, epsilon_2: epsilon_1 + epsilon_2,
    "2.17 delta": lambda delta_1, delta_2: delta_1 + delta_2,
    "2.18": lambda k, epsilon, delta_prime: advanced_composition(epsilon, k, delta_prime),
    "2.18 delta": lambda k, delta, delta_prime: k * delta + delta_prime,
    "2.20": lambda epsilon: 1 / epsilon,  # in units of Sen
    "2.22": lambda n, m, epsilon: subsampled_epsilon_printed(epsilon, _share(n, m)),
    "2.22 delta": lambda n, m, delta: _share(n, m) * delta,
    "4.2": lambda m, epsilon: m / epsilon,
    "4.3": lambda delta: divide_or_inf(divide_or_inf(DIMITRAKAKIS, delta), delta),
    # It is of the posterior mean; the mode, which PARAM_MAP releases, moves by 1/(n + α + β − 2)
    "6.2": lambda n, alpha, beta, epsilon: 1 / (epsilon * (n + alpha + beta)),
    "6.4": lambda n, epsilon, delta: (math.log(n) + log_reciprocal(delta)) / epsilon**2,
    "6.5": _lemma_6_5_prior,
    "6.7": lambda n, epsilon, delta: (math.log(epsilon) + log_reciprocal(delta) - math.log(n)) / epsilon**2,
    "6.8": lambda n, epsilon, delta: log_reciprocal(delta * n) / epsilon**2,
    "6.9": lambda epsilon: 2 + inverse_expm1(epsilon),
    "6.10": lambda m, epsilon: 2 + inverse_expm1(epsilon / m),
    "6.11": lambda epsilon: 1 + inverse_expm1(epsilon),
    "6.12": lambda m, epsilon: 1 + inverse_expm1(epsilon / m),
    "6.13": lambda m, epsilon: 1 + m * inverse_expm1(epsilon),
    "6.14": lambda m, epsilon, delta: math.sqrt(m * log_reciprocal(delta)) / epsilon,
    "6.16": lambda epsilon, delta: log_reciprocal(delta) / epsilon**2,
    "6.17": _average_delta,
    # (1 − e^{2ε})/√n, with the sign that is printed
    "6.19": lambda n, epsilon: -capped_expm1(2 * epsilon) / math.sqrt(n),
    "6.21": lambda m, epsilon: 1 + inverse_expm1(epsilon / (2 * m)),
    "6.22 after": lambda m, epsilon: 2 * m / epsilon,
    "7.1 table rows": lambda n, m, epsilon: math.sqrt(epsilon * n / m),
    "7.1 table draw delta": lambda n, epsilon, delta: _ratio(epsilon * math.sqrt(n), log_reciprocal(delta)),
    "7.1 table rows delta": lambda n, m, epsilon, delta: _ratio(math.sqrt(epsilon * n), m * log_reciprocal(delta)),
    "7.1 table few rows": lambda n, m, epsilon, delta: _ratio(epsilon * n / m, math.log(m) + log_reciprocal(delta)),
    "7.3": lambda n, epsilon: 1 / (n * epsilon),  # in units of R
    "7.7": lambda epsilon: math.sqrt(epsilon) / 2,
    "7.7 fails": lambda epsilon: math.sqrt(epsilon),
    "7.8": lambda n, epsilon, delta: _ratio(epsilon * math.sqrt(n), 2 * log_reciprocal(delta)),
    "7.9": lambda delta: max(math.sqrt(2 * log_reciprocal(delta)), math.sqrt(math.pi / 2)),
    "7.12": lambda n, epsilon: math.sqrt(epsilon * n / 2),
    # It says "a single synthetic data point" and yet divides by m
    "7.13": lambda n, m, epsilon: math.sqrt(epsilon * n / (2 * m)),
    "7.14": lambda n, epsilon: math.sqrt(epsilon * n / (2 - 1 / (2 * n))),
    "7.15": lambda n, m, epsilon, delta: _ratio(epsilon * n / (2 * m), 2 * (math.log(m) + log_reciprocal(delta))),
    "7.16": lambda n, m, epsilon, delta: math.sqrt(
        divide_or_inf(epsilon * n, 4 * math.sqrt(2 * m * log_reciprocal(delta)))
    ),
}
"""By the theorem that prints it first, with 1 for a constant without a value in print; a range is a bound on R/σ."""

CONDITIONS: dict[str, Callable[..., bool]] = {
    "one row": lambda m: bool(m == 1),
    "slack": lambda delta_prime: delta_prime > 0,
    "small delta": lambda epsilon, delta: log_reciprocal(delta) ** 2 >= 1 / (2 * epsilon),
    "wide prior": lambda n, sigma, sigma0: math.sqrt(n) * sigma0 >= sigma * (1 - CONDITION_TIE),
}
"""Printed conditions that can be computed, by name."""
