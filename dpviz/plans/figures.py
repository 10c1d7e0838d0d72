"""Pictures of a solved plan: which data the charts of plans get."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.charts.plan import PlanLine, RangeLine, composition_chart, factors_chart, plan_chart, ranges_chart
from dpviz.charts.theme import Figure
from dpviz.core.escape import escape_markdown
from dpviz.curator.privacy_limits import promise_text
from dpviz.plans.composition import PlanDesign
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.sensitivity import AssumptionCurve
from dpviz.plans.solve import PlanSolution
from dpviz.plans.summary import PlanFacts

SAME = 1e-6  # relative difference of exact and basic composition that is not drawn
SMALLEST_DELTA = 1e-9
CURVE_POINTS = 61
Curve = tuple[list[float], list[float]]  # x and y


def _promise_label(plan: ReleasePlan) -> str:
    epsilon, delta = plan.promise
    if math.isinf(epsilon):
        return "all that can be told"
    return "the promise" if epsilon == 0 else promise_text(epsilon, delta)


def plan_figure(facts: PlanFacts) -> Figure:
    """Shares of the promise as bars and of the limits as dots, with what basic composition says where it differs."""
    solution = facts.solution

    def basic_used(used: float) -> float:
        is_spent = solution.plan.spend_all or not solution.is_feasible
        if abs(solution.basic_ratio - 1) < SAME or not (is_spent or solution.basic_factor > 1):
            return math.nan
        return used * solution.basic_ratio if is_spent else solution.basic_factor

    lines = [
        PlanLine(
            name=escape_markdown(item.statistic.name),
            part=item.part,
            basic_part=math.nan,
            used=item.used_limit,
            basic_used=basic_used(item.used_limit),
        )
        for item in facts.statistics
    ]
    basic = math.nan if abs(facts.basic - facts.exact) < SAME * facts.exact else facts.basic
    lines.append(PlanLine(name="all together", part=facts.exact, basic_part=basic, used=math.nan, basic_used=math.nan))
    return plan_chart(lines, promised=_promise_label(solution.plan))


def epsilon_figure(solution: PlanSolution, curve: Sequence[tuple[float, float]]) -> Figure:
    """Factors of all limits at other ε."""
    epsilons, factors = zip(*curve, strict=True)
    return factors_chart(epsilons, factors, chosen=solution.plan.promise[0])


def assumptions_figure(plan: ReleasePlan, curves: Sequence[AssumptionCurve]) -> Figure:
    """Factors of all limits, and needed shares of the promise, under other assumptions."""
    lines = [
        RangeLine(
            name=curve.assumption,
            times=tuple(point.scale for point in curve.points),
            factors=tuple(point.factor for point in curve.points),
            needed=tuple(point.needed for point in curve.points),
        )
        for curve in curves
    ]
    return ranges_chart(lines, promised=_promise_label(plan))


def composition_curves(design: PlanDesign) -> tuple[Curve, Curve]:
    """ε and δ of a design composed exactly, from 0 to where δ ends or is no longer of interest, and by adding up."""
    end = min(design.pure_epsilon, design.epsilon(SMALLEST_DELTA))
    epsilons = (end * np.sin(np.linspace(0.0, math.pi / 2, CURVE_POINTS))).tolist()  # dense where δ falls most
    basic_deltas = [10.0**exponent for exponent in range(-1, -10, -1)]
    return (epsilons, list(map(design.delta, epsilons))), (list(map(design.basic_epsilon, basic_deltas)), basic_deltas)


def composition_figure(plan: ReleasePlan, curves: tuple[Curve, Curve]) -> Figure:
    """Both ways of composing."""
    exact, basic = curves
    return composition_chart(exact, basic, plan.promise)
