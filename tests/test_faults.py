"""What breaks: others notice nothing, a sentence is shown, and nothing that was saved is lost."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import create_engine

from dpviz.core.pool import FORGOTTEN
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import LASTS, Store
from pages.experiment import rooms
from pages.experiment.live import UNREACHABLE
from pages.experiment.rooms import ADDRESS
from tests.benchmarks.campus import waves
from tests.benchmarks.crowd import Reader, connected, crowd, processor, started_by
from tests.benchmarks.rooms import Client, finished, seat_of
from tests.browser import free_port, settle, started_app
from tests.visit import ENDLESS, PATIENCE

CALM = 0.25
"""Processor seconds in one second below which a server and its workers are at rest."""


MOST = 2.0
"""Megabytes of a session that Streamlit keeps for two minutes for who may come back, and of what its pages keep."""


class Server(NamedTuple):
    """A server of one's own: its name and port, its process, and the file of its rooms."""

    host: str
    process: int
    database: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = tmp_path_factory.mktemp("rooms") / "rooms.sqlite"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, f"sqlite:///{database}")
        with started_app() as (address, process):
            yield Server(address.removeprefix("http://"), process, database)


def workers(server: int) -> list[int]:
    """The processes that compute for a server."""
    return [one for one in started_by(server) if b"dpviz.core.working" in Path(f"/proc/{one}/cmdline").read_bytes()]


def test_who_reads_gets_every_answer_while_workers_are_killed(served: Server) -> None:
    async def read_and_kill() -> list[Reader]:
        reading = asyncio.create_task(crowd(served.host, "budget", 3, 2.0, 1))
        for _ in range(2):
            await asyncio.sleep(0.8)
            while len(found := workers(served.process)) < 2:  # they take as long to start as the machine lets them
                await asyncio.sleep(0.05)
            for process in found:
                os.kill(process, signal.SIGKILL)
        return await reading

    readers = finished(read_and_kill())
    assert all(reader.firsts for reader in readers)
    assert all(reader.grown for reader in readers)  # what grows has grown to its end
    end = time.monotonic() + PATIENCE / 1000
    while len(workers(served.process)) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_who_leaves_in_mid_stream_leaves_nothing_behind(served: Server) -> None:
    """The connection breaks without a word while the desk's designs stream; others are answered, and then all rests."""

    async def leave() -> None:
        for place in range(5):
            reader = Reader("curator", place)
            async with connected(served.host, {}) as socket:
                await socket.send(reader._asked().SerializeToString())
                await socket.recv()
                socket.transport.abort()

    finished(leave())
    other = Reader("", 2)
    finished(other.visit(served.host, 2))
    assert len(other.moves) == 2
    end, used = time.monotonic() + FORGOTTEN + PATIENCE / 1000, CALM
    while used >= CALM:
        assert time.monotonic() < end
        before = sum(processor(served.process))
        time.sleep(1.0)
        used = sum(processor(served.process)) - before


def test_sessions_over_all_pages_leave_no_more_than_streamlit_keeps(served: Server) -> None:
    """Forty of them; ``tests.benchmarks.campus --sessions 300`` shows that beyond those it is level."""
    sessions = 40
    held = waves(served.host, served.process, sessions)
    assert held[-1] - held[0] < sessions * MOST


def test_a_full_disk_is_said_and_what_was_saved_before_is_there(served: Server) -> None:
    engine = create_engine(f"sqlite:///{served.database}")
    store, kept = Store(engine), 4

    async def fill() -> None:
        code, _ = store.open(RoomSettings.fresh(seed=1))
        seats = [Client(served.host, f"room={code}") for _ in range(kept + 1)]
        for one in seats[:kept]:
            await one.open()
            await one.until(seat_of)
        soft, hard = resource.prlimit(served.process, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
        try:
            await seats[-1].open()
            await seats[-1].until(lambda here: UNREACHABLE in here.text)
            assert [seat_of(one) for one in seats[:kept]] == [*range(1, kept + 1)]
        finally:
            resource.prlimit(served.process, resource.RLIMIT_FSIZE, (soft, hard))
        await seats[-1].until(seat_of)  # it tries again by itself
        assert seat_of(seats[-1]) == kept + 1
        room = store.room(code)
        assert room is not None
        assert room.seats == kept + 1
        for one in seats:
            await one.close()

    finished(fill())
    engine.dispose()


def test_two_tabs_with_one_seat_are_one_seat(served: Server) -> None:
    engine = create_engine(f"sqlite:///{served.database}")
    store = Store(engine)
    code, _ = store.open(RoomSettings.fresh(seed=1))

    async def sit() -> None:
        first = Client(served.host, f"room={code}")
        await first.open()
        await first.until(lambda here: seat_of(here) and "seat" in here.at)
        second = Client(served.host, first.query)
        await second.open()
        await second.until(seat_of)
        assert seat_of(first) == seat_of(second) == 1
        for one in (first, second):
            await one.close()

    finished(sit())
    room = store.room(code)
    assert room is not None
    assert room.seats == 1
    engine.dispose()


def test_a_clock_that_jumps_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two days ahead, and back before it has stayed there for long: the room goes on as it was."""
    engine = create_engine(f"sqlite:///{tmp_path}/rooms.sqlite")
    store, start, tick = Store(engine), 1e9, 0.0
    code, _ = store.open(RoomSettings.fresh(seed=1), now=start)
    store.take_seat(code)
    store.report(code, 1, 1)
    jumps = iter([0.0] * 5 + [2.0 * LASTS] * 2 + [0.0] * 5)

    class Over(Exception):
        """There is no more time."""

    def wait(seconds: float) -> None:
        nonlocal tick
        tick += seconds
        try:
            jump = next(jumps)
        except StopIteration:
            raise Over from None
        monkeypatch.setattr(time, "time", lambda: start + tick + jump)

    monkeypatch.setattr(time, "sleep", wait)
    monkeypatch.setattr(time, "monotonic", lambda: tick)
    wait(0.0)
    with pytest.raises(Over):
        rooms._clean(store)
    monkeypatch.undo()
    room = store.room(code, start + tick)
    assert room is not None
    assert room.settings is not None
    assert (room.seats, len(store.reports(code, 1))) == (1, 1)
    engine.dispose()


@pytest.mark.browser
def test_two_tabs_are_two_readers(chromium: Browser, server: str) -> None:
    """Each has its own settings, and a reload of either finds them in its own address."""
    context = chromium.new_context()
    tabs = [context.new_page() for _ in range(2)]
    for n, page in zip((7, 9), tabs, strict=True):
        page.goto(f"{server}/transition_matrices?tm_n={n}")
        settle(page)
    for page in tabs:
        page.reload()
        settle(page)
    for n, page in zip((7, 9), tabs, strict=True):
        expect(page.locator(".st-key-tm_n input")).to_have_value(str(n))
        assert f"tm_n={n}" in page.url
    context.close()


RUNNING = "() => /[1-9][0-9,]* of 10,000,000 repetitions, running/.test(document.body.textContent)"


@pytest.mark.browser
def test_a_run_on_a_server_that_is_killed_is_said_to_be_gone_and_its_saved_file_goes_on(
    chromium: Browser, tmp_path: Path
) -> None:
    """The file that was saved before gives the same repetitions on another server."""
    page, port, file = chromium.new_context(accept_downloads=True).new_page(), free_port(), tmp_path / "run.json"
    with started_app(port=port) as (address, process):
        page.goto(f"{address}/coverage?{ENDLESS}&cv_look=Download")
        settle(page)
        page.locator(".st-key-cv_go button").click()
        page.wait_for_function(RUNNING, timeout=PATIENCE)
        with page.expect_download() as download:
            page.get_by_role("button", name="Run, JSON", exact=True).click()
        download.value.save_as(file)
        os.kill(process, signal.SIGKILL)
    with started_app(port=port):
        expect(page.locator(".dpviz-anew")).to_contain_text("Press Start again")
        settle(page)
        expect(page.locator(".st-key-cv_go button")).to_have_text("Start")
        assert "cv_n=10&cv_sets=200" in page.url
        page.locator(".dpviz-anew button").click()
        expect(page.locator(".dpviz-anew")).to_have_count(0)
        settle(page)  # a request that overtakes the answer to the file has the values from before it
        page.locator("input[type=file]").set_input_files(file)
        expect(page.locator(".st-key-cv_go button")).to_have_text("Resume")
        expect(page.get_by_text("repetitions came with the file")).to_be_visible()
        page.context.close()
