"""Class mode: large type, thick lines, few controls and three digits, for a projector and for a class with one link."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

KEY = "class"
"""In the session and in the address, whatever the page."""

DIGITS = 3

STYLE = """
:root {font-size: 21px !important; --dpviz-class: 1}
.stMain [data-testid="stCaptionContainer"], .dpviz-note, .dpviz-question, .st-key-more,
.dpviz-numbers dd:nth-of-type(2) {display: none !important}
.dpviz-answer {font-size: 1.35rem}
.stMainBlockContainer {padding-left: 1.2rem; padding-right: 1.2rem}
"""

_keys = st.components.v2.component(
    "dpviz_keys", js=Path(__file__).with_name("keys.js").read_text(encoding="utf-8"), isolate_styles=False
)


def class_mode() -> bool:
    """Whether it is on; the address decides when the app is opened, the switch from then on."""
    if KEY not in st.session_state:
        st.session_state[KEY] = st.query_params.get(KEY, "") in ("1", "true")
    return bool(st.session_state[KEY])


def digits(full: int) -> int:
    """`full` digits, or three in class mode."""
    return min(full, DIGITS) if class_mode() else full


def show_class_mode() -> None:
    """The switch, and what it does to the page."""
    on = class_mode()
    with st.container(key="class_mode"):
        st.toggle(
            "Class mode",
            key=KEY,
            persist_state="session",
            help="Large type and thick lines for a projector, fewer words and controls. ← and → move the slider that "
            "was touched last, the space bar starts and stops. The address keeps it: one link for the whole class.",
        )
    if on:
        st.html(f"<style>{STYLE}</style>")
        _keys(key="dpviz_keys", data="", height=1)
