"""Posterior: what the synthetic counts say about the proportion to an analyst who knows how they were made."""

from __future__ import annotations

import streamlit as st

from pages.bayes.answer import show_answer
from pages.bayes.controls import IN_ADDRESS, PREFIX, choose, show_problems
from pages.bayes.sections import SECTIONS
from pages.components.controls import controls_style
from pages.components.words import page_head, problem

page_head(
    "Posterior",
    "What do synthetic counts say about the proportion to an analyst who knows how they were made?",
    controls_style(IN_ADDRESS),
)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    asked = choose({f"{PREFIX}look": list(SECTIONS)})
with results:
    show_problems(asked)
    if asked.counts:
        try:
            show_answer(asked)
            section = st.pills("Look closer", list(SECTIONS), key=f"{PREFIX}look", bind="query-params", wrap=True)
            if section is not None:
                SECTIONS[section](asked)
        except ValueError as broken:
            problem(str(broken))
