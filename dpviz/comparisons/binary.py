"""One yes/no variable, as in study 1 of Bowen & Liu or of other sizes, and the methods that release it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz import limits
from dpviz.analysis import PROPORTION
from dpviz.comparisons.base import Analysis, DataKind, Estimand, Method, Outcome
from dpviz.comparisons.binary_measures import RowMoments
from dpviz.comparisons.binary_methods import BINARY_METHODS, GeometricRelease, OriginalData
from dpviz.comparisons.estimates import MeanOfSets, estimate_for
from dpviz.comparisons.nested_modips import NestedModips
from dpviz.inference.confidential import binomial_law
from dpviz.inference.rules import RULES
from dpviz.optimum import least_error
from dpviz.studies import Measure
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, parameter
from dpviz.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class OneProportion(DataKind):
    """n rows that are 1 with probability p, of which m are released; the analyst estimates p by the mean of the sets.

    Bias and error are sums over x ~ Binomial(n, p) of the moments of a row, to rounding. Coverage and width are those
    of `exact_coverage`; where that takes a moment they are simulated first, and where it takes longer, simulated alone.
    """

    rules: ClassVar[tuple[str, ...]] = tuple(RULES)
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

    def least_error(self, epsilon: float, delta: float = 0.0) -> float:
        return least_error(n=self.n, epsilon=epsilon, delta=delta).lower_bound

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        generator, found = np.random.default_rng(seed), dict[str, FloatArray]()
        x = int(generator.binomial(self.n, self.p))
        for method, setting in settings.items():
            count = method.sets(sets)
            found[method.key] = method.draw(generator, self, setting / count, x, count)
        return x / self.n, found

    def estimate_in_words(self, method: Any, analysis: Analysis) -> str:  # noqa: ARG002
        return MeanOfSets.words

    def estimate_moments(self, method: Any, setting: float, analysis: Analysis) -> RowMoments:
        """Return the moments of the analyst's estimate from all sets."""
        sets = method.sets(analysis.sets)
        moments: RowMoments = method.moments(self, setting / sets)
        return moments.of_sets(sets)

    def outcomes(self, method: Any, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        moments = self.estimate_moments(method, setting, analysis)
        bias, error = moments.error(binomial_law(self.n, self.p), self.p)
        _, added = moments.error(1 / (self.n + 1), np.arange(self.n + 1) / self.n)
        first = Outcome(
            method=method,
            epsilon=epsilon,
            setting=setting,
            sets=sets,
            bias=Measure(bias, 0.0),
            root_mean_squared_error=Measure(error, 0.0),
            coverage=Measure.unknown(),
            mean_width=Measure.unknown(),
            usable_share=Measure(method.usable_share(self, setting, sets), 0.0),
            real_epsilon=method.real_epsilon(self, setting, sets),
            release_error=Measure(added, 0.0),
        )
        yield first
        for coverage, width in method.intervals(self, setting, sets, analysis):
            yield dataclasses.replace(first, coverage=coverage, mean_width=width)


@dataclass(frozen=True, kw_only=True)
class BinaryData(OneProportion):
    """The data of study 1: every method releases as many rows as there are."""

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    methods: ClassVar[tuple[Method, ...]] = (*BINARY_METHODS, NestedModips())
    usual: ClassVar[tuple[str, ...]] = (
        "original", "multiple_synthesis", "modips", "modips_truncated", "laplace", "beta_binomial", "posterior_mean",
    )  # fmt: skip

    n: int = parameter(ROWS, default=100, maximum=limits.MODIPS_ROWS)
    m: int = dataclasses.field(init=False, default=0, repr=False, compare=False)
    p: float = parameter(PROPORTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)


@dataclass(frozen=True, kw_only=True)
class CountData(OneProportion):
    """A count of many rows, of which more or fewer are released: those methods that keep a promise, beside no method.

    A method that cannot release so many rows says why by its `absence`. An analyst whose rule knows how the sets were
    made corrects the estimate for that too (`dpviz.comparisons.estimates`).
    """

    key: ClassVar[str] = "count"
    label: ClassVar[str] = "Yes or no (a count)"
    methods: ClassVar[tuple[Method, ...]] = (
        OriginalData(),
        *sorted(
            (GeometricRelease(), *(one for one in BINARY_METHODS if not one.reference)),
            key=lambda one: not one.law.needs_no_matrix,  # what is there at once is the first that a reader sees
        ),
    )

    n: int = parameter(ROWS, default=1000, maximum=limits.COUNT_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, default=1000, maximum=limits.COUNT_ROWS)
    p: float = parameter(PROPORTION)

    def estimate_in_words(self, method: Any, analysis: Analysis) -> str:
        sets = method.sets(analysis.sets)
        return estimate_for(method.synthesizer(self, 1.0), sets, analysis.rule_for(sets)).words

    def estimate_moments(self, method: Any, setting: float, analysis: Analysis) -> RowMoments:
        sets = method.sets(analysis.sets)
        made, rule = method.synthesizer(self, setting / sets), analysis.rule_for(sets)
        return estimate_for(made, sets, rule).moments(made, sets, rule)
