"""A lesson on paper: its pictures with blanks for the guesses, and behind them the answers for who teaches."""

from html import escape

from plotly.offline import get_plotlyjs

from dpviz.charts.theme import FAINT, INK
from dpviz.teaching.lessons.lesson import Lesson, LessonStep
from dpviz.teaching.lessons.questions import RIGHT, Moment, OneAsked, OrderAsked
from dpviz.teaching.lessons.words import words_html

PAPER_WIDTH, PAPER_HEIGHT = 660, 330  # Pixels of a picture
PAPER_STYLE = f"""
@page {{size: A4; margin: 16mm}}
body {{font: 11pt/1.4 sans-serif; color: {INK}; max-width: 178mm; margin: 0 auto; padding: 6mm 0}}
h1 {{font-size: 17pt; margin: 0}} h2 {{font-size: 12pt; margin: 5mm 0 1mm}}
section {{break-inside: avoid; border-top: 1px solid {FAINT}}}
p, ul {{margin: 1mm 0 2mm}}
.blank {{display: inline-block; border-bottom: 1px solid {INK}; min-width: 42mm; height: 6mm}}
.options {{list-style: none; padding: 0}} .options li::before {{content: "☐  "}}
.asked {{break-after: page}} .key {{break-before: page}}
"""


def printed_lesson(lesson: Lesson, seed: int = 1) -> str:
    """Return the lesson as one HTML file for A4, which fetches nothing; the answers are on pages of their own.

    The pictures of steps with a question are those before the answer; what is drawn follows `seed`.
    """
    moment = Moment(seed)
    steps = "".join(_step(lesson, place, step, moment) for place, step in enumerate(lesson.steps, 1))
    answers = "".join(_answer(lesson, place, step, moment) for place, step in enumerate(lesson.steps, 1))
    title = f"Lesson {lesson.words.number}: {lesson.words.title}"
    stays = words_html(lesson.words.head["stays"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{PAPER_STYLE}</style><script>{get_plotlyjs()}</script>"
        f"<h1>{escape(title)}</h1><p>{escape(lesson.words.head['answers'])}</p>{steps}"
        f'<div class="key"><h1>For the teacher: {escape(lesson.words.title)}</h1>{answers}'
        f"<p><b>What stays:</b> {stays}</p><p>Draws: seed {seed}.</p></div></html>\n"
    )


def _step(lesson: Lesson, place: int, step: LessonStep, moment: Moment) -> str:
    """The words of a step, its picture, and the blank for the guess."""
    figure = step.picture(moment).figure
    figure.update_layout(template="plotly_white", width=PAPER_WIDTH, height=PAPER_HEIGHT, font={"color": INK})
    picture = figure.to_html(include_plotlyjs=False, full_html=False, config={"staticPlot": True})
    said = f"<p>{words_html(lesson.text(step, moment))}</p>"
    kind = "" if step.question is None else ' class="asked"'  # what comes next may tell the answer
    return f"<section{kind}><h2>{place}</h2>{said}{_blank(lesson, step, moment)}{picture}</section>"


def _blank(lesson: Lesson, step: LessonStep, moment: Moment) -> str:
    """The question with room for the guess; nothing where nothing is asked."""
    question = step.question
    if question is None:
        return ""
    asked = f"<p><b>{words_html(lesson.asked(step, moment))}</b></p>"
    if isinstance(question, OneAsked):
        options = "".join(f"<li>{escape(one)}</li>" for one in question.options.values())
        return f'{asked}<ul class="options">{options}</ul>'
    items = ", ".join(question.items.values()) + ": " if isinstance(question, OrderAsked) else ""
    return f'{asked}<p>{escape(items)}<span class="blank"></span></p>'


def _answer(lesson: Lesson, place: int, step: LessonStep, moment: Moment) -> str:
    """What is right and why, or what is said of the picture, and the notes."""
    words, numbers = lesson.words_of(step), dict(step.numbers(moment))
    said = words.said("shows" if step.question is None else RIGHT, numbers)
    notes = "".join(f"<li>{words_html(one.removeprefix('- '))}</li>" for one in words.parts["teacher"].splitlines())
    return f"<section><h2>{place}</h2><p>{words_html(said)}</p><ul>{notes}</ul></section>"
