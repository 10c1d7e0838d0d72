"""What a page shows of a plan that is solved: the line of each statistic, in words and as a picture."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.charts.plan import PlanLine, RangeLine, composition_chart, factors_chart, plan_chart, ranges_chart
from dpviz.charts.theme import Figure
from dpviz.core.escape import escape_markdown
from dpviz.desk.protection import LOSS, PrivacyLoss, promise_in_words
from dpviz.plans.composed import PlanDesign
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.ranges import RangeCurve, promise_taken
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.suppression import PublishedError, published_errors, used_published

ALL_TOGETHER = "all together"
SAVED_SHOWN = 1e-6  # Relative difference below which exact and basic composition are the same
FACTOR_STEPS = (1.0, 0.5, 2.0, 0.25, 4.0, 0.707, 1.414, 0.354, 2.828)  # Times ε, in the order in which they are solved
SMALLEST_DELTA_DRAWN = 1e-9
CURVE_PLACES = 61


@dataclass(frozen=True)
class SolvedPlan:
    """A plan's answer with what its picture shows of the design.

    `parts` is which share of the promise each statistic takes when it is published alone, with its part of δ where ε is
    promised; `whole` and `basic` that of all of them, composed exactly and by adding up. `needed` is the share that the
    limits ask for and no more. `published` are the errors with small counts withheld, where a statistic withholds any.
    """

    answer: PlanAnswer
    parts: tuple[float, ...]
    whole: float
    basic: float
    needed: float
    published: tuple[PublishedError | None, ...]


def solved_plan(plan: ReleasePlan) -> SolvedPlan:
    """Return the answer of a plan and which share of the promise each statistic takes."""
    answer = solve_plan(plan)
    design, many = answer.design, len(plan.statistics)
    parts = tuple(promise_taken(_only(design, place), many) for place in range(many))
    epsilon, delta = plan.promise
    adding = math.isinf(epsilon) or epsilon == 0
    return SolvedPlan(
        answer=answer,
        parts=parts,
        whole=promise_taken(design),
        basic=math.fsum(parts) if adding else design.basic_epsilon(delta) / epsilon,
        needed=promise_taken(answer.needed) if answer.feasible else math.inf,
        published=published_errors(design),
    )


def _only(design: PlanDesign, place: int) -> PlanDesign:
    """A design of one of its statistics alone."""
    plan = dataclasses.replace(design.plan, statistics=(design.plan.statistics[place],))
    return PlanDesign(plan, (design.releases[place],))


def promised_in_words(plan: ReleasePlan) -> str:
    """Return what a plan promises, in a few words: "ε = 1", or that attackers guess right so often at most."""
    epsilon, delta = plan.promise
    if math.isinf(epsilon):
        return "all that can be told"
    return "the promise" if epsilon == 0 else promise_in_words(epsilon, delta)


def _by_basic(answer: PlanAnswer, used: float) -> float:
    """The share of a limit that basic composition would ask for under the promise; NaN where it is the same."""
    spent = answer.plan.spend_all or not answer.feasible
    if abs(answer.saved - 1) < SAVED_SHOWN or not (spent or answer.by_basic > 1):
        return math.nan
    return used * answer.saved if spent else answer.by_basic


def plan_picture(solved: SolvedPlan) -> Figure:
    """Return the picture of a solved plan."""
    answer = solved.answer
    used = used_published(answer.design, solved.published)
    lines = [
        PlanLine(
            name=escape_markdown(one.name),
            part=part,
            basic_part=math.nan,
            used=share,
            basic_used=_by_basic(answer, share),
        )
        for one, part, share in zip(answer.plan.statistics, solved.parts, used, strict=True)
    ]
    basic = math.nan if abs(solved.basic - solved.whole) < SAVED_SHOWN * solved.whole else solved.basic
    lines.append(PlanLine(name=ALL_TOGETHER, part=solved.whole, basic_part=basic, used=math.nan, basic_used=math.nan))
    return plan_chart(lines, promised=promised_in_words(answer.plan))


@dataclass(frozen=True)
class PlanCurve:
    """What grows along an axis: the values so far, and how many there will be."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    expected: int


def stream_factors(plan: ReleasePlan) -> Iterator[PlanCurve]:
    """Yield the smallest factor of all limits at more and more ε around that of a plan that promises an ε."""
    protection = plan.protection
    if not isinstance(protection, PrivacyLoss):
        raise ValueError("This curve is drawn where a privacy loss ε is promised.")
    found: dict[float, float] = {}
    for times in FACTOR_STEPS:
        epsilon = min(max(times * protection.most_epsilon, LOSS.minimum * 1.01), LOSS.maximum)
        other = dataclasses.replace(plan, protection=dataclasses.replace(protection, most_epsilon=epsilon))
        found[epsilon] = solve_plan(other).factor
        places = sorted(found)
        yield PlanCurve(tuple(places), tuple(found[one] for one in places), len(FACTOR_STEPS))


@dataclass(frozen=True)
class ComposedCurves:
    """δ(ε) of a design, composed exactly, upper ends; and for some δ the ε that basic composition tells."""

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    basic_deltas: tuple[float, ...]
    basic_epsilons: tuple[float, ...]


def composed_curves(design: PlanDesign) -> ComposedCurves:
    """Return both ways of composing a design, at ε from 0 to where δ ends, or is no longer of interest."""
    end = min(design.pure_epsilon, design.epsilon(SMALLEST_DELTA_DRAWN).upper)
    epsilons = tuple((end * np.sin(np.linspace(0.0, math.pi / 2, CURVE_PLACES))).tolist())  # close where δ falls most
    deltas = tuple(design.delta(one).upper for one in epsilons)
    basic_deltas = tuple(10.0**exponent for exponent in range(-1, -10, -1))
    return ComposedCurves(epsilons, deltas, basic_deltas, tuple(design.basic_epsilon(one) for one in basic_deltas))


def factors_picture(plan: ReleasePlan, found: PlanCurve) -> Figure:
    """Return the picture of what other ε would do."""
    return factors_chart(found.x, found.y, chosen=plan.promise[0])


def ranges_picture(plan: ReleasePlan, found: tuple[RangeCurve, ...]) -> Figure:
    """Return the picture of what other ranges would do."""
    lines = [
        RangeLine(
            name=one.assumption.label,
            times=tuple(place.times for place in one.places),
            factors=tuple(place.factor for place in one.places),
            needed=tuple(place.needed for place in one.places),
        )
        for one in found
    ]
    return ranges_chart(lines, promised=promised_in_words(plan))


def composition_picture(plan: ReleasePlan, found: ComposedCurves) -> Figure:
    """Return the picture of both ways of composing."""
    exact, basic = (found.epsilons, found.deltas), (found.basic_epsilons, found.basic_deltas)
    return composition_chart(exact, basic, plan.promise)
