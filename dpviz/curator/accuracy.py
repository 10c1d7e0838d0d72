"""Limits on how far an analyst may be off: each is a measure, the worst or the average over a range of true values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, kw_only=True)
class AccuracyMeasure:
    """One number that says how good an analyst's answer is, and on which side of a limit it must lie.

    `key` is its name in an `Outcome`, and `told` the measure in words, with its value in braces. A `share` of all cases
    is read in per cent, and the larger it is the better; of any other measure the smaller. `root` says that it is the
    root of an average, which is what an average over true values is then taken of.
    """

    key: str
    label: str
    symbol: str
    meaning: str
    asks: Parameter
    told: str = ""
    needs_interval: bool = False
    share: bool = False
    root: bool = False

    @property
    def sense(self) -> str:
        """On which side of a limit it must lie."""
        return "at least" if self.share else "at most"

    @property
    def formula(self) -> str:
        """The symbol and what it stands for."""
        return f"{self.symbol}{self.meaning}"

    def of(self, outcome: Outcome) -> Measure:
        """Return the measure at one true value, without a sign."""
        found: Measure = getattr(outcome, self.key)
        return Measure(abs(found.value), found.error)

    def worse(self, one: float, other: float) -> bool:
        """Whether the first is worse."""
        return one < other if self.share else one > other

    def surely(self, found: Measure) -> float:
        """Return a limit that such a number keeps for sure: itself where it is exact."""
        reach = SURE * (1 + ROUNDING) * found.error
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

    def over(self, truths: Sequence[float], outcomes: Sequence[Outcome], average: bool) -> Figure:
        """Return the worst of the true values, or the average with each alike; NaN while one of them is unknown."""
        found = [self.of(one) for one in outcomes]
        values = [one.value for one in found]
        if any(map(math.isnan, values)):
            return Figure(Measure.unknown(), math.nan)
        if average:
            return Figure(self.mean(found), math.nan)
        place = values.index(min(values) if self.share else max(values))
        return Figure(found[place], truths[place])

    def mean(self, found: Sequence[Measure]) -> Measure:
        """Return the average. Simulations of all true values share a seed, so that all may err to the same side."""
        if self.root:
            found = [Measure(one.value**2, 2 * one.value * one.error) for one in found]
        value, error = (math.fsum(getattr(one, name) for one in found) / len(found) for name in ("value", "error"))
        return Measure(value, error).root() if self.root else Measure(value, error)


ACCURACY: dict[str, AccuracyMeasure] = {
    one.key: one
    for one in (
        AccuracyMeasure(
            key="bias", label="bias", symbol="|E[q] − p|",
            meaning=", q the analyst's estimate and p the true value",
            asks=MOST_BIAS, told="the estimate is off by {} on average",
        ),
        AccuracyMeasure(
            key="root_mean_squared_error", label="root mean squared error", symbol="√E[(q − p)²]",
            meaning=" over confidential data and release", root=True,
            asks=MOST_ERROR, told="the estimate is typically off by {}",
        ),
        AccuracyMeasure(
            key="coverage", label="coverage", symbol="Pr(low ≤ p ≤ high)",
            meaning=", how often the analyst's interval holds the true value", share=True, needs_interval=True,
            asks=LEAST_COVERAGE, told="the interval holds the true value in {} of all cases",
        ),
        AccuracyMeasure(
            key="mean_width", label="length of the interval", symbol="E[high − low]",
            meaning=", the mean length of the analyst's interval, where there is one", needs_interval=True,
            asks=MOST_LENGTH, told="the interval is {} long on average",
        ),
    )
}  # fmt: skip
"""Every measure on which there can be a limit, by key."""

USABLE = AccuracyMeasure(
    key="usable_share", label="usable share of the releases", symbol="Pr(usable)",
    meaning=", the probability that a release can be analyzed", share=True, asks=LEAST_COVERAGE,
)  # fmt: skip
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
