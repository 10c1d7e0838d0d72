"""The settings of the pages: kept while the reader is elsewhere in the app, and carried by the address of their page.

Streamlit's own binding writes each changed control by itself, so that Back leads through states that nobody has chosen.
Here the whole address is written at once, at the end of a run, in place of the one before it; where a page says that
this is another place, such as the next step of a lesson, it is a new entry of the browser's history.
"""

import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz.core.plain import one_line
from dpviz.core.settings import ControlSetting, Unknown
from dpviz.desk.addresses import FORMER_KEYS, SETTINGS, as_now
from dpviz.desk.exports.heads import about_answer, how_to_read, in_a_line
from pages.components import component
from pages.components.navigation import EVERY_PAGE
from pages.components.spec import Drawn, PageSpec, PageState, class_mode, state_of

Value = TypeVar("Value")

HERE = "here"
"""The prefix of the page whose address was read last in this session."""

SESSION = "session"
"""What tells a browser that the server has another session for it than before, where that has lost something."""

_component = component("address")


def read_address(prefix: str) -> None:
    """Take the page's settings from the address before its controls are drawn.

    That is where it is new, where the reader goes back, and where a link leads here from another page. What no control
    accepts is left out, and noted in a sentence.
    """
    context, state = get_script_run_ctx(), state_of(prefix)
    # A copy: another reader may enter a page for the first time meanwhile, and its settings are added.
    own = {key: setting for key, setting in SETTINGS.copy().items() if key.startswith(prefix)}
    back = bool(context and context.is_history_navigation)
    linked = st.session_state.get(HERE) != prefix and any(address_name(key) in st.query_params for key in own)
    if back or linked or not state.entry:
        _read(state, own, back or (linked and not _page(prefix).carries))
    st.session_state[HERE] = prefix
    state.drawn = {}
    for key, one in own.items():
        if one.handed_on:
            drawn(key, st.session_state.get(key), one.handed_on)


def _read(state: PageState, own: Mapping[str, ControlSetting], back: bool) -> None:
    noted: dict[str, str] = {}
    for key, setting in own.items():
        name = address_name(key)
        value, text = setting.default, st.query_params.get(name)
        if text is None and (old := FORMER_KEYS.get(key)) not in SETTINGS:
            text = st.query_params.get(old or "")
        if text is not None:
            try:
                value = setting.read(text if name in st.query_params else as_now(key, text))
            except Unknown as wrong:
                value = wrong.known or setting.default
                noted[key] = _ignored(key, wrong.words, wrong)
            except ValueError as wrong:
                noted[key] = _ignored(key, one_line(text), wrong)
        if back or key not in st.session_state or (text is not None and key not in noted):
            st.session_state[key] = value
    state.noted, state.then = noted, {key: st.session_state[key] for key in own}
    state.entry = str(time.monotonic_ns())


def _ignored(key: str, text: str, reason: object) -> str:
    return f"Ignored an invalid value in the link, {address_name(key)} = {text}: {reason}"


@cache
def address_name(key: str) -> str:
    """What an address calls a setting: its key, or on a plain page its name there."""
    page = next((one for one in EVERY_PAGE if one.plain and key.startswith(one.prefix)), None)
    return key if page is None else key.removeprefix(page.prefix)


def set_back(key: str, reason: object) -> None:
    """Set a setting back that others rule out; its sentence is noted, as where the address asks for what is none."""
    state, value, default = state_of(key), st.session_state[key], SETTINGS[key].default
    st.session_state[key] = state.then[key] = default
    state.noted[key] = _ignored(key, one_line(SETTINGS[key].word(value)), reason)


def take_older(key: str, most: float) -> None:
    """Take a setting that nothing says from its older name, which is still that of another control, up to `most`.

    What the address says there and was refused is not taken.
    """
    state, old = st.session_state, FORMER_KEYS[key]
    if state[key] is None and old in st.query_params and old not in state_of(key).noted and state[old] <= most:
        state[key] = drawn(key, state[old], SETTINGS[key].handed_on)


def fit_choice(key: str, words: Collection[str]) -> str:
    """Set back a choice that another setting rules out; a sentence, noted too, where the address asks for it."""
    state, value, default = state_of(key), st.session_state[key], SETTINGS[key].default
    if value in words or value == default:
        return ""
    if state.then[key] != value:
        st.session_state[key] = default
        return ""
    set_back(key, f"it must be one of {', '.join(words)}.")
    return state.noted[key]


def address_problems(prefix: str) -> list[str]:
    """What `read_address` noted, in sentences, each until its control is moved, or anything is typed."""
    state = state_of(prefix)
    if state.noted:
        moved = {key for key, value in state.then.items() if st.session_state.get(key, value) != value}
        typed = any(SETTINGS[key].typed for key in moved)
        state.noted = {} if typed else {key: one for key, one in state.noted.items() if key not in moved}
    return list(state.noted.values())


def drawn(key: str, value: Value, label: str, called: Callable[[Any], str] | None = None) -> Value:
    """Note that a control is shown, with what it says: only then it belongs in the address. Returns the value."""
    state_of(key).drawn[key] = Drawn(value, label, called)
    return value


def about_page(prefix: str) -> list[str]:
    """What a file says of itself: version and page, what was asked, every setting, and the address that shows it."""
    used = _in_files(prefix).items()
    settings = [(one.label, in_a_line(SETTINGS[key], one.value, one.called)) for key, one in used if one.label]
    asked, made = state_of(prefix).valid, f"{prefix}synthesizer" in SETTINGS
    return about_answer(_page(prefix).title, asked, settings, full_address(prefix), asked if made else None)


def full_address(prefix: str) -> str:
    """The address of what is answered, with every setting: what a fresh page shows may change."""
    query = urlencode({address_name(key): SETTINGS[key].word(one.value) for key, one in _in_files(prefix).items()})
    return f"{st.context.url or _page(prefix).path}{'?' if query else ''}{query}"


def _in_files(prefix: str) -> dict[str, Drawn]:
    """The settings of the answer: where others were refused, those before, or those of a fresh page."""
    state = state_of(prefix)
    used = {key: one for key, one in state.drawn.items() if key not in state.refused}
    if state.refused and state.answered is not None:
        used = state.answered | used
    elif state.refused:
        used = {
            key: one._replace(value=SETTINGS[key].default) if key in state.refused else one
            for key, one in state.drawn.items()
        }
    return {key: one for key, one in used.items() if one.value is not None}


def _page(prefix: str) -> PageSpec:
    found: PageSpec = next(page for page in EVERY_PAGE if page.prefix == prefix)
    return found


def write_address(prefix: str, release: str = "", place: str = "") -> None:
    """Set the address to what the page shows, and its line of the reader's release; after all controls are drawn.

    It says every control that is shown and not as on a fresh page. Another `place` on the page than that of the run
    before is a new entry of the browser's history.
    """
    state = state_of(prefix)
    if SESSION not in st.session_state:
        st.session_state[SESSION] = secrets.token_hex(4)
    said = {key: one.value for key, one in state.drawn.items() if one.value != SETTINGS[key].default}
    data = {
        "path": _page(prefix).path,
        "paths": [page.path for page in EVERY_PAGE],
        "prefixes": [page.prefix for page in EVERY_PAGE],
        "query": urlencode({address_name(key): SETTINGS[key].word(value) for key, value in said.items()}),
        "names": [name for key in SETTINGS.copy() if (name := address_name(key)) != key],
        "place": place,
        "entry": state.entry,
        "session": st.session_state[SESSION] if _page(prefix).carries else "",
        "about": about_page(prefix),
        "reading": how_to_read("FILE"),
        "class": class_mode(),
        "release": release and f"Your release: {release}",
    }
    said_in_bytes = json.dumps(data).encode()  # in a dict it looks for data frames
    _component(key=f"{prefix}address", data=said_in_bytes, on_anew_change=lambda: None, height=1)
