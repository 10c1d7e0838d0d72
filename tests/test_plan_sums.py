"""Sums of losses of a plan: against every outcome, dp-accounting and whole rows; and the work that is said before."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import warnings

import numpy as np
import pytest

from dpviz.desk.protection import GuessRate, PrivacyLoss, Protection
from dpviz.mechanisms import BetaBinomial
from dpviz.plans import BoundedMean, CategoryShares, PlanDesign, ReleasePlan, YesNoShare, expected_work, solve_plan
from dpviz.plans.catalogue import BetaBinomialDraw
from dpviz.plans.losses import LossBounds, laplace_losses
from dpviz.plans.release import GeometricNoise
from dpviz.plans.statistic import Statistic
from dpviz.plans.summed import UNSEEN_TAIL, _cells, summed_losses
from dpviz.privacy.pld import PrivacyLossDistribution
from tests.referees import beta_binomial_law
from tests.test_plan_shares import FIVE, GROUPS

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
        protection=PrivacyLoss(most_epsilon=1.0, most_delta=1e-3),
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
        assert found.lower * (1 - 1e-9) <= worst <= found.upper * (1 + 1e-9)
        assert found.upper <= worst * 1.02 + 1e-12


@pytest.mark.parametrize("cells", [50, 500, 8_000])
def test_alternatives_are_the_worst_at_each_loss_of_the_others(cells: int) -> None:
    """Neither of two losses is the worse at every ε; by definition, δ = Σ Pr(l) max δ(ε − l)."""

    def losses(masses: list[float], other: list[float]) -> LossBounds:
        return LossBounds.exactly(np.log(np.array(masses) / np.array(other)), np.array(masses))

    often, seldom = losses([0.6, 0.4], [0.4, 0.6]), losses([0.05, 0.95], [0.0001, 0.9999])
    third = losses([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])
    found = summed_losses([[often, seldom], [third]], cells=cells)
    for epsilon in np.linspace(-1, 8, 57).tolist():
        worst = sum(
            mass * max(one.above.delta_for_epsilon(epsilon - loss) for one in (often, seldom))
            for loss, mass in zip(third.above.losses, third.above.masses, strict=True)
        )
        ends = found.delta(epsilon)
        assert ends.lower * (1 - 1e-11) <= worst * (1 + 1e-11) <= ends.upper * (1 + 1e-10)
        assert cells < 8_000 or ends.upper <= worst * (1 + 1e-3) + 1e-5


@pytest.mark.parametrize("n", [50, 100_000])
@pytest.mark.parametrize("alpha", [0.3, 20.0, 60_000.0])
def test_losses_of_a_first_pair_are_those_of_whole_rows(n: int, alpha: float) -> None:
    draw = BetaBinomial.up_to(n)(n=n, m=n, alpha=alpha, beta=alpha)
    found = draw.first_pair_losses(UNSEEN_TAIL)
    some = np.isfinite(found.losses)
    whole = -draw.log_odds(np.array([0]), np.arange(n + 1))[0]
    first = int(np.argmin(np.abs(whole - found.losses[0])))
    inside = slice(first, first + int(some.sum()))
    row = draw.row(1)
    assert found.losses[some] == pytest.approx(whole[inside], abs=1e-12)
    assert found.masses[some] == pytest.approx(row[inside], rel=1e-9, abs=1e-300)
    assert row[: inside.start].sum() + row[inside.stop :].sum() <= found.masses[~some].sum() <= UNSEEN_TAIL


def test_twenty_laplace_noises_lie_between_those_of_dp_accounting() -> None:
    sizes = [0.05 * (1 + place / 7) for place in range(20)]
    found, ends = summed_losses([[laplace_losses(one)] for one in sizes]), []
    for up in (True, False):
        given = {"pessimistic_estimate": up, "value_discretization_interval": 1e-4}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = [google.from_laplace_mechanism(1 / one, **given) for one in sizes]
        ends.append(functools.reduce(lambda one, other: one.compose(other), parts))
    for epsilon in (0.0, 0.4, 0.8, 1.5):
        high, low = (float(one.get_delta_for_epsilon(epsilon)) for one in ends)
        ours = found.delta(epsilon)
        assert low * (1 - 1e-9) <= ours.upper <= ours.lower * (1 + 1e-3)
        assert ours.lower <= high * (1 + 1e-9)


@pytest.mark.parametrize(
    ("statistics", "n", "delta"),
    [((*draws(3), *REST), 100_000, 1e-9), ((*draws(3), *REST), 100_000, 1e-3), ((*COUNTS, *MEANS), 12_000, 1e-6)],
)
def test_large_plans_are_a_few_seconds_of_counted_work(statistics: tuple[Statistic, ...], n: int, delta: float) -> None:
    plan = ReleasePlan(n=n, statistics=statistics, protection=PrivacyLoss(most_epsilon=1.0, most_delta=delta))
    answer = solve_plan(plan)
    assert answer.design.keeps_promise and answer.work.seconds < 5
    before = dataclasses.replace(answer.work)
    assert answer.design.right_guesses <= 1 and answer.design.epsilon(delta).upper <= 1.0
    assert answer.work.convolved - before.convolved < 1e9


PROMISES: dict[str, Protection] = {
    "ε": PrivacyLoss(most_epsilon=1.0),
    "small δ": PrivacyLoss(most_epsilon=1.0, most_delta=1e-9),
    "guesses": GuessRate(most_success=0.6),
}


OFFERED = FIVE[:1], FIVE[:4], FIVE, draws(1), (*draws(2), *REST), (*COUNTS, *MEANS)


@pytest.mark.parametrize(
    ("statistics", "n", "promise"),
    [
        (statistics, n, promise)
        for place, statistics in enumerate(OFFERED)
        for turn, (n, promise) in enumerate(itertools.product((100, 100_000), PROMISES))
        if (place + turn) % 2  # every promise, and few and many people, for each
    ],
    ids=lambda one: len(one) if isinstance(one, tuple) else one,
)
def test_work_is_said_before_within_a_factor(statistics: tuple[Statistic, ...], n: int, promise: str) -> None:
    """By what is counted, not by a clock."""
    groups = tuple((name, max(size * n // 12_000, 1)) for name, size in GROUPS) if statistics == FIVE else ()
    plan = ReleasePlan(n=n, statistics=statistics, protection=PROMISES[promise], groups=groups)
    done, expected = solve_plan(plan).work.seconds, expected_work(plan).seconds
    assert expected <= 4 * max(done, 0.3) and done <= 4 * max(expected, 0.3)


def test_what_lies_far_below_the_first_cell_overflows_nothing() -> None:
    held = PrivacyLossDistribution(np.array([-900.0, 0.05, 2.0]), np.log([1e-300, 0.25, 0.75]))
    likelier, other = _cells(held, 0.0, 0.1)
    assert likelier.sum() == pytest.approx(1.0) and np.isfinite(other).all()
    assert other[20] == pytest.approx(0.75)  # at a point of the grid nothing moves
