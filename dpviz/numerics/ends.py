"""Elementary functions of ε and δ, right to the ends of their domains."""

from __future__ import annotations

import math


def log_inverse(delta: float) -> float:
    """ln(1/δ) for δ in [0, 1]; infinite at 0, and a positive zero at 1.

    >>> log_inverse(1.0), log_inverse(0.0)
    (0.0, inf)
    """
    return 0.0 - math.log(delta) if delta > 0 else math.inf


def inverse_gain(epsilon: float) -> float:
    """1 / (e^ε − 1) for ε > 0, however large.

    >>> round(inverse_gain(math.log(3)), 12), inverse_gain(1000.0)
    (0.5, 0.0)
    """
    return 1 / math.expm1(epsilon) if epsilon < 700 else math.exp(-epsilon)


def gain(epsilon: float) -> float:
    """e^ε − 1, infinite where it exceeds the floating-point numbers.

    >>> round(gain(math.log(3)), 12), gain(1000.0)
    (2.0, inf)
    """
    return math.expm1(epsilon) if epsilon < 709.7 else math.inf


def quotient(numerator: float, denominator: float) -> float:
    """A positive number over one that may be 0, where it is infinite: the bound then excludes nothing."""
    return numerator / denominator if denominator > 0 else math.inf
