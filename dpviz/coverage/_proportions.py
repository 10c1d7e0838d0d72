"""Exact coverage at many proportions at once: what depends on x is computed once and mixed for every proportion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.coverage._fourier import Roots, law_in_box, least_spread, rounding_error
from dpviz.coverage._half_widths import half_widths
from dpviz.coverage._law import BOX_ERROR, LONE_TAIL, ROW_ERROR, TAIL, boxes_of, likely_columns, release_law
from dpviz.coverage.exact import coverage_of_law
from dpviz.inference._confidential import confidential_mixture, released_rows
from dpviz.inference._variances import ROUNDING
from dpviz.inference.combining_rules import CombiningRule, covers, estimate_and_variances
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import FloatArray, IntArray

NOISE = 1e-15
"""Probabilities of single releases below it are rounding of the transform, which an infinite width must not meet."""


LARGEST_TABLE, LARGEST_PAIR_ROWS = 4_000_000, 1500
"""Most cells of the transition matrix, and rows of two sets, for which tables of all releases are kept in memory."""


class Point(NamedTuple):
    """Results at one proportion, one number for each rule, and the error bound of its probabilities."""

    coverage: FloatArray
    mean_width: FloatArray
    mean_width_inside: FloatArray
    negative_variance_share: FloatArray
    error_bound: float


def points(
    synthesizer: TwoCellSynthesizer,
    proportions: FloatArray,
    order: IntArray,
    sets: int,
    rules: Sequence[CombiningRule],
    level: float,
    confidential_count: int | None,
) -> Iterator[Point]:
    """Results at ``proportions[order]``, one after the other; `proportions` in increasing order."""
    large = (synthesizer.n + 1) * (synthesizer.m + 1) > LARGEST_TABLE or sets * synthesizer.m > LARGEST_PAIR_ROWS
    if sets <= 2 and large:
        for index in order:
            yield single_point(synthesizer, float(proportions[index]), sets, rules, level, confidential_count)
    elif sets <= 2:
        few = FewSets(synthesizer, sets, rules, level)
        for index in order:
            yield few.point(float(proportions[index]), confidential_count)
    else:
        many = ManySets(synthesizer, proportions, sets, rules, level, confidential_count)
        for index in order:
            yield many.point(int(index))


def single_point(
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rules: Sequence[CombiningRule],
    level: float,
    confidential_count: int | None,
) -> Point:
    """Results at one proportion from a law of its own."""
    law = release_law(synthesizer, p=p, sets=sets, confidential_count=confidential_count)
    covered, width, inside, negative = np.array([coverage_of_law(law, rule, p, level) for rule in rules]).T
    return Point(covered, width, inside, negative, law.error_bound)


class FewSets:
    """One or two sets: the law is an array over the counts or pairs of counts, mixed by one product for each p."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, rules: Sequence[CombiningRule], level: float):
        self._n, self._sets = synthesizer.n, sets
        self._rows = released_rows(synthesizer, np.arange(synthesizer.n + 1))
        j = np.arange(synthesizer.m + 1)
        total, squares = (j, j**2) if sets == 1 else (np.add.outer(j, j), np.add.outer(j**2, j**2))
        self._estimate, between, within = estimate_and_variances(total, squares, sets=sets, rows=synthesizer.m)
        ratio = synthesizer.m / synthesizer.n
        self._half = [
            half_widths(rule, between, within, sets=sets, synthetic_ratio=ratio, level=level) for rule in rules
        ]
        self._widths = [widths(self._estimate, half) for half in self._half]

    def point(self, p: float, confidential_count: int | None) -> Point:
        """Results at p."""
        mixture = confidential_mixture(self._n, p, confidential_count, LONE_TAIL)
        rows = self._rows[mixture.counts[0] : mixture.counts[-1] + 1]
        first, last, left = likely_columns(mixture.weights @ rows)
        kept, block = rows[:, first : last + 1], (slice(first, last + 1),) * self._sets
        law = mixture.weights @ kept if self._sets == 1 else (kept * mixture.weights[:, None]).T @ kept
        estimate = self._estimate[block]
        covered, found = [], []
        for half, parts in zip(self._half, self._widths, strict=True):
            covered.append(law[covers(estimate, half[block], p)].sum())
            found.append([float(np.vdot(law, part[block])) for part in parts])
        error = mixture.omitted + self._sets * left + (self._sets + 1) * ROW_ERROR
        return _point(np.array(covered), np.array(found), error)


class ManySets:
    """Three sets or more: for each x one transform, whose law is added up by the proportions that it covers.

    The proportions that a release covers are neighbours on the axis. Along d they change in few places, so the law
    is first added up between those places. Where the synthesizer treats ones and zeros alike, count n − x at p is
    count x at 1 − p.
    """

    def __init__(
        self,
        synthesizer: TwoCellSynthesizer,
        proportions: FloatArray,
        sets: int,
        rules: Sequence[CombiningRule],
        level: float,
        confidential_count: int | None,
    ):
        self._n, self._sets, self._fixed = synthesizer.n, sets, confidential_count
        self._proportions = proportions
        mixtures = [confidential_mixture(self._n, float(p), confidential_count, TAIL) for p in proportions]
        counts = np.unique(np.concatenate([mixture.counts for mixture in mixtures]))
        rows = released_rows(synthesizer, counts)
        self._mixtures = mixtures
        self._mirrored = confidential_count is None and _treats_alike(synthesizer, counts, rows)
        if self._mirrored:
            counts, rows = counts[2 * counts <= self._n], rows[2 * counts <= self._n]
            self._axis = np.unique(np.concatenate([proportions, 1 - proportions]))
        else:
            self._axis = proportions
        self._places = np.searchsorted(self._axis, proportions)
        self._mirror_places = np.searchsorted(self._axis, 1 - proportions) if self._mirrored else self._places
        self._counts = {int(count): index for index, count in enumerate(counts)}
        self._rows = rows
        self._boxes = boxes_of(rows, sets, np.full(len(rows), BOX_ERROR))
        widest = max(box.last - box.first + 1 for box in self._boxes)
        self._roots = Roots(max(box.spread for box in self._boxes), widest)
        self._low, high = min(box.low for box in self._boxes), max(box.high for box in self._boxes)
        size = max(box.high - box.low + 1 for box in self._boxes) * self._roots.length
        self._error = BOX_ERROR + rounding_error(size, sets) + size * NOISE + (sets + 1) * ROW_ERROR
        self._tables = _Tables(synthesizer, self._low, high, self._roots.length, sets, rules, level, self._axis)
        self._done: dict[int, tuple[FloatArray, FloatArray]] = {}

    def point(self, index: int) -> Point:
        """Results at the proportion with that index."""
        mixture = self._mixtures[index]
        covered: FloatArray = np.zeros(len(self._tables.runs))
        found: FloatArray = np.zeros((len(self._tables.runs), 4))
        for count, weight in zip(mixture.counts, mixture.weights, strict=True):
            turned = int(count) not in self._counts
            by_axis, expected = self._of_count(self._n - int(count) if turned else int(count))
            covered += weight * by_axis[:, self._mirror_places[index] if turned else self._places[index]]
            found += weight * expected
        return _point(covered, found, mixture.omitted + self._error)

    def _of_count(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Coverage given x at every proportion of the axis, and the expectations of `widths`, for each rule."""
        if count not in self._done:
            box = self._boxes[self._counts[count]]
            law = law_in_box(self._rows[self._counts[count]], self._sets, box, self._roots)
            law[law < NOISE] = 0.0
            self._done[count] = self._tables.results(law, box.low - self._low)
        return self._done[count]


class _Tables:
    """For every release (S, d) and rule: the proportions it covers, and what `widths` gives."""

    def __init__(
        self,
        synthesizer: TwoCellSynthesizer,
        low: int,
        high: int,
        length: int,
        sets: int,
        rules: Sequence[CombiningRule],
        level: float,
        axis: FloatArray,
    ):
        self._length, self._axis = length, axis
        total = np.arange(low, high + 1)[:, None]
        squares = total + 2 * (least_spread(total, sets) + np.arange(length))
        estimate, between, within = estimate_and_variances(total, squares, sets=sets, rows=synthesizer.m)
        possible = within >= 0
        within = np.maximum(within, 0.0)
        ratio = synthesizer.m / synthesizer.n
        self.runs: list[tuple[IntArray, IntArray, IntArray]] = []
        features = []
        for rule in rules:
            half = half_widths(rule, between, within, sets=sets, synthetic_ratio=ratio, level=level)
            half[~possible] = math.nan
            features.append([part.ravel() for part in widths(np.broadcast_to(estimate, half.shape), half)])
            self.runs.append(self._runs(estimate, half))
        self._features = np.array(features)

    def _runs(self, estimate: FloatArray, half: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
        """Where the covered proportions change along the flattened table, and the first and last + 1 of each run."""
        reach = half * (1 + ROUNDING)
        exists = ~np.isnan(half)
        first, beyond = np.zeros(half.shape, np.int32), np.zeros(half.shape, np.int32)
        first[exists] = np.searchsorted(self._axis, ((estimate - reach) / (1 + ROUNDING))[exists])
        beyond[exists] = np.searchsorted(self._axis, ((estimate + reach) / (1 - ROUNDING))[exists], side="right")
        change = np.ones(half.shape, dtype=bool)
        change[:, 1:] = (first[:, 1:] != first[:, :-1]) | (beyond[:, 1:] != beyond[:, :-1])
        starts = np.flatnonzero(change)
        return starts, first.ravel()[starts], beyond.ravel()[starts]

    def results(self, law: FloatArray, row: int) -> tuple[FloatArray, FloatArray]:
        """Coverage at every proportion of the axis and expected widths, for a law whose first sum is that row."""
        flat, offset, count = law.ravel(), row * self._length, len(self._axis) + 1
        covered = np.empty((len(self.runs), len(self._axis)))
        for index, (starts, first, beyond) in enumerate(self.runs):
            part = slice(*np.searchsorted(starts, [offset, offset + len(flat)]))
            mass = np.add.reduceat(flat, starts[part] - offset)
            steps = np.bincount(first[part], mass, count) - np.bincount(beyond[part], mass, count)
            covered[index] = np.cumsum(steps[:-1])
        return covered, self._features[:, :, offset : offset + len(flat)] @ flat


def widths(estimate: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Width where finite, width between 0 and 1, whether infinite, whether there is none: what means are made of."""
    none, infinite = np.isnan(half), np.isposinf(half)
    inside = np.minimum(estimate + half, 1.0) - np.maximum(estimate - half, 0.0)
    return (
        np.where(none | infinite, 0.0, 2 * half),
        np.where(none, 0.0, np.maximum(inside, 0.0)),
        infinite.astype(float),
        none.astype(float),
    )


def _point(covered: FloatArray, found: FloatArray, error: float) -> Point:
    width, inside, infinite, none = found.T
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(infinite > 0, math.inf, width / (1 - none))
        mean_inside = inside / (1 - none)
    return Point(np.minimum(covered, 1.0), mean, mean_inside, none, error)


def _treats_alike(synthesizer: TwoCellSynthesizer, counts: IntArray, rows: FloatArray) -> bool:
    """Whether row n − x is row x reversed, for all counts that matter and within rounding."""
    if not np.array_equal(counts, synthesizer.n - counts[::-1]):
        return False
    return bool(np.abs(rows - rows[::-1, ::-1]).sum(axis=1).max() <= ROW_ERROR)
