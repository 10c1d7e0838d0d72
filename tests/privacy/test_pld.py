"""Sums of privacy losses against every tuple of outcomes, 60 digits, double integrals and dp-accounting."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.calibration.methods import SYNTH_POST_ONE
from dpviz.calibration.parameter_draw import log_parameter_delta, parameter_losses
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy import delta_for_epsilon, pld
from dpviz.privacy.pld import PrivacyLossDistribution, advanced_composition
from tests.referees import Law, beta_binomial_law, discretized_delta, excess, of_sets

DIGITS = 60
ERROR = 2e-4
"""Of a composed δ at the usual resolution, relative, and never below the exact one."""

CASES = [
    (0.5, 3.0, 4, 3, 1.0), (6.0, 105.0, 9, 2, 0.4), (2.5, 2.5, 3, 5, 2.0), (30.0, 40.0, 25, 2, 0.1), (1e-3, 7, 3, 3, 9),
]  # fmt: skip
every_case = pytest.mark.parametrize(("x", "y", "m", "sets", "epsilon"), CASES)


def laws(x: float, y: float, m: int) -> tuple[Law, Law]:
    """Laws of the released count under both neighbours that share x and y rows."""
    return beta_binomial_law(mp.mpf(x) + 1, y, m), beta_binomial_law(x, mp.mpf(y) + 1, m)


def tuples(law: Law, sets: int) -> Law:
    """Probability of every tuple of outcomes."""
    return [math.prod(outcome, start=mp.mpf(1)) for outcome in itertools.product(law, repeat=sets)]


@pytest.fixture
def on_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum by its transform, however few outcomes there are."""
    monkeypatch.setattr(pld, "MAX_LISTED", 0)


@every_case
def test_every_tuple_of_outcomes_added_up_gives_the_same_delta(x, y, m, sets, epsilon):
    with mp.workdps(DIGITS):
        likelier, other = laws(x, y, m)
        exact = excess(tuples(likelier, sets), tuples(other, sets), epsilon)
    composed = SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0).composed_delta(sets, epsilon)
    assert composed == pytest.approx(float(exact), rel=1e-11)


@every_case
@pytest.mark.parametrize("resolution", [0.3, 0.03, 3e-3])
def test_the_transform_rounds_delta_up_by_the_square_of_its_resolution(x, y, m, sets, epsilon, resolution, monkeypatch):
    loss = SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0)
    exact = loss.composed_delta(sets, epsilon)
    monkeypatch.setattr(pld, "MAX_LISTED", 0)
    composed = loss.composed_delta(sets, epsilon, resolution=resolution)
    assert exact * (1 - 1e-9) <= composed <= exact * (1 + 2 * resolution**2)


@every_case
def test_what_a_narrow_window_leaves_out_counts_in_full(x, y, m, sets, epsilon, monkeypatch):
    """The window of the transform leaves out a share of the tilted sum: here a twentieth on either side."""
    loss = SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0)
    exact = loss.composed_delta(sets, epsilon)
    monkeypatch.setattr(pld, "MAX_LISTED", 0)
    monkeypatch.setattr(pld, "LOG_LEFT_OUT", math.log(0.05))
    assert loss.composed_delta(sets, epsilon) >= exact * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(
    masses=st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5),
    seed=st.integers(0, 10**6),
    sets=st.integers(1, 4),
    epsilon=st.floats(0.0, 3.0),
)
def test_any_two_laws_composed(masses: list[float], seed: int, sets: int, epsilon: float) -> None:
    likelier = np.array(masses) / sum(masses)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(masses)))
    loss = PrivacyLossDistribution.from_outcomes(np.log(likelier / other), np.log(likelier))
    first, second = of_sets(np.array([likelier, other]), sets)
    assert loss.composed_delta(sets, epsilon) == pytest.approx(float(excess(first, second, epsilon)), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_one_set_has_the_delta_of_the_release(epsilon: float) -> None:
    for m, prior in [(100, 6.1), (700, 2.0), (5, 0.5)]:
        exact = delta_for_epsilon(BetaBinomial(n=1, m=m, alpha=prior, beta=prior), epsilon)
        assert SYNTH_POST_ONE.losses(prior, prior, m, 0.0, 0.0).composed_delta(1, epsilon) == pytest.approx(
            exact, rel=1e-11
        )


def test_delta_of_1e_200_keeps_its_digits() -> None:
    x, y, m, epsilon = 500.0, 560.0, 400, 1.15
    with mp.workdps(40):
        likelier, other = laws(x, y, m)
        exact = float(excess(tuples(likelier, 2), tuples(other, 2), epsilon))
    assert 1e-215 < exact < 1e-185
    composed = SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0).composed_delta(2, epsilon)
    assert exact * (1 - 1e-9) <= composed <= exact * (1 + ERROR)


@pytest.mark.usefixtures("on_grid")
@pytest.mark.parametrize(("sets", "epsilon"), [(2, 0.5), (5, 1.0), (5, 1.4), (20, 2.0)])
def test_google_dp_accounting_brackets_the_composition(sets: int, epsilon: float) -> None:
    x, y, m = 33.0, 132.0, 100
    release = BetaBinomial(n=1, m=m, alpha=x, beta=y)
    other, likelier = release.log_transition(np.array([0, 1]), np.arange(m + 1))
    optimistic, pessimistic = (
        discretized_delta(likelier, other, epsilon, rounded_up=up, sets=sets) for up in (False, True)
    )
    composed = SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0).composed_delta(sets, epsilon)
    assert optimistic * (1 - 1e-9) <= composed <= pessimistic * (1 + ERROR) + 1e-15


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize(("x", "y"), [(20.5, 119.5), (119.5, 20.5), (0.3, 5.0), (3.0, 0.2), (1e4, 1.5e4), (1e8, 1.1e8)])
def test_one_drawn_proportion_has_the_delta_of_its_beta_tails(x: float, y: float, epsilon: float) -> None:
    epsilon *= min(1.0, 10 / math.sqrt(x))
    exact = math.exp(log_parameter_delta(np.array([x]), np.array([y]), epsilon)[0])
    composed = parameter_losses(x, y, epsilon).composed_delta(1, epsilon)
    assert exact * (1 - 1e-6) <= composed <= exact * (1 + ERROR)


@pytest.mark.parametrize("max_listed", [0, 60_000])
def test_an_infinite_loss_and_what_is_left_out_count_as_themselves(max_listed, monkeypatch):
    monkeypatch.setattr(pld, "MAX_LISTED", max_listed)
    likelier, other = np.array([0.01, 0.59, 0.4]), np.array([0.0, 0.41, 0.59])
    losses = np.array([math.inf, *np.log(likelier[1:] / other[1:])])
    first, second = of_sets(np.array([likelier, other]), 3)
    exact = float(excess(first, second, 0.3))
    loss = PrivacyLossDistribution.from_outcomes(losses, np.log(likelier))
    assert exact * (1 - 1e-9) <= loss.composed_delta(3, 0.3) <= exact * (1 + ERROR)
    assert loss.composed_delta(3, 100.0) == pytest.approx(1 - 0.99**3, rel=1e-12)
    omitted = PrivacyLossDistribution.from_outcomes(losses[1:], np.log(likelier[1:]), 0.01)
    assert omitted.composed_delta(3, 0.3) == loss.composed_delta(3, 0.3)


def test_equal_losses_are_one_and_sums_of_different_losses_are_listed() -> None:
    coin = PrivacyLossDistribution(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    both = coin.compose(coin)
    assert both.losses == pytest.approx([-math.log(9), 0.0, math.log(9)])
    assert np.exp(both.log_masses) == pytest.approx([1 / 16, 6 / 16, 9 / 16])
    assert len(coin.self_compose(5).losses) == 6
    with pytest.raises(ValueError, match="losses and log_masses"):
        PrivacyLossDistribution.from_outcomes(np.zeros(2), np.zeros(1))


def test_a_sum_that_would_take_too_long_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"sets \(released sets\) must be fewer with this promise"):
        SYNTH_POST_ONE.losses(33.0, 132.0, 100, 0.0, 0.0).composed_delta(5, 1.0, max_size=1000)


def test_advanced_composition_is_that_of_the_papers() -> None:
    with mp.workdps(40):
        each, slack = mp.mpf("0.1"), mp.mpf("1e-6")
        total = each * mp.sqrt(20 * mp.log(1 / slack)) + 10 * each * (mp.exp(each) - 1)
        assert advanced_composition(0.1, 10, 1e-6) == pytest.approx(float(total), rel=1e-14)
    assert advanced_composition(0.0, 10, 0.0) == 0.0
