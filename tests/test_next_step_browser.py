"""What moves asks for its next step at rest only: Streamlit throws messages away where two requests meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser import free_port, running_app, settle, started_app
from tests.visit import ENDLESS, PATIENCE, control, press, slider, until, visiting

pytestmark = pytest.mark.browser

COVERAGE = f"/coverage?{ENDLESS}"
SLOW = "/minimum_priors?mp_n=300&mp_epsilon=0.7&mp_look=Average+case"
"""What takes longer than a run waits for."""

PAUSES = (0, 70, 420)
"""Milliseconds that a run goes on before it is reset."""

FULL, STEP, FINISHED, REFERENCE, TIMER = "full run", "step", "finished", "reference", "timer"


@contextmanager
def listened(page: Page) -> Iterator[list[str]]:
    """What passes between the browser and the server from the next loading of the page on, in order."""
    heard: list[str] = []

    def sent(payload: str | bytes) -> None:
        asked = BackMsg.FromString(payload) if isinstance(payload, bytes) else BackMsg()
        if asked.WhichOneof("type") == "rerun_script":
            heard.append(STEP if asked.rerun_script.fragment_id else FULL)

    def received(payload: str | bytes) -> None:
        said = ForwardMsg.FromString(payload) if isinstance(payload, bytes) else ForwardMsg()
        name = {"script_finished": FINISHED, "ref_hash": REFERENCE, "auto_rerun": TIMER}.get(said.WhichOneof("type"))
        if name is not None:
            heard.append(name)

    def opened(socket: WebSocket) -> None:
        socket.on("framesent", sent)
        socket.on("framereceived", received)

    page.on("websocket", opened)
    yield heard
    page.remove_listener("websocket", opened)


def share(reached: str | None) -> str:
    """What the answer says of a share of yes that the slider shows."""
    return f"a true share of {reached}"


def check_polite(heard: list[str], least_steps: int) -> None:
    """Steps are asked for and answered; none by a timer, and nothing is sent by reference."""
    assert REFERENCE not in heard
    assert TIMER not in heard
    assert heard.count(STEP) >= least_steps
    assert heard.count(FINISHED) >= least_steps


def test_steps_come_without_timers_and_references(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{COVERAGE}") as page, listened(page) as heard:
        page.reload()
        settle(page)
        heard.clear()
        press(page, "Start")
        expect(control(page, "picture").locator(".errorbars .yerror").first).to_be_visible()
        for _ in range(3):
            steps = heard.count(STEP)
            slider(page, "p").press("ArrowRight")
            reached = slider(page, "p").get_attribute("aria-valuetext")
            expect(page.locator(".dpviz-answer").first).to_contain_text(share(reached))
            until(page, lambda: heard.count(STEP) > steps)  # noqa: B023
        press(page, "Stop")
        expect(control(page, "go").get_by_role("button", name="Resume", exact=True)).to_be_visible()
        settle(page)
        assert heard.count(FULL) >= 5  # Start, three moves, Stop
        check_polite(heard, least_steps=3)


LATE = "(own) => { window.setTimeout = (act, pause, ...rest) => own.call(window, act, pause || 200, ...rest); }"
"""Has what waits until the browser is free wait for 200 ms, as it does where the browser is busy."""


def test_a_move_is_answered_however_late_the_browser_sends_it(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{COVERAGE}") as page:
        page.evaluate(f"({LATE})(window.setTimeout)")
        press(page, "Start")
        expect(control(page, "picture").locator(".errorbars .yerror").first).to_be_visible()
        for _ in range(3):
            slider(page, "p").press("ArrowRight")
            reached = slider(page, "p").get_attribute("aria-valuetext")
            expect(page.locator(".dpviz-answer").first).to_contain_text(share(reached))
        control(page, "reset").get_by_role("button").click()
        settle(page)


HEARD_LATE = """{
  const Own = window.WebSocket;
  window.WebSocket = class extends Own {
    addEventListener(kind, act, ...rest) {
      const late = kind === 'message' && this.readyState === WebSocket.CONNECTING;
      super.addEventListener(kind, late ? (one) => setTimeout(() => act(one), 500) : act, ...rest);
    }
  };
}"""
"""Has Streamlit hear in the browser half a second late what the server says: a step is asked for in a full run."""


def test_a_page_stays_whole_where_moves_and_steps_meet(chromium: Browser) -> None:
    with running_app("tests.late_server") as address:
        for late in ("", HEARD_LATE):
            with visiting(chromium, f"{address}/") as page:
                page.add_init_script(late)
                page.goto(f"{address}{COVERAGE}")
                settle(page)  # in the run that follows it never is at rest
                press(page, "Start")
                expect(control(page, "picture").locator(".errorbars .yerror").first).to_be_visible()
                for _ in range(2):
                    slider(page, "p").press("ArrowRight")
                    reached = slider(page, "p").get_attribute("aria-valuetext")
                    expect(page.locator(".dpviz-answer").first).to_contain_text(share(reached))
                control(page, "reset").get_by_role("button").click()
                expect(control(page, "go").get_by_role("button", name="Start", exact=True)).to_be_visible()


def test_curves_that_grow_ask_in_the_same_way(chromium: Browser) -> None:
    with running_app() as address, visiting(chromium, f"{address}/") as page, listened(page) as heard:
        page.goto(f"{address}{SLOW}")
        settle(page)
        expect(page.locator(".st-key-mp_step_average")).to_have_count(0)  # complete
        settle(page)
        check_polite(heard, least_steps=1)


HELD = "window.held = setInterval(() => document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift' })), 50)"
"""Has a page wait with its first step, as it does while the reader types."""


def test_a_page_that_comes_back_to_a_new_server_before_its_first_step_grows_to_its_end(chromium: Browser) -> None:
    """There the step does not exist: it is asked for in vain, without an answer, until the whole page runs."""
    page, port = chromium.new_context().new_page(), free_port()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(HELD)
    with started_app(port=port) as (address, _):
        page.goto(f"{address}{SLOW}")
        expect(page.locator(".st-key-mp_step_average")).to_have_count(1)  # it is to grow
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible()
    with started_app(port=port):
        page.evaluate("clearInterval(window.held)")
        expect(page.locator(".dpviz-anew")).to_be_visible()
        expect(page.locator(".st-key-mp_step_average")).to_have_count(0)  # complete
        settle(page)
        page.context.close()


def test_start_and_reset_again_and_again_leave_the_page_whole(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{COVERAGE}") as page:
        for pause in PAUSES:
            press(page, "Start")
            expect(control(page, "picture").locator(".errorbars .yerror").first).to_be_visible()
            page.wait_for_timeout(pause)
            control(page, "reset").get_by_role("button").click()
            expect(control(page, "go").get_by_role("button", name="Start", exact=True)).to_be_visible()
            settle(page)
            expect(control(page, "look").get_by_text("Why it fails", exact=True)).to_be_visible()
            expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(0)
