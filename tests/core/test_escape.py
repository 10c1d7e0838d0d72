"""Texts from outside are one line of letters, and no markup, no link, no icon and no formula."""

import csv
import html
import io
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.escape import JOINER, escape_markdown, escape_spreadsheet_cell, single_line
from dpviz.export.tables import to_csv

HOSTILE = [
    "<style>*{display:none}</style>",
    "<img src=//host/a.png>",
    "![](http://host/md.png)",
    "[word](javascript:alert(1))",
    "<http://host>",
    "http://host/auto",
    "www.host.org",
    "a@host.org",
    ":material/home: :smile: :red[word] :color[word]{foreground=red}",
    "$x^2$ `code` **bold** ~~struck~~ | a | # head",
    "&lt;b&gt; &#60;b&#62;",
    "</p><script>fetch('//host')</script>",
    '" onmouseover="fetch(1)',
    "\u202egnp.exe\u202c \u2066x\u2069",
    "a\r\n# head\n\n- list\x00\x1b[31m\x85\u2028",
    "\ud800 half",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_letters(text: str) -> None:
    made = escape_markdown(text)
    assert not re.search(r"[<>\"'`*_\[\](){}$|~\\!=:@/+-]", re.sub(r"&#\d+;", "", made))
    assert not re.search(r"#(?!\d+;)", made)
    shown = html.unescape(made)
    assert shown.replace(JOINER, "") == single_line(text, 4000)
    assert not re.search(r"https?://|www\.|:material|:smile|\w@\w", shown)
    made.encode()


def test_what_reads_as_numbers_and_words_stays_as_it_is() -> None:
    sentence = "Line 3 sums to 0.9, not to 1 (within 0.0001); 5 % are missing?"
    assert html.unescape(escape_markdown(sentence)) == sentence
    assert escape_markdown("0.5, 1; 2 %?") == "0.5, 1; 2 %?"


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text(max_size=60), st.integers(1, 50))
def test_every_text_is_a_line_of_visible_letters(text: str, longest: int) -> None:
    line = single_line(text, longest)
    assert len(line) <= longest + 2
    assert not {unicodedata.category(one) for one in line} & {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
    assert single_line(line, longest + 2) == line


def test_a_long_text_is_cut_whatever_stands_in_it() -> None:
    assert single_line("x" * 41) == "x" * 40 + " …"
    assert single_line("\u202e" * 10**7 + "x") == " …"


FORMULAS = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1", " =1", "=1", "＝1+1", "-", "+5 %"]
NUMBERS = ["-1.5", "+2", "-1e-300", "-inf", "nan", "−1.5", "m=1-5", "0,5"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_csv_begins_as_a_formula(text: str) -> None:
    assert escape_spreadsheet_cell(text) == "'" + text
    rows = list(csv.reader(io.StringIO(to_csv({text: [text, -1.5]}))))
    assert rows == [["'" + text], ["'" + text], ["-1.5"]]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_and_names_of_a_csv_stay(text: str) -> None:
    assert to_csv({"a": [text, -1.5]}) == f"a\n{text if ',' not in text else chr(34) + text + chr(34)}\n-1.5\n"
