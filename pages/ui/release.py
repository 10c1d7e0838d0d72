"""The release that a reader carries from page to page: one dictionary in the session.

Its names are those of the settings without the prefix of a page. A move on any page that shows a release updates it; a
page that is opened without a query takes what has changed since the reader was last there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import streamlit as st

from dpviz.core.parameters import readable
from dpviz.core.wording import in_figures
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.ui.navigation import PAGES, START, Page, streamlit_page
from pages.ui.url import CLASS_MODE, Settings, class_mode, format_number, report_problem

SHARED = (
    "synthesizer", "n", "m", "m_is_n", "sets", "prior", "epsilon", "delta", "alpha", "beta", "beta_is_alpha", "cells",
    "noise_epsilon", "noise_is_promise", "public_share", "guess_is_truth", "p", "x", "seed",
)  # fmt: skip
"""Names of what belongs to a release; all else, such as the level of an interval, belongs to a page."""

HIDDEN = ("p", "x", "seed")
"""Names of what some pages have no widget for, and hand on."""

SYMBOLS = {"epsilon": "ε", "delta": "δ", "alpha": "α"}
PROMISED = {"pure": ("epsilon",), "exact": ("epsilon", "delta"), "own": ("alpha",)}

TakeRelease = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes further settings of a page, by their names without the prefix, of a release: such as the methods compared."""


def release() -> dict[str, Any]:
    """The reader's release by name; empty before any page has been set."""
    return st.session_state.setdefault("release", {})  # type: ignore[no-any-return]


def register_shown(key: str) -> None:
    """Note that a setting is shown in this run: it is part of what the page says of its release."""
    st.session_state.setdefault("shown", set()).add(key)


def mark_moved(key: str = "") -> None:
    """Note that the reader has moved a control; the callback of every widget.

    Parameters
    ----------
    key : str, optional
        Of the widget. The people who say yes follow the number of people, and whoever sets α has chosen the prior.
    """
    st.session_state["is_moved"] = True
    current = release()
    if key.endswith("_alpha"):
        current["prior"] = "own"
    n = st.session_state[key] if key.endswith("_n") else None
    if n and current.get("n") and "x" in current:
        current["x"] = round(current["x"] * n / current["n"])
        current["n"] = n


def apply_release(page: Page, settings: Settings, take_release: TakeRelease | None = None) -> None:
    """Set a page that is opened to the reader's release, unless its URL says what it shows.

    Parameters
    ----------
    page : Page
    settings : mapping of str to Setting
        Of the page. What it does not allow is lowered, or left as it is on the page, and a sentence says so.
    take_release : callable, optional
    """
    state = st.session_state
    if state["is_linked"]:
        release().update(_hidden_values(page, settings))
        if take_release is not None:
            _update_missing(page, take_release(_linked_values(page)))
        if f"{page.prefix}x" not in st.query_params:
            _fit_count(page, settings)
    for name in HIDDEN:
        if _is_hidden(settings, page.prefix + name):
            state[page.prefix + name] = release().get(name)
    if not state["is_entered"] or state["is_linked"] or not release():
        return
    seen_key = f"{page.prefix}release"
    seen = state.get(seen_key, {})
    changed = {name: value for name, value in release().items() if seen.get(name) != value}
    if "n" in changed and "x" in release():
        changed["x"] = release()["x"]  # a page's own x belongs to its own people
    for name, value in changed.items():
        if page.prefix + name in settings and not _is_hidden(settings, page.prefix + name):
            _set(page, settings, name, value)
    if "n" in changed and "x" not in changed:
        _fit_count(page, settings)
    if take_release is not None and changed:
        # What is no part of a release, such as the kind of data, stays while the mechanism does
        is_other = bool(changed.keys() & {"synthesizer", "m_is_n"})
        further = take_release(release())
        values = {page.prefix + name: value for name, value in further.items() if is_other or name in SHARED}
        state.update(values)
    state[seen_key] = dict(release())


def _fit_count(page: Page, settings: Settings) -> None:
    """Have as large a share of other people say yes as of the page's own, where nobody says how many do."""
    x_key = f"{page.prefix}x"
    n_key = f"{page.prefix}n"
    if (
        x_key in settings
        and n_key in settings
        and not _is_hidden(settings, x_key)
        and settings[x_key].fresh is not None
    ):
        share = settings[x_key].fresh / settings[n_key].fresh
        st.session_state[x_key] = round(share * st.session_state[n_key])


def _is_hidden(settings: Settings, key: str) -> bool:
    """Whether a page has a setting but no widget for it: it hands on what the release says."""
    return key in settings and settings[key].fresh is None and settings[key].parameter is not None


def _hidden_values(page: Page, settings: Settings) -> dict[str, Any]:
    """What the URL says of a release that the page has no widget for."""
    keys = {name: page.prefix + name for name in HIDDEN if _is_hidden(settings, page.prefix + name)}
    values = {name: st.session_state[key] for name, key in keys.items() if key in st.query_params}
    return {name: value for name, value in values.items() if value is not None}  # None is an invalid one


def _linked_values(page: Page) -> dict[str, Any]:
    """What the URL says of a release, in names of which the page may have no setting."""
    words = {name: st.query_params.get(page.prefix + name) for name in SHARED}
    values = {name: _value(word) for name, word in words.items() if word}
    if values.get("synthesizer") not in SYNTHESIZERS:
        values.pop("synthesizer", None)
    return values


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    try:
        return float(word)
    except ValueError:
        return word


def _update_missing(page: Page, values: Mapping[str, Any]) -> None:
    """Set what the URL does not say itself."""
    keys = {page.prefix + name: value for name, value in values.items()}
    st.session_state.update({key: value for key, value in keys.items() if key not in st.query_params})


def _set(page: Page, settings: Settings, name: str, value: Any) -> None:
    key = page.prefix + name
    parameter = settings[key].parameter
    if parameter is not None:
        inside = min(max(value, parameter.minimum), parameter.maximum)
        st.session_state[key] = int(inside) if parameter.integer else float(inside)
        if inside != value:
            symbol = parameter.symbol or parameter.title.lower()
            said = f"Your release has {symbol} = {readable(value)}; this page takes {parameter.domain}."
            report_problem(key, f"{said} It shows {readable(inside)}.")
        return
    try:
        st.session_state[key] = settings[key].parse(format_value(value))
    except ValueError:
        label = SYNTHESIZERS[value].label if name == "synthesizer" else value
        report_problem(key, f"Your release is made by {label}, which this page does not show.")


def update_release(page: Page, settings: Settings) -> None:
    """Make what a page shows the reader's release, where a control was moved, a link was opened, or the app begins.

    Parameters
    ----------
    page : Page
        Call it after its controls, which have registered what they show.
    settings : mapping of str to Setting
        Of the page. Its own truth and seed go along only once the reader has changed them.
    """
    state = st.session_state
    names = {name: page.prefix + name for name in SHARED if page.prefix + name in state["shown"]}
    shown = {name: state[key] for name, key in names.items() if state.get(key) is not None}
    last_key = f"{page.prefix}last_shown"
    is_moved = state.get("is_moved", False) and state.get(last_key) not in (None, shown)
    state[last_key] = shown
    is_first = page is START and not release()
    # A matrix of the reader's own stays on its page.
    is_given = state.get(f"{page.prefix}synthesizer") == GivenMatrix.key
    if is_given or not (is_moved or is_first or state["is_linked"]):
        state[f"{page.prefix}release"] = dict(release())
        return
    own = {name for name in HIDDEN if name in shown and shown[name] == settings[names[name]].fresh}
    if page is START:
        own = set()
    release().update({name: value for name, value in shown.items() if name in release() or name not in own})
    release().setdefault("prior", "pure")  # on a page that has no choice of it
    state[f"{page.prefix}release"] = dict(release())


def matching_case(prefix: str, take_release: TakeRelease | None = None) -> dict[str, Any]:
    """Values that the settings of a page have where it shows the reader's release, by name."""
    carries = any(page.carries for page in PAGES if page.prefix == prefix)
    if not carries or st.session_state.get("is_moved"):  # after a move the release of this run is not known yet
        return {}
    case = {name: value for name, value in release().items() if prefix + name in st.session_state}
    if take_release is not None and release():
        case |= take_release(release())
    return case


def release_words() -> str:
    """The reader's release in a few words; empty before there is one."""
    current = release()
    words = []
    if "synthesizer" in current:
        words.append(SYNTHESIZERS[current["synthesizer"]].label.partition(" (")[0])
    if "n" in current:
        words.append(in_figures(int(current["n"]), "person", "people"))
    if "sets" in current:
        words.append(in_figures(int(current["sets"]), "set"))
    names = PROMISED[current.get("prior", "pure")]
    words += [f"{SYMBOLS[name]} = {readable(current[name], 3)}" for name in names if name in current]
    return ", ".join(words)


def release_links(page: Page, heading: str = "This release on", extra: Mapping[str, Any] | None = None) -> None:
    """Draw links to what the other pages say of this release.

    Parameters
    ----------
    page : Page
        Where the links stand; what it shows goes along.
    heading : str, optional
    extra : mapping of str to Any, optional
        Values by name that go along instead of the page's.
    """
    values = shown_release(page) | dict(extra or {})
    with st.container(horizontal=True, vertical_alignment="center", key=f"{page.prefix}links"):
        st.html(f'<span class="dpviz-lead">{heading}</span>', width="content")
        for target in PAGES:
            if target.carries and target not in (page, START):
                page_link(target, values)


def shown_release(page: Page) -> dict[str, Any]:
    """What a page shows of a release in this run, and what else the reader's release says."""
    state = st.session_state
    shown = {name: state[page.prefix + name] for name in SHARED if page.prefix + name in state["shown"]}
    return release() | {name: value for name, value in shown.items() if value is not None}


def page_link(page: Page, values: Mapping[str, Any], label: str = "") -> None:
    """Draw a link to a page.

    Parameters
    ----------
    page : Page
    values : mapping of str to Any
        Settings by their names without the prefix; the page leaves out what it has no setting for.
    label : str, optional
        Title of the page if empty.
    """
    query = {page.prefix + name: format_value(value) for name, value in values.items()}
    if class_mode():
        query[CLASS_MODE] = "1"
    st.page_link(_link_target(page), label=f"{label or page.title} →", query_params=query)


_link_target = cache(streamlit_page)


def format_value(value: Any) -> str:
    """Value of any setting as a URL has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return format_number(value)
    return ".".join(value) if isinstance(value, list | tuple) else str(value)
