"""Uploads: what a session, an address and the process may hold, and when it is deleted."""

import asyncio
import json
import time
import uuid
from collections.abc import Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from pages.ui import upload_limit
from pages.ui.upload_limit import MAX_BYTES, MAX_FILES, MEGABYTE
from tests.benchmarks.reader import run_in_thread
from tests.pages.servers import open_session, request

FORM = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n%b\r\n--x--\r\n'
TIMEOUT_S = 20.0


class Streamlit:
    """Holds files as Streamlit does: those of connected sessions, until somebody deletes them."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.connected: set[str] = set()
        self.is_slow = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        size = int(dict(scope["headers"]).get(b"content-length", b"0"))
        if scope["method"] == "DELETE":
            self.files.pop(path, None)
            status = 204
        elif path.split("/")[-2] not in self.connected:
            status = 400
        elif size > 31 * MEGABYTE:
            status = 413
        else:
            await asyncio.sleep(0.01 * self.is_slow)
            self.files[path] = size
            status = 204
        await send({"type": "http.response.start", "status": status, "headers": []})


class Client:
    """Sends uploads to the middleware, all in one event loop."""

    def __init__(self, *sessions: str) -> None:
        self.streamlit = Streamlit()
        self.streamlit.connected.update(sessions)
        self.app = upload_limit.UploadLimit(self.streamlit)

    async def send(
        self, session: str, size: int | str, name: str = "", method: str = "PUT", address: str = "10.0.0.1"
    ) -> int:
        statuses = []

        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            statuses.append(message.get("status", 0))

        scope = {"type": "http", "method": method, "client": (address, 1), "headers": []}
        path = f"/base/_stcore/upload_file/{session}/{name or uuid.uuid4()}"
        headers = [(b"content-length", str(size).encode())] if size != "" else []
        await self.app({**scope, "path": path, "headers": headers}, receive, send)
        return int(statuses[0])


def test_the_oldest_file_of_a_session_goes_for_its_newest() -> None:
    async def uploads() -> None:
        client = Client("a", "b")
        assert await client.send("b", 10, "other") == 204
        for number in range(MAX_FILES[0] + 3):
            assert await client.send("a", 10, str(number)) == 204
        names = [path.rsplit("/", 1)[1] for path in client.streamlit.files]
        assert names == ["other", *(str(number) for number in range(3, MAX_FILES[0] + 3))]
        for number in range(4):
            assert await client.send("a", 30 * MEGABYTE, f"large {number}") == 204
        names = [path.rsplit("/", 1)[1] for path in client.streamlit.files]
        assert names == ["other", "large 2", "large 3"]

    run_in_thread(uploads())


def test_uploads_at_the_same_time_hold_no_more_than_those_in_turn() -> None:
    async def uploads() -> None:
        client = Client("a")
        client.streamlit.is_slow = True
        statuses = await asyncio.gather(*(client.send("a", 31 * MEGABYTE) for _ in range(65)))
        assert sorted(set(statuses)) == [204, 429]
        assert sum(client.streamlit.files.values()) <= MAX_BYTES[0]
        first = asyncio.create_task(client.send("a", 31 * MEGABYTE, "first"))
        await asyncio.sleep(0)
        assert await client.send("a", 0, "first", "DELETE") == 204  # gives no room while the file is still coming
        statuses = await asyncio.gather(*(client.send("a", 31 * MEGABYTE) for _ in range(9)))
        assert statuses.count(204) <= 1
        assert await first == 204

    run_in_thread(uploads())


@pytest.mark.parametrize(
    ("addresses", "limit"), [(1, MAX_BYTES[1]), (100, MAX_BYTES[2])], ids=["one address", "many addresses"]
)
def test_many_sessions_hold_no_more_than_an_address_and_the_process_may(addresses: int, limit: int) -> None:
    async def uploads() -> None:
        client = Client(*(str(number) for number in range(100)))
        statuses = [
            await client.send(str(number), 30 * MEGABYTE, address=f"10.0.0.{number % addresses}")
            for number in range(100)
        ]
        assert statuses == [204] * statuses.count(204) + [429] * statuses.count(429)
        assert limit - 30 * MEGABYTE < sum(client.streamlit.files.values()) <= limit
        # A deletion gives room, and what Streamlit has refused takes none.
        session, name = next(iter(client.streamlit.files)).split("/")[-2:]
        assert await client.send("unknown", 30 * MEGABYTE, address="10.0.0.0") == 429
        assert await client.send(session, 0, name, "DELETE") == 204
        assert await client.send("unknown", 30 * MEGABYTE, address="10.0.0.0") == 400
        assert await client.send("1", 30 * MEGABYTE, address="10.0.0.0") == 204

    run_in_thread(uploads())


def test_an_upload_says_how_long_it_is_and_uses_a_path_once() -> None:
    async def uploads() -> list[int]:
        client = Client("a")
        return [await client.send("a", size, "same") for size in ("", "-1", "many", "²", "1e3", 10, 10)]

    assert run_in_thread(uploads()) == [411] * 5 + [204, 429]


# Streamlit itself


@pytest.fixture
def upload(host: str) -> Callable[..., int]:
    cookie = request(host, "/_stcore/health")[1]["set-cookie"].split(";")[0]
    headers = {"Cookie": cookie, "X_Xsrftoken": cookie.partition("=")[2]}

    def send(session: str, size: int) -> int:
        path = f"/_stcore/upload_file/{session}/{uuid.uuid4()}"
        kind = "multipart/form-data; boundary=x"
        return request(host, path, "PUT", FORM % (b"0" * size), Content_Type=kind, **headers)[0]

    return send


def held(host: str, session: str) -> int:
    """How many files Streamlit holds for a session."""
    return len(json.loads(request(host, "/state")[2])["files"].get(session, []))


def test_files_stay_while_a_session_is_connected_and_are_deleted_after_it_has_left(host, upload) -> None:
    assert upload("unknown", 10) == 400
    with open_session(host) as reader:
        present = reader.initialize.session_id
        assert upload(present, 100) == 204
        with open_session(host) as visitor:
            absent = visitor.initialize.session_id
            for _ in range(MAX_FILES[0] + 2):
                assert upload(absent, 100) == 204
            time.sleep(1.0)  # twice as long as files of absent sessions are kept here
            assert (held(host, present), held(host, absent)) == (1, MAX_FILES[0])
        deadline = time.monotonic() + TIMEOUT_S
        while held(host, absent):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert held(host, present) == 1
