"""Slider of a declared number: its label, the values at which it stops, and how they are written."""

from __future__ import annotations

import math
from functools import lru_cache

from dpviz.core.parameters import Parameter, readable

STOPS_PER_DECADE = 20
MAX_STOPS = 90
"""Every stop is sent to the browser in each run."""

LAST_SINGLE_COUNT = 30
"""Whole number up to which the slider of a count stops at every one; beyond it stops in equal ratios."""

PRIVATE_END = {"larger": "larger is more private", "smaller": "smaller is more private", "neither": ""}


def slider_label(parameter: Parameter) -> str:
    """Title and symbol of a number, and which end of its slider is more private."""
    return " · ".join(filter(None, (number_name(parameter), PRIVATE_END[parameter.private_end])))


def number_name(parameter: Parameter) -> str:
    """Title of a number with its symbol, where that says more."""
    is_same = parameter.symbol.lower() == parameter.title.lower()
    return parameter.title if is_same else f"{parameter.title} {parameter.symbol}".strip()


@lru_cache(maxsize=4096)
def stop_text(parameter: Parameter, value: float) -> str:
    """Value as a slider writes it."""
    return f"{readable(100 * value, 6)} %" if parameter.share else readable(value, 6)


@lru_cache(maxsize=512, typed=True)
def stops_with(parameter: Parameter, value: float, maximum: float | None = None) -> tuple[float, ...]:
    """Stops of a slider, with `value` in place of the stop that is written alike.

    Parameters
    ----------
    parameter : Parameter
    value : float
        Present value, which must be a stop.
    maximum : float, optional
        Limit that other settings put on it, such as n on the number who say yes; the slider ends there.

    Returns
    -------
    tuple of float
        Increasing.

    Examples
    --------
    >>> n = Parameter(name="n", symbol="n", title="Rows", minimum=1, maximum=5, default=3, help="", integer=True)
    >>> stops_with(n, 4), stops_with(n, 2, 3)
    ((1, 2, 3, 4, 5), (1, 2, 3))
    """
    highest = parameter.slider_maximum
    if maximum is not None and parameter.minimum < maximum <= parameter.maximum:
        highest = maximum
    text = stop_text(parameter, value)
    others = [stop for stop in _stops(parameter, highest) if stop_text(parameter, stop) != text]
    return tuple(sorted([*others, value]))


@lru_cache(maxsize=512)
def _stops(parameter: Parameter, maximum: float | None) -> tuple[float, ...]:
    low = parameter.minimum if parameter.slider_minimum is None else parameter.slider_minimum
    high = parameter.maximum if maximum is None else maximum
    if parameter.integer:
        return _whole_stops(int(low), int(high))
    if parameter.scale == "linear":
        steps = MAX_STOPS - 10
        stops = {float(f"{low + (high - low) * step / steps:.3g}") for step in range(steps + 1)}
    else:
        steps = min(MAX_STOPS, round(math.log10(high / low) * STOPS_PER_DECADE))
        stops = {float(f"{low * (high / low) ** (step / steps):.2g}") for step in range(steps + 1)} | {low, high}
        if parameter.name == "delta":  # pure differential privacy, off the logarithmic scale
            stops.add(0.0)
    return tuple(sorted(stop for stop in stops if low <= stop <= high or stop == 0))


def _whole_stops(low: int, high: int) -> tuple[int, ...]:
    """Every whole number up to `LAST_SINGLE_COUNT`, then equal ratios rounded to multiples of five."""
    stops = {*range(low, min(high, LAST_SINGLE_COUNT) + 1), high}
    value = float(LAST_SINGLE_COUNT)
    while value < high:
        stops.add(round(value) if value < 100 else 5 * round(value / 5))
        value *= 10 ** (1 / (2 * STOPS_PER_DECADE))
    return tuple(sorted(stop for stop in stops if low <= stop <= high))
