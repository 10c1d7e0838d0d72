"""The app in real Chromium: what its address keeps, what its controls do, what it gives to take along."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.desk.exports.script import page_script
from dpviz.desk.exports.tables import log_odds_csv, matrix_csv
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from tests.browser import settle
from tests.visit import (
    answer,
    check_calm,
    check_restored,
    check_saved,
    choose_law,
    control,
    go_to,
    pick,
    slider,
    taken,
    told,
    type_number,
    visiting,
)

pytestmark = pytest.mark.browser
FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
UNLINKED = "tm_m_is_n=false&tm_beta_is_alpha=false&tm_noise_is_promise=false"


def test_a_fresh_page_shows_figures_1_and_2_and_the_arrow_keys_move_a_slider_and_its_box(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}/transition_matrices") as page:
        assert page.title() == "dpviz" or "Transition matrices" in page.title()
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        cells = page.locator(".dpviz-table td:not([colspan])").all_inner_texts()
        printed = [f"{value:.6f}" for number in (1, 2) for value in PRINTED_FIGURES[number].values.ravel()]
        assert [cell.strip() for cell in cells] == printed
        assert page.locator("td.dpviz-over").count() == 8
        assert "5.49" in answer(page) and "5.493061" in page.locator(".dpviz-numbers").first.inner_text()
        before = answer(page)
        thumb, box = slider(page, "alpha"), control(page, "alpha").locator("input")
        expect(box).to_have_value("0.5")
        thumb.focus()
        page.keyboard.press("ArrowRight")
        expect(box).to_have_value("0.63")
        expect(thumb).to_have_attribute("aria-valuetext", "0.63")
        expect(thumb).to_be_focused()
        expect(page.locator(".dpviz-answer").first).not_to_have_text(before)
        page.keyboard.press("ArrowLeft")
        expect(box).to_have_value("0.5")
        expect(page.locator(".dpviz-answer").first).to_have_text(before)


def test_the_address_restores_everything(chromium: Browser, server: str) -> None:
    with visiting(
        chromium, f"{server}/transition_matrices?tm_n=23&tm_m_is_n=false&tm_m=17&tm_epsilon=1.5&tm_delta=0.001"
    ) as page:
        choose_law(page, "beta_binomial")
        type_number(page, "alpha", "3.25")
        pick(page, "look", "The attacker")
        pick(page, "picture", "log-odds")
        pick(page, "sign", "signed")
        expect(page).to_have_url(re.compile("tm_sign=signed"))
        assert len(told(page)["figures"]) == 4
        check_restored(page)


def test_a_typed_matrix_is_judged_by_its_digits_until_the_offer_is_taken(chromium: Browser, server: str) -> None:
    typed = "tm_synthesizer=given_matrix&tm_epsilon=1.8&tm_delta=0&tm_paste=0.7%2C0.3%0A0.1%2C0.9"
    with visiting(chromium, f"{server}/transition_matrices?{typed}") as page:
        expect(page.locator(".dpviz-mark").first).to_have_text("✗ broken")
        expect(page.locator(".dpviz-numbers").first).to_contain_text("1.94591")
        expect(page.get_by_text("Use its exact values?")).to_have_count(0)
        field = page.get_by_role("textbox", name="or paste the matrix")
        field.fill("a,b,c\n0.5,0.5,0\n0.25,0.5,0.25")
        field.press("Control+Enter")
        expect(page.locator(".dpviz-answer").first).to_contain_text("ε = ∞")
        field.fill(PRINTED_FIGURES[1].text)
        field.press("Control+Enter")
        expect(page.locator(".dpviz-numbers").first).to_contain_text("5.498192")
        settle(page)
        page.get_by_text("Use its exact values?").click()
        expect(page.locator(".dpviz-numbers").first).to_contain_text("5.493061")
        settle(page)
        check_restored(page)
        field.fill(PRINTED_FIGURES[3].text)
        field.press("Control+Enter")
        expect(page.get_by_text("equal the Laplace sanitizer")).to_be_visible()
        settle(page)
        assert "tm_recognized" not in page.url
        assert (
            not page.get_by_role("switch", name="Use its exact values?")
            .or_(page.get_by_role("checkbox", name="Use its exact values?"))
            .is_checked()
        )


def test_settings_survive_another_law_and_back_even_one_that_refuses_them(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_synthesizer=beta_binomial") as page:
        type_number(page, "alpha", "7")
        type_number(page, "n", "9")
        before = answer(page)
        choose_law(page, "laplace")
        expect(control(page, "alpha")).to_have_count(0)
        choose_law(page, "beta_binomial")
        expect(control(page, "alpha").locator("input")).to_have_value("7")
        assert answer(page) == before
        type_number(page, "alpha", "0.75")
        shown = told(page)
        choose_law(page, "posterior_mode")
        expect(page.locator(".dpviz-problem")).to_contain_text("must be a number above 1, at most 10¹²; got 0.75")
        choose_law(page, "beta_binomial")
        assert told(page) == shown


BAD_FILES = {
    "workbook.csv": (b"PK\x03\x04\x14\x00", "This is a spreadsheet or an archive"),
    "odd.csv": (b"\x81\x8d,b\n1,0\n0,1", "This is not a text file in UTF-8"),
    "counts.txt": (b"3;1\n1;3\n", "These look like counts"),
    "open.csv": (b'"0.5,0.5\n0.5,0.5\n', "a quotation mark that does not close"),
}


def test_an_uploaded_figure_1_gives_figure_2_once_the_offer_is_taken_and_what_is_no_matrix_its_sentence(
    chromium: Browser, server: str, tmp_path: Path
) -> None:
    path = tmp_path / "figure_1.csv"
    path.write_text(PRINTED_FIGURES[1].text, encoding="utf-8")
    with visiting(chromium, f"{server}/transition_matrices?tm_synthesizer=given_matrix&tm_paste=1%2C0%0A0%2C1") as page:
        expect(page.locator(".dpviz-answer").first).to_contain_text("ε = ∞")
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator(".dpviz-numbers").first).to_contain_text("5.498192")
        settle(page)
        page.get_by_text("These printed digits equal the Posterior-mean plug-in").click()
        expect(page.locator(".dpviz-numbers").first).to_contain_text("5.493061")
        settle(page)
        cells = page.locator(".dpviz-table").nth(1).locator("tbody td").all_inner_texts()
        assert [cell.strip() for cell in cells] == [f"{value:.6f}" for value in PRINTED_FIGURES[2].values.ravel()]
        for name, (content, sentence) in BAD_FILES.items():
            file: FilePayload = {"name": name, "mimeType": "text/csv", "buffer": content}
            page.locator("input[type=file]").set_input_files(file)
            expect(page.locator(".dpviz-problem")).to_contain_text(sentence)
            expect(page.locator(".dpviz-problem")).to_have_attribute("role", "alert")
            expect(page.get_by_text(f"The file {name} is shown in place of the text.")).to_be_visible()


def test_an_uploaded_file_outlives_another_page_and_another_synthesizer(
    chromium: Browser, server: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("0.6,0.4\n0.3,0.7\n", encoding="utf-8")
    with visiting(chromium, f"{server}/transition_matrices?tm_synthesizer=given_matrix&tm_epsilon=0.5") as page:
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator(".dpviz-numbers").first).to_contain_text("0.6931472")  # ln 2
        settle(page)
        before = told(page)
        go_to(page, "Coverage")
        expect(page.get_by_role("heading", name="Coverage", level=1)).to_be_visible()
        settle(page)
        go_to(page, "Transition matrices")
        expect(page.locator(".dpviz-numbers").first).to_contain_text("0.6931472")
        settle(page)
        assert told(page) == before
        choose_law(page, "beta_binomial")
        choose_law(page, "given_matrix")
        assert told(page) == before
        expect(page.get_by_text("The file mine.csv is shown")).to_be_visible()
        assert "tm_paste=&" in f"{page.url}&"
        page.get_by_role("button", name="Use the text instead").click()
        expect(page.locator(".dpviz-numbers").first).to_contain_text("5.498192")
        settle(page)
        assert "tm_paste" not in page.url
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator(".dpviz-numbers").first).to_contain_text("0.6931472")


def test_every_slider_goes_to_both_ends_by_its_keys(chromium: Browser, server: str) -> None:
    moved: set[str] = set()
    with visiting(
        chromium, f"{server}/transition_matrices?tm_synthesizer=beta_binomial&tm_alpha=2&tm_beta=3&{UNLINKED}"
    ) as page:
        for law in ("beta_binomial", "geometric", "multinomial_mode"):
            choose_law(page, law)
            keys = page.locator(".st-key-controls [class*='_slider']").evaluate_all(
                "(parts) => parts.map((part) => /st-key-tm_(\\w+)_slider/.exec(part.className)?.[1]).filter(Boolean)"
            )
            assert {"n", "epsilon", "delta"} <= set(keys)
            for place, key in enumerate(sorted(set(keys) - moved)):
                start = control(page, key).locator("input").input_value()
                for key_name, end in (("Home", "min"), ("End", "max"))[:: -1 if place % 2 else 1]:
                    thumb = slider(page, key)
                    thumb.focus()
                    page.keyboard.press(key_name)
                    expect(thumb).to_have_js_property("value", thumb.get_attribute(end))
                settle(page)  # at either end in turn: `tests.test_page_contract` has the answers at both
                check_calm(page)
                assert answer(page)
                type_number(page, key, start)
            moved |= set(keys)
    assert {"alpha", "beta", "m", "noise_epsilon", "cells"} <= moved


def test_files_hold_the_numbers_of_the_page(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_look=Download") as page:
        assert taken(page, "Matrix, CSV").decode() == matrix_csv(FIG_1)
        assert taken(page, "Log-odds, CSV").decode() == log_odds_csv(FIG_1)
        assert "0.647228" in taken(page, "Matrix, LaTeX").decode()
        assert "5.493061" in taken(page, "Log-odds, LaTeX").decode()
        assert taken(page, "Script").decode() == page_script(FIG_1, 2.0, 1e-5)
        for label in ("Matrix, HTML", "Log-odds, HTML", "Profile, HTML"):
            assert b"Plotly.newPlot" in taken(page, label)
        choose_law(page, "beta_binomial")
        type_number(page, "n", "8")
        type_number(page, "alpha", "1.25")
        expect(page.locator(".dpviz-table tbody tr").first).to_be_visible()
        assert taken(page, "Matrix, CSV").decode() == matrix_csv(BetaBinomial(n=8, m=8, alpha=1.25, beta=1.25))


def test_pictures_are_saved_as_png_and_svg(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_n=30") as page:
        for name in ("heatmap", "profile"):
            check_saved(page, name)


COMES_AND_GOES = """() => {
  const all = [...document.querySelectorAll('.stMain [data-testid=stElementContainer]')];
  for (const one of all) {
    const another = one.cloneNode(true);
    one.after(another);
    document.body.offsetHeight;
    another.remove();
    document.body.offsetHeight;
  }
  return 2 * all.length * document.querySelectorAll('*').length;
}"""
"""Has one more come beside each element, and go; returns how many are styled if that is the whole page each time."""


@pytest.mark.parametrize("path", ["/compare_synthesizers", "/coverage?class=1"])
def test_a_new_element_does_not_make_the_browser_style_the_whole_page(
    chromium: Browser, server: str, path: str
) -> None:
    """Selectors that begin with what the whole page has somewhere would: a move took a third longer with them."""
    with visiting(chromium, server + path) as page:
        chromium.start_tracing(page=page, categories=["devtools.timeline"])
        whole = page.evaluate(COMES_AND_GOES)
        events = json.loads(chromium.stop_tracing())["traceEvents"]
        styled = [one["args"].get("elementCount", 0) for one in events if one["name"] == "UpdateLayoutTree"]
        assert 0 < sum(styled) < 0.6 * whole
