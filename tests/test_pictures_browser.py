"""The numbers of a picture as a file, in real Chromium."""

from __future__ import annotations

import csv
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from playwright.sync_api import Browser, Page, expect

from dpviz.calibration.kinds import Setting
from dpviz.claims.curves import prior_curves
from dpviz.coverage import coverage_by_proportion, wilson_interval
from dpviz.inference.posterior import posterior_mixture
from dpviz.mechanisms import BetaBinomial
from dpviz.priors import METHODS
from dpviz.privacy import log_odds_table
from tests.browser import settle
from tests.visit import control, visiting

pytestmark = pytest.mark.browser


def numbers(page: Page, picture: str) -> list[dict[str, str]]:
    """The lines of the file that a picture's toolbar gives."""
    with page.expect_download() as download:
        control(page, picture).locator("[data-title='Download the numbers as CSV']").click()
    assert re.fullmatch(rf"[a-z]+_{picture}\.csv", download.value.suggested_filename)
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf# ")  # by which a spreadsheet knows UTF-8
    lines = content.decode("utf-8-sig").splitlines()
    (there,) = (line for line in lines if line.startswith("# address: http"))
    assert "_m_is_n=true" in there  # also where it is that of a fresh page
    assert any(line.startswith("# settings: ") for line in lines)
    reading = f'# to read it: pandas.read_csv("{download.value.suggested_filename}", comment="#")'
    assert any(line.startswith(reading) for line in lines)
    found = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert len(pandas.read_csv(BytesIO(content), comment="#")) == len(found)
    return found


def column(lines: list[dict[str, str]], name: str, series: str | None = None) -> np.ndarray:
    return np.array([float(line[name]) for line in lines if series in (None, line["series"])])


def test_a_matrix_gives_every_probability_with_its_digits(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_synthesizer=beta_binomial&tm_n=30&tm_alpha=2.5") as page:
        lines = numbers(page, "heatmap")
    matrix = BetaBinomial(n=30, m=30, alpha=2.5, beta=2.5).transition_matrix()
    assert len(lines) == matrix.size
    rows, columns = column(lines, "y").astype(int), column(lines, "x").astype(int)
    assert_allclose(column(lines, "value"), matrix[rows, columns], rtol=1e-14)


def test_log_odds_are_given_though_the_colours_are_cut(chromium: Browser, server: str) -> None:
    query = "tm_synthesizer=beta_binomial&tm_n=30&tm_alpha=0.01&tm_picture=log-odds&tm_sign=signed&tm_epsilon=0.1"
    with visiting(chromium, f"{server}/transition_matrices?{query}") as page:
        lines = numbers(page, "heatmap")
    table = log_odds_table(BetaBinomial(n=30, m=30, alpha=0.01, beta=0.01))
    given = column(lines, "value")
    rows, columns = np.divmod(np.arange(table.size), table.shape[1])
    assert_allclose(given, table[rows, columns], rtol=1e-12)
    assert np.abs(given).max() > 10 * 0.1


def test_the_curves_of_the_priors_give_each_line_under_a_name_of_its_own(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/minimum_priors?mp_n=50&mp_axis=against+n") as page:
        lines = numbers(page, "curves")
    curves = prior_curves("bernoulli", Setting(n=50, m=50, epsilon=1.0, delta=1e-6), "n", m_is_n=True)
    found = 0
    for line in curves.lines:
        shown = np.isfinite(line.values)
        told = {"exact": "exact", "pure": "exact, δ = 0", "printed": f"printed, {line.theorem}"}[line.kind]
        series = f"{METHODS[line.method].named(2)}, {told}"
        if np.any(shown):
            assert column(lines, "x", series).tolist() == curves.points[shown].tolist()
            each_row = 2 * line.values[shown] / curves.points[shown]  # invented rows per real row
            assert column(lines, "y", series).tolist() == pytest.approx(each_row.tolist(), rel=1e-15)
            found += int(shown.sum())
    assert found == len(lines)


def test_the_coverage_gives_exact_lines_and_simulated_dots_with_their_bars(chromium: Browser, server: str) -> None:
    query = "cv_n=40&cv_sets=2&cv_epsilon=3&cv_repetitions=2000&cv_rules=reiter_2002"
    with visiting(chromium, f"{server}/coverage?{query}") as page:
        control(page, "go").get_by_role("button").click()
        expect(page.get_by_text("2,000 of 2,000 repetitions, complete")).to_be_visible()
        settle(page)
        lines = numbers(page, "picture")
    release = BetaBinomial(n=40, m=40, alpha=40 / np.expm1(1.5), beta=40 / np.expm1(1.5))
    exact = [line for line in lines if line["series"].endswith(", exact")]
    points = column(exact, "x")[::9]
    curves = coverage_by_proportion(release, proportions=points, sets=2, rules=["reiter_2002"])
    assert_allclose(column(exact, "y")[::9], curves.coverage[0], atol=1e-8)
    (dot,) = [line for line in lines if "simulated" in line["series"]]
    hits = round(2000 * float(dot["y"]))
    assert float(dot["y"]) == pytest.approx(hits / 2000, abs=1e-12)
    low, high = wilson_interval(hits / 2000, 2000)
    assert (float(dot["low"]), float(dot["high"])) == pytest.approx((low, high), abs=1e-12)
    assert all(line["low"] == line["high"] == "" for line in exact)


def test_a_posterior_gives_its_density(chromium: Browser, server: str) -> None:
    query = "po_source=typed&po_counts=9,14&po_n=40&po_prior=own&po_alpha=2.5"
    with visiting(chromium, f"{server}/posterior?{query}") as page:
        lines = numbers(page, "picture")
    law = posterior_mixture(synthetic_counts=[9, 14], n=40, m=40, alpha=2.5, beta=2.5)
    series = "given the synthetic counts, exact"
    assert_allclose(column(lines, "y", series), law.pdf(column(lines, "x", series)), rtol=1e-12)
