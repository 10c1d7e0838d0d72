"""What Zheng (2015), §2.1.3 and §6.3, claims of average-case privacy, beside what is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpviz.checked import check_epsilon
from dpviz.privacy.average_case import count_release_delta
from dpviz.theorems import CLAIMS

DeltaOf = Callable[[float], float]


def least_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A lower bound of every δ for which the release is (ε, δ, {θ_real})-private, H_{2ε} / (1 + e^ε), from ε ↦ H_ε.

    Source: Zheng (2015), Proposition 2.15. A release that tells the row (H_ε = 1 for every ε) needs at least 1/2 at 0.

    >>> least_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    share = math.exp(-check_epsilon(epsilon))
    return delta_of(2 * epsilon) * share / (1 + share)


def midpoint_simulator_delta(delta_of: DeltaOf, epsilon: float) -> float:
    """A δ for which the release is (ε, δ, {θ_real})-private: the simulator S = (P + Q) / 2 flips a coin for row i.

    H_ε(P‖S) = (1 − e^ε / 2) H(P‖Q) at −ln(2 e^{−ε} − 1), nothing from ε = ln 2 on, H_ε(S‖P) = ½ H(Q‖P) at
    ln(2 e^ε − 1), and likewise for Q. Source: Zheng (2015), Definition 2.14 and the proof of Proposition 6.17.

    >>> midpoint_simulator_delta(lambda epsilon: 1.0, 0.0)
    0.5
    """
    epsilon = check_epsilon(epsilon)
    into = 0.5 * delta_of(epsilon + math.log1p(-math.expm1(-epsilon)))
    left = 1 + 2 * math.expm1(-epsilon)  # 2 e^{−ε} − 1
    return into if left <= 0 else max(into, (1 - math.exp(epsilon) / 2) * delta_of(-math.log(left)))


@dataclass(frozen=True)
class CountCondition:
    """Proposition 6.17 for the count itself: its `printed` δ, and bounds `least` and `midpoint` of the true one."""

    printed: float
    least: float
    midpoint: float

    @property
    def refuted(self) -> bool:
        """Whether the printed δ is smaller than any simulator achieves."""
        return self.printed < self.least


def count_condition(n: int, theta_real: float, epsilon: float) -> CountCondition:
    """What Proposition 6.17 of Zheng (2015) promises for the count of n rows, and what is true.

    The slack 2δ of the printed condition is that of one count. A set of counts may use it once for each of them: at
    small ε the printed δ is O(1 / n) and the true one O(1 / √n).

    >>> condition = count_condition(1000, 0.5, 0.01)
    >>> condition.printed < 0.0005 < 0.008 < condition.least, condition.refuted
    (True, True)
    """

    def delta_of(value: float) -> float:
        return count_release_delta(n, theta_real, value)

    return CountCondition(
        CLAIMS["6.17"].at(n=n, theta_real=theta_real, epsilon=epsilon),
        least_simulator_delta(delta_of, epsilon),
        midpoint_simulator_delta(delta_of, epsilon),
    )
