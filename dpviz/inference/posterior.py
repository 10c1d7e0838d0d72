"""Exact posterior of a proportion, or of k, given synthetic counts whose mechanism is known: mixtures of betas.

The model is that of Charest (2011), section 4, where the same posterior is sampled by MCMC: p ~ Beta(γ1, γ2),
x ~ Binomial(n, p), and each released count from row x of the mechanism's matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.core.formatting import describe_value, format_large_count
from dpviz.core.numerics.combinatorics import composition_count, compositions
from dpviz.core.numerics.special import log_beta, log_rising_ratio
from dpviz.core.parameters import Parameter, argument
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.sum_distribution import checked_counts
from dpviz.mechanisms import BetaBinomial, TwoCellSynthesizer
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES

IMPOSSIBLE_RELEASE = (
    "The synthetic counts cannot all come from one confidential table under this synthesizer: for every x, one of them "
    "has probability 0, so that the posterior does not exist. Check the counts and the zeros of the matrix."
)
GAMMA = replace(GAMMA_ONES, name="gamma", symbol="γ", title="Analyst's prior in a cell", per_cell=True)
ALPHA = replace(PRIOR_ONES, title="Prior rows in a cell", per_cell=True)


def log_prior_counts(x: IntArray, n: IntArray | int, gamma1: float, gamma2: float) -> FloatArray:
    """ln BetaBinomial(x; n, γ1, γ2), the analyst's prior of the confidential count.

    Parameters
    ----------
    x, n : ndarray of int
        Their shapes broadcast.
    gamma1, gamma2 : float
    """
    n = np.asarray(n)
    prior = float(log_beta(np.array([gamma1]), np.array([gamma2]))[0])
    return log_beta(gamma1 + x, gamma2 + (n - x)) - prior - log_beta(1.0 + x, 1.0 + (n - x)) - np.log(n + 1)


def normalized(log_weights: FloatArray) -> FloatArray:
    """Probabilities from logarithms, along the last axis; a ValueError where all of a row are −∞."""
    largest = log_weights.max(axis=-1, keepdims=True)
    if np.isneginf(largest).any():
        raise ValueError(IMPOSSIBLE_RELEASE)
    with np.errstate(under="ignore"):
        weights: FloatArray = np.exp(log_weights - largest)
    return weights / weights.sum(axis=-1, keepdims=True)


def checked_release(counts: object, m: int, gamma1: float, gamma2: float) -> tuple[IntArray, float, float]:
    """M counts and the analyst's prior, all checked.

    Parameters
    ----------
    counts, m, gamma1, gamma2
        As in `posterior_mixture`.
    """
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    checked = checked_counts(counts, m)
    if checked.ndim != 1:
        raise ValueError(f"synthetic_counts must be a list of counts, one for each set; got {describe_value(counts)}.")
    return checked, gamma1, gamma2


def posterior_mixture(
    *, synthetic_counts: Sequence[int] | IntArray, n: int, m: int, alpha: float, beta: float, gamma1: float = 1.0,
    gamma2: float = 1.0,
) -> BetaMixture:  # fmt: skip
    """Posterior of p after M sets of the Beta-binomial synthesizer.

    Parameters
    ----------
    synthetic_counts, gamma1, gamma2
        As in `posterior_given`.
    n, m, alpha, beta
        As in `BetaBinomial`.

    Examples
    --------
    >>> post = posterior_mixture(synthetic_counts=[1], n=1, m=1, alpha=1, beta=1)
    >>> post.weights.round(6).tolist(), round(post.mean, 6)  # 2/3 · 2/3 + 1/3 · 1/3
    ([0.333333, 0.666667], 0.555556)
    """
    release = BetaBinomial.up_to(limits.MAX_POSTERIOR_ROWS)(n=n, m=m, alpha=alpha, beta=beta)
    return posterior_given(release, synthetic_counts, gamma1=gamma1, gamma2=gamma2)


def posterior_given(
    synthesizer: TwoCellSynthesizer, synthetic_counts: Sequence[int] | IntArray, *, gamma1: float = 1.0,
    gamma2: float = 1.0,
) -> BetaMixture:  # fmt: skip
    """Posterior of p after M sets of any two-cell synthesizer.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    synthetic_counts : sequence of int
        M released counts x̃_j from 0 to m; a ValueError where no confidential count can release them.
    gamma1, gamma2 : float, default 1
        Prior of the analyst.

    Notes
    -----
    It is Σ_x w_x Beta(γ1 + x, γ2 + n − x), w_x = Pr(x | release) ∝ BetaBinomial(x; n, γ1, γ2) Π_j T[x, x̃_j], T the
    transition matrix.

    Examples
    --------
    >>> from dpviz.mechanisms.matrix_mechanism import GivenMatrix
    >>> blurred = GivenMatrix(probabilities=np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> posterior_given(blurred, [1]).weights.round(12).tolist()
    [0.25, 0.75]
    """
    counts, gamma1, gamma2 = checked_release(synthetic_counts, synthesizer.m, gamma1, gamma2)
    x = np.arange(synthesizer.n + 1)
    log_prior = log_prior_counts(x, synthesizer.n, gamma1, gamma2)
    weights = normalized(synthesizer.log_likelihood(counts) + log_prior)
    return BetaMixture(a=gamma1 + x, b=gamma2 + x[::-1], weights=weights)


def posterior_if_known(*, confidential_count: int, n: int, gamma1: float = 1.0, gamma2: float = 1.0) -> BetaMixture:
    """Posterior Beta(γ1 + x, γ2 + n − x) of who sees x itself, the true posterior of Charest (2011), section 4.

    Parameters
    ----------
    confidential_count : int
        x, from 0 to n.
    n, gamma1, gamma2
        As in `posterior_mixture`.
    """
    n = POSTERIOR_ROWS.validate(n)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    count = argument("confidential_count", 0, n, integer=True, domain_text=f"a whole number from 0 to n = {n:,}")
    return _single(count.validate(confidential_count), n, gamma1, gamma2)


def posterior_if_real(
    synthetic_counts: Sequence[int] | IntArray, *, m: int, gamma1: float = 1.0, gamma2: float = 1.0
) -> BetaMixture:
    """Naive posterior Beta(γ1 + Σ x̃_j, γ2 + Mm − Σ x̃_j), all Mm synthetic rows taken for real ones.

    Parameters
    ----------
    synthetic_counts, m, gamma1, gamma2
        As in `posterior_mixture`.
    """
    m = POSTERIOR_SYNTHETIC_ROWS.validate(m)
    counts, gamma1, gamma2 = checked_release(synthetic_counts, m, gamma1, gamma2)
    return _single(int(counts.sum()), len(counts) * m, gamma1, gamma2)


def _single(count: int, rows: int, gamma1: float, gamma2: float) -> BetaMixture:
    return BetaMixture(a=np.array([gamma1 + count]), b=np.array([gamma2 + (rows - count)]), weights=np.array([1.0]))


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
        """Posterior of one proportion, Σ_c Pr(x_cell = c) Beta(γ_cell + c, A − γ_cell − c), A = n + Σ γ."""
        cell = argument("cell", 0, len(self.gamma) - 1, integer=True).validate(cell)
        counts = np.arange(int(self.tables[0].sum()) + 1)
        weights = np.bincount(self.tables[:, cell], self.weights, len(counts)).astype(float)
        rest = float(np.delete(self.gamma, cell).sum())
        return BetaMixture(a=float(self.gamma[cell]) + counts, b=rest + counts[::-1], weights=weights)


def posterior_cells(
    *, synthetic_counts: Sequence[Sequence[int]] | IntArray, n: int, alpha: float | Sequence[float],
    gamma: float | Sequence[float] = 1.0,
) -> PosteriorCells:  # fmt: skip
    """Posterior of the proportions of k cells after M sets of the Dirichlet-multinomial synthesizer.

    Parameters
    ----------
    synthetic_counts : array_like of int, shape (M, k)
        Released tables, all with the same total m.
    n : int
        Confidential rows; there are at most 2,000,000 tables of n rows in k cells.
    alpha, gamma : float or sequence of float
        Priors of the synthesizer and of the analyst, one number or one for each cell.

    Notes
    -----
    π ~ Dirichlet(γ), x ~ Multinomial(n, π), each released table ~ Dirichlet-multinomial(m, α + x), summed over all x:
    the vector of counts of Charest (2011), section 5.

    Examples
    --------
    >>> post = posterior_cells(synthetic_counts=[[1, 0, 0]], n=1, alpha=1.0)
    >>> post.expected_table.round(6).tolist(), round(post.marginal(0).mean, 6)
    ([0.5, 0.25, 0.25], 0.375)
    """
    n = POSTERIOR_ROWS.validate(n)
    released = checked_counts(synthetic_counts, limits.MAX_POSTERIOR_ROWS)
    if released.ndim != 2 or released.shape[1] < 2:
        raise ValueError(
            f"synthetic_counts must have one row of at least 2 counts for each set; got shape {released.shape}."
        )
    totals = released.sum(axis=1)
    if (low := totals.min()) != (high := totals.max()):
        raise ValueError(f"synthetic_counts must have the same total in every set; got {low:,} and {high:,}.")
    m = int(POSTERIOR_SYNTHETIC_ROWS.validate(int(totals[0])))
    cells = released.shape[1]
    if (number := composition_count(n, cells)) > limits.MAX_LISTED_TABLES:
        raise ValueError(
            f"n = {n:,} rows in {cells:,} cells make {format_large_count(number)} confidential tables; the limit is "
            f"{limits.MAX_LISTED_TABLES:,}. Set fewer rows or cells."
        )
    priors = _per_cell(ALPHA, alpha, cells)
    gammas = _per_cell(GAMMA, gamma, cells)

    # Every cell contributes by its count alone
    tables = compositions(n, cells)
    x = np.arange(n + 1)
    total = np.zeros(len(tables), dtype=np.longdouble)
    factorial = log_rising_ratio(1.0, n)
    for cell in range(cells):
        prior = log_rising_ratio(float(priors[cell]), n + m)
        by_count = log_rising_ratio(float(gammas[cell]), n) - factorial + x * np.log(gammas[cell])
        for count in released[:, cell]:
            by_count = by_count + prior[x + count] - prior[x]
        total += by_count[tables[:, cell]]
    return PosteriorCells(tables=tables, weights=normalized(total.astype(float)), gamma=gammas)


def _per_cell(declaration: Parameter, value: float | Sequence[float], cells: int) -> FloatArray:
    given = np.atleast_1d(declaration.validate_array(value))
    if given.ndim != 1 or len(given) not in (1, cells):
        name = f"{declaration.name} ({declaration.title.lower()})"
        raise ValueError(f"{name} must be one number or {cells} of them; got {describe_value(value)}.")
    return np.broadcast_to(given, (cells,))
