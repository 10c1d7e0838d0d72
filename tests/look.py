"""How a page looks in real Chromium: for everybody, on any screen, in both themes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import settle
from tests.visit import LARGE, Theme, pick, told, unfold

TELEPHONE: ViewportSize = {"width": 390, "height": 844}
LYING: ViewportSize = {"width": 844, "height": 390}
HEIGHT = 6000
"""Pixels of a screen that shows a whole page: axe judges the colors of what is in sight, and of nothing else."""

OPPOSITE: tuple[tuple[ViewportSize, Theme], ...] = (
    ({"width": 390, "height": HEIGHT}, "dark"),
    ({"width": 1400, "height": HEIGHT}, "light"),
)
IN_LIFE: tuple[tuple[ViewportSize, Theme], ...] = ((TELEPHONE, "light"), (LARGE, "dark"))
"""The other two screens and themes, as they are in life: a page is judged in one of them."""

SEVERE = {"serious", "critical"}
BEYOND = """() => [...document.querySelectorAll('.stMain p, .stMain h1, .stMain h2, .stMain [role=figure]')]
  .filter((part) => part.offsetWidth > 0 && part.getBoundingClientRect().right > innerWidth + 1
    && !part.closest('.dpviz-scroll, .dpviz-table, .stCode, .katex'))
  .map((part) => part.textContent.slice(0, 60))"""
"""The words that begin whatever reaches beyond the screen and cannot be scrolled by itself."""


def shut_out(page: Page, within: str | None = None, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds that keeps people out, with the elements it names; of the whole page, or within a selector.

    Judged by all rules of axe, or by those that are named.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    page.wait_for_function(STILL)
    return [
        f"{found['id']}: {found['help']} at {[node['target'] for node in found['nodes']][:4]}"
        for found in page.evaluate(AXE, [within, list(rules)])
        if found["impact"] in SEVERE
    ]


STILL = """() => new Promise(requestAnimationFrame).then(
  () => !document.getAnimations().some((one) => one instanceof CSSTransition)
    && [...document.querySelectorAll('[data-testid=stSidebarNavItems]')].every((one) => one.role === 'none'))"""
"""Whether nothing fades and the page's script is there.

Words are hardly to be seen while a button that has just been left changes its color, and the groups of pages are lists
of no items until the script has come.
"""

AXE = """([within, rules]) => axe.run(
  within ?? document, {resultTypes: ['violations'], ...(rules.length ? {runOnly: rules} : {})}
).then((found) => found.violations)"""
OF_COLORS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colors: no other can tell a theme from the other one on the same screen."""
BELOW = "[class*='_look'] ~ *"
"""What stands below the choice of a closer look: the section that is open."""


def beyond_the_screen(page: Page) -> list[str]:
    """What does not fit the width of the screen."""
    assert page.viewport_size is not None
    wide = page.evaluate("document.documentElement.scrollWidth")
    found = [f"the page is {wide} wide"] if wide > page.viewport_size["width"] else []
    return found + [f"cut off: {words}" for words in page.evaluate(BEYOND)]


def faults(page: Page, within: str | None = None, rules: Sequence[str] = ()) -> list[str]:
    """Whatever keeps people out, or does not fit the screen."""
    return shut_out(page, within, rules) + beyond_the_screen(page)


def put_on(page: Page, screen: ViewportSize, theme: Theme) -> None:
    """Change the screen and the theme of an open page, and wait until its pictures are drawn again in them."""
    page.set_viewport_size(screen)
    if not page.evaluate("(theme) => matchMedia(`(prefers-color-scheme: ${theme})`).matches", theme):
        page.evaluate("document.querySelectorAll('[role=figure]').forEach((plot) => delete plot.dataset.drawn)")
        page.emulate_media(color_scheme=theme)
        expect(page.locator("[data-testid=stApp]")).to_have_css("color-scheme", theme)
    settle(page)


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


def check_pictures_are_named(page: Page, pictures: int) -> None:
    """Each picture has a name of its own, and keeps its labels from screen readers."""
    names = told(page)["figures"]
    assert len(set(names)) == len(names) == pictures, names
    assert all(len(name) > 20 for name in names)
    assert page.locator("[role=figure] .main-svg").count() == page.locator(".main-svg[aria-hidden=true]").count()


def check_looks(page: Page, sections: Mapping[str, int], drawn: Collection[str], in_life: int) -> None:
    """Of the page in three looks, and of each section in one of two opposite ones by turns: nothing keeps anybody out.

    The pictures, so many with each section, have names, and the text of all is of one color in each theme: of those
    sections that are `drawn`, with pictures of their own, each theme has its share. The page is judged once in each
    opposite look, and by its colors alone in one of those in life, then of each section what it adds.
    """
    assert page.locator("h1").count() == 1
    seen: list[set[str]] = []
    in_turn = sorted(sections, key=lambda one: one not in drawn)
    for place, (screen, theme) in enumerate((*OPPOSITE, IN_LIFE[in_life])):
        put_on(page, screen, theme)
        found = {"the page": faults(page, rules=() if (screen, theme) in OPPOSITE else OF_COLORS)}
        expect(page.locator(".dpviz-now")).to_be_visible(visible=screen["width"] < 800)
        of_look: set[str] = set()
        for section in in_turn[place :: len(OPPOSITE)] if (screen, theme) in OPPOSITE else ():
            pick(page, "look", section)
            found[section] = faults(page, BELOW)
            check_pictures_are_named(page, sections[section])
            of_look.update(colours(page))
        assert not any(found.values()), (screen, theme, found)
        seen.append(of_look)
    if sections:
        check_themes_differ(*(list(one) for one in seen[: len(OPPOSITE)]))


BROKEN = """() => {
  const broken = [];
  for (const label of document.querySelectorAll('.st-key-controls label, .st-key-controls button')) {
    const walker = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const word of node.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
  }
  return broken;
}"""
"""Words of labels that stand on more than one line."""


def check_labels_have_room(page: Page) -> None:
    """No word of a label is broken on a screen of usual width and on a narrow one, and nothing reaches beyond it."""
    unfold(page)
    for width in (1024, 700):
        page.set_viewport_size({"width": width, "height": 1000})
        settle(page)
        assert page.evaluate(BROKEN) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
