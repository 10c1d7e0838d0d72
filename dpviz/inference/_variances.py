"""The variances of the combining rules and their degrees of freedom."""

# Every rule takes the same arguments, so that one loop serves all of them; some need fewer.
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpviz.types import FloatArray

ROUNDING = 1e-12
"""Relative distance within which a variance counts as zero, and an end of an interval as reached."""

Spread = tuple[FloatArray, FloatArray]
"""A variance and its degrees of freedom; infinite degrees mean the normal quantile."""

Combine = Callable[[FloatArray, FloatArray, int, float], Spread]
"""From b, the variance of the M estimates (divisor M − 1), v̄, the mean of the sets' own variances, M and m/n."""


def _square_degrees(numerator: FloatArray, denominator: FloatArray, sets: int, sign: int) -> FloatArray:
    """(M − 1)(1 ± numerator / denominator)², infinite where only the denominator is 0, M − 1 where both are."""
    with np.errstate(over="ignore"):
        ratio = np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0)
        ratio[(denominator == 0) & (numerator > 0)] = math.inf
        return np.asarray((sets - 1) * (1 + sign * ratio) ** 2)


def _normal(variance: FloatArray) -> Spread:
    return variance, np.full(variance.shape, math.inf)


def rubin_1987(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """(1 + 1/M) b + v̄ and ν = (M − 1)(1 + v̄ / ((1 + 1/M) b))²: multiple imputation of missing values.

    >>> variance, degrees = rubin_1987(np.array(2.0), np.array(3.0), 2)
    >>> float(variance), float(degrees)
    (6.0, 4.0)
    """
    raised = (1 + 1 / sets) * between
    return raised + within, _square_degrees(within, raised, sets, 1)


def rubin_1987_normal(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """`rubin_1987` with the normal quantile."""
    return _normal(rubin_1987(between, within, sets)[0])


def raghunathan_2003(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """T = (1 + 1/M) b − v̄ and ν = (M − 1)(1 − 1/r)² with r = (1 + 1/M) b / v̄: fully synthetic data.

    T may be negative: then the rule gives no interval. A difference within 1e-12 of v̄ is taken for 0.

    >>> variance, degrees = raghunathan_2003(np.array([2.0, 1.0]), np.array([1.5, 3.0]), 2)
    >>> variance.tolist(), degrees.tolist()
    ([1.5, -1.5], [0.25, 1.0])
    """
    raised = (1 + 1 / sets) * between
    difference = raised - within
    difference = np.where(np.abs(difference) <= ROUNDING * within, 0.0, difference)
    return difference, _square_degrees(within, raised, sets, -1)


def raghunathan_2003_normal(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """`raghunathan_2003` with the normal quantile."""
    return _normal(raghunathan_2003(between, within, sets)[0])


def reiter_2002(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """Charest's T*: T of `raghunathan_2003` where it is 0 or above, else (m/n) v̄; its ν for both."""
    difference, degrees = raghunathan_2003(between, within, sets)
    return np.where(difference >= 0, difference, ratio * within), degrees


def reiter_2002_normal(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """`reiter_2002` with the normal quantile where T < 0, for which no degrees of freedom were derived.

    >>> variance, degrees = reiter_2002_normal(np.array([2.0, 1.0]), np.array([1.5, 3.0]), 2, 0.5)
    >>> variance.tolist(), degrees.tolist()
    ([1.5, 1.5], [0.25, inf])
    """
    difference, _ = raghunathan_2003(between, within, sets)
    variance, degrees = reiter_2002(between, within, sets, ratio)
    return variance, np.where(difference < 0, math.inf, degrees)


def reiter_2003(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """(m/n) v̄ + b/M and ν = (M − 1)(1 + M (m/n) v̄ / b)²: partially synthetic data.

    v̄ is the variance from m synthetic rows, (m/n) v̄ that of n real ones. As in the source, ν is that of b alone, the
    other term counting as known: 2 T² / Var(T) with Var(b/M) = 2 (b/M)² / (M − 1).

    >>> variance, degrees = reiter_2003(np.array(2.0), np.array(1.0), 2, 2.0)
    >>> float(variance), float(degrees)
    (3.0, 9.0)
    """
    shared, known = np.asarray(between / sets), ratio * within
    return known + shared, _square_degrees(known, shared, sets, 1)


def raab_2017(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """v̄ (m/n + (1 + m/n)/M) with the normal quantile, for posterior draws: (1 + 2/M) v̄ at m = n.

    >>> [float(value) for value in raab_2017(np.array(9.0), np.array(2.0), 4, 3.0)]
    [8.0, inf]
    """
    return _normal((ratio + (1 + ratio) / sets) * within)


def raab_2017_plug_in(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """v̄ (m/n + 1/M) with the normal quantile, for rows drawn with plugged-in parameters.

    >>> [float(value) for value in raab_2017_plug_in(np.array(9.0), np.array(2.0), 4, 3.0)]
    [6.5, inf]
    """
    return _normal((ratio + 1 / sets) * within)


def as_if_real(between: FloatArray, within: FloatArray, sets: int, ratio: float = 1.0) -> Spread:
    """v̄ with the normal quantile: what an analyst does who takes the release for real data."""
    return _normal(within)
