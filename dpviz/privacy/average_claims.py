"""What the thesis claims of average-case privacy, beside what is true: simulators, the count itself, the worst θ_real.

`dpviz.privacy.average_case` has the definitions and the exact δ.

Source: Zheng (2015), §2.1.3 and §6.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from dpviz.checked import check_epsilon
from dpviz.privacy.average_case import DATA_ROWS, THETA_REAL, count_release_delta, log_count_probabilities

SCAN_POINTS = 161
"""Values of θ_real that `worst_theta` looks at, evenly spaced in the logarithm of the odds."""

DeltaOf = Callable[[float], float]


def least_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A lower bound of every δ for which the release is (ε, δ, {θ_real})-private: H_{2ε} / (1 + e^ε).

    Parameters
    ----------
    delta_of
        ε ↦ H_ε, such as ``lambda epsilon: count_release_delta(n, theta_real, epsilon)``.
    epsilon
        ε ≥ 0, finite.

    Source: Zheng (2015), Proposition 2.15.

    Examples
    --------
    A release that tells the row (H_ε = 1 for every ε) needs at least 1/2 at ε = 0.

    >>> least_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    share = math.exp(-check_epsilon(epsilon))
    return delta_of(2 * epsilon) * share / (1 + share)


def midpoint_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A δ for which the release is (ε, δ, {θ_real})-private: the simulator that fills in row i by a fair coin.

    With S = (P + Q) / 2, the worst of H_ε(P‖S), H_ε(S‖P), H_ε(Q‖S) and H_ε(S‖Q). They are divergences of P and Q:
    H_ε(P‖S) = (1 − e^ε / 2) H(P‖Q) at −ln(2 e^{−ε} − 1), nothing from ε = ln 2 on, and H_ε(S‖P) = ½ H(Q‖P) at
    ln(2 e^ε − 1).

    Parameters
    ----------
    delta_of, epsilon
        As in `least_simulator_delta`.

    Source: Zheng (2015), Definition 2.14; the simulator is that of the proof of Proposition 6.17.

    Examples
    --------
    >>> midpoint_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    epsilon = check_epsilon(epsilon)
    into = 0.5 * delta_of(epsilon + math.log1p(-math.expm1(-epsilon)))
    left = 1 + 2 * math.expm1(-epsilon)  # 2 e^{−ε} − 1
    return into if left <= 0 else max(into, (1 - math.exp(epsilon) / 2) * delta_of(-math.log(left)))


def certain_count_probability(n: int, theta_real: float) -> float:
    """max(θ^{n−1}, (1 − θ)^{n−1}): how often the count shows row i for sure, being n with X_i = 1, or 0 with X_i = 0.

    The other value of X_i makes that count impossible, so `count_release_delta` is at least this for every ε, and the
    count is not (ε, 0, Δ)-private for any θ_real at all.

    Source: Zheng (2015), Theorem 6.18, whose proof lets θ_real tend to 1.

    Examples
    --------
    >>> certain_count_probability(3, 0.5)
    0.25
    """
    theta = THETA_REAL.check(theta_real)
    return max(theta, 1 - theta) ** (int(DATA_ROWS.check(n)) - 1)


@dataclass(frozen=True)
class CountCondition:
    """Proposition 6.17 for the release of the count itself.

    Parameters
    ----------
    printed
        The least δ of the printed condition: ½ max (Pr(ΣX = n1) − e^ε Pr(ΣX = n1'))₊ over |n1 − n1'| = 1.
    repaired
        ½ H_ε: the condition for sets of counts rather than for single ones, which the printed proof needs.
    least, midpoint
        `least_simulator_delta` and `midpoint_simulator_delta`: the true least δ lies between them.
    """

    printed: float
    repaired: float
    least: float
    midpoint: float

    @property
    def refuted(self) -> bool:
        """Whether the printed δ is smaller than any simulator achieves."""
        return self.printed < self.least


def count_condition(n: int, theta_real: float, epsilon: float) -> CountCondition:
    """What Proposition 6.17 promises for the count of n rows, and what is true.

    The slack 2δ of the printed condition is that of one count. A set of counts may use it once for each of them, so
    that the conclusion does not follow: at small ε the printed δ is O(1 / n) and the true one O(1 / √n).

    Parameters
    ----------
    n, theta_real, epsilon
        As in `count_release_delta`.

    Source: Zheng (2015), Proposition 6.17.

    Examples
    --------
    >>> condition = count_condition(1000, 0.5, 0.01)
    >>> condition.printed < 0.0005 < 0.008 < condition.least, condition.refuted
    (True, True)
    """
    law = np.exp(log_count_probabilities(int(DATA_ROWS.check(n)), THETA_REAL.check(theta_real)))
    share = math.exp(min(check_epsilon(epsilon), 700.0))
    printed = max(float(np.max(law[1:] - share * law[:-1])), float(np.max(law[:-1] - share * law[1:])), 0.0) / 2

    def delta_of(value: float) -> float:
        return count_release_delta(n, theta_real, value)

    return CountCondition(
        printed,
        delta_of(epsilon) / 2,
        least_simulator_delta(delta_of, epsilon),
        midpoint_simulator_delta(delta_of, epsilon),
    )


def printed_count_rate(n: int, epsilon: float) -> float:
    """(1 − e^{2ε}) / √n, the rate below which Corollary 6.19 says that no δ makes the count private; never positive.

    The corollary takes the likeliest count, which rules nothing out there for ε > 0: the difference is negative. For
    θ_real fixed inside (0, 1) `count_release_delta` falls exponentially in n instead; it stays large where θ_real
    tends to 0 or 1 with n.

    Source: Zheng (2015), Corollary 6.19.

    Examples
    --------
    >>> round(printed_count_rate(100, 0.5), 6)  # (1 − e) / 10
    -0.171828
    """
    return -math.expm1(2 * check_epsilon(epsilon)) / math.sqrt(DATA_ROWS.check(n))


@dataclass(frozen=True)
class WorstTheta:
    """The θ_real with the largest δ of all that a scan has looked at, and that δ."""

    theta_real: float
    delta: float


def worst_theta(delta_of_theta: DeltaOf, least: float) -> WorstTheta:
    """The largest δ over θ_real from `least` to 1 − `least`, by a scan.

    `SCAN_POINTS` values evenly spaced in ln(θ / (1 − θ)), both ends among them, then a bounded search between the
    neighbours of the best. It is a scan, not a proof: the δ found is attained, a narrow peak could be missed.

    Parameters
    ----------
    delta_of_theta
        θ_real ↦ δ, such as ``lambda theta: count_release_delta(n, theta, epsilon)``.
    least
        c, above 0 and below 1/2.

    Raises
    ------
    ValueError
        If `least` is not above 0 and below 1/2.

    Source: Zheng (2015), the restriction θ_real, 1 − θ_real ≥ c after Theorem 6.18.

    Examples
    --------
    >>> worst_theta(lambda theta: theta * (1 - theta), 0.01).delta
    0.25
    """
    if not 0 < least < 0.5:
        raise ValueError(f"least must be a number above 0 and below 1/2; got {least!r}.")
    end = math.log((1 - least) / least)
    grid = np.linspace(-end, end, SCAN_POINTS)

    def delta_at(log_odds: float) -> tuple[float, float]:
        theta = 1 / (1 + math.exp(-log_odds))
        theta = least if log_odds <= -end else 1 - least if log_odds >= end else theta
        return delta_of_theta(theta), theta

    scanned = [delta_at(float(point)) for point in grid]
    best = int(np.argmax([delta for delta, _ in scanned]))
    bounds = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, SCAN_POINTS - 1)])
    found = minimize_scalar(lambda point: -delta_at(point)[0], bounds=bounds, method="bounded")
    delta, theta = max(scanned[best], delta_at(float(found.x)))
    return WorstTheta(theta, delta)
