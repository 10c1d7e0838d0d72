"""The page "Coverage": exact numbers at once, curves through them, a run that stops and goes on to the same digits."""

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz import coverage
from dpviz.coverage.performance import first_shares
from dpviz.coverage.report import _simulated_share
from dpviz.designs import Design
from dpviz.export.templates import render
from dpviz.inference import RULES
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.study.plan import simulation_of
from pages.details import coverage_simulation
from pages.details.coverage import SECTIONS
from pages.details.coverage_simulation import KEY, Run
from tests.pages import apptest
from tests.pages.apptest import answer, figure, move, opener, problems, rows_of, said, set_state, settings, texts

FAST = "as fast as it goes"
SMALL: dict[str, Any] = {"n": 30, "sets": 3, "epsilon": 1.5}
SHOWN = ("reiter_2002", "as_if_real")
open_coverage = opener("coverage")
LEFT_OUT = "Left out, because M = 1 and they need at least 2 sets: Reiter 2002."


def design_of(**values: Any) -> Design:
    """A design of the page, with its defaults."""
    rules = {"rules": SHOWN, "repetitions": 100_000}
    return Design(**{"mechanism": "beta_binomial", "n": 100, "sets": 5, "epsilon": 2.0} | rules | values)


def lines(app: AppTest) -> list[dict[str, Any]]:
    return [trace for trace in figure(app, "cv_picture")["data"] if trace.get("mode") == "lines"]


def heights(app: AppTest, points: list[float]) -> np.ndarray:
    """Every line at some of its points."""
    return np.array([[trace["y"][list(trace["x"]).index(x)] for x in points] for trace in lines(app)])


def rows(app: AppTest) -> dict[str, dict[str, str]]:
    """Cells of the table of the rules, by rule and column."""
    return rows_of(app, "Coverage of each rule")


def start(app: AppTest, button: str = "go") -> Run | None:
    """Press the button of the simulation, or another one."""
    run: Run | None = apptest.press(app, f"cv_{button}").session_state[KEY]
    return run


def complete(app: AppTest) -> Run:
    """Press the button, and draw the page until nothing moves."""
    run = start(app)
    while run is not None and run.is_running:
        app.run()
    assert run is not None and run.is_complete
    return run


def check_simulated(app: AppTest, design: Design) -> None:
    """The simulated column is that of the same plan without a stop."""
    shares = first_shares(coverage.run_coverage(simulation_of(design)), design.repetitions)
    shown = {rule: cells["simulated"] for rule, cells in rows(app).items()}
    assert shown == {RULES[key].short_label: _simulated_share(*shares[key], design.repetitions) for key in design.rules}


# The answer, the table and the curves


def test_the_first_answer_is_there_before_any_simulation() -> None:
    app = open_coverage()
    assert answer(app).split("  ")[0].strip() == "81.2 %"
    assert app.button(key="cv_go").label == "Start"
    assert app.button(key="cv_reset").disabled
    assert app.session_state["cv_speed"] == "slow"
    assert {cells["simulated"] for cells in rows(app).values()} == {"not yet"}
    assert rows(app)["Reiter 2002"]["smallest at any p"].startswith("61.86 % at p = 0.000114")
    words = apptest.plain_text(figure(app, "cv_caterpillar")["layout"]["annotations"][0]["text"])
    assert "82 of 100 hold the truth" in " ".join(words.split())


@pytest.mark.parametrize("mechanism", list(two_cell_synthesizers())[::3])
def test_the_table_has_the_exact_numbers_of_every_rule(mechanism: str) -> None:
    app = open_coverage(synthesizer=mechanism, rules=".".join(RULES), p=0.4, **SMALL)
    design = design_of(mechanism=mechanism, p=0.4, alpha=10.0, **SMALL)
    exact = coverage.exact_coverages(synthesizer=design.release, p=0.4, sets=3, rules=list(RULES), level=0.95)
    assert list(rows(app)) == [rule.short_label for rule in RULES.values()]
    for key, cells in zip(RULES, rows(app).values(), strict=True):
        for column, value in (
            ("coverage, exact", exact[key].coverage),
            ("no interval", exact[key].negative_variance_share),
        ):
            digits = float(re.sub(r"[^0-9.]", "", cells[column].replace("10⁻⁶", "0"))) / 100
            assert digits == pytest.approx(value, rel=6e-3, abs=1e-6)


def test_the_curves_are_exact_and_pass_the_chosen_point_wherever_it_is_moved() -> None:
    app = open_coverage(p=0.123, **SMALL)
    design = design_of(**SMALL)
    for p in (0.123, 0.0, 0.3171):
        points = lines(set_state(app, cv_p=p))[0]["x"]
        picked = sorted([points[0], p, points[40], points[-1]])
        exact = coverage.coverage_by_proportion(design.release, proportions=picked, sets=3, rules=SHOWN)
        assert heights(app, picked) == pytest.approx(exact.coverage, abs=1e-6)
    points = lines(set_state(app, cv_axis="against ε", cv_epsilon=2.345))[0]["x"]
    picked = [points[0], 2.345, points[-1]]
    releases = [design_of(**SMALL | {"epsilon": epsilon}).release for epsilon in picked]
    *_, exact = coverage.stream_by_synthesizer(releases, points=picked, p=0.3171, sets=3, rules=SHOWN)
    assert heights(app, picked) == pytest.approx(exact.coverage, abs=1e-6)


def test_an_own_prior_has_no_axis_of_epsilon_and_the_picture_goes_back_to_p() -> None:
    app = open_coverage(axis="against ε", **SMALL)
    assert figure(app, "cv_picture")["layout"]["xaxis"]["type"] == "log"
    set_state(app, cv_prior="own")
    assert figure(app, "cv_picture")["layout"]["xaxis"]["range"] == [0.0, 1.0]
    assert (settings(app).get("cv_axis"), problems(app)) == (None, [])


EXTREMES: list[dict[str, object]] = [
    {"p": 0, "sets": 20}, {"p": 1, "sets": 2}, {"n": 1, "sets": 1}, {"n": 1, "sets": 20}, {"epsilon": 1e-4},
    {"epsilon": 700, "sets": 20}, {"level": 0.999999, "sets": 2}, {"level": 0.001},
]  # fmt: skip


@pytest.mark.parametrize("extreme", EXTREMES, ids=str)
def test_extreme_settings_are_answered_along_epsilon(extreme: dict[str, object]) -> None:
    app = open_coverage(**{"axis": "against ε", "n": 12, "sets": 5} | extreme)
    assert lines(app) and not problems(app)
    assert "The lines are exact at" in said(app) and "values of ε, straight between them." in said(app)


def test_beyond_exact_sums_the_page_says_so_and_the_simulation_takes_over() -> None:
    app = open_coverage(n=2000, sets=5, rules="reiter_2002", repetitions=300, speed=FAST)
    assert "the exact sums would take too long. Press Start to simulate instead." in answer(app)
    assert rows(app)["Reiter 2002"]["coverage, exact"] == "beyond reach"
    complete(app)
    check_simulated(app, design_of(n=2000, rules=("reiter_2002",), repetitions=300))
    for section in SECTIONS:
        set_state(app, cv_look=section)
    app = open_coverage(n=2000, sets=5, rules="reiter_2002.score")
    assert "(noise-aware score) contain the true share, as promised" in answer(app)
    assert "take longer than a few seconds for Reiter 2002: there is no line, only simulated dots." in said(app)


def test_while_exact_sums_take_their_time_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.latest", lambda *_, **__: None)
    app = open_coverage(n=400, sets=6, look="Why it fails")
    assert answer(app).split()[0] == "computing"
    assert {cells["coverage, exact"] for cells in rows(app).values()} == {"…"}
    assert "this part follows" in said(app)
    assert figure(app, "cv_picture")["layout"]["uirevision"]


# Rules and the reader's release


def test_rules_that_need_two_sets_are_left_out_with_a_caption() -> None:
    app = open_coverage(sets=1, n=30)
    assert LEFT_OUT in texts(app)
    assert problems(app) == []
    assert list(rows(app)) == ["As if real"]
    set_state(app, cv_sets=2)
    assert list(rows(app)) == ["Reiter 2002", "As if real"]
    set_state(app, cv_sets=1, cv_rules=["reiter_2002"])
    single = ["Raab et al. 2017 for posterior draws", "Raab et al. 2017 for plug-ins", "As if real"]
    assert list(rows(app)) == single
    assert f"The rules for a single set stand in their place: {', '.join(single)}." in texts(app)
    assert app.session_state["cv_rules"] == ["reiter_2002"]


def test_the_share_of_the_readers_own_table_follows_the_number_of_people() -> None:
    app = open_coverage(sets=1, x=25)
    release = design_of(sets=1).release
    share = coverage.coverage_given_count(synthesizer=release, confidential_count=25, rule="as_if_real")
    words = "With a secret table where {x} of {n} people say yes, and only the release drawn again"
    assert words.format(x=25, n=100) in said(app)
    assert f"{100 * share:.1f} % of all releases" in said(app)
    move(app, cv_n=200)
    assert words.format(x=50, n=200) in said(app)
    assert settings(app)["cv_x"] == "50"
    move(app, cv_sets=2)
    assert "With a secret table" not in said(app)


@pytest.mark.parametrize("module", ["coverage", "posterior"])
@pytest.mark.parametrize("mechanism", list(two_cell_synthesizers())[::2])
def test_the_words_of_a_design_are_a_link_to_a_page(mechanism: str, module: str) -> None:
    design = Design(
        mechanism=mechanism, n=12, sets=2, epsilon=1.5, delta=1e-4, prior="exact", confidential_count=3,
        rules=("score",),
    )  # fmt: skip
    app = opener(module)(**design.to_address())
    assert problems(app) == []
    promised = f"ε = 1.5{', δ = 0.0001' if design.synthesizer_type.has_prior else ''}"
    assert (promised if "epsilon" in design.promised else "α = 1 (ε = ") in said(app)


# The simulation


def test_the_first_repetitions_come_a_few_at_a_time_and_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that stands still while a page is drawn, however long that takes on a busy machine
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(coverage_simulation, "time", SimpleNamespace(monotonic=lambda: clock.now))
    app = open_coverage(repetitions=1300, seed=17, **SMALL)
    run = start(app)
    assert run is not None
    assert (run.watched, app.button(key="cv_go").label) == (3, "Stop")
    app.run()
    assert run.watched == 3  # the next ones are not due
    clock.now = run.due
    app.run()
    assert run.watched == 6
    assert "6 of the first 100 repetitions, running" in said(app)
    words = apptest.plain_text(figure(app, "cv_caterpillar")["layout"]["annotations"][0]["text"])
    assert "no. 6: " in words and "Reiter 2002 says " in words
    assert run.tally is not None
    for key in SHOWN:
        cell = rows(app)[RULES[key].short_label]["simulated"]
        assert cell == f"{_simulated_share(*first_shares(run.tally, 6)[key], 6)} of 6 so far"
    assert {round(6 * dot["y"][0], 9) for dot in figure(app, "cv_picture")["data"] if "error_y" in dot} <= {*range(7)}
    clock.now = run.due + 1.0  # a busy server: larger steps, and longer pauses
    app.run()
    assert run.watched > 12 and run.due > clock.now + 2
    set_state(app, cv_speed=FAST).run()
    assert run.is_complete and app.button(key="cv_go").label == "Run again"
    check_simulated(app, design_of(repetitions=1300, seed=17, **SMALL))


def test_a_run_stops_resumes_and_goes_on_to_the_same_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_simulation, "SLICE", 700)
    app = open_coverage(repetitions=3300, speed=FAST, **SMALL)
    run = start(app)
    assert run is not None and 0 < run.done < 3300
    start(app)
    done = run.done
    app.run()
    assert (run.done, app.button(key="cv_go").label) == (done, "Resume")
    assert f"{done:,} of 3,300 repetitions, stopped; seed 1." in said(app)
    complete(app)
    assert run.tally == coverage.run_coverage(run.plan)
    check_simulated(app, design_of(repetitions=3300, **SMALL))
    assert start(app, "reset") is None
    assert app.button(key="cv_go").label == "Start"


def test_other_rules_cost_no_new_run_and_another_design_is_one() -> None:
    app = open_coverage(repetitions=600, speed=FAST, **SMALL)
    run = complete(app)
    for rule in ("raghunathan_2003", "blaker_2000"):
        set_state(app, cv_rules=[rule])
        assert app.session_state[KEY] is run
        check_simulated(app, design_of(repetitions=600, rules=(rule,), **SMALL))
    set_state(app, cv_repetitions=900)
    assert (run.done, app.button(key="cv_go").label) == (600, "Resume")
    assert complete(app).tally == coverage.run_coverage(simulation_of(design_of(repetitions=900, **SMALL)))
    assert set_state(app, cv_p=0.4).session_state[KEY] is None
    running = start(app)
    assert running is not None
    running.is_running = True
    following = set_state(app, cv_p=0.3).session_state[KEY]
    assert following is not running and following.plan.p == 0.3


def test_a_refused_setting_loses_no_run_and_fewer_repetitions_begin_anew() -> None:
    app = open_coverage(repetitions=600, speed=FAST, **SMALL)
    run = complete(app)
    before = rows(app)
    assert len(problems(set_state(app, cv_rules=[]))) == 1
    set_state(app, cv_rules=list(SHOWN))
    assert (app.session_state[KEY], rows(app), problems(app)) == (run, before, [])
    assert set_state(app, cv_repetitions=500).session_state[KEY] is None
    assert complete(app).tally == coverage.run_coverage(simulation_of(design_of(repetitions=500, **SMALL)))


def test_the_simulated_dots_have_the_shares_and_bars_of_the_run() -> None:
    app = open_coverage(repetitions=1000, speed=FAST, **SMALL)
    complete(app)
    performance = coverage.performance_of(coverage.run_coverage(simulation_of(design_of(repetitions=1000, **SMALL))))
    dots = [trace for trace in figure(app, "cv_picture")["data"] if "error_y" in trace]
    assert [dot["legendgroup"] for dot in dots] == list(SHOWN)
    for key, dot in zip(SHOWN, dots, strict=True):
        share = performance.rules[key]
        assert (dot["x"][0], dot["y"][0]) == (0.25, share.coverage.value)
        assert dot["y"][0] + dot["error_y"]["array"][0] == pytest.approx(share.coverage_high)
        assert dot["y"][0] - dot["error_y"]["arrayminus"][0] == pytest.approx(share.coverage_low)


@pytest.mark.parametrize("epsilon", [1e-3, 500.0])
def test_beyond_exact_sums_the_dots_stand_inside_the_picture(epsilon: float) -> None:
    app = open_coverage(n=5000, sets=20, axis="against ε", epsilon=epsilon, repetitions=100, speed=FAST)
    complete(app)
    picture = figure(app, "cv_picture")
    low, high = picture["layout"]["xaxis"]["range"]
    assert len(picture["data"]) > 1 and all(low <= math.log10(trace["x"][0]) <= high for trace in picture["data"])


def test_shares_of_none_and_all_have_the_ends_of_their_error_bars() -> None:
    app = open_coverage(p=0.05, repetitions=100, rules="as_if_real", speed=FAST)
    complete(app)
    assert re.fullmatch(r"0 % \(0 to [\d.]+ %\)", rows(app)["As if real"]["simulated"])
    (dot,) = [trace for trace in figure(app, "cv_picture")["data"] if "error_y" in trace]
    assert dot["error_y"]["array"][0] > 0.01


# Closer looks


def test_each_closer_look_is_drawn_before_and_after_a_run() -> None:
    app = open_coverage(repetitions=300, speed=FAST, **SMALL)
    for section in SECTIONS:
        assert f"{section} " in said(set_state(app, cv_look=section))
    complete(app)
    for design in ({}, {"cv_synthesizer": "geometric", "cv_sets": 1}):
        for section in SECTIONS:
            set_state(app, cv_look=section, **design)


def test_why_it_fails_has_what_every_repair_gains() -> None:
    app = open_coverage(look="Why it fails")
    decomposition = coverage.coverage_decomposition(synthesizer=design_of().release, p=0.25, sets=5, rule="reiter_2002")
    assert "81.2 % → 94.8 %" in said(app)
    assert "which costs 18.8 points." in said(app)
    assert "E[q̄] − p = 0.2007, Var(q̄) = 0.0006646;" in said(app)
    combinations = rows_of(app, "Coverage with each combination of repairs")
    assert float(combinations["all three"]["Reiter 2002"].removesuffix(" %")) == pytest.approx(
        100 * decomposition.repaired, abs=1e-3
    )


def test_downloads_have_the_script_and_the_run() -> None:
    app = open_coverage(look="Download", repetitions=700, speed=FAST, **SMALL)
    assert "Press Start first." in said(app)
    script = render("export/coverage_script.txt", design=design_of(repetitions=700, **SMALL))
    assert app.code[0].value.strip() == script.strip()
    complete(app)
    labels = {button.proto.label for button in app.get("download_button")}
    assert {"Coverage, CSV", "Curves, CSV", "First intervals, CSV", "Run, JSON"} <= labels
