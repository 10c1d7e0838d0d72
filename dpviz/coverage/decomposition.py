"""Why an interval does not hold the true proportion as often as it says: three causes."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference.combining_rules import CombiningRule
from dpviz.inference.interval_rules import contains, half_widths, t_quantile
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import check_rule
from dpviz.mechanisms import TwoCellSynthesizer

REPAIRS = ("prior_bias", "ignored_variance", "rule_noise")
"""Keys of the causes that can be repaired, in the order in which they are."""

NOT_NORMAL = "not_normal"
"""Key of what is left once all three are repaired: a normal quantile is used, and q̄ is not exactly normal."""


@dataclass(frozen=True, kw_only=True)
class CoverageDecomposition:
    """Coverage under the eight combinations of three repairs, and what each cause takes from it."""

    synthesizer: TwoCellSynthesizer
    rule: str
    level: float
    coverage: FloatArray  # shape (2, 2, 2), one axis for each of `REPAIRS`, 1 where it is repaired
    bias: float  # E[q̄] − p
    variance: float  # Var(q̄)
    mean_variance: float  # E[T] over all releases
    slope: float  # dE[q̄]/dp
    error_bound: float  # of each coverage

    @property
    def published(self) -> float:
        """Coverage of the rule as it is."""
        return float(self.coverage[0, 0, 0])

    @property
    def repaired(self) -> float:
        """Coverage with all three repairs: q̄ ± z √Var(q̄), read as an interval for E[q̄]."""
        return float(self.coverage[1, 1, 1])

    @property
    def lost(self) -> dict[str, float]:
        """What each cause takes from the level (negative: adds to it), `level` − `published` in all.

        That of each of `REPAIRS` is what its repair gains after those before it; the last is what no repair brings
        back, `level` − `repaired`.
        """
        steps = [self.coverage[0, 0, 0], self.coverage[1, 0, 0], self.coverage[1, 1, 0], self.coverage[1, 1, 1]]
        gains = np.diff([*steps, self.level]).tolist()
        return dict(zip((*REPAIRS, NOT_NORMAL), gains, strict=True))

    @property
    def main_cause(self) -> str:
        """Key of the entry of `lost` that is largest in absolute value."""
        return max(self.lost, key=lambda key: abs(self.lost[key]))

    @property
    def unbiased_standard_error(self) -> float:
        """√Var(q̄) / |slope|, the standard error of the estimate read off q̄ = E[q̄ | p]; infinite at slope 0."""
        return math.sqrt(self.variance) / abs(self.slope) if self.slope else math.inf


def coverage_decomposition(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float = 0.95
) -> CoverageDecomposition:
    """Coverage of q̄ ± t √T under every combination of three repairs.

    Parameters
    ----------
    synthesizer, p, sets, rule, level
        As in `exact_coverage`; the rule must have a variance T.

    Raises
    ------
    ValueError
        If the rule has no T, the sums would take too long, or E[T] is too small for their error.

    Notes
    -----
    1. *Prior bias.* The interval is read as one for E[q̄] and carried to p by the curve p ↦ E[q̄ | p]. With a prior that
       is q̄ = (α + np)/A, A = n + α + β: the center becomes (A q̄ − α)/n and the interval A/n times as long, as the
       standard error of that estimate is. It holds p where |q̄ − E[q̄]| ≤ t √T, whatever the shape of the curve.
    2. *Ignored variance.* T is multiplied by Var(q̄)/E[T], so that it is right on average; where E[T] ≤ 0 no factor
       does that, and Var(q̄) itself takes its place.
    3. *Rule noise.* T is replaced by its expectation and the t quantile by the normal one; no interval where E[T] < 0.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 5: the center costs more than the long intervals give back.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 5)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> result = coverage_decomposition(synthesizer=release, p=0.25, sets=5, rule="reiter_2002")
    >>> round(result.published, 4), round(result.repaired, 4), result.main_cause
    (0.8115, 0.9477, 'prior_bias')
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    chosen = check_rule(rule, sets)
    if not isinstance(chosen, CombiningRule):
        raise ValueError(f'rule must be one that has a variance T to repair; "{chosen.label}" has none.')

    # T of every release, and E[T]; refused if releases left out of the sums, with |T| up to `largest`, could decide it
    distribution = release_distribution(synthesizer, p=p, sets=sets)
    statistics = distribution.statistics
    ratio = statistics.synthetic_ratio
    moments = set_moments(synthesizer, p=p, sets=sets)
    variance, degrees = chosen.variance_and_degrees(
        statistics.between, statistics.within, sets=sets, synthetic_ratio=ratio
    )
    mean = float(distribution.probability @ variance / distribution.probability.sum())
    largest = chosen.largest_variance(sets=sets, rows=synthesizer.m, synthetic_ratio=ratio)
    largest = min(largest, max(float(np.abs(variance).max()), 1 / synthesizer.m))
    if abs(mean) < 10_000 * distribution.error_bound * largest:
        advice = "another p or prior" if synthesizer.has_prior else "another p"
        raise ValueError(
            f"E[T] is {format_number(mean, 2)} here, so small that the releases left out of the sums, of probability "
            f"up to {format_number(distribution.error_bound, 1)}, may decide it: the causes cannot be told apart. "
            f"Choose {advice}."
        )

    # Half widths, by whether the variance is right on average and has no noise
    right = moments.variance_estimate
    normal = float(t_quantile(np.array(math.inf), level))
    scaled = variance / mean * right if mean > 0 else np.full(variance.shape, right)
    half = {
        (0, 0): half_widths(variance, degrees, level),
        (1, 0): half_widths(scaled, degrees, level),
        (0, 1): np.array(normal * math.sqrt(mean) if mean >= 0 else math.nan),
        (1, 1): np.array(normal * math.sqrt(right)),
    }
    coverage = np.empty((2, 2, 2))
    for repairs in itertools.product((0, 1), repeat=3):
        width = half[repairs[1], repairs[2]]
        target = moments.mean_estimate if repairs[0] else p
        covers = contains(statistics.estimate - width, statistics.estimate + width, target)
        coverage[repairs] = min(float(distribution.probability[covers].sum()), 1.0)
    return CoverageDecomposition(
        synthesizer=synthesizer, rule=rule, level=level, coverage=coverage, bias=moments.bias, variance=right,
        mean_variance=mean, slope=moments.slope, error_bound=distribution.error_bound,
    )  # fmt: skip
