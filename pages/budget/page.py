"""Budget: how many sets should share a promised ε, and how two statistics should."""

from pages.budget import SPEC
from pages.budget.answer import growing_answer, lead_design, show_answer, spent_first
from pages.budget.controls import choose, first_asked
from pages.budget.sections import SECTIONS
from pages.components.frame import answering, look_closer, show_section
from pages.components.links import lead_on

with answering(SPEC, SECTIONS, choose, spent_first, first_asked) as answered:
    show_answer(answered)
    if best := lead_design(answered, growing_answer(answered).latest):
        lead_on(SPEC, best, whole=True)
    show_section(look_closer(SPEC, SECTIONS), answered)
