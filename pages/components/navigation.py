"""The pages of the app, and the way back to it for a page that a fresh server was asked for first."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit import runtime
from streamlit.navigation.page import StreamlitPage

PAGES = Path(__file__).parent.parent
ENTERED = "entered"

PATHS = {"tm_": "", "mp_": "minimum_priors", "cv_": "coverage", "po_": "posterior"}
"""Where each page is, by what the keys of its controls begin with."""


def navigate() -> StreamlitPage:
    """Declare the pages; returns the one that was asked for."""
    st.session_state[ENTERED] = True
    return st.navigation(
        [
            st.Page(PAGES / "transition_matrices.py", title="Transition matrices", default=True),
            st.Page(PAGES / "minimum_priors.py", title="Minimum priors"),
            st.Page(PAGES / "coverage.py", title="Coverage"),
            st.Page(PAGES / "posterior.py", title="Posterior"),
        ],
        position="hidden" if st.context.is_embedded else "top",
    )


def enter() -> None:
    """Start over through app.py where Streamlit has run a file of ``pages/`` by itself.

    It does so for the first visitor of a fresh server who opens a page's own address: it has not seen `navigate` yet.
    """
    if runtime.exists() and ENTERED not in st.session_state:
        navigate()
        st.rerun()
