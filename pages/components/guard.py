"""What the server answers by itself: our files, what every answer says to a browser, and what is closed.

A browser fetches the scripts and the style sheet once and keeps them: no run sends them again.
"""

import gzip
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpviz.charts.count_table import STYLE as TABLE_STYLE
from pages.components.cached import once

POLICY = {
    "default-src": "'self'",
    # Streamlit starts the line that fetches a script of ours from a blob; its page has one line of its own.
    "script-src": "'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "frame-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
}
"""Nothing is asked of another host, whatever stands in a text that a reader brings."""

HEADERS = {
    "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in POLICY.items()),
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",  # an address carries what was asked
}
CLOSED = "/_stcore/metrics"
"""What tells anybody how many sessions there are and what they hold."""

FOLDER = "dpviz"
"""What the address of each file begins with, relative to the page: below a base path it is still found."""

HERE = Path(__file__).parent
PLOTLY = "plotly.js"


NAMES = frozenset({PLOTLY, *(path.name for path in HERE.iterdir() if path.suffix in {".js", ".css"})})


def _text(name: str) -> bytes:
    if name == PLOTLY:
        return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return (TABLE_STYLE.encode() if name.endswith(".css") else b"") + (HERE / name).read_bytes()


@once
def address_of(name: str) -> str:
    """Where the browser finds a file: with a hash of what it holds, so that it may be kept for good."""
    return f"./{FOLDER}/{sha256(_text(name)).hexdigest()[:16]}.{name}"


@once
def _packed(name: str) -> bytes:
    """Compressed once per process, however many ask for it at first."""
    return gzip.compress(_text(name), compresslevel=6, mtime=0)


def served(path: str, accepted: str) -> Response | None:
    """The answer to who asks for a file and takes what is `accepted`, None where `path` is the address of none."""
    name = path.rpartition("/")[2].partition(".")[2]
    if name not in NAMES or not path.endswith(address_of(name)[1:]):
        return None
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
    if "gzip" not in accepted:
        return Response(_text(name), media_type=kind, headers=headers)
    return Response(_packed(name), media_type=kind, headers=headers | {"content-encoding": "gzip"})


Answers = Callable[[str, str], Response | None]
"""The answer to who asks for the rest of a path, and is of that host; None where there is none."""


class Guard:
    """Adds the headers to every answer, and answers itself for our files and in place of what is closed.

    `further` has what answers to paths below ``dpviz/<name>/``, by name.
    """

    def __init__(self, app: ASGIApp, further: Mapping[str, Answers] | None = None) -> None:
        self._app, self._further = app, dict(further or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or pass anything else on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer: ASGIApp = self._app
        path = str(scope["path"])
        if path.rstrip("/").endswith(CLOSED):
            answer = PlainTextResponse("Not found", status_code=404)
        elif f"/{FOLDER}/" in path:  # plotly.js is compressed when it is first asked for
            name, _, rest = path.rpartition(f"/{FOLDER}/")[2].partition("/")
            if rest and name in self._further:
                ours = await run_in_threadpool(self._further[name], rest, str((scope.get("client") or [""])[0]))
            else:
                ours = await run_in_threadpool(served, path, Headers(scope=scope).get("accept-encoding", ""))
            answer = answer if ours is None else ours
        await answer(scope, receive, guarded)
