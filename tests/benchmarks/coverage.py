"""Row C: coverage by simulation against the loop that one would write, one rule, Charest's design."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import t

from dpviz.coverage import CoveragePlan, ExactCoverage, exact_coverage, run_coverage
from dpviz.designs import Design
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from tests.benchmarks.timing import Result, interleaved, seconds

ROWS, P, EPSILON, LEVEL = 100, 0.25, 2.0, 0.95
REPETITIONS, FRACTION = 100_000, 50
"""Repetitions of ours; the loop runs one in `FRACTION` of them and its time is scaled."""

GOAL = 60


def charest(sets: int) -> BetaBinomial:
    alpha = ROWS / math.expm1(EPSILON / sets)
    return BetaBinomial(n=ROWS, m=ROWS, alpha=alpha, beta=alpha)


def loop_coverage(sets: int, repetitions: int, seed: int) -> float:
    """Share of Charest's T* intervals that hold p, one repetition after the other."""
    random, covered = np.random.default_rng(seed), 0
    alpha = ROWS / math.expm1(EPSILON / sets)
    for _ in range(repetitions):
        x = random.binomial(ROWS, P)
        proportions = random.beta(alpha + x, alpha + ROWS - x, size=sets)
        q = random.binomial(ROWS, proportions) / ROWS
        within, between = np.mean(q * (1 - q) / ROWS), np.var(q, ddof=1)
        raised = (1 + 1 / sets) * between
        variance = raised - within if raised >= within else within
        degrees = (sets - 1) * (1 - within / raised) ** 2 if raised > 0 else math.inf
        covered += abs(np.mean(q) - P) <= t.ppf((1 + LEVEL) / 2, degrees) * math.sqrt(variance)
    return covered / repetitions


def our_coverage(sets: int, repetitions: int, seed: int) -> float:
    plan = CoveragePlan(
        synthesizer=charest(sets), p=P, sets=sets, rules=("reiter_2002",), level=LEVEL, repetitions=repetitions,
        seed=seed,
    )  # fmt: skip
    return float(run_coverage(plan).sums["covered"][0]) / repetitions


def cases() -> Iterator[Result]:
    for sets in (2, 10):
        part = REPETITIONS // FRACTION
        theirs, mine = loop_coverage(sets, 5 * part, 1), our_coverage(sets, REPETITIONS, 1)
        if abs(theirs - mine) > 5 * math.sqrt(mine * (1 - mine) / (5 * part)):
            raise AssertionError(f"coverage, M = {sets}: the loop found {theirs}, ours {mine}")
        loop, ours = interleaved(
            lambda sets=sets, part=part: loop_coverage(sets, part, 2),
            lambda sets=sets: our_coverage(sets, REPETITIONS, 2),
        )
        name = f"C coverage by simulation, {REPETITIONS:,} runs, M = {sets}"
        yield Result(name=name, reference=FRACTION * loop, ours=ours, goal=GOAL)


def exact_points() -> Iterator[tuple[int, float, float, float]]:
    """M, ε, milliseconds of one exact coverage, and the bound of its error."""
    for sets in (2, 5, 10):
        for epsilon in (2.0, 250.0):
            release = Design(mechanism="beta_binomial", n=ROWS, m=ROWS, sets=sets, epsilon=epsilon).release

            def point(release: TwoCellSynthesizer = release, sets: int = sets) -> ExactCoverage:
                return exact_coverage(synthesizer=release, p=P, sets=sets, rule="reiter_2002")

            bound = point().error_bound
            yield sets, epsilon, 1e3 * min(seconds(point, 1) for _ in range(3)), bound
