"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

from __future__ import annotations

import streamlit as st

from pages.components.controls import controls_style
from pages.components.words import page_head, problem
from pages.priors.answer import show_answer
from pages.priors.audited import show_audit
from pages.priors.controls import IN_ADDRESS, Asked, choose, family_in_address, show_problems
from pages.priors.curves import NAMES, show_curves
from pages.priors.sections import sections_of

page_head(
    "Minimum priors",
    "How strong must the prior be, or how narrow the data, for a synthetic release to keep a promise of privacy?",
    controls_style(IN_ADDRESS),
)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    sections = sections_of(Asked(family_in_address(), None))
    asked = choose({"mp_look": list(sections), "mp_axis": list(NAMES.values())})
with results:
    show_problems(asked)
    if asked.setting is not None:
        picture = st.container()
        try:
            with picture:
                show_answer(asked)
                drawing = st.container()
            show_audit(asked)
            sections = sections_of(asked)
            section = st.pills("Look closer", list(sections), key="mp_look", bind="query-params", wrap=True)
            with drawing:  # curves that grow may start the page over: what does not move is drawn before them
                show_curves(asked)
            if section is not None:
                sections[section](asked)
        except ValueError as broken:
            problem(str(broken))
