"""What the server answers beside Streamlit: headers, origins and the files of pages."""

import gzip
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.ui import server
from pages.ui.server import HEADERS, PLOTLY_NAME, SecurityHeaders, app_routes, static_url
from tests.pages.servers import ROOT, call, open_session, request, running_server

MAX_CPU_S = 1.5  # the goal on a fast machine
MAX_IMPORTS = 4  # of Streamlit, in whose time the whole app starts
PLOTLY = static_url(PLOTLY_NAME)


# Headers and origins


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/coverage?cv_n=50", 200),
        ("/_stcore/health", 200),
        ("/_stcore/metrics", 404),
        ("/_stcore/metrics/", 404),
        ("/dpviz/nothing", 404),
        ("/dpviz/static/nothing.js", 404),
        ("/dpviz/static/..%2f..%2fapp.py", 400),
        ("/fail", 500),
    ],
)
def test_every_answer_has_the_headers_and_metrics_are_closed(host: str, path: str, status: int) -> None:
    answered, headers, _ = request(host, path)
    assert answered == status
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "default-src 'self'" in headers["content-security-policy"]


def test_metrics_are_closed_below_a_base_path() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("reached the app")

    assert call(SecurityHeaders(app), "/base/_stcore/metrics")[0] == 404


def handshake(host: str, origin: str | None) -> int:
    try:
        with connect(f"ws://{host}/_stcore/stream", origin=origin, subprotocols=["streamlit"]):  # type: ignore[list-item]
            return 101
    except InvalidStatus as refusal:
        return refusal.response.status_code


def test_a_websocket_is_opened_by_pages_of_this_server_alone_or_no_page_and_nobody_else_is_asked(host: str) -> None:
    for origin in (f"http://{host}", f"https://{host}", None):
        assert handshake(host, origin) == 101
    request(host, "/connect")
    assert b"9)" in request(host, "/state")[2]  # the list of connections works
    before = request(host, "/state")[2]
    for origin in (
        "http://evil.example", "http://127.0.0.1:9", "http://127.0.0.1", "http://localhost", f"http://evil@{host}",
        "http://evil.example@127.0.0.1", f"http://{host}.evil.example", f"http://{host}/", f"ftp://{host}", "null", "",
    ):  # fmt: skip
        assert handshake(host, origin) == 403, origin
    assert request(host, "/state")[2] == before


# Files of the pages


def test_plotly_is_compressed_once_and_cached_for_good(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    status, headers, packed = request(host, PLOTLY[1:], Accept_Encoding="gzip, br")
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert headers["content-type"].startswith("text/javascript")
    assert "immutable" in headers["cache-control"]
    plain = request(host, PLOTLY[1:])[2]
    assert gzip.decompress(packed) == plain
    assert b"plotly.js v" in plain[:200]

    calls = []
    monkeypatch.setattr(gzip, "compress", lambda content, **options: calls.append(len(content)) or b"")
    app = Starlette(routes=app_routes())
    arguments = {"accept_encoding": "gzip"}
    threads = [threading.Thread(target=call, args=(app, PLOTLY), kwargs=arguments) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls == [len(plain)]
    server._compressed.cache_clear()


def test_the_address_of_a_static_file_changes_with_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STATIC", tmp_path)
    app = Starlette(routes=app_routes())
    (tmp_path / "style.css").write_text("p {}", "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    address = static_url("style.css")
    status, headers, content = call(app, address)
    assert (status, content, headers["content-type"]) == (200, b"p {}", "text/css; charset=utf-8")
    assert "immutable" in headers["cache-control"]
    for other in ("./dpviz/static/style.css", "./dpviz/static/style.css?v=0"):  # asked for by a page of another version
        assert call(app, other)[1]["cache-control"] == "no-cache"
    assert call(app, "./dpviz/static/secret.txt")[0] == 404
    static_url.cache_clear()
    (tmp_path / "style.css").write_text("p {color: red}", "utf-8")
    assert static_url("style.css") != address
    static_url.cache_clear()


def test_files_are_served_below_the_base_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "get_option", lambda name: {"server.baseUrlPath": "/campus/"}[name])
    app = Starlette(routes=app_routes())
    assert call(app, f"/campus{PLOTLY[1:]}")[0] == 200
    assert call(app, PLOTLY)[0] == 404


# The app itself


def max_cpu_s() -> float:
    """Processor time of a first page: the goal, or on a slow machine so many imports of Streamlit."""
    before = sum(psutil.Process().cpu_times()[2:4])
    subprocess.run([sys.executable, "-c", "import streamlit"], check=True)
    return max(MAX_CPU_S, MAX_IMPORTS * (sum(psutil.Process().cpu_times()[2:4]) - before))


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_the_app_is_light_to_start_and_leaves_no_process_behind(tmp_path: Path, end: signal.Signals) -> None:
    log = tmp_path / "log"
    with running_server(ROOT, log) as (host, number):
        with open_session(host) as session:
            assert session.main_script_path == str(ROOT / "pages" / "main.py")
        process = psutil.Process(number)
        assert sum(process.cpu_times()[:2]) < max_cpu_s()
        workers = process.children(recursive=True)
        assert len(workers) >= 4
        process.send_signal(end)
        assert psutil.wait_procs(workers, timeout=20)[1] == []  # none outlives the server
    said = log.read_text("utf-8")
    assert "Traceback" not in said and (end == signal.SIGKILL or "leaked" not in said)
