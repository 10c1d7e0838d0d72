"""What makes a worst pair cheap to find: sums of few columns, and bounds on all pairs between two."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from dpviz.calibration.pairs import BetaLosses, beta_binomial_pair
from dpviz.calibration.posterior_parameter import (
    PAIRS_WITHOUT_SEARCH,
    PosteriorParameter,
    log_loss_density,
    log_parameter_delta,
)
from dpviz.calibration.releases import release
from dpviz.calibration.sets import minimum_prior_for_sets
from dpviz.core.numerics.worst_pair import AGREED, largest_log_convex
from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.mechanisms._stop_loss import log_delta_of_pairs, log_mass
from dpviz.privacy.composition import composed_delta
from tests.referees import beta_binomial_law, beta_excess, excess


def summed(x: mp.mpf, y: mp.mpf, m: int, epsilon: float) -> mp.mpf:
    """Σ (P − e^ε Q)_+ of the Beta-binomial laws that share x and y."""
    return excess(beta_binomial_law(x + 1, y, m), beta_binomial_law(x, y + 1, m), epsilon)


PAIRS = [
    (0.3, 0.3, 1, 0.0),
    (2.5, 40.0, 12, 0.7),
    (1e-200, 3.0, 40, 2.0),
    (3.0, 1e-200, 40, 0.1),
    (0.2, 0.4, 300, 1.5),
    (50.0, 1e5, 2000, 3.0),
    (5e6, 6e6, 3000, 1e-4),
    (1e12, 2e12, 500, 1e-10),
    (40.0, 70.0, 400, 2.3),
    (1e-3, 9.0, 60, 10.9),
]


@pytest.mark.parametrize(("x", "y", "m", "epsilon"), PAIRS)
def test_few_columns_add_up_to_the_delta_of_all(x: float, y: float, m: int, epsilon: float) -> None:
    with mp.workdps(260):
        exact = summed(mp.mpf(x), mp.mpf(y), m, epsilon)
        found = log_delta_of_pairs(np.full(3, x), np.full(3, y), m, epsilon)
        assert float(abs(mp.log(exact) - mp.mpf(float(found[0])))) < 1e-12
        assert found == pytest.approx(found[0], rel=1e-12)


def test_beyond_the_largest_log_odds_delta_is_nothing() -> None:
    x, y = np.array([2.0, 0.5, 2.0]), np.array([3.0, 3.0, 0.1])
    found = log_delta_of_pairs(x, y, 4, math.log(3) + 1e-9)  # 1 + m / x is 3, 9 and 3
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
        found = log_mass(np.array([a]), np.array([b]), m, np.array([float(j)]))[0]
        assert float(abs(exact - mp.mpf(float(found)))) < 1e-12 + 4e-15 * float(abs(exact))


@pytest.mark.parametrize(
    ("n", "m", "alpha", "beta", "epsilon"),
    [(700, 150, 3e4, 3e4, 2.8e-3), (700, 300, 2e3, 9e3, 0.06), (900, 40, 5.0, 5.0, 2.0), (500, 900, 1e6, 1e6, 4e-4)],
)
def test_a_posterior_draw_finds_the_worst_of_all_pairs_however_small_delta_is(
    n: int, m: int, alpha: float, beta: float, epsilon: float
) -> None:
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


@pytest.mark.parametrize(
    ("x", "y", "m", "epsilon"),
    [(1e-250, 4.0, 30, 2.0), (4.0, 1e-250, 30, 0.1), (30.0, 700.0, 20_000, 12.0), (3e5, 4e5, 5000, 1e-3)],
)
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
        assert found.worst_upward_pair(epsilon).value == pytest.approx(float(total), rel=3e-11)


# Pairs between two


def test_the_density_of_a_loss_at_0_is_that_of_its_beta_law() -> None:
    for x, y in ((0.3, 2.0), (40.0, 3.5), (1e7, 2e7)):
        with mp.workdps(60):
            a, b = mp.mpf(x), mp.mpf(y)
            log_density = (a + 1) * mp.log(a / (a + b)) + b * mp.log(b / (a + b))
            log_density += mp.loggamma(a + b + 1) - mp.loggamma(a + 1) - mp.loggamma(b)
            assert float(log_loss_density(np.array(x), np.array(y))) == pytest.approx(float(log_density), abs=1e-13)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 2.0, 8.0])
@pytest.mark.parametrize(("total", "least"), [(3.0, 0.1), (60.0, 2.0), (4000.0, 1000.0)])
def test_along_the_pairs_delta_over_that_density_is_log_convex(total: float, least: float, epsilon: float) -> None:
    shared = np.linspace(least, total - least, 9)
    with mp.workdps(80):
        logs = []
        for x in shared:
            a, b = mp.mpf(x), mp.mpf(total) - mp.mpf(x)
            density = (a + 1) * mp.log(a) + b * mp.log(b) - mp.loggamma(a + 1) - mp.loggamma(b)
            logs.append((mp.log(beta_excess(a, b, epsilon)) - density, density))
        for before, here, after in zip(logs, logs[1:], logs[2:], strict=False):
            assert before[0] + after[0] > 2 * here[0]
            assert before[1] + after[1] < 2 * here[1]


@pytest.mark.parametrize(("sets", "epsilon"), [(2, 0.3), (3, 1.0), (7, 0.1)])
def test_of_several_sets_too(sets: int, epsilon: float) -> None:
    found = []
    for x in (10.0, 25.0, 40.0, 55.0, 70.0):
        y = 80.0 - x
        delta = composed_delta(BetaLosses(x, y), sets, epsilon, 3e-4)
        weight = sets * float(log_loss_density(np.array(x), np.array(y)))
        found.append((math.log(delta.lower) - weight, math.log(delta.upper) - weight))
    for before, here, after in zip(found, found[1:], found[2:], strict=False):
        assert before[0] + after[0] > 2 * here[1]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 400),
    slopes=st.lists(st.tuples(st.floats(-8, 8), st.floats(-1, 1)), min_size=1, max_size=4),
    bend=st.floats(0, 30),
)
def test_of_a_log_convex_function_times_a_log_concave_one_the_largest_is_found(
    n: int, slopes: list[tuple[float, float]], bend: float
) -> None:
    def weight(x: FloatArray, y: FloatArray) -> FloatArray:
        return bend * np.sqrt((x + 1) * (y + 1)) / (n + 1)

    def log_delta(x: FloatArray, y: FloatArray) -> FloatArray:
        return weight(x, y) + np.logaddexp.reduce([level + slope * x / n for slope, level in slopes], axis=0)

    i = np.arange(n)
    values = log_delta(i, n - 1 - i)
    found = largest_log_convex(log_delta, weight, n, 0.0, 0.0)
    assert values[found] >= values.max() - 2 * AGREED


@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon"), [(0.5, 0.5, 1.0), (30.0, 900.0, 0.4), (2e5, 2e5, 0.01), (4e8, 4e8, 1e-4)]
)
def test_of_many_posterior_draws_the_largest_is_found(alpha: float, beta: float, epsilon: float) -> None:
    n = 4 * PAIRS_WITHOUT_SEARCH
    i = np.arange(n)
    largest = max(
        float(log_parameter_delta(ones + i, zeros + (n - 1 - i), epsilon).max())
        for ones, zeros in ((alpha, beta), (beta, alpha))
    )
    found = PosteriorParameter(n=n, alpha=alpha, beta=beta).hockey_stick(epsilon).value
    assert math.log(found) == pytest.approx(largest, abs=1e-11 if alpha < 1e8 else 1e-9)


# Several sets


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.4])
@pytest.mark.parametrize(
    ("x", "y", "m", "sets", "epsilon"),
    [(6.0, 105.0, 9, 2, 0.4), (30.0, 40.0, 25, 3, 0.4), (3e3, 3.1e3, 60, 2, 8e-3), (9e4, 9.5e4, 30, 3, 4e-4)],
)
def test_any_tilt_and_any_grid_bound_delta_from_above(
    x: float, y: float, m: int, sets: int, epsilon: float, factor: float
) -> None:
    losses = beta_binomial_pair(x, y, m)
    exact = losses.enumerated_delta(sets, epsilon)
    assert exact is not None
    tilt = factor * losses.saddle_point(epsilon / sets)
    for spacing in (1e-2 / math.sqrt(x), 1e-3 / math.sqrt(x)):
        for grid in (losses.grid(spacing, tilt), losses.even_grid(spacing, tilt)):
            if grid is not None:
                found = grid.composed_delta(sets, epsilon)
                assert found.lower <= exact.upper
                assert exact.lower <= found.upper
    assert composed_delta(losses, sets, epsilon, tilt=tilt, only_upper=True).upper >= exact.lower


def test_nearly_even_losses_need_a_grid_point_each() -> None:
    losses = beta_binomial_pair(1.2e5, 1.21e5, 1000)
    tilt = losses.saddle_point(2e-4)
    grid = losses.even_grid(1.5e-7, tilt)
    assert grid is not None
    assert len(grid.masses) < 1000
    narrow, even = composed_delta(losses, 5, 1e-3, 5e-4, tilt=tilt), grid.composed_delta(5, 1e-3)
    assert narrow.lower <= even.upper <= narrow.upper * (1 + 1e-6)


@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
@pytest.mark.parametrize(("n", "m", "sets", "epsilon", "delta"), [(60, 40, 5, 0.004, 1e-5), (45, 300, 3, 0.2, 1e-9)])
def test_where_many_pairs_tie_none_exceeds_delta_at_the_upper_end(
    method: str, n: int, m: int, sets: int, epsilon: float, delta: float
) -> None:
    found = minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)

    def bounds(prior: float, i: int) -> tuple[float, float]:
        x, y = prior + i, prior + (n - 1 - i)
        pair = BetaLosses(x, y) if method == "param_post" else beta_binomial_pair(x, y, m)
        bracket = composed_delta(pair, sets, epsilon)
        return bracket.lower, bracket.upper

    assert max(bounds(found.upper, i)[0] for i in range(n)) <= delta
    assert max(bounds(found.lower * (1 - 1e-6), i)[1] for i in range(n)) > delta
    assert found.upper <= found.lower * (1 + 3e-6)


def test_the_bounds_are_in_order_where_any_prior_is_enough() -> None:
    found = minimum_prior_for_sets("synth_post_one", n=5, m=5, sets=2, epsilon=1.0, delta=0.9)
    assert 0 < found.lower <= found.upper < 1e-200


def test_many_outcomes_of_few_sets_are_added_up_one_by_one() -> None:
    """Twenty-one outcomes and five sets at a huge ε: the two ends agree, and the prior keeps the promise."""
    found = minimum_prior_for_sets("synth_post_one", n=1, m=20, sets=5, epsilon=40.0, delta=1e-5)
    assert found.upper < found.lower * (1 + 2e-6)
    at = composed_delta(beta_binomial_pair(found.upper, found.upper, 20), 5, 40.0)
    below = composed_delta(beta_binomial_pair(found.lower, found.lower, 20), 5, 40.0)
    assert at.upper <= 1e-5 < below.lower


@pytest.mark.parametrize(
    ("n", "m", "alpha", "beta", "epsilon"),
    [(1500, 1500, 0.5, 0.5, 2.0), (2000, 2000, 6.0915, 6.0915, 1.0), (4000, 3000, 20.0, 3.0, 1.0)],
)
def test_a_staircase_that_ends_early_has_the_worst_of_all_pairs(
    n: int, m: int, alpha: float, beta: float, epsilon: float
) -> None:
    release = BetaBinomial(n=n, m=m, alpha=alpha, beta=beta)
    found, pairs = release._tail_differences(epsilon), np.arange(n)
    assert found is not None
    assert len(found[0]) < release._exceeding(epsilon)
    every = log_delta_of_pairs(alpha + pairs, beta + (n - 1 - pairs), m, epsilon)
    worst = release.worst_upward_pair(epsilon)
    assert worst.other == every.argmax()
    assert math.log(worst.value) == pytest.approx(every.max(), abs=1e-11)
