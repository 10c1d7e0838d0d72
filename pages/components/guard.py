"""What every answer of the server says to a browser, our own files, and which addresses of Streamlit's are closed."""

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.components.files import FOLDER, served

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


class Guard:
    """Adds the headers to every answer, and answers itself for our files and in place of what is closed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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
            ours = await run_in_threadpool(served, path, Headers(scope=scope).get("accept-encoding", ""))
            answer = answer if ours is None else ours
        await answer(scope, receive, guarded)
