"""The frozen records: every printed number and statement with what was computed of it, and the papers' errata."""

import csv
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Self
from urllib.parse import parse_qsl


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
    """Something that a paper prints, beside ours.

    Parameters
    ----------
    id : str
        Its name in addresses, the same as long as what is printed and its place are.
    paper, place, figure : str
        Authors and year, where it stands, and the figure that a sentence speaks of.
    what, design : str
        A column or what a sentence is about; the parameters behind it, such as ``"epsilon = 2; p = 0.25"``.
    printed, quote : str
        The digits or the statement as printed; the words around a number.
    ours : str
        The number or statement that was computed; empty where there is none.
    error, our_error : float
        Standard error of printed − ours, and the part of it that is ours; 0 where both are exact.
    units_of_last_digit, standard_errors : float
        printed − ours in units of the last printed digit, and in standard errors.
    verdict : Agreement
        How the two compare.
    kind : Kind
        Result, setting, quotation, or lost.
    as_stated : bool
        Whether it is read as the words around it say.
    reading_of : str
        Id of the record of which it is an alternative reading, which need not agree.
    reading, reason : str
        What the printed is taken for; why it differs or cannot be computed.
    page, settings : str
        The page that shows it, and what the page's controls say, as in an address.
    key : str
        Name of the statement, or of the check in `tests.reproduction` of all cells of a table.
    """

    id: str
    paper: str
    place: str
    figure: str
    what: str
    design: str
    printed: str
    quote: str
    ours: str
    error: float
    our_error: float
    units_of_last_digit: float
    standard_errors: float
    verdict: Agreement
    kind: Kind
    as_stated: bool
    reading_of: str
    reading: str
    reason: str
    page: str
    settings: str
    key: str

    @classmethod
    def from_row(cls, row: dict[str, str]) -> Self:
        """Return the record in a row of the file; digits stay text."""
        fields: dict[str, Any] = {name: row[name] for name in cls.__dataclass_fields__}
        for name in ("error", "our_error", "units_of_last_digit", "standard_errors"):
            fields[name] = float(row[name] or 0)
        fields["verdict"], fields["kind"] = Agreement(row["verdict"]), Kind(row["kind"])
        fields["as_stated"] = row["as_stated"] == "True"
        return cls(**fields)

    @property
    def is_number(self) -> bool:
        """Whether a number is printed, not a statement."""
        return is_number(self.printed)

    @property
    def is_computed(self) -> bool:
        """Whether it is a result that can be computed; settings, quotations and what is lost are not."""
        return self.kind is Kind.RESULT and self.verdict is not Agreement.UNKNOWN

    @property
    def is_alternative(self) -> bool:
        """Whether it is an alternative reading, which need not agree."""
        return bool(self.reading_of)

    @property
    def unit(self) -> float:
        """One unit of the last printed digit."""
        return float(10.0 ** -len(self.printed.partition(".")[2]))

    @property
    def parameters(self) -> dict[str, float | str]:
        """The design by name.

        >>> next(record for record in load_records() if record.design).parameters
        {'n1': 0.0, 'n2': 5.0}
        """
        pairs = (part.split(" = ", 1) for part in self.design.split("; ") if part)
        plain = ((name, text, text.replace(",", "").replace("−", "-")) for name, text in pairs)
        return {name: float(digits) if is_number(digits) else text for name, text, digits in plain}

    @property
    def query(self) -> dict[str, str]:
        """What the page's controls say, by name."""
        return dict(parse_qsl(self.settings))


def is_number(text: str) -> bool:
    """Whether a printed text is one number.

    >>> is_number("-0.00"), is_number("8 cells")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_data(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of the folder `data`, every cell as text."""
    return list(csv.DictReader(data_text(name).splitlines()))


def data_text(name: str) -> str:
    """Return a file of the folder `data` as it is."""
    return files("dpviz.published").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")


@cache
def load_records() -> tuple[Record, ...]:
    """Return every record in the order of the papers; read once in a process."""
    return tuple(map(Record.from_row, read_data("records")))


@cache
def load_papers() -> dict[str, str]:
    """Return the papers by key, authors and year, in the order of their years."""
    return {row["key"]: row["paper"] for row in read_data("papers")}
