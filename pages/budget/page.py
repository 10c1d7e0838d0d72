"""Budget: how many sets should share a promised ε, and how two statistics should."""

from pages.budget import SPEC
from pages.budget.answer import found_soon, show_answer
from pages.budget.controls import CONTROLS
from pages.budget.sections import SECTIONS
from pages.components.frame import answering, look_closer, show_section

with answering(SPEC, SECTIONS, CONTROLS.choose, found_soon, CONTROLS.first) as answered:
    show_answer(answered)
    show_section(look_closer(SPEC, SECTIONS), answered)
