"""Rows of mixed data, what a model takes from them, and what they come to in each square of each cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpviz.comparisons.bounding import VARIANCE_ROUNDING
from dpviz.core.types import FloatArray, IntArray


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
