"""The variances of the combining rules, the quantile, and when an interval covers."""

# Every rule takes the same arguments, so that one loop serves all of them; some need fewer.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri, stdtrit

from dpviz.types import BoolArray, FloatArray, IntArray

ROUNDING = 1e-12
"""Relative distance within which a variance counts as zero, and an end of an interval as reached."""

LEAST_DEGREES = 0.006
"""Degrees of freedom below which the quantile of a usual level passes the largest floating-point number."""


def _raised(between: FloatArray, within: FloatArray, sets: int) -> tuple[FloatArray, FloatArray]:
    """(1 + 1/M) b and v̄, as arrays of one shape."""
    raised, within = np.broadcast_arrays((1 + 1 / sets) * np.asarray(between, float), np.asarray(within, float))
    return raised, within


def _square_degrees(numerator: FloatArray, denominator: FloatArray, sets: int, sign: int) -> FloatArray:
    """(M − 1)(1 ± numerator / denominator)², infinite where only the denominator is 0, M − 1 where both are."""
    with np.errstate(over="ignore"):
        ratio = np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0)
        ratio[(denominator == 0) & (numerator > 0)] = math.inf
        return np.asarray((sets - 1) * (1 + sign * ratio) ** 2)


def rubin_1987(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance (1 + 1/M) b + v̄ and ν = (M − 1)(1 + v̄ / ((1 + 1/M) b))²: multiple imputation of missing values.

    Parameters
    ----------
    between
        b, the variance of the estimates of the sets, divisor M − 1; 0 or above, any shape.
    within
        v̄, the mean of the variances that the sets give for their estimates; 0 or above, a shape that broadcasts.
    sets
        M, at least 2.
    synthetic_ratio
        m/n; this rule takes no account of it.

    Returns
    -------
    tuple
        Variance and degrees of freedom; infinite degrees (b = 0) mean the normal quantile.

    Source: Rubin (1987), §3.1.

    Examples
    --------
    >>> variance, degrees = rubin_1987(np.array(2.0), np.array(3.0), sets=2)
    >>> float(variance), float(degrees)
    (6.0, 4.0)
    """
    raised, within = _raised(between, within, sets)
    return raised + within, _square_degrees(within, raised, sets, 1)


def raghunathan_2003(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance T = (1 + 1/M) b − v̄ and ν = (M − 1)(1 − 1/r)² with r = (1 + 1/M) b / v̄: fully synthetic data.

    T may be negative: then the rule gives no interval. A difference within 1e-12 of v̄ is taken for 0.

    Parameters
    ----------
    between, within, sets, synthetic_ratio
        As for `rubin_1987`.

    Source: Raghunathan, Reiter & Rubin (2003), §2.

    Examples
    --------
    >>> variance, degrees = raghunathan_2003(np.array([2.0, 1.0]), np.array([1.5, 3.0]), sets=2)
    >>> variance.tolist(), degrees.tolist()
    ([1.5, -1.5], [0.25, 1.0])
    """
    raised, within = _raised(between, within, sets)
    difference = raised - within
    difference = np.where(np.abs(difference) <= ROUNDING * within, 0.0, difference)
    return difference, _square_degrees(within, raised, sets, -1)


def reiter_2002(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Charest's T*: T = (1 + 1/M) b − v̄ where it is 0 or above, else (m/n) v̄; ν as for `raghunathan_2003`.

    Parameters
    ----------
    between, within, sets
        As for `rubin_1987`.
    synthetic_ratio
        m/n, synthetic rows of one set for each confidential row.

    Source: Reiter (2002), §3; Charest (2011), §3.1, as T*_M.

    Examples
    --------
    >>> variance, degrees = reiter_2002(np.array([2.0, 1.0]), np.array([1.5, 3.0]), sets=2, synthetic_ratio=0.5)
    >>> variance.tolist(), degrees.tolist()
    ([1.5, 1.5], [0.25, 1.0])
    """
    difference, degrees = raghunathan_2003(between, within, sets=sets)
    return np.where(difference >= 0, difference, synthetic_ratio * np.asarray(within, float)), degrees


def reiter_2002_normal(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """`reiter_2002` with the normal quantile (ν = ∞) where T < 0, for which no degrees of freedom were derived.

    Parameters
    ----------
    between, within, sets, synthetic_ratio
        As for `reiter_2002`.

    Source: Charest (2011), §3.1, read with the quantile that gives what her §3.4 says.

    Examples
    --------
    >>> variance, degrees = reiter_2002_normal(np.array([2.0, 1.0]), np.array([1.5, 3.0]), sets=2)
    >>> variance.tolist(), degrees.tolist()
    ([1.5, 3.0], [0.25, inf])
    """
    difference, _ = raghunathan_2003(between, within, sets=sets)
    variance, degrees = reiter_2002(between, within, sets=sets, synthetic_ratio=synthetic_ratio)
    return variance, np.where(difference < 0, math.inf, degrees)


def reiter_2003(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance (m/n) v̄ + b/M and ν = (M − 1)(1 + M (m/n) v̄ / b)²: partially synthetic data.

    v̄ is the variance from m synthetic rows, (m/n) v̄ that of n real ones. As in the source, ν is that of b alone, the
    other term counting as known: 2 T² / Var(T) with Var(b/M) = 2 (b/M)² / (M − 1).

    Parameters
    ----------
    between, within, sets
        As for `rubin_1987`.
    synthetic_ratio
        m/n, synthetic rows of one set for each confidential row.

    Source: Reiter (2003), §2, and Liu, Theorem 7, for m = n; Raab, Nowok & Dibben (2017) for m ≠ n.

    Examples
    --------
    >>> variance, degrees = reiter_2003(np.array(2.0), np.array(1.0), sets=2)
    >>> float(variance), float(degrees)
    (2.0, 4.0)
    >>> variance, degrees = reiter_2003(np.array(2.0), np.array(1.0), sets=2, synthetic_ratio=2.0)
    >>> float(variance), float(degrees)
    (3.0, 9.0)
    """
    shared, within = np.broadcast_arrays(
        np.asarray(between, float) / sets, synthetic_ratio * np.asarray(within, float)
    )  # fmt: skip
    return within + shared, _square_degrees(within, shared, sets, 1)


def raab_2017(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance v̄ (m/n + (1 + m/n)/M) with the normal quantile, for posterior draws; b is not used.

    At m = n it is (1 + 2/M) v̄.

    Parameters
    ----------
    between, within, sets
        As for `rubin_1987`, with M at least 1.
    synthetic_ratio
        m/n, synthetic rows of one set for each confidential row.

    Source: Raab, Nowok & Dibben (2017), synthesis from the posterior predictive distribution.

    Examples
    --------
    >>> [float(value) for value in raab_2017(np.array(9.0), np.array(2.0), sets=4)]
    [3.0, inf]
    >>> [float(value) for value in raab_2017(np.array(9.0), np.array(2.0), sets=4, synthetic_ratio=3.0)]
    [8.0, inf]
    """
    _, within = np.broadcast_arrays(np.asarray(between, float), np.asarray(within, float))
    return (synthetic_ratio + (1 + synthetic_ratio) / sets) * within, np.full(within.shape, math.inf)


def raab_2017_plug_in(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance v̄ (m/n + 1/M) with the normal quantile, for rows drawn with plugged-in parameters; b is not used.

    Parameters
    ----------
    between, within, sets, synthetic_ratio
        As for `raab_2017`.

    Source: Raab, Nowok & Dibben (2017), synthesis from fitted parameters.

    Examples
    --------
    >>> [float(value) for value in raab_2017_plug_in(np.array(9.0), np.array(2.0), sets=4, synthetic_ratio=3.0)]
    [6.5, inf]
    """
    _, within = np.broadcast_arrays(np.asarray(between, float), np.asarray(within, float))
    return (synthetic_ratio + 1 / sets) * within, np.full(within.shape, math.inf)


def as_if_real(
    between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Variance v̄ with the normal quantile: what an analyst does who takes the release for real data.

    Parameters
    ----------
    between, within, sets, synthetic_ratio
        As for `rubin_1987`, with M at least 1.

    Examples
    --------
    >>> [float(value) for value in as_if_real(np.array(9.0), np.array(2.0), sets=4)]
    [2.0, inf]
    """
    _, within = np.broadcast_arrays(np.asarray(between, float), np.asarray(within, float))
    return within.copy(), np.full(within.shape, math.inf)


def quantile(degrees: FloatArray, level: FloatArray | float) -> FloatArray:
    """t_{ν, (1 + level)/2}; the normal quantile where ν is infinite, infinite where ν is below 0.006.

    Parameters
    ----------
    degrees
        ν, 0 or above, any shape.
    level
        Level of the two-sided interval, above 0 and below 1, a shape that broadcasts.

    Examples
    --------
    >>> quantile(np.array([1.0, np.inf]), 0.95).round(6).tolist()
    [12.706205, 1.959964]
    """
    degrees, upper = np.broadcast_arrays(np.asarray(degrees, float), (1 + np.asarray(level, float)) / 2)
    found = np.full(degrees.shape, math.inf)
    normal, usable = np.isposinf(degrees), (degrees >= LEAST_DEGREES) & (degrees < math.inf)
    found[normal] = ndtri(upper[normal])
    found[usable] = stdtrit(degrees[usable], upper[usable])
    return found


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
    distance = np.abs(np.asarray(estimate) - proportion)
    return np.asarray(distance <= half_width + ROUNDING * (half_width + proportion))


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
