"""What the server answers beside Streamlit: security headers, files that pages load, and the state of a room."""

import gzip
import re
import threading
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    # Nothing is requested from another host, whatever a reader's text contains; Streamlit starts components from a blob
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; object-src 'none'; frame-src 'none'; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",  # the address of a page contains the reader's question
}
METRICS_PATH = "/_stcore/metrics"  # tells anybody how many sessions there are and what they hold; closed
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]+)?", re.IGNORECASE)
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
STATIC = Path(__file__).parent.parent / "static"
PLOTLY_NAME = f"plotly.{version('plotly')}.js"
_compression_lock = threading.Lock()


class SecurityHeaders:
    """ASGI middleware: headers on every answer, closed metrics, and no websocket for the pages of another site."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "websocket" and not is_same_origin(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": 1008})  # answered with 403
        elif scope["type"] == "http" and scope["path"].rstrip("/").endswith(METRICS_PATH):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)


def is_same_origin(headers: Headers) -> bool:
    """Whether a websocket is opened by a page of this server, or by a client other than a browser.

    Streamlit asks an outside host for this machine's address where the Origin is not the Host, letter by letter.
    Such a handshake must not reach it; one with a default port in only one of the two it would refuse anyway.
    """
    origin = headers.get("origin")
    host = headers.get("host", "")
    return origin is None or (HOST.fullmatch(host) is not None and origin in (f"http://{host}", f"https://{host}"))


def server_error(_request: Request, _error: Exception) -> Response:
    """Answer a request that failed: Starlette sends this answer past all middleware."""
    return PlainTextResponse("Internal Server Error", status_code=500, headers=HEADERS)


@lru_cache
def static_url(name: str) -> str:
    """Address of a file that pages load, relative to a page: it changes with what the file contains."""
    return f"./dpviz/static/{name}?v={sha256(_path(name).read_bytes()).hexdigest()[:12]}"


def static_route(request: Request) -> Response:
    """Serve a script or style sheet of ``pages/static``, or plotly.js."""
    name = request.path_params["name"]
    path = _path(name)
    if path.suffix not in MEDIA_TYPES or not path.is_file():
        return PlainTextResponse("Not Found", status_code=404)
    # While a server is replaced, the page of one process may ask another, which has another version of the file.
    is_same_version = static_url(name).endswith(f"?{request.url.query}")
    caching = "public, max-age=31536000, immutable" if is_same_version else "no-cache"
    headers = {"cache-control": caching, "vary": "accept-encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(path.read_bytes(), media_type=MEDIA_TYPES[path.suffix], headers=headers)
    with _compression_lock:  # once in a process, however many readers come first
        content = _compressed(path)
    return Response(content, media_type=MEDIA_TYPES[path.suffix], headers=headers | {"content-encoding": "gzip"})


def room_route(request: Request) -> Response:
    """Tell whether a room of the class experiment has changed."""
    from pages.room.server import answer  # needs a database, which most servers never open

    address = request.client.host if request.client else ""
    response: Response = answer(request.path_params["watch"], request.path_params["kind"], address)
    return response


def app_routes() -> list[BaseRoute]:
    """Return what is served at ``dpviz/`` below the base path of the server."""
    base_path = str(st.get_option("server.baseUrlPath")).strip("/")
    routes = [Route("/static/{name}", static_route), Route("/room/{watch}/{kind}", room_route)]
    return [Mount(f"/{base_path}/dpviz" if base_path else "/dpviz", routes=routes)]


def _path(name: str) -> Path:
    return Path(str(files("plotly") / "package_data" / "plotly.min.js")) if name == PLOTLY_NAME else STATIC / name


@lru_cache
def _compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)
