"""The Parquet file of a study: its columns, how rows are written, and how they are read whoever has made the file.

Run as a program it unpacks one file from its input: what a hostile file does to the library that reads it, which ends
the process at some of them, stays there.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpviz.core import limits
from dpviz.core.formatting import describe_value

STUDY_VERSION = 1  # Raised when what a file says changes its meaning
NO_PARQUET = "Parquet files need pyarrow: pip install pyarrow."
UNREADABLE = "The file must be a Parquet file of a study, complete and unchanged; it cannot be read"

CELL_NUMBERS = "n", "m", "sets", "epsilon", "p", "level", "repetitions", "seed"
WHOLE_NUMBERS = "n", "m", "sets", "repetitions", "seed"
RULE_MEASURES = "coverage", "mean_width", "mean_width_inside", "negative_variance_share", "vacuous_share"
CELL_MEASURES = "bias", "root_mean_squared_error"
STUDY_COLUMNS: dict[str, str] = {
    "mechanism": "string",
    "rule": "string",
    **{name: "int64" if name in WHOLE_NUMBERS else "double" for name in CELL_NUMBERS},
    **dict.fromkeys(("exact", "estimate_exact"), "bool"),
    "error_bound": "double",
    **{f"{name}{end}": "double" for name in (*RULE_MEASURES, *CELL_MEASURES) for end in ("", "_error")},
    "run": "string",
}
"""The columns in their order, with the names of their types. A row is one rule in one cell."""

ROWS_UNPACKED = 8  # Rows that are unpacked together: a hostile file can make of a short text as many long ones
LARGEST_ROWS_OF_CELL = 100  # No study has as many rules
MEMORY_APART, SECONDS_APART = 3 << 30, 20  # Bytes and seconds within which a file is unpacked: 20 MB take 2 seconds


def _arrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet, which are loaded where a file is written or read alone."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(NO_PARQUET) from None
    return pyarrow, parquet


def _schema(pyarrow: Any) -> Any:
    return pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in STUDY_COLUMNS.items()])


def parquet_of(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return rows as a Parquet file.

    Nothing in it is compressed, so that whoever opens it knows from its size how much there can be.
    """
    pyarrow, parquet = _arrow()
    schema = _schema(pyarrow).with_metadata({"dpviz_study": str(STUDY_VERSION)})
    table, sink = pyarrow.Table.from_pylist(list(rows), schema=schema), pyarrow.BufferOutputStream()
    parquet.write_table(table, sink, compression="none", use_dictionary=["mechanism", "rule"], store_schema=False)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a file that this machine has written; a ValueError says what is wrong with them."""
    pyarrow, parquet = _arrow()
    most = {"thrift_string_size_limit": limits.MAX_STUDY_BYTES, "thrift_container_size_limit": limits.MAX_STUDY_BYTES}
    rows, size = [], 0
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content), **most)
        _check_columns([(one.name, str(one.type)) for one in file.schema_arrow])
        for group in range(file.metadata.num_row_groups):
            for column in range(len(STUDY_COLUMNS)):
                if file.metadata.row_group(group).column(column).compression != "UNCOMPRESSED":
                    raise ValueError("The file must not be compressed; a study writes it so.")
        for batch in file.iter_batches(batch_size=ROWS_UNPACKED, use_threads=False):
            rows += batch.to_pylist()
            size += batch.nbytes
            if len(rows) > limits.MAX_STUDY_CELLS * LARGEST_ROWS_OF_CELL or size > 2 * limits.MAX_STUDY_BYTES:
                raise ValueError("The file holds more than a study writes into so many bytes.")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as broken:
        raise ValueError(f"{UNREADABLE}: {describe_value(str(broken))}.") from None
    return rows


def _check_columns(columns: list[tuple[str, str]]) -> None:
    wanted = list(STUDY_COLUMNS.items())
    if columns != wanted:
        missing, further = set(wanted) - set(columns), set(columns) - set(wanted)
        said = f"no {' '.join(min(missing))}" if missing else describe_value(min(further, default="one of them twice"))
        raise ValueError(f"The columns must be those that a study writes, from mechanism to run; got {said}.")


def unpacked_apart(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of a file, whoever has made it, which a process with little memory and time unpacks.

    It takes half a second or more. A ValueError says what is wrong with the file.
    """
    if len(content) > limits.MAX_STUDY_BYTES:
        most = f"{limits.MAX_STUDY_BYTES / 1e6:g} MB"
        raise ValueError(f"The file of a study must have at most {most}; got {len(content) / 1e6:.1f} MB.")
    path = str(Path(__file__).parents[2])
    try:
        run = subprocess.run(
            [sys.executable, "-m", __name__],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS_APART,
            env={**os.environ, "PYTHONPATH": path, "ARROW_DEFAULT_MEMORY_POOL": "system"},
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        raise ValueError(f"{UNREADABLE}.") from None
    except OSError:
        raise ValueError("A study is read in a process of its own, and none can be started here.") from None
    found = json.loads(run.stdout)
    if isinstance(found, str):
        raise ValueError(found)
    rows: list[dict[str, Any]] = found
    return rows


def _answer() -> None:
    """Write the rows of the file at the input as JSON, or what is wrong with it as a text."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_APART, MEMORY_APART))
    try:
        found: object = unpacked(sys.stdin.buffer.read())
    except ValueError as wrong:
        found = str(wrong)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    _answer()
