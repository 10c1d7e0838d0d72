"""Former ways to draw a control, until no page uses them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from pages.components.address import SETTINGS
from pages.components.controls import PageNumbers, Presets, Said
from pages.components.controls import labels_of as labels_of
from pages.components.numbers import shown


def choice(control: Callable[..., str | None], label: str, words: Iterable[str], key: str, **rest: Any) -> str:
    """One of `words`, by `st.selectbox`, `st.radio`, `st.segmented_control` or `st.pills`; the last may be ``""``."""
    options, default = list(words), SETTINGS[key].default
    if st.session_state.get(key) not in options:
        st.session_state[key] = default
    side_by_side = control in (st.segmented_control, st.pills)
    start = {"default": default} if side_by_side else {"index": options.index(default)}
    return shown(key, control, label, options, **start, **rest) or ""


def named_choice(
    control: Callable[..., str | None], label: str, names: Mapping[str, str], key: str, **rest: Any
) -> str:
    """One of the keys of `names`, which says how each is shown."""
    return choice(control, label, names, key, format_func=names.__getitem__, **rest)


def segments(label: str, words: Iterable[str], key: str, **rest: Any) -> str:
    """One of `words`, side by side."""
    return choice(st.segmented_control, label, words, key, required=True, **rest)


def choices(label: str, words: Iterable[str], key: str, **rest: Any) -> list[str]:
    """Several of `words`, from a list."""
    return shown(key, st.multiselect, label, list(words), default=SETTINGS[key].default, **rest)


def switch(label: str, key: str, **rest: Any) -> bool:
    """On or off."""
    return shown(key, st.toggle, label, value=SETTINGS[key].default, **rest)


def written(control: Callable[..., str | None], label: str, key: str, **rest: Any) -> str:
    """A text, by `st.text_input` or `st.text_area`."""
    return shown(key, control, label, value=SETTINGS[key].default, **rest) or ""


def presets(
    prefix: str,
    cases: Mapping[str, Mapping[str, object]],
    every: Mapping[str, object],
    control: Callable[..., object] = st.pills,
    **rest: Any,
) -> None:
    """Buttons that set the controls to a known case."""
    one = Presets(cases, every, control, **rest).kept(prefix)
    one.add_to(Said(PageNumbers(prefix, {})))
