"""Tables of k > 2 counts: their compositions, their neighbours, and privacy through three cells alone.

Substituting a row moves it from cell j to cell i. For the Dirichlet-multinomial and the multinomial plug-ins the
likelihood ratio of the two tables depends on the released counts m_i and m_j alone, so the other cells may be merged:
three cells tell everything. A cell with x + c invented rows is two cells with x and c merged, and post-processing never
raises a divergence; the c rows may then join the rest, where they tell nothing. So the worst neighbours hold their only
row of cells i and j in i or in j, and i and j are the cells with the smallest priors.
"""

import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.multisets import (
    composition_at,
    composition_count,
    composition_rank,
    composition_ranks,
    compositions,
)
from dpviz.core.parameters import ANY_EPSILON, Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import (
    COMPARED_FACTS,
    LossLists,
    Synthesizer,
    TwoCellSynthesizer,
    WorstCase,
    check_index,
    parameter,
)
from dpviz.mechanisms.cell_pairs import PlugInCells
from dpviz.mechanisms.prior import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer

CELL_COUNT = Parameter(
    name="cells",
    symbol="k",
    title="Cells",
    minimum=3,
    maximum=limits.LARGEST_CELLS,
    default=3,
    slider_maximum=6,
    integer=True,
    help="The number of cells that a row can fall into.",
)
PRIOR_ROWS_IN_A_CELL = {"title": "Prior rows in a cell", "per_cell": True}
FEWER_ROWS = {"slider_maximum": 60}
FEWER_SYNTHETIC_ROWS = {"maximum": limits.ROWS_OF_CELLS, "slider_maximum": 60}


class CellPair(Protocol):
    """Two neighbours: what of them exceeds ε."""

    def delta(self, epsilon: float) -> float:
        """δ(ε) of the likelier one."""

    def listed(self) -> tuple[FloatArray, FloatArray] | None:
        """Return all losses and ln of their probabilities; None where they are too many."""


@dataclass(frozen=True, kw_only=True)
class CellSynthesizer(Synthesizer):
    """A synthesizer of k > 2 counts; rows of the matrix are the compositions of n into k counts, in order."""

    two_cells: ClassVar[type[TwoCellSynthesizer]]
    share_of_a_count: ClassVar[float]
    """Facts, as in `dpviz.mechanisms.base.FACTS`; a synthesizer with a prior has no share of ε in a single count."""

    n: int = parameter(ROWS, **FEWER_ROWS)
    cells: int = parameter(CELL_COUNT)

    @classmethod
    def required_facts(cls) -> list[str]:
        facts = [*super().required_facts(), "two_cells"] + ["share_of_a_count"] * (not cls.has_prior)
        return facts if cls.compared_as else [*facts, *COMPARED_FACTS]

    @property
    @abstractmethod
    def released_shape(self) -> tuple[int, bool]:
        """The total or largest count released, and whether the released counts sum to it."""

    @property
    def shape(self) -> tuple[int, int]:
        total, sums = self.released_shape
        columns = composition_count(total, self.cells) if sums else (total + 1) ** self.cells
        return composition_count(self.n, self.cells), columns

    @property
    def enumerable(self) -> bool:
        return math.prod(self.shape) <= limits.TABLE_ENTRIES

    def _require_enumerable(self) -> None:
        if not self.enumerable:
            rows, columns = self.shape
            raise ValueError(
                f"The full matrix would have {rows * columns:,} entries ({rows:,} × {columns:,}); the limit is "
                f"{limits.TABLE_ENTRIES:,}. Set fewer rows or cells; ε and δ are found without the matrix."
            )

    @cached_property
    def row_counts(self) -> IntArray:
        self._require_enumerable()
        return compositions(self.n, self.cells)

    @cached_property
    def column_counts(self) -> IntArray:
        self._require_enumerable()
        total, sums = self.released_shape
        if sums:
            return compositions(total, self.cells)
        return np.indices((total + 1,) * self.cells).reshape(self.cells, -1).T.astype(np.int64)

    @cached_property
    def _named(self) -> dict[int, tuple[int, ...]]:
        """Tables whose places have been worked out: with many cells, the way back from a place is long."""
        return {}

    def _place(self, counts: IntArray) -> int:
        place = composition_rank(counts)
        self._named[place] = tuple(counts.tolist())
        return place

    def row_table(self, index: int) -> tuple[int, ...]:
        index = check_index(index, self.shape[0])
        return self._named.get(index) or composition_at(index, self.n, self.cells)

    @cached_property
    def neighbours(self) -> IntArray:
        self._require_enumerable()
        others = compositions(self.n - 1, self.cells)
        unit = np.eye(self.cells, dtype=np.int64)
        ranks = [composition_ranks(others + more) for more in unit]
        pairs = [np.column_stack(two) for two in itertools.combinations(ranks, 2)]
        stacked = np.sort(np.concatenate(pairs), axis=1)
        return stacked[np.lexsort((stacked[:, 1], stacked[:, 0]))]

    def _moved(self, pairs: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Cells in which the first table of each pair has a row more, and the second, and their counts without it."""
        first, second = (self.row_counts[index] for index in self.neighbours[pairs].T)
        gains, loses, pair = np.argmax(first > second, axis=1), np.argmax(first < second, axis=1), np.arange(len(pairs))
        return gains, loses, second[pair, gains], first[pair, loses]

    @cached_property
    @abstractmethod
    def _pairs(self) -> Sequence[tuple[CellPair, int, int]]:
        """The ordered neighbours that can be the worst, with the cells that gain and lose a row."""

    def _case(self, value: float, gains: int, loses: int, column: int | None = None) -> WorstCase:
        """Return the neighbours whose only row of two cells is in `gains` or in `loses`, as a `WorstCase`."""
        rest = next(cell for cell in range(self.cells) if cell not in (gains, loses))
        counts = np.zeros((2, self.cells), dtype=np.int64)
        counts[:, rest] = self.n - 1
        counts[0, gains] = counts[1, loses] = 1
        return WorstCase(value, self._place(counts[0]), self._place(counts[1]), column)

    def loss_lists(self) -> LossLists | None:
        listed = [pair.listed() for pair, _, _ in self._pairs]
        found = [one for one in listed if one is not None]
        if len(found) < len(listed):
            return None
        pairs = np.repeat(np.arange(len(found)), [len(losses) for losses, _ in found])
        losses, log_masses = (np.concatenate(part) for part in zip(*found, strict=True))
        return LossLists(losses, np.exp(log_masses), pairs, len(found))

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        own = (pair for pair, *cells in self._pairs if self._case(0.0, *cells).likelier == worst.likelier)
        return next(own).listed()

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        values = [pair.delta(epsilon) for pair, _, _ in self._pairs]
        best = int(np.argmax(values))
        return self._case(values[best], *self._pairs[best][1:])


@dataclass(frozen=True, kw_only=True)
class PriorCellSynthesizer(CellSynthesizer):
    """A synthesizer of k counts with prior invented rows in every cell, released as k counts that sum to m."""

    has_prior = True
    two_cells: ClassVar[type[PriorSynthesizer]]
    pair_type: ClassVar[type[PlugInCells]]

    m: int = parameter(SYNTHETIC_ROWS, **FEWER_SYNTHETIC_ROWS)
    alpha: float | tuple[float, ...] = parameter(PRIOR_ONES, **PRIOR_ROWS_IN_A_CELL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.alpha, tuple) and len(self.alpha) != self.cells:
            raise ValueError(
                f"alpha (prior rows in a cell) must be one number or {self.cells} of them; got {len(self.alpha)}."
            )

    @property
    def released_shape(self) -> tuple[int, bool]:
        return self.m, True

    def column_table(self, index: int) -> tuple[int, ...]:
        return composition_at(check_index(index, self.shape[1]), self.m, self.cells)

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """As for two cells, whatever k is."""
        return cls.two_cells.smallest_alpha(m=m, epsilon=epsilon)

    @cached_property
    def weights(self) -> FloatArray:
        """What is added to the count of each cell, shape (k,)."""
        return np.broadcast_to(np.asarray(self.alpha, dtype=float) - self.two_cells.lost, (self.cells,))

    @property
    def _rarest(self) -> tuple[int, int]:
        """The two cells with the smallest priors."""
        first, second = np.argsort(self.weights, kind="stable")[:2].tolist()
        return first, second

    @cached_property
    def _pairs(self) -> list[tuple[PlugInCells, int, int]]:
        weights, (first, second) = self.weights, self._rarest
        orders = [(first, second)] if weights[first] == weights[second] else [(first, second), (second, first)]
        rest = (self.n - 1) + float(np.delete(weights, [first, second]).sum())
        cells = [(float(weights[gains]), float(weights[loses])) for gains, loses in orders]
        pairs = [self.pair_type(m=self.m, x=x, y=y, rest=rest) for x, y in cells]
        return [(pair, *order) for pair, order in zip(pairs, orders, strict=True)]

    def worst_log_odds(self) -> WorstCase:
        """The neighbours whose only row is in the rarest cell or the next, and every draw in the rarest."""
        counts = np.zeros(self.cells, dtype=np.int64)
        counts[self._rarest[0]] = self.m
        return self._case(self._pairs[0][0].worst_log_odds().value, *self._rarest, composition_rank(counts))
