"""What the pictures of a solved plan show."""

from __future__ import annotations

import math

import numpy as np

from dpviz.charts.plan import plan_chart
from dpviz.charts.theme import Figure
from dpviz.core.escape import escape_markdown
from dpviz.curator.privacy_limits import promise_text
from dpviz.plans.composition import PlanDesign
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.summary import PlanFacts

SAME = 1e-6  # relative difference of exact and basic composition that is not drawn


def promise_label(plan: ReleasePlan) -> str:
    """What the full promise is called in a picture."""
    epsilon, delta = plan.promise
    if math.isinf(epsilon):
        return "all that can be told"
    return "the promise" if epsilon == 0 else promise_text(epsilon, delta)


def plan_figure(facts: PlanFacts) -> Figure:
    """Shares of the promise as bars and of the limits as dots, with what basic composition says where it differs."""
    solution = facts.solution
    used = np.array([*(item.used_limit for item in facts.statistics), math.nan])
    part = np.array([*(item.part for item in facts.statistics), facts.exact])

    # The errors that basic composition asks for: of a design that spends all, or where it would break the limits
    basic_used, basic_part = np.full((2, len(used)), math.nan)
    is_spent = solution.plan.spend_all or not solution.is_feasible
    if abs(solution.basic_ratio - 1) >= SAME and (is_spent or solution.basic_factor > 1):
        basic_used[:-1] = used[:-1] * solution.basic_ratio if is_spent else solution.basic_factor
    if abs(facts.basic - facts.exact) >= SAME * facts.exact:
        basic_part[-1] = facts.basic
    names = [escape_markdown(item.statistic.name) for item in facts.statistics]
    return plan_chart(
        [*names, "all together"], part=part, basic_part=basic_part, used=used, basic_used=basic_used,
        promised=promise_label(solution.plan),
    )  # fmt: skip


def composition_curves(design: PlanDesign) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    """ε and δ of a design composed exactly, from 0 to where δ ends or is no longer of interest, and by adding up."""
    end = min(design.pure_epsilon, design.epsilon(1e-9))
    epsilons = (end * np.sin(np.linspace(0.0, math.pi / 2, 61))).tolist()  # dense where δ falls most
    basic_deltas = [10.0**exponent for exponent in range(-1, -10, -1)]
    return (epsilons, list(map(design.delta, epsilons))), (list(map(design.basic_epsilon, basic_deltas)), basic_deltas)
