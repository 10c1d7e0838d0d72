"""Columns of the CSV files of pages: their names, and where a record has their values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

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


def records_csv(kind: str, records: Iterable[object]) -> str:
    """CSV with a line for each record.

    Parameters
    ----------
    kind : str
        Key of `COLUMNS`.
    records : iterable of object
    """
    return to_csv(columns_of(kind, records))


def comparison_csv(compared: Compared) -> str:
    """CSV of every outcome of a comparison, with what no mechanism with this ε can make a measure smaller than."""
    outcomes = sorted(compared.outcomes.items())
    columns: dict[str, list[object]] = {
        "method": [key for (key, _), _ in outcomes],
        "epsilon": [epsilon for (_, epsilon), _ in outcomes],
        **columns_of("outcome", [outcome for _, outcome in outcomes]),
    }
    for measure in LIMITED_MEASURES:
        smallest = compared.limits(measure)
        columns[f"smallest_{measure}"] = [smallest.get(epsilon) for (_, epsilon), _ in outcomes]
    return to_csv(columns)


def budget_csv(results: SplitResults) -> str:
    """CSV of the outcome at every division of ε; `place` is the number of sets, or the share."""
    places = sorted(results.outcomes)
    outcomes = [results.outcomes[place] for place in places]
    methods = [outcome.method.key for outcome in outcomes]
    return to_csv({"method": methods, "place": list(map(float, places)), **columns_of("outcome", outcomes)})


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
    columns: dict[str, Sequence[object]] = {
        "repetition": range(1, len(shown) + 1),
        "x": shown.confidential.tolist(),
        **{f"count_{place}": counts for place, counts in enumerate(shown.counts.T.tolist(), 1)},
        "estimate": shown.estimates.tolist(),
    }
    for rule, low, high in zip(tally.plan.rules, shown.low.tolist(), shown.high.tolist(), strict=True):
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
