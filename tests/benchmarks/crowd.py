"""A class that explores: ``python -m tests.benchmarks.crowd [--seeds 1 2] [--readers 30] [--seconds 25] [PAGE …]``.

The readers of each page, on a server that has just been started, move any slider by up to five stops about twice a
second, so that nearly every question is new, by the browser's own protocol. Like a browser they ask for the next step
of what grows, as soon as they have the last one. Printed are the milliseconds from a move to the end of its run, the
readers' own work included; how many of these runs still had to say that their answer is being computed, which comes
with a step; the processor time that a move costs the server, and its workers; how long after the last
move everything has grown to its end; and what the server uses in the two seconds that begin two seconds after the last
reader has left. A single reader comes first, with goals of its own.

Then five browsers press Start on Coverage at once: how soon each sees simulated dots, and the end of its run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import websockets
from playwright.sync_api import sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg, RunIdentity
from streamlit.proto.Slider_pb2 import Slider
from websockets.typing import Subprotocol

from tests.browser import chromium_path, launch, running_app, settle, started_app

CLIENTS, SECONDS, PATIENCE = 30, 25, 90
FURTHEST = 5  # Stops of one move
FORGOTTEN = 15  # Seconds after which a browser asks again for a step that nothing came of
GROWN = 10  # Seconds after the last move within which everything is to be complete
WORST = 3000  # Milliseconds that no move may take


class Goals(NamedTuple):
    """The 95th percentile in ms of a crowd and of one reader, and the processor's ms of a move."""

    crowd: int
    alone: int
    processor: int


PAGES = {
    "": Goals(100, 120, 12),
    "transition_matrices": Goals(300, 120, 18),
    "posterior": Goals(300, 120, 18),
    "minimum_priors": Goals(500, 200, 35),
    "coverage": Goals(500, 200, 35),
    "compare_synthesizers": Goals(1000, 200, 60),
    "budget": Goals(1000, 200, 60),
    "curator": Goals(1000, 200, 60),
}

STEP = "dpviz_next_step"
"""The component that asks for the next step of what grows."""

ANSWER, OPEN = "dpviz-now", "<b>computing</b>"
"""What stands in the answer of a page, and in one that is still to come."""

READERS, GOAL = 5, 1.0
REPETITIONS = 100_000
PRESS = """
() => {
  const start = performance.now();
  window.first = null;
  window.whole = null;
  const poll = () => {
    // The captions alone: laying out the whole page at every frame would keep the processors busy that are measured.
    const captions = [...document.querySelectorAll('[data-testid=stCaptionContainer]')];
    const text = captions.map((caption) => caption.textContent).join(' ');
    if (window.first === null && / of 100,000 repetitions/.test(text)) window.first = performance.now() - start;
    if (/100,000 of 100,000 repetitions/.test(text)) window.whole = performance.now() - start;
    else requestAnimationFrame(poll);
  };
  requestAnimationFrame(poll);
  document.querySelector('.st-key-cv_go button').click();
}
"""


def connected(host: str, headers: Mapping[str, str], **options: Any) -> websockets.connect:
    """A connection as the browser makes it to the app at `host`, which may end with a base path."""
    return websockets.connect(
        f"ws://{host}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
        origin=f"http://{host.partition('/')[0]}",  # type: ignore[arg-type]
        additional_headers=headers,
        **options,
    )


async def cookie_for(host: str) -> dict[str, str]:
    """The header that a proxy has a browser send after the first page, so that it stays with one process, if any."""
    server, _, path = host.partition("/")
    name, _, port = server.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"GET /{path and f'{path}/'} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    await writer.wait_closed()
    found = re.search(r"^set-cookie: (dpviz_[^;]+)", head, re.IGNORECASE | re.MULTILINE)
    return {"Cookie": found[1]} if found else {}


@dataclass
class Step:
    """What asks for a step: the part of the page that it draws, when it does so next, and the run that has shown it."""

    fragment: str
    at: float
    run: str


class Reader:
    """One reader of a page: `firsts` and `moves` are seconds; `over` is when nothing grew any more.

    What asks for steps is held as a browser holds it: a run of the whole page takes away what it has not shown again,
    and a step what was in the part that it has drawn. What it has asked for and not heard of it asks for again.
    """

    def __init__(self, page: str, seed: int) -> None:
        self.page, _, self.query = page.partition("?")
        self.random = random.Random(seed)
        self.firsts: list[float] = []
        self.moves: list[float] = []
        self.steps = self.in_vain = self.unanswered = 0
        self.last_move = self.over = 0.0
        self._sliders: dict[str, Slider] = {}
        self._places: dict[str, int] = {}
        self._grows: dict[str, Step] = {}
        self._run, self._drawn = RunIdentity(), set[str]()  # the latest, and the parts of which it has drawn something
        self._open = False  # whether the answer that was last shown is still to come
        self._busy, self._unheard = False, 0.0  # whether it goes on; until when what was asked for may be on its way

    @property
    def grown(self) -> bool:
        """Whether all that grows has grown to its end."""
        return not (self._grows or self._busy or self._unheard)

    async def read(self, host: str, until: float, patience: float = PATIENCE) -> None:
        """Open the page, move its sliders until it is time, and wait, for so long, until everything is complete."""
        async with connected(host, await cookie_for(host), open_timeout=PATIENCE) as socket:
            self.firsts.append(await self._move(socket, self._asked()))
            while (now := time.perf_counter()) < until:
                await self._look_on(socket, now + self.random.uniform(0.2, 0.8))
                self.moves.append(await self._move(socket, self._another()))
                self.unanswered += self._open
            self.last_move = self.over = time.perf_counter()
            while not self.grown and time.perf_counter() < self.last_move + patience:
                await self._look_on(socket, time.perf_counter() + 0.2)
                self.over = time.perf_counter()

    async def visit(self, host: str, moves: int) -> None:
        """Open the page, move so many of its sliders, as far as it has any, and leave."""
        async with connected(host, await cookie_for(host), open_timeout=PATIENCE) as socket:
            self.firsts.append(await self._move(socket, self._asked()))
            for _ in range(moves if self._live else 0):
                self.moves.append(await self._move(socket, self._another()))

    def _asked(self) -> BackMsg:
        ask = BackMsg()
        ask.rerun_script.query_string, ask.rerun_script.page_name = self.query, self.page
        return ask

    @property
    def _live(self) -> list[str]:
        return [key for key, one in sorted(self._sliders.items()) if not one.disabled and len(one.options) > 1]

    def _another(self) -> BackMsg:
        """A move of any slider that has somewhere to go."""
        key = self.random.choice(self._live)
        stops, start = list(self._sliders[key].options), list(self._sliders[key].default)
        here = self._places.get(key, int(start[0]) if start else 0)
        far = self.random.choice([step for step in range(-FURTHEST, FURTHEST + 1) if step])
        self._places[key] = min(max(here + far, 0), len(stops) - 1)
        ask = self._asked()
        state = ask.rerun_script.widget_states.widgets.add()
        state.id = key
        state.string_array_value.data.append(stops[self._places[key]])
        return ask

    async def _move(self, socket: websockets.ClientConnection, ask: BackMsg) -> float:
        """Ask for a run of the whole page and wait for its end: it is the first of those that begin from now on."""
        start, before = time.perf_counter(), self._run
        await socket.send(ask.SerializeToString())
        while not (await self._hear(socket, PATIENCE) and self._run != before and not self._run.fragment_ids):
            if time.perf_counter() > start + PATIENCE:
                raise TimeoutError(f"A move has not been answered within {PATIENCE} s.")
        return time.perf_counter() - start

    async def _look_on(self, socket: websockets.ClientConnection, until: float) -> None:
        """Ask for steps, one after the other and none while the page runs, until it is time, or nothing grows."""
        while (now := time.perf_counter()) < until:
            step = min(self._grows.values(), key=lambda one: one.at, default=None)
            if now >= self._unheard:
                self._unheard = 0.0
            if step is None or self._busy or self._unheard or step.at > now:
                due = until if step is None or self._busy else max(step.at, self._unheard)
                await self._hear(socket, max(min(due, until) - now, 0.0))
                continue
            step.at = self._unheard = now + FORGOTTEN
            ask = self._asked()
            ask.rerun_script.fragment_id = step.fragment
            await socket.send(ask.SerializeToString())
            self.steps += 1

    async def _hear(self, socket: websockets.ClientConnection, seconds: float) -> bool:
        """Take one message; returns whether a run has ended with it, or false as well where none comes in time."""
        message = ForwardMsg()
        try:
            message.ParseFromString(await asyncio.wait_for(socket.recv(decode=False), seconds))
        except TimeoutError:
            return False
        self._unheard = 0.0
        kind, element, fragment = message.WhichOneof("type"), message.delta.new_element, message.delta.fragment_id
        if kind == "new_session":
            self._run, self._drawn, self._busy = message.metadata.run, set(), True
        elif kind == "delta":
            self._drawn.add(fragment)
            if element.WhichOneof("type") == "slider":
                self._sliders[element.slider.id] = element.slider
            elif element.WhichOneof("type") == "html" and ANSWER in element.html.body:
                self._open = OPEN in element.html.body
            elif element.WhichOneof("type") == "exception":
                raise RuntimeError(element.exception.message[:200])
            elif element.bidi_component.component_name == STEP:
                after = json.loads(element.bidi_component.json)["after"] / 1000
                self._grows[fragment] = Step(fragment, time.perf_counter() + after, self._run.script_run_id)
        # A run that ends early, as where a page is entered, is followed by the one that was asked for.
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._end(message.metadata.run)
            return True
        return False

    def _end(self, run: RunIdentity) -> None:
        """Take away what a run has not shown again; a step that has drawn nothing, of a part long gone, is in vain."""
        self._busy, parts = False, run.fragment_ids
        self.in_vain += bool(parts) and not self._drawn.intersection(parts)
        self._grows = {
            name: one
            for name, one in self._grows.items()
            if one.run == run.script_run_id or (parts and name not in parts)
        }


async def crowd(host: str, page: str, clients: int, seconds: float, seed: int) -> list[Reader]:
    """So many readers of a page for so long."""
    readers = [Reader(page, 1000 * seed + place) for place in range(clients)]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(reader.read(host, until) for reader in readers))
    return readers


def processor(process: int) -> tuple[float, float]:
    """The seconds that a process has used, and all that it has started."""
    parts = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    mine = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return mine, sum(sum(processor(one)) for one in started_by(process))


def started_by(process: int) -> list[int]:
    """The processes that one has started and that there are: a thread of it may end while it is asked."""
    found = list[int]()
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, (thread / "children").read_text().split())
    return found


def show_moves(page: str, clients: int, seconds: float, seed: int) -> None:
    """Print what a crowd, or one reader, meets on a page of a server that was just started."""
    with started_app() as (address, process):
        time.sleep(2)  # the workers are there
        before = processor(process)
        readers = asyncio.run(crowd(address.removeprefix("http://"), page, clients, seconds, seed))
        used = [after - was for after, was in zip(processor(process), before, strict=True)]
        time.sleep(2)
        at_rest = sum(processor(process))
        time.sleep(2)
        idle = sum(processor(process)) - at_rest
    moves = sorted(1e3 * one for reader in readers for one in reader.moves)
    if not moves:
        sys.exit("Nobody came to a first move in time.")
    firsts = [one for reader in readers for one in reader.firsts]
    goal = PAGES[page.partition("?")[0]]
    late = moves[int(0.95 * len(moves))]
    aims = f"goals {goal.crowd}, {WORST}, {goal.processor}, {GROWN}" if clients > 1 else f"goal {goal.alone}"
    last = max(reader.last_move for reader in readers)
    complete = sorted(reader.over - last for reader in readers if reader.grown)
    after = f" {max(complete[-1], 0.0):4.1f} s after" if complete else ""
    unanswered = sum(reader.unanswered for reader in readers)
    in_vain = sum(reader.in_vain for reader in readers)
    print(
        f"{page or 'start':20} {clients:3} readers, seed {seed}: {len(moves):5} moves, "
        f"{sum(reader.steps for reader in readers):5} steps: p50 {statistics.median(moves):5.0f}, p95 {late:5.0f}, "
        f"worst {moves[-1]:5.0f} ms, {unanswered} answers later; "
        f"a move {1e3 * used[0] / len(moves):4.0f} + {1e3 * used[1] / len(moves):3.0f} ms "
        f"of processor; {len(complete)} of {clients} complete{after}, "
        f"{in_vain} steps in vain; first page at most {max(firsts):.2f} s; at rest {idle:.2f} s; "
        f"{aims}",
        flush=True,
    )


def show_runs(address: str) -> None:
    """Print, for each reader, the seconds to the first picture and to the end of a run that all start at once."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        pages = []
        for reader in range(READERS):
            page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            page.goto(f"{address}/coverage?cv_repetitions={REPETITIONS}&cv_seed={reader + 1}")
            settle(page)
            pages.append(page)
        time.sleep(2)
        for page in pages:
            page.evaluate(PRESS)
        for page in pages:
            page.wait_for_function("() => window.whole !== null", timeout=60_000)
        firsts = [page.evaluate("window.first") / 1e3 for page in pages]
        wholes = [page.evaluate("window.whole") / 1e3 for page in pages]
        print(f"{READERS} readers, {REPETITIONS:,} repetitions each, n = m = 100, M = 5, every rule")
        print("first picture, s:", *(f"{one:.2f}" for one in firsts), "goal", GOAL)
        print("whole run, s:    ", *(f"{one:.2f}" for one in wholes))
        browser.close()


def main() -> None:
    """Every page alone and with a crowd, and runs that start at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", help="by their paths and further addresses; 'start' is the first one")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--readers", nargs="+", type=int, default=[1, CLIENTS])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    asked = parser.parse_args()
    for page in [one.removeprefix("start") for one in asked.pages] or PAGES:
        for seed in asked.seeds:
            for clients in asked.readers:
                show_moves(page, clients, asked.seconds, seed)
    if asked.pages:
        return
    if chromium_path() is None:
        sys.exit("No Chromium was found; runs that start at once were not measured.")
    with running_app() as address:
        show_runs(address)


if __name__ == "__main__":
    main()
