"""A class experiment with many seats: ``python -m tests.benchmarks.rooms [--seats 200] [--servers 1] [--database …]``.

A teacher opens a room, and all seats join it at once, by the browser's own protocol: like `next_step.js` each asks once
a second, not all at the same moment, whether the room has changed, and then for a run of its part of the page. The
teacher starts, changes ε and reveals the truth; then the server is killed (kill -9), another one is started on the same
database, and everybody comes back. Printed are seconds, the clients' own work on the same processors included, and what
the servers used.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import signal
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import create_engine
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpviz.teaching.rooms.store import Store
from pages.experiment.rooms import ADDRESS
from tests.benchmarks.crowd import STEP, connected, cookie_for, processor
from tests.browser import started_app

Result = TypeVar("Result")

SEATS, PATIENCE = 200, 60.0
JITTER = 0.2  # Share by which a pause is longer or shorter than another, as in next_step.js
JOINED, SEEN = 10.0, 2.0
"""Seconds within which all have joined, and within which all see what the teacher changes."""


@dataclass
class Client:
    """A browser with the page open: what it shows, and where it asks for what.

    `host` may end with a base path; `headers` and `options` are those of the connection.
    `shown` are the texts of the page by their place, `buttons` and `sliders` the names of controls by their labels;
    `at` is what the address says, `step` the part of the page that is asked for again: its fragment, when, where to
    look for news, and what was seen there.
    """

    host: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    sliders: dict[str, Any] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=dict)
    step: tuple[str, float, str, str] | None = None
    runs: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _page: str = ""
    _socket: Any = None
    _http: Any = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All that the page says."""
        return "\n".join(self.shown.values())

    async def open(self) -> None:
        """Connect, and ask for the page."""
        headers = {**({} if "Cookie" in self.headers else await cookie_for(self.host)), **self.headers}
        self._socket = await connected(self.host, headers, open_timeout=PATIENCE, **self.options)
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._look())]
        await self.ask()

    async def close(self) -> None:
        """Leave."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await self._socket.close()
        if self._http is not None:
            self._http[1].close()

    async def ask(self, fragment: str = "", **control: Any) -> None:
        """Ask for a run, of a fragment, or after a control was touched: its `id`, and `trigger` or `words`."""
        ask = BackMsg()
        ask.rerun_script.page_script_hash, ask.rerun_script.query_string = self._page, self.query
        ask.rerun_script.page_name = "" if self._page else "experiment"
        ask.rerun_script.fragment_id = fragment
        if control:
            state = ask.rerun_script.widget_states.widgets.add()
            state.id = control["id"]
            if "words" in control:
                state.string_array_value.data.append(control["words"])
            else:
                state.trigger_value = True
        await self._socket.send(ask.SerializeToString())

    async def until(self, come: Callable[[Client], object]) -> float:
        """Wait until it has come; returns the time."""
        async with asyncio.timeout(PATIENCE):
            while not come(self):
                for task in self._tasks:
                    if task.done():
                        task.result()
                self.news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.news.wait(), 1.0)
        return time.perf_counter()

    async def press(self, label: str) -> None:
        """Press a button."""
        await self.until(lambda one: label in one.buttons)
        await self.ask(id=self.buttons[label])

    async def _listen(self) -> None:
        async for data in self._socket:
            message = ForwardMsg()
            message.ParseFromString(data)
            self._take(message)
            self.news.set()

    def _take(self, message: ForwardMsg) -> None:
        kind, element = message.WhichOneof("type"), message.delta.new_element
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self.shown, self.step, self.buttons, self.sliders = {}, None, {}, {}
        if kind == "navigation":
            self._page = message.navigation.page_script_hash
        if kind == "script_finished":
            self.runs += 1
        if kind != "delta":
            return
        if element.WhichOneof("type") == "html":
            self.shown[str(list(message.metadata.delta_path))] = element.html.body
        elif element.WhichOneof("type") == "button":
            self.buttons[element.button.label] = element.button.id
        elif element.WhichOneof("type") == "slider":
            self.sliders[element.slider.label] = element.slider
        elif element.WhichOneof("type") == "exception":
            raise RuntimeError(element.exception.message[:200])
        elif element.bidi_component.component_name == STEP:
            told = json.loads(element.bidi_component.json)
            fragment = message.delta.fragment_id
            self.step = fragment, told["after"] / 1000, told.get("watch", ""), told.get("seen", "")
        elif element.bidi_component.component_name == "dpviz_room_address":
            self.at = json.loads(element.bidi_component.json)
            self.query = "&".join(f"{name}={value}" for name, value in self.at.items() if value and name != "path")

    async def _look(self) -> None:
        """Ask for the next step when it is time, or when there is news."""
        while True:
            step = self.step
            if step is None:
                self.news.clear()
                await self.news.wait()
                continue
            fragment, after, watch, seen = step
            await asyncio.sleep(after * random.uniform(1 - JITTER, 1 + JITTER) if watch else after)
            if self.step is step and (not watch or await self._told(watch) != seen):
                self.step = None
                await self.ask(fragment)

    async def _told(self, watch: str) -> str:
        """What the server says at an address, on a connection that is kept, or on another once that is shut."""
        try:
            reader, head = await self._asked(watch)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._http = None
            reader, head = await self._asked(watch)
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = (await reader.readexactly(int(length[1]) if length else 0)).decode()
        assert " 200 " in head.splitlines()[0], (head, body)
        return body

    async def _asked(self, watch: str) -> tuple[asyncio.StreamReader, str]:
        server, _, path = self.host.partition("/")
        if self._http is None:
            name, _, port = server.partition(":")
            self._http = await asyncio.open_connection(name, int(port))
        reader, writer = self._http
        writer.write(f"GET {path and f'/{path}'}{watch[1:]} HTTP/1.1\r\nHost: {server}\r\n\r\n".encode())
        return reader, (await reader.readuntil(b"\r\n\r\n")).decode()


def seat_of(client: Client) -> int:
    """The number of its seat, 0 where it has none."""
    found = re.search(r"[Ss]eat (\d+)", client.text)
    return int(found[1]) if found else 0


async def everybody(clients: list[Client], come: Callable[[Client], object], since: float) -> list[float]:
    """Wait until it has come for all; returns the seconds of each, in order."""
    return sorted(one - since for one in await asyncio.gather(*(client.until(come) for client in clients)))


async def at_once(clients: list[Client], act: Callable[[Client], Awaitable[None]]) -> None:
    """Do something with all."""
    await asyncio.gather(*(act(client) for client in clients))


@dataclass
class Report:
    """What was measured: seconds of each seat by what it waited for."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    lost: int = 0
    moved: int = 0
    processor: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, seconds: list[float]) -> None:
        """Note how long each waited."""
        self.waits[name] = seconds

    def table(self) -> Iterator[str]:
        """The lines of a table."""
        yield "| all seats | first | p50 | p95 | last |"
        yield "|---|---|---|---|---|"
        for name, seconds in self.waits.items():
            late = seconds[int(0.95 * (len(seconds) - 1))]
            yield f"| {name} | {seconds[0]:.2f} | {statistics.median(seconds):.2f} | {late:.2f} | {seconds[-1]:.2f} |"


@contextlib.asynccontextmanager
async def joined(hosts: list[str], queries: list[str]) -> AsyncIterator[list[Client]]:
    """Clients at the servers in turn, each with its query, all connected at once."""
    clients = [Client(hosts[place % len(hosts)], query) for place, query in enumerate(queries)]
    try:
        await at_once(clients, Client.open)
        yield clients
    finally:
        await at_once(clients, Client.close)


async def experiment(
    hosts: list[str], seats: int, store: Store, report: Report, at_rest: Callable[[], Awaitable[None]]
) -> tuple[str, list[str]]:
    """A room from its opening to the reveal; returns its code, the teacher's query first among those of everybody."""
    teacher = Client(hosts[0])
    try:
        await teacher.open()
        await teacher.press("Open a room")
        await teacher.until(lambda one: one.at.get("teacher") and "dpviz-code" in one.text)
        code = teacher.at["room"]
        start = time.perf_counter()
        async with joined(hosts, [f"room={code}"] * seats) as clients:
            report.add("join, all at once", await everybody(clients, seat_of, start))
            assert sorted(map(seat_of, clients)) == list(range(1, seats + 1))
            start = time.perf_counter()
            await teacher.until(lambda one: f"{seats} seats are taken" in one.text)
            await teacher.press("Start")
            start = time.perf_counter()
            report.add("see the start", await everybody(clients, lambda one: "Your interval" in one.text, start))
            while len(store.reports(code, 1)) < seats:
                assert time.perf_counter() < start + PATIENCE
                await asyncio.sleep(0.02)
            report.add("have reported", [time.perf_counter() - start])
            await teacher.until(lambda one: f"{seats} of {seats}" in one.text)
            report.add("stand on the projector", [time.perf_counter() - start])
            for words in ("2", "0.5"):
                before = [client.text for client in clients]
                await teacher.until(lambda one: one.sliders)  # of this run: a page that came before had its own
                (slider,) = teacher.sliders.values()
                start = time.perf_counter()
                await teacher.ask(id=slider.id, words=words)
                changed = [
                    client.until(lambda one, old=old: one.text not in ("", old))
                    for client, old in zip(clients, before, strict=True)
                ]
                report.add(f"see ε = {words}", sorted(one - start for one in await asyncio.gather(*changed)))
                await asyncio.sleep(1.0)
            start = time.perf_counter()
            await teacher.press("Reveal truth")
            report.add("see the truth", await everybody(clients, lambda one: "The true share" in one.text, start))
            await at_rest()
            return code, [teacher.query, *(client.query for client in sorted(clients, key=seat_of))]
    finally:
        await teacher.close()


async def come_back(hosts: list[str], queries: list[str], report: Report) -> None:
    """Everybody on other servers: each is on the seat that it had."""
    start = time.perf_counter()
    async with joined(hosts, queries[1:]) as clients:
        told = await everybody(clients, lambda one: "The true share" in one.text, start)
        report.add("are back on their seats", told)
        report.moved = sum(seat_of(one) != place for place, one in enumerate(clients, 1))


def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it, in a thread of its own: where a browser is driven, the main one has a loop that runs."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()


def measure(seats: int, servers: int, database: str, rest: float = 2.0) -> Report:
    """The whole experiment, and after a kill the return, all to one server; each begins after some seconds of rest."""
    os.environ[ADDRESS] = database
    engine = create_engine(database)
    report, store = Report(), Store(engine)
    with contextlib.ExitStack() as running:
        started = [running.enter_context(started_app()) for _ in range(servers)]
        hosts = [address.removeprefix("http://") for address, _ in started]
        time.sleep(rest)  # the workers are there

        def used() -> float:
            return sum(processor(process)[0] for _, process in started)

        async def at_rest() -> None:
            """Note what it costs that all seats look for news, and there are none."""
            report.processor["seconds of the servers' processors in all of it"] = used() - before
            start = used()
            await asyncio.sleep(rest)
            report.processor[f"then, in {rest:g} seconds in which nothing changes"] = used() - start

        before = used()
        code, queries = finished(experiment(hosts, seats, store, report, at_rest))
        kept = store.reports(code, 1)
        for _, process in started:
            os.kill(process, signal.SIGKILL)
    report.lost = seats - len(kept)
    with started_app() as (address, _):
        assert store.reports(code, 1) == kept
        time.sleep(rest)
        finished(come_back([address.removeprefix("http://")], queries, report))
    engine.dispose()
    return report


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seats", type=int, default=SEATS)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--database", default="", help="as SQLAlchemy writes it; else a file that is deleted")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = measure(asked.seats, asked.servers, asked.database or f"sqlite:///{folder}/rooms.sqlite")
    print(f"{asked.seats} seats, {asked.servers} server(s); goals: join {JOINED:g} s, see a change {SEEN:g} s")
    print(*report.table(), sep="\n")
    print(f"reports lost: {report.lost}; seats that are another one: {report.moved}")
    for name, value in report.processor.items():
        print(f"{name}: {value:.2f}")


if __name__ == "__main__":
    main()
