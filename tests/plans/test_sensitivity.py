"""What other assumptions would need, held against hand computation and plans that assume them from the start."""

import dataclasses
import math
import pickle
import re

import numpy as np
import pytest

from dpviz.charts.plan import ranges_chart
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.plans import BoundedMean, CategoryShares, ReleasePlan, YesNoShare, assumption_curves, solve_plan
from dpviz.plans.figures import promise_label
from dpviz.plans.sensitivity import ASSUMPTIONS, SEARCHED_SCALES, epsilon_curve
from dpviz.plans.summary import sentence, table

HOURS, WORKS = BoundedMean(name="hours", upper=80.0, limit=0.5), YesNoShare(name="works", limit=0.02)
TABLE = CategoryShares(name="region", limit=0.02, suppress_below=5)
EPSILON, GUESSES = EpsilonDeltaLimit(most_epsilon=1.0), GuessingLimit(most_success=0.6)
PLANS = [
    ReleasePlan(n=n, statistics=statistics, protection=protection, neighbours=neighbours, person_rows=rows)
    for n, statistics, protection, neighbours, rows in (
        (300, (HOURS,), EPSILON, "substitution", 1),
        (5000, (HOURS, WORKS), EPSILON, "add_remove", 2),
        (300, (TABLE, WORKS), EPSILON, "substitution", 1),
        (5000, (HOURS,), GUESSES, "substitution", 1),
        (300, (WORKS,), GUESSES, "add_remove", 2),
    )
]


def test_a_mean_alone_is_as_its_bounds_are_far_apart() -> None:
    """By hand: Laplace noise on the mean is off by √2 times the range over n ε, and needs ε in proportion."""
    hours = dataclasses.replace(HOURS, limit=0.1)
    plan = ReleasePlan(n=5000, statistics=(hours,), protection=EpsilonDeltaLimit(most_epsilon=1.0))
    bounds, rows = assumption_curves(solve_plan(plan))
    for point in (*bounds.points, *rows.points):
        error = math.sqrt(2) * 80 * point.scale / 5000
        assert point.factor == pytest.approx(error / 0.1, rel=1e-9)
        assert point.needed == pytest.approx(error / 0.1, rel=1e-9)
    assert bounds.widest == pytest.approx(0.1 * 5000 / (80 * math.sqrt(2)), rel=1e-4)
    assert rows.widest == math.floor(0.1 * 5000 / (80 * math.sqrt(2)))


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_a_place_is_the_plan_that_assumes_so_and_the_widest_is_the_last_that_holds(plan: ReleasePlan) -> None:
    answer = solve_plan(plan)
    curves = assumption_curves(answer)
    assert pickle.loads(pickle.dumps(curves)) == curves
    for curve in curves:
        assert [point.scale for point in curve.points] == sorted(point.scale for point in curve.points)
        changed = ASSUMPTIONS[curve.assumption]
        for point in curve.points:
            solved = answer if point.scale == 1 else solve_plan(changed(plan, point.scale))
            assert point.factor == pytest.approx(solved.factor, rel=1e-12)
            assert (point.factor <= 1) == (point.needed <= 1 + 1e-9)
        if curve.widest:
            assert solve_plan(changed(plan, curve.widest)).factor <= 1 + 1e-9
        if not curve.all_hold:
            of_rows = np.arange(1, 101) / plan.person_rows
            searched = of_rows if curve.assumption == "rows of a person" else SEARCHED_SCALES
            next_scale = float(searched[searched > curve.widest][0])
            assert solve_plan(changed(plan, next_scale)).factor > 1 - 1e-9
        text = sentence("assumption", solution=answer, curve=curve)
        assert not re.search(r"\bnan|\binf\b|\{|  |\b1 times|-0", text)
        assert text.endswith(".")
        times = re.search(r"(\S+) times as (?:far|wide)", text)
        assert times is None or 0.99 * curve.widest < float(times[1]) <= curve.widest * (1 + 1e-12)
    assert len(table("assumptions", plan=plan, curves=curves).rows) == sum(len(curve.points) for curve in curves)
    points = {curve.assumption: curve.points for curve in curves}
    lines = ranges_chart(points, promised=promise_label(plan)).to_dict()["data"]
    assert len(lines) == 2 * len(curves)


def test_verdicts_say_that_withheld_counts_are_not_counted() -> None:
    for statistics, is_said in (((TABLE, WORKS), True), ((WORKS,), False)):
        plan = ReleasePlan(n=5000, statistics=statistics, protection=EPSILON)
        answer = solve_plan(plan)
        curves = assumption_curves(answer)
        texts = [sentence("assumption", solution=answer, curve=curve) for curve in curves]
        texts += [sentence("changes", solution=answer, curve=epsilon_curve(plan))]
        texts += [table("assumptions", plan=plan, curves=curves).head[-1]]
        assert all(("before small counts are withheld" in text.lower()) == is_said for text in texts), texts


def test_what_cannot_be_wider_is_left_out() -> None:
    answer = solve_plan(ReleasePlan(n=300, statistics=(HOURS, WORKS)))
    last = assumption_curves(answer)[-1]
    assert last.assumption == "rows of a person" and [point.scale for point in last.points] == [1, 2, 4]
    far = dataclasses.replace(HOURS, lower=-1e9, upper=1e9, limit=1e6)
    bounds = assumption_curves(solve_plan(ReleasePlan(n=300, statistics=(far,))))[0]
    assert max(point.scale for point in bounds.points) == 1
    free = ReleasePlan(n=300, statistics=(HOURS,), protection=GuessingLimit(most_success=1.0))
    assert assumption_curves(solve_plan(free)) == ()
