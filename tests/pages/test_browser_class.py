"""The class experiment in real browsers: a projector and three phones, from the link to the end of the room."""

import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.browser import settle
from tests.pages.visitor import LAPTOP, PHONE, PROJECTOR, cut_off, shut_out, visit

pytestmark = pytest.mark.browser


def opened_room(page: Page, server: str) -> str:
    """Open a room in class mode; the link by which students join it."""
    page.goto(f"{server}/experiment?class=1")
    page.get_by_role("button", name="Open a room").click()
    code = page.locator(".dpviz-code").inner_text()
    assert re.fullmatch("[A-Z2-9]{3} [A-Z2-9]{3}", code)
    expect(page).to_have_url(re.compile(r"class=1&room=\w{6}&teacher=[\w-]{22}"))
    return f"{server}/experiment?room={code.replace(' ', '')}"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).first.click()


def table_of(phone: Page) -> list[str]:
    return re.findall(r"\d+ yes", phone.locator(".dpviz-seat").inner_text())


def test_a_class_goes_from_the_link_to_the_end(chromium: Browser, server: str) -> None:
    with ExitStack() as stack:
        projector = stack.enter_context(visit(chromium, f"{server}/experiment", PROJECTOR))
        link = opened_room(projector, server)
        phones = [stack.enter_context(visit(chromium, link, PHONE)) for _ in range(2)]
        typed = stack.enter_context(visit(chromium, f"{server}/experiment", PHONE, "dark"))
        typed.get_by_role("textbox", name="Code of the room").fill(link[-6:].lower())
        typed.get_by_role("textbox", name="Code of the room").press("Enter")
        phones.append(typed)
        for phone in phones:
            expect(phone.locator(".dpviz-seat")).to_contain_text("Your table comes when your teacher starts.")
            expect(phone).to_have_url(re.compile(r"room=\w{6}&seat=[\w-]{22}$"))
        expect(projector.locator(".dpviz-lobby")).to_contain_text("3 seats are taken.")
        settle(projector)
        assert projector.locator(".dpviz-lobby .dpviz-qr").evaluate("(image) => image.width") > 350
        expect(projector.locator(".dpviz-lobby")).to_be_in_viewport(ratio=0.95)
        assert shut_out(projector) + cut_off(projector) == []

        # Every phone draws its own table, and the projector shows their intervals
        projector.keyboard.press("Space")
        for phone in phones:
            expect(phone.locator(".dpviz-seat-line")).to_be_visible()
            expect(phone.locator(".dpviz-seat-line .truth")).to_have_count(0)
        expect(projector.locator(".dpviz-mark")).to_have_text("3 of 3 reported")
        settle(projector)
        expect(projector.locator("[role=figure]")).to_be_in_viewport(ratio=1)
        tables = [table_of(phone) for phone in phones]
        projector.get_by_text("told how the data were made", exact=True).click()
        expect(phones[0].locator(".dpviz-seat")).to_contain_text(
            "computed by an analyst who is told how the data were made (noise-aware score)"
        )
        assert table_of(phones[0]) == tables[0]

        # The truth is revealed; a phone that is loaded anew has the same seat; tables are drawn again
        press(projector, "Reveal truth")
        for phone in phones:
            expect(phone.locator(".dpviz-seat-line .truth")).to_be_visible()
            settle(phone)
            assert shut_out(phone) + cut_off(phone) == []
        seat = phones[0].locator(".dpviz-seat-number").inner_text()
        phones[0].reload()
        expect(phones[0].locator(".dpviz-seat-number")).to_have_text(seat)
        assert table_of(phones[0]) == tables[0]
        press(projector, "Draw again")
        expect(projector.locator(".dpviz-mark")).to_have_text("3 of 3 reported")
        expect(phones[0].locator(".dpviz-seat-line .truth")).to_have_count(0)
        for phone in phones:
            settle(phone)
        assert [table_of(phone) for phone in phones] != tables

        # Every phone guesses
        projector.get_by_text("Who said yes?", exact=True).click()
        for phone, guess in zip(phones, ("Yes", "No", "Yes"), strict=True):
            phone.get_by_role("button", name=guess, exact=True).click()
            expect(phone.locator(".dpviz-seat")).to_contain_text(f"You guessed {guess.lower()}.")
            expect(phone.get_by_role("button", name=guess, exact=True)).to_have_count(0)
        expect(projector.locator(".dpviz-mark")).to_have_text("3 of 3 reported")
        press(projector, "Reveal truth")
        for phone in phones:
            expect(phone.locator(".dpviz-seat")).to_contain_text("The best guess from your table")
        settle(projector)
        assert shut_out(projector) + cut_off(projector) == []

        # The end
        projector.locator(".st-key-room_more summary").click()
        settle(projector)  # it unfolds
        press(projector, "End this room")
        press(projector, "End it now")
        expect(projector.get_by_role("button", name="Open a room")).to_be_visible()
        expect(projector).to_have_url(f"{server}/experiment?class=1")
        for phone in phones:
            expect(phone.locator(".dpviz-problem")).to_contain_text("This room has ended.")
            settle(phone)
        settle(projector)


def test_a_teacher_rehearses_alone_with_seats_that_report_one_after_the_other(context, server) -> None:
    with visit(context, f"{server}/experiment", LAPTOP, "dark") as page:
        press(page, "Try it alone")
        expect(page.locator(".dpviz-code")).to_be_visible()
        press(page, "Start")
        expect(page.locator(".dpviz-mark")).to_have_text(re.compile("^([2-9]|1[0-9]) of 30 reported"))
        expect(page.locator(".dpviz-mark")).to_have_text("30 of 30 reported")
        press(page, "Reveal truth")
        expect(page.locator(".dpviz-answer")).to_contain_text("of 30 intervals held the true share")
        settle(page)


def test_a_phone_says_that_it_is_offline_until_it_is_back(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/experiment", LAPTOP) as page:
        link = opened_room(page, server)
    with visit(context, link, PHONE, is_strict=False) as phone:  # the console tells of what could not be fetched
        for is_offline in (True, False):
            phone.context.set_offline(is_offline)
            expect(phone.locator(".dpviz-problem")).to_have_count(int(is_offline))
        expect(phone.locator(".dpviz-seat")).to_contain_text("You have seat 1 ")


def test_every_rule_is_in_sight_of_a_class(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/experiment", PROJECTOR) as page:
        opened_room(page, server)
        press(page, "Start")
        page.locator(".st-key-room_sets").get_by_text("3", exact=True).click()
        expect(page.get_by_text("by the rule of Reiter 2003")).to_be_in_viewport(ratio=1)
        expect(page.get_by_text("told how the data were made", exact=True)).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="New people")).to_be_in_viewport(ratio=1)


def test_a_lesson_opens_by_a_click_anywhere_on_its_card(context: BrowserContext, server: str) -> None:
    with visit(context, f"{server}/lessons", LAPTOP, "light") as page:
        box = page.get_by_text("How often can an attacker be right").bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 2, box["y"] + 2)
        expect(page.get_by_role("heading", level=1)).to_contain_text("A promise called ε")
        settle(page)


@pytest.mark.parametrize(("width", "height", "theme"), [(1280, 720, "light"), (1024, 768, "dark")])
def test_back_and_next_of_a_lesson_stay_in_sight_of_a_class(context, server, width, height, theme) -> None:
    size: ViewportSize = {"width": width, "height": height}
    with visit(context, f"{server}/lessons?class=1&lesson=one_answer&step=4", size, theme) as page:
        for name in ("← Back", "Next lesson"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(page.locator(".dpviz-stays")).to_be_in_viewport(ratio=1)
        assert shut_out(page) + cut_off(page) == []
        press(page, "← Back")
        expect(page.get_by_role("heading", level=1)).to_contain_text("step 3 of 4")
