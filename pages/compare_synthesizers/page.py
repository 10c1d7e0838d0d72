"""Compare synthesizers: bias, error, coverage, width and usable share of every method, on equal terms."""

from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.answer import lead_design, show_answer
from pages.compare_synthesizers.controls import PREFIX, choose, first_asked
from pages.compare_synthesizers.quick import first_outcomes
from pages.compare_synthesizers.sections import SECTIONS
from pages.components.address import keep_choice, write_address
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on

page_head(SPEC)
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = columns()
with controls:
    asked = choose()
with results:
    answered = answerable(PREFIX, asked, first_outcomes, first_asked)
    show_answer(answered)
    show_section(SECTIONS.get(look_closer(LOOK, SECTIONS)), answered)
    if best := lead_design(answered):
        lead_on(SPEC, best)
write_address(PREFIX)
