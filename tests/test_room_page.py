"""The page of the class experiment without a browser: what it says where there is no room, no seat, or no database."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine
from streamlit.testing.v1 import AppTest

from dpviz.teaching.rooms import store as stored
from dpviz.teaching.rooms.codes import Limit, new_token
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Store
from pages.experiment import SPEC, rooms
from pages.experiment.live import ENDED, UNREACHABLE
from pages.experiment.rooms import ADDRESS
from tests.pages import html, open_page, problems

FRESH = RoomSettings.fresh(seed=1)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The database that the page asks, too."""
    address = f"sqlite:///{tmp_path}/rooms.sqlite"
    monkeypatch.setenv(ADDRESS, address)
    for name, most in (("WRONG", 30), ("WRONG_BY_ALL", 200), ("OPENED", 20)):
        monkeypatch.setattr(rooms, name, Limit(most, 60.0))
    monkeypatch.setattr(rooms, "client", lambda: "a school")
    engine = create_engine(address)
    yield Store(engine)
    engine.dispose()
    rooms.store()._engine.dispose()


def opened(**address: str) -> AppTest:
    return open_page(address, path=SPEC.file, prefix=SPEC.prefix)


def seat(page: AppTest) -> str:
    """What a seat is told."""
    return " ".join(re.sub("<[^>]+>", " ", one) for one in html(page) if "dpviz-seat" in one)


def test_who_opens_the_page_alone_sees_what_it_is_and_no_database_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS, f"sqlite:///{tmp_path}/rooms.sqlite")
    page = opened()
    assert not problems(page)
    assert [one.label for one in page.button] == ["Take a seat", "Open a room", "Try it alone with 30 simulated seats"]
    assert "its own synthetic table of the same secret people" in page.markdown[0].value
    assert not list(tmp_path.iterdir())


def test_a_seat_waits_draws_and_is_told(store: Store) -> None:
    code, token = store.open(FRESH)
    page = opened(room=code.lower())
    assert f"You have seat 1 in room {code[:3]} {code[3:]}" in seat(page)
    store.change(code, token, INTERVALS_RUN)
    rooms.PRESENT.drop(code)
    page.run()
    assert "Your table says that 47 of 100 people said yes." in seat(page)
    assert "The true share" not in seat(page)
    assert store.reports(code, 1) == [(1, None)]
    page.run()
    assert store.reports(code, 1) == [(1, None)]


INTERVALS_RUN = RoomSettings(design=FRESH.design, running=True)
GUESSES_RUN = RoomSettings(design=FRESH.design, running=True, mode="guesses")


def test_a_guess_is_kept_once_and_not_after_the_answer(store: Store) -> None:
    code, token = store.open(GUESSES_RUN)
    first, second = opened(room=code), opened(room=code)
    drawn = next(one for one in html(first) if "dpviz-people" in one)
    assert (drawn.count('class="one"'), drawn.count('class="unknown person"')) == (FRESH.secret - 1, 1)
    first.button(key="room_guess_yes").click().run()
    assert "You guessed yes." in seat(first)
    assert "room_guess_yes" not in [one.key for one in first.button]
    shown = RoomSettings(design=FRESH.design, running=True, mode="guesses", revealed=True)
    store.change(code, token, shown)
    second.button(key="room_guess_no").click().run()  # it is still on the screen of the second phone
    assert store.reports(code, 1) == [(1, 1)]
    assert "You had not guessed." in seat(second)


def test_the_same_link_is_the_same_seat(store: Store) -> None:
    code, _ = store.open(FRESH)
    number, own = store.take_seat(code)
    store.take_seat(code)
    for _ in range(2):
        assert f"seat {number} " in seat(opened(room=code, seat=own))
    assert "seat 3 " in seat(opened(room=code, seat=new_token()))


def check_refused(page: AppTest, words: str) -> None:
    (said,) = problems(page)
    assert words in said
    assert not seat(page)


@pytest.mark.parametrize("code", ["ABC", "ABCDE!", "<script>alert(1)</script>", "'; DROP TABLE dpviz_rooms", "Ω" * 500])
def test_what_is_no_code_is_refused(store: Store, code: str) -> None:
    page = opened(room=code)
    check_refused(page, "This is not the code of a room: it has six letters and digits")
    assert "script>" not in " ".join(html(page))
    page.button(key="room_leave").click().run()
    assert not problems(page)
    assert [one.label for one in page.button][1] == "Open a room"


def test_a_room_that_is_not_there_has_ended_or_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    check_refused(opened(room="AAAAAA"), "There is no room with this code.")
    code, token = store.open(FRESH)
    page = opened(room=code)
    store.end(code, token)
    rooms.PRESENT.drop(code)
    page.run()
    check_refused(page, ENDED)
    check_refused(opened(room=code), ENDED)
    check_refused(opened(room=code, teacher=token), "the room has ended")
    monkeypatch.setattr(stored, "MOST_SEATS", 0)
    code, _ = store.open(FRESH)
    check_refused(opened(room=code), "This room is full")


def test_a_wrong_teachers_link_opens_nothing_and_takes_no_seat(store: Store) -> None:
    code, token = store.open(FRESH)
    other, _ = store.open(FRESH)
    for room, wrong in ((code, token[:-1]), (code, new_token()), (other, token), (code, "<b>"), (code, "x")):
        check_refused(opened(room=room, teacher=wrong), "This is not the link of a teacher")
    for one in (code, other):
        held = store.room(one)
        assert held is not None
        assert held.seats == 0
    page = opened(room=code, teacher=token)
    assert not problems(page)
    assert page.button(key="room_go").label == "Start"


def test_wrong_codes_are_only_so_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a seat comes back to it all the same."""
    monkeypatch.setattr(rooms, "WRONG", Limit(3, 60.0))
    code, _ = store.open(FRESH)
    _, own = store.take_seat(code)
    for _ in range(3):
        check_refused(opened(room="AAAAAA"), "There is no room with this code.")
    for asked in ("AAAAAA", code):
        check_refused(opened(room=asked), "Too many wrong codes have come from your network.")
    assert "seat 1 " in seat(opened(room=code, seat=own))
    monkeypatch.setattr(rooms, "WRONG", Limit(3, 60.0))
    monkeypatch.setattr(rooms, "WRONG_BY_ALL", Limit(1, 60.0))
    check_refused(opened(room="AAAAAA"), "There is no room")
    check_refused(opened(room=code), "Too many wrong codes")
    monkeypatch.setattr(rooms, "client", lambda: "elsewhere")
    assert "seat 2 " in seat(opened(room=code))  # who has not been wrong is let in


def test_who_guesses_codes_does_not_shut_out_the_class_in_the_same_network(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "WRONG", Limit(3, 60.0))
    teacher = opened()
    teacher.button(key="room_open").click().run()
    code = teacher.session_state["room_place"].room
    elsewhere, _ = store.open(FRESH)
    for _ in range(4):
        opened(room="AAAAAA")
    check_refused(opened(room=elsewhere), "Too many wrong codes")
    assert "seat 1 " in seat(opened(room=code))
    monkeypatch.setattr(rooms, "client", lambda: "another school")
    assert "seat 1 " in seat(opened(room=elsewhere))  # and from then on all who are there
    for _ in range(4):
        opened(room="AAAAAA")
    assert "seat 2 " in seat(opened(room=elsewhere))
    check_refused(opened(room=code), "Too many wrong codes")


def test_only_so_many_rooms_are_opened_from_one_place(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "OPENED", Limit(1, 60.0))
    for words in ("", "Many rooms have been opened from your network."):
        page = opened()
        page.button(key="room_open").click().run()
        assert [words] * bool(words) == [one[: len(words)] for one in problems(page)]


def test_a_teacher_moves_everything_by_its_controls(store: Store) -> None:
    page = opened()
    page.button(key="room_rehearse").click().run()
    code = page.session_state["room_place"].room

    def now() -> RoomSettings:
        room = store.room(code)
        assert room is not None
        assert room.settings is not None
        return room.settings

    def act(touched: AppTest) -> RoomSettings:
        touched.run()
        assert not problems(page), problems(page)
        return now()

    assert act(page.button(key="room_go").click()).running
    assert act(page.select_slider(key="room_epsilon_slider").set_value(2.0)).design.epsilon == 2.0
    assert act(page.button_group(key="room_sets").set_value(3)).design.sets == 3
    assert act(page.radio(key="room_rule").set_value("score")).rule == "score"
    assert act(page.button(key="room_go").click()).revealed
    assert act(page.button(key="room_again").click()).round == 2
    guessing = act(page.button_group(key="room_mode").set_value("guesses"))
    assert (guessing.mode, guessing.design.mechanism) == ("guesses", "geometric")
    assert act(page.selectbox(key="room_mechanism").set_value("beta_binomial")).design.mechanism == "beta_binomial"
    asked = act(page.button_group(key="room_people").set_value(20))
    assert (asked.design.n, asked.design.m, asked.round) == (20, 20, 5)
    assert not act(page.button(key="room_stop").click()).running
    page.button(key="room_end").click().run()
    room = store.room(code)
    assert room is not None
    assert room.settings is None
    assert not problems(page)


@pytest.mark.parametrize(
    "address",
    ["sqlite:////nowhere/at/all/rooms.sqlite", "nonsense://x", "postgresql+psycopg://u:unspoken@127.0.0.1:1/x"],
)
def test_a_database_that_cannot_be_reached_is_said_and_its_address_is_not(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(ADDRESS, address)
    for page in (opened(room="AAAAAA"), opened(room="AAAAAA", teacher=new_token())):
        check_refused(page, UNREACHABLE[:60])
    page = opened()
    page.button(key="room_open").click().run()
    assert "That was not saved: press again in a moment." in problems(page)[0]
    assert "unspoken" not in caplog.text
    assert "unspoken" not in " ".join(html(page))


def test_a_database_that_goes_away_and_comes_back_leaves_the_seat_where_it_was(store: Store, tmp_path: Path) -> None:
    code, _ = store.open(INTERVALS_RUN)
    page = opened(room=code)
    assert "Your interval" in seat(page)
    file = tmp_path / "rooms.sqlite"
    rooms.store()._engine.dispose()
    store._engine.dispose()
    file.rename(tmp_path / "away")
    time.sleep(rooms.FRESH)
    page.run()
    check_refused(page, UNREACHABLE[:60])
    file.unlink(missing_ok=True)
    (tmp_path / "away").rename(file)
    rooms.store()._engine.dispose()
    time.sleep(rooms.FRESH)
    page.run()
    assert "Seat 1 " in seat(page)
    assert store.reports(code, 1) == [(1, None)]


def test_who_knows_the_answer_guesses_no_more(store: Store) -> None:
    """In the second part the truth is not hidden again: the next round begins."""
    code, token = store.open(GUESSES_RUN)
    page = opened(room=code, teacher=token)
    for label, number, revealed in (("Reveal truth", 1, True), ("Next round", 2, False)):
        assert page.button(key="room_go").label == label
        page.button(key="room_go").click().run()
        room = store.room(code)
        assert room is not None
        assert room.settings is not None
        assert (room.settings.round, room.settings.revealed) == (number, revealed)


def test_what_is_known_of_a_room_is_asked_for_once_by_all_who_come_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def slow(key: str) -> int:
        asked.append(key)
        time.sleep(0.05)
        return len(asked)

    fresh = rooms.Fresh(slow, 0.5)
    now = 0.0
    monkeypatch.setattr(rooms, "time", SimpleNamespace(monotonic=lambda: now))
    with ThreadPoolExecutor(8) as phones:
        assert list(phones.map(fresh.get, ["a"] * 8)) == [1] * 8
    assert (fresh.get("b"), fresh.get("a"), fresh.knows("a"), fresh.knows("c")) == (2, 1, True, False)
    fresh.drop("a")
    assert fresh.get("a") == 3
    now = 0.55
    assert not fresh.knows("a")
    assert fresh.get("a") == 4


def test_a_folder_in_which_nothing_can_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the app is installed for all and started by somebody: no promise that it helps to press again."""
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setattr(rooms, "FILE", tmp_path / "nowhere" / "rooms.sqlite")
    page = opened()
    assert not problems(page)
    page.button(key="room_open").click().run()
    for one in (page, opened(room="AAAAAA"), opened(room="AAAAAA", teacher=new_token())):
        check_refused(
            one, "Rooms are kept in the file rooms.sqlite beside app.py, and this server may not write there."
        )
        assert "DPVIZ_ROOMS=sqlite:" in problems(one)[0]
    told = rooms.answer(f"{new_token()}/version", "a school")
    assert told is not None
    assert told.status_code == 503


def test_who_changes_the_address_within_one_network_is_still_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "UNKNOWN", Limit(3, 60.0))
    for number in range(6):
        rooms.answer(f"{new_token()}/version", f"2001:db8::{number}")
    assert rooms.UNKNOWN.counted("2001:db8::/64", time.monotonic()) == 3
