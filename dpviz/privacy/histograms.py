"""Histograms of bounded numbers: perturbed or smoothed, with public bins or with Scott's, which the data decide."""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.core.types import FloatArray
from dpviz.privacy.noisy_counts import NOISE_EPSILON, log_table_probability

SCOTT_FACTOR = 3.49  # in his rule for the width of a bin, 3.49 s n^(−1/3)
MAX_ROWS_TRIED = 300  # n up to which several tables of rows, and longer sums, are tried

Counts = tuple[int, ...]
Neighbours = Iterator[tuple[FloatArray, FloatArray]]

# Public bins: every noisy count has noise of scale 1/ε


def revealing_tables(rows: int, bins: int) -> list[tuple[Counts, Counts, Counts]]:
    """Neighbouring counts and released rows that reveal much: a row leaves a bin for one that is empty.

    Most rows are released in the bin that it enters, none in that which it leaves, and the others in a third.

    Parameters
    ----------
    rows, bins : int
    """
    if bins == 2:
        return [((0, rows), (1, rows - 1), (rows, 0))]
    shares = [(rows, rows)]
    if rows > 2:
        shares += [(rows - rows // 4, rows - rows // 2), (rows // 2, rows // 3)][: 2 if rows <= MAX_ROWS_TRIED else 1]
    empty = (0,) * (bins - 3)
    return [
        ((0, count, rows - count, *empty), (1, count - 1, rows - count, *empty), (seen, 0, rows - seen, *empty))
        for count, seen in shares
    ]


def table_log_odds(first: Counts, second: Counts, table: Counts, epsilon: float) -> float:
    """|ln Pr(table | first) − ln Pr(table | second)| of rows drawn from noisy counts.

    Parameters
    ----------
    first, second, table : tuple of int
        Confidential counts and their neighbour, and released counts.
    epsilon : float
    """
    epsilon = NOISE_EPSILON.validate(epsilon)
    return abs(log_table_probability(first, table, 1 / epsilon) - log_table_probability(second, table, 1 / epsilon))


@lru_cache(maxsize=1024)
def perturbed_rows_loss(rows: int, bins: int, epsilon: float) -> float:
    """Largest |log-odds| found in the released rows of a perturbed histogram, whose noisy counts themselves lose 2ε.

    Parameters
    ----------
    rows, bins : int
    epsilon : float
    """
    losses = [table_log_odds(*tables, epsilon) for tables in revealing_tables(rows, bins)]
    return min(max(losses), 2 * epsilon)


@lru_cache(maxsize=1024)
def one_bin_loss(rows: int, bins: int, epsilon: float) -> float:
    """ln of how much likelier all rows lie in one bin where that has the only confidential row than where none has one.

    Where no noisy count is above 0 the rows are spread evenly over the bins.

    Parameters
    ----------
    rows, bins : int
    epsilon : float
    """
    epsilon = NOISE_EPSILON.validate(epsilon)
    empty = (0,) * (bins - 1)
    occupied, vacant = (log_table_probability((count, *empty), (rows, *empty), 1 / epsilon) for count in (1, 0))
    spread = -bins * math.log(2) - rows * math.log(bins)
    return max(0.0, occupied - float(np.logaddexp(vacant, spread)))


@lru_cache(maxsize=1024)
def bootstrap_rows_loss(rows: int, bins: int, epsilon: float) -> float:
    """Log-odds of rows of a perturbed histogram, all in one bin, of rows that were drawn with replacement.

    Of the confidential rows one is in that bin, and is drawn k ~ Binomial(n, 1/n) times, or none; all others are in a
    second bin. The sum over k is cut off, which makes the likelier table less likely.

    Parameters
    ----------
    rows, bins : int
    epsilon : float
    """
    from scipy.stats import binom  # takes long to import, and few need it

    epsilon = NOISE_EPSILON.validate(epsilon)
    empty = (0,) * (bins - 2)
    copies = np.arange(min(8 if rows <= MAX_ROWS_TRIED else 3, rows) + 1)
    table = (rows, 0, *empty)
    logs = [log_table_probability((k, rows - k, *empty), table, 1 / epsilon) for k in copies.tolist()]
    return max(0.0, float(logsumexp(logs + binom.logpmf(copies, rows, 1 / rows))) - logs[0])


# Scott's bins, whose number the data decide


def scott_rule(variance: Any, n: int, width: float) -> Any:
    """Number of bins by Scott's rule: as many as cover the range, each 3.49 s n^(−1/3) wide.

    Parameters
    ----------
    variance : float or ndarray
        s², with the divisor n − 1.
    n : int
    width : float
        Length of the range.
    """
    return np.ceil(width * n ** (1 / 3) / (SCOTT_FACTOR * np.sqrt(variance)))


def scott_bins(data: FloatArray, lower: float, upper: float) -> int:
    """Number of bins of a data set by `scott_rule`; a ValueError where all values are equal, which have no width.

    Parameters
    ----------
    data : ndarray
    lower, upper : float
        Ends of the range.
    """
    if len(data) < 2 or np.ptp(data) == 0:
        raise ValueError("data must have two different values at least: equal ones have no finite number of bins.")
    return int(scott_rule(float(np.var(data, ddof=1)), len(data), upper - lower))


def uniform_share(bins: Any, n: Any, epsilon: float) -> Any:
    """Share λ = K / (K + n (e^{ε/n} − 1)) of the uniform distribution in a smoothed histogram.

    Bowen & Liu (2016), equation (6).

    Parameters
    ----------
    bins, n : int or ndarray
    epsilon : float

    Examples
    --------
    >>> share = uniform_share(10, 100, 1.0)
    >>> round(float(100 * np.log1p((1 - share) / share * 10 / 100)), 12)  # ε of all rows in a bin that goes from 0 to 1
    1.0
    """
    return bins / (bins + n * np.expm1(np.minimum(epsilon / n, MAX_EXPONENT)))


def _smoothed_loss(first: FloatArray, second: FloatArray, lower: float, upper: float, epsilon: float) -> float:
    """Exact loss of n rows of a smoothed histogram with Scott's bins between two data sets.

    The densities are steps, so it is n times the largest |log-ratio| of one row.
    """
    n = len(first)
    counts = [scott_bins(data, lower, upper) for data in (first, second)]
    ends = np.unique(np.concatenate([np.linspace(0, 1, bins + 1) for bins in counts]))
    middles = ((ends[1:] + ends[:-1]) / 2)[np.diff(ends) > 1e-12]
    log_densities = []
    for data, bins in zip((first, second), counts, strict=True):
        weight = uniform_share(bins, n, epsilon)
        histogram = np.histogram((data - lower) / (upper - lower), bins=bins, range=(0, 1))[0] * (bins / n)
        log_densities.append(np.log((1 - weight) * histogram[(middles * bins).astype(int)] + weight))
    return n * float(np.abs(np.subtract(*log_densities)).max())


def smoothed_bound(n: int, epsilon: float) -> float:
    """Loss n ln((1 + x)(1 + x/2)), x = n (e^{ε/n} − 1), that rows of a smoothed histogram stay below.

    Over K bins the density of a row, times the range, is at most K(1 + x)/(K + x) < 1 + x where all rows are in its
    bin, and at least K/(K + x) ≥ 2/(2 + x) where none is.

    Parameters
    ----------
    n : int
    epsilon : float
    """
    if epsilon / n > MAX_EXPONENT:  # x would overflow, and 1 + x = x
        return 2 * epsilon + n * math.log(n**2 / 2)
    x = n * math.expm1(epsilon / n)
    return n * (math.log1p(x) + math.log1p(x / 2))


def _widened(n: int, index: int, distances: tuple[float, ...]) -> Neighbours:
    """Neighbours in [0, 1]: all rows but one lie together, and the last one moves from nearby to the upper bound.

    Then the bins become wide. The rows lie a little below the end of the wide bin with this index.
    """
    bins = index + 1
    for _ in range(6):  # the end lies where the wide bins have it, and they depend on where it lies
        common = np.full(n, index / bins - 1e-9)
        second = np.append(1.0, common[1:])
        bins = max(scott_bins(second, 0.0, 1.0), index + 1)
    for distance in distances:
        yield np.append(min(common[0] + distance, 1.0), common[1:]), second


def smoothed_worst(n: int, epsilon: float) -> float:
    """Largest loss found of a smoothed histogram with Scott's bins, whatever the length of the range.

    Rows just above the end of a wide bin, once the likeliest, become the rarest.

    Parameters
    ----------
    n : int
    epsilon : float
    """
    pairs = (pair for index in range(1, 4) for pair in _widened(n, index, (0.3, 0.1, 0.03, 0.01, 0.003)))
    return max(0.0, *(_smoothed_loss(*pair, 0.0, 1.0, epsilon) for pair in pairs))


@lru_cache(maxsize=1024)
def perturbed_scott_worst(n: int, epsilon: float, max_bins: int) -> float:
    """Largest log-odds found in the rows of a perturbed histogram with Scott's bins, of which there are no more.

    All rows lie just above the end of a wide bin, in the narrow one of most confidential rows. Over K bins a row has
    there K times the probability of its bin, by the length of the range. The rows show less than the histogram, whose
    number of bins tells such data apart for sure.

    Parameters
    ----------
    n : int
    epsilon : float
    max_bins : int
    """
    epsilon = NOISE_EPSILON.validate(epsilon)
    losses = [0.0]
    for pair in _widened(n, 1, (0.03, 0.01)):  # each takes a moment
        bins = [min(scott_bins(data, 0.0, 1.0), max_bins) for data in pair]
        common = float(pair[1][-1])
        end = 1 / bins[1]
        if not end + 1e-6 < (math.floor(common * bins[0]) + 1) / bins[0]:
            continue
        logs = []
        for data, number in zip(pair, bins, strict=True):
            counts = np.bincount(np.minimum((data * number).astype(int), number - 1), minlength=number)
            table = [0] * number
            table[math.floor((end + 5e-7) * number)] = n
            logs.append(log_table_probability(counts.tolist(), table, 1 / epsilon) + n * math.log(number))
        losses.append(logs[0] - logs[1])
    return max(losses)


# Samples of the standard normal distribution


def _other_bins(data: FloatArray, lower: float, upper: float) -> FloatArray | None:
    """A neighbour with another number of bins: one row moved so that s is as small or as large as can be."""
    n = len(data)
    bins = scott_bins(data, lower, upper)
    total = data.sum() - data
    squares = (data**2).sum() - data**2
    for targets in (np.clip(total / (n - 1), lower, upper), np.full(n, lower), np.full(n, upper)):
        variance = (squares + targets**2 - (total + targets) ** 2 / n) / (n - 1)
        changed = np.flatnonzero(scott_rule(np.maximum(variance, 1e-300), n, upper - lower) != bins)
        if len(changed):
            row = changed[0]
            return np.concatenate([data[:row], targets[row : row + 1], data[row + 1 :]])
    return None


def _with_other_bins(n: int, lower: float, upper: float, samples: int, seed: int) -> Neighbours:
    """Samples between the bounds, each with such a neighbour if it has one."""
    generator = np.random.default_rng(seed)
    low, high = ndtr(lower), ndtr(upper)
    for _ in range(samples):
        data = np.clip(ndtri(low + (high - low) * generator.random(n)), lower, upper)
        moved = _other_bins(data, lower, upper)
        if moved is not None:
            yield data, moved


def scott_share(n: int, lower: float, upper: float, samples: int, seed: int) -> Measure:
    """Share of samples of n rows between the bounds with a neighbour that has another number of bins.

    Parameters
    ----------
    n : int
    lower, upper : float
    samples, seed : int
    """
    return Measure.share(len(list(_with_other_bins(n, lower, upper, samples, abs(seed)))), samples)


def smoothed_typical(n: int, lower: float, upper: float, epsilon: float, samples: int, seed: int) -> FloatArray:
    """Sorted losses of smoothed histograms of such samples to a neighbour with another number of bins, if there is one.

    Parameters
    ----------
    n : int
    lower, upper, epsilon : float
    samples, seed : int
    """
    pairs = _with_other_bins(n, lower, upper, samples, seed)
    return np.sort(np.array([_smoothed_loss(data, moved, lower, upper, epsilon) for data, moved in pairs]))
