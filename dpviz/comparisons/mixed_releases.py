"""Releases of rows with a category and two numbers, as study 3 of Bowen & Liu has them, their noise and losses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_releases import ORIGINAL_ROWS, REFERENCE, Generator
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.histograms import SCOTT_FACTOR, one_bin_loss, revealing_tables, table_log_odds

CELL_PRIOR = 0.5  # rows that the Dirichlet prior adds to each cell
N_STATISTICS = 5  # that share what the counts leave of ε: the sums of both numbers, two variances, a covariance
EQUAL_SHARE = 1 / (1 + N_STATISTICS)


class MixedRows(NamedTuple):
    """Rows of many repetitions in the order of their cells."""

    counts: IntArray  # of the cells, shape (repetitions, cells)
    values: FloatArray  # both less the middle of the bounds, (2, repetitions, n); NaN of a set that cannot be made


class CellStatistics(NamedTuple):
    """Counts and sums of the cells, and sums of squares and products around the means of the cells."""

    counts: FloatArray  # shape (repetitions, cells)
    sums: FloatArray  # (2, repetitions, cells)
    squares: FloatArray  # (3, repetitions), the products last

    @property
    def sizes(self) -> FloatArray:
        """Counts, and 1 where a cell is empty."""
        return np.maximum(self.counts, 1.0)


def cell_statistics(rows: MixedRows) -> CellStatistics:
    """Statistics of each repetition; the squares of numbers that are equal in every cell are exactly 0.

    >>> rows = MixedRows(np.array([[2, 0, 1]]), np.array([[[1.0, 3.0, 5.0]], [[2.0, 2.0, 4.0]]]))
    >>> [part.tolist() for part in cell_statistics(rows)]
    [[[2.0, 0.0, 1.0]], [[[4.0, 0.0, 5.0]], [[4.0, 0.0, 4.0]]], [[2.0], [0.0], [0.0]]]
    """
    counts = rows.counts.ravel()
    has_rows = counts > 0
    starts = np.cumsum(counts)[has_rows] - counts[has_rows]
    sums = np.zeros((2, counts.size))
    sums[:, has_rows] = [np.add.reduceat(values.ravel(), starts) for values in rows.values]
    sums = sums.reshape(2, *rows.counts.shape)
    means = sums / np.maximum(rows.counts, 1)

    # Sums of squares and products, less those of the means; what is left of equal numbers by rounding is 0
    squares = np.empty((3, len(rows.counts)))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (0, 1))):
        squares[k] = np.einsum("sn,sn->s", rows.values[i], rows.values[j])
        rounding = 1e-13 * squares[k]
        squares[k] -= (sums[i] * means[j]).sum(axis=1)
        if i == j:
            squares[k][squares[k] <= rounding] = 0.0
    largest = np.sqrt(squares[0] * squares[1])
    squares[2] = np.clip(squares[2], -largest, largest)
    return CellStatistics(rows.counts.astype(float), sums, squares)


def _square_counts(rows: MixedRows, bins: int, width: float) -> IntArray:
    """Counts of the squares of each cell, shape (repetitions, cells, bins²)."""
    repetitions, cells = rows.counts.shape
    column = np.minimum(((rows.values / width + 0.5) * bins).astype(np.intp), bins - 1)
    cell = np.repeat(np.arange(repetitions * cells), rows.counts.ravel())
    place = (cell * bins + column[0].ravel()) * bins + column[1].ravel()
    return np.bincount(place, minlength=repetitions * cells * bins**2).reshape(repetitions, cells, bins**2)


# Releases


def _split(epsilon: float, share: float, n_statistics: int) -> tuple[float, float]:
    """ε of the counts, and that of each other statistic."""
    return share * epsilon, (1 - share) / n_statistics * epsilon


def _mixed_noise(data: Any, epsilon: float, *, share: float, as_printed: bool = False) -> tuple[float, float, float]:
    """Scales of the noise of one set: of counts, of sums (from the middle of the bounds), of squares and products.

    Squares and products share one scale: one row moves all three by 3R²(n − 1)/n together at most, two by R² and the
    product by R², or the product alone by 2R². Counts and sums change in two cells. As printed, the noise covers
    one cell only, and the noise R/(nⱼε′) of a mean is that of a sum over the confidential size of the cell.
    """
    counts, epsilon_each = _split(epsilon, share, N_STATISTICS)
    if as_printed:
        return 1 / counts, data.width / epsilon_each, data.width**2 / data.n / epsilon_each * data.degrees
    return 2 / counts, data.width / epsilon_each, data.width**2 * (1 - 1 / data.n) / epsilon_each


def _covariance_factor(rng: Generator, covariance: FloatArray, degrees: int) -> FloatArray:
    """Draw Σ = FFᵀ from the inverse Wishart distribution around each covariance S, which may be singular; F.

    Bartlett: with S = LLᵀ and a lower triangular T, TTᵀ having the Wishart distribution, F = √ν L T⁻ᵀ. Both variances
    and the covariance, shape (3, repetitions), give F of shape (2, 2, repetitions).
    """
    repetitions = covariance.shape[1]
    sd = np.sqrt(covariance[:2])
    cross = np.divide(covariance[2], sd[0], out=np.zeros(repetitions), where=sd[0] > 0)
    rest = np.sqrt(np.maximum(covariance[1] - cross**2, 0.0))
    first, second = (np.sqrt(rng.chisquare(degrees - k, repetitions) / degrees) for k in (0, 1))
    turn = -rng.standard_normal(repetitions) / math.sqrt(degrees) / (first * second)
    return np.array([[sd[0] / first, sd[0] * turn], [cross / first, cross * turn + rest / second]])


def _transform(factor: FloatArray, values: FloatArray) -> FloatArray:
    """Product of 2 × 2 matrices with pairs, both in the first axes."""
    return np.array([row[0] * values[0] + row[1] * values[1] for row in factor])


def _add_noise(rng: Generator, statistics: CellStatistics, scales: tuple[float, float, float]) -> CellStatistics:
    """Statistics with Laplace noise of these scales, counts at least 0."""
    counts, sums, squares = (
        part + rng.laplace(0.0, scale, part.shape) for part, scale in zip(statistics, scales, strict=True)
    )
    return CellStatistics(np.maximum(counts, 0.0), sums, squares)


def _release_mixed_model(
    rng: Generator, rows: MixedRows, epsilon: float, data: Any, sets: int, *, share: float = EQUAL_SHARE,
    as_printed: bool = False, is_noisy: bool = True,
) -> Iterator[MixedRows]:  # fmt: skip
    """Rows from the posterior of shares, means and covariance given sanitized statistics (Bowen and Liu, study 3).

    Means are noisy sums over noisy counts; `as_printed` over the confidential counts, which the noise thereby shows.
    Without noise it is traditional multiple synthesis.
    """
    statistics, half_width, n = cell_statistics(rows), data.width / 2, data.n
    for _ in range(sets):
        # Sanitize the statistics, each set to its bounds
        noisy = statistics
        if is_noisy:
            noisy = _add_noise(rng, statistics, _mixed_noise(data, epsilon, share=share, as_printed=as_printed))
        sizes = statistics.sizes if as_printed else noisy.sizes
        means, covariance = noisy.sums / sizes, noisy.squares / data.degrees
        if is_noisy:
            means = np.clip(means, -half_width, half_width)
            covariance[:2] = np.clip(covariance[:2], 0.0, half_width**2)
            largest = np.sqrt(covariance[0] * covariance[1])
            covariance[2] = np.clip(covariance[2], -largest, largest)

        # Draw the parameters from their posterior
        weights = rng.standard_gamma(noisy.counts + CELL_PRIOR)
        counts = rng.multinomial(n, weights / weights.sum(axis=1, keepdims=True))
        factor = _covariance_factor(rng, covariance, data.degrees)
        means = means + _transform(factor[..., None], rng.standard_normal(means.shape) / np.sqrt(noisy.sizes))

        # Draw the rows
        values = _transform(factor[..., None], rng.standard_normal((2, len(counts), n)))
        for mean, value in zip(means, values, strict=True):
            value += np.repeat(mean.ravel(), counts.ravel()).reshape(value.shape)
        yield MixedRows(counts, np.clip(values, -half_width, half_width, out=values))


def _mixed_model_loss(data: Any, epsilon: float, *, share: float, as_printed: bool = False) -> float:
    """ε of the noisy statistics of one set, which its rows cannot exceed.

    The safe noise spends all of ε: a row alone in its cell, which joins others at the other bounds, moves all
    statistics most. As printed, the worst pair is searched: a row leaves a cell of k for one of n − k. Both counts
    show it, and both means of the second cell with one ε′ each. A mean of the first has the density k/(k − 1) times
    as high at its centre, and ε′u more where the row is u R from it. Squares and products move by
    R²(n − k)/(n − k + 1) each, less what the row leaves behind, or by what it leaves alone.
    """
    counts, epsilon_each = _split(epsilon, share, N_STATISTICS)
    if not as_printed:
        return counts + N_STATISTICS * epsilon_each
    steepness = epsilon_each * data.n / data.degrees
    k = np.arange(2, data.n)
    largest, added = 1 - 1 / k, 1 - 1 / (data.n - k + 1)
    near = np.minimum(np.minimum(epsilon_each * largest / steepness, largest), np.sqrt(added * largest))
    arriving = 2 * epsilon_each * near + steepness * (3 * added - near**2 / largest)
    leaving = 2 * epsilon_each * largest + steepness * 3 * largest
    worst = np.max(-2 * np.log1p(-1 / k) + np.maximum(arriving, leaving))
    return 2 * counts + 2 * epsilon_each + float(worst)


def _mixed_model_shown_loss(data: Any, epsilon: float, *, share: float, as_printed: bool = False) -> float:
    """Loss that the printed rows prove for a pair of which all rows are equal within their cells; else 0.

    A row leaves a cell of two for that of all others. Where both noisy variances are set to 0, the rows of a set lie
    at the noisy means. At its centre the density of both means of the first cell is twice as high, that of the other's
    is 1 − 1/(n − 1) as high. No table of the cells has more than e^{2ε′} times the probability, ε′ for the counts.
    """
    if not as_printed:
        return 0.0
    counts, _ = _split(epsilon, share, N_STATISTICS)
    return max(2 * math.log(2) + 2 * math.log1p(-1 / (data.n - 1)) - 2 * counts, 0.0)


def cell_bins(data: Any) -> int:
    """Bins of each number, at most 20: Scott's rule for two, h = 3.49 σ n^{−1/4}, for a cell of n/J rows if R = 8σ."""
    return min(math.ceil(8 / SCOTT_FACTOR * (data.n / data.cells) ** 0.25), 20)


def _noisy_counts(rng: Generator, counts: IntArray, scale: float) -> FloatArray:
    """Counts with Laplace noise, 0 where they would be negative."""
    return np.maximum(counts + rng.laplace(0.0, scale, counts.shape), 0.0)


def _release_noisy_cells(
    rng: Generator, rows: MixedRows, epsilon: float, data: Any, sets: int, *, share: float = 0.5,
    noise_units: float = 2.0,
) -> Iterator[MixedRows]:  # fmt: skip
    """Rows from noisy counts of the cells and a noisy histogram of both numbers in each (Bowen and Liu, np-dips).

    The noise has scale `noise_units`/ε; a replaced row moves two counts by one each, which 2 covers. A cell whose
    squares are all 0 is even; a set whose cells are all 0 cannot be made.
    """
    bins, (cells_epsilon, squares_epsilon) = cell_bins(data), _split(epsilon, share, 1)
    squares, width, repetitions = _square_counts(rows, bins, data.width), data.width / bins, len(rows.counts)
    corners = np.tile(width * np.indices((bins, bins)).reshape(2, -1) - data.width / 2, data.cells)
    for _ in range(sets):
        # Probabilities of all squares
        cells = _noisy_counts(rng, rows.counts, noise_units / cells_epsilon)
        inside = _noisy_counts(rng, squares, noise_units / squares_epsilon)
        inside[inside.sum(axis=2) == 0] = 1.0
        usable = cells.sum(axis=1) > 0
        weights = inside / inside.sum(axis=2, keepdims=True) * cells[..., None]
        weights = weights.reshape(repetitions, -1)[usable]

        # Rows of every square, evenly inside
        numbers = rng.multinomial(data.n, weights / weights.sum(axis=1, keepdims=True))
        placed = width * rng.random((2, len(numbers), data.n))
        for corner, value in zip(corners, placed, strict=True):
            value += np.repeat(np.tile(corner, len(numbers)), numbers.ravel()).reshape(value.shape)
        counts = np.zeros((repetitions, data.cells), dtype=np.intp)
        counts[:, 0] = data.n
        counts[usable] = numbers.reshape(-1, data.cells, bins * bins).sum(axis=2)
        values = np.full((2, repetitions, data.n), math.nan)
        values[:, usable] = placed
        yield MixedRows(counts, values)


def _noisy_cells_loss(_data: Any, epsilon: float, *, noise_units: float = 2.0, **_: Any) -> float:
    """ε of the noisy counts: two of cells and two of squares move by one each."""
    return 2 * epsilon / noise_units


def _noisy_cells_shown_loss(data: Any, epsilon: float, *, share: float = 0.5, noise_units: float = 2.0) -> float:
    """Loss found in the rows, where all that enter a cell lie in one square; 0 where the noise covers both counts."""
    if noise_units >= 2:
        return 0.0
    cells_epsilon, squares_epsilon = _split(epsilon / noise_units, share, 1)
    return max(
        table_log_odds(*tables, cells_epsilon) + one_bin_loss(tables[2][0], cell_bins(data) ** 2, squares_epsilon)
        for tables in revealing_tables(data.n, data.cells)
    )


# The table

MIXED_MODEL: dict[str, Any] = {
    "release": _release_mixed_model, "loss": _mixed_model_loss, "shown_loss": _mixed_model_shown_loss,
    "shares": lambda _: {"equal shares, as in the paper": EQUAL_SHARE}, "statistic": "the counts",
}  # fmt: skip
NOISY_CELLS: dict[str, Any] = {
    "release": _release_noisy_cells, "loss": _noisy_cells_loss, "shown_loss": _noisy_cells_shown_loss,
    "shares": lambda _: {"equal shares, as in the paper": 0.5}, "statistic": "the counts",
}  # fmt: skip

MIXED_SYNTHESIS = NumericMethod.row(
    "MixedMultipleSynthesis", REFERENCE | {"release": _release_mixed_model}, is_noisy=False
)
MIXED_MODIPS = NumericMethod.row("MixedModips", MIXED_MODEL, share=EQUAL_SHARE)
MIXED_MODIPS_PRINTED = NumericMethod.row("MixedModipsPrinted", MIXED_MODEL, share=EQUAL_SHARE, as_printed=True)
PERTURBED_CELLS_SAFE = NumericMethod.row("PerturbedCellsSafe", NOISY_CELLS, share=0.5)
PERTURBED_CELLS = NumericMethod.row("PerturbedCells", NOISY_CELLS, share=0.5, noise_units=1.0)
MIXED_METHODS = (
    ORIGINAL_ROWS, MIXED_SYNTHESIS, MIXED_MODIPS, MIXED_MODIPS_PRINTED, PERTURBED_CELLS_SAFE, PERTURBED_CELLS,
)  # fmt: skip
