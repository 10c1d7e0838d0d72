"""The page "Posterior" in real Chromium: its address, its controls, its files, and that everybody can use it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from dpviz.designs import Design
from dpviz.desk.exports.script import posterior_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference.posterior import posterior_if_known, posterior_if_real, posterior_mixture
from tests.browser import settle
from tests.visit import (
    check_arrow_keys_move_epsilon,
    check_inside_the_app,
    check_restored,
    check_saved,
    control,
    go_to,
    pick,
    restored,
    taken,
    toggle,
    told,
    type_number,
    visiting,
)

pytestmark = pytest.mark.browser
HERE = "/posterior"


def choose_prior(page: Page, label: str) -> None:
    """Choose how the prior follows from the promise."""
    control(page, "prior").get_by_text(label, exact=True).click()
    expect(control(page, "prior").get_by_role("radio", name=label, exact=True)).to_be_checked()
    settle(page)


def test_the_page_is_reached_by_its_link_and_left_by_the_other(chromium: Browser, server: str) -> None:
    with visiting(chromium, server) as page:
        go_to(page, "Posterior")
        expect(page).to_have_url(re.compile(rf"{HERE}(\?|$)"))
        expect(page.locator(".dpviz-answer").first).to_contain_text("at ε = 1 (α = 58.2 in each set)")
        settle(page)
        check_inside_the_app(page, "Posterior")
        type_number(page, "n", "40")
        pick(page, "look", "What was x?")
        go_to(page, "Transition matrices")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Transition matrices"))
        settle(page)
        go_to(page, "Posterior")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Posterior"))
        settle(page)
        check_inside_the_app(page, "Posterior")


def test_typing_counts_changes_the_answer_and_the_picture(chromium: Browser, server: str) -> None:
    with visiting(chromium, server + HERE) as page:
        pick(page, "source", "typed in")
        expect(page.locator(".dpviz-answer").first).to_contain_text("From 31 yes in a released table of 100 rows")
        drawn = control(page, "picture").locator(".scatterlayer").inner_html()
        type_number(page, "counts", "31, 45")
        expect(page.locator(".dpviz-answer").first).to_contain_text("From 31, 45 yes in 2 released tables of 100 rows")
        law = posterior_mixture(
            synthetic_counts=[31, 45], n=100, m=100, alpha=100 / np.expm1(1), beta=100 / np.expm1(1)
        )
        expect(page.locator(".dpviz-mark").first).to_have_text(
            f"{100 * law.mean:.3g} ± {100 * law.variance**0.5:.2g} %"
        )
        assert control(page, "picture").locator(".scatterlayer").inner_html() != drawn
        before = told(page)
        type_number(page, "counts", "101")
        expect(page.locator(".dpviz-problem")).to_contain_text("from 0 to m = 100, separated by commas; got 101.")
        expect(page.locator(".dpviz-problem")).to_have_attribute("role", "alert")
        expect(page.locator(".dpviz-answer").first).to_contain_text("From 31, 45 yes in 2 released tables of 100 rows")
        type_number(page, "counts", "")
        expect(page.locator(".dpviz-problem")).to_contain_text("the list is empty.")
        type_number(page, "counts", "31, 45")
        expect(page.locator(".dpviz-problem")).to_have_count(0)
        settle(page)
        assert told(page) == before


def test_the_address_restores_everything(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?po_n=40&po_x=10&po_m=30&po_m_is_n=false&po_gamma2=3") as page:
        pick(page, "source", "typed in")
        type_number(page, "counts", "9, 14")
        choose_prior(page, "choose α myself")
        type_number(page, "alpha", "2.5")
        type_number(page, "gamma1", "0.5")
        type_number(page, "level", "0.8")
        pick(page, "look", "If n is secret")
        toggle(page, "around")
        type_number(page, "high", "70")
        expect(page).to_have_url(re.compile("po_high=70"))
        shown = told(page)
        assert len(shown["figures"]) == 3
        assert "From 9, 14 yes in 2 released tables of 30 rows at α = 2.5" in shown["said"][0]
        assert "80 % probability" in shown["said"][0]
        check_restored(page)


def test_the_arrow_keys_move_epsilon_the_answer_and_the_picture_and_the_address_restores_a_drawn_release(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}{HERE}?po_x=10&po_n=40&po_sets=4&po_delta=0.001") as page:
        expect(control(page, "epsilon").locator("input")).to_have_value("2")
        check_arrow_keys_move_epsilon(page, "picture")
        type_number(page, "seed", "77")
        choose_prior(page, "smallest prior for all sets together, with δ")
        pick(page, "look", "k categories")
        tables = control(page, "tables").locator("textarea")
        tables.fill("4, 3, 2\n5, 2, 2")
        tables.press("Control+Enter")
        expect(page.locator(".dpviz-answer").nth(1)).to_contain_text("2 released tables of 9 rows")
        settle(page)
        assert "δ = 0.001" in told(page)["said"][0]
        check_restored(page)


def test_the_address_restores_what_is_chosen_inside_the_sections(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?po_n=20&po_x=6&po_look=If+n+is+secret") as page:
        pick(page, "size_prior", "around a guess")
        expect(page).to_have_url(re.compile("po_size_prior="))
        address = page.url
        pick(page, "look", "Its own coverage")
        pick(page, "kind", "highest density")
        with restored(page) as other:
            other.goto(address)
            settle(other)
            expect(control(other, "size_prior").get_by_role("radio", name="around a guess")).to_be_checked()


def test_files_hold_the_numbers_of_the_page(chromium: Browser, server: str) -> None:
    design = Design(mechanism="beta_binomial", n=40, sets=2, prior="own", alpha=2.5, gamma1=0.5, confidential_count=10)
    law = posterior_mixture(synthetic_counts=[9, 14], n=40, m=40, alpha=2.5, beta=2.5, gamma1=0.5)
    p = np.linspace(0.0, 1.0, 1001)
    columns = {
        "exact": law.pdf(p),
        "known": posterior_if_known(confidential_count=10, n=40, gamma1=0.5).pdf(p),
        "naive": posterior_if_real([9, 14], m=40, gamma1=0.5).pdf(p),
    }
    query = "po_source=typed&po_knows=true&po_counts=9,14&po_n=40&po_x=10&po_prior=own&po_alpha=2.5&po_gamma1=0.5"
    query += "&po_look=Download"
    with visiting(chromium, f"{server}{HERE}?{query}") as page:
        assert taken(page, "Densities, CSV").decode() == columns_csv("p", p, columns)
        weights = {"probability": law.weights}
        assert taken(page, "Distribution of x, CSV").decode() == columns_csv("x", np.arange(41.0), weights)
        assert taken(page, "Script").decode() == posterior_script(design, [9, 14])
        check_saved(page, "picture")
