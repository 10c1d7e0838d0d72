"""δ of neighbours by sums of few columns, and the worst pair by bounds on blocks, against scans of all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, gammaln

from dpviz.calibration.parameter_draw import log_parameter_delta
from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.mechanisms.pair_divergence import log_beta_binomial, log_delta_beta_binomial, worst_pair
from dpviz.priors import release
from tests.referees import beta_binomial_law, excess, scipy_rows


def summed(x: mp.mpf, y: mp.mpf, m: int, epsilon: float) -> mp.mpf:
    """Σ (P − e^ε Q)_+ of the Beta-binomial laws that share x and y."""
    return excess(beta_binomial_law(x + 1, y, m), beta_binomial_law(x, y + 1, m), epsilon)


PAIRS = [
    (0.3, 0.3, 1, 0.0), (2.5, 40.0, 12, 0.7), (1e-200, 3.0, 40, 2.0), (3.0, 1e-200, 40, 0.1), (0.2, 0.4, 300, 1.5),
    (50.0, 1e5, 2000, 3.0), (5e6, 6e6, 3000, 1e-4), (1e12, 2e12, 500, 1e-10), (40.0, 70.0, 400, 2.3),
    (1e-3, 9.0, 60, 10.9),
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "m", "epsilon"), PAIRS)
def test_few_columns_add_up_to_the_delta_of_all(x: float, y: float, m: int, epsilon: float) -> None:
    with mp.workdps(260):
        exact = summed(mp.mpf(x), mp.mpf(y), m, epsilon)
        found = log_delta_beta_binomial(np.full(3, x), np.full(3, y), m, epsilon)
        assert float(abs(mp.log(exact) - mp.mpf(float(found[0])))) < 1e-12
        assert found == pytest.approx(found[0], rel=1e-12)


def test_beyond_the_largest_log_odds_delta_is_nothing() -> None:
    x, y = np.array([2.0, 0.5, 2.0]), np.array([3.0, 3.0, 0.1])
    found = log_delta_beta_binomial(x, y, 4, math.log(3) + 1e-9)  # 1 + m / x is 3, 9 and 3
    assert np.isneginf(found).tolist() == [True, False, True]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    exponents=st.tuples(st.floats(-12, 12), st.floats(-12, 12)), m=st.integers(1, 100_000), share=st.floats(0.0, 1.0)
)
def test_a_mass_is_its_quotient_of_gamma_functions(exponents: tuple[float, float], m: int, share: float) -> None:
    a, b = (10.0**power for power in exponents)
    j = round(share * m)
    with mp.workdps(60):
        x, y = mp.mpf(a), mp.mpf(b)
        terms = mp.loggamma(m + 1) - mp.loggamma(j + 1) - mp.loggamma(m - j + 1)
        terms += mp.loggamma(x + j) - mp.loggamma(x) + mp.loggamma(y + m - j) - mp.loggamma(y)
        exact = terms + mp.loggamma(x + y) - mp.loggamma(x + y + m)
        found = log_beta_binomial(*(np.array([float(value)]) for value in (a, b, j, m - j)))[0]
        assert float(abs(exact - mp.mpf(float(found)))) < 1e-12 + 4e-15 * float(abs(exact))


@pytest.mark.parametrize(("n", "m", "alpha", "beta", "epsilon"), [
    (700, 150, 3e4, 3e4, 2.8e-3), (700, 300, 2e3, 9e3, 0.06), (900, 40, 5.0, 5.0, 2.0), (500, 900, 1e6, 1e6, 4e-4),
])  # fmt: skip
def test_a_posterior_draw_finds_the_worst_of_all_pairs_however_small_delta_is(n, m, alpha, beta, epsilon):
    i, j, best = np.arange(n)[:, None], np.arange(m + 1), -math.inf
    for ones, zeros in ((alpha, beta), (beta, alpha)):
        x, y = ones + i, zeros + (n - 1 - i)
        odds = np.log1p(j / x) - np.log1p((m - j) / y)
        log_p = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) - np.log((x + y + 1)[..., None] + j[:-1]).sum(2)
        log_p += np.array([np.append(0, np.log(one + 1 + j[:-1]).cumsum()) for one in x.ravel()])
        log_p += np.array([np.append(0, np.log(one + j[:-1]).cumsum())[::-1] for one in y.ravel()])
        with np.errstate(divide="ignore", under="ignore"):
            terms = log_p + np.log(-np.expm1(np.minimum(epsilon - odds, 0.0)))
            top = max(float(terms.max()), -1e300)
            best = max(best, top + float(np.log(np.exp(terms - top).sum(axis=1).max())))
    found = BetaBinomial(n=n, m=m, alpha=alpha, beta=beta).hockey_stick(epsilon)
    assert best < math.log(1e-12)
    assert math.log(found.value) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("x", "y", "m", "epsilon"), [
    (1e-250, 4.0, 30, 2.0), (4.0, 1e-250, 30, 0.1), (30.0, 700.0, 20_000, 12.0), (4e11, 9e11, 500, 1e-10),
])  # fmt: skip
def test_few_columns_of_a_plug_in_add_up_to_the_delta_of_all(x: float, y: float, m: int, epsilon: float) -> None:
    with mp.workdps(300):
        a, b, total = mp.mpf(x), mp.mpf(y), mp.mpf(0)
        p, q, e = (b / (a + b + 1)) ** m, ((b + 1) / (a + b + 1)) ** m, mp.exp(mp.mpf(epsilon))
        for j in range(m + 1):
            total += max(p - e * q, 0)
            p, q = p * (m - j) / (j + 1) * (a + 1) / b, q * (m - j) / (j + 1) * a / (b + 1)
        found: Any = PosteriorMean(n=1, m=m, alpha=x, beta=y) if m <= 5000 else release(
            "synth_post_many", n=1, m=m, alpha=x, beta=y
        )  # fmt: skip
        assert found.worst_upward_pair(epsilon).value == pytest.approx(float(total), rel=3e-11, abs=0)


PairDelta = Callable[[FloatArray, FloatArray], FloatArray]


def scan(delta: PairDelta, n: int, ones: float, zeros: float) -> FloatArray:
    i = np.arange(n)
    return delta(ones + i, zeros + (n - 1 - i))


def largest(delta: PairDelta, n: int, ones: float, zeros: float) -> tuple[float, int]:
    """Largest of a function that falls in both arguments, and its pair."""
    with np.errstate(divide="ignore"):
        value, pair = worst_pair(lambda x, y: np.log(delta(x, y)), n, ones, zeros)
    return float(np.exp(value)), pair


def check(delta: PairDelta, n: int, ones: float, zeros: float) -> None:
    values = scan(delta, n, ones, zeros)
    value, pair = largest(delta, n, ones, zeros)
    assert value == pytest.approx(values[pair], rel=1e-14)
    assert value >= values.max() * (1 - 1e-12)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 500),
    ones=st.floats(1e-6, 1e4),
    zeros=st.floats(1e-6, 1e4),
    weights=st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3), st.floats(0, 2)), min_size=1, max_size=4),
    steps=st.integers(0, 2**32 - 1),
)
def test_of_random_falling_functions_the_largest_is_found(n, ones, zeros, weights, steps):
    """Sums of powers of x and y, and a random staircase that never rises in either."""
    walk_x, walk_y = (np.random.default_rng(steps + part).exponential(size=n + 1).cumsum() for part in (0, 1))

    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        value = sum(w / ((1 + x) ** p * (1 + y) ** q) for p, q, w in weights)
        stairs = walk_x[np.rint(x - ones).astype(int)] + walk_y[np.rint(y - zeros).astype(int)]
        return value + 1 / (1 + stairs)

    check(delta, n, ones, zeros)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 199, 500])
@pytest.mark.parametrize("power", [0.25, 1.0, 4.0])
def test_the_largest_may_lie_anywhere(n: int, power: float) -> None:
    """f(x, y) = x^−p + c y^−p has its largest value at either end; min(g(x), h(y)) has it wherever they cross."""
    for c in (0.1, 1.0, 10.0):
        check(lambda x, y: x**-power + c * y**-power, n, 0.5, 0.7)  # noqa: B023
    for crossing in (0, n // 7, n // 2, n - 1):
        level_x, level_y = 1.0 + crossing, 1.0 + (n - 1 - crossing)
        check(lambda x, y: np.minimum(level_x / x, level_y / y), n, 1.0, 1.0)  # noqa: B023
        assert largest(lambda x, y: np.minimum(level_x / x, level_y / y), n, 1.0, 1.0)[1] == crossing  # noqa: B023


def test_a_flat_function_has_its_value_at_the_first_pair_and_one_of_zeros_has_none() -> None:
    for n in (1, 5, 200, 300):
        assert largest(lambda x, y: np.full_like(x, 0.25), n, 1.0, 1.0) == (0.25, 0)
        assert largest(lambda x, y: np.zeros_like(x), n, 1.0, 1.0) == (0.0, 0)


def test_of_mirror_images_that_differ_by_rounding_the_first_is_named() -> None:
    for n in (40, 300):
        worst = BetaBinomial(n=n, m=n, alpha=30.0, beta=30.0).hockey_stick(0.0)
        assert (worst.likelier, worst.unlikelier) == (1, 0)


# The laws


@pytest.mark.parametrize("n", [3, 60, 500])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (20.0, 20.0), (3.0, 90.0), (90.0, 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 4.0])
def test_of_posterior_draws_the_largest_is_found(n: int, alpha: float, beta: float, epsilon: float) -> None:
    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        return np.exp(log_parameter_delta(x, y, epsilon))

    check(delta, n, alpha, beta)
    x, y = alpha + np.arange(n), beta + (n - 1 - np.arange(n))
    right = 1 / (1 + x / y * np.exp(epsilon))
    tails = betainc(y, x + 1, right) - np.exp(epsilon) * betainc(y + 1, x, right)
    assert np.exp(log_parameter_delta(x, y, epsilon)).max() == pytest.approx(tails.max(), rel=1e-9)


def plug_in_deltas(n: int, m: int, alpha: float, beta: float, epsilon: float) -> FloatArray:
    """Σ max(0, P − e^ε Q) of every pair i + 1 against i."""
    table = scipy_rows("synth_post_many", n, m, alpha, beta).pmf(np.arange(m + 1))
    return np.maximum(table[1:] - np.exp(epsilon) * table[:-1], 0).sum(axis=1)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (40, 1), (60, 9), (300, 100), (500, 20), (100, 500)])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (12.0, 12.0), (2.0, 70.0), (70.0, 2.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3])
def test_of_plug_ins_the_largest_is_found(n: int, m: int, alpha: float, beta: float, epsilon: float) -> None:
    made = release("synth_post_many", n=n, m=m, alpha=alpha, beta=beta)
    up = plug_in_deltas(n, m, alpha, beta, epsilon)
    down = plug_in_deltas(n, m, beta, alpha, epsilon)
    largest = max(up.max(), down.max())
    found = made.hockey_stick(epsilon)
    if largest < 1e-11:
        assert found.value < 2e-11
        return
    assert found.value == pytest.approx(largest, rel=1e-9)
    named = up[found.unlikelier] if found.likelier > found.unlikelier else down[n - 1 - found.likelier]
    assert named == pytest.approx(largest, rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 49, 500])
def test_with_one_synthetic_row_at_epsilon_0_every_pair_is_the_worst(n: int) -> None:
    """m = 1: the proportions of neighbours differ by 1/(n + α + β) everywhere."""
    made = release("synth_post_many", n=n, m=1, alpha=3.0, beta=3.0)
    assert made.hockey_stick(0.0).value == pytest.approx(1 / (n + 6), rel=1e-13)
    assert made.hockey_stick(0.1).value == pytest.approx((4 - 3 * np.exp(0.1)) / (n + 6), rel=1e-12)
    assert made.hockey_stick(0.1).unlikelier in (0, n)
