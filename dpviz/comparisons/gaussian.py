"""Study 2 of Bowen & Liu and Liu's normal data: numbers between public bounds, with the variance public or not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpviz.comparisons.base import (
    COMPARED_SETS,
    RANKED_REPETITIONS,
    UNKNOWN_MEASURE,
    Analysis,
    DataKind,
    Estimand,
    Outcome,
)
from dpviz.comparisons.bounding import Rows, moments_of
from dpviz.core import limits
from dpviz.core.declarations import EPSILON, ROWS, SEED
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray
from dpviz.coverage.studies import Plan, stream_study
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES
from dpviz.mechanisms.base import parameter

LARGEST_VALUE = 1e6  # Of a mean, a bound and a standard deviation, so that fourth powers stay far from overflow
LARGEST_RANGE = 1e4  # Most standard deviations between the bounds

NORMAL_ROWS = dataclasses.replace(
    ROWS,
    minimum=4,
    maximum=limits.MAX_COMPARED_ROWS,
    default=100,
    help="The number of rows in the confidential data, and in every synthetic set. It is public.",
)
NORMAL_MEAN = Parameter(
    name="mean",
    symbol="μ",
    title="True mean",
    minimum=-LARGEST_VALUE,
    maximum=LARGEST_VALUE,
    default=0.0,
    slider_minimum=-5.0,
    slider_maximum=5.0,
    help="The mean of the normal distribution that the confidential rows are drawn from. It must lie between the "
    "bounds.",
)
NORMAL_DEVIATION = Parameter(
    name="sigma",
    symbol="σ",
    title="True standard deviation",
    minimum=1 / LARGEST_VALUE,
    maximum=LARGEST_VALUE,
    default=1.0,
    slider_minimum=0.1,
    slider_maximum=10.0,
    scale="log",
    help="The standard deviation of the normal distribution that the confidential rows are drawn from.",
)
LOWER_BOUND = dataclasses.replace(
    NORMAL_MEAN,
    name="low",
    symbol="c0",
    title="Lower bound",
    default=-4.0,
    slider_minimum=-20.0,
    slider_maximum=20.0,
    private_end="neither",
    help="The smallest value that a row can have, chosen without looking at the data. Rows below are set to it. Wider "
    "bounds need more noise.",
)
UPPER_BOUND = dataclasses.replace(
    LOWER_BOUND,
    name="high",
    symbol="c1",
    title="Upper bound",
    default=4.0,
    help="The largest value that a row can have, chosen without looking at the data. Rows above are set to it. Wider "
    "bounds need more noise.",
)
EPSILON_OF_ALL_SETS = dataclasses.replace(EPSILON, minimum=1e-9, maximum=1e6, default=1.0, title="ε of all sets")
# Repetitions in a block: of the largest data, of most, and of small ones
FEWEST_REPETITIONS, USUAL_REPETITIONS, MOST_REPETITIONS = 20, 500, 1000
LARGEST_BLOCK = 2_000_000  # Rows beyond which a block has even fewer: it takes no longer than a moment
NEAR_ROWS = 100_000  # Rows of a block that stay near the processor
SHOWN_FIRST = "perturbed_histogram_safe", "smoothed_histogram"


@dataclass(frozen=True)
class Confidential:
    """The confidential data of a block of repetitions, one data set in each `place` of `rows`."""

    data: Any
    rows: Any

    @cached_property
    def moments(self) -> Any:
        """What an analyst reads of each data set."""
        return self.data.read(self.rows)

    @property
    def repetitions(self) -> int:
        """How many data sets there are."""
        return len(self.rows.place)


@dataclass(frozen=True)
class NormalEstimand(Estimand):
    """A parameter of the confidential rows, and its estimate and variance estimate from one set of n rows.

    `truth` is its true value in the data. From what `GaussianData.read` makes of the sets come the `estimate` of each,
    NaN where a set has none, and with the data the estimated variance `within`.
    """

    truth: Callable[[Any], float]
    estimate: Callable[[Any], FloatArray]
    within: Callable[[Any, Any], FloatArray]
    of_mean: bool = False
    """Whether it is estimated by the mean of the rows, whose bias and error some methods know without a simulation."""


MEAN = NormalEstimand(
    "mean",
    "the mean, its variance estimated by s²/n",
    "μ",
    of_mean=True,
    truth=lambda data: data.mean,
    estimate=lambda found: found.mean,
    within=lambda found, data: found.variance / data.n,
)
NORMAL_ESTIMANDS: dict[str, NormalEstimand] = {
    one.key: one
    for one in (
        MEAN,
        dataclasses.replace(
            MEAN,
            key="mean_known_variance",
            label="the mean, its variance σ²/n known to the analyst",
            within=lambda found, data: np.full(found.mean.shape, data.sigma**2 / data.n),
        ),
        NormalEstimand(
            "variance",
            "the variance",
            "σ²",  # estimated by s² with variance 2s⁴/(n − 1)
            truth=lambda data: data.sigma**2,
            estimate=lambda found: found.variance,
            within=lambda found, data: 2 * found.variance**2 / (data.n - 1),
        ),
    )
}
"""What an analyst can ask of normal data, by its key."""


@dataclass(frozen=True, kw_only=True)
class GaussianData(DataKind):
    """n rows from N(μ, σ²); rows outside the public bounds are set to the bound, or no sensitivity would hold."""

    n: int = parameter(NORMAL_ROWS)
    mean: float = parameter(NORMAL_MEAN)
    sigma: float = parameter(NORMAL_DEVIATION)
    low: float = parameter(LOWER_BOUND)
    high: float = parameter(UPPER_BOUND)

    simulated: ClassVar[bool] = True
    true_value: ClassVar[str] = "mean"
    assumed: ClassVar[str] = "independent rows from N(μ, σ²), those outside the bounds set to the bound"
    exactly: ClassVar[str] = "exact moments of the release, by sums or quadrature"
    plan: ClassVar[Callable[..., Plan[Any]]]
    """What makes a study of them, `dpviz.comparisons.gaussian_study.GaussianPlan`."""
    drawn: ClassVar[type] = Rows
    """What confidential and released rows are kept in; a method says which of these it takes."""
    studied: ClassVar[Mapping[str, NormalEstimand]] = NORMAL_ESTIMANDS
    """What a study of such data can ask, by key."""
    block: ClassVar[int] = 2_000_000
    """Rows in a block of a study: about as many as are drawn in 20 ms, so that the first result is soon there."""

    def check(self) -> None:
        ends = f"{format_number(self.low)} to {format_number(self.high)}"
        if self.low >= self.high:
            raise ValueError(f"low (lower bound) must be below high (upper bound); got {ends}.")
        if not self.low < self.mean < self.high:
            raise ValueError(
                f"mean (true mean) must lie strictly between the bounds, {ends}; got {format_number(self.mean)}."
            )
        if self.width > LARGEST_RANGE * self.sigma:
            raise ValueError(
                f"The bounds must be at most {LARGEST_RANGE:,.0f} standard deviations apart; got {ends} with a "
                f"standard deviation of {format_number(self.sigma)}."
            )

    @property
    def width(self) -> float:
        """R = c1 − c0, the largest distance of two rows."""
        return self.high - self.low

    @property
    def asked(self) -> NormalEstimand:
        """What the analyst wants to know."""
        return self.studied[self.estimand]

    @property
    def truth(self) -> float:
        return self.asked.truth(self)

    def read(self, rows: Any) -> Any:
        """Return all that an analyst reads of each set."""
        return moments_of(rows)

    def draw(self, random: np.random.Generator, repetitions: int) -> Confidential:
        """Draw confidential data, as many data sets as there are repetitions."""
        values = random.standard_normal((self.n, repetitions))
        np.clip(values, (self.low - self.mean) / self.sigma, (self.high - self.mean) / self.sigma, out=values)
        every = np.ones(repetitions)
        return Confidential(self, Rows(np.arange(repetitions), values, self.mean * every, self.sigma * every))

    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, beside: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        rule = analysis.rule_for(sets).key
        if rule not in COMBINING_RULES:
            raise ValueError(
                f'The rule "{RULES[rule].label}" reads counts of a transition matrix. Choose one that combines '
                f'estimates, such as "{RULES["reiter_2003"].label}".'
            )
        plan = self.plan(
            data=self,
            method=method,
            epsilon=setting,
            sets=sets,
            estimands=(self.estimand, *beside),
            rules=(rule,),
            level=analysis.level,
            repetitions=analysis.repetitions,
            seed=analysis.seed,
            batch=self.batch(sets),
        )
        exact = self.accuracy(method, setting, analysis)
        names = "bias", "root_mean_squared_error"
        known = {} if exact is None else {name: Measure(one, 0.0) for name, one in zip(names, exact, strict=True)}
        for tally in stream_study(plan):
            found: dict[str, Any] = vars(tally.measures(self.estimand, rule)) | known
            of_estimand, *others = tally.estimands
            found["beside"] = {
                key: tally.measures(key, rule).root_mean_squared_error
                if one.released >= RANKED_REPETITIONS
                else UNKNOWN_MEASURE
                for key, one in zip(beside, others, strict=True)
            }
            found["repetitions"] = math.inf if known else of_estimand.released
            found["unfinished"] = tally.repetitions if tally.repetitions < plan.repetitions else 0
            yield Outcome(data=self, method=method, epsilon=epsilon, setting=setting, sets=sets, **found)

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float] | None:
        """By quadrature or sums over bins, where the mean is asked for and the method knows them."""
        return method.accuracy(self, setting, method.sets(analysis.sets)) if self.asked.of_mean else None

    def batch(self, sets: int) -> int:
        """Return the repetitions in a block of a study of M sets."""
        rows = self.n * sets
        fewest = max(min(FEWEST_REPETITIONS, LARGEST_BLOCK // rows), 1)
        return max(fewest, min(self.block // rows, max(USUAL_REPETITIONS, min(MOST_REPETITIONS, NEAR_ROWS // rows))))

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        held, found = self.draw(np.random.default_rng(seed), 1), dict[str, FloatArray]()
        for method, setting in settings.items():
            random = np.random.default_rng(seed)
            released = method.release(random, self.draw(random, 1), setting, method.sets(sets))
            estimates = self.asked.estimate(released)
            found[method.key] = estimates[~np.isnan(estimates)]
        return float(self.asked.estimate(held.moments)[0]), found

    def draw_release(self, method: Any, epsilon: float, sets: int, seed: int) -> tuple[FloatArray, list[FloatArray]]:
        """Return one confidential data set and the sets that a method releases of it, as `each_set` has them.

        One that cannot be made is left out.

        >>> data = UnknownVariance(n=4, mean=0, sigma=1, low=-4, high=4)
        >>> rows, released = data.draw_release(data.methods[0], 1.0, 1, 1)  # the original data
        >>> [(rows == one).all() for one in released]
        [np.True_]
        """
        epsilon = EPSILON_OF_ALL_SETS.validate(epsilon)
        sets = COMPARED_SETS.validate(sets)
        seed = SEED.validate(seed)
        random = np.random.default_rng(seed)
        held = self.draw(random, 1)
        found = [held.rows, *method.rows(random, held, epsilon, method.sets(sets))]
        confidential, *released = (one for rows in found for one in self.each_set(rows))
        return confidential, released

    def each_set(self, rows: Any) -> Iterator[FloatArray]:
        """Yield the numbers of every row of each set."""
        yield from (rows.centre + rows.scale * rows.values).T


class KnownVariance(GaussianData):
    """σ is public, and the model-based releases use it."""

    key: ClassVar[str] = "gaussian_known_variance"
    label: ClassVar[str] = "Numbers between bounds, variance public"
    usual: ClassVar[tuple[str, ...]] = "original", "multiple_synthesis", "modips", "modips_truncated", *SHOWN_FIRST
    estimands: ClassVar[tuple[Estimand, ...]] = NORMAL_ESTIMANDS["mean"], NORMAL_ESTIMANDS["mean_known_variance"]


class UnknownVariance(GaussianData):
    """σ is confidential, and the model-based releases spend on mean and variance."""

    key: ClassVar[str] = "gaussian"
    label: ClassVar[str] = "Numbers between bounds"
    supposed: ClassVar[tuple[str, ...]] = ("sigma",)
    usual: ClassVar[tuple[str, ...]] = "original", "multiple_synthesis", "modips_split", "modips_communal", *SHOWN_FIRST
    estimands: ClassVar[tuple[Estimand, ...]] = NORMAL_ESTIMANDS["mean"], NORMAL_ESTIMANDS["variance"]
    divided_between: ClassVar[tuple[str, ...]] = "mean", "variance"
