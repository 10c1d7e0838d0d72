"""What is made of a bounded statistic with Laplace noise, clipped to the bounds or drawn again until it lies inside.

A truncated density, for a statistic at c, is e^{−ε|t − c|} over the mass inside, and that mass grows with the distance
from the nearest end: it depends on the data. Source: Holohan et al. (2020), "The bounded Laplace mechanism in
differential privacy".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, log_ndtr, logsumexp

from dpviz.core.declarations import EPSILON
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.core.types import FloatArray
from dpviz.privacy.noisy_counts import NOISE_EPSILON

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

# Of an integral from the peak of its integrand, at 0: every panel ends twice as far away as the one before
PANEL_NODES, PANEL_WEIGHTS = gauss_legendre_panels([0.0, *2.0 ** np.arange(-30, 1)], 16)
SCORES = np.arange(-14.0, 14.0, 0.2)  # standard errors around its peak over which a draw of the mean is summed
SHIFTS = np.linspace(-200.0, 40.0, 24_001)


def truncated_factor(epsilon: float) -> float:
    """How many times larger the scale of truncated noise must be for ε > 0, whatever the range is.

    >>> round(truncated_factor(0.1), 2), round(truncated_factor(1.0), 2)
    (1.95, 1.61)
    """
    return epsilon / (math.log1p(math.expm1(epsilon) / 2) if epsilon < MAX_EXPONENT else epsilon - math.log(2))


def bounded_laplace_loss(epsilon: float, steps: float, truncate: bool) -> float:
    """Exact ε of a statistic with Laplace noise, which is conditioned on its range (`truncate`) or set to its ends.

    Parameters
    ----------
    epsilon : float
        Of the noise.
    steps : float
        Length of the statistic's range in units of its sensitivity.
    truncate : bool

    Notes
    -----
    A bound collects the probability of all that lies beyond it, so that no ratio grows. A truncated density is divided
    by the probability of the range, whose ratio between neighbours adds to ε; it is largest at a bound.

    Examples
    --------
    >>> bounded_laplace_loss(0.1, 1000, False), round(bounded_laplace_loss(0.1, 1000, True), 4)  # ln(2e^0.1 − 1)
    (0.1, 0.1909)
    """
    if not truncate:
        return epsilon
    # Twice the probabilities of the range, less than 0, at a bound and one step inside: inside = bound − first · rest
    first = math.expm1(-epsilon)
    rest = math.expm1(-epsilon * (steps - 1))
    return epsilon + math.log1p(-first * rest / math.expm1(-epsilon * steps))


@dataclass(frozen=True)
class ReleaseEvent:
    """The most extreme event of a release, made of a noisy statistic t from 0 to `steps`.

    One row moves the statistic by 1 at most, by a whole number if it `is_count`. `curve` is ln of the probability, or
    density, of the event given t: it falls with t and is concave. Beyond its last knot the event is impossible.
    """

    steps: float
    curve: "CubicSpline"
    is_count: bool = False


def _spline(log_probability: Callable[[FloatArray], FloatArray], reach: float, scale: float) -> "CubicSpline":
    """The function from 0 to `reach`, whose slope changes over the distance `scale` from an end."""
    from scipy.interpolate import CubicSpline  # takes long to import, and few need it

    # Knots close together near both ends
    middle = reach / 2
    end = math.asinh(middle / scale)
    near = np.sinh(np.linspace(0.0, end, max(8, math.ceil(end / 0.02)))) * scale
    near[-1] = middle
    knots = np.concatenate([near, (reach - near)[-2::-1]])
    return CubicSpline(knots, log_probability(knots))


@lru_cache(maxsize=64)
def _lowest_rows(rows: int, width: float, truncated: bool) -> ReleaseEvent:
    """The event that synthetic rows are all at the lower bound of the data, `width` deviations below the upper one.

    The sanitized mean is t/rows of the range above that bound: μ ~ N(mean, 1/rows), and then each row ~ N(μ, 1) is
    clipped to the bounds, or drawn again until it is inside. With v the bound less μ, the integrand is
    e^{rows · (ln Pr(one row | v) − (u + v)²/2)}, u the mean above the bound; it is summed around its peak.
    """

    def log_row(v: FloatArray) -> FloatArray:
        if not truncated:
            return log_ndtr(v)
        upper, lower = log_ndtr(-v - width), log_ndtr(-v)
        return -(v**2) / 2 - lower - np.log(-np.expm1(np.minimum(upper - lower, -1e-16)))

    peaks = np.gradient(log_row(SHIFTS), SHIFTS) - SHIFTS  # u where the integrand is largest at v

    def log_probability(t: FloatArray) -> FloatArray:
        u = t * width / rows
        v = np.interp(u, peaks[::-1], SHIFTS[::-1])[:, None] + SCORES / math.sqrt(rows)
        return logsumexp(rows * (log_row(v) - (u[:, None] + v) ** 2 / 2), axis=1)

    reach = rows * min(1.0, 390 / width)  # as far from the bound as `SHIFTS` hold the peak
    return ReleaseEvent(rows, _spline(log_probability, reach, rows / width))


@lru_cache(maxsize=64)
def no_ones(rows: int, sets: int) -> ReleaseEvent:
    """The event that all sets of rows from one noisy count t hold no one: p ~ Beta(1 + t, 1 + rows − t).

    Parameters
    ----------
    rows, sets : int
    """

    def log_probability(t: FloatArray) -> FloatArray:
        return np.asarray(sets * (betaln(1 + t, 1 + 2 * rows - t) - betaln(1 + t, 1 + rows - t)))

    return ReleaseEvent(rows, _spline(log_probability, float(rows), 1.0), is_count=True)


def event_loss(event: ReleaseEvent, epsilon: float, truncated: bool) -> float:
    """Largest ln Pr(event | c) − ln Pr(event | c + 1) over all statistics c of neighbouring data.

    Parameters
    ----------
    event : ReleaseEvent
    epsilon : float
        From 1e-12 to 1e6. The noise has the scale 1/ε.
    truncated : bool
        Whether a noisy statistic outside is drawn again, and not clipped.

    Notes
    -----
    That is the exact ε of the release if the event is extreme: if the ratio of its probabilities given any two t is
    beyond that of everything else that can be released, as it is of rows that are all at a bound (the likelihood ratio
    of a row is monotone in it, and that of Laplace noise, bounded in either way, is monotone in the statistic, so that
    their mixture is monotone in every row; Karlin, 1968, "Total positivity", chapter 3).
    """
    epsilon = NOISE_EPSILON.validate(epsilon)
    if epsilon < EPSILON.minimum:  # rounding would show, and a loss is in proportion to ε but for a millionth of it
        return event_loss(event, EPSILON.minimum, truncated) * (epsilon / EPSILON.minimum)
    low, high = 0.0, event.steps - 1
    largest = -math.inf
    for _ in range(4):  # each time around the worst so far
        # Statistics from one end to the other, closer together towards both
        spread = (1 - np.cos(np.linspace(0, math.pi, 33))) / 2
        statistics = low + (high - low) * spread**2 * (3 - 2 * spread)
        if event.is_count:
            statistics = np.unique(np.round(statistics))
        first, second = (_log_probability(event, epsilon, at, truncated) for at in (statistics, statistics + 1))
        index = int(np.argmax(first - second))
        largest = max(largest, float((first - second)[index]))
        low, high = statistics[max(index - 1, 0)], statistics[min(index + 1, len(statistics) - 1)]
        is_enough = largest >= epsilon * (1 - 1e-9) and not truncated  # ε is the bound of what is clipped
        if not low < high or is_enough:
            break
    return largest if truncated else min(largest, epsilon)


@lru_cache(maxsize=1024)
def rows_loss(rows: int, width: float, epsilon: float, truncated: bool) -> float:
    """Exact ε of as many synthetic rows as there are, drawn around a noisy mean, σ being public.

    All rows at a bound show the most, as `event_loss` says.

    Parameters
    ----------
    rows : int
    width, epsilon : float
        Distance of the bounds in standard deviations, and ε of the mean.
    truncated : bool
        Whether the mean and the rows are truncated to the bounds, and not clipped.
    """
    return event_loss(_lowest_rows(rows, width, truncated), epsilon, truncated)


def _log_probability(event: ReleaseEvent, epsilon: float, statistics: FloatArray, truncated: bool) -> FloatArray:
    """ln of the probability of the event given the statistics of the data.

    Up to a statistic the integrand rises to where the slope of the curve is −ε; beyond, it falls.
    """
    curve, steps = event.curve, event.steps
    start, end = np.zeros_like(statistics), np.full_like(statistics, float(curve.x[-1]))
    middle = np.minimum(statistics, end)
    peak = np.minimum(middle, _place_of_slope(curve, -epsilon))

    def log_integral(first: FloatArray, last: FloatArray, rate: float) -> FloatArray:
        """ln ∫ Pr(event | t) e^{rate (t − c)} ε/2 dt, where the integrand is largest at `first`."""
        t = first[:, None] + (last - first)[:, None] * PANEL_NODES
        with np.errstate(divide="ignore"):
            log_widths = np.log(np.abs(last - first) * epsilon / 2)[:, None]
        return np.asarray(logsumexp(curve(t) + rate * (t - statistics[:, None]) + log_widths, axis=1, b=PANEL_WEIGHTS))

    pieces = ((peak, start, epsilon), (peak, middle, epsilon), (middle, end, -epsilon))
    parts = [log_integral(*piece) for piece in pieces]
    if truncated:
        log_mass = np.log(-np.expm1(-epsilon * statistics) / 2 - np.expm1(-epsilon * (steps - statistics)) / 2)
        return np.asarray(logsumexp(parts, axis=0) - log_mass)
    parts.append(curve(0.0) - math.log(2) - epsilon * statistics)
    if curve.x[-1] == steps:
        parts.append(curve(steps) - math.log(2) - epsilon * (steps - statistics))
    return np.asarray(logsumexp(parts, axis=0))


def _place_of_slope(curve: "CubicSpline", slope: float) -> float:
    """Where a concave curve has this slope; an end where it has it nowhere."""
    start, end = curve.x[[0, -1]].tolist()
    if curve(start, 1) <= slope or curve(end, 1) >= slope:
        return start if curve(start, 1) <= slope else end
    return float(brentq(lambda t: curve(t, 1) - slope, start, end))
