"""Numbers in the words of a sentence or a cell: shares, invented rows, ratios, and measures with their errors."""

import math
from typing import NamedTuple

from dpviz.core.measures import Measure
from dpviz.core.parameters import SUPERSCRIPTS, readable, rounded_up

LONGEST_SUMS = 1e-8  # Distance within which the longest exact sums give a share
ROUNDED_SUM = 1e-11  # Distance from none or all within which a share may be nothing but the rounding of a sum
FEW_ROWS = 10
MOST_DIGITS_OF_BOUND = 12  # of a share: what is nearer to 1 is told as that
"""Invented rows below which their number is a weight: nobody counts 1.36 rows."""


class TextTable(NamedTuple):
    """A table in words: what stands above its columns, its rows, whose cells may hold inline HTML, and its name."""

    head: list[str]
    rows: list[list[str]]
    caption: str


def percent(share: float, digits: int = 5) -> str:
    """A share in per cent, to no more decimals than a bound of 10⁻⁸ on its error leaves; 0 and 100 only where it is so.

    >>> percent(0.754419995), percent(3e-12), percent(0.9999851, 4)
    ('75.442 %', '0 %', '99.999 %')
    >>> percent(2e-9), percent(1 - 2e-9)
    ('less than 10⁻⁶ %', 'more than 99.999999 %')
    """
    rounded = round(100 * share, 6)
    if rounded in (0, 100) and abs(share - rounded / 100) > ROUNDED_SUM:
        return "more than 99.999999 %" if rounded else "less than 10⁻⁶ %"
    while rounded < 100 and float(f"{rounded:.{digits}g}") == 100:
        digits += 1
    return f"{readable(rounded, digits)} %"


def percent_at_most(share: float, digits: int) -> str:
    """A bound of a share, rounded up; 100 % only where it is that.

    >>> percent_at_most(0.7310586, 3), percent_at_most(0.99951, 3), percent_at_most(1.0, 3)
    ('at most 73.2 %', 'at most 99.96 %', 'at most 100 %')
    >>> percent_at_most(1 - 1e-9, 3), percent_at_most(1e-11, 3)
    ('at most 99.9999999 %', 'at most 10⁻⁹ %')
    """
    most = (rounded_up(share, more) for more in range(digits, MOST_DIGITS_OF_BOUND))
    return f"at most {readable(100 * next((one for one in most if one < 1), 1.0), MOST_DIGITS_OF_BOUND)} %"


def percent_between(low: float, high: float, digits: int) -> str:
    """A share of which two bounds are known, to the digits that both have alike.

    >>> percent_between(0.666598, 0.666603, 5), percent_between(0.5, 0.52, 4), percent_between(0.0, 3e-9, 4)
    ('66.66 %', '50 % to 52 %', 'less than 10⁻⁶ %')
    """
    for one in range(digits, 2, -1):
        if high - low <= LONGEST_SUMS or percent(low, one) == percent(high, one):
            return percent(high if high < 0.5 else low, one)
    return f"{percent(low, digits)} to {percent(high, digits)}"


def invented_text(rows: float, digits: int = 3) -> str:
    """Invented rows, never fewer than the promise takes; thousands of them are counted to the last row."""
    digits = max(digits, 4) if 1000 <= rows < 10_000 else digits
    return readable(rounded_up(rows, digits), digits)


def few_rows(rows: float) -> bool:
    """Whether so many invented rows are told by their weight."""
    return rounded_up(rows, 3) < FEW_ROWS


def rows_text(rows: float) -> str:
    """Invented rows in a sentence: so many of them, or what a few of them weigh.

    >>> rows_text(15.6521), rows_text(1.3567)
    ('15.7 invented rows', 'the weight of 1.36 invented rows')
    """
    return f"{'the weight of ' if few_rows(rows) else ''}{invented_text(rows)} invented rows"


def more_or_less(ratio: float) -> str:
    """How a number compares with another one, of which it is `ratio` times as much; in per cent near it.

    >>> more_or_less(1.048), more_or_less(0.661), more_or_less(5.7777), more_or_less(0.25), more_or_less(1.9999)
    ('4.8 % more', '34 % less', '5.78 times as much', '0.25 times as much', '2 times as much')
    """
    if 0.5 < ratio < 1.995:  # from there on it is 100 % to two digits
        return f"{readable(100 * abs(ratio - 1), 2)} % {'less' if ratio < 1 else 'more'}"
    return f"{readable(ratio, 3)} times as much"


def signed_points(points: float, digits: int = 3) -> str:
    """Points of coverage with their sign, to no more decimals than a bound of 10⁻⁸ on a coverage leaves.

    >>> signed_points(-60.299), signed_points(7.26), signed_points(2e-7)
    ('−60.3', '+7.26', '0')
    """
    rounded = round(points, 5)
    return ("+" if rounded > 0 else "") + readable(rounded, digits)


def number(value: float, digits: int) -> str:
    """A number in a table; a dash where there is none."""
    return readable(value, digits) if math.isfinite(value) else "–"


def failure_text(value: float, digits: int = 4) -> str:
    """A δ that is never 0; in words where it is below the floating-point numbers.

    >>> failure_text(0.25), failure_text(0.0)
    ('0.25', '< 10⁻³⁰⁰')
    """
    return readable(value, digits) if value > 0 else "< 10⁻³⁰⁰"


def without_rounding(measure: Measure) -> float:
    """The value of a measure, 0 where it is no more than the rounding of a sum.

    >>> without_rounding(Measure(1.17e-14, 0.0))
    0.0
    """
    return 0.0 if abs(measure.value) < 1e-12 else measure.shown


def error_text(error: Measure) -> str:
    """An error in a sentence: to three digits where it is exact, to two where it is simulated.

    >>> error_text(Measure(0.12345, 0.0)), error_text(Measure(0.12345, 0.01))
    ('0.123', 'about 0.12')
    """
    value = without_rounding(error)
    return readable(value, 3) if error.error == 0 else f"about {readable(value, 2)}"


def measured(measure: Measure, *, share: bool = False) -> tuple[str, str]:
    """A measure to four digits, or a dash, and its Monte Carlo error where it has one; a share in per cent."""
    if math.isnan(measure.value):
        return "–", ""
    value, unit = without_rounding(measure), 100 if share else 1
    error = f"± {readable(unit * measure.error, 1)}" if measure.error > 0 else ""
    return percent(value, 4) if share else readable(value, 4), error


def large_count(number: int) -> str:
    """A count; a large one by its power of ten, for it may be too large for a float.

    >>> large_count(4_000_000), large_count(10**400)
    ('4,000,000', '1.0×10⁴⁰⁰')
    """
    if number < 10**9:
        return f"{number:,}"
    exponent = math.floor(math.log10(number))
    return f"{number / 10**exponent:.1f}×10{str(exponent).translate(SUPERSCRIPTS)}"


def spelled(number: int) -> str:
    """A number in words up to twelve.

    >>> spelled(0), spelled(12), spelled(1300)
    ('no', 'twelve', '1,300')
    """
    small = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
    return small[number] if number < len(small) else f"{number:,}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, of which one is called `one`.

    >>> counted(1, "value"), counted(3, "value")
    ('one value', 'three values')
    """
    return f"{spelled(number)} {one if number == 1 else many or one + 's'}"


def in_figures(number: int, one: str, many: str = "") -> str:
    """The same in figures.

    >>> in_figures(1, "person", "people"), in_figures(1300, "row")
    ('1 person', '1,300 rows')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def measured_text(measure: Measure, *, share: bool = False) -> str:
    """The same in one piece.

    >>> measured_text(Measure(0.5, 0.01), share=True), measured_text(Measure(0.5, 0.0))
    ('50 % ± 1', '0.5')
    """
    return " ".join(filter(None, measured(measure, share=share)))
