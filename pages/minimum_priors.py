"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

from __future__ import annotations

import streamlit as st

from pages.components.address import fit_choice, keep_choice, write_address
from pages.components.choices import choice
from pages.components.controls import controls_style
from pages.components.last_valid import answerable
from pages.components.words import page_head, problem
from pages.priors.answer import compute_answer, show_answer
from pages.priors.audited import show_audit
from pages.priors.controls import PAGE, PREFIX, choose, first_asked
from pages.priors.curves import show_curves
from pages.priors.sections import SECTIONS, sections_of

page_head(
    "Minimum priors",
    "How strong must the prior be, or how narrow the data, for a synthetic release to keep a promise of privacy?",
    controls_style(PAGE.keys),
)

LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    asked = choose()
with results:
    fit_choice(LOOK, sections_of(asked))
    answered = answerable(PREFIX, asked, compute_answer, first_asked)
    show_answer(answered)
    drawing = st.container()
    show_audit(answered)
    sections = sections_of(answered)
    section = choice(st.pills, "Look closer", sections, LOOK, wrap=True)
    with drawing:  # curves that grow may start the page over: what does not move is drawn before them
        show_curves(answered)
    if section:
        try:
            sections[section](answered)
        except ValueError as broken:
            problem(str(broken))
write_address(PREFIX)
