"""A slider and a box for one declared parameter, both moving the same value, which the address keeps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import streamlit as st

from dpviz.parameters import Parameter, readable

POINTS_PER_DECADE = 20
LINEAR_STOPS = 80
MOST_STOPS = 90
"""Stops of a slider: each of them is drawn up anew in every run."""

FIRST_WHOLE = 30
"""Whole numbers that the slider of a count stops at one by one before it goes on in equal ratios."""

ADDRESS = "address_problems"
SWITCH = ("true", "false")
"""What a switch says in the address."""

PRIVATE_END = {"larger": "larger is more private", "smaller": "smaller is more private", "neither": ""}


def number_control(
    declaration: Parameter,
    key: str,
    *,
    widest: Parameter | None = None,
    default: float | None = None,
    zero: bool = False,
) -> float:
    """Slider and number box for `declaration`; returns the value, which may still break a rule of the synthesizer.

    Parameters
    ----------
    declaration
        The parameter.
    key
        Key in the session and name in the address.
    widest
        Declaration whose domain the box accepts, where it is shared by laws with different domains; a value outside
        `declaration` is then for the law to refuse, and is not lost.
    default
        Value of a fresh page, if not the declaration's.
    zero
        Whether 0 is added below a logarithmic slider.
    """
    limits = widest or declaration
    start = declaration.default if default is None else default
    symbol = "" if declaration.symbol.lower() == declaration.title.lower() else declaration.symbol
    typed = st.number_input(
        f"{symbol or declaration.title}, exact value",
        min_value=float(limits.minimum),
        max_value=float(limits.maximum),
        value=float(start),
        step=None,  # a box of whole numbers would cut 2.5 to 2 without a word
        format="%.10g",
        key=key,
        bind="query-params",
        persist_state="page",  # a control that is hidden for a while comes back as it was
        label_visibility="collapsed",
    )
    value = start if typed is None else typed
    if declaration.integer and float(value).is_integer():
        value = int(value)
    slider = f"{key}_slider"
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
    return value


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

    @property
    def in_address(self) -> dict[str, Parameter]:
        """The same by key, as the address has them."""
        return {self.prefix + name: one for name, one in self.declared.items()}

    def number(self, name: str, highest: float | None = None) -> float:
        """The control of one number; what is outside its domain is returned, for the page to refuse in a sentence.

        `highest` is where the slider ends, where another control says so.
        """
        one = self.declared[name]
        if highest is not None:
            one = dataclasses.replace(one, slider_maximum=highest)
        edge = 1e15 if one.integer else 1e300
        widest = dataclasses.replace(one, minimum=-edge, maximum=edge, open_minimum=False)
        return number_control(one, self.prefix + name, widest=widest, zero=name == "delta")

    def checked(self, name: str) -> float:
        """The control of one number, refused by a ValueError in a sentence where it is outside its domain."""
        return self.declared[name].check(self.number(name))


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


def read_address(declarations: dict[str, Parameter], choices: Mapping[str, Collection[str]] | None = None) -> None:
    """Note what the address of a fresh page asks for that no control accepts; before the controls are drawn.

    Parameters
    ----------
    declarations
        The page's bound numbers by key.
    choices
        The words that the page's bound choices accept, by key.
    """
    noted = _noted(declarations)
    if noted not in st.session_state:
        found = {key: _problem(key, declaration) for key, declaration in declarations.items()}
        found |= {key: _unknown(key, words) for key, words in (choices or {}).items()}
        st.session_state[noted] = [sentence for sentence in found.values() if sentence is not None]
        for key, sentence in found.items():
            if sentence is not None:
                del st.query_params[key]
        if st.session_state[noted]:
            st.rerun()  # without them: Streamlit stops at a whole number that is infinite


def address_problems(declarations: dict[str, Parameter]) -> list[str]:
    """What `read_address` noted, in sentences, until one of the controls is moved; after they are drawn."""
    noted = _noted(declarations)
    then = st.session_state.setdefault(f"{noted}_then", {})
    now = {key: st.session_state[key] for key in declarations if key in st.session_state}
    if any(key in then and then[key] != value for key, value in now.items()):
        st.session_state[noted] = []
    then.update(now)  # a control that is drawn later than others joins without having been moved
    problems: list[str] = st.session_state[noted]
    return problems


def _unknown(key: str, words: Collection[str]) -> str | None:
    """What is wrong with the word of `key` in the address, if anything is."""
    text = st.query_params.get(key)
    if text is None or (text.lower() if words == SWITCH else text) in words:
        return None
    return f"In the address, {key} = {text[:40]} was left out: it must be one of {', '.join(words)}."


def _noted(declarations: dict[str, Parameter]) -> str:
    """Where a page keeps what was wrong with its address: its keys share a prefix."""
    return f"{next(iter(declarations)).partition('_')[0]}_{ADDRESS}"


def _problem(key: str, declaration: Parameter) -> str | None:
    """What is wrong with the value of `key` in the address, if anything is."""
    text = st.query_params.get(key)
    if text is None:
        return None
    try:
        declaration.parse(text)
    except ValueError as wrong:
        return f"In the address, {key} = {text[:40]} was left out: {wrong}"
    return None
