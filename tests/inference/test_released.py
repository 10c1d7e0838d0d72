"""What an analyst learns from a release: counts typed in or drawn, and posteriors held against independent sums."""

import math
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest

from dpviz.calibration.several_sets import PRIOR_RULES
from dpviz.charts.inference import densities_chart
from dpviz.core.formatting import format_number, format_percent
from dpviz.designs import Design, describe_promise
from dpviz.inference import report
from dpviz.inference.posterior import posterior_cells
from dpviz.inference.released import ReleasedCounts, read_counts, read_tables
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads import read_matrix
from pages.posterior import Question, _posterior_cells, question_of
from tests.helpers import decode_figure, match_in
from tests.mixtures import Law, referee, weights_of

CASES: list[dict[str, Any]] = [
    {"counts": (38,), "n": 100, "m": 100, "alpha": 15.0, "x": 30},
    {"counts": (43, 50, 41, 37, 45), "n": 100, "m": 100, "alpha": 203.3, "x": 30, "gamma1": 0.5, "gamma2": 2.0},
    {"counts": (3, 0, 9), "n": 17, "m": 9, "alpha": 0.37, "x": 5, "gamma1": 3.0, "level": 0.8},
    {"counts": (0,), "n": 12, "m": 30, "alpha": 2.0, "x": 0},
    {"counts": (1,) * 20, "n": 1, "m": 1, "alpha": 1.5, "x": 1},
    {"counts": (700, 650), "n": 1000, "m": 1000, "alpha": 80.0, "x": 750, "level": 0.99},
    {"counts": (38,), "n": 100, "m": 100, "alpha": 1e-12, "x": 30, "level": 0.5},
    {"counts": (38, 61), "n": 40, "m": 100, "alpha": 1e12, "x": 30, "gamma1": 2.0, "gamma2": 5.0},
    {"counts": (1197,), "n": 10_000, "m": 10_000, "alpha": 1565.0, "x": 30},
    {"counts": (4,), "n": 5, "m": 5, "alpha": 0.25, "x": 4, "gamma1": 0.5},
    {"counts": (0, 100), "n": 100, "m": 100, "alpha": 0.01, "x": 30},  # an x in the middle explains both sets best
]
TWO_MODES = {"counts": (0, 5, 0, 5), "n": 5, "m": 5, "alpha": 0.25, "x": 2, "gamma1": 0.6, "gamma2": 1.0}
LISTED = [CASES[place] for place in (0, 1, 2, 3, 6, 7, 9, 10)]
"""Those whose regions of highest density the referee finds on its grid."""

MATRIX = "n1, 0, 1, 2\n0, 0.5, 0.25, 0.25\n1, 0.25, 0.5, 0.25\n2, 0, 0.25, 0.75\n3, 0, 0, 1"
SMALL_DESIGNS = {key: Design(mechanism=key, n=9, epsilon=1.5) for key in two_cell_synthesizers()}
SMALL_DESIGNS[GivenMatrix.key] = Design(mechanism=read_matrix(MATRIX))


def design_of(case: dict[str, Any]) -> Design:
    """The design of a case with a prior of its own."""
    names = ("n", "m", "alpha", "gamma1", "gamma2", "level")
    values = {name: case[name] for name in names if name in case}
    return Design(
        mechanism="beta_binomial", prior="own", sets=len(case["counts"]), confidential_count=case["x"], **values
    )


def release_of(case: dict[str, Any]) -> ReleasedCounts:
    """The counts of a case as the page has them."""
    return question_of(design_of(case), " ".join(map(str, case["counts"]))).release


def laws_of(case: dict[str, Any]) -> dict[str, Law]:
    """The posteriors of a case by the referee."""
    gammas = case.get("gamma1", 1.0), case.get("gamma2", 1.0)
    return referee(case["counts"], case["n"], case["m"], case["alpha"], *gammas, case["x"])


def cells_of(release: ReleasedCounts) -> dict[str, list[str]]:
    """Mean, standard deviation, interval and region of each posterior as they are written, by its key."""
    keys = {f"<b>{name}</b>": key for key, name in report.POSTERIOR_NAMES.items()}
    table = report.posteriors_table(release.posteriors, report.POSTERIOR_NAMES, release.level, "")
    regions = dict(report.regions_table(release).rows)
    return {keys[name]: [*numbers, regions[name]] for name, *numbers in table.rows}


def spread(ends: tuple[float, float], digits: int = 4) -> str:
    return f"{report.format_share(ends[0], digits)} to {report.format_share(ends[1], digits)}"


def summary(law: Law, level: float = 0.95) -> list[str]:
    """Mean, standard deviation and interval of a referee as they must be written."""
    return [report.format_share(law.mean, 5), format_number(100 * law.deviation, 4), spread(law.tails(level))]


def plain(sentence: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", sentence))


# Counts typed in or drawn


def question(typed: str | None = None, **values: Any) -> Question:
    """The release of Charest's design with some of its numbers changed."""
    design = {"n": 100, "epsilon": 2.0, "delta": 1e-6, "sets": 1, "seed": 1, "alpha": 10.0, "x": 30} | values
    design["confidential_count"] = design.pop("x")
    return question_of(Design(mechanism="beta_binomial", **design), typed)


@pytest.mark.parametrize(("typed", "counts"), [
    ("31", (31,)), ("3, 4,5", (3, 4, 5)), ("3 4\t5\n6;7", (3, 4, 5, 6, 7)), (" ,0,100, ", (0, 100)), ("007", (7,)),
    (" ".join(["12"] * 20), (12,) * 20),
])  # fmt: skip
def test_typed_counts_are_read_and_share_the_promise(typed, counts):
    typed_in = question(typed, sets=7)
    assert read_counts(typed, 100) == counts == typed_in.release.counts
    assert (typed_in.is_drawn, typed_in.design.sets) == (False, len(counts))
    assert typed_in.design.alpha_of_one_set == pytest.approx(100 / math.expm1(2 / len(counts)))


@pytest.mark.parametrize(("read", "longest"), [(lambda text: read_counts(text, 9), 4_000), (read_tables, 100_000)])
def test_texts_that_are_too_long_are_refused_before_they_are_split(read, longest):
    with pytest.raises(ValueError, match=f"must have at most {longest:,} characters; got {longest + 1:,}."):
        read("1" + " " * longest)


WRONG = [
    "", "1,000", "7, 1,050", "   ", ", ;", "101", "-1", "2.5", "1e2", "abc", "3, x", "<b>1</b>", "nan", "9" * 400, "½",
    "²", "1 " * 21,
]  # fmt: skip


@pytest.mark.parametrize("typed", WRONG)
def test_invalid_counts_are_refused_in_a_sentence(typed):
    with pytest.raises(ValueError, match=r"^The synthetic counts must be .*whole numbers from 0 to m = 100") as refused:
        read_counts(typed, 100)
    said = str(refused.value)
    assert len(said) < 200
    assert ("is empty" if not typed.strip(" ,;") else "got") in said


NO_TABLES = {
    "1, a": "must hold whole numbers from 0; got a.", "-1, 2": "must hold whole numbers from 0; got -1.",
    "1.5, 2": "must hold whole numbers from 0; got 1.5.", "9" * 300 + ", 2": "must hold whole numbers from 0; got 9999",
    "": "must be 1 to 20 lines of counts; got 0.", " \n ": "must be 1 to 20 lines of counts; got 0.",
    "1, 2\n" * 21: "must be 1 to 20 lines of counts; got 21.", "5": "at least 2 cells in every line; got 1.",
    ",": "at least 2 cells in every line; got 0.", "1, 2\n1, 2, 3": "same number of cells in every line; got 2, 3.",
    "1, 2\n3, 4": "must have the same total in every line, at least 1; got 3, 7.",
    "0, 0": "must have the same total in every line, at least 1; got 0.",
}  # fmt: skip


@pytest.mark.parametrize(("typed", "sentence"), NO_TABLES.items())
def test_invalid_tables_are_refused_in_a_sentence(typed, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as refused:
        read_tables(typed)
    assert len(str(refused.value)) < 250


def test_the_seed_fixes_the_counts_and_the_analysts_side_does_not_change_them():
    first, again, *others = (question(sets=10, seed=seed).release.counts for seed in (1, 1, 2, 1_000_000_000))
    assert first == again == question(sets=10, gamma1=3.0, gamma2=0.2, level=0.5).release.counts
    assert len({first, *others}) == 3
    assert {*map(len, (first, *others))} == {10}


@pytest.mark.parametrize("sets", [1, 2, 20])
@pytest.mark.parametrize("prior", PRIOR_RULES)
def test_the_prior_of_each_set_follows_from_the_promise(prior, sets):
    design = question(prior=prior, sets=sets, epsilon=1.5, alpha=7.25, n=40, x=10).design
    said = describe_promise(design, with_prior=True)
    alpha, least = float(match_in(r"α = ([\d.,]+)", said)[1].rstrip(",.").replace(",", "")), 40 / math.expm1(1.5 / sets)
    if prior == "own":
        epsilon = sets * math.log1p(40 / 7.25)
        assert alpha == 7.25
        assert epsilon <= float(match_in(r"\(ε = ([\d.]+)", said)[1]) <= epsilon * 1.001
    elif prior == "pure":
        assert (alpha, "δ" in said) == (float(f"{least:.4g}"), False)
    else:
        assert alpha < least and "δ = 10⁻⁶" in said


EXTREMES: list[dict[str, Any]] = [
    {"epsilon": 1e-6}, {"epsilon": 1e-4, "sets": 20}, {"epsilon": 700.0}, {"epsilon": 1000.0, "sets": 20},
    {"n": 1, "x": 0}, {"n": 1, "x": 1, "sets": 20}, {"n": 10_000},
    {"n": 10_000, "x": 10_000, "gamma1": 0.01, "sets": 20},
    {"n": 10_000, "prior": "exact", "delta": 1e-12, "sets": 20}, {"gamma1": 0.01, "gamma2": 0.01, "x": 0},
    {"gamma1": 1e4, "gamma2": 1e4}, {"gamma1": 0.01, "gamma2": 1e4}, {"level": 0.001}, {"level": 0.999999},
    {"prior": "own", "alpha": 1e-12}, {"prior": "own", "alpha": 1e12},
    {"prior": "exact", "delta": 0.0, "sets": 20}, {"prior": "exact", "delta": 0.5}, {"x": 0}, {"x": 100},
]  # fmt: skip


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
def test_the_posteriors_of_extreme_settings_are_laws_of_a_proportion(extreme):
    release = question(**{"x": min(30, int(extreme.get("n", 100)))} | extreme).release
    for posterior in release.posteriors.values():
        assert 0 < posterior.mean < 1
        assert 0 < math.sqrt(posterior.variance) < 0.5
        for pieces in ([posterior.interval(release.level)], posterior.highest_density(release.level)):
            ends = [end for piece in pieces for end in piece]
            assert ends == sorted(ends)
            assert 0 <= ends[0] <= ends[-1] <= 1


@pytest.mark.parametrize("level", [0.95, 0.9999, 0.999999])
def test_no_interval_is_said_to_hold_all_of_the_probability(level):
    release = question(level=level, n=20, x=6).release
    said = " ".join((*report.posterior_answer(release, "ε = 2"), *report.posteriors_table({}, {}, level, "").head))
    assert float(format_percent(level, 8).removesuffix(" %")) == pytest.approx(100 * level, rel=1e-12)
    assert f"with {format_percent(level, 8)} probability" in said
    assert f"{format_percent(level, 8)} equal tails" in said
    assert not re.search(r"\b100 %", said)


# Posteriors against independent sums


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case)[:70])
def test_table_and_answer_are_those_of_the_mixture_written_out(case):
    release, laws = release_of(case), laws_of(case)
    level, truth = case.get("level", 0.95), case["x"] / case["n"]
    cells = cells_of(release)
    for key, law in laws.items():
        assert cells[key][:3] == summary(law, level), key
        if case in LISTED:
            assert cells[key][3] == " and ".join(spread(piece) for piece in law.densest(level)), key
    exact = laws["exact"]
    mark, markup, _ = report.posterior_answer(release, describe_promise(design_of(case)))
    sentence = plain(markup)
    low, high = map(report.format_share, exact.tails(level))
    start, end = laws["naive"].tails(level)
    verb = "holds" if start <= truth <= end else "misses"
    assert mark == f"{low.removesuffix(' %')} to {high}"
    assert f"between {low} and {high} with {format_number(100 * level)} %" in sentence
    times = format_number(exact.deviation / laws["known"].deviation, 3)
    compared = f"{times} times what the secret table leaves" if times != "1" else "as large as from the secret table"
    assert f"Its standard deviation is {compared}" in sentence
    verdict = f"{spread((start, end), 3)}, which {verb} the secret share, {report.format_share(truth)}"
    assert f"{verdict}; by the usual formula" in sentence


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_two_modes_have_two_regions_and_the_picture_has_the_interval_of_the_sentence(level):
    law, release = laws_of(TWO_MODES)["exact"], release_of(TWO_MODES | {"level": level})
    pieces = law.densest(level)
    assert len(pieces) == 2
    assert cells_of(release)["exact"][3] == " and ".join(spread(piece) for piece in pieces)
    chart = densities_chart(
        release.posteriors, report.POSTERIOR_NAMES, level=level, share=release.secret_share, key="posterior"
    )
    traces = decode_figure(chart.json_text())["data"]
    bars = [trace for trace in traces if trace["y"][0] < 0 and trace["legendgroup"] == "exact"]
    assert [tuple(bar["x"]) for bar in bars] == [pytest.approx(law.tails(level), abs=1e-9)]


def test_the_confidential_count_is_described_by_its_weights():
    release = question("9", n=24, x=7, epsilon=3.0).release
    weights = weights_of([9], 24, 24, 24 / math.expm1(3.0), 1.0, 1.0)
    assert release.exact.weights == pytest.approx(weights, rel=1e-10)
    mean, largest, true = (float(value) for value in (weights @ np.arange(25), weights.max(), weights[7]))
    assert report.confidential_count_sentence(release) == (
        f"On average x = {format_number(mean, 5)}. Most probable is x = {int(weights.argmax())}, with probability "
        f"{format_number(largest, 3)}. The true x = 7 has probability {format_number(true, 3)}."
    )


@pytest.mark.parametrize("mechanism", SMALL_DESIGNS)
def test_every_mechanism_has_the_mixture_of_its_own_matrix_and_draws_from_it(mechanism):
    design = replace(SMALL_DESIGNS[mechanism], sets=3, confidential_count=2)
    matrix = design.release.transition_matrix()
    x = np.arange(len(matrix))
    weights = matrix[:, 1] * matrix[:, 2] ** 2  # a uniform prior of p makes x uniform
    weights /= weights.sum()
    release = question_of(design, "1, 2, 2").release
    assert release.exact.weights == pytest.approx(weights, rel=1e-10, abs=1e-300)
    assert release.exact.weights @ x == pytest.approx(weights @ x, rel=1e-12)
    assert cells_of(release)["exact"][:3] == summary(Law(1 + x, x[-1] + 1 - x, weights))
    for seed in (1, 2):
        drawn = replace(design, sets=20, seed=seed)
        counts = drawn.release.draw(np.random.default_rng(seed), 2, 20)
        assert question_of(drawn).release.counts == tuple(counts.tolist())


@pytest.mark.parametrize(("typed", "tables"), [
    ("7, 2, 3", ((7, 2, 3),)),
    ("7 2 3\n\n3;4 ; 5\r\n0,0,12", ((7, 2, 3), (3, 4, 5), (0, 0, 12))),
    (" 6, 6, ", ((6, 6),)),
    ("1, 2, 3, 4", ((1, 2, 3, 4),)),
])  # fmt: skip
def test_typed_tables_are_read_and_their_prior_follows_from_the_promise_of_all_of_them(typed, tables):
    assert read_tables(typed) == tables
    design = Design(mechanism="beta_binomial", n=9, epsilon=2.0, gamma1=1.5)
    *shown, cells = _posterior_cells(design, typed)
    alpha = sum(tables[0]) / math.expm1(2.0 / len(tables))
    assert shown == [tables, pytest.approx(alpha)]
    expected = posterior_cells(synthetic_counts=tables, n=9, alpha=alpha, gamma=1.5)
    assert cells.weights == pytest.approx(expected.weights, rel=1e-12)
    assert cells.gamma.tolist() == expected.gamma.tolist()


@pytest.mark.parametrize(("x", "impossible"), [(None, None), (0, 2), (1, None), (2, 0)])
def test_counts_that_the_known_x_never_leads_to_are_named(x, impossible):
    design = Design(mechanism=read_matrix("1,0,0\n0.5,0,0.5\n0,0.5,0.5"), confidential_count=x)
    sentence = plain(report.contradiction_sentence(question_of(design, "0 2").release))
    expected = f"Data with x = {x} never lead to a synthetic count of {impossible} under this synthesizer"
    assert sentence.startswith(expected) if impossible is not None else not sentence
