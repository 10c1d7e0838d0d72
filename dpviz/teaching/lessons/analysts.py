"""A hundred analysts who each get a release of their own: the intervals of lessons 4 and 5."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from dpviz.charts.coverage import caterpillar_chart
from dpviz.charts.teaching import with_guess
from dpviz.charts.theme import Figure
from dpviz.comparisons import Analysis, BinaryData
from dpviz.coverage import CoveragePlan, ExactCoverage, FirstIntervals, exact_coverage, first_intervals
from dpviz.designs import Design

ANALYSTS = 100


@dataclass(frozen=True)
class Analysts:
    """What a hundred analysts get by one rule, each from `sets` of a Beta-binomial release under ε; p is the truth."""

    rule: str
    epsilon: float = 2.0
    sets: int = 1
    n: int = 100
    p: float = 0.25
    seed: int = 1

    @property
    def design(self) -> Design:
        """Return the release and its analysis."""
        return Design(
            mechanism="beta_binomial",
            n=self.n,
            p=self.p,
            epsilon=self.epsilon,
            sets=self.sets,
            rules=(self.rule,),
            seed=self.seed,
        )

    @property
    def drawn(self) -> FirstIntervals:
        """Return the intervals that the seed draws."""
        return _drawn(self)

    @property
    def held(self) -> int:
        """How many of them hold the truth."""
        return int(np.count_nonzero(self.drawn.covered))

    @property
    def exact(self) -> ExactCoverage:
        """Return how often such an interval holds the truth, over all releases, and how long it is on average."""
        return _exact(replace(self, seed=1))

    @property
    def centre(self) -> float:
        """The mean of the estimate over all releases."""
        return self.p + self._moments[0]

    @property
    def spread(self) -> float:
        """The standard deviation of the estimate over all releases."""
        bias, error = self._moments
        return math.sqrt(error**2 - bias**2)

    @property
    def reckoned(self) -> float:
        """The mean standard error that the intervals reckon with."""
        return float(self.exact.mean_width / (2 * NormalDist().inv_cdf((1 + self.exact.level) / 2)))

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Bias and root mean squared error."""
        data = BinaryData(n=self.n, p=self.p)
        method = data.method("beta_binomial")
        return data.accuracy(method.divided() or method, self.epsilon, Analysis(sets=self.sets))

    def chart(self, words: str, guess: float | None = None) -> Figure:
        """Return the intervals, those that hold the truth first, with a guess at how many do."""
        found = self.drawn
        estimates = np.asarray(found.runs.estimates)
        order = np.lexsort((estimates, ~found.covered))
        chart = caterpillar_chart(
            estimates[order],
            found.low[order],
            found.high[order],
            covered=found.covered[order],
            vacuous=found.vacuous[order],
            p=self.p,
            words=words,
            of="analyst",
            outlined=False,
        )
        return chart if guess is None else with_guess(chart, f"your guess: {guess:g} hold it", y=guess + 0.5)


def _plan(one: Analysts) -> CoveragePlan:
    made = one.design.release
    return CoveragePlan(
        synthesizer=made, p=one.p, sets=one.sets, rules=(one.rule,), repetitions=ANALYSTS, seed=one.seed
    )


@lru_cache(maxsize=64)
def _drawn(one: Analysts) -> FirstIntervals:
    return first_intervals(_plan(one), one.rule)


@lru_cache(maxsize=256)
def _exact(one: Analysts) -> ExactCoverage:
    return exact_coverage(synthesizer=one.design.release, p=one.p, sets=one.sets, rule=one.rule)
