"""A comparison of methods as a file and as a script."""

import dataclasses
from collections.abc import Sequence

from dpviz.comparisons import Analysis, Compared, DataKind, Method, Terms
from dpviz.comparisons.base import MEASURES
from dpviz.exports.script import script_of
from dpviz.exports.tables import cell, csv_text


def comparison_csv(compared: Compared) -> str:
    """Return every outcome with all measures and their Monte Carlo errors, every digit; empty where there is none."""
    names = (*MEASURES, "release_error")
    head = ["method", "epsilon", "setting", "sets", "real_epsilon", *(f"{one}{end}" for one in names for end in ENDS)]
    rows = []
    for (key, epsilon), one in sorted(compared.outcomes.items()):
        numbers = [part for name in names for part in dataclasses.astuple(getattr(one, name))]
        rows.append([key, cell(epsilon), cell(one.setting), one.sets, cell(one.real_epsilon), *map(cell, numbers)])
    return csv_text(head, rows)


ENDS = ("", "_error")  # A measure, and its Monte Carlo error


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
