"""The release that a reader carries from page to page: one dictionary in the session.

Its names are those of the settings without the prefix of a page. A move on any page that shows a release updates it; a
page that is opened without a query takes what has changed since the reader was last there.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape
from typing import Any

import streamlit as st

from dpviz.calibration.several_sets import PRIOR_RULES
from dpviz.core.formatting import format_count, format_number
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages.ui import url
from pages.ui.navigation import PAGES, START, Page, streamlit_page
from pages.ui.url import CLASS_MODE, Setting, Settings, class_mode, current_page, format_value, report_problem, visit

SHARED = (
    "synthesizer", "n", "m", "m_is_n", "sets", "prior", "epsilon", "delta", "alpha", "beta", "beta_is_alpha", "cells",
    "noise_epsilon", "noise_is_promise", "public_share", "guess_is_truth", "p", "x", "seed",
)  # fmt: skip
"""Names of what belongs to a release; all else, such as the level of an interval, belongs to a page."""

LINKED = (*SHARED, "rules", "level", "gamma1", "gamma2", "repetitions")
"""Names of what links to every page may have: a page that has no such setting leaves them out."""

OWN_TRUTH = ("p", "x", "seed")
"""Names of what some pages have no widget for, and hand on; a page's own goes along once the reader has changed it."""

TakeRelease = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes further settings of a page, by their names without the prefix, of a release: such as the methods compared."""


def current_release() -> dict[str, Any]:
    """The reader's release by name; empty before any page has been set."""
    return visit().release


def register_shown(key: str) -> None:
    """Note that a setting is shown in this run: it is part of what the page says of its release."""
    visit().shown.add(key)


def mark_moved(key: str = "") -> None:
    """Note that the reader has moved a control; the callback of every widget, with its key, and of buttons."""
    visit().is_moved = True
    visit().called_back.append(key)


def _follow_moves() -> None:
    """Have as large a share of other people say yes; and whoever sets α has chosen the prior."""
    state, current = st.session_state, visit()
    for key in current.moved:
        prefix, _, name = key.rpartition("_")
        if name == "alpha" and f"{prefix}_prior" in current.settings:  # not of a closer look
            current.release["prior"] = "own"
        if name != "n" or not state[key]:
            continue
        x = current.settings.get(f"{prefix}_x")
        is_on_page = x is not None and x.fresh is not None
        before = current.shown_releases.get(current.page.path, {}) if is_on_page else current.release
        if before.get("n") and "x" in before:
            # The share is that of before other numbers of people rounded it
            share = current.memory.get("yes_share", -1.0)
            if round(share * before["n"]) != before["x"]:
                share = current.memory["yes_share"] = before["x"] / before["n"]
            count = round(share * state[key])
            if is_on_page:
                url.show_value(f"{prefix}_x", count)
            if "x" in current.release:
                current.release.update(x=count, n=state[key])


def apply_release(page: Page, settings: Settings, take_release: TakeRelease | None = None) -> None:
    """Set a page that is opened to the reader's release, unless its URL says what it shows.

    What the page does not allow is lowered, or left as it is on the page, and a sentence says so.
    """
    _follow_moves()
    state, current = st.session_state, visit()
    own = {name: page.prefix + name for name in SHARED if page.prefix + name in settings}
    numbers = {name for name in OWN_TRUTH if name in own and settings[own[name]].parameter is not None}
    hidden = {name: own[name] for name in numbers if settings[own[name]].default is None}  # without a widget
    if current.is_linked:
        in_url = {key: text for key, text in st.query_params.items() if text}
        values = {name: state[key] for name, key in hidden.items() if key in in_url}
        current.release.update({name: value for name, value in values.items() if value is not None})
        if take_release is not None:  # of names too of which the page has no setting
            linked = {name: _value(in_url[page.prefix + name]) for name in SHARED if page.prefix + name in in_url}
            if linked.get("synthesizer") not in SYNTHESIZERS:
                linked.pop("synthesizer", None)
            elif "synthesizer" not in own:  # the page hands on what it does not show
                current.release["synthesizer"] = linked["synthesizer"]
            page_values = {page.prefix + name: value for name, value in take_release(linked).items()}
            state.update({key: value for key, value in page_values.items() if key not in st.query_params})
        _fit_count(page, settings, is_known=f"{page.prefix}x" in st.query_params)
    for name, key in hidden.items():
        state[key] = current.release.get(name)
    if not current.is_entered or current.is_linked or not current.release:
        return
    seen = current.seen_releases.get(page.path, {})
    changed = {name: value for name, value in current.release.items() if seen.get(name) != value}
    if "n" in changed and "x" in current.release:
        changed["x"] = current.release["x"]  # a page's own x belongs to its own people
    for name, value in changed.items():
        if name in own and name not in hidden:
            _set(own[name], settings[own[name]], value)
    _fit_count(page, settings, is_known="x" in changed or "n" not in changed)
    if take_release is not None and changed:
        # What is no part of a release, such as the kind of data, stays while the mechanism does
        is_other = bool(changed.keys() & {"synthesizer", "m_is_n"})
        own_values = take_release(current.release).items()
        state.update({page.prefix + name: value for name, value in own_values if is_other or name in SHARED})
    current.seen_releases[page.path] = dict(current.release)


def _fit_count(page: Page, settings: Settings, *, is_known: bool) -> None:
    """Have as large a share of other people say yes as of the page's own, unless it is known how many do."""
    n, x = settings.get(f"{page.prefix}n"), settings.get(f"{page.prefix}x")
    if n is not None and x is not None and x.fresh is not None and not is_known:
        st.session_state[f"{page.prefix}x"] = round(x.fresh / n.fresh * st.session_state[f"{page.prefix}n"])


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    try:
        return float(word)
    except ValueError:
        return word


def _set(key: str, setting: Setting, value: Any) -> None:
    """Set what a page shows to a value of the release, as far as it can."""
    parameter = setting.parameter
    if parameter is None:
        try:
            st.session_state[key] = setting.parse(format_value(value))
        except ValueError:
            label = SYNTHESIZERS[value].info.label if value in SYNTHESIZERS else value
            report_problem(key, f"Your release is made by {label}, which this page does not show.")
        return
    inside = min(max(value, parameter.minimum), parameter.maximum)
    st.session_state[key] = int(inside) if parameter.integer else float(inside)
    if inside != value:
        symbol = parameter.symbol or parameter.title.lower()
        sentence = f"Your release has {symbol} = {format_number(value)}; this page takes {parameter.domain}."
        report_problem(key, f"{sentence} It shows {format_number(inside)}.")


def update_release(page: Page, settings: Settings) -> None:
    """Make what a page shows the reader's release, where a control was moved, a link was opened, or the app begins.

    Call it after the controls, which have registered what they show.
    """
    current = visit()
    shown = _shown_values(page)
    is_moved = current.is_moved and current.shown_releases.get(page.path) not in (None, shown)
    current.shown_releases[page.path] = shown
    is_first = page is START and not current.release
    is_given = shown.get("synthesizer") == GivenMatrix.key  # a reader's own matrix stays on its page
    if not is_given and (is_moved or is_first or current.is_linked):
        own = [name for name in OWN_TRUTH if name in shown and shown[name] == settings[page.prefix + name].fresh]
        leaves_out = set(own) - current.release.keys() if page is not START else set()
        current.release.update({name: value for name, value in shown.items() if name not in leaves_out})
        current.release.setdefault("prior", "pure")  # on a page that has no choice of it
    current.seen_releases[page.path] = dict(current.release)


def matching_case(page: Page, take_release: TakeRelease | None = None) -> dict[str, Any]:
    """Values that the settings of a page have where it shows the reader's release, by name."""
    if not page.carries or not current_release() or visit().is_moved:  # then that of this run is not known yet
        return {}
    current = current_release()
    case = {name: value for name, value in current.items() if page.prefix + name in st.session_state}
    return case | dict(take_release(current) if take_release else {})


def release_links(heading: str = "This release on", extra: Mapping[str, Any] | None = None) -> None:
    """Draw links to what the other pages say of what this one shows, with the `extra` values by name in its place."""
    targets = [page for page in PAGES if page.carries and page not in (current_page(), START)]
    page_links(targets, shown_release() | dict(extra or {}), heading)


def page_links(targets: Iterable[Page], values: Mapping[str, Any], heading: str, name: str = "links") -> None:
    """Draw links to pages side by side, with the same values; `name` tells several lists of a page apart.

    There is none to a page that takes fewer people.
    """
    with st.container(horizontal=True, vertical_alignment="center", key=f"{current_page().prefix}{name}"):
        st.html(f'<span class="dpviz-lead">{escape(heading)}</span>', width="content")
        for target in (page for page in targets if int(values.get("n", 0)) <= page.max_people):
            page_link(target, values)


def describe_release(values: Mapping[str, Any]) -> str:
    """Synthesizer, sizes and promise of a release, as far as it has them.

    >>> describe_release({"synthesizer": "laplace", "n": 100, "sets": 1, "epsilon": 2.0})
    'Laplace sanitizer, 100 people, 1 set, ε = 2'
    """
    parts = []
    if "synthesizer" in values:
        parts.append(SYNTHESIZERS[values["synthesizer"]].info.label)
    if "n" in values:
        parts.append(format_count(int(values["n"]), "person", "people"))
    if "sets" in values:
        parts.append(format_count(int(values["sets"]), "set"))
    for name in PRIOR_RULES[values.get("prior", "pure")].numbers:
        if name in values:
            parts.append(f"{Design.numbers()[name].symbol} = {format_number(values[name], 3)}")
    return ", ".join(parts)


def shown_release() -> dict[str, Any]:
    """What the current page shows of a release in this run, and what else the reader's release says."""
    return current_release() | _shown_values(current_page())


def _shown_values(page: Page) -> dict[str, Any]:
    shown = visit().shown
    values = {name: st.session_state.get(page.prefix + name) for name in SHARED if page.prefix + name in shown}
    return {name: value for name, value in values.items() if value is not None}


def page_link(page: Page, values: Mapping[str, Any], label: str = "") -> None:
    """Draw a link to a page with values by the names of its settings without the prefix; its title if no `label`."""
    query = {page.prefix + name: format_value(value) for name, value in values.items()}
    if class_mode():
        query[CLASS_MODE] = "1"
    st.page_link(_link_target(page), label=f"{label or page.title} →", query_params=query)


_link_target = cache(streamlit_page)
