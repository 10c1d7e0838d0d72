"""The interval of every release under a rule, and what a law of the releases makes of all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpviz.inference.interval_rules import Ends, IntervalRule, Releases, holds, vacuous
from dpviz.numerics.quantiles import quantile_table
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray

QUANTILE_ERROR = 1e-11
"""Relative error of a tabled quantile from ν = 0.1 on; rules with fewer degrees have no largest width anyway."""

CONDITIONAL_ERROR = 1e-6
"""Largest error of a conditional coverage that is given."""


def ends_of(rule: IntervalRule, found: Releases, level: float) -> Ends:
    """``rule.ends`` of many releases, an order of magnitude faster where it takes t quantiles."""
    return rule.ends(found, level, lambda degrees, _: quantile_table(level)(degrees))


class Features(NamedTuple):
    """What is summed over the releases, for one rule: numbers whose expectations are results."""

    width: FloatArray
    inside: FloatArray
    infinite: FloatArray
    none: FloatArray
    vacuous: FloatArray


def features(low: FloatArray, high: FloatArray) -> Features:
    """Width where finite, width between 0 and 1, whether infinite, whether there is none, whether it holds 0 to 1."""
    none = np.isnan(low)
    width = np.where(none, 0.0, high - low)
    infinite = np.isinf(width)
    inside = np.maximum(np.minimum(high, 1.0) - np.maximum(low, 0.0), 0.0)
    return Features(
        width=np.where(infinite, 0.0, width),
        inside=np.where(none, 0.0, inside),
        infinite=infinite.astype(float),
        none=none.astype(float),
        vacuous=vacuous(low, high).astype(float),
    )


class Point(NamedTuple):
    """Results at one proportion, one number for each rule, except the last two; see `ExactCoverage`."""

    coverage: FloatArray
    mean_width: FloatArray
    mean_width_error_bound: FloatArray
    mean_width_inside: FloatArray
    mean_width_inside_error_bound: FloatArray
    negative_variance_share: FloatArray
    vacuous_share: FloatArray
    coverage_given_negative_total: FloatArray
    coverage_given_nonnegative_total: FloatArray
    negative_total_share: float
    error_bound: float


class Sums(NamedTuple):
    """Sums over the releases at one proportion, each weighted with its probability.

    Parameters
    ----------
    covered, covered_negative
        Intervals that hold p, and those of them with T_M < 0; one number for each rule.
    expected
        Sums of the `Features`, shape (rules, features).
    mass, negative
        All releases, and those with T_M < 0.
    """

    covered: FloatArray
    covered_negative: FloatArray
    expected: FloatArray
    mass: float
    negative: float


def sums(law: FloatArray, found: Releases, rules: Sequence[IntervalRule], p: float, level: float) -> Sums:
    """The sums of every rule for a law with one probability for each release."""
    below = found.negative_total
    covered, covered_negative, expected = [], [], []
    for rule in rules:
        low, high = ends_of(rule, found, level)
        hit = holds(low, high, p)
        covered.append(law[hit].sum())
        covered_negative.append(law[hit & below].sum())
        expected.append([float(np.vdot(law, part)) for part in features(low, high)])
    negative = float(law[below].sum())
    return Sums(np.array(covered), np.array(covered_negative), np.array(expected), float(law.sum()), negative)


def point_of(found: Sums, synthesizer: TwoCellSynthesizer, sets: int, rules: Sequence[IntervalRule],
             level: float, error: float) -> Point:  # fmt: skip
    """Results from sums that a law gives whose probabilities, of whatever releases, are off by at most `error`.

    With W the largest possible width and s the share of releases with an interval, the mean width w is off by at most
    error (W + w) / (s − error), and that inside 0 to 1 by the same with W = 1.
    """
    width, inside, infinite, none, vain = found.expected.T
    some = found.mass - none
    ratio = synthesizer.m / synthesizer.n
    largest = np.array(
        [rule.largest_width(sets=sets, rows=synthesizer.m, synthetic_ratio=ratio, level=level) for rule in rules]
    )
    known = np.where(some > error, some - error, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(infinite > 0, math.inf, width / some)
        mean_inside = np.clip(inside / some, 0.0, 1.0)
        off = error * (largest + mean) / known + QUANTILE_ERROR * mean
        off_inside = error * (1 + mean_inside) / known + QUANTILE_ERROR * mean_inside
    covered = np.minimum(found.covered, 1.0)
    return Point(
        coverage=covered,
        mean_width=mean,
        mean_width_error_bound=np.where(np.isfinite(off), off, math.inf),
        mean_width_inside=mean_inside,
        mean_width_inside_error_bound=np.where(np.isfinite(off_inside), np.minimum(off_inside, 1.0), 1.0),
        negative_variance_share=np.minimum(none, 1.0),
        vacuous_share=np.minimum(vain, 1.0),
        coverage_given_negative_total=_given(found.covered_negative, found.negative, sets, error),
        coverage_given_nonnegative_total=_given(
            found.covered - found.covered_negative, found.mass - found.negative, sets, error
        ),
        negative_total_share=min(found.negative, 1.0) if sets > 1 else math.nan,
        error_bound=error,
    )


def _given(covered: FloatArray, share: float, sets: int, error: float) -> FloatArray:
    """covered / share; NaN for a single set and where it could be off by more than `CONDITIONAL_ERROR`."""
    if sets == 1 or not 2 * error <= CONDITIONAL_ERROR * (share - error):
        return np.full(covered.shape, math.nan)
    return np.asarray(np.clip(covered / share, 0.0, 1.0))
