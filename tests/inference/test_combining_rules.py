"""The combining rules: formulas by hand with fractions, edges, quantiles against mpmath."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import stdtr

from dpviz.coverage import exact_coverages
from dpviz.inference import COMBINING_RULES, NOISE_AWARE_RULES, RULES, check_rule, contains, set_moments
from dpviz.inference.interval_rules import set_statistics, t_quantile
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from tests.referees import charest

COUNTS = ([3, 9], [0, 10, 4], [5, 5, 5, 6], [7, 7, 1, 2, 9])
USING_R = ("reiter_2002", "reiter_2002_normal", "raghunathan_2003")


def by_hand(key: str, counts: list[int], rows: int, ratio: Fraction) -> tuple[Fraction, Fraction, Fraction | float]:
    """q̄, the variance and the degrees of freedom in exact fractions."""
    sets = len(counts)
    q = [Fraction(count, rows) for count in counts]
    mean = sum(q, Fraction()) / sets
    b = sum(((value - mean) ** 2 for value in q), Fraction()) / (sets - 1)
    v = sum((value * (1 - value) / rows for value in q), Fraction()) / sets
    raised = (1 + Fraction(1, sets)) * b
    normal = key.endswith("normal")
    if key.startswith("rubin"):
        variance, degrees = raised + v, (sets - 1) * (1 + v / raised) ** 2
    elif key == "reiter_2003":
        variance, degrees = ratio * v + b / sets, (sets - 1) * (1 + sets * ratio * v / b) ** 2
    elif key in ("raab_2017", "raab_2017_plug_in", "as_if_real"):
        drawn, plugged = ratio + (1 + ratio) / sets, ratio + Fraction(1, sets)
        factor = {"raab_2017": drawn, "raab_2017_plug_in": plugged, "as_if_real": Fraction(1)}[key]
        return mean, v * factor, math.inf
    else:
        variance, degrees = raised - v, (sets - 1) * (1 - v / raised) ** 2
        if key.startswith("reiter_2002"):
            normal = normal and variance < 0
            variance = ratio * v if variance < 0 else variance
    return mean, variance, math.inf if normal else degrees


def analyzed(key: str, counts: list[int], rows: int, confidential: int) -> tuple[float, float, float, float, float]:
    """q̄, T, ν and the ends of the interval, which does not depend on the law of the release."""
    rule, whole = COMBINING_RULES[key], np.array(counts)
    release = BetaBinomial(n=confidential, m=rows, alpha=1, beta=1)
    found = set_statistics(release, len(counts), whole.sum(), (whole**2).sum())
    variance, degrees = rule.variance_and_degrees(
        found.between, found.within, sets=len(counts), synthetic_ratio=rows / confidential
    )
    return float(found.estimate), float(variance), float(degrees), *rule.interval_from(counts, synthesizer=release)


@pytest.mark.parametrize("key", COMBINING_RULES)
def test_each_rule_is_its_formula_in_fractions(key):
    for counts, confidential in itertools.product(COUNTS, (3, 10, 20)):
        *found, low, high = analyzed(key, counts, 10, confidential)
        mean, variance, degrees = by_hand(key, counts, 10, Fraction(10, confidential))
        for value, exact, digits in zip(found, (mean, variance, degrees), (1e-14, 1e-13, 1e-12), strict=True):
            assert value == pytest.approx(float(exact), rel=digits)
        if variance < 0:
            assert math.isnan(low) and math.isnan(high)
        else:
            half = float(t_quantile(np.array(float(degrees)), 0.95)) * math.sqrt(variance)
            assert (high - low) / 2 == pytest.approx(half, rel=1e-11)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999999])
def test_a_quantile_of_t_has_the_probability_that_it_was_asked_for(level):
    degrees = np.concatenate([np.geomspace(0.5, 1e12, 3000), [2.0, np.nextafter(2.0, 0.0), 1e15]])
    assert stdtr(degrees, -t_quantile(degrees, level)) == pytest.approx((1 - level) / 2, rel=1e-11)


def test_quantiles_of_few_degrees_are_those_of_mpmath_or_infinite():
    """Few degrees have a finite quantile at low levels."""
    low = [(0.0048, 0.001), (0.0036, 0.05), (1e-5, 0.001), (0.0059, 0.5), (0.02, 0.95)]
    for degrees, level in [*itertools.product([0.05, 0.3, 1, 2.5, 7], [0.5, 0.95, 0.999]), *low]:
        with mpmath.workdps(40):
            t, nu = mpmath.mpf(float(t_quantile(np.array(degrees), level))), mpmath.mpf(degrees)
            beyond = mpmath.betainc(nu / 2, 0.5, 0, nu / (nu + t * t), regularized=True)
            assert float(beyond) == pytest.approx(1 - level, rel=1e-11)
            assert float(1 - beyond) == pytest.approx(level, rel=1e-9)
    assert t_quantile(np.array([0.0, 1e-8, 0.005]), 0.95).tolist() == [math.inf] * 3


def test_no_variance_between_gives_the_normal_quantile_and_none_within_m_minus_one_degrees():
    for key in ("rubin_1987", "reiter_2003", *USING_R):
        variance, degrees = COMBINING_RULES[key].variance_and_degrees(
            np.array([0.0, 2.0, 0.0]), np.array([2.0, 0.0, 0.0]), sets=4
        )
        assert degrees.tolist() == [math.inf, 3, 3] and variance[1] > 0 == variance[2]


@pytest.mark.parametrize("key", COMBINING_RULES)
def test_no_variance_at_all_is_an_interval_of_width_zero(key):
    estimate, *_, low, high = analyzed(key, [0, 0, 0], 10, 10)
    assert low == high == 0.0 == estimate


def test_a_difference_that_is_zero_in_fractions_is_zero():
    # Two sets with counts 4 and 6 of 13: (3/2) b = 3/169 = v̄.
    tied = [
        (a, b, m)
        for m in range(1, 40)
        for a in range(m + 1)
        for b in range(a, m + 1)
        if 3 * m * (b - a) ** 2 == 2 * (a * (m - a) + b * (m - b)) and a != b
    ]
    assert (4, 6, 13) in tied and len(tied) == 6
    for a, b, m in tied:
        for key in (*USING_R, "raghunathan_2003_normal"):
            estimate, variance, *_, high = analyzed(key, [a, b], m, m)
            assert variance == 0 and high == estimate


NO_PRIOR = {"alpha": 1e-6, "beta": 1e-6}
RIGHT = [(BetaBinomial, ("raab_2017", "reiter_2003")), (PosteriorMean, ("raab_2017_plug_in", "reiter_2003"))]


@pytest.mark.parametrize(("synthesizer", "rules"), RIGHT)
@pytest.mark.parametrize(("n", "m", "sets"), [(5000, 500, 2), (5000, 500, 20), (2000, 2000, 5), (500, 5000, 20)])
def test_the_variances_for_partial_synthesis_are_right_on_average_for_any_ratio_of_rows(synthesizer, rules, n, m, sets):
    """Linear in b and v̄: E[T] is T at their closed-form means. Without a prior it is Var(q̄) up to 1/n and 1/m."""
    moments = set_moments(synthesizer(n=n, m=m, **NO_PRIOR), p=0.3, sets=sets)
    for key in rules:
        variance, _ = COMBINING_RULES[key].variance_and_degrees(
            np.array(moments.mean_between), np.array(moments.mean_within), sets=sets, synthetic_ratio=m / n
        )
        assert float(variance) == pytest.approx(moments.variance_estimate, rel=5e-3), key


@pytest.mark.parametrize(("synthesizer", "rules"), RIGHT)
@pytest.mark.parametrize(("m", "sets"), [(10, 5), (100, 5), (1000, 2)])
def test_the_rules_for_partial_synthesis_cover_for_any_ratio_of_rows(synthesizer, rules, m, sets):
    """Ten times as many synthetic rows are not ten times as many people."""
    found = exact_coverages(synthesizer=synthesizer(n=100, m=m, **NO_PRIOR), p=0.3, sets=sets, rules=rules)
    for key in rules:
        assert 0.92 <= found[key].coverage <= 0.965, key  # counts are whole numbers: 0 to 10 at m = 10
        assert (synthesizer, m) != (PosteriorMean, 1000) or round(found[key].coverage, 3) == 0.944


@pytest.mark.parametrize(("sets", "normal", "by_r"), [(2, 0.775, 0.870), (5, 0.635, 0.842), (10, 0.472, 0.692)])
def test_charests_figure_says_what_the_normal_quantile_gives_where_t_is_negative(sets, normal, by_r):
    """Her “barely reaches 80 %” for two sets, and less for more of them, is not what ν of r gives."""
    rules = ("reiter_2002_normal", "reiter_2002")
    found = exact_coverages(synthesizer=charest(3, sets), p=0.25, sets=sets, rules=rules)
    assert [round(coverage.coverage, 3) for coverage in found.values()] == [normal, by_r]


def test_an_end_that_rounding_misses_is_reached():
    assert contains(np.array(0.1 + 0.2), np.array(0.1 + 0.2), 0.3)
    assert contains(np.array(0.5 - 0.2), np.array(0.5 + 0.2), 0.7)
    assert not contains(np.array(0.5 - 0.2), np.array(0.5 + 0.2), 0.7 + 1e-9)
    assert not contains(np.array(math.nan), np.array(math.nan), 0.3)
    assert contains(np.array(-math.inf), np.array(math.inf), 0.9)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: check_rule("rubin_1987", 1), r"Rubin 1987.* needs at least 2 sets; got 1"),
    (lambda: check_rule("median", 3), r"rule must be one of reiter_2002, .*; got 'median'"),
    (lambda: check_rule("as_if_real", 0), "sets"),
    (lambda: analyzed("as_if_real", [3, 11], 10, 10), "counts must be a whole number from 0 to 10; got 11"),
    (lambda: COMBINING_RULES["as_if_real"].interval_from([3, 4], synthesizer=charest(1, 2), level=1.0), "level"),
])  # fmt: skip
def test_what_is_out_of_its_domain_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_single_set_has_the_rules_without_a_variance_between():
    for_one_set = [key for key, rule in COMBINING_RULES.items() if rule.min_sets == 1]
    assert for_one_set == ["raab_2017", "raab_2017_plug_in", "as_if_real"]
    assert all(rule.min_sets == 1 for rule in NOISE_AWARE_RULES.values())
    assert list(RULES) == [*COMBINING_RULES, *NOISE_AWARE_RULES]
