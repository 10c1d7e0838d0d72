"""The page "Coverage": exact numbers at once, a simulation that lands on them, and a sentence for whatever is wrong."""

from __future__ import annotations

import dataclasses
import math
import re
import threading
from html import escape, unescape
from typing import Any

import mpmath
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.coverage import (
    CoveragePlan,
    Performance,
    Tally,
    coverage_by_proportion,
    coverage_by_synthesizer,
    coverage_decomposition,
    estimate_law,
    exact_coverages,
    performance_of,
    run_coverage,
    wilson_interval,
)
from dpviz.designs import Design
from dpviz.exports.coverage import coverage_script
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.parameters import readable
from dpviz.prior_rules import PRIOR_RULES
from dpviz.published.charest import ERRATA, charest_table, compare_charest
from dpviz.synthesizers import TwoCellSynthesizer, two_cell_laws
from pages.components.cached import cached
from pages.coverage.controls import DEFAULT_RULES, PRESETS
from pages.coverage.live import FEWEST_HITS
from pages.coverage.run import REVEALED, Run
from pages.coverage.sections import SECTIONS
from tests.page_cases import STUDY_EDGES
from tests.pages import (
    WRONG,
    address,
    check_sound,
    figures,
    html,
    marks,
    next_steps,
    open_coverage,
    problems,
    table_rows,
    text,
    value_of,
)

BEYOND = "beyond exact sums"
EVERY = list(RULES)
SINGLE = [key for key, rule in RULES.items() if rule.least_sets == 1]
LAWS = list(two_cell_laws())
WITH_PRIOR = LAWS[:3]
SMALL: dict[str, Any] = {"n": 30, "sets": 3, "epsilon": 1.5}
FAR: dict[str, Any] = {"n": 5000, "sets": 20}
TOO_FEW = "Left out, because M = 1 and they need at least 2 sets"
TOO_SMALL = "so small that releases left out of the sums"
TOO_LARGE = "Left out, because the distribution of the sum is beyond reach"


def short(key: str) -> str:
    return RULES[key].label.split(" (")[0]


def check_shown(page: AppTest) -> None:
    """`check_sound`; beyond exact sums and before a run the picture of coverage has nothing but its axes."""
    if marks(page)[:1] != [BEYOND]:
        check_sound(page)
        return
    assert not page.exception, page.exception[0].value
    assert not WRONG.search(text(page))
    assert not any(message["figure"]["data"] == [] for key, message in figures(page).items() if key != "cv_picture")


def table_called(page: AppTest, name: str) -> str:
    """The HTML of the table with that accessible name."""
    return next(part for part in html(page) if f'aria-label="{escape(name)}"' in part)


def rows_of(table: str) -> list[list[str]]:
    """The cells of each row of a small table, tags left out."""
    body = table.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body)
    ]


def check_percent(cell: str, share: float, digits: int) -> None:
    """The cell says the share in so many digits, and no decimals that an error of 10⁻⁸ would change."""
    assert cell.endswith(" %")
    unit = 10.0 ** (math.floor(math.log10(abs(100 * share))) - digits + 1) if share else 0.0
    assert abs(value_of(cell) - 100 * share) <= max(0.51 * unit, 0.51e-6)


def coverage_rows(page: AppTest) -> dict[str, dict[str, str]]:
    """The cells of the table of coverage by the rule's short name and the column's head."""
    table = table_called(page, "Coverage of each rule")
    head = [unescape(cell) for cell in re.findall(r"<th[^>]*>(.*?)</th>", table)][1:]
    return {rule: dict(zip(head, cells, strict=True)) for rule, cells in table_rows(table).items()}


def design(**state: Any) -> dict[str, Any]:
    """A design by name, with the page's defaults."""
    asked = {"law": "beta_binomial", "prior": "pure", "n": 100, "sets": 5, "epsilon": 2.0, "delta": 1e-6, "alpha": 10.0}
    asked |= {"p": 0.25, "level": 0.95, "repetitions": 10_000, "seed": 1} | state
    return {"m": asked["n"]} | asked


def release_at(**state: Any) -> TwoCellSynthesizer:
    asked = design(**state)
    delta = asked["delta"] if asked["prior"] == "exact" else 0.0
    names = ("prior", "n", "m", "sets", "epsilon", "alpha")
    return Design(mechanism=asked["law"], delta=delta, **{name: asked[name] for name in names}).release


def plan_at(**state: Any) -> CoveragePlan:
    """What Start is to run: every rule that sets and sizes allow."""
    asked, release = design(**state), release_at(**state)
    rules = tuple(key for key, rule in RULES.items() if rule.fits(release, asked["sets"]))
    names = ("p", "sets", "level", "repetitions", "seed")
    return CoveragePlan(synthesizer=release, rules=rules, **{name: asked[name] for name in names})


def run_of(page: AppTest) -> Run | None:
    run: Run | None = page.session_state.get("cv_run", None)
    return run


def press(page: AppTest, key: str = "go") -> None:
    page.button(key=f"cv_{key}").click().run()


def words_on(page: AppTest, key: str = "go") -> str:
    label: str = page.button(key=f"cv_{key}").label
    return label


def to_the_end(page: AppTest) -> None:
    """Let the page draw itself again, as a browser would, until nothing moves."""
    for _ in range(200):
        run = run_of(page)
        assert run is not None
        if not run.running:
            assert run.complete
            return
        page.run()
        check_shown(page)
    raise AssertionError("the simulation did not come to an end")


def started(**state: Any) -> AppTest:
    """The page after Start and all repetitions."""
    page = open_coverage(**state)
    press(page)
    to_the_end(page)
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


def test_the_first_answer_is_exact_and_there_before_any_simulation() -> None:
    page = open_coverage()
    check_sound(page)
    assert not problems(page)
    assert marks(page) == ["81.15 %"]
    assert "13.8 points too few" in text(page)
    assert set(figures(page)) == {"cv_picture", "cv_estimates"}
    assert run_of(page) is None
    assert words_on(page) == "Start"
    assert page.button(key="cv_reset").disabled
    assert {cells["simulated"] for cells in coverage_rows(page).values()} == {"not yet"}


GOLDEN = [
    ({"sets": 2}, "75.442 %"),
    ({"sets": 5}, "81.154 %"),
    ({"sets": 10}, "66.887 %"),
    ({"sets": 2, "p": 0.5}, "98.817 %"),
]


@pytest.mark.parametrize(("state", "shown"), GOLDEN, ids=str)
def test_the_coverage_of_charests_interval_is_the_golden_number(state: dict[str, Any], shown: str) -> None:
    page = open_coverage(**state)
    assert coverage_rows(page)["Reiter 2002"]["coverage, exact"] == shown
    assert marks(page) == [f"{readable(float(shown[:-2]), 4)} %"]


DESIGNS: list[dict[str, Any]] = [
    *({**SMALL, "law": law, "p": 0.4} for law in LAWS),
    *({**SMALL, "law": law, "prior": "exact", "delta": 1e-3} for law in WITH_PRIOR),
    *({**SMALL, "law": law, "prior": "own", "alpha": 3.25, "m": 17} for law in WITH_PRIOR),
    {**SMALL, "level": 0.8, "sets": 1},
    {**SMALL, "p": 0.0},
    {**SMALL, "p": 1.0, "sets": 2},
]


def state_of(asked: dict[str, Any]) -> dict[str, Any]:
    return asked | {"m_is_n": "m" not in asked}


@pytest.mark.parametrize("asked", DESIGNS, ids=str)
def test_the_numbers_in_the_table_are_the_exact_ones(asked: dict[str, Any]) -> None:
    page = open_coverage(rules=EVERY, **state_of(asked))
    check_sound(page)
    level, p, sets = asked.get("level", 0.95), asked.get("p", 0.25), asked["sets"]
    rules = EVERY if sets > 1 else SINGLE
    exact = exact_coverages(synthesizer=release_at(**asked), p=p, sets=sets, rules=rules, level=level)
    shown = coverage_rows(page)
    assert list(shown) == [short(key) for key in rules]
    for key, one in exact.items():
        cells = shown[short(key)]
        check_percent(cells["coverage, exact"], one.coverage, 5)
        width = one.mean_width_inside
        known = math.isfinite(width) and one.mean_width_inside_error_bound <= 1e-4
        assert cells["mean length inside 0 to 1"] == (readable(width, 4) if known else "–")
        check_percent(cells["no interval"], one.negative_variance_share, 3)
        check_percent(cells["hold all of 0 to 1"], one.vacuous_share, 3)
        given = (one.coverage_given_nonnegative_total, one.coverage_given_negative_total)
        for column, part in zip(("coverage where T\u00a0≥\u00a00", "where T\u00a0<\u00a00"), given, strict=True):
            assert (column in cells) == (one.sets > 1)
            if math.isfinite(part):
                check_percent(cells[column], part, 3)
            else:
                assert cells.get(column, "–") == "–"
    first = exact[rules[0]].coverage
    [mark] = marks(page)
    check_percent(mark, first, 4)
    assert (" too few" in text(page)) == (first < level - 5e-4)
    assert (" too many" in text(page)) == (first > level + 5e-4)


@pytest.mark.parametrize("level", [0.001, 0.9, 0.999, 0.99999, 0.999999])
def test_the_promised_level_is_written_with_all_its_digits(level: float) -> None:
    page = open_coverage(level=level, **SMALL)
    check_sound(page)
    (said,) = re.findall(r"of the ([\d.]+) % intervals", text(page))
    assert float(said) == pytest.approx(100 * level, rel=1e-12)


def lines_of(page: AppTest, key: str = "cv_picture") -> list[dict[str, Any]]:
    return [trace for trace in figures(page)[key]["figure"]["data"] if trace.get("mode") == "lines"]


def grown(page: AppTest) -> AppTest:
    """The page with its curves complete."""
    for _ in range(100):
        if page.session_state["cv_growing"].stream is None:
            return page
        page.run()
    raise AssertionError("the curves did not come to an end")


@pytest.mark.parametrize("law", LAWS)
def test_the_curves_along_p_are_exact_and_hold_the_chosen_point(law: str) -> None:
    page = grown(open_coverage(law=law, p=0.123, rules=EVERY, **SMALL))
    lines = lines_of(page)
    assert len(lines) == len(EVERY)
    points = np.array(lines[0]["x"])
    assert 0.123 in points
    assert len(points) > 200
    some = slice(None, None, 9)
    exact = coverage_by_proportion(release_at(law=law, **SMALL), proportions=points[some], sets=3, rules=EVERY)
    for trace, line in zip(lines, exact.coverage, strict=True):
        assert np.allclose(np.array(trace["y"])[some], line, rtol=0, atol=1e-8)
    assert "within 0.1 points of the exact coverage everywhere" in text(page) or "half a pixel apart" in text(page)


@pytest.mark.parametrize(("law", "prior"), [*((law, "pure") for law in LAWS), ("beta_binomial", "exact")])
def test_the_curves_along_epsilon_are_exact_and_hold_the_chosen_point(law: str, prior: str) -> None:
    page = grown(open_coverage(law=law, prior=prior, delta=1e-3, axis="against ε", **SMALL))
    lines = lines_of(page)
    points = list(lines[0]["x"])
    assert 1.5 in points
    picked = points[::6]
    exact = coverage_by_synthesizer(
        [release_at(law=law, prior=prior, delta=1e-3, **SMALL | {"epsilon": float(one)}) for one in picked],
        p=0.25, sets=3, rules=DEFAULT_RULES,
    )  # fmt: skip
    for trace, line in zip(lines, exact.coverage, strict=True):
        assert np.allclose([trace["y"][points.index(one)] for one in picked], line, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("axis", "name", "places"), [("against p", "p", [0.0, 0.3171, 1.0]), ("against ε", "epsilon", [0.01, 2.345, 250.0])]
)
def test_moving_along_the_axis_computes_no_line_anew_and_the_line_passes_the_chosen_point(
    axis: str, name: str, places: list[float]
) -> None:
    page = grown(open_coverage(axis=axis, **SMALL))
    held = page.session_state["cv_growing"]
    for place in places:
        page.session_state[f"cv_{name}"] = place
        page.run()
        check_sound(page)
        assert page.session_state["cv_growing"] is held
        at = {"p": 0.25, **SMALL, name: place}
        release = release_at(**SMALL | {"epsilon": at["epsilon"]})
        exact = exact_coverages(synthesizer=release, p=at["p"], sets=3, rules=DEFAULT_RULES)
        for trace, one in zip(lines_of(page), exact.values(), strict=True):
            assert trace["y"][list(trace["x"]).index(place)] == pytest.approx(one.coverage, abs=1e-12)


@pytest.mark.parametrize(("axis", "chosen"), [("against p", 0.25), ("against ε", 2.0)])
def test_the_chosen_point_stands_in_both_pictures_with_its_number_and_the_level(axis: str, chosen: float) -> None:
    page = open_coverage(axis=axis)
    picture = figures(page)["cv_picture"]["figure"]
    points = [trace for trace in picture["data"] if "markers" in trace.get("mode", "")]
    assert {tuple(trace["x"]) for trace in points} == {(chosen,)}
    assert [trace["text"] for trace in points if "text" in trace["mode"]] == [["<b>81.154 %</b>"]]
    assert 0.95 in [shape["y0"] for shape in picture["layout"]["shapes"]]


def test_an_own_prior_has_no_axis_of_epsilon_and_the_picture_goes_back_to_p() -> None:
    page = open_coverage(axis="against ε", **SMALL)
    page.radio(key="cv_prior").set_value("own").run()
    check_sound(page)
    assert "true proportion" in figures(page)["cv_picture"]["figure"]["layout"]["xaxis"]["title"]["text"]
    page = open_coverage({"cv_axis": "against ε", "cv_prior": "own", "cv_n": "30"})
    check_sound(page)
    assert not problems(page)
    page = open_coverage(law="laplace", prior="own", axis="against ε", **SMALL)
    assert figures(page)["cv_picture"]["figure"]["layout"]["xaxis"]["type"] == "log"


def test_beyond_exact_sums_the_page_says_so_and_the_simulation_takes_over() -> None:
    rules = [key for key in DEFAULT_RULES if not RULES[key].knows_noise]
    page = open_coverage(repetitions=300, rules=rules, **FAR)
    check_shown(page)
    assert marks(page) == [BEYOND]
    assert "the simulation takes over" in text(page)
    assert {cells["coverage, exact"] for cells in coverage_rows(page).values()} == {"beyond reach"}
    press(page)
    to_the_end(page)
    found = performance_of(run_coverage(plan_at(repetitions=300, **FAR)))
    check_simulated(page, found, rules)
    dots = [trace for trace in figures(page)["cv_picture"]["figure"]["data"] if "error_y" in trace]
    assert [trace["y"][0] for trace in dots] == [found.rules[key].coverage.value for key in rules]
    for section in ("Why it fails", "Length, and its limit", "Bias and variance", "Download"):
        closer = open_coverage(look=section, rules=rules, **FAR)
        check_shown(closer)


@pytest.mark.parametrize(
    ("axis", "epsilon"), [("against p", 2.0), ("against ε", 1e-3), ("against ε", 2.0), ("against ε", 500.0)]
)
def test_beyond_exact_sums_the_dots_stand_inside_the_picture(axis: str, epsilon: float) -> None:
    page = started(axis=axis, repetitions=100, **FAR | {"epsilon": epsilon})
    picture = figures(page)["cv_picture"]["figure"]
    low, high = picture["layout"]["xaxis"]["range"]
    for trace in picture["data"]:
        place = math.log10(trace["x"][0]) if axis == "against ε" else trace["x"][0]
        assert low <= place <= high


STUDIES: list[dict[str, Any]] = [
    {"repetitions": 3000, "seed": 5},
    {"repetitions": 1, "seed": 5},
    {"repetitions": 2, **SMALL},
    {"repetitions": 1234, "seed": 0, "sets": 1, "n": 40},
    *({"repetitions": 1100, "law": law, **SMALL} for law in LAWS),
    {"repetitions": 1100, "prior": "exact", "delta": 1e-3, "level": 0.8, **SMALL},
    {"repetitions": 1100, "prior": "own", "alpha": 2.5, "p": 0.0, "m": 7, **SMALL},
]


@pytest.mark.parametrize("asked", STUDIES, ids=str)
def test_the_simulated_column_is_that_of_the_same_plan(asked: dict[str, Any]) -> None:
    rules = EVERY if asked.get("sets", 5) > 1 else SINGLE
    page = started(rules=rules, **state_of(asked))
    found = performance_of(run_coverage(plan_at(**asked)))
    check_simulated(page, found, rules)
    run = run_of(page)
    assert run is not None
    assert run.tally == run_coverage(plan_at(**asked))
    exact = exact_coverages(
        synthesizer=release_at(**asked), p=asked.get("p", 0.25), sets=asked.get("sets", 5), rules=rules,
        level=asked.get("level", 0.95),
    )  # fmt: skip
    for key, cells in zip(rules, coverage_rows(page).values(), strict=True):
        share, c = found.rules[key].coverage.value, exact[key].coverage
        if 1e-9 < c < 1 - 1e-9:
            apart = (share - c) / math.sqrt(c * (1 - c) / asked["repetitions"])
            if asked["repetitions"] * min(c, 1 - c) < FEWEST_HITS:
                assert cells["apart, in standard errors"] == "too few hits"
                continue
            assert value_of(cells["apart, in standard errors"]) == pytest.approx(apart, abs=6e-3, rel=6e-3)


def test_dots_with_their_bars_are_those_of_the_run() -> None:
    page = started(repetitions=3000)
    found = performance_of(run_coverage(plan_at(repetitions=3000)))
    dots = [trace for trace in figures(page)["cv_picture"]["figure"]["data"] if "error_y" in trace]
    assert [trace["legendgroup"] for trace in dots] == list(DEFAULT_RULES)
    for trace in dots:
        one = found.rules[trace["legendgroup"]]
        assert (trace["x"][0], trace["y"][0]) == (0.25, one.coverage.value)
        assert trace["y"][0] + trace["error_y"]["array"][0] == pytest.approx(one.coverage_high)
        assert trace["y"][0] - trace["error_y"]["arrayminus"][0] == pytest.approx(one.coverage_low)


def progress(page: AppTest) -> tuple[int, int, str]:
    """Repetitions done and asked for, and the state, as the page says them."""
    (said,) = re.findall(r"([\d,]+) of ([\d,]+) repetitions, (\w+), ", text(page))
    return int(said[0].replace(",", "")), int(said[1].replace(",", "")), said[2]


LONG = 10_000_000
"""Repetitions that no test waits for."""


def test_a_run_says_how_far_it_is_how_long_and_how_fast() -> None:
    page = open_coverage(repetitions=LONG, seed=17)
    press(page)
    check_sound(page)
    done, asked, state = progress(page)
    assert 0 < done < asked == LONG
    assert state == "running"
    assert words_on(page) == "Stop"
    before = done
    page.run()
    assert progress(page)[0] > before
    said = re.search(r"running, ([\d.]+) s elapsed, ([\d.]+) s of work, ([\d,]+) a second of work; seed 17", text(page))
    assert said is not None
    run = run_of(page)
    assert run is not None
    assert float(said[1]) == pytest.approx(run.elapsed, rel=0.06)
    assert run.elapsed >= run.seconds
    assert float(said[2]) == pytest.approx(run.seconds, rel=0.06)
    assert float(said[3].replace(",", "")) == pytest.approx(run.done / run.seconds, rel=0.06)


def test_stop_stops_and_leaves_nothing_at_work() -> None:
    page = open_coverage(repetitions=LONG)
    press(page)
    press(page)
    done, _, state = progress(page)
    assert state == "stopped"
    assert words_on(page) == "Resume"
    run = run_of(page)
    assert run is not None
    assert (run.running, run.stream) == (False, None)
    page.run()
    assert progress(page) == (done, LONG, "stopped")
    check_no_threads()


def check_no_threads() -> None:
    assert not [one for one in threading.enumerate() if one.name.startswith("dpviz-study")]


def test_the_same_seed_gives_the_same_digits_after_stops_and_resumes() -> None:
    asked = {"repetitions": 150_000, "seed": 3, **SMALL}
    page = open_coverage(**asked)
    press(page)
    stops = 0
    while (run := run_of(page)) is not None and not run.complete and stops < 4:
        press(page)
        assert words_on(page) in ("Resume", "Run again")
        if words_on(page) == "Resume":
            stops += 1
            press(page)
    to_the_end(page)
    assert stops >= 2
    check_simulated(page, performance_of(run_coverage(plan_at(**asked))), list(DEFAULT_RULES))
    assert words_on(page) == "Run again"


def test_the_same_seed_gives_the_same_digits_from_the_address() -> None:
    asked = {"repetitions": 2500, "seed": 123, "p": 0.3, "n": 40, "sets": 2, "epsilon": 1.25, "level": 0.9}
    page = open_coverage({f"cv_{name}": str(value) for name, value in asked.items()} | {"cv_rules": ".".join(EVERY)})
    check_sound(page)
    assert not problems(page)
    press(page)
    to_the_end(page)
    check_simulated(page, performance_of(run_coverage(plan_at(**asked))), EVERY)


def test_another_seed_gives_other_digits() -> None:
    first, second = (coverage_rows(started(repetitions=3000, seed=seed)) for seed in (1, 2))
    assert first["Reiter 2002"]["simulated"] != second["Reiter 2002"]["simulated"]
    assert first["Reiter 2002"]["coverage, exact"] == second["Reiter 2002"]["coverage, exact"]


def test_run_again_gives_the_same_digits() -> None:
    page = started(repetitions=3000)
    before = coverage_rows(page)
    press(page)
    to_the_end(page)
    assert coverage_rows(page) == before


def test_reset_takes_everything_simulated_away() -> None:
    for wait in (False, True):
        page = open_coverage(repetitions=3000 if wait else LONG)
        fresh = coverage_rows(page)
        press(page)
        run = run_of(page)
        if wait:
            to_the_end(page)
        press(page, "reset")
        check_sound(page)
        assert run is not None
        assert (run.running, run.stream, run_of(page)) == (False, None, None)
        assert coverage_rows(page) == fresh
        assert words_on(page) == "Start"
        assert page.button(key="cv_reset").disabled
        assert set(figures(page)) == {"cv_picture", "cv_estimates"}


CHANGES: list[tuple[str, Any]] = [
    ("p", 0.3), ("epsilon", 3.0), ("sets", 2), ("n", 60), ("level", 0.8), ("seed", 9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_changing_a_control_while_it_runs_gives_the_new_run_at_once_and_leaves_no_work(name: str, value: Any) -> None:
    page = open_coverage(repetitions=LONG, **SMALL)
    press(page)
    page.run()
    old, before = run_of(page), progress(page)[0]
    page.number_input(key=f"cv_{name}").set_value(value).run()
    check_sound(page)
    new = run_of(page)
    assert old is not None
    assert new is not None
    assert (old.running, old.stream) == (False, None)
    assert new.running
    assert new.plan == plan_at(**{"repetitions": LONG, **SMALL} | {name: value})
    assert 0 < progress(page)[0] < before
    press(page)
    assert new.tally is not None
    short_plan = plan_at(**{"repetitions": new.done, **SMALL} | {name: value})
    check_simulated(page, performance_of(run_coverage(short_plan)), list(DEFAULT_RULES))
    check_no_threads()


@pytest.mark.parametrize("widget", ["law", "prior"])
def test_changing_a_choice_while_it_runs_gives_the_new_run_at_once(widget: str) -> None:
    page = open_coverage(repetitions=LONG, **SMALL)
    press(page)
    old = run_of(page)
    if widget == "law":
        page.selectbox(key="cv_law").set_value("geometric").run()
    else:
        page.radio(key="cv_prior").set_value("own").run()
    check_sound(page)
    new = run_of(page)
    assert old is not None
    assert new is not None
    assert (old.stream, new.running) == (None, True)
    assert new.plan == plan_at(**{"repetitions": LONG, **SMALL, widget: "geometric" if widget == "law" else "own"})


@pytest.mark.parametrize("complete", [True, False])
def test_changing_a_control_when_nothing_runs_starts_nothing_and_shows_no_old_number(complete: bool) -> None:
    page = open_coverage(repetitions=2000 if complete else LONG, **SMALL)
    press(page)
    if complete:
        to_the_end(page)
    else:
        press(page)
    page.number_input(key="cv_p").set_value(0.4).run()
    check_sound(page)
    assert run_of(page) is None
    assert words_on(page) == "Start"
    assert {cells["simulated"] for cells in coverage_rows(page).values()} == {"not yet"}


def test_to_show_other_rules_costs_no_new_run_and_changes_no_digit() -> None:
    page = started(repetitions=3000)
    before, run = coverage_rows(page), run_of(page)
    page.multiselect(key="cv_rules").set_value(["rubin_1987", "as_if_real"]).run()
    check_sound(page)
    assert run_of(page) is run
    shown = coverage_rows(page)
    assert list(shown) == ["Rubin 1987", "As if real"]
    assert shown["As if real"] == before["As if real"]
    assert marks(page) == [f"{readable(float(shown['Rubin 1987']['coverage, exact'][:-2]), 4)} %"]


@pytest.mark.parametrize("more", [2600, 5000])
def test_more_repetitions_go_on_from_those_there_are(more: int) -> None:
    page = started(repetitions=2300, **SMALL)
    page.number_input(key="cv_repetitions").set_value(more).run()
    assert progress(page)[:2] == (2300, more)
    assert words_on(page) == "Resume"
    press(page)
    to_the_end(page)
    check_simulated(page, performance_of(run_coverage(plan_at(repetitions=more, **SMALL))), list(DEFAULT_RULES))


def test_fewer_repetitions_than_there_are_show_no_number_of_the_longer_run() -> None:
    page = started(repetitions=2300, **SMALL)
    page.number_input(key="cv_repetitions").set_value(700).run()
    assert run_of(page) is None
    press(page)
    to_the_end(page)
    check_simulated(page, performance_of(run_coverage(plan_at(repetitions=700, **SMALL))), list(DEFAULT_RULES))


def test_a_refused_value_loses_no_run() -> None:
    page = started(repetitions=2000, **SMALL)
    before = coverage_rows(page)
    page.number_input(key="cv_n").set_value(0).run()
    assert len(problems(page)) == 1
    page.number_input(key="cv_n").set_value(30).run()
    check_sound(page)
    assert coverage_rows(page) == before


def caterpillar(page: AppTest) -> dict[str, dict[str, Any]]:
    return {trace["name"]: trace for trace in figures(page)["cv_caterpillar"]["figure"]["data"]}


@pytest.mark.parametrize("rule", ["reiter_2002", "raghunathan_2003", "as_if_real", "blaker_2000"])
def test_the_first_hundred_intervals_are_those_of_the_run(rule: str) -> None:
    page = started(repetitions=3000, rules=[rule])
    tally = run_coverage(plan_at(repetitions=3000))
    place, estimates = EVERY.index(rule), tally.shown.estimates
    low, high = tally.shown.low[place], tally.shown.high[place]
    drawn = caterpillar(page)
    assert sum(len(trace["y"]) for trace in drawn.values()) == 100
    covered = 0
    for name, trace in drawn.items():
        for place, x in zip(trace["y"], trace["x"], strict=True):
            one = int(place) - 1
            if math.isnan(low[one]):
                assert name == "no interval"
                assert x == estimates[one]
            else:
                hit = low[one] <= 0.25 <= high[one]
                assert x == pytest.approx((max(low[one], x - 5) + min(high[one], x + 5)) / 2)
                assert name == ("covers the truth" if hit else "misses it")
                covered += hit
    without = int(np.isnan(low).sum())
    assert f"{covered} of the first 100 hold p, {without} have no interval." in text(page)
    assert (without > 0) == (rule == "raghunathan_2003")


def test_the_first_intervals_grow_before_the_readers_eyes() -> None:
    page = open_coverage(repetitions=LONG)
    press(page)
    seen = []
    for _ in range(100 // REVEALED + 1):
        seen.append(sum(len(trace["y"]) for trace in caterpillar(page).values()))
        assert next_steps(page) == ["cv_step"]
        page.run()
    assert seen[0] < seen[1] < seen[2]
    assert seen[-1] == 100


def test_fewer_than_a_hundred_repetitions_are_all_shown() -> None:
    page = started(repetitions=7, **SMALL)
    assert sum(len(trace["y"]) for trace in caterpillar(page).values()) == 7
    assert "of the first 7 hold p" in text(page)


@pytest.mark.parametrize("p", [0.25, 0.5])
def test_the_law_of_the_estimate_is_a_line_over_the_simulated_shares_with_its_shift(p: float) -> None:
    page = started(repetitions=3000, p=p)
    law = estimate_law(release_at(p=p), p=p, sets=5)
    tally = run_coverage(plan_at(repetitions=3000, p=p))
    picture = figures(page)["cv_estimates"]["figure"]
    line = next(trace for trace in picture["data"] if trace["type"] == "scatter")
    bars = next(trace for trace in picture["data"] if trace["type"] == "bar")
    inside = np.isin(law.support, line["x"])
    assert np.allclose(line["y"], law.probabilities[inside], rtol=0, atol=1e-12)
    assert np.array_equal(bars["y"], tally.totals[inside] / 3000)
    assert sum(bars["y"]) == pytest.approx(1.0)
    alpha = 100 / math.expm1(2 / 5)
    mean = (100 * p + alpha) / (100 + 2 * alpha)
    assert [shape["x0"] for shape in picture["layout"]["shapes"]] == [p, pytest.approx(mean, rel=1e-9)]
    moved = "The prior does not move the estimate noticeably." if p == 0.5 else f"from p = {p:g} to {readable(mean, 5)}"
    assert moved in text(page)


ALONG_EPSILON = [one for one in STUDY_EDGES if one.get("prior") != "own" and not {"n", "m", "delta"} & set(one)]


@pytest.mark.parametrize("extreme", ALONG_EPSILON, ids=str)
def test_extreme_settings_are_answered_along_epsilon(extreme: dict[str, Any]) -> None:
    page = grown(open_coverage(axis="against ε", **{"n": 12, "sets": 5} | extreme))
    check_sound(page)
    assert [one for one in problems(page) if TOO_FEW not in one and TOO_LARGE not in one] == []
    assert lines_of(page)


@pytest.mark.parametrize("law", [law for law in LAWS if law != "beta_binomial"])
@pytest.mark.parametrize(
    "extreme", [{"p": 0.0}, {"epsilon": 1e-4}, {"epsilon": 700.0}, {"n": 1}, {"sets": 1}, {"sets": 20}], ids=str
)
def test_extreme_settings_of_every_law_are_answered(law: str, extreme: dict[str, Any]) -> None:
    page = started(law=law, repetitions=60, **{"n": 12, "sets": 5} | extreme)
    check_shown(page)
    assert [one for one in problems(page) if TOO_FEW not in one and TOO_LARGE not in one] == []


@pytest.mark.parametrize("law", WITH_PRIOR)
@pytest.mark.parametrize("epsilon", [1e-4, 250.0, 700.0])
def test_the_exact_rule_has_a_prior_at_every_promise(law: str, epsilon: float) -> None:
    page = open_coverage(law=law, prior="exact", **SMALL | {"epsilon": epsilon})
    check_sound(page)
    assert problems(page) == []


FIRST_WORDS = {
    "Why it fails": "Three things can go wrong, and each can be repaired",
    "Length, and its limit": "shortest possible expected length",
    "Bias and variance": "as in Charest's Table 2",
    "As published": "Charest (2011), Table 1",
    "Download": "Tables, every digit",
    "Why, and sources": "The study.",
}


def test_what_only_the_simulation_says_stands_with_its_error() -> None:
    page = started(look="Bias and variance", repetitions=3000)
    found = performance_of(run_coverage(plan_at(repetitions=3000)))
    rows = rows_of(table_called(page, "Simulated measures of each rule"))
    for key, row in zip(DEFAULT_RULES, rows, strict=True):
        one = found.rules[key]
        for cell, measure in zip(
            row[2:], (one.mean_width_inside, one.relative_error, one.negative_variance_share), strict=True
        ):
            if math.isnan(measure.value):
                assert (cell, RULES[key].has_variance) == ("–", False)
            else:
                assert cell == f"{readable(measure.value, 5)} ± {readable(measure.error, 2)}"
        # A mean that hardly any release makes is not one that a simulation can say.
        assert (row[1] == "–") == RULES[key].few_degrees


@pytest.mark.parametrize("sets", [2, 5])
def test_how_often_the_plain_variance_is_negative_is_said(sets: int) -> None:
    page = open_coverage(look="Bias and variance", sets=sets)
    said = re.search(r"T is below 0 in ([\d.]+) % of the releases, exactly", text(page))
    assert said is not None
    plan = dataclasses.replace(plan_at(repetitions=20_000, sets=sets), rules=("raghunathan_2003",))
    share = performance_of(run_coverage(plan)).rules["raghunathan_2003"].negative_variance_share
    assert abs(float(said[1]) / 100 - share.value) < 4 * share.error


def test_time_on_another_page_is_no_time_of_the_run() -> None:
    run = Run(plan_at(repetitions=1000))
    run.advance()
    assert run.clock is not None
    run.clock -= 100.0
    run.come_back()
    run.advance()
    assert run.elapsed < 50
    run.clock -= 1.0
    run.come_back()
    run.advance()
    assert run.elapsed > 1


def test_every_section_is_known() -> None:
    assert list(FIRST_WORDS) == list(SECTIONS)


def test_why_it_fails_shows_what_each_cause_costs_and_every_combination_of_repairs() -> None:
    page = open_coverage(look="Why it fails", rules=EVERY)
    costs = table_rows(table_called(page, "What each cause costs, in points"))
    combinations = rows_of(table_called(page, "Coverage with each combination of repairs"))
    drawn = {trace["name"]: trace for trace in figures(page)["cv_causes"]["figure"]["data"]}
    assert list(costs) == [short(key) for key in COMBINING_RULES]
    assert len(combinations) == 8
    for column, key in enumerate(COMBINING_RULES, start=1):
        one = coverage_decomposition(synthesizer=release_at(), p=0.25, sets=5, rule=key)
        promised, *effects, published = costs[short(key)]
        assert promised == "95 %"
        check_percent(published, one.published, 4)
        shown = [value_of(cell.replace("+", "")) for cell in effects]
        assert shown == pytest.approx([-100 * value for value in one.lost.values()], rel=1e-3, abs=1e-5)
        assert 95 + sum(shown) == pytest.approx(100 * one.published, abs=0.03)
        ends = [
            x
            for x, size in zip(drawn[RULES[key].label]["x"], drawn[RULES[key].label]["marker"]["size"], strict=True)
            if size
        ]
        assert ends == pytest.approx([*(-100 * value for value in one.lost.values()), 100 * (one.published - 0.95)])
        assert sorted(value_of(row[column]) for row in combinations) == pytest.approx(
            sorted(100 * one.coverage.ravel()), rel=1e-3, abs=1e-3
        )
        check_percent(combinations[0][column], one.published, 4)
        check_percent(combinations[-1][column], one.repaired, 4)
        if key == "reiter_2002":
            before, after = marks(page)[1].split(" → ")
            check_percent(before, 0.81154, 4)
            check_percent(after, one.repaired, 4)
    assert "mainly because the prior's pull costs 60.3 points" in text(page)
    assert "5.07 times as long" in text(page)  # A/n = 1 + 2/(e^{2/5} − 1)


def test_bias_and_variance_are_the_closed_form_and_the_simulation_beside_it() -> None:
    page = started(look="Bias and variance", repetitions=3000)
    law = estimate_law(release_at(), p=0.25, sets=5)
    found = performance_of(run_coverage(plan_at(repetitions=3000)))
    rows = rows_of(table_called(page, "Bias and variance of the estimate"))
    closed = [law.bias, math.sqrt(law.variance), law.variance + law.bias**2]
    simulated = [found.bias, found.empirical_error, found.mean_square_error]
    for row, exact, ours in zip(rows, closed, simulated, strict=True):
        assert value_of(row[1]) == pytest.approx(exact, rel=1e-4)
        assert row[2] == f"{readable(ours.value, 5)} ± {readable(ours.error, 2)}"
        assert value_of(row[3]) == pytest.approx((ours.value - exact) / ours.error, abs=6e-3, rel=6e-3)
    variances = table_rows(table_called(page, "How far each rule's variance is off"))
    assert list(variances) == [short(key) for key in DEFAULT_RULES if RULES[key].has_variance]
    for key in (one for one in DEFAULT_RULES if RULES[one].has_variance):
        one = coverage_decomposition(synthesizer=release_at(), p=0.25, sets=5, rule=key)
        cells = variances[short(key)]
        assert value_of(cells[0]) == pytest.approx(one.mean_variance, rel=1e-4)
        assert value_of(cells[1]) == pytest.approx(100 * (one.mean_variance / law.variance - 1), rel=1e-4)
        ours = found.rules[key].relative_bias
        assert cells[2] == f"{readable(ours.value, 5)} ± {readable(ours.error, 2)}"
    for words, count in rows_of(table_called(page, "Repetitions needed")):
        wanted = float(re.findall(r"[\d.]+", words)[0]) / 100
        c = exact_coverages(synthesizer=release_at(), p=0.25, sets=5, rules=["reiter_2002"])["reiter_2002"].coverage
        needed = int(count.replace(",", ""))
        assert c * (1 - c) / needed <= wanted**2 * (1 + 1e-9)
        assert c * (1 - c) / (needed - 1) > wanted**2


def test_charests_tables_stand_beside_ours_with_the_error_of_the_difference() -> None:
    page = open_coverage(look="As published", **SMALL)
    check_sound(page)
    for number in (1, 2):
        name = f'aria-label="Table {number}, printed and exact"'
        (table,) = [part for part in html(page) if name in part]
        cells = re.findall(r"<td class=num[^>]*><b>(.*?)</b><br>(.*?)<br><small>z = (.*?), ± (.*?)</small></td>", table)
        lines = cached(compare_charest)(number)
        assert len(cells) == len(lines) > 10
        printed = [value for row in charest_table(number).rows for value in row.values()]
        for line, cell in zip(lines, cells, strict=True):
            assert any(value_of(cell[0]) == pytest.approx(value) for value in printed)
            assert cell == (
                readable(line.printed, 5), readable(round(line.ours, 4), 5), readable(round(line.z, 2), 3),
                readable(line.error, 2),
            )  # fmt: skip
            if number == 1 and (sets := line.design["sets"]):
                with mpmath.workdps(30):
                    alpha = 100 / mpmath.expm1(mpmath.mpf(line.design["epsilon"]) / sets)
                    p = mpmath.mpf(line.design["p"])
                    bias = 100 * ((100 * p + alpha) / (100 + 2 * alpha) - p) / p
                assert value_of(cell[1]) == pytest.approx(float(bias), rel=1e-4, abs=1e-4)
    far = [sum(abs(line.z) > 3 for line in cached(compare_charest)(number)) for number in (1, 2)]
    assert re.findall(r"(\d+) of \d+ printed numbers lie more than 3", text(page)) == [str(one) for one in far]
    assert all(one.printed in text(page) and one.ours in text(page) for one in ERRATA)


def test_figure_1_holds_the_golden_coverage() -> None:
    page = open_coverage(look="As published", **SMALL)
    golden = {
        ("reiter_2002", "p = 0.25, M = 2", 2.0): 0.75442,
        ("reiter_2002", "p = 0.25, M = 5", 2.0): 0.81154,
        ("reiter_2002", "p = 0.25, M = 10", 2.0): 0.66887,
        ("reiter_2002", "p = 0.5, M = 2", 2.0): 0.98817,
        ("reiter_2002_normal", "p = 0.25, M = 2", 3.0): 0.775,
        ("reiter_2002_normal", "p = 0.25, M = 5", 3.0): 0.635,
        ("reiter_2002_normal", "p = 0.25, M = 10", 3.0): 0.472,
    }
    for (rule, name, epsilon), value in golden.items():
        lines = {trace["name"]: trace for trace in lines_of(page, f"cv_figure_1_{rule}") if "name" in trace}
        at = dict(zip(lines[name]["x"], lines[name]["y"], strict=True))
        assert at[epsilon] == pytest.approx(value, abs=5e-6 if epsilon == 2 else 5e-4)


def test_the_script_shown_is_the_one_of_these_settings() -> None:
    page = open_coverage(look="Download", repetitions=700, seed=4, p=0.3, rules=["rubin_1987", "as_if_real"], **SMALL)
    assert page.code[0].value + "\n" == coverage_script(
        Design(
            mechanism="beta_binomial", p=0.3, repetitions=700, seed=4, rules=("rubin_1987", "as_if_real"), **SMALL
        )
    )  # fmt: skip


def test_a_mode_needs_a_prior_above_one() -> None:
    page = open_coverage(law="posterior_mode", prior="own", alpha=0.5, **SMALL)
    assert not page.exception
    assert problems(page) == ["alpha (prior ones) must be a number above 1, at most 10¹²; got 0.5."]
    page.selectbox(key="cv_law").set_value("posterior_mean").run()
    check_sound(page)
    assert not problems(page)


def test_a_sanitizer_releases_as_many_rows_as_there_are() -> None:
    page = open_coverage(law="laplace", m_is_n=False, m=20, **SMALL)
    (sentence,) = problems(page)
    assert sentence.startswith("m (synthetic rows) must equal n = 30")
    page.toggle(key="cv_m_is_n").set_value(True).run()
    check_sound(page)
    assert not problems(page)


def test_with_one_set_the_rules_that_need_two_are_named_and_left_out() -> None:
    page = open_coverage(sets=1, rules=EVERY, n=30)
    check_sound(page)
    assert list(coverage_rows(page)) == [short(key) for key in SINGLE]
    (sentence,) = problems(page)
    assert sentence.startswith(TOO_FEW)
    assert all(short(key) in sentence for key in EVERY if key not in SINGLE)
    page.number_input(key="cv_sets").set_value(2).run()
    assert not problems(page)
    assert list(coverage_rows(page)) == [short(key) for key in EVERY]


@pytest.mark.parametrize("rule", [key for key in EVERY if key not in SINGLE])
def test_a_rule_that_needs_two_sets_alone_has_a_sentence_and_a_button_that_mends_it(rule: str) -> None:
    page = open_coverage(sets=1, rules=[rule], n=30)
    assert not page.exception
    (sentence,) = problems(page)
    assert "needs at least 2 sets; got 1" in sentence
    assert RULES[rule].label in sentence
    page.button(key="mend_cv_rules").click().run()
    check_sound(page)
    added = [key for key in SINGLE if key in COMBINING_RULES]
    assert list(coverage_rows(page)) == [short(key) for key in added]
    assert page.session_state["cv_rules"] == [rule, *added]


def test_an_empty_list_of_rules_has_a_sentence_and_loses_nothing() -> None:
    page = open_coverage(repetitions=700, **SMALL)
    press(page)
    to_the_end(page)
    before = coverage_rows(page)
    page.multiselect(key="cv_rules").set_value([]).run()
    assert not page.exception
    assert problems(page) == ["Choose at least one rule."]
    page.multiselect(key="cv_rules").set_value(list(DEFAULT_RULES)).run()
    check_sound(page)
    assert not problems(page)
    assert coverage_rows(page) == before


def test_an_address_without_rules_is_the_one_the_page_writes_when_none_is_chosen() -> None:
    assert problems(open_coverage({"cv_rules": ""})) == ["Choose at least one rule."]


def test_what_is_wrong_with_the_rules_in_the_address_costs_none_of_the_others() -> None:
    page = open_coverage({"cv_rules": "foo.rubin_1987.bar.as_if_real"})
    check_sound(page)
    assert list(coverage_rows(page)) == ["Rubin 1987", "As if real"]
    said = " ".join(problems(page))
    assert "foo" in said
    assert "bar" in said
    page.multiselect(key="cv_rules").set_value(["as_if_real"]).run()
    assert not problems(page)


def test_a_rule_twice_in_the_address_is_shown_once() -> None:
    page = open_coverage({"cv_rules": "as_if_real.as_if_real"})
    check_sound(page)
    assert list(coverage_rows(page)) == ["As if real"]
    assert page.session_state["cv_rules"] == ["as_if_real"]


def test_everything_in_the_address_is_taken() -> None:
    address = {
        "cv_law": "posterior_mode", "cv_prior": "exact", "cv_p": "0.3", "cv_n": "40", "cv_m": "30",
        "cv_m_is_n": "false", "cv_sets": "2", "cv_epsilon": "1.25", "cv_delta": "0.001", "cv_level": "0.9",
        "cv_repetitions": "600",
        "cv_seed": "12", "cv_rules": "rubin_1987.as_if_real", "cv_axis": "against ε", "cv_look": "Download",
    }  # fmt: skip
    page = open_coverage(address)
    check_sound(page)
    assert not problems(page)
    asked = {"law": "posterior_mode", "prior": "exact", "p": 0.3, "n": 40, "m": 30, "sets": 2, "epsilon": 1.25}
    asked |= {"delta": 0.001, "level": 0.9, "repetitions": 600, "seed": 12}
    press(page)
    to_the_end(page)
    check_simulated(page, performance_of(run_coverage(plan_at(**asked))), ["rubin_1987", "as_if_real"])
    assert "at p = 0.3, n = 40, m = 30, M = 2 and ε = 1.25, δ = 0.001" in text(page)
    assert figures(page)["cv_picture"]["figure"]["layout"]["xaxis"]["type"] == "log"
    assert page.code


def test_choices_are_kept_in_the_address_and_the_default_is_not() -> None:
    page = open_coverage(**SMALL)
    assert not {"cv_law", "cv_prior", "cv_rules"} & set(address(page))
    page.selectbox(key="cv_law").set_value("posterior_mean").run()
    page.radio(key="cv_prior").set_value("own").run()
    page.multiselect(key="cv_rules").set_value(["as_if_real", "reiter_2002"]).run()
    asked = {key: address(page)[key] for key in ("cv_law", "cv_prior", "cv_rules")}
    assert asked == {"cv_law": "posterior_mean", "cv_prior": "own", "cv_rules": "reiter_2002.as_if_real"}
    page.selectbox(key="cv_law").set_value("beta_binomial").run()
    assert "cv_law" not in address(page)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_its_case_and_stays_marked(name: str) -> None:
    page = open_coverage(law="geometric", n=33, m_is_n=False, m=33, sets=2, epsilon=3.0, level=0.9)
    buttons: Any = next(group for group in page.get("button_group") if group.key == "cv_preset")
    buttons.set_value(name).run()
    check_sound(page)
    assert not problems(page)
    assert {key: page.session_state[f"cv_{key}"] for key in PRESETS[name]} == PRESETS[name]
    assert page.session_state["cv_m_is_n"] is True
    assert page.session_state["cv_preset"] == name
    case = PRESETS[name]
    exact = exact_coverages(
        synthesizer=release_at(**case), p=float(str(case["p"])), sets=int(str(case["sets"])), rules=["reiter_2002"]
    )["reiter_2002"]
    check_percent(coverage_rows(page)["Reiter 2002"]["coverage, exact"], exact.coverage, 5)
    page.number_input(key="cv_epsilon").set_value(1.75).run()
    assert page.session_state["cv_preset"] is None


def test_every_prior_rule_and_law_can_be_chosen() -> None:
    page = open_coverage(**SMALL)
    assert len(page.radio(key="cv_prior").options) == len(PRIOR_RULES)
    assert page.selectbox(key="cv_law").options == [two_cell_laws()[law].label for law in LAWS]
    page.selectbox(key="cv_law").set_value("laplace").run()
    assert "cv_prior" not in [radio.key for radio in page.radio]
    for key in ("cv_delta", "cv_alpha"):
        assert key not in [box.key for box in page.number_input]


def test_tallies_of_a_reader_are_not_those_of_another() -> None:
    one, other = open_coverage(repetitions=700, **SMALL), open_coverage(repetitions=700, **SMALL)
    press(one)
    assert isinstance(run_of(one), Run)
    other.run()
    assert run_of(other) is None
    tally = run_of(one)
    assert tally is not None
    assert tally.tally is None or isinstance(tally.tally, Tally)
