"""Shares of one promise: errors against whole matrices, the optimum against every share on a lattice."""

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import laplace, norm

from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.mechanisms.noise import GeometricSanitizer, LaplaceSanitizer
from dpviz.plans import BoundedMean, CategoryShares, CrossTable, PlanDesign, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.mechanisms import GaussianNoise, GeometricNoise, LaplaceNoise, RoundedLaplaceNoise
from dpviz.plans.solve import PlanSolution, sufficient_design
from tests.plans.brute import counts_inside

ONE = EpsilonDeltaLimit(most_epsilon=1.0)
SMALL_DELTA = EpsilonDeltaLimit(most_epsilon=1.0, most_delta=1e-6)
FIVE = (
    YesNoShare(name="works", limit=0.005, lowest=0.1, highest=0.6),
    CategoryShares(name="region", limit=0.01, measure="all_within", categories=6),
    CrossTable(name="age by sex", limit=0.004, first=3, second=2),
    BoundedMean(name="hours", limit=0.2, upper=80.0),
    YesNoShare(name="works in the north", limit=0.01, group="north", measure="within"),
)
GROUPS = (("north", 5000), ("south", 7000))
FIVE_PLAN = ReleasePlan(n=12_000, statistics=FIVE, protection=ONE, groups=GROUPS)
SANITIZERS: dict[Any, Any] = {GeometricNoise: GeometricSanitizer, RoundedLaplaceNoise: LaplaceSanitizer}


@pytest.mark.parametrize("lowest, highest", [(0.0, 1.0), (0.0, 0.2), (0.3, 0.7), (0.6, 0.95), (0.5, 0.5)])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 2.0])
def test_the_error_of_a_count_is_the_worst_of_its_whole_matrix(rate: float, lowest: float, highest: float) -> None:
    n = 30
    plan = ReleasePlan(n=n, statistics=(YesNoShare(name="a", lowest=lowest, highest=highest),), protection=SMALL_DELTA)
    inside = counts_inside(n, lowest, highest)
    for kind, sanitizer in SANITIZERS.items():
        matrix, share = sanitizer(n=n, epsilon=rate).transition_matrix(), np.arange(n + 1) / n
        worst = max(math.sqrt(float(matrix[x] @ (share - x / n) ** 2)) for x in inside)
        assert kind(rate, n).error(plan.statistics[0]) == pytest.approx(worst, rel=1e-9), kind


def test_the_error_of_a_mean_is_that_of_clamped_noise() -> None:
    plan = ReleasePlan(n=20, statistics=(BoundedMean(name="a", lower=-1, upper=3),), protection=SMALL_DELTA)
    for rate in (0.01, 0.1, 1.0):
        noise = laplace(scale=1 / rate)
        sums = (0.0, 7.0, 20.0, 40.0, 71.0)
        worst = max(noise.expect(lambda z, t=true: (np.clip(t + z, 0, 80) - t) ** 2, limit=400) for true in sums)
        assert LaplaceNoise(rate, 20).error(plan.statistics[0]) == pytest.approx(math.sqrt(worst) / 20, rel=1e-6)
    assert GaussianNoise(0.5, 20).error(plan.statistics[0]) == 0.1


def test_intervals_hold_as_often_as_they_say() -> None:
    for rate, cells in itertools.product((0.07, 0.6), (1, 6)):
        share = 0.95 ** (1 / cells)
        for kind, sanitizer in SANITIZERS.items():
            masses = sanitizer(n=1000, epsilon=rate).row(500)
            reach = int(kind(rate, 1000).quantile(share))
            assert masses[500 - reach : 501 + reach].sum() >= share - 1e-12
            assert not reach or masses[501 - reach : 500 + reach].sum() < share
        assert laplace.cdf(LaplaceNoise(rate, 9).quantile(share) * rate) == pytest.approx((1 + share) / 2)
        assert norm.cdf(GaussianNoise(rate, 9).quantile(share) * rate) == pytest.approx((1 + share) / 2)


@pytest.mark.parametrize("n", [12, 1_000, 10_000_000])
@pytest.mark.parametrize("measure", ["typical", "within", "all_within"])
def test_a_rate_is_the_smallest_that_keeps_its_limit(measure: str, n: int) -> None:
    statistics = (
        YesNoShare(name="a", measure=measure),
        CategoryShares(name="b", measure=measure, lowest=0.0, highest=0.3),
        BoundedMean(name="c", measure=measure, lower=-5, upper=5),
    )
    plan = ReleasePlan(n=n, statistics=statistics, protection=SMALL_DELTA)
    for place, statistic in enumerate(statistics):
        for kind, limit in itertools.product(plan.candidates(statistic), (0.3, 0.1, 0.01)):
            alone = dataclasses.replace(plan, statistics=(dataclasses.replace(statistic, limit=limit),))
            rate = sufficient_design(alone, (kind,)).mechanisms[0].rate
            assert kind(rate, n).error(plan.statistics[place]) <= limit
            if rate > 2e-6:
                assert kind(rate * (1 - 1e-6), n).error(plan.statistics[place]) > limit


def worst_used(plan: ReleasePlan, rates: tuple[float, ...]) -> float:
    """The largest share of a limit that geometric noise of these rates uses, infinite where the promise is broken."""
    design = PlanDesign(plan, tuple(GeometricNoise(rate, plan.n) for rate in rates))
    epsilon, delta = plan.promise
    return max(design.used_limits()) if design.delta(epsilon) <= delta * (1 + 1e-12) else math.inf


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_no_share_on_a_lattice_is_better(delta: float) -> None:
    statistics = (
        YesNoShare(name="a", limit=0.01, mechanism="geometric"),
        CategoryShares(name="b", limit=0.02, mechanism="geometric"),
    )
    plan = ReleasePlan(n=500, statistics=statistics, protection=EpsilonDeltaLimit(most_epsilon=1.0, most_delta=delta))
    answer = solve_plan(plan)
    assert max(answer.design.used_limits()) == pytest.approx(answer.factor, rel=1e-9)
    shares = np.linspace(0.02, 1.5, 75)
    best = min(worst_used(plan, (first, second)) for first in shares for second in shares / 2)
    assert answer.factor <= best * (1 + 1e-9)
    assert best <= answer.factor * 1.05


@pytest.mark.parametrize(
    "protection", [ONE, SMALL_DELTA, GuessingLimit(most_success=0.6)], ids=lambda limit: repr(limit)[:30]
)
@pytest.mark.parametrize(
    "changes",
    [{}, {"neighbours": "add_remove"}, {"person_rows": 3}, {"membership_public": True}, {"spend_all": False}],
    ids=str,
)
def test_every_design_keeps_its_promise_and_every_limit_that_it_says(protection: object, changes: dict) -> None:
    plan = dataclasses.replace(FIVE_PLAN, protection=protection, **changes)
    answer = solve_plan(plan)
    assert answer.design.keeps_promise
    epsilon, delta = plan.promise
    assert answer.design.delta(epsilon) <= delta
    assert max(answer.design.used_limits()) <= max(answer.factor, 1.0) * (1 + 1e-9)
    assert max(answer.needed.used_limits()) <= 1
    assert answer.is_feasible == answer.needed.keeps_promise
    assert answer.basic_factor >= answer.factor * (1 - 1e-9)
    if delta == 0:
        assert answer.basic_ratio == 1
    if plan.spend_all:
        larger = tuple(type(mechanism)(mechanism.rate * 1.001, mechanism.n) for mechanism in answer.design.mechanisms)
        assert not PlanDesign(plan, larger).keeps_promise
    else:
        assert answer.design == answer.needed


def test_what_must_give_way_is_enough_and_no_more() -> None:
    """Too strict by a common factor: that factor times all limits, or one limit alone, makes the plan feasible."""
    strict = [statistic.limit / 5 for statistic in FIVE]

    def solved(limits: list[float]) -> PlanSolution:
        pairs = zip(FIVE, limits, strict=True)
        eased = tuple(dataclasses.replace(statistic, limit=limit) for statistic, limit in pairs)
        return solve_plan(dataclasses.replace(FIVE_PLAN, statistics=eased))

    answer = solved(strict)
    assert answer.factor > 1
    for slack, feasible in ((1 + 1e-9, True), (1 - 1e-4, False)):
        assert solved([limit * answer.factor * slack for limit in strict]).is_feasible == feasible
    for place, limit in enumerate(answer.relaxed_alone):
        if math.isfinite(limit):
            for slack, feasible in ((1 + 1e-9, True), (1 - 1e-3, False)):
                assert solved([*strict[:place], limit * slack, *strict[place + 1 :]]).is_feasible == feasible


def test_shares_that_are_tied_are_equal_and_a_promise_on_the_limit_is_kept() -> None:
    two = tuple(YesNoShare(name=name, limit=0.01) for name in "ab")
    answer = solve_plan(ReleasePlan(n=1000, statistics=two, protection=ONE))
    first, second = (mechanism.rate for mechanism in answer.design.mechanisms)
    assert first == pytest.approx(second, rel=1e-12)
    exact = dataclasses.replace(
        answer.plan, spend_all=False, protection=EpsilonDeltaLimit(most_epsilon=answer.needed.pure_epsilon)
    )
    assert solve_plan(exact).is_feasible


@pytest.mark.parametrize("n, epsilon", [(5, 2.0), (50, 0.2), (50, 1.0), (200, 0.1), (200, 3.0)])
def test_what_is_not_tried_is_never_nearer_than_geometric_noise(n: int, epsilon: float) -> None:
    key = "laplace_count"
    protection = EpsilonDeltaLimit(most_epsilon=epsilon, most_delta=1e-5)
    plan = ReleasePlan(n=n, statistics=(YesNoShare(name="a"),), protection=protection)
    rounded = dataclasses.replace(plan, statistics=(YesNoShare(name="a", mechanism=key),))
    assert key not in {kind.key for kind in plan.candidates(plan.statistics[0])}
    assert solve_plan(plan).factor <= solve_plan(rounded).factor


def test_ten_million_rows_are_no_more_work() -> None:
    plan = dataclasses.replace(FIVE_PLAN, n=10_000_000, groups=(("north", 4_000_000),), protection=SMALL_DELTA)
    assert solve_plan(plan).is_feasible


def test_a_limit_far_below_what_can_be_kept_is_told_by_how_much_it_misses() -> None:
    strict = YesNoShare(name="strict", limit=1e-9), YesNoShare(name="easy", limit=0.4)
    answer = solve_plan(ReleasePlan(n=100, statistics=strict, protection=ONE))
    assert not answer.is_feasible and answer.design.keeps_promise
    assert answer.relaxed_alone[0] == pytest.approx(
        GeometricNoise(1 - answer.needed.mechanisms[1].rate, 100).error(answer.plan.statistics[0])
    )
    alone = solve_plan(ReleasePlan(n=100, statistics=strict[:1], protection=ONE))
    assert alone.factor * 1e-9 == pytest.approx(GeometricNoise(1.0, 100).error(alone.plan.statistics[0]))


@pytest.mark.parametrize("delta", [1e-299, 1e-300, 1e-310, 5e-324])
def test_a_delta_next_to_nothing_allows_what_none_does(delta: float) -> None:
    two = YesNoShare(name="a"), BoundedMean(name="m", limit=1.0)
    promises = ONE, dataclasses.replace(ONE, most_delta=delta)
    pure, some = (solve_plan(ReleasePlan(n=1000, statistics=two, protection=promise)) for promise in promises)
    assert some.factor == pytest.approx(pure.factor, rel=1e-9) and some.basic_factor >= some.factor * (1 - 1e-9)


@pytest.mark.parametrize("measure", ["typical", "within", "all_within"])
def test_where_no_limit_is_large_enough_that_is_the_answer(measure: str) -> None:
    noisy = [YesNoShare(name=f"a{place}", measure=measure, mechanism="geometric") for place in range(10)]
    protection = EpsilonDeltaLimit(most_epsilon=0.001, most_delta=1e-12)
    statistics = (*noisy, YesNoShare(name="b", mechanism="gaussian"))
    answer = solve_plan(ReleasePlan(n=10, statistics=statistics, protection=protection, person_rows=100))
    assert math.isinf(answer.factor) and not answer.design.keeps_promise
    assert all(map(math.isinf, answer.relaxed_alone))
