"""The live run of the page "Coverage": it starts, stops, goes on to the same digits, and leaves nothing at work."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import threading
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.core.measures import wilson_interval
from dpviz.coverage import CoveragePlan, performance_of, run_coverage
from dpviz.coverage.live import Run
from dpviz.coverage.performance import first_intervals, first_shares, first_totals
from dpviz.designs import Design
from dpviz.inference.interval_rules import holds
from dpviz.mechanisms import BetaBinomial
from pages.coverage.controls import DEFAULT_RULES, short
from pages.coverage.run import plan_of
from pages.coverage.watched import counted, first_chart, repetition_words
from tests.pages import address, check_sound, figures, next_steps, open_coverage, problems, run_to_the_end, text
from tests.test_coverage_page import EVERY, SMALL, check_simulated, coverage_rows, grown, plan_at, started
from tests.test_pool import nothing

LONG = 10_000_000
"""Repetitions that no test waits for."""


def run_of(page: AppTest) -> Run | None:
    run: Run | None = page.session_state.get("cv_run", None)
    return run


def press(page: AppTest, key: str = "go") -> None:
    page.button(key=f"cv_{key}").click().run()


def words_on(page: AppTest, key: str = "go") -> str:
    label: str = page.button(key=f"cv_{key}").label
    return label


def progress(page: AppTest) -> tuple[int, int, str]:
    """Repetitions done and asked for, and the state, as the page says them."""
    (said,) = re.findall(r"([\d,]+) of ([\d,]+) repetitions, (\w+), ", text(page))
    return int(said[0].replace(",", "")), int(said[1].replace(",", "")), said[2]


def check_same(page: AppTest, **asked: Any) -> None:
    """What is shown is what the same plan gives without a stop."""
    check_simulated(page, performance_of(run_coverage(plan_at(**asked))), list(DEFAULT_RULES))


def check_no_threads() -> None:
    assert not [one for one in threading.enumerate() if one.name.startswith("dpviz-study")]


def caterpillar(page: AppTest) -> dict[str, dict[str, Any]]:
    """The traces of intervals by what they are, without the ink around those that miss."""
    return {trace["meta"]: trace for trace in figures(page)["cv_caterpillar"]["figure"]["data"] if trace["meta"]}


def first_lines(page: AppTest) -> dict[int, tuple[str, float, float]]:
    """What is drawn of each repetition: what it is, the middle of its interval, and half its length."""
    return {
        int(y): (name, float(x), float(half))
        for name, one in caterpillar(page).items()
        for y, x, half in zip(one["y"], one["x"], one["error_x"]["array"], strict=True)
    }


def words_above(page: AppTest) -> list[str]:
    """The lines of words above the first intervals."""
    said = figures(page)["cv_caterpillar"]["figure"]["layout"]["annotations"][0]["text"]
    return re.sub(r"<b>|</b>", "", said).split("<br>")


def test_a_run_says_how_far_it_is_and_its_first_intervals_stay_until_it_is_stopped_and_reset() -> None:
    page = open_coverage(repetitions=LONG, seed=17)
    fresh, drawn = coverage_rows(page), first_lines(page)
    press(page)
    check_sound(page)
    before = 0
    for _ in range(5):
        assert first_lines(page) == drawn
        assert next_steps(page) == ["cv_step"]
        done, asked, state = progress(page)
        assert before < done < asked == LONG
        assert (state, words_on(page)) == ("running", "Stop")
        before = done
        page.run()
    said = re.search(r"running, ([\d.]+) s elapsed, ([\d,]+) a second; seed 17", text(page))
    run = run_of(page)
    assert said is not None
    assert run is not None
    shown = [float(number.replace(",", "")) for number in said.groups()]
    assert shown == pytest.approx([run.elapsed, run.done / run.elapsed], rel=0.06)
    press(page)
    done, _, state = progress(page)
    assert (state, words_on(page), run.running, run.stream) == ("stopped", "Resume", False, None)
    page.run()
    assert progress(page) == (done, LONG, "stopped")
    press(page)
    assert progress(page)[2] == "running"
    press(page, "reset")
    check_sound(page)
    assert (run.running, run.stream, run_of(page), words_on(page)) == (False, None, None, "Start")
    assert page.button(key="cv_reset").disabled
    for rows in (now := coverage_rows(page), fresh):
        for cells in rows.values():  # which grows while the run is on
            assert cells.pop("smallest at any p")
    assert now == fresh
    assert list(figures(page)) == ["cv_caterpillar", "cv_picture"]
    check_no_threads()


def test_the_same_seed_gives_the_same_digits_after_stops_and_another_seed_others() -> None:
    plan = plan_at(repetitions=40_000, seed=3, **SMALL)
    run, stops = Run(plan), 0
    while not run.complete:
        run.advance(nothing)
        if not run.complete:
            run.stop()
            assert (run.running, run.stream) == (False, None)
            run.advance(nothing)  # a step that comes late does nothing
            run.resume()
            stops += 1
    assert stops >= 1
    assert (run.running, run.stream) == (False, None)
    assert run.tally == run_coverage(plan)
    assert run.tally != run_coverage(plan_at(repetitions=40_000, seed=4, **SMALL))


def test_time_on_another_page_is_no_time_of_the_run() -> None:
    run = Run(plan_at(repetitions=LONG))
    run.advance(nothing)
    assert run.clock is not None
    run.clock -= 100.0
    run.advance(nothing)
    assert run.elapsed < 5
    run.elapsed = 0.0
    run.clock -= 1.0
    run.advance(nothing)
    assert run.elapsed > 1


CHANGES: list[tuple[str, Any]] = [
    ("p", 0.3), ("epsilon", 3.0), ("sets", 2), ("n", 60), ("level", 0.8), ("seed", 9), ("synthesizer", "geometric"),
    ("prior", "own"),
]  # fmt: skip


def test_changing_a_control_while_it_runs_gives_the_new_run_at_once_and_leaves_no_work() -> None:
    asked = {"repetitions": LONG, **SMALL}
    page = open_coverage(**asked)
    press(page)
    for name, value in CHANGES:
        page.run()
        old, before = run_of(page), progress(page)[0]
        page.session_state[f"cv_{name}"] = asked[name] = value
        check_sound(page.run())
        new = run_of(page)
        assert old is not None
        assert new is not None
        assert (old.running, old.stream, new.running) == (False, None, True)
        assert new.plan == plan_at(**asked)
        assert 0 < progress(page)[0] < before
        if name == "synthesizer":  # a sanitizer has no prior that could be changed next
            page.session_state["cv_synthesizer"] = asked["synthesizer"] = "beta_binomial"
            page.run()
    press(page)
    run = run_of(page)
    assert run is not None
    check_same(page, **asked | {"repetitions": run.done})
    check_no_threads()


def test_the_button_says_that_a_run_has_ended_while_the_curves_still_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.components.growing.AT_ONCE", 0.0)
    page = open_coverage(repetitions=1000, n=64)
    run_to_the_end(page)
    assert page.session_state["cv_growing_p"].stream is not None
    assert words_on(page) == "Run again"
    check_sound(page)


def test_when_nothing_runs_a_change_starts_nothing_and_shows_no_old_number() -> None:
    page = grown(started(repetitions=2000, **SMALL))
    before = coverage_rows(page)
    for name, value, back in (("n", 0, 30), ("rules", [], list(DEFAULT_RULES))):
        page.session_state[f"cv_{name}"] = value
        assert len(problems(page.run())) == 1
        page.session_state[f"cv_{name}"] = back
        check_sound(grown(page.run()))
        assert coverage_rows(page) == before  # what is refused loses no run
    press(page)
    run_on(page)
    assert coverage_rows(grown(page)) == before  # to run again gives the same digits
    page.number_input(key="cv_p").set_value(0.4).run()
    check_sound(page)
    assert (run_of(page), words_on(page)) == (None, "Start")
    assert {cells["simulated"] for cells in coverage_rows(page).values()} == {"not yet"}


def run_on(page: AppTest) -> None:
    """To the end of a run that is under way."""
    while (run := run_of(page)) is not None and run.running:
        page.run()
    assert run is not None
    assert run.complete


def test_more_repetitions_go_on_from_those_there_are_and_fewer_begin_anew() -> None:
    page = started(repetitions=2300, **SMALL)
    assert words_on(page) == "Run again"
    for more, before in ((2600, 2300), (5000, 2600)):
        page.number_input(key="cv_repetitions").set_value(more).run()
        assert progress(page)[:2] == (before, more)
        assert words_on(page) == "Resume"
        run_to_the_end(page)
        check_same(page, repetitions=more, **SMALL)
    page.number_input(key="cv_repetitions").set_value(700).run()
    assert run_of(page) is None
    run_to_the_end(page)
    check_same(page, repetitions=700, **SMALL)


def test_to_show_other_rules_costs_no_new_run_and_the_first_intervals_are_those_of_the_first_rule() -> None:
    page = started(repetitions=3000)
    before, run, tally = coverage_rows(page), run_of(page), run_coverage(plan_at(repetitions=3000))
    for rule in ("reiter_2002", "raghunathan_2003", "as_if_real", "blaker_2000"):
        page.multiselect(key="cv_rules").set_value([rule]).run()
        check_sound(page)
        assert run_of(page) is run
        ((name, cells),) = coverage_rows(page).items()
        for column in ("coverage, exact", "simulated"):
            assert cells[column] == before.get(name, cells)[column]
        place, estimates = EVERY.index(rule), tally.shown.estimates
        low, high = tally.shown.low[place], tally.shown.high[place]
        lines = first_lines(page)
        assert sorted(lines) == list(range(1, 101))
        covered = 0
        for number, (name, x, half) in lines.items():
            one = number - 1
            if math.isnan(low[one]):
                assert (name, x) == ("no interval", estimates[one])
                continue
            assert (x - half, x + half) == pytest.approx((max(low[one], -0.5), min(high[one], 1.5)))
            hit, empty = low[one] <= 0.25 <= high[one], low[one] <= 0 and high[one] >= 1
            words = "holds it, but runs from 0 to 100 %" if empty else "holds the true share"
            assert name == (words if hit else "misses it")
            covered += hit
        without = int(np.isnan(low).sum())
        said = words_above(page)
        (count,) = [line for line in said if line.startswith(f"✓ {covered} of 100 hold")]
        assert f"✕ {100 - covered - without} miss" in count
        assert (f"{without} have no interval" in count) == (without > 0) == (rule == "raghunathan_2003")
        assert f"of 3,000: {coverage_rows(page)[short(rule)]['simulated']}" in said


@pytest.mark.parametrize("law", ["beta_binomial", "laplace", "modips"])
def test_the_first_intervals_are_to_the_digit_those_of_the_run_whatever_the_rule(law: str) -> None:
    """What is drawn is the same for any rules, and of a block its beginning is what the whole block begins with."""
    design = Design(mechanism=law, n=40, sets=3, epsilon=2.0, p=0.3, seed=11, repetitions=1700)
    whole = plan_of(design)
    tally = run_coverage(whole)
    for place, rule in enumerate(whole.rules):
        found = first_intervals(plan_of(design, rule), rule)
        assert len(found.runs) == 100
        for ours, theirs in (
            (found.low, tally.shown.low[place]), (found.high, tally.shown.high[place]),
            (found.runs.counts, tally.shown.counts), (found.runs.confidential, tally.shown.confidential),
        ):  # fmt: skip
            np.testing.assert_array_equal(ours, theirs)
        first = run_coverage(dataclasses.replace(whole, repetitions=100)).rule(rule)
        assert (found.covered.sum(), found.vacuous.sum()) == (first.covered, first.vacuous)
        assert np.array_equal(found.first(7).covered, found.covered[:7])


def test_fewer_than_a_hundred_repetitions_are_all_shown_and_no_other_reader_sees_them() -> None:
    page, other = started(repetitions=7, **SMALL), open_coverage(repetitions=7, **SMALL)
    assert sorted(first_lines(page)) == sorted(first_lines(other)) == list(range(1, 8))
    assert isinstance(run_of(page), Run)
    other.run()
    assert run_of(other) is None


def test_the_address_waits_for_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_design: Design, _seconds: float) -> None:
        raise RuntimeError

    monkeypatch.setattr("pages.coverage.live.answer_of", broken)
    page = open_coverage(n=30, look="Download")
    assert page.exception
    assert address(page) == {"cv_n": "30", "cv_look": "Download"}


def test_the_first_repetitions_are_watched_one_at_a_time_and_change_no_digit() -> None:
    release = BetaBinomial(n=20, m=20, alpha=2.0, beta=2.0)
    plan = CoveragePlan(synthesizer=release, p=0.25, sets=2, rules=("reiter_2002", "score"), repetitions=3000, seed=5)
    run, whole = Run(plan), run_coverage(plan)
    for watched in range(1, plan.shown + 1):
        run.advance(nothing, 1)
        assert run.watched == watched
        shares = first_shares(run.tally, watched)
        for place, key in enumerate(plan.rules):
            first = whole.shown.first(watched)
            share = holds(first.low[place], first.high[place], plan.p).mean()
            assert shares[key] == (share, *wilson_interval(share, watched))
        assert first_totals(run.tally, watched).sum() == pytest.approx(1.0)
        assert run.watching == (watched < plan.shown)
    while run.running:
        run.advance(nothing, 1)
    assert run.complete and run.tally is not None
    assert run.tally.totals.tolist() == whole.totals.tolist()
    assert [one.covered for one in run.tally.rules] == [one.covered for one in whole.rules]


def test_a_repetition_is_told_as_it_was() -> None:
    design = Design(mechanism="beta_binomial", n=20, sets=2, epsilon=2.0, p=0.25, rules=("reiter_2002",), seed=5)
    plan = plan_of(design, "reiter_2002")
    tally = run_coverage(dataclasses.replace(plan, repetitions=200))
    kinds = set()
    for number in range(1, len(tally.shown) + 1):
        drawn, said = repetition_words(plan, number)
        counts = ", ".join(map(str, tally.shown.counts[number - 1]))
        x = tally.shown.confidential[number - 1]
        assert drawn == f"no. {number}: {x} of 20 say yes; released {counts}"
        hit = bool(holds(tally.shown.low[0, number - 1], tally.shown.high[0, number - 1], 0.25))
        kinds.add(hit)
        assert said.startswith("Reiter 2002 ")
        assert ("a hit" in said) == hit and ("a miss" in said or "no interval" in said) == (not hit)
        (above, *_) = first_chart(plan, number, (drawn, said)).to_dict()["layout"]["annotations"]
        assert above["text"].endswith(f"<br>{drawn}<br>{said}")
    assert kinds == {True, False}


def test_a_repetition_without_an_interval_is_told_too() -> None:
    design = Design(mechanism="beta_binomial", n=30, sets=2, epsilon=9.0, p=0.4, rules=("raghunathan_2003",))
    plan = plan_of(design, "raghunathan_2003")
    none = np.isnan(first_intervals(plan, "raghunathan_2003").low)
    said = [repetition_words(plan, number)[1] for number in range(1, 101)]
    assert [one == "Raghunathan et al. 2003 gives no interval" for one in said] == none.tolist()
    assert 0 < none.sum() < 100


def test_the_first_intervals_are_counted_in_words_over_a_grid() -> None:
    seen = set()
    for law, rule, n, sets, epsilon, p, repetitions in itertools.product(
        ("beta_binomial", "geometric"), ("reiter_2002", "raghunathan_2003", "score"), (1, 30), (2, 5), (0.3, 9.0),
        (0.0, 0.4), (1, 2, 100),
    ):  # fmt: skip
        design = Design(mechanism=law, n=n, sets=sets, epsilon=epsilon, p=p, seed=3, repetitions=repetitions)
        found = first_intervals(plan_of(design, rule), rule)
        low, high = found.low, found.high
        held, none = int(holds(low, high, p).sum()), int(np.isnan(low).sum())
        empty = int((holds(low, high, 0.0) & holds(low, high, 1.0)).sum())
        said, *more = (re.sub(r"<[^>]+>", "", line) for line in counted(found))
        numbers = [int(one) for one in re.findall(r"\d+", said)]
        missed = repetitions - held - none
        assert numbers == [held, repetitions, missed, *([none] if none else [])]
        assert ("holds" in said, "misses" in said, "has" in said) == (held == 1, missed == 1, none == 1)
        assert bool(more) == (empty > 0)
        if more:
            assert re.findall(r"^(\d+) of the (\d+) (runs?) from 0 to 100 % and (says?) nothing$", more[0]) == [
                (str(empty), str(held), "runs" if empty == 1 else "run", "says" if empty == 1 else "say")
            ]
        seen.add((empty > 0, none > 0))
    assert len(seen) == 4
