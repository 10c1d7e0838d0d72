"""The worst over a whole range of p: never better than any single p, and attained."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.comparisons import Analysis, BinaryData, CountData
from dpviz.comparisons.proportion_measures import worst_measure
from dpviz.coverage import coverage_curves, exact_coverage, largest_mean_width, minimize_over_p, smallest_coverage
from dpviz.coverage.release_distribution import ReleaseOutcomes
from dpviz.coverage.worst_case import knows_jumps
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import evaluate_designs
from dpviz.inference.rules import RULES
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, TwoCellSynthesizer
from tests.referees import charest

POSTERIOR = BetaBinomial(n=100, m=100, alpha=15.65, beta=15.65)


@pytest.mark.parametrize(("release", "rule", "low", "high", "expected", "at"), [
    # By de Casteljau's algorithm in full degree
    (GeometricSanitizer(n=50, epsilon=2), "score", 0.05, 0.5, 0.9242167, 0.11015),
    (GeometricSanitizer(n=200, epsilon=1), "score", 0.1, 0.4, 0.9383076, None),
    (POSTERIOR, "score", 0.1, 0.4, 0.9425816, None),
    # Pr(1 | x) = (x + 1)/4: the intervals [0, 0] and [1, 1] cover no p between; at p = 0 the release 0 covers
    (BetaBinomial(n=2, m=1, alpha=1, beta=1), "as_if_real", 0.25, 0.75, 0.0, 0.25),
    (BetaBinomial(n=2, m=1, alpha=1, beta=1), "as_if_real", 0.0, 0.0, 3 / 4, 0.0),
    (BetaBinomial(n=2, m=1, alpha=1, beta=1), "as_if_real", 1.0, 1.0, 3 / 4, 1.0),
])  # fmt: skip
def test_the_smallest_coverage_is_that_of_other_sums(release, rule, low, high, expected, at):
    found = smallest_coverage(release, sets=1, rule=rule, low=low, high=high)
    assert found.value == pytest.approx(expected, abs=5e-8)
    assert low <= found.at <= high
    assert at is None or found.at == pytest.approx(at, abs=5e-6)


def smallest_seen(release: TwoCellSynthesizer, sets: int, rule: str, low: float, high: float) -> float:
    """Coverage at many p and beside every end of an interval, by sums over all releases, one p after the other."""
    outcomes = ReleaseOutcomes(release, sets, np.arange(release.n + 1), sums_only=RULES[rule].is_noise_aware)
    places, x = np.arange(math.prod(outcomes.shape)), np.arange(release.n + 1)
    rows = np.zeros((release.n + 1, len(places)))
    for count in x:
        some, chance = outcomes.given(count)
        rows[count, some] = chance
    lowest, highest = RULES[rule].ends(outcomes.statistics(places), 0.95).widened
    ends = np.concatenate([lowest, highest, [low, high]])
    p = np.unique(np.concatenate([ends - 1e-13, ends + 1e-13, np.linspace(low, high, 4001)]))
    p = p[(p >= low) & (p <= high)][:, None]
    return float((binom.pmf(x, release.n, p) @ rows * ((lowest <= p) & (p <= highest))).sum(axis=1).min())


@pytest.mark.parametrize(("release", "sets", "rule"), [
    (GeometricSanitizer(n=30, epsilon=5), 1, "as_if_real"),
    (GeometricSanitizer(n=12, epsilon=0.3), 1, "clopper_pearson"),
    (LaplaceSanitizer(n=40, epsilon=0.5), 1, "posterior"),
    (BetaBinomial(n=7, m=3, alpha=0.5, beta=2.0), 1, "score"),
    (BetaBinomial(n=20, m=20, alpha=4.0, beta=4.0), 2, "reiter_2002"),
    (BetaBinomial(n=15, m=9, alpha=1.0, beta=1.0), 2, "raghunathan_2003"),
    (BetaBinomial(n=10, m=10, alpha=2.0, beta=2.0), 4, "blaker_2000"),
], ids=lambda one: one if isinstance(one, str) else "")  # fmt: skip
@pytest.mark.parametrize(("low", "high"), [(0.2, 0.5), (0.0, 1.0), (0.0, 0.01), (0.97, 1.0)])
def test_no_p_is_below_the_smallest_coverage_and_the_sides_of_jumps_reach_it(release, sets, rule, low, high):
    found = smallest_coverage(release, sets=sets, rule=rule, low=low, high=high)
    assert -1e-12 <= smallest_seen(release, sets, rule, low, high) - found.value < 1e-6
    assert low <= found.at <= high


def test_a_range_of_one_value_is_the_coverage_there_on_the_closed_intervals():
    release = GeometricSanitizer(n=50, epsilon=2)
    for p in (0.0, 0.11, 1.0):
        exact = exact_coverage(synthesizer=release, p=p, sets=1, rule="score").coverage
        assert smallest_coverage(release, sets=1, rule="score", low=p, high=p).value == pytest.approx(exact, abs=1e-9)


def test_an_exact_interval_keeps_its_level_everywhere_and_is_not_far_above_it_somewhere():
    assert 0.95 <= smallest_coverage(POSTERIOR, sets=1, rule="blaker_2000").value < 0.9501
    found = smallest_coverage(GeometricSanitizer(n=20, epsilon=1e-6), sets=1, rule="clopper_pearson", level=0.9999)
    assert found.value == pytest.approx(1, abs=1e-12)  # its intervals cover everything


def test_bad_ranges_and_too_many_releases_are_refused_in_a_sentence():
    release = GeometricSanitizer(n=20, epsilon=1)
    with pytest.raises(ValueError, match="low must not be above high"):
        smallest_coverage(release, sets=1, rule="score", low=0.5, high=0.2)
    many = BetaBinomial(n=100, m=100, alpha=1, beta=1)
    assert not knows_jumps(many, 3, RULES["reiter_2003"])
    assert knows_jumps(many, 3, RULES["score"])
    with pytest.raises(ValueError, match="too long"):
        smallest_coverage(BetaBinomial(n=1000, m=1000, alpha=1, beta=1), sets=10, rule="reiter_2003")


@pytest.mark.parametrize(("release", "sets", "rule", "expected", "at"), [
    # By Bernstein bounds on the distributions of all sums and squares, to within 2e-6
    (charest(2, 5), 5, "reiter_2002", 0.6185501, 0.000107),
    (BetaBinomial(n=100, m=60, alpha=58.0, beta=30.0), 3, "raghunathan_2003_normal", 0.0124422, 0.000429),
    (GeometricSanitizer(n=100, epsilon=0.5), 5, "reiter_2003", 0.9064834, 0.0),
    (charest(2, 5), 5, "as_if_real", 0.0, 0.0),
])  # fmt: skip
def test_the_smallest_coverage_of_three_sets_and_more_is_found_on_shares_and_refined(release, sets, rule, expected, at):
    (_, before), (curves, smallest) = coverage_curves(release, sets=sets, rules=[rule])
    assert before == {} and curves.coverage.shape == (1, 1001)
    assert smallest[rule].value == pytest.approx(expected, abs=1e-6)
    assert smallest[rule].at == pytest.approx(at, abs=1e-5)
    if sets == 3:
        assert smallest_coverage(release, sets=sets, rule=rule).value == pytest.approx(expected, abs=1e-6)


def test_a_minimum_between_two_shares_is_refined():
    extreme = minimize_over_p(lambda p: np.abs(p - 0.123456), 0.0, 0.9)
    assert extreme.value < 2e-6 and extreme.at == pytest.approx(0.123456, abs=2e-6)


@pytest.mark.parametrize("key", ["bias", "root_mean_squared_error", "coverage", "mean_width"])
@pytest.mark.parametrize(("method", "sets", "rule"), [("geometric", 1, "score"), ("beta_binomial", 2, "reiter_2003")])
def test_the_worst_of_a_range_is_the_worst_of_many_true_values(key, method, sets, rule):
    one, analysis, seen = CountData.method(method), Analysis(sets=sets, rule=rule), []
    for p in np.linspace(0.02, 0.6, 121).tolist():
        *_, outcome = CountData(n=40, m=40, p=p).outcomes(one, 1.0, 1.0, analysis)
        seen.append(ACCURACY_MEASURES[key].of(outcome).value)
    found: Any = CountData(n=40, m=40, p=0.3).worst(one, 1.0, analysis, key, 0.02, 0.6)
    worst = min(seen) if key == "coverage" else max(seen)
    assert (worst - found.value) * (1 if key == "coverage" else -1) >= -1e-9
    assert worst == pytest.approx(found.value, abs=0.015 if key == "coverage" else 1e-4)


def test_the_length_of_missing_intervals_is_known_unless_almost_all_are_missing():
    release = BetaBinomial(n=8, m=8, alpha=0.1, beta=0.1)
    found: Any = worst_measure(release, "mean_width", 2, RULES["raghunathan_2003"], 0.95, 0.1, 0.4)
    at_end = exact_coverage(synthesizer=release, p=0.4, sets=2, rule="raghunathan_2003").mean_width_inside
    assert (found.value, found.at) == (pytest.approx(at_end, abs=1e-10), 0.4)
    assert found.value == pytest.approx(0.928001, abs=5e-7)
    same = GeometricSanitizer(n=30, epsilon=50)  # both sets are the confidential one, so that T < 0
    assert worst_measure(same, "mean_width", 2, RULES["raghunathan_2003"], 0.95, 0.4, 0.6) is None
    with pytest.raises(ValueError, match="Almost no release has an interval"):
        largest_mean_width(same, sets=2, rule="raghunathan_2003", low=0.4, high=0.6)


def test_the_desk_takes_the_worst_of_the_range_and_says_of_how_many_values_a_slow_one_is_the_worst():
    asked = DesignQuestion(
        data=CountData(n=50, m=50, p=0.25), lowest=0.05, highest=0.5, sets=(1,), rules=("score",),
        methods=("geometric",), protections=(EpsilonDeltaLimit(most_epsilon=2.0),),
    )  # fmt: skip
    for changes, n_tried, is_kept in (
        ({"limits": (AccuracyLimit("coverage", 0.93),)}, [0, 0, 0, 0], False),  # of which the worst is 0.9242167
        ({"limits": (AccuracyLimit("coverage", 0.924),)}, [0, 0, 0, 0], True),
        ({"average": True}, [9, 9, 9, 9], True),
        ({"sets": (3,), "methods": ("beta_binomial",), "rules": ("reiter_2003",)}, [0, 0, 9, 9], True),
    ):
        *_, desk = evaluate_designs(dataclasses.replace(asked, **changes))
        (design,) = desk.designs
        assert [design.worst_cases[key].n_tried for key in ACCURACY_MEASURES] == n_tried
        assert design.meets_limits == is_kept
        assert "limits" not in changes or round(design.worst_cases["coverage"].measure.value, 7) == 0.9242167


NO_END = {"n": 8, "p": 1.0}


@pytest.mark.parametrize(("data", "epsilon", "sets", "rule", "expected"), [
    # Made by a few unlikely releases: the sum over all of them with gamma functions and the t quantiles of SciPy
    (BinaryData(n=7, p=0.0), 25.0, 2, "reiter_2002", pytest.approx(12.630001, rel=1e-7)),
    (BinaryData(n=8, p=1.0), 30.0, 2, "raghunathan_2003", pytest.approx(2.5252537, rel=1e-7)),
    (BinaryData(n=3, p=0.5), 60.0, 3, "raghunathan_2003", pytest.approx(9.7680712, rel=1e-7)),
    (BinaryData(n=6, p=0.5), 40.0, 2, "reiter_2002", pytest.approx(51462.875, rel=1e-7)),
    (BinaryData(n=20, p=1.0), 60.0, 2, "reiter_2002", math.inf),  # 9·10¹²⁴
    # Of the 729 releases some have ν below 10⁻³, with probability 10⁻²⁶. By the sum over all of them with mpmath
    # the expected length is beyond 10¹²⁰, and 3.588·10⁻⁸ inside 0 to 1, as on the desk.
    *((BinaryData(**NO_END), 60.0, 3, rule, math.inf) for rule in ("reiter_2002", "raghunathan_2003")),
    *((CountData(m=8, **NO_END), 60.0, 3, rule, pytest.approx(3.588e-8, abs=4e-9))
      for rule in ("reiter_2002", "raghunathan_2003")),
])  # fmt: skip
def test_a_mean_length_is_that_of_all_releases_and_infinite_beyond_a_million(data, epsilon, sets, rule, expected):
    *_, found = data.outcomes(data.method("beta_binomial"), epsilon, epsilon, Analysis(sets=sets, rule=rule))
    assert found.mean_width.value == expected


@pytest.mark.parametrize(("n", "epsilon", "sets"), [(20, 60.0, 2), (10, 90.0, 3)])
def test_a_length_smaller_than_the_error_of_its_sum_is_shown_as_0(n, epsilon, sets):
    """They are 2.64·10⁻¹² and 2.02·10⁻¹²; what the sum leaves out is as large."""
    data = CountData(n=n, m=n, p=1.0)
    *_, found = data.outcomes(data.method("beta_binomial"), epsilon, epsilon, Analysis(sets=sets, rule="reiter_2002"))
    assert 0 <= found.mean_width.value < 3e-12 < 3e-12 + found.mean_width.within
    assert found.mean_width.shown == 0


@pytest.mark.parametrize(
    ("sets", "rule"), [(1, "as_if_real"), (2, "reiter_2003"), (2, "reiter_2002"), (1, "score"), (3, "score")]
)
def test_of_places_with_the_same_coverage_the_first_is_told(sets, rule):
    """What treats ones and zeros alike covers p and 1 − p alike."""
    for release in (
        BetaBinomial(n=20, m=20, alpha=2.5, beta=2.5),
        BetaBinomial(n=1, m=300, alpha=1, beta=1),
        GeometricSanitizer(n=33, epsilon=0.7),
    ):
        found = smallest_coverage(release, sets=sets, rule=rule)
        assert found.at <= 0.5
        mirrored = smallest_coverage(release, sets=sets, rule=rule, low=0.5)
        assert mirrored.value == pytest.approx(found.value, abs=1e-10)
