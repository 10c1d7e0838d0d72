"""What an analyst takes for the proportion, who may know how the sets were made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpviz.comparisons.binary_measures import RowMoments, row_moments
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.sum_law import release_sums
from dpviz.synthesizers import TwoCellSynthesizer

FEW_SUMS = 2_000_000  # Numbers of the distribution of the sum up to which an estimate from it comes at once


class Estimate(ABC):
    """A way from the counts of M sets to the proportion."""

    words: ClassVar[str]

    @abstractmethod
    def fits(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:
        """Return whether an analyst who uses this rule has this estimate from such sets."""

    @abstractmethod
    def moments(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
        """Return the mean and variance of the estimate from all sets for x = 0 … n."""


class RuleEstimate(Estimate):
    """The estimate that the rule itself has for every sum."""

    words = "the posterior mean given the sum of the released counts, every proportion equally probable before"

    def fits(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:
        few = (made.n + 1) * (sets * made.m + 1) <= FEW_SUMS
        return rule.estimates is not None and few and rule.fits(made, sets)

    def moments(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
        return _moments_by_sum(made, sets, rule)


@lru_cache(maxsize=1024)
def _moments_by_sum(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:
    """Σ_s Pr(s | x) (estimate of s) for x = 0 … n, and the variance."""
    assert rule.estimates is not None
    sums = release_sums(made, sets)
    estimates = rule.estimates(sums)
    mean = sums.rows @ estimates
    return RowMoments(mean, np.einsum("xs,xs->x", sums.rows, (estimates - mean[:, None]) ** 2))


class LineTakenBack(Estimate):
    """(q̄ − a)/b where E[q̄ | x] = a + b x/n: on average x/n, whatever the data are."""

    words = "the mean share of the sets with what the prior adds on average taken back, which may leave 0 to 1"

    def fits(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:  # noqa: ARG002
        return rule.knows_noise and made.line_of_means() is not None

    def moments(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:  # noqa: ARG002
        line = made.line_of_means()
        assert line is not None
        return RowMoments(np.linspace(0, 1, made.n + 1), row_moments(made).of_sets(sets).variance / line[1] ** 2)


class MeanOfSets(Estimate):
    """q̄."""

    words = "the mean share of the sets, as it is released"

    def fits(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> bool:  # noqa: ARG002
        return True

    def moments(self, made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> RowMoments:  # noqa: ARG002
        return row_moments(made).of_sets(sets)


ESTIMATES: tuple[Estimate, ...] = (RuleEstimate(), LineTakenBack(), MeanOfSets())
"""Every estimate, of which an analyst takes the first that fits."""


def estimate_for(made: TwoCellSynthesizer, sets: int, rule: IntervalRule) -> Estimate:
    """Return what an analyst who uses this rule takes for the proportion."""
    return next(one for one in ESTIMATES if one.fits(made, sets, rule))
