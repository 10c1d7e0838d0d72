"""The rooms of this server: their database, what is known of each at present, and who may ask for how much."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import streamlit as st
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from starlette.responses import PlainTextResponse, Response

from dpviz.teaching.rooms.codes import TOKEN, Limit, network_of
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import LASTS, Room, RoomProblem, Store

ADDRESS = "DPVIZ_ROOMS"
"""Environment variable with the address of the database, as SQLAlchemy writes it."""

FILE = Path(__file__).parents[2] / "rooms.sqlite"
"""Database without such an address, and without ``[connections.rooms]`` among the secrets."""

PRESENT_S = 0.3  # age up to which what is known of a room counts as present: two hundred phones ask every second
CLEANING_INTERVAL_S = 600.0
MAX_CACHED_ROOMS = 2_000

WRONG_CODES = Limit(30, 60.0)
WRONG_CODES_IN_ALL = Limit(200, 60.0)
"""Wrong codes in a minute: of one network, such as a school's, and of all networks together."""

KNOWN_NETWORKS = Limit(1, LASTS)
"""Networks in which somebody has opened or entered a room: however many codes are guessed there, the class gets in."""

UNKNOWN_ROOMS = Limit(100, 60.0)
"""Rooms that do not exist which the browsers of one network may ask for in a minute."""

OPENED_ROOMS = Limit(20, 3600.0)
"""Rooms that one network may open in an hour."""

EVERYBODY = ""
UNREACHABLE = "The database of the rooms cannot be reached at present. What was reported before is kept there."
ENDED = "This room has ended. What was reported in it has been deleted."

VERSIONS: dict[str, Callable[[Room], str]] = {
    "version": lambda room: f"{room.version}",
    "all": lambda room: f"{room.version} {room.seats} {room.reports}",
}
"""What must change for a page to be drawn again: a seat's, and the projector's, which shows who has come as well."""

_changes: Counter[str] = Counter()  # how often this process has changed a room


def store() -> Store:
    """Database of the rooms, which is opened when somebody first needs one."""
    return _open_store(os.environ.get(ADDRESS, ""))


@st.cache_resource(show_spinner=False)
def _open_store(address: str) -> Store:
    """Database at an address, or at that among the secrets, or in a file."""
    has_secret = not address and st.secrets.load_if_toml_exists() and "rooms" in st.secrets.get("connections", {})
    if not (address or has_secret or os.access(FILE if FILE.exists() else FILE.parent, os.W_OK)):
        raise RoomProblem(
            f"Rooms are kept in the file {FILE.name} beside app.py, and this server may not write there. Whoever runs "
            f"it can name another place: {ADDRESS}=sqlite:////FOLDER/rooms.sqlite, with a folder that it may write to."
        )
    url = {} if has_secret else {"url": address or f"sqlite:///{FILE}"}
    try:
        rooms = Store(st.connection("rooms", "sql", None, None, **url).engine)
    except ImportError as error:  # the driver that the address names
        raise NoSuchModuleError(str(error)) from error
    threading.Thread(target=_clean, args=(rooms,), name="cleaning of rooms", daemon=True).start()
    return rooms


def _clean(rooms: Store) -> None:
    """Delete what was reported in rooms whose time is over."""
    while True:
        with suppress(SQLAlchemyError):  # it comes back, or somebody is told
            rooms.forget_old()
        time.sleep(CLEANING_INTERVAL_S)


def present_room(code: str) -> Room | None:
    """Room as it is now, or was a moment ago; None where there is none."""
    return _room_at(code, int(time.monotonic() / PRESENT_S), _changes[code])


@lru_cache(maxsize=MAX_CACHED_ROOMS)
def _room_at(code: str, _moment: int, _changes: int) -> Room | None:
    return store().room(code)


def forget_room(code: str) -> None:
    """Have a room read anew: it was changed here."""
    _changes[code] += 1


def network() -> str:
    """Network of the present reader."""
    return network_of(st.context.ip_address or "here")


def room_with(code: str) -> Room:
    """Room with a code that a reader types or opens.

    Raises
    ------
    RoomProblem
        If there is none, or too many codes from this network have been wrong lately.
    """
    now = time.monotonic()
    reader = network()
    is_known = KNOWN_NETWORKS.counted(f"{reader} {code}", now) > 0
    is_limited = not (WRONG_CODES.free(reader, now) and WRONG_CODES_IN_ALL.free(EVERYBODY, now))
    if is_limited and not is_known:
        raise RoomProblem("Too many wrong codes have come from your network. Wait a minute, then try again.")
    room = present_room(code)
    if room is None:
        WRONG_CODES.take(reader, now)
        WRONG_CODES_IN_ALL.take(EVERYBODY, now)
        raise RoomProblem("There is no room with this code. Look at it once more, or ask your teacher for the link.")
    KNOWN_NETWORKS.take(f"{reader} {code}", now)
    return room


def open_room(settings: RoomSettings, simulated: int) -> tuple[str, str]:
    """Open a room.

    Parameters
    ----------
    settings : RoomSettings
    simulated : int
        Seats that report by themselves.

    Returns
    -------
    code : str
    token : str
        Of the teacher.
    """
    if not OPENED_ROOMS.take(network(), time.monotonic()):
        raise RoomProblem("Many rooms have been opened from your network. Wait an hour, or use one that is open.")
    code, token = store().open(settings, simulated)
    KNOWN_NETWORKS.take(f"{network()} {code}", time.monotonic())
    return code, token


def watch_url(room: Room, kind: str) -> str:
    """Where a browser asks whether a room has changed, relative to the page; `kind` is a key of `VERSIONS`."""
    return f"./dpviz/room/{room.watch}/{kind}"


def answer(watch: str, kind: str, address: str) -> Response:
    """Answer to a browser that asks whether a room has changed.

    Parameters
    ----------
    watch : str
        Name of the room that nobody can guess.
    kind : str
        Key of `VERSIONS`.
    address : str
        Of the browser: how many unknown rooms its network asks for is limited, since each is looked for.

    Returns
    -------
    Response
    """
    unknown = PlainTextResponse("There is no such room.", status_code=404)
    if kind not in VERSIONS or not TOKEN.fullmatch(watch):
        return unknown
    try:
        code = _code_of(watch, network_of(address))
        room = present_room(code)
    except KeyError:
        return unknown
    except (SQLAlchemyError, RoomProblem):
        return PlainTextResponse("The rooms cannot be reached.", status_code=503)
    if room is None:
        return unknown
    return PlainTextResponse(VERSIONS[kind](room), headers={"cache-control": "no-store"})


@lru_cache(maxsize=MAX_CACHED_ROOMS)
def _code_of(watch: str, reader: str) -> str:
    """Code of a room; a KeyError, which is not cached, where there is none."""
    now = time.monotonic()
    code = store().watched(watch) if UNKNOWN_ROOMS.free(reader, now) else None
    if code is None:
        UNKNOWN_ROOMS.take(reader, now)
        raise KeyError(watch)
    return code


def attempt(change: Callable[[], object]) -> None:
    """Do what a button or a control asks for; where that is refused, the page says why in its next run."""
    try:
        change()
    except ValueError as error:
        st.session_state["room_refused"] = str(error)
    except SQLAlchemyError as error:
        log_unreachable(error)
        st.session_state["room_refused"] = f"That was not saved: press again in a moment. {UNREACHABLE}"


def log_unreachable(error: SQLAlchemyError) -> None:
    """Log that the database cannot be reached; the error's own words may hold its address."""
    logging.getLogger(__name__).warning("The rooms cannot be reached: %s", type(error).__name__)


def show_refused() -> None:
    """Say once what was refused."""
    if sentence := st.session_state.pop("room_refused", ""):
        st.error(sentence)
