"""Posterior: what the synthetic counts say about the proportion to an analyst who knows how they were made."""

from pages.components.frame import answering, look_closer, show_section
from pages.components.links import lead_on
from pages.posterior import SPEC
from pages.posterior.answer import posteriors, show_answer
from pages.posterior.controls import choose, first_asked
from pages.posterior.sections import SECTIONS

with answering(SPEC, SECTIONS, choose, posteriors, first_asked) as answered:
    show_answer(answered)
    lead_on(SPEC, answered.design)
    show_section(look_closer(SPEC, SECTIONS), answered)
