"""Numbers between public bounds, with the variance public or not (study 2 of Bowen & Liu, and Liu's normal data)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np

from dpviz.comparisons import numeric_releases
from dpviz.comparisons.analysis import MIN_RANKED_REPETITIONS, UNKNOWN_MEASURE, Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.declarations import TEXTS, declare_numbers
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.numeric_releases import ORIGINAL_ROWS, row_moments
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.core.declarations import ROWS
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES
from dpviz.mechanisms.base import parameter

MAX_RANGE = 1e4  # standard deviations between the bounds
NUMBERS = declare_numbers(TEXTS["numbers"], {"rows": ROWS})
"""Sizes, bounds and true values of the data, by name."""


@dataclass(frozen=True)
class NumericEstimand(Estimand):
    """A parameter of the confidential rows."""

    truth: Callable[[Any], float]  # of the data
    estimate: Callable[[Any], FloatArray]  # from what `NormalData.read` returns, NaN where there is none
    within: Callable[[Any, Any], FloatArray]  # estimated variance of the estimate, from the same and the data
    is_mean: bool = False  # whether it is estimated by the mean, whose exact error some methods know


MEAN = NumericEstimand(
    "mean", "the mean, its variance estimated by s²/n", "μ", is_mean=True,
    truth=lambda data: data.mean,
    estimate=lambda moments: moments.mean,
    within=lambda moments, data: moments.variance / data.n,
)  # fmt: skip
MEAN_KNOWN_VARIANCE = dataclasses.replace(
    MEAN, key="mean_known_variance", label="the mean, its variance σ²/n known to the analyst",
    within=lambda moments, data: np.full(moments.mean.shape, data.sigma**2 / data.n),
)  # fmt: skip
VARIANCE = NumericEstimand(
    "variance", "the variance", "σ²",  # estimated by s² with variance 2s⁴/(n − 1)
    truth=lambda data: data.sigma**2,
    estimate=lambda moments: moments.variance,
    within=lambda moments, data: 2 * moments.variance**2 / (data.n - 1),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NormalData:
    """n rows from N(μ, σ²); rows outside the public bounds are set to the bound, or no sensitivity would hold.

    A kind of such data has it as a first base, before `DataKind`.
    """

    estimand: str = ""
    n: int = parameter(NUMBERS["n"])
    mean: float = parameter(NUMBERS["mean"])
    sigma: float = parameter(NUMBERS["sigma"])
    low: float = parameter(NUMBERS["low"])
    high: float = parameter(NUMBERS["high"])

    simulated: ClassVar[bool] = True
    true_value: ClassVar[str] = "mean"
    assumed: ClassVar[str] = "independent rows from N(μ, σ²), those outside the bounds set to the bound"
    exactly: ClassVar[str] = "exact moments of the release, by sums or quadrature"
    studied: ClassVar[Mapping[str, NumericEstimand]] = {e.key: e for e in (MEAN, MEAN_KNOWN_VARIANCE, VARIANCE)}
    """What a study of such data can estimate, by key."""

    def check(self) -> None:
        ends = f"{format_number(self.low)} to {format_number(self.high)}"
        if self.low >= self.high:
            raise ValueError(f"low (lower bound) must be below high (upper bound); got {ends}.")
        if not self.low < self.mean < self.high:
            raise ValueError(
                f"mean (true mean) must lie strictly between the bounds, {ends}; got {format_number(self.mean)}."
            )
        if self.width > MAX_RANGE * self.sigma:
            raise ValueError(
                f"The bounds must be at most {MAX_RANGE:,.0f} standard deviations apart; got {ends} with a "
                f"standard deviation of {format_number(self.sigma)}."
            )

    @property
    def width(self) -> float:
        """R = c1 − c0, the largest distance of two rows."""
        return self.high - self.low

    @property
    def truth(self) -> float:
        return self.studied[self.estimand].truth(self)

    @property
    def is_central(self) -> bool:
        return self.studied[self.estimand].is_mean and math.isclose(2 * self.mean, self.low + self.high)

    # Rows

    def draw(self, rng: np.random.Generator, repetitions: int) -> Any:
        """Confidential rows of many repetitions, shape (repetitions, n)."""
        rows = rng.standard_normal((repetitions, self.n))
        rows *= self.sigma
        rows += self.mean
        return np.clip(rows, self.low, self.high, out=rows)

    def read(self, rows: Any) -> Any:
        """What an analyst computes from the rows of each repetition."""
        return row_moments(rows)

    def each_repetition(self, rows: Any) -> list[FloatArray]:
        """The numbers of every row of each repetition; one whose set cannot be made is left out."""
        return [numbers for numbers in rows if not np.isnan(numbers).any()]

    def draw_release(self, method: Any, epsilon: float, sets: int, seed: int) -> tuple[FloatArray, list[FloatArray]]:
        """One confidential data set, and the sets that a method releases of it.

        >>> data = UnknownVariance(n=4, mean=0, sigma=1, low=-4, high=4)
        >>> rows, released = data.draw_release(ORIGINAL_ROWS, 1.0, 1, 1)
        >>> [(rows == numbers).all() for numbers in released]
        [np.True_]
        """
        confidential, released = self._draw_sets(method, epsilon, sets, seed)
        return self.each_repetition(confidential)[0], [row for rows in released for row in self.each_repetition(rows)]

    def _draw_sets(self, method: Any, epsilon: float, sets: int, seed: int) -> tuple[Any, Iterator[Any]]:
        rng = np.random.default_rng(seed)
        confidential = self.draw(rng, 1)
        return confidential, method.draw(rng, confidential, epsilon, self, method.sets(sets))

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        estimate, estimates = self.studied[self.estimand].estimate, dict[str, FloatArray]()
        for method, setting in settings.items():
            _, released = self._draw_sets(method, setting, sets, seed)
            values = np.array([estimate(self.read(rows))[0] for rows in released])
            estimates[method.key] = values[~np.isnan(values)]
        confidential, _ = self._draw_sets(ORIGINAL_ROWS, 1.0, 1, seed)
        return float(estimate(self.read(confidential))[0]), estimates

    # Outcomes

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float] | None:
        if not self.studied[self.estimand].is_mean:
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
            measures: dict[str, Any] = dict(vars(results.measures(self.estimand, rule)))
            if exact is not None:
                measures |= {"bias": Measure(exact[0], 0.0), "root_mean_squared_error": Measure(exact[1], 0.0)}
            errors = {
                key: results.measures(key, rule).root_mean_squared_error
                if results.released(key) >= MIN_RANKED_REPETITIONS
                else UNKNOWN_MEASURE
                for key in secondary
            }
            yield Outcome(
                data=cast(DataKind, self), method=method, epsilon=epsilon, setting=setting, sets=sets,
                secondary_errors=errors,
                repetitions=math.inf if exact is not None else results.released(self.estimand),
                unfinished=results.repetitions if results.repetitions < study.repetitions else 0,
                **measures,
            )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class KnownVariance(NormalData, DataKind):
    """σ is public, and the model-based releases use it."""

    key: ClassVar[str] = "gaussian_known_variance"
    label: ClassVar[str] = "Numbers between bounds, variance public"
    methods: ClassVar[tuple[ComparedMethod, ...]] = numeric_releases.KNOWN_VARIANCE_METHODS
    usual: ClassVar[tuple[str, ...]] = "original", "modips", "perturbed_histogram_safe"
    estimands: ClassVar[tuple[Estimand, ...]] = MEAN, MEAN_KNOWN_VARIANCE


@dataclass(frozen=True, kw_only=True)
class UnknownVariance(NormalData, DataKind):
    """σ is confidential, and the model-based releases spend on mean and variance."""

    key: ClassVar[str] = "gaussian"
    label: ClassVar[str] = "Numbers between bounds"
    methods: ClassVar[tuple[ComparedMethod, ...]] = numeric_releases.UNKNOWN_VARIANCE_METHODS
    assumed_parameters: ClassVar[tuple[str, ...]] = ("sigma",)
    usual: ClassVar[tuple[str, ...]] = "original", "modips_split", "perturbed_histogram_safe"
    estimands: ClassVar[tuple[Estimand, ...]] = MEAN, VARIANCE
    divided_between: ClassVar[tuple[str, ...]] = "mean", "variance"


@lru_cache(maxsize=4)
def released_rows(
    data: NormalData, settings: Sequence[tuple[Any, float]], sets: int, seed: int
) -> dict[str, FloatArray]:
    """One confidential data set, and the first set that each method releases of it, by label.

    Parameters
    ----------
    data : NormalData
    settings : sequence
        Methods, each with the ε of all its sets.
    sets : int
    seed : int
    """
    rows = {"Confidential data": data.draw_release(ORIGINAL_ROWS, 1.0, 1, seed)[0]}
    for method, setting in settings:
        if method.key != ORIGINAL_ROWS.key:
            released = data.draw_release(method, setting, sets, seed)[1]
            rows |= {method.label: released[0]} if released else {}
    return rows
