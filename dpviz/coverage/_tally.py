"""What a coverage simulation has counted and summed so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpviz.checked import checked
from dpviz.parameters import shown
from dpviz.studies.plan import StudyTally
from dpviz.studies.sums import Kept, Sums, summed
from dpviz.types import FloatArray, IntArray

if TYPE_CHECKING:
    from dpviz.coverage.simulate import CoveragePlan

WIDEST = 1e100
"""Width from which an interval counts as unbounded: its square would leave the floating-point range."""

LARGEST = 1e5
"""No |T| is as large: b and v̄ are at most 1/2, and their factors hardly above m/n."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RuleTally(Sums):
    """Counts and exact sums of one rule; T is its variance, d = q̄ − p. Sums are in units of 2⁻¹⁰⁷⁴: see `total`.

    Parameters
    ----------
    covered, covered_negative
        Intervals that hold p, and those of them where T_M = (1 + 1/M) b − v̄ is negative.
    negative
        Repetitions whose variance is negative, so that there is no interval; they do not cover.
    vacuous
        Intervals that hold all of 0 to 1.
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
    variance: int = summed(-LARGEST, LARGEST)
    variance_squared: int = summed(0, LARGEST**2)
    variance_deviation: int = summed(-LARGEST, LARGEST)
    variance_deviation_squared: int = summed(-LARGEST, LARGEST)
    width: int = summed(0, WIDEST)
    width_squared: int = summed(0, WIDEST**2)
    inside: int = summed(0, 1)
    inside_squared: int = summed(0, 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownRuns(Kept):
    """The first repetitions one by one: x, released counts of shape (shown, M), q̄, and the ends of the intervals.

    These have the shape (rules, shown), in the order of the plan, and are NaN where there is no interval.
    """

    confidential: IntArray
    counts: IntArray
    estimates: FloatArray
    low: FloatArray = field(metadata={"axis": 1})
    high: FloatArray = field(metadata={"axis": 1})


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally(StudyTally):
    """What repetitions of a coverage simulation gave, on top of what every study says of them.

    Parameters
    ----------
    totals
        How often Σ_j x̃_j = M m q̄ was 0, 1, …, M m.
    negative_total
        Repetitions with T_M = (1 + 1/M) b − v̄ < 0; 0 for a single set.
    rules, shown
        A tally for each rule of the plan, and those of the plan's first repetitions that are among these.
    """

    plan: CoveragePlan
    totals: IntArray
    negative_total: int = 0
    rules: tuple[RuleTally, ...]
    shown: ShownRuns

    def check(self) -> None:
        """Refuse counts that contradict each other."""
        if self.totals.sum() != self.repetitions:
            raise ValueError(f"totals must sum to {self.repetitions:,}; got {shown(int(self.totals.sum()))}.")
        for key, rule in zip(self.plan.rules, self.rules, strict=True):
            largest = dict.fromkeys(("covered", "vacuous", "unbounded"), self.repetitions - rule.negative)
            for name, most in {**largest, "covered_negative": min(rule.covered, self.negative_total)}.items():
                if getattr(rule, name) > most:
                    raise ValueError(f"{name} of {key} must be at most {most:,}; got {getattr(rule, name):,}.")

    @checked()
    def rule(self, key: str) -> RuleTally:
        """The tally of the rule named `key`."""
        if key not in self.plan.rules:
            raise ValueError(f"key must be a rule of the plan, {', '.join(self.plan.rules)}; got {shown(key)}.")
        return self.rules[self.plan.rules.index(key)]
