"""The smallest error with (ε, δ) and δ > 0: the best mechanism that is found, and a bound on all others."""

import math
from functools import partial

import numpy as np

from dpviz.limits import PROGRAMME_ROWS
from dpviz.numerics.ends import gain
from dpviz.optimum import _estimates, _geometric, _programme
from dpviz.optimum._criteria import CRITERIA, Criterion
from dpviz.optimum._mechanisms import Mechanism, sometimes_exact, truncated_noise
from dpviz.types import FloatArray

TO_A_SPREAD = 12  # Numbers to a standard error that the first programme has, and not more than one to a count
FEWEST = 20
WORK = 55_000  # Bound on rows times numbers times the root of the spread of a next programme: a few seconds
ROUNDS = 8
CLOSE = 2e-3  # Relative gap of the squared error at which no further programme is solved
LARGEST_EPSILON = 15.0  # Beyond it e^ε is too far from 1 for the programme
BLOCK = 60  # Steps of the counts that bound the error for larger n
MOVED = 0.97  # Share of the counts that one set of them has to reach, moved from end to end
STEP = 0.4  # Of the standard error: the largest of these steps


def search(n: int, epsilon: float, delta: float, criterion: Criterion) -> tuple[Mechanism, float]:
    """Return the best mechanism of those known, and of those of the programme up to `PROGRAMME_ROWS`, and a bound.

    Each programme is solved for a prior, whose Bayes risk bounds the worst case too. The next one has the mean of the
    priors that were least favorable to what was found so far, and has the numbers that kept the bound low.
    """
    known = [sometimes_exact(criterion.pure(n, epsilon)[0], delta), truncated_noise(n, epsilon, delta)]
    best = min((one for one in known if one), key=lambda one: criterion.of(one.errors))
    bound, error = _bound_of_pairs(n, epsilon, delta, criterion), criterion.of(best.errors)
    if epsilon > LARGEST_EPSILON or bound >= (1 - CLOSE) * error:
        return best, bound
    if n > PROGRAMME_ROWS:
        return best, max(bound, _bound_of_some(n, epsilon, delta, criterion, error))
    first = max(math.ceil(n * min(1.0, TO_A_SPREAD / math.sqrt(error))), FEWEST)
    numbers: FloatArray = np.linspace(0, n, first + 1)
    prior = _even(criterion.fit(best.channel())[0])
    for solved in range(1, ROUNDS + 1):
        found = _programme.solve(numbers, prior, epsilon, delta)
        if found is None:
            break
        channel = _repaired(found.channel, n, epsilon, delta)
        unfavorable, estimates = criterion.fit(channel)
        errors = _estimates.squared_errors(channel, estimates)
        if criterion.of(errors) < error:
            best, error = Mechanism(partial(np.copy, channel), estimates, errors), criterion.of(errors)
        bound = max(bound, found.bound)
        numbers = _symmetric(np.concatenate([numbers, found.missed]), n)
        prior = _even((solved * prior + unfavorable) / (solved + 1))
        if bound >= (1 - CLOSE) * error or len(numbers) * (n + 1) * max(1.0, error) ** 0.25 > WORK:
            break
    return best, bound


def _even(prior: FloatArray) -> FloatArray:
    """Return the mean of a prior and its mirror image: exactly symmetric."""
    return (prior + prior[::-1]) / 2


def _symmetric(numbers: FloatArray, n: int) -> FloatArray:
    """Return the numbers and their mirror images about n/2, each once."""
    left = np.unique(np.round(np.minimum(numbers, n - numbers), 9))
    left = left[(left >= 0) & (left < n / 2)]
    return np.concatenate([left, [n / 2], n - left[::-1]])


def _repaired(channel: FloatArray, n: int, epsilon: float, delta: float) -> FloatArray:
    """Return a channel of the solver, mixed with the geometric mechanism as far as it exceeds δ by rounding."""
    used = channel.sum(axis=0) > 0
    kept = channel[:, used] if used.sum() > 1 else channel  # a matrix has two columns at least
    uncovered = [
        np.maximum(a - math.exp(epsilon) * b, 0).sum(axis=1).max()
        for a, b in ((kept[1:], kept[:-1]), (kept[:-1], kept[1:]))
    ]
    spent = max(uncovered)
    if spent <= delta:
        return kept
    part = 1 - delta / spent
    return np.hstack([(1 - part) * kept, part * _geometric.channel(n, epsilon)])


def _bound_of_pairs(n: int, epsilon: float, delta: float, criterion: Criterion) -> float:
    """Return the bound from x and x + 1 alone: the exact answer for n = 1, and what is left for large ε.

    For two neighbours everything comes from the truth with probability δ and a coin else: Kairouz, Oh & Viswanath
    (2015), theorem 2.
    """
    fall = math.exp(-epsilon)
    return criterion.share(2 * ((n + 1) // 2) / (n + 1)) * (1 - delta) * fall / (1 + fall) ** 2


def _bound_of_some(n: int, epsilon: float, delta: float, criterion: Criterion, error: float) -> float:
    """Return a bound for large n from that for counts in equal steps, k + 1 of them: step² times the error among those.

    A mechanism for all counts is one for some; neighbours at distance g are g pairs apart, so that it keeps
    (gε, δ (e^{gε} − 1)/(e^ε − 1)) among them. For the average all counts but a few are divided into such sets. Where
    one set is short beside n, it is moved from end to end instead, with its least favorable prior: every count then has
    a weight of 1 at most over all places.
    """
    step = max(1, min(int(STEP * math.sqrt(error)), n // BLOCK))
    places, steps = n - step * BLOCK + 1, BLOCK
    covered = criterion.share(places / (n + 1))
    if covered < MOVED:
        places = step * math.ceil((n + 1) / (step * (BLOCK + 1)))
        steps = (n + 1) // places - 1
        covered = places * (steps + 1) / (n + 1)
    else:
        criterion = CRITERIA["worst"]
    together = delta * (gain(step * epsilon) / gain(epsilon) if epsilon > 0 else step)
    if together >= 1:
        return 0.0
    _, bound = search(steps, step * epsilon, together, criterion)
    return covered * step**2 * bound
