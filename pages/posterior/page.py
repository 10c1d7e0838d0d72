"""Posterior: what the synthetic counts say about the proportion to an analyst who knows how they were made."""

from pages.components.address import keep_choice, write_address
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.components.links import lead_on
from pages.posterior import SPEC
from pages.posterior.answer import laws, show_answer
from pages.posterior.controls import PREFIX, choose, first_asked
from pages.posterior.sections import SECTIONS

page_head(SPEC)
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = columns()
with controls:
    asked = choose()
with results:
    answered = answerable(PREFIX, asked, laws, first_asked)
    show_answer(answered)
    show_section(SECTIONS.get(look_closer(LOOK, SECTIONS)), answered)
    lead_on(SPEC, answered.design)
write_address(PREFIX)
