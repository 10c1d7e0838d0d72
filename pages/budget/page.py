"""Budget: how many sets should share a promised ε, and how two statistics should."""

from pages.budget import SPEC
from pages.budget.answer import growing_answer, lead_design, show_answer, spent_first
from pages.budget.controls import PREFIX, choose, first_asked
from pages.budget.sections import SECTIONS
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
    answered = answerable(PREFIX, asked, spent_first, first_asked)
    show_answer(answered)
    show_section(SECTIONS.get(look_closer(LOOK, SECTIONS)), answered)
    if best := lead_design(answered, growing_answer(answered).latest):
        lead_on(SPEC, best)
write_address(PREFIX)
