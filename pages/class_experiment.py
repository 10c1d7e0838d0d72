"""Class experiment: every phone draws its own release of one secret table, and a projector shows them together."""

from __future__ import annotations

import secrets

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from dpviz.core.declarations import SEED
from dpviz.teaching.rooms.codes import TOKEN, read_code
from dpviz.teaching.rooms.service import VERSIONS, require_open
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Room, RoomProblem
from pages import ui
from pages.room import server
from pages.room.projector import Projector
from pages.room.seat import show_seat
from pages.ui.navigation import EXPERIMENT

PREFIX = EXPERIMENT.prefix
SETTINGS = {"room": ui.text_setting(""), "seat": ui.text_setting(""), "teacher": ui.text_setting("")}
"""Code of the room, and token of a seat or of its teacher: a reload comes back to the same place."""

REHEARSAL_SEATS = 30
POLL_INTERVAL_MS = 1000
RETRY_S = 3.0  # until a database that cannot be reached is asked again


def go_to(room: str = "", seat: str = "", teacher: str = "") -> None:
    """Be in a room from now on, on a seat or as its teacher; in none if empty."""
    st.session_state.update({"room": room, "seat": seat, "teacher": teacher})


def show_entry() -> None:
    """Draw what the page is for, and its three ways on."""
    server.show_refused()
    lead, _, more = ui.page_text("class_experiment").partition("\n\n")
    st.markdown(lead)
    left, right = st.columns(2)
    with left:
        ui.heading("For students")
        st.text_input(
            "Code of the room", key=f"{PREFIX}code", max_chars=12, placeholder="such as KWM 4T7",
            help="Six letters and digits that your teacher shows. Whoever opens the link types nothing.",
        )  # fmt: skip
        st.button("Take a seat", key=f"{PREFIX}join", on_click=server.attempt, args=(join,))
    with right:
        ui.heading("For teachers")
        st.button(
            "Open a room", key=f"{PREFIX}open", type="primary", on_click=server.attempt, args=(open_room, 0),
            help="Gives a code, a link and a QR code for the class, and a link of your own. It ends after a day.",
        )  # fmt: skip
        st.button(
            f"Try it alone with {REHEARSAL_SEATS} simulated seats", key=f"{PREFIX}rehearse",
            on_click=server.attempt, args=(open_room, REHEARSAL_SEATS),
            help="A room of your own in which nobody else has to be: the seats report by themselves.",
        )  # fmt: skip
    st.markdown(more)


def join() -> None:
    """Enter the room whose code is typed."""
    code = read_code(str(st.session_state.get(f"{PREFIX}code") or ""))
    if code is None:
        raise RoomProblem("A code has six letters and digits, such as KWM 4T7. Look at it once more.")
    server.rooms().enter(code, server.network())
    go_to(code)


def open_room(simulated: int) -> None:
    """Open a room in which so many seats report by themselves."""
    settings = RoomSettings.fresh(secrets.randbelow(int(SEED.maximum)) + 1)
    code, token = server.rooms().open(settings, simulated, server.network())
    go_to(code, teacher=token)


def show_room() -> None:
    """Draw the projector or a seat of the room in the URL; a RoomProblem where there is no such room or place."""
    state, rooms = st.session_state, server.rooms()
    code, token = read_code(state["room"]), state["seat"]
    if code is None:
        raise RoomProblem("This is not the code of a room: it has six letters and digits, such as KWM 4T7.")
    if state["teacher"]:
        if not rooms.store.is_teacher(code, state["teacher"]):
            raise RoomProblem(ui.page_note("class_experiment", "not the teacher"))
        room, settings = require_open(rooms.present(code))
        Projector(room, settings, state["teacher"], go_to).show()
        poll(room, "all")
        return
    seat = rooms.store.seat_of(code, token) if TOKEN.fullmatch(token) else None
    room, settings = require_open(rooms.enter(code, server.network()) if seat is None else rooms.present(code))
    if seat is None:
        seat, token = rooms.store.take_seat(code)
        go_to(code, seat=token)
    show_seat(code, settings, seat)
    poll(room, "version")


def poll(room: Room, kind: str) -> None:
    """Have the browser ask whether the room has changed since it was drawn, and the page run again then."""
    data = {"watch": f"./dpviz/room/{room.watch}/{kind}", "seen": VERSIONS[kind](room), "after": POLL_INTERVAL_MS}
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
        server.log_unreachable(error)
        ui.problem(f"{server.UNREACHABLE} This page tries again by itself.")
        ui.refresh_after(RETRY_S)
    ui.close_page(EXPERIMENT, SETTINGS)
