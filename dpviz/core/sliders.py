"""The slider of a declared number: what it is called, the values at which it stops, and which numbers follow others."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from dpviz.core.parameters import Parameter, readable

POINTS_PER_DECADE, LINEAR_STOPS, MOST_STOPS = 20, 80, 90
"""Stops of a slider: each of them is drawn up anew in every run."""

FIRST_WHOLE = 30  # Whole numbers that the slider of a count stops at one by one before it goes on in equal ratios
PRIVATE_END = {"larger": "larger is more private", "smaller": "smaller is more private", "neither": ""}


class Link(NamedTuple):
    """How one number follows another until the reader unlinks it: the switch and its words, whom, and both symbols."""

    switch: str
    label: str
    leader: str
    both: str


LINKS = {
    "m": Link("m_is_n", "m = n: as many released rows", "n", "n = m"),
    "beta": Link("beta_is_alpha", "β = α: symmetric prior", "alpha", "α = β"),
    "public_share": Link("guess_is_truth", "π = p: the public guess is the truth", "p", "p = π"),
    "noise_epsilon": Link("noise_is_promise", "noise made for the promised ε", "epsilon", "ε"),
}
"""By the name of the number that follows."""


@lru_cache(maxsize=4096)
def stop_text(declaration: Parameter, value: float) -> str:
    """How a slider writes a value."""
    return f"{readable(100 * value, 6)} %" if declaration.share else readable(value, 6)


@lru_cache(maxsize=512, typed=True)
def stops_with(declaration: Parameter, value: float) -> tuple[float, ...]:
    """The stops of a slider, and `value` in place of one that is written alike."""
    text = stop_text(declaration, value)
    return tuple(sorted([stop for stop in _stops(declaration) if stop_text(declaration, stop) != text] + [value]))


class _Texts(dict[float, str]):
    """How a slider writes its stops, and what is none of them: it asks for all of them in every run."""

    def __init__(self, declaration: Parameter, stops: tuple[float, ...]) -> None:
        super().__init__((stop, stop_text(declaration, stop)) for stop in stops)
        self._declaration = declaration

    def __missing__(self, value: float) -> str:
        return stop_text(self._declaration, value)


@lru_cache(maxsize=512, typed=True)
def stop_texts(declaration: Parameter, value: float) -> Callable[[float], str]:
    """Return what writes a value as `stop_text` does, at once where it is one of `stops_with`.

    >>> one = Parameter(name="n", symbol="n", title="Rows", minimum=1, maximum=9, default=5, help="", integer=True)
    >>> written = stop_texts(one, 4)
    >>> [written(stop) for stop in stops_with(one, 4)] == [stop_text(one, stop) for stop in stops_with(one, 4)]
    True
    >>> written(7.5), stop_text(one, 7.5)
    ('7.5', '7.5')
    """
    return _Texts(declaration, stops_with(declaration, value)).__getitem__


@lru_cache(maxsize=512)
def _stops(declaration: Parameter) -> tuple[float, ...]:
    low = declaration.minimum if declaration.slider_minimum is None else declaration.slider_minimum
    high = declaration.maximum if declaration.slider_maximum is None else declaration.slider_maximum
    if declaration.integer:
        whole = {*range(int(low), int(min(high, FIRST_WHOLE)) + 1), int(high)}
        value = float(FIRST_WHOLE)
        while value < high:
            whole.add(round(value) if value < 100 else 5 * round(value / 5))
            value *= 10 ** (1 / (2 * POINTS_PER_DECADE))
        return tuple(sorted(number for number in whole if low <= number <= high))
    if declaration.scale == "linear":
        even = {float(f"{low + (high - low) * step / LINEAR_STOPS:.3g}") for step in range(LINEAR_STOPS + 1)}
        return tuple(sorted(value for value in even if low <= value <= high))
    steps = min(MOST_STOPS, round(math.log10(high / low) * POINTS_PER_DECADE))
    values = {float(f"{low * (high / low) ** (step / steps):.2g}") for step in range(steps + 1)} | {low, high}
    zero = {0.0} if declaration.name == "delta" else set()  # on a page whose numbers it is one of: no δ at all
    return tuple(sorted(zero | {value for value in values if low <= value <= high}))


class SliderWords(NamedTuple):
    """The symbol of a number where it says more than the title, its name, the label of its slider, and its help."""

    symbol: str
    name: str
    label: str
    hint: str


@lru_cache(maxsize=1024)
def slider_words(one: Parameter) -> SliderWords:
    """What a number, its box and its slider are called."""
    end = PRIVATE_END[one.private_end]
    symbol = "" if one.symbol.lower() == one.title.lower() else one.symbol
    name = f"{one.title} {symbol}".strip()
    return SliderWords(symbol, name, name + (f" · {end}" if end else ""), f"{one.help} Accepted: {one.domain}.")
