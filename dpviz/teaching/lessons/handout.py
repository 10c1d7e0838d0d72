"""A lesson on paper: its pictures with blanks for the guesses, and behind them the answers for who teaches."""

import gzip
from base64 import b64encode
from typing import Any

from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dpviz.charts.theme import FAINT, INK
from dpviz.export.templates import render
from dpviz.teaching.lessons.lesson import RIGHT, Lesson, LessonState, LessonStep
from dpviz.teaching.texts import inline_html

LAYOUT = {"template": "plotly_white", "width": 660, "height": 330, "font": {"color": INK}}  # pixels


def lesson_handout(lesson: Lesson, seed: int = 1) -> str:
    """A lesson as one HTML file for A4, which fetches nothing; the answers are on pages of their own.

    Parameters
    ----------
    lesson : Lesson
        Pictures of its steps with a question are those before the answer.
    seed : int, optional
        Of what is drawn.
    """
    head = lesson.head
    return render(
        "teaching/lessons/handout.html",
        head=head,
        stays=Markup(inline_html(head["stays"])),
        steps=[_printed_step(lesson, step, LessonState(step.name, seed)) for step in lesson.steps],
        seed=seed,
        plotly=b64encode(gzip.compress(get_plotlyjs().encode())).decode(),
        ink=INK,
        faint=FAINT,
    )


def _printed_step(lesson: Lesson, step: LessonStep, state: LessonState) -> dict[str, Any]:
    """The words of a step, its picture, its question, and for the teacher what is right and the notes."""
    words = {"text": "text", "question": "asks", "answer": "shows" if step.question is None else RIGHT}
    notes = lesson.script[step.name]["teacher"].splitlines()
    texts = {name: lesson.text(part, state).replace("Move ", "On the screen, move ") for name, part in words.items()}
    return {name: Markup(inline_html(text)) for name, text in texts.items()} | {
        "options": list(step.question.options.values()) if step.question is not None else [],
        "notes": [Markup(inline_html(note.removeprefix("- "))) for note in notes],
        "picture": Markup(step.picture(state).update_layout(LAYOUT).to_json().replace("</", "<\\/")),
    }
