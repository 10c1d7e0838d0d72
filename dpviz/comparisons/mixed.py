"""Rows with a category and two numbers (study 3 of Bowen & Liu), and what an analyst can estimate from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.comparisons.analysis import DataKind, Estimand
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.mixed_releases import MIXED_METHODS, MixedRows, cell_statistics
from dpviz.comparisons.numeric_data import NUMBERS, NormalData, NumericEstimand
from dpviz.comparisons.numeric_releases import Generator
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.mechanisms.base import parameter

SMALLEST_SHARE, LARGEST_SHARE = 7, 76  # thousandths of the rows in the smallest and largest of 24 cells, as printed


class CellMoments(NamedTuple):
    """What an analyst reads of each repetition; NaN where there is nothing to read."""

    smallest: FloatArray  # share of the rows in the smallest cell
    half: FloatArray  # and in the first half of the cells
    rows: FloatArray  # of the smallest cell
    mean: FloatArray  # of their first numbers
    xx: FloatArray  # (co)variances around the means of the cells
    yy: FloatArray
    xy: FloatArray
    degrees: FloatArray  # of freedom


def _correlation(moments: CellMoments) -> FloatArray:
    """Correlation within cells; NaN where a number does not vary."""
    scale = np.sqrt(moments.xx * moments.yy)
    return np.clip(np.divide(moments.xy, scale, out=np.full(scale.shape, math.nan), where=scale > 0), -1, 1)


# The first half of the cells are those at the first level of a category that has two
HALF = NumericEstimand(
    "half", "the share of the first half of the cells", "π",
    truth=lambda data: float(data.shares[: data.cells // 2].sum()), estimate=lambda moments: moments.half,
    within=lambda moments, data: moments.half * (1 - moments.half) / data.n,
)  # fmt: skip
SHARE = NumericEstimand(
    "share", "the share of the smallest cell", "π₁",
    truth=lambda data: float(data.shares[0]), estimate=lambda moments: moments.smallest,
    within=lambda moments, data: moments.smallest * (1 - moments.smallest) / data.n,
)  # fmt: skip
# The mean of n₁ rows with variance s²/n₁, s² being that within cells
CELL_MEAN = NumericEstimand(
    "cell_mean", "the mean in the smallest cell", "μ₁",
    truth=lambda data: float(data.means[0, 0]), estimate=lambda moments: moments.mean,
    within=lambda moments, _: np.where(moments.degrees > 0, moments.xx, 0.0) / np.maximum(moments.rows, 1),
)  # fmt: skip
# s² with variance 2s⁴/ν, and r with variance (1 − r²)²/ν, ν being the degrees of freedom within cells
CELL_VARIANCE = NumericEstimand(
    "cell_variance", "the variance within cells", "σ²",
    truth=lambda data: data.sigma**2, estimate=lambda moments: moments.xx,
    within=lambda moments, _: 2 * moments.xx**2 / np.maximum(moments.degrees, 1),
)  # fmt: skip
CELL_CORRELATION = NumericEstimand(
    "correlation", "the correlation within cells", "ρ",
    truth=lambda data: data.correlation, estimate=_correlation,
    within=lambda moments, _: (1 - _correlation(moments) ** 2) ** 2 / np.maximum(moments.degrees, 1),
)  # fmt: skip
MIXED_ESTIMANDS = {e.key: e for e in (HALF, SHARE, CELL_MEAN, CELL_VARIANCE, CELL_CORRELATION)}
"""What an analyst can estimate from mixed data, by key."""


@dataclass(frozen=True, kw_only=True)
class MixedData(NormalData, DataKind):
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
    estimands: ClassVar[tuple[Estimand, ...]] = tuple(MIXED_ESTIMANDS.values())
    divided_between: ClassVar[tuple[str, ...]] = "share", "cell_mean", "cell_variance"
    studied: ClassVar[Mapping[str, NumericEstimand]] = MIXED_ESTIMANDS

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
        """Degrees of freedom of a covariance within cells as far as n alone says, at least 3."""
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

    def read(self, rows: MixedRows) -> Any:
        statistics = cell_statistics(rows)
        lost = np.where(np.isnan(statistics.squares[0]), math.nan, 0.0)
        count = statistics.counts[:, 0]
        mean = np.divide(statistics.sums[0, :, 0], count, out=np.full(len(count), math.nan), where=count > 0)
        degrees = self.n - np.count_nonzero(statistics.counts, axis=1).astype(float)
        empty = np.full(statistics.squares.shape, math.nan)
        within = np.divide(statistics.squares, degrees, out=empty, where=degrees > 0)
        half = statistics.counts[:, : self.cells // 2].sum(axis=1) / self.n
        return CellMoments(
            count / self.n + lost, half + lost, count, self.middle + mean, within[0], within[1], within[2], degrees
        )
