"""The least prior for probabilistic (ε, δ)-differential privacy, which asks more than (ε, δ)-differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from scipy.special import betainc

from dpviz.parameters import readable
from dpviz.priors._count_failure import beta_binomial_failure, plug_in_failure
from dpviz.priors.exact import minimum_prior

LARGEST = 10_000
"""Most rows that the search is made for: it asks for hundreds of failures, each of n + m steps."""

INTERVALS = 12
"""Intervals of priors that the search between the (ε, δ) answer and the pure one starts with."""

FEWEST_LOOKS, MOST_LOOKS, LARGEST_WORK = 1_000, 30_000, 8_000_000
"""Intervals of priors that the search looks at before it gives up: as many as the rows of all its failures allow."""

RESOLUTION = 1e-9
"""Relative length of an interval of priors that is not halved again."""


def parameter_failure(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """The probability, at the worst table, that the θ of PARAM_Post tells it from a neighbour by more than e^ε.

    For n1 ones the neighbours with fewer ones speak where θ / (1 − θ) > e^ε (n1 + α − 1) / (n0 + β), those with more
    where it is below e^{−ε} (n1 + α) / (n0 + β − 1); of the two neighbours of a table the nearer threshold counts.

    Parameters
    ----------
    n
        Confidential rows.
    alpha, beta
        Prior pseudo-rows, positive.
    epsilon
        ε ≥ 0.

    Source: Machanavajjhala et al. (2008), disclosure set; Zheng (2015), Lemma 6.5, whose interval this is.

    Examples
    --------
    One row, flat prior, ε = 0: every θ but 1/2 tells the two tables apart.

    >>> parameter_failure(n=1, alpha=1.0, beta=1.0, epsilon=0.0)
    1.0
    """
    ones = np.arange(n + 1)
    a, b = alpha + ones, beta + (n - ones)
    grow = math.exp(min(epsilon, 700.0))
    fewer, more = np.maximum(ones - 1, 0), np.minimum(ones, n - 1)
    up = grow * (alpha + fewer) / (beta + (n - 1 - fewer))
    down = (alpha + more) / (beta + (n - 1 - more)) / grow
    failure = betainc(b, a, 1 / (1 + up)) + betainc(a, b, down / (1 + down))
    return min(float(failure.max()), 1.0)


def minimum_prior_probabilistic(method: str, *, n: int, m: int, epsilon: float, delta: float) -> float:
    """The least symmetric prior from which on a method keeps probabilistic (ε, δ)-differential privacy.

    The failure jumps down as the prior grows, where one more count falls inside the promise, and rises between the
    jumps. So the answer is the largest prior below which it fails. Intervals of priors are searched from the pure
    answer downwards and halved; one is left out when at both its ends the failure stays within δ for a promise that
    is smaller by as much as log-odds can change inside the interval.

    Parameters
    ----------
    method, n, m, epsilon, delta
        As in `minimum_prior`; n and m at most 10,000.

    Returns
    -------
    float
        α at which the promise holds, and at α (1 − 1e-9) fails; never below the (ε, δ) answer. Infinite where no prior
        is enough.

    Raises
    ------
    ValueError
        Where a value is outside its domain, or the failure crosses δ so often that the search does not end.

    Source: Machanavajjhala et al. (2008).

    Examples
    --------
    One row, one draw: a released 1 or 0 has log-odds ln((α + 1) / α), so nothing but pure privacy helps.

    >>> round(minimum_prior_probabilistic("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 6)
    1.0
    """
    if method == "synth_map":  # the same law as SYNTH_Post(Many) with one pseudo-row less
        return 1 + minimum_prior_probabilistic("synth_post_many", n=n, m=m, epsilon=epsilon, delta=delta)
    rows = n if method == "param_post" else max(n, m)
    if rows > LARGEST:
        raise ValueError(f"n and m must be at most {LARGEST:,} for the probabilistic answer; got {readable(rows)}.")
    least = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    if delta == 0 or math.isinf(least):
        return least
    failure = _failure(method, n, m)
    top = minimum_prior(method, n=n, m=m, epsilon=epsilon)
    if math.isinf(top):
        top = 2 * least
        while failure(top, epsilon) > delta:
            top *= 2
    change = epsilon + 4 * max(1.0, m / n)
    grid = np.geomspace(least, top, INTERVALS + 1).tolist()
    waiting, looks = list(pairwise(grid)), 0
    most = min(max(FEWEST_LOOKS, LARGEST_WORK // (n + rows)), MOST_LOOKS)
    while waiting:
        low, high = waiting.pop()
        looks += 1
        if looks > most:
            raise ValueError(
                f"epsilon and delta must let the search end within {most:,} intervals of priors; at "
                f"ε = {readable(epsilon)} and δ = {readable(delta)} the failure crosses δ too often."
            )
        promise = max(epsilon - change * math.log(high / low), 0.0)
        if max(failure(low, promise), failure(high, promise)) <= delta:
            continue
        if high - low <= RESOLUTION * high:
            if failure(low, epsilon) > delta:
                return high
            continue
        middle = math.sqrt(low * high)
        waiting += [(low, middle), (middle, high)]
    return least


def _failure(method: str, n: int, m: int) -> Callable[[float, float], float]:
    """The probability of failure at a symmetric prior α and a promise ε."""
    if method == "param_post":
        return lambda alpha, epsilon: parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=epsilon)
    counted = beta_binomial_failure if method == "synth_post_one" else plug_in_failure
    return lru_cache(maxsize=4096)(partial(counted, n, m))
