"""PARAM_Post: its δ against 30-digit integrals of the definition, over all pairs, far tails and lopsided tables."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from dpviz.calibration.parameter_draw import ParameterDraw, log_parameter_delta
from dpviz.priors import minimum_prior, release
from dpviz.privacy.divergence import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from tests.referees import beta_excess


def tails_delta(x: Any, y: Any, epsilon: float) -> Any:
    with mp.workdps(60):
        return beta_excess(x, y, epsilon)


def log_integral(x: float, y: float, epsilon: float) -> Any:
    """ln of ∫ p(u) (1 − e^{−(u − u*)}) du over the log-odds u of θ beyond u*, where the privacy loss is ε.

    p is the density of ln(θ/(1 − θ)) under Beta(x + 1, y); the loss is u + ln(y/x), so that u* = ε + ln(x/y). The
    integrand is positive and log-concave; it is cut where it has fallen by e^−60.
    """
    with mp.workdps(22):
        a, b, start = mp.mpf(x) + 1, mp.mpf(y), mp.mpf(epsilon) + mp.log(mp.mpf(x) / y)
        constant = mp.loggamma(a + b) - mp.loggamma(a) - mp.loggamma(b)

        def log_integrand(s: Any) -> Any:
            u = start + s
            log_theta = -mp.log1p(mp.exp(-u)) if u > 0 else u - mp.log1p(mp.exp(u))
            return constant + a * log_theta + b * (log_theta - u) + mp.log(-mp.expm1(-s))

        def slope(s: Any) -> Any:
            return a - (a + b) / (1 + mp.exp(-(start + s))) + 1 / mp.expm1(s)

        low, high = mp.mpf("1e-25"), mp.mpf(1)
        while slope(high) > 0:
            high *= 2
        for _ in range(90):
            middle = mp.sqrt(low * high)
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        mode, theta = low, 1 / (1 + mp.exp(-(start + low)))
        top = log_integrand(mode)
        step = 1 / mp.sqrt((a + b) * theta * (1 - theta) + mp.exp(mode) / mp.expm1(mode) ** 2) / 2
        points = [mode * k / 4 for k in range(5)]
        while log_integrand(points[-1]) > top - 60:
            points.append(points[-1] + step)
            step *= 1.5
        area = mp.quad(lambda s: mp.exp(log_integrand(s) - top) if s > 0 else mp.mpf(0), points, maxdegree=5)
        return top + mp.log(area)


def log_delta(x: float, y: float, epsilon: float) -> float:
    return float(log_parameter_delta(np.array([x]), np.array([y]), epsilon)[0])


def test_the_two_referees_agree_with_a_value_by_hand() -> None:
    """Densities 2θ and 2(1 − θ), e^ε = 2: they cross at 2/3, and (1 − 4/9) − 2 (1/9) = 1/3."""
    assert abs(tails_delta(1, 1, math.log(2)) - mp.mpf(1) / 3) < 1e-15
    assert abs(mp.exp(log_integral(1, 1, math.log(2))) - mp.mpf(1) / 3) < 1e-15
    assert log_delta(1.0, 1.0, math.log(2)) == pytest.approx(math.log(1 / 3), abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 0.3, 2.0, 10.0, 50.0])
@pytest.mark.parametrize(("x", "y"), [
    (1.0, 1.0), (0.1, 0.2), (3.5, 900.0), (700.0, 4.0), (1e-8, 1.0), (1.0, 1e-8), (1e-8, 1e-8), (40.0, 40.0),
])  # fmt: skip
def test_log_delta_is_the_difference_of_tails(x: float, y: float, epsilon: float) -> None:
    exact = tails_delta(x, y, epsilon)
    assert exact > 0
    if exact > mp.mpf("1e-290"):
        assert abs(mp.exp(mp.mpf(log_delta(x, y, epsilon))) / exact - 1) < 5e-11


@pytest.mark.parametrize(("x", "y", "epsilon"), [
    (1e5, 1e5, 0.01), (1e5, 1e5, 0.0), (1e5, 30.0, 1.0), (30.0, 1e5, 1.0), (1e5, 0.01, 0.5), (1e-8, 1e5, 20.0),
    (2e4, 9e4, 0.1), (1e5, 2.0, 5.0), (6e4, 1e5, 1e-4), (5e3, 25.0, 0.7), (1234.5, 77.7, 3.0), (8.0, 1e12, 5.0),
])  # fmt: skip
def test_log_delta_of_large_and_lopsided_tables_is_the_integral(x: float, y: float, epsilon: float) -> None:
    assert abs(mp.expm1(log_delta(x, y, epsilon) - log_integral(x, y, epsilon))) < 1e-10


@pytest.mark.parametrize(("x", "y", "epsilon"), [
    (860.0, 870.0, 1.5),  # near e^−570
    (1255.0, 179.0, 2.2),
    (122.0, 72.0, 9.0),
    (12.0, 3.0, 150.0),
    (60.0, 15.0, 40.0),
    (7.0, 500.0, 4.0),
    (90_000.0, 95_000.0, 0.11),
])  # fmt: skip
def test_log_delta_holds_to_the_end_of_the_floating_point_numbers(x: float, y: float, epsilon: float) -> None:
    exact = log_integral(x, y, epsilon)
    assert -690 < exact < -5
    assert abs(mp.expm1(log_delta(x, y, epsilon) - exact)) < 1e-10


def test_a_delta_below_all_floating_point_numbers_has_its_logarithm() -> None:
    sizes = np.array([5.0, 3000.0])
    found = log_parameter_delta(sizes, sizes, 2.0)
    assert abs(float(found[1] - log_integral(3000.0, 3000.0, 2.0))) < 1e-11
    assert found[1] < -2000


# All pairs of neighbours


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), [
    (1, 0.5, 0.5, 1.0), (2, 3.0, 3.0, 0.1), (7, 2.0, 9.0, 0.5), (7, 9.0, 2.0, 0.5), (13, 0.01, 5.0, 3.0),
    (30, 12.0, 12.0, 1.0), (30, 1.0, 40.0, 0.0), (30, 25.0, 6.0, 2.5), (30, 20.0, 20.0, 20.0),
    (18, 1e-6, 1e-6, 0.2),
])  # fmt: skip
def test_the_worst_neighbours_by_a_scan_of_all_pairs_both_ways(n, alpha, beta, epsilon):
    """Pair i shares i + α ones and n − 1 − i + β zeros; the other direction has ones and zeros exchanged."""
    pairs = [(alpha + i, beta + (n - 1 - i)) for i in range(n)]
    up = [tails_delta(x, y, epsilon) for x, y in pairs]
    down = [tails_delta(y, x, epsilon) for x, y in pairs]
    found = ParameterDraw(n=n, alpha=alpha, beta=beta).hockey_stick(epsilon)
    assert abs(found.value / max(up + down) - 1) < 2e-11
    assert abs(found.likelier - found.unlikelier) == 1
    assert 0 <= min(found.likelier, found.unlikelier) <= max(found.likelier, found.unlikelier) <= n
    named = up[found.unlikelier] if found.likelier > found.unlikelier else down[found.likelier]
    assert abs(found.value / named - 1) < 2e-11


def test_the_density_ratio_has_no_bound_and_no_probability_of_its_own() -> None:
    made = ParameterDraw(n=4, alpha=30.0, beta=30.0)
    assert pure_epsilon(made) == math.inf
    assert epsilon_for_delta(made, 0.0) == math.inf
    values = [made.hockey_stick(epsilon).value for epsilon in (0.0, 0.5, 2.0, 5.0)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_a_release_without_rows_does_not_know_m() -> None:
    assert release("param_post", n=5, m=1, alpha=2.0) == release("param_post", n=5, m=999, alpha=2.0)
    answers = {minimum_prior("param_post", n=5, m=m, epsilon=1.0, delta=1e-4) for m in (1, 50)}
    assert len(answers) == 1


@pytest.mark.parametrize("x", [1e6, 1e8, 1e11])
@pytest.mark.parametrize("deviations", [0.03, 0.9, 1.1, 3.0])
def test_a_large_prior_keeps_its_digits_at_a_small_epsilon(x: float, deviations: float) -> None:
    """δ = ∫ f(L) (1 − e^{ε − L}) dL over L > ε, f the density of the loss, by quadrature in 50 digits."""
    epsilon = deviations * math.sqrt(2 / x)
    with mp.workdps(50):
        a, e = mp.mpf(x), mp.mpf(epsilon)
        scale = mp.loggamma(2 * a + 1) - mp.loggamma(a + 1) - mp.loggamma(a) - (2 * a + 1) * mp.log(2)

        def added(loss: mp.mpf) -> mp.mpf:
            log_density = scale + (a + 1) * loss - (2 * a + 1) * mp.log1p(mp.expm1(loss) / 2)
            return -mp.exp(log_density) * mp.expm1(e - loss)

        true = mp.quad(added, [e + step * mp.sqrt(2 / a) for step in (0, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12)])
    found = math.exp(float(log_parameter_delta(np.array([x]), np.array([x]), epsilon)[0]))
    assert found == pytest.approx(float(true), rel=1e-9)


@pytest.mark.parametrize(("alpha", "beta"), [(1e12, 1e-300), (1e-300, 1e12)])
def test_priors_whose_ratio_overflows(alpha: float, beta: float) -> None:
    """All of one posterior is at 0 and all of the other at 1."""
    assert delta_for_epsilon(ParameterDraw(n=2, alpha=alpha, beta=beta), 5.0) == 1.0
