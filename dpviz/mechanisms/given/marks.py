"""How the numbers of a column are written: the decimal mark, and what separates thousands."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dpviz.core.csv_text import is_number

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
