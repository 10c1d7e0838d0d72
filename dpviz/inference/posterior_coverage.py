"""Posteriors of many releases at once, and how often the posterior interval contains the true proportion."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, PROPORTION, SETS
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.parameters import argument, validate_choice
from dpviz.core.types import BoolArray, FloatArray, IntArray, Numbers
from dpviz.inference.beta_mixture import PROBABILITY, MixtureFamily, Region
from dpviz.inference.posterior import log_prior_counts, normalized
from dpviz.inference.sum_distribution import along_axis, checked_counts
from dpviz.mechanisms import TwoCellSynthesizer

EQUAL_TAILS = "equal tails"
HIGHEST_DENSITY = "highest density"
INTERVALS = (EQUAL_TAILS, HIGHEST_DENSITY)
MAX_LISTED_RELEASES = 20_000  # distinct releases, sets in any order, that are enumerated
RUNS = argument("runs", 2, 1_000_000, title="simulated releases", integer=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorSummaries:
    """Posteriors of many releases in numbers; `several` has the regions that are several intervals, by release."""

    mean: FloatArray
    variance: FloatArray
    low: FloatArray  # outer ends, NaN where no interval was asked for
    high: FloatArray
    width: FloatArray  # total length
    several: dict[int, Region]

    def covers(self, p: float) -> BoolArray:
        """Whether each release's interval contains p."""
        p = PROBABILITY.validate(p, name="p")
        covered: BoolArray = (self.low <= p) & (p <= self.high)
        for release, region in self.several.items():
            covered[release] = any(low <= p <= high for low, high in region)
        return covered


def posterior_summaries(
    synthetic_counts: IntArray | Sequence[Sequence[int]],
    *,
    synthesizer: TwoCellSynthesizer,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
    level: float = 0.95,
    interval: str | None = EQUAL_TAILS,
) -> PosteriorSummaries:
    """Mean, variance and interval of the posterior of p for many releases, as `posterior_given` has them.

    There is one release of M counts in each row; `interval` is one of `INTERVALS`, or None for moments alone.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> summaries = posterior_summaries([[0], [1]], synthesizer=BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> summaries.mean.round(6).tolist()
    [0.444444, 0.555556]
    """
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    level = LEVEL.validate(level)
    if interval is not None:
        validate_choice("interval", interval, INTERVALS)
    counts = checked_counts(synthetic_counts, synthesizer.m)
    if counts.ndim != 2:
        got = f"{counts.ndim} dimensions, not 2"
        raise ValueError(f"synthetic_counts must have one row of counts for each release; got {got}.")
    x = np.arange(synthesizer.n + 1)
    log_prior = log_prior_counts(x, synthesizer.n, gamma1, gamma2)

    # The order of the sets does not matter
    distinct, place = np.unique(np.sort(counts, axis=1), axis=0, return_inverse=True)
    place = place.ravel()
    numbers = np.full((5, len(distinct)), math.nan)
    several: dict[int, Region] = {}
    for block in row_blocks(len(distinct), len(x)):
        known, which = np.unique(distinct[block], return_inverse=True)
        log_columns = synthesizer.log_transition(x, known).T
        log_weights = log_prior + log_columns[which.reshape(distinct[block].shape)].sum(axis=1)
        family = MixtureFamily(a=gamma1 + x, b=gamma2 + x[::-1], weights=normalized(log_weights))
        numbers[:2, block] = family.moments()
        if interval is None:
            continue
        find = family.equal_tails if interval == EQUAL_TAILS else family.highest_density
        low, high, regions = find(level)
        numbers[2:, block] = low, high, high - low
        for index, region in regions.items():
            numbers[4, block.start + index] = sum(stop - start for start, stop in region)
            several[block.start + index] = region
    mean, variance, low, high, width = numbers[:, place]
    shared = {release: several[which] for release, which in enumerate(place.tolist()) if which in several}
    return PosteriorSummaries(mean=mean, variance=variance, low=low, high=high, width=width, several=shared)


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
    *,
    synthesizer: TwoCellSynthesizer,
    proportions: Numbers,
    sets: int = 1,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
    level: float = 0.95,
    interval: str = EQUAL_TAILS,
    generator: np.random.Generator | None = None,
    runs: int = 2000,
) -> PosteriorCoverage:
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
    generator : numpy.random.Generator, optional
        Needed where there are more than 20,000 distinct releases: then `runs` of them are simulated at each p.

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
    sets = SETS.validate(sets)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    level = LEVEL.validate(level)
    runs = RUNS.validate(runs)
    p = along_axis(proportions)
    summaries = partial(
        posterior_summaries, synthesizer=synthesizer, gamma1=gamma1, gamma2=gamma2, level=level, interval=interval
    )
    if math.comb(synthesizer.m + sets, sets) <= MAX_LISTED_RELEASES:
        return _listed_coverage(summaries, synthesizer, p, sets)
    if generator is None:
        raise ValueError(
            f"generator must be given, a numpy Generator: {sets} sets of {synthesizer.m:,} rows have more than "
            f"{MAX_LISTED_RELEASES:,} releases, too many to enumerate; got None."
        )
    coverage, error, width = np.empty((3, len(p)))
    for point, value in enumerate(p.tolist()):
        intervals = summaries(_simulated_releases(synthesizer, value, sets, generator, runs))
        share = Measure.share(int(np.count_nonzero(intervals.covers(value))), runs)
        coverage[point], error[point], width[point] = share.value, share.error, intervals.width.mean()
    return PosteriorCoverage(
        proportions=p, coverage=coverage, mean_width=width, coverage_error=error, releases=runs, exact=False
    )


def _listed_coverage(
    summaries: Callable[[IntArray], PosteriorSummaries], synthesizer: TwoCellSynthesizer, p: FloatArray, sets: int
) -> PosteriorCoverage:
    """Coverage by a sum over all releases."""
    counts, log_orders = multisets(synthesizer.m + 1, sets)
    chances = release_probabilities(synthesizer, counts, np.exp(log_orders), binomial_weights(p, synthesizer.n).T)
    is_possible = chances.any(axis=1)
    intervals = summaries(counts[is_possible])
    covered = np.stack([intervals.covers(float(value)) for value in p])
    return PosteriorCoverage(
        proportions=p,
        coverage=np.minimum(np.einsum("pr,rp->p", covered, chances[is_possible]), 1.0),
        mean_width=intervals.width @ chances[is_possible],
        coverage_error=np.zeros(len(p)),
        releases=len(counts),
        exact=True,
    )


def release_probabilities(
    synthesizer: TwoCellSynthesizer, counts: IntArray, orders: FloatArray, distribution: FloatArray
) -> FloatArray:
    """Pr(release) for rows of M `counts` in so many `orders`, under each column of the `distribution` of x."""
    columns = synthesizer.transition_matrix().T.copy()
    chances = np.empty((len(counts), distribution.shape[1]))
    for part in row_blocks(len(counts), len(distribution)):
        given = columns[counts[part, 0]] * orders[part, None]
        for place in range(1, counts.shape[1]):
            given *= columns[counts[part, place]]
        chances[part] = given @ distribution
    return chances


def _simulated_releases(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, generator: np.random.Generator, runs: int
) -> IntArray:
    """Releases drawn from the rows of the matrix, shape (runs, sets)."""
    confidential = generator.binomial(synthesizer.n, p, size=runs)
    released = np.empty((runs, sets), dtype=np.int64)
    for value in np.unique(confidential):
        same = np.flatnonzero(confidential == value)
        released[same] = synthesizer.draw(generator, int(value), (len(same), sets))
    return released
