"""The page of the lessons: every step, every way to guess, links that say something wrong, and the way on."""

import html
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.lesson import LessonState
from dpviz.teaching.texts import inline_html
from pages.ui.navigation import PAGES
from tests.pages.apptest import about, figures, links, markup, move, open_page, press, problems, settings, visit, widget
from tests.teaching.guesses import guesses, write_guess

PLACES = [(key, number) for key, lesson in LESSONS.items() for number in range(1, len(lesson.steps) + 1)]
SLIDER = "lesson_try_one_answer_1_slider"


def open_lesson(lesson: str, step: int = 1, **query: object) -> AppTest:
    """Open a step of a lesson, with further settings of the URL."""
    return open_page("lessons", lesson=lesson, step=step, **query)


def words(app: AppTest) -> str:
    """The words of the page as they are written, with ordinary spaces."""
    return html.unescape(markup(app)).replace("\u00a0", " ")


def buttons(app: AppTest) -> dict[str, Any]:
    """The buttons of the page by their names."""
    return {str(button.key).removeprefix("lesson_"): button for button in app.button}


@pytest.mark.parametrize(("key", "number"), PLACES)
def test_every_step_answers_guesses_and_sliders_at_both_ends(key: str, number: int) -> None:
    lesson = LESSONS[key]
    step = lesson.steps[number - 1]
    app = open_lesson(key, number)
    assert f"Lesson {lesson.head['number']}, step {number} of {len(lesson.steps)}" in words(app)
    assert lesson.head["title"] in words(app) and not problems(app)
    assert list(figures(app)) == ["lesson_picture"]
    if step.question is None:
        assert step.slider is not None
        for stop in (step.slider.stops[0], step.slider.stops[-1]):
            moved = open_lesson(key, number, **{"try": f"{stop:g}"})
            assert inline_html(lesson.answer_text(step, LessonState(step.name, 1, None, stop))) in words(moved)
            assert words(press(moved, "lesson_restore")) == words(app)
        return
    choices = guesses(step)
    for guess in (choices[0], choices[-1]):
        answered = open_lesson(key, number, **{f"guess{number}": write_guess(guess)})
        assert f"Your guess: <b>{step.describe(guess)}" in words(answered)
        assert inline_html(lesson.answer_text(step, LessonState(step.name, 1, guess))) in words(answered)
        again = press(answered, "lesson_again")
        assert words(again) == words(app) and f"guess{number}" not in settings(again)


def test_a_choice_is_a_guess_only_once_its_button_is_pressed() -> None:
    app = open_lesson("one_answer", 3)
    radio = widget(app, "lesson_one_one_answer_2")
    assert radio.value is None and len(radio.options) == 4
    press(app, "lesson_go")  # nothing is chosen
    assert "guess3" not in settings(app) and problems(app) == ["Choose an answer first."]
    for key in LESSONS["one_answer"].steps[2].question.options:  # type: ignore[union-attr]
        app = open_lesson("one_answer", 3)
        widget(app, "lesson_one_one_answer_2").set_value(key)
        assert settings(press(app, "lesson_go"))["guess3"] == key and "Your guess:" in words(app)


def test_a_number_is_guessed_with_a_slider_and_an_order_is_one_of_all() -> None:
    app = move(open_lesson("called_epsilon"), lesson_try_called_epsilon_0_slider=0.9)
    assert settings(app)["try"] == "0.9" and "guess1" not in settings(app)
    assert buttons(app)["go"].label == "My guess: 90 %"
    press(app, "lesson_go")
    assert settings(app)["guess1"] == "0.9" and "88.1 %" in words(app)
    app = open_lesson("best", 2)
    widget(app, "lesson_one_best_1").set_value("geometric.modips.beta_binomial")
    press(app, "lesson_go")
    assert settings(app)["guess2"] == "geometric.modips.beta_binomial" and "Yes." in words(app)


@pytest.mark.parametrize("value", [0, 4, 5])
def test_a_slider_that_moves_is_not_set_back(value: int) -> None:
    """The server sends a slider's value only where it is another one than the reader's: that would fight the hand."""
    app = open_lesson("one_answer", 2)
    before = list(buttons(app))
    assert buttons(app)["restore"].disabled  # in its place from the first
    slider = widget(app, SLIDER)
    move(app, **{SLIDER: value})
    assert list(buttons(app)) == before and not buttons(app)["restore"].disabled
    moved = widget(app, SLIDER)
    assert moved.value == value and not moved.proto.set_value and moved.proto.id == slider.proto.id
    restored = widget(press(app, "lesson_restore"), SLIDER)
    assert restored.proto.set_value and restored.value == LESSONS["one_answer"].steps[1].slider.start  # type: ignore[union-attr]


def test_the_list_leads_into_every_lesson_and_every_lesson_back() -> None:
    app = open_page("lessons")
    for key, lesson in LESSONS.items():
        assert lesson.head["title"] in buttons(app)[f"begin_{key}"].label
        assert lesson.head["answers"] in words(app)
        press(app, f"lesson_begin_{key}")
        for number in range(1, len(lesson.steps) + 1):
            assert f"step {number} of" in words(app)
            press(app, "lesson_next")
        following = list(LESSONS)[int(lesson.head["number"]) :][:1]  # the next lesson, and after the last one the list
        assert settings(app) == ({"lesson": following[0]} if following else {})
        app = open_page("lessons")
        press(press(press(press(app, f"lesson_begin_{key}"), "lesson_next"), "lesson_back"), "lesson_back")
        assert settings(app) == {}


def test_back_and_next_have_keys_and_no_tooltip_that_would_lie_on_the_text() -> None:
    app = open_lesson("one_answer", 2)
    back, following = (buttons(app)[name].proto for name in ("back", "next"))
    assert (back.shortcut, following.shortcut) == ("pageup", "pagedown") and not (back.help or following.help)


def test_another_lesson_begins_without_guesses_and_another_step_keeps_them() -> None:
    app = open_lesson("one_answer", 1, guess1="3", seed=9)
    press(press(app, "lesson_next"), "lesson_back")
    assert settings(app)["guess1"] == "3"
    press(press(app, "lesson_back"), "lesson_begin_best")
    assert settings(app) == {"lesson": "best", "seed": "9"}


def test_another_seed_draws_other_intervals() -> None:
    app = open_lesson("too_sure", 3)
    before = words(app)
    assert before != words(press(app, "lesson_draw")) == words(open_lesson("too_sure", 3, seed=2))
    assert settings(app)["seed"] == "2"


WRONG = [
    ({"lesson": "foo"}, "lesson = foo: it must be one of one_answer"),
    ({"lesson": "best", "step": "9"}, "step = 9: this lesson has the steps 1 to 4."),
    ({"lesson": "best", "step": "foo"}, "step = foo"),
    ({"lesson": "best", "seed": "-1"}, "seed = -1"),
    ({"lesson": "best", "guess1": "1.23"}, "guess1 = 1.23: it must be one of the 23 numbers"),
    ({"lesson": "best", "guess2": "modips.modips.modips"}, "guess2 = modips.modips.modips: it must be one of"),
    ({"lesson": "best", "step": "3", "guess3": "1"}, "guess3 = 1: nothing is asked in this step."),
    ({"lesson": "best", "guess9": "1"}, "guess9 = 1: nothing is asked in this step."),
    ({"lesson": "best", "step": "3", "try": "<b>"}, "try = <b>: it must be one of the 14 numbers"),
    ({"lesson": "best", "step": "2", "try": "1"}, "try = 1: this step has no slider."),
    ({"lesson": "best", "guess1": "9" * 5000}, "guess1"),
]


@pytest.mark.parametrize(("query", "sentence"), WRONG, ids=[sentence[:30] for _, sentence in WRONG])
def test_what_a_link_cannot_say_is_a_sentence_and_leaves_the_url(query: dict[str, str], sentence: str) -> None:
    app = open_page("lessons", **query)
    (problem,) = problems(app)
    assert problem.startswith("Ignored an invalid value in the link, ") and sentence in problem and len(problem) < 1000
    assert ("The best there is" in words(app)) or query["lesson"] == "foo"
    *_, wrong = query
    assert wrong not in settings(app)


def test_a_lesson_is_marked_once_its_last_step_was_seen() -> None:
    app = open_lesson("one_answer", 3)
    assert "✓ done" not in words(press(press(press(app, "lesson_back"), "lesson_back"), "lesson_back"))
    app = open_lesson("one_answer", 4)
    for _ in range(4):
        press(app, "lesson_back")
    assert words(app).count("✓ done") == 1


@pytest.mark.parametrize("key", LESSONS)
def test_the_page_for_teachers_has_the_notes_on_every_step_and_the_paper(key: str) -> None:
    app = open_page("teachers", teach_lesson=key)
    lesson = LESSONS[key]
    notes = [part.value for part in app.markdown]
    for step, note in zip(lesson.steps, notes[1:], strict=True):
        answer = lesson.text("right", LessonState(step.name))
        assert note.endswith(lesson.script[step.name]["teacher"])
        assert note.startswith(f"- *A right guess is told:* {answer}\n") is (step.question is not None)
    assert sum(int(row.split("|")[1]) for row in notes[0].splitlines() if re.match(r"\| \d", row)) == 90
    (paper,) = app.get("download_button")
    assert "Pictures with blanks" in paper.proto.label
    assert links(app) == {f"Open lesson {lesson.head['number']}": {"lesson": key}}


def test_the_notes_for_teachers_are_not_on_the_projector() -> None:
    app = open_lesson("one_answer", guess1="5", **{"class": "1"})
    assert [fold.label for fold in app.expander] == ["The formula"] and "They will say" not in words(app)
    assert any(label.startswith("For teachers") for label in links(open_page("lessons")))
    assert not links(open_page("lessons", **{"class": "1"}))


def test_files_of_pictures_say_of_which_step_they_are() -> None:
    app = open_lesson("called_epsilon", 2, guess1="0.9")
    head, settings_line, address = about(app)
    assert "Lesson 2, step 2 of 4" in head
    assert settings_line == "settings: Lesson: called_epsilon; Step: 2; Guess: 0.9"
    assert address.endswith("?lesson=called_epsilon&step=2&guess1=0.9")


@pytest.mark.parametrize("key", LESSONS)
def test_the_last_step_leads_to_the_page_with_the_release_of_the_lesson(key: str) -> None:
    lesson = LESSONS[key]
    target = next(page for page in PAGES if page.module == lesson.page)
    app = open_lesson(key, len(lesson.steps), seed=7)
    ((label, query),) = links(app).items()
    assert query[f"{target.prefix}seed"] == "7"
    assert label == f"Now break it yourself: {target.title}" and "What stays:" in words(app)
    app = visit(app, target.module, **query)
    assert not problems(app)
    for name in ("n", "epsilon", "alpha") if lesson.design.prior == "own" else ("n", "epsilon"):
        assert app.session_state[f"{target.prefix}{name}"] == getattr(lesson.design, name)
    if key == "best":  # the errors of the lesson, with all methods that it has
        assert app.session_state["cs_measure"] == "release_error"
        assert "modips" in app.session_state["cs_binary_methods"]


def test_a_link_leads_to_its_step_in_a_session_that_has_been_in_another_lesson() -> None:
    app = open_lesson("one_answer", 3, guess1="3", seed=9)
    visit(visit(app, "game"), "lessons", lesson="best")
    assert settings(app) == {"lesson": "best"}
    press(app, "lesson_next")
    visit(visit(app, "game"), "lessons")  # by the menu, which says nothing
    assert settings(app) == {"lesson": "best", "step": "2"}
