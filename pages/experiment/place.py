"""Where a reader of the page is: in which room, on which seat, or with the teacher's link."""

from dataclasses import asdict, dataclass

import streamlit as st

from dpviz.teaching.rooms.codes import TOKEN, read_code
from pages.components import component
from pages.experiment import SPEC

_component = component("room_address")
KEY = "room_place"


@dataclass(frozen=True)
class Place:
    """The code of a room and the token of a seat or of its teacher, as the address has them."""

    room: str = ""
    seat: str = ""
    teacher: str = ""


def here() -> Place:
    """Where the reader is: what the session knows, or what the address says when it is opened."""
    held: Place | None = st.session_state.get(KEY)
    if held is None:
        said = {name: st.query_params.get(name, "") for name in asdict(Place())}
        room = read_code(said["room"]) or said["room"][:40]
        held = Place(
            room, *(said[name] if TOKEN.fullmatch(said[name]) else said[name][:1] for name in ("seat", "teacher"))
        )
        go(held)
    return held


def go(place: Place) -> None:
    """Be there from now on."""
    st.session_state[KEY] = place


def leave() -> None:
    """Be in no room from now on."""
    go(Place())


def write_place(place: Place) -> None:
    """Have the address say so."""
    _component(key=f"{SPEC.prefix}at", data={"path": SPEC.path, **asdict(place)}, height=1)
