"""A step of a lesson: its words, what it asks, its picture, what is said of a guess, and the way back and on."""

from functools import partial
from typing import Literal

import streamlit as st

from dpviz.teaching.lessons.printed import printed_lesson
from dpviz.teaching.lessons.questions import Guessed, NumberAsked, OneAsked, OrderAsked, Slider
from dpviz.teaching.lessons.words import words_html
from pages.components import component
from pages.components.downloads import show_files
from pages.components.figure import show_figure
from pages.components.navigation import EVERY_PAGE
from pages.components.release import page_link
from pages.components.spec import class_mode
from pages.components.words import for_class, unparted
from pages.lessons.controls import PREFIX, Place, draw_again, go_to, set_slider, take_guess

HEIGHT = 430

_keys = component("steps")
"""PageUp and PageDown press the buttons Back and Next."""


def show_step(place: Place) -> None:
    """Draw the step with all that belongs to it."""
    lesson, step, moment = place.lesson, place.step, place.moment
    said = lesson.said(step, moment)
    with st.container(key=f"{PREFIX}frame"):
        with st.container(key=f"{PREFIX}words"):
            st.html(_told(lesson.text(step, moment), "" if said else "dpviz-answer"))
        with st.container(key=f"{PREFIX}ask"):
            _ask(place)
        with st.container(key=f"{PREFIX}seen"):
            picture = step.picture(moment)
            show_figure(picture.figure, key=f"{PREFIX}picture", alt=picture.alt, height=HEIGHT, hero=True)
        with st.container(key=f"{PREFIX}said"):
            if said:
                st.html(_told(said, "dpviz-answer"))
            if place.index == len(lesson.steps) - 1:
                _lead_on(place)
        _ways(place)
        with st.container(key=f"{PREFIX}folds"):
            if step.shows(moment):
                _fold(place, "formula", "The formula")
            if class_mode():
                _for_the_teacher(place)


def _told(text: str, kind: str = "") -> str:
    """A paragraph; the one that is the answer of the page is told to who listens."""
    return for_class(unparted(f'<p class="dpviz-told {kind}">{words_html(text)}</p>'))


def _ask(place: Place) -> None:
    """What is asked and what answers it, or the guess; or the slider to play with."""
    step, moment, question = place.step, place.moment, place.step.question
    asked = place.lesson.asked(step, moment)
    if question is not None and moment.guess is not None:
        st.html(_told(f"**{asked}** Your guess: **{question.told(moment.guess)}**"))
        st.button("Guess again", on_click=take_guess, args=(place, None), key=f"{PREFIX}again")
        return
    label = asked or (step.moved.label if step.moved else "")
    if isinstance(question, OneAsked):
        key = f"{PREFIX}one_{place.lesson.key}_{place.index}"
        st.radio(
            label, list(question.options), index=None, format_func=question.options.__getitem__, key=key,
            on_change=lambda: take_guess(place, st.session_state[key]),
        )  # fmt: skip
    elif isinstance(question, OrderAsked):
        _ask_order(place, question, label)
    elif step.moved is not None:
        _slide(place, step.moved, label)
        if isinstance(question, NumberAsked):
            here = step.moved.at(moment)
            words = f"My guess: {question.told(here)}"
            st.button(words, on_click=take_guess, args=(place, here), key=f"{PREFIX}go", type="primary")
        elif moment.tried is not None:
            st.button("Back to the step", on_click=set_slider, args=(None,), key=f"{PREFIX}restore")
    if step.draws and question is None:
        st.button("Draw again", on_click=draw_again, key=f"{PREFIX}draw")


def _slide(place: Place, slider: Slider, label: str) -> None:
    """The slider, which stands where the address says."""
    key = f"{PREFIX}try_{place.lesson.key}_{place.index}_slider"
    st.session_state[key] = slider.at(place.moment)
    st.select_slider(
        label, list(slider.stops), key=key, format_func=slider.told,
        on_change=lambda: set_slider(st.session_state[key]),
    )  # fmt: skip


def _ask_order(place: Place, question: OrderAsked, label: str) -> None:
    """A list from which things are taken one after the other."""
    chosen = st.multiselect(
        label, list(question.items), format_func=question.items.__getitem__, key=f"{PREFIX}order_{place.lesson.key}",
        placeholder="Choose them one after the other",
    )  # fmt: skip
    guess: Guessed | None = tuple(chosen) if len(chosen) == len(question.items) else None
    words = "My order" if guess else f"{len(question.items) - len(chosen)} more to choose"
    st.button(words, on_click=take_guess, args=(place, guess), key=f"{PREFIX}go", type="primary", disabled=not guess)


def _lead_on(place: Place) -> None:
    """What stays, and the real page."""
    st.html(_told(f"**What stays:** {place.lesson.words.head['stays']}", "dpviz-stays"))
    onward = place.lesson.onward()
    page = next(one for one in EVERY_PAGE if one.folder == onward.page)
    page_link(page, onward.design, f"Now break it yourself: {page.title}", None, **onward.further)


def _ways(place: Place) -> None:
    """Back, where one is, and on; keys do the same."""
    lesson, number, last = place.lesson, place.index + 1, len(place.lesson.steps)
    with st.container(key=f"{PREFIX}ways", horizontal=True):
        back, on = (
            (lesson.key, number - 1) if number > 1 else ("",),
            (lesson.key, number + 1) if number < last else ("",),
        )
        words = ("← Back", "Next →") if number > 1 else ("← All lessons", "Next →")
        words = words if number < last else (words[0], "All lessons →")
        st.button(words[0], on_click=go_to, args=back, key=f"{PREFIX}back", help="Or the key PageUp.")
        st.html(f'<span class="dpviz-lead">Step {number} of {last}</span>', width="content")
        kind: Literal["primary", "secondary"] = "primary" if place.step.shows(place.moment) else "secondary"
        st.button(words[1], on_click=go_to, args=on, key=f"{PREFIX}next", help="Or the key PageDown.", type=kind)
    _keys(key=f"{PREFIX}keys", data=b"", height=1)


def _for_the_teacher(place: Place) -> None:
    """Notes on the step, folded, and the lesson on paper."""
    lesson = place.lesson
    with st.expander("For the teacher"):
        st.markdown(lesson.words_of(place.step).parts["teacher"])
        make = partial(printed_lesson, lesson, place.moment.seed)
        paper = "Pictures with blanks, and the answers at the end (HTML, A4)", f"dpviz_lesson_{lesson.key}.html", make
        show_files(PREFIX, "This lesson on paper", paper)


def _fold(place: Place, part: str, words: str) -> None:
    """A part of the step that is folded, where it has one."""
    if text := place.lesson.words_of(place.step).parts.get(part):
        with st.expander(words):
            st.markdown(text)
