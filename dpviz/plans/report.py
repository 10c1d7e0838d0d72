"""The report on a plan: one page of HTML that fetches nothing, prints on A4, and is the same for the same plan."""

from __future__ import annotations

import math

import dpviz
from dpviz.core.formatting import format_number, format_percent, round_up, spell_count
from dpviz.desk.texts import capitalized, filled
from dpviz.plans import what_if, words
from dpviz.plans.files import answer_json, plan_numbers
from dpviz.plans.plan import number_in_words
from dpviz.plans.ranges import plan_ranges
from dpviz.plans.rejected import rejected_designs
from dpviz.plans.shares import PlanAnswer
from dpviz.plans.suppression import published_errors, suppression_costs, used_published

STATISTIC_HEAD = ("statistic", "what", "group", "limit", "error", "limit used", "released with", "share of ε")


def plan_report(answer: PlanAnswer, *, date: str = "", address: str = "") -> str:
    """Return the report; `date` and the `address` of the page are printed as they are given."""
    plan = answer.plan
    ranges, statistics = plan_ranges(answer), capitalized(spell_count(len(plan.statistics), "statistic"))
    return filled(
        "report/plan.html",
        version=dpviz.__version__,
        date=date,
        address=address,
        plan=plan,
        title=f"{statistics} of {spell_count(plan.n, 'row')} under one promise",
        answer=words.plan_sentence(answer),
        loss=words.loss_sentence(answer.design),
        accuracy=words.ACCURACY_MEANT,
        head=STATISTIC_HEAD,
        rows=statistic_rows(answer),
        composition=[words.composition_sentence(answer), *filter(None, [words.groups_sentence(plan)])],
        why=words.why_sentence(answer),
        sensitivity=what_if.sensitivity_sentence(answer, what_if.sensitivities(plan)),
        ranges_meant=what_if.RANGES_MEANT,
        ranges=[(capitalized(one.assumption.label), what_if.range_sentence(answer, one)) for one in ranges],
        ranges_table=what_if.ranges_table(ranges),
        suppression=words.suppression_sentences(suppression_costs(answer.design), published_errors(answer.design)),
        rejected=[(one.name, words.rejected_sentence(one)) for one in rejected_designs(answer)],
        numbers=[(one.name, one.text) for one in plan_numbers(answer)],
        json=answer_json(answer),
    )


def statistic_rows(answer: PlanAnswer) -> list[list[str]]:
    """Return a row for each statistic under `STATISTIC_HEAD`.

    The share of ε is what its largest loss is of the sum of all, of the neighbours where that sum is the largest.
    """
    plan, design = answer.plan, answer.design
    losses = max(
        (
            [one.largest_loss(each) for one, each in zip(design.releases, shifts, strict=True)]
            for shifts in plan.changes
        ),
        key=math.fsum,
    )
    whole, rows = math.fsum(losses), []
    published = published_errors(design)
    used_of_each = used_published(design, published)
    for one, release, error, missing, used, loss in zip(
        plan.statistics, design.releases, design.errors(), published, used_of_each, losses, strict=True
    ):
        rate = f"{release.label}, {release.symbol} = {format_number(release.rate, 4)}"
        share = format_percent(loss / whole, 3) if math.isfinite(whole) and whole else "–"
        limit, reached = (number_in_words(one, value) for value in (one.limit, error))
        if missing is not None:
            reached = f"{number_in_words(one, missing.error)}; {reached} before counts are withheld"
        used_text = format_percent(round_up(used, 3), 3)
        rows.append(
            [one.name, f"{one.label}, {one.asked.label}", one.group or "–", limit, reached, used_text, rate, share]
        )
    return rows
