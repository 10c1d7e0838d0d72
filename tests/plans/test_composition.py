"""What a plan gives away, held against every small data set, every outcome, and Google's dp-accounting."""

import dataclasses
import functools
import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from dpviz.core.types import FloatArray
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.plans import BoundedMean, CategoryShares, CrossTable, PlanDesign, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.composition import compose_losses, laplace_loss
from dpviz.plans.mechanisms import (
    PLAN_MECHANISMS,
    CountNoise,
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    PlanMechanism,
    RoundedLaplaceNoise,
)
from dpviz.plans.statistics import Statistic
from tests.plans.brute import check_random, published
from tests.plans.test_solve import SMALL_DELTA
from tests.referees import gaussian_excess

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dp_accounting.pld import privacy_loss_distribution as google

Row = tuple[str, tuple[int, ...]]
"""The group of a row, and its answer to the question of each statistic."""
LOSSY = EpsilonDeltaLimit(most_epsilon=1.0, most_delta=1e-3)
WORKS, REGION = YesNoShare(name="works"), CategoryShares(name="region", categories=3)
NORTH, SOUTH = YesNoShare(name="north", group="N"), YesNoShare(name="south", group="S")


def answers(statistic: Statistic) -> range:
    return range(2 if isinstance(statistic, YesNoShare) else statistic.cells)


Counts = tuple[tuple[int, ...], ...]
"""Of each statistic, the counts that get noise."""


def counts_of(plan: ReleasePlan, rows: Iterable[Row]) -> Counts:
    all_rows, counts = list(rows), []
    for place, statistic in enumerate(plan.statistics):
        answered = [row[1][place] for row in all_rows if not statistic.group or row[0] == statistic.group]
        cells = (1,) if isinstance(statistic, YesNoShare) else answers(statistic)
        counts.append(tuple(map(answered.count, cells)))
    return tuple(counts)


def outcome_law(design: PlanDesign, counts: Counts) -> FloatArray:
    """The probability of every outcome of all statistics together."""
    joint = np.ones(1)
    for cells, release in zip(counts, design.mechanisms, strict=True):
        for count in cells:
            joint = np.multiply.outer(joint, published(release.key, release.rate, release.n, count)).ravel()
    return joint


def every_row(plan: ReleasePlan) -> list[Row]:
    groups = [name for name, _ in plan.groups] or [""]
    return list(itertools.product(groups, itertools.product(*map(answers, plan.statistics))))


def neighbours(plan: ReleasePlan) -> Iterable[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """All ordered pairs of data sets that differ in the rows of one person, of whom there are `person_rows`."""
    kinds, size_of_person = every_row(plan), plan.person_rows
    people = [list(itertools.combinations_with_replacement(kinds, size)) for size in range(size_of_person + 1)]
    for rest in itertools.combinations_with_replacement(kinds, plan.n - size_of_person):
        if plan.adds_rows:
            for removed, added in itertools.product(people[size_of_person], repeat=2):
                same = sorted(row[0] for row in removed) == sorted(row[0] for row in added)
                if same or not plan.membership_public:
                    yield rest + removed, rest + added
        else:
            for removed in people[size_of_person]:
                yield rest + removed, rest
                yield rest, rest + removed


def brute_delta(design: PlanDesign, epsilons: list[float]) -> list[float]:
    """δ at each ε: the largest Σ max(0, P − e^ε Q) of all neighbours."""
    plan, growth = design.plan, np.exp(epsilons)[:, None]
    pairs = {(counts_of(plan, first), counts_of(plan, second)) for first, second in neighbours(plan)}
    laws = {first: outcome_law(design, first) for first in set(itertools.chain.from_iterable(pairs))}
    worst = np.zeros(len(epsilons))
    for first, second in pairs:
        worst = np.maximum(worst, np.maximum(laws[first] - growth * laws[second], 0).sum(axis=1))
    return worst.tolist()


UNEVEN: dict[str, Any] = {"groups": (("N", 2), ("S", 1))}
EVEN: dict[str, Any] = {"groups": (("N", 2), ("S", 2)), "person_rows": 2}
CASES: dict[str, tuple[int, tuple[Statistic, ...], tuple[float, ...], dict[str, Any]]] = {
    "two answers": (3, (WORKS, YesNoShare(name="reads")), (0.7, 0.4), {}),
    "an answer and a table": (2, (WORKS, REGION), (0.5, 0.3), {}),
    "cross-table": (3, (CrossTable(name="t", first=2, second=2),), (0.6,), {}),
    "two rows each": (3, (WORKS, REGION), (0.5, 0.3), {"person_rows": 2}),
    "two rows each in four cells": (2, (CategoryShares(name="c", categories=4),), (0.5,), {"person_rows": 2}),
    "added": (3, (WORKS, REGION), (0.5, 0.3), {"neighbours": "add_remove"}),
    "two rows added": (3, (WORKS, REGION), (0.5, 0.3), {"neighbours": "add_remove", "person_rows": 2}),
    "groups": (3, (NORTH, SOUTH), (0.6, 0.6), UNEVEN),
    "unlike groups": (3, (WORKS, NORTH, SOUTH), (0.3, 0.9, 0.4), UNEVEN),
    "groups, two rows each": (4, (NORTH, SOUTH), (0.6, 0.35), EVEN),
    "public groups, two rows each": (4, (NORTH, SOUTH), (0.6, 0.35), EVEN | {"membership_public": True}),
    "tables of groups": (
        2, (CategoryShares(name="c", group="N", categories=3), SOUTH), (0.4, 0.7), {"groups": (("N", 1), ("S", 1))},
    ),
    "public groups": (3, (NORTH, SOUTH), (0.6, 0.9), UNEVEN | {"membership_public": True}),
    "groups, rows added": (3, (WORKS, NORTH, SOUTH), (0.3, 0.9, 0.4), UNEVEN | {"neighbours": "add_remove"}),
}  # fmt: skip
"""Rows, statistics, rates of noise, and what else is not the default of a plan."""
PLANS = {
    name: (ReleasePlan(n=n, statistics=statistics, **changes), rates)
    for name, (n, statistics, rates, changes) in CASES.items()
}


def released(plan: ReleasePlan, rates: Iterable[float], kind: type[PlanMechanism]) -> PlanDesign:
    pairs = zip(plan.statistics, rates, strict=True)
    return PlanDesign(plan, tuple(kind(rate, plan.rows_of(statistic)) for statistic, rate in pairs))


@pytest.mark.parametrize("kind", [GeometricNoise, RoundedLaplaceNoise], ids=lambda kind: kind.key)
@pytest.mark.parametrize("name", PLANS)
def test_delta_is_that_of_the_worst_of_all_neighbours_and_outcomes(name: str, kind: type[PlanMechanism]) -> None:
    plan, rates = PLANS[name]
    design = released(plan, rates, kind)
    largest = design.pure_epsilon
    epsilons = [0.0, rates[0], 0.31, largest / 2, largest - rates[-1], 0.97 * largest, largest, largest + 0.1]
    deltas = [design.delta(epsilon) for epsilon in epsilons]
    expected = brute_delta(design, epsilons)
    if design.is_exact:
        assert deltas == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert design.is_exact or kind is not GeometricNoise
    assert all(delta >= value * (1 - 1e-9) - 1e-13 for delta, value in zip(deltas, expected, strict=True))


@pytest.mark.parametrize("place", [0, 2, 3, 7, 9, 11, 13, 19, 20, 24, 30, 40, 49])  # of every kind of answer, and quick
def test_a_small_plan_at_random_is_that_of_plain_loops(place: int) -> None:
    check_random(f"1 {place}")


@pytest.mark.parametrize(
    ("changes", "times"), [({}, 2), ({"membership_public": True}, 1), ({"neighbours": "add_remove"}, 1)], ids=str
)
def test_in_groups_a_substituted_row_counts_twice_and_an_added_one_once(changes: dict[str, Any], times: int) -> None:
    """With the same noise: a row that leaves one group for another moves both; public groups, or added rows, one."""
    changed = dataclasses.replace(PLANS["groups"][0], **changes)
    assert released(changed, (0.6, 0.6), GeometricNoise).pure_epsilon == pytest.approx(0.6 * times)


def test_rows_that_leave_a_group_as_others_join_it_are_not_left_out() -> None:
    """Of three rows one is in N and two in S, and then two and one: no other way changes both tables as much."""
    tables = tuple(CategoryShares(name=name, group=name, categories=3) for name in "NS")
    plan = ReleasePlan(n=20, statistics=tables, groups=(("N", 9), ("S", 9)), person_rows=3)
    ways = {tuple(tuple(map(int, sums)) for sums in way) for way in plan.sensitivities}
    assert ways == {((3, 3), ()), ((), (3, 3)), ((3, 2), (1,)), ((1,), (3, 2)), ((2, 2), (1, 1)), ((1, 1), (2, 2)),
                    ((3, 1), (2,)), ((2,), (3, 1)), ((3,), (3,)), ((2, 1), (2, 1))}  # fmt: skip


def google_delta(
    parts: Sequence[tuple[PlanMechanism, float]], epsilons: tuple[float, ...]
) -> list[tuple[float, float]]:
    """δ of sums with noise that a person moves by so much, at each ε by dp-accounting: losses rounded down, and up."""
    totals = []
    for is_up in (False, True):
        options = {"pessimistic_estimate": is_up, "value_discretization_interval": 1e-4}
        losses = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for mechanism, shift in parts:
                if isinstance(mechanism, GaussianNoise):
                    loss = google.from_gaussian_mechanism(1 / mechanism.rate, sensitivity=shift, **options)
                elif isinstance(mechanism, LaplaceNoise):
                    loss = google.from_laplace_mechanism(1 / mechanism.rate, sensitivity=shift, **options)
                else:
                    loss = google.from_discrete_laplace_mechanism(mechanism.rate, sensitivity=int(shift), **options)
                losses.append(loss)
            totals.append(functools.reduce(lambda total, loss: total.compose(loss), losses))
    first, second = totals
    return [(float(first.get_delta_for_epsilon(e)), float(second.get_delta_for_epsilon(e))) for e in epsilons]


MEANS = BoundedMean(name="age", lower=0, upper=10), BoundedMean(name="hours", lower=0, upper=4)
MIXTURES = {
    "Laplace and geometric": (
        (MEANS[0], WORKS, REGION),
        (LaplaceNoise(0.05, 50), GeometricNoise(0.4, 50), GeometricNoise(0.2, 50)),
    ),
    "two Laplace": ((*MEANS, WORKS), (LaplaceNoise(0.05, 50), LaplaceNoise(0.2, 50), GeometricNoise(0.4, 50))),
    "Gaussian and geometric": ((MEANS[0], WORKS), (GaussianNoise(0.03, 50), GeometricNoise(0.4, 50))),
    "Gaussian, Laplace and geometric": (
        (*MEANS, REGION),
        (GaussianNoise(0.03, 50), LaplaceNoise(0.2, 50), GeometricNoise(0.25, 50)),
    ),
    "Gaussian": ((MEANS[0], REGION), (GaussianNoise(0.03, 50), GaussianNoise(0.2, 50))),
}


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("name", MIXTURES)
def test_delta_lies_between_those_of_dp_accounting(name: str, rows: int) -> None:
    statistics, releases = MIXTURES[name]
    plan = ReleasePlan(n=50, statistics=statistics, protection=LOSSY, person_rows=rows)
    design = PlanDesign(plan, releases)
    pairs = zip(releases, plan.sensitivities[0], strict=True)
    parts = [(release, shift) for release, shifts in pairs for shift in shifts]
    epsilons = (0.0, 0.4, 0.8, 1.5)
    for epsilon, (low, high) in zip(epsilons, google_delta(parts, epsilons), strict=True):
        delta = design.delta(epsilon)
        assert low - 1e-12 <= delta <= high + 1e-6
        if delta > 1e-9:
            back = design.epsilon(delta)
            assert back == pytest.approx(epsilon, rel=1e-4, abs=1e-4)
            assert design.delta(back) <= delta


def test_gaussian_noise_alone_has_the_closed_form() -> None:
    statistics, releases = MIXTURES["Gaussian"]
    design = PlanDesign(ReleasePlan(n=50, statistics=statistics, protection=LOSSY), releases)
    ratio = math.sqrt((0.03 * 10) ** 2 + 2 * 0.2**2)
    for epsilon in (0.0, 0.5, 3.0):
        assert design.delta(epsilon) == pytest.approx(float(gaussian_excess(ratio, epsilon)), rel=1e-11)
    assert math.isinf(design.pure_epsilon)


def test_all_of_a_persons_rows_in_one_cell_is_the_worst() -> None:
    """Of noise on counts: no way to lay the same moves into several cells has a larger δ at any ε."""
    for rate in (0.05, 0.3, 1.0, 2.5):
        for kind in (GeometricNoise, RoundedLaplaceNoise):
            parts = {d: kind(rate, 100).count_loss(d) for d in range(1, 7)}
            for split in ((1, 1), (2, 1), (1, 1, 1), (3, 1), (2, 2), (1, 1, 1, 1), (4, 2), (3, 3), (1,) * 6):
                separate, _ = compose_losses([parts[rows] for rows in split])
                for epsilon in np.linspace(0, rate * sum(split), 40):
                    joint = parts[sum(split)].delta_for_epsilon(float(epsilon))
                    assert separate.delta_for_epsilon(float(epsilon)) <= joint * (1 + 1e-11) + 1e-14


@pytest.mark.parametrize("size", [0.01, 0.7, 4.0])
def test_the_cells_of_laplace_noise_have_no_smaller_delta(size: float) -> None:
    for epsilon in np.linspace(0, 1.1 * size, 23).tolist():
        delta = laplace_loss(size).delta_for_epsilon(epsilon)
        assert delta - 1e-6 <= max(-math.expm1((epsilon - size) / 2), 0.0) <= delta * (1 + 1e-13)


@pytest.mark.parametrize(("noises", "epsilons"), [
    ([GeometricNoise(0.1 + 0.001 * math.sqrt(place), 100) for place in range(40)], (0.0, 0.5, 2.0, 3.0)),
    ([LaplaceNoise(0.05 * (1 + place / 7), 100) for place in range(20)], (0.0, 0.4, 0.8, 1.5)),
], ids=["geometric", "Laplace"])  # fmt: skip
def test_a_sum_on_a_grid_is_no_smaller_and_near(noises: list[PlanMechanism], epsilons: tuple[float, ...]) -> None:
    """Rates have no common measure; dp-accounting rounds the same losses up and down."""
    losses = [noise.count_loss(1) if isinstance(noise, CountNoise) else laplace_loss(noise.rate) for noise in noises]
    total, is_listed = compose_losses(losses)
    assert not is_listed
    for epsilon, (low, high) in zip(epsilons, google_delta([(noise, 1) for noise in noises], epsilons), strict=True):
        assert low * (1 - 1e-9) <= total.delta_for_epsilon(epsilon) <= high * (1 + 1e-3)


def test_large_plans_are_solved() -> None:
    counts = [YesNoShare(name=f"y{place}", limit=0.01 + 0.001 * place) for place in range(10)]
    means = [BoundedMean(name=f"m{place}", limit=1 + 0.1 * place, mechanism="laplace") for place in range(10)]
    solution = solve_plan(ReleasePlan(n=12_000, statistics=(*counts, *means), protection=SMALL_DELTA))
    assert solution.design.keeps_promise and not solution.design.is_exact
    assert solution.design.right_guesses <= 1 and solution.design.epsilon(1e-6) <= 1.0


def test_without_delta_exact_and_basic_composition_agree_and_with_it_exactness_saves() -> None:
    plan = ReleasePlan(n=100, statistics=(WORKS, REGION, SOUTH), groups=(("S", 40),))
    design = released(plan, (0.5, 0.3, 0.4), GeometricNoise)
    assert design.basic_epsilon(0.0) == pytest.approx(design.pure_epsilon, rel=1e-14)
    assert design.epsilon(1e-2) < design.basic_epsilon(1e-2)
    assert set(PLAN_MECHANISMS) == {"geometric", "laplace_count", "laplace", "gaussian"}


@pytest.mark.parametrize("kind", [LaplaceNoise, GaussianNoise])
def test_a_person_with_more_rows_than_there_are_is_an_upper_bound_only(kind: type[PlanMechanism]) -> None:
    mean = (BoundedMean(name="a", lower=0.0, upper=1.0),)
    plan = ReleasePlan(n=1, person_rows=2, statistics=mean, protection=SMALL_DELTA)
    design = PlanDesign(plan, (kind(0.5, 1),))
    one_row = PlanDesign(dataclasses.replace(plan, person_rows=1), design.mechanisms)
    assert one_row.is_exact and not design.is_exact
    for epsilon in (0.0, 0.2):
        assert one_row.delta(epsilon) < design.delta(epsilon)
    assert one_row.epsilon(0.01) <= design.epsilon(0.01)


def test_counts_without_room_have_an_upper_bound() -> None:
    plan = ReleasePlan(n=1, statistics=(YesNoShare(name="a"),))
    design = PlanDesign(plan, (RoundedLaplaceNoise(0.5, 1),))
    assert not design.is_exact
    for epsilon, delta in zip((0.0, 0.2), brute_delta(design, [0.0, 0.2]), strict=True):
        assert delta <= design.delta(epsilon)


def test_the_epsilon_of_a_kept_promise_is_not_above_it() -> None:
    statistics = YesNoShare(name="a", limit=0.3), BoundedMean(name="m", limit=30.0)
    for epsilon, delta in ((1.0, 1e-6), (2.0, 1e-3)):
        promise = EpsilonDeltaLimit(most_epsilon=epsilon, most_delta=delta)
        design = solve_plan(ReleasePlan(n=1, statistics=statistics, protection=promise)).design
        assert design.keeps_promise and design.epsilon(delta) <= epsilon
