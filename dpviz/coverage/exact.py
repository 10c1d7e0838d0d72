"""How often the interval of a rule holds the true proportion, by sums over every release."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.numerics.special import row_blocks
from dpviz.core.records import validate_unique_choices
from dpviz.coverage.release_distribution import ReleaseDistribution, ReleaseOutcomes, release_distribution
from dpviz.inference.interval_rules import IntervalRule, contains
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.base import check_index

MAX_CONDITION_ERROR = 1e-6  # largest error with which a conditional coverage or a mean width is given
BLOCK_OUTCOMES = 32_768  # handled at a time: their intervals stay in the processor's cache


@dataclass(frozen=True, kw_only=True)
class ExactCoverage:
    """Coverage of one rule at one design.

    Attributes
    ----------
    coverage : float
        Pr(low ≤ p ≤ high); a release without an interval does not cover.
    mean_width, mean_width_inside : float
        Expected width of the intervals that there are, and of their part between 0 and 1; NaN where there are almost
        none. The first is NaN as well for rules of unbounded width: releases too unlikely to be summed decide it.
    negative_variance_share, vacuous_share : float
        Probability that there is no interval, and that it holds all of 0 to 1.
    coverage_given_negative_total, coverage_given_nonnegative_total : float
        Coverage given T_M < 0, T_M = (1 + 1/M) b − v̄, and given T_M ≥ 0, to 10⁻⁶; NaN if that is too rare or unknown.
    negative_total_share : float
        Pr(T_M < 0), the same for every rule; NaN for a single set, and where the sum of the counts is all that is known
        of a release (if every rule knows the noise).
    error_bound : float
        Largest error of the coverage and of every share, from what the sums leave out.
    """

    coverage: float
    mean_width: float
    mean_width_inside: float
    negative_variance_share: float
    vacuous_share: float
    coverage_given_negative_total: float
    coverage_given_nonnegative_total: float
    negative_total_share: float
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
        M.
    rule : str
        Key of `dpviz.inference.RULES`.
    level : float, default 0.95

    Raises
    ------
    ValueError
        If the sums would take too long.

    Notes
    -----
    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃ and Q = Σ x̃², which determine q̄, b and v̄; S alone for
    rules that know the noise. Charest (2011), section 3.4, finds it by simulation.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 2, where the level is meant to be 0.95.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    checked_rule(rule, sets, level)
    return exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level)[rule]


def exact_coverages(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rules: Sequence[str], level: float = 0.95,
    skip_unreachable: bool = False,
) -> dict[str, ExactCoverage]:  # fmt: skip
    """`exact_coverage` of several rules, by key, from one distribution of the releases.

    Parameters
    ----------
    synthesizer, p, sets, rules, level
        As in `exact_coverage`.
    skip_unreachable : bool, default False
        Whether rules whose sums would take too long are left out, instead of a ValueError: then only those that know
        the noise are returned, or none.
    """
    p = PROPORTION.validate(p)
    chosen, sets, level = checked_rules(rules, sets, level)
    noise_aware = [rule for rule in chosen if rule.is_noise_aware]
    for group in [chosen, noise_aware] if skip_unreachable and noise_aware else [chosen]:
        sums_only = all(rule.is_noise_aware for rule in group)
        try:
            distribution = release_distribution(synthesizer, p=p, sets=sets, sums_only=sums_only)
        except ValueError:
            if not skip_unreachable:
                raise
        else:
            return {rule.key: _coverage_from(distribution, rule, p, level) for rule in group}
    return {}


def checked_rule(rule: str, sets: int, level: float) -> tuple[IntervalRule, int, float]:
    """A rule by its key, M and the level, all checked; ValueError as of `checked_rules`.

    Parameters
    ----------
    rule, sets, level
        As in `exact_coverage`.
    """
    return check_rule(rule, sets), SETS.validate(sets), LEVEL.validate(level)


def checked_rules(rules: Sequence[str], sets: int, level: float) -> tuple[list[IntervalRule], int, float]:
    """Rules by their keys, M and the level, all checked: a ValueError where a rule is unknown or needs more sets.

    Parameters
    ----------
    rules, sets, level
        As in `exact_coverages`.
    """
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    listed = list(rules) if isinstance(rules, Iterable) and not isinstance(rules, str) else rules
    keys = validate_unique_choices("rules", listed, RULES, min_items=1)
    return [check_rule(key, sets) for key in keys], sets, level


def _coverage_from(distribution: ReleaseDistribution, rule: IntervalRule, p: float, level: float) -> ExactCoverage:
    """Coverage of a rule from the distribution of the releases."""
    statistics = distribution.statistics
    sums = np.zeros(8)
    for block in row_blocks(len(distribution.probability), 1, BLOCK_OUTCOMES):
        part = statistics.at(block)
        intervals = rule.ends(part, level)
        low, high = intervals.widened  # once, for `contains` and `is_vacuous`
        covered = (low <= p) & (p <= high)
        is_vacuous = (low <= 0) & (high >= 1)
        is_negative = part.negative_total
        width = np.zeros(len(covered)) if rule.has_unbounded_width else intervals.high - intervals.low
        values = [
            np.ones(len(covered)), covered, np.isnan(low), is_vacuous, np.nan_to_num(width),
            np.nan_to_num(intervals.length_inside), is_negative, covered & is_negative,
        ]  # fmt: skip
        sums += np.array(values, dtype=float) @ distribution.probability[block]
    total, covered_share, missing, vacuous, width_sum, inside, negative, covered_negative = sums.tolist()
    if statistics.sets == 1 or np.isnan(statistics.within).any():
        negative = covered_negative = math.nan
    error = distribution.error_bound

    def mean(numerator: float, share: float) -> float:
        """Conditional mean, NaN where what it is conditional on is unknown or too rare."""
        return numerator / share if 2 * error <= MAX_CONDITION_ERROR * (share - error) else math.nan

    return ExactCoverage(
        coverage=min(covered_share, 1.0),
        mean_width=math.nan if rule.has_unbounded_width else mean(width_sum, total - missing),
        mean_width_inside=min(mean(inside, total - missing), 1.0),
        negative_variance_share=min(missing, 1.0),
        vacuous_share=min(vacuous, 1.0),
        coverage_given_negative_total=min(mean(covered_negative, negative), 1.0),  # min keeps a NaN that comes first
        coverage_given_nonnegative_total=min(mean(covered_share - covered_negative, total - negative), 1.0),
        negative_total_share=min(negative, 1.0),
        error_bound=error,
    )


def coverage_given_count(
    *, synthesizer: TwoCellSynthesizer, confidential_count: int, rule: str, sets: int = 1, level: float = 0.95
) -> float:
    """Pr(low ≤ x/n ≤ high | x): how often the interval holds the share of ones in the confidential table.

    Parameters
    ----------
    synthesizer, rule, sets, level
        As in `exact_coverage`.
    confidential_count : int
        x, which stays as it is; the releases alone are drawn again.

    Examples
    --------
    One row that is 1 is released as 1 with probability 2/3, and then the interval is [1, 1].

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(coverage_given_count(synthesizer=release, confidential_count=1, rule="as_if_real"), 9)
    0.666666667
    """
    x = check_index(confidential_count, synthesizer.n + 1, "confidential_count")
    chosen, sets, level = checked_rule(rule, sets, level)
    outcomes = ReleaseOutcomes(synthesizer, sets, np.array([x]), sums_only=chosen.is_noise_aware)
    places, probability = outcomes.given(0)
    covered = contains(*chosen.ends(outcomes.statistics(places), level), x / synthesizer.n)
    return float(probability[covered].sum() / probability.sum())
