"""What papers print, digit for digit, from the files of the folder `tables`, and beside it what is true."""

import csv
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.resources import files
from typing import Any, Generic, Self, TypeVar
from urllib.parse import parse_qsl, urlencode

import numpy as np

from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray

FAR = 3  # Standard errors from which a number does not agree
PRINTED_REPETITIONS = 5_000  # Of Liu, and of Bowen & Liu
HALFWAY = (
    1e-6  # Units of the last digit by which a number halfway between two may miss the middle: either is its rounding
)
PrintedValue = TypeVar("PrintedValue", float, str)


class Agreement(StrEnum):
    """The verdict on something printed."""

    AGREES = "agrees"
    ROUNDING = "differs within rounding"
    CHANCE = "within simulation error"
    DIFFERS = "differs"
    UNKNOWN = "cannot be computed"

    @property
    def wants_reason(self) -> bool:
        """Whether it needs to be said why."""
        return self in (Agreement.ROUNDING, Agreement.DIFFERS, Agreement.UNKNOWN)


class PrintedNumber(float):
    """A number that remembers its digits as they are printed.

    >>> number = PrintedNumber("100.250")
    >>> number + 1, number.text, number.unit
    (101.25, '100.250', 0.001)
    """

    text: str

    def __new__(cls, text: str | float) -> Self:
        found = super().__new__(cls, text)
        found.text = str(text)
        return found

    def __format__(self, how: str) -> str:
        return super().__format__(how) if how else self.text

    @property
    def unit(self) -> float:
        """One unit of its last digit."""
        return float(10.0 ** -len(self.text.partition(".")[2]))


PrintedRow = Mapping[str, PrintedNumber]


@dataclass(frozen=True)
class PrintedTable:
    """A table or figure as printed: its caption, its rows by column name, and all of it as CSV."""

    caption: str
    rows: tuple[dict[str, PrintedNumber], ...]
    text: str

    @property
    def values(self) -> FloatArray:
        """The cells of a matrix: the columns whose names give a released count."""
        return np.array([[cell for name, cell in row.items() if name.startswith("m1=")] for row in self.rows])


def read_tables(name: str, captions: dict[int, str]) -> dict[int, PrintedTable]:
    """Return the tables in the files of this name, by number."""
    tables = {}
    for number, caption in captions.items():
        rows = printed_rows(file := f"{name}{number}")
        cells = tuple({column: PrintedNumber(cell) for column, cell in row.items()} for row in rows)
        tables[number] = PrintedTable(caption, cells, printed_text(file))
    return tables


def printed_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of one of the files of `tables`, their cells by column as they are printed."""
    return list(csv.DictReader(printed_text(name).splitlines()))


def printed_text(name: str) -> str:
    """Return one of the files of `tables` as it is."""
    return files("dpviz.claims").joinpath("tables", f"{name}.csv").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Effort:
    """How often what is simulated is repeated, and its seed.

    Sums that take up to a minute are `thorough`: they are exact only where there are as many repetitions as the papers
    have, and simulated where there are fewer.
    """

    repetitions: int = PRINTED_REPETITIONS
    seed: int = 2016

    @property
    def thorough(self) -> bool:
        """Whether to take the time that the papers took."""
        return self.repetitions >= PRINTED_REPETITIONS

    @property
    def again(self) -> Self:
        """Ten times the repetitions on a new stream of random numbers: what is asked where chance may have misled."""
        return replace(self, repetitions=10 * self.repetitions, seed=(self.seed + 1) % int(SEED.maximum))

    def generator(self) -> np.random.Generator:
        """Return new random numbers from the seed."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Shown:
    """Where a reader sees a number: the folder of a page, and what its controls say, by name."""

    page: str = ""
    settings: Mapping[str, object] = field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, page: str, settings: str) -> Self:
        """Return that of a file, whose settings are written as an address has them."""
        return cls(page, dict(parse_qsl(settings)))

    @property
    def text(self) -> str:
        """The settings as a file has them, and as an address does but for the prefix of the page."""
        return urlencode(self.settings)


NOWHERE = Shown()


def design_in_words(design: Mapping[str, Any]) -> str:
    """Return the parameters behind a number as a file has them.

    >>> design_in_words({"epsilon": 0.5, "n": 1000, "method": "SYNTH_MAP"})
    'epsilon = 0.5; n = 1,000; method = SYNTH_MAP'
    """
    return "; ".join(f"{name} = {one if isinstance(one, str) else format_number(one)}" for name, one in design.items())


@dataclass(frozen=True, kw_only=True)
class Record(Generic[PrintedValue]):
    """Something printed, and ours.

    `what` is a column, a figure, a way of counting, or what a sentence is about; `printed` and `ours` are two numbers
    or two sentences, ours NaN or empty where it cannot be computed. `error` is the standard error of their difference,
    0 where both are exact, `our_error` the part of it that is ours, and `design` the parameters behind a number.
    `figure` is the figure that a sentence speaks of, where it is another place than its own.
    `reading` says what the printed is taken for. It is not `literal` where that is not what the words around it say,
    and one of `others` where another reading fits better: that need not agree. `holds` says whether a sentence is
    right, `quote` in which words a number stands in the text, `reason` why it differs or cannot be computed, and
    `shown` where a reader sees it.

    >>> Record(source="Table 1", what="bias", printed=0.12, ours=0.0, error=0.04, reading="as the column says").z
    3.0
    """

    source: str
    what: str
    printed: PrintedValue
    ours: PrintedValue
    error: float = 0.0
    our_error: float = 0.0
    reading: str
    design: Mapping[str, Any] = field(default_factory=dict, hash=False)
    literal: bool = True
    other: bool = False
    holds: bool = True
    quote: str = ""
    reason: str = ""
    figure: str = ""
    shown: Shown = NOWHERE

    @classmethod
    def of_share(cls, *, printed: PrintedNumber, ours: float, of: int, runs: int, **said: Any) -> "Record[float]":
        """Return a printed share of `of` repetitions beside ours, of `runs` or exact for 0."""
        # One share for both, as where they agree: at 0 or 1 a share of its own would have no error.
        both = (printed * of + ours * runs) / (of + runs) if runs else ours
        spread = math.sqrt(both * (1 - both))
        our_error = math.hypot(spread / math.sqrt(runs), 1 / runs) if runs else 0.0  # no finer than one repetition
        error = math.hypot(spread / math.sqrt(of), our_error, printed.unit / math.sqrt(12))
        return Record(printed=printed, ours=ours, error=error, our_error=our_error, **said)

    @property
    def paper(self) -> str:
        """Authors and year."""
        return self.source.partition(", ")[0]

    @property
    def place(self) -> str:
        """Where in the paper it stands."""
        return self.source.partition(", ")[2]

    @property
    def key(self) -> str:
        """A word of eight letters and digits for what is printed here: the same as long as that and its place are.

        >>> Record(source="Table 1", what="bias", printed=0.12, ours=0.0, reading="as the column says").key
        '2f2da99a'
        """
        said = self.source, self.what, self.text, self.quote, design_in_words(self.design)
        return f"{zlib.crc32(repr(said).encode()):08x}"

    @property
    def text(self) -> str:
        """What is printed, as it stands."""
        return self.printed.text if isinstance(self.printed, PrintedNumber) else str(self.printed)

    @property
    def units(self: "Record[float]") -> float:
        """(printed − ours) in units of the last printed digit; NaN where ours cannot be computed."""
        return (self.printed - self.ours) / PrintedNumber(self.text).unit

    @property
    def z(self: "Record[float]") -> float:
        """(printed − ours) in standard errors."""
        return (self.printed - self.ours) / self.error

    @property
    def far(self: "Record[float]") -> bool:
        """Whether the two do not agree: by more than chance and rounding explain."""
        return abs(self.z) > FAR

    @property
    def verdict(self) -> Agreement:
        """Whether the two agree: ours rounds to every printed digit, or is as close as chance and rounding allow.

        >>> said = {"source": "Table 1", "what": "mean", "reading": "as the column says"}
        >>> cells = ("0.12", 0.1249), ("0.12", 0.1251), ("0.12", 0.1301)
        >>> [str(Record(printed=PrintedNumber(text), ours=ours, **said).verdict) for text, ours in cells]
        ['agrees', 'differs within rounding', 'differs']
        """
        if isinstance(self.ours, str):
            said = Agreement.AGREES if self.holds else Agreement.DIFFERS
            return said if self.ours else Agreement.UNKNOWN
        if math.isnan(self.ours):
            return Agreement.UNKNOWN
        number: Record[float] = self
        if abs(number.units) <= 0.5 + HALFWAY:
            return Agreement.AGREES
        if self.error:
            return Agreement.DIFFERS if number.far else Agreement.CHANCE
        return Agreement.ROUNDING if abs(number.units) < 1 else Agreement.DIFFERS

    @property
    def unexplained(self) -> bool:
        """Whether it should agree and does not, or cannot be computed, and nothing says why."""
        return self.verdict.wants_reason and not (self.reason or self.other)


@dataclass(frozen=True, kw_only=True)
class Erratum(Record[str]):
    """What a paper prints and its own definitions contradict, in our words, and what is true.

    `reading` is the kind of slip; `command` establishes it where a computation does, and prints what it `gives`;
    `matters` says why it matters, `sure` how sure it is, and `otherwise` which other reading makes the print right.
    """

    command: str = ""
    gives: str = ""
    matters: str = ""
    sure: str = ""
    otherwise: str = ""

    @property
    def told(self) -> str:
        """A slip of a paper in Markdown: where it is, of which kind, what is printed, and what is true."""
        return f"**{self.place}, {self.reading}.** {self.printed} {self.ours}"


def read_errata(paper: str) -> tuple[Erratum, ...]:
    """Return what a paper prints and its own definitions contradict, in our words."""
    return tuple(Erratum(**row) for row in printed_rows(f"{paper}_errata"))  # type: ignore[arg-type]
