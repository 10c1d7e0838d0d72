"""What "smallest error" means; with δ > 0, the best mechanism that is found, and a bound on all others."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.core.limits import PROGRAMME_ROWS
from dpviz.core.numerics.ends import gain
from dpviz.core.types import FloatArray
from dpviz.privacy.optimum import _estimates, _geometric
from dpviz.privacy.optimum._bound import Bound
from dpviz.privacy.optimum._estimates import Mechanism
from dpviz.privacy.optimum._noise import Noise, NoiseMixture, best_mixture

# Relative gap of the squared error at which the bound for the average is enough for the worst x
AVERAGE_BOUND_TOLERANCE = 4e-3
# Of the way from the released number to a better estimate: where n is above `FITTED` the best is mostly near the end
PARTS = (0.0, 0.25, 0.5, 0.75, 0.85, 0.9, 0.95, 1.0)
SEEDS = 6  # Reaches between 1 and n with which the search for a bound begins
FINE_ERROR = 4.0  # Standard errors, in counts, from which counts in steps bound the error of large n

FITTED = 200  # n up to which the worst case is fitted at every x, and the number of steps of its prior beyond
LARGEST_PRIOR_STEP = 0.3  # Largest step of that prior, in units of 1/ε: nearly as good as steps of 1


@dataclass(frozen=True)
class ErrorCriterion:
    """A number out of the squared errors at x = 0 … n, `of` them.

    `pure` returns, of n and ε, the ε-private mechanism with the smallest error, and the Bayes risk of a prior: no other
    has less. `share` says how much of the error of some counts is an error of all, if they are this part of all counts.
    """

    of: Callable[[FloatArray], float]
    pure: Callable[[int, float], tuple[Mechanism, float]]
    share: Callable[[float], float]


def _pure_average(n: int, epsilon: float) -> tuple[Mechanism, float]:
    estimates, errors = _geometric.means_and_errors(np.full(n + 1, 1 / (n + 1)), epsilon)
    return Mechanism(partial(_geometric.channel, n, epsilon), estimates, errors), float(errors.mean())


def _pure_worst(n: int, epsilon: float) -> tuple[Mechanism, float]:
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
    bound = max(float(prior @ risk) for prior, risk in zip(priors, risks, strict=True))
    candidates = [own, *means, *([estimates] if n <= FITTED else [])]
    errors = [_geometric.errors_of_shifts(one - own, epsilon) for one in candidates]
    best = int(np.argmin([one.max() for one in errors]))
    return Mechanism(partial(_geometric.channel, n, epsilon), candidates[best], errors[best]), bound


CRITERIA = {
    # The Bayes risk of the uniform prior
    "average": ErrorCriterion(lambda errors: float(errors.mean()), _pure_average, lambda covered: covered),
    # The Bayes risk of the least favorable prior; the worst of some counts is an error of all
    "worst": ErrorCriterion(lambda errors: float(errors.max()), _pure_worst, lambda _: 1.0),
}


def search(n: int, epsilon: float, delta: float, criterion: ErrorCriterion) -> tuple[Mechanism, float]:
    """Return the mixture of noises with the smallest error, read as its user reads it best, and a bound on all others.

    For the worst x the noises are chosen under the prior of the bound, which is nearly the least favorable one.
    """
    even = np.full(n + 1, 1 / (n + 1))
    mixture = best_mixture(n, epsilon, delta, even)
    best = _read(mixture, mixture.means(even))
    error, average = criterion.of(best.errors), float(best.errors.mean())
    bound = _bound_of_pairs(n, epsilon, delta, criterion)
    if bound >= error * (1 - 1e-12) or average <= 0:
        return best, bound
    if n > PROGRAMME_ROWS:
        bound = max(bound, _bound_of_some(n, epsilon, delta, criterion, average))
        prior = even
    else:
        found = _programme(mixture, delta, average, worst=False)
        bound, prior = max(bound, found.value), found.prior
    if criterion is CRITERIA["worst"] and bound < (1 - AVERAGE_BOUND_TOLERANCE) * error:
        if n <= PROGRAMME_ROWS:
            found = _programme(mixture, delta, average, worst=True)
            bound, prior = max(bound, found.value), found.prior
        for mixed in (best_mixture(n, epsilon, delta, prior), mixture):
            plain = np.clip(mixed.releases, 0, n)
            readings = [plain + part * (one - plain) for one in (_minimax(mixed), mixed.means(prior)) for part in PARTS]
            best = min((best, *(_read(mixed, one) for one in readings)), key=lambda one: criterion.of(one.errors))
    return best, bound


def _read(mixture: NoiseMixture, estimates: FloatArray) -> Mechanism:
    return Mechanism(mixture.channel, estimates, mixture.errors(estimates))


def _programme(mixture: NoiseMixture, delta: float, average: float, *, worst: bool) -> Bound:
    """Return the bound for the promise of a mixture whose average error is known, which is a good place to begin."""
    noise = mixture.parts[0][1]
    used = {(one.left, one.right) for _, one in mixture.parts}
    beside = {(left + by, right + by) for left, right in used for by in (-1, 1) if min(left, right) + by >= 0}
    others = {(one, one) for one in (0, *np.rint(np.geomspace(1, noise.n, SEEDS)).astype(int).tolist())}
    bound = Bound(noise.n, noise.epsilon, delta, worst=worst, scale=math.sqrt(average), slope=mixture.slope)
    releases, estimates = noise.releases, (_minimax(mixture) if worst else noise.releases)[: len(noise.releases)]
    return bound.search(used | beside | others, releases, estimates)


def _minimax(mixture: NoiseMixture) -> FloatArray:
    """Return the estimates whose largest error is the smallest; beyond `FITTED` those of fewer counts, interpolated."""
    n, epsilon = mixture.parts[0][1].n, mixture.parts[0][1].epsilon
    steps = min(n, FITTED)
    step = n / steps
    parts = [
        (share, Noise(steps, epsilon * step, *(round(end / step) for end in (one.left, one.right))))
        for share, one in mixture.parts
    ]
    coarse = NoiseMixture(tuple(parts))
    found = np.split(_estimates.minimax(coarse.channel())[1], coarse.ends)
    pieces = zip(mixture.parts, coarse.parts, found, strict=True)
    shifted = [
        one.releases + step * np.interp(one.releases / step, fewer.releases, estimates - fewer.releases)
        for (_, one), (_, fewer), estimates in pieces
    ]
    return np.clip(np.concatenate(shifted), 0, n)


def _bound_of_pairs(n: int, epsilon: float, delta: float, criterion: ErrorCriterion) -> float:
    """Return the bound from x and x + 1 alone: the exact answer for n = 1, and what is left for large ε.

    For two neighbours everything comes from the truth with probability δ and a coin else: Kairouz, Oh & Viswanath
    (2015), theorem 2.
    """
    fall = math.exp(-epsilon)
    return criterion.share(2 * ((n + 1) // 2) / (n + 1)) * (1 - delta) * fall / (1 + fall) ** 2


def _bound_of_some(n: int, epsilon: float, delta: float, criterion: ErrorCriterion, average: float) -> float:
    """Return a bound for large n from that for some counts in equal steps: step² times the error among those.

    A mechanism for all counts is one for some; neighbours at distance g are g pairs apart, so that it keeps
    (gε, δ (e^{gε} − 1)/(e^ε − 1)) among them. For the average all counts but a few are divided into such sets: side by
    side where the error is small beside the step, else one between the other.
    """
    step = math.ceil((n + 1) / (PROGRAMME_ROWS + 1))
    step = step if math.sqrt(average) >= FINE_ERROR * step else 1
    places = step * math.ceil((n + 1) / (step * (PROGRAMME_ROWS + 1)))
    steps = (n + 1) // places - 1
    covered = criterion.share(places * (steps + 1) / (n + 1))
    together = delta * (gain(step * epsilon) / gain(epsilon) if epsilon > 0 else step)
    if together >= 1:
        return 0.0
    return covered * step**2 * search(steps, step * epsilon, together, criterion)[1]
