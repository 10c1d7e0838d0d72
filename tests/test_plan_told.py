"""What the page of plans shows of an answer: every number of its sentences and its picture is that of the answer."""

from __future__ import annotations

import ast
import dataclasses
import math
import re

import pytest

from dpviz.desk.protection import GuessRate, PrivacyLoss
from dpviz.plans import BoundedMean, CategoryShares, PlanDesign, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.drawn import SolvedPlan, composed_curves, plan_picture, solved_plan, stream_factors
from dpviz.plans.told import answer_told, mixtures_table, plan_files, rejected_table, statistics_csv, statistics_table

STATISTICS = (
    YesNoShare(name="Works", limit=0.01),
    CategoryShares(name="Region", categories=3, limit=0.02),
    BoundedMean(name="Hours", lower=0.0, upper=80.0, limit=0.8),
)
PROMISES = (
    PrivacyLoss(most_epsilon=1.0),
    PrivacyLoss(most_epsilon=0.1),
    PrivacyLoss(most_epsilon=1.0, most_delta=1e-5),
    GuessRate(most_success=0.6),
    GuessRate(most_success=0.501),
    GuessRate(most_success=1.0),
)
PLANS = [
    ReleasePlan(n=1000, statistics=statistics, protection=promise, spend_all=spend)
    for promise in PROMISES
    for spend in (False, True)
    for statistics in (STATISTICS, STATISTICS[:2], STATISTICS[:1])
]
every_plan = pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))


def solved(plan: ReleasePlan) -> SolvedPlan:
    return solved_plan(plan)


@every_plan
def test_the_answer_is_that_of_the_plan_and_short_enough_for_a_class(plan: ReleasePlan) -> None:
    found = solved(plan)
    told, answer = answer_told(found), found.answer
    assert len(told.short.split()) <= 15, told.short
    assert not re.search(r"nan|inf\b|None", told.sentence)
    assert ("must give way" in told.mark) is not answer.feasible
    epsilon, delta = plan.promise
    if answer.feasible and 0 < epsilon < math.inf:
        said = float(re.findall(r"ε\u00a0=\u00a0([\d.]+) of", told.sentence)[0])
        real = solve_plan(plan).needed.epsilon(delta).upper
        assert real <= said <= 1.01 * real  # rounded to the side that is true
        assert plan.unit_in_words in told.sentence


@every_plan
def test_the_picture_has_the_shares_and_errors_of_the_design(plan: ReleasePlan) -> None:
    found = solved(plan)
    design = found.answer.design
    bars, kept, broken, *_ = plan_picture(found).to_dict()["data"]
    assert len(bars["customdata"]) == len(plan.statistics) + 1
    assert len(kept["customdata"]) + len(broken["customdata"]) == len(plan.statistics)
    assert len(broken["customdata"]) == sum(one > 1 for one in design.used())
    epsilon, delta = plan.promise
    if delta == 0 and epsilon < math.inf:
        assert math.fsum(found.parts) == pytest.approx(found.whole)
        assert found.whole * epsilon == pytest.approx(design.pure_epsilon)
    assert found.whole <= found.basic * (1 + 1e-9)


def test_what_adding_up_would_ask_for_is_shown_where_it_breaks_a_limit() -> None:
    plan = ReleasePlan(n=1000, statistics=STATISTICS, protection=GuessRate(most_success=0.54), spend_all=False)
    answer = solve_plan(plan)
    ring = plan_picture(solved_plan(plan)).to_dict()["data"][-1]
    assert answer.by_basic > 1
    assert len(ring["customdata"]) == len(STATISTICS)
    assert (
        ring["text"][0] == f"{100 * answer.by_basic if answer.feasible else 100 * answer.factor * answer.saved:.3g} %"
    )


def test_tables_and_files_have_a_row_for_each_statistic_and_names_are_no_markup() -> None:
    evil = dataclasses.replace(STATISTICS[0], name="<b>x</b>")
    answer = solve_plan(ReleasePlan(n=1000, statistics=(evil, *STATISTICS[1:])))
    assert "<b>x" not in str(statistics_table(answer).rows) and "<b>x" not in str(mixtures_table(answer, 3).rows)
    assert len(statistics_table(answer).rows) == 3
    assert statistics_csv(answer).count("\n") == 4
    report, stored, notebook = plan_files(answer, "1 May 2026", "https://x")
    assert "<b>x</b>" not in report and "x" in stored and ast.literal_eval(repr(notebook))
    for row in rejected_table(answer).rows:
        assert "✗" in "".join(row) or float(row[3].split(",")[1].rstrip(" %")) > 0


def test_more_and_more_places_of_the_curve_are_found_and_a_larger_ε_never_needs_larger_errors() -> None:
    plan = ReleasePlan(n=1000, statistics=STATISTICS[:2])
    *some, last = stream_factors(plan)
    assert [len(one.x) for one in some] == list(range(1, len(last.x)))
    assert list(last.y) == sorted(last.y, reverse=True)
    assert last.y[last.x.index(1.0)] == pytest.approx(solve_plan(plan).factor, rel=1e-12)
    with pytest.raises(ValueError, match="privacy loss"):
        next(stream_factors(dataclasses.replace(plan, protection=GuessRate(most_success=0.7))))


def test_both_curves_of_composition_are_those_of_the_design() -> None:
    answer = solve_plan(ReleasePlan(n=1000, statistics=STATISTICS[:2]))
    design = PlanDesign(answer.plan, answer.design.releases)
    found = composed_curves(design)
    assert found.epsilons[0] == 0.0 and found.deltas[0] == pytest.approx(design.delta(0.0).upper, rel=1e-12)
    assert list(found.deltas) == sorted(found.deltas, reverse=True)
    for delta, epsilon in zip(found.basic_deltas, found.basic_epsilons, strict=True):
        assert design.epsilon(delta).upper <= epsilon + 1e-12
