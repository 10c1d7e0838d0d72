"""Exact coverage: golden numbers, every release listed, direct convolution, simulation, and the stated error."""

import itertools
import math
import time
import timeit
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from dpviz.core.numerics.special import complex_power
from dpviz.coverage import ExactCoverage, coverage_by_proportion, exact_coverage, exact_coverages
from dpviz.coverage.curves import stream_by_synthesizer
from dpviz.coverage.release_distribution import (
    _joint_distribution,
    _likely_box,
    _smallest_spread,
    exact_work,
    release_distribution,
)
from dpviz.inference import RULES, contains
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean
from tests.coverage.listing import SMALL, listed_measures
from tests.referees import binomial_distribution, charest, rows_of

GOLDEN = {
    (2, 0.25): (0.75442, 0.81157, 0.66887),
    (2, 0.50): (0.98817, 0.99999, 1.00000),
    (250, 0.25): (0.95365, 0.99450, 0.99790),
    (250, 0.50): (0.95805, 0.99505, 0.99864),
}
"""Coverage of T* as found before for n = m = 100 and M = 2, 5, 10."""


def rules_for(sets: int) -> list[str]:
    return [key for key, rule in RULES.items() if rule.min_sets <= sets]


def check_lengths(found: ExactCoverage, listed: dict[str, float], rule: str) -> None:
    """A mean width is right, or unknown where intervals have no largest width."""
    unknown = RULES[rule].has_unbounded_width
    if listed["negative"] <= 0.99:
        assert math.isnan(found.mean_width) == unknown, rule
        assert unknown or found.mean_width == pytest.approx(listed["width"], abs=1e-6), rule
        assert found.mean_width_inside == pytest.approx(listed["inside"], abs=1e-6), rule


@pytest.mark.parametrize(("epsilon", "p"), GOLDEN)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_charest_intervals_cover_as_found_before(epsilon, p, place):
    """At p = 1/4 and ε = 2 nearly all intervals with T ≥ 0 hold p, and most of them all of 0 to 1."""
    sets, expected = (2, 5, 10)[place], GOLDEN[epsilon, p][place]
    release = charest(epsilon, sets)
    found = exact_coverage(synthesizer=release, p=p, sets=sets, rule="reiter_2002")
    if (epsilon, p) == (2, 0.25) and sets < 10:
        vacuous, given_negative = {2: (0.64618, 0.50114), 5: (0.54686, 0.52882)}[sets]
        assert found.vacuous_share == pytest.approx(vacuous, abs=6e-6)
        assert found.coverage_given_negative_total == pytest.approx(given_negative, abs=6e-6)
        assert found.coverage_given_nonnegative_total > 0.9999
        whole = found.negative_total_share * found.coverage_given_negative_total
        whole += (1 - found.negative_total_share) * found.coverage_given_nonnegative_total
        assert whole == pytest.approx(found.coverage, abs=1e-7)
    if sets == 5 and (epsilon, p) in ((2, 0.25), (250, 0.5)):
        # T = 0 in two releases there. They were counted as covering, because rounding left a T of 1e-19 with almost
        # no degrees of freedom; an interval of width zero does not cover.
        law = release_distribution(release, p=p, sets=sets)
        b, v = law.statistics.between, law.statistics.within
        tied = law.probability[np.abs(1.2 * b - v) <= 1e-12 * v].sum()
        assert tied > 2e-5
        expected -= tied
    assert found.coverage == pytest.approx(expected, abs=5.1e-6)
    assert found.error_bound <= 1e-8


@pytest.mark.parametrize("synthesizer", SMALL, ids=lambda item: item.key)
@pytest.mark.parametrize(("sets", "p"), [(1, 0.25), (2, 0.6), (3, 0.25)])
def test_coverage_is_that_of_every_release_listed(synthesizer, sets, p):
    rules, level = rules_for(sets), 0.8
    found = exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level)
    curves = coverage_by_proportion(synthesizer, proportions=[p, 0.9], sets=sets, rules=rules, level=level)
    for index, rule in enumerate(rules):
        one, listed = found[rule], listed_measures(synthesizer, rule, p, sets, level)
        assert one.error_bound <= 1e-8
        assert one.coverage == pytest.approx(listed["coverage"], abs=one.error_bound)
        assert one.negative_variance_share == pytest.approx(listed["negative"], abs=one.error_bound)
        assert one.vacuous_share == pytest.approx(listed["vacuous"], abs=one.error_bound)
        check_lengths(one, listed, rule)
        assert curves.coverage[index, 0] == pytest.approx(listed["coverage"], abs=curves.error_bound)
        if listed["negative"] < 0.99:
            assert curves.mean_width_inside[index, 0] == pytest.approx(listed["inside"], abs=1e-6)

        # Coverage given T_M < 0 and T_M ≥ 0, and how often that is
        covered, below, both = listed["coverage"], listed["below"], listed["covered_below"]
        parts = (
            (one.coverage_given_negative_total, both, below),
            (one.coverage_given_nonnegative_total, covered - both, 1 - below),
        )
        if sets == 1:
            assert all(math.isnan(value) for value in (one.negative_total_share, *(part[0] for part in parts)))
            continue
        assert one.negative_total_share == pytest.approx(below, abs=one.error_bound)
        for value, hits, share in parts:
            if math.isnan(value):
                assert share <= 2.1e4 * one.error_bound
            else:
                assert value == pytest.approx(hits / share, abs=1e-4)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_a_mean_width_that_unlikely_releases_make_does_not_pass_for_one(p):
    """For T with ν = (M − 1)(1 − 1/r)² almost all of the mean is made by releases less likely than 10⁻⁹."""
    synthesizer = PosteriorMean(n=20, m=7, alpha=0.0035995, beta=0.0063539)
    found = exact_coverages(synthesizer=synthesizer, p=p, sets=3, rules=list(RULES), level=0.8)
    listed = {rule: listed_measures(synthesizer, rule, p, 3, 0.8) for rule in RULES}
    for rule, one in found.items():
        check_lengths(one, listed[rule], rule)
    assert listed["raghunathan_2003"]["width"] > 1e11 and math.isnan(found["raghunathan_2003"].mean_width)


@pytest.mark.parametrize("sets", [3, 5, 6])
@pytest.mark.parametrize("index", [0, 2, 4])
def test_the_transform_is_the_direct_convolution(sets, index):
    law = SMALL[index].transition_matrix()[1]
    direct = {(0, 0): 1.0}
    for _ in range(sets):
        previous, direct = direct, defaultdict(float)
        for ((s, q), chance), (j, weight) in itertools.product(previous.items(), enumerate(law)):
            direct[s + j, q + j * j] += chance * weight
    box = _likely_box(law[None], np.ones(1), sets, 1e-9)
    table = _joint_distribution(law[None], np.ones(1), sets, box)
    for (s, q), chance in direct.items():
        d = (q - s) // 2 - int(_smallest_spread(np.array([s]), sets)[0])
        assert table[s - box.low, d] == pytest.approx(chance, abs=1e-15)
    assert table.sum() == pytest.approx(1, abs=1e-14)


def test_powers_of_transforms_are_products():
    """NumPy's power of complex numbers takes logarithms, and several times as long."""
    base = 0.9 * np.exp(1j * np.linspace(0, 6, 20_000))
    assert complex_power(base, 10) == pytest.approx(base**10, rel=1e-12)

    def seconds(power: Callable[..., Any]) -> float:
        return min(timeit.repeat(lambda: power(base, 10), timer=time.process_time, number=3))

    assert seconds(complex_power) < seconds(np.power)


@pytest.mark.parametrize("error", [1e-3, 1e-9])
@pytest.mark.parametrize("law", [
    BetaBinomial(n=60, m=60, alpha=5, beta=5).transition_matrix()[20],
    LaplaceSanitizer(n=60, epsilon=0.2).transition_matrix()[3],
    np.array([0.5] + [0.0] * 58 + [0.5]),
    np.array([1 - 1e-7] + [0.0] * 58 + [1e-7]),
])  # fmt: skip
def test_no_more_than_the_error_lies_outside_the_box(law, error):
    box = _likely_box(law[None], np.ones(1), 3, error)
    i, j, k = np.meshgrid(*[np.arange(len(law))] * 3, indexing="ij")
    chance = law[i] * law[j] * law[k]
    total = i + j + k
    d = (i**2 + j**2 + k**2 - total) // 2 - _smallest_spread(total, 3)
    outside = (total < box.low) | (total > box.high) | (d >= box.spread)
    for column in (i, j, k):
        outside |= (column < box.first) | (column > box.last)
    assert chance[outside].sum() <= error


def test_the_error_bound_holds_against_many_digits():
    """Three sets in mpmath with 40 digits: the law of the released counts from gamma functions, added up unrounded."""
    n, p, rule, alpha = 24, 0.3, "reiter_2003", 8
    release = BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)
    keys = list(itertools.combinations_with_replacement(range(n + 1), 3))
    low, high = np.transpose([RULES[rule].interval_from(counts, synthesizer=release) for counts in keys])
    covered = [(key, (1, 3, 6)[len(set(key)) - 1]) for key in itertools.compress(keys, contains(low, high, p))]
    with mpmath.workdps(40):
        total = mpmath.fsum(
            weight * times * row[a] * row[b] * row[c]
            for weight, row in zip(
                binomial_distribution(n, p), rows_of("synth_post_one", n, n, alpha, alpha), strict=True
            )
            for (a, b, c), times in covered
        )
        exact = exact_coverage(synthesizer=release, p=p, sets=3, rule=rule)
        assert abs(mpmath.mpf(exact.coverage) - total) <= exact.error_bound <= 1e-8


FEW_AND_MANY = [
    *((BetaBinomial(n=20, m=25, alpha=6, beta=beta), sets, rules_for(sets), [0.0, 0.07, 0.5, 0.31, 0.93, 1.0, 0.07])
      for sets in (1, 2, 3) for beta in (6, 3)),
    *((charest(2, sets, 800), sets, ["raab_2017", "as_if_real"], [0.3, 0.5]) for sets in (1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("synthesizer", "sets", "rules", "proportions"), FEW_AND_MANY)
def test_a_curve_is_its_points(synthesizer, sets, rules, proportions):
    curves = coverage_by_proportion(synthesizer, proportions=proportions, sets=sets, rules=rules)
    middle_and_ends = [p for p in proportions if p in (0, 0.5, 1)]
    symmetric = coverage_by_proportion(synthesizer, proportions=middle_and_ends, sets=sets, rules=rules)
    assert curves.points.tolist() == proportions and curves.coverage.shape == (len(rules), len(proportions))
    for column, p in enumerate(proportions):
        found = exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules).values()
        coverage, lengths = np.transpose([[one.coverage, one.mean_width_inside] for one in found])
        assert curves.coverage[:, column] == pytest.approx(coverage, abs=1e-10)
        assert curves.mean_width_inside[:, column] == pytest.approx(lengths, abs=1e-7, nan_ok=True)
        if p in symmetric.points:
            assert symmetric.coverage[:, symmetric.points == p].ravel() == pytest.approx(coverage, abs=1e-10)


def test_a_curve_along_synthesizers_grows_and_leaves_out_what_takes_too_long():
    releases = [charest(epsilon, 3, 20) for epsilon in (0.5, 2)] + [charest(2, 3, 2000)]
    steps = list(stream_by_synthesizer(releases, points=[1, 2, 3], p=0.25, sets=3, rules=["as_if_real", "score"]))
    assert [int(np.isfinite(step.coverage[0]).sum()) for step in steps] == [1, 2, 2]
    assert np.isfinite(steps[-1].coverage[1]).all()
    single = exact_coverage(synthesizer=releases[1], p=0.25, sets=3, rule="as_if_real")
    assert steps[-1].coverage[0, 1] == pytest.approx(single.coverage, rel=1e-12)


@pytest.mark.parametrize("sets", [1, 2, 5])
def test_a_population_without_ones_and_a_faithful_release_is_covered_by_a_point(sets):
    synthesizer = BetaBinomial(n=50, m=50, alpha=1e-107, beta=1e-107)
    found = exact_coverage(synthesizer=synthesizer, p=0.0, sets=sets, rule="as_if_real")
    assert found.coverage == pytest.approx(1, abs=1e-8) and found.mean_width == pytest.approx(0, abs=1e-8)


def test_the_reach_is_declared():
    assert all(exact_work(charest(2, sets), p=0.5, sets=sets) < 1e8 for sets in range(1, 11))
    assert exact_work(charest(2, 2, 2000), p=0.5, sets=2) == 0 == exact_work(charest(2, 1, 5000), p=0.5, sets=1)
    assert exact_work(charest(2, 10, 5000), p=0.5, sets=10) == math.inf
    large = {"synthesizer": charest(2, 10, 2000), "p": 0.3, "sets": 10}
    with pytest.raises(ValueError, match="The exact sums would take too long for these sizes"):
        exact_coverage(**large, rule="as_if_real")
    some = exact_coverages(**large, rules=["as_if_real", "score"], skip_unreachable=True)
    assert list(some) == ["score"] and some["score"].error_bound < 1e-10


def test_bad_input_is_named():
    point, curve = {"synthesizer": charest(2, 1, 10), "p": 0.3, "rule": "rubin_1987"}, (charest(2, 1, 10),)
    for call, words in (
        (lambda: exact_coverage(**point, sets=1), "needs at least 2 sets; got 1"),
        (lambda: exact_coverage(**point, sets=2, level=1.0), "level"),
        (
            lambda: coverage_by_proportion(*curve, proportions=[0.1, -0.1], sets=2, rules=["as_if_real"]),
            r"proportions \(true share\) must be a number from 0 to 1; got −0.1",
        ),
        (lambda: coverage_by_proportion(*curve, proportions=[0.1], sets=2, rules=[]), "rules must be at least one of"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
