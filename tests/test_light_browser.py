"""The row and the cell of a drawn release, lit in the tables and pictures of the page, in real Chromium."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.mechanisms.draws import draw_releases
from tests.browser import settle
from tests.visit import PATIENCE, control, pick, visiting

pytestmark = pytest.mark.browser

SECTION = "transition_matrices?tm_look=Draw+a+release"
LIT = """([name, places]) => JSON.stringify(places) === JSON.stringify(
  [...document.querySelectorAll(`[data-light="${name}"] tbody tr`)].flatMap((row, place) =>
    [...row.querySelectorAll('td')].flatMap((cell, column) =>
      getComputedStyle(cell).backgroundColor === 'rgb(255, 225, 90)' ? [[place, column]] : [])))"""
"""Whether a table's lit cells are at these places."""


def draw(page: Page, words: str) -> None:
    page.get_by_role("button", name=words, exact=True).click()
    settle(page)


def check_lit(page: Page, matrix: list[list[int]], log_odds: list[list[int]]) -> None:
    """These cells of the two tables are lit, and no others; the light takes a moment to come on."""
    for name, places in (("matrix", matrix), ("log-odds", log_odds)):
        page.wait_for_function(LIT, arg=[name, places], timeout=PATIENCE)


def test_each_drawn_release_lights_its_cell_and_its_log_odds_in_the_tables(chromium: Browser, server: str) -> None:
    release = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
    columns = draw_releases(release, 1, number=103, seed=1).columns.tolist()
    with visiting(chromium, f"{server}/{SECTION}") as page:
        check_lit(page, [], [])
        for words, last in (("Draw one", 0), ("Draw one", 1), ("Draw 100", 101), ("Draw one", 102)):
            draw(page, words)
            expect(page.locator(".dpviz-answer").nth(1)).to_contain_text(f"Release {last + 1}:")
            check_lit(page, [[1, columns[last]]], [[0, columns[last]], [1, columns[last]]])
        pick(page, "look", "The attacker")
        check_lit(page, [[1, columns[0]]], [[0, columns[0]], [1, columns[0]]])  # the reader's own release


def test_releases_are_drawn_by_themselves_and_light_up_while_nothing_else_is_drawn_again(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}/{SECTION}&tm_show=pictures") as page:
        plot, cell = control(page, "heatmap").locator("[role=figure]"), page.locator(".dpviz-light .cell")
        expect(page.locator(".dpviz-light .row")).to_have_count(1)
        expect(cell).to_have_count(0)
        drawn = plot.get_attribute("data-drawn")
        page.get_by_role("button", name="Draw by itself").click()
        expect(page.locator(".dpviz-answer").nth(1)).to_contain_text(re.compile(r"Release ([4-9]|\d\d+):"))
        expect(cell).to_have_count(1)
        draw(page, "Stop")
        assert plot.get_attribute("data-drawn") == drawn
        pick(page, "picture", "log-odds")
        expect(cell).to_have_count(2)
        pick(page, "look", "Why, and sources")
        expect(page.get_by_text("Framed is what came of your secret table")).to_be_visible()
        expect(cell).to_have_count(2)


@pytest.mark.parametrize(("rows", "secret"), [(5, 1), (60, 20)])
def test_the_lit_cell_of_a_picture_is_that_of_the_release(
    chromium: Browser, server: str, rows: int, secret: int
) -> None:
    release = BetaBinomial(n=rows, m=rows, alpha=2.0, beta=2.0)
    last = int(draw_releases(release, secret, number=3, seed=1).columns[-1])
    asked = f"tm_synthesizer=beta_binomial&tm_n={rows}&tm_alpha=2&tm_show=pictures&tm_x={secret}&tm_drawn_releases=3"
    with visiting(chromium, f"{server}/{SECTION}&{asked}") as page:
        control(page, "heatmap").scroll_into_view_if_needed()
        at = page.locator(".dpviz-light .cell").bounding_box()
        assert at is not None
        page.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        hover = control(page, "heatmap").locator(".hovertext")
        expect(hover).to_contain_text(f"confidential n1 = {secret}")
        expect(hover).to_contain_text(f"released m1 = {last}")
