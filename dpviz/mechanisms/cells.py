"""Tables of k > 2 counts: their compositions, their neighbours, and privacy through three cells alone.

Substituting a row moves it from cell j to cell i. For the Dirichlet-multinomial and the multinomial plug-ins the
likelihood ratio of the two tables depends on the released counts m_i and m_j alone, so the other cells may be merged:
three cells reveal everything. A cell with x + c invented rows is two cells with x and c merged, and post-processing
never raises a divergence; the c rows may then join the rest, where they reveal nothing. So the worst neighbours hold
their only row of cells i and j in i or in j, and i and j are the cells with the smallest priors.
"""

import itertools
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON, ROWS, SYNTHETIC_ROWS
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
from dpviz.mechanisms.base import (
    LossDistribution,
    LossLists,
    Synthesizer,
    TwoCellSynthesizer,
    WorstCase,
    check_index,
    parameter,
)
from dpviz.mechanisms.pair_divergence import (
    log_delta_beta_binomial,
    log_delta_binomial,
)
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PriorSynthesizer

MAX_LISTED_SPLITS = 20_000  # splits of two cells up to which all their losses are listed
UNSEEN = 1e-20  # probability of totals of two cells that are left out where losses are listed
NEGLIGIBLE_NATS = 45.0  # nats below the largest term of a sum at which a term is left out
BLOCKS = 64  # blocks of totals of two cells that are bounded before their terms are computed
MAX_TOTALS = 256  # totals up to which all terms are computed at once
CELL_COUNT = Parameter(
    name="cells", symbol="k", title="Cells", minimum=3, maximum=limits.MAX_CELLS, default=3, slider_maximum=6,
    integer=True,
    help="The number of cells that a row can fall into.",
)  # fmt: skip
PRIOR_ROWS_IN_A_CELL = {"title": "Prior rows in a cell", "per_cell": True}


@dataclass(frozen=True, kw_only=True)
class PlugInCells:
    """m independent rows, in proportion to those and the invented ones in three cells: x + 1, y, r against x, y + 1, r.

    The total s of the first two cells has the same distribution under both, and given s the split is a two-cell
    release, so δ = Σ_s Pr(s) δ₂(s), for any number of rows and without a matrix.

    References
    ----------
    Abowd & Vilhuber (2008), equation (1); Zheng (2015), section 6.4.

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

    @classmethod
    def alike(cls, *, n: int, m: int, cells: int, alpha: float) -> Self:
        """Worst pair of n rows where α invented rows are added to each cell: the prior, less 1 for the mode."""
        return cls(m=m, x=alpha, y=alpha, rest=(n - 1) + (cells - 2) * alpha)

    def worst_log_odds(self) -> WorstCase:
        """m ln(1 + 1 / x), of m rows in the first cell."""
        return WorstCase(self.m * math.log1p(1 / self.x), 1, 0)

    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(self.delta(ANY_EPSILON.validate(epsilon)), 1, 0)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = Σ_s Pr(s) δ₂(s)."""
        if self.worst_log_odds().value <= epsilon:
            return 0.0
        totals, log_masses = np.arange(1, self.m + 1), self._log_totals()[1:]

        def log_split_deltas(s: IntArray) -> FloatArray:
            return self.log_split_delta(np.full(len(s), self.x), np.full(len(s), self.y), s.astype(float), epsilon)

        # More rows never reveal less: δ₂ at the end of a block bounds it in the block
        if self.m > MAX_TOTALS:
            ends = np.unique(np.append(totals[:: self.m // BLOCKS], self.m))
            at_ends = log_split_deltas(ends)
            bounds = log_masses + at_ends[np.searchsorted(ends, totals)]
            is_large = bounds > (log_masses[ends - 1] + at_ends).max() - NEGLIGIBLE_NATS
            totals, log_masses = totals[is_large], log_masses[is_large]
        log_deltas = log_masses + log_split_deltas(totals)
        if log_deltas.max(initial=-math.inf) == -math.inf:
            return 0.0
        return math.exp(min(float(log_sum_exp(log_deltas, axis=0)), 0.0))

    def listed(self) -> tuple[FloatArray, FloatArray] | None:
        """All losses and ln of their probabilities; None if they are too many."""
        listed = self.losses(MAX_LISTED_SPLITS, 0.0)
        return None if listed is None else listed[:2]

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:  # noqa: ARG002
        """Losses of the only two neighbours."""
        return self.listed()

    def losses(self, max_losses: float, unseen: float = UNSEEN) -> tuple[FloatArray, FloatArray, float] | None:
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
        s = np.repeat(totals, totals + 1)
        u = np.arange(len(s)) - np.repeat(np.cumsum(totals + 1) - (totals + 1), totals + 1)
        log_probabilities = log_masses[s] + self._log_split(u, s)
        return self._log_odds(u, s), log_probabilities, float(masses[order[is_unseen]].sum())

    def _log_totals(self) -> FloatArray:
        """ln Pr(s) of the totals s = 0 … m of the two cells, from ratios of neighbours."""
        s = np.arange(self.m)
        log_masses = cumulative_sum(np.log((self.m - s) / (s + 1)) + self._total_steps(s))
        return log_masses - log_sum_exp(log_masses, axis=0)

    def _total_steps(self, s: IntArray) -> FloatArray:
        """ln of the odds of one more row in the two cells, less ln (m − s) / (s + 1)."""
        return np.full(s.shape, math.log((self.x + self.y + 1) / self.rest))

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        """Log-odds of u of s rows in the first of the two cells."""
        return u * math.log1p(1 / self.x) - (s - u) * math.log1p(1 / self.y)

    def _log_split(self, u: IntArray, s: IntArray) -> FloatArray:
        """ln Pr(u | s) under the likelier table, which has x + 1 and y in the two cells; from sums of logarithms."""
        ones, zeros, both = (cumulative_sum(logs) for logs in self._log_shares())
        factorial = log_rising_ratio(1.0, self.m)
        return factorial[s] - factorial[u] - factorial[s - u] + (ones[u] + zeros[s - u] - both[s])

    def _log_shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ln of the share that each further row finds in the first cell, the second and both, shape (m,) each."""
        total = self.x + self.y + 1
        shares = (self.x + 1) / total, self.y / total, 1.0
        ones, zeros, both = (np.full(self.m, math.log(share)) for share in shares)
        return ones, zeros, both


@dataclass(frozen=True, kw_only=True)
class DrawnCells(PlugInCells):
    """One draw of the proportions, then all rows from it: the Dirichlet-multinomial."""

    log_split_delta = staticmethod(log_delta_beta_binomial)

    def worst_log_odds(self) -> WorstCase:
        """ln(1 + m / x)."""
        return WorstCase(math.log1p(self.m / self.x), 1, 0)

    def _total_steps(self, s: IntArray) -> FloatArray:
        return np.log((self.x + self.y + 1) + s) - np.log(self.rest + (self.m - 1 - s))

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        return np.log1p(u / self.x) - np.log1p((s - u) / self.y)

    def _log_shares(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        total = self.x + self.y + 1
        drawn = np.arange(self.m)
        ones, zeros, both = (np.log((rows + drawn) / total) for rows in (self.x + 1, self.y, total))
        return ones, zeros, both


@dataclass(frozen=True, kw_only=True)
class CellSynthesizer(Synthesizer):
    """A synthesizer of k > 2 counts; rows of the matrix are the compositions of n into k counts, in order."""

    two_cells: ClassVar[type[TwoCellSynthesizer]]  # synthesizer of the count of a single cell
    share_of_a_count: ClassVar[float]  # share of ε that a single count spends, where there is no prior

    n: int = parameter(ROWS, slider_maximum=60)
    cells: int = parameter(CELL_COUNT)

    @property
    @abstractmethod
    def released_shape(self) -> tuple[int, bool]:
        """Total or largest count released, and whether the released counts sum to it."""

    @property
    def shape(self) -> tuple[int, int]:
        total, sums = self.released_shape
        columns = composition_count(total, self.cells) if sums else (total + 1) ** self.cells
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
        total, sums = self.released_shape
        if sums:
            return compositions(total, self.cells)
        return np.indices((total + 1,) * self.cells).reshape(self.cells, -1).T.astype(np.int64)

    def row_table(self, index: int) -> tuple[int, ...]:
        return composition_at(check_index(index, self.shape[0]), self.n, self.cells)

    @cached_property
    def neighbours(self) -> IntArray:
        self._require_enumerable()
        shared = compositions(self.n - 1, self.cells)
        ranks = [composition_ranks(shared + unit) for unit in np.eye(self.cells, dtype=np.int64)]
        pairs = np.concatenate([np.column_stack(two) for two in itertools.combinations(ranks, 2)])
        pairs.sort(axis=1)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _moves(self, pairs: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Cells in which the first table of each pair has a row more, and the second, and their counts without it."""
        first, second = (self.row_counts[index] for index in self.neighbours[pairs].T)
        gains, loses, pair = np.argmax(first > second, axis=1), np.argmax(first < second, axis=1), np.arange(len(pairs))
        return gains, loses, second[pair, gains], first[pair, loses]

    @cached_property
    @abstractmethod
    def _pairs(self) -> Sequence[tuple[PlugInCells | LossDistribution, int, int]]:
        """The ordered neighbours that can be the worst, with the cells that gain and lose a row."""

    def _case(self, value: float, gains: int, loses: int, column: int | None = None) -> WorstCase:
        """Neighbours whose only row of two cells is in `gains` or in `loses`, as a `WorstCase`."""
        rest = next(cell for cell in range(self.cells) if cell not in (gains, loses))
        counts = np.zeros((2, self.cells), dtype=np.int64)
        counts[:, rest] = self.n - 1
        counts[0, gains] = counts[1, loses] = 1
        return WorstCase(value, composition_rank(counts[0]), composition_rank(counts[1]), column)

    def loss_lists(self) -> LossLists | None:
        listed = [pair.listed() for pair, _, _ in self._pairs]
        lists = [losses for losses in listed if losses is not None]
        if len(lists) < len(listed):
            return None
        pairs = np.repeat(np.arange(len(lists)), [len(losses) for losses, _ in lists])
        losses, log_masses = (np.concatenate(part) for part in zip(*lists, strict=True))
        return LossLists(losses, np.exp(log_masses), pairs, len(lists))

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        pairs = (pair for pair, *cells in self._pairs if self._case(0.0, *cells).likelier == worst.likelier)
        return next(pairs).listed()

    def hockey_stick(self, epsilon: float) -> WorstCase:
        epsilon = ANY_EPSILON.validate(epsilon)
        values = [pair.delta(epsilon) for pair, _, _ in self._pairs]
        best = int(np.argmax(values))
        return self._case(values[best], *self._pairs[best][1:])


@dataclass(frozen=True, kw_only=True)
class PriorCellSynthesizer(CellSynthesizer):
    """A synthesizer of k counts with prior invented rows in every cell, released as k counts that sum to m."""

    has_prior = True
    two_cells: ClassVar[type[PriorSynthesizer]]
    pair_type: ClassVar[type[PlugInCells]]

    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MAX_ROWS_OF_CELLS, slider_maximum=60)
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
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """As for two cells, whatever k is."""
        return cls.two_cells.smallest_alpha(m=m, epsilon=epsilon)

    @cached_property
    def weights(self) -> FloatArray:
        """What is added to the count of each cell, shape (k,)."""
        return np.broadcast_to(np.asarray(self.alpha, dtype=float) - self.two_cells.prior_offset, (self.cells,))

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
        return [
            (self.pair_type(m=self.m, x=float(weights[gains]), y=float(weights[loses]), rest=rest), gains, loses)
            for gains, loses in orders
        ]

    def worst_log_odds(self) -> WorstCase:
        """The neighbours whose only row is in the rarest cell or the next, and every draw in the rarest."""
        counts = np.zeros(self.cells, dtype=np.int64)
        counts[self._rarest[0]] = self.m
        return self._case(self._pairs[0][0].worst_log_odds().value, *self._rarest, composition_rank(counts))
