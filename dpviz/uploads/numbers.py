"""Numbers as people write them, with decimal and thousands marks, and round bounds around them."""

import math
import re
from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import NamedTuple

from dpviz.core.escape import is_number

STEPS_IN_SPREAD = 10  # bounds are multiples of the smallest round number of which at most so many lie in the spread
MIN_RELATIVE_SPREAD, MIN_SPREAD = Fraction(1, 10**9), Fraction(1, 10**100)  # a smaller one counts as this
MARK_NAMES = {".": "Points", ",": "Commas"}
OTHER_MARK = {".": ",", ",": "."}
# Numbers whose thousands are separated, by their decimal mark
GROUPED = {
    mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(other)}\d{{3}})+(?:{re.escape(mark)}\d*)?").fullmatch
    for mark, other in OTHER_MARK.items()
}


class Marks(NamedTuple):
    """Decimal mark of a column's numbers, and whether their only mark may as well separate thousands."""

    decimal: str
    doubt: bool = False


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


def find_marks(texts: Collection[str], comma_separates: bool) -> Marks:
    """How the numbers among these texts are written.

    The mark with which more of them are numbers. If they are numbers with either, it separates thousands where all
    numbers without one are below 1,000, or where it is a comma and commas stand between the values of the file.

    >>> find_marks(["1.500", "2.25"], False), find_marks(["1.500", "2.300"], False), find_marks(["1.500", "950"], False)
    (Marks(decimal='.', doubt=False), Marks(decimal='.', doubt=True), Marks(decimal=',', doubt=True))
    """
    values = {decimal: [parse_number(text, decimal) for text in texts] for decimal in OTHER_MARK}
    unread = {decimal: values[decimal].count(None) for decimal in OTHER_MARK}
    if unread["."] != unread[","]:
        return Marks(min(unread, key=lambda mark: unread[mark]))
    used = [mark for mark in OTHER_MARK if any(mark in text for text in texts)]
    if values["."] == values[","] or unread["."] > 0 or len(used) > 1:
        return Marks(".")
    mark = used[0]
    numbers = zip(texts, values["."], strict=True)
    unmarked = [abs(value) for text, value in numbers if value is not None and mark not in text]
    separates_thousands = max(unmarked, default=math.inf) < 1000 or (mark == "," and comma_separates)
    return Marks(OTHER_MARK[mark] if separates_thousands else mark, doubt=True)


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
