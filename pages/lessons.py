"""Lessons: steps that ask for a guess, show the answer beside it, and lead on to the page that they are about."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from dpviz.core.escape import single_line
from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons import lesson as lessons
from dpviz.teaching.texts import inline_html
from pages import ui
from pages.ui.navigation import LESSONS as PAGE
from pages.ui.navigation import PAGES, TEACHERS

PREFIX = PAGE.prefix
NUMBERS = ui.declared_numbers("lessons")
GUESSES = [f"guess{number}" for number in range(1, int(NUMBERS["step"].maximum) + 1)]
SLIDER_KEY = "try"
DONE = f"{PREFIX}done"  # key of the names of the lessons whose last step was reached
SETTINGS = {  # by names without the prefix of the page, so that links can be read aloud
    "lesson": ui.choice_setting(LESSONS, None, "Lesson"),
    **ui.number_settings(NUMBERS, ""),
    **{key: ui.text_setting("", "Guess") for key in GUESSES},
    SLIDER_KEY: ui.text_setting("", "Slider"),
}


class Place(NamedTuple):
    """A step of a lesson, how many are before it, and the guess and the slider of the reader who is there."""

    lesson: lessons.Lesson
    n_before: int
    step: lessons.LessonStep
    state: lessons.LessonState


def read_place() -> Place | None:
    """Where the reader is, None on the list of lessons; settings that cannot be are ignored, with a sentence."""
    state = st.session_state
    lesson = LESSONS.get(state["lesson"] or "")
    if lesson is None:
        return None
    if state["step"] > len(lesson.steps):
        ignore("step", f"this lesson has the steps 1 to {len(lesson.steps)}.")
    index = state["step"] - 1
    step = lesson.steps[index]
    controls = [*(step.question and (step.slider or step.question) for step in lesson.steps), *[None] * len(GUESSES)]
    missing = "nothing is asked in this step."
    guesses = [_read_text(key, control, missing) for key, control in zip(GUESSES, controls, strict=False)]
    slider_value = _read_text(SLIDER_KEY, step.slider, "this step has no slider.")
    return Place(lesson, index, step, lessons.LessonState(step.name, state["seed"], guesses[index], slider_value))


def _read_text(key: str, control: Any, missing: str) -> Any:
    """Value of a text setting, None where it is empty, invalid, or, as `missing` says, has no place here."""
    text = st.session_state[key]
    if not text:
        return None
    try:
        if control is None:
            raise ValueError(missing)
        return control.parse(text)
    except ValueError as error:
        ignore(key, str(error))
        return None


def ignore(key: str, reason: str) -> None:
    """Set a setting to its default, and say why."""
    text = single_line(str(st.session_state[key]))
    st.session_state[key] = SETTINGS[key].fresh
    ui.report_problem(key, f"Ignored an invalid value in the link, {key} = {text}: {reason}")


def _step_values(lesson: str, number: int = 1) -> dict[str, Any]:
    """Settings of a step of a lesson, or with no name of the list; another lesson begins without any guess."""
    guesses = {} if st.session_state["lesson"] == lesson else dict.fromkeys(GUESSES, "")
    return guesses | {"lesson": lesson or None, "step": number, SLIDER_KEY: ""}


def button(label: str, name: str, values: Mapping[str, Any], **rest: Any) -> None:
    st.button(label, key=PREFIX + name, on_click=st.session_state.update, args=(values,), **rest)


def _copy_value(widget: str, key: str) -> None:
    """Copy the value of a widget to the setting that the URL has of it."""
    value = st.session_state[widget]
    if value is None:
        ui.report_problem(key, "Choose an answer first.")
    else:
        st.session_state[key] = value if isinstance(value, str) else f"{value:g}"


def _show_text(text: str, kind: str = "") -> None:
    """Draw a paragraph of a lesson; `kind` is a CSS class."""
    ui.note(inline_html(text), f"dpviz-told {kind}")


def _show_list() -> None:
    done = st.session_state.get(DONE, set())
    with st.container(key=f"{PREFIX}list"):
        for key, lesson in LESSONS.items():
            head = lesson.head
            with st.container(key=f"{PREFIX}card_{key}", border=True, gap="xsmall"):
                title = f"{head['number']} · {head['title']}"
                button(title, f"begin_{key}", _step_values(key), type="tertiary")
                answers = escape(head["answers"])
                note = "✓ done" if key in done else f"{escape(head['minutes'])} minutes"
                st.html(f'<p class="dpviz-told">{answers}<br><small>{note}</small></p>')
    if not ui.class_mode():
        ui.page_link(TEACHERS, {}, "For teachers: a plan, and notes on every lesson")


def _show_step(place: Place) -> None:
    """Draw words and question, beside them the picture, and below them the answer."""
    lesson, _, step, state = place
    answer = lesson.answer_text(step, state)
    with st.container(key="lesson"):
        with st.container(key=f"{PREFIX}question"):
            _show_text(lesson.text("text", state), "" if answer else "dpviz-answer")
            _show_question(place)
        with st.container(key=f"{PREFIX}figure"):
            ui.show_figure(step.picture(state), "picture", lesson.picture_text(state), height=430, hero=True)
        with st.container(key=f"{PREFIX}answer"):
            if answer:
                _show_text(answer, "dpviz-answer")
            _show_ways(place)
            formula = lesson.script[step.name].get("formula")
            if formula and step.is_answered(state):
                st.expander("The formula").markdown(formula)


def _show_question(place: Place) -> None:
    """Draw what is asked and what answers it, or the guess; or the slider to play with."""
    guess_key = GUESSES[place.n_before]
    step, question = place.step, place.step.question
    label = place.lesson.text("asks", place.state)
    if question is not None and place.state.guess is not None:
        _show_text(f"**{label}** Your guess: **{step.describe(place.state.guess)}**")
        button("Guess again", "again", {guess_key: ""})
    elif step.slider is not None:
        _show_slider(place, step.slider, label or step.slider.label)
    elif question is not None:
        widget = f"{PREFIX}one_{place.lesson.key}_{place.n_before}"
        options = question.options
        args = (widget, guess_key)
        with st.form(f"{PREFIX}form", border=False):  # moving among the options with the arrow keys is no guess yet
            st.radio(label, list(options), index=None, format_func=options.__getitem__, key=widget)
            st.form_submit_button("My guess", key=f"{PREFIX}go", type="primary", on_click=_copy_value, args=args)


def _show_slider(place: Place, slider: lessons.Slider, label: str) -> None:
    """Draw a slider, and the button that takes its value for the guess, or brings it back."""
    key = f"{PREFIX}try_{place.lesson.key}_{place.n_before}_slider"
    step, state = place.step, place.state
    value = slider.value(state)
    if st.session_state.get(key) != value:  # setting what it has would pull it back under the reader's hand
        st.session_state[key] = value
    args = (key, SLIDER_KEY)
    st.select_slider(label, list(slider.stops), key=key, format_func=slider.format, on_change=_copy_value, args=args)
    with st.container(horizontal=True):
        if step.question is not None:
            values = {GUESSES[place.n_before]: f"{value:g}"}
            button(f"My guess: {slider.format(value)}", "go", values, type="primary")
            return
        button("Back to the step", "restore", {SLIDER_KEY: ""}, disabled=state.slider_value is None)
        if step.is_random:
            button("Draw again", "draw", {"seed": (state.seed + 1) % int(NUMBERS["seed"].maximum)})


def _show_ways(place: Place) -> None:
    """Draw the ways back and on; at the end of a lesson first what stays, and the page that it is about."""
    lesson, number = place.lesson, place.n_before + 1
    is_answered = place.step.is_answered(place.state)
    label, following = "Next →" if is_answered else "Skip →", _step_values(lesson.key, number + 1)
    if number == len(lesson.steps):
        if is_answered:
            st.session_state.setdefault(DONE, set()).add(lesson.key)
        _show_text(f"**What stays:** {lesson.head['stays']}", "dpviz-stays")
        target = next(page for page in PAGES if page.module == lesson.page)
        ui.page_link(target, lesson.link_settings(place.state.seed), f"Now break it yourself: {target.title}")
        later = next(iter(list(LESSONS.values())[int(lesson.head["number"]) :]), None)
        label = f"Next lesson: {later.head['title']} →" if later else "All lessons →"
        following = _step_values(later.key if later else "")
    previous = _step_values(lesson.key, number - 1) if number > 1 else _step_values("")
    with st.container(key=f"{PREFIX}ways", horizontal=True, vertical_alignment="center"):
        button("← Back" if number > 1 else "← All lessons", "back", previous, shortcut="PageUp")
        button(label, "next", following, shortcut="PageDown", type="primary" if is_answered else "secondary")


def page() -> None:
    ui.load(PAGE, SETTINGS)  # its heading is that of the lesson
    state = st.session_state
    if ui.visit().is_entered and ui.visit().is_linked:  # a link is that of a fresh page
        state.update({key: setting.fresh for key, setting in SETTINGS.items() if key not in st.query_params})
    place = read_place()
    head = PAGE
    if place is not None:
        words = place.lesson.head
        title = f"Lesson {words['number']}, step {place.n_before + 1} of {len(place.lesson.steps)}"
        head = replace(PAGE, question=words["title"], title=title, lead="")
    ui.visit().valid[PAGE.path] = (None, ui.query_of(SETTINGS))
    ui.open_page(head, SETTINGS, is_loaded=True)
    ui.show_problems()
    if place is None:
        _show_list()
    else:
        _show_step(place)
    ui.close_page()
