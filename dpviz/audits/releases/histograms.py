"""Histograms of bounded numbers: perturbed or smoothed, with public bins or with Scott's, which the data decide."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.audits.releases.noisy_counts import log_table_probability
from dpviz.checked import argument, checked
from dpviz.studies import Measure
from dpviz.types import FloatArray

SCOTT = 3.49
MOST_SAMPLES = 10_000
ROUNDS = 6  # Times that rows are moved to an end of a bin, which moves with them
NEAR = (0.3, 0.1, 0.03, 0.01, 0.003)  # How far the last row lies from the others, as a share of the range
MOST_ROWS_TRIED = 300  # n up to which several tables of rows are tried


def perturbed_rows_loss(rows: int, bins: int, epsilon: float) -> float:
    """Return the largest |log-odds| that was found in the released rows of a perturbed histogram with public bins.

    The noisy counts themselves lose 2ε; of the rows the pairs and tables are tried that came nearest to it.
    """
    half = rows // 2
    cases: list[tuple[tuple[int, ...], ...]] = [((0, rows), (1, rows - 1), (rows, 0))]
    if bins > 2:
        cases = cases if rows <= MOST_ROWS_TRIED else []
        cases += [((0, half, rows - half), (1, half - 1, rows - half), (seen, 0, rows - seen))
                  for seen in ((half, rows // 3) if cases else (half,))]  # fmt: skip
    found = []
    for *pair, table in cases:
        empty = (0,) * (bins - len(table))
        first, second = (log_table_probability((*counts, *empty), (*table, *empty), 1 / epsilon) for counts in pair)
        found.append(abs(first - second))
    return max(found)


def scott_bins(data: FloatArray, lower: float, upper: float) -> int:
    """Return the number of bins by Scott's rule: as many as cover the range, each 3.49 s n^(−1/3) wide.

    >>> scott_bins(np.repeat([-4.0, 4.0], [98, 2]), -4, 4), scott_bins(np.repeat([-4.0, 4.0], [99, 1]), -4, 4)
    (10, 14)
    """
    return int(_bins(float(np.var(data, ddof=1)), len(data), upper - lower))


@checked(
    n=argument("n", 2, 5000, integer=True),
    samples=argument("samples", 1, MOST_SAMPLES, integer=True),
    lower=argument("lower", -math.inf, 0),
    upper=argument("upper", 0, math.inf),
)
def scott_share(n: int, lower: float, upper: float, samples: int, seed: int) -> Measure:
    """Return the share of samples of n standard normal rows with a neighbour that has another number of bins.

    >>> scott_share(n=100, lower=-3.0, upper=4.0, samples=200, seed=1).value > 0.9
    True
    """
    return Measure.share(sum(1 for _ in _with_other_bins(n, lower, upper, samples, abs(seed))), samples)


def smoothed_loss(first: FloatArray, second: FloatArray, lower: float, upper: float, epsilon: float) -> float:
    """Return the exact loss of a smoothed histogram with Scott's bins between two data sets, over n released rows.

    The densities are steps, so it is n times the largest |log-ratio| of one row.
    """
    n, densities = len(first), []
    counts = [scott_bins(data, lower, upper) for data in (first, second)]
    ends = np.unique(np.concatenate([np.linspace(0, 1, bins + 1) for bins in counts]))
    middles = ((ends[1:] + ends[:-1]) / 2)[np.diff(ends) > 1e-12]
    for data, bins in zip((first, second), counts, strict=True):
        weight = smoothing(n, bins, epsilon)
        histogram = np.histogram((data - lower) / (upper - lower), bins=bins, range=(0, 1))[0] * (bins / n)
        densities.append((1 - weight) * histogram[(middles * bins).astype(int)] + weight)
    return n * float(np.max(np.abs(np.log(densities[0] / densities[1]))))


def smoothing(n: int, bins: int, epsilon: float) -> float:
    """λ = K / (K + n (e^{ε/n} − 1)), the share of the uniform distribution. Source: Bowen & Liu (2016), equation (6).

    >>> round(100 * math.log1p((1 - smoothing(100, 10, 1.0)) / smoothing(100, 10, 1.0) * 10 / 100), 12)  # a bin 0 → 1
    1.0
    """
    return bins / (bins + n * math.expm1(epsilon / n))


def smoothed_worst(n: int, epsilon: float) -> float:
    """Return the largest loss found of a smoothed histogram with Scott's bins, on a range of length 1: none matters.

    All rows but one lie together, a little below an end of a wide bin, and the last row moves from nearby to the upper
    bound: then the bins become wide, and rows just above that end, once the likeliest, become the rarest.
    """
    found = [0.0]
    for place in range(1, 4):
        wide = place + 1
        for _ in range(ROUNDS):  # The end lies where the wide bins have it, and they depend on where it lies.
            together = np.full(n, place / wide - 1e-9)
            second = np.concatenate([[1.0], together[1:]])
            wide = max(scott_bins(second, 0.0, 1.0), place + 1)
        for near in NEAR:
            first = np.concatenate([[min(together[0] + near, 1.0)], together[1:]])
            found.append(smoothed_loss(first, second, 0.0, 1.0, epsilon))
    return max(found)


def smoothed_typical(n: int, lower: float, upper: float, epsilon: float, samples: int, seed: int) -> FloatArray:
    """Return the losses of smoothed histograms of normal samples to the neighbour with the most other bins, sorted.

    Samples all of whose neighbours have as many bins are left out.
    """
    pairs = _with_other_bins(n, lower, upper, samples, seed)
    return np.sort(np.array([smoothed_loss(data, moved, lower, upper, epsilon) for data, moved in pairs]))


def _bins(variance: FloatArray | float, n: int, width: float) -> FloatArray:
    return np.ceil(width * n ** (1 / 3) / (SCOTT * np.sqrt(variance)))


def _other_bins(data: FloatArray, lower: float, upper: float) -> FloatArray | None:
    """Return a neighbour with another number of bins: one row moved so that s is as small or as large as can be."""
    n, bins = len(data), scott_bins(data, lower, upper)
    total, squares = data.sum() - data, (data**2).sum() - data**2
    for targets in (np.clip(total / (n - 1), lower, upper), np.full(n, lower), np.full(n, upper)):
        variance = (squares + targets**2 - (total + targets) ** 2 / n) / (n - 1)
        changed = np.flatnonzero(_bins(np.maximum(variance, 1e-300), n, upper - lower) != bins)
        if len(changed):
            row = changed[0]
            return np.concatenate([data[:row], targets[row : row + 1], data[row + 1 :]])
    return None


def _with_other_bins(
    n: int, lower: float, upper: float, samples: int, seed: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Samples of the standard normal distribution between the bounds, each with such a neighbour if it has one."""
    generator, low, high = np.random.default_rng(seed), ndtr(lower), ndtr(upper)
    for _ in range(samples):
        data = np.clip(ndtri(low + (high - low) * generator.random(n)), lower, upper)
        moved = _other_bins(data, lower, upper)
        if moved is not None:
            yield data, moved
