"""Branch and bound over pairs of neighbours finds what a scan of all of them finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from dpviz.calibration.parameter_draw import log_parameter_delta
from dpviz.core.types import FloatArray
from dpviz.mechanisms.pair_divergence import MAX_PAIRS, PAIR_TOLERANCE, worst_pair
from dpviz.priors import release
from tests.referees import scipy_rows

PairDelta = Callable[[FloatArray, FloatArray], FloatArray]


def scan(delta: PairDelta, n: int, ones: float, zeros: float) -> FloatArray:
    i = np.arange(n)
    return delta(ones + i, zeros + (n - 1 - i))


def largest(delta: PairDelta, n: int, ones: float, zeros: float) -> tuple[float, int]:
    """Largest of a function that falls in both arguments, and its pair."""
    with np.errstate(divide="ignore"):
        value, pair = worst_pair(lambda x, y: np.log(delta(x, y)), n, ones, zeros)
    return float(np.exp(value)), pair


def check(delta: PairDelta, n: int, ones: float, zeros: float) -> None:
    values = scan(delta, n, ones, zeros)
    value, pair = largest(delta, n, ones, zeros)
    assert value == pytest.approx(values[pair], rel=1e-14)
    assert value >= values.max() * (1 - 2 * PAIR_TOLERANCE)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 500),
    ones=st.floats(1e-6, 1e4),
    zeros=st.floats(1e-6, 1e4),
    weights=st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3), st.floats(0, 2)), min_size=1, max_size=4),
    steps=st.integers(0, 2**32 - 1),
)
def test_of_random_falling_functions_the_largest_is_found(
    n: int, ones: float, zeros: float, weights: list[tuple[float, float, float]], steps: int
) -> None:
    """Sums of powers of x and y, and a random staircase that never rises in either."""
    walk_x, walk_y = (np.random.default_rng(steps + part).exponential(size=n + 1).cumsum() for part in (0, 1))

    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        value = sum(w / ((1 + x) ** p * (1 + y) ** q) for p, q, w in weights)
        stairs = walk_x[np.rint(x - ones).astype(int)] + walk_y[np.rint(y - zeros).astype(int)]
        return value + 1 / (1 + stairs)

    check(delta, n, ones, zeros)


@pytest.mark.parametrize("n", [1, 2, MAX_PAIRS - 1, MAX_PAIRS, MAX_PAIRS + 1, 500])
@pytest.mark.parametrize("power", [0.25, 1.0, 4.0])
def test_the_largest_may_lie_anywhere(n: int, power: float) -> None:
    """f(x, y) = x^−p + c y^−p has its largest value at either end; min(g(x), h(y)) has it wherever they cross."""
    for c in (0.1, 1.0, 10.0):
        check(lambda x, y: x**-power + c * y**-power, n, 0.5, 0.7)  # noqa: B023
    for crossing in (0, n // 7, n // 2, n - 1):
        level_x, level_y = 1.0 + crossing, 1.0 + (n - 1 - crossing)
        check(lambda x, y: np.minimum(level_x / x, level_y / y), n, 1.0, 1.0)  # noqa: B023
        assert largest(lambda x, y: np.minimum(level_x / x, level_y / y), n, 1.0, 1.0)[1] == crossing  # noqa: B023


def test_a_flat_function_has_its_value_everywhere_and_one_of_zeros_has_none() -> None:
    for n in (1, 5, MAX_PAIRS, 300):
        assert largest(lambda x, y: np.full_like(x, 0.25), n, 1.0, 1.0)[0] == 0.25
        assert largest(lambda x, y: np.zeros_like(x), n, 1.0, 1.0) == (0.0, 0)


def test_few_pairs_are_asked_for_where_the_end_is_the_worst() -> None:
    asked = 0

    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        nonlocal asked
        asked += len(x)
        return x**-2.0

    assert largest(delta, 100_000, 1.0, 1.0) == (1.0, 0)
    assert asked < 1000


# The laws


@pytest.mark.parametrize("n", [3, 60, 500])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (20.0, 20.0), (3.0, 90.0), (90.0, 3.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 4.0])
def test_of_posterior_draws_the_largest_is_found(n: int, alpha: float, beta: float, epsilon: float) -> None:
    def delta(x: FloatArray, y: FloatArray) -> FloatArray:
        return np.exp(log_parameter_delta(x, y, epsilon))

    check(delta, n, alpha, beta)
    x, y = alpha + np.arange(n), beta + (n - 1 - np.arange(n))
    right = 1 / (1 + x / y * np.exp(epsilon))
    tails = betainc(y, x + 1, right) - np.exp(epsilon) * betainc(y + 1, x, right)
    assert np.exp(log_parameter_delta(x, y, epsilon)).max() == pytest.approx(tails.max(), rel=1e-9)


def plug_in_deltas(n: int, m: int, alpha: float, beta: float, epsilon: float) -> FloatArray:
    """Σ max(0, P − e^ε Q) of every pair i + 1 against i."""
    table = scipy_rows("synth_post_many", n, m, alpha, beta).pmf(np.arange(m + 1))
    return np.maximum(table[1:] - np.exp(epsilon) * table[:-1], 0).sum(axis=1)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (40, 1), (60, 9), (300, 100), (500, 20), (100, 500)])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (12.0, 12.0), (2.0, 70.0), (70.0, 2.0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 0.3])
def test_of_plug_ins_the_largest_is_found(n: int, m: int, alpha: float, beta: float, epsilon: float) -> None:
    made = release("synth_post_many", n=n, m=m, alpha=alpha, beta=beta)
    up = plug_in_deltas(n, m, alpha, beta, epsilon)
    down = plug_in_deltas(n, m, beta, alpha, epsilon)
    largest = max(up.max(), down.max())
    found = made.hockey_stick(epsilon)
    if largest < 1e-11:
        assert found.value < 2e-11
        return
    assert found.value == pytest.approx(largest, rel=1e-9)
    named = up[found.unlikelier] if found.likelier > found.unlikelier else down[n - 1 - found.likelier]
    assert named == pytest.approx(largest, rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 49, 500])
def test_with_one_synthetic_row_at_epsilon_0_every_pair_is_the_worst(n: int) -> None:
    """m = 1: the proportions of neighbours differ by 1/(n + α + β) everywhere."""
    made = release("synth_post_many", n=n, m=1, alpha=3.0, beta=3.0)
    assert made.hockey_stick(0.0).value == pytest.approx(1 / (n + 6), rel=1e-13)
    assert made.hockey_stick(0.1).value == pytest.approx((4 - 3 * np.exp(0.1)) / (n + 6), rel=1e-12)
    assert made.hockey_stick(0.1).unlikelier in (0, n)
