"""Numbers as a person writes them: per cent, counts and estimates in sentences and cells; `digits` are significant."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dpviz.core.monte_carlo import Measure

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_VALUE_CHARACTERS = 40  # of a refused value that a message repeats
SEARCH_TOLERANCE = 1e-9  # relative error of a number that a search has found
SMALL_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
DECIMAL_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")


class TextTable(NamedTuple):
    """A table of texts, whose cells may hold inline HTML."""

    head: list[str]
    rows: list[list[str]]
    caption: str


def format_number(number: float, digits: int = 6) -> str:
    """Format a number with thousands separators and raised powers of ten.

    Parameters
    ----------
    number : float
        Any number but NaN.
    digits : int, optional
        Trailing zeros are left out, and whole numbers below 10⁷ keep their places.

    Examples
    --------
    >>> format_number(5000), format_number(0.25), format_number(1e-05), format_number(1.5e12), format_number(math.inf)
    ('5,000', '0.25', '10⁻⁵', '1.5×10¹²', '∞')
    """
    if math.isnan(number):
        raise ValueError("number must not be NaN: it has no readable form.")
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if number == 0:
        return "0"
    rounded = float(f"{number:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:,}".removesuffix(".0").replace("-", "−")
    mantissa, _, exponent = f"{number:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
    if mantissa in ("1", "−1"):
        return mantissa.replace("1", "") + power
    return f"{mantissa}×{power}"


def format_distinct(number: float, reference: float, digits: int = 6) -> str:
    """Format a number with as many digits more as distinguish it from a reference.

    Parameters
    ----------
    number, reference : float
    digits : int, optional
        At least so many.

    Examples
    --------
    >>> format_distinct(1.00001, 1.0, 4), format_distinct(1.2, 1.0, 4), format_distinct(1.0, 1.0, 4)
    ('1.00001', '1.2', '1')
    """
    if number != reference:
        for size in range(digits, 17):
            if format_number(number, size) != format_number(reference, size):
                return format_number(number, size)
    return format_number(number, digits)


def format_or_dash(value: float, digits: int) -> str:
    """Format a number of a table; a dash if it is not finite.

    Parameters
    ----------
    value : float
    digits : int
    """
    return format_number(value, digits) if math.isfinite(value) else "–"


def describe_value(value: object) -> str:
    """Describe a refused value in a message: a number without loss of digits, or a shortened repr.

    >>> describe_value(5000), describe_value(0.1 + 0.2), describe_value("many"), describe_value(10**400)
    ('5,000', '0.30000000000000004', "'many'", 'a number above 10³⁰⁸')
    >>> describe_value([0.5] * 99)
    '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 …'
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        if sys.float_info.max < abs(value) < math.inf:
            return "a number above 10³⁰⁸" if value > 0 else "a number below −10³⁰⁸"
        number = float(value)
        return format_number(number) if float(f"{number:.6g}") == value else repr(value)
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[:MAX_VALUE_CHARACTERS].rstrip(', ')} …"


def round_up(number: float, digits: int = 6, *, tolerance: float = 0.0) -> float:
    """Smallest number of some significant digits that is not below a number, or below it by rounding alone.

    Parameters
    ----------
    number : float
    digits : int, optional
    tolerance : float, optional
        Relative error of the number, such as `SEARCH_TOLERANCE`: it may be rounded down by so much.

    Examples
    --------
    >>> round_up(7.58061, 4), round_up(0.25), round_up(math.inf), round_up(0.1 + 0.2)
    (7.581, 0.25, inf, 0.3)
    >>> round_up(3.0000000000096, 3, tolerance=SEARCH_TOLERANCE), round_up(3.000001, 3, tolerance=SEARCH_TOLERANCE)
    (3.0, 3.01)
    """
    return _round(number * (1 - tolerance), digits, ROUND_CEILING)


def round_down(number: float, digits: int = 6) -> float:
    """Largest number of some significant digits that is not above a number.

    Parameters
    ----------
    number : float
    digits : int, optional
    """
    return _round(number, digits, ROUND_FLOOR)


def _round(number: float, digits: int, rounding: str) -> float:
    if not math.isfinite(number) or number == 0:
        return number
    nearest = float(f"{number:.{digits}g}")
    if abs(number - nearest) <= 4 * math.ulp(number):  # a formula may be off by so much
        return nearest
    return float(Context(prec=digits, rounding=rounding).create_decimal_from_float(number))


def format_percent(share: float, digits: int = 5) -> str:
    """Format a share in per cent; 0 % and 100 % are said of 0 and 1 alone, and of what may be that but for rounding.

    Parameters
    ----------
    share : float
    digits : int, optional

    Examples
    --------
    >>> format_percent(0.754419995), format_percent(3e-12), format_percent(0.9999851, 4)
    ('75.442 %', '0 %', '99.999 %')
    >>> format_percent(2e-9), format_percent(1 - 2e-9)
    ('less than 10⁻⁶ %', 'more than 99.999999 %')
    """
    rounded = round(100 * share, 6)  # exact sums are good to 10⁻⁸
    if rounded in (0, 100) and abs(share - rounded / 100) > 1e-11:  # more than the rounding of a sum
        return "more than 99.999999 %" if rounded else "less than 10⁻⁶ %"
    while rounded < 100 and float(f"{rounded:.{digits}g}") == 100:
        digits += 1
    return f"{format_number(rounded, digits)} %"


def format_percent_at_most(share: float) -> str:
    """Format an upper bound of a share, rounded up to three digits; 100 % is said of no other bound than 1.

    >>> format_percent_at_most(0.7310586), format_percent_at_most(0.99951), format_percent_at_most(1.0)
    ('at most 73.2 %', 'at most 99.96 %', 'at most 100 %')
    >>> format_percent_at_most(1 - 1e-9), format_percent_at_most(1e-11)
    ('at most 99.9999999 %', 'at most 10⁻⁹ %')
    """
    bounds = (round_up(share, digits) for digits in range(3, 12))
    bound = next((bound for bound in bounds if bound < 1), 1.0)
    return f"at most {format_number(100 * bound, 12)} %"


def format_points(points: float, digits: int = 3) -> str:
    """Format percentage points with their sign.

    Parameters
    ----------
    points : float
    digits : int, optional

    Examples
    --------
    >>> format_points(-60.299), format_points(7.26), format_points(2e-7)
    ('−60.3', '+7.26', '0')
    """
    rounded = round(points, 5)  # exact sums are good to 10⁻⁸
    return ("+" if rounded > 0 else "") + format_number(rounded, digits)


def format_ratio(ratio: float) -> str:
    """Describe a ratio of two numbers, in per cent where it is near 1.

    >>> format_ratio(1.048), format_ratio(0.661), format_ratio(5.7777), format_ratio(0.25), format_ratio(1.9999)
    ('4.8 % more', '34 % less', '5.78 times as much', '0.25 times as much', 'twice as much')
    """
    if 0.5 < ratio < 1.995:  # from there on it is 100 % to two digits
        return f"{format_number(100 * abs(ratio - 1), 2)} % {'less' if ratio < 1 else 'more'}"
    times = format_number(ratio, 3)
    return f"{ {'0.5': 'half', '2': 'twice'}.get(times, f'{times} times') } as much"


def format_failure(delta: float, digits: int) -> str:
    """Format a δ that is positive, but may be 0 as a floating-point number.

    Parameters
    ----------
    delta : float
    digits : int
    """
    return format_number(delta, digits) if delta > 0 else "< 10⁻³⁰⁰"


def format_large_count(number: int) -> str:
    """Format a count that may be too large for a float.

    >>> format_large_count(4_000_000), format_large_count(10**400)
    ('4,000,000', '1.0×10⁴⁰⁰')
    """
    if number < 10**9:
        return f"{number:,}"
    mantissa, exponent = f"{Decimal(number):.1e}".split("e+")
    return f"{mantissa}×10{exponent.translate(SUPERSCRIPTS)}"


def spell_number(number: int) -> str:
    """Spell a whole number up to twelve.

    >>> spell_number(0), spell_number(12), spell_number(1300)
    ('no', 'twelve', '1,300')
    """
    return SMALL_COUNTS[number] if number < len(SMALL_COUNTS) else f"{number:,}"


def spell_count(number: int, singular: str, plural: str = "") -> str:
    """Spell a number of things, up to twelve.

    Parameters
    ----------
    number : int
    singular, plural : str
        The plural of most has an s.

    Examples
    --------
    >>> spell_count(1, "value"), spell_count(3, "value")
    ('one value', 'three values')
    """
    return f"{spell_number(number)} {singular if number == 1 else plural or singular + 's'}"


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Format a number of things in figures.

    Parameters
    ----------
    number : int
    singular, plural : str
        The plural of most has an s.

    Examples
    --------
    >>> format_count(1, "person", "people"), format_count(1300, "row")
    ('1 person', '1,300 rows')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def join_words(words: Iterable[str], separator: str = ", ") -> str:
    """Join words to a list in a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a"])
    ('a, b and c', 'a')
    """
    *start, last = list(words) or [""]
    return " and ".join(filter(None, (separator.join(start), last)))


def format_invented_rows(rows: float, digits: int = 3) -> str:
    """Format a number of invented rows, rounded up; thousands of them to the last row.

    Parameters
    ----------
    rows : float
    digits : int, optional
    """
    digits = max(digits, 4) if 1000 <= rows < 10_000 else digits
    return format_number(round_up(rows, digits), digits)


def is_small_weight(rows: float) -> bool:
    """Whether invented rows are so few that they are a weight: nobody counts 1.36 rows."""
    return round_up(rows, 3) < 10


def describe_invented_rows(rows: float) -> str:
    """Describe a number of invented rows in a sentence.

    >>> describe_invented_rows(15.6521), describe_invented_rows(1.3567)
    ('15.7 invented rows', 'the weight of 1.36 invented rows')
    """
    return f"{'the weight of ' if is_small_weight(rows) else ''}{format_invented_rows(rows)} invented rows"


def _value_or_zero(measure: Measure) -> float:
    """Value of a measure; 0 where it is nothing but the rounding of a sum."""
    return 0.0 if abs(measure.value) < 1e-12 else measure.shown


def format_error(error: Measure, *, of_share: bool = False) -> str:
    """Format an error in a sentence: three digits of an exact one, two of a simulated one.

    Parameters
    ----------
    error : Measure
    of_share : bool, optional
        Whether it is that of a share, which is told in points.

    Examples
    --------
    >>> from dpviz.core.monte_carlo import Measure
    >>> format_error(Measure(0.12345, 0.0)), format_error(Measure(0.12345, 0.01), of_share=True)
    ('0.123', 'about 12 points')
    """
    value = _value_or_zero(error) * (100 if of_share else 1)
    text = format_number(value, 3) if error.error == 0 else f"about {format_number(value, 2)}"
    return f"{text} points" if of_share else text


def format_measure_cells(measure: Measure, *, share: bool = False) -> tuple[str, str]:
    """Format a measure to four digits, or as a dash, and its standard error, which is empty where there is none.

    Parameters
    ----------
    measure : Measure
    share : bool, optional
        Whether it is told in per cent.
    """
    if math.isnan(measure.value):
        return "–", ""
    number = _value_or_zero(measure)
    value = format_percent(number, 4) if share else format_number(number, 4)
    error = f"± {format_number(measure.error * (100 if share else 1), 1)}" if measure.error > 0 else ""
    return value, error


def format_measure(measure: Measure, *, share: bool = False) -> str:
    """Format a measure with its standard error.

    Parameters
    ----------
    measure : Measure
    share : bool, optional
        Whether it is told in per cent.

    Examples
    --------
    >>> from dpviz.core.monte_carlo import Measure
    >>> format_measure(Measure(0.5, 0.01), share=True), format_measure(Measure(0.5, 0.0))
    ('50 % ± 1', '0.5')
    """
    return " ".join(filter(None, format_measure_cells(measure, share=share)))


def shorten_numbers(html: str) -> str:
    """Shorten the decimal numbers in the text of HTML to three digits, for a screen that is read from afar.

    Digits stay where fewer would make a number equal to another one of the text or rounder than it is, and where what
    is cut off is just a half: the number was rounded before, and nothing tells to which side of the half.

    >>> shorten_numbers("ε = <b>5.493061</b>, not 1.0004 but 1: 99.9998 %, 0.06592181 or 1,164.53, from 5.495 on")
    'ε = <b>5.49</b>, not 1.0004 but 1: 99.9998 %, 0.0659 or 1,165, from 5.495 on'
    """
    parts = re.split(r"(<[^>]*>)", html)
    values = {_decimal(text) for part in parts[::2] for text in DECIMAL_NUMBER.findall(part)}
    parts[::2] = [DECIMAL_NUMBER.sub(lambda match: _shorten(match[0], values), part) for part in parts[::2]]
    return "".join(parts)


def shorten_cells(table: str) -> str:
    """Shorten the numbers of an HTML table, each cell for itself."""
    return re.sub(r"(?<=>)[^<>]+", lambda cell: shorten_numbers(cell[0]), table)


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _shorten(text: str, values: set[Decimal]) -> str:
    """Fewest decimals at which a number has three digits and is not mistaken for another one of the values."""
    value = _decimal(text)
    for places in range(len(text.partition(".")[2])):
        unit = Decimal(1).scaleb(-places)
        rounded = value.quantize(unit, ROUND_HALF_UP)
        figures = f"{rounded:f}".replace(".", "").lstrip("0")
        is_unique = all(rounded != number.quantize(unit, ROUND_HALF_UP) for number in values - {value})
        is_half = 2 * abs(rounded - value) == unit
        is_rounder = len(figures.rstrip("0")) <= 1 and rounded != value
        if len(figures) >= 3 and is_unique and not is_half and not is_rounder:
            shorter = f"{rounded:,f}"
            return shorter.rstrip("0").rstrip(".") if places else shorter
    return text
