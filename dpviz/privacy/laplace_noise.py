"""What is made of a bounded statistic with Laplace noise, clipped to the bounds or drawn again until it lies inside.

A truncated density, for a statistic at c, is e^{−ε|t − c|} over the mass inside, and that mass grows with the distance
from the nearest end: it depends on the data. Source: Holohan et al. (2020), "The bounded Laplace mechanism in
differential privacy".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, log_ndtr, logsumexp

from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.quadrature import INTEGRAND_DROP, on_panels
from dpviz.core.types import FloatArray

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Of an integral from its peak, at 0, to where it has fallen, at 1: six panels of 16 nodes.
EVENT_PLACES, EVENT_WEIGHTS = on_panels(np.linspace(0, 1, 7).tolist(), 16)
CROSSING_HALVINGS = 20  # Of an interval in which a bound of an integral is sought, which need not be exact
# Relative distance of a clipped statistic's loss from ε, which it cannot exceed, that ends the search
CLIPPED_LOSS_TOLERANCE = 1e-9
KNOT = 0.02  # Distance of the knots of ln Pr(seen | t), near an end in units of its `scale`
PLACES, STATISTIC_ROUNDS = 33, 4  # Statistics that are tried, and how often they move nearer to the worst
SCORES = np.arange(-14.0, 14.0, 0.2)  # Standard errors around its peak over which a draw of the mean is summed
SHIFTS = np.linspace(-200.0, 40.0, 24_001)
FARTHEST_SHIFT = 390.0  # Standard deviations from the bound up to which those shifts hold the peak


def truncated_factor(epsilon: float) -> float:
    """Return how many times larger the scale of truncated noise must be for ε, whatever the range is.

    >>> round(truncated_factor(0.1), 2), round(truncated_factor(1.0), 2)
    (1.95, 1.61)
    """
    return epsilon / math.log1p(math.expm1(epsilon) / 2) if epsilon < LARGEST_EXPONENT else 1.0


@dataclass(frozen=True)
class Seen:
    """What a release shows at its most extreme, made of a noisy statistic t from 0 to `steps`.

    One row moves the statistic by 1 at most, by a whole number where it is a `count`. `log_probability` is ln of the
    probability, or density, of what is seen given t. It falls with t and is concave; beyond `reach` it is nothing.
    `scale` is the distance from an end of the range over which it changes its slope.
    """

    steps: float
    log_probability: Callable[[FloatArray], FloatArray]
    scale: float
    reach: float
    count: bool = False

    @cached_property
    def curve(self) -> "CubicSpline":
        """Return the logarithm as a spline, its knots close together near both ends of the range."""
        from scipy.interpolate import CubicSpline  # it takes long to load, and few ask for it

        middle, end = self.reach / 2, math.asinh(self.reach / 2 / self.scale)
        near = np.sinh(np.linspace(0.0, end, max(8, math.ceil(end / KNOT)))) * self.scale
        near[-1] = middle
        knots = np.concatenate([near, (self.reach - near)[-2::-1]])
        return CubicSpline(knots, self.log_probability(knots))


@lru_cache(maxsize=64)
def lowest_rows(rows: int, width: float, truncated: bool) -> Seen:
    """Return the event that `rows` synthetic rows are all at the lower bound of the data.

    The sanitized mean is t/rows of the range above that bound: μ ~ N(mean, 1/rows), and then each row ~ N(μ, 1) is
    clipped to the bounds, `width` apart, or drawn again until it is inside. With v the bound less μ, the integrand is
    e^{rows · (ln Pr(one row | v) − (u + v)²/2)}, u the mean above the bound; it is summed around its peak.
    """

    def log_row(v: FloatArray) -> FloatArray:
        if not truncated:
            return log_ndtr(v)
        upper, lower = log_ndtr(-v - width), log_ndtr(-v)
        return -(v**2) / 2 - lower - np.log(-np.expm1(np.minimum(upper - lower, -1e-16)))

    slope = np.gradient(log_row(SHIFTS), SHIFTS)
    peaks = slope - SHIFTS  # u where the integrand is largest at v

    def log_seen(t: FloatArray) -> FloatArray:
        u = t * width / rows
        v = np.interp(u, peaks[::-1], SHIFTS[::-1])[:, None] + SCORES / math.sqrt(rows)
        return logsumexp(rows * (log_row(v) - (u[:, None] + v) ** 2 / 2), axis=1)

    return Seen(rows, log_seen, rows / width, rows * min(1.0, FARTHEST_SHIFT / width))


@lru_cache(maxsize=64)
def no_ones(rows: int, sets: int) -> Seen:
    """Return the event that `sets` sets of rows from one noisy count t hold no one: p ~ Beta(1 + t, 1 + rows − t)."""

    def log_seen(t: FloatArray) -> FloatArray:
        found: FloatArray = sets * (betaln(1 + t, 1 + 2 * rows - t) - betaln(1 + t, 1 + rows - t))
        return found

    return Seen(rows, log_seen, 1.0, float(rows), count=True)


def seen_loss(seen: Seen, epsilon: float, truncated: bool) -> float:
    """Return the largest ln Pr(seen | c) − ln Pr(seen | c + 1) over all statistics c of neighbouring data.

    That is the exact ε of the release where what is seen is extreme: where the ratio of its probabilities given any two
    t is beyond that of everything else that can be released, as it is of rows that are all at a bound (the likelihood
    ratio of a row is monotone in it, and that of Laplace noise, bounded in either way, is monotone in the statistic, so
    that their mixture is monotone in every row; Karlin, 1968, "Total positivity", chapter 3).
    """
    low, high = 0.0, seen.steps - 1
    best = -math.inf
    for _ in range(STATISTIC_ROUNDS):
        places = _between(low, high, seen.count)
        first, second = np.split(_log_seen(seen, epsilon, np.concatenate([places, places + 1]), truncated), 2)
        found = first - second
        at = int(np.argmax(found))
        best = max(best, float(found[at]))
        low, high = places[max(at - 1, 0)], places[min(at + 1, len(places) - 1)]
        if not low < high or (best >= epsilon * (1 - CLIPPED_LOSS_TOLERANCE) and not truncated):
            break
    return best if truncated else min(best, epsilon)


@lru_cache(maxsize=1024)
def rows_loss(rows: int, width: float, epsilon: float, truncated: bool) -> float:
    """Return the exact ε of as many synthetic rows as there are, drawn around a noisy mean, σ being public.

    `width` is that of the bounds in standard deviations; both the mean and the rows are clipped to them, or truncated.
    All rows at a bound show the most, as `seen_loss` says.

    >>> round(rows_loss(10, 8.0, 1.0, False), 9), round(rows_loss(10, 8.0, 100.0, False), 4)
    (1.0, 31.288)
    """
    return seen_loss(lowest_rows(rows, width, truncated), epsilon, truncated)


def _between(low: float, high: float, whole: bool) -> FloatArray:
    """Places from one end to the other, closer together towards both."""
    spread = (1 - np.cos(np.linspace(0, math.pi, PLACES))) / 2
    places = low + (high - low) * spread**2 * (3 - 2 * spread)
    return np.unique(np.round(places)) if whole else places


def _log_seen(seen: Seen, epsilon: float, at: FloatArray, truncated: bool) -> FloatArray:
    """ln of the probability that it is seen, for the statistics `at`.

    Below a statistic and above it the integrand is log-concave, so it is summed from its peak to where it is nothing.
    """
    curve, middle = seen.curve, np.minimum(at, seen.reach)
    parts = _log_sums(curve, at, np.zeros_like(at), middle, epsilon)
    parts += _log_sums(curve, at, middle, np.full_like(at, seen.reach), -epsilon)
    if truncated:
        log_mass = np.log(-np.expm1(-epsilon * at) / 2 - np.expm1(-epsilon * (seen.steps - at)) / 2)
        return np.asarray(logsumexp(parts, axis=0) - log_mass)
    parts.append(curve(0.0) - math.log(2) - epsilon * at)
    if seen.reach == seen.steps:
        parts.append(curve(seen.steps) - math.log(2) - epsilon * (seen.steps - at))
    return np.asarray(logsumexp(parts, axis=0))


def _log_sums(
    curve: "CubicSpline", at: FloatArray, first: FloatArray, last: FloatArray, rate: float
) -> list[FloatArray]:
    """ln ∫ Pr(seen | t) e^{rate (t − at)} ε/2 dt, ε = |rate|, from `first` to its peak and from there to `last`."""

    def height(t: FloatArray) -> FloatArray:
        return np.asarray(curve(t) + rate * (t - (at if t.ndim == 1 else at[:, None])))

    peak = _crossing(lambda t: curve(t, 1) + rate, first, last)
    low, found = height(peak) - INTEGRAND_DROP, []
    for end in (first, last):
        outer = _crossing(lambda t: height(t) - low, peak, end)
        t = peak[:, None] + (outer - peak)[:, None] * EVENT_PLACES
        with np.errstate(divide="ignore"):
            log_weights = np.log(np.abs(outer - peak))[:, None] + np.log(EVENT_WEIGHTS)
        found.append(logsumexp(height(t) + log_weights, axis=1) + math.log(abs(rate) / 2))
    return found


def _crossing(positive: Callable[[FloatArray], FloatArray], here: FloatArray, there: FloatArray) -> FloatArray:
    """The last place on the way from `here` to `there` up to which it is positive, which it stops to be but once."""
    whole = positive(there) > 0
    end = there
    for _ in range(CROSSING_HALVINGS):
        middle = (here + there) / 2
        inside = positive(middle) > 0
        here, there = np.where(inside, middle, here), np.where(inside, there, middle)
    return np.where(whole, end, here)
