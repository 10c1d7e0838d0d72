"""Columns of a curator's own file, read as a share of one value, as categories or as numbers.

What is read here is confidential. Sentences name lines and columns and never quote a cell, and objects print as a name
and sizes, so that neither a message nor a log repeats what somebody answered.
"""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.core.escape import NOT_FINITE, is_formula, is_number
from dpviz.core.formatting import format_count, format_number, join_words
from dpviz.core.limits import MAX_CELLS, MAX_PILOT_BYTES, MAX_PILOT_COLUMNS, MAX_PILOT_NUMBER, MAX_PILOT_ROWS
from dpviz.uploads.facts import CategoryFacts, NumberFacts, Private, ProportionFacts, quote
from dpviz.uploads.numbers import Marks, describe_marks, find_marks, parse_number, round_bounds
from dpviz.uploads.tables import decode, read_table

# What pandas takes for missing, and <null>, ?, points and dashes, in small letters
MISSING = {"", "?", ".", "-", "–", "#n/a", "#n/a n/a", "#na", "<na>", "<null>", "n/a", "na", "nan", "-nan", "null"}
MISSING |= {"none", "-1.#ind", "1.#ind", "-1.#qnan", "1.#qnan"}
MAX_SCALE_STEPS = 10  # of a rating
MIN_IDENTIFIERS, IDENTIFIER_SHARE = 20, 0.95  # distinct values, and their share of the rows, from which words identify
WORDS_FOR_ONE = "1", "yes", "true", "y", "t", "ja"  # the first of them counts as a one unless the reader chooses
PILOT_FITS = f"Keep the columns that you need: one of {MAX_PILOT_ROWS:,} values fits."


class PilotProblem(ValueError):
    """What keeps a file or a column from being pilot data, in a sentence that says where and what to do."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Column(Private):
    """A column as it was read, and what it says read as a share of one value, as categories or as numbers.

    Its `cells` are without the blanks around them, and each begins on one of the `lines`. `decimal` is the mark that a
    reader has chosen, `missing_text` a text that means no value, such as −1, 99 or unknown.
    """

    name: str
    cells: tuple[str, ...]
    lines: tuple[int, ...]
    comma_separates: bool = True
    decimal: str | None = None
    missing_text: str = ""

    @property
    def _sizes(self) -> str:
        return f"{quote(self.name)}, {len(self.cells):,} rows"

    @cached_property
    def texts(self) -> Counter[str]:
        """How often each text occurs, without what stands for no value."""
        missing = MISSING | {self.missing_text.strip().casefold()}
        return Counter({text: count for text, count in Counter(self.cells).items() if text.casefold() not in missing})

    @cached_property
    def marks(self) -> Marks:
        """How its numbers are written; a reader may have chosen the decimal mark."""
        marks = find_marks(self.texts, self.comma_separates)
        return Marks(self.decimal or marks.decimal, marks.doubt)

    @cached_property
    def texts_as_numbers(self) -> dict[str, float]:
        """The texts that are numbers, with their value."""
        numbers = {text: parse_number(text, self.marks.decimal) for text in self.texts}
        return {text: number for text, number in numbers.items() if number is not None}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each value occurs, in order; 1 and 1.0 are one value where all are numbers, as are yes and YES.

        Of words that differ in capital letters alone, the most frequent stands for all.
        """
        numbers = self.texts_as_numbers if self.all_numbers else {}
        alike = dict[object, list[str]]()
        for text in sorted(self.texts, key=lambda text: (len(text) if numbers else -self.texts[text], text)):
            alike.setdefault(numbers[text] if numbers else text.casefold(), []).append(text)
        counts = {texts[0]: sum(self.texts[text] for text in texts) for texts in alike.values()}
        return dict(sorted(counts.items(), key=lambda item: (numbers.get(item[0], 0.0), item[0])))

    @property
    def all_numbers(self) -> bool:
        """Whether it holds values and every one is a number."""
        return len(self.texts_as_numbers) == len(self.texts) > 0

    @property
    def n(self) -> int:
        """How many cells hold a value."""
        return self.texts.total()

    @property
    def missing(self) -> int:
        """How many cells hold no value."""
        return len(self.cells) - self.n

    @property
    def values(self) -> tuple[str, ...]:
        """The distinct values in order: by size where all are numbers, by their letters where not."""
        return tuple(self.counts)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the cells were read, in sentences; none where nothing has to be said."""
        notes = []
        if self.missing:
            hold, left_out = ("holds", "It is") if self.missing == 1 else ("hold", "They are")
            notes.append(
                f"{self.missing:,} of the {len(self.cells):,} cells of {quote(self.name)} {hold} no value (empty, NA, "
                f"NaN, null, a point or a dash). {left_out} left out: n = {self.n:,}."
            )
        if self.all_numbers:
            notes += filter(None, [describe_marks(self.marks, quote(self.name), self.texts)])
        elif len(self.counts) < len(self.texts):
            notes.append(
                f"Values of {quote(self.name)} that differ in capital letters alone are counted as one: "
                f"{len(self.texts):,} ways of writing are {format_count(len(self.counts), 'value')}."
            )
        return tuple(notes)

    @cached_property
    def category_problem(self) -> str:
        """Why it cannot be read as categories, in a sentence; empty where it can."""
        if not self.n:
            return self._no_value
        formulas = (text for text in self.texts if text not in self.texts_as_numbers and is_formula(text))
        if (formula := next(formulas, None)) is not None:
            return f"{self._describe(formula)} Save the values in its place, or put a letter before a text."
        distinct = len(self.counts)
        is_whole = all(number % 1 == 0 for number in self.texts_as_numbers.values() if math.isfinite(number))
        is_identifier = is_whole and distinct >= max(MIN_IDENTIFIERS, IDENTIFIER_SHARE * self.n)
        if is_identifier and distinct <= MAX_CELLS:
            return (
                f"{quote(self.name)} looks like an identifier: {distinct:,} of its {self.n:,} values are distinct. "
                "Choose a column whose values repeat."
            )
        if 2 <= distinct <= MAX_CELLS:
            return ""
        count = "a single distinct value" if distinct == 1 else f"{distinct:,} distinct values"
        problem = f"{quote(self.name)} holds {count}; categories are read where there are 2 to {MAX_CELLS:,}."
        most_rows = max(self.counts.values())
        if distinct > 1 and most_rows > 1:
            problem += (
                f" Its most frequent value stands in {most_rows:,} rows: if it names persons, that is the largest "
                "number of rows of a person, for which Plan asks."
            )
        return problem

    @cached_property
    def number_problem(self) -> str:
        """Why it cannot be read as numbers, in a sentence; empty where it can."""
        if not self.n:
            return self._no_value
        for text in self.texts:
            if not abs(self.texts_as_numbers.get(text, math.inf)) <= MAX_PILOT_NUMBER:
                end = format_number(MAX_PILOT_NUMBER)
                return (
                    f"{self._describe(text)} Every value must be a number from −{end} to {end}, all of them with the "
                    "same decimal mark; leave a missing one empty."
                )
        if self.n == 1:
            return f"{quote(self.name)} holds a single number; a mean and its spread need at least two."
        return ""

    @property
    def categorical(self) -> bool:
        """Whether it can be read as categories."""
        return not self.category_problem

    @property
    def two_valued(self) -> bool:
        """Whether it can be read as yes or no."""
        return len(self.counts) == 2 and self.categorical

    @property
    def numeric(self) -> bool:
        """Whether it can be read as numbers."""
        return not self.number_problem

    @property
    def one(self) -> str:
        """Value that is counted as a one unless another is chosen: 1, yes or true, else the second in order."""
        folded = {value.lower(): value for value in self.values}
        return next((folded[word] for word in WORDS_FOR_ONE if word in folded), self.values[:2][-1])

    def proportion(self, one: str | None = None) -> ProportionFacts:
        """Share of `one` among two values, or among categories, where it must be said; or a PilotProblem."""
        categories = self.categories().categories
        if one is None and categories > 2:
            raise PilotProblem(
                f"{quote(self.name)} holds {categories:,} distinct values; say which of them counts as a one."
            )
        chosen = self.one if one is None else one
        if chosen not in self.counts:
            raise PilotProblem(f"one must be one of the {categories:,} values of {quote(self.name)}, written as there.")
        share = self.counts[chosen] / self.n
        return ProportionFacts(**self._shared_facts, one=chosen, share=share, others=categories - 1)

    def categories(self) -> CategoryFacts:
        """Number of categories, or a PilotProblem."""
        if self.category_problem:
            raise PilotProblem(self.category_problem)
        return CategoryFacts(**self._shared_facts, categories=len(self.counts))

    def numbers(self) -> NumberFacts:
        """Extremes, mean, standard deviation and suggested bounds, or a PilotProblem."""
        if self.number_problem:
            raise PilotProblem(self.number_problem)
        numbers = np.repeat(list(self.texts_as_numbers.values()), [self.texts[text] for text in self.texts_as_numbers])
        smallest, largest = float(numbers.min()), float(numbers.max())
        spread = largest - smallest
        scaled = (numbers - smallest) / (spread or 1.0)
        deviations = scaled - scaled.mean()
        variance = float(np.mean(deviations**2)) or 1.0

        # Bounds: the ends of a rating, or round numbers outside
        is_whole = bool(np.all(numbers == np.rint(numbers)))
        counts = list(self.counts.values())
        is_scale = is_whole and 0 < spread <= MAX_SCALE_STEPS and len(counts) == spread + 1
        rating = is_scale and min(counts[0], counts[-1]) > 1
        low, high, step = (smallest, largest, 1.0) if rating else round_bounds(smallest, largest, whole=is_whole)

        return NumberFacts(
            **self._shared_facts, smallest=smallest, largest=largest, low=low, high=high, step=step, rating=rating,
            mean=min(max(float(numbers.mean()), smallest), largest),
            standard_deviation=spread * float(np.std(scaled, ddof=1)),
            skewness=float(np.mean(deviations**3)) / variance**1.5,
            excess=float(np.mean(deviations**4)) / variance**2 - 3,
        )  # fmt: skip

    @property
    def _shared_facts(self) -> dict[str, Any]:
        return {"column": self.name, "n": self.n, "missing": self.missing}

    @property
    def _no_value(self) -> str:
        return f"{quote(self.name)} holds no value: all of its {len(self.cells):,} cells are missing."

    def _describe(self, text: str) -> str:
        """Where the first cell with a text stands and what keeps it from being a value, without what it says."""
        if is_number(text):
            kind = "is too large"
        elif NOT_FINITE.fullmatch(text):
            kind = "is infinite"
        elif is_formula(text):
            kind = f"begins with “{text[0]}” as a formula does, and no formula is evaluated here"
        else:
            kind = "is no number"
        return f"The value of {quote(self.name)} in line {self.lines[self.cells.index(text)]:,} {kind}."


@dataclass(frozen=True, kw_only=True, repr=False)
class PilotFile(Private):
    """Columns of a file in their order, and notes on how it was read."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def _sizes(self) -> str:
        return f"{len(self.columns):,} columns, {len(self.columns[0].cells):,} rows"

    def column(self, name: str) -> Column:
        """Column of this name, or a PilotProblem."""
        if name not in self.names:
            raise PilotProblem(f"name must be one of the file's {len(self.columns):,} columns; got {quote(name)}.")
        return self.columns[self.names.index(name)]


def read_columns(content: bytes | str) -> PilotFile:
    r"""Columns of a CSV with a header.

    Parameters
    ----------
    content : bytes or str
        Comma, semicolon or tab between values; UTF-8, UTF-16 with its mark, or else Windows-1252, with a note.

    Returns
    -------
    PilotFile
        Who shows it keeps it for one reader: a cache that readers share would hold the file longer than it is needed.
        Columns without a name of their own are left out, with a note. Without a header the columns are 1, 2, 3.

    Raises
    ------
    PilotProblem

    Examples
    --------
    >>> read_columns("age;smoker\n17;no\n41;yes").names
    ('age', 'smoker')
    """
    text, notes = decode(content, MAX_PILOT_BYTES, PILOT_FITS, PilotProblem)
    names, rows, lines, separator = read_table(text, MAX_PILOT_ROWS, MAX_PILOT_COLUMNS, PILOT_FITS, PilotProblem)
    cells = list(zip(*rows, strict=True))

    if all(is_number(name) or name in column for name, column in zip(names, cells, strict=True) if name):
        notes += ("The first line holds values and no names. It is read as a row, and the columns are numbered.",)
        cells = [(name, *column) for name, column in zip(names, cells, strict=True)]
        lines = [lines[0] - 1, *lines]
        names = [str(place) for place in range(1, len(names) + 1)]
    for place, name in enumerate(names, start=1):
        if is_formula(name):
            raise PilotProblem(
                f"The name of column {place:,} begins with “{name[0]}” as a formula does. A formula is never evaluated "
                "here: give the column another name."
            )

    # Columns that cannot be chosen by their name
    unnamed = [f"{place:,}" for place, name in enumerate(names, start=1) if not name]
    if unnamed:
        places = join_words(unnamed[:3]) + (" and others" if len(unnamed) > 3 else "")
        notes += (f"Left out, because the first line gives no name: column {places}. Write a name above to use it.",)
    repeated = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if repeated:
        notes += (f"Left out, because several columns have the name: {join_words(map(quote, repeated[:3]))}.",)
    columns = tuple(
        Column(name=name, cells=column, lines=tuple(lines), comma_separates=separator == ",")
        for name, column in zip(names, cells, strict=True)
        if name and name not in repeated
    )
    if not columns:
        raise PilotProblem("No column has a name of its own. Give every column another name in the first line.")
    return PilotFile(columns=columns, notes=notes)
