"""Who listens, tabs or prints: the answer is announced and reached at once, and a print shows no controls."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser import settle
from tests.visit import LARGE, pick, small, unfold, visiting

pytestmark = pytest.mark.browser


def test_the_answer_is_announced_reached_by_one_tab_under_headings_and_printed_without_controls(
    server: str, chromium: Browser
) -> None:
    with visiting(chromium, f"{server}/{small('curator')}") as page:
        region = page.locator(".dpviz-announced")
        answer = page.locator(".dpviz-answer").first.text_content()
        page.wait_for_function(
            "() => document.querySelector('.dpviz-announced').textContent"
            " === document.querySelector('.dpviz-answer').textContent"
        )
        assert (region.get_attribute("aria-live"), region.get_attribute("role")) == ("polite", "status")
        assert region.text_content() == answer
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
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1010})
        for hidden in (".st-key-controls", "[data-testid=stHeader]", ".dpviz-dock", "[data-testid=stButtonGroup]"):
            assert not any(one.is_visible() for one in page.locator(hidden).all())
        assert page.locator(".dpviz-answer").first.is_visible()
        widths = page.evaluate(
            "[...document.querySelectorAll('.main-svg')].map((e) => e.getBoundingClientRect().right)"
        )
        assert widths and max(widths) <= 718
        page.emulate_media(media="screen")
        page.set_viewport_size(LARGE)
        settle(page)
        for section in ("How the choice changes", "Pilot data", "The report"):
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


def test_on_a_low_screen_the_open_panel_stands_beside_the_drawing(server: str, chromium: Browser) -> None:
    with visiting(chromium, server, {"width": 844, "height": 390}) as page:
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


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720), (1920, 1080)])
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


@pytest.mark.parametrize("screen", [{"width": 390, "height": 844}, {"width": 844, "height": 390}], ids=str)
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
