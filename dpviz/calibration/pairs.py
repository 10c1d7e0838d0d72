"""Neighbouring pairs of counts and of Beta posteriors: their privacy losses, and how often log-odds exceed ε."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, digamma, polygamma

from dpviz.calibration.posterior_parameter import log_peak
from dpviz.core import limits
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy.composition import DiscreteLosses, Losses
from dpviz.privacy.hockey_stick import exceeds
from dpviz.privacy.loss_grid import LARGEST_GRID, LARGEST_TILT, LOSS_ROUNDING, LossGrid, split_shares

ManyBetaBinomial = BetaBinomial.up_to(limits.LARGEST_PRIOR_ROWS)
GAUSS_NODES, GAUSS_WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(3))


class BetaLosses(Losses):
    """The loss of θ ~ Beta(x + 1, y) against Beta(x, y + 1): L = ln(θ / (1 − θ)) + ln(y / x), not bounded.

    Tilted by λ < y, θ is Beta(A, B) with A = x + 1 + λ, B = y − λ, and L has a log-concave density with the mode
    ln(A / B) + ln(y / x). The mass of a grid cell is integrated by Gauss' rule with three points. Its error follows
    from the density's size on a disc around the cell (Trefethen, 2008, Theorem 4.5) and counts as mass astray.
    """

    largest = math.inf

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y
        self._shift = math.log(y / x)

    def cumulants(self, tilt: float) -> tuple[float, float, float]:
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        value = ones * math.log1p(tilt / ones) + self.y * math.log1p(-tilt / self.y) + tilt * math.log(a / b)
        value += tilt * self._shift + _log_peak_density(ones, self.y) - _log_peak_density(a, b)
        return value, float(digamma(a) - digamma(b)) + self._shift, float(polygamma(1, a) + polygamma(1, b))

    def usable_tilt(self, tilt: float) -> float:
        return min(tilt, self.y * (1 - 1e-6))

    def grid(self, spacing: float, tilt: float = 0.0, log_negligible: float = -80.0) -> LossGrid:
        tilt = min(tilt, LARGEST_TILT / spacing)
        ones, a, b = self.x + 1, self.x + 1 + tilt, self.y - tilt
        mode = math.log(a / b) + self._shift
        reach, below = _tail(b, a, -42.0)
        low = mode - reach
        reach, beyond = _tail(ones, self.y, log_negligible)
        high = math.log(ones / self.y) + self._shift + reach
        spacing = max(spacing, (high - low) / LARGEST_GRID)
        cells, top = math.ceil((high - low) / spacing), _log_peak_density(a, b)
        rest = spacing * (0.5 + GAUSS_NODES)
        with np.errstate(under="ignore"):
            density = np.exp(top - _depth(a, b, (low - mode) + spacing * np.arange(cells)[:, None] + rest))
            to_lower, to_upper = (
                np.einsum("ij,j->i", density, spacing * GAUSS_WEIGHTS * share)
                for share in split_shares(rest, spacing, tilt)
            )
        disc = 4 / (spacing * (math.sqrt(a + b) / 2 + tilt + 2))
        quadrature = 20 * (high - low) * math.exp(top) * disc**-5 if disc > 4 else 1.0
        mass_error = LOSS_ROUNDING * (30 + float(_depth(a, b, np.array(low - mode))) + a * (b / (a + b)) * (high - low))
        unit, astray = self.cumulants(tilt)[0], min(below + quadrature, 1.0)
        return LossGrid.from_cells(
            low, spacing, tilt, to_lower, to_upper, log_unit=unit, beyond=beyond, astray=astray, mass_error=mass_error
        )


def beta_binomial_pair(x: float, y: float, m: int) -> DiscreteLosses:
    """L(j) = ln(1 + j / x) − ln(1 + (m − j) / y) of BetaBinomial(m; x + 1, y) against BetaBinomial(m; x, y + 1)."""
    j = np.arange(m + 1)
    rest, before = m - j, j[:-1]
    ratios = rest[:-1] * (x + 1 + before) / ((before + 1) * (y + (m - 1 - before)))  # of neighbouring masses
    log_masses = cumulative_sum(np.log(ratios)).total()
    log_masses -= log_masses.max()
    with np.errstate(under="ignore"):
        log_masses -= math.log(float(np.exp(log_masses).sum()))
    return DiscreteLosses(np.log1p(j / x) - np.log1p(rest / y), log_masses)


def _log_peak_density(a: float, b: float) -> float:
    """ln of the largest density of the logit of Beta(a, b), at logit ln(a / b)."""
    return float(log_peak(np.array(a), np.array(b))) + math.log(a * (b / (a + b)))


def _depth(a: float, b: float, away: FloatArray) -> FloatArray:
    """ln of the largest density of the logit of Beta(a, b) over that at `away` from the mode; convex, 0 at 0."""
    with np.errstate(over="ignore"):
        return a * np.log1p(b / (a + b) * np.expm1(-away)) + b * np.log1p(a / (a + b) * np.expm1(away))


def _tail(a: float, b: float, log_mass: float) -> tuple[float, float]:
    """How far above the mode the logit of Beta(a, b) has a tail of at most e^`log_mass`, and a bound on that tail."""
    peak = _log_peak_density(a, b)

    def log_tail(away: float) -> float:  # a log-concave density falling at the relative rate r has 1 / r beyond
        rate = a * (b / (a + b * math.exp(-away))) * -math.expm1(-away)
        return peak - float(_depth(a, b, np.array(away))) - math.log(rate)

    near, far = 0.0, 1 / math.sqrt(a * (b / (a + b)))
    while log_tail(far) > log_mass:
        near, far = far, 2 * far
    if near > 0:
        far = float(brentq(lambda away: log_tail(away) - log_mass, near, far, rtol=1e-3))
    return far, math.exp(log_tail(far))


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
