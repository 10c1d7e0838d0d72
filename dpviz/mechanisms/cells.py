"""Tables of k > 2 counts: their compositions, their neighbours, and privacy through three cells alone.

Substituting a row moves it from cell j to cell i. For the Dirichlet-multinomial and the multinomial plug-ins the
likelihood ratio of the two tables depends on the released counts m_i and m_j alone, so the other cells may be merged:
three cells reveal everything. A cell with x + c invented rows is two cells with x and c merged, and post-processing
never raises a divergence; the c rows may then join the rest, where they reveal nothing. So the worst neighbours hold
their only row of cells i and j in i or in j, and i and j are the cells with the smallest priors.
"""

import dataclasses
import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON, ROWS
from dpviz.core.numerics.combinatorics import (
    composition_at,
    composition_count,
    composition_rank,
    composition_ranks,
    compositions,
)
from dpviz.core.numerics.special import cumulative_sum, log_rising_ratio, log_sum_exp
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import Synthesizer, TwoCellSynthesizer, WorstCase, check_index, parameter
from dpviz.mechanisms.pair_divergence import log_delta_beta_binomial, log_delta_binomial

CELL_ROWS = dataclasses.replace(ROWS, slider_maximum=60)
CELL_COUNT = Parameter(
    name="cells", symbol="k", title="Cells", minimum=3, maximum=limits.MAX_CELLS, default=3, slider_maximum=6,
    integer=True,
    help="The number of cells that a row can fall into.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PlugInCells:
    """m independent rows, in proportion to those and the invented ones in three cells: x + 1, y, r against x, y + 1, r.

    The total s of the first two cells has the same distribution under both, and given s the split is a two-cell
    release, so δ = Σ_s Pr(s) δ₂(s), for any number of rows and without a matrix.

    Source: Abowd & Vilhuber (2008), equation (1); Zheng (2015), section 6.4.

    Examples
    --------
    One row, one draw, three cells, one invented row each: (2, 1, 1) / 4 against (1, 2, 1) / 4.

    >>> round(DrawnCells.alike(n=1, m=1, cells=3, alpha=1.0).hockey_stick(0.0).value, 12)
    0.25
    """

    m: int
    x: float
    y: float
    rest: float

    log_split_delta = staticmethod(log_delta_binomial)

    @staticmethod
    def log_shares(weight: FloatArray, total: float, m: int) -> FloatArray:
        """ln of the probability of 0 … m rows that all fall into a cell, shape (…, m + 1)."""
        return np.log(weight / total)[..., None] * np.arange(m + 1)

    @staticmethod
    def log_gain(weight: FloatArray | float, released: IntArray | int) -> Any:
        """Log-odds of a cell's released count between one more confidential row in it and none."""
        return released * np.log1p(1 / weight)

    @classmethod
    def alike(cls, *, n: int, m: int, cells: int, alpha: float) -> Self:
        """Worst pair of n rows where α invented rows are added to each cell: the prior, less 1 for the mode."""
        return cls(m=m, x=alpha, y=alpha, rest=(n - 1) + (cells - 2) * alpha)

    def worst_log_odds(self) -> WorstCase:
        """All m rows in the first cell."""
        return WorstCase(float(self.log_gain(self.x, self.m)), 1, 0)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(self.delta(ANY_EPSILON.validate(epsilon)), 1, 0)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = Σ_s Pr(s) δ₂(s)."""
        if self.worst_log_odds().value <= epsilon:
            return 0.0
        totals, log_masses = np.arange(1, self.m + 1), self._log_totals()[1:]

        def log_split_deltas(s: IntArray) -> FloatArray:
            return self.log_split_delta(np.full(len(s), self.x), np.full(len(s), self.y), s.astype(float), epsilon)

        # More rows never reveal less: δ₂ at the end of a block, of which there are 64, bounds it in the block
        if self.m > 256:
            ends = np.unique(np.append(totals[:: self.m // 64], self.m))
            at_ends = log_split_deltas(ends)
            bounds = log_masses + at_ends[np.searchsorted(ends, totals)]
            is_large = bounds > (log_masses[ends - 1] + at_ends).max() - 45  # e^-45 of the largest term is 3e-20 of it
            totals, log_masses = totals[is_large], log_masses[is_large]
        log_deltas = log_masses + log_split_deltas(totals)
        if log_deltas.max(initial=-math.inf) == -math.inf:
            return 0.0
        return math.exp(min(float(log_sum_exp(log_deltas, axis=0)), 0.0))

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:  # noqa: ARG002
        """All losses of the only two neighbours and ln of their probabilities; None if they are too many."""
        listed = self.losses(20_000, 0.0)
        return None if listed is None else listed[:2]

    def losses(self, max_losses: float, unseen: float = 1e-20) -> tuple[FloatArray, FloatArray, float] | None:
        """All privacy losses, ln of their probabilities, and the probability of those that are left out.

        Left out are totals of the two cells that have at most `unseen` together. None if more than `max_losses` count.
        """
        log_masses = self._log_totals()
        masses = np.exp(log_masses)
        order = np.argsort(masses, kind="stable")
        is_unseen = np.cumsum(masses[order]) <= unseen
        totals = np.sort(order[~is_unseen])
        if int((totals + 1).sum()) > max_losses:
            return None

        # u of s rows in the first of the two cells
        s = np.repeat(totals, totals + 1)
        u = np.arange(len(s)) - np.repeat(np.cumsum(totals + 1) - (totals + 1), totals + 1)
        both, factorial = self.x + self.y + 1, log_rising_ratio(1.0, self.m)
        in_first, in_second, in_both = self.log_shares(np.array([self.x + 1, self.y, both]), both, self.m)
        log_split = factorial[s] - factorial[u] - factorial[s - u] + (in_first[u] + in_second[s - u] - in_both[s])
        log_odds = self.log_gain(self.x, u) - self.log_gain(self.y, s - u)
        return log_odds, log_masses[s] + log_split, float(masses[order[is_unseen]].sum())

    def _log_totals(self) -> FloatArray:
        """ln Pr(s) of the totals s = 0 … m of the two cells."""
        both = self.x + self.y + 1
        factorial, total = log_rising_ratio(1.0, self.m), both + self.rest
        in_both, in_rest = self.log_shares(np.array([both, self.rest]), total, self.m)
        log_masses = (in_both - factorial) + (in_rest - factorial)[::-1]
        return log_masses - log_sum_exp(log_masses, axis=0)


@dataclass(frozen=True, kw_only=True)
class DrawnCells(PlugInCells):
    """One draw of the proportions, then all rows from it: the Dirichlet-multinomial."""

    log_split_delta = staticmethod(log_delta_beta_binomial)

    @staticmethod
    def log_shares(weight: FloatArray, total: float, m: int) -> FloatArray:
        return cumulative_sum(np.log((weight[..., None] + np.arange(m)) / total))

    @staticmethod
    def log_gain(weight: FloatArray | float, released: IntArray | int) -> Any:
        return np.log1p(released / weight)


@dataclass(frozen=True, kw_only=True)
class CellSynthesizer(Synthesizer):
    """A synthesizer of k > 2 counts, whose probabilities are products over the cells.

    Rows of the matrix are the compositions of n into k counts, in order. Released are k counts that sum to m, or k
    counts from 0 to m each.
    """

    two_cells: ClassVar[type[TwoCellSynthesizer]]  # synthesizer of the count of a single cell
    share_of_a_count: ClassVar[float]  # share of ε that a single count spends, where there is no prior
    keeps_total: ClassVar[bool] = True  # whether the released counts sum to m

    n: int = parameter(CELL_ROWS)
    cells: int = parameter(CELL_COUNT)
    m: int

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = getattr(self, "alpha", None)
        if isinstance(alpha, tuple) and len(alpha) != self.cells:
            numbers = f"one number or {self.cells} of them"
            raise ValueError(f"alpha (prior rows in a cell) must be {numbers}; got {len(alpha)}.")

    @property
    def shape(self) -> tuple[int, int]:
        columns = composition_count(self.m, self.cells) if self.keeps_total else (self.m + 1) ** self.cells
        return composition_count(self.n, self.cells), columns

    @property
    def enumerable(self) -> bool:
        return math.prod(self.shape) <= limits.MAX_TABLE_ENTRIES

    def _require_enumerable(self) -> None:
        if not self.enumerable:
            rows, columns = self.shape
            raise ValueError(
                f"The full matrix would have {rows * columns:,} entries ({rows:,} × {columns:,}); the limit is "
                f"{limits.MAX_TABLE_ENTRIES:,}. Set fewer rows or cells; ε and δ are found without the matrix."
            )

    @cached_property
    def row_counts(self) -> IntArray:
        self._require_enumerable()
        return compositions(self.n, self.cells)

    @cached_property
    def column_counts(self) -> IntArray:
        self._require_enumerable()
        if self.keeps_total:
            return compositions(self.m, self.cells)
        return np.indices((self.m + 1,) * self.cells).reshape(self.cells, -1).T.astype(np.int64)

    def row_table(self, index: int) -> tuple[int, ...]:
        return composition_at(check_index(index, self.shape[0]), self.n, self.cells)

    def column_table(self, index: int) -> tuple[int, ...]:
        index = check_index(index, self.shape[1])
        if self.keeps_total:
            return composition_at(index, self.m, self.cells)
        return tuple(index // (self.m + 1) ** place % (self.m + 1) for place in reversed(range(self.cells)))

    @cached_property
    def neighbours(self) -> IntArray:
        self._require_enumerable()
        shared = compositions(self.n - 1, self.cells)
        ranks = [composition_ranks(shared + unit) for unit in np.eye(self.cells, dtype=np.int64)]
        pairs = np.concatenate([np.column_stack(pair) for pair in itertools.combinations(ranks, 2)])
        pairs.sort(axis=1)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    @cached_property
    @abstractmethod
    def log_factors(self) -> FloatArray:
        """ln of the factor of each cell by its confidential and its released count, shape (k, n + 1, m + 1)."""

    @cached_property
    @abstractmethod
    def log_gains(self) -> FloatArray:
        """What another confidential row adds to `log_factors`, up to a constant of all cells, shape (k, n, m + 1)."""

    @property
    @abstractmethod
    def pairs(self) -> Sequence[tuple[Any, WorstCase]]:
        """The ordered neighbours that can be the worst: δ and losses of each, and its largest log-odds."""

    def worst_log_odds(self) -> WorstCase:
        return max((worst for _, worst in self.pairs), key=lambda worst: worst.value)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        epsilon = ANY_EPSILON.validate(epsilon)
        cases = [WorstCase(pair.delta(epsilon), worst.likelier, worst.unlikelier) for pair, worst in self.pairs]
        return max(cases, key=lambda case: case.value)

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        return next(pair for pair, case in self.pairs if case.likelier == worst.likelier).losses_of(worst)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        confidential, released = self.row_counts[rows], self.column_counts[columns]
        log_matrix = np.zeros((len(confidential), len(released)))
        for cell, table in enumerate(self.log_factors):
            log_matrix += np.take(table[confidential[:, cell]], released[:, cell], axis=1)
        return log_matrix

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        first, second = (self.row_counts[index] for index in self.neighbours[pairs].T)
        pair, shared, released = np.arange(len(pairs)), np.minimum(first, second), self.column_counts[columns].T
        gain, lose = (
            self.log_gains[cell[:, None], shared[pair, cell][:, None], released[cell]]
            for cell in (np.argmax(first > second, axis=1), np.argmax(first < second, axis=1))
        )
        odds: FloatArray = gain - lose
        return odds


def worst_of_tables(value: float, shared: IntArray, gains: int, loses: int, column: int | None = None) -> WorstCase:
    """Neighbours that share rows, and have another one in the cell `gains` or in `loses`, as a `WorstCase`.

    Parameters
    ----------
    value : float
    shared : ndarray of int, shape (k,)
        Counts of the rows that they share.
    gains, loses : int
    column : int, optional
    """
    place = np.arange(len(shared))
    likelier, unlikelier = (composition_rank(shared + (place == cell)) for cell in (gains, loses))
    return WorstCase(value, likelier, unlikelier, column)
