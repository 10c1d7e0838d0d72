"""Withheld counts against whole matrices, and rejected designs against their own composition."""

import dataclasses
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.plans import BoundedMean, CategoryShares, PlanDesign, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.mechanisms import GaussianNoise, GeometricNoise, PlanMechanism, RoundedLaplaceNoise
from dpviz.plans.sensitivity import naive_designs
from dpviz.plans.summary import sentence, solution_facts, table
from tests.plans.brute import counts_inside
from tests.plans.test_solve import SANITIZERS, SMALL_DELTA


@pytest.mark.parametrize("threshold", [1, 4, 12])
@pytest.mark.parametrize("count", [0, 3, 10, 25])
@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_withheld_count_is_that_of_the_whole_matrix(rate: float, count: int, threshold: int) -> None:
    n = 25
    for kind, sanitizer in SANITIZERS.items():
        row, released = sanitizer(n=n, epsilon=rate).row(count), np.arange(n + 1.0)
        mechanism = kind(rate, n)
        assert mechanism.moments_below(count, threshold)[0] == pytest.approx(row[:threshold].sum(), rel=1e-9)
        for value in (0.0, threshold / 2):
            read = np.where(released < threshold, value, released) - count
            error = mechanism.withheld_rmse(count, threshold, value)
            assert error == pytest.approx(math.sqrt(row @ read**2), rel=1e-8)


def test_a_withheld_count_with_gaussian_noise_is_that_of_an_integral() -> None:
    mechanism = GaussianNoise(0.25, 100)
    density = norm(7, 4).pdf
    published_square = quad(lambda y: density(y) * (y - 7) ** 2, 10, 60)[0]
    assert mechanism.moments_below(7, 10)[0] == pytest.approx(norm.cdf(0.75))
    assert mechanism.withheld_rmse(7, 10, 5.0) == pytest.approx(math.sqrt(published_square + norm.cdf(0.75) * 4))


@pytest.mark.parametrize("n, threshold", [(1, 0), (4, 0), (4, 1), (4, 3), (4, 4), (4, 5), (6, 9)])
def test_without_noise_some_neighbours_are_told_apart_for_sure(n: int, threshold: int) -> None:
    published = [count if count >= threshold else None for count in range(n + 1)]
    statistic = YesNoShare(name="a", suppress_below=threshold)
    assert statistic.tells_rows(n) == any(a != b for a, b in itertools.pairwise(published))


def test_the_costs_of_a_design_are_those_of_its_counts() -> None:
    region = CategoryShares(name="region", limit=0.02, lowest=0.01, highest=0.5, suppress_below=10)
    solution = solve_plan(ReleasePlan(n=500, statistics=(region, YesNoShare(name="works"))))
    published, none = (item.published for item in solution_facts(solution).statistics)
    assert published is not None and none is None
    assert published.examples == (5, 10, 250)
    rows = table("withheld", facts=solution_facts(solution)).rows
    assert [row[0] for row in rows] == [f"region\n{count} of 500" for count in (5, 10, 250)]
    mechanism = solution.design.mechanisms[0]
    assert mechanism.moments_below(5, 10)[0] > 0.5 > mechanism.moments_below(250, 10)[0]


def test_naive_designs_have_the_loss_that_they_really_have() -> None:
    """By hand: three rows of a person are three times as much, a move between groups or cells twice."""
    statistics = (
        CategoryShares(name="north", group="N", limit=0.05),
        CategoryShares(name="south", group="S", limit=0.05),
        BoundedMean(name="hours", limit=5.0, suppress_below=0),
    )
    plan = ReleasePlan(n=2000, statistics=statistics, groups=(("N", 1000), ("S", 1000)), person_rows=3)
    designs = {design.name: design for design in naive_designs(solve_plan(plan))}
    assert designs["one row for each person"].epsilon == pytest.approx(3)
    assert 1.0 < designs["noise for an added row"].epsilon <= 2.0 + 1e-9
    assert "groups that share one ε" not in designs  # two tables: a move between them is no more than one inside either
    assert all(design.breaks_promise for name, design in designs.items() if name != "the same ε for each statistic")
    assert designs["the same ε for each statistic"].epsilon <= 1 + 1e-12
    yes = tuple(YesNoShare(name=name, group=name, limit=0.05) for name in ("N", "S"))
    grouped = dataclasses.replace(plan, statistics=yes, person_rows=1)
    named = {design.name: design for design in naive_designs(solve_plan(grouped))}
    assert named["groups that share one ε"].epsilon == pytest.approx(2)
    assert named["groups that share one ε"].breaks_promise


def test_small_counts_without_noise_have_no_epsilon() -> None:
    ill = YesNoShare(name="ill", suppress_below=5)
    (*_, last) = naive_designs(solve_plan(ReleasePlan(n=100, statistics=(ill,), protection=SMALL_DELTA)))
    assert math.isinf(last.epsilon)
    assert last.breaks_promise
    assert "before small counts" not in table("naive", designs=[last]).rows[0][3]
    assert last.used_limit == pytest.approx(2.5 / 100 / ill.limit)  # a missing count may be 0 or 4, and is read as 2.5


def seen(threshold: int, count: int, n: int, rate: float, kind: type[PlanMechanism]) -> list[tuple[float, float, int]]:
    """Of every noise how far what an analyst reads is off, its mass, and the noise; from the definition."""
    z = np.arange(-math.ceil(45 / rate) - 2 * n, math.ceil(45 / rate) + 2 * n + 1)
    masses = np.exp(-rate * np.abs(z))
    if kind is RoundedLaplaceNoise:
        masses = np.where(z == 0, -math.expm1(-rate / 2), math.sinh(rate / 2) * masses)
    released = np.minimum(np.maximum(count + z, 0), n)
    read = np.where(released < threshold, threshold / 2, released)
    return [*zip(np.abs(read - count).tolist(), (masses / masses.sum()).tolist(), z.tolist(), strict=True)]


def published_worst(statistic: Any, n: int, rate: float, kind: type[PlanMechanism]) -> float:
    """The largest error of what analysts see, over all counts; intervals reach beyond 0 and n as the noise does."""
    worst, share = 0.0, 0.95 ** (1 / statistic.cells if statistic.measure == "all_within" else 1)
    for count in counts_inside(n, statistic.lowest, statistic.highest):
        outcomes = seen(statistic.suppress_below, count, n, rate, kind)
        if statistic.measure == "typical":
            worst = max(worst, math.sqrt(sum(mass * off**2 for off, mass, _ in outcomes)))
            continue
        withheld = [min(max(count + z, 0), n) < statistic.suppress_below for *_, z in outcomes]
        off = sorted((off if gone else abs(z), mass) for (off, mass, z), gone in zip(outcomes, withheld, strict=True))
        inside = itertools.accumulate(mass for _, mass in off)
        reached = (distance for (distance, _), so_far in zip(off, inside, strict=True) if so_far >= share - 1e-9)
        worst = max(worst, next(reached))
    return worst / n


CASES = list(itertools.product((0.05, 0.3, 1.5), (1, 9, 25, 40), ((0.0, 1.0), (0.0, 0.2), (0.3, 0.7), (0.9, 1.0))))


@pytest.mark.parametrize("measure", ["typical", "within", "all_within"])
@pytest.mark.parametrize("kind", [GeometricNoise, RoundedLaplaceNoise], ids=lambda kind: kind.key)
def test_the_error_that_analysts_see_is_the_worst_of_all_counts(kind: type[PlanMechanism], measure: str) -> None:
    for n, (rate, threshold, (low, high)) in zip(itertools.cycle((6, 30, 6, 30, 30, 6, 30, 6)), CASES):
        shared: dict = {"measure": measure, "lowest": low, "highest": high, "suppress_below": threshold, "limit": 0.2}
        statistic = CategoryShares(name="a", categories=3, mechanism=kind.key, **shared)
        design = PlanDesign(ReleasePlan(n=n, statistics=(statistic,)), (kind(rate, n),))
        published = design.mechanisms[0].published_error(statistic)
        assert published is not None
        worst = published_worst(statistic, n, rate, kind)
        assert published.error == pytest.approx(worst, rel=1e-6), (n, rate, threshold, low)
        assert published.breaks_limit == (published.error > max(0.2, published.error_before) * (1 + 1e-9))
        if published.breaks_limit and published.error_before <= 0.2:
            for distance in range(max(published.threshold, 1), threshold):
                other = dataclasses.replace(statistic, suppress_below=distance)
                holds = published_worst(other, n, rate, kind) <= 0.2 * (1 + 1e-9)
                assert holds == (distance == published.threshold)
        sure = published_worst(statistic, n, 80.0, kind) if measure == "typical" else published.without_noise
        assert published.without_noise == pytest.approx(sure, abs=1e-6)


def test_the_largest_threshold_that_keeps_the_limit_is_found_beyond_smaller_ones_that_break_it() -> None:
    shared: dict = {"lowest": 0.06, "highest": 0.654, "suppress_below": 10, "limit": 0.4722}
    statistic = CategoryShares(name="a", categories=3, measure="within", mechanism="laplace_count", **shared)
    published = RoundedLaplaceNoise(0.4985, 6).published_error(statistic)
    assert published is not None and published.threshold == 7


def test_withholding_more_than_there_are_rows_publishes_nothing() -> None:
    for kind in (GeometricNoise, RoundedLaplaceNoise, GaussianNoise):
        mechanism = kind(0.3, 10)
        assert mechanism.moments_below(4, 12)[0] == 1
        assert [mechanism.withheld_rmse(4, 12, value) for value in (0.0, 6.0)] == pytest.approx([4, 2])


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.03, 0.2])
@pytest.mark.parametrize("threshold", [1, 20, 1000])
def test_the_answer_says_which_limit_breaks_once_counts_are_withheld_and_by_how_much(threshold, limit) -> None:
    ill = CategoryShares(name="ill", limit=limit, suppress_below=threshold, measure="all_within")
    solution = solve_plan(ReleasePlan(n=2000, statistics=(ill, YesNoShare(name="works", limit=0.05))))
    facts = solution_facts(solution)
    published, none = (item.published for item in solution_facts(solution).statistics)
    point, rest = (sentence(name, facts=facts) for name in ("point", "rest"))
    assert published is not None and none is None
    assert ("beyond its limit" in rest) == published.breaks_limit
    if published.breaks_limit:
        times = float(re.findall(r"([\d.,]+) times the limit", rest)[0].replace(",", ""))
        assert times == pytest.approx(published.error / limit, rel=5e-3) and times > 1
        assert ("before small counts are withheld" in point) == solution.is_feasible
        assert ("A larger ε would mend that" in rest) == (published.without_noise < limit)
        assert ("No ε mends that" in rest) == (published.without_noise >= limit)
    suppression = " ".join(sentence("suppression", published=item) for item in facts.published)
    assert "neither adds nor takes privacy" in suppression
    assert ("keeps the limit of" in suppression) == (published.error <= limit)


def test_no_count_is_named_that_the_range_of_shares_rules_out() -> None:
    """In floating-point numbers 0.29 · 100 is below 29: the count of 28 is none of what is possible."""
    statistic = YesNoShare(name="a", limit=0.1, lowest=0.29, highest=0.6, suppress_below=29)
    solution = solve_plan(ReleasePlan(n=100, protection=EpsilonDeltaLimit(most_epsilon=1), statistics=(statistic,)))
    published = solution.design.mechanisms[0].published_error(statistic)
    assert published is not None
    assert published.count == 29 and not published.breaks_limit
    assert solution.is_feasible and "28" not in sentence("rest", facts=solution_facts(solution))
