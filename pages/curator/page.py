"""Curator's desk: from the limits that must hold to the designs that keep them."""

from pages.components.address import keep_choice, write_address
from pages.components.frame import columns, look_closer, page_head, show_section
from pages.components.last_valid import answerable
from pages.curator import SPEC
from pages.curator.answer import show_answer
from pages.curator.controls import PREFIX, choose, first_asked
from pages.curator.found import first_desk
from pages.curator.pilot import forget, show_pilot
from pages.curator.pins import pins
from pages.curator.sections import SECTIONS

page_head(SPEC)
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = columns()
with controls:
    asked = choose()
with results:
    answered = answerable(PREFIX, asked, first_desk, first_asked)
    show_answer(answered)
    pins()  # they belong in the address, whatever is open
    section = SECTIONS.get(look_closer(LOOK, SECTIONS))
    if section is not show_pilot:
        forget()
    show_section(section, answered)
write_address(PREFIX)
