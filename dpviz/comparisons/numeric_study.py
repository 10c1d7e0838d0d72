"""Releases of numeric data by simulation: what is repeated, the sums over repetitions, and the measures."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.comparisons.analysis import COMPARED_SETS, OutcomeMeasures, mean_width_or_inf
from dpviz.comparisons.numeric_releases import NumericMethod
from dpviz.core.declarations import EPSILON, LEVEL, REPETITIONS, SEED
from dpviz.core.formatting import describe_value
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import parameter, parameter_with_default
from dpviz.core.records import ParameterRecord, validate_unique_choices
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import half_widths
from dpviz.simulation import block_generator

NUMERIC_EPSILON = dataclasses.replace(EPSILON, minimum=1e-9, maximum=1e6, default=1.0, title="ε of all sets")
EQUAL_SETS_VARIANCE = 1e-28  # variance of equal estimates by rounding, in units of their squared mean
MAX_GROUPS = 400  # groups of repetitions by which studies with one seed are paired
MAX_WIDTH = 1e100  # of an interval that counts as bounded: its square stays a floating-point number
SET_ROWS = 20_000  # rows of one set of a block, which stay near the processor
MIN_BLOCK, MAX_BLOCK = 10, 1_000  # repetitions
ROWS_BETWEEN_RESULTS = 2_000_000  # about 30 ms
FIRST_REPETITIONS = 500  # fewer would say little of an error
ESTIMAND_SUMS, RULE_SUMS = 4, 5  # columns of the sums


@dataclass(frozen=True, kw_only=True)
class NumericStudy(ParameterRecord):
    """A simulation of one method: confidential data, M sets given them, and intervals by each rule.

    `epsilon` is that of all sets. `estimands` and `rules` are keys of the data's `studied` and of `COMBINING_RULES`.

    Notes
    -----
    Block i draws from ``SeedSequence(seed, spawn_key=(i,))`` and is always drawn whole, so that a shorter study is a
    part of a longer one, and all methods with one seed see the same confidential rows.
    """

    data: Any
    method: NumericMethod
    epsilon: float = parameter_with_default(NUMERIC_EPSILON)
    sets: int = parameter_with_default(COMPARED_SETS)
    estimands: tuple[str, ...] = ("mean",)
    rules: tuple[str, ...] = ("reiter_2003",)
    level: float = parameter_with_default(LEVEL)
    repetitions: int = parameter(REPETITIONS)
    seed: int = parameter(SEED)

    def __post_init__(self) -> None:
        if not isinstance(self.method, NumericMethod):
            raise ValueError(f"method must be a NumericMethod; got {describe_value(self.method)}.")
        if not hasattr(self.data, "studied"):
            raise ValueError(f"data must be numeric data; got {describe_value(self.data)}.")
        if self.method.key not in {method.key for method in self.data.methods}:
            raise ValueError(f'"{self.method.label}" does not release data of the kind "{self.data.label}".')
        super().__post_init__()
        object.__setattr__(self, "sets", self.method.sets(self.sets))
        for name, allowed in (("estimands", [*self.data.studied]), ("rules", [*COMBINING_RULES])):
            object.__setattr__(self, name, validate_unique_choices(name, getattr(self, name), allowed, min_items=1))
        for key in self.rules:
            COMBINING_RULES[key].check_sets(self.sets)

    @property
    def block(self) -> int:
        """Repetitions of one block, which follow from n alone: sets of any number share the confidential rows."""
        return min(max(SET_ROWS // self.data.n, MIN_BLOCK), MAX_BLOCK)

    def run(self) -> NumericResults:
        """Results of all repetitions."""
        return deque(self.stream(), maxlen=1)[0]

    def stream(self) -> Iterator[NumericResults]:
        """Yield the results so far: after 500 repetitions, then after every two million rows, and at the end."""
        n_blocks = -(-self.repetitions // self.block)
        step = max(1, ROWS_BETWEEN_RESULTS // (self.block * self.data.n * self.sets))
        due = min(step, -(-FIRST_REPETITIONS // self.block))
        parts: list[FloatArray] = []
        for index in range(n_blocks):
            size = min(self.block, self.repetitions - index * self.block)
            parts.append(self._block_sums(index, size))
            if index + 1 == due or index == n_blocks - 1:
                due += step
                yield NumericResults(self, index * self.block + size, np.concatenate(parts, axis=1))

    def _block_sums(self, index: int, size: int) -> FloatArray:
        """Sums over groups of the first repetitions of a block, shape (columns, groups)."""
        rng = block_generator(self.seed, index)
        estimands = [self.data.studied[key] for key in self.estimands]
        confidential = self.data.draw(rng, self.block)

        # What the analyst reads of each set: estimates and their variances, shape (sets, 2, estimands, repetitions)
        read = []
        for rows in self.method.draw(rng, confidential, self.epsilon, self.data, self.sets):
            found = self.data.read(rows)
            read.append([[e.estimate(found) for e in estimands], [e.within(found, self.data) for e in estimands]])
        estimates, variances = np.moveaxis(np.array(read), 1, 0)[..., :size]

        # Sums of each group of consecutive repetitions
        columns: list[FloatArray] = [np.ones(size)]
        for i, estimand in enumerate(estimands):
            columns += self._columns(estimates[:, i], variances[:, i], estimand.truth(self.data))
        group = min(-(-self.repetitions // MAX_GROUPS), self.block)
        return np.add.reduceat(np.array(columns), np.arange(0, size, group), axis=1)

    def _columns(self, estimates: FloatArray, variances: FloatArray, truth: float) -> list[FloatArray]:
        """Columns of one estimand: usable, d, d² and d⁴ with d = q̄ − truth, and those of its intervals."""
        is_usable = ~np.isnan(estimates).any(axis=0)
        estimates, variances = np.where(is_usable, estimates, truth), np.where(is_usable, variances, 0.0)
        mean, within = estimates.mean(axis=0), variances.mean(axis=0)
        between = estimates.var(axis=0, ddof=1) if self.sets > 1 else np.zeros_like(mean)
        between[between <= EQUAL_SETS_VARIANCE * mean**2] = 0.0
        deviation = np.where(is_usable, mean - truth, 0.0)
        columns = [is_usable.astype(float), deviation, deviation**2, deviation**4]
        for key in self.rules:
            total, degrees = COMBINING_RULES[key].variance_and_degrees(between, within, sets=self.sets)
            half = half_widths(total, degrees, self.level)
            has_interval = is_usable & (half > 0)
            is_bounded = has_interval & (half <= MAX_WIDTH / 2)
            width = np.where(is_bounded, 2 * half, 0.0)
            covers = has_interval & (np.abs(deviation) <= half)
            columns += [covers.astype(float), has_interval.astype(float), is_bounded.astype(float), width, width**2]
        return columns


@dataclass(frozen=True, eq=False)
class NumericResults:
    """Sums of the first `repetitions` of a study over groups of repetitions, shape (columns, groups)."""

    study: NumericStudy
    repetitions: int
    sums: FloatArray

    @cached_property
    def _totals(self) -> FloatArray:
        return np.asarray(self.sums.sum(axis=1))

    def _first_column(self, estimand: str) -> int:
        columns = ESTIMAND_SUMS + RULE_SUMS * len(self.study.rules)
        return 1 + columns * self.study.estimands.index(estimand)

    def released(self, estimand: str) -> int:
        """Repetitions in which every set gave an estimate."""
        return int(self._totals[self._first_column(estimand)])

    def measures(self, estimand: str, rule: str) -> OutcomeMeasures:
        """What the study says of an estimand and a rule.

        Bias, error and coverage are over the repetitions with an estimate, a missing interval counting as a miss; the
        width over the intervals that there are. The usable share is that of repetitions with an interval of width
        above 0.
        """
        for name, key, keys in (("estimand", estimand, self.study.estimands), ("rule", rule, self.study.rules)):
            if key not in keys:
                raise ValueError(f"{name} must be one of the study's, {', '.join(keys)}; got {describe_value(key)}.")
        first = self._first_column(estimand)
        of_rule = first + ESTIMAND_SUMS + RULE_SUMS * self.study.rules.index(rule)
        every, usable, away, square = (self.sums[i] for i in (0, first, first + 1, first + 2))
        covered, has_interval, bounded, width = self.sums[of_rule : of_rule + 4]
        n_usable, total, total_square, total_fourth = self._totals[first : first + ESTIMAND_SUMS].tolist()
        n_covered, n_intervals, n_bounded, total_width, squared_width = self._totals[of_rule : of_rule + RULE_SUMS]

        data_width = self.study.data.width
        mean_width = Measure.mean(float(total_width), float(squared_width), int(n_bounded)).with_parts(width, bounded)
        mean_square = Measure.mean(total_square, total_fourth, int(n_usable)).with_parts(square, usable)
        return OutcomeMeasures(
            bias=Measure.mean(total, total_square, int(n_usable)).with_parts(away, usable),
            root_mean_squared_error=mean_square.root(),
            coverage=Measure.share(int(n_covered), int(n_usable)).with_parts(covered, usable),
            mean_width=mean_width_or_inf(
                mean_width, max(data_width, data_width**2), bool(n_bounded < n_intervals)
            ),  # the width of an interval for a variance is in squared units
            usable_share=Measure.share(int(n_intervals), self.repetitions).with_parts(has_interval, every),
        )
