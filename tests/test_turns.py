"""Readers' pages are drawn one at a time, in the order in which they were asked for, and nobody keeps the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.components import turns as module
from pages.components.navigation import keep_the_theme, wait_for_the_last_run
from pages.components.turns import BUSY, FADES, SMOOTHING, Turns

FOREVER, SOON = 1000.0, 0.01
PATIENCE = 60


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def wait_for_line(turns: Turns, length: int) -> None:
    """Until so many have the turn or wait for it."""
    wait_for(lambda: len(turns._line) == length)


def test_turns_are_had_one_at_a_time_in_the_order_of_asking() -> None:
    turns, order = Turns(FOREVER), list[int]()
    drawing = threading.Lock()

    def draw(reader: int) -> None:
        with turns.turn():
            assert drawing.acquire(blocking=False)  # nobody else is at it
            order.append(reader)
            drawing.release()

    with ThreadPoolExecutor(8) as pool:
        with turns.turn():
            runs = []
            for reader in range(8):
                runs.append(pool.submit(draw, reader))
                wait_for_line(turns, reader + 2)
            assert order == []
        for run in runs:
            run.result(PATIENCE)
    assert order == list(range(8))


def test_a_turn_that_is_waited_for_or_came_late_is_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    turns = Turns(FOREVER)
    assert not turns.crowded
    with turns.turn():
        assert not turns.crowded  # nobody else
        turns._line.append(threading.Event())
        assert turns.crowded
        turns._line.pop()
    turns._late, turns._came = 1.01 * BUSY, now
    assert turns.crowded
    now += FADES
    assert not turns.crowded


def test_how_late_turns_were_is_forgotten_when_nobody_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who stays behind when a class has left has curves at once, and not after as long as they would have waited."""
    turns, passed = Turns(FOREVER), [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: sum(passed)))
    turns._came = 0.0

    def draw() -> None:
        with turns.turn():
            pass

    with ThreadPoolExecutor(1) as pool:
        with turns.turn():
            run = pool.submit(draw)
            wait_for_line(turns, 2)
            passed.append(0.8)  # seconds that the other one has waited
        run.result(PATIENCE)
    assert turns.late == pytest.approx(SMOOTHING * 0.8)
    passed.append(3 * FADES)
    assert turns.late == pytest.approx(SMOOTHING * 0.8 / 8)


@pytest.mark.parametrize("readers", [1, 4])
def test_a_turn_that_takes_too_long_goes_on_beside_the_next(readers: int) -> None:
    turns, others_are_done = Turns(SOON), threading.Barrier(readers + 1)

    def draw() -> None:
        with turns.turn():
            others_are_done.wait(PATIENCE)  # every one of them is at it before any has ended

    with ThreadPoolExecutor(readers) as pool:
        runs = [pool.submit(draw) for _ in range(readers)]
        with turns.turn():
            others_are_done.wait(PATIENCE)
        for run in runs:
            run.result(PATIENCE)
    wait_for_line(turns, 0)


def test_whoever_is_stopped_passes_the_turn_on() -> None:
    turns = Turns(FOREVER)
    for stopped in (ValueError, KeyboardInterrupt):
        with pytest.raises(stopped), turns.turn():
            raise stopped
        with turns.turn():
            assert len(turns._line) == 1
    assert not turns._line


def test_who_hears_late_that_it_was_its_turn_takes_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timed wait of one thread returns late: meanwhile it had the turn, and lost it to the next, who has gone."""

    class Late(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            found = super().wait(timeout)
            if not found and threading.current_thread().name == "late":
                time.sleep(0.6)
            return found

    monkeypatch.setattr("pages.components.turns.threading.Event", Late)
    turns, broken, had, came = Turns(0.1), list[BaseException](), list[str](), list[str]()

    def draw(seconds: float) -> None:
        came.append(threading.current_thread().name)
        try:
            with turns.turn():
                time.sleep(seconds)
                had.append(threading.current_thread().name)
        except IndexError as wrong:
            broken.append(wrong)

    threads = [threading.Thread(target=draw, args=(0.15,), name="first")]
    threads += [threading.Thread(target=draw, args=(0.0,), name=name) for name in ("late", "last")]
    for place, one in enumerate(threads):
        one.start()
        wait_for(lambda: len(came) > place)  # noqa: B023
    for one in threads:
        one.join(PATIENCE)
    assert not broken
    assert sorted(had) == ["first", "last", "late"]
    assert not turns._line


def test_what_a_whole_run_has_drawn_is_told_where_a_step_begins_before_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)
    monkeypatch.setattr(AppSession, "_clear_queue", AppSession._clear_queue)
    wait_for_the_last_run()
    session = SimpleNamespace(_browser_queue=ForwardMsgQueue())
    drawn, ended = ForwardMsg(), ForwardMsg()
    drawn.metadata.delta_path[:] = [0, 1]
    drawn.delta.fragment_id = "picture"
    drawn.delta.new_element.text.body = "a picture"
    ended.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    for message in (drawn, ended):
        session._browser_queue.enqueue(message)
    AppSession._clear_queue(session, ["picture"])
    assert session._browser_queue._queue == [drawn, ended]
    AppSession._clear_queue(session)
    assert [one.script_finished for one in session._browser_queue._queue] == [ForwardMsg.FINISHED_EARLY_FOR_RERUN]


def test_the_theme_that_is_kept_is_the_one_that_streamlit_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    asked = list[str]()
    options = config.get_options_for_section
    monkeypatch.setattr(config, "get_options_for_section", lambda section: asked.append(section) or options(section))
    parts = {"": "theme", "light": "theme.light", "dark": "theme.dark", "sidebar": "theme.sidebar"}

    def told() -> bytes:
        made = CustomThemeConfig()
        for part, section in parts.items():
            app_session._populate_theme_msg(getattr(made, part) if part else made, section)
        return made.SerializeToString(deterministic=True)

    wanted = told()
    keep_the_theme()
    assert len(wanted) > 50  # the colours of the project's own file
    assert told() == wanted
    asked.clear()
    assert told() == wanted
    assert not asked
