"""How to begin: take a seat with a code, open a room, or rehearse alone."""

import secrets
from functools import partial

import streamlit as st

from dpviz.core.declarations import SEED
from dpviz.teaching.rooms.codes import read_code
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import RoomProblem
from pages.components.refusals import refuse
from pages.components.words import heading
from pages.experiment import SPEC
from pages.experiment.live import act, say_refused
from pages.experiment.place import Place, go
from pages.experiment.rooms import open_room, room_with

REHEARSED = 30
"""Simulated seats of a room in which a teacher rehearses."""


def show_entry() -> None:
    """What the page is for, and its three ways on."""
    say_refused(refuse)
    lead, _, more = SPEC.text("words").partition("\n\n")
    st.markdown(lead)
    left, right = st.columns(2)
    with left:
        heading("For students")
        typed = st.text_input(
            "Code of the room", key=f"{SPEC.prefix}code", max_chars=12, placeholder="such as KWM 4T7",
            help="Six letters and digits that your teacher shows. Whoever opens the link types nothing.",
        )  # fmt: skip
        st.button("Take a seat", key=f"{SPEC.prefix}join", on_click=partial(act, partial(_join, typed)))
    with right:
        heading("For teachers")
        st.button(
            "Open a room", key=f"{SPEC.prefix}open", type="primary", on_click=partial(act, partial(_open, 0)),
            help="Gives a code, a link and a QR code for the class, and a link of your own. It ends after a day.",
        )  # fmt: skip
        st.button(
            f"Try it alone with {REHEARSED} simulated seats", key=f"{SPEC.prefix}rehearse",
            on_click=partial(act, partial(_open, REHEARSED)),
            help="A room of your own in which nobody else has to be: the seats report by themselves.",
        )  # fmt: skip
    st.markdown(more)


def _join(_typed: str) -> None:
    code = read_code(str(st.session_state.get(f"{SPEC.prefix}code") or ""))
    if code is None:
        raise RoomProblem("A code has six letters and digits, such as KWM 4T7. Look at it once more.")
    room_with(code)
    go(Place(code))


def _open(simulated: int) -> None:
    code, token = open_room(RoomSettings.fresh(secrets.randbelow(int(SEED.maximum)) + 1), simulated)
    go(Place(code, teacher=token))
