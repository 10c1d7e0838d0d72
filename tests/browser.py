"""A running app and a real browser, for browser tests and benchmarks."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from playwright.sync_api import Browser, Page, Playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # what would leave is refused; `visiting` counts it
]
START_SECONDS = 180
PORTS = range(20_000, 30_000)
"""Those of servers in tests: the system takes none of them for what connects to a server, which would be in its way."""

LONGEST_RUN = 180_000
"""Milliseconds after which a script counts as stuck: on a busy machine the longest section takes over a minute."""

ANSWERED = ".dpviz-story, .dpviz-numbers, .dpviz-audit, .dpviz-list, .dpviz-round, .dpviz-told, .dpviz-printed"
"""What a page shows once it has answered."""


def chromium_path() -> str | None:
    """The installed Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


def launch(playwright: Playwright, *more: str) -> Browser:
    """The installed browser, headless, with more arguments if any."""
    return playwright.chromium.launch(executable_path=chromium_path(), args=[*CHROMIUM_ARGUMENTS, *more])


@contextlib.contextmanager
def running_app(streamlit: str = "streamlit") -> Iterator[str]:
    """The app as the README starts it, on a free port, by a module in place of `streamlit`; yields its address."""
    with started_app(streamlit) as (address, _):
        yield address


@contextlib.contextmanager
def started_app(
    streamlit: str = "streamlit", *options: str, port: int = 0, path: str = "", log: IO[bytes] | None = None
) -> Iterator[tuple[str, int]]:
    """The same, with more options, below a path; yields its address and the number of its process.

    What it says goes to `log`, or its faults where those of the tests go.
    """
    port = port or free_port()
    given = [f"--server.port={port}", "--server.address=127.0.0.1", *([f"--server.baseUrlPath={path}"] if path else [])]
    command = [sys.executable, "-m", streamlit, "run", "app.py", *given, *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    told: dict[str, Any] = {"stdout": subprocess.DEVNULL} if log is None else {"stdout": log, "stderr": log}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **told) as server:
        address = f"http://127.0.0.1:{port}{path and f'/{path}'}"
        try:
            _wait_until_healthy(address, server)
            yield address, server.pid
        finally:
            server.terminate()


def free_port(among: Sequence[int] = PORTS) -> int:
    """One of these ports of this machine, at which nobody listens."""
    for asked in random.sample(among, len(among)):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", asked))
            port: int = probe.getsockname()[1]
            return port
    raise RuntimeError(f"All of {len(among)} ports are taken.")


def _wait_until_healthy(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"The app stopped with exit code {server.returncode} while starting.")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The app was not ready after {START_SECONDS} s.")


CALM = """(answered) => {
  const at = (selector) => document.querySelector(selector);
  const calm = at('[data-testid=stApp][data-test-script-state=notRunning]') && at(`${answered}, .dpviz-problem`)
    && !(at(answered) && (!at('[data-drawn]')
      || at('[data-testid=stSkeleton], [role=figure]:not([data-drawn]), [data-stale=true]')))
    && !document.getAnimations().some((one) => one instanceof CSSTransition);
  const [now, asked] = [performance.now(), window.dpvizAsked];
  window.dpvizCalm = calm && !(asked && now - asked < 1000) ? window.dpvizCalm ?? now : null;
  const long = asked === undefined || at('[class*=_step]') ? 300 : 100;
  return window.dpvizCalm !== null && now - window.dpvizCalm > long;
}"""
"""Whether a page has been at rest, and nothing fading, for so long that no run is on its way any more.

That takes longer where something asks for its next step, and on a page that does not say when it waits for an answer.
"""

ASKING = """{
  const Own = window.WebSocket;
  window.WebSocket = class extends Own {
    constructor(...address) {
      super(...address);
      window.dpvizAsked = null;
      this.addEventListener('message', () => { window.dpvizAsked = null; });
    }
    send(message) {
      window.dpvizAsked = performance.now();
      super.send(message);
    }
  };
}"""
"""Has a page say since when it has waited for an answer of the server."""


def settle(page: Page) -> None:
    """Wait until the script has run and its pictures are drawn; an answer has numbers or a table.

    What a run has not drawn again yet is stale, and fades: it may be gone at the next moment.
    """
    page.evaluate("window.dpvizCalm = null")
    page.wait_for_function(CALM, arg=ANSWERED, polling=50, timeout=LONGEST_RUN)
