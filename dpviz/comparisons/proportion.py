"""One yes/no variable, of the sizes of Bowen & Liu's study 1 or of others, and the methods that release counts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.comparisons import proportion_measures as measures
from dpviz.comparisons.analysis import UNKNOWN_MEASURE, Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.proportion_measures import Moments
from dpviz.core import limits
from dpviz.core.declarations import PROPORTION, PUBLIC_GUESS, ROWS, SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.parameters import Parameter, validate_fields
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray
from dpviz.coverage.worst_case import Extreme
from dpviz.designs import Design
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, GeometricSanitizer, TwoCellSynthesizer, two_cell_synthesizers
from dpviz.mechanisms.base import Synthesizer, WorstCase, parameter
from dpviz.mechanisms.modips import BOWEN_LIU_PRIOR
from dpviz.privacy.divergence import worst_neighbours
from dpviz.privacy.optimum import LeastError, ShortestLength, least_error, shortest_length
from dpviz.privacy.several_sets import delta_of_sets

EPSILON_WITHOUT_NOISE = 1000.0  # from which on the noise is 0 with a probability that rounds to 1

_shortest_length = lru_cache(maxsize=1024)(shortest_length)


class ClassProperty:
    """Attribute of a class that is computed whenever it is read, as mechanisms may be registered at any time."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def __get__(self, instance: object, owner: type) -> Any:
        return self.function()


@dataclass(frozen=True, kw_only=True)
class OneProportion(DataKind):
    """n confidential rows, each 1 with probability p, and m released rows, by whose mean p is estimated."""

    # Whether results are judged as a curator judges them: over a range of p, with the estimates that noise-aware rules
    # correct, and by the part of an interval that is in [0, 1].
    is_for_curator: ClassVar[bool] = True

    rules: ClassVar[Mapping[str, IntervalRule]] = RULES
    true_value: ClassVar[str] = "p"
    assumed: ClassVar[str] = "each row independently 1 with probability p"
    exactly: ClassVar[str] = "an exact sum over the confidential counts, x ~ Binomial(n, p)"
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("proportion", "the share of yes", "p", is_share=True),)

    n: int = parameter(ROWS, default=1000, maximum=limits.MAX_POSTERIOR_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, default=1000, maximum=limits.MAX_POSTERIOR_ROWS)
    p: float = parameter(PROPORTION)
    public_share: float | None = None  # public guess of p for methods that take one; None for p itself

    def check(self) -> None:
        if self.public_share is not None:
            validate_fields(self, PUBLIC_GUESS)

    @property
    def truth(self) -> float:
        return self.p

    @property
    def is_central(self) -> bool:
        return self.p == 0.5

    @property
    def guess(self) -> float:
        nearest_to_truth = min(max(self.p, PUBLIC_GUESS.minimum), PUBLIC_GUESS.maximum)
        return nearest_to_truth if self.public_share is None else self.public_share

    def guesses_truth(self, method: ComparedMethod) -> bool:
        return bool(method.guess) and self.guess == self.with_guess(None).guess

    def with_guess(self, share: float | None) -> Self:
        return dataclasses.replace(self, public_share=share)

    def least_error(self, epsilon: float, delta: float = 0.0) -> LeastError:
        return least_error(n=self.n, epsilon=epsilon, delta=delta)

    def shortest_length(self, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength:
        return _shortest_length(n=self.n, p=self.p, epsilon=epsilon, delta=delta, level=level)

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        rng = np.random.default_rng(seed)
        x = int(rng.binomial(self.n, self.p))
        counts = {method: method.sets(sets) for method in settings}
        estimates = {
            method.key: method.draw(rng, self, settings[method] / count, x, count) for method, count in counts.items()
        }
        return x / self.n, estimates

    def _moments(self, method: Any, setting: float, analysis: Analysis) -> Moments:
        """Moments of the analyst's estimate from all sets."""
        sets = method.sets(analysis.sets)
        if self.is_for_curator:
            return measures.estimate_moments(method.synthesizer(self, setting / sets), sets, analysis.rule_for(sets))
        moments: Moments = method.moments(self, setting / sets)
        return moments.of_sets(sets)

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float]:
        return self._moments(method, setting, analysis).errors(self.p)

    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, secondary: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        sets, moments = method.sets(analysis.sets), self._moments(method, setting, analysis)
        bias, error = moments.errors(self.p)
        outcome = Outcome(
            data=self, method=method, epsilon=epsilon, setting=setting, sets=sets,
            bias=Measure(bias, 0.0), root_mean_squared_error=Measure(error, 0.0),
            release_error=Measure(moments.release_error()["average"], 0.0),
        )  # fmt: skip
        yield outcome

        # What takes longer than the moments
        usable_share = Measure(method.usable_share(self, setting, sets), 0.0)
        coverage, mean_width = method.interval(self, setting, sets, analysis) or (UNKNOWN_MEASURE, UNKNOWN_MEASURE)
        yield dataclasses.replace(outcome, usable_share=usable_share, coverage=coverage, mean_width=mean_width)

    def worst(
        self, method: Any, setting: float, analysis: Analysis, measure: str, low: float, high: float, *,
        thorough: bool = False,
    ) -> Extreme | None:  # fmt: skip
        if not self.is_for_curator:
            return None
        sets = method.sets(analysis.sets)
        synthesizer, rule = method.synthesizer(self, setting / sets), analysis.rule_for(sets)
        return measures.worst_measure(synthesizer, measure, sets, rule, analysis.level, low, high, thorough)


# Methods


def mechanism_texts(card: type[Synthesizer]) -> dict[str, Any]:
    """Fields of a compared method that follow from a registered synthesizer."""
    fields = {name: getattr(card, name) for name in ("key", "guess", "smallest_epsilon")} | {"noisy": card.adds_noise}
    names = ("label", "releases", "finding", "several_sets", "opendp", "audited")
    fields |= {name: getattr(card.info, name) for name in names}
    return fields | {"source": card.info.compared_source or card.info.source}


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryMethod(ComparedMethod):
    """A method whose sets are independent releases of one transition matrix, of a registered synthesizer."""

    loss_by: str = "exact, over all neighbours and all that can be released"
    synthesizer_type: type[TwoCellSynthesizer]
    opendp: str = ""
    noisy: bool = False  # whether a set is made of the count with noise of scale 1/ε
    fixed: Mapping[str, float] | None = dataclasses.field(default=None, hash=False)  # parameters, if no ε sets them

    @classmethod
    @cache
    def of(cls, synthesizer_type: type[TwoCellSynthesizer]) -> Self:
        """Method that releases sets of a synthesizer; its text names parameters that no size or promise sets."""
        fields = mechanism_texts(synthesizer_type) | {"has_fast_moments": synthesizer_type.has_fast_moments}
        free = [item for item in _free_parameters(synthesizer_type) if item.name != synthesizer_type.guess]
        if values := ", ".join(f"{item.symbol or item.title} = {format_number(item.default)}" for item in free):
            fields["releases"] += f" Here {values}."
        return cls(synthesizer_type=synthesizer_type, **fields)

    def divided(self) -> ComparedMethod | None:
        """The method with its ε divided among several sets; None where ε/M would soon be too small."""
        if self.several_sets or self.smallest_epsilon:  # below which a share ε/M would soon be
            return super().divided()
        return dataclasses.replace(self, several_sets=True)

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        return {"the number of ones": 1 / epsilon} if self.noisy else {}

    def synthesizer(self, data: OneProportion, epsilon: float) -> TwoCellSynthesizer:
        """Synthesizer of one set, which has this ε."""
        synthesizer_type = self.synthesizer_type.for_rows(data.n, data.m)
        names = {item.name for item in synthesizer_type.parameters()} & {"n", "m"}
        return synthesizer_type(**{name: getattr(data, name) for name in names}, **self.protection(data, epsilon))

    def protection(self, data: Any, epsilon: float) -> dict[str, Any]:
        """Parameters of one set but for sizes: `fixed`; else ε, or the smallest α = β that keeps it, and defaults."""
        if self.fixed is not None:
            return dict(self.fixed)
        card = self.synthesizer_type
        parameters = {item.name: item.default for item in _free_parameters(card)} | {**card.compared_with}
        if self.guess:
            parameters[self.guess] = data.guess
        value = epsilon if "epsilon" in card.protected_by else card.smallest_alpha(m=data.m, epsilon=epsilon)
        return parameters | dict.fromkeys(card.protected_by, value)

    def moments(self, data: OneProportion, epsilon: float) -> Moments:
        """Moments of the share of yes in one set."""
        return measures.share_moments(self.synthesizer(data, epsilon))

    def draw(self, rng: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        """Shares of yes in some sets, given the confidential count x."""
        synthesizer = self.synthesizer(data, epsilon)
        return synthesizer.draw(rng, x, units) / synthesizer.m

    def interval(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis
    ) -> tuple[Measure, Measure] | None:
        """Coverage and mean width; None where the rule cannot be used."""
        synthesizer, rule = self.synthesizer(data, setting / sets), analysis.rule_for(sets)
        if not rule.is_feasible(synthesizer, sets):
            return None
        return measures.interval_measures(synthesizer, data.p, sets, rule.key, analysis, data.is_for_curator)

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        """Probability that the released sets together hold at least one yes and one no."""
        masses = measures.end_masses(self.synthesizer(data, setting / sets), sets)
        return max(1 - float(binomial_weights(np.array([data.p]), data.n)[0] @ masses), 0.0)

    def absence(self, data: OneProportion) -> str:
        if not self.has_epsilon:
            return ""  # the confidential rows are as many as they are, whatever others release
        maxima = {item.name: item.maximum for item in self.synthesizer_type.for_rows(data.n, data.m).parameters()}
        if "m" not in maxima and data.m != data.n:
            return "releases as many rows as there are, so m must be n"
        if data.n > maxima["n"] or data.m > maxima.get("m", math.inf):
            return f"its whole table must be computed, at most {format_number(maxima['n'])} rows"
        return ""

    def design(self, data: OneProportion, setting: float, sets: int, **shared: Any) -> Design | None:
        if not self.has_epsilon:
            return None  # no page takes data without protection for a release
        return Design.releasing(self.synthesizer(data, setting / sets), sets=sets, p=data.p, **shared)

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        """M times the pure ε of one set, as all may be at their worst at once."""
        return sets * measures.set_loss(self.synthesizer(data, setting / sets)) if self.has_epsilon else math.inf

    def real_delta(
        self, data: OneProportion, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """Smallest δ of all sets: exact for one, of all neighbours; of several rounded up, by losses on a grid."""
        synthesizer = self.synthesizer(data, setting / sets)
        return worst_neighbours(synthesizer, epsilon) if sets == 1 else delta_of_sets(synthesizer, sets, epsilon, pairs)


def _free_parameters(synthesizer_type: type[TwoCellSynthesizer]) -> list[Parameter]:
    """Parameters of a synthesizer that neither its sizes nor a promise set."""
    known = ("n", "m", *synthesizer_type.protected_by)
    return [item for item in synthesizer_type.parameters() if item.name not in known]


ORIGINAL = BinaryMethod.named(
    "Original", synthesizer_type=GeometricSanitizer, fixed={"epsilon": EPSILON_WITHOUT_NOISE}, has_epsilon=False,
    finding="", loss_by=BinaryMethod.loss_by, reference=True, several_sets=False,
)  # fmt: skip
MULTIPLE_SYNTHESIS = BinaryMethod.named(
    "BinaryMultipleSynthesis", synthesizer_type=BetaBinomial, reference=True,
    fixed={"alpha": BOWEN_LIU_PRIOR, "beta": BOWEN_LIU_PRIOR},
)  # fmt: skip
FIRST_SHOWN = "modips", "modips_truncated", "geometric", "laplace", "beta_binomial"


def promising_methods() -> tuple[BinaryMethod, ...]:
    """A method for every registered synthesizer of two counts, unless it is compared as another or not at all."""
    registered = two_cell_synthesizers()
    ordered = dict.fromkeys((*(key for key in FIRST_SHOWN if key in registered), *registered))
    return tuple(BinaryMethod.of(registered[key]) for key in ordered if registered[key].info.is_compared)


def _count_methods() -> tuple[ComparedMethod, ...]:
    """The original data, then those that keep a promise: the discrete optimum, what needs no matrix, the rest."""

    def place(method: BinaryMethod) -> tuple[bool, bool]:
        return method.synthesizer_type is not GeometricSanitizer, not method.synthesizer_type.needs_no_matrix

    return (ORIGINAL, *sorted(promising_methods(), key=place))


def _binary_methods() -> tuple[ComparedMethod, ...]:
    from dpviz.comparisons.nested_modips import NESTED  # which is a method of such data

    return (ORIGINAL, MULTIPLE_SYNTHESIS, *promising_methods(), NESTED)


@dataclass(frozen=True, kw_only=True)
class BinaryData(OneProportion, ParameterRecord):
    """The data of study 1: every method releases as many rows as there are, and is judged as the papers judge it."""

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    is_for_curator: ClassVar[bool] = False
    methods: ClassVar[Any] = ClassProperty(_binary_methods)
    usual: ClassVar[tuple[str, ...]] = "original", "geometric", "beta_binomial"

    n: int = parameter(ROWS, default=100, maximum=limits.MAX_ROWS_OF_TABLE)
    m: int = dataclasses.field(init=False, default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)


@dataclass(frozen=True, kw_only=True)
class CountData(OneProportion, ParameterRecord):
    """A count of ones among many rows, and a release of as many rows, more or fewer."""

    key: ClassVar[str] = "count"
    label: ClassVar[str] = "Yes or no (a count)"
    usual: ClassVar[tuple[str, ...]] = "original", "geometric", "beta_binomial"
    methods: ClassVar[Any] = ClassProperty(_count_methods)


def method_of_release(design: Design) -> BinaryMethod:
    """Method that releases sets of a design's mechanism; a ValueError in a sentence where there is none."""
    card = design.synthesizer_type
    for method in promising_methods():
        if method.synthesizer_type is card:
            return method
    alias = SYNTHESIZERS.get(card.info.compared_as)
    reason = card.info.not_compared
    if alias:
        reason = f"with the smallest prior that keeps a promise it is the {alias.info.label.lower()}"
    raise ValueError(f"{card.info.label} is not among its methods{reason and f': {reason}'}.")
