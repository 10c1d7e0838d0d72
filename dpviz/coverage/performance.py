"""What a simulation says about an estimator and its intervals: every measure with its Monte Carlo standard error."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpviz.core.monte_carlo import Measure, wilson_interval
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage.simulation import CoveragePlan, RuleTally, ShownRuns, Tally
from dpviz.coverage.studies import run_study
from dpviz.inference.interval_rules import IntervalRule, contains
from dpviz.inference.rules import RULES


@dataclass(frozen=True, kw_only=True)
class RulePerformance:
    """How one rule did; T is its variance of q̄, and what needs it is NaN for a rule that has none.

    `coverage`, `negative_variance_share`, `vacuous_share`, `mean_width_inside`: As in `ExactCoverage`, but from the
    repetitions; so are those given T_M < 0 and T_M ≥ 0.
    `coverage_low`, `coverage_high`: Wilson's 95 % interval for the coverage: the error bar to draw, as the error √(c(1
    − c)/R) is 0 at 0 and 1.
    `mean_width`: Mean width over the repetitions that have an interval. Rules with ν = (M − 1)(1 − 1/r)² have an
    expected width that releases make which no simulation meets: for them the error is infinite, or NaN where the mean
    itself is infinite because an interval is wider than 1e100.
    `relative_error`, `relative_bias`: 100 (√E[T] / √Var(q̄) − 1) and 100 (E[T] / Var(q̄) − 1), in per cent: Charest's
    Table 2 has the second.
    """

    coverage: Measure
    coverage_low: float
    coverage_high: float
    negative_variance_share: Measure
    vacuous_share: Measure
    coverage_given_negative_total: Measure
    coverage_given_nonnegative_total: Measure
    mean_width: Measure
    mean_width_inside: Measure
    relative_error: Measure
    relative_bias: Measure


@dataclass(frozen=True, kw_only=True)
class Performance:
    """How q̄ and the intervals of each rule, by its key, did: E[q̄] − p, √Var(q̄), E[(q̄ − p)²], Pr(T_M < 0)."""

    repetitions: int
    bias: Measure
    empirical_error: Measure
    mean_square_error: Measure
    negative_total_share: Measure
    rules: dict[str, RulePerformance]


class _Spread(NamedTuple):
    """Moments of d = q̄ − p: mean, variance with divisor R − 1, and the sampling variance of that times R."""

    mean: float
    variance: float
    of_variance: float


def performance_of(tally: Tally) -> Performance:
    """Return the performance measures of Morris, White & Crowther, each with its Monte Carlo standard error.

    With d = q̄ − p, T the variance of a rule, R repetitions and V = Var(q̄): the error of a mean is the standard
    deviation over √R; of a share c, √(c(1 − c)/R). Measures that involve V take its error from the fourth moment,
    Var(V̂) = (μ₄ − V²)/R, where Table 6 supposes a normal q̄ (then it is 2V²/R), and ratios E[T]/V take the covariance
    of T and (d − E[d])² with them, where Table 6 supposes that there is none. All by the delta method. From a single
    repetition, whatever needs a variance is NaN.

    Source: Morris, White & Crowther (2019), Table 6; Charest (2011), Table 2, for the relative bias.

    Both sets release 0 for p = 1/2 and x = 0: the estimate is always 0, and no interval has a width.

    >>> from dpviz.coverage.simulation import CoveragePlan
    >>> from dpviz.coverage.studies import run_study
    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> plan = CoveragePlan(synthesizer=GeometricSanitizer(n=5, epsilon=1000), p=0.5, sets=2, rules=("rubin_1987",),
    ...                     repetitions=100, seed=1, confidential_count=0)
    >>> found = performance_of(run_study(plan))
    >>> found.bias, found.rules["rubin_1987"].coverage == Measure(value=0.0, error=1 / 101)
    (Measure(value=-0.5, error=0.0), True)
    """
    repetitions = tally.repetitions
    totals = np.flatnonzero(tally.totals)
    counts = tally.totals[totals]
    deviations = totals / (len(tally.totals) - 1) - tally.plan.p
    mean = float(counts @ deviations) / repetitions
    squares = (deviations - mean) ** 2
    uneven = float(counts @ (squares - counts @ squares / repetitions) ** 2) / repetitions
    spread = _Spread(mean, _variance(squares, counts), uneven)
    variance = Measure(spread.variance, math.sqrt(uneven / repetitions) if repetitions > 1 else math.nan)
    mean_square = float(counts @ deviations**2) / repetitions
    deviation_of_squares = _variance((deviations**2 - mean_square) ** 2, counts)
    return Performance(
        repetitions=repetitions,
        bias=Measure(mean, math.sqrt(spread.variance / repetitions)),
        empirical_error=variance.root(),
        mean_square_error=Measure(mean_square, math.sqrt(deviation_of_squares / repetitions)),
        negative_total_share=Measure.share(tally.negative_total, repetitions if tally.plan.sets > 1 else 0),
        rules={
            key: _rule_performance(RULES[key], rule, tally, spread)
            for key, rule in zip(tally.plan.rules, tally.rules, strict=True)
        },
    )


def _variance(squares: FloatArray, counts: IntArray) -> float:
    """Σ squares / (R − 1); NaN for a single repetition."""
    repetitions = int(counts.sum())
    return float(counts @ squares) / (repetitions - 1) if repetitions > 1 else math.nan


def _rule_performance(kind: IntervalRule, rule: RuleTally, tally: Tally, spread: _Spread) -> RulePerformance:
    repetitions, below = tally.repetitions, tally.negative_total
    above, intervals = repetitions - below if tally.plan.sets > 1 else 0, repetitions - rule.negative
    coverage = Measure.share(rule.covered, repetitions)
    low, high = wilson_interval(coverage.value, repetitions)
    relative_error = relative_bias = Measure.unknown()
    if kind.has_variance:
        relative_bias, relative_error = _relative(rule, repetitions, spread)
    width = rule.mean("width", intervals)
    if kind.has_unbounded_width:
        width = Measure(width.value, math.inf)
    return RulePerformance(
        coverage=coverage,
        coverage_low=low,
        coverage_high=high,
        negative_variance_share=Measure.share(rule.negative, repetitions),
        vacuous_share=Measure.share(rule.vacuous, repetitions),
        coverage_given_negative_total=Measure.share(rule.covered_negative, below),
        coverage_given_nonnegative_total=Measure.share(rule.covered - rule.covered_negative, above),
        mean_width=Measure(math.inf, math.nan) if rule.unbounded else width,
        mean_width_inside=rule.mean("inside", intervals),
        relative_error=relative_error,
        relative_bias=relative_bias,
    )


def _relative(rule: RuleTally, repetitions: int, spread: _Spread) -> tuple[Measure, Measure]:
    """Return relative bias of T and relative error of √E[T], in per cent."""
    variance = rule.mean("variance", repetitions)
    # Σ T (d − mean)² less its part without T: the covariance of T and the squared distance from the mean.
    crossed = (
        rule.total("variance_deviation_squared")
        - 2 * spread.mean * rule.total("variance_deviation")
        + spread.mean**2 * rule.total("variance")
    ) / repetitions
    covariance = crossed - variance.value * spread.variance * (repetitions - 1) / repetitions
    return variance.relative_to(
        spread.variance, variance=spread.of_variance, covariance=covariance, repetitions=repetitions
    )


@dataclass(frozen=True, kw_only=True)
class FirstIntervals:
    """The first intervals of one rule, one by one.

    `runs` has one row of ends, that of the rule, NaN where there is no interval; `covered` are those that hold p, and
    `vacuous` those among them that hold all of 0 to 1.
    """

    rule: str
    runs: ShownRuns
    covered: BoolArray
    vacuous: BoolArray

    @property
    def low(self) -> FloatArray:
        """Return the lower ends."""
        return np.asarray(self.runs.low[0])

    @property
    def high(self) -> FloatArray:
        """Return the upper ends."""
        return np.asarray(self.runs.high[0])

    def first(self, number: int) -> "FirstIntervals":
        """Return the first `number` of them."""
        return replace(self, runs=self.runs.first(number), covered=self.covered[:number], vacuous=self.vacuous[:number])


def first_intervals(plan: CoveragePlan, rule: str) -> FirstIntervals:
    """Return the intervals of one rule in the repetitions that a plan shows, to the digit those of its whole study.

    What is drawn does not depend on the rules, and the others are left out.
    """
    alone = replace(plan, rules=(rule,), repetitions=min(plan.shown, plan.repetitions))
    runs = run_study(alone).shown
    low, high = runs.low[0], runs.high[0]
    vacuous = contains(low, high, 0.0) & contains(low, high, 1.0)
    return FirstIntervals(rule=rule, runs=runs, covered=contains(low, high, plan.p), vacuous=vacuous)


def first_shares(tally: Tally, number: int) -> dict[str, tuple[float, float, float]]:
    """By rule: the share of the first `number` intervals that hold p, and the ends of Wilson's 95 % interval for it.

    `number` is that of all repetitions, or at most that of those that are shown.
    """
    if number == tally.repetitions:
        shares = np.array([rule.covered / number for rule in tally.rules])
    else:
        shown = tally.shown.first(number)
        shares = np.atleast_2d(contains(shown.low, shown.high, tally.plan.p)).mean(axis=1)
    return {
        key: (share, *wilson_interval(share, number))
        for key, share in zip(tally.plan.rules, shares.tolist(), strict=True)
    }
