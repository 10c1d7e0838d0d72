"""The multinomial plug-ins: synthetic rows of k cells drawn from the posterior mean or mode of the proportions."""

from dataclasses import dataclass

import numpy as np

from dpviz.core.numerics.sums import log_multinomials
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import parameter
from dpviz.mechanisms.cell_pairs import PlugInCells
from dpviz.mechanisms.cells import PRIOR_ROWS_IN_A_CELL, PriorCellSynthesizer
from dpviz.mechanisms.plug_ins import ABOVE_ONE, PosteriorMean, PosteriorMode
from dpviz.mechanisms.prior import PRIOR_ONES


@dataclass(frozen=True, kw_only=True)
class MultinomialPlugIn(PriorCellSynthesizer):
    """Multinomial(m, θ) with θ_c = (n_c + a_c) / (n + Σ a_c), a the effective prior."""

    pair_type = PlugInCells

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        released = self.column_counts[columns]
        log_theta = np.log((self.row_counts[rows] + self.weights) / (self.n + self.weights.sum()))
        value: FloatArray = log_theta @ released.T.astype(float)
        value += log_multinomials(self.m, *released.T).total()
        return value

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        (gains, loses, gained, lost), weights = self._moved(pairs), self.weights
        step, pair = np.zeros((len(pairs), self.cells)), np.arange(len(pairs))
        step[pair, gains] = np.log1p(1 / (gained + weights[gains]))
        step[pair, loses] = -np.log1p(1 / (lost + weights[loses]))
        value: FloatArray = step @ self.column_counts[columns].T.astype(float)
        return value


@dataclass(frozen=True, kw_only=True)
class MultinomialMean(MultinomialPlugIn):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c) / (n + Σ α_c).

    Source: Zheng (2015), Theorem 6.21; synthpop 1.9-2, ``syn.catall(noisetype = "Exponential")``, α = N / (e^ε − 1).
    """

    key = "multinomial_mean"
    label = "Posterior-mean plug-in (k cells)"
    formula = r"m \sim \mathrm{Multinomial}\!\left(m,\ \frac{n_c+\alpha}{n+k\alpha}\right)"
    source = "Zheng (2015), Theorem 6.21"
    color = "magenta"
    kept_by = finding = opendp = ""
    releases = (
        "One set of m rows drawn with the posterior mean of the shares. Enough rows are invented in every category "
        "that this keeps ε, all of which it spends."
    )
    several_sets = False
    two_cells = PosteriorMean


@dataclass(frozen=True, kw_only=True)
class MultinomialMode(MultinomialPlugIn):
    """Pr(m | n) = m! Π θ_c^{m_c} / m_c! with θ_c = (n_c + α_c − 1) / (n + Σ α_c − k): Zheng (2015), Theorem 6.22.

    >>> MultinomialMode(n=1, m=1, cells=3, alpha=2).transition_matrix().round(6).tolist()
    [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    """

    key = "multinomial_mode"
    label = "Posterior-mode plug-in (k cells)"
    formula = r"m \sim \mathrm{Multinomial}\!\left(m,\ \frac{n_c+\alpha-1}{n+k\alpha-k}\right)"
    source = "Zheng (2015), Theorem 6.22"
    color = "pink"
    kept_by = ""
    two_cells = PosteriorMode
    compared_as = "multinomial_mean"

    alpha: float | tuple[float, ...] = parameter(PRIOR_ONES, **PRIOR_ROWS_IN_A_CELL, **ABOVE_ONE)
