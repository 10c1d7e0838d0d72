"""What every exact answer starts from: the distribution of x, and the rows of the matrix that matter under it."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpviz.core import limits
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import log_rising_ratio, pmf_from_ratios
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray, IntArray, Numbers
from dpviz.mechanisms import TwoCellSynthesizer

IMPOSSIBLE_RELEASE = (
    "The synthetic counts cannot all come from one confidential table under this synthesizer: for every x, one of them "
    "has probability 0, so that the posterior does not exist. Check the counts and the zeros of the matrix."
)


class ConfidentialMixture(NamedTuple):
    """The confidential counts that matter, their probabilities, and the probability of all others together."""

    counts: IntArray
    weights: FloatArray
    omitted: float


def binomial_distribution(n: int, p: float) -> FloatArray:
    """Pr(x = 0 … n) for x ~ Binomial(n, p)."""
    x = np.arange(n)
    with np.errstate(divide="ignore", over="ignore"):
        return pmf_from_ratios((n - x) / (x + 1) * np.divide(p, 1 - p))


def binomial_distributions(n: int, proportions: tuple[float, ...]) -> FloatArray:
    """Return `binomial_distribution` at several p, in rows, which are cached where they are few."""
    return (_cached_rows if (n + 1) * len(proportions) <= limits.MAX_CACHED_ENTRIES else _binomial_rows)(n, proportions)


def _binomial_rows(n: int, proportions: tuple[float, ...]) -> FloatArray:
    found = np.array([binomial_distribution(n, p) for p in proportions])
    found.setflags(write=False)
    return found


_cached_rows = lru_cache(maxsize=16)(_binomial_rows)


def likely_range(distribution: FloatArray, tail: float) -> tuple[int, int, float]:
    """Return the first and last place that matter, each end cut by at most `tail`, and the probability beyond them."""
    below, above = np.cumsum(distribution), np.cumsum(distribution[::-1])
    first, cut = (int(np.searchsorted(sums, tail, side="right")) for sums in (below, above))
    left = (below[first - 1] if first else 0.0) + (above[cut - 1] if cut else 0.0)
    return first, len(distribution) - 1 - cut, float(left)


def confidential_mixture(n: int, p: float, tail: float) -> ConfidentialMixture:
    """x ~ Binomial(n, p) without the counts that together weigh at most `tail`."""
    distribution = binomial_distribution(n, p)
    first, last, omitted = likely_range(distribution, tail / 2)
    return ConfidentialMixture(np.arange(first, last + 1), distribution[first : last + 1], omitted)


def log_prior_counts(x: IntArray, n: IntArray | int, gamma1: float, gamma2: float) -> FloatArray:
    """ln BetaBinomial(x; n, γ1, γ2), the analyst's prior of the confidential count; x and n broadcast."""
    x, n = np.broadcast_arrays(x, n)
    largest = int(n.max())
    factorial = log_rising_ratio(1.0, largest)
    ones, zeros, total = (log_rising_ratio(base, largest) for base in (gamma1, gamma2, gamma1 + gamma2))
    scale = x * -math.log1p(gamma2 / gamma1) + (n - x) * -math.log1p(gamma1 / gamma2)
    risings = ones[x] - factorial[x] + zeros[n - x] - factorial[n - x] + factorial[n] - total[n]
    return risings.astype(float) + scale


def normalized(log_weights: FloatArray) -> FloatArray:
    """exp of `log_weights`, every row divided by its sum; a ValueError where a row is impossible throughout."""
    top = log_weights.max(axis=-1, keepdims=True)
    if np.isneginf(top).any():
        raise ValueError(IMPOSSIBLE_RELEASE)
    with np.errstate(under="ignore"):
        weights: FloatArray = np.exp(log_weights - top)
    return weights / weights.sum(axis=-1, keepdims=True)


def released_rows(synthesizer: TwoCellSynthesizer, counts: IntArray) -> FloatArray:
    """Rows `counts` of the transition matrix, each divided by its sum, shape (len(counts), m + 1)."""
    if 2 * len(counts) > synthesizer.n:
        small = (synthesizer.n + 1) * (synthesizer.m + 1) <= limits.MAX_CACHED_ENTRIES
        return (_last_rows if small else _every_row)(synthesizer)[counts]
    with np.errstate(under="ignore"):
        rows = np.exp(synthesizer.log_transition(counts, np.arange(synthesizer.m + 1)))
    return rows / rows.sum(axis=1, keepdims=True)


def _every_row(synthesizer: TwoCellSynthesizer) -> FloatArray:
    rows = synthesizer.transition_matrix()
    return rows / rows.sum(axis=1, keepdims=True)


_last_rows = lru_cache(maxsize=1)(_every_row)
"""The same as the last time where the same is asked: several questions in a row are asked of one release."""


def checked_counts(counts: object, m: int, *, name: str = "synthetic_counts") -> IntArray:
    """`counts` as integers from 0 to m, of their shape, or a ValueError that names the first that is not one."""
    found = argument(name, 0, m, integer=True).validate_array(counts)
    if not found.size:
        raise ValueError(f"{name} must hold at least one count; got none.")
    return found.astype(np.int64)


def one_release(counts: object, m: int) -> IntArray:
    """Return the checked counts of M sets."""
    found = checked_counts(counts, m)
    if found.ndim != 1:
        raise ValueError(f"synthetic_counts must be a list of counts, one for each set; got {counts!r}.")
    return found


def along_axis(proportions: Numbers) -> FloatArray:
    """Return one true proportion or several, already checked, as an array with one axis."""
    p = np.atleast_1d(np.asarray(proportions, float))
    if p.ndim != 1 or not p.size:
        raise ValueError(
            f"proportions (true share) must be one number or a row of them; got {describe_value(proportions)}."
        )
    if p.size > limits.MAX_PROPORTIONS:
        raise ValueError(f"proportions must be at most {limits.MAX_PROPORTIONS:,} numbers; got {p.size:,}.")
    return p
