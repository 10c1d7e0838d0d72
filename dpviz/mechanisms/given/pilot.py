"""What a column of a curator's own file suggests for a design: n, the share of ones, bounds.

What is read here is confidential. Sentences name lines and columns and never quote a cell, and objects print as a name
and sizes, so that neither a message nor a log repeats what somebody answered.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.csv_text import NOT_FINITE, decoded, is_formula, is_number, table_of
from dpviz.core.limits import LARGEST_CELLS, PILOT_BYTES, PILOT_COLUMNS, PILOT_LARGEST, PILOT_ROWS
from dpviz.core.numerics.round_bounds import round_bounds
from dpviz.core.parameters import readable, shown
from dpviz.core.plain import enumerated
from dpviz.mechanisms.given.facts import CategoryFacts, Facts, NumberFacts, ProportionFacts, Quiet, quoted
from dpviz.mechanisms.given.marks import Marks, marks_of, number_of

__all__ = ["CategoryFacts", "Column", "Facts", "NumberFacts", "PilotFile", "ProportionFacts", "read_columns", "warning"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", ".", "-", "–"})  # What stands for no value, in small letters
LONGEST_SCALE = 10  # Steps of a rating
WORDS_FOR_ONE = "1", "yes", "true", "y", "t", "ja"  # The first of them counts as a one unless the reader chooses
PILOT_FITS = f"Keep the columns that you need: one of {PILOT_ROWS:,} values fits."


class PilotProblem(ValueError):
    """What keeps a file or a column from being pilot data, in a sentence that says where and what to do."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Column(Quiet):
    """A column as it was read, and what it says read as a share of one value or as numbers.

    Its `cells` are without the blanks around them, and each begins on one of the `lines`.
    """

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

    @property
    def categorical(self) -> bool:
        """Whether it can be read as categories."""
        return 2 <= self.distinct <= LARGEST_CELLS and self.formula is None

    @property
    def two_valued(self) -> bool:
        """Whether it can be read as yes or no."""
        return self.distinct == 2 and self.categorical

    @property
    def numeric(self) -> bool:
        """Whether it can be read as numbers."""
        return self.n > 1 and self.no_number is None

    @property
    def one(self) -> str:
        """The value that is counted as a one unless another is chosen: 1, yes or true, else the second in order."""
        self.check_values()
        folded = {value.lower(): value for value in self.values}
        return next((folded[word] for word in WORDS_FOR_ONE if word in folded), self.values[min(1, self.distinct - 1)])

    @checked()
    def proportion(self, one: str | None = None) -> ProportionFacts:
        """Return the share of `one` among two values, or among categories, where it must be said; or a PilotProblem."""
        self._check_categories()
        if one is None and not self.two_valued:
            raise PilotProblem(
                f"{quoted(self.name)} holds {self.distinct:,} distinct values; say which of them counts as a one."
            )
        chosen = self.one if one is None else one
        if chosen not in self.counts:
            raise PilotProblem(
                f"one must be one of the {self.distinct:,} values of {quoted(self.name)}, written as there."
            )
        share = self.counts[chosen] / self.n
        return ProportionFacts(**self._in_short, one=chosen, share=share, others=self.distinct - 1)

    def categories(self) -> CategoryFacts:
        """Return the number of categories, or raise a PilotProblem."""
        self._check_categories()
        return CategoryFacts(**self._in_short, categories=self.distinct)

    @property
    def _in_short(self) -> dict[str, Any]:
        """What every reading says."""
        return {"column": self.name, "n": self.n, "missing": self.missing}

    def numbers(self) -> NumberFacts:
        """Return the extremes, mean, standard deviation and suggested bounds, or raise a PilotProblem."""
        self.check_values()
        if self.no_number is not None:
            raise self.problem(
                self.no_number,
                f"Every value must be a number from −{readable(PILOT_LARGEST)} to {readable(PILOT_LARGEST)}, all of "
                "them with the same decimal mark; leave a missing one empty.",
            )
        if self.n == 1:
            raise PilotProblem(f"{quoted(self.name)} holds a single number; a mean and its spread need at least two.")
        found = np.repeat(list(self.texts_as_numbers.values()), [self.texts[text] for text in self.texts_as_numbers])
        smallest, largest = float(found.min()), float(found.max())
        spread = largest - smallest
        deviation = spread * float(np.std((found - smallest) / spread, ddof=1)) if spread else 0.0
        mean, whole = min(max(float(found.mean()), smallest), largest), bool(np.all(found == np.rint(found)))
        low, high, step = round_bounds(smallest, largest, whole=whole)
        rating = whole and self._is_rating(smallest, largest)
        if rating:
            low, high, step = smallest, largest, 1.0
        apart = (found - mean) / spread if spread else np.zeros(1)
        square = float(np.mean(apart**2)) or 1.0
        return NumberFacts(
            **self._in_short,
            smallest=smallest,
            largest=largest,
            mean=mean,
            standard_deviation=deviation,
            low=low,
            high=high,
            step=step,
            rating=rating,
            skewness=float(np.mean(apart**3)) / square**1.5,
            excess=float(np.mean(apart**4)) / square**2 - 3,
        )

    def _is_rating(self, smallest: float, largest: float) -> bool:
        """Whether whole numbers are the steps of a short scale, all of which occur, and both ends more than once."""
        often = list(self.counts.values())
        steps = largest - smallest
        return 0 < steps <= LONGEST_SCALE and self.distinct == steps + 1 and min(often[0], often[-1]) > 1

    def _check_categories(self) -> None:
        self.check_values()
        if self.formula is not None:
            raise self.problem(self.formula, "Save the values in its place, or put a letter before a text.")
        if not self.categorical:
            count = "a single distinct value" if self.distinct == 1 else f"{self.distinct:,} distinct values"
            raise PilotProblem(
                f"{quoted(self.name)} holds {count}; categories are read where there are 2 to {LARGEST_CELLS:,}."
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class PilotFile(Quiet):
    """The columns of a file in their order, and notes on how it was read."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are below the header."""
        return self.columns[0].rows

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def _sizes(self) -> str:
        return f"{len(self.columns):,} columns, {self.rows:,} rows"

    @checked()
    def column(self, name: str) -> Column:
        """Return the column of this name, or raise a PilotProblem."""
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            raise PilotProblem(f"name must be one of the file's {len(self.columns):,} columns; got {quoted(name)}.")
        return found


@checked()
def read_columns(content: bytes | str) -> PilotFile:
    r"""Return the columns of a CSV with a header, a text or the bytes of a file, or raise a PilotProblem.

    Comma, semicolon or tab between values; UTF-8, UTF-16 with its mark, or else Windows-1252, with a note. Who shows
    the result keeps it for one reader: a cache that readers share would hold the file longer than it is needed.

    >>> read_columns("age;smoker\n17;no\n41;yes").names
    ('age', 'smoker')
    """
    text, notes = decoded(content, PILOT_BYTES, PILOT_FITS, PilotProblem)
    names, rows, lines, separator = table_of(text, PILOT_ROWS, PILOT_COLUMNS, PILOT_FITS, PilotProblem)
    cells = list(zip(*rows, strict=True))
    _check_names(names, cells)
    unnamed = [place for place, name in enumerate(names, start=1) if not name]
    if unnamed:
        places = enumerated(f"{place:,}" for place in unnamed[:3]) + (" and others" if len(unnamed) > 3 else "")
        notes += (f"Left out, because the first line gives no name: column {places}. Write a name above to use it.",)
    held: dict[str, Any] = {"lines": tuple(lines), "comma_separates": separator == ","}
    columns = (Column(name=name, cells=one, **held) for name, one in zip(names, cells, strict=True) if name)
    return PilotFile(columns=tuple(columns), notes=notes)


def _check_names(names: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Raise a PilotProblem where the first line does not name the columns, each by its own name."""
    if all(is_number(name) or name in one for name, one in zip(names, cells, strict=True) if name):
        raise PilotProblem(
            "The first line holds values and no names, which would be lost. Write a line with the name of every column "
            "above it."
        )
    for place, name in enumerate(names, start=1):
        first = names.index(name) + 1
        if name and first != place:
            raise PilotProblem(
                f"The name {quoted(name)} stands above columns {first:,} and {place:,}. Every column needs its own "
                "name: rename one of them."
            )
        if is_formula(name):
            raise PilotProblem(
                f"The name of column {place:,} begins with “{name[0]}” as a formula does. A formula is never evaluated "
                "here: give the column another name."
            )


@checked()
def warning(facts: Facts, taken: Sequence[str] | None = None) -> str:
    r"""Return what it means to use `taken` of the facts, all of them unless named, in a design.

    >>> warning(read_columns("smoker\nno\nyes").column("smoker").proportion()).split(". ")[0]
    'You take n and the share of ones from the confidential column “smoker”'
    """
    used = list(facts.words) if taken is None else list(taken)
    if not used or not set(used) <= set(facts.words):
        raise ValueError(
            f"taken must name at least one of {', '.join(facts.words)}, and only these; got {shown(taken)}."
        )
    words = dict.fromkeys(facts.words[name] for name in used)
    secret = enumerated(one for one in words if one != "n")
    often = f"Agencies often publish n{f', but not {secret}' if secret else ''}. " if "n" in used else ""
    return (
        f"You take {enumerated(words)} from the confidential column {quoted(facts.column)}. This spends privacy that "
        "no ε of the design accounts for: whoever learns what you took, or can tell it from the design, learns "
        f"something about the people in the data. {often}Where you can, take {secret or 'n'} from an earlier survey or "
        "from public knowledge instead."
    )


def kind_of(text: str) -> str:
    """Return what stands in a cell that is no number, without what it says."""
    if is_number(text):
        return "is too large"
    if NOT_FINITE.fullmatch(text):
        return "is infinite"
    if is_formula(text):
        return f"begins with “{text[0]}” as a formula does, and no formula is evaluated here"
    return "is no number"
