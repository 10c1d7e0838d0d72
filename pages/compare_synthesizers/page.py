"""Compare synthesizers: bias, error, coverage, width and usable share of every method, on equal terms."""

from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.answer import found_so_far, show_answer
from pages.compare_synthesizers.controls import CONTROLS
from pages.compare_synthesizers.sections import SECTIONS
from pages.components.frame import answering, look_closer, show_section

with answering(SPEC, SECTIONS, CONTROLS.choose, found_so_far, CONTROLS.first) as answered:
    show_answer(answered)
    show_section(look_closer(SPEC, SECTIONS), answered)
