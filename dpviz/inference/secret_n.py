"""The posterior of a proportion when the number of confidential rows is secret: a prior on n, and sums over it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.limits import MAX_LISTED_TABLES
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.confidential import log_prior_counts, normalized, one_release
from dpviz.mechanisms.beta_binomial import beta_binomial_log_likelihood
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS

TWICE = 1000  # Rows up to which all sizes from half of n to twice n can be summed
LEANS = 3.0  # times its prior probability that an end of the range has when the posterior of n is said to pile up there
LOW = replace(POSTERIOR_ROWS, name="low", title="Fewest rows thought possible")
GUESSED_ROWS = argument(
    "guess", 0, sys.float_info.max, title="expected number of rows", open_minimum=True, domain_text="a positive number"
)
HIGH = replace(POSTERIOR_ROWS, name="high", title="Most rows thought possible")


def range_around(n: int) -> tuple[int, int]:
    """Fewest and most rows of a range around n: n/2 to 2n, or as far to either side as can be summed.

    >>> range_around(100), range_around(9_990)
    ((50, 200), (9900, 10000))
    """
    n = POSTERIOR_ROWS.validate(n)
    if n <= TWICE:
        return (n + 1) // 2, 2 * n
    side = (MAX_LISTED_TABLES // 2 - MAX_LISTED_TABLES // 20) // n
    return n - side, min(n + side, int(POSTERIOR_ROWS.maximum))


@dataclass(frozen=True, kw_only=True, eq=False)
class SizePrior:
    """A prior of n over a range of whole numbers; `label` is the prior in words, with its range."""

    label: str
    sizes: IntArray = field(repr=False)
    weights: FloatArray = field(repr=False)

    @property
    def believed(self) -> str:
        """What the analyst believes of n, after "An analyst who"."""
        low, high = self.sizes[[0, -1]]
        return f"takes n to be {low:,}" if low == high else f"knows only that n lies between {low:,} and {high:,}"


def uniform_size(low: int, high: int) -> SizePrior:
    """Return the prior under which every n from `low` to `high` is as likely.

    >>> uniform_size(5, 8).weights.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    low = LOW.validate(low)
    high = HIGH.validate(high)
    return _size_prior("uniform from", low, high, lambda sizes: np.zeros(len(sizes)))


def poisson_size(guess: float, low: int, high: int) -> SizePrior:
    """n ~ Poisson(`guess`), cut to `low` … `high`, for an analyst who knows n to about √guess.

    >>> poisson_size(2.0, 1, 2).weights.round(12).tolist()  # 2 e⁻² each
    [0.5, 0.5]
    """
    low = LOW.validate(low)
    high = HIGH.validate(high)
    from scipy.stats import poisson  # it takes long to load, and few ask for it

    guess = GUESSED_ROWS.validate(guess)
    words = f"Poisson around {format_number(guess)}, from"
    return _size_prior(words, low, high, lambda sizes: poisson.logpmf(sizes, guess))


def decade_size(low: int, high: int) -> SizePrior:
    """Pr(n) ∝ 1/n on `low` … `high`: every decade of n about as likely, for an analyst who knows its order alone.

    >>> decade_size(1, 2).weights.round(6).tolist()
    [0.666667, 0.333333]
    """
    low = LOW.validate(low)
    high = HIGH.validate(high)
    return _size_prior("as 1/n from", low, high, lambda sizes: -np.log(sizes))


GUESS = "around a guess"
SIZE_PRIORS: dict[str, Callable[[int, int, int], SizePrior]] = {
    "uniform": lambda low, high, _: uniform_size(low, high),
    GUESS: lambda low, high, guess: poisson_size(guess, low, high),
    "uniform in log n": lambda low, high, _: decade_size(low, high),
}
"""The priors of n by name: functions of the fewest rows, the most, and a guess."""


def _size_prior(words: str, low: int, high: int, log_weights: Callable[[IntArray], FloatArray]) -> SizePrior:
    if low > high:
        raise ValueError(f"low (fewest rows thought possible) must be at most high = {high:,}; got {low:,}.")
    sizes = np.arange(low, high + 1)
    label = f"{words} {format_number(low)} to {format_number(high)} rows"
    return SizePrior(label=label, sizes=sizes, weights=normalized(log_weights(sizes)))


@dataclass(frozen=True, kw_only=True, eq=False)
class SecretSizePosterior(BetaMixture):
    """Σ_n Σ_x w_{n,x} Beta(γ1 + x, γ2 + n − x), the posterior of p with n unknown, and that of n: `size_weights`."""

    prior: SizePrior
    size_weights: FloatArray = field(repr=False)

    @property
    def expected_size(self) -> float:
        """E[n | release]."""
        return float(self.size_weights @ self.prior.sizes)

    @property
    def end_weights(self) -> tuple[float, float]:
        """Posterior probability of the smallest and of the largest n: where it is not small, the range cuts it."""
        return float(self.size_weights[0]), float(self.size_weights[-1])


def posterior_secret_n(
    *,
    synthetic_counts: Sequence[int] | IntArray,
    m: int,
    alpha: float,
    beta: float,
    prior: SizePrior,
    gamma1: float = 1.0,
    gamma2: float = 1.0,
) -> SecretSizePosterior:
    """Return the posterior of p and of n after M sets of the Beta-binomial synthesizer, n unknown, exactly.

    w_{n,x} ∝ Pr(n) BetaBinomial(x; n, γ1, γ2) Π_j BetaBinomial(x̃_j; m, α + x, β + n − x) over the n of the prior's
    range, at most 2,000,000 pairs (n, x). α = m / (e^ε − 1) says nothing about n unless m is made equal to n.
    Source: Charest (2011), §5, proposes a prior on n as another level of the model.

    >>> from dpviz.inference.posterior import posterior_mixture
    >>> design = dict(synthetic_counts=[1], m=1, alpha=1, beta=1)
    >>> secret = posterior_secret_n(**design, prior=uniform_size(1, 1))  # a known n
    >>> round(secret.mean - posterior_mixture(**design, n=1).mean, 12)
    0.0
    """
    m = POSTERIOR_SYNTHETIC_ROWS.validate(m)
    alpha = PRIOR_ONES.validate(alpha)
    beta = PRIOR_ZEROS.validate(beta)
    gamma1 = GAMMA_ONES.validate(gamma1)
    gamma2 = GAMMA_ZEROS.validate(gamma2)
    counts, lengths = one_release(synthetic_counts, m), prior.sizes + 1
    pairs = int(lengths.sum())
    if pairs > MAX_LISTED_TABLES:
        most = f"at most {MAX_LISTED_TABLES:,} pairs of n and x"
        raise ValueError(f"prior (of the number of rows) must span {most}; got {pairs:,}. Choose a shorter range.")
    starts = np.cumsum(lengths) - lengths
    n = np.repeat(prior.sizes, lengths)
    x = np.arange(pairs) - np.repeat(starts, lengths)
    log_weights = log_prior_counts(x, n, gamma1, gamma2) + beta_binomial_log_likelihood(counts, x, n, m, alpha, beta)
    with np.errstate(divide="ignore"):
        weights = normalized(log_weights + np.repeat(np.log(prior.weights), lengths))
    return SecretSizePosterior(
        first=gamma1 + x,
        second=gamma2 + (n - x),
        weights=weights,
        prior=prior,
        size_weights=np.add.reduceat(weights, starts),
    )


def doubts(n: int, found: SecretSizePosterior) -> list[str]:
    """What speaks against a range: it leaves the true n out, or the posterior of n piles up at one of its ends."""
    low, high = int(found.prior.sizes[0]), int(found.prior.sizes[-1])
    said = []
    if not low <= n <= high:
        left_out = f"The range from {low:,} to {high:,} <b>leaves out the true n = {n:,}</b>"
        said.append(f"{left_out}, so that the answer cannot be relied on.")
    ends = zip((low, high), found.end_weights, (found.prior.weights[0], found.prior.weights[-1]), strict=True)
    piled = [f"{end:,}" for end, weight, before in ends if low < high and weight > LEANS * before]
    if piled:
        said.append(f"The posterior of n piles up at n = {' and '.join(piled)}, where the range ends.")
    return said
