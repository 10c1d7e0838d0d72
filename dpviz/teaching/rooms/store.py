"""Where rooms are kept: any database that SQLAlchemy knows, which several server processes may share.

Nothing about a person is stored: numbers of seats, guesses, fingerprints of tokens, and the hour in which a room ends.
"""

import math
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    delete,
    event,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from dpviz.teaching.rooms.codes import fingerprint, new_code, new_token
from dpviz.teaching.rooms.settings import MOST_SEATS, RoomSettings

MOST_ROOMS = 500
"""Rooms that may be open at a time."""

LASTS = 24 * 3600
"""Seconds after which a room ends."""

HOUR = 3600
CODES_TRIED = 5
"""How often a code is drawn that no other room has; two of 500 have the same once in 10⁴ times."""

WAIT = 15
"""Seconds for which SQLite waits for another process to be done with writing."""

SCHEMA = MetaData()
ROOMS = Table(
    "dpviz_rooms",
    SCHEMA,
    Column("code", String(16), primary_key=True),
    Column("watch", String(64), nullable=False, unique=True),
    Column("teacher", String(64), nullable=False),
    Column("settings", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("simulated", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("ended", Boolean, nullable=False),
)
ROUNDS = Table(
    "dpviz_room_rounds",
    SCHEMA,
    Column("code", ForeignKey("dpviz_rooms.code"), primary_key=True),
    Column("round", Integer, primary_key=True, autoincrement=False),
    Column("settings", Text, nullable=False),
)
SEATS = Table(
    "dpviz_room_seats",
    SCHEMA,
    Column("code", ForeignKey("dpviz_rooms.code"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("token", String(64), nullable=False),
    UniqueConstraint("code", "token"),
)
REPORTS = Table(
    "dpviz_room_reports",
    SCHEMA,
    Column("place", Integer, primary_key=True),  # in the order in which they came
    Column("code", ForeignKey("dpviz_rooms.code"), nullable=False),
    Column("round", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("guess", Integer),
    UniqueConstraint("code", "round", "seat"),
)
OF_A_ROOM = REPORTS, SEATS, ROUNDS


class RoomProblem(ValueError):
    """What a room does not allow, in a sentence."""


@dataclass(frozen=True)
class Room:
    """A room as it is: None for the `settings` of one that has ended.

    `version` is another one after each change, `reports` the number of reports in the present round; by the name
    `watch`, which nobody can guess, browsers ask whether anything is new.
    """

    code: str
    watch: str
    settings: RoomSettings | None
    version: int
    seats: int
    simulated: int
    reports: int


class Store:
    """The rooms of a database, whose tables are made where they are missing."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _share)
        try:
            SCHEMA.create_all(engine)
        except SQLAlchemyError:  # another process has made them in between
            SCHEMA.create_all(engine)

    def open(self, settings: RoomSettings, simulated: int = 0, now: float | None = None) -> tuple[str, str]:
        """Open a room whose first seats are `simulated`; returns its code and the teacher's token."""
        token, ends = new_token(), _hour(now) + LASTS
        with self._engine.begin() as rows:
            going_on = ~ROOMS.c.ended & (ROOMS.c.ends > _now(now))
            open_rooms = rows.scalar(select(func.count()).select_from(ROOMS).where(going_on))
        if (open_rooms or 0) >= MOST_ROOMS:
            raise RoomProblem(f"{MOST_ROOMS} rooms are open, and no more are allowed. Try again in an hour.")
        for _ in range(CODES_TRIED):
            code, written = new_code(), settings.to_json()
            values = {"seats": simulated, "simulated": simulated, "ends": ends, "ended": False, "version": 1}
            try:
                with self._engine.begin() as rows:
                    rows.execute(
                        insert(ROOMS).values(
                            code=code, watch=new_token(), teacher=fingerprint(token), settings=written, **values
                        )
                    )
                    rows.execute(insert(ROUNDS).values(code=code, round=settings.round, settings=written))
            except IntegrityError:
                continue
            return code, token
        raise RoomProblem("No free code was found. Try again.")

    def room(self, code: str, now: float | None = None) -> Room | None:
        """Return the room with this code, in one query; None where there is none."""
        present = (REPORTS.c.code == code) & (REPORTS.c.round == _latest(code))
        number = select(func.count()).select_from(REPORTS).where(present).scalar_subquery().label("reports")
        with self._engine.connect() as rows:
            row = rows.execute(select(ROOMS, number).where(ROOMS.c.code == code)).one_or_none()
        if row is None:
            return None
        over = row.ended or row.ends <= _now(now)
        settings = None if over else _read(row.settings)
        return Room(code, row.watch, settings, row.version, row.seats, row.simulated, row.reports)

    def watched(self, watch: str) -> str | None:
        """Return the code of the room that browsers ask for by this name."""
        with self._engine.connect() as rows:
            found: str | None = rows.scalar(select(ROOMS.c.code).where(ROOMS.c.watch == watch))
        return found

    def is_teacher(self, code: str, token: str) -> bool:
        """Return whether this is the token of the room's teacher."""
        with self._engine.connect() as rows:
            kept = rows.scalar(select(ROOMS.c.teacher).where(ROOMS.c.code == code))
        return bool(kept) and kept == fingerprint(token)

    def take_seat(self, code: str) -> tuple[int, str]:
        """Return the number and the token of a seat that nobody had; a RoomProblem where there is none."""
        token = new_token()
        with self._engine.begin() as rows:
            free = (ROOMS.c.code == code) & ~ROOMS.c.ended & (ROOMS.c.seats < MOST_SEATS)
            # The first statement writes: whoever comes meanwhile waits for the end of this transaction.
            if rows.execute(update(ROOMS).where(free).values(seats=ROOMS.c.seats + 1)).rowcount != 1:
                raise RoomProblem(f"This room is full: it has {MOST_SEATS} seats, and all are taken.")
            seat = int(rows.scalar(select(ROOMS.c.seats).where(ROOMS.c.code == code)) or 0)
            rows.execute(insert(SEATS).values(code=code, seat=seat, token=fingerprint(token)))
        return seat, token

    def seat_of(self, code: str, token: str) -> int | None:
        """Return the seat that this token belongs to."""
        of_token = (SEATS.c.code == code) & (SEATS.c.token == fingerprint(token))
        with self._engine.connect() as rows:
            found: int | None = rows.scalar(select(SEATS.c.seat).where(of_token))
        return found

    def report(self, code: str, number: int, seat: int, guess: int | None = None) -> None:
        """Note that a seat has drawn, or what it guesses, in the round with this number, if that is still the round.

        The first report of a seat in a round counts.
        """
        names = ["code", "round", "seat", "guess"]
        given = [literal(one, Integer) for one in (number, seat, guess)]
        asked = select(ROOMS.c.code, *given).where(ROOMS.c.code == code, ~ROOMS.c.ended, _latest(code) == number)
        try:
            with self._engine.begin() as rows:
                rows.execute(insert(REPORTS).from_select(names, asked))
        except IntegrityError:  # it has reported before
            return

    def reports(self, code: str, number: int) -> list[tuple[int, int | None]]:
        """Return seats and guesses of a round, in the order in which they came."""
        asked = select(REPORTS.c.seat, REPORTS.c.guess).where(REPORTS.c.code == code, REPORTS.c.round == number)
        with self._engine.connect() as rows:
            return [(seat, guess) for seat, guess in rows.execute(asked.order_by(REPORTS.c.place))]

    def reported(self, code: str, number: int, seat: int) -> tuple[int | None] | None:
        """Return the guess of a seat in a round, alone in a tuple, or None where it has not reported."""
        place = (REPORTS.c.code == code) & (REPORTS.c.round == number) & (REPORTS.c.seat == seat)
        with self._engine.connect() as rows:
            row = rows.execute(select(REPORTS.c.guess).where(place)).one_or_none()
        return None if row is None else (row.guess,)

    def rounds(self, code: str) -> list[RoomSettings]:
        """Return the settings of every round, as they were at its end."""
        asked = select(ROUNDS.c.settings).where(ROUNDS.c.code == code).order_by(ROUNDS.c.round)
        with self._engine.connect() as rows:
            return [_read(text) for text in rows.scalars(asked)]

    def change(self, code: str, token: str, settings: RoomSettings) -> None:
        """Set a room to other settings, for its teacher; a RoomProblem where it has ended or the token is wrong."""
        written, own = settings.to_json(), _of_teacher(code, token)
        with self._engine.begin() as rows:
            changed = update(ROOMS).where(own).values(settings=written, version=ROOMS.c.version + 1)
            if rows.execute(changed).rowcount != 1:
                raise RoomProblem("Nothing was changed: this room has ended, or this is not its teacher's link.")
            place = (ROUNDS.c.code == code) & (ROUNDS.c.round == settings.round)
            if rows.execute(update(ROUNDS).where(place).values(settings=written)).rowcount == 0:
                rows.execute(insert(ROUNDS).values(code=code, round=settings.round, settings=written))

    def end(self, code: str, token: str) -> None:
        """End a room, for its teacher: of what was reported nothing is kept."""
        with self._engine.begin() as rows:
            if rows.execute(update(ROOMS).where(_of_teacher(code, token)).values(_ended())).rowcount == 1:
                _clear(rows, [code])

    def forget_old(self, now: float | None = None) -> None:
        """End rooms whose time is over, and forget those that ended a day ago."""
        with self._engine.begin() as rows:
            late = ROOMS.c.ends <= _now(now)
            rows.execute(update(ROOMS).where(late & ~ROOMS.c.ended).values(_ended()))
            over = list(rows.scalars(select(ROOMS.c.code).where(late)))
            _clear(rows, over)
            rows.execute(delete(ROOMS).where(ROOMS.c.ends <= _now(now) - LASTS))


@lru_cache(maxsize=1024)
def _read(text: str) -> RoomSettings:
    return RoomSettings.from_json(text)


def _latest(code: str) -> Any:
    """The round of a room, as a part of a query."""
    return select(func.max(ROUNDS.c.round)).where(ROUNDS.c.code == code).scalar_subquery()


def _of_teacher(code: str, token: str) -> Any:
    return (ROOMS.c.code == code) & (ROOMS.c.teacher == fingerprint(token)) & ~ROOMS.c.ended


def _ended() -> dict[str, Any]:
    return {"ended": True, "settings": "", "teacher": "", "version": ROOMS.c.version + 1}


def _clear(rows: Connection, codes: list[str]) -> None:
    for table in OF_A_ROOM:
        rows.execute(delete(table).where(table.c.code.in_(codes)))


def _now(now: float | None) -> float:
    return time.time() if now is None else now


def _hour(now: float | None) -> int:
    """The end of this hour: when a room was opened is known no finer."""
    return HOUR * math.ceil(_now(now) / HOUR)


def _share(connection: Any, _entry: ConnectionPoolEntry) -> None:
    """Have SQLite serve several processes: readers do not wait for who writes, and who writes waits for others."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={1000 * WAIT}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
