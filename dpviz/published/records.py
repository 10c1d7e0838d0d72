"""The frozen records: every printed number and statement with what was computed of it, and the papers' errata."""

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Self
from urllib.parse import parse_qsl

from scipy.special import ndtri

from dpviz.core.data_files import read_table
from dpviz.core.formatting import format_count, format_number

FAMILY_LEVEL = 1e-3  # Probability that chance alone puts any simulated number beyond the limit
FAR = 3  # Standard errors from which a simulated number differs
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
PRINTED = re.compile(r"\{(\w+)\[(\w+)\]:?([^{}]*)\}")


class Agreement(StrEnum):
    """The verdict on something printed."""

    AGREES = "agrees"
    ROUNDING = "differs within rounding"
    CHANCE = "within simulation error"
    DIFFERS = "differs"
    UNKNOWN = "cannot be computed"

    @property
    def comes_out(self) -> bool:
        """Whether the two agree by the digit, or as nearly as rounding and chance allow."""
        return self not in (Agreement.DIFFERS, Agreement.UNKNOWN)

    @property
    def needs_explanation(self) -> bool:
        """Whether a reason must say why."""
        return self in (Agreement.ROUNDING, Agreement.DIFFERS, Agreement.UNKNOWN)


class Kind(StrEnum):
    """What is printed: only a result says how far a paper can be reproduced."""

    RESULT = "result"
    SETTING = "setting"  # chosen by the paper
    QUOTED = "quoted"  # from other work
    LOST = "lost"  # missing in the text at hand


@dataclass(frozen=True, kw_only=True)
class Record:
    """Something that a paper prints, beside ours; fields are the columns of the file."""

    id: str  # in addresses: the same as long as what is printed and its place are
    paper: str  # authors and year
    place: str
    figure: str  # that a sentence speaks of
    what: str  # a column, or what a sentence is about
    design: str  # the parameters behind it, such as "epsilon = 2; p = 0.25"
    printed: str  # the digits or the statement
    quote: str  # the words around a number
    ours: str  # empty where it cannot be computed
    error: float  # standard error of printed − ours; 0 where both are exact
    our_error: float  # the part of it that is ours
    units_of_last_digit: float  # printed − ours
    standard_errors: float  # printed − ours
    verdict: Agreement
    kind: Kind
    as_stated: bool  # read as the words around it say
    reading_of: str  # id of the record of which it is an alternative reading, which need not agree
    reading: str  # what the printed is taken for
    reason: str  # why it differs or cannot be computed
    page: str  # that shows it
    settings: str  # of the page's controls, as in an address
    key: str  # of the statement, or of the check in tests.reproduction of all cells of a table

    @classmethod
    def from_row(cls, row: dict[str, str]) -> Self:
        """The record in a row of the file; digits stay text."""
        names = ("error", "our_error", "units_of_last_digit", "standard_errors")
        fields: dict[str, Any] = {name: row[name] for name in cls.__dataclass_fields__}
        fields |= {name: float(row[name] or 0) for name in names}
        fields |= {"verdict": Agreement(row["verdict"]), "kind": Kind(row["kind"])}
        return cls(**fields | {"as_stated": row["as_stated"] == "True"})

    @property
    def is_number(self) -> bool:
        """Whether a number is printed, not a statement."""
        return NUMBER.fullmatch(self.printed) is not None

    @property
    def is_computed(self) -> bool:
        """Whether it is a result that can be computed; settings, quotations and what is lost are not."""
        return self.kind is Kind.RESULT and self.verdict is not Agreement.UNKNOWN

    @property
    def is_alternative(self) -> bool:
        """Whether it is an alternative reading."""
        return bool(self.reading_of)

    @property
    def unit(self) -> float:
        """One unit of the last printed digit."""
        return float(10.0 ** -len(self.printed.partition(".")[2]))

    @property
    def distance(self) -> str:
        """How far a number is from ours, in words."""
        if self.error:
            return f"{self.standard_errors:.1f} standard errors"
        return f"{self.units_of_last_digit:.1f} units of the last digit"

    @property
    def parameters(self) -> dict[str, float | str]:
        """The design by name.

        >>> next(record for record in load_records() if record.design).parameters
        {'n1': 0.0, 'n2': 5.0}
        """
        pairs = (part.split(" = ", 1) for part in self.design.split("; ") if part)
        plain = ((name, text, text.replace(",", "").replace("−", "-")) for name, text in pairs)
        return {name: float(digits) if NUMBER.fullmatch(digits) else text for name, text, digits in plain}

    @property
    def query(self) -> dict[str, str]:
        """What the page's controls say, by name."""
        return dict(parse_qsl(self.settings))


TEXTS = {row["name"]: row["text"] for row in read_table("published/texts")}
"""How the records were computed, with places for the numbers."""


@cache
def load_records(paper: str = "") -> tuple[Record, ...]:
    """Every record, or those of a paper by authors and year, in printed order; read once in a process."""
    if paper:
        return tuple(record for record in load_records() if record.paper == paper)
    return tuple(map(Record.from_row, read_table("published/records")))


@cache
def load_papers() -> dict[str, str]:
    """The papers by key, authors and year, in the order of their years."""
    return {row["key"]: row["paper"] for row in read_table("published/papers")}


@cache
def alternative_readings() -> dict[str, list[Record]]:
    """The alternative readings of records, by the ids of these."""
    readings: dict[str, list[Record]] = defaultdict(list)
    for record in load_records():
        if record.is_alternative:
            readings[record.reading_of].append(record)
    return dict(readings)


def fill_in_printed(text: str) -> str:
    """A text with what papers print in the places of its keys, ``{paper[key]}``, which may have a format.

    >>> fill_in_printed("{liu[repeats]:,.0f} runs; from {bowen_liu[smallest]}, as {printed}")
    '5,000 runs; from 0.007, as {printed}'
    """

    def printed(match: re.Match[str]) -> str:
        paper, key, form = match.groups()
        record = next(record for record in load_records(load_papers()[paper]) if record.key == key)
        return format(float(record.printed), form) if form else record.printed

    return PRINTED.sub(printed, text)


@dataclass(frozen=True)
class Erratum:
    """What a paper prints and its own definitions contradict; `command` establishes it, and prints `output`."""

    paper: str
    place: str
    topic: str
    kind: str
    printed: str
    truth: str
    consequence: str
    certainty: str
    other_reading: str  # that makes the print right
    command: str
    output: str

    @property
    def summary(self) -> str:
        """Its place, kind, print and truth in Markdown."""
        return f"**{self.place}, {self.kind}.** {self.printed} {self.truth}"


@cache
def load_errata(paper: str) -> tuple[Erratum, ...]:
    """The errata of a paper, by authors and year."""
    return tuple(Erratum(**row) for row in read_table("published/errata") if row["paper"] == paper)


@dataclass(frozen=True)
class Summary:
    """What records say together, without alternative readings."""

    verdicts: Counter[Agreement]  # of the results, as are the numbers below
    kinds: Counter[Kind]  # of everything printed
    n_numbers: int
    n_statements: int
    n_read_otherwise: int  # than stated
    n_simulated: int

    @property
    def n_come_out(self) -> int:
        """Results that come out."""
        return sum(count for verdict, count in self.verdicts.items() if verdict.comes_out)

    @property
    def counts(self) -> str:
        """How many results have each verdict, and what else is printed.

        >>> summarize([record for record in load_records() if record.place == "Fig. 3"]).counts
        '36 results: 36 agree'
        """
        verbs = {Agreement.AGREES: "agree", Agreement.ROUNDING: "differ within rounding", Agreement.DIFFERS: "differ"}
        nouns = {Kind.SETTING: "setting", Kind.QUOTED: "quotation", Kind.LOST: "lost item"}
        verdicts = {verdict: self.verdicts[verdict] for verdict in Agreement if self.verdicts[verdict]}
        results = [f"{n:,} {verbs.get(verdict, verdict) if n > 1 else verdict}" for verdict, n in verdicts.items()]
        rest = [format_count(self.kinds[kind], noun) for kind, noun in nouns.items() if self.kinds[kind]]
        counts = f"{format_count(self.kinds[Kind.RESULT], 'result')}: {', '.join(results) or 'none'}"
        return f"{counts}; besides {', '.join(rest)}" if rest else counts


def summarize(records: Iterable[Record]) -> Summary:
    """What records say together."""
    primary = [record for record in records if not record.is_alternative]
    results = [record for record in primary if record.kind is Kind.RESULT]
    return Summary(
        verdicts=Counter(record.verdict for record in results),
        kinds=Counter(record.kind for record in primary),
        n_numbers=sum(record.is_number for record in results),
        n_statements=sum(not record.is_number for record in results),
        n_read_otherwise=sum(not record.as_stated for record in results),
        n_simulated=sum(record.error > 0 for record in results),
    )


def simulation_limit(n_simulated: int) -> float:
    """The standard errors beyond which chance puts one or more of so many numbers in one of 1,000 runs at most.

    Bonferroni's bound, so that numbers may share random numbers.

    >>> round(simulation_limit(1), 4), round(simulation_limit(300), 4)
    (3.2905, 4.6491)
    """
    return float(-ndtri(FAMILY_LEVEL / 2 / max(n_simulated, 1)))


def rule_sentence(n_simulated: int) -> str:
    """From where on a simulated number, or a statement, counts as wrong."""
    limit = format_number(simulation_limit(n_simulated), 3)
    return TEXTS["rule"].format(count=n_simulated, far=FAR, limit=limit, runs=1 / FAMILY_LEVEL)


@cache
def provenance() -> str:
    """How and when the records were computed, and by which command they are again."""
    row, rule = read_table("published/records")[0], rule_sentence(summarize(load_records()).n_simulated)
    day, repetitions = datetime.date.fromisoformat(row["computed"]), int(row["repetitions"])
    return TEXTS["provenance"].format(day=day, repetitions=repetitions, seed=row["seed"], rule=rule)
