"""Priors of M sets against all pairs of neighbours, one larger set, single releases and earlier brackets."""

from __future__ import annotations

import itertools
import math

import pytest

from dpviz.calibration.curves import release
from dpviz.calibration.methods import SYNTH_POST_ONE
from dpviz.calibration.parameter_draw import parameter_losses
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial
from dpviz.privacy import delta_for_epsilon, several_sets
from tests.referees import divergence, of_sets

BELOW = 1 - 2e-6
"""A prior that is smaller by this factor is not private."""


@pytest.mark.parametrize(("sets", "split", "pure"), [(2, 25.77, 154), (5, 118.9, 452), (10, 293.5, 951)])
def test_sets_that_divide_the_promise_need_more(sets: int, split: float, pure: float) -> None:
    shares = [minimum_prior("synth_post_one", n=100, m=100, epsilon=1 / sets, delta=d / sets) for d in (1e-5, 0.0)]
    assert shares == [pytest.approx(split, rel=4e-4), pytest.approx(pure, rel=1e-3)]


@pytest.mark.parametrize(("method", "n", "m", "sets", "epsilon", "delta", "low", "high"), [
    ("synth_post_one", 100, 100, 2, 1.0, 1e-5, 13.438, 13.448),
    ("synth_post_one", 100, 100, 5, 1.0, 1e-5, 33.077763, 33.077794),
    ("synth_post_one", 100, 100, 10, 1.0, 1e-5, 60.46, 60.62),
    ("synth_post_one", 1000, 1000, 10, 1.0, 1e-5, 69.2304298, 69.2304955),
    ("param_post", 100, 100, 5, 1.0, 1e-5, 108.315036, 108.315138),
    ("param_post", 1000, 1, 20, 2.0, 1e-6, 112.590304, 112.590411),
    ("synth_post_one", 100, 100, 1000, 2.0, 1e-6, 633.102494, 633.103094),
    ("param_post", 30, 30, 100, 20.0, 1e-3, 7.68866085, 7.68866816),
    ("synth_post_one", 50, 2000, 5, 30.0, 1e-5, 0.00780366922, 0.00780367624),
    ("param_post", 100_000, 1, 5, 1.0, 1e-9, 161.430907, 161.431057),
])  # fmt: skip
def test_priors_lie_in_brackets_with_proven_ends(method, n, m, sets, epsilon, delta, low, high):
    """Both ends were certified once by bounds on every rounding."""
    assert low < minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta) < high


@pytest.mark.parametrize(("n", "m", "sets", "epsilon", "delta"), [
    (4, 3, 3, 1.0, 1e-3), (6, 2, 3, 3.0, 1e-6), (3, 4, 2, 0.3, 0.02), (1, 1, 6, 1.0, 0.05), (9, 5, 2, 6.0, 0.1),
])  # fmt: skip
def test_all_pairs_of_neighbours_in_both_directions_keep_the_promise(n, m, sets, epsilon, delta):
    prior = minimum_prior_for_sets("synth_post_one", n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)

    def worst(alpha: float) -> float:
        matrix = BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha).transition_matrix()
        return divergence(of_sets(matrix, sets), itertools.pairwise(range(n + 1)), epsilon)

    assert worst(prior) <= delta * (1 + 1e-9)
    assert worst(prior * BELOW) > delta


@pytest.mark.parametrize(("n", "m", "epsilon", "delta", "sets"), [
    (7, 60, 1.0, 1e-5, 5), (7, 60, 0.01, 1e-4, 3), (7, 60, 8.0, 1e-7, 4), (60, 40, 0.004, 1e-5, 5),
])  # fmt: skip
@pytest.mark.parametrize("method", ["synth_post_one", "param_post"])
def test_no_pair_exceeds_delta_and_with_less_one_does(method, n, m, epsilon, delta, sets):
    prior = minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)

    def worst(alpha: float) -> float:
        deltas = []
        for i in range(n):
            x, y = alpha + i, alpha + (n - 1 - i)
            is_drawn = method == "param_post"
            loss = parameter_losses(x, y, epsilon / sets) if is_drawn else SYNTH_POST_ONE.losses(x, y, m, 0.0, 0.0)
            deltas.append(loss.composed_delta(sets, epsilon, resolution=2e-3))
        return max(deltas)

    assert worst(prior) <= delta
    assert worst(prior * BELOW) > delta


def test_where_pairs_tie_the_bounds_of_all_of_them_prove_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst of 100 pairs is the tenth, by 1 part in 200, and the answer that of a search without a limit."""
    setting = {"n": 100, "m": 100, "sets": 5, "epsilon": 0.01, "delta": 1e-5}
    exact = minimum_prior_for_sets("synth_post_one", **setting)
    assert exact == pytest.approx(5375.3514, rel=1e-6)
    monkeypatch.setattr(several_sets, "MAX_SPLITS", 3)
    assert exact <= minimum_prior_for_sets("synth_post_one", **setting) < 1.02 * exact


@pytest.mark.parametrize("method", ["synth_post_many", "synth_map"])
def test_plug_ins_need_the_prior_of_one_set_with_all_rows(method: str) -> None:
    prior = minimum_prior_for_sets(method, n=50, m=30, sets=4, epsilon=1.0, delta=1e-5)
    for alpha, is_private in ((prior, True), (prior * BELOW, False)):
        whole = release(method, n=50, m=120, alpha=alpha, beta=alpha)
        assert (delta_for_epsilon(whole, 1.0) <= 1e-5) is is_private


def test_without_delta_only_the_pure_rule_is_left() -> None:
    prior = minimum_prior_for_sets("synth_post_one", n=100, m=100, sets=5, epsilon=1.0, delta=0.0)
    assert prior == pytest.approx(100 / math.expm1(0.2), rel=1e-12)
    loss = SYNTH_POST_ONE.losses(prior, prior + 99, 100, 0.0, 0.0)
    assert loss.composed_delta(5, 1.0) == 0.0
    assert loss.composed_delta(5, 0.999) > 0.0
    assert minimum_prior_for_sets("param_post", n=9, m=1, sets=2, epsilon=1.0, delta=0.0) == math.inf


def test_where_any_prior_is_enough_the_answer_is_next_to_nothing() -> None:
    assert 0 < minimum_prior_for_sets("synth_post_one", n=5, m=5, sets=2, epsilon=1.0, delta=0.9) < 1e-200


@pytest.mark.parametrize("delta", [1 - 1e-10, 1 - 2**-53])
def test_a_delta_next_to_one_is_refused_where_a_sum_of_losses_cannot_tell_it_from_one(delta: float) -> None:
    with pytest.raises(ValueError, match=r"must be at most 1 − 10⁻⁹ for several sets of this method; got 1 − 1"):
        minimum_prior_for_sets("param_post", n=10, m=10, sets=2, epsilon=1.0, delta=delta)
    assert minimum_prior_for_sets("synth_post_one", n=10, m=10, sets=2, epsilon=1.0, delta=delta) < 1e-200


# Of k cells


def two_sets_delta(n: int, m: int, cells: int, alpha: float, epsilon: float) -> float:
    """δ of two independent sets by listing all tables, all pairs of neighbours and all pairs of released tables."""
    law = DirichletMultinomial(n=n, m=m, cells=cells, alpha=alpha)
    return divergence(of_sets(law.transition_matrix(), 2), law.neighbours, epsilon)


@pytest.mark.parametrize(("n", "m", "cells"), [(1, 1, 3), (2, 3, 3), (3, 2, 4), (4, 3, 3)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (1.5, 1e-3), (3.0, 1e-2)])
def test_two_sets_agree_with_listing_everything(n: int, m: int, cells: int, epsilon: float, delta: float) -> None:
    found = minimum_prior_for_sets("synth_post_one", n=n, m=m, cells=cells, sets=2, epsilon=epsilon, delta=delta)
    assert two_sets_delta(n, m, cells, found, epsilon) <= delta * (1 + 1e-9)
    assert two_sets_delta(n, m, cells, found * (1 - 2e-6), epsilon) > delta
