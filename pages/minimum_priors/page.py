"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

import streamlit as st

from dpviz.desk.asked import Refused
from pages.components.address import fit_choice
from pages.components.frame import answering, look_closer, show_section
from pages.components.release import lead_on
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import compute_answer, show_answer, show_curves, show_table
from pages.minimum_priors.controls import CONTROLS, Asked, chosen_kind
from pages.minimum_priors.sections import SECTIONS, SECTIONS_OF


def choose_fitting() -> Asked | Refused:
    """What the controls say; a closer look that another kind of data rules out is set back."""
    asked = CONTROLS.choose()
    fit_choice(f"{SPEC.prefix}look", SECTIONS_OF[chosen_kind()])
    return asked


with answering(SPEC, SECTIONS, choose_fitting, compute_answer, CONTROLS.first) as answered:
    show_answer(answered)
    picture, question = st.container(), answered.question
    show_table(question)
    if question.kind.binary:
        lead_on(SPEC, answered.design)
    section = look_closer(SPEC, SECTIONS_OF[question.kind])
    with picture:  # curves that grow may start the page over: what does not move is drawn before them
        show_curves(question)
    show_section(section, question)
