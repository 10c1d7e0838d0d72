"""What a simulation says about an estimator and its intervals: every measure with its Monte Carlo standard error."""

import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.monte_carlo import Measure, wilson_interval
from dpviz.coverage.simulation import CoverageTally
from dpviz.inference.rules import RULES


@dataclass(frozen=True, kw_only=True)
class RulePerformance:
    """How one rule did; T is its variance of q̄, and what needs it is NaN for a rule that has none.

    Attributes
    ----------
    coverage, negative_variance_share, vacuous_share, mean_width_inside, coverage_given_…, negative_total_share
        As in `ExactCoverage`, but from the repetitions.
    coverage_low, coverage_high : float
        Wilson's 95 % interval for the coverage, to be drawn as the error bar.
    mean_width : Measure
        Its error is infinite for rules with an unbounded width, whose mean is made by releases that no simulation
        meets, and NaN where the mean itself is infinite because an interval is wider than 1e100.
    relative_error, relative_bias : Measure
        100 (√E[T] / √Var(q̄) − 1) and 100 (E[T] / Var(q̄) − 1), in per cent.
    """

    coverage: Measure
    coverage_low: float
    coverage_high: float
    negative_variance_share: Measure
    vacuous_share: Measure
    coverage_given_negative_total: Measure
    coverage_given_nonnegative_total: Measure
    negative_total_share: Measure
    mean_width: Measure
    mean_width_inside: Measure
    relative_error: Measure
    relative_bias: Measure


@dataclass(frozen=True, kw_only=True)
class Performance:
    """How q̄ and the intervals of each rule, by its key, did: E[q̄] − p, √Var(q̄), E[(q̄ − p)²]."""

    repetitions: int
    bias: Measure
    empirical_error: Measure
    mean_square_error: Measure
    rules: dict[str, RulePerformance]


def performance_of(tally: CoverageTally) -> Performance:
    """Performance measures of Morris, White & Crowther, each with its Monte Carlo standard error.

    Notes
    -----
    With d = q̄ − p, T the variance of a rule, R repetitions and V = Var(q̄): the error of a mean is the standard
    deviation over √R; of a share c, √(c(1 − c)/R). Measures that involve V take its error from the fourth moment,
    Var(V̂) = (μ₄ − V²)/R, where Table 6 supposes a normal q̄ (then it is 2V²/R), and ratios E[T]/V take the covariance
    of T and (d − E[d])² with them, where Table 6 supposes that there is none. All by the delta method. From a single
    repetition, whatever needs a variance is NaN; and so is an error from two, and where V is too small a part of
    E[d²] for its digits.

    References
    ----------
    Morris, White & Crowther (2019), Table 6; Charest (2011), Table 2, for the relative bias.

    Examples
    --------
    Both sets release 0 for p = 1/2 and x = 0: the estimate is always 0, and no interval has a width.

    >>> from dpviz.coverage import CoveragePlan, run_coverage
    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> plan = CoveragePlan(synthesizer=GeometricSanitizer(n=5, epsilon=1000), p=0.5, sets=2, rules=("rubin_1987",),
    ...                     repetitions=100, seed=1, confidential_count=0)
    >>> performance = performance_of(run_coverage(plan))
    >>> performance.bias, performance.rules["rubin_1987"].coverage == Measure(value=0.0, error=1 / 101)
    (Measure(value=-0.5, error=0.0), True)
    """
    repetitions = tally.repetitions
    mean, second, third, fourth = (float(tally.sums[f"deviation_{power}"]) / repetitions for power in (1, 2, 3, 4))
    # Central moments; where nothing but rounding is left, estimates are equal, or the error has no digits
    central = second - mean**2
    if central <= 1e-13 * second:
        central = 0.0
    central_fourth = fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4
    differences = central_fourth - central**2, fourth - second**2
    unknown = math.nan if central else 0.0
    of_variance, of_square = (item if item > 1e-13 * fourth else unknown for item in differences)
    variance = error = square_error = math.nan
    if repetitions > 1:
        variance = central * repetitions / (repetitions - 1)
        error = math.sqrt(of_variance / repetitions)
        square_error = math.sqrt(of_square / (repetitions - 1))
    return Performance(
        repetitions=repetitions,
        bias=Measure(mean, math.sqrt(variance / repetitions)),
        empirical_error=Measure(variance, error).root(),
        mean_square_error=Measure(second, square_error),
        rules={
            key: _rule_performance(tally, place, mean, variance, of_variance)
            for place, key in enumerate(tally.plan.rules)
        },
    )


def _rule_performance(
    tally: CoverageTally, place: int, bias: float, variance: float, of_variance: float
) -> RulePerformance:
    """Measures of one rule; `variance` is Var(q̄), and `of_variance` R times the variance of its estimate."""
    rule = RULES[tally.plan.rules[place]]
    sums = {name: float(value[place]) for name, value in tally.sums.items() if np.ndim(value)}
    count = {name: int(sums[name]) for name in tally.plan.counts if name in sums}
    repetitions = tally.repetitions
    intervals = repetitions - count["negative"]
    below = int(tally.sums["negative_total"])
    nonnegative = count["covered"] - count["covered_negative"]
    totals = repetitions if tally.plan.sets > 1 else 0  # a single set has no T_M
    coverage = Measure.share(count["covered"], repetitions)
    low, high = wilson_interval(coverage.value, repetitions)

    width = Measure.mean(sums["width"], sums["width_squared"], intervals)
    if count["unbounded"]:
        width = Measure(math.inf, math.nan)
    elif rule.has_unbounded_width:
        width = Measure(width.value, math.inf)

    relative_bias = relative_error = Measure.unknown()
    if rule.has_variance:
        mean = Measure.mean(sums["variance"], sums["variance_squared"], repetitions)
        # Σ T (d − bias)² less its part without T: the covariance of T and the squared distance from the mean
        of_squares = sums["variance_deviation_squared"] - 2 * bias * sums["variance_deviation"]
        crossed = (of_squares + bias**2 * sums["variance"]) / repetitions
        covariance = crossed - mean.value * variance * (repetitions - 1) / repetitions
        relative_bias, relative_error = mean.relative_to(
            variance, variance=of_variance, covariance=covariance, repetitions=repetitions
        )
    return RulePerformance(
        coverage=coverage,
        coverage_low=low,
        coverage_high=high,
        negative_variance_share=Measure.share(count["negative"], repetitions),
        vacuous_share=Measure.share(count["vacuous"], repetitions),
        coverage_given_negative_total=Measure.share(count["covered_negative"], below),
        coverage_given_nonnegative_total=Measure.share(nonnegative, max(totals - below, 0)),
        negative_total_share=Measure.share(below, totals),
        mean_width=width,
        mean_width_inside=Measure.mean(sums["inside"], sums["inside_squared"], intervals),
        relative_error=relative_error,
        relative_bias=relative_bias,
    )


def first_shares(tally: CoverageTally, number: int) -> dict[str, tuple[float, float, float]]:
    """By rule: the share of the first intervals that hold p, and the ends of Wilson's 95 % interval for it.

    Parameters
    ----------
    tally : CoverageTally
    number : int
        All repetitions, or at most the number of repetitions kept one by one.
    """
    shares = tally.sums["covered"] / number
    if number < tally.repetitions:
        shares = tally.shown.first(number).covered.mean(axis=1)
    return {
        key: (share, *wilson_interval(share, number))
        for key, share in zip(tally.plan.rules, shares.tolist(), strict=True)
    }
