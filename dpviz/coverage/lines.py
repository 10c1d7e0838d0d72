"""Coverage against the proportion as a line to draw: a polygon that nobody can tell from the exact curve."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, SETS
from dpviz.core.numerics.special import binomial_weights, row_blocks
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._bracket import CoverageBracket, SharedDistributions
from dpviz.coverage._intervals import Asked
from dpviz.coverage._points import Runs, Slice, keeps_tables, point_maker
from dpviz.coverage.distributions import TAIL
from dpviz.coverage.exact import (
    POINTS_BETWEEN_RESULTS,
    CoverageCurves,
    Proportions,
    coarse_to_fine,
    growing,
    point_axis,
)
from dpviz.inference.confidential import binomial_weights_of, confidential_mixture
from dpviz.mechanisms import TwoCellSynthesizer

LINE_STEPS = 1800  # Points from p = 0 to 1: half a pixel apart in a picture 900 pixels wide

FLATNESS = 5e-4  # Distance in coverage, 0.2 of a pixel of 400, by which leaving a point out may move the line

MOST_JUMPS = 6000  # Ends of intervals, of all rules together, up to which a line gets a point on both sides of each

SMALLEST_JUMP = 1e-6  # Probability of a release given x below which its jumps do not count

WEIGHTS_AT_ONCE = 500_000  # Probabilities of counts, at points of a line, that are held

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
    proportions = PROPORTION.validate_array(proportions, name="proportions")
    sets = SETS.validate(sets)
    level = LEVEL.validate(level)
    asked = Asked.of(synthesizer, sets, rules, level)
    return lines_and_brackets(asked, np.unique(point_axis(proportions)), SharedDistributions(synthesizer, sets))


def lines_and_brackets(
    asked: Asked, axis: FloatArray, shared: SharedDistributions, brackets: Iterable[CoverageBracket] = ()
) -> Iterator[CoverageLines]:
    """`stream_lines`; each distribution that it computes is handed on to the `brackets`, which need the same."""
    if asked.sets > 2 and not asked.by_sum:
        many = _DenseLine(asked, axis, shared, brackets)
        yield from many.begin()
        yield from many.sample()
    else:
        # A distribution for each point takes up to a second.
        step = POINTS_BETWEEN_RESULTS if keeps_tables(asked) else 1
        for found in growing(asked, axis.tolist(), point_maker(asked, axis), step):
            yield sampled_lines(axis, found)
        # Points that need a sum alone, or a distribution each
        if asked.sets > 2 or not keeps_tables(asked):
            return
        try:
            many = _DenseLine(asked, axis, shared, brackets)
        except ValueError:  # large sets whose single points need no transforms
            return
        many.latest = sampled_lines(axis, found)
        yield from many.begin()
    yield from many.line()


def sampled_lines(axis: FloatArray, found: CoverageCurves) -> CoverageLines:
    """Return the points of a streamed curve as a line that is only sampled."""
    return CoverageLines(rules=found.rules, points=axis[found.places], coverage=found.coverage)


class _DenseLine:
    """Coverage at some proportions, the sample, and from the same distributions at many more: the line.

    `latest` is what there is; it comes again after every transform, so that nobody waits long who wants no more. Where
    the distributions fit into memory they are kept until the jumps of all of them are known, and if these are few, each
    is added anew to a line with points beside them.
    """

    def __init__(
        self, asked: Asked, axis: FloatArray, shared: SharedDistributions, brackets: Iterable[CoverageBracket] = ()
    ):
        self._asked, self._axis, self._brackets = asked, axis, [*brackets]
        self._mixtures = {p: confidential_mixture(asked.synthesizer.n, p, TAIL) for p in axis.tolist()}
        counts = [one.counts for one in self._mixtures.values()]
        self._made = shared.many(np.arange(min(one[0] for one in counts), max(one[-1] for one in counts) + 1))
        inner = np.linspace(0.0, 1.0, LINE_STEPS + 1)
        self._dense = np.unique(np.concatenate([axis, inner[(inner > axis[0]) & (inner < axis[-1])]]))
        self._on_axis: dict[int, FloatArray] = {}
        self.latest = self._sampled({})

    def begin(self) -> Iterator[CoverageLines]:
        """Begin the line, to which the distribution at each place is added."""
        self._line = np.zeros((len(self._asked.rules), len(self._dense)))
        self._places = np.searchsorted(self._dense, self._axis)
        nodes = self._made.nodes
        self._of_nodes = None if nodes is None else self._weights_of_nodes(nodes.shares)
        turned = 1 - self._dense[::-1]
        alike = not self._made.mirrored or bool(np.abs(turned - self._dense).max() <= SAME_PROPORTION)
        self._ahead = list[Runs]()
        self._turned = self._ahead if alike else list[Runs]()
        for rule in self._asked.rules:
            held = self._made.reach(rule, self._asked.level)
            yield self.latest
            self._ahead.append(Runs.along(self._dense, held))
            yield self.latest
            if not alike:
                self._turned.append(Runs.along(turned, held))
                yield self.latest

    def sample(self) -> Iterator[CoverageLines]:
        """Return the results at the proportions, coarse to fine; none where each takes all that the line takes."""
        if self._made.nodes is not None:
            return
        done = dict[int, FloatArray]()
        for place in coarse_to_fine(len(self._axis)):
            mixture = self._mixtures[float(self._axis[place])]
            yield from self._computed(mixture.counts.tolist())
            done[place] = mixture.weights @ np.array([self._on_axis[one][:, place] for one in mixture.counts.tolist()])
            if len(done) % POINTS_BETWEEN_RESULTS == 0 or len(done) == len(self._axis):
                self.latest = self._sampled(done)
                yield self.latest

    def line(self) -> Iterator[CoverageLines]:
        """Return, after what there is, the corners of the line."""
        yield from self._computed(self._made.places.tolist())
        every_jump = self._made.keeps and self._add_jumps()
        if every_jump:
            yield from self.begin()
            for place in self._made.order:
                self._add(place, self._made.given(place))
                yield self.latest
        coverage = np.clip(self._line, 0.0, 1.0)
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
        return CoverageLines(rules=rules, points=self._axis[places], coverage=np.clip(coverage, 0.0, 1.0))

    def _computed(self, places: Iterable[int]) -> Iterator[CoverageLines]:
        """Add the distributions at these places, or at the other end of them, where they are not there yet."""
        for place in map(self._made.known, places):
            if place not in self._on_axis:
                distribution = self._made.given(place)
                self._add(place, distribution)
                for one in self._brackets:
                    one.take(place, distribution)
                yield self.latest

    def _add_jumps(self) -> bool:
        """Put points beside the ends of the intervals of all releases that matter, if they are few."""
        made = self._made
        possible = np.zeros(made.shape, dtype=bool)
        flat = possible.ravel()  # the same numbers in a row
        for distribution in map(made.given, made.order):
            flat[distribution.part] |= distribution.probabilities > SMALLEST_JUMP
        jumps: FloatArray = np.empty(0)
        low, high = self._dense[[0, -1]]
        for rule in self._asked.rules:
            for end in made.reach(rule, self._asked.level):
                found = np.unique(end[possible.any(axis=1, keepdims=True) if rule.is_noise_aware else possible])
                found = np.union1d(found, 1 - found) if made.mirrored else found
                jumps = np.union1d(jumps, found[(found >= low) & (found <= high)])
                if len(jumps) > MOST_JUMPS:
                    return False
        beside = np.clip(np.concatenate([jumps - BESIDE, jumps + BESIDE]), low, high)
        self._dense = np.unique(np.concatenate([self._dense, beside]))
        return True

    def _add(self, place: int, distribution: Slice) -> None:
        covered, other = self._covered(self._ahead, distribution), self._made.across - place
        self._line += self._weights(place) * covered
        self._on_axis[place] = covered[:, self._places]
        if self._made.mirrored and place != other:
            if self._turned is not self._ahead:
                covered = self._covered(self._turned, distribution)
            self._line += self._weights(other) * covered[:, ::-1]
            self._on_axis[other] = covered[:, ::-1][:, self._places]

    def _weights(self, place: int) -> FloatArray:
        """Return what the distribution at a place weighs at every point of the line."""
        if self._of_nodes is None:
            return binomial_weights_of(place, self._asked.synthesizer.n, self._dense)
        return self._of_nodes[place]

    def _weights_of_nodes(self, shares: FloatArray) -> FloatArray:
        found, n, first = np.empty((shares.shape[1], len(self._dense))), self._asked.synthesizer.n, self._made.first
        for block in row_blocks(len(self._dense), n + 1, WEIGHTS_AT_ONCE):
            weights = binomial_weights(self._dense[block], n)
            found[:, block] = (weights[:, first : first + len(shares)] @ shares).T
        return found

    def _covered(self, runs: list[Runs], distribution: Slice) -> FloatArray:
        """Return the coverage of each rule at one place, along the axis of the runs."""
        of_sums = (
            self._made.by_sum(distribution) if any(rule.is_noise_aware for rule in self._asked.rules) else distribution
        )
        known = [of_sums if rule.is_noise_aware else distribution for rule in self._asked.rules]
        return np.array([one.covered(part)[0] for one, part in zip(runs, known, strict=True)])


def corners_of(points: FloatArray, values: FloatArray, kept: BoolArray) -> IntArray:
    """Places of points whose polygon passes all others within `FLATNESS`, in every row of `values`.

    From each corner on the slopes that pass all points so far within the distance are an interval; where the next
    point's is outside, the point before it is a corner. Points that are `kept` are corners.

    >>> line = np.array([[0.0, 1.0, 2.0, 2.0, 2.0]])
    >>> corners_of(np.arange(5.0), line, np.zeros(5, dtype=bool)).tolist()
    [0, 2, 4]
    """
    at, columns, held = points.tolist(), values.T.tolist(), kept.tolist()  # numbers, which are faster one by one
    anything = [(-math.inf, math.inf)] * len(values)
    corners, start, bounds = [0], 0, anything

    def slopes(place: int) -> list[float]:
        width = at[place] - at[start]
        return [(there - here) / width for here, there in zip(columns[start], columns[place], strict=True)]

    for place in range(1, len(at)):
        found = slopes(place)
        if not all(low <= slope <= high for slope, (low, high) in zip(found, bounds, strict=True)):
            start, bounds = place - 1, anything
            corners.append(start)
            found = slopes(place)
        room = FLATNESS / (at[place] - at[start])
        bounds = [
            (max(low, slope - room), min(high, slope + room)) for slope, (low, high) in zip(found, bounds, strict=True)
        ]
        if held[place]:
            start, bounds = place, anything
            corners.append(start)
    return np.unique([*corners, len(at) - 1])
