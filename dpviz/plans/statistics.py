"""Statistics of a plan: what is published, how accurate it must be, and what one person can change of it."""

from __future__ import annotations

import math
import tomllib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dpviz.core.declarations import PROPORTION, ROWS
from dpviz.core.formatting import describe_value, format_number, round_up
from dpviz.core.parameters import argument, declare_numbers, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord
from dpviz.curator.declarations import NUMBERS as CURATOR_NUMBERS

MAX_NAME_CHARACTERS = 60  # of a statistic or of a group
LEVEL = 0.95  # of the intervals
SHARE_DIGITS = 14  # of a share times a number of rows; the rest is rounding: 0.29 · 100 is 29
ANY_MECHANISM = "best"  # stands for the mechanism that suits the plan best
ERROR_MEASURES = {
    "typical": "typical error (root mean squared error)",
    "within": "± of a 95 % interval",
    "all_within": "largest error of all cells (95 %)",
}
"""Measures of an error that can be limited: key and label."""

TABLES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("plans.toml").read_text("utf-8"))
BASES = {
    "rows": ROWS, "proportion": PROPORTION, "most_error": CURATOR_NUMBERS["most_error"],
    "argument": argument("number", -math.inf, math.inf),
}  # fmt: skip
NUMBERS = declare_numbers(TABLES["numbers"], BASES)
"""Every number of a plan and of its statistics, by name."""


def validate_name(field: str, value: object, minimum: int = 1) -> None:
    """Refuse what is not a short printable text without double blanks.

    Parameters
    ----------
    field : str
        Of the argument, in the message.
    value : object
    minimum : int, optional
        Smallest number of characters.
    """
    is_text = isinstance(value, str) and value.isprintable() and value == " ".join(value.split())
    if not is_text or not minimum <= len(str(value)) <= MAX_NAME_CHARACTERS:
        raise ValueError(
            f"{field} must be a text of {minimum} to {MAX_NAME_CHARACTERS} characters, without double blanks; "
            f"got {describe_value(value)}."
        )


@dataclass(frozen=True, kw_only=True)
class Statistic(ParameterRecord, ABC):
    """One published statistic of all rows, or of those in a group."""

    noun = "statistic"
    key: ClassVar[str]
    label: ClassVar[str]
    size_text: ClassVar[str]  # the kind with its size: the numbers of the statistic stand in its places
    unit: ClassVar[str] = "points"  # of its error; empty where it is that of the data
    has_counts: ClassVar[bool] = True  # whether counts are published

    name: str
    measure: str = "typical"  # key of ERROR_MEASURES
    limit: float = parameter_with_default(NUMBERS["limit"])  # on that measure, in the units of the statistic
    group: str = ""  # empty: all rows
    mechanism: str = ANY_MECHANISM  # or a key of PLAN_MECHANISMS
    suppress_below: int = parameter_with_default(NUMBERS["suppress_below"])  # of released counts, after noise was added

    def check(self) -> None:
        validate_name("name", self.name)
        validate_name("group", self.group, minimum=0)
        validate_name("mechanism", self.mechanism)
        validate_choice("measure", self.measure, ERROR_MEASURES)
        if self.suppress_below and not self.has_counts:
            raise ValueError(f"suppress_below must be 0 of a statistic that is no count; got {self.suppress_below}.")
        self.check_bounds()

    def check_bounds(self) -> None:
        """Raise a ValueError if the bounds that it knows contradict each other."""

    @property
    def cells(self) -> int:
        """Number of published values."""
        return 1

    @property
    def level(self) -> float | None:
        """Probability that one cell is within the limit; None where the root mean squared error is limited."""
        return {"typical": None, "within": LEVEL, "all_within": LEVEL ** (1 / self.cells)}[self.measure]

    def tells_rows(self, n: int) -> bool:
        """Whether exact counts of n rows, small ones withheld, tell some neighbours apart for sure.

        Of those with as many rows in a cell as the threshold and with one less, one is published and the other is not,
        so that who knows all other rows learns the last one. Only where all counts are withheld is nothing disclosed.
        """
        return n >= self.suppress_below

    @property
    def description(self) -> str:
        """What it is, with its size, and its group."""
        return self.size_text.format(**self.settings()) + f" in “{self.group}”" * bool(self.group)

    def format_error(self, value: float) -> str:
        """An error in the units of the statistic.

        >>> YesNoShare(name="a").format_error(0.0123), BoundedMean(name="a").format_error(0.0123)
        ('1.23 points', '0.0123')
        """
        if not self.unit:
            return format_number(value, 3)
        points = format_number(100 * value, 3)
        return f"{points} {self.unit.removesuffix('s') if points == '1' else self.unit}"

    @abstractmethod
    def sensitivities(self, rows_out: int, rows_in: int) -> tuple[float, ...]:
        """Largest changes of the published sums by a person who takes rows out and puts rows in.

        The worst case has all these rows in one cell. Sums that do not change are left out.
        """

    @abstractmethod
    def distances_to_bounds(self, n: int) -> list[tuple[float, float]]:
        """Distances of a true sum of n rows to both bounds, wherever the error of clamped noise can be the largest.

        Notes
        -----
        The squared error of noise at distances x and w − x from the bounds falls from x = 0 on and then rises up to the
        middle, or falls all the way: of noise with a tail t r^(h − 1) its step has the sign of a h − 2 artanh(h / w)
        with h = w − 2x, which is concave in h and 0 at 0. So it is the largest at an end of the range, or nearest to
        w/2.
        """


@dataclass(frozen=True, kw_only=True)
class ShareStatistic:
    """What statistics have that are shares of rows, each known to be from `lowest` to `highest`: their first base."""

    lowest: float = parameter_with_default(NUMBERS["lowest"])
    highest: float = parameter_with_default(NUMBERS["highest"])

    def check_bounds(self) -> None:
        """Raise a ValueError if no share can lie between both."""
        if self.lowest > self.highest:
            values = f"{format_number(self.lowest)} and {format_number(self.highest)}"
            raise ValueError(f"lowest must not be above highest; got {values}.")

    def sensitivities(self, rows_out: int, rows_in: int) -> tuple[float, ...]:
        return tuple(filter(None, [rows_out, rows_in]))  # rows leave one cell and join another

    def count_range(self, n: int) -> tuple[int, int]:
        """Smallest and largest count that such a share of n rows can be, or those beside it if there is none.

        >>> YesNoShare(name="works", lowest=0.29, highest=0.57).count_range(100)
        (29, 57)
        >>> YesNoShare(name="works", lowest=0.3, highest=0.4).count_range(2)
        (0, 1)
        """
        low, high = (round_up(share * n, SHARE_DIGITS) for share in (self.lowest, self.highest))
        inside = math.ceil(low), math.floor(high)
        return inside if inside[0] <= inside[1] else (math.floor(low), math.ceil(high))

    def distances_to_bounds(self, n: int) -> list[tuple[float, float]]:
        low, high = self.count_range(n)
        middle = min(max(n // 2, low), high)
        return [(float(count), float(n - count)) for count in sorted({low, middle, high})]


@dataclass(frozen=True, kw_only=True)
class YesNoShare(ShareStatistic, Statistic):
    """Share of rows with a yes; one count is published.

    >>> YesNoShare(name="works").sensitivities(1, 1), YesNoShare(name="works").sensitivities(0, 3)
    ((1,), (3,))
    """

    key = "yes_no"
    label = size_text = "share of yes"

    def sensitivities(self, rows_out: int, rows_in: int) -> tuple[float, ...]:
        return tuple(filter(None, [max(rows_out, rows_in)]))


@dataclass(frozen=True, kw_only=True)
class CategoryShares(ShareStatistic, Statistic):
    """Shares of k categories; every count is published with noise of its own.

    >>> CategoryShares(name="region", categories=5).sensitivities(2, 2), CategoryShares(name="a").sensitivities(0, 2)
    ((2, 2), (2,))
    """

    key = "categories"
    label = "shares of categories"
    size_text = "shares of {categories:,} categories"
    categories: int = parameter_with_default(NUMBERS["categories"])

    @property
    def cells(self) -> int:
        return self.categories


@dataclass(frozen=True, kw_only=True)
class CrossTable(ShareStatistic, Statistic):
    """Shares of all pairs of answers to two questions."""

    key = "cross_table"
    label = "cross-table"
    size_text = "cross-table, {first:,} × {second:,}"
    first: int = parameter_with_default(NUMBERS["first"])
    second: int = parameter_with_default(NUMBERS["second"])

    def check(self) -> None:
        super().check()
        max_cells = int(NUMBERS["categories"].maximum)
        if self.cells > max_cells:
            raise ValueError(f"first times second must be at most {max_cells:,} cells; got {self.cells:,}.")

    @property
    def cells(self) -> int:
        return self.first * self.second


@dataclass(frozen=True, kw_only=True)
class BoundedMean(Statistic):
    """Mean of numbers from `lower` to `upper`, others being moved to the nearest bound.

    Noise is added to the sum of the signed distances from the middle of both, which a row changes by half of the range,
    and a substituted row by all of it.

    >>> BoundedMean(name="age").sensitivities(1, 1), BoundedMean(name="age").sensitivities(0, 1)
    ((100.0,), (50.0,))
    """

    key = "mean"
    label = "mean between bounds"
    size_text = "mean between {lower:g} and {upper:g}"
    unit = ""
    has_counts = False
    lower: float = parameter_with_default(NUMBERS["lower"])
    upper: float = parameter_with_default(NUMBERS["upper"])

    def check(self) -> None:
        super().check()
        if self.lower >= self.upper:
            values = f"{format_number(self.lower)} and {format_number(self.upper)}"
            raise ValueError(f"lower must be below upper; got {values}.")

    @property
    def width(self) -> float:
        """Distance of the bounds."""
        return self.upper - self.lower

    def sensitivities(self, rows_out: int, rows_in: int) -> tuple[float, ...]:
        return tuple(filter(None, [(rows_out + rows_in) * self.width / 2]))

    def distances_to_bounds(self, n: int) -> list[tuple[float, float]]:
        span = n * self.width
        return [(0.0, span), (span / 2, span / 2)]


PLAN_STATISTICS: dict[str, type[Statistic]] = {
    kind.key: kind for kind in (YesNoShare, CategoryShares, CrossTable, BoundedMean)
}
"""Every kind of statistic, by key: a new one is a class and a name here."""
