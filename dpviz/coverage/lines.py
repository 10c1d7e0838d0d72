"""Coverage against the proportion as a line to draw: a polygon that nobody can tell from the exact curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.coverage._proportions import ManySets, by_sum, keeps_tables
from dpviz.coverage.curves import PLACES, CoverageCurves, check_rules, stream_by_proportion
from dpviz.inference.confidential import check_design
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.types import BoolArray, FloatArray, IntArray

STEPS = 1800
"""Points from p = 0 to 1: half a pixel apart in a picture 900 pixels wide."""

FLATNESS = 5e-4
"""Distance in coverage, 0.2 of a pixel of 400, by which leaving a point out may move the line."""


@dataclass(frozen=True, kw_only=True)
class CoverageLines:
    """Coverage of several rules along an axis, at the corners of the polygon to draw.

    Parameters
    ----------
    rules
        Keys of the rules, the first axis of `coverage`.
    points
        The corners, in increasing order.
    coverage
        Exact coverage there, shape (rules, corners).
    drawn_from
        Points at which the coverage was computed, of which the corners are those that the line needs; 0 where it is
        only sampled, so that between two corners it can be anything.
    jumps
        Whether both sides of every jump of every rule are among them.
    """

    rules: tuple[str, ...]
    points: FloatArray
    coverage: FloatArray
    drawn_from: int = 0
    jumps: bool = False

    def through(self, place: float, coverage: Mapping[str, float]) -> CoverageLines:
        """The same lines with one more corner, at which the coverage of each of the rules is known.

        Examples
        --------
        >>> line = CoverageLines(rules=("wald",), points=np.array([0.0, 1.0]), coverage=np.array([[0.0, 0.0]]))
        >>> line.through(0.5, {"wald": 0.9}).coverage.tolist()
        [[0.0, 0.9, 0.0]]
        """
        left = int(np.searchsorted(self.points, place))
        right = left + int(left < len(self.points) and self.points[left] == place)
        corner = np.array([[coverage[key]] for key in self.rules])
        return dataclasses.replace(
            self,
            points=np.concatenate([self.points[:left], [place], self.points[right:]]),
            coverage=np.concatenate([self.coverage[:, :left], corner, self.coverage[:, right:]], axis=1),
        )


@checked(proportions=PROPORTION, sets=SETS, level=LEVEL, step=PLACES)
def stream_lines(
    synthesizer: TwoCellSynthesizer,
    *,
    proportions: Sequence[float] | FloatArray,
    sets: int,
    rules: Sequence[str],
    level: float = 0.95,
    step: int = 4,
) -> Iterator[CoverageLines]:
    """Coverage against p as a growing line: at `proportions`, coarse to fine, then all of it.

    As a function of p the coverage jumps wherever p passes an end of the interval of a release, by the probability of
    that release, and is a polynomial in between. In the end it is computed at points 1/1800 apart, half a pixel of a
    usual picture, and, where the ends of all intervals are few, on both sides of every jump; corners that do not move
    the line by 0.0005 are left out. For releases too many for tables in memory it stays a sample.

    Parameters
    ----------
    synthesizer, sets, rules, level
        As for `exact_coverage` and `coverage_by_proportion`.
    proportions
        Points that are drawn first and kept, each from 0 to 1; the line runs from the first to the last of them.
    step
        Points added between two results, at least 1.

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
    checked, level = check_rules(rules, sets, level)
    if np.ndim(proportions) != 1 or not len(proportions):
        raise ValueError("proportions must be one or more numbers from 0 to 1 in a row.")
    for p in proportions:
        check_design(synthesizer, float(p), sets, None)
    axis = np.unique(np.asarray(proportions, float))
    inner = np.linspace(0.0, 1.0, STEPS + 1)
    dense = np.unique(np.concatenate([axis, inner[(inner > axis[0]) & (inner < axis[-1])]]))

    def tables() -> ManySets | None:
        if not keeps_tables(synthesizer, sets):
            return None
        try:
            return ManySets(synthesizer, axis, sets, checked, level, None, dense)
        except ValueError:  # large sets whose single points need no transforms
            return None

    if sets > 2 and by_sum(checked):  # a single point needs a sum alone, tables far more
        yield from (sampled_lines(axis, found) for found in stream_by_proportion(
            synthesizer, proportions=axis, sets=sets, rules=rules, level=level, step=step
        ))  # fmt: skip
        return
    many = tables() if sets > 2 else None
    for found in stream_by_proportion(
        synthesizer, proportions=axis, sets=sets, rules=rules, level=level, step=step, tables=many
    ):
        yield sampled_lines(axis, found)
    many = many or tables()
    if many is not None:
        points, coverage = many.line()
        corners = corners_of(points, coverage, np.isin(points, axis))
        yield CoverageLines(
            rules=found.rules, points=points[corners], coverage=coverage[:, corners], drawn_from=len(points),
            jumps=many.every_jump,
        )  # fmt: skip


def sampled_lines(axis: FloatArray, found: CoverageCurves) -> CoverageLines:
    """The points of a streamed curve as a line that is only sampled."""
    return CoverageLines(rules=found.rules, points=axis[found.places], coverage=found.coverage)


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
    corners, start = [0], 0
    low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    for place in range(1, len(points)):
        slope = (values[:, place] - values[:, start]) / (points[place] - points[start])
        if np.any((slope < low) | (slope > high)):
            start = place - 1
            corners.append(start)
            low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
            slope = (values[:, place] - values[:, start]) / (points[place] - points[start])
        room = FLATNESS / (points[place] - points[start])
        low, high = np.maximum(low, slope - room), np.minimum(high, slope + room)
        if kept[place]:
            start = place
            corners.append(start)
            low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
    return np.unique([*corners, len(points) - 1])
