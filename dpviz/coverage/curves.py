"""Exact coverage and expected lengths as functions of the true proportion, or of what a release promises."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpviz.core.declarations import PROPORTION, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage.exact import BLOCK_OUTCOMES, MAX_CONDITION_ERROR, checked_rules, exact_coverages
from dpviz.coverage.release_distribution import SMALL_TAIL, ReleaseOutcomes, likely_counts
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.sum_distribution import LengthLimit, along_axis, length_limit, release_sums, within_sums
from dpviz.mechanisms import TwoCellSynthesizer

# 1,001 true shares of a curve, closer at 0 and 1, where coverage changes fastest
PROPORTIONS = np.round(np.sin(np.linspace(0.0, np.pi / 2, 1001)) ** 2, 7)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))


@dataclass(frozen=True, kw_only=True)
class CoverageCurves:
    """`coverage` and `mean_width_inside` of several rules, shape (rules, points), as in `ExactCoverage`.

    They are NaN where the sums would take too long. `points` are values of p or ε, in the order asked for.
    """

    rules: tuple[str, ...]
    points: FloatArray
    coverage: FloatArray
    mean_width_inside: FloatArray
    error_bound: float


def coverage_by_proportion(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: Sequence[str], level: float = 0.95,
    proportions: Sequence[float] | FloatArray = PROPORTIONS,
) -> CoverageCurves:  # fmt: skip
    """Exact coverage and mean lengths at several true proportions; a ValueError if the sums would take too long.

    Parameters
    ----------
    synthesizer, sets, rules, level
        As in `exact_coverages`.
    proportions : array_like, default 1,001 points from 0 to 1

    Notes
    -----
    C(p) = Σ_x Binomial(x; n, p) F_x(p), F_x(p) the coverage given x. As a function of p it jumps wherever p passes an
    end of the interval of a release, by the probability of that release (Brown, Cai & DasGupta 2001).

    Examples
    --------
    A release of one row has an interval of width 0 at 0 or 1.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> curves = coverage_by_proportion(release, proportions=[0, 0.5, 1], sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(9).tolist()
    [[0.666666667, 0.0, 0.666666667]]
    """
    chosen, sets, level = checked_rules(rules, sets, level)
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError(f"proportions must be numbers from 0 to 1 in a row; got {describe_value(proportions)}.")
    points, inverse = np.unique(along_axis(np.asarray(proportions, float)), return_inverse=True)
    coverage, length = np.full((2, len(chosen), len(inverse)), math.nan)
    error = 0.0
    # Rules that read the sum alone, and all others
    for is_noise_aware in (True, False):
        places = [place for place, rule in enumerate(chosen) if rule.is_noise_aware == is_noise_aware]
        if not places:
            continue
        given = sums_given_counts(synthesizer, sets, [chosen[place] for place in places], level, points)
        weights = binomial_weights(points, synthesizer.n, int(given.counts[0]), int(given.counts[-1]))
        coverage[places] = np.minimum(np.einsum("px,rxp->rp", weights, given.covered), 1.0)[:, inverse]
        share = given.exists @ weights.T
        is_rare = 2 * given.error > MAX_CONDITION_ERROR * (share - given.error)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.minimum(given.length @ weights.T / share, 1.0)
        length[places] = np.where(is_rare, math.nan, mean)[:, inverse]
        error = max(error, given.error)
    return CoverageCurves(
        rules=tuple(rules), points=points[inverse], coverage=coverage, mean_width_inside=length, error_bound=error
    )


class GivenCounts(NamedTuple):
    """What the intervals of several rules do given each confidential count that matters."""

    counts: IntArray  # shape (k,)
    covered: FloatArray  # probability that the interval holds each point, shape (rules, k, points)
    length: FloatArray  # expected length inside 0 to 1, 0 where there is no interval, shape (rules, k)
    exists: FloatArray  # probability that there is an interval, of the same shape
    error: float  # bound of the error of every probability


def sums_given_counts(
    synthesizer: TwoCellSynthesizer, sets: int, rules: list[IntervalRule], level: float, points: FloatArray
) -> GivenCounts:
    """Coverage, expected length and probability of an interval of each rule, given each likely confidential count.

    Parameters
    ----------
    synthesizer, sets, level
        As in `exact_coverages`.
    rules : list of IntervalRule
        All of them read the sum alone, or none.
    points : ndarray
        Increasing true proportions.
    """
    first = likely_counts(synthesizer.n, float(points[0]), SMALL_TAIL)[0][0]
    last = likely_counts(synthesizer.n, float(points[-1]), SMALL_TAIL)[0][-1]
    counts: IntArray = np.arange(first, last + 1)
    outcomes = ReleaseOutcomes(synthesizer, sets, counts, sums_only=rules[0].is_noise_aware)

    # Each outcome covers the points from `start` to `stop` - 1, none of them where there is no interval
    size = outcomes.shape[0] * outcomes.shape[1]
    start, stop = np.empty((2, len(rules), size), dtype=np.min_scalar_type(len(points)))
    lengths = np.empty((len(rules), size))
    for block in row_blocks(size, 1, BLOCK_OUTCOMES):
        statistics = outcomes.statistics(np.arange(size)[block])
        for place, rule in enumerate(rules):
            intervals = rule.ends(statistics, level)
            low, high = intervals.widened
            lengths[place, block] = intervals.length_inside
            start[place, block] = np.searchsorted(points, np.where(np.isnan(low), math.inf, low))
            after = np.searchsorted(points, np.where(np.isnan(high), -math.inf, high), side="right")
            stop[place, block] = np.maximum(start[place, block], after)
    has_interval = 1.0 - np.isnan(lengths)
    np.nan_to_num(lengths, copy=False)

    # What covers p given x covers 1 - p given n - x where the mechanism treats ones and zeros alike
    is_mirrored = outcomes.is_mirrored and np.allclose(points, 1 - points[::-1], rtol=0, atol=1e-14)
    half = (len(counts) + 1) // 2
    covered = np.zeros((len(rules), len(counts), len(points)))
    length, exists = np.zeros((2, len(rules), len(counts)))
    for index in range(half if is_mirrored else len(counts)):
        outcome, chance = outcomes.given(index)
        for place in range(len(rules)):
            change = np.bincount(start[place, outcome], chance, len(points) + 1)
            change = change - np.bincount(stop[place, outcome], chance, len(points) + 1)
            covered[place, index] = np.cumsum(change)[:-1]
            length[place, index] = chance @ lengths[place].take(outcome)
            exists[place, index] = chance @ has_interval[place].take(outcome)
    if is_mirrored:
        covered[:, half:] = covered[:, : len(counts) - half][:, ::-1, ::-1]
        length[:, half:] = length[:, : len(counts) - half][:, ::-1]
        exists[:, half:] = exists[:, : len(counts) - half][:, ::-1]
    return GivenCounts(counts, covered, length, exists, outcomes.error_bound + SMALL_TAIL)


def stream_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer], *, points: Sequence[float], p: float, sets: int, rules: Sequence[str],
    level: float = 0.95,
) -> Iterator[CoverageCurves]:  # fmt: skip
    """Exact coverage at one p for each synthesizer, such as one at several ε, one after the other.

    Parameters
    ----------
    synthesizers : sequence of TwoCellSynthesizer
    points : sequence of float
        Where each of them stands on the axis. Values that are still to come, or take too long, are NaN.
    p, sets, rules, level
        As in `exact_coverages`.
    """
    coverage, length = np.full((2, len(rules), len(points)), math.nan)
    error = 0.0
    for column, synthesizer in enumerate(synthesizers):
        results = exact_coverages(
            synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level, skip_unreachable=True
        )
        for key, result in results.items():
            coverage[rules.index(key), column] = result.coverage
            length[rules.index(key), column] = result.mean_width_inside
            error = max(error, result.error_bound)
        yield CoverageCurves(
            rules=tuple(rules), points=np.asarray(points, float), coverage=coverage.copy(),
            mean_width_inside=length.copy(), error_bound=error,
        )  # fmt: skip


def shortest_lengths(
    synthesizer: TwoCellSynthesizer, *, proportions: Sequence[float], sets: int, level: float = 0.95
) -> LengthLimit:
    """Shortest expected length of an interval that holds its level at every p; NaN where the sums are too many.

    Parameters
    ----------
    synthesizer, proportions, sets, level
        As in `coverage_by_proportion`.
    """
    sets = SETS.validate(sets)
    points = np.atleast_1d(PROPORTION.validate_array(proportions, name="proportions"))
    if within_sums(synthesizer.n, synthesizer.m, sets):
        return length_limit(release_sums(synthesizer, sets), proportions=points, level=level)
    unknown = np.full(len(points), math.nan)
    return LengthLimit(length=unknown, error=unknown)
