"""How a plan depends on its promise and its assumptions, and designs that look right and are not.

Noise hides the farthest that a person can be from anybody else, so that it grows with what is assumed, and not with
what the data are. Each assumption is changed alone, and the plan is solved again.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpviz.curator.declarations import NUMBERS as CURATOR_NUMBERS
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.plans.composition import PlanDesign
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.solve import PlanSolution, solve_plan, sufficient_design
from dpviz.plans.statistics import NUMBERS, TABLES, BoundedMean, ShareStatistic, Statistic

SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)  # of what is assumed
EPSILON_SCALES = (0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0)
SEARCHED_SCALES = np.geomspace(1 / 16, 16.0, 2**16 + 1)  # for the widest assumption that keeps all limits
DISTINCT = 1e-6  # relative distance beyond which a promise or an error is another one


def epsilon_curve(plan: ReleasePlan) -> tuple[tuple[float, float], ...]:
    """Smallest factor of all limits at ε from a quarter to four times that of a plan; empty if it promises no ε."""
    if not isinstance(plan.protection, EpsilonDeltaLimit):
        return ()
    domain = CURATOR_NUMBERS["most_epsilon"]
    curve = {}
    for scale in EPSILON_SCALES:
        epsilon = min(max(scale * plan.promise[0], 1.01 * domain.minimum), domain.maximum)
        changed = replace(plan, protection=replace(plan.protection, most_epsilon=epsilon))
        curve[epsilon] = solve_plan(changed).factor
    return tuple(curve.items())


# Other assumptions


def _widen(
    kind: type[Any], ends: tuple[str, str], domain: tuple[float, float], plan: ReleasePlan, scale: float
) -> ReleasePlan:
    """Plan in which the ends of statistics of a kind are so many times as far apart, around the same middle."""

    def change(statistic: Statistic) -> Statistic:
        if not isinstance(statistic, kind):
            return statistic
        low, high = (getattr(statistic, name) for name in ends)
        middle, half = (low + high) / 2, scale * (high - low) / 2
        wider = max(middle - half, domain[0]), min(middle + half, domain[1])
        return replace(statistic, **dict(zip(ends, wider, strict=True)))

    return replace(plan, statistics=tuple(map(change, plan.statistics)))


def _scale_rows(plan: ReleasePlan, scale: float) -> ReleasePlan:
    rows = round(scale * plan.person_rows, 9)
    return replace(plan, person_rows=int(rows)) if rows == int(rows) else plan


ASSUMPTIONS: dict[str, Callable[[ReleasePlan, float], ReleasePlan]] = {
    "bounds of the means": partial(_widen, BoundedMean, ("lower", "upper"), (-math.inf, math.inf)),
    "ranges of the shares": partial(_widen, ShareStatistic, ("lowest", "highest"), (0.0, 1.0)),
    "rows of a person": _scale_rows,
}
"""What a plan assumes of the data, with the plan in which it is so many times as wide."""


class AssumptionPoint(NamedTuple):
    """A plan with an assumption `scale` times as wide; either number is above 1 where not all limits hold."""

    scale: float
    factor: float  # of all limits
    needed: float  # share of the promise: of ε at the promised δ, or of δ at 0 where only guesses are limited


class AssumptionCurve(NamedTuple):
    """What changes with one assumption, a key of `ASSUMPTIONS`."""

    assumption: str
    points: tuple[AssumptionPoint, ...]  # from the narrowest
    widest: float  # largest searched scale at which all limits hold with the mechanisms of the design; 0 if none does
    all_hold: bool  # whether that is the largest one searched


def _changed_plan(plan: ReleasePlan, assumption: str, scale: float) -> ReleasePlan | None:
    """Plan under a changed assumption; None where there is none."""
    try:
        return ASSUMPTIONS[assumption](plan, scale)
    except ValueError:  # bounds too far apart, too many rows of a person, or a mechanism that does not take them
        return None


def assumption_curves(solution: PlanSolution) -> tuple[AssumptionCurve, ...]:
    """What changes with each assumption of a solved plan; assumptions without effect are skipped.

    Examples
    --------
    Noise on a mean is proportional to the distance of the bounds, and so is its error:

    >>> plan = ReleasePlan(n=1000, statistics=(BoundedMean(name="hours", upper=80.0, limit=0.5),))
    >>> curve, rows = assumption_curves(solve_plan(plan))
    >>> [round(point.factor / curve.points[0].factor, 6) for point in curve.points], rows.assumption
    ([1.0, 2.0, 4.0, 8.0, 16.0], 'rows of a person')
    """
    plan = solution.plan
    if math.isinf(plan.promise[0]):
        return ()
    curves = []
    for assumption in ASSUMPTIONS:
        points = []
        for scale in SCALES:
            changed = _changed_plan(plan, assumption, scale)
            if changed is None or (changed == plan and scale != 1):
                continue
            solved = solution if scale == 1 else solve_plan(changed)
            needed = solved.needed.promise_used() if solved.needed.is_possible else math.inf
            points.append(AssumptionPoint(scale, solved.factor, needed))
        if len(points) > 1:
            curves.append(AssumptionCurve(assumption, tuple(points), *_widest(solution, assumption)))
    return tuple(curves)


def _widest(solution: PlanSolution, assumption: str) -> tuple[float, bool]:
    """Largest searched scale at which all limits hold, and whether it is the last one."""

    def is_broken(scale: float) -> bool:
        plan = _changed_plan(solution.plan, assumption, scale)
        if plan is None:
            return True
        design = sufficient_design(plan, solution.kinds)
        return not (design.is_possible and design.keeps_promise)

    searched = SEARCHED_SCALES.tolist()
    if assumption == "rows of a person":
        searched = [rows / solution.plan.person_rows for rows in range(1, int(NUMBERS["person_rows"].maximum) + 1)]
    number = bisect.bisect_left(searched, True, key=is_broken)
    return (searched[number - 1] if number else 0.0), number == len(searched)


# Naive designs

MISTAKES = TABLES["mistakes"]
"""Tempting designs by name: the reason, and what the plan would be that they are right for, if any."""


@dataclass(frozen=True)
class NaiveDesign:
    """A tempting way to release the statistics of a plan."""

    name: str
    reason: str
    plan: ReleasePlan
    design: PlanDesign | None  # None where no noise is added
    epsilon: float  # at the promised δ; infinite where none holds
    used_limit: float  # largest part of a limit that it uses, missing counts read as half of the threshold

    @property
    def breaks_promise(self) -> bool:
        """Whether it gives away more than is promised."""
        return self.epsilon > self.plan.promise[0] * (1 + DISTINCT)

    @property
    def breaks_limit(self) -> bool:
        """Whether an error is larger than its limit."""
        return self.used_limit > 1 + DISTINCT


def naive_designs(solution: PlanSolution) -> tuple[NaiveDesign, ...]:
    """Designs that were not taken: with a wrong unit, an even split, or no noise; each is worse in something."""
    plan = solution.plan
    epsilon, _ = plan.promise
    designs: dict[str, PlanDesign | None] = {}
    for name, mistake in MISTAKES.items():
        mistaken = replace(plan, **mistake.get("changes", {}))
        if math.isfinite(epsilon) and mistaken.sensitivities != plan.sensitivities:
            designs[name] = replace(solve_plan(mistaken).design, plan=plan)
    if 0 < epsilon < math.inf and len(plan.statistics) > 1:
        designs["the same ε for each statistic"] = _even_split(solution)
    if any(item.suppress_below and item.tells_rows(plan.rows_of(item)) for item in plan.statistics):
        designs["small counts withheld, no noise"] = None

    # Each is worse in something
    reached = max(solution.design.used_limits()) * (1 + DISTINCT)
    naive = []
    for name, design in designs.items():
        reason = MISTAKES[name]["reason"].format(rows=plan.person_rows)
        real_epsilon = design.epsilon(plan.promise[1]) if design else math.inf
        used_limit = max(design.used_limits()) if design else _withheld_share(solution)
        naive.append(NaiveDesign(name, reason, plan, design, real_epsilon, used_limit))
    return tuple(item for item in naive if item.breaks_promise or item.used_limit > reached)


def _withheld_share(solution: PlanSolution) -> float:
    """Largest part of a limit that half of the threshold in the place of a withheld count uses, without any noise."""
    pairs = zip(solution.design.mechanisms, solution.plan.statistics, strict=True)
    errors = [(mechanism.published_error(item), item.limit) for mechanism, item in pairs]
    return max(error.without_noise / limit for error, limit in errors if error is not None)


def _even_split(solution: PlanSolution) -> PlanDesign:
    """Design in which every statistic alone has the same part of the promised ε, without δ."""
    plan = solution.plan
    part = plan.promise[0] / len(plan.statistics)
    mechanisms = []
    for place, statistic in enumerate(plan.statistics):
        kinds = [*plan.candidates(statistic), type(solution.design.mechanisms[place])]
        kind = next((kind for kind in kinds if not kind.needs_delta), kinds[0])
        largest = max(math.fsum(way[place]) for way in plan.sensitivities)
        mechanisms.append(kind(part / largest, plan.rows_of(statistic)))
    return PlanDesign(plan, tuple(mechanisms))
