"""What a study has counted and summed so far: records that add field by field, and they add exactly."""

import dataclasses
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dpviz.core.formatting import describe_value, format_number
from dpviz.core.monte_carlo import Measure

SMALLEST_EXPONENT = 1074  # Every finite floating-point number is a whole multiple of 2⁻¹⁰⁷⁴


def exact_units(values: Iterable[float]) -> int:
    """Return the sum of floating-point numbers in units of 2⁻¹⁰⁷⁴, without rounding, hence in any order and grouping.

    >>> exact_units([1e16, 1.0, -1e16]) == 2**1074
    True
    """
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (SMALLEST_EXPONENT + 1 - denominator.bit_length())
    return total


class Each(NamedTuple):
    """What one repetition can add to a field: from `low` to `high`, in units of 1 / `unit`."""

    low: int = 0
    high: int = 1
    unit: int = 1


def summed(low: float, high: float) -> Any:
    """Return a field that holds the exact sum of a number which is from `low` to `high` in each repetition."""
    each = Each(exact_units([low]), exact_units([high]), 1 << SMALLEST_EXPONENT)
    return dataclasses.field(default=0, metadata={"each": each})


SLACK_OF_SUMS = 1e-9  # By which share of its bounds a sum may miss them: its terms are products, which are rounded


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a count or a sum that others contradict: one that is not from `low` to `high`.

    >>> check_between("covered of rubin_1987", 5, 6, 9)
    Traceback (most recent call last):
    ValueError: covered of rubin_1987 must be from 6 to 9, as the other counts and sums say; got 5.
    """
    slack = SLACK_OF_SUMS if isinstance(value, float) else 0
    if not low - slack * abs(low) <= value <= high + slack * abs(high):
        ends = f"{format_number(low)} to {format_number(high)}"
        raise ValueError(f"{name} must be from {ends}, as the other counts and sums say; got {describe_value(value)}.")


class _Record:
    """Base of frozen dataclasses whose arrays are read-only."""

    PLACE: ClassVar[tuple[str, ...]] = ()  # fields that do not add

    def __post_init__(self) -> None:
        for one in self.adding():
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def adding(cls) -> list[dataclasses.Field[Any]]:
        """Return the fields that add."""
        return [one for one in dataclasses.fields(cls) if one.name not in cls.PLACE]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """Return whether every count, sum and kept digit agrees, of all that is compared."""
        return type(self) is type(other) and all(
            _same(getattr(self, one.name), getattr(other, one.name)) for one in self.adding() if one.compare
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums(_Record):
    """Base of records that add: counts, exact sums (`summed`), arrays of counts, other records and tuples of them."""

    def written(self) -> list[dataclasses.Field[Any]]:
        """Return the fields that a file holds: all that add but what is kept of single repetitions."""
        return [one for one in self.adding() if not isinstance(getattr(self, one.name), FirstRepetitions)]

    def total(self, name: str) -> float:
        """Return the exact sum called `name` as the nearest floating-point number."""
        return int(getattr(self, name)) / (1 << SMALLEST_EXPONENT)

    def mean(self, name: str, number: int) -> Measure:
        """Return the mean of what `number` repetitions summed as `name` and, squared, `name` + ``_squared``."""
        return Measure.mean(self.total(name), self.total(f"{name}_squared"), number)

    def check_mean(self, of: str, name: str, number: int, low: float, high: float) -> None:
        """Refuse sums of a number and of its square that no `number` values from `low` to `high` have.

        With S and Q the sums: number · low ≤ S ≤ number · high, and S² ≤ number · Q by Cauchy and Schwarz, while Q is
        at most as large as where every value is at an end, (low + high) S − number · low · high.
        """
        total, squared = self.total(name), self.total(f"{name}_squared")
        check_between(f"{name} of {of}", total, number * low, number * high)
        smallest = total * total / number if number else 0.0
        check_between(f"{name}_squared of {of}", squared, smallest, (low + high) * total - number * low * high)

    def __add__(self, other: Self) -> Self:
        return self._joined(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        return self._joined(other, operator.sub)

    def _joined(self, other: Self, way: Callable[[Any, Any], Any]) -> Self:
        both = {one.name: (getattr(self, one.name), getattr(other, one.name)) for one in self.adding()}
        return dataclasses.replace(self, **{name: _joined(*pair, way) for name, pair in both.items()})


class FirstRepetitions(_Record):
    """Base of frozen dataclasses of arrays of the first repetitions, along the first axis or a field's ``"axis"``."""

    def __len__(self) -> int:
        name, axis = next(iter(self._axes().items()))
        return int(getattr(self, name).shape[axis])

    def _axes(self) -> dict[str, int]:
        return {one.name: one.metadata.get("axis", 0) for one in self.adding()}

    def _each(self, make: Callable[[str, int], Any]) -> Self:
        return type(self)(**{name: make(name, axis) for name, axis in self._axes().items()})

    def first(self, number: int) -> Self:
        """Return the first `number` of them."""
        return self._each(lambda name, axis: getattr(self, name)[(slice(None),) * axis + (slice(number),)])

    def __add__(self, other: Self) -> Self:
        if not len(other):
            return self
        return self._each(lambda name, axis: np.concatenate([getattr(self, name), getattr(other, name)], axis=axis))

    def __sub__(self, other: Self) -> Self:
        return self.first(max(len(self) - len(other), 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups(FirstRepetitions):
    """Sums over small groups of consecutive repetitions, one row for each, by which studies with the same draws pair.

    They follow from the same digits as the sums of a tally, which is compared without them (a field that says
    ``compare=False``), and are in no file.
    """

    sums: np.ndarray

    @classmethod
    def of(cls, columns: Iterable[np.ndarray], size: int) -> Self:
        """Return the sums of columns of numbers, of shape (blocks, repetitions), in groups of so many repetitions.

        >>> Groups.of([np.arange(5.0)[None], np.ones((1, 5))], 2).sums.tolist()
        [[1.0, 2.0], [5.0, 2.0], [4.0, 1.0]]
        """
        found = [np.add.reduceat(one.astype(float), np.arange(0, one.shape[1], size), axis=1) for one in columns]
        return cls(sums=np.stack([one.ravel() for one in found], axis=1))


def _joined(mine: Any, theirs: Any, way: Callable[[Any, Any], Any]) -> Any:
    if isinstance(mine, tuple):
        return tuple(_joined(one, other, way) for one, other in zip(mine, theirs, strict=True))
    return way(mine, theirs)


def _same(mine: Any, theirs: Any) -> bool:
    return np.array_equal(mine, theirs, equal_nan=True) if isinstance(mine, np.ndarray) else bool(mine == theirs)
