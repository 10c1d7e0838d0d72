"""The words of a lesson, as its text file has them: a head, and below the name of each step what is said there."""

import re
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Self

LONGEST_WORDS = 45
"""Words that may stand above a picture, what is asked among them, and that a sentence on a guess may have."""

_NO_VERDICT = frozenset({"asks", "shows", "formula", "teacher"})
"""Names of parts of a step that are no sentences on a guess."""


def counted_words(text: str) -> int:
    """Return the number of words of a text: what is set apart by spaces and has a letter or a digit.

    >>> counted_words("Five people – **one** said yes: 25 %.")
    6
    """
    return sum(bool(re.search(r"\w", one)) for one in text.split())


def words_html(text: str) -> str:
    """Return a text as inline HTML: what stands between two stars is bold, between single ones is set off.

    >>> words_html("**243** times, not *once* & for all")
    '<b>243</b> times, not <i>once</i> &amp; for all'
    """
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False))
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", bold)


@dataclass(frozen=True)
class StepWords:
    """What one step says: `text` stands above its picture, `parts` are what else is said, by name.

    Of the parts ``asks`` is the question, ``shows`` stands below a picture that is no answer to one, ``formula`` is
    folded, ``teacher`` is for who teaches; each other one is the sentence on a guess, by the verdict on it.
    """

    text: str
    parts: MappingProxyType[str, str]

    @property
    def verdicts(self) -> frozenset[str]:
        """The verdicts on guesses that it has a sentence for."""
        return frozenset(self.parts) - _NO_VERDICT

    def said(self, part: str, numbers: dict[str, str]) -> str:
        """Return a part with its numbers, or nothing where there is no such part."""
        return self.parts.get(part, "").format(**numbers)


@dataclass(frozen=True)
class LessonWords:
    """What a text file says: the title, the head by name, and the steps by name in their order."""

    title: str
    head: MappingProxyType[str, str]
    steps: MappingProxyType[str, StepWords]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the words of a file; a ValueError says what of its form is missing."""
        text = path.read_text(encoding="utf-8")
        first, *steps = re.split(r"^## ", text, flags=re.MULTILINE)
        title, _, lines = first.partition("\n")
        if not title.startswith("# "):
            raise ValueError(f"{path.name} must begin with “# ” and the title of the lesson; got {title!r}.")
        pairs = (line.partition(":") for line in lines.splitlines() if line.strip())
        head = {name.strip(): said.strip() for name, _, said in pairs}
        if missing := {"number", "minutes", "answers", "stays"} - set(head):
            raise ValueError(f"The head of {path.name} must have {', '.join(sorted(missing))}.")
        return cls(title[2:].strip(), MappingProxyType(head), MappingProxyType(dict(map(_step, steps))))

    @cached_property
    def number(self) -> int:
        """Its place among the lessons."""
        return int(self.head["number"])


def _step(text: str) -> tuple[str, StepWords]:
    own, *parts = re.split(r"^### ", text, flags=re.MULTILINE)
    name, _, words = own.partition("\n")
    pairs = (part.partition("\n") for part in parts)
    found = {key.strip(): _in_one_line(key.strip(), said) for key, _, said in pairs}
    return name.strip(), StepWords(_in_one_line("", words), MappingProxyType(found))


def _in_one_line(key: str, text: str) -> str:
    """A paragraph without the breaks of its lines; formulas and notes for teachers keep theirs."""
    return text.strip() if key in ("formula", "teacher") else " ".join(text.split())
