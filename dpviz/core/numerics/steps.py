"""Computations that stop between costly steps, so that whoever waits for them can turn to something else."""

import math
import sys
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from dpviz.core.types import Arguments, Result

SoFar = TypeVar("SoFar")
Steps = Generator[None, None, Result]
"""What a computation is in steps: it yields nothing before each, and returns its result."""

NARROWEST_RELATIVE = 4 * sys.float_info.epsilon  # Relative width below which no root is sought
MOST_BRENT_STEPS = 100


def finished(steps: Generator[Any, None, Result], between: Callable[[], object] = lambda: None) -> Result:
    """Take all steps and return the result; `between` is called before each, and may raise to end them.

    >>> finished(paused(max, 1, 2))
    2
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        between()


def paused(function: Callable[Arguments, Result], *args: Arguments.args, **rest: Arguments.kwargs) -> Steps[Result]:
    """Stop once, and then compute."""
    yield
    return function(*args, **rest)


def telling(steps: Generator[Any, None, Result], tell: Callable[[], SoFar]) -> Generator[SoFar, None, Result]:
    """The same steps, each of which yields what there is to `tell` now.

    >>> list(telling(paused(max, 1, 2), lambda: "so far"))
    ['so far']
    """
    so_far = tell()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield so_far


def root_in_steps(function: Callable[[float], float], low: float, high: float, tolerance: float) -> Steps[float]:
    """Return a root between two ends of different sign, at most `tolerance` from where the sign changes.

    It stops before each value of the function. Brent's method, with the steps of `scipy.optimize.brentq`.
    Source: Brent (1973), Algorithms for Minimization Without Derivatives, chapter 4.

    >>> round(finished(root_in_steps(lambda x: x * x - 2, 0.0, 2.0, 1e-12)), 9)
    1.414213562
    """
    before, here = low, high
    at_before = yield from paused(function, before)
    at_here = yield from paused(function, here)
    if at_before == 0:
        return before
    if (at_before > 0) == (at_here > 0) and at_here != 0:
        raise ValueError(f"The function must have different signs at both ends; got {at_before} and {at_here}.")
    across = at_across = last = step = 0.0
    for _ in range(MOST_BRENT_STEPS):
        if at_before != 0 and at_here != 0 and (at_before < 0) != (at_here < 0):
            across, at_across = before, at_before
            last = step = here - before
        if abs(at_across) < abs(at_here):
            before, here, across = here, across, here
            at_before, at_here, at_across = at_here, at_across, at_here
        near = (tolerance + NARROWEST_RELATIVE * abs(here)) / 2
        half = (across - here) / 2
        if at_here == 0 or abs(half) < near:
            return here
        if abs(last) > near and abs(at_here) < abs(at_before):
            if before == across:  # a line through two values
                guess = -at_here * (here - before) / (at_here - at_before)
            else:  # the inverse parabola through three
                to_before = (at_before - at_here) / (before - here)
                to_across = (at_across - at_here) / (across - here)
                guess = -at_here * (at_across * to_across - at_before * to_before)
                guess /= to_across * to_before * (at_across - at_before)
            close = 2 * abs(guess) < min(abs(last), 3 * abs(half) - near)
            last, step = (step, guess) if close else (half, half)
        else:
            last = step = half
        before, at_before = here, at_here
        here += step if abs(step) > near else math.copysign(near, half)
        at_here = yield from paused(function, here)
    raise ValueError(f"No root was found in {MOST_BRENT_STEPS} steps between {low} and {high}.")
