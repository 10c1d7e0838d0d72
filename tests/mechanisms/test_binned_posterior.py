"""SDD: its matrix against sums in many digits and its own recipe, its sensitivity against all neighbours."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest

from dpviz.audit.release_losses import _sdd_loss
from dpviz.mechanisms import BinnedPosterior, BinnedPosteriorExact
from dpviz.privacy import delta_for_epsilon, pure_epsilon

BOTH: list[type[BinnedPosterior | BinnedPosteriorExact]] = [BinnedPosterior, BinnedPosteriorExact]
both = pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.key)
BINS = [(mp.mpf(5) + mp.mpf(k) * 9 / 10) / 100 for k in range(101)]


def entry(made: BinnedPosterior, x: int, j: int) -> mp.mpf:
    """One probability: the exponential mechanism over the bins, and an incomplete beta function for each."""
    n, m, power = made.n, made.m, mp.mpf(made.epsilon) / (2 * mp.mpf(made.sensitivity))
    total = chosen = mp.mpf(0)
    for low, high in itertools.pairwise(BINS):
        middle = (low + high) / 2
        weight = (middle**x * (1 - middle) ** (n - x)) ** power
        total += weight
        chosen += weight * mp.binomial(m, j) * mp.betainc(j + 1, m - j + 1, low, high) / (high - low)
    return chosen / total


@both
@pytest.mark.parametrize(("n", "m", "epsilon"), [(5, 4, 1e-6), (6, 9, 1.0), (40, 300, 0.3), (30, 20, 1000.0)])
def test_entries_and_log_odds_are_those_of_many_digits(cls, n, m, epsilon):
    made = cls(n=n, m=m, epsilon=epsilon)
    table, odds = made.log_transition_matrix(), made.log_odds_table()
    with mp.workdps(60):
        for x, j in ((0, 0), (0, m), (n // 2, m // 3), (n - 1, 0)):
            one, other = entry(made, x, j), entry(made, x + 1, j)
            assert table[x, j] == pytest.approx(float(mp.log(one)), rel=1e-12, abs=1e-12)
            assert odds[x, j] == pytest.approx(float(mp.log(one / other)), rel=1e-10, abs=1e-13 * epsilon)


@both
def test_draws_by_its_own_recipe_have_its_probabilities(cls: type[BinnedPosterior]) -> None:
    n, m, x, number, generator = 20, 15, 4, 100_000, np.random.default_rng(2016)
    made = cls(n=n, m=m, epsilon=8.0)
    ends = np.linspace(0.05, 0.95, 101)
    middles = (ends[1:] + ends[:-1]) / 2
    score = x * np.log(middles) + (n - x) * np.log1p(-middles)
    gumbel = np.argmax(made.epsilon / (2 * made.sensitivity) * score + generator.gumbel(size=(number, 100)), axis=1)
    released = generator.binomial(m, generator.uniform(ends[gumbel], ends[gumbel + 1]))
    share, expected = np.bincount(released, minlength=m + 1) / number, made.row(x)
    assert np.all(np.abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / number))


def changes(n: int) -> float:
    """The most that one row changes ln f at the middle of a bin, f normalized from 0.05 to 0.95 by quadrature."""
    theta, middles = np.linspace(0.05, 0.95, 40_001), np.linspace(0.0545, 0.9455, 100)
    found = []
    for x in range(n + 1):
        mass = np.trapezoid(theta**x * (1 - theta) ** (n - x), theta)
        found.append(x * np.log(middles) + (n - x) * np.log1p(-middles) - np.log(mass))
    return float(np.abs(np.diff(found, axis=0)).max())


@pytest.mark.parametrize("n", [1, 4, 30, 100])
def test_the_true_sensitivity_is_that_of_all_neighbours_and_bins_and_half_of_it_is_not(n: int) -> None:
    printed, true = (cls(n=n, m=3, epsilon=1.0).sensitivity for cls in BOTH)
    assert true == pytest.approx(changes(n), rel=1e-5)
    assert true / 2 < changes(n) * (1 - 1e-5)
    assert printed > true


@both
def test_the_promise_is_kept_and_the_printed_sensitivity_wastes_nearly_all_of_it(cls: type[BinnedPosterior]) -> None:
    for n, m, epsilon in itertools.product((1, 10, 100), (1, 40), (1e-3, 1.0, 20.0)):
        made = cls(n=n, m=m, epsilon=epsilon)
        bin_alone = _sdd_loss(n, epsilon, made.sensitivity)
        assert pure_epsilon(made) <= bin_alone * (1 + 1e-9)
        assert bin_alone <= epsilon
        assert n < 100 or (pure_epsilon(made) < epsilon / 300) == (cls is BinnedPosterior) or m == 1


def test_a_sensitivity_that_is_far_too_small_breaks_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixth of the true one. Half of it does not: the score's normalizing constant costs no privacy."""
    made = BinnedPosteriorExact(n=100, m=100, epsilon=0.5)
    monkeypatch.setattr(BinnedPosteriorExact, "sensitivity", made.sensitivity / 6)
    assert np.abs(np.diff(made.log_transition_matrix(), axis=0)).max() > 1.1 * made.epsilon
    assert delta_for_epsilon(made, made.epsilon) > 0


@both
def test_ones_and_zeros_are_alike_and_large_tables_are_distributions(cls: type[BinnedPosterior]) -> None:
    matrix = cls(n=400, m=500, epsilon=100.0).transition_matrix()
    assert np.allclose(matrix, matrix[::-1, ::-1], rtol=1e-9, atol=1e-300)
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-11


def test_without_a_promise_to_spend_the_proportion_is_drawn_evenly() -> None:
    made = BinnedPosterior(n=10, m=1, epsilon=1e-6)
    assert np.allclose(made.transition_matrix(), 0.5, atol=1e-6)
