"""Releases that are repeated: one proportion by any mechanism, and numeric data by any method."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import SetStatistics, half_widths, set_statistics
from dpviz.mechanisms import TwoCellSynthesizer
from tests.reproduction.evidence import SimulationBudget

N_SETS = 10  # of a method that releases several; they share ε
ANALYSIS = Analysis(sets=N_SETS)
BINARY_METHODS = {method.key: method for method in BinaryData.methods if isinstance(method, BinaryMethod)}
N_CELLS = 24
MAX_ROWS, MIN_STUDIES = 40_000_000, 100  # rows drawn for a point, and its repetitions where that is too few
BLOCK_ROWS = 2_000_000  # rows of a set drawn at a time
STANDARD = {"mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0}  # N(0, 1) between its bounds
STUDY_3: dict[str, Any] = {**STANDARD, "n": 1_000, "correlation": 0.5, "cells": N_CELLS}
RULE_ORDER = "rubin_1987", "raghunathan_2003", "reiter_2003", "raab_2017"  # of Liu, from the largest to the smallest T


@lru_cache(maxsize=1024)
def simulate_numeric(
    data: NormalData, method: NumericMethod, epsilon: float, estimands: tuple[str, ...], budget: SimulationBudget,
    sets: int = N_SETS,
) -> dict[str, OutcomeMeasures]:  # fmt: skip
    """Return the measures of each estimand: by Reiter's rule of 2003 for several sets, as if real for one."""
    sets = method.sets(sets)
    rule = ANALYSIS.rule_for(sets).key
    results = NumericStudy(
        data=data, method=method, epsilon=epsilon, sets=sets, estimands=estimands, rules=(rule,),
        repetitions=budget.repetitions, seed=budget.seed,
    ).run()  # fmt: skip
    return {estimand: results.measures(estimand, rule) for estimand in estimands}


def draw_releases(
    mechanism: TwoCellSynthesizer, p: float, sets: int, runs: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, SetStatistics]]:
    """Yield the releases of so many studies, grouped by the confidential count; each study has the same probability."""
    confidential, counts = np.unique(rng.binomial(mechanism.n, p, runs), return_counts=True)
    for x, size in zip(confidential.tolist(), counts.tolist(), strict=True):
        released = mechanism.draw(rng, x, (size, sets)).astype(np.int64)
        yield np.full(size, 1 / runs), set_statistics(mechanism, sets, released.sum(axis=1), (released**2).sum(axis=1))


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """q̄, b and v̄ of every repetition of a study, each from `sets` sets."""

    estimate: FloatArray
    between: FloatArray
    within: FloatArray
    sets: int

    def measures(self, rule: str, truth: float) -> dict[str, Measure]:
        """Measures of a 95 % interval; a negative variance estimate counts as 0 and leaves no interval."""
        total, degrees = COMBINING_RULES[rule].variance_and_degrees(self.between, self.within, sets=self.sets)
        half, deviation = half_widths(total, degrees, 0.95), self.estimate - truth
        with np.errstate(invalid="ignore"):
            covers = (half > 0) & (np.abs(deviation) <= half)
        return {
            "bias": _mean(deviation),
            "root_mean_squared_error": _mean(deviation**2).root(),
            "standard_error": _mean(np.sqrt(np.maximum(total, 0.0))),
            "coverage": Measure.share(int(covers.sum()), len(covers)),
        }


def _mean(values: FloatArray) -> Measure:
    return Measure(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values)))


@lru_cache(maxsize=64)
def simulate_binary(mechanism: TwoCellSynthesizer, p: float, sets: int, budget: SimulationBudget) -> SimulatedStudy:
    """Return a study of one proportion."""
    releases = [part for _, part in draw_releases(mechanism, p, sets, budget.repetitions, budget.generator())]
    estimate, between, within = (
        np.concatenate([getattr(part, name) for part in releases]) for name in ("estimate", "between", "within")
    )
    return SimulatedStudy(estimate, between, within, sets)


@lru_cache(maxsize=64)
def simulate_means(
    data: NormalData, method: NumericMethod, epsilon: float, sets: int, budget: SimulationBudget
) -> SimulatedStudy:
    """Return the study of a normal mean, with fewer repetitions where many sets are drawn."""
    runs = min(budget.repetitions, max(MAX_ROWS // (data.n * sets), MIN_STUDIES))
    rng, parts = budget.generator(), []
    while runs > 0:
        size = min(runs, max(BLOCK_ROWS // data.n, 1))
        released = method.draw(rng, data.draw(rng, size), epsilon, data, sets)
        mean, variance = np.moveaxis(np.array([data.read(rows) for rows in released]), 1, 0)
        parts.append([mean.mean(axis=0), mean.var(axis=0, ddof=1), variance.mean(axis=0) / data.n])
        runs -= size
    estimate, between, within = np.concatenate(parts, axis=1)
    return SimulatedStudy(estimate, between, within, sets)


@lru_cache(maxsize=1024)
def exact_moments(mechanism: TwoCellSynthesizer, p: float) -> tuple[float, float, float, float]:
    """Return E[q̄], Var(E[q̄ | x]), E[b] and E[v̄], exactly: given x the sets are independent."""
    weights, moments = binomial_weights(np.array([p]), mechanism.n)[0], share_moments(mechanism)
    mean = float(weights @ moments.mean)
    within = (moments.mean * (1 - moments.mean) - moments.variance) / mechanism.m
    squares = (moments.mean - mean) ** 2
    return mean, float(weights @ squares), float(weights @ moments.variance), float(weights @ within)


def exact_accuracy(mechanism: TwoCellSynthesizer, p: float, sets: int) -> tuple[float, float]:
    """Return bias and standard deviation of q̄."""
    mean, of_means, between, _ = exact_moments(mechanism, p)
    return mean - p, math.sqrt(of_means + between / sets)


def expected_variance(rule: str, mechanism: TwoCellSynthesizer, p: float, sets: int) -> float:
    """Return T of a combining rule at E[b] and E[v̄]."""
    *_, between, within = exact_moments(mechanism, p)
    return float(COMBINING_RULES[rule].total(np.array(between), np.array(within), sets, 1.0))
