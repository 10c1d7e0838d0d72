"""The setting at which a method keeps promises, what it shares with others, and what is kept of a release."""

import math
from typing import Any

import pytest

from dpviz.comparisons import (
    Analysis,
    BinaryData,
    CategoryData,
    ComparedMethod,
    CountData,
    EqualPrivacy,
    UnknownVariance,
)
from dpviz.comparisons.analysis import mean_width_or_inf
from dpviz.comparisons.numeric_releases import MODIPS_COMMUNAL, MODIPS_COMMUNAL_TRUNCATED, MODIPS_SPLIT
from dpviz.comparisons.proportion_measures import end_masses, interval_measures, set_loss, share_moments
from dpviz.comparisons.terms import setting_for
from dpviz.core.monte_carlo import Measure
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.divergence import pure_within
from tests.helpers import ROUNDING

SMALL = CountData(n=20, m=20, p=0.5)
FAST = ("laplace", "beta_binomial", "posterior_mean", "modips")

# Settings


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
def test_what_a_promise_allows_is_reached_by_a_coin_with_that_loss(epsilon, delta):
    pure = pure_within(epsilon, delta)
    right = 1 / (1 + math.exp(-pure))
    coin = GivenMatrix(probabilities=[[right, 1 - right], [1 - right, right]])
    assert pure_epsilon(coin) == pytest.approx(pure, rel=1e-12)
    assert delta_for_epsilon(coin, epsilon) == pytest.approx(delta, abs=1e-13)


@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("key", FAST)
def test_a_setting_keeps_every_promise_and_a_larger_one_breaks_one(key, sets):
    method, promises = CountData.method(key), [(0.5, 0.01), (2.0, 1e-6), (0.0, 0.3)]
    sets = method.sets(sets)
    setting: Any = setting_for(method, SMALL, sets, promises)

    def kept(here: float) -> list[bool]:
        found: list[Any] = [method.real_delta(SMALL, here, sets, epsilon) for epsilon, _ in promises]
        return [one.value <= delta * (1 + 1e-6) for one, (_, delta) in zip(found, promises, strict=True)]

    assert all(kept(setting))
    assert not all(kept(setting * (1 + 1e-4)))


def test_without_a_known_delta_the_pure_loss_stands_for_it():
    data = UnknownVariance(n=50, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    method = next(one for one in data.methods if one.key == "modips_split")
    assert EqualPrivacy(0.01).setting(method, data, 1.0, 1) is None
    setting = setting_for(method, data, 1, [(1.0, 0.01)])
    assert method.real_epsilon(data, setting, 1) == pytest.approx(pure_within(1.0, 0.01), rel=1e-5)  # type: ignore[arg-type]


# The same release


@pytest.mark.parametrize("high", [1.0, 2.0])
def test_one_scale_for_both_is_an_equal_share_on_a_range_of_length_one_alone(high):
    data = UnknownVariance(n=50, mean=0.5, sigma=0.2, low=0.0, high=high)
    for method in (MODIPS_COMMUNAL, MODIPS_COMMUNAL_TRUNCATED):
        same = method.same_release(data)
        assert bool(same) == (high == 1.0)
        if same:
            other = data.method(same)
            assert other.noise_scales(data, 0.7) == method.noise_scales(data, 0.7)
            assert other.real_epsilon(data, 0.7, 2) == method.real_epsilon(data, 0.7, 2)
    assert MODIPS_SPLIT.same_release(data) == ""


@pytest.mark.parametrize("kind", [CountData, CategoryData, UnknownVariance])
def test_what_is_the_same_release_is_a_method_of_the_same_data(kind):
    sizes = {"n": 30, "m": 30, "p": 0.5, "cells": 3, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0}
    data = kind(**{one.name: sizes[one.name] for one in kind.parameters()})
    keys = {one.key for one in kind.methods}
    found: list[ComparedMethod] = [one for one in kind.methods if one.same_release(data)]
    assert all(one.same_release(data) in keys - {one.key} for one in found)
    assert [one.key for one in found] == (["perturbed_histogram"] if kind is UnknownVariance else [])


# Measures


def test_what_is_kept_of_a_release_holds_none_of_its_terms():
    release = BetaBinomial(n=30, m=30, alpha=2.0, beta=2.0)
    before = dict(vars(release))
    (
        share_moments(release),
        set_loss(release),
        end_masses(release, 2),
        interval_measures(release, 0.3, 1, "as_if_real", Analysis(level=0.9), True),
    )
    assert vars(release) == before
    assert set_loss(release) == pytest.approx(pure_epsilon(release), rel=ROUNDING)
    assert end_masses(release, 2) == pytest.approx((release.transition_matrix()[:, [0, -1]] ** 2).sum(axis=1))


def test_nested_sets_have_no_mean_length_there_either():
    nested = next(one for one in BinaryData.methods if one.key == "nested_modips")
    data = BinaryData(n=8, p=1.0)
    analysis = Analysis(sets=3, rule="reiter_2002", repetitions=500, seed=1)
    *_, last = data.outcomes(nested, 60.0, 60.0, analysis)
    assert (last.mean_width.value, last.mean_width.error) == (math.inf, 0.0)


@pytest.mark.parametrize(("width", "unit", "found"), [(1e6, 1.0, 1e6), (1.1e6, 1.0, math.inf), (1.1e6, 2.0, 1.1e6)])
def test_a_mean_length_says_nothing_beyond_a_million(width, unit, found):
    assert mean_width_or_inf(Measure(width, 5.0), unit).value == found
    assert mean_width_or_inf(Measure(0.5, 0.1), 1.0, True) == Measure(math.inf, 0.0)


def test_without_a_promise_there_is_no_setting():
    with pytest.raises(ValueError, match="promises must be at least one pair of ε and δ; got none"):
        setting_for(SMALL.method("laplace"), SMALL, 1, [])


def test_a_simulated_width_has_its_own_standard_error():
    """Also where it is smaller than one repetition in all of them."""
    release, analysis = BetaBinomial(n=60, m=60, alpha=1, beta=1), Analysis(repetitions=1_000)
    assert 0 < interval_measures(release, 0.3, 30, "raab_2017", analysis, False)[1].error < 5e-4
