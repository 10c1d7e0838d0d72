"""The audit of what is installed fails where it has audited nothing: against a database of one's own."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.vulnerabilities import CANARY, FOUND, SAFE, UNTOLD, audit

LINES = ["segno==1.6.6", "jinja2==3.1.6"]
HASH = f"--hash=sha256:{'0' * 64}"


def vulnerable(name: str) -> dict[str, Any]:
    """What a database says of a package, in the format of OSV."""
    affected = {"package": {"name": name, "ecosystem": "PyPI"}, "ranges": [{"type": "ECOSYSTEM", "events": []}]}
    return {
        "vulns": [{"id": f"PYSEC-{name}", "modified": "2026-01-01T00:00:00Z", "details": "", "affected": [affected]}]
    }


@contextmanager
def database(answer: Callable[[str], tuple[int, Any]]) -> Iterator[list[str]]:
    """A database that says so of each package; yields how pip-audit is told to ask it."""

    class Told(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, said = answer(asked["package"]["name"])
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Told) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield ["-s", "osv", "--osv-url", f"http://127.0.0.1:{server.server_address[1]}/"]
        server.shutdown()


CANARYS_NAME = CANARY.partition("==")[0]


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (lambda name: (200, vulnerable(name) if name == CANARYS_NAME else {}), SAFE, "any of 2 packages"),
        (lambda name: (200, vulnerable(name) if name != "jinja2" else {}), FOUND, "segno: PYSEC-segno"),
        (lambda name: (200, {}), UNTOLD, "does not know"),
        (lambda name: (500, {}), UNTOLD, "could not be asked"),
        (lambda name: (200, vulnerable(name)) if name == CANARYS_NAME else (500, {}), UNTOLD, "of 2 packages 0"),
    ],
    ids=["nothing is known", "something is known", "it knows nothing", "it is broken", "it breaks in between"],
)
def test_an_audit_counts_where_everything_was_looked_up_and_the_canary_was_found(tmp_path, answer, code, words) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"{line} \\\n    {HASH}\n" for line in LINES), "utf-8")
    with database(answer) as way:
        found, said = audit(lock, *way)
    assert found == code, said
    assert words in said
