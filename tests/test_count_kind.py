"""A count of many rows: what releases it, as what design other pages know that, and what an analyst makes of it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.comparisons import Analysis, BinaryData, CountData
from dpviz.comparisons.binary_methods import BinaryMethod
from dpviz.designs import Design
from dpviz.synthesizers import GeometricSanitizer, LaplaceSanitizer

METHODS = {method.key: method for method in CountData.methods}
PROMISING = [method for method in CountData.methods if not method.reference]
QUICK = ("beta_binomial", "posterior_mean", "laplace", "geometric")
"""Methods that reach the largest n."""
every_promise = pytest.mark.parametrize("method", PROMISING, ids=lambda one: one.key)


def count(key: str) -> BinaryMethod:
    method = METHODS[key]
    assert isinstance(method, BinaryMethod)
    return method


@every_promise
@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 2), (2, 5)])
def test_bias_error_and_usable_share_are_those_of_the_list_of_all_releases(
    method: BinaryMethod, n: int, m: int
) -> None:
    data, epsilon, sets = CountData(n=n, m=m, p=0.3), 1.7, method.sets(2)
    if method.absence(data):
        assert n != m
        return
    rows = method.synthesizer(data, epsilon / sets).transition_matrix()
    assert rows.shape == (n + 1, m + 1)
    estimates, weights, lost = [], [], 0.0
    for x, counts in itertools.product(range(n + 1), itertools.product(range(m + 1), repeat=sets)):
        weight = binom.pmf(x, n, 0.3) * math.prod(rows[x, one] for one in counts)
        estimates.append(np.mean(counts) / m)
        weights.append(weight)
        lost += weight * (set(counts) in ({0}, {m}))
    away = np.array(estimates) - 0.3
    found = next(data.outcomes(method, epsilon, epsilon, Analysis(sets=2)))
    assert found.bias.value == pytest.approx(away @ weights, abs=1e-13)
    assert found.root_mean_squared_error.value == pytest.approx(math.sqrt(away**2 @ weights), abs=1e-13)
    if method.key != "laplace":  # which Bowen & Liu count before rounding
        assert found.usable_share.value == pytest.approx(1 - lost, abs=1e-13)


def test_as_many_rows_as_there_are_give_the_numbers_of_the_comparison() -> None:
    count_data, binary_data = CountData(n=40, m=40, p=0.2), BinaryData(n=40, p=0.2)
    for method in CountData.methods:
        if method.key != "geometric":
            one, other = (next(data.outcomes(method, 0.8, 0.8, Analysis(sets=3))) for data in (count_data, binary_data))
            assert repr(one) == repr(other)


@pytest.mark.parametrize("sets", [1, 4])
@pytest.mark.parametrize(("n", "m"), [(30, 30), (30, 12), (1000, 1000), (10_000, 300), (10_000, 10_000)])
def test_other_pages_make_exactly_this_release(n: int, m: int, sets: int) -> None:
    data, known = CountData(n=n, m=m, p=0.1), set()
    for method in CountData.methods:
        if not method.absence(data):
            count_of_sets = method.sets(sets)
            shared: dict[str, Any] = {"epsilon": 1.3, "delta": 1e-6, "rules": ("as_if_real",), "level": 0.9, "seed": 7}
            design = method.design(data, 1.1, count_of_sets, **shared)
            if design is not None:
                known.add(method.key)
                assert design.synthesizer == count(method.key).synthesizer(data, 1.1 / count_of_sets)
                assert (design.n, design.m, design.p, design.sets) == (n, m, 0.1, count_of_sets)
                assert {name: getattr(design, name) for name in shared} == shared
                assert Design.from_address(design.to_address()) == Design.from_json(design.to_json()) == design
    unknown = {"original", "modips", "modips_truncated"}  # a prior of a third of a row is not asked for elsewhere
    assert known == {one.key for one in CountData.methods if not one.absence(data)} - unknown
    assert known >= set(QUICK if n == m else QUICK[:2])


@every_promise
def test_a_method_that_cannot_release_the_data_says_why(method: BinaryMethod) -> None:
    few, fewer, many = (CountData(n=n, m=m, p=0.1) for n, m in ((1000, 1000), (1000, 999), (10_000, 10_000)))
    assert method.absence(few) == ""
    of_noise = isinstance(method.synthesizer(few, 1.0), LaplaceSanitizer | GeometricSanitizer)
    assert method.absence(fewer) == ("releases as many rows as there are, so m must be n" if of_noise else "")
    whole = "its whole table must be computed, at most 1,000 rows"
    assert method.absence(many) == ("" if method.key in QUICK else whole)
    if not method.absence(many):
        made = method.synthesizer(many, 0.5)
        assert (made.n, made.m) == (10_000, 10_000)
        assert made.row(3000).sum() == pytest.approx(1, rel=1e-9)


def test_sizes_beyond_the_limit_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"n \(confidential rows\) must be a whole number from 1 to 10,000; got"):
        CountData(n=10_001, m=5, p=0.5)
    with pytest.raises(ValueError, match=r"m \(synthetic rows\) must be a whole number from 1 to 10,000; got"):
        CountData(n=5, m=0, p=0.5)
