"""The pages of the app, in order."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages import coverage, minimum_priors, posterior, transition_matrices

PAGES = [one.SPEC for one in (transition_matrices, minimum_priors, coverage, posterior)]
"""A new page is its folder and its name here."""


def navigate() -> StreamlitPage:
    """Declare the pages; returns the one that was asked for."""
    return st.navigation(
        [st.Page(one.file, title=one.title, url_path=one.path, default=one.home) for one in PAGES],
        position="hidden" if st.context.is_embedded else "top",
    )
