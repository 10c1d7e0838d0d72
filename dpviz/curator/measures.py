"""How accurate an analyst's answer is over a range of true values, and limits on that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpviz.comparisons import Outcome
from dpviz.comparisons.analysis import MIN_RANKED_REPETITIONS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.monte_carlo import TIE_ERRORS, TIE_TOLERANCE, Measure
from dpviz.core.parameters import Parameter

MAX_BIAS = Parameter(
    name="most_bias", symbol="", title="Largest bias", minimum=0.0, maximum=1e6, default=0.02, open_minimum=True,
    slider_minimum=1e-4, slider_maximum=0.5, scale="log", private_end="neither",
    help="How far the analyst's estimate may be off on average, up or down, in the units of what is estimated. For a "
    "proportion 0.02 is two percentage points.",
)  # fmt: skip
MAX_ERROR = replace(
    MAX_BIAS, name="most_error", title="Largest root mean squared error", default=0.05,
    help="How far the analyst's estimate may typically be off, over confidential data and release, in the units of "
    "what is estimated. Without any protection a proportion of 0.25 from 1,000 rows is off by 0.014.",
)  # fmt: skip
MIN_COVERAGE = Parameter(
    name="least_coverage", symbol="", title="Smallest coverage", minimum=0.0, maximum=1.0, default=0.9,
    slider_minimum=0.5, slider_maximum=0.999, private_end="neither",
    help="How often, at least, the analyst's interval must hold the true value. An interval with a level of 0.95 is "
    "meant to hold it 95 times in 100.",
)  # fmt: skip
MAX_LENGTH = replace(
    MAX_BIAS, name="most_length", title="Largest length of the interval", default=0.1,
    help="How long the analyst's interval may be on average, from its lower to its upper end. For a proportion what "
    "lies below 0 or above 1 does not count: an interval without end says nothing, and is 1 long.",
)  # fmt: skip


def is_on_limit(value: float, limit: float) -> bool:
    """Whether a number is its limit, up to the rounding of a sum.

    >>> is_on_limit(1 - 2**-53, 1.0), is_on_limit(0.999999, 1.0)
    (True, False)
    """
    return math.isclose(value, limit, rel_tol=TIE_TOLERANCE)


@dataclass(frozen=True)
class WorstCase:
    """A measure over a range of true values.

    Attributes
    ----------
    measure : Measure
        The worst of the range, or the average over it; NaN where it is not known.
    location : float
        True value at which it is the worst; NaN for an average.
    n_tried : int
        True values that were tried; 0 where the whole range was searched.
    """

    measure: Measure
    location: float
    n_tried: int

    @property
    def is_known(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.measure.value)


@dataclass(frozen=True, kw_only=True)
class AccuracyMeasure:
    """A number that says how good an analyst's answer is.

    Attributes
    ----------
    key, label, column_label, symbol, meaning : str
        `key` is its name in an `Outcome`; `meaning` follows the symbol.
    parameter : Parameter
        Declaration of a limit on it.
    sentence : str
        The measure in words, with its value in braces.
    needs_interval, is_share, is_root : bool
        Whether it is about an interval; a probability, of which more is better; the root of an average.
    half_label : str
        What it is called where half of it is read, as of a length; else empty.
    """

    key: str
    label: str
    column_label: str
    symbol: str
    meaning: str
    parameter: Parameter
    sentence: str = ""
    needs_interval: bool = False
    is_share: bool = False
    is_root: bool = False
    half_label: str = ""

    @property
    def name(self) -> str:
        """What a limit is said to be on: of a length, half of it."""
        return self.half_label or self.label

    @property
    def bound(self) -> str:
        """On which side of a limit it must lie."""
        return "at least" if self.is_share else "at most"

    def of(self, outcome: Outcome) -> Measure:
        """Measure at a single true value, without a sign; unknown where too few repetitions gave an estimate."""
        if outcome.repetitions < MIN_RANKED_REPETITIONS:
            return Measure.unknown()
        measure: Measure = getattr(outcome, self.key)
        return measure.scaled(-1.0) if measure.value < 0 else measure

    def is_worse(self, value: float, reference: float) -> bool:
        """Whether a value is worse than another."""
        return value < reference if self.is_share else value > reference

    def certain_limit(self, measure: Measure) -> float:
        """Strictest limit that a measure is certain to meet: its value where it is exact."""
        margin = TIE_ERRORS * (1 + TIE_TOLERANCE) * measure.error + measure.within
        return measure.value - margin if self.is_share else measure.value + margin

    def used_share(self, value: float, limit: float) -> float:
        """Share of the limit that is used: at most 1 where it is met, infinite where there is no value.

        Of a probability it is what is missed against what may be missed, so that 0.85 for 0.9 uses 1.5 of it.
        """
        if math.isnan(value):
            return math.inf
        if not self.is_share:
            return value / limit
        if limit == 1:
            return 1.0 if is_on_limit(value, 1.0) else math.inf
        return (1 - value) / (1 - limit)

    def over(self, truths: Sequence[float], measures: Sequence[Measure], average: bool) -> WorstCase:
        """Worst of the measures at some true values, or their average; NaN while one of them is unknown."""
        values = [measure.value for measure in measures]
        if any(map(math.isnan, values)):
            return WorstCase(Measure.unknown(), math.nan, len(truths))
        if average:
            return WorstCase(self.average(measures), math.nan, len(truths))
        place = values.index(min(values) if self.is_share else max(values))
        return WorstCase(measures[place], truths[place], len(truths))

    def average(self, measures: Sequence[Measure]) -> Measure:
        """Average over true values. Their simulations share a seed, so that all may err to the same side."""
        if self.is_root:
            return Measure.average([measure.square() for measure in measures]).root()
        return Measure.average(measures)


_MEASURES = (
    AccuracyMeasure(
        key="bias", label="bias", column_label="bias", symbol="|E[q] − p|", parameter=MAX_BIAS,
        meaning=", q the analyst's estimate and p the true value", sentence="the estimate is off by {} on average",
    ),
    AccuracyMeasure(
        key="root_mean_squared_error", label="root mean squared error", column_label="typical error (RMSE)",
        symbol="√E[(q − p)²]", meaning=" over confidential data and release", parameter=MAX_ERROR, is_root=True,
        sentence="the estimate is typically off by {}",
    ),
    AccuracyMeasure(
        key="coverage", label="coverage", column_label="coverage", symbol="Pr(low ≤ p ≤ high)",
        meaning=", how often the analyst's interval holds the true value", parameter=MIN_COVERAGE, is_share=True,
        needs_interval=True, sentence="the interval holds the true value in {} of all cases",
    ),
    AccuracyMeasure(
        key="mean_width", label="length of the interval", column_label="length", symbol="E[high − low]",
        meaning=", the mean length of the analyst's interval, where there is one; of a proportion from 0 to 1",
        parameter=MAX_LENGTH, needs_interval=True, sentence="the interval is {} on average",
        half_label="half-width of the interval",
    ),
)  # fmt: skip
ACCURACY_MEASURES: dict[str, AccuracyMeasure] = {measure.key: measure for measure in _MEASURES}
"""Measures on which there can be a limit, by key."""

USABLE_SHARE = AccuracyMeasure(
    key="usable_share", label="usable share of the releases", column_label="usable", symbol="Pr(usable)",
    meaning=", the probability that a release can be analyzed", is_share=True, parameter=MIN_COVERAGE,
)  # fmt: skip
"""How often a release can be analyzed at all; no limit is set on it."""


@dataclass(frozen=True)
class AccuracyLimit:
    """Limit on a measure: the largest value allowed, or of a coverage the smallest.

    Parameters
    ----------
    key : str
        Of `ACCURACY_MEASURES`.
    limit : float

    Examples
    --------
    >>> limit = AccuracyLimit("coverage", 0.9)
    >>> limit.verdict(Measure(0.89, 0.02)), limit.verdict(Measure(0.89, 0.0)), limit.text
    (None, False, 'coverage at least 0.9')
    """

    key: str
    limit: float

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or self.key not in ACCURACY_MEASURES:
            raise ValueError(f"key must be one of {', '.join(ACCURACY_MEASURES)}; got {describe_value(self.key)}.")
        object.__setattr__(self, "limit", self.measure.parameter.validate(self.limit))

    @property
    def measure(self) -> AccuracyMeasure:
        """What is limited."""
        return ACCURACY_MEASURES[self.key]

    @property
    def text(self) -> str:
        """The limit in a few words."""
        return f"{self.measure.label} {self.measure.bound} {format_number(self.limit, 4)}"

    def used_share(self, measure: Measure) -> Measure:
        """Share of the limit that is used, with its error: at most 1 where it is met."""
        share = self.measure.used_share(measure.value, self.limit)
        allowed = 1 - self.limit if self.measure.is_share else self.limit
        if not (allowed and math.isfinite(share) and (measure.error > 0 or measure.within > 0)):
            return Measure(share, 0.0)
        return Measure(share, measure.error / allowed, within=measure.within / allowed)

    def used_share_interval(self, measure: Measure, n_errors: float) -> tuple[float, float]:
        """Share used at so many standard errors to both sides, the smaller first."""
        ends = [measure.value - n_errors * measure.error, measure.value + n_errors * measure.error]
        low, high = sorted(self.measure.used_share(end, self.limit) for end in ends)
        return max(low, 0.0), high

    def verdict(self, measure: Measure, n_errors: float = TIE_ERRORS) -> bool | None:
        """Whether the limit is met; None where that is not decided.

        It is not where no number is known, within so many standard errors of the limit, and where the limit lies
        between the bounds of a sum. An exact number on the limit meets it.

        >>> limit = AccuracyLimit("coverage", 0.9)
        >>> [limit.verdict(Measure(value, 0.0, within=1e-5)) for value in (0.90002, 0.900005, 0.899995, 0.89998)]
        [True, None, None, False]
        """
        if math.isnan(measure.value):
            return None
        if abs(measure.value - self.limit) < n_errors * measure.error + measure.within:
            return None
        return is_on_limit(measure.value, self.limit) or not self.measure.is_worse(measure.value, self.limit)
