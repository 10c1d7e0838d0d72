"""The least prior for probabilistic (ε, δ)-differential privacy, which asks more than (ε, δ)-differential privacy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from dpviz.checked import checked
from dpviz.limits import PROBABILISTIC_ROWS
from dpviz.methods import METHODS, Method
from dpviz.methods.base import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.parameters import DELTA, readable
from dpviz.priors.exact import Promise, least_prior
from dpviz.priors.releases import method_called
from dpviz.synthesizers.prior import PRIOR_ONES

INTERVALS, WIDEST, RESOLUTION = 12, 1.0, 1e-9
"""Fewest intervals of priors that the search between the (ε, δ) answer and the pure one starts with; largest change of
ln α in one, but for priors so small that log-odds have settled; relative length of one that is not halved again."""

FEWEST_LOOKS, MOST_LOOKS, LARGEST_WORK = 1_000, 30_000, 8_000_000
"""Intervals of priors that the search looks at before it gives up: as many as the rows of all its failures allow."""


@checked(n=MANY_ROWS, m=MANY_SYNTHETIC_ROWS, delta=DELTA)
def minimum_prior_probabilistic(method: str, *, n: int, m: int, epsilon: float, delta: float) -> float:
    """The least symmetric prior from which on a method keeps probabilistic (ε, δ)-differential privacy.

    The failure jumps down as the prior grows, where one more count falls inside the promise, and rises between the
    jumps. So the answer is the largest prior below which it fails. Intervals of priors are searched from the pure
    answer downwards and halved; one is left out when at both its ends the failure stays within δ for a promise that
    is smaller by as much as log-odds near ε can change inside the interval.

    The promise holds at α and fails at α (1 − 1e-9), for n and m up to 10,000; the ends are those of `minimum_prior`. A
    ValueError says where the failure crosses δ so often that the search does not end.

    Source: Machanavajjhala et al. (2008).

    Examples
    --------
    One row, one draw: a released 1 or 0 has log-odds ln((α + 1) / α), so nothing but pure privacy helps.

    >>> round(minimum_prior_probabilistic("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 6)
    1.0
    """
    made = method_called(method, METHODS)
    return made.prior_of(_effective(made.effective, n, m, epsilon, delta))


def _effective(method: Method, n: int, m: int, epsilon: float, delta: float) -> float:
    """The least effective prior of a method that loses no pseudo-rows."""
    rows = max(n, m) if method.limit else n
    if rows > PROBABILISTIC_ROWS:
        raise ValueError(
            f"n and m must be at most {PROBABILISTIC_ROWS:,} for the probabilistic answer; got {readable(rows)}."
        )
    least = least_prior(Promise(method, n, m, epsilon, delta)).prior
    if delta == 0 or math.isinf(least):
        return least
    failure = method.failure(n, m, epsilon)
    top = least_prior(Promise(method, n, m, epsilon)).prior
    if math.isinf(top):
        top = 2 * least
        while failure.at(top, epsilon) > delta:
            if top >= PRIOR_ONES.maximum:
                return math.inf
            top = min(2 * top, PRIOR_ONES.maximum)
    bottom = min(max(least, failure.settled), top)
    pieces = max(INTERVALS, math.ceil(math.log(top / bottom) / WIDEST))
    grid = [least, *np.geomspace(bottom, top, pieces + 1).tolist()]
    waiting, looks = [(low, high) for low, high in pairwise(grid) if low < high], 0
    most = min(max(FEWEST_LOOKS, LARGEST_WORK // (n + rows)), MOST_LOOKS)
    while waiting:
        low, high = waiting.pop()
        looks += 1
        if looks > most:
            raise ValueError(
                f"epsilon and delta must let the search end within {most:,} intervals of priors; at "
                f"ε = {readable(epsilon)} and δ = {readable(delta)} the failure crosses δ too often."
            )
        rate = m * high if high <= failure.settled else failure.change(low)
        promise = max(epsilon - rate * (math.log(high) - math.log(low)), 0.0)
        if all(failure.at(prior, promise) <= delta for prior in (low, high)):
            continue
        if high - low <= RESOLUTION * high:
            if failure.at(low, epsilon) > delta:
                return high
            continue
        middle = math.sqrt(low) * math.sqrt(high)
        waiting += [(low, middle), (middle, high)]
    return least
