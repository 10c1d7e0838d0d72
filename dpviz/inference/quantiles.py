"""The t quantile: as SciPy gives it, and from tables between whose nodes it is cubic."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, Numbers

BELOW_1 = argument("level", 0, 1 - 2**-53, open_minimum=True)
INFINITE_BELOW = 1e-300  # ν/t² below which the quantile t, from about 1e150 on, counts as infinite: SciPy's stays there
# 1/ν up to which the quantile is interpolated in 1/ν, and nodes for each unit of it
LARGEST_INVERSE, QUANTILE_NODES = 2.0, 2048
# ν down to which ln t is interpolated in ln ν, and nodes there: at the level 0.95 the quantile is 10⁶⁰ here.
SMALLEST_DEGREES, STEEP_NODES = 0.02, 16_384
INFINITE_HALVINGS = 20  # Of the ν between 0 and `SMALLEST_DEGREES` from which down it is infinite
LARGEST_TABLED = 1e140  # Quantile up to which there is a table; from about 1e150 on no node is exact
# A bound of the relative error at every level; a decision closer than that asks `quantile` itself
TABLED_QUANTILE_ERROR = 1e-9


def quantile(degrees: FloatArray, level: Numbers) -> FloatArray:
    """t_{ν, (1 + level)/2}; the normal quantile where ν is infinite, infinite where it would pass √ν 10¹⁵⁰.

    >>> quantile(np.array([1.0, np.inf]), 0.95).round(6).tolist()
    [12.706205, 1.959964]
    """
    degrees = np.asarray(degrees, dtype=float)
    level = BELOW_1.validate_array(level)
    degrees, upper = np.broadcast_arrays(np.asarray(degrees, float), (1 + np.asarray(level, float)) / 2)
    found = np.full(degrees.shape, math.inf)
    normal, usable = np.isposinf(degrees), (degrees > 0) & (degrees < math.inf)
    found[normal] = ndtri(upper[normal])
    values = stdtrit(degrees[usable], upper[usable])
    with np.errstate(divide="ignore", over="ignore"):
        found[usable] = np.where(degrees[usable] / values**2 > INFINITE_BELOW, values, math.inf)
    return found


class _Cubic:
    """Lagrange's cubic through four neighbouring values at equal steps; the argument counts steps from the second."""

    def __init__(self, values: FloatArray) -> None:
        before, here, after, last = values[:-3], values[1:-2], values[2:-1], values[3:]
        self._highest = (last - before) / 6 + (here - after) / 2
        self._others = (before - 2 * here + after) / 2, after - before / 3 - here / 2 - last / 6, here
        self.cells = len(here)

    def __call__(self, place: FloatArray) -> FloatArray:
        cell = place.astype(np.intp)
        np.maximum(cell, 0, out=cell)
        away = place - cell
        found = self._highest.take(cell)
        for coefficients in self._others:
            found *= away
            found += coefficients.take(cell)
        return found


class QuantileTable:
    """t_{ν, (1 + level)/2} as `quantile` gives it, 15 times faster: to 1e-12, relative, at usual levels from ν = 0.1.

    It is smooth in 1/ν down to 0, and its logarithm in ln ν where ν is small; what is beyond the tables is computed. It
    is exact to 5e-11 at any level from 0.001 to 0.999999.

    >>> QuantileTable(0.95)(np.array([0.25, 1.0, 10.0, np.inf])).round(6).tolist()
    [43640.149268, 12.706205, 2.228139, 1.959964]
    """

    def __init__(self, level: float) -> None:
        self._level = level

    def __call__(self, degrees: FloatArray, _level: Numbers | None = None) -> FloatArray:
        """As `quantile` at the level of the table."""
        if (degrees == math.inf).all():
            return np.full(degrees.shape, float(ndtri((1 + self._level) / 2)))
        flat = degrees.ravel()
        with np.errstate(divide="ignore"):
            inverse = 1 / flat
        steep = inverse > LARGEST_INVERSE
        some = bool(steep.any())
        # The second node is 1/ν = 1 step: there is none on the other side of 0, so that the first cell borrows.
        inverse *= QUANTILE_NODES
        inverse -= 1
        if some:
            inverse[steep] = 0.0
        found = _flat_part(self._level)(inverse)
        if some:
            small, part = flat[steep], _steep_part(self._level)
            with np.errstate(divide="ignore"):
                place = (np.log(small) - part.start) / part.step
            inside = place >= 0
            values = np.full(len(small), math.inf)
            values[inside] = np.exp(part.logarithm(place[inside]))
            beyond = ~inside & ~(small < part.infinite_below)
            values[beyond] = quantile(small[beyond], self._level)
            found[steep] = values
        return found.reshape(degrees.shape)


class _SteepPart(NamedTuple):
    """ln t at steps of ln ν from `start` on, and a ν from which down t is infinite."""

    start: float
    step: float
    logarithm: _Cubic
    infinite_below: float


@lru_cache(maxsize=64)
def _flat_part(level: float) -> _Cubic:
    """The table where ν is large, made when it is first needed."""
    with np.errstate(divide="ignore"):
        return _Cubic(quantile(QUANTILE_NODES / np.arange(round(LARGEST_INVERSE * QUANTILE_NODES) + 3), level))


@lru_cache(maxsize=64)
def _steep_part(level: float) -> _SteepPart:
    """The table where ν is small, likewise."""
    step = math.log(1 / LARGEST_INVERSE / SMALLEST_DEGREES) / STEEP_NODES
    places = math.log(SMALLEST_DEGREES) + step * np.arange(-1, STEEP_NODES + 3)
    values = quantile(np.exp(places), level)
    first = int(np.argmax(values < LARGEST_TABLED))
    return _SteepPart(float(places[first + 1]), step, _Cubic(np.log(values[first:])), _largest_infinite(level))


def _largest_infinite(level: float) -> float:
    """About the largest ν, and not more, whose quantile is infinite: it falls in ν."""
    low, high = 0.0, SMALLEST_DEGREES
    for _ in range(INFINITE_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if quantile(np.array([middle]), level)[0] == math.inf else (low, middle)
    return low
