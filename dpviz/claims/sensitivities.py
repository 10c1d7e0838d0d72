"""How far one person moves a statistic: exact sensitivities when one row is substituted and n is public."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sensitivity:
    """A statistic of n rows between bounds that are `width` apart, its exact sensitivity, and what a paper uses.

    `printed` is None where the papers' formula was lost in print. `note` says what follows.
    """

    statistic: str
    exact: Callable[[int, float], float]
    formula: str
    printed: Callable[[int, float], float] | None = None
    note: str = ""


def _of_mean(n: int, width: float) -> float:
    return width / n


def _of_variance(n: int, width: float) -> float:
    """With divisor n − 1: all rows at one bound, and one moves to the other."""
    return width * width / n


SENSITIVITIES = (
    Sensitivity("mean", _of_mean, "R/n", _of_mean),
    Sensitivity(
        "variance, divisor n − 1",
        _of_variance,
        "R²/n",
        _of_variance,
        "It can reach nR²/(4(n − 1)), a little above R²/4, where the papers clip it.",
    ),
    Sensitivity("variance, divisor n", lambda n, width: width * width * (n - 1) / n**2, "R²(n − 1)/n²"),
    Sensitivity("covariance, divisor n − 1", _of_variance, "R₁R₂/n"),
    Sensitivity(
        "mean and variance together (sum of both)",
        lambda n, width: _of_mean(n, width) + _of_variance(n, width),
        "R/n + R²/n",
        lambda n, width: _of_mean(n, width) + _of_variance(n, width),
        "One row can move both as far as it can move each, so splitting the budget wastes nothing.",
    ),
    Sensitivity(
        "variance pooled over two cells, divisor n − 2",
        lambda n, width: width * width / (n - 1),
        "R²/(n − J + 1), J cells, none of them empty",
    ),
    Sensitivity(
        "correlation",
        lambda *_: 2.0,
        "2",
        note="It can jump from 1 to −1, however many rows there are: noise leaves nothing of it.",
    ),
    Sensitivity(
        "counts of k cells together",
        lambda *_: 2.0,
        "2",
        lambda n, width: 1.0,  # noqa: ARG005
        "Bowen & Liu use 1. Communal sanitization sums k separate sensitivities, k/2 times too much.",
    ),
    # Of −2 ln L at its maximum for Bernoulli rows: from no ones to one.
    Sensitivity(
        "Bernoulli deviance, for choosing a model",
        lambda n, _: 2 * math.log(n) - 2 * (n - 1) * math.log1p(-1 / n),
        "2n ln n − 2(n − 1) ln(n − 1)",
        note="A normal model's with unknown variance has no bound, so it cannot choose a model privately.",
    ),
)
"""Statistics that the papers sanitize."""
