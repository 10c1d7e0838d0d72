"""Half widths of many intervals at once, with tables in place of the t quantile."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from dpviz.coverage._fast_quantiles import LARGEST, LARGEST_INVERSE, QuantileTable
from dpviz.inference._interval_ends import half_widths as scaled_roots
from dpviz.inference._interval_ends import quantile
from dpviz.types import FloatArray

STEEP_NODES = 16_384
"""Nodes of the table below ν = 1/2, where ln t is smooth in ln ν; the relative error is below 1e-12 from ν = 0.1."""

LEAST_DEGREES = 0.02
"""Below it, and where the quantile passes 10¹⁴⁰, it is computed one by one; at the level 0.95 it is 10⁶⁰ here."""


@lru_cache(maxsize=8)
def _tables(level: float) -> tuple[QuantileTable, FloatArray, float]:
    """The table for ν from 1/2 on, the logarithms of the quantile below, and the ν from which these can be used."""
    degrees = np.exp(np.linspace(math.log(LEAST_DEGREES), math.log(1 / LARGEST_INVERSE), STEEP_NODES + 1))
    found = quantile(degrees, level)
    usable = int(np.argmax(found < LARGEST))
    least = LEAST_DEGREES if usable == 0 else float(degrees[usable + 2])
    return QuantileTable(level), np.log(np.minimum(found, LARGEST)), least


def fast_quantile(degrees: FloatArray, level: float) -> FloatArray:
    """t_{ν, (1 + level)/2} as `quantile` gives it, to a relative 1e-12 at the usual levels from ν = 0.1.

    Parameters
    ----------
    degrees
        ν, 0 or above, any shape; infinite for the normal quantile.
    level
        Level of the two-sided interval.

    Examples
    --------
    >>> fast_quantile(np.array([0.25, 1.0, np.inf]), 0.95).round(4).tolist()
    [43640.1493, 12.7062, 1.96]
    """
    if np.isposinf(degrees).all():
        return np.full(degrees.shape, float(ndtri((1 + level) / 2)))
    table, steep_logs, least = _tables(level)
    flat = degrees.ravel()
    found = np.empty(flat.shape)
    steep, exact = flat < 1 / LARGEST_INVERSE, flat < least
    found[~steep] = table(flat[~steep])
    middle = steep & ~exact
    step = math.log(1 / LARGEST_INVERSE / LEAST_DEGREES) / STEEP_NODES
    place = (np.log(flat[middle]) - math.log(LEAST_DEGREES)) / step
    cell = np.clip(place.astype(np.intp), 1, STEEP_NODES - 2)
    w = place - cell
    before, here, after, last = (steep_logs.take(cell + shift) for shift in (-1, 0, 1, 2))
    cube = (last - before) / 6 + (here - after) / 2
    square = (before - 2 * here + after) / 2
    linear = after - before / 3 - here / 2 - last / 6
    found[middle] = np.exp(((cube * w + square) * w + linear) * w + here)
    found[exact] = quantile(flat[exact], level)
    return found.reshape(degrees.shape)


def scaled_half_widths(variance: FloatArray, degrees: FloatArray, level: float) -> FloatArray:
    """t √T, NaN where T < 0 and 0 where T = 0, with the fast quantile."""
    return scaled_roots(variance, degrees, level, lambda found, _: fast_quantile(found, level))
