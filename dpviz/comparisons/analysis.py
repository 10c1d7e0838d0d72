"""Data of one kind, what an analyst makes of their releases, and how well a method did: the types of a comparison."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.terms import PROMISES, ComparisonTerms, EqualPromise
from dpviz.core.declarations import LEVEL, REPETITIONS, SEED, SETS
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import parameter_with_default, validate_choice, validate_fields
from dpviz.core.records import ParameterRecord, declared_numbers, declared_parameters, in_symbols, settings_of
from dpviz.core.types import FloatArray
from dpviz.coverage.worst_case import Extreme
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES
from dpviz.privacy.optimum import LeastError, ShortestLength
from dpviz.privacy.real_loss import Loss

COMPARED_SETS = dataclasses.replace(
    SETS, default=10, slider_maximum=50,
    help="The number of synthetic sets of the methods that release several. They share the promised ε equally.",
)  # fmt: skip
SIMULATED_REPETITIONS = dataclasses.replace(REPETITIONS, default=5_000, maximum=1_000_000)

UNKNOWN_MEASURE = Measure.unknown()
MIN_RANKED_REPETITIONS = 20  # usable repetitions from which on the error of an error is known to a sixth


def mean_width_or_inf(width: Measure, unit: float = 1.0, is_unbounded: bool = False) -> Measure:
    """Mean width; infinite where an interval has no end, or where a few intervals near 0 degrees of freedom make it so.

    Parameters
    ----------
    width : Measure
    unit : float, optional
        Largest distance of two true values.
    is_unbounded : bool, optional
        Whether an interval has no end.

    Examples
    --------
    >>> mean_width_or_inf(Measure(3e92, 2e92)), mean_width_or_inf(Measure(0.5, 0.1))
    (Measure(value=inf, error=0.0), Measure(value=0.5, error=0.1))
    """
    # From a million units on a width says no more than one without end
    return Measure(math.inf, 0.0) if is_unbounded or width.value > 1e6 * unit else width


@dataclass(frozen=True)
class Estimand:
    """What the analyst wants to know."""

    key: str
    label: str
    symbol: str
    # Whether it is a share of the rows, whose errors are told in points
    is_share: bool = dataclasses.field(default=False, kw_only=True)

    @property
    def short_label(self) -> str:
        """Label up to its first comma."""
        return self.label.split(",")[0]

    @property
    def unit(self) -> float:
        """Factor that takes an error to the unit of tables and pictures: 100 for the points of a share."""
        return 100.0 if self.is_share else 1.0

    def with_unit(self, name: str) -> str:
        """Name of a column or an axis of errors, biases or widths, with their unit."""
        return f"{name}, points" if self.is_share else name


@dataclass(frozen=True, kw_only=True)
class Analysis(ParameterRecord):
    """Number of sets of the methods that release several, and how an analyst evaluates them.

    A single set is analysed as if it were real where the rule needs more.

    >>> Analysis().rule_for(10).label, Analysis().rule_for(1).label
    ("Reiter 2003 (Liu's Theorem 7)", 'As if real')
    """

    sets: int = parameter_with_default(COMPARED_SETS)
    rule: str = "reiter_2003"
    level: float = parameter_with_default(LEVEL)
    repetitions: int = parameter_with_default(SIMULATED_REPETITIONS)
    seed: int = parameter_with_default(SEED)

    def check(self) -> None:
        validate_choice("rule", self.rule, RULES)

    def rule_for(self, sets: int) -> IntervalRule:
        """Rule for this number of sets."""
        rule = RULES[self.rule]
        return rule if sets >= rule.min_sets else RULES["as_if_real"]


@dataclass(frozen=True, kw_only=True)
class OutcomeMeasures:
    """How well the releases of one method answer; errors are 0 of exact measures and NaN of unknown ones."""

    bias: Measure  # of the analyst's estimate, over confidential data and release
    root_mean_squared_error: Measure
    coverage: Measure = UNKNOWN_MEASURE  # of the analyst's interval
    mean_width: Measure = UNKNOWN_MEASURE
    usable_share: Measure = UNKNOWN_MEASURE  # probability that a release can be analysed

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures by name."""
        return {name: getattr(self, name) for name in OUTCOME_MEASURES}


OUTCOME_MEASURES = tuple(field.name for field in dataclasses.fields(OutcomeMeasures))
INTERVAL_MEASURES = "coverage", "mean_width"


@dataclass(frozen=True, kw_only=True)
class Outcome(OutcomeMeasures):
    """Measures of one method at one ε, for all sets together."""

    data: DataKind = dataclasses.field(repr=False)
    method: ComparedMethod
    epsilon: float  # of the comparison
    setting: float  # ε that the method was given for all sets to have equal terms
    sets: int
    # Root mean squared distance of the estimate from that of the confidential data, all of which have equal weights
    release_error: Measure = UNKNOWN_MEASURE
    repetitions: float = math.inf  # of a simulation with an estimate; infinite where bias and error are exact
    # RMSE of other estimands from the same releases, unknown where they rest on too few repetitions
    secondary_errors: Mapping[str, Measure] = dataclasses.field(default_factory=dict, hash=False)
    unfinished: int = 0  # repetitions so far of a simulation that goes on

    @property
    def is_rankable(self) -> bool:
        """Whether the error is exact or rests on enough repetitions to be ranked."""
        return self.repetitions >= MIN_RANKED_REPETITIONS

    @property
    def ranked_error(self) -> Measure:
        """RMSE where it can be ranked; else unknown."""
        return self.root_mean_squared_error if self.is_rankable else UNKNOWN_MEASURE

    @cached_property
    def real_epsilon(self) -> float:
        """Smallest pure ε that is proven for all sets together; infinite where none is known to hold."""
        return self.method.real_epsilon(self.data, self.setting, self.sets)

    @cached_property
    def real_loss(self) -> Loss:
        """Pure ε of all sets together, exact or between two ends."""
        return self.method.real_loss(self.data, self.setting, self.sets)

    @property
    def spread(self) -> Measure:
        """Standard deviation of the estimate, with the error of the RMSE."""
        error, bias = self.root_mean_squared_error, self.bias.value
        return Measure(math.sqrt(max(error.value**2 - bias**2, 0.0)), error.error)

    def measure(self, name: str) -> Measure:
        """A measure by its name, or the RMSE of a secondary estimand by its key."""
        measure: Measure = self.secondary_errors[name] if name in self.secondary_errors else getattr(self, name)
        return measure

    def shown(self, name: str) -> Measure:
        """A measure in the unit of tables and pictures: errors, biases and widths of a share are in points."""
        measure = self.measure(name)
        if name in ("coverage", "usable_share"):
            return measure
        key = name if name in self.secondary_errors else self.data.estimand
        return measure.scaled(next(item.unit for item in self.data.estimands if item.key == key))

    def is_exact(self, name: str) -> bool:
        """Whether a measure is exact; of numeric data an error of 0 may also say that all estimates were alike."""
        is_of_estimate = name in ("bias", "root_mean_squared_error", "spread")
        is_computed = not self.data.simulated or (is_of_estimate and math.isinf(self.repetitions))
        return is_computed and self.measure(name).error == 0


@dataclass(frozen=True, kw_only=True)
class DataKind(ABC):
    """Confidential data of one kind with their true values, and the methods that can release them.

    A subclass declares sizes, bounds and true values as fields (`dpviz.mechanisms.base.parameter`), and defines
    `truth`, `outcomes` and `one_release`; what else it knows, it overrides.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    methods: ClassVar[tuple[ComparedMethod, ...]]
    usual: ClassVar[tuple[str, ...]] = ()  # keys of the methods that are compared by default; all if empty
    estimands: ClassVar[tuple[Estimand, ...]]
    rules: ClassVar[Mapping[str, IntervalRule]] = COMBINING_RULES  # that make an interval from its releases
    true_value: ClassVar[str]  # name of the number that a curator gives a range of
    assumed_parameters: ClassVar[tuple[str, ...]] = ()  # names of true numbers that a curator can only assume
    exactly: ClassVar[str] = "an exact sum"  # how a measure that is not simulated is computed
    assumed: ClassVar[str] = "independent rows from one distribution"
    divided_between: ClassVar[tuple[str, ...]] = ()  # estimands that are shown together where ε is split
    simulated: ClassVar[bool] = False  # whether all measures are, so that an error of 0 says nothing
    estimand: str = ""  # key of what the analyst wants to know, by default the first

    parameters = classmethod(declared_parameters)
    numbers = classmethod(declared_numbers)
    settings = settings_of
    in_symbols = in_symbols

    def __post_init__(self) -> None:
        validate_fields(self, *self.parameters())
        self.check()
        keys = [estimand.key for estimand in self.estimands]
        object.__setattr__(self, "estimand", keys[0] if self.estimand == "" else self.estimand)
        validate_choice("estimand", self.estimand, keys)

    def to_dict(self) -> dict[str, Any]:
        """Fields as JSON holds them, without what is left open."""
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self) if item.init}
        return {name: value for name, value in values.items() if value is not None}

    # Of the kind

    @classmethod
    def method(cls, key: str) -> ComparedMethod:
        """Method with this key; a ValueError names those that exist."""
        by_key = {method.key: method for method in cls.methods}
        validate_choice("method", key, by_key)
        return by_key[key]

    @classmethod
    def usual_keys(cls) -> list[str]:
        """Keys of the methods that are compared by default."""
        return [method.key for method in cls.methods if method.key in cls.usual or not cls.usual]

    @classmethod
    def considered_keys(cls) -> list[str]:
        """Keys of the methods that a curator considers by default."""
        return [method.key for method in cls.methods if not (method.reference or method.guess)]

    @classmethod
    def default(cls) -> Self:
        """Data with the declared default of each number."""
        values: dict[str, Any] = {parameter.name: parameter.default for parameter in cls.parameters()}
        return cls(**values)

    # Of the data

    def check(self) -> None:  # noqa: B027
        """Raise a ValueError if the values contradict each other."""

    def check_methods(self, *methods: ComparedMethod) -> None:
        """Raise a ValueError if a method does not release such data."""
        for method in methods:
            if method.key not in {own.key for own in self.methods}:
                raise ValueError(f'"{method.label}" does not release data of the kind "{self.label}".')

    @property
    def chosen_estimand(self) -> Estimand:
        """What the analyst wants to know."""
        return next(estimand for estimand in self.estimands if estimand.key == self.estimand)

    @property
    @abstractmethod
    def truth(self) -> float:
        """True value of what the analyst wants to know."""

    @property
    def is_central(self) -> bool:
        """Whether the truth lies in the middle of all possible values, towards which many methods pull."""
        return False

    @property
    def guess(self) -> float:
        """Public guess of the true value, which is made before the data are looked at."""
        return self.truth

    def guesses_truth(self, method: ComparedMethod) -> bool:
        """Whether a method gets the truth as its public guess, so that its error is the best it can have."""
        return False

    def with_guess(self, share: float | None) -> Self:
        """The same data with this public guess; None for the truth itself."""
        return self

    def with_guess_from_range(self, lowest: float, highest: float) -> Self:
        """The data with the guess of somebody who knows this range of the truth, unless another guess is made."""
        middle: dict[str, Any] = {self.true_value: (lowest + highest) / 2}
        return self.with_guess(dataclasses.replace(self, **middle).guess)

    def least_error(self, epsilon: float, delta: float = 0.0) -> LeastError | None:
        """Smallest `release_error` of any mechanism with this promise; None where unknown."""
        return None

    def shortest_length(self, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength | None:
        """Shortest mean length of an interval that holds its level, from any release with this promise."""
        return None

    # Of the releases of a method

    @abstractmethod
    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        """Estimate from one confidential data set, and by method key those from each set, released at these ε."""

    @abstractmethod
    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, secondary: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        """Yield better and better outcomes of one method that is given `setting`; the first takes little time.

        With them come the errors of `secondary` estimands from the same releases.
        """

    def outcome(self, method: Any, setting: float, analysis: Analysis) -> Outcome:
        """Complete outcome of one method."""
        return deque(self.outcomes(method, setting, setting, analysis), maxlen=1)[0]

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float] | None:
        """Exact bias and RMSE of the estimate; None where only a simulation has them."""
        return None

    def worst(
        self, method: Any, setting: float, analysis: Analysis, measure: str, low: float, high: float, *,
        thorough: bool = False,
    ) -> Extreme | None:  # fmt: skip
        """Worst value of a measure of an `Outcome` for true values from `low` to `high`; a bias has no sign.

        None where it is computed at single true values only, or takes seconds and no `thorough` answer is wanted.
        """
        return None

    def compare(
        self, methods: Sequence[ComparedMethod], epsilons: Sequence[float], analysis: Analysis | None = None,
        terms: ComparisonTerms | None = None, *, intervals: bool = True,
    ) -> Iterator[Outcome]:  # fmt: skip
        """Yield the outcomes of all methods at every ε: first what is quick of each, then better ones.

        A method that has no setting on these terms is left out; a reference is the same at every ε. By default all
        methods get the same promise. Without `intervals` nothing is computed for them alone.

        >>> from dpviz.comparisons import BinaryData
        >>> data = BinaryData(n=20, p=0.5)
        >>> *_, outcome = data.compare([data.method("geometric")], [1.0])
        >>> outcome.sets, round(outcome.coverage.value, 4)
        (1, 0.9175)
        """
        analysis, terms = analysis or Analysis(), terms or EqualPromise()
        places = [PROMISES.validate(epsilon) for epsilon in epsilons]

        # What is quick of every method: a reference once for all ε
        pairs = [(method, places) for method in methods if method.reference]
        pairs += [(method, [place]) for place in places for method in methods if not method.reference]
        streams: list[tuple[Iterator[Outcome], list[float]]] = []
        for method, shared in pairs:
            setting: float | None = shared[0]
            if not method.reference:
                is_absent = method.absence(self)
                setting = None if is_absent else terms.setting(method, self, shared[0], method.sets(analysis.sets))
            if setting is not None:
                streams.append((self.outcomes(method, shared[0], setting, analysis), shared))
                yield from _at(shared, next(streams[-1][0]))

        # The rest, one method after the other
        for stream, shared in streams if intervals or self.simulated else []:
            for outcome in stream:
                yield from _at(shared, outcome)


def _at(epsilons: Sequence[float], outcome: Outcome) -> Iterator[Outcome]:
    """The outcome at each ε."""
    return (dataclasses.replace(outcome, epsilon=epsilon) for epsilon in epsilons)
