"""What an analyst makes of a released column: the posterior mean under a prior, and the estimate for the worst x."""

import math

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dpviz.core.types import FloatArray

STEP_SHARE = 0.99  # of the longest step that keeps every weight positive


def posterior_means(channel: FloatArray, weights: FloatArray) -> FloatArray:
    """Posterior mean of x in every column under a prior, the Bayes estimate; n/2 in an impossible column.

    Parameters
    ----------
    channel : ndarray of shape (n + 1, columns)
    weights : ndarray of shape (n + 1,)
        The prior, up to a factor.
    """
    counts = np.arange(len(channel), dtype=float)
    mass = weights @ channel
    estimates = np.full(len(mass), counts[-1] / 2)
    np.divide((weights * counts) @ channel, mass, out=estimates, where=mass > 0)
    return np.clip(estimates, 0, counts[-1])  # a mean leaves the range by rounding alone


def _squared_errors(channel: FloatArray, estimates: FloatArray) -> FloatArray:
    """Expected squared error of these estimates at every x."""
    distances = estimates[None, :] - np.arange(len(channel))[:, None]
    return np.asarray(np.einsum("xj,xj->x", channel, distances**2))


def minimax_estimates(channel: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least favorable prior of a channel, and the estimates whose largest error over x is the smallest.

    Both sides of the minimax theorem are at hand: no estimates have a largest error below the Bayes risk of any prior.
    Newton steps for prior and estimates together, along the path on which prior times slack is the same for all x,
    close the gap between the best of either side.
    """
    size = len(channel)
    counts = np.arange(size, dtype=float)
    weights = np.full(size, 1 / size)
    estimates = posterior_means(channel, weights)
    errors = _squared_errors(channel, estimates)
    best_prior, best_estimates = weights, estimates
    smallest, largest = float(errors.max()), float(weights @ errors)  # largest error, and Bayes risk, so far
    scale = largest
    if scale <= 0:
        return best_prior, best_estimates
    level = 1.1 * smallest / scale
    slack = level - errors / scale
    for _ in range(80):
        if smallest - largest <= 1e-10 * smallest:
            break

        # The Newton step, with the estimates eliminated
        target = 0.1 * float(weights @ slack) / size
        slopes = 2 / scale * channel * (estimates[None, :] - counts[:, None])
        mass = weights @ channel
        curvature = 2 / scale * mass
        curvature[curvature == 0] = np.inf  # an impossible column stays where it is
        drift = weights @ slopes
        matrix = (slopes / curvature) @ slopes.T
        matrix[np.diag_indices(size)] += slack / weights
        matrix[np.diag_indices(size)] *= 1 + 1e-13  # so that rounding does not make it singular
        try:
            factor = cho_factor(matrix)
        except (LinAlgError, ValueError):  # singular, or no longer finite: the best so far are as proven
            break
        target_step = cho_solve(factor, errors / scale - level + target / weights - slopes @ (drift / curvature))
        unit_rise = cho_solve(factor, np.ones(size))
        rise = float(target_step.sum() / unit_rise.sum())
        step = target_step - rise * unit_rise
        slack_step = (target - slack * (weights + step)) / weights
        length = min(1.0, STEP_SHARE * _longest_step(weights, step), STEP_SHARE * _longest_step(slack, slack_step))

        # The best of either side
        estimates = estimates - length * (drift + step @ slopes) / curvature
        weights = weights + length * step
        weights /= weights.sum()
        slack = slack + length * slack_step
        level += length * rise
        errors = _squared_errors(channel, estimates)
        risk = float(weights @ _squared_errors(channel, posterior_means(channel, weights)))
        if risk > largest:
            best_prior, largest = weights, risk
        if errors.max() < smallest:
            best_estimates, smallest = estimates, float(errors.max())
    return best_prior, best_estimates


def _longest_step(values: FloatArray, step: FloatArray) -> float:
    """Longest step at which no value falls below 0."""
    is_falling = step < 0
    return float(np.min(-values[is_falling] / step[is_falling], initial=math.inf))
