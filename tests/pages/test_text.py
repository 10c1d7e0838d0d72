"""What pages say: answers, tables that fold, plain sentences, numbers that stay together, and the files of texts."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.core.formatting import format_number, shorten_numbers
from pages.ui.navigation import TEXTS
from pages.ui.text import page_note, page_text, unbroken
from tests.pages.apptest import headline, mark, markup, plain_text, sound, texts

ROOT = Path(__file__).parents[2]
FILES = sorted(TEXTS.glob("*.md"))


def show(name: str, *, is_large: bool = False) -> AppTest:
    """What a function of this module draws, in class mode if `is_large`."""

    def script(name: str) -> None:
        from tests.pages import test_text

        getattr(test_text, name)()

    app = AppTest.from_function(script, kwargs={"name": name}, default_timeout=60)
    if is_large:
        app.query_params["class"] = "1"
    return sound(app.run())


def draw_answer() -> None:
    from pages import ui

    ui.answer("81.234 %", "Of 100 intervals <b>81.234</b> hold the truth, not 95 %.", "Only 81.234 % hold the truth.")


def draw_table() -> None:
    from pages import ui

    ui.table(["name", "value"], [["<b>a</b>", "1.23456"], ["b", "2"]], 'A "table" <x>')


def draw_problem() -> None:
    from pages import ui

    ui.problem("got <script>alert(1)</script> and [a](http://a.b) in $x$.")
    ui.note("An <b>aside</b> at ε = 1.23456.")
    ui.heading("Head & <line>")
    ui.numbers(("name", "1.23456", "meaning"))


def test_an_answer_is_a_mark_and_a_sentence_and_a_short_one_for_a_class() -> None:
    app = show("draw_answer")
    assert mark(app) == "81.234 %"
    assert headline(app) == "81.234 % Of 100 intervals 81.234 hold the truth, not 95 %."
    strip = re.search(r'<div class="dpviz-now" aria-hidden="true">(.*?)</div>', markup(app))
    assert strip and plain_text(strip[1]).split() == ["81.234", "%", "Only", "81.234", "%", "hold", "the", "truth."]
    large = show("draw_answer", is_large=True)
    assert headline(large) == "81.2 % Only 81.2 % hold the truth."


def test_a_table_is_named_and_folds_itself_for_a_class() -> None:
    usual, large = show("draw_table"), show("draw_table", is_large=True)
    for app in (usual, large):
        assert 'aria-label="A &#34;table&#34; &lt;x&gt;"' in markup(app) and "<td><b>a</b></td>" in markup(app)
    assert "<details" not in markup(usual) and "1.23456" in markup(usual)
    assert '<details class="dpviz-fold"><summary>A &quot;table&quot; &lt;x&gt;</summary>' in markup(large)
    assert "1.23456" not in markup(large) and "1.23" in markup(large)


def test_a_problem_is_plain_text_and_a_note_may_have_markup() -> None:
    app = show("draw_problem")
    assert "<script" not in markup(app) and 'role="alert"' in markup(app)
    assert any("got <script>alert(1)</script> and [a](http://a.b) in $x$." in text for text in texts(app))
    assert "<b>aside</b>" in markup(app) and "<line>" not in markup(app)
    assert "ε\u00a0=\u00a01.23456" in markup(app)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("At ε = 1 it is 95 % of all.", ["At", "ε=1", "it", "is", "95%", "of", "all."]),
        ("31.4 ± 9.2 %", ["31.4±9.2%"]),
        ("a loss of ε &#61; 0.599, when", ["a", "loss", "of", "ε&#61;0.599,", "when"]),
        ("δ(2.5) = 0.1 and x = −3, but a <b>b</b> = c", ["δ(2.5)=0.1", "and", "x=−3,", "but", "a", "<b>b</b>", "=c"]),
        ("p = ∞ or a == b", ["p=∞", "or", "a", "==", "b"]),
    ],
)
def test_numbers_stay_on_one_line_with_their_signs(text: str, parts: list[str]) -> None:
    assert [part.replace("\u00a0", "") for part in unbroken(text).split(" ")] == parts
    assert unbroken(text).replace("\u00a0", " ") == text


@pytest.mark.parametrize("digits", [4, 5, 6])
def test_no_number_is_rounded_twice_for_a_class(digits: int) -> None:
    """Three digits are those of the number itself, though they are taken from text that was rounded before."""
    rng = np.random.default_rng(1)
    halves = [float(f"{number}5e{power}") for number in rng.integers(101, 999, 200) for power in (-5, -3, -2, -1)]
    near = [half * (1 + side * 10.0**-place) for half in halves for side in (-1, 1) for place in (4, 6, 7, 9)]
    for number in [*near, *rng.uniform(0.001, 2000, 2000)]:
        shown = format_number(number, digits).replace(",", "")
        text = shorten_numbers(format_number(number, digits)).replace(",", "")
        places = len(text.partition(".")[2])
        assert len(text) <= len(shown)
        assert abs(float(text) - number) <= 0.5 * 10.0**-places * (1 + 1e-9) + (text == shown) * 10.0**-places


# The files of texts


def sections_of(file: Path) -> list[str]:
    return re.findall(r"^## (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)


def source_of(name: str) -> str:
    """The code that may ask for texts of a page."""
    folders = ["pages", "pages/details", "pages/room", "pages/ui"]
    return "".join(path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).glob("*.py")
                   if path.stem.startswith(name) or folder in ("pages/ui", "pages/room"))  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_text_beside_a_page_is_asked_for_and_no_other(file: Path) -> None:
    source = source_of(file.stem)
    sections = sections_of(file)
    assert len({*sections}) == len(sections)
    beginnings = tuple(re.findall(r"[\"']([\w ]{4,})\{", source))  # of names that are put together
    for section in sections:
        assert re.search(rf"[\"']{re.escape(section)}[\"']", source) or section.startswith(beginnings), section
    asked = re.findall(rf"page_(?:note|text)\(\s*[\"']{file.stem}[\"'],\s*[\"']([^\"'{{]+)[\"']", source)
    assert {*asked} <= {*sections}
    assert {*re.findall(r"\b_note\(\s*[\"']([^\"'{]+)[\"']", source)} <= {*sections} or file.stem == "published"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_section_is_read_whole(file: Path) -> None:
    for section in ["", *sections_of(file)]:
        text = page_text(file.stem, section)
        assert (text or not section) and "\n## " not in text and text == text.strip()


def test_a_section_that_is_missing_is_a_fault_and_braces_are_filled() -> None:
    with pytest.raises(KeyError):
        page_text("posterior", "no such section")
    name = next(name for name in sections_of(TEXTS / "coverage.md") if "{" not in page_text("coverage", name))
    assert page_note("coverage", name) == " ".join(page_text("coverage", name).split())
    assert "12,345" in page_note("posterior", "too_many", shown=12345, most=2)
