"""What an analyst makes of a released column: the posterior mean under a prior, and the estimate for the worst x."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dpviz.core.types import FloatArray

MINIMAX_TOLERANCE = 1e-10  # Relative gap between the two sides of the minimax theorem at which the search ends
NEWTON_STEPS = 80
STEP_SHARE = 0.99  # Of the longest step that keeps every weight positive
CENTERING = 0.1
RIDGE = 1e-13  # Added to the diagonal, relative to it, so that rounding does not make the matrix singular


@dataclass(frozen=True)
class Mechanism:
    """Pr(column | x), made when asked for, the estimate of x in every column, and its squared error at every x."""

    channel: Callable[[], FloatArray]
    estimates: FloatArray
    errors: FloatArray


def bayes_estimates(channel: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean of x in every column under the prior `weights`, and its squared error at every x.

    The errors weighted by the prior are the smallest that any estimate from this channel has: the Bayes risk.

    >>> estimates, errors = bayes_estimates(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    >>> estimates.tolist(), errors.tolist()
    ([0.25, 0.75], [0.1875, 0.1875])
    """
    counts = np.arange(len(channel), dtype=float)
    mass = weights @ channel
    silent = mass <= 0
    estimates = np.where(silent, counts[-1] / 2, (weights * counts) @ channel / np.where(silent, 1.0, mass))
    estimates = np.clip(estimates, 0, counts[-1])  # A mean leaves the range by rounding alone
    return estimates, squared_errors(channel, estimates)


def squared_errors(channel: FloatArray, estimates: FloatArray) -> FloatArray:
    """Return the expected squared error of these estimates at every x."""
    distances = estimates[None, :] - np.arange(len(channel))[:, None]
    errors: FloatArray = np.einsum("xj,xj->x", channel, distances**2)
    return errors


def minimax(channel: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least favorable prior of a channel, and the estimates whose largest error over x is the smallest.

    Both sides of the minimax theorem are at hand: no estimates have a largest error below the Bayes risk of any prior.
    Newton steps for prior and estimates together, along the path on which prior times slack is the same for all x,
    close the gap between the best of either side.
    """
    size = len(channel)
    counts, weights = np.arange(size, dtype=float), np.full(size, 1 / size)
    estimates, errors = bayes_estimates(channel, weights)
    scale = float(weights @ errors)
    prior, readings, smallest, highest = weights, estimates, float(errors.max()), scale
    if scale <= 0:
        return prior, readings
    level = 1.1 * smallest / scale
    slack = level - errors / scale
    for _ in range(NEWTON_STEPS):
        if smallest - highest <= MINIMAX_TOLERANCE * smallest:
            break
        target = CENTERING * float(weights @ slack) / size
        slopes = 2 / scale * channel * (estimates[None, :] - counts[:, None])
        mass = weights @ channel
        bends = 2 / scale * np.where(mass > 0, mass, np.inf)  # What says nothing stays where it is
        drift = weights @ slopes
        matrix = (slopes / bends) @ slopes.T
        matrix[np.diag_indices(size)] += slack / weights
        matrix[np.diag_indices(size)] *= 1 + RIDGE
        try:
            factor = cho_factor(matrix)
        except (LinAlgError, ValueError):  # singular, or no longer finite: what was found before is as proven
            break
        wanted = cho_solve(factor, errors / scale - level + target / weights - slopes @ (drift / bends))
        ones = cho_solve(factor, np.ones(size))
        rise = float(wanted.sum() / ones.sum())
        step = wanted - rise * ones
        slack_step = (target - slack * (weights + step)) / weights
        shift = -(drift + step @ slopes) / bends
        length = min(1.0, STEP_SHARE * _room(weights, step), STEP_SHARE * _room(slack, slack_step))
        weights = weights + length * step
        weights /= weights.sum()
        slack, level, estimates = slack + length * slack_step, level + length * rise, estimates + length * shift
        errors = squared_errors(channel, estimates)
        _, of_prior = bayes_estimates(channel, weights)
        if weights @ of_prior > highest:
            prior, highest = weights, float(weights @ of_prior)
        if errors.max() < smallest:
            readings, smallest = estimates, float(errors.max())
    return prior, readings


def _room(values: FloatArray, step: FloatArray) -> float:
    """Return the longest step at which no value falls below 0."""
    falling = step < 0
    return float(np.min(-values[falling] / step[falling])) if falling.any() else np.inf
