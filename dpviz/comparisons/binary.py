"""Study 1 of Bowen & Liu: one yes/no variable, and every release of it a transition matrix."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz import limits
from dpviz.analysis import PROPORTION
from dpviz.comparisons.base import Analysis, DataKind, Estimand, Method, Outcome, simulated_share
from dpviz.coverage import CoveragePlan, exact_coverage, performance_of, run_coverage
from dpviz.coverage.law import exact_work
from dpviz.inference.confidential import binomial_law, released_rows
from dpviz.inference.moments import central_moments
from dpviz.optimum import least_error
from dpviz.privacy import pure_epsilon
from dpviz.privacy.hockey_stick import worst_neighbours
from dpviz.privacy.several_sets import delta_of_sets
from dpviz.studies import Measure
from dpviz.synthesizers import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    TwoCellSynthesizer,
    WorstCase,
)
from dpviz.synthesizers.base import ROWS, parameter
from dpviz.synthesizers.modips import Modips, ModipsTruncated
from dpviz.synthesizers.plug_ins import PlugIn
from dpviz.types import FloatArray

OWN_PRIOR = 1 / 3  # Invented ones, and zeros, of the prior that Bowen & Liu take from Kerman (2011)
NO_NOISE = 1000.0  # ε from which on the noise is 0 with a probability that rounds to 1


LITTLE_WORK, MOST_WORK = 2_000_000, 16_000_000
"""Entries up to which coverage is summed at once, and after a simulation: about 0.1 and 0.8 s."""


class BinaryMethod(Method):
    """A method whose sets are independent releases of one transition matrix."""

    @abstractmethod
    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        """Return the synthesizer of one set, of which `epsilon` is the share."""

    def real_epsilon(self, data: BinaryData, setting: float, sets: int) -> float:
        """M times the pure ε of one set, as all may be at their worst at once."""
        return sets * pure_epsilon(self.synthesizer(data.n, setting / sets))

    def real_delta(
        self, data: BinaryData, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase:
        """Exact for one set; of several the losses are put on a grid, and δ is rounded up."""
        made = self.synthesizer(data.n, setting / sets)
        return worst_neighbours(made, epsilon) if sets == 1 else delta_of_sets(made, sets, epsilon, pairs)

    def usable_share(self, data: BinaryData, setting: float, sets: int) -> float:
        """Return the probability that the sets are not all zeros, nor all ones, so that T is above 0.

        Source: Bowen & Liu (2016), Table 1 of their supplement, which this reproduces.
        """
        made, weights = self.synthesizer(data.n, setting / sets), binomial_law(data.n, data.p)
        (counts,) = np.nonzero(weights)
        with np.errstate(under="ignore"):
            ends = np.exp(sets * made.log_transition(counts, np.array([0, made.m]))).sum(axis=1)
        return max(1 - float(weights[counts] @ ends), 0.0)


class OriginalData(BinaryMethod):
    """The confidential data as they are."""

    key = "original"
    label = "Original data"
    source = "no protection"
    releases = "Nothing is done to the data. This is what an analyst would find who may see them; no ε holds."
    reference = True
    several_sets = False

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:  # noqa: ARG002
        return GeometricSanitizer(n=n, epsilon=NO_NOISE)

    def real_epsilon(self, data: BinaryData, setting: float, sets: int) -> float:  # noqa: ARG002
        return math.inf


class MultipleSynthesis(BinaryMethod):
    """Posterior predictive draws without a promise."""

    key = "multiple_synthesis"
    label = "Multiple synthesis, no promise"
    source = "Bowen & Liu (2016), MS, after Raghunathan, Reiter & Rubin (2003)"
    releases = (
        "Each set draws the proportion from its posterior, with a third of an invented row of each kind, and then n "
        "rows. No privacy is promised."
    )
    reference = True

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:  # noqa: ARG002
        return BetaBinomial(n=n, m=n, alpha=OWN_PRIOR, beta=OWN_PRIOR)


class LaplaceRelease(BinaryMethod):
    """The count with Laplace noise, one set."""

    key = "laplace"
    label = LaplaceSanitizer.label
    source = "Bowen & Liu (2016), Laplace sanitizer; Abowd & Vilhuber (2008)"
    releases = (
        "One set: the number of ones plus Laplace noise of scale 1/ε, rounded and moved to the nearest end where it "
        "falls outside 0 to n. It spends all of ε."
    )
    several_sets = False

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        return LaplaceSanitizer(n=n, epsilon=epsilon)

    def usable_share(self, data: BinaryData, setting: float, sets: int) -> float:  # noqa: ARG002
        """Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], before rounding, x ~ Binomial(n, p).

        A release that had to be moved to an end has no variance.
        """
        rest = -math.expm1(-setting)
        below = (1 - data.p * rest) ** data.n
        above = (1 - (1 - data.p) * rest) ** data.n
        return max(1 - (below + above) / 2, 0.0)


class ModipsRelease(BinaryMethod):
    """Liu's model-based release, boundary-inflated."""

    key = Modips.key
    label = Modips.label
    source = "Bowen & Liu (2016), modips-thresholding; Liu (2016), Algorithm 1"
    releases = (
        "Each set adds Laplace noise for its share of ε to the number of ones, moves what falls outside 0 to n to the "
        "nearest end, draws the proportion from the posterior that this gives, with a third of an invented row of each "
        "kind, and then n rows."
    )

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        return Modips(n=n, m=n, epsilon=epsilon, alpha=OWN_PRIOR, beta=OWN_PRIOR)


class ModipsTruncatedRelease(BinaryMethod):
    """Liu's model-based release, truncated."""

    key = ModipsTruncated.key
    label = ModipsTruncated.label
    source = "Bowen & Liu (2016), modips-truncation; Liu (2016), Algorithm 1"
    releases = (
        "As modips, boundary-inflated; but noise that leads outside 0 to n is drawn again until the noisy number is "
        "inside."
    )
    finding = (
        "This breaks the promise: how often the noise must be drawn again depends on the confidential data. With "
        "little ε for each set the real loss is nearly twice the promised one."
    )

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        return ModipsTruncated(n=n, m=n, epsilon=epsilon, alpha=OWN_PRIOR, beta=OWN_PRIOR)


class BetaBinomialRelease(BinaryMethod):
    """Charest's synthesizer, the smallest prior for ε/M."""

    key = "beta_binomial"
    label = BetaBinomial.label
    source = "Bowen & Liu (2016), Multinomial-Dirichlet; Abowd & Vilhuber (2008), Charest (2011)"
    releases = (
        "Each set draws the proportion from its posterior and then n rows. It invents as many rows of each kind as its "
        "share of ε asks for, and spends exactly that."
    )

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        alpha = BetaBinomial.least_alpha(m=n, epsilon=epsilon)
        return BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)


class PlugInRelease(BinaryMethod):
    """Zheng's and McClure & Reiter's synthesizer, one set."""

    key = "posterior_mean"
    label = PosteriorMean.label
    source = "Bowen & Liu (2016), DP-prior; McClure & Reiter (2012)"
    releases = (
        "One set of n rows drawn with the posterior mean as their proportion. Enough rows are invented that this keeps "
        "ε, all of which it spends."
    )
    several_sets = False

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        alpha = PosteriorMean.least_alpha(m=n, epsilon=epsilon)
        return PosteriorMean(n=n, m=n, alpha=alpha, beta=alpha)


@dataclass(frozen=True, kw_only=True)
class BinaryData(DataKind):
    """n rows that are 1 with probability p; the analyst estimates p by the mean proportion of the sets.

    Bias and error are sums over x ~ Binomial(n, p) of the moments of a row, to rounding. Coverage and width are those
    of `exact_coverage`; where that takes a moment they are simulated first, and where it takes longer, simulated alone.
    """

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    methods: ClassVar[tuple[Method, ...]] = (
        OriginalData(), MultipleSynthesis(), ModipsRelease(), ModipsTruncatedRelease(), LaplaceRelease(),
        BetaBinomialRelease(), PlugInRelease(),
    )  # fmt: skip
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
            found[method.key] = method.synthesizer(self.n, setting / count).draw(generator, x, count) / self.n
        return x / self.n, found

    def outcomes(self, method: Any, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        made = method.synthesizer(self.n, setting / sets)
        moments = row_moments(made)
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
        rule, work = analysis.rule_for(sets).key, exact_work(made, p=self.p, sets=sets)
        if work > LITTLE_WORK:
            coverage, width = simulated_interval(made, self.p, sets, rule, analysis)
            yield dataclasses.replace(first, coverage=coverage, mean_width=width)
        if work <= MOST_WORK:
            coverage, width = exact_interval(made, self.p, sets, rule, analysis.level)
            yield dataclasses.replace(first, coverage=coverage, mean_width=width)


class RowMoments(NamedTuple):
    """Mean and variance of the proportion in one set for each confidential count x = 0 … n."""

    mean: FloatArray
    variance: FloatArray

    def error(self, weights: FloatArray | float, truth: FloatArray | float, sets: int) -> tuple[float, float]:
        """Return bias and root mean squared error of the mean of M sets, x with these weights, around the truth."""
        away = self.mean - truth
        square = np.sum(weights * (away**2 + self.variance / sets))
        return float(np.sum(weights * away)), math.sqrt(float(square))

    def added(self) -> dict[str, float]:
        """Return the root mean squared distance of one set from x/n by the criteria of `least_error`."""
        squares = (self.mean - np.linspace(0, 1, len(self.mean))) ** 2 + self.variance
        return {"average": math.sqrt(float(squares.mean())), "worst": math.sqrt(float(squares.max()))}


@lru_cache(maxsize=4096)
def row_moments(made: TwoCellSynthesizer) -> RowMoments:
    """Return them in closed form where there is one, else as sums over the rows of the matrix.

    >>> found = row_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> round(found.error(0.5, np.array([0.0, 1.0]), 1)[1] ** 2, 12)  # wrong with probability 1/3
    0.333333333333
    """
    every = np.arange(made.n + 1)
    if isinstance(made, BetaBinomial | PlugIn):
        found = central_moments(made, every)
        return RowMoments(found.mean, found.second)
    rows, q = released_rows(made, every), np.arange(made.m + 1) / made.m
    mean = rows @ q
    away = q - mean[:, None]
    return RowMoments(mean, np.einsum("ij,ij,ij->i", rows, away, away))


@lru_cache(maxsize=4096)
def exact_interval(made: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float) -> tuple[Measure, Measure]:
    """Return the exact coverage and mean width of the analyst's interval."""
    found = exact_coverage(synthesizer=made, p=p, sets=sets, rule=rule, level=level)
    return Measure(found.coverage, 0.0), Measure(found.mean_width, 0.0)


def simulated_interval(
    made: TwoCellSynthesizer, p: float, sets: int, rule: str, analysis: Analysis
) -> tuple[Measure, Measure]:
    """Return the coverage and mean width of the analyst's interval from a simulation."""
    plan = CoveragePlan(
        synthesizer=made, p=p, sets=sets, rules=(rule,), level=analysis.level, shown=0,
        repetitions=analysis.repetitions, seed=analysis.seed,
    )  # fmt: skip
    seen = performance_of(run_coverage(plan)).rules[rule]
    return simulated_share(seen.coverage, analysis.repetitions), seen.mean_width
