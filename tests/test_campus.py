"""The proxy that is shipped for a campus, as Debian packages it, before two processes of the app."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect
from sqlalchemy import create_engine

from dpviz.teaching.rooms.codes import new_code
from dpviz.teaching.rooms.store import Store
from pages.components.guard import HEADERS
from pages.components.uploads import GONE
from pages.experiment.rooms import ADDRESS, WRONG
from tests.benchmarks.campus import measure
from tests.benchmarks.rooms import Client, Report, come_back, experiment, finished
from tests.browser import settle
from tests.campus import MISSING, PATH, Campus, nginx, running_campus

SEATS, FRESH = 6, 40
SLOWLY = "6r/m"
"""What is refilled so slowly is used up by a slow machine too."""
BACK = 2.0
"""Seconds after which the proxy asks a process again that did not answer."""


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    if nginx() is None:
        pytest.skip(MISSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, f"sqlite:///{tmp_path_factory.mktemp('rooms')}/rooms.sqlite")
        with running_campus(refilled=SLOWLY) as found:
            yield found


Answer = tuple[int, http.client.HTTPMessage, bytes]


def asked(campus: Campus, path: str, way: str = "GET", come_from: str = "", **headers: str) -> Answer:
    """What the proxy answers to a request for a path, which comes from an address of this machine."""
    line = http.client.HTTPConnection(campus.host, timeout=30, source_address=(come_from and (come_from, 0)) or None)
    with contextlib.closing(line):
        line.request(way, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read()


def process_of(answer: Answer) -> int | None:
    """The process that the cookie of an answer names, None where the reader's own cookie has named it."""
    found = re.search(r"dpviz_process=(\d+); Path=/dpviz/; HttpOnly; SameSite=Lax", answer[1]["set-cookie"] or "")
    return int(found[1]) if found else None


def cookie(port: int) -> str:
    return f"dpviz_process={port}"


@pytest.mark.parametrize(
    ("path", "status", "where"),
    [
        ("/", 302, "/dpviz/"),
        ("/dpviz?class=1", 302, "/dpviz/?class=1"),
        ("/dpviz/", 200, None),
        ("/dpviz/coverage?cv_n=50", 200, None),
        ("/dpviz/_stcore/health", 200, None),
        ("/dpviz/_stcore/metrics", 404, None),
        ("/elsewhere", 404, None),
    ],
)
def test_what_stands_below_the_path_carries_the_headers(
    campus: Campus, path: str, status: int, where: str | None
) -> None:
    found, headers, _ = asked(campus, path)
    assert (found, headers["location"]) == (status, where)
    assert headers["server"] == "nginx"
    for name in ("content-security-policy", "x-content-type-options"):
        (said,) = headers.get_all(name, [])
        assert said == HEADERS[name] or said.startswith(("default-src 'none'", "nosniff"))
    if status == 200:
        assert {name: headers[name] for name in HEADERS} == HEADERS


def test_texts_are_compressed_once_and_kept_by_the_proxy(campus: Campus) -> None:
    _, headers, page = asked(campus, "/dpviz/", Accept_Encoding="gzip")
    assert headers["content-encoding"] == "gzip"
    _, _, page = asked(campus, "/dpviz/")
    names = re.findall(rb'(?:src|href)="\./(static/[^"]+\.(?:js|css))"', page)
    assert len(names) > 5
    for name in sorted(names)[:6]:
        status, headers, content = asked(campus, f"/dpviz/{name.decode()}", Accept_Encoding="gzip")
        assert status == 200
        assert headers["content-encoding"] == "gzip" or len(content) < 1000
        assert "immutable" in headers["cache-control"]
        assert headers["set-cookie"] is None  # any process may have answered
    assert len([one for one in (campus.folder / "cache").rglob("*") if one.is_file()]) >= 6


def test_newcomers_are_spread_and_a_reader_keeps_to_one_process(campus: Campus) -> None:
    came = [process_of(asked(campus, "/dpviz/")) for _ in range(FRESH)]
    assert all(came.count(port) > FRESH / 8 for port in campus.processes)  # at random: less has a chance of 10⁻⁶
    for port in campus.processes:
        for path in ("/dpviz/", "/dpviz/_stcore/health", "/dpviz/_stcore/host-config"):
            assert process_of(asked(campus, path, Cookie=f"other=1; {cookie(port)}")) is None
    for place in range(1, 8):  # who refuses cookies keeps to one by the address
        address = f"127.0.1.{place}"
        assert len({process_of(asked(campus, "/dpviz/_stcore/health", come_from=address)) for _ in range(5)}) == 1


@pytest.mark.parametrize("said", ["8599", "22", "8501:80", "-1", "85010", "localhost", "127.0.0.1:22/", "", '"<b>'])
def test_a_cookie_that_names_no_process_is_answered_by_one(campus: Campus, said: str) -> None:
    answer = asked(campus, "/dpviz/", Cookie=f"dpviz_process={said}")
    assert answer[0] == 200
    assert process_of(answer) in campus.processes


def test_too_much_is_refused_by_the_proxy(campus: Campus) -> None:
    """A file that is too large, and too many files and sessions at once from one address; others notice nothing."""
    here, other = "127.0.2.1", "127.0.2.2"
    status, headers, _ = asked(campus, "/dpviz/", "POST", Content_Length=str(33 * 2**20))
    assert (status, headers["x-content-type-options"]) == (413, "nosniff")
    file, stream = "/dpviz/_stcore/upload_file/session/file", "/dpviz/_stcore/stream"
    for path, way, most in ((file, "PUT", 61), (stream, "GET", 401)):
        found = [asked(campus, path, way, come_from=here)[0] for _ in range(most + 60)]
        assert set(found[:most]).isdisjoint({429, 502, 503})
        assert found.count(429) > 5
        assert asked(campus, path, way, come_from=other)[0] != 429
    assert asked(campus, "/dpviz/", come_from=here)[0] == 200


def test_rooms_count_readers_by_their_own_address_which_nobody_can_pretend(campus: Campus) -> None:
    """Who guesses codes is refused after thirty, whatever else a header says; somebody beside it is not."""
    port = next(iter(campus.processes))

    async def said(come_from: str, forged: str) -> str:
        headers = {"Cookie": cookie(port), "X-Forwarded-For": forged, "X-Real-IP": forged}
        one = Client(f"{campus.host}/{PATH}", f"room={new_code()}", headers, {"local_addr": (come_from, 0)})
        try:
            await one.open()
            await one.until(lambda here: "dpviz-problem" in here.text)
            return one.text
        finally:
            await one.close()

    async def guesses() -> tuple[list[str], str]:
        mine = [await said("127.0.3.1", f"192.0.2.{place}") for place in range(WRONG._most + 2)]
        return mine, await said("127.0.3.2", "127.0.3.1")

    mine, other = finished(guesses())
    assert ["Too many wrong codes" in one for one in mine] == [False] * WRONG._most + [True] * 2
    assert "There is no room with this code" in other


def test_a_room_is_served_by_all_and_goes_on_when_one_is_killed(campus: Campus) -> None:
    """The killed process comes back, and a reader who was sent to another one stays there."""
    engine = create_engine(os.environ[ADDRESS])
    report, store, host = Report(), Store(engine), f"{campus.host}/{PATH}"
    first, second = campus.processes
    seats = (1, first), (2, second)

    async def nothing() -> None:
        """Nothing is measured at rest."""

    code, queries = finished(experiment([host], SEATS, store, report, nothing))
    kept = store.reports(code, 1)
    assert len(kept) == SEATS

    async def through_a_kill() -> None:
        one, other = (Client(host, queries[place], {"Cookie": cookie(port)}) for place, port in seats)
        await one.open()
        await other.open()
        for client in (one, other):
            await client.until(lambda here: here.runs > 0 and "The true share" in here.text)  # to the run's end
        runs, before = other.runs, other.text
        campus.kill(first)
        with pytest.raises(Exception, match="close"):
            await one.until(lambda here: False)
        again = Client(host, one.query, {"Cookie": cookie(first)})
        await again.open()
        await again.until(lambda here: "The true share" in here.text)
        assert again.text == one.text
        assert (other.runs, other.text) == (runs, before)
        for client in (one, other, again):
            await client.close()

    finished(through_a_kill())
    assert process_of(asked(campus, "/dpviz/", Cookie=cookie(first))) == second
    assert process_of(asked(campus, "/dpviz/_stcore/health", Cookie=cookie(second))) is None
    finished(come_back([host], queries, report))
    assert (report.moved, store.reports(code, 1)) == (0, kept)
    campus.start(first)
    time.sleep(BACK)
    assert process_of(asked(campus, "/dpviz/", Cookie=cookie(second))) is None
    assert process_of(asked(campus, "/dpviz/", Cookie=cookie(first))) is None
    engine.dispose()


def test_readers_who_wander_over_all_pages_meet_no_error(campus: Campus) -> None:
    """Twelve of them for a while; ``tests.benchmarks.campus`` has two hundred, and the times."""
    found = measure(campus, 12, 3.0)  # and each at least one page
    assert not found.errors
    assert len(found.firsts) >= 12


SECRET = "0.3133731"
"""A number that nobody but this reader has."""
MATRIX: FilePayload = {"name": f"{SECRET}.csv", "mimeType": "text/csv", "buffer": b"0.3133731,0.6866269\n0.25,0.75"}


@pytest.mark.browser
def test_a_browser_keeps_its_page_below_the_path_when_its_process_is_killed_and_logs_say_nothing_of_it(
    campus: Campus, chromium: Browser
) -> None:
    """A file goes to its process and another comes from there; what a killed process alone had is said to be gone."""
    context = chromium.new_context(accept_downloads=True)
    page = context.new_page()
    page.goto(f"{campus.address}/transition_matrices?tm_synthesizer=given_matrix&tm_epsilon={SECRET}&tm_look=Download")
    settle(page)

    def bring() -> None:
        page.locator("input[type=file]").set_input_files(MATRIX)
        expect(page.locator(".dpviz-numbers").first).to_contain_text("0.2259336")  # ln(0.3133731 / 0.25)
        settle(page)

    def take() -> str:
        with page.expect_download() as download:
            page.get_by_role("button", name="Matrix, CSV", exact=True).click()
        return Path(download.value.path()).read_text("utf-8")

    def held() -> int:
        return next(int(one["value"]) for one in context.cookies() if one["name"] == "dpviz_process")

    bring()
    assert SECRET in take()
    before = held()
    campus.kill(before)
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-connection-state", "CONNECTED")
    settle(page)
    page.locator(".st-key-tm_epsilon_slider input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".dpviz-problem")).to_contain_text(GONE)
    settle(page)
    assert held() != before
    bring()
    assert SECRET in take()
    campus.start(before)
    context.close()
    assert SECRET not in campus.logged
