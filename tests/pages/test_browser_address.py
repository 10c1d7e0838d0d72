"""What a reader has set in a real browser: in the URL, in a copy of it, and after another page or a new server."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, WebSocketRoute, expect

from pages.room.server import ADDRESS
from pages.ui.navigation import COVERAGE, POSTERIOR
from tests.browser import free_port, settle, started_app
from tests.pages.visitor import (
    PHONE,
    PROJECTOR,
    box,
    choose,
    go_to,
    slider,
    state,
    type_number,
    visit,
    wait_until,
)

pytestmark = pytest.mark.browser

CONNECTED = "[data-test-connection-state=CONNECTED]"


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


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
    with visit(context, f"{server}/coverage?cv_sets=3") as page:
        moves = "cv_sets=3"
        slider(page, "cv_epsilon").press("ArrowRight")
        expect(page).to_have_url(f"{server}/coverage?cv_epsilon=2.2&{moves}")
        type_number(page, "cv_p", "0.4")
        choose(page, "cv_axis", "against ε")
        choose(page, "cv_look", "Why it fails")
        check_copy(page, page.url)
        values = dict(setting.split("=") for setting in page.url.partition("?")[2].split("&"))
        assert values == {
            "cv_epsilon": "2.2", "cv_p": "0.4", "cv_sets": "3", "cv_axis": "against+%CE%B5", "cv_look": "Why+it+fails",
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
        places.append((page.url, state(page)))
        for go, place in ((page.go_back, 1), (page.go_back, 0), (page.go_forward, 1), (page.go_forward, 2)):
            go()
            url, shown = places[place]
            expect(page).to_have_url(url)
            wait_until(page, lambda: state(page) == shown)  # noqa: B023
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


def test_page_opened_by_a_link_keeps_its_settings_and_a_phone_its_seat_when_the_server_is_killed(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that comes back sends the query that it has now, and not that of the link."""
    monkeypatch.setenv(ADDRESS, f"sqlite:///{tmp_path}/rooms.sqlite")
    port = free_port()
    with started_app(port=port) as (url, process):
        context = chromium.new_context()
        with (
            visit(context, f"{url}/coverage?cv_n=50", is_strict=False) as page,
            visit(context, f"{url}/experiment", PROJECTOR, is_strict=False) as teacher,
        ):
            teacher.get_by_role("button", name="Open a room").click()
            link = f"{url}/experiment?room={teacher.locator('.dpviz-code').inner_text().replace(' ', '')}"
            with visit(context, link, PHONE, is_strict=False) as phone:
                visit_later = [page, teacher, phone]
                expect(phone).to_have_url(re.compile("seat="))
                seat, seat_url = seat_of(phone), phone.url
                type_number(page, "cv_epsilon", "3")
                shown = state(page)
                os.kill(process, signal.SIGKILL)
                for tab in visit_later:
                    expect(tab.locator(CONNECTED)).to_have_count(0)
                with started_app(port=port):
                    for tab in visit_later:
                        expect(tab.locator(CONNECTED)).to_be_visible()
                        settle(tab)
                    assert page.url == f"{url}/coverage?cv_epsilon=3&cv_n=50"
                    assert state(page) == shown
                    assert (seat_of(phone), phone.url) == (seat, seat_url)
                    expect(teacher.locator(".dpviz-lobby")).to_contain_text("1 seat is taken.")
        context.close()


def test_page_without_network_for_a_while_comes_back_as_it_was(chromium: Browser) -> None:
    """Longer than the server keeps the session: what is shown then is that of the URL."""
    with started_app("streamlit", "--server.disconnectedSessionTTL=1") as (url, _):
        context = chromium.new_context()
        sockets: list[WebSocketRoute] = []
        is_offline = False

        def connect(socket: WebSocketRoute) -> None:
            if is_offline:
                socket.close()
            else:
                socket.connect_to_server()
                sockets.append(socket)

        context.route_web_socket("**", connect)
        with visit(context, f"{url}/transition_matrices?tm_n=9", is_strict=False) as page:
            type_number(page, "tm_epsilon", "3")
            shown = state(page)
            is_offline = True
            sockets[-1].close()
            expect(page.locator(CONNECTED)).to_have_count(0)
            page.wait_for_timeout(3000)
            is_offline = False
            expect(page.locator(CONNECTED)).to_be_visible()
            settle(page)
            assert page.url == f"{url}/transition_matrices?tm_epsilon=3&tm_n=9"
            assert state(page) == shown
            type_number(page, "tm_epsilon", "4")
            expect(page).to_have_url(f"{url}/transition_matrices?tm_epsilon=4&tm_n=9")
        context.close()
