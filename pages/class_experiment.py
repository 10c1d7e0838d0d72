"""Class experiment: every phone draws its own release of one secret table, and a projector shows them together."""

from __future__ import annotations

import secrets
from functools import partial

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from dpviz.core.declarations import SEED
from dpviz.teaching.rooms.codes import TOKEN, read_code
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Room, RoomProblem
from pages import ui
from pages.room.projector import show_projector
from pages.room.seat import show_seat
from pages.room.server import (
    ENDED,
    UNREACHABLE,
    VERSIONS,
    attempt,
    log_unreachable,
    open_room,
    present_room,
    room_with,
    show_refused,
    store,
    watch_url,
)
from pages.ui.navigation import EXPERIMENT

PREFIX = EXPERIMENT.prefix
SETTINGS = {"room": ui.text_setting(""), "seat": ui.text_setting(""), "teacher": ui.text_setting("")}
"""Code of the room, and token of a seat or of its teacher: a reload comes back to the same place."""

REHEARSAL_SEATS = 30
POLL_INTERVAL_MS = 1000
RETRY_S = 3.0  # until a database that cannot be reached is asked again
NOT_THE_TEACHER = (
    "This is not the link of a teacher: a letter of it is missing or wrong, or the room has ended, and what was "
    "reported in it has been deleted."
)


def go_to(room: str = "", seat: str = "", teacher: str = "") -> None:
    """Be in a room from now on, on a seat or as its teacher; in none if empty."""
    st.session_state.update({"room": room, "seat": seat, "teacher": teacher})


def show_entry() -> None:
    """Draw what the page is for, and its three ways on."""
    show_refused()
    lead, _, more = ui.page_text("class_experiment").partition("\n\n")
    st.markdown(lead)
    left, right = st.columns(2)
    with left:
        ui.heading("For students")
        st.text_input(
            "Code of the room", key=f"{PREFIX}code", max_chars=12, placeholder="such as KWM 4T7",
            help="Six letters and digits that your teacher shows. Whoever opens the link types nothing.",
        )  # fmt: skip
        st.button("Take a seat", key=f"{PREFIX}join", on_click=partial(attempt, _join))
    with right:
        ui.heading("For teachers")
        st.button(
            "Open a room", key=f"{PREFIX}open", type="primary", on_click=partial(attempt, partial(_open, 0)),
            help="Gives a code, a link and a QR code for the class, and a link of your own. It ends after a day.",
        )  # fmt: skip
        st.button(
            f"Try it alone with {REHEARSAL_SEATS} simulated seats", key=f"{PREFIX}rehearse",
            on_click=partial(attempt, partial(_open, REHEARSAL_SEATS)),
            help="A room of your own in which nobody else has to be: the seats report by themselves.",
        )  # fmt: skip
    st.markdown(more)


def _join() -> None:
    code = read_code(str(st.session_state.get(f"{PREFIX}code") or ""))
    if code is None:
        raise RoomProblem("A code has six letters and digits, such as KWM 4T7. Look at it once more.")
    room_with(code)
    go_to(code)


def _open(simulated: int) -> None:
    code, token = open_room(RoomSettings.fresh(secrets.randbelow(int(SEED.maximum)) + 1), simulated)
    go_to(code, teacher=token)


def show_room() -> None:
    """Draw the projector or a seat of the room in the URL, and have the page run again when the room changes.

    Raises
    ------
    RoomProblem
        If there is no such room or place.
    """
    state = st.session_state
    code = read_code(state["room"])
    if code is None:
        raise RoomProblem("This is not the code of a room: it has six letters and digits, such as KWM 4T7.")
    if state["teacher"]:
        if not store().is_teacher(code, state["teacher"]):
            raise RoomProblem(NOT_THE_TEACHER)
        room, settings = _running(present_room(code))
        show_projector(room, settings, state["teacher"], go_to)
        _poll(room, "all")
        return
    has_token = TOKEN.fullmatch(state["seat"]) is not None
    seat = store().seat_of(code, state["seat"]) if has_token else None
    room, settings = _running(room_with(code) if seat is None else present_room(code))
    if seat is None:
        seat, token = store().take_seat(code)
        go_to(code, seat=token)
    show_seat(room, settings, seat)
    _poll(room, "version")


def _running(room: Room | None) -> tuple[Room, RoomSettings]:
    if room is None or room.settings is None:
        raise RoomProblem(ENDED)
    return room, room.settings


def _poll(room: Room, kind: str) -> None:
    """Have the browser ask whether the room has changed since it was drawn."""
    data = {"watch": watch_url(room, kind), "seen": VERSIONS[kind](room), "after": POLL_INTERVAL_MS}
    ui.component("poll")(key=f"{PREFIX}poll", data=data, on_changed_change=lambda: None, height=1)


def page() -> None:
    """Draw the page."""
    ui.open_page(EXPERIMENT, SETTINGS)
    ui.show_problems()
    try:
        if st.session_state["room"]:
            show_room()
        else:
            show_entry()
    except RoomProblem as refused:
        ui.problem(str(refused))
        st.button("Back to the beginning", key=f"{PREFIX}leave", on_click=go_to)
    except SQLAlchemyError as error:
        log_unreachable(error)
        ui.problem(f"{UNREACHABLE} This page tries again by itself.")
        ui.refresh_after(RETRY_S)
    ui.close_page(EXPERIMENT, SETTINGS)
