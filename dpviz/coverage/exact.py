"""How often the interval of a combining rule holds the true proportion: by sums over every release, not simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.coverage._half_widths import half_widths
from dpviz.coverage._law import ReleaseLaw, release_law, within_reach
from dpviz.inference.combining_rules import LEVEL, CombiningRule, check_rule, covers
from dpviz.synthesizers import TwoCellSynthesizer

__all__ = ["ExactCoverage", "coverage_of_law", "exact_coverage", "exact_coverages", "within_reach"]


@dataclass(frozen=True, kw_only=True)
class ExactCoverage:
    """Coverage of one rule at one design.

    Parameters
    ----------
    coverage
        Pr(|q̄ − p| ≤ half width); a release without an interval does not cover.
    mean_width
        Expected width of the interval, given that there is one. Infinite where the t quantile of a release with
        almost 0 degrees of freedom passes the largest floating-point number, as it does for the rules with
        ν = (M − 1)(1 − 1/r)²; NaN where there never is an interval.
    mean_width_inside
        The same for the part of the interval between 0 and 1.
    negative_variance_share
        Probability that the rule's variance is negative, so that there is no interval.
    error_bound
        Bound of the absolute error of `coverage` and `negative_variance_share`: releases left out, aliasing, rounding.
    synthesizer, p, sets, rule, level, confidential_count
        The design; `rule` is the key.
    """

    coverage: float
    mean_width: float
    mean_width_inside: float
    negative_variance_share: float
    error_bound: float
    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rule: str
    level: float
    confidential_count: int | None


def exact_coverage(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rule: str,
    level: float = 0.95,
    confidential_count: int | None = None,
) -> ExactCoverage:
    """Pr(|q̄ − p| ≤ t √T) over the confidential rows and M independent releases, exactly.

    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃_j and Q = Σ x̃_j², which determine q̄, b and v̄.

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

    >>> from dpviz.synthesizers import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    return exact_coverages(
        synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level, confidential_count=confidential_count
    )[rule]


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
    checked = [check_rule(key, sets) for key in rules]
    level = LEVEL.check(level)
    law = release_law(synthesizer, p=p, sets=sets, confidential_count=confidential_count)
    found = {}
    for rule in checked:
        coverage, width, inside, negative = coverage_of_law(law, rule, p, level)
        found[rule.key] = ExactCoverage(
            coverage=coverage,
            mean_width=width,
            mean_width_inside=inside,
            negative_variance_share=negative,
            error_bound=law.error_bound,
            synthesizer=synthesizer,
            p=float(p),
            sets=int(sets),
            rule=rule.key,
            level=level,
            confidential_count=confidential_count,
        )
    return found


def coverage_of_law(law: ReleaseLaw, rule: CombiningRule, p: float, level: float) -> tuple[float, float, float, float]:
    """Coverage, mean width, mean width between 0 and 1, and share of negative variances under one law."""
    estimate, between, within = law.estimate_and_variances
    half = half_widths(rule, between, within, sets=law.sets, synthetic_ratio=law.synthetic_ratio, level=level)
    covered = float(law.probability[covers(estimate, half, p)].sum())
    exists = ~np.isnan(half)
    some = float(law.probability[exists].sum())
    if some == 0:
        return 0.0, math.nan, math.nan, 1.0
    estimate, half, probability = estimate[exists], half[exists], law.probability[exists]
    inside = np.minimum(estimate + half, 1.0) - np.maximum(estimate - half, 0.0)
    return (
        min(covered, 1.0),
        float(probability @ (2 * half)) / some,
        float(probability @ inside) / some,
        float(law.probability[~exists].sum()),
    )
