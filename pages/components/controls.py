"""A slider and a box for one declared parameter, both moving the same value, which the address keeps."""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import streamlit as st

from dpviz.core.parameters import Parameter, readable
from dpviz.mechanisms import BetaBinomial, Synthesizer
from pages.components.address import SETTINGS, drawn, keep_numbers, keep_switch, read_address
from pages.components.choices import Places, folded, switch
from pages.components.last_valid import Refused, accepted

POINTS_PER_DECADE, LINEAR_STOPS, MOST_STOPS = 20, 80, 90
"""Stops of a slider: each of them is drawn up anew in every run."""

FIRST_WHOLE = 30  # Whole numbers that the slider of a count stops at one by one before it goes on in equal ratios

LARGEST = 1e308
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
    "noise_epsilon": Link("noise_is_promise", "noise made for the promised ε", "epsilon", "ε"),
}
"""By the name of the number that follows."""


@dataclass(frozen=True)
class PageNumbers:
    """The numbers of one page by name, each with its control; `links` names those that may follow another.

    `at` says where the control of a name stands.
    """

    prefix: str
    declared: Mapping[str, Parameter]
    links: tuple[str, ...] = ("m",)
    at: Callable[[str], AbstractContextManager[object]] = lambda _name: nullcontext()

    def kept(self) -> Self:
        """Itself, whose settings the session and the address keep from now on."""
        keep_numbers({self.prefix + name: one for name, one in self.declared.items()})
        for name in self.links:
            keep_switch(self.prefix + LINKS[name].switch, True)
        return self

    def placed(self, few: Collection[str], main: Collection[str]) -> Self:
        """Itself with its controls in their `Places`, once the page's settings were taken from the address."""
        read_address(self.prefix)
        return dataclasses.replace(self, at=Places(few, main))

    @property
    def keys(self) -> list[str]:
        """The keys of their controls."""
        return [self.prefix + name for name in self.declared]

    def number(self, name: str, highest: float | None = None) -> float:
        """Slider, up to `highest` where the domain has that, and a box of any number; NaN stands for an empty one."""
        one, key = self.declared[name], self.prefix + name
        if highest is not None and one.minimum < highest <= one.maximum:
            one = dataclasses.replace(one, slider_maximum=highest)
        start = self._start(name)
        with self.at(name):
            if folded():
                kept = st.session_state.get(key, start)
                value = drawn(key, start if kept is None else _whole(one, kept), _words(one).name)
                return math.nan if kept is None else value
            return _box_and_slider(one, key, start)

    def _start(self, name: str) -> float:
        """What a fresh page has; what others say of a page's own accord has no such value, and its declaration has."""
        default: float | None = SETTINGS[self.prefix + name].default
        return self.declared[name].default if default is None else default

    def values(self, *names: str) -> dict[str, float]:
        """The controls of several numbers, in this order."""
        found: dict[str, float] = {}
        for name in names:
            link = LINKS[name] if name in self.links else None
            with self.at(name):
                linked = link and link.leader in found and switch(link.label, self.prefix + link.switch)
            found[name] = found[link.leader] if link and linked else self.number(name)
        return found

    def follows(self, name: str) -> bool:
        """Whether a number follows another one."""
        return name in self.links and bool(st.session_state.get(self.prefix + LINKS[name].switch, True))

    def check(self, values: Mapping[str, object]) -> None:
        """Refuse in a sentence the first of the page's numbers among `values` that is outside its domain."""
        for name, one in self.declared.items():
            if name in values:
                one.check(values[name])

    def refused(
        self,
        broken: ValueError,
        values: Mapping[str, Any],
        synthesizer_type: type[Synthesizer] = BetaBinomial,
        **highest: float,
    ) -> Refused:
        """What a refusal says, with a button for each number outside its domain, or above what others let it be."""
        rows = {one.name for one in synthesizer_type.parameters()} & {"n", "m"}
        mends: dict[str, tuple[object, str]] = {}
        for name, one in self.declared.items():
            if name not in values or (name in ("n", "m") and not rows):
                continue
            value, most = values[name], max(one.minimum, min(one.maximum, highest.get(name, one.maximum)))
            try:
                dataclasses.replace(one, maximum=most).check(value)
            except ValueError:
                near = min(most, value if value > one.default else one.default)  # an empty box has a NaN
                followed = self.follows(name)
                target, words = (LINKS[name].leader, LINKS[name].both) if followed else (name, one.symbol or one.title)
                near = int(near) if one.integer else near
                mends.setdefault(self.prefix + target, (near, f"Set {words} = {readable(near)}"))
        if rows == {"n"} and values.get("m", values["n"]) != values["n"]:
            mends[self.prefix + LINKS["m"].switch] = True, "Set m = n"
        return Refused((str(broken),), mends)

    def accepted(self, name: str, value: float) -> float:
        """A number of a section; outside its domain a sentence says so, and the last one inside is returned."""
        one, key = self.declared[name], self.prefix + name
        symbol = one.symbol or one.title.lower()
        return accepted(key, value, one.check, self._start(name), lambda last: f"{symbol} = {readable(last)}")

    def checked(self, name: str) -> float:
        """The control of one number of a section."""
        return self.accepted(name, self.number(name))


def _box_and_slider(one: Parameter, key: str, start: float) -> float:
    """The box, and below it the slider; an empty box leaves the slider where it is.

    The style sheet sets a box that a slider follows on the line of the slider's label.
    """
    slider, (symbol, name, label, hint) = f"{key}_slider", _words(one)
    typed = st.number_input(
        f"{f'{one.title} {symbol}'.strip()}, exact value",
        min_value=-LARGEST,
        max_value=LARGEST,
        value=None,  # with another one, a box that is emptied would jump back to it without a word
        step=None,  # a box of whole numbers would cut 2.5 to 2 without a word
        format="%.10g",
        key=key,
        persist_state="session",  # a control that is hidden for a while comes back as it was
        label_visibility="collapsed",
    )
    value = _whole(one, st.session_state.get(slider, start) if typed is None else typed)
    drawn(key, start if typed is None else value, name)
    if st.session_state.get(slider) != value:
        st.session_state[slider] = value
    st.select_slider(
        label,
        options=_options(one, one.name == "delta", value),
        value=value,  # where a browser missed the run that set the state, it starts from here
        key=slider,
        format_func=_text,
        help=hint,
        on_change=_take_slider,
        args=(key, slider),
    )
    return math.nan if typed is None else value


def _whole(one: Parameter, value: float) -> float:
    """A number as it is, without a point where it counts."""
    return int(value) if one.integer and float(value).is_integer() else value


def _take_slider(key: str, slider: str) -> None:
    st.session_state[key] = st.session_state[slider]


@lru_cache(maxsize=4096)
def _text(value: float) -> str:
    return readable(value, 6)


class _Words(NamedTuple):
    symbol: str
    name: str
    label: str
    hint: str


@lru_cache(maxsize=1024)
def _words(declaration: Parameter) -> _Words:
    """Its symbol where that says more than the title, its name, the label of the slider, and its help."""
    one, end = declaration, PRIVATE_END[declaration.private_end]
    symbol = "" if one.symbol.lower() == one.title.lower() else one.symbol
    name = f"{one.title} {symbol}".strip()
    return _Words(symbol, name, name + (f" · {end}" if end else ""), f"{one.help} Accepted: {one.domain}.")


@lru_cache(maxsize=512, typed=True)
def _options(declaration: Parameter, zero: bool, value: float) -> tuple[float, ...]:
    """The stops of the slider, and `value` in place of one that is written alike."""
    return tuple(sorted([stop for stop in _stops(declaration, zero) if _text(stop) != _text(value)] + [value]))


@lru_cache(maxsize=512)
def _stops(declaration: Parameter, zero: bool) -> tuple[float, ...]:
    """The values that the slider stops at."""
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
    return tuple(sorted(({0.0} if zero else set()) | {value for value in values if low <= value <= high}))
