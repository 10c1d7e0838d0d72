"""The stored run of everything printed: it brings every record back, in the layout of the papers."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from dpviz.charts.published import cell_word
from dpviz.claims.drawn_figures import read_figures
from dpviz.claims.full_run import FullRun, full_run_csv, read_full_run
from dpviz.claims.papers import PAPERS
from dpviz.claims.printed_layout import PrintedGrid, layouts_of, with_readings
from dpviz.claims.published import Agreement, printed_rows, printed_text
from dpviz.claims.verdicts import printed_alone, verdicts_csv


@pytest.fixture(scope="module")
def run() -> FullRun:
    return read_full_run()


def test_the_file_brings_every_record_back(run: FullRun) -> None:
    lines = [line.split(",")[:2] for line in verdicts_csv(run.records, run.effort, run.date).splitlines()[1:]]
    rows = printed_rows("full_run")
    assert len(lines) == len(rows) == len(run.records)
    for record, row in zip(run.records, rows, strict=True):
        stored = (row["paper"], row["place"], row["printed"], row["verdict"])
        assert (record.paper, record.place, record.text, str(record.verdict)) == stored
        assert (record.shown.page, record.shown.text, record.reason) == (row["page"], row["settings"], row["reason"])
        assert len(record.design) == row["design"].count("=")
        assert isinstance(record.printed, str) == isinstance(record.ours, str)


def test_what_is_marked_as_read_otherwise_comes_out(run: FullRun) -> None:
    otherwise = [record for record in printed_alone(run.records) if not record.literal]
    assert otherwise and not [record for record in otherwise if record.verdict.wants_reason]
    assert f"{len(otherwise)} are right only if" in run.told


def test_every_other_reading_belongs_to_what_has_the_same_digits(run: FullRun) -> None:
    for paper in PAPERS.values():
        cells = with_readings(run.of(paper.cited))
        assert sum(1 + len(cell.others) for cell in cells) == len(run.of(paper.cited))
        for cell in cells:
            own = cell.record
            assert all((other.place, other.text) == (own.place, own.text) for other in cell.others)
            for other in cell.others:  # of the same row: only n is another, where the rows are counted as printed
                if other.what == own.what:
                    assert {**other.design, "n": 0} == {**own.design, "n": 0}


@pytest.mark.parametrize(
    ("key", "place", "rows", "columns"),
    [
        ("abowd_vilhuber", "Fig. 1", 6, 6), ("abowd_vilhuber", "Fig. 2", 5, 6), ("charest", "Table 1", 3, 5),
        ("charest", "Table 2", 9, 4), ("charest", "Table 3", 4, 3), ("charest", "Table 4", 6, 4),
        ("liu", "Table 1 (a)", 16, 6), ("liu", "Table 1 (b)", 8, 6), ("bowen_liu", "supplement, Table 1", 22, 6),
    ],
)  # fmt: skip
def test_tables_have_the_layout_of_the_paper(run: FullRun, key: str, place: str, rows: int, columns: int) -> None:
    records = run.of(PAPERS[key].cited)
    (grid,) = (layout for layout in layouts_of(records) if isinstance(layout, PrintedGrid) and layout.place == place)
    assert (len(grid.rows), len(grid.columns)) == (rows, columns)
    assert len({design for design, _ in grid.rows}) == rows
    printed = [record.text for record in printed_alone(records) if record.place == place and record.design]
    assert sorted(cell.record.text for cell in grid.cells) == sorted(printed)


def test_the_place_of_a_cell_is_that_of_its_number(run: FullRun) -> None:
    grid = next(layout for layout in layouts_of(run.of("Liu (2016)")) if isinstance(layout, PrintedGrid))
    table = printed_rows("liu_binary_table1")
    assert [[cell and cell.record.text for cell in cells] for _, cells in grid.rows] == [
        list(row.values())[3:] for row in table
    ]
    assert [design[0] for design, _ in grid.rows] == [float(row["epsilon"]) for row in table]


def test_every_cell_has_a_word_of_its_own(run: FullRun) -> None:
    alone = printed_alone(run.records)
    assert len({cell_word(record) for record in alone}) == len(alone)


def test_the_file_opens_in_pandas_and_equals_the_records(run: FullRun) -> None:
    table = pd.read_csv(io.StringIO(full_run_csv()), parse_dates=["computed"])
    kinds = {name: table[name].dtype.kind for name in table}
    assert {name for name, kind in kinds.items() if kind == "f"} == {
        "error", "our_error", "units_of_last_digit", "standard_errors",
    }  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == "b"} == {"as_the_words_say", "another_reading"}
    assert {name for name, kind in kinds.items() if kind == "i"} == {"repetitions", "seed"}
    assert kinds["computed"] == "M"
    assert list(table["verdict"]) == [str(record.verdict) for record in run.records]
    assert list(table["another_reading"]) == [record.other for record in run.records]
    assert list(table["printed"]) == [record.text for record in run.records]
    assert list(table["figure"].fillna("")) == [record.figure for record in run.records]
    numbers = pd.to_numeric(table["ours"], errors="coerce")
    for ours, error, record in zip(numbers, table["our_error"].fillna(0.0), run.records, strict=True):
        if not isinstance(record.printed, str):
            is_unknown = pd.isna(ours) and record.verdict is Agreement.UNKNOWN
            assert (ours == record.ours or is_unknown) and error == record.our_error
    lines = pd.read_csv(io.StringIO(printed_text("figures")))
    assert len(lines) == sum(len(panel.lines) for figure in read_figures() for panel in figure.panels)
