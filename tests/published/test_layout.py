"""Tables in the layout of the papers, and the figures that were redrawn."""

import io

import pandas as pd
import pytest

from dpviz.core.data_files import table_text
from dpviz.published.figures import LineKind, load_figures, slugify
from dpviz.published.layout import PrintedList, PrintedTable, lay_out, printed_csv
from dpviz.published.records import load_papers, load_records

FIGURES = {(figure.paper, figure.place): figure for figure in load_figures()}


def table_of(key: str, place: str) -> PrintedTable:
    layouts = lay_out(load_records(load_papers()[key]))
    (table,) = (layout for layout in layouts if isinstance(layout, PrintedTable) and layout.place == place)
    return table


@pytest.mark.parametrize(("key", "place", "rows", "columns"), [
    ("abowd_vilhuber", "Fig. 1", 6, 6), ("abowd_vilhuber", "Fig. 2", 5, 6), ("charest", "Table 1", 3, 5),
    ("charest", "Table 2", 9, 4), ("charest", "Table 3", 4, 3), ("charest", "Table 4", 6, 4),
    ("liu", "Table 1 (a)", 16, 6), ("liu", "Table 1 (b)", 8, 6), ("bowen_liu", "supplement, Table 1", 22, 6),
])  # fmt: skip
def test_tables_have_the_layout_of_the_paper(key: str, place: str, rows: int, columns: int) -> None:
    table = table_of(key, place)
    assert table.cells.shape == (rows, columns)
    assert table.cells.index.is_unique
    printed = [r for r in load_records(load_papers()[key]) if r.place == place and r.design and not r.is_alternative]
    assert sorted(record.id for record in table.records) == sorted(record.id for record in printed)


def test_the_place_of_a_cell_is_that_of_its_number() -> None:
    table = table_of("liu", "Table 1 (a)")
    assert list(table.cells.index.names) == ["ε", "n as printed", "n as read", "p"]
    assert list(table.cells.columns) == [
        "original", "Theorem 7", "Raab et al.", "Raghunathan et al.", "Rubin", "single synthesis",
    ]  # fmt: skip
    first = [record.printed for record in table.cells.iloc[0]]
    assert first == ["0.946", "0.948", "0.948", "0.798", "0.999", "0.736"]
    assert table_of("charest", "Table 1").cells.columns[1] == "M = 1"
    assert table_of("bowen_liu", "supplement, Table 1").cells.isna().any(axis=None)  # not all columns are at hand


def test_a_figure_as_csv_has_its_digits() -> None:
    table = pd.read_csv(io.StringIO(printed_csv("Abowd & Vilhuber (2008)", "Fig. 1")), dtype=str)
    assert table.columns.tolist() == ["n1", "n2", *(f"m1={count}" for count in range(6))]
    assert table["m1=2"].tolist() == ["0.053490", "0.263672", "0.344610", "0.246150", "0.087891", "0.004863"]


@pytest.mark.parametrize("paper", load_papers().values())
def test_everything_is_laid_out_once_and_mismatches_stay(paper: str) -> None:
    records = [record for record in load_records(paper) if not record.is_alternative]
    shown = [record.id for layout in lay_out(records) for record in layout.records]
    assert sorted(shown) == sorted(record.id for record in records)
    mismatches = {record.id for record in records if record.verdict.needs_explanation}
    layouts = lay_out(records, only_mismatches=True)
    remaining = {record.id for layout in layouts for record in layout.records}
    assert mismatches <= remaining < set(shown)
    in_lists = {r.id for layout in layouts if isinstance(layout, PrintedList) for r in layout.records}
    assert in_lists <= mismatches


def test_every_figure_has_its_statements_and_every_statement_a_figure() -> None:
    for (paper, place), figure in FIGURES.items():
        assert [record for record in load_records(paper) if place in (record.place, record.figure)]
        assert figure.caption.endswith(".") and figure.note.endswith(".") and figure.panels
        assert len({slugify(setting) for setting in figure.settings}) == len(figure.settings)
    for record in load_records():
        assert not record.figure or (record.paper, record.figure) in FIGURES, record.figure
    assert len({(paper, slugify(place)) for paper, place in FIGURES}) == len(FIGURES)
    lines = pd.read_csv(io.StringIO(table_text("published/figures")))
    assert len(lines) == sum(len(panel.lines) for figure in FIGURES.values() for panel in figure.panels)


def test_printed_lines_are_those_of_theorems() -> None:
    lines = [line for figure in FIGURES.values() for panel in figure.panels for line in panel.lines]
    printed = {line.name for line in lines if line.kind is LineKind.PRINTED}
    assert printed and all(name.startswith(("Theorem", "Lemma", "Corollary")) for name in printed)
    assert all(len(line.x) == len(line.y) == len(line.error) for line in lines)
