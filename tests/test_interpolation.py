"""The draws given every count as sums of those at a few nodes: against every release, listed one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpviz.core.types import FloatArray
from dpviz.coverage._interpolation import at_few_nodes
from dpviz.coverage._points import CountDistributions
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer


def smooth(n: int, m: int, prior: float) -> FloatArray:
    return matrix_rows(BetaBinomial(n=n, m=m, alpha=prior, beta=prior), np.arange(n + 1))


@pytest.mark.parametrize(
    ("n", "m", "prior", "sets"), [(60, 12, 100.0, 3), (40, 6, 100.0, 4), (120, 20, 60.0, 2), (300, 100, 900.0, 1)]
)
@pytest.mark.parametrize("within", [1e-5, 1e-9])
def test_the_draws_given_every_count_are_off_by_no_more_than_the_bound(
    n: int, m: int, prior: float, sets: int, within: float
) -> None:
    rows = smooth(n, m, prior)
    found = at_few_nodes(rows, sets, within, alike=True)
    assert found is not None
    assert len(found.rows) < 0.8 * (n + 1)
    listed = np.array([*product(range(m + 1), repeat=sets)]).T
    at_nodes = np.prod([found.rows[:, one] for one in listed], axis=0)
    off = [
        np.abs(share @ at_nodes - np.prod([row[one] for one in listed], axis=0)).sum()
        for row, share in zip(rows[:: n // 15], found.shares[:: n // 15], strict=True)
    ]
    assert 0 < max(off) <= found.error == 2 * within


def test_a_tenth_of_what_may_be_off_takes_few_nodes_more() -> None:
    """The bound falls with the number of nodes, and is not far from what is off: without either it would be useless."""
    rows = smooth(125, 125, 338.0)
    few, more = (at_few_nodes(rows, 7, within, alike=True) for within in (1e-8, 1e-9))
    assert few is not None and more is not None
    assert len(few.rows) < len(more.rows) <= len(few.rows) + 4 < 45


@pytest.mark.parametrize(
    ("rows", "sets"),
    [
        (matrix_rows(GeometricSanitizer(n=60, epsilon=2.0), np.arange(61)), 3),
        (smooth(20, 20, 0.1), 5),
        (smooth(1, 1, 1.0), 3),
        (smooth(5, 5, 1.0)[:1], 3),
        (np.eye(30), 3),
    ],
    ids=["kinks", "steep", "two", "one", "identity"],
)
def test_rows_that_no_polynomial_of_few_degrees_fits_are_taken_as_they_are(rows: FloatArray, sets: int) -> None:
    assert at_few_nodes(rows, sets) is None


@pytest.mark.parametrize("beta", [150.0, 220.0], ids=["alike", "skewed"])
def test_a_mean_given_each_count_is_that_of_its_own_transform(beta: float) -> None:
    """Of S, which is M m (α + x) / (α + β + n): by the nodes, whose other half is the mirror where that is possible."""
    n, m, sets, alpha = 80, 60, 5, 150.0
    made = CountDistributions(BetaBinomial(n=n, m=m, alpha=alpha, beta=beta), sets, np.arange(n + 1), few=True)
    values = np.empty(len(made.places))
    for place in made.places.tolist():
        known = made.known(place)
        given = made.given(known)
        mean = float(given.probabilities @ made.releases.total.ravel()[given.part])
        values[place] = mean if known == place else sets * m - mean
    assert len(values) < 0.6 * (n + 1)
    expected = sets * m * (alpha + np.arange(n + 1)) / (alpha + beta + n)
    assert made.at_counts(values) == pytest.approx(expected, abs=made.error * sets * m)
    first, weights = made.over_places(10, np.array([0.25, 0.75]))
    assert weights @ values[first:] == pytest.approx(0.25 * expected[10] + 0.75 * expected[11], abs=1e-5)
