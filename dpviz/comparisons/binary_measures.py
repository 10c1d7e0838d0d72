"""What an analyst finds on average from sets of one proportion: moments, coverage and width, exact or simulated."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from dpviz.comparisons.base import Analysis, simulated_share
from dpviz.coverage import CoveragePlan, exact_coverage, performance_of, run_coverage
from dpviz.inference.confidential import released_rows
from dpviz.inference.moments import central_moments
from dpviz.privacy import pure_epsilon
from dpviz.studies import Measure
from dpviz.synthesizers import BetaBinomial, TwoCellSynthesizer
from dpviz.synthesizers.plug_ins import PlugIn
from dpviz.types import FloatArray

Rest = ParamSpec("Rest")
Found = TypeVar("Found")


def kept_for(function: Callable[Concatenate[TwoCellSynthesizer, Rest], Found]) -> Callable[..., Found]:
    """Keep what a function of a synthesizer returns.

    It works on a copy: the synthesizer by which an answer is found again would else hold on to the terms that the work
    makes, 0.6 MB of each at 10,000 rows.
    """

    @lru_cache(maxsize=4096)
    @wraps(function)
    def kept(made: TwoCellSynthesizer, *rest: Rest.args, **named: Rest.kwargs) -> Found:
        return function(dataclasses.replace(made), *rest, **named)

    return kept


class RowMoments(NamedTuple):
    """Mean and variance of a proportion, that in one set or the estimate from all, for each confidential x = 0 … n."""

    mean: FloatArray
    variance: FloatArray

    def of_sets(self, sets: int) -> RowMoments:
        """Return those of the mean of so many independent sets."""
        return RowMoments(self.mean, self.variance / sets)

    def error(self, weights: FloatArray | float, truth: FloatArray | float) -> tuple[float, float]:
        """Return bias and root mean squared error around the truth, x with these weights."""
        away = self.mean - truth
        square = np.sum(weights * (away**2 + self.variance))
        return float(np.sum(weights * away)), math.sqrt(float(square))

    def added(self) -> dict[str, float]:
        """Return the root mean squared distance of one set from x/n by the criteria of `least_error`."""
        squares = (self.mean - np.linspace(0, 1, len(self.mean))) ** 2 + self.variance
        return {"average": math.sqrt(float(squares.mean())), "worst": math.sqrt(float(squares.max()))}


@kept_for
def row_moments(made: TwoCellSynthesizer) -> RowMoments:
    """Return them in closed form where there is one, else as sums over the rows of the matrix.

    >>> found = row_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> round(found.error(0.5, np.array([0.0, 1.0]))[1] ** 2, 12)  # wrong with probability 1/3
    0.333333333333
    """
    closed, every = made.proportion_moments(), np.arange(made.n + 1)
    if closed is not None:
        return RowMoments(*closed)
    if isinstance(made, BetaBinomial | PlugIn):
        found = central_moments(made, every)
        return RowMoments(found.mean, found.second)
    rows, q = released_rows(made, every), np.arange(made.m + 1) / made.m
    mean = rows @ q
    away = q - mean[:, None]
    return RowMoments(mean, np.einsum("ij,ij,ij->i", rows, away, away))


@kept_for
def loss_of(made: TwoCellSynthesizer) -> float:
    """Return the pure ε of one set."""
    return pure_epsilon(made)


@kept_for
def end_masses(made: TwoCellSynthesizer, sets: int) -> FloatArray:
    """Return for each x how probable it is that all sets are zeros, or all are ones."""
    with np.errstate(under="ignore"):
        ends: FloatArray = np.exp(sets * made.log_transition(np.arange(made.n + 1), np.array([0, made.m]))).sum(axis=1)
    ends.setflags(write=False)
    return ends


@kept_for
def exact_interval(made: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float) -> tuple[Measure, Measure]:
    """Return the exact coverage and mean width of the analyst's interval."""
    found = exact_coverage(synthesizer=made, p=p, sets=sets, rule=rule, level=level)
    return Measure(found.coverage, 0.0), Measure(found.mean_width, 0.0)


def simulated_interval(
    made: TwoCellSynthesizer, p: float, sets: int, rule: str, analysis: Analysis
) -> tuple[Measure, Measure]:
    """Return the coverage and mean width of the analyst's interval from a simulation."""
    plan = CoveragePlan(
        synthesizer=made, p=p, sets=sets, rules=(rule,), level=analysis.level, shown=0,
        repetitions=analysis.repetitions, seed=analysis.seed,
    )  # fmt: skip
    seen = performance_of(run_coverage(plan)).rules[rule]
    return simulated_share(seen.coverage, analysis.repetitions), seen.mean_width
