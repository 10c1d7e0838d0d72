"""Widgets of the pages: Streamlit's own, for the numbers and choices that a page declares in its settings.

Every function draws the widget of a setting of the current page, by its name without the prefix, and returns its value.
Its label is that of the setting unless another one is given. Where `place` is an expander that is closed, nothing is
drawn, and the value is that of the session. `rest` are further arguments of Streamlit's widget.
"""

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any, NamedTuple

import streamlit as st

from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number
from dpviz.core.parameters import Parameter
from pages.ui import url
from pages.ui.declarations import declared_table
from pages.ui.release import TakeRelease, mark_moved, matching_case, register_shown
from pages.ui.url import Setting, class_mode, current_setting, keys_of, report_problem, switch_setting, visit

BOX_WIDTH = 110  # pixels: ten digits
STOPS_PER_DECADE = 20
MAX_STOPS = 90  # of a number that is no count: every stop is sent to the browser in each run of a page
LAST_SINGLE_COUNT = 30  # the slider of a count stops at every one up to this, then in equal ratios: at most 340 stops
PRIVATE_END = {"larger": " · larger is more private", "smaller": " · smaller is more private", "neither": ""}


LINKS: Mapping[str, Mapping[str, str]] = declared_table("controls", "links")
"""How a number follows another one, its `leader`, until the reader turns that off: a `switch` and its `label`."""


class Places(NamedTuple):
    """Where controls stand: `first` are always in sight, `main` are but in class mode, `folded` is behind "More"."""

    first: Any
    main: Any
    folded: Any


def control_places(presets: Mapping[str, Mapping[str, Any]], **rest: Any) -> Places:
    """Draw the places of the controls, with presets in the first; in class mode all others are folded away.

    `rest` are further arguments of `_draw_presets`.
    """
    first = st.container(key="first")
    with first:
        _draw_presets(presets, **rest)
    main = None if class_mode() else st.container(key="main")
    folded = st.expander("More", key="more", on_change="rerun")
    return Places(first, folded if main is None else main, folded)


def number_control(
    name: str, parameter: Parameter | None = None, *, place: Any = None, maximum: float | None = None
) -> Any:
    """Draw a slider and a box for the same number, and return it: an int where the parameter is a whole number.

    The box takes the whole domain, the slider stops at round values. `parameter` replaces that of the setting;
    `maximum` is a limit that other settings put on it: a larger value is lowered to it, and a sentence says so.
    """
    key, setting = current_setting(name)
    parameter = parameter or setting.parameter
    assert parameter is not None
    state = st.session_state
    number = int if parameter.integer else float
    highest = parameter.maximum if maximum is None else max(parameter.minimum, min(parameter.maximum, maximum))
    slider = f"{key}{url.SLIDER}"
    current = state.get(key)
    if current is None:  # of a new page, or of a box that was emptied
        current = state.get(slider, parameter.default)
    value = number(min(max(current, parameter.minimum), highest))
    if state.get(key) != value or type(state[key]) is not number:
        url.show_value(key, value)
    if value != current and current != parameter.default:
        symbol = parameter.symbol or parameter.title.lower()
        limit = "more" if current > value else "less"
        report_problem(key, f"{symbol} was set to {format_number(value)}: the other settings allow no {limit}.")
    register_shown(key)
    if is_folded(place):
        return value
    stops = stops_with(parameter, value, maximum)
    if state.get(slider) != value:  # setting what it has would pull it back under the reader's hand
        url.show_value(slider, value, next(iter(stops)))  # Streamlit takes a stop that is none any more for the first

    with place or nullcontext(), st.container(key=f"{key}_row", horizontal=True, vertical_alignment="bottom"):
        st.select_slider(
            slider_label(parameter), list(stops), key=slider, on_change=mark_moved, args=(slider,),
            format_func=lambda stop: stops.get(stop) or stop_text(parameter, stop),  # also of what is no stop any more
            help=f"{parameter.help} Accepted: {parameter.domain}.",
        )  # fmt: skip
        st.number_input(
            f"{url.number_name(parameter)}, exact value", number(parameter.minimum), number(highest),
            value=None, required=True,  # an emptied box is marked in the browser, and the last answer stays
            step=None, format=None if parameter.integer else "%.10g", key=key, on_change=mark_moved, args=(key,),
            persist_state="session", label_visibility="collapsed", width=BOX_WIDTH,
        )  # fmt: skip
    return value


def number_controls(*names: str, place: Any = None) -> dict[str, Any]:
    """Draw several numbers, and return their values by name."""
    return {name: number_control(name, place=place) for name in names}


def linked_number(name: str, leader: float, parameter: Parameter | None = None, *, place: Any = None) -> Any:
    """Draw the switch by which a number follows the value of its leader, and its own control where it does not."""
    return leader if toggle(LINKS[name]["switch"], place=place) else number_control(name, parameter, place=place)


def link_settings(prefix: str, *names: str) -> dict[str, Setting]:
    """Settings of the switches of numbers that may follow others, on by default."""
    return {prefix + LINKS[name]["switch"]: switch_setting(True, LINKS[name]["label"]) for name in names}


def choice(
    name: str, options: Collection[str] | None = None, label: str = "", *, widget: Callable[..., Any] = st.selectbox,
    **rest: Any,
) -> str:  # fmt: skip
    """Draw a choice of one option and return its key, empty where none is chosen.

    `options` are as in `pages.ui.url.Options`, those of the setting if None. Where the present key is not, or no
    longer, among them, none is chosen, or the first where the widget must have one.
    """
    key, setting = current_setting(name)
    options = keys_of(setting.options) if options is None else options
    keys = list(options)
    state = st.session_state
    is_optional = widget in (st.pills, st.segmented_control) and not rest.get("required")
    value = state.get(key)
    if value not in keys and (value or not is_optional):
        state[key] = None if is_optional else keys[0]
        if value and visit().is_linked:  # other settings of the link rule it out
            report_problem(key, f"Ignored {key} = {value} in the link: it must be one of {', '.join(keys)}.")
    _draw(widget, name, label, options=options, **rest)
    return state.get(key) or ""


segmented = partial(choice, widget=st.segmented_control, required=True)


def choices(name: str, options: Collection[str] | None = None, **rest: Any) -> list[str]:
    """Draw a list of several options, see `choice`, and return the chosen keys in the order of the options."""
    key, setting = current_setting(name)
    options = keys_of(setting.options) if options is None else options
    state = st.session_state
    state[key] = [option for option in state.get(key) or [] if option in options]
    _draw(st.multiselect, name, options=options, **rest)
    return [option for option in options if option in state[key]]


def toggle(name: str, label: str = "", **rest: Any) -> bool:
    """Draw a switch and return whether it is on."""
    return bool(_draw(st.toggle, name, label, **rest))


def text_control(name: str, label: str = "", *, area: bool = False, **rest: Any) -> str:
    """Draw a box for a text, of several lines if `area`, and return it."""
    return _draw(st.text_area if area else st.text_input, name, label, **rest) or ""


def _draw(
    widget: Callable[..., Any], name: str, label: str = "", *, place: Any = None,
    options: Collection[str] | None = None, **rest: Any,
) -> Any:  # fmt: skip
    key, setting = current_setting(name)
    register_shown(key)
    if isinstance(options, Mapping):
        labels = options
        rest["format_func"] = lambda option: getattr(labels.get(option, option), "label", labels.get(option, option))
    if not is_folded(place):
        values = [] if options is None else [list(options)]
        with place or nullcontext():
            rest |= {"key": key, "on_change": mark_moved, "args": (key,), "persist_state": "session"}
            widget(label or setting.label, *values, **rest)
    return st.session_state.get(key)


def _draw_presets(
    cases: Mapping[str, Mapping[str, Any]], *, widget: Callable[..., Any] = st.pills,
    take_release: TakeRelease | None = None, **rest: Any,
) -> None:  # fmt: skip
    """Draw buttons that set the controls to known cases; the chosen one stays marked while it holds.

    A case has values by the names of settings without the prefix. `widget` is `st.pills`, or `st.selectbox` where there
    are many, and always in class mode; `take_release` is as in `pages.ui.release.apply_release`.
    """
    state, page = st.session_state, visit().page
    prefix = page.prefix
    key = f"{prefix}preset"

    def holds(case: Mapping[str, Any]) -> bool:
        return all(state.get(prefix + name) == value for name, value in case.items())

    own = matching_case(page, take_release)
    if not holds(own):
        cases = {"your release": own, **cases}
    chosen = cases.get(state.get(key) or "")
    if chosen is None or not holds(chosen):
        state[key] = None

    def apply() -> None:
        visit().called_back.append("")
        for name, value in cases.get(state.get(key) or "", {}).items():
            url.show_value(prefix + name, value)

    if class_mode() or widget is st.selectbox:
        rest["placeholder"] = "settings of your own" if widget is st.pills else "a scenario of the papers"
        rest["index"] = None
        widget = st.selectbox
    widget("Start from", list(cases), key=key, on_change=apply, persist_state="session", **rest)


def draw_again() -> None:
    """Go on to the next seed; the callback of buttons."""
    key, _ = current_setting("seed")
    url.show_value(key, (st.session_state[key] + 1) % int(SEED.maximum))
    mark_moved()


def is_folded(place: Any) -> bool:
    """Whether a place is an expander that is closed: what is drawn in it would be work for nobody."""
    return hasattr(type(place), "open") and place.open is False  # other places have every name, and look it up slowly


def slider_label(parameter: Parameter) -> str:
    """Title and symbol of a number, and which end of its slider is more private."""
    return f"{url.number_name(parameter)}{PRIVATE_END[parameter.private_end]}"


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
    stops = {stop: written for stop, written in _stops(parameter, highest).items() if written != text}
    return dict(sorted({**stops, value: text}.items()))


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
