"""The page "Coverage": exact numbers at once, curves through them, and a sentence for whatever is wrong."""

from __future__ import annotations

import math
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.calibration.prior_rules import PRIOR_RULES
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.coverage import (
    CoveragePlan,
    Performance,
    coverage_by_proportion,
    exact_coverages,
    performance_of,
    run_coverage,
    stream_by_synthesizer,
    wilson_interval,
)
from dpviz.designs import Design
from dpviz.desk.exports.script import coverage_script
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.mechanisms import TwoCellSynthesizer, two_cell_synthesizers
from pages.coverage.controls import DEFAULT_RULES, short
from pages.coverage.live import FEWEST_HITS
from tests.pages import (
    address,
    check_sound,
    figures,
    marks,
    open_coverage,
    problems,
    run_to_the_end,
    table_called,
    table_rows,
    value_of,
    whole,
)

BEYOND = "beyond exact sums"
EVERY = list(RULES)
SINGLE = [key for key, rule in RULES.items() if rule.fewest_sets == 1]
LAWS = list(two_cell_synthesizers())
WITH_PRIOR = LAWS[:3]
ALONG = [law for law in LAWS if "epsilon" in Design(mechanism=law, n=9).promised]
SMALL: dict[str, Any] = {"n": 30, "sets": 3, "epsilon": 1.5}
FAR: dict[str, Any] = {"n": 5000, "sets": 20}


def check_percent(cell: str, share: float, digits: int) -> None:
    """The cell says the share in so many digits, and no decimals that an error of 10⁻⁸ would change."""
    assert cell.endswith(" %")
    if " than " in cell:  # nearer to none or all than the error, and neither of them
        assert 1e-11 < (share if cell.startswith("less") else 1 - share) < 0.51e-8
        return
    unit = 10.0 ** (math.floor(math.log10(abs(100 * share))) - digits + 1) if share else 0.0
    assert abs(value_of(cell) - 100 * share) <= max(0.51 * unit, 0.51e-6)


def coverage_rows(page: AppTest) -> dict[str, dict[str, str]]:
    """The cells of the table of coverage by the rule's short name and the column's head."""
    table = table_called(page, "Coverage of each rule")
    head = [unescape(cell) for cell in re.findall(r"<th[^>]*>(.*?)</th>", table)][1:]
    return {rule: dict(zip(head, cells, strict=True)) for rule, cells in table_rows(table).items()}


def design(**state: Any) -> dict[str, Any]:
    """A design by name, with the page's defaults."""
    asked = {
        "synthesizer": "beta_binomial",
        "prior": "pure",
        "n": 100,
        "sets": 5,
        "epsilon": 2.0,
        "delta": 1e-6,
        "alpha": 10.0,
    }
    asked |= {"p": 0.25, "level": 0.95, "repetitions": 10_000, "seed": 1} | state
    return {"m": asked["n"]} | asked


def release_at(**state: Any) -> TwoCellSynthesizer:
    asked = design(**state)
    delta = asked["delta"] if asked["prior"] == "exact" else 0.0
    names = ("prior", "n", "m", "sets", "epsilon", "alpha")
    return Design(mechanism=asked["synthesizer"], delta=delta, **{name: asked[name] for name in names}).release


def plan_at(**state: Any) -> CoveragePlan:
    """What Start is to run: every rule that sets and sizes allow."""
    asked, release = design(**state), release_at(**state)
    rules = tuple(key for key, rule in RULES.items() if rule.fits(release, asked["sets"]))
    names = ("p", "sets", "level", "repetitions", "seed")
    return CoveragePlan(synthesizer=release, rules=rules, **{name: asked[name] for name in names})


def started(**state: Any) -> AppTest:
    """The page after Start and all repetitions."""
    page = open_coverage(**state)
    run_to_the_end(page)
    return page


def check_simulated(page: AppTest, found: Performance, rules: list[str]) -> None:
    """The simulated column, with its error, is that of `found`."""
    shown = coverage_rows(page)
    assert list(shown) == [short(key) for key in rules]
    for key in rules:
        one = found.rules[key].coverage
        expected = f"{readable(100 * one.value, 5)} % ± {readable(100 * one.error, 2)}"
        if one.value in (0, 1):
            ends = wilson_interval(one.value, found.repetitions)
            expected = f"{readable(100 * one.value)} % ({' to '.join(readable(100 * end, 4) for end in ends)} %)"
        assert shown[short(key)]["simulated"] == expected


def lines_of(page: AppTest, key: str = "cv_picture") -> list[dict[str, Any]]:
    return [trace for trace in figures(page)[key]["figure"]["data"] if trace.get("mode") == "lines"]


def dots_of(page: AppTest) -> list[dict[str, Any]]:
    return [trace for trace in figures(page)["cv_picture"]["figure"]["data"] if "error_y" in trace]


def grown(page: AppTest) -> AppTest:
    """The page with its curves complete; the smallest coverages come after them."""
    check_sound(whole(page, "cv_growing_epsilon", "cv_growing_p"))
    return page


# The answer, the table and the curves.


def test_the_first_answer_is_exact_and_there_before_any_simulation() -> None:
    page = open_coverage()
    check_sound(page)
    assert (problems(page), marks(page)) == ([], ["81.2 %"])
    assert list(figures(page)) == ["cv_caterpillar", "cv_picture"]  # the first one is the hero
    assert (page.session_state.get("cv_run", None), page.button(key="cv_go").label) == (None, "Start")
    assert page.button(key="cv_reset").disabled
    assert {cells["simulated"] for cells in coverage_rows(page).values()} == {"not yet"}
    picture = figures(page)["cv_picture"]["figure"]
    points = [trace for trace in picture["data"] if "markers" in trace.get("mode", "")]
    assert {tuple(trace["x"]) for trace in points} == {(0.25,)}
    assert [trace["text"] for trace in points if "text" in trace["mode"]] == [["<b>81.2 %</b>"]]
    assert 0.95 in [shape["y0"] for shape in picture["layout"]["shapes"]]


STUDIES: list[dict[str, Any]] = [
    {"repetitions": 1, "seed": 5},
    {"repetitions": 2, "p": 1.0, **SMALL},
    {"repetitions": 1234, "seed": 0, "sets": 1, "n": 40, "level": 0.8},
    *({"repetitions": 1100, "synthesizer": law, "p": 0.4, **SMALL} for law in LAWS),
    *(
        {"repetitions": 1100, "synthesizer": law, "prior": "exact", "delta": 1e-3, "level": 0.8, **SMALL}
        for law in WITH_PRIOR[:2]
    ),
    {"repetitions": 600, "synthesizer": WITH_PRIOR[2], "prior": "own", "alpha": 3.25, "m": 17, **SMALL},
    {"repetitions": 1100, "prior": "own", "alpha": 2.5, "p": 0.0, "m": 7, **SMALL},
]


@pytest.mark.parametrize("asked", STUDIES, ids=str)
def test_the_numbers_in_the_table_are_the_exact_ones_and_those_of_the_same_plan(asked: dict[str, Any]) -> None:
    page = open_coverage(**{"rules": EVERY, "m_is_n": "m" not in asked} | asked)
    check_sound(page)
    level, p, sets = asked.get("level", 0.95), asked.get("p", 0.25), asked.get("sets", 5)
    rules = EVERY if sets > 1 else SINGLE
    exact = exact_coverages(synthesizer=release_at(**asked), p=p, sets=sets, rules=rules, level=level)
    shown = coverage_rows(page)
    assert list(shown) == [short(key) for key in rules]
    for key, one in exact.items():
        cells = shown[short(key)]
        check_percent(cells["coverage, exact"], one.coverage, 5)
        width = one.mean_width_inside
        known = math.isfinite(width) and one.mean_width_inside_error_bound <= 1e-4
        told = Measure(100 * width, 0.0, within=100 * one.mean_width_inside_error_bound).shown
        assert cells["mean length, in points"] == (readable(told, 4) if known else "–")
        check_percent(cells["no interval"], one.negative_variance_share, 3)
        check_percent(cells["hold all of 0 to 100 %"], one.vacuous_share, 3)
        given = (one.coverage_given_nonnegative_total, one.coverage_given_negative_total)
        for column, part in zip(("coverage where T ≥ 0", "where T < 0"), given, strict=True):
            assert (column in cells) == (one.sets > 1)
            if math.isfinite(part):
                check_percent(cells[column], part, 3)
            else:
                assert cells.get(column, "–") == "–"
    [mark] = marks(page)
    check_percent(mark, exact[rules[0]].coverage, 3)
    run_to_the_end(page)
    check_sound(page)
    tally = run_coverage(plan_at(**asked))
    found = performance_of(tally)
    assert page.session_state["cv_run"].tally == tally
    check_simulated(page, found, rules)
    for key, cells in zip(rules, coverage_rows(page).values(), strict=True):
        share, c = found.rules[key].coverage.value, exact[key].coverage
        if asked["repetitions"] * min(c, 1 - c) < FEWEST_HITS:
            assert cells["apart, in standard errors"] == "too few hits"
            continue
        apart = (share - c) / math.sqrt(c * (1 - c) / asked["repetitions"])
        assert value_of(cells["apart, in standard errors"]) == pytest.approx(apart, abs=6e-3, rel=6e-3)


@pytest.mark.parametrize("law", LAWS[::2])
def test_the_curves_along_p_are_exact_and_pass_the_chosen_point_wherever_it_is_moved(law: str) -> None:
    page = grown(open_coverage(synthesizer=law, p=0.123, rules=EVERY, **SMALL))
    held, lines = page.session_state["cv_growing_p"], lines_of(page)
    assert len(lines) == len(EVERY)
    points = np.array(lines[0]["x"])
    assert 0.123 in points
    assert len(points) > 200
    some = slice(None, None, 15)
    exact = coverage_by_proportion(release_at(synthesizer=law, **SMALL), proportions=points[some], sets=3, rules=EVERY)
    for trace, line in zip(lines, exact.coverage, strict=True):
        assert np.allclose(np.array(trace["y"])[some], line, rtol=0, atol=1e-8)
    for place in (0.0, 0.3171, 1.0) if law == LAWS[0] else ():
        page.session_state["cv_p"] = place
        check_through(page.run(), place, release_at(synthesizer=law, **SMALL), place)
        assert page.session_state["cv_growing_p"] is held  # no line is computed anew


def check_through(page: AppTest, p: float, release: TwoCellSynthesizer, place: float) -> None:
    """The lines pass the exact values at a place of their axis."""
    check_sound(page)
    rules = [trace["legendgroup"] for trace in lines_of(page)]
    exact = exact_coverages(synthesizer=release, p=p, sets=3, rules=rules)
    for trace, one in zip(lines_of(page), exact.values(), strict=True):
        assert trace["y"][list(trace["x"]).index(place)] == pytest.approx(one.coverage, abs=1e-12)


@pytest.mark.parametrize(
    ("law", "prior"), [*((law, "pure") for law in ALONG if law in LAWS[1::2]), ("beta_binomial", "exact")]
)
def test_the_curves_along_epsilon_are_exact_and_pass_the_chosen_point(law: str, prior: str) -> None:
    asked = {"synthesizer": law, "prior": prior, "delta": 1e-3}
    page = grown(open_coverage(axis="against ε", **asked, **SMALL))
    held, lines = page.session_state["cv_growing_epsilon"], lines_of(page)
    points = list(lines[0]["x"])
    assert 1.5 in points
    picked = points[::12]
    *_, exact = stream_by_synthesizer(
        [release_at(**asked, **SMALL | {"epsilon": float(one)}) for one in picked], p=0.25, sets=3, rules=DEFAULT_RULES
    )
    for trace, line in zip(lines, exact.coverage, strict=True):
        assert np.allclose([trace["y"][points.index(one)] for one in picked], line, rtol=0, atol=1e-8)
    for place in (0.01, 2.345, 250.0) if prior == "exact" else ():
        page.session_state["cv_epsilon"] = place
        check_through(page.run(), 0.25, release_at(**asked, **SMALL | {"epsilon": place}), place)
        assert page.session_state["cv_growing_epsilon"] is held


@pytest.mark.parametrize(
    "extreme",
    [{"p": 0.0, "sets": 20}, {"p": 1.0, "sets": 2}, {"n": 1, "sets": 1}, {"n": 1, "sets": 20}, {"epsilon": 1e-4},
     {"epsilon": 700.0, "sets": 20}, {"level": 0.999999, "sets": 2}, {"level": 0.001}],
    ids=str,
)  # fmt: skip
def test_extreme_settings_are_answered_along_epsilon(extreme: dict[str, Any]) -> None:
    page = grown(open_coverage(axis="against ε", **{"n": 12, "sets": 5} | extreme))
    assert all(one.startswith("Left out, because ") for one in problems(page))
    assert lines_of(page)


def test_an_own_prior_has_no_axis_of_epsilon_and_the_picture_goes_back_to_p() -> None:
    page = open_coverage(axis="against ε", **SMALL)
    drawn = figures(page)["cv_picture"]["figure"]["data"]
    assert [list(one["x"]) for one in drawn if "text" in one.get("mode", "")] == [[1.5]]
    page.radio(key="cv_prior").set_value("own").run()
    check_sound(page)
    assert page.session_state["cv_axis"] == "against p"
    page = grown(open_coverage(axis="against p", p=1.0, n=9, sets=1, epsilon=1.0))
    ends = [list(lines_of(page)[0]["x"])[-1]]
    page.session_state["cv_axis"] = "against ε"
    ends.append(list(lines_of(grown(page.run()))[0]["x"])[-1])
    assert ends == [1.0, 250.0]  # neither axis has the curves of the other
    page = open_coverage({"cv_axis": "against ε", "cv_prior": "own", "cv_n": "30"})
    check_sound(page)
    assert not problems(page)
    page = open_coverage(synthesizer="laplace", prior="own", axis="against ε", **SMALL)
    assert figures(page)["cv_picture"]["figure"]["layout"]["xaxis"]["type"] == "log"


def test_beyond_exact_sums_the_page_says_so_and_the_simulation_takes_over() -> None:
    rules = [key for key in DEFAULT_RULES if not RULES[key].knows_noise]
    page = open_coverage(repetitions=300, rules=rules, **FAR)
    assert not page.exception
    assert marks(page) == [BEYOND]
    assert {cells["coverage, exact"] for cells in coverage_rows(page).values()} == {"beyond reach"}
    run_to_the_end(page)
    found = performance_of(run_coverage(plan_at(repetitions=300, **FAR)))
    check_simulated(page, found, rules)
    assert [trace["y"][0] for trace in dots_of(page)] == [found.rules[key].coverage.value for key in rules]
    for section in ("Why it fails", "Length, and its limit", "Bias and variance", "Download"):
        page.session_state["cv_look"] = section
        check_sound(page.run())


@pytest.mark.parametrize("epsilon", [1e-3, 500.0])
def test_beyond_exact_sums_the_dots_stand_inside_the_picture(epsilon: float) -> None:
    page = started(axis="against ε", repetitions=100, **FAR | {"epsilon": epsilon})
    picture = figures(page)["cv_picture"]["figure"]
    low, high = picture["layout"]["xaxis"]["range"]
    assert all(low <= math.log10(trace["x"][0]) <= high for trace in picture["data"])


# Controls.


@pytest.mark.parametrize(
    ("state", "sentence", "mend"),
    [
        ({"synthesizer": "posterior_mode", "prior": "own", "alpha": 0.5},
         "alpha (invented rows with yes) must be a number above 1", {"synthesizer": "posterior_mean"}),
        (
            {"synthesizer": "laplace", "m_is_n": False, "m": 20},
            "m (released rows) must equal n = 30",
            {"m_is_n": True},
        ),
        ({"rules": []}, "Choose at least one rule.", {"rules": ["as_if_real"]}),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_law_or_the_rules_do_not_allow_has_a_sentence_until_it_is_mended(
    state: dict[str, Any], sentence: str, mend: dict[str, Any]
) -> None:
    page = open_coverage(**SMALL | state)
    assert not page.exception
    (said,) = problems(page)
    assert said.startswith(sentence)
    for name, value in mend.items():
        page.session_state[f"cv_{name}"] = value
    check_sound(page.run())
    assert not problems(page)


def test_with_one_set_the_rules_that_need_two_are_named_and_left_out() -> None:
    page = open_coverage(sets=1, rules=EVERY, n=30)
    check_sound(page)
    assert list(coverage_rows(page)) == [short(key) for key in SINGLE]
    (sentence,) = problems(page)
    assert sentence.startswith("Left out, because M = 1")
    assert all(short(key) in sentence for key in EVERY if key not in SINGLE)
    page.number_input(key="cv_sets").set_value(2).run()
    assert not problems(page)
    assert list(coverage_rows(page)) == [short(key) for key in EVERY]


def test_a_rule_that_needs_two_sets_alone_has_a_sentence_and_a_button_that_mends_it() -> None:
    added = [key for key in SINGLE if key in COMBINING_RULES]
    page = open_coverage(sets=1, n=30)
    for rule in (key for key in EVERY if key not in SINGLE):
        page.session_state["cv_rules"] = [rule]
        (sentence,) = problems(page.run())
        assert "needs at least 2 sets; got 1" in sentence
        assert RULES[rule].label in sentence
        page.button(key="mend_cv_rules").click().run()
        check_sound(page)
        assert list(coverage_rows(page)) == [short(key) for key in added]
        assert page.session_state["cv_rules"] == [rule, *added]


def test_rules_in_the_address_are_taken_once_without_those_that_are_none() -> None:
    assert problems(open_coverage({"cv_rules": ""})) == ["Choose at least one rule."]
    page = open_coverage({"cv_rules": "foo.rubin_1987.bar.as_if_real.as_if_real"})
    check_sound(page)
    assert page.session_state["cv_rules"] == ["rubin_1987", "as_if_real"]
    assert list(coverage_rows(page)) == ["Rubin 1987", "As if real"]
    (said,) = problems(page)
    assert {"foo", "bar"} <= set(re.findall(r"\w+", said))
    page.multiselect(key="cv_rules").set_value(["as_if_real"]).run()
    assert not problems(page)


def test_everything_in_the_address_is_taken_and_its_seed_gives_the_same_digits() -> None:
    asked = {"synthesizer": "posterior_mode", "prior": "exact", "p": 0.3, "n": 40, "m": 30, "sets": 2, "epsilon": 1.25}
    asked |= {"delta": 0.001, "level": 0.9, "repetitions": 600, "seed": 12}
    words = {"m_is_n": "false", "rules": "rubin_1987.as_if_real", "axis": "against ε", "look": "Download"}
    page = open_coverage({f"cv_{name}": str(value) for name, value in {**asked, **words}.items()})
    check_sound(page)
    assert not problems(page)
    run_to_the_end(page)
    check_simulated(page, performance_of(run_coverage(plan_at(**asked))), ["rubin_1987", "as_if_real"])
    assert figures(page)["cv_picture"]["figure"]["layout"]["xaxis"]["type"] == "log"
    values = {name: value for name, value in asked.items() if name != "synthesizer"}
    shown = Design(mechanism="posterior_mode", rules=("rubin_1987", "as_if_real"), **values)  # type: ignore[arg-type]
    assert page.code[-1].value + "\n" == coverage_script(shown)


def test_choices_are_kept_in_the_address_the_default_is_not_and_each_can_be_made() -> None:
    page = open_coverage(**SMALL)
    assert not {"cv_synthesizer", "cv_prior", "cv_rules"} & set(address(page))
    assert len(page.radio(key="cv_prior").options) == len(PRIOR_RULES)
    assert page.selectbox(key="cv_synthesizer").options == [two_cell_synthesizers()[law].label for law in LAWS]
    page.selectbox(key="cv_synthesizer").set_value("posterior_mean").run()
    page.radio(key="cv_prior").set_value("own").run()
    page.multiselect(key="cv_rules").set_value(["as_if_real", "reiter_2002"]).run()
    asked = {key: address(page)[key] for key in ("cv_synthesizer", "cv_prior", "cv_rules")}
    assert asked == {"cv_synthesizer": "posterior_mean", "cv_prior": "own", "cv_rules": "reiter_2002.as_if_real"}
    page.selectbox(key="cv_synthesizer").set_value("laplace").run()
    assert "cv_prior" not in [radio.key for radio in page.radio]
    assert not {"cv_delta", "cv_alpha"} & {box.key for box in page.number_input}
    page.selectbox(key="cv_synthesizer").set_value("beta_binomial").run()
    assert "cv_synthesizer" not in address(page)


def test_the_table_says_the_smallest_coverage_at_any_p_and_where_it_is() -> None:
    """One set of Charest's design: 0.9425816 is certified for p from 0.1 to 0.4, and nothing beyond is below it."""
    cells = _smallest(open_coverage(n=100, sets=1, rules=["as_if_real", "score"]))
    assert cells["Noise-aware score"] == "94.26 %at p = 0.29"
    assert cells["As if real"].startswith("0.9427 %")


def test_the_table_says_it_of_five_sets_too() -> None:
    """Charest's design: beside p = 0 and 1 its intervals hold between 61.8549 and 61.8551 %, told to common digits."""
    cells = _smallest(open_coverage(n=100, sets=5, rules=["reiter_2002", "as_if_real"]))
    assert cells["Reiter 2002"].startswith("61.9 %at p = 0.")
    assert cells["As if real"].startswith("less than 10⁻⁶ %")


def _smallest(page: AppTest) -> dict[str, str]:
    for _ in range(60):  # the line and then the column grow
        cells = {rule: cell["smallest at any p"] for rule, cell in coverage_rows(page).items()}
        if "…" not in cells.values():
            return cells
        page.run()
    raise AssertionError(cells)
