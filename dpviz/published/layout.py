"""What a paper prints in its own layout: tables with rows and columns, and lists of what stands in sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dpviz.published.records import Record, load_records, read_data

TITLES = {row["name"]: row["title"] for row in read_data("titles")}


@dataclass(frozen=True)
class PrintedTable:
    """A printed table.

    Parameters
    ----------
    place, caption : str
        Where it stands, and the parameters that all of it has in common.
    cells : DataFrame of Record
        A row for each design and a column for each printed one; None where nothing is printed.
    """

    place: str
    caption: str
    cells: pd.DataFrame

    @property
    def records(self) -> list[Record]:
        """All that is printed in it, row by row."""
        return [record for record in self.cells.to_numpy().ravel() if record]


@dataclass(frozen=True)
class PrintedList:
    """Numbers and statements of a place that has no columns."""

    place: str
    records: list[Record]


Layout = PrintedTable | PrintedList


def lay_out(records: Sequence[Record], *, only_mismatches: bool = False) -> list[Layout]:
    """Return the tables and lists of a paper, place by place.

    What a sentence says of a figure stands with the figure. Alternative readings are left out, and so are rows without
    a mismatch where only mismatches are asked for.
    """
    places: dict[str, list[Record]] = {}
    for record in records:
        if not record.is_alternative:
            places.setdefault(record.figure or record.place, []).append(record)
    layouts: list[Layout] = []
    for place, printed in places.items():
        rows = [record for record in printed if record.design]
        sentences = [record for record in printed if not record.design]
        if rows:
            caption, cells = tabulate(rows)
            if only_mismatches:
                cells = cells[cells.map(_is_mismatch).any(axis=1)]
            layouts.append(PrintedTable(place, caption, cells))
        if only_mismatches:
            sentences = [record for record in sentences if _is_mismatch(record)]
        layouts.append(PrintedList(place, sentences))
    return [layout for layout in layouts if layout.records]


def _is_mismatch(record: Record | None) -> bool:
    return record is not None and record.verdict.needs_explanation


def tabulate(records: Sequence[Record], *, titled: bool = True) -> tuple[str, pd.DataFrame]:
    """Return the caption and the cells of a printed table, under titles that are read or the names of the file.

    What is the same in all of a design is the caption; what differs between columns alone, such as M in the columns
    M = 1, M = 2, is told by the column.
    """
    parts = [record.what.rpartition(", ") for record in records]
    columns = pd.Series([column for _, _, column in parts])
    design = pd.DataFrame([dict(part.split(" = ", 1) for part in record.design.split("; ")) for record in records])
    if any(method for method, _, _ in parts):
        design.insert(0, "method", [TITLES[f"method {method or 'laplace'}"] for method, _, _ in parts])
    titles = TITLES | ({"n": "n as read"} if "n_as_printed" in design else {})
    constant = [name for name in design if design[name].nunique() == 1]
    by_row = [name for name in design if design[name].groupby(columns).nunique().max() > 1]
    caption = ", ".join(f"{titles.get(name, name)} = {design[name].iloc[0]}" for name in constant)
    keys = [design[name] for name in by_row] or [pd.Series("", index=design.index)]
    cells = pd.Series(list(records), index=pd.MultiIndex.from_arrays([*keys, columns])).unstack(sort=False)
    cells = cells.astype(object).where(cells.notna(), None)
    cells.index.names = [titles.get(name, name) if titled else name for name in by_row] or [None]
    return caption, cells.rename(columns=column_title) if titled else cells


def column_title(column: str) -> str:
    """Return what stands above a printed column.

    >>> column_title("raab"), column_title("ln_epsilon=-10")
    ('Raab et al.', 'ln ε = −10')
    """
    name, equals, value = column.partition("=")
    title = TITLES.get(name, name)
    return f"{title} = {value.replace('-', '−')}" if equals else title


def printed_csv(paper: str, place: str) -> str:
    """Return a printed table as CSV, every cell as it is printed.

    >>> printed_csv("Abowd & Vilhuber (2008)", "Fig. 1").splitlines()[1]
    '0,5,0.647228,0.294194,0.053490,0.004863,0.000221,0.000004'
    """
    records = [record for record in load_records() if (record.paper, record.place) == (paper, place)]
    printed = [record for record in records if record.design and not record.is_alternative]
    return tabulate(printed, titled=False)[1].map(lambda record: record.printed).to_csv(lineterminator="\n")
