"""The words of a lesson, as its text file has them: a head, and below the name of each step what is said there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

from dpviz.teaching.texts import read_sections

MAX_WORDS = 45
"""Words that may stand above a picture, the question among them, and that a sentence on a guess may have."""

HEAD = frozenset({"number", "minutes", "answers", "stays"})
NO_VERDICTS = frozenset({"asks", "shows", "formula", "teacher"})
"""Parts of a step that are no sentences on a guess."""


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
        text = path.read_text(encoding="utf-8")
        title, _, lines = text.partition("## ")[0].partition("\n")
        if not title.startswith("# "):
            raise ValueError(f"{path.name} must begin with “# ” and the title of the lesson; got {title!r}.")
        pairs = (line.partition(":") for line in lines.splitlines() if line.strip())
        head = {name.strip(): value.strip() for name, _, value in pairs}
        if missing := HEAD - set(head):
            raise ValueError(f"The head of {path.name} must have {', '.join(sorted(missing))}.")
        steps = {name: StepScript(*section) for name, section in read_sections(text).items()}
        return cls(title[2:].strip(), MappingProxyType(head), MappingProxyType(steps))

    @property
    def number(self) -> int:
        """Place among the lessons."""
        return int(self.head["number"])
