"""A reader in a real browser: opens pages, moves controls, and notes whatever goes wrong."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize, expect

from pages.ui.navigation import GROUPS, PAGES
from pages.ui.navigation import Page as AppPage
from tests.browser import settle

Theme = Literal["light", "dark"]
LAPTOP: ViewportSize = {"width": 1400, "height": 1000}
PHONE: ViewportSize = {"width": 390, "height": 844}
PROJECTOR: ViewportSize = {"width": 1280, "height": 720}
TIMEOUT_MS = 30_000  # after which what was to appear counts as missing; nothing is timed
PROBES = tuple(f"/{page.path}/_stcore/{name}" for page in PAGES if page.path for name in ("health", "host-config"))
"""Where Streamlit looks for its server first, below the address of a page; then one folder up."""

NOTE_VIOLATIONS = """addEventListener('securitypolicyviolation',
  (event) => console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`))"""
STATE = """() => {
  const parts = (selector) => [...document.querySelectorAll(selector)];
  const text = (part) => part.textContent.replaceAll('\\u00a0', ' ');
  return {
    texts: parts('.dpviz-title, .dpviz-answer, .dpviz-numbers, .dpviz-list, .dpviz-told, .dpviz-problem').map(text),
    figures: parts('[role=figure]').map((plot) => plot.ariaLabel),
    inputs: parts('main input:not([type=file])').map((input) => [input.ariaValueText ?? input.value, input.checked]),
    chosen: parts('main [role=radio]').filter((button) => button.ariaChecked === 'true').map(text),
  };
}"""
AXE = "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations)"
IS_STILL = "() => !document.getAnimations().some((animation) => animation instanceof CSSTransition)"
CUT = """() => [...document.querySelectorAll('main :is(p, h1, h2, label, button, td, [role=figure], section)')]
  .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1
    && !part.closest('.dpviz-scroll, .dpviz-table, .stCode, .katex, .dpviz-part'))
  .map((part) => part.textContent.slice(0, 60))"""

expect.set_options(timeout=TIMEOUT_MS)

_idle_tabs: WeakKeyDictionary[Browser | BrowserContext, dict[str, list[tuple[Page, list[str]]]]] = WeakKeyDictionary()
"""Tabs that no visit uses with their faults, by context and host."""


@contextmanager
def visit(
    context: Browser | BrowserContext, url: str, viewport: ViewportSize = LAPTOP, theme: Theme = "light", *,
    is_settled: bool = True, is_strict: bool = True,
) -> Iterator[Page]:  # fmt: skip
    """Open a page in a tab, and check at its end that nothing went wrong.

    A browser makes a context of its own, in which nothing has been loaded; in a context, a tab that an earlier visit
    to the host has left loads the app in half the time. `is_settled` waits until the page is complete, and `is_strict`
    has errors in the console and requests to other hosts fail the test.
    """
    idle = _idle_tabs.setdefault(context, {}).setdefault(urlsplit(url).netloc, [])
    if idle:
        page, faults = idle.pop()
        faults.clear()
    else:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        faults = watch(page, url)
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=theme, media="null")
    page.goto(url)
    if is_settled:
        settle(page)
    yield page
    assert page.locator("[data-testid=stException]").all_inner_texts() == []
    assert not is_strict or faults == []
    if isinstance(context, BrowserContext):
        page.goto("about:blank")  # ends the session
        idle.append((page, faults))
    else:
        page.close()


def watch(page: Page, url: str) -> list[str]:
    """List that grows by every error in the console, exception, and request to another host than that of a URL."""
    parts = urlsplit(url)
    host = f"{parts.scheme}://{parts.netloc}"
    faults: list[str] = []
    page.add_init_script(NOTE_VIOLATIONS)
    page.on("pageerror", lambda error: faults.append(f"exception: {error}"))

    def note_request(address: str) -> None:
        if not address.startswith((f"{host}/", "blob:", "data:", "about:")):
            faults.append(f"another host: {address}")

    def note_error(kind: str, text: str, address: str) -> None:
        is_probe = "404" in text and address.removeprefix(host) in PROBES
        if kind == "error" and not is_probe:
            faults.append(f"console: {text} {address}")

    page.on("request", lambda request: note_request(request.url))
    page.on("console", lambda message: note_error(message.type, message.text, message.location["url"]))
    return faults


def wait_until(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + TIMEOUT_MS / 1000
    while not condition():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def state(page: Page) -> dict[str, Any]:
    """What a page says and how its controls stand."""
    found: dict[str, Any] = page.evaluate(STATE)
    return found


def answer(page: Page) -> Locator:
    """The sentence that a page answers with."""
    return page.locator(".dpviz-answer").first


def slider(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key}_slider input[type=range]")


def box(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} input")


def type_number(page: Page, key: str, text: str) -> None:
    """Type into the box of a number."""
    box(page, key).fill(text)
    box(page, key).press("Enter")
    settle(page)


def choose(page: Page, key: str, label: str) -> None:
    """Choose one of several buttons that stand side by side."""
    page.locator(f".st-key-{key}").get_by_text(label, exact=True).click()
    settle(page)


def go_to(page: Page, target: AppPage) -> None:
    """Choose a page in the menu, which says its title from then on."""
    group = next(name for name, pages in GROUPS.items() if target in pages)
    if group:
        page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
    links = page.get_by_test_id("stTopNavDropdownLink" if group else "stTopNavLink")
    links.filter(has_text=target.title).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(target.title)
    settle(page)


def shut_out(page: Page) -> list[str]:
    """What keeps people from using a page, as axe judges it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    page.wait_for_function(IS_STILL)
    return [f"{found['id']} at {[node['target'] for node in found['nodes']][:4]}" for found in page.evaluate(AXE)]


def cut_off(page: Page) -> list[str]:
    """What reaches beyond the right edge of the screen and cannot be scrolled by itself."""
    assert page.viewport_size is not None
    width = page.evaluate("document.documentElement.scrollWidth")
    too_wide = [f"the page is {width} px wide"] if width > page.viewport_size["width"] else []
    return too_wide + [f"cut: {text}" for text in page.evaluate(CUT)]


def saved_file(page: Page, button: Locator) -> tuple[str, bytes]:
    """Name and content of the file behind a button."""
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()
