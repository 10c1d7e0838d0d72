"""Transition matrices: what a release does to a table of counts, and what it gives away."""

import streamlit as st

from dpviz.privacy.summary import summarize
from pages.components.address import keep_choice, write_address
from pages.components.cached import cached
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on
from pages.transition_matrices import SPEC
from pages.transition_matrices.controls import PAGE, PREFIX, Asked, choose, first_asked
from pages.transition_matrices.given import as_judged
from pages.transition_matrices.sections import SECTIONS, Answered
from pages.transition_matrices.tables import next_steps, show_tables
from pages.transition_matrices.verdict import show_verdict

page_head(SPEC)
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)


def compute_answer(asked: Asked) -> object:
    """The privacy of the release, held against the promise."""
    return cached(summarize)(asked.design.synthesizer, asked.design.epsilon, asked.design.delta)


controls, results = columns()
with controls:
    chosen = choose()
with results:
    answered = answerable(PREFIX, chosen, compute_answer, first_asked)
    design, top = answered.design, st.container()
    summary = cached(summarize)(as_judged(design.synthesizer), design.epsilon, design.delta)
    with top:
        show_verdict(summary)
        lead_on(SPEC, design)
    section = look_closer(LOOK, SECTIONS)
    show_section(SECTIONS.get(section), Answered(summary, answered.given_text))
    show_tables(summary)
write_address(PREFIX)
PAGE.compute_ahead(design, next_steps)
