"""The page "Minimum priors" in real Chromium: its address, its controls, its files, and that everybody can use it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from dpviz.claims.audit import audit
from dpviz.claims.curves import prior_curves
from dpviz.desk.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.priors import Setting
from tests.browser import settle
from tests.visit import (
    check_arrow_keys_move_epsilon,
    check_inside_the_app,
    check_restored,
    check_saved,
    control,
    go_to,
    pick,
    taken,
    toggle,
    told,
    type_number,
    visiting,
)

pytestmark = pytest.mark.browser
HERE = "/minimum_priors"
TITLE = "Minimum priors"


def test_the_page_is_reached_by_its_link_and_left_by_the_other(chromium: Browser, server: str) -> None:
    with visiting(chromium, server) as page:
        go_to(page, "Minimum priors")
        expect(page).to_have_url(re.compile(rf"{HERE}\?.*mp_n=100"))  # Start's release goes along
        expect(page.locator(".dpviz-answer").first).to_contain_text("invented rows for 100 real rows")
        settle(page)
        check_inside_the_app(page, TITLE)
        type_number(page, "n", "40")
        pick(page, "look", "Uneven priors")
        go_to(page, "Transition matrices")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Transition matrices"))
        expect(page.locator(".dpviz-answer").first).to_contain_text("The promise ε = 1 is")
        settle(page)
        assert "tm_n=40" in page.url  # the release came along
        go_to(page, "Minimum priors")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Minimum priors"))
        settle(page)
        check_inside_the_app(page, TITLE)
        pick(page, "look", "As published")
        expect(page.locator(".dpviz-audit")).to_be_visible()


def test_the_address_restores_everything(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=23&mp_epsilon=1.5&mp_delta=0.001&mp_p=0.3") as page:
        toggle(page, "m_is_n")
        type_number(page, "m", "17")
        pick(page, "axis", "against ε")
        pick(page, "look", "The inverse")
        type_number(page, "alpha", "3.25")
        expect(page).to_have_url(re.compile("mp_alpha=3.25"))
        assert len(told(page)["figures"]) == 2
        check_restored(page)


def test_the_address_restores_another_family(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=12") as page:
        pick(page, "family", "Gaussian")
        type_number(page, "sigma0", "2.5")
        type_number(page, "sets", "3")
        pick(page, "look", "Several sets")
        expect(page).to_have_url(re.compile("mp_look=Several"))
        assert "mp_family=Gaussian" in page.url
        check_restored(page)


def test_the_arrow_keys_move_epsilon_the_answer_and_the_picture_and_a_refused_value_keeps_the_rest(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_delta=0.001") as page:
        expect(control(page, "epsilon").locator("input")).to_have_value("1")
        check_arrow_keys_move_epsilon(page, "curves")
        check_saved(page, "curves")
        settle(page)
        before = told(page)
        type_number(page, "epsilon", "0")
        expect(page.locator(".dpviz-problem")).to_contain_text("epsilon (promised privacy loss) must be a number from")
        expect(page.locator(".dpviz-problem")).to_have_attribute("role", "alert")
        expect(control(page, "delta").locator("input")).to_have_value("0.001")
        type_number(page, "epsilon", "1")
        expect(page.locator(".dpviz-problem")).to_have_count(0)
        settle(page)
        assert told(page) == before


def test_a_preset_sets_the_controls(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_sets=3&mp_look=As+published") as page:
        pick(page, "preset", "Gaussian, Theorem 7.8")
        expect(control(page, "n").locator("input")).to_have_value("100")
        expect(control(page, "sets").locator("input")).to_have_value("1")
        expect(control(page, "family").get_by_role("radio", name="Gaussian")).to_be_checked()
        expect(page.locator(".dpviz-audit")).to_contain_text("δ = 0.00177")
        named = "Corollary 7.3, Theorem 7.8, Theorem 7.12, Corollary 7.13, Corollary 7.14, "
        named += "Remark after Theorem 7.15:"
        expect(page.locator(".dpviz-question").filter(has_text="printed claims")).to_contain_text(named)
        pick(page, "preset", "100 rows, δ = 10⁻⁵")
        expect(control(page, "family").get_by_role("radio", name="Bernoulli")).to_be_checked()
        expect(page.locator(".dpviz-answer").first).to_contain_text("To keep ε = 1 with n = m = 100")


def test_files_hold_the_numbers_of_the_page(chromium: Browser, server: str) -> None:
    setting = Setting(n=40, m=40, epsilon=1.0, delta=1e-6, sigma0=1.0)
    with visiting(chromium, f"{server}{HERE}?mp_n=40&mp_look=Download&mp_axis=against+n") as page:
        asked = {"n": 40, "m": 40, "epsilon": 1.0, "delta": 1e-6}
        assert taken(page, "Audit, CSV").decode() == findings_csv(audit("bernoulli", **asked))
        curves = prior_curves("bernoulli", setting, "n", m_is_n=True)
        found, ours = (
            text.replace("\n", ",").split(",") for text in (taken(page, "Curves, CSV").decode(), curves_csv(curves))
        )
        assert len(found) == len(ours)
        for one, other in zip(found, ours, strict=True):  # a root found before, among others, may end a digit away
            assert one == other or float(one) == pytest.approx(float(other), rel=1e-12)
        assert taken(page, "Script").decode() == priors_script("bernoulli", setting, 1, 0.1)
        assert b"Plotly.newPlot" in taken(page, "Curves, HTML")
