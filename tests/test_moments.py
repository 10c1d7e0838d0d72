"""Mean and variance of the released proportion: against sums over every sample and every release."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import betabinom, binom

from dpviz.calibration.methods import CALIBRATED_METHODS
from dpviz.inference.moments import ProportionMoments, proportion_moments
from dpviz.mechanisms import BetaBinomial, PosteriorMean, PosteriorMode

MATRICES: dict[str, type[BetaBinomial | PosteriorMean | PosteriorMode]] = {
    "synth_post_one": BetaBinomial,
    "synth_post_many": PosteriorMean,
    "synth_map": PosteriorMode,
}
SETTINGS = [(1, 1, 1.5, 1.5), (5, 3, 2.0, 7.0), (12, 30, 1.25, 40.0), (40, 8, 30.0, 1.01), (25, 25, 1000.0, 1000.0)]


def enumerated(method: str, n: int, m: int, alpha: float, beta: float, p: float, sets: int) -> tuple[float, float]:
    """E and Var of the mean of M sets' shares, summed over n1 ~ Bin(n, p) and each row of the transition matrix."""
    weights = binom.pmf(np.arange(n + 1), n, p)
    if method == "param_post":
        ones = np.arange(n + 1)
        mean, variance = beta_law.stats(alpha + ones, beta + (n - ones), moments="mv")
    else:
        matrix, shares = MATRICES[method](n=n, m=m, alpha=alpha, beta=beta).transition_matrix(), np.arange(m + 1) / m
        mean = matrix @ shares
        variance = matrix @ shares**2 - mean**2
    first = float(weights @ mean)
    return first, float(weights @ (variance / sets + mean**2)) - first**2


@pytest.mark.parametrize("method", CALIBRATED_METHODS)
@pytest.mark.parametrize(("n", "m", "alpha", "beta"), SETTINGS)
@pytest.mark.parametrize("proportion", [0.0, 0.03, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("sets", [1, 2, 10])
def test_mean_and_variance_are_those_of_every_outcome(
    method: str, n: int, m: int, alpha: float, beta: float, proportion: float, sets: int
) -> None:
    found = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=proportion, sets=sets)
    mean, variance = enumerated(method, n, m, alpha, beta, proportion, sets)
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-14)
    assert found.bias == pytest.approx(mean - proportion, abs=1e-13)


@pytest.mark.parametrize("method", ["synth_post_one", "synth_post_many"])
def test_the_mean_of_two_sets_over_every_pair_of_releases(method: str) -> None:
    """No formula for a variance of a mean: both releases are enumerated."""
    n, m, alpha, beta, p = 4, 3, 0.7, 2.0, 0.3
    law = betabinom if method == "synth_post_one" else None
    first = second = 0.0
    for ones in range(n + 1):
        theta = (ones + alpha) / (n + alpha + beta)
        for a in range(m + 1):
            for b in range(m + 1):
                chances = [
                    law.pmf(j, m, alpha + ones, beta + n - ones) if law else binom.pmf(j, m, theta) for j in (a, b)
                ]
                weight = float(binom.pmf(ones, n, p) * chances[0] * chances[1])
                first += weight * (a + b) / (2 * m)
                second += weight * ((a + b) / (2 * m)) ** 2
    found = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=p, sets=2)
    assert found.mean == pytest.approx(first, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(second - first**2, rel=1e-11)


@pytest.mark.parametrize("method", CALIBRATED_METHODS)
def test_the_parts_are_the_variance_of_the_mean_and_the_mean_of_the_variance(method: str) -> None:
    n, m, alpha, beta, p = 9, 6, 2.5, 4.0, 0.35
    found = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=p)
    many = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=p, sets=10**9)
    _, sampling = enumerated(method, n, m, alpha, beta, p, 10**9)
    assert found.sampling_variance == many.sampling_variance == pytest.approx(sampling, rel=1e-6)
    assert many.release_variance == pytest.approx(found.release_variance / 10**9, rel=1e-12)
    assert found.release_variance > 0


def test_a_synthetic_sample_without_a_prior_has_the_variance_of_both_samples() -> None:
    """α → 0: q is unbiased; the draw adds p(1 − p)(n − 1)/n of its own share to p(1 − p)/n."""
    n, m, p = 50, 20, 0.4
    found = proportion_moments("synth_post_many", n=n, m=m, alpha=1e-12, beta=1e-12, proportion=p)
    assert found.mean == pytest.approx(p, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(p * (1 - p) * (1 / n + (1 - 1 / n) / m), rel=1e-9)


def test_a_strong_prior_leaves_its_own_proportion() -> None:
    for method in CALIBRATED_METHODS:
        found = proportion_moments(method, n=10, m=5, alpha=3e12, beta=1e12, proportion=0.1)
        assert found.mean == pytest.approx(0.75, rel=1e-10)
        assert found.bias == pytest.approx(0.65, rel=1e-10)
        assert found.sampling_variance < 1e-20


def test_many_synthetic_rows_of_one_draw_are_the_draw() -> None:
    shape = {"n": 30, "alpha": 2.0, "beta": 3.0, "proportion": 0.2}
    draw = proportion_moments("param_post", m=1, **shape)
    rows = proportion_moments("synth_post_one", m=10**9, **shape)
    assert rows.standard_error == pytest.approx(draw.standard_error, rel=1e-6)
    assert rows.mean == pytest.approx(draw.mean, rel=1e-12)


@pytest.mark.parametrize("method", CALIBRATED_METHODS)
def test_moments_are_those_of_simulated_releases(method: str) -> None:
    """Nothing enumerated: a sample, a posterior, rows from it, 40,000 times, in standard errors."""
    n, m, alpha, beta, p, sets, runs = 60, 25, 6.0, 3.0, 0.3, 3, 40_000
    generator = np.random.default_rng(7)
    ones = generator.binomial(n, p, size=(runs, 1)) * np.ones((1, sets), dtype=int)
    if method == "synth_map":
        theta = (ones + alpha - 1) / (n + alpha + beta - 2)
    elif method == "synth_post_many":
        theta = generator.beta(alpha + ones[..., None], beta + n - ones[..., None], size=(runs, sets, m))
    else:
        theta = generator.beta(alpha + ones, beta + n - ones)
    if method == "param_post":
        shares = theta
    elif method == "synth_post_many":
        shares = (generator.random((runs, sets, m)) < theta).mean(axis=2)
    else:
        shares = generator.binomial(m, theta) / m
    q = shares.mean(axis=1)
    found = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=p, sets=sets)
    assert abs(q.mean() - found.mean) < 4 * q.std() / math.sqrt(runs)
    squares = (q - q.mean()) ** 2
    assert abs(squares.mean() - found.standard_error**2) < 4 * squares.std() / math.sqrt(runs)


def test_properties_by_hand() -> None:
    moments = ProportionMoments(proportion=0.1, mean=0.5, sampling_variance=0.05, release_variance=0.04)
    assert moments.bias == pytest.approx(0.4)
    assert moments.standard_error == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("method", {"method": "param_map"}),
        ("proportion", {"proportion": -0.1}),
        ("proportion", {"proportion": 1.5}),
    ],
)
def test_bad_input_is_named(name: str, changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"method": "param_post", "n": 3, "m": 3, "alpha": 1.0, "beta": 1.0, "proportion": 0.5}
    with pytest.raises(ValueError, match=rf"^{name}\b.* must be"):
        proportion_moments(**(good | changes))
