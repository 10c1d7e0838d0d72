"""What is exact of releases of counts, or simulated where sums take long: moments, losses, intervals, worst cases."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dpviz.comparisons.analysis import INTERVAL_MEASURES, Analysis, mean_width_or_inf
from dpviz.core.monte_carlo import Measure, zero_if_rounding
from dpviz.core.numerics.binomial_averages import evaluator
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray
from dpviz.coverage import CoveragePlan, exact_coverage, performance_of, run_coverage
from dpviz.coverage.release_distribution import exact_work
from dpviz.coverage.worst_case import Extreme, knows_jumps, largest_mean_width, minimize_over_p, smallest_coverage
from dpviz.inference.interval_rules import IntervalRule, set_statistics
from dpviz.inference.moments import release_moments
from dpviz.inference.posterior_coverage import release_probabilities
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import release_sums
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy import pure_epsilon

MAX_EXACT_WORK = 16_000_000  # entries of the sums for an interval, about 0.8 s; beyond it is simulated

Result = TypeVar("Result")


def cached_on_copy(maxsize: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Cache a function of a synthesizer without the terms that the caller's object holds (0.6 MB at n = 10⁴)."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @lru_cache(maxsize=maxsize)
        @wraps(function)
        def on_copy(synthesizer: TwoCellSynthesizer, *args: Any, **kwargs: Any) -> Result:
            return function(dataclasses.replace(synthesizer), *args, **kwargs)

        return on_copy

    return decorate


# Moments of an estimate


class Moments(NamedTuple):
    """Mean and variance of an estimated share of yes for each confidential count x = 0 … n."""

    mean: FloatArray
    variance: FloatArray

    def of_sets(self, sets: int) -> Moments:
        """Moments of the mean of independent sets."""
        return Moments(self.mean, self.variance / sets)

    def errors(self, p: float) -> tuple[float, float]:
        """Bias and RMSE, x having the binomial distribution around the true share p."""
        weights = binomial_weights(np.array([p]), len(self.mean) - 1)[0]
        away = self.mean - p
        bias = zero_if_rounding(float(weights @ away), float(weights @ np.abs(away)), p)
        return bias, math.sqrt(weights @ (away**2 + self.variance))

    def release_error(self) -> dict[str, float]:
        """Root mean squared distance from x/n, on average over x = 0 … n and at the worst x."""
        squares = (self.mean - np.linspace(0, 1, len(self.mean))) ** 2 + self.variance
        return {"average": math.sqrt(float(squares.mean())), "worst": math.sqrt(float(squares.max()))}


@cached_on_copy(maxsize=256)
def share_moments(synthesizer: TwoCellSynthesizer) -> Moments:
    """Moments of the share of yes in one set.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> moments = share_moments(BetaBinomial(n=1, m=1, alpha=1, beta=1))
    >>> round(moments.release_error()["average"] ** 2, 12)  # wrong with probability 1/3
    0.333333333333
    """
    return Moments(*release_moments(synthesizer, np.arange(synthesizer.n + 1)))


@cached_on_copy(maxsize=256)
def estimate_moments(synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> Moments:
    """Moments of what an analyst takes for the proportion.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of one set.
    sets : int
    rule : IntervalRule
        That the analyst uses: its own estimate for the sum of the counts, if it has one and the table of the sum is not
        too large. A noise-aware one removes the average effect of the prior: (q̄ − a)/b where E[q̄ | x] = a + b x/n,
        which may leave 0 to 1. Otherwise it is q̄.
    """
    is_small = (synthesizer.n + 1) * (sets * synthesizer.m + 1) <= 2_000_000
    if rule.estimates is not None and is_small and rule.is_feasible(synthesizer, sets):
        sums = release_sums(synthesizer, sets)
        estimates = rule.estimates(sums)
        mean = sums.rows @ estimates
        return Moments(mean, np.einsum("xs,xs->x", sums.rows, (estimates - mean[:, None]) ** 2))
    moments = share_moments(synthesizer).of_sets(sets)
    line = synthesizer.line_of_means() if rule.is_noise_aware else None
    if line is None:
        return moments
    return Moments(np.linspace(0, 1, synthesizer.n + 1), moments.variance / line[1] ** 2)


set_loss = cached_on_copy(maxsize=2048)(pure_epsilon)
"""Pure ε of one set."""


@cached_on_copy(maxsize=256)
def end_masses(synthesizer: TwoCellSynthesizer, sets: int) -> FloatArray:
    """Probability for each x that all sets hold no yes, or all hold nothing else, shape (n + 1,).

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of one set.
    sets : int
        M.
    """
    ends = np.array([0, synthesizer.m])
    with np.errstate(under="ignore"):
        masses: FloatArray = np.exp(sets * synthesizer.log_transition(np.arange(synthesizer.n + 1), ends)).sum(axis=1)
    masses.setflags(write=False)
    return masses


# Intervals


@cached_on_copy(maxsize=4096)
def interval_measures(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, analysis: Analysis, is_clipped: bool
) -> tuple[Measure, Measure]:
    """Coverage and mean width of an interval, or of its part in [0, 1]: exact, or simulated where the sums take long.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of one set.
    p : float
    sets : int
    rule : str
    analysis : Analysis
        Its sets and rule do not count.
    is_clipped : bool
    """
    # Simulated, where the sums take long; of p = 0 and 1 all entries are outcomes, each with quantiles of its own
    work = exact_work(synthesizer, p=p, sets=sets, sums_only=RULES[rule].is_noise_aware)
    if work > (MAX_EXACT_WORK if 0 < p < 1 else MAX_EXACT_WORK / 8):
        plan = CoveragePlan(
            synthesizer=synthesizer, p=p, sets=sets, rules=(rule,), level=analysis.level, shown=0,
            repetitions=analysis.repetitions, seed=analysis.seed,
        )  # fmt: skip
        performance = performance_of(run_coverage(plan)).rules[rule]
        simulated = performance.mean_width_inside if is_clipped else performance.mean_width
        error = max(simulated.error, np.finfo(float).tiny)  # which is 0 of exact measures alone
        return performance.coverage, dataclasses.replace(simulated, error=error)

    # Exact; a mean width that unlikely releases make as large as they like is listed if they are few
    exact = exact_coverage(synthesizer=synthesizer, p=p, sets=sets, rule=rule, level=analysis.level)
    width = exact.mean_width_inside if is_clipped else exact.mean_width
    if not is_clipped and RULES[rule].has_unbounded_width:
        width = _listed_width(synthesizer, p, sets, rule, analysis.level)
    return _sum(exact.coverage, exact.error_bound), _sum(width, exact.error_bound * (1 + abs(width)))


def _listed_width(synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float) -> float:
    """Mean width over every release one by one; infinite where they are many, or where it says nothing."""
    n, m = synthesizer.n, synthesizer.m
    if math.comb(m + sets, sets) * (n + 1) > 200_000:
        return math.inf
    members, log_orders = multisets(m + 1, sets)
    weights = binomial_weights(np.array([p]), n).T
    probability = release_probabilities(synthesizer, members, np.exp(log_orders), weights)[:, 0]
    statistics = set_statistics(synthesizer, sets, members.sum(axis=1), (members**2).sum(axis=1))
    low, high = RULES[rule].ends(statistics, level)
    exists = ~np.isnan(low) & (probability > 0)
    if not exists.any():
        return math.nan
    width = float(probability[exists] @ (high - low)[exists] / probability[exists].sum())
    return mean_width_or_inf(Measure(width, 0.0)).value


def _sum(value: float, error_bound: float) -> Measure:
    """Exact number with the bound of its error where that is more than rounding, and reaches digits that are shown."""
    negligible = min(1e-10, 1e-5 * abs(value))
    return Measure(value, 0.0, within=error_bound if negligible < error_bound < math.inf else 0.0)


# Worst cases over a range of p


@cached_on_copy(maxsize=1024)
def worst_measure(
    synthesizer: TwoCellSynthesizer, measure: str, sets: int, rule: IntervalRule, level: float, low: float, high: float,
    thorough: bool = False,
) -> Extreme | None:  # fmt: skip
    """Worst of a measure over a range of p; None where it is not computed.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of one set.
    measure : str
    sets : int
    rule : IntervalRule
    level, low, high, thorough
        As in `DataKind.worst`.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> worst = worst_measure(release, "bias", 1, RULES["as_if_real"], 0.95, 0.25, 0.5)
    >>> round(worst.value, 12), worst.at  # (1 + p)/3 − p
    (0.166666666667, 0.25)
    >>> worst = worst_measure(release, "root_mean_squared_error", 1, RULES["as_if_real"], 0.95, 0.0, 0.5)
    >>> round(worst.value**2, 12), worst.at  # one third at every p
    (0.333333333333, 0.0)
    """
    if measure in INTERVAL_MEASURES:
        if not (thorough or knows_jumps(synthesizer, sets, rule)):
            return None
        extreme = smallest_coverage if measure == "coverage" else largest_mean_width
        try:
            return extreme(synthesizer, sets=sets, rule=rule.key, level=level, low=low, high=high)
        except ValueError:  # too many releases, or almost none of them has an interval
            return None
    if measure not in ("bias", "root_mean_squared_error"):
        return None
    moments = estimate_moments(synthesizer, sets, rule)
    averages = evaluator(np.column_stack([moments.mean**2 + moments.variance, moments.mean]), low, high)

    def negative(p: FloatArray) -> FloatArray:
        square, mean = averages(p).T
        return -np.abs(mean - p) if measure == "bias" else -(square - 2 * p * mean + p**2)

    # The value once more, and at both ends, to the last digits, which the averages do not have
    at = minimize_over_p(negative, low, high).at
    column = 0 if measure == "bias" else 1
    return Extreme(max(abs(moments.errors(p)[column]) for p in (at, low, high)), at)
