"""What breaks in a running server: other readers get their answers, and nothing goes on that nobody needs."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from tests.benchmarks.crowd import explore
from tests.benchmarks.processors import child_processes, processor_time
from tests.benchmarks.reader import Reader, connect, run_in_thread
from tests.browser import started_app

MAX_IDLE_S = 0.25  # processor time in a second of a server and its workers at rest
REST_TIMEOUT_S = 60.0


class Server(NamedTuple):
    host: str
    process: int


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    with started_app() as (url, process):
        yield Server(url.removeprefix("http://"), process)


def workers(server: Server) -> list[int]:
    """Numbers of the worker processes: the children of the processes that the server forks them from."""
    return [worker for parent in child_processes(server.process) for worker in child_processes(parent)]


def test_readers_get_every_answer_while_workers_are_killed(own_server: Server) -> None:
    async def read_and_kill() -> list[Reader]:
        reading = asyncio.create_task(explore(own_server.host, "coverage", 3, 4.0, seed=1))
        killed = set()
        while not reading.done():
            for process in workers(own_server):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                killed.add(process)
            await asyncio.sleep(0.8)
        assert len(killed) > 4  # new ones have come after the first four
        return await reading

    for reader in run_in_thread(read_and_kill()):
        assert reader.openings
        assert reader.completed is not None


def test_a_server_comes_to_rest_after_readers_who_leave_in_the_middle(own_server: Server) -> None:
    async def leave() -> None:
        for number in range(5):
            reader = Reader("curator", number)
            async with connect(own_server.host, {}) as socket:
                await socket.send(reader.request())
                await socket.recv()
                socket.transport.abort()

    run_in_thread(leave())
    other = Reader("", 2)
    run_in_thread(other.visit(own_server.host, 2))
    assert len(other.moves) == 2
    deadline = time.monotonic() + REST_TIMEOUT_S
    used = MAX_IDLE_S
    while used >= MAX_IDLE_S:
        assert time.monotonic() < deadline
        before = sum(processor_time(own_server.process))
        time.sleep(1.0)
        used = sum(processor_time(own_server.process)) - before
