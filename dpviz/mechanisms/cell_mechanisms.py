"""The synthesizers of k > 2 counts: Dirichlet-multinomial, multinomial plug-ins and the Laplace sanitizer."""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import SYNTHETIC_ROWS
from dpviz.core.numerics.combinatorics import composition_rank
from dpviz.core.numerics.special import log_rising_ratio
from dpviz.core.types import FloatArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.beta_binomial import BetaBinomial
from dpviz.mechanisms.cells import CELL_COUNT, CELL_ROWS, CellSynthesizer, DrawnCells, PlugInCells, worst_of_tables
from dpviz.mechanisms.noise import NOISE_EPSILON, LaplaceSanitizer
from dpviz.mechanisms.plug_ins import ABOVE_ONE, PosteriorMean, PosteriorMode
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES

PRIOR_ROWS_IN_A_CELL = {"title": "Prior rows in a cell", "per_cell": True}


@dataclass(frozen=True, kw_only=True)
class PriorCellSynthesizer:
    """k counts that sum to m, of rows in proportion to the confidential rows and those that a prior invents.

    Pr(m | n) = m! Π_c s(n_c + a_c, m_c) / m_c! / s(A, m), a_c the effective prior and A = n + Σ a_c. With one draw of
    the proportions s(a, j) is a (a + 1) … (a + j − 1), and with independent rows a^j.
    """

    has_prior: ClassVar[bool] = True
    two_cells: ClassVar[type[TwoCellSynthesizer]]
    pair_type: ClassVar[type[PlugInCells]]
    prior_offset: ClassVar[int] = 0

    n: int = parameter(CELL_ROWS)
    cells: int = parameter(CELL_COUNT)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MAX_ROWS_OF_TABLE, slider_maximum=60)
    alpha: float | tuple[float, ...] = parameter(PRIOR_ONES, **PRIOR_ROWS_IN_A_CELL)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """As for two cells, whatever k is."""
        return cls.two_cells.smallest_alpha(m=m, epsilon=epsilon)

    @cached_property
    def weights(self) -> FloatArray:
        """What is added to the count of each cell, shape (k,)."""
        return np.broadcast_to(np.asarray(self.alpha, dtype=float) - self.prior_offset, (self.cells,))

    @cached_property
    def log_factors(self) -> FloatArray:
        """s(n_c + a_c, m_c) / m_c! over powers of A, and m! / s(A, m) with the first cell."""
        counts, total = self.weights[:, None] + np.arange(self.n + 1), self.n + float(self.weights.sum())
        log_factorials = log_rising_ratio(1.0, self.m)
        factors = self.pair_type.log_shares(counts, total, self.m) - log_factorials
        factors[0] += log_factorials[-1] - self.pair_type.log_shares(np.array(total), total, self.m)[-1]
        return factors

    @cached_property
    def log_gains(self) -> FloatArray:
        counts = self.weights[:, None, None] + np.arange(self.n)[:, None]
        gains: FloatArray = self.pair_type.log_gain(counts, np.arange(self.m + 1))
        return gains

    @cached_property
    def pairs(self) -> list[tuple[PlugInCells, WorstCase]]:
        """Neighbours with a single row in the two rarest cells, in both orders unless these are equally rare."""
        weights, cell = self.weights, np.arange(self.cells)
        first, second = np.argsort(weights, kind="stable")[:2].tolist()
        orders = [(first, second)] if weights[first] == weights[second] else [(first, second), (second, first)]
        rest = (self.n - 1) + float(np.delete(weights, [first, second]).sum())
        shared = (self.n - 1) * (cell == np.delete(cell, [first, second])[0])
        pairs = []
        for gains, loses in orders:
            pair = self.pair_type(m=self.m, x=float(weights[gains]), y=float(weights[loses]), rest=rest)
            column = composition_rank(self.m * (cell == gains))
            pairs.append((pair, worst_of_tables(pair.worst_log_odds().value, shared, gains, loses, column)))
        return pairs


@dataclass(frozen=True, kw_only=True)
class DirichletMultinomial(PriorCellSynthesizer, CellSynthesizer):
    """Pr(m | n) = m! / Π m_c! · Π (α_c + n_c)(α_c + n_c + 1)…(α_c + n_c + m_c − 1) / (A)(A + 1)…(A + m − 1).

    A = n + Σ α_c.

    Source: Abowd & Vilhuber (2008), equation (1). Menicucci et al. (2026) study releases of m < n rows; their abstract
    promises more for them than for priors with any number of categories.

    Examples
    --------
    One row in three cells with a flat prior: the same cell comes out with probability 2 / 4.

    >>> DirichletMultinomial(n=1, m=1, cells=3, alpha=1).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "dirichlet_multinomial"
    two_cells, pair_type = BetaBinomial, DrawnCells


@dataclass(frozen=True, kw_only=True)
class MultinomialMean(PriorCellSynthesizer, CellSynthesizer):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c) / (n + Σ α_c).

    Source: Zheng (2015), Theorem 6.21; synthpop 1.9-2, ``syn.catall(noisetype = "Exponential")``, α = N / (e^ε − 1).
    """

    key = "multinomial_mean"
    two_cells, pair_type = PosteriorMean, PlugInCells


@dataclass(frozen=True, kw_only=True)
class MultinomialMode(PriorCellSynthesizer, CellSynthesizer):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c − 1) / (n + Σ α_c − k): Zheng (2015), Theorem 6.22.

    Examples
    --------
    >>> MultinomialMode(n=1, m=1, cells=3, alpha=2).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "multinomial_mode"
    two_cells, pair_type, prior_offset = PosteriorMode, PlugInCells, 1

    alpha: float | tuple[float, ...] = parameter(PRIOR_ONES, **PRIOR_ROWS_IN_A_CELL, **ABOVE_ONE)


@dataclass(frozen=True, eq=False)
class ListedLosses:
    """All privacy losses of two neighbours, and ln of their probabilities under the likelier neighbour."""

    losses: FloatArray
    log_masses: FloatArray

    def delta(self, epsilon: float) -> float:
        return float(np.exp(self.log_masses) @ -np.expm1(np.minimum(epsilon - self.losses, 0.0)))

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        return self.losses, self.log_masses


@dataclass(frozen=True, kw_only=True)
class LaplaceCells(CellSynthesizer):
    """m_c = n_c + Laplace(2/ε) in every cell, rounded to the nearest whole number and clamped to 0 … n.

    Substituting a row moves two counts by 1, hence 2/ε.

    Source: Abowd & Vilhuber (2008), equation (2).

    Examples
    --------
    >>> release = LaplaceCells(n=4, cells=3, epsilon=2)
    >>> release.worst_log_odds().value, release.shape
    (2.0, (15, 125))
    """

    key = "laplace_cells"
    two_cells, share_of_a_count, keeps_total = LaplaceSanitizer, 0.5, False
    adds_noise = needs_no_matrix = True

    m: int = dataclasses.field(init=False, default=0)
    epsilon: float = parameter(NOISE_EPSILON, minimum=1e-6)

    @property
    def one_cell(self) -> LaplaceSanitizer:
        """Release of a single cell, which carries half of ε."""
        return LaplaceSanitizer.for_rows(self.n, self.n)(n=self.n, epsilon=self.share_of_a_count * self.epsilon)

    @cached_property
    def log_factors(self) -> FloatArray:
        table = self.one_cell.log_transition_matrix()
        return np.broadcast_to(table, (self.cells, *table.shape))

    @cached_property
    def log_gains(self) -> FloatArray:
        table = -self.one_cell.log_odds_table()
        return np.broadcast_to(table, (self.cells, *table.shape))

    def _shared_counts(self) -> list[tuple[int, int]]:
        """Counts before a row is added to the first cell and to the second, that stand for every pair of neighbours.

        From n = 3 on clamping merges, at counts of 1, only released counts with the same likelihood ratio.
        """
        if self.n >= 3:
            return [(1, 1)]
        return [(a, b) for a, b in itertools.product(range(self.n), repeat=2) if a + b <= self.n - 1]

    def _cell_losses(self, count: int, *, gains: bool) -> tuple[FloatArray, FloatArray, int]:
        """Losses of one cell between `count` and one more, their likelier probabilities, and the count with the most.

        Released counts with equal losses are merged.
        """
        log_odds = self.one_cell.log_odds(np.array([count]), np.arange(self.n + 1))[0]
        signed = -log_odds if gains else log_odds
        losses, places = np.unique(signed, return_inverse=True)
        masses = np.bincount(places, self.one_cell.row(count + 1 if gains else count))
        return losses, masses.astype(float), int(np.argmax(signed))

    @cached_property
    def pairs(self) -> list[tuple[ListedLosses, WorstCase]]:
        """Neighbours of `_shared_counts`: ε from n = 3 rows on; less below, where the clamp hides part of it."""
        pairs = []
        for gained, lost in self._shared_counts():
            up, up_masses, up_count = self._cell_losses(gained, gains=True)
            down, down_masses, down_count = self._cell_losses(lost, gains=False)
            with np.errstate(divide="ignore"):
                log_masses = np.log(np.outer(up_masses, down_masses)).ravel()
            shared = np.zeros(self.cells, dtype=np.int64)
            shared[:3] = gained, lost, self.n - 1 - gained - lost
            column = (up_count * (self.n + 1) + down_count) * (self.n + 1) ** (self.cells - 2)
            worst = worst_of_tables(float(up[-1] + down[-1]), shared, 0, 1, column)
            pairs.append((ListedLosses(np.add.outer(up, down).ravel(), log_masses), worst))
        return pairs
