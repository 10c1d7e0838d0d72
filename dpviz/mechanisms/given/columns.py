"""A column of a confidential table as somebody brings it: which cells hold a value, and which of them are numbers."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from dpviz.core.csv_text import NOT_FINITE, is_formula, is_number
from dpviz.core.limits import PILOT_LARGEST
from dpviz.core.plain import one_line

MISSING = frozenset({"", "na", "n/a", "nan", "null", ".", "-", "–"})  # What stands for no value, in small letters
_numbers_of_objects = itertools.count(1)
MARK_NAMES = {".": "Points", ",": "Commas"}
OTHER_MARK = {".": ",", ",": "."}
GROUPED = {
    mark: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(OTHER_MARK[mark])}\d{{3}})+(?:{re.escape(mark)}\d*)?"
    ).fullmatch
    for mark in OTHER_MARK
}
"""Numbers whose thousands are separated, by their decimal mark."""


@dataclass(frozen=True)
class Marks:
    """The `decimal` mark of a column; is there `doubt` whether its only mark separates thousands instead?"""

    decimal: str
    doubt: bool = False

    def said(self, name: str, texts: Iterable[str]) -> str:
        """Return how the marks in a column of that name are read, in a sentence; nothing where it has none to tell of.

        >>> Marks(",").said("“x”", ["1.234,5"])
        'Commas in “x” are read as decimal commas and points as thousands separators.'
        """
        used = {mark for mark in MARK_NAMES for text in texts if mark in text}
        grouping = OTHER_MARK[self.decimal] in used
        commas = self.decimal == "," and "," in used
        if self.doubt:
            (mark,) = used
            readings = (f"decimal {MARK_NAMES[mark].lower()}", "1.5"), ("thousands separators", "1,500")
            (read, value), (other, instead) = readings if mark == self.decimal else readings[::-1]
            return (
                f"{MARK_NAMES[mark]} in {name} are read as {read}: 1{mark}500 is {value}. Each of them stands before "
                f"three digits, so that they may be {other} as well, and 1{mark}500 may be {instead}."
            )
        if commas and grouping:
            return f"Commas in {name} are read as decimal commas and points as thousands separators."
        if grouping:
            return f"{MARK_NAMES[OTHER_MARK[self.decimal]]} in {name} are read as thousands separators."
        return f"Commas in {name} are read as decimal commas." if commas else ""


def number_of(text: str, decimal: str) -> float | None:
    """Return the number that a text is with this decimal mark; None where it is none.

    >>> number_of("1.500", "."), number_of("1.500", ","), number_of("1.5", ","), number_of("−2,5", ",")
    (1.5, 1500.0, None, -2.5)
    """
    plain = text.replace("−", "-")
    if OTHER_MARK[decimal] in plain:
        if not GROUPED[decimal](plain):
            return None
        plain = plain.replace(OTHER_MARK[decimal], "")
    plain = plain.replace(decimal, ".")
    return float(plain) if is_number(plain) else None


def marks_of(texts: Iterable[str], comma_separates: bool) -> Marks:
    """Return how the numbers among these texts are probably written.

    What most of them can be decides. Where all marks stand before three digits, all can be both: they separate
    thousands where some numbers have no mark and all of these are below 1,000, or where they are commas in a file of
    commas.

    >>> marks_of(["1.500", "2.25"], False), marks_of(["1.500", "950"], False), marks_of(["1.500", "2.300"], False)
    (Marks(decimal='.', doubt=False), Marks(decimal=',', doubt=True), Marks(decimal='.', doubt=True))
    """
    every = list(texts)
    found = {decimal: [number_of(text, decimal) for text in every] for decimal in OTHER_MARK}
    known = {decimal: sum(one is not None for one in numbers) for decimal, numbers in found.items()}
    if known["."] != known[","] or found["."] == found[","]:
        return Marks("," if known[","] > known["."] else ".")
    marked = [text for text in every if "." in text or "," in text]
    unmarked = [abs(one) for text, one in zip(every, found["."], strict=True) if text not in marked and one is not None]
    if known["."] < len(every) or len({mark for mark in OTHER_MARK for text in marked if mark in text}) > 1:
        return Marks(".")
    mark = "." if any("." in text for text in marked) else ","
    thousands = (bool(unmarked) and max(unmarked) < 1000) or (mark == "," and comma_separates)
    return Marks(OTHER_MARK[mark] if thousands else mark, doubt=True)


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
        numbers, alike = self.texts_as_numbers if self.all_numbers else {}, dict[object, list[str]]()
        for text in sorted(self.texts, key=lambda one: (len(one) if numbers else -self.texts[one], one)):
            alike.setdefault(numbers[text] if numbers else text.casefold(), []).append(text)
        counts = {texts[0]: sum(self.texts[text] for text in texts) for texts in alike.values()}
        return dict(sorted(counts.items(), key=lambda item: (numbers.get(item[0], 0.0), item[0])))

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
