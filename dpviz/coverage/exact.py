"""How often the interval of a rule holds the true proportion, by sums over every release."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import row_blocks
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
        none. The first is NaN as well for a rule of unbounded width, which releases with almost 0 degrees of freedom,
        too unlikely to be summed, make.
    negative_variance_share, vacuous_share : float
        Probability that there is no interval, and that it holds all of 0 to 1.
    coverage_given_negative_total, coverage_given_nonnegative_total : float
        Coverage given T_M < 0, T_M = (1 + 1/M) b − v̄, and given T_M ≥ 0, to 10⁻⁶; NaN where that is too rare.
    negative_total_share : float
        Pr(T_M < 0), the same for every rule; NaN for a single set, and where the sum of the counts is all that is known
        of a release (if every rule knows the noise).
    error_bound : float
        Largest error of the coverage and of every share, from what the sums leave out.
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
        Whether rules whose sums would take too long are left out, instead of a ValueError: all but those that know the
        noise, or all.
    """
    p = PROPORTION.validate(p)
    chosen, sets, level = checked_rules(rules, sets, level)
    noise_aware = [rule for rule in chosen if rule.is_noise_aware]
    has_both_kinds = 0 < len(noise_aware) < len(chosen)
    for group in [chosen, noise_aware] if skip_unreachable and has_both_kinds else [chosen]:
        sums_only = all(rule.is_noise_aware for rule in group)
        try:
            distribution = release_distribution(synthesizer, p=p, sets=sets, sums_only=sums_only)
            return {
                rule.key: ExactCoverage(
                    synthesizer=synthesizer, p=p, sets=sets, rule=rule.key, level=level,
                    error_bound=distribution.error_bound, **_measures(rule, distribution, p, level),
                )
                for rule in group
            }  # fmt: skip
        except ValueError:
            if not skip_unreachable:
                raise
    return {}


def checked_rules(rules: Sequence[str], sets: int, level: float) -> tuple[list[IntervalRule], int, float]:
    """Rules by their keys, M and the level, all checked: a ValueError where a rule is unknown or needs more sets.

    Parameters
    ----------
    rules, sets, level
        As in `exact_coverages`.
    """
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    if not len(rules):
        raise ValueError("rules must name at least one combining rule; got none.")
    for key in rules:
        if not isinstance(key, str) or key not in RULES:
            raise ValueError(f"rules must be some of {', '.join(RULES)}; got {describe_value(key)}.")
    return [check_rule(key, sets) for key in rules], sets, level


def _measures(rule: IntervalRule, distribution: ReleaseDistribution, p: float, level: float) -> dict[str, float]:
    """Fields of `ExactCoverage` from the distribution of the outcomes."""
    statistics = distribution.statistics
    knows_total = statistics.sets > 1 and not np.isnan(statistics.within).any()
    sums = np.zeros(8)
    for block in row_blocks(len(distribution.probability), 1, BLOCK_OUTCOMES):
        part = statistics.at(block)
        intervals = rule.ends(part, level)
        covered = contains(*intervals, p)
        width = np.zeros(len(covered)) if rule.has_unbounded_width else intervals.high - intervals.low
        values = [
            np.ones(len(covered)), covered, np.isnan(intervals.low), intervals.is_vacuous, np.nan_to_num(width),
            np.nan_to_num(intervals.length_inside), part.negative_total, covered & part.negative_total,
        ]  # fmt: skip
        sums += np.array(values, dtype=float) @ distribution.probability[block]
    total, covered_share, missing, vacuous, width_sum, inside, negative, covered_negative = sums.tolist()

    def ratio(numerator: float, denominator: float, *, is_known: bool = True) -> float:
        """Conditional mean, NaN where what it is conditional on is too rare."""
        error = distribution.error_bound
        if not is_known or 2 * error > MAX_CONDITION_ERROR * (denominator - error):
            return math.nan
        return numerator / denominator

    results = {
        "coverage": covered_share,
        "mean_width_inside": ratio(inside, total - missing),
        "negative_variance_share": missing,
        "vacuous_share": vacuous,
        "coverage_given_negative_total": ratio(covered_negative, negative, is_known=knows_total),
        "coverage_given_nonnegative_total": ratio(
            covered_share - covered_negative, total - negative, is_known=knows_total
        ),
        "negative_total_share": negative if knows_total else math.nan,
    }
    mean_width = ratio(width_sum, total - missing, is_known=not rule.has_unbounded_width)
    return {name: min(value, 1.0) for name, value in results.items()} | {"mean_width": mean_width}


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
    (chosen,), sets, level = checked_rules([rule], sets, level)
    outcomes = ReleaseOutcomes(synthesizer, sets, np.array([x]), sums_only=chosen.is_noise_aware)
    places, probability = outcomes.given(0)
    covered = contains(*chosen.ends(outcomes.statistics(places), level), x / synthesizer.n)
    return float(probability[covered].sum() / probability.sum())


def stream_coverages(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[dict[str, ExactCoverage]]:
    """Yield `exact_coverages` once, without rules whose sums would take too long, for pages that do not wait for it.

    Parameters
    ----------
    synthesizer, p, sets, rules, level
        As in `exact_coverages`.
    """
    yield exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level, skip_unreachable=True)
