"""Coverage: how often an interval from synthetic sets holds the truth, exactly and live."""

from __future__ import annotations

import streamlit as st

from pages.components.address import keep_choice, write_address
from pages.components.choices import choice
from pages.components.controls import controls_style
from pages.components.last_valid import answerable
from pages.components.words import page_head, problem
from pages.intervals.controls import PAGE, PREFIX, choose, first_design, show_mends
from pages.intervals.curves import AXES
from pages.intervals.exact import exact_values
from pages.intervals.live import AXIS, show_answer, show_live
from pages.intervals.run import current_run, show_buttons
from pages.intervals.sections import SECTIONS

page_head(
    "Coverage",
    "How often does the interval that an analyst computes from synthetic sets hold the true proportion?",
    controls_style(PAGE.keys),
)

LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)
keep_choice(AXIS, AXES, "against p")

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    design = choose()
with results:
    mends = st.container()
    answered = answerable(PREFIX, design, exact_values, first_design)
    with mends:
        show_mends(design)
    try:
        run = current_run(answered)
        show_answer(answered)
        left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
        with left:
            label = choice(
                st.segmented_control,
                "Picture",
                [name for name in AXES if answered.follows_epsilon or AXES[name] != "epsilon"],
                AXIS,
                required=True,
                label_visibility="collapsed",
            )
        show_buttons(answered, run, middle, right)
        live = st.container()  # what moves may start the page over: what does not is drawn before it
        section = choice(st.pills, "Look closer", SECTIONS, LOOK, wrap=True)
        details = st.container()
        with live:
            show_live(answered, run, AXES[label])
        if section:
            with details:
                SECTIONS[section](answered)
    except ValueError as broken:
        problem(str(broken))
write_address(PREFIX)
