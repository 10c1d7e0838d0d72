"""What the reader has taken from a file of confidential data: the report tells it, for as long as it is used."""

from collections.abc import Mapping

import streamlit as st

from pages.curator import SPEC
from pages.curator.controls import NUMBERS, PREFIX

TAKEN = f"{PREFIX}taken"


def remember(settings: Mapping[str, float]) -> None:
    """Keep which controls were set from a file, and to what."""
    st.session_state[TAKEN] = {**st.session_state.get(TAKEN, {}), **settings}


def taken_note() -> str:
    """Which numbers of the question came from a file, in a sentence; nothing where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(TAKEN, {}).items() if state.get(PREFIX + name) == value]
    if not names:
        return ""
    return SPEC.note("taken_from_file", names=", ".join(NUMBERS[name].title.lower() for name in names))
