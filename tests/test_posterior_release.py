"""What the page "Posterior" is asked: counts typed in or drawn, tables of k cells, and the prior that follows."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom

from dpviz.calibration.prior_rules import PRIOR_RULES
from dpviz.claims.charest import PRINTED_TABLES
from dpviz.core.wording import percent
from dpviz.designs import Design
from dpviz.desk.analyst import SeenRelease, posteriors_table, typed_counts, typed_tables
from pages.posterior.controls import NUMBERS, PRESETS
from tests.page_cases import POSTERIOR_OF_COUNTS
from tests.pages import found_in


def asked(typed: str | None = None, **state: Any) -> SeenRelease:
    """What a fresh page asks for with some of its settings changed."""
    names = ("n", "epsilon", "delta", "sets", "gamma1", "gamma2", "level", "seed", "alpha")
    values = {name: NUMBERS[name].default for name in names} | {"x": 30, "prior": "pure"} | state
    values["confidential_count"] = values.pop("x")
    return SeenRelease.of(Design(mechanism="beta_binomial", **values), typed)


@pytest.mark.parametrize(
    ("typed", "counts"),
    [
        ("31", (31,)),
        ("3, 4,5", (3, 4, 5)),
        ("3 4\t5\n6;7", (3, 4, 5, 6, 7)),
        (" ,0,100, ", (0, 100)),
        ("007", (7,)),
        (" ".join(["12"] * 20), (12,) * 20),
    ],
)
def test_typed_counts_are_taken_and_share_the_promise(typed: str, counts: tuple[int, ...]) -> None:
    assert typed_counts(typed, 100) == counts
    one = asked(typed, sets=7)
    assert (one.drawn, one.counts, one.design.sets) == (False, counts, len(counts))
    assert one.design.alpha_of_one_set == pytest.approx(100 / math.expm1(2 / len(counts)))


WRONG = [
    "",
    "1,000",
    "7, 1,050",
    "   ",
    ", ;",
    "101",
    "-1",
    "2.5",
    "1e2",
    "abc",
    "3, x",
    "<b>1</b>",
    "nan",
    "9" * 400,
    "½",
    "²",
    "1 " * 21,
]


@pytest.mark.parametrize("typed", WRONG)
def test_counts_that_are_none_are_refused_in_a_sentence(typed: str) -> None:
    with pytest.raises(ValueError, match=r"^The synthetic counts must be .*whole numbers from 0 to m = 100") as refused:
        typed_counts(typed, 100)
    said = str(refused.value)
    assert len(said) < 200
    assert ("is empty" if not typed.strip(" ,;") else "got") in said


@pytest.mark.parametrize(
    ("typed", "tables"),
    [
        ("7, 2, 3", ((7, 2, 3),)),
        ("7 2 3\n\n3;4 ; 5\r\n0,0,12", ((7, 2, 3), (3, 4, 5), (0, 0, 12))),
        (" 6, 6, ", ((6, 6),)),
    ],
)
def test_typed_tables_are_taken(typed: str, tables: tuple[tuple[int, ...], ...]) -> None:
    assert typed_tables(typed) == tables


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "must be 1 to 20 lines of counts; got 0."),
        (" \n ", "must be 1 to 20 lines of counts; got 0."),
        ("\n".join(["1, 2"] * 21), "must be 1 to 20 lines of counts; got 21."),
        ("5", "at least 2 cells in every line; got 1."),
        (",", "at least 2 cells in every line; got 0."),
        ("1, 2\n1, 2, 3", "the same number of cells in every line; got 2, 3."),
        ("1, 2\n3, 4", "must have the same total in every line, at least 1; got 3, 7."),
        ("1, a", "must hold whole numbers from 0; got a."),
        ("-1, 2", "must hold whole numbers from 0; got -1."),
        ("1.5, 2", "must hold whole numbers from 0; got 1.5."),
        ("9" * 300 + ", 2", "must hold whole numbers from 0; got 9999"),
        ("0, 0", "must have the same total in every line, at least 1; got 0."),
    ],
)
def test_tables_that_are_none_are_refused_in_a_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as refused:
        typed_tables(typed)
    assert len(str(refused.value)) < 250


def test_the_seed_fixes_the_counts_and_the_analysts_side_does_not_change_them() -> None:
    found = [asked(sets=10, seed=seed).counts for seed in (1, 1, 2, 1_000_000_000)]
    assert found[0] == found[1]
    assert len(set(found)) == 3
    assert {len(counts) for counts in found} == {10}
    assert asked(sets=10, gamma1=3.0, gamma2=0.2, level=0.5).counts == found[0]


@pytest.mark.parametrize(("x", "n", "epsilon"), [(30, 100, 20.0), (900, 1000, 40.0)])
def test_drawn_counts_lie_where_their_law_does(x: int, n: int, epsilon: float) -> None:
    """100 counts of five seeds: their mean within 4.5 standard errors of the Beta-binomial's."""
    drawn = [count for seed in range(5) for count in asked(sets=20, seed=seed, n=n, x=x, epsilon=epsilon).counts]
    alpha = n / math.expm1(epsilon / 20)
    mean, variance = (float(part) for part in betabinom.stats(n, alpha + x, alpha + n - x))
    assert len(drawn) == 100
    assert abs(np.mean(drawn) - mean) < 4.5 * math.sqrt(variance / 100)


@pytest.mark.parametrize("sets", [1, 2, 20])
@pytest.mark.parametrize("prior", PRIOR_RULES)
def test_the_prior_of_each_set_follows_from_the_promise_and_is_said(prior: str, sets: int) -> None:
    said = asked(prior=prior, sets=sets, epsilon=1.5, alpha=7.25, n=40, x=10).promise
    alpha, least = float(found_in(r"α = ([\d.,]+)", said)[1].rstrip(",.").replace(",", "")), 40 / math.expm1(1.5 / sets)
    if prior == "own":
        assert alpha == 7.25
        epsilon = sets * math.log1p(40 / alpha)
        assert epsilon <= float(found_in(r"\(ε = ([\d.]+)", said)[1]) <= epsilon * 1.001
    elif prior == "pure":
        assert alpha == float(f"{least:.4g}")
        assert "δ" not in said
    else:
        assert alpha < least
        assert "δ = 10⁻⁶" in said


EXTREMES = [one for one in POSTERIOR_OF_COUNTS.extremes if not {"m", "m_is_n", "source"} & set(one)]


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
def test_the_posteriors_of_extreme_settings_are_laws_of_a_proportion(extreme: dict[str, Any]) -> None:
    """On the page `test_page_contract` opens them; here their numbers."""
    one = asked(**{"x": min(30, int(extreme.get("n", 100)))} | extreme)
    for law in one.posteriors.values():
        assert 0 < law.mean < 1
        assert 0 < math.sqrt(law.variance) < 0.5
        for pieces in ([law.interval(one.design.level)], law.highest_density(one.design.level)):
            ends = [end for piece in pieces for end in piece]
            assert ends == sorted(ends)
            assert 0 <= ends[0] <= ends[-1] <= 1


@pytest.mark.parametrize("level", [0.95, 0.9999, 0.999999])
def test_no_interval_is_said_to_hold_all_of_the_probability(level: float) -> None:
    one = asked(level=level, n=20, x=6)
    said = " ".join((*one.answer(), *posteriors_table({}, level, "").head))
    assert float(percent(level, 8).removesuffix(" %")) == pytest.approx(100 * level, rel=1e-12)
    assert f"with {percent(level, 8)} probability" in said
    assert f"{percent(level, 8)} equal tails" in said
    assert not re.search(r"\b100 %", said)


def test_the_presets_are_rows_of_charests_tables() -> None:
    designs = {(2.0, int(row["M"])) for row in PRINTED_TABLES[3].rows}
    designs |= {(row["epsilon"], 1) for row in PRINTED_TABLES[4].rows}
    for case in PRESETS.values():
        assert (case["epsilon"], case["sets"]) in designs
        assert (case["n"], case["x"], case["gamma1"], case["gamma2"]) == (100, 30, 1.0, 1.0)


def test_five_sets_say_less_than_one_and_a_small_delta_says_more_again() -> None:
    """On average over the releases, not in each: here the seeds 1 to 3."""
    deviations = {}
    for name in ("Charest, ε = 2", "five sets", "a small δ instead"):
        case = {key: value for key, value in PRESETS[name].items() if key not in ("synthesizer", "source")}
        variances = [asked(**case, seed=seed).exact.variance for seed in (1, 2, 3)]
        assert {len(asked(**case, seed=seed).counts) for seed in (1, 2, 3)} == {case["sets"]}
        deviations[name] = np.mean(np.sqrt(variances))
    assert deviations["five sets"] > deviations["Charest, ε = 2"] > deviations["a small δ instead"]
