"""One proportion and its study, and every method that releases sets of one transition matrix."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.comparisons.base import UNKNOWN_MEASURE, Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.binary_measures import (
    RowMoments,
    cached_on_copy,
    end_masses,
    estimate_moments,
    exact_interval,
    loss_of,
    row_moments,
    share_intervals,
    simulated_interval,
    worst_of,
)
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.core import limits
from dpviz.core.declarations import PROPORTION, PUBLIC_GUESS, ROWS, SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.parameters import Parameter, validate_fields
from dpviz.core.types import FloatArray
from dpviz.coverage.release_distribution import exact_work
from dpviz.coverage.worst_case import Extreme
from dpviz.designs import Design
from dpviz.inference.confidential import binomial_distributions
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES
from dpviz.mechanisms import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    Modips,
    ModipsTruncated,
    Synthesizer,
    TwoCellSynthesizer,
    WorstCase,
    two_cell_synthesizers,
)
from dpviz.mechanisms.base import parameter
from dpviz.mechanisms.modips import BOWEN_LIU_PRIOR
from dpviz.privacy.divergence import worst_neighbours
from dpviz.privacy.optimum import LeastError, ShortestLength, least_error, shortest_length
from dpviz.privacy.several_sets import delta_of_sets

LITTLE_WORK, MOST_WORK = 2_000_000, 16_000_000
"""Entries up to which coverage is summed at once, and after a simulation: about 0.1 and 0.8 s."""
_shortest_length = lru_cache(maxsize=1024)(shortest_length)
EPSILON_WITHOUT_NOISE = 1000.0  # ε from which on the noise is 0 with a probability that rounds to 1


@dataclass(frozen=True, kw_only=True)
class OneProportion(DataKind):
    """n rows that are 1 with probability p, of which m are released; the analyst estimates p by the mean of the sets.

    Bias and error are sums over x ~ Binomial(n, p) of the moments of a row, to rounding. Coverage and width are those
    of `exact_coverage`; where that takes a moment they are simulated first, and where it takes longer, simulated alone.
    """

    inside: ClassVar[bool] = True
    """Whether all is judged as a curator judges it, over a range of p: an analyst whose rule knows how the sets were
    made corrects the estimate for that too, and of an interval what lies beyond 0 to 1 says nothing, so that one
    without end has length 1."""

    rules: ClassVar[Mapping[str, IntervalRule]] = RULES
    true_value: ClassVar[str] = "p"
    assumed: ClassVar[str] = "each row independently 1 with probability p"
    exactly: ClassVar[str] = "an exact sum over the confidential counts, x ~ Binomial(n, p)"
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("proportion", "the share of yes", "p"),)

    n: int = parameter(ROWS, default=1000, maximum=limits.MAX_COUNT_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, default=1000, maximum=limits.MAX_COUNT_ROWS)
    p: float = parameter(PROPORTION)
    public_share: float | None = None
    """What is publicly guessed of p, which methods that take a `guess` are given; None where that is p itself."""

    def check(self) -> None:
        if self.public_share is not None:
            validate_fields(self, PUBLIC_GUESS)

    @property
    def guess(self) -> float:
        """The public guess, as near to the truth as one can be where it is that."""
        nearest = min(max(self.p, PUBLIC_GUESS.minimum), PUBLIC_GUESS.maximum)
        return nearest if self.public_share is None else self.public_share

    def flatters(self, method: ComparedMethod) -> bool:
        return bool(method.guess) and self.guess == self.guessing(None).guess

    def guessing(self, share: float | None) -> Self:
        return dataclasses.replace(self, public_share=share)

    def believed(self, lowest: float, highest: float) -> Self:
        middle = dataclasses.replace(self, p=(lowest + highest) / 2).guessing(None).guess
        return self if self.public_share is not None else self.guessing(middle)

    def to_dict(self) -> dict[str, Any]:
        """The same without a guess that was not made."""
        return {name: value for name, value in super().to_dict().items() if value is not None}

    @property
    def truth(self) -> float:
        return self.p

    def least_error(self, epsilon: float, delta: float = 0.0) -> LeastError:
        return least_error(n=self.n, epsilon=epsilon, delta=delta)

    def shortest_length(self, epsilon: float, delta: float = 0.0, level: float = 0.95) -> ShortestLength:
        return _shortest_length(n=self.n, p=self.p, epsilon=epsilon, delta=delta, level=level)

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        generator, found = np.random.default_rng(seed), dict[str, FloatArray]()
        x = int(generator.binomial(self.n, self.p))
        for method, setting in settings.items():
            count = method.sets(sets)
            found[method.key] = method.draw(generator, self, setting / count, x, count)
        return x / self.n, found

    def estimate_moments(self, method: Any, setting: float, analysis: Analysis) -> RowMoments:
        """Return the moments of the analyst's estimate from all sets."""
        sets = method.sets(analysis.sets)
        if self.inside:
            return estimate_moments(method.synthesizer(self, setting / sets), sets, analysis.rule_for(sets))
        moments: RowMoments = method.moments(self, setting / sets)
        return moments.of_sets(sets)

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float]:
        ((bias, error),) = self.accuracies(method, setting, analysis, [self]).tolist()
        return bias, error

    def accuracies(self, method: Any, setting: float, analysis: Analysis, every: Sequence[DataKind]) -> FloatArray:
        truths = tuple(data.truth for data in every)
        moments = self.estimate_moments(method, setting, analysis)
        return moments.errors(binomial_distributions(self.n, truths), np.array(truths))

    def estimated(self, method: Any, setting: float, analysis: Analysis) -> Outcome:
        sets, found = method.sets(analysis.sets), self.accuracy(method, setting, analysis)
        bias, error = (Measure(one, 0.0) for one in found)
        given = {"epsilon": setting, "setting": setting, "sets": sets, "usable_share": UNKNOWN_MEASURE}
        return Outcome(data=self, method=method, bias=bias, root_mean_squared_error=error, **given)

    def at_a_glance(self, method: Any, setting: float, analysis: Analysis) -> Outcome | None:
        at_once = not self.inside and method.moments_at_once
        return self.estimated(method, setting, analysis) if at_once else None

    def outcome(self, method: Any, setting: float, analysis: Analysis) -> Outcome:
        return self._with_interval(self.estimated(method, setting, analysis), analysis)

    @staticmethod
    def _with_interval(found: Outcome, analysis: Analysis) -> Outcome:
        """Return an outcome with what there is at last of its interval."""
        method: Any = found.method
        for coverage, width in method.intervals(found.data, found.setting, found.sets, analysis, at_last=True):
            found = dataclasses.replace(found, coverage=coverage, mean_width=width)
        return found

    def outcomes_at(
        self, method: Any, setting: float, analysis: Analysis, every: Sequence[Self], *, beside_worst: bool = False
    ) -> Iterator[tuple[Outcome, ...] | None]:
        sets, found = method.sets(analysis.sets), self._first(method, setting, setting, analysis, every)
        made, rule = method.synthesizer(self, setting / sets), analysis.rule_for(sets)
        # Sums that are left to a simulation at one true value are at the others, or take about as long.
        shares = self.inside and work_of(made, self.p, sets, rule.is_noise_aware) <= LITTLE_WORK
        share = partial(share_intervals, made, [data.p for data in every], sets, rule, analysis.level)
        if shares and beside_worst:
            share()
        yield tuple(found)
        if shares and not beside_worst:
            share()
        for place, one in enumerate(found):  # neither the worst of them nor their average is known without the last
            yield None
            found[place] = self._with_interval(one, analysis)
        yield tuple(found)

    def summed(self, method: Any, setting: float, analysis: Analysis) -> bool:
        sets = method.sets(analysis.sets)
        made, by_sum = method.synthesizer(self, setting / sets), analysis.rule_for(sets).is_noise_aware
        return bool(work_of(made, self.p, sets, by_sum) <= MOST_WORK)

    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, beside: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        (first,) = self._first(method, epsilon, setting, analysis, [self])
        yield first
        for coverage, width in method.intervals(self, setting, first.sets, analysis):
            yield dataclasses.replace(first, coverage=coverage, mean_width=width)

    def _first(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, every: Sequence[OneProportion]
    ) -> list[Outcome]:
        """Return what is quick of the outcomes at several true values: all but the intervals."""
        sets = method.sets(analysis.sets)
        _, added = self.estimate_moments(method, setting, analysis).error(
            1 / (self.n + 1), np.arange(self.n + 1) / self.n
        )
        return [
            Outcome(
                data=data,
                method=method,
                epsilon=epsilon,
                setting=setting,
                sets=sets,
                bias=Measure(bias, 0.0),
                root_mean_squared_error=Measure(error, 0.0),
                usable_share=Measure(method.usable_share(data, setting, sets), 0.0),
                release_error=Measure(added, 0.0),
            )
            for data, (bias, error) in zip(
                every, self.accuracies(method, setting, analysis, every).tolist(), strict=True
            )
        ]

    def worst(
        self,
        method: Any,
        setting: float,
        analysis: Analysis,
        measure: str,
        low: float,
        high: float,
        *,
        thorough: bool = False,
    ) -> Extreme | None:
        if not self.inside:
            return None
        sets = method.sets(analysis.sets)
        made, rule = method.synthesizer(self, setting / sets), analysis.rule_for(sets)
        return worst_of(made, measure, sets, rule, analysis.level, low, high, thorough=thorough)


@cached_on_copy(maxsize=2048)
def work_of(made: TwoCellSynthesizer, p: float, sets: int, by_sum: bool) -> float:
    """Return the entries of the sums for an interval, as far as they are of interest."""
    return exact_work(made, p=p, sets=sets, sums_only=by_sum)


def compared_facts(card: type[Synthesizer]) -> dict[str, Any]:
    """Return what a synthesizer says of itself wherever it is compared."""
    told = ("label", "releases", "finding", "several_sets", "opendp", "audited")
    facts = {name: getattr(card, name) for name in ("key", "guess", "smallest_epsilon")} | {"noisy": card.adds_noise}
    facts |= {name: getattr(card.info, name) for name in told}
    return facts | {"source": card.info.compared_source or card.info.source}


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryMethod(ComparedMethod):
    """A method whose sets are independent releases of one transition matrix, of a registered synthesizer.

    `noisy`: Whether a set is made of the count with noise of scale 1/ε′.
    `fixed`: What protects a set whatever ε is, by the names of parameters, of a method that promises nothing.
    """

    has_epsilon: bool = True
    exact_epsilon: bool = True
    loss_by: str = "exact, over all neighbours and all that can be released"
    synthesizer_type: type[TwoCellSynthesizer]
    opendp: str = ""
    noisy: bool = False
    fixed: Mapping[str, float] | None = dataclasses.field(default=None, hash=False)

    @classmethod
    @cache
    def of(cls, synthesizer_type: type[TwoCellSynthesizer]) -> Self:
        """Return the method that releases sets of a synthesizer, with its facts.

        The values of parameters that neither its sizes nor a promise set are in its words.
        """
        facts = compared_facts(synthesizer_type)
        further = [one for one in cls.further(synthesizer_type).values() if one.name != synthesizer_type.guess]
        if told := ", ".join(f"{one.symbol or one.title} = {format_number(one.default)}" for one in further):
            facts["releases"] += f" Here {told}."
        return cls(synthesizer_type=synthesizer_type, **facts)

    def divided(self) -> ComparedMethod | None:
        if self.smallest_epsilon:  # of which a share ε/M of several sets would soon have none
            return super().divided()
        return self if self.several_sets else dataclasses.replace(self, several_sets=True)

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        return {"the number of ones": 1 / epsilon} if self.noisy else {}

    @property
    def moments_at_once(self) -> bool:
        """Whether `moments` take a moment, however many rows there are."""
        return self.synthesizer_type.has_fast_moments

    def moments(self, data: OneProportion, epsilon: float) -> RowMoments:
        return row_moments(self.synthesizer(data, epsilon))

    def draw(self, random: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        made = self.synthesizer(data, epsilon)
        return made.draw(random, x, units) / made.m

    def intervals(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis, *, at_last: bool = False
    ) -> Iterator[tuple[Measure, Measure]]:
        made, rule = self.synthesizer(data, setting / sets), analysis.rule_for(sets)
        if not rule.is_feasible(made, sets):
            return
        work = work_of(made, data.p, sets, rule.is_noise_aware)
        if work > (MOST_WORK if at_last else LITTLE_WORK):
            yield simulated_interval(made, data.p, sets, rule.key, analysis, data.inside)
        if work <= MOST_WORK:
            yield exact_interval(made, data.p, sets, rule.key, analysis.level, data.inside)

    def synthesizer(self, data: OneProportion, epsilon: float) -> TwoCellSynthesizer:
        """Return the synthesizer of one set, of which `epsilon` is the share."""
        synthesizer_type = self.synthesizer_type.for_rows(data.n, data.m)
        sizes = {one.name: getattr(data, one.name) for one in synthesizer_type.parameters() if one.name in ("n", "m")}
        return synthesizer_type(**sizes, **self.protection(data, epsilon))

    def protection(self, data: OneProportion, epsilon: float) -> dict[str, Any]:
        """Return what protects one set, by the names of parameters: the smallest prior, or ε, and its other numbers."""
        if self.fixed is not None:
            return dict(self.fixed)
        made = self.synthesizer_type
        others = {name: one.default for name, one in self.further(made).items()} | {**made.compared_with}
        if self.guess:
            others[self.guess] = data.guess
        share = epsilon if "epsilon" in made.protected_by else made.smallest_alpha(m=data.m, epsilon=epsilon)
        return others | dict.fromkeys(made.protected_by, share)

    def in_design(self, data: Any, epsilon: float) -> dict[str, Any]:
        """Return the fields by which a design with a promise makes the same set, beside its sizes and its ε."""
        made, protected = self.synthesizer_type, self.protection(data, epsilon)
        own = {"details": ((self.guess, protected[self.guess]),)} if self.guess else {}
        added = {"alpha": protected["alpha"]} if made.protected_by == ("alpha",) else {}
        return own | added

    @staticmethod
    def further(synthesizer_type: type[TwoCellSynthesizer]) -> dict[str, Parameter]:
        """Return the parameters of a synthesizer, by name, that neither its sizes nor a promise set."""
        known = ("n", "m", *synthesizer_type.protected_by)
        return {one.name: one for one in synthesizer_type.parameters() if one.name not in known}

    def absence(self, data: OneProportion) -> str:
        if not self.has_epsilon:
            return ""  # there are as many rows as there are, whatever others release
        most = {one.name: one.maximum for one in self.synthesizer_type.for_rows(data.n, data.m).parameters()}
        if "m" not in most and data.m != data.n:
            return "releases as many rows as there are, so m must be n"
        if any(getattr(data, name) > most[name] for name in ("n", "m") if name in most):
            return f"its whole table must be computed, at most {format_number(most['n'])} rows"
        return ""

    def design(self, data: OneProportion, setting: float, sets: int, **shared: Any) -> Design | None:
        if not self.has_epsilon:
            return None  # no page takes data without protection for a release
        return Design.releasing(self.synthesizer(data, setting / sets), sets=sets, p=data.p, **shared)

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        """M times the pure ε of one set, as all may be at their worst at once."""
        return sets * loss_of(self.synthesizer(data, setting / sets)) if self.has_epsilon else math.inf

    def real_delta(
        self, data: OneProportion, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """Exact for one set; of several the losses are put on a grid, and δ is rounded up."""
        made = self.synthesizer(data, setting / sets)
        return worst_neighbours(made, epsilon) if sets == 1 else delta_of_sets(made, sets, epsilon, pairs)

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        """Of what is released, rounded as it is: not all zeros, nor all ones."""
        made, (weights,) = self.synthesizer(data, setting / sets), binomial_distributions(data.n, (data.p,))
        return max(1 - float(weights @ end_masses(made, sets)), 0.0)


def usable_before_rounding(n: int, p: float, epsilon: float) -> float:
    """Return Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], x ~ Binomial(n, p).

    That is how Bowen & Liu (2016) count the usable releases of their Laplace sanitizer. What it releases is rounded.

    >>> round(usable_before_rounding(100, 0.02, 0.5), 4)
    0.7731
    """
    rest = -math.expm1(-epsilon)
    below, above = (1 - p * rest) ** n, (1 - (1 - p) * rest) ** n
    return max(1 - (below + above) / 2, 0.0)


REFERENCES: tuple[BinaryMethod, ...] = (
    BinaryMethod.named(
        "Original",
        synthesizer_type=GeometricSanitizer,
        fixed={"epsilon": EPSILON_WITHOUT_NOISE},
        has_epsilon=False,
        finding="",
        loss_by=BinaryMethod.loss_by,
        reference=True,
        several_sets=False,
    ),
    BinaryMethod.named(
        "BinaryMultipleSynthesis",
        synthesizer_type=BetaBinomial,
        fixed={"alpha": BOWEN_LIU_PRIOR, "beta": BOWEN_LIU_PRIOR},
        reference=True,
    ),
)
"""What promises nothing, beside which the others stand."""

FIRST_SHOWN = (Modips, ModipsTruncated, GeometricSanitizer, LaplaceSanitizer, BetaBinomial)
"""The synthesizers that stand first in the pictures, in their order; the others follow as they are registered."""


def promising_methods() -> tuple[BinaryMethod, ...]:
    """Return a method for every registered synthesizer of two counts, made of what its class says.

    Not of one that says itself that it is compared as another, or not at all.
    """
    registered = two_cell_synthesizers().values()
    ordered = dict.fromkeys((*(one for one in FIRST_SHOWN if one in registered), *registered))
    return tuple(BinaryMethod.of(one) for one in ordered if one.info.is_compared)
