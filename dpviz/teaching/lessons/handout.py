"""A lesson on paper: its pictures with blanks for the guesses, and behind them the answers for who teaches."""

from html import escape

from plotly.offline import get_plotlyjs

from dpviz.charts.theme import FAINT, INK
from dpviz.teaching.lessons.lesson import RIGHT, Lesson, LessonState, LessonStep
from dpviz.teaching.texts import inline_html

WIDTH, HEIGHT = 660, 330  # pixels of a picture
ON_PAPER = "Sliders are on the screen; on paper they stand at their start."
STYLE = f"""
@page {{size: A4; margin: 16mm}}
body {{font: 11pt/1.4 sans-serif; color: {INK}; max-width: 178mm; margin: 0 auto; padding: 6mm 0}}
h1 {{font-size: 17pt; margin: 0}} h2 {{font-size: 12pt; margin: 5mm 0 1mm}}
section {{break-inside: avoid; border-top: 1px solid {FAINT}}}
p, ul {{margin: 1mm 0 2mm}}
.blank {{display: inline-block; border-bottom: 1px solid {INK}; min-width: 42mm; height: 6mm}}
.options {{list-style: none; padding: 0}} .options li::before {{content: "☐  "}}
.asked {{break-after: page}} .key {{break-before: page}}
"""


def lesson_handout(lesson: Lesson, seed: int = 1) -> str:
    """A lesson as one HTML file for A4, which fetches nothing; the answers are on pages of their own.

    Parameters
    ----------
    lesson : Lesson
        Pictures of its steps with a question are those before the answer.
    seed : int, optional
        Of what is drawn.
    """
    places = [(place, step, LessonState(step.name, seed)) for place, step in enumerate(lesson.steps, 1)]
    steps = "".join(_step_html(lesson, *place) for place in places)
    answers = "".join(_answer_html(lesson, *place) for place in places)
    title, head = escape(f"Lesson {lesson.script.number}: {lesson.script.title}"), lesson.script.head
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script>"
        f"<h1>{title}</h1><p>{escape(head['answers'])} {ON_PAPER}</p>{steps}"
        f'<div class="key"><h1>For the teacher: {escape(lesson.script.title)}</h1>{answers}'
        f"<p><b>What stays:</b> {inline_html(head['stays'])}</p><p>Draws: seed {seed}.</p></div></html>\n"
    )


def _step_html(lesson: Lesson, place: int, step: LessonStep, state: LessonState) -> str:
    """The words of a step, its picture, and the blank for the guess."""
    figure = step.picture(state)
    figure.update_layout(template="plotly_white", width=WIDTH, height=HEIGHT, font={"color": INK})
    picture = figure.to_html(include_plotlyjs=False, full_html=False, config={"staticPlot": True})
    text = f"<p>{inline_html(lesson.text('text', state))}</p>"
    if step.question is None:
        return f"<section><h2>{place}</h2>{text}{picture}</section>"
    text += f"<p><b>{inline_html(lesson.text('asks', state))}</b></p>"
    if step.slider is not None:
        text += '<p><span class="blank"></span></p>'
    else:
        options = "".join(f"<li>{escape(option)}</li>" for option in step.question.options.values())
        text += f'<ul class="options">{options}</ul>'
    return f'<section class="asked"><h2>{place}</h2>{text}{picture}</section>'  # what comes next may tell the answer


def _answer_html(lesson: Lesson, place: int, step: LessonStep, state: LessonState) -> str:
    """What is right and why, or what is said of the picture, and the notes."""
    answer = lesson.text("shows" if step.question is None else RIGHT, state)
    notes = "".join(
        f"<li>{inline_html(note.removeprefix('- '))}</li>"
        for note in lesson.script.steps[step.name]["teacher"].splitlines()
    )
    return f"<section><h2>{place}</h2><p>{inline_html(answer)}</p><ul>{notes}</ul></section>"
