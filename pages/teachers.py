"""For teachers: a plan of ninety minutes, and of each lesson the notes and a version on paper."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.handout import lesson_handout
from dpviz.teaching.lessons.lesson import RIGHT, LessonState
from pages import ui
from pages.ui import navigation

PAGE = navigation.TEACHERS
TITLES = {key: f"{lesson.head['number']} · {lesson.head['title']}" for key, lesson in LESSONS.items()}
SETTINGS = {f"{PAGE.prefix}lesson": ui.choice_setting(TITLES, next(iter(TITLES)), "Lesson")}


def _show_notes(key: str) -> None:
    """Draw what each step of a lesson is about, its notes, and the lesson on paper."""
    lesson = LESSONS[key]
    ui.note(f"{lesson.head['minutes']} minutes. {lesson.head['answers']}")
    for number, step in enumerate(lesson.steps, 1):
        question, answer = (lesson.text(part, LessonState(step.name)) for part in ("asks", RIGHT))
        ui.heading(f"Step {number}: {question or 'a slider to move'}")
        st.markdown(f"- *A right guess is told:* {answer}\n" * bool(answer) + lesson.script[step.name]["teacher"])
    label = "Pictures with blanks, and the answers at the end (HTML, A4)"
    handout = (label, f"dpviz_lesson_{key}.html", partial(lesson_handout, lesson))
    ui.show_files(("This lesson on paper", handout))
    target = replace(navigation.LESSONS, prefix="")  # its settings have none
    ui.page_link(target, {"lesson": key}, f"Open lesson {lesson.head['number']}")


def page() -> None:
    ui.open_page(PAGE, SETTINGS)
    ui.show_problems()
    st.markdown(ui.page_text(PAGE.module))
    ui.heading("Notes on the lessons")
    _show_notes(ui.choice("lesson", TITLES))
    ui.close_page()
