"""The definitions, general theorems and lemmas of Zheng (2015), each against numbers at the reference setting."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri

from dpviz.audit.text import _composed_delta
from dpviz.audit.theorems import CONSTANTS, THEOREMS
from dpviz.calibration.curves import release
from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.core.types import FloatArray
from dpviz.privacy.average_case import count_release_delta, midpoint_simulator_delta
from dpviz.privacy.divergence import delta_for_epsilon
from dpviz.privacy.gaussian import gaussian_delta, gaussian_ratio
from tests.reproduction.evidence import Evidence, Findings, section, values

N, EPSILON, DELTA = 100, 1.0, 1e-5  # and m = n, σ₀ = σ
ARGUMENTS: dict[str, float] = {
    "n": N, "m": N, "k": 100, "epsilon": EPSILON, "epsilon_1": EPSILON, "epsilon_2": EPSILON, "delta": DELTA,
    "delta_1": DELTA, "delta_2": DELTA, "delta_prime": DELTA,
}  # fmt: skip


def printed(key: str, **arguments: float) -> float:
    """Return the printed number of a theorem at the reference setting, or with some arguments of its own."""
    return THEOREMS[key].value(**ARGUMENTS | arguments)


def at_most(left: float, right: float, *more: float) -> Evidence:
    """Support a theorem by left ≤ right, up to rounding; both, and more numbers, are in its sentence."""
    return values([left, right, *more], left <= right * (1 + 1e-9) + 1e-300)


@section("zheng")
def definitions() -> Findings:
    """Definitions and general theorems."""
    # The Gaussian mechanism, and the probability that its loss is more than ε
    ratio = gaussian_ratio(EPSILON, DELTA)
    exceeds = float(ndtr(ratio / 2 - EPSILON / ratio))
    yield "2.10", at_most(gaussian_delta(ratio, EPSILON), exceeds)
    yield "2.11", at_most(printed("2.11", delta=exceeds), gaussian_delta(ratio, EPSILON / 2))

    # Release a one of k ones in n rows with probability k/n; all neighbours, both ways
    ones = np.arange(N + 1) / N
    losses = np.array([ones[1:] - math.e * ones[:-1], ones[:-1] - math.e * ones[1:]])
    yield "2.12", at_most(losses.max(), printed("2.12"))
    yield "2.13", at_most(DELTA, 1.0)

    # The number of heads of n fair coins, and the simulator halfway between the two values of a row
    deltas = partial(count_release_delta, N, 0.5)
    yield "2.15", at_most(deltas(2 * EPSILON), midpoint_simulator_delta(deltas, EPSILON) * (1 + math.exp(EPSILON)))

    # Two randomized responses, the worst releases, at the sum of their ε and a thousandth below it; and a hundred
    at_sum, below = (_composed_delta(EPSILON, 2, share * printed("2.17")) for share in (1, 0.999))
    yield "2.17", at_most(at_sum, 0.0, below)
    yield "2.17 delta", at_most(DELTA * (2 - DELTA), printed("2.17 delta"))
    yield "2.18", at_most(_composed_delta(EPSILON, 100, printed("2.18")), DELTA, printed("2.18"))
    yield "2.18 delta", at_most(-math.expm1(101 * math.log1p(-DELTA)), printed("2.18 delta"))
    yield "2.20", at_most(1 / printed("2.20"), EPSILON)

    # The utilities of two outcomes, one of them rare, move by 1 in opposite ways: ln of the ratio nears ε
    rare, half = 1e-9, math.exp(-EPSILON / 2)
    yield "2.21", at_most(math.log(rare / (rare + half) / (rare * half / (rare * half + 1))), EPSILON)
    yield "2.22", at_most(EPSILON, printed("2.22"))
    yield "2.22 delta", at_most(DELTA, printed("2.22 delta"))


def released_delta(method: str, m: int, alpha: float) -> float:
    """Return the exact δ at ε of a release with this prior."""
    return delta_for_epsilon(release(method, n=N, m=m, alpha=alpha), EPSILON)


@section("zheng")
def rows_and_parameter() -> Findings:
    """Rows beside the parameter that they are drawn with; infinitely many rows determine it."""
    rows, many_rows = (released_delta("synth_post_one", m, 1.0) for m in (N, MAX_PRIOR_ROWS))
    parameter = released_delta("param_post", N, 1.0)
    yield "2.16", at_most(rows, parameter)
    yield "5.1", at_most(rows, parameter)
    yield "5.4", at_most(DELTA, released_delta("synth_map", 4, 2.0))
    yield "5.5", at_most(many_rows, parameter)
    yield "5.6", at_most(DELTA, released_delta("synth_post_many", 4, 2.0))


def strays_from_mean(log_alpha: float, ones: FloatArray) -> float:
    """Return the largest probability over tables that θ leaves ε min(E, 1 − E) around its mean E (Lemma 6.6)."""
    x, y = math.exp(log_alpha) + ones, math.exp(log_alpha) + N - ones
    mean = x / (x + y)
    width = EPSILON * np.minimum(mean, 1 - mean)
    return float(np.max(betainc(x, y, mean - width) + betainc(y, x, 1 - mean - width)))


def leaves_factor(log_alpha: float) -> float:
    """Return the probability that θ leaves e^{±ε} times its mean at a table of no ones (Lemma 6.8)."""
    alpha = math.exp(log_alpha)
    low, high = (math.exp(sign * EPSILON) * alpha / (2 * alpha + N) for sign in (-1, 1))
    above = float(betainc(alpha + N, alpha, 1 - high)) if high < 1 else 0.0
    return float(betainc(alpha, alpha + N, low)) + above


def constant_here(key: str, failure: Callable[[float], float]) -> float:
    """Return the constant that would be exact at the reference setting."""
    return math.exp(brentq(lambda log_alpha: failure(log_alpha) - DELTA, -5.0, 20.0, xtol=1e-13)) / printed(key)


def spread_constant(n: int) -> float:
    """Return the largest of n normal draws in units of √ln n, with probability 1 − δ."""
    return -float(ndtri(-math.expm1(math.log1p(-DELTA) / n) / 2)) / math.sqrt(math.log(n))


@section("zheng")
def lemmas() -> Findings:
    """Constants that would be exact here, beside those that work in every case; and a normal posterior."""
    here = constant_here("6.6", lambda log_alpha: strays_from_mean(log_alpha, np.arange(N + 1.0)))
    yield "6.6", at_most(here, CONSTANTS["6.6", "param_post"].high or 0.0)
    yield "6.8", at_most(CONSTANTS["6.8", "param_post"].low or math.inf, constant_here("6.8", leaves_factor))
    sizes = np.unique(np.geomspace(2, 1e5, 200).astype(int)).tolist()
    yield "7.1", at_most(spread_constant(N), max(map(spread_constant, sizes)))
    yield "7.9", at_most(-ndtri(DELTA / 2), printed("7.9"), 2 * ndtr(-printed("7.9")))

    # Both sides of the identity at three points, by the two densities themselves
    mu, first, second = np.transpose([(0.3, 0.2, -0.1), (-1.0, 0.5, 0.4), (2.0, -0.7, 0.9)])
    precision = N + 1.0
    s = N / precision
    exact = precision * ((mu - s * second) ** 2 - (mu - s * first) ** 2) / 2
    claimed = N / 2 * (first - second) * (2 * mu - s * (first + second))
    yield "7.5", at_most(abs(claimed / exact - 1).max(), 1e-6)
