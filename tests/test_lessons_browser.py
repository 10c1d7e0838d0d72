"""The lessons in real Chromium: by keys alone, by the browser's history, by a copied address, on any screen."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.lesson import Lesson
from tests.browser import settle
from tests.look import OPPOSITE, TELEPHONE, faults, put_on
from tests.visit import visiting

pytestmark = pytest.mark.browser

SMALL_SCREEN: ViewportSize = {"width": 1024, "height": 768}
TOO_HIGH = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return main.scrollHeight - main.clientHeight;
}"""
AT_REST = """(words) => document.querySelector('.st-key-lesson_ways')?.innerText.includes(words)
  && document.querySelector('[data-testid=stApp][data-test-script-state=notRunning] [role=figure][data-drawn]')"""
JUDGED = {"one_answer", "too_sure", "best"}  # Lessons with a choice, with numbers, and with an order
SHOWN = """() => [...document.querySelectorAll('.dpviz-told')].map((one) => one.innerText)
  .concat([document.querySelector('[role=figure]').ariaLabel])"""


def words_of(page: Page) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(page.url).query))


def at_step(page: Page, number: int) -> None:
    expect(page.locator(".st-key-lesson_ways")).to_contain_text(f"Step {number} of")
    settle(page)


def address_of(lesson: Lesson) -> str:
    """The address of a lesson with a guess, mostly a wrong one, wherever one is asked for."""
    guesses = {
        number: step.question.write(step.question.guesses()[0])
        for number, step in enumerate(lesson.steps, 1)
        if step.question is not None
    }
    return f"lessons?lesson={lesson.key}" + "".join(f"&guess{number}={text}" for number, text in guesses.items())


def test_a_lesson_goes_by_keys_alone_and_back_and_forth_in_history_and_by_its_address(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}/lessons?lesson=called_epsilon", SMALL_SCREEN) as page:
        at_step(page, 1)
        entries = page.evaluate("history.length")
        for _ in range(30):  # to the slider, by the Tab key alone
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.type") == "range":
                break
        page.keyboard.press("End")
        expect(page.get_by_role("button", name="My guess: 100 %")).to_be_visible()
        settle(page)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".st-key-lesson_said")).to_contain_text("88.1 %")
        settle(page)
        assert words_of(page) == {"lesson": "called_epsilon", "guess1": "1", "try": "1"}
        assert page.evaluate("history.length") == entries  # a guess is no place of its own
        guessed = page.evaluate(SHOWN)
        page.keyboard.press("PageDown")
        at_step(page, 2)
        assert words_of(page) == {"lesson": "called_epsilon", "step": "2", "guess1": "1"}
        assert page.evaluate("history.length") == entries + 1
        page.keyboard.press("PageDown")
        at_step(page, 3)
        page.go_back()
        at_step(page, 2)
        page.go_back()
        at_step(page, 1)
        assert words_of(page) == {"lesson": "called_epsilon", "guess1": "1", "try": "1"}
        assert page.evaluate(SHOWN) == guessed
        page.go_forward()
        at_step(page, 2)
        page.go_forward()
        at_step(page, 3)
        assert page.evaluate("history.length") == entries + 2
        address = page.url
        page.keyboard.press("PageUp")
        at_step(page, 2)
        page.keyboard.press("PageUp")
        at_step(page, 1)
        page.keyboard.press("PageUp")
        expect(page.get_by_role("button", name="1 · What one answer changes")).to_be_visible()
        expect(page).to_have_url(f"{server}/lessons")
        assert faults(page) == []
        page.get_by_role("button", name="7 · The best there is").press("Enter")
        at_step(page, 1)
        assert words_of(page) == {"lesson": "best"}
        page.goto(address)
        at_step(page, 3)
        assert page.url == address
        page.goto(f"{server}/lessons?lesson=called_epsilon&guess1=1&try=1")
        at_step(page, 1)
        assert page.evaluate(SHOWN) == guessed


def test_a_choice_and_an_order_are_made_by_keys_and_a_step_is_restored(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/lessons?lesson=one_answer", SMALL_SCREEN) as page:
        page.get_by_role("radio", name="1 yes, 4 no").press(" ")
        expect(page.locator(".st-key-lesson_said")).to_contain_text("1.34")
        settle(page)
        page.goto(f"{server}/lessons?lesson=best&step=2")
        settle(page)
        field = page.get_by_role("combobox")
        for _ in range(3):
            field.press("ArrowDown")
            page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="My order").press("Enter")
        expect(page.locator(".st-key-lesson_said")).to_contain_text("16.7")
        settle(page)
        page.keyboard.press("PageDown")
        at_step(page, 3)
        before = page.evaluate(SHOWN)
        page.locator("[class*=_slider] input").press("ArrowRight")
        expect(page.get_by_role("button", name="Back to the step")).to_be_visible()
        settle(page)
        assert page.evaluate(SHOWN) != before
        page.get_by_role("button", name="Back to the step").press("Enter")
        expect(page.get_by_role("button", name="Back to the step")).not_to_be_visible()
        settle(page)
        assert page.evaluate(SHOWN) == before
        assert words_of(page)["guess2"]


def test_no_step_of_any_lesson_scrolls_and_all_of_them_are_for_everybody(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/lessons?lesson=best", SMALL_SCREEN) as page:
        for place, lesson in enumerate(LESSONS.values()):
            page.set_viewport_size(SMALL_SCREEN)
            page.goto(f"{server}/{address_of(lesson)}")
            for number in range(1, len(lesson.steps) + 1):
                page.wait_for_function(AT_REST, arg=f"Step {number} of")
                page.wait_for_function(f"({TOO_HIGH})() <= 0")  # once the screen has its new size everywhere
                assert page.locator(".dpviz-problem").count() == 0
                if number < len(lesson.steps):
                    page.keyboard.press("PageDown")
            if lesson.key in JUDGED:
                put_on(page, *OPPOSITE[place % len(OPPOSITE)])
                assert faults(page) == [], lesson.key
        page.set_viewport_size(TELEPHONE)
        page.get_by_role("link", name="Now break it yourself").click()
        page.wait_for_url("**/compare_synthesizers?*")
        expect(page.locator(".dpviz-answer").first).to_be_visible()
        settle(page)
        page.go_back()
        at_step(page, 4)
