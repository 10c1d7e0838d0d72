"""Pages of the app that are open, and readers who move their sliders, by the protocol of a browser without one."""

import asyncio
import contextlib
import random
import re
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from websockets.typing import Subprotocol

Result = TypeVar("Result")

TIMEOUT_S = 90.0
MAX_STEP = 5  # stops of a slider in one move
PAUSE_S = (0.2, 0.8)  # between the answer to a move and the next move

FOOT_ID = "-page_foot"
"""End of the id of the component that a page draws last; its data hold the URL that the reader told the server."""

MOVE_IN_URL = re.compile(r"/move-(\d+)[/?\"\s]")


def connect(host: str, headers: Mapping[str, str]) -> websockets.connect:
    """Connection as a browser makes it to the app at `host`, which may end with a base path."""
    return websockets.connect(
        f"ws://{host}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
        origin=f"http://{host.partition('/')[0]}",  # type: ignore[arg-type]
        additional_headers=headers,
        open_timeout=TIMEOUT_S,
    )


async def fetch(host: str, path: str = "/") -> tuple[str, bytes]:
    """Head and body of a path of the app at `host`, which may end with a base path."""
    server, _, base = host.partition("/")
    name, _, port = server.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"GET {base and f'/{base}'}{path} HTTP/1.0\r\nHost: {server}\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.decode(), body


async def proxy_cookie(host: str) -> dict[str, str]:
    """Header with the cookie by which a proxy keeps a reader at one process; empty where none is set."""
    head, _ = await fetch(host)
    cookie = re.search(r"^set-cookie: (dpviz_[^;]+)", head, re.IGNORECASE | re.MULTILINE)
    return {"Cookie": cookie[1]} if cookie else {}


def run_in_thread(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Result of a coroutine, which a thread of its own runs: the main one has a loop where a browser is driven."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, coroutine).result()


class OpenPage:
    """A page as a browser has it open, by messages alone; `take_element` sees every element that it draws."""

    def __init__(self, page: str, query: str = "", host: str = "") -> None:
        self.page = page
        self.query = query
        self.host = host  # with its port; a base path may follow
        self.sliders: dict[str, Slider] = {}
        self._page_hash = ""

    async def connect(self) -> websockets.ClientConnection:
        """Connection of the page, with the cookie of a proxy."""
        return await connect(self.host, await proxy_cookie(self.host))

    def request(self, widget: str = "", stop: str | None = None) -> bytes:
        """Message that asks for a run, after a slider was moved to a stop or a button was pressed."""
        request = BackMsg()
        client = request.rerun_script
        client.query_string = self.query
        client.page_script_hash = self._page_hash
        client.page_name = "" if self._page_hash else self.page
        client.context_info.url = self.url()
        if widget:
            state = client.widget_states.widgets.add()
            state.id = widget
            if stop is None:
                state.trigger_value = True
            else:
                state.string_array_value.data.append(stop)
        return request.SerializeToString()

    def url(self) -> str:
        """The URL that the browser tells the server."""
        return f"http://{self.host}/"

    def take(self, content: bytes) -> str:
        """Take a message of the server; returns its kind."""
        message = ForwardMsg()
        message.ParseFromString(content)
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta":
            element = message.delta.new_element
            if element.WhichOneof("type") == "exception":
                raise RuntimeError(element.exception.message[:200])
            self.take_element(element.WhichOneof("type"), element, str(list(message.metadata.delta_path)))
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return "rerun"
        return str(kind)

    def take_element(self, kind: str, element: Any, place: str) -> None:
        """Take an element of the page."""


class Reader(OpenPage):
    """A reader who opens a page and moves its sliders.

    Every move carries a number in the URL of the page, which the last element of each run repeats. A move is answered
    when that element of a run that knows it arrives; the page may be run again later, to refine the answer.

    Parameters
    ----------
    page : str
        Path of the page, which a query may follow.
    seed : int
        Of the moves and pauses.

    Attributes
    ----------
    openings, moves : list of float
        Seconds to the first answer of the page, and from each move to its answer.
    runs : int
        Runs that began, refinements among them.
    last_move : float
        time.perf_counter() of the answer to the last move.
    completed : float or None
        time.perf_counter() when the last run ended; None where more was to come.
    """

    def __init__(self, page: str, seed: int) -> None:
        path, _, query = page.partition("?")
        super().__init__(path, query)
        self.openings: list[float] = []
        self.moves: list[float] = []
        self.runs = 0
        self.last_move = 0.0
        self.completed: float | None = None
        self._random = random.Random(seed)
        self._number = 0  # of the last move that was sent
        self._answered = -1  # number of the last move whose answer was drawn
        self._drawn: set[str] = set()  # sliders of the present run
        self._values: dict[str, str] = {}  # text of the stop at which a slider stands

    async def explore(self, host: str, until: float, timeout: float = TIMEOUT_S) -> None:
        """Open the page, move its sliders until a time, then wait until everything is complete.

        Parameters
        ----------
        host : str
            Name and port of the server; a base path may follow.
        until : float
            time.perf_counter() after which no move begins.
        timeout : float, optional
            Seconds to wait for the completion.
        """
        async with self._opened(host) as socket:
            while (now := time.perf_counter()) < until:
                pause = now + self._random.uniform(*PAUSE_S)
                while (now := time.perf_counter()) < pause:
                    await self._receive(socket, pause - now)
                self.moves.append(await self._ask(socket, self._move()))
            self.last_move = time.perf_counter()
            while self.completed is None and time.perf_counter() < self.last_move + timeout:
                await self._receive(socket, timeout)

    async def visit(self, host: str, n_moves: int) -> None:
        """Open the page, move sliders if it has any, and leave."""
        async with self._opened(host) as socket:
            for _ in range(n_moves if self._movable() else 0):
                self.moves.append(await self._ask(socket, self._move()))

    @contextlib.asynccontextmanager
    async def _opened(self, host: str) -> AsyncIterator[websockets.ClientConnection]:
        self.host = host
        async with await self.connect() as socket:
            self.openings.append(await self._ask(socket, self.request()))
            yield socket

    def url(self) -> str:
        return f"http://{self.host}/move-{self._number}"

    def _movable(self) -> list[str]:
        sliders = sorted(self.sliders.items())
        return [name for name, slider in sliders if len(slider.options) > 1 and not slider.disabled]

    def _move(self) -> bytes:
        """Request for a run after a move of any slider."""
        name = self._random.choice(self._movable())
        stops = list(self.sliders[name].options)
        value = self._values.get(name)
        place = stops.index(value) if value in stops else next(iter(self.sliders[name].default), 0)
        step = self._random.choice([step for step in range(-MAX_STEP, MAX_STEP + 1) if step])
        self._values[name] = stops[min(max(int(place) + step, 0), len(stops) - 1)]
        self._number += 1
        return self.request(name, self._values[name])

    async def _ask(self, socket: websockets.ClientConnection, request: bytes) -> float:
        """Send a request and wait for its answer; returns the seconds."""
        start = time.perf_counter()
        self.completed = None
        await socket.send(request)
        while self._answered != self._number:
            await self._receive(socket, TIMEOUT_S)
            if time.perf_counter() > start + TIMEOUT_S:
                raise TimeoutError(f"A move was not answered within {TIMEOUT_S:g} s.")
        return time.perf_counter() - start

    async def _receive(self, socket: websockets.ClientConnection, timeout: float) -> None:
        """Take one message, if any comes in time."""
        try:
            kind = self.take(await asyncio.wait_for(socket.recv(decode=False), timeout))
        except TimeoutError:
            return
        if kind == "new_session":
            self.runs += 1
            self.completed = None
            self._drawn = set()
        elif kind == "script_finished":
            self.completed = time.perf_counter()

    def take_element(self, kind: str, element: Any, place: str) -> None:
        if kind == "slider":
            self.sliders[element.slider.id] = element.slider
            self._drawn.add(element.slider.id)
            if element.slider.set_value:
                self._values[element.slider.id] = element.slider.raw_value[0]
        elif kind == "bidi_component" and element.bidi_component.id.endswith(FOOT_ID):
            self.sliders = {name: slider for name, slider in self.sliders.items() if name in self._drawn}
            move = MOVE_IN_URL.search(element.bidi_component.bytes.decode())
            self._answered = int(move[1]) if move else self._answered
