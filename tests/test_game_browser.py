"""The game in real Chromium: played by keys alone, on every screen, with nothing told before its time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, WebSocket, expect

from dpviz.teaching.game.secrecy import commitment
from tests.browser import settle
from tests.look import OF_COLORS, TELEPHONE, faults, put_on
from tests.visit import answer, visiting

pytestmark = pytest.mark.browser

CLASSROOM: ViewportSize = {"width": 1280, "height": 720}


def press(page: Page, key: str) -> None:
    """A key, and what comes of it: the answer is another one."""
    before = answer(page)
    page.keyboard.press(key)
    expect(page.locator(".dpviz-answer").first).not_to_have_text(before)
    settle(page)


def check_in_sight(page: Page, *keys: str) -> None:
    """Buttons that can be pressed without scrolling, and lie below nothing."""
    for key in keys:
        button = page.locator(f".st-key-game_{key} button")
        expect(button).to_be_in_viewport(ratio=1)
        button.click(trial=True)


def test_a_game_is_played_by_keys_and_the_messages_tell_the_number_at_its_end_alone(
    server: str, chromium: Browser
) -> None:
    frames: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame if isinstance(frame, bytes) else frame.encode()))

    with visiting(chromium, f"{server}/game?game_seed=7", TELEPHONE) as page:
        page.on("websocket", listen)
        page.reload()
        settle(page)
        check_in_sight(page, "lock_yes", "lock_no")
        assert faults(page) == []
        for place in range(1, 11):
            expect(page.locator(".dpviz-mark").first).to_have_text(f"Round {place} of 10")
            press(page, "yn"[place % 2])
            if place == 3:
                check_in_sight(page, "go")
                assert faults(page) == []
                kept, said = page.url, answer(page)
                page.evaluate("([url]) => { history.pushState({}, '', url); history.pushState({}, '', url) }", [
                    re.sub("game_locked=[^&]*", "game_locked=y.n.y", kept)
                ])  # fmt: skip
                page.go_back()  # to an address with other guesses: what is locked stays
                page.wait_for_url(kept)
                settle(page)
                assert answer(page) == said
                page.reload()
                settle(page)
                assert (page.url, answer(page)) == (kept, said)
            before = len(frames)
            press(page, "Enter")
        line = page.locator("[data-testid=stCode]").inner_text()
        (number,) = re.findall("[0-9a-f]{64}", line)
        assert commitment(number) in page.locator(".stMain").inner_text()
        assert any(commitment(number).encode() in frame for frame in frames[:before])
        assert not any(number.encode() in frame for frame in frames[:before])
        assert any(number.encode() in frame for frame in frames[before:])
        put_on(page, TELEPHONE, "dark")
        assert faults(page) == []


@pytest.mark.parametrize("level", ["person", "count", "agency"])
def test_on_a_projector_everything_to_press_is_in_sight(server: str, chromium: Browser, level: str) -> None:
    buttons = {"person": ("lock_yes", "lock_no"), "count": ("lock",), "agency": ("lock", "lock_none")}[level]
    with visiting(chromium, f"{server}/game?class=1&game_level={level}&game_seed=3", CLASSROOM) as page:
        check_in_sight(page, *buttons)
        expect(page.locator(".dpviz-rounds")).to_be_in_viewport(ratio=1)
        if level != "person":
            thumb = page.locator("[class*='st-key-game_0_slider'] input[type=range]")
            start = thumb.input_value()
            page.keyboard.press("ArrowRight")
            expect(thumb).not_to_have_value(start)
            settle(page)
            page.keyboard.press("Tab")
            settle(page)  # what the slider shows while it has the focus fades
        assert faults(page) == []
        press(page, "y" if level == "person" else "Enter")
        check_in_sight(page, "go")
        put_on(page, CLASSROOM, "dark")
        assert faults(page, rules=OF_COLORS) == []
        put_on(page, TELEPHONE, "dark")
        press(page, " ")  # as on every page in class mode
        check_in_sight(page, *buttons)
        assert faults(page) == []


def test_a_seed_that_is_typed_opens_its_game_and_locks_nothing(server: str, chromium: Browser) -> None:
    with visiting(chromium, f"{server}/game?game_level=count&game_seed=3") as page:
        box = page.locator(".st-key-game_seed input")
        box.fill("12")
        box.press("Enter")
        page.wait_for_url(re.compile("game_seed=12"))
        settle(page)
        assert answer(page).startswith("Round 1 of 10") and "game_locked" not in page.url
