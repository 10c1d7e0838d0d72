"""Sliders of declared numbers: their label, and the round values at which they stop."""

import math
from functools import lru_cache

from dpviz.core.formatting import format_number
from dpviz.core.parameters import Parameter

STOPS_PER_DECADE = 20
MAX_STOPS = 90  # every stop is sent to the browser in each run of a page
LAST_SINGLE_COUNT = 30  # up to which the slider of a count stops at every whole number; from there in equal ratios
PRIVATE_END = {"larger": " · larger is more private", "smaller": " · smaller is more private", "neither": ""}


def number_name(parameter: Parameter) -> str:
    """Title of a number with its symbol, where that says more."""
    is_same = parameter.symbol.lower() == parameter.title.lower()
    return parameter.title if is_same else f"{parameter.title} {parameter.symbol}".strip()


def slider_label(parameter: Parameter) -> str:
    """Title and symbol of a number, and which end of its slider is more private."""
    return f"{number_name(parameter)}{PRIVATE_END[parameter.private_end]}"


def stop_text(parameter: Parameter, value: float) -> str:
    """Value as a slider writes it."""
    return f"{format_number(100 * value, 6)} %" if parameter.share else format_number(value, 6)


@lru_cache(maxsize=512, typed=True)
def stops_with(parameter: Parameter, value: float, maximum: float | None = None) -> dict[float, str]:
    """Stops of a slider in their order and as they are written, the present `value` in place of what is written alike.

    The slider ends at a limit that other settings put on it, such as n on the number who say yes.

    >>> n = Parameter(name="n", symbol="n", title="Rows", minimum=1, maximum=5, default=3, help="", integer=True)
    >>> stops_with(n, 4), stops_with(n, 2, 3)
    ({1: '1', 2: '2', 3: '3', 4: '4', 5: '5'}, {1: '1', 2: '2', 3: '3'})
    """
    highest = parameter.maximum if parameter.slider_maximum is None else parameter.slider_maximum
    if maximum is not None and parameter.minimum < maximum <= parameter.maximum:
        highest = maximum
    text = stop_text(parameter, value)
    others = {stop: written for stop, written in _stops(parameter, highest).items() if written != text}
    return dict(sorted({**others, value: text}.items()))


@lru_cache(maxsize=512)
def _stops(parameter: Parameter, high: float) -> dict[float, str]:
    """Equal steps of a linear slider, else equal ratios; every whole number up to `LAST_SINGLE_COUNT` of a count."""
    low = parameter.minimum if parameter.slider_minimum is None else parameter.slider_minimum
    if parameter.integer:
        stops: set[float] = {*range(int(low), min(int(high), LAST_SINGLE_COUNT) + 1), int(high)}
        value = float(LAST_SINGLE_COUNT)
        while value < high:
            stops.add(round(value) if value < 100 else 5 * round(value / 5))
            value *= 10 ** (1 / (2 * STOPS_PER_DECADE))
    elif parameter.scale == "linear":
        steps = MAX_STOPS - 10
        stops = {float(f"{low + (high - low) * step / steps:.3g}") for step in range(steps + 1)}
    else:
        steps = min(MAX_STOPS, round(math.log10(high / low) * STOPS_PER_DECADE))
        stops = {float(f"{low * (high / low) ** (step / steps):.2g}") for step in range(steps + 1)} | {low, high}
    zero = {0.0} if parameter.name == "delta" else set()  # pure differential privacy, off the logarithmic scale
    stops = {stop for stop in stops if low <= stop <= high} | zero
    return {stop: stop_text(parameter, stop) for stop in stops}
