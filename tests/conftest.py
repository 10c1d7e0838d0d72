"""Fixtures and rules that the whole suite shares."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the app does: threads that wait spin at the other workers' cost

import functools
import gc
import sys
from collections.abc import Iterator

import mpmath as mp
import pytest
from playwright.sync_api import Browser, sync_playwright
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner

from pages.compare_synthesizers import printed
from pages.components import growing
from tests.browser import chromium_path, launch, running_app
from tests.calm_server import few_of_liu

# Compiled once, whatever the environment says: each worker, server and script took seconds for the same files anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Every page in a test looks through all installed packages for components: 0.1 s each time, with the same outcome.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

_look = local_script_runner.require_widgets_deltas


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a page's run: to look for it every millisecond took a twentieth of all tests of pages."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    _look(runner, 0.1)  # which says so where it has not ended


local_script_runner.require_widgets_deltas = _wait

REQUIRE = "DPVIZ_REQUIRE_BROWSER"
NO_BROWSER = (
    "NO CHROMIUM WAS FOUND: the page was not tried in a real browser. Install Chromium (apt-get install chromium); "
    f"set {REQUIRE}=1 to make this a failure."
)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: while a browser is waited for, the others keep them busy."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test in the browser is skipped, loudly, where there is none, and fails where one is required."""
    if item.get_closest_marker("browser") is None or chromium_path() is not None:
        return
    if os.environ.get(REQUIRE):
        pytest.fail(NO_BROWSER, pytrace=False)
    pytest.skip(NO_BROWSER)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests, the longest, come first: what is left for the last worker at work is short."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is loaded and found stays: to search it for garbage again and again took half of the time to find it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_BROWSER in str(report.longrepr)]
    if skipped:
        terminalreporter.write_sep("!", f"{len(skipped)} browser tests were skipped", red=True, bold=True)
        terminalreporter.write_line(NO_BROWSER)


@pytest.fixture(scope="session", autouse=True)
def all_at_once() -> Iterator[None]:
    """What grows is complete in the first run, and soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "AT_ONCE", 60.0)
        patch.setattr(printed, "stream_liu_binary", few_of_liu)
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a running app, one for each worker."""
    with running_app("tests.calm_server") as address:
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The installed browser, one for each worker."""
    with sync_playwright() as playwright:
        # No page is open for so long that code that the browser has made faster would pay for that.
        browser = launch(playwright, "--js-flags=--no-opt")
        yield browser
        browser.close()


@pytest.fixture
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


@pytest.fixture
def sixty_digits() -> Iterator[None]:
    with mp.workdps(60):
        yield
