"""Pure and approximate differential privacy of any release: log-odds, the hockey-stick divergence and its inverse."""

import dataclasses
import math

import numpy as np
from scipy.optimize import brentq

from dpviz.core.declarations import ANY_EPSILON, DELTA
from dpviz.core.types import BoolArray, FloatArray
from dpviz.mechanisms import Release, Synthesizer, WorstCase
from dpviz.privacy.pld import PrivacyLossDistribution

EPSILON_TOLERANCE = 1e-12  # relative, of the roots ε and of comparisons: log-odds up to ε (1 + 10⁻¹²) count as ε
DELTA_ROUNDING = 1e-6  # a δ below it, from the pure ε on, is rounding and set to 0; a larger one shows an error


def log_odds_table(synthesizer: Synthesizer) -> FloatArray:
    """Signed log-odds ln T[i, c] − ln T[i', c] of every neighbouring pair at every output, shape (pairs, columns).

    Abowd & Vilhuber (2008), equation (3), Figures 2 and 4, which print the absolute value. For two cells row i of
    the table is the pair (i, i + 1).

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
    """Whether |log-odds| > ε by more than rounding.

    Parameters
    ----------
    log_odds : ndarray
    epsilon : float
    """
    return np.asarray(np.abs(log_odds) > max(epsilon * (1 + EPSILON_TOLERANCE), 1e-14))


def delta_for_epsilon(release: Release, epsilon: float) -> float:
    """Smallest δ for which a release is (ε, δ)-differentially private.

    It is the largest Σ_c max(0, Pr(c | first) − e^ε Pr(c | second)) over neighbours in both directions, and 0 from the
    pure ε on unless rounding leaves more than 1e-6.

    Parameters
    ----------
    release : Release
    epsilon : float
        At least 0.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> round(delta_for_epsilon(BetaBinomial(n=1, m=1, alpha=1, beta=1), 0.0), 12)  # rows (2/3, 1/3) and (1/3, 2/3)
    0.333333333333
    """
    return worst_neighbours(release, epsilon).value


def worst_neighbours(release: Release, epsilon: float) -> WorstCase:
    """Ordered pair of neighbours that attains `delta_for_epsilon`, and that value.

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
    """Smallest ε for which a release is (ε, δ)-differentially private; ∞ if no ε is enough.

    It is rounded up, by at most about 10⁻¹² ε + 10⁻¹⁵ where δ(ε) is accurate, so that the promise holds; where losses
    are not listed and the pure ε is ∞, more than 2²⁰ counts as ∞.

    Parameters
    ----------
    release : Release
    delta : float
        In [0, 1].

    Notes
    -----
    δ(ε) is the maximum over all pairs of neighbours, and which pair attains it changes with ε. So ε is raised to
    what the worst pair at the current ε needs, until no pair exceeds δ. ε only grows and there are finitely many pairs;
    one or two rounds are enough in practice. Where the losses of a pair are too many to be listed, the root of all
    pairs together is found instead.

    Examples
    --------
    >>> from dpviz.mechanisms import BetaBinomial
    >>> release = BetaBinomial(n=1, m=1, alpha=1, beta=1)
    >>> round(epsilon_for_delta(release, 0.0), 6), round(epsilon_for_delta(release, 1 / 6), 6)  # ln 2 and ln 1.5
    (0.693147, 0.405465)
    """
    delta = DELTA.validate(delta)
    largest = pure_epsilon(release)
    if delta == 0 and delta_for_epsilon(release, 0.0) > 0:
        return largest
    # Every round adds growing steps, relative ones from 1e-14 and absolute ones from 1e-17: rounding may leave δ(ε) > δ
    epsilon, relative_step, absolute_step = 0.0, 1e-14, 1e-17
    while epsilon < largest and (worst := worst_neighbours(release, epsilon)).value > delta:
        losses_of = getattr(release, "losses_of", None)  # only synthesizers and releases of three cells list them
        listed = losses_of(worst) if losses_of else None
        if listed is None:
            required = _root_of_delta(release, delta, epsilon, largest)
        else:
            required = PrivacyLossDistribution.from_outcomes(*listed).epsilon_for_delta(delta)
        epsilon = min(max(required, epsilon) * (1 + min(relative_step, EPSILON_TOLERANCE)) + absolute_step, largest)
        relative_step *= 8
        absolute_step *= 2
    return epsilon


def pure_within(epsilon: float, delta: float) -> float:
    """Largest pure loss that keeps (ε, δ) whatever the release is, ln[(e^ε + δ)/(1 − δ)].

    Parameters
    ----------
    epsilon, delta : float

    References
    ----------
    Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    Examples
    --------
    >>> pure_within(1.0, 0.0), round(pure_within(0.0, 0.5), 12) == round(math.log(3), 12)
    (1.0, True)
    """
    return epsilon + math.log1p(delta * math.exp(-epsilon)) - math.log1p(-delta) if delta < 1 else math.inf


def _root_of_delta(release: Release, delta: float, low: float, high: float) -> float:
    """ε with δ(ε) = δ > 0, above `low`, where δ(ε) is larger; `high` or ∞ where it is still larger at the end."""
    if math.isinf(high):
        high = max(1.0, 2 * low)
        while delta_for_epsilon(release, high) > delta:
            if high >= 2.0**20:
                return math.inf
            high *= 2
    elif delta_for_epsilon(release, high) > delta:  # an error of more than `DELTA_ROUNDING`
        return high

    def excess(epsilon: float) -> float:
        # ln(δ(ε) / δ), in the form that keeps its digits near 0
        value = delta_for_epsilon(release, epsilon)
        if 0.5 * delta < value < 2 * delta:
            return math.log1p((value - delta) / delta)  # the difference is exact: 0 only at δ itself
        return math.log(value) - math.log(delta) if value > 0 else -1.0

    return float(brentq(excess, low, high, xtol=1e-15, rtol=EPSILON_TOLERANCE, maxiter=1000))
