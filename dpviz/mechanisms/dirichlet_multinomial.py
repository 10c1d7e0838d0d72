"""The Dirichlet-multinomial synthesizer: draw the proportions of k cells from their posterior, then the rows."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.core.numerics.sums import SplitSum, log_multinomials, log_rising
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.beta_binomial import BetaBinomial
from dpviz.mechanisms.cell_pairs import DrawnCells
from dpviz.mechanisms.cells import PriorCellSynthesizer


@dataclass(frozen=True, kw_only=True)
class DirichletMultinomial(PriorCellSynthesizer):
    """Pr(m | n) = m! / Π m_c! · Π (α_c + n_c)(α_c + n_c + 1)…(α_c + n_c + m_c − 1) / (A)(A + 1)…(A + m − 1).

    A = n + Σ α_c. Source: Abowd & Vilhuber (2008), equation (1); releases of m < n rows are those of Menicucci et al.
    (2026), of whom the abstract could be read: it promises more for them than for priors with any number of categories.
    One row in three cells with a flat prior: the same cell comes out with probability 2 / 4.

    >>> DirichletMultinomial(n=1, m=1, cells=3, alpha=1).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "dirichlet_multinomial"
    label = "Dirichlet-multinomial (k cells)"
    formula = (
        r"\pi \sim \mathrm{Dirichlet}(\alpha+n_1,\dots,\alpha+n_k),\quad m \mid \pi \sim \mathrm{Multinomial}(m, \pi)"
    )
    source = "Abowd & Vilhuber (2008), equation (1); Menicucci et al. (2026), arXiv 2606.26073, for m < n"
    color = "blue"
    kept_by = finding = opendp = ""
    releases = (
        "Each set draws the shares of all categories from their posterior and then m rows. It invents as many rows in "
        "every category as its share of ε asks for, and spends exactly that."
    )
    several_sets = True
    two_cells, pair_type = BetaBinomial, DrawnCells

    @cached_property
    def _log_risings(self) -> list[SplitSum]:
        known = {weight: log_rising(weight, self.n + self.m) for weight in set(self.weights.tolist())}
        return [known[weight] for weight in self.weights.tolist()]

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        confidential, released = self.row_counts[rows], self.column_counts[columns]
        value = log_multinomials(self.m, *released.T)[np.arange(len(columns))[None, :]]
        for cell, rising in enumerate(self._log_risings):
            here = confidential[:, cell][:, None]
            value = value + rising[here + released[:, cell][None, :]] - rising[here]
        normalizer = log_rising(float(self.n + self.weights.sum()), self.m)
        return (value - normalizer[np.full((1, 1), self.m)]).total()

    def transition_matrix(self) -> FloatArray:
        """Pr(m | n) as a product of one short table a cell, with no exponential a cell of the matrix.

        They are independent negative binomials given their sum: Pr(m | n) = Π NB(m_c; α_c + n_c, q) / NB(m; A, q)
        with A = n + Σ α_c, q = m / (A + m). Rows that share all but their last two counts are filled together.
        """
        confidential, released = self.row_counts, self.column_counts
        tables = [table.take(released[:, cell], axis=1) for cell, table in enumerate(self._negative_binomials)]
        matrix, start = np.empty(self.shape), 0
        with np.errstate(under="ignore"):
            tables[0] *= math.exp(-self._log_sum_mass)
            while start < len(confidential):
                left = int(confidential[start, -1])
                stop = start + left + 1
                shared = tables[0][confidential[start, 0]]
                for cell in range(1, self.cells - 2):
                    shared = shared * tables[cell][confidential[start, cell]]
                np.multiply(tables[-2][: left + 1], tables[-1][left::-1], out=matrix[start:stop])
                matrix[start:stop] *= shared
                start = stop
        return matrix

    @property
    def _log_shares(self) -> tuple[float, float]:
        """ln q and ln(1 − q) of the negative binomials."""
        total = float(self.n + self.weights.sum())
        return -math.log1p(total / self.m), -math.log1p(self.m / total)

    @property
    def _negative_binomials(self) -> list[FloatArray]:
        """NB(m_c; α_c + n_c, q) of each cell, shape (n + 1, m + 1)."""
        here, counts = np.arange(self.n + 1)[:, None], np.arange(self.m + 1)
        log_share, log_rest = self._log_shares
        factorial, known = log_rising(1.0, self.m), {}
        for weight, rising in zip(self.weights.tolist(), self._log_risings, strict=True):
            if weight not in known:
                log_table = (rising[here + counts] - rising[here] - factorial).total() + counts * log_share
                with np.errstate(under="ignore"):
                    known[weight] = np.exp(log_table + (weight + here) * log_rest)
        return [known[weight] for weight in self.weights.tolist()]

    @property
    def _log_sum_mass(self) -> float:
        """ln NB(m; A, q), the probability of the released total."""
        total, last = float(self.n + self.weights.sum()), np.array([self.m])
        log_share, log_rest = self._log_shares
        coefficient = (log_rising(total, self.m)[last] - log_rising(1.0, self.m)[last]).total()
        return float(coefficient[0]) + self.m * log_share + total * log_rest

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        (gains, loses, gained, lost), released = self._moved(pairs), self.column_counts[columns]
        x, y = self.weights[gains] + gained, self.weights[loses] + lost
        return np.log1p(released[:, gains].T / x[:, None]) - np.log1p(released[:, loses].T / y[:, None])
