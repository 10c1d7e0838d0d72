"""Numbers that were printed, or worked out by hand, before there was a program."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom

from dpviz import privacy
from dpviz.mechanisms import (
    BetaBinomial,
    DirichletMultinomial,
    LaplaceSanitizer,
    MultinomialMean,
    MultinomialMode,
    PosteriorMean,
    PosteriorMode,
    Synthesizer,
)
from dpviz.privacy import divergence
from tests.helpers import printed_values

FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
FIG_3 = LaplaceSanitizer(n=5, epsilon=2)
EQUATION_1 = BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)
FLAT = BetaBinomial(n=10, m=5, alpha=1, beta=1)
SIX_DIGITS = 0.5e-6 + 1e-12


@pytest.mark.parametrize(("figure", "s"), [(1, FIG_1), (3, FIG_3)])
def test_matrix_equals_the_printed_figure_to_every_digit(figure: int, s: Synthesizer) -> None:
    assert np.abs(s.transition_matrix() - printed_values(figure)).max() <= SIX_DIGITS


@pytest.mark.parametrize(("figure", "s"), [(2, FIG_1), (4, FIG_3)])
def test_log_odds_equal_the_printed_figure_to_every_digit(figure: int, s: Synthesizer) -> None:
    assert np.abs(np.abs(privacy.log_odds_table(s)) - printed_values(figure)).max() <= SIX_DIGITS
    assert privacy.pure_epsilon(s) == pytest.approx(printed_values(figure).max(), abs=SIX_DIGITS)


def test_equation_1_is_not_what_figure_1_shows() -> None:
    first_row = [0.715975, 0.188415, 0.066499, 0.022166, 0.005968, 0.000977]
    assert np.abs(EQUATION_1.transition_matrix()[0] - first_row).max() <= SIX_DIGITS
    assert privacy.pure_epsilon(EQUATION_1) == pytest.approx(math.log(11), rel=1e-15)
    assert privacy.pure_epsilon(FIG_1) == pytest.approx(5 * math.log(3), rel=1e-15)
    assert np.abs(EQUATION_1.transition_matrix() - printed_values(1)).max() > 0.05


def test_what_each_accounting_says_of_figure_1_at_the_printed_epsilon() -> None:
    """The printed δ = 0.0006 gives each offending cell the smaller of its two joint probabilities."""
    assert privacy.probabilistic_delta(FIG_1, 2) == pytest.approx(0.103516, abs=SIX_DIGITS)
    assert privacy.delta_for_epsilon(FIG_1, 2) == pytest.approx(0.065922, abs=SIX_DIGITS)
    offending = divergence.exceeds(privacy.log_odds_table(FIG_1), 2)
    assert offending.sum() == 8
    mass = {}
    for name, law in (("even", privacy.even_counts(FIG_1)), ("jeffreys", betabinom.pmf(np.arange(6), 5, 0.5, 0.5))):
        joint = FIG_1.transition_matrix() * law[:, None]
        above, below = joint[:-1][offending], joint[1:][offending]
        mass[name] = np.minimum(above, below).sum(), np.maximum(above, below).sum()
    assert mass["even"] == pytest.approx((0.000623, 0.040198), abs=SIX_DIGITS)
    assert mass["jeffreys"][1] == pytest.approx(0.031248, abs=SIX_DIGITS)


@pytest.mark.parametrize(("epsilon", "delta", "some_neighbour"), [
    (0.5, 0.0768922750607, Fraction(47, 182)),
    (1.0, 0.0146460662500, Fraction(23, 364)),
    (1.5, 0.000508180209694, Fraction(1, 78)),
])  # fmt: skip
def test_flat_prior_golden_numbers(epsilon: float, delta: float, some_neighbour: Fraction) -> None:
    assert privacy.delta_for_epsilon(FLAT, epsilon) == pytest.approx(delta, abs=0.5e-13)
    assert privacy.probabilistic_delta(FLAT, epsilon) == pytest.approx(float(some_neighbour), rel=1e-13)


def flat_law(n1: int, m1: int) -> Fraction:
    """Beta-binomial probability for α = β = 1, n = 10, m = 5, in whole numbers."""

    def rising(base: int, steps: int) -> int:
        return math.prod(range(base, base + steps))

    return Fraction(math.comb(5, m1) * rising(n1 + 1, m1) * rising(11 - n1, 5 - m1), rising(12, 5))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.5])
def test_probabilistic_measures_by_exact_fractions(epsilon: float) -> None:
    factor, counts = Fraction(math.exp(epsilon)), range(6)
    law = [[flat_law(n1, m1) for m1 in counts] for n1 in range(11)]

    def favours(i: int, j: int, m1: int) -> bool:
        return 0 <= j <= 10 and law[i][m1] > factor * law[j][m1]

    def tells(i: int, m1: int) -> bool:
        return any(0 <= j <= 10 and (favours(i, j, m1) or favours(j, i, m1)) for j in (i - 1, i + 1))

    rows = [float(sum(law[i][m1] for m1 in counts if tells(i, m1))) for i in range(11)]
    assert privacy.failure_by_row(FLAT, epsilon) == pytest.approx(rows, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(("epsilon", "limit"), [(1.0, 1.72), (2.0, 6.39)])
def test_plug_in_with_the_posterior_draws_prior_breaks_its_promise(epsilon: float, limit: float) -> None:
    growth = math.expm1(epsilon)
    for m in (1, 20, 5000):
        kept = BetaBinomial(n=20, m=m, alpha=m / growth, beta=m / growth)
        broken = PosteriorMean(n=20, m=m, alpha=m / growth, beta=m / growth)
        assert privacy.pure_epsilon(kept) == pytest.approx(epsilon, rel=1e-14)
        assert privacy.pure_epsilon(broken) == pytest.approx(m * math.log(1 + growth / m), rel=1e-12)
        if (m, epsilon) == (20, 1.0):
            assert privacy.pure_epsilon(broken) == pytest.approx(1.648, abs=5e-4)
    assert privacy.pure_epsilon(broken) == pytest.approx(limit, abs=0.01)


@pytest.mark.parametrize(("n", "delta", "cls", "prior", "pure_prior"), [
    (100, 1e-5, BetaBinomial, 6.0915, 58.198), (100, 1e-5, PosteriorMean, 15.0426, 99.501),
    (100, 1e-5, PosteriorMode, 16.0426, 100.501), (1000, 1e-6, BetaBinomial, 7.5807, 581.977),
    (1000, 1e-6, PosteriorMean, 22.0976, 999.500), (1000, 1e-6, PosteriorMode, 23.0976, 1000.500),
])  # fmt: skip
def test_table_of_least_priors(n: int, delta: float, cls: Any, prior: float, pure_prior: float) -> None:
    """Published to four decimals; the plug-ins' were recomputed, for the mode's must be the mean's plus 1."""
    less, more = (cls(n=n, m=n, alpha=prior + step, beta=prior + step) for step in (-1e-4, 1e-4))
    assert privacy.delta_for_epsilon(more, 1.0) < delta < privacy.delta_for_epsilon(less, 1.0)
    assert cls.smallest_alpha(m=n, epsilon=1.0) == pytest.approx(pure_prior, abs=5.1e-4)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("m", [1, 7, 100, 1000])
@pytest.mark.parametrize("cls", [
    BetaBinomial, PosteriorMean, PosteriorMode, DirichletMultinomial, MultinomialMean, MultinomialMode,
], ids=lambda cls: cls.key)  # fmt: skip
def test_least_prior_is_private_and_a_hair_less_is_not(cls: Any, m: int, epsilon: float) -> None:
    declared = {declaration.name for declaration in cls.parameters()}
    least = cls.smallest_alpha(m=m, epsilon=epsilon)
    floor = 1.0 if cls in (PosteriorMode, MultinomialMode) else 0.0

    def release(prior: float) -> Synthesizer:
        release: Synthesizer = cls(n=30, m=m, alpha=prior, **({"beta": prior} if "beta" in declared else {"cells": 3}))
        return release

    assert privacy.pure_epsilon(release(least)) <= epsilon
    assert privacy.pure_epsilon(release(floor + (least - floor) * (1 - 1e-9))) > epsilon
