"""Releases of numeric data by simulation: what is repeated, the sums over repetitions, and the measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.comparisons.analysis import COMPARED_SETS, OutcomeMeasures, mean_width_or_inf
from dpviz.comparisons.methods import NumericMethod
from dpviz.core.declarations import EPSILON, LEVEL, REPETITIONS
from dpviz.core.formatting import describe_value
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import parameter_with_default, validate_choice
from dpviz.core.records import validate_unique_choices
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import half_widths
from dpviz.simulation import Block, Plan, Tally, run_simulation, stream_simulation

NUMERIC_EPSILON = dataclasses.replace(EPSILON, minimum=1e-9, maximum=1e6, default=1.0, title="ε of all sets")
EQUAL_SETS_VARIANCE = 1e-28  # variance of equal estimates by rounding, in units of their squared mean
GROUPS_OF_BLOCK = 200  # by which studies with one seed are paired
MAX_WIDTH = 1e100  # of an interval that counts as bounded: its square stays a floating-point number
SET_ROWS = 20_000  # rows of one set of a block, which stay near the processor
MIN_BLOCK, MAX_BLOCK = 10, 1_000  # repetitions
ROWS_BETWEEN_RESULTS = 2_000_000  # about 30 ms
FIRST_REPETITIONS = 500  # fewer would say little of an error


@dataclass(frozen=True, kw_only=True, eq=False)
class NumericTally(Tally):
    """Sums over the repetitions of a study, and over groups of them as series, by names such as "mean usable"."""

    plan: NumericStudy

    def released(self, estimand: str) -> int:
        """Repetitions in which every set gave an estimate."""
        return int(self.sums[f"{estimand} usable"])

    def measures(self, estimand: str, rule: str) -> OutcomeMeasures:
        """What the study says of an estimand and a rule.

        Bias, error and coverage are over the repetitions with an estimate, a missing interval counting as a miss; the
        width over the intervals that there are. The usable share is that of repetitions with an interval of width
        above 0.
        """
        validate_choice("estimand", estimand, self.plan.estimands)
        validate_choice("rule", rule, self.plan.rules)
        usable, interval = f"{estimand} usable", f"{estimand} {rule}"
        width = self._ratio(f"{interval} width", f"{interval} bounded", f"{interval} squared width")
        unit = max(self.plan.data.width, self.plan.data.width**2)  # that of a variance has squared units
        is_unbounded = bool(self.sums[f"{interval} bounded"] < self.sums[f"{interval} exists"])
        return OutcomeMeasures(
            bias=self._ratio(f"{estimand} deviation", usable, f"{estimand} square"),
            root_mean_squared_error=self._ratio(f"{estimand} square", usable, f"{estimand} fourth power").root(),
            coverage=self._ratio(f"{interval} covers", usable),
            mean_width=mean_width_or_inf(width, unit, is_unbounded),
            usable_share=self._ratio(f"{interval} exists", "repetitions"),
        )

    def _ratio(self, name: str, of: str, squares: str = "") -> Measure:
        """Mean of numbers with these sums, or the share of what is counted, with its parts by groups."""
        total, count = float(self.sums[name]), int(self.sums[of])
        squared = float(self.sums[squares]) if squares else 0.0
        measure = Measure.mean(total, squared, count) if squares else Measure.share(int(total), count)
        return measure.with_parts(self.series[name], self.series[of])


@dataclass(frozen=True, kw_only=True)
class NumericStudy(Plan[NumericTally]):
    """A simulation of one method: confidential data, M sets given them, and intervals by each rule.

    Attributes
    ----------
    data : NormalData or MixedData
    method : NumericMethod
    epsilon : float
        Of all sets.
    sets : int
    estimands, rules : tuple of str
        Keys of the data's `studied` and of `COMBINING_RULES`.
    level : float
    repetitions, seed
        As in `dpviz.simulation.Plan`. All methods with one seed see the same confidential rows.
    """

    data: Any
    method: NumericMethod
    epsilon: float = parameter_with_default(NUMERIC_EPSILON)
    sets: int = parameter_with_default(COMPARED_SETS)
    estimands: tuple[str, ...] = ("mean",)
    rules: tuple[str, ...] = ("reiter_2003",)
    level: float = parameter_with_default(LEVEL)
    batch: int = dataclasses.field(init=False, default=MAX_BLOCK)
    shown: int = dataclasses.field(init=False, default=int(REPETITIONS.maximum))  # all groups

    tally_type: ClassVar[type[NumericTally]] = NumericTally

    def check(self) -> None:
        if not isinstance(self.method, NumericMethod):
            raise ValueError(f"method must be a NumericMethod; got {describe_value(self.method)}.")
        if not hasattr(self.data, "studied"):
            raise ValueError(f"data must be numeric data; got {describe_value(self.data)}.")
        if self.method.key not in {method.key for method in self.data.methods}:
            raise ValueError(f'"{self.method.label}" does not release data of the kind "{self.data.label}".')
        # The block follows from n alone: sets of any number share the confidential rows
        object.__setattr__(self, "batch", min(max(SET_ROWS // self.data.n, MIN_BLOCK), MAX_BLOCK))
        object.__setattr__(self, "sets", self.method.sets(self.sets))
        for name, allowed in (("estimands", [*self.data.studied]), ("rules", [*COMBINING_RULES])):
            object.__setattr__(self, name, validate_unique_choices(name, getattr(self, name), allowed, min_items=1))
        for key in self.rules:
            COMBINING_RULES[key].check_sets(self.sets)

    def run(self) -> NumericTally:
        """Results of all repetitions."""
        return run_simulation(self)

    def stream(self) -> Iterator[NumericTally]:
        """Yield the results so far: after 500 repetitions, then after every two million rows, and at the end."""
        due = FIRST_REPETITIONS
        for tally in stream_simulation(self):
            if tally.repetitions >= min(due, self.repetitions):
                due = tally.repetitions + ROWS_BETWEEN_RESULTS // (self.data.n * self.sets)
                yield tally

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a block; its series are the sums over groups of repetitions."""
        estimands = [self.data.studied[key] for key in self.estimands]
        confidential = self.data.draw(rng, self.batch)

        # What the analyst reads of each set: estimates and their variances, shape (sets, 2, estimands, repetitions)
        read = []
        for rows in self.method.draw(rng, confidential, self.epsilon, self.data, self.sets):
            values = self.data.read(rows)
            read.append([[e.estimate(values) for e in estimands], [e.within(values, self.data) for e in estimands]])
        estimates, variances = np.moveaxis(np.array(read), 1, 0)[..., :size]

        columns: dict[str, Any] = {"repetitions": np.ones(size)}
        for i, estimand in enumerate(estimands):
            of_estimand = self._columns(estimates[:, i], variances[:, i], estimand.truth(self.data))
            columns |= {f"{estimand.key} {name}": column for name, column in of_estimand.items()}
        starts = np.arange(0, size, max(self.batch // GROUPS_OF_BLOCK, 1))
        groups = {name: np.add.reduceat(column.astype(float), starts) for name, column in columns.items()}
        return Block({name: np.asarray(sums.sum()) for name, sums in groups.items()}, groups)

    def _columns(self, estimates: FloatArray, variances: FloatArray, truth: float) -> dict[str, Any]:
        """Columns of one estimand, with its deviation q̄ − truth, and of its intervals."""
        is_usable = ~np.isnan(estimates).any(axis=0)
        estimates, variances = np.where(is_usable, estimates, truth), np.where(is_usable, variances, 0.0)
        mean, within = estimates.mean(axis=0), variances.mean(axis=0)
        between = estimates.var(axis=0, ddof=1) if self.sets > 1 else np.zeros_like(mean)
        between[between <= EQUAL_SETS_VARIANCE * mean**2] = 0.0
        deviation = np.where(is_usable, mean - truth, 0.0)
        columns: dict[str, Any] = {
            "usable": is_usable,
            "deviation": deviation,
            "square": deviation**2,
            "fourth power": deviation**4,
        }
        for key in self.rules:
            total, degrees = COMBINING_RULES[key].variance_and_degrees(between, within, sets=self.sets)
            half = half_widths(total, degrees, self.level)
            has_interval = is_usable & (half > 0)
            is_bounded = has_interval & (half <= MAX_WIDTH / 2)
            width = np.where(is_bounded, 2 * half, 0.0)
            columns |= {
                f"{key} covers": has_interval & (np.abs(deviation) <= half),
                f"{key} exists": has_interval,
                f"{key} bounded": is_bounded,
                f"{key} width": width,
                f"{key} squared width": width**2,
            }
        return columns
