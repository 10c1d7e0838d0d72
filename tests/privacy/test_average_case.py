"""Average-case privacy against its definition with 50 digits, and the thesis's claims against exact values."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from dpviz.calibration.parameter_draw import parameter_draw_delta
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import delta_for_epsilon
from dpviz.privacy.average_case import average_case_delta, count_release_delta, count_simulator_deltas
from tests.referees import Law, binomial_distribution, rows_of, worst_excess

pytestmark = pytest.mark.usefixtures("fifty_digits")
LAWS = [("synth_post_one", BetaBinomial), ("synth_post_many", PosteriorMean)]


def hockey_stick(one: Law, zero: Law, epsilon: float) -> mp.mpf:
    return worst_excess([one, zero], epsilon)


def mixtures(matrix: list[Law], theta: float) -> tuple[Law, Law]:
    weights = binomial_distribution(len(matrix) - 2, theta)
    one = [sum(w * row[j] for w, row in zip(weights, matrix[1:], strict=True)) for j in range(len(matrix[0]))]
    zero = [sum(w * row[j] for w, row in zip(weights, matrix[:-1], strict=True)) for j in range(len(matrix[0]))]
    return one, zero


def close(found: float, exact: mp.mpf, relative: float) -> bool:
    return abs(mp.mpf(found) - exact) <= relative * exact


@pytest.mark.parametrize(("method", "synthesizer"), LAWS)
@pytest.mark.parametrize(("n", "m", "alpha", "beta"), [(25, 30, 0.5, 2.0), (60, 50, 6.0, 6.0)])
@pytest.mark.parametrize(
    ("theta", "epsilon"), [(0.5, 0.0), (0.3, 0.01), (0.3, 0.7), (0.02, 0.1), (1.0, 0.5), (0.5, 1.4)]
)
def test_released_counts_average_over_the_other_rows(method, synthesizer, n, m, alpha, beta, theta, epsilon):
    exact = hockey_stick(*mixtures(rows_of(method, n, m, alpha, beta), theta), epsilon)
    found = average_case_delta(synthesizer(n=n, m=m, alpha=alpha, beta=beta), theta, epsilon)
    assert close(found, exact, 1e-11)


@pytest.mark.parametrize(("method", "synthesizer"), LAWS)
@pytest.mark.parametrize(("n", "m", "alpha", "beta", "theta", "epsilon"), [
    (3, 4, 1.0, 2.0, 1e-300, 0.7),  # a one is all but impossible, and so are most counts
    (3, 4, 1.0, 2.0, 3.9e-24, 0.0),
    (2, 6, 1e12, 41.5762522664917, 0.564581385007875, 0.0),  # log-odds of 1e-11 beside those of 0.1
    (1, 8, 2.0, 2558394.864857167, 1.0, 7 * math.log(1.5)),  # ε is the log-odds of seven ones, as a tie
])  # fmt: skip
def test_the_ends_of_every_domain_average_too(method, synthesizer, n, m, alpha, beta, theta, epsilon):
    exact = hockey_stick(*mixtures(rows_of(method, n, m, alpha, beta), theta), epsilon)
    assert close(average_case_delta(synthesizer(n=n, m=m, alpha=alpha, beta=beta), theta, epsilon), exact, 1e-10)


def test_a_delta_made_by_unlikely_counts_alone_needs_all_of_them() -> None:
    n, theta, epsilon = 400, 0.5, 3.0
    matrix = np.zeros((n + 1, 2))
    matrix[:, 0] = 1.0
    matrix[n] = 0.25, 0.75
    found = average_case_delta(GivenMatrix(probabilities=matrix), theta, epsilon)
    assert close(found, mp.mpf("0.75") * mp.mpf(theta) ** (n - 1), 1e-12)


def test_known_other_rows_leave_the_extreme_pair_of_tables() -> None:
    release = BetaBinomial(n=50, m=50, alpha=1.0, beta=1.0)
    assert average_case_delta(release, 0.0, 1.0) == pytest.approx(delta_for_epsilon(release, 1.0), rel=1e-12)


@pytest.mark.parametrize(("n", "theta", "epsilon"), [
    (1, 0.3, 0.2), (5, 0.3, 0.5), (100, 0.5, 0.1), (100, 0.9, 1.0), (300, 0.99, 1.0), (1000, 0.5, 1.0),
    (50, 0.5, 30.0), (5, 1e-300, 2.0), (9, 5e-324, 0.0), (5, 1 - 2**-53, 2.0), (9, 0.0, 0.5), (9, 1.0, 0.5),
])  # fmt: skip
def test_the_count_itself_differs_by_its_definition(n: int, theta: float, epsilon: float) -> None:
    law = binomial_distribution(n - 1, theta)
    exact = hockey_stick([mp.mpf(0), *law], [*law, mp.mpf(0)], epsilon)
    assert close(count_release_delta(n, theta, epsilon), exact, 1e-12)


def test_the_bounds_of_a_simulator_of_three_rows_are_those_by_hand() -> None:
    """(0, 1/4, 1/2, 1/4) against (1/4, 1/2, 1/4, 0): δ(ε) = 3/4 − e^ε / 4 up to ln 2; at e^ε = 5/4 δ(2ε) = 23/64."""
    lower, upper = count_simulator_deltas(3, 0.5, math.log(5 / 4))
    assert lower == pytest.approx(23 / 64 / (1 + 5 / 4), rel=1e-12)
    assert upper == pytest.approx((3 / 4 - 3 / 8) / 2, rel=1e-12)  # half of δ at ln(2 · 5/4 − 1)


@pytest.mark.parametrize(("n", "alpha", "beta", "theta", "epsilon"), [
    (30, 0.5, 0.5, 0.9, 1.0), (30, 2.0, 1.0, 0.5, 5.0), (40, 1e-3, 20.0, 0.02, 1.0), (10, 0.5, 0.5, 0.5, 60.0),
    (2, 1.0, 1.0, 0.5, 400.0), (5, 8.0, 8.0, 0.5, 70.0), (60, 6.0, 6.0, 0.5, 1.0),
])  # fmt: skip
def test_one_posterior_draw_differs_by_two_beta_tails_however_rare(n, alpha, beta, theta, epsilon):
    with mp.workdps(50 + int(epsilon)):
        weights, grow, values = binomial_distribution(n - 1, theta), mp.e ** mp.mpf(epsilon), []
        for a, b, w in ((mp.mpf(alpha), mp.mpf(beta), weights), (mp.mpf(beta), mp.mpf(alpha), weights[::-1])):
            one = [w[k] / mp.beta(k + 1 + a, n - 1 - k + b) for k in range(n)]
            zero = [w[k] / mp.beta(k + a, n - k + b) for k in range(n)]
            low, high = mp.mpf(-200 - 2 * epsilon), mp.mpf(200 + 2 * epsilon)
            for _ in range(150):
                odds = mp.exp((low + high) / 2)
                powers = [odds**k for k in range(n)]
                above = odds * mp.fdot(one, powers) > grow * mp.fdot(zero, powers)
                low, high = (low, mp.log(odds)) if above else (mp.log(odds), high)
            rest = 1 / (1 + mp.exp(high))

            def tail(x: mp.mpf, y: mp.mpf, rest: mp.mpf = rest) -> mp.mpf:
                return mp.betainc(y, x, 0, rest, regularized=True)

            values.append(
                sum(w[k] * (tail(k + 1 + a, n - 1 - k + b) - grow * tail(k + a, n - k + b)) for k in range(n))
            )
        assert close(parameter_draw_delta(n, alpha, beta, theta, epsilon), max(values), 1e-12)


@pytest.mark.parametrize("alpha", [1e-300, 1e12])
@pytest.mark.parametrize("beta", [1e-300, 1e12])
@pytest.mark.parametrize("theta", [0.0, 1e-12, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1.0, 700.0, 1000.0])
def test_a_posterior_draw_under_the_least_and_largest_priors_never_tells_more_than_the_count(
    alpha: float, beta: float, theta: float, epsilon: float
) -> None:
    draw = parameter_draw_delta(50, alpha, beta, theta, epsilon)
    assert 0 <= draw <= count_release_delta(50, theta, epsilon) * (1 + 1e-12)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: count_release_delta(0, 0.5, 1.0), "n "),
    (lambda: count_release_delta(5, 1.5, 1.0), "theta_real"),
    (lambda: count_release_delta(5, 0.5, -1.0), "epsilon"),
    (lambda: parameter_draw_delta(5, 0.0, 1.0, 0.5, 1.0), "alpha"),
    (lambda: parameter_draw_delta(5, 1.0, math.nan, 0.5, 1.0), "beta"),
    (lambda: average_case_delta(BetaBinomial(n=1, m=1, alpha=1, beta=1), math.nan, 1.0), "theta_real"),
])  # fmt: skip
def test_a_wrong_value_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
