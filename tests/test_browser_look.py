"""The app in real Chromium: for everybody, on any screen, in both themes."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.pages import SECTIONS
from tests.visit import pick, settle, visiting

pytestmark = pytest.mark.browser
LARGE, TELEPHONE = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
SCREENS = pytest.mark.parametrize("screen", [LARGE, TELEPHONE], ids=["1400", "390"])
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
SEVERE = {"serious", "critical"}


def violations(page: Page) -> list[str]:
    """What axe finds that keeps people out, with the elements it names."""
    return [
        f"{found['id']}: {found['help']} at {[node['target'] for node in found['nodes']][:4]}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in SEVERE
    ]


@THEMES
@SCREENS
def test_every_section_is_accessible(chromium: Browser, server: str, screen: dict[str, int], theme: str) -> None:
    found = {}
    with visiting(chromium, server, viewport=screen, color_scheme=theme) as page:
        found["first"] = violations(page)
        for section in SECTIONS:
            pick(page, "look", section)
            found[section] = violations(page)
    assert not {section: faults for section, faults in found.items() if faults}


VIEWS = [
    "tm_n=40&tm_law=beta_binomial",
    "tm_n=40&tm_law=beta_binomial&tm_picture=log-odds&tm_sign=signed",
    "tm_law=given_matrix",
    "tm_law=posterior_mode&tm_m_is_n=false&tm_beta_is_alpha=false&tm_n=foo",
]


@THEMES
@SCREENS
def test_every_view_is_accessible_and_fits_its_screen(
    chromium: Browser, server: str, screen: dict[str, int], theme: str
) -> None:
    with visiting(chromium, server, viewport=screen, color_scheme=theme) as page:
        for view in VIEWS:
            page.goto(f"{server}/?{view}")
            settle(page)
            assert violations(page) == [], view
            assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"], view


def test_no_section_scrolls_sideways_on_a_telephone(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, viewport=TELEPHONE, has_touch=True, is_mobile=True) as page:
        for section in SECTIONS:
            pick(page, "look", section)
            assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE["width"], section
            wide = page.evaluate(
                """() => [...document.querySelectorAll('.stMain p, .stMain h1, .stMain h2, .stMain [role=figure]')]
                  .filter((part) => part.offsetWidth > 0 && part.getBoundingClientRect().right > innerWidth + 1
                    && !part.closest('.dpviz-scroll, .dpviz-table, .stCode, .katex'))
                  .map((part) => part.textContent.slice(0, 60))"""
            )
            assert wide == [], section


def colours(page: Page) -> list[str]:
    """The colour of the tick labels of every picture, and of the page's text."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[role=figure]')]
          .map((plot) => getComputedStyle(plot.querySelector('.xtick text')).fill)
          .concat(getComputedStyle(document.querySelector('.dpviz-answer')).color)"""
    )


def test_pictures_follow_the_theme(chromium: Browser, server: str) -> None:
    address = f"{server}/?tm_n=40"
    seen = {}
    for theme in ("light", "dark"):
        with visiting(chromium, address, color_scheme=theme) as page:
            seen[theme] = colours(page)
    assert len(seen["light"]) == len(seen["dark"]) == 3
    for theme in seen:
        assert len(set(seen[theme])) == 1
    assert not set(seen["light"]) & set(seen["dark"])


def test_pictures_have_names_and_keep_their_labels_from_screen_readers(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/?tm_n=40&tm_look=The+attacker") as page:
        pictures = page.get_by_role("figure")
        assert pictures.count() == 3
        for picture in pictures.all():
            assert len(picture.get_attribute("aria-label") or "") > 20
            assert picture.locator(".main-svg").count() == picture.locator(".main-svg[aria-hidden=true]").count() > 0
