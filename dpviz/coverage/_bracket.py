"""The smallest coverage over a range of p where releases are too many for a table: between two bounds that close in."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import comb

from dpviz.core import limits
from dpviz.core.numerics.binomial_averages import NODES, Cell, Extreme, cell_edges, cells, restrict
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._intervals import INTERVALS_AT_ONCE, ends_of, sum_releases
from dpviz.coverage._points import ManyDistributions, Slice, run_masses, run_starts
from dpviz.coverage.distributions import ROW_ERROR, TOO_LONG
from dpviz.inference.interval_rules import Ends, IntervalRule, set_statistics, widen_for_rounding
from dpviz.inference.sum_distribution import matrix_rows, release_sums
from dpviz.mechanisms import TwoCellSynthesizer

BOUNDS_CLOSE = 1e-5  # Distance of the two bounds at which they are close enough
PIECES = 8192  # Pieces of the range, about, in one pass over the releases; half as many of what is half of it
PASSES = 8
# Probabilities of releases, of all counts together, up to which a pass takes some seconds
MOST_PASS_ENTRIES = 60_000_000
MOST_RELEASES = 2_000_000  # Releases of which the intervals are held
SAMPLED = 60_000  # Ends of intervals among which the first cuts are chosen
ROWS_AT_ONCE = 1_000_000  # Entries of the transition matrix that are held
COUNTS_TOGETHER = 16  # Counts of which the contributions to all pieces are held
NEGLIGIBLE_COUNT = 1e-12  # Share in a polynomial below which a count is left out
# Distance of ends of intervals that counts as none: they are reached from 1e-12 of p away, turned ones of 1 − p.
# An end and a turned one must be on the same side of a cut: what they add at a node and its mirror may differ in sign.
SAME_END = 2e-12
DIGITS_ALIKE = 14  # Digits by which two values are the same
BRACKET_ROUNDING = 1e-10  # Bound of what is lost by rounding in the sums


class FewDistributions:
    """The distribution of the count of one set, the pairs of counts of two, or the sum of any, given each x."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int, rule: IntervalRule, counts: IntArray):
        self._synthesizer, self.order, self._held = synthesizer, counts.tolist(), dict[int, FloatArray]()
        self._sums: FloatArray | None = None
        j = np.arange(synthesizer.m + 1)
        pairs = sets == 2 and not rule.is_noise_aware
        self._pairs = first, second = np.triu_indices(len(j)) if pairs else (j, j)
        self._orders = np.where(first == second, 1.0, 2.0) if pairs else None
        sums = rule.is_noise_aware and sets > 1 and (synthesizer.n + 1) * (sets * synthesizer.m + 1)  # in one table
        if (
            sums > limits.MAX_TABLE_ENTRIES
            or len(counts) * len(first) > MOST_PASS_ENTRIES
            or len(first) > MOST_RELEASES
        ):
            raise ValueError(TOO_LONG)
        if rule.is_noise_aware:
            self.releases = sum_releases(synthesizer, sets, sets * synthesizer.m + 1)
            self._sums = release_sums(synthesizer, sets).rows if sums else None
        elif pairs:
            self.releases = set_statistics(synthesizer, 2, first + second, first**2 + second**2)
        else:
            self.releases = set_statistics(synthesizer, 1, j, j**2)
        self.places, self.mirrored, self.across = counts, False, 0
        self.error = sets * ROW_ERROR

    def reach(self, rule: IntervalRule, level: float) -> Ends:
        """What the interval of each release holds, in one row."""
        low, high = widen_for_rounding(*ends_of(rule, self.releases, level))
        return low[None], high[None]

    def given(self, count: int) -> Slice:
        """Return the distribution given x."""
        if self._sums is not None:
            return Slice(0, self._sums[count])
        if count not in self._held:
            last = min(count + max(ROWS_AT_ONCE // (self._synthesizer.m + 1), 1), self._synthesizer.n + 1)
            counts = np.arange(count, last)
            self._held = dict(zip(counts.tolist(), matrix_rows(self._synthesizer, counts), strict=True))
        return Slice(0, self._told_apart(self._held[count]))

    def every(self) -> FloatArray:
        """Return the distributions given each x, in rows."""
        return self._told_apart(matrix_rows(self._synthesizer, self.places)) if self._sums is None else self._sums

    def _told_apart(self, rows: FloatArray) -> FloatArray:
        """The probabilities of the pairs of counts, where they are told apart, else of the counts."""
        first, second = self._pairs
        return rows if self._orders is None else rows[..., first] * rows[..., second] * self._orders

    def over_places(self, first: int, weights: FloatArray) -> tuple[int, FloatArray]:
        """Return what the distributions weigh in a mixture over counts from `first` on: as much as these."""
        return first, weights

    def at_counts(self, values: FloatArray) -> FloatArray:
        """Return what the distributions make of each count of what they are at each place: the same."""
        return values[self.order]


class SharedDistributions:
    """What gives the distribution of the releases that a rule tells apart: those that know no noise share theirs."""

    def __init__(self, synthesizer: TwoCellSynthesizer, sets: int):
        self.synthesizer, self.sets = synthesizer, sets
        self._many: dict[bytes, ManyDistributions] = {}
        self._few: dict[tuple[bool, bytes], FewDistributions] = {}

    def many(self, counts: IntArray) -> ManyDistributions:
        """Return those of (S, d), by transforms; a ValueError where they would take too long."""
        key = counts.tobytes()
        if key not in self._many:
            self._many[key] = ManyDistributions(self.synthesizer, self.sets, counts)
        return self._many[key]

    def of(self, rule: IntervalRule, counts: IntArray) -> FewDistributions | ManyDistributions:
        """Return those of a rule; a ValueError where the releases are many."""
        if not rule.is_feasible(self.synthesizer, self.sets):
            raise ValueError(TOO_LONG)
        if self.sets > 2 and not rule.is_noise_aware:
            many = self.many(counts)
            if many.entries > MOST_PASS_ENTRIES or math.prod(many.shape) > MOST_RELEASES:
                raise ValueError(TOO_LONG)
            return many
        key = rule.is_noise_aware, counts.tobytes()
        if key not in self._few:
            self._few[key] = FewDistributions(self.synthesizer, self.sets, rule, counts)
        return self._few[key]


def counts_that_matter(n: int, low: float, high: float) -> IntArray:
    """Return the confidential counts that matter at some p of a range."""
    some = list(cells(n, low, high))
    return np.arange(some[0].first, max(one.first + one.weights.shape[1] for one in some))


class Pieces:
    """Pieces of a range of p between `cuts`, those of them that are `live`, and what of the releases ends where.

    Each end of an interval has a place: 2k + 1 on cut k, 2k between the cuts k − 1 and k. Neighbouring releases whose
    ends have the same places are one run. Where the releases are `mirrored` the range is on the left of 1/2, and the
    same cuts from there to the right tell what the releases at the other end do.
    """

    def __init__(self, cuts: FloatArray, live: BoolArray, held: Ends, *, mirrored: bool):
        self.cuts, self.live, self._mirrored = cuts, live, mirrored
        self._all = np.concatenate([cuts, 1 - cuts[::-1]]) if mirrored else cuts
        places = [self._places(end) for end in held]
        self._starts = run_starts(*places)
        self._low, self._high = (one.ravel()[self._starts].astype(np.intp) for one in places)
        self.sums: FloatArray = np.zeros((3, NODES, len(cuts) - 1))

    def _places(self, ends: FloatArray) -> IntArray:
        found = np.empty(ends.shape, dtype=np.int32)
        for block in row_blocks(len(ends), ends.shape[1], INTERVALS_AT_ONCE):
            place = np.searchsorted(self._all, ends[block] - SAME_END)  # NaN, no interval, comes after the last
            cut = np.append(self._all, math.nan)[place]
            found[block] = 2 * place + (cut - ends[block] <= SAME_END)
        return found

    def covered(self, distribution: Slice) -> list[FloatArray]:
        """Return for each piece what surely covers all of it, and what covers beside its left and its right end.

        Of the first no more than Pr(low ≤ left) − Pr(high < right) is counted: releases that lie inside would be less.
        A second result, where the releases are mirrored, is that of the distribution at the other end.
        """
        part, mass = run_masses(self._starts, distribution)
        size = 2 * len(self._all) + 1
        begun, ended = (np.cumsum(np.bincount(one[part], mass, size)) for one in (self._low, self._high))
        before, upto = slice(0, -1, 2), slice(1, None, 2)  # each cut: up to it without, and with what lies on it
        whole = begun[upto][:-1] - ended[before][1:]
        beside_left, beside_right = begun[upto][:-1] - ended[upto][:-1], begun[before][1:] - ended[before][1:]
        number = len(self.cuts) - 1
        found = [np.array([whole[:number], beside_left[:number], beside_right[:number]])]
        if self._mirrored:
            turned = [one[::-1][:number] for one in (whole, beside_right, beside_left)]
            found.append(np.array(turned))
        return found


class CoverageBracket:
    """The search for inf C(p) over a range, between a bound that no p is below and a value that is attained.

    In one pass the range is cut into pieces. Releases that cover all of a piece give a lower bound of C on it, a
    polynomial as everywhere in `dpviz.coverage.certified`; those that cover beside one of its ends a value that C
    attains. Only pieces whose bound is below the smallest value so far are cut again, at the ends of intervals in them.
    Where the synthesizer treats ones and zeros alike C(1 − p) is C(p), and the range is turned to the left of 1/2.
    """

    def __init__(self, shared: SharedDistributions, rule: IntervalRule, level: float, low: float, high: float):
        n = shared.synthesizer.n
        counts = counts_that_matter(n, low, high)
        self._made, self._asked = shared.of(rule, counts), (low, high)
        if self._made.mirrored:
            (low, high), turned = sorted([(low, high), (1 - high, 1 - low)])
            high = min(turned[1], 0.5) if turned[0] <= 0.5 <= turned[1] else high
        self._range = low, high
        self._cells = list[Cell]()
        for one in cells(n, low, high):
            first, weights = self._made.over_places(one.first, one.weights)
            self._cells.append(Cell(one.low, one.high, first, weights))
        self._held = self._made.reach(rule, level)
        self._error = self._made.error + BRACKET_ROUNDING + len(counts) * NEGLIGIBLE_COUNT
        self._value, self._at, self._floor, self._open = math.inf, low, math.inf, -math.inf
        self._first_pieces(n, low, high)

    def _first_pieces(self, n: int, low: float, high: float) -> None:
        pieces = PIECES // 2 if self._made.mirrored else PIECES
        even = np.sin(np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), pieces // 2 + 1)) ** 2
        ends = [self._turned(end.ravel()[:: -(-end.size // SAMPLED)]) for end in self._held]
        cuts = np.concatenate([cell_edges(n), even, *(_thinned(end, pieces // 4) for end in ends)])
        cuts = _apart(np.concatenate([cuts[(cuts > low) & (cuts < high)], [low, high]]))
        self._begin(cuts, np.ones(len(cuts) - 1, dtype=bool))

    def _turned(self, ends: FloatArray) -> FloatArray:
        """Return the ends of intervals, some of them turned, that are in the range."""
        ends = np.minimum(ends, 1 - ends) if self._made.mirrored else ends
        return ends[(ends > self._range[0]) & (ends < self._range[1])]

    def narrowing(self) -> Iterator[Extreme]:
        """Yield what is known, after every distribution of every pass."""
        for _ in range(PASSES):
            for place in self._made.order:
                if self._needs(place):
                    self.take(place, self._made.given(place))
                    yield self.found
            self._add()
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
        at = self._at if self._asked[0] <= self._at <= self._asked[1] else 1 - self._at
        return Extreme(value, at, value - max(bound, 0.0))

    def take(self, place: int, distribution: Slice) -> None:
        """Add up what the distribution at a place contributes to the polynomial of each piece, unless it has."""
        if self._needs(place):
            self._taken.add(place)
            others = [place, self._made.across - place]
            for one, covered in zip(others, self._pieces.covered(distribution), strict=False):
                self._waiting[one] = covered
            if len(self._waiting) >= COUNTS_TOGETHER:
                self._add()

    def _needs(self, place: int) -> bool:
        other = self._made.across - place if self._made.mirrored else place
        return place not in self._taken and max(self._heaviest[place], self._heaviest[other]) > NEGLIGIBLE_COUNT

    def _begin(self, cuts: FloatArray, live: BoolArray) -> None:
        """Begin a pass over the distributions."""
        self._pieces = Pieces(cuts, live, self._held, mirrored=self._made.mirrored)
        self._taken, self._waiting = set[int](), dict[int, FloatArray]()
        cell = np.searchsorted([one.low for one in self._cells], cuts[:-1], side="right") - 1
        self._matters = np.flatnonzero(np.bincount(cell[live], minlength=len(self._cells))).tolist()
        self._starts = np.searchsorted(cell, np.arange(len(self._cells) + 1))
        # What each place weighs in the cell to which it matters most
        self._heaviest = np.zeros(int(self._made.places[-1]) + 1)
        for one in (self._cells[place] for place in self._matters):
            part = self._heaviest[one.first : one.first + one.weights.shape[1]]
            np.maximum(part, np.abs(one.weights).sum(axis=0), out=part)

    def _add(self) -> None:
        """Add what waits to the polynomials: one product of matrices for each cell."""
        if not self._waiting:
            return
        places, found = np.array([*self._waiting], dtype=int), np.array([*self._waiting.values()])
        self._waiting.clear()
        for place in self._matters:
            one, part = self._cells[place], slice(self._starts[place], self._starts[place + 1])
            here = (one.first <= places) & (places < one.first + one.weights.shape[1])
            if here.any():
                given = found[:, :, part][here]
                product = one.weights[:, places[here] - one.first] @ given.reshape(len(given), -1)
                self._pieces.sums[:, :, part] += product.reshape(NODES, *given.shape[1:]).transpose(1, 0, 2)

    def _bound(self) -> None:
        """Bound every live piece, and leave those alive whose bound is below the smallest value."""
        pieces, live = self._pieces, self._pieces.live
        left, right = pieces.cuts[:-1][live], pieces.cuts[1:][live]
        cell = np.searchsorted([one.low for one in self._cells], left, side="right") - 1
        start, width = np.array([(one.low, one.high - one.low) for one in self._cells])[cell].T
        inside = [np.clip((one - start) / width, 0.0, 1.0) for one in (left, right)]
        whole, beside_left, beside_right = (one[:, live] for one in pieces.sums)
        for given, at, places in ((beside_left, inside[0], left), (beside_right, inside[1], right)):
            values = at_places(given, at).round(DIGITS_ALIKE)  # of those that are alike, the first
            smallest = int(values.argmin())
            if values[smallest] < self._value:
                self._value, self._at = float(values[smallest]), float(places[smallest])
        bounds = restrict(whole.T, *inside).min(axis=1)
        still = bounds < self._value - BOUNDS_CLOSE
        self._floor = min(self._floor, float(bounds[~still].min(initial=math.inf)))
        self._open = float(bounds[still].min(initial=math.inf))
        pieces.live[np.flatnonzero(live)[~still]] = False

    def _cut(self) -> None:
        """Cut the live pieces at the ends of intervals in them, at some where they are many, and evenly."""
        cuts, live = self._pieces.cuts, self._pieces.live
        left, right = cuts[:-1][live], cuts[1:][live]
        among = [self._turned(end.ravel()) for end in self._held]
        among = [end[live[np.searchsorted(cuts, end) - 1]] for end in among]
        parts = PIECES // (4 * len(left)) + 2
        even = left[:, None] + (right - left)[:, None] * np.linspace(0.0, 1.0, parts + 1)[:-1]
        new = _apart(np.concatenate([even.ravel(), right, *(_thinned(end, PIECES // 2) for end in among)]))
        alive = live[np.minimum(np.searchsorted(cuts, new[:-1], side="right") - 1, len(live) - 1)]
        self._begin(new, alive)


def _apart(cuts: FloatArray) -> FloatArray:
    """Return the first, the last and, of cuts that are nearer than rounding, one of each, in increasing order."""
    found = np.unique(cuts)
    first = found[0]
    found = found[np.append(np.diff(found) > 4 * SAME_END, True)]
    found[0] = first
    return found


def _thinned(ends: FloatArray, most: int) -> FloatArray:
    """All of the numbers, or about so many of them evenly by rank."""
    ends = np.unique(ends)
    return ends[:: max(-(-len(ends) // most), 1)]


def at_places(coefficients: FloatArray, places: FloatArray) -> FloatArray:
    """Return the values of polynomials, one a column of Bernstein coefficients, each at its own place from 0 to 1.

    >>> at_places(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5])).tolist()  # p² and 2p(1 − p)
    [0.25, 0.5]
    """
    degree = len(coefficients) - 1
    ways, powers = comb(degree, np.arange(degree + 1)), np.arange(degree + 1)[:, None]
    found: FloatArray = ((ways[:, None] * places**powers * (1 - places) ** powers[::-1]) * coefficients).sum(axis=0)
    return found
