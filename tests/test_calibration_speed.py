"""What makes calibration fast gives the same answers: guesses, one pair in place of all, ties, coarse curves first."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from dpviz.calibration.parameter_draw import log_parameter_delta
from dpviz.calibration.smallest_prior import minimum_priors, prior_for_delta
from dpviz.claims.curves import AXES, Axis, prior_curves, stream_prior_curves
from dpviz.core.types import FloatArray
from dpviz.mechanisms.pair_divergence import worst_pair
from dpviz.priors import CALIBRATED, METHODS, Setting, minimum_prior, release
from dpviz.privacy.divergence import delta_for_epsilon
from tests.referees import beta_binomial_law, beta_excess, excess, plug_in_law

# The root


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    power=st.floats(0.3, 3.0),
    root=st.floats(-200.0, 20.0),
    log_delta=st.floats(-300.0, -0.01),
    guess=st.floats(-600.0, 26.0),
    kink=st.floats(0.1, 4.0),
)
def test_the_root_of_a_broken_power_is_found_from_any_guess(
    power: float, root: float, log_delta: float, guess: float, kink: float
) -> None:
    """−ln δ = c prior^p, with another p below the root, has its root where it was put."""

    def delta_of(prior: float) -> float:
        away = math.log(prior) - root
        return math.exp(log_delta * math.exp(min(away * (power if away > 0 else power * kink), 200.0)))

    delta = math.exp(log_delta)
    found = prior_for_delta(delta_of, delta, 1e-300, 5e11, math.exp(guess))
    assert delta_of(found) <= delta
    assert abs(math.log(found) - root) < 1e-11 * max(1.0, 1 / (power * min(kink, 1.0)) / -log_delta)


@pytest.mark.parametrize("guess", [1e-299, 1e-5, 1.0, 1e6])
def test_a_jump_is_found_as_well(guess: float) -> None:
    found = prior_for_delta(lambda prior: 0.5 if prior < 3.0 else 0.0, 0.1, 1e-300, 5e11, guess)
    assert 3.0 <= found <= 3.0 * (1 + 1e-12)


def test_the_ends_of_the_root_search() -> None:
    assert prior_for_delta(lambda _: 0.01, 0.1, 1e-300, 5e11, 1.0) == 1e-300
    assert prior_for_delta(lambda _: 0.2, 0.1, 1e-300, 5e11, 1.0) == math.inf


# One pair in place of all


def pair_by_definition(method: str, x: float, y: float, m: int, epsilon: float) -> mp.mpf:
    """Σ or ∫ of the positive part of the difference, in 60 digits; x and y are what counts beside the one row."""
    with mp.workdps(60):
        if method == "param_post":
            return beta_excess(x, y, epsilon)
        law = beta_binomial_law if method == "synth_post_one" else plug_in_law
        return excess(law(mp.mpf(x) + 1, y, m), law(x, mp.mpf(y) + 1, m), epsilon)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("x", "y", "m"), [(0.3, 0.3, 1), (2.5, 40.0, 12), (40.0, 2.5, 30), (300.0, 500.0, 25)])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 1.0])
def test_the_delta_of_one_pair_is_its_definition(method: str, x: float, y: float, m: int, epsilon: float) -> None:
    expected = pair_by_definition(method, x, y, m, epsilon)
    synthesizer_type: Any = getattr(METHODS[method], "synthesizer_type", None)
    if synthesizer_type is None:
        found = np.exp(log_parameter_delta(np.array([x]), np.array([y]), epsilon))
    else:
        found = np.exp(synthesizer_type.log_pair_deltas(np.array([x]), np.array([y]), m, epsilon))
    assert found == pytest.approx([float(expected)], rel=1e-10)


@pytest.mark.parametrize(("x", "y", "epsilon"), [(5e9, 5.0001e9, 1e-4), (1e8, 1e8, 5e-4), (2e7, 3e6, 1e-3)])
def test_of_a_large_prior_the_delta_keeps_nine_digits(x: float, y: float, epsilon: float) -> None:
    """D − (e^ε − 1) ∫ of the density beyond the threshold, by quadrature in 40 digits."""
    with mp.workdps(40):
        a, b, e = mp.mpf(x), mp.mpf(y), mp.exp(mp.mpf(epsilon))
        odds = e * a / b
        start, scale = odds / (1 + odds), mp.sqrt(a * b / (a + b) ** 3)
        log_density = mp.loggamma(a + b + 1) - mp.loggamma(a) - mp.loggamma(b + 1)

        def density(u: mp.mpf) -> mp.mpf:
            theta = start + scale * u
            return scale * mp.exp(log_density + (a - 1) * mp.log(theta) + b * mp.log1p(-theta))

        tail = mp.quad(density, [0, 0.25, 0.5, 1, 2, 4, 8, 16])
        log_term = mp.loggamma(a + b + 1) - mp.loggamma(a + 1) - mp.loggamma(b + 1)
        log_term += a * mp.log(start) + b * mp.log(1 - start)
        expected = mp.exp(log_term) - (e - 1) * tail
        for copies in (1, 3):
            found = log_parameter_delta(np.full(copies, x), np.full(copies, y), epsilon)
            assert abs(float(found[-1] - mp.log(expected))) < 2e-9


@pytest.mark.parametrize(("n", "ones", "power"), [(300, 1e6, 30.0), (5000, 1e9, 30.0), (5000, 1e7, 2.0)])
def test_among_thousands_that_nearly_tie_the_largest_is_found(n: int, ones: float, power: float) -> None:
    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        return (x / ones) ** -power + (y / ones) ** -power

    i = np.arange(n)
    values = delta(ones + i, ones + (n - 1 - i))
    value, pair = worst_pair(lambda x, y: np.log(delta(x, y)), n, ones, ones)
    assert math.exp(value) == pytest.approx(values.max(), rel=1e-8)
    assert values[pair] == pytest.approx(values.max(), rel=1e-8)


# Plug-ins far below what a difference of tails can tell


def largest_log_delta(n: int, m: int, a: float, b: float, epsilon: float) -> float:
    """ln of the largest Σ P (1 − e^{ε − L}) over every pair, both ways, from ln Γ."""
    i, j, best = np.arange(n)[:, None], np.arange(m + 1), -math.inf
    for ones, zeros in ((a, b), (b, a)):
        x, y = ones + i, zeros + (n - 1 - i)
        odds = j * np.log1p(1 / x) - (m - j) * np.log1p(1 / y)
        log_p = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1)
        log_p = log_p + j * np.log((x + 1) / (a + b + n)) + (m - j) * np.log(y / (a + b + n))
        with np.errstate(divide="ignore"):
            terms = log_p + np.log(-np.expm1(np.minimum(epsilon - odds, 0.0)))
        top = float(terms.max())
        with np.errstate(under="ignore"):
            best = max(best, top + math.log(float(np.exp(terms - top).sum(axis=1).max())))
    return best


TINY_DELTAS = [
    (11, 1676, 278.0751077642241, 278.0751077642241, 1.0),
    (7, 1629, 100533.48778521613, 100533.48778521613, 0.01),
    (252, 394, 38678.97509853635, 22104.79490894583, 0.01),
    (1025, 288, 15835.92, 15835.92, 0.01),
    (40, 60, 3.0, 3.0, 8.0),
]


@pytest.mark.parametrize(("n", "m", "a", "b", "epsilon"), TINY_DELTAS)
def test_a_plug_in_finds_the_worst_of_all_pairs_however_small_delta_is(
    n: int, m: int, a: float, b: float, epsilon: float
) -> None:
    found = release("synth_post_many", n=n, m=m, alpha=a, beta=b).hockey_stick(epsilon).value
    assert math.log(found) == pytest.approx(largest_log_delta(n, m, a, b, epsilon), abs=1e-8)


# The answer


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-6), (1.0, 1e-9), (0.3, 0.2), (6.0, 1e-30)])
def test_the_answer_is_private_and_a_millionth_less_is_not(method: str, epsilon: float, delta: float) -> None:
    n, m = 70, 90
    alone = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    assert delta_for_epsilon(release(method, n=n, m=m, alpha=alone), epsilon) <= delta
    below = alone * (1 - 1e-6)
    if method != "synth_map" or below > 1:
        assert delta_for_epsilon(release(method, n=n, m=m, alpha=below), epsilon) > delta


@pytest.mark.parametrize("method", ["synth_post_one", "synth_post_many", "param_post"])
def test_unequal_priors_are_held_against_pairs_in_both_directions(method: str) -> None:
    for shape in ({"beta": 4.0}, {"beta": 400.0}, {"ratio": 0.1}, {"ratio": 25.0}):
        alpha = minimum_prior(method, n=40, m=30, epsilon=0.5, delta=1e-3, **shape)
        if math.isfinite(alpha):
            for prior, private in ((alpha, True), (alpha * (1 - 1e-6), False)):
                beta = shape.get("beta", shape.get("ratio", 1.0) * prior)
                kept = delta_for_epsilon(release(method, n=40, m=30, alpha=prior, beta=beta), 0.5) <= 1e-3
                assert kept == private


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 700), (150, 20), (2000, 2000), (90_000, 5)])
def test_many_priors_together_are_those_one_by_one(method: str, n: int, m: int) -> None:
    settings = np.array([(e, d) for e in (0.05, 1.0, 9.0, 50.0) for d in (0.0, 1e-300, 1e-7, 0.2)])
    together = minimum_priors(method, n=n, m=m, epsilon=settings[:, 0], delta=settings[:, 1])
    alone = [minimum_prior(method, n=n, m=m, epsilon=e, delta=d) for e, d in settings.tolist()]
    np.testing.assert_allclose(together, alone, rtol=2e-12)
    for alpha, (epsilon, delta) in zip(together.tolist(), settings.tolist(), strict=True):
        if math.isfinite(alpha):
            assert delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon) <= delta


def test_many_priors_together_are_refused_outside_their_domains() -> None:
    with pytest.raises(ValueError, match="delta"):
        minimum_priors("synth_map", n=1, m=1, epsilon=1.0, delta=np.array([0.1, 1.0]))
    with pytest.raises(ValueError, match="method must be one of"):
        minimum_priors("none", n=1, m=1, epsilon=1.0, delta=0.1)


# Curves


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("family", ["bernoulli", "categorical", "gaussian"])
def test_curves_come_coarse_first_and_end_as_the_whole(family: str, axis: Axis) -> None:
    setting = Setting(n=80, m=50, epsilon=0.4, delta=1e-5, sigma0=2.0)
    *coarse, last = stream_prior_curves(family, setting, axis)
    whole = prior_curves(family, setting, axis)
    assert np.array_equal(last.points, whole.points)
    counts = [len(curves.points) for curves in (*coarse, last)]
    assert counts == sorted(set(counts))
    assert len(counts) == 1 if family == "bernoulli" else counts[0] <= 9 and len(counts) == 2
    for curves in (*coarse, last):
        assert curves.chosen in curves.points
        assert {curves.points[0], curves.points[-1]} == {whole.points[0], whole.points[-1]}
        places = np.searchsorted(whole.points, curves.points)
        for some, every in zip(curves.lines, whole.lines, strict=True):
            assert (some.method, some.kind, some.theorem) == (every.method, every.kind, every.theorem)
            np.testing.assert_allclose(some.values, every.values[places], rtol=1e-12)


@pytest.mark.parametrize("axis", AXES)
def test_at_the_chosen_point_a_curve_is_the_answer_to_the_last_digit(axis: Axis) -> None:
    setting = Setting(n=80, m=50, epsilon=0.4, delta=1e-5)
    curves = prior_curves("bernoulli", setting, axis)
    for line in curves.lines:
        if line.kind == "exact" and line.method != "synth_map":
            answer = minimum_prior(line.method, n=80, m=50, epsilon=0.4, delta=1e-5)
            assert curves.at_chosen(line) == pytest.approx(answer, rel=1e-12)
