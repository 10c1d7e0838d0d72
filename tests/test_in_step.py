"""Priors that are sought in step are those that each promise gets alone, and keep it."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.calibration._in_step import NO_WORSE_PAIR, UNDECIDED_PAIR, _Search, smallest_priors
from dpviz.calibration.exact import Promise, smallest_prior, smallest_pure
from dpviz.calibration.posterior_parameter import PosteriorParameter
from dpviz.claims.curves import prior_curves
from dpviz.core.numerics.lockstep import roots
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.plug_ins import PosteriorMean
from dpviz.priors import CALIBRATED, METHODS, Setting
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta
from tests.referees import excess, plug_in_law

IN_STEP = [key for key, method in CALIBRATED.items() if not method.lost]
SIZES = [
    (1, 1),
    (1, 50),
    (2, 1),
    (7, 3),
    (49, 49),
    (50, 1000),
    (1000, 1000),
    (1000, 7),
    (30_000, 30_000),
    (100_000, 100),
]
PROMISES = [
    (1.0, 1e-6),
    (0.01, 0.3),
    (1e-3, 1e-5),
    (10.0, 1e-200),
    (40.0, 1e-9),
    (0.5, 1e-290),
    (2.0, 0.49),
    (0.1, 1e-12),
]
CLOSE = 1e-10
"""Relative distance of two answers that were both solved to 1e-13; where δ is large the rounding of δ itself counts."""

DIGITS = 1e-12
"""Relative rounding of δ, whose terms are added until the slowest of those in step has settled."""

# Roots in step


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    lines=st.lists(
        st.tuples(st.floats(-200.0, 20.0), st.floats(0.3, 3.0), st.floats(0.2, 5.0), st.floats(-9.0, 9.0)),
        min_size=1,
        max_size=9,
    )
)
def test_every_root_of_broken_lines_is_found_from_its_own_start_and_lies_on_the_upper_side(
    lines: list[tuple[float, float, float, float]],
) -> None:
    root, slope, kink, away = np.array(lines).T

    def excess_of(place: FloatArray, which: IntArray) -> FloatArray:
        apart = place - root[which]
        return slope[which] * np.where(apart > 0, apart, apart * kink[which])

    found, done = roots(excess_of, root + away, -690.0, np.full(len(root), 27.0), 1e-13, most=100)
    assert done.all()
    assert np.all(excess_of(found, np.arange(len(root))) >= 0)
    assert found == pytest.approx(root, abs=1e-11)


def test_a_function_below_zero_up_to_the_top_has_the_top_as_its_answer() -> None:
    found, done = roots(
        lambda place, which: place - np.array([9.0, 2.0])[which], np.zeros(2), -9.0, np.full(2, 5.0), 1e-13
    )
    assert done.all()
    assert found == pytest.approx([5.0, 2.0], abs=1e-11)


def test_what_has_no_root_above_the_lowest_place_is_not_found() -> None:
    found, done = roots(lambda place, _: np.exp(place), np.zeros(1), -9.0, np.full(1, 5.0), 1e-13)
    assert not done.any()
    assert np.isnan(found).all()


# Priors in step


def batch(method: str, n: int, m: int) -> list[Promise]:
    return [Promise(METHODS[method], n, m, epsilon, delta) for epsilon, delta in PROMISES]


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("method", IN_STEP)
def test_priors_in_step_are_those_of_each_promise_alone_and_on_the_private_side(method: str, n: int, m: int) -> None:
    promises = batch(method, n, m)
    found = smallest_priors(promises)
    assert any(one is not None for one in found)
    for promise, one in zip(promises, found, strict=True):
        if one is not None:
            alone = smallest_prior(promise).prior
            assert one.prior == pytest.approx(alone, rel=CLOSE), promise
            assert promise.all_pairs(one.prior * (1 + CLOSE)).value <= promise.delta, promise
            if one.pair is not None and one.prior < smallest_pure(promise):
                assert promise.one_pair(one.pair)(one.prior) <= promise.delta * (1 + DIGITS), promise


@pytest.mark.parametrize("method", IN_STEP)
def test_promises_of_many_sizes_go_together(method: str) -> None:
    promises = [Promise(METHODS[method], n, m, 0.7, 1e-5) for n, m in SIZES]
    for promise, one in zip(promises, smallest_priors(promises), strict=True):
        assert one is not None
        assert one.prior == pytest.approx(smallest_prior(promise).prior, rel=CLOSE)


@pytest.mark.parametrize("method", ["synth_post_one", "synth_post_many"])
def test_a_promise_that_only_the_pure_prior_keeps_gets_it(method: str) -> None:
    """At δ = 1e-300 the worst count, ln of whose odds is ε at the pure prior, must not exceed ε."""
    for n, m in ((1, 1), (5, 1), (40, 3)):
        promise = Promise(METHODS[method], n, m, math.log(3.0), 1e-300)
        (found,) = smallest_priors([promise])
        assert smallest_prior(promise).prior <= smallest_pure(promise)
        if found is not None:
            assert found.prior <= smallest_pure(promise)
            assert found.prior == pytest.approx(smallest_prior(promise).prior, rel=CLOSE)


@pytest.mark.parametrize("method", IN_STEP)
def test_no_pair_exceeds_delta_where_the_blocks_say_so(method: str) -> None:
    """Held against every pair; a smaller prior is refused, or said to be unknown."""
    promises = [Promise(METHODS[method], 60, 40, epsilon, delta) for epsilon, delta in PROMISES[:4]]
    search = _Search(promises, np.array([smallest_pure(one) for one in promises]))
    for factor in (0.5, 0.99, 1.0, 1.01):
        search.prior = factor * np.array([smallest_prior(one).prior for one in promises])
        said = search._worse_pairs(np.arange(len(promises)))
        for place, (promise, word) in enumerate(zip(promises, said.tolist(), strict=True)):
            deltas = [promise.one_pair((i, True))(float(search.prior[place])) for i in range(promise.n)]
            others = [delta for i, delta in enumerate(deltas) if i != search.pair[place]]
            assert word == UNDECIDED_PAIR or (word == NO_WORSE_PAIR) == (max(others) <= promise.delta)
            if word >= 0:
                assert deltas[int(word)] == pytest.approx(max(others), rel=1e-12)


def test_what_cannot_be_sought_in_step_is_left_to_be_asked_alone() -> None:
    promises = [
        Promise(METHODS["synth_map"], 10, 10, 1.0, 1e-3),
        Promise(METHODS["synth_post_one"], 10, 10, 1.0, 0.0),
        Promise(METHODS["synth_post_one"], 10, 10, 1.0, 1e-3, beta=2.0),
        Promise(METHODS["synth_post_one"], 10, 10, 1.0, 1e-3, cells=3),
    ]
    for promise in promises:
        assert smallest_priors([promise]) == [None]
    assert smallest_priors([]) == []


# The pairs of the plug-ins


@pytest.mark.parametrize(("x", "y"), list(product((1e-300, 1e-9, 0.3, 40.0, 3e5, 1e12), repeat=2)))
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 3.0, 300.0])
def test_delta_of_a_pair_of_binomials_is_its_definition(x: float, y: float, epsilon: float) -> None:
    for m in (1, 12, 60):
        with mp.workdps(400):
            exact = excess(plug_in_law(mp.mpf(x) + 1, y, m), plug_in_law(x, mp.mpf(y) + 1, m), epsilon)
            expected = float(mp.log(exact)) if exact > 0 else -math.inf
        found = PosteriorMean.log_pair_deltas(np.array([x]), np.array([y]), m, epsilon)
        if expected > -600:
            assert found == pytest.approx([expected], rel=1e-12, abs=1e-11)
        else:
            assert found[0] < -500


# ε of one pair in place of all


@pytest.mark.parametrize("key", ["beta_binomial", "posterior_mean", "posterior_mode", "param_post"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.5, 1.5), (40.0, 3.0), (1e12, 1e12)])
def test_the_epsilon_of_the_worst_pair_is_that_of_all_pairs(key: str, alpha: float, beta: float) -> None:
    sizes: Any = {"n": 6, "alpha": alpha, "beta": beta}
    laws: Any = SYNTHESIZERS
    made: Any = PosteriorParameter(**sizes) if key == "param_post" else laws[key](m=25, **sizes)
    for delta in (0.3, 1e-3, 1e-12, 1e-100):
        epsilon = epsilon_for_delta(made, delta)
        assert delta_for_epsilon(made, epsilon) <= delta
        assert epsilon == 0 or delta_for_epsilon(made, epsilon * (1 - 1e-9)) > delta or epsilon * 1e-9 < 1e-13
        if alpha < 1e12:
            pairs = [made.of_pairs(i, i) for i in range(6)]
            assert epsilon == pytest.approx(max(epsilon_for_delta(one, delta) for one in pairs), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("method", IN_STEP)
def test_along_delta_a_move_of_the_readers_own_point_changes_no_other_point(method: str) -> None:
    one, two = (
        prior_curves("bernoulli", Setting(n=9, m=7, epsilon=0.8, delta=delta), "delta") for delta in (1e-5, 3e-4)
    )
    same = np.intersect1d(one.points, two.points)
    assert len(same) == len(one.points) - 1
    first, second = (
        next(line.values for line in curves.lines if (line.method, line.kind) == (method, "exact"))[
            np.searchsorted(curves.points, same)
        ]
        for curves in (one, two)
    )
    np.testing.assert_allclose(first, second, rtol=1e-12)
