"""Roots and minima of functions of one number.

`scipy.optimize` takes a quarter of a second to load, longer than nearly every page takes to answer. Its method for
roots is so short that it stands here, step for step; its other methods are loaded when they are first asked for.
"""

import math
from collections.abc import Callable
from typing import Any

RESOLUTION = 4 * 2.0**-52  # The smallest relative accuracy of a root


def brentq(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 2e-12,
    rtol: float = RESOLUTION,
    maxiter: int = 100,
) -> float:
    """Return a root between two ends at which the function has different signs, as `scipy.optimize.brentq` does.

    `xtol` > 0 and `rtol` ≥ 4 · 2⁻⁵² are its absolute and relative accuracy. A ValueError is raised where the signs are
    the same, or a value is NaN, and a RuntimeError where it is not found in `maxiter` steps. Source: Brent (1973),
    Algorithms for minimization without derivatives, chapter 4.

    >>> round(brentq(lambda x: x**2 - 2, 0.0, 2.0), 9)
    1.414213562
    """
    before, here, other = float(low), float(high), 0.0  # NumPy would warn where rounding leaves no step
    at_before, at_here, at_other = _value(function, low), _value(function, high), 0.0
    if at_before == 0 or at_here == 0:
        return before if at_before == 0 else here
    if (at_before < 0) == (at_here < 0):
        raise ValueError("The function must have different signs at both ends.")
    last = step = 0.0
    for _ in range(maxiter):
        if at_before != 0 and at_here != 0 and (at_before < 0) != (at_here < 0):
            other, at_other = before, at_before
            last = step = here - before
        if abs(at_other) < abs(at_here):
            before, here, other = here, other, here
            at_before, at_here, at_other = at_here, at_other, at_here
        near, half = (xtol + rtol * abs(here)) / 2, (other - here) / 2
        if at_here == 0 or abs(half) < near:
            return here
        tried = math.inf
        if abs(last) > near and abs(at_here) < abs(at_before):
            tried = _interpolated(before, here, other, at_before, at_here, at_other)
        short = 2 * abs(tried) < min(abs(last), 3 * abs(half) - near)
        last, step = (step, tried) if short else (half, half)
        before, at_before = here, at_here
        here += step if abs(step) > near else math.copysign(near, half)
        at_here = _value(function, here)
    raise RuntimeError(f"No root was found in {maxiter} steps; the last one was at {here}.")


def _interpolated(before: float, here: float, other: float, at_before: float, at_here: float, at_other: float) -> float:
    """The step from `here` to where a line, or an inverse parabola, is 0; infinite where rounding leaves none."""
    try:
        if before == other:
            return -at_here * (here - before) / (at_here - at_before)
        rise, rise_other = (at_before - at_here) / (before - here), (at_other - at_here) / (other - here)
        numerator = -at_here * (at_other * rise_other - at_before * rise)
        return numerator / (rise_other * rise * (at_other - at_before))
    except ZeroDivisionError:
        return math.inf


def _value(function: Callable[[float], float], x: float) -> float:
    value = float(function(x))
    if value != value:
        raise ValueError(f"The function is NaN at {x}.")
    return value


def minimize_scalar(function: Callable[[float], float], **options: Any) -> Any:
    """Return what `scipy.optimize.minimize_scalar` finds, with its options."""
    from scipy.optimize import minimize_scalar

    return minimize_scalar(function, **options)
