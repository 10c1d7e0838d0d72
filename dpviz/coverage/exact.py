"""How often the interval of a rule holds the true proportion, by sums over every release."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage.release_distribution import (
    ROW_ERROR,
    SMALL_TAIL,
    ReleaseDistribution,
    ReleaseOutcomes,
    likely_counts,
    release_distribution,
)
from dpviz.inference.interval_rules import Ends, IntervalRule, SetStatistics, widen_for_rounding
from dpviz.inference.rules import RULES, check_rule
from dpviz.inference.sum_distribution import LengthLimit, along_axis, length_limit, release_sums, within_sums
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.base import check_index

# 1,001 true shares of a curve, closer at 0 and 1, where coverage changes fastest
PROPORTIONS = np.round(np.sin(np.linspace(0.0, np.pi / 2, 1001)) ** 2, 7)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))

MAX_CONDITION_ERROR = 1e-6  # of a conditional coverage or a mean length that is given
MAX_POINT_ROUNDING = 1e-14
BLOCK_OUTCOMES = 32_768  # whose intervals are made at a time, which stay in the processor's cache


@dataclass(frozen=True, kw_only=True)
class ExactCoverage:
    """Coverage of one rule at one design.

    Attributes
    ----------
    coverage : float
        Pr(low ≤ p ≤ high); a release without an interval does not cover.
    mean_width, mean_width_inside : float
        Expected width of the intervals that there are, and of their part between 0 and 1; NaN where there are almost
        none. The first is NaN as well where releases with almost 0 degrees of freedom, too unlikely to be summed,
        make it.
    negative_variance_share, vacuous_share : float
        Probability that there is no interval, and that it holds all of 0 to 1.
    coverage_given_negative_total, coverage_given_nonnegative_total : float
        Coverage given T_M < 0, T_M = (1 + 1/M) b − v̄, and given T_M ≥ 0, to 10⁻⁶; NaN where that is too rare.
    negative_total_share : float
        Pr(T_M < 0), the same for every rule; NaN for a single set and where S is all that is known.
    error_bound : float
        Of the coverage and of every share.
    """

    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rule: str
    level: float
    coverage: float
    mean_width: float
    mean_width_inside: float
    negative_variance_share: float
    vacuous_share: float
    coverage_given_negative_total: float
    coverage_given_nonnegative_total: float
    negative_total_share: float
    error_bound: float


@dataclass(frozen=True, kw_only=True)
class CoverageCurves:
    """`coverage` and `mean_width_inside` of several rules, shape (rules, points), as in `ExactCoverage`.

    They are NaN where the sums would take too long. `points` are increasing values of p or ε.
    """

    rules: tuple[str, ...]
    points: FloatArray
    coverage: FloatArray
    mean_width_inside: FloatArray
    error_bound: float


def exact_coverage(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float = 0.95
) -> ExactCoverage:
    """Pr(low ≤ p ≤ high) over x ~ Binomial(n, p) and M independent releases.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
        Of one set, with its own share of the privacy budget.
    p : float
        True proportion.
    sets : int
        M, at least as many as the rule needs.
    rule : str
        Key of `dpviz.inference.RULES`.
    level : float, default 0.95
        Nominal level of the interval.

    Raises
    ------
    ValueError
        If the sums would take too long.

    Notes
    -----
    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃ and Q = Σ x̃², which determine q̄, b and v̄; S alone for
    rules that know the noise.

    References
    ----------
    Charest (2011), section 3.4, who simulates it.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 2, where the level is meant to be 0.95.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    return exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level)[rule]


def exact_coverages(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    skip_unreachable: bool = False,
) -> dict[str, ExactCoverage]:
    """`exact_coverage` of several rules, by key, from one distribution of the releases.

    Parameters
    ----------
    synthesizer, p, sets, rules, level
        As in `exact_coverage`.
    skip_unreachable : bool, default False
        Whether rules whose sums would take too long are left out instead of refused.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=2000, m=2000, alpha=1, beta=1)
    >>> exact_coverages(synthesizer=release, p=0.5, sets=10, rules=["reiter_2003"], skip_unreachable=True)
    {}
    """
    p = PROPORTION.validate(p)
    chosen, sets, level = checked_rules(rules, sets, level)
    attempts = [chosen]
    if skip_unreachable and not all(rule.is_noise_aware for rule in chosen):
        attempts.append([rule for rule in chosen if rule.is_noise_aware])
    for some in attempts:
        with contextlib.suppress(ValueError) if skip_unreachable else contextlib.nullcontext():
            distribution = release_distribution(
                synthesizer, p=p, sets=sets, sums_only=all(rule.is_noise_aware for rule in some)
            )
            return {
                rule.key: ExactCoverage(
                    synthesizer=synthesizer, p=p, sets=sets, rule=rule.key, level=level,
                    error_bound=distribution.error_bound, **_measures(rule, distribution, p, level),
                )
                for rule in some
            }  # fmt: skip
    return {}


def checked_rules(rules: Sequence[str], sets: int, level: float) -> tuple[list[IntervalRule], int, float]:
    """Rules with these keys, M and the level, or a ValueError."""
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    if not len(rules):
        raise ValueError("rules must name at least one combining rule; got none.")
    for key in rules:
        if not isinstance(key, str) or key not in RULES:
            raise ValueError(f"rules must be some of {', '.join(RULES)}; got {describe_value(key)}.")
    return [check_rule(key, sets) for key in rules], sets, level


def interval_ends(rule: IntervalRule, found: SetStatistics, level: float) -> tuple[Ends, Ends]:
    """Ends of the interval of every outcome, and the same widened for rounding; NaN where there is none."""
    ends = rule.ends(found, level)
    return ends, widen_for_rounding(*ends)


def _measures(rule: IntervalRule, distribution: ReleaseDistribution, p: float, level: float) -> dict[str, float]:
    """Fields of `ExactCoverage` from the distribution of the outcomes."""
    found = distribution.statistics
    probability = distribution.probability
    error = distribution.error_bound
    sums = np.zeros(8)
    for block in row_blocks(len(probability), 1, BLOCK_OUTCOMES):
        part = found.at(block)
        (low, high), (lowest, highest) = interval_ends(rule, part, level)
        covers = (lowest <= p) & (p <= highest)
        negative = part.negative_total
        none = np.isnan(low)
        width = np.zeros(len(low)) if rule.has_unbounded_width else np.where(none, 0.0, high - low)
        vacuous = (lowest <= 0.0) & (highest >= 1.0)
        inside = length_inside(low, high)
        values = [np.ones(len(low)), covers, none, vacuous, width, inside, negative, covers & negative]
        sums += np.array(values, dtype=float) @ probability[block]
    mass, covered, missing, everything, width_sum, inside_sum, below, covered_below = sums.tolist()

    def ratio(numerator: float, share: float, *, is_known: bool = True) -> float:
        """Conditional mean, NaN where what it is conditional on is too rare."""
        if not is_known or 2 * error > MAX_CONDITION_ERROR * (share - error):
            return math.nan
        return numerator / share

    knows_total = found.sets > 1 and not np.isnan(found.within).any()
    given_negative = ratio(covered_below, below, is_known=knows_total)
    given_rest = ratio(covered - covered_below, mass - below, is_known=knows_total)
    return {
        "coverage": min(covered, 1.0),
        "mean_width": ratio(width_sum, mass - missing, is_known=not rule.has_unbounded_width),
        "mean_width_inside": min(ratio(inside_sum, mass - missing), 1.0),
        "negative_variance_share": min(missing, 1.0),
        "vacuous_share": min(everything, 1.0),
        "coverage_given_negative_total": min(given_negative, 1.0),
        "coverage_given_nonnegative_total": min(given_rest, 1.0),
        "negative_total_share": min(below, 1.0) if knows_total else math.nan,
    }


def length_inside(low: FloatArray, high: FloatArray) -> FloatArray:
    """Length of the part of each interval between 0 and 1; 0 where there is no interval."""
    return np.nan_to_num(np.maximum(np.minimum(high, 1.0) - np.maximum(low, 0.0), 0.0), nan=0.0)


def coverage_given_count(
    *, synthesizer: TwoCellSynthesizer, confidential_count: int, rule: str, sets: int = 1, level: float = 0.95
) -> float:
    """Pr(low ≤ x/n ≤ high | x): how often the interval holds the share of the confidential table itself.

    The table with `confidential_count` ones stays as it is, and the releases alone are drawn again; the other
    parameters are those of `exact_coverage`.

    Examples
    --------
    One row that is 1 is released as 1 with probability 2/3, and then the interval is [1, 1].

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(coverage_given_count(synthesizer=release, confidential_count=1, rule="as_if_real"), 9)
    0.666666667
    """
    x = check_index(confidential_count, synthesizer.n + 1, "confidential_count")
    (chosen,), sets, level = checked_rules([rule], sets, level)
    outcomes = ReleaseOutcomes(synthesizer, sets, np.array([x]), sums_only=chosen.is_noise_aware)
    places, probability = outcomes.given(0)
    _, (lowest, highest) = interval_ends(chosen, outcomes.statistics(places), level)
    share = x / synthesizer.n
    return float(probability[(lowest <= share) & (share <= highest)].sum() / probability.sum())


def coverage_by_proportion(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: Sequence[str], level: float = 0.95,
    proportions: Sequence[float] | FloatArray = PROPORTIONS, with_lengths: bool = False,
) -> CoverageCurves:  # fmt: skip
    """Exact coverage at several true proportions.

    Parameters
    ----------
    synthesizer, sets, rules, level
        As in `exact_coverages`.
    proportions : array_like, default 1,001 points from 0 to 1
    with_lengths : bool, default False
        Whether mean lengths are computed as well.

    Raises
    ------
    ValueError
        If the sums of a rule would take too long.

    Notes
    -----
    C(p) = Σ_x Binomial(x; n, p) F_x(p), F_x(p) the coverage given x. As a function of p it jumps wherever p passes an
    end of the interval of a release, by the probability of that release (Brown, Cai & DasGupta 2001).

    Examples
    --------
    At p = 0 every confidential row is 0; a release of one row then has an interval of width 0 at 0 or 1.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> curves = coverage_by_proportion(release, proportions=[0, 0.5, 1], sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(9).tolist()
    [[0.666666667, 0.0, 0.666666667]]
    """
    chosen, sets, level = checked_rules(rules, sets, level)
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError("proportions must be one or more numbers from 0 to 1 in a row.")
    points, inverse = np.unique(along_axis(np.asarray(proportions, float)), return_inverse=True)
    coverage, length = np.full((2, len(chosen), len(inverse)), math.nan)
    error = 0.0
    for rule_kind in (True, False):
        places = [place for place, rule in enumerate(chosen) if rule.is_noise_aware == rule_kind]
        if not places:
            continue
        some = [chosen[place] for place in places]
        given = sums_given_counts(synthesizer, sets, some, level, points, with_lengths=with_lengths)
        weights = binomial_weights(points, synthesizer.n)[:, given.counts[0] : given.counts[-1] + 1]
        coverage[places] = np.minimum(np.einsum("px,rxp->rp", weights, given.covered), 1.0)[:, inverse]
        error = max(error, given.error)
        if with_lengths:
            total = given.length @ weights.T
            share = given.exists @ weights.T
            is_rare = 2 * given.error > MAX_CONDITION_ERROR * (share - given.error)
            with np.errstate(invalid="ignore", divide="ignore"):
                length[places] = np.where(is_rare, math.nan, np.minimum(total / share, 1.0))[:, inverse]
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
    synthesizer: TwoCellSynthesizer, sets: int, rules: list[IntervalRule], level: float, points: FloatArray,
    *, with_lengths: bool = False,
) -> GivenCounts:  # fmt: skip
    """Sums over the releases given each confidential count that matters at some of the increasing `points`.

    All of the rules read the sum alone, or none.
    """
    n = synthesizer.n
    first = likely_counts(n, float(points[0]), SMALL_TAIL).counts[0]
    last = likely_counts(n, float(points[-1]), SMALL_TAIL).counts[-1]
    counts: IntArray = np.arange(first, last + 1)
    outcomes = ReleaseOutcomes(synthesizer, sets, counts, sums_only=rules[0].is_noise_aware)

    # Each outcome covers the points from `start` to `stop` - 1.
    size = outcomes.shape[0] * outcomes.shape[1]
    start, stop = np.empty((2, len(rules), size), dtype=np.int16)
    lengths = np.zeros((len(rules), size if with_lengths else 1))
    for block in row_blocks(size, 1, BLOCK_OUTCOMES):
        found = outcomes.statistics(np.arange(size)[block])
        for place, rule in enumerate(rules):
            ends, (lowest, highest) = interval_ends(rule, found, level)
            start[place, block] = np.searchsorted(points, np.where(np.isnan(lowest), math.inf, lowest))
            stop[place, block] = np.searchsorted(points, np.where(np.isnan(highest), -math.inf, highest), side="right")
            if with_lengths:
                lengths[place, block] = np.where(np.isnan(ends[0]), math.nan, length_inside(*ends))
    np.maximum(start, stop, out=stop)

    # What covers p given x covers 1 - p given n - x where the mechanism treats ones and zeros alike.
    is_mirrored = outcomes.is_mirrored and bool(np.abs(points + points[::-1] - 1).max() <= MAX_POINT_ROUNDING)
    covered = np.zeros((len(rules), len(counts), len(points)))
    length, exists = np.zeros((2, len(rules), len(counts)))
    for index in range((len(counts) + 1) // 2 if is_mirrored else len(counts)):
        outcome, chance = outcomes.given(index)
        for place in range(len(rules)):
            covered[place, index] = covered_points(start[place], stop[place], outcome, chance, len(points))
            if with_lengths:
                inside = lengths[place, outcome]
                some = ~np.isnan(inside)
                length[place, index] = chance[some] @ inside[some]
                exists[place, index] = chance[some].sum()
    if is_mirrored:
        half = len(counts) // 2
        covered[:, len(counts) - half :] = covered[:, :half][:, ::-1, ::-1]
        length[:, len(counts) - half :] = length[:, :half][:, ::-1]
        exists[:, len(counts) - half :] = exists[:, :half][:, ::-1]
    return GivenCounts(counts, covered, length, exists, outcomes.error_bound + ROW_ERROR)


def covered_points(start: IntArray, stop: IntArray, outcome: IntArray, chance: FloatArray, size: int) -> FloatArray:
    """Probability that each of `size` points is covered, where outcomes cover the points from `start` to `stop` - 1.

    `outcome` are places in the table of outcomes, and `chance` are their probabilities.
    """
    change: FloatArray = np.bincount(start[outcome], chance, size + 1).astype(float)
    change -= np.bincount(stop[outcome], chance, size + 1)
    return np.asarray(np.cumsum(change)[:size])


def stream_by_synthesizer(
    synthesizers: Sequence[TwoCellSynthesizer], *, points: Sequence[float], p: float, sets: int, rules: Sequence[str],
    level: float = 0.95,
) -> Iterator[CoverageCurves]:  # fmt: skip
    """Exact coverage at one p for each synthesizer, such as one at several ε, one after the other.

    Each stands at one of `points` on the axis; results that follow, or take too long, are NaN. The other parameters are
    those of `exact_coverages`.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> releases = [BetaBinomial(n=1, m=1, alpha=prior, beta=prior) for prior in (1, 1e12)]
    >>> *_, curves = stream_by_synthesizer(releases, points=[1, 2], p=0, sets=1, rules=["as_if_real"])
    >>> curves.coverage.round(6).tolist()
    [[0.666667, 0.5]]
    """
    coverage, length = np.full((2, len(rules), len(points)), math.nan)
    error = 0.0
    for column, synthesizer in enumerate(synthesizers):
        results = exact_coverages(
            synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level, skip_unreachable=True
        )
        for row, key in enumerate(rules):
            if key in results:
                coverage[row, column] = results[key].coverage
                length[row, column] = results[key].mean_width_inside
                error = max(error, results[key].error_bound)
        yield CoverageCurves(
            rules=tuple(rules), points=np.asarray(points, float), coverage=coverage.copy(),
            mean_width_inside=length.copy(), error_bound=error,
        )  # fmt: skip


def stream_coverages(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[dict[str, ExactCoverage]]:
    """`exact_coverages` of the rules within reach as a stream of one result, for pages that do not wait for it."""
    yield exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level, skip_unreachable=True)


def shortest_lengths(
    synthesizer: TwoCellSynthesizer, *, proportions: Sequence[float], sets: int, level: float = 0.95
) -> LengthLimit:
    """Shortest expected length of an interval that holds its level at every p, and how far each may be off.

    NaN where the distribution of the sum is too large for `length_limit`; parameters are those of
    `coverage_by_proportion`.
    """
    if not within_sums(synthesizer.n, synthesizer.m, sets):
        unknown = np.full(len(proportions), math.nan)
        return LengthLimit(length=unknown, error=unknown)
    return length_limit(release_sums(synthesizer, sets), proportions=np.asarray(proportions, float), level=level)
