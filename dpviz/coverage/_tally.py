"""What a simulation has counted and summed so far; tallies add, and they add exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpviz.checked import checked
from dpviz.coverage._plan import CoveragePlan
from dpviz.parameters import shown
from dpviz.types import FloatArray, IntArray

LEAST_EXPONENT = 1074
"""Every finite floating-point number is a whole multiple of 2⁻¹⁰⁷⁴."""

WIDEST = 1e100
"""Width from which an interval counts as unbounded: its square would leave the floating-point range."""


def exact_units(values: Iterable[float]) -> int:
    """The sum of floating-point numbers in units of 2⁻¹⁰⁷⁴, without rounding, hence in any order and grouping.

    Examples
    --------
    >>> exact_units([1e16, 1.0, -1e16]) == 2**1074
    True
    """
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += numerator << (LEAST_EXPONENT + 1 - denominator.bit_length())
    return total


@dataclass(frozen=True, kw_only=True)
class RuleTally:
    """Counts and exact sums of one rule; T is its variance, d = q̄ − p. Sums are in units of 2⁻¹⁰⁷⁴: see `total`.

    Parameters
    ----------
    covered
        Intervals that hold p.
    negative
        Repetitions whose variance is negative, so that there is no interval; they do not cover.
    vacuous
        Intervals that hold all of 0 to 1.
    covered_negative
        Intervals that hold p where T_M = (1 + 1/M) b − v̄ is negative.
    unbounded
        Intervals wider than 1e100 (ν below about 0.01); their widths are in no sum.
    variance, variance_squared, variance_deviation, variance_deviation_squared
        Sums of T, T², T d and T d² over all repetitions; 0 for a rule that has no T.
    width, width_squared
        Sums of the width and its square over the bounded intervals.
    inside, inside_squared
        Sums of the length of the interval inside 0 to 1 and its square, over all intervals.
    """

    covered: int = 0
    negative: int = 0
    vacuous: int = 0
    covered_negative: int = 0
    unbounded: int = 0
    variance: int = 0
    variance_squared: int = 0
    variance_deviation: int = 0
    variance_deviation_squared: int = 0
    width: int = 0
    width_squared: int = 0
    inside: int = 0
    inside_squared: int = 0

    def plus(self, other: RuleTally, sign: int = 1) -> RuleTally:
        """The sum of this tally and `sign` times the other."""
        names = [field.name for field in dataclasses.fields(self)]
        return RuleTally(**{name: getattr(self, name) + sign * getattr(other, name) for name in names})

    def total(self, name: str) -> float:
        """The sum called `name` as the nearest floating-point number."""
        return int(getattr(self, name)) / (1 << LEAST_EXPONENT)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownRuns:
    """The first repetitions one by one.

    Parameters
    ----------
    confidential
        x, shape (shown,).
    counts
        Released counts, shape (shown, M).
    estimates
        q̄, shape (shown,).
    low, high
        Ends of the intervals, shape (rules, shown), in the order of the plan; NaN where there is no interval.
    """

    confidential: IntArray
    counts: IntArray
    estimates: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _freeze(field.name, getattr(self, field.name))

    def __len__(self) -> int:
        return len(self.confidential)

    def first(self, number: int) -> ShownRuns:
        """The first `number` of them."""
        return ShownRuns(
            confidential=self.confidential[:number],
            counts=self.counts[:number],
            estimates=self.estimates[:number],
            low=self.low[:, :number],
            high=self.high[:, :number],
        )

    def then(self, other: ShownRuns) -> ShownRuns:
        """These, followed by the others."""
        if not len(other):
            return self
        return ShownRuns(
            confidential=np.concatenate([self.confidential, other.confidential]),
            counts=np.concatenate([self.counts, other.counts]),
            estimates=np.concatenate([self.estimates, other.estimates]),
            low=np.concatenate([self.low, other.low], axis=1),
            high=np.concatenate([self.high, other.high], axis=1),
        )

    def same(self, other: ShownRuns) -> bool:
        """Whether every digit agrees."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
            for name in ("confidential", "counts", "estimates", "low", "high")
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """What the repetitions `first` … `first + repetitions − 1` of a plan gave. Tallies that follow each other add.

    All sums are exact, so that the sum of tallies does not depend on how the repetitions were divided.

    Parameters
    ----------
    plan
        The plan.
    first
        Index of the first repetition, 0 for what `stream_coverage` yields.
    repetitions
        How many.
    totals
        How often Σ_j x̃_j was 0, 1, …, M m; shape (M m + 1,). The estimate q̄ is that sum over M m.
    negative_total
        Repetitions with T_M = (1 + 1/M) b − v̄ < 0; 0 for a single set.
    rules
        One tally for each rule of the plan, in its order.
    shown
        Those of the plan's first `shown` repetitions that are among these.
    """

    plan: CoveragePlan
    first: int
    repetitions: int
    totals: IntArray
    negative_total: int
    rules: tuple[RuleTally, ...]
    shown: ShownRuns

    def __post_init__(self) -> None:
        _freeze("totals", self.totals)

    @checked()
    def rule(self, key: str) -> RuleTally:
        """The tally of the rule named `key`."""
        if key not in self.plan.rules:
            raise ValueError(f"key must be a rule of the plan, {', '.join(self.plan.rules)}; got {shown(key)}.")
        return self.rules[self.plan.rules.index(key)]

    def __add__(self, other: Tally) -> Tally:
        if self.plan.fingerprint != other.plan.fingerprint:
            raise ValueError("Tallies of different plans do not add.")
        if other.first != self.first + self.repetitions:
            raise ValueError(
                f"Tallies add in order: after {self.first + self.repetitions:,} repetitions comes the next one; "
                f"got a tally that starts at {other.first:,}."
            )
        return Tally(
            plan=other.plan,
            first=self.first,
            repetitions=self.repetitions + other.repetitions,
            totals=self.totals + other.totals,
            negative_total=self.negative_total + other.negative_total,
            rules=tuple(mine.plus(theirs) for mine, theirs in zip(self.rules, other.rules, strict=True)),
            shown=self.shown.then(other.shown),
        )

    def without_end(self, end: Tally) -> Tally:
        """What this tally was before its last repetitions, whose tally is `end`, were added."""
        return dataclasses.replace(
            self,
            repetitions=self.repetitions - end.repetitions,
            totals=self.totals - end.totals,
            negative_total=self.negative_total - end.negative_total,
            rules=tuple(mine.plus(theirs, -1) for mine, theirs in zip(self.rules, end.rules, strict=True)),
            shown=self.shown.first(len(self.shown) - len(end.shown)),
        )

    def __eq__(self, other: object) -> bool:
        """Whether every count, sum and kept digit agrees, for the same design and seed."""
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.plan.fingerprint == other.plan.fingerprint
            and (self.first, self.repetitions, self.negative_total)
            == (other.first, other.repetitions, other.negative_total)
            and self.rules == other.rules
            and np.array_equal(self.totals, other.totals)
            and self.shown.same(other.shown)
        )

    __hash__ = None  # type: ignore[assignment]


def _freeze(name: str, values: object) -> None:
    if not isinstance(values, np.ndarray):
        raise TypeError(f"{name} must be an array; got {shown(values)}.")
    values.setflags(write=False)
