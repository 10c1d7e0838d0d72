"""The referees against numbers that can be done by hand."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from tests import referees
from tests.referees import COUNT_LAWS, beta_binomial_law, every_release, excess, gaussian_posterior, listed_delta

COINS = np.array([[0.5, 0.5], [0.25, 0.75]])


def test_laws_of_a_count_are_those_of_urns_and_coins() -> None:
    assert beta_binomial_law(1, 1, 3) == [mp.mpf(1) / 4] * 4
    assert [float(12 * one) for one in beta_binomial_law(1, 2, 2)] == pytest.approx([6, 4, 2])
    assert [float(8 * one) for one in referees.binomial_distribution(3, 0.5)] == [1, 3, 3, 1]
    assert [float(9 * one) for one in COUNT_LAWS["synth_post_many"](1, 2, 2)] == pytest.approx([4, 4, 1])
    assert COUNT_LAWS["synth_map"](2, 3, 2) == COUNT_LAWS["synth_post_many"](1, 2, 2)


@pytest.mark.parametrize("method", COUNT_LAWS)
def test_scipy_has_the_same_laws(method: str) -> None:
    table = referees.scipy_rows(method, 3, 4, 1.5, 2.5).pmf(np.arange(5))
    assert table == pytest.approx(np.array(referees.rows_of(method, 3, 4, 1.5, 2.5), dtype=float), rel=1e-12)


def test_delta_of_two_coins() -> None:
    """At ε = ln 1.2 the heads of the fair coin exceed 1.2 · ¼ by 0.2, the other's tails 1.2 · ½ by 0.15."""
    epsilon = math.log(1.2)
    assert float(excess(COINS[0], COINS[1], epsilon)) == pytest.approx(0.2)
    assert float(excess(COINS[1], COINS[0], epsilon)) == pytest.approx(0.15)
    assert float(referees.worst_excess(COINS[::-1], epsilon)) == pytest.approx(0.2)
    assert referees.divergence(COINS, [(1, 0)], epsilon) == pytest.approx(0.2)
    fair, other = np.log(COINS)
    up, down = (referees.discretized_delta(fair, other, epsilon, rounded_up=one) for one in (True, False))
    assert down <= 0.2 <= up <= down + 1e-3


def test_delta_of_one_drawn_proportion_and_of_one_normal_number() -> None:
    assert float(referees.beta_excess(1, 1, math.log(2))) == pytest.approx(1 / 3)
    assert float(referees.gaussian_excess(1, 0)) == pytest.approx(math.erf(0.5 / math.sqrt(2)))
    assert [float(one) for one in gaussian_posterior(4, 0.5)] == [0.5, 0.125]
    assert [float(one) for one in gaussian_posterior(4, math.inf)] == [1.0, 0.25]


def test_sets_are_listed_in_the_order_of_their_counts() -> None:
    assert referees.of_sets(COINS, 2).tolist() == [[0.25] * 4, [0.0625, 0.1875, 0.1875, 0.5625]]
    release = referees.charest(1.0, sets=2, rows=3)
    chance, counts = every_release(release, 2, 0.3)
    assert counts.tolist() == [list(pair) for pair in itertools.product(range(4), repeat=2)]
    assert chance.sum() == pytest.approx(1)
    matrix = release.transition_matrix()
    assert every_release(release, 2, 0.3, 1)[0][7] == pytest.approx(matrix[1, 1] * matrix[1, 3])
    assert listed_delta(release, 0.5 * (1 + 1e-12)) <= 1e-15 < listed_delta(release, 0.49)
