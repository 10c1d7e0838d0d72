"""What keeps released numbers inside the public bounds: values outside are moved to a bound, or drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import FloatArray, IntArray

BUFFER_NUMBERS = 512  # NumPy's default, 8,192, copies rows that are at most half as long
DRAWN_AT_ONCE = 32_768  # Numbers drawn at a time, which then stay near the processor
FEWEST_SIDE_BY_SIDE = 32  # Fewest sets that are drawn side by side, so that no loop is short
ACCEPTED = 0.3  # Share of draws inside the bounds from which drawing again beats inverting the distribution


class Rows(NamedTuple):
    """Rows of some sets, one set in each column: row i of set j is centre[j] + scale[j] · values[i, j].

    `place` says which sets they are. A set with the scale 0 has only equal rows, whatever its values.
    """

    place: IntArray | slice
    values: FloatArray
    centre: FloatArray
    scale: FloatArray


class Moments(NamedTuple):
    """Mean and variance (divisor n − 1) of each set; equal rows have a variance of exactly 0."""

    mean: FloatArray
    variance: FloatArray


VARIANCE_ROUNDING = 1e-13  # Share of a mean square that a variance of equal rows may have by rounding


def moments_of(rows: Rows) -> Moments:
    """Return mean and variance of each set.

    >>> one = Rows(np.array([0]), np.array([[-1.0], [1.0]]), np.array([5.0]), np.array([2.0]))
    >>> [part.tolist() for part in moments_of(one)]
    [[5.0], [8.0]]
    """
    number = len(rows.values)
    mean = rows.values.sum(axis=0)
    mean /= number
    square = np.einsum("nk,nk->k", rows.values, rows.values)
    square /= number
    variance = square - mean * mean
    square *= VARIANCE_ROUNDING
    if (equal := variance <= square).any():
        variance[equal] = 0.0
    mean *= rows.scale
    mean += rows.centre
    variance *= rows.scale**2
    variance *= number / (number - 1)
    return Moments(mean, variance)


def normal_moments(low: FloatArray, high: FloatArray, number: int) -> FloatArray:
    """E[z^k; low < z < high] for k = 0 … `number` (at least 1) of a standard normal z, by integration by parts.

    >>> normal_moments(np.array(-np.inf), np.array(0.0), 2).round(4).tolist()
    [0.5, -0.3989, 0.5]
    """
    ends = [np.where(np.isfinite(end), end, 0.0) for end in (low, high)]
    density = [np.exp(-np.square(end) / 2) / math.sqrt(2 * math.pi) for end in (low, high)]
    found = [np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)), density[0] - density[1]]
    for k in range(2, number + 1):
        found.append((k - 1) * found[k - 2] + ends[0] ** (k - 1) * density[0] - ends[1] ** (k - 1) * density[1])
    return np.array(found)


def side_by_side(sets: IntArray, rows: int) -> Iterator[IntArray]:
    """Yield consecutive sets, as many as are drawn at a time."""
    yield from (sets[part] for part in sets_at_once(len(sets), rows))


def sets_at_once(sets: int, rows: int) -> list[slice]:
    """Return which sets of so many rows are drawn at a time."""
    return row_blocks(sets, 1, max(FEWEST_SIDE_BY_SIDE, DRAWN_AT_ONCE // rows))


@dataclass(frozen=True)
class Bounding:
    """A way to keep numbers between `low` and `high`.

    Where it `redraws` (truncation), a number outside is drawn again, and its probability to lie inside depends on the
    confidential data. Else it is set to the bound (boundary-inflated truncation, BIT), which looks at the release
    alone.
    """

    redraws: bool

    def laplace(
        self, random: np.random.Generator, centre: FloatArray, scale: float, low: float, high: float
    ) -> FloatArray:
        """Return centre + Laplace(scale), kept between `low` and `high`."""
        if not self.redraws:
            released = random.laplace(0.0, scale, centre.shape)
            released += centre
            return np.minimum(np.maximum(released, low, out=released), high, out=released)
        lowest, highest = _laplace_cdf((low - centre) / scale), _laplace_cdf((high - centre) / scale)
        share = lowest + (highest - lowest) * random.random(centre.shape)
        tail = np.maximum(2 * np.minimum(share, 1 - share), 1e-300)
        return np.clip(centre + np.copysign(scale * np.log(tail), share - 0.5), low, high)

    def normal(
        self, random: np.random.Generator, rows: int, centre: FloatArray, scale: FloatArray, low: float, high: float
    ) -> Iterator[Rows]:
        """Yield rows of N(centre, scale²) of every set, kept between `low` and `high`."""
        lowest, highest = _limits(centre, scale, low, high)
        if not self.redraws:
            for part in sets_at_once(len(centre), rows):
                values = random.standard_normal((rows, len(centre[part])))
                with np.errstate():  # which restores the buffer size as well
                    np.setbufsize(BUFFER_NUMBERS)
                    np.maximum(values, lowest[part], out=values)
                    np.minimum(values, highest[part], out=values)
                yield Rows(part, values, centre[part], scale[part])
            return
        often = ndtr(highest) - ndtr(lowest) >= ACCEPTED
        for place in side_by_side(np.flatnonzero(often), rows):
            values = random.standard_normal((rows, len(place)))
            lower, upper = lowest[place], highest[place]
            outside = np.flatnonzero((values < lower) | (values > upper))
            flat = values.reshape(-1)
            while len(outside):
                again, column = random.standard_normal(len(outside)), outside % len(place)
                flat[outside] = again
                outside = outside[(again < lower[column]) | (again > upper[column])]
            yield Rows(place, values, centre[place], scale[place])
        for place in side_by_side(np.flatnonzero(~often), rows):
            # Both limits are taken to the lower tail, where the distribution function keeps its digits.
            mirrored = lowest[place] > 0
            lower = np.where(mirrored, -highest[place], lowest[place])
            upper = np.where(mirrored, -lowest[place], highest[place])
            start = ndtr(lower)
            values = ndtri(start + (ndtr(upper) - start) * random.random((rows, len(place))))
            np.clip(values, lower, upper, out=values)
            yield Rows(place, np.where(mirrored, -values, values), centre[place], scale[place])

    def expected(self, inside: FloatArray, mass: FloatArray, ends: FloatArray) -> FloatArray:
        """Return E[f] of a number kept inside the bounds.

        `inside` is E[f; inside] and `mass` the probability of that, both before; `ends` is f at each bound times the
        probability of what lies beyond, summed.
        """
        return inside / mass if self.redraws else inside + ends

    def row_moments(self, centre: FloatArray, scale: float, low: float, high: float) -> tuple[FloatArray, FloatArray]:
        """Return mean and mean square of one row of N(centre, scale²) that is kept inside the bounds."""
        lowest, highest = (low - centre) / scale, (high - centre) / scale
        mass, first, second = normal_moments(lowest, highest, 2)
        below, above = ndtr(lowest), ndtr(-highest)
        square = centre**2 * mass + 2 * centre * scale * first + scale**2 * second
        return (
            self.expected(centre * mass + scale * first, mass, low * below + high * above),
            self.expected(square, mass, low**2 * below + high**2 * above),
        )

    def loss(self, epsilon: float, steps: float) -> float:
        """Return the exact ε of a bounded statistic with Laplace noise for `epsilon`.

        Its range is `steps` times as long as one row can move it. A bound has the probability of all that lies beyond
        it, and no ratio grows. Where numbers are drawn again it is ε and ln(Z' / Z), Z and Z' being the probabilities
        that noise from the lower bound, and one step above, lies inside: the density inside is divided by them, and at
        the bound itself the noise shows all of ε as well.

        >>> BOUNDARY_INFLATION.loss(0.1, 1000), round(REDRAWING.loss(0.1, 1000), 4)  # ln(2e^0.1 − 1)
        (0.1, 0.1909)
        """
        if not self.redraws:
            return epsilon
        here, above = math.expm1(-epsilon * steps), math.expm1(-epsilon) + math.expm1(-epsilon * (steps - 1))
        return epsilon + math.log(above / here)


def _limits(centre: FloatArray, scale: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """The bounds in standard deviations from the centre; unlimited where the deviation is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lowest, highest = (low - centre) / scale, (high - centre) / scale
    equal = scale == 0
    if equal.any():
        lowest[equal], highest[equal] = -math.inf, math.inf
    return lowest, highest


def _laplace_cdf(value: FloatArray) -> FloatArray:
    tail = 0.5 * np.exp(-np.abs(value))
    return np.where(value < 0, tail, 1 - tail)


BOUNDARY_INFLATION, REDRAWING = Bounding(redraws=False), Bounding(redraws=True)
