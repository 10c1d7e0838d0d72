"""HTML pieces of the pages: the answer in a sentence, numbers with their meaning, tables, notes and problems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from dpviz.core.digits import three_digits, three_digits_in_cells
from dpviz.core.plain import plain
from pages.components.spec import class_mode

if TYPE_CHECKING:
    from dpviz.claims.published import Record


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
    return for_class(f'<p class="dpviz-answer"><span class="dpviz-mark">{escape(mark)}</span> {sentence}</p>')


def page_answer(mark: str, sentence: str, short: str) -> str:
    """The answer of the whole page. On a narrow screen `mark` and `short` stay in sight above the controls.

    `short` says in one plain sentence of at most 15 words what `mark` is; in class mode it stands for `sentence`.
    """
    said = answer(mark, escape(short) if class_mode() else sentence)
    now = f'<div class="dpviz-now" aria-hidden="true"><b>{escape(mark)}</b> {escape(short)}</div>'
    return part_html("The answer") + said + for_class(now)


def foldable(name: str, html: str) -> str:
    """A table, which in class mode is folded under its name: the picture comes first there."""
    return f'<details class="dpviz-fold"><summary>{name}</summary>{html}</details>' if class_mode() else html


def numbers(*entries: tuple[str, str, str]) -> str:
    """Numbers side by side, each with its name above and its meaning below."""
    parts = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(meaning)}</dd></div>"
        for name, value, meaning in entries
    )
    return table_for_class(f'<dl class="dpviz-numbers">{"".join(parts)}</dl>')


def by_reason(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with their reasons, those of the same reason together, as inline HTML; nothing where there are none."""
    reasons: dict[str, list[str]] = {}
    for name, reason in pairs:
        reasons.setdefault(reason, []).append(f"<b>{escape(name)}</b>")
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def heading_html(text: str) -> str:
    """A heading inside the page, to stand in one piece with what follows or precedes it."""
    return f'<h2 class="dpviz-heading">{escape(text)}</h2>'


def part_html(name: str) -> str:
    """The heading of a part that its place tells apart for who sees it, for who does not."""
    return f'<h2 class="dpviz-part">{escape(name)}</h2>'


def heading(text: str) -> None:
    """A heading inside the page."""
    st.html(heading_html(text))


def note(sentence: str) -> None:
    """An aside in the flow of the page; `sentence` may hold inline HTML."""
    st.html(for_class(f'<p class="dpviz-note">{sentence}</p>'))


def problem(sentence: str) -> None:
    """What is wrong with an input and what is allowed, as plain text."""
    st.html(f'<p class="dpviz-problem" role="alert">{plain(sentence)}</p>')


def listing(head: list[str], rows: list[list[str]], caption: str, numeric: Collection[int] | None = None) -> None:
    """A small table of words and numbers; `numeric` columns, all but the first if None, are set to the right.

    Cells may hold inline HTML. On a phone a table with numbers becomes a list: each row's first cell, below it the
    numbers under their names.
    """
    columns = range(1, len(head)) if numeric is None else numeric

    def cell(tag: str, place: int, value: str) -> str:
        if place not in columns:
            return f"<{tag}>{value}</{tag}>"
        named = f' data-label="{escape(re.sub("<[^>]+>", "", head[place]))}"' if tag == "td" else ""
        return f"<{tag} class=num{named}>{value}</{tag}>"

    def cells(tag: str, values: list[str]) -> str:
        return "".join(cell(tag, place, value) for place, value in enumerate(values))

    body = table_for_class("".join(f"<tr>{cells('td', row)}</tr>" for row in rows))
    kind = "dpviz-list dpviz-stack" if columns else "dpviz-list"
    table = f'<table class="{kind}"><thead><tr>{cells("th", head)}</tr></thead><tbody>{body}</tbody></table>'
    name = escape(caption)
    region = f'<div class="dpviz-scroll" tabindex="0" role="region" aria-label="{name}">{table}</div>'
    st.html(Html(foldable(name, region)))


def audit_row(head: Sequence[str], title: str, cells: Sequence[str], mark: str, said: str, *, bad: bool) -> str:
    """Two rows of an audit: title, numbers by the names in `head`, and verdict; below them what is said of it."""
    named = zip(head[1:-1], cells, strict=True)
    numbers = "".join(f'<td class=num data-label="{name}">{value}</td>' for name, value in named)
    kind = " bad" if bad else ""
    first = f'<tr class="row{kind}"><td>{title}</td>{numbers}<td class="mark">{mark}</td></tr>'
    return f'{first}<tr class="said{kind}"><td colspan="{len(head)}">{said}</td></tr>'


def audit_table(head: Sequence[str], rows: Iterable[str]) -> str:
    """The table of an audit; all columns but the first and the last are numbers."""
    names = "".join(f"<th{' class=num' if name in head[1:-1] else ''}>{name}</th>" for name in head)
    return f'<table class="dpviz-list"><thead><tr>{names}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def audit_region(name: str, html: str) -> str:
    """A part of an audit, which can be scrolled."""
    region = f'<div class="dpviz-scroll dpviz-audit" tabindex="0" role="region" aria-label="{name}">{html}</div>'
    return foldable(name, region)


def show_errata(errata: Iterable[Record[str]]) -> None:
    """What a paper prints and its own definitions contradict: where, which kind of slip, what is printed, what true."""
    heading("What the paper prints and its own definitions contradict")
    st.markdown(
        "\n".join(f"- **{one.source.partition(', ')[2]}, {one.verdict}.** {one.printed} {one.ours}" for one in errata)
    )
