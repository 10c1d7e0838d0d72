"""The page where the app begins: it answers at both ends, leads on with its release, and knows old addresses."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Route, ViewportSize, expect

import pages.coverage.sections
import pages.minimum_priors.sections
import pages.posterior.sections
import pages.transition_matrices.sections  # noqa: F401 (their settings)
from dpviz.comparisons.overview import Overview, overview_mechanism
from dpviz.comparisons.overview_words import drawing_texts
from dpviz.designs import Design
from dpviz.desk.addresses import address_words
from pages.components.navigation import PAGES
from pages.components.spec import PageSpec
from pages.home import SPEC
from pages.home.controls import BEST, CONTROLS, METHODS
from tests.browser import settle
from tests.look import TELEPHONE
from tests.pages import address, html, open_page, pieces, problems
from tests.visit import ENDLESS, go_to, slider, small, until, visiting


def opened(address: dict[str, str] | None = None, **state: object):
    page = open_page(address, path=SPEC.file, prefix=SPEC.prefix, **state)
    assert not page.exception, page.exception[0].value
    return page


def said(page) -> dict[str, str]:
    message = next(one for one in page.get("bidi_component") if one.proto.component_name.endswith("dpviz_living"))
    return json.loads(message.proto.bytes)["texts"]


@pytest.mark.parametrize("people", ["20", "100", "1000"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("method", METHODS)
def test_the_drawing_says_what_the_engine_computes(epsilon, people, method):
    page = opened(epsilon=epsilon, n=people, method=method)
    mechanism, best = ("geometric", True) if method == BEST else (method, False)
    design = Design(mechanism=mechanism, n=int(people), epsilon=epsilon, confidential_count=int(people) // 4)
    assert said(page) == drawing_texts(Overview(design, best)) and problems(page) == []
    assert sum("dpviz-asked" in one for one in html(page)) == 6


def test_the_method_is_in_the_address_and_the_release_of_another_page_brings_it():
    kept = address(opened(method=BEST, n="20"))
    assert kept == {"home_method": "best", "home_n": "20"}
    assert said(opened(kept))["title"] == "A noisy number is drawn and corrected"
    noisy = Design(mechanism="geometric", n=100, epsilon=2.0)
    assert overview_mechanism(noisy) == "geometric"
    assert overview_mechanism(dataclasses.replace(noisy, mechanism="beta_binomial")) == "beta_binomial"
    for other in (
        dataclasses.replace(noisy, details=(("epsilon", 1.0),)),
        dataclasses.replace(noisy, sets=2),
        dataclasses.replace(noisy, mechanism="laplace"),
    ):
        with pytest.raises(ValueError, match="it draws one table"):
            overview_mechanism(other)


def test_the_address_restores_the_release_and_another_table_is_another_seed():
    page = opened(epsilon=2.0, n="20", seed=5)
    kept = address(page)
    assert kept == {"home_epsilon": "2", "home_n": "20", "home_seed": "5"}
    again = opened(kept)
    assert said(again) == said(page)
    again.button(key="home_go").click().run()
    assert address(again)["home_seed"] == "6"


@pytest.mark.parametrize(("epsilon", "near"), [(-1.0, "1"), (50.0, "20")])
def test_what_is_refused_is_said_with_what_the_page_accepts_and_the_last_answer_stays(epsilon, near):
    page = opened(epsilon=2.0)
    before = said(page)
    page.number_input(key="home_epsilon").set_value(epsilon).run()
    assert "must be a number from 0.01 to 20" in " ".join(problems(page)) and said(page) == before
    assert f"Set ε = {near}" in [one.label for one in page.button]


def test_what_one_reader_has_seen_is_not_computed_for_the_next(monkeypatch):
    first = opened(epsilon=1.7)

    def refuse(*_args: object, **_rest: object) -> None:
        raise AssertionError("it was computed before")

    for name in ("minimum_prior", "least_error", "posterior_given"):
        monkeypatch.setattr(f"dpviz.comparisons.overview.{name}", refuse)
    second = opened(epsilon=1.7)
    assert said(second) == said(first) and html(second) == html(first)


def test_a_move_sends_few_pieces():
    """Each piece of a page is a message of its own, and costs the server as much as most of the page's numbers."""
    assert pieces(opened()) <= 30


def test_a_link_carries_the_release_to_every_page():
    design = Design(mechanism="beta_binomial", n=1000, epsilon=1.0, p=0.25, confidential_count=250, seed=4)
    at = {page.prefix: page for page in PAGES if not page.home}
    for page in at.values():
        importlib.import_module(f"pages.{page.folder}.controls")  # which keep the settings of the page
        words = address_words(page.prefix, design)
        assert words[f"{page.prefix}n"] == "1000" and words[f"{page.prefix}epsilon"] == "1"
        assert all(key.startswith(page.prefix) for key in words)
    assert address_words(at["po_"].prefix, design)["po_x"] == "250"
    assert float(address_words(at["tm_"].prefix, design)["tm_alpha"]) == design.alpha_of_one_set
    assert list(CONTROLS.numbers.declared) == ["epsilon"]  # one slider


@pytest.mark.browser
def test_one_slider_moves_the_drawing_and_the_links_lead_on(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/?home_n=1000") as page:
        answers = page.locator(".dpviz-asked + p")
        assert [box is not None and box["height"] > 20 for box in (one.bounding_box() for one in answers.all())] == [
            True
        ] * 6
        before = page.locator("[data-text=adds]").first.inner_text()
        slider(page, "epsilon").press("ArrowLeft")
        expect(page.locator("[data-text=adds]").first).not_to_have_text(before)
        settle(page)
        page.get_by_role("link", name="Coverage →").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Coverage")
        settle(page)
        words = dict(parse_qsl(urlsplit(page.url).query))
        assert words["cv_n"] == "1000" and float(words["cv_epsilon"]) < 1


@pytest.mark.browser
def test_an_old_address_of_the_matrices_leads_there_with_its_settings(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/?tm_n=7&tm_epsilon=1") as page:
        expect(page.get_by_role("heading", level=1)).to_contain_text("Transition matrices")
        settle(page)
        assert dict(parse_qsl(urlsplit(page.url).query)) == {"tm_n": "7", "tm_epsilon": "1"}


@pytest.mark.browser
def test_class_mode_enlarges_and_its_keys_move_the_last_slider_start_and_stop(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/?class=1") as page:
        for one in PAGES[::2]:
            page.goto(f"{server}/{small(one.path)}&class=1")
            settle(page)
            assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "21px"
            first = page.locator("[class*='_slider'] input[type=range]").first
            start = first.get_attribute("aria-valuetext")
            assert start
            page.keyboard.press("ArrowRight")  # none was touched on this page: its first
            expect(first).not_to_have_attribute("aria-valuetext", start)
        page.goto(f"{server}/coverage?class=1&{ENDLESS}")
        settle(page)
        thumb = slider(page, "sets")
        start = thumb.get_attribute("aria-valuetext")
        assert start == "200"
        thumb.focus()
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("ArrowLeft")
        expect(thumb).not_to_have_attribute("aria-valuetext", start)
        assert float(thumb.get_attribute("aria-valuetext") or start) < float(start)
        settle(page)
        page.keyboard.press(" ")
        ours = page.locator(".stMain")  # Streamlit has a Stop of its own above, where a run takes long
        expect(ours.get_by_role("button", name="Stop")).to_be_visible()
        page.keyboard.press(" ")
        expect(ours.get_by_role("button", name="Resume")).to_be_visible()
        settle(page)
        go_to(page, "Start")
        settle(page)
        assert "class=1" in page.url
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(" ")  # Draw again
        expect(page).to_have_url(re.compile("home_seed=2"))
        page.goto(f"{server}/{small('curator')}&class=1")
        settle(page)
        page.keyboard.press(" ")  # nothing starts there, and a goal is no start
        assert page.get_by_role("option").count() == 0


@pytest.mark.browser
def test_the_page_fits_a_telephone(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, TELEPHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


PROJECTORS = [(1024, 768), (1280, 720), (1920, 1080)]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("spec", "width", "height"),
    [(spec, *size) for spec, size in zip(PAGES, itertools.cycle(PROJECTORS))],
    ids=lambda one: one.folder if isinstance(one, PageSpec) else one,
)
def test_in_class_mode_the_first_picture_fills_the_rest_of_the_screen(
    spec: PageSpec, width: int, height: int, chromium: Browser, server: str
) -> None:
    screen: ViewportSize = {"width": width, "height": height}
    with visiting(chromium, f"{server}/{spec.path}?class=1", screen) as page:
        picture = page.locator(".dpviz-story" if spec.home else "[role=figure]").first
        box = picture.bounding_box()
        assert box is not None
        assert height - 40 <= box["y"] + box["height"] <= height
        assert box["height"] >= 0.3 * height


@pytest.mark.browser
def test_that_picture_has_all_its_room_while_a_script_is_late_and_makes_room_for_a_line_more_above_it(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}/coverage?class=1", {"width": 1280, "height": 720}) as page:
        height = "document.querySelector('[data-hero]').offsetHeight"
        full = page.evaluate(height)
        late: list[Route] = []
        page.route("**/*.keys.js", lambda route: late.append(route))
        page.reload()
        settle(page)
        assert page.evaluate(height) == full
        (script,) = late
        script.continue_()
        settle(page)
        assert page.evaluate(height) == full
        page.evaluate("document.querySelector('.dpviz-answer').style.marginTop = '60px'")
        until(page, lambda: page.evaluate(height) == full - 60)


@pytest.mark.browser
def test_the_interval_of_the_analyst_and_the_truth_are_drawn(chromium: Browser, server: str) -> None:
    with visiting(chromium, server) as page:
        for name in ("range", "truth"):
            box = page.locator(f".dpviz-line .{name}").bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 2
