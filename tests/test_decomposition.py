"""The three repairs of coverage, each against every release listed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpviz.coverage import REPAIRS, coverage_decomposition, exact_coverage
from dpviz.inference import RULES
from dpviz.inference.combining_rules import quantile
from dpviz.synthesizers import BetaBinomial, GeometricSanitizer


def charest(epsilon: float, sets: int) -> BetaBinomial:
    alpha = 100 / math.expm1(epsilon / sets)
    return BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("fixed", [None, 2])
@pytest.mark.parametrize(
    "synthesizer", [BetaBinomial(n=4, m=6, alpha=1.5, beta=2.5), GeometricSanitizer(n=5, epsilon=0.8)]
)
def test_each_repair_is_that_of_every_release_listed(rule, fixed, synthesizer):
    p, sets, level, n, m = 0.3, 3, 0.9, synthesizer.n, synthesizer.m
    matrix = synthesizer.transition_matrix()
    weights = np.array([math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])
    weights = weights if fixed is None else 1.0 * (np.arange(n + 1) == fixed)
    counts = np.array(list(itertools.product(range(m + 1), repeat=sets)))
    chance = (weights[:, None] * np.prod(matrix[:, counts], axis=2)).sum(axis=0)
    read = [RULES[rule].interval(release.tolist(), rows=m, confidential_rows=n, level=level) for release in counts]
    q = np.array([one.estimate for one in read])
    variance = np.array([one.variance for one in read])
    degrees = np.array([one.degrees_of_freedom for one in read])
    mean, expected = chance @ q, chance @ variance
    spread = chance @ (q - mean) ** 2

    def coverage(centre, used, nu):
        total = 0.0
        for weight, middle, value, free in zip(chance, centre, used, nu, strict=True):
            if value < 0:
                continue
            half = float(quantile(np.array(free), level)) * math.sqrt(value) if value > 0 else 0.0
            total += weight * (abs(middle - p) <= half + 1e-12 * (half + p))
        return total

    normal, same = np.full(len(q), math.inf), np.ones(len(q))
    found = coverage_decomposition(
        synthesizer=synthesizer, p=p, sets=sets, rule=rule, level=level, confidential_count=fixed
    )
    assert found.bias == pytest.approx(mean - p, abs=1e-14)
    assert found.variance == pytest.approx(spread, rel=1e-12)
    assert found.mean_variance == pytest.approx(expected, abs=1e-9)
    assert found.published == pytest.approx(coverage(q, variance, degrees), abs=1e-8)
    assert found.without_prior_bias == pytest.approx(coverage(q - mean + p, variance, degrees), abs=1e-8)
    assert found.with_whole_variance == pytest.approx(coverage(q, variance + spread - expected, degrees), abs=1e-8)
    assert found.without_rule_noise == pytest.approx(coverage(q, expected * same, normal), abs=1e-8)
    assert found.repaired == pytest.approx(coverage(q - mean + p, spread * same, normal), abs=1e-8)


@pytest.mark.parametrize("sets", [2, 5, 10])
@pytest.mark.parametrize("p", [0.25, 0.5])
def test_all_repairs_together_are_near_the_level(sets, p):
    found = coverage_decomposition(synthesizer=charest(2, sets), p=p, sets=sets, rule="reiter_2002")
    assert found.repaired == pytest.approx(0.95, abs=0.01)
    assert found.published == exact_coverage(synthesizer=charest(2, sets), p=p, sets=sets, rule="reiter_2002").coverage


def test_without_bias_the_first_repair_changes_nothing():
    found = coverage_decomposition(synthesizer=charest(2, 3), p=0.5, sets=3, rule="rubin_1987")
    assert found.bias == pytest.approx(0, abs=1e-14)
    assert found.without_prior_bias == pytest.approx(found.published, abs=1e-9)


def test_a_negative_expected_variance_gives_no_interval():
    """A release of the same count each time has b = 0, so that T = −v̄."""
    synthesizer = GeometricSanitizer(n=20, epsilon=50.0)
    found = coverage_decomposition(synthesizer=synthesizer, p=0.4, sets=3, rule="raghunathan_2003")
    assert found.mean_variance < 0
    assert found.without_rule_noise == 0 == found.published
    assert found.repaired > 0.9


def test_the_best_repair_is_the_one_nearest_the_level():
    found = coverage_decomposition(synthesizer=charest(2, 2), p=0.25, sets=2, rule="as_if_real")
    assert set(found.by_repair) == set(REPAIRS)
    distance = {key: abs(value - 0.95) for key, value in found.by_repair.items()}
    assert distance[found.best_repair] == min(distance.values())
    assert found.by_repair["prior_bias"] == found.without_prior_bias


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="needs at least 2 sets; got 1"):
        coverage_decomposition(synthesizer=charest(2, 1), p=0.25, sets=1, rule="reiter_2002")
