"""What every exact answer starts from: the distribution of x, and the rows of the matrix that matter under it."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from dpviz.core import limits
from dpviz.core.numerics.special import pmf_from_ratios
from dpviz.core.types import FloatArray, IntArray


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


def binomial_weights_of(count: int, n: int, p: FloatArray) -> FloatArray:
    """Pr(x = `count`) for x ~ Binomial(n, p), at each of `p`."""
    ways = gammaln(n + 1) - gammaln(count + 1) - gammaln(n - count + 1)
    with np.errstate(under="ignore"):
        found: FloatArray = np.exp(ways + xlogy(count, p) + xlog1py(n - count, -p))
    return found
