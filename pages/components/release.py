"""The release that a reader carries from page to page: set on one, kept on the next, and taken along by every link."""

import contextlib
from html import escape
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.addresses import SETTINGS, address_words, carried_to, keep_handed_on, taken_by
from dpviz.desk.carried import NOT_EVERYWHERE, Carried, OnItsWay
from pages.components.navigation import PAGES, as_declared
from pages.components.spec import CLASS, PageSpec, class_mode, state_of


def _on_its_way() -> OnItsWay:
    found: OnItsWay | None = st.session_state.get("release")
    if found is None:
        found = st.session_state["release"] = OnItsWay()
    return found


def keep_truth(prefix: str) -> None:
    """Keep what a page says of the truth and the draw, where it has no control for it and hands it on to others."""
    declared = {**Design.numbers(), "x": CONFIDENTIAL_COUNT}
    for name in sorted(NOT_EVERYWHERE - {"delta"}):
        if f"{prefix}{name}" not in SETTINGS:
            keep_handed_on(f"{prefix}{name}", declared[name])


def handed_on(prefix: str, n: float) -> dict[str, Any]:
    """What came to a page that has no control for it, by the names of a design, as far as it fits n rows."""
    names = {"p": "p", "x": "confidential_count", "seed": "seed"}
    found = {name: st.session_state.get(prefix + name) for name in names if SETTINGS[prefix + name].handed_on}
    return {
        names[name]: value for name, value in found.items() if value is not None and (name != "x" or value <= n)
    }  # fmt: skip


def told_by(page: PageSpec) -> frozenset[str]:
    """Return the names that an address has of what a page says of its release."""
    shown = state_of(page.prefix).drawn
    said = {key.removeprefix(page.prefix) for key, one in shown.items() if one.value is not None}
    own = set() if f"{page.prefix}synthesizer" in SETTINGS else {"alpha", "beta"}  # what some section asks about
    return frozenset((said - own) | {*page.tells})


def bring_release(page: PageSpec) -> str:
    """Set the page that is entered to the reader's release, unless its address says what it shows.

    A page that has been left is as it was there while the release has not changed, and keeps its kind of data while
    the mechanism has not. Call it before the controls are read. Returns a sentence where the page does not take the
    release.
    """
    state, way, context, prefix = state_of(page.prefix), _on_its_way(), get_script_run_ctx(), page.prefix
    last: PageSpec | None = way.page
    if last is not None and (valid := state_of(last.prefix).valid) is not None:
        _keep(last, way, valid.design)
        if not way.refused:
            state_of(last.prefix).brought = way.release
    entered, own = last != page, any(key.startswith(prefix) for key in st.query_params)
    back = bool(context and context.is_history_navigation)
    way.page, release = page, way.release
    settings: dict[str, Any] = {}
    if entered:
        way.refused = ""
    try:
        settings = {} if release is None else carried_to(prefix, release)
    except ValueError as broken:
        if entered and not own:
            way.refused = f"Your release stays on the other pages; this one does not take it: {broken}"
    state.yours = {key.removeprefix(prefix): value for key, value in settings.items()}
    if entered:
        way.entered = "address" if own or (back and release is not None) else None
        if own:
            state.entry = ""  # a link's address is read as that of a fresh page is
        elif not back and release is not None and settings:
            brought: Carried | None = state.brought
            if brought != release:
                st.session_state.update(settings)
            if brought is None or brought.design.synthesizer_type is not release.design.synthesizer_type:
                further = taken_by(prefix, release.design)
                st.session_state.update({prefix + name: value for name, value in further.items()})
    return way.refused


def carried_on(page: PageSpec) -> str:
    """The reader's release in words, with what this run has changed of it; nothing before there is one."""
    valid, way = state_of(page.prefix).valid, _on_its_way()
    if valid is not None:
        _keep(page, way, valid.design)
    return "" if way.release is None else way.release.words


def _keep(page: PageSpec, way: OnItsWay, design: Design) -> None:
    """Make what a page showed last the reader's release, as far as it was set there and not by one of its presets."""
    preset = st.session_state.get(f"{page.prefix}preset")
    told, ruled = told_by(page), f"{page.prefix}prior" in SETTINGS
    way.shown(design, told, begins=page.home, set_here=preset is None, ruled=ruled)


def page_link(
    page: PageSpec, design: Design, label: str = "", said: frozenset[str] | None = None, **further: str
) -> None:
    """A link to a page, which opens with this release, and with `further` settings by their names on it."""
    words = {
        **address_words(page.prefix, design, said),
        **{f"{page.prefix}{name}": word for name, word in further.items()},
    }
    words |= {CLASS: "1"} if class_mode() else {}
    st.page_link(as_declared(page), label=f"{label or page.title} →", query_params=words)


def lead_on(
    here: PageSpec, design: Design, words: str = "This release on", place: str = "", *, whole: bool = False
) -> None:
    """Links to what the other pages say of this release, where they take it; `place` tells several such lists apart.

    They say what `here` says of it, or all of a `whole` design that the page has found.
    """
    said = None if whole else told_by(here)
    with st.container(horizontal=True, key=f"{here.prefix}lead_on{place}"):
        st.html(f'<span class="dpviz-lead">{escape(words)}</span>', width="content")
        for page in PAGES:
            if page is not here and not page.home:
                with contextlib.suppress(ValueError):  # the page has no control for something of it
                    page_link(page, design, said=said)
