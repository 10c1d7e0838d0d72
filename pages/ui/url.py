"""Settings of a page in the query of its URL: read once when a run begins, written once when the reader pauses."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpviz.core.parameters import Parameter
from dpviz.core.plain import one_line
from pages.ui.background import call_at_rest
from pages.ui.navigation import Page

MAX_TEXT = 4_000
"""Characters of a text that a URL carries: browsers and proxies cut longer ones."""

CLASS_MODE = "class"
"""Name of the switch for class mode, on every page."""

UNSHOWN = object()
"""In place of the value of a setting whose problem is not shown yet: the page itself may still change it."""

REFUSED = "refused"
"""Key of the problem that is no single setting's, such as more people who say yes than people."""

IN_TRANSIT_S = 1.0
"""Time after a new URL in which an older one of this page is that of a request on its way, and no step back."""

WRITE_INTERVAL_S = 0.5
"""Least time between two URLs of a page: each is an entry of the browser's history, and a dragged slider makes few."""

MAX_IN_TRANSIT = 4  # URLs that a browser may not have had yet

Options = Collection[str] | Callable[[], Collection[str]]
"""Keys of a choice; a function where they are registered later."""


@dataclass(frozen=True)
class Setting:
    """How one setting of a page is stored in the URL.

    Parameters
    ----------
    default : Any
        Value of a fresh page, which is left out of the URL; a function of no argument where it is known later.
    parse : callable
        Converts the text of the URL; raises a ValueError with a sentence for the reader.
    format : callable
        Converts a value to the text of the URL.
    label : str
        Name in the head lines of files; empty for what they leave out.
    parameter : Parameter or None
        Declaration of a number.
    """

    default: Any
    parse: Callable[[str], Any]
    format: Callable[[Any], str] = str
    label: str = ""
    parameter: Parameter | None = None

    @property
    def fresh(self) -> Any:
        """Value of a fresh page."""
        return self.default() if callable(self.default) else self.default


Settings = Mapping[str, Setting]
"""Settings of a page by their names in the URL, which are the keys of the widgets as well."""


def number_setting(parameter: Parameter) -> Setting:
    """Setting of a declared number."""
    default = int(parameter.default) if parameter.integer else float(parameter.default)
    label = f"{parameter.title} {parameter.symbol}".strip()
    return Setting(default, parameter.parse, format_number, label, parameter)


def number_settings(parameters: Mapping[str, Parameter], prefix: str) -> dict[str, Setting]:
    """Settings of declared numbers by ``prefix + name``."""
    return {prefix + name: number_setting(parameter) for name, parameter in parameters.items()}


def hidden_number_setting(parameter: Parameter) -> Setting:
    """Setting of a number without a widget, None where nothing says it: the page takes it from the release."""
    return Setting(None, parameter.parse, format_number, f"{parameter.title} of your release", parameter)


def choice_setting(options: Options, default: str | None, label: str = "") -> Setting:
    """Setting of one of several keys; None stands for none of them."""
    return Setting(default, lambda text: _member(options, text), label=label)


def choices_setting(options: Options, default: Collection[str], label: str = "") -> Setting:
    """Setting of several keys, separated by dots in the URL; a ValueError names the unknown ones and has the others.

    The exception of an unknown key carries the known ones as its second argument: nothing else of a link is lost.
    """

    def parse(text: str) -> list[str]:
        keys = [key for key in dict.fromkeys(text.split(".")) if key]
        known = [key for key in keys if key in _keys(options)]
        unknown = [key for key in keys if key not in known]
        if unknown:
            raise ValueError(f"each must be one of {', '.join(_keys(options))}.", known)
        return known

    return Setting(lambda: list(default), parse, ".".join, label)


def switch_setting(default: bool, label: str = "") -> Setting:
    """Setting of a switch."""
    return Setting(default, lambda text: _member(("true", "false"), text.lower()) == "true", _lower, label)


def text_setting(default: str, label: str = "") -> Setting:
    """Setting of a text of at most `MAX_TEXT` characters; a longer one stays out of the URL."""

    def parse(text: str) -> str:
        if len(text) > MAX_TEXT:
            raise ValueError(f"a link carries texts of up to {MAX_TEXT:,} characters; this one has {len(text):,}.")
        return text

    return Setting(default, parse, lambda text: text if len(text) <= MAX_TEXT else "", label)


@dataclass
class _Address:
    """What a session knows of the URL of the page it is on."""

    path: str
    query: dict[str, str] = field(default_factory=dict)  # the page's part of it, as last read or written
    written: list[dict[str, str]] = field(default_factory=list)  # the last ones before it
    written_at: float = 0.0  # time.monotonic()
    whole: dict[str, str] | None = None  # what the URL should be; None before the first run with it has ended

    def is_in_transit(self, query: dict[str, str]) -> bool:
        """Whether a query is that of a request which was sent before the browser had the new URL, and no step back.

        That is so where a control was moved: its request says where the browser was before.
        """
        is_recent = time.monotonic() - self.written_at < IN_TRANSIT_S
        return bool(st.session_state.get("is_moved")) or (is_recent and query in self.written)


def load(page: Page, settings: Settings) -> None:
    """Copy the settings of the URL into ``st.session_state``, where it is new: opened, a link, or a step back.

    Parameters
    ----------
    page : Page
    settings : mapping of str to Setting
        Every invalid value is noted in a sentence, see `problems`; its setting keeps the value that it had.
    """
    state = st.session_state
    state.setdefault("problems", {}).pop(REFUSED, None)
    query = {key: text for key, text in st.query_params.items() if _belongs(key, page, settings)}
    address: _Address | None = state.get("address")
    is_entered = address is None or address.path != page.path
    if is_entered or address is None:
        address = state["address"] = _Address(page.path)
        state["problems"] = {}
    is_new = query != address.query and (is_entered or not address.is_in_transit(query))
    is_linked = is_new and bool(query)
    if is_new:
        state["problems"] = {}
        address.whole = None
    for key, setting in settings.items():
        is_changed = is_new and query.get(key) != address.query.get(key)
        is_reset = is_linked and is_entered and not page.carries  # such a page shows what its link says and no more
        if key not in state or is_reset or (is_changed and key not in query):
            state[key] = setting.fresh
        if is_changed and key in query:
            _parse(key, setting, query[key])
    if is_new:
        address.query = query
    if state.pop("reset", None) == page.path:
        for key, setting in settings.items():
            state[key] = setting.fresh
    state["is_entered"] = is_entered
    state["is_linked"] = is_linked
    state["shown"] = set()


def _parse(key: str, setting: Setting, text: str) -> None:
    try:
        st.session_state[key] = setting.parse(text)
    except ValueError as error:
        message, *known = error.args
        if known and known[0]:
            st.session_state[key] = known[0]
        report_problem(key, f"Ignored an invalid value in the link, {key} = {one_line(text)}: {message}")


def save(page: Page, settings: Settings) -> None:
    """Write every setting that differs from its default to the URL once the reader pauses; after the last widget.

    Parameters
    ----------
    page : Page
    settings : mapping of str to Setting
    """
    query = query_of(settings)
    address: _Address = st.session_state["address"]
    whole = {key: text for key, text in st.query_params.items() if not _belongs(key, page, settings)}
    whole.pop(CLASS_MODE, None)
    if class_mode():
        whole[CLASS_MODE] = "1"
    whole.update(query)
    # What stands until something changes, or Back would lead to it and from there to the new URL again: a step back
    # on the page, a link that says defaults as well, and one that has been written anew before.
    own = {key: text for key, text in st.query_params.items() if _belongs(key, page, settings)}
    says_all = query.items() <= own.items() <= query_of(settings, with_defaults=True).items()
    rewritten = st.session_state.setdefault("rewritten", [])
    is_known = says_all or (page.path, own) in rewritten
    is_new = address.whole is None
    stands = is_new and (not st.session_state["is_entered"] or (st.session_state["is_linked"] and is_known))
    is_written = stands or whole in (address.whole, st.query_params.to_dict())
    if is_written:
        address.whole = whole
        return

    def write() -> None:
        address.written = [*address.written[-MAX_IN_TRANSIT:], address.query]
        address.query = query
        address.written_at = time.monotonic()
        address.whole = whole
        if is_new:
            rewritten.append((page.path, own))
        st.query_params.from_dict(whole)

    call_at_rest(write, address.written_at + WRITE_INTERVAL_S)


def query_of(settings: Settings, *, with_defaults: bool = False) -> dict[str, str]:
    """Query of the present settings: those that differ from their defaults, or all of them."""
    query = {}
    for key, setting in settings.items():
        value = st.session_state.get(key, setting.fresh)
        if value is not None and (with_defaults or value != setting.fresh):
            query[key] = setting.format(value)
    return query


def url_of(page: Page, query: Mapping[str, str]) -> str:
    """Full URL of a page with a query."""
    return f"{st.context.url or page.path}{'?' if query else ''}{urlencode(query)}"


def class_mode() -> bool:
    """Whether large type, thick lines and few controls are asked for, for a projector and a class.

    The URL decides when the app is opened, the switch from then on.
    """
    if CLASS_MODE not in st.session_state:
        st.session_state[CLASS_MODE] = st.query_params.get(CLASS_MODE, "") in ("1", "true")
    return bool(st.session_state[CLASS_MODE])


def report_problem(key: str, sentence: str) -> None:
    """Note what is wrong with a setting; it is shown until that is moved."""
    st.session_state.setdefault("problems", {})[key] = (sentence, UNSHOWN)


def problems() -> list[str]:
    """Sentences about invalid settings that have not been moved since they were first shown."""
    noted: dict[str, tuple[str, Any]] = st.session_state.get("problems", {})
    values = {key: st.session_state.get(key) for key in noted}
    current = {
        key: (sentence, values[key])
        for key, (sentence, value) in noted.items()
        if value is UNSHOWN or value == values[key]
    }
    st.session_state["problems"] = current
    return [sentence for sentence, _ in current.values()]


def _belongs(key: str, page: Page, settings: Settings) -> bool:
    return key in settings or key.startswith(page.prefix)


def _keys(options: Options) -> Collection[str]:
    return options() if callable(options) else options


def _member(options: Options, text: str) -> str:
    keys = _keys(options)
    if text not in keys:
        raise ValueError(f"it must be one of {', '.join(keys)}.")
    return text


def format_number(value: float) -> str:
    """Every digit of a number and none too many."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _lower(value: bool) -> str:
    return str(value).lower()
