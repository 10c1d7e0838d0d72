"""Pure and approximate differential privacy of any release: log-odds, the hockey-stick divergence and its inverse."""

import dataclasses
import math
from contextlib import suppress

import numpy as np
from scipy.optimize import brentq

from dpviz.core.declarations import ANY_EPSILON, DELTA
from dpviz.core.types import BoolArray, FloatArray
from dpviz.mechanisms import Release, Synthesizer, WorstCase
from dpviz.mechanisms.base import ListedRelease
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy.pld import PrivacyLossDistribution

EPSILON_TOLERANCE = 1e-12
"""Relative, of a root ε, and within which a log-odds counts as equal to ε: a prior made for ε does not break it."""

SAFETY_MARGIN = 1e-14  # relative step to the private side of an ε in closed form, larger than its rounding
MIN_STEP = 1e-17  # added to ε in the first round, twice as much in each further one: an ε of 0 would not move
LOG_ODDS_ROUNDING = 1e-14  # largest |log-odds| that counts as 0
DELTA_ROUNDING = 1e-6  # a smaller δ at or beyond the pure ε is rounding; a larger one would be an error to be seen
MAX_EPSILON = 1e6  # largest ε that is tried where log-odds are not bounded


def log_odds_table(synthesizer: Synthesizer) -> FloatArray:
    """Signed log-odds of every neighbouring pair at every released table.

    Returns
    -------
    ndarray of shape (pairs, columns)
        ln T[i, c] − ln T[i', c]. For two cells row i is the pair (i, i + 1): shape (n, m + 1).

    References
    ----------
    .. [1] Abowd & Vilhuber (2008), equation (3), Figures 2 and 4, which print the absolute value.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> log_odds_table(BetaBinomial(n=1, m=1, alpha=1, beta=1)).round(6).tolist()
    [[0.693147, -0.693147]]
    """
    return synthesizer.log_odds_table()


def pure_epsilon(release: Release) -> float:
    """Smallest ε for which a release is ε-differentially private: its largest |log-odds|, or ∞.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(pure_epsilon(BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)), 6)  # ln 11
    2.397895
    """
    return release.worst_log_odds().value


def exceeds(log_odds: FloatArray, epsilon: float) -> BoolArray:
    """Whether |log-odds| > ε; what equals ε up to rounding does not exceed it.

    Parameters
    ----------
    log_odds : ndarray
    epsilon : float
    """
    is_larger: BoolArray = np.abs(log_odds) > max(epsilon * (1 + EPSILON_TOLERANCE), LOG_ODDS_ROUNDING)
    return is_larger


def delta_for_epsilon(release: Release, epsilon: float) -> float:
    """Smallest δ for which a release is (ε, δ)-differentially private.

    Parameters
    ----------
    release : Release
    epsilon : float
        At least 0.

    Returns
    -------
    float
        The largest Σ_c max(0, Pr(c | first) − e^ε Pr(c | second)) over neighbours in both directions. It is 0 from the
        pure ε on and never above 1, whatever rounding leaves.

    Examples
    --------
    The rows (2/3, 1/3) and (1/3, 2/3) differ by 1/3 at ε = 0, by nothing at ε = ln 2.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(delta_for_epsilon(BetaBinomial(n=1, m=1, alpha=1, beta=1), 0.0), 12)
    0.333333333333
    """
    return worst_neighbours(release, epsilon).value


def worst_neighbours(release: Release, epsilon: float) -> WorstCase:
    """Ordered pair of neighbours with the largest divergence, and that value: `delta_for_epsilon`.

    Parameters
    ----------
    release : Release
    epsilon : float
    """
    epsilon = ANY_EPSILON.validate(epsilon)
    worst = release.hockey_stick(epsilon)
    value = min(worst.value, 1.0)
    if 0 < value < DELTA_ROUNDING and pure_epsilon(release) <= epsilon:
        value = 0.0
    return worst if value == worst.value else dataclasses.replace(worst, value=value)


def epsilon_for_delta(release: Release, delta: float) -> float:
    """Smallest ε for which a release is (ε, δ)-differentially private.

    Parameters
    ----------
    release : Release
    delta : float
        Allowed failure, in [0, 1].

    Returns
    -------
    float
        On the private side, by a relative 10⁻¹² at most; ∞ if no ε is enough.

    Notes
    -----
    δ(ε) is the largest hockey-stick divergence of all pairs of neighbours, and for a single pair its inverse has a
    closed form. Which pair is the worst changes with ε, so the worst pair at the present ε is inverted until none
    exceeds δ. ε only grows and there are finitely many pairs; one or two rounds are enough in practice.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(epsilon_for_delta(release, 0.0), 6), round(epsilon_for_delta(release, 1 / 6), 6)
    (0.693147, 0.405465)
    """
    delta = DELTA.validate(delta)
    largest = pure_epsilon(release)
    if delta == 0 and delta_for_epsilon(release, 0.0) > 0:
        return largest
    epsilon = 0.0
    margin = SAFETY_MARGIN
    smallest_step = MIN_STEP
    while epsilon < largest and (worst := worst_neighbours(release, epsilon)).value > delta:
        required = _epsilon_of_pair(release, worst, delta)
        epsilon = min(max(required, epsilon) * (1 + min(margin, EPSILON_TOLERANCE)) + smallest_step, largest)
        margin *= 8
        smallest_step *= 2  # it moves an ε of 0, where δ(0) exceeds δ by rounding alone
    return epsilon


def _epsilon_of_pair(release: Release, worst: WorstCase, delta: float) -> float:
    """Smallest ε for which two neighbours alone keep δ: in closed form if their losses can be listed."""
    if isinstance(release, ListedRelease) and (listed := release.losses_of(worst)) is not None:
        return PrivacyLossDistribution.from_outcomes(*listed).epsilon_for_delta(delta)
    if isinstance(release, UnderPrior) and release.n > 1:
        pair = min(worst.likelier, worst.unlikelier)
        with suppress(ValueError):  # the rows that all but this pair share join its prior, which may exceed its domain
            release = release.of_pairs(pair, pair)
    if delta_for_epsilon(release, 0.0) <= delta:  # which rounding may cause for a single pair
        return 0.0

    # An ε that is enough
    high = pure_epsilon(release)
    if math.isinf(high):
        high = 1.0
        while delta_for_epsilon(release, high) > delta:
            if high > MAX_EPSILON:
                return math.inf
            high *= 2
    elif delta_for_epsilon(release, high) > delta:
        return high

    def excess(epsilon: float) -> float:
        value = delta_for_epsilon(release, epsilon)
        if 0.5 * delta < value < 2 * delta:
            return (value - delta) / delta  # its sign is right however near `value` is to δ: δ(ε) may be almost flat
        return math.log(value) - math.log(delta) if value > 0 else -1.0

    return float(brentq(excess, 0.0, high, xtol=1e-15, rtol=EPSILON_TOLERANCE, maxiter=1000))
