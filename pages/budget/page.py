"""Budget: how many sets should share a promised ε, and how two statistics should."""

from pages.budget import SPEC
from pages.budget.answer import growing_answer, lead_design, show_answer, spent_first
from pages.budget.controls import CONTROLS
from pages.budget.sections import SECTIONS
from pages.components.frame import answering, look_closer, show_section
from pages.components.release import lead_on

with answering(SPEC, SECTIONS, CONTROLS.choose, spent_first, CONTROLS.first) as answered:
    show_answer(answered)
    if best := lead_design(answered, growing_answer(answered).latest):
        lead_on(SPEC, best, whole=True)
    show_section(look_closer(SPEC, SECTIONS), answered)
