"""A law that somebody adds by one class and one entry is compared, divided and on the desk, with true sentences."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.comparisons import BinaryData, CountData
from dpviz.comparisons.binary import method_of_release
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from pages.budget.sections import SECTIONS as BUDGET
from pages.compare_synthesizers.sections import SECTIONS as COMPARISON
from pages.curator.sections import SECTIONS as DESK
from tests.pages import (
    check_sound,
    html,
    open_budget,
    open_comparison,
    open_coverage,
    open_desk,
    problems,
    table_called,
    table_rows,
    text,
    value_of,
)
from tests.test_new_mechanism import matrix_of, registered
from tests.toys import ExponentialMechanism, Lazy, RandomizedResponse, ShyMean

__all__ = ["registered"]
pytestmark = pytest.mark.usefixtures("registered")

TOY = ExponentialMechanism
OTHERS = re.compile(r"cut off|prior|pull|noise|invented|bins|posterior")

SCORE = RULES["score"].abbreviation  # an analysis, which is no part of the release


def worst(n: int, epsilon: float) -> float:
    """The largest log-odds of the toy, from the list of its probabilities."""
    return float(np.abs(np.diff(np.log(matrix_of(TOY, n, n, epsilon)), axis=0)).max())


def check_true(page: AppTest) -> None:
    """It answers without an exception, and no sentence about the toy tells what another kind of release does."""
    check_sound(page)
    assert not problems(page)
    words = text(page)
    for sentence in re.split(r"(?<=[.!?])\s", words):
        if TOY.label in sentence and ShyMean.label not in sentence:
            assert not OTHERS.search(sentence.replace(SCORE, "")), sentence


def test_methods_are_read_when_they_are_asked_for() -> None:
    for kind in (BinaryData, CountData):
        there = [one.key for one in kind.methods]
        assert {"exponential", "shy_mean"} < {*there}
        assert "randomized_response" not in there  # t sets its ε
        assert kind.method("exponential") is kind.method("exponential")
    law = SYNTHESIZERS.pop("exponential")
    assert "exponential" not in {one.key for kind in (BinaryData, CountData) for one in kind.methods}
    SYNTHESIZERS["exponential"] = law


def test_a_number_that_nothing_asks_for_is_as_by_default_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYNTHESIZERS, Lazy.key, Lazy)
    method, data = BinaryData.method("lazy"), BinaryData(n=6, p=0.5)
    assert method.releases == ("One set, whose count is chosen at random, and now and then blindly. Here t = 0.75.")
    made = Lazy(n=6, m=6, epsilon=1.0, truth=0.75).transition_matrix()
    assert method.real_epsilon(data, 1.0, 1) == pytest.approx(np.abs(np.diff(np.log(made), axis=0)).max())


@pytest.mark.parametrize("section", [None, *COMPARISON])
def test_a_new_synthesizer_is_compared(section: str | None) -> None:
    page = open_comparison(
        n=20, sets=2, epsilon=1.0, binary_methods=["original", "exponential", "shy_mean"], look=section
    )
    check_true(page)
    assert TOY.label in page.multiselect(key="cs_binary_methods").options
    rows = table_rows(table_called(page, "The methods in order"))
    real = worst(20, 1.0)
    assert real == pytest.approx(0.714014, abs=1e-6)
    assert value_of(rows[TOY.label][5]) == pytest.approx(real, abs=5e-5)
    assert value_of(rows[ShyMean.label][5]) == pytest.approx(1.0, rel=1e-4)
    x, j = np.arange(21), np.arange(21) / 20
    matrix = matrix_of(TOY, 20, 20, 1.0)
    chance = np.array([0.25**k * 0.75 ** (20 - k) * float(np.prod([(20 - i) / (i + 1) for i in range(k)])) for k in x])
    error = float(np.sqrt(chance @ (matrix @ (j - 0.25) ** 2 - 0 * x)))
    assert value_of(rows[TOY.label][0]) == pytest.approx(error, rel=1e-3)
    if section == "What each promises":
        said = next(part for part in html(page) if TOY.releases in part)
        assert "The promise ε = 1 is kept, 71.4 % of it used." in said.split(TOY.releases)[1].split("</tr>")[0]


@pytest.mark.parametrize("section", [None, *BUDGET])
def test_the_budget_of_a_new_synthesizer_is_divided(section: str | None) -> None:
    page = open_budget(n=8, repetitions=50, sets_binary_method="exponential", look=section)
    check_true(page)
    assert TOY.label in page.selectbox(key="bu_sets_binary_method").options
    assert TOY.label in text(page)


@pytest.mark.parametrize("section", [None, *DESK])
def test_a_new_synthesizer_is_on_the_desk(section: str | None) -> None:
    page = open_desk(
        n=20, values=2, repetitions=60, count_methods=["exponential"], tried=["1"], most_error=0.2,
        accuracy=["root_mean_squared_error"], look=section,
    )  # fmt: skip
    check_true(page)
    assert TOY.label in page.multiselect(key="cu_count_methods").options
    words = text(page)
    given = re.search(rf"{TOY.label} one set, as if real ✓ all kept (\S+) set to (\S+)", words)
    assert given, words
    assert value_of(given[1]) == 1
    assert worst(20, value_of(given[2])) == pytest.approx(1.0, abs=5e-4)
    assert f"{TOY.label}, one set keeps all your limits" in words
    assert "It gives away a privacy loss of ε = 1 " in words


def test_the_desk_considers_a_new_synthesizer_unless_it_is_told_otherwise() -> None:
    page = open_desk(n=20, values=2, repetitions=60, tried=["1"], most_error=0.2, accuracy=["root_mean_squared_error"])
    check_true(page)
    assert {"exponential", "shy_mean"} < {*page.session_state["cu_count_methods"]}
    assert TOY.label in text(page)


def test_a_release_by_a_new_synthesizer_goes_to_the_other_pages() -> None:
    page = open_coverage({"cv_synthesizer": "exponential"}, n=12, sets=2, rules=["reiter_2003"])
    design = page.session_state["cv_"].valid.design
    assert method_of_release(design).key == "exponential"
    assert RandomizedResponse.not_compared == "t sets its ε"
