"""What an analyst finds from sets of one proportion: on average, exact or simulated, and at its worst over a range."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from dpviz.comparisons.base import Analysis, beyond_rounding, meant_width
from dpviz.core.cache import Memo
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray
from dpviz.coverage import CoveragePlan, coverage_by_proportion, exact_coverage, performance_of, run_coverage
from dpviz.coverage.worst_case import Extreme, knows_jumps, largest_mean_width, minimize_over_p, smallest_coverage
from dpviz.inference.confidential import binomial_distribution
from dpviz.inference.interval_rules import IntervalRule, set_statistics
from dpviz.inference.moments import release_moments
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import matrix_rows, release_sums
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.plug_ins import PlugIn
from dpviz.privacy import pure_epsilon

LISTED = 200_000  # Releases, times confidential counts, that are listed one by one
ROUNDING_OF_SUMS = 1e-10  # Bound of the error of a sum up to which it is nothing but rounding
SHOWN_PRECISION = 1e-5  # The same relative to the sum: it leaves the digits that are shown
FEW_SUMS = 2_000_000  # Numbers of the distribution of the sum up to which an estimate from it comes at once
INTERVALS = Memo[tuple[Measure, Measure]](maxsize=2048)
"""Results of `exact_interval` by its arguments; one table gives those of several true proportions."""
Rest = ParamSpec("Rest")
Computed = TypeVar("Computed")


def cached_on_copy(
    maxsize: int,
) -> Callable[[Callable[Concatenate[TwoCellSynthesizer, Rest], Computed]], Callable[..., Computed]]:
    """Cache the results of a function of a synthesizer, as `functools.lru_cache` does.

    It works on a copy: the synthesizer of the caller, which becomes a key, would otherwise hold on to the terms that
    the work makes, 0.6 MB of each at 10,000 rows.
    """

    def decorate(function: Callable[Concatenate[TwoCellSynthesizer, Rest], Computed]) -> Callable[..., Computed]:
        @lru_cache(maxsize=maxsize)
        @wraps(function)
        def on_copy(made: TwoCellSynthesizer, *rest: Rest.args, **named: Rest.kwargs) -> Computed:
            return function(dataclasses.replace(made), *rest, **named)

        return on_copy

    return decorate


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
        square, spread = np.sum(weights * (away**2 + self.variance)), float(np.sum(weights * np.abs(away)))
        bias = beyond_rounding(float(np.sum(weights * away)), spread, float(np.max(truth)))
        return bias, math.sqrt(float(square))

    def errors(self, weights: FloatArray, truths: FloatArray) -> FloatArray:
        """Return `error` at several truths, in rows, each with its row of `weights`."""
        away = self.mean - truths[:, None]
        spread, bias = (weights * np.abs(away)).sum(axis=1), (weights * away).sum(axis=1)
        square = (weights * (away**2 + self.variance)).sum(axis=1)
        beyond = [beyond_rounding(*one) for one in zip(bias.tolist(), spread.tolist(), truths.tolist(), strict=True)]
        return np.column_stack([beyond, np.sqrt(square)])

    def added(self) -> dict[str, float]:
        """Return the root mean squared distance of one set from x/n by the criteria of `least_error`."""
        squares = (self.mean - np.linspace(0, 1, len(self.mean))) ** 2 + self.variance
        return {"average": math.sqrt(float(squares.mean())), "worst": math.sqrt(float(squares.max()))}


@cached_on_copy(maxsize=256)
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
        found = release_moments(made, every)
        return RowMoments(found.mean, found.variance)
    rows, q = matrix_rows(made, every), np.arange(made.m + 1) / made.m
    mean = rows @ q
    away = q - mean[:, None]
    return RowMoments(mean, np.einsum("ij,ij,ij->i", rows, away, away))


@cached_on_copy(maxsize=2048)
def loss_of(made: TwoCellSynthesizer) -> float:
    """Return the pure ε of one set."""
    return pure_epsilon(made)


@cached_on_copy(maxsize=256)
def end_masses(made: TwoCellSynthesizer, sets: int) -> FloatArray:
    """Return for each x how probable it is that all sets are zeros, or all are ones."""
    with np.errstate(under="ignore"):
        ends: FloatArray = np.exp(sets * made.log_transition(np.arange(made.n + 1), np.array([0, made.m]))).sum(axis=1)
    ends.setflags(write=False)
    return ends


def exact_interval(
    made: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float, inside: bool
) -> tuple[Measure, Measure]:
    """Return the exact coverage and mean width of the analyst's interval, or of its part `inside` 0 to 1.

    A mean width of which no bound is known, as releases too unlikely to count have intervals without end, is summed
    over all of them where they are few, else infinite.
    """
    key = (made, p, sets, rule, level, inside)
    return INTERVALS.get_or_compute(
        key, lambda: _exact_interval(dataclasses.replace(made), p, sets, rule, level, inside)
    )


def _exact_interval(
    made: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float, inside: bool
) -> tuple[Measure, Measure]:
    found = exact_coverage(synthesizer=made, p=p, sets=sets, rule=rule, level=level)
    width = found.mean_width_inside if inside else found.mean_width
    if not inside and RULES[rule].has_unbounded_width:
        width = _listed_width(made, p, sets, rule, level)
    return _summed(found.coverage, found.error_bound), _summed(width, found.error_bound * (1 + abs(width)))


def share_intervals(
    made: TwoCellSynthesizer, proportions: Sequence[float], sets: int, rule: IntervalRule, level: float
) -> None:
    """Compute `exact_interval` inside 0 to 1 at several true proportions, from one table of all releases, if small.

    There is one for one or two sets, or of the sums; for more sets each proportion has transforms of its own.
    """
    if len(proportions) < 2 or not knows_jumps(made, sets, rule):
        return
    curves = coverage_by_proportion(
        made, proportions=proportions, sets=sets, rules=[rule.key], level=level, with_lengths=True
    )
    values = zip(proportions, curves.coverage[0].tolist(), curves.mean_width_inside[0].tolist(), strict=True)
    for p, coverage, width in values:
        measures = _summed(coverage, curves.error_bound), _summed(width, 2 * curves.error_bound)
        INTERVALS.put((made, p, sets, rule.key, level, True), measures)


def _listed_width(made: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float) -> float:
    """The mean width over every release one by one; infinite where they are many, or where it says nothing."""
    if math.comb(made.m + sets, sets) * (made.n + 1) > LISTED:
        return math.inf
    members, log_orders = multisets(made.m + 1, sets)
    rows = made.log_transition(np.arange(made.n + 1), np.arange(made.m + 1))
    with np.errstate(under="ignore"):
        chances = binomial_distribution(made.n, p) @ np.exp(rows[:, members].sum(axis=2) + log_orders)
    low, high = RULES[rule].ends(set_statistics(made, sets, members.sum(axis=1), (members**2).sum(axis=1)), level)
    some = ~np.isnan(low) & (chances > 0)
    width = float(chances[some] @ (high - low)[some] / chances[some].sum()) if some.any() else math.nan
    return meant_width(Measure(width, 0.0)).value


def _summed(value: float, error_bound: float) -> Measure:
    """A sum with a bound of its error, where that is more than rounding: of the sum, or of a small number's digits."""
    noticed = min(ROUNDING_OF_SUMS, SHOWN_PRECISION * abs(value))
    return Measure(value, 0.0, within=error_bound if noticed < error_bound < math.inf else 0.0)


def simulated_interval(
    made: TwoCellSynthesizer, p: float, sets: int, rule: str, analysis: Analysis, inside: bool
) -> tuple[Measure, Measure]:
    """Return the coverage and mean width of the analyst's interval, or of its part inside 0 to 1, from a simulation."""
    plan = CoveragePlan(
        synthesizer=made,
        p=p,
        sets=sets,
        rules=(rule,),
        level=analysis.level,
        shown=0,
        repetitions=analysis.repetitions,
        seed=analysis.seed,
    )
    seen = performance_of(run_coverage(plan)).rules[rule]
    width = seen.mean_width_inside if inside else seen.mean_width
    # Where all repetitions have the same width, as where all intervals hold 0 to 1, another one is not impossible.
    return seen.coverage, dataclasses.replace(width, error=max(width.error, 1 / analysis.repetitions))


def estimate_moments(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
    """Return the mean and variance, for x = 0 … n, of what an analyst who uses this rule takes for the proportion.

    That is the rule's own estimate for the sum of the counts, where it has one. Who knows how the sets were made takes
    back what the prior adds on average: (q̄ − a)/b where E[q̄ | x] = a + b x/n, which may leave 0 to 1. Else it is q̄.
    """
    few = (made.n + 1) * (sets * made.m + 1) <= FEW_SUMS
    if rule.estimates is not None and few and rule.is_feasible(made, sets):
        return _moments_by_sum(made, sets, rule)
    of_mean, line = row_moments(made).of_sets(sets), made.line_of_means() if rule.is_noise_aware else None
    if line is None:
        return of_mean
    return RowMoments(np.linspace(0, 1, made.n + 1), of_mean.variance / line[1] ** 2)


@lru_cache(maxsize=64)
def _moments_by_sum(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
    """Σ_s Pr(s | x) (estimate of s) for x = 0 … n, and the variance."""
    assert rule.estimates is not None
    sums = release_sums(made, sets)
    estimates = rule.estimates(sums)
    mean = sums.rows @ estimates
    return RowMoments(mean, np.einsum("xs,xs->x", sums.rows, (estimates - mean[:, None]) ** 2))


@cached_on_copy(maxsize=1024)
def worst_of(
    made: TwoCellSynthesizer,
    measure: str,
    sets: int,
    rule: IntervalRule,
    level: float,
    low: float,
    high: float,
    *,
    thorough: bool = False,
) -> Extreme | None:
    """Return the worst of a measure for p from `low` to `high`; None where it takes long.

    `measure` is the name of a field of `Outcome`, and a bias has no sign. Where a table of all releases is too large it
    takes up to some seconds, and is done where a `thorough` answer is asked for alone.
    """
    if measure in FROM_MOMENTS:
        return FROM_MOMENTS[measure](made, sets, rule, low, high)
    if measure not in FROM_RELEASES or not (thorough or knows_jumps(made, sets, rule)):
        return None
    try:
        return FROM_RELEASES[measure](made, sets=sets, rule=rule.key, level=level, low=low, high=high)
    except ValueError:  # too many releases, or almost none of them has an interval
        return None


def worst_bias(made: TwoCellSynthesizer, sets: int, rule: IntervalRule, low: float, high: float) -> Extreme:
    """Largest |E[q] − p| found for p from `low` to `high`.

    >>> extreme = worst_bias(BetaBinomial(n=1, m=1, alpha=1, beta=1), 1, RULES["as_if_real"], 0.25, 0.5)
    >>> round(extreme.value, 12), extreme.at  # (1 + p)/3 − p
    (0.166666666667, 0.25)
    """
    mean = estimate_moments(made, sets, rule).mean
    extreme = minimize_over_p(lambda p: -np.abs(binomial_weights(p, made.n) @ mean - p), low, high)
    return Extreme(-extreme.value, extreme.at)


def worst_error(made: TwoCellSynthesizer, sets: int, rule: IntervalRule, low: float, high: float) -> Extreme:
    """Largest √E[(q − p)²] found for p from `low` to `high`.

    >>> extreme = worst_error(BetaBinomial(n=1, m=1, alpha=1, beta=1), 1, RULES["as_if_real"], 0.0, 0.5)
    >>> round(extreme.value**2, 12), extreme.at  # one third at every p
    (0.333333333333, 0.0)
    """
    moments = estimate_moments(made, sets, rule)
    squares = moments.mean**2 + moments.variance

    def negative_square(p: FloatArray) -> FloatArray:
        weights = binomial_weights(p, made.n)
        return -(weights @ squares - 2 * p * (weights @ moments.mean) + p**2)

    extreme = minimize_over_p(negative_square, low, high)
    return Extreme(math.sqrt(max(-extreme.value, 0.0)), extreme.at)


FROM_MOMENTS = {"bias": worst_bias, "root_mean_squared_error": worst_error}
FROM_RELEASES = {"coverage": smallest_coverage, "mean_width": largest_mean_width}
