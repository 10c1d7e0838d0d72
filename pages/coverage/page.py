"""Coverage: how often an interval from synthetic sets holds the truth, exactly and live."""

import streamlit as st

from pages.components.address import write_address
from pages.components.controls import Choice
from pages.components.frame import answerable, columns, look_closer, page_head, show_section
from pages.components.release import carried_on, lead_on
from pages.components.words import note, problem
from pages.coverage import SPEC
from pages.coverage.controls import CONTROLS, PREFIX
from pages.coverage.exact import AXES, given_sentence, glance_of
from pages.coverage.live import FAST, SPEEDS, show_answer, show_live
from pages.coverage.run import current_run, show_buttons
from pages.coverage.sections import SECTIONS

page_head(SPEC, SECTIONS)
words = {name: word for name, (*_, word) in SPEEDS.items()}
hidden = {"required": True, "label_visibility": "collapsed"}
speed = Choice("speed", "Speed", words, FAST, st.segmented_control, **hidden).kept(SPEC)
curves = Choice("axis", "Curves", list(AXES), "against p", st.segmented_control, required=True).kept(SPEC)

controls, results = columns()
with controls:
    asked = CONTROLS.choose()
with results:
    answered = answerable(PREFIX, asked, lambda one: one.design.release, CONTROLS.first).design
    glance_of(answered).begin()
    answer = st.container()
    run = current_run(answered)
    with st.container(horizontal=True, vertical_alignment="center"):
        show_buttons(answered, run)
        speed.draw()
    live = st.container()  # what moves may start the page over: what does not is drawn before it
    lead_on(SPEC, answered)
    section = look_closer(SPEC, SECTIONS)
with controls:
    label = curves.draw([words for words, axis in AXES.items() if axis.name in ("p", *answered.promised)])
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
