"""What papers print in tables and figures, digit for digit: the files of the folder `tables`."""

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from dpviz.core.types import FloatArray


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
