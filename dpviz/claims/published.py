"""What papers print, digit for digit, from the files of the folder `tables`, and beside it what is true."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Generic, TypeVar

import numpy as np

from dpviz.core.types import FloatArray

FAR = 3  # Standard errors from which a number does not agree
PrintedValue = TypeVar("PrintedValue", float, str)


@dataclass(frozen=True)
class PrintedTable:
    """A table or figure as printed: its caption, its rows by column name, and all of it as CSV."""

    caption: str
    rows: tuple[dict[str, float], ...]
    text: str

    @property
    def values(self) -> FloatArray:
        """The cells of a matrix: the columns whose names give a released count."""
        return np.array([[cell for name, cell in row.items() if name.startswith("m1=")] for row in self.rows])


def read_tables(name: str, captions: dict[int, str]) -> dict[int, PrintedTable]:
    """Return the tables in the files of this name, by number."""
    tables = {}
    for number, caption in captions.items():
        rows = printed_rows(file := f"{name}{number}")
        cells = tuple({column: float(cell) for column, cell in row.items()} for row in rows)
        tables[number] = PrintedTable(caption, cells, _printed_text(file))
    return tables


def printed_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of one of the files of `tables`, their cells by column as they are printed."""
    return list(csv.DictReader(_printed_text(name).splitlines()))


def _printed_text(name: str) -> str:
    return files("dpviz.claims").joinpath("tables", f"{name}.csv").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Record(Generic[PrintedValue]):
    """Something printed, and ours.

    `what` is a column, a figure, a way of counting, or what a sentence is about; `printed` and `ours` are two numbers
    or two sentences. `error` is the standard error of their difference, `our_error` the part of it that is ours, and
    `design` the parameters behind a number. The verdict says what the printed is to be taken for.

    >>> Record(source="Table 1", what="bias", printed=0.12, ours=0.0, error=0.04, verdict="as the column says").z
    3.0
    """

    source: str
    what: str
    printed: PrintedValue
    ours: PrintedValue
    error: float = 0.0
    our_error: float = 0.0
    verdict: str
    design: Mapping[str, float] = field(default_factory=dict, hash=False)

    @classmethod
    def of_share(
        cls, *, printed: float, ours: float, of: int, runs: int, places: int = 3, **said: Any
    ) -> "Record[float]":
        """Return a share of `of` repetitions, printed with so many decimals, beside ours, of `runs` or exact for 0."""
        # One share for both, as where they agree: at 0 or 1 a share of its own would have no error.
        both = (printed * of + ours * runs) / (of + runs) if runs else ours
        spread = math.sqrt(both * (1 - both))
        our_error = spread / math.sqrt(runs) if runs else 0.0
        error = math.hypot(spread / math.sqrt(of), our_error, 10.0**-places / math.sqrt(12))
        return Record(printed=printed, ours=ours, error=error, our_error=our_error, **said)

    @property
    def z(self: "Record[float]") -> float:
        """(printed − ours) in standard errors."""
        return (self.printed - self.ours) / self.error

    @property
    def far(self: "Record[float]") -> bool:
        """Whether the two do not agree: by more than chance and rounding explain."""
        return abs(self.z) > FAR

    @property
    def told(self) -> str:
        """A slip of a paper in Markdown: where it is, of which kind, what is printed, and what is true."""
        return f"**{self.source.partition(', ')[2]}, {self.verdict}.** {self.printed} {self.ours}"


def read_errata(paper: str) -> tuple[Record[str], ...]:
    """Return what a paper prints and its own definitions contradict, in our words."""
    return tuple(Record(**row) for row in printed_rows(f"{paper}_errata"))  # type: ignore[arg-type]
