"""A class in real Chromium: one projector and two telephones through both parts, by the keyboard, in both themes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from pages.experiment.rooms import ADDRESS
from tests.browser import running_app
from tests.look import TELEPHONE, beyond_the_screen, shut_out
from tests.visit import PATIENCE, REFUSED, Theme

PROJECTOR: ViewportSize = {"width": 1280, "height": 720}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app with a database of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ADDRESS, f"sqlite:///{tmp_path_factory.mktemp('rooms')}/rooms.sqlite")
        with running_app() as address:
            yield address


class Room:
    """Browsers of one class, each a stranger to the others; what goes wrong in any is noted."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    def enter(self, address: str, screen: ViewportSize, theme: Theme = "light") -> Page:
        context = self._chromium.new_context(viewport=screen, color_scheme=theme, accept_downloads=True)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.add_init_script(REFUSED)
        page.on("pageerror", lambda error: self.faults.append(f"thrown: {error}"))
        page.on(
            "console",
            lambda said: self.faults.append(said.text) if said.type == "error" and "404" not in said.text else None,
        )
        page.goto(address)
        return page

    def leave(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def room(chromium: Browser) -> Iterator[Room]:
    found = Room(chromium)
    yield found
    found.leave()
    assert not found.faults


def judged(page: Page) -> list[str]:
    return shut_out(page) + beyond_the_screen(page)


def test_one_projector_and_two_telephones_walk_through_both_parts(school: str, room: Room) -> None:
    projector = room.enter(f"{school}/experiment?class=1", PROJECTOR)
    expect(projector.get_by_role("button", name="Open a room")).to_be_visible()
    assert not judged(projector)
    projector.get_by_role("button", name="Open a room").press("Enter")
    code = projector.locator(".dpviz-code").inner_text()
    assert re.fullmatch(r"[A-Z2-9]{3} [A-Z2-9]{3}", code)
    large = projector.locator(".dpviz-lobby .dpviz-qr").bounding_box()
    assert large is not None
    assert large["width"] > 380
    assert large["y"] + large["height"] <= 720
    expect(projector).to_have_url(re.compile(r"class=1&room=\w{6}&teacher=[\w-]{22}"))

    phone = room.enter(f"{school}/experiment?room={code.replace(' ', '')}", TELEPHONE)
    other = room.enter(f"{school}/experiment", TELEPHONE, "dark")  # types the code
    other.get_by_role("textbox", name="Code of the room").fill(code.lower())
    other.get_by_role("textbox", name="Code of the room").press("Tab")
    other.get_by_role("button", name="Take a seat").press("Enter")
    for one in (phone, other):
        expect(one.locator(".dpviz-seat")).to_contain_text("Your table comes when your teacher starts.")
        expect(one).to_have_url(re.compile(r"room=\w{6}&seat=[\w-]{22}$"))
    expect(projector.locator(".dpviz-lobby")).to_contain_text("2 seats are taken.")
    assert not judged(projector)

    projector.keyboard.press("Space")  # starts
    for one in (phone, other):
        expect(one.locator(".dpviz-seat-line")).to_be_visible()
        expect(one.locator(".dpviz-seat-line .truth")).to_have_count(0)
    expect(projector.locator(".dpviz-mark")).to_have_text("2 of 2")
    picture = projector.locator("[role=figure][data-drawn]")
    box = picture.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] == pytest.approx(720, abs=24)  # it fills the rest of the screen
    small = projector.locator(".dpviz-late .dpviz-qr").bounding_box()
    assert small is not None
    assert 60 < small["width"] < 100
    naive = phone.locator(".dpviz-seat").inner_text()

    laptop = room.enter(projector.url.replace("class=1&", ""), {"width": 1400, "height": 900})
    expect(laptop.get_by_role("radio", name="as if the data were real")).to_be_checked()
    projector.get_by_role("radio", name="by the noise-aware score").press("Space")
    expect(laptop.get_by_role("radio", name="by the noise-aware score")).to_be_checked()
    laptop.close()
    expect(phone.locator(".dpviz-seat")).to_contain_text("computed by the noise-aware score")
    assert re.findall(r"\d+ yes", naive) == re.findall(r"\d+ yes", phone.locator(".dpviz-seat").inner_text())
    projector.get_by_role("button", name="Reveal truth").press("Enter")
    for one in (phone, other):
        expect(one.locator(".dpviz-seat-line .truth")).to_be_visible()
        assert not judged(one)
    expect(projector.locator(".dpviz-room")).to_contain_text("in the long run")
    assert not judged(projector)

    seat = phone.locator(".dpviz-seat-number").inner_text()
    phone.reload()
    expect(phone.locator(".dpviz-seat-number")).to_have_text(seat)

    projector.get_by_role("radio", name="Who said yes?").press("Space")
    phone.get_by_role("button", name="Yes").press("Enter")
    other.get_by_role("button", name="No").click()
    expect(phone.locator(".dpviz-seat")).to_contain_text("You guessed yes.")
    expect(other.locator(".dpviz-seat")).to_contain_text("You guessed no.")
    expect(phone.get_by_role("button", name="Yes")).to_have_count(0)
    expect(projector.locator(".dpviz-mark")).to_have_text("2 of 2")
    projector.get_by_role("button", name="Reveal truth").click()
    for one in (phone, other):
        expect(one.locator(".dpviz-seat")).to_contain_text("The best guess from your table")
        assert not judged(one)
    expect(projector.locator(".dpviz-room")).to_contain_text("the best guesser")
    assert not judged(projector)

    projector.locator(".st-key-room_more summary").press("Enter")
    with projector.expect_download() as taken:
        projector.get_by_role("button", name="Every seat, every round").click()
    lines = [one for one in Path(taken.value.path()).read_text("utf-8-sig").splitlines() if not one.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert sorted(row["mode"] for row in rows) == ["guesses"] * 2 + ["intervals"] * 2
    assert "teacher=" not in Path(taken.value.path()).read_text("utf-8-sig")
    projector.get_by_role("button", name="End this room").press("Enter")
    projector.get_by_role("button", name="End it now").press("Enter")
    expect(projector.get_by_role("button", name="Open a room")).to_be_visible()
    expect(projector).to_have_url(re.compile(r"experiment\?class=1$"))
    expect(phone.locator(".dpviz-problem")).to_contain_text("This room has ended.")


MARKS = """() => {
  window.dpvizMarks = [];
  new MutationObserver(() => {
    const words = document.querySelector('.dpviz-mark')?.textContent;
    if (/ of 30/.test(words)) window.dpvizMarks.push(words);
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
"""Has a page note how many of a class it has shown, whenever it shows something else."""


def test_a_teacher_rehearses_alone(school: str, room: Room) -> None:
    """In the dark, on another screen: thirty seats come one after the other."""
    page = room.enter(f"{school}/experiment", {"width": 1024, "height": 768}, "dark")
    page.get_by_role("button", name="Try it alone").click()
    page.evaluate(MARKS)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator(".dpviz-mark")).to_have_text("30 of 30")
    come = [int(one.partition(" ")[0]) for one in page.evaluate("window.dpvizMarks")]
    assert come == sorted(come) and len(set(come)) > 5 and come[0] < 10
    page.get_by_role("button", name="Reveal truth").click()
    expect(page.locator(".dpviz-room")).to_contain_text("of 30 intervals hold the true share")
    assert not judged(page)


def test_the_code_of_a_room_stays_in_its_place_on_a_small_projector(school: str, room: Room) -> None:
    page = room.enter(f"{school}/experiment?class=1", {"width": 1024, "height": 768}, "dark")
    page.get_by_role("button", name="Open a room").click()
    code = page.locator(".dpviz-code")
    assert code.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    last = "one => { const word = new Range(); word.selectNode(one.lastChild); return word.getClientRects().length; }"
    assert page.locator(".dpviz-lobby b").first.evaluate(last) == 1  # the name of the page is not broken
    assert not judged(page)


def test_a_refusal_is_a_sentence_on_a_telephone(school: str, room: Room) -> None:
    page = room.enter(f"{school}/experiment?room=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", TELEPHONE)
    expect(page.locator(".dpviz-problem")).to_contain_text("This is not the code of a room")
    assert page.locator(".stMain img").count() == 0
    assert not judged(page)
    page.get_by_role("button", name="Back to the beginning").press("Enter")
    expect(page.get_by_role("textbox", name="Code of the room")).to_be_visible()
    expect(page).to_have_url(re.compile(r"experiment$"))
