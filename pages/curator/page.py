"""Curator's desk: from the limits that must hold to the designs that keep them."""

import streamlit as st

from pages.components.frame import answering, look_closer, show_section
from pages.curator import SPEC
from pages.curator.answer import show_answer
from pages.curator.controls import CONTROLS
from pages.curator.designs import desk_of, pins
from pages.curator.pilot import KEPT, show_pilot
from pages.curator.sections import SECTIONS

with answering(SPEC, SECTIONS, CONTROLS.choose, desk_of, CONTROLS.first) as answered:
    show_answer(answered)
    pins()  # they belong in the address, whatever is open
    section = look_closer(SPEC, SECTIONS)
    if section is not show_pilot:
        st.session_state.pop(KEPT, None)  # nothing of a file is kept when its section is closed
    show_section(section, answered)
