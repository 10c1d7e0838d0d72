"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

import streamlit as st

from pages.components.address import fit_choice, keep_choice, write_address
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import compute_answer, show_answer, show_table
from pages.minimum_priors.audited import show_audit
from pages.minimum_priors.controls import PREFIX, choose, chosen_kind, first_asked
from pages.minimum_priors.curves import AXIS_KEY, chosen_axis, show_curves
from pages.minimum_priors.next_stops import compute_ahead
from pages.minimum_priors.sections import SECTIONS, sections_of

page_head(SPEC)
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = columns()
with controls:
    asked = choose()
with results:
    fit_choice(LOOK, sections_of(chosen_kind()))
    answered = answerable(PREFIX, asked, compute_answer, first_asked)
    show_answer(answered)
    if answered.kind.binary:
        lead_on(SPEC, answered.design)
    section = look_closer(LOOK, sections_of(answered.kind))
    opened, drawing = st.container(), st.container()
    show_table(answered)
    show_section(show_audit, answered)
    with drawing:  # curves that grow may start the page over: what does not move is drawn before them
        show_curves(answered)
    with opened:
        show_section(SECTIONS.get(section), answered)
write_address(PREFIX)
compute_ahead(answered, chosen_axis(st.session_state[AXIS_KEY]))
