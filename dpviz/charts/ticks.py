"""Round numbers along an axis, for the charts and for the drawings of a report."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.core.parameters import SUPERSCRIPTS, readable

AXIS_INTERVALS = 4  # About how many an axis is cut into


def round_step(rough: float, among: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """Return the first of these times a power of ten that is at least this share of a rough step.

    >>> round_step(0.25), round_step(30.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(one * power for one in among if one * power >= rough * share)


def even_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers within the ends of an axis, in equal steps.

    >>> even_ticks(0.0, 1.0), even_ticks(0.13, 0.31)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.15, 0.2, 0.25, 0.3])
    """
    # A step a fifth too small is better than the next one, which would leave three numbers.
    step = round_step((high - low) / AXIS_INTERVALS, (1, 2, 2.5, 5, 10), 0.79)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


def one_two_five_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within the ends of a logarithmic axis.

    >>> one_two_five_ticks(0.1, 10.0)
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [one for one in found if low * (1 - 1e-9) <= one <= high * (1 + 1e-9)]


def power_of_ten(exponent: int) -> str:
    """10 raised to `exponent`, as text."""
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def decade_ticks(lowest: int, highest: int, most: int = 7) -> tuple[list[int], list[str]]:
    """Return exponents for the ticks of a base-10 logarithmic axis, no more than about `most`, with their texts."""
    step = max(1, -(-(highest - lowest) // most))
    exponents = list(range(highest, lowest - 1, -step))[::-1]
    return exponents, [power_of_ten(exponent) for exponent in exponents]


def decades(lowest: float, highest: float, most: int = 7) -> dict[str, Any]:
    """Ticks at powers of ten for a logarithmic axis between these exponents."""
    exponents, texts = decade_ticks(math.floor(lowest), math.ceil(highest), most)
    return {"tickvals": [10.0**one for one in exponents], "ticktext": texts}


FEW_DECADES = 2.2  # Length of a logarithmic axis up to which it has ticks between the powers of ten
FACTOR = 0.3  # and up to which, a factor of two, its ticks are in equal steps
DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))
"""Ticks of a decade, of which an axis has as many as have room."""
TICK_ROOM = 1 / 8  # Share of the axis that a tick needs, so that large type has room too


def log_scale(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis between these exponents of ten, with as many ticks as stand well apart."""
    span = high - low
    if span > FEW_DECADES:
        return {"type": "log", "range": [low, high], **decades(low, high)}
    first, last = 10.0**low, 10.0**high
    if span < FACTOR:
        step = round_step((last - first) / AXIS_INTERVALS)
        values = [place * step for place in range(math.ceil(first / step), math.floor(last / step) + 1)]
    else:
        apart = [one for one in DECADE_TICKS if np.diff(np.log10([*one, 10])).min() >= TICK_ROOM * span]
        within = [*apart, DECADE_TICKS[-1]][0]
        powers = range(math.floor(low), math.ceil(high) + 1)
        values = [one * 10.0**power for power in powers for one in within]
    return {"type": "log", "range": [low, high], "tickvals": values, "ticktext": [readable(one, 3) for one in values]}
