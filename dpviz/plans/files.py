"""Plans as files: JSON and TOML that are read again, with numbers; a report, a notebook, a table and a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import dpviz
from dpviz.core.formatting import format_number, spell_count
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.export.stored import Difference, compare_numbers, json_number, read_stored
from dpviz.export.tables import to_csv
from dpviz.export.templates import capitalize_first, render, render_paragraphs
from dpviz.plans import summary
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.sensitivity import assumption_curves, epsilon_curve, naive_designs
from dpviz.plans.solve import PlanSolution, solve_plan


def plan_numbers(solution: PlanSolution) -> dict[str, float]:
    """Every number of a solved plan by name: of the whole, then of each statistic."""
    design, (epsilon, delta) = solution.design, solution.plan.promise
    numbers = {
        "smallest factor of all limits": solution.factor,
        "smallest factor by basic composition": solution.basic_factor,
        "pure ε": design.pure_epsilon,
        "largest share of right guesses": design.right_guesses,
    }
    if delta:
        numbers[f"ε at δ = {format_number(delta, 12)}"] = design.epsilon(delta)
        numbers[f"δ at ε = {format_number(epsilon, 12)}"] = design.delta(min(epsilon, 1e300))
        numbers[f"ε by basic composition at δ = {format_number(delta, 12)}"] = design.basic_epsilon(delta)
    for facts in summary.solution_facts(solution).statistics:
        name, mechanism = f"“{facts.statistic.name}”", facts.mechanism
        numbers[f"{name}: {mechanism.label}, {mechanism.symbol}"] = mechanism.rate
        numbers[f"{name}: {facts.statistic.measure_label}"] = facts.noise_error
        numbers[f"{name}: limit that would do if it alone gave way"] = facts.relaxed_alone
        if facts.published is not None:
            numbers[f"{name}: the error with small counts withheld"] = facts.error
    return numbers


def solution_json(solution: PlanSolution) -> str:
    """A plan with the numbers that it came to, every digit; `read_plan` reads it."""
    return json.dumps(_content(solution), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _content(solution: PlanSolution) -> dict[str, object]:
    return {"dpviz": dpviz.__version__, "plan": solution.plan.to_dict(), "numbers": _entries(solution)}


def plan_toml(plan: ReleasePlan) -> str:
    """A plan as TOML; `read_plan` reads it.

    >>> from dpviz.plans.statistics import YesNoShare
    >>> plan = ReleasePlan(statistics=(YesNoShare(name="works"),))
    >>> read_plan(plan_toml(plan)) == plan
    True
    """
    values = plan.to_dict()
    statistics = values.pop("statistics")
    tables = {name: values.pop(name) for name in ("protection", "groups")}
    parts = [_toml_lines(values)]
    parts += [f"[{name}]\n{_toml_lines(table)}" for name, table in tables.items()]
    parts += [f"[[statistics]]\n{_toml_lines(statistic)}" for statistic in statistics]
    return "\n".join(parts)


def _toml_lines(values: dict[str, Any]) -> str:
    """Names and values as TOML has them, whose texts, numbers and truth values are those of JSON."""
    keys = {name: name if name.isascii() and name.isidentifier() else json.dumps(name) for name in values}
    return "".join(f"{keys[name]} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def read_plan(text: str) -> ReleasePlan:
    """Plan of a file in JSON or TOML, a report or a notebook; ValueError in a sentence for any other text.

    >>> read_plan('statistics = [{kind = "yes_no", name = "works", limit = 2}]').statistics[0].limit
    2.0
    """
    content = read_stored(text)
    return ReleasePlan.of(content.get("plan", content))


def plan_differences(text: str, solution: PlanSolution | None = None) -> list[Difference]:
    """Numbers of a file that its plan, solved again unless its solution is given, comes to otherwise today."""
    stored = read_stored(text).get("numbers")
    if not isinstance(stored, list):
        return []
    return compare_numbers(stored, _entries(solution or solve_plan(read_plan(text))))


def _entries(solution: PlanSolution) -> list[dict[str, object]]:
    return [{"name": name, "value": json_number(value)} for name, value in plan_numbers(solution).items()]


def plan_report(solution: PlanSolution, *, date: str = "", address: str = "") -> str:
    """Report on a plan: one page of HTML that fetches nothing, and is the same for the same plan.

    Parameters
    ----------
    solution : PlanSolution
    date, address : str, optional
        Of the page, printed as they are.

    Returns
    -------
    str
    """
    plan = solution.plan
    facts = summary.solution_facts(solution)
    answer = summary.answer(facts)
    curves = assumption_curves(solution)
    is_epsilon = isinstance(plan.protection, EpsilonDeltaLimit)
    statistics = capitalize_first(spell_count(len(plan.statistics), "statistic"))
    return render(
        "plans/plan.html",
        version=dpviz.__version__,
        date=date,
        address=address,
        title=f"{statistics} of {spell_count(plan.n, 'row')} under one promise",
        answer=f"{answer.point} {answer.rest}".strip(),
        promise=f"Promised is that {plan.protection.text}, when {plan.unit}.",
        statistics=summary.statistics_table(facts),
        loss=summary.loss_sentence(solution.design),
        composition=[summary.composition_sentence(solution), *filter(None, [summary.groups_sentence(plan)])],
        mixture=summary.mixture_sentence(solution),
        changes=summary.changes_sentence(solution, epsilon_curve(plan)) if is_epsilon else "",
        assumptions_note=summary.ASSUMPTIONS_NOTE,
        assumptions=[
            (capitalize_first(curve.assumption), summary.assumption_sentence(solution, curve)) for curve in curves
        ],
        assumptions_table=summary.assumptions_table(curves),
        suppression=summary.suppression_sentences(facts),
        withheld=summary.withheld_table(facts),
        naive=summary.naive_table(naive_designs(solution)),
        numbers=plan_numbers(solution),
        json=solution_json(solution),
    )


def plan_notebook(solution: PlanSolution) -> str:
    """Jupyter notebook that solves the plan again and compares every number with those of this solution."""
    text = "\n\n".join(render_paragraphs("plans/plan_notebook.txt", version=dpviz.__version__, plan=solution.plan))
    cells: list[dict[str, Any]] = [{"id": "cell-0", "cell_type": "markdown", "metadata": {}, "source": text}]
    scripts = render("plans/plan_cells.txt", held=solution_json(solution)).split("\n# %%\n")
    for place, script in enumerate(filter(str.strip, scripts), start=1):
        cell: dict[str, Any] = {
            "id": f"cell-{place}",
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
        }
        cells.append(cell | {"source": script.strip("\n")})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "dpviz": _content(solution)}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def statistics_csv(facts: summary.PlanFacts) -> str:
    """Every number of each statistic as CSV, shares as shares."""
    columns: dict[str, Callable[[summary.StatisticFacts], Any]] = {
        "name": lambda item: item.statistic.name,
        "kind": lambda item: item.statistic.key,
        "group": lambda item: item.statistic.group,
        "measure": lambda item: item.statistic.measure,
        "limit": lambda item: item.statistic.limit,
        "error": lambda item: item.noise_error,
        "used": lambda item: item.noise_error / item.statistic.limit,
        "alone": lambda item: item.relaxed_alone,
        "mechanism": lambda item: item.mechanism.key,
        "rate": lambda item: item.mechanism.rate,
        "withheld_below": lambda item: item.statistic.suppress_below,
        "error_with_withheld": lambda item: item.error,
    }
    return to_csv({name: list(map(value, facts.statistics)) for name, value in columns.items()})


def plan_script(plan: ReleasePlan) -> str:
    """Script that solves a plan and prints its shares and errors."""
    lines = [line + "\n" for line in plan.to_json().splitlines()]
    return render("plans/plan_script.txt", lines=lines)
