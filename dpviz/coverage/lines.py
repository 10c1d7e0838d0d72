"""Coverage against the proportion as a line to draw: a polygon that nobody can tell from the exact curve."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._intervals import Asked, ends_of, sum_releases
from dpviz.coverage._points import AxisDistributions, Runs, Slice, keeps_tables, point_maker
from dpviz.coverage.exact import (
    POINTS_BETWEEN_RESULTS,
    CoverageCurves,
    Proportions,
    coarse_to_fine,
    growing,
    point_axis,
)
from dpviz.inference.interval_rules import Ends, IntervalRule, reached
from dpviz.mechanisms import TwoCellSynthesizer

LINE_STEPS = 1800  # Points from p = 0 to 1: half a pixel apart in a picture 900 pixels wide

FLATNESS = 5e-4  # Distance in coverage, 0.2 of a pixel of 400, by which leaving a point out may move the line

MOST_JUMPS = 6000  # Ends of intervals, of all rules together, up to which a line gets a point on both sides of each

SMALLEST_JUMP = 1e-6  # Probability of a release given x below which its jumps do not count

BESIDE = 1e-9  # Distance of a point of a line from the jump beside it

SAME_PROPORTION = 1e-14  # Distance of proportions that is rounding: an end of an interval is reached from 1e-12 away


@dataclass(frozen=True, kw_only=True)
class CoverageLines:
    """Coverage of several rules along an axis, at the corners of the polygon to draw.

    `rules`, `points`, `coverage`: Keys of the rules, the corners in increasing order, and the exact coverage there,
    shape (rules, corners).
    `drawn_from`, `jumps`: Points at which the coverage was computed, of which the corners are those that the line
    needs, and whether both sides of every jump are among them; 0 where it is only sampled, so that in between it can be
    anything.
    """

    rules: tuple[str, ...]
    points: FloatArray
    coverage: FloatArray
    drawn_from: int = 0
    jumps: bool = False

    def through(self, place: float, coverage: Mapping[str, float]) -> "CoverageLines":
        """Return the same lines with one more corner, at which the coverage of each of the rules is known.

        >>> line = CoverageLines(rules=("wald",), points=np.array([0.0, 1.0]), coverage=np.array([[0.0, 0.0]]))
        >>> line.through(0.5, {"wald": 0.9}).coverage.tolist()
        [[0.0, 0.9, 0.0]]
        """
        others, corner = self.points != place, [[coverage[key]] for key in self.rules]
        points = np.append(self.points[others], place)
        order, values = np.argsort(points), np.append(self.coverage[:, others], corner, axis=1)
        return dataclasses.replace(self, points=points[order], coverage=values[:, order])


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL)
def stream_lines(
    synthesizer: TwoCellSynthesizer, *, proportions: Proportions, sets: int, rules: Sequence[str], level: float = 0.95
) -> Iterator[CoverageLines]:
    """Coverage against p as a growing line: at `proportions`, coarse to fine and all of them kept, then all of it.

    As a function of p the coverage jumps wherever p passes an end of the interval of a release, by the probability of
    that release, and is a polynomial in between. In the end it is computed at points 1/1800 apart, half a pixel of a
    usual picture, and, where the ends of all intervals are few, on both sides of every jump; corners that do not move
    the line by 0.0005 are left out. For releases too many for tables in memory it stays a sample.
    Source: the coverage of Charest (2011), §3.4; Brown, Cai & DasGupta (2001) on its jumps.
    One row and one synthetic row, as if real: an interval of width 0 at 0 or 1, which no p in between is in.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> *_, line = stream_lines(release, proportions=[0.25, 0.75], sets=1, rules=["as_if_real"])
    >>> line.points.tolist(), line.coverage.tolist(), line.jumps
    ([0.25, 0.75], [[0.0, 0.0]], True)
    """
    asked = Asked.of(synthesizer, sets, rules, level)
    axis = np.unique(point_axis(proportions))
    if sets > 2 and not asked.by_sum:
        many = _DenseLine(asked, axis)
        yield from many.sample()
    else:
        # A distribution for each point takes up to a second.
        step = POINTS_BETWEEN_RESULTS if keeps_tables(asked) else 1
        for found in growing(asked, axis.tolist(), point_maker(asked, axis), step):
            yield sampled_lines(axis, found)
        if sets > 2 or not keeps_tables(asked):  # points that need a sum alone, or a distribution each
            return
        try:
            many = _DenseLine(asked, axis)
        except ValueError:  # large sets whose single points need no transforms
            return
        many.latest = sampled_lines(axis, found)
    yield from many.line()


def sampled_lines(axis: FloatArray, found: CoverageCurves) -> CoverageLines:
    """Return the points of a streamed curve as a line that is only sampled."""
    return CoverageLines(rules=found.rules, points=axis[found.places], coverage=found.coverage)


class _DenseLine(AxisDistributions):
    """Coverage at some proportions, the sample, and from the same distributions at many more: the line.

    `latest` is what there is; it comes again after every transform, so that nobody waits long who wants no more. Where
    the distributions of all x fit into memory they are kept until the jumps of all of them are known; else each is
    added to the line when it is there, and the line has no points beside jumps.
    """

    def __init__(self, asked: Asked, axis: FloatArray):
        super().__init__(asked, axis, every=True)
        self._axis, inner = axis, np.linspace(0.0, 1.0, LINE_STEPS + 1)
        self._dense = np.unique(np.concatenate([axis, inner[(inner > axis[0]) & (inner < axis[-1])]]))
        self._distributions: dict[int, Slice] = {}
        self._on_axis: dict[int, FloatArray] = {}
        self._keeps_distributions = sum(map(self._entries, self._boxes.values())) <= limits.TABLE_ENTRIES
        self.latest = self._sampled({})
        self._begin()

    def sample(self) -> Iterator[CoverageLines]:
        """Return the results at the proportions, coarse to fine."""
        done = dict[int, FloatArray]()
        for place in coarse_to_fine(len(self._axis)):
            mixture = self._mixtures[float(self._axis[place])]
            yield from self._computed(mixture.counts.tolist())
            found = np.array([self._on_axis[count][:, place] for count in mixture.counts.tolist()])
            done[place] = mixture.weights @ found
            if len(done) % POINTS_BETWEEN_RESULTS == 0 or len(done) == len(self._axis):
                self.latest = self._sampled(done)
                yield self.latest

    def line(self) -> Iterator[CoverageLines]:
        """Return, after what there is, the corners of the line."""
        n = self._asked.synthesizer.n
        yield from self._computed(range(n + 1))
        every_jump = self._keeps_distributions and self._add_jumps()
        if self._keeps_distributions:
            self._begin()
            for count, distribution in self._distributions.items():
                self._add(count, distribution)
                yield self.latest
        coverage = np.minimum(self._line, 1.0)
        corners = corners_of(self._dense, coverage, np.isin(self._dense, self._axis))
        yield CoverageLines(
            rules=self.latest.rules,
            points=self._dense[corners],
            coverage=coverage[:, corners],
            drawn_from=len(self._dense),
            jumps=every_jump,
        )

    def _sampled(self, done: Mapping[int, FloatArray]) -> CoverageLines:
        """Return the coverage of each rule at some places of the axis."""
        rules, places = tuple(rule.key for rule in self._asked.rules), np.array(sorted(done), int)
        coverage = np.array([done[place] for place in places.tolist()]).reshape(-1, len(rules)).T
        return CoverageLines(rules=rules, points=self._axis[places], coverage=np.minimum(coverage, 1.0))

    def _computed(self, counts: Iterable[int]) -> Iterator[CoverageLines]:
        """Add the distributions of these x, or of their mirror images, where they are not there yet."""
        for count in counts:
            at = count if count in self._boxes else self._asked.synthesizer.n - count
            if at in self._boxes and at not in self._on_axis:
                distribution = self.given(at)
                if self._keeps_distributions:
                    self._distributions[at] = distribution
                self._add(at, distribution)
                yield self.latest

    def _add_jumps(self) -> bool:
        """Put points beside the ends of the intervals of all releases that matter, if they are few."""
        possible = np.zeros(self.releases.total.shape, dtype=bool)
        flat = possible.ravel()  # the same numbers in a row
        for distribution in self._distributions.values():
            flat[distribution.part] |= distribution.probabilities > SMALLEST_JUMP
        found = [
            end[possible.any(axis=1, keepdims=True) if rule.knows_noise else possible]
            for rule in self._asked.rules
            for end in reached(*self._ends(rule))
        ]
        jumps: FloatArray = np.unique(np.concatenate(found))
        low, high = self._dense[[0, -1]]
        jumps = np.union1d(jumps, 1 - jumps) if self._mirrored else jumps
        jumps = jumps[(jumps >= low) & (jumps <= high)]
        if len(jumps) > MOST_JUMPS:
            return False
        beside = np.clip(np.concatenate([jumps - BESIDE, jumps + BESIDE]), low, high)
        self._dense = np.unique(np.concatenate([self._dense, beside]))
        return True

    def _ends(self, rule: IntervalRule) -> Ends:
        """Return the ends for all releases; for the sums alone, in one column, where the rule reads no more."""
        if not rule.knows_noise:
            return super()._ends(rule)
        asked, last = self._asked, self._high + 1
        low, high = ends_of(rule, sum_releases(asked.synthesizer, asked.sets, last), asked.level)
        return low[self._low :, None], high[self._low :, None]

    def _begin(self) -> None:
        """Begin the line, to which the distribution of each x is added."""
        self._line = np.zeros((len(self._asked.rules), len(self._dense)))
        self._places = np.searchsorted(self._dense, self._axis)
        ends = [self._ends(rule) for rule in self._asked.rules]
        turned = 1 - self._dense[::-1]
        self._ahead = [Runs.along(self._dense, pair) for pair in ends]
        alike = bool(np.abs(turned - self._dense).max() <= SAME_PROPORTION)
        self._turned = self._ahead if alike or not self._mirrored else [Runs.along(turned, pair) for pair in ends]

    def _add(self, count: int, distribution: Slice) -> None:
        from scipy.stats import binom  # it takes long to load, and few ask for it

        n, covered = self._asked.synthesizer.n, self._covered(self._ahead, distribution)
        self._line += binom.pmf(count, n, self._dense) * covered
        self._on_axis[count] = covered[:, self._places]
        if self._mirrored and 2 * count != n:
            if self._turned is not self._ahead:
                covered = self._covered(self._turned, distribution)
            self._line += binom.pmf(n - count, n, self._dense) * covered[:, ::-1]
            self._on_axis[n - count] = covered[:, ::-1][:, self._places]

    def _covered(self, runs: list[Runs], distribution: Slice) -> FloatArray:
        """Return the coverage of each rule given x, along the axis of the runs."""
        length = self._roots.length
        of_sums = Slice(distribution.start // length, distribution.probabilities.reshape(-1, length).sum(axis=1))
        known = [of_sums if rule.knows_noise else distribution for rule in self._asked.rules]
        return np.array([one.covered(part)[0] for one, part in zip(runs, known, strict=True)])


def corners_of(points: FloatArray, values: FloatArray, kept: BoolArray) -> IntArray:
    """Places of points whose polygon passes all others within `FLATNESS`, in every row of `values`.

    From each corner on the slopes that pass all points so far within the distance are an interval; where the next
    point's is outside, the point before it is a corner. Points that are `kept` are corners.

    >>> line = np.array([[0.0, 1.0, 2.0, 2.0, 2.0]])
    >>> corners_of(np.arange(5.0), line, np.zeros(5, dtype=bool)).tolist()
    [0, 2, 4]
    """
    anything = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    corners, (low, high) = [0], anything
    for place in range(1, len(points)):
        slope = (values[:, place] - values[:, corners[-1]]) / (points[place] - points[corners[-1]])
        if np.any((slope < low) | (slope > high)):
            corners.append(place - 1)
            low, high = anything
            slope = (values[:, place] - values[:, place - 1]) / (points[place] - points[place - 1])
        room = FLATNESS / (points[place] - points[corners[-1]])
        low, high = np.maximum(low, slope - room), np.minimum(high, slope + room)
        if kept[place]:
            corners.append(place)
            low, high = anything
    return np.unique([*corners, len(points) - 1])
