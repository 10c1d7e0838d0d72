"""What pages say of the papers comes from the records: no number stands there that a record does not give."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpviz.claims import sentences
from dpviz.claims.full_run import read_full_run
from dpviz.claims.papers import PAPERS
from dpviz.claims.published import Agreement, PrintedNumber, printed_rows
from dpviz.claims.sentences import printed_in, with_printed
from dpviz.comparisons.mixed import CELLS_OF_MIXED_DATA, LARGEST_SHARE, SMALLEST_SHARE
from pages.components.navigation import EVERY_PAGE
from pages.transition_matrices.controls import PRESETS

HOUSE = Path(__file__).parent.parent
RECORDS = HOUSE / "dpviz" / "claims"
FILES = [
    path
    for folder in ("pages", "dpviz")
    for path in sorted((HOUSE / folder).rglob("*"))
    if path.suffix in (".py", ".md", ".csv") and RECORDS not in path.parents
]
NAMED = re.compile(r"\{(\w+)\[(\w+)\][^{}]*\}")
OF_A_PAPER = re.compile(
    r"\bprint(s|ed)\b|\bas published\b|\bthe (papers?|thesis|text|caption)\b|\bhers?\b"
    r"|\b(Charest|Zheng|Vilhuber|Liu)(’s|'s| (\w+ )?(find|state|say|use|claim|divide|simulate)s?)\b",
    re.IGNORECASE,
)
PLACE = re.compile(
    r"\(?\b(19|20)\d\d\b\)?|\b(Tables?|Figures?|Figs?\.|Theorems?|Corollar\w+|Lemma|Propositions?|Definitions?|Algorithms?"
    r"|stud(y|ies)|chapters?|sections?|equations?|§) ?\(?\d[\d.]*\w?\)?((,| and| to|–|/) ?\(?\d[\d.]*\w?\)?)*",
    re.IGNORECASE,
)
HARMLESS = re.compile(r"\b[01]\b|[a-zA-Zα-ωΑ-Ω]\d+|95 %|2-D")  # A 0 or 1, a name such as n1, a level


def said_in(path: Path) -> Iterator[str]:
    """Every sentence of a file that a page may show; what Python computes stands in braces, and docstrings are left."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        parts = re.split(r"\n\n|\n(?=#|- )", text)
    elif path.suffix == ".csv":
        parts = [cell for row in csv.reader(text.splitlines()) for cell in row]
    else:
        parts = list(strings_of(ast.parse(text)))
    for part in parts:
        yield from re.split(r"(?<=[.:;?!])\s+(?=\W*[A-ZΑ-Ω{])", " ".join(part.split()))


def strings_of(tree: ast.Module) -> Iterator[str]:
    inner = {
        id(part)
        for node in ast.walk(tree)
        for part in (node.values if isinstance(node, ast.JoinedStr) else [getattr(node, "value", None)])
        if isinstance(node, (ast.JoinedStr, ast.Expr))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)  # type: ignore
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value


def stated(sentence: str) -> str:
    """What is left of a sentence about a paper without the places in it, and what records give; empty of another."""
    if not OF_A_PAPER.search(sentence):
        return ""
    return HARMLESS.sub("", PLACE.sub("", re.sub(r"\{[^{}]*\}", "", sentence)))


def test_no_sentence_about_a_paper_has_a_number_of_its_own() -> None:
    wrong = [
        f"{path.relative_to(HOUSE)}: {one}" for path in FILES for one in said_in(path) if re.search(r"\d", stated(one))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The table prints n = 10 and 100.",
        "The shares rise from 0.7 % to 7.6 %, as printed.",
        "Charest (2011), Table 3, as the text says for ε = 2.",
        "The printed 0.0006.",
        "Theorem 7.8 of the thesis asks for 2.084.",
        "Liu's 24 draws.",
    ],
)
def test_a_number_that_no_record_gives_is_found(sentence: str) -> None:
    assert re.search(r"\d", stated(sentence))


@pytest.mark.parametrize("sentence", ["The table has {liu[draws]}, as printed in Theorem 7.8.", "Ours is 0.5 here."])
def test_what_is_no_such_number_is_not(sentence: str) -> None:
    assert not re.search(r"\d", stated(sentence))


USED = sorted(
    {(path, *found) for path in FILES if path.suffix == ".md" for found in NAMED.findall(path.read_text("utf-8"))}
)


@pytest.mark.parametrize(("path", "paper", "key"), USED, ids=[f"{one[0].parent.name} {one[2]}" for one in USED])
def test_a_changed_record_changes_the_sentence(
    path: Path, paper: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page shows has the digits of the record, and other ones where the record has others."""
    text = path.read_text(encoding="utf-8")
    before, number = with_printed(text), printed_in(paper, key)
    assert isinstance(number, PrintedNumber)

    def changed(name: str) -> list[dict[str, str]]:
        mine = name == f"{paper}_sentences"
        return [row | {"number": "987"} if mine and row["key"] == key else row for row in printed_rows(name)]

    monkeypatch.setattr(sentences, "printed_rows", changed)
    after = with_printed(text)
    assert "987" in after
    assert "987" not in before
    assert f"{number:,.0f}" in before or number.text in before


def test_pages_show_no_name_of_a_record() -> None:
    assert len(USED) >= 12
    shown = {path for path, *_ in USED}
    for page in EVERY_PAGE:
        for path in shown & set(page.file.parent.glob("*.md")):
            assert not NAMED.search(page.text(path.stem)), path
            shown.discard(path)
    assert not shown


def test_what_a_page_names_is_not_refuted() -> None:
    """Pages take these numbers as they are printed, so that none may be one that differs from ours."""
    cited = {key: paper.cited for key, paper in PAPERS.items()}
    verdicts = {(one.paper, one.place, one.text): one.verdict for one in read_full_run().records if not one.other}
    for _, paper, key in USED:
        (row,) = (one for one in printed_rows(f"{paper}_sentences") if one["key"] == key)
        place = row["source"].partition(", ")[2]
        assert verdicts[cited[paper], place, row["number"]] is not Agreement.DIFFERS, key


@pytest.mark.parametrize(("label", "place"), [("A&V Fig. 1/2 as printed", "Fig. 1"), ("A&V Fig. 3/4", "Fig. 3")])
def test_a_preset_that_is_called_a_figure_is_that_figure(label: str, place: str) -> None:
    shown = next(one.shown for one in read_full_run().records if one.place == place)
    assert {name: str(value) for name, value in PRESETS[label].items()} == shown.settings


def test_the_study_of_mixed_data_has_the_printed_shares() -> None:
    for share, key in ((SMALLEST_SHARE, "smallest"), (LARGEST_SHARE, "largest")):
        assert share / 1000 == printed_in("bowen_liu", key)
    assert CELLS_OF_MIXED_DATA.default == printed_in("bowen_liu", "cells")
