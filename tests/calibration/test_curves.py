"""What methods need, one after the other; several sets by each way of counting their cost; the average case by θ."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

from dpviz.calibration.curves import average_and_worst, stream_average_by_theta, stream_needed, stream_ways
from dpviz.calibration.data_kinds import Kind, PromiseQuestion
from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.calibration.several_sets import minimum_by_advanced, minimum_prior_for_sets
from dpviz.calibration.text import HEADLINE
from dpviz.designs import Design
from dpviz.inference.prior_tables import ways_table
from dpviz.priors import CALIBRATED, KINDS, METHODS, Setting, maximum_range, minimum_prior
from dpviz.privacy.pld import advanced_composition


def one_set(method: str, epsilon: float, delta: float) -> float:
    return minimum_prior(method, n=40, m=25, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_several_sets_need_what_their_composition_says(delta: float) -> None:
    setting = Setting(n=40, m=25, epsilon=1.5, delta=delta)
    *_, ways = stream_ways(KINDS["bernoulli"], setting, 5, HEADLINE)
    for method in CALIBRATED:
        shares = ways.shares[method, 5]
        assert shares.pure == pytest.approx(one_set(method, 0.3, 0.0), rel=1e-12)
        assert shares.split == pytest.approx(one_set(method, 0.3, delta / 5), rel=1e-12)
        exact = minimum_prior_for_sets(method, n=40, m=25, sets=5, epsilon=1.5, delta=delta)
        assert ways.exact[method, 5] == pytest.approx(exact, rel=1e-4)
        if delta:
            advanced = minimum_by_advanced(partial(one_set, method), 5, 1.5, delta)
            assert shares.advanced == pytest.approx(advanced)
        else:
            assert math.isnan(shares.advanced)


def test_several_sets_of_normal_releases_are_one_with_more_signal() -> None:
    setting = Setting(n=40, m=40, epsilon=1.5, delta=1e-4, sigma=1.0, sigma0=1.0)
    *_, ways = stream_ways(KINDS["gaussian"], setting, 4, HEADLINE)
    for method in CALIBRATED:
        single = maximum_range(method, n=40, m=40, sigma0=1.0, epsilon=1.5, delta=1e-4)
        shares = ways.shares[method, 4]
        pure = maximum_range(method, n=40, m=40, sigma0=1.0, epsilon=1.5 / 4)
        assert shares.pure == pytest.approx(pure, rel=1e-12)
        assert ways.exact[method, 4] == pytest.approx(single / 2)
        assert shares.advanced <= ways.exact[method, 4]


@pytest.mark.parametrize(("kind", "setting", "sets", "beyond"), [
    ("bernoulli", Setting(n=10_000, m=10_000, epsilon=1.0, delta=1e-6), 20, {"synth_post_many", "synth_map"}),
    ("categorical", Setting(n=2000, m=2000, epsilon=1.0, delta=1e-6, cells=3), 5, {"synth_post_one"}),
])  # fmt: skip
def test_sets_beyond_reach_take_no_other_answer_with_them(kind, setting, sets, beyond):
    *_, ways = stream_ways(KINDS[kind], setting, sets, HEADLINE)
    assert set(ways.refused) == beyond
    question = PromiseQuestion(kind=KINDS[kind], setting=setting, sets=sets)
    rows = {name: cells for name, *cells in ways_table(question, ways).rows}
    for method in CALIBRATED:
        last = rows[f"<b>{METHODS[method].label}</b>"][-1]
        assert (last == "beyond reach") == (method in beyond)


@pytest.mark.parametrize("key", ["categorical", "gaussian"])
def test_advanced_composition_keeps_the_promise_and_asks_for_no_less_than_the_exact_answer(key: str) -> None:
    """Four sets with ε0 and what is left of δ each compose to the promise; no other split asks for less."""
    kind = KINDS[key]
    epsilon, delta, sets = 0.5, 1e-4, 4
    setting = Setting(n=40, m=40, epsilon=epsilon, delta=delta, cells=3, sigma0=1.0)
    advanced = kind.by_advanced(METHODS["synth_post_many"], setting, sets)
    needs = []
    for share in np.linspace(0.02, 0.98, 25):
        slack = share * delta
        each = brentq(lambda e, slack=slack: advanced_composition(e, sets, slack) - epsilon, 1e-9, epsilon)
        single = dataclasses.replace(setting, epsilon=each, delta=(delta - slack) / sets)
        needs.append(kind.need(METHODS["synth_post_many"], single, single.delta))
    is_range = not kind.quantity.larger_is_safer
    assert advanced == pytest.approx(max(needs) if is_range else min(needs), rel=5e-3)
    if is_range:
        exact = maximum_range(
            "synth_post_many", n=40, m=40, sigma0=1.0, epsilon=epsilon, delta=delta, sets=sets
        )  # fmt: skip
    else:
        exact = minimum_prior("synth_post_many", n=40, m=40 * sets, cells=3, epsilon=epsilon, delta=delta)
    assert kind.quantity.is_enough(advanced, exact)


SMALL = Setting(n=40, m=25, epsilon=1.5, delta=1e-3)


def test_the_ways_to_count_sets_come_one_by_one_the_cheap_ones_first() -> None:
    kind = KINDS["bernoulli"]
    first, *_, last = stream_ways(kind, SMALL, 5, HEADLINE, divided=(1, 5, 9), together=(1, 2, 5))
    assert set(first.shares) == {(HEADLINE.key, 5)}
    assert not first.exact
    assert {count for key, count in last.shares if key == HEADLINE.key} == {1, 5, 9}
    assert {count for key, count in last.exact if key == HEADLINE.key} == {1, 2, 5}
    assert last.exact[HEADLINE.key, 5] == kind.need(HEADLINE, SMALL, 1e-3, 5)


def test_a_sum_of_losses_too_large_to_wait_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 sets at ε = 1,000 and δ = ½ with 100,000 released rows would take a transform of millions of points."""
    refusal = r"^sets \(released sets\) must be fewer .* \d+,\d{3},\d{3} points, at most 4,194,304"
    with pytest.raises(ValueError, match=refusal):
        minimum_prior_for_sets("synth_post_one", n=100, m=100_000, sets=1000, epsilon=1000.0, delta=0.5)
    monkeypatch.setattr("dpviz.core.limits.MAX_LOSS_POINTS", 100)
    *_, last = stream_ways(KINDS["bernoulli"], SMALL, 500, HEADLINE, divided=(1, 5), together=(2,))
    assert last.refused[HEADLINE.key].endswith("at most 100; got 500.")
    assert set(last.shares) == {(key, 500) for key in KINDS["bernoulli"].methods}  # and nothing is drawn of it


# What every method needs

NEEDED_SETTINGS = [
    Setting(n=1, m=1, epsilon=1.0, delta=0.0),
    Setting(n=30, m=20, epsilon=0.5, delta=1e-4, cells=3),
    Setting(n=100, m=100, epsilon=2.0, delta=1e-6),
]


@pytest.mark.parametrize("family", KINDS)
@pytest.mark.parametrize("sets", [1, 2, 5])
@pytest.mark.parametrize("setting", NEEDED_SETTINGS)
def test_each_is_what_its_method_needs_by_itself(family: str, sets: int, setting: Setting) -> None:
    kind = KINDS[family]
    setting = dataclasses.replace(setting, **dict.fromkeys(("sigma", "sigma0"), 1.0) if family == "gaussian" else {})
    seen = list(stream_needed(kind, setting, sets, HEADLINE))
    assert list(seen[0].exact) == [HEADLINE.key]
    assert set(seen[-1].exact) == set(seen[-1].pure) == set(kind.methods)
    assert [len(one.exact) for one in seen] == list(range(1, len(kind.methods) + 1))
    for key, method in kind.methods.items():
        for delta, found in ((0.0, seen[-1].pure), (setting.delta, seen[-1].exact)):
            try:
                if sets == 1:
                    assert found[key] == pytest.approx(kind.need(method, setting, delta), rel=1e-12)
                else:
                    together = kind.need(method, setting, delta, sets)
                    assert found[key] == pytest.approx(together, rel=1e-12)
            except ValueError as refused:
                assert math.isnan(found[key])
                assert seen[-1].refused[key] == str(refused)


def test_the_first_beyond_reach_refuses_and_another_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, needs = KINDS["bernoulli"], type(KINDS["bernoulli"]).need
    beyond: list[PriorMethod] = [HEADLINE]

    def need(self: Kind, method: PriorMethod, setting: Setting, delta: float, sets: int = 1) -> float:
        if method in beyond:
            raise ValueError("It is beyond reach.")
        return needs(self, method, setting, delta, sets)

    monkeypatch.setattr(type(kind), "need", need)
    with pytest.raises(ValueError, match=r"^It is beyond reach\.$"):
        list(stream_needed(kind, NEEDED_SETTINGS[1], 1, HEADLINE))
    beyond[0] = CALIBRATED_METHODS["synth_map"]
    *_, last = stream_needed(kind, NEEDED_SETTINGS[1], 1, HEADLINE)
    assert last is not None
    assert last.refused == {"synth_map": "It is beyond reach."}
    assert math.isnan(last.exact["synth_map"])
    assert math.isfinite(last.exact[HEADLINE.key])


@pytest.mark.parametrize(("sets", "delta"), [(1, 0.0), (1, 1e-6), (3, 1e-5)])
def test_the_prior_of_a_design_is_that_which_its_method_needs(sets: int, delta: float) -> None:
    design = Design(mechanism="beta_binomial", n=40, m=40, sets=sets, epsilon=1.3, delta=delta, prior="exact")
    setting = Setting(n=40, m=40, epsilon=1.3, delta=delta)
    found = next(stream_needed(KINDS["bernoulli"], setting, sets, HEADLINE))
    assert found.exact[HEADLINE.key] == pytest.approx(design.alpha_of_one_set, rel=1e-12)


# The average case

THETAS = np.round(np.linspace(0.02, 0.98, 13), 12)
THETA_SETTINGS = [(7, 4, 2.5, 0.3), (30, 60, 1.5, 1.0), (60, 30, 12.0, 0.0)]
every_setting = pytest.mark.parametrize(("n", "m", "alpha", "epsilon"), THETA_SETTINGS)


@every_setting
def test_every_point_is_the_average_case_at_its_own_theta(n: int, m: int, alpha: float, epsilon: float) -> None:
    """Also right of 1/2, where the value comes from the mirrored proportion."""
    *_, last = stream_average_by_theta(n, m, alpha, epsilon, THETAS)
    assert last.thetas.tolist() == THETAS.tolist()
    for place, theta in enumerate(THETAS.tolist()):
        direct = average_and_worst(n, m, alpha, theta, epsilon)
        for method, deltas in last.deltas.items():
            pair = direct[method]
            assert pair is not None
            np.testing.assert_allclose(deltas[place], pair[0], rtol=1e-9)


@every_setting
def test_each_picture_keeps_the_points_of_the_one_before(n: int, m: int, alpha: float, epsilon: float) -> None:
    pictures = list(stream_average_by_theta(n, m, alpha, epsilon, THETAS))
    assert len(pictures) > 2
    for coarse, fine in pairwise(pictures):
        assert len(coarse.thetas) < len(fine.thetas)
        kept = np.isin(fine.thetas, coarse.thetas)
        assert fine.thetas[kept].tolist() == coarse.thetas.tolist()
        for method, deltas in coarse.deltas.items():
            np.testing.assert_allclose(fine.deltas[method][kept], deltas, rtol=1e-12)


def test_the_mode_is_left_out_where_it_does_not_exist() -> None:
    *_, last = stream_average_by_theta(5, 5, 1.0, 1.0, [0.5])
    assert "synth_map" not in last.deltas
    assert set(last.deltas) == {"synth_post_one", "synth_post_many", "param_post"}


@pytest.mark.parametrize(
    ("thetas", "words"), [([], "thetas must hold at least one probability"), ([-0.25, 0.5], "from 0 to 1")]
)
def test_no_theta_and_one_outside_are_refused(thetas, words):
    with pytest.raises(ValueError, match=words):
        list(stream_average_by_theta(5, 5, 1.0, 1.0, thetas))
