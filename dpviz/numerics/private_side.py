"""A calibrated value, rounded so that it keeps its promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

DIGITS = 50  # Digits that `within` decides by: far more than those of two floats that are not the same promise


def private_side(value: float, towards: float, private: Callable[[float], bool]) -> float:
    """`value`, moved `towards` the private end by as few rounding errors as it takes until ``private(value)`` holds.

    >>> private_side(1.0, math.inf, lambda value: value > 1.0) == 1.0 + 2.0**-52
    True
    """
    step = math.copysign(math.ulp(value), towards - value)
    while not private(value):
        value, step = value + step, 2 * step
    return value


def within(epsilon: float, *, times: int, rows: int, prior: float) -> bool:
    """Whether times · ln(1 + rows / prior) ≤ ε, in real numbers and in floats, which tell thousands of priors alike.

    >>> [within(20.0, times=1, rows=1, prior=prior) for prior in (2.061153626686912e-09, 2.06115362668692e-09)]
    [False, True]
    """
    if times * math.log1p(rows / prior) > epsilon:
        return False
    with localcontext() as context:
        context.prec = DIGITS + max(0, math.ceil(math.log10(prior)))
        return times * (1 + Decimal(rows) / Decimal(prior)).ln() <= Decimal(epsilon)
