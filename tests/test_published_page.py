"""The page "Published": everything that is printed with its verdict, as the command counts it, and nothing computed."""

from __future__ import annotations

import io
import re
from collections import Counter
from html import unescape
from importlib import import_module
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.charts.printed import SIGNS, cell_word
from dpviz.claims.drawn_figures import DrawnFigure, read_figures, word_of
from dpviz.claims.full_run import FullRun, full_run_csv, read_full_run, verdict_counts
from dpviz.claims.papers import PAPERS
from dpviz.claims.printed_layout import PrintedGrid, layouts_of, with_readings
from dpviz.claims.published import Agreement, Shown, printed_rows, printed_text
from dpviz.claims.verdicts import headline_of_records, printed_alone, verdicts_csv
from dpviz.desk.addresses import SETTINGS
from pages.components.navigation import EVERY_PAGE
from pages.published import SPEC
from pages.published.sections import address_of
from tests.pages import address, check_short, check_sound, figures, html, marks, open_page, problems, text


@pytest.fixture(scope="module")
def run() -> FullRun:
    return read_full_run()


def opened(said: dict[str, str] | None = None, **state: object) -> AppTest:
    page = open_page(said, path=SPEC.file, prefix=SPEC.prefix, **state)
    check_sound(page)
    return page


def verdicts_on(page: AppTest) -> Counter[str]:
    """The verdict of every cell and statement of the page, with what is printed."""
    shown = " ".join(html(page))
    cells = re.findall(r'<summary aria-label="([^"]*), ([^",]*)">', shown)
    said = re.findall(r"<b class=verdict>([^<]*)</b> <span>(.*?)</span>", shown)
    signs = str.maketrans("", "", "≈±≠?*")
    return Counter(f"{verdict}: {unescape(printed)}" for printed, verdict in cells) + Counter(
        f"{verdict.translate(signs).strip()}: {unescape(printed)}" for verdict, printed in said
    )


def test_the_file_brings_every_record_back(run: FullRun) -> None:
    """The file that is written of what was read is the file, but for what rounding leaves of a difference."""
    written = [line.split(",")[:2] for line in verdicts_csv(run.records, run.effort, run.date).splitlines()[1:]]
    rows = printed_rows("full_run")
    assert len(written) == len(rows) == len(run.records)
    for one, row in zip(run.records, rows, strict=True):
        assert (one.paper, one.place, one.text, str(one.verdict)) == (
            row["paper"], row["place"], row["printed"], row["verdict"]
        )  # fmt: skip
        assert (one.shown.page, one.shown.text, one.reason) == (row["page"], row["settings"], row["reason"])
        assert len(one.design) == (row["design"].count("=")) and isinstance(one.printed, str) == isinstance(
            one.ours, str
        )


@pytest.mark.parametrize("key", PAPERS)
def test_every_record_of_a_paper_is_on_the_page_with_its_verdict(run: FullRun, key: str) -> None:
    page = opened({"pub_paper": key})
    alone = printed_alone(run.of(PAPERS[key].cited))
    found = verdicts_on(page)
    assert sum(found.values()) == len(alone)
    assert Counter(one.partition(":")[0] for one in found.elements()) == Counter(str(one.verdict) for one in alone)
    shown = " ".join(found)
    assert not [one for one in alone if one.text not in shown]
    every = unescape(" ".join(html(page)))
    assert not [one.reason for one in alone if one.reason not in every]
    for slip in PAPERS[key].errata:
        assert all(one in every for one in (slip.printed, slip.ours, slip.matters, slip.sure, slip.command))
    assert address(page).get("pub_paper", next(iter(PAPERS))) == key and problems(page) == []


@pytest.mark.parametrize("key", PAPERS)
def test_only_what_differs_leaves_nothing_of_it_out(run: FullRun, key: str) -> None:
    page = opened({"pub_paper": key, "pub_only": "true"})
    quiet = {str(Agreement.AGREES), str(Agreement.CHANCE)}
    expected = Counter(str(one.verdict) for one in printed_alone(run.of(PAPERS[key].cited)))
    found = Counter(one.partition(":")[0] for one in verdicts_on(page).elements())
    assert {one: often for one, often in found.items() if one not in quiet} == {
        one: often for one, often in expected.items() if one not in quiet
    }
    assert found.total() < expected.total()
    assert address(page)["pub_only"] == "true"


def test_the_verdict_counts_as_the_command_does(run: FullRun) -> None:
    page = opened()
    counts = verdict_counts(run.records)
    headline = headline_of_records(run.records)
    numbers, statements = re.findall(r"[\d,]+", headline)[:2]
    assert f"print {numbers} numbers and {statements} statements" in text(page)
    assert marks(page) == [run.mark] and run.mark.endswith(f" of {sum(counts.values()):,} come out")
    table = next(one for one in html(page) if 'aria-label="Verdicts by paper"' in one)
    last = re.findall(r"<td class=count>([^<]*)</td>", table)[-1 - len(SIGNS) :]
    assert last == [f"{sum(counts.values()):,}", *(f"{counts[one]:,}" for one in Agreement)]
    assert str(run.effort.seed) in run.made and f"{run.effort.repetitions:,}" in run.made and "2026" in run.made
    check_short(run.short)


def test_what_is_marked_as_read_otherwise_comes_out(run: FullRun) -> None:
    """So the verdict may say of them that they are right only if they are read otherwise."""
    otherwise = [one for one in printed_alone(run.records) if not one.literal]
    assert otherwise and not [one for one in otherwise if one.verdict.wants_reason]
    assert f"{len(otherwise)} are right only if" in run.told


def test_every_other_reading_belongs_to_what_has_the_same_digits(run: FullRun) -> None:
    for paper in PAPERS.values():
        cells = with_readings(run.of(paper.cited))
        assert sum(1 + len(one.others) for one in cells) == len(run.of(paper.cited))
        for one in cells:
            assert all((other.place, other.text) == (one.record.place, one.record.text) for other in one.others)
            same = [other for other in one.others if other.what == one.record.what]
            for other in same:  # of the same row: only n is another, where the rows are counted as printed
                assert {**other.design, "n": 0} == {**one.record.design, "n": 0}


@pytest.mark.parametrize(
    ("key", "place", "rows", "columns"),
    [
        ("abowd_vilhuber", "Fig. 1", 6, 6), ("abowd_vilhuber", "Fig. 2", 5, 6), ("charest", "Table 1", 3, 5),
        ("charest", "Table 2", 9, 4), ("charest", "Table 3", 4, 3), ("charest", "Table 4", 6, 4),
        ("liu", "Table 1 (a)", 16, 6), ("liu", "Table 1 (b)", 8, 6), ("bowen_liu", "supplement, Table 1", 22, 6),
    ],
)  # fmt: skip
def test_tables_have_the_layout_of_the_paper(run: FullRun, key: str, place: str, rows: int, columns: int) -> None:
    (grid,) = (
        one for one in layouts_of(run.of(PAPERS[key].cited)) if isinstance(one, PrintedGrid) and one.place == place
    )
    assert (len(grid.rows), len(grid.columns)) == (rows, columns)
    assert len({design for design, _ in grid.rows}) == rows
    printed = [one for one in printed_alone(run.records) if one.source.endswith(f", {place}") and one.design]
    assert sorted(one.record.text for one in grid.cells) == sorted(
        one.text for one in printed if one.paper == PAPERS[key].cited
    )


def test_the_place_of_a_cell_is_that_of_its_number(run: FullRun) -> None:
    """Against the file of the printed table itself, cell by cell."""
    grid = next(one for one in layouts_of(run.of("Liu (2016)")) if isinstance(one, PrintedGrid))
    table = [list(row.values())[3:] for row in printed_rows("liu_binary_table1")]
    assert [[one and one.record.text for one in cells] for _, cells in grid.rows] == table
    assert [design[0] for design, _ in grid.rows] == [
        float(row["epsilon"]) for row in printed_rows("liu_binary_table1")
    ]


def test_every_link_opens_a_page_whose_controls_take_it(run: FullRun) -> None:
    prefixes = {page.path: page.prefix for page in EVERY_PAGE}
    page = opened({"pub_paper": "charest"})
    links = [one for one in re.findall(r'<a href="([^"]*)"', " ".join(html(page))) if SPEC.path not in one]
    assert len(links) == sum(bool(one.shown.page) for one in printed_alone(run.of("Charest (2011)")))
    for link in map(unescape, links):
        path, _, query = link.partition("?")
        import_module(f"pages.{path}.controls")
        for key, word in parse_qsl(query):
            assert key.startswith(prefixes[path])
            assert SETTINGS[key].read(word) is not None
    assert address_of(Shown("coverage", {"n": 5}), in_class=True) == "coverage?cv_n=5&class=1"
    assert "class=1" not in links[0]
    in_class = opened({"pub_paper": "charest", "class": "1"})
    assert all("class=1" in one for one in re.findall(r'<a href="([^"]*)"', " ".join(html(in_class))))


def test_every_cell_has_a_word_of_its_own_in_the_address(run: FullRun) -> None:
    alone = printed_alone(run.records)
    assert len({cell_word(one) for one in alone}) == len(alone)
    page = opened({"pub_paper": "liu"})
    ids = re.findall(r'id="cell-([^"]*)"', " ".join(html(page)))
    assert Counter(ids) == Counter(cell_word(one) for one in alone if one.paper == "Liu (2016)")
    assert len(set(re.findall(r'id="cell-[^"]*" name="([^"]*)"', " ".join(html(page))))) == 1  # one is open at a time


def test_a_cell_that_the_address_asks_for_and_is_none_is_said(run: FullRun) -> None:
    word = cell_word(run.of("Charest (2011)")[0])
    assert problems(opened({"pub_paper": "charest", "cell": word})) == []
    (said,) = problems(opened({"pub_paper": "charest", "cell": "charest_2011-<b>no</b>"}))
    assert (
        said == "Ignored an invalid value in the link, cell = charest_2011-<b>no</b>: Charest (2011) has no such cell."
    )
    assert problems(opened({"pub_paper": "liu", "cell": word})) == []  # the reader has chosen another paper


@pytest.mark.parametrize("figure", read_figures(), ids=lambda one: f"{one.paper} {one.place}")
def test_a_figure_is_drawn_with_what_the_paper_says_of_it_below(run: FullRun, figure: DrawnFigure) -> None:
    key = next(key for key, paper in PAPERS.items() if paper.cited == figure.paper)
    word, setting = word_of(figure.place), figure.settings[-1]
    asked = {"pub_paper": key, f"pub_{key}_figure": word, f"pub_{key}_{word}_at": word_of(setting)}
    page = opened(asked)
    drawn = figures(page)
    panels = figure.at(setting)
    assert {f"pub_{measure}" for measure in panels} <= set(drawn)
    for measure, panel in panels.items():
        names = [one.get("name") for one in drawn[f"pub_{measure}"]["figure"]["data"]]
        assert {one.name for one in panel.lines} == set(names)
    (below,) = (one for one in html(page) if f"<h3>{figure.place}</h3>" in one and "class=numbers" in one)
    spoken = [one for one in printed_alone(run.of(figure.paper)) if (one.figure or one.place) == figure.place]
    assert spoken and all(f'id="cell-{cell_word(one)}"' in below for one in spoken)
    assert below.count('id="cell-') == len(spoken)
    said = address(page)
    assert said.get("pub_paper", next(iter(PAPERS))) == key and problems(page) == []
    assert {name: asked[name] for name in said} == said


def test_the_file_opens_in_pandas_and_equals_the_records(run: FullRun) -> None:
    table = pd.read_csv(io.StringIO(full_run_csv()), parse_dates=["computed"])
    kinds = {name: table[name].dtype.kind for name in table}
    assert len(table) == len(run.records)
    assert {name for name, kind in kinds.items() if kind == "f"} == {
        "error", "our_error", "units_of_last_digit", "standard_errors",
    }  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == "b"} == {"as_the_words_say", "another_reading"}
    assert {name for name, kind in kinds.items() if kind == "i"} == {"repetitions", "seed"}
    assert kinds["computed"] == "M"
    assert list(table["verdict"]) == [str(one.verdict) for one in run.records]
    assert list(table["another_reading"]) == [one.other for one in run.records]
    assert list(table["printed"]) == [one.text for one in run.records]
    assert list(table["figure"].fillna("")) == [one.figure for one in run.records]
    numbers = pd.to_numeric(table["ours"], errors="coerce")
    for ours, error, one in zip(numbers, table["our_error"].fillna(0.0), run.records, strict=True):
        if not isinstance(one.printed, str):
            assert (ours == one.ours or (pd.isna(ours) and one.verdict is Agreement.UNKNOWN)) and error == one.our_error
    lines = pd.read_csv(io.StringIO(printed_text("figures")))
    assert len(lines) == sum(len(panel.lines) for one in read_figures() for panel in one.panels)


def test_what_the_address_says_and_no_control_accepts_is_said() -> None:
    page = opened({"pub_paper": "nobody"})
    assert len(problems(page)) == 1 and "pub_paper = nobody" in problems(page)[0]
    assert page.radio(key="pub_paper").value == next(iter(PAPERS))
