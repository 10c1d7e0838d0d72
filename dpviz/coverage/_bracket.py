"""The smallest coverage over a range of p where releases are too many for a table: between two bounds that close in."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from dpviz.core import limits
from dpviz.core.numerics.bernstein import CHEBYSHEV_NODES, Extreme, cells, edges, restricted
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._intervals import ends_of, sum_releases
from dpviz.coverage._points import CountDistributions, Slice, run_masses, run_starts
from dpviz.coverage.distributions import ROW_ERROR, TOO_LONG
from dpviz.inference.confidential import released_rows
from dpviz.inference.interval_rules import IntervalRule, reached, releases
from dpviz.inference.sum_distribution import release_sums
from dpviz.mechanisms import TwoCellSynthesizer

BOUNDS_CLOSE = 1e-5  # Distance of the two bounds at which they are close enough
PIECES = 8192  # Pieces of the range, about, in one pass over the releases
PASSES = 8
# Probabilities of releases, of all counts together, up to which a pass takes some seconds
MOST_PASS_ENTRIES = 60_000_000
MOST_RELEASES = 2_000_000  # Releases of which the intervals are held
ROWS_AT_ONCE = 1_000_000  # Entries of the transition matrix that are held
COUNTS_TOGETHER = 16  # Counts of which the contributions to all pieces are held
NEGLIGIBLE_COUNT = 1e-12  # Share in a polynomial below which a count is left out
BRACKET_ROUNDING = 1e-10  # Bound of what is lost by rounding in the sums


class FewDistributions:
    """The distribution of the count of one set, the pairs of counts of two, or the sum of any, given each x."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, counts: IntArray):
        self._synthesizer, self.counts, self._held = synthesizer, counts.tolist(), dict[int, FloatArray]()
        j = np.arange(synthesizer.m + 1)
        pairs = sets == 2 and not rule.knows_noise
        self._pairs = first, second = np.triu_indices(len(j)) if pairs else (j, j)
        self._orders = np.where(first == second, 1.0, 2.0) if pairs else None
        sums = rule.knows_noise and sets > 1 and (synthesizer.n + 1) * (sets * synthesizer.m + 1)  # in one table
        if sums > limits.TABLE_ENTRIES or len(counts) * len(first) > MOST_PASS_ENTRIES or len(first) > MOST_RELEASES:
            raise ValueError(TOO_LONG)
        if rule.knows_noise:
            self.releases = sum_releases(synthesizer, sets, sets * synthesizer.m + 1)
            self._held = dict(enumerate(release_sums(synthesizer, sets).rows)) if sums else {}
        elif pairs:
            self.releases = releases(synthesizer, 2, first + second, first**2 + second**2)
        else:
            self.releases = releases(synthesizer, 1, j, j**2)
        self.error = sets * ROW_ERROR

    def given(self, count: int) -> Slice:
        """Return the distribution given x."""
        if count not in self._held:
            last = min(count + max(ROWS_AT_ONCE // (self._synthesizer.m + 1), 1), self._synthesizer.n + 1)
            counts = np.arange(count, last)
            self._held = dict(zip(counts.tolist(), released_rows(self._synthesizer, counts), strict=True))
        row, (first, second) = self._held[count], self._pairs
        return Slice(0, row if self._orders is None else row[first] * row[second] * self._orders)


class ManyDistributions(CountDistributions):
    """The distribution of (S, d) for three sets or more given each x and its mirror image, one transform for both."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, counts: IntArray):
        super().__init__(synthesizer, sets, counts, both=True)
        if (
            sum(map(self._entries, self._boxes.values())) > MOST_PASS_ENTRIES
            or (self._high - self._low + 1) * self._roots.length > MOST_RELEASES
        ):
            raise ValueError(TOO_LONG)
        self._keeps = sum(map(self._entries, self._boxes.values())) <= limits.TABLE_ENTRIES
        # A count and its mirror image come one after the other.
        self.counts = sorted(counts.tolist(), key=lambda count: (min(count, synthesizer.n - count), count))
        self._known: dict[
            int, Slice
        ] = {}  # all of them where they are few, for other rules and passes, or else the last

    def given(self, count: int) -> Slice:
        """Return the distribution given x."""
        turned = count not in self._boxes
        known = self._synthesizer.n - count if turned else count
        if known not in self._known:
            if not self._keeps:
                self._known.clear()
            self._known[known] = super().given(known)
        found, length = self._known[known], self._roots.length
        if not turned:
            return found
        first = self._sets * self._synthesizer.m - self._boxes[known].high - self._low
        return Slice(first * length, found.probabilities.reshape(-1, length)[::-1].ravel())


def distributions_of(
    synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, counts: IntArray
) -> FewDistributions | ManyDistributions:
    """Return what gives the distribution of the releases that a rule tells apart; a ValueError where they are many."""
    if not rule.fits(synthesizer, sets):
        raise ValueError(TOO_LONG)
    if sets <= 2 or rule.knows_noise:
        return FewDistributions(synthesizer, sets, rule, counts)
    return ManyDistributions(synthesizer, sets, counts)


class SharedDistributions:
    """`distributions_of` for one rule after the other: those that know no noise share theirs."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int):
        self.synthesizer, self.sets = synthesizer, sets
        self._found: dict[tuple[bool, bytes], FewDistributions | ManyDistributions] = {}

    def of(self, rule: IntervalRule, counts: IntArray) -> FewDistributions | ManyDistributions:
        """Return those of a rule; a ValueError where the releases are many."""
        key = rule.knows_noise, counts.tobytes()
        if key not in self._found or not rule.fits(self.synthesizer, self.sets):
            self._found[key] = distributions_of(self.synthesizer, self.sets, rule, counts)
        return self._found[key]


def counts_that_matter(n: int, low: float, high: float) -> IntArray:
    """Return the confidential counts that matter at some p of a range."""
    some = list(cells(n, low, high))
    return np.arange(some[0].first, max(one.first + one.weights.shape[1] for one in some))


class Pieces:
    """Pieces of a range of p between `cuts`, those of them that are `live`, and what of the releases ends where.

    Each end of an interval has a place: 2k + 1 on cut k, 2k between the cuts k − 1 and k. Neighbouring releases whose
    ends have the same places are one run.
    """

    def __init__(self, cuts: FloatArray, live: BoolArray, low: FloatArray, high: FloatArray):
        self.cuts, self.live = cuts, live
        places = [self._places(low), self._places(high)]
        self._starts = run_starts(*places)
        self._low, self._high = (one.ravel()[self._starts].astype(np.intp) for one in places)
        self.sums: FloatArray = np.zeros((3, CHEBYSHEV_NODES, len(cuts) - 1))

    def _places(self, ends: FloatArray) -> IntArray:
        place = np.searchsorted(self.cuts, ends)  # NaN, no interval, comes after the last
        on_cut = self.cuts[np.minimum(place, len(self.cuts) - 1)] == ends
        found: IntArray = (2 * place + on_cut).astype(np.int32)
        return found

    def covered(self, distribution: Slice) -> FloatArray:
        """Return for each piece what surely covers all of it, and what covers beside its left and its right end.

        Of the first no more than Pr(low ≤ left) − Pr(high < right) is counted: releases that lie inside would be less.
        """
        part, mass = run_masses(self._starts, distribution)
        size = 2 * len(self.cuts) + 1
        begun, ended = (np.cumsum(np.bincount(one[part], mass, size)) for one in (self._low, self._high))
        before, upto = slice(0, -1, 2), slice(1, None, 2)  # each cut: up to it without, and with what lies on it
        return np.array(
            [
                begun[upto][:-1] - ended[before][1:],
                begun[upto][:-1] - ended[upto][:-1],
                begun[before][1:] - ended[before][1:],
            ]
        )


class CoverageBracket:
    """The search for inf C(p) over a range, between a bound that no p is below and a value that is attained.

    In one pass the range is cut into pieces. Releases that cover all of a piece give a lower bound of C on it, a
    polynomial as everywhere in `dpviz.coverage.certified`; those that cover beside one of its ends a value that C
    attains. Only pieces whose bound is below the smallest value so far are cut again, at the ends of intervals in them.
    """

    def __init__(self, shared: SharedDistributions, rule: IntervalRule, level: float, low: float, high: float):
        n = shared.synthesizer.n
        self._cells, counts = list(cells(n, low, high)), counts_that_matter(n, low, high)
        self._distributions = shared.of(rule, counts)
        ends = reached(*ends_of(rule, self._distributions.releases, level))
        self._low, self._high = (np.atleast_2d(one) for one in ends)
        inside = np.unique(np.concatenate([one[(one > low) & (one < high)] for one in ends]))
        self._ends, self._error = inside, self._distributions.error + BRACKET_ROUNDING + len(counts) * NEGLIGIBLE_COUNT
        self._pieces = self._first_pieces(n, low, high)
        self._value, self._at, self._floor, self._open = math.inf, low, math.inf, -math.inf

    def _first_pieces(self, n: int, low: float, high: float) -> Pieces:
        even = np.sin(np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), PIECES // 2 + 1)) ** 2
        cuts = np.concatenate([edges(n), even, _thinned(self._ends, PIECES // 2)])
        cuts = np.unique(np.concatenate([cuts[(cuts > low) & (cuts < high)], [low, high]]))
        return Pieces(cuts, np.ones(len(cuts) - 1, dtype=bool), self._low, self._high)

    def narrowing(self) -> Iterator[Extreme]:
        """Yield what is known, after every count of every pass."""
        for _ in range(PASSES):
            yield from self._passed()
            self._bound()
            yield self.found
            if not self._pieces.live.any():
                return
            self._cut()

    @property
    def found(self) -> Extreme:
        """What is known: the value is attained, and nothing is further than its `gap` below."""
        value = min(self._value + self._error, 1.0)
        bound = min(self._floor, self._open, self._value) - self._error
        return Extreme(value, self._at, value - max(bound, 0.0))

    def _passed(self) -> Iterator[Extreme]:
        """Add up what every count contributes to the polynomial of each piece that it matters to."""
        pieces = self._pieces
        firsts, sizes = np.array([(one.first, one.weights.shape[1]) for one in self._cells]).T
        cell = np.searchsorted([one.low for one in self._cells], pieces.cuts[:-1], side="right") - 1
        matters = np.bincount(cell[pieces.live], minlength=len(self._cells)) > 0
        starts = np.searchsorted(cell, np.arange(len(self._cells) + 1))
        heaviest = np.zeros(int(max(firsts + sizes)))  # what each count weighs in the cell to which it matters most
        for place in np.flatnonzero(matters).tolist():
            part = heaviest[firsts[place] : firsts[place] + sizes[place]]
            np.maximum(part, np.abs(self._cells[place].weights).sum(axis=0), out=part)
        waiting = dict[int, FloatArray]()
        for count in self._distributions.counts:
            if heaviest[count] <= NEGLIGIBLE_COUNT:
                continue
            waiting[count] = pieces.covered(self._distributions.given(count))
            if len(waiting) == COUNTS_TOGETHER:
                self._add(waiting, matters, starts)
                waiting.clear()
            yield self.found
        self._add(waiting, matters, starts)

    def _add(self, covered: Mapping[int, FloatArray], matters: BoolArray, starts: IntArray) -> None:
        """Add what some counts contribute to the polynomials: one product of matrices for each cell."""
        counts, found = np.array([*covered], dtype=int), np.array([*covered.values()])
        for place in np.flatnonzero(matters).tolist():
            one, part = self._cells[place], slice(starts[place], starts[place + 1])
            here = (one.first <= counts) & (counts < one.first + one.weights.shape[1])
            if here.any():
                given = found[:, :, part][here]
                product = one.weights[:, counts[here] - one.first] @ given.reshape(len(given), -1)
                self._pieces.sums[:, :, part] += product.reshape(CHEBYSHEV_NODES, *given.shape[1:]).transpose(1, 0, 2)

    def _bound(self) -> None:
        """Bound every live piece, and leave those alive whose bound is below the smallest value."""
        pieces, live = self._pieces, self._pieces.live
        left, right = pieces.cuts[:-1][live], pieces.cuts[1:][live]
        cell = np.searchsorted([one.low for one in self._cells], left, side="right") - 1
        start, width = np.array([(one.low, one.high - one.low) for one in self._cells])[cell].T
        inside = [np.clip((one - start) / width, 0.0, 1.0) for one in (left, right)]
        whole, beside_left, beside_right = (restricted(one[:, live].T, *inside) for one in pieces.sums)
        for values, places in ((beside_left[:, 0], left), (beside_right[:, -1], right)):
            smallest = int(values.argmin())
            if values[smallest] < self._value:
                self._value, self._at = float(values[smallest]), float(places[smallest])
        bounds = whole.min(axis=1)
        still = bounds < self._value - BOUNDS_CLOSE
        self._floor = min(self._floor, float(bounds[~still].min(initial=math.inf)))
        self._open = float(bounds[still].min(initial=math.inf))
        pieces.live[np.flatnonzero(live)[~still]] = False

    def _cut(self) -> None:
        """Cut the live pieces at the ends of intervals in them, at some where they are many, and evenly."""
        cuts, live = self._pieces.cuts, self._pieces.live
        left, right = cuts[:-1][live], cuts[1:][live]
        first, beyond = np.searchsorted(self._ends, left, side="right"), np.searchsorted(self._ends, right)
        many = np.maximum(beyond - first, 0)
        among = np.repeat(first - np.cumsum(many) + many, many) + np.arange(many.sum())
        parts = PIECES // (4 * len(left)) + 2
        even = left[:, None] + (right - left)[:, None] * np.linspace(0.0, 1.0, parts + 1)[:-1]
        new = np.unique(np.concatenate([even.ravel(), right, _thinned(self._ends[among], PIECES)]))
        alive = live[np.minimum(np.searchsorted(cuts, new[:-1], side="right") - 1, len(live) - 1)]
        self._pieces = Pieces(new, alive, self._low, self._high)


def _thinned(ends: FloatArray, most: int) -> FloatArray:
    """All of the numbers, or about so many of them evenly by rank."""
    return ends[:: max(-(-len(ends) // most), 1)]
