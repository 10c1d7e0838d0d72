"""What only a real browser shows: pictures that stay, keys, screens, files, print, and what is asked of other hosts."""

import csv
import io
import json
import re
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, ViewportSize, expect

from dpviz.mechanisms import BetaBinomial
from dpviz.privacy import log_odds_table
from dpviz.teaching.lessons import LESSONS
from pages.ui.navigation import BUDGET, COMPARE, COVERAGE, CURATOR, MATRICES, PAGES, PLAN, POSTERIOR, PRIORS
from tests.browser import settle
from tests.pages import visitor
from tests.pages.visitor import PHONE, PROJECTOR, answer, cut_off, saved_file, shut_out, slider, visit, wait_until

pytestmark = pytest.mark.browser

EXPLORERS = (MATRICES, COVERAGE, POSTERIOR, PRIORS, COMPARE, BUDGET, CURATOR, PLAN)
SMALL_PROJECTOR: ViewportSize = {"width": 1024, "height": 768}
PRESSES = 30
PRESS_INTERVAL_MS = 33
ENDLESS = "cv_n=10&cv_sets=200&cv_prior=own&cv_alpha=1&cv_repetitions=10000000"
"""Simulation that takes most of a minute of a processor, on settings whose exact lines are quick."""


WATCH_PLOT = """() => {
  const plot = document.querySelector('[role=figure]');
  const above = document.querySelectorAll('.dpviz-answer, .dpviz-release').length; // some pages have no release above
  window.watched = { plot, lost: 0 };
  const look = () => {
    const isThere = plot.isConnected && plot.clientHeight > 100 && plot.querySelector('.main-svg');
    watched.lost += !(isThere && document.querySelectorAll('.dpviz-answer, .dpviz-release').length === above);
    requestAnimationFrame(look);
  };
  look();
}"""
"""Looks at every frame whether the first picture is there, and what stands above it."""

RANGES = "['xaxis', 'yaxis'].flatMap((name) => watched.plot.layout[name].range).map((end) => Number(end.toFixed(6)))"


def zoom(page: Page) -> None:
    """Draw a box into the middle of the first picture."""
    area = page.locator("[role=figure]").first.locator(".nsewdrag").first.bounding_box()
    assert area is not None
    page.mouse.move(area["x"] + 0.3 * area["width"], area["y"] + 0.3 * area["height"])
    page.mouse.down()
    page.mouse.move(area["x"] + 0.7 * area["width"], area["y"] + 0.7 * area["height"], steps=4)
    page.mouse.up()


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("coverage?cv_n=57&cv_sets=6", "cv"),
        ("compare_synthesizers?cs_n=67", "cs"),
        ("minimum_priors?mp_n=1457", "mp"),
        ("curator?cu_n=61&cu_values=5", "cu"),
    ],
)  # fmt: skip
def test_picture_stays_and_keeps_its_zoom_while_it_refines_and_a_control_moves(context, server, path, prefix) -> None:
    """Settings that no other test has: nothing of them is computed yet."""
    with visit(context, f"{server}/{path}", is_settled=False) as page:
        expect(page.locator("[role=figure][data-drawn]").first).to_be_visible()
        page.evaluate(WATCH_PLOT)
        settle(page)
        zoom(page)
        ranges = page.evaluate(RANGES)
        drawn = int(page.locator("[role=figure]").first.get_attribute("data-drawn") or 0)
        for _ in range(2):  # the second while the first is being refined
            before = answer(page).inner_text()
            slider(page, f"{prefix}_epsilon").press("ArrowLeft")
            expect(answer(page)).not_to_have_text(before)
        settle(page)
        assert page.evaluate("watched.lost") == 0
        assert page.evaluate("document.querySelector('[role=figure]') === watched.plot")
        assert int(page.locator("[role=figure]").first.get_attribute("data-drawn") or 0) > drawn
        assert page.evaluate(RANGES) == ranges


def test_pins_keep_their_names_while_the_designs_are_found(context: BrowserContext, server: str) -> None:
    pins = "laplace~1~as_if_real.modips~9~score"
    with visit(context, f"{server}/curator?cu_n=23&cu_values=3&cu_look=Side+by+side&cu_pins={pins}") as page:
        tags = page.locator(".st-key-cu_pins [data-tag]").evaluate_all("(tags) => tags.map((tag) => tag.ariaLabel)")
        assert tags == [
            "Laplace sanitizer, one set, as if real", "Modips (boundary-inflated), 9 sets, noise-aware score",
        ]  # fmt: skip


WATCH_SLIDER = """(thumb) => {
  window.places = [Number(thumb.value)];
  const look = () => {
    if (places.at(-1) !== Number(thumb.value)) places.push(Number(thumb.value));
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.parametrize("key", ["home_epsilon", "cv_epsilon"])
def test_held_arrow_key_moves_a_slider_on_and_never_back(context: BrowserContext, server: str, key: str) -> None:
    path = {"home_epsilon": "", "cv_epsilon": "coverage"}[key]
    with visit(context, f"{server}/{path}") as page:
        thumb = slider(page, key)
        thumb.focus()
        thumb.evaluate(WATCH_SLIDER)
        start = page.evaluate("places[0]")
        for _ in range(PRESSES):
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(PRESS_INTERVAL_MS)
        settle(page)
        places = page.evaluate("places")
        assert places == sorted(places)
        assert places[-1] == min(start + PRESSES, int(thumb.get_attribute("max") or 0)) > start
        expect(answer(page)).to_contain_text(f"ε = {page.locator(f'.st-key-{key} input').input_value()}")


def test_simulation_starts_changes_in_mid_run_stops_and_goes_on_by_the_space_bar(context, server) -> None:
    with visit(context, f"{server}/coverage?{ENDLESS}&cv_speed=as+fast+as+it+goes") as page:
        status = page.get_by_text(re.compile("of 10,000,000 repetitions, "))
        button = page.locator(".st-key-cv_go button")

        def done() -> int:
            return int(status.inner_text().partition(" ")[0].replace(",", ""))

        page.keyboard.press("Space")
        expect(button).to_contain_text("Stop")
        expect(status).to_contain_text("running")
        first = done()
        wait_until(page, lambda: done() > first)
        before = answer(page).inner_text()
        slider(page, "cv_p").press("ArrowRight")
        expect(answer(page)).not_to_have_text(before)
        expect(status).to_contain_text("running")
        second = done()
        wait_until(page, lambda: done() > second)
        page.locator("h1").click()  # a key that is pressed on a slider is the slider's
        page.keyboard.press("Space")
        expect(button).to_contain_text("Resume")
        settle(page)
        stopped = done()
        page.wait_for_timeout(1000)
        assert done() == stopped < 10_000_000
        button.click()
        expect(button).to_contain_text("Stop")
        wait_until(page, lambda: done() > stopped)
        page.locator(".st-key-cv_reset button").click()
        expect(button).to_contain_text("Start")
        settle(page)
        expect(status).to_have_count(0)


@pytest.mark.parametrize("target", PAGES, ids=lambda page: page.module)
def test_page_is_for_everybody_on_a_laptop_and_in_the_dark_on_a_phone(context, server, target) -> None:
    with visit(context, f"{server}/{target.path}") as page:
        assert shut_out(page) == []
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        settle(page)
        assert shut_out(page) == []
        assert cut_off(page) == []
        if target in EXPLORERS:
            expect(answer(page)).to_be_in_viewport()
            assert bottom_of(page.locator(".st-key-results [role=figure]").last) <= top_of(controls(page))


def controls(page: Page) -> Locator:
    return page.locator(".st-key-settings")


def top_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def bottom_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


@pytest.mark.parametrize("target", [COVERAGE, CURATOR], ids=lambda page: page.module)
def test_phone_keeps_the_answer_in_sight_while_a_control_is_moved(context, server, target) -> None:
    with visit(context, f"{server}/{target.path}", PHONE) as page:
        short = page.locator(".dpviz-now")
        before = short.inner_text()
        row = page.locator(f".st-key-{target.prefix}epsilon_row")
        slider(page, f"{target.prefix}epsilon").press("ArrowLeft")
        expect(short).not_to_have_text(before)
        settle(page)
        expect(short).to_be_in_viewport(ratio=1)
        expect(row).to_be_in_viewport(ratio=1)
        assert bottom_of(short) <= top_of(row)
        controls(page).locator("summary").first.click()
        expect(row).not_to_be_visible()


@pytest.mark.parametrize(("path", "part"), [("?home_method=best", ".dpviz-release"), ("posterior", ".dpviz-scroll")])
def test_phone_cuts_neither_the_line_of_the_release_nor_the_table_of_posteriors(context, server, path, part) -> None:
    with visit(context, f"{server}/{path}", PHONE) as page:
        widths = page.locator(part).first.evaluate("(part) => [part.scrollWidth, part.clientWidth]")
        assert widths[0] <= widths[1]


CLASS_PAGES = {**{target.path: "[role=figure]" for target in EXPLORERS}, "": ".dpviz-story", "game": ".dpviz-rounds"}
"""Path of each page, and what of it must be in sight in class mode."""


def test_class_mode_shows_answer_and_picture_without_scrolling(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/?class=1", PROJECTOR) as page:
        for path, picture in CLASS_PAGES.items():
            page.goto(f"{server}/{path}?class=1")
            for screen in (PROJECTOR, SMALL_PROJECTOR):
                page.set_viewport_size(screen)
                settle(page)
                expect(answer(page)).to_be_in_viewport(ratio=1)
                expect(page.locator(picture).first).to_be_in_viewport(ratio=1)
                for part in page.locator(picture).all():  # beside the first one, or below the screen
                    assert bottom_of(part) <= screen["height"] or top_of(part) >= screen["height"], path
                assert cut_off(page) == []


def test_keys_go_through_lessons_and_answer_in_the_game(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/lessons?lesson=called_epsilon", SMALL_PROJECTOR) as page:
        heading = page.get_by_role("heading", level=1)
        for key, number in (("PageDown", 2), ("PageDown", 3), ("PageUp", 2)):
            page.locator("main input[type=range]").focus()  # a slider takes no such key, as a presenter has it
            page.keyboard.press(key)
            expect(heading).to_contain_text(f"step {number} of")
            settle(page)
        for screen, is_shown in ((PHONE, False), (SMALL_PROJECTOR, True)):
            page.set_viewport_size(screen)
            expect(page.get_by_text("PageDown", exact=True)).to_be_visible(visible=is_shown)
        page.goto(f"{server}/game?game_seed=7")  # in whose first rounds the persons said no and yes
        for key, mark in (("y", "Wrong"), ("n", "Wrong")):
            expect(answer(page)).to_contain_text("Did the ringed person say yes?")
            settle(page)
            page.keyboard.press(key)
            expect(answer(page)).to_contain_text(mark)
            settle(page)
            page.keyboard.press("Enter")
        expect(answer(page)).to_contain_text("Round 3 of 10")
        settle(page)


def test_the_first_and_the_last_answer_of_a_lesson_can_be_chosen_with_the_keyboard(context, server) -> None:
    question = LESSONS["one_answer"].steps[2].question
    assert question is not None
    options = [*question.options]
    for place in (0, len(options) - 1):
        with visit(context, f"{server}/lessons?lesson=one_answer&step=3") as page:
            page.get_by_role("radio").first.focus()
            for key in ("Space", *["ArrowDown"] * place, "Tab", "Enter"):
                page.keyboard.press(key)
            expect(page).to_have_url(re.compile(f"guess3={options[place]}$"))
            settle(page)
            expect(page.get_by_role("button", name="Next")).to_be_focused()


def test_files_of_a_page_begin_with_its_settings(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/transition_matrices?tm_epsilon=3&tm_look=Download") as page:
        name, content = saved_file(page, page.get_by_role("button", name="Matrix, CSV", exact=True))
        assert name.endswith(".csv")
        head, rows = table_of(content)
        assert head[0].startswith("dpviz ") and head[0].endswith(", Transition matrices")
        assert any(line.startswith("settings: ") and "privacy loss ε: 3;" in line for line in head)
        assert any(line.startswith("address: http://127.0.0.1:") and "tm_epsilon=3" in line for line in head)
        assert float(rows[0]["m1=0"]) == pytest.approx(0.647228, abs=1e-6)
        name, content = saved_file(page, page.get_by_role("button", name="Script", exact=True))
        compile(content, name, "exec")
        assert content.decode().startswith("# dpviz ")


def table_of(content: bytes) -> tuple[list[str], list[dict[str, str]]]:
    """Head lines of a CSV file, and its rows."""
    assert content.startswith(b"\xef\xbb\xbf# ")  # by which a spreadsheet knows UTF-8
    lines = content.decode("utf-8-sig").splitlines()
    head = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    return head, list(csv.DictReader(io.StringIO("\n".join(lines[len(head) :]))))


def tool(page: Page, key: str, kind: str) -> Locator:
    """Button of the toolbar of a picture."""
    return page.locator(f".st-key-{key} [data-title='Download as {kind}']")


def test_picture_is_saved_with_its_title_and_settings_and_every_number(context: BrowserContext, server: str) -> None:
    query = "tm_synthesizer=beta_binomial&tm_n=30&tm_alpha=0.01&tm_epsilon=0.1&tm_show=pictures&tm_picture=log-odds"
    with visit(context, f"{server}/transition_matrices?{query}&tm_sign=signed") as page:
        title = page.locator(".st-key-tm_heatmap [role=figure]").get_attribute("aria-label")
        name, content = saved_file(page, tool(page, "tm_heatmap", "PNG"))
        assert (name, content[:8]) == ("tm_heatmap.png", b"\x89PNG\r\n\x1a\n")
        name, content = saved_file(page, tool(page, "tm_heatmap", "SVG"))
        text = "".join(ElementTree.fromstring(content).itertext())
        assert name == "tm_heatmap.svg" and "privacy loss ε: 0.1;" in text and "tm_epsilon=0.1&" in text
        name, content = saved_file(page, tool(page, "tm_heatmap", "CSV"))
        head, rows = table_of(content)
        assert name == "tm_heatmap.csv" and head[0] == title
        table = log_odds_table(BetaBinomial(n=30, m=30, alpha=0.01, beta=0.01))
        values = np.array([float(row["value"]) for row in rows])  # not cut to the colours, as they are drawn
        assert np.abs(values).max() > 10 * 0.1
        np.testing.assert_allclose(np.sort(values), np.sort(table.ravel()), rtol=1e-9)


def test_names_stay_text_and_no_formula_in_the_files_of_a_picture(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/posterior?po_n=20&po_x=6") as page:
        plot = page.locator(".st-key-po_picture [role=figure]")
        plot.evaluate(
            "(plot) => { plot.ariaLabel = '</text><script>1</script> & more'; plot.layout.title = {};"
            "[plot.data[0].meta, plot.data[1].meta] = ['=1+1', '<b>bold</b>, and a comma']; }"
        )
        _, content = saved_file(page, tool(page, "po_picture", "SVG"))
        root = ElementTree.fromstring(content)
        assert "</text><script>1</script> & more" in list(root.itertext())
        assert not [part for part in root.iter() if part.tag.endswith("script")]
        _, content = saved_file(page, tool(page, "po_picture", "CSV"))
        _, rows = table_of(content)
        assert {"'=1+1", "bold, and a comma"} <= {row["series"] for row in rows}


MARKUP = "<style>*{display:none}</style><img src=//out.invalid/a.png>![](http://out.invalid/b.png)"


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("transition_matrices", {"tm_synthesizer": "given_matrix", "tm_paste": f"{MARKUP},1\n1,1"}),
        ("transition_matrices", {"tm_synthesizer": MARKUP, "tm_n": MARKUP, "tm_look": MARKUP}),
        ("plan", {"pl_statistics": json.dumps([{"kind": "yes_no", "name": MARKUP, "limit": 0.01}])}),
    ],
)  # fmt: skip
def test_texts_of_a_link_are_shown_as_texts_and_ask_nobody(context, server, path, query) -> None:
    with visit(context, f"{server}/{path}?{urlencode(query)}") as page:  # fails where a request is made
        assert page.locator("h1").is_visible()
        assert page.locator("[src*='out.invalid'], [href*='out.invalid']").count() == 0


def test_policy_refuses_what_would_ask_another_host(context: BrowserContext, server: str) -> None:
    """So that a test without faults says something."""
    with visit(context, server, is_strict=False) as page:
        faults = visitor.watch(page, server)
        page.evaluate(
            """() => {
              for (const tag of ['img', 'script', 'iframe'])
                document.body.append(Object.assign(document.createElement(tag), { src: `http://out.invalid/${tag}` }));
              fetch('http://out.invalid/fetch').catch(() => {});
            }"""
        )
        for directive in ("img-src", "script-src", "frame-src", "connect-src"):
            wait_until(page, lambda: any(f"the policy: {directive}" in fault for fault in faults))  # noqa: B023


def test_a_guess_is_for_everybody_in_the_dark(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/lessons?lesson=best&step=2", theme="dark") as page:
        assert shut_out(page) == []


PAPER_PX = 700
"""Width of A4 between the margins of the style sheet."""


@pytest.mark.parametrize("path", ["", "coverage", "lessons?lesson=best&step=4"])
def test_print_has_no_controls_cuts_nothing_says_its_address_and_fits_on_one_sheet_of_a4(context, server, path) -> None:
    with visit(context, f"{server}/{path}") as page:
        sheets = page.pdf(format="A4", prefer_css_page_size=True)
        assert len(re.findall(rb"/Type\s*/Page\b", sheets)) == 1
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": PAPER_PX, "height": 1000})
        hidden = "header, .st-key-class, .st-key-controls, .dpviz-now, main :is(button, label, input)"
        assert [part.inner_text() for part in page.locator(hidden).all() if part.is_visible()] == []
        assert cut_off(page) == []
        expect(page.locator(".dpviz-address")).to_have_text(page.url)
        expect(page.locator(".dpviz-address")).to_be_visible()
        widths = page.locator("[role=figure], .dpviz-story").evaluate_all(
            "(parts) => parts.map((part) => part.getBoundingClientRect().right)"
        )
        assert widths and max(widths) <= PAPER_PX
