"""Chapter 6.3 as printed: privacy on average over data whose rows are independent Bernoulli(θ) draws."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dpviz.numerics.sums import log_binomials
from dpviz.parameters import EPSILON, Parameter
from dpviz.priors.as_printed.printed_bound import MANY_ROWS, PrintedBound, gain

ROWS = dataclasses.replace(MANY_ROWS, maximum=100_000)
THETA = Parameter(
    name="theta_real",
    symbol="θ",
    title="True proportion",
    minimum=0.0,
    maximum=1.0,
    default=0.5,
    help="The probability that a row of the confidential data is a one.",
)


def proposition_6_17(*, n: int, epsilon: float, theta_real: float) -> float:
    """The δ of any release of n₁ when the rows are Bernoulli(θ): ½ max (Pr(n₁) − e^ε Pr(n₁'))₊ over |n₁ − n₁'| = 1.

    Parameters
    ----------
    n
        Confidential rows, 1 to 100,000; n₁ ~ Binomial(n, θ), and both counts are from 0 to n.
    epsilon
        ε, 1e-6 to 1,000.
    theta_real
        θ, 0 to 1. The proposition asks for every θ of the set Δ of laws; this is the δ that one θ asks for.

    Returns
    -------
    float
        The printed δ, from 0 to ½, said to be sufficient. It compares single counts, while a release may reveal
        whether n₁ falls in a set of them.

    Source: Zheng (2015), Proposition 6.17.

    Examples
    --------
    One row with θ = 1/5 and e^ε = 2: ½ (4/5 − 2 · 1/5).

    >>> round(proposition_6_17(n=1, epsilon=math.log(2), theta_real=0.2), 12)
    0.2
    """
    rows, epsilon, theta = int(ROWS.check(n)), EPSILON.check(epsilon), THETA.check(theta_real)
    if theta in (0.0, 1.0):
        return 0.5
    ones = np.arange(rows + 1)
    log_odds = math.log(theta) - math.log1p(-theta)
    with np.errstate(under="ignore"):
        law = np.exp(log_binomials(rows).total() + ones * math.log(theta) + (rows - ones) * math.log1p(-theta))
        # ln Pr(n₁) − ln Pr(n₁ + 1): a closed form, which keeps its digits where the two nearly agree.
        falls = np.log(ones[1:] / (rows - ones[:-1])) - log_odds
        excess = np.maximum(
            law[:-1] * -np.expm1(np.minimum(epsilon - falls, 0.0)),
            law[1:] * -np.expm1(np.minimum(epsilon + falls, 0.0)),
        )
    return float(excess.max()) / 2


def corollary_6_19(*, n: int, epsilon: float) -> float:
    """The order of δ below which PARAM_MAP is said not to be private on average: (1 − e^{2ε})/√n, sign as printed.

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷; the claim is for "sufficiently large n".
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        What is printed, after division by the factor 1 + e^ε that stands on both sides. It is below 0 for every ε,
        so that no δ is of smaller order; −∞ beyond the floating-point numbers.

    Source: Zheng (2015), Corollary 6.19.

    Examples
    --------
    >>> round(corollary_6_19(n=4, epsilon=math.log(3) / 2), 12)
    -1.0
    """
    return -gain(2 * EPSILON.check(epsilon)) / math.sqrt(MANY_ROWS.check(n))


BOUNDS = (
    PrintedBound(
        number="6.17",
        name="Proposition 6.17",
        methods=(),
        family="average",
        promise="average",
        kind="sufficient",
        claim="Pr(n₁) ≤ e^ε Pr(n₁') + 2δ for all adjacent counts",
        conditions="independent Bernoulli rows; the release depends on n₁ alone",
        value=proposition_6_17,
        quantity="delta",
    ),
    PrintedBound(
        number="6.18",
        name="Theorem 6.18",
        methods=("param_map",),
        family="average",
        promise="average",
        kind="impossible",
        claim="PARAM_MAP is not (ε, 0, Δ)-differentially private",
        conditions="independent Bernoulli rows, any θ",
    ),
    PrintedBound(
        number="6.19",
        name="Corollary 6.19",
        methods=("param_map",),
        family="average",
        promise="average",
        kind="impossible",
        claim="PARAM_MAP is not (ε, δ, Δ)-differentially private for δ(1 + e^ε) = o((1 − e^{2ε})(1 + e^ε)/√n)",
        conditions="n large enough; independent Bernoulli rows, any θ",
        value=corollary_6_19,
        quantity="delta",
    ),
    PrintedBound(
        number="6.20",
        name="Theorem 6.20",
        methods=("param_post",),
        family="average",
        promise="average",
        kind="impossible",
        claim="PARAM_Post is not (ε, 0, Δ)-differentially private",
        conditions="independent Bernoulli rows, any θ",
    ),
)
