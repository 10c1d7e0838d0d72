"""A limit of what uploaded files hold in memory."""

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEGABYTE = 2**20
MAX_FILES = (8, 200, 2_000)  # of a session, whose boxes hold a file each, of an address (a class), and of the process
MAX_BYTES = (64 * MEGABYTE, 256 * MEGABYTE, 512 * MEGABYTE)  # of the same; two of the largest files for a session

SWEEP_INTERVAL_S = 30.0
SESSION_TTL_S = 150.0  # of a file after its session has left: Streamlit gives it back to who returns in 120 s


@dataclass(eq=False)
class _Upload:
    scope: Scope  # of the request for it
    size: int  # bytes
    owners: tuple[str, str, str]  # session, address and process
    is_stored: bool = False
    seen: float = field(default_factory=time.monotonic)  # when its session was last connected


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
        is_upload = scope["type"] == "http" and "/_stcore/upload_file/" in scope["path"]
        if is_upload and scope["method"] == "PUT":
            await self._put(scope, receive, send)
        elif await self._forward(scope, receive, send) == 204 and is_upload and scope["method"] == "DELETE":
            upload = self._uploads.get(scope["path"])
            if upload is not None and upload.is_stored:  # what is still coming keeps its room
                del self._uploads[scope["path"]]

    async def _put(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = Headers(scope=scope).get("content-length", "")
        if not length.isascii() or not length.isdigit():  # a browser knows the length of a file
            await PlainTextResponse("Length Required", status_code=411)(scope, receive, send)
            return

        # The oldest files of the session give way, as far as they must
        path = scope["path"]
        session, address = path.rsplit("/", 2)[1], (scope.get("client") or ("",))[0]
        upload = _Upload(dict(scope), int(length), (session, address, ""))
        evicted: list[str] = []
        for item_path, item in self._uploads.items():
            if item.is_stored and item.owners[0] == session and not self._has_room(upload, 0, evicted):
                evicted.append(item_path)
        is_known = path in self._uploads  # a path is used once
        if is_known or not all(self._has_room(upload, level, evicted) for level in range(3)):
            await PlainTextResponse("Too many uploads", status_code=429)(scope, receive, send)
            return

        # Reserve the room before the body comes, and give it back unless the file was stored
        deletions = [self._request(self._uploads.pop(item_path), "DELETE") for item_path in evicted]
        self._uploads[path] = upload
        try:
            await asyncio.gather(*deletions)
            upload.is_stored = await self._forward(scope, receive, send) == 204
        finally:
            if not upload.is_stored:
                self._uploads.pop(path, None)
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep())

    def _has_room(self, upload: _Upload, level: int, evicted: Collection[str]) -> bool:
        """Whether an upload fits beside those of the same session (0), address (1) or process (2)."""
        owner = upload.owners[level]
        uploads = self._uploads.items()
        sizes = [item.size for path, item in uploads if item.owners[level] == owner and path not in evicted]
        return len(sizes) < MAX_FILES[level] and sum(sizes) + upload.size <= MAX_BYTES[level]

    async def _sweep(self) -> None:
        """Delete the files of sessions that have left, until no file is held."""
        while self._uploads:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            for path, upload in list(self._uploads.items()):
                # A file that is too large is refused as such (413) if its session is connected, and otherwise for that
                if not upload.is_stored or await self._request(upload, "PUT") == 413:
                    upload.seen = time.monotonic()
                elif time.monotonic() - upload.seen > SESSION_TTL_S:
                    await self._request(upload, "DELETE")
                    self._uploads.pop(path, None)

    async def _request(self, upload: _Upload, method: str) -> int:
        """Send a request without a body to the path of an upload, with the same cookies; returns its status."""
        headers = [(name, value) for name, value in upload.scope["headers"] if name != b"content-length"]
        headers.append((b"content-length", str(2**60).encode()))

        async def empty_body() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def ignore(_message: Message) -> None:
            pass

        return await self._forward({**upload.scope, "method": method, "headers": headers}, empty_body, ignore)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Pass a request on; returns the status of the answer."""
        status = 0

        async def send_with_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self.app(scope, receive, send_with_status)
        return status
