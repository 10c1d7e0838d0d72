"""What the page shows: how to begin, a seat, or the projector."""

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from dpviz.teaching.rooms.codes import read_code
from dpviz.teaching.rooms.store import RoomProblem
from pages.components.address import read_address, write_address
from pages.components.frame import page_head
from pages.components.words import problem
from pages.experiment import SPEC
from pages.experiment.entry import show_entry
from pages.experiment.live import ENDED, try_again, unreachable
from pages.experiment.place import Place, go, here, leave, write_place
from pages.experiment.projector import show_projector
from pages.experiment.rooms import PRESENT, room_with, store
from pages.experiment.seat import show_seat

NOT_THE_TEACHER = (
    "This is not the link of a teacher: a letter of it is missing or wrong, or the room has ended, and what was "
    "reported in it has been deleted."
)


def show() -> None:
    """The page from its head to its address."""
    page_head(SPEC)
    read_address(SPEC.prefix)
    try:
        _show_place(here())
    except RoomProblem as refused:
        problem(str(refused))
        st.button("Back to the beginning", key=f"{SPEC.prefix}leave", on_click=leave)
    except SQLAlchemyError as broken:
        unreachable(broken)
        try_again()
    write_place(here())
    write_address(SPEC.prefix)


def _show_place(place: Place) -> None:
    """The beginning, the projector, or a seat; a RoomProblem where there is no such place."""
    if not place.room:
        show_entry()
        return
    code = read_code(place.room)
    if code is None:
        raise RoomProblem("This is not the code of a room: it has six letters and digits, such as KWM 4T7.")
    if place.teacher:
        if not store().is_teacher(code, place.teacher):
            raise RoomProblem(NOT_THE_TEACHER)
        show_projector(code, place.teacher)
        return
    seat = store().seat_of(code, place.seat) if place.seat else None
    room = room_with(code) if seat is None else PRESENT.get(code)
    if room is None or room.settings is None:
        raise RoomProblem(ENDED)
    if seat is None:
        seat, token = store().take_seat(code)
        go(Place(code, seat=token))
    show_seat(code, seat)
