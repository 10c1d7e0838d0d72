"""Where rooms are kept: any database that SQLAlchemy knows, which several server processes may share.

Nothing about a person is stored: numbers of seats, guesses, hashes of tokens, and the hour in which a room ends.
"""

import json
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, func, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from dpviz.teaching.classroom.settings import MAX_SEATS, RoomSettings
from dpviz.teaching.classroom.tokens import hash_token, new_code, new_token

MAX_ROOMS = 500  # open at a time
LIFETIME_S = 24 * 3600
HOUR_S = 3600
MAX_HISTORY = 100  # latest settings of a room that are remembered
ENDED = "This room has ended. What was reported in it has been deleted."
SQLITE_WAIT_MS = 15_000  # for another process to be done with writing

SCHEMA = sa.MetaData()
ROOMS = sa.Table(
    "dpviz_classrooms",
    SCHEMA,
    sa.Column("code", sa.String(16), primary_key=True),
    sa.Column("watch", sa.String(64), nullable=False, unique=True),
    sa.Column("teacher", sa.String(64), nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("history", sa.Text, nullable=False),  # JSON list of the settings so far, the present ones last
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("seats", sa.Integer, nullable=False),
    sa.Column("simulated", sa.Integer, nullable=False),
    sa.Column("ends", sa.Integer, nullable=False),
    sa.Column("ended", sa.Boolean, nullable=False),
)
SEATS = sa.Table(
    "dpviz_classroom_seats",
    SCHEMA,
    sa.Column("code", sa.ForeignKey("dpviz_classrooms.code"), primary_key=True),
    sa.Column("seat", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("token", sa.String(64), nullable=False),
    sa.UniqueConstraint("code", "token"),
)
REPORTS = sa.Table(
    "dpviz_classroom_reports",
    SCHEMA,
    sa.Column("place", sa.Integer, primary_key=True),  # in the order in which they came
    sa.Column("code", sa.ForeignKey("dpviz_classrooms.code"), nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("guess", sa.Integer),
    sa.UniqueConstraint("code", "round", "seat"),
)


class RoomProblem(ValueError):
    """What a room does not allow, in a sentence."""


@dataclass(frozen=True)
class Room:
    """A room as it is; its settings are None where it has ended.

    `watch` is a name that nobody can guess, by which browsers ask whether anything is new; `version` is another one
    after each change, `simulated` how many of the seats that are taken are so, `reports` their number in this round.
    """

    code: str
    watch: str
    settings: RoomSettings | None
    version: int
    seats: int
    simulated: int
    reports: int


class RoomStore:
    """The rooms of a database, whose tables are made where they are missing."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _configure_sqlite)
        try:
            SCHEMA.create_all(engine)
        except SQLAlchemyError:  # another process has made them in between
            SCHEMA.create_all(engine)

    def open(self, settings: RoomSettings, simulated: int = 0, now: float | None = None) -> tuple[str, str]:
        """Open a room with some simulated seats; its code, and the token of its teacher."""
        token = new_token()
        ends = HOUR_S * math.ceil((time.time() if now is None else now) / HOUR_S) + LIFETIME_S
        values = {"teacher": hash_token(token), "round": settings.round, "history": json.dumps([settings.to_json()])}
        values |= {"version": 1, "seats": simulated, "simulated": simulated, "ends": ends, "ended": False}
        if self._scalar(select(func.count()).select_from(ROOMS).where(~ROOMS.c.ended)) >= MAX_ROOMS:
            raise RoomProblem(f"{MAX_ROOMS} rooms are open, and no more are allowed. Try again in an hour.")
        code = new_code()  # that of another room once in two million times, which the database refuses
        with self._engine.begin() as connection:
            connection.execute(sa.insert(ROOMS).values(code=code, watch=new_token(), **values))
        return code, token

    def _scalar(self, query: sa.Select[Any]) -> Any:
        with self._engine.connect() as connection:
            return connection.scalar(query)

    def room(self, code: str) -> Room | None:
        """Return the room with this code, in one query; None where there is none."""
        present = (REPORTS.c.code == ROOMS.c.code) & (REPORTS.c.round == ROOMS.c.round)
        n_reports = select(func.count()).select_from(REPORTS).where(present).scalar_subquery().label("reports")
        with self._engine.connect() as connection:
            row = connection.execute(select(ROOMS, n_reports).where(ROOMS.c.code == code)).one_or_none()
        if row is None:
            return None
        settings = None if row.ended else _read_history(row.history)[-1]
        return Room(code, row.watch, settings, row.version, row.seats, row.simulated, row.reports)

    def watched(self, watch: str) -> str | None:
        """Return the code of the room that browsers ask for by this name."""
        return self._scalar(select(ROOMS.c.code).where(ROOMS.c.watch == watch))

    def is_teacher(self, code: str, token: str) -> bool:
        """Whether this is the token of the room's teacher."""
        return self._scalar(select(ROOMS.c.code).where(_of_teacher(code, token))) is not None

    def take_seat(self, code: str, last: int = 0) -> tuple[int, str]:
        """Number and token of a free seat, the `last` one if it is free; a RoomProblem where there is none."""
        token, is_open = new_token(), (ROOMS.c.code == code) & ~ROOMS.c.ended
        with self._engine.begin() as connection:
            # The first statement writes: whoever comes meanwhile waits for the end of this transaction
            taking = sa.update(ROOMS).where(is_open & (ROOMS.c.seats < MAX_SEATS)).values(seats=ROOMS.c.seats + 1)
            if connection.execute(taking).rowcount != 1:
                if connection.scalar(select(ROOMS.c.seats).where(is_open)) is None:
                    raise RoomProblem(ENDED)
                raise RoomProblem(f"This room is full: it has {MAX_SEATS} seats, and all are taken.")
            simulated = connection.scalar(select(ROOMS.c.simulated).where(is_open)) or 0
            numbers = set(connection.scalars(select(SEATS.c.seat).where(SEATS.c.code == code)))
            is_last = simulated < last <= MAX_SEATS and last not in numbers
            seat = last if is_last else next(number for number in count(simulated + 1) if number not in numbers)
            connection.execute(sa.insert(SEATS).values(code=code, seat=seat, token=hash_token(token)))
        return seat, token

    def seat_of(self, code: str, token: str) -> int | None:
        """Return the seat that this token belongs to."""
        return self._scalar(select(SEATS.c.seat).where(SEATS.c.code == code, SEATS.c.token == hash_token(token)))

    def free_seats(self, code: str, token: str) -> int:
        """Free the seats without a report in this round, for the teacher; how many. Open phones take a seat anew."""
        with self._engine.begin() as connection:
            _write_as_teacher(connection, code, token)
            present = select(ROOMS.c.round).where(ROOMS.c.code == code).scalar_subquery()
            reported = select(REPORTS.c.seat).where(REPORTS.c.code == code, REPORTS.c.round == present)
            is_silent = (SEATS.c.code == code) & SEATS.c.seat.not_in(reported)
            n_freed = connection.execute(sa.delete(SEATS).where(is_silent)).rowcount
            n_taken = select(func.count()).select_from(SEATS).where(SEATS.c.code == code).scalar_subquery()
            connection.execute(sa.update(ROOMS).where(ROOMS.c.code == code).values(seats=ROOMS.c.simulated + n_taken))
        return n_freed

    def report(self, code: str, number: int, seat: int, guess: int | None = None, version: int | None = None) -> None:
        """Note that a seat has drawn, or what it guesses; its first report counts, and only in the present round.

        With a `version` it counts only while the room has not been changed since.
        """
        values = [sa.literal(value, sa.Integer) for value in (number, seat, guess)]
        version_now = ROOMS.c.version if version is None else version
        is_present = (ROOMS.c.code == code) & (ROOMS.c.round == number) & (ROOMS.c.version == version_now)
        source = select(ROOMS.c.code, *values).where(is_present & ~ROOMS.c.ended)
        with suppress(IntegrityError), self._engine.begin() as connection:  # where it has reported before
            connection.execute(sa.insert(REPORTS).from_select(["code", "round", "seat", "guess"], source))

    def reports(self, code: str, round_number: int) -> list[tuple[int, int | None]]:
        """Return seats and guesses of a round, in the order in which they came."""
        of_round = (REPORTS.c.code == code) & (REPORTS.c.round == round_number)
        query = select(REPORTS.c.seat, REPORTS.c.guess).where(of_round).order_by(REPORTS.c.place)
        with self._engine.connect() as connection:
            return [(seat, guess) for seat, guess in connection.execute(query)]

    def guess_of(self, code: str, round_number: int, seat: int) -> int | None:
        """Return the guess of a seat in a round; None where there is none."""
        place = (REPORTS.c.code == code) & (REPORTS.c.round == round_number) & (REPORTS.c.seat == seat)
        return self._scalar(select(REPORTS.c.guess).where(place))

    def history(self, code: str) -> list[RoomSettings]:
        """Return the settings that were shown, up to the last: each with another question, as it was at its end."""
        return list(_read_history(self._scalar(select(ROOMS.c.history).where(ROOMS.c.code == code)) or ""))

    def change(self, code: str, token: str, change: Callable[[RoomSettings], RoomSettings]) -> None:
        """Change a room, for its teacher, from its settings at this moment: changes that come at once all count.

        A RoomProblem where it has ended or the token is wrong.
        """
        with self._engine.begin() as connection:
            _write_as_teacher(connection, code, token)
            history = list(_read_history(connection.scalar(select(ROOMS.c.history).where(ROOMS.c.code == code)) or ""))
            present = history[-1]
            settings = change(present)
            if settings == present:
                connection.rollback()
                return
            # What nobody has seen, and the same question with its answer, is replaced
            if not present.running or replace(settings, running=True, revealed=present.revealed) == present:
                history.pop()
            texts = [item.to_json() for item in (*history, settings)][-MAX_HISTORY:]
            values = {"round": settings.round, "history": json.dumps(texts)}
            connection.execute(sa.update(ROOMS).where(ROOMS.c.code == code).values(values))

    def end(self, code: str, token: str) -> None:
        """End a room, for its teacher: of what was reported nothing is kept."""
        with self._engine.begin() as connection:
            if connection.execute(sa.update(ROOMS).where(_of_teacher(code, token)).values(_ended())).rowcount == 1:
                _delete_entries(connection, [code])

    def delete_expired(self, now: float | None = None) -> None:
        """End rooms whose time is over, and forget those whose time was over a day ago."""
        now = time.time() if now is None else now
        with self._engine.begin() as connection:
            is_late = ROOMS.c.ends <= now
            connection.execute(sa.update(ROOMS).where(is_late & ~ROOMS.c.ended).values(_ended()))
            _delete_entries(connection, list(connection.scalars(select(ROOMS.c.code).where(is_late))))
            connection.execute(sa.delete(ROOMS).where(ROOMS.c.ends <= now - LIFETIME_S))


@lru_cache(maxsize=256)
def _read_history(text: str) -> tuple[RoomSettings, ...]:
    return tuple(map(RoomSettings.from_json, json.loads(text or "[]")))


def _of_teacher(code: str, token: str) -> Any:
    return (ROOMS.c.code == code) & (ROOMS.c.teacher == hash_token(token)) & ~ROOMS.c.ended


def _write_as_teacher(connection: sa.Connection, code: str, token: str) -> None:
    """Begin a change with a statement that writes, so that others wait for its end."""
    changed = sa.update(ROOMS).where(_of_teacher(code, token)).values(version=ROOMS.c.version + 1)
    if connection.execute(changed).rowcount != 1:
        raise RoomProblem("Nothing was changed: this room has ended, or this is not its teacher's link.")


def _ended() -> dict[str, Any]:
    return {"ended": True, "history": "", "teacher": "", "version": ROOMS.c.version + 1}


def _delete_entries(connection: sa.Connection, codes: list[str]) -> None:
    for table in (REPORTS, SEATS):
        connection.execute(sa.delete(table).where(table.c.code.in_(codes)))


def _configure_sqlite(connection: Any, _record: Any) -> None:
    """Have SQLite serve several processes: readers do not wait for who writes, and who writes waits for others."""
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={SQLITE_WAIT_MS}", "journal_mode=WAL", "synchronous=NORMAL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
