"""The failure of probabilistic privacy of released counts in O(n + m), for a symmetric prior: no matrix.

A count tells row i from a neighbour by more than e^ε where it is at least the threshold of the pair i − 1, i or at
most that of the pair i, i + 1 seen from the other end: log-odds grow with the count, and thresholds with the row. With
α = β the lower tail of row i is the upper tail of row n − i, so that upper tails are all there is to add.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betainc

from dpviz.methods.pairs import ManyBetaBinomial
from dpviz.numerics.sums import cumulative_sum
from dpviz.privacy.hockey_stick import exceeds
from dpviz.types import BoolArray, FloatArray, IntArray


def beta_binomial_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Return the probability, at the worst table, that counts of SYNTH_Post(One) exceed ε against a neighbour.

    As in `dpviz.synthesizers._staircase`, down a row a tail gains Pr(t | i) t / x, right it loses what is passed.
    """
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
    pairs, columns = np.arange(len(t)), np.arange(t[0], t[-1])
    rows = np.repeat(pairs[1:], t[1:] - t[:-1])
    width = t - t[0]
    corner, passed = pairs + width, rows + (columns - t[0])
    steps = np.empty(len(t) + len(columns))
    steps[0] = log_first[0]
    steps[corner[:-1] + 1] = _log_odds(x, y, t, m)[:-1]
    room = m - columns
    steps[passed + 1] = np.log(room * (alpha + (rows + columns)) / ((columns + 1) * (alpha + (n - rows) + (room - 1))))
    log_path = cumulative_sum(steps).total()[1:]
    scale = max(float(log_path.max()), float(log_first.max()))
    with np.errstate(under="ignore"):
        path, row = np.exp(log_path - scale), np.exp(log_first - scale)
    gain = path[corner] * (t / x)
    tail = row.sum() + np.append(0.0, np.cumsum(gain[:-1])) - np.append(0.0, np.cumsum(path[passed]))[width]
    upper = np.zeros(n + 1)
    upper[0], upper[1 : len(t) + 1] = tail[0], tail + gain
    return min(float((upper + upper[::-1]).max()) * math.exp(scale), 1.0)


def _log_odds(x: FloatArray, y: FloatArray, j: IntArray, m: int) -> FloatArray:
    """ln Pr(j | i + 1) / Pr(j | i) of the Beta-binomial with x = α + i and y = β + n − 1 − i."""
    return np.log1p(j / x) - np.log1p((m - j) / y)


def plug_in_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Return the same of SYNTH_Post(Many), whose tails are incomplete beta functions."""
    i = np.arange(n)
    up: FloatArray = np.log1p(1 / (alpha + i))
    down: FloatArray = np.log1p(1 / (alpha + (n - 1 - i)))
    t = _thresholds(lambda j: j * up - (m - j) * down, (epsilon + m * down) / (up + down), m, epsilon)
    rows = np.arange(n + 1)
    least = t[np.maximum(rows - 1, 0)]
    inside = np.minimum(least, m)
    upper = np.where(least <= m, betainc(inside, m - inside + 1, (rows + alpha) / (n + 2 * alpha)), 0.0)
    return min(float((upper + upper[::-1]).max()), 1.0)


def _thresholds(log_odds: Callable[[IntArray], FloatArray], guess: FloatArray, m: int, epsilon: float) -> IntArray:
    """Return for each pair the smallest count whose log-odds exceed ε, m + 1 where none does; `guess` is corrected."""

    def told(j: IntArray) -> BoolArray:
        odds = log_odds(j)
        return exceeds(odds, epsilon) & (odds > 0)

    t: IntArray = np.clip(np.floor(guess), 0, m + 1).astype(np.int64)
    while np.any(early := (t > 0) & told(np.maximum(t - 1, 0))):
        t = t - early
    while np.any(late := (t <= m) & ~told(np.minimum(t, m))):
        t = t + late
    return np.maximum.accumulate(t)
