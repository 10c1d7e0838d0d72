"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from dpviz.synthesizers import Synthesizer
from pages.transition_matrices import SPEC


def show_why(release: Synthesizer) -> None:
    """Explanations, the notation, the law and its source."""
    st.markdown(SPEC.text("words"))
    st.markdown(f"**The law on this page.** {release.label}: ${release.law}$")
    st.caption(f"Source of the law: {release.source}. Neighbours: one row substituted, n fixed.")
