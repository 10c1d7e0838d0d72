"""How often the interval of a rule holds the true proportion: by sums over every release, not simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.coverage._proportions import single_point
from dpviz.coverage.law import within_reach
from dpviz.inference.rules import check_rule
from dpviz.synthesizers import TwoCellSynthesizer

__all__ = ["ExactCoverage", "exact_coverage", "exact_coverages", "within_reach"]


@dataclass(frozen=True, kw_only=True)
class ExactCoverage:
    """Coverage of one rule at one design.

    Parameters
    ----------
    coverage
        Pr(low ≤ p ≤ high), for a combining rule Pr(|q̄ − p| ≤ t √T); a release without an interval does not cover.
    mean_width
        Expected width of the interval, given that there is one; NaN where there never is. For the rules with
        ν = (M − 1)(1 − 1/r)² it is made by releases with almost 0 degrees of freedom, which may be among those left
        out as too unlikely: then it says nothing, and its error bound is infinite.
    mean_width_error_bound
        Bound of its absolute error: `error_bound` times the largest width that a release can have, about.
    mean_width_inside, mean_width_inside_error_bound
        The same for the part of the interval between 0 and 1, which is never wider than 1.
    negative_variance_share
        Probability that the rule's variance is negative, so that there is no interval.
    vacuous_share
        Probability that the interval holds all of 0 to 1, so that it covers whatever p is.
    negative_total_share
        Pr(T_M < 0), T_M = (1 + 1/M) b − v̄, the same for every rule; NaN for a single set.
    coverage_given_negative_total, coverage_given_nonnegative_total
        Coverage given T_M < 0, and given T_M ≥ 0, off by at most 10⁻⁶; NaN where that is too rare to say.
    error_bound
        Bound of the absolute error of `coverage` and of every share: releases left out, aliasing, rounding.
    synthesizer, p, sets, rule, level, confidential_count
        The design; `rule` is the key.
    """

    coverage: float
    mean_width: float
    mean_width_error_bound: float
    mean_width_inside: float
    mean_width_inside_error_bound: float
    negative_variance_share: float
    vacuous_share: float
    negative_total_share: float
    coverage_given_negative_total: float
    coverage_given_nonnegative_total: float
    error_bound: float
    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rule: str
    level: float
    confidential_count: int | None


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def exact_coverage(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rule: str,
    level: float = 0.95,
    confidential_count: int | None = None,
) -> ExactCoverage:
    """Pr(low ≤ p ≤ high) over the confidential rows and M independent releases, exactly.

    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃_j and Q = Σ x̃_j², which determine q̄, b and v̄.
    Rules that know the noise read S alone: where only such rules are asked for, its distribution is enough.

    Parameters
    ----------
    synthesizer
        Synthesizer of one set of two counts; its share of the privacy budget is already its own.
    p
        True proportion, 0 to 1.
    sets
        M, 1 to 100, at least as many as the rule needs.
    rule
        Key of `dpviz.inference.RULES`.
    level
        Level of the interval, 0.001 to 0.999999.
    confidential_count
        x, where it is to be fixed; x ~ Binomial(n, p) where None.

    Returns
    -------
    ExactCoverage
        With an error bound of at most 1e-8.

    Raises
    ------
    ValueError
        Where a number is out of its domain, the rule needs more sets, or exact sums would take too long.

    Source: Charest (2011), §3.4, who simulates it.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 2, where the level is meant to be 0.95.

    >>> import math
    >>> from dpviz.synthesizers import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    return exact_coverages(
        synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level, confidential_count=confidential_count
    )[rule]


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def exact_coverages(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    confidential_count: int | None = None,
) -> dict[str, ExactCoverage]:
    """`exact_coverage` of several rules, by key, from one law of the releases.

    Parameters
    ----------
    synthesizer, p, sets, level, confidential_count
        As for `exact_coverage`.
    rules
        Keys of `dpviz.inference.RULES`.
    """
    if not rules:
        raise ValueError("rules must name at least one combining rule; got none.")
    checked = [check_rule(key, sets) for key in rules]
    level = LEVEL.check(level)
    point = single_point(synthesizer, p, sets, checked, level, confidential_count)
    return {
        rule.key: ExactCoverage(
            **{name: float(np.ravel(part)[index if np.ndim(part) else 0]) for name, part in point._asdict().items()},
            synthesizer=synthesizer,
            p=float(p),
            sets=int(sets),
            rule=rule.key,
            level=level,
            confidential_count=confidential_count,
        )
        for index, rule in enumerate(checked)
    }
