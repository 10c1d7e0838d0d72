"""A browser on the page of the class experiment, as far as the server notices: it shows, presses, polls and reruns."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from streamlit.proto.Slider_pb2 import Slider

from tests.benchmarks.reader import OpenPage, fetch

TIMEOUT_S = 60.0
JITTER = 0.2  # share by which the pauses between two polls differ, as in poll.js
SLOWER = 5  # times that a poll waits after a change, until the page has run, as in poll.js


@dataclass
class Poll:
    """Where the page looks for changes, what it has seen there, and the seconds between two looks."""

    path: str
    seen: str
    interval: float


class Client(OpenPage):
    """A browser with the page open.

    Attributes
    ----------
    texts : dict of str to str
        HTML of the page by its place.
    buttons, sliders : dict of str to str, and to Slider
        Ids of the buttons, and the sliders, by label.
    """

    def __init__(self, host: str, query: str = "") -> None:
        super().__init__("experiment", query, host)
        self.texts: dict[str, str] = {}
        self.buttons: dict[str, str] = {}
        self._poll: Poll | None = None
        self._socket: Any = None
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def text(self) -> str:
        """All that the page says."""
        return "\n".join(self.texts.values())

    @property
    def settings(self) -> dict[str, str]:
        """Settings in the query."""
        return dict(parse_qsl(self.query))

    @property
    def seat(self) -> int:
        """Number of the seat, 0 where there is none."""
        found = re.search(r"[Ss]eat (\d+)", self.text)
        return int(found[1]) if found else 0

    async def open(self) -> None:
        """Connect, and ask for the page."""
        self._socket = await self.connect()
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._look_for_changes())]
        await self._socket.send(self.request())

    async def close(self) -> None:
        """Leave."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await self._socket.close()

    async def press(self, label: str) -> None:
        """Press a button once it is there."""
        await self.wait_for(lambda client: label in client.buttons)
        await self._socket.send(self.request(self.buttons[label]))

    async def move(self, slider: Slider, stop: str) -> None:
        """Move a slider to a stop."""
        await self._socket.send(self.request(slider.id, stop))

    async def wait_for(self, condition: Callable[[Client], object]) -> float:
        """Wait until a condition holds; returns time.perf_counter()."""
        async with asyncio.timeout(TIMEOUT_S):
            while not condition(self):
                for task in self._tasks:
                    if task.done():
                        task.result()
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), 1.0)
        return time.perf_counter()

    async def _listen(self) -> None:
        async for content in self._socket:
            if self.take(content) == "new_session":
                self.texts = {}
                self.buttons = {}
                self.sliders = {}
                self._poll = None
            self._changed.set()

    def take_element(self, kind: str, element: Any, place: str) -> None:
        if kind == "html":
            self.texts[place] = element.html.body
        elif kind == "button":
            self.buttons[element.button.label] = element.button.id
        elif kind == "slider":
            self.sliders[element.slider.label] = element.slider
        elif kind == "bidi_component" and element.bidi_component.component_name == "dpviz_poll":
            data = json.loads(element.bidi_component.json)
            self._poll = Poll(data["watch"].removeprefix("."), data["seen"], data["after"] / 1000)

    async def _look_for_changes(self) -> None:
        """Poll like a browser, and ask for a run where the room has changed, as the trigger of poll.js does."""
        while True:
            if self._poll is None:
                self._changed.clear()
                await self._changed.wait()
                continue
            poll = self._poll
            await asyncio.sleep(poll.interval * random.uniform(1 - JITTER, 1 + JITTER))
            if self._poll is poll and await self._text_at(poll.path) != poll.seen:
                await self._socket.send(self.request())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._next_poll(poll), SLOWER * poll.interval)

    async def _next_poll(self, poll: Poll) -> None:
        while self._poll in (poll, None):
            self._changed.clear()
            await self._changed.wait()

    async def _text_at(self, path: str) -> str:
        head, body = await fetch(self.host, path)
        assert " 200 " in head.splitlines()[0], (head, body)
        return body.decode()
