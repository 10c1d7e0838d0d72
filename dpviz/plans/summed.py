"""What independent losses add up to: one list as long as it is short, and then whole numbers of cells of one width.

Above, each part is split between the points of an even grid, and sums of points are points: the masses of a sum are a
convolution. Below, an outcome is told by the place of its cell alone, and a sum by the sum of its places: its masses
under both data sets are convolutions. Neither takes differences, so that no tail loses its digits.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from dpviz.core.types import FloatArray
from dpviz.plans.losses import NO_LOSS, LossBounds, listed_losses
from dpviz.privacy.pld import PrivacyLossDistribution

MOST_LISTED = 4_000  # Losses of a sum that are kept apart
MOST_SORTED = 20_000  # Losses of a sum among which equal ones are sought
SUM_CELLS = 8_000  # Cells of a sum from its first loss to its last or, if it is narrow, `DEVIATIONS` to each side
DEVIATIONS = 13.7
UNSEEN_TAIL = 1e-40  # Mass beyond an end of a grid, at most: above, it counts as having an infinite loss
GRID_ROUNDING = 1e-11  # Of a mass that is a sum of some ten thousand products, relative
Alternatives = Sequence[LossBounds]
"""Losses of which any may be the real one."""


SECONDS_OF = {"rates": 4e-4, "drawn": 4e-8, "listed": 9e-8, "spread": 5e-8, "convolved": 4.5e-10}
"""Of one that is computed, on one core of 2025."""


@dataclass
class SumTally:
    """What was computed.

    `rates` that a limit asks for, losses `drawn` of releases, pairs of losses `listed` in short sums, cells that
    alternatives were `spread` over, and products of masses `convolved`.
    """

    rates: float = 0
    drawn: float = 0
    listed: float = 0
    spread: float = 0
    convolved: float = 0

    @property
    def seconds(self) -> float:
        """About how long that takes on one core of 2025."""
        return math.fsum(getattr(self, name) * each for name, each in SECONDS_OF.items())

    def times(self, times: float, finer: float = 1.0) -> SumTally:
        """Return as much so many times, with so many times more cells."""
        counts = {name: value * times for name, value in vars(self).items()}
        return SumTally(**{**counts, "spread": counts["spread"] * finer, "convolved": counts["convolved"] * finer**2})

    def plus(self, other: SumTally) -> SumTally:
        """Return both together."""
        return SumTally(*(one + more for one, more in zip(vars(self).values(), vars(other).values(), strict=True)))


def summed_losses(parts: Iterable[Alternatives], tally: SumTally | None = None, cells: int = SUM_CELLS) -> LossBounds:
    """Return the loss of independent releases, whose losses add.

    Of a release with alternatives the worst counts at each ε, and the list of that, which is above all of them, is
    added. The pointwise largest of several δ(ε) is that of a pair of its own: it is convex in e^ε and falls.

    Two coins that tell the truth with 3/4: at ε = ln 3 they exceed it by 9/16 (1 − 3/9).

    >>> coin = LossBounds.exactly(np.log([3, 1 / 3]), np.array([0.75, 0.25]))
    >>> round(summed_losses([[coin], [coin]]).delta(math.log(3)).upper, 12), summed_losses([[coin], [coin]]).size
    (0.375, 3)
    """
    tally = tally or SumTally()
    held = list(parts)
    short = sorted((one[0] for one in held if len(one) == 1 and one[0].exact), key=lambda one: one.size)
    groups = _listed(short, tally)
    rest = [one for one in held if len(one) > 1 or not one[0].exact]
    if not rest and len(groups) < 2:
        return groups[0] if groups else LossBounds(NO_LOSS)
    if not groups and len(rest) == 1 and len(rest[0]) == 1:
        return rest[0][0]
    return _on_grid([*([one] for one in groups), *rest], tally, cells)


def _listed(parts: Iterable[LossBounds], tally: SumTally) -> list[LossBounds]:
    """Sums of as many parts as leave a list short."""
    found: list[LossBounds] = []
    for one in parts:
        if found and found[-1].size * one.size <= MOST_SORTED:
            last, other = found[-1].above, one.above
            tally.listed += len(last.losses) * len(other.losses)
            both = last.compose(other)
            if len(both.losses) <= MOST_LISTED:
                found[-1] = LossBounds(both)
                continue
        found.append(one)
    return found


def _on_grid(parts: Sequence[Alternatives], tally: SumTally, cells: int) -> LossBounds:
    width = _width(parts, cells)
    grids = [_Grid.above(each, width) for each in parts]
    tally.spread += sum(len(each) * len(one.masses) for each, one in zip(parts, grids, strict=True))
    first = math.fsum(one.first for one in grids)
    lowest, masses = _convolved([one.masses[None] for one in grids], tally, keep_low=True)
    unseen = min(math.fsum(one.infinite for one in grids) + len(parts) * UNSEEN_TAIL, 1.0)
    places = first + width * (lowest + np.arange(masses.shape[1]))
    with np.errstate(divide="ignore"):
        log_masses = np.log(masses[0] * (1 + GRID_ROUNDING))
    above = PrivacyLossDistribution.from_outcomes(places, log_masses, unseen)

    def below() -> PrivacyLossDistribution:
        held = [_cells(each[one.worst].below, one.first, width) for each, one in zip(parts, grids, strict=True)]
        lowest, (likelier, other) = _convolved(held, tally, keep_low=False)
        (some,) = np.nonzero((likelier > 0) & (other > 0))
        losses = first + width * (lowest + some) + np.log(likelier[some]) - np.log(other[some])
        return listed_losses(losses - GRID_ROUNDING, likelier[some] * (1 - GRID_ROUNDING))

    return LossBounds(above, below)


def _ends(each: Alternatives) -> tuple[float, float]:
    """The smallest and the largest finite loss of alternatives."""
    lists = [one.above.losses for one in each]
    return min(float(losses.min()) for losses in lists), max(float(losses.max()) for losses in lists)


def _width(parts: Sequence[Alternatives], cells: int) -> float:
    """The width of a cell with which a sum has at most about so many."""
    reach, variance = 0.0, 0.0
    for each in parts:
        low, high = _ends(each)
        reach += high - low
        variance += max(float(one.above.masses @ one.above.losses**2) for one in each)
    return min(reach, 2 * DEVIATIONS * math.sqrt(variance)) / cells


@dataclass(frozen=True)
class _Grid:
    """Masses at `first`, `first` + width, …, a mass with an infinite loss, and which alternative is the worst."""

    first: float
    masses: FloatArray
    infinite: float
    worst: int

    @classmethod
    def above(cls, each: Alternatives, width: float) -> _Grid:
        """The worst of alternatives, each loss split between the ends of its cell, keeping its mass under both data."""
        low, top = _ends(each)
        cells = math.ceil((top - low) / width)
        first, rows = top - cells * width, []
        for one in each:
            masses = one.above.masses
            place = np.clip((one.above.losses - first) / width, 0, cells)
            index = place.astype(np.int64)
            upper = masses * (np.expm1((index - place) * width) / math.expm1(-width))
            rows.append(np.bincount(index, masses - upper, cells + 2) + np.bincount(index + 1, upper, cells + 2))
        infinite = [one.above.infinity_mass for one in each]
        found, worst = _largest(np.array(rows)[:, :-1], np.array(infinite), width)
        return cls(first, found, max(infinite), worst)


def _largest(masses: FloatArray, infinite: FloatArray, width: float) -> tuple[FloatArray, int]:
    """The masses whose δ is the largest of all rows at each grid point, and the row that it is most often.

    At a point, δ is the mass beyond less its part R = Σ P e^{point − L}; from δ at three points follows the mass at the
    one between, by steps of δ against e^ε. Where the same row is the largest at all three, it is its own.
    """
    if len(masses) == 1:
        return masses[0], 0
    ratio, reverse = math.exp(-width), masses[:, ::-1]
    beyond = np.cumsum(reverse, axis=1)[:, ::-1] - masses
    told = lfilter([0.0, ratio], [1.0, -ratio], reverse, axis=1)[:, ::-1]
    deltas = np.maximum(infinite[:, None] + beyond - told, infinite[:, None])
    which = deltas.argmax(axis=0)
    most = np.take_along_axis(deltas, which[None], axis=0)[0]
    own = np.take_along_axis(masses, which[None], axis=0)[0]
    steps = np.append(most[:-1] - most[1:], 0.0) / math.expm1(width)
    found = np.maximum(np.append(0.0, steps[:-1] / ratio - steps[1:]), 0.0)
    same = which[1:-1] == which[:-2]
    same &= which[1:-1] == which[2:]
    found[1:-1][same] = own[1:-1][same]
    found[0] = max(1.0 - float(found[1:].sum()) - float(infinite.max()), 0.0)
    return found, int(np.bincount(which[most > infinite.max()], minlength=len(masses)).argmax())


def _cells(loss: PrivacyLossDistribution, first: float, width: float) -> FloatArray:
    """Masses of cells around the grid points under both data sets, the other times e^{point}."""
    place = (loss.losses - first) / width
    index = np.maximum(np.rint(place), 0).astype(np.int64)
    with np.errstate(under="ignore"):  # in logs: next to no mass may lie far below the first point
        other = np.exp(loss.log_masses + (index - place) * width)
    return np.array([np.bincount(index, masses) for masses in (loss.masses, other)])


def _convolved(parts: Iterable[FloatArray], tally: SumTally, *, keep_low: bool) -> tuple[int, FloatArray]:
    """Convolve the rows of all parts, short ones first; return the place of the first cell, and the masses.

    Cells at the ends with next to no mass are left out, as `UNSEEN_TAIL` says: those above for good, those below in the
    first cell that is left, where `keep_low` says so.
    """
    order = itertools.count()
    heap = [(one.shape[1], next(order), 0, one) for one in parts]
    heapq.heapify(heap)
    while len(heap) > 1:
        (_, _, first, one), (_, _, second, other) = heapq.heappop(heap), heapq.heappop(heap)
        tally.convolved += one.size * other.shape[1]
        with np.errstate(under="ignore"):
            both = np.array([np.convolve(a, b) for a, b in zip(one, other, strict=True)])
        start, both = _cut(both, keep_low=keep_low)
        heapq.heappush(heap, (both.shape[1], next(order), first + second + start, both))
    return heap[0][2], heap[0][3]


def _cut(masses: FloatArray, *, keep_low: bool) -> tuple[int, FloatArray]:
    below = np.cumsum(masses[0])
    start = min(int(np.searchsorted(below, UNSEEN_TAIL)), len(below) - 1)
    stop = len(below) - int(np.searchsorted(np.cumsum(masses[0, ::-1]), UNSEEN_TAIL))
    kept = masses[:, start : max(stop, start + 1)].copy()
    if keep_low and start:
        kept[0, 0] += below[start - 1]
    return start, kept
