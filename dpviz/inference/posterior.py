"""The exact posterior of a proportion, or of k, given synthetic counts whose making is known: a mixture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.core.formatting import SUPERSCRIPTS
from dpviz.core.numerics.combinatorics import composition_count, compositions
from dpviz.core.numerics.special import log_rising_ratio
from dpviz.core.parameters import Parameter, argument
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.confidential import log_prior_counts, normalized, one_release
from dpviz.inference.sum_distribution import checked_counts
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES


class PosteriorMixture(BetaMixture):
    """Σ_x w_x Beta(γ1 + x, γ2 + n − x), the posterior of p; `weights` are Pr(x = 0 … n | release)."""

    @property
    def expected_count(self) -> float:
        """E[x | release]: the confidential count that the release points to."""
        return float(self.weights @ np.arange(len(self.weights)))


def posterior_mixture(
    *,
    synthetic_counts: Sequence[int] | IntArray,
    n: int,
    m: int,
    alpha: float,
    beta: float,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
) -> PosteriorMixture:
    """Return the posterior of p after M sets of the Beta-binomial synthesizer, exactly.

    p ~ Beta(γ1, γ2), x ~ Binomial(n, p), x̃_j ~ BetaBinomial(m, α + x, β + n − x): p | x̃ is Σ_x w_x Beta(γ1 + x,
    γ2 + n − x) with w_x ∝ BetaBinomial(x; n, γ1, γ2) Π_j BetaBinomial(x̃_j; m, α + x, β + n − x), right to about 1e-12.
    Source: Charest (2011), §4, where the same posterior is sampled by MCMC.

    >>> post = posterior_mixture(synthetic_counts=[1], n=1, m=1, alpha=1, beta=1)
    >>> post.weights.round(6).tolist(), round(post.mean, 6)  # 2/3 · 2/3 + 1/3 · 1/3
    ([0.333333, 0.666667], 0.555556)
    """
    release = BetaBinomial.up_to(limits.MAX_POSTERIOR_ROWS)(n=n, m=m, alpha=alpha, beta=beta)
    return posterior_given(release, synthetic_counts, gamma1=gamma1, gamma2=gamma2)


def posterior_given(
    synthesizer: TwoCellSynthesizer,
    synthetic_counts: Sequence[int] | IntArray,
    *,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
) -> PosteriorMixture:
    """The posterior of p after M sets of any two-cell synthesizer: w_x ∝ BetaBinomial(x; n, γ1, γ2) Π_j T[x, x̃_j].

    A ValueError where no confidential count can release these. Source: Charest (2011), §4, for the Beta-binomial.

    >>> from dpviz.mechanisms.matrix_mechanism import GivenMatrix
    >>> blurred = GivenMatrix(probabilities=np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> posterior_given(blurred, [1]).weights.round(12).tolist()
    [0.25, 0.75]
    """
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    counts, n = one_release(synthetic_counts, synthesizer.m), synthesizer.n
    x = np.arange(n + 1)
    weights = normalized(synthesizer.log_likelihood(counts) + log_prior_counts(x, n, gamma1, gamma2))
    return PosteriorMixture(first=gamma1 + x, second=gamma2 + (n - x), weights=weights)


def posterior_if_known(*, confidential_count: int, n: int, gamma1: float = 1.0, gamma2: float = 1.0) -> BetaMixture:
    """Beta(γ1 + x, γ2 + n − x): the posterior of an analyst who sees the confidential count x itself.

    Source: Charest (2011), §4, the "true posterior distribution".

    >>> round(posterior_if_known(confidential_count=30, n=100).mean, 4)  # 31/102
    0.3039
    """
    n = POSTERIOR_ROWS.validate(n)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    count = argument("confidential_count", 0, n, integer=True, domain_text=f"a whole number from 0 to n = {n:,}")
    return _single(count.validate(confidential_count), n, gamma1, gamma2)


def posterior_if_real(
    synthetic_counts: Sequence[int] | IntArray, *, m: int, gamma1: float = 1.0, gamma2: float = 1.0
) -> BetaMixture:
    """Beta(γ1 + Σ x̃_j, γ2 + M m − Σ x̃_j): the naive posterior, all M m synthetic rows taken for real rows of data.

    Source: Bayes's rule for rows that would be real; Charest (2011), §1, on analyses that ignore how data were made.

    >>> round(posterior_if_real([1, 0], m=1).mean, 12)  # Beta(2, 2)
    0.5
    """
    m = POSTERIOR_SYNTHETIC_ROWS.validate(m)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    counts = one_release(synthetic_counts, m)
    return _single(int(counts.sum()), len(counts) * m, gamma1, gamma2)


def _single(ones: int, rows: int, gamma1: float, gamma2: float) -> BetaMixture:
    return BetaMixture(
        first=np.array([gamma1 + ones]), second=np.array([gamma2 + (rows - ones)]), weights=np.array([1.0])
    )


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

    def marginal(self, cell: int) -> BetaMixture:
        """Return the posterior of one proportion, Σ_c Pr(x_cell = c) Beta(γ_cell + c, A − γ_cell − c), A = n + Σ γ."""
        cell = argument("cell", 0, len(self.gamma) - 1, integer=True).validate(cell)
        count = np.arange(int(self.tables[0].sum()) + 1)
        distribution: FloatArray = np.zeros(len(count))
        np.add.at(distribution, self.tables[:, cell], self.weights)
        others = float(np.delete(self.gamma, cell).sum())
        return BetaMixture(first=float(self.gamma[cell]) + count, second=others + count[::-1], weights=distribution)


def posterior_cells(
    *,
    synthetic_counts: Sequence[Sequence[int]] | IntArray,
    n: int,
    alpha: float | Sequence[float],
    gamma: float | Sequence[float] = 1.0,
) -> PosteriorCells:
    """The posterior of the proportions of k cells after M sets of the Dirichlet-multinomial synthesizer, exactly.

    π ~ Dirichlet(γ), x ~ Multinomial(n, π), each released table ~ Dirichlet-multinomial(m, α + x): the posterior is
    Σ_x w_x Dirichlet(γ + x) over all tables x of n rows, at most 2,000,000. M rows of k counts have the same total m;
    `alpha` and `gamma`, the priors of the synthesizer and of the analyst, are one number or one for each cell.
    Source: Charest (2011), §5: the model is easily adapted to a vector of counts.

    >>> post = posterior_cells(synthetic_counts=[[1, 0, 0]], n=1, alpha=1.0)
    >>> post.expected_table.round(6).tolist(), round(post.marginal(0).mean, 6)
    ([0.5, 0.25, 0.25], 0.375)
    """
    n = POSTERIOR_ROWS.validate(n)
    released = checked_counts(synthetic_counts, limits.MAX_POSTERIOR_ROWS)
    if released.ndim != 2 or released.shape[1] < 2:
        wanted = "one row of at least 2 counts for each set"
        raise ValueError(f"synthetic_counts must have {wanted}; got shape {released.shape}.")
    totals = released.sum(axis=1)
    low, high = totals.min(), totals.max()
    if low != high:
        raise ValueError(f"synthetic_counts must have the same total in every set; got {low:,} and {high:,}.")
    m, cells = int(POSTERIOR_SYNTHETIC_ROWS.validate(int(totals[0]))), released.shape[1]
    number = composition_count(n, cells)
    if number > limits.MAX_LISTED_TABLES:
        power = str(math.floor(math.log10(number)))
        said = f"{number:,}" if number < 10**15 else f"more than 10{power.translate(SUPERSCRIPTS)}"
        raise ValueError(
            f"n = {n:,} rows in {cells:,} cells make {said} confidential tables; the limit is "
            f"{limits.MAX_LISTED_TABLES:,}. Set fewer rows or cells."
        )
    priors, gammas = per_cell(ALPHA, alpha, cells), per_cell(GAMMA, gamma, cells)
    tables = compositions(n, cells)
    total = np.zeros(number, dtype=np.longdouble)
    scale = np.zeros(number)
    factorial = log_rising_ratio(1.0, n)
    for cell in range(cells):
        x, prior = np.arange(n + 1), log_rising_ratio(float(priors[cell]), n + m)
        by_count = log_rising_ratio(float(gammas[cell]), n)[x] - factorial[x]
        for count in released[:, cell]:
            by_count = by_count + prior[x + count] - prior[x]
        total = total + by_count[tables[:, cell]]
        scale += tables[:, cell] * np.log(gammas[cell])
    return PosteriorCells(tables=tables, weights=normalized(total.astype(float) + scale), gamma=gammas)


def per_cell(declaration: Parameter, value: float | Sequence[float], cells: int) -> FloatArray:
    """`value` for each of `cells` cells, every one of them checked."""
    given = np.atleast_1d(declaration.validate_array(value))
    if given.ndim != 1 or len(given) not in (1, cells):
        raise ValueError(
            f"{declaration.name} ({declaration.title.lower()}) must be one number or {cells} of them; got {value!r}."
        )
    return np.broadcast_to(given, (cells,))
