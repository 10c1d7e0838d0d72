"""The rooms of this server: their database, what their browsers are told, and what is refused."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import streamlit as st
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from starlette.responses import PlainTextResponse, Response

from dpviz.teaching.classroom.service import VERSIONS, RoomService
from dpviz.teaching.classroom.store import RoomProblem, RoomStore
from dpviz.teaching.classroom.tokens import TOKEN, network_of

# The database: address as SQLAlchemy writes it in a variable, or ``[connections.rooms]`` in the secrets, or a file
ADDRESS = "DPVIZ_ROOMS"
FILE = Path(__file__).parents[2] / "rooms.sqlite"
UNREACHABLE = "The database of the rooms cannot be reached at present. What was reported before is kept there."


def rooms() -> RoomService:
    """Rooms of this server, whose database is opened when somebody first needs it."""
    return _open_rooms(os.environ.get(ADDRESS, ""))


@st.cache_resource(show_spinner=False)
def _open_rooms(address: str) -> RoomService:
    """Rooms of the database at an address, or at that among the secrets, or in a file."""
    has_secret = not address and st.secrets.load_if_toml_exists() and "rooms" in st.secrets.get("connections", {})
    if not (address or has_secret or os.access(FILE if FILE.exists() else FILE.parent, os.W_OK)):
        raise RoomProblem(
            f"Rooms are kept in the file {FILE.name} beside app.py, and this server may not write there. Whoever runs "
            f"it can name another place: {ADDRESS}=sqlite:////FOLDER/rooms.sqlite, with a folder that it may write to."
        )
    url = {} if has_secret else {"url": address or f"sqlite:///{FILE}"}
    try:
        store = RoomStore(st.connection("rooms", "sql", None, None, **url).engine)
    except ImportError as error:  # the driver that the address names
        raise NoSuchModuleError(str(error)) from error
    threading.Thread(target=_clean, args=(store,), name="cleaning of rooms", daemon=True).start()
    return RoomService(store)


def _clean(store: RoomStore) -> None:
    """Delete what was reported in rooms whose time is over."""
    while True:
        with suppress(SQLAlchemyError):  # it comes back, or somebody is told
            store.delete_expired()
        time.sleep(600.0)


def network() -> str:
    return network_of(st.context.ip_address or "here")


def answer(watch: str, kind: str, address: str) -> Response:
    """Tell a browser at an address what `VERSIONS` has of the room with a name that nobody can guess."""
    room = None
    try:
        if kind in VERSIONS and TOKEN.fullmatch(watch):
            room = rooms().watched(watch, network_of(address))
    except (SQLAlchemyError, RoomProblem):
        return PlainTextResponse("The rooms cannot be reached.", status_code=503)
    if room is None:
        return PlainTextResponse("There is no such room.", status_code=404)
    return PlainTextResponse(VERSIONS[kind](room), headers={"cache-control": "no-store"})


def attempt(change: Callable[..., object], *args: object) -> None:
    """Do what a button or a control asks for; where that is refused, the page says why in its next run."""
    try:
        change(*args)
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
