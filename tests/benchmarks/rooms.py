"""A class experiment with many seats: ``python -m tests.benchmarks.rooms [--seats 200] [--servers 1] [--database …]``.

A teacher opens a room, and all seats join it at once, by the protocol of a browser. The teacher starts, changes ε and
reveals the truth; then the server is killed, another one is started on the same database, and everybody comes back.
Printed are the seconds that the seats waited, the clients' own work on the same processors included, and the processor
time of the servers.
"""

import argparse
import asyncio
import contextlib
import os
import re
import signal
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import create_engine

from dpviz.teaching.classroom.store import RoomStore
from pages.room.server import ADDRESS
from tests.benchmarks.crowd import percentile
from tests.benchmarks.processors import processor_time
from tests.benchmarks.reader import run_in_thread
from tests.benchmarks.room_client import TIMEOUT_S, Client
from tests.browser import started_app

N_SEATS = 200
MAX_JOIN_S = 10.0  # until all have joined
MAX_CHANGE_S = 2.0  # until all see what the teacher changes
REST_S = 2.0
EPSILONS = ("2", "0.5")
"""Stops to which the teacher moves the slider, one after the other."""


@dataclass
class Report:
    """Seconds that the seats waited, sorted, by what they waited for; what was lost; and processor seconds."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    lost_reports: int = 0
    changed_seats: int = 0
    processor: dict[str, float] = field(default_factory=dict)

    def table(self) -> Iterator[str]:
        """Yield the lines of a table."""
        yield "| all seats | first | p50 | p95 | last |"
        yield "|---|---|---|---|---|"
        for name, seconds in self.waits.items():
            p95 = percentile(seconds, 0.95)
            yield f"| {name} | {seconds[0]:.2f} | {statistics.median(seconds):.2f} | {p95:.2f} | {seconds[-1]:.2f} |"


async def wait_for_all(clients: list[Client], condition: Callable[[Client], object], since: float) -> list[float]:
    """Wait until a condition holds for all clients; returns the seconds of each since a time, sorted."""
    times = await asyncio.gather(*(client.wait_for(condition) for client in clients))
    return sorted(moment - since for moment in times)


@contextlib.asynccontextmanager
async def open_clients(hosts: list[str], queries: list[str]) -> AsyncIterator[list[Client]]:
    """Clients at the servers in turn, one for each query, which all connect at once."""
    clients = [Client(hosts[number % len(hosts)], query) for number, query in enumerate(queries)]
    try:
        await asyncio.gather(*(client.open() for client in clients))
        yield clients
    finally:
        await asyncio.gather(*(client.close() for client in clients))


async def experiment(
    hosts: list[str], n_seats: int, store: RoomStore, report: Report, at_rest: Callable[[], Awaitable[None]]
) -> tuple[str, list[str]]:
    """Hold a class from the opening of its room to the truth.

    Parameters
    ----------
    hosts : list of str
        Servers on the same database.
    n_seats : int
    store : RoomStore
        The database.
    report : Report
        Gets the seconds that the seats waited.
    at_rest : callable
        Awaited when everything is done and all pages are still open.

    Returns
    -------
    code : str
        Of the room.
    queries : list of str
        Of the teacher, then of every seat in order.
    """
    teacher = Client(hosts[0])
    try:
        await teacher.open()
        await teacher.press("Open a room")
        await teacher.wait_for(lambda client: "teacher" in client.settings and "dpviz-code" in client.text)
        code = teacher.settings["room"]
        start = time.perf_counter()
        async with open_clients(hosts, [f"room={code}"] * n_seats) as clients:
            report.waits["join, all at once"] = await wait_for_all(clients, lambda client: client.seat, start)
            assert sorted(client.seat for client in clients) == list(range(1, n_seats + 1))
            await _start(teacher, clients, code, store, report)
            for epsilon in EPSILONS:
                await _change(teacher, clients, epsilon, report)
            start = time.perf_counter()
            await teacher.press("Reveal truth")
            told = await wait_for_all(clients, lambda client: "The true share" in client.text, start)
            report.waits["see the truth"] = told
            await wait_for_all(clients, lambda client: "seat" in client.settings, start)
            await at_rest()
            return code, [teacher.query, *(client.query for client in sorted(clients, key=lambda each: each.seat))]
    finally:
        await teacher.close()


async def _start(teacher: Client, clients: list[Client], code: str, store: RoomStore, report: Report) -> None:
    """Start, and wait until all have their table and stand on the projector."""
    n_seats = len(clients)
    await teacher.wait_for(lambda client: f"{n_seats} seats are taken" in client.text)
    start = time.perf_counter()
    await teacher.press("Start")
    report.waits["see the start"] = await wait_for_all(clients, interval, start)
    while len(store.reports(code, 1)) < n_seats:
        assert time.perf_counter() < start + TIMEOUT_S
        await asyncio.sleep(0.02)
    report.waits["have reported"] = [time.perf_counter() - start]
    await teacher.wait_for(lambda client: f"{n_seats} of {n_seats}" in client.text)
    report.waits["stand on the projector"] = [time.perf_counter() - start]


async def _change(teacher: Client, clients: list[Client], epsilon: str, report: Report) -> None:
    """Move the teacher's slider, and wait until the interval of every seat has changed."""
    before = [interval(client) for client in clients]
    await teacher.wait_for(lambda client: client.sliders)
    (slider,) = teacher.sliders.values()
    start = time.perf_counter()
    await teacher.move(slider, epsilon)
    waits = [
        client.wait_for(lambda client, old=old: interval(client) not in ("", old))
        for client, old in zip(clients, before, strict=True)
    ]
    report.waits[f"see ε = {epsilon}"] = sorted(moment - start for moment in await asyncio.gather(*waits))
    await asyncio.sleep(1.0)


def interval(client: Client) -> str:
    """The interval of a seat in words, empty before it has one."""
    found = re.search(r"Your interval[^<]*", client.text)
    return found[0] if found else ""


async def come_back(hosts: list[str], queries: list[str], report: Report) -> None:
    """Have everybody open the page anew, and note whether each is on the seat that it had."""
    start = time.perf_counter()
    async with open_clients(hosts, queries[1:]) as clients:
        waits = await wait_for_all(clients, lambda client: "The true share" in client.text, start)
        report.waits["are back on their seats"] = waits
        report.changed_seats = sum(client.seat != number for number, client in enumerate(clients, 1))


def measure(n_seats: int, n_servers: int, database: str, rest: float = REST_S) -> Report:
    """Hold a class, kill its servers, and have everybody come back to a new one.

    Parameters
    ----------
    n_seats, n_servers : int
    database : str
        URL of it, as SQLAlchemy writes it.
    rest : float, optional
        Seconds after the start of a server, and in which the processor time of open pages is measured.

    Returns
    -------
    Report
    """
    os.environ[ADDRESS] = database
    engine = create_engine(database)
    report = Report()
    store = RoomStore(engine)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(started_app()) for _ in range(n_servers)]
        hosts = [url.removeprefix("http://") for url, _ in servers]
        time.sleep(rest)

        def used() -> float:
            return sum(processor_time(process)[0] for _, process in servers)

        async def at_rest() -> None:
            report.processor["in all of it"] = used() - before
            start = used()
            await asyncio.sleep(rest)
            report.processor[f"in {rest:g} s in which nothing changes"] = used() - start

        before = used()
        code, queries = run_in_thread(experiment(hosts, n_seats, store, report, at_rest))
        reports = store.reports(code, 1)
        for _, process in servers:
            os.kill(process, signal.SIGKILL)
    report.lost_reports = n_seats - len(reports)
    with started_app() as (url, _):
        assert store.reports(code, 1) == reports
        time.sleep(rest)
        run_in_thread(come_back([url.removeprefix("http://")], queries, report))
    engine.dispose()
    return report


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seats", type=int, default=N_SEATS)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--database", default="", help="URL as SQLAlchemy writes it; else a file that is deleted")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = arguments.database or f"sqlite:///{folder}/rooms.sqlite"
        report = measure(arguments.seats, arguments.servers, database)
    goals = f"goals: join {MAX_JOIN_S:g} s, see a change {MAX_CHANGE_S:g} s"
    print(f"{arguments.seats} seats, {arguments.servers} server(s); {goals}")
    print(*report.table(), sep="\n")
    print(f"reports lost: {report.lost_reports}; seats that changed: {report.changed_seats}")
    for name, seconds in report.processor.items():
        print(f"processor seconds of the servers {name}: {seconds:.2f}")


if __name__ == "__main__":
    main()
