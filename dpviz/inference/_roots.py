"""Roots of many falling functions at once, by Newton's rule inside their brackets."""

from collections.abc import Callable

import numpy as np

from dpviz.core.types import FloatArray, IntArray

ROOT_SETTLED, MOST_ROOT_STEPS = 1e-14, 120  # Of Newton's rule: relative width of a bracket that is a root, and steps
VALUE_ROUNDING = 1e-14  # Value of a function, about 1 in size, that is rounding


def falling_roots(
    value: Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]],
    low: FloatArray,
    high: FloatArray,
    start: FloatArray | None = None,
    last_step: float = ROOT_SETTLED,
) -> FloatArray:
    """Where functions that are positive at `low` and negative at `high` pass 0: Newton's rule inside their brackets.

    `value` gives values and slopes of the functions with these indices at these places. A step from x of no more than
    `last_step` max(|x|, 1) is the last: what is left is of the order of its square.
    """
    low, high = low.copy(), high.copy()
    x = (low + high) / 2
    if start is not None:
        x = np.where((low <= start) & (start < high), start, x)
    here = np.arange(len(x))
    for _ in range(MOST_ROOT_STEPS):
        if not len(here):
            break
        at = x[here]
        f, slope = value(here, at)
        low[here], high[here] = np.where(f >= 0, at, low[here]), np.where(f <= 0, at, high[here])
        with np.errstate(all="ignore"):
            goal = at - f / slope
        inside = (goal >= low[here]) & (goal <= high[here])
        x[here] = np.where(inside, goal, (low[here] + high[here]) / 2)
        scale = np.maximum(np.abs(at), 1.0)
        moved, left = np.abs(x[here] - at) > last_step * scale, high[here] - low[here] > ROOT_SETTLED * scale
        here = here[(np.abs(f) > VALUE_ROUNDING) & moved & left]
    return x
