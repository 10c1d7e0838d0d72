"""The smallest prior for probabilistic differential privacy, and how often log-odds exceed ε."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
from scipy.special import betainc

from dpviz.calibration.methods import PRIOR_METHODS, PriorMethod, RowMethod
from dpviz.calibration.parameter_draw import parameter_failure
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.core import limits
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.parameters import validate_choice
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms.pair_divergence import log_beta_binomial
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import exceeds

MIN_INTERVAL = 1e-9  # relative length of an interval that is not halved again


@dataclass(frozen=True)
class Failure:
    """Failure of probabilistic privacy under a symmetric effective prior α.

    `at` is its probability at the worst table, from α and ε; `change` a bound, from a prior on, of how fast log-odds up
    to ε change with ln α. Up to the prior `settled` they change by at most m α per ln α, or stay above ε or below 0.
    """

    at: Callable[[float, float], float]
    change: Callable[[float], float]
    settled: float


def _failure_of(method: PriorMethod, n: int, m: int, epsilon: float) -> Failure:
    """Failure of a method; a ValueError where it is none of `METHODS`.

    With x = α + i and y = α + n − 1 − i, α/x and α/y are no further apart than s = (n − 1)/(α + n − 1): by that much
    the log-odds ln(y/x) + … of PARAM_Post change. Those of SYNTH_Post(One) are A − B, A = ln(1 + j/x) and
    B = ln(1 + (m − j)/y). A falls by (α/x) a, a = 1 − e^{−A}, B likewise, so that A − B changes by at most |A − B| + s
    times the smaller of the two, that of the larger of x and y. For SYNTH_Post(Many) A = j ln(1 + 1/x), which falls by
    g(x) A, g(x) = α / (x (x + 1) ln(1 + 1/x)) ≤ 1; g(x) (x / α) rises with x, so that s bounds g(x) − g(y) too.
    """
    per_zero = m / (n - 1) if n > 1 else 0.0

    def spread(alpha: float) -> float:
        return (n - 1) / (alpha + (n - 1))

    def change_of_drawn(alpha: float) -> float:
        return min(m / (alpha + m), epsilon + spread(alpha) * m / (alpha + (n - 1) / 2 + m))

    def change_of_plug_in(alpha: float) -> float:
        return epsilon + spread(alpha) * m / (alpha + (n - 1) / 2)

    if method.key not in METHODS:
        method.refuse("probabilistic privacy")
    if method.key == "synth_post_one":
        return Failure(partial(beta_binomial_failure, n, m), change_of_drawn, math.exp(-epsilon) / (1 + per_zero))
    if method.key == "synth_post_many":
        return Failure(partial(plug_in_failure, n, m), change_of_plug_in, math.exp(-epsilon - per_zero))
    return Failure(lambda alpha, promise: parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=promise), spread, 0.0)


METHODS = ("synth_post_one", "synth_post_many", "param_post")
"""Keys of the methods that use their whole prior and have a probabilistic answer."""


def has_probabilistic_answer(method: PriorMethod) -> bool:
    """Whether `minimum_prior_probabilistic` answers for a method."""
    return method.effective.key in METHODS


def minimum_prior_probabilistic(method: str, *, n: int, m: int, epsilon: float, delta: float) -> float:
    """Smallest symmetric prior from which on a method keeps probabilistic (ε, δ)-differential privacy.

    The promise holds from it on, and fails at α (1 − 1e-9). A ValueError says that the method has no exact answer, or
    that the failure crosses δ so often that the search does not end. Source: Machanavajjhala et al. (2008).

    Parameters
    ----------
    method : str
        Key of `PRIOR_METHODS`.
    n, m : int
        Confidential and synthetic rows, 1 to 10,000.
    epsilon, delta : float
        As in `minimum_prior`.

    Notes
    -----
    The failure jumps down as the prior grows, where one more count falls inside the promise, and rises between the
    jumps. So intervals of priors are searched from the pure answer downwards and halved; one is left out when at both
    ends the failure stays within δ for an ε that is smaller by as much as log-odds near it can change inside.

    Examples
    --------
    One row, one draw: a released 1 or 0 has log-odds ln((α + 1) / α), so nothing but pure privacy helps.

    >>> round(minimum_prior_probabilistic("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 6)
    1.0
    """
    validate_choice("method", method, PRIOR_METHODS)
    prior_method = PRIOR_METHODS[method]
    return prior_method.prior_of(_smallest_effective(prior_method.effective, n, m, epsilon, delta))


def _smallest_effective(method: PriorMethod, n: int, m: int, epsilon: float, delta: float) -> float:
    """`minimum_prior_probabilistic` of a method that uses its whole prior."""
    n, m = int(MANY_ROWS.validate(n)), int(MANY_SYNTHETIC_ROWS.validate(m))
    smallest = minimum_prior(method.key, n=n, m=m, epsilon=epsilon, delta=delta)  # refuses other ε and δ
    epsilon, delta = float(epsilon), float(delta)
    rows = max(n, m) if isinstance(method, RowMethod) else n
    if rows > limits.MAX_PROBABILISTIC_ROWS:
        domain = f"at most {limits.MAX_PROBABILISTIC_ROWS:,} for the probabilistic answer"
        raise ValueError(f"n and m must be {domain}; got {format_number(rows)}.")
    if delta == 0 or math.isinf(smallest):
        return smallest
    failure = _failure_of(method, n, m, epsilon)
    failure_at = lru_cache(maxsize=4096)(failure.at)

    # A prior from which on the promise holds
    top = minimum_prior(method.key, n=n, m=m, epsilon=epsilon) if epsilon > 0 else math.inf
    if math.isinf(top):
        top = 2 * smallest
        while failure_at(top, epsilon) > delta:
            if top >= PRIOR_ONES.maximum:
                return math.inf
            top = min(2 * top, PRIOR_ONES.maximum)

    # Intervals of priors, the highest first
    bottom = min(max(smallest, failure.settled), top)
    count = max(12, math.ceil(math.log(top / bottom)))  # in each ln α changes by at most 1
    grid = [smallest, *np.geomspace(bottom, top, count + 1).tolist()]
    intervals = [(low, high) for low, high in pairwise(grid) if low < high]
    max_intervals = min(max(1_000, 8_000_000 // (n + rows)), 30_000)  # gives up after some seconds
    for _ in range(max_intervals + 1):
        if not intervals:
            return smallest
        low, high = intervals.pop()
        rate = m * high if high <= failure.settled else failure.change(low)
        promise = max(epsilon - rate * (math.log(high) - math.log(low)), 0.0)
        if all(failure_at(prior, promise) <= delta for prior in (low, high)):
            continue
        if high - low > MIN_INTERVAL * high:
            middle = math.sqrt(low) * math.sqrt(high)
            intervals += [(low, middle), (middle, high)]
        elif failure_at(low, epsilon) > delta:
            return high
    raise ValueError(
        f"epsilon and delta must let the search end within {max_intervals:,} intervals of priors; at "
        f"ε = {format_number(epsilon)} and δ = {format_number(delta)} the failure crosses δ too often. Set others."
    )


def beta_binomial_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Probability, at the worst table, that counts of SYNTH_Post(One) exceed ε against a neighbour, in O(n + m).

    A count tells row i from a neighbour where it is at least the threshold of the pair i − 1, i or at most that of the
    pair i, i + 1 seen from the other end; with α = β the lower tail of row i is the upper tail of row n − i. From a row
    to the next the tail from a threshold t on gains Pr(t | i) t / x; up to the next threshold it loses what is passed.
    """
    i = np.arange(n)
    x, y = alpha + i, alpha + (n - 1 - i)
    guess = x * (m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)
    t = _thresholds(lambda j: np.log1p(j / x) - np.log1p((m - j) / y), guess, m, epsilon)
    t = t[t <= m]
    if len(t) == 0:
        return 0.0

    # Probabilities, in units of the largest: row 0 from the first threshold on, at each threshold, and between two
    first, passed = np.arange(t[0], m + 1), np.arange(t[0], t[-1])
    rows = np.concatenate([np.zeros(len(first)), i[: len(t)], np.repeat(i[1 : len(t)], np.diff(t))])
    counts = np.concatenate([first, t, passed])
    logs = log_beta_binomial(alpha + rows, alpha + (n - rows), counts, m - counts)
    scale = float(logs.max())
    with np.errstate(under="ignore"):
        of_first, at_threshold, of_passed = np.split(np.exp(logs - scale), [len(first), len(first) + len(t)])

    # Upper tails of all rows; lower tails are those of the mirrored rows
    gain = at_threshold * (t / x[: len(t)])
    tail = of_first.sum() + np.append(0.0, np.cumsum(gain[:-1])) - np.append(0.0, np.cumsum(of_passed))[t - t[0]]
    upper = np.zeros(n + 1)
    upper[0], upper[1 : len(t) + 1] = tail[0], tail + gain
    return min(float((upper + upper[::-1]).max()) * math.exp(scale), 1.0)


def plug_in_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Same probability of SYNTH_Post(Many), whose tails are incomplete beta functions."""
    i = np.arange(n)
    up: FloatArray = np.log1p(1 / (alpha + i))
    down: FloatArray = np.log1p(1 / (alpha + (n - 1 - i)))
    t = _thresholds(lambda j: j * up - (m - j) * down, (epsilon + m * down) / (up + down), m, epsilon)
    rows = np.arange(n + 1)
    smallest = t[np.maximum(rows - 1, 0)]
    inside = np.minimum(smallest, m)
    upper = np.where(smallest <= m, betainc(inside, m - inside + 1, (rows + alpha) / (n + 2 * alpha)), 0.0)
    return min(float((upper + upper[::-1]).max()), 1.0)


def _thresholds(log_odds: Callable[[IntArray], FloatArray], guess: FloatArray, m: int, epsilon: float) -> IntArray:
    """Smallest count of each pair whose log-odds exceed ε, m + 1 where none does; `guess` is corrected."""

    def is_above(j: IntArray) -> BoolArray:
        odds = log_odds(j)
        return exceeds(odds, epsilon) & (odds > 0)

    t: IntArray = np.clip(np.floor(guess), 0, m + 1).astype(np.int64)
    while np.any(early := (t > 0) & is_above(np.maximum(t - 1, 0))):
        t = t - early
    while np.any(late := (t <= m) & ~is_above(np.minimum(t, m))):
        t = t + late
    return np.maximum.accumulate(t)
