"""Withheld counts against whole matrices, and rejected designs against their own composition."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpviz.desk.protection import PrivacyLoss
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.noise import GeometricSanitizer, LaplaceSanitizer
from dpviz.plans import BoundedMean, CategoryShares, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.catalogue import BetaBinomialDraw
from dpviz.plans.rejected import rejected_designs
from dpviz.plans.release import GaussianNoise, GeometricNoise, RoundedLaplaceNoise
from dpviz.plans.suppression import delta_without_noise, suppression_costs, withheld_count


@pytest.mark.parametrize("threshold", [1, 4, 12, 26])
@pytest.mark.parametrize("count", [0, 3, 10, 25])
@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_a_withheld_count_is_that_of_the_whole_matrix(rate: float, count: int, threshold: int) -> None:
    n, alpha = 25, 25 / math.expm1(rate)
    for kind, release in (
        (GeometricNoise, GeometricSanitizer(n=n, epsilon=rate)),
        (RoundedLaplaceNoise, LaplaceSanitizer(n=n, epsilon=rate)),
        (BetaBinomialDraw, BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)),
    ):
        if threshold > n and kind is not BetaBinomialDraw:
            continue
        row, released = release.row(count), np.arange(n + 1.0)
        found = withheld_count(kind(rate, n), count, threshold)
        assert found.withheld == pytest.approx(row[:threshold].sum(), rel=1e-9)
        for value, (bias, error) in ((0.0, found.as_zero), (threshold / 2, found.as_half)):
            read = np.where(released < threshold, value, released) - count
            assert bias == pytest.approx(row @ read, rel=1e-8, abs=1e-9)
            assert error == pytest.approx(math.sqrt(row @ read**2), rel=1e-8)


def test_a_withheld_count_with_gaussian_noise_is_that_of_an_integral() -> None:
    found = withheld_count(GaussianNoise(0.25, 100), 7, 10)
    density = norm(7, 4).pdf
    kept = quad(lambda y: density(y) * (y - 7) ** 2, 10, 60)[0]
    assert found.withheld == pytest.approx(norm.cdf(0.75))
    assert found.as_half[1] == pytest.approx(math.sqrt(kept + norm.cdf(0.75) * 4))
    bias = quad(lambda y: density(y) * (y - 7), 10, 60)[0] + norm.cdf(0.75) * -2
    assert found.as_half[0] == pytest.approx(bias)


@pytest.mark.parametrize("n, threshold", [(1, 0), (4, 0), (4, 1), (4, 3), (4, 4), (4, 5), (6, 9)])
def test_without_noise_some_neighbours_are_told_apart_for_sure(n: int, threshold: int) -> None:
    published = [count if count >= threshold else None for count in range(n + 1)]
    assert delta_without_noise(n, threshold) == float(any(a != b for a, b in itertools.pairwise(published)))


def test_the_costs_of_a_design_are_those_of_its_counts() -> None:
    table = CategoryShares(name="region", limit=0.02, lowest=0.01, highest=0.5, suppress_below=10)
    answer = solve_plan(ReleasePlan(n=500, statistics=(table, YesNoShare(name="works"))))
    (cost,) = suppression_costs(answer.design)
    assert [one.count for one in cost.at] == [5, 10, 250]
    assert cost.most_withheld == cost.at[0].withheld > 0.5 > cost.at[2].withheld


def test_rejected_designs_have_the_loss_that_they_really_have() -> None:
    """By hand: three rows of a person are three times as much, a move between groups or cells twice."""
    statistics = (
        CategoryShares(name="north", group="N", limit=0.05),
        CategoryShares(name="south", group="S", limit=0.05),
        BoundedMean(name="hours", limit=5.0, suppress_below=0),
    )
    plan = ReleasePlan(n=2000, statistics=statistics, groups=(("N", 1000), ("S", 1000)), person_rows=3)
    found = {one.name: one for one in rejected_designs(solve_plan(plan))}
    assert found["one row for each person"].epsilon == pytest.approx(3)
    assert 1.0 < found["noise for an added row"].epsilon <= 2.0 + 1e-9
    assert "groups that share one ε" not in found  # two tables: a move between them is no more than one inside either
    assert all(one.breaks_promise for name, one in found.items() if name != "the same ε for each statistic")
    assert found["the same ε for each statistic"].epsilon <= 1 + 1e-12
    yes = tuple(YesNoShare(name=name, group=name, limit=0.05) for name in ("N", "S"))
    grouped = dataclasses.replace(plan, statistics=yes, person_rows=1)
    named = {one.name: one for one in rejected_designs(solve_plan(grouped))}
    assert named["groups that share one ε"].epsilon == pytest.approx(2)
    assert named["groups that share one ε"].breaks_promise


def test_small_counts_without_noise_have_no_epsilon() -> None:
    plan = ReleasePlan(
        n=100,
        statistics=(YesNoShare(name="ill", suppress_below=5),),
        protection=PrivacyLoss(most_epsilon=1.0, most_delta=1e-6),
    )
    (*_, last) = rejected_designs(solve_plan(plan))
    assert math.isinf(last.epsilon)
    assert last.breaks_promise
