"""A small app behind the middleware of dpviz, in a process of its own, and requests to it."""

import contextlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from websockets.sync.client import connect

from tests.benchmarks.reader import run_in_thread

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60.0

APP = """
import socket
import sys

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from streamlit.runtime import get_instance

from pages.ui import upload_limit
from pages.ui.server import SecurityHeaders, app_routes, server_error

upload_limit.SWEEP_INTERVAL_S, upload_limit.SESSION_TTL_S = 0.1, 0.5
connections = []


def note_connection(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        connections.append(str(arguments[-2:]))


def fail(request):
    raise ValueError("failed")


def connect(request):
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.1", 9))
    return JSONResponse({})


async def state(request):
    sessions = get_instance().uploaded_file_mgr.file_storage.items()
    return JSONResponse({"connections": connections, "files": {name: list(files) for name, files in sessions}})


sys.addaudithook(note_connection)
app = st.App(
    "main.py",
    routes=[*app_routes(), *(Route(f"/{route.__name__}", route) for route in (fail, connect, state))],
    middleware=[Middleware(SecurityHeaders), Middleware(upload_limit.UploadLimit)],
    exception_handlers={Exception: server_error},
)
"""


def small_app(folder: Path) -> Path:
    """Write an app of a single page, with routes that tell what the process does, into a folder."""
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    (folder / "app.py").write_text(APP, "utf-8")
    (folder / "main.py").write_text("import streamlit as st\nst.title('Test')\n", "utf-8")
    return folder


@contextlib.contextmanager
def running_server(folder: Path, log: Path | None = None) -> Iterator[tuple[str, int]]:
    """Run ``app.py`` of a folder on a free port; yields host and port, and the number of the process."""
    log = log or folder / "log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port=0", "--server.address=127.0.0.1"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while (found := re.search(r"URL: http://[^:]+:(\d+)", log.read_text("utf-8"))) is None:
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.05)
        host = f"127.0.0.1:{found[1]}"
        assert request(host, "/_stcore/health")[0] == 200  # waits: the port is open already
        yield host, process.pid
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


@contextlib.contextmanager
def open_session(host: str) -> Iterator[NewSession]:
    """Open a page as a browser does and wait until it is drawn; yields what the server says of the session."""
    question, answer = BackMsg(), ForwardMsg()
    question.rerun_script.query_string = ""
    with connect(f"ws://{host}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        socket.send(question.SerializeToString())
        while answer.WhichOneof("type") != "script_finished":
            answer.ParseFromString(socket.recv(TIMEOUT_S))  # type: ignore[arg-type]
            if answer.WhichOneof("type") == "new_session":
                session = NewSession()
                session.CopyFrom(answer.new_session)
        yield session


def request(
    host: str, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    with contextlib.closing(http.client.HTTPConnection(host, timeout=TIMEOUT_S)) as connection:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read()


def call(app: ASGIApp, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Answer of an ASGI app to a request without a body."""
    path, _, query = path.removeprefix(".").partition("?")
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {
        "type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": pairs,
        "client": (headers.get("client", "127.0.0.1"), 1), "server": ("127.0.0.1", 80), "root_path": "",
    }  # fmt: skip
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        messages.append(message)

    async def answer_request() -> None:
        await app(scope, receive, send)

    run_in_thread(answer_request())
    answer = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], answer, b"".join(message["body"] for message in messages[1:])
