"""What a study finds in each of its cells, exact or simulated, and the Parquet file in which all of it stands."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.measures import Measure
from dpviz.core.parameters import shown
from dpviz.coverage import Performance, Tally, coverages_in_reach, performance_of
from dpviz.coverage.studies import save_run
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.designs import Design
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import RULES
from dpviz.study.plan import StudyCell

STUDY_VERSION = 1  # Raised when what a file says changes its meaning
NO_PARQUET = "Parquet files need pyarrow: pip install pyarrow."
ROWS_UNPACKED = 8  # Rows that are unpacked together: a hostile file can make of a short text as many long ones


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """How one rule did in a cell: the measures that `ExactCoverage` and `RulePerformance` share, by the same names.

    Each has its Monte Carlo standard error, which is 0 where it is `exact`; then `error_bound` bounds what its sums
    left out of the coverage and of every share.
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

    `run` is the simulation as a text that `dpviz.coverage.studies.read_run` reads; empty where all rules are exact.
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


RULE_MEASURES = tuple(one.name for one in dataclasses.fields(RuleResult) if one.type is Measure)
CELL_MEASURES = tuple(one.name for one in dataclasses.fields(CellResult) if one.type is Measure)
RULE_SHARES = "coverage", "negative_variance_share", "vacuous_share"
CELL_NUMBERS = "n", "m", "sets", "epsilon", "p", "level", "repetitions", "seed"
WHOLE = "n", "m", "sets", "repetitions", "seed"


def exact_part(design: Design) -> ExactPart:
    """Return what can be summed in some seconds, of all rules or of those that read the sum of the counts alone."""
    found = coverages_in_reach(design.release, p=design.p, sets=design.sets, rules=design.rules, level=design.level)
    moments = set_moments(design.release, p=design.p, sets=design.sets)
    bias = moments.mean_estimate - design.p
    return ExactPart(
        rules={
            key: RuleResult(
                exact=True,
                error_bound=one.error_bound,
                **{name: Measure(float(getattr(one, name)), 0.0) for name in RULE_MEASURES if name != "mean_width"},
                # where no bound is known, releases too rare to be summed decide it
                mean_width=Measure(one.mean_width if one.mean_width_error_bound < math.inf else math.nan, 0.0),
            )
            for key, one in found.items()
        },
        bias=bias,
        root_mean_squared_error=math.sqrt(bias**2 + moments.variance_estimate),
    )


def cell_result(cell: StudyCell, exact: ExactPart | None, tally: Tally | None) -> CellResult:
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


def _columns() -> dict[str, str]:
    """Return the columns of a file with their types: a row is one rule in one cell."""
    numbers = {name: "int64" if name in WHOLE else "float64" for name in CELL_NUMBERS}
    measured = (f"{name}{end}" for name in (*RULE_MEASURES, *CELL_MEASURES) for end in ("", "_error"))
    flags = {"exact": "bool_", "estimate_exact": "bool_"}
    measures = dict.fromkeys(("error_bound", *measured), "float64")
    return {"mechanism": "string", "rule": "string", **numbers, **flags, **measures, "run": "string"}


STUDY_COLUMNS = _columns()


def _arrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet, which are loaded where a file is written or read alone."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(NO_PARQUET) from None
    return pyarrow, parquet


def _schema(pyarrow: Any) -> Any:
    return pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in STUDY_COLUMNS.items()])


def study_parquet(results: Iterable[CellResult]) -> bytes:
    """Return the results of cells as a Parquet file, one row for each rule of each; `run` stands in the first row.

    Nothing in it is compressed, so that whoever opens it knows from its size how much there can be.
    """
    pyarrow, parquet = _arrow()
    rows = [row for one in results for row in _rows(one)]
    schema = _schema(pyarrow).with_metadata({"dpviz_study": str(STUDY_VERSION)})
    table = pyarrow.Table.from_pylist(rows, schema=schema)
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, compression="none", use_dictionary=["mechanism", "rule"], store_schema=False)
    return bytes(sink.getvalue())


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


@checked()
def read_study(content: bytes) -> tuple[CellResult, ...]:
    """Return the cells of a Parquet file that a study wrote; a ValueError says what is wrong with it, whatever it is.

    Only what is uncompressed and has the columns of such a file is unpacked, a few rows at a time.
    """
    if len(content) > limits.STUDY_BYTES:
        most = f"{limits.STUDY_BYTES / 1e6:g} MB"
        raise ValueError(f"The file of a study must have at most {most}; got {len(content) / 1e6:.1f} MB.")
    pyarrow, parquet = _arrow()
    try:
        rows = list(_unpacked(pyarrow, parquet, content))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as broken:
        raise ValueError(
            f"The file must be a Parquet file of a study, complete and unchanged; {_said(broken)}."
        ) from None
    cells = tuple(_read_cell(list(some)) for _, some in groupby(rows, key=_settings))
    if len({one.design for one in cells}) < len(cells):
        raise ValueError("Every cell must stand in the file once; one of them comes twice.")
    return cells


def _said(broken: Exception) -> str:
    return f"it cannot be read: {shown(str(broken))}"


def _unpacked(pyarrow: Any, parquet: Any, content: bytes) -> Iterator[dict[str, Any]]:
    most = {"thrift_string_size_limit": limits.STUDY_BYTES, "thrift_container_size_limit": limits.STUDY_BYTES}
    file = parquet.ParquetFile(pyarrow.BufferReader(content), **most)
    columns = [(one.name, str(one.type)) for one in file.schema_arrow]
    wanted = [(one.name, str(one.type)) for one in _schema(pyarrow)]
    if columns != wanted:
        missing, further = (set(wanted) - set(columns), set(columns) - set(wanted))
        said = f"no {' '.join(min(missing))}" if missing else shown(min(further, default="one of them twice"))
        raise ValueError(
            f"The columns must be those of a study, {', '.join(STUDY_COLUMNS)}, in this order; got {said}."
        )
    for group in range(file.metadata.num_row_groups):
        for column in range(len(wanted)):
            if file.metadata.row_group(group).column(column).compression != "UNCOMPRESSED":
                raise ValueError("The file must not be compressed; a study writes it so.")
    rows = size = 0
    for batch in file.iter_batches(batch_size=ROWS_UNPACKED, use_threads=False):
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > limits.STUDY_CELLS * len(RULES) or size > 2 * limits.STUDY_BYTES:
            raise ValueError("The file holds more than a study can write into so many bytes.")
        yield from batch.to_pylist()


def _settings(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["mechanism"], *(row[name] for name in CELL_NUMBERS)


def _read_cell(rows: list[dict[str, Any]]) -> CellResult:
    first, rules = rows[0], tuple(row["rule"] for row in rows)
    design = Design.of(
        {"mechanism": first["mechanism"], "rules": rules, **{name: first[name] for name in CELL_NUMBERS}}
    )
    run = first["run"] or ""
    if len(run) > LONGEST_RUN:
        raise ValueError(f"run must have at most {LONGEST_RUN:,} characters; got {len(run):,}.")
    for row in rows:
        if any(row[name] is None for name in STUDY_COLUMNS if name != "run"):
            missing = next(name for name in STUDY_COLUMNS if name != "run" and row[name] is None)
            raise ValueError(f"{missing} must be given in every row; it is missing in one.")
        for name in (*RULE_MEASURES, *CELL_MEASURES):
            if row[f"{name}_error"] < 0:
                raise ValueError(f"{name}_error must be at least 0; got {shown(row[f'{name}_error'])}.")
        for name in RULE_SHARES:
            if not 0 <= row[name] <= 1:
                raise ValueError(f"{name} must be a number from 0 to 1; got {shown(row[name])}.")
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


def _measures(row: dict[str, Any], names: Iterable[str]) -> dict[str, Measure]:
    return {name: Measure(row[name], row[f"{name}_error"]) for name in names}
