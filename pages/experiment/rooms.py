"""The rooms of this server: their database, what is known of each at present, and who may ask for how much."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import streamlit as st
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from starlette.responses import PlainTextResponse, Response

from dpviz.teaching.rooms.clock import SteadyClock
from dpviz.teaching.rooms.codes import TOKEN, Limit, network_of
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import LASTS, Room, RoomProblem, Store
from pages.components.cached import once
from pages.components.guard import FOLDER

ADDRESS = "DPVIZ_ROOMS"
"""The environment variable with the address of the database, as SQLAlchemy writes it."""

FILE = Path(__file__).parents[2] / "rooms.sqlite"
"""Where rooms are kept without such an address, and without ``[connections.rooms]`` among the secrets."""

FRESH = 0.3  # Seconds for which what is known of a room counts as present
CLEAN = 600.0  # Seconds between two looks for rooms that are over
REMEMBERED = 2_000  # Rooms of which something is known
EVERYBODY = ""

WRONG, WRONG_BY_ALL = Limit(30, 60.0), Limit(200, 60.0)
"""Wrong codes in a minute: by one client, such as a school behind one address, and by all together."""

AT_HOME = Limit(1, LASTS)
"""Rooms that somebody in a network has opened or entered: whoever else is there gets in, however many codes are wrong.

Without this, one student who guesses codes would shut out the whole class behind the same address.
"""

UNKNOWN = Limit(100, 60.0)
"""Rooms that do not exist which the browsers of one client may ask for in a minute."""

OPENED = Limit(20, 3600.0)
"""Rooms that one client may open in an hour."""

Value = TypeVar("Value")


class Fresh(Generic[Value]):
    """What a function says of each key, asked for at most once in so many seconds, whoever wants to know."""

    def __init__(self, function: Callable[[str], Value], seconds: float) -> None:
        self._function, self._seconds = function, seconds
        self._known: dict[str, tuple[float, Value]] = {}
        self._asking: dict[str, threading.Lock] = {}

    def get(self, key: str) -> Value:
        """Return what it says now, or said a moment ago."""
        found = self._now(key)
        if found is None:
            with self._asking.setdefault(key, threading.Lock()):
                found = self._now(key)
                if found is None:
                    asked = time.monotonic()
                    found = asked, self._function(key)
                    self._known.pop(key, None)
                    self._known[key] = found
                    self._forget()
        return found[1]

    def knows(self, key: str) -> bool:
        """Return whether it need not be asked."""
        return self._now(key) is not None

    def drop(self, key: str) -> None:
        """Ask again next time: it was changed here, or there is nothing to know."""
        self._known.pop(key, None)
        self._asking.pop(key, None)

    def _now(self, key: str) -> tuple[float, Value] | None:
        found = self._known.get(key)
        return None if found is None or time.monotonic() - found[0] > self._seconds else found

    def _forget(self) -> None:
        while len(self._known) > REMEMBERED:
            oldest = next(iter(self._known))
            self._known.pop(oldest, None)
            self._asking.pop(oldest, None)


def store() -> Store:
    """The database, which is asked for when somebody first needs a room."""
    return _store_at(os.environ.get(ADDRESS, ""))


@once
def _store_at(address: str) -> Store:
    """The database at an address, or at that among the secrets, or in a file."""
    told = not address and st.secrets.load_if_toml_exists() and "rooms" in st.secrets.get("connections", {})
    if not (address or told or os.access(FILE if FILE.exists() else FILE.parent, os.W_OK)):
        raise RoomProblem(
            f"Rooms are kept in the file {FILE.name} beside app.py, and this server may not write there. Whoever runs "
            f"it can name another place: {ADDRESS}=sqlite:////FOLDER/rooms.sqlite, with a folder that it may write to."
        )
    url = address or f"sqlite:///{FILE}"
    try:
        asked = st.connection("rooms", type="sql") if told else st.connection("rooms", type="sql", url=url)
        found = Store(asked.engine)
    except ImportError as missing:  # the driver that the address names
        raise NoSuchModuleError(str(missing)) from missing
    threading.Thread(target=_clean, args=(found,), name="rooms that are over", daemon=True).start()
    return found


def _clean(rooms: Store) -> None:
    """Delete what was reported in rooms whose time is over, as long as the server runs and its clock does not jump."""
    clock = SteadyClock()
    while True:
        if clock.steady(time.time(), time.monotonic()):
            with suppress(SQLAlchemyError):  # it comes back, or somebody is told
                rooms.forget_old()
        time.sleep(CLEAN)


PRESENT: Fresh[Room | None] = Fresh(lambda code: store().room(code), FRESH)
_CODES: Fresh[str | None] = Fresh(lambda watch: store().watched(watch), LASTS)


def client() -> str:
    """Whoever asks, by the network that the connection comes from."""
    return network_of(st.context.ip_address or "here")


def room_with(code: str) -> Room:
    """Return the room with this code; a RoomProblem where there is none, or too many codes have been wrong lately."""
    now, who = time.monotonic(), client()
    home = f"{who} {code}"
    busy = not WRONG_BY_ALL.free(EVERYBODY, now) and WRONG.counted(who, now)
    if (busy or not WRONG.free(who, now)) and not AT_HOME.counted(home, now):
        raise RoomProblem("Too many wrong codes have come from your network. Wait a minute, then try again.")
    found = PRESENT.get(code)
    if found is None:
        PRESENT.drop(code)
        WRONG.take(who, now)
        WRONG_BY_ALL.take(EVERYBODY, now)
        raise RoomProblem("There is no room with this code. Look at it once more, or ask your teacher for the link.")
    AT_HOME.take(home, now)
    return found


def open_room(settings: RoomSettings, simulated: int) -> tuple[str, str]:
    """Open a room for whoever asks; returns its code and the teacher's token."""
    if not OPENED.take(client(), time.monotonic()):
        raise RoomProblem("Many rooms have been opened from your network. Wait an hour, or use one that is open.")
    code, token = store().open(settings, simulated)
    AT_HOME.take(f"{client()} {code}", time.monotonic())
    return code, token


def watched_at(room: Room) -> str:
    """Where a browser asks whether a room has changed, relative to the page."""
    return f"./{FOLDER}/room/{room.watch}"


def version_of(room: Room) -> str:
    """What has to be another one where a seat has to be drawn again."""
    return f"{room.version}"


def news_of(room: Room) -> str:
    """The same of the projector, which shows who has come as well."""
    return f"{room.version} {room.seats} {room.reports}"


TOLD = {"version": version_of, "all": news_of}


def answer(path: str, who: str) -> Response | None:
    """The answer to a browser that asks whether a room has changed; None where the path is of none.

    Nobody can guess it; that others are asked for is limited, since each of them is looked for.
    """
    watch, _, kind = path.partition("/")
    who = network_of(who)
    if kind not in TOLD or not TOKEN.fullmatch(watch):
        return None
    try:
        known = _CODES.knows(watch) or UNKNOWN.free(who, time.monotonic())
        code = _CODES.get(watch) if known else None
        room = PRESENT.get(code) if code else None
    except (SQLAlchemyError, RoomProblem):
        return PlainTextResponse("The rooms cannot be reached.", status_code=503)
    if room is None:
        UNKNOWN.take(who, time.monotonic())
        return PlainTextResponse("There is no such room.", status_code=404)
    return PlainTextResponse(TOLD[kind](room), headers={"cache-control": "no-store"})
