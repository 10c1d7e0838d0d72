"""The smallest possible error: hand cases, other solutions of the same problem, and no method below it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from dpviz.mechanisms import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    PosteriorMode,
    TwoCellSynthesizer,
)
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.optimum.approximate_dp_bound import Certificate, _certified

CRITERIA = ("average", "worst")
PROMISES = [(0.0, 0.0), (1e-9, 0.0), (0.5, 0.0), (1.0, 0.0), (5.0, 0.0), (60.0, 0.0), (1e4, 0.0)]
APPROXIMATE = [(0.0, 0.3), (0.1, 1e-6), (1.0, 0.01), (3.0, 0.5), (15.0, 1e-5), (60.0, 0.01), (1.0, 1.0)]


def error_of(matrix: np.ndarray, released: np.ndarray, criterion: str) -> float:
    """Root mean squared error of released proportions, from the definition."""
    truth = np.arange(len(matrix))[:, None] / (len(matrix) - 1)
    errors = np.sum(matrix * (released[None, :] - truth) ** 2, axis=1)
    return math.sqrt(errors.mean() if criterion == "average" else errors.max())


def check_release(best: LeastError) -> None:
    """The release keeps the promise to the last digit, and its estimates have the error."""
    release = best.release
    if best.delta == 0:
        assert pure_epsilon(release) <= best.epsilon
        assert delta_for_epsilon(release, best.epsilon) == 0
    else:
        assert delta_for_epsilon(release, best.epsilon) <= best.delta
    assert np.all((best.estimates >= 0) & (best.estimates <= 1))
    found = error_of(release.transition_matrix(), best.estimates, best.criterion)
    assert found == pytest.approx(best.root_mean_squared_error, rel=1e-9, abs=1e-140)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.0), (2.0, 0.0), (0.0, 0.25), (1.0, 0.01), (9.0, 0.9)]
)
def test_one_row_is_an_honest_coin_that_sometimes_tells_the_truth(epsilon: float, delta: float, criterion: str) -> None:
    """With one row the squared error is (1 − δ) p (1 − p), p = e^ε/(1 + e^ε): Kairouz, Oh & Viswanath (2015)."""
    p = 1 / (1 + math.exp(-epsilon))
    best = least_error(n=1, epsilon=epsilon, delta=delta, criterion=criterion)
    assert best.root_mean_squared_error == pytest.approx(math.sqrt((1 - delta) * p * (1 - p)), rel=1e-12)
    assert best.gap <= 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [1, 2, 21, 100])
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_the_release_without_delta_keeps_epsilon_and_has_the_error(n, epsilon, delta, criterion):
    best = least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion)
    check_release(best)
    known = (1e-7 if epsilon < 20 else 1e-4) * best.root_mean_squared_error  # e^−60 is lost beside 1
    assert best.gap <= max(known, 1e-129)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("n", "epsilon", "delta"), [
    *((n, *promise) for n in (2, 10) for promise in APPROXIMATE), (130, 3.0, 0.5), (130, 60.0, 0.01), (130, 1.0, 1.0),
])  # fmt: skip
def test_the_release_with_delta_keeps_the_promise_and_has_the_error(n, epsilon, delta, criterion):
    best = least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion)
    check_release(best)
    assert 0 <= best.gap <= (0.3 if epsilon > 20 else 0.1) * best.root_mean_squared_error


@pytest.mark.parametrize(
    ("n", "average", "with_counts"), [(20, 0.06288, 0.06344), (50, 0.02634, 0.02643), (100, 0.01337, 0.01339)]
)
def test_the_optimum_is_that_of_the_notes_and_below_the_best_release_of_counts(n, average, with_counts):
    best = least_error(n=n, epsilon=1.0)
    assert best.root_mean_squared_error == pytest.approx(average, abs=5e-6)
    assert best.root_mean_squared_error < with_counts


@pytest.mark.parametrize(("epsilon", "sizes"), [
    (1e-4, (5, 199, 201)), (0.05, (5, 199, 201, 2_000)), (1.0, (5, 2_000, 100_000)), (4.0, (5, 199, 201, 2_000)),
])  # fmt: skip
def test_the_average_is_not_above_the_worst_and_both_shrink_with_n(epsilon: float, sizes: tuple[int, ...]) -> None:
    average = [least_error(n=n, epsilon=epsilon) for n in sizes]
    worst = [least_error(n=n, epsilon=epsilon, criterion="worst") for n in sizes]
    for one, other in zip(average, worst, strict=True):
        assert one.root_mean_squared_error <= other.root_mean_squared_error
        assert other.gap <= 0.01 * other.root_mean_squared_error
    for results in (average, worst):
        assert np.all(np.diff([one.root_mean_squared_error for one in results]) < 1e-12)


def methods(n: int, epsilon: float) -> list[TwoCellSynthesizer]:
    alpha = BetaBinomial.smallest_alpha(m=n, epsilon=epsilon)
    return [
        BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha),
        BetaBinomial(n=n, m=max(n // 2, 1), alpha=1.0, beta=2.0),
        PosteriorMean(n=n, m=n, alpha=3.0, beta=3.0),
        PosteriorMode(n=n, m=n, alpha=4.0, beta=4.0),
        LaplaceSanitizer(n=n, epsilon=epsilon),
        GeometricSanitizer(n=n, epsilon=epsilon),
    ]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [1, 6, 40])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_no_synthesizer_is_below_the_optimum_at_its_exact_epsilon(n: int, epsilon: float, criterion: str) -> None:
    """Neither with its counts as proportions, nor with the posterior mean under the uniform prior."""
    for method in methods(n, epsilon):
        matrix = method.transition_matrix()
        best = least_error(n=n, epsilon=pure_epsilon(method), criterion=criterion)
        means = (np.arange(n + 1) / n) @ matrix / matrix.sum(axis=0)
        for released in (np.arange(method.m + 1) / method.m, means):
            error = error_of(matrix, released, criterion)
            assert error >= best.lower_bound * (1 - 1e-12)
            assert best.prices(error)[0] >= 1 - 1e-9


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_synthesizer_is_below_the_bound_at_its_exact_delta(criterion: str) -> None:
    method = BetaBinomial(n=12, m=12, alpha=2.0, beta=2.0)
    for epsilon in (0.5, 1.5):
        best = least_error(n=12, epsilon=epsilon, delta=delta_for_epsilon(method, epsilon), criterion=criterion)
        error = error_of(method.transition_matrix(), np.arange(13) / 12, criterion)
        assert best.root_mean_squared_error < error


def test_a_release_that_is_too_large_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="too large"):
        _ = least_error(n=5_000, epsilon=1.0).release


def programme_with_delta(n: int, epsilon: float, delta: float, numbers: np.ndarray, criterion: str) -> float:
    """The smallest error of (ε, δ)-private releases of these numbers, every cell and every excess written out."""
    columns, pairs = len(numbers), [(x, x + 1) for x in range(n)] + [(x + 1, x) for x in range(n)]
    cells, excesses = (n + 1) * columns, len(pairs) * columns
    above, most = [], []
    for place, (one, other) in enumerate(pairs):
        total = np.zeros(cells + excesses + 1)
        total[cells + place * columns : cells + (place + 1) * columns] = 1.0
        above.append(total)
        most.append(delta)
        for j in range(columns):
            row = np.zeros(cells + excesses + 1)
            row[one * columns + j], row[other * columns + j] = 1.0, -math.exp(epsilon)
            row[cells + place * columns + j] = -1.0
            above.append(row)
            most.append(0.0)
    loss = (numbers[None, :] - np.arange(n + 1)[:, None] / n) ** 2
    whole = np.hstack([np.kron(np.eye(n + 1), np.ones(columns)), np.zeros((n + 1, excesses + 1))])
    for x in range(n + 1):
        row = np.zeros(cells + excesses + 1)
        row[x * columns : (x + 1) * columns], row[-1] = loss[x], -1.0
        if criterion == "worst":
            above.append(row)
            most.append(0.0)
    objective = np.zeros(cells + excesses + 1)
    objective[:cells], objective[-1] = (loss.ravel() / (n + 1), 0.0) if criterion == "average" else (0.0, 1.0)
    found = linprog(objective, A_ub=np.array(above), b_ub=most, A_eq=whole, b_eq=np.ones(n + 1), method="highs-ds")
    return math.sqrt(found.fun)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    ("n", "epsilon", "delta"), [(2, 0.3, 0.0), (3, 1.0, 0.0), (3, 0.0, 0.3), (4, 0.5, 0.05), (4, 2.0, 0.2)]
)
def test_a_programme_over_many_numbers_lies_between_both_ends(n, epsilon, delta, criterion):
    best = least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion)
    found = programme_with_delta(n, epsilon, delta, np.linspace(0, 1, 4 * n + 1), criterion)
    assert best.lower_bound <= found * (1 + 1e-7)
    assert best.root_mean_squared_error <= found * 1.003
    with_estimates = np.unique(np.round(np.append(best.estimates, np.linspace(0, 1, 2 * n + 1)), 6))
    if len(with_estimates) < 60:
        nearly = programme_with_delta(n, epsilon, delta, with_estimates, criterion)
        assert best.lower_bound <= nearly * (1 + 1e-7) <= best.root_mean_squared_error * (1 + 1e-5)


def test_a_certificate_that_claims_too_much_proves_no_more_than_there_is() -> None:
    """At ε = 0 one row is guessed as ½, with the squared error ¼, whatever the levels claim."""
    numbers, widths = np.array([0.0, 0.25, 0.5]), np.full(3, 0.25)
    for level, largest in ((0.2, 0.2), (0.3, 0.25), (10.0, 0.25)):
        certificate = Certificate(np.full(2, level), np.ones(1), np.ones(2))
        assert _certified(certificate, 0.0, 0.0, numbers, widths)[0] <= largest


def test_times_the_best_for_more_than_a_hundred_rows() -> None:
    """What knows nothing has 1.07 times the smallest error, and two windows of n = 100 already bound it by 0.26758."""
    best = least_error(n=150, epsilon=0.01, delta=1e-6)
    low, high = best.prices(math.sqrt(152 / (12 * 150)))
    assert 1.065 <= low <= 1.071 and low <= high <= 1.075
    assert 0.26758 < least_error(n=101, epsilon=0.01, delta=1e-6).lower_bound < 0.28169
    assert least_error(n=150, epsilon=0.2, delta=1e-4).root_mean_squared_error < 0.04418
    # Every x is told together with one of its neighbours: 1/2 beside both
    assert 0.49 < 200 * least_error(n=200, epsilon=0.0, delta=0.5).root_mean_squared_error < 0.5


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(("n", "epsilon", "delta"), [
    (101, 0.0, 0.01), (150, 0.01, 1e-6), (300, 0.1, 1e-4), (1_000, 0.01, 0.01), (200, 30.0, 1e-6), (300, 1.0, 1e-12),
    (500, 0.0, 1e-4), (1_000, 1.0, 5e-324), (1_000, 5e-324, 5e-324),
])  # fmt: skip
def test_bound_and_mechanism_are_within_one_per_cent(n: int, epsilon: float, delta: float, criterion: str) -> None:
    best = least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion)
    assert 0 <= best.gap <= 0.01 * best.root_mean_squared_error
    if n <= 150:
        check_release(best)


@pytest.mark.parametrize(("root", "gap", "error", "times", "compared"), [
    (0.1, 0.0, 0.106, "1.06", "6 % larger than"),
    (0.1, 0.0, 0.1, "1", "no larger than"),
    (0.1, 0.0, 0.100000023, "1.0000002", "less than 0.01 % larger than"),
    (1e-20, 0.0, 0.1, "10¹⁹", "more than a million times"),
    (0.1, 0.0, 0.25, "2.5", "2.5 times"),
    (0.1, 0.01, 0.105, "1.05 to 1.167", "5 to 17 % larger than"),
    (0.1, 0.01, 0.1, "1 to 1.112", "at most 12 % larger than"),
    (0.1, 0.01, 0.5, "5 to 5.56", "5 to 5.56 times"),
    (0.1, 0.1, 0.3, "at least 3", "at least 3 times"),
    (0.1, 0.01, 0.08, "0.8 to 0.8889", "no larger than"),
])  # fmt: skip
def test_a_price_that_is_not_known_to_three_digits_is_a_range(root, gap, error, times, compared):
    best = dataclasses.replace(least_error(n=2, epsilon=1.0), root_mean_squared_error=root, gap=gap)
    assert (best.times(error), best.compared(error)) == (times, compared)


def test_what_differs_from_the_best_by_rounding_is_once_the_best() -> None:
    """With ε = 100 the geometric sanitizer's own error came out one place below that of the best mechanism."""
    best = least_error(n=10, epsilon=100.0)
    assert best.times(best.root_mean_squared_error * (1 - 2**-53)) == "1"
    assert best.times(best.root_mean_squared_error * (1 + 2**-52)) == "1"
    assert best.times(0.99 * best.root_mean_squared_error) == "0.99"
