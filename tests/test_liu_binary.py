"""The binary half of Liu's Table 1: under one reading of each column every cell is within chance of exact coverage."""

from __future__ import annotations

import pytest

from dpviz.claims.liu import LIU_BINARY
from dpviz.claims.published import Record
from dpviz.coverage import exact_coverages
from dpviz.mechanisms import Modips

FITS = {(one.column, one.reading) for one in LIU_BINARY.fitting}
"""Readings of a column; that of a cell says in addition how n is read."""


N_AS_READ = " n is read as 10 times the printed one."


def fits(one: Record[float]) -> bool:
    return (one.what, one.reading.removesuffix(N_AS_READ)) in FITS


def test_the_table_is_printed_digit_for_digit() -> None:
    assert LIU_BINARY.printed.text.splitlines()[1] == "100,10,0.5,0.946,0.948,0.948,0.798,0.999,0.736"
    assert len(LIU_BINARY.printed.rows) == 16


def records_at(**where: float) -> list[Record[float]]:
    rows = [row for row in LIU_BINARY.printed.rows if where.items() <= row.items()]
    return [record for row in rows for record in LIU_BINARY.compare_row(row, (*LIU_BINARY.fitting, *LIU_BINARY.others))]


def test_the_cells_of_a_hundred_rows_are_within_three_standard_errors_of_exact_coverage() -> None:
    """One row of the table here; `python -m dpviz.claims` takes all."""
    records = records_at(epsilon=10, n_as_printed=10, p=0.1)
    fitting = [one for one in records if fits(one)]
    assert [one.what for one in fitting] == [one.column for one in LIU_BINARY.fitting]
    assert max(abs(one.z) for one in fitting) < 3
    assert all(one.our_error == 0 for one in fitting)
    exact = exact_coverages(synthesizer=Modips(n=100, m=100, epsilon=1), p=0.1, sets=10, rules=["reiter_2003"])
    assert fitting[1].ours == pytest.approx(exact["reiter_2003"].coverage, abs=1e-8)
    (normal,) = [
        one for one in records if (one.what, one.reading.removesuffix(N_AS_READ)) == ("rubin", "Normal quantile.")
    ]
    assert normal.z > 3


def test_the_cells_of_a_thousand_rows_are_within_three_standard_errors_of_a_simulation() -> None:
    records = [one for one in records_at(epsilon=1, n_as_printed=100) if fits(one)]
    assert len(records) == 12
    assert max(abs(one.z) for one in records) < 3
