"""The app in real Chromium: every page for everybody, on any screen, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.budget.sections import SECTIONS as BUDGET
from pages.compare_synthesizers.sections import SECTIONS as COMPARISON
from pages.components.navigation import PAGES
from pages.coverage.sections import SECTIONS as COVERAGE
from pages.curator.sections import SECTIONS as DESK
from pages.plan.sections import SECTIONS as PLAN
from pages.posterior.sections import SECTIONS as POSTERIOR
from pages.transition_matrices.sections import SECTIONS as MATRICES
from tests.browser import settle
from tests.look import (
    IN_LIFE,
    LYING,
    OF_COLORS,
    OPPOSITE,
    TELEPHONE,
    check_labels_have_room,
    check_looks,
    check_themes_differ,
    colours,
    faults,
    put_on,
)
from tests.page_cases import SECTIONS_OF
from tests.test_coverage_browser import run_to_the_end
from tests.visit import LARGE, slider, small, type_number, visiting

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Shown:
    """An address of a page, its sections, how many pictures it has, and with a section; what is done before one looks.

    Pictures are those of the page alone, and of the sections that bring some of their own.
    """

    address: str
    sections: Sequence[str]
    pictures: int
    more: Mapping[str, int]
    prepare: Callable[[Page], None] = lambda _page: None


IN_PRIORS = {"The inverse": 2, "Several sets": 2, "Parameter or rows?": 2, "Average case": 2}
IN_COVERAGE = {"Why it fails": 3, "Where the estimate falls": 3, "Length, and its limit": 3, "As published": 4}
SHOWN = {
    "home": Shown("", [], 0, {}),
    "transition_matrices": Shown(
        "transition_matrices",
        list(MATRICES),
        2,
        {"Draw a release": 4, "The attacker": 3, "The attacker in four languages": 3, "Plug-in or posterior draw?": 3},
    ),
    "minimum_priors": Shown(small("minimum_priors"), SECTIONS_OF["Bernoulli"], 1, IN_PRIORS),
    "minimum_priors, Gaussian": Shown(
        small("minimum_priors") + "&mp_family=Gaussian",
        ["As published", "The inverse", "Several sets"],  # the others are made as above
        1,
        {"The inverse": 2},
    ),
    "coverage": Shown(small("coverage"), list(COVERAGE), 2, IN_COVERAGE, run_to_the_end),
    "posterior": Shown(
        small("posterior"),
        list(POSTERIOR),
        1,
        {"What was x?": 2, "Its own coverage": 2, "If n is secret": 3},
    ),
    "compare_synthesizers": Shown(small("compare_synthesizers"), list(COMPARISON), 1, {"One release": 2}),
    "budget": Shown(small("budget"), list(BUDGET), 1, {}),
    "curator": Shown(
        small("curator") + "&cu_pins=laplace~1~as_if_real",
        list(DESK),
        1,
        {"The frontier": 2, "How the choice changes": 2},
    ),
    "plan": Shown("plan?pl_n=1000", list(PLAN), 1, {"What if": 3, "Exact and basic": 2}),
}


def test_every_page_is_looked_at() -> None:
    assert {name.partition(",")[0] for name in SHOWN} == {page.folder for page in PAGES} | {"plan"}


@pytest.mark.parametrize("name", SHOWN)
def test_every_section_is_accessible_fits_its_screen_and_follows_the_theme(
    chromium: Browser, server: str, name: str
) -> None:
    shown = SHOWN[name]
    with visiting(chromium, f"{server}/{shown.address}", *OPPOSITE[0]) as page:
        shown.prepare(page)
        pictures = {section: shown.more.get(section, shown.pictures) for section in shown.sections}
        check_looks(page, pictures, shown.more, in_life=list(SHOWN).index(name) % len(IN_LIFE))
        check_labels_have_room(page)
        assert page.locator(".st-key-controls label").count() > 5 or name == "home"


VIEWS = [
    "transition_matrices?tm_n=40&tm_synthesizer=beta_binomial",
    "transition_matrices?tm_n=40&tm_synthesizer=beta_binomial&tm_picture=log-odds&tm_sign=signed",
    "transition_matrices?tm_synthesizer=given_matrix",
    "transition_matrices?tm_synthesizer=posterior_mode&tm_m_is_n=false&tm_beta_is_alpha=false&tm_n=foo",
]


def test_every_view_of_a_matrix_is_accessible_and_follows_the_theme(chromium: Browser, server: str) -> None:
    for view in VIEWS:
        with visiting(chromium, f"{server}/{view}", *OPPOSITE[0]) as page:
            seen = []
            for rules, (screen, theme) in zip(((), OF_COLORS), OPPOSITE, strict=True):
                put_on(page, screen, theme)
                assert faults(page, rules=rules) == [], (view, theme)
                seen.append(colours(page))
            check_themes_differ(*seen)


def test_on_a_narrow_screen_the_answer_comes_first_and_stays_in_sight_while_a_control_moves(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, server, TELEPHONE, has_touch=True, is_mobile=True) as page:
        button, said = page.get_by_role("button", name="Controls", exact=True), page.locator(".dpviz-now")
        for one in PAGES:
            page.goto(f"{server}/{small(one.path)}")
            settle(page)
            thumb = slider(page, "epsilon")
            expect(page.locator(".dpviz-answer, .dpviz-story").first).to_be_in_viewport()
            expect(button).to_have_attribute("aria-expanded", str(one.home).lower())
            if not one.home:  # where there is one slider to move, it is in sight
                expect(thumb).not_to_be_visible()
                button.click()
                expect(button).to_have_attribute("aria-expanded", "true")
                settle(page)
            before = said.inner_text()
            thumb.press("ArrowRight")
            expect(said).not_to_have_text(before)
            settle(page)
            expect(said).to_be_in_viewport(ratio=1)
            expect(button).to_have_attribute("aria-expanded", "true")  # no run closes it
            line, panel = said.bounding_box(), page.get_by_role("region", name="Controls", exact=True).bounding_box()
            assert line is not None and panel is not None
            assert line["y"] + line["height"] <= panel["y"] + 2
            assert panel["y"] >= 0.44 * TELEPHONE["height"]
            assert faults(page, ".st-key-controls") == [], one.path  # of the rest the test above says the same
            page.keyboard.press("Escape")
            expect(thumb).not_to_be_visible()
            expect(button).to_be_focused()
        page.set_viewport_size(LARGE)
        expect(thumb).to_be_visible()
        expect(button).not_to_be_visible()


PROBLEMS = ["po_source=typed&po_n=foo&po_counts=" + "9" * 300, "po_look=k+categories&po_tables=" + "1+" * 400]


def test_what_is_wrong_fits_a_telephone(chromium: Browser, server: str) -> None:
    for view in PROBLEMS:
        with visiting(chromium, f"{server}/posterior?{view}", TELEPHONE) as page:
            expect(page.locator(".dpviz-problem").first).to_be_visible()
            expect(page.locator(".dpviz-problem").first).to_have_attribute("role", "alert")
            assert faults(page) == []


FIRST_PICTURE = "document.querySelector('[role=figure], .dpviz-living').getBoundingClientRect().top"


def test_the_first_picture_stays_where_it_is_as_a_release_begins_to_be_carried(chromium: Browser, server: str) -> None:
    for one in PAGES:
        with visiting(chromium, f"{server}/{small(one.path)}", LARGE) as page:
            there = page.evaluate(FIRST_PICTURE)
            slider(page, "epsilon").press("ArrowRight")
            settle(page)
            expect(page.locator(".dpviz-release")).to_be_visible()
            assert page.evaluate(FIRST_PICTURE) == there < 400, one.path


def test_no_picture_moves_for_what_is_refused_and_the_sentence_is_in_sight(chromium: Browser, server: str) -> None:
    for path, prefix, screen in (
        ("transition_matrices?tm_n=9", "tm", LARGE),
        (small("posterior"), "po", TELEPHONE),
        (small("budget"), "bu", LARGE),
    ):
        with visiting(chromium, f"{server}/{path}", screen) as page:
            there, said = page.evaluate(FIRST_PICTURE), page.locator(".dpviz-problem")
            page.goto(f"{server}/{path}&{prefix}_seed=abc&{prefix}_epsilon=abc")
            expect(said.first).to_be_in_viewport(ratio=1)
            settle(page)
            assert page.evaluate(FIRST_PICTURE) == there, path
            page.locator(".dpviz-refusals summary").click()
            expect(said.first).not_to_be_visible()
            if screen == LARGE:
                type_number(page, "epsilon", "-1")  # opens it again
                expect(said.filter(has_text="got −1.")).to_be_in_viewport(ratio=1)
                assert page.evaluate(FIRST_PICTURE) == there, path
                page.locator("[class*=st-key-mend_]").get_by_role("button").click()
                expect(said).to_have_count(0)
                settle(page)
                assert page.evaluate(FIRST_PICTURE) == there, path


def test_on_a_telephone_the_picture_stays_while_a_control_moves_and_as_the_controls_close(
    chromium: Browser, server: str
) -> None:
    """While new designs are judged the table below the picture is gone; on its side there is another width above it."""
    for screen in (TELEPHONE, LYING):
        with visiting(chromium, f"{server}/{small('curator')}", screen, has_touch=True, is_mobile=True) as page:
            button = page.get_by_role("button", name="Controls", exact=True)
            button.tap()
            settle(page)
            there = page.evaluate(FIRST_PICTURE)
            assert 50 < there < 70
            slider(page, "n").press("ArrowRight")
            settle(page)
            assert page.evaluate(FIRST_PICTURE) == pytest.approx(there, abs=2)
            button.tap()
            settle(page)
            assert page.evaluate(FIRST_PICTURE) == pytest.approx(there, abs=2)
