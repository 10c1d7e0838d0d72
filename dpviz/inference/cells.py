"""The exact posterior of the proportions of k cells given synthetic counts: a mixture of Dirichlet distributions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpviz import limits
from dpviz.analysis import GAMMA_ONES, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.checked import checked
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.confidential import checked_counts, normalized
from dpviz.numerics.multisets import composition_count, compositions
from dpviz.numerics.sums import SplitSum, log_rising_ratio
from dpviz.parameters import SUPERSCRIPTS, Parameter
from dpviz.synthesizers.prior import PRIOR_ONES
from dpviz.types import FloatArray, IntArray

GAMMA = replace(GAMMA_ONES, name="gamma", symbol="γ", title="Analyst's prior in a cell", per_cell=True)
ALPHA = replace(PRIOR_ONES, title="Prior rows in a cell", per_cell=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PosteriorCells:
    """Σ_x w_x Dirichlet(γ + x), the posterior of k proportions; `tables` are all x of n rows, shape (tables, k)."""

    tables: IntArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    gamma: FloatArray

    @property
    def expected_table(self) -> FloatArray:
        """E[x | release], shape (k,)."""
        return self.weights @ self.tables

    @checked()
    def marginal(self, cell: int) -> BetaMixture:
        """Return the posterior of one proportion, Σ_c Pr(x_cell = c) Beta(γ_cell + c, A − γ_cell − c), A = n + Σ γ."""
        if cell not in range(len(self.gamma)):
            raise ValueError(f"cell must be a whole number from 0 to {len(self.gamma) - 1}; got {cell!r}.")
        count = np.arange(int(self.tables[0].sum()) + 1)
        law: FloatArray = np.zeros(len(count))
        np.add.at(law, self.tables[:, cell], self.weights)
        others = float(np.delete(self.gamma, cell).sum())
        return BetaMixture(first=float(self.gamma[cell]) + count, second=others + count[::-1], weights=law)


@checked(n=POSTERIOR_ROWS)
def posterior_cells(
    *, synthetic_counts: Sequence[Sequence[int]] | IntArray, n: int,
    alpha: float | Sequence[float], gamma: float | Sequence[float] = 1.0,
) -> PosteriorCells:  # fmt: skip
    """The posterior of the proportions of k cells after M sets of the Dirichlet-multinomial synthesizer, exactly.

    π ~ Dirichlet(γ), x ~ Multinomial(n, π), each released table ~ Dirichlet-multinomial(m, α + x): the posterior is
    Σ_x w_x Dirichlet(γ + x) over all tables x of n rows, at most 2,000,000. M rows of k counts have the same total m;
    `alpha` and `gamma`, the priors of the synthesizer and of the analyst, are one number or one for each cell.
    Source: Charest (2011), §5: the model is easily adapted to a vector of counts.

    >>> post = posterior_cells(synthetic_counts=[[1, 0, 0]], n=1, alpha=1.0)
    >>> post.expected_table.round(6).tolist(), round(post.marginal(0).mean, 6)
    ([0.5, 0.25, 0.25], 0.375)
    """
    released = checked_counts(synthetic_counts, limits.POSTERIOR_ROWS)
    if released.ndim != 2 or released.shape[1] < 2:
        wanted = "one row of at least 2 counts for each set"
        raise ValueError(f"synthetic_counts must have {wanted}; got shape {released.shape}.")
    totals = released.sum(axis=1)
    low, high = totals.min(), totals.max()
    if low != high:
        raise ValueError(f"synthetic_counts must have the same total in every set; got {low:,} and {high:,}.")
    m, cells = int(POSTERIOR_SYNTHETIC_ROWS.check(int(totals[0]))), released.shape[1]
    number = composition_count(n, cells)
    if number > limits.LISTED_TABLES:
        power = str(math.floor(math.log10(number)))
        said = f"{number:,}" if number < 10**15 else f"more than 10{power.translate(SUPERSCRIPTS)}"
        raise ValueError(
            f"n = {n:,} rows in {cells:,} cells make {said} confidential tables; the limit is "
            f"{limits.LISTED_TABLES:,}. Set fewer rows or cells."
        )
    priors, gammas = per_cell(ALPHA, alpha, cells), per_cell(GAMMA, gamma, cells)
    tables = compositions(n, cells)
    total = SplitSum(np.zeros(number), np.zeros(number))
    scale = np.zeros(number)
    factorial = log_rising_ratio(1.0, n)
    for cell in range(cells):
        x, prior = np.arange(n + 1), log_rising_ratio(float(priors[cell]), n + m)
        by_count = log_rising_ratio(float(gammas[cell]), n)[x] - factorial[x]
        for count in released[:, cell]:
            by_count = by_count + prior[x + count] - prior[x]
        total = total + by_count[tables[:, cell]]
        scale += tables[:, cell] * np.log(gammas[cell])
    return PosteriorCells(tables=tables, weights=normalized(total.total() + scale), gamma=gammas)


def per_cell(declaration: Parameter, value: float | Sequence[float], cells: int) -> FloatArray:
    """`value` for each of `cells` cells, every one of them checked."""
    given = np.atleast_1d(declaration.check_each(value))
    if given.ndim != 1 or len(given) not in (1, cells):
        raise ValueError(
            f"{declaration.name} ({declaration.title.lower()}) must be one number or {cells} of them; got {value!r}."
        )
    return np.broadcast_to(given, (cells,))
