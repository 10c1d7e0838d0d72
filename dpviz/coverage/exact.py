"""How often the interval of a rule holds the true proportion, by sums over every release."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import FloatArray
from dpviz.coverage.release_distribution import ReleaseDistribution, ReleaseOutcomes, release_distribution
from dpviz.inference.interval_rules import Ends, IntervalRule, SetStatistics, widen_for_rounding
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.base import check_index

MAX_CONDITION_ERROR = 1e-6  # of a conditional coverage or a mean length that is given
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


def interval_ends(rule: IntervalRule, statistics: SetStatistics, level: float) -> tuple[Ends, Ends]:
    """Ends of the interval of every outcome, and the same widened for rounding; NaN where there is none."""
    ends = rule.ends(statistics, level)
    return ends, widen_for_rounding(*ends)


def _measures(rule: IntervalRule, distribution: ReleaseDistribution, p: float, level: float) -> dict[str, float]:
    """Fields of `ExactCoverage` from the distribution of the outcomes."""
    statistics = distribution.statistics
    probability = distribution.probability
    error = distribution.error_bound
    sums = np.zeros(8)
    for block in row_blocks(len(probability), 1, BLOCK_OUTCOMES):
        part = statistics.at(block)
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

    knows_total = statistics.sets > 1 and not np.isnan(statistics.within).any()
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


def stream_coverages(
    synthesizer: TwoCellSynthesizer, *, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[dict[str, ExactCoverage]]:
    """`exact_coverages` of the rules within reach as a stream of one result, for pages that do not wait for it."""
    yield exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules, level=level, skip_unreachable=True)
