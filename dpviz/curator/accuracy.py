"""Limits on how far an analyst may be off: each is a measure, the worst or the average over a range of true values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dpviz.comparisons import Outcome
from dpviz.parameters import Parameter, readable
from dpviz.studies import Measure

ROUNDING = 1e-12  # Relative distance from a limit within which an exact sum lies on it
SURE = 2.0  # Standard errors from a limit at which a simulation counts as having decided
MOST_BIAS = Parameter(
    name="most_bias", symbol="", title="Largest bias", minimum=0.0, maximum=1e6, default=0.02, open_minimum=True,
    slider_minimum=1e-4, slider_maximum=0.5, scale="log", private_end="neither",
    help="How far the analyst's estimate may be off on average, up or down, in the units of what is estimated. For a "
    "proportion 0.02 is two percentage points.",
)  # fmt: skip
MOST_ERROR = replace(
    MOST_BIAS, name="most_error", title="Largest root mean squared error", default=0.05,
    help="How far the analyst's estimate may typically be off, over confidential data and release, in the units of "
    "what is estimated. Without any protection a proportion of 0.25 from 1,000 rows is off by 0.014.",
)  # fmt: skip
LEAST_COVERAGE = Parameter(
    name="least_coverage", symbol="", title="Smallest coverage", minimum=0.0, maximum=1.0, default=0.9,
    slider_minimum=0.5, slider_maximum=0.999, private_end="neither",
    help="How often, at least, the analyst's interval must hold the true value. An interval with a level of 0.95 is "
    "meant to hold it 95 times in 100.",
)  # fmt: skip
MOST_LENGTH = replace(
    MOST_BIAS, name="most_length", title="Largest length of the interval", default=0.1,
    help="How long the analyst's interval may be on average, from its lower to its upper end.",
)  # fmt: skip


def on_limit(value: float, limit: float) -> bool:
    """Whether a number is its limit, up to the rounding of a sum.

    >>> on_limit(1 - 2**-53, 1.0), on_limit(0.999999, 1.0)
    (True, False)
    """
    return math.isclose(value, limit, rel_tol=ROUNDING)


@dataclass(frozen=True)
class Figure:
    """A measure over a range of true values: the worst of them, and the true value `at` which it is; or their average.

    `at` is NaN for an average.
    """

    measure: Measure
    at: float


class AccuracyMeasure(ABC):
    """One number that says how good an analyst's answer is, and on which side of a limit it must lie."""

    key: ClassVar[str]
    label: ClassVar[str]
    symbol: ClassVar[str]
    formula: ClassVar[str]
    asks: ClassVar[Parameter]
    needs_interval: ClassVar[bool] = False
    sense: ClassVar[str] = "at most"
    told: ClassVar[str]
    """The measure in words, with its value in braces."""
    share: ClassVar[bool] = False
    """Whether it is read in per cent."""

    @abstractmethod
    def of(self, outcome: Outcome) -> Measure:
        """Return the measure at one true value; the smaller the better, or the larger where a limit is a smallest."""

    def worse(self, one: float, other: float) -> bool:
        """Whether the first is worse."""
        return one > other

    def surely(self, found: Measure) -> float:
        """Return a limit that such a number keeps for sure: itself where it is exact."""
        reach = SURE * (1 + ROUNDING) * found.error
        return found.value - reach if self.worse(0.0, 1.0) else found.value + reach

    def slack(self, value: float, limit: float) -> float:
        """Return how much of the limit is used: at most 1 where it is kept, infinite where there is no value."""
        return math.inf if math.isnan(value) else value / limit

    def over(self, truths: Sequence[float], outcomes: Sequence[Outcome], average: bool) -> Figure:
        """Return the worst of the true values, or the average with each alike; NaN while one of them is unknown."""
        found = [self.of(one) for one in outcomes]
        if any(math.isnan(one.value) for one in found):
            return Figure(Measure.unknown(), math.nan)
        if average:
            return Figure(self.mean(found), math.nan)
        place = 0
        for index, one in enumerate(found):
            if self.worse(one.value, found[place].value):
                place = index
        return Figure(found[place], truths[place])

    def mean(self, found: Sequence[Measure]) -> Measure:
        """Return the average. Simulations of all true values share a seed, so that all may err to the same side."""
        error = math.fsum(one.error for one in found) / len(found)
        return Measure(math.fsum(one.value for one in found) / len(found), error)


class Bias(AccuracyMeasure):
    """|E[q] − p|."""

    key = "bias"
    label = "bias"
    symbol = "|E[q] − p|"
    formula = "|E[q] − p|, q the analyst's estimate and p the true value"
    asks = MOST_BIAS
    told = "the estimate is off by {} on average"

    def of(self, outcome: Outcome) -> Measure:
        return Measure(abs(outcome.bias.value), outcome.bias.error)


class RootMeanSquaredError(AccuracyMeasure):
    """√E[(q − p)²]."""

    key = "root_mean_squared_error"
    label = "root mean squared error"
    symbol = "√E[(q − p)²]"
    formula = "√E[(q − p)²] over confidential data and release"
    asks = MOST_ERROR
    told = "the estimate is typically off by {}"

    def of(self, outcome: Outcome) -> Measure:
        return outcome.root_mean_squared_error

    def mean(self, found: Sequence[Measure]) -> Measure:
        """The root of the average squared error."""
        squares = [Measure(one.value**2, 2 * one.value * one.error) for one in found]
        return super().mean(squares).root()


class Coverage(AccuracyMeasure):
    """Pr(low ≤ p ≤ high)."""

    key = "coverage"
    label = "coverage"
    symbol = "Pr(low ≤ p ≤ high)"
    formula = "Pr(low ≤ p ≤ high), how often the analyst's interval holds the true value"
    asks = LEAST_COVERAGE
    told = "the interval holds the true value in {} of all cases"
    needs_interval = True
    share = True
    sense = "at least"

    def of(self, outcome: Outcome) -> Measure:
        return outcome.coverage

    def worse(self, one: float, other: float) -> bool:
        return one < other

    def slack(self, value: float, limit: float) -> float:
        """The share that is missed against the share that may be missed, so that 0.85 for 0.9 uses 1.5 of it."""
        if math.isnan(value) or limit == 1:
            return 1.0 if on_limit(value, 1.0) else math.inf
        return (1 - value) / (1 - limit)


class Length(AccuracyMeasure):
    """E[high − low]."""

    key = "mean_width"
    label = "length of the interval"
    symbol = "E[high − low]"
    formula = "E[high − low], the mean length of the analyst's interval, where there is one"
    asks = MOST_LENGTH
    told = "the interval is {} long on average"
    needs_interval = True

    def of(self, outcome: Outcome) -> Measure:
        return outcome.mean_width


ACCURACY: dict[str, AccuracyMeasure] = {one.key: one for one in (Bias(), RootMeanSquaredError(), Coverage(), Length())}
"""Every measure on which there can be a limit, by key."""


@dataclass(frozen=True)
class AccuracyLimit:
    """A measure and what it may be.

    >>> limit = AccuracyLimit("coverage", 0.9)
    >>> limit.kept(Measure(0.89, 0.02)), limit.kept(Measure(0.89, 0.0)), limit.words
    (None, False, 'coverage at least 0.9')
    """

    key: str
    limit: float

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or self.key not in ACCURACY:
            raise ValueError(f"key must be one of {', '.join(ACCURACY)}; got {self.key!r}.")
        object.__setattr__(self, "limit", self.measure.asks.check(self.limit))

    @property
    def measure(self) -> AccuracyMeasure:
        """What is limited."""
        return ACCURACY[self.key]

    @property
    def words(self) -> str:
        """The limit in a few words."""
        return f"{self.measure.label} {self.measure.sense} {readable(self.limit, 4)}"

    def slack(self, found: Measure) -> float:
        """Return how much of the limit is used: at most 1 where it is kept."""
        return self.measure.slack(found.value, self.limit)

    def slack_around(self, found: Measure, reach: float) -> tuple[float, float]:
        """Return the slack so many standard errors to both sides, the smaller first."""
        ends = (self.measure.slack(found.value + side * reach * found.error, self.limit) for side in (-1, 1))
        low, high = sorted(ends)
        return max(low, 0.0), high

    def kept(self, found: Measure) -> bool | None:
        """Whether it is kept; None where it is not known, or a simulation is within two standard errors of the limit.

        An exact number on the limit keeps it.
        """
        if math.isnan(found.value):
            return None
        if found.error > 0 and abs(found.value - self.limit) < SURE * found.error:
            return None
        return on_limit(found.value, self.limit) or not self.measure.worse(found.value, self.limit)
