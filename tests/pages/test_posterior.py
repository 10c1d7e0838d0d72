"""The page "Posterior": it answers for every mechanism and every release, typed in or drawn, and says what is wrong."""

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.designs import Design
from dpviz.export.templates import render
from dpviz.inference.posterior_coverage import EQUAL_TAILS, HIGHEST_DENSITY, posterior_coverage
from dpviz.inference.report import POSTERIOR_NAMES, confidential_count_sentence, posteriors_table
from dpviz.inference.secret_size import SIZE_PRIORS, posterior_secret_n, size_prior
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.published.records import load_records
from pages.posterior import PRESETS, SECTIONS, question_of
from tests.pages import apptest
from tests.pages.apptest import figures, headline, markup, move, opener, problems, rows_of, said, set_state, unfold

MATRIX = "n1, 0, 1, 2\n0, 0.5, 0.25, 0.25\n1, 0.25, 0.5, 0.25\n2, 0, 0.25, 0.75\n3, 0, 0, 1"
SMALL: dict[str, object] = {"n": 24, "x": 7, "epsilon": 3.0}
MECHANISMS = [*two_cell_synthesizers(), GivenMatrix.key]


open_posterior = opener("posterior")


def counts_of(app: AppTest) -> list[int]:
    """The synthetic counts, as the page lists them."""
    counts = re.search(r"The counts are ([\d, ]+), (?:drawn|typed)", said(app))
    assert counts is not None
    return [int(word) for word in counts[1].split(",")]


# The answer


def test_presets_are_rows_of_charests_tables() -> None:
    records = [record for record in load_records("Charest (2011)") if record.key in ("table_3", "table_4")]
    designs = {(record.parameters["epsilon"], record.parameters["sets"]) for record in records}
    for values in PRESETS.values():
        assert (values["epsilon"], values["sets"]) in designs
        assert (values["n"], values["x"], values["gamma1"], values["gamma2"]) == (100, 30, 1.0, 1.0)


def test_five_sets_say_less_than_one_and_a_small_delta_says_more_again() -> None:
    """On average over the releases, not in each: here the seeds 1 to 3."""
    deviations = []
    for name in ("a small δ, fewer invented rows", "one table, ε = 2 (Charest)", "five tables"):
        values = {key: PRESETS[name].get(key, 0.0) for key in ("n", "epsilon", "delta", "prior", "sets")}
        designs = [Design(mechanism="beta_binomial", confidential_count=30, seed=seed, **values) for seed in (1, 2, 3)]
        deviations.append(np.mean([math.sqrt(question_of(design).release.exact.variance) for design in designs]))
    assert deviations == sorted(deviations)


def test_a_fresh_page_has_one_picture_three_posteriors_and_nothing_in_its_url() -> None:
    app = open_posterior()
    design = Design(mechanism="beta_binomial", n=100, epsilon=2.0, confidential_count=30, seed=1)
    posteriors = question_of(design).release.posteriors
    rows = posteriors_table(posteriors, POSTERIOR_NAMES, 0.95, "").rows
    table = [[apptest.plain_text(cell).strip() for cell in row] for row in rows]
    assert [list(cells.values()) for cells in rows_of(app, "Posteriors of p").values()] == table
    assert "drawn with seed 1 from x = 30" in said(app) and "a mixture of 101 beta distributions" in said(app)
    assert figures(app).keys() == {"po_picture"}


# The release


def test_typed_counts_move_the_answer() -> None:
    app = open_posterior(source="typed", epsilon=1.25, gamma1=3)
    assert "From 31 yes in a released table of 100 rows at ε = 1.25" in headline(app)
    assert "secret share" not in headline(app)
    answered = headline(move(app, po_counts="31, 45"))
    assert "From 31, 45 yes in 2 released tables of 100 rows at ε = 1.25" in answered
    set_state(app, po_m_is_n=False, po_m=150, po_counts="150")
    assert (problems(app), counts_of(app)) == ([], [150])


def test_a_link_with_counts_that_it_does_not_ask_for_is_told_so() -> None:
    app = open_posterior(source="drawn", counts="4")
    assert problems(app) == ["Ignored po_counts in the link: the counts are drawn with a seed."]
    assert problems(open_posterior(counts="4")) == []  # what the URL has of counts that were typed before


def test_settings_survive_the_other_source() -> None:
    app = open_posterior(sets=4, seed=7)
    drawn = headline(app)
    assert len(counts_of(app)) == 4
    for typed in ("3, 4", "5"):
        assert f"From {typed} yes" in headline(move(move(app, po_source="typed"), po_counts=typed))
        assert headline(move(app, po_source="drawn")) == drawn


def test_x_is_asked_for_only_where_it_is_known_and_ends_at_n() -> None:
    app = open_posterior(source="typed")
    assert "po_x" not in {box.key for box in app.number_input}
    set_state(app, po_knows=True)
    assert "which holds the secret share, 30 %;" in headline(app)
    app = open_posterior(x=2, n=7)
    assert app.select_slider(key="po_x_slider").options[-1] == "7"
    # The same share of other people, however few of them there were in between
    for n, x in ((1, 0), (1000, 286), (7, 2), (70, 20)):
        assert move(app, po_n=n).number_input(key="po_x").value == x and not problems(app)
    move(move(app, po_x=70), po_n=35)
    assert app.number_input(key="po_x").value == 35


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_has_its_controls_its_posteriors_and_its_sections(mechanism: str) -> None:
    query = {"synthesizer": mechanism, "n": 9, "x": 2, "matrix_x": 2, "epsilon": 1.5, "paste": MATRIX, "prior": "exact"}
    app = unfold(open_posterior(**query, sets=2))
    boxes = {str(box.key).removeprefix("po_") for box in app.number_input}
    is_given = mechanism == GivenMatrix.key
    has_prior = not is_given and two_cell_synthesizers()[mechanism].has_prior
    is_added = mechanism == "poisson_count"
    assert ("epsilon" in boxes, "delta" in boxes) == (not (is_given or is_added), has_prior)
    assert ("n" in boxes, "x" in boxes, "matrix_x" in boxes) == (not is_given, not is_given, is_given)
    assert [radio.key for radio in app.radio] == ["po_prior"] * has_prior
    assert [area.key for area in app.text_area] == ["po_paste"] * is_given
    assert len(counts_of(app)) == 2
    for section in SECTIONS:
        assert problems(move(app, po_look=section)) == []
        is_left_out = section in ("If n is secret", "k categories") and mechanism != "beta_binomial"
        assert ("This section computes with the Beta-binomial synthesizer alone." in said(app)) == is_left_out


def test_what_a_matrix_says_of_itself_and_of_the_counts() -> None:
    app = open_posterior(synthesizer=GivenMatrix.key, paste="0.50004, 0.5\n0.25, 0.75")
    assert "Your row 1 sums to 1.00004, not to 1. It is divided by its sum here." in said(app)
    matrix = "1,0,0\n0.5,0,0.5\n0,0.5,0.5"
    counts = {"source": "typed", "counts": "0 2", "knows": "true"}
    app = open_posterior(synthesizer=GivenMatrix.key, paste=matrix, matrix_x=2, **counts)
    assert "Data with x = 2 never lead to a synthetic count of 0 under this synthesizer" in said(app)
    assert apptest.settings(app)["po_paste"] == matrix
    app = open_posterior(synthesizer=GivenMatrix.key, paste=MATRIX, matrix_x=4)
    assert problems(app) == ["x was set to 3: the other settings allow no more."]


# Closer looks


def test_what_x_was_is_drawn_and_described() -> None:
    app = open_posterior(look="What was x?", source="typed", counts="9", knows="true", **SMALL)
    design = Design(mechanism="beta_binomial", n=24, epsilon=3.0, confidential_count=7)
    assert confidential_count_sentence(question_of(design, "9").release) in said(app)
    assert figures(app).keys() == {"po_picture", "po_count_distribution"}


@pytest.mark.parametrize("interval", [EQUAL_TAILS, HIGHEST_DENSITY])
def test_coverage_of_the_interval_at_the_own_share(interval: Any) -> None:
    app = open_posterior(look="Its own coverage", n=12, x=3, epsilon=3.0, level=0.8, kind=interval)
    design = Design(mechanism="beta_binomial", n=12, epsilon=3.0, level=0.8)
    coverage = posterior_coverage(synthesizer=design.release, proportions=0.25, level=0.8, interval=interval)
    assert (
        f"{100 * coverage.coverage[0]:.3g} % of the 80 % posterior intervals hold p when p = x/n = 0.25 (exact). Their "
        f"mean length is {100 * coverage.mean_width[0]:.3g} points." in said(app)
    )
    assert "It sums over all 13 different releases." in said(app)


def test_coverage_of_too_many_rows_is_left_out_and_of_many_sets_is_simulated() -> None:
    app = open_posterior(look="Its own coverage", n=1001)
    assert "up to 1,000" in said(app) and figures(app).keys() == {"po_picture"}
    words = said(open_posterior(look="Its own coverage", n=60, x=20, sets=7))
    assert "points (standard error, seed 1)" in words and "400 of them are simulated at each p" in words


@pytest.mark.parametrize("label", SIZE_PRIORS)
def test_a_secret_n_has_the_posterior_of_its_range_and_a_range_of_one_n_is_a_known_n(label: str) -> None:
    app = open_posterior(
        look="If n is secret", around="false", source="typed", counts="9, 14", low=15, high=40, guess=25,
        size_prior=label, prior="own", alpha=2.5, **SMALL,
    )  # fmt: skip
    prior = size_prior(label, 15, 40, 25)
    posterior = posterior_secret_n(synthetic_counts=(9, 14), m=24, alpha=2.5, beta=2.5, prior=prior)
    low, high = posterior.interval(0.95)
    assert f"{100 * low:.3g} to {100 * high:.3g} %" in markup(app).replace("\u00a0", " ")
    assert f"finds a share of yes between {100 * low:.3g} % and {100 * high:.3g} %" in said(app)
    assert f"On average over the posterior, n = {posterior.expected_size:.4g}." in said(app)
    assert {"po_secret", "po_sizes"} < figures(app).keys()
    set_state(app, po_low=24, po_high=24, po_guess=24)
    rows = [*rows_of(app, "Posterior with and without n").values(), *rows_of(app, "Posteriors of p").values()]
    known, secret, told = ([*cells.values()][1:] for cells in rows[:3])
    assert known == secret == told


def test_an_invalid_range_of_n_keeps_the_last_valid_one() -> None:
    app = open_posterior(look="If n is secret", around="false", **SMALL)
    for low, high, refusal in (
        (30, 20, "The fewest rows must be at most the most, 20; got 30."),
        (1, 2001, "must span at most 2,000,000 pairs of n and x; got 2,005,002."),
    ):
        words = said(set_state(app, po_low=low, po_high=high))
        assert refusal in words and "Shown is the answer for 50 to 200 rows." in words
        assert figures(app).keys() == {"po_picture", "po_secret", "po_sizes"}


def test_typed_tables_have_a_posterior_of_every_cell_and_invalid_ones_a_sentence() -> None:
    app = open_posterior(look="k categories", tables="7 2 3\n\n3;4 ; 5\r\n0,0,12", n=9, x=3)
    rows = rows_of(app, "Posterior of every cell")
    shares = {"cell 1": "27.78 %", "cell 2": "16.67 %", "cell 3": "55.56 %"}
    assert {name: cells["released share"] for name, cells in rows.items()} == shares
    assert sum(float(cells["expected rows"]) for cells in rows.values()) == pytest.approx(9, abs=2e-3)
    assert "a sum over 55 confidential tables" in said(app)
    for tables, n, refusal in (
        ("1, <b>x</b>", 100, "must hold whole numbers from 0; got <b>x</b>."),
        ("10000, 1", 100, "must be a whole number from 1 to 10,000; got 10,001."),
        ("1, 1, 1, 1, 1, 1, 1", 100, "the limit is 2,000,000. Set fewer rows or cells."),
        ("1 " * 500, 100, "Set fewer rows or cells."),
    ):
        assert refusal in said(set_state(app, po_tables=tables, po_n=n)) and "po_picture" in figures(app)


def test_script_and_call_are_those_of_these_settings() -> None:
    query = {"source": "typed", "counts": "4, 9", "knows": "true", "gamma1": 2, "level": 0.9, **SMALL}
    values = {"n": 24, "sets": 2, "epsilon": 3.0, "gamma1": 2.0, "confidential_count": 7, "level": 0.9}
    made = {"design": Design(mechanism="beta_binomial", **values), "counts": [4, 9]}
    app = open_posterior(look="Download", **query)
    assert app.code[-1].value.strip() == render("export/posterior_script.txt", **made).strip()
    assert [button.proto.label for button in app.get("download_button")] == [
        "Densities, CSV", "Distribution of x, CSV", "Script",
    ]  # fmt: skip
    set_state(app, po_look="What to compute")
    assert app.code[-1].value.strip() == render("export/posterior_recipe.txt", **made).strip()
    assert rows_of(app, "Regions of highest density").keys() == rows_of(app, "Posteriors of p").keys()
