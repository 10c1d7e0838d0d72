"""The formulas and conditions that Zheng (2015) prints, as printed: what is said of them stands in a table."""

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from dpviz.calibration.smallest_prior import prior_for_delta
from dpviz.claims.sentences import printed_in
from dpviz.core import limits
from dpviz.core.declarations import DELTA, EPSILON, ROWS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import MAX_EXPONENT, capped_expm1, divide_or_inf, inverse_expm1, log_reciprocal
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS
from dpviz.privacy.pld import advanced_composition

DIMITRAKAKIS = float(printed_in("zheng", "c246"))  # The constant of Theorem 4.3
CONDITION_TIE = 1e-12  # Relative distance within which both sides of a condition are equal: rounding refuses none

LEMMA_ROWS = dataclasses.replace(ROWS, maximum=limits.MAX_PRIOR_ROWS)
LEMMA_ONES = dataclasses.replace(PRIOR_ONES, maximum=1e16)
LEMMA_ZEROS = dataclasses.replace(PRIOR_ZEROS, maximum=1e16)

SMALLEST_LEMMA_MARGIN, LARGEST_LEMMA_MARGIN = 2.0**-52, 1e17  # of a prior above 1
SMALLEST_LEMMA_DELTA = 1e-300  # Tails below it are near the end of the floating-point numbers and lose their digits


def subsampled_epsilon_printed(epsilon: float, rate: float) -> float:
    """r (e^ε − 1), kept by an ε-private release of a share r of the rows; infinite where it overflows.

    >>> round(subsampled_epsilon_printed(1.0, 0.5), 6)  # (e − 1) / 2; at r = 1 it is more than ε itself
    0.859141
    """
    if epsilon < 709.7 or rate == 0:
        return rate * math.expm1(min(epsilon, 709.0))
    exponent = epsilon + math.log(rate)
    return math.exp(exponent) if exponent < 709.7 else math.inf


def _share(n: int, m: int) -> float:
    if m > n:
        raise ValueError(f"m (rows of the sample) must be at most n = {n:,}; got {m:,}.")
    return m / n


def average_delta(n: int, epsilon: float, theta_real: float) -> float:
    """½ max (Pr(n₁) − e^ε Pr(n₁'))₊ over |n₁ − n₁'| = 1 for n₁ ~ Binomial(n, θ).

    It compares single counts, while a release may reveal whether n₁ falls in a set of them.

    >>> round(average_delta(n=1, epsilon=math.log(2), theta_real=0.2), 12)  # ½ (4/5 − 2 · 1/5)
    0.2
    """
    from scipy.stats import binom  # it takes long to load, and few ask for it

    if theta_real in (0.0, 1.0):
        return 0.5
    ones = np.arange(n + 1)
    log_odds = math.log(theta_real) - math.log1p(-theta_real)
    with np.errstate(under="ignore"):
        distribution = binom.pmf(ones, n, theta_real)
        # ln Pr(n₁) − ln Pr(n₁ + 1): a closed form, which keeps its digits where the two nearly agree.
        falls = np.log(ones[1:] / (n - ones[:-1])) - log_odds
        excess = np.maximum(
            distribution[:-1] * -np.expm1(np.minimum(epsilon - falls, 0.0)),
            distribution[1:] * -np.expm1(np.minimum(epsilon + falls, 0.0)),
        )
    return float(excess.max()) / 2 + 0.0


def lemma_6_5_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return the largest probability, over n₁ = 0 … n, that θ ~ Beta(n₁ + α, n₀ + β), n₀ = n − n₁, leaves the interval.

    That is (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1)), empty for α ≤ 1 or β ≤ 1. Takes n
    to 100,000, α and β to 1e16; tails above 1e-300 have a relative error below 1e-11 + 2e-15 (1 + ln(1/tail)) / ε.
    With n = 1, α = β = 2 and e^ε = 2, Beta(2, 3) must lie in [1/3, 2/5]. Its distribution function is
    6x² − 8x³ + 3x⁴: 11/27 and 0.5248 at the ends.

    >>> round(lemma_6_5_failure(n=1, alpha=2, beta=2, epsilon=math.log(2)) - (1 - 0.5248 + 11 / 27), 12)
    0.0
    """
    rows = int(LEMMA_ROWS.validate(n))
    values = _failures(
        np.arange(rows + 1), rows, LEMMA_ONES.validate(alpha), LEMMA_ZEROS.validate(beta), EPSILON.validate(epsilon)
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
    rows, epsilon, delta = int(LEMMA_ROWS.validate(n)), EPSILON.validate(epsilon), DELTA.validate(delta)
    if 0 < delta < SMALLEST_LEMMA_DELTA:
        raise ValueError(f"delta must be 0 or from {format_number(SMALLEST_LEMMA_DELTA)} to 1; got {delta!r}.")
    if delta in (0, 1):
        return 0.0 if delta == 1 else math.inf
    return _searched_prior_of_lemma_6_5(rows, epsilon, delta)


@lru_cache(maxsize=1024)  # a curve of it is drawn coarse to fine
def _searched_prior_of_lemma_6_5(rows: int, epsilon: float, delta: float) -> float:
    allowed = _allowed(epsilon, delta)

    def failure(margin: float) -> float:
        """That of the table without ones, at a prior of 1 and a margin."""
        return float(_failures(np.zeros(1), rows, 1 + margin, 1 + margin, epsilon)[0])

    guess = -math.log(delta) / (math.expm1(min(epsilon, MAX_EXPONENT)) - epsilon)
    prior = 1 + prior_for_delta(failure, allowed, SMALLEST_LEMMA_MARGIN, LARGEST_LEMMA_MARGIN, guess)
    step, tables = 2.0**-42, np.arange(rows // 2 + 1)  # those with more ones mirror the others
    while _failures(tables, rows, prior, prior, epsilon).max() > allowed:
        prior, step = prior * (1 + step), 2 * step
    return prior


def _allowed(epsilon: float, delta: float) -> float:
    """δ less what the rounding of a tail may take: the ends are rounded, and far out answer by ln(1/δ)/ε as much."""
    return delta / (1 + 1e-11 + 2e-15 * (1 - math.log(delta)) / epsilon)


def _failures(n1: IntArray | FloatArray, n: Numbers, alpha: Numbers, beta: Numbers, epsilon: Numbers) -> FloatArray:
    """Return the probability outside the printed interval for each n₁, as the sum of its two tails."""
    x, y, shrink = n1 + alpha, (n - n1) + beta, np.exp(-epsilon)
    empty = (x <= 1) | (y <= 1) | ((x - 1) * (y - 1) < x * y * shrink**2)
    # 1 stands in where there is no interval, so that no quotient is formed from it.
    fewer_x, fewer_y = np.where(empty, 1.0, x - 1), np.where(empty, 1.0, y - 1)
    below = betainc(x, y, x * shrink / (x * shrink + fewer_y))
    above = betainc(y, x, y * shrink / (y * shrink + fewer_x))
    return np.where(empty, 1.0, np.minimum(below + above, 1.0))


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
    **dict.fromkeys(("4.2", "6.1 table"), lambda m, epsilon: m / epsilon),
    "4.3": lambda delta: divide_or_inf(divide_or_inf(DIMITRAKAKIS, delta), delta),
    # It belongs to the posterior mean; the mode, which PARAM_MAP releases, moves by 1/(n + α + β − 2).
    "6.2": lambda n, alpha, beta, epsilon: 1 / (epsilon * (n + alpha + beta)),
    # The last of these follows from the first, by post-processing.
    **dict.fromkeys(
        ("6.4", "6.6", "6.15"), lambda n, epsilon, delta: 1 / epsilon**2 * (math.log(n) + log_reciprocal(delta))
    ),
    "6.5": smallest_prior_of_lemma_6_5,
    "6.7": lambda n, epsilon, delta: 1 / epsilon**2 * (math.log(epsilon) + log_reciprocal(delta) - math.log(n)),
    "6.8": lambda n, epsilon, delta: log_reciprocal(delta * n) / epsilon**2,
    "6.9": lambda epsilon: 2 + inverse_expm1(epsilon),
    "6.10": lambda m, epsilon: 2 + inverse_expm1(epsilon / m),
    "6.11": lambda epsilon: 1 + inverse_expm1(epsilon),
    **dict.fromkeys(("6.12", "6.13 before"), lambda m, epsilon: 1 + inverse_expm1(epsilon / m)),
    **dict.fromkeys(("6.13", "6.13 categories"), lambda m, epsilon: 1 + m * inverse_expm1(epsilon)),
    "6.14": lambda m, epsilon, delta: math.sqrt(m * log_reciprocal(delta)) / epsilon,
    "6.16": lambda epsilon, delta: 1 / epsilon**2 * log_reciprocal(delta),
    "6.17": average_delta,
    "6.19": lambda n, epsilon: (
        -capped_expm1(2 * epsilon) / math.sqrt(n)
    ),  # (1 − e^{2ε})/√n has the sign that is printed
    **dict.fromkeys(("6.21", "6.22"), lambda m, epsilon: 1 + inverse_expm1(epsilon / (2 * m))),
    "6.22 after": lambda m, epsilon: 2 * m / epsilon,
    # The first is of Table 7.1, whose caption says Figure 7.1.
    **dict.fromkeys(("7.1 table draw", "7.7 fails"), lambda epsilon: math.sqrt(epsilon)),
    "7.1 table rows": lambda n, m, epsilon: math.sqrt(epsilon * n / m),
    "7.1 table draw delta": lambda n, epsilon, delta: divide_or_inf(
        epsilon * math.sqrt(n), math.sqrt(log_reciprocal(delta))
    ),
    "7.1 table rows delta": lambda n, m, epsilon, delta: math.sqrt(
        divide_or_inf(epsilon * n, m * log_reciprocal(delta))
    ),
    "7.1 table few rows": lambda n, m, epsilon, delta: divide_or_inf(
        epsilon * n, m * math.sqrt(math.log(m) + log_reciprocal(delta))
    ),
    "7.3": lambda n, epsilon: 1 / (n * epsilon),  # in units of R
    "7.7": lambda epsilon: math.sqrt(epsilon) / 2,
    **dict.fromkeys(
        ("7.8", "7.15 after"),
        lambda n, epsilon, delta: divide_or_inf(epsilon * math.sqrt(n), math.sqrt(2 * log_reciprocal(delta))),
    ),
    "7.9": lambda delta: max(math.sqrt(2 * log_reciprocal(delta)), math.sqrt(math.pi / 2)),
    **dict.fromkeys(("7.12", "7.12 tight"), lambda n, epsilon: math.sqrt(epsilon * n / 2)),
    # It says "a single synthetic data point" and yet divides by m.
    **dict.fromkeys(("7.13", "7.13 tight"), lambda n, m, epsilon: math.sqrt(epsilon * n / (2 * m))),
    "7.14": lambda n, epsilon: math.sqrt(epsilon * n / (2 - 1 / (2 * n))),
    "7.15": lambda n, m, epsilon, delta: divide_or_inf(
        n * epsilon, 2 * m * math.sqrt(2 * (math.log(m) + log_reciprocal(delta)))
    ),
    **dict.fromkeys(
        ("7.16", "7.16 constant"),
        lambda n, m, epsilon, delta: math.sqrt(
            divide_or_inf(epsilon * n, 4 * math.sqrt(2 * m * log_reciprocal(delta)))
        ),
    ),
}
"""By claim, with 1 for a constant that has no value in print.

Of chapter 7 a range is a bound on R/σ. Most of the thesis lets the mean move by R/n when a row is substituted; it may
by 2R/n (7.7).
"""


def one_synthetic_row(m: int) -> bool:
    """Return whether a single synthetic row is released."""
    return m == 1


CONDITIONS: dict[str, Callable[..., bool]] = {
    **dict.fromkeys(("2.18", "2.18 delta"), lambda delta_prime: delta_prime > 0),
    **dict.fromkeys(("6.9", "6.11", "7.12", "7.12 tight", "7.14"), one_synthetic_row),
    **dict.fromkeys(("7.8", "7.15 after"), lambda epsilon, delta: log_reciprocal(delta) ** 2 >= 1 / (2 * epsilon)),
    "7.15": lambda n, sigma, sigma0: math.sqrt(n) * sigma0 >= sigma * (1 - CONDITION_TIE),
}
"""By claim, where the printed condition can be computed."""
