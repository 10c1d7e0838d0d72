"""Coverage: how often an interval from synthetic sets holds the truth, exactly and live."""

from __future__ import annotations

import streamlit as st

from pages.components.controls import controls_style
from pages.components.words import page_head, problem
from pages.intervals.controls import IN_ADDRESS, PREFIX, choose, show_problems
from pages.intervals.curves import AXES
from pages.intervals.live import AXIS, show_answer, show_live
from pages.intervals.run import current_run, show_buttons
from pages.intervals.sections import SECTIONS

page_head(
    "Coverage",
    "How often does the interval that an analyst computes from synthetic sets hold the true proportion?",
    controls_style(IN_ADDRESS),
)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    design = choose({f"{PREFIX}look": list(SECTIONS), AXIS: list(AXES)})
with results:
    show_problems(design)
    if design.synthesizer is not None:
        try:
            run = current_run(design)
            show_answer(design)
            left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
            with left:
                label = st.segmented_control(
                    "Picture", [name for name in AXES if design.follows_epsilon or AXES[name] != "epsilon"],
                    default="against p", key=AXIS, bind="query-params", required=True,
                    label_visibility="collapsed",
                )  # fmt: skip
            show_buttons(design, run, middle, right)
            live = st.container()  # what moves may start the page over: what does not is drawn before it
            section = st.pills("Look closer", list(SECTIONS), key=f"{PREFIX}look", bind="query-params", wrap=True)
            details = st.container()
            with live:
                show_live(design, run, AXES[label])
            if section is not None:
                with details:
                    SECTIONS[section](design)
        except ValueError as broken:
            problem(str(broken))
