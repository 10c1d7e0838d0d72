"""The least prior for probabilistic privacy: against the definition, counted over every table and every release."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from dpviz.calibration.parameter_draw import parameter_failure
from dpviz.calibration.probabilistic import beta_binomial_failure, plug_in_failure
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.priors import CALIBRATED, minimum_prior, minimum_prior_probabilistic
from dpviz.privacy import probabilistic_delta
from tests.referees import rows_of, scipy_rows

COUNTED = ("synth_post_one", "synth_post_many", "synth_map")


def counted_failure(method: str, n: int, m: int, alpha: float, epsilon: float) -> float:
    """For each table, the probability of the released counts at which a neighbour's |log-odds| exceed ε; the worst.

    A log-odds that equals ε but for rounding does not exceed it.
    """
    law, drawn = scipy_rows(method, n, m, alpha, alpha), np.arange(m + 1)
    table, log_table = law.pmf(drawn), law.logpmf(drawn)
    over = np.abs(np.diff(log_table, axis=0)) > epsilon + 1e-10
    failing = np.zeros(table.shape, dtype=bool)
    failing[1:] |= over
    failing[:-1] |= over
    return float((table * failing).sum(axis=1).max())


def exact_row_failures(n: int, alpha: float, beta: float, epsilon: float) -> list[Any]:
    """For each table, Pr that θ tells it from a neighbour by more than e^ε: the union of the neighbours' two tails."""
    with mp.workdps(40):
        a, b, e = mp.mpf(alpha), mp.mpf(beta), mp.exp(mp.mpf(epsilon))
        values = []
        for ones in range(n + 1):
            crossings = [(a + pair) / (b + (n - 1 - pair)) for pair in (ones - 1, ones) if 0 <= pair < n]
            high, low = min(crossings) * e, max(crossings) / e
            if high <= low:
                values.append(mp.mpf(1))
                continue
            x, y = a + ones, b + (n - ones)
            below = mp.betainc(x, y, 0, low / (1 + low), regularized=True)
            values.append(below + mp.betainc(y, x, 0, 1 / (1 + high), regularized=True))
        return values


def failure(method: str, n: int, m: int, alpha: float, epsilon: float) -> float:
    if method == "param_post":
        return float(max(exact_row_failures(n, alpha, alpha, epsilon)))
    return counted_failure(method, n, m, alpha, epsilon)


SIZES = [(1, 4), (3, 2), (5, 5), (4, 9), (12, 7), (30, 20)]
PROMISES = [(0.5, 0.05), (1.0, 1e-3), (2.0, 0.3), (4.0, 1e-6)]
CASES = [
    *((method, n, m, *promise) for method in COUNTED for n, m in SIZES for promise in PROMISES),
    *(("param_post", n, 1, *promise) for n in (1, 2, 6) for promise in [(0.5, 0.05), (1.0, 1e-4), (3.0, 0.3)]),
]


@pytest.mark.parametrize(("method", "n", "m", "epsilon", "delta"), CASES)
def test_from_the_answer_on_the_promise_holds_and_just_below_it_fails(method, n, m, epsilon, delta):
    answer = minimum_prior_probabilistic(method, n=n, m=m, epsilon=epsilon, delta=delta)
    approximate = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    pure = minimum_prior(method, n=n, m=m, epsilon=epsilon)
    assert approximate * (1 - 1e-12) <= answer <= pure * (1 + 1e-12)
    shift = 1 if method == "synth_map" else 0
    far = 5 * (answer - shift) if math.isinf(pure) else 1.01 * (pure - shift)
    for alpha in shift + np.geomspace((answer - shift) * (1 + 1e-8), far, 15):
        assert failure(method, n, m, float(alpha), epsilon) <= delta * (1 + 1e-9), alpha
    if answer > approximate * (1 + 1e-7):
        assert failure(method, n, m, shift + (answer - shift) * (1 - 1e-8), epsilon) > delta * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4])
def test_a_billionth_below_a_prior_for_a_small_epsilon_every_release_tells(epsilon: float) -> None:
    answer = minimum_prior_probabilistic("synth_post_one", n=1, m=1, epsilon=epsilon, delta=1 / 3)
    assert answer == pytest.approx(minimum_prior("synth_post_one", n=1, m=1, epsilon=epsilon), rel=1e-12)
    less = answer * (1 - 1e-9)
    assert probabilistic_delta(BetaBinomial(n=1, m=1, alpha=answer, beta=answer), epsilon) == 0
    assert probabilistic_delta(BetaBinomial(n=1, m=1, alpha=less, beta=less), epsilon) == 1


def test_nothing_but_a_pure_promise_helps_one_row_and_one_draw() -> None:
    """A released 1 or 0 always has log-odds ± ln((α + 1)/α): it fails always or never."""
    for method, shift in (("synth_post_one", 0), ("synth_post_many", 0), ("synth_map", 1)):
        for epsilon in (0.5, 2.0):
            answer = minimum_prior_probabilistic(method, n=1, m=1, epsilon=epsilon, delta=0.4)
            assert answer == pytest.approx(shift + 1 / math.expm1(epsilon), rel=1e-8)


def test_without_delta_the_answer_is_the_pure_one() -> None:
    for method in CALIBRATED:
        arguments = {"n": 7, "m": 4, "epsilon": 0.8}
        answer = minimum_prior_probabilistic(method, delta=0.0, **arguments)
        assert answer == pytest.approx(minimum_prior(method, **arguments), rel=1e-12)


# The failure of PARAM_Post


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), [
    (1, 1.0, 1.0, 0.5), (3, 0.2, 5.0, 1.0), (8, 12.0, 12.0, 0.7), (8, 40.0, 3.0, 2.0), (15, 60.0, 60.0, 1.5),
    (2, 300.0, 300.0, 1.0), (5, 1e-3, 1e-3, 10.0), (6, 5.0, 5.0, 1e-3), (4, 2.0, 9.0, 40.0),
])  # fmt: skip
def test_parameter_failure_is_the_union_of_the_neighbours_tails(n, alpha, beta, epsilon):
    exact = max(exact_row_failures(n, alpha, beta, epsilon))
    assert abs(parameter_failure(n=n, alpha=alpha, beta=beta, epsilon=epsilon) / exact - 1) < 1e-10


@pytest.mark.parametrize("seed", range(40))
def test_the_failure_of_counts_is_that_of_the_whole_matrix(seed: int) -> None:
    """Two algorithms: staircases and incomplete betas, and every cell of the matrix with its log-odds."""
    generator = np.random.default_rng(seed)
    n, m = (int(one) for one in generator.integers(1, 90, size=2))
    alpha = float(10 ** generator.uniform(-6, 4))
    epsilon = float(10 ** generator.uniform(-2, 1.5)) if seed % 8 else 0.0
    for failure_of, law in ((beta_binomial_failure, BetaBinomial), (plug_in_failure, PosteriorMean)):
        whole = probabilistic_delta(law(n=n, m=m, alpha=alpha, beta=alpha), epsilon)
        assert failure_of(n, m, alpha, epsilon) == pytest.approx(whole, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(("alpha", "epsilon"), [(100.0, 0.45), (20.0, 1.3), (60.0, 0.6)])
def test_a_tiny_failure_keeps_its_digits(alpha: float, epsilon: float) -> None:
    n = m = 60
    with mp.workdps(60):
        table, worst = rows_of("synth_post_one", n, m, alpha, alpha), mp.mpf(0)
        for i in range(n + 1):
            others = [k for k in (i - 1, i + 1) if 0 <= k <= n]
            told = [j for j in range(m + 1) if any(abs(mp.log(table[i][j] / table[k][j])) > epsilon for k in others)]
            worst = max(worst, sum((table[i][j] for j in told), mp.mpf(0)))
        assert 0 < worst < 1e-6
        assert beta_binomial_failure(n, m, alpha, epsilon) == pytest.approx(float(worst), rel=1e-11, abs=0.0)


@pytest.mark.parametrize("method", ["synth_post_one", "synth_post_many"])
def test_the_strongest_picture_has_its_probabilistic_answer(method: str) -> None:
    """n = m = 1,000, ε = 1, δ = 10⁻⁶: substituted back into the whole matrix, on both sides."""
    answer = minimum_prior_probabilistic(method, n=1000, m=1000, epsilon=1.0, delta=1e-6)
    law = BetaBinomial if method == "synth_post_one" else PosteriorMean

    def whole(alpha: float) -> float:
        return probabilistic_delta(law(n=1000, m=1000, alpha=alpha, beta=alpha), 1.0)

    assert whole(answer) <= 1e-6 < whole(answer * (1 - 1e-8))
    assert max(whole(alpha) for alpha in np.geomspace(answer, 3 * answer, 12)) <= 1e-6
