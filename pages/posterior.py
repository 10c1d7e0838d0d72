"""Posterior: what the synthetic counts say about the proportion to an analyst who knows how they were made."""

from __future__ import annotations

import streamlit as st

from pages.bayes.answer import laws, show_answer
from pages.bayes.controls import PAGE, PREFIX, choose, first_asked
from pages.bayes.sections import SECTIONS
from pages.components.address import keep_choice, write_address
from pages.components.choices import choice
from pages.components.controls import controls_style
from pages.components.last_valid import answerable
from pages.components.words import page_head, problem

page_head(
    "Posterior",
    "What do synthetic counts say about the proportion to an analyst who knows how they were made?",
    controls_style(PAGE.keys),
)

LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    asked = choose()
with results:
    answered = answerable(PREFIX, asked, laws, first_asked)
    show_answer(answered)
    section = choice(st.pills, "Look closer", SECTIONS, LOOK, wrap=True)
    if section:
        try:
            SECTIONS[section](answered)
        except ValueError as broken:
            problem(str(broken))
write_address(PREFIX)
