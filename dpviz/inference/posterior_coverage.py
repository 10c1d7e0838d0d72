"""How often the posterior interval holds the true proportion, and how wide it is: its frequentist coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from scipy.stats import binom

from dpviz.analysis import GAMMA_ONES, GAMMA_ZEROS, LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.inference._beta_mixtures import BLOCK
from dpviz.inference.posterior import PosteriorSummaries, posterior_summaries
from dpviz.numerics.multisets import multisets
from dpviz.parameters import Parameter
from dpviz.studies import Measure
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray, IntArray

Kind = Literal["equal_tailed", "highest_density"]
KINDS: tuple[Kind, ...] = ("equal_tailed", "highest_density")

EXACT_RELEASES = 20_000
"""Most distinct releases, sets in any order, that are enumerated."""

RUNS = Parameter(
    name="runs",
    symbol="R",
    title="Simulated releases",
    minimum=2,
    maximum=1_000_000,
    default=2000,
    integer=True,
    scale="log",
    help="The number of releases that are simulated where there are too many to enumerate.",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorCoverage:
    """Coverage and mean width of the posterior interval, at each true proportion.

    Parameters
    ----------
    proportions
        True p, shape (points,).
    coverage
        Pr(interval holds p), shape (points,).
    mean_width
        Expected length of the interval, shape (points,).
    coverage_error, width_error
        Monte Carlo standard errors, shape (points,); 0 where every release was enumerated.
    releases
        Number of distinct releases enumerated, or of releases simulated at each p.
    exact
        Whether every release was enumerated.
    """

    proportions: FloatArray
    coverage: FloatArray
    mean_width: FloatArray
    coverage_error: FloatArray
    width_error: FloatArray
    releases: int
    exact: bool


@checked(proportions=PROPORTION, sets=SETS, gamma1=GAMMA_ONES, gamma2=GAMMA_ZEROS, level=LEVEL, runs=RUNS)
def posterior_coverage(
    *,
    synthesizer: TwoCellSynthesizer,
    proportions: FloatArray | float,
    sets: int = 1,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
    level: float = 0.95,
    kind: Kind = "equal_tailed",
    confidential_count: int | None = None,
    generator: np.random.Generator | None = None,
    runs: int = 2000,
) -> PosteriorCoverage:
    """Pr(posterior interval of the release holds p), over the confidential rows and the M independent sets.

    Σ over releases of Pr(x̃_1 … x̃_M | p) 1{p in the interval}, Pr(x̃ | p) = Σ_x Binomial(x; n, p) Π_j T[x, x̃_j]. The
    order of the sets does not matter, so C(m + M, M) releases are enough; up to 20,000 they are enumerated, beyond they
    are simulated. The posterior interval is not made to cover at each p, but over p drawn from its own prior. Equal
    tails never hold p = 0 or 1; a region of highest density does where the density is highest there, as it is for γ < 1
    unless next to no probability is near.

    Parameters
    ----------
    synthesizer
        The law of one set.
    proportions
        True p, one number or several, 0 to 1.
    sets
        M, 1 to 100.
    gamma1, gamma2
        The analyst's prior, 0.01 to 10⁴.
    level
        Probability of the interval, 0.001 to 0.999999.
    kind
        ``equal_tailed`` or ``highest_density``.
    confidential_count
        x, where it is to be fixed; x ~ Binomial(n, p) where None.
    generator
        Source of random numbers; needed where the releases are too many to enumerate.
    runs
        Releases simulated at each p, 2 to 1,000,000.

    Raises
    ------
    ValueError
        Naming the parameter that is outside its domain, or where `generator` is needed and missing.

    Source: Charest (2011), §4, gives the model; its coverage is not in the paper.

    Examples
    --------
    One row, a flat prior: the half of the law that the interval keeps lies in the middle for either release.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> found = posterior_coverage(synthesizer=release, proportions=[0.5, 0.9], level=0.5)
    >>> found.coverage.tolist(), found.exact
    ([1.0, 0.0], True)
    """
    sets, runs = cast(int, SETS.check(sets)), cast(int, RUNS.check(runs))
    p = np.atleast_1d(np.asarray(proportions, dtype=float))
    if p.ndim != 1 or not p.size or not bool(np.all((p >= 0) & (p <= 1))):
        raise ValueError(f"proportions (true proportion) must be numbers from 0 to 1; got {proportions!r}.")
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    n = synthesizer.n
    if confidential_count is not None and confidential_count not in range(n + 1):
        raise ValueError(
            f"confidential_count must be a whole number from 0 to n = {n:,}, or None; got {confidential_count!r}."
        )

    def summaries(counts: IntArray) -> PosteriorSummaries:
        return posterior_summaries(
            counts, synthesizer=synthesizer, gamma1=gamma1, gamma2=gamma2, level=level,
            highest_density=kind == "highest_density",
        )  # fmt: skip

    if math.comb(synthesizer.m + sets, sets) <= EXACT_RELEASES:
        counts, log_orders = multisets(synthesizer.m + 1, sets)
        if confidential_count is None:
            law = binom.pmf(np.arange(n + 1)[:, None], n, p)
        else:
            law = np.repeat(np.eye(n + 1)[:, [confidential_count]], len(p), axis=1)
        chances = release_probabilities(synthesizer, counts, np.exp(log_orders), law)
        possible = chances.any(axis=1)
        chances, found = chances[possible], summaries(counts[possible])
        held = np.stack([found.covers(float(value)) for value in p])
        none = np.zeros(len(p))
        return PosteriorCoverage(
            proportions=p,
            coverage=np.minimum(np.einsum("pr,rp->p", held, chances), 1.0),
            mean_width=found.width @ chances,
            coverage_error=none,
            width_error=none,
            releases=len(counts),
            exact=True,
        )
    if generator is None:
        raise ValueError(
            f"generator must be given, a numpy Generator: {sets} sets of {synthesizer.m:,} rows have more than "
            f"{EXACT_RELEASES:,} releases, too many to enumerate; got None."
        )
    values = np.empty((4, len(p)))
    for point, value in enumerate(p):
        found = summaries(_simulated(synthesizer, float(value), sets, confidential_count, generator, runs))
        share = Measure.share(int(np.count_nonzero(found.covers(float(value)))), runs)
        values[:, point] = share.value, found.width.mean(), share.error, found.width.std(ddof=1) / math.sqrt(runs)
    return PosteriorCoverage(
        proportions=p, coverage=values[0], mean_width=values[1], coverage_error=values[2], width_error=values[3],
        releases=runs, exact=False,
    )  # fmt: skip


def release_probabilities(
    synthesizer: TwoCellSynthesizer, counts: IntArray, ways: FloatArray, law: FloatArray
) -> FloatArray:
    """Pr(release r) under each law of x (a column of `law`, shape (n + 1, points)), shape (releases, points)."""
    columns = synthesizer.transition_matrix().T.copy()
    chances = np.empty((len(counts), law.shape[1]))
    step = max(1, BLOCK // law.shape[0])
    for start in range(0, len(counts), step):
        block = counts[start : start + step]
        given = columns[block[:, 0]] * ways[start : start + step, None]
        for place in range(1, block.shape[1]):
            given *= columns[block[:, place]]
        chances[start : start + step] = given @ law
    return chances


def _simulated(
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    confidential_count: int | None,
    generator: np.random.Generator,
    runs: int,
) -> IntArray:
    """Releases drawn from the rows of the matrix whatever the law's own way to draw is, shape (runs, sets)."""
    x = generator.binomial(synthesizer.n, p, size=runs) if confidential_count is None else confidential_count
    confidential = np.broadcast_to(x, (runs,))
    released = np.empty((runs, sets), dtype=np.int64)
    for value in np.unique(confidential):
        here = np.flatnonzero(confidential == value)
        released[here] = TwoCellSynthesizer.draw(synthesizer, generator, int(value), (len(here), sets))
    return released
