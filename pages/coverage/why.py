"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from dpviz.designs import Design
from dpviz.inference import RULES
from pages.components.words import listing
from pages.coverage import SPEC


def show_why(_design: Design) -> None:
    """Explanations, notation and sources, and the rules."""
    st.markdown(SPEC.text("words"))
    listing(
        ["rule", "how it is made", "source"],
        [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()],
        "The rules",
    )
