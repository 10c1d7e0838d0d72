"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from dpviz.privacy.summary import summarize
from pages.components.cached import cached
from pages.components.frame import answering, look_closer, show_section
from pages.components.release import lead_on
from pages.transition_matrices import SPEC
from pages.transition_matrices.answer import as_judged, show_answer
from pages.transition_matrices.controls import CONTROLS, Asked
from pages.transition_matrices.sections import SECTIONS, Answered


def compute_answer(asked: Asked) -> object:
    """The privacy of the release, held against the promise."""
    return cached(summarize)(asked.design.synthesizer, asked.design.epsilon, asked.design.delta)


with answering(SPEC, SECTIONS, CONTROLS.choose, compute_answer, CONTROLS.first) as answered:
    design = answered.design
    summary = cached(summarize)(as_judged(design.synthesizer), design.epsilon, design.delta)
    show_answer(summary, design)
    lead_on(SPEC, design)
    show_section(look_closer(SPEC, SECTIONS), Answered(summary, answered.given_text))
