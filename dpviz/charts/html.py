"""Answers, numbers and tables as HTML, in the classes of the style sheet of the pages."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from html import escape
from typing import Any


@cache
def macros(name: str) -> Any:
    """Macros of a template of this folder, whose values are plain text unless they are `Markup`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded with the first drawing

    environment = Environment(
        loader=PackageLoader("dpviz.charts", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(f"{name}.html").module


def answer_html(mark: str, sentence: str) -> str:
    """The answer of a page: a word in a frame, then the sentence, which may hold inline HTML."""
    return f'<p class="dpviz-answer"><span class="dpviz-mark">{escape(mark)}</span> {sentence}</p>'


def numbers_html(entries: Iterable[tuple[str, str, str]]) -> str:
    """Numbers side by side, each with its name above and its meaning below."""
    parts = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(meaning)}</dd></div>"
        for name, value, meaning in entries
    )
    return f'<dl class="dpviz-numbers">{"".join(parts)}</dl>'


def heading_html(text: str) -> str:
    """A heading inside a page, to stand in one piece with what follows or precedes it."""
    return f'<h2 class="dpviz-heading">{escape(text)}</h2>'


def part_html(name: str) -> str:
    """The heading of a part that its place tells apart for who sees it, for who does not."""
    return f'<h2 class="dpviz-part">{escape(name)}</h2>'


def by_reason(pairs: Iterable[tuple[str, str]]) -> str:
    """Names with their reasons, those of the same reason together, as inline HTML; nothing where there are none."""
    reasons: dict[str, list[str]] = {}
    for name, reason in pairs:
        reasons.setdefault(reason, []).append(f"<b>{escape(name)}</b>")
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def listing_html(
    head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Collection[int], shown: Callable[[str], str] = str
) -> str:
    """A small table of words and numbers, whose `numeric` columns are set to the right; `shown` is done to its rows.

    Cells may hold inline HTML. On a phone a table with numbers becomes a list: each row's first cell, below it the
    numbers under their names.
    """

    def cell(tag: str, place: int, value: str) -> str:
        if place not in numeric:
            return f"<{tag}>{value}</{tag}>"
        named = f' data-label="{escape(re.sub("<[^>]+>", "", head[place]))}"' if tag == "td" else ""
        return f"<{tag} class=num{named}>{value}</{tag}>"

    def cells(tag: str, values: Sequence[str]) -> str:
        return f"<tr>{''.join(cell(tag, place, value) for place, value in enumerate(values))}</tr>"

    kind = "dpviz-list dpviz-stack" if numeric else "dpviz-list"
    body = shown("".join(cells("td", row) for row in rows))
    return f'<table class="{kind}"><thead>{cells("th", head)}</thead><tbody>{body}</tbody></table>'


def scrolled_html(name: str, table: str, kind: str = "dpviz-scroll") -> str:
    """A table that can be scrolled, under its accessible name."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(name)}">{table}</div>'
