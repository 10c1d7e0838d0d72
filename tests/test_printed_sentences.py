"""Numbers of the papers in the texts of pages come from the records of what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpviz.claims import sentences
from dpviz.claims.full_run import read_full_run
from dpviz.claims.papers import PAPERS
from dpviz.claims.published import Agreement, PrintedNumber, printed_rows
from dpviz.claims.sentences import printed_in, with_printed
from dpviz.comparisons.mixed import CELLS_OF_MIXED_DATA, LARGEST_SHARE, SMALLEST_SHARE
from pages.transition_matrices import PRESETS
from pages.ui.navigation import TEXTS
from pages.ui.text import page_text

NAMED = re.compile(r"\{(\w+)\[(\w+)\][^{}]*\}")
USED = sorted({(path, *found) for path in TEXTS.glob("*.md") for found in NAMED.findall(path.read_text("utf-8"))})


@pytest.mark.parametrize(("path", "paper", "key"), USED, ids=[f"{path.stem} {key}" for path, _, key in USED])
def test_a_changed_record_changes_the_text(path: Path, paper: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page shows has the digits of the record, and other ones where the record has others."""
    text = path.read_text(encoding="utf-8")
    before = with_printed(text)
    number = printed_in(paper, key)
    assert isinstance(number, PrintedNumber)

    def changed(name: str) -> list[dict[str, str]]:
        is_record = name == f"{paper}_sentences"
        return [row | {"number": "987"} if is_record and row["key"] == key else row for row in printed_rows(name)]

    monkeypatch.setattr(sentences, "printed_rows", changed)
    assert "987" in with_printed(text)
    assert "987" not in before
    assert f"{number:,.0f}" in before or number.text in before


@pytest.mark.parametrize("path", sorted({path for path, *_ in USED}), ids=lambda path: path.stem)
def test_no_page_shows_the_name_of_a_record(path: Path) -> None:
    for section in re.findall(r"^## (.*)$", path.read_text("utf-8"), re.MULTILINE):
        assert not NAMED.search(page_text(path.stem, section))


def test_what_a_page_names_is_not_refuted() -> None:
    """Pages take these numbers as they are printed, so none may be one that differs from ours."""
    cited = {key: paper.cited for key, paper in PAPERS.items()}
    records = [record for record in read_full_run().records if not record.other]
    verdicts = {(record.paper, record.place, record.text): record.verdict for record in records}
    for _, paper, key in USED:
        (row,) = (row for row in printed_rows(f"{paper}_sentences") if row["key"] == key)
        place = row["source"].partition(", ")[2]
        assert verdicts[cited[paper], place, row["number"]] is not Agreement.DIFFERS, key


@pytest.mark.parametrize(("label", "place"), [("A&V Fig. 1/2 as printed", "Fig. 1"), ("A&V Fig. 3/4", "Fig. 3")])
def test_a_preset_that_is_called_a_figure_is_that_figure(label: str, place: str) -> None:
    shown = next(record.shown for record in read_full_run().records if record.place == place)
    assert {name: str(PRESETS[label][name]) for name in shown.settings} == shown.settings


def test_the_study_of_mixed_data_has_the_printed_shares() -> None:
    for share, key in ((SMALLEST_SHARE, "smallest"), (LARGEST_SHARE, "largest")):
        assert share / 1000 == printed_in("bowen_liu", key)
    assert CELLS_OF_MIXED_DATA.default == printed_in("bowen_liu", "cells")
