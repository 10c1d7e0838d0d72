"""The normal half of Liu's Table 1: under one reading of each column every cell is within chance of a simulation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dpviz.claims.liu import LIU_NORMAL, LiuReading
from dpviz.claims.published import Record


@cache
def records() -> tuple[Record[float], ...]:
    return tuple(LIU_NORMAL.compare())


def scores(reading: LiuReading) -> np.ndarray:
    sought = reading.column, reading.reading
    return np.array([record.z for record in records() if (record.what, record.reading) == sought])


def test_the_table_is_printed_digit_for_digit() -> None:
    assert LIU_NORMAL.printed.text.splitlines()[1] == "100,10,0.951,0.953,0.946,0.825,0.997,0.743"
    assert len(LIU_NORMAL.printed.rows) == 8
    assert {(row["epsilon"], row["n"]) for row in LIU_NORMAL.printed.rows} == {
        (epsilon, n) for epsilon in (0.5, 1, 10, 100) for n in (10, 100)
    }


@pytest.mark.parametrize("reading", LIU_NORMAL.fitting, ids=lambda one: one.column)
def test_every_cell_is_within_three_standard_errors(reading: LiuReading) -> None:
    found = scores(reading)
    assert len(found) == 8
    assert np.abs(found).max() < 3


def test_all_cells_together_are_as_far_off_as_chance_is() -> None:
    together = np.concatenate([scores(one) for one in LIU_NORMAL.fitting])
    assert len(together) == 48
    assert np.mean(together**2) < 1.5


def test_other_readings_fit_less_or_not_at_all() -> None:
    """The known variance makes Raab's intervals too wide; a single set is read with the known variance."""
    others = {(one.column, one.estimand): one for one in LIU_NORMAL.others}
    assert np.abs(scores(others["raab", "mean_known_variance"])).max() > 10
    assert np.abs(scores(others["single", "mean"])).max() > 3
