"""Simulated coverage, posteriors and normal data against loops over releases, and against their random numbers."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, betabinom, t

from dpviz.comparisons import KnownVariance, NumericStudy, UnknownVariance
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import MODIPS_MEAN, MODIPS_SPLIT
from dpviz.coverage import CoveragePlan, run_coverage
from dpviz.inference import posterior_summaries
from dpviz.mechanisms import BetaBinomial
from tests.benchmarks.timing import Result, interleaved

ROWS, EPSILON = 100, 2.0  # of Charest's design
P, LEVEL = 0.25, 0.95
REPETITIONS, TIMED_REPETITIONS = 100_000, 2_000
"""Repetitions of ours; the loop runs fewer and its time is scaled."""

RELEASES, TIMED_RELEASES = 1_000, 20
"""Releases that posteriors are computed of; the reference is timed on fewer, and its time is scaled."""

NORMAL = {"mean": 0.0, "sigma": 1.0, "low": -3.0, "high": 4.0}
NORMAL_SETS = 10
BLOCK_SIZE = 65_536  # random numbers that are drawn at once


def charest(sets: int) -> BetaBinomial:
    alpha = ROWS / math.expm1(EPSILON / sets)
    return BetaBinomial(n=ROWS, m=ROWS, alpha=alpha, beta=alpha)


def loop_coverage(sets: int, repetitions: int, seed: int) -> float:
    """Share of Charest's T* intervals that hold p, one repetition after the other."""
    random, n_covered = np.random.default_rng(seed), 0
    alpha = charest(sets).alpha
    for _ in range(repetitions):
        x = random.binomial(ROWS, P)
        proportions = random.beta(alpha + x, alpha + ROWS - x, size=sets)
        q = random.binomial(ROWS, proportions) / ROWS
        raised, within = (1 + 1 / sets) * np.var(q, ddof=1), np.mean(q * (1 - q)) / ROWS
        variance = raised - within if raised > within else within
        degrees = (sets - 1) * (1 - within / raised) ** 2 if raised > 0 else math.inf
        n_covered += abs(np.mean(q) - P) <= t.ppf((1 + LEVEL) / 2, degrees) * math.sqrt(variance)
    return n_covered / repetitions


def our_coverage(sets: int, seed: int) -> float:
    plan = CoveragePlan(
        synthesizer=charest(sets), p=P, sets=sets, rules=("reiter_2002",), level=LEVEL, repetitions=REPETITIONS,
        seed=seed,
    )  # fmt: skip
    return float(run_coverage(plan).sums["covered"][0]) / REPETITIONS


def coverage_rows() -> Iterator[Result]:
    for sets in (2, 10):
        expected, actual = loop_coverage(sets, 5 * TIMED_REPETITIONS, 1), our_coverage(sets, 1)
        if abs(expected - actual) > 5 * math.sqrt(actual * (1 - actual) / (5 * TIMED_REPETITIONS)):
            raise AssertionError(f"coverage, M = {sets}: the loop found {expected}, ours {actual}")
        loop, ours = interleaved(
            lambda sets=sets: loop_coverage(sets, TIMED_REPETITIONS, 2), lambda sets=sets: our_coverage(sets, 2)
        )
        name = f"coverage by simulation, {REPETITIONS:,} runs, M = {sets}"
        yield Result(name=name, reference=REPETITIONS / TIMED_REPETITIONS * loop, ours=ours, goal=60)


def scipy_posterior(counts: np.ndarray, alpha: float) -> tuple[float, float, float, float]:
    """Mean, variance and interval of one release, as one would write them today."""
    x = np.arange(ROWS + 1)
    weights = np.exp(betabinom.logpmf(counts[:, None], ROWS, alpha + x, alpha + (ROWS - x)).sum(axis=0))
    weights /= weights.sum()
    law = beta(1 + x, 1 + ROWS - x)
    mean = float(weights @ law.mean())
    variance = float(weights @ (law.var() + (law.mean() - mean) ** 2))
    low, high = (brentq(lambda p, q=q: weights @ law.cdf(p) - q, 0, 1, xtol=1e-13) for q in (0.025, 0.975))
    return mean, variance, low, high


def posterior_rows() -> Iterator[Result]:
    for sets in (1, 10):
        release, random = charest(sets), np.random.default_rng(sets)
        proportions = random.beta(release.alpha + 30, release.alpha + 70, size=(RELEASES, sets))
        counts = random.binomial(ROWS, proportions)
        timed = counts[:TIMED_RELEASES]
        summaries = posterior_summaries(timed, synthesizer=release)
        ours = np.column_stack([summaries.mean, summaries.variance, summaries.low, summaries.high])
        expected = np.array([scipy_posterior(row, release.alpha) for row in timed])
        if np.abs(ours - expected).max() > 1e-10:
            raise AssertionError("posterior: the two implementations disagree")
        reference, vectorised = interleaved(
            lambda timed=timed, alpha=release.alpha: [scipy_posterior(row, alpha) for row in timed],
            lambda counts=counts, release=release: posterior_summaries(counts, synthesizer=release),
        )
        name = f"posterior and interval, {RELEASES:,} releases, M = {sets}"
        yield Result(name=name, reference=RELEASES / TIMED_RELEASES * reference, ours=vectorised, goal=40)


def normal_study(data: NormalData, method: NumericMethod, repetitions: int) -> float:
    study = NumericStudy(data=data, method=method, epsilon=1.0, sets=NORMAL_SETS, repetitions=repetitions, seed=1)
    return study.run().measures("mean", "reiter_2003").coverage.value


def draw_random_numbers(n: int, repetitions: int, with_variance: bool) -> None:
    """Draw what a study needs, and nothing else: the rows, and the noise and parameters of each set."""
    random, block = np.random.default_rng(1), np.empty(BLOCK_SIZE)
    for _ in range(math.ceil(repetitions * n * (NORMAL_SETS + 1) / BLOCK_SIZE)):
        random.standard_normal(out=block)
    for _ in range(repetitions // 500):
        random.laplace(size=(1 + with_variance) * 500 * NORMAL_SETS)
        random.standard_normal(500 * NORMAL_SETS)
        if with_variance:
            random.chisquare(n - 1, 500 * NORMAL_SETS)


def normal_rows() -> Iterator[Result]:
    for n, repetitions in ((10, 20_000), (100, 5_000), (1000, 1_000)):
        for kind, method in ((KnownVariance, MODIPS_MEAN), (UnknownVariance, MODIPS_SPLIT)):
            data = kind(n=n, **NORMAL)
            numbers, ours = interleaved(
                lambda data=data, repetitions=repetitions: draw_random_numbers(
                    data.n, repetitions, isinstance(data, UnknownVariance)
                ),
                lambda data=data, method=method, repetitions=repetitions: normal_study(data, method, repetitions),
            )
            name = f"{kind.__name__}, n = {n}, against its random numbers"
            yield Result(name=name, reference=numbers, ours=ours, goal=2, at_most=True)
