"""The page "Minimum priors" in real Chromium: its address, its controls, its files, and that everybody can use it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dpviz.exports import curves_csv, findings_csv, priors_script
from dpviz.priors import Setting, audit
from dpviz.priors.curves import prior_curves
from tests import visit
from tests.browser import running_app, settle
from tests.test_browser import taken
from tests.test_browser_look import LARGE, SCREENS, THEMES, colours, violations
from tests.test_priors_page import SECTIONS
from tests.visit import told, visiting

pytestmark = pytest.mark.browser
HERE = "/minimum_priors"
control = functools.partial(visit.control, prefix="mp_")
pick = functools.partial(visit.pick, prefix="mp_")
slider = functools.partial(visit.slider, prefix="mp_")
toggle = functools.partial(visit.toggle, prefix="mp_")
type_number = functools.partial(visit.type_number, prefix="mp_")


def answer(page: Page) -> str:
    return page.locator(".dpviz-answer").first.inner_text()


def check_inside_the_app(page: Page) -> None:
    """The page's heading, navigation at the top, wide layout."""
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Minimum priors"))
    for name in ("Transition matrices", "Minimum priors"):
        expect(page.get_by_role("link", name=name)).to_be_visible()
    assert page.locator(".stMainBlockContainer").evaluate("(part) => part.offsetWidth") > 0.95 * LARGE["width"]


def test_the_first_visitor_of_a_fresh_server_sees_the_page_inside_the_app(chromium: Browser) -> None:
    with running_app() as address, visiting(chromium, address + HERE) as page:
        check_inside_the_app(page)
        expect(page.locator(".dpviz-answer").first).to_contain_text("from 581.98 to 7.5807")


def test_the_page_is_reached_by_its_link_and_left_by_the_other(chromium: Browser, server: str) -> None:
    with visiting(chromium, server) as page:
        page.get_by_role("link", name="Minimum priors").click()
        expect(page).to_have_url(re.compile(f"{HERE}$"))
        expect(page.locator(".dpviz-answer").first).to_contain_text("from 581.98 to 7.5807")
        settle(page)
        check_inside_the_app(page)
        type_number(page, "n", "40")
        pick(page, "look", "Uneven priors")
        page.get_by_role("link", name="Transition matrices").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Transition matrices"))
        expect(page.locator(".dpviz-answer").first).to_contain_text("5.493061")
        settle(page)
        assert page.locator("td.dpviz-over").count() == 8
        page.get_by_role("link", name="Minimum priors").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Minimum priors"))
        settle(page)
        check_inside_the_app(page)
        expect(page.locator(".dpviz-audit")).to_be_visible()


def test_the_address_restores_everything(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40") as page:
        pick(page, "family", "k categories")
        pick(page, "family", "Bernoulli")
        type_number(page, "n", "23")
        toggle(page, "m_is_n")
        type_number(page, "m", "17")
        type_number(page, "epsilon", "1.5")
        type_number(page, "delta", "0.001")
        type_number(page, "proportion", "0.3")
        pick(page, "axis", "against ε")
        pick(page, "look", "The inverse")
        type_number(page, "alpha", "3.25")
        expect(page).to_have_url(re.compile("mp_alpha=3.25"))
        before, address = told(page), page.url
    assert len(before["figures"]) == 2
    with visiting(chromium, address) as page:
        assert told(page) == before
        assert page.url == address


def test_the_address_restores_another_family(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=50") as page:
        pick(page, "family", "Gaussian")
        type_number(page, "sigma0", "2.5")
        type_number(page, "sets", "3")
        pick(page, "look", "Several sets")
        expect(page).to_have_url(re.compile("mp_look=Several"))
        before, address = told(page), page.url
    assert "mp_family=Gaussian" in address
    with visiting(chromium, address) as page:
        assert told(page) == before


def test_what_is_wrong_in_the_address_is_named_and_left_out(chromium: Browser, server: str) -> None:
    with visiting(chromium, server + HERE) as page:
        fresh = told(page)
    with visiting(chromium, f"{server}{HERE}?mp_family=foo&mp_n=abc&mp_epsilon=inf&mp_cells=-1&mp_theta=1e400") as page:
        shown = page.locator(".dpviz-problem").all_inner_texts()
        for bad in ("mp_family = foo", "mp_n = abc", "mp_epsilon = inf", "mp_cells = -1", "mp_theta = 1e400"):
            assert sum(f"In the address, {bad} was left out: " in sentence for sentence in shown) == 1
        assert told(page) == fresh
        type_number(page, "n", "40")
        expect(page.locator(".dpviz-problem").filter(has_text="mp_n")).to_have_count(0)
        pick(page, "family", "Gaussian")
        expect(page.locator(".dpviz-problem")).to_have_count(0)


def test_the_arrow_keys_move_epsilon_the_answer_and_the_picture(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40") as page:
        before = answer(page)
        drawn = control(page, "curves").locator(".scatterlayer").inner_html()
        thumb, box = slider(page, "epsilon"), control(page, "epsilon").locator("input")
        expect(box).to_have_value("1")
        thumb.focus()
        page.keyboard.press("ArrowRight")
        expect(box).not_to_have_value("1")
        value = float(box.input_value())
        assert value > 1
        expect(page.locator(".dpviz-answer").first).to_contain_text(f"ε = {value:g}")
        settle(page)
        assert control(page, "curves").locator(".scatterlayer").inner_html() != drawn
        expect(thumb).to_be_focused()
        page.keyboard.press("ArrowLeft")
        expect(box).to_have_value("1")
        expect(page.locator(".dpviz-answer").first).to_have_text(before)


def test_a_preset_sets_the_controls(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_sets=3") as page:
        pick(page, "preset", "Gaussian, Theorem 7.8")
        expect(control(page, "n").locator("input")).to_have_value("100")
        expect(control(page, "sets").locator("input")).to_have_value("1")
        expect(control(page, "family").get_by_role("radio", name="Gaussian")).to_be_checked()
        expect(page.locator(".dpviz-audit")).to_contain_text("δ = 0.00177")
        named = "Corollary 7.3, Theorem 7.8, Theorem 7.12, Corollary 7.13, Corollary 7.14."
        expect(page.locator(".dpviz-question").filter(has_text="printed claims")).to_contain_text(named)
        pick(page, "preset", "100 rows, δ = 10⁻⁵")
        expect(control(page, "family").get_by_role("radio", name="Bernoulli")).to_be_checked()
        expect(page.locator(".dpviz-answer").first).to_contain_text("At n = m = 100 and ε = 1")


def test_a_refused_value_gives_its_sentence_and_keeps_the_rest(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_delta=0.001") as page:
        before = told(page)
        type_number(page, "epsilon", "0")
        expect(page.locator(".dpviz-problem")).to_contain_text("epsilon (promised privacy loss) must be a number from")
        expect(page.locator(".dpviz-problem")).to_have_attribute("role", "alert")
        expect(control(page, "delta").locator("input")).to_have_value("0.001")
        type_number(page, "epsilon", "1")
        expect(page.locator(".dpviz-problem")).to_have_count(0)
        settle(page)
        assert told(page) == before


def test_files_hold_the_numbers_of_the_page(chromium: Browser, server: str) -> None:
    setting = Setting(n=40, m=40, epsilon=1.0, delta=1e-6, sigma0=1.0)
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_look=Download&mp_axis=against+n") as page:
        asked = {"n": 40, "m": 40, "epsilon": 1.0, "delta": 1e-6}
        assert taken(page, "Audit, CSV").decode() == findings_csv(audit("bernoulli", **asked))
        curves = prior_curves("bernoulli", setting, "n", m_is_n=True)
        assert taken(page, "Curves, CSV").decode() == curves_csv(curves)
        assert taken(page, "Script").decode() == priors_script("bernoulli", setting, 1, 0.1)
        assert b"Plotly.newPlot" in taken(page, "Curves, HTML")


def test_the_picture_is_saved_as_png_and_svg(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40") as page:
        for format_name, magic in (("PNG", b"\x89PNG\r\n\x1a\n"), ("SVG", b"<svg ")):
            with page.expect_download() as download:
                control(page, "curves").locator(f"[data-title='Download as {format_name}']").click()
            assert download.value.suggested_filename == f"curves.{format_name.lower()}"
            assert Path(download.value.path()).read_bytes().startswith(magic)


BEYOND = """() => [...document.querySelectorAll('.stMain p, .stMain h1, .stMain h2, .stMain [role=figure]')]
  .filter((part) => part.offsetWidth > 0 && part.getBoundingClientRect().right > innerWidth + 1
    && !part.closest('.dpviz-scroll, .dpviz-table, .stCode, .katex'))
  .map((part) => part.textContent.slice(0, 60))"""


@THEMES
@SCREENS
@pytest.mark.parametrize("family", ["Bernoulli", "Gaussian"])
def test_every_section_is_accessible_and_fits_its_screen(
    chromium: Browser, server: str, screen: dict[str, int], theme: str, family: str
) -> None:
    found, wide, cut = {}, {}, {}
    address = f"{server}{HERE}?mp_n=12&mp_family={family}"
    with visiting(chromium, address, viewport=screen, color_scheme=theme) as page:
        for section in (None, *SECTIONS[family]):
            if section is not None:
                pick(page, "look", section)
            found[section] = violations(page)
            wide[section] = page.evaluate("document.documentElement.scrollWidth")
            cut[section] = page.evaluate(BEYOND)
    assert not {section: faults for section, faults in found.items() if faults}
    assert not {section: width for section, width in wide.items() if width > screen["width"]}
    assert not {section: parts for section, parts in cut.items() if parts}


def test_pictures_follow_the_theme(chromium: Browser, server: str) -> None:
    seen = {}
    for theme in ("light", "dark"):
        with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_look=The+inverse", color_scheme=theme) as page:
            seen[theme] = colours(page)
    assert len(seen["light"]) == len(seen["dark"]) == 3
    for theme in seen:
        assert len(set(seen[theme])) == 1
    assert not set(seen["light"]) & set(seen["dark"])


@pytest.mark.parametrize("section", ["The inverse", "Several sets", "Parameter or rows?", "Average case"])
def test_pictures_have_names_and_keep_their_labels_from_screen_readers(
    chromium: Browser, server: str, section: str
) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40") as page:
        pick(page, "look", section)
        pictures = page.get_by_role("figure")
        expect(pictures).to_have_count(2)
        for picture in pictures.all():
            assert len(picture.get_attribute("aria-label") or "") > 20
            assert picture.locator(".main-svg").count() == picture.locator(".main-svg[aria-hidden=true]").count() > 0
