"""Sums of losses of a plan: against every outcome, dp-accounting and whole rows; and the work that is said before."""

from __future__ import annotations

import functools
import itertools
import math
import warnings

import numpy as np
import pytest

from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.mechanisms import BetaBinomial
from dpviz.plans import BoundedMean, CategoryShares, PlanDesign, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.composition import compose_parts, laplace_part
from dpviz.plans.mechanisms import NEGLIGIBLE_MASS, BetaBinomialDraw, GeometricNoise, LossPart
from dpviz.plans.statistics import Statistic
from dpviz.privacy.pld import PrivacyLossDistribution
from tests.referees import beta_binomial_law

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dp_accounting.pld import privacy_loss_distribution as google


def draws(many: int) -> tuple[YesNoShare, ...]:
    return tuple(YesNoShare(name=f"b{one}", limit=0.02 + 0.002 * one, mechanism="beta_binomial") for one in range(many))


REST = CategoryShares(name="region", limit=0.01, categories=6), BoundedMean(name="hours", limit=0.5, upper=80.0)
COUNTS = tuple(YesNoShare(name=f"y{one}", limit=0.01 + 0.001 * one) for one in range(10))
MEANS = tuple(BoundedMean(name=f"m{one}", limit=1 + 0.1 * one, mechanism="laplace") for one in range(10))


@pytest.mark.parametrize("n, many", [(5, 2), (4, 3), (9, 2)])
@pytest.mark.parametrize("alpha", [0.7, 3.0])
def test_several_draws_are_no_worse_than_told_for_any_pairs_and_outcomes(n: int, many: int, alpha: float) -> None:
    """Pólya's urn for each draw, a coin for a count: all pairs of neighbours, in all directions, and all outcomes."""
    rate = 0.4
    plan = ReleasePlan(
        n=n,
        statistics=(*draws(many), YesNoShare(name="works")),
        protection=EpsilonDeltaLimit(most_epsilon=1.0, most_delta=1e-3),
    )
    draw = BetaBinomialDraw(math.log1p(n / alpha), n)
    design = PlanDesign(plan, (*[draw] * many, GeometricNoise(rate, n)))
    rows = [np.array(beta_binomial_law(alpha + x, alpha + n - x, n), dtype=float) for x in range(n + 1)]
    true = 1 / (1 + math.exp(-rate))
    coin = np.array([true, 1 - true]), np.array([1 - true, true])
    pairs = [one for x in range(n) for one in ((rows[x], rows[x + 1]), (rows[x + 1], rows[x]))]
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        worst = 0.0
        for chosen in itertools.combinations_with_replacement(pairs, many):
            likelier, other = (
                functools.reduce(np.multiply.outer, [one[side] for one in (*chosen, coin)]) for side in (0, 1)
            )
            worst = max(worst, float(np.maximum(likelier - math.exp(epsilon) * other, 0).sum()))
        found = design.delta(epsilon)
        assert worst * (1 - 1e-9) <= found <= worst * 1.02 + 1e-12


def test_of_candidates_the_worst_counts_at_each_loss_of_the_others() -> None:
    """Neither of two losses is the worse at every ε; by definition, δ = Σ Pr(l) max δ(ε − l)."""

    def losses(masses: list[float], other: list[float]) -> PrivacyLossDistribution:
        return PrivacyLossDistribution(np.log(np.array(masses) / np.array(other)), np.log(masses))

    often, seldom = losses([0.6, 0.4], [0.4, 0.6]), losses([0.05, 0.95], [0.0001, 0.9999])
    third = losses([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])
    found, is_exact = compose_parts([LossPart((often, seldom)), LossPart((third,))])
    assert not is_exact
    for epsilon in np.linspace(-1, 8, 57).tolist():
        worst = sum(
            mass * max(one.delta_for_epsilon(epsilon - loss) for one in (often, seldom))
            for loss, mass in zip(third.losses, third.masses, strict=True)
        )
        assert worst * (1 - 1e-10) <= found.delta_for_epsilon(epsilon) <= worst * (1 + 1e-3) + 1e-5


@pytest.mark.parametrize("n", [50, 100_000])
@pytest.mark.parametrize("alpha", [0.3, 20.0, 60_000.0])
def test_losses_of_a_first_pair_are_those_of_whole_rows(n: int, alpha: float) -> None:
    draw = BetaBinomial.up_to(n)(n=n, m=n, alpha=alpha, beta=alpha)
    found = draw.first_pair_losses(NEGLIGIBLE_MASS)
    some = np.isfinite(found.losses)
    whole = -draw.log_odds(np.array([0]), np.arange(n + 1))[0]
    first = int(np.argmin(np.abs(whole - found.losses[0])))
    inside = slice(first, first + int(some.sum()))
    row = draw.row(1)
    assert found.losses[some] == pytest.approx(whole[inside], abs=1e-12)
    assert found.masses[some] == pytest.approx(row[inside], rel=1e-9, abs=1e-300)
    assert row[: inside.start].sum() + row[inside.stop :].sum() <= found.masses[~some].sum() <= NEGLIGIBLE_MASS


def test_twenty_laplace_noises_lie_between_those_of_dp_accounting() -> None:
    sizes = [0.05 * (1 + place / 7) for place in range(20)]
    found, _ = compose_parts([laplace_part(one) for one in sizes])
    ends = []
    for up in (True, False):
        given = {"pessimistic_estimate": up, "value_discretization_interval": 1e-4}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = [google.from_laplace_mechanism(1 / one, **given) for one in sizes]
        ends.append(functools.reduce(lambda one, other: one.compose(other), parts))
    for epsilon in (0.0, 0.4, 0.8, 1.5):
        high, low = (float(one.get_delta_for_epsilon(epsilon)) for one in ends)
        assert low * (1 - 1e-9) <= found.delta_for_epsilon(epsilon) <= high * (1 + 1e-3)


@pytest.mark.parametrize(
    ("statistics", "n", "delta"),
    [((*draws(3), *REST), 100_000, 1e-9), ((*draws(3), *REST), 100_000, 1e-3), ((*COUNTS, *MEANS), 12_000, 1e-6)],
)
def test_large_plans_are_solved(statistics: tuple[Statistic, ...], n: int, delta: float) -> None:
    plan = ReleasePlan(n=n, statistics=statistics, protection=EpsilonDeltaLimit(most_epsilon=1.0, most_delta=delta))
    answer = solve_plan(plan)
    assert answer.design.keeps_promise and not answer.design.is_exact
    assert answer.design.right_guesses <= 1 and answer.design.epsilon(delta) <= 1.0
