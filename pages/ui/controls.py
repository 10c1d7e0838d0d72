"""Widgets of the pages: Streamlit's own, for the numbers and choices that dpviz declares.

Every function draws a widget under a key that is its name in the URL as well, and returns its value. Where `place` is
an expander that is closed, nothing is drawn, and the value is that of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import streamlit as st

from dpviz.core.parameters import Parameter, readable
from pages.ui.release import mark_moved, matching_case, register_shown
from pages.ui.sliders import number_name, slider_label, stop_text, stops_with
from pages.ui.url import Setting, class_mode, report_problem, switch_setting

BOX_WIDTH = 110  # pixels: ten digits


class Link(NamedTuple):
    """How a number follows another one until the reader unlinks them: name and label of the switch, and the leader."""

    switch: str
    label: str
    leader: str


LINKS = {
    "m": Link("m_is_n", "m = n: as many released rows", "n"),
    "beta": Link("beta_is_alpha", "β = α: symmetric prior", "alpha"),
    "public_share": Link("guess_is_truth", "π = p: the public guess is the truth", "p"),
    "noise_epsilon": Link("noise_is_promise", "noise made for the promised ε", "epsilon"),
}
"""By the name of the number that follows."""


class Places(NamedTuple):
    """Where controls stand: `first` are always in sight, `main` are but in class mode, `more` is folded away."""

    first: Any
    main: Any
    more: Any


def control_places() -> Places:
    """Draw the places of the controls; in class mode all but the first are folded away."""
    first = st.container(key="first")
    main = None if class_mode() else st.container(key="main")
    more = st.expander("More", key="more", on_change="rerun")
    return Places(first, more if main is None else main, more)


def number_control(
    parameters: Mapping[str, Parameter], prefix: str, name: str, *, place: Any = None, maximum: float | None = None
) -> Any:
    """Draw a slider and a box for the same number, and return it.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        Numbers of the page by name.
    prefix : str
        Of the page's keys.
    name : str
        The box takes the whole domain of ``parameters[name]``, the slider stops at round values.
    place : container, optional
    maximum : float, optional
        Limit that other settings put on it. A larger value is lowered to it, and a sentence says so.

    Returns
    -------
    int or float
        An int where the parameter is a whole number.
    """
    parameter = parameters[name]
    key = prefix + name
    number = int if parameter.integer else float
    highest = parameter.maximum if maximum is None else max(parameter.minimum, min(parameter.maximum, maximum))
    value = _inside(parameter, key, number(highest))
    register_shown(key)
    if is_folded(place):
        return value
    slider = f"{key}_slider"
    if st.session_state.get(slider) != value:  # setting what it has would pull it back under the reader's hand
        st.session_state[slider] = value
    with _at(place), st.container(key=f"{key}_row", horizontal=True, vertical_alignment="bottom"):
        st.select_slider(
            slider_label(parameter), stops_with(parameter, value, maximum), key=slider,
            format_func=lambda stop: stop_text(parameter, stop), help=f"{parameter.help} Accepted: {parameter.domain}.",
            on_change=_copy_slider, args=(slider, key),
        )  # fmt: skip
        st.number_input(
            f"{number_name(parameter)}, exact value", number(parameter.minimum), number(highest), step=None,
            format=None if parameter.integer else "%.10g", key=key, on_change=mark_moved, args=(key,),
            persist_state="session", label_visibility="collapsed", width=BOX_WIDTH,
        )  # fmt: skip
    return value


def linked_number(
    parameters: Mapping[str, Parameter], prefix: str, name: str, leader: float, *, place: Any = None
) -> Any:
    """Draw the switch by which a number follows `leader`, and its own control where it does not; return its value.

    Parameters
    ----------
    parameters, prefix, name, place
        As in `number_control`; `LINKS` has the switch, whose setting is that of `link_settings`.
    leader : float
        Value of the number that it follows.

    Returns
    -------
    int or float
    """
    link = LINKS[name]
    if toggle(link.label, prefix + link.switch, place=place):
        return leader
    return number_control(parameters, prefix, name, place=place)


def link_settings(prefix: str, *names: str) -> dict[str, Setting]:
    """Settings of the switches of numbers that may follow others, on by default."""
    return {prefix + LINKS[name].switch: switch_setting(True, LINKS[name].label) for name in names}


def choice(
    label: str, options: Collection[str], key: str, *, place: Any = None, widget: Callable[..., Any] = st.selectbox,
    default: str | None = None, on_change: Callable[[], object] | None = None, **rest: Any,
) -> str:  # fmt: skip
    """Draw a choice of one option and return its key, empty where none is chosen.

    Parameters
    ----------
    label : str
    options : collection of str
        Keys; a mapping has their labels.
    key : str
        Of the widget, and name in the URL.
    place : container, optional
    widget : callable, optional
        `st.selectbox`, `st.radio`, `st.segmented_control` or `st.pills`.
    default : str, optional
        Taken where the present key is not, or no longer, among the options; else none, or the first where one must be.
    on_change : callable, optional
    **rest
        Further arguments of the widget.

    Returns
    -------
    str
    """
    keys = list(options)
    state = st.session_state
    is_optional = widget in (st.pills, st.segmented_control) and not rest.get("required")
    value = state.get(key)
    if value not in keys and not (is_optional and not value):
        fallback = None if is_optional else keys[0]
        state[key] = default if default in keys else fallback
        if value and state["is_linked"]:  # other settings of the link rule it out
            report_problem(key, f"Ignored {key} = {value} in the link: it must be one of {', '.join(keys)}.")
    register_shown(key)
    if not is_folded(place):
        if isinstance(options, Mapping):
            rest["format_func"] = lambda option: options.get(option, option)

        def changed() -> None:
            mark_moved()
            if on_change is not None:
                on_change()

        with _at(place):
            widget(label, keys, key=key, on_change=changed, persist_state="session", **rest)
    return state.get(key) or ""


def choices(label: str, options: Collection[str], key: str, *, place: Any = None, **rest: Any) -> list[str]:
    """Draw a list of several options and return the chosen keys in the order of the options.

    Parameters
    ----------
    label : str
    options : collection of str
        Keys; a mapping has their labels.
    key : str
    place : container, optional
    **rest
        Further arguments of `st.multiselect`.

    Returns
    -------
    list of str
    """
    keys = list(options)
    state = st.session_state
    state[key] = [option for option in state.get(key) or [] if option in keys]
    register_shown(key)
    if not is_folded(place):
        if isinstance(options, Mapping):
            rest["format_func"] = lambda option: options.get(option, option)
        with _at(place):
            st.multiselect(label, keys, key=key, on_change=mark_moved, persist_state="session", **rest)
    return [option for option in keys if option in state[key]]


def toggle(label: str, key: str, *, place: Any = None, **rest: Any) -> bool:
    """Draw a switch and return whether it is on; parameters as in `choices`."""
    register_shown(key)
    if not is_folded(place):
        with _at(place):
            st.toggle(label, key=key, on_change=mark_moved, persist_state="session", **rest)
    return bool(st.session_state.get(key))


def text_control(label: str, key: str, *, place: Any = None, area: bool = False, **rest: Any) -> str:
    """Draw a box for a text, of several lines if `area`, and return it; other parameters as in `choices`."""
    register_shown(key)
    if not is_folded(place):
        widget = st.text_area if area else st.text_input
        with _at(place):
            widget(label, key=key, on_change=mark_moved, persist_state="session", **rest)
    return st.session_state.get(key) or ""


def presets(
    cases: Mapping[str, Mapping[str, Any]], prefix: str, *, place: Any = None, widget: Callable[..., Any] = st.pills,
    take_release: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None, **rest: Any,
) -> None:  # fmt: skip
    """Draw buttons that set the controls to known cases; the chosen one stays marked while it holds.

    Parameters
    ----------
    cases : mapping of str to mapping
        Label of each case, and its values by the names of the settings without the prefix.
    prefix : str
        Of the page's keys.
    place : container, optional
    widget : callable, optional
        `st.pills`, or `st.selectbox` where there are many; in class mode always that.
    take_release : callable, optional
        As in `pages.ui.release.apply_release`.
    **rest
        Further arguments of the widget.
    """
    state = st.session_state
    key = f"{prefix}preset"
    own = matching_case(prefix, take_release)
    if any(state.get(prefix + name) != value for name, value in own.items()):
        cases = {"your release": own, **cases}
    chosen = cases.get(state.get(key) or "")
    if chosen is None or any(state.get(prefix + name) != value for name, value in chosen.items()):
        state[key] = None

    def apply() -> None:
        state.update({prefix + name: value for name, value in cases.get(state.get(key) or "", {}).items()})

    if class_mode() or widget is st.selectbox:
        widget = st.selectbox
        rest = {"index": None, "placeholder": "settings of your own", **rest}
    with _at(place):
        widget("Start from", list(cases), key=key, on_change=apply, persist_state="session", **rest)


def is_folded(place: Any) -> bool:
    """Whether a place is an expander that is closed: what is drawn in it would be work for nobody."""
    return getattr(place, "open", None) is False


def _inside(parameter: Parameter, key: str, highest: Any) -> Any:
    """Value of the session within what other settings allow; a sentence says where the reader's own was changed."""
    number = int if parameter.integer else float
    current = st.session_state.get(key, parameter.default)
    value = number(min(max(current, parameter.minimum), highest))
    if key not in st.session_state or value != current or type(current) is not number:
        st.session_state[key] = value
    if value != current and current != parameter.default:
        name = parameter.symbol or parameter.title.lower()
        limit = "more" if current > value else "less"
        report_problem(key, f"{name} was set to {readable(value)}: the other settings allow no {limit}.")
    return value


def _at(place: Any) -> AbstractContextManager[Any]:
    return nullcontext() if place is None else place


def _copy_slider(slider: str, key: str) -> None:
    st.session_state[key] = st.session_state[slider]
    mark_moved(key)
