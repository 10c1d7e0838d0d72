"""Moments and intervals of the posteriors of many releases of one synthesizer, all at once."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import logit

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference._highest_density import Ladder, Region, angle_grid, highest_density
from dpviz.inference._log_odds import HIGHEST_LOG_ODDS, LOWEST_LOG_ODDS, log_parts, outward
from dpviz.inference._roots import falling_roots
from dpviz.inference.beta_mixtures import DROPPED_WEIGHT, PROBABILITY
from dpviz.inference.confidential import log_prior_counts, normalized
from dpviz.inference.sum_distribution import checked_counts
from dpviz.mechanisms import TwoCellSynthesizer

LAST_STEP = 1e-8  # A step of Newton's method this small is the last

Regions = tuple[FloatArray, FloatArray, dict[int, Region]]
"""Outer ends of one region for each mixture, and those regions that are several intervals."""


class Posteriors(Ladder):
    """Posteriors of releases of a synthesizer: the components Beta(γ1 + x, γ2 + n − x), mixed by rows of weights."""

    @classmethod
    def of(cls, gamma1: float, gamma2: float, weights: FloatArray) -> Self:
        """Return those with these probabilities of x = 0 … n."""
        x = np.arange(weights.shape[1])
        return cls(first=gamma1 + x, second=gamma2 + x[::-1], weights=weights)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of every mixture."""
        size = self.first + self.second
        means = self.first / size
        mean = self.weights @ means
        within = self.weights @ (means * (self.second / size) / (size + 1))
        return mean, within + (self.weights * (means - mean[:, None]) ** 2).sum(axis=1)

    def equal_tails(self, level: float) -> Regions:
        """Return the quantiles (1 ± level)/2 of every mixture."""
        grid, tail = angle_grid(float(self.first[0] + self.second[0]), to_deviation=4), (1 - level) / 2
        on_grid = self.probabilities(grid)
        return *outward(*(self._where(grid, on_grid, tail, sign) for sign in (1.0, -1.0))), {}

    def densest(self, level: float) -> Regions:
        """Return the shortest region of every mixture; equal tails where its density is flat."""
        low, high, several = self.equal_tails(level)
        heavy = np.where(self.weights > DROPPED_WEIGHT / len(self.first), self.weights, 0.0)
        for index, region in enumerate(highest_density(dataclasses.replace(self, weights=heavy), level)):
            if region:
                low[index], high[index] = region[0][0], region[-1][1]
            if len(region) > 1:
                several[index] = region
        return low, high, several

    def _where(self, grid: FloatArray, on_grid: FloatArray, tail: float, sign: float) -> FloatArray:
        """Return log-odds at which the lower tail of every mixture (`sign` 1), or the upper one (−1), is `tail`."""
        # Newton's method on the tail's logarithm, which is straight far out, inside a bracket on the grid.
        edges = np.concatenate([[LOWEST_LOG_ODDS], logit(grid[1:-1]), [HIGHEST_LOG_ODDS]])
        rows, q = np.arange(len(on_grid)), tail if sign > 0 else 1 - tail
        place = np.clip((on_grid < q).sum(axis=1) - 1, 0, len(grid) - 2)
        left, right = on_grid[rows, place], on_grid[rows, place + 1]
        share = np.clip((q - left) / np.maximum(right - left, 1e-300), 0.01, 0.99)
        start = logit(grid[place] + (grid[place + 1] - grid[place]) * share)

        def value(some: IntArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_density, _, held = self.at(some, log_odds, sign > 0)
            log_held = np.log(held)
            return sign * (math.log(tail) - log_held), -np.exp(log_density + sum(log_parts(log_odds)) - log_held)

        return falling_roots(value, edges[place], edges[place + 1], start, LAST_STEP)


@dataclass(frozen=True)
class PosteriorInterval:
    """A way to choose the interval of a posterior; `holds_ends` is whether it can hold p = 0 and p = 1."""

    label: str
    holds_ends: bool
    of: Callable[[Posteriors, float], Regions] = field(repr=False)


EQUAL_TAILS = PosteriorInterval("equal tails", False, Posteriors.equal_tails)
HIGHEST_DENSITY = PosteriorInterval("highest density", True, Posteriors.densest)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorSummaries:
    """Posteriors in numbers, one entry a release; the ends are NaN where no interval was asked for.

    They are rounded outwards, and are the outer ones of a region that is `several` intervals of total length `width`.
    """

    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    width: FloatArray
    several: dict[int, Region]

    def covers(self, p: float) -> BoolArray:
        """Return whether each release's interval holds `p`."""
        p = PROBABILITY.validate(p, name="p")
        held: BoolArray = (self.low <= p) & (p <= self.high)
        for release, region in self.several.items():
            held[release] = any(low <= p <= high for low, high in region)
        return held


def posterior_summaries(
    synthetic_counts: IntArray | Sequence[Sequence[int]],
    *,
    synthesizer: TwoCellSynthesizer,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
    level: float = 0.95,
    interval: PosteriorInterval | None = EQUAL_TAILS,
) -> PosteriorSummaries:
    """Mean, variance and interval of the posterior of p for many releases at once, as `posterior_given` has them.

    One release of M counts a row; `interval` is `EQUAL_TAILS`, `HIGHEST_DENSITY`, or None for moments alone.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> found = posterior_summaries([[0], [1]], synthesizer=BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> found.mean.round(6).tolist()
    [0.444444, 0.555556]
    """
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    level = LEVEL.validate(level)
    counts, n = checked_counts(synthetic_counts, synthesizer.m), synthesizer.n
    if counts.ndim != 2:
        got = f"{counts.ndim} dimensions, not 2"
        raise ValueError(f"synthetic_counts must have one row of counts for each release; got {got}.")
    distinct, place = np.unique(np.sort(counts, axis=1), axis=0, return_inverse=True)
    log_prior = log_prior_counts(np.arange(n + 1), n, gamma1, gamma2)
    parts, several = [], {}
    for part in row_blocks(len(distinct), n + 1):
        block = distinct[part]
        known, which = np.unique(block, return_inverse=True)
        table = synthesizer.log_transition(np.arange(n + 1), known).T
        log_weights = np.broadcast_to(log_prior, (len(block), n + 1)).copy()
        for column in which.reshape(block.shape).T:
            log_weights += table[column]
        posteriors = Posteriors.of(gamma1, gamma2, normalized(log_weights))
        low, high = np.full((2, len(block)), math.nan)
        regions: dict[int, Region] = {}
        if interval is not None:
            low, high, regions = interval.of(posteriors, level)
        width = high - low
        for index, region in regions.items():
            width[index] = sum(stop - begin for begin, stop in region)
            several[part.start + index] = region
        parts.append(np.stack([*posteriors.moments(), low, high, width]))
    place = place.ravel()
    mean, variance, low, high, width = np.concatenate(parts, axis=1)[:, place]
    shared = {release: several[which] for release, which in enumerate(place.tolist()) if which in several}
    return PosteriorSummaries(mean=mean, variance=variance, low=low, high=high, width=width, several=shared)
