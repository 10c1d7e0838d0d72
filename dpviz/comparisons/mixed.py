"""Rows with a category and two numbers (study 3 of Bowen & Liu): estimands, and releases with their losses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.comparisons.analysis import Estimand
from dpviz.comparisons.methods import ComparedMethod, NumericMethod
from dpviz.comparisons.numeric_data import NUMBERS, NormalData
from dpviz.comparisons.numeric_releases import ORIGINAL_ROWS, REFERENCE, Generator
from dpviz.core.formatting import format_number
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import parameter
from dpviz.privacy.histograms import SCOTT_FACTOR, one_bin_loss, revealing_tables, table_log_odds

SMALLEST_SHARE, LARGEST_SHARE = 7, 76  # thousandths of the rows in the smallest and largest of 24 cells, as printed
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

    # Sums of squares and products, less those of the means; what is left of equal numbers by rounding is 0
    squares = np.empty((3, len(rows.counts)))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (0, 1))):
        squares[k] = np.einsum("sn,sn->s", rows.values[i], rows.values[j])
        rounding = 1e-13 * squares[k]
        squares[k] -= (sums[i] * (sums[j] / np.maximum(rows.counts, 1))).sum(axis=1)
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


def _mixed_noise(data: Any, epsilon: float, share: float, *, as_printed: bool = False) -> tuple[float, float, float]:
    """Scales of the noise of one set: of counts, of sums (from the middle of the bounds), of squares and products.

    Squares and products share one scale: one row moves all three by 3R²(n − 1)/n together at most, two by R² and the
    product by R², or the product alone by 2R². Counts and sums change in two cells. As printed, the noise covers
    one cell only, and the noise R/(nⱼε′) of a mean is that of a sum over the confidential size of the cell.
    """
    counts, epsilon_each = share * epsilon, (1 - share) / N_STATISTICS * epsilon
    if as_printed:
        return 1 / counts, data.width / epsilon_each, data.width**2 / data.n / epsilon_each * data.degrees
    return 2 / counts, data.width / epsilon_each, data.width**2 * (1 - 1 / data.n) / epsilon_each


def _covariance_factor(rng: Generator, covariance: FloatArray, degrees: int) -> FloatArray:
    """Draw Σ = FFᵀ from the inverse Wishart distribution around each covariance S, which may be singular; F.

    Bartlett: with S = LLᵀ and a lower triangular T, TTᵀ having the Wishart distribution, F = √ν L T⁻ᵀ. Both variances
    and the covariance, shape (3, repetitions), give F of shape (2, 2, repetitions).
    """
    sd, repetitions = np.sqrt(covariance[:2]), covariance.shape[1]
    cross = np.divide(covariance[2], sd[0], out=np.zeros(repetitions), where=sd[0] > 0)
    rest = np.sqrt(np.maximum(covariance[1] - cross**2, 0.0))
    first, second = (np.sqrt(rng.chisquare(degrees - k, repetitions) / degrees) for k in (0, 1))
    turn = -rng.standard_normal(repetitions) / math.sqrt(degrees) / (first * second)
    return np.array([[sd[0] / first, sd[0] * turn], [cross / first, cross * turn + rest / second]])


def _add_noise(rng: Generator, statistics: CellStatistics, scales: tuple[float, float, float]) -> CellStatistics:
    """Statistics with Laplace noise of these scales, counts at least 0."""
    counts, sums, squares = (
        part + rng.laplace(0.0, scale, part.shape) for part, scale in zip(statistics, scales, strict=True)
    )
    return CellStatistics(np.maximum(counts, 0.0), sums, squares)


@dataclass(frozen=True, kw_only=True, repr=False)
class MixedModel(NumericMethod):
    """Rows from the posterior of shares, means and covariance given sanitized statistics (Bowen and Liu, study 3).

    Means are noisy sums over noisy counts; `as_printed` over the confidential counts, which the noise thereby shows.
    Without noise it is traditional multiple synthesis.
    """

    as_printed: bool = False
    is_noisy: bool = True
    share: float = EQUAL_SHARE
    statistic: str = "the counts"

    def release(self, rng: Generator, rows: MixedRows, epsilon: float, data: Any, sets: int) -> Iterator[MixedRows]:
        statistics, half_width, n = cell_statistics(rows), data.width / 2, data.n
        for _ in range(sets):
            # Sanitize the statistics, each set to its bounds
            noisy = statistics
            if self.is_noisy:
                noisy = _add_noise(rng, statistics, _mixed_noise(data, epsilon, self.share, as_printed=self.as_printed))
            sizes = np.maximum(noisy.counts, 1.0)
            means = noisy.sums / (np.maximum(statistics.counts, 1.0) if self.as_printed else sizes)
            covariance = noisy.squares / data.degrees
            if self.is_noisy:
                means = np.clip(means, -half_width, half_width)
                covariance[:2] = np.clip(covariance[:2], 0.0, half_width**2)
                largest = np.sqrt(covariance[0] * covariance[1])
                covariance[2] = np.clip(covariance[2], -largest, largest)

            # Draw the parameters from their posterior
            weights = rng.standard_gamma(noisy.counts + CELL_PRIOR)
            counts = rng.multinomial(n, weights / weights.sum(axis=1, keepdims=True))
            factor = _covariance_factor(rng, covariance, data.degrees)
            means = means + np.einsum("ijr,jrk->irk", factor, rng.standard_normal(means.shape) / np.sqrt(sizes))

            # Draw the rows
            values = np.einsum("ijr,jrk->irk", factor, rng.standard_normal((2, len(counts), n)))
            for mean, value in zip(means, values, strict=True):
                value += np.repeat(mean.ravel(), counts.ravel()).reshape(value.shape)
            yield MixedRows(counts, np.clip(values, -half_width, half_width, out=values))

    def loss(self, data: Any, epsilon: float) -> float:
        """ε of the noisy statistics of one set, which its rows cannot exceed.

        The safe noise spends all of ε: a row alone in its cell, which joins others at the other bounds, moves all
        statistics most. As printed, the worst pair is searched: a row leaves a cell of k for one of n − k. Both counts
        show it, and both means of the second cell with one ε′ each. A mean of the first has the density k/(k − 1) times
        as high at its centre, and ε′u more where the row is u R from it. Squares and products move by
        R²(n − k)/(n − k + 1) each, less what the row leaves behind, or by what it leaves alone.
        """
        if not self.is_noisy:
            return math.inf
        counts, epsilon_each = self.share * epsilon, (1 - self.share) / N_STATISTICS * epsilon
        if not self.as_printed:
            return counts + N_STATISTICS * epsilon_each
        steepness = epsilon_each * data.n / data.degrees
        k = np.arange(2, data.n)
        largest, added = 1 - 1 / k, 1 - 1 / (data.n - k + 1)
        near = np.minimum(np.minimum(epsilon_each * largest / steepness, largest), np.sqrt(added * largest))
        arriving = 2 * epsilon_each * near + steepness * (3 * added - near**2 / largest)
        leaving = 2 * epsilon_each * largest + steepness * 3 * largest
        worst = np.max(-2 * np.log1p(-1 / k) + np.maximum(arriving, leaving))
        return 2 * counts + 2 * epsilon_each + float(worst)

    def shown_loss(self, data: Any, epsilon: float) -> float:
        """Loss that the printed rows prove for a pair of which all rows are equal within their cells; else 0.

        A row leaves a cell of two for that of all others. Where both noisy variances are set to 0, the rows of a set
        lie at the noisy means. At its centre the density of both means of the first cell is twice as high, that of the
        other's is 1 − 1/(n − 1) as high. No table of the cells has more than e^{2ε′} times the probability, ε′ for the
        counts.
        """
        proven = 2 * math.log(2) + 2 * math.log1p(-1 / (data.n - 1)) - 2 * self.share * epsilon
        return max(proven, 0.0) if self.as_printed else 0.0

    def usual_shares(self, data: Any) -> dict[str, float]:
        return {} if self.reference else {"equal shares, as in the paper": EQUAL_SHARE}


def cell_bins(data: Any) -> int:
    """Bins of each number, at most 20: Scott's rule for two, h = 3.49 σ n^{−1/4}, for a cell of n/J rows if R = 8σ."""
    return min(math.ceil(8 / SCOTT_FACTOR * (data.n / data.cells) ** 0.25), 20)


def _noisy_counts(rng: Generator, counts: IntArray, scale: float) -> FloatArray:
    """Counts with Laplace noise, 0 where they would be negative."""
    return np.maximum(counts + rng.laplace(0.0, scale, counts.shape), 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class NoisyCells(NumericMethod):
    """Rows from noisy counts of the cells and a noisy histogram of both numbers in each (Bowen and Liu, np-dips).

    The noise has scale `noise_units`/ε; a replaced row moves two counts by one each, which 2 covers. A cell whose
    squares are all 0 is even; a set whose cells are all 0 cannot be made.
    """

    noise_units: float = 2.0
    share: float = 0.5
    statistic: str = "the counts"

    def release(self, rng: Generator, rows: MixedRows, epsilon: float, data: Any, sets: int) -> Iterator[MixedRows]:
        bins, repetitions = cell_bins(data), len(rows.counts)
        squares, width = _square_counts(rows, bins, data.width), data.width / bins
        corners = np.tile(width * np.indices((bins, bins)).reshape(2, -1) - data.width / 2, data.cells)
        for _ in range(sets):
            # Probabilities of all squares
            cells = _noisy_counts(rng, rows.counts, self.noise_units / (self.share * epsilon))
            inside = _noisy_counts(rng, squares, self.noise_units / ((1 - self.share) * epsilon))
            inside[inside.sum(axis=2) == 0] = 1.0
            usable = cells.sum(axis=1) > 0
            weights = (inside / inside.sum(axis=2, keepdims=True) * cells[..., None]).reshape(repetitions, -1)[usable]

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

    def loss(self, data: Any, epsilon: float) -> float:
        """ε of the noisy counts: two of cells and two of squares move by one each."""
        return 2 * epsilon / self.noise_units

    def shown_loss(self, data: Any, epsilon: float) -> float:
        """Loss found in rows of which all that enter a cell lie in one square; 0 where the noise covers both counts."""
        if self.noise_units >= 2:
            return 0.0
        of_cells, of_squares = (part * epsilon / self.noise_units for part in (self.share, 1 - self.share))
        return max(
            table_log_odds(*tables, of_cells) + one_bin_loss(tables[2][0], cell_bins(data) ** 2, of_squares)
            for tables in revealing_tables(data.n, data.cells)
        )

    def usual_shares(self, data: Any) -> dict[str, float]:
        return {"equal shares, as in the paper": 0.5}


# The table

MIXED_SYNTHESIS = MixedModel.named("MixedMultipleSynthesis", is_noisy=False, **REFERENCE)
MIXED_MODIPS = MixedModel.named("MixedModips")
MIXED_MODIPS_PRINTED = MixedModel.named("MixedModipsPrinted", as_printed=True)
PERTURBED_CELLS_SAFE = NoisyCells.named("PerturbedCellsSafe")
PERTURBED_CELLS = NoisyCells.named("PerturbedCells", noise_units=1.0)
MIXED_METHODS = (
    ORIGINAL_ROWS, MIXED_SYNTHESIS, MIXED_MODIPS, MIXED_MODIPS_PRINTED, PERTURBED_CELLS_SAFE, PERTURBED_CELLS,
)  # fmt: skip


# Estimands and data


MIXED_ESTIMANDS = (
    Estimand("half", "the share of the first half of the cells", "π", is_share=True),
    Estimand("share", "the share of the smallest cell", "π₁", is_share=True),
    Estimand("cell_mean", "the mean in the smallest cell", "μ₁"),
    Estimand("cell_variance", "the variance within cells", "σ²"),
    Estimand("correlation", "the correlation within cells", "ρ"),
)


@dataclass(frozen=True, kw_only=True)
class MixedData(NormalData, ParameterRecord):
    """n rows, each in cell j with probability π_j, with two numbers from N(μ_j, Σ) that are set to the public bounds.

    The π_j rise evenly from the first cell to the last, as 7 to 76: with 24 cells they are 0.007 to 0.076, as printed.
    Both numbers have the variance σ², and their correlation is ρ. Over the cells the mean of the first rises evenly
    from μ − σ to μ + σ, and that of the second falls: the paper's own means are not in its text.

    >>> data = MixedData(n=1000, mean=0, sigma=1, low=-4, high=4, cells=24, correlation=0.5)
    >>> data.shares.round(3)[[0, -1]].tolist(), data.means[:, 0].tolist()
    ([0.007, 0.076], [-1.0, 1.0])
    """

    key: ClassVar[str] = "mixed"
    label: ClassVar[str] = "Categories and two numbers (mixed)"
    methods: ClassVar[tuple[ComparedMethod, ...]] = MIXED_METHODS
    estimands: ClassVar[tuple[Estimand, ...]] = MIXED_ESTIMANDS
    divided_between: ClassVar[tuple[str, ...]] = "share", "cell_mean", "cell_variance"

    cells: int = parameter(NUMBERS["cells"])
    correlation: float = parameter(NUMBERS["correlation"])

    def check(self) -> None:
        super().check()
        lowest, highest = self.mean - self.sigma, self.mean + self.sigma
        if not self.low < lowest < highest < self.high:
            raise ValueError(
                f"The cell means, which go from {format_number(lowest)} to {format_number(highest)} (mean minus and "
                f"plus sigma), must lie between the bounds, {format_number(self.low)} to {format_number(self.high)}."
            )

    @cached_property
    def shares(self) -> FloatArray:
        """Probabilities π of the cells."""
        rising = np.linspace(SMALLEST_SHARE, LARGEST_SHARE, self.cells)
        return rising / rising.sum()

    @cached_property
    def means(self) -> FloatArray:
        """True means of both numbers in every cell, shape (2, cells)."""
        step = self.sigma * np.linspace(-1, 1, self.cells)
        return self.mean + np.array([step, -step])

    @property
    def middle(self) -> float:
        """Middle of the bounds."""
        return (self.low + self.high) / 2

    @property
    def degrees(self) -> int:
        """Nominal degrees of freedom n − cells, whatever cells are occupied; at least 3."""
        return max(self.n - self.cells, 3)

    def draw(self, rng: Generator, repetitions: int) -> MixedRows:
        counts = rng.multinomial(self.n, self.shares, size=repetitions)
        first, second = rng.standard_normal((2, repetitions, self.n))
        second = self.correlation * first + math.sqrt(1 - self.correlation**2) * second
        cell = np.repeat(np.tile(np.arange(self.cells), repetitions), counts.ravel()).reshape(first.shape)
        values = self.means[:, cell] - self.middle + self.sigma * np.array([first, second])
        return MixedRows(counts, np.clip(values, -self.width / 2, self.width / 2, out=values))

    def numbers_of(self, rows: MixedRows) -> FloatArray:
        """Cell of every row, from 0 on, and its two numbers, shape (3, n)."""
        return np.vstack([np.repeat(np.arange(self.cells), rows.counts[0]), rows.values[:, 0] + self.middle])

    @property
    def true_values(self) -> dict[str, float]:
        half, share = float(self.shares[: self.cells // 2].sum()), float(self.shares[0])
        values = half, share, float(self.means[0, 0]), self.sigma**2, self.correlation
        return {estimand.key: value for estimand, value in zip(MIXED_ESTIMANDS, values, strict=True)}

    def read(self, rows: MixedRows) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Estimates and their variances: q(1 − q)/n, s²/n₁ with s² within cells, 2s⁴/ν, and (1 − r²)²/ν.

        The first half of the cells are those at the first level of a category that has two.
        """
        counts, sums, squares = cell_statistics(rows)
        count, degrees = counts[:, 0], self.n - np.count_nonzero(counts, axis=1).astype(float)
        lost = np.where(np.isnan(squares[0]), math.nan, 0.0)
        share, half = count / self.n + lost, counts[:, : self.cells // 2].sum(axis=1) / self.n + lost
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.middle + sums[0, :, 0] / count
            xx, yy, xy = squares / np.where(degrees > 0, degrees, math.nan)
            correlation = np.clip(xy / np.sqrt(xx * yy), -1, 1)
        return {
            "half": (half, half * (1 - half) / self.n),
            "share": (share, share * (1 - share) / self.n),
            "cell_mean": (mean, np.where(degrees > 0, xx, 0.0) / np.maximum(count, 1)),
            "cell_variance": (xx, 2 * xx**2 / np.maximum(degrees, 1)),
            "correlation": (correlation, (1 - correlation**2) ** 2 / np.maximum(degrees, 1)),
        }
