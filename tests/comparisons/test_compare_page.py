"""A comparison: its sentence, table, pictures and files say what is computed."""

import csv
import dataclasses
import io
import math
import re
from typing import Any

import numpy as np
import pytest

from dpviz.charts.comparison import comparison_picture, release_chart
from dpviz.charts.lines import MEASURES
from dpviz.charts.theme import shorten_labels
from dpviz.comparisons import DATA_KINDS, Analysis, BinaryData, EqualPrivacy, EqualPromise, MixedData, UnknownVariance
from dpviz.comparisons.analysis import OUTCOME_MEASURES
from dpviz.comparisons.comparison import LIMITED_MEASURES, Comparison, Ranking, _compare_errors
from dpviz.core.formatting import format_error, format_number, format_percent
from dpviz.core.monte_carlo import Measure
from dpviz.export.tables import comparison_csv
from dpviz.export.templates import render
from tests.helpers import check_close, check_short, run_script, value_of
from tests.pages.apptest import plain_text
from tests.pairs import pairwise

PRINTED = (
    "original", "multiple_synthesis", "modips", "modips_truncated", "geometric", "laplace", "beta_binomial",
    "posterior_mean",
)  # fmt: skip
UNRANKED = {"Original data", "Multiple synthesis, no promise", "Modips (truncated)"}
"""Of a fresh comparison, at equal promises: what promises nothing, and what breaks its promise."""


def compare(data, methods=PRINTED, epsilon=1.0, terms=None, span=(0.01, 100.0), **analysis):
    """A comparison of these methods, or keys of methods."""
    chosen = tuple(data.method(one) if isinstance(one, str) else one for one in methods)
    return Comparison(data, chosen, Analysis(**analysis), terms or EqualPromise(), epsilon, span)


def asked(terms: Any = None, epsilon: float = 1.0, **data: Any) -> Comparison:
    """A small comparison, with other data, terms or ε."""
    return compare(BinaryData(**{"n": 30, "p": 0.25, **data}), PRINTED, epsilon, terms, sets=3)


def mixed(n: int, estimand: str) -> MixedData:
    return MixedData(n=n, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=24, correlation=0.5, estimand=estimand)


def complete_ranking(comparison: Comparison) -> Ranking:
    *_, last = comparison.rank()
    return Ranking.of(comparison, last)


def bold_rows(ranking: Ranking) -> dict[str, list[str]]:
    """Cells of the table without tags, by the label of the method."""
    rows = {}
    for name, *cells in ranking.table[1]:
        (label,) = re.findall(r"^<b>([^<]*)</b>", name)
        rows[label] = [" ".join(plain_text(cell).split()) for cell in cells]
    return rows


def said(ranking: Ranking) -> tuple[str, str, str]:
    """The mark, all that the page says of it, and the short sentence, which is one."""
    mark, sentence, short = ranking.answer
    check_short(short)
    return mark, sentence, short


@pytest.mark.parametrize(
    ("terms", "epsilon", "p"),
    pairwise([EqualPromise(), EqualPrivacy(), EqualPrivacy(1e-3)], [1e-3, 0.3, 1.0, 30.0], [0.0, 0.15, 0.5]),
)
def test_the_sentence_names_the_smallest_error_and_its_price(terms, epsilon, p):
    given = asked(terms, epsilon, p=p)
    found = complete_ranking(given).outcomes
    least: Any = given.data.least_error(epsilon, terms.delta)
    mark, sentence, brief = said(Ranking(given, found, least))
    promising = [one for one in found if not one.method.reference]
    best = min(promising, key=lambda one: one.root_mean_squared_error.value)
    assert best.method.label in mark
    error = format_error(best.root_mean_squared_error, of_share=True)
    assert f"<b>{error}</b>" in sentence
    assert error in brief
    original = next(one for one in found if one.method.key == "original")
    ratio = _compare_errors(best.root_mean_squared_error.value, original.root_mean_squared_error.value)
    assert ratio in sentence
    assert f"{'real' if terms.parameter_names else 'promised'} ε = {format_number(epsilon, 4)}" in sentence
    low, high = (best.release_error.value / end for end in (least.root_mean_squared_error, least.lower_bound))
    told = re.search(rf"the error added by {re.escape(best.method.label)} is <b>([^<]*)</b> that of the best", sentence)
    assert told
    prices = [float(one.replace(",", "")) for one in re.findall(r"[0-9][0-9.,]*", told[1])] or [1.0]
    prices = [1 + one / 100 for one in prices] if "%" in told[1] else prices
    prices = [1.0, *prices] if "at most" in told[1] else prices
    assert prices[-1] == pytest.approx(high, rel=0.01)
    assert prices[0] == pytest.approx(low, rel=0.01)
    assert low >= 1 - 1e-9


def test_with_delta_the_price_comes_when_its_search_has_ended():
    comparison = compare(BinaryData(n=20, p=0.25), ("laplace", "modips"), 1.0, EqualPrivacy(1e-3), sets=1)
    first, *_ = comparison.rank()
    assert "that of the best possible mechanism" not in said(Ranking.of(comparison, first))[1]
    ranking = complete_ranking(comparison)
    assert bold_rows(ranking)["Laplace sanitizer"][-1].startswith("1.09")
    price = "is <b>9 % larger than</b> that of the best possible mechanism with ε = 1 and δ = 0.001"
    assert price in said(ranking)[1]


NUMBERS = UnknownVariance(n=40, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
BROKEN = "it breaks its promise"
# Data, keys of methods, ε, repetitions; the mark, and words of the sentence with labels in the order of the ranking;
# the reasons why methods are not ranked, and their usable repetitions
WINNERS: dict[str, Any] = {
    # The histograms with Scott's bins have errors about as small as the winner's
    "private at no ε": (
        NUMBERS,
        ["smoothed_histogram", "smoothed_histogram_scott", "perturbed_histogram_scott", "sanitize_bootstrap",
         "modips_split_truncated"],
        0.1, 1000, "Smoothed histogram, public bins",
        "<b>{0}</b> has the smallest error … typically off by <b>0.587</b>",
        {"perturbed_histogram_scott": "no ε is known to hold for it", "smoothed_histogram_scott": BROKEN,
         "modips_split_truncated": BROKEN}, {},
    ),
    "no promise kept": (
        NUMBERS, ["perturbed_histogram_scott"], 0.1, 100, "none ranked",
        "None of the methods chosen is known to keep a promise of ε = 0.1, so that none is ranked.", {}, {},
    ),
    # A release of ten sets that all have rows in the smallest cell is not exact
    "one usable repetition": (
        mixed(200, "cell_mean"), ["perturbed_cells", "perturbed_cells_safe"], 0.01, 1100, "no estimate", "", {},
        {"perturbed_cells_safe": 1},
    ),
    # Noisy sums keep the promise and give no estimate of a correlation, and the others break it
    "no estimate": (
        mixed(200, "correlation"), ["modips_sums", "perturbed_cells"], 0.01, 40, "no estimate",
        "In the repetitions so far, no method whose promise holds gave an estimate from all of ",
        {"perturbed_cells": BROKEN}, {"modips_sums": 0, "perturbed_cells": 40},
    ),
    # The smallest of 24 cells with 20 rows
    "cells that come out empty": (
        mixed(20, "cell_mean"), [one for one in MixedData.methods if not one.reference], 1.0, 60, "no estimate", "", {},
        {},
    ),
    # .0410 ± .0010 against .0411 ± .0011
    "not told apart": (
        mixed(200, "share"), ["modips_sums", "perturbed_cells_safe"], 0.01, 200, "{0} or {1}",
        "<b>{0} or {1}</b> has the smallest error", {}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "keys", "epsilon", "repetitions", "wanted", "words", "reasons", "usable"), WINNERS.values(), ids=WINNERS
)
def test_who_wins_and_who_is_not_ranked(data, keys, epsilon, repetitions, wanted, words, reasons, usable):
    ranking = complete_ranking(compare(data, keys, epsilon, repetitions=repetitions))
    mark, sentence, _ = said(ranking)
    labels = [outcome.method.label for outcome in ranking.in_order]
    assert mark == wanted.format(*labels)
    assert all(part.format(*labels) in sentence for part in words.split(" … "))
    found = {outcome.method.key: outcome for outcome in ranking.outcomes}
    assert reasons.items() <= {key: ranking.exclusion(outcome) for key, outcome in found.items()}.items()
    assert usable.items() <= {key: outcome.repetitions for key, outcome in found.items()}.items()

    # Who is ranked stands first, what has hardly an estimate has no error, and it is said how rare estimates are
    assert bool(ranking.contenders) == (mark not in ("no estimate", "none ranked"))
    is_excluded = [bool(ranking.exclusion(outcome)) for outcome in ranking.in_order if outcome.ranked_error.value >= 0]
    assert is_excluded == sorted(is_excluded)
    head, rows = ranking.table
    for outcome, row in zip(ranking.in_order, rows, strict=True):
        assert ranking.exclusion(outcome) in row[0]
        assert row[head.index("usable")].startswith(format_percent(outcome.usable_share.value, 4))
        if outcome.repetitions == 1:
            assert math.isnan(outcome.root_mean_squared_error.error) and math.isnan(outcome.ranked_error.value)
            assert row[head.index("error")] == "–<br><small>1 usable repetition</small>"


def test_a_method_that_is_private_at_no_epsilon_does_not_win_with_the_smallest_error():
    ranking = complete_ranking(compare(NUMBERS, WINNERS["private at no ε"][1], 0.1, repetitions=100))
    better = next(one for one in ranking.outcomes if one.method.key == "perturbed_histogram_scott")
    better = dataclasses.replace(better, root_mean_squared_error=Measure(0.2, 0.001))
    winners = Ranking(ranking.comparison, [*ranking.outcomes, better]).contenders
    assert winners[0].method.key == "smoothed_histogram"


def test_sentence_and_table_name_the_same_winner():
    """n = 100, ε = 1, −3 to 4: the first repetitions have another winner than all of them."""
    data = dataclasses.replace(NUMBERS, n=100)
    comparison = compare(data, UnknownVariance.usual_keys(), repetitions=1500)
    *_, last = comparison.rank()
    for found in (comparison.first(), last):
        ranking = Ranking.of(comparison, found)
        first = next(iter(bold_rows(ranking)))
        sentence = said(ranking)[1]
        assert f"<b>{first}</b> has the smallest error" in sentence or f"<b>{first} or" in sentence
    assert first == "Perturbed histogram, twice the noise"


def test_the_table_marks_a_broken_promise_and_at_equal_real_privacy_none():
    ranking = complete_ranking(asked(epsilon=0.5))
    rows = bold_rows(ranking)
    (broken,) = [label for label, cells in rows.items() if "broken" in " ".join(cells)]
    real = next(one.real_epsilon for one in ranking.outcomes if one.method.label == broken)
    assert broken == "Modips (truncated)" and real is not None and real > 1.2 * 0.5
    assert f"{format_number(real, 4)} broken" in rows[broken]
    fair = bold_rows(complete_ranking(asked(EqualPrivacy(), 0.5)))
    assert not any("broken" in " ".join(cells) for cells in fair.values())
    assert float(fair["Modips (truncated)"][0]) < 0.5  # the ε that it is given
    errors = [float(cells[0]) for label, cells in rows.items() if label not in UNRANKED]
    assert errors == sorted(errors)
    assert list(rows)[len(errors) :] == sorted(UNRANKED & set(rows), key=lambda label: float(rows[label][0]))
    assert {label for label, cells in rows.items() if cells[-1] == "–"} == UNRANKED & set(rows)  # times the best


def test_nothing_is_said_to_be_left_out_where_nothing_is():
    data = BinaryData(n=12, p=0.25)
    comparison = compare(data, ("modips", "beta_binomial"), 1.0, EqualPrivacy(1e-4), sets=2)
    assert not complete_ranking(comparison).absent


def test_the_file_has_every_measure_of_every_outcome():
    *_, last = asked().stream([0.5, 2.0])
    rows = list(csv.DictReader(io.StringIO(comparison_csv(last))))
    assert len(rows) == len(last.outcomes)
    for row in rows:
        outcome = last.outcomes[row["method"], float(row["epsilon"])]
        for name in OUTCOME_MEASURES:
            assert float(row[name]) == getattr(outcome, name).value
        for name in LIMITED_MEASURES:
            assert float(row[f"smallest_{name}"]) == last.limits(name)[outcome.epsilon]


def test_the_script_prints_the_numbers_of_the_table():
    comparison = asked(epsilon=2.0)
    *_, last = comparison.stream([2.0])
    lines = run_script(render("export/comparison_script.txt", comparison=comparison)).splitlines()
    assert len(lines) == len(last.outcomes)
    for outcome in last.outcomes.values():
        (line,) = [one for one in lines if one.startswith(outcome.method.label)]
        printed = [float(number) for number in line.removeprefix(outcome.method.label).split()[:6]]
        measures = (outcome.bias, outcome.root_mean_squared_error, outcome.coverage, outcome.mean_width)
        check_close(printed, [2.0, *(one.value for one in measures), outcome.usable_share.value])


@pytest.mark.parametrize("kind", DATA_KINDS.values(), ids=list(DATA_KINDS))
def test_names_at_the_ends_of_lines_are_short_and_tell_the_methods_apart(kind):
    labels = [one.label for one in kind.methods]
    for some in (labels, [one.label for one in kind.methods if one.key in kind.usual_keys()], labels[:2], labels[2:5]):
        names = shorten_labels(some)
        assert list(names) == some
        assert len({*names.values()}) == len(some)
        assert all(len(name) <= len(label) and label.startswith(name[:4]) for label, name in names.items())


@pytest.mark.parametrize(("data", "terms"), [
    (BinaryData(n=9, p=0.3), EqualPromise()),
    (BinaryData(n=9, p=0.3), EqualPrivacy(1e-3)),
    (UnknownVariance(n=9, mean=0.0, sigma=1.0, low=-4.0, high=4.0), EqualPromise()),
])  # fmt: skip
def test_what_is_ranked_begins_with_all_methods_and_ends_with_all_that_is_known(data, terms):
    comparison = compare(data, data.usual_keys()[:4], 1.0, terms, (0.1, 10.0), sets=2, repetitions=40)
    every = list(comparison.rank())
    first, last = every[0], every[-1]
    *_, whole = comparison.stream([1.0])
    assert set(first.outcomes) == set(last.outcomes) == set(whole.outcomes)
    check_close(last.outcomes, whole.outcomes)
    check_close(last.optima.get("release_error", {}), whole.optima.get("release_error", {}))


def test_what_no_picture_shows_is_not_computed():
    """Neither intervals of exact methods nor the smallest errors; all else is as it is with them."""
    given = compare(BinaryData(n=9, p=0.3), ("original", "beta_binomial", "nested_modips"), sets=2, repetitions=40)
    *_, some = given.stream(intervals=False, limits=())
    *_, every = given.stream()
    assert not some.optima
    assert {name: len(optima) for name, optima in every.optima.items()} == dict.fromkeys(
        LIMITED_MEASURES, len(given.epsilons)
    )
    bare = dict.fromkeys(("coverage", "mean_width", "usable_share"), Measure.unknown())
    here, there = (
        {key: dataclasses.replace(one, **bare) for key, one in found.outcomes.items()} for found in (some, every)
    )
    check_close(here, there)
    assert all(math.isnan(one.coverage.value) and math.isnan(one.mean_width.value) for one in some.outcomes.values())


MEAN = compare(DATA_KINDS["gaussian_known_variance"].default(), ["modips"], sets=2, repetitions=40)


@pytest.mark.parametrize("measure", OUTCOME_MEASURES)
def test_a_picture_has_the_limit_of_all_mechanisms_where_it_is_known(measure):
    binary = compare(BinaryData(n=8, p=0.25), ("original", "geometric"), sets=1, level=0.9)
    for comparison in (binary, dataclasses.replace(MEAN, span=(0.5, 2.0))):
        *_, found = comparison.stream()
        picture = str(comparison_picture(comparison, found, complete_ranking(comparison), measure).to_dict())
        named = [key for key, look in MEASURES["compared"].items() if look.get("limit", "no such") in picture]
        assert named == ([measure] if comparison is binary and measure in LIMITED_MEASURES else [])


def test_of_numbers_what_is_known_exactly_is_a_line_and_the_rest_are_dots():
    """The error of a mean is that of an integral, also where coverage is simulated; the same with few repetitions."""
    *_, found = MEAN.stream()
    ranking = complete_ranking(MEAN)
    drawn = [
        comparison_picture(MEAN, found, ranking, name).data[0]["mode"]
        for name in ("root_mean_squared_error", "bias", "coverage", "mean_width", "usable_share")
    ]
    assert drawn == ["lines", "lines", "markers", "markers", "markers"]


def test_a_release_picture_needs_no_more_than_one_method():
    assert not release_chart({}, original=0.5, truth=0.5, title="p").to_dict()["data"]


def test_what_a_method_releases_is_told_without_code_for_exponents():
    """The words stand on pages, in the registry entry and in the report: a raised letter reads alike in all of them."""
    assert "each further one is eᵋ times less likely" in BinaryData.method("geometric").releases
    assert not [
        one.key for kind in DATA_KINDS.values() for one in kind.methods if re.search(r"[\^_{}\\]", one.releases)
    ]


@pytest.mark.parametrize(("error", "words"), [
    (0.0453784, "4.8 % more than"), (0.0286, "34 % less than"), (0.25, "5.77 times as much as"),
    (0.0100, "0.231 times as much as"), (0.04331, "no more than"),
])  # fmt: skip
def test_an_error_is_compared_with_that_of_the_original_data(error, words):
    assert _compare_errors(error, 0.0433) == words
    assert _compare_errors(error, 0.0) == "but not at all"
    assert _compare_errors(0.0, 0.0) == _compare_errors(1e-13, 0.0) == "no more than"  # told as 0 points


def test_errors_of_a_share_stand_in_points_and_those_of_numbers_in_their_unit():
    ranking = complete_ranking(asked())
    columns = "error, points", "bias, points", "mean width, points", "added error, points"
    head, rows = ranking.table
    for outcome, row in zip(ranking.in_order, rows, strict=True):
        names = "root_mean_squared_error", "bias", "mean_width", "release_error"
        for column, name in zip(columns, names, strict=True):
            shown = value_of(plain_text(row[head.index(column)]).split("±")[0].strip())
            assert shown == pytest.approx(100 * outcome.measure(name).value, rel=1e-3, abs=1e-9)

    # The pictures: a line of every method, and the limit of all mechanisms
    comparison = dataclasses.replace(ranking.comparison, span=(0.5, 2.0))
    *_, compared = comparison.stream(intervals=False, limits=("release_error",))
    picture = comparison_picture(comparison, compared, ranking, "release_error")
    drawn = [set(np.round(np.asarray(trace.y, float), 9)) for trace in picture.data if trace.y is not None]
    for errors in (
        [outcome.release_error.value for outcome in compared.of(comparison.methods[-1])],
        [*compared.limits("release_error").values()],
    ):
        assert any(set(np.round(100 * np.array(errors), 9)) <= y for y in drawn)
    assert picture.layout.annotations[0].text == "error that the release adds, points"

    numbers = compare(DATA_KINDS["gaussian"].default(), ["modips_split"], sets=2, repetitions=40)
    assert "error" in complete_ranking(numbers).table[0]


@pytest.mark.parametrize(("changes", "words"), [
    ({"epsilon": math.nan}, r"epsilon \(promised privacy loss\) must be a number"),
    ({"span": (0.0, 1.0)}, r"span \(promised privacy loss\) must be a number .* got 0."),
    ({"span": (1.0, 1.0)}, "smallest ε in the pictures must be below the largest; got 1 and 1."),
    ({"methods": (DATA_KINDS["gaussian"].method("modips_split"),)}, "does not release data of the kind"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_a_sentence(changes, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(asked(), **changes)
