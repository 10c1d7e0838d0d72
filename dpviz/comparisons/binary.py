"""Study 1 of Bowen & Liu: one yes/no variable, and the methods that release it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz import limits
from dpviz.analysis import PROPORTION
from dpviz.comparisons.base import Analysis, DataKind, Estimand, Method, Outcome
from dpviz.comparisons.binary_methods import BINARY_METHODS
from dpviz.comparisons.nested_modips import NestedModips
from dpviz.inference.confidential import binomial_law
from dpviz.optimum import least_error
from dpviz.studies import Measure
from dpviz.synthesizers.base import ROWS, parameter
from dpviz.types import FloatArray


@dataclass(frozen=True, kw_only=True)
class BinaryData(DataKind):
    """n rows that are 1 with probability p; the analyst estimates p by the mean proportion of the sets.

    Bias and error are sums over x ~ Binomial(n, p) of the moments of a row, to rounding. Coverage and width are those
    of `exact_coverage`; where that takes a moment they are simulated first, and where it takes longer, simulated alone.
    """

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    methods: ClassVar[tuple[Method, ...]] = (*BINARY_METHODS, NestedModips())
    usual: ClassVar[tuple[str, ...]] = (
        "original", "multiple_synthesis", "modips", "modips_truncated", "laplace", "beta_binomial", "posterior_mean",
    )  # fmt: skip
    true_value: ClassVar[str] = "p"
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("proportion", "the proportion of ones", "p"),)

    n: int = parameter(ROWS, default=100, maximum=limits.MODIPS_ROWS)
    p: float = parameter(PROPORTION)

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
            found[method.key] = method.draw(generator, self.n, setting / count, x, count)
        return x / self.n, found

    def outcomes(self, method: Any, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        moments = method.moments(self.n, setting / sets)
        bias, error = moments.error(binomial_law(self.n, self.p), self.p, sets)
        _, added = moments.error(1 / (self.n + 1), np.arange(self.n + 1) / self.n, sets)
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
