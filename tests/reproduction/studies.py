"""Releases that are repeated: one proportion by any mechanism, and numeric data by any method."""

from collections.abc import Iterator
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
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray
from dpviz.inference.interval_rules import SetStatistics, set_statistics
from dpviz.mechanisms import TwoCellSynthesizer
from tests.reproduction.evidence import SimulationBudget

N_SETS = 10  # of a method that releases several; they share ε
ANALYSIS = Analysis(sets=N_SETS)
BINARY_METHODS = {method.key: method for method in BinaryData.methods if isinstance(method, BinaryMethod)}
N_CELLS = 24
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


@lru_cache(maxsize=1024)
def exact_moments(mechanism: TwoCellSynthesizer, p: float) -> tuple[float, float, float, float]:
    """Return E[q̄], Var(E[q̄ | x]), E[b] and E[v̄], exactly: given x the sets are independent."""
    weights, moments = binomial_weights(np.array([p]), mechanism.n)[0], share_moments(mechanism)
    mean = float(weights @ moments.mean)
    within = (moments.mean * (1 - moments.mean) - moments.variance) / mechanism.m
    squares = (moments.mean - mean) ** 2
    return mean, float(weights @ squares), float(weights @ moments.variance), float(weights @ within)
