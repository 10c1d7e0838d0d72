"""Coverage against the proportion as a line to draw: a polygon that nobody can tell from the exact curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from dpviz import limits
from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.coverage._intervals import Asked
from dpviz.coverage._points import ManySets, Runs, keeps_tables, point_maker
from dpviz.coverage.exact import CoverageCurves, Proportions, growing, point_axis
from dpviz.inference.interval_rules import reached
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import BoolArray, FloatArray, IntArray

STEPS = 1800  # Points from p = 0 to 1: half a pixel apart in a picture 900 pixels wide

FLATNESS = 5e-4  # Distance in coverage, 0.2 of a pixel of 400, by which leaving a point out may move the line

MOST_JUMPS = 6000  # Ends of intervals, of all rules together, up to which a line gets a point on both sides of each

SMALLEST_JUMP = 1e-6  # Probability of a release given x below which its jumps do not count

BESIDE = 1e-9  # Distance of a point of a line from the jump beside it


@dataclass(frozen=True, kw_only=True)
class CoverageLines:
    """Coverage of several rules along an axis, at the corners of the polygon to draw.

    Parameters
    ----------
    rules, points, coverage
        Keys of the rules, the corners in increasing order, and the exact coverage there, shape (rules, corners).
    drawn_from, jumps
        Points at which the coverage was computed, of which the corners are those that the line needs, and whether both
        sides of every jump are among them; 0 where it is only sampled, so that in between it can be anything.
    """

    rules: tuple[str, ...]
    points: FloatArray
    coverage: FloatArray
    drawn_from: int = 0
    jumps: bool = False

    def through(self, place: float, coverage: Mapping[str, float]) -> CoverageLines:
        """Return the same lines with one more corner, at which the coverage of each of the rules is known.

        Examples
        --------
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

    Examples
    --------
    One row and one synthetic row, as if real: an interval of width 0 at 0 or 1, which no p in between is in.

    >>> from dpviz.synthesizers import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> *_, line = stream_lines(release, proportions=[0.25, 0.75], sets=1, rules=["as_if_real"])
    >>> line.points.tolist(), line.coverage.tolist(), line.jumps
    ([0.25, 0.75], [[0.0, 0.0]], True)
    """
    asked = Asked.of(synthesizer, sets, rules, level)
    axis = np.unique(point_axis(proportions))
    many = _DenseLine(asked, axis) if sets > 2 and not asked.by_sum else None
    for found in growing(asked, axis.tolist(), many.point if many else point_maker(asked, axis)):
        yield sampled_lines(axis, found)
    if many is None:
        if sets > 2 or not keeps_tables(asked):  # points that need a sum alone, or a distribution each
            return
        try:
            many = _DenseLine(asked, axis)
        except ValueError:  # large sets whose single points need no transforms
            return
    points, coverage = many.line()
    corners = corners_of(points, coverage, np.isin(points, axis))
    sampled = CoverageLines(rules=found.rules, points=points[corners], coverage=coverage[:, corners])
    yield dataclasses.replace(sampled, drawn_from=len(points), jumps=many.every_jump)


def sampled_lines(axis: FloatArray, found: CoverageCurves) -> CoverageLines:
    """Return the points of a streamed curve as a line that is only sampled."""
    return CoverageLines(rules=found.rules, points=axis[found.places], coverage=found.coverage)


class _DenseLine(ManySets):
    """Results at some proportions, and with the same distributions the coverage at many more: the line.

    Where the distributions of all x fit into memory they are kept until the jumps of all of them are known; else
    each is added to the line when it is there, and the line has no points beside jumps.
    """

    def __init__(self, asked: Asked, axis: FloatArray):
        super().__init__(asked, axis, every=True)
        inner = np.linspace(0.0, 1.0, STEPS + 1)
        self._dense = np.unique(np.concatenate([axis, inner[(inner > axis[0]) & (inner < axis[-1])]]))
        self.every_jump = False
        totals = sum(box.high - box.low + 1 for box in self._boxes.values())
        self._laws: dict[int, FloatArray] | None = {} if totals * self._roots.length <= limits.TABLE_ENTRIES else None
        if self._laws is None:
            self._begin()

    def line(self) -> tuple[FloatArray, FloatArray]:
        """Return the dense proportions, those beside jumps among them, and the coverage of each rule there."""
        for count in self._boxes:
            self._of_count(count)
        if self._laws is not None:
            self._add_jumps(self._laws)
            self._begin()
            for count, law in self._laws.items():
                self._add(count, law)
        return self._dense, np.minimum(self._line, 1.0)

    def _law_of(self, count: int) -> FloatArray:
        law = super()._law_of(count)
        if self._laws is None:
            self._add(count, law)
        else:
            self._laws[count] = law
        return law

    def _add_jumps(self, laws: dict[int, FloatArray]) -> None:
        """Put points beside the ends of the intervals of all releases that matter, where they are few."""
        possible = np.zeros(self._negative.size, dtype=bool)
        for count, law in laws.items():
            offset = self._offset(count)
            possible[offset : offset + len(law)] |= law > SMALLEST_JUMP
        ends = [end.ravel()[possible] for pair in map(self._ends, self._asked.rules) for end in reached(*pair)]
        jumps, (low, high) = np.unique(np.concatenate(ends)), self._dense[[0, -1]]
        jumps = np.union1d(jumps, 1 - jumps) if self._mirrored else jumps
        jumps = jumps[(jumps >= low) & (jumps <= high)]
        self.every_jump = len(jumps) <= MOST_JUMPS
        if self.every_jump:
            beside = np.clip(np.concatenate([jumps - BESIDE, jumps + BESIDE]), low, high)
            self._dense = np.unique(np.concatenate([self._dense, beside]))

    def _begin(self) -> None:
        """Begin the line, to which the distribution of each x is added."""
        self._line = np.zeros((len(self._asked.rules), len(self._dense)))
        axes = self._dense, 1 - self._dense[::-1]
        each = map(self._ends, self._asked.rules)
        self._both = [[Runs.along(axis, ends, self._negative) for axis in axes] for ends in each]

    def _add(self, count: int, law: FloatArray) -> None:
        n, offset = self._asked.synthesizer.n, self._offset(count)
        self._line += binom.pmf(count, n, self._dense) * [ahead.covered(law, offset)[0] for ahead, _ in self._both]
        if self._mirrored and 2 * count != n:
            covered = [turned.covered(law, offset)[0, ::-1] for _, turned in self._both]
            self._line += binom.pmf(n - count, n, self._dense) * covered


def corners_of(points: FloatArray, values: FloatArray, kept: BoolArray) -> IntArray:
    """Places of points whose polygon passes all others within `FLATNESS`, in every row of `values`.

    From each corner on the slopes that pass all points so far within the distance are an interval; where the next
    point's is outside, the point before it is a corner. Points that are `kept` are corners.

    Examples
    --------
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
