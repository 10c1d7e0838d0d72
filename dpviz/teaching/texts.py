"""Words apart from code: text files whose parts stand under headings, with numbers that are filled in."""

import re
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from string import Formatter
from typing import Any

from dpviz.core.formatting import format_invented_rows, format_number, format_percent

FORMATS: dict[str, Callable[[float], str]] = {
    "": lambda value: format_number(value, 6 if isinstance(value, int) else 3),
    "%": lambda value: format_percent(value, 3),
    "%2": lambda value: format_percent(value, 2),
    "points": lambda value: format_number(100 * value, 3),
    "invented": format_invented_rows,
}
"""How words write a number: ``{error:points}``; a text stays as it is."""

SEPARATE_LINES = "formula", "teacher", "numbers"
"""Parts whose lines are not joined: formulas, notes for teachers, rows of names, values and meanings."""


class _QuantityFormatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return value if isinstance(value, str) else FORMATS[format_spec](value)


def fill_text(text: str, values: Mapping[str, Any]) -> str:
    """Text with its numbers.

    Parameters
    ----------
    text : str
        With names in braces, and how to write them: ``{error:points}``, one of `FORMATS`.
    values : mapping of str to float or str
        By these names.

    Examples
    --------
    >>> fill_text("{n} people, {share:%}, off by {error:points} points", {"n": 1000, "share": 0.25, "error": 0.05})
    '1,000 people, 25 %, off by 5 points'
    """
    return _QuantityFormatter().vformat(text, (), values)


def read_texts(path: Path) -> dict[str, dict[str, str]]:
    """Return the sections of a file, ``## name``, each with its ``### parts``; ``text`` is what precedes those.

    Lines are joined, but those of `SEPARATE_LINES`.
    """
    sections = {}
    for section in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = section.partition("\n")
        parts = re.split(r"^### ", f"text\n{rest}", flags=re.MULTILINE)
        pairs = [(key.strip(), part) for key, _, part in (part.partition("\n") for part in parts)]
        sections[name.strip()] = {
            key: part.strip() if key in SEPARATE_LINES else " ".join(part.split()) for key, part in pairs
        }
    return sections


def inline_html(text: str) -> str:
    """Return a text as inline HTML: what stands between two stars is bold, between single ones is set off.

    >>> inline_html("**243** times, not *once* & for all")
    '<b>243</b> times, not <i>once</i> &amp; for all'
    """
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", bold)
