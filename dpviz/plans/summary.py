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
from dpviz.plans.sensitivity import AssumptionCurve, NaiveDesign
from dpviz.plans.solve import Kinds, PlanSolution, solve_plan
from dpviz.plans.statistics import Statistic
from dpviz.plans.suppression import PublishedError, published_errors

USUAL_DELTA = 1e-6  # at which ε is stated where the promise has no δ of its own
MAX_MIXTURES = 6  # of mechanisms that are shown
SAME_FACTOR = 1e-3  # relative distance of factors that are the same to three digits


@dataclass(frozen=True)
class StatisticFacts:
    """One statistic of a solved plan."""

    statistic: Statistic
    mechanism: PlanMechanism
    part: float  # share of the promise that it uses alone, with its part of δ where ε is promised
    noise_error: float  # before small counts are withheld
    published: PublishedError | None  # after that, where any are
    relaxed_alone: float  # limit that would do if it alone gave way

    @property
    def error(self) -> float:
        """Error of what is published."""
        return self.noise_error if self.published is None else self.published.error

    @property
    def used_limit(self) -> float:
        """Part of the limit that the error uses."""
        return self.error / self.statistic.limit

    @property
    def used_by_noise(self) -> float:
        """Part of the limit that the error of the noise alone uses."""
        return self.noise_error / self.statistic.limit

    @property
    def relaxed_text(self) -> str:
        """Limit that would do alone, rounded up; empty where none would."""
        if math.isinf(self.relaxed_alone):
            return ""
        return self.statistic.format_error(round_up(self.relaxed_alone, 3, tolerance=SEARCH_TOLERANCE))


@dataclass(frozen=True)
class PlanFacts:
    """A solved plan with the shares of the promise that it uses."""

    solution: PlanSolution
    statistics: tuple[StatisticFacts, ...]
    exact: float  # composed exactly
    basic: float  # by adding up
    needed: float  # what the limits ask for and no more

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
    parts = []
    for statistic, mechanism in zip(plan.statistics, design.mechanisms, strict=True):
        alone = PlanDesign(dataclasses.replace(plan, statistics=(statistic,)), (mechanism,))
        parts.append(alone.promise_used(len(plan.statistics)))
    columns = (parts, design.errors(), published_errors(design), solution.relaxed_alone)
    rows = zip(plan.statistics, design.mechanisms, *columns, strict=True)
    epsilon, delta = plan.promise
    adds_parts = math.isinf(epsilon) or epsilon == 0
    return PlanFacts(
        solution=solution,
        statistics=tuple(StatisticFacts(*row) for row in rows),
        exact=design.promise_used(),
        basic=math.fsum(parts) if adds_parts else design.basic_epsilon(delta) / epsilon,
        needed=solution.needed.promise_used() if solution.is_feasible else math.inf,
    )


# Sentences


def _at_most(value: float) -> str:
    return format_number(round_up(value, 3), 3)


def _factor_text(factor: float) -> str:
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


def _right_guesses(design: PlanDesign) -> str:
    share = min(design.right_guesses, 1.0)
    text = format_percent(share, 3)
    return text if text.startswith("more") else format_percent_at_most(share, 3)


def _mixture_text(plan: ReleasePlan, kinds: Kinds) -> str:
    """Which statistics have which mechanism."""
    names: dict[str, list[str]] = {}
    for statistic, kind in zip(plan.statistics, kinds, strict=True):
        names.setdefault(kind.label, []).append(f"“{statistic.name}”")
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{label} for {', '.join(quoted)}" for label, quoted in names.items())


VOCABULARY = {
    "infinity": math.inf, "is_finite": math.isfinite, "usual_delta": USUAL_DELTA, "usual_epsilon": USUAL_EPSILON,
    "same_factor": SAME_FACTOR, "weak_protection": WEAK_PROTECTION_NOTE,
    "at_most": _at_most, "change": format_change, "distinct": format_distinct, "factor_text": _factor_text,
    "mixture_text": _mixture_text, "percent": format_percent, "percent_at_most": format_percent_at_most,
    "right_guesses": _right_guesses, "round_down": round_down, "spell_count": spell_count, "spell_number": spell_number,
}  # fmt: skip
"""What the template of sentences uses beside the facts."""


def sentence(name: str, /, **facts: object) -> str:
    """A sentence of a solved plan, or several, in one line.

    Parameters
    ----------
    name : str
        Of a macro at the end of ``sentences.txt``.
    **facts
        What it is about, under the names that stand there: a `solution`, its `design` or `plan`, …
    """
    return " ".join(render_paragraphs("plans/sentences.txt", sentence=name, **VOCABULARY, **facts))


class Answer(NamedTuple):
    """Answer of a plan: whether all limits hold and what is left of the promise, or what must give way."""

    badge: str
    point: str
    rest: str
    short: str  # for a class

    @classmethod
    def of(cls, facts: PlanFacts) -> Answer:
        """Answer of a solved plan."""
        return cls(*(sentence(part, facts=facts) for part in cls._fields))


# Tables


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
    head = ["statistic", "released with", "error", "limit", "used", "would do alone"]
    rows = []
    for item in facts.statistics:
        statistic, mechanism = item.statistic, item.mechanism
        error = statistic.format_error(item.error)
        if item.published is not None:
            error += f"\n{statistic.format_error(item.noise_error)} before counts are withheld"
        rows.append([
            f"{statistic.name}\n{statistic.description}, {statistic.measure_label}",
            f"{mechanism.label}\n{mechanism.symbol} = {format_number(mechanism.rate, 3)}",
            error,
            statistic.format_error(statistic.limit),
            format_percent(item.used_limit, 3),
            item.relaxed_text or "not enough alone",
        ])  # fmt: skip
    columns = len(head) - facts.solution.is_feasible
    return TextTable(head[:columns], [row[:columns] for row in rows], "The numbers of each statistic")


def mixtures_table(solution: PlanSolution) -> TextTable:
    """The best mixtures that were tried, with the errors of each against those of the best."""
    tried = sorted(solution.tried, key=lambda item: item[1])[:MAX_MIXTURES]
    rows = []
    for kinds, factor in tried:
        errors = format_change(factor / tried[0][1]) if math.isfinite(factor) else "cannot keep the promise"
        rows.append([_mixture_text(solution.plan, kinds), errors])
    return TextTable(["mechanisms", "errors for the same promise"], rows, "The best mixtures of mechanisms tried")


def assumptions_table(curves: Sequence[AssumptionCurve]) -> TextTable:
    """For every assumption at every scale the errors, and what the limits need of the promise."""
    head = ["assumed", "times as wide", "errors, times their limits", "share of the promise needed", "limits"]
    rows = [
        [
            curve.assumption,
            format_number(point.scale),
            _at_most(point.factor) if math.isfinite(point.factor) else "–",
            format_percent(round_up(point.needed, 3), 3) if math.isfinite(point.needed) else "no ε is enough",
            "hold" if point.factor <= 1 else "break",
        ]
        for curve in curves
        for point in curve.points
    ]
    return TextTable(head, rows, "What other assumptions would need")


def withheld_table(facts: PlanFacts) -> TextTable:
    """What withholding does to counts of each statistic: how often it happens, and the errors, in counts."""
    head = ["statistic, true count", "withheld", "typical error without", "missing read as 0", "read as half"]
    rows = []
    for item in facts.statistics:
        mechanism, threshold = item.mechanism, item.statistic.suppress_below
        for count in item.published.examples if item.published is not None else ():
            probability, _ = mechanism.moments_below(count, threshold)
            errors = [math.sqrt(mechanism.mean_square(count, mechanism.n - count))]
            errors += [mechanism.withheld_rmse(count, threshold, substitute) for substitute in (0.0, threshold / 2)]
            name = f"{item.statistic.name}\n{count:,} of {mechanism.n:,}"
            rows.append([name, format_percent(probability, 3), *(format_number(error, 3) for error in errors)])
    return TextTable(head, rows, "What withholding does to a count")


def naive_table(designs: Sequence[NaiveDesign]) -> TextTable:
    """Designs that were not taken: what they really give away, and what each breaks."""
    verdicts = {True: "✗ broken", False: "✓ kept"}
    rows = []
    for naive in designs:
        epsilon, delta = naive.plan.promise
        if naive.design is None or math.isinf(naive.epsilon):
            real = "no ε holds"
        elif epsilon == 0:
            real = f"{_right_guesses(naive.design)} right guesses"
        else:
            real = f"ε = {_at_most(naive.epsilon)}{f' at δ = {format_number(delta, 3)}' if delta else ''}"
        limit = f"{verdicts[naive.breaks_limit]}, {format_percent(naive.used_limit, 3)}"
        rows.append([f"{naive.name}\n{naive.reason}", real, verdicts[naive.breaks_promise], limit])
    head = ["design", "really gives away", "promise", "limit that is used most"]
    return TextTable(head, rows, "Designs that were not taken")
