"""A comparison of methods as a file and as a script."""

import dataclasses
from collections.abc import Sequence

from dpviz.comparisons import Analysis, Compared, DataKind, Method, Outcome, Terms
from dpviz.comparisons.base import MEASURES
from dpviz.comparisons.budget import Spending, Spent
from dpviz.exports.script import script_of
from dpviz.exports.tables import cell, csv_text


def comparison_csv(compared: Compared) -> str:
    """Return every outcome with all measures and their Monte Carlo errors, every digit; empty where there is none."""
    rows = [[key, cell(epsilon), *_cells(one)] for (key, epsilon), one in sorted(compared.outcomes.items())]
    return csv_text(["method", "epsilon", *HEAD], rows)


def budget_csv(spent: Spent) -> str:
    """Return the outcome at every division of ε in the same way; `place` is the number of sets, or the share."""
    rows = [[one.method.key, cell(place), *_cells(one)] for place, one in sorted(spent.outcomes.items())]
    return csv_text(["method", "place", *HEAD], rows)


def _cells(one: Outcome) -> list[object]:
    numbers = [part for name in NAMES for part in dataclasses.astuple(getattr(one, name))]
    return [cell(one.setting), one.sets, cell(one.real_epsilon), *map(cell, numbers)]


NAMES = (*MEASURES, "release_error")
ENDS = ("", "_error")  # A measure, and its Monte Carlo error
HEAD = ["setting", "sets", "real_epsilon", *(f"{one}{end}" for one in NAMES for end in ENDS)]


def comparison_script(
    data: DataKind, methods: Sequence[Method], epsilons: Sequence[float], analysis: Analysis, terms: Terms
) -> str:
    """Return the table of the page "Compare synthesizers" as a script that prints the same numbers."""
    return script_of(
        "comparison",
        kind=type(data).__name__,
        data=repr(data),
        terms_name=type(terms).__name__,
        terms=repr(terms),
        analysis=repr(analysis),
        methods=repr([one.key for one in methods]),
        epsilons=repr([float(one) for one in epsilons]),
    )


def budget_script(spending: Spending) -> str:
    """Return the pictures of the page "Budget" as a script that prints the same numbers."""
    return script_of(
        "budget",
        spending=type(spending).__name__,
        kind=type(spending.data).__name__,
        data=repr(spending.data),
        method=repr(spending.method.key),
        epsilon=repr(spending.epsilon),
        analysis=repr(spending.analysis),
    )
