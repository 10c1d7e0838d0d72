"""Exact coverage at one proportion after the other: what does not depend on it is computed once."""

import math
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from dpviz.core import limits
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._fourier import Box, Roots, mixed_distribution_in_box, rounding_error, smallest_spread
from dpviz.coverage._interpolation import at_few_nodes
from dpviz.coverage._intervals import (
    INTERVALS_AT_ONCE,
    Asked,
    Features,
    IntervalSums,
    Point,
    ends_of,
    features,
    point_of,
    sum_releases,
    sums,
)
from dpviz.coverage.distributions import (
    BOX_ERROR,
    IN_SECONDS,
    LONE_TAIL,
    ROW_ERROR,
    TAIL,
    TOO_LONG,
    Reach,
    boxes_of,
    estimate_distribution,
    exact_work,
    release_box,
    release_distribution,
)
from dpviz.inference.confidential import confidential_mixture, likely_range
from dpviz.inference.interval_rules import Ends, IntervalRule, SetStatistics, set_statistics, widen_for_rounding
from dpviz.inference.sum_distribution import matrix_rows, release_sums, within_sums
from dpviz.mechanisms import TwoCellSynthesizer

TRANSFORM_NOISE = 1e-15
"""Probabilities of single releases below it are rounding of the transform, which an infinite width must not meet."""

LARGEST_PAIR_ROWS = 1500
"""Cells of the matrix, and rows of two sets, up to which tables of all releases are kept in memory."""


def keeps_tables(asked: Asked) -> bool:
    """Return whether tables of all releases are kept in memory, so that a point more on the axis costs little."""
    made, sets = asked.synthesizer, asked.sets
    large = (made.n + 1) * (made.m + 1) > limits.MAX_TABLE_ENTRIES or sets * made.m > LARGEST_PAIR_ROWS
    return sets > 2 or not large


def point_maker(asked: Asked, proportions: FloatArray) -> Callable[[float], Point]:
    """Return what gives the results at each of `proportions`, which are in increasing order."""
    if asked.by_sum:
        return SumPoints(asked, many=True).point
    if not keeps_tables(asked):
        return partial(single_point, asked)
    return FewSets(asked).point if asked.sets <= 2 else ManySets(asked, proportions).point


def single_point(asked: Asked, p: float, reach: Reach = IN_SECONDS) -> Point:
    """Return results at one proportion from a distribution of its own."""
    if asked.by_sum:
        if exact_work(asked.synthesizer, p=p, sets=asked.sets, by_sum=True) > reach.sums:
            raise ValueError(TOO_LONG)
        return SumPoints(asked, many=False).point(p)
    distribution = (release_box if asked.sets > 2 else release_distribution)(
        asked.synthesizer, p=p, sets=asked.sets, reach=reach
    )
    found = sums(distribution.probability, distribution.releases, asked, p)
    return point_of(found, asked, distribution.error_bound)


class SumPoints:
    """Rules that read the sum S alone, for up to 100 sets; Pr(S | x) is kept where it is small enough."""

    def __init__(self, asked: Asked, *, many: bool):
        self._asked, synthesizer, sets = asked, asked.synthesizer, asked.sets
        self._releases = sum_releases(synthesizer, sets, sets * synthesizer.m + 1)
        kept = many and within_sums(synthesizer.n, synthesizer.m, sets)
        self._rows = release_sums(synthesizer, sets).rows if kept else None

    def point(self, p: float) -> Point:
        """Return results at p."""
        distribution, omitted = self._distribution(p)
        found = sums(distribution, self._releases, self._asked, p)._replace(negative=math.nan)
        return point_of(found, self._asked, omitted + (self._asked.sets + 1) * ROW_ERROR)

    def _distribution(self, p: float) -> tuple[FloatArray, float]:
        synthesizer = self._asked.synthesizer
        if self._rows is None:
            return estimate_distribution(synthesizer, p=p, sets=self._asked.sets).probabilities, LONE_TAIL
        mixture = confidential_mixture(synthesizer.n, p, LONE_TAIL)
        return mixture.weights @ self._rows[mixture.counts], mixture.omitted


class FewSets:
    """One or two sets: Pr is an array over the counts or pairs of counts, mixed by one product for each p."""

    def __init__(self, asked: Asked):
        self._asked, synthesizer, sets = asked, asked.synthesizer, asked.sets
        self._rows = matrix_rows(synthesizer, np.arange(synthesizer.n + 1))
        j = np.arange(synthesizer.m + 1)
        total, squares = (j, j**2) if sets == 1 else (np.add.outer(j, j), np.add.outer(j**2, j**2))
        found = set_statistics(synthesizer, sets, total, squares)
        self._negative = found.negative_total
        ends = [ends_of(rule, found, asked.level) for rule in asked.rules]
        self._reached = [widen_for_rounding(*pair) for pair in ends]
        held = zip(ends, self._reached, strict=True)
        self._features = [[part.astype(float) for part in features(*pair, reach)] for pair, reach in held]

    def point(self, p: float) -> Point:
        """Return results at p."""
        sets, mixture = self._asked.sets, confidential_mixture(self._asked.synthesizer.n, p, LONE_TAIL)
        rows = self._rows[mixture.counts[0] : mixture.counts[-1] + 1]
        first, last, left = likely_range(mixture.weights @ rows, LONE_TAIL)
        kept, block = rows[:, first : last + 1], (slice(first, last + 1),) * sets
        distribution = mixture.weights @ kept if sets == 1 else (kept * mixture.weights[:, None]).T @ kept
        below = np.where(self._negative[block], distribution, 0.0)
        hits = [(low[block] <= p) & (p <= high[block]) for low, high in self._reached]
        found = IntervalSums(
            covered=np.array([distribution[hit].sum() for hit in hits]),
            covered_negative=np.array([below[hit].sum() for hit in hits]),
            expected=np.array(
                [[float(np.vdot(distribution, part[block])) for part in parts] for parts in self._features]
            ),
            mass=float(distribution.sum()),
            negative=float(below.sum()),
        )
        return point_of(found, self._asked, mixture.omitted + sets * left + (sets + 1) * ROW_ERROR)


class Slice(NamedTuple):
    """Probabilities of releases given x: those of the table of all from place `start` on, read row by row."""

    start: int
    probabilities: FloatArray

    @property
    def part(self) -> slice:
        """Where in that table."""
        return slice(self.start, self.start + len(self.probabilities))


def run_starts(*tables: IntArray | BoolArray) -> IntArray:
    """Where a flattened table of releases begins a run of neighbours in one row that are alike in all of `tables`."""
    change = np.ones(tables[0].shape, dtype=bool)
    change[:, 1:] = np.logical_or.reduce([table[:, 1:] != table[:, :-1] for table in tables])
    return np.flatnonzero(change)


def run_masses(starts: IntArray, distribution: Slice) -> tuple[slice, FloatArray]:
    """Return which of these runs a distribution has, and the probability of each."""
    part, place = distribution.part, distribution.start
    some = slice(*np.searchsorted(starts, [part.start, part.stop]))
    return some, np.add.reduceat(distribution.probabilities, starts[some] - place)


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
    def along(cls, axis: FloatArray, held: Ends, negative: BoolArray | None = None) -> "Runs":
        """Return the runs of intervals that hold from … to …; without `negative` the sign of T_M is not told apart."""
        lowest, highest = held
        exists = ~np.isnan(lowest)
        negative = np.zeros(exists.shape, dtype=bool) if negative is None else negative
        first, beyond = np.zeros(exists.shape, np.int32), np.zeros(exists.shape, np.int32)
        first[exists] = np.searchsorted(axis, lowest[exists])
        beyond[exists] = np.searchsorted(axis, highest[exists], side="right")
        starts = run_starts(first, beyond, negative)
        return cls(starts, first.ravel()[starts], beyond.ravel()[starts], negative.ravel()[starts], len(axis))

    def covered(self, distribution: Slice, *, below: bool = False) -> FloatArray:
        """Return coverage at every place under a distribution; with `below`, then that with T_M < 0."""
        part, mass = run_masses(self.starts, distribution)
        found = []
        for weight in (mass, mass * self.negative[part]) if below else (mass,):
            steps = np.bincount(self.first[part], weight, self.size + 1)
            steps -= np.bincount(self.beyond[part], weight, self.size + 1)
            found.append(np.cumsum(steps[:-1]))
        return np.array(found)


class CountDistributions:
    """The distribution given each x, as a sum of those at some `places`, and the table of all releases of these.

    The places are the counts themselves or, where `few` are asked for and say as much, nodes between counts that are
    neighbours (`at_few_nodes`). Each distribution takes one transform.
    Where the synthesizer treats ones and zeros alike, that at the other end of the places is the same with the rows S
    reversed, and only one of them is known here: what covers p there covers 1 − p here.
    """

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, counts: IntArray, *, few: bool = False):
        self._synthesizer, self._sets = synthesizer, sets
        rows = matrix_rows(synthesizer, counts)
        self.mirrored = treats_alike(synthesizer, counts, rows)
        self.first, self.places, growth, off, below = int(counts[0]), counts, 1.0, 0.0, 0.0
        self.nodes = at_few_nodes(rows, sets, alike=self.mirrored) if few else None
        if self.nodes is not None:
            rows, growth, off = self.nodes.rows, self.nodes.growth, self.nodes.error
            self.places, below = np.arange(len(rows)), float(np.abs(rows).sum(axis=1).max() ** sets - 1)
        self.across, places = int(self.places[0] + self.places[-1]), self.places
        if self.mirrored:
            places, rows = places[2 * places <= self.across], rows[2 * places <= self.across]
        found = boxes_of(np.abs(rows), sets, np.full(len(rows), BOX_ERROR / growth))
        self._rows, self._boxes = (dict(zip(places.tolist(), part, strict=True)) for part in (rows, found))
        self._roots = Roots(max(box.spread for box in found), max(box.last - box.first + 1 for box in found))
        self._low, self._high = min(box.low for box in found), max(box.high for box in found)
        size = max(map(self._entries, found))
        lost = rounding_error(size, sets) + size * TRANSFORM_NOISE + below
        self.error = BOX_ERROR + growth * lost + off + (sets + 1) * ROW_ERROR

    def _entries(self, box: Box) -> int:
        """How many releases the distribution in a box has."""
        return (box.high - box.low + 1) * self._roots.length

    @cached_property
    def releases(self) -> SetStatistics:
        """All releases, a row for each sum."""
        return self._releases(slice(None))

    def _releases(self, rows: slice) -> SetStatistics:
        total = np.arange(self._low, self._high + 1)[rows, None]
        squares = total + 2 * (smallest_spread(total, self._sets) + np.arange(self._roots.length))
        return set_statistics(self._synthesizer, self._sets, total, squares)

    def given(self, place: int) -> Slice:
        """Return the distribution at a place."""
        box = self._boxes[place]
        distribution = mixed_distribution_in_box(self._rows[place][None], np.ones(1), self._sets, box, self._roots)
        distribution[distribution < TRANSFORM_NOISE] = 0.0
        return Slice((box.low - self._low) * self._roots.length, distribution.ravel())

    def over_places(self, first: int, weights: FloatArray) -> tuple[int, FloatArray]:
        """Return the first place and the weights of the places from it on of a mixture over counts from `first` on."""
        if self.nodes is None:
            return first, weights
        start = first - self.first
        return 0, weights @ self.nodes.shares[start : start + weights.shape[-1]]

    def at_counts(self, values: FloatArray) -> FloatArray:
        """Return for each count what a mean given it is, of the `values` at every place, along their first axis."""
        return values[self.places] if self.nodes is None else self.nodes.shares @ values

    def known(self, place: int) -> int:
        """Return this place, or the one at the other end, whichever has a distribution here."""
        return place if place in self._boxes else self.across - place


class ManyDistributions(CountDistributions):
    """Those of neighbouring counts, at few places: all of them are held once they are there, or the last if not."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, counts: IntArray):
        super().__init__(synthesizer, sets, counts, few=True)
        self.entries = sum(map(self._entries, self._boxes.values()))
        self.shape = self._high - self._low + 1, self._roots.length
        self.keeps = self.entries <= limits.MAX_TABLE_ENTRIES
        self._held, self._reached = dict[int, Slice](), dict[tuple[str, float], Ends]()

    @property
    def order(self) -> list[int]:
        """The places whose distributions are known."""
        return [*self._boxes]

    def given(self, place: int) -> Slice:
        """Return the distribution at a place."""
        if place not in self._held:
            if not self.keeps:
                self._held.clear()
            self._held[place] = super().given(place)
        return self._held[place]

    def reach(self, rule: IntervalRule, level: float) -> Ends:
        """What the interval of each release holds; of each sum, in one column, where the rule reads no more."""
        if (rule.key, level) not in self._reached:
            self._reached[rule.key, level] = self._reach(rule, level)
        return self._reached[rule.key, level]

    def _reach(self, rule: IntervalRule, level: float) -> Ends:
        if rule.is_noise_aware:
            found = sum_releases(self._synthesizer, self._sets, self._high + 1).at(slice(self._low, None))
            low, high = widen_for_rounding(*ends_of(rule, found, level))
            return low[:, None], high[:, None]
        low, high = np.empty((2, *self.shape))
        for block in row_blocks(*self.shape, INTERVALS_AT_ONCE):
            low[block], high[block] = widen_for_rounding(*ends_of(rule, self._releases(block), level))
        return low, high

    def by_sum(self, distribution: Slice) -> Slice:
        """Return the distribution of the sum, a place in a column for each."""
        length = self._roots.length
        return Slice(distribution.start // length, distribution.probabilities.reshape(-1, length).sum(axis=1))


class ManySets(CountDistributions):
    """The distributions given each x, added up by the proportions that their releases cover.

    The proportions that a release covers are neighbours on the axis. Along d they change in few places, so the
    distribution is first added up between those places.
    """

    def __init__(self, asked: Asked, proportions: FloatArray):
        self._mixtures = {p: confidential_mixture(asked.synthesizer.n, p, TAIL) for p in proportions.tolist()}
        counts = np.unique(np.concatenate([mixture.counts for mixture in self._mixtures.values()]))
        super().__init__(asked.synthesizer, asked.sets, counts)
        self._asked = asked
        self._axis = np.unique(np.concatenate([proportions, 1 - proportions])) if self.mirrored else proportions
        negative, self._runs = self.releases.negative_total, list[Runs]()
        parts = [np.ones(negative.size), negative.ravel().astype(float)]
        for rule in asked.rules:
            ends = ends_of(rule, self.releases, asked.level)
            held = widen_for_rounding(*ends)
            parts += [part.ravel() for part in features(*ends, held)]
            self._runs.append(Runs.along(self._axis, held, negative))
        self._features = np.array(parts)
        self._done: dict[int, tuple[FloatArray, FloatArray]] = {}

    def point(self, p: float) -> Point:
        """Return results at p, which is one of the proportions."""
        asked, mixture = self._asked, self._mixtures[p]
        here, mirrored = (int(np.searchsorted(self._axis, place)) for place in (p, 1 - p))
        covered: FloatArray = np.zeros((len(asked.rules), 2))
        expected: FloatArray = np.zeros(2 + len(asked.rules) * len(Features._fields))
        for count, weight in zip(mixture.counts.tolist(), mixture.weights, strict=True):
            known = self.known(count)
            by_axis, means = self._of_count(known)
            covered += weight * by_axis[:, :, here if known == count else mirrored]
            expected += weight * means
        of_rules = expected[2:].reshape(len(asked.rules), -1)
        found = IntervalSums(covered[:, 0], covered[:, 1], of_rules, float(expected[0]), float(expected[1]))
        return point_of(found, asked, mixture.omitted + self.error)

    def _of_count(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Given x: coverage of each rule, and that with T_M < 0, along the axis; the masses and `Features`."""
        if count not in self._done:
            distribution = self.given(count)
            covered = np.array([runs.covered(distribution, below=True) for runs in self._runs])
            self._done[count] = covered, self._features[:, distribution.part] @ distribution.probabilities
        return self._done[count]


def treats_alike(synthesizer: TwoCellSynthesizer, counts: IntArray, rows: FloatArray) -> bool:
    """Return whether row n − x is row x reversed, for all counts that matter and within rounding."""
    if not np.array_equal(counts, synthesizer.n - counts[::-1]):
        return False
    return bool(np.abs(rows - rows[::-1, ::-1]).sum(axis=1).max() <= ROW_ERROR)
