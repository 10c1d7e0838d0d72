"""What an answer of a plan says: facts, and a sentence or a table for each; cells and sentences are plain text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpviz.core.escape import escape_markdown
from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    TextTable,
    format_distinct,
    format_number,
    format_percent,
    format_percent_at_most,
    format_ratio,
    round_down,
    round_up,
    spell_count,
    spell_number,
)
from dpviz.curator.privacy_limits import USUAL_EPSILON, WEAK_PROTECTION_NOTE
from dpviz.export.templates import render_paragraphs
from dpviz.plans.composition import PlanDesign
from dpviz.plans.mechanisms import PlanMechanism
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.sensitivity import AssumptionCurve, NaiveDesign, describe_assumption, promise_used
from dpviz.plans.solve import Kinds, PlanSolution, solve_plan
from dpviz.plans.statistics import Statistic
from dpviz.plans.suppression import PublishedError, delta_without_noise, published_errors

USUAL_DELTA = 1e-6  # at which ε is stated where the promise has no δ of its own
SAME_FACTOR = 1e-3  # relative distance of factors that are the same to three digits
ASSUMPTIONS_NOTE = (
    "Noise hides the farthest that a person can be from anybody else, so that the errors grow with what is assumed of "
    "the data, whatever the data are. Each assumption is changed alone here, and the limits stay. What lies outside of "
    "narrower bounds is moved to them: how far that takes a mean off depends on the data and is not counted here."
)


@dataclass(frozen=True)
class StatisticFacts:
    """One statistic of a solved plan.

    `part` is the share of the promise that it uses when it is published alone, with its part of δ where ε is promised;
    `noise_error` the error before small counts are withheld; `published` the error after that, where any are.
    """

    statistic: Statistic
    mechanism: PlanMechanism
    part: float
    noise_error: float
    published: PublishedError | None
    relaxed_alone: float

    @property
    def error(self) -> float:
        """Error of what is published."""
        return self.noise_error if self.published is None else self.published.error

    @property
    def used_limit(self) -> float:
        """Part of the limit that the error uses."""
        return self.error / self.statistic.limit


@dataclass(frozen=True)
class PlanFacts:
    """A solved plan with the shares of the promise that it uses: composed exactly, and by adding up.

    `needed` is the share that the limits ask for and no more.
    """

    solution: PlanSolution
    statistics: tuple[StatisticFacts, ...]
    exact: float
    basic: float
    needed: float

    @property
    def published(self) -> list[PublishedError]:
        """Errors of the statistics that withhold small counts."""
        return [item.published for item in self.statistics if item.published is not None]

    @property
    def broken(self) -> list[PublishedError]:
        """Those whose limit breaks because of that."""
        return [published for published in self.published if published.breaks_limit]


def plan_facts(plan: ReleasePlan) -> PlanFacts:
    """Solve a plan and say what its design uses of the promise and of the limits."""
    return solution_facts(solve_plan(plan))


def solution_facts(solution: PlanSolution) -> PlanFacts:
    """Facts of a solved plan."""
    plan, design = solution.plan, solution.design
    parts = [
        promise_used(PlanDesign(dataclasses.replace(plan, statistics=(statistic,)), (mechanism,)), len(plan.statistics))
        for statistic, mechanism in zip(plan.statistics, design.mechanisms, strict=True)
    ]
    columns = (parts, design.errors(), published_errors(design), solution.relaxed_alone)
    rows = zip(plan.statistics, design.mechanisms, *columns, strict=True)
    epsilon, delta = plan.promise
    adds_parts = math.isinf(epsilon) or epsilon == 0
    return PlanFacts(
        solution=solution,
        statistics=tuple(StatisticFacts(*row) for row in rows),
        exact=promise_used(design),
        basic=math.fsum(parts) if adds_parts else design.basic_epsilon(delta) / epsilon,
        needed=promise_used(solution.needed) if solution.is_feasible else math.inf,
    )


def _sentence(name: str, /, **values: object) -> str:
    """A sentence by its name in ``sentences.txt``, in one line."""
    formats = {"factor_of": lambda ratio: format_distinct(ratio, 1.0, 3), "delta_without_noise": delta_without_noise}
    return " ".join(render_paragraphs("plans/sentences.txt", sentence=name, **formats, **values))


def format_bound(value: float) -> str:
    """Three digits, rounded up."""
    return format_number(round_up(value, 3), 3)


def format_factor(factor: float) -> str:
    """How many times, at least: three digits, rounded up, and distinct from 1."""
    return format_distinct(round_up(factor, 3, tolerance=SEARCH_TOLERANCE), 1.0, 3)


def format_change(ratio: float) -> str:
    """How an error compares with another one, of which it is `ratio` times.

    >>> format_change(1.087), format_change(0.4), format_change(1.9999), format_change(1.0002)
    ('8.7 % larger', '0.4 times as large', '2 times as large', 'the same')
    """
    if abs(ratio - 1) < SAME_FACTOR:
        return "the same"
    return format_ratio(ratio).replace("as much", "as large").replace("more", "larger").replace("less", "smaller")


def _relaxed(facts: StatisticFacts) -> str:
    """Limit that would do if it alone gave way."""
    return facts.statistic.format_error(round_up(facts.relaxed_alone, 3, tolerance=SEARCH_TOLERANCE))


# The answer


class Answer(NamedTuple):
    """Answer of a plan: a badge, the point, the rest of the sentence, and a short one for a class."""

    badge: str
    point: str
    rest: str
    short: str


def answer(facts: PlanFacts) -> Answer:
    """Whether all limits hold and what is left of the promise, or what must give way."""
    solution, plan = facts.solution, facts.solution.plan
    number = len(plan.statistics)
    withheld = " ".join(map(withheld_sentence, facts.broken))
    if not solution.is_feasible:
        rest = " ".join(filter(None, [give_way_sentence(facts), withheld]))
        short = "No limits can be kept."
        if math.isfinite(solution.factor):
            short = f"Not all limits hold: errors must be {format_factor(solution.factor)} times as large."
        return Answer("must give way", "", rest, short)
    hold = {1: "The limit holds", 2: "Both limits hold"}.get(number, f"All {spell_count(number, 'limit')} hold")
    needed = _needed_sentence(facts)
    if withheld:
        short = "The limits hold, but withholding small counts breaks one."
        rest = f"{needed}, when {plan.unit}. {withheld}"
        return Answer("withholding breaks a limit", f"{hold} before small counts are withheld", rest, short)
    badge = "all limits hold" if number > 1 else "the limit holds"
    return Answer(badge, hold, f"{needed}, when {plan.unit}. {_rest_sentence(facts)}", f"{hold} {needed}.")


def give_way_sentence(facts: PlanFacts) -> str:
    """What would have to give way: all limits by one factor, or one of them alone."""
    solution, plan = facts.solution, facts.solution.plan
    possible = [item for item in facts.statistics if math.isfinite(item.relaxed_alone)]
    alone = [f"{_relaxed(item)} for “{item.statistic.name}”" for item in possible]
    factor = format_factor(solution.factor) if math.isfinite(solution.factor) else None
    return _sentence("give_way", plan=plan, factor=factor, alone=alone)


def _needed_sentence(facts: PlanFacts) -> str:
    """What the limits need of the promise."""
    epsilon, delta = facts.solution.plan.promise
    shares = (min(facts.needed, 1.0), 1.0)
    guesses = [format_percent((1 + share * delta) / 2, 3).replace(" %", "\u00a0%") for share in shares]
    needed = format_bound(facts.needed * epsilon) if 0 < epsilon < math.inf else ""
    return _sentence(
        "needed", is_free=math.isinf(epsilon), epsilon=epsilon, delta=delta, guesses=guesses, needed=needed
    )


def _rest_sentence(facts: PlanFacts) -> str:
    """What is left of the promise, or what it was spent on."""
    plan = facts.solution.plan
    epsilon, delta = plan.promise
    used = format_percent_at_most(max(item.used_limit for item in facts.statistics), 3)
    is_free = math.isinf(epsilon)
    rest = 0.0 if is_free else round_down(epsilon * (1 - facts.needed), 3)
    return _sentence("rest", plan=plan, used=used, delta=delta, is_free=is_free, rest=rest)


def withheld_sentence(published: PublishedError) -> str:
    """By how much withholding small counts breaks a limit, and what would mend it."""
    return _sentence("withheld", published=published)


# The table of all statistics


def page_table(table: TextTable) -> TextTable:
    """A table as inline HTML: the first column in bold, and the second line of each cell small."""

    def marked(cell: str, is_first: bool) -> str:
        main, _, detail = map(escape_markdown, cell.partition("\n"))
        main = f"<b>{main}</b>" if is_first and detail else main
        return f"{main}<br><small>{detail}</small>" if detail else main

    rows = [[marked(cell, place == 0) for place, cell in enumerate(row)] for row in table.rows]
    return table._replace(rows=rows)


def statistics_table(facts: PlanFacts) -> TextTable:
    """Numbers of each statistic; what would do alone where not all limits hold."""
    rows = []
    for item in facts.statistics:
        statistic, mechanism = item.statistic, item.mechanism
        error = statistic.format_error(item.error)
        if item.published is not None:
            error += f"\n{statistic.format_error(item.noise_error)} before counts are withheld"
        row = [
            f"{statistic.name}\n{statistic.description}, {statistic.measure_label}",
            f"{mechanism.label}\n{mechanism.symbol} = {format_number(mechanism.rate, 3)}",
            error,
            statistic.format_error(statistic.limit),
            format_percent(item.used_limit, 3),
        ]
        if not facts.solution.is_feasible:
            row.append(_relaxed(item) if math.isfinite(item.relaxed_alone) else "not enough alone")
        rows.append(row)
    head = ["statistic", "released with", "error", "limit", "used"]
    if not facts.solution.is_feasible:
        head.append("would do alone")
    return TextTable(head, rows, "The numbers of each statistic")


# What it gives away


def loss_sentence(design: PlanDesign) -> str:
    """What all statistics together really give away."""
    epsilon, delta = design.plan.promise
    delta = delta if epsilon else USUAL_DELTA
    real, pure = design.epsilon(delta), design.pure_epsilon
    is_smaller = delta > 0 and real * (1 + SAME_FACTOR) < pure < math.inf
    return _sentence(
        "loss", design=design, real=format_bound(real), guesses=_format_guesses(design),
        at_delta=format_number(delta, 3) if delta and pure > real else "",
        without_delta=format_bound(pure) if is_smaller else "",
        note=": ".join(WEAK_PROTECTION_NOTE) if real > USUAL_EPSILON else "",
    )  # fmt: skip


def _format_guesses(design: PlanDesign) -> str:
    share = min(design.right_guesses, 1.0)
    text = format_percent(share, 3)
    return text if text.startswith("more") else format_percent_at_most(share, 3)


def composition_sentence(solution: PlanSolution) -> str:
    """What exact composition saves against adding up the ε and δ of each statistic."""
    design, (epsilon, delta) = solution.design, solution.plan.promise
    change = format_change(solution.basic_ratio) if math.isfinite(solution.basic_ratio) else ""
    basic = exact = ""
    if epsilon and delta and math.isfinite(design.basic_epsilon(delta)):
        basic, exact = format_bound(design.basic_epsilon(delta)), format_bound(design.epsilon(delta))
    number = len(solution.plan.statistics)
    return _sentence("composition", number=number, delta=delta, change=change, basic=basic, exact=exact)


def groups_sentence(plan: ReleasePlan) -> str:
    """How disjoint groups share the promise; nothing where there are none."""
    return _sentence("groups", plan=plan) if any(statistic.group for statistic in plan.statistics) else ""


# Mixtures of mechanisms


def describe_mixture(plan: ReleasePlan, kinds: Kinds) -> str:
    """Which statistics have which mechanism.

    >>> from dpviz.plans.mechanisms import GaussianNoise
    >>> from dpviz.plans.statistics import YesNoShare
    >>> describe_mixture(ReleasePlan(statistics=(YesNoShare(name="works"),)), (GaussianNoise,))
    'Gaussian noise'
    """
    names: dict[str, list[str]] = {}
    for statistic, kind in zip(plan.statistics, kinds, strict=True):
        names.setdefault(kind.label, []).append(f"“{statistic.name}”")
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{label} for {', '.join(quoted)}" for label, quoted in names.items())


def mixture_sentence(solution: PlanSolution) -> str:
    """Why this mixture of mechanisms was taken, and by how much the next one is behind."""
    plan = solution.plan
    chosen = tuple(type(mechanism) for mechanism in solution.design.mechanisms)
    following = change = ""
    alternatives = sorted((item for item in solution.tried if item[0] != chosen), key=lambda item: item[1])
    if alternatives:
        kinds, factor = alternatives[0]
        following = describe_mixture(plan, kinds)
        change = format_change(factor / solution.factor) if math.isfinite(factor) else ""
    number = spell_number(len(solution.tried))
    return _sentence(
        "mixture", chosen=describe_mixture(plan, chosen), next=following, change=change, number=number
    )  # fmt: skip


def mixtures_table(solution: PlanSolution, number: int) -> TextTable:
    """The best mixtures that were tried, with the errors of each against those of the best."""
    tried = sorted(solution.tried, key=lambda item: item[1])[:number]
    rows = []
    for kinds, factor in tried:
        errors = format_change(factor / tried[0][1]) if math.isfinite(factor) else "cannot keep the promise"
        rows.append([describe_mixture(solution.plan, kinds), errors])
    return TextTable(["mechanisms", "errors for the same promise"], rows, "The best mixtures of mechanisms tried")


# Other promises and assumptions


def changes_sentence(solution: PlanSolution, curve: Sequence[tuple[float, float]]) -> str:
    """What half and twice the promised ε would change."""
    promised = solution.plan.promise[0]
    changes = [
        (epsilon, factor, format_change(factor / solution.factor) if math.isfinite(factor) else "")
        for epsilon, factor in curve
        if epsilon in (promised / 2, promised * 2)
    ]
    return _sentence("changes", changes=changes)


def assumption_sentence(solution: PlanSolution, curve: AssumptionCurve) -> str:
    """The widest assumption that keeps all limits."""
    plan = solution.plan
    described = describe_assumption(plan, curve.assumption, curve.widest)
    return _sentence("assumption", curve=curve, plan=plan, described=described)


def assumptions_table(curves: Sequence[AssumptionCurve]) -> TextTable:
    """For every assumption at every scale the errors, and what the limits need of the promise."""
    head = ["assumed", "times as wide", "errors, times their limits", "share of the promise needed", "limits"]
    rows = []
    for curve in curves:
        for point in curve.points:
            factor = format_bound(point.factor) if math.isfinite(point.factor) else "–"
            needed = "no ε is enough"
            if math.isfinite(point.needed):
                needed = format_percent(round_up(point.needed, 3), 3)
            verdict = "hold" if point.factor <= 1 else "break"
            rows.append([curve.assumption, format_number(point.scale), factor, needed, verdict])
    return TextTable(head, rows, "What other assumptions would need")


# Withheld counts, and naive designs


def suppression_sentences(facts: PlanFacts) -> list[str]:
    """What withholding small counts protects, which is nothing, and what it does to the limit of each statistic."""
    return [_sentence("suppression", published=published) for published in facts.published]


def withheld_table(facts: PlanFacts) -> TextTable:
    """What withholding does to counts of each statistic: how often it happens, and the errors, in counts."""
    head = ["statistic, true count", "withheld", "typical error without", "missing read as 0", "read as half"]
    rows = []
    for published in facts.published:
        for example in published.examples:
            name = f"{published.statistic.name}\n{example.count:,} of {published.n:,}"
            errors = (example.rmse, example.rmse_as_zero, example.rmse_as_half)
            rows.append([name, format_percent(example.probability, 3), *(format_number(error, 3) for error in errors)])
    return TextTable(head, rows, "What withholding does to a count")


def naive_table(designs: Sequence[NaiveDesign]) -> TextTable:
    """Designs that were not taken: what they really give away, and what each breaks."""
    rows = []
    for naive in designs:
        epsilon, delta = naive.plan.promise
        if naive.design is None or math.isinf(naive.epsilon):
            real = "no ε holds"
        elif epsilon == 0:
            real = f"{_format_guesses(naive.design)} right guesses"
        else:
            real = f"ε = {format_bound(naive.epsilon)}{f' at δ = {format_number(delta, 3)}' if delta else ''}"
        limit = f"{'✗ broken' if naive.breaks_limit else '✓ kept'}, {format_percent(naive.used_limit, 3)}"
        promise = "✗ broken" if naive.breaks_promise else "✓ kept"
        rows.append([f"{naive.name}\n{naive.reason}", real, promise, limit])
    head = ["design", "really gives away", "promise", "limit that is used most"]
    return TextTable(head, rows, "Designs that were not taken")
