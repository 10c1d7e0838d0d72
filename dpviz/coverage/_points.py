"""Exact coverage at one proportion after the other: what does not depend on it is computed once."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from dpviz import limits
from dpviz.coverage._intervals import Asked, Point, Sums, ends_of, features, point_of, sums
from dpviz.coverage._many_sets import ManySets
from dpviz.coverage.estimates import estimate_law
from dpviz.coverage.law import LONE_TAIL, ROW_ERROR, likely_columns, release_law
from dpviz.inference.confidential import confidential_mixture, released_rows
from dpviz.inference.interval_rules import Releases, reached, releases
from dpviz.inference.sum_law import release_sums, within_sums
from dpviz.types import FloatArray

LARGEST_PAIR_ROWS = 1500
"""Most cells of the transition matrix, and rows of two sets, for which tables of all releases are kept in memory."""


def keeps_tables(asked: Asked) -> bool:
    """Whether tables of all releases are kept in memory, so that a point more on the axis costs little."""
    made, sets = asked.synthesizer, asked.sets
    large = (made.n + 1) * (made.m + 1) > limits.TABLE_ENTRIES or sets * made.m > LARGEST_PAIR_ROWS
    return sets > 2 or not large


def point_maker(asked: Asked, proportions: FloatArray) -> Callable[[float], Point]:
    """What gives the results at each of `proportions`, which are in increasing order."""
    if asked.by_sum:
        return SumPoints(asked, many=True).point
    if not keeps_tables(asked):
        return partial(single_point, asked)
    return FewSets(asked).point if asked.sets <= 2 else ManySets(asked, proportions).point


def single_point(asked: Asked, p: float) -> Point:
    """Results at one proportion from a law of its own."""
    if asked.by_sum:
        return SumPoints(asked, many=False).point(p)
    law = release_law(asked.synthesizer, p=p, sets=asked.sets)
    return point_of(sums(law.probability, law.releases, asked, p), asked, law.error_bound)


class SumPoints:
    """Rules that read the sum S alone, for up to 100 sets; the law of S given x is kept where it is small enough."""

    def __init__(self, asked: Asked, *, many: bool):
        self._asked, synthesizer, sets = asked, asked.synthesizer, asked.sets
        total = np.arange(sets * synthesizer.m + 1)
        unknown = np.full(len(total), math.nan)
        self._releases = Releases(synthesizer, sets, total, total / (len(total) - 1), unknown, unknown)
        kept = many and within_sums(synthesizer.n, synthesizer.m, sets)
        self._rows = release_sums(synthesizer, sets).rows if kept else None

    def point(self, p: float) -> Point:
        """Results at p."""
        law, omitted = self._law(p)
        found = sums(law, self._releases, self._asked, p)._replace(negative=math.nan)
        return point_of(found, self._asked, omitted + (self._asked.sets + 1) * ROW_ERROR)

    def _law(self, p: float) -> tuple[FloatArray, float]:
        synthesizer = self._asked.synthesizer
        if self._rows is None:
            return estimate_law(synthesizer, p=p, sets=self._asked.sets).probabilities, LONE_TAIL
        mixture = confidential_mixture(synthesizer.n, p, LONE_TAIL)
        return mixture.weights @ self._rows[mixture.counts], mixture.omitted


class FewSets:
    """One or two sets: the law is an array over the counts or pairs of counts, mixed by one product for each p."""

    def __init__(self, asked: Asked):
        self._asked, synthesizer, sets = asked, asked.synthesizer, asked.sets
        self._rows = released_rows(synthesizer, np.arange(synthesizer.n + 1))
        j = np.arange(synthesizer.m + 1)
        total, squares = (j, j**2) if sets == 1 else (np.add.outer(j, j), np.add.outer(j**2, j**2))
        found = releases(synthesizer, sets, total, squares)
        self._negative = found.negative_total
        ends = [ends_of(rule, found, asked.level) for rule in asked.rules]
        self._reached = [reached(*pair) for pair in ends]
        self._features = [[part.astype(float) for part in features(*pair)] for pair in ends]

    def point(self, p: float) -> Point:
        """Results at p."""
        sets, mixture = self._asked.sets, confidential_mixture(self._asked.synthesizer.n, p, LONE_TAIL)
        rows = self._rows[mixture.counts[0] : mixture.counts[-1] + 1]
        first, last, left = likely_columns(mixture.weights @ rows)
        kept, block = rows[:, first : last + 1], (slice(first, last + 1),) * sets
        law = mixture.weights @ kept if sets == 1 else (kept * mixture.weights[:, None]).T @ kept
        below = np.where(self._negative[block], law, 0.0)
        hits = [(low[block] <= p) & (p <= high[block]) for low, high in self._reached]
        found = Sums(
            covered=np.array([law[hit].sum() for hit in hits]),
            covered_negative=np.array([below[hit].sum() for hit in hits]),
            expected=np.array([[float(np.vdot(law, part[block])) for part in parts] for parts in self._features]),
            mass=float(law.sum()),
            negative=float(below.sum()),
        )
        return point_of(found, self._asked, mixture.omitted + sets * left + (sets + 1) * ROW_ERROR)
