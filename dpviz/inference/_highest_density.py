"""The shortest region of a given probability under a smooth density on [0, 1] that may have several modes."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from dpviz.types import FloatArray

FLAT = 1e-7
"""Relative change of a density below which it counts as flat: rounding, not the law, would choose the region."""

RIPPLE = 1e-10
"""Relative depth from which a dip of the density counts as one."""

MASS_TOLERANCE = 1e-11
LARGEST_LOG = 700.0
STEPS_PER_DEVIATION = 4
LEAST_STEPS = 64


class Density(Protocol):
    """A law on [0, 1] with its density, probabilities and quantiles."""

    @property
    def largest_size(self) -> float:
        """The largest a + b of its beta components: none is narrower than 1 / (2 √size) in arcsin √p."""

    def pdf(self, p: FloatArray | float) -> FloatArray: ...

    def cdf(self, p: FloatArray | float) -> FloatArray: ...

    def quantile(self, q: float) -> float: ...

    def interval(self, level: float) -> tuple[float, float]: ...


def angle_grid(size: float) -> FloatArray:
    """Points from 0 to 1, even in arcsin √p, four to the standard deviation of a beta law with a + b = `size`."""
    steps = max(LEAST_STEPS, math.ceil(math.pi * STEPS_PER_DEVIATION * math.sqrt(size)))
    grid: FloatArray = np.sin(np.linspace(0.0, math.pi / 2, steps + 1)) ** 2
    grid[-1] = 1.0
    return grid


def highest_density(density: Density, level: float) -> list[tuple[float, float]]:
    """The intervals, in order, where the density is at least c, with c such that they hold `level`.

    c is at least 1 − level, since what is left out has density below c and length below 1.
    """
    grid = angle_grid(density.largest_size)
    values = density.pdf(grid)
    top = float(values.max())
    if math.isfinite(top) and top - float(values.min()) <= FLAT * top:
        return [density.interval(level)]
    edges, heights = _monotone_pieces(density, grid, values)
    log_top = min(math.log(heights.max()), LARGEST_LOG) if np.isfinite(heights.max()) else LARGEST_LOG

    def excess(log_height: float) -> float:
        return _mass(density, _region(density, edges, heights, log_height)) - level

    log_height = float(brentq(excess, math.log1p(-level) - 1e-9, log_top, xtol=1e-14, rtol=1e-14))
    return _with_mass(density, _region(density, edges, heights, log_height), level)


def _monotone_pieces(density: Density, grid: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """0, the places where the density turns, and 1; with the density there."""
    edges = [0.0]
    for index, sign in _turning_points(values):
        low, high = float(grid[index - 1]), float(grid[index + 1])
        found = minimize_scalar(
            lambda p, sign=sign: -sign * float(density.pdf(p)), bounds=(low, high), method="bounded",
            options={"xatol": 1e-9 * (high - low)},
        )  # fmt: skip
        edges.append(float(found.x))
    edges.append(1.0)
    return np.array(edges), density.pdf(np.array(edges))


def _turning_points(values: FloatArray) -> list[tuple[int, int]]:
    """Inner places of the maxima (1) and minima (−1) of `values`; smaller ripples are rounding."""
    found: list[tuple[int, int]] = []
    best, direction = 0, 0
    for index in range(1, len(values)):
        value, held = values[index], values[best]
        if direction == 0:
            if abs(value - held) > RIPPLE * min(value, held) or not np.isfinite(held):
                direction, best = (1 if value > held else -1), index
        elif direction * (value - held) > 0:
            best = index
        elif abs(value - held) > RIPPLE * max(value, held):
            found.append((best, direction))
            best, direction = index, -direction
    return found


def _region(density: Density, edges: FloatArray, heights: FloatArray, log_height: float) -> list[tuple[float, float]]:
    """Where the density is at least e^`log_height`, piece by piece, adjoining pieces joined."""
    height = math.exp(log_height)

    def above(p: float) -> float:
        value = float(density.pdf(p))
        return (min(math.log(value), LARGEST_LOG + 10) if value > 0 else -LARGEST_LOG) - log_height

    region: list[tuple[float, float]] = []
    for index in range(len(edges) - 1):
        low, high = float(edges[index]), float(edges[index + 1])
        low_in, high_in = heights[index] >= height, heights[index + 1] >= height
        if not (low_in or high_in):
            continue
        if low_in != high_in:
            crossing = float(brentq(above, low, high, xtol=1e-300, rtol=1e-15, maxiter=5000))
            low, high = (low, crossing) if low_in else (crossing, high)
        if region and region[-1][1] == low:
            low = region.pop()[0]
        region.append((low, high))
    return region


def _mass(density: Density, region: list[tuple[float, float]]) -> float:
    if not region:
        return 0.0
    ends = density.cdf(np.array(region))
    return float((ends[:, 1] - ends[:, 0]).sum())


def _with_mass(density: Density, region: list[tuple[float, float]], level: float) -> list[tuple[float, float]]:
    """The region with its outer ends moved, where a flat stretch of density left its probability undecided."""
    excess = _mass(density, region) - level
    if abs(excess) <= MASS_TOLERANCE or not region:
        return region
    (first, second), (third, last) = region[0], region[-1]
    inner = (first > 0) + (last < 1)
    if first > 0:
        first = density.quantile(min(max(float(density.cdf(first)) + excess / inner, 0.0), 1.0))
    if last < 1:
        last = density.quantile(min(max(float(density.cdf(last)) - excess / inner, 0.0), 1.0))
    if len(region) == 1:
        return [(first, last)]
    return [(first, second), *region[1:-1], (third, last)]
