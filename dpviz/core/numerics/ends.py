"""Functions of ε and δ right to the ends of their domains, and calibrated values rounded to keep their promise."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

DECIDING_DIGITS = 50  # Digits that `within` decides by: far more than those of two floats that are not the same promise

LARGEST_EXPONENT = 700.0  # Exponent up to which e to it is far from overflow


def log_inverse(delta: float) -> float:
    """ln(1/δ) for δ in [0, 1]; infinite at 0, and a positive zero at 1."""
    return 0.0 - math.log(delta) if delta > 0 else math.inf


def inverse_gain(epsilon: float) -> float:
    """1 / (e^ε − 1) for ε > 0, however large."""
    return 1 / math.expm1(epsilon) if epsilon < LARGEST_EXPONENT else math.exp(-epsilon)


def gain(epsilon: float) -> float:
    """e^ε − 1, infinite where it exceeds the floating-point numbers."""
    return math.expm1(epsilon) if epsilon < 709.7 else math.inf


def quotient(numerator: float, denominator: float) -> float:
    """Return a positive number over one that may be 0, where it is infinite: the bound then excludes nothing."""
    return numerator / denominator if denominator > 0 else math.inf


def private_side(value: float, towards: float, private: Callable[[float], bool]) -> float:
    """`value`, moved `towards` the private end by as few rounding errors as it takes until ``private(value)`` holds."""
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
        context.prec = DECIDING_DIGITS + max(0, math.ceil(math.log10(prior)))
        return times * (1 + Decimal(rows) / Decimal(prior)).ln() <= Decimal(epsilon)
