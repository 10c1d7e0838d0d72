"""Counts of many rows, of one category or of k: their releases, designs on other pages, and what is made of them."""

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom, multinomial

from dpviz.calibration.methods import method_of
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons import Analysis, BinaryData, CategoryData, CountData, EqualPrivacy
from dpviz.comparisons.categories import CategoryMethod
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.coverage import exact_coverage
from dpviz.designs import Design
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PoissonCount
from dpviz.privacy import delta_for_epsilon
from tests.referees import divergence, listed_delta, of_sets

METHODS = {method.key: method for method in CountData.methods if isinstance(method, BinaryMethod)}
OF_CELLS: dict[str, Any] = {method.key: method for method in CategoryData.methods}
PROMISING = [method for method in CountData.methods if not method.reference]
QUICK = ("beta_binomial", "posterior_mean", "laplace", "geometric")
"""Methods that reach the largest n."""
every_promise = pytest.mark.parametrize("method", PROMISING, ids=lambda method: method.key)
every_method_of_cells = pytest.mark.parametrize("method", OF_CELLS.values(), ids=lambda method: method.key)


def all_counts(m: int, sets: int) -> np.ndarray:
    """Every tuple of released counts."""
    return np.array(list(itertools.product(range(m + 1), repeat=sets)))


def few_rows(method: CategoryMethod, cells: int = 3) -> CategoryData:
    """Three rows, of which two are released, or three where the method releases as many as there are."""
    data = CategoryData(n=3, m=2, cells=cells, p=0.2)
    return CategoryData(n=3, m=3, cells=cells, p=0.2) if method.absence(data) else data


# Lists of all releases


SMALL = [BinaryData(n=3, p=0.3), *(CountData(n=n, m=m, p=0.3) for n, m in ((3, 3), (5, 2), (2, 5)))]
MATRIX_METHODS = [method for method in BinaryData.methods if isinstance(method, BinaryMethod)]


@pytest.mark.parametrize("method", MATRIX_METHODS, ids=lambda one: one.key)
@pytest.mark.parametrize("data", SMALL, ids=str)
def test_bias_errors_and_usable_share_are_those_of_the_list_of_all_releases(data, method):
    epsilon, sets = 1.7, method.sets(2)
    if method.absence(data):
        assert data.n != data.m
        return
    rows = method.synthesizer(data, epsilon / sets).transition_matrix()
    assert rows.shape == (data.n + 1, data.m + 1) or method.reference
    m, x, every = rows.shape[1] - 1, np.arange(data.n + 1), of_sets(rows, sets)
    weights, estimates = binom.pmf(x, data.n, 0.3) @ every, all_counts(m, sets).mean(axis=1) / m
    added = np.mean(np.sum(every * (estimates - x[:, None] / data.n) ** 2, axis=1))
    *_, found = data.outcomes(method, epsilon, epsilon, Analysis(sets=2))
    assert found.bias.value == pytest.approx((estimates - 0.3) @ weights, abs=1e-13)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt((estimates - 0.3) ** 2 @ weights), abs=1e-13)
    assert found.release_error.value == pytest.approx(math.sqrt(added), abs=1e-13)
    assert found.usable_share.value == pytest.approx(weights @ ((estimates > 0) & (estimates < 1)), abs=1e-13)


@every_method_of_cells
@pytest.mark.parametrize("cells", [3, 4])
def test_the_count_of_a_category_depends_on_its_own_confidential_count_alone(method, cells):
    data = few_rows(method, cells=cells)
    table, made = method.table(data, 1.3), method.synthesizer(data, 1.3)
    matrix, rows = table.transition_matrix(), made.transition_matrix()
    for counts, chances in zip(table.row_counts, matrix, strict=True):
        for cell in range(cells):
            found = np.bincount(table.column_counts[:, cell], chances, data.m + 1)
            assert found == pytest.approx(rows[counts[cell]], rel=1e-12)


@every_method_of_cells
def test_bias_error_and_release_error_are_those_of_all_tables(method):
    data, epsilon, sets = few_rows(method), 1.7, method.sets(2)
    table, others = method.table(data, epsilon / sets), [0.5, 0.3]
    weights = multinomial.pmf(table.row_counts, data.n, [data.p, *others])
    every = of_sets(table.transition_matrix(), sets)
    shares = table.column_counts[:, 0] / data.m
    estimates = np.array([np.mean(one) for one in itertools.product(shares, repeat=sets)])
    found = next(data.outcomes(method, epsilon, epsilon, Analysis(sets=2)))
    chances = weights @ every
    assert found.bias.value == pytest.approx(chances @ (estimates - data.p), abs=1e-13)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(chances @ (estimates - data.p) ** 2))
    x = table.row_counts[:, 0]
    errors = np.sum(every * (estimates - x[:, None] / data.n) ** 2, axis=1)
    by_count = [errors[x == one].mean() for one in range(data.n + 1)]
    assert found.release_error.value == pytest.approx(math.sqrt(np.mean(by_count)))
    assert found.release_error.value >= data.least_error(epsilon).lower_bound


@every_method_of_cells
@pytest.mark.parametrize("cells", [3, 5])
def test_the_privacy_is_that_of_all_counts(method, cells):
    data = few_rows(method, cells=cells)
    table = method.table(data, 1.3)
    real = float(np.abs(table.log_odds_table()).max())
    assert method.real_epsilon(data, 1.3, 1) == pytest.approx(real, rel=1e-12)
    assert real == pytest.approx(1.3, rel=1e-9)
    for epsilon in (0.0, 0.4, 1.0, 1.3):
        worst: Any = method.real_delta(data, 1.3, 1, epsilon)
        assert worst.value == pytest.approx(listed_delta(table, epsilon), abs=1e-13)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 2)])
def test_several_sets_together_are_as_private_as_the_list_of_all_says(n, m):
    data, method = CategoryData(n=n, m=m, cells=3, p=0.2), OF_CELLS["dirichlet_multinomial"]
    table = method.table(data, 0.6)
    together = of_sets(table.transition_matrix(), 2)
    assert method.real_epsilon(data, 1.2, 2) == pytest.approx(1.2, rel=1e-9)
    for epsilon in (0.2, 0.7):
        worst: Any = method.real_delta(data, 1.2, 2, epsilon)
        assert worst.value == pytest.approx(divergence(together, table.neighbours, epsilon), rel=1e-9)


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


# Other pages and other kinds


@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize("size", [(30, 30), (30, 12), (1000, 1000), (3000, 1000), (5000, 5000), (10_000, 300)])
def test_other_pages_make_exactly_this_release_where_they_know_it(size, sets):
    n, m = size
    shared: dict[str, Any] = {"epsilon": 1.3, "delta": 1e-6, "rules": ("score",), "level": 0.9, "seed": 7}
    for data in (CountData(n=n, m=m, p=0.1), CategoryData(n=n, m=m, cells=7, p=0.1)):
        released, known = [method for method in data.methods if not method.absence(data)], set()
        for method in released:
            together = method.sets(sets)
            design = method.design(data, 1.1, together, **shared)
            if design is not None:
                known.add(method.key)
                made = method.synthesizer if isinstance(data, CountData) else method.table
                assert design.synthesizer == made(data, 1.1 / together)
                assert (design.n, design.m, design.sets) == (n, m, together)
                assert {name: getattr(design, name) for name in shared} == shared
                assert Design.from_address(design.to_address()) == Design.from_json(design.to_json()) == design
        if isinstance(data, CountData):
            unknown = {"original", "modips", "modips_truncated"}  # no page else asks for a prior of a third of a row
            assert known >= set(QUICK if n == m else QUICK[:2])
        else:
            unknown = set(OF_CELLS) - {"laplace_cells"} if n > 5000 or m > 1000 else set()
        assert known == {method.key for method in released} - unknown


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


def test_what_a_method_cannot_release_is_told():
    few = CategoryData(n=10, m=3000, cells=3, p=0.5)
    long = "its δ is too long a sum for more than 20 times as many rows as there are"
    assert OF_CELLS["laplace_cells"].absence(few) == "releases as many rows as there are, so m must be n"
    assert OF_CELLS["dirichlet_multinomial"].absence(few) == OF_CELLS["multinomial_mean"].absence(few) == long


# Many rows


NOISE = [LaplaceSanitizer, GeometricSanitizer]


@pytest.mark.parametrize("law", NOISE)
@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.3), (2, 30.0), (3, 5e-7), (60, 2.0), (60, 400.0), (10_000, 2e-4)])
def test_moments_of_clipped_noise_are_those_of_mpmath(law, n, epsilon):
    with mp.workdps(30):
        e = mp.mpf(epsilon)
        inside = (mp.expm1(e) / mp.exp(e / 2) / 2) if law is LaplaceSanitizer else mp.tanh(e / 2)
        tail = mp.exp(-e / 2) / 2 if law is LaplaceSanitizer else 1 / (1 + mp.exp(e))  # of 1 or more
        powers = list(itertools.accumulate(range(n), lambda power, _: power * mp.exp(-e), initial=mp.mpf(1)))

        def moment(power, room):
            """Of the noise towards one end, so many steps away."""
            steps = mp.fsum(powers[d] * mp.mpf(d) ** power for d in range(1, room)) * inside
            return steps + mp.mpf(room) ** power * tail * powers[room - 1] if room else 0

        for x in {0, 1, n // 2, n * 9 // 10}:
            first, second = (moment(power, n - x) + (-1) ** power * moment(power, x) for power in (1, 2))
            expected = [float((x + first) / n), float((second - first**2) / n**2)]
            found = law.up_to(10_000)(n=n, epsilon=epsilon).proportion_moments()
            assert [float(part[x]) for part in found] == pytest.approx(expected, rel=1e-12, abs=1e-290)


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


@every_method_of_cells
def test_ten_thousand_rows_of_categories_have_exact_answers(method):
    data = CategoryData(n=10_000, m=10_000, cells=20, p=0.003)
    *_, found = data.outcomes(method, 0.8, 0.8, Analysis(sets=1))
    assert found.is_exact("coverage")
    assert not any(math.isnan(one.value) for one in found.measures.values())
    assert found.real_epsilon == pytest.approx(0.8, rel=1e-9)
    made = method.synthesizer(data, 0.8)
    exact = exact_coverage(synthesizer=made, p=0.003, sets=1, rule="as_if_real")
    assert found.coverage.value == pytest.approx(exact.coverage, rel=1e-12)
    worst: Any = method.real_delta(data, 0.8, 1, 0.3)
    # two counts alone tell less than all twenty, and noise in one cell alone has half of the loss
    assert delta_for_epsilon(made, 0.3) <= worst.value * (1 + 1e-9)


def test_many_sets_of_ten_thousand_rows_are_simulated_and_say_so():
    data, method = CountData(n=10_000, m=2_000, p=0.3), METHODS["beta_binomial"]
    *_, found = data.outcomes(method, 5.0, 5.0, Analysis(sets=5, repetitions=500))
    assert found.coverage.error > 0
    assert found.bias.error == found.root_mean_squared_error.error == 0
    *_, aware = data.outcomes(method, 5.0, 5.0, Analysis(sets=5, rule="score", repetitions=500))
    assert aware.coverage.value == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize(("data", "sets", "tolerance"), [
    (CountData(n=10_000, m=1_000, p=0.3), 5, 1e-5),
    (CategoryData(n=30, m=20, cells=4, p=0.2), 1, 1e-4),
    (CategoryData(n=30, m=20, cells=4, p=0.2), 3, 1e-4),
])  # fmt: skip
def test_a_promise_with_delta_takes_the_smallest_prior_for_all_sets(data, sets, tolerance):
    method = METHODS["beta_binomial"] if isinstance(data, CountData) else OF_CELLS["dirichlet_multinomial"]
    setting: Any = EqualPrivacy(1e-6).setting(method, data, 1.0, sets)
    made: Any = method.synthesizer(data, setting / sets)
    sizes: dict[str, Any] = {"n": data.n, "m": data.m, "cells": getattr(data, "cells", 2), "sets": sets}
    least = minimum_prior_for_sets("synth_post_one", epsilon=1.0, delta=1e-6, **sizes)
    assert made.alpha == pytest.approx(least, rel=tolerance)


@pytest.mark.parametrize(("n", "m", "cells"), [(30, 20, 4), (400, 300, 6)])
def test_losses_that_are_next_to_impossible_may_be_left_out(n, m, cells):
    data, method = CategoryData(n=n, m=m, cells=cells, p=0.2), OF_CELLS["dirichlet_multinomial"]
    alpha = method.synthesizer(data, 4.0).alpha
    every = method_of(BetaBinomial).cell_losses(n, m, cells, 0.0, alpha, alpha)
    some = method_of(BetaBinomial).cell_losses(n, m, cells, 1e-9, alpha, alpha)
    assert 0 < some.infinity_mass <= 1e-9
    for epsilon in (1.0, 2.5):
        left, whole = (loss.composed_delta(3, epsilon, resolution=1e-3) for loss in (some, every))
        assert whole * (1 - 1e-6) <= left <= whole * (1 + 1e-5) + 3e-9
        worst: Any = method.real_delta(data, 12.0, 3, epsilon)
        assert whole * (1 - 1e-6) <= worst.value <= whole * (1 + 1e-3) + 1e-19
        assert whole > 1e-12


def test_several_sets_of_ten_thousand_rows_with_delta_have_an_answer_unless_losses_are_too_many():
    method = OF_CELLS["dirichlet_multinomial"]
    settings = {}
    for cells in (3, 20):
        data = CategoryData(n=10_000, m=10_000, cells=cells, p=0.01)
        settings[cells] = EqualPrivacy(1e-6).setting(method, data, 1.0, 3)
    assert settings[20] == pytest.approx(settings[3], rel=0.2)
    assert method.real_delta(CategoryData(n=10_000, m=10_000, cells=3, p=0.1), 1.0, 3, 0.3) is None


@pytest.mark.parametrize("key", ["laplace", "geometric"])
def test_of_ten_thousand_noisy_rows_the_score_alone_knows_the_noise(key):
    """The other rules that know it have no table for so many rows, and without it intervals are too short."""
    data, coverage = CountData(n=10_000, m=10_000, p=0.01), {}
    for rule in ("score", "as_if_real", "posterior", "clopper_pearson", "blaker_2000"):
        *_, found = data.outcomes(METHODS[key], 0.02, 0.02, Analysis(sets=1, rule=rule))
        coverage[rule] = found.coverage
        assert math.isnan(found.mean_width.value) == math.isnan(found.coverage.value)
    assert coverage["score"].error == 0
    assert coverage["score"].value == pytest.approx(0.95, abs=0.02)
    assert coverage["as_if_real"].value < 0.4
    assert all(math.isnan(coverage[rule].value) for rule in ("posterior", "clopper_pearson", "blaker_2000"))


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


def test_the_prior_of_many_categories_pulls_to_an_even_share_unless_that_is_taken_back():
    data, method = CategoryData(n=1000, m=1000, cells=4, p=0.7), OF_CELLS["dirichlet_multinomial"]
    naive, aware = (
        next(data.outcomes(method, 0.01, 0.01, Analysis(sets=1, rule=rule))) for rule in ("rubin_1987", "score")
    )
    assert naive.bias.value == pytest.approx(0.25 - 0.7, abs=0.01)
    assert aware.bias.value == pytest.approx(0, abs=1e-13)
