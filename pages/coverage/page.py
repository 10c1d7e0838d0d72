"""Coverage: how often an interval from synthetic sets holds the truth, exactly and live."""

import streamlit as st

from pages.components.address import keep_choice, write_address
from pages.components.choices import choice
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on
from pages.components.release import carried_on
from pages.components.words import problem
from pages.coverage import SPEC
from pages.coverage.controls import PAGE, PREFIX, choose, first_asked
from pages.coverage.exact import AXES, next_steps
from pages.coverage.live import AXIS, FAST, SPEED, SPEEDS, show_answer, show_live
from pages.coverage.run import current_run, show_buttons
from pages.coverage.sections import SECTIONS

page_head(SPEC)
keep_choice(f"{PREFIX}look", SECTIONS, None)
keep_choice(AXIS, AXES, "against p")
keep_choice(SPEED, SPEEDS, FAST)

controls, results = columns()
with controls:
    asked = choose()
with results:
    answered = answerable(PREFIX, asked, lambda one: one.design.release, first_asked).design
    answer = st.container()
    lead_on(SPEC, answered)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axes = [words for words, axis in AXES.items() if axis.name in ("p", *answered.promised)]
        label = choice(st.segmented_control, "Picture", axes, AXIS, required=True, label_visibility="collapsed")
        choice(st.segmented_control, "Speed", SPEEDS, SPEED, required=True, label_visibility="collapsed")
        run = current_run(answered)
        with st.container(horizontal=True, width="content"):  # on a narrow screen they go to the next line together
            show_buttons(answered, run)
    live = st.container()  # what moves may start the page over: what does not is drawn before it
    section = look_closer(SPEC, SECTIONS)
write_address(PREFIX, carried_on(SPEC))  # all controls are drawn, and what is computed now takes a moment
with results:
    try:
        with answer:
            show_answer(answered)
        with live:
            show_live(answered, run, AXES[label])
        show_section(section, answered)
    except ValueError as broken:
        problem(str(broken))
PAGE.compute_ahead(answered, next_steps)
