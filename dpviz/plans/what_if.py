"""What is said of other promises and of other assumptions: what a plan would need, and how far its limits hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpviz.core.formatting import TextTable, format_number, format_percent, round_up
from dpviz.desk.protection import PrivacyLoss
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.ranges import RangeCurve, RangePlace
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.statistic import ShareStatistic, Statistic
from dpviz.plans.words import SAME_FACTOR, larger_or_smaller

TOLD_EPSILONS = 0.5, 2.0  # Times the promised ε at which a plan is solved again
RANGES_MEANT = (
    "Noise hides the farthest that a person can be from anybody else, so that the errors grow with what is assumed of "
    "the data, whatever the data are. Each assumption is changed alone here, and the limits stay. What lies outside of "
    "narrower bounds is moved to them: how far that takes a mean off depends on the data and is not counted here."
)
"""What a table of other ranges is about."""


@dataclass(frozen=True)
class PlanSensitivity:
    """What a plan needs where something is otherwise: in words, and the factor of all limits that keeps the promise."""

    words: str
    factor: float


def sensitivities(plan: ReleasePlan) -> tuple[PlanSensitivity, ...]:
    """Return how the smallest factor of all limits changes with ε, and with shares that may be anything."""
    found = []
    if isinstance(plan.protection, PrivacyLoss):
        for times in TOLD_EPSILONS:
            epsilon = min(times * plan.protection.most_epsilon, 100.0)
            other = replace(plan, protection=replace(plan.protection, most_epsilon=epsilon))
            found.append(PlanSensitivity(f"with ε = {format_number(epsilon, 4)}", solve_plan(other).factor))
    widened = tuple(_widened(one) for one in plan.statistics)
    if widened != plan.statistics:
        other = replace(plan, statistics=widened)
        found.append(PlanSensitivity("where the shares may be anything from 0 to 1", solve_plan(other).factor))
    return tuple(found)


def _widened(one: Statistic) -> Statistic:
    return replace(one, lowest=0.0, highest=1.0) if isinstance(one, ShareStatistic) else one


def sensitivity_sentence(answer: PlanAnswer, found: Sequence[PlanSensitivity]) -> str:
    """Return what other promises and ranges would change, in one sentence for each."""
    told = []
    for one in found:
        ratio = one.factor / answer.factor
        if math.isinf(one.factor):
            told.append(f"No limits could be kept {one.words}.")
            continue
        verdict = "all limits hold" if one.factor <= 1 else "not all limits hold"
        told.append(f"The errors would be {larger_or_smaller(ratio)} {one.words}; then {verdict}.")
    return " ".join(told)


def range_sentence(answer: PlanAnswer, found: RangeCurve) -> str:
    """Return what an assumption twice as wide would cost, and how wide it may be so that all limits hold."""
    factors = [one.factor for one in found.places]
    if max(factors) <= min(factors) * (1 + SAME_FACTOR):
        told = ["Wider or narrower, the errors stay the same to three digits."]
        if found.all_hold:
            return told[0]
    else:
        wider, narrower = (
            [one for one in found.places if (one.times > 1) == up and one.times != 1] for up in (True, False)
        )
        told = [_range_told(answer, found, one) for one in (*wider[:1], *narrower[-1:])]
    return " ".join([*told, _widest_told(answer, found)]).strip()


def _range_told(answer: PlanAnswer, found: RangeCurve, one: RangePlace) -> str:
    said = found.assumption.told(answer.plan, one.times)
    if math.isinf(one.factor):
        return f"With {said} no limits could be kept."
    ratio, need = larger_or_smaller(one.factor / answer.factor), _need(answer.plan, one)
    return f"With {said} the errors for the same promise would be {ratio}; the limits as they are {need}."


def _need(plan: ReleasePlan, one: RangePlace) -> str:
    """What the limits need of a promise, which may be more than there is."""
    epsilon, delta = plan.promise
    if math.isinf(one.needed):
        return "cannot be kept at any ε"
    if epsilon == 0:
        return f"would need {format_percent(round_up(min((1 + one.needed * delta) / 2, 1.0), 3), 3)} right guesses"
    at = f" at δ = {format_number(delta, 3)}" if delta else ""
    return f"would need ε = {format_number(round_up(one.needed * epsilon, 3), 3)}{at}"


def _widest_told(answer: PlanAnswer, found: RangeCurve) -> str:
    """How many times as wide an assumption may be with all limits kept."""
    if math.isnan(found.widest):
        return ""
    limits = "The limit holds" if len(answer.plan.statistics) == 1 else "All limits hold"
    if found.widest == 0:
        return "None that is narrower keeps all limits."
    if found.widest == 1:
        return f"{limits} with what is assumed, and with nothing wider."
    end = ", the widest looked at" * found.all_hold
    return f"{limits} up to {found.assumption.told(answer.plan, found.widest).removeprefix('at most ')}{end}."


def ranges_table(found: Sequence[RangeCurve]) -> TextTable:
    """Return for every assumption at every width the errors and what the limits need of the promise."""
    head = ["assumed", "times as wide", "errors, times their limits", "share of the promise needed", "limits"]
    rows = []
    for curve in found:
        for one in curve.places:
            factor = format_number(round_up(one.factor, 3), 3) if math.isfinite(one.factor) else "–"
            needed = format_percent(round_up(one.needed, 3), 3) if math.isfinite(one.needed) else "no ε is enough"
            held = "hold" if one.factor <= 1 else "break"
            rows.append([curve.assumption.label, format_number(one.times), factor, needed, held])
    return TextTable(head, rows, "What other assumptions would need")
