"""Plan: several statistics of the same people under one promise."""

from pages.components.frame import answering, look_closer, show_section
from pages.plan import SPEC
from pages.plan.answer import show_answer, show_numbers
from pages.plan.controls import CONTROLS, is_plan
from pages.plan.sections import SECTIONS
from pages.plan.statistics import edit_statistics

with answering(SPEC, SECTIONS, CONTROLS.choose, is_plan, CONTROLS.first) as answered:
    show_answer(answered)
    edit_statistics(answered.plan)
    show_numbers(answered)
    show_section(look_closer(SPEC, SECTIONS), answered)
