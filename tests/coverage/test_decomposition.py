"""The three causes of wrong coverage and their shares, against every release listed."""

import itertools
import math

import numpy as np
import pytest

from dpviz.coverage import REPAIRS, coverage_decomposition, exact_coverage
from dpviz.coverage.decomposition import NOT_NORMAL
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference import COMBINING_RULES
from dpviz.inference.interval_rules import t_quantile
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.referees import charest, count_weights, every_release


def listed(synthesizer, rule, p, sets, level):
    """Coverage of the eight combinations with every release listed, by the set of what is repaired; and the moments.

    The interval of each release is made and carried to p by the curve E[q̄ | p] as an analyst would do it.
    """
    n, m = synthesizer.n, synthesizer.m
    matrix = synthesizer.transition_matrix()
    chance, counts = every_release(synthesizer, sets, p)
    shares = counts / m
    q, between, within = shares.mean(axis=1), shares.var(axis=1, ddof=1), (shares * (1 - shares)).mean(axis=1) / m
    variance, degrees = COMBINING_RULES[rule].variance_and_degrees(between, within, sets=sets, synthetic_ratio=m / n)

    def curve(p):
        return float(count_weights(n, p) @ matrix @ np.arange(m + 1)) / m

    mean, expected = curve(p), chance @ variance
    spread = chance @ (q - mean) ** 2

    def coverage(repaired):
        value, free = variance, degrees
        if "ignored_variance" in repaired:
            value = variance * spread / expected if expected > 0 else np.full_like(variance, spread)
        if "rule_noise" in repaired:
            value = np.full_like(variance, spread if "ignored_variance" in repaired else expected)
            free = np.full_like(variance, math.inf)
        half = np.where(value > 0, t_quantile(np.array(free), level), 0.0) * np.sqrt(np.maximum(value, 0.0))
        reading = mean if "prior_bias" in repaired else p
        return chance @ ((value >= 0) & (np.abs(q - reading) <= half + 1e-12 * (half + p)))

    subsets = [frozenset(some) for size in range(4) for some in itertools.combinations(REPAIRS, size)]
    slope = (curve(p + 1e-6) - curve(p - 1e-6)) / 2e-6
    return {some: coverage(some) for some in subsets}, (mean - p, spread, expected, slope)


@pytest.mark.parametrize("rule", COMBINING_RULES)
@pytest.mark.parametrize("synthesizer", [
    BetaBinomial(n=4, m=6, alpha=1.5, beta=2.5),
    GeometricSanitizer(n=5, epsilon=0.8),
    GivenMatrix(probabilities=np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1]])),
], ids=lambda one: one.key)  # fmt: skip
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_eight_combinations_and_shares_are_those_of_every_release_listed(rule, synthesizer, p):
    sets, level = 3, 0.9
    expected, moments = listed(synthesizer, rule, p, sets, level)
    found = coverage_decomposition(synthesizer=synthesizer, p=p, sets=sets, rule=rule, level=level)
    assert (found.bias, found.variance, found.mean_variance) == pytest.approx(moments[:3], abs=1e-9)
    assert found.slope == pytest.approx(moments[3], rel=1e-7)
    for repaired, value in expected.items():
        corner = tuple(int(key in repaired) for key in REPAIRS)
        assert found.coverage[corner] == pytest.approx(value, abs=1e-8), repaired
    assert found.published == pytest.approx(expected[frozenset()], abs=1e-8)
    assert found.repaired == pytest.approx(expected[frozenset(REPAIRS)], abs=1e-8)
    steps = [expected[frozenset(REPAIRS[:count])] for count in range(4)]
    assert list(found.lost.values()) == pytest.approx(np.diff([*steps, level]), abs=1e-8)
    assert sum(found.lost.values()) == pytest.approx(level - found.published, abs=1e-14)
    assert abs(found.lost[found.main_cause]) == max(map(abs, found.lost.values()))


@pytest.mark.parametrize("sets", [1, 2, 5, 10])
def test_all_repairs_together_are_the_interval_of_an_unbiased_estimate(sets):
    """(A q̄ − α)/n ± z √Var((A q̄ − α)/n): its standard error is A/n times that of q̄, five times at M = 5."""
    release = charest(2, sets)
    found = coverage_decomposition(synthesizer=release, p=0.25, sets=sets, rule="raab_2017")
    exact = exact_coverage(synthesizer=release, p=0.25, sets=sets, rule="raab_2017")
    assert found.published == pytest.approx(exact.coverage, rel=1e-14)  # the same sum, in another order
    law = release_distribution(release, p=0.25, sets=sets)
    whole = release.n + 2 * release.alpha
    unbiased = (whole * law.statistics.estimate - release.alpha) / release.n
    weights = law.probability / law.probability.sum()
    error = math.sqrt(weights @ (unbiased - weights @ unbiased) ** 2)
    assert weights @ unbiased == pytest.approx(0.25, abs=1e-8)
    assert found.repaired == pytest.approx(0.95, abs=0.01)  # whatever the rule
    assert found.unbiased_standard_error == pytest.approx(error, rel=1e-6)
    assert found.unbiased_standard_error / math.sqrt(found.variance) == pytest.approx(whole / release.n, rel=1e-12)
    assert found.repaired == pytest.approx(
        weights[np.abs(unbiased - 0.25) <= 1.959963984540054 * error].sum(), abs=1e-8
    )


def test_what_no_repair_brings_back_is_not_whole_numbers_alone():
    """5,000 values of q̄ in steps of 1/5,000, and heavy tails all the same: two-sided exponential, not normal."""
    found = coverage_decomposition(
        synthesizer=LaplaceSanitizer(n=5000, epsilon=0.01), p=0.25, sets=1, rule="as_if_real"
    )
    assert found.repaired == pytest.approx(0.9385, abs=1e-4)
    assert found.lost[NOT_NORMAL] == pytest.approx(0.0115, abs=1e-4)
    assert found.main_cause == "ignored_variance"


def test_a_negative_expected_variance_gives_no_interval():
    """A release of the same count each time has b = 0, so that T = −v̄: only the second repair gives it a length."""
    synthesizer = GeometricSanitizer(n=20, epsilon=50.0)
    found = coverage_decomposition(synthesizer=synthesizer, p=0.4, sets=3, rule="raghunathan_2003")
    assert found.mean_variance < 0
    assert (found.coverage[:, 0] == 0).all()
    assert found.repaired > 0.9
    assert found.main_cause == "ignored_variance"


def test_a_release_that_says_nothing_has_no_unbiased_estimate():
    release = GivenMatrix(probabilities=np.full((6, 4), 0.25))
    found = coverage_decomposition(synthesizer=release, p=0.3, sets=2, rule="raab_2017")
    assert found.slope == 0
    assert found.unbiased_standard_error == math.inf


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="needs at least 2 sets; got 1"):
        coverage_decomposition(synthesizer=charest(2, 1), p=0.25, sets=1, rule="reiter_2002")


@pytest.mark.parametrize("asked", [
    {"synthesizer": LaplaceSanitizer(n=1, epsilon=50.0), "p": 0.0, "sets": 3, "rule": "reiter_2002"},
    {"synthesizer": PosteriorMean(n=99, m=99, alpha=1e-13, beta=1e-13), "p": 0.0, "sets": 2, "rule": "rubin_1987"},
    {"synthesizer": BetaBinomial(n=20, m=20, alpha=1e-8, beta=1e-8), "p": 1.0, "sets": 3, "rule": "rubin_1987"},
])  # fmt: skip
def test_an_expected_variance_that_releases_left_out_decide_is_not_given(asked):
    with pytest.raises(ValueError, match="may decide it: the causes cannot be told apart"):
        coverage_decomposition(**asked)
