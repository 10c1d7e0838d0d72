"""What is compared: methods on one kind of data, at one ε after the other, and how well their releases answer."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.terms import PROMISES, ComparisonTerms, EqualPromise
from dpviz.core.declarations import LEVEL, REPETITIONS, SEED, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.monte_carlo import TIE_TOLERANCE, Measure
from dpviz.core.numerics.combinatorics import coarse_to_fine
from dpviz.core.parameters import Parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray
from dpviz.coverage.worst_case import Extreme
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES, check_rule
from dpviz.privacy.optimum import LeastError, ShortestLength
from dpviz.privacy.real_loss import Loss

COMPARED_SETS = dataclasses.replace(
    SETS,
    default=10,
    slider_maximum=50,
    help="The number of synthetic sets of the methods that release several. They share the promised ε equally.",
)
SIMULATED_REPETITIONS = dataclasses.replace(REPETITIONS, default=5_000, maximum=1_000_000)

Streamed = TypeVar("Streamed")
UNKNOWN_MEASURE = Measure.unknown()
RANKED_REPETITIONS = 20  # With an estimate, from which on an error is ranked: its own is then known to a sixth


ENDLESS_WIDTH = 1e6  # Mean width, in the units of what is estimated, from which it says no more than one without end


def meant_width(width: Measure, unit: float = 1.0, unbounded: bool = False) -> Measure:
    """Return a mean width; infinite where an interval has no end, or where it is so wide that it says nothing.

    `unit` is how far apart two true values can lie. Near 0 degrees of freedom a few intervals make the mean of a
    simulation, and its error, of any size.

    >>> meant_width(Measure(3e92, 2e92)), meant_width(Measure(0.5, 0.1))
    (Measure(value=inf, error=0.0), Measure(value=0.5, error=0.1))
    """
    return Measure(math.inf, 0.0) if unbounded or width.value > ENDLESS_WIDTH * unit else width


@dataclass(frozen=True)
class Estimand:
    """What the analyst wants to know."""

    key: str
    label: str
    symbol: str

    @property
    def short(self) -> str:
        """The label without what is said of it further."""
        return self.label.split(",")[0]


@dataclass(frozen=True, kw_only=True)
class Analysis(ParameterRecord):
    """How many sets are released where a method releases several, and what an analyst makes of them.

    `rule` is a key of `dpviz.inference.RULES`; a single set is analysed as if it were real where the rule needs more.
    `repetitions` and `seed` are those of what has to be simulated.

    >>> Analysis().rule_for(10).label, Analysis().rule_for(1).label
    ("Reiter 2003 (Liu's Theorem 7)", 'As if real')
    """

    sets: int = parameter_with_default(COMPARED_SETS)
    rule: str = "reiter_2003"
    level: float = parameter_with_default(LEVEL)
    repetitions: int = parameter_with_default(SIMULATED_REPETITIONS)
    seed: int = parameter_with_default(SEED)

    def check(self) -> None:
        if not isinstance(self.rule, str):
            raise ValueError(f"rule must be one of {', '.join(RULES)}; got {describe_value(self.rule)}.")
        check_rule(self.rule, RULES[self.rule].min_sets if self.rule in RULES else 1)

    def rule_for(self, sets: int) -> IntervalRule:
        """Return the rule that analyses so many sets."""
        rule = RULES[self.rule]
        return rule if sets >= rule.min_sets else RULES["as_if_real"]


@dataclass(frozen=True, kw_only=True)
class OutcomeMeasures:
    """How well the releases of one method answer.

    `bias`, `root_mean_squared_error`: Of the analyst's estimate over confidential data and release.
    `coverage`, `mean_width`: Of the analyst's interval: how often it holds the truth, and its mean width where there is
    one.
    `usable_share`: Probability that a release can be analysed.
    The error of a measure is 0 where it is exact and NaN where it is not defined or not yet computed.
    """

    bias: Measure
    root_mean_squared_error: Measure
    coverage: Measure = UNKNOWN_MEASURE
    mean_width: Measure = UNKNOWN_MEASURE
    usable_share: Measure

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures by name."""
        return {name: getattr(self, name) for name in OUTCOME_MEASURES}


OF_ESTIMATE = "bias", "root_mean_squared_error", "spread"  # Measures that may be exact where the rest is simulated
OF_INTERVALS = "coverage", "mean_width"  # Measures of the analyst's interval, which take the longest
OUTCOME_MEASURES = tuple(one.name for one in dataclasses.fields(OutcomeMeasures))


@dataclass(frozen=True, kw_only=True)
class Outcome(OutcomeMeasures):
    """How one method did at one ε, of all sets together.

    `data`, `method`, `epsilon`: What is released by which method, and the ε of the comparison: the place on the axis.
    `setting`: The ε that the method was given for all its sets: the same, or the one with equal real privacy.
    `sets`: How many sets it released.
    `unfinished`: Repetitions so far of a simulation that is not at its end; 0 where it is, or nothing is simulated.
    `release_error`: Root mean squared distance of the estimate from that of the confidential data, each of which counts
    alike: what the release adds, which can be compared with the best that is possible.
    `repetitions`: How many repetitions of a simulation gave an estimate; infinite where bias and error are exact.
    `beside`: Root mean squared errors of other estimands from the same releases, by key, as far as they were asked for,
    unknown where they rest on too few repetitions to be ranked.
    """

    data: DataKind = dataclasses.field(repr=False)
    method: ComparedMethod
    epsilon: float
    setting: float
    sets: int
    release_error: Measure = UNKNOWN_MEASURE
    repetitions: float = math.inf
    beside: Mapping[str, Measure] = dataclasses.field(default_factory=dict, hash=False)
    unfinished: int = 0

    @property
    def ranked_error(self) -> Measure:
        """The root mean squared error where it is exact or rests on enough repetitions to be ranked; else unknown."""
        return self.root_mean_squared_error if self.repetitions >= RANKED_REPETITIONS else UNKNOWN_MEASURE

    @cached_property
    def real_epsilon(self) -> float | None:
        """The smallest pure ε that is proven for all sets together; None where none is known to hold."""
        return self.method.real_epsilon(self.data, self.setting, self.sets)

    @cached_property
    def real_loss(self) -> Loss:
        """The pure ε of all sets together, exact or between two ends, of which the lower takes a moment."""
        return self.method.real_loss(self.data, self.setting, self.sets)

    @property
    def spread(self) -> Measure:
        """The standard deviation of the estimate, with the error of the root mean squared error."""
        error, bias = self.root_mean_squared_error, self.bias.value
        return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)

    def measure(self, name: str) -> Measure:
        """Return a measure by its name, or the error of an estimand beside the one that is judged by its key."""
        found: Measure = self.beside[name] if name in self.beside else getattr(self, name)
        return found

    def exactly(self, name: str) -> bool:
        """Return whether a measure is exact; of numbers an error of 0 may also say that all estimates were alike."""
        known = not self.data.simulated or (name in OF_ESTIMATE and math.isinf(self.repetitions))
        return known and self.measure(name).error == 0

    @property
    def lacks_intervals_alone(self) -> bool:
        """Whether all that is not known of an interval is exact, so that only intervals can still come."""
        rest = (one for name, one in self.measures.items() if name not in OF_INTERVALS)
        return not self.data.simulated and math.isinf(self.repetitions) and all(one.error == 0 for one in rest)

    @property
    def exact(self) -> bool:
        """Whether no measure was simulated."""
        return not any(measure.error > 0 for measure in self.measures.values())


def beyond_rounding(bias: float, spread: float, truth: float) -> float:
    """Return a bias, or 0 below the rounding of its sum: of its terms, with this `spread`, and of the truth.

    >>> beyond_rounding(1e-17, 0.1, 0.25), beyond_rounding(1e-9, 0.1, 0.25)
    (0.0, 1e-09)
    """
    rounding = TIE_TOLERANCE * spread + 8 * float(np.finfo(float).eps) * abs(truth)
    return 0.0 if abs(bias) <= rounding else bias


@dataclass(frozen=True, kw_only=True)
class DataKind(ParameterRecord, ABC):
    """Confidential data of one kind with their true values, and the methods that can release them.

    A subclass declares its sizes, bounds and true values as fields (`dpviz.mechanisms.base.parameter`), which are
    checked one by one; `check` says what must hold between them.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    methods: ClassVar[tuple[ComparedMethod, ...]]
    usual: ClassVar[tuple[str, ...]] = ()
    """Keys of the methods that are compared unless others are chosen; all of them where none is named."""
    estimands: ClassVar[tuple[Estimand, ...]]
    rules: ClassVar[Mapping[str, IntervalRule]] = COMBINING_RULES
    """The rules that make an interval from its releases, by key; those that know the noise read counts."""
    true_value: ClassVar[str]
    """Name of the number that a curator does not know, and thinks of a range of."""
    supposed: ClassVar[tuple[str, ...]] = ()
    """Names of further numbers that are true and confidential, and that a curator can only suppose."""
    exactly: ClassVar[str] = "an exact sum"
    """How a measure that is not simulated is computed."""
    assumed: ClassVar[str] = "independent rows from one distribution"
    """How confidential rows come about, in a few words."""
    divided_between: ClassVar[tuple[str, ...]] = ()
    """Keys of the estimands whose errors are shown together where ε is divided between the statistics of a set."""
    simulated: ClassVar[bool] = False
    """Whether all measures are simulated, so that an error of 0 says nothing."""
    estimand: str = ""
    """Key of what the analyst wants to know; the first of `estimands` unless it is set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        keys = [one.key for one in self.estimands]
        if not isinstance(self.estimand, str) or self.estimand not in ("", *keys):
            raise ValueError(f"estimand must be one of {', '.join(keys)}; got {describe_value(self.estimand)}.")
        object.__setattr__(self, "estimand", self.estimand or keys[0])

    @classmethod
    def method(cls, key: str) -> ComparedMethod:
        """Return the method with this key, or a ValueError that names those there are."""
        found = {one.key: one for one in cls.methods}
        if key not in found:
            raise ValueError(f"method must be one of {', '.join(found)}; got {describe_value(key)}.")
        return found[key]

    @classmethod
    def usual_keys(cls) -> list[str]:
        """Return the keys of the methods that are compared unless others are chosen."""
        return [one.key for one in cls.methods if one.key in cls.usual or not cls.usual]

    @classmethod
    def considered_keys(cls) -> list[str]:
        """Return the keys of the methods that a curator considers unless others are chosen."""
        return [one.key for one in cls.methods if not (one.reference or one.guess)]

    @classmethod
    def fresh(cls) -> Self:
        """Return data with the values that are declared for each number."""
        values: dict[str, Any] = {one.name: one.default for one in cls.parameters()}
        return cls(**values)

    @property
    def judged(self) -> Estimand:
        """What the analyst wants to know."""
        return next(one for one in self.estimands if one.key == self.estimand)

    @property
    @abstractmethod
    def truth(self) -> float:
        """The true value of what the analyst wants to know."""

    @property
    def guess(self) -> float:
        """What is publicly guessed of the true value before the data are looked at: here the truth."""
        return self.truth

    def flatters(self, method: ComparedMethod) -> bool:
        """Return whether a method is told the truth as its public guess, so that its error is the best it can have."""
        return False

    def guessing(self, share: float | None) -> Self:
        """Return the same data with this public guess of the truth, None for the truth itself."""
        return self

    def believed(self, lowest: float, highest: float) -> Self:
        """Return the data with the guess of who knows that the truth lies between these, unless another is made."""
        return self

    def least_error(self, epsilon: float, delta: float = 0.0) -> LeastError | None:
        """Return the smallest `release_error` that any mechanism with this promise can have; None where unknown."""
        return None

    def shortest_length(self, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength | None:
        """Return how short on average an interval from any release with this promise can be that holds its level
        whatever the truth is; None where unknown.
        """
        return None

    @abstractmethod
    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        """Return the estimate from one confidential data set, and by method those from each set released from it.

        `settings` are the ε that each method is given.
        """

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float] | None:
        """Return the exact bias and root mean squared error of the estimate; None where only a simulation has them."""
        return None

    def accuracies(self, method: Any, setting: float, analysis: Analysis, every: Sequence[Self]) -> FloatArray | None:
        """Return `accuracy` at several true values, those of the data in `every`, in rows."""
        found = [data.accuracy(method, setting, analysis) for data in every]
        return None if None in found else np.array(found)

    @abstractmethod
    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, beside: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        """Yield the outcome of one method at one ε, the more complete the later.

        With the errors of other estimands `beside` from the same releases, by their keys, where there are such.
        """

    def needed_outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, *, intervals: bool
    ) -> Iterator[Outcome]:
        """Yield `outcomes`, without `intervals` as long as anything else of them can still change."""
        for outcome in self.outcomes(method, epsilon, setting, analysis):
            yield outcome
            if not intervals and outcome.lacks_intervals_alone:
                return

    def outcomes_at(
        self, method: Any, setting: float, analysis: Analysis, every: Sequence[Self], *, beside_worst: bool = False
    ) -> Iterator[tuple[Outcome, ...] | None]:
        """Yield the outcomes at several true values, those of the data in `every`, the more complete the later.

        None comes between costly steps after which there is nothing new to tell. `beside_worst` says that the `worst`
        of all true values is asked for as soon as something is there: what both take is then computed once.
        """
        del beside_worst
        streams, found = [data.outcomes(method, setting, setting, analysis) for data in every], list[Outcome]()
        for stream in streams:
            if found:
                yield None
            found.append(next(stream))
        yield tuple(found)
        for place, stream in enumerate(streams):
            for found[place] in stream:
                yield tuple(found)

    def estimated(self, method: Any, setting: float, analysis: Analysis) -> Outcome:
        """Return what `outcomes` yields first, of which a search needs bias and error alone."""
        return next(self.outcomes(method, setting, setting, analysis))

    def at_a_glance(self, method: Any, setting: float, analysis: Analysis) -> Outcome | None:
        """Return exact bias and error, the rest unknown, where they take a moment; else None."""
        return None

    def outcome(self, method: Any, setting: float, analysis: Analysis) -> Outcome:
        """Return what `outcomes` yields at last."""
        return deque(self.outcomes(method, setting, setting, analysis), maxlen=1)[0]

    def summed(self, method: Any, setting: float, analysis: Analysis) -> bool:
        """Return whether no measure of `outcome` is simulated."""
        return not self.simulated

    def worst(
        self,
        method: ComparedMethod,
        setting: float,
        analysis: Analysis,
        measure: str,
        low: float,
        high: float,
        *,
        thorough: bool = False,
    ) -> Extreme | None:
        """Return the worst of a measure of an `Outcome` found for true values from `low` to `high`.

        None where it is computed at single true values alone, or would take up to some seconds and no `thorough` answer
        is asked for. A bias has no sign.
        """
        return None

    def compare(
        self,
        methods: Sequence[ComparedMethod],
        epsilons: Sequence[float],
        analysis: Analysis | None = None,
        terms: ComparisonTerms | None = None,
        *,
        intervals: bool = True,
    ) -> Iterator[Outcome]:
        """Yield the outcomes of all methods at every ε: first what is quick of each, then what takes longer.

        A later outcome of the same method at the same ε replaces the earlier one. A method that has no setting on these
        terms is left out. Without `intervals` nothing is computed for them alone.
        """
        analysis, terms = analysis or Analysis(), terms or EqualPromise()
        places = [PROMISES.validate(one) for one in epsilons]
        streams = [self._everywhere(method, places, analysis, intervals) for method in methods if method.reference]
        for place in coarse_to_fine(len(places)):
            own = (method for method in methods if not method.reference)
            streams += (self._on_terms(method, places[place], analysis, terms, intervals) for method in own)
        for found in in_turn(streams):
            yield from found

    def _everywhere(
        self, method: ComparedMethod, places: list[float], analysis: Analysis, intervals: bool
    ) -> Iterator[list[Outcome]]:
        for outcome in self.needed_outcomes(method, places[0], places[0], analysis, intervals=intervals):
            yield [dataclasses.replace(outcome, epsilon=place) for place in places]

    def _on_terms(
        self, method: ComparedMethod, place: float, analysis: Analysis, terms: ComparisonTerms, intervals: bool
    ) -> Iterator[list[Outcome]]:
        absent = method.absence(self)
        setting = None if absent else terms.setting(method, self, place, method.sets(analysis.sets))
        if setting is not None:
            found = self.needed_outcomes(method, place, setting, analysis, intervals=intervals)
            yield from ([outcome] for outcome in found)


def declared_numbers(kinds: Mapping[str, type[DataKind]]) -> dict[str, Parameter]:
    """The numbers of all kinds of data by name; one that several kinds have takes what any of them does."""
    found: dict[str, Parameter] = {}
    for one in (one for kind in kinds.values() for one in kind.parameters()):
        known = found.setdefault(one.name, one)
        ends = {"minimum": min(known.minimum, one.minimum), "maximum": max(known.maximum, one.maximum)}
        found[one.name] = dataclasses.replace(known, **ends)  # type: ignore[arg-type]
    return found


def in_turn(streams: Iterable[Iterator[Streamed]]) -> Iterator[Streamed]:
    """Yield one item of each stream after the other, until all have ended."""
    waiting = deque(streams)
    while waiting:
        stream = waiting.popleft()
        for one in islice(stream, 1):
            yield one
            waiting.append(stream)
