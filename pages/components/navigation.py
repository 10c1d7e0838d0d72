"""The pages of the app, in order."""

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages import coverage, home, minimum_priors, posterior, transition_matrices

PAGES = [one.SPEC for one in (home, transition_matrices, minimum_priors, coverage, posterior)]
"""A new page is its folder, its name here, and a file ``pages/_<folder>.py`` that enters it."""


def navigate() -> StreamlitPage:
    """Declare the pages; returns the one that was asked for."""
    return st.navigation(
        [st.Page(one.file, title=one.title, url_path=one.path, default=one.home) for one in PAGES],
        position="hidden" if st.context.is_embedded else "top",
    )


def enter() -> None:
    """Start over through app.py where Streamlit runs a file of ``pages/`` by itself.

    It does so for the first visitor of a fresh server: it has not seen `navigate` yet, and looks there for the page
    that the address names; without such a file the visitor reads "Page not found".
    """
    navigate()
    st.rerun()
