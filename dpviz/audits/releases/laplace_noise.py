"""Laplace noise on a statistic of bounded range: clipped to the range, or drawn again until it lies inside.

A truncated density, for a statistic at c, is e^{−ε|t − c|} over the mass inside, and that mass grows with the distance
from the nearest end: it depends on the data. Source: Holohan et al. (2020), "The bounded Laplace mechanism in
differential privacy".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, log_ndtr, logsumexp

from dpviz.types import FloatArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
MOST_PAIRS = 24  # Pairs of neighbours, from the lower end on, among which the worst for a truncated release is sought
SCORES = np.arange(-14.0, 14.0, 0.2)  # Standard errors around its peak over which a draw of the mean is summed
SHIFTS = np.linspace(-200.0, 40.0, 24_001)
DROP = 45.0  # Nats by which an integrand has fallen where it is cut off


@dataclass(frozen=True)
class Seen:
    """Something that is seen: ln of its probability given the noisy statistic, in steps above its lower bound.

    It falls with the statistic, and is nothing from `reach` steps on.
    """

    log_probability: Callable[[FloatArray], FloatArray]
    reach: float


def truncated_factor(epsilon: float) -> float:
    """Return how many times larger the scale of truncated noise must be for ε, whatever the range is.

    >>> round(truncated_factor(0.1), 2), round(truncated_factor(1.0), 2)
    (1.95, 1.61)
    """
    return epsilon / math.log1p(math.expm1(epsilon) / 2) if epsilon < 700 else 1.0


def truncated_log_odds(seen: Seen, epsilon: float, steps: float) -> float:
    """Return the largest ln Pr(seen | c) − ln Pr(seen | c + 1) over the first whole c: less than the loss, or equal."""
    t, log_weights = _grid(epsilon, min(steps, seen.reach))
    inside = seen.log_probability(t) + log_weights
    places = np.arange(min(MOST_PAIRS, math.floor(steps)) + 1)
    found = [_log_sum(inside, t, c, epsilon) - _log_mass(c, epsilon, steps) for c in places.tolist()]
    return float(np.max(-np.diff(found)))


def clipped_log_odds(seen: Seen, epsilon: float, steps: float) -> float:
    """Return ln Pr(seen | 0) − ln Pr(seen | 1) where noise beyond the range is set to its ends."""
    t, log_weights = _grid(epsilon, min(steps, seen.reach))
    inside, ends = seen.log_probability(t) + log_weights, seen.log_probability(np.array([0.0, steps]))

    def log_probability(c: float) -> float:
        tails = ends + math.log(0.5) - epsilon * np.array([c, steps - c])
        return float(logsumexp([_log_sum(inside, t, c, epsilon), *tails]))

    return log_probability(0.0) - log_probability(1.0)


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

    return Seen(log_seen, 2 * DROP / width)


def no_ones(rows: int, sets: int) -> Seen:
    """Return the event that `sets` sets of rows from one noisy count t hold no one: p ~ Beta(1 + t, 1 + rows − t)."""
    return Seen(lambda t: sets * (betaln(1 + t, 1 + 2 * rows - t) - betaln(1 + t, 1 + rows - t)), 2 * DROP / sets)


def _grid(epsilon: float, end: float) -> tuple[FloatArray, FloatArray]:
    """Points of a quadrature on [0, end] and ln of their weights: panels end at every whole number near 0."""
    near = np.arange(1.0, min(MOST_PAIRS, math.floor(end)) + 1)
    ends = [0.0, *(end * 2.0**-power for power in range(40, 0, -1) if end * 2.0**-power < 1), *near]
    while ends[-1] < end and epsilon * (ends[-1] - MOST_PAIRS) < 800:
        ends.append(min(end, ends[-1] * 1.3, ends[-1] + 8 / epsilon))
    half = np.diff(ends) / 2
    points = (np.array(ends[:-1]) + half)[:, None] + half[:, None] * NODES
    return points.ravel(), np.log(half[:, None] * WEIGHTS * epsilon / 2).ravel()


def _log_sum(inside: FloatArray, t: FloatArray, c: float, epsilon: float) -> float:
    return float(logsumexp(inside - epsilon * np.abs(t - c)))


def _log_mass(c: float, epsilon: float, steps: float) -> float:
    return math.log(-math.expm1(-epsilon * c) / 2 - math.expm1(-epsilon * (steps - c)) / 2)
