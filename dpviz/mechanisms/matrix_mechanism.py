"""A transition matrix given as numbers: any release whose probabilities somebody has written down."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from dpviz.core.formatting import describe_value, format_count, format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer

ROW_SUM_TOLERANCE = 1e-4  # how far from 1 a row may sum: six printed digits of up to a hundred columns do


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenMatrix(TwoCellSynthesizer):
    """Pr(column | row) as given; rows in order are neighbours, as the tables (0, n), (1, n − 1), …, (n, 0).

    Parameters
    ----------
    probabilities : ndarray of shape (n + 1, m + 1)
        Rows sum to 1 within 10⁻⁴. Privacy is computed from the rows as given; draws and inference use them divided
        by their sums. A ValueError says what else is wrong.
    decimals : int or ndarray of int, optional
        Printed decimals, of all entries or of each; None where the numbers are exact.

    Examples
    --------
    >>> release = GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]))
    >>> release.worst_log_odds()
    WorstCase(value=inf, likelier=1, unlikelier=0, column=2)
    """

    key = "given_matrix"

    n: int = field(init=False, default=0)
    m: int = field(init=False, default=0)
    probabilities: FloatArray = field(repr=False)
    decimals: int | IntArray | None = None

    def __post_init__(self) -> None:
        try:
            matrix = np.array(self.probabilities, dtype=float)
        except (TypeError, ValueError):
            value = describe_value(self.probabilities)
            raise ValueError(f"The matrix must hold numbers, as many in each row; got {value}.") from None
        check_probabilities(matrix, lambda row: f"Row {row + 1}", lambda column: f"column {column + 1}")
        if self.decimals is not None:
            places = np.array(self.decimals)
            if places.dtype.kind not in "iu" or places.shape not in ((), matrix.shape) or places.min() < 0:
                value = describe_value(self.decimals)
                raise ValueError(f"decimals must be a whole number from 0, or one for each entry; got {value}.")
            object.__setattr__(self, "decimals", places if places.ndim else int(places))
        matrix.setflags(write=False)
        rows, columns = matrix.shape
        for name, value in {"probabilities": matrix, "n": rows - 1, "m": columns - 1}.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Shape and digest: equal for equal numbers with as many printed decimals, and only for them."""
        return f"GivenMatrix({self.n + 1} x {self.m + 1}, {self._digest})"

    def __eq__(self, value: object) -> bool:
        """Whether the numbers and their printed decimals are the same."""
        return isinstance(value, GivenMatrix) and self._digest == value._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> str:
        shape = repr(self.probabilities.shape).encode()
        return hashlib.sha256(shape + self.probabilities.tobytes() + self.half_units.tobytes()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Probabilities and decimals as JSON holds them."""
        return {name: np.asarray(getattr(self, name)).tolist() for name in ("probabilities", "decimals")}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Matrix from what JSON holds; a ValueError says what belongs there."""
        if not isinstance(values, Mapping) or not {"probabilities"} <= set(values) <= {"probabilities", "decimals"}:
            raise ValueError(f"A matrix has probabilities, and may have decimals; got {describe_value(values)}.")
        return cls(**values)

    @property
    def half_units(self) -> FloatArray:
        """Half a unit of the last printed digit of every entry; 0 where the numbers are exact."""
        half = 0.0 if self.decimals is None else 0.5 * 10.0 ** -np.asarray(self.decimals, dtype=float)
        return np.broadcast_to(half, self.probabilities.shape)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities[np.ix_(rows, columns)])

    def transition_matrix(self) -> FloatArray:
        return self.probabilities.copy()

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        """As of any release, with rows divided by their sums: releases are drawn from these.

        Parameters
        ----------
        counts : ndarray of int, shape (M,) or (releases, M)
        """
        log_sums = np.log(self.probabilities.sum(axis=1))
        return (super().log_likelihood(counts).T - counts.shape[-1] * log_sums).T

    @property
    def zeros(self) -> list[tuple[int, int]]:
        """Cells (row, column) given as 0 where a neighbouring row is not: each makes ε infinite."""
        is_positive = np.pad(self.probabilities > 0, ((1, 1), (0, 0)))
        is_revealing = ~is_positive[1:-1] & (is_positive[:-2] | is_positive[2:])
        return [(int(row), int(column)) for row, column in np.argwhere(is_revealing)]

    def log_odds_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest signed log-odds that round to the given digits, cell by cell; equal where exact."""
        half = self.half_units
        low, high = np.maximum(self.probabilities - half, 0.0), self.probabilities + half
        with np.errstate(divide="ignore", invalid="ignore"):
            smallest = np.log(low[:-1]) - np.log(high[1:])
            largest = np.log(high[:-1]) - np.log(low[1:])
        is_impossible = (high[:-1] == 0) & (high[1:] == 0)
        smallest[is_impossible] = largest[is_impossible] = 0.0
        return smallest, largest

    @property
    def rounding(self) -> str:
        """What the given digits leave open, in a sentence."""
        if self.decimals is None:
            return "Your numbers are used exactly as given."
        smallest, largest = self.log_odds_bounds()
        ends = max(0.0, smallest.max(), -largest.min()), max(largest.max(), -smallest.min())
        value, *printed = (format_number(float(loss), 7) for loss in (self.worst_log_odds().value, *ends))
        lowest, highest = printed
        if math.isinf(ends[1]):
            highest = "∞, as a printed 0 may stand for a small number or for none"
        places = format_count(self.decimals, "decimal") if isinstance(self.decimals, int) else "their own last digits"
        return (
            f"Your numbers are used exactly as given: they make ε = {value}. If they were rounded to {places}, the ε "
            f"before rounding lies between {lowest} and {highest}."
        )


def check_probabilities(matrix: FloatArray, row_name: Callable[[int], str], column_name: Callable[[int], str]) -> None:
    """Raise a ValueError that names the first wrong entry or sum of a row, and says what may have happened.

    Parameters
    ----------
    matrix : ndarray
    row_name, column_name : callable
        From the index of a row or column to its name in the message.
    """
    if matrix.ndim != 2:
        raise ValueError(f"The matrix needs rows and columns; got shape {matrix.shape}.")
    for count, side, table in zip(matrix.shape, ("row", "column"), ("confidential", "released"), strict=True):
        if count < 2:
            number = "only one" if count else "no"
            raise ValueError(f"There is {number} {side}. A matrix needs at least two: one for each {table} table.")
    for problem, is_wrong in (("is not finite", ~np.isfinite(matrix)), ("is negative", matrix < 0)):
        if is_wrong.any():
            row, column = (int(place) for place in np.argwhere(is_wrong)[0])
            raise ValueError(
                f"{row_name(row)}, {column_name(column)} {problem}: {matrix[row, column]:g}. "
                "A probability from 0 to 1 is needed."
            )
    with np.errstate(over="ignore"):
        sums = matrix.sum(axis=1)
    is_off = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if is_off.any():
        row = int(np.argmax(is_off))
        raise ValueError(
            f"{row_name(row)} sums to {sums[row]:.6g}, not to 1 (within {ROW_SUM_TOLERANCE:g}). {_advice(matrix, sums)}"
        )


def _advice(matrix: FloatArray, sums: FloatArray) -> str:
    """What may have happened to a matrix whose rows do not sum to 1."""
    with np.errstate(over="ignore"):
        totals = matrix.sum(axis=0)
    if np.all(np.abs(sums - 100) <= 100 * ROW_SUM_TOLERANCE):
        return "These look like percentages: divide by 100."
    if np.all(np.abs(totals - 1) <= ROW_SUM_TOLERANCE):
        return "The columns sum to 1: exchange rows and columns, so that a row is a confidential table."
    for places in (2, 3):
        is_rounded = matrix.max() <= 1 and np.allclose(matrix, matrix.round(places), rtol=0, atol=1e-9)
        if is_rounded and np.all(np.abs(sums - 1) <= matrix.shape[1] * 10.0**-places / 2 + 1e-9):
            return f"These look rounded to {places} decimals: give more of them, or divide each row by its sum."
    if np.all(sums > 0) and np.all(matrix == np.rint(matrix)):
        return "These look like counts: divide each row by its sum."
    return "Every row must hold the probabilities of all tables that can be released."
