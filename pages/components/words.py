"""What pages say: the answer in a sentence, numbers with their meaning, tables, notes and problems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from dpviz.charts.html import answer_html, heading_html, listing_html, numbers_html, part_html, scrolled_html
from dpviz.core.digits import three_digits, three_digits_in_cells
from dpviz.core.plain import plain
from pages.components.spec import class_mode

if TYPE_CHECKING:
    from dpviz.claims.published import Erratum


class Html(str):
    """HTML for `st.html` as it is: in every other text that looks for indents, which takes long in a large one."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return self


def for_class(html: str) -> str:
    """A sentence as it is, or with three digits in class mode."""
    return three_digits(html) if class_mode() else html


def table_for_class(html: str) -> str:
    """A table as it is, or with three digits in every cell in class mode."""
    return three_digits_in_cells(html) if class_mode() else html


def answer(mark: str, sentence: str) -> str:
    """The page's answer: a word in a frame, then the sentence; `sentence` may hold ``<b>``."""
    return for_class(unparted(answer_html(mark, sentence)))


UNPARTED = re.compile(r"(?<=[\w)]) (?=[=±] )|(?<= [=±]) (?=[\w−∞<])|(?<=[\d∞]) (?=%)")
"""The spaces within "ε = 1", "31.4 ± 9.2" and "95 %": no line ends there."""


def unparted(words: str) -> str:
    r"""Words whose numbers stay on one line with their signs.

    >>> unparted("At ε = 1 it is 95 % of all.").split(" ")
    ['At', 'ε\xa0=\xa01', 'it', 'is', '95\xa0%', 'of', 'all.']
    """
    return UNPARTED.sub("\u00a0", words)


def page_answer(mark: str, sentence: str, short: str) -> str:
    """The answer of the whole page. On a narrow screen `mark` and `short` stay in sight above the controls.

    `short` says in one plain sentence of at most 15 words what `mark` is; in class mode it stands for `sentence`.
    """
    said = answer(mark, escape(short) if class_mode() else sentence)
    now = f'<div class="dpviz-now" aria-hidden="true"><b>{escape(mark)}</b> {escape(short)}</div>'
    return part_html("The answer") + said + for_class(unparted(now))


def foldable(name: str, html: str) -> str:
    """A table, which in class mode is folded under its name: the picture comes first there."""
    return f'<details class="dpviz-fold"><summary>{name}</summary>{html}</details>' if class_mode() else html


def numbers(*entries: tuple[str, str, str]) -> str:
    """Numbers side by side, each with its name above and its meaning below."""
    return table_for_class(numbers_html(entries))


def heading(text: str) -> None:
    """A heading inside the page."""
    st.html(heading_html(text))


def note(sentence: str) -> None:
    """An aside in the flow of the page; `sentence` may hold inline HTML."""
    st.html(note_html(sentence))


def note_html(sentence: str) -> str:
    """An aside; `sentence` may hold inline HTML."""
    return for_class(unparted(f'<p class="dpviz-note">{sentence}</p>'))


def problem(sentence: str) -> None:
    """Why something is not there, as plain text, in its place; what is refused while an answer stays, `refuse` says."""
    st.html(problem_html(sentence))


def problem_html(sentence: str) -> str:
    """What is wrong, which is announced; `sentence` is plain text."""
    return f'<p class="dpviz-problem" role="alert">{plain(sentence)}</p>'


def listing(head: list[str], rows: list[list[str]], caption: str, numeric: Collection[int] | None = None) -> None:
    """A small table of words and numbers; `numeric` columns, all but the first if None, are set to the right.

    Cells may hold inline HTML. On a phone a table with numbers becomes a list: each row's first cell, below it the
    numbers under their names.
    """
    table = listing_html(head, rows, range(1, len(head)) if numeric is None else numeric, table_for_class)
    st.html(Html(foldable(escape(caption), scrolled_html(caption, table))))


def audit_region(name: str, html: str) -> str:
    """A part of an audit, which can be scrolled."""
    return foldable(name, scrolled_html(name, html, "dpviz-scroll dpviz-audit"))


def show_errata(errata: Iterable[Erratum]) -> None:
    """What a paper prints and its own definitions contradict: where, which kind of slip, what is printed, what true."""
    heading("What the paper prints and its own definitions contradict")
    st.markdown("\n".join(f"- {one.told}" for one in errata))
