"""Poisson-gamma synthesis with a fixed total, against negative binomials, drawn rates and many digits."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import nbinom

from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, PoissonGamma
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from tests.referees import listed_delta

SIZES = [(1, 1), (2, 1), (3, 5), (6, 2), (12, 12)]
GUESSES = [0.001, 0.2, 0.5, 0.7]


def shares(n: int, guess: float, invented: float) -> list[float]:
    """Shares q of the negative binomials of further counts, whose rates are Gamma(a, a/μ) before the data."""
    return [1 / (2 + invented / mean) for mean in (n * guess, n * (1 - guess))]


def listed(n: int, m: int, guess: float, invented: float) -> FloatArray:
    """Negative binomials of both counts by scipy, given their sum."""
    ones, zeros = shares(n, guess, invented)
    j = np.arange(m + 1)
    rows = np.array(
        [nbinom.pmf(j, invented + x, 1 - ones) * nbinom.pmf(m - j, invented + n - x, 1 - zeros) for x in range(n + 1)]
    )
    return rows / rows.sum(axis=1, keepdims=True)


def largest_loss(n: int, m: int, guess: object, invented: object) -> mp.mpf:
    """The largest |log-odds| of all neighbours and all that can be released, from lists of weights."""
    a, pi = mp.mpf(invented), mp.mpf(guess)
    ones, zeros = (1 / (2 + a / mean) for mean in (n * pi, n * (1 - pi)))

    def weights(x: int) -> list[mp.mpf]:
        return [
            mp.rf(a + x, j)
            / mp.factorial(j)
            * ones**j
            * mp.rf(a + n - x, m - j)
            / mp.factorial(m - j)
            * zeros ** (m - j)
            for j in range(m + 1)
        ]

    rows = [[one / mp.fsum(row) for one in row] for row in map(weights, range(n + 1))]
    return max(abs(mp.log(x / y)) for one, other in itertools.pairwise(rows) for x, y in zip(one, other, strict=True))


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_rows_are_negative_binomials_given_their_sum(n: int, m: int, guess: float, epsilon: float) -> None:
    made = PoissonGamma(n=n, m=m, epsilon=epsilon, public_share=guess)
    assert np.allclose(made.transition_matrix(), listed(n, m, guess, made.invented), rtol=1e-9)
    assert delta_for_epsilon(made, 0.4 * epsilon) == pytest.approx(listed_delta(made, 0.4 * epsilon), rel=1e-10)


def test_rows_are_what_drawn_rates_and_counts_with_the_right_total_make() -> None:
    """Rates from their gamma posteriors, Poisson counts, and only those draws that add up to m."""
    n, m, x, guess = 4, 3, 1, 0.3
    made, generator = PoissonGamma(n=n, m=m, epsilon=1.5, public_share=guess), np.random.default_rng(7)
    a, draws = made.invented, 400_000
    counts = [
        generator.poisson(generator.gamma(a + seen, 1 / (1 + a / mean), draws))
        for seen, mean in ((x, n * guess), (n - x, n * (1 - guess)))
    ]
    kept = counts[0][counts[0] + counts[1] == m]
    found, exact = np.bincount(kept, minlength=m + 1) / len(kept), made.row(x)
    assert len(kept) > 20_000
    assert np.all(np.abs(found - exact) <= 4 * np.sqrt(exact * (1 - exact) / len(kept)))


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("epsilon", [1e-3, 2.0, 20.0])
def test_the_invented_rows_keep_epsilon_and_fewer_do_not(n: int, m: int, guess: float, epsilon: float) -> None:
    """In 60 digits, over all pairs: on the private side of the tie, and so is every larger prior."""
    made = PoissonGamma(n=n, m=m, epsilon=epsilon, public_share=guess)
    with mp.workdps(60):
        exact = largest_loss(n, m, guess, made.invented)
        assert exact <= mp.mpf(epsilon) < largest_loss(n, m, guess, made.invented * (1 - 1e-10))
        assert float(exact) == pytest.approx(epsilon, rel=1e-11)
        for more in (1.001, 1.3, 3.0, 30.0, 1e3):
            assert largest_loss(n, m, guess, made.invented * more) < epsilon
    assert pure_epsilon(made) == pytest.approx(float(exact), rel=1e-12)
    assert m / math.expm1(epsilon) * (1 - 1e-12) <= made.invented <= m / math.expm1(epsilon / 2)


@pytest.mark.parametrize(("m", "guess", "epsilon"), [(12, 0.01, 12.0), (60, 0.001, 20.0)])
def test_where_the_loss_rises_with_the_prior_for_a_while_its_last_crossing_counts(m, guess, epsilon):
    invented = PoissonGamma(n=1, m=m, epsilon=epsilon, public_share=guess).invented
    with mp.workdps(60):
        more = [largest_loss(1, m, guess, invented * factor) for factor in np.geomspace(1, 1e3, 40)]
        fewer = [largest_loss(1, m, guess, invented * factor) for factor in np.geomspace(1e-3, 0.99, 40)]
    assert max(more) <= epsilon
    assert min(fewer) < epsilon < max(fewer)


@pytest.mark.parametrize("n", [*range(1, 9), 13, 21, 34, 47, 60])
def test_of_all_pairs_and_all_that_can_be_released_the_only_row_of_the_rarer_kind_loses_most(n: int) -> None:
    """Every cell of the table of log-odds for few and for many n; the prior is chosen for that row alone."""
    for m, guess, epsilon in itertools.product({1, (n + 2) // 3, n, 2 * n}, (0.001, 0.2, 0.49, 0.8), (0.1, 1.0, 4.0)):
        made = PoissonGamma(n=n, m=m, epsilon=epsilon, public_share=guess)
        table = made.log_odds_table()
        assert np.abs(table).max() == pytest.approx(epsilon, rel=1e-10)
        pair, column = (0, m) if guess < 0.5 else (n - 1, 0)
        assert abs(table[pair, column]) == pytest.approx(epsilon, rel=1e-10)
        x, y = made.invented + np.arange(n), made.invented + np.arange(n)[::-1]
        more = table.max(axis=1) if guess < 0.5 else -table.min(axis=1)
        assert np.all(np.exp(more) <= (1 + m / (y if guess < 0.5 else x)) * (1 + 1e-10))


@pytest.mark.parametrize(("n", "m", "epsilon"), [(1, 1, 1.0), (7, 4, 0.3), (20, 30, 2.0)])
def test_a_guess_of_one_half_is_the_beta_binomial_with_its_smallest_prior(n: int, m: int, epsilon: float) -> None:
    alpha = BetaBinomial.smallest_alpha(m=m, epsilon=epsilon)
    expected = BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha).transition_matrix()
    assert np.allclose(
        PoissonGamma(n=n, m=m, epsilon=epsilon, public_share=0.5).transition_matrix(), expected, rtol=1e-10
    )


@pytest.mark.parametrize("guess", [0.2, 0.9])
def test_with_another_guess_the_prior_of_the_beta_binomial_breaks_the_promise(guess: float) -> None:
    alpha = BetaBinomial.smallest_alpha(m=12, epsilon=1.0)
    assert largest_loss(12, 12, guess, alpha) > 1.2
    matrix = listed(12, 12, guess, alpha)
    assert float(np.abs(np.diff(np.log(matrix), axis=0)).max()) == pytest.approx(
        float(largest_loss(12, 12, guess, alpha)), rel=1e-10
    )


def test_the_release_is_drawn_to_the_guess_where_it_is_private() -> None:
    made = PoissonGamma(n=50, m=50, epsilon=0.01, public_share=0.2)
    means = made.transition_matrix() @ np.arange(51) / 50
    assert np.abs(means - 0.2).max() < 0.01
    assert np.allclose(
        PoissonGamma(n=5, m=4, epsilon=1.0, public_share=0.2).transition_matrix(),
        PoissonGamma(n=5, m=4, epsilon=1.0, public_share=0.8).transition_matrix()[::-1, ::-1],
        rtol=1e-10,
    )
