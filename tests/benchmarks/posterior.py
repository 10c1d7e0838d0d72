"""The exact posterior against SciPy's sums for one release after another, and against the sampler it replaces."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, betabinom

from dpviz.inference import posterior_mixture, posterior_summaries
from dpviz.mechanisms import BetaBinomial
from tests.benchmarks.timing import Result, interleaved, seconds

ROWS, EPSILON, RELEASES = 100, 2.0, 1000
TIMED_RELEASES = 20
"""Releases that the references are timed on; their time is proportional to the number."""

SWEEPS, TIMED_SWEEPS = 20_000, 1000
"""Sweeps of a sampler for one release (two chains of 10,000), and sweeps that are timed."""


def scipy_posterior(counts: np.ndarray, n: int, m: int, alpha: float) -> tuple[float, float, float, float]:
    """Mean, variance and interval of one release, as one would write them today."""
    x = np.arange(n + 1)
    weights = np.exp(betabinom.logpmf(counts[:, None], m, alpha + x, alpha + (n - x)).sum(axis=0))
    weights /= weights.sum()
    law = beta(1 + x, 1 + n - x)
    mean = float(weights @ law.mean())
    variance = float(weights @ (law.var() + (law.mean() - mean) ** 2))
    low, high = (brentq(lambda p, q=q: weights @ law.cdf(p) - q, 0, 1, xtol=1e-13) for q in (0.025, 0.975))
    return mean, variance, low, high


def gibbs(counts: np.ndarray, n: int, m: int, alpha: float, sweeps: int) -> np.ndarray:
    """Charest's sampler: Gibbs steps for p and every p̃, a Metropolis step of ±1 for x."""
    random = np.random.default_rng(1)
    x, draws = int(counts.mean() * n / m), np.empty(sweeps)
    for sweep in range(sweeps):
        p = draws[sweep] = random.beta(1 + x, 1 + n - x)
        drawn = random.beta(alpha + x + counts, alpha + (n - x) + m - counts)
        odds = float(np.log(drawn / (1 - drawn)).sum()) + math.log(p / (1 - p))
        moved = x + (1 if random.random() < 0.5 else -1)
        if 0 <= moved <= n:
            change = (moved - x) * odds
            for value, sign in ((moved, 1), (x, -1)):
                change -= sign * (math.lgamma(value + 1) + math.lgamma(n - value + 1))
                change -= sign * len(counts) * (math.lgamma(alpha + value) + math.lgamma(alpha + n - value))
            if math.log(random.random()) < change:
                x = moved
    return draws


def releases(sets: int) -> tuple[BetaBinomial, np.ndarray]:
    alpha = ROWS / math.expm1(EPSILON / sets)
    random = np.random.default_rng(sets)
    drawn = random.beta(alpha + 30, alpha + 70, size=(RELEASES, sets))
    return BetaBinomial(n=ROWS, m=ROWS, alpha=alpha, beta=alpha), random.binomial(ROWS, drawn)


def cases() -> Iterator[Result]:
    """Row D of the table: 1,000 releases of 100 rows, with 1 and 10 sets; then a single large one."""
    for sets, least, least_of_sampler in ((1, 40, 10_000), (10, 40, 10_000)):
        release, counts = releases(sets)
        alpha, few = release.alpha, counts[:TIMED_RELEASES]
        found = posterior_summaries(few, synthesizer=release)
        ours = np.column_stack([found.mean, found.variance, found.low, found.high])
        true = np.array([scipy_posterior(row, ROWS, ROWS, alpha) for row in few])
        if np.abs(ours - true).max() > 1e-10:
            raise AssertionError("posterior: the two implementations disagree")
        reference, vectorised = interleaved(
            lambda few=few, alpha=alpha: [scipy_posterior(row, ROWS, ROWS, alpha) for row in few],
            lambda counts=counts, release=release: posterior_summaries(counts, synthesizer=release),
        )
        scale = RELEASES / TIMED_RELEASES
        name = f"posterior and interval, 1,000 releases, M = {sets}"
        yield Result(name=name, reference=scale * reference, ours=vectorised, goal=least)
        sweeps = seconds(lambda row=few[0], alpha=alpha: gibbs(row, ROWS, ROWS, alpha, TIMED_SWEEPS), 3)
        sampler = RELEASES * SWEEPS / TIMED_SWEEPS * sweeps
        name = f"  against a Gibbs sampler of {SWEEPS:,} sweeps"
        yield Result(name=name, reference=sampler, ours=vectorised, goal=least_of_sampler)
    large, alpha = 10_000, 10_000 / math.expm1(1.0)
    count = np.array([3000, 3100])
    design = {"n": large, "m": large, "alpha": alpha, "beta": alpha}
    reference, ours_once = interleaved(
        lambda: scipy_posterior(count, large, large, alpha),
        lambda: posterior_mixture(synthetic_counts=count, **design).interval(),
    )
    yield Result(name="posterior interval, n = m = 10,000, M = 2", reference=reference, ours=ours_once, goal=6)
