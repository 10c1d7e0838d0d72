"""How often the posterior interval holds the true proportion, and how wide it is: its frequentist coverage."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, PROPORTION, SETS
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.numerics.special import row_blocks
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.inference.sum_distribution import along_axis
from dpviz.inference.summaries import EQUAL_TAILS, PosteriorInterval, posterior_summaries
from dpviz.mechanisms import TwoCellSynthesizer

EXACT_RELEASES = 20_000  # Largest number of distinct releases, sets in any order, that are enumerated
RUNS = argument("runs", 2, 1_000_000, title="simulated releases", integer=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorCoverage:
    """Coverage and mean width of the posterior interval, at each true proportion.

    Where all of the distinct `releases` were enumerated (`exact`) the `coverage_error` is 0; else it is the Monte Carlo
    standard error, and as many releases were simulated at each p.
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
    interval: PosteriorInterval = EQUAL_TAILS,
    generator: np.random.Generator | None = None,
    runs: int = 2000,
) -> PosteriorCoverage:
    """Pr(posterior interval of the release holds p), over the confidential rows and the M independent sets.

    Σ over releases of Pr(x̃_1 … x̃_M | p) 1{p in the interval}, Pr(x̃ | p) = Σ_x Binomial(x; n, p) Π_j T[x, x̃_j]. The
    order of the sets does not matter: up to 20,000 releases are enumerated, beyond them `generator` draws `runs` at
    each p. Equal tails never hold p = 0 or 1. Source: Charest (2011), §4, gives the model, not its coverage.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> found = posterior_coverage(synthesizer=release, proportions=[0.5, 0.9], level=0.5)
    >>> found.coverage.tolist(), found.exact
    ([1.0, 0.0], True)
    """
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    level = LEVEL.validate(level)
    runs = RUNS.validate(runs)
    from scipy.stats import binom  # it takes long to load, and few ask for it

    p, n = along_axis(proportions), synthesizer.n
    summaries = partial(
        posterior_summaries, synthesizer=synthesizer, gamma1=gamma1, gamma2=gamma2, level=level, interval=interval
    )
    exact = math.comb(synthesizer.m + sets, sets) <= EXACT_RELEASES
    if exact:
        counts, log_orders = multisets(synthesizer.m + 1, sets)
        distribution = binom.pmf(np.arange(n + 1)[:, None], n, p)
        chances = release_probabilities(synthesizer, counts, np.exp(log_orders), distribution)
        possible = chances.any(axis=1)
        chances, found = chances[possible], summaries(counts[possible])
        held = np.stack([found.covers(float(value)) for value in p])
        coverage, width = np.minimum(np.einsum("pr,rp->p", held, chances), 1.0), found.width @ chances
        coverage_error, releases = np.zeros(len(p)), len(counts)
    elif generator is None:
        raise ValueError(
            f"generator must be given, a numpy Generator: {sets} sets of {synthesizer.m:,} rows have more than "
            f"{EXACT_RELEASES:,} releases, too many to enumerate; got None."
        )
    else:
        coverage, coverage_error, width = np.empty((3, len(p)))
        for point, value in enumerate(p.tolist()):
            found = summaries(_simulated(synthesizer, value, sets, generator, runs))
            share = Measure.share(int(np.count_nonzero(found.covers(value))), runs)
            coverage[point], coverage_error[point] = share.value, share.error
            width[point] = found.width.mean()
        releases = runs
    return PosteriorCoverage(
        proportions=p,
        coverage=coverage,
        mean_width=width,
        coverage_error=coverage_error,
        releases=releases,
        exact=exact,
    )


def release_probabilities(
    synthesizer: TwoCellSynthesizer, counts: IntArray, ways: FloatArray, distribution: FloatArray
) -> FloatArray:
    """Pr(release r) under each column of `distribution`, Pr(x), shape (n + 1, points); shape (releases, points)."""
    columns = synthesizer.transition_matrix().T.copy()
    chances = np.empty((len(counts), distribution.shape[1]))
    for part in row_blocks(len(counts), len(distribution)):
        given = columns[counts[part, 0]] * ways[part, None]
        for place in range(1, counts.shape[1]):
            given *= columns[counts[part, place]]
        chances[part] = given @ distribution
    return chances


def _simulated(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, generator: np.random.Generator, runs: int
) -> IntArray:
    """Releases drawn from the rows of the matrix, shape (runs, sets)."""
    confidential = generator.binomial(synthesizer.n, p, size=runs)
    released = np.empty((runs, sets), dtype=np.int64)
    for value in np.unique(confidential):
        here = np.flatnonzero(confidential == value)
        released[here] = synthesizer.draw(generator, int(value), (len(here), sets))
    return released
