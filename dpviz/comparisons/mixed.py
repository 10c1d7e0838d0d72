"""Study 3 of Bowen & Liu: every row is in one of several cells and has two numbers between public bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.comparisons.base import Estimand
from dpviz.comparisons.bounding import VARIANCE_ROUNDING
from dpviz.comparisons.gaussian import Confidential, GaussianData, NormalEstimand
from dpviz.core import limits
from dpviz.core.formatting import format_number
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import parameter

# Thousandths of the rows that are in the smallest and the largest of 24 cells, as printed
SMALLEST_SHARE, LARGEST_SHARE = 7, 76

CELLS_OF_MIXED_DATA = Parameter(
    name="cells",
    symbol="J",
    title="Number of cells",
    minimum=2,
    maximum=limits.MAX_MIXED_CELLS,
    default=24,
    slider_maximum=50,
    integer=True,
    help="The number of cells that the categories form, such as 2 × 3 × 4 = 24. The largest has nearly eleven times as "
    "many rows as the smallest, the others are evenly between.",
)
CORRELATION = Parameter(
    name="correlation",
    symbol="ρ",
    title="True correlation",
    minimum=-0.99,
    maximum=0.99,
    default=0.5,
    help="The correlation of the two numbers of a row within its cell. It is the same in all cells.",
)


class Tables(NamedTuple):
    """Rows of some sets in the order of their cells.

    `place` says which sets they are, and `counts` how many rows each of their cells has, shape (sets, cells). `values`
    are both numbers of every row, less the middle of the bounds, shape (2, sets, rows).
    """

    place: IntArray
    counts: IntArray
    values: FloatArray


class Statistics(NamedTuple):
    """Of some sets: the counts and sums of every cell, and sums of squares and products around the means of the cells.

    The shapes are (sets, cells), (2, sets, cells) and (3, sets); of the last the third is that of the products.
    """

    counts: FloatArray
    sums: FloatArray
    squares: FloatArray

    def of(self, sets: IntArray) -> Statistics:
        """Return those of some of the sets."""
        return Statistics(self.counts[sets], self.sums[:, sets], self.squares[:, sets])

    @property
    def sizes(self) -> FloatArray:
        """The counts, and 1 where a cell is empty."""
        return np.maximum(self.counts, 1.0)


def statistics_of(rows: Tables) -> Statistics:
    """Return the statistics of each set.

    >>> one = Tables(np.array([0]), np.array([[2, 0, 1]]), np.array([[[1.0, 3.0, 5.0]], [[2.0, 2.0, 4.0]]]))
    >>> [part.tolist() for part in statistics_of(one)]
    [[[2.0, 0.0, 1.0]], [[[4.0, 0.0, 5.0]], [[4.0, 0.0, 4.0]]], [[2.0], [0.0], [0.0]]]
    """
    some = rows.counts.ravel() > 0
    starts = np.cumsum(rows.counts.ravel())[some] - rows.counts.ravel()[some]
    sums = np.zeros((2, rows.counts.size))
    for total, values in zip(sums, rows.values, strict=True):
        total[some] = np.add.reduceat(values.ravel(), starts)
    sums = sums.reshape(2, *rows.counts.shape)
    means = sums / np.maximum(rows.counts, 1)
    pairs = (0, 0), (1, 1), (0, 1)
    squares = np.array([np.einsum("sn,sn->s", rows.values[one], rows.values[other]) for one, other in pairs])
    rounding = VARIANCE_ROUNDING * squares[:2]
    squares -= [(sums[one] * means[other]).sum(axis=1) for one, other in pairs]
    squares[:2][squares[:2] <= rounding] = 0.0  # Of numbers that are equal in every cell
    most = np.sqrt(squares[0] * squares[1])
    return Statistics(rows.counts.astype(float), sums, np.array([*squares[:2], np.clip(squares[2], -most, most)]))


def histograms_of(rows: Tables, bins: int, width: float) -> IntArray:
    """Return how many rows of each set lie in each square of each cell, shape (sets, cells, bins²)."""
    sets, cells = rows.counts.shape
    square = np.minimum(((rows.values / width + 0.5) * bins).astype(np.intp), bins - 1)
    cell = np.repeat(np.arange(sets * cells), rows.counts.ravel())
    place = (cell * bins + square[0].ravel()) * bins + square[1].ravel()
    return np.bincount(place, minlength=sets * cells * bins**2).reshape(sets, cells, bins**2)


class CellMoments(NamedTuple):
    """What an analyst reads of each set: all but the (co)variances within cells are of the smallest cell or first half.

    `smallest`, `half`: Shares of the rows that are in the smallest cell, and in the first half of the cells.
    `rows`, `mean`: How many rows the smallest cell has, and the mean of their first numbers; NaN where there is none.
    `xx`, `yy`, `xy`: (Co)variances around the cell means, with so many `degrees` of freedom; NaN where there are none.
    """

    smallest: FloatArray
    half: FloatArray
    rows: FloatArray
    mean: FloatArray
    xx: FloatArray
    yy: FloatArray
    xy: FloatArray
    degrees: FloatArray


def _correlation(found: CellMoments) -> FloatArray:
    """Return that within cells, r; there is none where a number does not vary."""
    spread = np.sqrt(found.xx * found.yy)
    return np.clip(np.divide(found.xy, spread, out=np.full(spread.shape, math.nan), where=spread > 0), -1, 1)


MIXED_ESTIMANDS: dict[str, NormalEstimand] = {
    one.key: one
    for one in (
        # π of the first half of the cells, those at the first level of a category that has two
        NormalEstimand(
            "half",
            "the share of the first half of the cells",
            "π",
            truth=lambda data: float(data.shares[: data.cells // 2].sum()),
            estimate=lambda found: found.half,
            within=lambda found, data: found.half * (1 - found.half) / data.n,
        ),
        NormalEstimand(
            "share",
            "the share of the smallest cell",
            "π₁",
            truth=lambda data: float(data.shares[0]),
            estimate=lambda found: found.smallest,
            within=lambda found, data: found.smallest * (1 - found.smallest) / data.n,
        ),
        # Estimated by the mean of its n₁ rows with variance s²/n₁, s² being that within cells
        NormalEstimand(
            "cell_mean",
            "the mean in the smallest cell",
            "μ₁",
            truth=lambda data: float(data.means[0, 0]),
            estimate=lambda found: found.mean,
            within=lambda found, _: np.where(found.degrees > 0, found.xx, 0.0) / np.maximum(found.rows, 1),
        ),
        # Estimated within cells, as the next: with variance 2s⁴/ν, ν being the degrees of freedom, and (1 − r²)²/ν
        NormalEstimand(
            "cell_variance",
            "the variance within cells",
            "σ²",
            truth=lambda data: data.sigma**2,
            estimate=lambda found: found.xx,
            within=lambda found, _: 2 * found.xx**2 / np.maximum(found.degrees, 1),
        ),
        NormalEstimand(
            "correlation",
            "the correlation within cells",
            "ρ",
            truth=lambda data: data.correlation,
            estimate=_correlation,
            within=lambda found, _: (1 - _correlation(found) ** 2) ** 2 / np.maximum(found.degrees, 1),
        ),
    )
}
"""What an analyst can ask of mixed data, by its key."""


@dataclass(frozen=True, kw_only=True)
class MixedData(GaussianData):
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
    estimands: ClassVar[tuple[Estimand, ...]] = tuple(MIXED_ESTIMANDS.values())
    divided_between: ClassVar[tuple[str, ...]] = "share", "cell_mean", "cell_variance"
    drawn: ClassVar[type] = Tables
    studied: ClassVar[Mapping[str, NormalEstimand]] = MIXED_ESTIMANDS
    block: ClassVar[int] = 600_000

    cells: int = parameter(CELLS_OF_MIXED_DATA)
    correlation: float = parameter(CORRELATION)

    def check(self) -> None:
        super().check()
        lowest, highest = self.mean - self.sigma, self.mean + self.sigma
        if not self.low < lowest < highest < self.high:
            raise ValueError(
                f"The cell means, which go from {format_number(lowest)} to {format_number(highest)} (mean minus and "
                "plus sigma), "
                f"must lie between the bounds, {format_number(self.low)} to {format_number(self.high)}."
            )

    @cached_property
    def shares(self) -> FloatArray:
        """The probabilities π of the cells."""
        rising = np.linspace(SMALLEST_SHARE, LARGEST_SHARE, self.cells)
        return rising / rising.sum()

    @cached_property
    def means(self) -> FloatArray:
        """The true means of both numbers in every cell, shape (2, cells)."""
        step = self.sigma * np.linspace(-1, 1, self.cells)
        return self.mean + np.array([step, -step])

    @property
    def degrees(self) -> int:
        """Degrees of freedom of a covariance within cells as far as n alone tells them, at least 3."""
        return max(self.n - self.cells, 3)

    def draw(self, random: np.random.Generator, repetitions: int) -> Confidential:
        counts = random.multinomial(self.n, self.shares, size=repetitions)
        first, other = random.standard_normal((2, repetitions, self.n))
        other = self.correlation * first + math.sqrt(1 - self.correlation**2) * other
        cell = np.repeat(np.tile(np.arange(self.cells), repetitions), counts.ravel()).reshape(first.shape)
        middle = (self.low + self.high) / 2
        values = self.means[:, cell] - middle + self.sigma * np.array([first, other])
        np.clip(values, -self.width / 2, self.width / 2, out=values)
        return Confidential(self, Tables(np.arange(repetitions), counts, values))

    def each_set(self, rows: Any) -> Iterator[FloatArray]:
        """Yield the cell of every row, from 0 on, and its two numbers, shape (3, rows), of each set."""
        for counts, values in zip(rows.counts, np.moveaxis(rows.values, 1, 0), strict=True):
            yield np.vstack([np.repeat(np.arange(self.cells), counts), values + (self.low + self.high) / 2])

    def read(self, rows: Any) -> CellMoments:
        found, middle = statistics_of(rows), (self.low + self.high) / 2
        count = found.counts[:, 0]
        mean = np.divide(found.sums[0, :, 0], count, out=np.full(len(count), math.nan), where=count > 0)
        degrees = self.n - np.count_nonzero(found.counts, axis=1).astype(float)
        within = np.divide(found.squares, degrees, out=np.full(found.squares.shape, math.nan), where=degrees > 0)
        half = found.counts[:, : self.cells // 2].sum(axis=1) / self.n
        return CellMoments(count / self.n, half, count, middle + mean, within[0], within[1], within[2], degrees)
