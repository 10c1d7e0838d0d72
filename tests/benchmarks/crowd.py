"""A class at once: ``python -m tests.benchmarks.crowd``.

Thirty readers of each page move a slider about twice a second, by the browser's own protocol, and the time from a move
to the end of its run is measured, the readers' own work included. Then five browsers press Start on Coverage at once:
how soon each sees simulated dots, and the end of its run.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time

import websockets
from playwright.sync_api import sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Subprotocol

from tests.browser import chromium_path, launch, running_app, settle

CLIENTS, SECONDS = 30, 20
PAGES = {
    "": ("home_epsilon_slider", 0.0, 1.0, 150),
    "transition_matrices": ("tm_epsilon_slider", 0.0, 1.0, 150),
    "minimum_priors": ("mp_epsilon_slider", 0.3, 0.9, 150),
    "coverage": ("cv_epsilon_slider", 0.3, 0.9, 400),
    "posterior": ("po_epsilon_slider", 0.3, 0.9, 150),
}
"""By page: a slider, between which shares of its stops it is moved, and the goal of the 95th percentile in ms."""
ALONE = 120  # The same goal for one reader, who has one on the first page

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


class Reader:
    """One reader of a page: `firsts` and `moves` are seconds."""

    def __init__(self, page: str, seed: int) -> None:
        self.page, self.random = page, random.Random(seed)
        self.firsts: list[float] = []
        self.moves: list[float] = []
        self.sliders: dict[str, list[str]] = {}

    async def read(self, host: str, until: float) -> None:
        """Open the page and move its slider until it is time."""
        wanted, low, high, _ = PAGES[self.page]
        address = f"ws://{host}/_stcore/stream"
        origin = f"http://{host}"
        async with websockets.connect(
            address, subprotocols=[Subprotocol("streamlit")], max_size=None, origin=origin
        ) as socket:
            self.firsts.append(await self._run(socket))
            name = next(key for key in self.sliders if wanted in key)
            while time.perf_counter() < until:
                await asyncio.sleep(self.random.uniform(0.2, 0.8))
                stops = self.sliders[name]
                stop = stops[int(self.random.uniform(low, high) * (len(stops) - 1))]
                self.moves.append(await self._run(socket, name, stop))

    async def _run(self, socket: websockets.ClientConnection, slider: str = "", stop: str = "") -> float:
        """Ask for a run and wait for its end."""
        ask = BackMsg()
        ask.rerun_script.query_string, ask.rerun_script.page_name = "", self.page
        if slider:
            state = ask.rerun_script.widget_states.widgets.add()
            state.id = slider
            state.string_array_value.data.append(stop)
        start = time.perf_counter()
        await socket.send(ask.SerializeToString())
        while True:
            message = ForwardMsg()
            message.ParseFromString(await asyncio.wait_for(socket.recv(), 60))
            element = message.delta.new_element
            if element.WhichOneof("type") == "slider":
                self.sliders[element.slider.id] = list(element.slider.options)
            if element.WhichOneof("type") == "exception":
                raise RuntimeError(element.exception.message[:200])
            # A run that ends early, as where a page is entered, is followed by the one that was asked for.
            early = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.WhichOneof("type") == "script_finished" and not early:
                return time.perf_counter() - start


async def crowd(host: str, page: str, clients: int, seconds: float) -> list[Reader]:
    """So many readers of a page for so long."""
    readers = [Reader(page, seed) for seed in range(clients)]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(reader.read(host, until) for reader in readers))
    return readers


def show_moves(address: str) -> None:
    """Print how long moves take on every page, of one reader and of the crowd."""
    host = address.removeprefix("http://")
    for page, (*_, goal) in PAGES.items():
        for clients in (1, CLIENTS):
            readers = asyncio.run(crowd(host, page, clients, SECONDS))
            moves = sorted(1e3 * one for reader in readers for one in reader.moves)
            firsts = [one for reader in readers for one in reader.firsts]
            aim = goal if clients > 1 else None if page else ALONE
            print(
                f"{page or 'start':20} {clients:3} readers, {len(moves):5} moves: p50 {statistics.median(moves):5.0f}, "
                f"p95 {moves[int(0.95 * len(moves))]:5.0f}, worst {moves[-1]:5.0f} ms; first page at most "
                f"{max(firsts):.2f} s" + (f"; goal p95 {aim}" if aim else "")
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
    """Both, in one app."""
    with running_app() as address:
        show_moves(address)
        if chromium_path() is None:
            sys.exit("No Chromium was found; runs that start at once were not measured.")
        show_runs(address)


if __name__ == "__main__":
    main()
