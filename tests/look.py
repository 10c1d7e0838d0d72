"""How a page looks in real Chromium: for everybody, on any screen, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser import settle
from tests.visit import LARGE, Theme, pick, visiting

TELEPHONE: ViewportSize = {"width": 390, "height": 844}
HEIGHT = 6000
"""Pixels of a screen that shows a whole page: axe judges the colors of what is in sight, and of nothing else."""

OPPOSITE: tuple[tuple[ViewportSize, Theme], ...] = (
    ({"width": 390, "height": HEIGHT}, "dark"),
    ({"width": 1400, "height": HEIGHT}, "light"),
)
LOOKS = (*OPPOSITE, (TELEPHONE, "light"), (LARGE, "dark"))
"""Screens and themes: two that show all and have nothing in common, and the other two as they are in life."""

SEVERE = {"serious", "critical"}
BEYOND = """() => [...document.querySelectorAll('.stMain p, .stMain h1, .stMain h2, .stMain [role=figure]')]
  .filter((part) => part.offsetWidth > 0 && part.getBoundingClientRect().right > innerWidth + 1
    && !part.closest('.dpviz-scroll, .dpviz-table, .stCode, .katex'))
  .map((part) => part.textContent.slice(0, 60))"""
"""The words that begin whatever reaches beyond the screen and cannot be scrolled by itself."""


def shut_out(page: Page) -> list[str]:
    """What axe finds that keeps people out, with the elements it names."""
    return [
        f"{found['id']}: {found['help']} at {[node['target'] for node in found['nodes']][:4]}"
        for found in Axe().run(page).response["violations"]
        if found["impact"] in SEVERE
    ]


def beyond_the_screen(page: Page) -> list[str]:
    """What does not fit the width of the screen."""
    assert page.viewport_size is not None
    wide = page.evaluate("document.documentElement.scrollWidth")
    found = [f"the page is {wide} wide"] if wide > page.viewport_size["width"] else []
    return found + [f"cut off: {words}" for words in page.evaluate(BEYOND)]


def faults(page: Page) -> list[str]:
    """Whatever keeps people out, or does not fit the screen."""
    return shut_out(page) + beyond_the_screen(page)


def put_on(page: Page, screen: ViewportSize, theme: Theme) -> None:
    """Change the screen and the theme of an open page, and wait until its pictures are drawn again in them."""
    page.set_viewport_size(screen)
    if not page.evaluate("(theme) => matchMedia(`(prefers-color-scheme: ${theme})`).matches", theme):
        page.evaluate("document.querySelectorAll('[role=figure]').forEach((plot) => delete plot.dataset.drawn)")
        page.emulate_media(color_scheme=theme)
        expect(page.locator("[data-testid=stApp]")).to_have_css("color-scheme", theme)
    settle(page)


def by_section(page: Page, sections: Iterable[str], look: Callable[[Page], list[str]] = faults) -> dict[str, list[str]]:
    """What `look` finds in each section once it is opened, where it finds anything."""
    found = {}
    for section in sections:
        pick(page, "look", section)
        found[section] = look(page)
    return {section: there for section, there in found.items() if there}


def check_looks(page: Page, sections: Iterable[str]) -> None:
    """Nothing keeps anybody out: of the page in every look, of each section in two opposite ones."""
    for screen, theme in LOOKS:
        put_on(page, screen, theme)
        found = {"the page": faults(page)}
        if (screen, theme) in OPPOSITE:
            found |= by_section(page, sections)
        assert not any(found.values()), (screen, theme, found)


def colours(page: Page) -> list[str]:
    """The colour of the tick labels of every picture, and of the page's text."""
    return page.evaluate(
        """() => [...document.querySelectorAll('[role=figure]')]
          .map((plot) => getComputedStyle(plot.querySelector('.xtick text')).fill)
          .concat(getComputedStyle(document.querySelector('.dpviz-answer')).color)"""
    )


def check_themes_differ(light: list[str], dark: list[str]) -> None:
    """All text of a page has one colour, another one in the other theme."""
    assert len(light) == len(dark)
    assert len(set(light)) == len(set(dark)) == 1
    assert light[0] != dark[0]


def check_pictures_follow_the_theme(
    chromium: Browser, address: str, pictures: int, prepare: Callable[[Page], None] = lambda _page: None
) -> None:
    """The pictures at an address have the colour of the page's text in the theme they begin with, and in the next."""
    with visiting(chromium, address, theme="dark") as page:
        prepare(page)
        expect(page.get_by_role("figure")).to_have_count(pictures)
        dark = colours(page)
        put_on(page, LARGE, "light")
        check_themes_differ(colours(page), dark)


def check_pictures_are_named(page: Page, pictures: int) -> None:
    """Each picture has a name of its own, and keeps its labels from screen readers."""
    figures = page.get_by_role("figure")
    expect(figures).to_have_count(pictures)
    names = [figure.get_attribute("aria-label") or "" for figure in figures.all()]
    assert len(set(names)) == pictures
    assert min(map(len, names)) > 20
    for figure in figures.all():
        hidden = figure.locator(".main-svg[aria-hidden=true]").count()
        assert figure.locator(".main-svg").count() == hidden > 0
