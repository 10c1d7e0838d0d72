"""What "smallest error" means: on average over the counts, or at the worst of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.core.types import FloatArray
from dpviz.privacy.optimum import _estimates, _geometric
from dpviz.privacy.optimum._estimates import Mechanism

FITTED = 200  # n up to which the worst case is fitted at every x, and the number of steps of its prior beyond
LARGEST_PRIOR_STEP = 0.3  # Largest step of that prior, in units of 1/ε: nearly as good as steps of 1


@dataclass(frozen=True)
class ErrorCriterion:
    """A number out of the squared errors at x = 0 … n, `of` them, with the estimates and the prior that belong to it.

    `fit` returns the prior whose Bayes risk no estimates from a channel are below, and the best estimates. `pure`
    returns, of n and ε, the ε-private mechanism with the smallest error, a prior, and its Bayes risk: no other has
    less. `share` says how much of the error of some counts is an error of all, if they are this part of all counts.
    """

    of: Callable[[FloatArray], float]
    fit: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    pure: Callable[[int, float], tuple[Mechanism, FloatArray, float]]
    share: Callable[[float], float]


def _fit_average(channel: FloatArray) -> tuple[FloatArray, FloatArray]:
    prior = np.full(len(channel), 1 / len(channel))
    return prior, _estimates.bayes_estimates(channel, prior)[0]


def _pure_average(n: int, epsilon: float) -> tuple[Mechanism, FloatArray, float]:
    prior = np.full(n + 1, 1 / (n + 1))
    estimates, errors = _geometric.means_and_errors(prior, epsilon)
    return Mechanism(lambda: _geometric.channel(n, epsilon), estimates, errors), prior, float(errors.mean())


def _pure_worst(n: int, epsilon: float) -> tuple[Mechanism, FloatArray, float]:
    """As `ErrorCriterion` says; beyond `FITTED` from priors on some counts and on all, which leave a gap."""
    step = (
        1.0 if n <= FITTED else min(max(LARGEST_PRIOR_STEP / epsilon, 1.0), n / FITTED) if epsilon > 0 else n / FITTED
    )
    steps, own = min(n, FITTED), np.arange(n + 1.0)
    weights, estimates = _estimates.minimax(_geometric.channel(steps, epsilon * step))
    fitted = np.zeros(n + 1)
    np.add.at(fitted, np.rint((n - steps * step) / 2 + step * np.arange(steps + 1)).astype(int), weights)
    smooth = np.sin(np.pi * (own + 1) / (n + 2)) ** 2
    priors = [fitted] if n <= FITTED else [fitted, smooth / smooth.sum()]
    means, risks = zip(*(_geometric.means_and_errors(prior, epsilon) for prior in priors), strict=True)
    bounds = [float(prior @ risk) for prior, risk in zip(priors, risks, strict=True)]
    candidates = [own, *means, *([estimates] if n <= FITTED else [])]
    errors = [_geometric.errors_of_shifts(one - own, epsilon) for one in candidates]
    best = int(np.argmin([one.max() for one in errors]))
    mechanism = Mechanism(lambda: _geometric.channel(n, epsilon), candidates[best], errors[best])
    return mechanism, priors[int(np.argmax(bounds))], max(bounds)


CRITERIA = {
    # The Bayes risk of the uniform prior
    "average": ErrorCriterion(
        lambda errors: float(errors.mean()), _fit_average, _pure_average, lambda covered: covered
    ),
    # The Bayes risk of the least favorable prior; the worst of some counts is an error of all
    "worst": ErrorCriterion(lambda errors: float(errors.max()), _estimates.minimax, _pure_worst, lambda _: 1.0),
}
