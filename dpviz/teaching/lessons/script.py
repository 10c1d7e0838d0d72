"""The words of a lesson, as its text file has them: a head, and below the name of each step what is said there."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

from dpviz.teaching.texts import read_sections


class StepScript(NamedTuple):
    """What a step says: the `text` above its picture, and parts by name.

    Of the parts ``asks`` is the question, ``shows`` stands below a picture that answers none, ``formula`` is folded,
    ``teacher`` is for who teaches; each of the rest is the sentence on a guess, by the verdict on it.
    """

    text: str
    parts: Mapping[str, str]


class LessonScript(NamedTuple):
    """What a text file says: the title, the head by name, and the steps by name in their order."""

    title: str
    head: Mapping[str, str]
    steps: Mapping[str, StepScript]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file."""
        text = path.read_text(encoding="utf-8")
        title, _, lines = text.partition("## ")[0].partition("\n")
        pairs = (line.partition(":") for line in lines.splitlines() if line.strip())
        head = {name.strip(): value.strip() for name, _, value in pairs}
        steps = {name: StepScript(*section) for name, section in read_sections(text).items()}
        return cls(title.removeprefix("# ").strip(), head, steps)

    @property
    def number(self) -> int:
        """Place among the lessons."""
        return int(self.head["number"])
