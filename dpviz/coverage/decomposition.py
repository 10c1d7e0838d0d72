"""Why an interval does not hold the true proportion as often as it says: three causes and the share of each."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.coverage.distributions import release_distribution
from dpviz.inference.combining_rules import CombiningRule
from dpviz.inference.interval_rules import contains, half_widths, t_quantile
from dpviz.inference.moments import set_moments
from dpviz.inference.rules import check_rule
from dpviz.mechanisms import TwoCellSynthesizer

REPAIRS = ("prior_bias", "ignored_variance", "rule_noise")
"""Keys of the causes that can be repaired, in the order in which readers see them."""

SMALLEST_SURE = 10_000  # How many times larger than its error E[T] must be for the causes to be told apart

NOT_NORMAL = "not_normal"
"""Key of what is left once all three are repaired: a normal quantile is used, and q̄ is not exactly normal."""


@dataclass(frozen=True, kw_only=True)
class CoverageDecomposition:
    """Coverage under the eight combinations of three repairs, and what each cause takes from it.

    `coverage` has the shape (2, 2, 2), one axis for each of `REPAIRS`, 1 where it is repaired, each off by at most
    `error_bound`. `bias` is E[q̄] − p, `variance` Var(q̄), `mean_variance` E[T] over all releases, `slope` dE[q̄]/dp.
    """

    rule: str
    level: float
    coverage: FloatArray
    bias: float
    variance: float
    mean_variance: float
    slope: float
    error_bound: float

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

        The share of each of `REPAIRS` is what its repair gains, averaged over the six orders of the three repairs:
        Shapley's (1953) value of the game that `coverage` is, so that they sum to `repaired` − `published`. A negative
        share is a cause that hides others. The last is what no repair brings back, `level` − `repaired`.
        """
        found = {}
        for place, key in enumerate(REPAIRS):
            gain = np.diff(self.coverage, axis=place).ravel()  # without the two others, with one, one, and both
            found[key] = float((2 * gain[0] + gain[1] + gain[2] + 2 * gain[3]) / 6)
        return {**found, NOT_NORMAL: self.level - self.repaired}

    @property
    def main_cause(self) -> str | None:
        """The key of `lost` that outweighs all others together, whatever their signs; None where there is none.

        Such a cause makes more than half of `level` − `published`, and if it can be repaired more than half of what
        the three repairs gain together, in their direction.
        """
        sizes = {key: abs(value) for key, value in self.lost.items()}
        key = max(sizes, key=lambda one: sizes[one])
        return key if 2 * sizes[key] > sum(sizes.values()) else None

    @property
    def unbiased_standard_error(self) -> float:
        """√Var(q̄) / |slope|, the standard error of the estimate read off q̄ = E[q̄ | p]; infinite at slope 0."""
        return math.sqrt(self.variance) / abs(self.slope) if self.slope else math.inf


def coverage_decomposition(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float = 0.95
) -> CoverageDecomposition:
    """Return the coverage of q̄ ± t √T under every combination of three repairs, each a sum over every release.

    1. *Prior bias.* The interval is read as one for E[q̄] and carried to p by the curve p ↦ E[q̄ | p]. With a prior that
       is q̄ = (α + np)/A, A = n + α + β: the center becomes (A q̄ − α)/n and the interval A/n times as long, as the
       standard error of that estimate is. It holds p where |q̄ − E[q̄]| ≤ t √T, whatever the shape of the curve.
    2. *Ignored variance.* T is multiplied by Var(q̄)/E[T], so that it is right on average; where E[T] ≤ 0 no factor
       does that, and Var(q̄) itself takes its place.
    3. *Rule noise.* T is replaced by its expectation and the t quantile by the normal one; no interval where E[T] < 0.
    E[q̄] and Var(q̄) are in closed form (`set_moments`), E[T] is from the distribution of the releases; one too small
    to be known is refused. Parameters are those of `exact_coverage`.
    Source: Shapley (1953), *A value for n-person games*, for the shares.
    Charest's T* at ε = 2, p = 1/4, M = 5: the center costs more than the long intervals give back.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 5)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> found = coverage_decomposition(synthesizer=release, p=0.25, sets=5, rule="reiter_2002")
    >>> round(found.published, 4), round(found.repaired, 4), found.main_cause
    (0.8115, 0.9477, 'prior_bias')
    >>> [round(share, 3) for share in found.lost.values()]
    [0.603, -0.073, -0.394, 0.002]
    """
    p = PROPORTION.validate(p)
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    chosen = check_rule(rule, sets)
    if not isinstance(chosen, CombiningRule):
        raise ValueError(f'rule must be one that has a variance T to repair; "{chosen.label}" has none.')
    distribution, moments = release_distribution(synthesizer, p=p, sets=sets), set_moments(synthesizer, p=p, sets=sets)
    read, rows = distribution.releases, synthesizer.m
    variance, degrees = chosen.variance_and_degrees(
        read.between, read.within, sets=sets, synthetic_ratio=read.synthetic_ratio
    )
    mean = float(distribution.probability @ variance / distribution.probability.sum())
    most = chosen.largest_variance(sets=sets, rows=rows, synthetic_ratio=read.synthetic_ratio)
    unsure = distribution.left_out * min(most, max(float(np.abs(variance).max()), 1 / rows))
    if abs(mean) < SMALLEST_SURE * unsure:
        raise ValueError(
            f"E[T] is {format_number(mean, 2)} here, so small that the releases left out of the sums, of probability "
            "up "
            f"to {format_number(distribution.left_out, 1)}, may decide it: the causes cannot be told apart. Choose "
            "another p"
            f"{' or prior' if synthesizer.has_prior else ''}."
        )
    right = moments.variance_estimate
    normal = float(t_quantile(np.array(math.inf), level))
    mended = variance / mean * right if mean > 0 else np.full(variance.shape, right)
    half = {
        (0, 0): half_widths(variance, degrees, level),
        (1, 0): half_widths(mended, degrees, level),
        (0, 1): np.array(normal * math.sqrt(mean) if mean >= 0 else math.nan),
        (1, 1): np.array(normal * math.sqrt(right)),
    }
    coverage = np.empty((2, 2, 2))
    for prior, whole, quiet in itertools.product((0, 1), repeat=3):
        reach, target = half[whole, quiet], (p, moments.mean_estimate)[prior]
        held = contains(read.estimate - reach, read.estimate + reach, target)
        coverage[prior, whole, quiet] = min(float(distribution.probability[held].sum()), 1.0)
    return CoverageDecomposition(
        rule=rule,
        level=level,
        coverage=coverage,
        bias=moments.bias,
        variance=right,
        mean_variance=mean,
        slope=moments.slope,
        error_bound=distribution.error_bound,
    )
