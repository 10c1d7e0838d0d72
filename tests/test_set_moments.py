"""Moments of q̄, v̄, b and T_M, and the exact distribution of q̄."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference import proportion_moments
from dpviz.inference.moments import release_moments, set_moments
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, PosteriorMode
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.referees import charest, every_release

SMALL = [
    BetaBinomial(n=3, m=3, alpha=0.7, beta=2.1),
    BetaBinomial(n=2, m=4, alpha=1e-107, beta=1e-107),
    PosteriorMean(n=3, m=2, alpha=0.7, beta=2.1),
    PosteriorMode(n=2, m=3, alpha=1.7, beta=2.1),
    GeometricSanitizer(n=3, epsilon=0.7),
    LaplaceSanitizer(n=3, epsilon=0.7),
    GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])),
]


@pytest.mark.parametrize("synthesizer", SMALL, ids=lambda item: item.key)
@pytest.mark.parametrize("sets", [1, 2, 3, 4])
def test_moments_are_those_of_every_release_listed(synthesizer, sets):
    m, p, table = synthesizer.m, 0.3, []
    for chance, counts in zip(*every_release(synthesizer, sets, p), strict=True):
        q = counts / m
        within = (q * (1 - q) / m).mean()
        between = q.var(ddof=1) if sets > 1 else math.nan
        table.append([chance, q.mean(), within, between, (1 + 1 / sets) * between - within])
    chance, values = np.array(table)[:, 0], np.array(table)[:, 1:]
    mean = chance @ values
    variance = chance @ (values - mean) ** 2
    found = set_moments(synthesizer, p=p, sets=sets)
    np.testing.assert_allclose(
        [found.mean_estimate, found.mean_within, found.mean_between, found.mean_total], mean, rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        [found.variance_estimate, found.variance_within, found.variance_between, found.variance_total],
        variance,
        rtol=1e-11,
        atol=1e-15,
    )


@pytest.mark.parametrize("size", [100, 5000])
def test_no_digits_cancel_in_large_samples(size):
    """Against mpmath with the factorial moments m^(k) a↑k / A↑k themselves, at one x."""
    alpha, x = 37.25, size // 3
    found = release_moments(BetaBinomial(n=size, m=size, alpha=alpha, beta=alpha), np.array([x]))
    with mpmath.workdps(60):
        a, whole = mpmath.mpf(alpha) + x, mpmath.mpf(2 * alpha) + size
        falling = [mpmath.ff(size, k) * mpmath.rf(a, k) / mpmath.rf(whole, k) for k in range(5)]
        stirling = [[1], [0, 1], [0, 1, 1], [0, 1, 3, 1], [0, 1, 7, 6, 1]]
        raw = [
            sum(s * f for s, f in zip(row, falling, strict=False)) / mpmath.mpf(size) ** k
            for k, row in enumerate(stirling)
        ]
        second = raw[2] - raw[1] ** 2
        expected = [float(value) for value in (raw[1], second)]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-11)


def test_one_case_in_fractions():
    """n = m = 1, α = β = 1, M = 2: q_j repeats x with probability 2/3; E b = σ² = 2/9, v = 0."""
    found = set_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1), p=0.25, sets=2)
    mean = Fraction(1, 4) * Fraction(2, 3) + Fraction(3, 4) * Fraction(1, 3)
    variance = Fraction(2, 9) / 2 + Fraction(3, 16) * Fraction(1, 9)
    assert found.mean_estimate == pytest.approx(float(mean), rel=1e-14)
    assert found.variance_estimate == pytest.approx(float(variance), rel=1e-14)
    assert found.mean_total == pytest.approx(1 / 3, rel=1e-14) and found.mean_within == pytest.approx(0, abs=1e-17)


@pytest.mark.parametrize("sets", [1, 3])
def test_the_estimate_has_the_moments_of_the_closed_form_over_x(sets):
    for method, kind in (
        ("synth_post_one", BetaBinomial),
        ("synth_post_many", PosteriorMean),
        ("synth_map", PosteriorMode),
    ):
        known = proportion_moments(method, n=60, m=40, alpha=3.5, beta=2.0, proportion=0.2, sets=sets)
        found = set_moments(kind(n=60, m=40, alpha=3.5, beta=2.0), p=0.2, sets=sets)
        assert found.mean_estimate == pytest.approx(known.mean, rel=1e-12)
        assert found.variance_estimate == pytest.approx(known.standard_error**2, rel=1e-12)


CHAREST_TABLE_2 = [
    (0.25, 2, 2, 21.10, 34.28),
    (0.25, 2, 5, 6.68, 64.60),
    (0.25, 2, 10, 2.92, 86.74),
    (0.50, 2, 2, 23.62, 27.34),
    (0.50, 2, 5, 6.95, 60.68),
    (0.50, 2, 10, 3.02, 79.85),
    (0.25, 250, 2, 37.10, 0.20),
    (0.25, 250, 5, 25.96, 0.35),
    (0.25, 250, 10, 22.26, 0.18),
]


@pytest.mark.parametrize(("p", "epsilon", "sets", "variance", "bias"), CHAREST_TABLE_2)
def test_charest_table_2_is_within_the_error_of_its_simulation(p, epsilon, sets, variance, bias):
    found = set_moments(charest(epsilon, sets), p=p, sets=sets)
    # A variance estimated from 100,000 nearly normal numbers has relative standard error √(2/100,000) = 0.45 %.
    error = math.sqrt(2 / 1e5)
    assert 1e4 * found.variance_estimate == pytest.approx(variance, rel=4 * error, abs=0.005)
    ratio = found.mean_total / found.variance_estimate
    of_total = math.sqrt(found.variance_total / 1e5) / found.variance_estimate
    assert 100 * (ratio - 1) == pytest.approx(bias, abs=400 * (of_total + ratio * error))


@pytest.mark.parametrize(
    ("synthesizer", "sets"),
    [(charest(2, 5), 5), (charest(250, 10), 10), (LaplaceSanitizer(n=80, epsilon=0.3), 4), (charest(2, 1), 1)],
)
def test_the_law_of_the_estimate_has_the_moments(synthesizer, sets):
    law = release_distribution(synthesizer, p=0.25, sets=sets, sums_only=True)
    moments = set_moments(synthesizer, p=0.25, sets=sets)
    assert law.probability.sum() == pytest.approx(1, abs=5e-12) and law.probability.min() >= 0
    mean = law.probability @ law.statistics.estimate
    assert mean == pytest.approx(moments.mean_estimate, rel=1e-11)
    spread = law.probability @ (law.statistics.estimate - mean) ** 2
    assert spread == pytest.approx(moments.variance_estimate, rel=1e-8)


def test_the_law_of_the_estimate_is_the_convolution():
    synthesizer = LaplaceSanitizer(n=30, epsilon=0.4)
    law = release_distribution(synthesizer, p=0.3, sets=3, sums_only=True)
    direct = np.zeros(91)
    for x, row in enumerate(synthesizer.transition_matrix()):
        weight = math.comb(30, x) * 0.3**x * 0.7 ** (30 - x)
        direct += weight * np.convolve(np.convolve(row, row), row)
    np.testing.assert_allclose(law.probability, direct[law.statistics.total], atol=1e-12)


def test_the_law_of_the_estimate_reaches_twenty_sets_of_two_thousand_rows():
    alpha = 2000 / math.expm1(0.1)
    synthesizer = BetaBinomial(n=2000, m=2000, alpha=alpha, beta=alpha)
    law = release_distribution(synthesizer, p=0.25, sets=20, sums_only=True)
    moments = set_moments(synthesizer, p=0.25, sets=20)
    mean = law.probability @ law.statistics.estimate
    assert mean == pytest.approx(moments.mean_estimate, rel=1e-11)
    spread = law.probability @ (law.statistics.estimate - mean) ** 2
    assert spread == pytest.approx(moments.variance_estimate, rel=1e-8)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_certain_population_leaves_the_noise_of_the_release(p):
    synthesizer = GeometricSanitizer(n=6, epsilon=1.0)
    found = set_moments(synthesizer, p=p, sets=3)
    alone = release_moments(synthesizer, np.array([6 if p else 0]))
    assert found.variance_estimate == pytest.approx(alone.variance[0] / 3, rel=1e-14)
    spread = alone.mean[0] * (1 - alone.mean[0]) - alone.variance[0]  # E[q(1 − q)]
    assert found.mean_total == pytest.approx(4 / 3 * alone.variance[0] - spread / 6, rel=1e-12)


def test_numbers_out_of_their_domain_are_named():
    release = BetaBinomial(n=3, m=3, alpha=1, beta=1)
    with pytest.raises(ValueError, match=r"p \(true share\) must be a number from 0 to 1; got 1.5"):
        set_moments(release, p=1.5, sets=2)
