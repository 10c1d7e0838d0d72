"""Every rule for an interval from M sets: those that combine the sets, and those that know how they were made."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpviz.core.declarations import LEVEL, SETS
from dpviz.core.formatting import describe_value
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import Ends, IntervalRule, Quantiles, Releases
from dpviz.inference.inverted_tests import blaker_ends, equal_tailed_ends
from dpviz.inference.noise_aware import posterior_ends, posterior_means, score_ends
from dpviz.inference.quantiles import quantile
from dpviz.inference.sum_distribution import ReleaseSums, release_sums, within_sums
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.mechanisms.plug_ins import PlugIn

MOST_SUMS = 20_000  # Sums whose ends are searched for in a second

EndsBySum = Callable[[TwoCellSynthesizer, int, float], Ends]
_sums = lru_cache(maxsize=2)(release_sums)  # tables of up to 48 MB each


@lru_cache(maxsize=64)
def _ends(table: EndsBySum, synthesizer: TwoCellSynthesizer, sets: int, level: float) -> Ends:
    found = table(synthesizer, sets, level)
    for ends in found:
        ends.setflags(write=False)
    return found


def _from_sums(ends: Callable[[ReleaseSums, float], Ends]) -> EndsBySum:
    return lambda synthesizer, sets, level: ends(_sums(synthesizer, sets), level)


@dataclass(frozen=True, kw_only=True)
class NoiseAwareRule(IntervalRule):
    """A rule whose interval is looked up by the sum S in a `table` that the design makes: ends for S = 0 … Mm."""

    table: EndsBySum
    closed_form_for: tuple[type[TwoCellSynthesizer], ...] = ()  # synthesizers for which no size is too large
    short_form_for: tuple[type[TwoCellSynthesizer], ...] = ()  # those that need no table for up to `MOST_SUMS` sums
    knows_noise: ClassVar[bool] = True

    def ends(self, found: Releases, level: float, quantiles: Quantiles = quantile) -> Ends:
        del quantiles
        low, high = (end[found.total] for end in self.by_sum(found.synthesizer, found.sets, level))
        impossible = found.within < 0
        if impossible.any():
            return np.where(impossible, np.nan, low), np.where(impossible, np.nan, high)
        return low, high

    def fits(self, synthesizer: TwoCellSynthesizer, sets: int) -> bool:
        """As for `IntervalRule`; without a closed form neither the sums nor the table of them may be too many."""
        if isinstance(synthesizer, self.closed_form_for):
            return True
        few = sets * synthesizer.m <= MOST_SUMS
        return few and (isinstance(synthesizer, self.short_form_for) or within_sums(synthesizer.n, synthesizer.m, sets))

    def by_sum(self, synthesizer: TwoCellSynthesizer, sets: int, level: float = 0.95) -> Ends:
        """Return the lower and upper ends for S = 0 … Mm; a ValueError where the table of sums would be too large."""
        sets = SETS.validate(sets)
        level = LEVEL.validate(level)
        return _ends(self.table, synthesizer, sets, level)

    def largest_width(self, **_: float) -> float:
        return 1.0


# fmt: off
_RULES = (
    NoiseAwareRule(
        key="score", label="Noise-aware score (Wilson's)", abbreviation="noise-aware score",
        way="by the noise-aware score",
        formula="all p with (q̄ − E[q̄ | p])² ≤ z² Var(q̄ | p), from mean and variance of the synthesizer's rows; for "
        "the Beta-binomial and the mean plug-in E[q̄ | p] = (np + α)/(n + α + β)",
        source="Wilson (1927), with the release's own mean and variance; Kao & Reiter (2025) on noise-aware rules",
        table=score_ends, closed_form_for=(BetaBinomial, PlugIn), short_form_for=(NoiseSanitizer,),
    ),
    NoiseAwareRule(
        key="posterior", label="Posterior given the sum", abbreviation="posterior",
        way="from the posterior given the sum",
        formula="quantiles (1 ± level)/2 of p given S = Σ x̃, uniform prior; for one set, and for plug-ins, those "
        "given all counts",
        source="Charest (2011), §4, for the model",
        table=_from_sums(posterior_ends), estimates=posterior_means,
    ),
    NoiseAwareRule(
        key="clopper_pearson", label="Equal tails, exact (Clopper & Pearson's)", abbreviation="equal tails",
        way="by exact equal tails",
        formula="all p with Pr(S' ≥ S | p) and Pr(S' ≤ S | p) above (1 − level)/2; holds its level at every p",
        source="Clopper & Pearson (1934), for the distribution of S; Awan & Slavković (2020) for optimal tests",
        table=_from_sums(equal_tailed_ends),
    ),
    NoiseAwareRule(
        key="blaker_2000", label="Ordered tails, exact (Blaker's)", abbreviation="Blaker",
        way="by exact ordered tails",
        formula="hull of all p with Pr(t(S') ≤ t(S) | p) > 1 − level, t(S) the smaller tail of S under p, or "
        "more where that is no interval; holds its level at every p, inside the equal tails",
        source="Blaker (2000), for the distribution of S; Sterne (1954) orders by the probability of S",
        table=_from_sums(blaker_ends),
    ),
)
# fmt: on
NOISE_AWARE_RULES = {rule.key: rule for rule in _RULES}
"""Every rule that knows how the sets were made, by its key, in the order in which readers see them."""

RULES: dict[str, IntervalRule] = {**COMBINING_RULES, **NOISE_AWARE_RULES}
"""Every rule by its key, in the order in which readers see them."""


def check_rule(key: str, sets: int) -> IntervalRule:
    """Return the rule named `key`, or a ValueError where there is none or it is not defined for so few sets.

    >>> check_rule("reiter_2003", 1)
    Traceback (most recent call last):
    ValueError: The rule "Reiter 2003 (Liu's Theorem 7)" needs at least 2 sets; got 1.
    """
    sets = SETS.validate(sets)
    if key not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {describe_value(key)}.")
    RULES[key].check_sets(sets)
    return RULES[key]
