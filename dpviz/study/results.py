"""What a study finds in each of its cells, exact or simulated, and the Parquet file in which all of it stands."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dpviz.core import limits
from dpviz.core.formatting import describe_value
from dpviz.core.monte_carlo import Measure
from dpviz.coverage import CoverageTally, ExactCoverage, Performance, exact_coverages, performance_of
from dpviz.designs import Design
from dpviz.inference.moments import set_moments
from dpviz.simulation import MAX_RUN_CHARACTERS, save_run
from dpviz.study.parquet import (
    CELL_MEASURES,
    CELL_NUMBERS,
    RULE_MEASURES,
    STUDY_COLUMNS,
    parquet_of,
    unpacked_apart,
)
from dpviz.study.plan import StudyCell


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """How one rule did in a cell: the measures that `ExactCoverage` and `RulePerformance` share, by the same names.

    Each has its Monte Carlo standard error, which is 0 where it is `exact`; then `error_bound` bounds what its sums
    left out of the coverage and of every share, and a mean width is NaN that releases too rare to be summed decide.
    """

    exact: bool
    error_bound: float
    coverage: Measure
    mean_width: Measure
    mean_width_inside: Measure
    negative_variance_share: Measure
    vacuous_share: Measure


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What is known of one cell: of its rules by key, and of the mean of the sets as an estimate of p.

    `run` is the simulation as a text that `dpviz.simulation.read_run` reads; empty where all rules are exact.
    """

    design: Design
    rules: Mapping[str, RuleResult]
    estimate_exact: bool
    bias: Measure
    root_mean_squared_error: Measure
    run: str = ""


@dataclass(frozen=True, kw_only=True)
class ExactPart:
    """What sums give of a cell: the rules that are in reach, bias and root mean squared error of the estimate."""

    rules: Mapping[str, RuleResult]
    bias: float
    root_mean_squared_error: float


RULE_SHARES = "coverage", "negative_variance_share", "vacuous_share"


def exact_part(design: Design) -> ExactPart:
    """Return what can be summed in some seconds, of all rules or of those that read the sum of the counts alone."""
    found = exact_coverages(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=design.rules, level=design.level,
        skip_unreachable=True,
    )  # fmt: skip
    moments = set_moments(design.release, p=design.p, sets=design.sets)
    bias = moments.mean_estimate - design.p
    return ExactPart(
        rules={key: _summed_rule(one) for key, one in found.items()},
        bias=bias,
        root_mean_squared_error=math.sqrt(bias**2 + moments.variance_estimate),
    )


def _summed_rule(one: ExactCoverage) -> RuleResult:
    values = {name: float(getattr(one, name)) for name in RULE_MEASURES}
    values |= {name: min(max(values[name], 0.0), 1.0) for name in RULE_SHARES}  # a sum may be beyond by its rounding
    measured = {name: Measure(value, 0.0) for name, value in values.items()}
    return RuleResult(exact=True, error_bound=one.error_bound, **measured)


def cell_result(cell: StudyCell, exact: ExactPart | None, tally: CoverageTally | None) -> CellResult:
    """Return what is known of a cell from its exact part, from a simulation of the rest, or from one of them alone."""
    rules: dict[str, RuleResult] = {} if exact is None else dict(exact.rules)
    found = None if tally is None else performance_of(tally)
    if found is not None:
        for key, one in found.rules.items():
            measured = {name: getattr(one, name) for name in RULE_MEASURES}
            rules.setdefault(key, RuleResult(exact=False, error_bound=0.0, **measured))
    return CellResult(
        design=cell.design,
        rules={key: rules[key] for key in cell.design.rules},
        estimate_exact=exact is not None,
        run="" if tally is None else save_run(tally, about=cell.design.to_address()),
        **_of_estimate(exact, found),
    )


def _of_estimate(exact: ExactPart | None, found: Performance | None) -> dict[str, Measure]:
    if exact is not None:
        return {name: Measure(getattr(exact, name), 0.0) for name in CELL_MEASURES}
    assert found is not None
    return {"bias": found.bias, "root_mean_squared_error": found.mean_square_error.root()}


def study_parquet(results: Iterable[CellResult]) -> bytes:
    """Return the results of cells as a Parquet file, a row for each rule of each; `run` stands in the first of them."""
    return parquet_of(row for one in results for row in _rows(one))


def _rows(result: CellResult) -> Iterator[dict[str, Any]]:
    one = result.design
    cell: dict[str, Any] = {"mechanism": one.mechanism, **{name: getattr(one, name) for name in CELL_NUMBERS}}
    cell |= {"estimate_exact": result.estimate_exact, **_written(result, CELL_MEASURES)}
    for place, (key, found) in enumerate(result.rules.items()):
        own = {"rule": key, "exact": found.exact, "error_bound": found.error_bound, **_written(found, RULE_MEASURES)}
        yield cell | own | {"run": result.run if place == 0 and result.run else None}


def _written(of: object, names: Iterable[str]) -> dict[str, float]:
    found = {name: getattr(of, name) for name in names}
    values = {name: one.value for name, one in found.items()}
    return values | {f"{name}_error": one.error for name, one in found.items()}


def read_study(content: bytes) -> tuple[CellResult, ...]:
    """Return the cells of a Parquet file that somebody brings; a ValueError says what is wrong, whatever it is."""
    return cells_of(unpacked_apart(content))


def cells_of(rows: Iterable[dict[str, Any]]) -> tuple[CellResult, ...]:
    """Return the cells of the rows of a file, each checked; a ValueError says what is wrong with them."""
    cells = tuple(_read_cell(list(some)) for _, some in groupby(rows, key=_settings))
    if not cells:
        raise ValueError("The file must have at least one cell; it has none.")
    if len({one.design for one in cells}) < len(cells):
        raise ValueError("Every cell must stand in the file once; one of them comes twice.")
    if len(cells) > limits.MAX_STUDY_CELLS:
        raise ValueError(f"The file must have at most {limits.MAX_STUDY_CELLS:,} cells; got {len(cells):,}.")
    return cells


def _settings(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["mechanism"], *(row[name] for name in CELL_NUMBERS)


def _read_cell(rows: list[dict[str, Any]]) -> CellResult:
    for row in rows:
        _check_row(row)
    first, rules = rows[0], tuple(row["rule"] for row in rows)
    design = Design.of(
        {"mechanism": first["mechanism"], "rules": rules, **{name: first[name] for name in CELL_NUMBERS}}
    )
    _ = design.release  # which a ValueError refuses where it is not one of two counts
    run = first["run"] or ""
    if len(run) > MAX_RUN_CHARACTERS:
        raise ValueError(f"run must have at most {MAX_RUN_CHARACTERS:,} characters; got {len(run):,}.")
    if (run == "") != all(row["exact"] for row in rows):
        raise ValueError("run must be there where a rule is simulated, and nowhere else.")
    return CellResult(
        design=design,
        rules={
            row["rule"]: RuleResult(exact=row["exact"], error_bound=row["error_bound"], **_measures(row, RULE_MEASURES))
            for row in rows
        },
        estimate_exact=first["estimate_exact"],
        run=run,
        **_measures(first, CELL_MEASURES),
    )


def _check_row(row: dict[str, Any]) -> None:
    """Refuse a row with a gap, a share that is none, or an error below 0."""
    if missing := [name for name in STUDY_COLUMNS if name != "run" and row[name] is None]:
        raise ValueError(f"{missing[0]} must be given in every row; it is missing in one.")
    for name in (*RULE_MEASURES, *CELL_MEASURES):
        if row[f"{name}_error"] < 0:
            raise ValueError(f"{name}_error must be at least 0; got {describe_value(row[f'{name}_error'])}.")
    for name in RULE_SHARES:
        if not 0 <= row[name] <= 1:
            raise ValueError(f"{name} must be a number from 0 to 1; got {describe_value(row[name])}.")


def _measures(row: dict[str, Any], names: Iterable[str]) -> dict[str, Measure]:
    return {name: Measure(row[name], row[f"{name}_error"]) for name in names}
