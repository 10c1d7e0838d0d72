"""Releases of normal data by simulation: what is asked and repeated, what is counted, and the measures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dpviz.comparisons.base import COMPARED_SETS, OutcomeMeasures, meant_width
from dpviz.comparisons.gaussian import EPSILON_OF_ALL_SETS, GaussianData, NormalEstimand
from dpviz.comparisons.gaussian_methods import GaussianMethod
from dpviz.core.declarations import LEVEL
from dpviz.core.formatting import describe_value
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import parameter_with_default
from dpviz.core.records import validate_unique_choices
from dpviz.core.types import BoolArray, FloatArray
from dpviz.coverage.studies import Blocks, Plan
from dpviz.coverage.studies.plan import StudyTally
from dpviz.coverage.studies.running_sums import Groups, Sums, check_between, exact_units, summed
from dpviz.inference.combining_rules import COMBINING_RULES, CombiningRule
from dpviz.inference.interval_rules import half_widths

LARGEST_DEVIATION = 1e14  # No estimate is as far from the truth: bounds are within 10⁶ of 0
EQUAL_SETS_VARIANCE = 1e-28  # Between sets, in units of their squared mean, that equal sets may have by rounding
GROUPS = 400  # Groups of repetitions by which studies are paired, at least; of one repetition where there are fewer
UNBOUNDED_WIDTH = 1e100  # From which an interval counts as unbounded: its square would leave the floating-point range


@dataclass(frozen=True, kw_only=True, eq=False)
class IntervalTally(Sums):
    """Counts and sums of one interval: those that hold the truth, those that there are, and their widths.

    `usable` intervals have a width above 0; a negative or zero variance leaves none, which counts as a miss. Those that
    are `unbounded` are wider than 1e100, and in no sum.
    """

    covered: int = 0
    usable: int = 0
    unbounded: int = 0
    width: int = summed(0, UNBOUNDED_WIDTH)
    width_squared: int = summed(0, UNBOUNDED_WIDTH**2)
    groups: Groups = field(compare=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimandTally(Sums):
    """Sums of d = q̄ − truth, d² and d⁴ over the repetitions in which every set gave an estimate, and of each rule.

    `groups` has all repetitions, those with an estimate, and the sums of d and d².
    """

    released: int = 0
    deviation: int = summed(-LARGEST_DEVIATION, LARGEST_DEVIATION)
    deviation_squared: int = summed(0, LARGEST_DEVIATION**2)
    deviation_squared_squared: int = summed(0, LARGEST_DEVIATION**4)
    rules: tuple[IntervalTally, ...]
    groups: Groups = field(compare=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussianTally(StudyTally):
    """What repetitions of a study gave."""

    plan: GaussianPlan
    estimands: tuple[EstimandTally, ...]

    def check(self) -> None:
        """Refuse counts that contradict each other."""
        for key, one in zip(self.plan.estimands, self.estimands, strict=True):
            for rule in one.rules:  # counts first, for the sums are judged by them
                for name, most in (("covered", rule.usable), ("unbounded", rule.usable), ("usable", one.released)):
                    check_between(f"{name} of {key}", getattr(rule, name), 0, most)
                rule.check_mean(key, "width", rule.usable - rule.unbounded, 0, UNBOUNDED_WIDTH)
            one.check_mean(key, "deviation", one.released, -LARGEST_DEVIATION, LARGEST_DEVIATION)
            one.check_mean(key, "deviation_squared", one.released, 0, LARGEST_DEVIATION**2)

    def measures(self, estimand: str, rule: str) -> OutcomeMeasures:
        """Return what the study says of an estimand and a rule of its plan.

        Bias, error and coverage are over the repetitions with an estimate, a missing interval counting as a miss, the
        width over the intervals that there are (`meant_width`); `usable_share` says in how many of all repetitions
        there is one.
        """
        for name, key, keys in (("estimand", estimand, self.plan.estimands), ("rule", rule, self.plan.rules)):
            if key not in keys:
                raise ValueError(f"{name} must be one of the plan's, {', '.join(keys)}; got {describe_value(key)}.")
        found = self.estimands[self.plan.estimands.index(estimand)]
        one = found.rules[self.plan.rules.index(rule)]
        whole = found.groups.sums[:, 0].sum() == self.repetitions  # not of a run that was read from a file
        rows = slice(None) if whole else slice(0)
        every, released, away, square = found.groups.sums[rows].T
        covered, usable, bounded, width = one.groups.sums[rows].T
        return OutcomeMeasures(
            bias=found.mean("deviation", found.released).with_parts(away, released),
            root_mean_squared_error=found.mean("deviation_squared", found.released).with_parts(square, released).root(),
            coverage=Measure.share(one.covered, found.released).with_parts(covered, released),
            mean_width=meant_width(
                one.mean("width", one.usable - one.unbounded).with_parts(width, bounded),
                max(self.plan.data.width, self.plan.data.width**2),  # of a variance it is a square
                one.unbounded > 0,
            ),
            usable_share=Measure.share(one.usable, self.repetitions).with_parts(usable, every),
        )


@dataclass(frozen=True, kw_only=True)
class GaussianPlan(Plan[GaussianTally]):
    """A simulation of one method: confidential data, M sets given them, and intervals by each rule.

    `data`, `method`, `epsilon`, `sets`: What is released and how; `epsilon` is that of all sets. A method that releases
    a single set has one.
    `estimands`, `rules`: Keys of the data's `studied` and of the combining rules, each once; the rules must be
    defined for so many sets.
    `repetitions`, `seed`, `batch`, `shown`: As in `dpviz.coverage.studies.Plan`. Methods with the same data and seed
    see the same confidential rows.
    """

    data: GaussianData
    method: GaussianMethod
    epsilon: float = parameter_with_default(EPSILON_OF_ALL_SETS)
    sets: int = parameter_with_default(COMPARED_SETS)
    estimands: tuple[str, ...] = ("mean",)
    rules: tuple[str, ...] = ("reiter_2003",)
    level: float = parameter_with_default(LEVEL)

    def __post_init__(self) -> None:
        if not isinstance(self.data, GaussianData):
            raise ValueError(f"data must be a GaussianData; got {describe_value(self.data)}.")
        if not isinstance(self.method, GaussianMethod):
            raise ValueError(f"method must be a GaussianMethod; got {describe_value(self.method)}.")
        if not issubclass(self.data.drawn, self.method.takes):
            raise ValueError(f'"{self.method.label}" does not release data of the kind "{self.data.label}".')
        super().__post_init__()
        object.__setattr__(self, "sets", self.method.sets(self.sets))
        for name, known in (("estimands", [*self.data.studied]), ("rules", [*COMBINING_RULES])):
            object.__setattr__(self, name, validate_unique_choices(name, getattr(self, name), known, min_items=1))
        for key in self.rules:
            COMBINING_RULES[key].check_sets(self.sets)

    def work(self) -> _Work:
        """Return what draws blocks of this plan and evaluates them."""
        return _Work(self)


class _Work:
    """Draws and evaluates blocks of one plan; what it makes of a block depends on the plan and the block alone."""

    def __init__(self, plan: GaussianPlan) -> None:
        self.plan = plan
        self._group = min(-(-plan.repetitions // GROUPS), plan.batch)

    def __call__(self, blocks: Blocks) -> GaussianTally:
        """Return the tally of some blocks."""
        parts = np.stack([self._combined(random, blocks.size) for random in blocks.generators()], axis=2)
        studied = self.plan.data.studied
        return GaussianTally(
            plan=self.plan,
            first=blocks.first,
            repetitions=blocks.repetitions,
            estimands=tuple(
                self._apply(studied[key], found) for key, found in zip(self.plan.estimands, parts, strict=True)
            ),
        )

    def _combined(self, random: np.random.Generator, size: int) -> FloatArray:
        """q̄, b and v̄ of each estimand in a block, shape (estimands, 3, size); q̄ is NaN where a set gave no estimate."""
        plan, data, parts = self.plan, self.plan.data, []
        drawn = plan.method.release(random, data.draw(random, plan.batch), plan.epsilon, plan.sets)
        made = _all_there(drawn[0][:, :size])
        found = type(drawn)(*(_replaced(part[:, :size], made) for part in drawn))
        for asked in (data.studied[key] for key in plan.estimands):
            each, within = asked.estimate(found), asked.within(found, data)
            usable = made & _all_there(each)
            each, within = _replaced(each, usable), _replaced(within, usable)
            estimate = each.mean(axis=0)
            away = each - estimate
            between = np.square(away, out=away).sum(axis=0) / max(plan.sets - 1, 1)
            between[between <= EQUAL_SETS_VARIANCE * estimate**2] = 0.0
            estimate[~usable] = math.nan
            parts.append([estimate, between, within.mean(axis=0)])
        return np.array(parts)

    def _apply(self, asked: NormalEstimand, parts: FloatArray) -> EstimandTally:
        """Tally an estimand over q̄, b and v̄, shape (3, blocks, size)."""
        estimate, between, within = parts
        usable = ~np.isnan(estimate)
        away = np.where(usable, estimate - asked.truth(self.plan.data), 0.0)
        square = away**2
        columns = np.ones_like(away), usable, away, square
        return EstimandTally(
            released=int(np.count_nonzero(usable)),
            **_units(deviation=away, deviation_squared=square, deviation_squared_squared=square**2),
            rules=tuple(self._interval(COMBINING_RULES[key], away, between, within, usable) for key in self.plan.rules),
            groups=Groups.of(columns, self._group),
        )

    def _interval(
        self, rule: CombiningRule, away: FloatArray, between: FloatArray, within: FloatArray, usable: BoolArray
    ) -> IntervalTally:
        total, degrees = rule.variance_and_degrees(between, within, sets=self.plan.sets)
        half = half_widths(total, degrees, self.plan.level)
        some = usable & (half > 0)
        unbounded = some & (half > UNBOUNDED_WIDTH / 2)
        width = np.where(some & ~unbounded, 2 * half, 0.0)
        covered = some & (np.abs(away) <= half)
        return IntervalTally(
            covered=int(np.count_nonzero(covered)),
            usable=int(np.count_nonzero(some)),
            unbounded=int(np.count_nonzero(unbounded)),
            **_units(width=width, width_squared=width**2),
            groups=Groups.of((covered, some, some & ~unbounded, width), self._group),
        )


def _all_there(values: FloatArray) -> BoolArray:
    """Whether no set of a repetition has NaN, which is what their sum is then."""
    return ~np.isnan(values.sum(axis=0))


def _replaced(values: FloatArray, usable: BoolArray) -> FloatArray:
    """`values`, an arbitrary number in place of those that cannot be used: no sum takes it."""
    return values if usable.all() else np.where(usable, values, 0.0)


def _units(**values: FloatArray) -> dict[str, int]:
    """The sum of each array, block by block, in exact units."""
    return {name: exact_units(array.sum(axis=1).tolist()) for name, array in values.items()}
