"""What a reader has set in a real browser: in the URL, in a copy of it, and after another page or a new server."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, WebSocketRoute, expect

from pages.room.server import ADDRESS
from pages.ui.navigation import COVERAGE, POSTERIOR
from tests.browser import free_port, settle, started_app
from tests.pages import visitor
from tests.pages.visitor import LAPTOP, PHONE, PROJECTOR, box, choose, go_to, slider, state, type_number, visit

pytestmark = pytest.mark.browser

CONNECTED = "[data-test-connection-state=CONNECTED]"


def check_copy(page: Page, url: str) -> None:
    """A new reader at a URL sees the same, and a reload changes nothing."""
    expect(page).to_have_url(url)
    shown = state(page)
    assert shown["texts"] and shown["inputs"]
    with visit(page.context, url) as copy:
        assert state(copy) == shown
        assert copy.url == url
    page.reload()
    settle(page)
    assert state(page) == shown
    assert page.url == url


def test_every_move_ends_in_the_url_and_a_copy_of_it_shows_the_same(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/coverage?cv_sets=3&cv_n=30") as page:
        moves = "cv_sets=3&cv_n=30"
        slider(page, "cv_epsilon").press("ArrowRight")
        expect(page).to_have_url(f"{server}/coverage?cv_epsilon=2.2&{moves}")
        type_number(page, "cv_p", "0.4")
        choose(page, "cv_axis", "against ε")
        choose(page, "cv_look", "Why it fails")
        check_copy(page, page.url)
        values = dict(setting.split("=") for setting in page.url.partition("?")[2].split("&"))
        assert values == {
            "cv_epsilon": "2.2", "cv_p": "0.4", "cv_sets": "3", "cv_n": "30", "cv_axis": "against+%CE%B5",
            "cv_look": "Why+it+fails",
        }  # fmt: skip
        choose(page, "cv_look", "Why it fails")  # closes it
        type_number(page, "cv_p", "0.25")
        assert "cv_look" not in page.url and "cv_p" not in page.url


def test_back_and_forward_go_through_moves_and_pages(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/transition_matrices") as page:
        places = [(page.url, state(page))]
        type_number(page, "tm_epsilon", "6")
        places.append((page.url, state(page)))
        assert places[1][0] == f"{server}/transition_matrices?tm_epsilon=6"
        page.get_by_role("link", name="Posterior →").click()  # with the release in its query
        expect(page.get_by_role("heading", level=1)).to_contain_text(POSTERIOR.title)
        settle(page)
        assert page.evaluate("document.querySelector('.stMain').scrollTop") == 0  # though the link stands far below
        places.append((page.url, state(page)))
        for go, place in ((page.go_back, 1), (page.go_back, 0), (page.go_forward, 1), (page.go_forward, 2)):
            go()
            url, shown = places[place]
            expect(page).to_have_url(url)
            visitor.wait_until(page, lambda: state(page) == shown)  # noqa: B023
            settle(page)
            assert (page.url, state(page)) == (url, shown)


def test_release_goes_along_and_a_page_is_as_it_was_left(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/posterior?po_n=40&po_x=12&po_level=0.9") as page:
        type_number(page, "po_epsilon", "1.5")
        left, url = state(page), page.url
        go_to(page, COVERAGE)
        expect(box(page, "cv_n")).to_have_value("40")
        expect(box(page, "cv_epsilon")).to_have_value("1.5")
        go_to(page, POSTERIOR)
        expect(page).to_have_url(url)
        assert state(page) == left


def seat_of(page: Page) -> str:
    return page.locator(".dpviz-seat-number").inner_text()


def test_a_new_server_finds_the_settings_of_a_page_and_the_seat_of_a_phone_in_their_urls(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that comes back sends the query that it has now, and not that of the link by which it came."""
    monkeypatch.setenv(ADDRESS, f"sqlite:///{tmp_path}/rooms.sqlite")
    port = free_port()
    with contextlib.ExitStack() as stack:
        url, process = stack.enter_context(started_app(port=port))
        context = stack.enter_context(contextlib.closing(chromium.new_context()))

        def open_tab(address: str, screen: ViewportSize) -> Page:
            return stack.enter_context(visit(context, address, screen, is_strict=False))

        page = open_tab(f"{url}/coverage?cv_sets=1&cv_n=50", LAPTOP)
        teacher = open_tab(f"{url}/experiment", PROJECTOR)
        teacher.get_by_role("button", name="Open a room").click()
        code = teacher.locator(".dpviz-code").inner_text().replace(" ", "")
        phone = open_tab(f"{url}/experiment?room={code}", PHONE)
        seat, seat_url = seat_of(phone), phone.url
        assert "seat=" in seat_url
        type_number(page, "cv_epsilon", "3")
        shown = state(page)
        tabs = (page, teacher, phone)
        os.kill(process, signal.SIGKILL)
        for tab in tabs:
            expect(tab.locator(CONNECTED)).to_have_count(0)
        stack.enter_context(started_app(port=port))
        for tab in tabs:
            expect(tab.locator(CONNECTED)).to_be_visible()
            settle(tab)
        slider(page, "cv_epsilon").press("ArrowRight")  # the first run of the new session, which cannot know the move
        settle(page)
        assert box(page, "cv_n").input_value() == "50" and float(box(page, "cv_epsilon").input_value()) >= 3
        page.goto(f"{url}/coverage?cv_epsilon=3&cv_sets=1&cv_n=50")
        settle(page)
        assert state(page) == shown
        teacher.reload()
        expect(teacher.locator(".dpviz-lobby")).to_contain_text("1 seat is taken.")
        settle(teacher)
        teacher.keyboard.press("Space")
        expect(phone.locator(".dpviz-seat-line")).to_be_visible()
        assert (seat_of(phone), phone.url) == (seat, seat_url)


def test_a_page_that_was_without_network_comes_back_as_it_was(chromium: Browser) -> None:
    """It was away for longer than the server keeps its session; its URL says what it showed."""
    sockets: list[WebSocketRoute] = []
    is_offline = False

    def connect(socket: WebSocketRoute) -> None:
        if is_offline:
            socket.close()
        else:
            socket.connect_to_server()
            sockets.append(socket)

    with started_app("streamlit", "--server.disconnectedSessionTTL=1") as (url, _):
        context = chromium.new_context()
        context.route_web_socket("**", connect)
        with visit(context, f"{url}/coverage?cv_n=40&cv_sets=1", is_strict=False) as page:
            type_number(page, "cv_epsilon", "3")
            shown = state(page)
            is_offline = True
            sockets[-1].close()
            expect(page.locator(CONNECTED)).to_have_count(0)
            page.wait_for_timeout(3000)
            is_offline = False
            expect(page.locator(CONNECTED)).to_be_visible()
            page.get_by_role("link", name="Posterior →").click()
            expect(page.get_by_role("heading", level=1)).to_contain_text(POSTERIOR.title)
            settle(page)
            assert (box(page, "po_n").input_value(), box(page, "po_epsilon").input_value()) == ("40", "3")
            page.go_back()
            expect(page).to_have_url(f"{url}/coverage?cv_epsilon=3&cv_sets=1&cv_n=40")
            settle(page)
            assert state(page) == shown
        context.close()
