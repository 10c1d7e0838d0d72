"""A visitor of the running app in real Chromium: open a page, move its controls, read what it says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from dpviz.synthesizers import SYNTHESIZERS
from dpviz.synthesizers.given_matrix import GivenMatrix
from tests.browser import settle

LABELS = {key: cls.label for key, cls in SYNTHESIZERS.items()} | {GivenMatrix.key: GivenMatrix.label}
PROBED = tuple(
    f"/{page}/_stcore/{asked}"
    for page in ("minimum_priors", "coverage", "posterior")
    for asked in ("health", "host-config")
)
"""What Streamlit's browser side looks for below a page's own address, where it is not: it then asks one folder up."""

PATIENCE = 30_000
"""Milliseconds after which something that was to appear counts as missing; nothing is timed."""

expect.set_options(timeout=PATIENCE)


@contextlib.contextmanager
def visiting(chromium: Browser, address: str, **context: Any) -> Iterator[Page]:
    """A page in a fresh context; fails when it logs an error, throws, or asks another host for anything."""
    host = "/".join(address.split("/")[:3])
    faults: list[str] = []
    options = {"viewport": {"width": 1400, "height": 1000}, "accept_downloads": True} | context
    visitor = chromium.new_context(**options)
    page = visitor.new_page()
    page.set_default_timeout(PATIENCE)
    page.on(
        "console",
        lambda said: (
            faults.append(f"console: {said.text} {said.location['url']}")
            if said.type == "error" and not _probe(said, host)
            else None
        ),
    )
    page.on("pageerror", lambda error: faults.append(f"thrown: {error}"))
    page.on(
        "request",
        lambda asked: (
            None if asked.url.startswith((host, "blob:", "data:")) else faults.append(f"foreign host: {asked.url}")
        ),
    )
    page.on("requestfailed", lambda asked: faults.append(f"failed: {asked.url}") if "/media/" in asked.url else None)
    try:
        page.goto(address)
        settle(page)
        yield page
        assert not faults, faults
        check_calm(page)
    finally:
        visitor.close()


def _probe(said: ConsoleMessage, host: str) -> bool:
    """Whether an error is one of the two that Streamlit itself causes at the address of a page."""
    return "status of 404" in said.text and said.location["url"] in [host + path for path in PROBED]


def check_calm(page: Page) -> None:
    """No exception, no number that is not one, no picture that could not be drawn."""
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
    words = page.locator("body").inner_text()
    for sign in ("Traceback", "Error", "Oh no", "NaN", "nan ", "could not be drawn"):
        assert sign not in words, sign


def control(page: Page, key: str, prefix: str = "tm_") -> Locator:
    """The control with the key ``tm_…``, or with another page's prefix."""
    return page.locator(f".st-key-{prefix}{key}")


def choose_law(page: Page, law: str) -> None:
    """Choose a law from the list."""
    field = control(page, "law").get_by_role("combobox")
    field.click()
    page.get_by_role("option", name=LABELS[law], exact=True).click()
    expect(field).to_have_value(LABELS[law])
    settle(page)


def type_number(page: Page, key: str, text: str, prefix: str = "tm_") -> None:
    """Type into the box of a number."""
    box = control(page, key, prefix).locator("input")
    box.fill(text)
    box.press("Enter")
    settle(page)


def toggle(page: Page, key: str, prefix: str = "tm_") -> None:
    """Flip a switch."""
    control(page, key, prefix).locator("label").first.click()
    settle(page)


def pick(page: Page, key: str, option: str, prefix: str = "tm_") -> None:
    """Choose one of the buttons side by side."""
    button = control(page, key, prefix).get_by_role("radio", name=option, exact=True)
    button.click()
    expect(button).to_be_checked()
    settle(page)


def slider(page: Page, key: str, prefix: str = "tm_") -> Locator:
    """The thumb of a slider."""
    return control(page, f"{key}_slider", prefix).locator("input[type=range]")


def told(page: Page) -> dict[str, Any]:
    """All that the page says and how every control stands."""
    return page.evaluate(
        """() => ({
          said: [...document.querySelectorAll('.dpviz-answer, .dpviz-numbers, .dpviz-note, .dpviz-table, .dpviz-list')]
            .map((part) => part.textContent),
          figures: [...document.querySelectorAll('[role=figure]')].map((part) => part.getAttribute('aria-label')),
          boxes: [...document.querySelectorAll('.stMain input:not([type=file])')]
            .map((box) => [box.ariaLabel, box.getAttribute('aria-valuetext') ?? box.value, box.checked]),
          buttons: [...document.querySelectorAll('.stMain [role=radio]')]
            .filter((button) => button.ariaChecked === 'true').map((button) => button.textContent),
        })"""
    )
