"""The page "Budget": which division of ε has the smallest error, as far as that is known, and what others cost."""

import csv
import io
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.budget import SplitOverSets
from pages.budget import METHODS, take_release
from pages.ui.url import Visit
from tests.helpers import check_short
from tests.pages.apptest import cells_of, figures, headline, links, move, opener, problems, said, settings

QUICK = {"n": 9, "repetitions": 60, "cells": 3}
RELEASE = {
    "synthesizer": "geometric", "n": 100, "m": 100, "m_is_n": True, "sets": 2, "epsilon": 1.0, "prior": "pure",
    "p": 0.25, "seed": 4, "x": 25,
}  # fmt: skip


open_budget = opener("budget")


def open_with(release: dict[str, Any], **state: object) -> AppTest:
    """Open the page in a session that carries a release."""
    return open_budget(session={"visit": Visit(release=RELEASE | release), **state})


def divisions(app: AppTest) -> dict[str, list[str]]:
    """Cells of the table of divisions, by the bold words in the first of each row."""
    return cells_of(app, "The smallest error and the papers' divisions")


def test_a_fresh_page_names_the_best_number_of_sets() -> None:
    app = open_budget()
    assert headline(app) == (
        "5 sets With ε = 1 for everything that is released, the error is smallest with 5 sets : the analyst's estimate "
        "of the share of yes is typically off by 5.93 points (root mean squared error, Modips (boundary-inflated), "
        "n = 100, p = 0.25 and ε = 1)."
    )
    assert divisions(app) == {
        "5 sets": ["5.93", "0.1896", "93.66 % ± 0.3", "24.61 ± 0.09", "1"],
        "10 sets": ["6.115", "0.6096", "94.06 % ± 0.3", "24.56 ± 0.06", "1.031"],
        "Geometric sanitizer": ["4.538", "1.44×10⁻⁸", "93.39 %", "16.85", "0.7653"],
    }
    assert "Everything from 1 set to 500 sets was tried." in said(app)


def test_what_is_not_final_is_said_to_be_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """n = 20, ε = 2.5: of the 23 numbers of sets that are known at a glance 11 are best, and of all 12."""
    query = {"n": 20, "p": 0.4, "epsilon": 2.5}
    final = headline(open_budget(**query))
    assert "so far" not in final
    monkeypatch.setattr("pages.ui.progress", lambda *_, **__: (None, False))
    app = open_budget(**query)
    assert "the error is so far smallest with" in headline(app)
    assert "Best so far at ε = 2.5: the estimate is typically off by" in said(app)
    assert len(figures(app)["bu_picture"]["figure"]["data"][0]["x"]) > 0
    assert final.split()[0] != headline(app).split()[0]


@pytest.mark.parametrize("is_final", [True, False])
def test_the_short_sentence_has_at_most_fifteen_words(is_final: bool) -> None:
    data = BinaryData(n=20, p=0.25)
    question = SplitOverSets(data=data, method=data.method("modips"), epsilon=1.0, analysis=Analysis())
    mark, _, short = question.answer(question.first(), is_final)
    check_short(short)
    assert mark.endswith(" sets") and ("so far" in short) != is_final


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Liu, Figure 6: n = 100, p = 0.1", "the error is smallest with 4 sets : the analyst's estimate of the share "
         "of yes is typically off by 4.4"),
        ("Liu, Figure 6: n = 100, p = 0.5", "smallest with 500 sets : the analyst's estimate of the share of yes is "
         "typically off by 2.2"),
        ("Liu, Figure 6: n = 100, −4 to 5", "smallest with 1 set : the analyst's estimate of the mean is typically off "
         "by 0.215"),
        ("Liu, Figure 8: n = 100, −4 to 4", "smallest with 99 % for the mean : the analyst's estimate of the mean is "
         "typically off by about 0.3 "),
    ],
)  # fmt: skip
def test_a_preset_has_its_answer(name: str, sentence: str) -> None:
    app = open_budget(repetitions=60, n=5)
    assert sentence in headline(move(app, bu_preset=name))
    assert app.session_state["bu_preset"] == name


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"epsilon": 2}, "With ε = 2 for everything"), ({"n": 30}, "n = 30, p"), ({"p": 0.1}, "p = 0.1 and"),
        ({"sets_binary_method": "poisson_gamma", "guess_is_truth": "false", "public_share": 0.4}, "π = 0.4 and"),
        ({"sets_kind": "count", "sets_count_method": "beta_binomial", "m_is_n": "false", "m": 5}, "m = 5, p"),
        ({"spending": "share", "sets": 2, "share_gaussian_method": "modips_split_truncated"}, "split, truncation, n"),
        ({"spending": "share", "sets": 2, "mean": 0.5, "sigma": 2, "low": -3, "high": 5},
         "μ = 0.5, σ = 2, c0 = −3, c1 = 5"),
        ({"spending": "share", "sets": 2, "gaussian_estimand": "variance"}, "analyst's estimate of the variance is"),
        ({"spending": "share", "sets": 2}, "smallest error of the estimate of the variance"),
        ({"spending": "share", "share_kind": "mixed", "sets": 2, "correlation": 0.1}, "J = 3, ρ = 0.1"),
        ({"spending": "share", "sets": 2, "repetitions": 80}, "with 80 repetitions each in the end"),
        ({"measure": "coverage"}, "Coverage is known at 23 of 23 divisions so far."),
    ],
)  # fmt: skip
def test_every_control_moves_what_the_page_says(query: dict[str, object], words: str) -> None:
    app = open_budget(**QUICK | query)
    assert problems(app) == [] and words in said(app)


def test_level_and_rule_move_the_coverage_alone() -> None:
    usual = divisions(open_budget(n=9))["10 sets"]
    for query in ({"level": 0.8}, {"rule": "rubin_1987"}):
        row = divisions(open_budget(n=9, **query))["10 sets"]
        assert row[:2] == usual[:2] and row[2] != usual[2]


def test_every_division_remembers_its_kind_of_data_and_every_kind_its_method() -> None:
    app = open_budget(sets_binary_method="laplace", **QUICK)
    move(app, bu_spending="share")
    numbers = ["Numbers between bounds", "Categories and two numbers (mixed)"]
    assert app.selectbox(key="bu_share_kind").options == numbers
    move(app, bu_spending="sets")
    assert app.selectbox(key="bu_sets_binary_method").value == "laplace"
    move(move(app, bu_sets_kind="count"), bu_sets_kind="binary")
    assert app.selectbox(key="bu_sets_binary_method").value == "laplace"
    assert problems(app) == []


@pytest.mark.parametrize(("spending", "kind"), [(spending, kind) for spending in METHODS for kind in METHODS[spending]])
def test_every_kind_of_data_has_an_answer_a_picture_and_a_table(spending: str, kind: str) -> None:
    app = open_budget(spending=spending, sets=2, **{f"{spending}_kind": kind}, **QUICK)
    assert problems(app) == [] and list(figures(app)) == ["bu_picture"]
    assert "the error is smallest with" in headline(app)
    assert headline(app).startswith(next(iter(divisions(app))))
    assert ("Coverage" in links(app)) == (kind in ("binary", "count"))


def test_a_share_of_epsilon_that_is_too_small_ends_the_line() -> None:
    app = open_budget(epsilon=1e-5, n=5, p=1)
    assert "The errors of 12 of 23 numbers of sets are known so far" in headline(app)
    assert "The line ends early: epsilon (privacy loss of the noise) must be a number from" in said(app)


def test_a_best_number_between_those_of_the_picture_counts_among_its_divisions() -> None:
    """With modips, n = 7 and ε = 50, 97 sets are best, which is none of the 23 that are always drawn."""
    app = open_budget(n=7, epsilon=50, measure="coverage")
    assert list(divisions(app)) == ["97 sets", "10 sets", "Exponential mechanism (data sets)"]
    assert "Coverage is known at 24 of 24 divisions so far." in said(app)
    move(app, bu_others=True)
    names = ["root_mean_squared_error", "bias", "spread"]
    assert list(figures(app)) == ["bu_picture", *(f"bu_small_{name}" for name in names)]


def test_a_release_is_taken_with_its_method_and_divided_over_sets() -> None:
    assert take_release({}) == {}
    assert take_release({"synthesizer": "poisson_count"}) == {} and "poisson_count" not in METHODS["sets"]["binary"]
    single = headline(open_with({}, bu_spending="share"))
    assert "1 set With ε = 1" in single and "Geometric sanitizer, n = 100, p = 0.25" in single
    fewer = open_with({"synthesizer": "beta_binomial", "m": 20, "m_is_n": False, "n": 40})
    assert "n = 40, m = 20, p = 0.25" in headline(fewer)
    guess = open_with({"synthesizer": "poisson_gamma", "public_share": 0.4, "guess_is_truth": False})
    assert "π = 0.4" in headline(guess)


def test_the_method_goes_along_with_the_best_division_which_the_links_name() -> None:
    app = open_with({"synthesizer": "modips"})
    assert "Modips (boundary-inflated) with 5 sets on" in said(app)
    for title, prefix in {"Coverage": "cv", "Posterior": "po"}.items():
        assert {f"{prefix}_synthesizer": "modips", f"{prefix}_sets": "5"}.items() <= links(app)[title].items()
    move(app, bu_sets_binary_method="laplace")
    assert app.session_state["visit"].release["synthesizer"] == "laplace"
    move(app, bu_n=200)
    assert settings(app)["bu_x"] == "50"


def test_the_files_have_every_number(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("pages.ui.show_page_files", lambda *args: seen.extend(args))
    open_budget(look="Download", n=5, repetitions=60)
    (measures, _), (name, script, _) = seen
    rows = list(csv.DictReader(io.StringIO(measures[2]())))
    assert (measures[1], name) == ("budget.csv", "budget.py")
    assert [row["place"] for row in rows][:3] == ["1.0", "2.0", "3.0"]
    assert all(row["coverage"] for row in rows)
    printed: list[str] = []
    exec(compile(script, name, "exec"), {"print": lambda *values, **_: printed.append(" ".join(map(str, values)))})
    assert len(printed) == len(rows) + 1
    assert float(printed[0].split()[3]) == pytest.approx(float(rows[0]["root_mean_squared_error"]), rel=1e-12)
