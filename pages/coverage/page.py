"""Coverage: how often an interval from synthetic sets holds the truth, exactly and live."""

import streamlit as st

from pages.components.address import keep_choice, write_address
from pages.components.choices import named_choice, segments
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on
from pages.components.release import carried_on
from pages.components.words import note, problem
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, choose, first_asked
from pages.coverage.exact import AXES, given_sentence
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
    run = current_run(answered)
    with st.container(horizontal=True, vertical_alignment="center"):
        show_buttons(answered, run)
        words = {name: word for name, (*_, word) in SPEEDS.items()}
        named_choice(st.segmented_control, "Speed", words, SPEED, required=True, label_visibility="collapsed")
    live = st.container()  # what moves may start the page over: what does not is drawn before it
    lead_on(SPEC, answered)
    section = look_closer(SPEC, SECTIONS)
with controls:
    axes = [words for words, axis in AXES.items() if axis.name in ("p", *answered.promised)]
    label = segments("Curves", axes, AXIS)
write_address(PREFIX, carried_on(SPEC))  # all controls are drawn, and what is computed now takes a moment
with results:
    try:
        with answer:
            told = show_answer(answered)
        with live:
            show_live(answered, run, AXES[label], told=told)
            if given := given_sentence(answered):
                note(given)
        show_section(section, answered)
    except ValueError as broken:
        problem(str(broken))
