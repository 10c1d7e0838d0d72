"""Settings of a page in the query of its URL: read once when a run begins, written once when the reader pauses.

What a session knows beside the values of its settings, such as how the reader came to the page, is its `Visit`.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpviz.core.escape import single_line
from dpviz.core.parameters import Parameter
from pages.ui.background import call_at_rest
from pages.ui.navigation import START, Page

MAX_TEXT = 4_000  # characters of a text that a URL carries: browsers and proxies cut longer ones
CLASS_MODE = "class"  # name of the switch for class mode, on every page
REFUSED = "refused"  # key of the problem that is no single setting's, such as more people who say yes than people
IN_TRANSIT_S = 1.0  # in which a URL that the page had before is that of a request on its way, and no step back
WRITE_INTERVAL_S = 0.5  # between two URLs of a page: each is an entry of the browser's history
MAX_IN_TRANSIT = 4  # URLs that a browser may not have had yet
SLIDER = "_slider"  # what the key of a number's slider ends with, after that of its box, which is its setting
UNSHOWN = object()  # the value of a setting whose problem is not shown yet: the page itself may still change it
_thread = threading.local()

Options = Collection[str] | Callable[[], Collection[str]]
"""Keys of a choice, of a mapping to their labels or to what has a label; a function where they are registered later."""


def format_value(value: Any) -> str:
    """Value of any setting as a URL has it; a number with every digit and none too many."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return ".".join(value) if isinstance(value, list | tuple) else str(value)


@dataclass(frozen=True)
class Setting:
    """How one setting of a page is stored in the URL."""

    default: Any  # of a fresh page, which is left out of the URL; a function of no argument where it is known later
    parse: Callable[[str], Any]  # of the text of the URL; raises a ValueError with a sentence for the reader
    format: Callable[[Any], str | None] = format_value  # None is left out
    label: str = ""  # of its widget and in the head lines of files; empty for what they leave out
    parameter: Parameter | None = None
    options: Options = ()  # of a choice

    @property
    def fresh(self) -> Any:
        """Value of a fresh page."""
        return self.default() if callable(self.default) else self.default


Settings = Mapping[str, Setting]
"""Settings of a page by their names in the URL, which are the keys of the widgets as well."""


def number_name(parameter: Parameter) -> str:
    """Title of a number with its symbol, where that says more."""
    is_same = parameter.symbol.lower() == parameter.title.lower()
    return parameter.title if is_same else f"{parameter.title} {parameter.symbol}".strip()


def number_setting(parameter: Parameter) -> Setting:
    """Setting of a declared number."""
    default = int(parameter.default) if parameter.integer else float(parameter.default)
    return Setting(default, parameter.parse, label=number_name(parameter), parameter=parameter)


def number_settings(parameters: Mapping[str, Parameter], prefix: str) -> dict[str, Setting]:
    """Settings of declared numbers by ``prefix + name``."""
    return {prefix + name: number_setting(parameter) for name, parameter in parameters.items()}


def hidden_number_setting(parameter: Parameter) -> Setting:
    """Setting of a number without a widget, None where nothing says it: the page takes it from the release."""
    return Setting(None, parameter.parse, label=f"{parameter.title} of your release", parameter=parameter)


def choice_setting(options: Options, default: str | None, label: str = "") -> Setting:
    """Setting of one of several keys; None stands for none of them."""

    def parse(text: str) -> str:
        if text not in keys_of(options):
            raise ValueError(f"it must be one of {', '.join(keys_of(options))}.")
        return text

    return Setting(default, parse, label=label, options=options)


def choices_setting(options: Options, default: Options, label: str = "") -> Setting:
    """Setting of several keys, with dots between; the ValueError of an unknown one carries the others as well."""

    def parse(text: str) -> list[str]:
        keys = [key for key in dict.fromkeys(text.split(".")) if key]
        known = [key for key in keys if key in keys_of(options)]
        if known != keys:
            raise ValueError(f"each must be one of {', '.join(keys_of(options))}.", known)
        return known

    return Setting(lambda: list(keys_of(default)), parse, label=label, options=options)


def switch_setting(default: bool, label: str = "") -> Setting:
    """Setting of a switch."""
    parse = choice_setting(("true", "false"), None).parse
    return Setting(default, lambda text: parse(text.lower()) == "true", label=label)


def text_setting(default: str, label: str = "") -> Setting:
    """Setting of a text of at most `MAX_TEXT` characters; a longer one stays out of the URL."""

    def parse(text: str) -> str:
        if len(text) > MAX_TEXT:
            raise ValueError(f"a link carries texts of up to {MAX_TEXT:,} characters; this one has {len(text):,}.")
        return text

    return Setting(default, parse, lambda text: text if len(text) <= MAX_TEXT else None, label)


@dataclass
class Address:
    """What a session knows of the URL of the page it is on."""

    path: str = "/"
    query: dict[str, str] = field(default_factory=dict)  # the page's part of it, as last read or written
    written: list[dict[str, str]] = field(default_factory=list)  # the last ones before it
    written_at: float = 0.0  # time.monotonic()
    full_query: dict[str, str] | None = None  # what the URL should be; None before the first run with it has ended


@dataclass
class Visit:
    """What a session knows beside the values of its settings."""

    page: Page = START  # which this run draws
    settings: Mapping[str, Setting] = field(default_factory=dict)  # of that page
    address: Address = field(default_factory=Address)
    known_urls: set[frozenset[tuple[str, str]]] = field(default_factory=set)  # queries that the session has had
    is_entered: bool = False  # whether the reader comes from another page
    is_linked: bool = False  # whether the URL is new, and has settings
    shows_link_only: bool = False  # whether the page was opened by a link first, and belongs to a carried release
    is_moved: bool = False  # whether a control of the page was moved before this run
    called_back: list[str] = field(default_factory=list)  # keys of the widgets that did before this run, in no order
    moved: list[str] = field(default_factory=list)  # keys of the settings that were moved before it
    replaced: dict[str, list[Any]] = field(default_factory=dict)  # what a widget showed before, and shows, by key
    shown: set[str] = field(default_factory=set)  # keys of the settings that this run has drawn so far
    shown_controls: set[str] = field(default_factory=set)  # those of them that stand among the controls
    problems: dict[str, tuple[str, Any]] = field(default_factory=dict)  # sentence by setting, and the value it is about
    problem_place: Any = None  # container for their sentences, where the page has one
    release: dict[str, Any] = field(default_factory=dict)  # of the reader, see `pages.ui.release`
    release_line: Any = None  # container of what the head of the page says of it
    seen_releases: dict[str, dict[str, Any]] = field(default_factory=dict)  # that of a page, by path, when it was left
    shown_releases: dict[str, dict[str, Any]] = field(default_factory=dict)  # what a page itself showed last, by path
    valid: dict[str, tuple[Any, dict[str, str]]] = field(default_factory=dict)  # last valid question and query, by path
    reset_path: str | None = None  # of the page that shall get the settings of a fresh one
    memory: dict[str, Any] = field(default_factory=dict)  # what a page remembers until the reader leaves it


def visit() -> Visit:
    """The visit of the reader whose page this thread draws.

    It is looked up in the session once a run, as every look takes Streamlit as long as drawing a line of text.
    """
    current: Visit | None = getattr(_thread, "visit", None)
    return begin_run() if current is None else current


def begin_run() -> Visit:
    """Look the visit up anew; the first call of every run."""
    if "visit" not in st.session_state:
        st.session_state["visit"] = Visit()
    _thread.visit = st.session_state["visit"]
    return _thread.visit  # type: ignore[no-any-return]


def current_page() -> Page:
    """Page that is drawn in this run."""
    return visit().page


def current_setting(name: str) -> tuple[str, Setting]:
    """Key of a setting of the current page by its name without the prefix, and the setting."""
    current = visit()
    key = current.page.prefix + name
    return key, current.settings[key]


def load(page: Page, settings: Settings) -> None:
    """Copy the settings of the URL into ``st.session_state``, where it is new: opened, a link, or a step back.

    Every invalid value is noted in a sentence, see `problems`; its setting keeps the value that it had.
    """
    state = st.session_state
    current = begin_run()
    _undo_stale_moves(current)
    current.page, current.settings = page, settings
    current.problems.pop(REFUSED, None)
    if current.is_moved:  # what is said of no setting goes with the first move
        current.problems = {key: problem for key, problem in current.problems.items() if key in settings}
    query = {key: text for key, text in st.query_params.items() if key in settings or key.startswith(page.prefix)}
    is_entered = current.address.path != page.path
    if is_entered:
        current.address = Address(page.path)
        current.memory = {}
    address = current.address
    # The request of a control that was moved says where the browser was before, and others may still be on their way
    is_recent = query in address.written and time.monotonic() - address.written_at < IN_TRANSIT_S
    is_new = query != address.query and not (current.is_moved and not is_entered) and not is_recent
    is_linked = is_new and bool(query)
    if is_entered or is_new:
        current.problems = {}
    is_first_visit = not any(key in state for key in settings)
    shows_link_alone = is_linked and is_entered and not page.carries
    for key, setting in settings.items():
        is_changed = is_new and query.get(key) != address.query.get(key)
        if key not in state or shows_link_alone or (is_changed and key not in query):
            state[key] = setting.fresh
        if is_changed and key in query:
            try:
                state[key] = setting.parse(query[key])
            except ValueError as error:
                message, *known = error.args
                if known and known[0]:
                    state[key] = known[0]
                text = single_line(query[key])
                report_problem(key, f"Ignored an invalid value in the link, {key} = {text}: {message}")
    if is_new:
        address.query = query
        address.full_query = None
    if current.reset_path == page.path:
        state.update({key: setting.fresh for key, setting in settings.items()})
    current.reset_path = None
    current.is_entered = is_entered
    current.is_linked = is_linked
    current.shows_link_only = is_linked and is_first_visit and page.carries
    current.shown = set()


def show_value(key: str, value: Any, *stale: Any) -> None:
    """Have a widget show a value, as a preset does, or a box whose slider is moved.

    `stale` is what else a browser may seem to send that still shows the last value.
    """
    state = st.session_state
    if key in state and state[key] != value:
        replaced = visit().replaced
        replaced[key] = [*replaced.get(key, [state[key]])[-MAX_IN_TRANSIT:], *stale, value]
    state[key] = value


def _undo_stale_moves(current: Visit) -> None:
    """Take back what a browser on a slow line sends with a move: widgets that still show what they showed before.

    Whoever moves a single widget means it; the box of a number follows its slider.
    """
    state, called_back, moved = st.session_state, current.called_back, []
    current.called_back = []
    for key in (key for key in called_back if key and key in state):  # not a button's, nor of a page left behind
        *before, shown = current.replaced.get(key, [None])
        if len(called_back) > 1 and state[key] in before:
            state[key] = shown
        else:
            moved.append(key)
            current.replaced.pop(key, None)
    for key in moved:
        show_value(key.removesuffix(SLIDER), state[key])
    current.moved = [key.removesuffix(SLIDER) for key in moved]


def save() -> None:
    """Write every setting that differs from its default to the URL once the reader pauses; after the last widget."""
    current = visit()
    page, settings, address = current.page, current.settings, current.address
    query = query_of(settings)
    present = st.query_params.to_dict()
    own = {key: text for key, text in present.items() if key in settings or key.startswith(page.prefix)}
    full_query = {key: text for key, text in present.items() if key not in own and key != CLASS_MODE}
    full_query |= ({CLASS_MODE: "1"} if class_mode() else {}) | query

    # These stand until something changes, or Back would lead to them and from there to the new URL again: a step back
    # on the page, a link that says all that is shown, and a URL that the page has had before.
    says_all = query.items() <= own.items() <= query_of(settings, with_defaults=True).items()
    known = current.known_urls
    is_known = says_all or current.shows_link_only or frozenset(own.items()) in known
    is_settled = address.full_query is None and (not current.is_entered or (current.is_linked and is_known))
    known.add(frozenset(own.items()))
    if is_settled or full_query in (address.full_query, present):
        address.full_query = full_query
        return

    def write() -> None:
        address.written = [*address.written[-MAX_IN_TRANSIT:], address.query]
        address.query = query
        address.written_at = time.monotonic()
        address.full_query = full_query
        known.add(frozenset(query.items()))
        st.query_params.from_dict(full_query)

    call_at_rest(write, address.written_at + WRITE_INTERVAL_S)


def query_of(settings: Settings, *, with_defaults: bool = False) -> dict[str, str]:
    """Query of the present settings: those that differ from their defaults, or all of them."""
    values = {key: st.session_state.get(key, setting.fresh) for key, setting in settings.items()}
    texts = {
        key: settings[key].format(value)
        for key, value in values.items()
        if value is not None and (with_defaults or value != settings[key].fresh)
    }
    return {key: text for key, text in texts.items() if text is not None}


def url_of(page: Page, query: Mapping[str, str]) -> str:
    """Full URL of a page with a query."""
    return f"{st.context.url or page.path}{'?' if query else ''}{urlencode(query)}"


def class_mode() -> bool:
    """Whether large type, thick lines and few controls are asked for, for a projector and a class.

    The URL decides when the app is opened, the switch from then on.
    """
    is_on = st.session_state.get(CLASS_MODE)
    if is_on is None:
        is_on = st.session_state[CLASS_MODE] = st.query_params.get(CLASS_MODE, "") in ("1", "true")
    return bool(is_on)


def report_problem(key: str, sentence: str) -> None:
    """Note what is wrong with a setting; it is shown until that is moved."""
    visit().problems[key] = (sentence, UNSHOWN)


def problems() -> list[str]:
    """Sentences about invalid settings that have not been moved since they were first shown."""
    current, state = visit(), st.session_state
    current.problems = {
        key: (sentence, state.get(key))
        for key, (sentence, value) in current.problems.items()
        if value is UNSHOWN or value == state.get(key)
    }
    return [sentence for sentence, _ in current.problems.values()]


def keys_of(options: Options) -> Collection[str]:
    """Keys of a choice at present."""
    return options() if callable(options) else options
