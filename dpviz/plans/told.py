"""What is answered of a plan, in a sentence, in a short one, and in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dpviz.core.escape import escape_markdown
from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    TextTable,
    format_distinct,
    format_number,
    format_percent,
    format_percent_at_most,
    round_down,
    round_up,
)
from dpviz.desk.exports.tables import csv_text
from dpviz.plans.drawn import SolvedPlan
from dpviz.plans.files import answer_json, plan_notebook
from dpviz.plans.plan import number_in_words
from dpviz.plans.rejected import rejected_designs
from dpviz.plans.report import plan_report
from dpviz.plans.shares import Kinds, PlanAnswer
from dpviz.plans.statistic import BoundedMean, CategoryShares, CrossTable, Statistic
from dpviz.plans.suppression import SuppressionCost, published_errors, used_published
from dpviz.plans.words import (
    larger_or_smaller,
    limits_hold,
    mixture_in_words,
    plan_sentence,
    rejected_sentence,
    withheld_sentence,
)


class PlanTold(NamedTuple):
    """What is answered: a mark, a sentence as inline HTML, and a short one for a class."""

    mark: str
    sentence: str
    short: str


def answer_told(solved: SolvedPlan) -> PlanTold:
    """Return whether all limits hold and what is left of the promise, or which limit must give way."""
    answer = solved.answer
    plan, many = answer.plan, len(answer.plan.statistics)
    if not answer.feasible:
        short = "No limits can be kept."
        if math.isfinite(answer.factor):
            short = f"Not all limits hold: errors must be {_times(answer.factor)} as large."
        return PlanTold("must give way", escape_markdown(plan_sentence(answer)), short)
    broken = withheld_sentence(solved.published)
    whole = limits_hold(many, bool(broken))
    needs = _needs(solved)
    left = "" if plan.spend_all else f" {_left(solved)}"
    if broken:
        return PlanTold(
            "withholding breaks a limit",
            f"<b>{whole}</b> {needs}, when {plan.unit_in_words}. {escape_markdown(broken)}",
            "The limits hold, but withholding small counts breaks one.",
        )
    return PlanTold(
        "all limits hold" if many > 1 else "the limit holds",
        f"<b>{whole}</b> {needs}, when {plan.unit_in_words}.{left or f' {_spent(solved)}'}",
        f"{whole} {needs}.",
    )


def _needs(solved: SolvedPlan) -> str:
    """What the limits need of the promise."""
    plan = solved.answer.plan
    epsilon, delta = plan.promise
    if math.isinf(epsilon):
        return "whatever is told"
    if epsilon == 0:
        needed, most = (format_percent((1 + share * delta) / 2, 3) for share in (min(solved.needed, 1.0), 1.0))
        return f"with {needed} right guesses, of {most} allowed".replace(" %", "\u00a0%")
    at = f" at δ = {format_number(delta, 3)}" if delta else ""
    return (
        f"with ε\u00a0=\u00a0{format_number(round_up(solved.needed * epsilon, 3), 3)} of "
        f"{format_number(epsilon, 4)}{at}"
    )


def _left(solved: SolvedPlan) -> str:
    """What is left of the promise for later."""
    plan = solved.answer.plan
    epsilon, delta = plan.promise
    if math.isinf(epsilon):
        return "Nothing limits what is told."
    if delta:
        return "The rest of the promise is not spent."
    rest = round_down(epsilon * (1 - solved.needed), 3)
    return (
        f"ε\u00a0=\u00a0{format_number(rest, 3)} is left for later publications."
        if rest > 0
        else "Nothing is left of it."
    )


def _spent(solved: SolvedPlan) -> str:
    """What the rest of the promise was spent on."""
    most = max(used_published(solved.answer.design, solved.published))
    return f"The rest is spent on smaller errors, which use {format_percent_at_most(most, 3)} of each limit."


def _times(factor: float) -> str:
    return f"{format_distinct(round_up(factor, 3, tolerance=SEARCH_TOLERANCE), 1.0, 3)} times"


def statistics_table(answer: PlanAnswer) -> TextTable:
    """Return the numbers of each statistic; what would do alone where not all limits hold."""
    design = answer.design
    published = published_errors(design)
    used_of_each = used_published(design, published)
    head = ["statistic", "released with", "error", "limit", "used"]
    rows = []
    for one, release, error, missing, used, alone in zip(
        answer.plan.statistics, design.releases, design.errors(), published, used_of_each, answer.alone, strict=True
    ):
        name = f"<b>{escape_markdown(one.name)}</b><br><small>{kind_in_words(one)}, {one.asked.label}</small>"
        noise = f"{release.label}<br><small>{release.symbol} = {format_number(release.rate, 3)}</small>"
        told = number_in_words(one, error if missing is None else missing.error)
        if missing is not None:
            told += f"<br><small>{number_in_words(one, error)} before counts are withheld</small>"
        row = [name, noise, told, number_in_words(one, one.limit), format_percent(used, 3)]
        if not answer.feasible:
            enough = math.isfinite(alone)
            row.append(
                number_in_words(one, round_up(alone, 3, tolerance=SEARCH_TOLERANCE)) if enough else "not enough alone"
            )
        rows.append(row)
    return TextTable(head if answer.feasible else [*head, "would do alone"], rows, "The numbers of each statistic")


def mixtures_table(answer: PlanAnswer, most: int) -> TextTable:
    """Return the best mixtures of mechanisms that were tried, with the errors of each against those of the best."""
    known = [one for one in answer.tried if not math.isnan(one[1])]
    rows = []
    for kinds, factor in sorted(known, key=lambda one: one[1])[:most]:
        errors = larger_or_smaller(factor / known_best(known)) if math.isfinite(factor) else "cannot keep the promise"
        rows.append([escape_markdown(mixture_in_words(answer.plan, kinds)), errors])
    return TextTable(["mechanisms", "errors for the same promise"], rows, "The best mixtures of mechanisms tried")


def statistics_csv(answer: PlanAnswer) -> str:
    """Return every number of each statistic as CSV, shares as shares."""
    head = [
        "name",
        "kind",
        "group",
        "measure",
        "limit",
        "error",
        "used",
        "alone",
        "mechanism",
        "rate",
        "withheld_below",
        "error_with_withheld",
    ]
    design = answer.design
    rows = [
        [
            one.name,
            one.key,
            one.group,
            one.measure,
            one.limit,
            error,
            used,
            alone,
            release.key,
            release.rate,
            one.suppress_below,
            error if missing is None else missing.error,
        ]
        for one, release, error, used, alone, missing in zip(
            answer.plan.statistics,
            design.releases,
            design.errors(),
            design.used(),
            answer.alone,
            published_errors(design),
            strict=True,
        )
    ]
    return csv_text(head, rows)


class PlanFiles(NamedTuple):
    """The files that defend a plan: the report, the plan with its numbers, and the notebook that finds them again."""

    report: str
    stored: str
    notebook: str


def plan_files(answer: PlanAnswer, date: str, address: str) -> PlanFiles:
    """Return the files of an answer; what the report says further is computed for it."""
    return PlanFiles(plan_report(answer, date=date, address=address), answer_json(answer), plan_notebook(answer))


def withheld_table(costs: Sequence[SuppressionCost]) -> TextTable:
    """Return what withholding does to counts of each statistic: how often it happens, and the errors, in counts."""
    head = ["statistic, true count", "withheld", "typical error without", "missing read as 0", "read as half"]
    rows = []
    for one in costs:
        for count in one.at:
            errors = (format_number(each, 3) for each in (count.plain, count.as_zero[1], count.as_half[1]))
            name = f"<b>{escape_markdown(one.statistic.name)}</b><br><small>{count.count:,} of {one.n:,}</small>"
            rows.append([name, format_percent(count.withheld, 3), *errors])
    return TextTable(head, rows, "What withholding does to a count")


def rejected_table(answer: PlanAnswer) -> TextTable:
    """Return designs that were not taken, with their real ε, and what each breaks."""
    head = ["design", "real ε", "promise", "limit that is used most"]
    rows = []
    for one in rejected_designs(answer):
        told = f"<b>{escape_markdown(one.name)}</b><br><small>{escape_markdown(rejected_sentence(one))}</small>"
        real = "none holds" if math.isinf(one.epsilon) else format_number(round_up(one.epsilon, 3), 3)
        used = f"{'✗ broken' if one.breaks_limit else '✓ kept'}, {format_percent(one.used, 3)}"
        rows.append([told, real, "✗ broken" if one.breaks_promise else "✓ kept", used])
    return TextTable(head, rows, "Designs that were not taken")


def known_best(tried: Sequence[tuple[Kinds, float]]) -> float:
    """Return the smallest factor among mixtures."""
    return min(factor for _, factor in tried)


def statistic_in_short(one: Statistic) -> str:
    """Return a statistic in a line: its name, what it is, and its limit.

    >>> statistic_in_short(CategoryShares(name="Region", categories=8, limit=0.005))
    'Region · shares of 8 categories · 0.5 points'
    """
    return " · ".join((one.name, kind_in_words(one), number_in_words(one, one.limit)))


def kind_in_words(one: Statistic) -> str:
    """Return what a statistic is, with its size.

    >>> kind_in_words(CrossTable(name="a", first=2, second=6)), kind_in_words(BoundedMean(name="a", upper=80.0))
    ('cross-table, 2 × 6', 'mean between 0 and 80')
    """
    if isinstance(one, CategoryShares):
        return f"shares of {one.categories:,} categories"
    if isinstance(one, CrossTable):
        return f"{one.label}, {one.first:,} × {one.second:,}"
    if isinstance(one, BoundedMean):
        return f"mean between {one.lower:g} and {one.upper:g}"
    return one.label
