"""What a paper prints in its own layout: tables with rows and columns, and lists of what stands in sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpviz.core.data_files import read_table
from dpviz.published.records import Record, load_records

TITLES = {row["name"]: row["title"] for row in read_table("published/titles")}


@dataclass(frozen=True)
class PrintedTable:
    """A printed table: a row for each design and a column for each printed one; None where nothing is printed."""

    place: str
    caption: str  # the parameters that all of it has in common
    cells: pd.DataFrame  # of records

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


def lay_out(records: Iterable[Record], *, only_mismatches: bool = False) -> list[Layout]:
    """Tables and lists of a paper, place by place; what a sentence says of a figure stands with the figure.

    Parameters
    ----------
    records : iterable of Record
        Alternative readings are left out.
    only_mismatches : bool, optional
        Whether rows and sentences without a mismatch are left out.

    Returns
    -------
    list of PrintedTable or PrintedList
    """
    places: dict[str, list[Record]] = {}
    for record in records:
        if not record.is_alternative:
            places.setdefault(record.figure or record.place, []).append(record)
    layouts: list[Layout] = []
    for place, printed in places.items():
        if rows := [record for record in printed if record.design]:
            caption, cells = _tabulate(rows, TITLES)
            has_mismatch = cells.map(lambda record: record is not None and record.verdict.needs_explanation).any(axis=1)
            layouts.append(PrintedTable(place, caption, cells[has_mismatch] if only_mismatches else cells))
        sentences = [record for record in printed if not record.design]
        if only_mismatches:
            sentences = [record for record in sentences if record.verdict.needs_explanation]
        layouts.append(PrintedList(place, sentences))
    return [layout for layout in layouts if layout.records]


def printed_csv(paper: str, place: str) -> str:
    """A printed table as CSV, every cell as it is printed.

    Parameters
    ----------
    paper, place : str
        Authors and year, and where the table stands.

    Returns
    -------
    str

    Examples
    --------
    >>> printed_csv("Abowd & Vilhuber (2008)", "Fig. 1").splitlines()[1]
    '0,5,0.647228,0.294194,0.053490,0.004863,0.000221,0.000004'
    """
    records = [record for record in load_records(paper) if record.place == place]
    _, cells = _tabulate([record for record in records if record.design and not record.is_alternative], {})
    return cells.map(lambda record: record.printed).to_csv(lineterminator="\n")


def _tabulate(records: Sequence[Record], titles: Mapping[str, str]) -> tuple[str, pd.DataFrame]:
    """Caption and cells of a printed table; names without a title stay as the file has them.

    What is the same in all of a design is the caption; what differs between columns alone, such as M in the columns
    M = 1, M = 2, is told by the column.
    """
    parts = [record.what.rpartition(", ") for record in records]
    columns = pd.Series([_column_title(column) if titles else column for _, _, column in parts])
    design = pd.DataFrame([dict(part.split(" = ", 1) for part in record.design.split("; ")) for record in records])
    if any(method for method, _, _ in parts):
        design.insert(0, "method", [TITLES[f"method {method or 'laplace'}"] for method, _, _ in parts])
    if titles and "n_as_printed" in design:
        titles = {**titles, "n": "n as read"}

    is_constant = design.nunique() == 1
    is_of_row = design.apply(lambda values: values.groupby(columns).nunique().max() > 1)
    caption = ", ".join(f"{titles.get(name, name)} = {design[name].iloc[0]}" for name in design.columns[is_constant])
    names = design.columns[is_of_row]
    keys = [design[name].rename(titles.get(name, name)) for name in names] or [pd.Series("", index=design.index)]
    cells = pd.Series(list(records), index=pd.MultiIndex.from_arrays([*keys, columns])).unstack(sort=False)
    return caption, cells.astype(object).where(cells.notna(), None)


def _column_title(column: str) -> str:
    """What stands above a printed column, such as "ln ε = −10" for ln_epsilon=-10."""
    name, equals, value = column.partition("=")
    title = TITLES.get(name, name)
    return f"{title} = {value.replace('-', '−')}" if equals else title
