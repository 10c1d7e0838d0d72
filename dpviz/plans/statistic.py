"""The statistics of a plan: what each of them publishes, how near it must be, and what one person can change of it."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpviz.core.declarations import PROPORTION
from dpviz.core.formatting import describe_value, format_number, round_up
from dpviz.core.parameters import argument, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.desk.accuracy import MOST_ERROR
from dpviz.plans.measures import NEARNESS, Nearness

LONGEST_PLAN_NAME = 60  # Characters of the name of a statistic or of a group
MOST_CELLS = 10_000
ERROR_LIMIT = dataclasses.replace(
    MOST_ERROR,
    name="limit",
    title="Limit on the error",
    minimum=1e-12,
    open_minimum=False,
    default=0.01,
    help="How far what is published may be from what the confidential data say, in the units of the statistic: of a "
    "share 0.01 is one percentage point.",
)
LOWEST_SHARE, HIGHEST_SHARE = (
    dataclasses.replace(
        PROPORTION,
        name=name,
        title=f"{end} share",
        default=default,
        help="You do not know the share, or you would not need the data. The limit is kept for every share in between.",
    )
    for name, end, default in (("lowest", "Lowest", 0.0), ("highest", "Highest", 1.0))
)
SMALLEST_COUNT = argument("suppress_below", 0, 1_000, integer=True, default=0, title="smallest published count")
TABLE_CATEGORIES = argument("categories", 2, MOST_CELLS, integer=True, default=5, title="categories")
SIDE_ROWS, SIDE_COLUMNS = (
    argument(name, 2, 1_000, integer=True, default=3, title=f"answers to the {which} question")
    for name, which in (("first", "first"), ("second", "second"))
)
MEAN_LOWER, MEAN_UPPER = (
    argument(name, -1e9, 1e9, default=default, title=f"{name} bound")
    for name, default in (("lower", 0.0), ("upper", 100.0))
)
ANY_MECHANISM = "best"
"""What stands for the mechanism that suits the plan best."""


@dataclass(frozen=True, kw_only=True)
class Statistic(ParameterRecord, ABC):
    """One published statistic, called `name`, of all rows or of those in a `group`.

    `limit` is on `measure`, a key of `NEARNESS`; `mechanism` a key of `PLAN_RELEASES`, or "best". A released count
    below `suppress_below` is withheld after noise was added; 0 withholds nothing.
    """

    noun = "statistic"
    key: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str]
    """What the number of an error is called: points of a share, or nothing."""
    counts: ClassVar[bool] = True
    """Whether it is made of counts, each of them a whole number."""
    yes_no: ClassVar[bool] = False
    """Whether it is a single count out of a public number of rows."""

    name: str
    measure: str = "typical"
    limit: float = parameter_with_default(ERROR_LIMIT)
    group: str = ""
    mechanism: str = ANY_MECHANISM
    suppress_below: int = parameter_with_default(SMALLEST_COUNT)

    def check(self) -> None:
        for field, fewest in (("name", 1), ("group", 0), ("mechanism", 1)):
            value = getattr(self, field)
            if (
                not isinstance(value, str)
                or not fewest <= len(value) <= LONGEST_PLAN_NAME
                or value != " ".join(value.split())
                or not value.isprintable()
            ):
                raise ValueError(
                    f"{field} must be a text of {fewest} to {LONGEST_PLAN_NAME} characters, without double blanks; "
                    f"got {describe_value(value)}."
                )
        if not isinstance(self.measure, str) or self.measure not in NEARNESS:
            raise ValueError(f"measure must be one of {', '.join(NEARNESS)}; got {describe_value(self.measure)}.")
        if self.suppress_below and not self.counts:
            raise ValueError(f"suppress_below must be 0 of a statistic that is no count; got {self.suppress_below}.")

    @property
    def asked(self) -> Nearness:
        """The measure on which its limit is."""
        return NEARNESS[self.measure]

    @property
    def cells(self) -> int:
        """How many numbers are published."""
        return 1

    @abstractmethod
    def shifts(self, taken_out: int, put_in: int) -> tuple[float, ...]:
        """Return by how much a person moves sums at most who takes so many rows out and puts so many in.

        Sums that do not move are left out. It is the worst that can be done with these rows: all in one cell.
        """

    @abstractmethod
    def rooms(self, n: int) -> list[tuple[float, float]]:
        """Return room below and above the true sum, of n rows, at every place where the error can be the largest.

        Published sums are moved to the nearest end of what is possible, so that noise into a small room counts for
        less. The squared error of noise with rooms x and w − x falls from x = 0 on and then rises up to the middle, or
        falls all the way: of noise with a tail t r^(h − 1) its step has the sign of a h − 2 artanh(h / w) with
        h = w − 2x, which is concave in h and 0 at 0. So it is the largest at an end of the range, or nearest to w/2.
        """


SHARE_DIGITS = 14  # Of a share times a number of rows: what is left is the rounding of floating-point numbers


@dataclass(frozen=True, kw_only=True)
class ShareStatistic(Statistic):
    """Shares of rows, each known to be from `lowest` to `highest`."""

    unit = "points"

    lowest: float = parameter_with_default(LOWEST_SHARE)
    highest: float = parameter_with_default(HIGHEST_SHARE)

    def check(self) -> None:
        super().check()
        if self.lowest > self.highest:
            raise ValueError(
                f"lowest must not be above highest; got {format_number(self.lowest)} and {format_number(self.highest)}."
            )

    def counts_possible(self, n: int) -> tuple[int, int]:
        """Return the smallest and the largest count that such a share of n rows can be, or those beside it if none is.

        >>> YesNoShare(name="works", lowest=0.29, highest=0.57).counts_possible(100)  # 0.29 · 100 is below 29 in floats
        (29, 57)
        >>> YesNoShare(name="works", lowest=0.3, highest=0.4).counts_possible(2)
        (0, 1)
        """
        low, high = (round_up(end * n, SHARE_DIGITS) for end in (self.lowest, self.highest))
        inside = math.ceil(low), math.floor(high)
        return inside if inside[0] <= inside[1] else (math.floor(low), math.ceil(high))

    def rooms(self, n: int) -> list[tuple[float, float]]:
        low, high = self.counts_possible(n)
        places = {low, high, min(max(n // 2, low), high)}
        return [(float(x), float(n - x)) for x in sorted(places)]


@dataclass(frozen=True, kw_only=True)
class YesNoShare(ShareStatistic):
    """The share of rows with a yes; one count is published.

    >>> YesNoShare(name="works").shifts(1, 1), YesNoShare(name="works").shifts(0, 3)
    ((1,), (3,))
    """

    key = "yes_no"
    label = "share of yes"
    yes_no = True

    def shifts(self, taken_out: int, put_in: int) -> tuple[float, ...]:
        return tuple(one for one in (max(taken_out, put_in),) if one)


@dataclass(frozen=True, kw_only=True)
class CategoryShares(ShareStatistic):
    """The shares of k categories; every count is published with noise of its own.

    >>> CategoryShares(name="region", categories=5).shifts(2, 2), CategoryShares(name="region").shifts(0, 2)
    ((2, 2), (2,))
    """

    key = "categories"
    label = "shares of categories"

    categories: int = parameter_with_default(TABLE_CATEGORIES)

    @property
    def cells(self) -> int:
        return self.categories

    def shifts(self, taken_out: int, put_in: int) -> tuple[float, ...]:
        return tuple(one for one in (taken_out, put_in) if one)


@dataclass(frozen=True, kw_only=True)
class CrossTable(ShareStatistic):
    """The shares of all pairs of answers to two questions."""

    key = "cross_table"
    label = "cross-table"

    first: int = parameter_with_default(SIDE_ROWS)
    second: int = parameter_with_default(SIDE_COLUMNS)

    def check(self) -> None:
        super().check()
        if self.cells > MOST_CELLS:
            raise ValueError(f"first times second must be at most {MOST_CELLS:,} cells; got {self.cells:,}.")

    @property
    def cells(self) -> int:
        return self.first * self.second

    shifts = CategoryShares.shifts


@dataclass(frozen=True, kw_only=True)
class BoundedMean(Statistic):
    """The mean of numbers from `lower` to `upper`, others being moved to the nearest bound.

    The sum of the distances from the middle of both is published, so that a row moves it by half the range, and a
    substituted row by the whole.

    >>> BoundedMean(name="age").shifts(1, 1), BoundedMean(name="age").shifts(0, 1)
    ((100.0,), (50.0,))
    """

    key = "mean"
    label = "mean between bounds"
    unit = ""
    counts = False

    lower: float = parameter_with_default(MEAN_LOWER)
    upper: float = parameter_with_default(MEAN_UPPER)

    def check(self) -> None:
        super().check()
        if self.lower >= self.upper:
            raise ValueError(
                f"lower must be below upper; got {format_number(self.lower)} and {format_number(self.upper)}."
            )

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return self.upper - self.lower

    def shifts(self, taken_out: int, put_in: int) -> tuple[float, ...]:
        return tuple(one for one in ((taken_out + put_in) * self.width / 2,) if one)

    def rooms(self, n: int) -> list[tuple[float, float]]:
        whole = n * self.width
        return [(0.0, whole), (whole / 2, whole / 2)]


PLAN_STATISTICS: dict[str, type[Statistic]] = {
    one.key: one for one in (YesNoShare, CategoryShares, CrossTable, BoundedMean)
}
"""Every kind of statistic, by key: a new one is a class and a name here."""
