"""A hundred analysts who each get a release of their own: the intervals of lessons 4 and 5."""

from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from dpviz.charts.inference import caterpillar_chart
from dpviz.charts.teaching import with_guess
from dpviz.charts.theme import Figure
from dpviz.coverage import CoveragePlan, ExactCoverage, ShownRuns, exact_coverage, first_intervals
from dpviz.designs import Design
from dpviz.inference.moments import SetMoments, set_moments
from dpviz.teaching.lessons.lesson import EPSILON_LABEL, Slider

ANALYSTS = 100
COVERED = Slider("Intervals that hold the truth", tuple(range(ANALYSTS + 1)), 50)
EPSILONS = Slider(EPSILON_LABEL, (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), 2.0)

DESIGN = Design(mechanism="beta_binomial", n=100, p=0.25, epsilon=2.0, rules=("as_if_real",), seed=1)
"""A table for each analyst, who takes it for real people."""


@dataclass(frozen=True)
class IntervalSample:
    """Intervals of a hundred analysts by the only rule of a design, each from a release of their own.

    >>> sample = IntervalSample(DESIGN)
    >>> round(sample.exact.coverage, 3), round(sample.moments.mean_estimate, 3)
    (0.682, 0.31)
    """

    design: Design

    @property
    def intervals(self) -> ShownRuns:
        """The intervals that the seed draws."""
        return _draw_intervals(self.design)

    @property
    def n_covered(self) -> int:
        """How many of them hold the truth."""
        return int(np.count_nonzero(self.intervals.covered))

    @property
    def n_released(self) -> int:
        """Yes in the first table of the first analyst."""
        return int(self.intervals.counts[0, 0])

    @property
    def exact(self) -> ExactCoverage:
        """How often such an interval holds the truth, over all releases, and how long it is on average."""
        return _exact_coverage(replace(self.design, seed=1))

    @property
    def mean_standard_error(self) -> float:
        """Mean standard error that the intervals reckon with."""
        return float(self.exact.mean_width / (2 * NormalDist().inv_cdf((1 + self.design.level) / 2)))

    @property
    def moments(self) -> SetMoments:
        """Mean and variance of the estimate over all releases."""
        return set_moments(self.design.release, p=self.design.p, sets=self.design.sets)

    @property
    def label(self) -> str:
        """How many hold the truth, in words above the picture."""
        return f"✓ <b>{self.n_covered} of {ANALYSTS}</b> hold"

    def chart(self, words: str, guess: float | None = None, *, ends: tuple[float, float] = (0.0, 0.85)) -> Figure:
        """Draw the intervals, hits first, with a guess at how many hit; `as_if_real` stays within the default ends."""
        intervals = self.intervals
        estimates = np.asarray(intervals.estimates)
        order = np.lexsort((estimates, ~intervals.covered))
        chart = caterpillar_chart(
            estimates[order], intervals.low[order], intervals.high[order], covered=intervals.covered[order],
            vacuous=intervals.vacuous[order], p=self.design.p, words=words, of="analyst", outlined=False,
            ends=ends, room=0.12,
        )  # fmt: skip
        return chart if guess is None else with_guess(chart, f"your guess: {guess:g} hold it", y=guess + 0.5)


@lru_cache(maxsize=64)
def _draw_intervals(design: Design) -> ShownRuns:
    plan = CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=design.rules, repetitions=ANALYSTS,
        seed=design.seed,
    )  # fmt: skip
    return first_intervals(plan)


@lru_cache(maxsize=256)
def _exact_coverage(design: Design) -> ExactCoverage:
    return exact_coverage(synthesizer=design.release, p=design.p, sets=design.sets, rule=design.rules[0])
