"""Columns of a curator's own file, read as the share of one value, as categories or as numbers.

They are confidential: sentences name lines and columns, never a cell, and objects print without their contents.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpviz.core.escape import NOT_FINITE, is_formula, is_number
from dpviz.core.formatting import describe_value
from dpviz.core.limits import MAX_CELLS, MAX_PILOT_BYTES, MAX_PILOT_NUMBER
from dpviz.uploads.tables import decode, read_table, refusal, sentence, sentences

# What pandas takes for missing, and <null>, ?, points and dashes, in small letters
MISSING = {"", "?", ".", "-", "–", "#n/a", "#n/a n/a", "#na", "<na>", "<null>", "n/a", "na", "nan", "-nan", "null"}
MISSING |= {"none", "-1.#ind", "1.#ind", "-1.#qnan", "1.#qnan"}
SHARE_READING, CATEGORIES_READING, NUMBERS_READING = "the share of one value", "categories", "numbers"
WORDS_FOR_YES = "1", "yes", "true", "y", "t", "ja"
SWAPPED_MARKS = str.maketrans(".,", ",.")
GROUPED_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
# What a design may use, by the name of the field
FACT_WORDS = {
    "n": "n", "share": "the share of ones", "categories": "the number of categories", "low": "the bounds",
    "high": "the bounds", "mean": "the mean", "standard_deviation": "the standard deviation",
}  # fmt: skip
MAX_EXACT_INTEGER = 2**53  # beyond it different whole numbers are the same float
_object_numbers = itertools.count(1)


class PrivateRepr:
    """Prints as its class and a number of its own: equal contents must not be recognized by how they print."""

    _number = cached_property(lambda _: next(_object_numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(object {self._number})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Facts(PrivateRepr):
    """What a column says in one reading of it; `n` values are there and `missing` are left out."""

    column: str
    n: int
    missing: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ProportionFacts(Facts):
    """Share of one `value`; `note` says what counts as a zero, and is empty if that is a single value."""

    value: str
    share: float
    note: str


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryFacts(Facts):
    """Number of distinct values."""

    categories: int


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberFacts(Facts):
    """Moments of numbers, and suggested bounds: multiples of `step` outside them, or the ends of a `rating`."""

    smallest: float
    largest: float
    mean: float
    standard_deviation: float  # with n − 1
    skewness: float  # third central moment over σ³
    excess: float  # fourth central moment over σ⁴, less 3
    low: float
    high: float
    step: float
    rating: bool

    @property
    def bounds_note(self) -> str:
        """How the bounds are chosen, in sentences."""
        return sentence("bounds", facts=self)

    @property
    def bias(self) -> float:
        """E[Z] − μ of Z ~ N(μ, σ²) clamped to bounds a and b standard units from μ: σ(φ(a) − φ(b) + aΦ(a) + bΦ(−b))."""
        if not self.standard_deviation:
            return 0.0
        ends = np.array([self.low - self.mean, self.high - self.mean]) / self.standard_deviation
        density = np.exp(-(np.clip(ends, -40, 40) ** 2) / 2) / math.sqrt(2 * math.pi)  # 0 from there on
        return float(self.standard_deviation * (density[0] - density[1] + ends @ ndtr(ends * [1, -1])))

    @property
    def misfit(self) -> str:
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; empty if it does.

        It fits with a skewness up to 1, an excess kurtosis up to 3, and a bias up to a twentieth of σ.
        """
        reasons = {
            "is_skewed": abs(self.skewness) > 1,
            "has_tails": self.excess > 3,
            "is_outside": abs(self.bias) > 0.05 * self.standard_deviation,
        }
        return sentence("misfit", facts=self, **reasons) if any(reasons.values()) else ""


def warning(facts: Facts, names: Sequence[str] | None = None) -> str:
    """What it means to use facts of a confidential column in a design, in sentences.

    Parameters
    ----------
    facts : Facts
    names : sequence of str, optional
        Fields that are used; all of `FACT_WORDS` that the facts have unless given.
    """
    allowed = [name for name in FACT_WORDS if hasattr(facts, name)]
    used = allowed if names is None else list(names)
    if not used or not set(used) <= set(allowed):
        raise refusal("unknown_facts", allowed=allowed, names=describe_value(names))
    return sentence("warning", column=facts.column, words=list(dict.fromkeys(FACT_WORDS[name] for name in used)))


class Column(PrivateRepr):
    """A column of a file, and what it says in each reading.

    `texts` counts what is not missing, as it is written; `counts` its values in order of size or letters, where 1 and
    1.0 are one value, as are yes and YES. A problem says why it holds no categories or no numbers; it is empty if it
    does.
    """

    def __init__(self, file: "PilotFile", name: str, decimal: str | None, missing_text: str) -> None:
        self.name, self._cells, self._lines = name, file.cells[name], file.lines

        # Missing values
        missing_texts = MISSING | {missing_text.strip().casefold()}
        self.texts = Counter(cell for cell in self._cells if cell.casefold() not in missing_texts)
        self.n = self.texts.total()
        self.missing = len(self._cells) - self.n
        self._size: dict[str, Any] = {"column": name, "n": self.n, "missing": self.missing}

        # Numbers
        likely_decimal, self.is_mark_doubtful = _find_decimal(self.texts, file.comma_separates)
        self.decimal = decimal or likely_decimal
        numbers = {text: _parse_number(text, self.decimal) for text in self.texts}
        self._numbers = {text: number for text, number in numbers.items() if number is not None}
        self.all_numbers = len(self._numbers) == len(self.texts) > 0
        self.marks = _used_marks(self.texts) if self.all_numbers else []

        # Distinct values, each in its shortest or most frequent spelling
        values = self._numbers if self.all_numbers else {}
        spellings, counts = dict[object, str](), Counter[str]()
        for text in sorted(self.texts, key=lambda text: (len(text) if values else -self.texts[text], text)):
            value: object = values.get(text, text.casefold())
            if isinstance(value, float) and MAX_EXACT_INTEGER < abs(value) < math.inf:
                value = Decimal(_plain_number(text, self.decimal))
            counts[spellings.setdefault(value, text)] += self.texts[text]
        self.counts = dict(sorted(counts.items(), key=lambda item: (values.get(item[0], 0.0), item[0])))

        self.notes = tuple(sentences("reading_notes", column=self))
        no_value = "" if self.n else sentence("no_value", column=self)
        self.category_problem = no_value or self._find_category_problem()
        self.number_problem = no_value or self._find_number_problem()

    @property
    def is_two_valued(self) -> bool:
        """Whether it can be read as yes or no."""
        return len(self.counts) == 2 and not self.category_problem

    @property
    def readings(self) -> list[str]:
        """What it can be read as, in words, the likeliest first; none where both problems are in the way."""
        numbers = [] if self.number_problem else [NUMBERS_READING]
        shares = [] if self.category_problem else [SHARE_READING, CATEGORIES_READING]
        return [SHARE_READING, *numbers] if self.is_two_valued else numbers + shares

    @property
    def default_value(self) -> str:
        """Value that is counted as a one unless another is chosen: 1, yes or true, else the second in order."""
        folded = {value.lower(): value for value in self.counts}
        return next((folded[word] for word in WORDS_FOR_YES if word in folded), [*self.counts][:2][-1])

    def proportion(self, value: str | None = None) -> ProportionFacts:
        """Share of a value, which must be given if there are more than two; a ValueError refuses."""
        rest = self.categories().categories - 1
        if value is None and rest > 1:
            raise refusal("no_choice", column=self)
        value = self.default_value if value is None else value
        if value not in self.counts:
            raise refusal("unknown_value", column=self)
        note = sentence("zeros", column=self, rest=rest)
        return ProportionFacts(**self._size, value=value, share=self.counts[value] / self.n, note=note)

    def categories(self) -> CategoryFacts:
        """Number of categories; a ValueError refuses."""
        if self.category_problem:
            raise ValueError(self.category_problem)
        return CategoryFacts(**self._size, categories=len(self.counts))

    def numbers(self) -> NumberFacts:
        """Extremes, moments and suggested bounds; a ValueError refuses."""
        if self.number_problem:
            raise ValueError(self.number_problem)
        numbers = np.repeat(list(self._numbers.values()), [self.texts[text] for text in self._numbers])
        smallest, largest = float(numbers.min()), float(numbers.max())

        # Moments of the numbers scaled to 0 … 1, of which no power overflows
        spread = largest - smallest
        scaled = (numbers - smallest) / (spread or 1.0)
        second, third, fourth = (float(np.mean((scaled - scaled.mean()) ** power)) for power in (2, 3, 4))
        variance = second or 1.0

        # Bounds: the ends of a rating, which has up to 11 steps, or round numbers outside
        is_whole = bool(np.all(numbers == np.rint(numbers)))
        counts = list(self.counts.values())
        has_every_step = is_whole and 0 < spread <= 10 and len(counts) == spread + 1
        rating = has_every_step and min(counts[0], counts[-1]) > 1
        low, high, step = (smallest, largest, 1.0) if rating else _round_bounds(smallest, largest, integers=is_whole)
        return NumberFacts(
            **self._size, smallest=smallest, largest=largest, low=low, high=high, step=step, rating=rating,
            mean=min(max(float(numbers.mean()), smallest), largest),
            standard_deviation=spread * float(np.std(scaled, ddof=1)),
            skewness=third / variance**1.5, excess=fourth / variance**2 - 3,
        )  # fmt: skip

    def _find_category_problem(self) -> str:
        distinct = len(self.counts)
        for text in self.texts:
            if text not in self._numbers and is_formula(text):
                return sentence("formula", where=self._locate(text))
        is_whole = all(number % 1 == 0 for number in self._numbers.values() if math.isfinite(number))
        if is_whole and max(20, 0.95 * self.n) <= distinct <= MAX_CELLS:  # nearly as many values as people
            return sentence("identifier", column=self)
        if 2 <= distinct <= MAX_CELLS:
            return ""
        return sentence("not_categories", column=self, distinct=distinct, most_rows=max(self.counts.values()))

    def _find_number_problem(self) -> str:
        for text in self.texts:
            if not abs(self._numbers.get(text, math.inf)) <= MAX_PILOT_NUMBER:
                return sentence("no_number", where=self._locate(text))
        return sentence("single_number", column=self) if self.n == 1 else ""

    def _locate(self, text: str) -> str:
        """Where the first cell with a text stands and what keeps it from being a value, without what it says."""
        return sentence(
            "place", column=self, line=self._lines[self._cells.index(text)], is_number=is_number(text),
            is_infinite=bool(NOT_FINITE.fullmatch(text)), formula_mark=text[0] if is_formula(text) else "",
        )  # fmt: skip


def _parse_number(text: str, decimal: str) -> float | None:
    """Number that a text is with this decimal mark, per cent as a hundred times its share; None if it is none."""
    plain = _plain_number(text, decimal)
    return float(plain) if is_number(plain) else None


def _plain_number(text: str, decimal: str) -> str:
    """Text with a decimal point, and without a mark of thousands or per cent."""
    plain = text.replace("−", "-").removesuffix("%").rstrip()
    if decimal == ",":
        plain = plain.translate(SWAPPED_MARKS)
    return plain.replace(",", "") if GROUPED_THOUSANDS.fullmatch(plain) else plain


def _used_marks(texts: Collection[str]) -> list[str]:
    return [mark for mark in ".," if any(mark in text for text in texts)]


def _find_decimal(texts: Collection[str], comma_separates: bool) -> tuple[str, bool]:
    """Decimal mark with which most of the texts are numbers, and whether all are with either."""
    with_points, with_commas = ([_parse_number(text, decimal) for text in texts] for decimal in ".,")
    fewer_with_points = with_commas.count(None) - with_points.count(None)
    if fewer_with_points:
        return "." if fewer_with_points > 0 else ",", False
    used = _used_marks(texts)
    if with_points == with_commas or None in with_points or len(used) > 1:
        return ".", False

    # In doubt a mark separates thousands beside numbers below 1,000 alone, or as a comma where commas separate cells
    mark = used[0]
    unmarked = [abs(value or 0.0) for text, value in zip(texts, with_points, strict=True) if mark not in text]
    separates_thousands = max(unmarked, default=math.inf) < 1000 or (mark == "," and comma_separates)
    return mark.translate(SWAPPED_MARKS) if separates_thousands else mark, True


def _round_bounds(smallest: float, largest: float, *, integers: bool) -> tuple[float, float, float]:
    """Next multiples below and above of a step, which is 1, 2 or 5 times a power of ten, and that step.

    0 is passed by no bound unless a number lies beyond it.

    >>> _round_bounds(17.0, 64.0, integers=True), _round_bounds(0.0, 0.93, integers=False)
    ((15.0, 65.0, 5.0), (0.0, 1.0, 0.1))
    """
    first, last = Fraction(repr(float(smallest))), Fraction(repr(float(largest)))  # 0.1 is a tenth
    size = max(abs(first), abs(last))
    spread = max(last - first or size or Fraction(10), size / 10**9, Fraction(1, 10**100))  # of equal numbers too
    power = Fraction(10) ** (math.floor(math.log10(spread)) - 1)
    step = next(times * power for times in (1, 2, 5, 10, 20) if times * power >= spread / 10)
    step = max(step, Fraction(1)) if integers else step
    low, high = (math.ceil(first / step) - 1) * step, (math.floor(last / step) + 1) * step
    if first >= 0:
        low = max(low, Fraction(0))
    elif last <= 0:
        high = min(high, Fraction(0))
    return float(low), float(high), float(step)


@dataclass(frozen=True, kw_only=True, repr=False)
class PilotFile(PrivateRepr):
    """Columns of a file, whether its first line named them, and notes on how it was read."""

    cells: dict[str, tuple[str, ...]]  # by the name of the column
    lines: list[int]  # on which the rows begin
    comma_separates: bool
    has_header: bool
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.cells)

    def column(self, name: str, decimal: str | None = None, missing_text: str = "") -> Column:
        """Column of this name, with its decimal mark if it is not the likeliest, and a text that means no value."""
        if name not in self.cells:
            raise refusal("unknown_name", number=len(self.cells), name=name)
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be a point or a comma; got {describe_value(decimal)}.")
        return Column(self, name, decimal, missing_text)


def read_columns(content: bytes | str, has_header: bool | None = None) -> PilotFile:
    r"""Columns of a CSV file; a ValueError says where it is no table and what to do.

    Parameters
    ----------
    content : bytes or str
        Comma, semicolon or tab between values; UTF-8, UTF-16 with its mark, or else Windows-1252, with a note.
    has_header : bool, optional
        Whether the first line names the columns, which are called 1, 2, 3 if it does not. By default it names none if
        all that it holds are numbers or values that occur below.

    Returns
    -------
    PilotFile
        Columns without a name of their own are left out, with a note. Keep it for one reader: a shared cache would hold
        confidential data longer than it is needed.

    Examples
    --------
    >>> file = read_columns("age;smoker\n17;no\n41;yes\n64;no\n38;no")
    >>> file.names, file.column("smoker").proportion().share
    (('age', 'smoker'), 0.25)
    """
    text, notes = decode(content, MAX_PILOT_BYTES, "table_advice")
    rows, lines, separator = read_table(text)
    names = [" ".join(name.split()) for name in rows[0]]

    # A first line of values
    if has_header is None:
        below = zip(*rows[1:], strict=True)
        has_header = not all(is_number(name) or name in cells for name, cells in zip(names, below, strict=True) if name)
    if has_header:
        rows, lines = rows[1:], lines[1:]
    else:
        names = [str(place) for place in range(1, len(names) + 1)]
    columns = zip(*rows, strict=True)

    # Columns that cannot be chosen by their name
    for place, name in enumerate(names, start=1):
        if is_formula(name):
            raise refusal("formula_name", place=place, mark=name[0])
    unnamed = [place for place, name in enumerate(names, start=1) if not name]
    repeated = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    notes += sentences("header_notes", has_header=has_header, unnamed=unnamed, repeated=repeated)
    named = {name: cells for name, cells in zip(names, columns, strict=True) if name and name not in repeated}
    if not named:
        raise refusal("no_names")
    return PilotFile(
        cells=named, lines=lines, comma_separates=separator == ",", has_header=has_header, notes=tuple(notes)
    )
