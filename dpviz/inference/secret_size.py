"""Posterior of a proportion and of the number of confidential rows, which is unknown as well."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import gammaln

from dpviz.core import limits
from dpviz.core.declarations import POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.parameters import argument, validate_choice
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import checked_release, log_prior_counts, normalized
from dpviz.mechanisms.beta_binomial import beta_binomial_log_likelihood
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS

LOW = replace(POSTERIOR_ROWS, name="low", title="Fewest rows thought possible")
HIGH = replace(POSTERIOR_ROWS, name="high", title="Most rows thought possible")
GUESSED = argument(
    "guess", 0, 1e308, title="expected number of rows", open_minimum=True, domain_text="a positive number"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SizePrior:
    """Prior of n over a range of whole numbers; `label` is the prior in words, with its range."""

    label: str
    sizes: IntArray = field(repr=False)
    weights: FloatArray = field(repr=False)

    @property
    def phrase(self) -> str:
        """Phrase after "An analyst who"."""
        low, high = self.sizes[[0, -1]]
        return f"takes n to be {low:,}" if low == high else f"knows only that n lies between {low:,} and {high:,}"


GUESS = "around a guess"
SIZE_PRIORS: dict[str, tuple[str, Callable[[IntArray, float], FloatArray]]] = {
    "uniform": ("uniform", lambda sizes, _: np.zeros(len(sizes))),
    GUESS: ("Poisson around {guess},", lambda sizes, guess: sizes * math.log(guess) - gammaln(sizes + 1)),
    "uniform in log n": ("as 1/n", lambda sizes, _: -np.log(sizes)),
}
"""Priors of n by name: their words, and ln Pr(n) up to a constant, a function of n and of a guess."""


def size_prior(kind: str, low: int, high: int, guess: float = 1.0) -> SizePrior:
    """Prior of n from `low` to `high`: uniform, Poisson(`guess`), or uniform in ln n.

    Parameters
    ----------
    kind : str
        Key of `SIZE_PRIORS`.
    low, high : int
    guess : float
        Mean of the Poisson distribution.

    Examples
    --------
    >>> size_prior("around a guess", 1, 2, 2.0).weights.round(12).tolist()  # 2 e⁻² each
    [0.5, 0.5]
    """
    validate_choice("kind", kind, SIZE_PRIORS)
    low = LOW.validate(low)
    high = HIGH.validate(high)
    guess = GUESSED.validate(guess)
    if low > high:
        raise ValueError(f"low (fewest rows thought possible) must be at most high = {high:,}; got {low:,}.")
    words, log_weights = SIZE_PRIORS[kind]
    sizes = np.arange(low, high + 1)
    label = f"{words.format(guess=format_number(guess))} from {format_number(low)} to {format_number(high)} rows"
    return SizePrior(label=label, sizes=sizes, weights=normalized(log_weights(sizes, guess)))


def range_around(n: int) -> tuple[int, int]:
    """Range n/2 to 2n, or as far below n as all sizes can be summed, and as far above.

    >>> range_around(100), range_around(1_001), range_around(9_990)
    ((50, 200), (501, 1501), (9900, 10000))
    """
    n = POSTERIOR_ROWS.validate(n)
    if n <= 1000:  # all sizes can be summed
        return (n + 1) // 2, 2 * n
    side = (limits.MAX_LISTED_TABLES // 2 - limits.MAX_LISTED_TABLES // 20) // n  # nine tenths of the limit
    side = min(side, n // 2)
    return n - side, min(n + side, int(POSTERIOR_ROWS.maximum))


@dataclass(frozen=True, kw_only=True, eq=False)
class SecretSizePosterior(BetaMixture):
    """Posterior of p with n unknown, and that of n: `size_weights` are Pr(n | release) of `prior.sizes`."""

    prior: SizePrior
    size_weights: FloatArray = field(repr=False)

    @property
    def expected_size(self) -> float:
        """E[n | release]."""
        return float(self.size_weights @ self.prior.sizes)

    def doubts(self, n: int) -> list[str]:
        """Sentences on a range that leaves out the true n, or at whose ends the posterior of n piles up."""
        low, high = int(self.prior.sizes[0]), int(self.prior.sizes[-1])
        sentences = []
        if not low <= n <= high:
            left_out = f"The range from {low:,} to {high:,} <b>leaves out the true n = {n:,}</b>"
            sentences.append(f"{left_out}, so that the answer cannot be relied on.")
        is_raised = self.size_weights > 3 * self.prior.weights
        piled = [f"{end:,}" for end, place in ((low, 0), (high, -1)) if low < high and is_raised[place]]
        if piled:
            sentences.append(f"The posterior of n piles up at n = {' and '.join(piled)}, where the range ends.")
        return sentences


def posterior_secret_n(
    *, synthetic_counts: Sequence[int] | IntArray, m: int, alpha: float, beta: float, prior: SizePrior,
    gamma1: float = 1.0, gamma2: float = 1.0,
) -> SecretSizePosterior:  # fmt: skip
    """Posterior of p and of n after M sets of the Beta-binomial synthesizer, n unknown.

    Parameters
    ----------
    synthetic_counts, m, alpha, beta, gamma1, gamma2
        As in `posterior_mixture`.
    prior : SizePrior
        Prior of n, whose range has at most 2,000,000 pairs (n, x).

    Notes
    -----
    w_{n,x} ∝ Pr(n) BetaBinomial(x; n, γ1, γ2) Π_j BetaBinomial(x̃_j; m, α + x, β + n − x): a prior of n is the further
    level of the model that Charest (2011), section 5, proposes. α = m / (e^ε − 1) says nothing about n unless m = n.
    """
    m = POSTERIOR_SYNTHETIC_ROWS.validate(m)
    alpha = PRIOR_ONES.validate(alpha)
    beta = PRIOR_ZEROS.validate(beta)
    counts, gamma1, gamma2 = checked_release(synthetic_counts, m, gamma1, gamma2)
    lengths = prior.sizes + 1
    pairs = int(lengths.sum())
    if pairs > limits.MAX_LISTED_TABLES:
        allowed = f"at most {limits.MAX_LISTED_TABLES:,} pairs of n and x"
        raise ValueError(f"prior (of the number of rows) must span {allowed}; got {pairs:,}. Choose a shorter range.")

    # Pr(n, x | release) of all pairs, one n after the other
    starts = np.cumsum(lengths) - lengths
    n = np.repeat(prior.sizes, lengths)
    x = np.arange(pairs) - np.repeat(starts, lengths)
    log_weights = log_prior_counts(x, n, gamma1, gamma2) + beta_binomial_log_likelihood(counts, x, n, m, alpha, beta)
    with np.errstate(divide="ignore"):
        weights = normalized(log_weights + np.repeat(np.log(prior.weights), lengths))
    mixed = _mix_sizes(np.split(weights, starts[1:]), gamma1, gamma2)
    x = np.arange(len(mixed))
    size_weights = np.add.reduceat(weights, starts)
    return SecretSizePosterior(a=gamma1 + x, b=gamma2 + x[::-1], weights=mixed, prior=prior, size_weights=size_weights)


def _mix_sizes(weights_by_size: list[FloatArray], gamma1: float, gamma2: float) -> FloatArray:
    """Weights, on the components of the largest n, of the mixture whose components of each n, in order, are weighted.

    Beta(a, b) is a/(a + b) Beta(a + 1, b) + b/(a + b) Beta(a, b + 1).
    """
    mixed = np.zeros(len(weights_by_size[0]) - 1)
    for weights in weights_by_size:
        x = np.arange(len(mixed))
        total = gamma1 + gamma2 + (len(mixed) - 1)
        to_larger_b = mixed * (gamma2 + x[::-1]) / total
        to_larger_a = mixed * (gamma1 + x) / total
        mixed = np.append(to_larger_b, 0.0) + np.append(0.0, to_larger_a) + weights
    return mixed
