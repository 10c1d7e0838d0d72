"""Privacy amplification by subsampling: what the promise of a release on a sample is worth for all the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.checked import check_epsilon
from dpviz.parameters import DELTA, Parameter

RATE = Parameter(
    name="rate",
    symbol="n/N",
    title="Share of the rows in the sample",
    minimum=0.0,
    maximum=1.0,
    default=0.1,
    private_end="smaller",
    help="The share of the rows that is drawn, without replacement, before the release sees any.",
)

LARGEST_EXPONENT = 700.0
"""Exponent up to which e to it is far from overflow."""


@dataclass(frozen=True)
class Amplified:
    """The (ε, δ) promise after subsampling."""

    epsilon: float
    delta: float


def subsampled_tight(epsilon: float, delta: float, rate: float) -> Amplified:
    """ε' = ln(1 + r (e^ε − 1)), δ' = r δ: the best that holds for every release that is (ε, δ)-private.

    Parameters
    ----------
    epsilon, delta
        What the release keeps on its sample: ε ≥ 0, finite, and δ from 0 to 1.
    rate
        r = n / N, 0 to 1.

    Returns
    -------
    Amplified
        The release's own promise at r = 1; never larger than what Theorem 2.22 of Zheng (2015) prints.

    Source: Balle, Barthe & Gaboardi (2018), for substitution and sampling without replacement.

    Examples
    --------
    >>> round(subsampled_tight(1.0, 1e-5, 0.5).epsilon, 6)  # ln((1 + e) / 2)
    0.620115
    """
    epsilon, delta, rate = check_epsilon(epsilon), DELTA.check(delta), RATE.check(rate)
    return Amplified(amplified_epsilon(epsilon, rate), rate * delta)


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """ε' = ln(1 + r (e^ε − 1)) of `subsampled_tight`, unchecked and without overflow.

    Parameters
    ----------
    epsilon
        ε ≥ 0; may be infinite.
    rate
        r = n / N, 0 to 1.

    Examples
    --------
    >>> amplified_epsilon(1000.0, 1.0), amplified_epsilon(float("inf"), 0.5)
    (1000.0, inf)
    """
    if epsilon < LARGEST_EXPONENT:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)) if rate > 0 else 0.0
