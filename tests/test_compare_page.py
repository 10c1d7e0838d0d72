"""The page "Compare synthesizers": its sentence, table, pictures and files say what the comparison computes."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from typing import Any

import numpy as np
import pytest

from dpviz.charts.comparison import SMALLEST, Panel, Series, comparison_chart, release_chart
from dpviz.comparisons import KINDS, Analysis, BinaryData, EqualPrivacy, EqualPromise, MixedData, UnknownVariance
from dpviz.comparisons.base import MEASURES, Compared, stream_comparison
from dpviz.comparisons.nested_modips import estimate_variances
from dpviz.exports.comparison import comparison_csv, comparison_script
from dpviz.parameters import readable
from dpviz.published.liu_binary import FITTING, PRINTED_TABLE, compare_row
from pages.compare_synthesizers.answer import answer_sentence, lead_design, really, written
from pages.compare_synthesizers.controls import Asked, first_asked, usual
from pages.compare_synthesizers.published import NARROW
from pages.compare_synthesizers.ranking import first_outcomes
from pages.components.words import percent
from tests.pages import (
    figures,
    grown,
    html,
    marks,
    open_comparison,
    problems,
    run_script,
    table_called,
    table_rows,
    text,
)

FRESH = first_asked()


def asked(terms: Any = None, epsilon: float = 1.0, **data: Any) -> Asked:
    return dataclasses.replace(
        FRESH,
        data=BinaryData(**{"n": 30, "p": 0.25, **data}),
        terms=terms or EqualPromise(),
        analysis=Analysis(sets=3),
        design=dataclasses.replace(FRESH.design, epsilon=epsilon, n=data.get("n", 30), m=data.get("n", 30)),
    )


@pytest.mark.parametrize("terms", [EqualPromise(), EqualPrivacy(), EqualPrivacy(1e-3)], ids=repr)
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("p", [0.0, 0.15, 0.5])
def test_the_sentence_names_the_smallest_error_and_its_price(terms: Any, epsilon: float, p: float) -> None:
    given = asked(terms, epsilon, p=p)
    found = first_outcomes(given)
    least = given.data.least_error(epsilon, terms.delta)
    mark, sentence, brief = answer_sentence(given, found, least)
    promising = [one for one in found if not one.method.reference]
    best = min(promising, key=lambda one: one.root_mean_squared_error.value)
    assert best.method.label in mark
    assert f"<b>{written(best)}</b>" in sentence
    assert written(best) in brief
    assert f"{'real' if terms.asks else 'promised'} ε = {readable(epsilon, 4)}" in sentence
    price = best.release_error.value / least  # type: ignore[operator]
    assert f"adds <b>{readable(price, 3)} times</b> the error of the best mechanism" in sentence
    assert price >= 1 - 1e-9


def test_with_delta_the_price_comes_when_its_search_has_ended() -> None:
    page = open_comparison(n=20, sets=1, terms="privacy", delta=1e-3, binary_methods=["laplace", "modips"])
    waits = page.session_state["cs_ranking"].stream is not None
    assert ("times the error of the best mechanism" in text(page)) != waits
    whole = grown(page, "cs_ranking").run()
    price = table_rows(table_called(whole, "The methods in order"))["Laplace sanitizer"][-1]
    assert f"adds {price} times the error of the best mechanism with ε = 1 and δ = 0.001" in text(whole)


@pytest.mark.parametrize("terms", [EqualPromise(), EqualPrivacy()], ids=repr)
@pytest.mark.parametrize("key", ["modips", "modips_truncated", "laplace"])
def test_the_sentence_tells_a_broken_promise_and_how_much_is_given_away(terms: Any, key: str) -> None:
    given = dataclasses.replace(asked(terms, 0.5), methods=(BinaryData.method(key),))
    (found,) = first_outcomes(given)
    _, sentence, _ = answer_sentence(given, [found], None)
    assert ("breaks its promise" in sentence) == (key == "modips_truncated" and terms == EqualPromise())
    if "breaks" in sentence:
        assert found.real_epsilon > 1.2 * 0.5  # type: ignore[operator]
        assert f"it really gives away ε = {readable(found.real_epsilon, 3)}." in sentence  # type: ignore[arg-type]


def test_what_is_really_given_away_never_reads_as_what_is_promised() -> None:
    (found,) = first_outcomes(dataclasses.replace(asked(epsilon=0.5), methods=(BinaryData.method("modips"),)))
    for promised in (float(f"{one:.4g}") for one in np.geomspace(1e-3, 1e3, 61)):
        for factor in (2, 1.01, 1.001, 1 + 1e-4, 1 + 2e-6):
            words = really(dataclasses.replace(found, epsilon=promised, real_epsilon=promised * factor))
            said = words.removeprefix("it really gives away ε = ")
            assert said != readable(promised, 4)
            assert float(said.replace(",", "")) == pytest.approx(promised * factor, rel=5.1e-3)
            assert float(said.replace(",", "")) > promised


def test_a_constant_is_as_good_where_it_is_the_truth_and_the_price_says_what_it_costs() -> None:
    """At p = ½ a prior that draws every estimate to ½ has the smallest error, and many times the best one's."""
    given = asked(epsilon=0.01, p=0.5, n=100)
    mark, sentence, _ = answer_sentence(given, first_outcomes(given), given.data.least_error(0.01))
    assert mark == "Beta-binomial (posterior draw)"
    assert "times</b> the error of the best" in sentence


def test_the_release_with_the_smallest_error_leads_on() -> None:
    design = lead_design(asked(epsilon=2.0))
    assert design is not None
    assert (design.mechanism, design.sets, design.epsilon) == ("laplace", 1, 2.0)


def test_releases_that_other_pages_do_not_know_lead_nowhere() -> None:
    data = UnknownVariance(n=9, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    quick = Analysis(sets=2, repetitions=60)
    given = dataclasses.replace(FRESH, data=data, methods=(data.method("modips_split"),), analysis=quick)
    assert lead_design(given) is None


def test_the_table_marks_a_broken_promise_and_at_equal_real_privacy_none() -> None:
    state = {"n": 20, "sets": 3, "epsilon": 0.5}
    rows = table_rows(table_called(open_comparison(**state), "The methods in order"))
    assert [label for label, cells in rows.items() if "broken" in " ".join(cells)] == ["Modips (truncated)"]
    fair = table_rows(table_called(open_comparison(**state, terms="privacy"), "The methods in order"))
    assert not any("broken" in " ".join(cells) for cells in fair.values())
    assert float(fair["Modips (truncated)"][0]) < 0.5  # the ε that it is given
    errors = [float(cells[0]) for cells in rows.values()]
    assert errors == sorted(errors)


def test_draw_again_draws_with_the_next_seed() -> None:
    page = open_comparison(n=20, sets=3, look="One release", binary_methods=["original", "laplace"])
    first = table_called(page, "One release")
    page.button(key="cs_again").click().run()
    assert page.session_state["cs_seed"] == 2
    assert table_called(page, "One release") != first


@pytest.mark.parametrize(
    ("terms", "methods", "said"),
    [
        (
            {"delta": 0.0},
            ["perturbed_histogram_scott"],
            "Perturbed histogram, Scott's bins, as printed (no ε is known that holds)",
        ),
        (
            {"delta": 1e-4},
            ["smoothed_histogram"],
            "Smoothed histogram, public bins (only the loss without δ is known: set δ = 0)",
        ),
    ],
    ids=["no ε", "no δ"],
)
def test_a_method_that_cannot_be_compared_is_named_with_the_reason(
    terms: dict[str, float], methods: list[str], said: str
) -> None:
    """At δ > 0 none is left: the sentence says so in place of a method."""
    given = ["modips_split", *methods]
    page = open_comparison(
        n=9, sets=2, repetitions=60, kind="gaussian", terms="privacy", gaussian_methods=given, **terms
    )
    assert not problems(page)
    assert said in text(page)
    assert marks(page) == (["no method"] if terms["delta"] else ["Model-based (modips), split, BIT"])


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    page = open_comparison(n=12, sets=2, terms="privacy", delta=1e-4, binary_methods=["modips", "beta_binomial"])
    assert not problems(page)
    assert "Not in this comparison" not in text(page)


def compared(epsilons: list[float]) -> tuple[Compared, Asked]:
    given = asked()
    *_, last = stream_comparison(given.data, given.methods, epsilons, given.analysis, given.terms)
    return last, given


def test_the_file_has_every_measure_of_every_outcome() -> None:
    last, _ = compared([0.5, 2.0])
    rows = list(csv.DictReader(io.StringIO(comparison_csv(last))))
    assert len(rows) == len(last.outcomes)
    for row in rows:
        outcome = last.outcomes[row["method"], float(row["epsilon"])]
        for name in MEASURES:
            assert float(row[name]) == getattr(outcome, name).value


def test_the_script_prints_the_numbers_of_the_table() -> None:
    last, given = compared([2.0])
    lines = run_script(comparison_script(given.data, given.methods, [2.0], given.analysis, given.terms)).splitlines()
    assert len(lines) == len(last.outcomes)
    for outcome in last.outcomes.values():
        (line,) = [one for one in lines if one.startswith(outcome.method.label)]
        assert repr(outcome.root_mean_squared_error.value) in line
        assert repr(outcome.coverage.value) in line


def test_exact_is_a_line_and_simulated_are_dots_with_error_bars() -> None:
    x = np.array([0.1, 1.0, 10.0])
    mixed = Series(
        key="laplace", name="a", x=x, y=x / 20, error=np.array([0.0, 0.01, 0.0]), exact=np.array([True, False, True])
    )
    panel = Panel(title="y", share=True, nominal=0.95, words="promised: 95 %")
    figure = comparison_chart([mixed], panel, axis="ε", chosen=1.0, span=(0.1, 10.0), key="k")
    line, dots = figure.data
    assert (line.mode, list(line.x)) == ("lines", [0.1, 10.0])
    assert (dots.mode, list(dots.x)) == ("markers", [1.0])
    assert dots.error_y.array[0] == pytest.approx(0.0196)
    assert {shape.y0 for shape in figure.layout.shapes} == {0, 0.95}


def test_a_logarithmic_axis_ends_where_nothing_can_be_seen_any_more() -> None:
    x = np.array([1.0, 10.0])
    one = Series(key="a", name="a", x=x, y=np.array([1.0, 1e-30]), error=0 * x, exact=x > 0)
    figure = comparison_chart([one], Panel(title="y", log=True), axis="ε", chosen=1.0, span=(1.0, 10.0), key="k")
    assert figure.layout.yaxis.range[0] > math.log10(SMALLEST) - 1


def test_a_release_picture_needs_no_more_than_one_method() -> None:
    assert not release_chart([], original=0.5, truth=0.5, title="p").data


def test_the_first_rows_of_lius_table_are_there_at_once_with_the_printed_cells_and_ours() -> None:
    page = open_comparison(n=8, sets=1, binary_methods=["laplace"], look="As published")
    rows = table_rows(table_called(page, "Coverage of yes-or-no data, printed and ours"))
    first = rows["ε = 100, n = 100, p = 0.5".replace(" = ", NARROW)]
    records = compare_row(PRINTED_TABLE.rows[0], FITTING)
    assert first == [
        "".join([f"{one.printed:.3f}", f"{one.ours:.3f}", f"z = {readable(round(one.z, 1), 2)}"]) for one in records
    ]
    assert "ε = 0.5, n = 10".replace(" = ", NARROW) in table_rows(
        table_called(page, "Coverage of normal data, printed and ours")
    )


def test_the_parts_of_the_variance_are_shown_for_proportions_and_a_sentence_for_numbers() -> None:
    page = open_comparison(n=20, sets=4, epsilon=2.0, look="Where the variance comes from")
    rows = table_rows(table_called(page, "Parts of the variance"))
    for place, each in enumerate((1, 10)):
        parts = estimate_variances(BinaryData(n=20, p=0.25), 2.0, 4, each)
        share = percent(parts.sanitization / parts.total, 3)
        assert rows["the noise on the counts (b₁)"][place] == f"{readable(parts.sanitization, 3)} {share}"
        assert rows["together"][place] == f"{readable(parts.total, 3)} 100 %"
    assert f"the noise makes up {share} of the variance" in text(page)
    page = open_comparison(kind="gaussian", n=20, look="Where the variance comes from", repetitions=50)
    assert "Choose that kind of data" in text(page)


def test_every_kind_shows_some_methods_at_first() -> None:
    assert usual(BinaryData) == list(BinaryData.usual)
    for kind in KINDS.values():
        assert 0 < len(usual(kind)) <= len(kind.methods)


def test_cells_that_come_out_empty_are_told_and_no_number_is_made_up() -> None:
    """The smallest of 24 cells with n = 20 rows: what can be analyzed is rare, and the sentence says how rare."""
    data = MixedData(n=20, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand="cell_mean")
    for sets in (1, 10):
        analysis, methods = Analysis(sets=sets, repetitions=60), data.methods
        given = dataclasses.replace(FRESH, data=data, methods=methods, analysis=analysis)
        found = first_outcomes(given)
        mark, sentence, _ = answer_sentence(given, found, None)
        known = [one for one in found if not one.method.reference and one.usable_share.value > 0]
        assert (mark == "no estimate") == (not known)
        assert ("of its releases can be analyzed" in sentence) == bool(known)
    page = open_comparison(
        kind="mixed", n=20, sets=10, cells=24, mixed_estimand="cell_mean", repetitions=40, look="One release", seed=3
    )
    assert not problems(page)
    assert "nan" not in text(page)


def test_one_release_of_mixed_data_shows_the_rows_behind_its_estimates_and_draws_them_again() -> None:
    page = open_comparison(kind="mixed", look="One release", n=30, cells=3, sets=2, repetitions=40)
    drawn = {key: one for key, one in figures(page).items() if key.startswith("cs_rows_")}
    shown = [one for one in MixedData.methods if one.key in usual(MixedData)]
    assert len(drawn) == len(shown)
    first = drawn["cs_rows_0"]["figure"]["data"][0]["y"].tolist()
    assert "<b>Confidential data</b>" in "".join(html(page))
    page.button(key="cs_again").click().run()
    assert figures(page)["cs_rows_0"]["figure"]["data"][0]["y"].tolist() != first
