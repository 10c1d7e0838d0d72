"""The synthesizers of k > 2 counts: Dirichlet-multinomial, multinomial plug-ins and the Laplace sanitizer."""

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from dpviz.core.numerics.combinatorics import composition_rank
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import LossDistribution, WorstCase, check_index, parameter
from dpviz.mechanisms.beta_binomial import BetaBinomial
from dpviz.mechanisms.cells import PRIOR_ROWS_IN_A_CELL, CellSynthesizer, DrawnCells, PlugInCells, PriorCellSynthesizer
from dpviz.mechanisms.noise import NOISE_EPSILON, LaplaceSanitizer
from dpviz.mechanisms.plug_ins import ABOVE_ONE, PosteriorMean, PosteriorMode
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES


@dataclass(frozen=True, kw_only=True)
class DirichletMultinomial(PriorCellSynthesizer):
    """Pr(m | n) = m! / Π m_c! · Π (α_c + n_c)(α_c + n_c + 1)…(α_c + n_c + m_c − 1) / (A)(A + 1)…(A + m − 1).

    A = n + Σ α_c.

    References
    ----------
    Abowd & Vilhuber (2008), equation (1). Menicucci et al. (2026) study releases of m < n rows; their abstract promises
    more for them than for priors with any number of categories.

    Examples
    --------
    One row in three cells with a flat prior: the same cell comes out with probability 2 / 4.

    >>> DirichletMultinomial(n=1, m=1, cells=3, alpha=1).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "dirichlet_multinomial"
    two_cells, pair_type = BetaBinomial, DrawnCells

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        confidential, released = self.row_counts[rows], self.column_counts[columns]
        n, m = self.n, self.m

        # ln of (α_c + n_c) … (α_c + n_c + m_c − 1) / m_c! by n_c and m_c, one table for each different α_c
        i, j = np.arange(n + 1)[:, None], np.arange(m)
        tables = {}
        for weight in set(self.weights.tolist()):
            tables[weight] = np.zeros((n + 1, m + 1))
            np.cumsum(np.log((weight + i + j) / (j + 1)), axis=1, out=tables[weight][:, 1:])

        total = n + self.weights.sum()
        log_matrix = np.full((len(confidential), len(released)), -np.log((total + j) / (j + 1)).sum())
        for cell, weight in enumerate(self.weights.tolist()):
            log_matrix += np.take(tables[weight][confidential[:, cell]], released[:, cell], axis=1)
        return log_matrix

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        (gains, loses, gained, lost), released = self._moves(pairs), self.column_counts[columns]
        x, y = self.weights[gains] + gained, self.weights[loses] + lost
        return np.log1p(released[:, gains].T / x[:, None]) - np.log1p(released[:, loses].T / y[:, None])


@dataclass(frozen=True, kw_only=True)
class MultinomialPlugIn(PriorCellSynthesizer):
    """Multinomial(m, θ) with θ_c = (n_c + a_c) / (n + Σ a_c), a the effective prior."""

    pair_type = PlugInCells

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        released = self.column_counts[columns]
        log_theta = np.log((self.row_counts[rows] + self.weights) / (self.n + self.weights.sum()))
        return log_theta @ released.T.astype(float) + (gammaln(self.m + 1) - gammaln(released + 1).sum(axis=1))

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        (gains, loses, gained, lost), weights = self._moves(pairs), self.weights
        step, pair = np.zeros((len(pairs), self.cells)), np.arange(len(pairs))
        step[pair, gains] = np.log1p(1 / (gained + weights[gains]))
        step[pair, loses] = -np.log1p(1 / (lost + weights[loses]))
        return step @ self.column_counts[columns].T.astype(float)


@dataclass(frozen=True, kw_only=True)
class MultinomialMean(MultinomialPlugIn):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c) / (n + Σ α_c).

    References
    ----------
    Zheng (2015), Theorem 6.21; synthpop 1.9-2, ``syn.catall(noisetype = "Exponential")``, α = N / (e^ε − 1).
    """

    key = "multinomial_mean"
    two_cells = PosteriorMean


@dataclass(frozen=True, kw_only=True)
class MultinomialMode(MultinomialPlugIn):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c − 1) / (n + Σ α_c − k): Zheng (2015), Theorem 6.22.

    Examples
    --------
    >>> MultinomialMode(n=1, m=1, cells=3, alpha=2).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "multinomial_mode"
    two_cells = PosteriorMode

    alpha: float | tuple[float, ...] = parameter(PRIOR_ONES, **PRIOR_ROWS_IN_A_CELL, **ABOVE_ONE)


@dataclass(frozen=True, kw_only=True)
class LaplaceCells(CellSynthesizer):
    """m_c = n_c + Laplace(2/ε) in every cell, rounded to the nearest whole number and clamped to 0 … n.

    Substituting a row moves two counts by 1, hence 2/ε.

    References
    ----------
    Abowd & Vilhuber (2008), equation (2).

    Examples
    --------
    >>> release = LaplaceCells(n=4, cells=3, epsilon=2)
    >>> release.worst_log_odds().value, release.shape
    (2.0, (15, 125))
    """

    key = "laplace_cells"
    two_cells, share_of_a_count = LaplaceSanitizer, 0.5
    adds_noise = needs_no_matrix = True

    m: int = dataclasses.field(init=False, default=0)
    epsilon: float = parameter(NOISE_EPSILON, minimum=1e-6)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)

    @property
    def one_cell(self) -> LaplaceSanitizer:
        """Release of a single cell, which carries half of ε."""
        return LaplaceSanitizer.for_rows(self.n, self.n)(n=self.n, epsilon=self.share_of_a_count * self.epsilon)

    @property
    def released_shape(self) -> tuple[int, bool]:
        return self.n, False

    def column_table(self, index: int) -> tuple[int, ...]:
        index = check_index(index, self.shape[1])
        return tuple(index // (self.n + 1) ** place % (self.n + 1) for place in reversed(range(self.cells)))

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        confidential, released = self.row_counts[rows], self.column_counts[columns]
        table = self.one_cell.log_transition_matrix()
        log_matrix = np.zeros((len(confidential), len(released)))
        for cell in range(self.cells):
            log_matrix += table[confidential[:, cell][:, None], released[:, cell]]
        return log_matrix

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        gains, loses, gained, lost = self._moves(pairs)
        released, table = self.column_counts[columns], self.one_cell.log_odds_table()
        return table[lost[:, None], released[:, loses].T] - table[gained[:, None], released[:, gains].T]

    def _shared_counts(self) -> list[tuple[int, int]]:
        """Counts before a row is added to cell i and to cell j, that stand for every pair of neighbours.

        From n = 3 on clamping merges, at counts of 1, only released counts with the same likelihood ratio.
        """
        if self.n >= 3:
            return [(1, 1)]
        return [(a, b) for a, b in itertools.product(range(self.n), repeat=2) if a + b <= self.n - 1]

    def _cell_losses(self, count: int, *, gains: bool) -> tuple[FloatArray, FloatArray]:
        """Losses of one cell between `count` and one more, with their probabilities on the likelier side."""
        log_odds = self.one_cell.log_odds(np.array([count]), np.arange(self.n + 1))[0]
        losses, places = np.unique(-log_odds if gains else log_odds, return_inverse=True)
        masses = np.bincount(places, self.one_cell.row(count + 1 if gains else count))
        return losses, masses.astype(float)

    @cached_property
    def _pairs(self) -> list[tuple[LossDistribution, int, int]]:
        pairs = []
        for gained, lost in self._shared_counts():
            up, up_mass = self._cell_losses(gained, gains=True)
            down, down_mass = self._cell_losses(lost, gains=False)
            losses, masses = np.add.outer(up, down).ravel(), np.outer(up_mass, down_mass).ravel()
            pairs.append((LossDistribution(losses, masses), gained, lost))
        return pairs

    def _case(self, value: float, gains: int, loses: int, column: int | None = None) -> WorstCase:
        counts = np.zeros((2, self.cells), dtype=np.int64)
        counts[:, :3] = gains, loses, self.n - 1 - gains - loses
        counts[[0, 1], [0, 1]] += 1
        return WorstCase(value, composition_rank(counts[0]), composition_rank(counts[1]), column)

    def worst_log_odds(self) -> WorstCase:
        """ε from n = 3 rows on; less below, where the clamp hides part of it."""
        cases, log_odds = [], self.one_cell.log_odds(np.arange(min(self.n, 2)), np.arange(self.n + 1))
        for gained, lost in self._shared_counts():
            up, down = -log_odds[gained], log_odds[lost]
            best = int(np.argmax(up)), int(np.argmax(down))
            column = (best[0] * (self.n + 1) + best[1]) * (self.n + 1) ** (self.cells - 2)
            cases.append(self._case(float(up[best[0]] + down[best[1]]), gained, lost, column))
        return max(cases, key=lambda case: case.value)
