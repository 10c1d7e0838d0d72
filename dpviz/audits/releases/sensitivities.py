"""How far one person moves a statistic: exact sensitivities when one row is substituted and n is public."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpviz.checked import argument, checked

BOUND = argument("width", 0, 1e6, title="distance between the bounds", open_minimum=True)


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


@checked(n=argument("n", 2, 10_000_000, title="confidential rows", integer=True), width=BOUND)
def mean_sensitivity(n: int, width: float) -> float:
    """R/n.

    >>> mean_sensitivity(100, 8.0)
    0.08
    """
    return width / n


@checked(n=argument("n", 2, 10_000_000, title="confidential rows", integer=True), width=BOUND)
def variance_sensitivity(n: int, width: float) -> float:
    """R²/n, of the variance with divisor n − 1: all rows at one bound, and one moves to the other.

    >>> variance_sensitivity(100, 8.0)
    0.64
    """
    return width * width / n


def deviance_sensitivity(n: int) -> float:
    """Of −2 ln L at its maximum for Bernoulli rows: from no ones to one.

    >>> round(deviance_sensitivity(100), 1)
    11.2
    """
    return 2 * math.log(n) + 2 * (n - 1) * -math.log1p(-1 / n)


SENSITIVITIES = (
    Sensitivity("mean", mean_sensitivity, "R/n", mean_sensitivity),
    Sensitivity("variance, divisor n − 1", variance_sensitivity, "R²/n", variance_sensitivity,
        "It can reach nR²/(4(n − 1)), a little above R²/4, where the papers clip it."),
    Sensitivity("variance, divisor n", lambda n, width: width * width * (n - 1) / n**2, "R²(n − 1)/n²"),
    Sensitivity("covariance, divisor n − 1", variance_sensitivity, "R₁R₂/n"),
    Sensitivity("mean and variance together (sum of both)",
        lambda n, width: mean_sensitivity(n, width) + variance_sensitivity(n, width), "R/n + R²/n",
        lambda n, width: mean_sensitivity(n, width) + variance_sensitivity(n, width),
        "One row can move both as far as it can move each, so splitting the budget wastes nothing."),
    Sensitivity("variance pooled over two cells, divisor n − 2", lambda n, width: width * width / (n - 1),
        "R²/(n − J + 1), J cells, none of them empty"),
    Sensitivity("correlation", lambda *_: 2.0, "2",
        note="It can jump from 1 to −1, however many rows there are: noise leaves nothing of it."),
    Sensitivity("counts of k cells together", lambda *_: 2.0, "2", lambda n, width: 1.0,  # noqa: ARG005
        "Bowen & Liu use 1. Communal sanitization sums k separate sensitivities, k/2 times too much."),
    Sensitivity("Bernoulli deviance, for choosing a model", lambda n, _: deviance_sensitivity(n),
        "2n ln n − 2(n − 1) ln(n − 1)",
        note="A normal model's with unknown variance has no bound, so it cannot choose a model privately."),
)  # fmt: skip
"""Statistics that the papers sanitize."""
