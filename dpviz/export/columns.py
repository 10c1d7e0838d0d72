"""CSV files of pages: the names of their columns, and where a record has their values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.comparisons import Compared
from dpviz.comparisons.analysis import OUTCOME_MEASURES
from dpviz.comparisons.budget import SplitResults
from dpviz.comparisons.comparison import LIMITED_MEASURES
from dpviz.coverage import CoverageTally, ExactCoverage, Performance
from dpviz.export.tables import to_csv

if TYPE_CHECKING:
    from dpviz.audit.curves import Curves

COLUMNS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Columns of a kind of record: the attribute that holds the values, by name."""

for measure in (*OUTCOME_MEASURES, "release_error"):
    COLUMNS["outcome"] |= {measure: f"{measure}.value", f"{measure}_error": f"{measure}.error"}


def columns_of(kind: str, records: Iterable[object]) -> dict[str, list[object]]:
    """Columns with the values of records, by name; None where there is no record.

    Parameters
    ----------
    kind : str
        Key of `COLUMNS`.
    records : iterable of object

    Examples
    --------
    >>> columns_of("exact", [None])["error_bound"]
    [None]
    """
    rows = list(records)
    columns = {name: attrgetter(attribute) for name, attribute in COLUMNS[kind].items()}
    return {name: [None if row is None else value(row) for row in rows] for name, value in columns.items()}


def comparison_csv(compared: Compared) -> str:
    """CSV of every outcome of a comparison, with the smallest possible value of each limited measure at its ε."""
    outcomes = [compared.outcomes[key] for key in sorted(compared.outcomes)]
    columns = columns_of("outcome", outcomes)
    for measure in LIMITED_MEASURES:
        smallest = compared.limits(measure)
        columns[f"smallest_{measure}"] = [smallest.get(outcome.epsilon) for outcome in outcomes]
    return to_csv(columns)


def budget_csv(results: SplitResults) -> str:
    """CSV of the outcome at every division of ε; `place` is the number of sets, or the share."""
    places = sorted(results.outcomes)
    return to_csv({"place": list(map(float, places)), **columns_of("outcome", map(results.outcomes.get, places))})


def coverage_csv(rules: Sequence[str], exact: Mapping[str, ExactCoverage], simulated: Performance | None) -> str:
    """CSV of the coverage of each rule, exact and simulated; empty where there is no number.

    Parameters
    ----------
    rules : sequence of str
    exact : mapping of str to ExactCoverage
        By rule.
    simulated : Performance or None
    """
    results = {} if simulated is None else simulated.rules
    columns = columns_of("exact", map(exact.get, rules)) | columns_of("simulated", map(results.get, rules))
    return to_csv({"rule": rules, **columns, "repetitions": [simulated and simulated.repetitions] * len(rules)})


def intervals_csv(tally: CoverageTally) -> str:
    """CSV of the first repetitions of a simulation: confidential count, released counts, estimate, intervals."""
    shown = tally.shown
    columns: dict[str, Any] = {"repetition": range(1, len(shown) + 1), "x": shown.confidential}
    columns |= {f"count_{place}": counts for place, counts in enumerate(shown.counts.T, 1)}
    columns["estimate"] = shown.estimates
    for rule, low, high in zip(tally.plan.rules, shown.low, shown.high, strict=True):
        columns |= {f"low_{rule}": low, f"high_{rule}": high}
    return to_csv(columns)


def curves_csv(curves: Curves) -> str:
    """CSV of needed priors or ranges along an axis; priors stand twice, as α and as invented rows per real row."""
    columns = {str(curves.axis): curves.points}
    for line in curves.lines:
        name = " ".join(filter(None, (line.method, line.kind, line.theorem)))
        columns[f"{name} | {curves.kind.axis}"] = curves.counted(line)
        if curves.kind.cells(curves.setting):
            columns[f"{name} | {curves.kind.level}"] = line.values
    return to_csv(columns)
