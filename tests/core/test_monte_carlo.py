"""Estimates with Monte Carlo standard errors: relative and paired ones, ties, and shares of none or all."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpviz.core.monte_carlo import Measure, tie_classes, wilson_interval


def test_relative_measures_have_the_spread_that_they_say() -> None:
    """100 (A/B − 1) and 100 (√A/√B − 1) over many small samples of two correlated numbers."""
    normal = np.random.default_rng(3).multivariate_normal([4.0, 9.0], [[0.5, 0.3], [0.3, 0.8]], (2000, 400))
    found = []
    for sample in normal:
        a, b = sample.mean(axis=0)
        spread = np.cov(sample.T)
        measure = Measure(float(a), math.sqrt(spread[0, 0] / 400))
        found.append(measure.relative_to(float(b), variance=spread[1, 1], covariance=spread[0, 1], repetitions=400))
    for place, true in ((0, 100 * (4 / 9 - 1)), (1, 100 * (2 / 3 - 1))):
        values, errors = zip(*((one[place].value, one[place].error) for one in found), strict=True)
        assert np.mean(values) == pytest.approx(true, abs=0.02)
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.05)


def test_a_difference_of_paired_sums_has_the_error_of_the_differences() -> None:
    """Four repetitions, 1, 2, 3, 4 and 2, 4, 6, 9: the differences 1, 2, 3, 5 have the standard error √(35/12)/2."""
    one, other = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 4.0, 6.0, 9.0])
    first = Measure(2.5, math.sqrt(5 / 3) / 2).with_parts(one, np.ones(4))
    second = Measure(5.25, math.sqrt(107 / 12) / 2).with_parts(other, np.ones(4))
    found = second - first
    assert found.value == 2.75
    assert found.error == pytest.approx(math.sqrt(35 / 12) / 2)
    assert (first - first).error == 0
    assert (second - Measure(5.25, 0.0)).error == second.error
    apart = second - Measure(2.5, first.error)  # nothing is known of what they share
    assert apart.error == pytest.approx(math.sqrt((107 / 12 + 5 / 3) / 4))


@pytest.mark.parametrize(("one", "other", "within", "tied"), [
    ((0.0701, 0.0007), (0.0706, 0.0007), 0.0, True),  # 0.5 standard errors of the difference
    ((0.1, 0.003), (0.11, 0.004), 0.0, True),  # two of them, √(3² + 4²) = 5, to the digit
    ((0.1, 0.003), (0.11000001, 0.004), 0.0, False),
    ((0.0904, 0.0005), (0.0829, 0.0004), 0.0, False),
    ((0.99999946, 0.0), (1.0, 0.0), 1e-6, True),
    ((0.999998, 0.0), (1.0, 0.0), 1e-6, False),
    ((4e-18, 0.0), (-1e-18, 0.0), 1e-12, True),  # what is left of a sum that is 0
    ((math.inf, 0.0), (math.inf, 0.0), 0.0, True),
    ((math.inf, 0.0), (1e300, 0.0), 1e-6, False),
    ((math.nan, math.nan), (math.nan, math.nan), 1.0, False),
])  # fmt: skip
def test_numbers_are_tied_within_two_standard_errors_and_the_tolerance_of_their_search(one, other, within, tied):
    assert Measure(*one).tied(Measure(*other), within) == tied
    assert Measure(*other).tied(Measure(*one), within) == tied


def test_classes_of_ties_are_those_of_their_best_and_hold_everything_once() -> None:
    values = [0.3, 0.1, math.nan, 0.19, 0.1 + 1e-14, 0.2, 0.28]

    def value(place: int) -> Measure:
        return Measure(values[place], 0.05 if place in (0, 5) else 0.0)

    # 0.2 ± 0.05 reaches 0.1, and 0.3 ± 0.05 then reaches 0.28 but not 0.19, which comes before it.
    assert tie_classes(range(7), value) == [[1, 4, 5], [3], [0, 6], [2]]
    assert tie_classes(range(0), value) == []


@pytest.mark.parametrize(("count", "error"), [(0, 1 / 501), (500, 1 / 501), (250, math.sqrt(1 / 2000))])
def test_no_simulated_share_is_taken_for_exact(count: int, error: float) -> None:
    """Where all or none count, the error is the width of Wilson's interval of one standard error."""
    found = Measure.share(count, 500)
    low, high = wilson_interval(count / 500, 500, 2 * float(ndtr(1.0)) - 1)
    assert found.value == count / 500
    assert found.error == pytest.approx(error, rel=1e-12)
    assert count == 250 or high - low == pytest.approx(error, rel=1e-12)


def test_of_no_repetitions_nothing_is_known() -> None:
    for measure in (Measure.share(0, 0), Measure.mean(0.0, 0.0, 0)):
        assert math.isnan(measure.value) and math.isnan(measure.error)
