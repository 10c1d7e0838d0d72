"""Plans as files: JSON or TOML that is read again, with the numbers that it came to, and a notebook that finds them."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dpviz
from dpviz.core.formatting import describe_value, format_number
from dpviz.desk.report.files import AGREES, MOST_NUMBERS, Difference
from dpviz.desk.texts import filled, sentences
from dpviz.plans.plan import ReleasePlan
from dpviz.plans.shares import PlanAnswer, solve_plan
from dpviz.plans.suppression import published_errors

PLAN_CHARACTERS = 200_000  # Of a file of a plan
LONGEST_PLAN_NUMBER = 200  # Characters of the name of a number in a file


@dataclass(frozen=True)
class PlanNumber:
    """A number of a solved plan, by the name of what it is about."""

    name: str
    value: float

    @property
    def text(self) -> str:
        """The number to six digits."""
        return format_number(self.value)


def plan_numbers(answer: PlanAnswer) -> list[PlanNumber]:
    """Return every number of an answer: of the whole plan, then of each statistic."""
    plan, design, (epsilon, delta) = answer.plan, answer.design, answer.plan.promise
    found = [
        PlanNumber("smallest factor of all limits", answer.factor),
        PlanNumber("smallest factor by basic composition", answer.by_basic),
        PlanNumber("pure ε", design.pure_epsilon),
        PlanNumber("largest share of right guesses", design.right_guesses),
    ]
    if delta:
        found.append(PlanNumber(f"ε at δ = {format_number(delta, 12)}", design.epsilon(delta).upper))
        found.append(PlanNumber(f"δ at ε = {format_number(epsilon, 12)}", design.delta(min(epsilon, 1e300)).upper))
        found.append(
            PlanNumber(f"ε by basic composition at δ = {format_number(delta, 12)}", design.basic_epsilon(delta))
        )
    rows = zip(plan.statistics, design.releases, design.errors(), answer.alone, published_errors(design), strict=True)
    for one, release, error, alone, missing in rows:
        found += [
            PlanNumber(f"“{one.name}”: {release.label}, {release.symbol}", release.rate),
            PlanNumber(f"“{one.name}”: {one.asked.label}", error),
            PlanNumber(f"“{one.name}”: limit that would do if it alone gave way", alone),
        ]
        if missing is not None:
            found.append(PlanNumber(f"“{one.name}”: the error with small counts withheld", missing.error))
    return found


def answer_json(answer: PlanAnswer) -> str:
    """Return a plan with the numbers that it came to, every digit; `read_plan` reads it."""
    numbers = [{"name": one.name, "value": _written(one.value)} for one in plan_numbers(answer)]
    whole = {"dpviz": dpviz.__version__, "plan": answer.plan.to_dict(), "numbers": numbers}
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _written(value: float) -> float | str:
    return value if math.isfinite(value) else "infinite"


def plan_toml(plan: ReleasePlan) -> str:
    """Return a plan as TOML; `read_plan` reads it.

    >>> from dpviz.plans.statistic import YesNoShare
    >>> plan = ReleasePlan(statistics=(YesNoShare(name="works"),))
    >>> read_plan(plan_toml(plan)) == plan
    True
    """
    written = plan.to_dict()
    statistics, tables = written.pop("statistics"), {name: written.pop(name) for name in ("protection", "groups")}
    parts = [_lines(written)]
    parts += [f"[{name}]\n{_lines(one)}" for name, one in tables.items()]
    parts += [f"[[statistics]]\n{_lines(one)}" for one in statistics]
    return "\n".join(parts)


def _lines(values: dict[str, Any]) -> str:
    """Names and values as TOML has them, whose texts, numbers and truth values are those of JSON."""
    return "".join(f"{_key(name)} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else json.dumps(name, ensure_ascii=False)


def read_plan(text: str) -> ReleasePlan:
    """Return the plan of a file in JSON or TOML, with its numbers or without.

    >>> read_plan('statistics = [{kind = "yes_no", name = "works", limit = 2}]').statistics[0].limit
    2.0
    """
    whole = _loaded(text)
    return ReleasePlan.of(whole["plan"] if isinstance(whole, dict) and "plan" in whole else whole)


def _loaded(text: str) -> Any:
    if not isinstance(text, str) or len(text) > PLAN_CHARACTERS:
        size = f"{len(text):,} characters" if isinstance(text, str) else describe_value(text)
        raise ValueError(f"The file of a plan must be a text of at most {PLAN_CHARACTERS:,} characters; got {size}.")
    try:
        return json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"The file of a plan must be JSON or TOML; got {describe_value(text)}.") from None


def plan_differences(text: str, answer: PlanAnswer | None = None) -> list[Difference]:
    """Return every number that a file has otherwise than its plan comes to today: its name, the file's value and ours.

    The plan of the file is solved again unless its `answer` is given. A file without numbers differs in nothing.
    """
    whole = _loaded(text)
    rows = whole.get("numbers") if isinstance(whole, dict) else None
    if not isinstance(rows, list):
        return []
    theirs: dict[str, object] = {
        str(one.get("name", ""))[:LONGEST_PLAN_NUMBER]: one.get("value")
        for one in rows[:MOST_NUMBERS]
        if isinstance(one, dict)
    }
    ours: dict[str, object] = {
        one.name[:LONGEST_PLAN_NUMBER]: _written(one.value)
        for one in plan_numbers(answer if answer is not None else solve_plan(read_plan(text)))
    }
    pairs = {name: (theirs.get(name, "not there"), ours.get(name, "not there")) for name in [*ours, *theirs]}
    return [(name, _shown(there), _shown(here)) for name, (there, here) in pairs.items() if not _agree(there, here)]


def _agree(one: object, other: object) -> bool:
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in (one, other)):
        return type(one) is type(other) and one == other
    if any(abs(value) > 1e308 for value in (one, other)):  # type: ignore[arg-type]
        return False
    return math.isclose(one, other, rel_tol=AGREES, abs_tol=1e-12)  # type: ignore[arg-type]


def _shown(value: object) -> str:
    if isinstance(value, float):
        return format_number(value, 12) if math.isfinite(value) else describe_value(value)
    return value if isinstance(value, str) and value in ("infinite", "not there") else describe_value(value)


def plan_notebook(answer: PlanAnswer) -> str:
    """Return a Jupyter notebook that solves the plan again and compares every number with those of this answer."""
    cells = [_markdown(sentences("report/plan_notebook.txt", version=dpviz.__version__, plan=answer.plan))]
    cells += [
        _code(one) for one in filled("report/plan_cells.txt", held=answer_json(answer)).split("\n# %%\n") if one.strip()
    ]
    book = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    for place, one in enumerate(cells):
        one["id"] = f"cell-{place}"
    return json.dumps(book, ensure_ascii=False, indent=1) + "\n"


def _markdown(told: Sequence[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(told)}


def _code(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text.strip("\n")}


def plan_script(plan: ReleasePlan) -> str:
    """Script that solves a plan and prints its shares and errors."""
    lines = "\n".join(f"    {line + chr(10)!r}" for line in plan.to_json().splitlines())
    return f"""from dpviz.plans import ReleasePlan, solve_plan

plan = ReleasePlan.from_json(
{lines}
)
answer = solve_plan(plan)
print("all limits hold" if answer.feasible else "not all limits hold", answer.factor)
for statistic, release, error in zip(plan.statistics, answer.design.releases, answer.design.errors()):
    print(statistic.name, release.label, release.rate, error, statistic.limit, sep="; ")
"""
