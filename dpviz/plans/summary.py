"""What an answer of a plan says: facts, and the sentences and tables of ``sentences.txt``, in plain text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from dpviz.core import formatting
from dpviz.core.escape import escape_markdown
from dpviz.core.formatting import TextTable
from dpviz.curator.privacy_limits import USUAL_EPSILON, WEAK_PROTECTION_NOTE
from dpviz.export.templates import render, render_paragraphs
from dpviz.plans.composition import PlanDesign
from dpviz.plans.mechanisms import PlanMechanism, PublishedError
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.solve import PlanSolution, solve_plan
from dpviz.plans.statistics import ERROR_MEASURES, Statistic

USUAL_DELTA = 1e-6  # at which ε is stated where the promise has no δ of its own
TEMPLATE = "plans/sentences.txt"
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


@dataclass(frozen=True)
class PlanFacts:
    """A solved plan with the shares of the promise that it uses."""

    solution: PlanSolution
    statistics: tuple[StatisticFacts, ...]
    exact: float  # composed exactly
    basic: float  # by adding up
    needed: float  # what the limits ask for and no more; infinite where not all of them hold

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
    statistics = []
    for statistic, mechanism, relaxed in zip(plan.statistics, design.mechanisms, solution.relaxed_alone, strict=True):
        alone = PlanDesign(replace(plan, statistics=(statistic,)), (mechanism,))
        part = alone.promise_used(len(plan.statistics))
        errors = (mechanism.error(statistic), mechanism.published_error(statistic))
        statistics.append(StatisticFacts(statistic, mechanism, part, *errors, relaxed))
    epsilon, delta = plan.promise
    adds_parts = math.isinf(epsilon) or epsilon == 0
    return PlanFacts(
        solution=solution,
        statistics=tuple(statistics),
        exact=design.promise_used(),
        basic=math.fsum(item.part for item in statistics) if adds_parts else design.basic_epsilon(delta) / epsilon,
        needed=solution.needed.promise_used() if solution.is_feasible else math.inf,
    )


# Sentences and tables

VOCABULARY = {
    "infinity": math.inf, "is_finite": math.isfinite, "usual_delta": USUAL_DELTA, "usual_epsilon": USUAL_EPSILON,
    "same_factor": SAME_FACTOR, "weak_protection": WEAK_PROTECTION_NOTE, "measures": ERROR_MEASURES,
    "formatting": formatting, "zip": zip,
}  # fmt: skip
"""What the template of sentences and tables uses beside the facts."""


def sentence(name: str, /, **facts: object) -> str:
    """A sentence of a solved plan, or several, in one line.

    Parameters
    ----------
    name : str
        Of a macro of ``sentences.txt``.
    **facts
        What it is about, under the names that stand there: a `solution`, its `design` or `plan`, …
    """
    return " ".join(render_paragraphs(TEMPLATE, part=name, **VOCABULARY, **facts))


def table(name: str, /, **facts: object) -> TextTable:
    """A table of a solved plan in plain text; the second line of a cell is small print.

    Its macro ends in ``_table``, else `name` and `facts` are as in `sentence`.
    """
    text = render(TEMPLATE, part=f"{name}_table", **VOCABULARY, **facts)
    caption, *lines = re.split(r"\n{2,}", text.strip())
    head, *rows = [[cell.replace("\n  ", "\n") for cell in re.split(r"\n(?! )", line)] for line in lines]
    return TextTable(head, rows, caption)


def page_table(name: str, /, **facts: object) -> TextTable:
    """The same table as inline HTML: cells of the first column in bold above their second line, which is small."""
    content = table(name, **facts)

    def marked(cell: str, is_first: bool) -> str:
        main, _, detail = map(escape_markdown, cell.partition("\n"))
        main = f"<b>{main}</b>" if is_first and detail else main
        return f"{main}<br><small>{detail}</small>" if detail else main

    rows = [[marked(cell, place == 0) for place, cell in enumerate(row)] for row in content.rows]
    return content._replace(rows=rows)
