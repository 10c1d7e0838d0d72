"""The exact posterior of a proportion given synthetic counts whose making is known: a mixture of beta distributions."""

from collections.abc import Sequence

import numpy as np

from dpviz import limits
from dpviz.analysis import GAMMA_ONES, GAMMA_ZEROS, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.checked import checked
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.confidential import log_prior_counts, normalized, one_release
from dpviz.synthesizers import BetaBinomial, TwoCellSynthesizer
from dpviz.types import IntArray


class PosteriorMixture(BetaMixture):
    """Σ_x w_x Beta(γ1 + x, γ2 + n − x), the posterior of p; `weights` are Pr(x = 0 … n | release)."""

    @property
    def expected_count(self) -> float:
        """E[x | release]: the confidential count that the release points to."""
        return float(self.weights @ np.arange(len(self.weights)))


def posterior_mixture(
    *, synthetic_counts: Sequence[int] | IntArray, n: int, m: int, alpha: float, beta: float,
    gamma1: float = 1.0, gamma2: float = 1.0,
) -> PosteriorMixture:  # fmt: skip
    """Return the posterior of p after M sets of the Beta-binomial synthesizer, exactly.

    p ~ Beta(γ1, γ2), x ~ Binomial(n, p), x̃_j ~ BetaBinomial(m, α + x, β + n − x): p | x̃ is Σ_x w_x Beta(γ1 + x,
    γ2 + n − x) with w_x ∝ BetaBinomial(x; n, γ1, γ2) Π_j BetaBinomial(x̃_j; m, α + x, β + n − x), right to about 1e-12.
    Source: Charest (2011), §4, where the same posterior is sampled by MCMC.

    >>> post = posterior_mixture(synthetic_counts=[1], n=1, m=1, alpha=1, beta=1)
    >>> post.weights.round(6).tolist(), round(post.mean, 6)  # 2/3 · 2/3 + 1/3 · 1/3
    ([0.333333, 0.666667], 0.555556)
    """
    release = BetaBinomial.up_to(limits.POSTERIOR_ROWS)(n=n, m=m, alpha=alpha, beta=beta)
    return posterior_given(release, synthetic_counts, gamma1=gamma1, gamma2=gamma2)


@checked(gamma1=GAMMA_ONES, gamma2=GAMMA_ZEROS)
def posterior_given(
    synthesizer: TwoCellSynthesizer, synthetic_counts: Sequence[int] | IntArray, *,
    gamma1: float = 1.0, gamma2: float = 1.0,
) -> PosteriorMixture:  # fmt: skip
    """The posterior of p after M sets of any two-cell synthesizer: w_x ∝ BetaBinomial(x; n, γ1, γ2) Π_j T[x, x̃_j].

    A ValueError where no confidential count can release these. Source: Charest (2011), §4, for the Beta-binomial.

    >>> from dpviz.synthesizers.given_matrix import GivenMatrix
    >>> blurred = GivenMatrix(probabilities=np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> posterior_given(blurred, [1]).weights.round(12).tolist()
    [0.25, 0.75]
    """
    counts, n = one_release(synthetic_counts, synthesizer.m), synthesizer.n
    x = np.arange(n + 1)
    weights = normalized(synthesizer.log_likelihood(counts) + log_prior_counts(x, n, gamma1, gamma2))
    return PosteriorMixture(first=gamma1 + x, second=gamma2 + (n - x), weights=weights)


@checked(n=POSTERIOR_ROWS, gamma1=GAMMA_ONES, gamma2=GAMMA_ZEROS)
def posterior_if_known(*, confidential_count: int, n: int, gamma1: float = 1.0, gamma2: float = 1.0) -> BetaMixture:
    """Beta(γ1 + x, γ2 + n − x): the posterior of an analyst who sees the confidential count x itself.

    Source: Charest (2011), §4, the "true posterior distribution".

    >>> round(posterior_if_known(confidential_count=30, n=100).mean, 4)  # 31/102
    0.3039
    """
    if not 0 <= confidential_count <= n:
        raise ValueError(f"confidential_count must be a whole number from 0 to n = {n:,}; got {confidential_count!r}.")
    return _single(confidential_count, n, gamma1, gamma2)


@checked(m=POSTERIOR_SYNTHETIC_ROWS, gamma1=GAMMA_ONES, gamma2=GAMMA_ZEROS)
def posterior_if_real(
    synthetic_counts: Sequence[int] | IntArray, *, m: int, gamma1: float = 1.0, gamma2: float = 1.0
) -> BetaMixture:
    """Beta(γ1 + Σ x̃_j, γ2 + M m − Σ x̃_j): the naive posterior, all M m synthetic rows taken for real rows of data.

    Source: Bayes's rule for rows that would be real; Charest (2011), §1, on analyses that ignore how data were made.

    >>> round(posterior_if_real([1, 0], m=1).mean, 12)  # Beta(2, 2)
    0.5
    """
    counts = one_release(synthetic_counts, m)
    return _single(int(counts.sum()), len(counts) * m, gamma1, gamma2)


def _single(ones: int, rows: int, gamma1: float, gamma2: float) -> BetaMixture:
    return BetaMixture(
        first=np.array([gamma1 + ones]), second=np.array([gamma2 + (rows - ones)]), weights=np.array([1.0])
    )
