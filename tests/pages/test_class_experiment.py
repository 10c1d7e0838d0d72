"""The class experiment under AppTest: entry, seats, the projector, what is refused, and a database that is away."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from streamlit.testing.v1 import AppTest

from dpviz.teaching.classroom import service
from dpviz.teaching.classroom import store as store_module
from dpviz.teaching.classroom.settings import RoomSettings
from dpviz.teaching.classroom.store import ENDED, RoomStore
from dpviz.teaching.classroom.tokens import RateLimit, new_token
from pages.room import server
from pages.room.server import ADDRESS, UNREACHABLE
from pages.ui.server import app_routes
from tests.pages.apptest import component_data, headline, markup, move, open_page, press, said, settings, sound, widget
from tests.pages.servers import call

open_experiment = partial(open_page, "class_experiment")
NO_ROOM = "AAAAAA"
FRESH = RoomSettings.fresh(seed=1)
INTERVALS = RoomSettings(design=FRESH.design, running=True)
GUESSES = RoomSettings(design=FRESH.design, running=True, mode="guesses")
ENTRY = ["Take a seat", "Open a room", "Try it alone with 30 simulated seats"]
"""Buttons of the page without a room."""


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "network", lambda: "a school")
    monkeypatch.setattr(service, "CACHE_S", 1e-9)  # what was changed is seen at once
    monkeypatch.setattr(server, "_clean", lambda store: None)  # a thread that would go on after the test


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RoomStore]:
    """The database that the page uses, by a connection of its own, as another process has."""
    address = f"sqlite:///{tmp_path}/rooms.sqlite"
    monkeypatch.setenv(ADDRESS, address)
    engine = create_engine(address)
    yield RoomStore(engine)
    engine.dispose()
    server.rooms().store._engine.dispose()


def present(store: RoomStore, code: str) -> RoomSettings:
    room = store.room(code)
    assert room is not None and room.settings is not None
    return room.settings


def change(code: str, token: str, after: RoomSettings) -> None:
    server.rooms().store.change(code, token, lambda before: after)


def problems(app: AppTest) -> list[str]:
    """Sentences on what is refused, in the place of the room or above the entry."""
    cards = re.findall(r'class="dpviz-problem" role="alert">(.*?)</p>', markup(app))
    return [html.unescape(card) for card in cards] + [error.value for error in app.error]


def check_refused(app: AppTest, sentence: str) -> None:
    (problem,) = problems(app)
    assert sentence in problem
    assert "dpviz-seat" not in markup(app)


# Entry and seats


def test_the_entry_has_three_ways_and_opens_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESS, f"sqlite:///{tmp_path}/rooms.sqlite")
    app = open_experiment()
    assert [button.label for button in app.button] == ENTRY
    assert "its own synthetic table of the same secret people" in said(app)
    assert not list(tmp_path.iterdir())


def test_a_typed_code_leads_to_a_seat_and_each_token_to_its_own(store: RoomStore) -> None:
    code, _ = store.open(FRESH)
    app = open_experiment()
    for typed in ("abc", f" {code[:3].lower()}-{code[3:]} "):
        widget(app, "room_code").set_value(typed)
        assert bool(problems(press(app, "room_join"))) == (typed == "abc")
    assert f"You have seat 1 in room {code[:3]} {code[3:]}" in said(app)
    for query in (settings(app), settings(app)):  # a reload, a second tab
        assert "You have seat 1 " in said(open_experiment(**query))
    assert "You have seat 2 " in said(open_experiment(room=code, seat=new_token()))
    assert "You have seat 3 " in said(open_experiment(room=code))


def test_a_seat_waits_draws_and_is_told_the_truth(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    app = open_experiment(room=code)
    change(code, token, INTERVALS)
    for _ in range(2):
        app.run()
        assert "Your table says that 47 of 100 people said yes." in said(app)
        assert "The true share" not in said(app)
        assert store.reports(code, 1) == [(1, None)]
    change(code, token, replace(INTERVALS, revealed=True))
    assert "The true share is 33 %" in said(app.run()) and "another table" not in said(app)
    change(code, token, INTERVALS.next_round())
    assert "This is another table: your teacher" in said(app.run())


def test_a_guess_counts_once_and_not_after_the_answer(store: RoomStore) -> None:
    code, token = store.open(GUESSES)
    first, second = open_experiment(room=code), open_experiment(room=code)
    assert markup(first).count('class="unknown person"') == 1
    assert "You guessed yes." in said(press(first, "room_guess_yes"))
    assert "room_guess_yes" not in [button.key for button in first.button]
    change(code, token, replace(GUESSES, revealed=True))
    press(second, "room_guess_no")  # it is still on the screen of the second phone
    assert store.reports(code, 1) == [(1, 1)]
    assert "You had not guessed." in said(second)
    teacher = open_experiment(room=code, teacher=token)  # whoever knows the answer guesses no more
    assert teacher.button(key="room_go").label == "Next round"
    press(teacher, "room_go")
    assert (present(store, code).round, present(store, code).revealed) == (2, False)


# The projector


def test_a_teacher_controls_the_room_until_its_end(store: RoomStore) -> None:
    app = press(open_experiment(), "room_rehearse")
    code = app.session_state["room"]
    assert "30 seats are taken, 30 of them simulated." in said(app) and "QR code of" in markup(app)

    def after(control: Any) -> RoomSettings:
        sound(control.run())
        assert not problems(app)
        return present(store, code)

    def moved(key: str, value: object) -> RoomSettings:
        return after(widget(app, key).set_value(value))

    assert after(app.button(key="room_go").click()).running
    assert moved("room_epsilon", 2.0).design.epsilon == 2.0
    assert moved("room_sets", 3).design.sets == 3
    assert moved("room_rules", "score").rule == "score"
    assert after(app.button(key="room_go").click()).revealed
    assert not moved("room_epsilon", 3.0).revealed
    assert app.button(key="room_go").label == "Reveal truth"
    assert after(app.button(key="room_go").click()).revealed
    known = after(app.button(key="room_again").click())
    others = after(app.button(key="room_people").click())  # of whom nobody knows how many said yes
    assert (known.round, others.round, others.revealed, others.mode) == (2, 3, False, "intervals")
    assert others.secret != known.secret
    assert others.design.epsilon == known.design.epsilon and others.rule == known.rule == "score"
    guesses = moved("room_mode", "guesses")
    assert (guesses.mode, guesses.design.mechanism, guesses.round) == ("guesses", "geometric", 4)
    mechanism = next(control for control in app.selectbox if control.label == "Synthesizer")
    assert mechanism.key != "room_mechanism"  # under which a slow browser still sends the mechanism of before
    assert after(mechanism.set_value("beta_binomial")).design.mechanism == "beta_binomial"
    fewer = moved("room_n", 20).design
    assert (fewer.n, fewer.m) == (20, 20)
    assert not after(app.button(key="room_stop").click()).running
    press(app, "room_end")
    assert (room := store.room(code)) is not None and room.settings is None
    assert [button.label for button in app.button] == ENTRY
    assert settings(app) == {}


def test_simulated_seats_report_by_themselves_and_the_truth_is_told_when_asked(store: RoomStore) -> None:
    code, token = store.open(INTERVALS, simulated=4)
    app = open_experiment(room=code, teacher=token)
    assert len(store.reports(code, 1)) == 2
    for _ in range(6):
        app.run()
    assert sorted(seat for seat, _ in store.reports(code, 1)) == [1, 2, 3, 4]
    assert "4 of 4 seats drew a table" in headline(app)
    assert "2 of 4 intervals held the true share" in headline(press(app, "room_go"))


def test_a_control_changes_the_present_settings_and_all_seats(store: RoomStore) -> None:
    code, token = store.open(INTERVALS)
    first, second = (open_experiment(room=code, teacher=token) for _ in range(2))  # nobody has come yet
    move(first, room_epsilon=5.0)
    move(second, room_sets=2)  # its ε is still that of before
    assert (present(store, code).design.epsilon, present(store, code).design.sets) == (5.0, 2)
    assert [control.value for control in first.run().button_group if control.label == "Released sets M"] == [2]
    assert "2 tables" in said(open_experiment(room=code))


def test_freed_seats_are_taken_again_by_the_phones_that_are_open(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    left, stays = open_experiment(room=code), open_experiment(room=code)
    teacher = open_experiment(room=code, teacher=token)
    assert "2 seats are taken" in said(teacher)
    press(teacher, "room_free")
    assert teacher.toast[0].value == "Freed: two seats. A phone that is still open takes its seat again."
    assert "0 seats are taken" in said(teacher)
    press(teacher, "room_free")
    assert teacher.toast[0].value == "No seat was free: every phone has reported in this round."
    assert "You have seat 2 " in said(stays.run())  # its own
    assert "1 seat is taken" in said(teacher.run())
    assert settings(left) != settings(stays)


# What is refused


@pytest.mark.parametrize(
    "code", ["ABC", "ABCDE!", "<script>alert(1)</script>", "'; DROP TABLE dpviz_classrooms", "Ω" * 500]
)
def test_a_text_that_is_no_code_is_refused(store: RoomStore, code: str) -> None:
    app = open_experiment(room=code)
    check_refused(app, "This is not the code of a room: it has six letters and digits")
    assert "script>" not in markup(app)
    assert not problems(press(app, "room_leave"))
    assert [button.label for button in app.button] == ENTRY


def test_a_room_that_is_missing_has_ended_or_is_full(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    check_refused(open_experiment(room=NO_ROOM), "There is no room with this code.")
    code, token = store.open(FRESH)
    app = open_experiment(room=code)
    server.rooms().store.end(code, token)
    check_refused(app.run(), ENDED)
    check_refused(open_experiment(room=code), ENDED)
    check_refused(open_experiment(room=code, teacher=token), "the room has ended")
    monkeypatch.setattr(store_module, "MAX_SEATS", 0)
    check_refused(open_experiment(room=store.open(FRESH)[0]), "This room is full")


def test_a_wrong_link_of_a_teacher_opens_nothing_and_takes_no_seat(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    other, _ = store.open(FRESH)
    for room, wrong in ((code, token[:-1]), (code, new_token()), (other, token), (code, "<b>"), (code, "x")):
        app = open_experiment(room=room, teacher=wrong)
        check_refused(app, "This is not the link of a teacher: a letter of it is missing or wrong")
    assert {room.seats for room in map(store.room, (code, other)) if room is not None} == {0}
    assert open_experiment(room=code, teacher=token).button(key="room_go").label == "Start"


# Limits


def test_a_network_is_limited_but_seats_and_known_rooms_are_open(store, monkeypatch) -> None:
    monkeypatch.setattr(server.rooms(), "wrong_codes", RateLimit(3, 60.0))
    monkeypatch.setattr(server.rooms(), "opened_rooms", RateLimit(1, 60.0))
    teacher = press(open_experiment(), "room_open")
    known, (code, _) = teacher.session_state["room"], store.open(FRESH)
    _, own = store.take_seat(code)
    for _ in range(3):
        check_refused(open_experiment(room=NO_ROOM), "There is no room with this code.")
    check_refused(open_experiment(room=code), "Too many wrong codes have come from your network.")
    assert "seat 1 " in said(open_experiment(room=code, seat=own))
    assert "seat 1 " in said(open_experiment(room=known))
    assert "Many rooms have been opened from your network." in problems(press(open_experiment(), "room_open"))[0]
    monkeypatch.setattr(server.rooms(), "taken_seats", RateLimit(1, 60.0))
    assert "seat 2 " in said(open_experiment(room=known))
    check_refused(open_experiment(room=known), "Many seats have been taken from your network.")
    monkeypatch.setattr(server, "network", lambda: "another school")
    assert "seat 2 " in said(open_experiment(room=code))
    monkeypatch.setattr(server.rooms(), "wrong_codes_in_all", RateLimit(1, 60.0))
    check_refused(open_experiment(room=NO_ROOM), "There is no room")
    check_refused(open_experiment(room=known), "Too many wrong codes")


def test_a_browser_learns_by_a_secret_name_alone_whether_a_room_has_changed(store, monkeypatch) -> None:
    monkeypatch.setattr(server.rooms(), "unknown_rooms", RateLimit(3, 1e9))
    code, token = store.open(INTERVALS)
    (poll,) = component_data(open_experiment(room=code), "dpviz_poll").values()

    def ask(path: str, client: str) -> tuple[int, str]:
        status, _, body = call(app_routes()[0], path, client=client)
        return status, body.decode()

    watch = poll["watch"].removeprefix(".")
    assert ask(watch, "2001:db8::1") == (200, poll["seen"])
    change(code, token, FRESH)
    assert ask(watch, "2001:db8::1") == (200, "2")
    for number, wrong in enumerate((f"/dpviz/room/{code}/version", watch.replace("version", "token"))):
        assert ask(wrong, f"2001:db8::{number}")[0] == 404
    for number in range(6):  # one network, and more than may be looked for
        assert ask(f"/dpviz/room/{new_token()}/version", f"2001:db8::{number}")[0] == 404
    assert not server.rooms().unknown_rooms.is_free("2001:db8::/64")
    assert ask(watch, "2001:db8::7") == (200, "2")


# The database


@pytest.mark.parametrize(
    "address",
    ["sqlite:////nowhere/at/all/rooms.sqlite", "nonsense://x", "postgresql+psycopg://u:unspoken@127.0.0.1:1/x"],
)
def test_an_unreachable_database_is_said_without_its_address(address, monkeypatch, caplog) -> None:
    monkeypatch.setenv(ADDRESS, address)
    app = press(open_experiment(), "room_open")
    assert "That was not saved: press again in a moment." in problems(app)[0]
    for query in ({}, {"teacher": new_token()}):
        check_refused(open_experiment(room=NO_ROOM, **query), UNREACHABLE)
    assert server.answer(new_token(), "version", "a school").status_code == 503
    assert "unspoken" not in caplog.text + markup(app)


def test_a_seat_outlives_a_database_that_goes_away(store: RoomStore, tmp_path: Path) -> None:
    code, _ = store.open(INTERVALS)
    app = open_experiment(room=code)
    file, elsewhere = tmp_path / "rooms.sqlite", tmp_path / "elsewhere"
    for source, target, expected in ((file, elsewhere, UNREACHABLE), (elsewhere, file, "Seat 1 ")):
        for connection in (server.rooms().store, store):
            connection._engine.dispose()
        source.replace(target)
        assert expected in said(app.run())
    assert store.reports(code, 1) == [(1, None)]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    monkeypatch.setattr(server, "FILE", tmp_path / "nowhere" / "rooms.sqlite")
    for query in ({}, {"teacher": new_token()}):
        app = open_experiment(room=NO_ROOM, **query)
        check_refused(app, "Rooms are kept in the file rooms.sqlite beside app.py, and this server may not write")
        assert "DPVIZ_ROOMS=sqlite:" in problems(app)[0]
