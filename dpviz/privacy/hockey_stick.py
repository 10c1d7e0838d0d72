"""Pure ε and (ε, δ)-differential privacy of any release: log-odds, the hockey-stick divergence and its inverse."""

import dataclasses
import math
from contextlib import suppress

import numpy as np
from scipy.optimize import brentq

from dpviz.core.checked import checked
from dpviz.core.numerics.loss_lists import epsilon_at
from dpviz.core.parameters import ANY_EPSILON, DELTA
from dpviz.core.types import BoolArray, FloatArray
from dpviz.mechanisms import Release, Synthesizer, WorstCase
from dpviz.mechanisms.base import ListedRelease
from dpviz.mechanisms.prior import UnderPrior

EPSILON_RESOLUTION = 1e-12  # Relative accuracy of an ε found from δ; the answer is on the private side
LARGEST_SOUGHT_EPSILON = 1e6

DELTA_ROUNDING = 1e-6  # Largest δ that rounding alone could leave from the exact ε on, where δ is 0
FIRST_PRIVATE_STEP = 1e-14  # Relative first step to the private side of an ε that a pair of neighbours asks for
FIRST_EPSILON_STEP = 1e-17  # First step to the private side of an ε of 0, where δ(0) exceeds δ by rounding alone
MOST_PAIRS = 4  # Pairs of neighbours that are tried one after the other before all of them are
MOST_EPSILON_LOOKS = 1000  # Bound on the looks of the root finder, which halves a bracket a hundred times at most
# Relative distance within which a log-odds counts as equal to ε, so that a prior made for ε does not break it.
LOG_ODDS_TOLERANCE = 1e-12
LOG_ODDS_ROUNDING = 1e-14  # Log-odds that rounding leaves where there are none


@checked()
def log_odds_table(synthesizer: Synthesizer) -> FloatArray:
    """Return the signed log-odds ln T[i, c] − ln T[i', c] of every neighbouring pair (i, i') at every released count c.

    For two cells row i is the pair i, i + 1: shape (n, m + 1). Source: Abowd & Vilhuber (2008), equation (3), Fig. 2
    and Fig. 4, which print the absolute value.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> log_odds_table(BetaBinomial(n=1, m=1, alpha=1, beta=1)).round(6).tolist()
    [[0.693147, -0.693147]]
    """
    return synthesizer.log_odds_table()


@checked()
def pure_epsilon(release: Release) -> float:
    """Return the smallest ε for which the release is ε-differentially private: max |log-odds|, or infinity.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(pure_epsilon(BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)), 6)  # ln 11
    2.397895
    """
    return release.worst_log_odds().value


@checked()
def exceeds(log_odds: FloatArray, epsilon: float) -> BoolArray:
    """Where |log-odds| > ε; a value that equals ε up to rounding (relative 1e-12) does not exceed it."""
    result: BoolArray = np.abs(log_odds) > max(epsilon * (1 + LOG_ODDS_TOLERANCE), LOG_ODDS_ROUNDING)
    return result


@checked(epsilon=ANY_EPSILON)
def worst_neighbours(release: Release, epsilon: float) -> WorstCase:
    """δ(ε) with the ordered pair of neighbours that attains it, kept from rounding above 1, or above 0 from ε* on."""
    return _worst(release, epsilon)


def _worst(release: Release, epsilon: float) -> WorstCase:
    """`worst_neighbours` of arguments that have been checked."""
    worst = release.hockey_stick(epsilon)
    if 0 < worst.value < DELTA_ROUNDING and release.worst_log_odds().value <= epsilon:
        return dataclasses.replace(worst, value=0.0)
    return dataclasses.replace(worst, value=1.0) if worst.value > 1 else worst


@checked(epsilon=ANY_EPSILON)
def delta_for_epsilon(release: Release, epsilon: float) -> float:
    """Return the smallest δ for which the release is (ε, δ)-differentially private; 0 from the pure ε on.

    δ(ε) = max over neighbours, both directions, of Σ_c max(0, Pr(c | first) − e^ε Pr(c | second)). Rows (2/3, 1/3) and
    (1/3, 2/3) differ by 1/3 at ε = 0, by nothing at ε = ln 2.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(delta_for_epsilon(BetaBinomial(n=1, m=1, alpha=1, beta=1), 0.0), 12)
    0.333333333333
    """
    return _worst(release, epsilon).value


@checked(epsilons=ANY_EPSILON)
def deltas_for_epsilons(synthesizer: Synthesizer, epsilons: FloatArray) -> FloatArray:
    """Return `delta_for_epsilon` at each of many rising ε, which takes little longer than at one."""
    deltas = np.minimum(synthesizer.divergences(epsilons), 1.0)
    rounded = (deltas > 0) & (deltas < DELTA_ROUNDING) & (synthesizer.worst_log_odds().value <= epsilons)
    return np.where(rounded, 0.0, deltas)


@checked(delta=DELTA)
def epsilon_for_delta(release: Release, delta: float) -> float:
    """Return the smallest ε for which the release is (ε, δ)-differentially private; infinite where none is enough.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(epsilon_for_delta(release, 0.0), 6), round(epsilon_for_delta(release, 1 / 6), 6)
    (0.693147, 0.405465)
    """
    worst = worst_neighbours(release, 0.0)
    if worst.value <= delta:
        return 0.0
    if delta == 0:
        return pure_epsilon(release)
    for look in range(MOST_PAIRS):
        alone = _of_pair(release, worst, delta)
        if alone is None or alone == math.inf:
            break
        safe = alone * (1 + min(FIRST_PRIVATE_STEP * 8**look, EPSILON_RESOLUTION))
        epsilon = min(safe, release.worst_log_odds().value)
        worst = worst_neighbours(release, epsilon)
        if worst.value <= delta:
            return epsilon
    return _smallest_epsilon(release, delta)


def _of_pair(release: Release, worst: WorstCase, delta: float) -> float | None:
    """Return the ε that two neighbours alone ask for; None where they are not to be had alone."""
    if isinstance(release, ListedRelease) and (listed := release.losses_of(worst)) is not None:
        return epsilon_at(*listed, delta)
    if isinstance(release, UnderPrior):
        with suppress(ValueError):  # of priors at the very end of their domain all pairs are looked at
            pair = min(worst.likelier, worst.other)
            return _smallest_epsilon(release.of_pairs(pair, pair), delta)
    return None


def _smallest_epsilon(release: Release, delta: float) -> float:
    """`epsilon_for_delta` where δ(0) > δ > 0."""
    largest = pure_epsilon(release)
    if math.isinf(largest):
        largest = 1.0
        while delta_for_epsilon(release, largest) > delta:
            if largest > LARGEST_SOUGHT_EPSILON:
                return math.inf
            largest *= 2
    elif delta_for_epsilon(release, largest) > delta:
        return largest

    def excess(epsilon: float) -> float:
        value = delta_for_epsilon(release, epsilon)
        if 0.5 * delta < value < 2 * delta:
            return (value - delta) / delta  # of the right sign however near they are: δ(ε) may be all but constant
        return math.log(value) - math.log(delta) if value > 0 else -1.0

    epsilon = float(brentq(excess, 0.0, largest, xtol=1e-15, rtol=EPSILON_RESOLUTION, maxiter=MOST_EPSILON_LOOKS))
    step = max(EPSILON_RESOLUTION * epsilon, FIRST_EPSILON_STEP)
    while epsilon < largest and delta_for_epsilon(release, epsilon) > delta:
        epsilon, step = min(epsilon + step, largest), 2 * step
    return epsilon
