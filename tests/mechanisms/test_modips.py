"""Modips for a proportion: its matrix against quadrature of others, its limits, and what each bounding really keeps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import beta, laplace

from dpviz.core import limits
from dpviz.mechanisms import BetaBinomial, Modips, ModipsTruncated
from dpviz.privacy import pure_epsilon
from tests.referees import beta_binomial_law, modips_law

WAYS: dict[str, type[Modips | ModipsTruncated]] = {"bit": Modips, "truncation": ModipsTruncated}
every_way = pytest.mark.parametrize("bounding", WAYS)


def entry(release: Modips, x: int, j: int) -> mp.mpf:
    """One probability in mpmath, panel by panel of the polynomial."""
    n, epsilon = release.n, mp.mpf(release.epsilon)

    def drawn(u: mp.mpf) -> mp.mpf:
        law = beta_binomial_law(mp.mpf(release.alpha) + u, mp.mpf(release.beta) + (n - u), release.m)
        return law[j]

    steps = {mp.mpf(2) ** k / epsilon for k in range(-2, 8)}
    ends = sorted({mp.mpf(k) for k in range(n + 1)} | {x + s * t for s in (1, -1) for t in steps if 0 < x + s * t < n})
    inside = mp.quad(lambda u: epsilon / 2 * mp.exp(-epsilon * abs(u - x)) * drawn(u), ends)
    below, above = mp.exp(-epsilon * x) / 2, mp.exp(-epsilon * (n - x)) / 2
    if isinstance(release, ModipsTruncated):
        return inside / (1 - below - above)
    return inside + below * drawn(mp.mpf(0)) + above * drawn(mp.mpf(n))


@every_way
@pytest.mark.parametrize(("n", "m", "epsilon", "alpha", "beta"), [
    (1, 1, 1e-6, 1, 1), (1, 4, 700, 1, 1), (6, 3, 700, 1, 1), (6, 9, 0.1, 1 / 3, 1 / 3), (5, 4, 1e-6, 0.5, 2.0),
    (2, 5, 8, 1e-3, 1e3),
])  # fmt: skip
def test_entries_are_those_of_a_quadrature_in_many_digits(bounding, n, m, epsilon, alpha, beta):
    release = WAYS[bounding](n=n, m=m, epsilon=epsilon, alpha=alpha, beta=beta)
    found = release.log_transition_matrix()
    with mp.workdps(30):
        for x, j in ((0, m // 3), (n // 2, 0), (n, m)):
            assert found[x, j] == pytest.approx(float(mp.log(entry(release, x, j))), rel=3e-14, abs=3e-14)


@every_way
@pytest.mark.parametrize(
    ("n", "m", "epsilon", "prior"), [(60, 60, 0.3, 1.0), (100, 30, 0.02, 1 / 3), (40, 80, 9.0, 1.0)]
)
def test_columns_are_those_of_scipys_distributions(bounding, n, m, epsilon, prior):
    release = WAYS[bounding](n=n, m=m, epsilon=epsilon, alpha=prior, beta=prior)
    for count in (0, m // 3, m):
        expected = modips_law(n, m, epsilon, np.arange(n + 1), count, inflated=bounding == "bit", prior=prior)
        assert np.allclose(release.transition_matrix()[:, count], expected, rtol=1e-10)


@every_way
def test_draws_by_its_own_recipe_have_its_probabilities(bounding):
    n, m, x, epsilon, number = 30, 20, 6, 0.15, 400_000
    release, generator = WAYS[bounding](n=n, m=m, epsilon=epsilon), np.random.default_rng(2016)
    noisy = x / n + laplace.rvs(scale=1 / (n * epsilon), size=3 * number, random_state=generator)
    bounded = {"bit": np.clip(noisy, 0, 1), "truncation": noisy[(noisy >= 0) & (noisy <= 1)]}
    noisy = bounded[bounding][:number]
    released = generator.binomial(m, beta.rvs(1 + n * noisy, 1 + n * (1 - noisy), random_state=generator))
    share, expected = np.bincount(released, minlength=m + 1) / number, release.row(x)
    assert np.all(np.abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / number))


@every_way
@pytest.mark.parametrize("prior", [1.0, 1 / 3])
def test_without_noise_it_is_the_posterior_draw_of_multiple_synthesis(bounding, prior):
    """MS of Bowen & Liu's study 1. At ε = 1,000 noise moves p* by a thousandth of a row."""
    whole = BetaBinomial(n=20, m=20, alpha=prior, beta=prior).transition_matrix()
    near, nearer = (
        np.abs(WAYS[bounding](n=20, m=20, epsilon=e, alpha=prior, beta=prior).transition_matrix() - whole)
        for e in (100, 1000)
    )
    assert nearer.max() < 1e-3
    assert np.allclose(nearer[0] / near[0], 0.1, rtol=0.05)  # at the ends noise goes one way: of the order 1/ε
    assert np.allclose(nearer[5:15] / near[5:15], 0.01, rtol=0.05)  # inside it goes both ways: of the order 1/ε²


def test_without_a_promise_to_spend_nothing_of_the_data_is_left():
    """ε → 0: p* is 0 or 1, each half of the time, or anywhere from 0 to 1."""
    n, m = 12, 9
    columns = np.arange(m + 1)
    ends = sum(np.array([float(one) for one in beta_binomial_law(x, 2 + n - x, m)]) / 2 for x in (1, 1 + n))
    inflated, truncated = (WAYS[way](n=n, m=m, epsilon=5e-7).transition_matrix() for way in WAYS)
    assert np.allclose(inflated, ends, atol=1e-5)
    u, weights = np.polynomial.legendre.leggauss(40)
    places = n * (1 + u) / 2
    anywhere = sum(
        weight / 2 * np.array([float(one) for one in beta_binomial_law(1 + place, 1 + n - place, m)])[columns]
        for place, weight in zip(places, weights, strict=True)
    )
    assert np.allclose(truncated, anywhere, atol=1e-5)


@every_way
def test_ones_and_zeros_are_alike_and_their_priors_change_places(bounding):
    matrix = WAYS[bounding](n=17, m=9, epsilon=0.4).transition_matrix()
    np.testing.assert_allclose(matrix, matrix[::-1, ::-1], rtol=1e-12)
    release: Any = WAYS[bounding](n=17, m=9, epsilon=0.4, alpha=2, beta=5)
    mirrored = WAYS[bounding](n=17, m=9, epsilon=0.4, alpha=5, beta=2)
    assert np.allclose(release.transition_matrix(), mirrored.transition_matrix()[::-1, ::-1], rtol=1e-12)
    assert release.mirrored == mirrored


@every_way
def test_log_odds_keep_their_digits_where_rows_are_all_but_equal(bounding):
    release = WAYS[bounding](n=6, m=5, epsilon=1e-6)
    found = release.log_odds_table()
    with mp.workdps(40):
        for x, j in ((0, 0), (2, 5), (3, 2)):
            expected = mp.log(entry(release, x, j) / entry(release, x + 1, j))
            assert found[x, j] == pytest.approx(float(expected), rel=1e-9, abs=1e-6 * 1e-13)


GRID = list(itertools.product((1, 2, 20, 40, 100), (5e-7, 0.01, 0.1, 0.5, 1.0, 3.0, 700.0)))


def test_boundary_inflated_truncation_keeps_its_promise_to_the_last_digit():
    for (n, epsilon), prior in itertools.product(GRID, (1.0, 1 / 3)):
        assert pure_epsilon(Modips(n=n, m=n, epsilon=epsilon, alpha=prior, beta=prior)) <= epsilon
    for n, epsilon in ((40, 0.01), (100, 0.1), (100, 1.0), (1000, 0.05)):
        assert pure_epsilon(Modips(n=n, m=n, epsilon=epsilon)) == pytest.approx(epsilon, rel=1e-7)


def test_the_draw_of_the_rows_adds_privacy_where_there_is_little_noise():
    factors = [pure_epsilon(Modips(n=100, m=100, epsilon=3.0, alpha=prior, beta=prior)) / 3 for prior in (1.0, 1 / 3)]
    assert factors == pytest.approx([0.9955, 0.9989], abs=5e-5)


def test_truncation_breaks_its_promise_by_as_much_as_was_found():
    """The table of exact ε over promised ε, below ln(2e^ε − 1) of the noise alone; at larger ε it keeps it."""
    promises = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
    for n, factors in {
        20: (1.489, 1.407, 1.307, 1.142, 1.038, 0.990, 0.980),
        40: (1.667, 1.527, 1.366, 1.146, 1.029, 1.000, 0.999),
        100: (1.797, 1.571, 1.368, 1.136, 1.019, 1.000, 1.000),
        1000: (1.859, None, 1.362),
    }.items():
        for epsilon, factor in zip(promises, factors, strict=False):
            if factor is not None:
                release = ModipsTruncated(n=n, m=n, epsilon=epsilon)
                assert pure_epsilon(release) / epsilon == pytest.approx(factor, abs=6e-4)
                assert pure_epsilon(release) < math.log(2 * math.exp(epsilon) - 1)


def test_priors_outside_of_their_domain_are_refused():
    priors: list[tuple[str, object]] = [("alpha", 0.0), ("beta", 1e4), ("alpha", "1")]
    for name, value in priors:
        with pytest.raises(ValueError, match=rf"^{name} .*must be a number from 0.001 to 1,000"):
            Modips(n=5, m=4, epsilon=1.0, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a whole number from 1 to 1,000; got 1,001"):
        Modips(n=limits.MAX_ROWS_OF_TABLE + 1, m=4, epsilon=1.0)
