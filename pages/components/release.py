"""The release that a reader carries from page to page: set on one, kept on the next."""

from functools import lru_cache
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz.designs import NOISE, Design
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.address import SETTINGS
from pages.components.prior_rule import settings_of

CARRIED = (
    "law",
    "n",
    "m",
    "m_is_n",
    "sets",
    "prior",
    "epsilon",
    "delta",
    "alpha",
    "beta",
    "beta_is_alpha",
    "cells",
    NOISE,
)
"""What belongs to the release; the truth, the analysis and the seed belong to a page."""

RELEASE, PAGE, ENTERED, REFUSED = "release", "release_page", "release_entered", "release_refused"


def bring_release(prefix: str) -> str:
    """Set the page that is entered to the reader's release, unless its address says what it shows.

    Call it before the controls are read. Returns a sentence where the page does not take the release.
    """
    state, context = st.session_state, get_script_run_ctx()
    last = state.get(PAGE)
    if last is not None and (valid := state.get(f"{last}valid")) is not None:
        _keep(last, valid.design)
    entered, own = last != prefix, any(key.startswith(prefix) for key in st.query_params)
    state[PAGE] = prefix
    release: Design | None = state.get(RELEASE)
    settings: dict[str, Any] = {}
    if entered:
        state[REFUSED] = ""
    try:
        if release is not None:
            every = settings_of(prefix, release)
            settings = {key: value for key, value in every.items() if key.removeprefix(prefix) in CARRIED}
    except ValueError as broken:
        if entered and not own:
            state[REFUSED] = f"Your release stays on the other pages; this one does not take it: {broken}"
    state[f"{prefix}yours"] = {key.removeprefix(prefix): value for key, value in settings.items()}
    if entered:
        state[ENTERED] = "address" if own else None
        if own:
            state.pop(f"{prefix}entry", None)  # a link's address is read as that of a fresh page is
        elif not (context and context.is_history_navigation):
            state.update(settings)
    return str(state[REFUSED])


def _keep(prefix: str, design: Design) -> None:
    """Make what a page showed last the reader's release, as far as it was set there and not by one of its presets."""
    state = st.session_state
    entered: Design | str | None = state.get(ENTERED)
    if design.law is GivenMatrix:  # a matrix of the reader's own belongs to its page
        return
    state[ENTERED] = design
    if entered is None or entered == design or state.get(f"{prefix}preset") is not None:
        return
    release: Design | None = state.get(RELEASE)
    whole = isinstance(entered, str) or release is None
    state[RELEASE] = design if whole else _changed(release, entered, design, f"{prefix}prior" in SETTINGS)


@lru_cache(maxsize=256)
def _changed(release: Design, entered: Design, design: Design, ruled: bool) -> Design:
    """A release with what has changed since the page was entered.

    `ruled` pages have a rule for the prior, which hides what it has no use for.
    """
    before, now, words = entered.to_address(), design.to_address(), release.to_address()
    hidden = {"epsilon", "delta", "alpha"} - set(design.promised) if ruled else set()
    for name in (*CARRIED, "details"):
        if before.get(name) != now.get(name) and name not in hidden:
            words.pop(name, None)
            words |= {name: now[name]} if name in now else {}
    try:
        return Design.from_address(words)
    except ValueError:
        return design
