"""What is said of a plan: the answer, why this design and not the next one, and what other promises would change."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    format_distinct,
    format_number,
    format_percent,
    format_percent_at_most,
    format_ratio,
    round_up,
    spell_count,
    spell_number,
)
from dpviz.desk.protection import HARDLY, USUAL_EPSILON
from dpviz.plans.composed import PlanDesign
from dpviz.plans.plan import ReleasePlan, number_in_words
from dpviz.plans.rejected import RejectedDesign
from dpviz.plans.shares import Kinds, PlanAnswer
from dpviz.plans.suppression import (
    PublishedError,
    SuppressionCost,
    delta_without_noise,
    published_errors,
    used_published,
)

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
    published = published_errors(answer.design)
    broken = withheld_sentence(published)
    if answer.feasible:
        used = used_published(answer.design, published)
        near = max(range(len(used)), key=used.__getitem__)
        whole = limits_hold(len(used), bool(broken))
        nearest = (
            f"“{plan.statistics[near].name}” is nearest to its limit, of which it uses {format_percent(used[near], 3)}."
        )
        return f"{whole}, and {promise}. {broken or nearest}"
    if math.isinf(answer.factor):
        return f"No limits, however large, can be kept so that {promise}."
    return f"Not all limits can hold while {promise}. {give_way_sentence(answer)} {broken}".strip()


def withheld_sentence(published: Sequence[PublishedError | None]) -> str:
    """Return which limits break once small counts are withheld, by how much, and what would mend it; or nothing."""
    told = []
    for one in filter(None, published):
        if not one.breaks_limit:
            continue
        statistic, threshold = one.statistic, one.statistic.suppress_below
        times = format_distinct(one.error / statistic.limit, 1.0, 3)
        error = number_in_words(statistic, one.error)
        told.append(
            f"Withholding counts below {threshold:,} takes “{statistic.name}” beyond its limit: a missing count is "
            f"read as {format_number(threshold / 2)}, and where the true count is {one.count:,} the error is {error}, "
            f"{times} times the limit. {_mended(one)}"
        )
    return " ".join(told)


def _mended(one: PublishedError) -> str:
    """What would bring a statistic that withholds counts within its limit."""
    if one.without_noise >= one.statistic.limit:
        away = number_in_words(one.statistic, one.without_noise)
        text = f"No ε mends that: even without noise, what is read can be {away} away from a count that is missing."
    else:
        text = "A larger ε would mend that."
    if one.before > one.statistic.limit:
        return text
    if one.threshold == 0:
        return f"{text} With this noise every threshold breaks the limit."
    return f"{text} With this noise a threshold of {one.threshold:,} keeps the limit."


def limits_hold(many: int, withheld: bool = False) -> str:
    """Return that so many limits hold; or, where counts that are `withheld` break one, that they do before that.

    >>> limits_hold(1), limits_hold(2), limits_hold(5, withheld=True)
    ('The limit holds', 'Both limits hold', 'All five limits hold before small counts are withheld')
    """
    whole = {1: "The limit holds", 2: "Both limits hold"}.get(many, f"All {spell_count(many, 'limit')} hold")
    return whole + " before small counts are withheld" * withheld


def give_way_sentence(answer: PlanAnswer) -> str:
    """Return what would have to give way: all limits by one factor, or one of them alone."""
    plan, factor = answer.plan, round_up(answer.factor, 3, tolerance=SEARCH_TOLERANCE)
    several = len(plan.statistics) > 1
    text = f"{'All of them' if several else 'It'} would hold with {format_distinct(factor, 1.0, 3)} times the error."
    if not several:
        return text.replace("It would", "The limit would")
    enough = [
        f"{number_in_words(one, round_up(value, 3, tolerance=SEARCH_TOLERANCE))} for “{one.name}”"
        for one, value in zip(plan.statistics, answer.alone, strict=True)
        if math.isfinite(value)
    ]
    if not enough:
        return f"{text} No limit alone is enough, however far it gives way."
    return f"{text} If one alone gives way, it must be {' or '.join(enough)}."


def loss_sentence(design: PlanDesign) -> str:
    """Return what all statistics together really give away."""
    plan, (epsilon, delta) = design.plan, design.plan.promise
    told = delta if epsilon else TOLD_DELTA
    real, pure = design.epsilon(told).upper, design.pure_epsilon
    most = f"ε = {_above(real)}" + (f" at δ = {format_number(told, 3)}" if told and pure > real else "")
    if told and real * (1 + SAME_FACTOR) < pure < math.inf:
        most += f", and ε = {_above(pure)} without δ"
    bound = "" if design.exact else " These numbers are upper bounds."
    hardly = f" {': '.join(HARDLY)}" if real > USUAL_EPSILON else ""
    return (
        f"All statistics together have a real privacy loss of {most}, when {plan.unit_in_words}. An attacker who knows "
        f"all other people guesses right {_guessed(design)} of the time.{bound}{hardly}"
    )


def _above(epsilon: float) -> str:
    return format_number(round_up(epsilon, 3), 3)


def _guessed(design: PlanDesign) -> str:
    """How often an attacker is right at most."""
    share = min(design.right_guesses, 1.0)
    said = format_percent(share, 3)
    return said if said.startswith("more") else format_percent_at_most(share, 3)


def larger_or_smaller(ratio: float) -> str:
    """Return how an error compares with another one, of which it is `ratio` times.

    >>> larger_or_smaller(1.087), larger_or_smaller(0.4), larger_or_smaller(1.9999), larger_or_smaller(1.0002)
    ('8.7 % larger', '0.4 times as large', '2 times as large', 'the same')
    """
    if abs(ratio - 1) < SAME_FACTOR:
        return "the same"
    text = format_ratio(ratio)
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
            "The other mixture that was"
            if len(others) == 1
            else f"The {spell_number(len(others))} other mixtures that were"
        )
        return f"{first} {tried} tried cannot keep the promise."
    ratio = factor / answer.factor
    tried = f"The next best of {spell_number(len(answer.tried))} mixtures tried"
    errors = f"the errors would be {larger_or_smaller(ratio)} for the same promise"
    return f"{first} {tried} is {next_one}: {errors}."


def suppression_sentences(costs: Sequence[SuppressionCost], published: Sequence[PublishedError | None]) -> list[str]:
    """Return what withholding small counts protects, which is nothing, and what it costs each statistic."""
    told = []
    for one, reached in zip(costs, filter(None, published), strict=True):
        statistic, (low, *_) = one.statistic, one.at
        sure = delta_without_noise(one.n, statistic.suppress_below)
        alone = (
            "Without noise that protects nobody: no ε holds, for whether a count is published tells one row for sure."
            if sure
            else "There are fewer rows than that, so that nothing is ever published."
        )
        cell = "it" if statistic.cells == 1 else "a cell"
        told.append(
            f"“{statistic.name}” withholds released counts below {statistic.suppress_below:,}. {alone} After noise it "
            "neither adds nor takes privacy, since what is withheld follows from what was released. Where "
            f"{cell} counts {low.count:,}, it is withheld with a probability of {format_percent(low.withheld, 3)}; a "
            "missing "
            f"count read as 0 is then typically off by {format_number(low.as_zero[1], 3)}, read as half of the "
            "threshold by "
            f"{format_number(low.as_half[1], 3)}, and without withholding by {format_number(low.plain, 3)}. "
            f"{_limit_kept(reached)}"
        )
    return told


def _limit_kept(one: PublishedError) -> str:
    """Whether a limit is kept once counts are withheld."""
    if one.breaks_limit:
        return withheld_sentence([one])
    error, limit = (number_in_words(one.statistic, value) for value in (one.error, one.statistic.limit))
    kept = (
        f"keeps the limit of {limit}" if one.error <= one.statistic.limit else f"is above the limit of {limit} anyway"
    )
    return f"With a missing count read as half of the threshold, the largest error is {error}, which {kept}."


def rejected_sentence(one: RejectedDesign) -> str:
    """Return what a rejected design really gives away, and what it breaks."""
    (epsilon, delta), design = one.plan.promise, one.design
    if design is None:
        return f"{one.why} No ε holds: it breaks the promise."
    if epsilon:
        real = f"Its real loss is ε = {_above(one.epsilon)}{f' at δ = {format_number(delta, 3)}' if delta else ''}"
    else:
        real = f"An attacker would guess right {_guessed(design)} of the time"
    broken = " and ".join(["the promise"] * one.breaks_promise + ["a limit"] * one.breaks_limit)
    end = f"It breaks {broken}" if broken else "It keeps the promise and all limits"
    return f"{one.why} {real}. {end}, and uses {format_percent(one.used, 3)} of the limit that it is nearest to."
