"""Why an interval does not hold the true proportion as often as it says: three repairs, each alone and all together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.coverage._half_widths import scaled_half_widths
from dpviz.coverage._law import release_law
from dpviz.inference.combining_rules import LEVEL, check_rule, covers, quantile
from dpviz.inference.set_moments import set_moments
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray

REPAIRS = ("prior_bias", "ignored_variance", "rule_noise")
"""Keys of the repairs, in the order in which readers see them."""


@dataclass(frozen=True, kw_only=True)
class CoverageDecomposition:
    """Coverage as published, with each repair alone, and with all of them.

    Parameters
    ----------
    rule, level, sets, p
        The design.
    published
        Coverage of the rule as it is.
    without_prior_bias
        With the centre q̄ − (E[q̄] − p).
    with_whole_variance
        With the variance T + Var(q̄) − E[T] in place of T; no interval where that is negative.
    without_rule_noise
        With the variance E[T] in place of T and the normal quantile; 0 where E[T] is negative: no interval.
    repaired
        With all three: a normal interval of the true standard error around an unbiased centre.
    bias
        E[q̄] − p.
    variance
        Var(q̄).
    mean_variance
        E[T], the expectation of the variance that the rule uses, over all releases.
    error_bound
        Bound of the absolute error that the law of the releases gives each coverage.
    """

    rule: str
    level: float
    sets: int
    p: float
    published: float
    without_prior_bias: float
    with_whole_variance: float
    without_rule_noise: float
    repaired: float
    bias: float
    variance: float
    mean_variance: float
    error_bound: float

    @property
    def by_repair(self) -> dict[str, float]:
        """Coverage with each repair alone, by the keys of `REPAIRS`."""
        return dict(
            zip(REPAIRS, (self.without_prior_bias, self.with_whole_variance, self.without_rule_noise), strict=True)
        )

    @property
    def best_repair(self) -> str:
        """The single repair that brings coverage nearest to the level."""
        return min(REPAIRS, key=lambda key: abs(self.by_repair[key] - self.level))


def coverage_decomposition(
    *,
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rule: str,
    level: float = 0.95,
    confidential_count: int | None = None,
) -> CoverageDecomposition:
    """Coverage under three repairs, each a sum over every release under the same exact law.

    The bias E[q̄] − p is what the prior does; Var(q̄) − E[T] is variance that the rule leaves out (or, where negative,
    adds); the rest is that T varies from release to release and that its degrees of freedom are a guess.

    Parameters
    ----------
    synthesizer, p, sets, rule, level, confidential_count
        As for `dpviz.coverage.exact_coverage`. With x fixed, E and Var are those given x.

    Returns
    -------
    CoverageDecomposition
        E[q̄] and Var(q̄) in closed form (`set_moments`), E[T] from the law.

    Raises
    ------
    ValueError
        As `dpviz.coverage.exact_coverage` does.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 5: what fails is the centre.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 5)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> found = coverage_decomposition(synthesizer=release, p=0.25, sets=5, rule="reiter_2002")
    >>> round(found.published, 4), round(found.bias, 4), found.best_repair
    (0.8115, 0.2007, 'prior_bias')
    """
    chosen, level = check_rule(rule, sets), float(LEVEL.check(level))
    law = release_law(synthesizer, p=p, sets=sets, confidential_count=confidential_count)
    moments = set_moments(synthesizer, p=p, sets=sets, confidential_count=confidential_count)
    estimate, between, within = law.estimate_and_variances
    variance, degrees = chosen.variance_and_degrees(between, within, sets=law.sets, synthetic_ratio=law.synthetic_ratio)
    mean_variance = float(law.probability @ variance / law.probability.sum())
    normal = float(quantile(np.array(math.inf), level))
    unbiased = estimate - moments.bias

    def coverage(centre: FloatArray, half: FloatArray | float) -> float:
        return min(float(law.probability[covers(centre, np.asarray(half), p)].sum()), 1.0)

    half = scaled_half_widths(variance, degrees, level)
    whole = scaled_half_widths(variance + (moments.variance_estimate - mean_variance), degrees, level)
    noiseless = normal * math.sqrt(mean_variance) if mean_variance >= 0 else math.nan
    return CoverageDecomposition(
        rule=rule,
        level=level,
        sets=law.sets,
        p=float(p),
        published=coverage(estimate, half),
        without_prior_bias=coverage(unbiased, half),
        with_whole_variance=coverage(estimate, whole),
        without_rule_noise=coverage(estimate, noiseless),
        repaired=coverage(unbiased, normal * math.sqrt(moments.variance_estimate)),
        bias=moments.bias,
        variance=moments.variance_estimate,
        mean_variance=mean_variance,
        error_bound=law.error_bound,
    )
