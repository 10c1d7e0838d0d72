"""One of k categories: what is known of its share, and what a release of all counts gives away."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multinomial

from dpviz.calibration.methods import method_of
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons import Analysis, CategoryData, EqualPrivacy
from dpviz.comparisons.categories import CategoryMethod
from dpviz.coverage import exact_coverage
from dpviz.designs import Design
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy import delta_for_epsilon
from tests.referees import divergence, listed_delta, of_sets

METHODS: dict[str, Any] = {method.key: method for method in CategoryData.methods}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=lambda one: one.key)


def small(method: CategoryMethod, n: int = 3, m: int = 2, cells: int = 3, p: float = 0.2) -> CategoryData:
    """Few rows, of which as many are released as the method can."""
    data = CategoryData(n=n, m=m, cells=cells, p=p)
    return CategoryData(n=n, m=n, cells=cells, p=p) if method.absence(data) else data


@every_method
@pytest.mark.parametrize("cells", [3, 4])
def test_the_count_of_a_category_depends_on_its_own_confidential_count_alone(method, cells):
    data = small(method, cells=cells)
    table, made = method.table(data, 1.3), method.synthesizer(data, 1.3)
    matrix, rows = table.transition_matrix(), made.transition_matrix()
    for counts, chances in zip(table.row_counts, matrix, strict=True):
        for cell in range(cells):
            found = np.bincount(table.column_counts[:, cell], chances, data.m + 1)
            assert found == pytest.approx(rows[counts[cell]], rel=1e-12)


@every_method
def test_bias_error_and_release_error_are_those_of_all_tables(method):
    data, epsilon, sets = small(method), 1.7, method.sets(2)
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


@every_method
@pytest.mark.parametrize("cells", [3, 5])
def test_the_privacy_is_that_of_all_counts(method, cells):
    data = small(method, cells=cells)
    table = method.table(data, 1.3)
    real = float(np.abs(table.log_odds_table()).max())
    assert method.real_epsilon(data, 1.3, 1) == pytest.approx(real, rel=1e-12)
    assert real == pytest.approx(1.3, rel=1e-9)
    for epsilon in (0.0, 0.4, 1.0, 1.3):
        worst: Any = method.real_delta(data, 1.3, 1, epsilon)
        assert worst.value == pytest.approx(listed_delta(table, epsilon), abs=1e-13)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 2)])
def test_several_sets_together_are_as_private_as_the_list_of_all_says(n, m):
    data, method = CategoryData(n=n, m=m, cells=3, p=0.2), METHODS["dirichlet_multinomial"]
    table = method.table(data, 0.6)
    together = of_sets(table.transition_matrix(), 2)
    assert method.real_epsilon(data, 1.2, 2) == pytest.approx(1.2, rel=1e-9)
    for epsilon in (0.2, 0.7):
        worst: Any = method.real_delta(data, 1.2, 2, epsilon)
        assert worst.value == pytest.approx(divergence(together, table.neighbours, epsilon), rel=1e-9)


def test_a_promise_with_delta_takes_the_smallest_prior_for_all_sets():
    data, method = CategoryData(n=30, m=20, cells=4, p=0.2), METHODS["dirichlet_multinomial"]
    for sets in (1, 3):
        setting: Any = EqualPrivacy(1e-4).setting(method, data, 1.0, sets)
        alpha = method.synthesizer(data, setting / sets).alpha
        least = minimum_prior_for_sets("synth_post_one", n=30, m=20, cells=4, sets=sets, epsilon=1.0, delta=1e-4)
        assert alpha == pytest.approx(least, rel=1e-4)


@every_method
@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize(("n", "m"), [(30, 30), (30, 12), (3000, 1000), (5000, 5000), (10_000, 10_000)])
def test_other_pages_make_exactly_this_release_where_they_know_it(method, n, m, sets):
    data, together = CategoryData(n=n, m=m, cells=7, p=0.1), method.sets(sets)
    if method.absence(data):
        assert method.key == "laplace_cells" and n != m
        return
    shared: dict[str, Any] = {"epsilon": 1.3, "delta": 1e-6, "rules": ("score",), "level": 0.9, "seed": 7}
    design = method.design(data, 1.1, together, **shared)
    assert (design is None) == (method.key != "laplace_cells" and (n > 5000 or m > 1000))
    if design is not None:
        assert design.synthesizer == method.table(data, 1.1 / together)
        assert {name: getattr(design, name) for name in shared} == shared
        assert Design.from_address(design.to_address()) == Design.from_json(design.to_json()) == design


@every_method
def test_ten_thousand_rows_have_exact_answers(method):
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


@pytest.mark.parametrize(("n", "m", "cells"), [(30, 20, 4), (400, 300, 6)])
def test_losses_that_are_next_to_impossible_may_be_left_out(n, m, cells):
    data, method = CategoryData(n=n, m=m, cells=cells, p=0.2), METHODS["dirichlet_multinomial"]
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
    method = METHODS["dirichlet_multinomial"]
    settings = {}
    for cells in (3, 20):
        data = CategoryData(n=10_000, m=10_000, cells=cells, p=0.01)
        settings[cells] = EqualPrivacy(1e-6).setting(method, data, 1.0, 3)
    assert settings[20] == pytest.approx(settings[3], rel=0.2)
    assert method.real_delta(CategoryData(n=10_000, m=10_000, cells=3, p=0.1), 1.0, 3, 0.3) is None


def test_the_prior_of_many_categories_pulls_to_an_even_share_unless_that_is_taken_back():
    data, method = CategoryData(n=1000, m=1000, cells=4, p=0.7), METHODS["dirichlet_multinomial"]
    naive, aware = (
        next(data.outcomes(method, 0.01, 0.01, Analysis(sets=1, rule=rule))) for rule in ("rubin_1987", "score")
    )
    assert naive.bias.value == pytest.approx(0.25 - 0.7, abs=0.01)
    assert aware.bias.value == pytest.approx(0, abs=1e-13)


def test_what_does_not_fit_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"cells \(categories\) must be a whole number from 3 to 100; got 2"):
        CategoryData(n=10, m=10, cells=2, p=0.5)
    few = CategoryData(n=10, m=3000, cells=3, p=0.5)
    long = "its δ is too long a sum for more than 20 times as many rows as there are"
    assert METHODS["laplace_cells"].absence(few) == "releases as many rows as there are, so m must be n"
    assert METHODS["dirichlet_multinomial"].absence(few) == METHODS["multinomial_mean"].absence(few) == long
