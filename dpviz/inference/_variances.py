"""The variances of the combining rules and their degrees of freedom."""

# Every rule takes the same arguments, so that one loop serves all of them; some need fewer.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpviz.analysis import SETS
from dpviz.checked import checked
from dpviz.inference.interval_ends import RATIO, ROUNDING, VARIANCE
from dpviz.types import FloatArray

TWO_OR_MORE = replace(SETS, minimum=2)
"""M of a rule that uses the variance between sets: a single set has none."""


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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=TWO_OR_MORE, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=TWO_OR_MORE, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=TWO_OR_MORE, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=TWO_OR_MORE, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=TWO_OR_MORE, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO)
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


@checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO)
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
