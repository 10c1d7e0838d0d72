"""Neighbouring pairs of counts and of Beta posteriors: their privacy losses, and how often log-odds exceed ε."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, digamma

from dpviz.calibration.posterior_parameter import log_peak
from dpviz.core import limits
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy.divergence import exceeds
from dpviz.privacy.pld import PrivacyLossDistribution

ManyBetaBinomial = BetaBinomial.up_to(limits.MAX_PRIOR_ROWS)
DENSITY_POINTS = 40_000  # about as many as the grid on which the losses are then added up has
NEGLIGIBLE_DEPTH = 42.0  # a density that has fallen by e to this is less than the rounding of its sum


def parameter_losses(x: float, y: float, mean_loss: float) -> PrivacyLossDistribution:
    """Privacy loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), which has no bound.

    Parameters
    ----------
    x, y : float
        (Invented) rows that both tables share.
    mean_loss : float
        Where the sum of several losses is cut, for each of them.

    Returns
    -------
    PrivacyLossDistribution
        The density at even points around the saddle point, by the trapezoid rule, which is exact to many digits for a
        density that is analytic and falls off at both ends.

    Notes
    -----
    Tilted by λ < y, θ is Beta(x + 1 + λ, y − λ), and L has a log-concave density with the mode ln(A / B) + ln(y / x).
    """
    shift = math.log(y / x)

    def tilted_mean(tilt: float) -> float:
        return float(digamma(x + 1 + tilt) - digamma(y - tilt)) + shift

    # The tilt that moves the mean to `mean_loss`, and the points where the tilted density is not negligible
    tilt = 0.0
    largest = y * (1 - 1e-6)
    if tilted_mean(0.0) < mean_loss:
        tilt = largest
        if tilted_mean(largest) > mean_loss:
            tilt = float(brentq(lambda tilt: tilted_mean(tilt) - mean_loss, 0.0, largest, rtol=1e-3))
    a, b = x + 1 + tilt, y - tilt
    mode = math.log(a / b)
    logits = np.linspace(mode - _reach(b, a), mode + _reach(a, b), DENSITY_POINTS)

    log_density = _log_peak_density(x + 1, y) - _depth(x + 1, y, logits - math.log((x + 1) / y))
    return PrivacyLossDistribution(logits + shift, log_density + math.log(logits[1] - logits[0]))


def beta_binomial_losses(x: float, y: float, m: int) -> PrivacyLossDistribution:
    """Privacy loss ln(1 + j / x) − ln(1 + (m − j) / y) of BetaBinomial(m; x + 1, y) to BetaBinomial(m; x, y + 1)."""
    j = np.arange(m + 1)
    rest, before = m - j, j[:-1]
    ratios = rest[:-1] * (x + 1 + before) / ((before + 1) * (y + (m - 1 - before)))  # of neighbouring masses
    log_masses = cumulative_sum(np.log(ratios)).total()
    log_masses -= log_masses.max()
    with np.errstate(under="ignore"):
        log_masses -= math.log(float(np.exp(log_masses).sum()))
    return PrivacyLossDistribution(np.log1p(j / x) - np.log1p(rest / y), log_masses)


def _log_peak_density(a: float, b: float) -> float:
    """ln of the largest density of the logit of Beta(a, b), at logit ln(a / b)."""
    return float(log_peak(np.array(a), np.array(b))) + math.log(a * (b / (a + b)))


def _depth(a: float, b: float, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    with np.errstate(over="ignore"):
        return a * np.log1p(b / (a + b) * np.expm1(-away)) + b * np.log1p(a / (a + b) * np.expm1(away))


def _reach(a: float, b: float) -> float:
    """How far above the mode the density of the logit of Beta(a, b) has fallen by e^`NEGLIGIBLE_DEPTH`."""
    far = 1 / math.sqrt(a * (b / (a + b)))
    while float(_depth(a, b, np.array(far))) < NEGLIGIBLE_DEPTH:
        far *= 2
    return float(brentq(lambda away: float(_depth(a, b, np.array(away))) - NEGLIGIBLE_DEPTH, 0.0, far, rtol=1e-3))


def beta_binomial_failure(n: int, m: int, alpha: float, epsilon: float) -> float:
    """Return the probability, at the worst table, that counts of SYNTH_Post(One) exceed ε against a neighbour.

    A count tells row i from a neighbour where it is at least the threshold of the pair i − 1, i or at most that of the
    pair i, i + 1 seen from the other end; with α = β the lower tail of row i is the upper tail of row n − i. Along
    one staircase through all thresholds, down a row a tail gains Pr(t | i) t / x, right it loses what is passed.
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
    smallest = t[np.maximum(rows - 1, 0)]
    inside = np.minimum(smallest, m)
    upper = np.where(smallest <= m, betainc(inside, m - inside + 1, (rows + alpha) / (n + 2 * alpha)), 0.0)
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
