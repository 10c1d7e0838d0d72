"""Where rooms are kept, in SQLite and in PostgreSQL: seats taken at once, ends, limits, hostile texts."""

import dataclasses
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from dpviz.teaching.classroom import service as serving
from dpviz.teaching.classroom import store as stored
from dpviz.teaching.classroom.service import RoomService
from dpviz.teaching.classroom.settings import RoomSettings
from dpviz.teaching.classroom.store import SCHEMA, RoomProblem, RoomStore
from dpviz.teaching.classroom.tokens import new_token
from tests.browser import ROOT
from tests.postgres import MISSING, postgres_programs, running_postgres

FRESH = dataclasses.replace(RoomSettings.fresh(seed=1), running=True)
DAY = 24 * 3600


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if postgres_programs() is None:
        pytest.skip(MISSING)
    with running_postgres() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rooms.sqlite"
    address = str(request.getfixturevalue("postgres"))
    engine = create_engine(address)
    SCHEMA.drop_all(engine)
    engine.dispose()
    return address


@pytest.fixture
def store(address: str) -> Iterator[RoomStore]:
    engine = create_engine(address)
    yield RoomStore(engine)
    engine.dispose()


def set_to(settings: RoomSettings) -> Callable[[RoomSettings], RoomSettings]:
    return lambda _: settings


def everything(store: RoomStore) -> str:
    """All that the database holds, as text."""
    with store._engine.connect() as rows:
        return repr([rows.execute(text(f"SELECT * FROM {table.name}")).all() for table in SCHEMA.sorted_tables])


def test_a_room_is_what_it_was_set_to_and_only_its_teacher_changes_it(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    room = store.room(code)
    assert room is not None
    assert (room.settings, room.version, room.seats, room.reports) == (FRESH, 1, 0, 0)
    assert store.watched(room.watch) == code
    assert store.is_teacher(code, token)
    second_code, wrong = store.open(FRESH)
    assert second_code != code
    assert not store.is_teacher(code, wrong)
    after = FRESH.with_design(epsilon=2.0)
    store.change(code, token, set_to(after))
    changed = store.room(code)
    assert changed is not None
    assert (changed.settings, changed.version) == (after, 2)
    with pytest.raises(RoomProblem, match="not its teacher's link"):
        store.change(code, wrong, set_to(FRESH))
    store.end(code, wrong)
    assert store.room(code) == changed
    assert store.room("AAAAAA") is None
    assert store.watched("nowhere") is None


def test_seats_that_are_taken_at_once_are_all_different(store: RoomStore) -> None:
    code, _ = store.open(FRESH)
    with ThreadPoolExecutor(12) as students:
        seats = list(students.map(lambda _: store.take_seat(code), range(60)))
    assert sorted(seat for seat, _ in seats) == list(range(1, 61))
    assert [store.seat_of(code, token) for _, token in seats] == [seat for seat, _ in seats]
    assert store.seat_of(code, "nobody's") is None
    second_code, _ = store.open(FRESH)
    assert store.seat_of(second_code, seats[0][1]) is None


def test_a_room_has_no_more_seats_than_it_may(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_SEATS", 5)
    code, _ = store.open(FRESH)

    def try_to_sit(_: int) -> int:
        try:
            return store.take_seat(code)[0]
        except RoomProblem as full:
            assert "This room is full: it has 5 seats" in str(full)
            return 0

    with ThreadPoolExecutor(8) as students:
        assert sorted(students.map(try_to_sit, range(12))) == [0] * 7 + [1, 2, 3, 4, 5]


def test_the_first_report_of_a_seat_counts_and_only_in_the_present_round(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    store.report(code, 1, 2, 1)
    store.report(code, 1, 1, 0)
    store.report(code, 1, 2, 0)
    store.report(code, 2, 3, 1)
    store.report("AAAAAA", 1, 3, 1)
    assert store.reports(code, 1) == [(2, 1), (1, 0)]
    assert (store.guess_of(code, 1, 2), store.guess_of(code, 1, 3)) == (1, None)
    store.change(code, token, RoomSettings.next_round)
    store.report(code, 1, 3, 1)
    store.report(code, 2, 3)
    room = store.room(code)
    assert room is not None
    assert (store.reports(code, 1), store.reports(code, 2), room.reports) == ([(2, 1), (1, 0)], [(3, None)], 1)
    assert [settings.round for settings in store.history(code)] == [1, 2]


def test_reports_that_come_at_once_are_all_kept_in_the_order_in_which_they_came(store: RoomStore) -> None:
    code, _ = store.open(FRESH)
    with ThreadPoolExecutor(12) as students:
        list(students.map(lambda seat: store.report(code, 1, seat % 40 + 1), range(120)))
    assert sorted(seat for seat, _ in store.reports(code, 1)) == list(range(1, 41))


def test_of_a_room_that_has_ended_nothing_is_kept(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    seat, own = store.take_seat(code)
    store.report(code, 1, seat, 1)
    before = store.room(code)
    store.end(code, token)
    room = store.room(code)
    assert room is not None
    assert before is not None
    assert room.settings is None
    assert room.version > before.version
    assert (store.reports(code, 1), store.history(code), store.seat_of(code, own)) == ([], [], None)
    assert "beta_binomial" not in everything(store)
    for act in (lambda: store.take_seat(code), lambda: store.change(code, token, RoomSettings.next_round)):
        with pytest.raises(RoomProblem):
            act()
    store.report(code, 1, seat, 1)
    assert store.reports(code, 1) == []
    assert not store.is_teacher(code, token)


def test_a_room_ends_after_a_day_and_is_forgotten_after_another_one(store: RoomStore) -> None:
    now = time.time()
    code, token = store.open(FRESH, now=now)
    store.report(code, 1, 1, 1)
    for later, ended in ((DAY - 1, False), (DAY + 3601, True)):
        store.delete_expired(now + later)
        room = store.room(code)
        assert room is not None
        assert (room.settings is None) is ended  # what is said to be deleted is deleted, whatever the clock says
        assert (store.reports(code, 1) == []) is ended
    assert not store.is_teacher(code, token)
    store.delete_expired(now + 2 * DAY + 3601)
    assert store.room(code) is None


def test_a_teacher_frees_the_seats_of_phones_that_have_left(store: RoomStore) -> None:
    code, token = store.open(FRESH, simulated=2)
    seats = [store.take_seat(code) for _ in range(4)]
    assert [seat for seat, _ in seats] == [3, 4, 5, 6]
    store.report(code, 1, 4, 1)
    with pytest.raises(RoomProblem, match="not its teacher's link"):
        store.free_seats(code, new_token())
    assert store.free_seats(code, token) == 3
    assert [store.seat_of(code, own) for _, own in seats] == [None, 4, None, None]
    room = store.room(code)
    assert room is not None and (room.seats, room.version) == (3, 2)
    assert [store.take_seat(code)[0] for _ in range(3)] == [3, 5, 6]
    assert store.free_seats(code, token) == 3 and store.free_seats(code, token) == 0


def test_there_are_only_so_many_rooms(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_ROOMS", 2)
    code, token = store.open(FRESH)
    store.open(FRESH)
    with pytest.raises(RoomProblem, match="2 rooms are open, and no more are allowed"):
        store.open(FRESH)
    store.end(code, token)
    store.open(FRESH)


def test_no_token_can_be_read_from_the_database_and_no_time_finer_than_an_hour(store: RoomStore) -> None:
    code, token = store.open(FRESH, now=1_000_000.0)
    _, own = store.take_seat(code)
    content = everything(store)
    assert token not in content
    assert own not in content
    assert str(1_000_800 + DAY) in content  # the end of the hour, a day later


@pytest.mark.parametrize(
    "hostile", ["'; DROP TABLE dpviz_classrooms; --", "<img src=x onerror=alert(1)>", "%", "\\", "ü" * 300]
)
def test_what_comes_from_outside_is_no_sql(store: RoomStore, hostile: str) -> None:
    code, token = store.open(FRESH)
    for act in (store.room, store.watched):
        assert act(hostile) is None
    assert store.seat_of(code, hostile) is None
    assert store.seat_of(hostile, token) is None
    assert not store.is_teacher(hostile, token)
    store.report(hostile, 1, 1)
    store.end(hostile, hostile)
    assert store.room(code) is not None
    assert set(inspect(store._engine).get_table_names()) >= {table.name for table in SCHEMA.sorted_tables}


MAKING = """
import sys
from sqlalchemy import create_engine
from dpviz.teaching.classroom.settings import RoomSettings
from dpviz.teaching.classroom.store import RoomStore
store = RoomStore(create_engine(sys.argv[1]))
for _ in range(20):
    code, _ = store.open(RoomSettings.fresh(seed=1))
    for seat in range(1, 6):
        store.report(code, 1, store.take_seat(code)[0])
    assert len(store.reports(code, 1)) == 5
"""


def test_two_processes_make_the_tables_and_write_at_once(address: str) -> None:
    command = [sys.executable, "-c", MAKING, address]
    both = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors


def test_who_reads_does_not_wait_for_who_writes(tmp_path: Path) -> None:
    """A transaction of another process that takes long leaves a SQLite file readable."""
    address = f"sqlite:///{tmp_path}/rooms.sqlite"
    mine, writer = create_engine(address), create_engine(address)
    store = RoomStore(mine)
    code, _ = store.open(FRESH)
    with writer.begin() as rows:
        rows.execute(text("UPDATE dpviz_classrooms SET seats = 9"))
        room = store.room(code)  # who waited for the other would be refused in the end: it writes for as long as this
        assert room is not None
        assert room.seats == 0
        writing = threading.Thread(target=store.report, args=(code, 1, 1))
        writing.start()
        time.sleep(0.2)
        assert writing.is_alive()
    writing.join(60)
    assert store.reports(code, 1) == [(1, None)]
    mine.dispose()
    writer.dispose()


def test_all_settings_that_a_class_has_seen_are_kept_and_no_others(store, monkeypatch) -> None:
    code, token = store.open(dataclasses.replace(FRESH, running=False))
    louder, guesses = FRESH.with_design(epsilon=2.0), FRESH.with_design(epsilon=2.0).next_round(mode="guesses")
    revealed = [dataclasses.replace(settings, revealed=True) for settings in (FRESH, guesses)]
    for settings in (FRESH, revealed[0], louder, guesses, revealed[1]):
        store.change(code, token, set_to(settings))
    history = [(settings.mode, settings.design.epsilon, settings.revealed) for settings in store.history(code)]
    assert history == [("intervals", 1.0, True), ("intervals", 2.0, False), ("guesses", 2.0, True)]
    monkeypatch.setattr(stored, "MAX_HISTORY", 3)
    store.change(code, token, set_to(louder.next_round()))
    assert [settings.mode for settings in store.history(code)] == ["intervals", "guesses", "intervals"]  # the latest


def test_changes_that_come_at_once_all_count(store: RoomStore) -> None:
    code, token = store.open(FRESH)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.change(code, token, RoomSettings.next_round), range(20)))
    room = store.room(code)
    assert room is not None and room.settings is not None
    assert (room.settings.round, room.version) == (21, 21)
    store.change(code, token, lambda before: before)
    assert store.room(code) == room


def test_a_guess_counts_only_before_the_answer_is_told(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    code, token = store.open(FRESH.next_round(mode="guesses"))
    service = RoomService(store)
    service.guess(code, 2, 1, 1)
    seen = store.room(code)
    store.change(code, token, lambda before: dataclasses.replace(before, revealed=True))
    monkeypatch.setattr(store, "room", lambda _: seen)  # as it was when the guess set out
    service.guess(code, 2, 2, 1)
    assert store.reports(code, 2) == [(1, 1)]


def test_what_a_server_knows_of_rooms_is_bounded(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_KNOWN", 2)
    monkeypatch.setattr(serving, "MAX_CACHED_ROOMS", 2)
    service = RoomService(store)
    for _ in range(5):
        code, _ = service.open(FRESH, 0, "here")
        room = service.enter(code, "elsewhere")
        assert service.watched(room.watch, "here") == room
    assert len(service._known) <= 2 and len(service._codes) <= 2
