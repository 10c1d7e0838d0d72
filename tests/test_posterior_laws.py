"""The page "Posterior" for every synthesizer and for a matrix of one's own, held against sums over the matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from streamlit.testing.v1 import AppTest

from dpviz.core.parameters import readable
from dpviz.designs import Design
from dpviz.desk.analyst import share
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.given import read_matrix
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.posterior.sections import SECTIONS
from tests.mixtures import Law
from tests.pages import address, check_sound, open_posterior, problems, text
from tests.test_posterior_page import button_group, check_answered, released, shown_laws, spread

LAWS = [*two_cell_synthesizers(), GivenMatrix.key]
every_law = pytest.mark.parametrize("law", LAWS)
STOCHASTIC = "n1, 0, 1, 2\n0, 0.5, 0.25, 0.25\n1, 0.25, 0.5, 0.25\n2, 0, 0.25, 0.75\n3, 0, 0, 1"
SMALL_DESIGNS: dict[str, Design] = {law: Design(mechanism=law, n=9, epsilon=1.5) for law in two_cell_synthesizers()}
SMALL_DESIGNS[GivenMatrix.key] = Design(mechanism=read_matrix(STOCHASTIC))


def open_law(law: str, **state: Any) -> AppTest:
    return open_posterior(synthesizer=law, n=9, x=2, matrix_x=2, epsilon=1.5, alpha=1.0, paste=STOCHASTIC, **state)


@pytest.mark.parametrize(
    ("law", "section", "source"),
    [
        (law, section, ("drawn", "typed")[(place + turn) // 2 % 2])
        for turn, law in enumerate(LAWS)
        for place, section in enumerate([None, *SECTIONS])
        if (place + turn) % 2 == 0
    ],
)
def test_every_section_answers_for_every_synthesizer(law: str, section: str | None, source: str) -> None:
    """By turns, of sections as of sources; the contract of all pages has the other half."""
    page = open_law(law, look=section, source=source, counts="0, 1", sets=2)
    check_answered(page)
    for_one = section in ("If n is secret", "k categories") and law != "beta_binomial"
    assert ("This section computes with the Beta-binomial synthesizer alone." in text(page)) == for_one


@every_law
def test_every_synthesizer_has_the_mixture_of_its_own_matrix(law: str) -> None:
    page = open_law(law, source="typed", counts="1, 2, 2")
    matrix = replace(SMALL_DESIGNS[law], sets=3).release.transition_matrix()
    n = len(matrix) - 1
    weights = matrix[:, 1] * matrix[:, 2] ** 2  # a uniform prior of p makes x uniform
    every = np.arange(n + 1)
    exact = Law(1 + every, 1 + n - every, weights / weights.sum())
    assert shown_laws(page)["exact"][:3] == [
        share(exact.mean, 5), readable(100 * exact.deviation, 4), spread(exact.tails(0.95))
    ]  # fmt: skip


@every_law
def test_drawn_counts_are_those_of_the_synthesizer(law: str) -> None:
    design = replace(SMALL_DESIGNS[law], sets=20)
    for seed in (1, 2):
        drawn = design.release.draw(np.random.default_rng(seed), 2, 20)
        assert released(open_law(law, sets=20, seed=seed)) == tuple(drawn.tolist())


@every_law
def test_its_own_coverage_is_summed_over_the_matrix(law: str) -> None:
    page, design = open_law(law, look="Its own coverage"), SMALL_DESIGNS[law]
    matrix, every = design.release.transition_matrix(), np.arange(design.n + 1)
    p = 2 / design.n
    share = 0.0
    for count, chance in enumerate(binom.pmf(every, design.n, p) @ matrix):
        weights = matrix[:, count] / matrix[:, count].sum()
        low, high = Law(1 + every, 1 + design.n - every, weights).tails(0.95)
        share += chance * (low <= p <= high)
    assert f"{readable(100 * share, 3)} % of the 95 % posterior intervals hold p when p = x/n" in text(page)


@every_law
def test_the_controls_are_those_that_the_synthesizer_asks_for(law: str) -> None:
    page = open_law(law, prior="exact")
    boxes = {str(box.key).removeprefix("po_") for box in page.number_input}
    prior = law in ("beta_binomial", "posterior_mean", "posterior_mode")
    given, added = law == GivenMatrix.key, law == "poisson_count"
    assert ("epsilon" in boxes, "delta" in boxes, "alpha" in boxes) == (not (given or added), prior, added)
    assert ("n" in boxes, "x" in boxes, "matrix_x" in boxes) == (not given, not given, given)
    assert [radio.key for radio in page.radio] == ["po_prior"] * prior
    assert [area.key for area in page.text_area] == ["po_paste"] * given


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"paste": "0.5, 0.6\n0.5, 0.5"}, "Line 1 sums to 1.1, not to 1"),
        ({"paste": ""}, "There is nothing in it."),
        ({"paste": "1\n1"}, "There is only one column."),
        ({"matrix_x": 4}, "x (who say yes) must be at most n = 3; got 4."),
        ({"source": "typed", "counts": "3"}, "must be whole numbers from 0 to m = 2, separated by commas; got 3."),
        ({"source": "typed", "counts": "0, 2", "paste": "1,0,0\n0,0,1"}, "the posterior does not exist."),
    ],
    ids=str,
)
def test_a_matrix_that_cannot_be_answered_for_has_one_sentence(state: dict[str, Any], sentence: str) -> None:
    page = open_posterior(**{"synthesizer": "given_matrix", "paste": STOCHASTIC} | state)
    check_sound(page)
    (said,) = problems(page)
    assert sentence in said
    assert shown_laws(page) == shown_laws(open_posterior())


@pytest.mark.parametrize(("x", "never"), [(None, None), (0, 2), (1, None), (2, 0)])
def test_counts_that_the_known_x_never_leads_to_are_told(x: int | None, never: int | None) -> None:
    known = {"knows": False} if x is None else {"matrix_x": x}
    page = open_posterior(
        synthesizer="given_matrix", paste="1,0,0\n0.5,0,0.5\n0,0.5,0.5", source="typed", counts="0 2", **known
    )
    check_answered(page)
    told = f"Data with x = {x} never lead to a synthetic count of {never} under this synthesizer"
    assert (told in text(page), "never lead to" in text(page)) == (never is not None, never is not None)


def test_rows_that_do_not_sum_to_one_are_told() -> None:
    assert "not rescaled" not in text(open_posterior(synthesizer="given_matrix", paste=STOCHASTIC))
    page = open_posterior(synthesizer="given_matrix", paste="0.50004, 0.5\n0.25, 0.75")
    check_answered(page)
    assert "Your row 1 sums to 1.00004, not to 1. It is not rescaled." in text(page)


def test_the_address_carries_the_synthesizer_and_the_matrix() -> None:
    assert not {"po_synthesizer", "po_paste"} & set(address(open_posterior()))
    page = open_posterior({"po_synthesizer": "given_matrix", "po_paste": STOCHASTIC, "po_matrix_x": "3"})
    check_answered(page)
    assert released(page) == (2,)
    assert {"po_synthesizer", "po_paste", "po_matrix_x"} <= set(address(page))
    assert "po_n" not in address(page)
    again = open_posterior(address(page))
    assert shown_laws(again) == shown_laws(page)
    page.selectbox(key="po_synthesizer").set_value("laplace").run()
    check_answered(page)
    assert address(page)["po_synthesizer"] == "laplace"
    assert "po_paste" not in address(page)
    button_group(page, "preset").set_value("Charest, ε = 2").run()
    assert shown_laws(page) == shown_laws(open_posterior())
