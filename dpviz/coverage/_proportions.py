"""Exact coverage at many proportions at once: what depends on x is computed once and mixed for every proportion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import binom

from dpviz import limits
from dpviz.coverage._fourier import Roots, law_in_box, least_spread, rounding_error
from dpviz.coverage._intervals import Features, Point, Sums, ends_of, features, point_of, sums
from dpviz.coverage._sums import SumPoints
from dpviz.coverage.law import BOX_ERROR, LONE_TAIL, ROW_ERROR, TAIL, boxes_of, likely_columns, release_law
from dpviz.inference.confidential import confidential_mixture, released_rows
from dpviz.inference.interval_rules import IntervalRule, reached, releases
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import BoolArray, FloatArray, IntArray

Runs = tuple[IntArray, IntArray, IntArray]

NOISE = 1e-15
"""Probabilities of single releases below it are rounding of the transform, which an infinite width must not meet."""


LARGEST_PAIR_ROWS = 1500
"""Most cells of the transition matrix, and rows of two sets, for which tables of all releases are kept in memory."""


MOST_JUMPS = 6000
"""Most ends of intervals, of all rules together, for which a line gets a point on both sides of each."""

SMALLEST_JUMP = 1e-6
"""Probability of a release given x below which its jumps do not count."""

BESIDE = 1e-9
"""Distance of a point of a line from the jump beside it."""


def keeps_tables(synthesizer: TwoCellSynthesizer, sets: int) -> bool:
    """Whether tables of all releases are kept in memory, so that a point more on the axis costs little."""
    large = (synthesizer.n + 1) * (synthesizer.m + 1) > limits.TABLE_ENTRIES or sets * synthesizer.m > LARGEST_PAIR_ROWS
    return sets > 2 or not large


def points(
    synthesizer: TwoCellSynthesizer,
    proportions: FloatArray,
    order: IntArray,
    sets: int,
    rules: Sequence[IntervalRule],
    level: float,
    confidential_count: int | None,
    tables: ManySets | None = None,
) -> Iterator[Point]:
    """Results at ``proportions[order]``, one after the other; `proportions` in increasing order.

    `tables` are those of three sets or more, where somebody has them.
    """
    if tables is None and by_sum(rules):
        lone = SumPoints(synthesizer, sets, rules, level, many=True)
        for index in order:
            yield lone.point(float(proportions[index]), confidential_count)
        return
    if not keeps_tables(synthesizer, sets):
        for index in order:
            yield single_point(synthesizer, float(proportions[index]), sets, rules, level, confidential_count)
    elif sets <= 2:
        few = FewSets(synthesizer, sets, rules, level)
        for index in order:
            yield few.point(float(proportions[index]), confidential_count)
    else:
        many = tables or ManySets(synthesizer, proportions, sets, rules, level, confidential_count)
        for index in order:
            yield many.point(int(index))


def by_sum(rules: Sequence[IntervalRule]) -> bool:
    """Whether the sum of the counts is all that the rules read of a release."""
    return all(rule.knows_noise for rule in rules)


def single_point(
    synthesizer: TwoCellSynthesizer,
    p: float,
    sets: int,
    rules: Sequence[IntervalRule],
    level: float,
    confidential_count: int | None,
) -> Point:
    """Results at one proportion from a law of its own."""
    if by_sum(rules):
        return SumPoints(synthesizer, sets, rules, level, many=False).point(p, confidential_count)
    law = release_law(synthesizer, p=p, sets=sets, confidential_count=confidential_count)
    found = releases(synthesizer, law.sets, law.total, law.squares)
    return point_of(sums(law.probability, found, rules, p, level), synthesizer, sets, rules, level, law.error_bound)


class FewSets:
    """One or two sets: the law is an array over the counts or pairs of counts, mixed by one product for each p."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, rules: Sequence[IntervalRule], level: float):
        self._synthesizer, self._sets, self._rules, self._level = synthesizer, sets, rules, level
        self._rows = released_rows(synthesizer, np.arange(synthesizer.n + 1))
        j = np.arange(synthesizer.m + 1)
        total, squares = (j, j**2) if sets == 1 else (np.add.outer(j, j), np.add.outer(j**2, j**2))
        found = releases(synthesizer, sets, total, squares)
        self._negative = found.negative_total
        ends = [ends_of(rule, found, level) for rule in rules]
        self._reached = [reached(*pair) for pair in ends]
        self._features = [features(*pair) for pair in ends]

    def point(self, p: float, confidential_count: int | None) -> Point:
        """Results at p."""
        mixture = confidential_mixture(self._synthesizer.n, p, confidential_count, LONE_TAIL)
        rows = self._rows[mixture.counts[0] : mixture.counts[-1] + 1]
        first, last, left = likely_columns(mixture.weights @ rows)
        kept, block = rows[:, first : last + 1], (slice(first, last + 1),) * self._sets
        law = mixture.weights @ kept if self._sets == 1 else (kept * mixture.weights[:, None]).T @ kept
        below = np.where(self._negative[block], law, 0.0)
        hits = [(low[block] <= p) & (p <= high[block]) for low, high in self._reached]
        found = Sums(
            covered=np.array([law[hit].sum() for hit in hits]),
            covered_negative=np.array([below[hit].sum() for hit in hits]),
            expected=np.array([[float(np.vdot(law, part[block])) for part in parts] for parts in self._features]),
            mass=float(law.sum()),
            negative=float(below.sum()),
        )
        error = mixture.omitted + self._sets * left + (self._sets + 1) * ROW_ERROR
        return point_of(found, self._synthesizer, self._sets, self._rules, self._level, error)


class ManySets:
    """Three sets or more: for each x one transform, whose law is added up by the proportions that it covers.

    The proportions that a release covers are neighbours on the axis. Along d they change in few places, so the law
    is first added up between those places. Where the synthesizer treats ones and zeros alike, count n − x at p is
    count x at 1 − p. With `dense`, many more proportions, the coverage there is added up as well, see `line`.
    """

    def __init__(
        self,
        synthesizer: TwoCellSynthesizer,
        proportions: FloatArray,
        sets: int,
        rules: Sequence[IntervalRule],
        level: float,
        confidential_count: int | None,
        dense: FloatArray | None = None,
    ):
        self._synthesizer, self._n, self._sets = synthesizer, synthesizer.n, sets
        self._rules, self._level = rules, level
        mixtures = [confidential_mixture(self._n, float(p), confidential_count, TAIL) for p in proportions]
        counts = np.unique(np.concatenate([mixture.counts for mixture in mixtures]))
        if dense is not None:  # between two proportions no counts matter but those between theirs
            counts = np.arange(counts[0], counts[-1] + 1)
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
        self._dense, self._line = dense, np.zeros((len(rules), 0 if dense is None else len(dense)))
        self._laws: dict[int, FloatArray] | None = None
        if dense is not None:
            if sum(box.high - box.low + 1 for box in self._boxes) * self._roots.length <= limits.TABLE_ENTRIES:
                self._laws = {}
            else:
                self._tables.prepare(dense, None)
        self._done: dict[int, tuple[FloatArray, FloatArray]] = {}

    def point(self, index: int) -> Point:
        """Results at the proportion with that index."""
        mixture = self._mixtures[index]
        covered: FloatArray = np.zeros((2, len(self._rules)))
        expected: FloatArray = np.zeros(2 + len(self._rules) * len(Features._fields))
        for count, weight in zip(mixture.counts, mixture.weights, strict=True):
            turned = int(count) not in self._counts
            by_axis, means = self._of_count(self._n - int(count) if turned else int(count))
            covered += weight * by_axis[:, :, self._mirror_places[index] if turned else self._places[index]]
            expected += weight * means
        of_rules = expected[2:].reshape(len(self._rules), -1)
        found = Sums(covered[0], covered[1], of_rules, float(expected[0]), float(expected[1]))
        return point_of(
            found, self._synthesizer, self._sets, self._rules, self._level, mixture.omitted + self._error
        )  # fmt: skip

    def _of_count(self, count: int) -> tuple[FloatArray, FloatArray]:
        """What `_Tables.results` says given x."""
        if count not in self._done:
            box = self._boxes[self._counts[count]]
            law = law_in_box(self._rows[self._counts[count]], self._sets, box, self._roots)
            law[law < NOISE] = 0.0
            self._done[count] = self._tables.results(law, box.low - self._low)
            if self._laws is not None:
                self._laws[count] = law
            elif self._dense is not None:
                self._add_to_line(count, law)
        return self._done[count]

    def _add_to_line(self, count: int, law: FloatArray) -> None:
        p, row = self._tables.dense, self._boxes[self._counts[count]].low - self._low
        self._line += binom.pmf(count, self._n, p) * self._tables.along(law, row)
        if self._mirrored and 2 * count != self._n:
            self._line += binom.pmf(self._n - count, self._n, p) * self._tables.along(law, row, turned=True)

    @property
    def every_jump(self) -> bool:
        """Whether the line has points on both sides of every jump."""
        return self._tables.every_jump

    def line(self) -> tuple[FloatArray, FloatArray]:
        """The dense proportions, those beside jumps among them, and the coverage of each rule there."""
        for count in self._counts:
            self._of_count(count)
        if self._laws is not None and self._dense is not None:
            possible = np.zeros(self._tables.shape, dtype=bool)
            for count, law in self._laws.items():
                row = self._boxes[self._counts[count]].low - self._low
                possible[row : row + len(law)] |= law > SMALLEST_JUMP
            self._tables.prepare(self._dense, possible, mirrored=self._mirrored)
            self._line = np.zeros((len(self._line), len(self._tables.dense)))
            for count, law in self._laws.items():
                self._add_to_line(count, law)
        return self._tables.dense, np.minimum(self._line, 1.0)


class _Tables:
    """For every release (S, d) and rule: the proportions it covers, and what `widths` gives."""

    def __init__(
        self,
        synthesizer: TwoCellSynthesizer,
        low: int,
        high: int,
        length: int,
        sets: int,
        rules: Sequence[IntervalRule],
        level: float,
        axis: FloatArray,
    ):
        self._length, self._axis = length, axis
        total = np.arange(low, high + 1)[:, None]
        squares = total + 2 * (least_spread(total, sets) + np.arange(length))
        found = releases(synthesizer, sets, total, squares)
        self._negative = found.negative_total
        self._runs: list[Runs] = []
        self._ends, self.shape = (found, rules, level), found.within.shape
        self._dense_runs: tuple[list[Runs], list[Runs]] = ([], [])
        self.dense: FloatArray = np.zeros(0)
        self.every_jump = False
        parts: list[FloatArray] = [np.ones(found.within.size), self._negative.ravel().astype(float)]
        for rule in rules:
            ends = ends_of(rule, found, level)
            parts += [part.ravel() for part in features(*ends)]
            self._runs.append(self._runs_of(axis, *ends))
        self._features = np.array(parts)

    def _runs_of(self, axis: FloatArray, lower: FloatArray, upper: FloatArray) -> Runs:
        """Where the covered proportions, or the sign of T_M, change along the flattened table, and for each run the
        first and last + 1 of them.
        """
        exists = ~np.isnan(lower)
        lowest, highest = reached(lower, upper)
        first, beyond = np.zeros(lower.shape, np.int32), np.zeros(lower.shape, np.int32)
        first[exists] = np.searchsorted(axis, lowest[exists])
        beyond[exists] = np.searchsorted(axis, highest[exists], side="right")
        change = np.ones(lower.shape, dtype=bool)
        change[:, 1:] = (first[:, 1:] != first[:, :-1]) | (beyond[:, 1:] != beyond[:, :-1])
        change[:, 1:] |= self._negative[:, 1:] != self._negative[:, :-1]
        starts = np.flatnonzero(change)
        return starts, first.ravel()[starts], beyond.ravel()[starts]

    def results(self, law: FloatArray, row: int) -> tuple[FloatArray, FloatArray]:
        """For a law whose first sum is that row: coverage at every proportion of the axis, of all releases and of
        those with T_M < 0, shape (2, rules, axis); the mass of all and of those, then the expectations of the
        `Features` of each rule.
        """
        flat, offset, count = law.ravel(), row * self._length, len(self._axis) + 1
        negative = self._negative.ravel()
        covered = np.empty((2, len(self._runs), len(self._axis)))
        for index, (starts, first, beyond) in enumerate(self._runs):
            part = slice(*np.searchsorted(starts, [offset, offset + len(flat)]))
            mass = np.add.reduceat(flat, starts[part] - offset)
            for place, weight in enumerate((mass, mass * negative[starts[part]])):
                steps = np.bincount(first[part], weight, count) - np.bincount(beyond[part], weight, count)
                covered[place, index] = np.cumsum(steps[:-1])
        here = slice(offset, offset + len(flat))
        return covered, self._features[:, here] @ flat

    def prepare(self, dense: FloatArray, possible: BoolArray | None, *, mirrored: bool = False) -> None:
        """Where `along` is to give the coverage: `dense`, and beside the ends of intervals of `possible` releases."""
        found, rules, level = self._ends
        if possible is not None:
            pairs = [reached(*ends_of(rule, found, level)) for rule in rules]
            jumps = np.unique(np.concatenate([end[possible] for pair in pairs for end in pair]))
            jumps = np.union1d(jumps, 1 - jumps) if mirrored else jumps
            jumps = jumps[(jumps >= dense[0]) & (jumps <= dense[-1])]
            self.every_jump = len(jumps) <= MOST_JUMPS
            if self.every_jump:
                beside = np.clip(np.concatenate([jumps - BESIDE, jumps + BESIDE]), dense[0], dense[-1])
                dense = np.unique(np.concatenate([dense, beside]))
        self.dense = dense
        for rule in rules:
            ends = ends_of(rule, found, level)
            for runs, places in zip(self._dense_runs, (dense, 1 - dense[::-1]), strict=True):
                runs.append(self._runs_of(places, *ends))

    def along(self, law: FloatArray, row: int, *, turned: bool = False) -> FloatArray:
        """Coverage at every dense proportion of each rule, as in `results`; at 1 minus each of them if `turned`."""
        flat, offset, count = law.ravel(), row * self._length, len(self.dense) + 1
        covered = np.empty((len(self._runs), len(self.dense)))
        for index, (starts, first, beyond) in enumerate(self._dense_runs[turned]):
            part = slice(*np.searchsorted(starts, [offset, offset + len(flat)]))
            mass = np.add.reduceat(flat, starts[part] - offset)
            steps = np.bincount(first[part], mass, count) - np.bincount(beyond[part], mass, count)
            covered[index] = np.cumsum(steps[:-1])
        return covered[:, ::-1] if turned else covered


def _treats_alike(synthesizer: TwoCellSynthesizer, counts: IntArray, rows: FloatArray) -> bool:
    """Whether row n − x is row x reversed, for all counts that matter and within rounding."""
    if not np.array_equal(counts, synthesizer.n - counts[::-1]):
        return False
    return bool(np.abs(rows - rows[::-1, ::-1]).sum(axis=1).max() <= ROW_ERROR)
