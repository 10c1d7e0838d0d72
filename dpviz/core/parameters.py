"""One declaration for each number a user may set: its symbol, domain, default and words."""

import math
import sys
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from numbers import Integral
from typing import Any, Literal

import numpy as np

from dpviz.core.types import FloatArray

AxisScale = Literal["linear", "log"]
PrivateEnd = Literal["larger", "smaller", "neither"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number that a user may set, with everything that is known about it; both ends belong to its domain.

    >>> Parameter(name="n", symbol="n", title="Rows", minimum=1, maximum=9, default=5, help="", integer=True).check(0)
    Traceback (most recent call last):
    ValueError: n (rows) must be a whole number from 1 to 9; got 0.
    """

    name: str
    symbol: str
    title: str
    minimum: float
    maximum: float
    default: float
    help: str
    integer: bool = False
    open_minimum: bool = False  # the minimum does not belong to the domain
    per_cell: bool = False  # a sequence with one value for each cell is accepted
    scale: AxisScale = "linear"
    slider_minimum: float | None = None  # of the domain where it is not given, as is the maximum
    slider_maximum: float | None = None
    private_end: PrivateEnd = "neither"
    domain_in_words: str = ""  # where its ends do not say it best
    infinite: bool = False  # ∞ is accepted too, whatever the maximum is
    share: bool = False  # of people or of intervals, which a slider tells in per cent

    @property
    def domain(self) -> str:
        """The accepted values in words, such as ``a number above 1, at most 10¹²``."""
        if self.domain_in_words:
            return self.domain_in_words
        kind, written = ("a whole number", shown) if self.integer else ("a number", readable)
        if self.open_minimum:
            return f"{kind} above {written(self.minimum)}, at most {written(self.maximum)}"
        return f"{kind} from {written(self.minimum)} to {written(self.maximum)}"

    def check(self, value: object) -> float:
        """Return `value` as a plain number of the domain, or raise a ValueError that says what is allowed."""
        if type(value) is float and not self.integer and self.minimum < value < self.maximum:  # as nearly always
            return value + 0.0  # a zero has no sign
        number = plain_number(value)
        if number is None or not self._holds(number):
            raise ValueError(self._refusal(shown(value if number is None else number)))
        if self.integer:
            return int(number)
        return math.inf if number > sys.float_info.max else float(number) + 0.0

    def check_each(self, values: object) -> FloatArray:
        """Return an array of numbers of the domain, in the shape of `values`, or raise as `check` does."""
        try:
            given = np.asarray(values)
        except ValueError:
            given = np.array("ragged")
        if given.dtype.kind not in "iufO" or np.ma.is_masked(values):
            raise ValueError(self._refusal(shown(values)))
        if given.dtype.kind == "f":
            given = given.astype(np.result_type(given.dtype, float), copy=False)  # half a float holds no 10¹²
        if given.dtype.kind in ("iu" if self.integer else "iuf"):
            inside = given > self.minimum if self.open_minimum else given >= self.minimum
            if np.all(inside & (given <= self.maximum)):
                return given.astype(np.int64 if self.integer else float)
        return np.array([self.check(one) for one in given.ravel()]).reshape(given.shape)

    def _holds(self, number: float) -> bool:
        if self.infinite and number == math.inf:
            return True
        return (
            self.minimum <= number <= self.maximum
            and not (self.open_minimum and number == self.minimum)
            and not (self.integer and number != math.floor(number))
        )

    def _refusal(self, got: str) -> str:
        title = self.title.lower()
        return f"{self.name}{f' ({title})' if title != self.name else ''} must be {self.domain}; got {got}."

    def parse(self, text: str) -> float:
        """Return the value written in `text`, or raise the same ValueError as `check`."""
        try:
            return self.check(float(text))
        except ValueError as problem:
            if "must be" in str(problem):
                raise
            return self.check(text)


def argument(name: str, minimum: float, maximum: float, **rest: Any) -> Parameter:
    """Return the declaration of a number that has no control on a page."""
    plain: dict[str, Any] = {"symbol": name, "title": name, "default": maximum, "help": ""}
    return Parameter(name=name, minimum=minimum, maximum=maximum, **plain | rest)


def plain_number(value: object) -> float | None:
    """Return a number of any kind as a plain int or float, or None where it is none: text, a truth value, NaN, 1j.

    >>> plain_number(np.int8(3)), plain_number(Decimal("0.5")), plain_number(np.True_), plain_number("3")
    (3, 0.5, None, None)
    """
    if type(value) is float:  # as nearly always
        return None if math.isnan(value) else value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (str, bytes, bool, np.bool_, complex, np.complexfloating, np.ndarray)):
        return None
    if isinstance(value, Integral):
        return int(value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def shown(value: object) -> str:
    """What came, as a message shows it: a number as `readable` writes it where no digit is lost, else its repr, cut.

    >>> shown(5000), shown(0.1 + 0.2), shown("many"), shown([0.5] * 99), shown(10**400)
    ('5,000', '0.30000000000000004', "'many'", '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 …', 'a number above 10³⁰⁸')
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:
        if sys.float_info.max < abs(value) < math.inf:
            return "a number above 10³⁰⁸" if value > 0 else "a number below −10³⁰⁸"
        number = float(value)
        return readable(number) if float(f"{number:.6g}") == value else repr(value)
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN].rstrip(', ')} …"


LONGEST_SHOWN = 40  # Characters of a refused value that a message repeats
SEARCHED = 1e-9  # Relative distance that a number may have from the exact one where a search has found it
LAST_PLACES = 4  # Units in the last place that a formula may be off by: a number that close to a short one is meant
ALL_DIGITS = Context(prec=2000)  # Holds every digit of a floating-point number
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def readable(number: float, digits: int = 6) -> str:
    """Return a number as a person writes it: thousands separated, powers of ten raised, `digits` significant digits.

    >>> readable(5000), readable(0.25), readable(1e-05), readable(1.5e12), readable(float("inf"))
    ('5,000', '0.25', '10⁻⁵', '1.5×10¹²', '∞')
    """
    if math.isnan(number):
        raise ValueError("number must not be NaN: it has no readable form.")
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if number == 0:
        return "0"
    if 1e-4 <= abs(number) < 1e7:
        rounded = float(f"{number:.{digits}g}")
        if rounded == math.floor(rounded):
            return f"{int(rounded):,}".replace("-", "−")
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
        text = f"{rounded:,.{decimals}f}"
        return (text.rstrip("0").rstrip(".") if decimals else text).replace("-", "−")
    mantissa, _, exponent = f"{number:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "−")
    power = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
    if mantissa in ("1", "−1"):
        return mantissa.replace("1", "") + power
    return f"{mantissa}×{power}"


def readable_apart(number: float, other: float, digits: int = 6) -> str:
    """Return a number as `readable` writes it, with as many digits more as tell it from another one.

    >>> readable_apart(1.00001, 1.0, 4), readable_apart(1.2, 1.0, 4), readable_apart(1.0, 1.0, 4)
    ('1.00001', '1.2', '1')
    """
    if number != other:
        for more in range(digits, 17):
            if readable(number, more) != readable(other, more):
                return readable(number, more)
    return readable(number, digits)


EPSILON = Parameter(
    name="epsilon",
    symbol="ε",
    title="Promised privacy loss",
    minimum=1e-6,
    maximum=1e3,
    default=2.0,
    slider_minimum=0.01,
    slider_maximum=20.0,
    scale="log",
    private_end="smaller",
    help="The privacy loss that is promised: when one row is substituted, no released count may change the attacker's "
    "odds by more than a factor eᵋ. Smaller is more private; values from 0.1 to 10 are usual.",
)
ANY_EPSILON = argument("epsilon", 0, sys.float_info.max, domain_in_words="a finite number, 0 or larger")

DELTA = Parameter(
    name="delta",
    symbol="δ",
    title="Allowed failure",
    minimum=0.0,
    maximum=1.0,
    default=1e-5,
    slider_minimum=1e-12,
    slider_maximum=0.5,
    scale="log",
    private_end="smaller",
    help="The probability mass that may escape the promise ε; 0 asks for pure ε-differential privacy. Smaller is more "
    "private, and far less than 1/n is usual.",
)


def rounded_up(number: float, digits: int = 6) -> float:
    """Return the smallest number of `digits` significant digits that is not below `number`, as priors are shown.

    >>> rounded_up(7.58061, 4), rounded_up(0.25), rounded_up(float("inf")), rounded_up(0.1 + 0.2)
    (7.581, 0.25, inf, 0.3)
    """
    return _rounded(number, digits, ROUND_CEILING)


def rounded_enough(number: float, digits: int = 6) -> float:
    """Return the same of a number that a search has found to be enough: one that near to a short one is that.

    >>> rounded_enough(3.0000000000096, 3), rounded_enough(3.000001, 3)
    (3.0, 3.01)
    """
    return rounded_up(number * (1 - SEARCHED), digits)


def rounded_down(number: float, digits: int = 6) -> float:
    """Return the largest number of `digits` significant decimal digits that is not above `number`."""
    return _rounded(number, digits, ROUND_FLOOR)


def _rounded(number: float, digits: int, way: str) -> float:
    if not math.isfinite(number) or number == 0:
        return number
    nearest = float(f"{number:.{digits}g}")
    if abs(number - nearest) <= LAST_PLACES * math.ulp(number):
        return nearest
    exact = Decimal(number)
    return float(exact.quantize(Decimal((0, (1,), exact.adjusted() - digits + 1)), rounding=way, context=ALL_DIGITS))


NONE_NEEDED = 1e-290  # A smallest prior up to which any prior is enough
BEYOND_REACH = "beyond reach"  # What stands for a NaN: an answer that is not computed at this size


def known(value: float) -> bool:
    """Return whether a smallest prior is a number to show, rather than "impossible" or "any".

    >>> known(0.1), known(1e-295), known(math.inf), known(math.nan)
    (True, False, False, False)
    """
    return math.isfinite(value) and value > NONE_NEEDED


@dataclass(frozen=True)
class Quantity:
    """How much a promise takes: a word for it, words with its value, and whether more of it is more private."""

    noun: str
    words: str = ""
    larger_is_safer: bool = True

    def keeps(self, value: float, needed: float) -> bool:
        """Return whether a value keeps the promise where so much is needed."""
        return value >= needed if self.larger_is_safer else value <= needed

    def rounded(self, value: float, digits: int) -> float:
        """Return a value with so many digits that still keeps the promise."""
        return (rounded_up if self.larger_is_safer else rounded_down)(value, digits)

    def shown(self, value: float, digits: int = 3) -> str:
        """Return a value in words, so rounded."""
        return self.words.format(readable(self.rounded(value, digits), digits))

    def text(self, value: float, digits: int = 5) -> str:
        """Return what is needed as a number alone, so rounded; in a word where it is none, or where any is enough.

        >>> PRIOR_QUANTITY.text(7.580612), PRIOR_QUANTITY.text(math.inf), RANGE_QUANTITY.text(7.580612)
        ('7.5807', 'impossible', '7.5806')
        """
        if math.isnan(value):
            return BEYOND_REACH
        if self.larger_is_safer and not known(value):
            return "any" if math.isfinite(value) else "impossible"
        return readable(self.rounded(value, digits), digits)


PRIOR_QUANTITY, NOISE_QUANTITY = Quantity("prior", "a prior of {}"), Quantity("noise", "noise of {} R")
RANGE_QUANTITY, NO_QUANTITY = Quantity("R/σ", "R/σ = {}", larger_is_safer=False), Quantity("")
