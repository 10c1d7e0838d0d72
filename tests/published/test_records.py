"""The frozen records: all that is printed, with a verdict, a reason where it needs one, and where a reader sees it."""

import io
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from dpviz.comparisons.mixed import LARGEST_SHARE, SMALLEST_SHARE
from dpviz.comparisons.numeric_data import NUMBERS
from dpviz.core.data_files import read_table, table_text
from dpviz.published import records as module
from dpviz.published.records import (
    Agreement,
    Kind,
    alternative_readings,
    fill_in_printed,
    load_errata,
    load_papers,
    load_records,
    summarize,
)
from pages.transition_matrices import PRESETS
from pages.ui.navigation import TEXTS
from pages.ui.text import page_text

RECORDS = load_records()
PRIMARY = [record for record in RECORDS if not record.is_alternative]
PRINTED = {
    "Abowd & Vilhuber (2008)": (146, 7),
    "Charest (2011)": (108, 26),
    "Zheng (2015)": (9, 149),
    "Bowen & Liu (2016)": (109, 65),
    "Liu (2016)": (177, 71),
    "Quick (2021)": (0, 3),
    "Jackson et al. (2024)": (0, 4),
    "Menicucci et al. (2026)": (0, 3),
}
"""By paper: how many numbers are printed, in figures, tables and sentences, and how many statements."""

READ = [
    ("Liu (2016)", "Table 1 (a)", "raab", {"epsilon": 1, "n": 100, "p": 0.1}, "0.840"),
    ("Liu (2016)", "Table 1 (b)", "original", {"epsilon": 0.5, "n": 100}, "0.950"),
    ("Abowd & Vilhuber (2008)", "Fig. 4", "m1=1", {"n1_a": 0, "n1_b": 1}, "1.379885"),
    ("Liu (2016)", "Table 1 (a)", "single", {"epsilon": 100, "n": 100, "p": 0.1}, "0.738"),
    ("Abowd & Vilhuber (2008)", "Fig. 4", "m1=3", {"n1_a": 0, "n1_b": 1}, "2.000000"),
    ("Charest (2011)", "Table 4", "ratio_to_true_variance", {"epsilon": 3}, "3.19"),
    ("Bowen & Liu (2016)", "supplement, Table 1", "modips_truncated, ln_epsilon=-10", {"n": 1000, "p": 0.15}, "1.0000"),
    ("Bowen & Liu (2016)", "supplement, Table 1", "ln_epsilon=-9", {"n": 100, "p": 0.5}, "0.0070"),
    ("Abowd & Vilhuber (2008)", "Fig. 1", "m1=5", {"n1": 4}, "0.237305"),
    ("Abowd & Vilhuber (2008)", "Fig. 2", "m1=5", {"n1_a": 4, "n1_b": 5}, "1.003353"),
    ("Liu (2016)", "Table 1 (a)", "single", {"epsilon": 1, "n": 1000, "p": 0.1}, "0.749"),
    ("Liu (2016)", "Table 1 (a)", "single", {"epsilon": 1, "n": 1000, "p": 0.5}, "0.746"),
    ("Bowen & Liu (2016)", "supplement, Table 1", "ln_epsilon=-7", {"n": 100, "p": 0.15}, "0.0446"),
    ("Abowd & Vilhuber (2008)", "Fig. 1", "m1=3", {"n1": 3}, "0.344610"),
    ("Liu (2016)", "Table 1 (a)", "single", {"epsilon": 10, "n": 1000, "p": 0.1}, "0.747"),
    ("Liu (2016)", "Table 1 (a)", "single", {"epsilon": 100, "n": 1000, "p": 0.1}, "0.743"),
    ("Bowen & Liu (2016)", "Section 4.2", "bins", {}, "21"),
    ("Bowen & Liu (2016)", "supplement, Table 1", "ln_epsilon=-6", {"n": 40, "p": 0.25}, "0.0472"),
    ("Abowd & Vilhuber (2008)", "Fig. 3", "m1=3", {"n1": 3}, "0.632121"),
    ("Bowen & Liu (2016)", "Section 4.3", "squares", {}, "49"),
    ("Charest (2011)", "Section 4", "posterior", {}, "0.002053"),
    ("Liu (2016)", "Section 3.3", "draws", {}, "24"),
]
"""Numbers picked at random, and two more, each read in the text of its paper: paper, place, column, row, number."""

PLACEHOLDER = re.compile(r"\{(\w+)\[(\w+)\][^{}]*\}")
USED = sorted({(path, *keys) for path in TEXTS.glob("*.md") for keys in PLACEHOLDER.findall(path.read_text("utf-8"))})


def test_everything_printed_has_a_verdict_and_where_it_needs_one_a_reason() -> None:
    counts = dict.fromkeys(PRINTED, (0, 0))
    for record in PRIMARY:
        numbers, statements = counts[record.paper]
        counts[record.paper] = numbers + record.is_number, statements + (not record.is_number)
        assert record.printed and record.place and record.what and record.reading, record.id
        assert bool(record.reason) == record.verdict.needs_explanation, record.id
    assert counts == PRINTED
    assert list(PRINTED) == list(load_papers().values())


def test_reasons_are_sentences_of_their_own() -> None:
    reasons: dict[str, list[str]] = {}
    for record in PRIMARY:
        if record.verdict.needs_explanation:
            assert re.match(r"[A-Z0-9√∞].{20,}", record.reason), record.id
            reasons.setdefault(record.reason, []).append(record.paper)
    assert sum(map(len, reasons.values())) > 90
    assert max(map(len, reasons.values())) <= 4


@pytest.mark.parametrize(("paper", "place", "what", "row", "number"), READ)
def test_a_number_that_was_read_in_the_text_is_there(paper, place, what, row, number) -> None:
    printed = [
        record.printed
        for record in PRIMARY
        if (record.paper, record.place, record.what) == (paper, place, what)
        and row.items() <= record.parameters.items()
    ]
    assert number in printed if place.startswith("Section") else printed == [number]


def test_only_results_are_counted() -> None:
    summary = summarize(RECORDS)
    assert summary.kinds == {Kind.RESULT: 756, Kind.SETTING: 58, Kind.QUOTED: 30, Kind.LOST: 33}
    assert (summary.n_come_out, summary.n_numbers, summary.n_simulated) == (676, 463, 298)
    assert sum(summary.verdicts.values()) == 756
    unknown = [record for record in PRIMARY if record.verdict is Agreement.UNKNOWN and record.kind is Kind.RESULT]
    assert [record.place for record in unknown] == ["Section 6", "Section 6", "Section 5.3"]  # recommendations
    assert all(record.verdict is Agreement.UNKNOWN for record in PRIMARY if record.kind in (Kind.QUOTED, Kind.LOST))


def test_what_is_read_otherwise_than_stated_comes_out() -> None:
    otherwise = [record for record in PRIMARY if not record.as_stated]
    assert len(otherwise) == summarize(RECORDS).n_read_otherwise == 212
    assert all(record.verdict.comes_out for record in otherwise)


def test_alternative_readings_belong_to_what_has_the_same_digits() -> None:
    by_id = {record.id: record for record in RECORDS}
    assert len(by_id) == len(RECORDS)
    assert sum(map(len, alternative_readings().values())) == len(RECORDS) - len(PRIMARY)
    for record_id, readings in alternative_readings().items():
        record = by_id[record_id]
        for reading in readings:
            assert (reading.paper, reading.place, reading.printed) == (record.paper, record.place, record.printed)
            if reading.what == record.what:  # of the same row: only n is another, where rows are counted as printed
                assert {**reading.parameters, "n": 0} == {**record.parameters, "n": 0}


def test_equation_1_agrees_nowhere_and_the_heading_of_table_3_in_no_row() -> None:
    alternatives = [record for record in RECORDS if record.is_alternative]
    assert not [r for r in alternatives if r.place in ("Fig. 1", "Fig. 2") and r.verdict is Agreement.AGREES]
    variance = [r for r in alternatives if (r.place, r.what) == ("Table 3", "posterior_variance_1e-3")]
    assert [(record.verdict, record.as_stated) for record in variance] == [(Agreement.DIFFERS, True)] * 4


def test_the_page_of_a_record_takes_its_settings() -> None:
    for page, settings in {(record.page, record.settings) for record in RECORDS if record.page}:
        record = next(record for record in RECORDS if (record.page, record.settings) == (page, settings))
        controls = import_module(f"pages.{page}")
        for name, value in record.query.items():
            assert controls.SETTINGS[controls.PREFIX + name].parse(value) is not None, (record.id, name, value)


def test_the_file_opens_in_pandas() -> None:
    table = pd.read_csv(io.StringIO(table_text("published/records")), parse_dates=["computed"])
    kinds = {name: table[name].dtype.kind for name in table}
    numeric = {"error", "our_error", "units_of_last_digit", "standard_errors"}
    assert {name for name, kind in kinds.items() if kind == "f"} == numeric
    assert {name for name, kind in kinds.items() if kind == "b"} == {"as_stated"}
    assert kinds["computed"] == "M"
    assert list(table["printed"]) == [record.printed for record in RECORDS]  # digits as printed
    assert {"0.950", "1.000", "-0.00"} <= set(table["printed"])


@pytest.mark.parametrize(
    ("label", "place"),
    [("a broken promise (A&V, Fig. 1 and 2)", "Fig. 1"), ("a kept promise (A&V, Fig. 3 and 4)", "Fig. 3")],
)
def test_a_preset_that_is_called_a_figure_is_that_figure(label: str, place: str) -> None:
    query = next(record.query for record in RECORDS if record.place == place)
    assert {name: str(PRESETS[label][name]) for name in query} == query


def test_the_study_of_mixed_data_has_the_printed_shares() -> None:
    printed = {record.key: float(record.printed) for record in load_records("Bowen & Liu (2016)") if record.is_number}
    assert (printed["smallest"], printed["largest"]) == (SMALLEST_SHARE / 1000, LARGEST_SHARE / 1000)
    assert NUMBERS["cells"].default == printed["cells"]


@pytest.mark.parametrize(("path", "paper", "key"), USED, ids=[f"{path.stem} {key}" for path, _, key in USED])
def test_numbers_of_papers_in_texts_are_those_of_the_records(path, paper, key, monkeypatch) -> None:
    """A page shows the digits of the record, other ones where the record has others, and none that differ from ours."""
    text = path.read_text("utf-8")
    filled = fill_in_printed(text)
    (record,) = (record for record in load_records(load_papers()[paper]) if record.key == key)
    assert record.is_number and record.verdict is not Agreement.DIFFERS
    assert record.printed in filled or f"{float(record.printed):,.0f}" in filled
    assert not PLACEHOLDER.search(filled)
    assert "987" not in filled
    rows = [row | {"printed": "987"} if row["key"] == key else row for row in read_table("published/records")]
    changed = tuple(map(module.Record.from_row, rows))
    monkeypatch.setattr(module, "load_records", lambda _: changed)
    assert "987" in fill_in_printed(text)


@pytest.mark.parametrize("path", sorted({path for path, *_ in USED}), ids=lambda path: path.stem)
def test_no_page_shows_the_name_of_a_record(path: Path) -> None:
    for section in re.findall(r"^## (.*)$", path.read_text("utf-8"), re.MULTILINE):
        assert not PLACEHOLDER.search(page_text(path.stem, section))


def test_errata_are_complete() -> None:
    errata = [erratum for paper in load_papers().values() for erratum in load_errata(paper)]
    assert Counter(erratum.paper for erratum in errata).keys() <= set(PRINTED)
    assert len(errata) == 80
    for erratum in errata:
        assert all((erratum.printed, erratum.truth, erratum.kind, erratum.consequence, erratum.certainty))
        assert bool(erratum.command) == bool(erratum.output)
