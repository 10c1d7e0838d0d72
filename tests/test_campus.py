"""The proxy that is shipped for a campus, as Debian packages it, before two processes of the app."""

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

from dpviz.teaching.classroom.settings import RoomSettings
from dpviz.teaching.classroom.store import RoomStore
from dpviz.teaching.classroom.tokens import new_token
from pages.room.server import ADDRESS
from pages.ui.server import HEADERS
from tests.benchmarks.campus import measure
from tests.browser import settle
from tests.campus import MISSING, Campus, nginx, running_campus

N_NEWCOMERS = 40
SLOW_RATE = "6r/m"  # a burst that is used up stays so, however slow the machine is
RETRY_S = 2.0  # after which the proxy tries a process again that did not answer
MAX_UNKNOWN_ROOMS = 100  # that one network may ask for in a minute

Answer = tuple[int, http.client.HTTPMessage, bytes]


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campus]:
    if nginx() is None:
        pytest.skip(MISSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, f"sqlite:///{tmp_path_factory.mktemp('rooms')}/rooms.sqlite")
        with running_campus(rate=SLOW_RATE) as campus:
            yield campus


@pytest.fixture
def store(campus: Campus) -> Iterator[RoomStore]:
    """The database of rooms that all processes share."""
    engine = create_engine(os.environ[ADDRESS])
    yield RoomStore(engine)
    engine.dispose()


def request(campus: Campus, path: str, method: str = "GET", source: str = "", **headers: str) -> Answer:
    """Answer of the proxy to a request from an address of this machine."""
    connection = http.client.HTTPConnection(campus.host, timeout=30, source_address=(source, 0) if source else None)
    with contextlib.closing(connection):
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def process_of(answer: Answer) -> int | None:
    """Port in the cookie that an answer sets; None where the reader's own cookie stays."""
    cookie = re.search(r"dpviz_process=(\d+); Path=/dpviz/; HttpOnly; SameSite=Lax", answer[1]["set-cookie"] or "")
    return int(cookie[1]) if cookie else None


def cookie_of(port: int) -> str:
    return f"dpviz_process={port}"


@pytest.mark.parametrize(
    ("path", "status", "location"),
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
def test_every_answer_carries_the_headers(campus: Campus, path: str, status: int, location: str | None) -> None:
    answered, headers, _ = request(campus, path)
    assert (answered, headers["location"]) == (status, location)
    assert headers["server"] == "nginx"
    for name in ("content-security-policy", "x-content-type-options"):
        (value,) = headers.get_all(name, [])
        assert value == HEADERS[name] or value.startswith(("default-src 'none'", "nosniff"))
    if status == 200:
        assert {name: headers[name] for name in HEADERS} == HEADERS


def test_texts_are_compressed_and_kept_by_the_proxy(campus: Campus) -> None:
    assert request(campus, "/dpviz/", Accept_Encoding="gzip")[1]["content-encoding"] == "gzip"
    names = re.findall(rb'(?:src|href)="\./(static/[^"]+\.(?:js|css))"', request(campus, "/dpviz/")[2])
    assert len(names) > 5
    for name in sorted(names)[:6]:
        status, headers, content = request(campus, f"/dpviz/{name.decode()}", Accept_Encoding="gzip")
        assert status == 200
        assert headers["content-encoding"] == "gzip" or len(content) < 1000
        assert "immutable" in headers["cache-control"]
        assert headers["set-cookie"] is None  # any process may have answered
    assert len([path for path in (campus.folder / "cache").rglob("*") if path.is_file()]) >= 6


def test_newcomers_are_spread_and_a_reader_stays_with_one_process(campus: Campus) -> None:
    ports = [process_of(request(campus, "/dpviz/")) for _ in range(N_NEWCOMERS)]
    assert all(ports.count(port) > N_NEWCOMERS / 8 for port in campus.processes)  # else: a chance of 10⁻⁶
    for port in campus.processes:
        for path in ("/dpviz/", "/dpviz/_stcore/health", "/dpviz/_stcore/host-config"):
            assert process_of(request(campus, path, Cookie=f"other=1; {cookie_of(port)}")) is None
    for number in range(1, 8):  # a reader who refuses cookies stays with one by the address
        source = f"127.0.1.{number}"
        answers = [request(campus, "/dpviz/_stcore/health", source=source) for _ in range(5)]
        assert len({process_of(answer) for answer in answers}) == 1


@pytest.mark.parametrize("value", ["8599", "22", "8501:80", "-1", "85010", "localhost", "127.0.0.1:22/", "", '"<b>'])
def test_a_cookie_that_names_no_process_is_answered_by_one(campus: Campus, value: str) -> None:
    answer = request(campus, "/dpviz/", Cookie=f"dpviz_process={value}")
    assert answer[0] == 200
    assert process_of(answer) in campus.processes


def test_a_cookie_leads_to_no_other_program_of_the_machine(campus: Campus) -> None:
    """The port of the proxy itself would be a loop."""
    proxy_port = campus.host.partition(":")[2]
    answer = request(campus, "/dpviz/", Cookie=f"dpviz_process={proxy_port}")
    assert (answer[0], process_of(answer) in campus.processes) == (200, True)


def test_the_proxy_refuses_what_is_too_much_from_one_address(campus: Campus) -> None:
    busy, calm = "127.0.2.1", "127.0.2.2"
    status, headers, _ = request(campus, "/dpviz/", "POST", Content_Length=str(33 * 2**20))
    assert (status, headers["x-content-type-options"]) == (413, "nosniff")
    file, stream = "/dpviz/_stcore/upload_file/session/file", "/dpviz/_stcore/stream"
    for path, method, burst in ((file, "PUT", 61), (stream, "GET", 401)):
        statuses = [request(campus, path, method, source=busy)[0] for _ in range(burst + 60)]
        assert set(statuses[:burst]).isdisjoint({429, 502, 503})
        assert statuses.count(429) > 5
        assert request(campus, path, method, source=calm)[0] != 429
    assert request(campus, "/dpviz/", source=busy)[0] == 200


def test_rooms_count_readers_by_their_own_address_whatever_they_claim(campus: Campus, store: RoomStore) -> None:
    code, _ = store.open(RoomSettings.fresh(seed=1))
    room = store.room(code)
    assert room is not None
    port = next(iter(campus.processes))

    def ask(watch: str, source: str, claimed: str) -> int:
        headers = {"Cookie": cookie_of(port), "X_Forwarded_For": claimed, "X_Real_IP": claimed}
        return request(campus, f"/dpviz/dpviz/room/{watch}/version", source=source, **headers)[0]

    for number in range(MAX_UNKNOWN_ROOMS):
        assert ask(new_token(), "127.0.3.1", f"192.0.2.{number}") == 404
    assert ask(room.watch, "127.0.3.1", "192.0.2.200") == 404  # looked for no more
    assert ask(room.watch, "127.0.3.2", "127.0.3.1") == 200


def test_rooms_and_readers_outlive_a_process(campus: Campus, store: RoomStore) -> None:
    first, second = campus.processes
    code, token = store.open(RoomSettings.fresh(seed=1))
    room = store.room(code)
    assert room is not None
    path = f"/dpviz/dpviz/room/{room.watch}/version"
    for port in (first, second):
        assert request(campus, path, Cookie=cookie_of(port))[2] == b"1"
    campus.kill(first)
    store.change(code, token, lambda before: before.with_design(epsilon=2.0))
    time.sleep(0.5)  # a process may know a room for a moment
    answer = request(campus, path, Cookie=cookie_of(first))
    assert (answer[0], answer[2], process_of(answer)) == (200, b"2", second)
    assert process_of(request(campus, "/dpviz/", Cookie=cookie_of(second))) is None
    campus.start(first)
    time.sleep(RETRY_S)
    for port in (first, second):  # a reader who was sent to the other one stays there
        assert process_of(request(campus, "/dpviz/", Cookie=cookie_of(port))) is None


def test_readers_who_wander_over_all_pages_meet_no_error(campus: Campus) -> None:
    """Six of them for a while; ``tests.benchmarks.campus`` has two hundred, and the times."""
    measurement = measure(campus, 6, 2.0)
    assert not measurement.errors
    assert len(measurement.openings) >= 6


SECRET = "0.3133731"
"""A number that nobody but this reader has."""
MATRIX: FilePayload = {"name": f"{SECRET}.csv", "mimeType": "text/csv", "buffer": b"0.3133731,0.6866269\n0.25,0.75"}


@pytest.mark.browser
def test_a_page_goes_on_at_another_process_and_no_log_tells_what_was_asked(campus: Campus, chromium: Browser) -> None:
    """A file is sent to the process of the session, and a download comes from there."""
    context = chromium.new_context(accept_downloads=True)
    page = context.new_page()
    page.goto(f"{campus.address}/transition_matrices?tm_synthesizer=given_matrix&tm_epsilon={SECRET}&tm_look=Download")
    settle(page)

    def upload_and_download() -> int:
        page.locator("input[type=file]").set_input_files(MATRIX)
        expect(page.locator(".dpviz-numbers").first).to_contain_text("0.2259336")  # ln(0.3133731 / 0.25)
        settle(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Matrix, CSV", exact=True).click()
        assert SECRET in Path(download.value.path()).read_text("utf-8")
        return next(int(cookie["value"]) for cookie in context.cookies() if cookie["name"] == "dpviz_process")

    killed = upload_and_download()
    campus.kill(killed)
    expect(page.locator(".stApp")).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=60_000)
    settle(page)
    assert f"tm_epsilon={SECRET}" in page.url
    assert upload_and_download() != killed
    campus.start(killed)
    context.close()
    assert SECRET not in campus.logged
