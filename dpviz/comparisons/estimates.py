"""What an analyst takes for the proportion, who may know how the sets were made."""

from __future__ import annotations

import numpy as np

from dpviz.comparisons.binary_measures import RowMoments, row_moments
from dpviz.core.keeping import kept
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.sum_distribution import release_sums
from dpviz.mechanisms import TwoCellSynthesizer

FEW_SUMS = 2_000_000  # Numbers of the distribution of the sum up to which an estimate from it comes at once


def estimate_moments(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
    """Return the mean and variance, for x = 0 … n, of what an analyst who uses this rule takes for the proportion.

    That is the rule's own estimate for the sum of the counts, where it has one. Who knows how the sets were made takes
    back what the prior adds on average: (q̄ − a)/b where E[q̄ | x] = a + b x/n, which may leave 0 to 1. Else it is q̄.
    """
    few = (made.n + 1) * (sets * made.m + 1) <= FEW_SUMS
    if rule.estimates is not None and few and rule.fits(made, sets):
        return _moments_by_sum(made, sets, rule)
    of_mean, line = row_moments(made).of_sets(sets), made.line_of_means() if rule.knows_noise else None
    if line is None:
        return of_mean
    return RowMoments(np.linspace(0, 1, made.n + 1), of_mean.variance / line[1] ** 2)


@kept
def _moments_by_sum(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
    """Σ_s Pr(s | x) (estimate of s) for x = 0 … n, and the variance."""
    assert rule.estimates is not None
    sums = release_sums(made, sets)
    estimates = rule.estimates(sums)
    mean = sums.rows @ estimates
    return RowMoments(mean, np.einsum("xs,xs->x", sums.rows, (estimates - mean[:, None]) ** 2))
