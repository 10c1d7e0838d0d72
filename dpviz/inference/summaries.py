"""Moments and intervals of the posteriors of many releases of one synthesizer, all at once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logit

from dpviz.core.checked import checked
from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.lockstep import falling_roots
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference._highest_density import Ladder, Region, angle_grid, highest_density
from dpviz.inference._log_odds import HIGHEST_LOG_ODDS, LOWEST_LOG_ODDS, log_parts, outward
from dpviz.inference.beta_mixtures import DROPPED_WEIGHT, PROBABILITY
from dpviz.inference.confidential import checked_counts, log_prior_counts, normalized
from dpviz.mechanisms import TwoCellSynthesizer

LAST_STEP = 1e-8  # A step of Newton's method this small is the last

Regions = tuple[FloatArray, FloatArray, dict[int, Region]]
"""Outer ends of one region for each mixture, and those regions that are several intervals."""


class Components:
    """The components Beta(γ1 + x, γ2 + n − x) that every release of a synthesizer shares, mixed by rows of weights."""

    def __init__(self, n: int, gamma1: float, gamma2: float) -> None:
        x = np.arange(n + 1)
        self.first, self.second = gamma1 + x, gamma2 + (n - x)
        self.size = gamma1 + gamma2 + n
        self.log_prior = log_prior_counts(x, n, gamma1, gamma2)
        self.grid = angle_grid(self.size, to_deviation=4)
        self.edges = np.concatenate([[LOWEST_LOG_ODDS], logit(self.grid[1:-1]), [HIGHEST_LOG_ODDS]])

    def ladder(self, weights: FloatArray) -> Ladder:
        """Return the mixtures as `highest_density` takes them."""
        return Ladder(first=self.first, second=self.second, weights=weights)

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and variance of every mixture."""
        means = self.first / self.size
        within = means * (self.second / self.size) / (self.size + 1)
        mean = weights @ means
        return mean, weights @ within + (weights * (means - mean[:, None]) ** 2).sum(axis=1)

    def equal_tails(self, weights: FloatArray, level: float) -> Regions:
        """Return the quantiles (1 ± level)/2 of every mixture."""
        ladder, tail = self.ladder(weights), (1 - level) / 2
        on_grid = ladder.probabilities(self.grid)
        return *outward(self._where(ladder, on_grid, tail, 1.0), self._where(ladder, on_grid, tail, -1.0)), {}

    def highest_density(self, weights: FloatArray, level: float) -> Regions:
        """Return the shortest region of every mixture; equal tails where its density is flat."""
        low, high, several = self.equal_tails(weights, level)
        heavy = np.where(weights > DROPPED_WEIGHT / weights.shape[1], weights, 0.0)
        for index, region in enumerate(highest_density(self.ladder(heavy), level)):
            if region:
                low[index], high[index] = region[0][0], region[-1][1]
            if len(region) > 1:
                several[index] = region
        return low, high, several

    def _where(self, ladder: Ladder, on_grid: FloatArray, tail: float, sign: float) -> FloatArray:
        """Return log-odds at which the lower tail of every mixture (`sign` 1), or the upper one (−1), is `tail`."""
        # Newton's method on the tail's logarithm, which is straight far out, inside a bracket on the grid.
        rows, grid, edges = np.arange(len(on_grid)), self.grid, self.edges
        q = tail if sign > 0 else 1 - tail
        place = np.clip((on_grid < q).sum(axis=1) - 1, 0, len(grid) - 2)
        left, right = on_grid[rows, place], on_grid[rows, place + 1]
        share = np.clip((q - left) / np.maximum(right - left, 1e-300), 0.01, 0.99)
        start = logit(grid[place] + (grid[place + 1] - grid[place]) * share)

        def value(some: IntArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_density, _, held = ladder.at(some, log_odds, sign > 0)
            log_held = np.log(held)
            return sign * (math.log(tail) - log_held), -np.exp(log_density + sum(log_parts(log_odds)) - log_held)

        return falling_roots(value, edges[place], edges[place + 1], start, LAST_STEP)


@dataclass(frozen=True)
class PosteriorInterval:
    """A way to choose the interval of a posterior; `holds_ends` is whether it can hold p = 0 and p = 1."""

    label: str
    holds_ends: bool
    of: Callable[[Components, FloatArray, float], Regions] = field(repr=False)


EQUAL_TAILS = PosteriorInterval("equal tails", False, Components.equal_tails)
HIGHEST_DENSITY = PosteriorInterval("highest density", True, Components.highest_density)


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

    @checked(p=PROBABILITY)
    def covers(self, p: float) -> BoolArray:
        """Return whether each release's interval holds `p`."""
        held: BoolArray = (self.low <= p) & (p <= self.high)
        for release, region in self.several.items():
            held[release] = any(low <= p <= high for low, high in region)
        return held


@checked(gamma1=GAMMA_ONES, gamma2=GAMMA_ZEROS, level=LEVEL)
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
    counts, n = checked_counts(synthetic_counts, synthesizer.m), synthesizer.n
    if counts.ndim != 2:
        got = f"{counts.ndim} dimensions, not 2"
        raise ValueError(f"synthetic_counts must have one row of counts for each release; got {got}.")
    distinct, place = np.unique(np.sort(counts, axis=1), axis=0, return_inverse=True)
    components = Components(n, gamma1, gamma2)
    parts, several = [], {}
    for part in blocks(len(distinct), n + 1):
        block = distinct[part]
        known, which = np.unique(block, return_inverse=True)
        table = synthesizer.log_transition(np.arange(n + 1), known).T
        log_weights = np.broadcast_to(components.log_prior, (len(block), n + 1)).copy()
        for column in which.reshape(block.shape).T:
            log_weights += table[column]
        weights = normalized(log_weights)
        low, high = np.full((2, len(block)), math.nan)
        regions: dict[int, Region] = {}
        if interval is not None:
            low, high, regions = interval.of(components, weights, level)
        width = high - low
        for index, region in regions.items():
            width[index] = sum(stop - begin for begin, stop in region)
            several[part.start + index] = region
        parts.append(np.stack([*components.moments(weights), low, high, width]))
    place = place.ravel()
    mean, variance, low, high, width = np.concatenate(parts, axis=1)[:, place]
    shared = {release: several[which] for release, which in enumerate(place.tolist()) if which in several}
    return PosteriorSummaries(mean=mean, variance=variance, low=low, high=high, width=width, several=shared)
