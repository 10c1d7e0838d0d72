"""Chapter 6.3 as printed: privacy on average over data whose rows are independent Bernoulli(θ) draws."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpviz.numerics.ends import gain
from dpviz.numerics.sums import log_binomials
from dpviz.theorems.claim import AVERAGE, Claim, Denied

Impossible = partial(Denied, family="average", promise=AVERAGE, condition="independent Bernoulli rows, any θ")


def average_delta(n: int, epsilon: float, theta_real: float) -> float:
    """½ max (Pr(n₁) − e^ε Pr(n₁'))₊ over |n₁ − n₁'| = 1 for n₁ ~ Binomial(n, θ).

    It compares single counts, while a release may reveal whether n₁ falls in a set of them.

    Examples
    --------
    One row with θ = 1/5 and e^ε = 2: ½ (4/5 − 2 · 1/5).

    >>> round(average_delta(n=1, epsilon=math.log(2), theta_real=0.2), 12)
    0.2
    """
    if theta_real in (0.0, 1.0):
        return 0.5
    ones = np.arange(n + 1)
    log_odds = math.log(theta_real) - math.log1p(-theta_real)
    with np.errstate(under="ignore"):
        law = np.exp(log_binomials(n).total() + ones * math.log(theta_real) + (n - ones) * math.log1p(-theta_real))
        # ln Pr(n₁) − ln Pr(n₁ + 1): a closed form, which keeps its digits where the two nearly agree.
        falls = np.log(ones[1:] / (n - ones[:-1])) - log_odds
        excess = np.maximum(
            law[:-1] * -np.expm1(np.minimum(epsilon - falls, 0.0)),
            law[1:] * -np.expm1(np.minimum(epsilon + falls, 0.0)),
        )
    return float(excess.max()) / 2 + 0.0


CLAIMS = (
    Claim("Proposition 6.17", "Pr(n₁) ≤ e^ε Pr(n₁′) + 2δ for all adjacent counts is enough for (ε, δ, Δ)",
        average_delta, condition="independent Bernoulli rows; the release depends on n₁ alone", family="average",
        promise=AVERAGE),
    Impossible("Theorem 6.18", "PARAM_MAP is not (ε, 0, Δ)-differentially private", methods=("param_map",)),
    # (1 − e^{2ε})/√n has the sign that is printed.
    Impossible("Corollary 6.19",
        "PARAM_MAP is not (ε, δ, Δ)-differentially private for δ(1 + e^ε) = o((1 − e^{2ε})(1 + e^ε)/√n)",
        lambda n, epsilon: -gain(2 * epsilon) / math.sqrt(n), methods=("param_map",),
        condition="n large enough; independent Bernoulli rows, any θ"),
    Impossible("Theorem 6.20", "PARAM_Post is not (ε, 0, Δ)-differentially private", methods=("param_post",)),
)  # fmt: skip
