"""The worst bias, error, coverage and length over a whole range of p, certified, where the sums are not too long."""

from __future__ import annotations

import math

import numpy as np

from dpviz.comparisons.binary_measures import kept_for
from dpviz.comparisons.estimates import estimate_moments
from dpviz.core.numerics.bernstein import Extreme, extremes, of_higher_degree, times_p
from dpviz.coverage.certified import certifiable, largest_mean_width, smallest_coverage
from dpviz.inference.interval_rules import IntervalRule
from dpviz.mechanisms import TwoCellSynthesizer


@kept_for
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
    """Return the worst of a measure for p from `low` to `high`; None where it cannot be certified.

    `measure` is the name of a field of `Outcome`, and a bias has no sign. Where a table of all releases is too large it
    takes up to some seconds, and is done where a `thorough` answer is asked for alone.
    """
    if measure in FROM_MOMENTS:
        return FROM_MOMENTS[measure](made, sets, rule, low, high)
    if measure not in FROM_RELEASES or not (thorough or certifiable(made, sets, rule)):
        return None
    try:
        return FROM_RELEASES[measure](made, sets=sets, rule=rule.key, level=level, low=low, high=high)
    except ValueError:  # too many releases, or almost none of them has an interval
        return None


def worst_bias(made: TwoCellSynthesizer, sets: int, rule: IntervalRule, low: float, high: float) -> Extreme:
    """Return the largest |E[q] − p|: Σ_x Binomial(x; n, p) E[q | x] − p, a polynomial of degree n + 1.

    >>> from dpviz.inference.rules import RULES
    >>> from dpviz.mechanisms import BetaBinomial
    >>> found = worst_bias(BetaBinomial(n=1, m=1, alpha=1, beta=1), 1, RULES["as_if_real"], 0.25, 0.5)
    >>> round(found.value, 12), found.at  # (1 + p)/3 − p
    (0.166666666667, 0.25)
    """
    moments = estimate_moments(made, sets, rule)
    found = extremes(of_higher_degree(moments.mean) - times_p(np.ones(made.n + 1)), low, high)
    return max((Extreme(abs(one.value), one.at) for one in found), key=lambda one: one.value)


def worst_error(made: TwoCellSynthesizer, sets: int, rule: IntervalRule, low: float, high: float) -> Extreme:
    """Return the largest √E[(q − p)²]: the sum of Binomial(x; n, p)(E[q² | x] − 2p E[q | x] + p²), of degree n + 2.

    >>> from dpviz.inference.rules import RULES
    >>> from dpviz.mechanisms import BetaBinomial
    >>> found = worst_error(BetaBinomial(n=1, m=1, alpha=1, beta=1), 1, RULES["as_if_real"], 0.0, 0.5)
    >>> round(found.value**2, 12), found.at  # one third at every p
    (0.333333333333, 0.0)
    """
    moments = estimate_moments(made, sets, rule)
    squares, ones = moments.mean**2 + moments.variance, np.ones(made.n + 1)
    coefficients = of_higher_degree(squares, 2) - 2 * of_higher_degree(times_p(moments.mean)) + times_p(times_p(ones))
    largest = extremes(coefficients, low, high)[1]
    return Extreme(math.sqrt(max(largest.value, 0.0)), largest.at)


FROM_MOMENTS = {"bias": worst_bias, "root_mean_squared_error": worst_error}
FROM_RELEASES = {"coverage": smallest_coverage, "mean_width": largest_mean_width}
