"""Fixtures and rules that the whole suite shares."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the app: idle threads spin at the other workers' cost

import contextlib
import gc
import sys
from collections.abc import Iterator
from types import ModuleType

import mpmath as mp
import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser import chromium_path, launch, running_app

LONG = ("test_campus", "test_faults", "test_tasks", "test_closed", "test_plugged", "test_reproduction")
"""Modules of tests that take longest, or wait longest, without a browser."""

REQUIRE = "DPVIZ_REQUIRE_BROWSER"
NO_BROWSER = (
    "NO CHROMIUM WAS FOUND: the page was not tried in a real browser. Install Chromium (apt-get install chromium); "
    f"set {REQUIRE}=1 to make this a failure."
)


@pytest.fixture(scope="module")
def plain_main() -> Iterator[None]:
    """A main module without a file: Streamlit leaves a page's script there, which a new process would run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", ModuleType("__main__"))
        yield


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: while a browser is waited for, the others keep them busy."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test in the browser, loudly, where there is none; fail it where one is required."""
    if item.get_closest_marker("browser") is None or chromium_path() is not None:
        return
    if os.environ.get(REQUIRE):
        pytest.fail(NO_BROWSER, pytrace=False)
    pytest.skip(NO_BROWSER)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, those in the browser before all: what is left for the last worker is short."""
    items.sort(key=lambda item: (item.get_closest_marker("browser") is None, item.path.stem not in LONG))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while modules are loaded: it took half of that time."""
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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a running app with rooms of its own, one for each worker."""
    from pages.room.server import ADDRESS  # which takes a second, and few tests need it

    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(ADDRESS, f"sqlite:///{tmp_path_factory.mktemp('rooms')}/rooms.sqlite")
            url = stack.enter_context(running_app())
        yield url


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of a small app behind the middleware of dpviz, one for each worker."""
    from tests.pages.servers import running_server, small_app

    with running_server(small_app(tmp_path_factory.mktemp("app"))) as (address, _):
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The installed browser, one for each worker."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Where the app is loaded once, and all but the first test find its files."""
    context = chromium.new_context(accept_downloads=True)
    yield context
    context.close()


@pytest.fixture
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


@pytest.fixture
def sixty_digits() -> Iterator[None]:
    with mp.workdps(60):
        yield
