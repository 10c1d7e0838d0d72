"""How accurate an analyst's answer is over a range of true values, and limits on that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dpviz.comparisons import Outcome
from dpviz.comparisons.analysis import MIN_RANKED_REPETITIONS
from dpviz.core.monte_carlo import TIE_ERRORS, TIE_TOLERANCE, Measure
from dpviz.core.parameters import Parameter, validate_choice
from dpviz.curator.declarations import NUMBERS, TABLES


@dataclass(frozen=True)
class WorstCase:
    """A measure over a range of true values: the worst of it, or its average; NaN where it is not known."""

    measure: Measure
    location: float  # true value at which it is the worst; NaN for an average
    n_tried: int  # true values that were tried, 0 where the whole range was searched

    @property
    def is_known(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.measure.value)


@dataclass(frozen=True, kw_only=True)
class AccuracyMeasure:
    """A number that says how good an analyst's answer is, declared in ``limits.toml``."""

    key: str  # its name in an `Outcome`
    label: str
    column_label: str
    symbol: str
    meaning: str  # follows the symbol
    parameter: Parameter  # of a limit on it
    sentence: str = ""  # with its value in braces
    needs_interval: bool = False
    is_share: bool = False  # a probability, of which more is better
    is_root: bool = False  # the root of an average
    half_label: str = ""  # its name where half of it is read, as of a length
    half_names: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # of half of it in a form, by the true value

    @property
    def name(self) -> str:
        """What a limit is said to be on: of a length, half of it."""
        return self.half_label or self.label

    def form_name(self, true_value: str) -> str:
        """Name of a limit on it in a form; a length is entered as its half."""
        return self.half_names.get(true_value, self.parameter.name)

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

    def over(self, truths: Sequence[float], measures: Sequence[Measure], average: bool) -> WorstCase:
        """Worst of the measures at some true values, or their average; NaN while one of them is unknown."""
        values = [measure.value for measure in measures]
        is_known = not any(map(math.isnan, values))
        if average or not is_known:
            return WorstCase(self.average(measures) if is_known else Measure.unknown(), math.nan, len(truths))
        place = values.index(min(values) if self.is_share else max(values))
        return WorstCase(measures[place], truths[place], len(truths))

    def average(self, measures: Sequence[Measure]) -> Measure:
        """Average over true values. Their simulations share a seed, so that all may err to the same side."""
        if self.is_root:
            return Measure.average([measure.square() for measure in measures]).root()
        return Measure.average(measures)


ACCURACY_MEASURES: dict[str, AccuracyMeasure] = {
    key: AccuracyMeasure(key=key, **table | {"parameter": NUMBERS[table["parameter"]]})
    for key, table in TABLES["measures"].items()
}
"""Measures on which there can be a limit, by key."""
USABLE_SHARE = ACCURACY_MEASURES.pop("usable_share")
"""How often a release can be analyzed at all; no limit is set on it."""


@dataclass(frozen=True)
class AccuracyLimit:
    """Limit on a measure of `ACCURACY_MEASURES`: the largest value allowed, or of a coverage the smallest.

    Examples
    --------
    >>> limit = AccuracyLimit("coverage", 0.9)
    >>> limit.verdict(Measure(0.89, 0.02)), limit.verdict(Measure(0.89, 0.0))
    (None, False)
    """

    key: str
    limit: float

    def __post_init__(self) -> None:
        validate_choice("key", self.key, ACCURACY_MEASURES)
        object.__setattr__(self, "limit", self.measure.parameter.validate(self.limit))

    @property
    def measure(self) -> AccuracyMeasure:
        """What is limited."""
        return ACCURACY_MEASURES[self.key]

    def used_share(self, measure: Measure) -> Measure:
        """Share of the limit that is used, with its error: at most 1 where it is met, infinite where nothing is known.

        Of a probability it is what is missed against what may be missed, so that 0.85 for 0.9 uses 1.5 of it.
        """
        is_share, value = self.measure.is_share, measure.value
        allowed = 1 - self.limit if is_share else self.limit
        if math.isnan(value) or not allowed:
            never_misses = math.isclose(value, 1.0, rel_tol=TIE_TOLERANCE)
            return Measure(1.0 if never_misses else math.inf, 0.0)
        share = (1 - value if is_share else value) / allowed
        error = measure.error / allowed if measure.error > 0 and math.isfinite(share) else 0.0
        return Measure(share, error, within=measure.within / allowed)

    def verdict(self, measure: Measure, n_errors: float = TIE_ERRORS) -> bool | None:
        """Whether the limit is met; None where that is not decided. An exact number on the limit meets it.

        It is not decided where no number is known, within so many standard errors of the limit, and where the limit
        lies between the bounds of a sum.

        >>> limit = AccuracyLimit("coverage", 0.9)
        >>> [limit.verdict(Measure(value, 0.0, within=1e-5)) for value in (0.90002, 0.900005, 0.899995, 0.89998)]
        [True, None, None, False]
        """
        if math.isnan(measure.value) or abs(measure.value - self.limit) < n_errors * measure.error + measure.within:
            return None
        is_on_limit = math.isclose(measure.value, self.limit, rel_tol=TIE_TOLERANCE)  # up to the rounding of a sum
        return is_on_limit or not self.measure.is_worse(measure.value, self.limit)
