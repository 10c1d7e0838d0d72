"""What is compared: methods on one kind of data, at one ε after the other, and how well their releases answer."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.special import ndtr

from dpviz.analysis import LEVEL, SETS
from dpviz.checked import DeclaredFields, declared
from dpviz.comparisons.terms import PROMISES, EqualPromise, Terms
from dpviz.coverage.exact import coarse_to_fine
from dpviz.designs import Design
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES, check_rule
from dpviz.parameters import Parameter, shown
from dpviz.studies import Measure, wilson_interval
from dpviz.studies.plan import REPETITIONS, SEED
from dpviz.synthesizers import WorstCase
from dpviz.types import FloatArray

COMPARED_SETS = dataclasses.replace(
    SETS,
    default=10,
    slider_maximum=50,
    help="The number of synthetic sets of the methods that release several. They share the promised ε equally.",
)
SIMULATED = dataclasses.replace(REPETITIONS, default=5_000, maximum=1_000_000)


UNKNOWN = Measure.unknown()


@dataclass(frozen=True)
class Estimand:
    """What the analyst wants to know."""

    key: str
    label: str
    symbol: str


@dataclass(frozen=True, kw_only=True)
class Analysis(DeclaredFields):
    """How many sets are released where a method releases several, and what an analyst makes of them.

    `rule` is a key of `dpviz.inference.RULES`; a single set is analysed as if it were real where the rule needs more.
    `repetitions` and `seed` are those of what has to be simulated.

    >>> Analysis().rule_for(10).label, Analysis().rule_for(1).label
    ("Reiter 2003 (Liu's Theorem 7)", 'As if real')
    """

    sets: int = declared(COMPARED_SETS)
    rule: str = "reiter_2003"
    level: float = declared(LEVEL)
    repetitions: int = declared(SIMULATED)
    seed: int = declared(SEED)

    def check(self) -> None:
        if not isinstance(self.rule, str):
            raise ValueError(f"rule must be one of {', '.join(RULES)}; got {shown(self.rule)}.")
        check_rule(self.rule, RULES[self.rule].least_sets if self.rule in RULES else 1)

    @classmethod
    def numbers(cls) -> dict[str, Parameter]:
        """Declarations of its numbers by name."""
        return {one.name: one for one in cls.parameters()}

    def rule_for(self, sets: int) -> IntervalRule:
        """Return the rule that analyses so many sets."""
        rule = RULES[self.rule]
        return rule if sets >= rule.least_sets else RULES["as_if_real"]


@dataclass(frozen=True)
class Method(ABC):
    """A way to release data of one kind under a promised ε.

    The promise covers all sets together, and each of M sets has its share ε/M. A reference promises nothing: it is the
    same at every ε. A subclass gives the data of a method as attributes or as fields.
    """

    key = label = source = ""
    releases = ""
    """What is released and what it spends, in whole sentences."""
    audited = ""
    """Key of the record of `dpviz.audits.releases` that says what it really gives away; of none where there is none."""
    finding = ""
    """The same in whole sentences, of a method that has no record, or none of its own."""
    reference = False
    several_sets = True
    sets_of_each = 1
    """Sets that are made of one share of ε."""
    first_statistic = "the mean"
    """What has the share of ε that `usual_shares` and `with_share` speak of."""

    def sets(self, wanted: int) -> int:
        """Return how many sets it releases where those that release several release `wanted`."""
        return wanted if self.several_sets else 1

    def usual_shares(self, data: Any) -> dict[str, float]:  # noqa: ARG002
        """Shares of ε that the papers give the first of two statistics, by their names; none where there is but one."""
        return {}

    def with_share(self, share: float) -> Method:
        """Return the same method with this share of ε for the first of its two statistics."""
        raise ValueError(f"{self.label} does not divide its ε; got a share of {shown(share)}.")

    def absence(self, data: Any) -> str:  # noqa: ARG002
        """Return why it cannot release such data, in a few words; nothing where it can."""
        return ""

    def design(self, data: Any, setting: float, sets: int, **shared: Any) -> Design | None:  # noqa: ARG002
        """Return the design that makes the same sets on every other page, `shared` being further fields of it.

        None where other pages do not know the release.
        """
        return None

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:  # noqa: ARG002
        """Return the scale of the noise of one set that has `epsilon`, by the statistic; none where none is added."""
        return {}

    @abstractmethod
    def real_epsilon(self, data: Any, setting: float, sets: int) -> float | None:
        """Return the exact pure ε of all sets together; None where it is not known.

        `setting` is the ε that it is given for all of them.
        """

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None  # noqa: ARG002
    ) -> WorstCase | None:  # fmt: skip
        """Return the smallest δ for which all sets together are (ε, δ)-differentially private; None where unknown.

        It is never below the exact one. Over all neighbours, or over some `pairs` of them, which takes less time.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one method did at one ε, of all sets together.

    `method`, `epsilon`: The method, and the ε of the comparison: the place on the axis.
    `setting`: The ε that the method was given for all its sets: the same, or the one with equal real privacy.
    `sets`: How many sets it released.
    `bias`, `root_mean_squared_error`: Of the analyst's estimate over confidential data and release.
    `coverage`, `mean_width`: Of the analyst's interval: how often it holds the truth, and its mean width where there is
    one.
    `usable_share`: Probability that a release can be analysed.
    `real_epsilon`: The exact pure ε of all sets together; None where it is not known.
    `release_error`: Root mean squared distance of the estimate from that of the confidential data, each of which counts
    alike: what the release adds, which can be compared with the best that is possible.
    The error of a measure is 0 where it is exact and NaN where it is not defined or not yet computed.
    """

    method: Method
    epsilon: float
    setting: float
    sets: int
    bias: Measure
    root_mean_squared_error: Measure
    coverage: Measure
    mean_width: Measure
    usable_share: Measure
    real_epsilon: float | None
    release_error: Measure = UNKNOWN

    @property
    def measures(self) -> dict[str, Measure]:
        """The measures by name."""
        return {name: getattr(self, name) for name in MEASURES}

    @property
    def exact(self) -> bool:
        """Whether no measure was simulated."""
        return not any(measure.error > 0 for measure in self.measures.values())


MEASURES = ("bias", "root_mean_squared_error", "coverage", "mean_width", "usable_share")


def simulated_share(share: Measure, repetitions: int) -> Measure:
    """Return a share of repetitions with an error above 0, so that none is taken for exact where all or no one counts.

    0 and 1 have the width of Wilson's interval of one standard error instead.

    >>> found = simulated_share(Measure.share(5000, 5000), 5000)
    >>> found.value, round(found.error, 6)
    (1.0, 0.0002)
    """
    if share.error != 0:
        return share
    low, high = wilson_interval(share.value, repetitions, 2 * float(ndtr(1.0)) - 1)
    return Measure(share.value, high - low)


@dataclass(frozen=True, kw_only=True)
class DataKind(DeclaredFields, ABC):
    """Confidential data of one kind with their true values, and the methods that can release them.

    A subclass declares its sizes, bounds and true values as fields (`dpviz.synthesizers.base.parameter`), which are
    checked one by one; `check` says what must hold between them.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    methods: ClassVar[tuple[Method, ...]]
    usual: ClassVar[tuple[str, ...]] = ()
    """Keys of the methods that are compared unless others are chosen; all of them where none is named."""
    estimands: ClassVar[tuple[Estimand, ...]]
    rules: ClassVar[tuple[str, ...]] = tuple(COMBINING_RULES)
    """Keys of the rules that make an interval from its releases; those that know the noise read counts."""
    true_value: ClassVar[str]
    """Name of the number that a curator does not know, and thinks of a range of."""
    exactly: ClassVar[str] = "an exact sum"
    """How a measure that is not simulated is computed."""
    assumed: ClassVar[str] = "independent rows from one distribution"
    """How confidential rows come about, in a few words."""
    simulated: ClassVar[bool] = False
    """Whether all measures are simulated, so that an error of 0 says nothing."""
    estimand: str = ""
    """Key of what the analyst wants to know; the first of `estimands` unless it is set."""

    def __post_init__(self) -> None:
        super().__post_init__()
        keys = [one.key for one in self.estimands]
        if not isinstance(self.estimand, str) or self.estimand not in ("", *keys):
            raise ValueError(f"estimand must be one of {', '.join(keys)}; got {shown(self.estimand)}.")
        object.__setattr__(self, "estimand", self.estimand or keys[0])

    @classmethod
    def method(cls, key: str) -> Method:
        """Return the method with this key, or a ValueError that names those there are."""
        found = {one.key: one for one in cls.methods}
        if key not in found:
            raise ValueError(f"method must be one of {', '.join(found)}; got {shown(key)}.")
        return found[key]

    @property
    @abstractmethod
    def truth(self) -> float:
        """The true value of what the analyst wants to know."""

    def least_error(self, epsilon: float, delta: float = 0.0) -> float | None:  # noqa: ARG002
        """Return the smallest `release_error` that any mechanism with this promise can have; None where unknown."""
        return None

    @abstractmethod
    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        """Return the estimate from one confidential data set, and by method those from each set released from it.

        `settings` are the ε that each method is given.
        """

    @abstractmethod
    def outcomes(self, method: Method, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        """Yield the outcome of one method at one ε, the more complete the later."""

    def compare(
        self,
        methods: Sequence[Method],
        epsilons: Sequence[float],
        analysis: Analysis | None = None,
        terms: Terms | None = None,
    ) -> Iterator[Outcome]:
        """Yield the outcomes of all methods at every ε: first what is quick of each, then what takes longer.

        A later outcome of the same method at the same ε replaces the earlier one. A method that has no setting on these
        terms is left out.
        """  # fmt: skip
        analysis, terms = analysis or Analysis(), terms or EqualPromise()
        places = [PROMISES.check(one) for one in epsilons]
        waiting = deque(self._everywhere(method, places, analysis) for method in methods if method.reference)
        for place in coarse_to_fine(len(places)):
            own = (method for method in methods if not method.reference)
            waiting += (self._on_terms(method, places[place], analysis, terms) for method in own)
        while waiting:
            stream = waiting.popleft()
            found = next(stream, None)
            if found is not None:
                yield from found
                waiting.append(stream)

    def _everywhere(self, method: Method, places: list[float], analysis: Analysis) -> Iterator[list[Outcome]]:
        for outcome in self.outcomes(method, places[0], places[0], analysis):
            yield [dataclasses.replace(outcome, epsilon=place) for place in places]

    def _on_terms(self, method: Method, place: float, analysis: Analysis, terms: Terms) -> Iterator[list[Outcome]]:
        setting = terms.setting(method, self, place, method.sets(analysis.sets))
        if setting is not None:
            yield from ([outcome] for outcome in self.outcomes(method, place, setting, analysis))


@dataclass(frozen=True)
class Compared:
    """The outcomes so far, the last of each method at each ε, and the smallest `release_error` at each ε."""

    outcomes: Mapping[tuple[str, float], Outcome]
    least: Mapping[float, float]

    def of(self, method: Method) -> list[Outcome]:
        """Return the outcomes of one method in the order of ε."""
        mine = [one for (key, _), one in self.outcomes.items() if key == method.key]
        return sorted(mine, key=lambda one: one.epsilon)


def stream_comparison(
    data: DataKind, methods: Sequence[Method], epsilons: Sequence[float], analysis: Analysis, terms: Terms
) -> Iterator[Compared]:
    """Yield the outcomes of `DataKind.compare` as they come, all that there are so far.

    The smallest errors are there at once where δ = 0; with δ each takes a search, and they come last.
    """
    found: dict[tuple[str, float], Outcome] = {}
    least: dict[float, float] = {}

    def search() -> Iterator[Compared]:
        for epsilon in epsilons:
            smallest = data.least_error(epsilon, terms.delta)
            if smallest is not None:
                least[epsilon] = smallest
                yield Compared(dict(found), dict(least))

    if terms.delta == 0:
        yield from search()
    for outcome in data.compare(methods, epsilons, analysis, terms):
        found[outcome.method.key, outcome.epsilon] = outcome
        yield Compared(dict(found), dict(least))
    if terms.delta > 0:
        yield from search()
