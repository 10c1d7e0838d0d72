"""The formulas and conditions that Zheng (2015) prints, as printed: what is said of them stands in a table."""

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import binom

from dpviz.claims.posterior_interval import smallest_prior_of_lemma_6_5
from dpviz.core.numerics.ends import gain, inverse_gain, log_inverse, quotient
from dpviz.privacy.composition import advanced_composition

DIMITRAKAKIS = 2.46  # The constant of Theorem 4.3, as printed
CONDITION_TIE = 1e-12  # Relative distance within which both sides of a condition are equal: rounding refuses none


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


def _per_row(m: int, epsilon: float) -> float:
    return m / epsilon


def _one_draw(m: int, epsilon: float) -> float:
    return 1 + m * inverse_gain(epsilon)


def _many_draws(m: int, epsilon: float) -> float:
    return 1 + inverse_gain(epsilon / m)


def _many_cells(m: int, epsilon: float) -> float:
    return 1 + inverse_gain(epsilon / (2 * m))


def _with_logarithms(n: int, epsilon: float, delta: float) -> float:
    return 1 / epsilon**2 * (math.log(n) + log_inverse(delta))


def _mean(epsilon: float) -> float:
    return math.sqrt(epsilon)


def _drawn_mean(n: int, epsilon: float, delta: float) -> float:
    return quotient(epsilon * math.sqrt(n), math.sqrt(2 * log_inverse(delta)))


def _one_row(n: int, epsilon: float) -> float:
    return math.sqrt(epsilon * n / 2)


def _rows(n: int, m: int, epsilon: float) -> float:
    return math.sqrt(epsilon * n / (2 * m))


def _composed_rows(n: int, m: int, epsilon: float, delta: float) -> float:
    return math.sqrt(quotient(epsilon * n, 4 * math.sqrt(2 * m * log_inverse(delta))))


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
    "4.2": _per_row,
    "4.3": lambda delta: quotient(quotient(DIMITRAKAKIS, delta), delta),
    "6.1 table": _per_row,
    # It belongs to the posterior mean; the mode, which PARAM_MAP releases, moves by 1/(n + α + β − 2).
    "6.2": lambda n, alpha, beta, epsilon: 1 / (epsilon * (n + alpha + beta)),
    **dict.fromkeys(("6.4", "6.6", "6.15"), _with_logarithms),  # the last follows from the first, by post-processing
    "6.5": smallest_prior_of_lemma_6_5,
    "6.7": lambda n, epsilon, delta: 1 / epsilon**2 * (math.log(epsilon) + log_inverse(delta) - math.log(n)),
    "6.8": lambda n, epsilon, delta: log_inverse(delta * n) / epsilon**2,
    "6.9": lambda epsilon: 2 + inverse_gain(epsilon),
    "6.10": lambda m, epsilon: 2 + inverse_gain(epsilon / m),
    "6.11": lambda epsilon: 1 + inverse_gain(epsilon),
    "6.12": _many_draws,
    "6.13": _one_draw,
    "6.13 categories": _one_draw,
    "6.13 before": _many_draws,
    "6.14": lambda m, epsilon, delta: math.sqrt(m * log_inverse(delta)) / epsilon,
    "6.16": lambda epsilon, delta: 1 / epsilon**2 * log_inverse(delta),
    "6.17": average_delta,
    "6.19": lambda n, epsilon: -gain(2 * epsilon) / math.sqrt(n),  # (1 − e^{2ε})/√n has the sign that is printed
    **dict.fromkeys(("6.21", "6.22"), _many_cells),
    "6.22 after": lambda m, epsilon: 2 * m / epsilon,
    "7.1 table draw": _mean,  # of Table 7.1, whose caption says Figure 7.1
    "7.1 table rows": lambda n, m, epsilon: math.sqrt(2.0) * _rows(n, m, epsilon),
    "7.1 table draw delta": lambda n, epsilon, delta: quotient(epsilon * math.sqrt(n), math.sqrt(log_inverse(delta))),
    "7.1 table rows delta": lambda n, m, epsilon, delta: math.sqrt(quotient(epsilon * n, m * log_inverse(delta))),
    "7.1 table few rows": lambda n, m, epsilon, delta: quotient(
        epsilon * n, m * math.sqrt(math.log(m) + log_inverse(delta))
    ),
    "7.3": lambda n, epsilon: 1 / (n * epsilon),  # in units of R
    "7.7": lambda epsilon: math.sqrt(epsilon) / 2,
    "7.7 fails": _mean,
    "7.8": _drawn_mean,
    "7.9": lambda delta: max(math.sqrt(2 * log_inverse(delta)), math.sqrt(math.pi / 2)),
    "7.12": _one_row,
    "7.12 tight": _one_row,
    "7.13": _rows,  # It says "a single synthetic data point" and yet divides by m.
    "7.13 tight": _rows,
    "7.14": lambda n, epsilon: math.sqrt(epsilon * n / (2 - 1 / (2 * n))),
    "7.15": lambda n, m, epsilon, delta: quotient(
        n * epsilon, 2 * m * math.sqrt(2 * (math.log(m) + log_inverse(delta)))
    ),
    "7.15 after": _drawn_mean,
    "7.16": _composed_rows,
    "7.16 constant": _composed_rows,
}
"""By claim, with 1 for a constant that has no value in print.

Of chapter 7 a range is a bound on R/σ. Most of the thesis lets the mean move by R/n when a row is substituted; it may
by 2R/n (7.7).
"""


def one_synthetic_row(m: int) -> bool:
    """Return whether a single synthetic row is released."""
    return m == 1


def _something_may_fail(delta_prime: float) -> bool:
    return delta_prime > 0


def _tail_is_small(epsilon: float, delta: float) -> bool:
    return log_inverse(delta) ** 2 >= 1 / (2 * epsilon)


CONDITIONS: dict[str, Callable[..., bool]] = {
    **dict.fromkeys(("2.18", "2.18 delta"), _something_may_fail),
    **dict.fromkeys(("6.9", "6.11", "7.12", "7.12 tight", "7.14"), one_synthetic_row),
    **dict.fromkeys(("7.8", "7.15 after"), _tail_is_small),
    "7.15": lambda n, sigma, sigma0: math.sqrt(n) * sigma0 >= sigma * (1 - CONDITION_TIE),
}
"""By claim, where the printed condition can be computed."""
