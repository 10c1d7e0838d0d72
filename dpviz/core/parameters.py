"""Declarations of numbers that a user may set: symbol, domain, default, words and slider, and their validation."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from dpviz.core.formatting import describe_value, format_number

AxisScale = Literal["linear", "log"]
PrivateEnd = Literal["larger", "smaller", "neither"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number that a user may set, with its domain and what a control says of it.

    >>> n = Parameter(name="n", symbol="n", title="Rows", minimum=1, maximum=9, default=5, help="", integer=True)
    >>> n.validate(np.int8(3)), n.parse("7")
    (3, 7)
    >>> n.validate(0)
    Traceback (most recent call last):
    ValueError: n (rows) must be a whole number from 1 to 9; got 0.
    """

    name: str  # in code
    symbol: str  # in formulas
    title: str  # label of its control
    minimum: float  # both ends belong to the domain
    maximum: float
    default: float
    help: str  # explanation beside its control
    integer: bool = False
    open_minimum: bool = False  # whether the minimum does not belong to the domain
    per_cell: bool = False  # whether a sequence with one value for each cell is accepted
    scale: AxisScale = "linear"  # of its slider, whose ends are those of the domain unless they are given
    slider_minimum: float | None = None
    slider_maximum: float | None = None
    private_end: PrivateEnd = "neither"  # which values are more private
    domain_text: str = ""  # the domain in words, if its ends do not say it best
    infinite: bool = False  # whether ∞ is accepted too, whatever the maximum is
    share: bool = False  # whether it is a share, which a slider shows in per cent

    @property
    def domain(self) -> str:
        """The accepted values in words, such as "a number above 1, at most 10¹²"."""
        if self.domain_text:
            return self.domain_text
        kind = "a whole number" if self.integer else "a number"
        write = describe_value if self.integer else format_number
        if self.open_minimum:
            return f"{kind} above {write(self.minimum)}, at most {write(self.maximum)}"
        return f"{kind} from {write(self.minimum)} to {write(self.maximum)}"

    def validate(self, value: object, *, name: str = "") -> Any:
        """Plain number, whose zero has no sign; a ValueError says what is allowed if it is not in the domain.

        Parameters
        ----------
        value : object
            A number of any kind: NumPy's, a fraction, a decimal; a truth value is none.
        name : str, optional
            Name of the argument in the message, if it is not that of the declaration.
        """
        if type(value) is float and not self.integer and self.minimum < value < self.maximum:  # the usual case
            return value + 0.0
        number = plain_number(value)
        if number is None or not self._contains(number):
            raise ValueError(self._refusal(value if number is None else number, name))
        if self.integer:
            return int(number)
        return math.inf if number > sys.float_info.max else float(number) + 0.0

    def validate_array(self, values: object, *, name: str = "") -> Any:
        """Validate an array of numbers, which keeps its shape; ValueError as of `validate`."""
        try:
            array = np.asarray(values)
        except ValueError:
            array = np.array("ragged")
        if array.dtype.kind not in "iufO" or np.ma.is_masked(values):
            raise ValueError(self._refusal(values, name))
        if array.dtype.kind in "iuf":
            numbers = array.astype(float)
            with np.errstate(invalid="ignore"):
                if np.all(self._contains(numbers)):
                    return numbers.astype(np.int64 if self.integer else float)
        return np.array([self.validate(value, name=name) for value in array.ravel()]).reshape(array.shape)

    def parse(self, text: str) -> Any:
        """Number that a text holds; ValueError as of `validate`."""
        try:
            number: float | str = float(text)
        except ValueError:
            number = text
        return self.validate(number)

    def _contains(self, numbers: Any) -> Any:
        """Whether a number, or each of an array, belongs to the domain."""
        is_above = numbers > self.minimum if self.open_minimum else numbers >= self.minimum
        is_inside = is_above & (numbers <= self.maximum)
        if self.integer:
            is_inside = is_inside & (numbers % 1 == 0)
        return is_inside | (self.infinite & (numbers == math.inf))

    def _refusal(self, value: object, name: str) -> str:
        name = name or self.name
        title = self.title.lower()
        label = name if title == name else f"{name} ({title})"
        return f"{label} must be {self.domain}; got {describe_value(value)}."


def argument(name: str, minimum: float, maximum: float, **changes: Any) -> Parameter:
    """Declaration of a number that has no control on a page.

    Parameters
    ----------
    name : str
    minimum, maximum : float
    **changes
        Further fields.
    """
    fields: dict[str, Any] = {"symbol": name, "title": name, "default": maximum, "help": ""}
    return Parameter(name=name, minimum=minimum, maximum=maximum, **fields | changes)


def declare_numbers(tables: Mapping[str, Mapping[str, Any]], bases: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Numbers that are declared in tables, by name.

    Parameters
    ----------
    tables : mapping
        Fields of each number; its `base` is a number above it, or one of `bases`, from which it differs by the others.
    bases : mapping
    """
    numbers: dict[str, Parameter] = {}
    for name, table in tables.items():
        values = {key: value for key, value in table.items() if key != "base"}
        if "help" in values:
            values["help"] = " ".join(values["help"].split())
        base = {**bases, **numbers}.get(table.get("base", ""))
        if base is None:
            numbers[name] = Parameter(name=name, **values)
        else:
            numbers[name] = replace(base, name=name, **values)
    return numbers


def widest_domains(tables: Iterable[Mapping[str, Parameter]]) -> dict[str, Parameter]:
    """Declarations of several tables by name: the first of each, with the domain that all of them together have."""
    widest: dict[str, Parameter] = {}
    for name, declaration in (item for table in tables for item in table.items()):
        first = widest.get(name, declaration)
        widest[name] = replace(
            first,
            minimum=min(first.minimum, declaration.minimum),
            maximum=max(first.maximum, declaration.maximum),
            open_minimum=first.open_minimum and declaration.open_minimum,
        )
    return widest


def plain_number(value: object) -> float | None:
    """Number of any kind as a plain int or float; None for NaN and what is no number: a text, a truth value, 1j.

    >>> plain_number(np.int8(3)), plain_number(Decimal("0.5")), plain_number(np.True_), plain_number("3")
    (3, 0.5, None, None)
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return None
    try:
        number = int(value) if isinstance(value, Integral) else float(value)
    except (OverflowError, ValueError):  # a fraction beyond all floats, a signalling NaN
        return None
    return None if number != number else number  # only NaN differs from itself; math.isnan refuses large integers


def parameter(declaration: Parameter, **changes: Any) -> Any:
    """Dataclass field without a default for a declared number, with changes to its declaration."""
    return field(metadata={"parameter": replace(declaration, **changes)})


def parameter_with_default(declaration: Parameter, **changes: Any) -> Any:
    """Dataclass field for a declared number with the default of its declaration."""
    declaration = replace(declaration, **changes)
    return field(default=declaration.default, metadata={"parameter": declaration})


def validate_choice(name: str, value: object, allowed: Collection[str]) -> None:
    """Raise a ValueError in a sentence if a value is not one of the words that are allowed.

    Parameters
    ----------
    name : str
        Of the argument, in the message.
    value : object
    allowed : collection of str

    Examples
    --------
    >>> validate_choice("kind", "middle", ("low", "high"))
    Traceback (most recent call last):
    ValueError: kind must be one of low, high; got 'middle'.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {describe_value(value)}.")


def validate_fields(record: object, *declarations: Parameter) -> None:
    """Validate numbers of a frozen dataclass, each under the name of its declaration, and set what came out."""
    for declaration in declarations:
        value = getattr(record, declaration.name)
        if declaration.per_cell and (isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1):
            validated: Any = tuple(map(declaration.validate, value))
        else:
            validated = declaration.validate(value)
        object.__setattr__(record, declaration.name, validated)
