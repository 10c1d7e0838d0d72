"""Amplification by subsampling: printed, tight and exact, against every subset listed and 50 digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from dpviz.mechanisms import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    PosteriorMode,
    TwoCellSynthesizer,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import delta_for_epsilon, log_odds_table, pure_epsilon
from dpviz.privacy.subsampling import (
    SubsampledRelease,
    subsampled_epsilon,
    subsampled_epsilon_printed,
    subsampled_tight,
)
from tests.referees import rows_of, worst_excess

pytestmark = pytest.mark.usefixtures("fifty_digits")

INNER = GivenMatrix(probabilities=np.array([[0.5, 0.5], [0.45, 0.55], [0.05, 0.95], [0.04, 0.96]]))
"""The worst pair of tables is the middle one, so that no population attains the tight bound."""

SUPPRESSED = GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.3, 0.5, 0.2], [0.2, 0.6, 0.2]]))

RELEASES: list[TwoCellSynthesizer] = [
    BetaBinomial(n=4, m=5, alpha=0.5, beta=0.5), BetaBinomial(n=3, m=6, alpha=1e-6, beta=2.0),
    PosteriorMean(n=4, m=4, alpha=1.0, beta=0.3), PosteriorMode(n=2, m=3, alpha=1.5, beta=1.5),
    GeometricSanitizer(n=4, epsilon=1.0), LaplaceSanitizer(n=3, epsilon=0.7), INNER,
]  # fmt: skip


def subsampled_delta(release: TwoCellSynthesizer, population: int, epsilon: float) -> float:
    return delta_for_epsilon(SubsampledRelease(sample=release, population=population), epsilon)


def of_a_sample(matrix: list[list[mp.mpf]], population: int) -> list[list[mp.mpf]]:
    """The matrix over populations, from hypergeometric probabilities in 50 digits."""
    size, rows = len(matrix) - 1, []
    for ones in range(population + 1):
        weights = [mp.binomial(ones, k) * mp.binomial(population - ones, size - k) for k in range(size + 1)]
        total = mp.binomial(population, size)
        rows.append([mp.fdot(weights, column) / total for column in zip(*matrix, strict=True)])
    return rows


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.key)
def test_the_law_is_the_mean_over_every_subset_of_the_rows(release: TwoCellSynthesizer) -> None:
    population = 7
    matrix = release.transition_matrix()
    for ones in range(population + 1):
        rows = [1] * ones + [0] * (population - ones)
        listed = np.mean([matrix[sum(subset)] for subset in itertools.combinations(rows, release.n)], axis=0)
        found = SubsampledRelease(sample=release, population=population).transition_matrix()[ones]
        np.testing.assert_allclose(found, listed, rtol=1e-12)


@pytest.mark.parametrize(("population", "n", "m", "alpha", "beta"), [
    (12, 5, 7, 0.5, 0.5), (60, 20, 30, 1e-6, 2.0), (40, 40, 30, 1.0, 2.0), (50, 1, 3, 0.1, 0.1),
])  # fmt: skip
def test_delta_and_log_odds_have_full_digits(population: int, n: int, m: int, alpha: float, beta: float) -> None:
    exact = of_a_sample(rows_of("synth_post_one", n, m, alpha, beta), population)
    release = SubsampledRelease(sample=BetaBinomial(n=n, m=m, alpha=alpha, beta=beta), population=population)
    for epsilon in (0.0, 0.01, 0.3, 1.0, 2.0, 4.0):
        delta = worst_excess(exact, epsilon)
        assert abs(subsampled_delta(release.sample, population, epsilon) - delta) <= 1e-11 * delta
    odds = [[mp.log(p / q) for p, q in zip(*pair, strict=True)] for pair in itertools.pairwise(exact)]
    found = log_odds_table(release)
    assert max(abs(found[i, j] - value) for i, row in enumerate(odds) for j, value in enumerate(row)) < 1e-12
    largest = max(abs(value) for row in odds for value in row)
    assert abs(pure_epsilon(release) - largest) <= 1e-12 * largest


def test_log_odds_stay_exact_where_probabilities_underflow() -> None:
    n, population, m, prior = 30, 60, 2000, 0.01
    release = SubsampledRelease(sample=PosteriorMean(n=n, m=m, alpha=prior, beta=prior), population=population)
    a = mp.mpf(prior)
    matrix = [[((a + k) / (2 * a + n)) ** m, ((a + n - k) / (2 * a + n)) ** m] for k in range(n + 1)]
    exact = of_a_sample(matrix, population)
    assert exact[0][0] < mp.mpf("1e-5000")
    found = release.log_odds(np.arange(population), np.array([m, 0]))
    for i, (one, zero) in enumerate(itertools.pairwise(exact)):
        for j in range(2):
            value = mp.log(one[j] / zero[j])
            assert abs(found[i, j] - value) <= 1e-10 * abs(value)
    assert release.worst_log_odds().value == pytest.approx(float(mp.log(exact[1][0] / exact[0][0])), rel=1e-12)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.key)
@pytest.mark.parametrize("population", [7, 40])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.5])
def test_printed_is_never_below_tight_nor_tight_below_exact(release, population, epsilon):
    rate, own = release.n / population, delta_for_epsilon(release, epsilon)
    printed, tight = subsampled_epsilon_printed(epsilon, rate), subsampled_tight(epsilon, rate)
    assert printed >= tight
    assert subsampled_delta(release, population, tight) <= rate * own * (1 + 1e-10) + 1e-16
    assert subsampled_delta(release, population, printed) <= rate * own * (1 + 1e-10) + 1e-16


@pytest.mark.parametrize("release", [*RELEASES[:-1], BetaBinomial(n=3, m=3, alpha=1e11, beta=1e11)], ids=repr)
@pytest.mark.parametrize("population", [7, 100])
def test_a_population_with_a_single_one_attains_the_tight_bound(release: TwoCellSynthesizer, population: int) -> None:
    whole = SubsampledRelease(sample=release, population=population)
    tight = subsampled_tight(pure_epsilon(release), release.n / population)
    assert pure_epsilon(whole) == pytest.approx(tight, rel=1e-12, abs=0.0)
    assert float(np.abs(log_odds_table(whole)).max()) == pytest.approx(tight, rel=1e-12, abs=0.0)


def test_a_suppressed_count_still_decides_after_subsampling() -> None:
    whole = SubsampledRelease(sample=SUPPRESSED, population=10)
    assert math.isinf(pure_epsilon(whole))
    assert math.isinf(log_odds_table(whole)[0, 2])
    assert delta_for_epsilon(whole, 100.0) == pytest.approx(0.2 * 0.2, rel=1e-12)


@pytest.mark.parametrize("release", [*RELEASES, BetaBinomial(n=100, m=100, alpha=7.0, beta=7.0)], ids=lambda r: r.key)
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_the_inverse_lands_on_the_private_side(release: TwoCellSynthesizer, delta: float) -> None:
    population = 3 * release.n
    epsilon = subsampled_epsilon(release, population, delta)
    assert epsilon > 0
    assert subsampled_delta(release, population, epsilon) <= delta
    assert subsampled_delta(release, population, epsilon * (1 - 1e-6)) > delta


def test_tight_and_printed_bounds_keep_their_digits_at_the_ends() -> None:
    for epsilon, rate in ((1e-12, 1e-3), (1e-3, 1e-12), (1.0, 1e-9), (50.0, 0.3), (709.0, 1e-8), (900.0, 0.5)):
        grow = mp.expm1(mp.mpf(epsilon)) * mp.mpf(rate)
        assert subsampled_tight(epsilon, rate) == pytest.approx(float(mp.log1p(grow)), rel=1e-13)
        if grow < mp.mpf("1e300"):
            assert subsampled_epsilon_printed(epsilon, rate) == pytest.approx(float(grow), rel=1e-12)
    assert math.isinf(subsampled_epsilon_printed(900.0, 0.5))
    assert subsampled_tight(800.0, 0.0) == subsampled_epsilon_printed(800.0, 0.0) == 0.0


@pytest.mark.parametrize(("call", "words"), [
    (lambda: subsampled_tight(1.0, 1.5), "rate"),
    (lambda: subsampled_tight(-1.0, 0.5), "epsilon"),
    (lambda: SubsampledRelease(sample=RELEASES[0], population=3), "population .* at least .* 4"),
    (lambda: SubsampledRelease(sample=RELEASES[0], population=2001), "population .* 2,000"),
    (lambda: subsampled_delta(RELEASES[0], 10, math.inf), "epsilon"),
])  # fmt: skip
def test_a_wrong_value_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
