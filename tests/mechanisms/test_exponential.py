"""The exponential mechanism on the distance of the distribution functions, against lists of all data sets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.mechanisms import ExponentialCounts, ExponentialRows
from dpviz.mechanisms.exponential import ExponentialMechanism
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from tests.referees import listed_delta

BOTH: list[type[ExponentialMechanism]] = [ExponentialRows, ExponentialCounts]
both = pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.key)


def distance(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """The Kolmogorov distance of the empirical distribution functions of two lists of numbers."""
    ends = sorted({*first, *second})
    below = [[sum(one <= end for one in data) / len(data) for end in ends] for data in (first, second)]
    return max(abs(one - other) for one, other in zip(*below, strict=True))


def entries(made: ExponentialMechanism) -> list[list[mp.mpf]]:
    """The whole matrix in mpmath."""
    n, m, epsilon = made.n, made.m, mp.mpf(made.epsilon)
    ways = [math.comb(m, j) if isinstance(made, ExponentialRows) else 1 for j in range(m + 1)]
    rows = [[ways[j] * mp.exp(-epsilon / 2 * abs(x - mp.mpf(j) * n / m)) for j in range(m + 1)] for x in range(n + 1)]
    return [[one / mp.fsum(row) for one in row] for row in rows]


@pytest.mark.parametrize(("n", "m", "epsilon"), [(4, 4, 1.3), (3, 5, 0.4), (5, 2, 6.0)])
def test_each_data_set_is_as_likely_as_its_distribution_function_is_near(n: int, m: int, epsilon: float) -> None:
    expected = np.zeros((n + 1, m + 1))
    for x in range(n + 1):
        data = (1,) * x + (0,) * (n - x)
        for released in itertools.product((0, 1), repeat=m):
            expected[x, sum(released)] += math.exp(-epsilon * n * distance(data, released) / 2)
    expected /= expected.sum(axis=1, keepdims=True)
    found = ExponentialRows(n=n, m=m, epsilon=epsilon).transition_matrix()
    assert np.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_one_row_changes_the_distance_by_one_in_n_and_some_row_does(n: int) -> None:
    changes = [
        abs(distance(data, released) - distance((1 - data[0], *data[1:]), released))
        for data in itertools.product((0, 1), repeat=n)
        for released in itertools.product((0, 1), repeat=n)
    ]
    assert max(changes) == pytest.approx(1 / n, abs=1e-12)


@both
@pytest.mark.parametrize(
    ("n", "m", "epsilon"), [(6, 6, 1e-6), (6, 9, 0.1), (9, 5, 1e-6), (7, 7, 3.0), (1, 1, 1e3), (5, 8, 700.0)]
)
def test_log_odds_are_those_of_many_digits(cls: Any, n: int, m: int, epsilon: float) -> None:
    made = cls(n=n, m=m, epsilon=epsilon)
    found = made.log_odds_table()
    with mp.workdps(400):
        exact = [[float(mp.log(one / other)) for one, other in zip(*pair, strict=True)]
                 for pair in itertools.pairwise(entries(made))]  # fmt: skip
    assert np.allclose(found, exact, rtol=1e-12, atol=1e-14 * epsilon)
    assert pure_epsilon(made) == pytest.approx(np.abs(exact).max(), rel=1e-13)


@both
def test_the_promise_is_kept_and_at_least_half_of_it_used(cls: type[ExponentialMechanism]) -> None:
    for n, m, epsilon in itertools.product((1, 2, 20, 150), (1, 20, 150), (1e-3, 0.5, 3.0, 40.0)):
        assert epsilon / 2 * (1 - 1e-12) <= pure_epsilon(cls(n=n, m=m, epsilon=epsilon)) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("key", "cls"), [("exponential_sequences", BOTH[0]), ("exponential_counts", BOTH[1])])
@pytest.mark.parametrize(("n", "epsilon"), [(100, 1.0), (30, 0.1), (7, 5.0)])
def test_the_audit_of_the_printed_mechanism_finds_the_same(key: str, cls, n: int, epsilon: float) -> None:
    method = RELEASE_METHODS[key]
    audited = method.loss(ReleaseSetting(n=n, epsilon=epsilon, cell=2))
    assert pure_epsilon(cls(n=n, m=n, epsilon=epsilon)) == pytest.approx(audited.at_least, rel=1e-9)


@both
def test_with_half_the_sensitivity_the_promise_is_broken(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cost = ExponentialMechanism._cost
    monkeypatch.setattr(ExponentialMechanism, "_cost", lambda self, rows, columns: 2 * cost(self, rows, columns))
    made = cls(n=30, m=30, epsilon=0.5)
    assert np.abs(np.diff(made.log_transition_matrix(), axis=0)).max() > 1.4 * made.epsilon
    assert delta_for_epsilon(made, made.epsilon) > 1e-6


@both
def test_delta_of_neighbours_that_are_nearly_alike_keeps_its_digits(cls: type[ExponentialMechanism]) -> None:
    made = cls(n=6, m=6, epsilon=1e-6)
    epsilon = 0.9 * pure_epsilon(made)
    with mp.workdps(40):
        rows = entries(made)
        exact = max(
            mp.fsum(max(one - mp.exp(mp.mpf(epsilon)) * other, mp.mpf(0)) for one, other in zip(*pair, strict=True))
            for near in itertools.pairwise(rows)
            for pair in (near, near[::-1])
        )
    assert delta_for_epsilon(made, epsilon) == pytest.approx(float(exact), rel=1e-10, abs=0)
    assert delta_for_epsilon(cls(n=6, m=6, epsilon=1.0), 0.2) == pytest.approx(
        listed_delta(cls(n=6, m=6, epsilon=1.0), 0.2), rel=1e-12
    )
