"""Three sets or more at many proportions at once: what depends on x is computed once and mixed for each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpviz.coverage._fourier import Roots, least_spread, mixed_law_in_box, rounding_error
from dpviz.coverage._intervals import Asked, Features, Point, Sums, ends_of, features, point_of
from dpviz.coverage.law import BOX_ERROR, ROW_ERROR, TAIL, boxes_of
from dpviz.inference.confidential import confidential_mixture, released_rows
from dpviz.inference.interval_rules import Ends, IntervalRule, reached, releases
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import BoolArray, FloatArray, IntArray

NOISE = 1e-15
"""Probabilities of single releases below it are rounding of the transform, which an infinite width must not meet."""


class Runs(NamedTuple):
    """Runs of a flattened table of releases in which the covered places of an axis, and the sign of T_M, do not change.

    Each run starts at `starts`, covers the places from `first` to `beyond` − 1 of `size`, and T_M < 0 where `negative`.
    """

    starts: IntArray
    first: IntArray
    beyond: IntArray
    negative: BoolArray
    size: int

    @classmethod
    def along(cls, axis: FloatArray, ends: Ends, negative: BoolArray) -> Runs:
        """The runs of intervals with these ends."""
        exists = ~np.isnan(ends[0])
        lowest, highest = reached(*ends)
        first, beyond = np.zeros(exists.shape, np.int32), np.zeros(exists.shape, np.int32)
        first[exists] = np.searchsorted(axis, lowest[exists])
        beyond[exists] = np.searchsorted(axis, highest[exists], side="right")
        change = np.ones(exists.shape, dtype=bool)
        change[:, 1:] = False
        for table in (first, beyond, negative):
            change[:, 1:] |= table[:, 1:] != table[:, :-1]
        starts = np.flatnonzero(change)
        return cls(starts, first.ravel()[starts], beyond.ravel()[starts], negative.ravel()[starts], len(axis))

    def covered(self, law: FloatArray, offset: int, *, below: bool = False) -> FloatArray:
        """Coverage at every place, under a flat law that begins at `offset`; with `below`, then that with T_M < 0."""
        part = slice(*np.searchsorted(self.starts, [offset, offset + len(law)]))
        mass = np.add.reduceat(law, self.starts[part] - offset)
        found = []
        for weight in (mass, mass * self.negative[part]) if below else (mass,):
            steps = np.bincount(self.first[part], weight, self.size + 1)
            steps -= np.bincount(self.beyond[part], weight, self.size + 1)
            found.append(np.cumsum(steps[:-1]))
        return np.array(found)


class ManySets:
    """For each x one transform, whose law is added up by the proportions that it covers.

    The proportions that a release covers are neighbours on the axis. Along d they change in few places, so the law
    is first added up between those places. Where the synthesizer treats ones and zeros alike, count n − x at p is
    count x at 1 − p.

    Parameters
    ----------
    asked, proportions
        The design, and where results are asked for, in increasing order.
    every
        Whether all counts matter between two that do, as they do at proportions in between.
    """

    def __init__(self, asked: Asked, proportions: FloatArray, *, every: bool = False):
        self._asked, n, sets = asked, asked.synthesizer.n, asked.sets
        self._mixtures = {p: confidential_mixture(n, p, TAIL) for p in proportions.tolist()}
        counts = np.unique(np.concatenate([mixture.counts for mixture in self._mixtures.values()]))
        if every:
            counts = np.arange(counts[0], counts[-1] + 1)
        rows = released_rows(asked.synthesizer, counts)
        self._mirrored = _treats_alike(asked.synthesizer, counts, rows)
        self._axis = proportions
        if self._mirrored:
            counts, rows = counts[2 * counts <= n], rows[2 * counts <= n]
            self._axis = np.unique(np.concatenate([proportions, 1 - proportions]))
        self._rows = dict(zip(counts.tolist(), rows, strict=True))
        boxes = boxes_of(rows, sets, np.full(len(rows), BOX_ERROR))
        self._boxes = dict(zip(counts.tolist(), boxes, strict=True))
        self._roots = Roots(max(box.spread for box in boxes), max(box.last - box.first + 1 for box in boxes))
        self._low, length = min(box.low for box in boxes), self._roots.length
        size = max(box.high - box.low + 1 for box in boxes) * length
        self._error = BOX_ERROR + rounding_error(size, sets) + size * NOISE + (sets + 1) * ROW_ERROR
        total = np.arange(self._low, max(box.high for box in boxes) + 1)[:, None]
        squares = total + 2 * (least_spread(total, sets) + np.arange(length))
        self._found = releases(asked.synthesizer, sets, total, squares)
        self._negative, self._runs = self._found.negative_total, list[Runs]()
        parts = [np.ones(self._negative.size), self._negative.ravel().astype(float)]
        for ends in map(self._ends, asked.rules):
            parts += [part.ravel() for part in features(*ends)]
            self._runs.append(Runs.along(self._axis, ends, self._negative))
        self._features = np.array(parts)
        self._done: dict[int, tuple[FloatArray, FloatArray]] = {}

    def point(self, p: float) -> Point:
        """Results at p, which is one of the proportions."""
        asked, n, mixture = self._asked, self._asked.synthesizer.n, self._mixtures[p]
        here, mirrored = (int(np.searchsorted(self._axis, place)) for place in (p, 1 - p))
        covered: FloatArray = np.zeros((len(asked.rules), 2))
        expected: FloatArray = np.zeros(2 + len(asked.rules) * len(Features._fields))
        for count, weight in zip(mixture.counts.tolist(), mixture.weights, strict=True):
            turned = count not in self._boxes
            by_axis, means = self._of_count(n - count if turned else count)
            covered += weight * by_axis[:, :, mirrored if turned else here]
            expected += weight * means
        of_rules = expected[2:].reshape(len(asked.rules), -1)
        found = Sums(covered[:, 0], covered[:, 1], of_rules, float(expected[0]), float(expected[1]))
        return point_of(found, asked, mixture.omitted + self._error)

    def _of_count(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Given x: coverage of each rule, and that with T_M < 0, along the axis; the masses and `Features`."""
        if count not in self._done:
            law, offset = self._law_of(count), self._offset(count)
            covered = np.array([runs.covered(law, offset, below=True) for runs in self._runs])
            self._done[count] = covered, self._features[:, offset : offset + len(law)] @ law
        return self._done[count]

    def _ends(self, rule: IntervalRule) -> Ends:
        return ends_of(rule, self._found, self._asked.level)

    def _offset(self, count: int) -> int:
        """Where the law given x begins in the flattened tables."""
        return (self._boxes[count].low - self._low) * self._roots.length

    def _law_of(self, count: int) -> FloatArray:
        """The law given x, flat."""
        law = mixed_law_in_box(self._rows[count][None], np.ones(1), self._asked.sets, self._boxes[count], self._roots)
        law[law < NOISE] = 0.0
        return law.ravel()


def _treats_alike(synthesizer: TwoCellSynthesizer, counts: IntArray, rows: FloatArray) -> bool:
    """Whether row n − x is row x reversed, for all counts that matter and within rounding."""
    if not np.array_equal(counts, synthesizer.n - counts[::-1]):
        return False
    return bool(np.abs(rows - rows[::-1, ::-1]).sum(axis=1).max() <= ROW_ERROR)
