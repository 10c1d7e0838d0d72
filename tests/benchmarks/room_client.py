"""A browser on the page of the class experiment, as far as the server notices: it shows, presses, polls and reruns."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider

from tests.benchmarks.reader import connect, proxy_cookie

PAGE = "experiment"
TIMEOUT_S = 60.0
JITTER = 0.2  # share by which the pauses between two polls differ, as in poll.js
SLOWER = 5  # times that a poll waits after a change, until the page has run, as in poll.js

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Poll:
    """Where the page looks for changes, what it has seen there, and the seconds between two looks."""

    path: str
    seen: str
    interval: float


@dataclass
class Client:
    """A browser with the page open.

    Attributes
    ----------
    host : str
        Name and port of the server; a base path may follow.
    query : str
        Of the URL.
    headers, options : dict
        Of the websocket.
    texts : dict of str to str
        HTML of the page by its place.
    buttons : dict of str to str
        Ids by label.
    sliders : dict of str to Slider
        By label.
    """

    host: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    sliders: dict[str, Slider] = field(default_factory=dict)
    _poll: Poll | None = None
    _page_hash: str = ""
    _socket: Any = None
    _http: Streams | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

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
        cookie = {} if "Cookie" in self.headers else await proxy_cookie(self.host)
        self._socket = await connect(self.host, cookie | self.headers, **self.options)
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._look_for_changes())]
        await self.rerun()

    async def close(self) -> None:
        """Leave."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await self._socket.close()
        if self._http is not None:
            self._http[1].close()

    async def rerun(self) -> None:
        """Ask for a run of the page."""
        await self._socket.send(self._request().SerializeToString())

    async def press(self, label: str) -> None:
        """Press a button once it is there."""
        await self.wait_for(lambda client: label in client.buttons)
        request = self._request()
        state = request.rerun_script.widget_states.widgets.add()
        state.id = self.buttons[label]
        state.trigger_value = True
        await self._socket.send(request.SerializeToString())

    async def move(self, slider: Slider, stop: str) -> None:
        """Move a slider to a stop."""
        request = self._request()
        state = request.rerun_script.widget_states.widgets.add()
        state.id = slider.id
        state.string_array_value.data.append(stop)
        await self._socket.send(request.SerializeToString())

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

    def _request(self) -> BackMsg:
        request = BackMsg()
        request.rerun_script.query_string = self.query
        request.rerun_script.page_script_hash = self._page_hash
        request.rerun_script.page_name = "" if self._page_hash else PAGE
        return request

    async def _listen(self) -> None:
        async for content in self._socket:
            message = ForwardMsg()
            message.ParseFromString(content)
            self._take(message)
            self._changed.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.texts = {}
            self.buttons = {}
            self.sliders = {}
            self._poll = None
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta":
            self._take_element(message.delta.new_element, str(list(message.metadata.delta_path)))

    def _take_element(self, element: Any, place: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "html":
            self.texts[place] = element.html.body
        elif kind == "button":
            self.buttons[element.button.label] = element.button.id
        elif kind == "slider":
            self.sliders[element.slider.label] = element.slider
        elif kind == "exception":
            raise RuntimeError(element.exception.message[:200])
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
                await self.rerun()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._next_poll(poll), SLOWER * poll.interval)

    async def _next_poll(self, poll: Poll) -> None:
        while self._poll in (poll, None):
            self._changed.clear()
            await self._changed.wait()

    async def _text_at(self, path: str) -> str:
        """Text at a path of the server, on a connection that is kept, or on a new one where that is shut."""
        try:
            return await self._get(path)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._http = None
            return await self._get(path)

    async def _get(self, path: str) -> str:
        server, _, base = self.host.partition("/")
        if self._http is None:
            name, _, port = server.partition(":")
            self._http = await asyncio.open_connection(name, int(port))
        reader, writer = self._http
        writer.write(f"GET {base and f'/{base}'}{path} HTTP/1.1\r\nHost: {server}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        body = (await reader.readexactly(int(length[1]) if length else 0)).decode()
        assert " 200 " in head.splitlines()[0], (head, body)
        return body
