"""The least prior for probabilistic (ε, δ)-differential privacy, which asks more than (ε, δ)-differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from scipy.special import betainc

from dpviz.checked import check_epsilon, checked
from dpviz.parameters import DELTA, readable
from dpviz.priors._count_failure import beta_binomial_failure, plug_in_failure
from dpviz.priors.exact import minimum_prior
from dpviz.priors.posterior_parameter import MANY_ROWS
from dpviz.priors.releases import MANY_SYNTHETIC_ROWS
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS

LARGEST = 10_000
"""Most rows that the search is made for: it asks for hundreds of failures, each of n + m steps."""

INTERVALS = 12
"""Fewest intervals of priors that the search between the (ε, δ) answer and the pure one starts with."""

WIDEST = 1.0
"""Largest change of ln α in such an interval, but for priors so small that log-odds have settled."""

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
        Confidential rows, 1 to 100,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, 1e-300 to 1e12.
    epsilon
        ε ≥ 0, finite.

    Source: Machanavajjhala et al. (2008), disclosure set; Zheng (2015), Lemma 6.5, whose interval this is.

    Examples
    --------
    One row, flat prior, ε = 0: every θ but 1/2 tells the two tables apart.

    >>> parameter_failure(n=1, alpha=1.0, beta=1.0, epsilon=0.0)
    1.0
    """
    n, epsilon = int(MANY_ROWS.check(n)), check_epsilon(epsilon)
    alpha, beta = PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta)
    ones = np.arange((n // 2 if alpha == beta else n) + 1)  # equal priors: row n − i is the mirror image of row i
    a, b = alpha + ones, beta + (n - ones)
    grow = math.exp(min(epsilon, 700.0))
    fewer, more = np.maximum(ones - 1, 0), np.minimum(ones, n - 1)
    up = grow * (alpha + fewer) / (beta + (n - 1 - fewer))
    down = (alpha + more) / (beta + (n - 1 - more)) / grow
    failure = betainc(b, a, 1 / (1 + up)) + betainc(a, b, down / (1 + down))
    return min(float(failure.max()), 1.0)


@checked(n=MANY_ROWS, m=MANY_SYNTHETIC_ROWS, delta=DELTA)
def minimum_prior_probabilistic(method: str, *, n: int, m: int, epsilon: float, delta: float) -> float:
    """The least symmetric prior from which on a method keeps probabilistic (ε, δ)-differential privacy.

    The failure jumps down as the prior grows, where one more count falls inside the promise, and rises between the
    jumps. So the answer is the largest prior below which it fails. Intervals of priors are searched from the pure
    answer downwards and halved; one is left out when at both its ends the failure stays within δ for a promise that
    is smaller by as much as log-odds near ε can change inside the interval.

    Parameters
    ----------
    method, n, m, epsilon, delta
        As in `minimum_prior`; n and m at most 10,000.

    Returns
    -------
    float
        α at which the promise holds, and at α (1 − 1e-9) fails; never below the (ε, δ) answer. The smallest prior
        accepted (1e-300; just above 1 for SYNTH_MAP) where any is enough, infinite where none up to 1e12 is.

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
        effective = minimum_prior_probabilistic("synth_post_many", n=n, m=m, epsilon=epsilon, delta=delta)
        prior = max(1 + effective, math.nextafter(1.0, 2.0))
        return prior if prior - 1 >= effective else math.nextafter(prior, math.inf)
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
            if top >= PRIOR_ONES.maximum:
                return math.inf
            top = min(2 * top, PRIOR_ONES.maximum)
    change, settled = _change(method, n, m, epsilon), _settled(method, n, m, epsilon)
    bottom = min(max(least, settled), top)
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
        rate = m * high if high <= settled else change(low)
        promise = max(epsilon - rate * (math.log(high) - math.log(low)), 0.0)
        if all(failure(prior, promise) <= delta for prior in (low, high)):
            continue
        if high - low <= RESOLUTION * high:
            if failure(low, epsilon) > delta:
                return high
            continue
        middle = math.sqrt(low) * math.sqrt(high)
        waiting += [(low, middle), (middle, high)]
    return least


def _change(method: str, n: int, m: int, epsilon: float) -> Callable[[float], float]:
    """A bound on how fast log-odds that are no larger than ε change with ln α, from a prior on.

    With x = α + i and y = α + n − 1 − i, ln(y / x) of PARAM_Post changes by α/y − α/x, at most s = (n − 1)/(α + n − 1).
    Log-odds of counts are A − B with A = ln(1 + j/x), B = ln(1 + (m − j)/y), or A = j ln(1 + 1/x) and B = (m − j)
    ln(1 + 1/y). A falls by (α/x) a with a = 1 − e^{−A}, or by g(x) A with g(x) = α / (x (x + 1) ln(1 + 1/x)) ≤ 1, and
    g(x) (x / α) rises with x; B likewise. So A − B changes by at most |A − B| and, as α/x and α/y, or g(x) and g(y),
    are no further apart than s, by s times the smaller of a and b, or of A and B: that of the larger of x and y.
    """

    def change(alpha: float) -> float:
        apart, larger = (n - 1) / (alpha + (n - 1)), alpha + (n - 1) / 2
        if method == "param_post":
            return apart
        if method == "synth_post_one":
            return min(m / (alpha + m), epsilon + apart * m / (larger + m))
        return epsilon + apart * m / larger

    return change


def _settled(method: str, n: int, m: int, epsilon: float) -> float:
    """A prior up to which log-odds move by at most m α times the change of ln α, or stay above ε or below 0.

    As α falls to 0, counts of a cell that had no rows tell by more and more; all others have x ≥ 1 and y ≥ 1.
    """
    crowd = m / (n - 1) if n > 1 else 0.0
    return {
        "param_post": 0.0,
        "synth_post_one": math.exp(-epsilon) / (1 + crowd),
        "synth_post_many": math.exp(-epsilon - crowd),
    }[method]


def _failure(method: str, n: int, m: int) -> Callable[[float, float], float]:
    """The probability of failure at a symmetric prior α and a promise ε."""
    if method == "param_post":
        return lambda alpha, epsilon: parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=epsilon)
    counted = beta_binomial_failure if method == "synth_post_one" else plug_in_failure
    return lru_cache(maxsize=4096)(partial(counted, n, m))
