"""What is said of a plan: the answer, why this design and not the next one, and what other promises would change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpviz.core.parameters import readable, readable_apart, rounded_up
from dpviz.core.wording import counted, more_or_less, percent, spelled
from dpviz.desk.protection import HARDLY, USUAL_EPSILON, PrivacyLoss
from dpviz.plans.composed import PlanDesign
from dpviz.plans.plan import ReleasePlan, number_in_words
from dpviz.plans.rejected import RejectedDesign
from dpviz.plans.shares import Kinds, PlanAnswer, solve_plan
from dpviz.plans.statistic import ShareStatistic, Statistic
from dpviz.plans.suppression import SuppressionCost, delta_without_noise

TOLD_EPSILONS = 0.5, 2.0  # Times the promised ε at which a plan is solved again
TOLD_DELTA = 1e-6  # At which ε is told where the promise has none of its own
SAME_FACTOR = 1e-3  # Relative distance within which two factors are told as the same

ACCURACY_MEANT = (
    "An error is the distance of what is published from what the same people's data say; that these people are a "
    "sample comes on top. Of the range of shares that was given the worst counts."
)
"""What an error of a plan is about."""


def plan_sentence(answer: PlanAnswer) -> str:
    """Return whether all limits hold under the promise, and what is nearest to breaking, or by how much they miss."""
    plan = answer.plan
    promise = f"{plan.protection.words}, when {plan.unit_in_words}"
    if answer.feasible:
        used = answer.design.used()
        near = max(range(len(used)), key=used.__getitem__)
        whole = limits_hold(len(used))
        nearest = f"“{plan.statistics[near].name}” is nearest to its limit, of which it uses {percent(used[near], 3)}."
        return f"{whole}, and {promise}. {nearest}"
    if math.isinf(answer.factor):
        return f"No limits, however large, can be kept so that {promise}."
    return f"Not all limits can hold while {promise}. {give_way_sentence(answer)}"


def limits_hold(many: int) -> str:
    """Return that so many limits hold.

    >>> limits_hold(1), limits_hold(2), limits_hold(5)
    ('The limit holds', 'Both limits hold', 'All five limits hold')
    """
    return {1: "The limit holds", 2: "Both limits hold"}.get(many, f"All {counted(many, 'limit')} hold")


def give_way_sentence(answer: PlanAnswer) -> str:
    """Return what would have to give way: all limits by one factor, or one of them alone."""
    plan, factor = answer.plan, rounded_up(answer.factor, 3)
    several = len(plan.statistics) > 1
    text = f"{'All of them' if several else 'It'} would hold with {readable_apart(factor, 1.0, 3)} times the error."
    if not several:
        return text.replace("It would", "The limit would")
    enough = [
        f"{number_in_words(one, rounded_up(value, 3))} for “{one.name}”"
        for one, value in zip(plan.statistics, answer.alone, strict=True)
        if math.isfinite(value)
    ]
    if not enough:
        return f"{text} No limit alone is enough, however far it gives way."
    return f"{text} If one alone gives way, it must be {' or '.join(enough)}."


def statistic_sentence(design: PlanDesign, place: int) -> str:
    """Return how near one statistic is and what it is released with."""
    one, release, error = design.plan.statistics[place], design.releases[place], design.errors()[place]
    told = one.asked.told.format(number_in_words(one, error))
    limit = f"the limit is {number_in_words(one, one.limit)}"
    return f"“{one.name}” {told}; {limit}. It is released with {release.label}."


def loss_sentence(design: PlanDesign) -> str:
    """Return what all statistics together really give away."""
    plan, (epsilon, delta) = design.plan, design.plan.promise
    told = delta if epsilon else TOLD_DELTA
    real, pure = design.epsilon(told).upper, design.pure_epsilon
    most = f"ε = {_above(real)}" + (f" at δ = {readable(told, 3)}" if told and pure > real else "")
    if told and real * (1 + SAME_FACTOR) < pure < math.inf:
        most += f", and ε = {_above(pure)} without δ"
    bound = "" if design.exact else " These numbers are upper bounds."
    hardly = f" {': '.join(HARDLY)}" if real > USUAL_EPSILON else ""
    return (
        f"All statistics together have a real privacy loss of {most}, when {plan.unit_in_words}. An attacker who knows "
        f"all other people guesses right {_guessed(design)} of the time.{bound}{hardly}"
    )


def _above(epsilon: float) -> str:
    return readable(rounded_up(epsilon, 3), 3)


def _guessed(design: PlanDesign) -> str:
    """How often an attacker is right at most."""
    share = percent(min(design.right_guesses, 1.0), 3)
    return share if share.startswith("more") else f"at most {share}"


def larger_or_smaller(ratio: float) -> str:
    """Return how an error compares with another one, of which it is `ratio` times.

    >>> larger_or_smaller(1.087), larger_or_smaller(0.4), larger_or_smaller(3.0), larger_or_smaller(1.0002)
    ('8.7 % larger', '0.4 times as large', '3 times as large', 'the same')
    """
    if abs(ratio - 1) < SAME_FACTOR:
        return "the same"
    text = more_or_less(ratio)
    return text.replace("as much", "as large").replace("more", "larger").replace("less", "smaller")


def composition_sentence(answer: PlanAnswer) -> str:
    """Return what exact composition saves against adding up the ε and δ of each statistic."""
    design, (epsilon, delta) = answer.design, answer.plan.promise
    if len(answer.plan.statistics) == 1:
        return "There is one statistic, so that there is nothing to add up."
    if delta == 0:
        return (
            "Without δ nothing is saved by composing exactly: the largest losses of all statistics meet in one "
            "release, so that the ε of all of them add up."
        )
    if answer.saved < 1 + SAME_FACTOR:
        return (
            "Composing exactly saves next to nothing here: adding up the ε and δ of all statistics allows the same "
            "errors to three digits."
        )
    text = "If the ε and δ of all statistics were added up, each with the same part of δ, the errors {}."
    less = f"would have to be {larger_or_smaller(answer.saved)}" if math.isfinite(answer.saved) else "could not be told"
    basic = design.basic_epsilon(delta)
    if epsilon == 0 or not math.isfinite(basic):
        return text.format(less)
    real = _above(design.epsilon(delta).upper)
    return f"{text.format(less)} Of this design they would tell ε = {_above(basic)} instead of ε = {real}."


def groups_sentence(plan: ReleasePlan) -> str:
    """Return how disjoint groups share the promise; nothing where there are none."""
    if not any(one.group for one in plan.statistics):
        return ""
    if not plan.relation.put_in:
        return (
            "The groups are disjoint: an added or removed row is in one of them, so that the worst group counts alone."
        )
    if plan.membership_public:
        return (
            "It is public who belongs to which group, so that a substituted row stays in its group, and the worst "
            "group counts alone."
        )
    return (
        "The groups are disjoint, but a substituted row may leave one and join another: the losses of two groups add "
        "up, unless that of a single group is larger."
    )


def mixture_in_words(plan: ReleasePlan, kinds: Kinds) -> str:
    """Return which statistics have which mechanism.

    >>> from dpviz.plans.release import GaussianNoise
    >>> from dpviz.plans.statistic import YesNoShare
    >>> mixture_in_words(ReleasePlan(statistics=(YesNoShare(name="works"),)), (GaussianNoise,))
    'Gaussian noise'
    """
    by_kind: dict[str, list[str]] = {}
    for one, kind in zip(plan.statistics, kinds, strict=True):
        by_kind.setdefault(kind.label, []).append(f"“{one.name}”")
    if len(by_kind) == 1:
        return next(iter(by_kind))
    return "; ".join(f"{label} for {', '.join(names)}" for label, names in by_kind.items())


def why_sentence(answer: PlanAnswer) -> str:
    """Return why this mixture of mechanisms was taken, and by how much the next one is behind."""
    plan = answer.plan
    chosen = tuple(type(one) for one in answer.design.releases)
    others = sorted((factor, place) for place, (kinds, factor) in enumerate(answer.tried) if kinds != chosen)
    first = f"The design uses {mixture_in_words(plan, chosen)}."
    if not others:
        return f"{first} No other mechanism was asked for, or can release these statistics under this promise."
    factor, place = others[0]
    next_one = mixture_in_words(plan, answer.tried[place][0])
    if math.isinf(factor):
        tried = (
            "The other mixture that was" if len(others) == 1 else f"The {spelled(len(others))} other mixtures that were"
        )
        return f"{first} {tried} tried cannot keep the promise."
    ratio = factor / answer.factor
    tried = f"The next best of {spelled(len(answer.tried))} mixtures tried"
    errors = f"the errors would be {larger_or_smaller(ratio)} for the same promise"
    return f"{first} {tried} is {next_one}: {errors}."


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
            found.append(PlanSensitivity(f"with ε = {readable(epsilon, 4)}", solve_plan(other).factor))
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


def suppression_sentences(costs: Sequence[SuppressionCost]) -> list[str]:
    """Return what withholding small counts protects, which is nothing, and what it costs each statistic."""
    told = []
    for one in costs:
        statistic, (low, *_) = one.statistic, one.at
        sure = delta_without_noise(one.n, statistic.suppress_below)
        alone = (
            "Without noise that protects nobody: no ε holds, for whether a count is published tells one row for sure."
            if sure
            else "There are fewer rows than that, so that nothing is ever published."
        )
        cell = "it" if statistic.cells == 1 else "a cell"
        told.append(
            f"“{statistic.name}” withholds released counts below {statistic.suppress_below}. {alone} After noise it "
            f"adds no privacy. Where {cell} counts {low.count:,}, it is withheld with a probability of "
            f"{percent(low.withheld, 3)}; a missing count read as 0 is then typically off by "
            f"{readable(low.as_zero[1], 3)}, read as half of the threshold by {readable(low.as_half[1], 3)}, "
            f"and without withholding by {readable(low.plain, 3)}."
        )
    return told


def rejected_sentence(one: RejectedDesign) -> str:
    """Return what a rejected design really gives away, and what it breaks."""
    (epsilon, delta), design = one.plan.promise, one.design
    if design is None:
        return f"{one.why} No ε holds: it breaks the promise."
    if epsilon:
        real = f"Its real loss is ε = {_above(one.epsilon)}{f' at δ = {readable(delta, 3)}' if delta else ''}"
    else:
        real = f"An attacker would guess right {_guessed(design)} of the time"
    broken = " and ".join(["the promise"] * one.breaks_promise + ["a limit"] * one.breaks_limit)
    end = f"It breaks {broken}" if broken else "It keeps the promise and all limits"
    return f"{one.why} {real}. {end}, and uses {percent(one.used, 3)} of the limit that it is nearest to."
