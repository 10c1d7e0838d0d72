"""Results of a study: one record a cell, one row of a table for each of its rules, and the CSV file of all rows."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from dpviz.core import limits
from dpviz.core.escape import decode_utf8
from dpviz.core.formatting import describe_value, format_count, format_number
from dpviz.core.monte_carlo import Measure
from dpviz.designs import Design

SHARES = "coverage", "negative_variance_share", "vacuous_share"
RULE_MEASURES = *SHARES, "mean_width", "mean_width_inside"
CELL_MEASURES = "bias", "root_mean_squared_error"
MEASURES = *CELL_MEASURES, *RULE_MEASURES
CELL_SETTINGS: dict[str, type] = {
    "mechanism": str, "n": int, "m": int, "sets": int, "epsilon": float, "p": float, "level": float,
    "repetitions": int, "seed": int,
}  # fmt: skip
COLUMNS: dict[str, type] = {
    **CELL_SETTINGS, "estimate_exact": bool, "rule": str, "exact": bool, "error_bound": float,
    **{name + end: float for name in MEASURES for end in ("", "_error")},
}  # fmt: skip
ALLOWED = {str: "a text", bool: "True or False", int: "a whole number", float: "a number"}


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """How a rule did in a cell, as `ExactCoverage` (then errors are 0) or `RulePerformance` have it."""

    exact: bool
    error_bound: float  # of an exact coverage and of exact shares
    coverage: Measure
    negative_variance_share: Measure
    vacuous_share: Measure
    mean_width: Measure
    mean_width_inside: Measure


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What is known of one cell: of its rules by key, and of the mean of the sets as an estimate of p."""

    design: Design
    rules: Mapping[str, RuleResult]
    estimate_exact: bool
    bias: Measure
    root_mean_squared_error: Measure

    @property
    def is_exact(self) -> bool:
        """Whether nothing is simulated."""
        return self.estimate_exact and all(rule.exact for rule in self.rules.values())

    @property
    def label(self) -> str:
        """Settings in words, and whether all of it is exact."""
        design = self.design
        sizes = f"n = {design.n:,}" if design.m == design.n else f"n = {design.n:,}, m = {design.m:,}"
        numbers = f"ε = {format_number(design.epsilon, 4)}, M = {design.sets}, p = {format_number(design.p, 4)}"
        source = "exact" if self.is_exact else format_count(design.repetitions, "repetition")
        return f"{design.synthesizer_type.info.label}, {sizes}, {numbers}: {source}"


def summarize_cells(cells: Sequence[CellResult]) -> str:
    """Sentence with the number of cells, and of those that are exact."""
    return f"The study has {format_count(len(cells), 'cell')}, {sum(cell.is_exact for cell in cells):,} exact."


def results_to_frame(results: Iterable[CellResult]) -> pd.DataFrame:
    """Table with a row for each rule of each cell; each measure has its standard error, 0 where it is exact."""
    rows = []
    for cell in results:
        for key, rule in cell.rules.items():
            row = vars(cell.design) | vars(cell) | vars(rule) | {"rule": key}
            errors = {f"{name}_error": row[name].error for name in MEASURES}
            rows.append(row | errors | {name: row[name].value for name in MEASURES})
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def results_to_csv(results: Iterable[CellResult]) -> bytes:
    """CSV file with every digit, which `read_results` reads."""
    return results_to_frame(results).to_csv(index=False, na_rep="nan", lineterminator="\n").encode()


def read_results(content: bytes) -> tuple[CellResult, ...]:
    """Cells of a CSV file of results, whoever made it; a ValueError says what is wrong with it."""
    if len(content) > limits.MAX_STUDY_BYTES:
        max_size = f"{limits.MAX_STUDY_BYTES / 1e6:g} MB"
        raise ValueError(f"The file of a study must have at most {max_size}; got {len(content) / 1e6:.1f} MB.")
    lines = decode_utf8(content, limits.MAX_STUDY_BYTES).splitlines()
    try:
        header, *table = csv.reader(lines, strict=True)
    except (ValueError, csv.Error):
        header = []
    if header != list(COLUMNS) or any(len(line) != len(COLUMNS) for line in table):
        raise ValueError("The file must be the CSV file of a study, complete and unchanged.")
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for line in table:
        row = {name: _parse(name, text) for name, text in zip(COLUMNS, line, strict=True)}
        row |= {name: Measure(row[name], row[f"{name}_error"]) for name in MEASURES}
        cells.setdefault(tuple(row[name] for name in CELL_SETTINGS), []).append(row)
    if not 1 <= len(cells) <= limits.MAX_STUDY_CELLS:
        raise ValueError(f"The file must have from 1 to {limits.MAX_STUDY_CELLS:,} cells; got {len(cells):,}.")
    return tuple(map(_read_cell, cells.values()))


def _parse(name: str, text: str) -> Any:
    """Value of a cell of the file; a ValueError says what its column has."""
    kind = COLUMNS[name]
    try:
        value = {"True": True, "False": False}[text] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise ValueError(f"{name} must be {ALLOWED[kind]}; got {describe_value(text)}.") from None
    if name in SHARES and not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1; got {describe_value(value)}.")
    if name.endswith("_error") and value < 0:
        raise ValueError(f"{name} must be at least 0; got {describe_value(value)}.")
    return value


def _read_cell(rows: list[dict[str, Any]]) -> CellResult:
    """Cell of the rows of its rules."""
    first = rows[0]
    design = Design.of({name: first[name] for name in CELL_SETTINGS} | {"rules": tuple(row["rule"] for row in rows)})
    _ = design.release  # a ValueError where it does not release two counts
    rules = {row["rule"]: RuleResult(**{item.name: row[item.name] for item in fields(RuleResult)}) for row in rows}
    estimate = {name: first[name] for name in ("estimate_exact", *CELL_MEASURES)}
    return CellResult(design=design, rules=rules, **estimate)
