"""What the page of plans shows of an answer: every number of its sentences and its picture is that of the answer."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from dpviz.charts.plan import factors_chart, plan_chart
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.export.tables import columns_of
from dpviz.plans import BoundedMean, CategoryShares, ReleasePlan, YesNoShare, plan_report, solution_json, solve_plan
from dpviz.plans.figures import composition_curves, plan_figure, promise_label
from dpviz.plans.files import plan_notebook
from dpviz.plans.sensitivity import naive_designs
from dpviz.plans.summary import page_table, plan_facts, sentence, solution_facts, table

STATISTICS = (
    YesNoShare(name="Works", limit=0.01),
    CategoryShares(name="Region", categories=3, limit=0.02),
    BoundedMean(name="Hours", lower=0.0, upper=80.0, limit=0.8),
)
PROMISES = (
    EpsilonDeltaLimit(most_epsilon=1.0),
    EpsilonDeltaLimit(most_epsilon=0.1),
    EpsilonDeltaLimit(most_epsilon=1.0, most_delta=1e-5),
    GuessingLimit(most_success=0.6),
    GuessingLimit(most_success=0.501),
    GuessingLimit(most_success=1.0),
)
PLANS = [
    ReleasePlan(n=1000, statistics=statistics, protection=promise, spend_all=spend)
    for promise in PROMISES
    for spend in (False, True)
    for statistics in (STATISTICS, STATISTICS[:2], STATISTICS[:1])
]
every_plan = pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))


@every_plan
def test_the_answer_is_that_of_the_plan_and_short_enough_for_a_class(plan: ReleasePlan) -> None:
    facts = plan_facts(plan)
    badge, point, rest, short = (sentence(name, facts=facts) for name in ("badge", "point", "rest", "short"))
    text = f"{point} {rest}"
    assert len(short.split()) <= 15, short
    assert not re.search(r"nan|inf\b|None", text)
    assert ("must give way" in badge) is not facts.solution.is_feasible
    epsilon, delta = plan.promise
    if facts.solution.is_feasible and 0 < epsilon < math.inf:
        stated = float(re.findall(r"ε\u00a0=\u00a0([\d.]+) of", text)[0])
        real = solve_plan(plan).needed.epsilon(delta)
        assert real <= stated <= 1.01 * real  # rounded to the side that is true
        assert plan.unit in text


def test_pictures_round_a_loss_and_a_factor_up_as_sentences_do() -> None:
    plan = ReleasePlan(n=12_000, statistics=STATISTICS[:1], spend_all=False)
    shares = {"part": np.array([0.708045, 0.708045]), "used": np.array([0.5, math.nan])}
    nothing = np.full(2, math.nan)
    chart = plan_chart(["a", "all"], **shares, basic_part=nothing, basic_used=nothing, promised=promise_label(plan))
    assert list(chart.to_dict()["data"][0]["text"]) == ["70.9 % of ε = 1"] * 2
    assert "<b>0.709</b>" in str(factors_chart([0.5, 1.0], [1.4, 0.708045], chosen=1.0).to_dict())


@every_plan
def test_the_picture_has_the_shares_and_errors_of_the_design(plan: ReleasePlan) -> None:
    facts = plan_facts(plan)
    design = facts.solution.design
    bars, inside, outside, *_ = plan_figure(facts).to_dict()["data"]
    assert len(bars["customdata"]) == len(plan.statistics) + 1
    assert len(inside["customdata"]) + len(outside["customdata"]) == len(plan.statistics)
    assert len(outside["customdata"]) == sum(used > 1 for used in design.used_limits())
    epsilon, delta = plan.promise
    if delta == 0 and epsilon < math.inf:
        assert math.fsum(item.part for item in facts.statistics) == pytest.approx(facts.exact)
        assert facts.exact * epsilon == pytest.approx(design.pure_epsilon)
    assert facts.exact <= facts.basic * (1 + 1e-9)


def test_what_adding_up_would_ask_for_is_shown_where_it_breaks_a_limit() -> None:
    plan = ReleasePlan(n=1000, statistics=STATISTICS, protection=GuessingLimit(most_success=0.54), spend_all=False)
    solution = solve_plan(plan)
    ring = plan_figure(solution_facts(solution)).to_dict()["data"][-1]
    assert solution.basic_factor > 1
    assert len(ring["customdata"]) == len(STATISTICS)
    shown = solution.basic_factor if solution.is_feasible else solution.factor * solution.basic_ratio
    assert ring["text"][0] == f"{100 * shown:.3g} % of its limit"


def test_tables_and_files_have_a_row_for_each_statistic_and_names_are_no_markup() -> None:
    evil = dataclasses.replace(STATISTICS[0], name="<b>x</b>")
    solution = solve_plan(ReleasePlan(n=1000, statistics=(evil, *STATISTICS[1:])))
    facts = solution_facts(solution)
    shown = {"facts": facts, "solution": solution, "designs": naive_designs(solution)}
    assert all("<b>x" not in str(page_table(name, **shown)) for name in ("statistics", "mixtures", "naive"))
    assert len(table("statistics", **shown).rows) == 3
    assert columns_of("statistic", facts.statistics)["name"] == ["<b>x</b>", "Region", "Hours"]
    report = plan_report(solution, date="1 May 2026", address="https://x")
    assert "<b>x</b>" not in report and "https://x" in report
    assert json.loads(solution_json(solution)) and json.loads(plan_notebook(solution))
    for row in table("naive", **shown).rows:
        assert "✗" in "".join(row) or float(row[3].split(",")[1].rstrip(" %")) > 0


def test_both_curves_of_composition_are_those_of_the_design() -> None:
    design = solve_plan(ReleasePlan(n=1000, statistics=STATISTICS[:2])).design
    (epsilons, deltas), (basic_epsilons, basic_deltas) = composition_curves(design)
    assert epsilons[0] == 0.0 and deltas[0] == pytest.approx(design.delta(0.0), rel=1e-12)
    assert deltas == sorted(deltas, reverse=True)
    for delta, epsilon in zip(basic_deltas, basic_epsilons, strict=True):
        assert design.epsilon(delta) <= epsilon + 1e-12
