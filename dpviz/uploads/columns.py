"""What a column of a curator's own file suggests for a design: n, the share of ones, categories, bounds.

What is read here is confidential. Sentences name lines and columns and never quote a cell, and objects print as a name
and sizes, so that neither a message nor a log repeats what somebody answered.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr

from dpviz.core.escape import NOT_FINITE, is_formula, is_number, single_line
from dpviz.core.formatting import describe_value, format_count, format_number, join_words
from dpviz.core.limits import MAX_CELLS, MAX_PILOT_BYTES, MAX_PILOT_COLUMNS, MAX_PILOT_NUMBER, MAX_PILOT_ROWS
from dpviz.uploads.tables import decode, read_table

# What pandas takes for missing, and <null>, ?, points and dashes, in small letters
MISSING = {"", "?", ".", "-", "–", "#n/a", "#n/a n/a", "#na", "<na>", "<null>", "n/a", "na", "nan", "-nan", "null"}
MISSING |= {"none", "-1.#ind", "1.#ind", "-1.#qnan", "1.#qnan"}
MAX_SCALE_STEPS = 10  # of a rating
MIN_IDENTIFIERS, IDENTIFIER_SHARE = 20, 0.95  # distinct values, and their share of the rows, from which words identify
WORDS_FOR_ONE = "1", "yes", "true", "y", "t", "ja"  # the first of them counts as a one unless the reader chooses
MAX_NORMAL_SKEWNESS, MAX_NORMAL_EXCESS = 1.0, 3.0
MAX_NORMAL_BIAS = 0.05  # of bounds, in standard deviations
STEPS_IN_SPREAD = 10  # bounds are multiples of the smallest round number of which at most so many lie in the spread
MIN_RELATIVE_SPREAD, MIN_SPREAD = Fraction(1, 10**9), Fraction(1, 10**100)  # a smaller one counts as this
PILOT_FITS = f"Keep the columns that you need: one of {MAX_PILOT_ROWS:,} values fits."
MARK_NAMES = {".": "Points", ",": "Commas"}
OTHER_MARK = {".": ",", ",": "."}
# Numbers whose thousands are separated, by their decimal mark
GROUPED = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+(?:{re.escape(mark)}\d*)?").fullmatch
    for mark, other in OTHER_MARK.items()
}
_object_numbers = itertools.count(1)


class Marks(NamedTuple):
    """Decimal mark of a column's numbers, and whether their only mark may as well separate thousands."""

    decimal: str
    doubt: bool = False


class PilotProblem(ValueError):
    """What keeps a file or a column from being pilot data, in a sentence that says where and what to do."""


class Private:
    """Prints as its kind, its sizes and a number of its own: equal values must not be told from how they print."""

    @property
    def _sizes(self) -> str:
        raise NotImplementedError

    _number = cached_property(lambda _: next(_object_numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes}, object {self._number})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Facts(Private):
    """What a column says in one reading of it; `n` values are there and `missing` are left out."""

    column: str
    n: int
    missing: int

    words: ClassVar[dict[str, str]] = {"n": "n"}  # what a design may take of it

    @property
    def _sizes(self) -> str:
        return f"{quote(self.column)}, n = {self.n:,}, {self.missing:,} missing"


@dataclass(frozen=True, kw_only=True, repr=False)
class ProportionFacts(Facts):
    r"""Share of the values that are `one`.

    >>> read_columns("smoker\nno\nyes\nno\nno").column("smoker").proportion().share
    0.25
    """

    one: str
    share: float
    others: int = 1

    words: ClassVar = {"n": "n", "share": "the share of ones"}

    @property
    def note(self) -> str:
        """What counts as a zero, in a sentence, where that is more than one value."""
        if self.others == 1:
            return ""
        amount = "Both" if self.others == 2 else f"All {self.others:,}"
        return f"{amount} other values of {quote(self.column)} count as zeros."


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryFacts(Facts):
    """Number of distinct values."""

    categories: int

    words: ClassVar = {"n": "n", "categories": "the number of categories"}


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberFacts(Facts):
    r"""Extremes, mean and standard deviation (with n − 1) of numbers, and bounds `low` and `high` around them.

    A bound is the next multiple of `step` outside the numbers, because an extreme is the value of a person. Only 0 may
    be both: no bound lies beyond 0 unless a number does. Whole numbers of a `rating` have its ends as bounds. The
    `skewness` is the third central moment over σ³, the `excess` the fourth over σ⁴, less 3.

    >>> facts = read_columns("age\n17\n41\n64").column("age").numbers()
    >>> facts.low, facts.high, facts.step
    (15.0, 65.0, 5.0)
    """

    smallest: float
    largest: float
    mean: float
    standard_deviation: float
    low: float
    high: float
    step: float
    rating: bool
    skewness: float
    excess: float

    words: ClassVar = {
        "n": "n",
        "low": "the bounds",
        "high": "the bounds",
        "mean": "the mean",
        "standard_deviation": "the standard deviation",
        "smallest": "the smallest value",
        "largest": "the largest value",
    }

    @property
    def bounds_note(self) -> str:
        """How the bounds are made, in sentences."""
        if self.rating:
            return (
                f"Every whole number from {format_number(self.low)} to {format_number(self.high)} occurs, as in a "
                "rating: the suggested bounds are the ends of that scale. They still come from the data: if the scale "
                "goes further, use the bounds of the question."
            )
        zero = " 0 is kept as a bound where no value lies beyond it." if 0 in (self.low, self.high) else ""
        return (
            f"The suggested bounds are the next multiples of {format_number(self.step)} outside the smallest and the "
            f"largest value, because each of these may belong to one person.{zero} They still come from the data: "
            "bounds that are known without them, such as those of the question, are better."
        )

    @property
    def bias(self) -> float:
        """E[Z] − μ of Z ~ N(μ, σ²) set to bounds a and b standard units from μ: σ(φ(a) − φ(b) + aΦ(a) + bΦ(−b))."""
        if not self.standard_deviation:
            return 0.0
        ends = np.array([self.low - self.mean, self.high - self.mean]) / self.standard_deviation
        density = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
        return float(self.standard_deviation * (density[0] - density[1] + ends @ ndtr(ends * [1, -1])))

    @property
    def misfit(self) -> str:
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; nothing where it does."""
        reasons = []
        normal = "and that of a normal distribution is 0"
        if abs(self.skewness) > MAX_NORMAL_SKEWNESS:
            reasons.append(f"the skewness is {format_number(self.skewness, 3)}, {normal}")
        if self.excess > MAX_NORMAL_EXCESS:
            reasons.append(f"the excess kurtosis is {format_number(self.excess, 3)}, {normal}")
        if abs(self.bias) > MAX_NORMAL_BIAS * self.standard_deviation:
            reasons.append("a normal distribution with its mean and standard deviation often lies outside the bounds")
        if not reasons:
            return ""
        return (
            f"The desk takes numbers to be normally distributed, and {quote(self.column)} is not: "
            f"{'; '.join(reasons)}. Between the suggested bounds, the mean of that normal distribution is off by "
            f"{format_number(self.bias, 3)}, while no value of the column lies outside them. The desk's answers for "
            "this column can be far off; a logarithm of the values may fit better."
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Column(Private):
    """A column as it was read, and what it says read as a share of one value, as categories or as numbers.

    Its `cells` are without the blanks around them, and each begins on one of the `lines`. `decimal` is the mark that a
    reader has chosen.
    """

    name: str
    cells: tuple[str, ...]
    lines: tuple[int, ...]
    comma_separates: bool = True
    decimal: str | None = None

    @property
    def _sizes(self) -> str:
        return f"{quote(self.name)}, {len(self.cells):,} rows"

    @cached_property
    def texts(self) -> Counter[str]:
        """How often each text occurs, without what stands for no value."""
        return Counter({text: count for text, count in Counter(self.cells).items() if text.casefold() not in MISSING})

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
        return f"{quote(self.name)} holds {count}; categories are read where there are 2 to {MAX_CELLS:,}."

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


def warning(facts: Facts, taken: Sequence[str] | None = None) -> str:
    r"""What it means to use `taken` of the facts, all of them unless named, in a design.

    >>> warning(read_columns("smoker\nno\nyes").column("smoker").proportion()).split(". ")[0]
    'You take n and the share of ones from the confidential column “smoker”'
    """
    used = list(facts.words) if taken is None else list(taken)
    if not used or not set(used) <= set(facts.words):
        raise ValueError(
            f"taken must name at least one of {', '.join(facts.words)}, and only these; got {describe_value(taken)}."
        )
    words = dict.fromkeys(facts.words[name] for name in used)
    secret = join_words(word for word in words if word != "n")
    often = f"Agencies often publish n{f', but not {secret}' if secret else ''}. " if "n" in used else ""
    return (
        f"You take {join_words(words)} from the confidential column {quote(facts.column)}. This spends privacy that "
        "no ε of the design accounts for: whoever learns what you took, or can tell it from the design, learns "
        f"something about the people in the data. {often}Where you can, take {secret or 'n'} from an earlier survey or "
        "from public knowledge instead."
    )


def quote(name: str) -> str:
    """Name as a sentence shows it, in one line and cut where it is long."""
    return f"“{single_line(name)}”"


def parse_number(text: str, decimal: str) -> float | None:
    """Number that a text is with this decimal mark, per cent as a hundred times its share; None where it is none.

    >>> parse_number("1.500", "."), parse_number("1.500", ","), parse_number("1.5", ","), parse_number("−2,5 %", ",")
    (1.5, 1500.0, None, -2.5)
    """
    plain = text.replace("−", "-").removesuffix("%").rstrip()
    if OTHER_MARK[decimal] in plain:
        if not GROUPED[decimal](plain):
            return None
        plain = plain.replace(OTHER_MARK[decimal], "")
    plain = plain.replace(decimal, ".")
    return float(plain) if is_number(plain) else None


def find_marks(texts: Iterable[str], comma_separates: bool) -> Marks:
    """How the numbers among these texts are written.

    The mark with which more of them are numbers. If they are numbers with either, a point is decimal, and so is a comma
    unless commas stand between the values of the file.

    >>> find_marks(["1.500", "2.25"], False), find_marks(["1.500", "2.300"], False)
    (Marks(decimal='.', doubt=False), Marks(decimal='.', doubt=True))
    """
    values = {decimal: [parse_number(text, decimal) for text in texts] for decimal in OTHER_MARK}
    unread = {decimal: values[decimal].count(None) for decimal in OTHER_MARK}
    if unread["."] != unread[","]:
        return Marks(min(unread, key=lambda mark: unread[mark]))
    used = [mark for mark in OTHER_MARK if any(mark in text for text in texts)]
    is_doubtful = values["."] != values[","] and unread["."] == 0 and len(used) == 1
    return Marks("," if is_doubtful and used == [","] and not comma_separates else ".", is_doubtful)


def describe_marks(marks: Marks, name: str, texts: Iterable[str]) -> str:
    """How the marks in a column of that name are read, in a sentence; nothing where it has none to tell of.

    >>> describe_marks(Marks(","), "“x”", ["1.234,5"])
    'Commas in “x” are read as decimal commas and points as thousands separators.'
    """
    used = [mark for mark in MARK_NAMES if any(mark in text for text in texts)]
    if marks.doubt:
        mark = used[0]
        readings = (f"decimal {MARK_NAMES[mark].lower()}", "1.5"), ("thousands separators", "1,500")
        (reading, value), (alternative, instead) = readings if mark == marks.decimal else readings[::-1]
        return (
            f"{MARK_NAMES[mark]} in {name} are read as {reading}: 1{mark}500 is {value}. Each of them stands before "
            f"three digits, so that they may be {alternative} as well, and 1{mark}500 may be {instead}."
        )
    has_groups = OTHER_MARK[marks.decimal] in used
    if marks.decimal == "," in used:
        points = " and points as thousands separators" if has_groups else ""
        return f"Commas in {name} are read as decimal commas{points}."
    return f"{MARK_NAMES[OTHER_MARK[marks.decimal]]} in {name} are read as thousands separators." if has_groups else ""


def round_bounds(smallest: float, largest: float, *, whole: bool) -> tuple[float, float, float]:
    """Next multiples of a step below `smallest` and above `largest`, and the step; `whole` makes it whole.

    The step is 1, 2 or 5 times a power of ten. 0 is passed by no bound unless a number lies beyond it.

    >>> round_bounds(17.0, 64.0, whole=True), round_bounds(0.0, 0.93, whole=False)
    ((15.0, 65.0, 5.0), (0.0, 1.0, 0.1))
    """
    first, last = (Fraction(repr(float(end))) for end in (smallest, largest))  # 0.1 is a tenth, not the float near it
    size = max(abs(first), abs(last))
    spread = max(last - first or size or Fraction(STEPS_IN_SPREAD), size * MIN_RELATIVE_SPREAD, MIN_SPREAD)
    min_step = spread / STEPS_IN_SPREAD
    power = Fraction(10) ** math.floor(math.log10(min_step.numerator) - math.log10(min_step.denominator))
    step = next(times * power for times in (1, 2, 5, 10, 20) if times * power >= min_step)
    step = max(step, Fraction(1)) if whole else step
    low, high = (math.ceil(first / step) - 1) * step, (math.floor(last / step) + 1) * step
    if first >= 0:
        low = max(low, Fraction(0))
    elif last <= 0:
        high = min(high, Fraction(0))
    return float(low), float(high), float(step)
