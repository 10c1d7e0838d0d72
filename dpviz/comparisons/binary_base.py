"""One proportion and its study, and what every method is that releases sets of it, most of them of one matrix."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.comparisons.base import Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.binary_measures import (
    RowMoments,
    end_masses,
    exact_interval,
    loss_of,
    row_moments,
    simulated_interval,
)
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.core.measures import Measure
from dpviz.core.parameters import Parameter, readable
from dpviz.core.types import FloatArray
from dpviz.coverage.distributions import exact_work
from dpviz.designs import Design
from dpviz.inference.confidential import binomial_distribution
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.rules import RULES
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer, WorstCase
from dpviz.mechanisms.base import COMPARED_FACTS
from dpviz.privacy.hockey_stick import worst_neighbours
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.real_loss import Loss
from dpviz.privacy.several_sets import delta_of_sets

LITTLE_WORK, MOST_WORK = 2_000_000, 16_000_000
"""Entries up to which coverage is summed at once, and after a simulation: about 0.1 and 0.8 s."""


@dataclass(frozen=True, kw_only=True)
class OneProportion(DataKind):
    """n rows that are 1 with probability p, of which m are released; the analyst estimates p by the mean of the sets.

    Bias and error are sums over x ~ Binomial(n, p) of the moments of a row, to rounding. Coverage and width are those
    of `exact_coverage`; where that takes a moment they are simulated first, and where it takes longer, simulated alone.
    Of an interval that is counted `inside` 0 to 1 what lies beyond says nothing, and one without end has length 1.
    """

    inside: ClassVar[bool] = False

    rules: ClassVar[Mapping[str, IntervalRule]] = RULES
    true_value: ClassVar[str] = "p"
    assumed: ClassVar[str] = "each row independently 1 with probability p"
    exactly: ClassVar[str] = "an exact sum over the confidential counts, x ~ Binomial(n, p)"
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("proportion", "the proportion of ones", "p"),)

    n: int
    m: int
    p: float

    @property
    def truth(self) -> float:
        return self.p

    def least_error(self, epsilon: float, delta: float = 0.0) -> LeastError:
        return least_error(n=self.n, epsilon=epsilon, delta=delta)

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
        moments: RowMoments = method.moments(self, setting / sets)
        return moments.of_sets(sets)

    def accuracy(self, method: Any, setting: float, analysis: Analysis) -> tuple[float, float]:
        return self.estimate_moments(method, setting, analysis).error(binomial_distribution(self.n, self.p), self.p)

    def outcomes(self, method: Any, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        moments = self.estimate_moments(method, setting, analysis)
        bias, error = moments.error(binomial_distribution(self.n, self.p), self.p)
        _, added = moments.error(1 / (self.n + 1), np.arange(self.n + 1) / self.n)
        first = Outcome(
            data=self,
            method=method,
            epsilon=epsilon,
            setting=setting,
            sets=sets,
            bias=Measure(bias, 0.0),
            root_mean_squared_error=Measure(error, 0.0),
            coverage=Measure.unknown(),
            mean_width=Measure.unknown(),
            usable_share=Measure(method.usable_share(self, setting, sets), 0.0),
            release_error=Measure(added, 0.0),
        )
        yield first
        for coverage, width in method.intervals(self, setting, sets, analysis):
            yield dataclasses.replace(first, coverage=coverage, mean_width=width)


class BinaryRelease(ComparedMethod):
    """A method that makes M units of sets with ε/M each, which depend on the confidential count alone."""

    has_epsilon = exact_epsilon = True
    loss_by = "exact, over all neighbours and all that can be released"
    noisy = False
    """Whether a unit is made of the count with noise of scale 1/ε′."""

    def noise_scales(self, data: OneProportion, epsilon: float) -> dict[str, float]:
        return {"the number of ones": 1 / epsilon} if self.noisy else {}

    def real_loss(self, data: Any, setting: float, sets: int) -> Loss:
        """Exact: the matrix, or the sum, of everything that can be released is at hand."""
        found = self.real_epsilon(data, setting, sets)
        assert found is not None
        return Loss.exactly(found)

    @abstractmethod
    def moments(self, data: OneProportion, epsilon: float) -> RowMoments:
        """Return the moments of the estimate from one unit with its share of ε."""

    @abstractmethod
    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        """Return the probability that the sets are not all zeros, nor all ones, so that T is above 0."""

    @abstractmethod
    def draw(self, random: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        """Return the proportions in the sets of so many units."""

    @abstractmethod
    def intervals(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis
    ) -> Iterator[tuple[Measure, Measure]]:
        """Yield the coverage and mean width of the analyst's interval, the better known the later."""


def compared_facts(card: type[Synthesizer]) -> dict[str, Any]:
    """Return what a synthesizer says of itself wherever it is compared."""
    return {name: getattr(card, name) for name in (*COMPARED_FACTS, "audited", "noisy")}


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryMethod(BinaryRelease):
    """A method whose sets are independent releases of one transition matrix, of a registered synthesizer.

    What it says of itself is what its synthesizer says, but for what is given.
    """

    synthesizer_type: type[TwoCellSynthesizer]
    key: str = ""
    label: str = ""
    source: str = ""
    releases: str
    audited: str = ""
    finding: str = ""
    opendp: str = ""
    reference: bool = False
    several_sets: bool = True
    noisy: bool = False

    def __post_init__(self) -> None:
        card = self.named_after
        known = {"key": card.key, "label": card.label, "source": card.compared_source or card.source}
        for name, words in known.items():
            object.__setattr__(self, name, getattr(self, name) or words)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    @classmethod
    @cache
    def of(cls, synthesizer_type: type[TwoCellSynthesizer]) -> Self:
        """Return the method that releases sets of a synthesizer, with its facts.

        The values of parameters that neither its sizes nor a promise set are in its words.
        """
        facts = compared_facts(synthesizer_type)
        further = cls.further(synthesizer_type).values()
        if told := ", ".join(f"{one.symbol or one.title} = {readable(one.default)}" for one in further):
            facts["releases"] += f" Here {told}."
        return cls(synthesizer_type=synthesizer_type, **facts)

    def divided(self) -> ComparedMethod:
        return self if self.several_sets else dataclasses.replace(self, several_sets=True)

    @property
    def named_after(self) -> type[Synthesizer]:
        """What gives it its name."""
        return self.synthesizer_type

    def moments(self, data: OneProportion, epsilon: float) -> RowMoments:
        return row_moments(self.synthesizer(data, epsilon))

    def draw(self, random: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        made = self.synthesizer(data, epsilon)
        return made.draw(random, x, units) / made.m

    def intervals(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis
    ) -> Iterator[tuple[Measure, Measure]]:
        made, rule = self.synthesizer(data, setting / sets), analysis.rule_for(sets)
        if not rule.fits(made, sets):
            return
        work = exact_work(made, p=data.p, sets=sets, by_sum=rule.knows_noise)
        if work > LITTLE_WORK:
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
        made = self.synthesizer_type
        others = {name: one.default for name, one in self.further(made).items()} | {**made.compared_with}
        if made.has_prior:
            return others | dict.fromkeys(("alpha", "beta"), made.smallest_alpha(m=data.m, epsilon=epsilon))
        return others | {"epsilon": epsilon}

    @staticmethod
    def further(synthesizer_type: type[TwoCellSynthesizer]) -> dict[str, Parameter]:
        """Return the parameters of a synthesizer, by name, that neither its sizes nor a promise set."""
        known = ("n", "m", "alpha", "beta") if synthesizer_type.has_prior else ("n", "m", "epsilon")
        return {one.name: one for one in synthesizer_type.parameters() if one.name not in known}

    def absence(self, data: OneProportion) -> str:
        most = {one.name: one.maximum for one in self.synthesizer_type.for_rows(data.n, data.m).parameters()}
        if "m" not in most and data.m != data.n:
            return "releases as many rows as there are, so m must be n"
        if any(getattr(data, name) > most[name] for name in ("n", "m") if name in most):
            return f"its whole table must be computed, at most {readable(most['n'])} rows"
        return ""

    def design(self, data: OneProportion, setting: float, sets: int, **shared: Any) -> Design | None:
        return Design.releasing(self.synthesizer(data, setting / sets), sets=sets, p=data.p, **shared)

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        """M times the pure ε of one set, as all may be at their worst at once."""
        return sets * loss_of(self.synthesizer(data, setting / sets))

    def real_delta(
        self, data: OneProportion, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """Exact for one set; of several the losses are put on a grid, and δ is rounded up."""
        made = self.synthesizer(data, setting / sets)
        return worst_neighbours(made, epsilon) if sets == 1 else delta_of_sets(made, sets, epsilon, pairs)

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        """Of what is released, rounded as it is: not all zeros, nor all ones."""
        made, weights = self.synthesizer(data, setting / sets), binomial_distribution(data.n, data.p)
        return max(1 - float(weights @ end_masses(made, sets)), 0.0)
