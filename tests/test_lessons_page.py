"""The page of the lessons without a browser: every step, every way to guess, and addresses that are none."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.desk.addresses import address_words
from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.questions import Moment, NumberAsked, OneAsked
from dpviz.teaching.lessons.words import words_html
from pages.components.address import HERE
from pages.components.navigation import EVERY_PAGE
from pages.lessons import SPEC
from tests.pages import open_page, problems

PREFIX = SPEC.prefix
PLACES = [(key, number) for key, lesson in LESSONS.items() for number in range(1, len(lesson.steps) + 1)]


def open_lesson(lesson: str = "", step: int = 1, **address: Any) -> AppTest:
    """The page at an address, the names of which are those of the settings."""
    words = {"lesson": lesson, "step": str(step), **{name: str(value) for name, value in address.items()}}
    return open_page({name: word for name, word in words.items() if word}, path=SPEC.file, prefix=PREFIX)


def said(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(one.proto.body for one in page.get("html")).replace("\u00a0", " ")


def press(page: AppTest, name: str) -> AppTest:
    return page.button(key=PREFIX + name).click().run()


def kept(page: AppTest, name: str) -> Any:
    return page.session_state[PREFIX + name]


@pytest.mark.parametrize(("key", "number"), PLACES)
def test_every_step_answers_every_guess_at_its_ends_and_says_which_it_was(key: str, number: int) -> None:
    lesson = LESSONS[key]
    step = lesson.steps[number - 1]
    page = open_lesson(key, number)
    assert f"Step {number} of {len(lesson.steps)}" in said(page) and not problems(page)
    assert len(page.get("bidi_component")) >= 4
    if step.question is None:
        assert step.slider is not None
        for stop in (step.slider.stops[0], step.slider.stops[-1]):
            moved = open_lesson(key, number, **{"try": f"{stop:g}"})
            assert kept(moved, "try") == f"{stop:g}" and not problems(moved)
            if stop != step.slider.start:
                assert said(moved) != said(page)
            assert kept(press(moved, "restore"), "try") == ""
            assert said(moved) == said(page)
        return
    guesses = list(step.question.guesses())
    for guess in (guesses[0], guesses[-1]):
        text = step.question.write(guess)
        answered = open_lesson(key, number, **{f"guess{number}": text})
        assert not problems(answered)
        assert f"Your guess: <b>{step.question.told(guess)}" in said(answered)
        assert words_html(lesson.said(step, Moment(1, guess))).replace("'", "&#x27;") in said(answered).replace(
            "'", "&#x27;"
        )
        assert press(answered, "again").session_state[f"{PREFIX}guess{number}"] == ""
        assert said(answered) == said(page)


def test_a_guess_is_made_by_a_choice_a_slider_or_an_order() -> None:
    for key, number, kind in (("one_answer", 1, OneAsked), ("called_epsilon", 1, NumberAsked)):
        assert isinstance(LESSONS[key].steps[number - 1].question, kind)
    page = open_lesson("one_answer")
    page.radio(key=f"{PREFIX}one_one_answer_0").set_value("3").run()
    assert kept(page, "guess1") == "3" and "18.1" in said(page)
    page = open_lesson("called_epsilon")
    page.select_slider(key=f"{PREFIX}try_called_epsilon_0_slider").set_value(0.9).run()
    assert (kept(page, "try"), kept(page, "guess1")) == ("0.9", "")
    press(page, "go")
    assert kept(page, "guess1") == "0.9" and "88.1 %" in said(page)
    page = open_lesson("best", 2)
    assert page.button(key=f"{PREFIX}go").disabled
    page.multiselect(key=f"{PREFIX}order_best").set_value(["geometric", "modips", "beta_binomial"]).run()
    press(page, "go")
    assert kept(page, "guess2") == "geometric.modips.beta_binomial" and "Yes." in said(page)


def test_the_list_leads_into_every_lesson_and_every_lesson_back() -> None:
    page = open_lesson()
    for key, lesson in LESSONS.items():
        assert lesson.words.title in page.button(key=f"{PREFIX}begin_{key}").label
        assert lesson.words.head["answers"].replace("'", "&#x27;") in said(page)
        press(page, f"begin_{key}")
        for number in range(1, len(lesson.steps) + 1):
            assert f"Step {number} of" in said(page)
            press(page, "next")
        assert kept(page, "lesson") is None
        press(page, f"begin_{key}")
        press(press(press(page, "next"), "back"), "back")
        assert kept(page, "lesson") is None


def test_another_lesson_begins_without_guesses_and_another_step_keeps_them() -> None:
    page = open_lesson("one_answer", 1, guess1="3", seed=9)
    press(page, "next")
    press(page, "back")
    assert kept(page, "guess1") == "3"
    press(page, "back")
    press(page, "begin_best")
    assert (kept(page, "guess1"), kept(page, "seed")) == ("", 9)


def test_another_seed_draws_other_intervals() -> None:
    page = open_lesson("too_sure", 3)
    before = said(page)
    press(page, "draw")
    assert kept(page, "seed") == 2 and said(page) != before
    assert said(open_lesson("too_sure", 3, seed=2)) == said(page)


WRONG = [
    ({"lesson": "foo"}, "lesson = foo: it must be one of one_answer"),
    ({"lesson": "best", "step": "9"}, "step = 9: this lesson has the steps 1 to 4."),
    ({"lesson": "best", "step": "foo"}, "step = foo"),
    ({"lesson": "best", "seed": "-1"}, "seed = -1"),
    ({"lesson": "best", "guess1": "1.23"}, "guess1 = 1.23: it must be one of the 23 numbers"),
    ({"lesson": "best", "guess2": "modips.modips.modips"}, "guess2 = modips.modips.modips: it must have"),
    ({"lesson": "best", "step": "3", "guess3": "1"}, "guess3 = 1: nothing is asked in this step."),
    ({"lesson": "best", "step": "3", "try": "<b>"}, "try = <b>: it must be one of the 14 numbers"),
    ({"lesson": "best", "step": "2", "try": "1"}, "try = 1: this step has no slider."),
    ({"lesson": "best", "guess1": "9" * 5000}, "guess1"),
]


@pytest.mark.parametrize(("address", "sentence"), WRONG, ids=[sentence[:30] for _, sentence in WRONG])
def test_what_an_address_cannot_say_is_a_sentence(address: dict[str, str], sentence: str) -> None:
    page = open_page(address, path=SPEC.file, prefix=PREFIX)
    told = "\n".join(problems(page))
    assert "Ignored an invalid value in the link, " + sentence in told
    assert (len(told) < 1000 and "Step" in said(page)) or address["lesson"] == "foo"


def test_class_mode_has_the_notes_and_the_paper_for_the_teacher() -> None:
    page = open_lesson("one_answer")
    assert [one.label for one in page.expander] == []
    page = open_lesson("one_answer", guess1="5", **{"class": "1"})
    assert [one.label for one in page.expander] == ["The formula", "For the teacher"]
    assert "They will say" in page.expander[1].markdown[0].value
    (paper,) = page.get("download_button")
    assert "Pictures with blanks" in paper.proto.label


@pytest.mark.parametrize("key", LESSONS)
def test_the_last_step_leads_to_the_page_with_the_release_of_the_lesson(key: str) -> None:
    lesson = LESSONS[key]
    page = open_lesson(key, len(lesson.steps))
    (link,) = page.get("page_link")
    assert link.proto.label.startswith("Now break it yourself: ") and "What stays:" in said(page)
    onward = lesson.onward()
    spec = next(one for one in EVERY_PAGE if one.folder == onward.page)
    words = dict(parse_qsl(link.proto.query_string))
    assert link.proto.page == spec.path and words.items() >= address_words(spec.prefix, onward.design).items()
    opened = open_page(words, path=spec.file, prefix=spec.prefix)
    assert not opened.exception and not problems(opened)
    assert opened.session_state[f"{spec.prefix}n"] == onward.design.n


def test_a_link_leads_to_its_step_in_a_session_that_has_been_in_another_lesson() -> None:
    page = open_lesson("one_answer", 3, guess1="3", seed=9)
    page.session_state[HERE] = "bu_"  # as on a page in between
    page.query_params.clear()
    page.query_params["lesson"] = "best"
    page.run()
    assert (kept(page, "lesson"), kept(page, "step"), kept(page, "guess1"), kept(page, "seed")) == ("best", 1, "", 1)
    press(page, "next")  # whose address is not read again
    assert (kept(page, "lesson"), kept(page, "step")) == ("best", 2)
    page.session_state[HERE] = "bu_"
    page.query_params.clear()
    page.run()  # by the navigation, where nothing is said
    assert (kept(page, "lesson"), kept(page, "step")) == ("best", 2)


def test_a_page_that_has_been_seen_before_the_lessons_opens_with_what_their_link_says() -> None:
    onward = LESSONS["one_answer"].onward()
    target = next(one for one in EVERY_PAGE if one.folder == onward.page)
    page = open_page({f"{target.prefix}n": "7"}, path=target.file, prefix=target.prefix)
    assert page.session_state[f"{target.prefix}n"] == 7
    page.session_state[HERE] = PREFIX
    page.query_params.clear()
    for name, word in address_words(target.prefix, onward.design).items():
        page.query_params[name] = word
    page.run()
    assert page.session_state[target.prefix].valid.design.n == onward.design.n != 7
    assert page.session_state[target.prefix].valid.design.alpha == onward.design.alpha
