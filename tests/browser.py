"""A running app and a real browser, for browser tests and benchmarks."""

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
from typing import IO

from playwright.sync_api import Browser, Page, Playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # requests to other hosts are refused
]
START_TIMEOUT_S = 180
SETTLE_TIMEOUT_MS = 120_000
QUIET_MS = 500
"""Time without a run after which no run is on its way: Streamlit's sliders send their value 200 ms after a move."""

PORTS = range(20_000, 30_000)
"""Ports of servers in tests: the system gives none of them to a client."""

IS_SETTLED = """(quiet) => {
  const plots = [...document.querySelectorAll('[role=figure]')];
  const isIdle = plots.every((plot) => plot.dataset.drawn || !plot.clientWidth) && document.querySelector('main h1')
    && document.querySelector('.stApp[data-test-script-state=notRunning][data-test-connection-state=CONNECTED]')
    && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]');
  window.idleSince = isIdle ? window.idleSince ?? performance.now() : null;
  return window.idleSince !== null && performance.now() - window.idleSince > quiet;
}"""


def chromium_path() -> str | None:
    """Path of the installed Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


def launch(playwright: Playwright, *arguments: str) -> Browser:
    """Start the installed browser, headless."""
    return playwright.chromium.launch(executable_path=chromium_path(), args=[*CHROMIUM_ARGUMENTS, *arguments])


@contextlib.contextmanager
def running_app(module: str = "streamlit") -> Iterator[str]:
    """Run the app on a free port, as the README starts it; yields its URL."""
    with started_app(module) as (url, _):
        yield url


@contextlib.contextmanager
def started_app(
    module: str = "streamlit", *options: str, port: int = 0, path: str = "", log: IO[bytes] | None = None
) -> Iterator[tuple[str, int]]:
    """Run the app; yields its URL and the number of its process.

    Parameters
    ----------
    module : str, optional
        What starts it in place of ``streamlit``.
    *options : str
        Of the command line.
    port, path : int, str, optional
        Port, a free one if 0, and base path.
    log : file, optional
        Where its output goes; without it only errors are shown, among those of the tests.
    """
    port = port or free_port()
    place = [f"--server.port={port}", "--server.address=127.0.0.1", f"--server.baseUrlPath={path}"]
    command = [sys.executable, "-m", module, "run", "app.py", *place, *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    output = subprocess.DEVNULL if log is None else log
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=log) as server:
        url = f"http://127.0.0.1:{port}{path and f'/{path}'}"
        try:
            _wait_until_healthy(url, server)
            yield url, server.pid
        finally:
            server.kill()  # its workers end with it


def free_port(ports: Sequence[int] = PORTS) -> int:
    """One of these ports at which nobody listens."""
    for port in random.sample(ports, len(ports)):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"All of {len(ports)} ports are taken.")


def settle(page: Page) -> None:
    """Wait until a page is complete: its script has ended, nothing is left of an earlier run, pictures are there."""
    page.evaluate("window.idleSince = null")
    page.wait_for_function(IS_SETTLED, arg=QUIET_MS, polling=50, timeout=SETTLE_TIMEOUT_MS)


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"The app stopped with exit code {server.returncode} while starting.")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The app was not ready after {START_TIMEOUT_S} s.")
