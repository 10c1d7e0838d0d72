"""What a reader has set in real Chromium: on another page and back, with Back, after a preset, on a small screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.components.navigation import PAGES
from tests.browser import settle
from tests.look import TELEPHONE
from tests.test_settings_kept import CHANGED
from tests.visit import LARGE, answer, choose_law, control, pick, toggle, told, type_number, visiting
from tests.visit import go_to as choose_page

pytestmark = pytest.mark.browser

TITLES = {page.path: page.title for page in PAGES}
HOME = TITLES[""]

SEEN = (
    "the start",
    "a pasted matrix",
    "normal rows",
    "a curator's question",
)
"""Those that are seen in a browser; `tests.test_settings_kept` has them all."""


def go_to(page: Page, title: str) -> None:
    choose_page(page, title)
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    settle(page)


def parted(url: str) -> set[str]:
    """The settings in an address; their order is that of the controls."""
    return set(url.partition("?")[2].split("&")) - {""}


@pytest.mark.parametrize("case", SEEN)
def test_every_control_is_as_it_was_after_another_page(chromium: Browser, server: str, case: str) -> None:
    path = CHANGED[case].partition("?")[0]
    with visiting(chromium, f"{server}/{CHANGED[case]}") as page:
        assert parted(page.url) == parted(CHANGED[case])
        assert page.locator(".dpviz-problem").count() == 0
        before, address = told(page), page.url
        go_to(page, HOME if path else "Posterior")
        assert not parted(page.url) & parted(address)
        go_to(page, TITLES[path])
        expect(page).to_have_url(address)
        assert told(page) == before


def test_a_preset_is_one_state_and_back_leads_to_the_page_before(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices") as page:
        go_to(page, "Minimum priors")
        went = page.evaluate("history.length")
        go_to(page, "Transition matrices")
        page.get_by_role("radio", name="100 rows").or_(page.get_by_role("button", name="100 rows")).first.click()
        expect(page.locator(".dpviz-mark").first).to_contain_text("kept")
        settle(page)
        choose_law(page, "posterior_mean")
        choose_law(page, "beta_binomial")
        said, address = answer(page), page.url
        assert parted(address) == {
            "tm_synthesizer=beta_binomial",
            "tm_n=100",
            "tm_alpha=58.19767068693265",
            "tm_epsilon=1",
        }
        assert page.evaluate("history.length") == went + 1
        go_to(page, "Coverage")
        assert page.evaluate("history.length") == went + 2
        page.go_back()
        expect(page).to_have_url(address)
        settle(page)
        assert answer(page) == said
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Minimum priors")
        settle(page)
        assert parted(page.url) == set()
        page.go_forward()
        expect(page).to_have_url(address)
        settle(page)
        assert answer(page) == said


def test_choices_made_by_hand_outlast_another_page(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/minimum_priors?mp_n=50") as page:
        pick(page, "family", "Gaussian")
        toggle(page, "m_is_n")
        type_number(page, "m", "40")
        before, address = told(page), page.url
        assert {"mp_family=Gaussian", "mp_m_is_n=false", "mp_m=40"} <= parted(address)
        go_to(page, "Posterior")
        pick(page, "source", "typed in")
        control(page, "prior").get_by_text("choose α myself").click()
        settle(page)
        there, typed = told(page), page.url
        go_to(page, "Minimum priors")
        expect(page).to_have_url(address)
        assert told(page) == before
        go_to(page, "Posterior")
        expect(page).to_have_url(typed)
        assert told(page) == there


TABLES = """() => [...document.querySelectorAll('.dpviz-table')].map((table) =>
  [table.scrollWidth > table.clientWidth + 1, table.querySelector('caption em').offsetHeight > 5])"""
"""Whether each table is wider than its place, and whether it says that it may be."""


def test_what_a_box_refuses_is_said_and_the_answer_stays_and_a_table_fits_or_says_that_it_goes_on(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_n=9") as page:
        before = answer(page)
        for text, got in (("5.5", "got 5.5."), ("", "its box is empty"), ("1e300", "got 10³⁰⁰.")):
            type_number(page, "n", text)
            expect(page.locator(".dpviz-problem")).to_contain_text(got)
            expect(page.locator(".dpviz-note").first).to_contain_text("The page shows the answer for the last settings")
            assert answer(page) == before
        for n in (9, 11):
            page.set_viewport_size(LARGE)
            type_number(page, "n", str(n))
            expect(page.locator(".dpviz-problem")).to_have_count(0)
            for width in (1400, 1160 if n == 9 else 390):
                page.set_viewport_size({"width": width, "height": 1000})
                settle(page)
                for wider, says in page.evaluate(TABLES):
                    assert says or not wider, (width, n)
                    assert width < 1400 or not (wider or says), n


def test_the_drawer_of_a_telephone_closes_behind_the_page_that_was_chosen(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, viewport=TELEPHONE, has_touch=True, is_mobile=True) as page:
        drawer = page.get_by_test_id("stSidebarNavLink").filter(has_text="Coverage")
        page.get_by_test_id("stExpandSidebarButton").click()
        drawer.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Coverage")
        expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
        expect(drawer).not_to_be_in_viewport()
        settle(page)
