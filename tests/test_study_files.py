"""The file of a large study: every digit of its cells, what a comparison takes of them, and what is refused."""

from __future__ import annotations

import dataclasses
import io
import random
import re
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from dpviz.comparisons import BinaryData, Compared, EqualPrivacy
from dpviz.core import limits
from dpviz.coverage import run_coverage
from dpviz.simulation import read_run
from dpviz.study.compared import comparison_of, study_outcomes
from dpviz.study.in_words import cell_in_words, compared_sentence, study_sentence
from dpviz.study.parquet import STUDY_COLUMNS, UNREADABLE, parquet_of, unpacked, unpacked_apart
from dpviz.study.plan import StudyPlan
from dpviz.study.results import CellResult, cell_result, cells_of, exact_part, read_study, study_parquet

PLAN: dict[str, Any] = {
    "mechanisms": ["beta_binomial", "geometric"], "n": 40, "epsilon": [0.5, 2], "sets": [3, 1], "p": [0.25, 0.5],
    "rules": ["reiter_2003", "as_if_real"], "repetitions": 2_250, "seed": 3,
}  # fmt: skip


@cache
def cells(exact: bool = False) -> tuple[CellResult, ...]:
    """A small study, all simulated or all exact."""
    study = StudyPlan.of(PLAN | {"exact": exact})
    if exact:
        return tuple(cell_result(one, exact_part(one.design), None) for one in study.cells)
    return tuple(cell_result(one, None, run_coverage(one.plan)) for one in study.cells)


MIXED = (*cells(exact=True)[:2], *cells()[2:])


def test_a_file_holds_every_digit_of_every_cell() -> None:
    assert read_study(study_parquet(MIXED)) == MIXED


def test_what_a_comparison_finds_is_near_what_a_study_has_simulated() -> None:
    """The page's own exact numbers at the ε of the study, within four standard errors; those that are exact agree.

    A method that adds noise to a count releases one set there, whatever M is: its cells with one set are those.
    """
    asked = comparison_of(MIXED)
    assert (asked.data, asked.epsilon, asked.analysis.sets) == (BinaryData(n=40, p=0.25), 2.0, 3)
    found = study_outcomes(MIXED, asked)
    assert [(one.method.key, one.epsilon, one.sets) for one in found] == [
        ("beta_binomial", 0.5, 3), ("beta_binomial", 2.0, 3), ("geometric", 0.5, 1), ("geometric", 2.0, 1),
    ]  # fmt: skip
    ours = {
        (one.method.key, one.epsilon): one
        for one in asked.data.compare(asked.methods, [0.5, 2.0], asked.analysis, asked.terms)
    }
    for one in found:
        same = ours[one.method.key, one.epsilon]
        for name in ("bias", "root_mean_squared_error", "coverage", "mean_width"):
            seen, exact = one.measure(name), same.measure(name)
            assert abs(seen.value - exact.value) <= 4 * seen.error + 1e-7, (name, one.epsilon)
    assert [one.is_exact("coverage") for one in found] == [True, False, False, False]
    drawn = Compared({}, {}, found)
    assert [one.epsilon for one in drawn.of(asked.methods[0])] == [0.5, 2.0]
    assert not study_outcomes(MIXED, dataclasses.replace(asked, terms=EqualPrivacy()))
    assert not study_outcomes(MIXED, dataclasses.replace(asked, data=BinaryData(n=41, p=0.25)))


def test_a_study_without_a_comparison_is_refused_in_a_sentence() -> None:
    simulated = [one for one in MIXED if one.run and one.design.mechanism == "beta_binomial"]
    beta = tuple(dataclasses.replace(one, design=dataclasses.replace(one.design, m=30)) for one in simulated)
    with pytest.raises(ValueError, match="Cells of a study are compared where as many rows are released as there are"):
        comparison_of(beta)


def test_sentences_say_how_many_cells_are_exact() -> None:
    one = cells()[:1]
    assert study_sentence(one) == "The study has one cell, which is simulated."
    assert study_sentence(cells(exact=True)) == "The study has 16 cells, all of them exact."
    assert study_sentence((*cells(exact=True)[:1], *one)).startswith("The study has 2 cells: 1 is exact, in")
    assert cell_in_words(MIXED[0]) == "Beta-binomial (posterior draw), n = 40, ε = 0.5, M = 3, p = 0.25: exact"
    assert cell_in_words(MIXED[3]).endswith("ε = 0.5, M = 1, p = 0.5: 2,250 repetitions")
    assert compared_sentence(one, 1).startswith("Of the open study's cells 1 of 1 is in this picture")


def changed(**columns: Any) -> bytes:
    """The file with other values in some columns, whatever their types are."""
    table = parquet.read_table(io.BytesIO(study_parquet(MIXED)))
    for name, value in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([value] * len(table)))
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="none", store_schema=False)
    return sink.getvalue()


HOSTILE: dict[str, tuple[Any, str]] = {
    "no parquet": (lambda: b"PAR1" + b"\0" * 100 + b"PAR1", UNREADABLE),
    "cut": (lambda: study_parquet(MIXED)[:-9], UNREADABLE),
    "empty": (lambda: parquet_of([]), "The file must have at least one cell; it has none."),
    "too large": (lambda: b"PAR1" + bytes(limits.MAX_STUDY_BYTES), ("The file of a study must have at most 24 MB; got "
                                                                   "24.0")),
    "type": (lambda: changed(p="a half"), "The columns must be those that a study writes, from mechanism to run;"),
    "number": (lambda: changed(p=7.0), "p (true share) must be a number from 0 to 1; got 7."),
    "mechanism": (lambda: changed(mechanism="<b>"), "mechanism must be one of beta_binomial,"),
    "three cells": (lambda: changed(mechanism="dirichlet_multinomial"), "mechanism must release two counts"),
    "rule": (lambda: changed(rule="as_if_real"), "rules must be some of"),
    "share": (lambda: changed(coverage=1.5), "coverage must be a number from 0 to 1; got 1.5."),
    "error": (lambda: changed(bias_error=-1.0), "bias_error must be at least 0; got −1."),
    "no run": (lambda: changed(exact=True), "run must be there where a rule is simulated, and nowhere else."),
    "run": (lambda: changed(run="{}", exact=False), 'text must be a run in JSON, with "dpviz_run"; got {}.'),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(name: str) -> None:
    make, words = HOSTILE[name]
    with pytest.raises(ValueError, match=re.escape(words)):
        for cell in read_study(make()):
            read_run(cell.run)


def test_compressed_files_are_refused_before_they_are_unpacked() -> None:
    sink = io.BytesIO()
    rows = [row | {"run": "0" * 5_000_000} for row in unpacked(study_parquet(MIXED))]
    table = pa.Table.from_pylist(rows, schema=parquet.read_schema(io.BytesIO(study_parquet(MIXED))))
    parquet.write_table(table, sink, compression="zstd", store_schema=False)
    assert len(sink.getvalue()) < 100_000
    with pytest.raises(ValueError, match="must not be compressed"):
        unpacked_apart(sink.getvalue())


def test_a_short_text_that_stands_in_many_rows_is_not_unpacked_to_its_end() -> None:
    """One text of 10 MB, which the file holds once and its 5,000 rows repeat: 50 GB."""
    row = unpacked(study_parquet(MIXED))[0] | {"run": "0" * 10_000_000}
    table = pa.Table.from_pylist([row], schema=parquet.read_schema(io.BytesIO(study_parquet(MIXED))))
    index = pa.array([0] * 5_000, pa.int32())
    columns = [pa.DictionaryArray.from_arrays(index, one.combine_chunks()) for one in table.columns]
    sink = io.BytesIO()
    options: dict[str, Any] = {"compression": "none", "store_schema": False, "dictionary_pagesize_limit": 2**25}
    parquet.write_table(pa.table(columns, names=table.column_names), sink, **options)
    assert len(sink.getvalue()) < limits.MAX_STUDY_BYTES
    with pytest.raises(ValueError, match="more than a study writes into so many bytes"):
        unpacked_apart(sink.getvalue())


def test_bytes_that_are_changed_at_random_end_in_a_sentence() -> None:
    """Some of them end the process that unpacks a file; who opened it gets a sentence."""
    random_bytes, whole = random.Random(5), study_parquet(MIXED)
    for _ in range(6):
        torn = bytearray(whole)
        for _ in range(20):
            torn[-random_bytes.randrange(1, 4_000)] = random_bytes.randrange(256)
        try:
            assert read_study(bytes(torn))
        except ValueError as refused:
            assert str(refused).endswith(".")


def test_the_process_that_unpacks_a_file_may_end_at_it() -> None:
    """A codec that there is not ends the library, and not the server, which finds no answer."""
    whole = study_parquet(cells()[:1])
    begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")  # of what the file says of itself
    codes = [place for place in range(begin, len(whole)) if whole[place : place + 2] == b"\x15\x00"]
    said = set()
    for place in codes[-12:]:
        torn = whole[: place + 1] + b"\x5c" + whole[place + 2 :]
        try:
            read_study(torn)
        except ValueError as refused:
            said.add(str(refused))
    assert f"{UNREADABLE}." in said


@pytest.mark.parametrize("seed", range(4))
def test_rows_with_any_values_are_cells_or_refused_in_a_sentence(seed: int) -> None:
    draw, rows = random.Random(seed), unpacked(study_parquet(MIXED))
    values: list[Any] = [
        None,
        0,
        -1,
        1,
        2**62,
        0.5,
        -0.5,
        1e308,
        float("nan"),
        float("inf"),
        True,
        False,
        "",
        "score",
        "x",
    ]
    kinds = {"string": str, "int64": int, "double": float, "bool": bool}
    for _ in range(300):
        torn = [dict(row) for row in rows[: draw.randrange(1, 8)]]
        for _ in range(draw.choice((1, 1, 2, 5))):
            name = draw.choice(list(STUDY_COLUMNS))
            fit = [one for one in values if one is None or type(one) is kinds[STUDY_COLUMNS[name]]]
            draw.choice(torn)[name] = draw.choice(fit)
        try:
            assert cells_of(torn)
        except ValueError as refused:
            assert str(refused).endswith(".")
