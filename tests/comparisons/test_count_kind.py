"""A count of many rows: what releases it, as what design other pages know that, and what an analyst makes of it."""

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons import Analysis, BinaryData, CountData, EqualPrivacy
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.designs import Design
from dpviz.mechanisms import GeometricSanitizer, LaplaceSanitizer, PoissonCount
from tests.helpers import check_close
from tests.referees import of_sets

METHODS = {method.key: method for method in CountData.methods if isinstance(method, BinaryMethod)}
PROMISING = [method for method in CountData.methods if not method.reference]
QUICK = ("beta_binomial", "posterior_mean", "laplace", "geometric")
"""Methods that reach the largest n."""
every_promise = pytest.mark.parametrize("method", PROMISING, ids=lambda one: one.key)


def all_counts(m: int, sets: int) -> np.ndarray:
    """Every tuple of released counts."""
    return np.array(list(itertools.product(range(m + 1), repeat=sets)))


SMALL = [BinaryData(n=3, p=0.3), *(CountData(n=n, m=m, p=0.3) for n, m in ((3, 3), (5, 2), (2, 5)))]
MATRIX_METHODS = [method for method in BinaryData.methods if isinstance(method, BinaryMethod)]


@pytest.mark.parametrize("method", MATRIX_METHODS, ids=lambda one: one.key)
@pytest.mark.parametrize("data", SMALL, ids=str)
def test_bias_error_and_usable_share_are_those_of_the_list_of_all_releases(data, method):
    epsilon, sets = 1.7, method.sets(2)
    if method.absence(data):
        assert data.n != data.m
        return
    rows = method.synthesizer(data, epsilon / sets).transition_matrix()
    assert rows.shape == (data.n + 1, data.m + 1) or method.reference
    m = rows.shape[1] - 1
    weights, counts = binom.pmf(np.arange(data.n + 1), data.n, 0.3) @ of_sets(rows, sets), all_counts(m, sets)
    lost = weights @ (counts.mean(axis=1) % m == 0)
    away = counts.mean(axis=1) / m - 0.3
    *_, found = data.outcomes(method, epsilon, epsilon, Analysis(sets=2))
    assert found.bias.value == pytest.approx(away @ weights, abs=1e-13)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(away**2 @ weights), abs=1e-13)
    assert found.usable_share.value == pytest.approx(1 - lost, abs=1e-13)


def test_as_many_rows_as_there_are_give_the_numbers_of_the_comparison():
    count_data, binary_data = CountData(n=40, m=40, p=0.2), BinaryData(n=40, p=0.2)
    for method in CountData.methods:
        if method.key != "geometric":
            one, other = (next(data.outcomes(method, 0.8, 0.8, Analysis(sets=3))) for data in (count_data, binary_data))
            check_close([one.measures, one.release_error], [other.measures, other.release_error])
            assert (one.method.key, one.setting, one.sets) == (other.method.key, other.setting, other.sets)


@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize(("n", "m"), [(30, 30), (30, 12), (1000, 1000), (10_000, 300), (10_000, 10_000)])
def test_other_pages_make_exactly_this_release(n, m, sets):
    data, known = CountData(n=n, m=m, p=0.1), set()
    for method in CountData.methods:
        if not method.absence(data):
            count_of_sets = method.sets(sets)
            shared: dict[str, Any] = {"epsilon": 1.3, "delta": 1e-6, "rules": ("as_if_real",), "level": 0.9, "seed": 7}
            design = method.design(data, 1.1, count_of_sets, **shared)
            if design is not None:
                known.add(method.key)
                assert design.synthesizer == METHODS[method.key].synthesizer(data, 1.1 / count_of_sets)
                assert (design.n, design.m, design.p, design.sets) == (n, m, 0.1, count_of_sets)
                assert {name: getattr(design, name) for name in shared} == shared
                assert Design.from_address(design.to_address()) == Design.from_json(design.to_json()) == design
    unknown = {"original", "modips", "modips_truncated"}  # a prior of a third of a row is not asked for elsewhere
    assert known == {one.key for one in CountData.methods if not one.absence(data)} - unknown
    assert known >= set(QUICK if n == m else QUICK[:2])


@every_promise
def test_a_method_that_cannot_release_the_data_says_why(method):
    few, fewer, many = (CountData(n=n, m=m, p=0.1) for n, m in ((1000, 1000), (1000, 999), (10_000, 10_000)))
    assert method.absence(few) == ""
    of_n = isinstance(method.synthesizer(few, 1.0), LaplaceSanitizer | GeometricSanitizer | PoissonCount)
    assert method.absence(fewer) == ("releases as many rows as there are, so m must be n" if of_n else "")
    whole = "its whole table must be computed, at most 1,000 rows"
    assert method.absence(many) == ("" if method.key in QUICK else whole)
    if not method.absence(many):
        made = method.synthesizer(many, 0.5)
        assert (made.n, made.m) == (10_000, 10_000)
        assert made.row(3000).sum() == pytest.approx(1, rel=1e-9)


NOISE = [LaplaceSanitizer, GeometricSanitizer]


@pytest.mark.parametrize("law", NOISE)
@pytest.mark.parametrize("n", [1, 2, 3, 60])
@pytest.mark.parametrize("epsilon", [5e-7, 1e-3, 0.3, 2.0, 30.0, 400.0])
def test_moments_of_clipped_noise_are_the_sums_over_the_matrix(law, n, epsilon):
    made = law(n=n, epsilon=epsilon)
    rows, q = made.transition_matrix(), np.arange(n + 1) / n
    mean, variance = made.proportion_moments()
    expected = rows @ q
    assert mean == pytest.approx(expected, rel=1e-12, abs=1e-290)
    assert variance == pytest.approx(np.sum(rows * (q - expected[:, None]) ** 2, axis=1), rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("law", NOISE)
@pytest.mark.parametrize("x", [0, 1, 4_999, 9_000])
def test_moments_of_clipped_noise_in_many_rows_are_those_of_mpmath(law, x):
    n, epsilon = 10_000, 2e-4
    with mp.workdps(30):
        e = mp.mpf(epsilon)
        inside = (mp.expm1(e) / mp.exp(e / 2) / 2) if law is LaplaceSanitizer else mp.tanh(e / 2)
        tail = mp.exp(-e / 2) / 2 if law is LaplaceSanitizer else 1 / (1 + mp.exp(e))  # of 1 or more
        powers = list(itertools.accumulate(range(n), lambda power, _: power * mp.exp(-e), initial=mp.mpf(1)))

        def moment(power, room):
            """Of the noise towards one end, so many steps away."""
            steps = mp.fsum(powers[d] * mp.mpf(d) ** power for d in range(1, room)) * inside
            return steps + mp.mpf(room) ** power * tail * powers[room - 1] if room else 0

        first, second = (moment(power, n - x) + (-1) ** power * moment(power, x) for power in (1, 2))
        expected = [float((x + first) / n), float((second - first**2) / n**2)]
    found = law.up_to(n)(n=n, epsilon=epsilon).proportion_moments()
    assert [float(part[x]) for part in found] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("key", QUICK)
def test_ten_thousand_rows_have_exact_answers(key):
    data, method = CountData(n=10_000, m=10_000, p=0.003), METHODS[key]
    *_, found = data.outcomes(method, 0.5, 0.5, Analysis(sets=1))
    assert found.is_exact("coverage")
    assert not any(math.isnan(one.value) for one in found.measures.values())
    made = method.synthesizer(data, 0.5)
    counts = np.arange(120)  # Pr(x ≥ 120) is below 10⁻³⁰
    rows, q = np.exp(made.log_transition(counts, np.arange(10_001))), np.arange(10_001) / 10_000
    law = binom.pmf(counts, 10_000, 0.003) @ rows
    assert found.bias.value == pytest.approx(law @ q - 0.003, rel=1e-8, abs=1e-14)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(law @ (q - 0.003) ** 2), rel=1e-9)
    width = 1.959963984540054 * np.sqrt(q * (1 - q) / 10_000)
    assert found.coverage.value == pytest.approx(law[np.abs(q - 0.003) <= width * (1 + 1e-12)].sum(), abs=1e-8)
    if key != "laplace":
        assert found.usable_share.value == pytest.approx(1 - law[0] - law[-1], abs=1e-11)
    assert found.real_epsilon == pytest.approx(0.5, rel=1e-9)
    worst: Any = method.real_delta(data, 0.5, 1, 0.3)
    pair = np.exp(made.log_transition(np.array([worst.likelier, worst.unlikelier]), np.arange(10_001)))
    assert worst.value == pytest.approx(float(np.maximum(pair[0] - math.exp(0.3) * pair[1], 0).sum()), abs=1e-13)


def test_many_sets_of_ten_thousand_rows_are_simulated_and_say_so():
    data, method = CountData(n=10_000, m=2_000, p=0.3), METHODS["beta_binomial"]
    *_, found = data.outcomes(method, 5.0, 5.0, Analysis(sets=5, repetitions=500))
    assert found.coverage.error > 0
    assert found.bias.error == found.root_mean_squared_error.error == 0
    *_, aware = data.outcomes(method, 5.0, 5.0, Analysis(sets=5, rule="score", repetitions=500))
    assert aware.coverage.value == pytest.approx(0.95, abs=0.03)


def test_many_sets_of_ten_thousand_rows_with_delta_have_the_smallest_prior_for_all_of_them():
    data, method = CountData(n=10_000, m=1_000, p=0.3), METHODS["beta_binomial"]
    setting: Any = EqualPrivacy(1e-6).setting(method, data, 1.0, 5)
    made: Any = method.synthesizer(data, setting / 5)
    least = minimum_prior_for_sets("synth_post_one", n=10_000, m=1_000, sets=5, epsilon=1.0, delta=1e-6)
    assert made.alpha == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("key", ["laplace", "geometric"])
def test_noise_in_ten_thousand_rows_has_a_score_interval(key):
    data = CountData(n=10_000, m=10_000, p=0.01)
    *_, found = data.outcomes(METHODS[key], 0.02, 0.02, Analysis(sets=1, rule="score"))
    assert found.coverage.error == 0
    assert found.coverage.value == pytest.approx(0.95, abs=0.02)
    *_, naive = data.outcomes(METHODS[key], 0.02, 0.02, Analysis(sets=1, rule="as_if_real"))
    assert naive.coverage.value < 0.4


def test_a_rule_without_a_table_for_so_many_rows_has_no_interval():
    data = CountData(n=10_000, m=10_000, p=0.3)
    for rule in ("posterior", "clopper_pearson", "blaker_2000"):
        *_, found = data.outcomes(METHODS["laplace"], 1.0, 1.0, Analysis(sets=1, rule=rule))
        assert math.isnan(found.coverage.value) and math.isnan(found.mean_width.value)


def test_sizes_beyond_the_limit_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"n \(people\) must be a whole number from 1 to 10,000; got"):
        CountData(n=10_001, m=5, p=0.5)
    with pytest.raises(ValueError, match=r"m \(released rows\) must be a whole number from 1 to 10,000; got"):
        CountData(n=5, m=0, p=0.5)


AWARE = ("score", "posterior", "clopper_pearson", "blaker_2000")


@every_promise
@pytest.mark.parametrize("rule", AWARE)
def test_who_knows_how_sets_were_made_corrects_the_estimate(method, rule):
    """Every release is listed, and what is concluded from it is worked out by Bayes' theorem, or from E[q̄ | x]."""
    n, m, p, epsilon = 5, 5, 0.3, 2.5
    data, analysis, sets = CountData(n=n, m=m, p=p), Analysis(sets=2, rule=rule), method.sets(2)
    rows = method.synthesizer(data, epsilon / sets).transition_matrix()
    counts, chances = all_counts(m, sets), of_sets(rows, sets)
    by_sum = np.array([chances[:, counts.sum(axis=1) == s].sum(axis=1) for s in range(sets * m + 1)])
    means = rows @ np.arange(m + 1) / m
    estimates = counts.mean(axis=1) / m
    if rule == "posterior":  # ∫ p Binomial(x; n, p) dp = (x + 1) / ((n + 1)(n + 2)), and 1 / (n + 1) without the p
        estimates = (by_sum @ (np.arange(n + 1) + 1) / (n + 2) / by_sum.sum(axis=1))[counts.sum(axis=1)]
    elif method.key in ("beta_binomial", "posterior_mean"):
        assert np.diff(means, 2) == pytest.approx(0, abs=1e-12)
        estimates = (estimates - means[0]) / (means[-1] - means[0])
    weights, x = binom.pmf(np.arange(n + 1), n, p), np.arange(n + 1) / n
    found = next(data.outcomes(method, epsilon, epsilon, analysis))
    assert found.bias.value == pytest.approx(weights @ chances @ (estimates - p), abs=1e-12)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(weights @ chances @ (estimates - p) ** 2))
    added = np.mean(np.einsum("xc,xc->x", chances, (estimates - x[:, None]) ** 2))
    assert found.release_error.value == pytest.approx(math.sqrt(added))
    if method.key != "geometric":
        published = next(BinaryData(n=n, p=p).outcomes(method, epsilon, epsilon, analysis))
        assert published.bias == next(data.outcomes(method, epsilon, epsilon, Analysis(sets=2, rule="rubin_1987"))).bias


def test_a_prior_that_pulls_leaves_no_bias_in_many_rows_either():
    data = CountData(n=10_000, m=2_000, p=0.003)
    made: Any = METHODS["beta_binomial"].synthesizer(data, 0.5)
    whole = 2 * made.alpha + 10_000
    theta = (made.alpha + 30) / whole
    square = 0.003 * 0.997 / 10_000 + theta * (1 - theta) * (whole / 2_000 + 1) / (whole + 1) * (whole / 10_000) ** 2
    for rule in ("score", "posterior"):  # of so many sums no posterior is made
        found = next(data.outcomes(METHODS["beta_binomial"], 0.5, 0.5, Analysis(sets=1, rule=rule)))
        assert abs(found.bias.value) < 1e-15
        assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(square), rel=1e-3)
