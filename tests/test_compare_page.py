"""The page "Compare synthesizers": its sentence, table, pictures and files say what the comparison computes."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from typing import Any

import numpy as np
import pytest

from dpviz.charts.comparison import SMALLEST_SHOWN_SHARE, Series, comparison_chart, release_chart
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark
from dpviz.charts.outcomes import LIMIT_NAMES, comparison_picture
from dpviz.claims.liu import LIU_BINARY
from dpviz.comparisons import (
    DATA_KINDS,
    Analysis,
    BinaryData,
    EqualPrivacy,
    EqualPromise,
    MixedData,
    UnknownVariance,
)
from dpviz.comparisons.base import OUTCOME_MEASURES
from dpviz.comparisons.comparison import LIMITED, Compared, Comparison, stream_comparison, stream_ranking
from dpviz.comparisons.nested_modips import estimate_variances
from dpviz.comparisons.ranking import Ranking, really, times_with
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.core.plain import short_names
from dpviz.core.wording import error_text, percent
from dpviz.desk.exports.comparison import comparison_csv, comparison_script
from dpviz.privacy.real_loss import Loss
from pages.compare_synthesizers.answer import found_so_far
from pages.compare_synthesizers.controls import CONTROLS, Asked
from tests.calm_server import FEW
from tests.pages import (
    check_short,
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
    whole,
)
from tests.pairs import pairwise

FRESH = CONTROLS.first()
UNRANKED = {"Original data", "Multiple synthesis, no promise", "Modips (truncated)"}
"""Of the fresh page, at equal promises: what promises nothing, and what breaks its promise."""


def changed(given: Asked, **question: Any) -> Asked:
    """What is asked with something else in the question."""
    return dataclasses.replace(given, question=dataclasses.replace(given.question, **question))


def asked(terms: Any = None, epsilon: float = 1.0, **data: Any) -> Asked:
    made = BinaryData(**{"n": 30, "p": 0.25, **data})
    given = changed(FRESH, data=made, terms=terms or EqualPromise(), analysis=Analysis(sets=3), epsilon=epsilon)
    return dataclasses.replace(
        given, design=dataclasses.replace(FRESH.design, epsilon=epsilon, n=data.get("n", 30), m=data.get("n", 30))
    )


def said(ranking: Ranking) -> tuple[str, str, str]:
    """The mark, all that the page says of it, and the short sentence, which is one."""
    mark, sentence, short = ranking.answer
    check_short(short)
    return mark, f"{sentence} {ranking.further}", short


@pytest.mark.parametrize(
    ("terms", "epsilon", "p"),
    pairwise([EqualPromise(), EqualPrivacy(), EqualPrivacy(1e-3)], [1e-3, 0.3, 1.0, 30.0], [0.0, 0.15, 0.5]),
)
def test_the_sentence_names_the_smallest_error_and_its_price(terms: Any, epsilon: float, p: float) -> None:
    given = asked(terms, epsilon, p=p)
    found = found_so_far(given).outcomes
    least = given.question.data.least_error(epsilon, terms.delta)
    mark, sentence, brief = said(Ranking(given.question, found, least))
    promising = [one for one in found if not one.method.reference]
    best = min(promising, key=lambda one: one.root_mean_squared_error.value)
    assert best.method.label in mark
    error = error_text(best.root_mean_squared_error)
    assert f"<b>{error}</b>" in sentence
    assert error in brief
    assert f"{'real' if terms.asks else 'promised'} ε = {readable(epsilon, 4)}" in sentence
    assert least is not None
    low, high = (best.release_error.value / end for end in (least.root_mean_squared_error, least.lower_bound))
    told = re.search(rf"the error added by {re.escape(best.method.label)} is <b>([^<]*)</b> that of the best", sentence)
    assert told
    prices = [float(one.replace(",", "")) for one in re.findall(r"[0-9][0-9.,]*", told[1])] or [1.0]
    prices = [1 + one / 100 for one in prices] if "%" in told[1] else prices
    prices = [1.0, *prices] if "at most" in told[1] else prices
    assert prices[-1] == pytest.approx(high, rel=0.01)
    assert prices[0] == pytest.approx(low, rel=0.01)
    assert low >= 1 - 1e-9


def test_with_delta_the_price_comes_when_its_search_has_ended() -> None:
    page = open_comparison(n=20, sets=1, terms="privacy", delta=1e-3, binary_methods=["laplace", "modips"])
    waits = page.session_state["cs_ranking"].stream is not None
    assert ("that of the best possible mechanism" in text(page)) != waits
    whole = grown(page, "cs_ranking").run()
    price = table_rows(table_called(whole, "The methods in order"))["Laplace sanitizer"][-1]
    assert price.startswith("1.09")
    assert "is 9 % larger than that of the best possible mechanism with ε = 1 and δ = 0.001" in text(whole)


@pytest.mark.parametrize("terms", [EqualPromise(), EqualPrivacy()], ids=repr)
@pytest.mark.parametrize("key", ["modips", "modips_truncated", "laplace"])
def test_the_sentence_tells_a_broken_promise_and_how_much_is_given_away(terms: Any, key: str) -> None:
    given = changed(asked(terms, 0.5), methods=(BinaryData.method(key),))
    (found,) = found_so_far(given).outcomes
    _, sentence, _ = said(Ranking(given.question, [found]))
    assert ("breaks its promise" in sentence) == (key == "modips_truncated" and terms == EqualPromise())
    if "breaks" in sentence:
        assert found.real_epsilon > 1.2 * 0.5  # type: ignore[operator]
        assert f"it really gives away ε = {readable(found.real_epsilon, 3)}." in sentence  # type: ignore[arg-type]


def told(data: Any, methods: Any, epsilon: float, repetitions: int) -> tuple[Ranking, str, str]:
    """What a comparison of methods at one ε ends with, the mark and the sentence."""
    analysis = Analysis(repetitions=repetitions)
    question = changed(FRESH, data=data, methods=tuple(methods), analysis=analysis, epsilon=epsilon).question
    *_, last = question.rank()
    ranking = Ranking(question, [*last.outcomes.values()])
    mark, sentence, _ = said(ranking)
    return ranking, mark, sentence


def test_a_method_that_is_private_at_no_epsilon_is_shown_and_does_not_win() -> None:
    """n = 40, ε = 0.1, all methods: the histograms with Scott's bins have errors about as small as the winner's."""
    data = UnknownVariance(n=40, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    keys = (
        "smoothed_histogram", "smoothed_histogram_scott", "perturbed_histogram_scott", "sanitize_bootstrap",
        "modips_split_truncated",
    )  # fmt: skip
    ranking, mark, sentence = told(data, map(data.method, keys), 0.1, 1000)
    assert mark == "Smoothed histogram, public bins"
    assert "<b>Smoothed histogram, public bins</b> has the smallest error" in sentence
    assert "typically off by <b>0.587</b>" in sentence
    order = ranking.in_order
    assert order[0].method.key == "smoothed_histogram"
    reasons = {one.method.key: ranking.unfit(one) for one in order}
    assert reasons["perturbed_histogram_scott"] == "no ε is known to hold for it"
    assert reasons["smoothed_histogram_scott"] == "it breaks its promise"
    assert reasons["modips_split_truncated"] == "it breaks its promise"
    fit = [not ranking.unfit(one) for one in order]
    assert fit == sorted(fit, reverse=True)
    better = next(one for one in order if one.method.key == "perturbed_histogram_scott")
    better = dataclasses.replace(better, root_mean_squared_error=Measure(0.2, 0.001))
    _, sentence, _ = said(Ranking(ranking.asked, [*order, better]))
    assert (
        "Scott's bins, as printed is off by about 0.2, but it is not private: no ε is known to hold for it." in sentence
    )


def test_where_no_promise_is_kept_nobody_wins() -> None:
    data = UnknownVariance(n=40, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    _, mark, sentence = told(data, [data.method("perturbed_histogram_scott")], 0.1, 100)
    assert mark == "none ranked"
    assert sentence.startswith(
        "None of the methods chosen is known to keep a promise of ε = 0.1, so that none is ranked."
    )


def test_one_usable_repetition_of_600_is_not_exact_and_does_not_win() -> None:
    """Categories and numbers, n = 200, ε = 0.01: a release of ten sets that all have rows in the smallest cell."""
    data = MixedData(n=200, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand="cell_mean")
    ranking, mark, sentence = told(
        data, [data.method("perturbed_cells"), data.method("perturbed_cells_safe")], 0.01, 600
    )
    printed = next(one for one in ranking.outcomes if one.method.key == "perturbed_cells")
    assert printed.repetitions == 1
    assert math.isnan(printed.root_mean_squared_error.error)
    assert math.isnan(printed.ranked_error.value)
    assert mark == "no estimate"
    assert "as printed (1 usable repetition)" in sentence
    head, rows = ranking.table
    (row,) = [one for one in rows if printed.method.label in one[0]]
    assert row[head.index("error")].startswith("–")
    assert not ranking.contenders


def test_a_promise_that_holds_without_an_estimate_is_not_called_one_that_is_not_kept() -> None:
    """A correlation at n = 200, ε = 0.01: noisy sums keep the promise and give no estimate, and the others break it."""
    data = MixedData(n=200, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand="correlation")
    ranking, mark, sentence = told(data, [data.method("modips_sums"), data.method("perturbed_cells")], 0.01, 40)
    repetitions = {one.method.key: one.repetitions for one in ranking.outcomes}
    assert repetitions == {"modips_sums": 0, "perturbed_cells": 40}
    assert mark == "no estimate"
    assert sentence.startswith("In the repetitions so far, no method whose promise holds gave an estimate from all of ")
    assert "as printed is off by about 0.52, but it <b>breaks its promise</b>" in sentence
    assert "None of the methods chosen is known" not in sentence


def test_what_a_simulation_cannot_tell_apart_is_not_one_winner() -> None:
    """A share of the smallest cell, n = 200, ε = 0.01: .0410 ± .0010 against .0411 ± .0011."""
    data = MixedData(n=200, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand="share")
    ranking, mark, sentence = told(data, [data.method("modips_sums"), data.method("perturbed_cells_safe")], 0.01, 200)
    one, other = (outcome.ranked_error for outcome in ranking.outcomes)
    assert abs(one.value - other.value) < 2 * (one - other).error
    assert " or " in mark
    assert "The simulation cannot tell it from" in sentence


@pytest.mark.parametrize("seed", [1])
def test_sentence_and_table_name_the_same_winner(seed: int) -> None:
    """n = 100, ε = 1, −3 to 4: the first repetitions have another winner than all of them."""
    page = open_comparison(
        kind="gaussian", n=100, low=-3.0, high=4.0, sets=10, epsilon=1.0, repetitions=1500, seed=seed
    )
    for shown in (page, grown(page, "cs_ranking").run()):
        first = next(iter(table_rows(table_called(shown, "The methods in order"))))
        assert f"<b>{first}</b> has the smallest error" in "".join(html(shown)) or f"<b>{first} and" in "".join(
            html(shown)
        )
    assert first == "Perturbed histogram, twice the noise"


def test_what_is_really_given_away_never_reads_as_what_is_promised() -> None:
    for promised in (float(f"{one:.4g}") for one in np.geomspace(1e-3, 1e3, 61)):
        for factor in (2, 1.01, 1.001, 1 + 1e-4, 1 + 2e-6):
            words = really(Loss.exactly(promised * factor), promised)
            real = words.removeprefix("it really gives away ε = ")
            assert real != readable(promised, 4)
            assert float(real.replace(",", "")) == pytest.approx(promised * factor, rel=5.1e-3)
            assert float(real.replace(",", "")) > promised


def test_a_constant_is_as_good_where_it_is_the_truth_and_the_price_says_what_it_costs() -> None:
    """At p = ½ a prior that draws every estimate to ½ has the smallest error, and its price is told all the same."""
    given = asked(epsilon=0.01, p=0.5, n=100)
    mark, sentence, _ = said(found_so_far(given))
    assert mark == "Beta-binomial (posterior draw)"
    assert "is <b>3.8 % larger than</b> that of the best possible mechanism" in sentence


def test_the_release_with_the_smallest_error_leads_on() -> None:
    given = asked(epsilon=2.0)
    design = found_so_far(given).lead(given.design)
    assert design is not None
    assert (design.mechanism, design.sets, design.epsilon) == ("geometric", 1, 2.0)


def test_releases_that_other_pages_do_not_know_lead_nowhere() -> None:
    data = UnknownVariance(n=9, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    quick = Analysis(sets=2, repetitions=60)
    given = changed(FRESH, data=data, methods=(data.method("modips_split"),), analysis=quick)
    assert found_so_far(given).lead(given.design) is None


def test_the_table_marks_a_broken_promise_and_at_equal_real_privacy_none() -> None:
    state = {"n": 20, "sets": 3, "epsilon": 0.5}
    rows = table_rows(table_called(open_comparison(**state), "The methods in order"))
    assert [label for label, cells in rows.items() if "broken" in " ".join(cells)] == ["Modips (truncated)"]
    fair = table_rows(table_called(open_comparison(**state, terms="privacy"), "The methods in order"))
    assert not any("broken" in " ".join(cells) for cells in fair.values())
    assert float(fair["Modips (truncated)"][0]) < 0.5  # the ε that it is given
    errors = [float(cells[0]) for label, cells in rows.items() if label not in UNRANKED]
    assert errors == sorted(errors)
    assert list(rows)[len(errors) :] == sorted(UNRANKED & set(rows), key=lambda label: float(rows[label][0]))
    assert {label for label, cells in rows.items() if cells[-1] == "–"} == UNRANKED & set(rows)  # times the best


def test_draw_again_draws_with_the_next_seed() -> None:
    page = open_comparison(n=20, sets=3, look="One release", binary_methods=["original", "laplace"])
    first = table_called(page, "One release")
    page.button(key="cs_again").click().run()
    assert page.session_state["cs_seed"] == 2
    assert table_called(page, "One release") != first


@pytest.mark.parametrize(
    ("terms", "methods", "reason"),
    [
        (
            {"delta": 0.0},
            ["perturbed_histogram_scott"],
            "Perturbed histogram, Scott's bins, as printed (no ε is known to hold for it)",
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
    terms: dict[str, float], methods: list[str], reason: str
) -> None:
    """At δ > 0 none is left: the sentence says so in place of a method."""
    given = ["modips_split", *methods]
    page = open_comparison(
        n=9, sets=2, repetitions=60, kind="gaussian", terms="privacy", gaussian_methods=given, **terms
    )
    assert not problems(page)
    assert reason in text(page)
    assert marks(page) == (["no method"] if terms["delta"] else ["Model-based (modips), split, BIT"])


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    page = open_comparison(n=12, sets=2, terms="privacy", delta=1e-4, binary_methods=["modips", "beta_binomial"])
    assert not problems(page)
    assert "Not in this comparison" not in text(page)


def compared(epsilons: list[float]) -> tuple[Compared, Comparison]:
    given = asked().question
    *_, last = stream_comparison(given.data, given.methods, epsilons, given.analysis, given.terms)
    return last, given


def test_the_file_has_every_measure_of_every_outcome() -> None:
    last, _ = compared([0.5, 2.0])
    rows = list(csv.DictReader(io.StringIO(comparison_csv(last))))
    assert len(rows) == len(last.outcomes)
    for row in rows:
        outcome = last.outcomes[row["method"], float(row["epsilon"])]
        for name in OUTCOME_MEASURES:
            assert float(row[name]) == getattr(outcome, name).value
        for name in LIMITED:
            assert float(row[f"smallest_{name}"]) == last.limits(name)[outcome.epsilon]


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
    panel = DrawnScale(title="y", percent=True, nominal=0.95)
    figure = comparison_chart([mixed], panel, axis="ε", chosen=1.0, span=(0.1, 10.0), key="k")
    line, dots = figure.data
    assert (line.mode, list(line.x)) == ("lines", [0.1, 10.0])
    assert (dots.mode, list(dots.x)) == ("markers", [1.0])
    assert dots.error_y.array[0] == pytest.approx(0.0196)
    assert {shape.y0 for shape in figure.layout.shapes} == {0, 0.95}


@pytest.mark.parametrize("kind", DATA_KINDS.values(), ids=list(DATA_KINDS))
def test_names_at_the_ends_of_lines_are_short_and_tell_the_methods_apart(kind: Any) -> None:
    labels = [one.label for one in kind.methods]
    for some in (labels, [one.label for one in kind.methods if one.key in kind.usual_keys()], labels[:2], labels[2:5]):
        names = short_names(some)
        assert list(names) == some
        assert len({*names.values()}) == len(some)
        assert all(len(name) <= len(label) and label.startswith(name[:4]) for label, name in names.items())


@pytest.mark.parametrize("log", [True, False])
def test_the_number_of_the_best_method_stands_above_the_axis(log: bool) -> None:
    x, y = np.array([0.1, 10.0]), np.array([0.4, 0.01])
    line = Series(key="laplace", name="laplace", short="lap", x=x, y=y, error=0 * x, exact=x > 0)
    best, scale = Mark(x=10.0, y=0.01, color="laplace", text="0.01"), DrawnScale(title="error", log=log)
    low, high = comparison_chart(
        [line], scale, axis="ε", chosen=1.0, span=(0.1, 10.0), key="k", mark=best
    ).layout.yaxis.range
    assert (np.log10(best.y) if log else best.y) - low > 0.09 * (high - low)


def test_a_large_picture_names_its_lines_at_their_ends_and_what_no_mechanism_reaches_and_a_small_one_does_not() -> None:
    x = np.array([0.1, 10.0])
    lines = [
        Series(key=key, name=key, short=key[:3], x=x, y=y, error=0 * x, exact=x > 0)
        for key, y in (("laplace", np.array([0.3, 0.1])), ("geometric", np.array([0.2, 0.001])))
    ]
    asked_for: dict[str, Any] = {"axis": "ε", "chosen": 1.0, "told": "your ε", "span": (0.1, 10.0), "key": "k"}
    limit = DrawnLine(name="nothing is below", x=x, y=np.array([0.1, 0.0005]))
    large, small = (
        comparison_chart(lines, DrawnScale(title="error", log=True), limit=limit, small=one, **asked_for).to_dict()
        for one in (False, True)
    )
    places = {one["text"]: one["y"] for one in large["layout"]["annotations"]}
    ends = {text.rpartition("> ")[2]: y for text, y in places.items() if "━" in text}
    assert set(ends) == {"lap", "geo"} and ends["lap"] > ends["geo"]
    assert ends["lap"] == pytest.approx(-1) and {"error", "your ε", "nothing is below"} <= set(places)
    assert (large["layout"]["showlegend"], small["layout"]["showlegend"]) == (True, False)
    assert [one["text"] for one in small["layout"]["annotations"]] == ["error"]


def test_one_picture_is_drawn_and_the_others_when_they_are_asked_for() -> None:
    state: dict[str, Any] = {"n": 8, "sets": 2, "binary_methods": ["laplace", "modips"]}
    page = open_comparison(**state)
    assert list(figures(page)) == ["cs_picture"] and figures(page)["cs_picture"]["alt"].startswith("Root mean squared")
    page.session_state["cs_measure"] = "release_error"
    page.session_state["cs_others"] = True
    shown = figures(page.run())
    assert shown["cs_picture"]["alt"].startswith("Error that each method adds")
    names = ["root_mean_squared_error", "bias", "coverage", "mean_width", "usable_share"]
    assert list(shown) == ["cs_picture", *(f"cs_small_{name}" for name in names)]
    assert "no mechanism can go below this" in str(shown["cs_picture"]["figure"]["layout"]["annotations"])
    numbers = open_comparison(kind="gaussian", n=8, sets=2, repetitions=40, measure="release_error")
    assert figures(numbers)["cs_picture"]["alt"].startswith("Root mean squared")  # of numbers it is not known


@pytest.mark.parametrize(("kind", "delta"), [("binary", 0.0), ("binary", 1e-3), ("gaussian", 0.0)])
def test_what_is_ranked_begins_with_all_methods_and_ends_with_all_that_is_known(kind: str, delta: float) -> None:
    data = BinaryData(n=9, p=0.3) if kind == "binary" else UnknownVariance(n=9, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    methods = [data.method(key) for key in DATA_KINDS[kind].usual_keys()[:4]]
    analysis, terms = Analysis(sets=2, repetitions=40), EqualPrivacy(delta) if delta else EqualPromise()
    every = list(stream_ranking(data, methods, 1.0, analysis, terms))
    first, last = every[0], every[-1]
    *_, whole = stream_comparison(data, methods, [1.0], analysis, terms)
    assert set(first.outcomes) == set(last.outcomes) == set(whole.outcomes)
    assert {key: repr(one) for key, one in last.outcomes.items()} == {
        key: repr(one) for key, one in whole.outcomes.items()
    }
    assert last.smallest_errors == whole.smallest_errors


def test_what_no_picture_shows_is_not_computed() -> None:
    """Neither intervals of exact methods nor the smallest errors; all else is as it is with them."""
    data = BinaryData(n=9, p=0.3)
    methods = tuple(data.method(key) for key in ("original", "beta_binomial", "nested_modips"))
    given = changed(FRESH, data=data, methods=methods, analysis=Analysis(sets=2, repetitions=40)).question
    *_, some = given.stream(intervals=False, limits=())
    *_, every = given.stream()
    assert not some.smallest_errors
    assert not some.shortest_lengths
    assert len(every.smallest_errors) == len(every.shortest_lengths) == len(given.epsilons)
    bare = {"coverage": Measure.unknown(), "mean_width": Measure.unknown()}
    assert {key: repr(one) for key, one in some.outcomes.items()} == {
        key: repr(dataclasses.replace(one, **bare)) for key, one in every.outcomes.items()
    }


@pytest.mark.parametrize("measure", ["root_mean_squared_error", "mean_width"])
def test_the_intervals_of_a_picture_are_counted_where_it_shows_them(measure: str) -> None:
    page = whole(open_comparison(n=8, sets=2, measure=measure, binary_methods=["original", "geometric"]), "cs_curves")
    said = "Coverage and width are known at 32 of 32 points so far." in text(page.run())
    assert said == (measure == "mean_width")


LIMIT_WORDS = {
    "root_mean_squared_error": "who always answers with the same number makes no error where that happens to be",
    "release_error": "No mechanism with this promise, known or still to be found, adds so little error",
    "bias": "a count with noise around 0 is right on average",
    "coverage": "an interval from 0 to 100 % always holds the truth",
    "mean_width": "An interval that holds every true share with probability 90 % or more cannot be shorter on average",
    "usable_share": "who never releases a table of zeros alone or of ones alone",
}


@pytest.mark.parametrize("measure", LIMIT_WORDS)
def test_the_picture_shows_the_limit_of_all_mechanisms_or_says_why_there_is_none(measure: str) -> None:
    state: dict[str, Any] = {"measure": measure, "others": True, "level": 0.9, "n": 8, "sets": 1}
    page = whole(open_comparison(binary_methods=["original", "geometric"], **state), "cs_curves").run()
    assert not problems(page)
    said = text(page)
    assert [one for one, words in LIMIT_WORDS.items() if words in said] == [measure]
    drawn = {one: "cs_picture" if one == measure else f"cs_small_{one}" for one in LIMITED}
    for key, one in figures(page).items():
        named = [measure for measure, name in LIMIT_NAMES.items() if name in str(one["figure"])]
        assert named == [measure for measure, picture in drawn.items() if picture == key]
    assert "and the shortest possible," in figures(page)[drawn["mean_width"]]["alt"]


def test_of_numbers_no_limit_is_drawn_and_nothing_is_said_of_one() -> None:
    state: dict[str, Any] = {"kind": "gaussian_known_variance", "n": 8, "sets": 2, "repetitions": 40, "others": True}
    for measure in ("mean_width", "bias"):
        page = whole(open_comparison(measure=measure, **state), "cs_curves").run()
        assert "limit is drawn" not in text(page)
        assert "grey area" not in text(page)
        assert "grey line" not in text(page)
        assert "no mechanism" not in str(figures(page))


def test_of_numbers_what_is_known_exactly_is_a_line_and_the_rest_are_dots() -> None:
    """The error of a mean is that of an integral, also where coverage is simulated; the same with few repetitions."""
    data = DATA_KINDS["gaussian_known_variance"].fresh()
    given = changed(FRESH, data=data, methods=(data.method("modips"),), analysis=Analysis(sets=2, repetitions=40))
    *_, found = given.question.stream()
    drawn = {
        name: comparison_picture(given.question, found, found_so_far(given), name).data[0]["mode"]
        for name in ("root_mean_squared_error", "bias", "coverage", "mean_width", "usable_share")
    }
    assert list(drawn.values()) == ["lines", "lines", "markers", "markers", "markers"]


def test_a_logarithmic_axis_ends_where_nothing_can_be_seen_any_more() -> None:
    x = np.array([1.0, 10.0])
    one = Series(key="a", name="a", x=x, y=np.array([1.0, 1e-30]), error=0 * x, exact=x > 0)
    figure = comparison_chart([one], DrawnScale(title="y", log=True), axis="ε", chosen=1.0, span=(1.0, 10.0), key="k")
    assert figure.layout.yaxis.range[0] > math.log10(SMALLEST_SHOWN_SHARE) - 1


def test_a_release_picture_needs_no_more_than_one_method() -> None:
    assert not release_chart([], original=0.5, truth=0.5, title="p").to_dict()["data"]


def test_the_first_rows_of_lius_table_are_there_at_once_with_the_printed_cells_and_ours() -> None:
    page = open_comparison(n=8, sets=1, binary_methods=["laplace"], look="As published")
    rows = table_rows(table_called(page, "Coverage of yes-or-no data, printed and ours"))
    first = rows["ε = 100, n = 100, p = 0.5"]
    records = LIU_BINARY.compare_row(LIU_BINARY.printed.rows[0], LIU_BINARY.fitting, FEW)
    assert first == [
        "".join([f"{one.printed:.3f}", f"{one.ours:.3f}", f"z = {readable(round(one.z, 1), 2)}"]) for one in records
    ]
    assert "ε = 0.5, n = 10" in table_rows(table_called(page, "Coverage of normal data, printed and ours"))


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
    assert BinaryData.usual_keys() == list(BinaryData.usual)
    for kind in DATA_KINDS.values():
        assert 0 < len(kind.usual_keys()) <= len(kind.methods)


def test_cells_that_come_out_empty_are_told_and_no_number_is_made_up() -> None:
    """The smallest of 24 cells with n = 20 rows: what can be analyzed is rare, and the sentence says how rare."""
    data = MixedData(n=20, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand="cell_mean")
    for sets in (1, 10):
        analysis, methods = Analysis(sets=sets, repetitions=60), data.methods
        ranking = found_so_far(changed(FRESH, data=data, methods=methods, analysis=analysis))
        mark, sentence, _ = said(ranking)
        known = ranking.contenders
        assert (mark in ("no estimate", "none ranked")) == (not known)
        assert ("of the releases of" in sentence and "can be analyzed" in sentence) == bool(known)
    page = open_comparison(
        kind="mixed", n=20, sets=10, cells=24, mixed_estimand="cell_mean", repetitions=40, look="One release", seed=3
    )
    assert not problems(page)
    assert "nan" not in text(page)


def test_one_release_of_mixed_data_shows_the_rows_behind_its_estimates_and_draws_them_again() -> None:
    page = open_comparison(kind="mixed", look="One release", n=30, cells=3, sets=2, repetitions=40)
    drawn = {key: one for key, one in figures(page).items() if key.startswith("cs_rows_")}
    shown = [one for one in MixedData.methods if one.key in MixedData.usual_keys()]
    assert len(drawn) == len(shown)
    first = drawn["cs_rows_0"]["figure"]["data"][0]["y"].tolist()
    assert "<b>Confidential data</b>" in "".join(html(page))
    page.button(key="cs_again").click().run()
    assert figures(page)["cs_rows_0"]["figure"]["data"][0]["y"].tolist() != first


def test_what_a_method_releases_is_told_without_code_for_exponents() -> None:
    """The words stand on pages, in the registry entry and in the report: a raised letter reads alike in all of them."""
    assert "each further one is eᵋ times less likely" in BinaryData.method("geometric").releases
    assert not [
        one.key for kind in DATA_KINDS.values() for one in kind.methods if re.search(r"[\^_{}\\]", one.releases)
    ]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.0453784, "4.8 % more than"), (0.0286, "34 % less than"), (0.25, "5.77 times as much as"),
        (0.0100, "0.231 times as much as"), (0.04331, "no more than"),
    ],
)  # fmt: skip
def test_an_error_is_compared_with_that_of_the_original_data(error: float, words: str) -> None:
    assert times_with(error, 0.0433) == words
    assert times_with(error, 0.0) == "but not at all"
