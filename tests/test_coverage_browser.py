"""The page "Coverage" in real Chromium: it moves, stops and goes on, its address holds it all, everybody can use it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dpviz.core.parameters import readable
from dpviz.coverage import CoveragePlan, coverage_by_proportion, exact_coverages, performance_of, run_coverage
from dpviz.designs import Design
from dpviz.desk.exports.coverage import coverage_csv, intervals_csv
from dpviz.desk.exports.script import coverage_script
from dpviz.inference import COMBINING_RULES, RULES
from pages.coverage.controls import DEFAULT_RULES
from tests.browser import running_app, settle
from tests.visit import (
    ENDLESS,
    LARGE,
    answer,
    check_inside_the_app,
    check_saved,
    choose_law,
    control,
    go_to,
    misled,
    pick,
    press,
    restored,
    slider,
    taken,
    toggle,
    told,
    type_number,
    unfold,
    until,
    visiting,
)

pytestmark = pytest.mark.browser
HERE = "/coverage"
LONG = 10_000_000
"""Repetitions of a run that is endless."""

SHORT = 2000
SMALL = "cv_n=30&cv_sets=3"


def status_line(page: Page) -> Locator:
    """The line that says how far the run is."""
    return page.locator("[data-testid=stCaptionContainer]", has_text=re.compile(r"of [\d,]+ repetitions, ")).first


def status(page: Page) -> str:
    """What that line says; it may arrive a moment after the picture."""
    expect(status_line(page)).to_be_visible()
    return status_line(page).inner_text()


ENDLESS_DESIGN = Design(mechanism="beta_binomial", n=10, sets=200, prior="own", alpha=1.0)
"""That of `ENDLESS`."""


def state(page: Page) -> str:
    """What the page says of its run: running, stopped or complete."""
    said = re.search(r"repetitions, (\w+),", status(page))
    assert said is not None
    return said[1]


def done(page: Page) -> int:
    """Repetitions so far."""
    said = re.search(r"([\d,]+) of [\d,]+ repetitions", status(page))
    assert said is not None
    return int(said[1].replace(",", ""))


def chosen_share(page: Page) -> float:
    """The true share that the slider tells, in per cent."""
    told = slider(page, "p").get_attribute("aria-valuetext") or "0"
    return round(float(told.rstrip("\u00a0 %")) / 100, 9)


def moved_on(page: Page) -> int:
    """Repetitions once they are not those of now."""
    before = done(page)
    until(page, lambda: done(page) != before)
    return done(page)


def wait_for(page: Page, words: str) -> None:
    """Wait until the button says so, and the page is calm."""
    expect(control(page, "go").get_by_role("button", name=words, exact=True)).to_be_visible()
    settle(page)


def run_to_the_end(page: Page) -> None:
    """Press Start, and wait until the run is complete."""
    press(page, "Start")
    wait_for(page, "Run again")


def table(page: Page) -> list[str]:
    """The table of coverage, row by row."""
    return page.get_by_role("region", name="Coverage of each rule").locator("tbody tr").all_inner_texts()


def dots(page: Page) -> int:
    """Error bars in the picture of coverage."""
    return control(page, "picture").locator(".errorbars .yerror").count()


def expected(design: Design, repetitions: int, p: float = 0.25) -> list[str]:
    """The simulated column of the page."""
    plan = CoveragePlan(
        synthesizer=design.release, p=p, sets=design.sets, rules=tuple(RULES), repetitions=repetitions, seed=design.seed
    )  # fmt: skip
    found = performance_of(run_coverage(plan, workers=2))
    shares = [found.rules[key].coverage for key in DEFAULT_RULES]
    return [f"{readable(100 * one.value, 5)} % ± {readable(100 * one.error, 2)}" for one in shares]


def check_room_for_formulas(page: Page) -> None:
    """On a small laptop: at 1,024 pixels the first column was once 85 wide, with a formula on twelve lines."""
    page.set_viewport_size({"width": 1024, "height": 768})
    settle(page)
    assert page.locator(".dpviz-stack td:first-child").first.evaluate("(one) => one.offsetWidth") >= 130
    assert page.locator(".dpviz-scroll:has(.dpviz-stack)").first.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    page.set_viewport_size(LARGE)
    settle(page)


def check_simulated(page: Page, column: list[str]) -> None:
    for row, words in zip(table(page), column, strict=True):
        assert words in row


def test_the_first_visitor_of_a_fresh_server_sees_the_page_inside_the_app(chromium: Browser) -> None:
    with running_app() as address, visiting(chromium, address + HERE) as page:
        check_inside_the_app(page, "Coverage")
        expect(page.locator(".dpviz-answer").first).to_contain_text(
            "5 released tables of 100 rows and ε = 2"
        )  # the page's own


def test_the_page_is_reached_by_its_link_and_left_while_it_runs(chromium: Browser, server: str) -> None:
    with visiting(chromium, server) as page:
        go_to(page, "Coverage")
        expect(page).to_have_url(re.compile(rf"{HERE}(\?|$)"))
        expect(page.locator(".dpviz-answer").first).to_contain_text(
            "1 released table of 100 rows and ε = 1"
        )  # Start's release
        settle(page)
        check_inside_the_app(page, "Coverage")
        page.goto(f"{server}{HERE}?{ENDLESS}")
        settle(page)
        press(page, "Start")
        expect(control(page, "go").get_by_role("button", name="Stop")).to_be_visible()
        go_to(page, "Minimum priors")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Minimum priors"))
        settle(page)
        expect(control(page, "curves")).to_be_visible()


def test_start_runs_to_the_end_the_dots_land_on_the_lines_files_hold_them_and_a_refused_value_loses_no_run(
    chromium: Browser, server: str
) -> None:
    design = Design(mechanism="beta_binomial", n=30, sets=3, repetitions=SHORT, seed=5, rules=DEFAULT_RULES)
    release = design.release
    plan = CoveragePlan(synthesizer=release, p=0.25, sets=3, rules=tuple(RULES), repetitions=SHORT, seed=5)
    tally = run_coverage(plan)
    exact = exact_coverages(synthesizer=release, p=0.25, sets=3, rules=DEFAULT_RULES)
    with visiting(chromium, f"{server}{HERE}?{SMALL}&cv_repetitions={SHORT}&cv_seed=5&cv_look=Download") as page:
        assert dots(page) == 0
        drawn = control(page, "caterpillar").locator(".errorbars .xerror").count()
        assert drawn > 100  # a hundred, and the ink around those that miss
        assert all("not yet" in row for row in table(page))
        run_to_the_end(page)
        assert state(page) == "complete"
        expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(len(DEFAULT_RULES))
        expect(control(page, "caterpillar").locator(".errorbars .xerror")).to_have_count(drawn)
        check_simulated(page, expected(design, SHORT))
        assert taken(page, "Coverage, CSV").decode() == coverage_csv(DEFAULT_RULES, exact, performance_of(tally))
        assert taken(page, "First intervals, CSV").decode() == intervals_csv(tally)
        assert taken(page, "Script").decode() == coverage_script(design)
        head, *rows = taken(page, "Curves, CSV").decode().splitlines()
        assert head == ",".join(["p", *DEFAULT_RULES])
        picked = [[float(cell) for cell in row.split(",")] for row in rows[::12]]
        points = [row[0] for row in picked]
        curves = coverage_by_proportion(release, proportions=points, sets=3, rules=DEFAULT_RULES)
        for row, line in zip(picked, curves.coverage.T, strict=True):
            assert row[1:] == pytest.approx(line.tolist(), abs=1e-8)
        before = told(page)
        type_number(page, "epsilon", "0")
        expect(page.locator(".dpviz-problem")).to_contain_text("epsilon (promised privacy loss) must be")
        type_number(page, "epsilon", "2")
        expect(page.locator(".dpviz-problem")).to_have_count(0)
        settle(page)
        assert told(page) == before


def test_a_run_is_seen_moving_and_gives_the_same_digits_after_stop_after_reset_and_after_a_move(
    chromium: Browser, server: str
) -> None:
    design = ENDLESS_DESIGN
    with visiting(chromium, f"{server}{HERE}?{ENDLESS}") as page:
        fresh = table(page)
        check_room_for_formulas(page)
        press(page, "Start")
        expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(len(DEFAULT_RULES))
        before = done(page)
        after = moved_on(page)
        assert 0 < before < after < LONG
        assert state(page) == "running"
        press(page, "Stop")
        wait_for(page, "Resume")
        assert state(page) == "stopped"
        still = done(page)
        page.wait_for_timeout(700)
        assert after <= still == done(page) < LONG
        press(page, "Resume")
        expect(control(page, "go").get_by_role("button", name="Stop", exact=True)).to_be_visible()
        assert moved_on(page) > still
        press(page, "Stop")
        wait_for(page, "Resume")
        check_simulated(page, expected(design, done(page)))
        press(page, "Resume")
        moved_on(page)
        control(page, "reset").get_by_role("button").click()  # while it runs: it takes the dots away
        wait_for(page, "Start")
        assert table(page) == fresh
        expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(0)
        expect(control(page, "reset").get_by_role("button")).to_be_disabled()
        press(page, "Start")
        expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(len(DEFAULT_RULES))
        moved_on(page)
        said, thumb = answer(page), slider(page, "p")
        for _ in range(4):  # while it runs: it gives the new design at once
            thumb.press("ArrowRight")
        expect(page.locator(".dpviz-answer").first).not_to_have_text(said)
        p = chosen_share(page)
        assert p > 0.25
        expect(page.locator(".dpviz-answer").first).to_contain_text(f"a true share of {readable(100 * p, 4)} %,")
        moved_on(page)  # from what stood there before the move, perhaps to none
        moved_on(page)
        press(page, "Stop")
        wait_for(page, "Resume")
        assert float(control(page, "p").locator("input").input_value()) == p
        first = DEFAULT_RULES[0]
        exact = exact_coverages(synthesizer=design.release, p=p, sets=design.sets, rules=[first])[first].coverage
        assert answer(page).startswith(f"{readable(100 * exact, 3)} %")
        assert 0 < done(page) < LONG
        check_simulated(page, expected(design, done(page), p))


WATCHED = """{
  const seen = window.dpvizSeen = new Set();
  const look = () => {
    const plot = document.querySelector('.st-key-cv_caterpillar .js-plotly-plot');
    const box = plot?.getBoundingClientRect();
    const bars = plot?.querySelectorAll('.errorbars .xerror').length;
    seen.add(box && bars ? `${Math.round(box.left)} ${Math.round(box.width)} ${Math.round(box.height)}` : 'gone');
    requestAnimationFrame(look);
  };
  look();
}"""
"""Has a page look at every frame whether the first intervals are there, and how large."""


@pytest.mark.parametrize("class_mode", [False, True])
def test_the_first_intervals_are_there_in_every_frame_and_keep_their_place(
    chromium: Browser, server: str, class_mode: bool
) -> None:
    query = f"{ENDLESS}{'&class=1' * class_mode}"
    with visiting(chromium, f"{server}{HERE}?{query}", {"width": 1280, "height": 720}) as page:
        plot = control(page, "caterpillar").locator(".js-plotly-plot")
        expect(plot).to_be_visible()
        page.evaluate(WATCHED)
        press(page, "Start")
        dots_are_there, said = expect(control(page, "picture").locator(".errorbars .yerror")), answer(page)
        dots_are_there.to_have_count(len(DEFAULT_RULES))
        for _ in range(2):
            slider(page, "p").press("ArrowRight")
        expect(page.locator(".dpviz-answer").first).not_to_have_text(said)
        # What is stopped is the run of the last move that has been answered.
        expect(page).to_have_url(re.compile(f"cv_p={chosen_share(page):g}(&|$)"))
        dots_are_there.to_have_count(len(DEFAULT_RULES))
        press(page, "Stop")
        wait_for(page, "Resume")
        slider(page, "alpha").press("ArrowLeft")
        settle(page)
        expect(control(page, "go").get_by_role("button", name="Start")).to_be_visible()
        assert len(page.evaluate("[...window.dpvizSeen]")) == 1, page.evaluate("[...window.dpvizSeen]")


def test_the_address_restores_everything(chromium: Browser, server: str) -> None:
    with visiting(
        chromium, f"{server}{HERE}?cv_n=10&cv_sets=2&cv_level=0.9&cv_seed=77&cv_epsilon=1.5&cv_delta=0.001"
    ) as page:
        choose_law(page, "posterior_mean")
        control(page, "prior").get_by_text("smallest prior for all sets together, with δ").click()
        settle(page)
        toggle(page, "m_is_n")
        for key, words in {
            "m": "17", "p": "0.3", "repetitions": str(SHORT),
        }.items():  # fmt: skip
            type_number(page, key, words)
        control(page, "rules").get_by_role("combobox").click()
        page.get_by_role("option", name="Rubin 1987", exact=True).click()
        page.keyboard.press("Escape")
        settle(page)
        pick(page, "axis", "against ε")
        pick(page, "look", "Why it fails")
        expect(page).to_have_url(re.compile("cv_look=Why"))
        address = page.url
        with restored(page) as other:
            for one in (page, other):
                run_to_the_end(one)
                assert one.url == address
            assert len(table(page)) == len(DEFAULT_RULES) + 1
            assert table(other) == table(page)


def test_what_is_wrong_in_the_address_is_named_and_left_out(chromium: Browser, server: str) -> None:
    bad = {
        "cv_synthesizer": "foo",
        "cv_n": "abc",
        "cv_seed": "-1",
        "cv_rules": "bar",
        "cv_level": "1e400",
        "cv_prior": "x",
    }
    with misled(chromium, server + HERE, bad, "cv_sets=2"):
        pass


def test_one_set_with_a_rule_that_needs_two_is_mended_by_its_button(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?cv_n=30&cv_sets=1&cv_rules=reiter_2002") as page:
        expect(page.locator(".dpviz-problem")).to_contain_text("needs at least 2 sets; got 1")
        expect(page.locator(".dpviz-problem")).to_have_attribute("role", "alert")
        page.locator(".st-key-mend_cv_rules").get_by_role("button").click()
        expect(page.locator(".dpviz-answer").first).to_contain_text("Raab et al. 2017")
        settle(page)
        assert len(table(page)) == sum(rule.fewest_sets == 1 for rule in COMBINING_RULES.values())


def test_beyond_exact_sums_the_simulation_takes_over(chromium: Browser, server: str) -> None:
    with visiting(
        chromium, f"{server}{HERE}?cv_n=5000&cv_sets=20&cv_repetitions=500&cv_rules=reiter_2002.as_if_real"
    ) as page:
        expect(page.locator(".dpviz-answer").first).to_contain_text("Press Start to simulate")
        run_to_the_end(page)
        expect(control(page, "picture").locator(".errorbars .yerror")).to_have_count(2)


def test_a_rule_twice_in_the_address_is_shown_once_and_a_preset_sets_the_controls(
    chromium: Browser, server: str
) -> None:
    with visiting(chromium, f"{server}{HERE}?{SMALL}&cv_p=0.1&cv_rules=as_if_real.as_if_real.raab_2017") as page:
        assert len(table(page)) == 2
        pick(page, "preset", "Charest, p = ½, ε = 2")
        expect(control(page, "n").locator("input")).to_have_value("100")
        expect(control(page, "p").locator("input")).to_have_value("0.5")
        expect(page.locator(".dpviz-answer").first).to_contain_text(
            "With 100 people, a true share of 50 %, 5 released tables of 100 rows and ε = 2"
        )


def test_the_file_of_a_stopped_run_is_opened_on_another_page_and_goes_on(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?{ENDLESS}&cv_look=Download") as page:
        press(page, "Start")
        moved_on(page)
        press(page, "Stop")
        wait_for(page, "Resume")
        stopped, content = done(page), taken(page, "Run, JSON")
    with visiting(chromium, f"{server}{HERE}?cv_p=0.6&cv_look=Download") as page:
        unfold(page)  # now: a request that overtakes the answer to the file has the values from before it
        page.locator("input[type=file]").set_input_files(
            {"name": "run.json", "mimeType": "application/json", "buffer": content}
        )
        wait_for(page, "Resume")
        expect(control(page, "n").locator("input")).to_have_value("10")
        assert (done(page), state(page)) == (stopped, "stopped")
        press(page, "Resume")
        assert moved_on(page) > stopped
        press(page, "Stop")
        wait_for(page, "Resume")
        check_simulated(page, expected(ENDLESS_DESIGN, done(page)))


def test_a_saved_picture_has_names_at_the_ends_of_its_lines_that_do_not_overlap(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}{HERE}?{SMALL}&cv_rules={'.'.join(RULES)}") as page:
        check_saved(page, "picture")
        boxes = control(page, "picture").evaluate(
            """(part) => [...part.querySelectorAll('.annotation-text-g')].map((one) => {
              const box = one.getBoundingClientRect(), whole = part.querySelector('.main-svg').getBoundingClientRect();
              return [one.textContent, box.left, box.top, box.right, box.bottom, box.left >= whole.left - 1
                && box.right <= whole.right + 1 && box.top >= whole.top - 1 && box.bottom <= whole.bottom + 1];
            })"""
        )
    assert len(boxes) == len(RULES) + 1  # the promised level has its name among those of the lines
    assert [box[0] for box in boxes if not box[5]] == []
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            apart = max(other[2] - one[4], one[2] - other[4])
            assert apart > -3, (one[0], other[0])
