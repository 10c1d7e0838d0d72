"""The closer looks of the page, each run only when it is opened."""

import streamlit as st

from dpviz.designs import Design
from dpviz.inference.rules import RULES
from pages.components.frame import Section
from pages.components.words import listing
from pages.coverage import SPEC
from pages.coverage.downloads import show_downloads
from pages.coverage.fails import show_failure
from pages.coverage.lengths import show_lengths
from pages.coverage.moments import show_moments
from pages.coverage.published import show_published


def _why(_design: Design) -> None:
    st.markdown(SPEC.text("words"))
    rows = [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()]
    listing(["rule", "how it is made", "source"], rows, "The rules", ())


SECTIONS: dict[str, Section[Design]] = {
    "Why it fails": show_failure,
    "Length, and its limit": show_lengths,
    "Bias and variance": show_moments,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": _why,
}
