"""Exact coverage of rules that read the sum of the counts alone: the law of the sum is enough, for up to 100 sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.coverage._intervals import Point, point_of, sums
from dpviz.coverage.estimates import estimate_law
from dpviz.coverage.law import LONE_TAIL, ROW_ERROR
from dpviz.inference.confidential import confidential_mixture
from dpviz.inference.interval_rules import IntervalRule, Releases
from dpviz.inference.sum_law import release_sums, within_sums
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray


class SumPoints:
    """Results at one proportion after the other; the law of S given x is kept where it is small enough."""

    def __init__(
        self,
        synthesizer: TwoCellSynthesizer,
        sets: int,
        rules: Sequence[IntervalRule],
        level: float,
        *,
        many: bool,
    ):
        self._synthesizer, self._sets, self._rules, self._level = synthesizer, sets, rules, level
        total = np.arange(sets * synthesizer.m + 1)
        unknown = np.full(len(total), math.nan)
        self._releases = Releases(synthesizer, sets, total, total / (len(total) - 1), unknown, unknown)
        kept = many and within_sums(synthesizer.n, synthesizer.m, sets)
        self._rows = release_sums(synthesizer, sets).rows if kept else None

    def point(self, p: float, confidential_count: int | None) -> Point:
        """Results at p."""
        law, omitted = self._law(p, confidential_count)
        found = sums(law, self._releases, self._rules, p, self._level)._replace(negative=math.nan)
        error = omitted + (self._sets + 1) * ROW_ERROR
        return point_of(found, self._synthesizer, self._sets, self._rules, self._level, error)

    def _law(self, p: float, confidential_count: int | None) -> tuple[FloatArray, float]:
        if self._rows is None:
            law = estimate_law(self._synthesizer, p=p, sets=self._sets, confidential_count=confidential_count)
            return law.probabilities, LONE_TAIL
        mixture = confidential_mixture(self._synthesizer.n, p, confidential_count, LONE_TAIL)
        return mixture.weights @ self._rows[mixture.counts], mixture.omitted
