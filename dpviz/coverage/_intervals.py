"""The interval of every release under a rule, and what a distribution of the releases makes of all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference.interval_rules import RELATIVE_ROUNDING, Ends, IntervalRule, SetStatistics, widen_for_rounding
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer

QUANTILE_ERROR = 1e-11
"""Relative error of a tabled quantile from ν = 0.1 on; rules with fewer degrees have no largest width anyway."""

INTERVALS_AT_ONCE = 32_768  # Releases for which intervals are made at once
CONDITIONAL_ERROR = 1e-6  # Largest error of a conditional coverage that is given

NUMBERS_OF_A_RULE = 7  # Those of `IntervalSums`

MeasuredNumbers = TypeVar("MeasuredNumbers")


@dataclass(frozen=True, kw_only=True)
class Measures(Generic[MeasuredNumbers]):
    """What intervals do: a number each for one rule at one design, else arrays with an axis of rules, then of points.

    `coverage`: Pr(low ≤ p ≤ high), for a combining rule Pr(|q̄ − p| ≤ t √T); a release without an interval does not
    cover.
    `mean_width`: Expected width of the interval, given that there is one; NaN where there never is. For the rules with
    ν = (M − 1)(1 − 1/r)² it is made by releases with almost 0 degrees of freedom, which may be among those left out as
    too unlikely: then it says nothing, and its error bound is infinite.
    `mean_width_error_bound`: Bound of its absolute error: `error_bound` times the largest width that a release can
    have, about.
    `mean_width_inside`, `mean_width_inside_error_bound`: The same for the part of the interval between 0 and 1, which
    is never wider than 1.
    `negative_variance_share`: Probability that the rule's variance is negative, so that there is no interval.
    `vacuous_share`: Probability that the interval holds all of 0 to 1, so that it covers whatever p is.
    `coverage_given_negative_total`, `coverage_given_nonnegative_total`: Coverage given T_M < 0, and given T_M ≥ 0, off
    by at most 10⁻⁶; NaN where that is too rare to say.
    `negative_total_share`: Pr(T_M < 0), T_M = (1 + 1/M) b − v̄, the same for every rule; NaN for a single set.
    `error_bound`: Bound of the absolute error of `coverage` and of every share: releases left out, aliasing, rounding.
    """

    coverage: MeasuredNumbers
    mean_width: MeasuredNumbers
    mean_width_error_bound: MeasuredNumbers
    mean_width_inside: MeasuredNumbers
    mean_width_inside_error_bound: MeasuredNumbers
    negative_variance_share: MeasuredNumbers
    vacuous_share: MeasuredNumbers
    coverage_given_negative_total: MeasuredNumbers
    coverage_given_nonnegative_total: MeasuredNumbers
    negative_total_share: MeasuredNumbers
    error_bound: MeasuredNumbers


Point = Measures[FloatArray]


class Asked(NamedTuple):
    """What is asked of the releases of M sets, all of it checked."""

    synthesizer: TwoCellSynthesizer
    sets: int
    rules: list[IntervalRule]
    level: float

    @classmethod
    def of(cls, synthesizer: TwoCellSynthesizer, sets: int, keys: Sequence[str], level: float) -> "Asked":
        """Return the rules with these keys, or a ValueError."""
        if not len(keys):
            raise ValueError("rules must name at least one combining rule; got none.")
        for key in keys:
            if not isinstance(key, str) or key not in RULES:
                raise ValueError(f"rules must be some of {', '.join(RULES)}; got {describe_value(key)}.")
        return cls(synthesizer, sets, [check_rule(key, sets) for key in keys], level)

    @property
    def by_sum(self) -> bool:
        """Whether the sum of the counts is all that the rules read of a release."""
        return all(rule.is_noise_aware for rule in self.rules)


def ends_of(rule: IntervalRule, found: SetStatistics, level: float) -> Ends:
    """``rule.ends`` of many releases."""
    return rule.ends(found, level)


class Features(NamedTuple):
    """What is summed over the releases, for one rule: numbers whose expectations are results."""

    width: FloatArray
    inside: FloatArray
    infinite: BoolArray
    none: BoolArray
    vacuous: BoolArray


def features(low: FloatArray, high: FloatArray, held: Ends) -> Features:
    """Width where finite, width between 0 and 1, whether infinite, whether there is none, whether it holds 0 to 1.

    `held` is what `reached` makes of the ends.
    """
    none, width = np.isnan(low), high - low
    infinite, inside = np.isinf(width), np.maximum(np.minimum(high, 1.0) - np.maximum(low, 0.0), 0.0)
    width[none | infinite] = 0.0
    inside[none] = 0.0
    return Features(width, inside, infinite, none, (held[0] <= 0.0) & (held[1] >= 1.0))


class IntervalSums(NamedTuple):
    """IntervalSums over the releases at one proportion, each weighted with its probability.

    For each rule intervals that hold p, and those of them with T_M < 0, and the `Features`, shape (rules, features);
    then all releases, and those with T_M < 0.
    """

    covered: FloatArray
    covered_negative: FloatArray
    expected: FloatArray
    mass: float
    negative: float


def sums(distribution: FloatArray, found: SetStatistics, asked: Asked, p: float) -> IntervalSums:
    """Return the sums of every rule for a distribution with one probability for each release, a row for each S or none.

    A rule that knows the noise reads S alone: it is asked for each S once, and not for each release.
    """
    aware = [rule.is_noise_aware for rule in asked.rules]
    by_sum, by_rule = np.zeros((2, int(found.total.max()) + 1)), np.zeros((len(aware), NUMBERS_OF_A_RULE))
    # A few releases at a time, whose numbers stay near the processor: twice as fast as all of them at once.
    for block in row_blocks(len(distribution), distribution[0].size, INTERVALS_AT_ONCE):
        chance = distribution[block]
        beyond = int(np.flatnonzero(chance.any(axis=0))[-1]) + 1 if chance.ndim == 2 and chance.any() else None
        part, chance = found.at((block, slice(beyond)) if beyond else block), chance[..., :beyond]
        negative = part.negative_total
        chances = chance[None]
        if negative.any():
            chances = np.empty((2, *chance.shape))
            chances[0] = chance
            np.multiply(chance, negative, out=chances[1])
        for place, rule in enumerate(asked.rules):
            if not aware[place]:
                by_rule[place] += _sums_of_rule(rule, part, chances, asked.level, p)
        for total, each in zip(by_sum, chances, strict=False):
            _add_by_sum(total, part.total, each)
    of_sums = sum_releases(asked.synthesizer, asked.sets, by_sum.shape[1])
    for place in np.flatnonzero(aware).tolist():
        by_rule[place] = _sums_of_rule(asked.rules[place], of_sums, by_sum, asked.level, p)
    mass, negative_mass = by_sum.sum(axis=1).tolist()
    return IntervalSums(by_rule[:, 0], by_rule[:, 1], by_rule[:, 2:], mass, negative_mass)


def _add_by_sum(found: FloatArray, total: IntArray, chance: FloatArray) -> None:
    if total.ndim == 2:
        found[total[:, 0]] += chance.sum(axis=1)
    else:
        found += np.bincount(total, chance, len(found))


def _sums_of_rule(rule: IntervalRule, found: SetStatistics, chances: FloatArray, level: float, p: float) -> FloatArray:
    """The probability of the releases that cover p, of those with T_M < 0 that do, and the expected `Features`.

    `chances` are the probabilities of all releases, and, if any has T_M < 0, the same with 0 where T_M ≥ 0.
    """
    half = rule.half_widths(found, level)
    if half is None:
        low, high = ends_of(rule, found, level)
        held = widen_for_rounding(low, high)
        covers, parts = (held[0] <= p) & (p <= held[1]), features(low, high, held)
    else:
        covers, parts = _around(found.estimate, half, p)
    summed, flat = np.zeros(NUMBERS_OF_A_RULE), chances.reshape(len(chances), -1)
    summed[: len(flat)] = flat @ covers.ravel().astype(float)
    for place, part in enumerate(parts, 2):
        if part.dtype != bool or part.any():
            summed[place] = flat[0] @ part.ravel()
    return summed


def _around(estimate: FloatArray, half: FloatArray, p: float) -> tuple[BoolArray, Features]:
    """Which intervals q̄ ± `half` hold p, as `reached` has it, and their `features`."""
    estimate = estimate[:, :1] if estimate.ndim == 2 else estimate  # the same for every release with this S
    far, wide = (
        np.maximum(estimate - low * (1 + RELATIVE_ROUNDING), high * (1 - RELATIVE_ROUNDING) - estimate)
        / (1 + RELATIVE_ROUNDING)
        for low, high in ((p, p), (0.0, 1.0))
    )
    most = float(half.max())
    none = np.isnan(half) if math.isnan(most) else np.zeros(1, dtype=bool)
    covers = half >= far
    if none.any():
        half = np.where(none, 0.0, half)
    vacuous, infinite = (half >= wide) & ~none, np.isinf(2 * half) if not 2 * most < math.inf else np.zeros(1, bool)
    inside = np.minimum(half, estimate)
    inside += np.minimum(half, 1 - estimate)
    half *= 2
    if infinite.any():
        half[infinite] = 0.0
    return covers, Features(half, inside, infinite, none, vacuous)


def sum_releases(synthesizer: TwoCellSynthesizer, sets: int, count: int) -> SetStatistics:
    """Releases of which the sum S = 0 … `count` − 1 is all that is known."""
    total, unknown = np.arange(count), np.full(count, math.nan)
    return SetStatistics(synthesizer, sets, total, total / (sets * synthesizer.m), unknown, unknown)


def point_of(found: IntervalSums, asked: Asked, error: float) -> Point:
    """Return the results of sums under a distribution whose probabilities are off by at most `error` in all.

    With W the largest possible width and s the share of releases with an interval, the mean width w is off by at most
    error (W + w) / (s − error), and that inside 0 to 1 by the same with W = 1.
    """
    width, inside, infinite, none, vain = found.expected.T
    some, (rows, sets) = found.mass - none, (asked.synthesizer.m, asked.sets)
    ratio, level = rows / asked.synthesizer.n, asked.level
    largest = np.array(
        [rule.largest_width(sets=sets, rows=rows, synthetic_ratio=ratio, level=level) for rule in asked.rules]
    )
    known = np.where(some > error, some - error, math.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(infinite > 0, math.inf, width / some)
        mean_inside = np.clip(inside / some, 0.0, 1.0)
        off = error * (largest + mean) / known + QUANTILE_ERROR * mean
        off_inside = error * (1 + mean_inside) / known + QUANTILE_ERROR * mean_inside
    rest = found.covered - found.covered_negative
    return Point(
        coverage=np.minimum(found.covered, 1.0),
        mean_width=mean,
        mean_width_error_bound=np.where(np.isfinite(off), off, math.inf),
        mean_width_inside=mean_inside,
        mean_width_inside_error_bound=np.where(np.isfinite(off_inside), np.minimum(off_inside, 1.0), 1.0),
        negative_variance_share=np.minimum(none, 1.0),
        vacuous_share=np.minimum(vain, 1.0),
        coverage_given_negative_total=_given(found.covered_negative, found.negative, sets, error),
        coverage_given_nonnegative_total=_given(rest, found.mass - found.negative, sets, error),
        negative_total_share=np.full(none.shape, min(found.negative, 1.0) if sets > 1 else math.nan),
        error_bound=np.full(none.shape, error),
    )


def _given(covered: FloatArray, share: float, sets: int, error: float) -> FloatArray:
    """covered / share; NaN for a single set and where it could be off by more than `CONDITIONAL_ERROR`."""
    if sets == 1 or not 2 * error <= CONDITIONAL_ERROR * (share - error):
        return np.full(covered.shape, math.nan)
    return np.asarray(np.clip(covered / share, 0.0, 1.0))
