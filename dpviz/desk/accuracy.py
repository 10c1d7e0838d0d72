"""Limits on how far an analyst may be off: each is a measure, the worst or the average over a range of true values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpviz.comparisons import Outcome
from dpviz.comparisons.analysis import MIN_RANKED_REPETITIONS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.monte_carlo import TIE_ERRORS, TIE_TOLERANCE, Measure
from dpviz.core.parameters import Parameter

MOST_BIAS = Parameter(
    name="most_bias",
    symbol="",
    title="Largest bias",
    minimum=0.0,
    maximum=1e6,
    default=0.02,
    open_minimum=True,
    slider_minimum=1e-4,
    slider_maximum=0.5,
    scale="log",
    private_end="neither",
    help="How far the analyst's estimate may be off on average, up or down, in the units of what is estimated. For a "
    "proportion 0.02 is two percentage points.",
)
MOST_ERROR = replace(
    MOST_BIAS,
    name="most_error",
    title="Largest root mean squared error",
    default=0.05,
    help="How far the analyst's estimate may typically be off, over confidential data and release, in the units of "
    "what is estimated. Without any protection a proportion of 0.25 from 1,000 rows is off by 0.014.",
)
SMALLEST_COVERAGE = Parameter(
    name="least_coverage",
    symbol="",
    title="Smallest coverage",
    minimum=0.0,
    maximum=1.0,
    default=0.9,
    slider_minimum=0.5,
    slider_maximum=0.999,
    private_end="neither",
    help="How often, at least, the analyst's interval must hold the true value. An interval with a level of 0.95 is "
    "meant to hold it 95 times in 100.",
)
MOST_LENGTH = replace(
    MOST_BIAS,
    name="most_length",
    title="Largest length of the interval",
    default=0.1,
    help="How long the analyst's interval may be on average, from its lower to its upper end. For a proportion what "
    "lies below 0 or above 1 does not count: an interval without end says nothing, and is 1 long.",
)


def on_limit(value: float, limit: float) -> bool:
    """Whether a number is its limit, up to the rounding of a sum.

    >>> on_limit(1 - 2**-53, 1.0), on_limit(0.999999, 1.0)
    (True, False)
    """
    return math.isclose(value, limit, rel_tol=TIE_TOLERANCE)


@dataclass(frozen=True)
class RangeFigure:
    """A measure over a range of true values: the worst of them, and the true value `at` which it is; or their average.

    `at` is NaN for an average. `tried` is how many true values were tried, of which it is the worst or the average; 0
    where it is the worst found over the whole range.
    """

    measure: Measure
    at: float
    tried: int


@dataclass(frozen=True, kw_only=True)
class AccuracyMeasure:
    """One number that says how good an analyst's answer is, and on which side of a limit it must lie.

    `key` is its name in an `Outcome`, `column` the head of its column in a table, which must be narrow, and `told` the
    measure in words, with its value in braces. A `share` of all cases
    is read in per cent, and the larger it is the better; of any other measure the smaller. `root` says that it is the
    root of an average, which is what an average over true values is then taken of.
    """

    key: str
    label: str
    column: str
    symbol: str
    meaning: str
    asks: Parameter
    told: str = ""
    needs_interval: bool = False
    share: bool = False
    root: bool = False
    half: str = ""

    @property
    def name(self) -> str:
        """What a limit on it is said to be on: of a length, half of it."""
        return self.half or self.label

    @property
    def sense(self) -> str:
        """On which side of a limit it must lie."""
        return "at least" if self.share else "at most"

    def of(self, outcome: Outcome) -> Measure:
        """Return the measure at one true value, without a sign; unknown where too few repetitions gave an estimate."""
        if outcome.repetitions < MIN_RANKED_REPETITIONS:
            return Measure.unknown()
        found: Measure = getattr(outcome, self.key)
        return found.scaled(-1.0) if found.value < 0 else found

    def worse(self, one: float, other: float) -> bool:
        """Whether the first is worse."""
        return one < other if self.share else one > other

    def surely(self, found: Measure) -> float:
        """Return a limit that such a number keeps for sure: itself where it is exact."""
        reach = TIE_ERRORS * (1 + TIE_TOLERANCE) * found.error + found.within
        return found.value - reach if self.share else found.value + reach

    def slack(self, value: float, limit: float) -> float:
        """Return how much of the limit is used: at most 1 where it is kept, infinite where there is no value.

        Of a share it is what is missed against what may be missed, so that 0.85 for 0.9 uses 1.5 of it.
        """
        if math.isnan(value):
            return math.inf
        if not self.share:
            return value / limit
        if limit == 1:
            return 1.0 if on_limit(value, 1.0) else math.inf
        return (1 - value) / (1 - limit)

    def over(self, truths: Sequence[float], outcomes: Sequence[Outcome], average: bool) -> RangeFigure:
        """Return the worst of the true values, or the average with each alike; NaN while one of them is unknown."""
        found = [self.of(one) for one in outcomes]
        values = [one.value for one in found]
        if any(map(math.isnan, values)):
            return RangeFigure(Measure.unknown(), math.nan, len(truths))
        if average:
            return RangeFigure(self.mean(found), math.nan, len(truths))
        place = values.index(min(values) if self.share else max(values))
        return RangeFigure(found[place], truths[place], len(truths))

    def mean(self, found: Sequence[Measure]) -> Measure:
        """Return the average. Simulations of all true values share a seed, so that all may err to the same side."""
        return Measure.average([one.square() for one in found]).root() if self.root else Measure.average(found)


ACCURACY: dict[str, AccuracyMeasure] = {
    one.key: one
    for one in (
        AccuracyMeasure(
            key="bias",
            label="bias",
            column="bias",
            symbol="|E[q] − p|",
            meaning=", q the analyst's estimate and p the true value",
            asks=MOST_BIAS,
            told="the estimate is off by {} on average",
        ),
        AccuracyMeasure(
            key="root_mean_squared_error",
            label="root mean squared error",
            column="typical error (RMSE)",
            symbol="√E[(q − p)²]",
            meaning=" over confidential data and release",
            root=True,
            asks=MOST_ERROR,
            told="the estimate is typically off by {}",
        ),
        AccuracyMeasure(
            key="coverage",
            label="coverage",
            column="coverage",
            symbol="Pr(low ≤ p ≤ high)",
            meaning=", how often the analyst's interval holds the true value",
            share=True,
            needs_interval=True,
            asks=SMALLEST_COVERAGE,
            told="the interval holds the true value in {} of all cases",
        ),
        AccuracyMeasure(
            key="mean_width",
            label="length of the interval",
            column="length",
            symbol="E[high − low]",
            meaning=", the mean length of the analyst's interval, where there is one; of a proportion from 0 to 1",
            needs_interval=True,
            asks=MOST_LENGTH,
            told="the interval is {} on average",
            half="half-width of the interval",
        ),
    )
}
"""Every measure on which there can be a limit, by key."""

USABLE = AccuracyMeasure(
    key="usable_share",
    label="usable share of the releases",
    column="usable",
    symbol="Pr(usable)",
    meaning=", the probability that a release can be analyzed",
    share=True,
    asks=SMALLEST_COVERAGE,
)
"""How often a release can be analyzed at all; no limit is set on it."""


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
            raise ValueError(f"key must be one of {', '.join(ACCURACY)}; got {describe_value(self.key)}.")
        object.__setattr__(self, "limit", self.measure.asks.validate(self.limit))

    @property
    def measure(self) -> AccuracyMeasure:
        """What is limited."""
        return ACCURACY[self.key]

    @property
    def words(self) -> str:
        """The limit in a few words."""
        return f"{self.measure.label} {self.measure.sense} {format_number(self.limit, 4)}"

    def slack(self, found: Measure) -> Measure:
        """Return how much of the limit is used: at most 1 where it is kept, infinite where there is no value."""
        used = self.measure.slack(found.value, self.limit)
        allowed = 1 - self.limit if self.measure.share else self.limit
        if not (allowed and math.isfinite(used) and (found.error > 0 or found.within > 0)):
            return Measure(used, 0.0)
        return Measure(used, found.error / allowed, within=found.within / allowed)

    def slack_around(self, found: Measure, reach: float) -> tuple[float, float]:
        """Return the slack so many standard errors to both sides, the smaller first."""
        ends = (self.measure.slack(found.value + side * reach * found.error, self.limit) for side in (-1, 1))
        low, high = sorted(ends)
        return max(low, 0.0), high

    def kept(self, found: Measure, sure: float = TIE_ERRORS) -> bool | None:
        """Whether it is kept; None where it is not known, or a simulation is within two standard errors of the limit.

        So it is where the limit lies between the bounds of a sum. An exact number on the limit keeps it. What may still
        become more exact can be asked to be surer.

        >>> limit = AccuracyLimit("coverage", 0.9)
        >>> [limit.kept(Measure(value, 0.0, within=1e-5)) for value in (0.90002, 0.900005, 0.899995, 0.89998)]
        [True, None, None, False]
        """
        if math.isnan(found.value):
            return None
        if abs(found.value - self.limit) < sure * found.error + found.within:
            return None
        return on_limit(found.value, self.limit) or not self.measure.worse(found.value, self.limit)
