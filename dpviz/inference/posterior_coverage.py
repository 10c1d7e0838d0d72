"""Posteriors of many releases at once, and how often the posterior interval contains the true proportion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, PROPORTION, SETS
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.parameters import parameter, validate_choice
from dpviz.core.types import BoolArray, FloatArray, IntArray, Numbers
from dpviz.inference.beta_mixture import PROBABILITY, MixtureFamily
from dpviz.inference.posterior import log_prior_counts, normalized
from dpviz.inference.sum_distribution import along_axis, checked_counts, matrix_rows
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.simulation import Block, Plan, Tally, run_simulation

EQUAL_TAILS = "equal tails"
HIGHEST_DENSITY = "highest density"
INTERVALS = (EQUAL_TAILS, HIGHEST_DENSITY)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorSummaries:
    """Posteriors of many releases in numbers, with the intervals that make each region, NaN where it has fewer."""

    mean: FloatArray
    variance: FloatArray
    starts: FloatArray  # shape (releases, parts)
    stops: FloatArray

    @property
    def low(self) -> FloatArray:
        """Lower end of each region."""
        return self.starts[:, 0]

    @property
    def high(self) -> FloatArray:
        """Upper end of each region."""
        return np.nanmax(self.stops, axis=1)

    @property
    def width(self) -> FloatArray:
        """Total length of each region."""
        return np.nansum(self.stops - self.starts, axis=1)

    def covers(self, p: float) -> BoolArray:
        """Whether each release's interval contains p."""
        p = PROBABILITY.validate(p, name="p")
        return np.any((self.starts <= p) & (p <= self.stops), axis=1)


def posterior_summaries(
    synthetic_counts: IntArray | Sequence[Sequence[int]], *, synthesizer: TwoCellSynthesizer, gamma1: float = 1.0,
    gamma2: float = 1.0, level: float = 0.95, interval: str = EQUAL_TAILS,
) -> PosteriorSummaries:  # fmt: skip
    """Mean, variance and interval of the posterior of p for many releases, as `posterior_given` has them.

    Parameters
    ----------
    synthetic_counts : array_like of int, shape (releases, M)
    synthesizer, gamma1, gamma2
        As in `posterior_given`.
    level : float, default 0.95
    interval : str, default "equal tails"
        One of `INTERVALS`.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> summaries = posterior_summaries([[0], [1]], synthesizer=BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> summaries.mean.round(6).tolist()
    [0.444444, 0.555556]
    """
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    level = LEVEL.validate(level)
    validate_choice("interval", interval, INTERVALS)
    counts = checked_counts(synthetic_counts, synthesizer.m)
    if counts.ndim != 2:
        got = f"{counts.ndim} dimensions, not 2"
        raise ValueError(f"synthetic_counts must have one row of counts for each release; got {got}.")
    x = np.arange(synthesizer.n + 1)
    log_prior = log_prior_counts(x, synthesizer.n, gamma1, gamma2)

    # The order of the sets does not matter
    distinct, place = np.unique(np.sort(counts, axis=1), axis=0, return_inverse=True)
    moments = np.empty((2, len(distinct)))
    ends = np.full((2, len(distinct), 1), math.nan)
    for block in row_blocks(len(distinct), len(x), 500_000):
        known, which = np.unique(distinct[block], return_inverse=True)
        log_columns = synthesizer.log_likelihood(known[:, None]).T
        log_weights = log_prior + log_columns[which.reshape(distinct[block].shape)].sum(axis=1)
        family = MixtureFamily(a=gamma1 + x, b=gamma2 + x[::-1], weights=normalized(log_weights))
        moments[:, block] = family.moments()
        region = family.equal_tails(level) if interval == EQUAL_TAILS else family.highest_density(level)
        added_parts = max(region.shape[2] - ends.shape[2], 0)
        ends = np.pad(ends, ((0, 0), (0, 0), (0, added_parts)), constant_values=math.nan)
        ends[:, block, : region.shape[2]] = region
    mean, variance = moments[:, place.ravel()]
    starts, stops = ends[:, place.ravel()]
    return PosteriorSummaries(mean=mean, variance=variance, starts=starts, stops=stops)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorCoverage:
    """Coverage and mean width of the posterior interval, at each true proportion.

    `releases` distinct releases were enumerated if `exact`; else so many were simulated at each p, and
    `coverage_error` is the standard error.
    """

    proportions: FloatArray
    coverage: FloatArray
    mean_width: FloatArray
    coverage_error: FloatArray
    releases: int
    exact: bool


def posterior_coverage(
    *, synthesizer: TwoCellSynthesizer, proportions: Numbers, sets: int = 1, gamma1: float = 1.0, gamma2: float = 1.0,
    level: float = 0.95, interval: str = EQUAL_TAILS, repetitions: int = 2000, seed: int = 1,
) -> PosteriorCoverage:  # fmt: skip
    """Probability that the posterior interval contains the true p, over confidential rows and M independent sets.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    proportions : float or ndarray
        True p. Equal tails never contain 0 or 1.
    sets : int, default 1
        M.
    gamma1, gamma2, level, interval
        As for `posterior_summaries`.
    repetitions, seed : int, optional
        Of the simulation at each p where there are more than 20,000 distinct releases.

    Notes
    -----
    Σ Pr(x̃ | p) 1{p in the interval} over all releases x̃, Pr(x̃ | p) = Σ_x Binomial(x; n, p) Π_j T[x, x̃_j].

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> coverage = posterior_coverage(synthesizer=release, proportions=[0.5, 0.9], level=0.5)
    >>> coverage.coverage.tolist(), coverage.exact
    ([1.0, 0.0], True)
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    plan = PosteriorPlan(
        synthesizer=synthesizer, p=0.5, sets=sets, gamma1=gamma1, gamma2=gamma2, level=level, interval=interval,
        repetitions=repetitions, seed=seed,
    )  # fmt: skip
    p = along_axis(proportions)
    releases = math.comb(synthesizer.m + plan.sets, plan.sets)
    is_exact = releases <= 20_000  # which take seconds
    error = np.zeros(len(p))
    if is_exact:
        counts, log_orders = multisets(synthesizer.m + 1, plan.sets)
        chances = release_probabilities(synthesizer, counts, np.exp(log_orders), binomial_weights(p, synthesizer.n).T)
        is_possible = chances.any(axis=1)
        intervals = plan.summaries(counts[is_possible])
        covered = np.stack([intervals.covers(value) for value in p.tolist()])
        coverage = np.minimum(np.einsum("pr,rp->p", covered, chances[is_possible]), 1.0)
        width = intervals.width @ chances[is_possible]
    else:
        releases = plan.repetitions
        sums = [run_simulation(replace(plan, p=value)).sums for value in p.tolist()]
        shares = [Measure.share(int(at_p["covered"]), releases) for at_p in sums]
        coverage, error = np.array([(share.value, share.error) for share in shares]).T
        width = np.array([at_p["width"] for at_p in sums]) / releases
    return PosteriorCoverage(
        proportions=p, coverage=coverage, mean_width=width, coverage_error=error, releases=releases, exact=is_exact
    )


@dataclass(frozen=True, kw_only=True)
class PosteriorPlan(Plan[Tally]):
    """A simulation of posterior intervals: x ~ Binomial(n, p), M sets given x, and one interval from all of them."""

    synthesizer: TwoCellSynthesizer
    p: float = parameter(PROPORTION)
    sets: int = parameter(SETS)
    gamma1: float = parameter(GAMMA_ONES)
    gamma2: float = parameter(GAMMA_ZEROS)
    level: float = parameter(LEVEL)
    interval: str

    tally_type: ClassVar[type[Tally]] = Tally

    def summaries(self, counts: IntArray) -> PosteriorSummaries:
        """Posteriors of some releases."""
        return posterior_summaries(
            counts, synthesizer=self.synthesizer, gamma1=self.gamma1, gamma2=self.gamma2, level=self.level,
            interval=self.interval,
        )  # fmt: skip

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a block; its sums are the number of intervals that hold p, and their widths."""
        confidential = rng.binomial(self.synthesizer.n, self.p, size=self.batch)
        released = np.empty((self.batch, self.sets), dtype=np.int64)
        for x in np.unique(confidential):
            is_x = np.flatnonzero(confidential == x)
            released[is_x] = self.synthesizer.draw(rng, int(x), (len(is_x), self.sets))
        intervals = self.summaries(released[:size])
        return Block({"covered": np.array(intervals.covers(self.p).sum()), "width": np.array(intervals.width.sum())})


def release_probabilities(
    synthesizer: TwoCellSynthesizer, counts: IntArray, orders: FloatArray, distribution: FloatArray
) -> FloatArray:
    """Probability of releases under several distributions of x.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    counts : ndarray of int, shape (releases, M)
    orders : ndarray, shape (releases,)
        In how many orders each release occurs.
    distribution : ndarray, shape (n + 1, k)
        Distributions of x.
    """
    columns = matrix_rows(synthesizer, np.arange(synthesizer.n + 1)).T.copy()
    chances = np.empty((len(counts), distribution.shape[1]))
    for part in row_blocks(len(counts), len(distribution)):
        given = columns[counts[part, 0]] * orders[part, None]
        for place in range(1, counts.shape[1]):
            given *= columns[counts[part, place]]
        chances[part] = given @ distribution
    return chances
