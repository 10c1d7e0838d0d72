"""What pages say: the answer, notes, numbers with their meaning, tables, and the texts in ``pages/texts``."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from html import escape

import streamlit as st

from dpviz.charts.html import fragment
from dpviz.core.escape import escape_markdown
from dpviz.core.formatting import format_number, shorten_numbers
from dpviz.published.records import fill_in_printed
from pages.ui.navigation import TEXTS
from pages.ui.url import class_mode, current_page

# The spaces within "ε = 1", "31.4 ± 9.2" and "95 %": no line ends there. Escaped text has &#61; for the sign
UNBROKEN = re.compile(r"(?<=[\w)]) (?=[=±] |&#61; )|(?:(?<= [=±])|(?<= &#61;)) (?=[\w−∞<])|(?<=[\d∞]) (?=%)")


def answer(mark: str, sentence: str, short: str) -> None:
    """Draw the answer of a page: a word or a number in a frame, and a sentence that may hold inline HTML.

    `short` is the same in at most 15 words of plain text: on a projector, and on a phone above the controls.
    """
    text = escape(short) if class_mode() else sentence
    strip = f'<div class="dpviz-now" aria-hidden="true"><b>{escape(mark)}</b> {escape(short)}</div>'
    part = fragment("heading", "The answer", "part")
    st.html(part + section_answer(mark, text) + _for_reader(strip))


def section_answer(mark: str, sentence: str) -> str:
    """Answer of a part of a page as HTML: a word in a frame, then a sentence that may hold inline HTML."""
    return _for_reader(fragment("answer", mark, sentence))


def note(sentence: str, kind: str = "dpviz-note") -> None:
    """Draw an aside, or another paragraph by its CSS class; `sentence` may hold inline HTML."""
    st.html(_for_reader(f'<p class="{kind}">{sentence}</p>'))


def problem(sentence: str) -> None:
    """Say in plain text why something is not there, in its place."""
    st.html(f'<p class="dpviz-problem" role="alert">{escape_markdown(sentence)}</p>')


def heading(text: str) -> None:
    """Draw a heading inside the page."""
    st.html(fragment("heading", text))


def numbers(*entries: tuple[str, str, str]) -> None:
    """Draw numbers side by side, each with its name above and its meaning below."""
    st.html(_for_reader(fragment("numbers", entries)))


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, numeric: Collection[int] | None = None
) -> None:
    """Draw a small table, which is folded away in class mode, with its accessible name.

    Cells may hold inline HTML; `numeric` columns are set to the right, all but the first if None.
    """
    columns = range(1, len(head)) if numeric is None else numeric
    html_table(fragment("listing", head, list(rows), columns), caption)


def html_table(html: str, caption: str, kind: str = "dpviz-scroll") -> None:
    """Draw a table that is HTML already, as `table` does; `kind` is the CSS class around it."""
    scrolled = fragment("scrolled", caption, html, kind)
    if class_mode():
        scrolled = f'<details class="dpviz-fold"><summary>{escape(caption)}</summary>{scrolled}</details>'
    st.html(_for_reader(scrolled))


def unbroken(text: str) -> str:
    r"""Text whose numbers stay on one line with their signs.

    >>> unbroken("At ε = 1 it is 95 % of all.").split(" ")
    ['At', 'ε\xa0=\xa01', 'it', 'is', '95\xa0%', 'of', 'all.']
    """
    return UNBROKEN.sub("\u00a0", text)


@cache
def page_sections(page: str) -> dict[str, str]:
    """Sections of ``pages/texts/<page>.md`` by their headings; what stands before the first has none."""
    first, *parts = f"\n{(TEXTS / f'{page}.md').read_text(encoding='utf-8')}".split("\n## ")
    sections = {name: text.strip() for name, _, text in (part.partition("\n") for part in parts)}
    return {"": first.strip(), **sections}


@cache
def page_text(page: str, section: str = "") -> str:
    """Markdown of a section of a page's text, where what papers print stands in the places of its names."""
    return fill_in_printed(page_sections(page)[section])


def page_note(page: str, section: str, **values: object) -> str:
    """A section of a page's text as one paragraph, with `values` in the places of their names in braces.

    A float is written with up to six digits; an int has the format that the text gives it, as ``{n:,}``.
    """
    texts = {name: format_number(value) if isinstance(value, float) else value for name, value in values.items()}
    return " ".join(page_text(page, section).split()).format(**texts)


def words(section: str, **values: object) -> str:
    """A section of the text of the current page, see `page_note`."""
    return page_note(current_page().module, section, **values)


def _for_reader(html: str) -> str:
    """HTML with numbers that stay on one line; in class mode with three digits, which are read from afar."""
    return unbroken(shorten_numbers(html) if class_mode() else html)
