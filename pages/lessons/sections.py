"""What the page shows: the list of lessons, or a step of one of them."""

import dataclasses
from html import escape

import streamlit as st

from dpviz.teaching.lessons import LESSONS
from pages.components.address import address_problems, read_address, write_address
from pages.components.frame import page_head
from pages.components.refusals import refuse
from pages.lessons import SPEC
from pages.lessons.controls import PREFIX, go_to, place_of_reader
from pages.lessons.steps import show_step


def show() -> None:
    """The page from its head to its address."""
    read_address(PREFIX)
    place = place_of_reader()
    if place is None:
        page_head(SPEC)
    else:
        number, title = f"Lesson {place.lesson.words.number}", place.lesson.words.title
        page_head(dataclasses.replace(SPEC, question=title, title=number, lead=""))
    refuse(*address_problems(PREFIX))
    if place is None:
        _show_list()
    else:
        show_step(place)
    write_address(PREFIX, place="" if place is None else f"{place.lesson.key}/{place.index}")


def _show_list() -> None:
    """All lessons: what each answers, and how long it takes."""
    with st.container(key=f"{PREFIX}list"):
        for key, lesson in LESSONS.items():
            words = lesson.words
            with st.container(key=f"{PREFIX}card_{key}", border=True, gap="xsmall"):
                label = f"{words.number} · {words.title}"
                st.button(label, on_click=go_to, args=(key,), key=f"{PREFIX}begin_{key}", type="tertiary")
                answers, minutes = escape(words.head["answers"]), escape(words.head["minutes"])
                st.html(f'<p class="dpviz-told">{answers} <small>{minutes} minutes</small></p>')
