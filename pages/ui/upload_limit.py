"""A limit of what uploaded files hold in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOAD_PATH = "/_stcore/upload_file/"
MEGABYTE = 2**20

MAX_SESSION_FILES = 8  # a page holds at most one file for each of its boxes
MAX_SESSION_BYTES = 64 * MEGABYTE  # two of the largest files
MAX_ADDRESS_FILES = 200  # a class may come from one address
MAX_ADDRESS_BYTES = 256 * MEGABYTE
MAX_FILES = 2_000
MAX_BYTES = 512 * MEGABYTE

SWEEP_INTERVAL_S = 30.0
SESSION_TTL_S = 150.0
"""A file stays so long after its session has left: Streamlit gives the session back to who returns in 120 s."""

IMPOSSIBLE_LENGTH = 2**60


@dataclass(eq=False)
class _Upload:
    scope: Scope  # of the request that brought the file
    size: int  # bytes
    is_stored: bool = False
    seen: float = field(default_factory=time.monotonic)  # when its session was last connected

    @property
    def session(self) -> str:
        return str(self.scope["path"].rsplit("/", 2)[1])

    @property
    def address(self) -> str:
        return str((self.scope.get("client") or ("",))[0])


class UploadLimit:
    """ASGI middleware: bounds files and bytes of a session, of an address and of the process.

    Streamlit takes any number of files for a connected session, in a box of a page or not, and keeps those of a session
    that has left until some other session ends. Here a session's oldest file goes for its newest, and files of sessions
    that have left are deleted after a time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._uploads: dict[str, _Upload] = {}  # by path, oldest first
        self._sweeper: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take note of an upload or a deletion, refuse an upload, or pass anything else on."""
        if scope["type"] != "http" or UPLOAD_PATH not in scope["path"] or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
        elif scope["method"] == "DELETE":
            status = await self._forward(scope, receive, send)
            upload = self._uploads.get(scope["path"])
            if status == 204 and upload is not None and upload.is_stored:  # what is still coming keeps its room
                del self._uploads[scope["path"]]
        else:
            await self._put(scope, receive, send)

    async def _put(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        length = Headers(scope=scope).get("content-length", "")
        if not length.isascii() or not length.isdigit():  # a browser knows the length of a file
            await PlainTextResponse("Length Required", status_code=411)(scope, receive, send)
            return
        upload = _Upload(dict(scope), int(length))
        evicted = self._evicted_for(upload)
        if path in self._uploads or evicted is None:  # a browser uses every path once
            await PlainTextResponse("Too many uploads", status_code=429)(scope, receive, send)
            return

        # Reserve the room before the body comes, and give it back unless the file was stored.
        self._uploads[path] = upload
        for other in evicted:
            del self._uploads[other.scope["path"]]
        try:
            for other in evicted:
                await self._request(other, "DELETE")
            upload.is_stored = await self._forward(scope, receive, send) == 204
        finally:
            if not upload.is_stored:
                self._uploads.pop(path, None)
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep())

    def _evicted_for(self, upload: _Upload) -> list[_Upload] | None:
        """Files of the same session that go for an upload, oldest first; None where there is no room for it."""
        evicted = []
        own = [other for other in self._uploads.values() if other.session == upload.session]
        for other in list(own):
            if not _fits([*own, upload], MAX_SESSION_FILES, MAX_SESSION_BYTES) and other.is_stored:
                own.remove(other)
                evicted.append(other)
        remaining = [other for other in self._uploads.values() if other not in evicted]
        same_address = [other for other in remaining if other.address == upload.address]
        has_room = (
            _fits([*own, upload], MAX_SESSION_FILES, MAX_SESSION_BYTES)
            and _fits([*same_address, upload], MAX_ADDRESS_FILES, MAX_ADDRESS_BYTES)
            and _fits([*remaining, upload], MAX_FILES, MAX_BYTES)
        )
        return evicted if has_room else None

    async def _sweep(self) -> None:
        """Delete the files of sessions that have left, until no file is held."""
        while self._uploads:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            for path, upload in list(self._uploads.items()):
                # A file that is too large is refused as such (413) if its session is connected, and otherwise for that.
                if not upload.is_stored or await self._request(upload, "PUT") == 413:
                    upload.seen = time.monotonic()
                elif time.monotonic() - upload.seen > SESSION_TTL_S:
                    await self._request(upload, "DELETE")
                    self._uploads.pop(path, None)

    async def _request(self, upload: _Upload, method: str) -> int:
        """Send a request without a body to the path of an upload, with the same cookies; returns its status."""
        headers = [(name, value) for name, value in upload.scope["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(IMPOSSIBLE_LENGTH).encode()))

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_message: Message) -> None:
            pass

        return await self._forward({**upload.scope, "method": method, "headers": headers}, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Pass a request on; returns the status of the answer."""
        status = 0

        async def send_with_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self.app(scope, receive, send_with_status)
        return status


def _fits(uploads: Iterable[_Upload], max_files: int, max_bytes: int) -> bool:
    sizes = [upload.size for upload in uploads]
    return len(sizes) <= max_files and sum(sizes) <= max_bytes
