"""The page "Compare synthesizers": its sentence, table and pictures say what the comparison computes."""

import json
from typing import Any

import pytest
from markupsafe import escape
from streamlit.testing.v1 import AppTest

from dpviz.audit import release_audit
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.comparisons import DATA_KINDS, BinaryData, Comparison, EqualPromise
from dpviz.comparisons.analysis import Analysis
from dpviz.comparisons.comparison import Ranking
from dpviz.study.plan import StudyPlan
from dpviz.study.results import results_to_csv
from dpviz.study.run import evaluate_cell
from pages import compare_synthesizers as details
from pages.compare_synthesizers import PRESETS, take_release
from pages.ui.url import Visit
from tests.audit.test_release_audit import SIGNS
from tests.pages import apptest
from tests.pages.apptest import answer, cells_of, figures, headline, links, move, press, problems, said, set_state

SMALL = {"n": 20, "sets": 3, "repetitions": 60}
TWO = {"n": 8, "sets": 2, "binary_methods": "original.geometric"}
RELEASE = {
    "synthesizer": "beta_binomial", "n": 40, "m": 40, "m_is_n": True, "sets": 2, "epsilon": 2.0, "prior": "pure",
    "x": 10, "p": 0.3, "seed": 4,
}  # fmt: skip


open_comparison = apptest.opener("compare_synthesizers")


def open_with(**release: object) -> AppTest:
    """Open the page in a session that carries a release."""
    return open_comparison(session={"visit": Visit(release=RELEASE | release)})


def test_a_fresh_page_names_the_smallest_error_of_those_shown() -> None:
    app = open_comparison()
    assert headline(app) == (
        "Geometric sanitizer At a promised ε = 1, Geometric sanitizer has the smallest error of the private methods "
        "shown: its estimate is typically off by 4.54 points , 4.8 % more than with the original data (root mean "
        "squared error, n = 100, p = 0.25, M = 10 and ε = 1). Averaged over all possible confidential data, the error "
        "added by Geometric sanitizer is 0.27 % larger than that of the best possible mechanism with ε = 1."
    )
    rows = cells_of(app, "The methods in order")
    assert list(rows) == ["Geometric sanitizer", "Beta-binomial (posterior draw)", "Original data"]
    assert rows["Geometric sanitizer"] == [
        "4.538", "1.44×10⁻⁸", "93.39 %", "16.85", "99.999998 %", "1", "1.341", "1.003"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["binary", "gaussian"])
def test_the_caption_explains_the_columns_that_there_are(kind: str) -> None:
    app = open_comparison(kind=kind, repetitions=60, n=10)
    assert ("“Added error” is" in said(app)) == ("added error, points" in said(app)) == (kind == "binary")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Bowen & Liu 1: n = 1,000, p = 0.5", "Beta-binomial (posterior draw) has the smallest error of the private "
         "methods shown: its estimate is typically off by 0.518 points , 0.328 times as much as with the original "
         "data"),
        ("Bowen & Liu 1, equal real privacy", "At a real ε = 1, Geometric sanitizer has the smallest error"),
        ("Bowen & Liu 2: n = 40, mean", "Perturbed histogram, twice the noise or Smoothed histogram, public bins has "
         "the smallest error of the private methods shown: its estimate is typically off by about 0.4"),
        ("Liu, Table 1b: n = 10", "Model-based (modips), BIT has the smallest error of the private methods "
         "shown: its estimate is "
         "typically off by 0.985 , 3.11 times as much"),
    ],
)  # fmt: skip
def test_a_preset_has_its_answer(name: str, sentence: str) -> None:
    app = open_comparison(repetitions=60, n=10)
    assert sentence in headline(move(app, cs_preset=name))
    assert app.session_state["cs_preset"] == name


def test_every_preset_is_a_comparison() -> None:
    for case in PRESETS.values():
        kind = DATA_KINDS[case["kind"]]
        assert {name.name for name in kind.parameters()} - case.keys() <= {"p"}
        numbers = {name: value for name, value in ({"p": 0.25} | case).items() if name in kind.numbers()}
        kind(estimand=case.get(f"{kind.key}_estimand", ""), **numbers)
        assert all(kind.method(key) for key in case[f"{kind.key}_methods"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"epsilon": 2}, "At a promised ε = 2"), ({"n": 50}, "n = 50, p"), ({"sets": 3}, "M = 3 and"),
        ({"p": 0.4}, "p = 0.4"), ({"terms": "privacy", "delta": 1e-3, "n": 20, "sets": 1}, "real ε = 1 and δ = 0.001"),
        ({"binary_methods": "laplace"}, "Laplace sanitizer has the smallest error of the private methods shown"),
        ({"kind": "count", "m_is_n": "false", "m": 10, "n": 20}, "n = 20, m = 10, p"),
        ({"kind": "mixed", "n": 30, "cells": 4, "correlation": -0.2, "mixed_methods": "modips_sums", "repetitions": 60},
         "J = 4, ρ = −0.2"),
        ({"kind": "gaussian", "gaussian_estimand": "variance", "sigma": 2, "low": -5, "repetitions": 60, "sets": 2},
         "σ = 2, c0 = −5"),
        ({"level": 0.9}, "those of the 90 % interval by"), ({"rule": "rubin_1987"}, "“Rubin 1987”"),
        ({"first": 0.1}, "16 values of ε from 0.1 to 100."), ({"last": 10}, "16 values of ε from 0.01 to 10."),
        ({"binary_methods": "poisson_gamma", "guess_is_truth": "false", "public_share": 0.4}, "π = 0.4"),
    ],
)  # fmt: skip
def test_every_control_moves_what_the_page_says(query: dict[str, object], words: str) -> None:
    app = open_comparison(**query)
    assert problems(app) == [] and words in said(app)


def test_one_picture_is_drawn_and_the_others_when_they_are_wanted() -> None:
    app = open_comparison(**TWO)
    shown = figures(app)
    assert list(shown) == ["cs_picture"]
    assert "points so far" not in said(app)  # nothing is simulated
    assert shown["cs_picture"]["alt"] == "Root mean squared error of the analyst's estimate by each method against ε."
    move(set_state(app, cs_measure="release_error"), cs_others=True)
    names = ["root_mean_squared_error", "bias", "coverage", "mean_width", "usable_share"]
    assert list(figures(app)) == ["cs_picture", *(f"cs_small_{name}" for name in names)]
    assert "no mechanism can go below this" in json.dumps(figures(app)["cs_picture"])
    numbers = open_comparison(kind="gaussian", measure="release_error", n=8, sets=2, repetitions=40)
    assert figures(numbers)["cs_picture"]["alt"].startswith("Root mean squared")  # of numbers it is not known


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("root_mean_squared_error", "who always answers with the same number makes no error where that happens to be"),
        ("release_error", "No mechanism with this promise, known or still to be found, adds so little error"),
        ("bias", "a count with noise around 0 is right on average"),
        ("coverage", "an interval from 0 to 100 % always holds the truth"),
        ("mean_width", "are known at 32 of 32 points so far. An interval that holds every true share with probability "
         "90 % or more"),
        ("usable_share", "who never releases a table of zeros alone or of ones alone"),
    ],
)  # fmt: skip
def test_every_measure_says_what_limits_it(measure: str, words: str) -> None:
    assert words in said(open_comparison(measure=measure, level=0.9, **TWO))
    numbers = open_comparison(kind="gaussian", measure=measure, n=8, sets=2, repetitions=40)
    assert "limit is drawn" not in said(numbers)


def test_the_picture_is_there_before_the_curves_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.progress", lambda *_, **__: (None, False))
    monkeypatch.setattr("pages.ui.latest", lambda *_: None)
    app = open_comparison()
    assert "typically off by 4.54 points" in headline(app)
    (marker,) = [trace for trace in figures(app)["cs_picture"]["figure"]["data"] if trace["x"] == [1.0]][-1:]
    assert marker["y"] == [pytest.approx(4.53777, abs=1e-5)]


def test_where_a_curve_ends_early_the_caption_says_why() -> None:
    app = open_comparison(first=1e-5, sets=100, n=8, binary_methods="modips")
    assert "The line ends early: epsilon" in said(app)


@pytest.mark.parametrize(
    ("delta", "method", "reason", "sentence"),
    [
        (0, "perturbed_histogram_scott", "as printed (no ε is known to hold for it)", "Model-based (modips), split"),
        (1e-4, "smoothed_histogram", "(only the loss without δ is known: set δ = 0)", "None of the methods chosen can"),
    ],
)
def test_a_method_that_cannot_be_compared_is_named(delta: float, method: str, reason: str, sentence: str) -> None:
    methods = f"modips_split.{method}"
    app = open_comparison(kind="gaussian", n=9, sets=2, repetitions=60, terms="privacy", delta=delta,
                          gaussian_methods=methods)  # fmt: skip
    assert sentence in answer(app)
    assert f"Not in this comparison at equal real privacy: {'' if delta else 'Perturbed'}" in said(app)
    assert reason in said(app)


def test_a_release_is_taken_with_its_kind_of_data_and_its_method() -> None:
    assert take_release({}) == {}
    assert take_release({"synthesizer": "dirichlet_multinomial"}) == {}
    assert take_release({"synthesizer": "sdd", "n": 9}) == {
        "kind": "binary", "binary_methods": [*BinaryData.usual_keys(), "sdd"]
    }  # fmt: skip
    assert "n = 40, m = 20, p = 0.3, M = 2 and ε = 2" in answer(open_with(m=20, m_is_n=False))
    assert "π = 0.4" in answer(open_with(synthesizer="poisson_gamma", public_share=0.4, guess_is_truth=False))
    cells = open_with(synthesizer="dirichlet_multinomial", cells=3)
    assert "Your release is not shown here. Dirichlet-multinomial (k cells) is not among its methods." in said(cells)


def test_links_carry_the_readers_release_and_not_the_winner() -> None:
    app = open_with()
    assert "Geometric sanitizer has the smallest error" in headline(app)
    for title, prefix in {"Budget": "bu", "Coverage": "cv", "Posterior": "po"}.items():
        expected = {f"{prefix}_synthesizer": "beta_binomial", f"{prefix}_sets": "2"}
        assert expected.items() <= links(app)[title].items()
    move(app, cs_n=80)
    assert links(app)["Posterior"]["po_x"] == "20"  # the same share says yes
    assert apptest.settings(app)["cs_x"] == "20"
    assert "Coverage" not in links(open_comparison(kind="gaussian", n=9, repetitions=60))


def test_one_release_is_drawn_again_with_the_next_seed() -> None:
    app = open_comparison(look="One release", binary_methods="original.laplace", n=20, sets=3)
    before = cells_of(app, "One release")
    press(app, "cs_again")
    assert app.session_state["cs_seed"] == 2
    assert cells_of(app, "One release") != before
    empty = {"n": 20, "sets": 2, "cells": 24, "mixed_estimand": "cell_mean", "seed": 3, "repetitions": 40}
    assert "nan" not in said(open_comparison(kind="mixed", look="One release", **empty))
    mixed = open_comparison(kind="mixed", look="One release", n=30, cells=3, sets=2, repetitions=40)
    assert sum(key.startswith("cs_rows_") for key in figures(mixed)) == len(DATA_KINDS["mixed"].usual_keys())


@pytest.mark.parametrize("kind", DATA_KINDS)
def test_every_section_has_something_to_say(kind: str) -> None:
    app = open_comparison(kind=kind, cells=2, **SMALL)
    for section in details.SECTIONS:
        assert problems(set_state(app, cs_look=section)) == []
        assert len(said(app).partition(section)[2]) > 150, section
        assert "dpviz-problem" not in apptest.markup(app), section


def test_the_audit_lists_what_is_broken_first_and_leads_to_what_was_printed() -> None:
    app = open_comparison(look="What the printed methods really promise", **SMALL)
    words = said(app)
    assert "19 of the 34 printed methods break their promise, and 3 of these are not private at any ε." in words
    assert words.index("✗✗ not private") < words.index("✗ broken") < words.index("✓ kept")
    assert links(app)["As published: Liu (2016)"] == {"pub_paper": "liu"}


def test_the_audit_has_every_method_with_its_verdict_in_words_or_says_why_it_has_none() -> None:
    numbers = {"n": 50, "low": -3.0, "high": 5.0, "repetitions": 60}
    app = open_comparison(kind="gaussian", look="What the printed methods really promise", **numbers)
    (table,) = (part.proto.body for part in app.get("html") if "Methods and what they really give" in part.proto.body)
    bad, _, others = table.replace("\u00a0", " ").partition("<details>")
    findings = release_audit.audit_releases(ReleaseSetting(n=50, epsilon=1.0, lower=-3.0, upper=5.0))
    assert release_audit.headline(findings) in said(app)
    for finding in findings:
        part = bad if finding.verdict.bad else others
        for words in (finding.sentence, finding.safe, f"<b>{escape(finding.method.name)}</b>", SIGNS[finding.verdict]):
            assert words in part or escape(words) in part
    assert len(findings) == 34
    few = open_comparison(look="What the printed methods really promise", n=1, sets=3)
    assert "This is not audited here: n (people) must be a whole number from 4" in said(few)


def test_a_study_sets_the_controls_to_its_first_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    data = BinaryData(n=30, p=0.2)
    comparison = Comparison(data, (data.method("laplace"),), Analysis(sets=4), EqualPromise(), 2.0, (0.5, 8.0))
    monkeypatch.setattr(details, "read_results", lambda _: ())
    monkeypatch.setattr(details, "comparison_of", lambda _: comparison)
    values = details._settings_of_study(b"")
    query = {key.removeprefix("cs_"): value for key, value in values.items() if key != details.STUDY}
    app = open_comparison(**query | {"binary_methods": ".".join(query["binary_methods"])})
    assert f"{comparison.description})" in answer(app)
    assert Ranking.of(comparison, comparison.first()).answer[0] == "Laplace sanitizer"


def test_cells_of_a_study_are_drawn_beside_the_curves() -> None:
    settings_of_study: dict[str, Any] = {
        "mechanisms": ["beta_binomial", "geometric"], "n": 20, "epsilon": [0.5, 2], "sets": [3, 1], "p": [0.25, 0.5],
        "rules": ["reiter_2003", "as_if_real"], "repetitions": 250, "seed": 3, "exact": False,
    }  # fmt: skip
    cells = StudyPlan.of(settings_of_study).cells
    content = results_to_csv(map(evaluate_cell, cells))
    app = open_comparison(look="Download", binary_methods="laplace", n=9)
    apptest.upload(app, "study.csv", content)
    assert (app.session_state["cs_n"], app.session_state["cs_binary_methods"]) == (20, ["beta_binomial", "geometric"])
    shown = "4 of the 16 cells of the open study, simulated ones as dots. It has n = 20, M = 1 and 3, p = 0.25"
    assert f"This picture shows {shown}" in said(app)
    set_state(app, cs_measure="coverage")
    dots = [trace for trace in figures(app)["cs_picture"]["figure"]["data"] if trace.get("error_y")]
    assert {trace["legendgroup"] for trace in dots} == {"beta_binomial", "geometric"}
    assert "This picture shows 0 of the 16 cells of the open study" in said(move(app, cs_p=0.3))


CENTRAL = "The true value lies in the middle of all possible ones"


@pytest.mark.parametrize(
    ("query", "is_said"),
    [({"p": 0.5, "n": 20}, True), ({"p": 0.25, "n": 20}, False), ({"kind": "gaussian", "repetitions": 20}, True)],
)
def test_what_wins_because_the_truth_lies_in_the_middle_is_told_as_that(query: dict[str, Any], is_said: bool) -> None:
    assert (CENTRAL in answer(open_comparison(**query))) is is_said


def test_a_pull_towards_the_middle_costs_much_where_the_truth_is_elsewhere() -> None:
    errors = [
        BinaryData(n=100, p=p).accuracy(BinaryData.method("beta_binomial"), 1.0, Analysis())[1] for p in (0.5, 0.1)
    ]
    assert errors[1] > 3 * errors[0]
