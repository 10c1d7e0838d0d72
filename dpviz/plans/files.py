"""Plans as files: JSON and TOML that are read again, with numbers; a report, a notebook, a table and a script."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import dpviz
from dpviz.core import formatting
from dpviz.core.formatting import format_number
from dpviz.curator.opendp import OPENDP_VERSION
from dpviz.export.stored import compare_numbers, json_number, read_stored
from dpviz.export.templates import render
from dpviz.plans import summary
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.sensitivity import AssumptionCurve, assumption_curves, epsilon_curve, naive_designs
from dpviz.plans.solve import PlanSolution, solve_plan
from dpviz.plans.statistics import ERROR_MEASURES


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
        numbers[f"{name}: {ERROR_MEASURES[facts.statistic.measure]}"] = facts.noise_error
        numbers[f"{name}: limit that would do if it alone gave way"] = facts.relaxed_alone
        if facts.published is not None:
            numbers[f"{name}: the error with small counts withheld"] = facts.error
    return numbers


def _content(solution: PlanSolution) -> dict[str, object]:
    numbers = [{"name": name, "value": json_number(value)} for name, value in plan_numbers(solution).items()]
    return {"dpviz": dpviz.__version__, "plan": solution.plan.to_dict(), "numbers": numbers}


def solution_json(solution: PlanSolution) -> str:
    """A plan with the numbers that it came to, every digit; `read_plan` reads it."""
    return json.dumps(_content(solution), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def plan_toml(plan: ReleasePlan) -> str:
    """A plan as TOML; `read_plan` reads it.

    >>> from dpviz.plans.statistics import YesNoShare
    >>> plan = ReleasePlan(statistics=(YesNoShare(name="works"),))
    >>> read_plan(plan_toml(plan)) == plan
    True
    """
    values = plan.to_dict()
    statistics = values.pop("statistics")
    tables = {f"[{name}]": values.pop(name) for name in ("protection", "groups")}
    parts = [("", values), *tables.items(), *(("[[statistics]]", statistic) for statistic in statistics)]
    return "\n".join(f"{head}\n{_toml_lines(part)}".lstrip() for head, part in parts)


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


def plan_differences(text: str, solution: PlanSolution | None = None) -> list[tuple[str, str, str]]:
    """Numbers of a file that its plan comes to otherwise today; none where the file holds a plan without numbers.

    Parameters
    ----------
    text : str
    solution : PlanSolution, optional
        Of the plan, which is solved again unless given.
    """
    stored = read_stored(text).get("numbers")
    if not isinstance(stored, list):
        return []
    return compare_numbers(stored, _content(solution or solve_plan(read_plan(text)))["numbers"])


def plan_report(
    solution: PlanSolution, *, date: str = "", address: str = "",
    promises: Sequence[tuple[float, float]] | None = None, assumptions: Sequence[AssumptionCurve] | None = None,
) -> str:  # fmt: skip
    """Report on a plan: one page of HTML that fetches nothing, and is the same for the same plan.

    Parameters
    ----------
    solution : PlanSolution
    date, address : str, optional
        Of the page, printed as they are.
    promises, assumptions : sequence, optional
        `epsilon_curve` and `assumption_curves` of the plan, computed unless given.
    """
    return render(
        "plans/plan.html", version=dpviz.__version__, date=date, address=address, plan=solution.plan,
        solution=solution, facts=summary.solution_facts(solution), summary=summary, formatting=formatting,
        promises=epsilon_curve(solution.plan) if promises is None else promises,
        curves=assumption_curves(solution) if assumptions is None else assumptions,
        naive=naive_designs(solution), numbers=plan_numbers(solution), json=solution_json(solution),
    )  # fmt: skip


def plan_notebook(solution: PlanSolution) -> str:
    """Jupyter notebook that solves the plan again and compares every number with those of this solution."""
    number = len(solution.plan.statistics)
    text = render("plans/plan_cells.txt", version=dpviz.__version__, number=number, stored=solution_json(solution))
    cells: list[dict[str, Any]] = [
        {"id": f"cell-{place}", "cell_type": "code", "metadata": {}, "source": source.strip("\n")}
        | {"execution_count": None, "outputs": []}
        for place, source in enumerate(text.split("\n# %%\n"))
    ]
    cells[0] = {name: cells[0][name] for name in ("id", "metadata", "source")} | {"cell_type": "markdown"}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "dpviz": _content(solution)}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def plan_script(plan: ReleasePlan) -> str:
    """Script that solves a plan and prints its shares and errors."""
    return render("plans/plan_script.txt", lines=plan.to_json().splitlines(keepends=True))


def opendp_script(solution: PlanSolution) -> str:
    """Script that releases a plan with OpenDP, once its rows stand in it; a ValueError if nothing keeps the promise."""
    plan, mechanisms = solution.plan, solution.design.mechanisms
    if not solution.design.keeps_promise:
        raise ValueError("No design of this plan keeps its promise, so that nothing can be released.")
    parts = []
    for place, (statistic, mechanism) in enumerate(zip(plan.statistics, mechanisms, strict=True)):
        norm = math.hypot if mechanism.needs_delta else lambda *shifts: math.fsum(shifts)
        parts.append((statistic, mechanism, max(norm(*way[place]) for way in plan.sensitivities)))
    return render("plans/opendp.txt", version=OPENDP_VERSION, plan=plan, parts=parts)
