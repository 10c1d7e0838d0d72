"""From a variance and its degrees of freedom to an interval, and what the interval holds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpviz.analysis import SETS
from dpviz.checked import GAPS, argument, checked
from dpviz.numerics.quantiles import quantile
from dpviz.types import BoolArray, FloatArray, IntArray

RATIO = argument("synthetic_ratio", 0, 1e12, title="m/n", open_minimum=True)
ANY_ROWS = argument("rows", 1, 10_000_000, integer=True)
VARIANCE = argument("variance", -1e150, 1e150)
COUNTS = argument("total", 0, 2**53, integer=True)
ESTIMATE = argument("estimate", -1e150, 1e150)

ROUNDING = 1e-12
"""Relative distance within which a variance counts as zero, and an end of an interval as reached."""


def half_widths(
    variance: FloatArray,
    degrees: FloatArray,
    level: FloatArray | float,
    quantiles: Callable[[FloatArray, FloatArray], FloatArray] = quantile,
) -> FloatArray:
    """t_{ν, (1 + level)/2} √T; NaN where T < 0 and 0 where T = 0, whatever ν is.

    At T = 0 < v̄ both rules with r have ν = 0, so that t √T is ∞ · 0. Computed with rounding it comes out as nothing, 0
    or anything at all; here a variance of zero is an interval of width zero.

    Parameters
    ----------
    variance, degrees, level
        T, ν and the level, shapes that broadcast.
    quantiles
        The function (ν, level) → t.

    Examples
    --------
    >>> half_widths(np.array([4.0, 0.0, 0.0, -1.0]), np.array([np.inf, np.inf, 0.0, 1.0]), 0.95).round(4).tolist()
    [3.9199, 0.0, 0.0, nan]
    """
    variance, degrees, level = np.broadcast_arrays(variance, degrees, np.asarray(level, float))
    half = np.zeros(variance.shape)
    positive = variance > 0
    half[positive] = quantiles(degrees[positive], level[positive]) * np.sqrt(variance[positive])
    half[variance < 0] = math.nan
    return half


@checked("estimate", "half_width", "proportion", estimate=ESTIMATE, half_width=GAPS, proportion=ESTIMATE)
def covers(estimate: FloatArray, half_width: FloatArray, proportion: FloatArray | float) -> BoolArray:
    """Whether |q̄ − p| ≤ half width, an end being reached when it is within a relative 1e-12.

    Parameters
    ----------
    estimate
        q̄, any shape.
    half_width
        Half width; NaN where there is no interval, which never covers; 0 covers q̄ = p alone.
    proportion
        p, from 0 to 1.

    Examples
    --------
    >>> covers(np.array([0.3, 0.3, 0.3]), np.array([0.1, 0.0, np.nan]), 0.1 + 0.2).tolist()
    [True, True, False]
    """
    with np.errstate(over="ignore"):
        return holds(np.asarray(estimate) - half_width, estimate + np.asarray(half_width), proportion)


@checked("low", "high", "proportion", low=GAPS, high=GAPS, proportion=ESTIMATE)
def holds(low: FloatArray, high: FloatArray, proportion: FloatArray | float) -> BoolArray:
    """Whether low ≤ p ≤ high, as `covers` decides it for intervals that are given by their ends; NaN where none is.

    Parameters
    ----------
    low, high
        Ends, any shape; infinite where the interval is.
    proportion
        p, from 0 to 1.

    Examples
    --------
    >>> holds(np.array([0.2, 0.3, np.nan]), np.array([0.3, 1.0, np.nan]), 0.1 + 0.2).tolist()
    [True, True, False]
    """
    with np.errstate(invalid="ignore"):
        lowest, highest = reached(low, high)
    return np.asarray((lowest <= proportion) & (proportion <= highest))


def vacuous(low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether the interval holds all of 0 to 1, so that it says nothing of a proportion.

    Examples
    --------
    >>> vacuous(np.array([0.0, -0.2, np.nan]), np.array([1.0, 0.9, np.nan])).tolist()
    [True, False, False]
    """
    lowest, highest = reached(low, high)
    return np.asarray((lowest <= 0.0) & (highest >= 1.0))


def reached(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smallest and largest p that the interval holds: its ends, moved out by 1e-12 of its half width and of p."""
    slack = ROUNDING * ((high - low) / 2)
    return (low - slack) / (1 + ROUNDING), (high + slack) / (1 - ROUNDING)


@checked("total", "squares", total=COUNTS, squares=COUNTS, sets=SETS, rows=ANY_ROWS)
def estimate_and_variances(
    total: IntArray, squares: IntArray, *, sets: int, rows: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """q̄, b and v̄ from S = Σ x̃_j and Q = Σ x̃_j²: q̄ = S/(Mm), b = (MQ − S²)/(M(M−1)m²), v̄ = (mS − Q)/(Mm³).

    Parameters
    ----------
    total, squares
        S and Q as whole numbers, shapes that broadcast; the differences are taken before rounding.
    sets
        M, at least 1; b is 0 for a single set.
    rows
        m, synthetic rows of one set, at least 1.

    Examples
    --------
    Counts 1 and 3 of 4: proportions 1/4 and 3/4, b = 1/8, v̄ = (3/16)/4.

    >>> [float(value) for value in estimate_and_variances(np.array(4), np.array(10), sets=2, rows=4)]
    [0.5, 0.125, 0.046875]
    """
    total, squares = np.asarray(total, np.int64), np.asarray(squares, np.int64)
    between = (sets * squares - total**2) / (max(sets * (sets - 1), 1) * rows**2)
    return total / (sets * rows), between, (rows * total - squares) / (sets * rows**3)
