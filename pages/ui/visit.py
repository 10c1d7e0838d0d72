"""What a session knows beside the values of its settings: the page of this run, and how the reader came to it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.ui.navigation import START, Page

_thread = threading.local()


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
    settings: Mapping[str, Any] = field(default_factory=dict)  # of that page, see `pages.ui.url.Settings`
    address: Address = field(default_factory=Address)
    known_urls: set[frozenset[tuple[str, str]]] = field(default_factory=set)  # queries that the session has had
    is_entered: bool = False  # whether the reader comes from another page
    is_linked: bool = False  # whether the URL is new, and has settings
    shows_link_only: bool = False  # whether the page was opened by a link first, and belongs to a carried release
    is_moved: bool = False  # whether a control of the page was moved before this run
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
