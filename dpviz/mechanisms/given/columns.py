"""A column of a confidential table as somebody brings it: which cells hold a value, and which of them are numbers."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from dpviz.core.csv_text import NOT_FINITE, is_formula, is_number
from dpviz.core.limits import PILOT_LARGEST
from dpviz.core.plain import one_line
from dpviz.mechanisms.given.marks import Marks, marks_of, number_of

MISSING = frozenset({"", "na", "n/a", "nan", "null", ".", "-", "–"})  # What stands for no value, in small letters
_numbers_of_objects = itertools.count(1)


class PilotProblem(ValueError):
    """What keeps a file or a column from being pilot data, in a sentence that says where and what to do."""


class Quiet:
    """Prints as its kind, its sizes and a number of its own.

    What was computed may be kept by how its arguments print: two objects must not print alike, and a fingerprint of
    few values could be undone by trying all of them.
    """

    @cached_property
    def _own(self) -> int:
        return next(_numbers_of_objects)

    @property
    def _sizes(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes}, object {self._own})"


@dataclass(frozen=True, kw_only=True, repr=False)
class GivenColumn(Quiet):
    """A column as it was read: its `cells` without the blanks around them, and on which of the `lines` each begins."""

    name: str
    cells: tuple[str, ...]
    lines: tuple[int, ...]
    comma_separates: bool = True  # the values of the file
    decimal: str | None = None  # the mark that a reader has chosen

    @property
    def rows(self) -> int:
        """How many cells there are, with the missing ones."""
        return len(self.cells)

    @property
    def _sizes(self) -> str:
        return f"{quoted(self.name)}, {self.rows:,} rows"

    @cached_property
    def texts(self) -> Counter[str]:
        """How often each text occurs, without what stands for no value."""
        return Counter({text: often for text, often in Counter(self.cells).items() if text.lower() not in MISSING})

    @cached_property
    def texts_as_numbers(self) -> dict[str, float]:
        """The texts that are numbers, with their value."""
        found = {text: number_of(text, self.marks.decimal) for text in self.texts}
        return {text: number for text, number in found.items() if number is not None}

    @cached_property
    def marks(self) -> Marks:
        """Which mark is decimal in its numbers."""
        sniffed = marks_of(self.texts, self.comma_separates)
        return sniffed if self.decimal is None else replace(sniffed, decimal=self.decimal)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each value occurs, in order; 1 and 1.0 are one value where all are numbers, as are yes and YES.

        Of words that differ in capital letters alone, the most frequent stands for all.
        """
        counts: dict[str, int] = {}
        if not self.all_numbers:
            alike: dict[str, list[str]] = {}
            for text, _ in sorted(self.texts.items(), key=lambda item: (-item[1], item[0])):
                alike.setdefault(text.casefold(), []).append(text)
            return {
                texts[0]: sum(self.texts[text] for text in texts)
                for texts in sorted(alike.values(), key=lambda texts: texts[0])
            }
        names: dict[float, str] = {}
        for text, number in sorted(self.texts_as_numbers.items(), key=lambda item: (item[1], len(item[0]), item[0])):
            name = names.setdefault(number, text)
            counts[name] = counts.get(name, 0) + self.texts[text]
        return counts

    @property
    def all_numbers(self) -> bool:
        """Whether it holds values and every one is a number."""
        return len(self.texts_as_numbers) == len(self.texts) > 0

    @cached_property
    def missing(self) -> int:
        """How many cells hold no value: empty, NA, N/A, NaN, null, a point or a dash."""
        return self.rows - self.texts.total()

    @property
    def n(self) -> int:
        """How many cells hold a value."""
        return self.rows - self.missing

    @property
    def values(self) -> tuple[str, ...]:
        """The distinct values in order: by size where all are numbers, by their letters where not."""
        return tuple(self.counts)

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.counts)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the cells were read, in sentences; none where nothing has to be said."""
        notes = []
        if self.missing:
            hold, left_out = ("holds", "It is") if self.missing == 1 else ("hold", "They are")
            notes.append(
                f"{self.missing:,} of the {self.rows:,} cells of {quoted(self.name)} {hold} no value (empty, NA, NaN, "
                f"null, a point or a dash). {left_out} left out: n = {self.n:,}."
            )
        if self.all_numbers:
            notes += filter(None, [self.marks.said(quoted(self.name), self.texts)])
        elif self.distinct < len(self.texts):
            notes.append(
                f"Values of {quoted(self.name)} that differ in capital letters alone are counted as one: "
                f"{len(self.texts):,} ways of writing are {self.distinct:,} "
                f"{'value' if self.distinct == 1 else 'values'}."
            )
        return tuple(notes)

    @cached_property
    def formula(self) -> str | None:
        """The first text that a spreadsheet would evaluate."""
        return next((text for text in self.texts if text not in self.texts_as_numbers and is_formula(text)), None)

    @cached_property
    def no_number(self) -> str | None:
        """The first text that is no number of a size that is read."""
        return next(
            (text for text in self.texts if not abs(self.texts_as_numbers.get(text, math.inf)) <= PILOT_LARGEST), None
        )

    def problem(self, text: str, needed: str) -> PilotProblem:
        """Return what to raise where a cell that says `text` stands and something else is `needed`."""
        line = self.lines[self.cells.index(text)]
        return PilotProblem(f"The value of {quoted(self.name)} in line {line:,} {kind_of(text)}. {needed}")

    def check_values(self) -> None:
        """Raise a PilotProblem where every cell is missing."""
        if not self.n:
            raise PilotProblem(f"{quoted(self.name)} holds no value: all of its {self.rows:,} cells are missing.")


def quoted(name: str) -> str:
    """Return a name as a sentence shows it, in one line and cut where it is long."""
    return f"“{one_line(name)}”"


def kind_of(text: str) -> str:
    """Return what stands in a cell that is no number, without what it says."""
    if is_number(text):
        return "is too large"
    if NOT_FINITE.fullmatch(text):
        return "is infinite"
    if is_formula(text):
        return f"begins with “{text[0]}” as a formula does, and no formula is evaluated here"
    return "is no number"
