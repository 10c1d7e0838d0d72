"""Numbers between public bounds, their variance public or not (Bowen & Liu, study 2; Liu), and studies of releases."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpviz.comparisons import numeric_releases
from dpviz.comparisons.analysis import (
    COMPARED_SETS,
    MIN_RANKED_REPETITIONS,
    UNKNOWN_MEASURE,
    Analysis,
    DataKind,
    Estimand,
    Outcome,
    OutcomeMeasures,
    mean_width_or_inf,
)  # fmt: skip
from dpviz.comparisons.methods import ComparedMethod, NumericMethod
from dpviz.comparisons.numeric_releases import EQUAL_ROWS_VARIANCE, ORIGINAL_ROWS, row_moments
from dpviz.core.declarations import EPSILON, LEVEL, REPETITIONS, ROWS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import declare_numbers, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord, validate_unique_choices
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import half_widths
from dpviz.inference.rules import RULES
from dpviz.mechanisms.base import parameter
from dpviz.simulation import Block, Plan, Tally, run_simulation, stream_simulation

NUMERIC_EPSILON = dataclasses.replace(EPSILON, minimum=1e-9, maximum=1e6, default=1.0, title="ε of all sets")
MAX_BLOCK = 1_000  # repetitions
NUMBERS = declare_numbers(tomllib.loads(Path(__file__).with_name("numbers.toml").read_text("utf-8")), {"rows": ROWS})
"""Sizes, bounds and true values of the data, by name."""


MEAN = Estimand("mean", "the mean, its variance estimated by s²/n", "μ")
MEAN_KNOWN_VARIANCE = Estimand("mean_known_variance", "the mean, its variance σ²/n known to the analyst", "μ")
MEANS = MEAN, MEAN_KNOWN_VARIANCE  # whose exact error some methods know
VARIANCE = Estimand("variance", "the variance", "σ²")


@dataclass(frozen=True, kw_only=True)
class NormalData(DataKind):
    """n rows from N(μ, σ²); rows outside the public bounds are set to the bound, or no sensitivity would hold."""

    n: int = parameter(NUMBERS["n"])
    mean: float = parameter(NUMBERS["mean"])
    sigma: float = parameter(NUMBERS["sigma"])
    low: float = parameter(NUMBERS["low"])
    high: float = parameter(NUMBERS["high"])

    simulated: ClassVar[bool] = True
    true_value: ClassVar[str] = "mean"
    assumed: ClassVar[str] = "independent rows from N(μ, σ²), those outside the bounds set to the bound"
    exactly: ClassVar[str] = "exact moments of the release, by sums or quadrature"

    def check(self) -> None:
        ends = f"{format_number(self.low)} to {format_number(self.high)}"
        if self.low >= self.high:
            raise ValueError(f"low (lower bound) must be below high (upper bound); got {ends}.")
        if not self.low < self.mean < self.high:
            raise ValueError(
                f"mean (true mean) must lie strictly between the bounds, {ends}; got {format_number(self.mean)}."
            )
        if not self.sigma / 1_000 <= self.width <= 10_000 * self.sigma:  # nearer the exact errors lose their digits
            raise ValueError(
                "low and high (bounds) must be 0.001 to 10,000 times sigma (standard deviation) apart; "
                f"got {ends} with {format_number(self.sigma)}."
            )

    @property
    def width(self) -> float:
        """R = c1 − c0, the largest distance of two rows."""
        return self.high - self.low

    @property
    def truth(self) -> float:
        return self.true_values[self.estimand]

    @property
    def true_values(self) -> dict[str, float]:
        """True value of everything that a study of such data can estimate, by key."""
        return {"mean": self.mean, "mean_known_variance": self.mean, "variance": self.sigma**2}

    @property
    def is_central(self) -> bool:
        return self.chosen_estimand in MEANS and math.isclose(2 * self.mean, self.low + self.high)

    # Rows

    def draw(self, rng: np.random.Generator, repetitions: int) -> Any:
        """Confidential rows of many repetitions, shape (repetitions, n)."""
        rows = rng.standard_normal((repetitions, self.n))
        rows *= self.sigma
        rows += self.mean
        return np.clip(rows, self.low, self.high, out=rows)

    def read(self, rows: Any) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Estimates of each repetition, NaN where there is none, and their estimated variances, by key."""
        mean, variance = row_moments(rows)
        return {
            "mean": (mean, variance / self.n),
            "mean_known_variance": (mean, np.full(mean.shape, self.sigma**2 / self.n)),
            "variance": (variance, 2 * variance**2 / (self.n - 1)),
        }

    def numbers_of(self, rows: Any) -> FloatArray:
        """The numbers of every row of the only repetition."""
        return np.asarray(rows[0])

    def draw_release(self, method: Any, epsilon: float, sets: int, seed: int) -> tuple[Any, list[Any]]:
        """One confidential data set, and the sets that a method releases of it, NaN where one cannot be made."""
        rng = np.random.default_rng(seed)
        confidential = self.draw(rng, 1)
        return confidential, [*method.draw(rng, confidential, epsilon, self, method.sets(sets))]

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        def estimate(rows: Any) -> float:
            return float(self.read(rows)[self.estimand][0][0])

        estimates = {}
        for method, setting in settings.items():
            values = np.array([estimate(rows) for rows in self.draw_release(method, setting, sets, seed)[1]])
            estimates[method.key] = values[~np.isnan(values)]
        return estimate(self.draw(np.random.default_rng(seed), 1)), estimates

    def released_rows(self, settings: Mapping[Any, float], sets: int, seed: int) -> dict[str, FloatArray]:
        """Rows of one confidential data set, and of the first set that each method can release of it, by label."""
        rows = {"Confidential data": self.numbers_of(self.draw(np.random.default_rng(seed), 1))}
        for method, setting in settings.items():
            released = map(self.numbers_of, self.draw_release(method, setting, sets, seed)[1])
            possible = [numbers for numbers in released if not np.isnan(numbers).any()]
            if possible and method.key != ORIGINAL_ROWS.key:
                rows[method.label] = possible[0]
        return rows

    # Outcomes

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float] | None:
        if self.chosen_estimand not in MEANS:
            return None
        accuracy: tuple[float, float] | None = method.exact_accuracy(self, setting, method.sets(analysis.sets))
        return accuracy

    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, secondary: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        rule = analysis.rule_for(sets).key
        if rule not in COMBINING_RULES:
            raise ValueError(
                f'The rule "{RULES[rule].label}" reads counts of a transition matrix. Choose one that combines '
                f'estimates, such as "{RULES["reiter_2003"].label}".'
            )
        study = NumericStudy(
            data=self, method=method, epsilon=setting, sets=sets, estimands=(self.estimand, *secondary), rules=(rule,),
            level=analysis.level, repetitions=analysis.repetitions, seed=analysis.seed,
        )  # fmt: skip
        exact = self.accuracy(method, setting, analysis)
        for results in study.stream():
            repetitions: float = results.released(self.estimand)
            measures = dict(vars(results.measures(self.estimand, rule)))
            if exact is not None:
                repetitions = math.inf
                measures |= {"bias": Measure(exact[0], 0.0), "root_mean_squared_error": Measure(exact[1], 0.0)}
            errors = {
                key: results.measures(key, rule).root_mean_squared_error
                if results.released(key) >= MIN_RANKED_REPETITIONS
                else UNKNOWN_MEASURE
                for key in secondary
            }
            yield Outcome(
                data=self, method=method, epsilon=epsilon, setting=setting, sets=sets,
                secondary_errors=errors, repetitions=repetitions,
                unfinished=results.repetitions if results.repetitions < study.repetitions else 0, **measures,
            )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KnownVariance(NormalData, ParameterRecord):
    """σ is public, and the model-based releases use it."""

    key: ClassVar[str] = "gaussian_known_variance"
    label: ClassVar[str] = "Numbers between bounds, variance public"
    methods: ClassVar[tuple[ComparedMethod, ...]] = numeric_releases.KNOWN_VARIANCE_METHODS
    usual: ClassVar[tuple[str, ...]] = "original", "modips", "perturbed_histogram_safe"
    estimands: ClassVar[tuple[Estimand, ...]] = MEANS


@dataclass(frozen=True, kw_only=True)
class UnknownVariance(NormalData, ParameterRecord):
    """σ is confidential, and the model-based releases spend on mean and variance."""

    key: ClassVar[str] = "gaussian"
    label: ClassVar[str] = "Numbers between bounds"
    methods: ClassVar[tuple[ComparedMethod, ...]] = numeric_releases.UNKNOWN_VARIANCE_METHODS
    assumed_parameters: ClassVar[tuple[str, ...]] = ("sigma",)
    usual: ClassVar[tuple[str, ...]] = "original", "modips_split", "perturbed_histogram_safe"
    estimands: ClassVar[tuple[Estimand, ...]] = MEAN, VARIANCE
    divided_between: ClassVar[tuple[str, ...]] = "mean", "variance"


# Studies by simulation


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

    All methods with one seed see the same confidential rows.
    """

    data: NormalData
    method: NumericMethod
    epsilon: float = parameter_with_default(NUMERIC_EPSILON)
    sets: int = parameter_with_default(COMPARED_SETS)
    estimands: tuple[str, ...] = ("mean",)  # keys of `true_values` of the data
    rules: tuple[str, ...] = ("reiter_2003",)
    level: float = parameter_with_default(LEVEL)
    batch: int = dataclasses.field(init=False, default=MAX_BLOCK)
    shown: int = dataclasses.field(init=False, default=int(REPETITIONS.maximum))  # all groups

    tally_type: ClassVar[type[NumericTally]] = NumericTally

    def check(self) -> None:
        if not isinstance(self.method, NumericMethod):
            raise ValueError(f"method must be a NumericMethod; got {describe_value(self.method)}.")
        if not isinstance(self.data, NormalData):
            raise ValueError(f"data must be numeric data; got {describe_value(self.data)}.")
        self.data.check_methods(self.method)
        # The block follows from n alone, as sets of any number share the confidential rows; 20,000 rows of a set stay
        # near the processor
        object.__setattr__(self, "batch", min(max(20_000 // self.data.n, 10), MAX_BLOCK))
        object.__setattr__(self, "sets", self.method.sets(self.sets))
        for name, allowed in (("estimands", [*self.data.true_values]), ("rules", [*COMBINING_RULES])):
            object.__setattr__(self, name, validate_unique_choices(name, getattr(self, name), allowed, min_items=1))
        for key in self.rules:
            COMBINING_RULES[key].check_sets(self.sets)

    def run(self) -> NumericTally:
        """Results of all repetitions."""
        return run_simulation(self)

    def stream(self) -> Iterator[NumericTally]:
        """Yield the results so far: after 500 repetitions, then after every two million rows, and at the end."""
        due = 500
        for tally in stream_simulation(self):
            if tally.repetitions >= min(due, self.repetitions):
                due = tally.repetitions + 2_000_000 // (self.data.n * self.sets)
                yield tally

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a block; its series are the sums over groups of repetitions."""
        released = self.method.draw(rng, self.data.draw(rng, self.batch), self.epsilon, self.data, self.sets)
        read = [self.data.read(rows) for rows in released]
        columns: dict[str, Any] = {"repetitions": np.ones(size)}
        for key in self.estimands:
            estimates, variances = (np.array([values[key][part][:size] for values in read]) for part in (0, 1))
            of_estimand = self._columns(estimates, variances, self.data.true_values[key])
            columns |= {f"{key} {name}": column for name, column in of_estimand.items()}
        starts = np.arange(0, size, max(self.batch // 200, 1))  # of groups by which studies with one seed are paired
        groups = {name: np.add.reduceat(column.astype(float), starts) for name, column in columns.items()}
        return Block({name: np.asarray(sums.sum()) for name, sums in groups.items()}, groups)

    def _columns(self, estimates: FloatArray, variances: FloatArray, truth: float) -> dict[str, Any]:
        """Columns of one estimand, with its deviation q̄ − truth, and of its intervals."""
        is_usable = ~np.isnan(estimates).any(axis=0)
        estimates, variances = np.where(is_usable, estimates, truth), np.where(is_usable, variances, 0.0)
        mean, within = estimates.mean(axis=0), variances.mean(axis=0)
        between = estimates.var(axis=0, ddof=1) if self.sets > 1 else np.zeros_like(mean)
        between[between <= EQUAL_ROWS_VARIANCE * mean**2] = 0.0
        deviation = np.where(is_usable, mean - truth, 0.0)
        columns = {"usable": is_usable, "deviation": deviation, "square": deviation**2, "fourth power": deviation**4}
        for key in self.rules:
            half = half_widths(*COMBINING_RULES[key].variance_and_degrees(between, within, sets=self.sets), self.level)
            has_interval = is_usable & (half > 0)
            is_bounded = has_interval & (half <= 5e99)  # so that the square of a width does not overflow
            width = np.where(is_bounded, 2 * half, 0.0)
            columns |= {
                f"{key} covers": has_interval & (np.abs(deviation) <= half),
                f"{key} exists": has_interval,
                f"{key} bounded": is_bounded,
                f"{key} width": width,
                f"{key} squared width": width**2,
            }
        return columns
