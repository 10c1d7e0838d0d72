"""The Poisson mechanism of one count, and what is printed of it for one count and for a table, against long lists."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import poisson

from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.comparisons import BinaryData, EqualPrivacy, EqualPromise
from dpviz.comparisons.budget import SplitOverSets
from dpviz.designs import Design
from dpviz.mechanisms import PoissonCount
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from tests.referees import excess, listed_delta

ADDITIONS = [1e-300, 1e-3, 0.5, 6.0, 120.0, 500.0]
PROMISES = [(1.0, 1e-2), (1.0, 1e-5), (1.3, 1e-3), (2.0, 1e-2), (2.0, 1e-6), (5.0, 1e-4), (30.0, 1e-9)]
METHODS = RELEASE_METHODS


def rows_of_count(n: int, alpha: float) -> list[list[mp.mpf]]:
    """Every probability in mpmath, the last by the terms of the tail."""
    rows = []
    for x in range(n + 1):
        mean = mp.mpf(alpha) + x
        masses = [mp.exp(-mean) * mean**j / mp.factorial(j) for j in range(n)]
        rows.append([*masses, mp.fsum(mp.exp(-mean) * mean**k / mp.factorial(k) for k in range(n, n + 700))])
    return rows


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("alpha", ADDITIONS[:-1])
def test_rows_log_odds_and_delta_are_those_of_many_digits(n: int, alpha: float) -> None:
    made = PoissonCount(n=n, alpha=alpha)
    with mp.workdps(40):
        rows = rows_of_count(n, alpha)
        odds = [
            [float(mp.log(one / other)) for one, other in zip(*pair, strict=True)] for pair in itertools.pairwise(rows)
        ]
        exact = float(
            max(excess(*pair, mp.mpf("0.7")) for near in itertools.pairwise(rows) for pair in (near, near[::-1]))
        )
        matrix = [[float(one) for one in row] for row in rows]
    assert np.allclose(made.transition_matrix(), matrix, rtol=1e-12)
    assert np.allclose(made.log_odds_table(), odds, rtol=1e-12, atol=1e-14)
    assert pure_epsilon(made) == pytest.approx(np.abs(odds).max(), rel=1e-13)
    assert delta_for_epsilon(made, 0.7) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 40.0])
def test_a_large_table_has_the_probabilities_of_scipy(alpha: float) -> None:
    made, j, x = PoissonCount(n=1000, alpha=alpha), np.arange(1000), np.array([0, 1, 500, 999, 1000])
    found = made.log_transition(x, np.arange(1001))
    assert np.allclose(found[:, :-1], poisson.logpmf(j, x[:, None] + alpha), rtol=1e-12, atol=1e-10)
    likely = np.array([3, 4])
    assert np.allclose(np.exp(found[likely, -1]), poisson.sf(999, x[likely] + alpha), rtol=1e-11)


def test_no_addition_gives_an_epsilon_below_one_and_more_is_never_less_private() -> None:
    for n in (1, 5, 30):
        made = [PoissonCount(n=n, alpha=alpha) for alpha in ADDITIONS]
        losses = [pure_epsilon(one) for one in made]
        assert min(losses) == 1.0 and sorted(losses, reverse=True) == losses
        for epsilon in (0.0, 0.5, 1.5):
            deltas = [delta_for_epsilon(one, epsilon) for one in made]
            assert all(more <= less * (1 + 1e-12) for less, more in itertools.pairwise(deltas))
            assert deltas[1] == pytest.approx(listed_delta(made[1], epsilon), rel=1e-11)


@pytest.mark.parametrize(("sets", "alpha"), [(1, 2.0), (3, 0.5)])
def test_a_design_takes_what_is_added_and_divides_nothing(sets: int, alpha: float) -> None:
    design = Design(mechanism="poisson_count", n=12, alpha=alpha, sets=sets)
    assert design.promised == ("alpha",)
    assert design.release == PoissonCount(n=12, alpha=alpha)
    assert Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    assert Design.releasing(PoissonCount(n=12, alpha=alpha), sets=sets) == design


@pytest.mark.parametrize("n", [1, 2, 9, 60])
@pytest.mark.parametrize("epsilon", [1.0, 1.2, 3.0, 40.0])
def test_the_smallest_addition_keeps_an_epsilon_from_one_on_and_less_does_not(n: int, epsilon: float) -> None:
    """Over every pair of tables and all that can be published."""
    alpha = PoissonCount.smallest_alpha(m=n, epsilon=epsilon)
    losses = [float(np.abs(PoissonCount(n=n, alpha=one).log_odds_table()).max()) for one in (alpha, alpha * (1 - 1e-9))]
    assert losses[0] == pytest.approx(epsilon, rel=1e-11) and losses[0] <= epsilon < losses[1]


def test_below_one_an_epsilon_needs_a_delta_and_the_comparisons_say_so() -> None:
    data = BinaryData(n=20, p=0.25)
    method = data.method("poisson_count")
    assert method not in {one.method for one in data.compare([method], [0.7])}
    assert EqualPromise().absence(method, data, 0.7, 1).startswith("no ε below 1 holds for it without a δ")
    assert EqualPrivacy().setting(method, data, 0.7, 1) is None
    assert EqualPromise().setting(method, data, 1.0, 1) == 1.0
    for epsilon, delta in ((0.1, 1e-6), (0.7, 1e-3), (2.0, 1e-3)):
        setting = EqualPrivacy(delta).setting(method, data, epsilon, 1)
        assert setting is not None
        found = [
            listed_delta(PoissonCount(n=20, alpha=PoissonCount.smallest_alpha(m=20, epsilon=one)), epsilon)
            for one in (setting, setting * (1 + 1e-5))
        ]
        assert found[0] <= delta * (1 + 1e-9) and delta < found[1]


def test_one_set_is_not_divided_and_budget_says_why() -> None:
    method = BinaryData.method("poisson_count")
    assert method.divided() is None
    assert SplitOverSets.problem(BinaryData.default(), method).startswith("Poisson count releases one set.")


# What is printed of it.


@pytest.mark.parametrize(("m", "epsilon"), list(itertools.product((10, 100, 900, 1000), (1.0, 1.1, 1.5, 3.0))))
def test_the_smallest_alpha_is_on_the_private_side_in_forty_digits(m: int, epsilon: float) -> None:
    with mp.workdps(40):
        alpha = mp.mpf(PoissonCount.smallest_alpha(m=m, epsilon=epsilon))
        with_one, without = (mp.gammainc(m, 0, mean, regularized=True) for mean in (alpha + 1, alpha))
        loss = mp.log(with_one / without)
        assert epsilon * (1 - mp.mpf("1e-11")) < loss <= epsilon


def test_no_alpha_is_given_for_more_rows_than_the_mechanism_takes() -> None:
    with pytest.raises(ValueError, match="must be a whole number from 1 to 1,000; got 2,000"):
        PoissonCount.smallest_alpha(m=2000, epsilon=1.5)
