"""Pages that refine: what is drawn at once, when a page runs again, and who waits for whom."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.ui import background
from pages.ui.background import call_at_rest, latest, progress, refining, refresh_after, result
from tests.core import streams
from tests.pages.apptest import mark, move, open_page, settings, sound, texts
from tests.pages.cases import CASES

LOG: list[Any] = []
DRAWN: list[Callable[[], object]] = []
"""Pages by their places: a script under AppTest takes no function."""

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def empty_log(monkeypatch: pytest.MonkeyPatch) -> None:
    LOG.clear()
    monkeypatch.setattr(background, "SHORTEST_PAUSE_S", 0.05)


def run(draw: Callable[[], object], *, refines: bool = True, **query: str) -> AppTest:
    """A page that a function draws, in the app's way or by itself, once nothing on it goes on."""
    DRAWN.append(draw)

    def script(place: int, refines: bool) -> None:
        from contextlib import nullcontext

        from pages.ui.background import refining
        from tests.pages.test_background import DRAWN

        with refining() if refines else nullcontext():
            DRAWN[place]()

    kwargs = {"place": len(DRAWN) - 1, "refines": refines}
    app = AppTest.from_function(script, kwargs=kwargs, default_timeout=120)
    app.query_params.update(query)
    return app.run()


def add(number: int, other: int = 0) -> int:
    LOG.append(("add", number, other))
    if number < 0:
        raise ValueError(f"number must be at least 0; got {number}.")
    return number + other


@dataclass(frozen=True)
class Adder:
    """Something with a method, told from others by its value."""

    base: int

    def plus(self, number: int) -> int:
        return add(self.base, number)


# Results


def test_a_page_by_itself_waits_for_the_last_result() -> None:
    sound(run(lambda: LOG.append(progress(streams.count, 4, 0.031)), refines=False))
    assert LOG == [(4, True)]


def test_a_page_is_drawn_with_what_is_known_and_again_for_every_news() -> None:
    app = run(lambda: (LOG.append(progress(streams.count, 4, 0.2)), st.caption(str(LOG[-1]))))
    assert len(LOG) >= 2 and LOG[0] in ((None, False), (1, False)) and LOG[-1] == (4, True)
    known = [value or 0 for value, _ in LOG]
    assert known == sorted(known) and [is_last for _, is_last in LOG].count(True) == 1
    assert texts(app) == ["(4, True)"]


def test_what_is_complete_at_once_is_drawn_once() -> None:
    run(lambda: LOG.append(progress(streams.count, 3, timeout=5.0)))
    assert LOG == [(3, True)]
    run(lambda: LOG.append(progress(streams.count, 3, timeout=0.0)))  # another reader
    assert LOG == [(3, True)] * 2


def test_two_readers_share_one_computation(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    for _ in range(2):
        run(lambda: LOG.append(latest(streams.count_in_file, file, 3, 0.01)), refines=False)
    assert LOG == [3, 3] and len(file.read_text().split("\n")) == 2


def test_equal_questions_are_computed_once_and_others_anew() -> None:
    calls: list[Callable[[], int]] = [
        lambda: result(add, 1, other=2), lambda: result(add, 1, other=2), lambda: result(add, 1, other=3),
        lambda: result(Adder(5).plus, 1), lambda: result(Adder(5).plus, 1), lambda: result(Adder(6).plus, 1),
    ]  # fmt: skip
    found: list[int] = []
    for call in calls:
        sound(run(lambda call=call: found.append(call())))  # type: ignore[misc]
    assert found == [3, 3, 4, 6, 6, 7]
    assert LOG == [("add", 1, 2), ("add", 1, 3), ("add", 5, 1), ("add", 6, 1)]


def test_a_refusal_is_raised_where_it_is_drawn_and_is_not_kept() -> None:
    def draw() -> None:
        try:
            st.caption(str(result(add, -1)))
        except ValueError as error:
            st.caption(str(error))

    for _ in range(2):
        assert texts(sound(run(draw))) == ["number must be at least 0; got -1."]
    assert len(LOG) == 2


def test_a_stream_that_fails_ends_in_its_error() -> None:
    def draw() -> None:
        try:
            LOG.append(progress(streams.fail))
        except ValueError as error:
            LOG.append(str(error))

    sound(run(draw))
    assert LOG[-1] == "2 is refused." and LOG.count("2 is refused.") == 1
    assert "2 is refused" in str(run(lambda: latest(streams.fail), refines=False).exception[0].message)


# Runs


def test_a_page_runs_again_after_a_time_and_the_earliest_counts() -> None:
    start = time.monotonic()

    def draw() -> None:
        LOG.append(time.monotonic() - start)
        if len(LOG) < 3:
            refresh_after(30.0)
            refresh_after(0.2)

    sound(run(draw))
    assert len(LOG) == 3 and LOG[1] - LOG[0] >= 0.2 and LOG[2] < 20


def test_what_waits_for_rest_is_called_once_after_the_page_and_the_last_of_it() -> None:
    def draw() -> None:
        call_at_rest(lambda: LOG.append("first"), 0.0)
        call_at_rest(lambda: LOG.append("last"), time.monotonic() + 0.1)
        LOG.append("drawn")

    run(draw)
    assert LOG == ["drawn", "last"]
    run(draw, refines=False)
    assert LOG[2:] == ["first", "last", "drawn"]


def test_a_page_that_breaks_lets_others_draw() -> None:
    assert run(lambda: 1 / 0).exception
    sound(run(lambda: LOG.append("drawn")))
    assert LOG == ["drawn"]


def draw_in_thread(draw: Callable[[], object]) -> threading.Thread:
    """Draw a page beside others, without a browser."""

    def target() -> None:
        with refining():
            draw()

    thread = threading.Thread(target=target)
    thread.start()
    return thread


def test_pages_are_drawn_one_at_a_time() -> None:
    def draw() -> None:
        LOG.append("begin")
        time.sleep(0.05)
        LOG.append("end")

    for thread in [draw_in_thread(draw) for _ in range(4)]:
        thread.join(30)
    assert LOG == ["begin", "end"] * 4


def slow_answer(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_who_waits_for_an_answer_lets_others_draw() -> None:
    has_begun = threading.Event()

    def wait() -> None:
        has_begun.set()
        LOG.append(result(slow_answer, 0.5))

    thread = draw_in_thread(wait)
    assert has_begun.wait(30)
    draw_in_thread(lambda: LOG.append("drawn")).join(30)
    thread.join(30)
    assert LOG == ["drawn", 0.5]


# The app


def test_the_main_script_draws_the_page_of_its_url_until_it_is_complete() -> None:
    app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=120)
    app.query_params.update({"home_n": "20", "home_epsilon": "3"})
    assert mark(sound(app.run())) == "ε = 3"
    move(app, home_epsilon=2.0)
    assert settings(app) == {"home_n": "20", "home_epsilon": "2"}


@pytest.mark.parametrize("module", ["minimum_priors", "coverage", "curator", "compare_synthesizers", "budget"])
def test_a_page_that_refines_ends_as_one_that_waits(module: str) -> None:
    """The same sentences, tables and captions, once everything is there."""
    query = CASES[module].small | {f"{CASES[module].page.prefix}epsilon": "1.3"}
    app = sound(run(lambda: CASES[module].module.page(), **query))
    assert texts(app) == texts(open_page(module, **query)) and settings(app) == query
