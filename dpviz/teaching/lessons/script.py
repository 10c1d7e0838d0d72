"""The words of a lesson, as its text file has them: a head, and below the name of each step what is said there."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any, Self

from dpviz.core.formatting import format_invented_rows, format_number, format_percent

MAX_WORDS = 45
"""Words that may stand above a picture, the question among them, and that a sentence on a guess may have."""

HEAD = frozenset({"number", "minutes", "answers", "stays"})
NO_VERDICTS = frozenset({"asks", "shows", "formula", "teacher"})
"""Parts of a step that are no sentences on a guess."""

FORMATS: dict[str, Callable[[float], str]] = {
    "": lambda value: format_number(value, 6 if isinstance(value, int) else 3),
    "%": lambda value: format_percent(value, 3),
    "points": lambda value: format_number(100 * value, 3),
    "invented": format_invented_rows,
}
"""How words write a number: ``{error:points}``; a text stays as it is."""


class QuantityFormatter(Formatter):
    """Fills the numbers of a lesson into its words."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return value if isinstance(value, str) else FORMATS[format_spec](value)


def count_words(text: str) -> int:
    """Return the number of words of a text: what is set apart by spaces and has a letter or a digit.

    >>> count_words("Five people – **one** said yes: 25 %.")
    6
    """
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def inline_html(text: str) -> str:
    """Return a text as inline HTML: what stands between two stars is bold, between single ones is set off.

    >>> inline_html("**243** times, not *once* & for all")
    '<b>243</b> times, not <i>once</i> &amp; for all'
    """
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", bold)


@dataclass(frozen=True)
class StepScript:
    """What a step says: the `text` above its picture, and parts by name.

    Of the parts ``asks`` is the question, ``shows`` stands below a picture that answers none, ``formula`` is folded,
    ``teacher`` is for who teaches; each other one is the sentence on a guess, by the verdict on it.
    """

    text: str
    parts: Mapping[str, str]

    @property
    def verdicts(self) -> frozenset[str]:
        """Verdicts on guesses that it has a sentence for."""
        return frozenset(self.parts) - NO_VERDICTS


@dataclass(frozen=True)
class LessonScript:
    """What a text file says: the title, the head by name, and the steps by name in their order."""

    title: str
    head: Mapping[str, str]
    steps: Mapping[str, StepScript]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file; a ValueError says what of its form is missing."""
        start, *steps = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        title, _, lines = start.partition("\n")
        if not title.startswith("# "):
            raise ValueError(f"{path.name} must begin with “# ” and the title of the lesson; got {title!r}.")
        pairs = (line.partition(":") for line in lines.splitlines() if line.strip())
        head = {name.strip(): text.strip() for name, _, text in pairs}
        if missing := HEAD - set(head):
            raise ValueError(f"The head of {path.name} must have {', '.join(sorted(missing))}.")
        return cls(title[2:].strip(), MappingProxyType(head), MappingProxyType(dict(map(_read_step, steps))))

    @property
    def number(self) -> int:
        """Place among the lessons."""
        return int(self.head["number"])


def _read_step(text: str) -> tuple[str, StepScript]:
    """Read the name and the words of a step; formulas and notes for teachers keep their lines."""
    start, *parts = re.split(r"^### ", text, flags=re.MULTILINE)
    name, _, words = start.partition("\n")
    pairs = ((key.strip(), part) for key, _, part in (part.partition("\n") for part in parts))
    texts = {key: part.strip() if key in ("formula", "teacher") else " ".join(part.split()) for key, part in pairs}
    return name.strip(), StepScript(" ".join(words.split()), MappingProxyType(texts))
