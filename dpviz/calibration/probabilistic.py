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
from dpviz.core.numerics.special import cumulative_sum
from dpviz.core.parameters import validate_choice
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import exceeds

ManyBetaBinomial = BetaBinomial.up_to(limits.MAX_PRIOR_ROWS)

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


def _prior_spread(n: int, alpha: float) -> float:
    """How far apart α / x and α / y are at most, x = α + i and y = α + n − 1 − i."""
    return (n - 1) / (alpha + (n - 1))


def _drawn_rows(n: int, m: int, epsilon: float) -> Failure:
    """Log-odds of SYNTH_Post(One) are A − B, A = ln(1 + j/x) and B = ln(1 + (m − j)/y).

    A falls by (α/x) a, a = 1 − e^{−A}, B likewise. As α/x and α/y are no further apart than s = (n − 1)/(α + n − 1),
    A − B changes by at most |A − B| + s times the smaller of the two, that of the larger of x and y.
    """

    def change(alpha: float) -> float:
        return min(m / (alpha + m), epsilon + _prior_spread(n, alpha) * m / (alpha + (n - 1) / 2 + m))

    settled = math.exp(-epsilon) / (1 + (m / (n - 1) if n > 1 else 0.0))
    return Failure(partial(beta_binomial_failure, n, m), change, settled)


def _plug_in_rows(n: int, m: int, epsilon: float) -> Failure:
    """As above, A = j ln(1 + 1/x), which falls by g(x) A, g(x) = α / (x (x + 1) ln(1 + 1/x)) ≤ 1; B likewise.

    g(x) (x / α) rises with x, so that g(x) and g(y) too are no further apart than s.
    """

    def change(alpha: float) -> float:
        return epsilon + _prior_spread(n, alpha) * m / (alpha + (n - 1) / 2)

    settled = math.exp(-epsilon - (m / (n - 1) if n > 1 else 0.0))
    return Failure(partial(plug_in_failure, n, m), change, settled)


def _drawn_parameter(n: int, _m: int, _epsilon: float) -> Failure:
    """ln(y / x) changes by α/y − α/x, at most s."""

    def at(alpha: float, promise: float) -> float:
        return parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=promise)

    return Failure(at, lambda alpha: _prior_spread(n, alpha), 0.0)


FAILURES: dict[str, Callable[[int, int, float], Failure]] = {
    "synth_post_one": _drawn_rows,
    "synth_post_many": _plug_in_rows,
    "param_post": _drawn_parameter,
}
"""By key of a method that uses its whole prior."""


def has_probabilistic_answer(method: PriorMethod) -> bool:
    """Whether `minimum_prior_probabilistic` answers for a method."""
    return method.effective.key in FAILURES


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
    n = int(MANY_ROWS.validate(n))
    m = int(MANY_SYNTHETIC_ROWS.validate(m))
    smallest = minimum_prior(method.key, n=n, m=m, epsilon=epsilon, delta=delta)  # refuses other ε and δ
    epsilon, delta = float(epsilon), float(delta)
    rows = max(n, m) if isinstance(method, RowMethod) else n
    if rows > limits.MAX_PROBABILISTIC_ROWS:
        domain = f"at most {limits.MAX_PROBABILISTIC_ROWS:,} for the probabilistic answer"
        raise ValueError(f"n and m must be {domain}; got {format_number(rows)}.")
    if delta == 0 or math.isinf(smallest):
        return smallest
    if method.key not in FAILURES:
        method.refuse("probabilistic privacy")
    failure = FAILURES[method.key](n, m, epsilon)
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
    for _ in range(max_intervals):
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
    if not intervals:
        return smallest
    raise ValueError(
        f"epsilon and delta must let the search end within {max_intervals:,} intervals of priors; at "
        f"ε = {format_number(epsilon)} and δ = {format_number(delta)} the failure crosses δ too often. Set others."
    )


def beta_binomial_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Probability, at the worst table, that counts of SYNTH_Post(One) exceed ε against a neighbour, in O(n + m).

    A count tells row i from a neighbour where it is at least the threshold of the pair i − 1, i or at most that of the
    pair i, i + 1 seen from the other end; with α = β the lower tail of row i is the upper tail of row n − i. Along
    one staircase through all thresholds, down a row a tail gains Pr(t | i) t / x, right it loses what is passed.
    """
    # Threshold of each pair; log-probabilities of row 0 from the first threshold on
    i = np.arange(n)
    x, y = alpha + i, alpha + (n - 1 - i)
    guess = x * (m - y * math.expm1(-epsilon)) / (y * math.exp(-epsilon) + x)
    t = _thresholds(lambda j: _log_odds(x, y, j, m), guess, m, epsilon)
    t = t[t <= m]
    if len(t) == 0:
        return 0.0
    x, y = x[: len(t)], y[: len(t)]
    first = np.arange(t[0], m + 1)
    log_first = ManyBetaBinomial(n=n, m=m, alpha=alpha, beta=alpha).log_transition(np.array([0]), first)[0]

    # The staircase: down at each threshold, right between two
    pairs, columns = np.arange(len(t)), np.arange(t[0], t[-1])
    rows = np.repeat(pairs[1:], t[1:] - t[:-1])
    width = t - t[0]
    corner, passed = pairs + width, rows + (columns - t[0])
    steps = np.empty(len(t) + len(columns))
    steps[0] = log_first[0]
    steps[corner[:-1] + 1] = _log_odds(x, y, t, m)[:-1]
    room = m - columns
    steps[passed + 1] = np.log(room * (alpha + (rows + columns)) / ((columns + 1) * (alpha + (n - rows) + (room - 1))))
    log_path = cumulative_sum(steps).astype(float)[1:]
    scale = max(float(log_path.max()), float(log_first.max()))
    with np.errstate(under="ignore"):
        path, row = np.exp(log_path - scale), np.exp(log_first - scale)

    # Upper tails of all rows; lower tails are those of the mirrored rows
    gain = path[corner] * (t / x)
    tail = row.sum() + np.append(0.0, np.cumsum(gain[:-1])) - np.append(0.0, np.cumsum(path[passed]))[width]
    upper = np.zeros(n + 1)
    upper[0], upper[1 : len(t) + 1] = tail[0], tail + gain
    return min(float((upper + upper[::-1]).max()) * math.exp(scale), 1.0)


def _log_odds(x: FloatArray, y: FloatArray, j: IntArray, m: int) -> FloatArray:
    """ln Pr(j | i + 1) / Pr(j | i) of the Beta-binomial with x = α + i and y = β + n − 1 − i."""
    return np.log1p(j / x) - np.log1p((m - j) / y)


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
