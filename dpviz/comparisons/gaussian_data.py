"""Confidential rows from a normal distribution, kept inside public bounds, and what an analyst asks of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpviz import limits
from dpviz.comparisons.base import DataKind, Estimand
from dpviz.comparisons.bounding import Rows, moments_of
from dpviz.parameters import Parameter, readable
from dpviz.synthesizers.base import ROWS, parameter
from dpviz.types import FloatArray

LARGEST = 1e6  # Of a mean, a bound and a standard deviation, so that fourth powers stay far from overflow
WIDEST = 1e4  # Most standard deviations between the bounds

NORMAL_ROWS = dataclasses.replace(
    ROWS, minimum=4, maximum=limits.COMPARED_ROWS, default=100,
    help="The number of rows in the confidential data, and in every synthetic set. It is public.",
)  # fmt: skip
MEAN = Parameter(
    name="mean", symbol="μ", title="True mean", minimum=-LARGEST, maximum=LARGEST, default=0.0,
    slider_minimum=-5.0, slider_maximum=5.0,
    help="The mean of the normal distribution that the confidential rows are drawn from. It must lie between the "
    "bounds.",
)  # fmt: skip
SIGMA = Parameter(
    name="sigma", symbol="σ", title="True standard deviation", minimum=1 / LARGEST, maximum=LARGEST, default=1.0,
    slider_minimum=0.1, slider_maximum=10.0, scale="log",
    help="The standard deviation of the normal distribution that the confidential rows are drawn from.",
)  # fmt: skip
LOW = Parameter(
    name="low", symbol="c0", title="Lower bound", minimum=-LARGEST, maximum=LARGEST, default=-4.0,
    slider_minimum=-20.0, slider_maximum=20.0, private_end="neither",
    help="The smallest value that a row can have, chosen without looking at the data. Rows below are set to it. Wider "
    "bounds need more noise.",
)  # fmt: skip
HIGH = dataclasses.replace(
    LOW, name="high", symbol="c1", title="Upper bound", default=4.0,
    help="The largest value that a row can have, chosen without looking at the data. Rows above are set to it. Wider "
    "bounds need more noise.",
)  # fmt: skip


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


ESTIMANDS: dict[str, NormalEstimand] = {
    one.key: one
    for one in (
        NormalEstimand(
            "mean", "the mean, its variance estimated by s²/n", "μ", of_mean=True,
            truth=lambda data: data.mean, estimate=lambda found: found.mean,
            within=lambda found, data: found.variance / data.n,
        ),
        NormalEstimand(
            "mean_known_variance", "the mean, its variance σ²/n known to the analyst", "μ", of_mean=True,
            truth=lambda data: data.mean, estimate=lambda found: found.mean,
            within=lambda found, data: np.full(found.mean.shape, data.sigma**2 / data.n),
        ),
        NormalEstimand(
            "variance", "the variance", "σ²",  # estimated by s² with variance 2s⁴/(n − 1)
            truth=lambda data: data.sigma**2, estimate=lambda found: found.variance,
            within=lambda found, data: 2 * found.variance**2 / (data.n - 1),
        ),
    )
}  # fmt: skip
"""What an analyst can ask of normal data, by its key."""


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


@dataclass(frozen=True, kw_only=True)
class GaussianData(DataKind):
    """n rows from N(μ, σ²); rows outside the public bounds are set to the bound, or no sensitivity would hold."""

    n: int = parameter(NORMAL_ROWS)
    mean: float = parameter(MEAN)
    sigma: float = parameter(SIGMA)
    low: float = parameter(LOW)
    high: float = parameter(HIGH)

    true_value: ClassVar[str] = "mean"
    assumed: ClassVar[str] = "independent rows from N(μ, σ²), those outside the bounds set to the bound"
    exactly: ClassVar[str] = "exact moments of the release, by sums or quadrature"
    drawn: ClassVar[type] = Rows
    """What confidential and released rows are kept in; a method says which of these it takes."""
    studied: ClassVar[Mapping[str, NormalEstimand]] = ESTIMANDS
    """What a study of such data can ask, by key."""
    block: ClassVar[int] = 2_000_000
    """Rows in a block of a study: about as many as are drawn in 20 ms, so that the first result is soon there."""

    def check(self) -> None:
        ends = f"{readable(self.low)} to {readable(self.high)}"
        if self.low >= self.high:
            raise ValueError(f"low (lower bound) must be below high (upper bound); got {ends}.")
        if not self.low < self.mean < self.high:
            raise ValueError(f"mean (true mean) must lie between the bounds, {ends}; got {readable(self.mean)}.")
        if self.width > WIDEST * self.sigma:
            raise ValueError(
                f"The bounds must be at most {WIDEST:,.0f} standard deviations apart; got {ends} with a standard "
                f"deviation of {readable(self.sigma)}."
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
