"""The page "Published" in real Chromium: on a telephone and on a projector, in both themes, with a cell open."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser import settle
from tests.look import TELEPHONE, faults
from tests.visit import Theme, answer, visiting

pytestmark = pytest.mark.browser

CLASSROOM: ViewportSize = {"width": 1280, "height": 720}


def test_a_cell_opens_without_moving_the_table_and_leads_to_its_setting(server: str, chromium: Browser) -> None:
    with visiting(chromium, f"{server}/published?pub_paper=charest", TELEPHONE) as page:
        cells = page.locator(".dpviz-printed .grid summary")
        box = cells.nth(1).bounding_box()
        cells.nth(1).focus()
        page.keyboard.press("Enter")
        shown = page.locator(".dpviz-printed .opened:visible")
        expect(shown).to_have_count(1)
        expect(shown).to_be_in_viewport(ratio=1)
        expect(shown).to_contain_text("23.88")
        now = cells.nth(1).bounding_box()
        assert box is not None and now is not None and (box["width"], box["height"]) == (now["width"], now["height"])
        assert faults(page) == []
        cells.nth(2).press("Enter")  # one at a time
        expect(shown).to_have_count(1)
        expect(shown).to_contain_text("53.84")
        shown.get_by_role("link").click()
        page.wait_for_url(re.compile("/coverage.*cv_"))
        settle(page)
        assert answer(page)


def test_a_copy_of_the_address_has_the_same_cell_open(server: str, chromium: Browser) -> None:
    with visiting(chromium, f"{server}/published?pub_paper=charest", CLASSROOM) as page:
        opened = page.locator("details[open][id^=cell]")
        page.locator(".dpviz-printed .grid td summary").nth(1).click()
        page.locator(".dpviz-printed .grid td summary").nth(2).click()  # one at a time
        page.wait_for_url(re.compile("cell=charest_2011-"))
        expect(opened).to_have_count(1)
        word = opened.get_attribute("id")
        copied = page.url
    with visiting(chromium, copied, CLASSROOM, "dark") as page:
        expect(opened := page.locator("details[open][id^=cell]")).to_have_count(1)
        assert opened.get_attribute("id") == word
        page.get_by_text("Only what differs").click()
        expect(page.locator("details[open][id^=cell]")).to_have_count(0)  # it agrees, and is hidden
        page.get_by_text("Only what differs").click()
        expect(page.locator("details[open][id^=cell]")).to_have_count(1)
        page.locator("details[open][id^=cell] > summary").click()
        page.wait_for_url(lambda url: "cell=" not in url)


@pytest.mark.parametrize(("paper", "screen", "theme"), [("bowen_liu", TELEPHONE, "light")])
def test_a_figure_stands_with_its_statements(
    server: str, chromium: Browser, paper: str, screen: ViewportSize, theme: Theme
) -> None:
    with visiting(chromium, f"{server}/published?pub_paper={paper}", screen, theme) as page:
        expect(page.locator(".js-plotly-plot").first).to_be_visible()
        expect(page.locator("details.numbers").first).to_be_attached()
        assert faults(page) == []


def test_on_a_projector_the_open_cell_covers_no_table(server: str, chromium: Browser) -> None:
    with visiting(chromium, f"{server}/published?class=1&pub_paper=liu", CLASSROOM, "dark") as page:
        expect(page.locator(".js-plotly-plot").first).to_be_visible()
        page.locator(".dpviz-printed .grid td summary").nth(2).click()
        shown = page.locator(".dpviz-printed .opened:visible")
        expect(shown).to_be_in_viewport(ratio=1)
        mine, table = shown.bounding_box(), page.locator(".dpviz-printed .grid:visible").first.bounding_box()
        assert mine is not None and table is not None and mine["x"] + mine["width"] <= table["x"]
        assert faults(page) == []
