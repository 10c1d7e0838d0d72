"""One release on all pages: set on one, kept on the next, out of the way of presets, and brought back by one click."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import settle
from tests.visit import control, go_to, pick, small, told, type_number, visiting

pytestmark = pytest.mark.browser


def go(page: Page, title: str) -> dict[str, Any]:
    go_to(page, title)
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    settle(page)
    return told(page)


def number(page: Page, key: str) -> float:
    return float(control(page, key).locator("input").first.input_value())


def test_what_is_set_on_one_page_is_set_on_the_next_and_comes_back(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/{small('minimum_priors')}") as page:
        type_number(page, "n", "40")
        type_number(page, "epsilon", "1.5")
        go(page, "Coverage")
        assert (number(page, "n"), number(page, "epsilon")) == (40, 1.5)
        go(page, "Posterior")
        assert (number(page, "n"), number(page, "epsilon")) == (40, 1.5)
        type_number(page, "epsilon", "2.5")
        go(page, "Minimum priors")
        assert (number(page, "n"), number(page, "epsilon")) == (40, 2.5)
        go(page, "Transition matrices")
        assert (number(page, "n"), number(page, "epsilon")) == (40, 2.5)
        assert "kept" in page.locator(".dpviz-mark").first.inner_text()  # the smallest prior comes with the promise


def test_a_preset_replaces_the_release_on_its_page_and_one_click_brings_it_back(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/coverage") as page:
        type_number(page, "n", "30")
        go(page, "Posterior")
        pick(page, "preset", "ε = 0.1")
        assert (number(page, "n"), number(page, "epsilon")) == (100, 0.1)
        control(page, "preset").get_by_role("radio", name="your release").click()
        settle(page)
        assert number(page, "n") == 30
        go(page, "Coverage")
        assert number(page, "n") == 30


def test_a_fresh_reader_meets_each_page_as_it_is(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices") as page:
        go(page, "Coverage")
        assert number(page, "n") == 100
        go(page, "Minimum priors")
        assert number(page, "n") == 1000


def test_a_page_that_does_not_take_the_release_says_so_and_keeps_its_own(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/{small('minimum_priors')}") as page:
        type_number(page, "n", "6000")
        go(page, "Transition matrices")
        assert number(page, "n") == 5
        expect(page.locator(".dpviz-problem")).to_contain_text("Your release stays on the other pages")
        go(page, "Minimum priors")
        assert number(page, "n") == 6000


def test_a_link_opens_a_page_that_was_seen_before_with_its_own_settings(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/coverage?cv_n=30") as page:
        go_to(page, "Start")
        expect(page.get_by_role("heading", level=1)).to_contain_text("What does privacy cost?")
        settle(page)
        pick(page, "n", "1,000")
        page.get_by_role("link", name="Coverage →").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Coverage")
        settle(page)
        assert number(page, "n") == 1000
