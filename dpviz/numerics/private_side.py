"""A calibrated value, rounded so that it keeps its promise."""

from __future__ import annotations

import math
from collections.abc import Callable


def private_side(value: float, towards: float, private: Callable[[float], bool]) -> float:
    """`value`, moved `towards` the private end by as few rounding errors as it takes until ``private(value)`` holds.

    Examples
    --------
    >>> private_side(1.0, math.inf, lambda value: value > 1.0) == 1.0 + 2.0**-52
    True
    """
    step = math.copysign(math.ulp(value), towards - value)
    while not private(value):
        value, step = value + step, 2 * step
    return value
