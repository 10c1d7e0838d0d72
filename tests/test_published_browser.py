"""The page "Published" in real Chromium: on a telephone and on a projector, in both themes, with a cell open."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser import settle
from tests.look import TELEPHONE, faults, put_on
from tests.visit import LARGE, answer, visiting

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
        for screen, theme in ((CLASSROOM, "light"), (LARGE, "dark"), (TELEPHONE, "dark")):
            put_on(page, screen, theme)  # type: ignore[arg-type]
            expect(shown).to_be_in_viewport(ratio=1)
            assert faults(page) == []
        shown.get_by_role("link").click()
        page.wait_for_url(re.compile("/coverage.*cv_"))
        settle(page)
        assert answer(page)
