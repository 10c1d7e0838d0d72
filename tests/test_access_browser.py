"""Who listens, tabs or prints: the answer is announced and reached at once, and a print shows no controls."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser import settle
from tests.look import LYING, TELEPHONE
from tests.visit import pick, small, unfold, visiting

pytestmark = pytest.mark.browser


def test_the_answer_is_announced_reached_by_one_tab_under_headings_and_printed_without_controls(
    server: str, chromium: Browser
) -> None:
    with visiting(chromium, f"{server}/{small('curator')}") as page:
        region = page.locator(".dpviz-announced")
        page.wait_for_function(
            "() => document.querySelector('.dpviz-announced').textContent"
            " === document.querySelector('.dpviz-answer').textContent"
        )
        assert (region.get_attribute("aria-live"), region.get_attribute("role")) == ("polite", "status")
        page.evaluate("document.querySelector('.dpviz-answer').innerHTML += ' <b>And more.</b>'")  # with no run
        expect(region).to_contain_text("And more.")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Go to the answer"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.className") == "dpviz-answer"
        unfold(page)
        page.wait_for_function("() => !document.querySelector('[aria-label=\"Clear all\"]')")  # of what?
        names = page.evaluate("[...document.querySelectorAll('input, button')].map((one) => one.ariaLabel)")
        named = [name for name in names if name and ("exact value" in name or "Clear all" in name)]
        assert len(named) == len(set(named)) >= 6
        assert page.locator("h2").count() >= 1
        widths = "[...document.querySelectorAll('.main-svg')].map((one) => one.getBoundingClientRect().width)"
        on_screen = page.evaluate(widths)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        on_paper = page.evaluate(widths)  # at once: a browser that prints waits for nothing
        assert on_paper and max(on_paper) <= 703 < max(on_screen)  # 186 mm of A4
        page.emulate_media(media="print")
        hidden = (
            ".st-key-controls",
            "[data-testid=stHeader]",
            ".dpviz-dock",
            "[data-testid=stButtonGroup]",
            ".stCheckbox",
        )
        for one in hidden:
            assert page.locator(one).count() > 0, one
            assert not any(part.is_visible() for part in page.locator(one).all()), one
        assert page.locator(".dpviz-answer").first.is_visible()
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(widths) == on_screen
        settle(page)
        for section in ("Pilot data", "The report"):
            pick(page, "look", section)
            assert page.locator("h1, h2").evaluate_all("(all) => all.map((one) => one.tagName + one.textContent)") == [
                "H1Which release keeps all your limits? Curator's desk",
                "H2Settings", "H2The answer", "H2The designs in order", f"H2{section}",
            ]  # fmt: skip
            rooms = page.evaluate(
                "[...document.querySelectorAll('[data-testid=stElementContainer]:has(.dpviz-part:only-child)')]"
                ".map((one) => getComputedStyle(one).position)"
            )
            assert rooms == ["absolute"] * 2


@pytest.mark.parametrize("mode", ["", "?class=1"])
def test_on_a_low_screen_the_open_panel_stands_beside_the_drawing(server: str, chromium: Browser, mode: str) -> None:
    with visiting(chromium, f"{server}/{mode}", {"width": 844, "height": 390}) as page:
        button = page.get_by_role("button", name="Controls", exact=True)
        for width, height in ((844, 390), (700, 450)):
            page.set_viewport_size({"width": width, "height": height})
            settle(page)
            expect(button).to_have_attribute("aria-expanded", "true")
            expect(page.locator(".st-key-home_epsilon_slider")).to_be_in_viewport()
            panel, drawing = (page.locator(one).bounding_box() for one in (".st-key-controls", ".dpviz-story"))
            assert panel is not None and drawing is not None
            assert drawing["x"] >= 0
            assert drawing["x"] + drawing["width"] <= panel["x"] == width - panel["width"]
            line = page.locator(".dpviz-now").bounding_box()
            assert line is not None
            assert line["y"] - drawing["y"] >= 80  # of the drawing, above the line with the answer
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            button.click()
            expect(page.locator(".st-key-home_epsilon_slider")).not_to_be_visible()
            closed = page.locator(".dpviz-story").bounding_box()
            assert closed is not None and closed["width"] > 0.9 * width
            button.click()


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1920, 1080)])
def test_in_class_mode_the_first_picture_fills_the_rest_of_the_screen(
    server: str, chromium: Browser, width: int, height: int
) -> None:
    with visiting(chromium, f"{server}/{small('minimum_priors')}&class=1", {"width": width, "height": height}) as page:
        picture = page.locator("[role=figure]").first
        page.wait_for_function(
            "() => Math.abs(document.querySelector('[role=figure]').getBoundingClientRect().bottom - innerHeight) <= 12"
        )
        box = picture.bounding_box()
        assert box is not None and box["height"] > height / 2
        assert page.locator("details.dpviz-fold:not([open])").count() >= 1
        page.locator("details.dpviz-fold summary").first.click()
        page.keyboard.press("ArrowRight")  # another ε, and the table is still unfolded
        settle(page)
        assert page.locator("details.dpviz-fold[open]").count() == 1


ENLARGED: ViewportSize = {"width": 700, "height": 450}
"""A laptop's screen of 1,400 × 900 at 200 %."""


@pytest.mark.parametrize("screen", [TELEPHONE, LYING, ENLARGED], ids=str)
def test_the_open_controls_of_a_telephone_cover_nothing_of_the_first_picture(
    server: str, chromium: Browser, screen: ViewportSize
) -> None:
    with visiting(chromium, f"{server}/{small('minimum_priors')}", screen) as page:
        page.get_by_role("button", name="Controls", exact=True).click()
        page.wait_for_function(
            """() => {
              const picture = document.querySelector('[role=figure]').getBoundingClientRect();
              const panel = document.querySelector('.st-key-controls').getBoundingClientRect();
              const beside = panel.left > 0 && picture.right <= panel.left;
              return picture.top >= document.querySelector('[data-testid=stHeader]').offsetHeight - 1 &&
                picture.bottom <= document.querySelector('.dpviz-dock').getBoundingClientRect().top + 1 &&
                (beside || picture.bottom <= panel.top);
            }"""
        )


INSIDE = """() => {
  const [main, header, picture] = ['[data-testid=stMain]', '[data-testid=stHeader]', '[role=figure]'].map(
    (name) => document.querySelector(name));
  main.scrollBy({top: picture.getBoundingClientRect().top - header.offsetHeight});
  const inside = picture.querySelector('.xaxislayer-above').getBoundingClientRect();
  return inside.bottom < document.querySelector('.dpviz-dock').getBoundingClientRect().top;
}"""
"""Whether the first picture, moved to the top of the screen, is in sight down to the words below its axis."""

OVERLAPPING = """() => {
  const words = [...document.querySelectorAll('[role=figure] .ytick text, [role=figure] .annotation-text')];
  const boxes = words.map((one) => [one.textContent, one.getBoundingClientRect()]).filter(([, box]) => box.height > 0);
  return boxes.flatMap(([one, box], place) => boxes.slice(place + 1).filter(([, other]) =>
    Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
    && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 4).map(([other]) => [one, other]));
}"""
"""Words of a picture that lie on each other."""


@pytest.mark.parametrize("name", ["compare_synthesizers", "curator"])
def test_a_low_screen_shows_a_picture_whole_with_its_words_apart(server: str, chromium: Browser, name: str) -> None:
    with visiting(chromium, f"{server}/{small(name)}", LYING) as page:
        page.wait_for_function(INSIDE)
        switch, picture = (page.locator(one).first.bounding_box() for one in (".st-key-class", "[role=figure]"))
        assert switch is not None and picture is not None
        assert switch["y"] + switch["height"] <= picture["y"]  # it has scrolled away with the heading
        assert page.evaluate(OVERLAPPING) == []
        page.get_by_role("button", name="Controls", exact=True).click()
        for screen in (LYING, ENLARGED if name == "curator" else TELEPHONE):
            page.set_viewport_size(screen)
            settle(page)
            page.wait_for_function(INSIDE)
            assert page.evaluate(OVERLAPPING) == [], screen
