"""A slider and a box for one declared parameter, both moving the same value, which the address keeps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import streamlit as st

from dpviz.parameters import Parameter, readable
from pages.components.address import SETTINGS, drawn, keep_numbers
from pages.components.last_valid import accepted

POINTS_PER_DECADE = 20
LINEAR_STOPS = 80
MOST_STOPS = 90
"""Stops of a slider: each of them is drawn up anew in every run."""

FIRST_WHOLE = 30
"""Whole numbers that the slider of a count stops at one by one before it goes on in equal ratios."""

LARGEST = 1e308
"""Largest number that a box takes."""

PRIVATE_END = {"larger": "larger is more private", "smaller": "smaller is more private", "neither": ""}


def number_control(declaration: Parameter, key: str, *, zero: bool = False) -> float:
    """Slider and number box for `declaration`; returns the value, which may be outside its domain.

    The box takes every number, so that what is refused can be said in a sentence; NaN stands for an empty one.

    Parameters
    ----------
    declaration
        The parameter.
    key
        Key of the setting in the session and the address.
    zero
        Whether 0 is added below a logarithmic slider.
    """
    slider, start = f"{key}_slider", SETTINGS[key].default
    with st.container(key=f"{key}_both"):
        symbol = "" if declaration.symbol.lower() == declaration.title.lower() else declaration.symbol
        typed = st.number_input(
            f"{symbol or declaration.title}, exact value",
            min_value=-LARGEST,
            max_value=LARGEST,
            value=None,  # with another one, a box that is emptied would jump back to it without a word
            step=None,  # a box of whole numbers would cut 2.5 to 2 without a word
            format="%.10g",
            key=key,
            persist_state="session",  # a control that is hidden for a while comes back as it was
            label_visibility="collapsed",
        )
        value = st.session_state.get(slider, start) if typed is None else typed
        if declaration.integer and float(value).is_integer():
            value = int(value)
        drawn(key, start if typed is None else value)
        options = sorted([stop for stop in _stops(declaration, zero) if _text(stop) != _text(value)] + [value])
        if st.session_state.get(slider) != value:
            st.session_state[slider] = value
        hint = PRIVATE_END[declaration.private_end]
        st.select_slider(
            f"{declaration.title} {symbol}".strip() + (f" · {hint}" if hint else ""),
            options=options,
            value=value,  # where a browser missed the run that set the state, it starts from here
            key=slider,
            format_func=_text,
            help=f"{declaration.help} Accepted: {declaration.domain}.",
            on_change=_take_slider,
            args=(key, slider),
        )
    return math.nan if typed is None else value


@dataclass(frozen=True)
class PageNumbers:
    """The numbers of one page, each with its control.

    Parameters
    ----------
    prefix
        What the page's keys begin with.
    declared
        The numbers by name.
    """

    prefix: str
    declared: dict[str, Parameter]

    def __post_init__(self) -> None:
        keep_numbers({self.prefix + name: one for name, one in self.declared.items()})

    @property
    def keys(self) -> list[str]:
        """The keys of their controls."""
        return [self.prefix + name for name in self.declared]

    def number(self, name: str, highest: float | None = None) -> float:
        """The control of one number; what is outside its domain is returned, for the page to refuse in a sentence.

        `highest` is where the slider ends, where another control says so and it is in the domain.
        """
        one = self.declared[name]
        if highest is not None and one.minimum < highest <= one.maximum:
            one = dataclasses.replace(one, slider_maximum=highest)
        return number_control(one, self.prefix + name, zero=name == "delta")

    def check(self, values: Mapping[str, object]) -> None:
        """Refuse in a sentence the first of the page's numbers among `values` that is outside its domain."""
        for name, one in self.declared.items():
            if name in values:
                one.check(values[name])

    def checked(self, name: str) -> float:
        """The control of one number; outside its domain a sentence says so, and the last one inside is returned."""
        return checked(self.declared[name], self.prefix + name, self.number(name))


def checked(declaration: Parameter, key: str, value: float) -> float:
    """A number of a section; outside its domain a sentence says so, and the last one inside is returned."""
    symbol = declaration.symbol or declaration.title.lower()
    return accepted(key, value, declaration.check, SETTINGS[key].default, lambda last: f"{symbol} = {readable(last)}")


def controls_style(keys: Iterable[str]) -> str:
    """Style that sets the box of each control on the line of its label, above the slider."""
    keys = list(keys)
    boxes = ", ".join(f".st-key-{key}" for key in keys)
    inputs = ", ".join(f".st-key-{key} input" for key in keys)
    buttons = ", ".join(f".st-key-{key} button" for key in keys)
    labels = ", ".join(f".st-key-{key}_slider label" for key in keys)
    return f"""
{boxes} {{align-self: flex-end; width: 6.9rem !important; margin-bottom: -3.5rem; z-index: 2}}
{inputs} {{padding: .2rem .55rem; font-variant-numeric: tabular-nums}}
{buttons} {{display: none}}
{labels} {{padding-right: 7.5rem; min-height: 2.5rem; align-items: center; line-height: 1.25}}
"""


def _take_slider(key: str, slider: str) -> None:
    st.session_state[key] = st.session_state[slider]


@lru_cache(maxsize=4096)
def _text(value: float) -> str:
    return readable(value, 6)


@cache
def _stops(declaration: Parameter, zero: bool) -> tuple[float, ...]:
    """The values that the slider stops at."""
    low = declaration.minimum if declaration.slider_minimum is None else declaration.slider_minimum
    high = declaration.maximum if declaration.slider_maximum is None else declaration.slider_maximum
    if declaration.integer:
        whole = set(range(int(low), int(min(high, FIRST_WHOLE)) + 1)) | {int(high)}
        ratio = 10 ** (1 / (2 * POINTS_PER_DECADE))
        value = float(FIRST_WHOLE)
        while value < high:
            whole.add(_rounded_whole(value))
            value *= ratio
        return tuple(sorted(number for number in whole if low <= number <= high))
    if declaration.scale == "linear":
        even = {float(f"{low + (high - low) * step / LINEAR_STOPS:.3g}") for step in range(LINEAR_STOPS + 1)}
        return tuple(sorted(value for value in even if low <= value <= high))
    steps = min(MOST_STOPS, round(math.log10(high / low) * POINTS_PER_DECADE))
    values = {float(f"{low * (high / low) ** (step / steps):.2g}") for step in range(steps + 1)} | {low, high}
    return tuple(sorted(({0.0} if zero else set()) | {value for value in values if low <= value <= high}))


def _rounded_whole(value: float) -> int:
    return round(value) if value < 100 else 5 * round(value / 5)
