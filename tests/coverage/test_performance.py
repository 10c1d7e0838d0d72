"""Laws of the performance measures: what they estimate, and how far off they say they are."""

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpviz.core.monte_carlo import Measure, repetitions_needed, wilson_interval
from dpviz.coverage import CoveragePlan, run_coverage
from dpviz.coverage.performance import Performance, performance_of
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, PosteriorMean, TwoCellSynthesizer
from tests.coverage.listing import listed_measures
from tests.referees import charest


def agrees(measure: Measure, expected: float) -> bool:
    return abs(measure.value - expected) <= 4 * measure.error + 1e-9 * abs(expected)


def measured(synthesizer: TwoCellSynthesizer, rules: Iterable[str] = RULES, **plan: Any) -> Performance:
    """Measures of a simulation for some rules."""
    return performance_of(run_coverage(CoveragePlan(synthesizer=synthesizer, rules=tuple(rules), **plan)))


DESIGNS = [
    (BetaBinomial(n=3, m=4, alpha=1, beta=2), 0.3, 3, None),
    (BetaBinomial(n=5, m=7, alpha=0.5, beta=0.5), 0.45, 2, None),
    (PosteriorMean(n=4, m=5, alpha=1, beta=1), 0.2, 3, 3),
    (GeometricSanitizer(n=6, epsilon=1.0), 0.6, 2, None),
]


@pytest.mark.parametrize(("synthesizer", "p", "sets", "fixed"), DESIGNS)
def test_every_measure_agrees_with_the_sum_over_all_releases(synthesizer, p, sets, fixed):
    found = measured(synthesizer, p=p, sets=sets, repetitions=60_000, seed=11, level=0.9, confidential_count=fixed)
    for key, rule in found.rules.items():
        true = listed_measures(synthesizer, key, p, sets, 0.9, fixed)
        above = (true["coverage"] - true["covered_below"]) / (1 - true["below"])
        expected = [
            (found.bias, true["mean"] - p),
            (found.empirical_error, math.sqrt(true["spread"])),
            (found.mean_square_error, true["mse"]),
            (rule.coverage, true["coverage"]),
            (rule.negative_variance_share, true["negative"]),
            (rule.vacuous_share, true["vacuous"]),
            (rule.negative_total_share, true["below"]),
            (rule.coverage_given_negative_total, true["covered_below"] / true["below"]),
            (rule.coverage_given_nonnegative_total, above),
            (rule.mean_width_inside, true["inside"]),
        ]
        bounded = math.isfinite(rule.mean_width.value)
        assert (rule.mean_width.error == math.inf) == (RULES[key].has_unbounded_width and bounded), key
        assert bounded or true["width"] > 1e90, key
        ratio = true["variance"] / true["spread"]
        assert math.isnan(rule.relative_bias.value) != RULES[key].has_variance, key
        assert math.isnan(rule.relative_error.value) != (ratio > 0), key
        if bounded:
            expected.append((rule.mean_width, true["width"]))
        if RULES[key].has_variance:
            expected.append((rule.relative_bias, 100 * (ratio - 1)))
        if ratio > 0:
            expected.append((rule.relative_error, 100 * (math.sqrt(ratio) - 1)))
        for place, (measure, value) in enumerate(expected):
            assert agrees(measure, value), (key, place)


@pytest.mark.parametrize("fixed", [None, 8])
def test_standard_errors_are_the_spread_over_independent_runs(fixed):
    runs, synthesizer = 300, BetaBinomial(n=20, m=20, alpha=6, beta=6)
    rules = ("raghunathan_2003_normal", "rubin_1987", "reiter_2003")
    values: dict[str, Any] = {"p": 0.3, "sets": 3, "repetitions": 400, "batch": 400, "confidential_count": fixed}
    found = [measured(synthesizer, rules, seed=seed, **values) for seed in range(runs)]
    series = {name: [getattr(one, name) for one in found] for name in ("bias", "empirical_error", "mean_square_error")}
    for key in found[0].rules:
        for name in ("coverage", "mean_width", "mean_width_inside", "relative_error"):
            series[f"{name} {key}"] = [getattr(one.rules[key], name) for one in found]
        series[f"relative_bias {key}"] = [one.rules[key].relative_bias for one in found]
    series["negative"] = [one.rules["raghunathan_2003_normal"].negative_variance_share for one in found]
    for name, measures in series.items():
        spread = np.std([measure.value for measure in measures], ddof=1)
        claimed = math.sqrt(np.mean([measure.error**2 for measure in measures]))
        # The spread over 300 runs has itself a relative error of 1/√600 = 0.04.
        assert abs(claimed / spread - 1) < 4 / math.sqrt(2 * runs), name


def test_a_single_repetition_has_values_and_no_errors():
    found = measured(DESIGNS[0][0], ["rubin_1987"], p=0.3, sets=3, repetitions=1, seed=1)
    assert math.isfinite(found.bias.value) and math.isnan(found.bias.error)
    assert math.isnan(found.empirical_error.value) and math.isnan(found.rules["rubin_1987"].relative_bias.value)
    assert math.isfinite(found.rules["rubin_1987"].mean_width.value)


def test_a_constant_estimate_has_no_relative_measures():
    release = GeometricSanitizer(n=6, epsilon=1000)
    rules = ("raghunathan_2003", "rubin_1987")
    found = measured(release, rules, p=0.5, sets=2, repetitions=100, seed=1, confidential_count=3)
    assert found.bias == Measure(0.0, 0.0) and found.empirical_error.value == 0.0
    assert math.isnan(found.rules["rubin_1987"].relative_error.value)
    none = found.rules["raghunathan_2003"]  # T = −v̄ always: no interval
    assert none.negative_variance_share.value == 1.0 and none.coverage == Measure(0.0, 1 / 101)
    assert math.isnan(none.mean_width.value) and math.isnan(none.mean_width_inside.value)
    assert math.isnan(none.relative_error.value)
    assert none.coverage_low == 0.0 and 0.03 < none.coverage_high < 0.04


def test_an_unbounded_interval_makes_the_mean_width_infinite():
    rules = ["reiter_2002", "rubin_1987"]
    found = measured(charest(2, 2), rules, p=0.25, sets=2, repetitions=5000, seed=1).rules
    assert found["reiter_2002"].mean_width.value == math.inf and math.isnan(found["reiter_2002"].mean_width.error)
    assert 0 < found["reiter_2002"].mean_width_inside.value < 1
    assert math.isfinite(found["rubin_1987"].mean_width.value)


@pytest.mark.parametrize(("covered", "runs"), [(0, 7), (3, 7), (950, 1000), (1000, 1000)])
def test_wilsons_ends_are_one_quantile_from_the_share(covered, runs):
    share = covered / runs
    for end in wilson_interval(share, runs, 0.9):
        if end not in (0.0, 1.0):
            distance = abs(share - end) / math.sqrt(end * (1 - end) / runs)
            assert math.isclose(distance, norm.ppf(0.95), rel_tol=1e-9)
    low, high = wilson_interval(share, runs)
    assert 0 <= low <= share <= high <= 1 and low < high


REFUSED = [
    (repetitions_needed, (1.2, 0.1), "share must be a number from 0 to 1; got 1.2"),
    (repetitions_needed, (0.5, 0.0), r"error .* must be a number from 10⁻¹⁵⁰ to 10³⁰⁰; got 0"),
    (repetitions_needed, (0.5, 1e-200), "must be a number from 10⁻¹⁵⁰ to 10³⁰⁰; got 10⁻²⁰⁰"),
    (wilson_interval, (math.nan, 10), "share must be a number from 0 to 1; got nan"),
    (wilson_interval, (0.5, 0), "repetitions must be a whole number from 1 to 10⁷; got 0"),
    (wilson_interval, (0.5, 10, 1.0), "level .* must be a number from 0.001 to 0.999999; got 1"),
]


@pytest.mark.parametrize(("function", "arguments", "sentence"), REFUSED)
def test_bad_input_is_refused_in_a_sentence(function, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        function(*arguments)


def test_an_error_without_digits_is_unknown_and_not_0():
    plan = CoveragePlan(
        synthesizer=GeometricSanitizer(n=5000, epsilon=10.0), p=0.0, sets=500, rules=("raab_2017",), repetitions=2000,
        seed=1, confidential_count=4000,
    )  # fmt: skip
    performance = performance_of(run_coverage(plan))
    assert math.isnan(performance.empirical_error.error)
    two = performance_of(run_coverage(dataclasses.replace(plan, p=0.3, confidential_count=None, repetitions=2)))
    assert math.isnan(two.empirical_error.error) and two.bias.error > 0
