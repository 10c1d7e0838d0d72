"""The settings of the pages: kept while the reader is elsewhere in the app, and carried by the address of their page.

Streamlit's own binding writes each changed control by itself, so that Back leads through states that nobody has chosen.
Here the whole address is written at once, at the end of a run, in place of the one before it.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz import __version__
from dpviz.parameters import Parameter
from pages.components import component
from pages.components.class_mode import class_mode
from pages.components.navigation import PAGES

Value = TypeVar("Value")

_component = component("address")


class Unknown(ValueError):
    """Some words of several in the address are none; `known` are the others."""

    def __init__(self, words: str, sentence: str, known: list[str]) -> None:
        super().__init__(sentence)
        self.words, self.known = words, known


@dataclass(frozen=True)
class Setting:
    """What a control can be set to: the value of a fresh page, which the address leaves out, and texts of the address.

    `read` raises a ValueError in a sentence; `typed`: a number or a text.
    """

    default: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    typed: bool = False


SETTINGS: dict[str, Setting] = {}  # Every setting of every page by its key, which is its name in the address as well


def keep_numbers(declared: Mapping[str, Parameter]) -> None:
    """Keep numbers, by key."""
    for key, one in declared.items():
        SETTINGS[key] = Setting(int(one.default) if one.integer else float(one.default), one.parse, _digits, True)


def keep_handed_on(key: str, one: Parameter) -> str:
    """Keep a number that a page has no control for, and hands on to others; None where nothing says it."""
    SETTINGS[key] = Setting(None, one.parse, _digits, True)
    return key


def keep_choice(key: str, words: Iterable[str], default: str | None) -> str:
    """Keep a choice among `words`, or of none of them where that is the default; returns its key."""
    SETTINGS[key] = Setting(default, partial(_one_of, list(words)))
    return key


def keep_choices(key: str, words: Iterable[str], default: Iterable[str]) -> str:
    """Keep a choice of several among `words`, separated by dots in the address; returns its key."""
    accepted = list(words)

    def read(text: str) -> list[str]:
        asked = [word for word in dict.fromkeys(text.split(".")) if word]
        known = [word for word in asked if word in accepted]
        if len(known) < len(asked):
            unknown = ", ".join(word[:40] for word in asked if word not in accepted)
            raise Unknown(unknown[:120], f"each must be one of {', '.join(accepted)}.", known)
        return asked

    SETTINGS[key] = Setting(list(default), read, lambda chosen: ".".join(one for one in accepted if one in chosen))
    return key


def keep_switch(key: str, default: bool) -> str:
    """Keep a switch; returns its key."""
    SETTINGS[key] = Setting(
        default, lambda text: _one_of(["true", "false"], text.lower()) == "true", lambda on: str(on).lower()
    )
    return key


def keep_text(key: str, default: str) -> str:
    """Keep a text of any kind; returns its key."""
    SETTINGS[key] = Setting(default, str, typed=True)
    return key


def read_address(prefix: str) -> None:
    """Take the page's settings from the address before its controls are drawn, where it is new or the reader goes back.

    What no control accepts is left out, and noted in a sentence.
    """
    context = get_script_run_ctx()
    state, back = st.session_state, bool(context and context.is_history_navigation)
    state[f"{prefix}drawn"] = {}
    if f"{prefix}entry" in state and not back:
        return
    noted: dict[str, str] = {}
    for key, setting in _of(prefix).items():
        value, text = setting.default, st.query_params.get(key)
        if text is not None:
            try:
                value = setting.read(text)
            except Unknown as wrong:
                value = wrong.known or setting.default
                noted[key] = _ignored(key, wrong.words, wrong)
            except ValueError as wrong:
                noted[key] = _ignored(key, text[:40], wrong)
        if back or key not in state or (text is not None and key not in noted):
            state[key] = value
    state[f"{prefix}noted"] = noted
    state[f"{prefix}then"] = {key: state[key] for key in _of(prefix)}
    state[f"{prefix}entry"] = str(time.monotonic_ns())


def fit_choice(key: str, words: Collection[str]) -> str:
    """Set back a choice that another setting rules out; a sentence, noted too, where the address asks for it."""
    prefix = f"{key.partition('_')[0]}_"
    value, then, default = st.session_state[key], st.session_state[f"{prefix}then"], SETTINGS[key].default
    if value in words or value == default:
        return ""
    st.session_state[key] = default
    if then[key] != value:
        return ""
    then[key] = default
    sentence = _ignored(key, value[:40], f"it must be one of {', '.join(words)}.")
    st.session_state[f"{prefix}noted"][key] = sentence
    return sentence


def address_problems(prefix: str) -> list[str]:
    """What `read_address` noted, in sentences, each until its control is moved, or anything is typed."""
    noted, then = st.session_state[f"{prefix}noted"], st.session_state[f"{prefix}then"]
    if not noted:
        return []
    moved = {key for key, value in then.items() if st.session_state.get(key, value) != value}
    if any(SETTINGS[key].typed for key in moved):
        noted.clear()
    for key in moved:
        noted.pop(key, None)
    return list(noted.values())


def drawn(key: str, value: Value) -> Value:
    """Note that a control is shown, with what it says: only then it belongs in the address. Returns the value."""
    st.session_state[f"{key.partition('_')[0]}_drawn"][key] = value
    return value


def shown_settings(prefix: str) -> dict[str, str]:
    """What the address says of the page: every control that is shown and not as on a fresh page."""
    shown: dict[str, Any] = st.session_state[f"{prefix}drawn"]
    changed = {key: value for key, value in shown.items() if value != SETTINGS[key].default}
    return {key: "" if value is None else SETTINGS[key].write(value) for key, value in changed.items()}


def about_page(prefix: str) -> list[str]:
    """What a file says of itself: version and page, what was asked, the neighbours, and the address that shows it."""
    page = next(page for page in PAGES if page.prefix == prefix)
    valid = st.session_state.get(f"{prefix}valid")
    query = urlencode(shown_settings(prefix))
    return [
        f"dpviz {__version__}, {page.title}",
        *([] if valid is None else [valid.named]),
        "neighbouring data sets: one row substituted",
        f"address: {st.context.url or page.path}{'?' if query else ''}{query}",
    ]


def write_address(prefix: str) -> None:
    """Set the address to what the page shows; after all controls are drawn."""
    data = {
        "path": next(page.path for page in PAGES if page.prefix == prefix),
        "paths": [page.path for page in PAGES],
        "prefixes": [page.prefix for page in PAGES],
        "query": urlencode(shown_settings(prefix)),
        "entry": st.session_state[f"{prefix}entry"],
        "about": about_page(prefix),
        "class": class_mode(),
    }
    _component(key=f"{prefix}address", data=json.dumps(data).encode(), height=1)  # in a dict it looks for data frames


def _of(prefix: str) -> dict[str, Setting]:
    return {key: setting for key, setting in SETTINGS.items() if key.startswith(prefix)}


def _ignored(key: str, text: str, reason: object) -> str:
    return f"Ignored an invalid value in the link, {key} = {text}: {reason}"


def _digits(value: float) -> str:
    """A number with every digit and none too many."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _one_of(words: Collection[str], text: str) -> str:
    if text not in words:
        raise ValueError(f"it must be one of {', '.join(words)}.")
    return text
