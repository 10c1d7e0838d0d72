"""Many readers of all pages behind the proxy: ``python -m tests.benchmarks.campus [--clients 200] [--processes 2]``.

Each wanders: it opens a page, which it draws by its seed, moves any of its sliders by up to five stops about twice in
three seconds, like a browser asks for the next step of what grows, and after some ten seconds goes on to another page.
All come within the first seconds, from one address, as a campus behind a single one does. Printed are the milliseconds
to a first answer of a page and from a move to the end of its run, the errors that any of them met, and what the
processes, their workers and the proxy used of the processors, which do the readers' work as well. `--sessions` asks for
so many short visits over all pages instead, one wave after another, and prints the memory after each.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dpviz.core.working import IDLE
from pages.components.navigation import EVERY_PAGE
from tests.benchmarks.crowd import PAGES, Reader, processor, started_by
from tests.benchmarks.rooms import finished
from tests.campus import PATH, Campus, running_campus

CLIENTS, PROCESSES, SECONDS = 200, 2, 60.0
STAYS, COME = (6.0, 14.0), 5.0
"""Seconds on one page, and within which all have come."""

WAVE = 20
"""Sessions of a wave."""

KEPT = 128
"""Sessions that Streamlit keeps for those who may come back: before there have been so many, memory grows."""


@dataclass
class Wandered:
    """What was met: seconds to a first answer and of a move, and errors by what they say."""

    firsts: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    processor: dict[str, float] = field(default_factory=dict)

    def add(self, reader: Reader) -> None:
        """Note what a reader of one page has met."""
        self.firsts += reader.firsts
        self.moves += reader.moves

    def __str__(self) -> str:
        """The line of a table."""
        first, move = (f"{_late(one, 0.5):.0f} / {_late(one, 0.95):.0f} / {_late(one, 1.0):.0f}" for one in self._times)
        used = ", ".join(f"{name} {value:.0f} %" for name, value in self.processor.items())
        return (
            f"{len(self.firsts):,} pages: {first} ms; {len(self.moves):,} moves: {move} ms (p50 / p95 / worst); "
            f"errors: {sum(self.errors.values())} {dict(self.errors) or ''}; processors: {used}"
        )

    @property
    def _times(self) -> tuple[list[float], list[float]]:
        return self.firsts, self.moves


def _late(seconds: list[float], share: float) -> float:
    found = sorted(seconds) or [float("nan")]
    return 1e3 * found[min(int(share * len(found)), len(found) - 1)]


async def wander(host: str, seed: int, until: float, into: Wandered) -> None:
    """One client, from page to page, at least one; whatever goes wrong is counted, and it goes on."""
    chance, seen = random.Random(seed), 0
    await asyncio.sleep(chance.uniform(0.0, COME))
    while (now := time.perf_counter()) < until or not seen:
        reader = Reader(chance.choice([*PAGES]), chance.randrange(10**6))
        try:
            await reader.read(host, min(until, now + chance.uniform(*STAYS)), patience=0.0)
        except Exception as broken:
            into.errors[f"{type(broken).__name__}: {str(broken)[:60]}"] += 1
            await asyncio.sleep(1.0)
        into.add(reader)
        seen += 1


def measure(campus: Campus, clients: int, seconds: float, seed: int = 1) -> Wandered:
    """So many clients for so long."""
    found = Wandered()

    async def everybody() -> None:
        until = time.perf_counter() + seconds
        host = f"{campus.host}/{PATH}"
        await asyncio.gather(*(wander(host, 1000 * seed + place, until, found) for place in range(clients)))

    before, start = _used(campus), time.perf_counter()
    finished(everybody())
    took = time.perf_counter() - start
    found.processor = {name: 100 * (used - before[name]) / took for name, used in _used(campus).items()}
    return found


def _used(campus: Campus) -> dict[str, float]:
    apps = [processor(one) for one in campus.processes.values()]
    clients = os.times()
    return {
        "app": sum(mine for mine, _ in apps),
        "workers": sum(started for _, started in apps),
        "proxy": sum(processor(campus.proxy)),
        "readers": clients.user + clients.system,
    }


def memory(process: int) -> float:
    """Megabytes that a process and all that it has started hold for themselves."""
    found = 0.0
    waiting = [process]
    while waiting:
        one = waiting.pop()
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            found += int(line.split()[1]) / 1024 if line.startswith("Private_") else 0.0
        waiting += started_by(one)
    return found


async def visits(host: str, count: int, moves: int, seed: int) -> None:
    """A wave of sessions, each of which opens some page, moves a few times and leaves."""

    async def visit(place: int) -> None:
        reader = Reader(EVERY_PAGE[place % len(EVERY_PAGE)].path, seed + place)
        await reader.visit(host, moves)

    await asyncio.gather(*(visit(place) for place in range(count)))


def waves(host: str, process: int, sessions: int, moves: int = 2) -> list[float]:
    """The memory of a server at rest after each wave of sessions."""
    found = []
    for place in range(0, sessions, WAVE):
        finished(visits(host, min(WAVE, sessions - place), moves, place))
        time.sleep(2 * IDLE)
        found.append(memory(process))
    return found


def main() -> None:
    """Print what was met."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=0)
    asked = parser.parse_args()
    with running_campus(asked.processes if not asked.sessions else 1) as campus:
        time.sleep(2)  # the workers are there
        if not asked.sessions:
            load = os.getloadavg()[0]
            print(
                f"{asked.clients} clients, {asked.processes} processes, {os.cpu_count()} cores, load {load:.1f} before"
            )
            print(measure(campus, asked.clients, asked.seconds, asked.seed))
            return
        (process,) = campus.processes.values()
        held = waves(f"{campus.host}/{PATH}", process, asked.sessions)
        print("MB after each wave:", *(f"{one:.0f}" for one in held))
        late = held[KEPT // WAVE :]
        early, last = late[: len(late) // 2], late[len(late) // 2 :]
        print(f"from {KEPT} sessions on {statistics.mean(last) - statistics.mean(early):+.1f} MB")


if __name__ == "__main__":
    main()
